// SPDX-License-Identifier: BSD-2-Clause
/// @file units.hpp  Factors lines whose unknowns may be in different units: scales columns if necessary,
///   and removes scales that make a solve worse.
#pragma once

#include "factored_lines.hpp"
#include "policy.hpp"

#include <numeric>

namespace ribbon::detail {

template <class Scalar, class Exec>
class FactorInUnits {
  using Of      = Problem<Scalar, Exec>;
  using By      = Judge<Scalar, Exec>;
  using Input   = typename Of::Input;
  using Classes = typename Of::Classes;
  using Real    = real_t<Scalar>;

  /// spread of units above which the error is judged row by row
  static constexpr double apart = 1 << 20;
  /// ratio of the sizes of rows above which their unknowns may have different units
  static constexpr double rows_apart = 16;

public:
  /// @param given  the matrices in the given units
  /// @param singular  lines are singular (zero mean): Solver::probe_zero_mean() judges them
  FactorInUnits(Of &problem, FactoredLines<Scalar, Exec> &lines, const Input &given, bool singular)
      : problem_(problem), lines_(lines), given_(given), singular_(singular)
  {
  }

  /// Factors. If the solve is inaccurate or a matrix is rejected, factors again, without or with scales.
  void factor()
  {
    const Input unscaled = problem_.bands;
    const bool  alike    = problem_.dominance.theta <= 1; // no column needs a scale
    if (!problem_.choices.continued && !alike)            // columns of neighbours are not available
      scale([&](Input &bands) {
        return ColumnScale<Scalar, Exec>(problem_.exec, bands, takes_any_matrix(),
                                         problem_.asks_for(Algorithm::pivoted));
      });
    try_candidates();
    const bool scaled = !lines_.scale.empty(),
               right  = !(scaled || mixes_units()) || take_units() || solve_whole_lines();
    if (right && !units_may_help()) return;
    if (!report().ok()) find_failed();
    const auto before         = lines_;
    const auto before_problem = problem_;
    auto       which          = lines_.failed;
    if (which.size() == 0) {
      which = flags(lines_.given_matrices);
      Kokkos::deep_copy(problem_.exec, which, 1);
    }
    problem_.set_bands(unscaled);
    lines_.selection.factored.reset();
    lines_.scale = ColumnScale<Scalar, Exec>(), lines_.refinement = UnitRefinement<Scalar, Exec>(),
    lines_.failed = Classes();
    if (!scaled) scale([&](Input &bands) { return ColumnScale<Scalar, Exec>(problem_.exec, bands, which); });
    try_candidates();
    if (!right) return;
    bool taken = scaled || take_units() || solve_whole_lines();
    if (!report().ok()) find_failed();
    taken = taken && failures() < failures_of(before) &&
            !(report().rcond <= 100 * static_cast<double>(problem_.entry_eps()));
    if (!taken) lines_ = before, problem_ = before_problem;
  }

  /// Finds the matrices that failed.
  void find_failed()
  {
    FactorReport &r = report();
    if (!lines_.solves_some()) return;
    auto                 bad = flags(problem_.matrices);
    ProbeOptions<Scalar> options;
    options.bad = bad.data(), options.most_error = lines_.selection.limit,
    options.least_rcond = 100 * problem_.entry_eps();
    By(problem_, lines_.selection).probe_factors(options);
    const auto on_host = [](const Classes &view) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    };
    std::vector<int> found(static_cast<std::size_t>(lines_.given_matrices), 0);
    const auto       before = on_host(lines_.failed); // of singular lines
    for (std::size_t c = 0; c < before.extent(0); ++c) found[c] = before(c);
    const auto host = on_host(bad), classes = on_host(lines_.given_class);
    // partition stores one matrix per line
    const bool by_line = lines_.given_class.size() > 0 && problem_.class_of_line.size() == 0;
    for (std::size_t c = 0; c < host.extent(0); ++c)
      if (host(c)) found[by_line ? static_cast<std::size_t>(classes(c)) : c] = 1;
    if (r.line >= 0) found[static_cast<std::size_t>(r.line)] = 1;
    for (std::size_t c = 0; c < found.size(); ++c)
      if (found[c]) r.failed.push_back(static_cast<std::int64_t>(c));
    lines_.failed = upload(problem_.exec, "ribbon::failed", found);
  }

private:
  FactorReport &report() { return lines_.selection.report; }
  Classes       flags(std::int64_t count) const
  {
    return allocate_zeros<Classes>(problem_.exec, "ribbon::failed", static_cast<std::size_t>(count));
  }

  /// Replaces the bands by those that make(bands) scales.
  template <class Make>
  void scale(const Make &make)
  {
    Input bands  = problem_.bands;
    lines_.scale = make(bands);
    if (!lines_.scale.empty()) problem_.set_bands(bands);
  }
  void try_candidates()
  {
    Policy<Scalar, Exec>(problem_, lines_.selection).factor();
    lines_.class_of_line = problem_.class_of_line, lines_.matrices = problem_.matrices;
  }

  /// `auto` chose orthogonal elimination. It is inaccurate for unknowns in units that column scales do not
  /// show; the rows of such a matrix differ in size.
  bool mixes_units()
  {
    if (!problem_.automatic() || !report().ok() || !lines_.selection.factored->orthogonal ||
        problem_.one_per_line())
      return false;
    for (const auto &A : problem_.on_host()) {
      double low = std::numeric_limits<double>::infinity(), high = 0;
      for (int i = 0; i < A.rows; ++i) {
        const auto size = static_cast<double>(A.row_max(i));
        if (size > 0) low = std::min(low, size), high = std::max(high, size);
      }
      if (high > rows_apart * low) return true;
    }
    return false;
  }
  /// In a chunk, unknowns that are small relative to others stay inaccurate after any refinement. Whole lines
  /// mix only neighbours. False: whole lines are inaccurate, too.
  bool solve_whole_lines()
  {
    auto &selection = lines_.selection;
    if (!(problem_.automatic() || problem_.asks_for(Algorithm::pivoted)) ||
        selection.factored->is_pivoted_whole())
      return false;
    selection.failure  = selection.factored->name + " is inaccurate in the units that were given";
    problem_.one_chunk = true;
    selection.factored.reset(), lines_.refinement = UnitRefinement<Scalar, Exec>();
    try_candidates();
    problem_.one_chunk = false;
    return report().ok() && take_units();
  }
  /// How many matrices failed.
  static std::size_t failures_of(const FactoredLines<Scalar, Exec> &lines)
  {
    const FactorReport &r = lines.report();
    return r.ok() ? 0 : r.failed.empty() ? std::numeric_limits<std::size_t>::max() : r.failed.size();
  }
  std::size_t failures() const { return failures_of(lines_); }
  /// Whether the algorithm accepts any matrix; others would raise an error for a scaled one.
  bool takes_any_matrix() const
  {
    const Algorithm asked = problem_.choices.algorithm;
    return problem_.automatic() || asked == Algorithm::thomas || asked == Algorithm::one_pass ||
           asked == Algorithm::pivoted;
  }
  /// Whether a rejected matrix may have unknowns in different units.
  bool units_may_help()
  {
    const FactorReport &r = report();
    return takes_any_matrix() && !r.ok() && r.status != FactorStatus::not_finite &&
           !problem_.choices.continued && lines_.selection.factored &&
           problem_.choices.probe != Probing::never;
  }

  /// Solves with the given matrices and measures the errors.
  ProbeResult<Scalar> probe_given(ProbeOptions<Scalar> options)
  {
    options.batch = true, options.class_of_line = lines_.given_class.data();
    const auto solve = [&](Scalar *x, const LineSet &set) { lines_.solve(problem_.exec, x, set, x, set, 0); };
    return probe<Scalar, Exec>(problem_.exec, given_, problem_.lines, problem_.lines.lines(), solve, options);
  }

  /// Judges the factors in the given units, and adds refinement if needed. False:
  /// solves are inaccurate there.
  bool take_units()
  {
    FactorReport &r = report();
    if (!std::isnan(r.log_abs_det)) r.log_abs_det -= lines_.scale.log_det();
    if (singular_ || problem_.choices.probe == Probing::never || (!r.ok() && !lines_.solves_some()))
      return true;
    if (r.ok()) return probe_given_units();
    lines_.refinement = UnitRefinement<Scalar, Exec>(problem_.exec, given_); // of the lines that did not fail
    auto                 bad = flags(lines_.given_matrices);
    ProbeOptions<Scalar> options;
    options.bad = bad.data(), options.most_error = lines_.selection.limit, options.least_rcond = -1;
    probe_given(options);
    lines_.failed = bad;
    return true;
  }

  /// The probe judged solves with scales in scaled units, and orthogonal elimination in the given units. In
  /// other units, and for small unknowns, refinement may be needed. False: refinement does not help.
  bool probe_given_units()
  {
    FactorReport        &r = report();
    ProbeOptions<Scalar> options;
    const auto           error = [&](bool componentwise) {
      options.componentwise = componentwise;
      return probe_given(options).error;
    };
    if (error(false) <= By::sound) {
      // the scales are small: accurate in both units
      if (!lines_.scale.empty() && lines_.scale.spread() <= apart) return true;
      if (error(true) <= By::sound) return true;
    }
    lines_.refinement = UnitRefinement<Scalar, Exec>(problem_.exec, given_);
    for (int steps : UnitRefinement<Scalar, Exec>::most_steps) {
      lines_.refinement.set_steps(steps);
      if (error(true) <= By::sound) break;
    }
    const Real left = error(false);
    r.probe_error   = std::max(r.probe_error, static_cast<double>(left));
    return left <= lines_.selection.limit;
  }

  Of                          &problem_;
  FactoredLines<Scalar, Exec> &lines_;
  const Input                 &given_;
  bool                         singular_;
};

} // namespace ribbon::detail
