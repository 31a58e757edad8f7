// SPDX-License-Identifier: BSD-2-Clause
/// @file packing.hpp  Copies lines whose unknowns are anywhere in an array to a LineSet and back, through a
///   table.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>
#include <vector>

namespace ribbon {

/// The element of an array at each place of a LineSet, and the inverse.
template <class MemorySpace>
struct Packing {
  Kokkos::View<std::int64_t *, MemorySpace> place;   ///< (elements); -1: no place
  Kokkos::View<std::int64_t *, MemorySpace> element; ///< (places); -1: no element
};

/// From the elements at all places, -1 for no element; every element has at most one place.
template <class Exec>
Packing<typename Exec::memory_space> make_packing(const Exec &exec, const std::vector<std::int64_t> &element,
                                                  std::int64_t elements)
{
  std::vector<std::int64_t> place(static_cast<std::size_t>(elements), -1);
  for (std::size_t k = 0; k < element.size(); ++k)
    if (element[k] >= 0) place[static_cast<std::size_t>(element[k])] = static_cast<std::int64_t>(k);
  const Packing<typename Exec::memory_space> packing = {upload(exec, "ribbon::place", place),
                                                        upload(exec, "ribbon::element", element)};
  exec.fence(); // before `place` is destroyed
  return packing;
}

template <class Scalar, class Table>
struct PackKernel {
  Table                element;
  int                  components;
  const Scalar        *from;
  Scalar              *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t e = element(k / components);
    to[k]                = e < 0 ? Scalar(0) : from[e * components + k % components];
  }
};

template <class Scalar, class Table>
struct UnpackKernel {
  Table                place;
  int                  components;
  const Scalar        *from;
  Scalar              *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t p = place(k / components);
    if (p >= 0) to[k] = from[p * components + k % components];
  }
};

/// Every place of `to` gets its element of `from`, or zero. An element has `components` adjacent unknowns.
/// Asynchronous on exec.
template <class Scalar, class Exec>
void pack(const Exec &exec, const Packing<typename Exec::memory_space> &packing, int components,
          const Scalar *from, Scalar *to)
{
  const auto n = static_cast<std::int64_t>(packing.element.extent(0)) * components;
  Kokkos::parallel_for("ribbon::pack", indices(exec, n),
                       PackKernel<Scalar, decltype(packing.element)>{packing.element, components, from, to});
}

/// Every element of `to` with a place gets the value at its place in `from`. Asynchronous on exec.
template <class Scalar, class Exec>
void unpack(const Exec &exec, const Packing<typename Exec::memory_space> &packing, int components,
            const Scalar *from, Scalar *to)
{
  const auto n = static_cast<std::int64_t>(packing.place.extent(0)) * components;
  Kokkos::parallel_for("ribbon::unpack", indices(exec, n),
                       UnpackKernel<Scalar, decltype(packing.place)>{packing.place, components, from, to});
}

} // namespace ribbon
