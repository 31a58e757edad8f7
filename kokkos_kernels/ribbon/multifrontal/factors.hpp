// SPDX-License-Identifier: BSD-2-Clause
/// @file factors.hpp  Where the factors of a tree are kept.
///
/// A leaf takes its rows one by one into a window of W + 1 rows (W = kl + ku) and removes, by one Householder
/// reflection per row, the columns that no other leaf touches (Wright, SIAM J. Sci. Stat. Comput. 13, 1992;
/// Golub & Van Loan, 5.2). What is left are at most W equations in the W unknowns of the cut before it and
/// the W of the cut behind. A join removes the W unknowns of the cut between two such sets of equations by a
/// dense QR. Every row of the matrix is in one leaf, every column is removed where all its rows are: it is a
/// QR factorization of the matrix with its columns permuted.
#pragma once

#include <ribbon/chain.hpp>
#include <ribbon/multifrontal/reflector.hpp>

namespace ribbon::multifrontal {

/// What a leaf keeps for each column that it removes is a step. A join keeps Q^H of its front as a dense
/// matrix, so that right-hand sides are multiplied instead of reflected, which needs no order among them.
template <class Scalar>
struct Factors {
  using Statistics   = PivotStatistics<real_t<Scalar>>;
  Scalar *reflection = nullptr; ///< (leaves, steps, W + 1), see Step: conj(tau), v_1 .. v_W
  /// (leaves, steps, 2 W + 1): 1 / R_jj, R to the next W columns, R to the W unknowns
  /// of the cut before the leaf
  Scalar     *upper           = nullptr;
  Scalar     *leaf_passed     = nullptr; ///< (chains leaves, 2 W, W + 1): see Passed
  Scalar     *join            = nullptr; ///< (chains joins, join_size(W)): see Join
  Statistics *leaf_statistics = nullptr, *join_statistics = nullptr;

  /// (leaves, rows), see Step: powers of two that make the largest entry of every row about 1
  real_t<Scalar> *row_scale = nullptr;
  /// leaves whose numbers lie side by side, for threads that have a leaf each
  int together = 1;

  /// The numbers of one step of a leaf.
  template <class Number>
  struct Step {
    Number                        *at;
    int                            stride;
    KOKKOS_INLINE_FUNCTION Number &operator[](int k) const { return at[k * stride]; }
  };
  /// `count` numbers a step; the next step of a leaf is count * together further.
  template <class Number>
  KOKKOS_INLINE_FUNCTION Step<Number> step(Number *all, const Tree &tree, std::int64_t chain,
                                           std::int64_t leaf, int s, int count) const
  {
    const std::int64_t slot = chain * tree.slots + leaf, tile = together == 1 ? slot : slot / together;
    return {all + ((tile * tree.most_rows() + s) * count) * together + (slot - tile * together), together};
  }

  /// The scale of row i of a chain, which is one of node `leaf`.
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

  /// Equations that a node passes on, by columns, those of the cut before it first, and behind the W places
  /// for rows the largest entry of each column in the matrix.
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

  /// What a join passes on, and keeps, by columns: R of its cut (1 / R_jj on the diagonal), what the 2 W
  /// columns of the cuts before and behind have in its W rows, and Q^H, 2 W x 2 W.
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

/// A group of lanes has one node; lanes share its columns.
struct Groups {
  int lanes, groups;
};

/// A leaf: rows first to first + own + W - 1 of a chain, of whose columns the `own` ones from first + ku on
/// are removed. Rows before the first of a chain, ku, and behind its last, kl, are zeros, and stay zeros
/// without rounding all the way to the top, so that R is that of the matrix alone: numbers of the size of
/// rounding there would be more equations, which decide about the solution where the matrix is nearly
/// singular. Reflections leave rows of zeros in peace that are not the pivot. In place of a row behind the
/// end therefore the last one of the window arrives (row_instead()), and joins at the beginning of a chain
/// have the zeros, the first ku rows that the child there passes, below (Front::rows_exchanged()); those at
/// the end have them there, the last kl rows of the other child.
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
/// The row of the window that arrives in place of row i, which is behind the end of a
/// chain: the last that is left.
KOKKOS_INLINE_FUNCTION int row_instead(const Chain &chain, std::int64_t i)
{
  return chain.width() - 1 - static_cast<int>(i - chain.rows);
}
/// Takes a number away, and leaves zero.
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
