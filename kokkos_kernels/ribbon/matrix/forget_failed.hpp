// SPDX-License-Identifier: BSD-2-Clause
/// @file forget_failed.hpp  Fills lines that were not solved with NaN.
#pragma once

#include <ribbon/line_set.hpp>
#include <ribbon/matrix/matrix_of_line.hpp>

#include <limits>

namespace ribbon {

/// One thread per row of a line.
template <class Scalar, class Memory>
struct ForgetFailedKernel {
  Kokkos::View<const int *, Memory> failed; ///< 1 for a matrix that failed; empty: all failed
  MatrixOfLine                      matrix;
  Scalar                           *x;
  LineSet                           out;
  Scalar                            nothing;

  KOKKOS_FUNCTION void operator()(const std::int64_t t) const
  {
    const std::int64_t l = t % out.lines(), i = t / out.lines();
    if (failed.extent(0) > 0 && !failed(matrix(l))) return;
    for (int b = 0; b < out.components; ++b) x[out(l, i) + b * out.component_stride] = nothing;
  }
};

/// Writes NaN to the lines of matrices that failed. Asynchronous on exec.
template <class Scalar, class Exec, class Memory>
void forget_failed(const Exec &exec, Scalar *x, const LineSet &out, const Kokkos::View<int *, Memory> &failed,
                   const MatrixOfLine &matrix)
{
  const Scalar nothing(std::numeric_limits<real_t<Scalar>>::quiet_NaN());
  Kokkos::parallel_for("ribbon::forget_failed", indices(exec, out.lines() * out.rows),
                       ForgetFailedKernel<Scalar, Memory>{failed, matrix, x, out, nothing});
}

} // namespace ribbon
