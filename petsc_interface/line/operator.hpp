// SPDX-License-Identifier: BSD-2-Clause
/// @file operator.hpp  The lines of one matrix, factored, in the memory where the matrix lives.
#pragma once

#include "../lines/line_map.hpp"
#include "../distributed/cut_choices.hpp"

#include <ribbon/lines_from_csr.hpp>
#include <ribbon/line_solver.hpp>
#include <ribbon_petsc/ribbon.h>

#include <memory>

namespace ribbon::petsc {

/// What a set-up asks for.
struct LineRequest {
  LineDirection direction;
  /// of elements; lines of blocks where these have more than one component
  int half_bandwidth = 1;
  int block          = 1; ///< unknowns of an element of a line
  /// components of elements that did not couple, so that each has lines; else 1
  int  siblings = 1;
  bool periodic = false;
  /// rows of this rank couple with others, wherever these are, that the solve of their line leaves out
  bool coupled   = false;
  bool zero_sums = true; ///< lines may have rows that sum to zero
  /// some rank has an entry on its lines that is not: the set-up fails
  bool              not_finite = false;
  PetscReal         omega      = 1; ///< what is solved is omega A^-1
  PCLineLhs         lhs        = PC_LINE_LHS_AUTO;
  CutChoices        cut;
  double            lhs_tol = 0; ///< lines that agree to this share their matrix
  double            shift   = 0; ///< first shift of diagonals where a pivot is zero; 0: none
  LineSolverOptions solver;

  std::shared_ptr<const std::vector<OutsideEntry>> outside; ///< of all rows, where the direction has a chain
};

/// What it got.
struct LineFacts {
  std::int64_t matrices = 0; ///< distinct matrices kept
  Lhs          lhs      = Lhs::shared;
  std::int64_t first = -1, different = -1; ///< first pair of lines that differ, where it was looked for
  std::size_t  bytes = 0;                  ///< factors, tables and bands
  double       shift = 0;                  ///< of the diagonals, relative to the largest entry of their rows
  /// lines that the partition cuts were brought together, those that the report speaks of to this rank
  bool whole = false;
  /// the lines are solved to rounding, over all ranks that hold their pieces
  bool exact = true;
  /// how, or why they were brought together; empty: they have no chain
  std::string  joined;
  FactorReport report;
  int          refinements = 0;     ///< steps in a solve in single precision; -1: they stagnate
  bool         rounded     = false; ///< lines are factored in single precision
  /// matrix * rows + row of a row that single precision cannot hold next to the others, -1: there is none
  std::int64_t below_range = -1;
  std::string  refusal; ///< why the kernels do not take these lines; empty when they do
  const char  *space = "";
};

/// Whether lines were to share one matrix and do not. A line with NaN differs from all others, and from
/// itself; that is no error of the options.
inline bool Differ(const LineRequest &request, const LineFacts &facts)
{
  return request.lhs == PC_LINE_LHS_SHARED && facts.matrices > 1 && !request.not_finite;
}

/// Interface to the lines of a local block, or some of them; LineOperatorOn<Exec> does the work on a host or
/// a device. Vectors are Pmat's.
class LineOperator {
public:
  virtual ~LineOperator() = default;
  /// `on_device`: the space PETSc's device matrices live in. `precision`: of factors; there are single ones
  /// beside double, whose solves are refined with PC_LINE_PRECISION_SINGLE.
  static std::unique_ptr<LineOperator> create(bool            on_device,
                                              PCLinePrecision precision = PC_LINE_PRECISION_SAME);
  /// Whether PETSc is in double, where create() takes other precisions, but RIBBON_SINGLE=OFF left them out.
  static bool lacks_single();

  /// Sets the approximate number of rows that the next three functions examine, always the same
  /// rows. 0, the default: couplings() examines all rows, the others a sample that is large enough
  /// for a choice of directions.
  virtual void           look_at(std::int64_t rows)                                                     = 0;
  virtual PetscErrorCode histograms(Mat block, const std::vector<LineDirection> &directions,
                                    std::vector<std::vector<std::int64_t>> *votes)                      = 0;
  virtual PetscErrorCode couplings(Mat block, const LineDirection &direction, LineCouplings *couplings) = 0;
  /// Counts, per comparison, the rows that prefer its direction.
  virtual PetscErrorCode preferences(Mat block, const std::vector<LineDirection> &directions,
                                     const std::vector<LineComparison> &comparisons, double factor,
                                     std::vector<LinePreference> *found) = 0;
  /// Extracts, shares and factors. facts->report tells whether it went well; where `lhs` is shared and lines
  /// differ nothing is factored.
  virtual PetscErrorCode build(const LineSource &source, const LineRequest &request, LineFacts *facts) = 0;
  /// In place of build(): new values of a block whose pattern is the same, in the memory of the old ones.
  /// `done`: false where these lines are not refreshed, or where what the last set-up found does not hold any
  /// more; they are to be built anew then, and the old factors are lost. Not collective.
  virtual PetscErrorCode refresh(const LineSource &source, const LineRequest &request, LineFacts *facts,
                                 bool *done) = 0;
  /// In place of build(): the lines of another operator, whose matrices get s diag(diagonal) added. `facts`
  /// comes in as those of the other one. `made`: false where lines do not share matrices, or share one and
  /// have different diagonals. Not collective.
  virtual PetscErrorCode build_shifted(const LineOperator &other, Vec diagonal, PetscReal s,
                                       const LineRequest &request, LineFacts *facts, bool *made) = 0;
  /// Factors the transposed lines, once, for transposed solves. Where they cannot be, `failure` is
  /// the sentence that says so.
  virtual PetscErrorCode transpose(std::string *failure) = 0;
  /// log |det| of the matrix of all these lines, and det / |det|; `known`: false where lines span ranks and
  /// are solved in pieces. Not collective.
  virtual PetscErrorCode determinant(double *log_abs, std::complex<double> *sign, bool *known) = 0;
  /// The first line of a class, -1: no line has it.
  virtual PetscErrorCode line_of_class(std::int64_t c, std::int64_t *line) = 0;
  /// Where the lines lie in vectors; where the direction has tables, which places of these they have, with
  /// `components` unknowns of each element.
  virtual LineSet lines() const     = 0;
  virtual bool    on_device() const = 0;
  /// Whether solves in single precision are refined from now on, where the operator was made for that; they
  /// are unless this says otherwise.
  virtual void set_refined(bool on) = 0;
  /// b == x is allowed.
  virtual PetscErrorCode solve(Vec b, Vec x, bool transposed) = 0;
  /// Every column of B is a right-hand side.
  virtual PetscErrorCode solve(Mat B, Mat X, bool transposed) = 0;
};

} // namespace ribbon::petsc
