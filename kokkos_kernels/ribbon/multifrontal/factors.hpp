// SPDX-License-Identifier: BSD-2-Clause
/// @file factors.hpp  Where the factors of a tree are kept.
///
/// A leaf takes its rows one by one into a window of W + 1 rows (W = kl + ku) and removes, by one Householder reflection per row, the columns that no other leaf touches (Wright, SIAM J. Sci. Stat.
/// Comput. 13, 1992; Golub & Van Loan, 5.2). What is left are at most W equations in the W unknowns of the cut before it and the W of the cut behind. A join removes the W unknowns of the cut between two
/// such sets of equations by a dense QR. Every row of the matrix is in one leaf, every column is removed where all its rows are: it is a QR factorization of the matrix with its columns permuted.
#pragma once

#include <ribbon/multifrontal/chain.hpp>
#include <ribbon/multifrontal/reflector.hpp>

namespace ribbon::multifrontal {

/// What a leaf keeps for each column that it removes is a step. A join keeps Q^H of its front as a dense matrix, so that right-hand sides are multiplied
/// instead of reflected, which needs no order among them.
template <class Scalar>
struct Factors {
  using Statistics            = PivotStatistics<real_t<Scalar>>;
  Scalar     *reflection      = nullptr; ///< (leaves, steps, W + 1), see Step: conj(tau), v_1 .. v_W
  Scalar     *upper           = nullptr; ///< (leaves, steps, 2 W + 1): 1 / R_jj, R to the next W columns, R to the W unknowns of the cut before the leaf
  Scalar     *leaf_passed     = nullptr; ///< (chains leaves, 2 W, W + 1): see Passed
  Scalar     *join            = nullptr; ///< (chains joins, join_size(W)): see Join
  Statistics *leaf_statistics = nullptr, *join_statistics = nullptr;

  const real_t<Scalar> *row_scale = nullptr; ///< (chains rows): powers of two that make the largest entry of every row about 1
  int                   together  = 1;       ///< leaves whose numbers lie side by side, for threads that have a leaf each

  /// The numbers of one step of a leaf.
  template <class Number>
  struct Step {
    Number                        *at;
    int                            stride;
    KOKKOS_INLINE_FUNCTION Number &operator[](int k) const { return at[k * stride]; }
  };
  /// `count` numbers a step; the next step of a leaf is count * together further.
  template <class Number>
  KOKKOS_INLINE_FUNCTION Step<Number> step(Number *all, const Tree &tree, std::int64_t leaf, int s, int count) const
  {
    const std::int64_t tile = together == 1 ? leaf : leaf / together;
    return {all + ((tile * tree.most_rows() + s) * count) * together + (leaf - tile * together), together};
  }
  /// Leaves that memory is asked for: whole tiles.
  static std::int64_t padded(std::int64_t leaves, int together) { return (leaves + together - 1) / together * together; }

  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t passed_size(int W) { return 2 * static_cast<std::int64_t>(W) * (W + 1); }
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t join_size(int W) { return passed_size(W) + 8 * static_cast<std::int64_t>(W) * W + W; }

  /// Equations that a node passes on, by columns, those of the cut before it first, and behind the W places for rows the largest entry of each column in the matrix.
  struct Passed {
    Scalar                        *at;
    int                            W;
    KOKKOS_INLINE_FUNCTION Scalar &entry(int row, int column) const { return at[column * (W + 1) + row]; }
    KOKKOS_INLINE_FUNCTION Scalar &scale(int column) const { return at[column * (W + 1) + W]; }
  };
  KOKKOS_INLINE_FUNCTION Passed passed(const Tree &tree, std::int64_t chain, int level, std::int64_t node) const
  {
    const int W = tree.chain.width();
    return {level == 0 ? leaf_passed + (chain * tree.leaves + node) * passed_size(W) : join + tree.join_number(chain, level, node) * join_size(W), W};
  }
  KOKKOS_INLINE_FUNCTION Statistics &statistics(const Tree &tree, std::int64_t chain, int level, std::int64_t node) const
  {
    return level == 0 ? leaf_statistics[chain * tree.leaves + node] : join_statistics[tree.join_number(chain, level, node)];
  }

  /// The front of a join, by columns: the W of its cut (1 / R_jj on the diagonal, R above, reflections below), the 2 W it passes on, and Q^H, 2 W x 2 W. Rows from W on of the middle ones are passed.
  struct Join {
    Passed                 passed;
    Scalar                *r, *below, *cut, *q, *tau;
    KOKKOS_INLINE_FUNCTION Join(Scalar *at, int W) : passed{at, W}, r(at + passed_size(W)), below(r + W * W), cut(below + W * W), q(cut + 2 * W * W), tau(q + 4 * W * W) { }
    /// The first W rows of a column of the front, and the others.
    KOKKOS_INLINE_FUNCTION Scalar *top(int column) const
    {
      const int W = passed.W;
      return column < W ? r + column * W : column < 3 * W ? cut + (column - W) * W : q + (column - 3 * W) * 2 * W;
    }
    KOKKOS_INLINE_FUNCTION Scalar *bottom(int column) const
    {
      const int W = passed.W;
      return column < W ? below + column * W : column < 3 * W ? passed.at + (column - W) * (W + 1) : q + (column - 3 * W) * 2 * W + W;
    }
  };
  KOKKOS_INLINE_FUNCTION Join join_at(const Tree &tree, std::int64_t chain, int level, std::int64_t node) const
  {
    return {join + tree.join_number(chain, level, node) * join_size(tree.chain.width()), tree.chain.width()};
  }
};

/// Makes the scales of rows; the sum of their exponents (of 1 / scale), and `zero_row` more for every row of zeros, whose scale is 1.
template <class Scalar, class Index>
struct RowScales {
  static constexpr std::int64_t zero_row = std::int64_t(1) << 42;
  Chain                         chain;
  ChainMatrix<Scalar, Index>    A;
  real_t<Scalar>               *scale;
  KOKKOS_FUNCTION void          operator()(const std::int64_t place, std::int64_t &sum) const
  {
    using Real                = real_t<Scalar>;
    const std::int64_t number = place / chain.rows, i = place % chain.rows, row = A.row(chain, number, i);
    Real               largest = 0;
    for (int e = 0, n = A.entries(row); e < n; ++e) {
      int        distance;
      const Real size = magnitude(A.entry(chain, number, i, row, e, distance));
      if (size > largest) largest = size;
    }
    int exponent = 0;
    if (largest > 0 && is_finite(largest)) frexp(static_cast<double>(largest), &exponent);
    scale[place] = static_cast<Real>(ldexp(1.0, -exponent));
    sum += largest > 0 ? exponent : zero_row;
  }
};
/// The first row of zeros.
template <class Scalar, class Index>
struct FirstZeroRow {
  Chain                      chain;
  ChainMatrix<Scalar, Index> A;
  KOKKOS_FUNCTION void       operator()(const std::int64_t place, std::int64_t &first) const
  {
    const std::int64_t number = place / chain.rows, i = place % chain.rows, row = A.row(chain, number, i);
    bool               zeros = true;
    for (int e = 0, n = A.entries(row); e < n; ++e) {
      int distance;
      zeros = zeros && A.entry(chain, number, i, row, e, distance) == Scalar(0);
    }
    if (zeros && place < first) first = place;
  }
};

/// A group of lanes has one node; lanes share its columns.
struct Groups {
  int lanes, groups;
};

/// Calls body(group, lane) on the threads of a team.
template <class Team, class Body>
KOKKOS_INLINE_FUNCTION void for_each_lane(const Team &team, const Groups &shape, const Body &body)
{
  if constexpr (Team::is_virtual)
    for (int v = 0; v < shape.groups * shape.lanes; ++v) body(v / shape.lanes, v % shape.lanes);
  else if (team.rank() < shape.groups * shape.lanes) body(team.rank() / shape.lanes, team.rank() % shape.lanes);
}

/// A leaf: rows first to first + rows - 1 of a chain, of whose columns `own` are removed, from column `begin` on.
struct Leaf {
  std::int64_t chain, node, first;
  int          rows, own;
  int          begin, carried, left; ///< rows of the window before the first step, unknowns of the cut before
  bool         active;
  /// Rows in the window besides the one of step s, which comes from the matrix, or from the window where no more arrive.
  KOKKOS_INLINE_FUNCTION int  at_step(int s) const { return rows - 1 - s < carried ? rows - 1 - s : carried; }
  KOKKOS_INLINE_FUNCTION bool arrives(int s) const { return carried + s < rows; }

  Leaf() = default;
  KOKKOS_INLINE_FUNCTION Leaf(const Tree &tree, std::int64_t c, std::int64_t number, bool is_there) : chain(c), node(number), active(is_there)
  {
    const NodeSize size = is_there ? tree.size(0, number) : NodeSize{0, 0, 0};
    first               = is_there ? tree.start(number) : 0;
    rows                = is_there ? static_cast<int>(tree.start(number + 1) - first) : 0;
    carried             = size.left > 0 ? tree.chain.width() : tree.chain.kl;
    carried             = rows < carried ? rows : carried;
    own = rows - size.rows, begin = size.left > 0 ? tree.chain.ku : 0, left = size.left;
  }
};

} // namespace ribbon::multifrontal
