// SPDX-License-Identifier: BSD-2-Clause
/// @file insert.hpp  Writes single entries to bands.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

/// to[places(k)] = values(k). One thread per entry.
template <class Scalar, class Memory>
struct InsertKernel {
  Scalar                              *to;
  Kokkos::View<Scalar *, Memory>       values;
  Kokkos::View<std::int64_t *, Memory> places;
  KOKKOS_FUNCTION void                 operator()(const std::int64_t k) const { to[places(k)] = values(k); }
};

/// Writes values to their places, which must be distinct. Asynchronous on exec.
template <class Scalar, class Exec, class Memory>
void insert_entries(const Exec &exec, Scalar *to, const Kokkos::View<Scalar *, Memory> &values,
                    const Kokkos::View<std::int64_t *, Memory> &places)
{
  Kokkos::parallel_for("ribbon::insert", indices(exec, static_cast<std::int64_t>(places.extent(0))),
                       InsertKernel<Scalar, Memory>{to, values, places});
}

} // namespace ribbon
