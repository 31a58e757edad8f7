// SPDX-License-Identifier: BSD-2-Clause
/// @file messages.hpp  Buffers of messages between ranks, in the memory of the kernels that fill them.
#pragma once

#include "compat.h"

#include <ribbon/device/staging.hpp>

namespace ribbon::petsc {

/// Scalars that kernels of Exec write and MPI reads, or in reverse. MPI receives their address, or that of a
/// copy in pinned host memory (`staged`).
template <class Exec>
class MessageBuffer {
public:
  MessageBuffer() = default;
  MessageBuffer(const Exec &exec, std::size_t numbers) : MessageBuffer(exec, numbers, needs_staging()) { }
  MessageBuffer(const Exec &exec, std::size_t numbers, bool staged)
      : is_staged_(staged && is_device_space<Exec>),
        numbers_(
          allocate<Kokkos::View<Scalar *, typename Exec::memory_space>>(exec, "ribbon::messages", numbers))
  {
    if (is_staged_) staged_ = decltype(staged_)("ribbon::staged messages", numbers);
  }
  Scalar     *data() const { return numbers_.data(); }
  std::size_t size() const { return numbers_.size(); }
  std::size_t bytes() const { return (numbers_.size() + staged_.size()) * sizeof(Scalar); }

  /// The address for MPI.
  PetscScalar *for_mpi() const
  {
    return reinterpret_cast<PetscScalar *>(is_staged_ ? staged_.data() : numbers_.data());
  }
  /// Call it after kernels have written the buffer: MPI may then read for_mpi().
  PetscErrorCode to_mpi(const Exec &exec) const
  {
    PetscFunctionBegin;
    if (is_staged_) {
      PetscCallCXX(Kokkos::deep_copy(exec, staged_, numbers_));
      PetscCall(PetscLogGpuToCpu(static_cast<PetscLogDouble>(numbers_.size() * sizeof(Scalar))));
    }
    PetscCallCXX(exec.fence());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Call it after MPI has written the buffer: kernels may then read data(). MPI may write it again after a
  /// fence of exec.
  PetscErrorCode from_mpi(const Exec &exec) const
  {
    PetscFunctionBegin;
    if (is_staged_) {
      PetscCallCXX(Kokkos::deep_copy(exec, numbers_, staged_));
      PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(numbers_.size() * sizeof(Scalar))));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// Whether MPI cannot access the memory of the kernels.
  static bool needs_staging() { return is_device_space<Exec> && !RibbonMPITakesDevicePointers(); }

  bool                                                      is_staged_ = false;
  Kokkos::View<Scalar *, typename Exec::memory_space>       numbers_;
  Kokkos::View<Scalar *, typename StagingSpace<Exec>::type> staged_;
};

} // namespace ribbon::petsc
