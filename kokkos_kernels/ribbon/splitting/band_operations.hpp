// SPDX-License-Identifier: BSD-2-Clause
/// @file band_operations.hpp  Operations on the bands of one direction: P = s M - a A, one matrix per line
///   from shared ones, comparison. Compiled where it is included, like direction_split_kernels.hpp.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/compat.hpp>

namespace ribbon {

namespace direction_bands {

/// P = s M - a A, -A in rows of algebraic equations.
template <class Scalar>
struct ShiftKernel {
  const Scalar        *A, *mass; ///< mass null: ones
  Scalar              *P;
  std::int64_t         stride; ///< matrices rows
  int                  half_bandwidth, block;
  real_t<Scalar>       s, a;
  KOKKOS_FUNCTION void operator()(const std::int64_t u) const
  {
    const int B = block;
    for (int c = 0; c < B; ++c) {
      const Scalar m      = mass ? mass[u + stride * c] : Scalar(1),
                   factor = m == Scalar(0) ? Scalar(-1) : Scalar(-a);
      for (int d = 0; d <= 2 * half_bandwidth; ++d)
        for (int e = 0; e < B; ++e) {
          const std::int64_t k = u + stride * ((d * B + c) * B + e);
          P[k]                 = factor * A[k] + (d == half_bandwidth && e == c ? s * m : Scalar(0));
        }
    }
  }
};

/// One matrix per line, from matrices that lines share.
template <class Scalar>
struct ExpandKernel {
  const Scalar        *from;
  Scalar              *to;
  const int           *class_of_line; ///< null: all lines have the first matrix
  std::int64_t         lines, matrices;
  KOKKOS_FUNCTION void operator()(const std::int64_t u) const
  {
    const std::int64_t l = u % lines, c = class_of_line ? class_of_line[l] : 0;
    to[u] = from[c + matrices * (u / lines)];
  }
};

template <class Scalar>
struct DiffersKernel {
  const Scalar        *x, *y;
  KOKKOS_FUNCTION void operator()(const std::int64_t k, int &differs) const { differs |= !(x[k] == y[k]); }
};

} // namespace direction_bands

/// The same matrices, one per line. Asynchronous on exec.
template <class Scalar, class Exec>
Bands<Scalar, typename Exec::memory_space>
one_per_line(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, std::int64_t lines)
{
  auto result = bands;
  if (bands.lhs == Lhs::per_line) return result;
  result.lhs = Lhs::per_line, result.class_of_line = {};
  result.values = allocate<decltype(bands.values)>(exec, "ribbon::bands", static_cast<std::size_t>(lines),
                                                   bands.values.extent(1), bands.values.extent(2));
  Kokkos::parallel_for(
    "ribbon::one_per_line", indices(exec, static_cast<std::int64_t>(result.values.size())),
    direction_bands::ExpandKernel<Scalar>{bands.values.data(), result.values.data(),
                                          bands.lhs == Lhs::classes ? bands.class_of_line.data() : nullptr,
                                          lines, bands.matrices()});
  return result;
}

/// Whether two arrays of n values differ. NaN differs from itself. Waits for the result.
template <class Scalar, class Exec>
bool numbers_differ(const Exec &exec, std::int64_t n, const Scalar *x, const Scalar *y)
{
  int differs = 0;
  if (n > 0)
    Kokkos::parallel_reduce("ribbon::numbers_differ", indices(exec, n),
                            direction_bands::DiffersKernel<Scalar>{x, y}, Kokkos::BOr<int>(differs));
  exec.fence();
  return differs != 0;
}

/// P = s M - a A in rows of differential equations, -A in algebraic ones. P has bands of the shape of A.
/// Asynchronous on exec.
/// @param mass  (matrices, rows, block); null: ones
template <class Scalar, class Exec>
void shift_bands(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &A, const Scalar *mass,
                 real_t<Scalar> s, real_t<Scalar> a, const Bands<Scalar, typename Exec::memory_space> &P)
{
  const auto stride = static_cast<std::int64_t>(A.values.extent(0) * A.values.extent(1));
  Kokkos::parallel_for("ribbon::shift_bands", indices(exec, stride),
                       direction_bands::ShiftKernel<Scalar>{A.values.data(), mass, P.values.data(), stride,
                                                            A.half_bandwidth(), A.block, s, a});
}

} // namespace ribbon
