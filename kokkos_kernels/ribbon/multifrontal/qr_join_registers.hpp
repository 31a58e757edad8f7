// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_join_registers.hpp  Joins of chains of one width: a lane has a column of the front in registers.
#pragma once

#include <ribbon/multifrontal/qr_join.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of QrJoinKernel for W = kl + ku known when compiled. A column moves up by one row with every reflection, so that the pivot is always its first number.
template <class Scalar, int W>
struct QrJoinRegistersKernel {
  static constexpr int max_threads = 512;
  static constexpr int columns     = 5 * W; ///< of the cut, of the cuts before and behind, of Q
  using Real                       = real_t<Scalar>;
  using Statistics                 = PivotStatistics<Real>;
  using Front                      = typename QrJoinKernel<Scalar>::Front;
  QrJoinKernel<Scalar> joins;
  Groups               shape; ///< at least 5 W lanes

  struct Lane {
    Scalar  column[2 * W];
    Real    scale;
    Scalar *rows; ///< where the W rows that are kept go; null: nowhere
    bool    active;
  };
  struct Shared {
    Scalar     reflection[2][2 * W + 1]; ///< conj(tau), 1 / R_kk, v
    Statistics statistics;
  };
  static std::size_t scratch(const Groups &groups, bool virtual_threads)
  {
    return static_cast<std::size_t>(groups.groups) * device::align16(sizeof(Shared)) + (virtual_threads ? static_cast<std::size_t>(groups.groups * groups.lanes) * device::align16(sizeof(Lane)) : 0);
  }

  /// Lane c: column c of the cut, then those of the cut before, of the cut behind, of Q.
  KOKKOS_INLINE_FUNCTION void gather(const Front &f, int c, Lane &mine) const
  {
    const int first = f.size_before.rows, cut = c < W ? c : -1, q = c - 3 * W;
    const int before    = cut >= 0 ? f.size_before.left + cut : c < 2 * W && c - W < f.size_before.left && !f.closes ? c - W : -1; // columns of what the children pass
    const int behind    = cut >= 0 ? cut : c >= 2 * W && c - 2 * W < f.size_behind.right && !f.closes ? f.size_behind.left + c - 2 * W : -1;
    mine.scale          = 0;
    const Scalar *upper = before < 0 ? nullptr : &f.before.entry(0, before), *lower = f.closes || behind < 0 ? nullptr : &f.behind.entry(0, behind);
    RIBBON_UNROLL
    for (int i = 0; i < 2 * W; ++i) { // all under way at once
      const Scalar *from = i < first ? upper : lower;
      mine.column[i]     = from && i < f.rows ? from[i < first ? i : i - first] : Scalar(q == i ? Real(1) : Real(0));
    }
    if (f.closes && cut >= 0) {
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) mine.column[i] += f.before.entry(i, behind);
    }
    const auto raise = [&](const Scalar &a) { mine.scale = magnitude(a) <= mine.scale ? mine.scale : magnitude(a); };
    if (q < 0 && before >= 0) raise(f.before.scale(before));
    if (q < 0 && behind >= 0) raise(f.closes ? f.before.scale(behind) : f.behind.scale(behind));
    mine.rows = cut >= 0 ? f.join.r + cut * W : q >= 0 ? (q < f.rows ? f.join.q + q * 2 * W : nullptr) : before >= 0 ? f.join.cut + before * W : behind >= 0 ? f.join.cut + (f.size_before.left + c - 2 * W) * W : nullptr;
  }

  KOKKOS_INLINE_FUNCTION static void reflect(int k, std::int64_t column_number, const Lane &mine, Shared &shared)
  {
    Real rest = 0;
    RIBBON_UNROLL
    for (int i = 1; i < 2 * W; ++i) rest += squared(mine.column[i]);
    const Reflector<Scalar> h = make_reflector(mine.column[0], rest);
    Scalar                 *r = shared.reflection[k % 2];
    r[0] = h.tau_conjugate, r[1] = Scalar(h.one_over_beta);
    RIBBON_UNROLL
    for (int i = 1; i < 2 * W; ++i) r[1 + i] = h.factor * mine.column[i];
    shared.statistics.take(h.beta, mine.scale, column_number);
  }

  /// Reflection k of a column, whose first number goes to the factors.
  KOKKOS_INLINE_FUNCTION static void apply(int k, int c, Lane &mine, const Shared &shared)
  {
    const Scalar *r   = shared.reflection[k % 2];
    Scalar        sum = mine.column[0], more(0);
    RIBBON_UNROLL
    for (int i = 1; i < 2 * W; i += 2) sum += conjugate(r[1 + i]) * mine.column[i];
    RIBBON_UNROLL
    for (int i = 2; i < 2 * W; i += 2) more += conjugate(r[1 + i]) * mine.column[i];
    sum                = (sum + more) * r[0];
    const Scalar first = mine.column[0] - sum;
    RIBBON_UNROLL
    for (int i = 1; i < 2 * W; ++i) mine.column[i - 1] = mine.column[i] - r[1 + i] * sum;
    mine.column[2 * W - 1] = Scalar(0);
    if (mine.rows) mine.rows[k] = c == k ? r[1] : first;
  }

  /// What is passed on, and the other rows of Q.
  KOKKOS_INLINE_FUNCTION static void finish(const Front &f, int c, const Lane &mine)
  {
    if (c >= 3 * W) {
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k)
        if (mine.rows) mine.rows[W + k] = mine.column[k];
    } else if (c >= W && mine.rows) {
      const int to = static_cast<int>(mine.rows - f.join.cut) / W;
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k)
        if (k < f.rows - W) f.join.passed.entry(k, to) = mine.column[k];
      f.join.passed.scale(to) = Scalar(mine.scale);
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const Tree                 &tree   = joins.tree;
    const Levels               &levels = joins.levels;
    constexpr std::size_t       bytes  = (sizeof(Shared) + 15) / 16 * 16;
    const std::int64_t          chain = team.league_rank() / tree.count[levels.top], top = team.league_rank() % tree.count[levels.top];
    device::Threads<Lane, Team> lanes(team, team.scratch() + static_cast<std::size_t>(shape.groups) * bytes);
    for (int level = levels.bottom + 1; level <= levels.top; ++level) {
      const NodeRange    nodes        = tree.below(levels.top, top, level);
      const std::int64_t first_column = tree.chain.kl;
      for (std::int64_t base = nodes.begin; base < nodes.end; base += shape.groups) {
        const auto phase = [&](const auto &body) {
          lanes.for_each([&](int v, Lane &mine) { body(base + v / shape.lanes, v % shape.lanes, mine, *reinterpret_cast<Shared *>(team.scratch() + static_cast<std::size_t>(v / shape.lanes) * bytes)); });
          team.barrier();
        };
        const auto column_number = [&](std::int64_t node, int k) {
          const std::int64_t c = tree.cut(level, node) - first_column + k;
          return chain * tree.chain.rows + (c < 0 ? c + tree.chain.rows : c);
        };
        phase([&](std::int64_t node, int c, Lane &mine, Shared &shared) {
          mine.active = node < nodes.end && c < columns && tree.is_join(level, node);
          if (!mine.active) return;
          const Front f = joins.front_of(chain, level, node);
          gather(f, c, mine);
          if (c == 0) {
            shared.statistics = *f.statistics_before;
            if (!f.closes) shared.statistics.join(*f.statistics_behind);
            reflect(0, column_number(node, 0), mine, shared);
          }
        });
        for (int k = 0; k < W; ++k)
          phase([&](std::int64_t node, int c, Lane &mine, Shared &shared) {
            if (!mine.active || c < k) return;
            apply(k, c, mine, shared);
            if (c == k + 1 && c < W) reflect(c, column_number(node, c), mine, shared);
          });
        phase([&](std::int64_t node, int c, Lane &mine, Shared &shared) {
          if (!mine.active) return;
          const Front f = joins.front_of(chain, level, node);
          finish(f, c, mine);
          if (c == 0) *f.statistics = shared.statistics;
        });
      }
    }
  }
};

} // namespace ribbon::multifrontal
