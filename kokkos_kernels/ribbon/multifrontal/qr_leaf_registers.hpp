// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf_registers.hpp  Orthogonal elimination of leaves of one width: a lane has a column of the window in registers.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of QrLeafKernel for W = kl + ku known when compiled. Rows of the window that are not there are zero. The entries of a row are loaded three steps before it is used and go to
/// scratch two steps before, so that no step waits for memory; a step has one barrier.
template <class Scalar, class Index, int W>
struct QrLeafRegistersKernel {
  static constexpr int max_threads = 64;
  static constexpr int arriving    = 4;
  using Real                       = real_t<Scalar>;
  using Statistics                 = PivotStatistics<Real>;
  Tree                       tree;
  Groups                     shape; ///< at least 2 W + 1 lanes
  ChainMatrix<Scalar, Index> A;
  Factors<Scalar>            factors;

  /// What a lane keeps from step to step: its column, and an entry of a row that arrives.
  struct Lane {
    Leaf                                            leaf;
    Scalar                                          column[W];
    Real                                            scale;
    Scalar                                          value;
    int                                             slot;              ///< of the entry; -1: none
    typename Factors<Scalar>::template Step<Scalar> reflection, upper; ///< of this step
    Index                                           row_end;           ///< where the entries end of the row that was loaded last
  };
  /// What the lanes of a leaf share.
  struct Shared {
    Scalar     start[2 * W + 1][W]; ///< the first rows of the window
    Scalar     row[arriving][W + 1];
    Scalar     reflection[2][W + 2]; ///< conj(tau), v, 1 / R_jj
    Statistics statistics;
  };
  static std::size_t scratch(const Groups &groups, bool virtual_threads)
  {
    return static_cast<std::size_t>(groups.groups) * device::align16(sizeof(Shared)) + (virtual_threads ? static_cast<std::size_t>(groups.groups * groups.lanes) * device::align16(sizeof(Lane)) : 0);
  }

  KOKKOS_INLINE_FUNCTION static int wrapped(int slot) { return slot > W ? slot - W - 1 : slot; }

  /// Loads entry `lane` of the row that comes at step s, which is the one after the last that was loaded.
  KOKKOS_INLINE_FUNCTION void load(const Leaf &leaf, int s, int lane, Lane &mine) const
  {
    mine.slot = -1;
    if (!leaf.arrives(s) || s >= leaf.own) return;
    const std::int64_t i = leaf.first + leaf.carried + s;
    int                distance;
    if (is_plain()) {
      const std::int64_t row = leaf.chain * tree.chain.rows + i;
      const Index        at  = mine.row_end + static_cast<Index>(lane);
      mine.row_end           = A.local.row_begin[row + 1];
      if (at >= mine.row_end) return;
      distance   = static_cast<int>(static_cast<std::int64_t>(A.local.column[at]) - row);
      mine.value = A.local.value[at];
    } else {
      const std::int64_t row = A.row(tree.chain, leaf.chain, i);
      if (lane >= A.entries(row)) return;
      mine.value = A.entry(tree.chain, leaf.chain, i, row, lane, distance);
    }
    mine.value *= factors.row_scale[leaf.chain * tree.chain.rows + i];
    mine.slot = wrapped(s % (W + 1) + distance + tree.chain.kl);
  }
  /// Whether rows follow each other and columns are where they seem.
  KOKKOS_INLINE_FUNCTION bool is_plain() const { return !A.row_of && !tree.chain.ring && A.outside.rows == 0; }

  /// Makes the reflection of step s from the column of its pivot.
  KOKKOS_INLINE_FUNCTION void reflect(const Leaf &leaf, int s, int slot, Lane &mine, Shared &shared) const
  {
    Scalar alpha = shared.row[s % arriving][slot];
    if (leaf.arrives(s)) mine.scale = magnitude(alpha) > mine.scale ? magnitude(alpha) : mine.scale;
    else alpha = take_row(leaf.rows - 1 - s, mine);
    Real rest = 0;
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) rest += squared(mine.column[k]);
    const Reflector<Scalar> h = make_reflector(alpha, rest);
    Scalar                 *r = shared.reflection[s % 2];
    r[0]                      = h.tau_conjugate;
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) r[1 + k] = h.factor * mine.column[k];
    r[1 + W] = Scalar(h.one_over_beta);
    shared.statistics.take(h.beta, mine.scale, leaf.chain * tree.chain.rows + leaf.first + leaf.begin + s);
  }
  /// Takes row n out of a column: at the end of a chain rows of the window come instead of new ones.
  KOKKOS_INLINE_FUNCTION static Scalar take_row(int n, Lane &mine)
  {
    Scalar taken(0);
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k)
      if (k == n) taken = mine.column[k], mine.column[k] = Scalar(0);
    return taken;
  }

  KOKKOS_INLINE_FUNCTION void begin(const Leaf &leaf, int lane, Lane &mine, Shared &shared) const
  {
    if (lane <= 2 * W)
      for (int k = 0; k < W; ++k) shared.start[lane][k] = Scalar(0);
    if (lane <= W)
      for (int k = 0; k < arriving; ++k) shared.row[k][lane] = Scalar(0);
    if (lane == 0) shared.statistics = Statistics();
    const std::int64_t number = leaf.chain * tree.leaves + leaf.node;
    mine.reflection = factors.step(factors.reflection, tree, number, 0, W + 1), mine.upper = factors.step(factors.upper, tree, number, 0, 2 * W + 1);
    if (is_plain() && leaf.arrives(2)) mine.row_end = A.local.row_begin[leaf.chain * tree.chain.rows + leaf.first + leaf.carried + 2];
    load(leaf, 2, lane, mine);
  }
  KOKKOS_INLINE_FUNCTION void first_rows(const Leaf &leaf, int lane, Shared &shared) const
  {
    const Chain &c = tree.chain;
    for (int i = 0; i < leaf.carried + 2 && i < leaf.rows; ++i) {
      const std::int64_t row = A.row(c, leaf.chain, leaf.first + i);
      if (lane >= A.entries(row)) continue;
      int          distance;
      const Scalar value = A.entry(c, leaf.chain, leaf.first + i, row, lane, distance) * factors.row_scale[leaf.chain * c.rows + leaf.first + i];
      const int    at    = i + distance;
      if (i >= leaf.carried) shared.row[i - leaf.carried][(at - leaf.begin) % (W + 1)] = value;
      else shared.start[at < leaf.begin ? W + 1 + at + c.kl : at - leaf.begin][i] = value;
    }
  }
  KOKKOS_INLINE_FUNCTION void first_columns(const Leaf &leaf, int lane, Lane &mine, Shared &shared) const
  {
    mine.scale = 0;
    if (lane > 2 * W) return;
    for (int k = 0; k < W; ++k) {
      mine.column[k]  = shared.start[lane][k];
      const Real size = magnitude(mine.column[k]);
      if (!(size <= mine.scale)) mine.scale = size; // NaN, too
    }
    if (lane == 0 && leaf.own > 0) reflect(leaf, 0, 0, mine, shared);
  }

  KOKKOS_INLINE_FUNCTION void step(const Leaf &leaf, int s, int lane, Lane &mine, Shared &shared) const
  {
    const int     pivot = s % (W + 1), next = wrapped(pivot + 1);
    const Scalar *r = shared.reflection[s % 2];
    if (mine.slot >= 0) shared.row[(s + 2) % arriving][mine.slot] = mine.value;
    load(leaf, s + 3, lane, mine);
    if (lane <= W) mine.reflection[lane] = r[lane];
    if (lane == pivot) {
      mine.upper[0] = r[1 + W];
      mine.scale    = 0;
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) mine.column[k] = Scalar(0);
    } else if (lane <= W + leaf.left) {
      Scalar entering(0);
      if (leaf.arrives(s)) {
        if (lane <= W) {
          entering   = shared.row[s % arriving][lane];
          mine.scale = magnitude(entering) > mine.scale ? magnitude(entering) : mine.scale;
        }
      } else entering = take_row(leaf.rows - 1 - s, mine);
      Scalar sum = entering, more(0);
      RIBBON_UNROLL
      for (int k = 0; k + 1 < W; k += 2) {
        sum += conjugate(r[1 + k]) * mine.column[k];
        more += conjugate(r[2 + k]) * mine.column[k + 1];
      }
      if (W % 2 == 1) sum += conjugate(r[W]) * mine.column[W - 1];
      sum = (sum + more) * r[0];
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) mine.column[k] -= r[1 + k] * sum;
      const int rank       = lane > W ? lane - 1 : wrapped(lane - pivot + W + 1) - 1;
      mine.upper[1 + rank] = entering - sum;
    } else if (lane <= 2 * W) mine.upper[lane] = Scalar(0); // no cut before
    if (lane == next && s + 1 < leaf.own) reflect(leaf, s + 1, next, mine, shared);
    if (lane <= W) shared.row[(s + 3) % arriving][lane] = Scalar(0);
    mine.reflection.at += (W + 1) * mine.reflection.stride, mine.upper.at += (2 * W + 1) * mine.upper.stride;
  }

  KOKKOS_INLINE_FUNCTION void finish(const Leaf &leaf, int lane, Lane &mine, Shared &shared) const
  {
    const auto     front = factors.passed(tree, leaf.chain, 0, leaf.node);
    const NodeSize size  = tree.size(0, leaf.node);
    int            c     = -1;
    if (lane > W && lane <= W + size.left) c = lane - W - 1;
    if (lane <= W && size.right > 0) {
      const int rank = wrapped(lane - leaf.own % (W + 1) + W + 1);
      if (rank < W) c = size.left + rank;
    }
    if (c >= 0) {
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k)
        if (k < size.rows) front.entry(k, c) = mine.column[k];
      front.scale(c) = Scalar(mine.scale);
    }
    if (lane == 0) factors.leaf_statistics[leaf.chain * tree.leaves + leaf.node] = shared.statistics;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t          teams = (tree.leaves + shape.groups - 1) / shape.groups, chain = team.league_rank() / teams, base = team.league_rank() % teams * shape.groups;
    constexpr std::size_t       bytes = (sizeof(Shared) + 15) / 16 * 16;
    device::Threads<Lane, Team> lanes(team, team.scratch() + static_cast<std::size_t>(shape.groups) * bytes);
    const auto                  phase = [&](const auto &body) {
      lanes.for_each([&](int v, Lane &mine) {
        if (mine.leaf.active) body(mine.leaf, v % shape.lanes, mine, *reinterpret_cast<Shared *>(team.scratch() + static_cast<std::size_t>(v / shape.lanes) * bytes));
      });
      team.barrier();
    };
    lanes.for_each([&](int v, Lane &mine) {
      const int group = v / shape.lanes;
      mine.leaf       = Leaf(tree, chain, base + group, group < shape.groups && base + group < tree.leaves);
    });
    int most = 0; // steps of the longest leaf: the others idle
    for (int group = 0; group < shape.groups && base + group < tree.leaves; ++group) {
      const int own = Leaf(tree, chain, base + group, true).own;
      most          = own > most ? own : most;
    }
    phase([&](const Leaf &leaf, int lane, Lane &mine, Shared &shared) { begin(leaf, lane, mine, shared); });
    phase([&](const Leaf &leaf, int lane, Lane &, Shared &shared) { first_rows(leaf, lane, shared); });
    phase([&](const Leaf &leaf, int lane, Lane &mine, Shared &shared) { first_columns(leaf, lane, mine, shared); });
    for (int s = 0; s < most; ++s)
      phase([&](const Leaf &leaf, int lane, Lane &mine, Shared &shared) {
        if (s < leaf.own) step(leaf, s, lane, mine, shared);
      });
    phase([&](const Leaf &leaf, int lane, Lane &mine, Shared &shared) { finish(leaf, lane, mine, shared); });
  }
};

} // namespace ribbon::multifrontal
