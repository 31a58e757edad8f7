// SPDX-License-Identifier: BSD-2-Clause
/// @file schur_solver_class.hpp  The members of a SchurSolver.
#pragma once

#include <ribbon/multifrontal/schur/factors.hpp>
#include <ribbon/schur_solver.hpp>
#include <ribbon/device/staging.hpp>

#include <vector>

namespace ribbon {

template <class Scalar, class Exec>
struct SchurSolver<Scalar, Exec>::Implementation {
  Implementation() = default;
  Implementation(const Exec &exec, const Chain &chain, const ChainSolverOptions &options);

  template <class Index>
  void factor(const Exec &exec, const ChainMatrix<Scalar, Index> &A);
  void reserve(const Exec &exec, std::int64_t columns);
  void solve(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
             std::int64_t columns, bool transposed) const;

  using Statistics = multifrontal::PivotStatistics<real_t<Scalar>>;
  void        allocate_factors(const Exec &exec);
  std::size_t workspace_size(std::int64_t columns) const;
  void        finish_report(const Exec &exec);
  Statistics *tops() const;
  bool        solve_in_tiles(const Exec &exec, const multifrontal::SchurSolve<Scalar> &solve) const;
  template <bool Up>
  bool columns_in_tiles(const Exec &exec, const multifrontal::SchurSolve<Scalar> &solve) const;

  multifrontal::Tree                 tree_;
  multifrontal::SchurFactors<Scalar> factors_;
  std::vector<multifrontal::Levels>  plan_;
  /// there are kernels with tiles of 32 leaves for this half-bandwidth
  bool in_tiles_ = false;
  /// of a solve for one column; unknown before the first
  mutable std::int64_t           teams_at_once_ = -1;
  double                         zero_pivot_    = 0;
  const std::int64_t            *row_of_        = nullptr;
  FactorReport                   report_;
  Kokkos::View<Scalar *, Memory> pivot_, lower_, upper_, front_, join_;
  Kokkos::View<double *, Memory> leaf_statistics_, join_statistics_; ///< Statistics as words
  Kokkos::View<int *, Memory>    arrivals_;
  /// of the nodes at the top of the tree, on the host
  StagedWords<Exec>                      top_statistics_;
  mutable Kokkos::View<Scalar *, Memory> workspace_; ///< data that nodes pass in a solve
};

} // namespace ribbon
