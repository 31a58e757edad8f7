// SPDX-License-Identifier: BSD-2-Clause
/// @file column_solver.hpp  One long line that is solved for many right-hand sides at once.
#pragma once

#include <ribbon/line_solver.hpp>

namespace ribbon::petsc {

/// Few long lines are cut in pieces, group by group, as many at a time as were factored: for a matrix of one
/// line and thousands of columns that is thousands of times a few small kernels. Such columns get a solver
/// that was made for all of them, when they come for the first time.
template <class Number, class Exec>
class ColumnSolver {
public:
  using Solver = LineSolver<Number, Exec>;

  /// `few`, or a solver of the same matrices for so many lines; the latter is kept until
  /// another number of lines comes.
  /// @param few      made from `bands` and `options`
  /// @param columns  the lines of all right-hand sides, a multiple of those of `few`
  const Solver &choose(const Exec &exec, const Solver &few, const typename Solver::bands_type &bands,
                       const LineSolverOptions &options, const LineSet &columns)
  {
    if (bands.lhs != Lhs::shared || columns.lines() < 16 * few.lines().lines() ||
        few.report().algorithm.rfind("partition", 0) != 0)
      return few;
    if (lines_ != columns.lines()) many_ = Solver(exec, columns, bands, options), lines_ = columns.lines();
    return many_.report().ok() ? many_ : few;
  }

private:
  Solver       many_;
  std::int64_t lines_ = 0; ///< that many_ was made for
};

} // namespace ribbon::petsc
