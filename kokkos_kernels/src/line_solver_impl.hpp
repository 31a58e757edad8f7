// SPDX-License-Identifier: BSD-2-Clause
/// @file line_solver_impl.hpp  Implementation of LineSolver; included by the files that instantiate it.
///
/// problem.hpp defines the lines and their matrices, candidates.hpp the algorithms, and policy.hpp their
/// order. judge.hpp decides whether an algorithm is accurate. units.hpp handles scales and refinement for
/// unknowns in different units.
#pragma once

#include "units.hpp"

#include <ribbon/matrix/forget_failed.hpp>
#include <ribbon/probe/zero_mean.hpp>

namespace ribbon::detail {

template <class Scalar, class Exec>
class Solver final : public LineSolver<Scalar, Exec>::Implementation {
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

public:
  Solver(const Exec &exec, const LineSet &lines, const Input &bands, const LineSolverOptions &options,
         const SolverChoices &choices)
      : options_(options), choices_(choices), factored_as_(bands.lhs)
  {
    make(exec, lines, bands);
  }

  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const KnownRows<Scalar> &known, std::int64_t first) const override
  {
    if (lines_.solves_some()) {
      if (choices_.continued)
        lines_.selection.factored->solve_between(exec, b, in, x, out, lines_.classes(first),
                                                 lines_.classified, known);
      else if (zero_mean_.projects()) {
        LineSet    at;
        const auto consistent = zero_mean_.consistent(exec, b, in, &at);
        lines_.solve(exec, consistent, at, x, out, first);
      } else lines_.solve(exec, b, in, x, out, first);
      zero_mean_.apply(exec, x, out);
    }
    if (!this->report.ok()) forget_failed(exec, x, out, lines_.failed, lines_.given(first));
  }

  bool refactor(const Exec &exec, const LineSet &lines, const Input &bands) override
  {
    auto &factored = lines_.selection.factored;
    if (!this->report.ok() || !factored || bands.lhs != factored_as_) return false;
    if (factored->certificate.rcond > 0) return refactor_certified(exec, bands);
    const auto again    = std::move(factored);
    this->report.status = FactorStatus::unsound; // until there are new factors
    lines_ = FactoredLines<Scalar, Exec>(), zero_mean_ = ZeroMean<Scalar, Exec>();
    make(exec, lines, bands, again);
    return this->report.ok();
  }

  std::shared_ptr<typename LineSolver<Scalar, Exec>::Implementation>
  independent(const Exec &exec) const override
  {
    auto own = lines_.selection.factored ? lines_.selection.factored->independent(exec) : nullptr;
    if (!own && lines_.refinement.empty() && !zero_mean_.projects()) return nullptr;
    auto other = std::make_shared<Solver>(*this);
    if (own) other->lines_.selection.factored = std::move(own);
    other->lines_.refinement.own_workspace(), other->zero_mean_.own_workspace();
    return other;
  }

  bool solve_with(const Exec &exec, const Input &bands, const Scalar *b, const LineSet &in, Scalar *x,
                  const LineSet &out) const override
  {
    const auto &factored = lines_.selection.factored;
    return factored && zero_mean_.empty() && factored->solve_with(exec, bands, b, in, x, out);
  }

  bool fuse(const Exec &exec, const Input &B, std::string &why) override
  {
    return is_plain(why) && lines_.selection.factored->fuse(exec, B, why);
  }
  bool tables(OnePassTables<Scalar, Memory> &to, std::string &why) const override
  {
    return is_plain(why) && lines_.selection.factored->tables(to, why);
  }
  void apply(const Exec &exec, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out,
             const OperatorTerms<Scalar> &terms) const override
  {
    lines_.selection.factored->apply(exec, u, in, y, out, lines_.classes(0), lines_.classified, terms);
  }

  double inconsistency(const Exec &exec) const override { return zero_mean_.inconsistency(exec); }
  bool   joins() const override { return lines_.selection.factored && lines_.selection.factored->joins(); }

private:
  /// Whether a solve consists of the kernel of an algorithm alone.
  bool is_plain(std::string &why) const
  {
    if (!this->report.ok() || !lines_.selection.factored) why = "A was not factored";
    else if (!zero_mean_.empty()) why = "singular lines are solved with zero mean";
    else if (!lines_.scale.empty() || !lines_.refinement.empty())
      why = "the unknowns of A have several units";
    else return true;
    return false;
  }
  static typename Input::classes_type copy_of(const Exec &exec, const typename Input::classes_type &classes)
  {
    typename Input::classes_type own;
    if (classes.size() == 0) return own;
    own = allocate<typename Input::classes_type>(exec, "ribbon::class_of_line", classes.extent(0));
    Kokkos::deep_copy(exec, own, classes);
    return own;
  }

  /// Factors, if possible in the memory of `again`, the factors of matrices of the same extents.
  void make(const Exec &exec, const LineSet &lines, const Input &bands, Made<Scalar, Exec> again = nullptr)
  {
    Problem<Scalar, Exec> problem;
    problem.exec = exec, problem.lines = lines, problem.options = options_;
    problem.choices = choices_;
    problem.again   = std::move(again);
    Input given     = bands;
    if (bands.lhs == Lhs::classes) given.class_of_line = copy_of(exec, bands.class_of_line);
    problem.set_bands(given);
    lines_.given_class = problem.class_of_line, lines_.given_matrices = problem.matrices,
    lines_.classified = lines.lines();
    if (lines.unknowns() == 0) {
      this->report.reason = "no unknowns";
      return;
    }
    problem.unknowns = lines.rows * bands.block, problem.reach = std::max(1, bands.half_bandwidth());
    factor(problem, given);
    this->report = lines_.report();
  }

  /// Factors in the memory of certified factors. False: the new factors are not certified.
  bool refactor_certified(const Exec &exec, const Input &bands)
  {
    if (!lines_.scale.empty() || !zero_mean_.empty()) return false;
    Problem<Scalar, Exec> problem;
    problem.options = options_, problem.choices = choices_;
    DevicePivot found{problem.tolerance()};
    if (!lines_.selection.factored->refactor(exec, bands, found)) return false;
    Judge<Scalar, Exec> judge(problem, lines_.selection);
    judge.take(Candidates<Scalar, Exec>::placed(found), this->report.used, this->report.reason);
    const bool certified = judge.is_certified();
    if (!certified) lines_.selection.report.status = FactorStatus::unsound; // these factors were not probed
    lines_.selection.report.bytes = this->report.bytes;
    this->report                  = lines_.report();
    return certified;
  }

  void factor(Problem<Scalar, Exec> &problem, const Input &given)
  {
    auto &selection = lines_.selection;
    if (choices_.singular == Singular::zero_mean) {
      auto bands = problem.bands;
      zero_mean_ = ZeroMean<Scalar, Exec>(problem.exec, problem.lines, bands, problem.entry_eps());
      problem.set_bands(bands);
    }
    FactorReport &r = selection.report;
    if (zero_mean_.empty() && Policy<Scalar, Exec>(problem, selection).factor_certified()) {
      lines_.class_of_line = problem.class_of_line, lines_.matrices = problem.matrices;
      r.bytes = selection.factored->bytes;
      return;
    }
    FactorInUnits<Scalar, Exec> in_units(problem, lines_, given, !zero_mean_.empty());
    in_units.factor();
    if (r.ok() && !zero_mean_.empty()) probe_zero_mean(problem, given);
    if (!r.ok() && r.failed.empty()) in_units.find_failed();
    if (selection.factored)
      r.bytes = selection.factored->bytes + lines_.class_of_line.size() * sizeof(int) + zero_mean_.bytes() +
                lines_.scale.bytes() + lines_.refinement.bytes();
    r.singular_lines = zero_mean_.singular_lines();
  }

  /// Probes the public solve of singular lines, with right-hand sides in the range of the given matrices.
  void probe_zero_mean(const Problem<Scalar, Exec> &problem, const Input &given)
  {
    const Exec           exec = problem.exec;
    FactorReport        &r    = lines_.selection.report;
    auto                 bad  = allocate_zeros<typename Input::classes_type>(exec, "ribbon::failed",
                                                            static_cast<std::size_t>(lines_.given_matrices));
    ProbeOptions<Scalar> options;
    options.batch = true, options.class_of_line = lines_.given_class.data();
    // in single precision rows sum to zero only up to the roundoff of float
    options.bad = bad.data(), options.most_error = 450 * problem.entry_eps(), options.least_rcond = -1;
    this->report     = r; // solve() reads the report
    const auto found = probe<Scalar, Exec>(
      exec, given, problem.lines, problem.lines.lines(),
      [&](Scalar *x, const LineSet &set) { solve(exec, x, set, x, set, {}, 0); }, options);
    zero_mean_.inconsistency(exec); // resets the value of the probe
    r.probe_error = std::max(r.probe_error, static_cast<double>(found.error));
    if (found.error <= options.most_error) return;
    r.status = FactorStatus::unsound, r.line = found.matrix, r.row = -1;
    lines_.failed = bad;
  }

  LineSolverOptions           options_;
  SolverChoices               choices_;
  Lhs                         factored_as_;
  FactoredLines<Scalar, Exec> lines_;
  ZeroMean<Scalar, Exec>      zero_mean_;
};

} // namespace ribbon::detail
