// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf_tile.hpp  Orthogonal elimination of leaves of one width, 32 at a time: a thread has a leaf, and half of its window in registers.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>
#include <ribbon/multifrontal/leaf_runs.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// The arithmetic of QrLeafKernel for W = kl + ku known when compiled. A leaf has a thread in each of three or four warps, which work on three chunks of its rows at the same time: one prepares rows (scaled, an entry for
/// every place of the band), one has the W columns ahead in registers and makes the reflections, one follows with the W columns of the cut before and watches the pivots. Where windows would fill the registers two share
/// the columns ahead, by turns, and two those of the cut, one of which prepares, too: the column of a pivot goes through scratch, and both make the reflection of it for themselves.
/// Entries come through scratch, a chunk of rows of all leaves at once, in runs; where a row has an entry at every place its column indices are not read.
template <class Scalar, int W>
struct QrLeafTileKernel {
  static constexpr int leaves       = 32;
  static constexpr int parts        = W <= 6 ? 1 : 2; ///< threads that share the columns ahead, and those of the cut
  static constexpr int own          = W / parts;      ///< columns of a thread
  static constexpr int warps        = parts == 1 ? 3 : 4;
  static constexpr int team_size    = warps * leaves;
  static constexpr int max_threads  = parts == 1 ? team_size : 384; ///< so few registers that three teams fit a multiprocessor
  static constexpr int movers       = W == 2 || parts == 2 ? 3 : 2; ///< warps that move entries: not those that others wait for
  static constexpr int first_mover  = movers == 3 ? 0 : leaves;
  static constexpr int chunk        = W <= 2 ? 8 : W <= 6 ? 4 : 3; ///< rows of a leaf
  static constexpr int kept         = parts == 1 ? 3 : 2;          ///< chunks whose rows are in scratch
  static constexpr int watched      = parts == 1 ? 3 : 4;          ///< chunks whose largest entries are: one more than need be is a number that need not be put aside
  static constexpr int first_chunks = (W + chunk - 1) / chunk;     ///< with the rows that fill the window
  static constexpr int entries      = chunk * (W + 1);
  static constexpr int half         = W * (W + 1); ///< numbers that a leaf passes for one of its cuts
  using Real                        = real_t<Scalar>;
  Tree                 tree;
  ChainEntries<Scalar> A;
  Factors<Scalar>      factors;

  /// What does not change, and what is not needed at every step, is in scratch: windows take the registers, and a number that is put aside waits for the copies of entries when it is read again.
  struct Lane {
    Scalar  window[own][W]; ///< columns; those of the leaf move up as they are removed
    Scalar *upper;          ///< of the next step
    int     steps, instead; ///< of the chunk
  };
  /// conj(tau), x, R_jj, and the factor that makes v of x. Where a thread has all columns ahead it takes the place of the row, and x is v.
  using Reflection = Scalar[parts == 1 ? W + 2 : W + 3][leaves];
  template <int Parts, class = void>
  struct Reflections {
    Reflection at[2][chunk];
  };
  template <class None>
  struct Reflections<1, None> {
  };
  /// Records of 32 threads, which differ in the banks of their numbers: their size is an odd multiple of 8 bytes.
  template <class Record>
  struct alignas(8) Apart : Record {
    static_assert(sizeof(Record) % 16 == 0, "one number more makes the size odd");
    double apart;
  };
  struct Shared : Reflections<parts> {
    Scalar                  value[2][leaves][entries | 1];                        // odd: no two lanes meet in a bank
    Scalar                  row[kept][chunk][parts == 1 ? W + 2 : W + 1][leaves]; ///< as they are prepared
    std::int32_t            column[2][leaves][entries];                           // their lower bits, as those of where rows begin: what counts are small differences
    std::int32_t            begin_at[4][leaves];                                  ///< where chunks begin
    std::int32_t            row_begin[2][leaves][chunk + 1];                      ///< where rows do, if some lack entries
    LeafRun                 run[4][leaves];
    std::int64_t            base, first_entry; ///< the first row of the tile, its first entry
    int                     chunks;            ///< of the longest leaf
    Apart<Leaf>             leaf[leaves];
    int                     column_size[W][leaves];                    ///< size_word of the largest entries of the columns of the row that comes next
    int                     first_size[W][leaves];                     ///< the same of the columns of the cut before
    int                     begin[leaves], end[leaves], first[leaves]; ///< rows of a leaf, and the first of its window, from the first row of the tile on
    int                     size[watched][chunk][leaves];              ///< size_word of the largest entry of the column that has its last row
    std::int16_t            exponent[2][leaves][chunk + 1];            ///< that was taken out of a row
    Apart<LeafPivots<Real>> pivots[leaves];
  };
  static std::size_t scratch(bool virtual_threads) { return device::align16(sizeof(Shared)) + (virtual_threads ? team_size * device::align16(sizeof(Lane)) : 0); }

  /// What a thread does.
  KOKKOS_INLINE_FUNCTION static bool is_ahead(int v) { return v < parts * leaves; }
  KOKKOS_INLINE_FUNCTION static bool follows(int v) { return !is_ahead(v) && v < 2 * parts * leaves; }
  KOKKOS_INLINE_FUNCTION static bool watches(int v) { return v / leaves == parts; }
  KOKKOS_INLINE_FUNCTION static bool prepares(int v) { return v / leaves == warps - 1; }
  /// Which of those that share columns it is.
  KOKKOS_INLINE_FUNCTION static int part_of(int v) { return v / leaves % parts; }

  /// Whether rows follow each other and columns are where they seem.
  KOKKOS_INLINE_FUNCTION bool is_plain() const { return !A.row_of && A.outside.rows == 0; }

  /// The first row of chunk q of a leaf, and how many it has.
  KOKKOS_INLINE_FUNCTION static int row_at(int q) { return q < first_chunks ? q * chunk : W + (q - first_chunks) * chunk; }

  /// A row of a leaf, or the nearest it has, or the one behind its last.
  KOKKOS_INLINE_FUNCTION static int inside(int i, int lane, const Shared &shared) { return i < shared.begin[lane] ? shared.begin[lane] : i > shared.end[lane] ? shared.end[lane] : i; }
  /// Where chunk q begins, and the one before ends.
  KOKKOS_INLINE_FUNCTION void stage_begin(int q, int lane, Shared &shared) const
  {
    device::async_copy(&shared.begin_at[q % 4][lane], A.local.row_begin.low(shared.base + inside(shared.first[lane] + row_at(q), lane, shared)));
  }
  /// Where the entries of the rows of chunk q are, a chunk before they are asked for.
  KOKKOS_INLINE_FUNCTION void find_run(int q, int lane, Shared &shared) const
  {
    const std::int32_t begin = shared.begin_at[q % 4][lane];
    const int          count = between(begin, shared.begin_at[(q + 1) % 4][lane]);
    shared.run[q % 4][lane]  = {between(static_cast<std::int32_t>(shared.first_entry), begin), is_full(lane, q, count, shared) ? count : -1 - count};
  }
  /// Brings the entries of chunk q.
  KOKKOS_INLINE_FUNCTION void stage_entries(int q, int v, Shared &shared) const
  {
    const auto with_gaps = [&](int leaf, int lane) {
      const LeafRun      run  = shared.run[q % 4][leaf];
      const std::int64_t from = shared.first_entry + run.first;
      for (int e = lane; e < -1 - run.count; e += 32) device::async_copy(&shared.value[q % 2][leaf][e], A.local.value + from + e), device::async_copy(&shared.column[q % 2][leaf][e], A.local.column.low(from + e));
      if (lane <= chunk) device::async_copy(&shared.row_begin[q % 2][leaf][lane], A.local.row_begin.low(shared.base + inside(shared.first[leaf] + row_at(q) + lane, leaf, shared)));
    };
    stage_runs<movers * leaves, 8, Scalar, (entries | 1), entries>(A.local.value + shared.first_entry, shared.run[q % 4], v, shared.value[q % 2], with_gaps);
  }
  /// The scales that were found in chunk q.
  KOKKOS_INLINE_FUNCTION void store_scales(std::int64_t base, int q, int v, const Shared &shared) const
  {
    for (int k = v; k < leaves * chunk; k += movers * leaves) {
      const int leaf = k / chunk, r = k - leaf * chunk, i = shared.first[leaf] + row_at(q) + r;
      if ((q >= first_chunks || row_at(q) + r < W) && i >= shared.begin[leaf] && i < shared.end[leaf]) factors.row_scale[base + i] = power_of_two(-shared.exponent[q % 2][leaf][r]);
    }
  }

  /// How many rows of chunk q a leaf of so many has.
  KOKKOS_INLINE_FUNCTION static int rows_of(int q, int rows)
  {
    const int end = q < first_chunks && rows > W ? W : rows, n = end - row_at(q);
    return n < chunk ? n : chunk;
  }

  /// Whether the rows of chunk q, which have `count` entries, have one at every place of the band, none of them around the ends of a ring.
  KOKKOS_INLINE_FUNCTION bool is_full(int lane, int q, int count, const Shared &shared) const
  {
    const Chain       &c    = tree.chain;
    const int          rows = rows_of(q, shared.leaf[lane].rows(tree));
    const std::int64_t i    = shared.leaf[lane].first + row_at(q);
    return rows <= 0 || (count == rows * (W + 1) && (!c.ring || (i >= c.kl && i + rows - 1 + c.ku < c.rows)));
  }
  /// Row t of chunk q: entries at all places of the band.
  KOKKOS_INLINE_FUNCTION void fetch(int lane, int q, int t, bool full, Scalar (&entry)[W + 1], Shared &shared) const
  {
    if (full) {
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) entry[k] = shared.value[q % 2][lane][t * (W + 1) + k];
      return;
    }
    const Chain        &c     = tree.chain;
    const Leaf          leaf  = shared.leaf[lane];
    const std::int64_t  i     = leaf.first + row_at(q) + t;
    auto               &dense = shared.row[q % kept][t];
    const std::int32_t *begin = shared.row_begin[q % 2][lane] + t;
    const bool          plain = is_plain();
    const int           n = plain ? between(begin[0], begin[1]) : 0, at = plain ? between(shared.row_begin[q % 2][lane][0], begin[0]) : 0;
    for (int k = 0; k <= W; ++k) dense[k][lane] = Scalar(0);
    for (int e = at; e < at + n; ++e) dense[c.kl + c.distance(0, between(static_cast<std::int32_t>(leaf.chain * c.rows + i), shared.column[q % 2][lane][e]))][lane] = shared.value[q % 2][lane][e];
    if (!plain && has_row(c, i)) {
      const std::int64_t place = A.row(c, leaf.chain, i);
      for (int e = 0, m = A.entries(place); e < m; ++e) {
        int          distance;
        const Scalar value           = A.entry(c, leaf.chain, i, place, e, distance);
        dense[c.kl + distance][lane] = value;
      }
    }
    RIBBON_UNROLL
    for (int k = 0; k <= W; ++k) entry[k] = dense[k][lane];
  }
  /// Scales the rows of chunk q by powers of two.
  KOKKOS_INLINE_FUNCTION void prepare(int lane, int q, Shared &shared) const
  {
    const int  rows      = rows_of(q, shared.leaf[lane].rows(tree));
    const bool full      = is_plain() && !shared.run[q % 4][lane].has_gaps();
    int        exponents = 0;
    RIBBON_NO_UNROLL
    for (int t = 0; t < rows; ++t) {
      Scalar entry[W + 1];
      fetch(lane, q, t, full, entry, shared);
      int largest = 0;
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) largest = size_word(entry[k]) > largest ? size_word(entry[k]) : largest;
      const int  exponent             = exponent_of<Real>(largest);
      const Real s                    = power_of_two(-exponent);
      shared.exponent[q % 2][lane][t] = static_cast<std::int16_t>(exponent);
      exponents += exponent;
      if (largest == 0) {
        const Leaf         leaf = shared.leaf[lane];
        const std::int64_t i    = leaf.first + row_at(q) + t;
        if (has_row(tree.chain, i)) shared.pivots[lane].statistics.take_row(0, true, leaf.chain * tree.chain.rows + i);
      }
      int whole = 0, before[W]; // whole: of the column whose last row this is
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) before[k] = shared.column_size[k][lane];
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) {
        const Scalar a                   = entry[k] * s;
        shared.row[q % kept][t][k][lane] = a;
        const int most = k < W ? before[k < W ? k : 0] : 0, size = size_word(a) > most ? size_word(a) : most;
        if (k > 0) shared.column_size[k > 0 ? k - 1 : 0][lane] = size;
        else whole = size;
      }
      shared.size[q % watched][t][lane] = whole;
      if (q < first_chunks) shared.first_size[row_at(q) + t][lane] = whole;
    }
    shared.pivots[lane].statistics.exponents += exponents;
  }

  /// Puts the rows of chunk q into the window.
  KOKKOS_INLINE_FUNCTION static void fill(Lane &mine, int v, int q, const Shared &shared)
  {
    const int lane = v % leaves;
    RIBBON_UNROLL
    for (int i = 0; i < W; ++i) { // entry k is in column i + k of those of the cut and, from W on, those ahead
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

  /// The `count` numbers of a step, see Factors::step().
  KOKKOS_INLINE_FUNCTION Scalar       *step(Scalar *all, std::int64_t tile, int lane, int s, int count) const { return all + (tile * tree.most_rows() + s) * count * leaves + lane; }
  KOKKOS_INLINE_FUNCTION static Scalar dot(const Scalar (&a)[W], const Scalar (&b)[W])
  {
    Scalar sum(0), other(0);
    RIBBON_UNROLL
    for (int i = 0; i < W; i += 2) sum += a[i] * b[i], other += a[i + 1] * b[i + 1];
    return sum + other;
  }
  /// The row of the window that arrives instead of the first of chunk q if that is behind the end, see Leaf; one less for every row after it. W and more: none.
  KOKKOS_INLINE_FUNCTION static int row_instead(int lane, int q, const Shared &shared) { return W - 1 - (shared.first[lane] + row_at(q) - shared.end[lane]); }
  /// The reflection of row t of chunk q: conj(tau), x, R_jj, the factor.
  KOKKOS_INLINE_FUNCTION static Reflection &reflection_at(int q, int t, Shared &shared)
  {
    if constexpr (parts == 1) return shared.row[q % kept][t];
    else return shared.at[q % 2][t];
  }
  /// Puts the column of the pivot of row t of chunk q where all that share columns find it.
  KOKKOS_INLINE_FUNCTION static void publish(const Lane &mine, int lane, int q, int t, Shared &shared)
  {
    Reflection &reflection = reflection_at(q, t, shared);
    RIBBON_UNROLL
    for (int i = 0; i < W; ++i) reflection[1 + i][lane] = mine.window[0][i];
  }
  /// Removes a column. What does not wait for the reflection, the products with the columns, comes first.
  /// @tparam Turn  whether the thread has the column of the pivot
  template <bool Turn>
  KOKKOS_INLINE_FUNCTION static void remove(Lane &mine, int lane, int q, int t, Shared &shared)
  {
    const int     instead    = mine.instead - t;
    Scalar *const upper      = mine.upper;
    constexpr int first      = Turn ? parts : 1; // column behind that of the pivot, `parts` further for the next
    constexpr int before     = Turn ? 1 : 0;     // which column of the thread that is; the last of a turn begins here
    auto         &row        = shared.row[q % kept][t];
    Reflection   &reflection = reflection_at(q, t, shared);
    Scalar(&w)[own][W]       = mine.window;
    Scalar x[W], product[own], alpha = row[0][lane];
    RIBBON_UNROLL
    for (int i = 0; i < W; ++i) x[i] = parts == 1 ? w[0][i] : reflection[1 + i][lane];
    if (instead < W) {
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) {
        if (i != instead) continue;
        alpha = taken(x[i]);
        RIBBON_UNROLL
        for (int c = 0; c + before < own; ++c) row[first + parts * c][lane] = taken(w[c + before < own ? c + before : 0][i]);
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
      const Scalar a = row[first + parts * c][lane], head = (is_new ? a : a + h.factor * product[c]) * h.tau_conjugate, tail = h.factor * head;
      RIBBON_UNROLL
      for (int i = 0; i < W; ++i) w[c][i] = (is_new ? Scalar(0) : w[is_new ? 0 : c + before][i]) - x[i] * tail;
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
  KOKKOS_INLINE_FUNCTION static bool has_pivot(int v, int q, int t) { return part_of(v) == (row_at(q) - W + t) % parts; }
  /// The steps of chunk q.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void eliminate(device::Threads<Lane, Team> &threads, std::int64_t tile, int q, Shared &shared) const
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
        RIBBON_NO_UNROLL
        for (int t = 0; t < mine.steps; ++t, mine.upper += (2 * W + 1) * leaves) remove<true>(mine, lane, q, t, shared);
      } else if (has_pivot(v, q, 0)) publish(mine, lane, q, 0, shared);
    });
    if constexpr (parts == 1) return;
    RIBBON_NO_UNROLL
    for (int t = 0; t < chunk; ++t) {
      ahead([&](int, int, Lane &) { group_barrier(0, parts * leaves); });
      ahead([&](int v, int lane, Lane &mine) {
        if (t >= mine.steps) return;
        if (has_pivot(v, q, t)) remove<true>(mine, lane, q, t, shared);
        else remove<false>(mine, lane, q, t, shared);
        mine.upper += (2 * W + 1) * leaves;
      });
    }
  }
  /// The same reflections of the columns of the cut before.
  KOKKOS_INLINE_FUNCTION void follow(Lane &mine, std::int64_t tile, int v, int q, Shared &shared) const
  {
    const int lane  = v % leaves;
    Scalar   *upper = step(factors.upper, tile, lane, row_at(q) - W, 2 * W + 1) + (1 + W + own * part_of(v)) * leaves, *kept_for_solves = step(factors.reflection, tile, lane, row_at(q) - W, W + 1);
    Scalar(&w)[own][W] = mine.window;
    const int steps    = rows_of(q, shared.leaf[lane].rows(tree));
    RIBBON_NO_UNROLL
    for (int t = 0; t < steps; ++t) {
      const int    instead    = row_instead(lane, q, shared) - t;
      Reflection  &reflection = reflection_at(q, t, shared);
      Scalar       x[W], factor = Scalar(1);
      const Scalar tau   = reflection[0][lane];
      const bool   takes = instead < W;
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
      if (takes) { // the row that arrives has been zero till now
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
        shared.pivots[lane].take(reflection[W + 1][lane], of_size_word(shared.size[q % watched][t][lane]), row_at(q) - W + t);
      }
      kept_for_solves += (W + 1) * leaves, upper += (2 * W + 1) * leaves;
    }
  }

  /// Equations in the unknowns of one of the cuts, of all leaves: where entries and rows were, which are no longer needed.
  KOKKOS_INLINE_FUNCTION static Scalar *passed(int lane, Shared &shared)
  {
    static_assert(sizeof(shared.value) + sizeof(shared.row) >= leaves * (half | 1) * sizeof(Scalar), "value and row follow each other");
    return &shared.value[0][0][0] + lane * (half | 1);
  }
  KOKKOS_INLINE_FUNCTION void put(const Lane &mine, int v, const int (&size)[W][leaves], Shared &shared) const
  {
    const int lane = v % leaves, first = is_ahead(v) ? (part_of(v) + shared.leaf[lane].rows(tree)) % parts : own * part_of(v), apart = is_ahead(v) ? parts : 1;
    Scalar   *to = passed(lane, shared);
    RIBBON_UNROLL
    for (int c = 0; c < own; ++c) {
      const int at = first + apart * c;
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) to[at * (W + 1) + k] = mine.window[c][k];
      to[at * (W + 1) + W] = of_size_word(size[at][lane]);
    }
  }
  /// Stores them in runs. `first`: their place among what a leaf passes.
  KOKKOS_INLINE_FUNCTION void pass(int v, int first, Shared &shared) const
  {
    for (int k = v / leaves; k < leaves; k += warps) {
      const Leaf leaf = shared.leaf[k];
      if (leaf.own <= -W) continue;
      const Scalar *from = passed(k, shared);
      Scalar       *to   = factors.passed(tree, leaf.chain, 0, leaf.node).at + first;
      RIBBON_UNROLL
      for (int e = v % leaves; e < half; e += leaves) to[e] = from[e];
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    static_assert(std::is_floating_point_v<Scalar> && W % 2 == 0, "real numbers, sums in two halves");
    Shared                     &shared = *reinterpret_cast<Shared *>(team.scratch());
    device::Threads<Lane, Team> threads(team, team.scratch() + device::align16(sizeof(Shared)));
    const auto                  each = [&](const auto &phase) { // more threads wait for what comes after the leaves
      threads.for_each([&](int v, Lane &mine) {
        if (v < team_size) phase(v, mine);
      });
    };
    const bool plain = is_plain();
    each([&](int v, Lane &) {
      if (v >= leaves) return;
      const std::int64_t slot0 = team.league_rank() * leaves, chain0 = slot0 / tree.slots, base = chain0 * tree.chain.rows + tree.start(slot0 - chain0 * tree.slots);
      const std::int64_t chain = (slot0 + v) / tree.slots, node = (slot0 + v) - chain * tree.slots;
      const bool         is_there = chain < tree.chain.chains && node < tree.leaves;
      const int          lane     = v;
      Leaf               leaf;
      leaf.chain = leaf.node = leaf.first = 0, leaf.own = -W;
      if (is_there) leaf = Leaf(tree, chain, node);
      if (lane == 0) {
        shared.base = base, shared.first_entry = plain ? A.local.row_begin[base] : 0;
        shared.chunks = first_chunks + (tree.most_steps(slot0, leaves) + chunk - 1) / chunk;
      }
      const std::int64_t before              = chain * tree.chain.rows - base;
      static_cast<Leaf &>(shared.leaf[lane]) = leaf;
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) shared.column_size[k][lane] = 0;
      shared.first[lane]                                   = is_there ? static_cast<int>(before + leaf.first) : 0;
      shared.begin[lane]                                   = is_there ? static_cast<int>(before + tree.start(node)) : 0;
      shared.end[lane]                                     = is_there ? static_cast<int>(before + tree.start(node + 1)) : 0;
      static_cast<LeafPivots<Real> &>(shared.pivots[lane]) = LeafPivots<Real>();
    });
    team.barrier();
    RIBBON_NO_UNROLL
    for (int q = -4; q <= shared.chunks; ++q) { // chunk q is eliminated, q - 1 followed, q + 1 prepared; entries of q + 2 come, and where chunk q + 5 begins
      each([&](int thread, Lane &mine) {
        const int v = W <= 6 ? thread : renewed(thread), lane = v % leaves, chunks = shared.chunks, mover = v - first_mover;
        if (plain && watches(v) && q == -4) stage_begin(0, lane, shared);
        if (plain && watches(v) && q + 5 <= chunks) stage_begin(q + 5, lane, shared);
        if (plain && q >= -3 && q + 3 < chunks && watches(v)) find_run(q + 3, lane, shared);
        if (plain && q >= -2 && q + 2 < chunks && mover >= 0 && mover < movers * leaves) stage_entries(q + 2, mover, shared);
        if (q >= 0 && q < chunks && mover >= 0 && mover < movers * leaves) store_scales(shared.base, q, mover, shared);
        if (q >= 0 && q < first_chunks) fill(mine, v, q, shared);
      });
      const std::int64_t tile = team.league_rank();
      if (q >= first_chunks && (Team::is_virtual || is_ahead(team.rank()))) eliminate(threads, tile, q, shared);
      each([&](int thread, Lane &mine) {
        const int v = W <= 6 ? thread : renewed(thread);
        if (follows(v) && q > first_chunks) follow(mine, tile, v, q - 1, shared);
        if (prepares(v) && q >= -1) prepare(v % leaves, q + 1, shared);
      });
      each([&](int, Lane &) { device::async_commit(), device::async_wait(0); });
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
      factors.leaf_statistics[leaf.chain * tree.leaves + leaf.node] = shared.pivots[v % leaves].finished(leaf.chain * tree.chain.rows + leaf.first + tree.chain.ku);
    });
  }
};

} // namespace ribbon::multifrontal
