// SPDX-License-Identifier: BSD-2-Clause
/// @file column_solver.hpp  One long line that is solved for many right-hand sides at once.
#pragma once

#include <ribbon/algorithm/name.hpp>
#include <ribbon/line_solver.hpp>

namespace ribbon::petsc {

/// Algorithm `partition` divides a few long lines into segments, one group of lines after another. A group
/// has as many lines as were factored. With one line and thousands of columns this would launch small
/// kernels thousands of times. Such columns get a solver for all of them, which the first solve creates.
template <class Number, class Exec>
class ColumnSolver {
public:
  using Solver = LineSolver<Number, Exec>;

  /// Returns `few`, or a solver of the same matrices for all columns. The latter is kept until the number
  /// of lines changes.
  /// @param few      created from `bands` and `options`
  /// @param columns  the lines of all right-hand sides, a multiple of those of `few`
  const Solver &choose(const Exec &exec, const Solver &few, const typename Solver::bands_type &bands,
                       const LineSolverOptions &options, const LineSet &columns)
  {
    if (bands.lhs != Lhs::shared || columns.lines() < 16 * few.lines().lines() ||
        few.report().used != Algorithm::partition)
      return few;
    if (lines_ != columns.lines()) many_ = Solver(exec, columns, bands, options), lines_ = columns.lines();
    return many_.report().ok() ? many_ : few;
  }

private:
  Solver       many_;
  std::int64_t lines_ = 0; ///< lines of many_
};

} // namespace ribbon::petsc
