// SPDX-License-Identifier: BSD-2-Clause
/// @file vector_sum.hpp  y = x + sum_j w_j k_j in one pass, and whether values are finite.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

inline constexpr int largest_vector_sum = 4;

template <class Scalar, int terms>
struct VectorSumKernel {
  const Scalar        *x;
  const Scalar        *k[terms];
  Scalar               w[terms];
  Scalar              *y;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, int &bad) const
  {
    Scalar sum = x[i];
    RIBBON_UNROLL
    for (int j = 0; j < terms; ++j) sum += w[j] * k[j][i];
    y[i] = sum;
    bad |= !is_finite(magnitude(sum));
  }
};

template <int terms, class Scalar, class Exec>
bool vector_sum_of(const Exec &exec, std::int64_t n, const Scalar *x, const Scalar *const k[],
                   const Scalar w[], Scalar *y)
{
  VectorSumKernel<Scalar, terms> kernel{x, {}, {}, y};
  int                            bad = 0;
  for (int j = 0; j < terms; ++j) kernel.k[j] = k[j], kernel.w[j] = w[j];
  if (n > 0) Kokkos::parallel_reduce("ribbon::vector_sum", indices(exec, n), kernel, Kokkos::BOr<int>(bad));
  return bad == 0;
}

/// y = x + sum over j < terms of w_j k_j. Arrays have n values in memory of exec. y is different from the
/// others, 1 <= terms <= largest_vector_sum. Reads (terms + 1) n values, writes n, allocates no memory.
/// Waits for the result.
/// @return whether every value of y is finite
template <class Scalar, class Exec>
bool vector_sum(const Exec &exec, std::int64_t n, const Scalar *x, int terms, const Scalar *const k[],
                const Scalar w[], Scalar *y)
{
  switch (terms) {
  case 1:
    return vector_sum_of<1>(exec, n, x, k, w, y);
  case 2:
    return vector_sum_of<2>(exec, n, x, k, w, y);
  case 3:
    return vector_sum_of<3>(exec, n, x, k, w, y);
  default:
    return vector_sum_of<4>(exec, n, x, k, w, y);
  }
}

template <class Scalar>
struct AllFiniteKernel {
  const Scalar        *x;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, int &bad) const
  {
    bad |= !is_finite(magnitude(x[i]));
  }
};

/// Whether n values in memory of exec are finite. Waits for the result.
template <class Scalar, class Exec>
bool all_finite(const Exec &exec, std::int64_t n, const Scalar *x, const char *label = "ribbon::all_finite")
{
  int bad = 0;
  if (n > 0)
    Kokkos::parallel_reduce(label, indices(exec, n), AllFiniteKernel<Scalar>{x}, Kokkos::BOr<int>(bad));
  return bad == 0;
}

} // namespace ribbon
