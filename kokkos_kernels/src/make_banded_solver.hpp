// SPDX-License-Identifier: BSD-2-Clause
/// @file make_banded_solver.hpp  Seam between LineSolver and the files that instantiate its kernels, one per (scalar, half-bandwidth).
#pragma once

#include <ribbon/line_solver.hpp>

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
  #define RIBBON_HAS_DEVICE 1 ///< the default execution space is not the default host execution space
#endif

namespace ribbon::detail {

template <class Scalar, class Exec, int P>
std::shared_ptr<const typename LineSolver<Scalar, Exec>::Implementation> make_banded_solver(const Exec &exec, const LineSet &lines, const Bands<Scalar, typename Exec::memory_space> &bands,
                                                                                            const LineSolverOptions &options);

} // namespace ribbon::detail
