// SPDX-License-Identifier: BSD-2-Clause
/// @file costs.hpp  Counts kernels and allocations through the callbacks of Kokkos tools.
#pragma once

#include "batch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace test {

/// views: allocations by Ribbon; Kokkos itself allocates scratch on hosts
inline int                      kernels = 0, allocations = 0, views = 0;
inline std::vector<std::string> labels;

inline void on_kernel(const char *label, std::uint32_t, std::uint64_t *)
{
  ++kernels;
  labels.emplace_back(label);
}
inline void on_allocation(const Kokkos::Tools::SpaceHandle, const char *label, const void *, std::uint64_t)
{
  ++allocations;
  if (std::string(label).rfind("ribbon::", 0) == 0) ++views;
}

class Costs : public testing::Test {
protected:
  void SetUp() override
  {
    kernels = allocations = 0;
    labels.clear();
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(on_kernel);
    Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(on_kernel);
    Kokkos::Tools::Experimental::set_allocate_data_callback(on_allocation);
  }
  void TearDown() override
  {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr);
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  }
};

/// Expects `count` kernels of run(), each with a label of Ribbon, and no allocation.
template <class Run>
void expect_launches(int count, const std::string &what, const Run &run)
{
  run(); // Kokkos may allocate for a first reduction on a host
  Kokkos::fence();
  kernels = allocations = 0;
  labels.clear();
  for (int k = 0; k < 3; ++k) run();
  Kokkos::fence();
  EXPECT_EQ(kernels, 3 * count) << what;
  EXPECT_EQ(allocations, 0) << what;
  for (const auto &label : labels) EXPECT_EQ(label.rfind("ribbon::", 0), 0u) << label;
}

template <class Scalar = double>
void expect_kernels(int count, const ribbon::LineSolver<Scalar, Exec> &solver, const std::string &what,
                    bool in_place = false)
{
  ASSERT_TRUE(solver.report().ok()) << what;
  const auto &set      = solver.lines();
  const auto  unknowns = static_cast<std::size_t>(set.begin(set.lines() - 1) + set.rows * set.row_stride +
                                                 set.components * set.component_stride);
  Kokkos::View<Scalar *, Memory> b("b", unknowns), x("x", unknowns);
  expect_launches(count, what + (in_place ? ", in place" : ""),
                  [&] { solver.solve(Exec(), b.data(), in_place ? b.data() : x.data()); });
}

} // namespace test
