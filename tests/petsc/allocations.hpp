// SPDX-License-Identifier: BSD-2-Clause
/// @file allocations.hpp  Counts the allocations of a function.
#pragma once

#include <Kokkos_Core.hpp>

#include <petscsys.h>

#include <functional>
#include <string>

namespace test {

/// Names of the last allocations_of(): functions of PETSc, labels of Kokkos.
inline std::string &allocations()
{
  static std::string names;
  return names;
}

/// Counts the allocations of PETSc and of Kokkos while f runs. It leaves out three kinds. PETSc's exchange
/// of halos may or may not keep buffers for messages from and to a device. PETSc requests the array of a
/// device vector without entries again each time, and reads an option first. Kokkos allocates zero bytes of
/// global scratch for teams without scratch, such as those of products.
inline int allocations_of(const std::function<void()> &f)
{
  static int count                                                                               = 0;
  static PetscErrorCode (*allocate)(size_t, PetscBool, int, const char[], const char[], void **) = nullptr;

  count = 0;
  allocations().clear();
  allocate      = PetscTrMalloc;
  PetscTrMalloc = [](size_t size, PetscBool clear, int at, const char function[], const char file[],
                     void **memory) {
    const std::string from(function);
    if (from.rfind("PetscSFLinkCreate", 0) != 0 && from != "PetscStrallocpy" &&
        !(from == "HostAllocateCheck_" && size == 0)) {
      ++count;
      allocations() += std::string(function) + " ";
    }
    return allocate(size, clear, at, function, file, memory);
  };
  Kokkos::Tools::Experimental::set_allocate_data_callback(
    [](const Kokkos::Tools::SpaceHandle, const char *label, const void *, std::uint64_t size) {
      if (size == 0 && std::string(label).rfind("Kokkos::", 0) == 0) return;
      ++count;
      allocations() += std::string(label) + " ";
    });
  f();
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  PetscTrMalloc = allocate;
  return count;
}

} // namespace test
