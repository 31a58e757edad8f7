// SPDX-License-Identifier: BSD-2-Clause
/// @file segments.hpp  Solvers of segments of longer lines, for partition and for lines that span ranks. Not
///   for applications.
#pragma once

#include <ribbon/known_rows.hpp>
#include <ribbon/line_solver.hpp>

namespace ribbon {

/// Lines that are segments or sub-lines of longer ones. Entries that leave a segment couple with adjacent
/// rows, whose unknowns a solve receives.
struct Segments {
  /// Algorithm one_pass, shared bands or classes, not periodic.
  /// @throws std::invalid_argument as LineSolver, and for other matrices or algorithms
  template <class Scalar, class Exec>
  static LineSolver<Scalar, Exec> factor(const Exec &exec, const LineSet &lines,
                                         const Bands<Scalar, typename Exec::memory_space> &bands,
                                         const LineSolverOptions                          &options)
  {
    return LineSolver<Scalar, Exec>(exec, lines, bands, options, true);
  }

  /// As LineSolver::solve(), with the adjacent unknowns.
  template <class Scalar, class Exec>
  static void solve(const LineSolver<Scalar, Exec> &solver, const Exec &exec, const Scalar *b,
                    const LineSet &in, Scalar *x, const LineSet &out, const KnownRows<Scalar> &known)
  {
    solver.solve(exec, b, in, x, out, known);
  }

  /// Whether the kernels can compute the adjacent unknowns (KnownRows::joined).
  template <class Scalar, class Exec>
  static bool joins(const LineSolver<Scalar, Exec> &solver)
  {
    return solver.joins();
  }
};

} // namespace ribbon
