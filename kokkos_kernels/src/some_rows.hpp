// SPDX-License-Identifier: BSD-2-Clause
/// @file some_rows.hpp  Runs a kernel over a sample of the rows of a matrix.
#pragma once

#include "couplings.hpp"

#include <cstdint>

namespace ribbon {

/// A kernel over one row of `every`, at a pseudo-random place among these. Equal distances would always
/// select the same column of a grid.
template <class Kernel>
struct SomeRows {
  Kernel                 kernel;
  std::int64_t           rows, every;
  KOKKOS_INLINE_FUNCTION std::int64_t row(std::int64_t i) const
  {
    const std::int64_t k =
      i * every + static_cast<std::int64_t>((static_cast<std::uint64_t>(i) * 2654435761u >> 8) %
                                            static_cast<std::uint64_t>(every));
    return k < rows ? k : rows - 1;
  }
  KOKKOS_FUNCTION void   operator()(const std::int64_t i) const { kernel(row(i)); }
  KOKKOS_FUNCTION void   operator()(const std::int64_t i, CouplingsReducer &r) const { kernel(row(i), r); }
  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return (rows + every - 1) / every; }
};

} // namespace ribbon
