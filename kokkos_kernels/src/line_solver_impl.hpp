// SPDX-License-Identifier: BSD-2-Clause
/// @file line_solver_impl.hpp  LineSolver for one half-bandwidth; included by the files that instantiate it.
#pragma once

#include <ribbon/algorithm/one_pass_plan.hpp>
#include <ribbon/algorithm/per_line_factor.hpp>
#include <ribbon/algorithm/thomas.hpp>
#include <ribbon/line_solver.hpp>
#include <ribbon/probe.hpp>

#include <optional>

namespace ribbon::detail {

struct IotaKernel {
  int                 *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { to[i] = static_cast<int>(i); }
};

template <class Scalar, class Exec, int P>
class BandedSolver final : public LineSolver<Scalar, Exec>::Implementation {
  using Real   = real_t<Scalar>;
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

public:
  BandedSolver(const Exec &exec, const LineSet &lines, const Input &bands, const LineSolverOptions &options)
      : periodic_(bands.periodic && lines.rows >= 2 * P), per_line_(bands.lhs == Lhs::per_line), rows_(lines.rows), matrices_(static_cast<std::int64_t>(bands.values.extent(0))), classified_(lines.lines()),
        class_of_line_(bands.class_of_line)
  {
    if (lines.unknowns() == 0) {
      empty_                 = true;
      this->report.algorithm = "none";
      this->report.reason    = "no unknowns";
      return;
    }
    const Input input = bands.periodic && !periodic_ ? fold(exec, bands) : bands;
    if (per_line_) factor_per_line(exec, lines, input, options);
    else factor_few(exec, lines, input, options);
    this->report.bytes += class_of_line_.size() * sizeof(int);
  }

  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const override
  {
    if (empty_ || !this->report.ok()) return;
    run(exec, b, in, x, out, class_of_line_.size() ? class_of_line_.data() : nullptr, classified_);
  }

private:
  void run(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, const int *class_of_line, std::int64_t classified) const
  {
    if (one_pass_) one_pass_->solve(exec, b, in, x, out, class_of_line, classified, correct_);
    else if (per_line_) thomas_solve<Exec, Scalar, P>(exec, PerLineFactors<Scalar, P>{words_.data(), closures_.data(), matrices_, periodic_}, periodic_, b, in, x, out);
    else thomas_solve<Exec, Scalar, P>(exec, SharedFactors<Scalar, P>{forward_.data(), backward_.data(), ring_.data(), class_of_line, classified, interior()}, periodic_, b, in, x, out);
  }

  std::int64_t interior() const { return rows_ - (periodic_ ? P : 0); }

  /// A ring of fewer than 2 P rows as a matrix without corners: every column is within P of every row.
  static Input fold(const Exec &exec, const Input &bands)
  {
    const std::int64_t n      = static_cast<std::int64_t>(bands.values.extent(1));
    const auto         from   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, bands.values);
    Input              folded = bands;
    folded.periodic           = false;
    folded.values             = allocate<typename Input::values_type>(exec, "ribbon::folded bands", bands.values.extent(0), bands.values.extent(1), bands.values.extent(2));
    const auto to             = Kokkos::create_mirror_view(folded.values);
    for (std::size_t c = 0; c < to.extent(0); ++c)
      for (std::int64_t i = 0; i < n; ++i) {
        Scalar row[2 * P + 1] = {};
        for (std::int64_t d = -P; d <= P; ++d) row[((i + d) % n + n) % n - i + P] += from(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + P));
        for (int d = 0; d <= 2 * P; ++d) to(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d)) = row[d];
      }
    Kokkos::deep_copy(folded.values, to);
    return folded;
  }

  double tolerance(const LineSolverOptions &options) const { return options.zero_pivot > 0 ? options.zero_pivot : 100.0 * static_cast<double>(unit_roundoff<Scalar>()); }

  /// Fills in status and place from the smallest pivot; false where there is no going on.
  bool judge_pivot(double smallest, bool not_finite, std::int64_t line, std::int64_t row, const LineSolverOptions &options)
  {
    FactorReport &r  = this->report;
    r.smallest_pivot = not_finite ? 0 : smallest;
    r.line = line, r.row = row;
    r.status = not_finite ? FactorStatus::not_finite : smallest <= tolerance(options) ? FactorStatus::zero_pivot : FactorStatus::ok;
    return r.ok();
  }

  void factor_few(const Exec &exec, const LineSet &lines, const Input &bands, const LineSolverOptions &options)
  {
    std::vector<HostMatrix<Scalar, P>>                   matrices;
    std::vector<ChunkElimination<Scalar, P>>             whole;
    std::vector<std::optional<ReducedSystem<Scalar, P>>> rings;
    const auto                                           values   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, bands.values);
    const int                                            n        = static_cast<int>(rows_);
    double                                               smallest = 1e300;
    for (std::int64_t c = 0; c < matrices_; ++c) {
      HostMatrix<Scalar, P> A;
      A.rows = n, A.periodic = periodic_;
      A.values.resize(static_cast<std::size_t>(n) * (2 * P + 1));
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        for (std::size_t d = 0; d <= 2 * P; ++d) A.values[i * (2 * P + 1) + d] = values(static_cast<std::size_t>(c), i, d);
      PivotWatch watch;
      whole.emplace_back(A, 0, n, periodic_ ? P : 0, watch);
      rings.emplace_back();
      if (periodic_)
        rings.back().emplace(
          A, std::vector<ChunkElimination<Scalar, P>>{whole.back()}, [n](int) { return n - P; }, watch);
      if (watch.not_finite || static_cast<double>(watch.smallest) < smallest) {
        smallest = static_cast<double>(watch.smallest);
        if (!judge_pivot(smallest, watch.not_finite, c, watch.row, options)) return;
      }
      matrices.push_back(std::move(A));
    }
    OnePassShape shape;
    std::string  why;
    if (options.algorithm != "thomas") {
      shape = OnePass<Scalar, Exec, P>::choose(exec, lines, periodic_, has_constant_stencil(matrices), options.rows_per_thread, options.lines_per_team);
      if (n < 2 * P) why = "lines of " + std::to_string(n) + " rows are too short";
      else if (shape.split.chunks == 0) why = "lines of " + std::to_string(n) + " rows do not fit the scratch of a team";
      else if (options.algorithm == "auto" && !is_device_space<Exec>) shape.split.chunks = 0, why = "lanes of a tile of lines are the SIMD direction of a host";
      if (options.algorithm == "one_pass" && shape.split.chunks == 0) throw std::invalid_argument("ribbon: algorithm one_pass: " + why);
    } else why = "asked for";
    const Real sound = 45 * unit_roundoff<Scalar>(), limit = 10 * sound;
    if (shape.split.chunks > 0) {
      PivotWatch watch;
      one_pass_.emplace(exec, matrices, shape, watch);
      this->report.algorithm = "one_pass";
      this->report.reason    = options.algorithm == "auto" ? "a tile of lines fits the scratch of a team" : "asked for";
      this->report.bytes     = one_pass_->bytes();
      if (watch.not_finite || try_probe(exec, bands, lines) > sound) {
        correct_               = true;
        this->report.algorithm = "one_pass with correction";
        if (watch.not_finite || try_probe(exec, bands, lines) > sound) {
          const double error = this->report.probe_error;
          if (options.algorithm == "auto") {
            why = "the probe found one_pass unsound (backward error " + std::to_string(error) + ")";
            one_pass_.reset();
          } else if (watch.not_finite || static_cast<Real>(error) > limit) this->report.status = FactorStatus::unsound;
        }
      }
      if (one_pass_) return;
    }
    store_whole(exec, whole, rings);
    this->report.algorithm = "thomas";
    this->report.reason    = why;
    if (try_probe(exec, bands, lines) > limit) this->report.status = FactorStatus::unsound;
  }

  /// One matrix whose rows agree but for a few at its ends.
  static bool has_constant_stencil(const std::vector<HostMatrix<Scalar, P>> &matrices)
  {
    if (matrices.size() != 1) return false;
    const auto   &A    = matrices[0];
    constexpr int ends = 2 * P, width = 2 * P + 1;
    const Scalar *first = A.values.data() + ends * width;
    for (int i = ends + 1; i < A.rows - ends; ++i)
      if (!std::equal(first, first + width, A.values.data() + static_cast<std::size_t>(i) * width)) return false;
    return true;
  }

  Real try_probe(const Exec &exec, const Input &bands, const LineSet &lines)
  {
    auto matrix = allocate<Kokkos::View<int *, Memory>>(exec, "ribbon::probe::matrix", static_cast<std::size_t>(matrices_));
    Kokkos::parallel_for("ribbon::probe::matrix", Kokkos::RangePolicy<Exec>(exec, 0, matrices_), IotaKernel{matrix.data()});
    const auto worst = probe<Scalar, P, Exec>(exec, bands, lines, per_line_ ? 1 : probe_kinds, [&](Scalar *x, const LineSet &set) { run(exec, x, set, x, set, matrices_ > 1 ? matrix.data() : nullptr, matrices_); });
    this->report.probe_error = static_cast<double>(worst.val);
    if (worst.val > 450 * unit_roundoff<Scalar>()) this->report.line = worst.loc, this->report.row = -1;
    return worst.val;
  }

  void store_whole(const Exec &exec, const std::vector<ChunkElimination<Scalar, P>> &whole, const std::vector<std::optional<ReducedSystem<Scalar, P>>> &rings)
  {
    const std::size_t m = static_cast<std::size_t>(interior()), classes = whole.size();
    forward_      = allocate<decltype(forward_)>(exec, "ribbon::thomas::forward", m * classes);
    backward_     = allocate<decltype(backward_)>(exec, "ribbon::thomas::backward", m * classes);
    ring_         = allocate<decltype(ring_)>(exec, "ribbon::thomas::ring", classes);
    auto forward  = Kokkos::create_mirror_view(forward_);
    auto backward = Kokkos::create_mirror_view(backward_);
    auto ring     = Kokkos::create_mirror_view(ring_);
    for (std::size_t c = 0; c < classes; ++c) {
      for (std::size_t i = 0; i < m; ++i) {
        auto &f = forward(c * m + i);
        auto &w = backward(c * m + i);
        f.inv   = narrow<Scalar>(whole[c].inv[i]);
        for (std::size_t q = 0; q < P; ++q) {
          f.L[q] = narrow<Scalar>(whole[c].L[i * P + q]), f.D[q] = narrow<Scalar>(whole[c].D[i * P + q]);
          w.U[q] = narrow<Scalar>(whole[c].U[i * P + q]), w.H[q] = narrow<Scalar>(whole[c].H[i * P + q]);
        }
      }
      ring(c) = RingClosure<Scalar, P>{};
      if (!rings[c]) continue;
      ring(c).edge.U_last = backward(c * m + m - P).U[0];
      for (int a = 0; a < P; ++a)
        for (int b = 0; b < P; ++b) {
          const int e        = a * P + b;
          ring(c).edge.Ls[e] = narrow<Scalar>(whole[c].Ls(a, b));
          ring(c).edge.Us[e] = narrow<Scalar>(whole[c].Us(a, b));
          ring(c).R[e]       = narrow<Scalar>(rings[c]->lower(a, b) + rings[c]->diag(a, b) + rings[c]->upper(a, b));
          ring(c).G[e]       = narrow<Scalar>(rings[c]->inverse(a, b));
        }
    }
    Kokkos::deep_copy(exec, forward_, forward);
    Kokkos::deep_copy(exec, backward_, backward);
    Kokkos::deep_copy(exec, ring_, ring);
    exec.fence();
    this->report.bytes = m * classes * (sizeof(ForwardRow<Scalar, P>) + sizeof(BackwardRow<Scalar, P>)) + classes * sizeof(RingClosure<Scalar, P>);
  }

  void factor_per_line(const Exec &exec, const LineSet &lines, const Input &bands, const LineSolverOptions &options)
  {
    using Kernel = PerLineFactorKernel<Scalar, P, Memory>;
    if (options.algorithm == "one_pass") throw std::invalid_argument("ribbon: algorithm one_pass takes shared matrices and classes, not one matrix per line");
    const std::size_t count = static_cast<std::size_t>(matrices_), width = periodic_ ? 1 + 4 * P : 1 + 2 * P;
    words_    = allocate<decltype(words_)>(exec, "ribbon::per_line::words", static_cast<std::size_t>(interior()) * width * count);
    closures_ = allocate<decltype(closures_)>(exec, "ribbon::per_line::closures", periodic_ ? (4 * P * P + 1) * count : 0);
    typename Kernel::Smallest smallest;
    Kokkos::parallel_reduce("ribbon::per_line::factor", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, matrices_), Kernel{bands.values, words_.data(), closures_.data(), matrices_, rows_, periodic_},
                            Kokkos::MinLoc<Real, std::int64_t>(smallest));
    this->report.algorithm = "thomas";
    this->report.reason    = options.algorithm == "thomas" ? "asked for" : "one matrix per line";
    this->report.bytes     = (words_.size() + closures_.size()) * sizeof(Scalar);
    if (!judge_pivot(static_cast<double>(smallest.val), smallest.val < 0, smallest.loc / rows_, smallest.loc % rows_, options)) return;
    if (try_probe(exec, bands, lines) > 450 * unit_roundoff<Scalar>()) this->report.status = FactorStatus::unsound;
  }

  bool                        empty_ = false, periodic_, per_line_, correct_ = false;
  std::int64_t                rows_, matrices_, classified_;
  Kokkos::View<int *, Memory> class_of_line_;

  std::optional<OnePass<Scalar, Exec, P>>        one_pass_;
  Kokkos::View<ForwardRow<Scalar, P> *, Memory>  forward_;
  Kokkos::View<BackwardRow<Scalar, P> *, Memory> backward_;
  Kokkos::View<RingClosure<Scalar, P> *, Memory> ring_;
  Kokkos::View<Scalar *, Memory>                 words_, closures_;
};

template <class Scalar, class Exec, int P>
std::shared_ptr<const typename LineSolver<Scalar, Exec>::Implementation> make_banded_solver(const Exec &exec, const LineSet &lines, const Bands<Scalar, typename Exec::memory_space> &bands,
                                                                                            const LineSolverOptions &options)
{
  return std::make_shared<BandedSolver<Scalar, Exec, P>>(exec, lines, bands, options);
}

} // namespace ribbon::detail
