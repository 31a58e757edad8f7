// SPDX-License-Identifier: BSD-2-Clause
/// @file schur_solver.hpp  Long banded matrices by the tree of Schur complements of K. Kuznik's thesis, without pivoting: for matrices that need none. ChainSolver takes any.
#pragma once

#include <ribbon/chain_solver.hpp>
#include <ribbon/multifrontal/schur_factors.hpp>

namespace ribbon {

/// Direct solver for whole banded matrices, one or several of equal shape, closed to rings or not. Nothing is exchanged: the answer is as good as the leading minors of the matrix are, in the order of the
/// tree, and the caller judges it by a residual. Scalars, spaces and solves as in ChainSolver; leaves have max(kl, ku) + 1 rows at
/// least. Where a leaf size is given hosts run the kernels of a device.
template <class Scalar, class Exec = Kokkos::DefaultExecutionSpace>
class SchurSolver {
public:
  using Memory = typename Exec::memory_space;

  SchurSolver() = default;
  /// @throws std::invalid_argument where the shape is none, or a piece of a longer chain
  SchurSolver(const Exec &exec, const Chain &chain, const ChainSolverOptions &options = {});

  /// Factors; returns when the report is complete.
  template <class Index>
  void factor(const Exec &exec, const ChainMatrix<Scalar, Index> &A);

  /// Makes room for solves of so many columns, as ChainSolver::reserve() does.
  void reserve(const Exec &exec, std::int64_t columns);

  const FactorReport       &report() const { return report_; }
  const multifrontal::Tree &tree() const { return tree_; }
  /// Kernels of a factorization, and of a solve one way, for one column; chains whose tiles run at the same time take one for both ways.
  int launches() const { return in_tiles_ ? 1 : static_cast<int>(plan_.size()) + 1; }

  /// x = A^-1 b, or A^-T b, for all columns. Asynchronous on exec. b == x is allowed where rows are in their own order.
  void solve(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx, std::int64_t columns, bool transposed = false) const;

private:
  using Statistics = multifrontal::PivotStatistics<real_t<Scalar>>;
  std::size_t workspace_size(std::int64_t columns) const;
  void        finish_report(const Exec &exec);
  Statistics *tops() const;
  bool        solve_in_tiles(const Exec &exec, const multifrontal::SchurSolve<Scalar> &solve) const;
  template <bool Up>
  bool columns_in_tiles(const Exec &exec, const multifrontal::SchurSolve<Scalar> &solve) const;

  multifrontal::Tree                     tree_;
  multifrontal::SchurFactors<Scalar>     factors_;
  std::vector<multifrontal::Levels>      plan_;
  bool                                   in_tiles_      = false; ///< half-bandwidths with kernels for tiles of 32 leaves
  mutable std::int64_t                   teams_at_once_ = -1;    ///< of a solve for one column; unknown before the first
  double                                 zero_pivot_    = 0;
  const std::int64_t                    *row_of_        = nullptr;
  FactorReport                           report_;
  Kokkos::View<Scalar *, Memory>         pivot_, lower_, upper_, front_, join_;
  Kokkos::View<double *, Memory>         leaf_statistics_, join_statistics_; ///< Statistics as words
  Kokkos::View<int *, Memory>            arrivals_;
  StagedWords<Exec>                      top_statistics_; ///< of the nodes at the top, on the host
  mutable Kokkos::View<Scalar *, Memory> workspace_;      ///< what nodes pass in a solve
};

} // namespace ribbon
