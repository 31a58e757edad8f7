// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_kernels.hpp  The kernels of cut_lines.hpp: parts of the reduced system, and corrections.
#pragma once

#include <ribbon/distributed/cut_parts.hpp>
#include <ribbon/distributed/cut_probe.hpp>
#include <ribbon/distributed/cut_spikes.hpp>
#include <ribbon/probe/probe.hpp>

namespace ribbon {

/// The range 0 .. n - 1 without the hint that the functor is light. With this hint, Kokkos would send the
/// functor through a staging copy and wait.
template <class Exec>
auto light_indices(const Exec &exec, std::int64_t n)
{
#if KOKKOS_VERSION >= 30400
  return Kokkos::Experimental::require(indices(exec, n),
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight);
#else
  return indices(exec, n);
#endif
}

/// Kernels of a sub-line.
template <class Scalar, class Memory>
struct CutKernels : CutSpikeKernels<Scalar, Memory> {
  using typename CutParts<Scalar, Memory>::Matrix, typename CutParts<Scalar, Memory>::Parts;
  using typename CutParts<Scalar, Memory>::Real, typename CutParts<Scalar, Memory>::Spikes;
  using typename CutParts<Scalar, Memory>::Values, typename CutParts<Scalar, Memory>::Words;
  using ProbeKernel = CutProbeKernel<Scalar, Memory>;

  /// Contribution of a sub-line to the reduced matrix R: blocks (p, p), (p, p - 1), (p - 1, p - 1) and
  /// (p - 1, p) for its separators p, S x S each.
  struct BlocksKernel {
    Parts                parts;
    Words                to; ///< word (block S^2 + a S + b) lines + line
    std::int64_t         lines;
    KOKKOS_FUNCTION void operator()(const std::int64_t l) const
    {
      const CutPiece    &piece = parts.piece;
      const int          S = piece.S(), B = piece.B;
      const std::int64_t n = piece.n(), c = parts.A.of(l);
      for (int a = 0; a < S; ++a)
        for (int b = 0; b < S; ++b) {
          Scalar block[4] = {Scalar(0), Scalar(0), Scalar(0), Scalar(0)};
          if (piece.right) {
            block[0] = parts.A(c, n + a / B, n + b / B, a % B, b % B);
            if (piece.left) block[1] = parts.A(c, n + a / B, b / B - piece.K, a % B, b % B);
            for (int e = 0; e < S; ++e) {
              const std::int64_t i = n - piece.K + e / B;
              if (i < 0) continue;
              const Scalar ls = parts.ls(c, a, e);
              block[0] -= ls * parts.spikes.w(c, i, e % B, b);
              if (piece.left) block[1] -= ls * parts.spikes.v(c, i, e % B, b);
            }
          }
          for (int e = 0; piece.left && e < S; ++e) {
            const std::int64_t i  = e / B;
            const Scalar       us = parts.us(l, a, e);
            if (i < n) block[2] -= us * parts.spikes.v(c, i, e % B, b);
            if (i < n && piece.right) block[3] -= us * parts.spikes.w(c, i, e % B, b);
            if (i >= n && piece.right && (i - n) * B + e % B == b) block[3] += us;
          }
          for (int k = 0; k < 4; ++k)
            to((static_cast<std::int64_t>(k) * S * S + a * S + b) * lines + l) = block[k];
        }
    }
  };

  /// First or last K rows of y, of sub-lines that are solved: unknown e.
  struct Solved {
    const Scalar                 *y;
    LineSet                       out;
    CutPiece                      piece;
    KOKKOS_INLINE_FUNCTION Scalar first(std::int64_t l, int e) const { return at(l, 0, e); }
    KOKKOS_INLINE_FUNCTION Scalar last(std::int64_t l, int e) const { return at(l, piece.n() - piece.K, e); }
    KOKKOS_INLINE_FUNCTION Scalar at(std::int64_t l, std::int64_t row, int e) const
    {
      return y[out(l, row + e / piece.B) + e % piece.B * out.component_stride];
    }
  };

  /// Contribution of a sub-line to the right-hand side of the reduced system: to the separators left of it
  /// (0 .. S - 1) and to its separators (S .. 2 S - 1).
  template <class Y>
  struct EndsKernel {
    Parts                parts;
    Y                    y;
    const Scalar        *b;
    LineSet              in;
    Scalar              *ends; ///< value c of line l at c lines + l
    KOKKOS_FUNCTION void operator()(const std::int64_t l) const
    {
      const CutPiece    &piece = parts.piece;
      const int          S = piece.S(), B = piece.B;
      const std::int64_t n = piece.n(), c = parts.A.of(l), M = in.lines(), from = in.begin(l);
      for (int a = 0; a < S; ++a) {
        Scalar left(0), own(0);
        for (int e = 0; piece.left && e < S && e / B < n; ++e) left -= parts.us(l, a, e) * y.first(l, e);
        if (piece.right) {
          own = b[from + (n + a / B) * in.row_stride + a % B * in.component_stride];
          for (int e = 0; e < S; ++e)
            if (n - piece.K + e / B >= 0) own -= parts.ls(c, a, e) * y.last(l, e);
        }
        ends[a * M + l] = left, ends[(S + a) * M + l] = own;
      }
    }
  };

  /// x = y - V zl - W zr in the rows that the spikes reach, and the separators. `along`: one thread per
  /// line; otherwise one thread for a tile of neighbouring lines, whose zl and zr then stay in cache. With
  /// `flat`, each thread has a few rows of one line.
  struct CorrectKernel {
    static constexpr int some = 8, side = 32; ///< rows of a thread; neighbouring threads on a line
    static constexpr int tile = 512;          ///< lines
    Parts                parts;
    const Scalar        *zl, *zr; ///< value s of line l at s lines + l
    Scalar              *x;
    LineSet              out;
    std::int64_t         first, rows; ///< of the rows that change, [first, first + rows)
    bool                 along, flat;
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      if (flat) return correct_some(k);
      if (!along) return correct_tile(k);
      const Spikes &s = parts.spikes;
      if (s.matrices > 1 || s.S > 1 || out.row_stride != 1) return correct(k, first, 1, rows);
      // fast path: one word of V and W per row, one separator per line
      Scalar *const      at = x + out.begin(k);
      const std::int64_t n = s.n, last = first + rows, left = s.left_rows < last ? s.left_rows : last,
                         right = n - s.right_rows > first ? n - s.right_rows : first,
                         end   = n < last ? n : last;
      for (std::int64_t i = first; i < left; ++i) at[i] -= s.V(i) * zl[k];
      for (std::int64_t i = right; i < end; ++i) at[i] -= s.W(i - n + s.right_rows) * zr[k];
      if (n < last) at[n] = zr[k];
    }
    std::int64_t items() const
    {
      return flat ? threads() : along ? out.lines() : tiles_of_run() * out.count1;
    }
    /// Threads of the flat kernel. Each has several rows of one line, because a division of 64-bit integers
    /// takes a device longer than a row. Neighbouring threads access neighbouring addresses.
    std::int64_t threads() const
    {
      return (along ? threads_of_line() : (rows + some - 1) / some) * out.lines();
    }
    KOKKOS_INLINE_FUNCTION std::int64_t threads_of_line() const
    {
      return (rows + some * side - 1) / (some * side) * side;
    }
    KOKKOS_INLINE_FUNCTION void correct_some(std::int64_t k) const
    {
      const std::int64_t of = along ? threads_of_line() : out.lines(), whole = k / of, rest = k - whole * of;
      if (along) correct(whole, first + rest / side * (some * side) + rest % side, side, some);
      else correct(rest, first + whole * some, 1, some);
    }
    KOKKOS_INLINE_FUNCTION std::int64_t tiles_of_run() const { return (out.count0 + tile - 1) / tile; }
    KOKKOS_INLINE_FUNCTION void         correct_tile(std::int64_t k) const
    {
      const CutPiece    &piece = parts.piece;
      const Spikes      &s     = parts.spikes;
      const std::int64_t n = s.n, M = out.lines(), stride = out.stride0, per_run = tiles_of_run(),
                         begin = k % per_run * tile, l0 = k / per_run * out.count0 + begin,
                         count = out.count0 - begin < tile ? out.count0 - begin : tile;
      for (std::int64_t i = first; i < first + rows; ++i)
        for (int a = 0; a < piece.B; ++a) {
          Scalar *const at = x + out.begin(l0) + i * out.row_stride + a * out.component_stride;
          if (i >= n) {
            const Scalar *const z = zr + ((i - n) * piece.B + a) * M + l0;
            for (std::int64_t l = 0; l < count; ++l) at[l * stride] = z[l];
            continue;
          }
          for (int e = 0; i < s.left_rows && e < s.S; ++e)
            subtract(&s.V(((i * s.B + a) * s.S + e) * s.matrices), zl + e * M + l0, l0, count, stride, at);
          for (int e = 0; n - i <= s.right_rows && e < s.S; ++e)
            subtract(&s.W((((i - n + s.right_rows) * s.B + a) * s.S + e) * s.matrices), zr + e * M + l0, l0,
                     count, stride, at);
        }
    }
    /// at -= v z, for lines l0 .. l0 + count - 1.
    KOKKOS_INLINE_FUNCTION void subtract(const Scalar *v, const Scalar *z, std::int64_t l0,
                                         std::int64_t count, std::int64_t stride, Scalar *at) const
    {
      if (parts.spikes.matrices > 1)
        for (std::int64_t l = 0; l < count; ++l) at[l * stride] -= v[parts.A.of(l0 + l)] * z[l];
      else if (stride == 1) {
        const Scalar one = v[0];
        for (std::int64_t l = 0; l < count; ++l) at[l] -= one * z[l];
      } else
        for (std::int64_t l = 0; l < count; ++l) at[l * stride] -= v[0] * z[l];
    }
    /// Corrects rows begin, begin + step, ... of line l, at most `count` of them.
    KOKKOS_INLINE_FUNCTION void correct(std::int64_t l, std::int64_t begin, int step,
                                        std::int64_t count) const
    {
      const CutPiece    &piece = parts.piece;
      const Spikes      &s     = parts.spikes;
      const int          S = s.S, B = piece.B;
      const std::int64_t n = piece.n(), M = out.lines(), c = s.matrices == 1 ? 0 : parts.A.of(l),
                         last = first + rows, end = begin + count * step < last ? begin + count * step : last;
      Scalar *at = x + out.begin(l) + begin * out.row_stride;
      for (std::int64_t i = begin; i < end; i += step, at += step * out.row_stride)
        for (int a = 0; a < B; ++a) {
          if (i >= n) {
            at[a * out.component_stride] = zr[((i - n) * B + a) * M + l];
            continue;
          }
          Scalar v = at[a * out.component_stride];
          for (int e = 0; i < s.left_rows && e < S; ++e) v -= s.v(c, i, a, e) * zl[e * M + l];
          for (int e = 0; n - i <= s.right_rows && e < S; ++e) v -= s.w(c, i, a, e) * zr[e * M + l];
          at[a * out.component_stride] = v;
        }
    }
  };
};

/// x -= V zl + W zr, and x = zr in the separators. Asynchronous on exec.
/// @param zl, zr  value s of line l at s lines + l: one for each column of the spikes
template <class Scalar, class Exec>
void correct_ends(const Exec                                                            &exec,
                  const typename CutKernels<Scalar, typename Exec::memory_space>::Parts &parts,
                  const Scalar *zl, const Scalar *zr, Scalar *x, const LineSet &out)
{
  const CutPiece                                                         &piece = parts.piece;
  typename CutKernels<Scalar, typename Exec::memory_space>::CorrectKernel kernel{
    parts, zl, zr, x, out, 0, piece.m, out.is_contiguous(), is_device_space<Exec>};
  const std::int64_t left = parts.spikes.left_rows, right = parts.spikes.right_rows + piece.m - piece.n();
  const auto         run = [&](std::int64_t first, std::int64_t rows) {
    kernel.first = first, kernel.rows = rows;
    if (rows > 0)
      Kokkos::parallel_for("ribbon::cut_lines::correct", light_indices(exec, kernel.items()), kernel);
  };
  if (left + right >= piece.m) return run(0, piece.m);
  run(0, left);
  run(piece.m - right, right);
}

} // namespace ribbon
