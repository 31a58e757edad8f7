// SPDX-License-Identifier: BSD-2-Clause
/// @file in_flight_algorithm.hpp  one_pass with one matrix per line as an algorithm of a LineSolver.
#pragma once

#include "algorithms.hpp"

#include <ribbon/algorithm/one_pass/shape.hpp>

namespace ribbon::detail {

/// One matrix per line, eliminated in every solve. Plan: OnePassPerLine or OnePassWide.
template <class Scalar, class Exec, int K, int B, class Plan>
struct InFlightAlgorithm final : Factored<Scalar, Exec> {
  using Input = Bands<Scalar, typename Exec::memory_space>;
  Plan plan;

  InFlightAlgorithm(const Exec &exec, const Input &bands, const OnePassShape &shape)
      : plan(exec, bands, shape)
  {
    this->name  = "one_pass in flight";
    this->bytes = plan.bytes();
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, const int *,
             std::int64_t) const override
  {
    plan.solve(exec, b, in, x, out);
  }
  void solve_lines(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
                   const LineSet &out) const override
  {
    plan.solve_lines(exec, first, b, in, x, out);
  }
  bool solve_with(const Exec &exec, const Input &bands, const Scalar *b, const LineSet &in, Scalar *x,
                  const LineSet &out) const override
  {
    if (bands.block != B || bands.half_bandwidth() > K || bands.periodic != plan.shape().ring) return false;
    plan.solve(exec, bands, b, in, x, out);
    return true;
  }
  bool refactor([[maybe_unused]] const Exec &exec, [[maybe_unused]] const Input &bands,
                [[maybe_unused]] DevicePivot &pivot) override
  {
    if constexpr (K == 1 && B == 1) {
      if (!plan.takes_values_of(bands)) return false;
      const RowDominance dominance = row_dominance<Scalar>(exec, bands);
      if (!dominance.certifies(K)) return false;
      plan.set_values(exec, bands);
      this->certificate = dominance.certificate(), pivot = bound_of_pivots(dominance, pivot.tolerance);
      return true;
    } else return false;
  }
};

template <class Scalar, class Exec, int K, int B, class Plan>
std::unique_ptr<InFlightAlgorithm<Scalar, Exec, K, B, Plan>>
made_in_flight(const Exec &exec, const LineSet &lines,
               const Bands<Scalar, typename Exec::memory_space> &bands, const LineSolverOptions &options,
               std::string &why)
{
  const auto shape = Plan::choose(exec, lines, bands.periodic, bands.lhs == Lhs::shifted,
                                  options.rows_per_thread, options.lines_per_team);
  if (shape.split.chunks > 0)
    return std::make_unique<InFlightAlgorithm<Scalar, Exec, K, B, Plan>>(exec, bands, shape);
  why = "lines of " + std::to_string(lines.rows) + " rows " +
        (lines.rows < K ? "are too short" : "do not fit the scratch of a team");
  return nullptr;
}

} // namespace ribbon::detail
