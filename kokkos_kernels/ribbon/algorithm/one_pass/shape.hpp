// SPDX-License-Identifier: BSD-2-Clause
/// @file shape.hpp  Division of lines into chunks in the one-pass kernel, and their layout in a team.
#pragma once

#include <ribbon/device/team_launch.hpp>

#include <algorithm>

namespace ribbon {

/// Division of a line: chunks of `length` rows; the first and the last one may be shorter.
struct ChunkSplit {
  /// length: rows of the interior chunks
  int chunks = 0, length = 0, first = 0, last = 0;

  KOKKOS_INLINE_FUNCTION int begin(int c) const { return c == 0 ? 0 : first + (c - 1) * length; }
  KOKKOS_INLINE_FUNCTION int size(int c) const { return c == 0 ? first : c == chunks - 1 ? last : length; }

  /// Divides n rows into chunks of at least `least` and at most `length` rows; chunks == 0 if lines are too
  /// short. Of several chunks, the last one has at least `least_last` rows.
  static ChunkSplit make(int n, int least, int length, int least_last = 0)
  {
    if (n < least) return {};
    const int T = (n + length - 1) / length;
    if (T == 1) return {1, length, n, n};
    ChunkSplit s{T, length, length, n - (T - 1) * length};
    if (s.last < std::max(least, least_last)) s.share_ends(n);
    return s;
  }
  /// Makes the first and the last chunk of n rows equally long, up to whole packs of 16 bytes in the first
  /// one.
  void share_ends(int n)
  {
    const int both = n - (chunks - 2) * length;
    first          = (both + 1) / 2;
    if (first > 4) first -= first % 4;
    if (both - first > length) first += 4;
    last = both - first;
  }

  /// Chunks of at most `rows` rows (at least twice `least`), for reduced systems that are solved by cyclic
  /// reduction. A ring needs a power of two of chunks, which may be longer.
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

/// Parameters of the kernel other than coefficients.
struct OnePassShape {
  ChunkSplit split;
  int        slots     = 0;     ///< unknowns for which a virtual thread has space
  bool       ring      = false; ///< the first and the last chunk are neighbours
  bool       staged    = false;
  int        lane_bits = 5; ///< lines per team = 2^lane_bits
  /// thread blocks of a team; chunks of a block (the last block may have fewer)
  int blocks = 1, block_chunks = 0;
  /// staged: tiles of a persistent team that keeps the coefficients of all chunks in scratch
  /// (one_pass/resident.hpp); 0: not persistent
  int resident = 0;
  int pack     = 1; ///< staged: scalars that are read and written together
  /// staged: distance of two lines in scratch; empty places before the last chunk of a line
  int pitch = 0, gap = 0;
  /// staged: the memory between two lines is copied to scratch and back together with them
  bool behind = false;
  /// staged: a line is stored in 2^piece_bits parts with equal numbers of chunks, and piece_gap empty
  /// places between them
  int piece_bits = 0, piece_gap = 0;
  int idle = 0; ///< staged: threads without a chunk, before those of the last chunk
  /// steps of parallel cyclic reduction before the reduced inverse, which is that of chunks 2^halvings
  /// apart
  int halvings = 0;
  /// step k has the same coefficients for the chunks from same_begin + 2^(k+1) to same_end - 2^(k+1): those
  /// of a constant stencil
  int same_begin = 0, same_end = 0;
  int window = 0; ///< stored blocks of the reduced inverse per block row
  int reach  = 0; ///< of these, blocks to either side of the diagonal

  KOKKOS_INLINE_FUNCTION int lanes() const { return 1 << lane_bits; }
  KOKKOS_INLINE_FUNCTION int threads() const { return (split.chunks << lane_bits) + idle; }
  /// The index among the threads with a chunk; -1 for a thread without one.
  KOKKOS_INLINE_FUNCTION int rank(int thread) const
  {
    const int before = (split.chunks - 1) << lane_bits;
    return thread < before ? thread : thread < before + idle ? -1 : thread - idle;
  }
  /// The part of a line and the chunk of thread k. The chunks that a warp reads at once are in different
  /// parts, and so in different banks.
  KOKKOS_INLINE_FUNCTION int piece_of(int k) const { return k & ((1 << piece_bits) - 1); }
  KOKKOS_INLINE_FUNCTION int chunk_of(int k) const
  {
    return piece_of(k) * (split.chunks >> piece_bits) + (k >> piece_bits);
  }
  KOKKOS_INLINE_FUNCTION int block_threads() const { return block_chunks << lane_bits; }
  void                       set_blocks(int n) { blocks = n, block_chunks = (split.chunks + n - 1) / n; }
  /// Blocks of the team that read the data of chunk c. Their chunks are at most 2 reach + 1 away
  /// (windows at the ends of a line are shifted). The distance is that in a ring, since the last chunk of
  /// any line reads the zero that the first one writes for its left neighbour.
  KOKKOS_INLINE_FUNCTION device::BlockRange readers(int c) const
  {
    const int T = split.chunks, away = 2 * reach + 1, each = block_chunks;
    if (blocks == 1 || halvings > 0 || 2 * away + each >= T) return {0, blocks};
    const int first = (c < away ? c - away + T : c - away) / each,
              last  = (c + away < T ? c + away : c + away - T) / each;
    return {first, last >= first ? last - first + 1 : last - first + 1 + blocks};
  }
  /// The chunk whose separators are left of chunk c; -1 at the end of an open line.
  KOKKOS_INLINE_FUNCTION int left_of(int c) const { return c > 0 ? c - 1 : ring ? split.chunks - 1 : -1; }
  /// Staged: distance from slot 0 of chunk c to the first row of the next chunk. For the last chunk it is
  /// the distance to the first row of the line. For lines that are stored in one part.
  KOKKOS_INLINE_FUNCTION int to_next(int c) const
  {
    const int T = split.chunks;
    return c + 1 < T ? slots + (c + 2 == T ? gap : 0)
                     : slots - split.begin(c) - split.last - (T > 1 ? gap : 0);
  }
  /// The chunk whose coefficients chunk c uses in a step, so that fewer are read.
  KOKKOS_INLINE_FUNCTION int alike(int c, int stride) const
  {
    return c > same_begin + 2 * stride && c < same_end - 2 * stride ? same_begin + 2 * stride : c;
  }
  /// First block of the window of chunk c, without steps of cyclic reduction.
  KOKKOS_INLINE_FUNCTION int window_begin(int c) const
  {
    if (window == split.chunks) return 0;
    const int q = c - reach;
    if (ring) return q < 0 ? q + split.chunks : q;
    return q < 0 ? 0 : q > split.chunks - window ? split.chunks - window : q;
  }
  /// The same after `halvings` steps, for the chunks c + k 2^halvings. If these are fewer than the window,
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

/// @throws std::invalid_argument if the caller asks for rows that no kernel has
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

/// Factors by which a chunk adds the right-hand sides of two others in a step of cyclic reduction.
template <class Scalar, int S>
struct alignas(16) StepBlocks {
  Scalar left[S * S] = {}, right[S * S] = {};
};

struct NoRegularBlock { };

/// Ignores the state of a forward sweep.
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
  bool        is_virtual      = false; ///< one thread runs all virtual threads; states are in scratch
  int         multiprocessors = 0;     ///< that run teams at the same time

  template <class Exec>
  static TeamRoom of(const Exec &exec)
  {
    return {device::scratch_limit(exec), !is_device_space<Exec>, device::multiprocessors(exec)};
  }
};

} // namespace ribbon
