// SPDX-License-Identifier: BSD-2-Clause
/// @file looped_and_partition.hpp  Looped elimination and partition as algorithms of a LineSolver.
#pragma once

#include "algorithms.hpp"

#include <ribbon/algorithm/looped_factor.hpp>
#include <ribbon/algorithm/partition.hpp>

namespace ribbon::detail {

/// Whole lines, run-time widths.
template <class Scalar, class Exec>
struct LoopedAlgorithm final : Algorithm<Scalar, Exec> {
  Looped<Scalar, Exec> plan;
  LoopedAlgorithm(Looped<Scalar, Exec> from, bool orthogonal) : plan(std::move(from))
  {
    this->name  = orthogonal ? "pivoted" : "thomas";
    this->bytes = plan.bytes();
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, const int *class_of_line, std::int64_t classified) const override
  {
    plan.solve(exec, b, in, x, out, class_of_line, classified);
  }
};

/// Few long lines, cut in pieces.
template <class Scalar, class Exec>
struct PartitionAlgorithm final : Algorithm<Scalar, Exec> {
  Partition<Scalar, Exec> plan;
  explicit PartitionAlgorithm(Partition<Scalar, Exec> from) : plan(std::move(from))
  {
    this->name  = "partition of " + std::to_string(plan.cut().pieces) + " x " + std::to_string(plan.cut().piece) + " rows" + (plan.with_known_separators() ? "" : ", corrected");
    this->bytes = plan.bytes();
    this->lines = plan.cut().lines;
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, const int *, std::int64_t) const override { plan.solve(exec, b, in, x, out); }
  /// Without dot products, which lose digits where the inverse of a piece is large.
  bool refine() override
  {
    const bool known = plan.with_known_separators();
    if (known) plan.correct_pieces(), this->name += ", corrected";
    return known;
  }
};

} // namespace ribbon::detail
