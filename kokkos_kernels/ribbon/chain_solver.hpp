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
  /// Rows of a leaf, at least; 0 leaves the choice to the solver: on a device max(64, 4 W, min(rows /
  /// 65536, 128)), where tiles of leaves have kernels 16 or 32 for short chains and 80 for long ones with
  /// W = 8 or 10, on a host eight leaves per thread (docs/methods/multifrontal.md) where chains are long and have
  /// four threads each, else one; rings and pieces always as many as that. Where it is given hosts run
  /// the kernels of a device, and no device takes a chain with an odd sum of half-bandwidths for one with
  /// a diagonal of zeros more.
  std::int64_t leaf_size = 0;
  /// A pivot this small relative to the largest entry of its column counts as zero; 0 stands
  /// for 100 units of roundoff.
  double zero_pivot = 0;
  /// Threads that hosts cut chains for; 0: as many as the execution space runs. The same number gives the
  /// same tree, and the same bits, on any number of threads.
  int threads = 0;
  /// Hosts cut chains, too, that band LU would be faster for.
  bool orthogonal = false;
};

/// Direct solver for banded matrices, one or several of equal shape, closed to rings or not, by orthogonal
/// elimination on a tree over the chain of unknowns (docs/methods/multifrontal.md). A chain that is one leaf, on a
/// host, is eliminated by band LU with partial pivoting, and where that loses digits (entries that grow 64
/// times, a row that is exchanged for a thousand steps) orthogonally after all, then and from then on.
///
///     ribbon::ChainSolver<double> solver(exec, {n, 1, kl, ku});
///     solver.factor(exec, ribbon::ChainMatrix<double, int>{{n, row_begin, column, value}});
///     if (solver.report().ok()) solver.solve(exec, b, n, x, n, 1);
///
/// Scalars: float, double, Kokkos::complex<double>. Spaces: Kokkos' default execution space and
/// default host execution space. A solve allocates nothing but room for more columns than any before,
/// unless reserve() has made it.
template <class Scalar, class Exec = Kokkos::DefaultExecutionSpace>
class ChainSolver {
public:
  using Memory = typename Exec::memory_space;

  ChainSolver();
  ChainSolver(ChainSolver &&) noexcept;
  ChainSolver &operator=(ChainSolver &&) noexcept;
  ~ChainSolver();
  /// Makes the tree and allocates the factors. @throws std::invalid_argument where kl, ku or rows are
  /// negative, a ring has fewer than kl + ku + 1 rows or a piece fewer than kl + ku
  ChainSolver(const Exec &exec, const Chain &chain, const ChainSolverOptions &options = {});

  /// Factors; returns when the report is complete. Entries outside the band are undefined behaviour: the
  /// caller has seen the pattern.
  template <class Index>
  void factor(const Exec &exec, const ChainMatrix<Scalar, Index> &A);
  /// Factors a tree whose leaves are the pieces of a longer chain: leaf l passes what passed() of its piece
  /// was. The rows of `chain` are (kl + ku) per leaf, those of the cuts between pieces.
  void factor_passed(const Exec &exec, const Scalar *passed);
  /// (passed_size) what a piece passes on, in the memory of Exec: see multifrontal::Factors::Passed. A
  /// closed chain passes nothing.
  const Scalar *passed() const;
  std::size_t   passed_size() const;

  /// Makes room for solves of so many columns, transposed ones too. 128 columns are solved at a time, so that
  /// room for 128 is room for any number; the constructor makes it for one.
  void reserve(const Exec &exec, std::int64_t columns);

  const FactorReport       &report() const;
  const multifrontal::Tree &tree() const;
  /// Whether columns of the matrix that was factored last may have units so different that scales of rows
  /// alone lose digits of some (QR: all entries of one below 1/16, rows scaled): scale the columns, too.
  bool has_small_columns() const;
  /// Whether a row of it, or a pivot, is so small (2^-600, float 2^-60) that entries of
  /// the inverse may overflow.
  bool is_tiny() const;
  /// The smallest pivot where rows have been scaled. By band LU, whose rows have not: the smallest |U_jj|
  /// over the largest entry of its column or of its row, whichever is smaller, among those below 1e-5 of the
  /// largest entry of the matrix.
  double doubtful_pivot() const;
  /// det A / |det A| of what band LU factored; NaN by QR, whose reflections are not counted.
  std::complex<double> det_sign() const;
  /// "band LU" or "QR".
  const char *method() const;
  /// Kernels of a solve one way, for one column; chains whose tiles run at the same
  /// time take one for both ways.
  int launches() const;

  /// x = A^-1 b, or A^-T b, for all columns. Asynchronous on exec. b == x is allowed where
  /// rows are in their own order.
  void solve(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
             std::int64_t columns, bool transposed = false) const;

  /// The same for a piece, in two steps. up() leaves in `ends` (columns fastest) what the piece passes on: W
  /// numbers, transposed 2 W; down() takes what comes back: the unknowns of the cuts before and behind (2 W),
  /// transposed W numbers. A tree of passed leaves takes in `ends` what all leaves pass, and solves at once;
  /// b is read by transposed solves alone and x holds the cuts.
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
