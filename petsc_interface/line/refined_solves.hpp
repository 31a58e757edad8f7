// SPDX-License-Identifier: BSD-2-Clause
/// @file refined_solves.hpp  Solves of lines in lower precision than that of vectors, refined to the
///   roundoff of the vectors.
#pragma once

#include "operator.hpp"

#include <ribbon/matrix/precision.hpp>
#include <ribbon/probe/refine.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ribbon::petsc {

/// Rounds matrices and right-hand sides, and refines solutions with residuals in Scalar (precision.hpp,
/// refine.hpp). A test solve at set-up fixes the number of steps, so that the map from b to x is linear.
/// @tparam Number  scalar type of factors and solves
template <class Exec, class Number>
class RefinedSolves {
  using Memory = typename Exec::memory_space;
  using Buffer = Kokkos::View<Scalar *, Memory>;
  using Solver = LineSolver<Number, Exec>;

public:
  /// @param refines  false: solutions have the accuracy of Number
  explicit RefinedSolves(bool refines) : refines_(refines) { }

  /// Layout of the rounded unknowns of lines: a buffer without gaps.
  static LineSet inner(const LineSet &lines)
  {
    const LineSet apart = lines.is_contiguous() ? LineSet::contiguous(lines.rows, lines.lines())
                                                : LineSet::interleaved(lines.rows, lines.lines());
    return apart.with_components(lines.components);
  }

  /// Rounds the matrices of these lines. Waits.
  const Bands<Number, Memory> &round(const Exec &exec, const LineSet &lines,
                                     const Bands<Scalar, Memory> &bands)
  {
    lines_    = lines;
    matrices_ = round_bands<Number>(exec, bands, &alpha_);
    return matrices_;
  }

  /// The rounded matrices are alpha times the matrices of the lines.
  Scalar alpha() const { return alpha_; }
  /// Whether solves are refined from now on; without effect if constructed with refines = false.
  void set_refined(bool on) { refined_now_ = on; }

  /// Stores in facts whether Number can represent these matrices, and how often solves are refined. Waits.
  /// @param facts  with the report of the solver
  void judge(const Exec &exec, const Solver &solver, LineFacts *facts)
  {
    FactorReport &report = facts->report;
    facts->rounded       = true;
    if (facts->below_range >= 0) {
      report.status = FactorStatus::unsound;
      report.line = facts->below_range / matrices_.rows(), report.row = facts->below_range % matrices_.rows();
      return;
    }
    if (!report.ok() || !refines_) return;
    steps_             = count_steps(exec, solver, false);
    facts->refinements = steps_;
    if (steps_ < 0) report.status = FactorStatus::unsound, report.row = -1;
  }

  /// Finds how often transposed solves are refined. False: refinement stagnates. Waits.
  bool judge_transposed(const Exec &exec, const Solver &transposed)
  {
    if (refines_) transposed_steps_ = count_steps(exec, transposed, true);
    return transposed_steps_ >= 0;
  }

  /// Solves and refines. b == x is allowed. Allocates only if there are more right-hand sides than before.
  void solve(const Exec &exec, const Solver &solver, bool transposed, const Scalar *b, const LineSet &in,
             Scalar *x, const LineSet &out)
  {
    const int steps = !refines_ || !refined_now_ ? 0 : transposed ? transposed_steps_ : steps_;
    if (steps <= 0) solve_short(exec, solver, b, in, x, out);
    else refine(exec, solver, transposed, steps, b, in, x, out);
  }

private:
  /// x = S b through a buffer of Number.
  void solve_short(const Exec &exec, const Solver &solver, const Scalar *b, const LineSet &in, Scalar *x,
                   const LineSet &out)
  {
    const LineSet within = inner(in);
    const auto    n      = static_cast<std::size_t>(within.unknowns()),
               lines     = static_cast<std::size_t>(within.lines());
    if (rounded_.extent(0) < n)
      rounded_ =
        allocate<Kokkos::View<Number *, Memory>>(exec, "ribbon::rounded", n); // more columns than before
    if (size_.extent(0) < lines) size_ = allocate<Buffer>(exec, "ribbon::size", lines);
    line_maxima(exec, in, b, size_.data());
    narrow_lines(exec, in, b, size_.data(), within, rounded_.data());
    solver.solve(exec, rounded_.data(), within, rounded_.data(), within);
    widen_lines(exec, within, rounded_.data(), size_.data(), alpha_, out, x);
  }

  /// x = S b, then `steps` times x += S (b - A x), with residuals in Scalar. b == x is allowed, because x
  /// is written last.
  void refine(const Exec &exec, const Solver &solver, bool transposed, int steps, const Scalar *b,
              const LineSet &in, Scalar *x, const LineSet &out)
  {
    const LineSet within = inner(in);
    const auto    n      = static_cast<std::size_t>(within.unknowns());
    for (Buffer *buffer : {&solution_, &residual_})
      if (buffer->extent(0) < n) *buffer = allocate<Buffer>(exec, "ribbon::refined", n);
    solve_short(exec, solver, b, in, solution_.data(), within);
    for (int k = 1; k <= steps; ++k) {
      correct(exec, solver, transposed, in, b, within);
      const bool last = k == steps;
      sum_lines(exec, within, solution_.data(), residual_.data(), last ? out : within,
                last ? x : solution_.data());
    }
  }

  /// residual_ = S (b - A solution_).
  void correct(const Exec &exec, const Solver &solver, bool transposed, const LineSet &in, const Scalar *b,
               const LineSet &within)
  {
    short_residual(exec, matrices_, lines_.lines(), alpha_, transposed, in, b, within, solution_.data(),
                   residual_.data());
    solve_short(exec, solver, residual_.data(), within, residual_.data(), within);
  }

  /// b = noise. For singular lines b = -A noise, which is consistent; this overwrites solution_.
  void fill_probe(const Exec &exec, const Solver &solver, bool transposed, const LineSet &within,
                  const Buffer &b)
  {
    const bool singular = solver.report().singular_lines > 0;
    fill_with_noise(exec, within.unknowns(), singular ? solution_.data() : b.data());
    if (singular)
      short_residual(exec, matrices_, lines_.lines(), alpha_, transposed, within,
                     static_cast<const Scalar *>(nullptr), within, solution_.data(), b.data());
  }

  /// Number of steps to roundoff, estimated from the convergence rate for a random b; -1 if refinement
  /// stagnates. Allocates the buffers of solve(). Waits.
  int count_steps(const Exec &exec, const Solver &solver, bool transposed)
  {
    constexpr double eps    = std::numeric_limits<double>::epsilon();
    const LineSet    within = inner(lines_);
    const auto       n      = static_cast<std::size_t>(within.unknowns()),
               lines        = static_cast<std::size_t>(within.lines());
    if (n == 0) return 0;
    LineStates<double, Memory> found{Kokkos::View<double *, Memory>("ribbon::largest", lines),
                                     Kokkos::View<double *, Memory>("ribbon::scale", lines),
                                     Kokkos::View<int *, Memory>("ribbon::closed", lines)};
    const auto                 b = allocate<Buffer>(exec, "ribbon::probe", n);
    solution_                    = allocate<Buffer>(exec, "ribbon::refined", n),
    residual_                    = allocate<Buffer>(exec, "ribbon::refined", n);
    fill_probe(exec, solver, transposed, within, b);
    solve_short(exec, solver, b.data(), within, solution_.data(), within);
    line_maxima(exec, within, solution_.data(), found.scale.data());
    double before = 1; // largest correction of the last step, relative to the solution of its line
    int    k      = 1;
    for (; k <= most && before > 2 * eps; ++k) {
      correct(exec, solver, transposed, within, b.data(), within);
      line_maxima(exec, within, residual_.data(), found.largest.data());
      const double now = ribbon::judge(exec, found, 1.0, 0.0, 1);
      if (!(now <= before / 2)) break; // rounding, or no convergence
      sum_lines(exec, within, solution_.data(), residual_.data(), within, solution_.data());
      before = now;
    }
    return steps_to_roundoff(before, k - 1);
  }

  /// Steps to roundoff after `taken` steps reduced the correction to `last`; -1 if refinement stagnates.
  static int steps_to_roundoff(double last, int taken)
  {
    constexpr double eps = std::numeric_limits<double>::epsilon();
    if (last > 1e-6) return -1;
    if (taken == 1) return 0; // the matrix is exact in Number
    const double average = std::pow(std::max(last, 0.1 * eps), 1.0 / taken);
    const double rate    = std::min(2 * average, std::sqrt(average)); // other right-hand sides may be worse
    const double steps   = std::ceil(std::log(std::max(last, eps)) / std::log(rate));
    return std::min(most, std::max(1, static_cast<int>(steps) - 1));
  }

  static constexpr int most = 60; ///< steps

  LineSet                        lines_;
  Bands<Number, Memory>          matrices_;
  Scalar                         alpha_ = 1;
  Kokkos::View<Number *, Memory> rounded_;             ///< right-hand sides, then solutions
  Buffer                         size_;                ///< largest entry of each right-hand side
  Buffer                         solution_, residual_; ///< of refined solves
  bool                           refines_, refined_now_ = true;
  int                            steps_ = 0, transposed_steps_ = 0;
};

} // namespace ribbon::petsc
