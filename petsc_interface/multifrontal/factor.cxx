// SPDX-License-Identifier: BSD-2-Clause
// Symbolic and numeric factorization, and the results of all ranks.
#include "analysis.hpp"
#include "judge.hpp"
#include "kept_aij.hpp"
#include "local_blocks.hpp"
#include "probe.hpp"

#include "../support/session.hpp"

#include <algorithm>
#include <cmath>

namespace ribbon::petsc {

namespace {

/// Combines the results of all ranks.
PetscErrorCode Agree(Mat F)
{
  MultifrontalFactor *f     = Data(F);
  ChainReport        &r     = f->report;
  const MPI_Comm      comm  = PetscObjectComm((PetscObject)F);
  const int           key   = r.status == ribbon::FactorStatus::ok           ? 0
                              : r.status == ribbon::FactorStatus::not_finite ? 2
                                                                             : 1;
  const int           is_lu = f->factor && !std::isnan(r.growth) ? 1 : 0;
  int most[] = {key,   r.has_small_columns ? 1 : 0, r.is_tiny ? 1 : 0, r.rows_apart[0], r.rows_apart[1],
                is_lu, r.rows_are_steep ? 1 : 0};
  PetscMPIInt rank;
  struct {
    double value;
    int    rank;
    // ranks without rows have no column
  } smallest = {f->factor ? static_cast<double>(r.smallest_pivot) : 2, 0};
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 7, MPI_INT, MPI_MAX, comm));
  const int worst     = most[0];
  r.has_small_columns = most[1] != 0, r.is_tiny = most[2] != 0;
  r.rows_apart[0] = most[3], r.rows_apart[1] = most[4], f->exchanges = most[5] != 0;
  r.rows_are_steep = most[6] != 0;
  smallest.rank    = rank;
  if (worst == 2) smallest.value = key < 2 ? 1 : r.passed_on ? 0.5 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &smallest, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r.log_abs_det, 1, MPIU_REAL, MPIU_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &r.doubtful_pivot, 1, MPIU_REAL, MPIU_MIN, comm));
  PetscCallMPI(MPI_Bcast(&r.column, 1, MPIU_INT, smallest.rank, comm));
  r.status         = worst == 0   ? ribbon::FactorStatus::ok
                     : worst == 1 ? ribbon::FactorStatus::zero_pivot
                                  : ribbon::FactorStatus::not_finite;
  r.smallest_pivot = worst == 2 ? 0 : static_cast<PetscReal>(PetscMin(smallest.value, 1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Counts the negative, zero and positive eigenvalues.
/// @param refusal  why they cannot be counted; empty if they can
PetscErrorCode CountInertia(Mat F, PetscInt counts[3], std::string *refusal)
{
  MultifrontalFactor *f = Data(F);
  ribbon::Inertia     found;
  PetscFunctionBegin;
  if (f->factor) PetscCall(f->factor->inertia(&found, refusal));
  counts[0] = static_cast<PetscInt>(found.negative), counts[1] = static_cast<PetscInt>(found.zero),
  counts[2] = static_cast<PetscInt>(found.positive);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts, 3, MPIU_INT, MPI_MAX,
                             PetscObjectComm((PetscObject)F))); // ranks without rows have no result
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Prints the report of -mat_multifrontal_view.
PetscErrorCode ViewFactorization(Mat F)
{
  MultifrontalFactor *f = Data(F);
  PetscBool           ascii;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)f->viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (f->is_factored && f->rcond < 0) PetscCall(Probe(F, &f->backward_error, &f->rcond));
  if (F->factortype == MAT_FACTOR_CHOLESKY && f->report.status != ribbon::FactorStatus::not_finite) {
    std::string refusal;
    int         number = 0;
    PetscCall(CountInertia(F, f->inertia, &refusal));
    PetscCall(AgreeOnSentence(PetscObjectComm((PetscObject)F), &refusal, &number));
    if (!refusal.empty()) f->inertia[0] = -1; // not symmetric; Cholesky accepts such matrices
  }
  PetscCall(PetscViewerPushFormat(f->viewer, f->format));
  PetscUseTypeMethod(F, view, f->viewer);
  PetscCall(PetscViewerPopFormat(f->viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Stores -pc_factor_zeropivot.
/// @param changes  whether the value changed
PetscErrorCode TakeZeroPivot(Mat F, const MatFactorInfo *info, bool *changes)
{
  PetscFunctionBegin;
  PetscCheck(info->zeropivot >= 0 && !PetscIsInfReal(info->zeropivot), PetscObjectComm((PetscObject)F),
             PETSC_ERR_ARG_OUTOFRANGE, "multifrontal: -pc_factor_zeropivot %g: a number that is not negative",
             static_cast<double>(info->zeropivot)); // NaN fails this check
  *changes            = Data(F)->zero_pivot != info->zeropivot;
  Data(F)->zero_pivot = info->zeropivot;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Factors the matrix, scaled or not, and stores the results of all ranks in f->report.
PetscErrorCode FactorNow(Mat F, Mat rows)
{
  MultifrontalFactor *f = Data(F);
  Mat                 local, outside = nullptr;
  const PetscInt     *columns = nullptr;
  PetscFunctionBegin;
  if (f->is_scaled) rows = f->scaled;
  if (f->pattern.gathered) {
    if (f->is_scaled || !f->has_gathered) PetscCall(GatherNumbers(rows, f->gathered, &f->gather_room));
    f->has_gathered = !f->is_scaled;
    local           = f->gathered;
  } else PetscCall(LocalBlocks(rows, &local, &outside, &columns));
  f->report = {};
  if (f->factor) PetscCall(f->factor->numeric(local, outside, columns, &f->report));
  if (f->is_scaled) {
    std::int64_t sum       = 0;
    int          largest[] = {0, 0};
    for (int e : f->scales.row) sum += e, largest[0] = std::max(largest[0], e);
    for (int e : f->scales.column) sum += e, largest[1] = std::max(largest[1], e);
    f->report.log_abs_det -= static_cast<PetscReal>(std::log(2.0) * static_cast<double>(sum));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)F)));
    f->report.is_tiny = largest[0] + largest[1] > -ribbon::multifrontal::least_exponent<PetscReal>();
  }
  PetscCall(Agree(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Finds the scales of a matrix. If columns need scales (f->is_scaled), creates the scaled copy and the
/// vectors of scales. Collective.
PetscErrorCode ScaleMatrix(Mat F, Mat A)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  ScaleSearch search;
  search.symmetric = F->factortype == MAT_FACTOR_CHOLESKY, search.exchanges = f->exchanges;
  search.order = &f->pattern.row_of;
  if (f->pattern.gathered) {
    if (!f->has_gathered) PetscCall(GatherNumbers(A, f->gathered, &f->gather_room));
    f->has_gathered = true;
    PetscCall(FindScalesOnFirstRank(A, f->gathered, search, &f->gathered_scales, &f->scales));
  } else PetscCall(FindScales(A, search, &f->scales));
  f->is_scaled = f->scales.differ;
  if (!f->is_scaled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CopyScaled(A, f->scales, &f->scaled));
  if (!f->row_scale) PetscCall(MatCreateVecs(A, &f->column_scale, &f->row_scale));
  if (!f->scaled_b) PetscCall(VecDuplicate(f->row_scale, &f->scaled_b));
  PetscCall(PutPowers(f->scales.row, f->row_scale));
  PetscCall(PutPowers(f->scales.column, f->column_scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Factors with the scales of earlier values: a search takes much longer than a factorization. They suffice if the
/// factors show no rows or columns that are small or uneven.
PetscErrorCode FactorWithKeptScales(Mat F, Mat rows, bool *suffice)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  f->is_scaled = true;
  PetscCall(Logged(&Events::scale, [&] { return CopyScaled(rows, f->scales, &f->scaled); }));
  PetscCall(Logged(&Events::eliminate, [&] { return FactorNow(F, rows); }));
  const auto &r = f->report;
  *suffice = r.status == ribbon::FactorStatus::ok && !r.has_small_columns && !r.rows_are_steep && !r.is_tiny &&
             r.rows_apart[0] + r.rows_apart[1] <= uneven_rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Factors, with scales if the columns need them: when the factors show this, and from then on until the
/// next analysis. Without pivoting elimination does not depend on these scales, but the probe does. A
/// matrix on a device is examined only once, because its entries are copied to the host for this.
PetscErrorCode FactorScaled(Mat F, Mat rows)
{
  MultifrontalFactor *f       = Data(F);
  bool                suffice = false;
  const bool          looks =
    f->tries_scales || (f->pivot == MAT_MULTIFRONTAL_PIVOT_NONE && (!f->some_on_device || !f->was_looked_at));
  PetscFunctionBegin;
  if (f->tries_scales && f->pivot != MAT_MULTIFRONTAL_PIVOT_NONE)
    PetscCall(FactorWithKeptScales(F, rows, &suffice));
  if (suffice) PetscFunctionReturn(PETSC_SUCCESS);
  f->is_scaled = false, f->was_looked_at = true;
  if (looks) PetscCall(Logged(&Events::scale, [&] { return ScaleMatrix(F, rows); }));
  PetscCall(Logged(&Events::eliminate, [&] { return FactorNow(F, rows); }));
  const bool shows     = f->report.has_small_columns && !f->has_small_rows;
  const int  apart     = f->report.rows_apart[0] + f->report.rows_apart[1];
  const bool is_uneven = f->report.rows_are_steep || apart > PetscMax(uneven_rows, f->even_rows);
  if (!looks && (shows || is_uneven || f->report.status == ribbon::FactorStatus::zero_pivot)) {
    PetscCall(Logged(&Events::scale, [&] { return ScaleMatrix(F, rows); }));
    if (f->is_scaled) PetscCall(Logged(&Events::eliminate, [&] { return FactorNow(F, rows); }));
    // band LU cannot distinguish small rows from small columns, and is as accurate as LAPACK
    else if (shows) f->has_small_rows = true;
    if (!f->is_scaled && f->some_on_device) f->even_rows = apart;
  }
  f->tries_scales = f->is_scaled;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Analyses the matrix first if the tree belongs to another matrix or pattern, if `zeropivot` changed, or
/// if stored zeros that did not count have new values.
PetscErrorCode MatFactorNumeric_Multifrontal(Mat F, Mat A, const MatFactorInfo *info)
{
  MultifrontalFactor *f = Data(F);
  PetscObjectId       matrix;
  PetscObjectState    nonzeros;
  PetscLogDouble      entries;
  bool                has_blocks, other_pivot = false, is_done = true;
  PetscFunctionBegin;
  if (info) PetscCall(TakeZeroPivot(F, info, &other_pivot));
  f->is_factored = f->has_gathered = false;
  f->steps                         = f->refine;
  f->backward_error = f->rcond = -1;
  f->refused                   = nullptr;
  f->inertia[0]                = -1;
  PetscCall(PetscObjectGetId((PetscObject)A, &matrix));
  PetscCall(MatGetNonzeroState(A, &nonzeros));
  PetscCall(CountBlocks(A, &has_blocks, &entries));
  if (matrix != f->matrix || nonzeros != f->nonzeros || entries != f->entries || other_pivot)
    PetscCall(Logged(&Events::analyse, [&] { return Analyse(F, A); }));
  else {
    PetscCall(KeepAIJ(f, A));
    if (f->compact) PetscCall(RefillWithoutZeros(f->aij, f->places, f->compact, &is_done));
    if (!is_done)
      PetscCall(PetscInfo(F, "entries that were zero are not, and the matrix is analysed anew\n"));
    if (!is_done) PetscCall(Logged(&Events::analyse, [&] { return Analyse(F, A); }));
  }
  PetscCall(FactorScaled(F, f->compact ? f->compact : f->aij));
  if ((f->refine > 0 || f->is_scaled) && !f->residual)
    PetscCall(MatCreateVecs(f->aij, &f->correction, &f->residual));
  bool are_small_alone;
  PetscCall(PivotsAreSmallAlone(F, &are_small_alone));
  if (are_small_alone) f->report.status = ribbon::FactorStatus::ok;
  const ChainReport &r = f->report;
  f->is_factored       = r.status == ribbon::FactorStatus::ok;
  // for NaN as well: PCLU and PCCHOLESKY clear only this error when values change
  F->factorerrortype           = f->is_factored ? MAT_FACTOR_NOERROR : MAT_FACTOR_NUMERIC_ZEROPIVOT;
  F->factorerror_zeropivot_row = r.column, F->factorerror_zeropivot_value = r.smallest_pivot;
  F->assembled    = PETSC_TRUE;
  F->preallocated = PETSC_TRUE;
  if (!f->is_factored) {
    PetscCheck(!A->erroriffailure || r.status != ribbon::FactorStatus::zero_pivot,
               PetscObjectComm((PetscObject)F), PETSC_ERR_MAT_LU_ZRPVT,
               "multifrontal: zero pivot in column %" PetscInt_FMT ": %g of its largest entry%s", r.column,
               static_cast<double>(r.smallest_pivot),
               f->pivot == MAT_MULTIFRONTAL_PIVOT_NONE ? "; -mat_multifrontal_pivot qr exchanges rows" : "");
    PetscCheck(!A->erroriffailure, PetscObjectComm((PetscObject)F), PETSC_ERR_FP,
               "multifrontal: NaN or Inf at column %" PetscInt_FMT, r.column);
    PetscCall(PetscInfo(F, "smallest pivot %g in column %" PetscInt_FMT "\n",
                        static_cast<double>(r.smallest_pivot), r.column));
  }
  if (f->is_factored) PetscCall(Logged(&Events::judge, [&] { return JudgeFactors(F, A); }));
  if (f->viewer) PetscCall(ViewFactorization(F));
  // a copy of blocks receives the next entries
  if (f->refine == 0 && !has_blocks) PetscCall(MatDestroy(&f->aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorSymbolic_Multifrontal(Mat F, Mat A, const MatFactorInfo *info)
{
  bool changes;
  PetscFunctionBegin;
  PetscCall(TakeZeroPivot(F, info, &changes));
  PetscCall(EnsureKokkos());
  PetscCall(SetMultifrontalFromOptions(F));
  PetscCall(Logged(&Events::analyse, [&] { return Analyse(F, A); }));
  F->ops->lufactornumeric       = MatFactorNumeric_Multifrontal;
  F->ops->choleskyfactornumeric = MatFactorNumeric_Multifrontal;
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode MatLUFactorSymbolic_Multifrontal(Mat F, Mat A, IS, IS, const MatFactorInfo *info)
{
  return MatFactorSymbolic_Multifrontal(F, A, info);
}
PetscErrorCode MatCholeskyFactorSymbolic_Multifrontal(Mat F, Mat A, IS, const MatFactorInfo *info)
{
  return MatFactorSymbolic_Multifrontal(F, A, info);
}

PetscErrorCode MatGetInertia_Multifrontal(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)F);
  PetscInt       counts[3];
  std::string    refusal;
  PetscFunctionBegin;
  PetscCheck(Data(F)->report.status != ribbon::FactorStatus::not_finite, comm, PETSC_ERR_FP,
             "multifrontal: MatGetInertia() of a matrix with NaN or Inf at column %" PetscInt_FMT,
             Data(F)->report.column);
  PetscCall(CountInertia(F, counts, &refusal));
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_WRONG, refusal));
  if (negative) *negative = counts[0];
  if (zero) *zero = counts[1];
  if (positive) *positive = counts[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

void SetFactorOperations(Mat F)
{
  F->ops->lufactorsymbolic       = MatLUFactorSymbolic_Multifrontal;
  F->ops->choleskyfactorsymbolic = MatCholeskyFactorSymbolic_Multifrontal;
  if (F->factortype == MAT_FACTOR_CHOLESKY) F->ops->getinertia = MatGetInertia_Multifrontal;
}

PetscErrorCode ResetMultifrontal(Mat F)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  f->factor.reset();
  f->is_factored = false;
  f->report      = {};
  f->matrix      = 0;
  F->assembled   = PETSC_FALSE;
  if (f->active != MPI_COMM_NULL && f->active != PETSC_COMM_SELF) PetscCallMPI(MPI_Comm_free(&f->active));
  f->active = MPI_COMM_NULL;
  PetscCall(MatDestroy(&f->aij));
  PetscCall(MatDestroy(&f->gathered));
  PetscCall(MatDestroy(&f->turned));
  PetscCall(MatDestroy(&f->compact));
  PetscCall(MatDestroy(&f->scaled));
  PetscCall(f->scales.reset());
  PetscCall(f->gathered_scales.reset());
  f->places       = {},
  f->tries_scales = f->was_looked_at = f->is_scaled = f->has_small_rows = f->exchanges = false;
  f->even_rows                                                                         = 0;
  f->gather_room = {}, f->from_symmetric = {};
  PetscCall(VecScatterDestroy(&f->to_first));
  PetscCall(VecDestroy(&f->all_b));
  PetscCall(VecDestroy(&f->all_x));
  for (Vec *v : {&f->row_scale, &f->column_scale, &f->scaled_b, &f->residual, &f->probe_u, &f->probe_v,
                 &f->probe_x, &f->probe_b, &f->probe_r})
    PetscCall(VecDestroy(v));
  PetscCall(VecDestroy(&f->correction));
  PetscCall(f->native.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
