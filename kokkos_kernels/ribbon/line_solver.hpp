// SPDX-License-Identifier: BSD-2-Clause
/// @file line_solver.hpp  The public entry to the kernels: factor a batch of banded matrices once,
///   solve as often as wanted.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/factor_report.hpp>
#include <ribbon/known_rows.hpp>
#include <ribbon/line_set.hpp>

#include <memory>

namespace ribbon {

struct LineSolverOptions {
  /// "auto", "one_pass", "tile_products" (one matrix for all lines in double, at most 8 unknowns between two
  /// chunks), "thomas", "pivoted", "partition" or "factored_reduction" (one matrix per line, not periodic, at
  /// most 8 unknowns that couple to either side). On a device auto takes partition for few long lines,
  /// factored_reduction for few lines of blocks or wide bands, and otherwise what auto_table.hpp says was
  /// fastest, or the next that takes the lines; on a host thomas. It takes pivoted where the probe finds the
  /// others unsound. Never taken by auto: "cyclic_reduction",
  /// "parallel_cyclic_reduction" and "cr_pcr" (tridiagonal and block tridiagonal matrices, which they copy
  /// and eliminate in every solve) and "toeplitz_cr" (one tridiagonal matrix whose rows agree but for the
  /// first and the last four). These four, and factored_reduction, need lines that fit the scratch of a team.
  std::string algorithm = "auto";
  /// A pivot this small relative to the largest entry of its row counts as zero; 0 stands
  /// for 100 units of roundoff.
  double zero_pivot = 0;
  /// Shape of one_pass: rows a thread holds (one matrix per line: any; tridiagonal and pentadiagonal in
  /// double, interleaved lines: 16, 32, 64; in float 32, 64; others 32) and lines a team holds (a power
  /// of two, at most 32); 0 leaves the choice to the solver, which takes 64 lines in float. With thomas,
  /// lines_per_team = 32 passes blocks of rows through the scratch of teams, which a device does by
  /// itself for contiguous lines.
  int rows_per_thread = 0, lines_per_team = 0;
  /// Rows of a piece of partition; 0 leaves the choice to the solver.
  std::int64_t rows_per_piece = 0;
  /// cr_pcr changes from cyclic reduction to parallel cyclic reduction where at most so many equations of a
  /// line are left; 0 leaves the choice to the solver.
  int switch_rows = 0;
  /// What becomes of lines whose matrix is singular because its rows sum to zero (Neumann and periodic lines
  /// of a band matrix): "report" them, or "zero_mean": solve them for least squares and zero mean, which is
  /// the solution of zero mean where the right-hand side is consistent; LineSolver::inconsistency() tells
  /// where it was not. Pieces of a line that do not couple count each for itself. One kernel more in a solve;
  /// shifted matrices are then kept as one per line.
  std::string singular = "report";
  /// Lines are pieces of longer ones: entries that leave them are couplings with rows beside them, which
  /// solve() is told. Algorithm one_pass, shared bands or classes, not periodic.
  bool continued = false;
  /// thomas with one matrix per line: room for the factors of factor_and_solve(), as much as for those that
  /// are kept. With "auto" lines are not cut.
  bool refactors = false;
  /// With "auto" lines are not cut in pieces (partition): a solve is one launch and has no workspace.
  bool whole_lines = false;
  /// How factors are judged. "auto": by what the elimination proves (certificate.hpp), and by solves
  /// (probe.hpp) where it proves nothing. "always": by solves. "never": by what it proves and by pivots
  /// alone: an algorithm that is inaccurate for a matrix is not found out then.
  std::string probe = "auto";
  /// The entries of matrices in double were rounded to single precision: zero_pivot's default and sums of
  /// rows (singular) are judged in its units.
  bool single_entries = false;
};

template <class Scalar, class Exec>
class Partition;

/// Solver for all lines of a LineSet, for band matrices with up to 8 diagonals on either side and block
/// tridiagonal matrices with blocks up to 8, periodic or not.
///
///     ribbon::LineSolver<double> solver(exec, ribbon::LineSet::interleaved(n, M), bands);
///     if (!solver.report().ok()) ...
///     solver.solve(exec, b.data(), x.data());
///
/// Scalars: float, double, Kokkos::complex<double>, and Kokkos::complex<float>, which is solved in
/// complex<double> (complex_float.hpp). Spaces: Kokkos' default execution space and default host execution
/// space. Copies share the factors, and the workspace of a solve where that has one: partition,
/// factor_and_solve() with thomas, and every solve of complex<float>. Solves with such a solver and its
/// copies follow each other, on one stream; independent() makes one for another stream. All others may run at
/// the same time. Matrices that lose their digits in one_pass or thomas are found when they are factored and,
/// with algorithm auto, eliminated by orthogonal transformations (pivoted); otherwise they are reported
/// (FactorStatus::unsound), never solved.
template <class Scalar, class Exec = Kokkos::DefaultExecutionSpace>
class LineSolver {
public:
  using scalar_type     = Scalar;
  using execution_space = Exec;
  using memory_space    = typename Exec::memory_space;
  using bands_type      = Bands<Scalar, memory_space>;

  /// Solves nothing: every use but an assignment is a std::logic_error, as it is of one that was moved from.
  LineSolver() = default;

  /// Factors. Allocates everything that solve() needs and returns when the factors are complete.
  /// @param lines  layout of the lines to be solved; lines.rows == bands.rows()
  /// @param bands  see Bands; lines.components == bands.block; extent(0) is 1 (shared), the number of
  ///   classes, lines.lines() (per_line) or 2 (shifted)
  /// @throws std::invalid_argument where the extents do not fit each other, a line has a class that is none,
  ///   the algorithm is unknown or cannot take these lines
  LineSolver(const Exec &exec, const LineSet &lines, const bands_type &bands,
             const LineSolverOptions &options = {});

  const FactorReport &report() const { return implementation().report; }
  const LineSet      &lines() const { return lines_; }

  /// The same solver for another stream: shares the factors and has workspace of its own. Where a
  /// solve has none it is a copy.
  LineSolver independent(const Exec &exec) const;

  /// x = A^-1 b for all lines. Asynchronous on exec, allocates nothing, one kernel (partition:
  /// partition.hpp states how many; zero_mean: one more). b == x is allowed. Lines whose matrix failed
  /// (FactorReport::failed; all lines where one matrix is that of all) hold NaN afterwards, the others
  /// are solved. Where columns had to be scaled (column_scale.hpp), or singular lines have zero mean,
  /// one kernel more. Solves with scaled columns that need refinement in the given units are three
  /// solves and two residuals. Copies share their workspace; it grows, and allocates, when more
  /// right-hand sides come than before.
  void solve(const Exec &exec, const Scalar *b, Scalar *x) const { solve(exec, b, lines_, x, lines_); }

  /// The same for lines that lie elsewhere, b and x at strides of their own: as many rows, and a
  /// multiple of the lines that were factored (several right-hand sides per matrix: line l has the
  /// matrix of line l % lines().lines()).
  /// @throws std::invalid_argument where rows or numbers of lines do not fit, and, by partition, where b or x
  ///   has two strides and a right-hand side after the first begins within a run of lines at one stride
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const;

  /// The same for lines that are pieces of longer ones (LineSolverOptions::continued), with
  /// the unknowns beside them.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const KnownRows<Scalar> &known) const;

  /// Whether such lines may find by themselves what lies beside them (KnownRows::joined).
  bool joins() const { return implementation().joins(); }

  /// Factors and solves in one call: as solve(exec, b, x), with matrices that have the values of `bands`
  /// instead of those that were factored, which are kept. Asynchronous on exec, allocates nothing. One kernel
  /// in flight by "one_pass" or a cyclic reduction; by "thomas", for every width, block and length, two,
  /// where LineSolverOptions::refactors made room for the factors. Nothing is probed and no report is made:
  /// lines whose pivots vanish hold Inf or NaN.
  /// @param bands  per_line or shifted, of the rows and block of the bands that were factored, periodic or
  ///   not as those, and no wider than the kernel
  /// @throws std::invalid_argument where they are not, or where the algorithm that was chosen cannot do it
  void factor_and_solve(const Exec &exec, const bands_type &bands, const Scalar *b, Scalar *x) const;

  /// Factors matrices with other values: as making a new solver, but in the memory of the old factors where
  /// the algorithm can do that, and without a probe where the elimination proves that it is accurate
  /// (certificate.hpp). Copies of this solver solve with the new factors; independent() ones are to be made
  /// anew.
  /// @param bands  of the extents, the widths and the kind that were factored
  /// @return false: these matrices failed, or need another algorithm, and this solver is to be made anew
  bool refactor(const Exec &exec, const bands_type &bands);

  /// Of lines solved for zero mean: the largest ||b - A x||_2 of a line, or of a piece that couples with no
  /// other, in the solves since this was last asked for, by this solver, its copies and its independent()
  /// ones: how far right-hand sides were from the range of their matrices (rounding, where they are
  /// consistent; infinity, where they are not finite). 0 where no line is singular. Waits for exec; solves on
  /// other instances are to be complete.
  double inconsistency(const Exec &exec) const { return implementation().inconsistency(exec); }

  struct Implementation {
    FactorReport report;
    virtual ~Implementation()                                                    = default;
    virtual void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
                       const KnownRows<Scalar> &known, std::int64_t first) const = 0;
    /// null: it may be shared
    virtual std::shared_ptr<Implementation> independent(const Exec &exec) const              = 0;
    virtual bool   solve_with(const Exec &exec, const bands_type &bands, const Scalar *b, const LineSet &in,
                              Scalar *x, const LineSet &out) const                           = 0;
    virtual double inconsistency(const Exec &exec) const                                     = 0;
    virtual bool   joins() const                                                             = 0;
    virtual bool   refactor(const Exec &exec, const LineSet &lines, const bands_type &bands) = 0;
  };

private:
  friend class Partition<Scalar, Exec>;
  template <class, class>
  friend class LineSolver; // that of complex<float>

  const Implementation &implementation() const;

  void check_lines(const LineSet &in, const LineSet &out) const; ///< of a solve
  void check_again(const bands_type &bands) const;               ///< of factor_and_solve()

  /// Lines that have the matrices of the lines [first, first + in.lines()) of those that were factored.
  void solve_lines(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
                   const LineSet &out, const KnownRows<Scalar> &known) const;

  LineSet                         lines_;
  std::shared_ptr<Implementation> implementation_;
};

} // namespace ribbon

#include <ribbon/complex_float.hpp>
