// SPDX-License-Identifier: BSD-2-Clause
/// @file factors.hpp  Storage of the factors of a tree.
///
/// A leaf reads its rows one by one into a window of W + 1 rows (W = kl + ku). By one Householder
/// reflection per row it eliminates the columns that no other leaf touches (Wright, SIAM J. Sci. Stat.
/// Comput. 13, 1992; Golub & Van Loan, 5.2). At most W equations are left, in the W unknowns of the cut
/// before it and the W of the cut after it. A join eliminates the W unknowns of the cut between two such
/// sets of equations by a dense QR. Every row of the matrix is in one leaf, and every column is eliminated
/// where all its rows are. The result is a QR factorization of the matrix with its columns permuted.
#pragma once

#include <ribbon/chain.hpp>
#include <ribbon/multifrontal/reflector.hpp>

namespace ribbon::multifrontal {

/// A step is the data that a leaf stores for each column that it eliminates. A join stores Q^H of its front
/// as a dense matrix: right-hand sides are multiplied in any order instead of reflected in sequence.
template <class Scalar>
struct Factors {
  using Statistics   = PivotStatistics<real_t<Scalar>>;
  Scalar *reflection = nullptr; ///< (leaves, steps, W + 1), see Step: conj(tau), v_1 .. v_W
  /// (leaves, steps, 2 W + 1): 1 / R_jj, R for the next W columns, R for the W unknowns of the cut before
  /// the leaf
  Scalar     *upper           = nullptr;
  Scalar     *leaf_passed     = nullptr; ///< (chains leaves, 2 W, W + 1): see Passed
  Scalar     *join            = nullptr; ///< (chains joins, join_size(W)): see Join
  Statistics *leaf_statistics = nullptr, *join_statistics = nullptr;

  /// (leaves, rows), see Step: powers of two that scale the largest entry of every row to about 1
  real_t<Scalar> *row_scale = nullptr;
  /// leaves whose factors are interleaved, for threads with one leaf each
  int together = 1;

  /// The factors of one step of a leaf.
  template <class Number>
  struct Step {
    Number                        *at;
    int                            stride;
    KOKKOS_INLINE_FUNCTION Number &operator[](int k) const { return at[k * stride]; }
  };
  /// `count` values per step; the next step of a leaf is count * together further.
  template <class Number>
  KOKKOS_INLINE_FUNCTION Step<Number> step(Number *all, const Tree &tree, std::int64_t chain,
                                           std::int64_t leaf, int s, int count) const
  {
    const std::int64_t slot = chain * tree.slots + leaf, tile = together == 1 ? slot : slot / together;
    return {all + ((tile * tree.most_rows() + s) * count) * together + (slot - tile * together), together};
  }

  /// The scale of row i of a chain, which belongs to leaf `leaf`.
  KOKKOS_INLINE_FUNCTION real_t<Scalar> &scale(const Tree &tree, std::int64_t chain, std::int64_t leaf,
                                               std::int64_t i) const
  {
    return *step(row_scale, tree, chain, leaf, static_cast<int>(i - tree.start(leaf)), 1).at;
  }

  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t passed_size(int W)
  {
    return 2 * static_cast<std::int64_t>(W) * (W + 1);
  }
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t join_size(int W)
  {
    return passed_size(W) + 7 * static_cast<std::int64_t>(W) * W;
  }

  /// Equations that a node passes on, by columns: first those of the cut before it, then those of the cut
  /// after it. After the W places for rows, each column holds the largest entry of that column in the
  /// matrix.
  struct Passed {
    Scalar                        *at;
    int                            W;
    KOKKOS_INLINE_FUNCTION Scalar &entry(int row, int column) const { return at[column * (W + 1) + row]; }
    KOKKOS_INLINE_FUNCTION Scalar &scale(int column) const { return at[column * (W + 1) + W]; }
  };
  KOKKOS_INLINE_FUNCTION Passed passed(const Tree &tree, std::int64_t chain, int level,
                                       std::int64_t node) const
  {
    const int W = tree.chain.width();
    return {level == 0 ? leaf_passed + (chain * tree.leaves + node) * passed_size(W)
                       : join + tree.join_number(chain, level, node) * join_size(W),
            W};
  }
  KOKKOS_INLINE_FUNCTION Statistics &statistics(const Tree &tree, std::int64_t chain, int level,
                                                std::int64_t node) const
  {
    return level == 0 ? leaf_statistics[chain * tree.leaves + node]
                      : join_statistics[tree.join_number(chain, level, node)];
  }

  /// The data that a join passes on and stores, by columns: R of its cut (1 / R_jj on the diagonal); its W
  /// rows in the 2 W columns of the cuts before and after; Q^H, 2 W x 2 W.
  struct Join {
    Passed                 passed;
    Scalar                *r, *cut, *q;
    KOKKOS_INLINE_FUNCTION Join(Scalar *at, int W)
        : passed{at, W}, r(at + passed_size(W)), cut(r + W * W), q(cut + 2 * W * W)
    {
    }
  };
  KOKKOS_INLINE_FUNCTION Join join_at(const Tree &tree, std::int64_t chain, int level,
                                      std::int64_t node) const
  {
    return {join + tree.join_number(chain, level, node) * join_size(tree.chain.width()), tree.chain.width()};
  }
};

/// A group of lanes processes one node; lanes share its columns.
struct Groups {
  int lanes, groups;
};

/// A leaf: rows first to first + own + W - 1 of a chain. It eliminates the `own` columns from first + ku
/// on.
/// The ku rows before the first row of a chain and the kl rows after its last are zeros. They must stay
/// exactly zero up to the top, so that R is that of the matrix alone. Values of the size of rounding errors
/// would be additional equations, and these would determine the solution of a nearly singular matrix.
/// Reflections do not change rows of zeros that are not the pivot row. Therefore the last row of the window
/// enters in place of a row after the end (row_instead()). Joins at the beginning of a chain move the
/// zeros, the first ku rows from their first child, below (Front::rows_exchanged()). At the end of a chain
/// the zeros are below anyway, as the last kl rows of the second child.
struct Leaf {
  std::int64_t chain, node, first;
  int          own;

  Leaf() = default;
  KOKKOS_INLINE_FUNCTION Leaf(const Tree &tree, std::int64_t c, std::int64_t number) : chain(c), node(number)
  {
    first = tree.start(number) - (number == 0 && !tree.chain.is_open_left() ? tree.chain.ku : 0);
    own   = static_cast<int>(tree.start(number + 1) +
                           (number + 1 == tree.leaves && !tree.chain.is_open_right() ? tree.chain.kl : 0) -
                           first) -
          tree.chain.width();
  }
  KOKKOS_INLINE_FUNCTION int rows(const Tree &tree) const { return own + tree.chain.width(); }
};
/// The row of the window that enters in place of row i after the end of a chain: the last remaining one.
KOKKOS_INLINE_FUNCTION int row_instead(const Chain &chain, std::int64_t i)
{
  return chain.width() - 1 - static_cast<int>(i - chain.rows);
}
/// Returns a value and sets its place to zero.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar taken(Scalar &a)
{
  const Scalar was = a;
  a                = Scalar(0);
  return was;
}
/// Whether the chain has this row.
KOKKOS_INLINE_FUNCTION bool has_row(const Chain &chain, std::int64_t i)
{
  return i >= 0 && i < chain.rows;
}

} // namespace ribbon::multifrontal
