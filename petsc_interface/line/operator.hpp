// SPDX-License-Identifier: BSD-2-Clause
/// @file operator.hpp  The lines of one matrix, factored, in the memory of the matrix.
#pragma once

#include "../lines/line_map.hpp"
#include "../distributed/cut_choices.hpp"
#include "steps.hpp"

#include <ribbon/lines_from_csr.hpp>
#include <ribbon/line_solver.hpp>
#include <ribbon_petsc/pcline.h>

#include <memory>

namespace ribbon::petsc {

/// Request of a set-up for one set of lines.
struct LineRequest {
  LineDirection direction;
  /// of elements; an element of several components is a block
  int half_bandwidth = 1;
  int block          = 1; ///< unknowns of an element of a line
  /// components of an element that do not couple, so that each has its lines; otherwise 1
  int  siblings = 1;
  bool periodic = false;
  /// rows of this rank couple with rows of any rank by entries that the solve of their line leaves out
  bool coupled   = false;
  bool zero_sums = true; ///< lines may have rows that sum to zero
  /// some rank has an entry on its lines that is not finite: the set-up fails
  bool              not_finite = false;
  PetscReal         omega      = 1; ///< solves are omega A^-1
  PCLineLhs         lhs        = PC_LINE_LHS_AUTO;
  CutChoices        cut;
  double            lhs_tol = 0; ///< lines that agree to this tolerance share their matrix
  double            shift   = 0; ///< first shift of diagonals if a pivot is zero; 0: no shift
  LineSolverOptions solver;
  bool              zero_mean = false; ///< `solver` solves singular lines with zero mean

  std::shared_ptr<const std::vector<OutsideEntry>> outside; ///< of all rows, if the direction has a chain
};

/// Results of a set-up for one set of lines.
struct LineFacts {
  std::int64_t matrices = 0; ///< different matrices that are stored
  Lhs          lhs      = Lhs::shared;
  std::int64_t first = -1, different = -1; ///< first pair of lines that differ, if the set-up searched for it
  std::size_t  bytes = 0;                  ///< factors, tables and bands
  double       shift = 0;                  ///< of the diagonals, relative to the largest entry of their rows
  /// lines that span ranks were gathered; those of the report are on this rank
  bool whole = false;
  /// the lines are solved to rounding, over all ranks of their chain
  bool exact = true;
  /// how lines that span ranks are solved, or why they were gathered; empty: they have no chain
  std::string  joined;
  FactorReport report;
  /// entries on lines that bands leave out and that were added to diagonals
  std::int64_t lumped      = 0;
  int          refinements = 0;     ///< steps in a solve in single precision; -1: refinement stagnates
  bool         rounded     = false; ///< lines are factored in single precision
  /// matrix * rows + row of a row that single precision cannot hold next to the others; -1: there is none
  std::int64_t below_range = -1;
  std::string  refusal; ///< why the kernels do not solve these lines; empty if they do
  const char  *space = "";
};

/// Whether the options request one matrix for all lines and the lines differ. A line with NaN differs from
/// all others and from itself, which is not an error of the options.
inline bool Differ(const LineRequest &request, const LineFacts &facts)
{
  return request.lhs == PC_LINE_LHS_SHARED && facts.matrices > 1 && !request.not_finite;
}

/// Interface to the lines of a local block, or to some of them. LineOperatorOn<Exec> implements it on a
/// host or a device. Vectors have the type of those of Pmat.
class LineOperator {
public:
  virtual ~LineOperator() = default;
  /// @param on_device  the execution space is that of PETSc's device matrices
  /// @param precision  of factors. PETSc in double also offers single precision, refined with
  ///   PC_LINE_PRECISION_SINGLE
  static std::unique_ptr<LineOperator> create(bool            on_device,
                                              PCLinePrecision precision = PC_LINE_PRECISION_SAME);
  /// Whether RIBBON_SINGLE=OFF left out the single precision that create() offers to a PETSc in double.
  static bool lacks_single();

  /// Sets the approximate number of rows that the next three functions examine. These are always the same
  /// rows. 0, the default: couplings() examines all rows, the others a sample that is large enough to
  /// choose directions.
  virtual void           look_at(std::int64_t rows)                                                     = 0;
  virtual PetscErrorCode histograms(Mat block, const std::vector<LineDirection> &directions,
                                    std::vector<std::vector<std::int64_t>> *votes)                      = 0;
  virtual PetscErrorCode couplings(Mat block, const LineDirection &direction, LineCouplings *couplings) = 0;
  /// Counts for each comparison the rows that prefer its direction.
  virtual PetscErrorCode preferences(Mat block, const std::vector<LineDirection> &directions,
                                     const std::vector<LineComparison> &comparisons, double factor,
                                     std::vector<LinePreference> *found) = 0;
  /// Extracts, shares and factors. facts->report says whether the factors are accurate. If `lhs` is shared
  /// and lines differ, nothing is factored.
  virtual PetscErrorCode build(const LineSource &source, const LineRequest &request, LineFacts *facts) = 0;
  /// Replaces build() for new values of a block with the same pattern, in the memory of the old values.
  /// `done`: false if these lines cannot be refreshed, or if the new values contradict the results of the
  /// last set-up. The old factors are then lost, and build() is necessary. Not collective.
  virtual PetscErrorCode refresh(const LineSource &source, const LineRequest &request, LineFacts *facts,
                                 bool *done) = 0;
  /// Replaces build() for the lines of another operator plus s diag(diagonal). On entry `facts` are those
  /// of the other operator. `made`: false if lines do not share matrices, or share one and have different
  /// diagonals. Not collective.
  virtual PetscErrorCode build_shifted(const LineOperator &other, Vec diagonal, PetscReal s,
                                       const LineRequest &request, LineFacts *facts, bool *made) = 0;
  /// Factors the transposed lines, once, for transposed solves. If this is not possible, `failure` says why
  /// in one sentence.
  virtual PetscErrorCode transpose(std::string *failure) = 0;
  /// log |det| of the matrix that consists of these lines, and det / |det|. `known`: false if sub-lines of
  /// lines that span ranks are solved on their ranks. Not collective.
  virtual PetscErrorCode determinant(double *log_abs, std::complex<double> *sign, bool *known) = 0;
  /// The first line of a class; -1: the class has no line.
  virtual PetscErrorCode line_of_class(std::int64_t c, std::int64_t *line) = 0;
  /// Places of the lines in vectors. If the direction has tables, these are places of the tables, with
  /// `components` unknowns of each element.
  virtual LineSet lines() const     = 0;
  virtual bool    on_device() const = 0;
  /// Whether solves in single precision are refined from now on, if the operator was created for it. The
  /// default is true.
  virtual void set_refined(bool on) = 0;
  /// b == x is allowed.
  virtual PetscErrorCode solve(Vec b, Vec x, bool transposed) = 0;
  /// Solves for every column of B.
  virtual PetscErrorCode solve(Mat B, Mat X, bool transposed) = 0;
  /// Steps u <- A^-1 B u on these lines, which are whole lines in the memory of vectors. `request` is that of
  /// build(). `reason`: empty, or why there are no such steps. Not collective.
  virtual PetscErrorCode make_steps(const LineSource &A, const LineSource &B, const LineRequest &request,
                                    std::shared_ptr<const LineSteps> *steps, std::string *reason) = 0;
};

} // namespace ribbon::petsc
