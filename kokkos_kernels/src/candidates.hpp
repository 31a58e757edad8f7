// SPDX-License-Identifier: BSD-2-Clause
/// @file candidates.hpp  The algorithms of a LineSolver: the lines that each accepts, and how it factors.
///   policy.hpp defines the order of trials; judge.hpp decides whether the factors are accurate.
#pragma once

#include "cyclic_reductions.hpp"
#include "in_flight.hpp"
#include "looped_and_partition.hpp"
#include "problem.hpp"

#include <complex>
#include <utility>
#include <vector>

namespace ribbon::detail {

/// Pivots that an elimination found.
struct Pivots {
  double               smallest   = 1e300;
  bool                 not_finite = false, singular = false;
  std::int64_t         line = -1, row = -1;
  double               growth = std::nan(""), log_abs_det = std::nan("");
  std::complex<double> det_sign = std::nan("");
  FactorReport         of_pieces; ///< report of partition; used if it made nothing
};

/// A row of the table: a way to factor lines. Several rows may have the same
/// algorithm, for different matrices.
template <class Scalar, class Exec>
struct Candidate {
  using Of = Problem<Scalar, Exec>;
  Algorithm algorithm;
  /// Reason why these lines are rejected; empty if no reason is known before factoring.
  std::string (*refusal)(const Of &);
  /// Factors. Returns null and sets `why` if no kernel or no tile fits.
  Made<Scalar, Exec> (*make)(const Of &, Pivots &, std::string &why);
};

template <class Scalar, class Exec>
class Candidates {
  using Of     = Problem<Scalar, Exec>;
  using Memory = typename Exec::memory_space;
  using Real   = real_t<Scalar>;
  using Output = Made<Scalar, Exec>;
  using Row    = Candidate<Scalar, Exec>;

public:
  static std::string a_short_ring(const Of &problem)
  {
    return "a ring of " + std::to_string(problem.lines.rows) + " rows";
  }
  static Pivots placed(const DevicePivot &found)
  {
    Pivots p;
    p.smallest = found.smallest, p.not_finite = found.smallest < 0, p.line = found.line, p.row = found.row;
    p.log_abs_det = found.log_abs_det, p.det_sign = found.det_sign;
    return p;
  }

private:
  /// Of candidates that accept every matrix.
  static std::string no_refusal(const Of &) { return {}; }

  /// Calls make(watch), which reports every pivot to `watch`.
  template <class Make>
  static Output watched(const Of &problem, Pivots &p, const Make &make)
  {
    PivotWatch watch;
    watch.tolerance = problem.tolerance();
    Output made     = make(watch);
    p.smallest = static_cast<double>(watch.smallest), p.not_finite = watch.not_finite, p.line = watch.matrix,
    p.row = watch.row;
    if (made && made->growth_is_known && !made->orthogonal) p.growth = static_cast<double>(watch.growth);
    p.log_abs_det = static_cast<double>(watch.log_det), p.det_sign = std::complex<double>(watch.sign);
    return made;
  }
  /// Calls make(pivot), which finds the smallest pivot in the memory of the matrices.
  template <class Make>
  static Output found(const Of &problem, Pivots &p, const Make &make)
  {
    DevicePivot smallest{problem.tolerance()};
    Output      made = make(smallest);
    if (made) p = placed(smallest);
    return made;
  }

  static bool has_one_pass(const Of &problem)
  {
    return with_system<Scalar>(problem.reach, problem.bands.block, [](auto, auto) {});
  }
  static std::string refuse_one_pass(const Of &problem)
  {
    return has_one_pass(problem) ? "" : "one_pass takes half-bandwidths to 4 and blocks of 2 and 4";
  }
  static Output make_one_pass_of_few(const Of &problem, Pivots &p, std::string &why)
  {
    Output     made;
    const bool several = problem.on_host().size() > 1;
    // no kernel for several matrices of half-bandwidth 3
    const int reach = problem.reach == 3 && several ? 4 : problem.reach;
    with_system<Scalar>(reach, problem.bands.block, [&](auto K, auto B) {
      const auto matrices = problem.on_host_with(K());
      made                = watched(problem, p, [&](PivotWatch &watch) {
        return make_one_pass<Scalar, Exec, K(), B()>(problem.exec, problem.lines, matrices, problem.options,
                                                     watch, why);
      });
    });
    return made;
  }

  static constexpr const char *of_one_matrix = "one matrix for all lines, in double precision";
  static std::string           refuse_tile_products(const Of &problem)
  {
    return std::is_same_v<Scalar, double> && !problem.one_per_line() && problem.on_host().size() == 1
             ? ""
             : of_one_matrix;
  }
  static Output make_products(const Of &problem, Pivots &p, std::string &why)
  {
    if constexpr (std::is_same_v<Scalar, double>)
      return watched(problem, p, [&](PivotWatch &watch) {
        return make_tile_products<Exec>(problem.exec, problem.on_host()[0], watch, why);
      });
    else return nullptr;
  }

  static std::string refuse_pivoted_one_pass(const Of &problem)
  {
    return problem.reach > 2 || problem.bands.block > 1 ? "pivoted one_pass takes half-bandwidths 1 and 2"
                                                        : "";
  }
  static Output make_pivoted_chunks(const Of &problem, Pivots &p, std::string &why)
  {
    const auto symmetric = padded(problem.on_host(), problem.reach);
    return watched(problem, p, [&](PivotWatch &watch) {
      return problem.reach == 1
               ? make_pivoted_one_pass<Scalar, Exec, 1>(problem.exec, problem.lines, symmetric,
                                                        problem.options, watch, why)
               : make_pivoted_one_pass<Scalar, Exec, 2>(problem.exec, problem.lines, symmetric,
                                                        problem.options, watch, why);
    });
  }

  static Output looped(const Of &problem, Pivots &p, const std::vector<HostMatrix<Scalar>> &from,
                       bool orthogonal)
  {
    return watched(problem, p, [&](PivotWatch &watch) {
      return std::make_unique<LoopedAlgorithm<Scalar, Exec>>(
        Looped<Scalar, Exec>(problem.exec, from, orthogonal, watch), orthogonal);
    });
  }
  static Output make_thomas_of_few(const Of &problem, Pivots &p, std::string &)
  {
    if (!problem.unrolled()) return looped(problem, p, problem.on_host(), false);
    return watched(problem, p, [&](PivotWatch &watch) {
      Output made;
      problem.with_reach([&](auto K) {
        made =
          make_thomas<Scalar, Exec, K()>(problem.exec, problem.on_host_with(K()), problem.staged(), watch);
      });
      return made;
    });
  }
  static Output make_pivoted_of_few(const Of &problem, Pivots &p, std::string &)
  {
    std::vector<HostMatrix<Scalar>> bands;
    for (const auto &A : problem.on_host())
      bands.push_back(problem.is_short(A.lower, A.upper) ? A.scalar_band().folded() : A.scalar_band());
    auto made = looped(problem, p, bands, true);
    p.row /= problem.bands.block; // of unknowns
    return made;
  }

  static std::string refuse_in_flight(const Of &problem)
  {
    const int block = problem.bands.block;
    if (problem.is_short_ring()) return a_short_ring(problem);
    if (has_one_pass(problem)) return {};
    return "no kernel for " +
           (block > 1 ? "blocks of " + std::to_string(block)
                      : "half-bandwidth " + std::to_string(problem.reach)) +
           " with one matrix per line";
  }
  static Output make_eliminated_in_flight(const Of &problem, Pivots &p, std::string &why)
  {
    return found(problem, p, [&](DevicePivot &pivot) {
      return detail::make_in_flight<Scalar, Exec>(problem.exec, problem.lines, problem.bands, problem.options,
                                                  problem.dominance, pivot, why);
    });
  }
  template <bool orthogonal>
  static Output looped_lines(const Of &problem, Pivots &p, const Bands<Scalar, Memory> &from)
  {
    typename LoopedFactorKernel<Scalar, Memory, orthogonal>::Smallest smallest;
    auto               plan = factor_lines<Scalar, Exec, orthogonal>(problem.exec, from,
                                                       static_cast<Real>(problem.tolerance()), smallest);
    const std::int64_t rows = from.rows();
    p.smallest = static_cast<double>(smallest.val), p.not_finite = smallest.val < 0;
    p.line = smallest.loc / rows, p.row = smallest.loc % rows;
    auto made = std::make_unique<LoopedAlgorithm<Scalar, Exec>>(std::move(plan), orthogonal);
    if (!orthogonal && problem.options.refactors) made->refactors(problem.exec);
    return made;
  }
  static Output make_thomas_of_lines(const Of &problem, Pivots &p, std::string &)
  {
    if (!problem.unrolled()) return looped_lines<false>(problem, p, problem.bands);
    return found(problem, p, [&](DevicePivot &pivot) {
      Output made;
      problem.with_reach([&](auto K) {
        made = make_thomas_per_line<Scalar, Exec, K()>(problem.exec, problem.bands, problem.staged(),
                                                       problem.options.refactors, pivot);
      });
      return made;
    });
  }
  static std::string refuse_block_thomas(const Of &problem)
  {
    const auto &bands = problem.bands;
    return !is_device_space<Exec> && bands.block > 1 && !bands.periodic && !problem.options.refactors &&
               (problem.one_per_line() || bands.lhs == Lhs::shared)
             ? ""
             : "takes blocks on a host, one matrix for all lines or one per line, not periodic";
  }
  static std::string refuse_block_rings(const Of &problem)
  {
    const auto &bands = problem.bands;
    return !is_device_space<Exec> && bands.block > 1 && bands.periodic && bands.kl() == 1 &&
               bands.ku() == 1 && problem.lines.rows > 2 && !problem.options.refactors &&
               problem.one_per_line()
             ? ""
             : "takes periodic blocks on a host, one matrix per line";
  }
  static Output make_block_thomas([[maybe_unused]] const Of &problem, [[maybe_unused]] Pivots &p,
                                  std::string &)
  {
    if constexpr (is_device_space<Exec>) return nullptr;
    else
      return found(problem, p, [&](DevicePivot &pivot) {
        return detail::make_block_thomas<Scalar, Exec>(problem.exec, problem.bands, pivot);
      });
  }
  static Output make_pivoted_of_lines(const Of &problem, Pivots &p, std::string &)
  {
    const auto &bands = problem.bands;
    if (!problem.is_short(bands.kl(), bands.ku())) return looped_lines<true>(problem, p, bands);
    auto made = looped_lines<true>(problem, p, folded(problem.exec, problem.on_host(), bands));
    p.row /= bands.block; // of unknowns
    return made;
  }
  static std::string refuse_factored_reduction(const Of &problem)
  {
    using Plan = FactoredReduction<Scalar, Exec>;
    if (!Plan::takes(problem.bands))
      return "it takes one matrix per line, not periodic, with at most 8 unknowns coupled to either side";
    const bool fits = Plan::scratch(problem.lines.rows, problem.bands) <= device::scratch_limit(problem.exec);
    return fits ? "" : no_room(problem.lines);
  }
  static Output make_from_factors(const Of &problem, Pivots &p, std::string &)
  {
    return found(problem, p, [&](DevicePivot &pivot) {
      return make_factored_reduction<Scalar, Exec>(problem.exec, problem.bands,
                                                   std::exchange(problem.again, nullptr), pivot);
    });
  }

  static std::string refuse_partition(const Of &problem)
  {
    if (problem.cut.pieces > 1) return {};
    return "lines of " + std::to_string(problem.lines.rows) + " rows give nothing to cut";
  }
  static Output make_pieces(const Of &problem, Pivots &p, std::string &why)
  {
    const bool              known = problem.options.rows_per_piece > 0 || pieces_are_many(problem.lines);
    Partition<Scalar, Exec> plan(problem.exec, problem.lines, problem.bands, problem.cut, known, why);
    FactorReport            met = plan.found();
    met.growth = met.log_abs_det = std::nan(""), met.det_sign = std::nan("");
    p.of_pieces = met;
    p.smallest = met.smallest_pivot, p.line = met.line, p.row = met.row;
    p.not_finite = met.status == FactorStatus::not_finite,
    p.singular   = met.status == FactorStatus::zero_pivot;
    if (!why.empty()) return nullptr;
    return std::make_unique<PartitionAlgorithm<Scalar, Exec>>(std::move(plan));
  }

  static std::string refuse_reduction(const Of &problem)
  {
    return problem.bands.half_bandwidth() > 1 ? "takes tridiagonal and block tridiagonal matrices" : "";
  }
  template <Algorithm which>
  static Output make_cyclic(const Of &problem, Pivots &p, std::string &why)
  {
    return found(problem, p, [&](DevicePivot &pivot) {
      return make_reduction<Scalar, Exec>(problem.exec, which, problem.lines, problem.bands, problem.options,
                                          pivot, why);
    });
  }
  static std::string refuse_toeplitz(const Of &problem)
  {
    const auto &bands = problem.bands;
    return bands.lhs == Lhs::shared && bands.block == 1 && bands.half_bandwidth() <= 1
             ? ""
             : "takes one tridiagonal matrix for all lines";
  }
  static Output make_toeplitz(const Of &problem, Pivots &p, std::string &why)
  {
    return watched(problem, p, [&](PivotWatch &watch) {
      return make_toeplitz_cr<Scalar, Exec>(problem.exec, problem.lines, problem.on_host()[0],
                                            problem.options, watch, why);
    });
  }

public:
  // One matrix for all lines, or a few.
  static constexpr Row one_pass         = {Algorithm::one_pass, refuse_one_pass, make_one_pass_of_few};
  static constexpr Row tile_products    = {Algorithm::tile_products, refuse_tile_products, make_products};
  static constexpr Row pivoted_one_pass = {Algorithm::pivoted, refuse_pivoted_one_pass, make_pivoted_chunks};
  static constexpr Row thomas           = {Algorithm::thomas, no_refusal, make_thomas_of_few};
  static constexpr Row pivoted          = {Algorithm::pivoted, no_refusal, make_pivoted_of_few};
  // One matrix per line, stored or alpha_l A + beta_l B.
  static constexpr Row in_flight        = {Algorithm::one_pass, refuse_in_flight, make_eliminated_in_flight};
  static constexpr Row thomas_per_line  = {Algorithm::thomas, no_refusal, make_thomas_of_lines};
  static constexpr Row pivoted_per_line = {Algorithm::pivoted, no_refusal, make_pivoted_of_lines};
  static constexpr Row factored_reduction = {Algorithm::factored_reduction, refuse_factored_reduction,
                                             make_from_factors};
  // One matrix for all lines or one per line; only with a certificate.
  static constexpr Row block_thomas = {Algorithm::thomas, refuse_block_thomas, make_block_thomas};
  // One matrix per line, without a certificate.
  static constexpr Row block_rings = {Algorithm::thomas, refuse_block_rings, make_block_thomas};
  // Any number of matrices.
  static constexpr Row partition = {Algorithm::partition, refuse_partition, make_pieces};
  // Only by name: `auto` never chooses these.
  static constexpr Row    cyclic_reduction          = {Algorithm::cyclic_reduction, refuse_reduction,
                                                       make_cyclic<Algorithm::cyclic_reduction>};
  static constexpr Row    parallel_cyclic_reduction = {Algorithm::parallel_cyclic_reduction, refuse_reduction,
                                                       make_cyclic<Algorithm::parallel_cyclic_reduction>};
  static constexpr Row    cr_pcr      = {Algorithm::cr_pcr, refuse_reduction, make_cyclic<Algorithm::cr_pcr>};
  static constexpr Row    toeplitz_cr = {Algorithm::toeplitz_cr, refuse_toeplitz, make_toeplitz};
  static std::vector<Row> by_name()
  {
    return {cyclic_reduction, parallel_cyclic_reduction, cr_pcr, toeplitz_cr};
  }
};

} // namespace ribbon::detail
