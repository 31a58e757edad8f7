// SPDX-License-Identifier: BSD-2-Clause
/// @file judge.hpp  Factors by one candidate, and decides whether its solves are accurate: by the bounds of
///   the elimination (certificate.hpp), else by test solves (probe.hpp).
#pragma once

#include "candidates.hpp"

#include <ribbon/probe/probe.hpp>

#include <cstdio>
#include <numeric>

namespace ribbon::detail {

/// The last factors and their report.
template <class Scalar, class Exec>
struct Selection {
  std::shared_ptr<Factored<Scalar, Exec>> factored; ///< empty: there are no factors
  FactorReport                            report;
  std::string                             failure; ///< of the last candidate that failed
  /// largest accepted backward error of the last candidate
  real_t<Scalar> limit = 0;
  Pivots         pivots; ///< of the last candidate

  bool ok() const { return report.ok(); }
};

template <class Scalar, class Exec>
class Judge {
  using Of     = Problem<Scalar, Exec>;
  using Real   = real_t<Scalar>;
  using Memory = typename Exec::memory_space;

public:
  static constexpr Real sound = 45 * Of::eps; ///< backward errors up to this need no more test solves
  /// largest backward error that the last candidate may have
  static constexpr Real most_unsound = 450 * Of::eps;

  Judge(const Of &problem, Selection<Scalar, Exec> &selection) : problem_(problem), selection_(selection) { }

  /// Factors by a candidate. True: the judge accepts it. Otherwise the selection holds the reason.
  bool attempt(const Candidate<Scalar, Exec> &candidate, Real limit, const std::string &reason)
  {
    Pivots      pivots;
    std::string why   = candidate.refusal(problem_);
    auto        made  = why.empty() ? candidate.make(problem_, pivots, why) : nullptr;
    selection_.pivots = pivots;
    if (!made) return selection_.failure = why, false;
    selection_.factored = std::move(made), selection_.limit = limit;
    take(pivots, candidate.algorithm, reason);
    if (!selection_.ok()) return refuse_pivots(pivots);
    if (is_certified()) return true;
    FactorReport &r = selection_.report;
    if (problem_.choices.probe == Probing::never) {
      r.probe_error = r.rcond = std::nan("");
      return true;
    }
    return solves_accurately(pivots);
  }

  /// Factors by a candidate whose factors are used only with a certificate. False: no factors are kept.
  bool attempt_certified(const Candidate<Scalar, Exec> &candidate, const std::string &reason)
  {
    Pivots      pivots;
    std::string why     = candidate.refusal(problem_);
    selection_.factored = why.empty() ? candidate.make(problem_, pivots, why) : nullptr;
    if (!selection_.factored) return false;
    take(pivots, candidate.algorithm, reason);
    if (is_certified()) return true;
    selection_.factored.reset();
    return false;
  }

  /// Writes a report of the pivots.
  void take(const Pivots &pivots, Algorithm used, const std::string &reason)
  {
    FactorReport &r = selection_.report;
    r               = FactorReport();
    r.algorithm = selection_.factored->name, r.used = used, r.reason = reason;
    r.growth = pivots.growth, r.log_abs_det = pivots.log_abs_det, r.det_sign = pivots.det_sign;
    r.smallest_pivot = pivots.not_finite ? 0 : pivots.smallest;
    r.line = pivots.line, r.row = pivots.row;
    r.status = pivots.not_finite                                            ? FactorStatus::not_finite
               : pivots.singular || pivots.smallest <= problem_.tolerance() ? FactorStatus::zero_pivot
                                                                            : FactorStatus::ok;
  }

  /// Whether the elimination proved that every matrix is regular and every solve accurate. If so, the
  /// report holds the bounds.
  bool is_certified()
  {
    FactorReport      &r = selection_.report;
    const Certificate &c = selection_.factored->certificate;
    if (problem_.choices.probe == Probing::always || !r.ok() || !(c.rcond > problem_.tolerance()))
      return false;
    r.probe_error = c.error * static_cast<double>(Of::eps), r.rcond = c.rcond, r.rcond_line = c.line;
    return true;
  }

  /// Solves with the factors and measures the errors.
  ProbeResult<Scalar> probe_factors(const ProbeOptions<Scalar> &options = {}) const
  {
    const std::int64_t          matrices = problem_.matrices;
    const bool                  own      = problem_.one_per_line();
    Kokkos::View<int *, Memory> each;
    if (!own && matrices > 1) {
      std::vector<int> numbers(static_cast<std::size_t>(matrices));
      std::iota(numbers.begin(), numbers.end(), 0);
      each = upload(problem_.exec, "ribbon::probe::matrix", numbers);
    }
    const auto solve = [&](Scalar *x, const LineSet &set) {
      selection_.factored->solve(problem_.exec, x, set, x, set, each.size() ? each.data() : nullptr,
                                 matrices);
    };
    // some algorithms solve only multiples of `group` lines
    const std::int64_t group = selection_.factored->lines, kinds = fits_six_times() ? probe_kinds : 1;
    const bool         all_at_once = is_device_space<Exec> && fits_six_times();
    const std::int64_t lines       = own     ? matrices * (all_at_once ? probe_kinds : 1)
                                     : group ? (probe_kinds + group - 1) / group * group
                                             : matrices * kinds;
    return probe<Scalar, Exec>(problem_.exec, problem_.bands, problem_.lines, lines, solve, options);
  }

private:
  bool refuse_pivots(const Pivots &pivots)
  {
    FactorReport &r = selection_.report;
    r.probe_error = r.rcond = std::nan(""); // nothing was solved
    if (!std::isnan(r.log_abs_det) && (pivots.not_finite || pivots.smallest == 0))
      r.log_abs_det = pivots.not_finite ? std::nan("") : -std::numeric_limits<double>::infinity();
    if (pivots.not_finite && !std::isnan(r.det_sign.real())) r.det_sign = std::nan("");
    const char *met    = pivots.not_finite ? " met a pivot that is not finite" : " met a zero pivot";
    selection_.failure = selection_.factored->name + met + " in row " + std::to_string(r.row);
    return false;
  }

  bool solves_accurately(const Pivots &pivots)
  {
    FactorReport &r        = selection_.report;
    auto         &factored = *selection_.factored;
    const Real    limit = selection_.limit, first = try_probe();
    bool          passed = first <= limit;
    if (!passed && factored.refine()) {
      r.algorithm = factored.name, r.corrected = true;
      passed = try_probe() <= limit;
      // a large first error of orthogonal elimination means that the reduced system is nearly singular, and a
      // correction hides that: accept only if rcond is much larger than the first error
      if (factored.orthogonal) passed = passed && r.rcond >= 1e6 * static_cast<double>(first);
    }
    // a singular matrix need not have a small pivot: an accurate solve with a growth of 1 / eps proves
    // singularity, an inaccurate one needs a small pivot as well
    const double few   = static_cast<double>(std::min<std::int64_t>(10, problem_.unknowns));
    const bool   grows = r.rcond <= few * static_cast<double>(Of::eps);
    if (grows && (passed || pivots.smallest <= std::sqrt(static_cast<double>(Of::eps)))) {
      r.status = FactorStatus::zero_pivot, r.line = r.rcond_line,
      r.row              = pivots.line == r.rcond_line ? pivots.row : -1;
      selection_.failure = factored.name + " found a singular matrix";
      return false;
    }
    if (passed) return true;
    r.status = FactorStatus::unsound;
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", r.probe_error);
    selection_.failure = "the probe found " + factored.name + " unsound (backward error " + text + ")";
    return false;
  }

  /// The largest backward error of test solves.
  Real try_probe()
  {
    constexpr int more  = 8;
    auto          found = probe_factors();
    FactorReport &r     = selection_.report;
    // the error of an inaccurate algorithm depends on the right-hand side; with an inverted reduced system
    // few right-hand sides show the error
    const Real           enough = selection_.factored->inverts_reduced_system() ? 5 * Of::eps : sound;
    ProbeOptions<Scalar> options;
    while (found.error > enough && found.error <= selection_.limit && options.round < more) {
      ++options.round;
      const auto again = probe_factors(options);
      if (again.error > found.error) found.error = again.error, found.matrix = again.matrix;
    }
    r.probe_error = static_cast<double>(found.error), r.rcond = static_cast<double>(found.rcond),
    r.rcond_line = found.rcond_matrix;
    if (found.error > selection_.limit) r.line = found.matrix, r.row = -1;
    return found.error;
  }

  /// Whether six right-hand sides per matrix need at most the memory of the right-hand sides of all lines,
  /// or at most 64 MiB.
  bool fits_six_times() const
  {
    const std::int64_t right_hand_sides = problem_.matrices * probe_kinds;
    const std::int64_t bytes =
      right_hand_sides * problem_.unknowns * static_cast<std::int64_t>(sizeof(Scalar));
    return right_hand_sides <= problem_.lines.lines() || bytes <= (std::int64_t(1) << 26);
  }

  const Of                &problem_;
  Selection<Scalar, Exec> &selection_;
};

} // namespace ribbon::detail
