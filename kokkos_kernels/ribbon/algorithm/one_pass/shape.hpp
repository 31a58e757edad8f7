// SPDX-License-Identifier: BSD-2-Clause
/// @file shape.hpp  How the one-pass kernel cuts lines and lays them out in a team.
#pragma once

#include <ribbon/device/team_launch.hpp>

#include <algorithm>

namespace ribbon {

/// How a line is cut: chunks of `length` rows, the first and the last one maybe shorter.
struct ChunkSplit {
  /// length: rows of the chunks between the first and the last
  int chunks = 0, length = 0, first = 0, last = 0;

  KOKKOS_INLINE_FUNCTION int begin(int c) const { return c == 0 ? 0 : first + (c - 1) * length; }
  KOKKOS_INLINE_FUNCTION int size(int c) const { return c == 0 ? first : c == chunks - 1 ? last : length; }

  /// Cuts n rows into chunks of at least `least` and at most `length` rows; chunks == 0
  /// for lines shorter than that.
  static ChunkSplit make(int n, int least, int length)
  {
    if (n < least) return {};
    const int T = (n + length - 1) / length;
    if (T == 1) return {1, length, n, n};
    ChunkSplit s{T, length, length, n - (T - 1) * length};
    if (s.last < least) s.share_ends(n);
    return s;
  }
  /// Both ends of n rows as long as each other, but for whole packs of 16 bytes at the first.
  void share_ends(int n)
  {
    const int both = n - (chunks - 2) * length;
    first          = (both + 1) / 2;
    if (first > 4) first -= first % 4;
    if (both - first > length) first += 4;
    last = both - first;
  }

  /// Chunks of at most so many rows (twice `least` where that is more), for reduced systems that are solved
  /// by cyclic reduction: a ring takes a power of two of them, which may be longer.
  static ChunkSplit in_flight(int n, int least, int rows, bool ring)
  {
    rows             = std::max(rows, 2 * least);
    ChunkSplit s     = make(n, least, ring ? std::max(n, 1) : rows);
    const auto halve = [&](bool short_ends) {
      for (int T = 2, length = n; length > rows && T <= 512; T *= 2) {
        length           = (n + T - 1) / T;
        const auto split = make(n, least, length);
        const int  ends  = n - (T - 2) * length; // of the first and the last chunk together
        if (short_ends && ends >= 2 * least) s = {T, length, (ends + 1) / 2, ends / 2};
        else if (split.chunks == T && split.first >= least && split.last >= least) s = split;
      }
    };
    if (ring) halve(false);
    if (ring && s.length > 2 * rows) halve(true);
    return s;
  }
};

/// What the kernel needs besides the numbers.
struct OnePassShape {
  ChunkSplit split;
  int        slots     = 0;     ///< unknowns a virtual thread has room for
  bool       ring      = false; ///< the first and the last chunk are neighbours
  bool       staged    = false;
  int        lane_bits = 5; ///< lines per team = 2^lane_bits
  /// thread blocks of a team; chunks of a block, the last one may have fewer
  int blocks = 1, block_chunks = 0;
  /// staged: teams stay with the numbers of all chunks in scratch, and so many tiles (one_pass/resident.hpp)
  int resident = 0;
  int pack     = 1; ///< staged: numbers that are read and written together
  /// staged: distance of two lines in scratch; empty places before the last chunk of a line
  int pitch = 0, gap = 0;
  /// staged: what lies between two lines in scratch lies between them in memory, too,
  /// and comes and goes with them
  bool behind = false;
  /// staged: a line lies in 2^piece_bits pieces of as many chunks, with so many empty places between them
  int piece_bits = 0, piece_gap = 0;
  int idle = 0; ///< staged: threads before those of the last chunk that have none
  /// steps of parallel cyclic reduction before the reduced inverse, that of the chunks 2^halvings apart
  int halvings = 0;
  /// step k has the same numbers for the chunks from same_begin + 2^(k+1) to same_end - 2^(k+1):
  /// those of a constant stencil
  int same_begin = 0, same_end = 0;
  int window = 0; ///< blocks of the reduced inverse that are kept per block row
  int reach  = 0; ///< of them, blocks to either side of the diagonal

  KOKKOS_INLINE_FUNCTION int lanes() const { return 1 << lane_bits; }
  KOKKOS_INLINE_FUNCTION int threads() const { return (split.chunks << lane_bits) + idle; }
  /// The place among the threads with a chunk; -1 for a thread that has none.
  KOKKOS_INLINE_FUNCTION int rank(int thread) const
  {
    const int before = (split.chunks - 1) << lane_bits;
    return thread < before ? thread : thread < before + idle ? -1 : thread - idle;
  }
  /// The piece and the chunk of the threads that come after those of k others: what a warp reads at once is
  /// of different pieces, and so in different banks.
  KOKKOS_INLINE_FUNCTION int piece_of(int k) const { return k & ((1 << piece_bits) - 1); }
  KOKKOS_INLINE_FUNCTION int chunk_of(int k) const
  {
    return piece_of(k) * (split.chunks >> piece_bits) + (k >> piece_bits);
  }
  KOKKOS_INLINE_FUNCTION int block_threads() const { return block_chunks << lane_bits; }
  void                       set_blocks(int n) { blocks = n, block_chunks = (split.chunks + n - 1) / n; }
  /// Blocks of the team that read what chunk c writes: their chunks are at most 2 reach + 1 away (windows at
  /// the ends of a line are shifted), in a ring, since the last chunk of any line reads the zero that the
  /// first one writes for its left neighbour.
  KOKKOS_INLINE_FUNCTION device::BlockRange readers(int c) const
  {
    const int T = split.chunks, away = 2 * reach + 1, each = block_chunks;
    if (blocks == 1 || halvings > 0 || 2 * away + each >= T) return {0, blocks};
    const int first = (c < away ? c - away + T : c - away) / each,
              last  = (c + away < T ? c + away : c + away - T) / each;
    return {first, last >= first ? last - first + 1 : last - first + 1 + blocks};
  }
  /// The chunk whose separators lie left of chunk c; -1 at the end of a line that is not periodic.
  KOKKOS_INLINE_FUNCTION int left_of(int c) const { return c > 0 ? c - 1 : ring ? split.chunks - 1 : -1; }
  /// Staged: from slot 0 of chunk c to the first row of the next chunk, or to the line's first row where it
  /// is the last. Lines in one piece.
  KOKKOS_INLINE_FUNCTION int to_next(int c) const
  {
    const int T = split.chunks;
    return c + 1 < T ? slots + (c + 2 == T ? gap : 0)
                     : slots - split.begin(c) - split.last - (T > 1 ? gap : 0);
  }
  /// The chunk that keeps the numbers of chunk c in a step, so that few are read.
  KOKKOS_INLINE_FUNCTION int alike(int c, int stride) const
  {
    return c > same_begin + 2 * stride && c < same_end - 2 * stride ? same_begin + 2 * stride : c;
  }
  /// First block of the window of chunk c, after no step of cyclic reduction.
  KOKKOS_INLINE_FUNCTION int window_begin(int c) const
  {
    if (window == split.chunks) return 0;
    const int q = c - reach;
    if (ring) return q < 0 ? q + split.chunks : q;
    return q < 0 ? 0 : q > split.chunks - window ? split.chunks - window : q;
  }
  /// The same after `halvings` steps: of the chunks c + k 2^halvings. Where these are fewer than the window
  /// the last blocks are zero.
  KOKKOS_INLINE_FUNCTION int halved_window_begin(int c) const
  {
    const int lowest = c & ((1 << halvings) - 1), count = ((split.chunks - 1 - lowest) >> halvings) + 1;
    if (window >= count) return lowest;
    int q = (c >> halvings) - reach;
    if (ring) q += q < 0 ? count : 0;
    else q = q < 0 ? 0 : q > count - window ? count - window : q;
    return (q << halvings) + lowest;
  }
};

/// @throws std::invalid_argument for rows that are named and that no kernel has.
inline void check_rows_per_thread(int rows, const std::vector<int> &known, bool staged)
{
  if (rows == 0 || std::find(known.begin(), known.end(), rows) != known.end()) return;
  std::string list;
  for (int k : known) list += (list.empty() ? "" : ", ") + std::to_string(k);
  throw std::invalid_argument("ribbon: rows_per_thread " + std::to_string(rows) +
                              (staged ? " (contiguous" : " (interleaved") + " lines take " + list + ")");
}

/// An S x S block, row-major.
template <class Scalar, int S>
struct alignas(16) SquareBlock {
  Scalar a[S * S] = {};
};

/// What a chunk takes of the right-hand sides of two others in a step of cyclic reduction.
template <class Scalar, int S>
struct alignas(16) StepBlocks {
  Scalar left[S * S] = {}, right[S * S] = {};
};

struct NoRegularBlock { };

/// Of what a forward sweep carried along.
struct KeepNothing {
  template <class Sweep>
  KOKKOS_FUNCTION void operator()(const Sweep &) const
  {
  }
};

/// A type as an argument.
template <class T>
struct TypeTag {
  using type = T;
};

/// Scratch of a team.
struct TeamRoom {
  std::size_t scratch         = 0;     ///< bytes of a block
  bool        is_virtual      = false; ///< one thread stands for all and keeps their states there
  int         multiprocessors = 0;     ///< that run teams side by side

  template <class Exec>
  static TeamRoom of(const Exec &exec)
  {
    return {device::scratch_limit(exec), !is_device_space<Exec>, device::multiprocessors(exec)};
  }
};

} // namespace ribbon
