// SPDX-License-Identifier: BSD-2-Clause
/// @file end_dots.hpp  The first and the last unknowns of lines, from dot products of the right-hand sides
///   with rows of the inverse, without a solve of the lines.
#pragma once

#include <ribbon/algorithm/one_pass/dot_run.hpp>
#include <ribbon/algorithm/partition/kernels.hpp>

#include <algorithm>

namespace ribbon {

/// The first and the last `width` rows of A^-1, one or two (known_separators.hpp), of a matrix A that lines
/// share. Word (column, unknown) of matrix c is at (c 2 width + column) unknowns + unknown. The last rows
/// are in columns from `width` on.
template <class Scalar, class Memory>
struct InverseEnds {
  Kokkos::View<Scalar *, Memory> words;
  std::int64_t                   unknowns = 0;
  int                            width    = 0;
};

/// y_first and y_last of every part, as sums over `splits` runs of its rows: sum v of run t of part q of
/// line l is at ((t parts + q) 2 width + v) lines + l. A group of 32 threads has 32 neighbouring lines, or
/// rows of one line. It has several parts, so that it reads the rows of the inverse once for all of them.
/// @tparam Parts  a PartitionCut `cut` and matrix(l, q), the index of the matrix of part q of line l; parts
///   of different lines have a separate part_stride
template <class Scalar, class Memory, class Parts>
struct DotKernel {
  /// limits the registers to 80. Then `warps` warps of 32 threads run at the same time
  static constexpr int max_threads = 768, warps = 24;
  /// threads of a team and of a group; maximum number of sums per thread
  static constexpr int        size = 128, group = 32, pitch = group + 1, together = 8;
  Parts                       parts;
  InverseEnds<Scalar, Memory> ends[2]; ///< of parts, and of tails
  const Scalar               *b;
  Scalar                     *y;
  LineSet                     in;
  std::int64_t                part_stride; ///< of the right-hand sides
  /// rows at the beginning and at the end of a part that matter; all rows if these overlap
  int reach[2];
  int bits; ///< 2^bits lines of a group
  int splits;

  KOKKOS_FUNCTION int pieces() const { return together / (2 * ends[0].width); }
  KOKKOS_FUNCTION int rows(std::int64_t interior) const
  {
    return static_cast<int>(reach[0] + reach[1] < interior ? reach[0] + reach[1] : interior);
  }
  KOKKOS_FUNCTION std::int64_t groups() const
  {
    return (parts.cut.pieces + pieces() - 1) / pieces() + (parts.cut.tail > 0 ? 1 : 0);
  }
  KOKKOS_FUNCTION std::int64_t tiles() const { return (parts.cut.lines + (1 << bits) - 1) >> bits; }
  device::League               league() const
  {
    const std::int64_t each = size / group;
    return {(groups() * tiles() * splits + each - 1) / each, size,
            device::align16(static_cast<std::size_t>(each * together * pitch) * sizeof(Scalar)) + size};
  }
  /// Enough to fill the device several times.
  static int most_splits(const DotKernel &one, int multiprocessors)
  {
    const std::int64_t n = one.rows(one.parts.cut.interior(0)) * static_cast<std::int64_t>(one.parts.cut.B),
                       fill = 4 * warps * std::max(1, multiprocessors) / (one.groups() * one.tiles());
    return static_cast<int>(
      std::max<std::int64_t>(1, std::min<std::int64_t>({fill, 16, (n << one.bits) / 128})));
  }

  /// Terms of thread `first` of `step` in the sums of `count` parts with one matrix; q is the first part.
  template <int width, int count>
  KOKKOS_FUNCTION void add(std::int64_t l, std::int64_t q, int split, std::int64_t matrix, int first,
                           int step, Scalar *to) const
  {
    const PartitionCut &cut = parts.cut;
    const auto         &own = ends[q < cut.pieces ? 0 : 1];
    const int           m = static_cast<int>(cut.interior(q)) * cut.B, n = rows(cut.interior(q)) * cut.B,
              skipped = m - n, edge = skipped > 0 ? reach[0] * cut.B : n;
    const auto share = [&](int k) { return static_cast<int>(static_cast<std::int64_t>(n) * k / splits); };
    const int  begin = share(split), end = share(split + 1);
    const DotRun<Scalar> run{b + in.begin(l) + q * part_stride,
                             in.row_stride,
                             part_stride,
                             own.words.data() + matrix * 2 * width * own.unknowns,
                             own.unknowns,
                             cut.B,
                             in.component_stride};
    Scalar               sum[count][2 * width] = {};
    for (int side = 0; side < 2; ++side) { // rows before and after those that do not matter
      const int from = side == 0      ? begin
                       : begin < edge ? m - n + edge
                                      : begin + skipped,
                last = side == 0 ? (end < edge ? end : edge) : end + skipped;
      run.template add<(count + 2 * width > 8 ? 1 : 16 / (count + 2 * width))>(from + first, last, step, sum);
    }
    RIBBON_UNROLL
    for (int p = 0; p < count; ++p) {
      RIBBON_UNROLL
      for (int e = 0; e < 2 * width; ++e) to[(p * 2 * width + e) * pitch] = sum[p][e];
    }
  }

  template <int width>
  KOKKOS_FUNCTION void add_all(std::int64_t l, std::int64_t q, int count, int split, int first, int step,
                               Scalar *to) const
  {
    constexpr int      most   = together / (2 * width);
    const std::int64_t matrix = parts.matrix(l, q);
    bool               same   = count == most;
    for (int p = 1; p < count; ++p) same = same && parts.matrix(l, q + p) == matrix;
    if (same) return add<width, most>(l, q, split, matrix, first, step, to);
    for (int p = 0; p < count; ++p)
      add<width, 1>(l, q + p, split, parts.matrix(l, q + p), first, step, to + p * 2 * width * pitch);
  }

  /// Work of a group.
  struct Share {
    std::int64_t q, line; ///< its first part and line
    int          count, split;
  };
  KOKKOS_FUNCTION Share share(std::int64_t index) const
  {
    const auto k = static_cast<std::uint32_t>(index), runs = static_cast<std::uint32_t>(splits),
               all = static_cast<std::uint32_t>(groups()), of_line = k / runs;
    Share s{static_cast<std::int64_t>(of_line % all) * pieces(),
            static_cast<std::int64_t>(of_line / all) << bits, 1, static_cast<int>(k % runs)};
    if (s.q >= parts.cut.pieces) s.q = parts.cut.pieces;
    else if (parts.cut.pieces - s.q < pieces()) s.count = static_cast<int>(parts.cut.pieces - s.q);
    else s.count = pieces();
    return s;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const int          lanes = 1 << bits, width = ends[0].width;
    const std::int64_t first = team.league_rank() * (size / group), last = groups() * tiles() * splits;
    Scalar            *terms = reinterpret_cast<Scalar *>(team.scratch());
    device::Threads<char, Team> all(
      team, team.scratch() +
              device::align16(static_cast<std::size_t>(size / group * together * pitch) * sizeof(Scalar)));
    all.for_each([&](int v, char &) {
      const int lane = v % group;
      if (first + v / group >= last) return;
      const Share        s    = share(first + v / group);
      const std::int64_t l    = s.line + (lane & (lanes - 1)),
                         line = l < parts.cut.lines ? l : parts.cut.lines - 1;
      Scalar *to              = terms + v / group * together * pitch + lane;
      if (width == 1) add_all<1>(line, s.q, s.count, s.split, lane >> bits, group >> bits, to);
      else add_all<2>(line, s.q, s.count, s.split, lane >> bits, group >> bits, to);
    });
    team.barrier();
    all.for_each([&](int v, char &) {
      if (first + v / group >= last) return;
      const Share   s   = share(first + v / group);
      const Scalar *own = terms + v / group * together * pitch;
      for (int k = v % group; k < s.count * 2 * width * lanes; k += group) {
        const int          lane = k & (lanes - 1), e = k >> bits;
        const std::int64_t l = s.line + lane;
        Scalar             sum(0);
        for (int t = lane; t < group; t += lanes) sum += own[e * pitch + t];
        if (l < parts.cut.lines)
          y[((s.split * parts.cut.parts() + s.q) * 2 * width + e) * parts.cut.lines + l] = sum;
      }
    });
  }
};

} // namespace ribbon
