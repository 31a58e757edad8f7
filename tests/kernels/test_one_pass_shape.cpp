// SPDX-License-Identifier: BSD-2-Clause
// Shapes of one_pass that devices take, on any machine: what fits the scratch of a team.
#include "batch.hpp"

#include <ribbon/algorithm/one_pass_plan.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

constexpr ribbon::TeamRoom h200{232448, false};

/// Every shape that is chosen for the stencil fits when the matrix is factored, so that none is factored in vain. Counts those that are refused.
template <class Scheme>
int refused(const std::vector<double> &stencil, bool contiguous)
{
  using Plan  = ribbon::OnePass<Scheme, Exec>;
  int refused = 0;
  for (int n : {40, 64, 100, 128, 200, 256, 512, 1000, 1500, 2048, 3000})
    for (bool periodic : {false, true}) {
      SCOPED_TRACE(std::to_string(n) + " rows, ring " + std::to_string(periodic) + ", contiguous " + std::to_string(contiguous));
      ribbon::HostMatrix<double> A;
      A.rows = n, A.lower = A.upper = static_cast<int>(stencil.size() / 2), A.periodic = periodic;
      for (int i = 0; i < n; ++i) A.values.insert(A.values.end(), stencil.begin(), stencil.end());
      const auto lines = contiguous ? ribbon::LineSet::contiguous(n, 64) : ribbon::LineSet::interleaved(n, 64);
      const auto shape = Plan::choose(h200, lines, periodic, A.has_constant_stencil(), false);
      if (shape.split.chunks == 0) {
        ++refused;
        continue;
      }
      ribbon::PivotWatch watch;
      Plan               plan(Exec(), {A}, shape, watch);
      EXPECT_TRUE(plan.place(h200));
      EXPECT_LE(plan.shape().block_threads(), 512);
    }
  return refused;
}

TEST(OnePassShape, WhatIsChosenFitsOnceItIsFactored)
{
  const std::vector<double> tri{-1, 4, -1}, penta{1, -4, 11, -4, 1}, nine{-1, -1, -1, -1, 20, -1, -1, -1, -1};
  for (bool contiguous : {false, true}) {
    refused<ribbon::PlainScheme<double, 1>>(tri, contiguous);
    refused<ribbon::PlainScheme<double, 2>>(penta, contiguous);
    refused<ribbon::PlainScheme<double, 4>>(nine, contiguous);
  }
  EXPECT_GT((refused<ribbon::OrthogonalScheme<double, 2>>(penta, true)), 0) << "contiguous pivoted lines keep no block in the arguments, however regular they are";
}

} // namespace
