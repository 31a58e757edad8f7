// SPDX-License-Identifier: BSD-2-Clause
/// @file column_joins.hpp  Many right-hand sides at the joins of a tree, for chains of one width.
#pragma once

#include <ribbon/multifrontal/qr/tile_joins.hpp>

namespace ribbon::multifrontal {

/// The unknowns of cuts between leaves, in the memory where the kernel for leaves reads them: they replace
/// the values that their joins passed up.
template <class Scalar, int W>
struct CutUnknowns {
  const QrSolve<Scalar> &solve;
  /// Unknown 0 of the cut of a join, for the first column. The next unknown is v.columns further.
  KOKKOS_INLINE_FUNCTION Scalar *of_join(std::int64_t number) const
  {
    return solve.v.passed + (solve.tree.chain.chains * solve.tree.leaves + number) * W * solve.v.columns;
  }
  /// The same for the cut before leaf i of a chain; null if there are no unknowns.
  KOKKOS_INLINE_FUNCTION Scalar *at(std::int64_t chain, std::int64_t i) const
  {
    const Tree  &tree  = solve.tree;
    int          level = tree.levels + 1;
    std::int64_t node  = 0;
    if (i > 0 && i < tree.leaves)
      for (level = 1, node = i; node % 2 == 0; ++level) node /= 2;
    else if (!tree.chain.ring) return nullptr;
    return of_join(tree.join_number(chain, level, node / 2));
  }
};

/// Joins for many columns: a warp has one join at a time, a lane has all rows of a column. Factors are the
/// same for all lanes: each lane loads some of those of the next join, and copies them to the scratch of
/// the warp.
template <class Scalar, int W>
struct QrColumnJoins : JoinTile<Scalar, W> {
  using Base = JoinTile<Scalar, W>;
  using Base::chain0;
  using Base::chains;
  using Base::lowest;
  using Base::solve;
  using typename Base::Nodes;
  static constexpr int block = 32, warps = Base::max_threads / block;
  /// count of the entries of Q; of R and the blocks that are subtracted before the solve with R
  static constexpr int q_size = 4 * W * W, r_size = 3 * W * W;
  using Rows = Scalar[W][block]; ///< values at a node or a cut, by columns
  std::int64_t block_number, column0;

  struct alignas(16) QPlace {
    Scalar of[q_size];
  };
  struct alignas(16) RPlace {
    Scalar of[r_size];
  };
  /// State of a thread on the way up.
  struct UpLane {
    Scalar share[(q_size + block - 1) / block];
  };
  /// State of a thread on the way down; value: Q^H b of its column at the cut of the next join.
  struct DownLane {
    Scalar share[(r_size + block - 1) / block], value[W];
  };

  KOKKOS_INLINE_FUNCTION static std::int64_t blocks(const QrSolve<Scalar> &s)
  {
    return (s.v.columns + block - 1) / block;
  }
  KOKKOS_INLINE_FUNCTION QrColumnJoins(const QrSolve<Scalar> &s, std::int64_t team)
      : Base(s, s.quotient(team, blocks(s))), block_number(team - s.quotient(team, blocks(s)) * blocks(s)),
        column0(block_number * block)
  {
  }

  KOKKOS_INLINE_FUNCTION bool has_column(int v) const { return column0 + v % block < solve.v.columns; }
  /// Calls body(item, lane) for n items, with a warp per item.
  template <class Team, class Threads, class Body>
  KOKKOS_INLINE_FUNCTION void items(const Team &team, Threads &threads, int n, const Body &body) const
  {
    threads.for_each([&](int v, auto &) {
      if (has_column(v))
        for (int item = v / block; item < n; item += warps) body(item, v % block);
    });
    team.barrier();
  }
  KOKKOS_INLINE_FUNCTION typename Factors<Scalar>::Join factors(std::int64_t number) const
  {
    return {solve.factors.join + number * Factors<Scalar>::join_size(W), W};
  }
  KOKKOS_INLINE_FUNCTION Scalar *values_at(std::int64_t number, int v) const
  {
    return solve.v.cuts + number * W * solve.v.columns + (column0 + v % block);
  }
  /// Copies the factors that a thread holds to the scratch of its warp, after all lanes have finished the
  /// previous join.
  template <int Size, class Lane>
  KOKKOS_INLINE_FUNCTION static void place(int v, const Lane &mine, Scalar (&to)[Size])
  {
    device::lane_barrier(block);
    RIBBON_UNROLL
    for (int i = 0; i < (Size + block - 1) / block; ++i)
      if (v % block + i * block < Size) to[v % block + i * block] = mine.share[i];
  }

  /// Loads the factors of join j of a level on the way up.
  KOKKOS_INLINE_FUNCTION void ask_up(const Nodes &here, int j, int v, UpLane &mine) const
  {
    if (j >= here.count || !here.is_join(j)) return;
    const Scalar *q = factors(here.join_number(j)).q + v % block;
    RIBBON_UNROLL
    for (int i = 0; i < (q_size + block - 1) / block; ++i)
      if (v % block + i * block < q_size) mine.share[i] = read_only_scalar(q + i * block);
  }
  /// Q^H times the values that the children of a node pass. They are in memory for the lowest level of a
  /// stage, else in scratch. The values that a node passes replace those of its first child.
  KOKKOS_INLINE_FUNCTION void join(const Nodes &here, const Levels &stage, int level, int j, int v,
                                   const Scalar *q, Rows *passed) const
  {
    const bool closes = level > solve.tree.levels, is_lowest = level == stage.bottom + 1;
    if (j >= here.count || !here.is_there(j) || !has_column(v)) return;
    const bool is_join = here.is_join(j);
    if (!is_join && !is_lowest) return;
    const int s = level - stage.bottom - 1, below = closes ? j << (s > 0 ? s - 1 : 0) : j << s,
              lane = v % block, children = is_join && !closes ? 2 : 1;
    const std::int64_t columns = solve.v.columns;
    Scalar             in[2 * W], out[2 * W];
    RIBBON_UNROLL
    for (int child = 0; child < 2; ++child) {
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) in[child * W + k] = Scalar(0);
      if (child >= children) continue;
      if (is_lowest) {
        const Scalar *from =
          &solve.passed(chain0 + here.chain(j), stage.bottom,
                        closes ? 0 : 2 * (here.first + here.within(j)) + child, 0, column0 + lane);
        RIBBON_UNROLL
        for (int k = 0; k < W; ++k, from += columns) in[child * W + k] = *from;
      } else {
        const Rows &from = passed[below + (s > 0 ? child << (s - 1) : 0)];
        RIBBON_UNROLL
        for (int k = 0; k < W; ++k) in[child * W + k] = from[k][lane];
      }
    }
    if (is_join) {
      RIBBON_UNROLL
      for (int r = 0; r < 2 * W; ++r) out[r] = Scalar(0);
      RIBBON_UNROLL
      for (int k = 0; k < 2 * W; ++k) {
        if (closes && k >= W) continue;
        RIBBON_UNROLL
        for (int r = 0; r < 2 * W; ++r) out[r] += q[k * 2 * W + r] * in[k];
      }
      Scalar *cut = values_at(here.join_number(j), v);
      RIBBON_UNROLL
      for (int r = 0; r < W; ++r, cut += columns) *cut = out[r], in[r] = out[W + r];
      if (closes) return;
    }
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) passed[below][k][lane] = in[k];
  }
  /// Processes all joins on the way up. `place_of_warp`, `flag`: in team scratch.
  template <class Team, class Threads>
  KOKKOS_INLINE_FUNCTION void up(const Team &team, Threads &threads, const Arrivals &arrivals,
                                 QPlace *place_of_warp, Rows *passed, int *flag) const
  {
    const Tree &tree = solve.tree;
    climb(team, tree, arrivals, chain0, this->above, block_number, blocks(solve), flag,
          [&](const Levels &stage, std::int64_t top) {
            const int groups = stage.bottom == 0 ? chains : 1;
            Nodes     here   = this->nodes(groups, top, stage.top, stage.bottom + 1);
            threads.for_each([&](int v, UpLane &mine) { ask_up(here, v / block, v, mine); });
            for (int level = stage.bottom + 1; level <= stage.top; ++level) {
              const Nodes higher = level < stage.top ? this->nodes(groups, top, stage.top, level + 1) : here;
              for (int first = 0; first < here.count; first += warps) {
                const bool stays = first + warps < here.count;
                threads.for_each([&](int v, UpLane &mine) { place(v, mine, place_of_warp[v / block].of); });
                threads.for_each([&](int v, UpLane &mine) {
                  device::lane_barrier(block);
                  if (stays) ask_up(here, first + warps + v / block, v, mine);
                  else if (level < stage.top) ask_up(higher, v / block, v, mine);
                  join(here, stage, level, first + v / block, v, place_of_warp[v / block].of, passed);
                });
              }
              team.barrier();
              here = higher;
            }
            if (stage.top < tree.top() || tree.is_piece())
              items(team, threads, 1, [&](int, int lane) {
                Scalar *to = &solve.passed(chain0, stage.top, top, 0, column0 + lane);
                RIBBON_UNROLL
                for (int k = 0; k < W; ++k) to[k * solve.v.columns] = passed[0][k][lane];
              });
          });
  }

  /// A join of a tile on the way down, or a join above the tile.
  struct Item {
    std::int64_t number = -1;             ///< index among all joins; -1: no join
    int          before, between, behind; ///< cuts of the tile
    bool         keeps;                   ///< the cut is before a leaf of the tile
  };
  KOKKOS_INLINE_FUNCTION int items_at(int level) const
  {
    return level > solve.tree.levels ? chains : level > lowest ? 1 : this->nodes_at(chains, lowest, level);
  }
  KOKKOS_INLINE_FUNCTION Item item(int level, int j) const
  {
    const Tree &tree = solve.tree;
    const int   end  = this->leaves_of_chain;
    Item        it;
    if (level < 1 || j >= items_at(level)) return it;
    if (level > tree.levels) {
      it = {tree.join_number(chain0 + j, level, 0), this->cut(j, 0), this->cut(j, 0), this->cut(j, end),
            this->node0 == 0};
    } else if (level > lowest) { // one chain
      const int          s    = level - lowest;
      const std::int64_t node = this->above >> s;
      if (tree.is_join(level, node))
        it = {tree.join_number(chain0, level, node), 0, this->found_above(level), end,
              this->found_above(level) == 0 && (node << s) + (std::int64_t(1) << (s - 1)) == this->above};
    } else {
      const Nodes here = this->nodes(chains, this->above, lowest, level);
      const int   g = here.chain(j), within = here.within(j) << level, last = within + (1 << level);
      if (here.is_join(j))
        it = {here.join_number(j), this->cut(g, within), this->cut(g, within + (1 << (level - 1))),
              this->cut(g, last < end ? last : end), true};
    }
    return it;
  }
  KOKKOS_INLINE_FUNCTION void ask_down(const Item &it, int v, DownLane &mine) const
  {
    if (it.number < 0) return;
    const Scalar *r = factors(it.number).r;
    RIBBON_UNROLL
    for (int i = 0; i < (r_size + block - 1) / block; ++i) {
      const int k = v % block + i * block;
      if (k < r_size) mine.share[i] = read_only_scalar(r + k);
    }
    if (!has_column(v)) return;
    const Scalar *value = values_at(it.number, v);
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k, value += solve.v.columns) mine.value[k] = *value;
  }
  /// The unknowns of the cut of a join, from those of the cuts before and after it; the closing join of a
  /// ring needs none of these.
  KOKKOS_INLINE_FUNCTION void solve_at(const Item &it, bool closes, int v, Scalar (&y)[W], const Scalar *r,
                                       Rows *cuts) const
  {
    if (it.number < 0 || !has_column(v)) return;
    const int lane = v % block;
    if (!closes) {
      RIBBON_UNROLL
      for (int k = 0; k < 2 * W; ++k) {
        const Scalar known = cuts[k < W ? it.before : it.behind][k % W][lane];
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) y[i] -= r[(W + k) * W + i] * known;
      }
    }
    RIBBON_UNROLL
    for (int k = W - 1; k >= 0; --k) {
      y[k] *= r[k * W + k];
      RIBBON_UNROLL
      for (int i = 0; i < k; ++i) y[i] -= r[k * W + i] * y[k];
    }
    Rows &found = cuts[it.between];
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) found[k][lane] = y[k];
    if (closes) {
      Rows &last = cuts[it.behind];
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) last[k][lane] = y[k];
    }
    if (!it.keeps) return;
    Scalar *to = CutUnknowns<Scalar, W>{solve}.of_join(it.number) + column0 + lane;
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k, to += solve.v.columns) *to = y[k];
  }
  /// The unknowns of all cuts of a tile. Joins above the tile are solved by every team below them.
  template <class Team, class Threads>
  KOKKOS_INLINE_FUNCTION void down(const Team &team, Threads &threads, RPlace *place_of_warp,
                                   Rows *cuts) const
  {
    const Tree            &tree = solve.tree;
    const Columns<Scalar> &v    = solve.v;
    const int              end  = this->leaves_of_chain;
    threads.for_each([&](int t, DownLane &mine) { ask_down(item(tree.top(), t / block), t, mine); });
    items(team, threads, tree.chain.ring ? 0 : chains, [&](int g, int lane) {
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) {
        cuts[this->cut(g, 0)][k][lane] =
          tree.chain.open_left ? v.before[k * v.columns + column0 + lane] : Scalar(0);
        cuts[this->cut(g, end)][k][lane] =
          tree.chain.open_right ? v.behind[k * v.columns + column0 + lane] : Scalar(0);
      }
    });
    for (int level = tree.top(); level > 0; --level) {
      const int n = items_at(level);
      for (int first = 0; first < n; first += warps) {
        const bool stays = first + warps < n;
        threads.for_each([&](int t, DownLane &mine) { place(t, mine, place_of_warp[t / block].of); });
        threads.for_each([&](int t, DownLane &mine) {
          const Item here = item(level, first + t / block);
          Scalar     y[W];
          RIBBON_UNROLL
          for (int k = 0; k < W; ++k) y[k] = mine.value[k];
          device::lane_barrier(block);
          ask_down(stays ? item(level, first + warps + t / block) : item(level - 1, t / block), t, mine);
          solve_at(here, level > tree.levels, t, y, place_of_warp[t / block].of, cuts);
        });
      }
      if (level <= lowest + 1) team.barrier(); // above these levels, only one warp works
    }
  }
};

/// Joins for many columns on the way up.
template <class Scalar, int W>
struct QrJoinsUpKernel {
  using Joins                      = QrColumnJoins<Scalar, W>;
  using Rows                       = typename Joins::Rows;
  static constexpr int max_threads = Joins::max_threads, team_size = max_threads;
  QrSolve<Scalar>      solve;
  Arrivals             arrivals;
  using Lane                                = typename Joins::UpLane;
  static constexpr std::size_t factor_bytes = Joins::warps * sizeof(typename Joins::QPlace),
                               passed_bytes = Joins::leaves / 2 * sizeof(Rows);
  std::int64_t       teams() const { return Joins::tiles(solve.tree) * Joins::blocks(solve); }
  static std::size_t scratch(bool virtual_threads)
  {
    return factor_bytes + passed_bytes + 16 +
           (virtual_threads ? max_threads * device::align16(sizeof(Lane)) : 0);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    char                       *passed = team.scratch() + factor_bytes, *flag = passed + passed_bytes;
    device::Threads<Lane, Team> threads(team, flag + 16);
    const Joins                 joins(solve, team.league_rank());
    threads.for_each([&](int v, Lane &) { joins.template prefetch<true>(v); });
    joins.up(team, threads, arrivals, reinterpret_cast<typename Joins::QPlace *>(team.scratch()),
             reinterpret_cast<Rows *>(passed), reinterpret_cast<int *>(flag));
  }
};
/// Joins for many columns on the way down.
template <class Scalar, int W>
struct QrJoinsDownKernel {
  using Joins                      = QrColumnJoins<Scalar, W>;
  using Rows                       = typename Joins::Rows;
  static constexpr int max_threads = Joins::max_threads, team_size = max_threads;
  QrSolve<Scalar>      solve;
  using Lane                                = typename Joins::DownLane;
  static constexpr std::size_t factor_bytes = Joins::warps * sizeof(typename Joins::RPlace);
  std::int64_t                 teams() const { return Joins::tiles(solve.tree) * Joins::blocks(solve); }
  KOKKOS_INLINE_FUNCTION static std::size_t cuts_bytes(const Tree &tree)
  {
    return static_cast<std::size_t>(Joins::most_cuts(tree)) * sizeof(Rows);
  }
  std::size_t scratch(bool virtual_threads) const
  {
    return factor_bytes + cuts_bytes(solve.tree) +
           (virtual_threads ? max_threads * device::align16(sizeof(Lane)) : 0);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    Rows                       *cuts = reinterpret_cast<Rows *>(team.scratch() + factor_bytes);
    device::Threads<Lane, Team> threads(team, reinterpret_cast<char *>(cuts) + cuts_bytes(solve.tree));
    const Joins                 joins(solve, team.league_rank());
    threads.for_each([&](int v, Lane &) { joins.template prefetch<false>(v); });
    joins.down(team, threads, reinterpret_cast<typename Joins::RPlace *>(team.scratch()), cuts);
  }
};

} // namespace ribbon::multifrontal
