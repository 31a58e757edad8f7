// SPDX-License-Identifier: BSD-2-Clause
/// @file scalars.hpp  Scalars of the tests of kernels.
#pragma once

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

namespace test {

/// A library of kernels in double alone (CMake: RIBBON_KERNELS_DOUBLE_ALONE) has no others.
#ifdef RIBBON_KERNELS_DOUBLE_ALONE
constexpr bool double_alone = true;
using Scalars               = testing::Types<double>;
#else
constexpr bool double_alone = false;
using Scalars               = testing::Types<double, float, Kokkos::complex<double>>;
#endif

} // namespace test
