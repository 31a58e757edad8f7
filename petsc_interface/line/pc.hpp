// SPDX-License-Identifier: BSD-2-Clause
/// @file pc.hpp  PC `line`: its context and the parts it is made of.
#pragma once

#include "sweep.hpp"

PETSC_INTERN PetscErrorCode PCCreate_Line(PC pc);

namespace ribbon::petsc {

/// Context of PC line.
struct PC_Line {
  // options
  std::vector<PCLineDirection> directions = {
    PC_LINE_DIRECTION_AUTO}; ///< auto, rows or matrix alone, or some of x, y, z
  PCLineComposition composition  = PC_LINE_COMPOSITION_AUTO;
  PCLineOrdering    ordering     = PC_LINE_ORDERING_AUTO;
  PetscReal         omega        = 0; ///< 0: the set-up decides
  PetscInt          iterations   = 1;
  PCLineLhs         lhs          = PC_LINE_LHS_AUTO;
  PetscReal         lhs_tol      = 0; ///< 0: exactly
  PCLineCut         cut          = PC_LINE_CUT_AUTO;
  PCLineCutExchange cut_exchange = PC_LINE_CUT_EXCHANGE_AUTO;
  PCLineAlgorithm   algorithm    = PC_LINE_ALGORITHM_AUTO;
  PCLineProbe       probe        = PC_LINE_PROBE_AUTO;
  PetscReal         zero_pivot   = 0;       ///< 0: 100 machine epsilon
  PetscViewer       viewer       = nullptr; ///< where every set-up says what it found
  PetscViewerFormat format       = PETSC_VIEWER_DEFAULT;
  PCLineShiftType   shift_type   = PC_LINE_SHIFT_NONE;
  /// first amount of PC_LINE_SHIFT_NONZERO; 0: 100 machine epsilon
  PetscReal       shift     = 0;
  PetscBool       compare   = PETSC_FALSE;
  PCLinePrecision precision = PC_LINE_PRECISION_SAME;

  const GivenBands *given = nullptr; ///< the bands of the only direction, in place of those of Pmat; borrowed

  // what the last set-up made; no requests: none, or one that failed
  std::vector<LineRequest> requests; ///< of each direction
  LineSweep                sweep;
  PCLineComposition        composed = PC_LINE_COMPOSITION_AUTO; ///< what auto stood for
  PCLineOrdering           ordered  = PC_LINE_ORDERING_JACOBI;  ///< likewise
  /// sequences in place of those of the sweep, and of these during a solve, where auto is multiplicative
  /// under a KSP that takes any matrix; else empty
  std::vector<std::vector<int>> one_way;
  bool                          swapped = false; ///< they are the sweep's now
  std::string                   names;           ///< of the directions
  std::string                   source;          ///< where the lines come from
  std::string                   why;             ///< why these directions
  bool                          equal = false;   ///< several directions are equally strong
  /// one sentence, empty when the set-up succeeded
  std::string  failure;
  bool         not_finite = false;            ///< because of an entry of the matrix
  FactorStatus status     = FactorStatus::ok; ///< of the lines that failed
  /// the set-up failed, and one solve gives the lines that did not
  bool some = false;
  /// reason of the failure while KSPPREONLY solves
  PCFailedReason hidden = PC_NOERROR;
  /// why singular lines are solved with zero mean; empty: they are not
  std::string pinned;
  /// matrix A of a Kronecker product that was set up with; its state at that time
  Mat              watched       = nullptr;
  PetscObjectState watched_state = 0;
  /// one solve is the inverse, to the digits of the factors, of the matrix whose state follows: nothing
  /// couples but along the lines, and nothing is damped
  bool direct   = false;
  bool left_out = false; ///< rows of some rank couple off their lines
  /// lines are factored as they are in that matrix, in full precision: nothing is shifted, pinned
  /// or rounded to another line
  bool             plain = false;
  PetscObjectState state = 0;
  /// the directions do not depend on values: they were named, or there is one alone
  bool settled = false;
  /// else those that auto chose among; null: settled, or no set-up went well
  std::shared_ptr<const LineMap> candidates;
  bool                           may_colour = false; ///< and whether it might turn to zebra ordering
  /// what it chooses among these by a sample of the rows
  std::string sample;
  PetscInt    refreshes = 0; ///< since the last set-up from the start
  PetscInt64  set_up    = 0; ///< number of the set-up, of all PCs of this process

  PetscInt64 compared = 0; ///< applications that were compared

  bool refined_outside = false; ///< KSP line is at work, which refines with residuals of Amat
};

/// Whether a PC has the options of a multigrid level.
bool IsOnLevel(PC pc);
/// Whether auto may turn to zebra ordering, of matrices for which what lines leave out is kept; of others
/// every colour costs a product of the matrix.
inline bool MayColour(PC pc, const PC_Line *line)
{
  return line->ordering == PC_LINE_ORDERING_AUTO && line->composition != PC_LINE_COMPOSITION_ADDITIVE &&
         IsOnLevel(pc);
}
/// Whether all lines are swept twice in one application: two red-black sweeps smooth as PETSc's SOR, which
/// goes there and back, does at least.
inline bool IsSweptTwice(const PC_Line *line)
{
  return line->ordering == PC_LINE_ORDERING_AUTO && line->ordered == PC_LINE_ORDERING_ZEBRA &&
         line->composition == PC_LINE_COMPOSITION_AUTO && line->requests.size() == 1;
}
/// Names of directions, with commas.
std::string names_of(const std::vector<PCLineDirection> &directions);
/// A direction to solve along, and what the entries of this rank along it say.
struct ChosenDirection {
  LineDirection direction;
  LineCouplings found;
  /// components couple, on this rank or on one that holds other pieces of its lines
  bool blocks = false;

  /// entries in columns of other ranks along its lines, where it has a chain
  std::shared_ptr<const std::vector<OutsideEntry>> outside;
  /// Unknowns of an element of a line: 1 where its components do not couple.
  int block(const LineSource &source) const;
};
/// Finds the lines and the directions to sweep, or one error that says why they cannot be solved. Collective.
PetscErrorCode ChooseDirections(PC pc, PC_Line *line, LineOperator &op, const LineSource &source,
                                std::vector<ChosenDirection> *chosen);
/// What auto chooses among the candidates of the last set-up by a sample of some thousand rows of each rank,
/// the same ones each time, as a text; empty: nothing. Collective.
PetscErrorCode ChooseBySample(PC pc, const PC_Line *line, LineOperator &op, const LineSource &source,
                              std::string *choice);
/// Finds, extracts and factors the lines of a PC that was reset. Collective; what it leaves behind when it
/// raises an error is half made.
PetscErrorCode SetUpLine(PC pc, PC_Line *line);
/// New values of a matrix with the pattern of the last set-up, on the same lines, in the memory
/// of the old factors. `done`: false where that set-up, the options or the values ask for one
/// from the start. Collective.
PetscErrorCode RefreshLine(PC pc, PC_Line *line, bool *done);
/// A number for every set-up of this process.
PetscInt64 NextSetUp();
/// Whether lines that the partition cuts are solved as one.
inline bool JoinsPieces(const PC_Line *line)
{
  return line->cut == PC_LINE_CUT_AUTO || line->cut == PC_LINE_CUT_EXACT || line->cut == PC_LINE_CUT_DROP;
}
/// Whether the PC line that was set up solves every line exactly, those that the partition cuts among them:
/// what it makes does not depend on the partition then. Collective.
PetscErrorCode LinesAreWhole(PC pc, bool *whole);
/// Sets up a PC line with the lines of another one, of the same pattern, whose matrix gets s diag(diagonal)
/// added: where lines share matrices these alone are looked at. `done`: false where they do not, or where the
/// diagonal differs among lines that share; a set-up as any other is needed then. What Pmat holds is not
/// read; PCSetReusePreconditioner() keeps PETSc from setting up anew. Collective.
PetscErrorCode SetUpShiftedLine(PC pc, PC of, Vec diagonal, PetscReal s, bool *done);
/// Whether a PC solves along one direction alone, once, so that it takes bands in place of a matrix.
PetscErrorCode LineTakesBands(PC pc, PCLineDirection direction, bool *takes);
/// Sets up such a PC line with given bands of lines on the rows of a matrix whose entries are not read. The
/// bands have to live as long as the PC. Collective.
PetscErrorCode SetUpGivenLine(PC pc, Mat rows, const GivenBands *bands);
/// Nothing is there after a set-up that raised an error. PETSc does not see that the matrix A of a Kronecker
/// product changed: it is set up with anew.
PetscErrorCode CheckIsSetUp(PC pc);
/// Whether Pmat is what it was at set-up.
PetscErrorCode IsCurrent(PC pc, bool *current);
/// Whether one solve is the inverse of Pmat as it is now, to the digits of the factors.
PetscErrorCode IsDirectNow(PC pc, bool *direct);
/// What a KSP does before and after a solve: hands PETSc the whole of Richardson's iteration where that needs
/// no norms, for this solve alone. Where some lines failed KSPPREONLY, which would overwrite all of them,
/// learns so after the solve.
PetscErrorCode PreSolveLine(PC pc, KSP ksp, Vec b, Vec x);
PetscErrorCode PostSolveLine(PC pc, KSP ksp, Vec b, Vec x);
/// While it lives, a KSP that refines by itself applies a PC line: there is no warning of unrefined solves,
/// and single precision is not refined where `instead`, nor by the PC again.
class RefinedOutside {
public:
  RefinedOutside(PC_Line *line, bool instead);
  ~RefinedOutside();
  RefinedOutside(const RefinedOutside &)            = delete;
  RefinedOutside &operator=(const RefinedOutside &) = delete;

private:
  PC_Line *line_; ///< null: another PC
};
/// A warning, once, where applications in single precision are not refined by anybody.
PetscErrorCode WarnOfUnrefined(PC pc);
/// The name of an option with the prefix of its PC: -mg_levels_pc_line_precision.
std::string option_of(PC pc, const char *name);
/// Compares the columns of one solve, where that is asked for.
PetscErrorCode CompareColumns(PC_Line *line, Mat B, Mat X, bool transposed);
/// Says how far the solves of an application were from the reference, where that is asked for, and
/// forgets them. Collective.
PetscErrorCode PrintComparison(PC pc, PC_Line *line);
/// What the elimination of lines tells of the matrix that has the lines of one direction alone; NaN
/// where nobody knows, row -1.
struct LineCondition {
  double               rcond       = 1;  ///< smallest reciprocal condition estimate of a line
  PetscInt             row         = -1; ///< global number of the first row of that line
  double               growth      = 1;  ///< largest
  double               log_abs_det = 0;  ///< log |det|
  std::complex<double> det_sign    = 1;  ///< det / |det|
};
/// Of direction d. Determinants of more unknowns of different matrices than `most` on a rank
/// are left out. Collective.
PetscErrorCode GetCondition(PC pc, std::size_t d, double most, LineCondition *condition);
/// Prints what SetUpLine() found.
PetscErrorCode ViewLine(PC pc, PC_Line *line, PetscViewer viewer);
/// Attaches the Set and Get functions of the options to a PC.
PetscErrorCode ComposeLineOptions(PC pc, bool attach);
PetscErrorCode SetLineFromOptions(PC pc, RibbonOptionItems PetscOptionsObject);

} // namespace ribbon::petsc
