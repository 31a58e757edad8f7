// SPDX-License-Identifier: BSD-2-Clause
/// @file staged_arrays.hpp  Copies host arrays to a device before a solve, and back after it.
#pragma once

#include "csr.hpp"

namespace ribbon::petsc {

/// Columns of an array, `ld` entries apart.
struct DenseShape {
  std::int64_t rows, columns, ld;
};

/// An array for kernels of Exec: the caller's array in the memory of Exec, or a copy of a host array in a
/// buffer. The next solve uses the buffer again. -log_view counts the copies.
template <class Exec>
class StagedArray {
  using Buffer    = Kokkos::View<Scalar *, typename Exec::memory_space>;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using Column    = Kokkos::View<Scalar *, typename Exec::memory_space, Unmanaged>;

public:
  /// The address for kernels. The columns of a copy have no gaps.
  Scalar      *data() const { return data_; }
  std::int64_t ld() const { return is_staged() ? shape_.rows : shape_.ld; }
  bool         is_staged() const { return host_ != nullptr; }

  /// Takes an array as input: a host array is copied. Only store() writes to it.
  PetscErrorCode load(const Exec &exec, const PetscScalar *array, PetscMemType where, const DenseShape &shape)
  {
    using HostInput = Kokkos::View<const Scalar *, Kokkos::HostSpace, Unmanaged>;
    PetscFunctionBegin;
    PetscCall(attach(exec, const_cast<PetscScalar *>(array), where, shape));
    if (!is_staged()) PetscFunctionReturn(PETSC_SUCCESS);
    for (std::int64_t c = 0; c < shape.columns; ++c)
      PetscCallCXX(Kokkos::deep_copy(exec, column(c), HostInput(host_ + c * shape.ld, column(c).extent(0))));
    PetscCall(PetscLogCpuToGpu(bytes()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Takes an array as output: the solve writes all entries, and nothing is copied.
  /// @param over  right-hand sides of the same shape; if they have a buffer, the solution overwrites it
  PetscErrorCode attach(const Exec &exec, PetscScalar *array, PetscMemType where, const DenseShape &shape,
                        const StagedArray *over = nullptr)
  {
    const auto entries = static_cast<std::size_t>(shape.rows * shape.columns);
    auto      *own     = reinterpret_cast<Scalar *>(array);
    PetscFunctionBegin;
    shape_ = shape, data_ = own, host_ = PetscMemTypeHost(where) ? own : nullptr;
    if (!is_staged()) PetscFunctionReturn(PETSC_SUCCESS);
    if (!over || !over->is_staged()) {
      if (buffer_.extent(0) < entries)
        PetscCallCXX(buffer_ = allocate<Buffer>(exec, "ribbon::staging", entries));
      data_ = buffer_.data();
    } else data_ = over->data_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Copies the entries back to a host array, and waits.
  PetscErrorCode store(const Exec &exec) const
  {
    using HostView = Kokkos::View<Scalar *, Kokkos::HostSpace, Unmanaged>;
    PetscFunctionBegin;
    if (!is_staged()) PetscFunctionReturn(PETSC_SUCCESS);
    for (std::int64_t c = 0; c < shape_.columns; ++c)
      PetscCallCXX(Kokkos::deep_copy(exec, HostView(host_ + c * shape_.ld, column(c).extent(0)), column(c)));
    PetscCall(PetscLogGpuToCpu(bytes()));
    PetscCallCXX(exec.fence());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// A column of the copy.
  Column column(std::int64_t c) const
  {
    return Column(data_ + c * shape_.rows, static_cast<std::size_t>(shape_.rows));
  }
  PetscLogDouble bytes() const
  {
    return static_cast<PetscLogDouble>(shape_.rows * shape_.columns) *
           static_cast<PetscLogDouble>(sizeof(Scalar));
  }

  DenseShape shape_{};
  Scalar    *data_ = nullptr;
  Scalar    *host_ = nullptr; ///< the caller's array if entries are copied, otherwise null
  Buffer     buffer_;
};

} // namespace ribbon::petsc
