// SPDX-License-Identifier: BSD-2-Clause
/// @file kernels.hpp  The kernels of partition.hpp that couple the segments.
#pragma once

#include <ribbon/algorithm/partition/pieces.hpp>
#include <ribbon/elimination/dense_elimination.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// Kernels of a partition.
template <class Scalar, class Memory>
struct PartitionKernels : PartitionPieceKernels<Scalar, Memory> {
  using typename PartitionPieceKernels<Scalar, Memory>::Matrix;
  using typename PartitionPieceKernels<Scalar, Memory>::Spikes;
  using typename PartitionPieceKernels<Scalar, Memory>::Values;

  /// Data of all parts of a line.
  struct Parts {
    Matrix       A;
    PartitionCut cut;
    Spikes       spikes[2];

    KOKKOS_FUNCTION std::int64_t matrix(std::int64_t l, std::int64_t q) const
    {
      return q < cut.pieces ? spikes[0].matrix(cut.place(l, q)) : spikes[1].matrix(l);
    }
    KOKKOS_FUNCTION const Scalar &spike(std::int64_t l, std::int64_t q, std::int64_t unknown,
                                        int column) const
    {
      return spikes[q < cut.pieces ? 0 : 1](unknown, column, matrix(l, q));
    }
    /// Coupling of unknown a of separators p to unknown e of the last K interior rows left of it, or of the
    /// first K rows right of it.
    KOKKOS_FUNCTION Scalar Ls(std::int64_t l, std::int64_t p, int a, int e) const
    {
      const int B = cut.B;
      return A.entry(l, cut.begin(p) + cut.interior(p) + a / B, e / B - cut.K - a / B, a % B, e % B);
    }
    KOKKOS_FUNCTION Scalar Us(std::int64_t l, std::int64_t p, int a, int e) const
    {
      const int B = cut.B;
      return A.entry(l, cut.begin(p) + cut.interior(p) + a / B, e / B + cut.K - a / B, a % B, e % B);
    }
  };

  /// Rows of a boundary exist for at most most_near separators. Such a row gives z_a from the right-hand
  /// side at the separators, y left and y right of them.
  static constexpr int most_near = 4;

  /// The matrix of the reduced system. If neighbouring separators do not couple, z of a boundary is diag^-1
  /// r, and the kernel writes the row of unknown a of separators p of matrix l at ((l separators + p)
  /// S + a) 3 S. Reduces to the largest entry of diag^-1 lower and diag^-1 upper.
  struct AssembleKernel {
    Parts                          parts;
    Values                         to;   ///< (matrices, separators, 3 S^2)
    Kokkos::View<Scalar *, Memory> near; ///< empty if S > most_near
    /// Ls and Us of unknown a of separators p at ((p S + a) 2 S), of one matrix; empty if not requested
    Kokkos::View<Scalar *, Memory> ends;
    KOKKOS_FUNCTION void           operator()(const std::int64_t k, real_t<Scalar> &coupling) const
    {
      const PartitionCut &cut = parts.cut;
      const std::int64_t  l   = k % static_cast<std::int64_t>(to.extent(0)),
                         p = k / static_cast<std::int64_t>(to.extent(0)), right = cut.next(p),
                         m = cut.interior(p) * cut.B;
      const int S = cut.S(), B = cut.B;
      for (int a = 0; a < S; ++a)
        for (int b = 0; b < S; ++b) {
          Scalar lower(0),
            diag = parts.A.entry(l, cut.begin(p) + cut.interior(p) + a / B, b / B - a / B, a % B, b % B),
            upper(0);
          for (int e = 0; e < S; ++e) {
            const Scalar Ls = parts.Ls(l, p, a, e);
            if (cut.left_of(p) >= 0) lower -= Ls * parts.spike(l, p, m - S + e, b);
            diag -= Ls * parts.spike(l, p, m - S + e, S + b);
            if (right < 0) continue;
            const Scalar Us = parts.Us(l, p, a, e);
            diag -= Us * parts.spike(l, right, e, b);
            if (cut.right_of(right) >= 0) upper -= Us * parts.spike(l, right, e, S + b);
          }
          to(l, p, (0 * S + a) * S + b) = lower, to(l, p, (1 * S + a) * S + b) = diag,
                                     to(l, p, (2 * S + a) * S + b) = upper;
        }
      for (std::int64_t e = 0; ends.size() && e < 2 * S * S; ++e) {
        const int a = static_cast<int>(e) / (2 * S), column = static_cast<int>(e) % (2 * S);
        ends(p * 2 * S * S + e) = column < S  ? parts.Ls(l, p, a, column)
                                  : right < 0 ? Scalar(0)
                                              : parts.Us(l, p, a, column - S);
      }
      if (near.size()) separate(l, p, right, near.data() + (l * cut.separators() + p) * S * 3 * S, coupling);
    }

    KOKKOS_FUNCTION void separate(std::int64_t l, std::int64_t p, std::int64_t right, Scalar *row,
                                  real_t<Scalar> &coupling) const
    {
      const int S = parts.cut.S();
      int       order[most_near];
      Scalar    inverse[most_near * most_near];
      for (int e = 0; e < S * S; ++e) inverse[e] = to(l, p, S * S + e);
      invert_dense(
        S, [&](int i, int j) -> Scalar & { return inverse[i * S + j]; }, order, [](const Scalar &, int) {});
      for (int a = 0; a < S; ++a, row += 3 * S)
        for (int e = 0; e < S; ++e) {
          Scalar lower(0), upper(0), last(0), first(0);
          for (int c = 0; c < S; ++c) {
            const Scalar v = inverse[a * S + c];
            lower += v * to(l, p, c * S + e), upper += v * to(l, p, (2 * S + c) * S + e);
            last -= v * parts.Ls(l, p, c, e);
            if (right >= 0) first -= v * parts.Us(l, p, c, e);
          }
          row[e] = inverse[a * S + e], row[S + e] = last, row[2 * S + e] = first;
          for (const auto size : {magnitude(lower), magnitude(upper)})
            if (!(size <= coupling)) coupling = size == size ? size : real_t<Scalar>(1);
        }
    }
  };

  /// x = y - V zl - W zr in the rows that the spikes reach, and the separators. A team has one part of 32
  /// neighbouring lines, or of one line.
  struct CorrectKernel {
    static constexpr int max_threads = 256;
    Parts                parts;
    const Scalar        *z;
    Scalar              *x;
    LineSet              out;
    /// rows that V and W reach; rows: all rows of a segment that are corrected, with separators
    std::int64_t left_rows, right_rows, rows;

    KOKKOS_FUNCTION int width() const { return parts.cut.lines_fastest ? 32 : 1; } ///< lines of a team
    KOKKOS_FUNCTION int threads() const
    {
      return parts.cut.lines_fastest || rows >= max_threads ? max_threads
                                                            : static_cast<int>((rows + 31) / 32 * 32);
    }
    std::int64_t teams() const { return parts.cut.parts() * ((parts.cut.lines + width() - 1) / width()); }

    template <class Team>
    KOKKOS_FUNCTION void operator()(const Team &team) const
    {
      const PartitionCut &cut   = parts.cut;
      const std::int64_t  first = team.league_rank() / cut.parts() * width(),
                         q = team.league_rank() % cut.parts(), size = cut.size(q);
      device::Threads<char, Team> all(team, team.scratch());
      all.for_each([&](int v, char &) {
        const std::int64_t l = first + v % width(), step = threads() / width();
        if (l >= cut.lines) return;
        const std::int64_t left = cut.left_of(q), right = cut.right_of(q),
                           begin = out.begin(l) + cut.begin(q) * out.row_stride, matrix = parts.matrix(l, q);
        if (rows == cut.piece && cut.B == 1 && cut.K > 1 && cut.K <= most_near)
          return correct_all(l, q, v / width(), static_cast<int>(step), left, right, matrix, x + begin);
        for (std::int64_t j = v / width(); j < rows; j += step) {
          std::int64_t i = j; // row within the part
          if (rows < cut.piece && j >= left_rows) {
            i = size - (rows - j);
            if (i < left_rows) continue; // tails may be shorter
          }
          if (i < size) correct(l, q, i, left, right, matrix, x + begin + i * out.row_stride);
        }
      });
    }

    /// Rows `row`, `row` + step, ... of a part, of band matrices. Loads of four rows are in flight
    /// together, and the inner loop has only arithmetic.
    KOKKOS_FUNCTION void correct_all(std::int64_t l, std::int64_t q, int row, int step, std::int64_t left,
                                     std::int64_t right, std::int64_t matrix, Scalar *part) const
    {
      constexpr int      batch  = 4;
      const Spikes      &spikes = parts.spikes[q < parts.cut.pieces ? 0 : 1];
      const int          K = parts.cut.K, m = static_cast<int>(parts.cut.interior(q));
      const std::int64_t column = spikes.matrices, spike_step = step * spikes.columns * column,
                         x_step = step * out.row_stride;
      const Scalar *V           = spikes.words.data() + row * spikes.columns * column + matrix;
      Scalar       *at          = part + row * out.row_stride, zl[most_near], zr[most_near];
      RIBBON_UNROLL
      for (int e = 0; e < most_near; ++e) {
        zl[e] = e < K && left >= 0 ? z[(left * K + e) * parts.cut.lines + l] : Scalar(0);
        zr[e] = e < K && right >= 0 ? z[(right * K + e) * parts.cut.lines + l] : Scalar(0);
      }
      for (int i = row; i < m; i += batch * step) {
        Scalar value[batch];
        RIBBON_UNROLL
        for (int k = 0; k < batch; ++k) value[k] = i + k * step < m ? at[k * x_step] : Scalar(0);
        RIBBON_UNROLL
        for (int k = 0; k < batch; ++k) {
          if (i + k * step >= m) break;
          const Scalar *own = V + k * spike_step;
          RIBBON_UNROLL
          for (int e = 0; e < most_near; ++e)
            if (e < K)
              value[k] -=
                read_only_scalar(own + e * column) * zl[e] + read_only_scalar(own + (K + e) * column) * zr[e];
        }
        RIBBON_UNROLL
        for (int k = 0; k < batch; ++k)
          if (i + k * step < m) at[k * x_step] = value[k];
        V += batch * spike_step, at += batch * x_step;
      }
      for (int e = row; right >= 0 && e < K; e += step)
        part[(m + e) * out.row_stride] = z[(right * K + e) * parts.cut.lines + l];
    }

    KOKKOS_FUNCTION void correct(std::int64_t l, std::int64_t q, std::int64_t i, std::int64_t left,
                                 std::int64_t right, std::int64_t matrix, Scalar *at) const
    {
      const PartitionCut &cut    = parts.cut;
      const Spikes       &spikes = parts.spikes[q < cut.pieces ? 0 : 1];
      const int           S = cut.S(), B = cut.B;
      const std::int64_t  m = cut.interior(q);
      if (i >= m) {
        for (int a = 0; a < B; ++a)
          at[a * out.component_stride] = z[(right * S + (i - m) * B + a) * cut.lines + l];
        return;
      }
      const bool has_left = left >= 0 && i < left_rows, has_right = right >= 0 && m - i <= right_rows;
      if (!has_left && !has_right) return;
      for (int a = 0; a < B; ++a) {
        Scalar v = at[a * out.component_stride];
        for (int e = 0; has_left && e < S; ++e)
          v -= spikes(i * B + a, e, matrix) * z[(left * S + e) * cut.lines + l];
        for (int e = 0; has_right && e < S; ++e)
          v -= spikes(i * B + a, S + e, matrix) * z[(right * S + e) * cut.lines + l];
        at[a * out.component_stride] = v;
      }
    }
  };

  /// Gather, reduced system and correction in one kernel, if neighbouring separators do not couple: z,
  /// x = y - W z left and y - V z right of it. A team has one boundary of 32 neighbouring lines, or of one
  /// line. Band matrices. Index arithmetic is significant here, so there are no divisions.
  struct BoundaryKernel {
    static constexpr int max_threads = 256;
    Parts                parts;
    const Scalar        *near, *b;
    Scalar              *x;
    LineSet              in, out;
    int                  left_rows, right_rows; ///< that V and W reach; segments are longer than the sum
    std::int64_t         matrices;

    KOKKOS_FUNCTION int bits() const { return parts.cut.lines_fastest ? 5 : 0; } ///< 2^bits lines of a team
    KOKKOS_FUNCTION int rows() const { return right_rows + parts.cut.K + left_rows; }
    KOKKOS_FUNCTION int threads() const
    {
      return rows() << bits() >= max_threads ? max_threads : ((rows() << bits()) + 31) / 32 * 32;
    }
    KOKKOS_FUNCTION std::size_t z_bytes() const
    {
      return device::align16(sizeof(Scalar) * static_cast<std::size_t>(parts.cut.K << bits()));
    }
    device::League league() const
    {
      return {parts.cut.separators() * ((parts.cut.lines + (1 << bits()) - 1) >> bits()), threads(),
              z_bytes() + max_threads};
    }

    template <class Team>
    KOKKOS_FUNCTION void operator()(const Team &team) const
    {
      const PartitionCut &cut = parts.cut;
      const int           K = cut.K, width = 1 << bits();
      const bool          few   = cut.lines <= width;
      const std::int64_t  first = few ? 0 : team.league_rank() / cut.separators() * width,
                         p      = few ? team.league_rank() : team.league_rank() % cut.separators();
      const std::int64_t next = cut.next(p), separator = cut.begin(p) + cut.interior(p),
                         after      = next < 0 ? 0 : cut.begin(next);
      Scalar                     *z = reinterpret_cast<Scalar *>(team.scratch());
      device::Threads<char, Team> all(team, team.scratch() + z_bytes());
      all.for_each([&](int v, char &) {
        const std::int64_t l = first + (v & (width - 1));
        const int          a = v >> bits();
        if (a >= K || l >= cut.lines) return;
        const Scalar *row   = near + (((matrices > 1 ? l : 0) * cut.separators() + p) * K + a) * 3 * K;
        const Scalar *from  = b + in.begin(l) + separator * in.row_stride,
                     *left  = x + out.begin(l) + (separator - K) * out.row_stride,
                     *right = x + out.begin(l) + after * out.row_stride;
        Scalar value        = Scalar(0);
        for (int e = 0; e < K; ++e) {
          value += row[e] * from[e * in.row_stride] + row[K + e] * left[e * out.row_stride];
          if (next >= 0) value += row[2 * K + e] * right[e * out.row_stride];
        }
        z[v] = value;
      });
      team.barrier();
      all.for_each([&](int v, char &) {
        const std::int64_t l = first + (v & (width - 1));
        if (l >= cut.lines) return;
        const Scalar      *own  = z + (v & (width - 1));
        const std::int64_t ours = parts.matrix(l, p), theirs = next < 0 ? 0 : parts.matrix(l, next);
        Scalar            *to       = x + out.begin(l);
        const int          interior = static_cast<int>(cut.interior(p)),
                  most              = next < 0 ? 0
                                               : static_cast<int>(cut.interior(next) < left_rows ? cut.interior(next)
                                                                                                 : left_rows);
        // row relative to the separators
        for (int j = (v >> bits()) - right_rows; j < K + most; j += threads() >> bits()) {
          if (j >= 0 && j < K) {
            to[(separator + j) * out.row_stride] = own[j << bits()];
            continue;
          }
          const bool         here   = j < 0;
          const Spikes      &spikes = parts.spikes[(here ? p : next) < cut.pieces ? 0 : 1];
          const std::int64_t i      = here ? interior + j : j - K;
          Scalar            *at = to + (here ? separator + j : after + i) * out.row_stride, value = *at;
          for (int e = 0; e < K; ++e)
            value -= spikes(i, here ? K + e : e, here ? ours : theirs) * own[e << bits()];
          *at = value;
        }
      });
    }
  };
};

} // namespace ribbon
