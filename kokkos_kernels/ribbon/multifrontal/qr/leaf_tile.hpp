// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf_tile.hpp  Orthogonal elimination of leaves of one width, 32 at a time: a thread has a leaf,
///   and a half or a quarter of its window in registers.
#pragma once

#include <ribbon/multifrontal/qr/leaf_rows.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of QrLeafKernel for W = kl + ku known at compile time. A leaf has a thread in each of
/// three or four warps. These work on three chunks of its rows at the same time. One warp prepares rows
/// (scaled, an entry for every place of the band). One has the W leading columns in registers and computes
/// the reflections. One follows with the W columns of the cut before, and watches the pivots.
/// If windows would fill the registers, two warps share the leading columns in turns, and two share those
/// of the cut; one of these also prepares rows. The column of a pivot then goes through scratch, and both
/// warps compute its reflection. Entries are copied to scratch in runs, a chunk of rows of all leaves at
/// once. Column indices are not read if rows have an entry at every place.
template <class Scalar, int W>
struct QrLeafTileKernel : QrLeafRows<Scalar, W> {
  using Rows = QrLeafRows<Scalar, W>;
  using Rows::A, Rows::factors, Rows::tree;
  using Rows::chunk, Rows::first_chunks, Rows::half, Rows::kept, Rows::leaves, Rows::own, Rows::parts,
    Rows::team_size, Rows::watched;
  using Rows::follows, Rows::is_ahead, Rows::part_of, Rows::prepares, Rows::row_at, Rows::rows_of,
    Rows::watches;
  using typename Rows::Real;
  using typename Rows::Reflection;
  using typename Rows::Shared;

  /// Constants, and values that not every step needs, are in scratch: windows occupy the registers, and
  /// reading a spilled value would wait for the copies of entries.
  struct Lane {
    Scalar  window[own][W]; ///< columns; those of the leaf move up as they are removed
    Scalar *upper;          ///< of the next step
    int     steps, instead; ///< of the chunk

    /// Whether the chunk has rows after the end of the chain.
    KOKKOS_INLINE_FUNCTION bool ends() const { return instead - steps + 1 < W; }
  };
  static constexpr bool settles = W < 10; ///< with W = 10 there are no registers for it
  static std::size_t    scratch(bool virtual_threads)
  {
    return device::align16(sizeof(Shared)) +
           (virtual_threads ? team_size * device::align16(sizeof(Lane)) : 0);
  }

  /// Copies the rows of chunk q to the window.
  KOKKOS_INLINE_FUNCTION static void fill(Lane &mine, int v, int q, const Shared &shared)
  {
    const int lane = v % leaves;
    RIBBON_UNROLL
    for (int i = 0; i < W;
         ++i) { // entry k is in column i + k: first the columns of the cut, from W on the leading ones
      if (q != i / chunk) continue;
      const auto &row = shared.row[i / chunk % kept][i % chunk];
      RIBBON_UNROLL
      for (int c = 0; c < own; ++c) {
        if (is_ahead(v)) {
          const int at      = parts == 1 ? c : parts * c + part_of(v);
          mine.window[c][i] = at <= i ? row[at <= i ? W + at - i : 0][lane] : Scalar(0);
        } else if (follows(v)) {
          const int at      = parts == 1 ? c : own * part_of(v) + c;
          mine.window[c][i] = at >= i ? row[at >= i ? at - i : 0][lane] : Scalar(0);
        }
      }
    }
  }

  /// The `count` values of a step, see Factors::step().
  KOKKOS_INLINE_FUNCTION Scalar *step(Scalar *all, std::int64_t tile, int lane, int s, int count) const
  {
    return all + (tile * tree.most_rows() + s) * count * leaves + lane;
  }
  KOKKOS_INLINE_FUNCTION static Scalar dot(const Scalar (&a)[W], const Scalar (&b)[W])
  {
    Scalar sum(0), other(0);
    RIBBON_UNROLL
    for (int i = 0; i < W; i += 2) sum += a[i] * b[i], other += a[i + 1] * b[i + 1];
    return sum + other;
  }
  /// The row of the window that enters instead of the first row of chunk q if that is after the end, see
  /// Leaf; one less for every row after it. At least W: no such row.
  KOKKOS_INLINE_FUNCTION static int row_instead(int lane, int q, const Shared &shared)
  {
    return W - 1 - (shared.first[lane] + row_at(q) - shared.end[lane]);
  }
  /// The reflection of row t of chunk q: conj(tau), x, R_jj, the factor.
  KOKKOS_INLINE_FUNCTION static Reflection &reflection_at(int q, int t, Shared &shared)
  {
    if constexpr (parts == 1) return shared.row[q % kept][t];
    else return shared.at[q % 2][t];
  }
  /// Copies the pivot column of row t of chunk q to a place that all sharing threads read.
  KOKKOS_INLINE_FUNCTION static void publish(const Lane &mine, int lane, int q, int t, Shared &shared)
  {
    Reflection &reflection = reflection_at(q, t, shared);
    RIBBON_UNROLL
    for (int i = 0; i < W; ++i) reflection[1 + i][lane] = mine.window[0][i];
  }
  /// Eliminates a column. Products with the columns, which do not depend on the reflection, come first.
  /// @tparam Turn  whether the thread has the column of the pivot
  /// @tparam Ends  whether rows of the chunk may be after the end of the chain
  template <bool Turn, bool Ends>
  KOKKOS_INLINE_FUNCTION static void remove(Lane &mine, int lane, int q, int t, Shared &shared)
  {
    const int     instead = mine.instead - t;
    Scalar *const upper   = mine.upper;
    // column after that of the pivot; the next one is `parts` further
    constexpr int first = Turn ? parts : 1;
    // its index among the columns of the thread; with Turn, the last one begins here
    constexpr int before     = Turn ? 1 : 0;
    auto         &row        = shared.row[q % kept][t];
    Reflection   &reflection = reflection_at(q, t, shared);
    Scalar(&w)[own][W]       = mine.window;
    Scalar x[W], product[own], alpha = row[0][lane];
    RIBBON_UNROLL
    for (int i = 0; i < W; ++i) x[i] = parts == 1 ? w[0][i] : reflection[1 + i][lane];
    if (Ends && instead < W) {
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) {
        if (i != instead) continue;
        alpha = taken(x[i]);
        RIBBON_UNROLL
        for (int c = 0; c + before < own; ++c)
          row[first + parts * c][lane] = taken(w[c + before < own ? c + before : 0][i]);
      }
    }
    Real rest = 0, more = 0;
    RIBBON_UNROLL
    for (int i = 0; i < W; i += 2) rest += squared(x[i]), more += squared(x[i + 1]);
    RIBBON_UNROLL
    for (int c = 0; c + before < own; ++c) product[c] = dot(x, w[c + before < own ? c + before : 0]);
    const Reflector<Scalar> h = make_reflector(alpha, rest + more);
    if (Turn) upper[0] = h.one_over_beta;
    RIBBON_UNROLL
    for (int c = 0; c < own; ++c) {
      const bool   is_new = c + before == own;
      const Scalar a      = row[first + parts * c][lane],
                   head   = is_new       ? a * h.tau_conjugate
                            : parts == 1 ? a * h.tau_conjugate + h.tau_factor * product[c]
                                         : (a + h.factor * product[c]) * h.tau_conjugate,
                   tail   = h.factor * head;
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i)
        w[c][i] = (is_new ? Scalar(0) : w[is_new ? 0 : c + before][i]) - x[i] * tail;
      upper[(first + parts * c) * leaves] = a - head;
      if (!Turn && c == 0 && t + 1 < chunk) publish(mine, lane, q, t + 1, shared);
    }
    if (!Turn) return;
    reflection[0][lane] = h.tau_conjugate, reflection[W + 1][lane] = h.beta;
    if constexpr (parts == 1) {
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) reflection[1 + i][lane] = h.factor * x[i];
    } else reflection[W + 2][lane] = h.factor;
  }
  /// Whether a thread has the column of the pivot of row t of chunk q.
  KOKKOS_INLINE_FUNCTION static bool has_pivot(int v, int q, int t)
  {
    return part_of(v) == (row_at(q) - W + t) % parts;
  }
  /// The steps of chunk q.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void eliminate(device::Threads<Lane, Team> &threads, std::int64_t tile, int q,
                                        Shared &shared) const
  {
    const auto ahead = [&](const auto &phase) {
      threads.for_each([&](int v, Lane &mine) {
        if (is_ahead(v)) phase(v, v % leaves, mine);
      });
    };
    ahead([&](int v, int lane, Lane &mine) {
      mine.upper = step(factors.upper, tile, lane, row_at(q) - W, 2 * W + 1);
      mine.steps = rows_of(q, shared.leaf[lane].rows(tree)), mine.instead = row_instead(lane, q, shared);
      if constexpr (parts == 1) {
        const auto steps = [&](auto ends) {
          RIBBON_NO_UNROLL
          for (int t = 0; t < mine.steps; ++t, mine.upper += (2 * W + 1) * leaves)
            remove<true, decltype(ends)::value>(mine, lane, q, t, shared);
        };
        if (mine.ends()) steps(std::true_type());
        else steps(std::false_type());
      } else if (has_pivot(v, q, 0)) publish(mine, lane, q, 0, shared);
    });
    if constexpr (parts == 1) return;
    RIBBON_NO_UNROLL
    for (int t = 0; t < chunk; ++t) {
      ahead([&](int, int, Lane &) { group_barrier(0, parts * leaves); });
      ahead([&](int v, int lane, Lane &mine) {
        if (t >= mine.steps) return;
        if (has_pivot(v, q, t)) remove<true, true>(mine, lane, q, t, shared);
        else remove<false, true>(mine, lane, q, t, shared);
        mine.upper += (2 * W + 1) * leaves;
      });
    }
  }
  /// Applies the same reflections to the columns of the cut before.
  template <bool Ends>
  KOKKOS_INLINE_FUNCTION void follow(Lane &mine, std::int64_t tile, int v, int q, Shared &shared) const
  {
    const int lane = v % leaves;
    Scalar   *upper =
             step(factors.upper, tile, lane, row_at(q) - W, 2 * W + 1) + (1 + W + own * part_of(v)) * leaves,
           *kept_for_solves = step(factors.reflection, tile, lane, row_at(q) - W, W + 1);
    Scalar(&w)[own][W]      = mine.window;
    const int steps         = rows_of(q, shared.leaf[lane].rows(tree));
    RIBBON_NO_UNROLL
    for (int t = 0; t < steps; ++t) {
      const int    instead    = row_instead(lane, q, shared) - t;
      Reflection  &reflection = reflection_at(q, t, shared);
      Scalar       x[W], factor = Scalar(1);
      const Scalar tau   = reflection[0][lane];
      const bool   takes = Ends && instead < W;
      auto         seen  = LeafPivots<Real>().seen();
      int          size  = 0;
      const auto look = [&] { seen = shared.pivots[lane].seen(), size = shared.size[q % watched][t][lane]; };
      if (parts == 1) look(); // long before they are needed
      if constexpr (parts > 1) factor = reflection[W + 2][lane];
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) x[i] = reflection[1 + i][lane];
      if (takes) {
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i)
          if (i == instead) x[i] = Scalar(0);
      }
      const Scalar of_product = factor * tau;
      RIBBON_UNROLL
      for (int c = 0; c < own; ++c) {
        const Scalar head = dot(x, w[c]) * of_product, tail = factor * head;
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) w[c][i] -= x[i] * tail;
        upper[c * leaves] = -head;
      }
      if (takes) { // the entering row has been zero so far
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) {
          if (i != instead) continue;
          RIBBON_UNROLL
          for (int c = 0; c < own; ++c) {
            const Scalar a = taken(w[c][i]), more = a * tau, tail = factor * more;
            RIBBON_UNROLL
            for (int k = 0; k < W; ++k) w[c][k] -= x[k] * tail;
            upper[c * leaves] += a - more;
          }
        }
      }
      if (watches(v)) {
        kept_for_solves[0] = tau;
        RIBBON_UNROLL
        for (int i = 0; i < W; ++i) kept_for_solves[(1 + i) * leaves] = factor * x[i];
        if (parts > 1) look(); // no registers are left to hold them earlier
        if (size < size_of_small_column) shared.pivots[lane].statistics.has_small_column = true;
        shared.pivots[lane].take(seen, pivot_of(reflection[W + 1][lane]), of_size_word(size),
                                 size < size_of_infinity, row_at(q) - W + t);
      }
      kept_for_solves += (W + 1) * leaves, upper += (2 * W + 1) * leaves;
    }
  }

  /// Equations in the unknowns of one of the cuts, for all leaves. They overwrite entries and rows that are
  /// no longer needed.
  KOKKOS_INLINE_FUNCTION static Scalar *passed(int lane, Shared &shared)
  {
    static_assert(sizeof(shared.value) + sizeof(shared.row) >= leaves * (half | 1) * sizeof(Scalar),
                  "value and row follow each other");
    return &shared.value[0][0][0] + lane * (half | 1);
  }
  KOKKOS_INLINE_FUNCTION void put(const Lane &mine, int v, const int (&size)[W][leaves], Shared &shared) const
  {
    const int lane  = v % leaves,
              first = is_ahead(v) ? (part_of(v) + shared.leaf[lane].rows(tree)) % parts : own * part_of(v),
              apart = is_ahead(v) ? parts : 1;
    Scalar *to      = passed(lane, shared);
    RIBBON_UNROLL
    for (int c = 0; c < own; ++c) {
      const int at = first + apart * c;
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) to[at * (W + 1) + k] = mine.window[c][k];
      to[at * (W + 1) + W] = of_size_word(size[at][lane]);
    }
  }
  /// Stores them in runs. `first`: their place in the equations of a leaf.
  KOKKOS_INLINE_FUNCTION void pass(int v, int first, Shared &shared) const
  {
    for (int k = v / leaves; k < leaves; k += Rows::warps) {
      const Leaf leaf = shared.leaf[k];
      if (leaf.own <= -W) continue;
      const Scalar *from = passed(k, shared);
      Scalar       *to   = factors.passed(tree, leaf.chain, 0, leaf.node).at + first;
      RIBBON_UNROLL
      for (int e = v % leaves; e < half; e += leaves) to[e] = from[e];
    }
  }

  /// One function, because each step of the loop has phases of several chunks (loads, preparation,
  /// elimination, following), and the windows of the threads stay in registers between them.
  /// @tparam All  whether the team has only the threads that leaves need
  template <bool All, class Team>
  KOKKOS_INLINE_FUNCTION void run(const Team &team) const
  {
    static_assert(std::is_floating_point_v<Scalar> && W % 2 == 0, "real numbers, sums in two halves");
    Shared                     &shared = *reinterpret_cast<Shared *>(team.scratch());
    device::Threads<Lane, Team> threads(team, team.scratch() + device::align16(sizeof(Shared)));
    const auto                  each = [&](const auto &phase) {
      threads.for_each([&](int v, Lane &mine) {
        if (All || v < team_size) phase(v, mine);
      });
    };
    const bool plain = this->is_plain();
    each([&](int v, Lane &) {
      if (v >= leaves) return;
      const std::int64_t slot0 = team.league_rank() * leaves, chain0 = slot0 / tree.slots,
                         base  = chain0 * tree.chain.rows + tree.start(slot0 - chain0 * tree.slots);
      const std::int64_t chain = (slot0 + v) / tree.slots, node = (slot0 + v) - chain * tree.slots;
      const bool         is_there = chain < tree.chain.chains && node < tree.leaves;
      const int          lane     = v;
      Leaf               leaf;
      leaf.chain = leaf.node = leaf.first = 0, leaf.own = -W;
      if (is_there) leaf = Leaf(tree, chain, node);
      if (lane == 0) {
        shared.differ[0] = 0;
        shared.base = base, shared.first_entry = plain ? A.local.row_begin[base] : 0;
        shared.chunks = first_chunks + (tree.most_steps(slot0, leaves) + chunk - 1) / chunk;
      }
      const std::int64_t before              = chain * tree.chain.rows - base;
      static_cast<Leaf &>(shared.leaf[lane]) = leaf;
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) shared.column_size[k][lane] = 0;
      shared.first[lane] = is_there ? static_cast<int>(before + leaf.first) : 0;
      shared.begin[lane] = is_there ? static_cast<int>(before + tree.start(node)) : 0;
      shared.end[lane]   = is_there ? static_cast<int>(before + tree.start(node + 1)) : 0;
      static_cast<LeafPivots<Real> &>(shared.pivots[lane]) = LeafPivots<Real>();
    });
    team.barrier();
    RIBBON_NO_UNROLL
    // chunk q is eliminated, q - 1 followed, q + 1 prepared; entries of q + 2 and the beginning of chunk
    // q + 5 are loaded
    for (int q = -4; q <= shared.chunks; ++q) {
      each([&](int thread, Lane &mine) {
        const int v = W <= 6 ? thread : renewed(thread), lane = v % leaves, chunks = shared.chunks,
                  mover = v - Rows::first_mover;
        if (this->is_plain() && Rows::finds(v)) {
          if (q == -4) this->stage_begin(0, lane, shared);
          if (q + 5 <= chunks) this->stage_begin(q + 5, lane, shared);
          if (q >= -3 && q + 3 < chunks) this->find_run(q + 3, lane, shared);
        }
        if (this->is_plain() && q >= -2 && q + 2 < chunks && mover >= 0 && mover < Rows::movers * leaves)
          this->stage_entries(q + 2, mover, shared);
        if (q >= 0 && q < first_chunks) fill(mine, v, q, shared);
      });
      const std::int64_t tile = team.league_rank();
      if (q >= first_chunks && (Team::is_virtual || is_ahead(team.rank())))
        eliminate(threads, tile, q, shared);
      each([&](int thread, Lane &mine) {
        const int v = W <= 6 ? thread : renewed(thread);
        if (follows(v) && q > first_chunks) {
          if (row_instead(v % leaves, q - 1, shared) - chunk + 1 < W)
            follow<true>(mine, tile, v, q - 1, shared);
          else follow<false>(mine, tile, v, q - 1, shared);
        }
        if (prepares(v) && q >= -1) this->prepare(tile, v % leaves, q + 1, shared);
        device::async_commit(), device::async_wait(0);
      });
      team.barrier();
    }
    const auto pass_on = [&](auto &&has, const int(&size)[W][leaves], int first) {
      each([&](int v, Lane &mine) {
        if (has(v)) put(mine, v, size, shared);
      });
      team.barrier();
      each([&](int v, Lane &) { pass(v, first, shared); });
      team.barrier();
    };
    pass_on(follows, shared.first_size, 0);
    pass_on(is_ahead, shared.column_size, half);
    each([&](int v, Lane &) {
      const Leaf leaf = shared.leaf[v % leaves];
      if (!prepares(v) || leaf.own <= -W) return;
      factors.leaf_statistics[leaf.chain * tree.leaves + leaf.node] =
        shared.pivots[v % leaves].finished(leaf.chain * tree.chain.rows + leaf.first + tree.chain.ku);
    });
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    run<true>(team);
  }
};

} // namespace ribbon::multifrontal
