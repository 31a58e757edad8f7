// SPDX-License-Identifier: BSD-2-Clause
/// @file pc.hpp  PC `line`: its context and its parts.
#pragma once

#include "sweep.hpp"
#include "../support/session.hpp"

PETSC_INTERN PetscErrorCode PCCreate_Line(PC pc);

namespace ribbon::petsc {

/// What auto chooses among the directions that it found.
struct SampledChoice {
  bool                     equal   = false; ///< no direction is preferred by the rows
  PCLineOrdering           ordered = PC_LINE_ORDERING_JACOBI;
  std::vector<std::size_t> directions; ///< their numbers

  bool operator==(const SampledChoice &other) const
  {
    return equal == other.equal && ordered == other.ordered && directions == other.directions;
  }
};

/// Context of PC line.
struct PC_Line {
  // options
  std::vector<PCLineDirection> directions = {
    PC_LINE_DIRECTION_AUTO}; ///< auto, rows or matrix alone, or some of x, y, z
  PCLineComposition composition = PC_LINE_COMPOSITION_AUTO;
  PCLineOrdering    ordering    = PC_LINE_ORDERING_AUTO;
  PCLineStrength    strength    = PC_LINE_STRENGTH_ABS; ///< in the order of CouplingStrength
  PCLineSearch      search      = PC_LINE_SEARCH_AUTO;  ///< in the order of LineSearch
  std::string       label;                              ///< of a DMPLEX, that marks lines; empty: none
  PetscReal         omega         = 0;                  ///< 0: the set-up decides
  PetscInt          iterations    = 1;
  PCLineLhs         lhs           = PC_LINE_LHS_AUTO;
  PetscReal         lhs_tol       = 0; ///< 0: equal entries only
  PCLineCut         cut           = PC_LINE_CUT_AUTO;
  PCLineCutExchange cut_exchange  = PC_LINE_CUT_EXCHANGE_AUTO;
  RibbonTransport   cut_transport = RIBBON_TRANSPORT_AUTO;
  PCLineAlgorithm   algorithm     = PC_LINE_ALGORITHM_AUTO;
  PetscInt          switch_rows   = 0;
  PCLineProbe       probe         = PC_LINE_PROBE_AUTO;
  PetscReal         zero_pivot    = 0;       ///< 0: 100 machine epsilon
  PetscViewer       viewer        = nullptr; ///< every set-up prints its report there
  PetscViewerFormat format        = PETSC_VIEWER_DEFAULT;
  PCLineShiftType   shift_type    = PC_LINE_SHIFT_NONE;
  /// first amount of PC_LINE_SHIFT_NONZERO; 0: 100 machine epsilon
  PetscReal       shift     = 0;
  PetscBool       compare   = PETSC_FALSE;
  PCLinePrecision precision = PC_LINE_PRECISION_SAME;

  const GivenBands *given = nullptr; ///< bands of the only direction, instead of those of Pmat; borrowed

  // results of the last set-up; without requests: no set-up, or one that failed
  std::vector<LineRequest> requests; ///< of each direction
  LineSweep                sweep;
  PCLineComposition        composed = PC_LINE_COMPOSITION_AUTO; ///< value of auto
  PCLineOrdering           ordered  = PC_LINE_ORDERING_JACOBI;  ///< value of auto
  /// sequences that replace those of the sweep during a solve, if auto is multiplicative under a KSP that
  /// accepts any preconditioner; otherwise empty
  std::vector<std::vector<int>> one_way;
  bool                          swapped        = false; ///< the sweep has them now
  bool                          solved_one_way = false; ///< the last solve of a KSP had them
  std::string                   names;                  ///< of the directions
  std::string                   source;                 ///< where the lines come from
  std::string                   why;                    ///< why these directions
  bool                          equal = false;          ///< several directions are equally strong
  /// one sentence; empty if the set-up succeeded
  std::string  failure;
  bool         not_finite = false;            ///< the reason is an entry of the matrix
  FactorStatus status     = FactorStatus::ok; ///< of the lines that failed
  /// the set-up failed, but one solve is the whole preconditioner and solves the other lines
  bool some = false;
  /// reason of the failure while KSPPREONLY solves
  PCFailedReason hidden = PC_NOERROR;
  /// why singular lines are solved with zero mean; empty: they are not
  std::string pinned;
  /// matrix A of a Kronecker product at the last set-up, and its state then
  Mat              watched       = nullptr;
  PetscObjectState watched_state = 0;
  /// one solve is the inverse, to the accuracy of the factors, of the matrix with the state below: no entry
  /// couples different lines, and solves are not damped
  bool direct   = false;
  bool left_out = false; ///< rows of some rank couple with rows of other lines
  /// lines are factored with the entries of that matrix in full precision: no line is shifted, pinned or
  /// solved with the matrix of another line
  bool             plain = false;
  PetscObjectState state = 0;
  /// the directions do not depend on values: options name them, or there is only one
  bool settled = false;
  /// otherwise the directions from which auto chose; null: settled, or no set-up succeeded
  std::shared_ptr<const LineMap> candidates;
  bool                           may_colour = false; ///< auto may change to zebra ordering
  /// choice of auto among the candidates by a sample of the rows
  SampledChoice sample;
  PetscInt      refreshes = 0; ///< since the last full set-up
  PetscInt64    set_up    = 0; ///< number of the set-up among all PCs of this process

  PetscInt64 compared = 0; ///< applications that were compared

  bool refined_outside = false; ///< KSP line applies this PC and refines with residuals of Amat
};

/// Whether a PC has the options of a multigrid level.
bool IsOnLevel(PC pc);
/// Whether auto may change to zebra ordering. This is efficient only if the PC keeps the entries that lines
/// leave out. Otherwise every colour costs a product with the matrix.
inline bool MayColour(PC pc, const PC_Line *line)
{
  return line->ordering == PC_LINE_ORDERING_AUTO && line->composition != PC_LINE_COMPOSITION_ADDITIVE &&
         IsOnLevel(pc);
}
/// Whether one application sweeps all lines twice. PETSc's SOR smooths in a forward and a backward sweep;
/// two red-black sweeps smooth at least as well.
inline bool IsSweptTwice(const PC_Line *line)
{
  return line->ordering == PC_LINE_ORDERING_AUTO && line->ordered == PC_LINE_ORDERING_ZEBRA &&
         line->composition == PC_LINE_COMPOSITION_AUTO && line->requests.size() == 1;
}
/// Names of directions, with commas.
std::string names_of(const std::vector<PCLineDirection> &directions);
/// A direction to solve along, and the properties of its entries on this rank.
struct ChosenDirection {
  LineDirection direction;
  LineCouplings found;
  /// components couple, on this rank or on another rank with sub-lines of the same lines
  bool blocks = false;

  /// entries in columns of other ranks along its lines, if it has a chain
  std::shared_ptr<const std::vector<OutsideEntry>> outside;
  /// Unknowns of an element of a line: 1 if its components do not couple.
  int block(const LineSource &source) const;
};
/// Finds the lines and the directions to sweep, or raises one error that says why they cannot be solved.
/// Collective.
PetscErrorCode ChooseDirections(PC pc, PC_Line *line, LineOperator &op, const LineSource &source,
                                std::vector<ChosenDirection> *chosen);
/// The choice of auto among the candidates of the last set-up, as a text; empty: no choice. It examines
/// some thousand rows of each rank, the same rows in every call. Collective.
PetscErrorCode ChooseBySample(PC pc, const PC_Line *line, LineOperator &op, const LineSource &source,
                              SampledChoice *choice);
/// Finds, extracts and factors the lines of a PC that was reset. Collective. After an error the state is
/// incomplete.
PetscErrorCode SetUpLine(PC pc, PC_Line *line);
/// Reads new values of a matrix with the pattern of the last set-up, on the same lines, in the memory of
/// the old factors. `done`: false if that set-up, the options or the values require a full set-up.
/// Collective.
PetscErrorCode RefreshLine(PC pc, PC_Line *line, bool *done);
/// A different number for every set-up of this process.
PetscInt64 NextSetUp();
/// Whether lines that span ranks are solved over their ranks.
inline bool JoinsPieces(const PC_Line *line)
{
  return line->cut == PC_LINE_CUT_AUTO || line->cut == PC_LINE_CUT_EXACT || line->cut == PC_LINE_CUT_DROP;
}
/// Whether the PC line, after set-up, solves every line exactly, including lines that span ranks. Its
/// result then does not depend on the partition. Collective.
PetscErrorCode LinesAreWhole(PC pc, bool *whole);
/// Sets up a PC line with the lines of another PC of the same pattern, whose matrix is shifted by s
/// diag(diagonal). If lines share matrices, only these matrices are examined. `done`: false if lines do not
/// share, or if the diagonal differs among lines that share. A full set-up is then necessary. The entries
/// of Pmat are not read; PCSetReusePreconditioner() prevents another set-up by PETSc. Collective.
PetscErrorCode SetUpShiftedLine(PC pc, PC of, Vec diagonal, PetscReal s, bool *done);
/// Whether a PC solves once along a single direction, so that it can be set up with bands instead of a
/// matrix.
PetscErrorCode LineTakesBands(PC pc, PCLineDirection direction, bool *takes);
/// Sets up such a PC line with given bands of lines on the rows of a matrix whose entries are not read. The
/// bands must live as long as the PC. Collective.
PetscErrorCode SetUpGivenLine(PC pc, Mat rows, const GivenBands *bands);
/// Raises an error if the last set-up failed with an error. Sets up again if the matrix A of a Kronecker
/// product changed, which PETSc does not detect.
PetscErrorCode CheckIsSetUp(PC pc);
/// Whether Pmat is unchanged since the set-up.
PetscErrorCode IsCurrent(PC pc, bool *current);
/// Whether one solve is the inverse of Pmat with its current values, to the accuracy of the factors.
PetscErrorCode IsDirectNow(PC pc, bool *direct);
/// PCPreSolve() and PCPostSolve(). For one solve they pass the whole iteration of KSPRICHARDSON without
/// norms to the PC. If some lines failed, KSPPREONLY would overwrite the solution of all lines. It learns
/// of the failure after the solve.
PetscErrorCode PreSolveLine(PC pc, KSP ksp, Vec b, Vec x);
PetscErrorCode PostSolveLine(PC pc, KSP ksp, Vec b, Vec x);
/// Marks a PC line as applied by a KSP that refines, for the lifetime of this object. The PC then does not
/// warn of unrefined solves. With `instead` the PC does not refine solves in single precision.
class RefinedOutside {
public:
  RefinedOutside(PC_Line *line, bool instead);
  ~RefinedOutside();
  RefinedOutside(const RefinedOutside &)            = delete;
  RefinedOutside &operator=(const RefinedOutside &) = delete;

private:
  PC_Line *line_; ///< null: a PC of another type
};
/// Prints one warning if neither the PC nor its KSP refines applications in single precision.
PetscErrorCode WarnOfUnrefined(PC pc);
/// The name of an option with the prefix of its PC: -mg_levels_pc_line_precision.
inline std::string option_of(PC pc, const char *name)
{
  return option_of((PetscObject)pc, name);
}
/// Compares the columns of one solve with the reference, if -pc_line_compare is set.
PetscErrorCode CompareColumns(PC_Line *line, Mat B, Mat X, bool transposed);
/// Prints and resets the largest difference between the solves of an application and the reference, if
/// -pc_line_compare is set. Collective.
PetscErrorCode PrintComparison(PC pc, PC_Line *line);
/// Properties of the matrix that consists of the lines of one direction, from their elimination. Unknown
/// values are NaN, an unknown row is -1.
struct LineCondition {
  double               rcond       = 1;  ///< smallest reciprocal condition estimate of a line
  PetscInt             row         = -1; ///< global number of the first row of that line
  double               growth      = 1;  ///< largest
  double               log_abs_det = 0;  ///< log |det|
  std::complex<double> det_sign    = 1;  ///< det / |det|
};
/// Condition of direction d. Determinants are left out if the different matrices of a rank have more
/// unknowns than `most`. Collective.
PetscErrorCode GetCondition(PC pc, std::size_t d, double most, LineCondition *condition);
/// Prints the results of SetUpLine().
PetscErrorCode ViewLine(PC pc, PC_Line *line, PetscViewer viewer);
/// Attaches the Set and Get functions of the options to a PC.
PetscErrorCode ComposeLineOptions(PC pc, bool attach);
PetscErrorCode SetLineFromOptions(PC pc, RibbonOptionItems PetscOptionsObject);

} // namespace ribbon::petsc
