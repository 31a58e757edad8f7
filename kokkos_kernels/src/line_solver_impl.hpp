// SPDX-License-Identifier: BSD-2-Clause
/// @file line_solver_impl.hpp  Chooses, factors and judges the algorithm of a LineSolver; included by the files that instantiate it.
#pragma once

#include "algorithms.hpp"
#include "all_rows.hpp"
#include "cyclic_reductions.hpp"
#include "host_matrices.hpp"
#include "in_flight.hpp"
#include "looped_and_partition.hpp"
#include "measured_choice.hpp"
#include "unit_refinement.hpp"

#include <ribbon/matrix/column_scale.hpp>
#include <ribbon/matrix/forget_failed.hpp>
#include <ribbon/probe/probe.hpp>
#include <ribbon/probe/zero_mean.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

namespace ribbon::detail {

template <class Scalar, class Exec>
class Solver final : public LineSolver<Scalar, Exec>::Implementation {
  using Real   = real_t<Scalar>;
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

public:
  Solver(const Exec &exec, const LineSet &lines, const Input &bands, const LineSolverOptions &options)
      : exec_(exec), lines_(lines), bands_(bands), options_(options), matrices_(bands.matrices()), classified_(lines.lines()), class_of_line_(own_classes(exec, bands)), given_class_(class_of_line_)
  {
    if (bands.lhs == Lhs::classes) bands_.class_of_line = class_of_line_;
    if (lines.unknowns() == 0) {
      this->report.reason = "no unknowns";
      return;
    }
    unknowns_ = lines.rows * bands.block;
    reach_    = std::max(1, bands.half_bandwidth());
    if (bands.half_bandwidth() == 0) bands_.periodic = false;
    const Input given = bands_;
    if (options.singular == "zero_mean") zero_mean_ = ZeroMean<Scalar, Exec>(exec, lines, bands_, entry_eps());
    if (factor_certified()) {
      bands_ = Input();
      return;
    }
    FactorReport &r = this->report;
    factor_in_units(given);
    if (r.ok() && !zero_mean_.empty()) probe_zero_mean(given);
    if (!r.ok() && r.failed.empty()) find_failed();
    if (algorithm_) r.bytes = algorithm_->bytes + class_of_line_.size() * sizeof(int) + zero_mean_.bytes() + scale_.bytes() + refinement_.bytes();
    r.singular_lines = zero_mean_.singular_lines();
    bands_           = Input(); // factored: nothing of the input is kept
  }

  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, const KnownRows<Scalar> &known, std::int64_t first) const override
  {
    if (solves_some()) {
      if (options_.continued) algorithm_->solve_between(exec, b, in, x, out, classes(first), classified_, known);
      else if (zero_mean_.projects()) {
        LineSet    at;
        const auto consistent = zero_mean_.consistent(exec, b, in, &at);
        solve_refined(exec, consistent, at, x, out, first);
      } else solve_refined(exec, b, in, x, out, first);
      zero_mean_.apply(exec, x, out);
    }
    if (!this->report.ok()) forget_failed(exec, x, out, failed_, given(first));
  }

  bool refactor(const Exec &exec, const Input &bands) override
  {
    const bool as_before = this->report.ok() && algorithm_ && algorithm_->certificate.rcond > 0 && scale_.empty() && zero_mean_.empty();
    if (!as_before || bands.lhs != factored_as_) return false;
    DevicePivot found{tolerance()};
    if (!algorithm_->refactor(exec, bands, found)) return false;
    const std::size_t bytes = this->report.bytes;
    take(placed(found), this->report.reason);
    this->report.bytes = bytes;
    if (certified()) return true;
    this->report.status = FactorStatus::unsound; // nobody judged these factors
    return false;
  }

  std::shared_ptr<typename LineSolver<Scalar, Exec>::Implementation> independent(const Exec &exec) const override
  {
    auto own = algorithm_ ? algorithm_->independent(exec) : nullptr;
    if (!own && refinement_.empty() && !zero_mean_.projects()) return nullptr;
    auto other = std::make_shared<Solver>(*this);
    if (own) other->algorithm_ = std::move(own);
    other->refinement_.own_workspace(), other->zero_mean_.own_workspace();
    return other;
  }

  bool solve_with(const Exec &exec, const Input &bands, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const override
  {
    Input taken    = bands;
    taken.periodic = bands.periodic && bands.half_bandwidth() > 0;
    return algorithm_ && zero_mean_.empty() && algorithm_->solve_with(exec, taken, b, in, x, out);
  }

  double inconsistency(const Exec &exec) const override { return zero_mean_.inconsistency(exec); }
  bool   joins() const override { return algorithm_ && algorithm_->joins(); }

private:
  const int *classes(std::int64_t first) const { return class_of_line_.size() ? class_of_line_.data() + first : nullptr; }
  /// Lines that have the matrices from that of line `first` on, in the units of their unknowns.
  void solve_once(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, std::int64_t first) const
  {
    if (first > 0 && !classes(first) && matrices_ > 1) algorithm_->solve_lines(exec, first, b, in, x, out);
    else algorithm_->solve(exec, b, in, x, out, classes(first), classified_);
    scale_.apply(exec, x, out, given(first));
  }
  void solve_refined(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, std::int64_t first) const
  {
    if (refinement_.empty()) return solve_once(exec, b, in, x, out, first);
    refinement_.solve(exec, b, in, x, out, given(first), [&](const Scalar *from, const LineSet &at, Scalar *to, const LineSet &there) { solve_once(exec, from, at, to, there, first); });
  }
  /// Whether some line is solved.
  bool solves_some() const { return algorithm_ && (this->report.ok() || matrices_ > 1); }
  /// The given matrices of the lines from `first` on.
  MatrixOfLine given(std::int64_t first) const
  {
    return {given_class_.size() ? given_class_.data() + first : nullptr, given_matrices_, first, classified_};
  }
  /// A copy of class_of_line: factors outlive the caller's.
  static typename Input::classes_type own_classes(const Exec &exec, const Input &bands)
  {
    typename Input::classes_type own;
    if (bands.lhs != Lhs::classes || bands.class_of_line.size() == 0) return own;
    own = allocate<typename Input::classes_type>(exec, "ribbon::class_of_line", bands.class_of_line.extent(0));
    Kokkos::deep_copy(exec, own, bands.class_of_line);
    return own;
  }
  /// Of pivots that count as zero, in Scalar's precision; the unit of roundoff of entries.
  double tolerance() const { return static_cast<double>(options_.zero_pivot > 0 ? static_cast<Real>(options_.zero_pivot) : 100 * entry_eps()); }
  Real   entry_eps() const { return options_.single_entries ? static_cast<Real>(unit_roundoff<float>()) : eps; }
  /// What the elimination of a candidate met.
  struct Pivots {
    double               smallest   = 1e300;
    bool                 not_finite = false, singular = false;
    std::int64_t         line = -1, row = -1;
    double               growth = std::nan(""), log_abs_det = std::nan("");
    std::complex<double> det_sign = std::nan("");
  };
  /// Makes an algorithm and fills in its pivots; empty, with a reason, where it does not take these lines.
  using Make = std::function<Made<Scalar, Exec>(Pivots &, std::string &why)>;

  static constexpr Real eps           = unit_roundoff<Scalar>();
  static constexpr Real sound         = 45 * eps;                                        ///< backward error of the probe that asks for no more
  static constexpr double apart       = 1 << 20;                                         ///< units of unknowns whose own digits are asked for
  static constexpr Real most_unsound  = 450 * eps;                                       ///< that is accepted where there is nothing better, after more right-hand sides
  static constexpr auto of_one_matrix = "one matrix for all lines, in double precision"; ///< what tile_products take
  static constexpr auto measured      = "measured to be the fastest for lines of this length";

  /// Every line has its own matrix, stored or made of two.
  bool one_per_line() const { return bands_.lhs == Lhs::per_line || bands_.lhs == Lhs::shifted; }
  bool asked_for(const char *name) const { return options_.algorithm == name; }
  bool automatic() const { return asked_for("auto"); }

  /// Tries an algorithm. True: it is taken. Otherwise the report says what was wrong.
  bool attempt(const Make &make, Real limit, const std::string &reason)
  {
    FactorReport &r = this->report;
    Pivots        pivots;
    std::string   why;
    auto          made = make(pivots, why);
    if (!made) return failure_ = why, false;
    algorithm_ = std::move(made), limit_ = limit;
    take(pivots, reason);
    if (!r.ok()) {
      r.probe_error = r.rcond = std::nan(""); // nothing was solved
      if (!std::isnan(r.log_abs_det) && (pivots.not_finite || pivots.smallest == 0)) r.log_abs_det = pivots.not_finite ? std::nan("") : -std::numeric_limits<double>::infinity();
      if (pivots.not_finite && !std::isnan(r.det_sign.real())) r.det_sign = std::nan("");
      failure_ = algorithm_->name + (pivots.not_finite ? " met a pivot that is not finite" : " met a zero pivot") + " in row " + std::to_string(r.row);
      return false;
    }
    if (certified()) return true;
    if (options_.probe == "never") {
      r.probe_error = r.rcond = std::nan("");
      return true;
    }
    const Real first  = try_probe();
    bool       passed = first <= limit;
    if (!passed && algorithm_->refine()) {
      r.algorithm = algorithm_->name;
      passed      = try_probe() <= limit;
      // orthogonal elimination is inaccurate only where its reduced system is nearly singular: corrections hide that
      // of a singular matrix
      if (is_orthogonal()) passed = passed && r.rcond >= 1e6 * static_cast<double>(first);
    }
    // a pivot need not be small for a matrix to be singular: rounding alone is left where an accurate solution grows by the
    // whole precision; of an inaccurate one a small pivot has to say so, too
    const bool grows = r.rcond <= static_cast<double>(std::min<std::int64_t>(10, unknowns_)) * static_cast<double>(eps);
    if (grows && (passed || pivots.smallest <= std::sqrt(static_cast<double>(eps)))) {
      r.status = FactorStatus::zero_pivot, r.line = r.rcond_line, r.row = pivots.line == r.rcond_line ? pivots.row : -1;
      failure_ = algorithm_->name + " found a singular matrix";
      return false;
    }
    if (passed) return true;
    r.status = FactorStatus::unsound;
    char text[32];
    std::snprintf(text, sizeof text, "%.1e", r.probe_error);
    failure_ = "the probe found " + algorithm_->name + " unsound (backward error " + text + ")";
    return false;
  }

  /// A report of what the elimination met.
  void take(const Pivots &pivots, std::string reason)
  {
    FactorReport &r = this->report;
    r           = FactorReport();
    r.algorithm = algorithm_->name, r.reason = std::move(reason);
    r.growth = pivots.growth, r.log_abs_det = pivots.log_abs_det, r.det_sign = pivots.det_sign;
    r.smallest_pivot = pivots.not_finite ? 0 : pivots.smallest;
    r.line = pivots.line, r.row = pivots.row;
    r.status = pivots.not_finite ? FactorStatus::not_finite : pivots.singular || pivots.smallest <= tolerance() ? FactorStatus::zero_pivot : FactorStatus::ok;
  }

  /// Whether the elimination proved that every matrix is regular and every solve accurate; the report says so then.
  bool certified()
  {
    FactorReport      &r = this->report;
    const Certificate &c = algorithm_->certificate;
    if (options_.probe == "always" || !r.ok() || !(c.rcond > tolerance())) return false;
    r.probe_error = Certificate::bound(c.reach, static_cast<double>(eps)), r.rcond = c.rcond, r.rcond_line = c.line;
    return true;
  }

  /// Whole lines of one matrix each, where they are what is tried first and prove by themselves that they are accurate.
  /// Columns need no look then, and nothing is solved. False: nothing was done.
  bool factor_certified()
  {
    const bool first = asked_for("thomas") || (automatic() && !is_device_space<Exec>);
    const bool blocks = !is_device_space<Exec> && bands_.block > 1 && !options_.refactors;
    if (!first || !one_per_line() || !(unrolled() || blocks) || bands_.periodic || options_.continued || !zero_mean_.empty()) return false;
    if (bands_.repeats > 1) bands_ = all_rows(exec_, bands_);
    DevicePivot found{tolerance()};
    if constexpr (!is_device_space<Exec>)
      if (blocks) algorithm_ = make_block_thomas<Scalar, Exec>(exec_, bands_, found);
    if (!blocks) algorithm_ = per_line_thomas(found);
    if (!algorithm_) return false;
    take(placed(found), reason_per_line());
    if (certified()) {
      this->report.bytes = algorithm_->bytes;
      return true;
    }
    algorithm_.reset();
    return false;
  }

  Real try_probe()
  {
    constexpr int more  = 8;
    auto          found = run_probe();
    FactorReport &r     = this->report;
    // an algorithm that loses digits loses more of them with some right-hand sides than with others, and one that multiplies
    // with the inverse of a reduced system with few of them
    const Real           enough = algorithm_->inverts_reduced_system() ? 5 * eps : sound;
    ProbeOptions<Scalar> options;
    while (found.error > enough && found.error <= limit_ && options.round < more) {
      ++options.round;
      const auto again = run_probe(options);
      if (again.error > found.error) found.error = again.error, found.matrix = again.matrix;
    }
    r.probe_error = static_cast<double>(found.error), r.rcond = static_cast<double>(found.rcond), r.rcond_line = found.rcond_matrix;
    if (found.error > limit_) r.line = found.matrix, r.row = -1;
    return found.error;
  }

  ProbeResult<Scalar> run_probe(const ProbeOptions<Scalar> &options = {})
  {
    const bool per_line = one_per_line();
    if (!matrix_.size() && !per_line) {
      std::vector<int> each(static_cast<std::size_t>(matrices_));
      std::iota(each.begin(), each.end(), 0);
      matrix_ = upload(exec_, "ribbon::probe::matrix", each);
    }
    const auto solve = [&](Scalar *x, const LineSet &set) { algorithm_->solve(exec_, x, set, x, set, per_line || matrices_ == 1 ? nullptr : matrix_.data(), matrices_); };
    // algorithms that are bound to the number of lines are probed with as many
    const std::int64_t group = algorithm_->lines, kinds = fits_six_times() ? probe_kinds : 1;
    const bool         all_at_once = is_device_space<Exec> && fits_six_times();
    const std::int64_t lines = per_line ? matrices_ * (all_at_once ? probe_kinds : 1) : group ? (probe_kinds + group - 1) / group * group : matrices_ * kinds;
    return probe<Scalar, Exec>(exec_, bands_, lines_, lines, solve, options);
  }
  /// Whether six right-hand sides of every matrix take no more memory than those of the lines, or little.
  bool fits_six_times() const
  {
    const std::int64_t bytes = matrices_ * probe_kinds * unknowns_ * static_cast<std::int64_t>(sizeof(Scalar));
    return matrices_ * probe_kinds <= lines_.lines() || bytes <= (std::int64_t(1) << 26);
  }

  /// Factors, with columns scaled where they need it. Where scales are wrong for this matrix, and where matrices are
  /// refused, factors the other way.
  void factor_in_units(const Input &given)
  {
    const Input unscaled = bands_;
    if (!options_.continued) scale_ = ColumnScale<Scalar, Exec>(exec_, bands_, takes_any_matrix(), asked_for("pivoted")); // columns beyond the ends are not known
    factor();
    const bool scaled = !scale_.empty(), right = !(scaled || mixes_units()) || take_units(given) || solve_whole_lines(given);
    if (right && !units_may_help()) return;
    if (!this->report.ok()) find_failed();
    const Solver before = *this;
    auto         which  = failed_;
    if (which.size() == 0) {
      which = flags(given_matrices_);
      Kokkos::deep_copy(exec_, which, 1);
    }
    bands_ = unscaled, matrices_ = given_matrices_, class_of_line_ = given_class_;
    algorithm_.reset(), fastest_.reset();
    scale_ = ColumnScale<Scalar, Exec>(), refinement_ = UnitRefinement<Scalar, Exec>(), failed_ = Kokkos::View<int *, Memory>();
    if (!scaled) scale_ = ColumnScale<Scalar, Exec>(exec_, bands_, which);
    factor();
    if (!right) return;
    bool taken = scaled || take_units(given) || solve_whole_lines(given);
    if (!this->report.ok()) find_failed();
    taken = taken && failures() < before.failures() && !(this->report.rcond <= 100 * static_cast<double>(entry_eps()));
    if (!taken) *this = before;
  }
  /// Orthogonal elimination, which `auto` took: unknowns in different units, of which no column tells, lose digits.
  bool mixes_units() const { return automatic() && this->report.ok() && is_orthogonal(); }
  bool is_orthogonal() const { return algorithm_->name.rfind("pivoted", 0) == 0; }
  /// The unknowns of a chunk lose the digits of those that are small next to others in it, however often they are
  /// refined. Whole lines keep them: what orthogonal elimination mixes are neighbours. False: they do not, either.
  bool solve_whole_lines(const Input &given)
  {
    if (!(automatic() || asked_for("pivoted")) || algorithm_->name == "pivoted") return false;
    failure_   = algorithm_->name + " is inaccurate in the units that were given";
    one_chunk_ = true;
    algorithm_.reset(), refinement_ = UnitRefinement<Scalar, Exec>();
    factor();
    one_chunk_ = false;
    return this->report.ok() && take_units(given);
  }
  /// How many matrices failed.
  std::size_t failures() const
  {
    const FactorReport &r = this->report;
    return r.ok() ? 0 : r.failed.empty() ? std::numeric_limits<std::size_t>::max() : r.failed.size();
  }
  /// Scales change which algorithms take a matrix: the others raise an error.
  bool takes_any_matrix() const { return automatic() || asked_for("thomas") || asked_for("one_pass") || asked_for("pivoted"); }
  /// Whether a matrix that was refused may be one of unknowns in different units.
  bool units_may_help() const
  {
    const FactorReport &r = this->report;
    return takes_any_matrix() && !r.ok() && r.status != FactorStatus::not_finite && !options_.continued && algorithm_ && options_.probe != "never";
  }
  /// After a factorization with scales. False: they are wrong.
  bool take_units(const Input &given)
  {
    FactorReport &r = this->report;
    if (!std::isnan(r.log_abs_det)) r.log_abs_det -= scale_.log_det();
    if (!zero_mean_.empty() || options_.probe == "never" || (!r.ok() && !solves_some())) return true;
    if (r.ok()) return probe_given_units(given);
    refinement_ = UnitRefinement<Scalar, Exec>(exec_, given); // of the lines that did not fail
    auto                 bad = flags(given_matrices_);
    ProbeOptions<Scalar> options;
    options.batch = true, options.class_of_line = given_class_.data();
    options.bad = bad.data(), options.most_error = limit_, options.least_rcond = -1;
    probe<Scalar, Exec>(exec_, given, lines_, lines_.lines(), [&](Scalar *x, const LineSet &set) { solve_refined(exec_, x, set, x, set, 0); }, options);
    failed_ = bad;
    return true;
  }

  /// Where columns were scaled the solve is as accurate as it was found to be in the units of the scaled unknowns, and
  /// orthogonal elimination is in the given ones. In the others, and where unknowns are small next to others, it may need
  /// refinement. False: that does not help, scales are wrong for this matrix.
  bool probe_given_units(const Input &given)
  {
    FactorReport        &r = this->report;
    ProbeOptions<Scalar> options;
    options.batch = true, options.class_of_line = given_class_.data();
    const auto error = [&] {
      return probe<Scalar, Exec>(exec_, given, lines_, lines_.lines(), [&](Scalar *x, const LineSet &set) { solve_refined(exec_, x, set, x, set, 0); }, options).error;
    };
    if (error() <= sound) {
      if (!scale_.empty() && scale_.spread() <= apart) return true; // accurate in both units, which are near
      options.componentwise = true;
      if (error() <= sound) return true;
      options.componentwise = false;
    }
    refinement_ = UnitRefinement<Scalar, Exec>(exec_, given);
    for (int steps : UnitRefinement<Scalar, Exec>::most_steps) {
      refinement_.set_steps(steps);
      options.componentwise = true;
      if (error() <= sound) break;
    }
    options.componentwise = false;
    const Real left = error();
    r.probe_error = std::max(r.probe_error, static_cast<double>(left));
    return left <= limit_;
  }

  /// Solves of singular lines, as they are handed out, with right-hand sides in the range of the given matrices.
  void probe_zero_mean(const Input &given)
  {
    FactorReport &r = this->report;
    auto          bad = flags(given_matrices_);
    ProbeOptions<Scalar> options;
    options.batch = true, options.class_of_line = given_class_.data();
    // entries of single precision sum to zero in its units alone
    options.bad = bad.data(), options.most_error = 450 * entry_eps(), options.least_rcond = -1;
    const auto found = probe<Scalar, Exec>(exec_, given, lines_, lines_.lines(), [&](Scalar *x, const LineSet &set) { solve(exec_, x, set, x, set, {}, 0); }, options);
    zero_mean_.inconsistency(exec_); // forgets that of the probe
    r.probe_error = std::max(r.probe_error, static_cast<double>(found.error));
    if (found.error <= options.most_error) return;
    r.status = FactorStatus::unsound, r.line = found.matrix, r.row = -1;
    failed_ = bad;
  }
  Kokkos::View<int *, Memory> flags(std::int64_t count) const
  {
    return allocate_zeros<Kokkos::View<int *, Memory>>(exec_, "ribbon::failed", static_cast<std::size_t>(count));
  }

  /// Finds out which of several matrices are not solved.
  void find_failed()
  {
    FactorReport &r = this->report;
    if (!solves_some()) return;
    auto                 bad = flags(matrices_);
    ProbeOptions<Scalar> options;
    options.bad = bad.data(), options.most_error = limit_, options.least_rcond = 100 * entry_eps();
    run_probe(options);
    std::vector<int> found(static_cast<std::size_t>(given_matrices_), 0);
    const auto       before  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), failed_); // by probe_zero_mean()
    for (std::size_t c = 0; c < before.extent(0); ++c) found[c] = before(c);
    const auto       host    = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bad);
    const auto       classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), given_class_);
    const bool by_line = given_class_.size() > 0 && class_of_line_.size() == 0; // partition has a matrix for every line
    for (std::size_t c = 0; c < host.extent(0); ++c)
      if (host(c)) found[by_line ? static_cast<std::size_t>(classes(c)) : c] = 1;
    if (r.line >= 0) found[static_cast<std::size_t>(r.line)] = 1;
    for (std::size_t c = 0; c < found.size(); ++c)
      if (found[c]) r.failed.push_back(static_cast<std::int64_t>(c));
    failed_ = upload(exec_, "ribbon::failed", found);
  }

  std::vector<HostMatrix<Scalar>> read_matrices() const { return host_matrices(bands_, options_.continued); }

  /// Rows of a piece of partition; 0 where whole lines are the better choice. Classes are given a matrix for every line, and are cut by themselves only where no tile of few long ones fits a team (`no_tile`).
  std::int64_t rows_per_piece(bool no_tile)
  {
    if (options_.rows_per_piece > 0) return options_.rows_per_piece;
    const bool         classes = bands_.lhs == Lhs::classes;
    const std::int64_t n = lines_.rows, piece = longest_piece(lines_, bands_), fitting = std::min(piece, std::max<std::int64_t>(4 * reach_, n / 2)), numbers = classes ? bands_.values.extent_int(2) / bands_.block : 1;
    if (asked_for("partition")) return fitting;
    if (!is_device_space<Exec> || lines_.lines() * unknowns_ * numbers * static_cast<std::int64_t>(sizeof(Scalar)) > (std::int64_t(1) << 33))
      return 0; // the probe takes so much memory, a line for each of six right-hand sides of a matrix
    if (classes) return no_tile && by_teams(bands_) && few_long_lines(lines_, bands_) ? piece : 0;
    if (only_tile_products(lines_, bands_) && !no_tile) return 0;
    if (few_long_lines(lines_, bands_) || (no_tile && n > 2048 && by_teams(bands_))) return piece;
    return fastest() == choice::Algorithm::partition ? fitting : 0;
  }

  bool prefers_tile_products() { return is_for_tile_products(bands_) && (only_tile_products(lines_, bands_) || fastest() == choice::Algorithm::tile_products); }

  /// What the table says, which is of devices. Found once: it may bring a matrix to the host.
  choice::Algorithm fastest()
  {
    if (!fastest_) fastest_ = measured_fastest(lines_, bands_, [&] { return read_matrices()[0].has_constant_stencil(); });
    return *fastest_;
  }

  /// The cyclic reductions, which are never chosen but asked for. False: nothing was done.
  bool factor_reduction()
  {
    if (!is_reduction(options_.algorithm)) return false;
    const bool few = bands_.lhs == Lhs::shared && bands_.block == 1 && bands_.half_bandwidth() <= 1;
    if (asked_for("toeplitz_cr") && !few) throw std::invalid_argument("ribbon: algorithm toeplitz_cr takes one tridiagonal matrix for all lines");
    const Make make = [&](Pivots &p, std::string &why) {
      if (asked_for("toeplitz_cr")) return watched(p, [&](PivotWatch &watch) { return make_toeplitz_cr<Scalar, Exec>(exec_, lines_, read_matrices()[0], options_, watch, why); });
      DevicePivot found{tolerance()};
      auto        made = make_reduction<Scalar, Exec>(exec_, lines_, bands_, options_, found, why);
      p.smallest = found.smallest, p.not_finite = found.smallest < 0, p.line = found.line, p.row = found.row;
      return made;
    };
    if (!attempt(make, most_unsound, "asked for") && !algorithm_) throw std::invalid_argument("ribbon: algorithm " + options_.algorithm + ": " + failure_);
    return true;
  }

  /// Makes an algorithm whose elimination tells make(watch) of every pivot.
  template <class MakeWatched>
  Made<Scalar, Exec> watched(Pivots &p, const MakeWatched &make) const
  {
    PivotWatch watch;
    watch.tolerance         = tolerance();
    Made<Scalar, Exec> made = make(watch);
    p.smallest = static_cast<double>(watch.smallest), p.not_finite = watch.not_finite, p.line = watch.matrix, p.row = watch.row;
    if (made && made->name != "toeplitz_cr" && made->name.rfind("pivoted", 0) != 0) p.growth = static_cast<double>(watch.growth);
    p.log_abs_det = static_cast<double>(watch.log_det), p.det_sign = std::complex<double>(watch.sign);
    return made;
  }

  void factor()
  {
    if (factor_reduced() || factor_partition()) return;
    if (bands_.repeats > 1) bands_ = all_rows(exec_, bands_);
    if (!factor_reduction()) one_per_line() ? factor_per_line() : factor_few();
  }

  /// Few wide lines, by cyclic reduction. False: nothing was done.
  bool factor_reduced()
  {
    const bool asked = asked_for("factored_reduction");
    if (!asked && (!automatic() || one_chunk_ || options_.refactors || !few_wide_lines(lines_, bands_))) return false;
    const Make make = [&](Pivots &p, std::string &why) {
      DevicePivot found{tolerance()};
      auto        made = make_factored_reduction<Scalar, Exec>(exec_, lines_, bands_, found, why);
      if (made) p = placed(found);
      return made;
    };
    if (attempt(make, asked ? most_unsound : sound, asked ? "asked for" : "few wide lines")) return true;
    if (asked && !algorithm_) throw std::invalid_argument("ribbon: algorithm factored_reduction: " + failure_);
    if (!asked) algorithm_.reset();
    return asked;
  }

  /// Cuts lines where that is asked for, or likely to be faster. False: nothing was done.
  bool factor_partition(bool no_tile = false)
  {
    if (one_chunk_) return false;
    if (!asked_for("partition") && (!automatic() || options_.whole_lines || options_.refactors || lines_.merged().count1 > most_runs)) return false;
    const std::int64_t piece = rows_per_piece(no_tile);
    const auto         cut   = piece > 0 ? partition_cut(lines_, bands_, piece, options_.rows_per_piece > 0) : PartitionCut();
    if (cut.pieces < 2 && asked_for("partition")) throw std::invalid_argument("ribbon: algorithm partition: lines of " + std::to_string(lines_.rows) + " rows give nothing to cut");
    if (cut.pieces < 2) return false;
    const std::string reason = !automatic() || options_.rows_per_piece > 0 ? "asked for" : no_tile ? failure_ : few_long_lines(lines_, bands_) ? "few long lines" : measured;
    const Input       given  = bands_;
    const auto        take   = [&](const Input &bands) { bands_ = bands, matrices_ = bands.matrices(), class_of_line_ = bands.lhs == Lhs::classes ? bands.class_of_line : typename Input::classes_type(); };
    if (given.lhs == Lhs::classes) take(all_rows(exec_, given, true)); // equal pieces share their factors again
    FactorReport found;
    const Make   make = [&](Pivots &p, std::string &why) -> Made<Scalar, Exec> {
      Partition<Scalar, Exec> plan(exec_, lines_, bands_, cut, options_.rows_per_piece > 0 || pieces_are_many(lines_), why);
      found        = plan.found();
      found.growth = found.log_abs_det = std::nan(""), found.det_sign = std::nan("");
      p.smallest = found.smallest_pivot, p.not_finite = found.status == FactorStatus::not_finite, p.singular = found.status == FactorStatus::zero_pivot, p.line = found.line, p.row = found.row;
      if (!why.empty()) return nullptr;
      return std::make_unique<PartitionAlgorithm<Scalar, Exec>>(std::move(plan));
    };
    const bool taken = attempt(make, automatic() ? sound : most_unsound, reason);
    if (!taken && asked_for("partition") && !algorithm_) this->report = found, this->report.algorithm = "partition", this->report.reason = failure_;
    if (given.lhs == Lhs::classes && this->report.line >= 0) this->report.line = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), given.class_of_line)(static_cast<std::size_t>(this->report.line));
    if (!taken && automatic()) algorithm_.reset(), take(given);
    return taken || asked_for("partition");
  }

  void factor_few()
  {
    const auto matrices = read_matrices();
    const auto looped   = [&](Pivots &p, const std::vector<HostMatrix<Scalar>> &from, bool orthogonal) -> Made<Scalar, Exec> {
      return watched(p, [&](PivotWatch &watch) { return std::make_unique<LoopedAlgorithm<Scalar, Exec>>(Looped<Scalar, Exec>(exec_, from, orthogonal, watch), orthogonal); });
    };
    const Make one_pass = [&](Pivots &p, std::string &why) {
      Made<Scalar, Exec> made;
      const int          reach = reach_ == 3 && matrices.size() > 1 ? 4 : reach_; // OnePass has no kernel for several matrices of half-bandwidth 3
      const bool         known = with_system<Scalar>(reach, bands_.block, [&](auto K, auto B) {
        const auto &fitting = K() == reach_ ? matrices : padded(matrices, K());
        made                = watched(p, [&](PivotWatch &watch) { return make_one_pass<Scalar, Exec, K(), B()>(exec_, lines_, fitting, options_, watch, why); });
      });
      if (!known) why = "one_pass takes half-bandwidths to 4 and blocks of 2 and 4";
      return made;
    };
    const Make tile_products = [&](Pivots &p, std::string &why) -> Made<Scalar, Exec> {
      if constexpr (std::is_same_v<Scalar, double>)
        if (matrices.size() == 1) return watched(p, [&](PivotWatch &watch) { return make_tile_products<Exec>(exec_, matrices[0], watch, why); });
      why = of_one_matrix;
      return nullptr;
    };
    const Make pivoted_one_pass = [&](Pivots &p, std::string &why) {
      Made<Scalar, Exec> made;
      if (reach_ > 2 || bands_.block > 1) {
        why = "pivoted one_pass takes half-bandwidths 1 and 2";
        return made;
      }
      const auto symmetric = padded(matrices, reach_);
      return watched(p, [&](PivotWatch &watch) {
        return reach_ == 1 ? make_pivoted_one_pass<Scalar, Exec, 1>(exec_, lines_, symmetric, options_, watch, why) : make_pivoted_one_pass<Scalar, Exec, 2>(exec_, lines_, symmetric, options_, watch, why);
      });
    };
    const Make thomas = [&](Pivots &p, std::string &) -> Made<Scalar, Exec> {
      if (!unrolled()) return looped(p, matrices, false);
      return watched(p, [&](PivotWatch &watch) {
        Made<Scalar, Exec> made;
        with_reach([&](auto K) { made = make_thomas<Scalar, Exec, K()>(exec_, K() == reach_ ? matrices : padded(matrices, K()), staged(), watch); });
        return made;
      });
    };
    const Make pivoted = [&](Pivots &p, std::string &) {
      std::vector<HostMatrix<Scalar>> bands;
      for (const auto &A : matrices) bands.push_back(is_short(A.lower, A.upper) ? A.scalar_band().folded() : A.scalar_band());
      auto made = looped(p, bands, true);
      p.row /= bands_.block; // of unknowns
      return made;
    };
    const bool ring_too_short = bands_.periodic && lines_.rows < 2 * reach_;
    const auto none           = [&](const char *name) { return std::invalid_argument("ribbon: algorithm " + std::string(name) + ": " + failure_); };

    if (asked_for("one_pass")) {
      if (!attempt(one_pass, most_unsound, "asked for") && !algorithm_) throw none("one_pass");
      return;
    }
    if (asked_for("tile_products")) {
      if (!attempt(tile_products, most_unsound, "asked for") && !algorithm_) throw none("tile_products");
      return;
    }
    if (asked_for("thomas") && !ring_too_short) return void(attempt(thomas, most_unsound, "asked for"));
    // what the inverse of a reduced system loses, whole lines keep
    const auto orthogonal = [&](const std::string &reason) {
      if (!attempt(pivoted_one_pass, sound, reason) && (!algorithm_ || this->report.status == FactorStatus::unsound || matrices.size() > 1)) attempt(pivoted, most_unsound, reason + "; " + failure_);
    };
    if (one_chunk_) return void(attempt(pivoted, most_unsound, failure_));
    if (asked_for("pivoted")) return orthogonal("asked for");
    if (ring_too_short) {
      attempt(pivoted, most_unsound, "a ring of " + std::to_string(lines_.rows) + " rows");
      return;
    }
    if (prefers_tile_products()) {
      if (attempt(tile_products, sound, measured)) return;
      algorithm_.reset();
    }
    // a host: whole lines where they have an unrolled kernel, whose lanes are the SIMD direction
    const bool  chunks      = is_device_space<Exec> || !unrolled();
    const bool  whole_lines = !chunks || (is_device_space<Exec> && fastest() == choice::Algorithm::thomas);
    std::string reason      = is_device_space<Exec> ? measured : "lanes of a tile of lines are the SIMD direction of a host";
    if (!whole_lines) {
      if (attempt(one_pass, sound, "a tile of lines fits the scratch of a team")) return;
      reason = failure_;
      if (!algorithm_ && factor_partition(true)) return;
    }
    if (!algorithm_ && attempt(thomas, sound, reason)) return; // where a tile fits, pivoted elimination in one pass is faster
    reason = failure_;
    // else it is what elimination made of it; of several matrices one may be not finite, and nothing has judged the others
    if (matrices.size() == 1 && this->report.status == FactorStatus::not_finite && !matrices[0].is_finite()) return;
    algorithm_.reset();
    if (!chunks) return void(attempt(pivoted, most_unsound, reason));
    orthogonal(reason);
    if (this->report.status == FactorStatus::zero_pivot) or_else(thomas);
  }

  /// What orthogonal elimination took for singular elimination of whole lines may solve: triangular matrices, whose
  /// pivots do not shrink. The report stays where it does not.
  void or_else(const Make &thomas)
  {
    const FactorReport before    = this->report;
    const auto         algorithm = algorithm_;
    const std::string  failure   = failure_;
    const Real         limit     = limit_;
    if (attempt(thomas, sound, failure)) return;
    this->report = before, algorithm_ = algorithm, failure_ = failure, limit_ = limit;
  }

  /// Scalar bands that elimination has an unrolled kernel for.
  bool unrolled() const { return bands_.block == 1 && reach_ <= (is_device_space<Exec> || bands_.periodic || staged() ? 2 : 4); }
  /// Calls f(K) with the unrolled half-bandwidth that takes them.
  template <class F>
  void with_reach(const F &f) const
  {
    if (reach_ == 1) return f(std::integral_constant<int, 1>());
    if (reach_ == 2) return f(std::integral_constant<int, 2>());
    if constexpr (!is_device_space<Exec>)
      with_system<Scalar>(reach_, 1, [&](auto K, auto) {
        if constexpr (K() > 2) f(K);
      });
  }
  static Pivots placed(const DevicePivot &found)
  {
    Pivots p;
    p.smallest = found.smallest, p.not_finite = found.smallest < 0, p.line = found.line, p.row = found.row;
    return p;
  }
  Made<Scalar, Exec> per_line_thomas(DevicePivot &found) const
  {
    Made<Scalar, Exec> made;
    with_reach([&](auto K) { made = make_thomas_per_line<Scalar, Exec, K()>(exec_, bands_, staged(), options_.refactors, found); });
    return made;
  }
  std::string reason_per_line() const { return !automatic() ? "asked for" : bands_.lhs == Lhs::shifted ? "one matrix per line, made of two" : "one matrix per line"; }

  void factor_per_line()
  {
    if (asked_for("tile_products")) throw std::invalid_argument(std::string("ribbon: algorithm tile_products: ") + of_one_matrix);
    const Make thomas = [&](Pivots &p, std::string &) -> Made<Scalar, Exec> {
      if (!unrolled()) return looped<false>(p, bands_);
      DevicePivot found{tolerance()};
      auto        made = per_line_thomas(found);
      p                = placed(found);
      return made;
    };
    const Make pivoted = [&](Pivots &p, std::string &) {
      if (!is_short(bands_.kl(), bands_.ku())) return looped<true>(p, bands_);
      auto made = looped<true>(p, folded(exec_, read_matrices(), bands_));
      p.row /= bands_.block; // of unknowns
      return made;
    };
    const bool        ring_too_short = bands_.periodic && lines_.rows < 2 * reach_;
    const std::string reason         = reason_per_line();
    const Make        one_pass       = [&](Pivots &p, std::string &why) {
      DevicePivot found{tolerance()};
      auto        made = make_in_flight<Scalar, Exec>(exec_, lines_, bands_, options_, found, why);
      if (made) p = placed(found);
      return made;
    };
    if (asked_for("one_pass")) {
      if (ring_too_short) failure_ = "a ring of " + std::to_string(lines_.rows) + " rows";
      else if (attempt(one_pass, most_unsound, reason) || algorithm_) return;
      throw std::invalid_argument("ribbon: algorithm one_pass: " + failure_);
    }
    if (automatic() && !one_chunk_ && !ring_too_short && is_device_space<Exec> && fastest() == choice::Algorithm::one_pass && attempt(one_pass, sound, reason)) return;
    if (one_chunk_) attempt(pivoted, most_unsound, failure_);
    else if (asked_for("pivoted") || ring_too_short) attempt(pivoted, most_unsound, ring_too_short ? "a ring of " + std::to_string(lines_.rows) + " rows" : reason);
    else if (!attempt(thomas, automatic() ? sound : most_unsound, reason) && automatic()) attempt(pivoted, most_unsound, failure_);
  }

  template <bool orthogonal>
  Made<Scalar, Exec> looped(Pivots &p, const Input &from) const
  {
    typename LoopedFactorKernel<Scalar, Memory, orthogonal>::Smallest found;
    auto                                                              plan = factor_lines<Scalar, Exec, orthogonal>(exec_, from, static_cast<Real>(tolerance()), found);
    const std::int64_t                                                rows = from.rows();
    p.smallest = static_cast<double>(found.val), p.not_finite = found.val < 0, p.line = found.loc / rows, p.row = found.loc % rows;
    auto made = std::make_unique<LoopedAlgorithm<Scalar, Exec>>(std::move(plan), orthogonal);
    if (!orthogonal && options_.refactors) made->refactors(exec_);
    return made;
  }

  /// thomas with lines_per_team: through scratch, whatever the layout.
  bool staged() const { return asked_for("thomas") && options_.lines_per_team > 0; }

  /// Fewer unknowns than separators of a chunk of a scalar band.
  bool is_short(int kl, int ku) const { return unknowns_ < (kl + ku + 2) * bands_.block - 2; }

  Exec                                     exec_;
  LineSet                                  lines_;
  Input                                    bands_;
  LineSolverOptions                        options_;
  Lhs                                      factored_as_ = bands_.lhs;
  std::int64_t                             matrices_, classified_, unknowns_ = 0, given_matrices_ = matrices_;
  int                                      reach_ = 1;
  Real                                     limit_ = 0; ///< of the backward error of the probe, of the last algorithm that was tried
  std::string                              failure_;
  bool                                     one_chunk_ = false; ///< of each line, by orthogonal elimination
  Kokkos::View<int *, Memory>              class_of_line_, matrix_; ///< class_of_line_: as the algorithm has it
  Kokkos::View<int *, Memory>              given_class_, failed_;   ///< failed_: 1 for each given matrix that is not solved
  std::shared_ptr<Algorithm<Scalar, Exec>> algorithm_;
  ColumnScale<Scalar, Exec>                scale_;
  UnitRefinement<Scalar, Exec>             refinement_; ///< empty: solves need none
  ZeroMean<Scalar, Exec>                   zero_mean_;
  std::optional<choice::Algorithm>         fastest_;
};

} // namespace ribbon::detail
