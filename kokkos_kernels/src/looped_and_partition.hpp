// SPDX-License-Identifier: BSD-2-Clause
/// @file looped_and_partition.hpp  Looped elimination and partition as algorithms of a LineSolver.
#pragma once

#include "algorithms.hpp"

#include <ribbon/algorithm/whole_lines/looped_factor.hpp>
#include <ribbon/algorithm/partition/partition.hpp>

#include <optional>

namespace ribbon::detail {

/// Whole lines, run-time widths.
template <class Scalar, class Exec>
struct LoopedAlgorithm final : Factored<Scalar, Exec> {
  using Input = Bands<Scalar, typename Exec::memory_space>;
  Looped<Scalar, Exec>                                    plan;
  std::optional<Looped<Scalar, Exec>>                     again; ///< of solve_with()
  PivotPlace<real_t<Scalar>, typename Exec::memory_space> place;

  LoopedAlgorithm(Looped<Scalar, Exec> from, bool by_reflections) : plan(std::move(from))
  {
    this->name       = by_reflections ? "pivoted" : "thomas";
    this->orthogonal = by_reflections;
    this->bytes      = plan.bytes();
  }
  /// Makes room for solve_with().
  void refactors(const Exec &exec)
  {
    again = plan.beside(exec), place = decltype(place)(exec);
    this->bytes = plan.bytes() + again->bytes();
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const int *class_of_line, std::int64_t classified) const override
  {
    plan.solve(exec, b, in, x, out, class_of_line, classified);
  }
  void solve_lines(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
                   const LineSet &out) const override
  {
    plan.solve(exec, b, in, x, out, nullptr, 1, first);
  }
  bool solve_with(const Exec &exec, const Input &bands, const Scalar *b, const LineSet &in, Scalar *x,
                  const LineSet &out) const override
  {
    if (!again || bands.half_bandwidth() > plan.shape().reach || bands.block != plan.shape().block ||
        bands.periodic != plan.shape().closed)
      return false;
    factor_lines_again(exec, bands, *again, place);
    again->solve(exec, b, in, x, out, nullptr, 1);
    return true;
  }
  std::shared_ptr<Factored<Scalar, Exec>> independent(const Exec &exec) const override
  {
    if (!again) return {};
    auto other = std::make_shared<LoopedAlgorithm>(*this);
    other->refactors(exec);
    return other;
  }
};

/// Few long lines, split into segments.
template <class Scalar, class Exec>
struct PartitionAlgorithm final : Factored<Scalar, Exec> {
  Partition<Scalar, Exec> plan;
  explicit PartitionAlgorithm(Partition<Scalar, Exec> from) : plan(std::move(from))
  {
    this->name = "partition of " + std::to_string(plan.cut().pieces) + " x " +
                 std::to_string(plan.cut().piece) + " rows" +
                 (plan.with_known_separators() ? "" : ", corrected");
    this->bytes = plan.bytes();
    this->lines = plan.cut().lines;
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, const int *,
             std::int64_t) const override
  {
    plan.solve(exec, b, in, x, out);
  }
  std::shared_ptr<Factored<Scalar, Exec>> independent(const Exec &exec) const override
  {
    auto other = std::make_shared<PartitionAlgorithm>(*this);
    other->plan.separate(exec);
    return other;
  }
  /// Without dot products, which are inaccurate if the inverse of a segment is large.
  bool refine() override
  {
    const bool known = plan.with_known_separators();
    if (known) plan.correct_pieces(), this->name += ", corrected";
    return known;
  }
};

} // namespace ribbon::detail
