// SPDX-License-Identifier: BSD-2-Clause
/// @file schur_solver.hpp  Long banded matrices by the tree of Schur complements of K. Kuznik's thesis,
///   without pivoting: for matrices that need no pivoting. ChainSolver solves any matrix.
#pragma once

#include <ribbon/chain_solver.hpp>

namespace ribbon {

/// Direct solver for whole banded matrices, one or several of equal shape, closed to rings or not. Rows are
/// not exchanged: the accuracy depends on the leading minors of the matrix in the order of the tree, and
/// the caller judges it by a residual. Scalars, spaces and solves as in ChainSolver. Leaves have at least
/// max(kl, ku) + 1 rows. With a given leaf size, hosts run the kernels of a device.
template <class Scalar, class Exec = Kokkos::DefaultExecutionSpace>
class SchurSolver {
public:
  using Memory = typename Exec::memory_space;

  SchurSolver();
  SchurSolver(SchurSolver &&) noexcept;
  SchurSolver &operator=(SchurSolver &&) noexcept;
  ~SchurSolver();
  /// @throws std::invalid_argument for an invalid shape, or a sub-chain
  SchurSolver(const Exec &exec, const Chain &chain, const ChainSolverOptions &options = {});

  /// Factors; returns when the report is complete.
  template <class Index>
  void factor(const Exec &exec, const ChainMatrix<Scalar, Index> &A);

  /// Makes room for solves of `columns` columns, as ChainSolver::reserve() does.
  void reserve(const Exec &exec, std::int64_t columns);

  const FactorReport       &report() const;
  const multifrontal::Tree &tree() const;
  /// Kernels of a factorization, and of a solve in one direction, for one column. Chains whose tiles run at
  /// the same time need one kernel for both directions.
  int launches() const;

  /// x = A^-1 b, or A^-T b, for all columns. Asynchronous on exec. b == x is allowed if rows are in
  /// natural order.
  void solve(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
             std::int64_t columns, bool transposed = false) const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_; ///< not null, unless moved from
};

} // namespace ribbon
