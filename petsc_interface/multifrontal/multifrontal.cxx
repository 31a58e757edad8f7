// SPDX-License-Identifier: BSD-2-Clause
// The solver type in PETSc: options, views, creation, registration.
#include "../support/options.hpp"
#include "multifrontal.hpp"

#include <cmath>

using namespace ribbon::petsc;

const char *const MatMultifrontalPivots[] = {"qr", "none", "MatMultifrontalPivot", "MAT_MULTIFRONTAL_PIVOT_",
                                             nullptr};

namespace {

PetscErrorCode MatGetInfo_Multifrontal(Mat F, MatInfoType which, MatInfo *info)
{
  double bytes = Data(F)->report.bytes;
  PetscFunctionBegin;
  if (which != MAT_LOCAL)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE,
                               which == MAT_GLOBAL_SUM ? MPI_SUM : MPI_MAX, PetscObjectComm((PetscObject)F)));
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size   = 1;
  info->memory       = bytes;
  info->nz_allocated = info->nz_used = bytes / sizeof(PetscScalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Prints the line about pivots: sign and growth if elimination knows them on all ranks (band LU), inertia
/// if it was counted.
PetscErrorCode ViewDeterminant(Mat F, PetscViewer viewer, double bytes)
{
  const MultifrontalFactor  *f    = Data(F);
  const ChainReport         &r    = f->report;
  const MPI_Comm             comm = PetscObjectComm((PetscObject)F);
  const std::complex<double> sign = f->factor && f->is_factored ? f->factor->det_sign() : 1;
  double unknown[2] = {std::isnan(sign.real()) || !f->is_factored ? 1. : 0., f->factor ? r.growth : 1},
         angle      = std::arg(sign);
  PetscFunctionBegin;
  if (std::isnan(unknown[1])) unknown[1] = HUGE_VAL;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, unknown, 2, MPI_DOUBLE, MPI_MAX, comm));
  if (unknown[0] > 0) angle = 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &angle, 1, MPI_DOUBLE, MPI_SUM, comm));
  char det[64] = "", growth[32] = "", inertia[96] = "";
  if (unknown[0] == 0 && !PetscDefined(USE_COMPLEX))
    PetscCall(PetscSNPrintf(det, sizeof det, ", sign %s", std::cos(angle) < 0 ? "-1" : "+1"));
  if (unknown[0] == 0 && PetscDefined(USE_COMPLEX))
    PetscCall(PetscSNPrintf(det, sizeof det, ", det/|det| %.3g%+.3gi", std::cos(angle), std::sin(angle)));
  if (unknown[1] < HUGE_VAL) PetscCall(PetscSNPrintf(growth, sizeof growth, ", growth %.2g", unknown[1]));
  if (f->inertia[0] >= 0)
    PetscCall(PetscSNPrintf(inertia, sizeof inertia,
                            ", inertia %" PetscInt_FMT " - %" PetscInt_FMT " 0 %" PetscInt_FMT " +",
                            f->inertia[0], f->inertia[1], f->inertia[2]));
  PetscCall(PetscViewerASCIIPrintf(
    viewer,
    "  %.4g MB, smallest pivot %.2g of the largest entry in column %" PetscInt_FMT ", log|det| %.10g%s%s%s\n",
    bytes / 1e6, static_cast<double>(r.smallest_pivot), r.column, static_cast<double>(r.log_abs_det), det,
    growth, inertia));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_Multifrontal(Mat F, PetscViewer viewer)
{
  const MultifrontalFactor *f    = Data(F);
  const ribbon::Chain      &c    = f->pattern.chain;
  const ChainReport        &r    = f->report;
  PetscMPIInt               rank = -1;
  PetscBool                 ascii;
  MatInfo                   info;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii || !F->assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInfo(F, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscViewerASCIIPrintf(
    viewer, "multifrontal: %" PetscInt_FMT " %s of %" PetscInt_FMT " rows, kl %d, ku %d%s%s%s\n",
    static_cast<PetscInt>(c.chains), c.ring ? "ring(s)" : "chain(s)", static_cast<PetscInt>(c.rows), c.kl,
    c.ku, f->pattern.row_of.empty() ? "" : ", ordered by reverse Cuthill-McKee",
    f->pattern.gathered ? ", gathered on one rank" : "", f->pattern.separate ? ", ranks do not couple" : ""));
  if (f->active != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_rank(f->active, &rank));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  if (rank == 0) // the first rank with rows
    PetscCall(PetscViewerASCIISynchronizedPrintf(
      viewer,
      "  %s on the %s, %" PetscInt_FMT " leaves, %" PetscInt_FMT " levels, %" PetscInt_FMT
      " kernels for each way of a solve, %" PetscInt_FMT " steps of refinement\n",
      r.method, r.space, r.leaves, r.levels, r.launches, f->refine));
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscCall(ViewDeterminant(F, viewer, info.memory));
  if (f->is_scaled)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  rows and columns are scaled by powers of two: they have entries of different size\n"));
  if (f->compact)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  entries that are zero are left out: the band would be wider with them\n"));
  if (f->refused) PetscCall(PetscViewerASCIIPrintf(viewer, "  refused: %s\n", f->refused));
  if (f->backward_error >= 0 && f->rcond >= 0)
    PetscCall(PetscViewerASCIIPrintf(
      viewer,
      "  backward error of a random right-hand side %.2g, reciprocal condition estimate (1-norm) %.2g\n",
      static_cast<double>(f->backward_error), static_cast<double>(f->rcond)));
  else if (f->rcond >= 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  reciprocal condition estimate (1-norm) %.2g\n",
                                     static_cast<double>(f->rcond)));
  else if (f->backward_error >= 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  backward error of the probe %.2g\n",
                                     static_cast<double>(f->backward_error)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorGetSolverType_Multifrontal(Mat, MatSolverType *type)
{
  *type = MATSOLVERMULTIFRONTAL;
  return PETSC_SUCCESS;
}

const char *NotACount(PetscInt n)
{
  return n >= 0 ? nullptr : ": at least 0";
}

/// Factors of another kind need another tree, from the next factorization on.
void AnalyseAgain(Mat F)
{
  Data(F)->matrix = 0;
}

PetscErrorCode ReadView(Mat F, RibbonOptionItems PetscOptionsObject)
{
  PetscBool         set;
  PetscViewer       viewer;
  PetscViewerFormat format;
  PetscFunctionBegin;
  PetscCall(PetscOptionsViewer("-mat_multifrontal_view", "Every factorization says what it found", "MatView",
                               &viewer, &format, &set));
  if (set) {
    PetscCall(PetscViewerDestroy(&Data(F)->viewer));
    Data(F)->viewer = viewer, Data(F)->format = format;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr auto multifrontal_options = std::make_tuple(
  Option("-mat_multifrontal_leaf_size", "Rows of a leaf of the tree; 0: as many as suit the processor",
         "MatMultifrontalSetLeafSize", stored<Mat, &MultifrontalFactor::leaf_size>, NotACount),
  Option("-mat_multifrontal_pivot", "Orthogonal elimination, or Schur complements without pivoting",
         "MatMultifrontalSetPivot", stored<Mat, &MultifrontalFactor::pivot, AnalyseAgain>,
         MatMultifrontalPivots),
  Option("-mat_multifrontal_refine", "Steps of iterative refinement in a solve", "MatMultifrontalSetRefine",
         stored<Mat, &MultifrontalFactor::refine>, NotACount),
  SpecialOption<Mat>{ReadView});

PetscErrorCode Compose(Mat F, bool set)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C",
                                       set ? MatFactorGetSolverType_Multifrontal : nullptr));
  PetscCall(ComposeOptions(F, multifrontal_options, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_Multifrontal(Mat F)
{
  PetscFunctionBegin;
  PetscCall(ResetMultifrontal(F));
  PetscCall(PetscViewerDestroy(&Data(F)->viewer));
  PetscCall(Compose(F, false));
  delete Data(F);
  F->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With -pc_factor_in_place, PCLU and PCCHOLESKY factor the matrix by its own type. They ask the solver
/// type only for its ordering. It has none, and PETSc (3.18 to 3.26) then uses a null index set.
PetscErrorCode RefuseInPlace(Mat A)
{
  const char *prefix   = A->factorprefix;
  PetscBool   in_place = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(
    PetscOptionsGetBool(((PetscObject)A)->options, prefix, "-pc_factor_in_place", &in_place, nullptr));
  PetscCheck(!in_place, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "multifrontal: -%spc_factor_in_place: the solver type keeps its factors apart from the matrix",
             prefix ? prefix : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetFactor_Multifrontal(Mat A, MatFactorType type, Mat *factor)
{
  Mat F;
  PetscFunctionBegin;
  PetscCall(RefuseInPlace(A));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERMULTIFRONTAL, &((PetscObject)F)->type_name));
  PetscCall(MatSetUp(F));
  PetscCallCXX(F->data = new MultifrontalFactor);
  F->factortype      = type;
  F->canuseordering  = PETSC_FALSE;
  F->trivialsymbolic = PETSC_FALSE;
  SetFactorOperations(F);
  SetSolveOperations(F);
  F->ops->getinfo = MatGetInfo_Multifrontal;
  F->ops->view    = MatView_Multifrontal;
  F->ops->destroy = MatDestroy_Multifrontal;
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERMULTIFRONTAL, &F->solvertype));
  PetscCall(PetscStrallocpy(MATORDERINGEXTERNAL, (char **)&F->preferredordering[type]));
  PetscCall(PetscFree(F->defaultvectype));
  PetscCall(PetscStrallocpy(A->defaultvectype, &F->defaultvectype));
  PetscCall(Compose(F, true));
  *factor = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ribbon::petsc::SetMultifrontalFromOptions(Mat F)
{
  PetscFunctionBegin;
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix,
                    "Multifrontal factorization of chains", "Mat");
  PetscCall(ReadOptions(F, multifrontal_options, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

RIBBON_OPTION(multifrontal_options, Mat, MatMultifrontal, LeafSize, PetscInt)
RIBBON_OPTION(multifrontal_options, Mat, MatMultifrontal, Pivot, MatMultifrontalPivot)
RIBBON_OPTION(multifrontal_options, Mat, MatMultifrontal, Refine, PetscInt)

PetscErrorCode ribbon::petsc::RegisterMultifrontal()
{
  PetscFunctionBegin;
  PetscCall(MatInitializePackage()); // or all other solver types disappear
  // also for types whose names begin with these: aijcusparse, aijkokkos
  for (MatType type : {MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ})
    for (MatFactorType factor : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY})
      PetscCall(MatSolverTypeRegister(MATSOLVERMULTIFRONTAL, type, factor, MatGetFactor_Multifrontal));
  for (MatType type : {MATSEQSBAIJ, MATMPISBAIJ})
    PetscCall(
      MatSolverTypeRegister(MATSOLVERMULTIFRONTAL, type, MAT_FACTOR_CHOLESKY, MatGetFactor_Multifrontal));
  PetscFunctionReturn(PETSC_SUCCESS);
}
