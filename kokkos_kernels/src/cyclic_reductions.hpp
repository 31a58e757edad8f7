// SPDX-License-Identifier: BSD-2-Clause
/// @file cyclic_reductions.hpp  The cyclic reductions as algorithms of a LineSolver. Those that eliminate
///   in every solve are used only if requested by name. auto chooses factored_reduction for few wide lines.
#pragma once

#include "algorithms.hpp"

#include <ribbon/algorithm/cyclic_reduction/cr_pcr.hpp>
#include <ribbon/algorithm/cyclic_reduction/factored_reduction.hpp>
#include <ribbon/algorithm/cyclic_reduction/toeplitz_cr.hpp>

#include <algorithm>

namespace ribbon::detail {

template <class Scalar, class Exec>
struct ReductionAlgorithm final : Factored<Scalar, Exec> {
  Reduction<Scalar, Exec> plan;
  ReductionAlgorithm(const std::string &asked_for, Reduction<Scalar, Exec> from) : plan(std::move(from))
  {
    this->name  = asked_for;
    this->bytes = plan.bytes();
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const int *class_of_line, std::int64_t classified) const override
  {
    plan.solve(exec, b, in, x, out, class_of_line, classified);
  }
  bool solve_with(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, const Scalar *b,
                  const LineSet &in, Scalar *x, const LineSet &out) const override
  {
    if (!plan.takes(bands)) return false;
    plan.solve(exec, bands, b, in, x, out);
    return true;
  }
};

template <class Scalar, class Exec>
struct ToeplitzAlgorithm final : Factored<Scalar, Exec> {
  ToeplitzReduction<Scalar, Exec> plan;
  explicit ToeplitzAlgorithm(ToeplitzReduction<Scalar, Exec> from) : plan(std::move(from))
  {
    this->name            = "toeplitz_cr";
    this->growth_is_known = false;
    this->bytes           = plan.bytes();
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, const int *,
             std::int64_t) const override
  {
    plan.solve(exec, b, in, x, out);
  }
};

/// Cyclic reduction from stored factors, one matrix per line.
template <class Scalar, class Exec>
struct FactoredReductionAlgorithm final : Factored<Scalar, Exec> {
  using Input = Bands<Scalar, typename Exec::memory_space>;
  FactoredReduction<Scalar, Exec> plan;

  FactoredReductionAlgorithm(const Exec &exec, const Input &bands, DevicePivot &pivot) : plan(exec, bands)
  {
    this->name  = "factored_reduction";
    this->bytes = plan.bytes();
    factor(exec, bands, pivot);
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, const int *,
             std::int64_t) const override
  {
    plan.solve(exec, 0, b, in, x, out);
  }
  void solve_lines(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
                   const LineSet &out) const override
  {
    plan.solve(exec, first, b, in, x, out);
  }
  bool refactor(const Exec &exec, const Input &bands, DevicePivot &pivot) override
  {
    if (!plan.takes_again(bands)) return false;
    factor(exec, bands, pivot);
    return true;
  }
  /// The odd equations, with the inverses of diagonal blocks.
  bool inverts_reduced_system() const override { return true; }

private:
  void factor(const Exec &exec, const Input &bands, DevicePivot &pivot)
  {
    const auto         found = plan.factor(exec, bands, static_cast<real_t<Scalar>>(pivot.tolerance));
    const std::int64_t rows  = bands.rows();
    pivot.smallest = static_cast<double>(found.val), pivot.line = found.loc / rows,
    pivot.row = found.loc % rows;
  }
};

/// factored_reduction, in the memory of the factors `again` if these have the same algorithm and extents.
template <class Scalar, class Exec>
Made<Scalar, Exec> make_factored_reduction(const Exec                                       &exec,
                                           const Bands<Scalar, typename Exec::memory_space> &bands,
                                           const Made<Scalar, Exec> &again, DevicePivot &pivot)
{
  if (dynamic_cast<FactoredReductionAlgorithm<Scalar, Exec> *>(again.get()) &&
      again->refactor(exec, bands, pivot))
    return again;
  return std::make_unique<FactoredReductionAlgorithm<Scalar, Exec>>(exec, bands, pivot);
}

inline std::string no_room(const LineSet &lines)
{
  return "lines of " + std::to_string(lines.rows) + " rows do not fit the scratch of a team";
}

/// Equations of a line that are left where cr_pcr changes to parallel cyclic reduction.
inline std::int64_t equations_at_switch(const LineSet &lines, const LineSolverOptions &options)
{
  return std::min<std::int64_t>(lines.rows, options.switch_rows > 0 ? options.switch_rows : 64);
}

/// cyclic_reduction, parallel_cyclic_reduction or cr_pcr. Empty if no line fits a team: `why` holds the
/// reason.
template <class Scalar, class Exec>
Made<Scalar, Exec> make_reduction(const Exec &exec, Algorithm algorithm, const LineSet &lines,
                                  const Bands<Scalar, typename Exec::memory_space> &bands,
                                  const LineSolverOptions &options, DevicePivot &pivot, std::string &why)
{
  const std::int64_t      keep = algorithm == Algorithm::cyclic_reduction ? 1
                                 : algorithm == Algorithm::parallel_cyclic_reduction
                                   ? lines.rows
                                   : equations_at_switch(lines, options);
  Reduction<Scalar, Exec> plan(exec, lines, bands, keep, options.lines_per_team);
  if (!plan.fits()) {
    why = no_room(lines);
    return nullptr;
  }
  plan.smallest_pivot(exec, pivot.tolerance, pivot.smallest, pivot.line, pivot.row);
  return std::make_unique<ReductionAlgorithm<Scalar, Exec>>(to_string(algorithm), std::move(plan));
}

/// toeplitz_cr. Empty if no line fits a team: `why` holds the reason.
template <class Scalar, class Exec>
Made<Scalar, Exec> make_toeplitz_cr(const Exec &exec, const LineSet &lines, const HostMatrix<Scalar> &A,
                                    const LineSolverOptions &options, PivotWatch &watch, std::string &why)
{
  ToeplitzNumbers<Scalar> numbers;
  const std::int64_t      row = numbers.first_difference(A);
  if (row >= 0)
    throw std::invalid_argument(
      "ribbon: algorithm toeplitz_cr takes rows that agree but for the first and the last " +
      std::to_string(numbers.most_ends) + ": row " + std::to_string(row) + " differs from row " +
      std::to_string(numbers.stencil_row(A)));
  watch.current = 0;
  numbers.eliminate(A, watch);
  ToeplitzReduction<Scalar, Exec> plan(exec, lines, numbers, options.lines_per_team);
  if (plan.fits()) return std::make_unique<ToeplitzAlgorithm<Scalar, Exec>>(std::move(plan));
  why = no_room(lines);
  return nullptr;
}

} // namespace ribbon::detail
