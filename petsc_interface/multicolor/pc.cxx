// SPDX-License-Identifier: BSD-2-Clause
#include "pc.hpp"

#include "../support/aij.hpp"
#include "../support/format.hpp"
#include "../support/no_norms.hpp"
#include "../support/open_arrays.hpp"
#include "../support/session.hpp"

#include <algorithm>

using namespace ribbon::petsc;

static PC_Multicolor *context(PC pc)
{
  return static_cast<PC_Multicolor *>(pc->data);
}

namespace {

/// Rows of an unknown: the block size of the matrix, or the components of its DMDA; 1 if it is above 8.
PetscErrorCode BlockSize(PC pc, PetscInt *block)
{
  PetscInt rows, all;
  int      fits;
  DM       dm = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(pc->pmat, block));
  PetscCall(MatGetLocalSize(pc->pmat, &rows, nullptr));
  PetscCall(MatGetSize(pc->pmat, &all, nullptr));
  PetscCall(PCGetDM(pc, &dm));
  if (!dm) PetscCall(MatGetDM(pc->pmat, &dm));
  if (dm && *block == 1) {
    PetscBool is_da;
    PetscInt  size[3], dof;
    PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
    if (is_da) {
      PetscCall(DMDAGetInfo(dm, nullptr, &size[0], &size[1], &size[2], nullptr, nullptr, nullptr, &dof,
                            nullptr, nullptr, nullptr, nullptr, nullptr));
      if (size[0] * size[1] * size[2] * dof == all) *block = dof;
    }
  }
  fits = *block >= 1 && *block <= ribbon::largest_point_block && rows % *block == 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  if (!fits) *block = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The sentence of a matrix that cannot be relaxed.
std::string describe(PC pc, const UnknownRows &rows, PetscReal shift, const ribbon::MulticolorReport &report)
{
  const std::string option = option_of((PetscObject)pc, "pc_multicolor_diagonal_shift");
  const auto        row    = static_cast<long long>((rows.first() + report.unknown) * rows.block());
  const std::string where =
    rows.block() == 1 ? format("row %lld", row) : format("rows %lld to %lld", row, row + rows.block() - 1);
  if (report.status == ribbon::FactorStatus::not_finite)
    return format("PC multicolor: %s: an entry, or one of the inverse diagonal, is not a finite number",
                  where.c_str());
  const std::string added = shift == 0 ? "" : format(", with %s %g,", option.c_str(), (double)shift),
                    cure  = shift == 0 ? "; " + option + " adds to it" : "";
  return format("PC multicolor: zero pivot: the diagonal%s of %s%s is %s%s",
                rows.block() == 1 ? "" : " block", where.c_str(), added.c_str(),
                rows.block() > 1 ? "singular"
                : shift == 0     ? "zero, or not stored"
                                 : "zero",
                cure.c_str());
}

/// Reports a matrix that cannot be relaxed to PETSc, with the same sentence on all ranks.
PetscErrorCode ReportFailure(PC pc, PC_Multicolor *mc)
{
  const MPI_Comm comm   = PetscObjectComm((PetscObject)pc);
  const auto    &report = mc->sweeps->report();
  int            status = static_cast<int>(report.status);
  PetscFunctionBegin;
  mc->failure = report.ok() ? "" : describe(pc, mc->rows, mc->shift, report);
  PetscCall(AgreeOnSentence(comm, &mc->failure, &status));
  const bool zero = status == static_cast<int>(ribbon::FactorStatus::zero_pivot);
  PetscCall(PCSetFailedReason(pc, mc->failure.empty() ? PC_NOERROR
                                  : zero              ? PC_FACTOR_NUMERIC_ZEROPIVOT
                                                      : PC_FACTOR_OTHER));
  if (mc->failure.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(pc, "%s\n", mc->failure.c_str()));
  PetscCheck(!pc->erroriffailure, comm, zero ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_FP, "%s",
             mc->failure.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A set-up from nothing.
PetscErrorCode SetUpNew(PC pc, PC_Multicolor *mc)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscInt       rows, columns, m, n, block;
  PetscFunctionBegin;
  PetscCall(MatGetSize(pc->pmat, &rows, &columns));
  PetscCall(MatGetLocalSize(pc->pmat, &m, &n));
  PetscCheck(rows == columns, comm, PETSC_ERR_ARG_SIZ,
             "PC multicolor: the matrix is not square: %" PetscInt_FMT " x %" PetscInt_FMT, rows, columns);
  PetscCall(CollectiveError(
    comm, PETSC_ERR_ARG_SIZ,
    m == n ? ""
           : format("PC multicolor: a rank owns %lld rows but %lld columns", (long long)m, (long long)n)));
  PetscCall(BlockSize(pc, &block));
  PetscCall(mc->rows.set_up(pc->pmat, block));
  PetscCall(ColorSweeps::create(mc->rows.own_block(), &mc->sweeps));
  SweepRequest request;
  request.forward  = (mc->direction & SOR_FORWARD_SWEEP) != 0;
  request.backward = (mc->direction & SOR_BACKWARD_SWEEP) != 0;
  request.omega = mc->omega, request.shift = mc->shift, request.its = mc->its, request.lits = mc->lits;
  request.coloring = mc->coloring, request.cut = mc->cut;
  PetscCall(mc->sweeps->set_up(pc, &mc->rows, request));
  if (mc->sweeps->on_device()) PetscCall(MatCreateVecs(pc->pmat, nullptr, &mc->like));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether a conversion to AIJ keeps the pattern for new values. That of a dense matrix drops zeros.
PetscErrorCode KeepsPattern(Mat pmat, PetscBool *keeps)
{
  PetscFunctionBegin;
  PetscCall(IsAIJ(pmat, keeps));
  if (!*keeps)
    PetscCall(PetscObjectTypeCompareAny((PetscObject)pmat, keeps, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ,
                                        MATMPISBAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// New values of a matrix with the same pattern. *done: false if there has to be a set-up from nothing.
PetscErrorCode Refresh(PC pc, PC_Multicolor *mc, bool *done)
{
  int       same = 0;
  PetscBool keeps;
  PetscFunctionBegin;
  *done = false;
  if (!mc->sweeps || pc->flag != SAME_NONZERO_PATTERN) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KeepsPattern(pc->pmat, &keeps));
  if (!keeps) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(mc->rows.open(pc->pmat));
  bool here = false;
  PetscCall(mc->sweeps->refresh(&here));
  same = here;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)pc)));
  *done = same != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Applies the sweeps to vectors of any type.
PetscErrorCode Apply(PC pc, Vec b, Vec x, PetscInt times, bool zero)
{
  PC_Multicolor *mc = context(pc);
  PetscFunctionBegin;
  PetscCheck(mc->sweeps, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PC multicolor: call PCSetUp() first");
  if (!mc->failure.empty()) {
    PetscCall(RibbonVecSetInfinity(x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Logged(&Events::sweep_colors, [&] {
    return mc->copies.with(
      mc->like, b, x, [&](Vec own_b, Vec own_x) { return mc->sweeps->apply(own_b, own_x, times, zero); },
      !zero);
  }));
  PetscCall(RememberSweep(pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

static PetscErrorCode PCApply_Multicolor(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Apply(pc, b, x, 1, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// M is symmetric if A and the sweep are, as PETSc's PCSOR demands.
static PetscErrorCode PCApplyTranspose_Multicolor(PC pc, Vec b, Vec x)
{
  PetscBool known, symmetric;
  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  PetscCheck(
    known && symmetric && context(pc)->direction == SOR_SYMMETRIC_SWEEP, PetscObjectComm((PetscObject)pc),
    PETSC_ERR_SUP,
    "PC multicolor: the transpose needs a symmetric sweep and a matrix that is known to be symmetric "
    "(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE))");
  PetscCall(Apply(pc, b, x, 1, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `its` times x += M (b - A x), as sweeps that continue from x.
static PetscErrorCode PCApplyRichardson_Multicolor(PC pc, Vec b, Vec x, Vec, PetscReal, PetscReal, PetscReal,
                                                   PetscInt its, PetscBool x_is_zero, PetscInt *done,
                                                   PCRichardsonConvergedReason *reason)
{
  PetscFunctionBegin;
  PetscCall(Apply(pc, b, x, its, x_is_zero == PETSC_TRUE));
  *done   = its;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  if (!context(pc)->failure.empty()) RibbonSayPCFailed(reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Leaves Richardson's iteration to this PC if it needs no norms and the sweeps have the entries of A, and
/// PETSc's own one otherwise.
static PetscErrorCode PCPreSolve_Multicolor(PC pc, KSP ksp, Vec, Vec)
{
  PetscObjectState values;
  bool             takes_none = false;
  PetscFunctionBegin;
  PetscCall(RibbonCallPreSolve(pc, ksp));
  PetscCall(TakesNoNorms(pc, ksp, &takes_none));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &values));
  const bool sweeps        = takes_none && values == context(pc)->values;
  pc->ops->applyrichardson = sweeps ? PCApplyRichardson_Multicolor : nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPostSolve_Multicolor(PC pc, KSP, Vec, Vec)
{
  PetscFunctionBegin;
  pc->ops->applyrichardson = PCApplyRichardson_Multicolor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_Multicolor(PC pc)
{
  PC_Multicolor *mc = context(pc);
  PetscFunctionBegin;
  PetscCall(DetachResidual(pc));
  mc->sweeps.reset();
  mc->failure.clear();
  PetscCall(mc->rows.reset());
  PetscCall(mc->copies.reset());
  PetscCall(VecDestroy(&mc->like));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Multicolor(PC pc)
{
  PC_Multicolor *mc        = context(pc);
  bool           refreshed = false;
  PetscFunctionBegin;
  PetscCheck(pc->pmat->assembled, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PC multicolor: Pmat is not assembled: call MatAssemblyBegin() and MatAssemblyEnd()");
  PetscCall(EnsureKokkos());
  PetscErrorCode error = Refresh(pc, mc, &refreshed);
  if (!error && !refreshed) {
    PetscCall(PCReset_Multicolor(pc)); // after an error below no data of the last matrix remain
    error = SetUpNew(pc, mc);
  }
  if (!error) error = mc->rows.close();
  if (!error) error = ReportFailure(pc, mc);
  if (!error) error = PetscObjectStateGet((PetscObject)pc->pmat, &mc->values);
  if (!error) error = AttachResidual(pc);
  if (error) { // PETSc assumes that the set-up succeeded: make the next call start again
    PetscCall(PCReset_Multicolor(pc));
    pc->setupcalled = decltype(pc->setupcalled)(0);
  }
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_Multicolor(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Multicolor(pc));
  PetscCall(ComposeMulticolorOptions(pc, false));
  delete context(pc);
  pc->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_Multicolor(PC pc, PetscViewer viewer)
{
  const PC_Multicolor *mc        = context(pc);
  const char          *direction = mc->direction == SOR_SYMMETRIC_SWEEP ? "symmetric"
                                   : mc->direction == SOR_FORWARD_SWEEP ? "forward"
                                                                        : "backward";
  PetscBool            ascii;
  PetscMPIInt          size;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  sweep: %s, cut %s, iterations %" PetscInt_FMT
                                   ", local iterations %" PetscInt_FMT ", omega %g, diagonal shift %g\n",
                                   direction, PCMulticolorCuts[mc->cut], mc->its, mc->lits, (double)mc->omega,
                                   (double)mc->shift));
  if (!mc->sweeps) {
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "  coloring %s (not set up)\n", PCMulticolorColorings[mc->coloring]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const ColorsFound &colors = mc->sweeps->colors();
  const auto [least, most]  = mc->sweeps->sizes_of_colors();
  PetscCall(PetscViewerASCIIPrintf(
    viewer, "  colours: %" PetscInt_FMT " by %s; %s%lld to %lld unknowns each\n", colors.most,
    colors.how.c_str(), size > 1 ? "on rank 0 " : "", (long long)least, (long long)most));
  if (!mc->failure.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", mc->failure.c_str()));
  if (mc->rows.block() > 1)
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "  unknowns: blocks of %" PetscInt_FMT " rows\n", mc->rows.block()));
  if (mc->residual_of)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  residual after a sweep: zero in the last colour\n"));
  if (!mc->no_residual.empty())
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "  residual: by the matrix, because %s\n", mc->no_residual.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  held: %s%.3g bytes on the %s\n", size > 1 ? "on rank 0: " : "",
                                   static_cast<double>(mc->sweeps->bytes()), mc->sweeps->space()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_Multicolor(PC pc, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(SetMulticolorFromOptions(pc, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_Multicolor(PC pc)
{
  PetscFunctionBegin;
  PetscCallCXX(pc->data = new PC_Multicolor);
  pc->ops->setup           = PCSetUp_Multicolor;
  pc->ops->apply           = PCApply_Multicolor;
  pc->ops->applytranspose  = PCApplyTranspose_Multicolor;
  pc->ops->applyrichardson = PCApplyRichardson_Multicolor;
  pc->ops->presolve        = PCPreSolve_Multicolor;
  pc->ops->postsolve       = PCPostSolve_Multicolor;
  pc->ops->setfromoptions  = PCSetFromOptions_Multicolor;
  pc->ops->view            = PCView_Multicolor;
  pc->ops->reset           = PCReset_Multicolor;
  pc->ops->destroy         = PCDestroy_Multicolor;
  PetscCall(ComposeMulticolorOptions(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}
