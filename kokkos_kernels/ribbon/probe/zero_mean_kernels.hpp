// SPDX-License-Identifier: BSD-2-Clause
/// @file zero_mean_kernels.hpp  Kernels of zero_mean.hpp: solutions of zero mean, consistent right-hand
///   sides.
#pragma once

#include <ribbon/compat.hpp>
#include <ribbon/line_set.hpp>

#include <cmath>

namespace ribbon {

/// One thread per singular part of a line.
template <class Scalar, class Memory>
struct ZeroMeanKernel {
  using Words   = Kokkos::View<const Scalar *, Memory>;
  using Ints    = Kokkos::View<const int *, Memory>;
  using Sizes   = Kokkos::View<const double *, Memory>;
  using Largest = Kokkos::View<double *, Memory>;
  Words w; ///< row i of matrix m at i * matrices + m
  /// of part p: entry d of rho e_p^T - a_p, times conj(l_p) / l^H l, at d * pieces + p
  Words   row;
  Sizes   size;    ///< ||l|| of part p
  Largest largest; ///< ||b - A x|| of all parts so far
  Ints    piece;   ///< matrix, first row, end and replaced row of part p at 4 p
  /// of the places to be corrected; empty if they are all parts of matrix 0 in all lines
  Ints         line_of, piece_of;
  std::int64_t rows, matrices, places, lines; ///< lines: of the batch that was factored
  int          lower, upper;
  Scalar      *x;
  LineSet      out;

  /// Updates the largest ||b - A x|| with that of part p.
  KOKKOS_FUNCTION void see(real_t<Scalar> c, std::int64_t p) const
  {
    const double distance = static_cast<double>(c) * size(p);
    // NaN, too
    if (!(distance <= atomic_read(&largest(0))))
      Kokkos::atomic_fetch_max(&largest(0), is_finite(distance) ? distance : HUGE_VAL);
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const bool         all = piece_of.extent(0) == 0;
    const std::int64_t f = k % places, p = all ? f / lines : piece_of(f),
                       line = (all ? f % lines : line_of(f)) + k / places * lines;
    const std::int64_t m = piece(4 * p), begin = piece(4 * p + 1), end = piece(4 * p + 2),
                       pinned = piece(4 * p + 3), pieces = static_cast<std::int64_t>(piece.extent(0)) / 4;
    Scalar *const at = x + out.begin(line);
    Scalar        c(0), sum(0);
    for (int d = -lower; d <= upper; ++d) {
      const std::int64_t j     = pinned + d;
      const Scalar       entry = row((d + lower) * pieces + p);
      if (entry != Scalar(0)) c += entry * at[((j % rows + rows) % rows) * out.row_stride];
    }
    // x' may be larger than x
    for (std::int64_t i = begin; i < end; ++i) sum += at[i * out.row_stride] - c * w(i * matrices + m);
    see(magnitude(c), p);
    const Scalar mean = sum / static_cast<real_t<Scalar>>(end - begin);
    for (std::int64_t i = begin; i < end; ++i)
      at[i * out.row_stride] = at[i * out.row_stride] - c * w(i * matrices + m) - mean;
  }
};

/// b -= c l, one thread per singular part of a line. Members as above.
template <class Scalar, class Memory>
struct ProjectKernel {
  ZeroMeanKernel<Scalar, Memory>       pieces; ///< x: b
  Kokkos::View<const Scalar *, Memory> l;      ///< as w

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const auto        &z   = pieces;
    const bool         all = z.piece_of.extent(0) == 0;
    const std::int64_t f = k % z.places, p = all ? f / z.lines : z.piece_of(f),
                       line = (all ? f % z.lines : z.line_of(f)) + k / z.places * z.lines;
    const std::int64_t m = z.piece(4 * p), begin = z.piece(4 * p + 1), end = z.piece(4 * p + 2);
    Scalar *const      b = z.x + z.out.begin(line);
    Scalar             c(0);
    for (std::int64_t i = begin; i < end; ++i)
      c += conjugate(l(i * z.matrices + m)) * b[i * z.out.row_stride];
    c = c / static_cast<real_t<Scalar>>(z.size(p)) / static_cast<real_t<Scalar>>(z.size(p));
    z.see(magnitude(c), p);
    for (std::int64_t i = begin; i < end; ++i) b[i * z.out.row_stride] -= c * l(i * z.matrices + m);
  }
};

/// One thread per row of a line.
template <class Scalar>
struct CopyRowsKernel {
  LineSet              in, at;
  const Scalar        *b;
  Scalar              *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const bool         along = at.row_stride < at.stride0;
    const std::int64_t l = along ? k / at.rows : k % at.lines(), i = along ? k % at.rows : k / at.lines();
    to[at(l, i)] = b[in(l, i)];
  }
};

} // namespace ribbon
