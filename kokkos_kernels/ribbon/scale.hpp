// SPDX-License-Identifier: BSD-2-Clause
/// @file scale.hpp  Multiples of banded matrices.
#pragma once

#include <ribbon/bands.hpp>

namespace ribbon {

template <class Values>
struct ScaleKernel {
  using Scalar = typename Values::non_const_value_type;
  Values               values;
  Scalar               alpha;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t c = k % static_cast<std::int64_t>(values.extent(0)), i = k / static_cast<std::int64_t>(values.extent(0));
    for (std::size_t d = 0; d < values.extent(2); ++d) values(c, i, d) *= alpha;
  }
};

/// Every matrix times alpha, in place. Asynchronous on exec.
template <class Scalar, class Exec>
void scale(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, const Scalar &alpha)
{
  using Values = typename Bands<Scalar, typename Exec::memory_space>::values_type;
  Kokkos::parallel_for("ribbon::scale", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, static_cast<std::int64_t>(bands.values.extent(0) * bands.values.extent(1))),
                       ScaleKernel<Values>{bands.values, alpha});
}

} // namespace ribbon
