// SPDX-License-Identifier: BSD-2-Clause
/// @file banded_system.hpp  The kernels of one system (K, B); included by the files that instantiate them.
#pragma once

#include "in_flight_algorithm.hpp"
#include "one_pass_product.hpp"
#include "thomas_product.hpp"

#include <ribbon/algorithm/whole_lines/certified_factor.hpp>
#include <ribbon/algorithm/in_flight/per_line_plan.hpp>
#include <ribbon/algorithm/one_pass/plan.hpp>
#include <ribbon/algorithm/whole_lines/per_line_factor.hpp>
#include <ribbon/algorithm/whole_lines/thomas.hpp>

namespace ribbon::detail {

template <class Scheme, class Exec>
struct OnePassAlgorithm final : Factored<typename Scheme::Scalar, Exec> {
  using Scalar = typename Scheme::Scalar;
  OnePass<Scheme, Exec>                         plan;
  bool                                          correct = false;
  std::shared_ptr<OnePassProduct<Scheme, Exec>> product; ///< of fuse()

  OnePassAlgorithm(const Exec &exec, const std::vector<HostMatrix<Scalar>> &matrices,
                   const OnePassShape &shape, PivotWatch &watch)
      : plan(exec, matrices, shape, watch)
  {
    this->name       = Scheme::always_ring ? "pivoted one_pass" : "one_pass";
    this->orthogonal = Scheme::always_ring;
    this->bytes      = plan.bytes();
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const int *class_of_line, std::int64_t classified) const override
  {
    solve_between(exec, b, in, x, out, class_of_line, classified, {});
  }
  void solve_between(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
                     const int *class_of_line, std::int64_t classified,
                     const KnownRows<Scalar> &known) const override
  {
    plan.solve(exec, b, in, x, out, class_of_line, classified, known, correct);
  }
  bool fuse(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &B, std::string &why) override
  {
    if constexpr (!has_product<Scheme>) why = this->name + " of this system applies no B";
    else product = make_product<Scheme, Exec>(exec, plan, B, why);
    return product != nullptr;
  }
  void apply(const Exec &exec, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out,
             const int *class_of_line, std::int64_t classified,
             const OperatorTerms<Scalar> &terms) const override
  {
    product->apply(exec, plan, u, in, y, out, class_of_line, classified, correct, terms);
  }
  bool tables(OnePassTables<Scalar, typename Exec::memory_space> &to, std::string &why) const override
  {
    if constexpr (has_product<Scheme> && Scheme::separators <= 2) {
      to = plan.tables(), to.correct = correct;
      return true;
    } else why = this->name + " of this system does not step on chip";
    return false;
  }
  bool joins() const override { return plan.joins() && !correct; }
  bool inverts_reduced_system() const override { return true; }
  bool refine() override
  {
    if (!correct) this->name += " with correction";
    return !std::exchange(correct, true);
  }
};

template <class Scheme, class Exec>
Made<typename Scheme::Scalar, Exec>
make_chunked(const Exec &exec, const LineSet &lines,
             const std::vector<HostMatrix<typename Scheme::Scalar>> &matrices,
             const LineSolverOptions &options, PivotWatch &watch, std::string &why)
{
  using Plan          = OnePass<Scheme, Exec>;
  const auto room     = TeamRoom::of(exec);
  const bool constant = matrices.size() == 1 && matrices[0].has_constant_stencil();
  const auto shape =
    Plan::choose(room, lines, matrices[0].periodic, constant, matrices.size() > 1 || matrices[0].continued,
                 options.rows_per_thread, options.lines_per_team);
  if (matrices[0].continued && !takes_continued<Scheme>(shape.slots))
    why = "no kernel for continued lines of this system";
  if (!Plan::several && matrices.size() > 1) why = "no kernel for several matrices of this system";
  if (!why.empty()) return nullptr;
  if (shape.split.chunks > 0) {
    auto made = std::make_unique<OnePassAlgorithm<Scheme, Exec>>(exec, matrices, shape, watch);
    if (made->plan.place(room, options.lines_per_team)) return made;
  }
  why = "lines of " + std::to_string(lines.rows) + " rows " +
        (lines.rows < Plan::least ? "are too short" : "do not fit the scratch of a team");
  return nullptr;
}

template <class Scalar, class Exec, int K, int B>
Made<Scalar, Exec> make_one_pass(const Exec &exec, const LineSet &lines,
                                 const std::vector<HostMatrix<Scalar>> &matrices,
                                 const LineSolverOptions &options, PivotWatch &watch, std::string &why)
{
  return make_chunked<PlainScheme<Scalar, K, B>>(exec, lines, matrices, options, watch, why);
}

template <class Scalar, class Exec, int K>
Made<Scalar, Exec>
make_pivoted_one_pass(const Exec &exec, const LineSet &lines, const std::vector<HostMatrix<Scalar>> &matrices,
                      const LineSolverOptions &options, PivotWatch &watch, std::string &why)
{
  LineSolverOptions shape = options;
  shape.rows_per_thread   = 0; // this option is a shape of one_pass
  return make_chunked<OrthogonalScheme<Scalar, K>>(exec, lines, matrices, shape, watch, why);
}

template <class Scalar, class Exec, int K>
Made<Scalar, Exec> make_one_pass_per_line(const Exec &exec, const LineSet &lines,
                                          const Bands<Scalar, typename Exec::memory_space> &bands,
                                          const LineSolverOptions &options, DevicePivot *pivot,
                                          std::string &why)
{
  auto made =
    made_in_flight<Scalar, Exec, K, 1, OnePassPerLine<Scalar, Exec, K>>(exec, lines, bands, options, why);
  if (!made) return nullptr;
  made->plan.share_elimination(exec, lines, options.rows_per_thread, options.lines_per_team);
  if (!pivot) return made;
  const auto found = made->plan.smallest_pivot(exec, static_cast<real_t<Scalar>>(pivot->tolerance));
  *pivot = {pivot->tolerance, static_cast<double>(found.val), found.loc / lines.rows, found.loc % lines.rows};
  return made;
}

/// A few matrices, whole lines.
template <class Scalar, class Exec, int P>
struct ThomasAlgorithm final : Factored<Scalar, Exec> {
  using Memory   = typename Exec::memory_space;
  using Forward  = typename PlainScheme<Scalar, P>::Forward;
  using Backward = typename PlainScheme<Scalar, P>::Backward;
  using Closure  = RingClosure<Scalar, P>;
  /// of records: a view of records would add device kernels of Kokkos for every type
  using Words = Kokkos::View<Scalar *, Memory>;
  Words        forward, backward, ring;
  std::int64_t interior;
  bool         periodic;

  bool staged;

  ThomasAlgorithm(const Exec &exec, const std::vector<HostMatrix<Scalar>> &matrices, bool through_scratch,
                  PivotWatch &watch)
      : interior(matrices[0].rows - (matrices[0].periodic ? P : 0)), periodic(matrices[0].periodic),
        staged(through_scratch)
  {
    const std::size_t m = static_cast<std::size_t>(interior), classes = matrices.size();
    forward =
      allocate<Words>(exec, "ribbon::thomas::forward", m * classes * sizeof(Forward) / sizeof(Scalar));
    backward =
      allocate<Words>(exec, "ribbon::thomas::backward", m * classes * sizeof(Backward) / sizeof(Scalar));
    ring = allocate<Words>(exec, "ribbon::thomas::ring", classes * sizeof(Closure) / sizeof(Scalar));
    const auto host_forward  = Kokkos::create_mirror_view(forward),
               host_backward = Kokkos::create_mirror_view(backward),
               host_ring     = Kokkos::create_mirror_view(ring);
    auto *f                  = reinterpret_cast<Forward *>(host_forward.data());
    auto *w                  = reinterpret_cast<Backward *>(host_backward.data());
    auto *r                  = reinterpret_cast<Closure *>(host_ring.data());
    for (std::size_t c = 0; c < classes; ++c) {
      const auto &A    = matrices[c];
      watch.current    = static_cast<int>(c);
      const auto chunk = eliminate_plain(A, 0, A.rows, periodic, watch);
      for (std::size_t i = 0; i < m; ++i) {
        f[c * m + i] = Forward{}, w[c * m + i] = Backward{};
        for (std::size_t e = 0; e < Forward::words; ++e)
          reinterpret_cast<Scalar *>(&f[c * m + i])[e] =
            narrow<Scalar>(chunk.forward[i * Forward::words + e]);
        for (std::size_t e = 0; e < Backward::words; ++e)
          reinterpret_cast<Scalar *>(&w[c * m + i])[e] =
            narrow<Scalar>(chunk.backward[i * Backward::words + e]);
      }
      r[c] = Closure{};
      if (!periodic) continue;
      const auto                  row_of = [&](int k) { return static_cast<int>(interior) + k; };
      const ReducedSystem<Scalar> closure(
        {chunk}, true, row_of, [&](int k) { return A.row_max(row_of(k)); }, watch);
      for (std::size_t e = 0; e < P * P; ++e) {
        r[c].edge.Lg[e] = narrow<Scalar>(chunk.edge[e]);
        r[c].edge.Us[e] = narrow<Scalar>(chunk.edge[P * P + e]);
        r[c].R[e]       = narrow<Scalar>(closure.lower.a[e] + closure.diag.a[e] + closure.upper.a[e]);
        r[c].G[e]       = narrow<Scalar>(closure.inverse.a[e]);
      }
    }
    Kokkos::deep_copy(exec, forward, host_forward);
    Kokkos::deep_copy(exec, backward, host_backward);
    Kokkos::deep_copy(exec, ring, host_ring);
    exec.fence();
    this->name  = "thomas";
    this->bytes = m * classes * (sizeof(Forward) + sizeof(Backward)) + classes * sizeof(Closure);
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const int *class_of_line, std::int64_t classified) const override
  {
    thomas_solve<Exec, Scalar, P>(exec, factors(class_of_line, classified), periodic, staged, b, in, x, out);
  }
  bool fuse(const Exec &, const Bands<Scalar, Memory> &B, std::string &why) override
  {
    return product.take(B, staged, why);
  }
  void apply(const Exec &exec, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out,
             const int *class_of_line, std::int64_t classified,
             const OperatorTerms<Scalar> &terms) const override
  {
    product.template apply<P>(exec, factors(class_of_line, classified), u, in, y, out, class_of_line,
                              classified, terms);
  }

private:
  ThomasProduct<Scalar, Exec> product;

  SharedFactors<Scalar, P> factors(const int *class_of_line, std::int64_t classified) const
  {
    return {reinterpret_cast<const Forward *>(forward.data()),
            reinterpret_cast<const Backward *>(backward.data()),
            reinterpret_cast<const Closure *>(ring.data()),
            class_of_line,
            classified,
            interior};
  }
};

/// One matrix per line, whole lines.
template <class Scalar, class Exec, int P>
struct PerLineThomas final : Factored<Scalar, Exec> {
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;
  using Kernel = PerLineFactorKernel<Scalar, P, Memory>;
  struct Factors {
    Kokkos::View<Scalar *, Memory> words, closures;

    Factors() = default;
    Factors(const Exec &exec, std::size_t rows, std::size_t count, bool periodic)
    {
      words =
        allocate<decltype(words)>(exec, "ribbon::per_line::words",
                                  (rows - (periodic ? P : 0)) * (periodic ? 1 + 4 * P : 1 + 2 * P) * count);
      closures =
        allocate<decltype(closures)>(exec, "ribbon::per_line::closures", periodic ? 4 * P * P * count : 0);
    }
    std::size_t bytes() const { return (words.size() + closures.size()) * sizeof(Scalar); }
  };
  Factors                                kept, again; ///< again: those of solve_with()
  PivotPlace<real_t<Scalar>, Memory>     place;
  Kokkos::View<real_t<Scalar> *, Memory> rcond, work; ///< of a certified factorization; empty for rings
  std::int64_t                           rows, count;
  bool                                   periodic, staged;

  PerLineThomas(const Exec &exec, const Input &bands, bool through_scratch, bool refactors,
                DevicePivot &pivot)
      : place(exec), rows(bands.rows()), count(bands.matrices()), periodic(bands.periodic),
        staged(through_scratch)
  {
    kept = room(exec);
    if (refactors) again = room(exec);
    if (!periodic) {
      rcond = allocate<decltype(rcond)>(exec, "ribbon::per_line::rcond", static_cast<std::size_t>(count));
      if (is_device_space<Exec>)
        work =
          allocate<decltype(work)>(exec, "ribbon::per_line::work", static_cast<std::size_t>(rows * count));
    }
    factor_kept(exec, bands, pivot);
    this->name  = "thomas";
    this->bytes = kept.bytes() + again.bytes() + (rcond.size() + work.size()) * sizeof(real_t<Scalar>);
  }
  bool refactor(const Exec &exec, const Input &bands, DevicePivot &pivot) override
  {
    if (bands.block != 1 || bands.half_bandwidth() > P || bands.periodic != periodic ||
        bands.rows() != rows || bands.matrices() != count)
      return false;
    factor_kept(exec, bands, pivot);
    return true;
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, const int *,
             std::int64_t) const override
  {
    solve(exec, kept, 0, b, in, x, out);
  }
  void solve_lines(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
                   const LineSet &out) const override
  {
    solve(exec, kept, first, b, in, x, out);
  }
  bool solve_with(const Exec &exec, const Input &bands, const Scalar *b, const LineSet &in, Scalar *x,
                  const LineSet &out) const override
  {
    if (again.words.size() == 0 || bands.block != 1 || bands.half_bandwidth() > P ||
        bands.periodic != periodic)
      return false;
    factor(exec, bands, again, 0);
    solve(exec, again, 0, b, in, x, out);
    return true;
  }
  bool fuse(const Exec &, const Input &B, std::string &why) override { return product.take(B, staged, why); }
  void apply(const Exec &exec, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out,
             const int *class_of_line, std::int64_t classified,
             const OperatorTerms<Scalar> &terms) const override
  {
    product.template apply<P>(
      exec, PerLineFactors<Scalar, P>{kept.words.data(), kept.closures.data(), count, periodic}, u, in, y,
      out, class_of_line, classified, terms);
  }
  std::shared_ptr<Factored<Scalar, Exec>> independent(const Exec &exec) const override
  {
    if (again.words.size() == 0) return {};
    auto other   = std::make_shared<PerLineThomas>(*this);
    other->again = room(exec), other->place = decltype(place)(exec);
    return other;
  }

private:
  ThomasProduct<Scalar, Exec> product;

  Factors room(const Exec &exec) const
  {
    return Factors(exec, static_cast<std::size_t>(rows), static_cast<std::size_t>(count), periodic);
  }
  void factor_kept(const Exec &exec, const Input &bands, DevicePivot &pivot)
  {
    if (periodic) factor(exec, bands, kept, pivot.tolerance);
    else factor_certified(exec, bands, pivot.tolerance);
    const auto smallest = place.found(exec);
    pivot = {pivot.tolerance, static_cast<double>(smallest.val), smallest.loc / rows, smallest.loc % rows};
  }
  void factor_certified(const Exec &exec, const Input &bands, double tolerance)
  {
    using Certified = CertifiedFactorKernel<Scalar, P, Memory>;
    using Real      = real_t<Scalar>;
    using Smallest  = Kokkos::MinLoc<Real, std::int64_t>;
    const Certified kernel{
      BandEntries<Scalar, Memory>(bands), kept.words.data(), count, rcond.data(), work.data(),
      static_cast<Real>(tolerance)};
    typename Smallest::value_type found;
    if constexpr (is_device_space<Exec>)
      Kokkos::parallel_reduce("ribbon::per_line::factor", indices(exec, count), kernel, place.reducer());
    else {
      const CertifiedFactorTiles<Scalar, P, Memory> tiles{kernel};
      Kokkos::parallel_reduce("ribbon::per_line::factor", indices(exec, tiles.tiles()), tiles,
                              place.reducer());
    }
    Kokkos::parallel_reduce("ribbon::per_line::rcond", indices(exec, count), SmallestOf<Real, Memory>{rcond},
                            Smallest(found));
    this->certificate = {count > 0 ? static_cast<double>(found.val) : 1, count > 0 ? found.loc : -1,
                         Certificate::error_of(P)};
  }
  void factor(const Exec &exec, const Input &bands, const Factors &to, double tolerance) const
  {
    const Kernel kernel{BandEntries<Scalar, Memory>(bands),    to.words.data(), to.closures.data(), count, 0,
                        static_cast<real_t<Scalar>>(tolerance)};
    if constexpr (is_device_space<Exec>)
      Kokkos::parallel_reduce("ribbon::per_line::factor", indices(exec, count), kernel, place.reducer());
    else {
      const PerLineFactorTiles<Scalar, P, Memory> tiles{kernel};
      Kokkos::parallel_reduce("ribbon::per_line::factor", indices(exec, tiles.tiles()), tiles,
                              place.reducer());
    }
  }
  void solve(const Exec &exec, const Factors &factors, std::int64_t first, const Scalar *b, const LineSet &in,
             Scalar *x, const LineSet &out) const
  {
    thomas_solve<Exec, Scalar, P>(exec,
                                  PerLineFactors<Scalar, P>{factors.words.data() + first,
                                                            factors.closures.data() + (periodic ? first : 0),
                                                            count, periodic},
                                  periodic, staged, b, in, x, out);
  }
};

template <class Scalar, class Exec, int K>
Made<Scalar, Exec> make_thomas(const Exec &exec, const std::vector<HostMatrix<Scalar>> &matrices, bool staged,
                               PivotWatch &watch)
{
  return std::make_unique<ThomasAlgorithm<Scalar, Exec, K>>(exec, matrices, staged, watch);
}

template <class Scalar, class Exec, int K>
Made<Scalar, Exec> make_thomas_per_line(const Exec                                       &exec,
                                        const Bands<Scalar, typename Exec::memory_space> &bands, bool staged,
                                        bool refactors, DevicePivot &pivot)
{
  return std::make_unique<PerLineThomas<Scalar, Exec, K>>(exec, bands, staged, refactors, pivot);
}

} // namespace ribbon::detail
