// SPDX-License-Identifier: BSD-2-Clause
/// @file solve.hpp  Solves with the factors of a tree: right-hand sides go up the tree, solutions go down.
///   For the transposed matrix, triangular solves go up and reflections down.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>

namespace ribbon::multifrontal {

/// Right-hand sides and solutions, by columns. Unknowns before and after a sub-chain are in separate
/// arrays.
template <class Scalar>
struct Columns {
  const Scalar       *b   = nullptr;
  Scalar             *x   = nullptr;
  std::int64_t        ldb = 0, ldx = 0;
  std::int64_t        columns = 1;
  const std::int64_t *row_of  = nullptr; ///< as in ChainMatrix
  /// (nodes, passed_rows, columns): values that nodes pass up and down
  Scalar *passed      = nullptr;
  int     passed_rows = 0; ///< W; transposed 2 W
  /// (W, columns): unknowns of the cuts at the ends of a sub-chain
  const Scalar *before = nullptr, *behind = nullptr;
  /// (chains joins, W, columns): rows of Q^H b at the cuts
  Scalar *cuts = nullptr;
};

/// Operations of one thread on one column at one node. Up: rows of b become rows of Q^H b. Down: the
/// triangular solve.
template <class Scalar>
struct QrSolve {
  Tree            tree;
  Factors<Scalar> factors;
  Columns<Scalar> v;

  /// n / d for counts of teams, which fit 31 bits.
  KOKKOS_INLINE_FUNCTION static std::int64_t quotient(std::int64_t n, std::int64_t d)
  {
    return static_cast<std::uint32_t>(n) / static_cast<std::uint32_t>(d);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t row(std::int64_t chain, std::int64_t place) const
  {
    const std::int64_t at = chain * tree.chain.rows + place;
    return v.row_of ? v.row_of[at] : at;
  }
  KOKKOS_INLINE_FUNCTION Scalar &x(std::int64_t chain, std::int64_t place, std::int64_t column) const
  {
    if (tree.chain.ring)
      place += place < 0 ? tree.chain.rows : place >= tree.chain.rows ? -tree.chain.rows : 0;
    return v.x[row(chain, place) + column * v.ldx];
  }
  KOKKOS_INLINE_FUNCTION const Scalar &b(std::int64_t chain, std::int64_t place, std::int64_t column) const
  {
    return v.b[row(chain, place) + column * v.ldb];
  }
  /// A row of b in a leaf, scaled.
  KOKKOS_INLINE_FUNCTION Scalar scaled_b(const Leaf &leaf, std::int64_t place, std::int64_t column) const
  {
    return b(leaf.chain, place, column) * factors.scale(tree, leaf.chain, leaf.node, place);
  }
  KOKKOS_INLINE_FUNCTION Scalar &passed(std::int64_t chain, int level, std::int64_t node, int k,
                                        std::int64_t column) const
  {
    tree.resolve(level, node);
    const std::int64_t number = level == 0
                                  ? chain * tree.leaves + node
                                  : tree.chain.chains * tree.leaves + tree.join_number(chain, level, node);
    return v.passed[(number * v.passed_rows + k) * v.columns + column];
  }

  /// Value k that is passed down to a node; zero at the top of a whole chain.
  KOKKOS_INLINE_FUNCTION Scalar came_down(std::int64_t chain, int level, std::int64_t node, int k,
                                          std::int64_t column) const
  {
    return level == tree.top() && !tree.is_piece() ? Scalar(0) : passed(chain, level, node, k, column);
  }

  /// Consecutive values of a column.
  struct Strip {
    Scalar                        *at;
    std::int64_t                   stride;
    KOKKOS_INLINE_FUNCTION Scalar &operator[](int k) const { return at[k * stride]; }
  };
  KOKKOS_INLINE_FUNCTION Strip passed_strip(std::int64_t chain, int level, std::int64_t node,
                                            std::int64_t column) const
  {
    return {&passed(chain, level, node, 0, column), v.columns};
  }

  /// On the way down: the unknowns of the cut before a leaf, or after the last leaf. The join that computes
  /// them overwrites the values that it passed up.
  struct Cut {
    const Scalar                 *at;
    std::int64_t                  stride; ///< 0: zeros
    KOKKOS_INLINE_FUNCTION Scalar operator[](int k) const { return stride == 0 ? Scalar(0) : at[k * stride]; }
  };
  KOKKOS_INLINE_FUNCTION Cut cut(std::int64_t chain, std::int64_t leaf, std::int64_t column) const
  {
    if (leaf == 0 || leaf == tree.leaves) {
      if (tree.chain.ring) return {&passed(chain, tree.levels + 1, 0, 0, column), v.columns};
      const bool is_open = leaf == 0 ? tree.chain.open_left : tree.chain.open_right;
      return {is_open ? (leaf == 0 ? v.before : v.behind) + column : nullptr, is_open ? v.columns : 0};
    }
    int level = 1; // of the join that eliminates this cut
    for (; (leaf >> (level - 1)) % 2 == 0;) ++level;
    return {&passed(chain, level, leaf >> level, 0, column), v.columns};
  }

  /// The data of a join for a thread.
  struct Join {
    std::int64_t  chain, node;
    int           level;
    std::int64_t  cut; ///< first unknown of the cut
    bool          closes;
    const Scalar *r, *c, *q;
  };
  KOKKOS_INLINE_FUNCTION Join join_of(std::int64_t chain, int level, std::int64_t node) const
  {
    const auto join = factors.join_at(tree, chain, level, node);
    return {chain,  node,     level, tree.cut(level, node) - tree.chain.kl, level > tree.levels,
            join.r, join.cut, join.q};
  }
  KOKKOS_INLINE_FUNCTION Strip passed_before(const Join &j, std::int64_t column) const
  {
    return passed_strip(j.chain, j.level - 1, j.closes ? 0 : 2 * j.node, column);
  }
  KOKKOS_INLINE_FUNCTION Strip passed_behind(const Join &j, std::int64_t column) const
  {
    return passed_strip(j.chain, j.level - 1, j.closes ? 0 : 2 * j.node + 1, column);
  }
};

enum class Sweep { up, down, up_transposed, down_transposed };
enum class Way { up, down, both };

} // namespace ribbon::multifrontal
