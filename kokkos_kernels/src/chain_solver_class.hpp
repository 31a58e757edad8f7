// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_solver_class.hpp  The members of a ChainSolver.
#pragma once

#include <ribbon/chain_solver.hpp>
#include <ribbon/multifrontal/host/band_lu.hpp>
#include <ribbon/multifrontal/qr/solve.hpp>
#include <ribbon/device/staging.hpp>

#include <vector>

namespace ribbon {

template <class Scalar, class Exec>
struct ChainSolver<Scalar, Exec>::Implementation {
  Implementation() = default;
  Implementation(const Exec &exec, const Chain &chain, const ChainSolverOptions &options);

  template <class Index>
  void                 factor(const Exec &exec, const ChainMatrix<Scalar, Index> &A);
  void                 factor_passed(const Exec &exec, const Scalar *passed);
  void                 reserve(const Exec &exec, std::int64_t columns);
  std::complex<double> det_sign() const;
  const char          *method() const { return is_lu_ ? "band LU" : "QR"; }
  void                 solve(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
                             std::int64_t columns, bool transposed) const;
  void                 up(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
                          std::int64_t columns, bool transposed, Scalar *ends) const;
  void down(const Exec &exec, Scalar *x, std::int64_t ldx, std::int64_t columns, bool transposed,
            const Scalar *ends) const;
  void solve_passed(const Exec &exec, const Scalar *b, Scalar *x, std::int64_t columns, bool transposed,
                    Scalar *leaf_ends) const;

  using Statistics = multifrontal::PivotStatistics<real_t<Scalar>>;
  void                          allocate_lu(const Exec &exec);
  void                          allocate_tree(const Exec &exec);
  std::size_t                   workspace_size(std::int64_t columns, bool transposed) const;
  multifrontal::QrSolve<Scalar> columns_at(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x,
                                           std::int64_t ldx, std::int64_t columns, bool transposed) const;
  bool sweep_tiles(const Exec &exec, const multifrontal::QrSolve<Scalar> &solve, multifrontal::Way way) const;
  void sweep(const Exec &exec, const multifrontal::QrSolve<Scalar> &solve,
             multifrontal::Sweep direction) const;
  void factor_entries(const Exec &exec, const ChainEntries<Scalar> &A);
  void factor_joins(const Exec &exec);
  void finish_report(const Exec &exec);
  Statistics *tops() const;

  multifrontal::Tree            tree_;
  multifrontal::Factors<Scalar> factors_;
  multifrontal::BandLu<Scalar>  lu_;
  bool is_lu_ = false, has_leaves_ = true, in_tiles_ = false, in_lanes_ = false, has_small_columns_ = false,
       is_tiny_ = false;
  /// of a solve for one column; unknown before the first
  mutable std::int64_t                   teams_at_once_ = -1;
  std::int64_t                           reserved_      = 1; ///< columns that reserve() made room for
  ChainSolverOptions                     options_;
  const std::int64_t                    *row_of_ = nullptr;
  FactorReport                           report_;
  Kokkos::View<Scalar *, Memory>         reflection_, upper_, leaf_passed_, join_, passed_;
  Kokkos::View<Scalar *, Memory>         fill_, windows_; ///< of band LU, whose L is in reflection_
  Kokkos::View<int *, Memory>            exchange_, arrivals_;
  Kokkos::View<std::int64_t *, Memory>   plain_, postponed_;
  Kokkos::View<real_t<Scalar> *, Memory> row_scale_, grown_, doubtful_;
  double                                 doubtful_pivot_ = 1;
  /// Statistics as words: views of records would add device kernels of Kokkos for every type
  Kokkos::View<double *, Memory> leaf_statistics_, join_statistics_;
  /// of the nodes at the top of the tree, on the host
  StagedWords<Exec>                      top_statistics_;
  mutable Kokkos::View<Scalar *, Memory> workspace_; ///< data that nodes pass in a solve
};

} // namespace ribbon
