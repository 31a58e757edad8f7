// SPDX-License-Identifier: BSD-2-Clause
/// @file packing.hpp  Lines whose unknowns lie anywhere in an array: copied to a LineSet
///   and back through a table.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>
#include <vector>

namespace ribbon {

/// Which element of an array is at which place of a LineSet, and the inverse.
template <class MemorySpace>
struct Packing {
  Kokkos::View<std::int64_t *, MemorySpace> place;   ///< (elements); -1: at none
  Kokkos::View<std::int64_t *, MemorySpace> element; ///< (places); -1: no element
};

/// From the elements at all places, -1 where there is none; every element is at one place, or none.
template <class Exec>
Packing<typename Exec::memory_space> make_packing(const Exec &exec, const std::vector<std::int64_t> &element,
                                                  std::int64_t elements)
{
  std::vector<std::int64_t> place(static_cast<std::size_t>(elements), -1);
  for (std::size_t k = 0; k < element.size(); ++k)
    if (element[k] >= 0) place[static_cast<std::size_t>(element[k])] = static_cast<std::int64_t>(k);
  const Packing<typename Exec::memory_space> packing = {upload(exec, "ribbon::place", place),
                                                        upload(exec, "ribbon::element", element)};
  exec.fence(); // the vectors end here
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

/// Every place of `to` gets its element of `from`, or zero. Elements have `components` unknowns, side by
/// side. Asynchronous on exec.
template <class Scalar, class Exec>
void pack(const Exec &exec, const Packing<typename Exec::memory_space> &packing, int components,
          const Scalar *from, Scalar *to)
{
  const auto n = static_cast<std::int64_t>(packing.element.extent(0)) * components;
  Kokkos::parallel_for("ribbon::pack", indices(exec, n),
                       PackKernel<Scalar, decltype(packing.element)>{packing.element, components, from, to});
}

/// Every element of `to` that has a place gets what is there in `from`. Asynchronous on exec.
template <class Scalar, class Exec>
void unpack(const Exec &exec, const Packing<typename Exec::memory_space> &packing, int components,
            const Scalar *from, Scalar *to)
{
  const auto n = static_cast<std::int64_t>(packing.place.extent(0)) * components;
  Kokkos::parallel_for("ribbon::unpack", indices(exec, n),
                       UnpackKernel<Scalar, decltype(packing.place)>{packing.place, components, from, to});
}

} // namespace ribbon
