// SPDX-License-Identifier: BSD-2-Clause
/// @file leaf_rows.hpp  Copies rows of 32 leaves to scratch, a chunk at a time: scaled entries, one for
///   every place of the band.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>
#include <ribbon/multifrontal/leaf_runs.hpp>

namespace ribbon::multifrontal {

/// The roles of the threads of QrLeafTileKernel, its scratch, and the rows in it.
template <class Scalar, int W>
struct QrLeafRows {
  static constexpr int leaves = 32;
  /// threads that share the leading columns, and threads that share those of the cut
  static constexpr int parts     = W <= 6 ? 1 : 2;
  static constexpr int own       = W / parts; ///< columns of a thread
  static constexpr int warps     = parts == 1 ? 3 : 4;
  static constexpr int team_size = warps * leaves;
  /// few registers, so that three teams fit a multiprocessor
  static constexpr int max_threads = parts == 1 ? team_size : 384;
  /// warps that copy entries: not those that others wait for
  static constexpr int movers      = W == 2 || parts == 2 ? 3 : 2;
  static constexpr int first_mover = movers == 3 ? 0 : leaves;
  static constexpr int chunk       = W <= 2 ? 8 : W <= 6 ? 4 : 3; ///< rows of a leaf
  static constexpr int kept        = parts == 1 ? 3 : 2;          ///< chunks whose rows are in scratch
  /// chunks whose largest entries are in scratch; one chunk more than necessary avoids a spilled register
  static constexpr int watched      = parts == 1 ? 3 : 4;
  static constexpr int first_chunks = (W + chunk - 1) / chunk; ///< including the rows that fill the window
  static constexpr int entries      = chunk * (W + 1);
  static constexpr int half         = W * (W + 1); ///< scalars that a leaf passes for one of its cuts
  using Real                        = real_t<Scalar>;
  Tree                 tree;
  ChainEntries<Scalar> A;
  Factors<Scalar>      factors;

  /// conj(tau), x, R_jj, and the factor that scales x to v. If a thread has all leading columns, it
  /// overwrites the row, and x is v.
  using Reflection = Scalar[parts == 1 ? W + 2 : W + 3][leaves];
  template <int Parts, class = void>
  struct Reflections {
    Reflection at[2][chunk];
  };
  template <class None>
  struct Reflections<1, None> {
  };
  /// Records of 32 threads whose members are in different banks: their size is an odd multiple of 8 bytes.
  template <class Record>
  struct alignas(8) Apart : Record {
    static_assert(sizeof(Record) % 16 == 0, "one number more makes the size odd");
    double apart;
  };
  struct Shared : Reflections<parts> {
    // odd, so that lanes read different banks
    Scalar value[2][leaves][entries | 1];
    Scalar row[kept][chunk][parts == 1 ? W + 2 : W + 1][leaves]; ///< prepared rows
    // the lower 32 bits of indices, as for the beginnings of rows: only small differences are used
    std::int32_t column[2][leaves][entries];
    std::int32_t begin_at[4][leaves]; ///< beginnings of chunks
    /// beginnings of rows, if some lack entries
    std::int32_t row_begin[2][leaves][chunk + 1];
    LeafRun      run[4][leaves];
    int          differ[4];         ///< whether runs of a chunk differ, or have gaps
    std::int64_t base, first_entry; ///< the first row of the tile, its first entry
    int          chunks;            ///< of the longest leaf
    Apart<Leaf>  leaf[leaves];
    /// size_word of the largest entries of the columns of the next row
    int column_size[W][leaves];
    /// the same of the columns of the cut before
    int first_size[W][leaves];
    /// first and end row of a leaf, and the first of its window, relative to the first row of the tile
    int begin[leaves], end[leaves], first[leaves];
    /// size_word of the largest entry of the column that ends in this row
    int                     size[watched][chunk][leaves];
    Apart<LeafPivots<Real>> pivots[leaves];
  };

  /// The role of a thread.
  KOKKOS_INLINE_FUNCTION static bool is_ahead(int v) { return v < parts * leaves; }
  KOKKOS_INLINE_FUNCTION static bool follows(int v) { return !is_ahead(v) && v < 2 * parts * leaves; }
  KOKKOS_INLINE_FUNCTION static bool watches(int v) { return v / leaves == parts; }
  KOKKOS_INLINE_FUNCTION static bool prepares(int v) { return v / leaves == warps - 1; }
  /// Whether the thread locates entries.
  KOKKOS_INLINE_FUNCTION static bool finds(int v) { return v / leaves == 2; }
  /// The index of the thread among those that share columns.
  KOKKOS_INLINE_FUNCTION static int part_of(int v) { return v / leaves % parts; }

  /// Whether rows and columns are consecutive, without a table and without outside columns.
  KOKKOS_INLINE_FUNCTION bool is_plain() const { return !A.row_of && A.outside.rows == 0; }

  /// The first row of chunk q of a leaf.
  KOKKOS_INLINE_FUNCTION static int row_at(int q)
  {
    return q < first_chunks ? q * chunk : W + (q - first_chunks) * chunk;
  }

  /// Row i of a leaf, limited to its first row and the one after its last.
  KOKKOS_INLINE_FUNCTION static int inside(int i, int lane, const Shared &shared)
  {
    return i < shared.begin[lane] ? shared.begin[lane] : i > shared.end[lane] ? shared.end[lane] : i;
  }
  /// Copies the beginning of chunk q, which is the end of the one before.
  KOKKOS_INLINE_FUNCTION void stage_begin(int q, int lane, Shared &shared) const
  {
    device::async_copy(
      &shared.begin_at[q % 4][lane],
      A.local.row_begin.low(shared.base + inside(shared.first[lane] + row_at(q), lane, shared)));
  }
  /// Locates the entries of the rows of chunk q, one chunk before they are loaded.
  KOKKOS_INLINE_FUNCTION void find_run(int q, int lane, Shared &shared) const
  {
    const std::int32_t begin = shared.begin_at[q % 4][lane];
    const int          count = between(begin, shared.begin_at[(q + 1) % 4][lane]);
    const LeafRun      run   = {between(static_cast<std::int32_t>(shared.first_entry), begin),
                         is_full(lane, q, count, shared) ? count : -1 - count};
    shared.run[q % 4][lane]  = run;
    if (lane == 0) shared.differ[(q + 1) % 4] = 0;
    if (run.count != entries) shared.differ[q % 4] = 1;
  }
  /// Starts to copy the entries of chunk q.
  KOKKOS_INLINE_FUNCTION void stage_entries(int q, int v, Shared &shared) const
  {
    const auto with_gaps = [&](int leaf, int lane) {
      const LeafRun      run  = shared.run[q % 4][leaf];
      const std::int64_t from = shared.first_entry + run.first;
      for (int e = lane; e < -1 - run.count; e += 32)
        device::async_copy(&shared.value[q % 2][leaf][e], A.local.value + from + e),
          device::async_copy(&shared.column[q % 2][leaf][e], A.local.column.low(from + e));
      if (lane <= chunk)
        device::async_copy(
          &shared.row_begin[q % 2][leaf][lane],
          A.local.row_begin.low(shared.base + inside(shared.first[leaf] + row_at(q) + lane, leaf, shared)));
    };
    if (shared.differ[q % 4])
      stage_runs<movers * leaves, 8, Scalar, (entries | 1), entries>(
        A.local.value + shared.first_entry, shared.run[q % 4], v, shared.value[q % 2], with_gaps);
    else
      stage_equal_runs<movers, entries>(A.local.value + shared.first_entry, shared.run[q % 4], v,
                                        shared.value[q % 2]);
  }
  /// Count of rows of chunk q in a leaf of this many rows.
  KOKKOS_INLINE_FUNCTION static int rows_of(int q, int rows)
  {
    const int end = q < first_chunks && rows > W ? W : rows, n = end - row_at(q);
    return n < chunk ? n : chunk;
  }

  /// Whether the rows of chunk q, with `count` entries, have one at every place of the band. False if an
  /// entry wraps around the ends of a ring.
  KOKKOS_INLINE_FUNCTION bool is_full(int lane, int q, int count, const Shared &shared) const
  {
    const Chain       &c    = tree.chain;
    const int          rows = rows_of(q, shared.leaf[lane].rows(tree));
    const std::int64_t i    = shared.leaf[lane].first + row_at(q);
    return rows <= 0 || (count == rows * (W + 1) && (!c.ring || (i >= c.kl && i + rows - 1 + c.ku < c.rows)));
  }
  /// Expands row t of chunk q, some of whose rows lack entries: one entry at every place of the band.
  KOKKOS_INLINE_FUNCTION void collect(int lane, int q, int t, Scalar (&entry)[W + 1], Shared &shared) const
  {
    const Chain        &c     = tree.chain;
    const Leaf          leaf  = shared.leaf[lane];
    const std::int64_t  i     = leaf.first + row_at(q) + t;
    auto               &dense = shared.row[q % kept][t];
    const std::int32_t *begin = shared.row_begin[q % 2][lane] + t;
    const bool          plain = is_plain();
    const int           n     = plain ? between(begin[0], begin[1]) : 0,
              at              = plain ? between(shared.row_begin[q % 2][lane][0], begin[0]) : 0;
    for (int k = 0; k <= W; ++k) dense[k][lane] = Scalar(0);
    for (int e = at; e < at + n; ++e)
      dense[c.kl + c.distance(0, between(static_cast<std::int32_t>(leaf.chain * c.rows + i),
                                         shared.column[q % 2][lane][e]))][lane] =
        shared.value[q % 2][lane][e];
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
  /// Largest entries of the columns of the next row, and the sum of the exponents of scales.
  struct Seen {
    int column_size[W], exponents;
  };
  KOKKOS_INLINE_FUNCTION static void read_sizes(int lane, Seen &seen, const Shared &shared)
  {
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) seen.column_size[k] = shared.column_size[k][lane];
  }
  KOKKOS_INLINE_FUNCTION static void write_sizes(int lane, const Seen &seen, Shared &shared)
  {
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) shared.column_size[k][lane] = seen.column_size[k];
  }
  /// Scales row t of chunk q by a power of two, which is written to `scale` if that is not null.
  KOKKOS_INLINE_FUNCTION void scale_row(int lane, int q, int t, const Scalar (&entry)[W + 1], Real *scale,
                                        Seen &seen, Shared &shared) const
  {
    int largest = 0;
    RIBBON_UNROLL
    for (int k = 0; k <= W; ++k) largest = size_word(entry[k]) > largest ? size_word(entry[k]) : largest;
    const int  exponent = exponent_of<Real>(largest);
    const Real s        = power_of_two(-exponent);
    if (scale) *scale = s;
    seen.exponents += exponent;
    if (largest < (1022 + least_exponent<Real>()) << 20) {
      const Leaf         leaf = shared.leaf[lane];
      const std::int64_t i    = leaf.first + row_at(q) + t;
      if (largest > 0) shared.pivots[lane].statistics.is_tiny = true;
      else if (has_row(tree.chain, i))
        shared.pivots[lane].statistics.take_row(0, true, leaf.chain * tree.chain.rows + i);
    }
    RIBBON_UNROLL
    for (int k = 0; k <= W; ++k) {
      const Scalar a                   = entry[k] * s;
      shared.row[q % kept][t][k][lane] = a;
      const int most                   = k < W ? seen.column_size[k < W ? k : 0] : 0,
                size                   = size_word(a) > most ? size_word(a) : most;
      if (k > 0) seen.column_size[k > 0 ? k - 1 : 0] = size;
      else shared.size[q % watched][t][lane] = size; // of the column that ends in this row
    }
  }
  /// Scales the rows of chunk q of tile `tile`.
  KOKKOS_INLINE_FUNCTION void prepare(std::int64_t tile, int lane, int q, Shared &shared) const
  {
    const int  rows     = rows_of(q, shared.leaf[lane].rows(tree));
    const auto scale_of = [&](int t) { // null: not a row of the chain
      const int r = shared.first[lane] + row_at(q) + t - shared.begin[lane];
      return r >= 0 && r < shared.end[lane] - shared.begin[lane]
               ? factors.row_scale + (tile * tree.most_rows() + r) * leaves + lane
               : nullptr;
    };
    const bool is_all = parts == 1 && q >= first_chunks && rows == chunk && scale_of(0) &&
                        scale_of(chunk - 1) && is_plain() && !shared.run[q % 4][lane].has_gaps();
    Seen seen;
    if (rows <= 0) return;
    if (parts == 1) read_sizes(lane, seen, shared);
    seen.exponents = 0;
    if (is_all) {
      Real *scale = scale_of(0);
      RIBBON_UNROLL
      for (int t = 0; t < chunk; ++t) {
        Scalar entry[W + 1];
        RIBBON_UNROLL
        for (int k = 0; k <= W; ++k) entry[k] = shared.value[q % 2][lane][t * (W + 1) + k];
        scale_row(lane, q, t, entry, scale + t * leaves, seen, shared);
      }
    } else {
      const bool full = is_plain() && !shared.run[q % 4][lane].has_gaps();
      RIBBON_NO_UNROLL
      for (int t = 0; t < rows; ++t) {
        Scalar entry[W + 1];
        if (full) {
          RIBBON_UNROLL
          for (int k = 0; k <= W; ++k) entry[k] = shared.value[q % 2][lane][t * (W + 1) + k];
        } else collect(lane, q, t, entry, shared);
        if (parts > 1) read_sizes(lane, seen, shared);
        scale_row(lane, q, t, entry, scale_of(t), seen, shared);
        if (parts > 1) write_sizes(lane, seen, shared); // no registers are left for them
        if (q < first_chunks) shared.first_size[row_at(q) + t][lane] = shared.size[q % watched][t][lane];
      }
    }
    if (parts == 1) write_sizes(lane, seen, shared);
    shared.pivots[lane].statistics.exponents += seen.exponents;
  }
};

} // namespace ribbon::multifrontal
