// SPDX-License-Identifier: BSD-2-Clause
/// @file launch.hpp  The kernels of time steps on chip, by the shapes of lines and bands.
#pragma once

#include <ribbon/algorithm/one_pass/tables.hpp>
#include <ribbon/line_stepper/kernel.hpp>

#include <cstring>

namespace ribbon {

/// Factors of A with the rows of B and D.
template <class Scalar, class Memory>
struct StepTables {
  OnePassTables<Scalar, Memory>  factors;
  Kokkos::View<Scalar *, Memory> blocks;             ///< StepRows::Block (class, chunk)
  Kokkos::View<Scalar *, Memory> inverse;            ///< SquareBlock (class, chunk, chunk)
  int                            reduced_sum = 0;    ///< see StepTile
  std::vector<Scalar>            stencil;            ///< StepRows::Row of the regular chunks
  int                            begin = 0, end = 0; ///< regular chunks
  int                            reach = 0;          ///< W of the kernel
};

template <class Scalar>
struct StepArguments {
  const Scalar    *u;
  LineSet          in;
  Scalar          *y;
  LineSet          out;
  int              steps;
  const Scalar    *g;
  int              g_steps;
  LineSums<Scalar> sums;
  const int       *class_of_line;
  std::int64_t     classified;
};

/// Kernels of a shape; see StepKernel.
template <class Scheme_, int slots_, CoefficientSource source, int W_>
struct StepKernels {
  using Scheme               = Scheme_;
  static constexpr int slots = slots_, W = W_;
  template <class Function, class Energy>
  using Kernel = StepKernel<Scheme, slots, source, W, Function, Energy>;
};

/// The half-bandwidths W of kernels for A with half-bandwidth K. On hosts, where steps on chip are for tests,
/// and for classes, W = 3 alone.
template <class Exec>
int step_reach(int K, bool classes, int half_bandwidth)
{
  return is_device_space<Exec> && !classes && half_bandwidth <= K ? K : 3;
}
/// Rows of a thread, likewise. Measured on an H100 in double: shorter chunks for short lines.
template <class Scalar, class Exec>
int step_slots(bool classes, std::int64_t rows)
{
  return is_device_space<Exec> && std::is_same_v<Scalar, double> && !classes && rows <= 128 ? 16 : 32;
}

/// Calls f(TypeTag<StepKernels>) with the kernels of these tables.
template <class Exec, class Scalar, class Memory, class F>
void with_step_kernels(const StepTables<Scalar, Memory> &tables, const F &f)
{
  constexpr auto regular = CoefficientSource::regular, classes = CoefficientSource::classes;
  constexpr bool many = is_device_space<Exec>;
  const auto     of   = [&](auto K) {
    using Scheme = PlainScheme<Scalar, K()>;
    if (tables.factors.classes > 1) return f(TypeTag<StepKernels<Scheme, 32, classes, 3>>{});
    const auto with_slots = [&](auto slots) {
      if constexpr (many)
        if (tables.reach == K()) return f(TypeTag<StepKernels<Scheme, slots(), regular, K()>>{});
      f(TypeTag<StepKernels<Scheme, slots(), regular, 3>>{});
    };
    if constexpr (many && std::is_same_v<Scalar, double>)
      if (tables.factors.shape.slots == 16) return with_slots(std::integral_constant<int, 16>{});
    with_slots(std::integral_constant<int, 32>{});
  };
  if (tables.factors.reach == 1) of(std::integral_constant<int, 1>{});
  else of(std::integral_constant<int, 2>{});
}

/// Lanes by which the first team begins before line 0, so that teams begin at multiples of their width.
template <class Scalar>
int lanes_before(const OnePassShape &shape, const Scalar *y, const LineSet &out)
{
  const auto word = reinterpret_cast<std::uintptr_t>(y + out.offset) / sizeof(Scalar);
  return out.stride0 == 1 ? static_cast<int>(word % static_cast<std::uintptr_t>(shape.lanes())) : 0;
}

template <class Kernel, class Exec, class Scalar, class Memory, class Function, class Energy>
void launch_steps_of(const Exec &exec, const StepTables<Scalar, Memory> &tables,
                     const StepArguments<Scalar> &a, const Function &function, const Energy &energy)
{
  const auto &factors = tables.factors;
  Kernel      k;
  using Chunk = ChunkBlock<typename Kernel::Scheme, Kernel::slots>;
  if (tables.end > tables.begin) {
    Chunk chunk;
    std::memcpy(static_cast<void *>(&chunk), factors.regular.data(), sizeof chunk);
    k.packed = typename Kernel::Packed(chunk);
  }
  std::copy(tables.stencil.begin(), tables.stencil.end(), k.stencil.c);
  k.b = a.u, k.x = a.y, k.in = a.in, k.out = a.out;
  k.shape = factors.shape, k.lines = a.in.lines();
  const std::int64_t at_once = device::multiprocessors(exec);
  while (k.shape.lane_bits > 3 && k.lines <= at_once << (k.shape.lane_bits - 1)) --k.shape.lane_bits;
  k.blocks        = reinterpret_cast<const typename Kernel::Block *>(tables.blocks.data());
  k.whole         = reinterpret_cast<const typename Kernel::Square *>(tables.inverse.data());
  k.reduced_sum   = tables.reduced_sum;
  k.class_of_line = a.class_of_line, k.classified = a.classified;
  k.regular_begin = tables.begin, k.regular_end = tables.end;
  k.function = function, k.energy = energy;
  k.steps = a.steps, k.g = a.g, k.g_steps = a.g_steps, k.sums = a.sums;
  k.through_scratch        = a.in.is_contiguous() || a.out.is_contiguous();
  k.shift                  = k.through_scratch ? 0 : lanes_before(k.shape, a.y, a.out);
  const std::int64_t lanes = k.shape.lanes(), teams = (k.lines + k.shift + lanes - 1) / lanes;
  device::launch(exec, "ribbon::line_stepper",
                 {teams, k.shape.threads(),
                  Kernel::scratch(k.shape, k.reduced_sum, a.sums.values, a.in.rows, k.through_scratch,
                                  !is_device_space<Exec>)},
                 k);
}

/// All steps in one launch. Asynchronous on exec.
template <class Exec, class Scalar, class Memory, class Function, class Energy>
void launch_steps(const Exec &exec, const StepTables<Scalar, Memory> &tables, const StepArguments<Scalar> &a,
                  const Function &function, const Energy &energy)
{
  with_step_kernels<Exec>(tables, [&](auto type) {
    using Kernel = typename decltype(type)::type::template Kernel<Function, Energy>;
    launch_steps_of<Kernel>(exec, tables, a, function, energy);
  });
}

} // namespace ribbon
