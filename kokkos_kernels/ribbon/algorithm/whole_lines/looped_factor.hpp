// SPDX-License-Identifier: BSD-2-Clause
/// @file looped_factor.hpp  Tables of looped.hpp for one matrix per line, computed in the memory of the
///   coefficients, one thread per line.
///
/// The eliminations of a line are in looped_plain.hpp and looped_householder.hpp.
#pragma once

#include <ribbon/device/temporary.hpp>
#include <ribbon/algorithm/whole_lines/looped_householder.hpp>
#include <ribbon/algorithm/whole_lines/looped_plain.hpp>

#include <algorithm>

namespace ribbon {

/// The reduction finds the smallest pivot (SmallestPivot).
template <class Scalar, class Memory, bool orthogonal>
struct LoopedFactorKernel {
  using Real     = real_t<Scalar>;
  using Watch    = SmallestPivot<Real>;
  using Smallest = typename Watch::value_type;

  BandEntries<Scalar, Memory> entry;
  LoopedShape                 shape;
  std::int64_t                lines; ///< of the table
  Scalar                     *table;
  Scalar                     *workspace; ///< orthogonal: (W + 1) x (2 W + 1) words of `workers` lines, twice
  std::int64_t                first_line = 0, workers = 1;
  Real                        tolerance  = 0; ///< a line with a pivot at or below it is bad
  std::int64_t                table_line = 0; ///< the first line of the table

  KOKKOS_FUNCTION void operator()(const std::int64_t k, Smallest &smallest) const
  {
    const std::int64_t l    = first_line + k;
    Smallest           mine = Watch::start(l * entry.rows);
    if constexpr (orthogonal)
      LoopedHouseholder<Scalar, Memory>{
        entry, shape, lines, table + (l - table_line), l, workspace + l % workers, workers, mine}
        .factor();
    else LoopedPlain<Scalar, Memory>{entry, shape, lines, table + (l - table_line), l, mine}.factor();
    Watch::finish(mine, tolerance, smallest);
  }
};

/// Tables of one matrix per line.
/// @return their solver and the smallest pivot (see LoopedFactorKernel)
template <class Scalar, class Exec, bool orthogonal>
Looped<Scalar, Exec>
factor_lines(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
             real_t<Scalar> tolerance,
             typename LoopedFactorKernel<Scalar, typename Exec::memory_space, orthogonal>::Smallest &smallest)
{
  using Memory = typename Exec::memory_space;
  using Kernel = LoopedFactorKernel<Scalar, Memory, orthogonal>;
  LoopedShape shape;
  shape.orthogonal = orthogonal, shape.reach = bands.half_bandwidth(), shape.block = bands.block,
  shape.closed = orthogonal || bands.periodic;
  shape.lower = (bands.kl() + 1) * bands.block - 1, shape.upper = (bands.ku() + 1) * bands.block - 1;
  const std::int64_t lines = bands.matrices(), rows = bands.rows(),
                     n = orthogonal ? rows * bands.block : rows;
  const int          W = shape.separators();
  const std::int64_t workers =
    orthogonal
      ? std::min<std::int64_t>(lines, std::max<std::int64_t>(1024, 1048576 / ((W + 1) * (2 * W + 1))))
      : lines;
  auto table = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::looped::table",
                                                        static_cast<std::size_t>(shape.words(n) * lines));
  const Temporary<Scalar, Exec> space(
    exec, "ribbon::looped::workspace",
    orthogonal ? static_cast<std::size_t>(2 * (W + 1) * (2 * W + 1) * workers) : 0);
  smallest         = Kernel::Watch::start(-1);
  const auto place = PivotPlace<real_t<Scalar>, Memory>(exec);
  for (std::int64_t first = 0; first < lines; first += workers) {
    Kokkos::parallel_reduce("ribbon::looped::factor", indices(exec, std::min(workers, lines - first)),
                            Kernel{BandEntries<Scalar, Memory>(bands), shape, lines, table.data(),
                                   space.data(), first, workers, tolerance},
                            place.reducer());
    Kernel::Watch::join(smallest, place.found(exec));
  }
  return Looped<Scalar, Exec>(shape, n, lines, table);
}

/// The smallest pivot of matrices whose factors are not stored, eliminated line by line.
template <class Scalar, class Exec>
auto smallest_pivot_of_lines(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                             real_t<Scalar> tolerance)
{
  using Memory = typename Exec::memory_space;
  using Kernel = LoopedFactorKernel<Scalar, Memory, false>;
  LoopedShape shape;
  shape.reach = std::max(1, bands.half_bandwidth()), shape.block = bands.block, shape.closed = bands.periodic;
  const std::int64_t lines = bands.matrices(), words = shape.words(bands.rows()),
                     together =
                       std::min(lines, std::max<std::int64_t>(1024, (std::int64_t(1) << 26) / words));
  const Temporary<Scalar, Exec> table(exec, "ribbon::looped::table",
                                      static_cast<std::size_t>(words * together));
  const auto                    place    = PivotPlace<real_t<Scalar>, Memory>(exec);
  auto                          smallest = Kernel::Watch::start(-1);
  for (std::int64_t first = 0; first < lines; first += together) {
    Kokkos::parallel_reduce("ribbon::looped::factor", indices(exec, std::min(together, lines - first)),
                            Kernel{BandEntries<Scalar, Memory>(bands), shape, together, table.data(), nullptr,
                                   first, 1, tolerance, first},
                            place.reducer());
    Kernel::Watch::join(smallest, place.found(exec));
  }
  return smallest;
}

/// Overwrites the tables of `plan` with plain tables for matrices of other values, for as many lines and no
/// wider. Asynchronous on exec, one kernel.
template <class Scalar, class Exec>
void factor_lines_again(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                        const Looped<Scalar, Exec>                                    &plan,
                        const PivotPlace<real_t<Scalar>, typename Exec::memory_space> &place)
{
  using Memory = typename Exec::memory_space;
  using Kernel = LoopedFactorKernel<Scalar, Memory, false>;
  Kokkos::parallel_reduce(
    "ribbon::looped::factor", indices(exec, bands.matrices()),
    Kernel{BandEntries<Scalar, Memory>(bands), plan.shape(), bands.matrices(), plan.table().data(), nullptr},
    place.reducer());
}

} // namespace ribbon
