// SPDX-License-Identifier: BSD-2-Clause
/// @file line_solver.hpp  The public entry to the kernels: factor a batch of banded matrices once, solve as
///   often as wanted.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/factor_report.hpp>
#include <ribbon/known_rows.hpp>
#include <ribbon/line_set.hpp>

#include <memory>

namespace ribbon {

struct LineSolverOptions {
  /// "auto", "one_pass", "tile_products" (one matrix for all lines in double, at most 8 unknowns between
  /// two chunks), "thomas", "pivoted", "partition" or "factored_reduction" (one matrix per line, not
  /// periodic, at most 8 unknowns that couple to either side).
  /// On a device, auto chooses partition for few long lines and factored_reduction for few lines of blocks
  /// or wide bands. Otherwise it chooses the algorithm that auto_table.hpp lists as the fastest, or the
  /// next one that accepts the lines. On a host it chooses thomas. It chooses pivoted if the probe finds
  /// the others unsound.
  /// Never chosen by auto: "cyclic_reduction", "parallel_cyclic_reduction" and "cr_pcr" (tridiagonal and
  /// block tridiagonal matrices, which they copy and eliminate in every solve), and "toeplitz_cr" (one
  /// tridiagonal matrix whose rows are equal except for the first and the last four). These four, and
  /// factored_reduction, need lines that fit the scratch of a team.
  std::string algorithm = "auto";
  /// A pivot is treated as zero if its size relative to the largest entry of its row is at most this value.
  /// 0: 100 units of roundoff.
  double zero_pivot = 0;
  /// Shape of one_pass: rows per thread and lines per team; 0 leaves the choice to the solver. Rows per
  /// thread: any value for one matrix per line. Tridiagonal and pentadiagonal matrices on interleaved
  /// lines: 16, 32, 64 in double, 32, 64 in float. Others: 32. Lines per team: a power of two, at most 32;
  /// in float the solver chooses 64. With thomas, lines_per_team = 32 streams blocks of rows through the
  /// scratch of teams. A device does this by default for contiguous lines.
  int rows_per_thread = 0, lines_per_team = 0;
  /// Rows of a segment of partition; 0 leaves the choice to the solver.
  std::int64_t rows_per_piece = 0;
  /// cr_pcr changes from cyclic reduction to parallel cyclic reduction where at most this many equations of
  /// a line are left; 0 leaves the choice to the solver.
  int switch_rows = 0;
  /// Treatment of lines whose matrix is singular because its rows sum to zero (Neumann and periodic lines
  /// of a band matrix). "report": they are failures. "zero_mean": the least-squares solution of zero mean.
  /// For a consistent right-hand side this is the solution of zero mean; LineSolver::inconsistency()
  /// measures the inconsistency of the others. Uncoupled parts of a line are treated one by one. A solve
  /// has one more kernel, and shifted matrices are stored as one per line.
  std::string singular = "report";
  /// For thomas with one matrix per line: allocates room for the factors of factor_and_solve(), as much as
  /// for the stored factors. With "auto", lines are not split.
  bool refactors = false;
  /// With "auto", lines are not split into segments (partition): a solve is one launch and has no
  /// workspace.
  bool whole_lines = false;
  /// How factors are judged. "auto": by the bounds of the elimination (certificate.hpp), and by test solves
  /// (probe.hpp) if it gives no bounds. "always": by test solves. "never": by bounds and pivots alone.
  /// With "never", an inaccurate algorithm is not detected for matrices without bounds.
  std::string probe = "auto";
  /// The entries of matrices in double were rounded to single precision. The default of zero_pivot and the
  /// test of zero row sums (singular) then use the unit of roundoff of single precision.
  bool single_entries = false;
};

struct Segments;
template <class Scalar, class Exec>
class Partition;
template <class Scalar, class Exec>
class LineOperator;
template <class Scalar>
struct OperatorTerms;
template <class Scalar, class Exec>
class LineStepper;
template <class Scalar, class Memory>
struct OnePassTables;

/// Solver for all lines of a LineSet, periodic or not. Matrices are bands with up to 8 diagonals on either
/// side, or block tridiagonal with blocks of up to 8 unknowns.
///
///     ribbon::LineSolver<double> solver(exec, ribbon::LineSet::interleaved(n, M), bands);
///     if (!solver.report().ok()) ...
///     solver.solve(exec, b.data(), x.data());
///
/// Scalars: float, double, Kokkos::complex<double>, and Kokkos::complex<float>, which is solved in
/// complex<double> (complex_float.hpp). Spaces: Kokkos' default execution space and default host execution
/// space.
///
/// Copies share the factors and the workspace of a solve. A workspace exists for partition, for
/// factor_and_solve() with thomas, and for every solve of complex<float>. Solves with such a solver and its
/// copies must follow each other on one stream; independent() makes a solver for another stream. All other
/// solvers can run at the same time.
///
/// The set-up detects matrices for which one_pass or thomas is inaccurate. With algorithm auto, they are
/// eliminated by orthogonal transformations (pivoted). Otherwise they are reported (FactorStatus::unsound)
/// and never solved.
template <class Scalar, class Exec = Kokkos::DefaultExecutionSpace>
class LineSolver {
public:
  using scalar_type     = Scalar;
  using execution_space = Exec;
  using memory_space    = typename Exec::memory_space;
  using bands_type      = Bands<Scalar, memory_space>;

  /// An empty solver. Every use but an assignment throws std::logic_error, as for a solver that was moved
  /// from.
  LineSolver() = default;

  /// Factors. Allocates all memory that solve() needs and returns when the factors are complete.
  /// @param lines  layout of the lines to be solved; lines.rows == bands.rows()
  /// @param bands  see Bands; lines.components == bands.block; extent(0) is 1 (shared), the number of
  ///   classes, lines.lines() (per_line) or 2 (shifted)
  /// @throws std::invalid_argument if the extents do not match, a line has an invalid class, or the
  ///   algorithm is unknown or does not support these lines
  LineSolver(const Exec &exec, const LineSet &lines, const bands_type &bands,
             const LineSolverOptions &options = {});

  const FactorReport &report() const { return implementation().report; }
  const LineSet      &lines() const { return lines_; }

  /// The same solver for another stream: it shares the factors and has a separate workspace. Without a
  /// workspace it is a copy.
  LineSolver independent(const Exec &exec) const;

  /// x = A^-1 b for all lines. Asynchronous on exec, allocates nothing. b == x is allowed. One kernel
  /// (partition: see partition.hpp), and one more if columns had to be scaled (column_scale.hpp) or
  /// singular lines have zero mean. Solves with scaled columns that need refinement in the given units
  /// consist of three solves and two residuals.
  /// Lines whose matrix failed (FactorReport::failed; all lines if they share one matrix) hold NaN
  /// afterwards; the others are solved. Copies share their workspace. The workspace grows, and allocates,
  /// when a solve has more right-hand sides than any before.
  void solve(const Exec &exec, const Scalar *b, Scalar *x) const { solve(exec, b, lines_, x, lines_); }

  /// The same for lines at other places, with separate strides for b and x. The rows are the same, and the
  /// lines are a multiple of the factored lines (several right-hand sides per matrix: line l has the matrix
  /// of line l % lines().lines()).
  /// @throws std::invalid_argument if the counts of rows or lines do not match; for partition also if
  ///   b or x has two strides and a right-hand side after the first begins within a run of lines at one
  ///   stride
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const;

  /// Factors and solves in one call: as solve(exec, b, x), with matrices that have the values of `bands`.
  /// The stored factors do not change. Asynchronous on exec, allocates nothing. One kernel in flight with
  /// "one_pass" or a cyclic reduction. Two kernels with "thomas", for every width, block and length, if
  /// LineSolverOptions::refactors made room for the factors. There is no probe and no report: lines whose
  /// pivots vanish hold Inf or NaN.
  /// @param bands  per_line or shifted, with the rows, block and periodicity of the factored bands, and no
  ///   wider than the kernel
  /// @throws std::invalid_argument if they are not, or if the chosen algorithm does not support this call
  void factor_and_solve(const Exec &exec, const bands_type &bands, const Scalar *b, Scalar *x) const;

  /// Factors matrices with new values. The result is as for a new solver. If the algorithm supports it, the
  /// factors reuse the memory of the old ones. If the elimination proves its accuracy (certificate.hpp),
  /// there is no probe. Copies of this solver solve with the new factors; solvers from independent() must
  /// be constructed again.
  /// @param bands  of the factored extents, widths and kind
  /// @return false: these matrices failed or need another algorithm, and this solver must be constructed
  ///   again
  bool refactor(const Exec &exec, const bands_type &bands);

  /// The largest ||b - A x||_2 of a line with zero mean, or of an uncoupled part of one: the distance of
  /// right-hand sides from the range of their matrices. It covers the solves since the last call, by this
  /// solver, its copies and its independent() solvers. Consistent right-hand sides give rounding errors,
  /// right-hand sides that are not finite give infinity. 0 if no line is singular. Waits for exec;
  /// solves on other instances must be complete.
  double inconsistency(const Exec &exec) const { return implementation().inconsistency(exec); }

  struct Implementation {
    FactorReport report;
    virtual ~Implementation()                                                    = default;
    virtual void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
                       const KnownRows<Scalar> &known, std::int64_t first) const = 0;
    /// null: it can be shared
    virtual std::shared_ptr<Implementation> independent(const Exec &exec) const              = 0;
    virtual bool   solve_with(const Exec &exec, const bands_type &bands, const Scalar *b, const LineSet &in,
                              Scalar *x, const LineSet &out) const                           = 0;
    virtual double inconsistency(const Exec &exec) const                                     = 0;
    virtual bool   joins() const                                                             = 0;
    virtual bool   refactor(const Exec &exec, const LineSet &lines, const bands_type &bands) = 0;
    /// Prepares apply(): solves with right-hand sides B u. False: there is no such kernel.
    virtual bool fuse(const Exec &exec, const bands_type &B, std::string &why) = 0;
    /// y = alpha A^-1 B u + beta v, after fuse().
    virtual void apply(const Exec &exec, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out,
                       const OperatorTerms<Scalar> &terms) const = 0;
    /// Copies the tables of one_pass for bands of half-bandwidth 1 or 2. False: there are none.
    virtual bool tables(OnePassTables<Scalar, memory_space> &to, std::string &why) const = 0;
  };

private:
  friend struct Segments;
  friend class Partition<Scalar, Exec>;
  friend class LineOperator<Scalar, Exec>;
  friend class LineStepper<Scalar, Exec>;
  template <class, class>
  friend class LineSolver; // that of complex<float>

  /// @param continued  lines are segments (segments.hpp)
  LineSolver(const Exec &exec, const LineSet &lines, const bands_type &bands,
             const LineSolverOptions &options, bool continued);

  const Implementation &implementation() const;

  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const KnownRows<Scalar> &known) const; ///< of segments
  bool joins() const { return implementation().joins(); }

  void check_lines(const LineSet &in, const LineSet &out) const; ///< of a solve
  void check_again(const bands_type &bands) const;               ///< of factor_and_solve()

  /// Lines with the matrices of the factored lines [first, first + in.lines()).
  void solve_lines(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
                   const LineSet &out, const KnownRows<Scalar> &known) const;

  LineSet                         lines_;
  std::shared_ptr<Implementation> implementation_;
};

} // namespace ribbon

#include <ribbon/complex_float.hpp>
