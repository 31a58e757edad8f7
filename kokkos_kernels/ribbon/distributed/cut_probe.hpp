// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_probe.hpp  Right-hand sides that measure the accuracy of solves of distributed lines.
#pragma once

#include <ribbon/distributed/cut_parts.hpp>
#include <ribbon/probe/noise.hpp>

namespace ribbon {

/// Right-hand sides that measure the accuracy of the solves, as in probe.hpp. Rows are numbered along the
/// whole line.
template <class Scalar, class Memory>
struct CutProbeKernel {
  using Matrix = typename CutParts<Scalar, Memory>::Matrix;
  using Real   = real_t<Scalar>;

  Matrix       A;
  CutPiece     piece;
  LineSet      set;
  std::int64_t first, length; ///< position of the sub-line, rows of the whole line
  int          kind;
  Scalar      *x;
  /// solution left of the sub-line, value s of line l at s lines + l, and right of it, component b of row i
  /// of line l at (i lines + l) B + b
  const Scalar *zl, *next;

  KOKKOS_INLINE_FUNCTION Scalar given(std::int64_t i, int a) const
  {
    const std::int64_t at = ((first + i) % length + length) % length * piece.B + a;
    if (kind == 0) return Scalar(1);
    const Real real = noise<Real>((static_cast<std::uint64_t>(kind) << 40) + static_cast<std::uint64_t>(at));
    if constexpr (std::is_floating_point_v<Scalar>) return real;
    else
      return Scalar(
        real, noise<Real>((static_cast<std::uint64_t>(kind + 8) << 40) + static_cast<std::uint64_t>(at)));
  }
  KOKKOS_INLINE_FUNCTION bool is_on_line(std::int64_t j) const
  {
    return (j >= 0 || piece.left) && (j < piece.m || piece.right);
  }
  KOKKOS_INLINE_FUNCTION Scalar right_hand_side(std::int64_t c, std::int64_t i, int a) const
  {
    if (kind == 2) return given(i, a);
    Scalar f(0);
    for (std::int64_t j = i - A.kl; j <= i + A.ku; ++j)
      for (int b = 0; b < piece.B && is_on_line(j); ++b) f += A(c, i, j, a, b) * given(j, b);
    return f;
  }
  struct Fill { };
  KOKKOS_FUNCTION void operator()(Fill, const std::int64_t l) const
  {
    const std::int64_t c = A.of(l);
    for (std::int64_t i = 0; i < piece.m; ++i)
      for (int a = 0; a < piece.B; ++a) x[set(l, i) + a * set.component_stride] = right_hand_side(c, i, a);
  }
  /// Four norms of each line: of the residual, the matrix, the solution and the right-hand side.
  struct Measure { };
  Real                *norms = nullptr;
  KOKKOS_FUNCTION void operator()(Measure, const std::int64_t l) const
  {
    const std::int64_t c = A.of(l), M = set.lines();
    Real               norm[4] = {0, 0, 0, 0};
    const auto         see     = [&](int k, Real a) {
      if (!(a <= norm[k]))
        norm[k] = is_finite(a) ? a : Real(1) / unit_roundoff<Scalar>() / unit_roundoff<Scalar>();
    };
    for (std::int64_t i = 0; i < piece.m; ++i)
      for (int a = 0; a < piece.B; ++a) {
        const Scalar f   = right_hand_side(c, i, a);
        Scalar       r   = f;
        Real         sum = 0;
        for (std::int64_t j = i - A.kl; j <= i + A.ku; ++j)
          for (int b = 0; b < piece.B && is_on_line(j); ++b) {
            const Scalar e = A(c, i, j, a, b);
            sum += magnitude(e);
            if (e != Scalar(0))
              r -= e * (j < 0         ? zl[((j + piece.K) * piece.B + b) * M + l]
                        : j < piece.m ? x[set(l, j) + b * set.component_stride]
                                      : next[((j - piece.m) * M + l) * piece.B + b]);
          }
        see(0, magnitude(r)), see(1, sum), see(2, magnitude(x[set(l, i) + a * set.component_stride])),
          see(3, magnitude(f));
      }
    for (int k = 0; k < 4; ++k) norms[k * M + l] = norm[k];
  }
};

/// Writes the right-hand sides to x. Asynchronous on exec.
template <class Scalar, class Exec>
void fill_probe(const Exec &exec, const CutProbeKernel<Scalar, typename Exec::memory_space> &probe)
{
  using Fill = typename CutProbeKernel<Scalar, typename Exec::memory_space>::Fill;
  Kokkos::parallel_for(
    "ribbon::probe::fill",
    Kokkos::RangePolicy<Exec, Fill, Kokkos::IndexType<std::int64_t>>(exec, 0, probe.set.lines()), probe);
}
/// Writes the norms from the solution x. Asynchronous on exec.
template <class Scalar, class Exec>
void measure_probe(const Exec &exec, const CutProbeKernel<Scalar, typename Exec::memory_space> &probe)
{
  using Measure = typename CutProbeKernel<Scalar, typename Exec::memory_space>::Measure;
  Kokkos::parallel_for(
    "ribbon::probe::measure",
    Kokkos::RangePolicy<Exec, Measure, Kokkos::IndexType<std::int64_t>>(exec, 0, probe.set.lines()), probe);
}

} // namespace ribbon
