// SPDX-License-Identifier: BSD-2-Clause
/// @file precision.hpp  Matrices and right-hand sides rounded to a shorter type, scaled to its range.
///
/// A x = b is solved as (alpha A) z = b / s in the shorter type, x = alpha s z: alpha scales the largest
/// entry of all matrices, and s the largest entry of each right-hand side, to one.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/matrix/line_residuals.hpp>

namespace ribbon {

template <class From>
struct LargestEntryKernel {
  const From          *from;
  real_t<From>         infinite;
  KOKKOS_FUNCTION void operator()(const std::int64_t k, real_t<From> &largest) const
  {
    enlarge(largest, from[k], infinite);
  }
};

template <class To, class From>
struct RoundKernel {
  const From          *from;
  To                  *to;
  From                 alpha;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const { to[k] = static_cast<To>(from[k] * alpha); }
};

/// The matrices alpha A in the shorter type. alpha is the inverse of the largest entry (1 if that is zero
/// or not finite). Waits for alpha.
template <class To, class From, class Exec>
Bands<To, typename Exec::memory_space>
round_bands(const Exec &exec, const Bands<From, typename Exec::memory_space> &bands, From *alpha)
{
  using Memory = typename Exec::memory_space;
  Bands<To, Memory> rounded;
  From              largest = 0;
  const auto        entries = static_cast<std::int64_t>(bands.values.size());
  Kokkos::parallel_reduce(
    "ribbon::round_bands", indices(exec, entries),
    LargestEntryKernel<From>{bands.values.data(), std::numeric_limits<From>::infinity()},
    Kokkos::Max<From>(largest));
  *alpha = largest > 0 && is_finite(largest) && is_finite(From(1) / largest) ? From(1) / largest : From(1);
  rounded.periodic = bands.periodic, rounded.lhs = bands.lhs, rounded.class_of_line = bands.class_of_line,
  rounded.lower = bands.lower, rounded.upper = bands.upper, rounded.block = bands.block,
  rounded.repeats = bands.repeats;
  rounded.values  = allocate<typename Bands<To, Memory>::values_type>(
    exec, "ribbon::bands", bands.values.extent(0), bands.values.extent(1), bands.values.extent(2));
  Kokkos::parallel_for("ribbon::round_bands", indices(exec, entries),
                       RoundKernel<To, From>{bands.values.data(), rounded.values.data(), *alpha});
  return rounded;
}

/// One thread per row of a line: to = factor(line) from, with factor = alpha size, or its inverse.
template <class To, class From>
struct ConvertLinesKernel {
  using Wide = std::conditional_t<(sizeof(To) > sizeof(From)), To, From>;
  LineSet              in, out;
  const From          *from;
  To                  *to;
  const Wide          *size; ///< of each line
  Wide                 alpha;
  bool                 widen, contiguous;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t l = contiguous ? k / in.rows : k % in.lines(),
                       i = contiguous ? k % in.rows : k / in.lines();
    const Wide s         = size[l] > 0 && is_finite(size[l]) ? size[l] : Wide(1);
    for (int a = 0; a < in.components; ++a) {
      const Wide value                         = static_cast<Wide>(from[in(l, i) + a * in.component_stride]);
      to[out(l, i) + a * out.component_stride] = static_cast<To>(widen ? value * s * alpha : value / s);
    }
  }
};

/// to = from / size, line by line. Asynchronous on exec.
template <class To, class From, class Exec>
void narrow_lines(const Exec &exec, const LineSet &in, const From *from, const From *size, const LineSet &out,
                  To *to)
{
  Kokkos::parallel_for(
    "ribbon::narrow", indices(exec, in.lines() * in.rows),
    ConvertLinesKernel<To, From>{in, out, from, to, size, From(1), false, in.is_contiguous()});
}
/// to = alpha size from, line by line. Asynchronous on exec.
template <class To, class From, class Exec>
void widen_lines(const Exec &exec, const LineSet &in, const From *from, const To *size, To alpha,
                 const LineSet &out, To *to)
{
  Kokkos::parallel_for(
    "ribbon::widen", indices(exec, in.lines() * in.rows),
    ConvertLinesKernel<To, From>{in, out, from, to, size, alpha, true, out.is_contiguous()});
}

} // namespace ribbon
