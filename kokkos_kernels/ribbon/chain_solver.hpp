// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_solver.hpp  The public entry to the multifrontal kernels: factor long banded matrices once,
///   solve as often as wanted.
#pragma once

#include <ribbon/factor_report.hpp>
#include <ribbon/chain.hpp>

#include <complex>
#include <memory>

namespace ribbon {

struct ChainSolverOptions {
  /// Fewest rows of a leaf; 0 leaves the choice to the solver. On a device it chooses max(64, 4 W,
  /// min(rows / 65536, 128)). For W with kernels for tiles of leaves, it chooses 16 or 32 for short chains,
  /// and 80 for long ones with W = 8 or 10. On a host it chooses eight leaves per thread
  /// (docs/methods/multifrontal.md) for long chains with four threads each, else one leaf. Rings and
  /// sub-chains always have eight per thread.
  ///
  /// With a given size, hosts run the kernels of a device. A device then does not add a diagonal of zeros
  /// to a chain with an odd sum of half-bandwidths.
  std::int64_t leaf_size = 0;
  /// A pivot is treated as zero if its size relative to the largest entry of its column is at most this
  /// value. 0: 100 units of roundoff.
  double zero_pivot = 0;
  /// Threads for which hosts divide chains; 0: all threads of the execution space. The same value gives the
  /// same tree, and bitwise the same results, on any number of threads.
  int threads = 0;
  /// Hosts also divide chains for which band LU would be faster.
  bool orthogonal = false;
};

/// Direct solver for banded matrices, one or several of equal shape, closed to rings or not. It uses
/// orthogonal elimination on a tree over the chain of unknowns (docs/methods/multifrontal.md). On a host, a
/// chain that is one leaf is eliminated by band LU with partial pivoting. Band LU is inaccurate if entries
/// grow 64 times, or if a row is exchanged for a thousand steps. The solver then changes to orthogonal
/// elimination, also for later factorizations.
///
///     ribbon::ChainSolver<double> solver(exec, {n, 1, kl, ku});
///     solver.factor(exec, ribbon::ChainMatrix<double, int>{{n, row_begin, column, value}});
///     if (solver.report().ok()) solver.solve(exec, b, n, x, n, 1);
///
/// Scalars: float, double, Kokkos::complex<double>. Spaces: Kokkos' default execution space and default
/// host execution space. A solve allocates only if it has more columns than any before, unless reserve()
/// made room for them.
template <class Scalar, class Exec = Kokkos::DefaultExecutionSpace>
class ChainSolver {
public:
  using Memory = typename Exec::memory_space;

  ChainSolver();
  ChainSolver(ChainSolver &&) noexcept;
  ChainSolver &operator=(ChainSolver &&) noexcept;
  ~ChainSolver();
  /// Makes the tree and allocates the factors.
  /// @throws std::invalid_argument if kl, ku or rows are negative, a ring has fewer than kl + ku + 1
  ///   rows or a sub-chain fewer than kl + ku
  ChainSolver(const Exec &exec, const Chain &chain, const ChainSolverOptions &options = {});

  /// Factors; returns when the report is complete. Entries outside the band are undefined behaviour: the
  /// caller has checked the pattern.
  template <class Index>
  void factor(const Exec &exec, const ChainMatrix<Scalar, Index> &A);
  /// Factors a tree whose leaves are the sub-chains of a longer chain: leaf l receives the array that
  /// passed() of its sub-chain returned. The rows of `chain` are (kl + ku) per leaf, those of the cuts
  /// between sub-chains.
  void factor_passed(const Exec &exec, const Scalar *passed);
  /// (passed_size) the equations that a sub-chain passes to the tree of sub-chains, in the memory of Exec:
  /// see multifrontal::Factors::Passed. A closed chain passes nothing.
  const Scalar *passed() const;
  std::size_t   passed_size() const;

  /// Makes room for solves of `columns` columns, transposed ones too. 128 columns are solved at a time, so
  /// that room for 128 is room for any number; the constructor makes room for one.
  void reserve(const Exec &exec, std::int64_t columns);

  const FactorReport       &report() const;
  const multifrontal::Tree &tree() const;
  /// Whether columns of the last factored matrix may have units so different that scales of rows alone are
  /// inaccurate (QR: all entries of a column below 1/16 after row scaling). If so, scale the columns, too.
  bool has_small_columns() const;
  /// Whether a row of the last factored matrix, or a pivot, is so small (2^-600, float 2^-60) that entries
  /// of the inverse may overflow.
  bool is_tiny() const;
  /// The smallest pivot, if rows are scaled. Band LU with unscaled rows considers pivots |U_jj| below 1e-5
  /// of the largest entry of the matrix. Each is divided by the largest entry of its column or by that of
  /// its row, whichever entry is smaller.
  double doubtful_pivot() const;
  /// det A / |det A| of a band LU; NaN for QR, which does not count its reflections.
  std::complex<double> det_sign() const;
  /// "band LU" or "QR".
  const char *method() const;
  /// Kernels of a solve in one direction (up or down the tree), for one column. Chains whose tiles run at
  /// the same time need one kernel for both directions.
  int launches() const;

  /// x = A^-1 b, or A^-T b, for all columns. Asynchronous on exec. b == x is allowed if rows are in
  /// natural order.
  void solve(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
             std::int64_t columns, bool transposed = false) const;

  /// The same for a sub-chain, in two steps. up() writes to `ends` (columns fastest) the right-hand sides
  /// that the sub-chain passes on: W values, transposed 2 W. down() reads the unknowns of the cuts before
  /// and behind from `ends`: 2 W values, transposed W. solve_passed(), for a tree of passed leaves, reads
  /// the passed values of all leaves from `ends` and solves at once; it reads b for transposed solves only,
  /// and x holds the cuts.
  void up(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
          std::int64_t columns, bool transposed, Scalar *ends) const;
  void down(const Exec &exec, Scalar *x, std::int64_t ldx, std::int64_t columns, bool transposed,
            const Scalar *ends) const;
  void solve_passed(const Exec &exec, const Scalar *b, Scalar *x, std::int64_t columns, bool transposed,
                    Scalar *leaf_ends) const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_; ///< not null, unless moved from
};

} // namespace ribbon
