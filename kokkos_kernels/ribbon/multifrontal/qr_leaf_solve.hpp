// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf_solve.hpp  Right-hand sides at leaves of one width: a thread has a leaf and some columns, in registers; the factors of 32 leaves lie side by side.
#pragma once

#include <ribbon/multifrontal/qr_solve.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of QrSolve::leaf_up (Up) or leaf_down for W = kl + ku known when compiled; C columns a thread.
template <class Scalar, int W, int C, bool Up>
struct QrLeafSolveRegistersKernel {
  static constexpr int max_threads = 256;
  static constexpr int leaves      = 32;                     ///< of a team
  static constexpr int numbers     = Up ? W + 1 : 2 * W + 1; ///< of a step
  static constexpr int steps       = 4;                      ///< that are worked off together: what they take from memory is under way before
  QrSolve<Scalar>      solve;
  int                  groups; ///< of C columns, of a team

  struct Lane {
    Leaf                                                  leaf;
    std::int64_t                                          column;       ///< its first one
    int                                                   columns;      ///< that are there
    Scalar                                                window[C][W]; ///< up: rows carried; down: the unknowns behind
    Scalar                                                left[C][W];   ///< down: of the cut before
    Scalar                                                next[C][steps];
    typename Factors<Scalar>::template Step<const Scalar> factors; ///< of step 0
  };
  static std::size_t scratch(int groups, bool virtual_threads) { return virtual_threads ? static_cast<std::size_t>(leaves * groups) * device::align16(sizeof(Lane)) : 0; }

  /// Loads what the steps of a chunk take from the vectors.
  KOKKOS_INLINE_FUNCTION void load(Lane &mine, int chunk) const
  {
    RIBBON_UNROLL
    for (int c = 0; c < C; ++c) {
      RIBBON_UNROLL
      for (int t = 0; t < steps; ++t) {
        const int s = chunk * steps + t;
        if (c >= mine.columns || s < 0 || s >= mine.leaf.own) continue;
        if constexpr (Up) {
          if (mine.leaf.arrives(s)) mine.next[c][t] = solve.scaled_b(mine.leaf.chain, mine.leaf.first + mine.leaf.carried + s, mine.column + c);
        } else mine.next[c][t] = solve.x(mine.leaf.chain, mine.leaf.first + mine.leaf.begin + s, mine.column + c);
      }
    }
  }

  KOKKOS_INLINE_FUNCTION void begin(Lane &mine) const
  {
    const Leaf    &leaf = mine.leaf;
    const NodeSize size = solve.tree.size(0, leaf.node);
    for (int c = 0; c < C; ++c)
      for (int k = 0; k < W; ++k) {
        mine.window[c][k] = mine.left[c][k] = Scalar(0);
        if (c >= mine.columns) continue;
        if constexpr (Up) {
          if (k < leaf.carried) mine.window[c][k] = solve.scaled_b(leaf.chain, leaf.first + k, mine.column + c);
        } else {
          if (k < size.right) mine.window[c][k] = solve.at_cut(leaf.chain, leaf.first + leaf.rows, k, mine.column + c);
          if (k < size.left) mine.left[c][k] = solve.at_cut(leaf.chain, leaf.first, k, mine.column + c);
        }
      }
  }

  KOKKOS_INLINE_FUNCTION void compute(Lane &mine, int chunk, const Scalar (&given)[C][steps]) const
  {
    const Leaf &leaf = mine.leaf;
    RIBBON_UNROLL
    for (int u = 0; u < steps; ++u) {
      const int t = Up ? u : steps - 1 - u, s = chunk * steps + t;
      if (s >= leaf.own) continue;
      Scalar f[Up ? W + 1 : 2 * W + 1];
      RIBBON_UNROLL
      for (int k = 0; k < (Up ? W + 1 : 2 * W + 1); ++k) f[k] = mine.factors.at[(s * numbers + k) * mine.factors.stride];
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) {
        if (c >= mine.columns) continue;
        Scalar(&w)[W] = mine.window[c];
        Scalar result;
        if constexpr (Up) {
          Scalar entering = given[c][t];
          if (!leaf.arrives(s)) {
            RIBBON_UNROLL
            for (int k = 0; k < W; ++k)
              if (k == leaf.rows - 1 - s) entering = w[k], w[k] = Scalar(0);
          }
          Scalar sum = entering;
          RIBBON_UNROLL
          for (int k = 0; k < W; ++k) sum += conjugate(f[1 + k]) * w[k];
          sum *= f[0];
          RIBBON_UNROLL
          for (int k = 0; k < W; ++k) w[k] -= f[1 + k] * sum;
          result = entering - sum;
        } else {
          Scalar sum = given[c][t];
          RIBBON_UNROLL
          for (int k = 0; k < W; ++k) sum -= f[1 + W + k] * mine.left[c][k];
          RIBBON_UNROLL
          for (int k = W - 1; k >= 0; --k) sum -= f[1 + k] * w[k]; // the one that was found last comes last
          result = sum * f[0];
          RIBBON_UNROLL
          for (int k = W - 1; k > 0; --k) w[k] = w[k - 1];
          w[0] = result;
        }
        solve.x(leaf.chain, leaf.first + leaf.begin + s, mine.column + c) = result;
      }
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree                 &tree   = solve.tree;
    const std::int64_t          blocks = (solve.v.columns + C * groups - 1) / (C * groups), tiles = (tree.leaves + leaves - 1) / leaves;
    const std::int64_t          tile = team.league_rank() / blocks, block = team.league_rank() % blocks, chain = tile / tiles, base = tile % tiles * leaves;
    device::Threads<Lane, Team> lanes(team, team.scratch());
    const int                   chunks = static_cast<int>((tree.most_rows() + steps - 1) / steps);
    const auto                  number = [&](int k) { return Up ? k : chunks - 1 - k; };
    lanes.for_each([&](int v, Lane &mine) {
      mine.leaf       = Leaf(tree, chain, base + v % leaves, base + v % leaves < tree.leaves);
      mine.column     = (block * groups + v / leaves) * C;
      const auto left = solve.v.columns - mine.column;
      mine.columns    = !mine.leaf.active || left < 0 ? 0 : left < C ? static_cast<int>(left) : C;
      if (mine.columns == 0) return;
      mine.factors = solve.factors.step(static_cast<const Scalar *>(Up ? solve.factors.reflection : solve.factors.upper), tree, chain * tree.leaves + mine.leaf.node, 0, numbers);
      begin(mine);
      load(mine, number(0));
      for (int k = 0; k < chunks; ++k) {
        Scalar given[C][steps];
        RIBBON_UNROLL
        for (int c = 0; c < C; ++c) {
          RIBBON_UNROLL
          for (int t = 0; t < steps; ++t) given[c][t] = mine.next[c][t];
        }
        if (k + 1 < chunks) load(mine, number(k + 1));
        compute(mine, number(k), given);
      }
      if constexpr (Up) {
        const int rows = tree.size(0, mine.leaf.node).rows;
        RIBBON_UNROLL
        for (int c = 0; c < C; ++c) {
          RIBBON_UNROLL
          for (int k = 0; k < W; ++k)
            if (c < mine.columns && k < rows) solve.passed(mine.leaf.chain, 0, mine.leaf.node, k, mine.column + c) = mine.window[c][k];
        }
      }
    });
  }
};

} // namespace ribbon::multifrontal
