// SPDX-License-Identifier: BSD-2-Clause
/// @file allocations.hpp  What a piece of work allocates.
#pragma once

#include <Kokkos_Core.hpp>

#include <petscsys.h>

#include <functional>

namespace test {

/// Counts the allocations of PETSc and of Kokkos while f runs.
inline int allocations_of(const std::function<void()> &f)
{
  static int count                                                                               = 0;
  static PetscErrorCode (*allocate)(size_t, PetscBool, int, const char[], const char[], void **) = nullptr;

  count         = 0;
  allocate      = PetscTrMalloc;
  PetscTrMalloc = [](size_t size, PetscBool clear, int at, const char function[], const char file[], void **memory) {
    ++count;
    return allocate(size, clear, at, function, file, memory);
  };
  Kokkos::Tools::Experimental::set_allocate_data_callback([](const Kokkos::Tools::SpaceHandle, const char *, const void *, std::uint64_t) { ++count; });
  f();
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  PetscTrMalloc = allocate;
  return count;
}

} // namespace test
