// SPDX-License-Identifier: BSD-2-Clause
/// @file factored_lines.hpp  Factors of lines, with scales of columns, refinement and the lines that failed.
#pragma once

#include "judge.hpp"
#include "unit_refinement.hpp"

#include <ribbon/matrix/column_scale.hpp>

namespace ribbon::detail {

template <class Scalar, class Exec>
struct FactoredLines {
  using Classes = typename Problem<Scalar, Exec>::Classes;

  Selection<Scalar, Exec>      selection;
  ColumnScale<Scalar, Exec>    scale;      ///< empty: no scales
  UnitRefinement<Scalar, Exec> refinement; ///< empty: no refinement
  Classes                      failed;     ///< 1 for each given matrix that is not solved; may be empty
  Classes                      given_class;
  std::int64_t                 given_matrices = 0, classified = 0; ///< classified: lines that have a class
  Classes                      class_of_line;                      ///< as in Problem
  std::int64_t                 matrices = 0;                       ///< likewise

  const FactorReport &report() const { return selection.report; }
  /// Whether some lines are solved.
  bool       solves_some() const { return selection.factored && (selection.ok() || matrices > 1); }
  const int *classes(std::int64_t first) const
  {
    return class_of_line.size() ? class_of_line.data() + first : nullptr;
  }
  /// The given matrices of the lines from `first` on.
  MatrixOfLine given(std::int64_t first) const
  {
    return {given_class.size() ? given_class.data() + first : nullptr, given_matrices, first, classified};
  }

  /// Solves lines with the matrices of the lines first, first + 1, ...
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             std::int64_t first) const
  {
    if (refinement.empty()) return solve_once(exec, b, in, x, out, first);
    const auto once = [&](const Scalar *from, const LineSet &at, Scalar *to, const LineSet &there) {
      solve_once(exec, from, at, to, there, first);
    };
    refinement.solve(exec, b, in, x, out, given(first), once);
  }

private:
  void solve_once(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
                  std::int64_t first) const
  {
    if (first > 0 && !classes(first) && matrices > 1)
      selection.factored->solve_lines(exec, first, b, in, x, out);
    else selection.factored->solve(exec, b, in, x, out, classes(first), classified);
    scale.apply(exec, x, out, given(first));
  }
};

} // namespace ribbon::detail
