// SPDX-License-Identifier: BSD-2-Clause
/// @file separate.hpp  Kernels of time steps that write every state to memory: right-hand sides and sums.
#pragma once

#include <ribbon/line_operator/product.hpp>
#include <ribbon/line_stepper.hpp>
#include <ribbon/line_stepper/rows.hpp>

namespace ribbon {

/// w = B u + D p(u) + g, one work item for every row of every line in the order of memory.
template <class Scalar, class Memory, class Function>
struct StepProductKernel {
  BandProductKernel<Scalar, Memory> B, D; ///< D: with a function
  Function                          function;
  const Scalar                     *g, *g_scale; ///< of the rows, of the lines

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t n = B.in.rows, l = B.contiguous ? k / n : k % B.in.lines(),
                       i = B.contiguous ? k % n : k / B.in.lines();
    Scalar sum           = B.row(l, i, SameValue());
    if constexpr (is_given<Function>) sum += D.row(l, i, function);
    if (g && g_scale) add_product(sum, g_scale[l], g[i]);
    else if (g) sum += g[i];
    B.w[B.out(l, i)] = sum;
  }
};

/// The sums of LineSums, one work item for every line.
template <class Scalar, class Energy>
struct LineSumsKernel {
  const Scalar *u;
  LineSet       in;
  bool          ring;
  Energy        energy;
  Scalar       *values; ///< of line 0
  std::int64_t  lines;  ///< distance of two quantities

  KOKKOS_FUNCTION void operator()(const std::int64_t l) const
  {
    Scalar        sum[LineSums<Scalar>::quantities] = {};
    const Scalar *line                              = u + in.begin(l);
    for (std::int64_t i = 0; i < in.rows; ++i) {
      const Scalar value = line[i * in.row_stride];
      sum[0] += value;
      add_product(sum[1], value, value);
      if constexpr (is_given<Energy>) {
        const std::int64_t next = i + 1 < in.rows ? i + 1 : ring ? 0 : i;
        sum[2] += energy(value, line[next * in.row_stride], i);
      }
    }
    for (int q = 0; q < LineSums<Scalar>::quantities; ++q) values[q * lines + l] = sum[q];
  }
};

/// y = u for every row of every line in the order of memory.
template <class Scalar>
struct CopyLinesKernel {
  const Scalar        *u;
  Scalar              *y;
  LineSet              in, out;
  bool                 contiguous;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t l = contiguous ? k / in.rows : k % in.lines(),
                       i = contiguous ? k % in.rows : k / in.lines();
    y[out(l, i)]         = u[in(l, i)];
  }
};

template <class Exec, class Scalar>
void copy_lines(const Exec &exec, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out)
{
  Kokkos::parallel_for("ribbon::copy_lines", indices(exec, in.rows * in.lines()),
                       CopyLinesKernel<Scalar>{u, y, in, out, out.is_contiguous()});
}

} // namespace ribbon
