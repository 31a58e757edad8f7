// SPDX-License-Identifier: BSD-2-Clause
#include "judge.hpp"

#include "../support/session.hpp"
#include "probe.hpp"

namespace ribbon::petsc {

namespace {

constexpr PetscReal default_zero_pivot =
  100 * PETSC_MACHINE_EPSILON; ///< default of PCFactor; 0, from MatFactorInfoInitialize(), means the same
PetscReal zero_pivot(const MultifrontalFactor *f)
{
  return f->zero_pivot > 0 ? f->zero_pivot : default_zero_pivot;
}

/// Rejects the factors, though no pivot is zero.
PetscErrorCode Refuse(Mat F, Mat A, const char *why, PetscReal value)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  f->is_factored   = false;
  f->report.status = ribbon::FactorStatus::unsound;
  f->refused       = why;
  // PCLU and PCCHOLESKY clear only this error when values change
  F->factorerrortype = MAT_FACTOR_NUMERIC_ZEROPIVOT;
  PetscCheck(!A->erroriffailure, PetscObjectComm((PetscObject)F), PETSC_ERR_CONV_FAILED,
             "multifrontal: %s (%g)", why, static_cast<double>(value));
  PetscCall(PetscInfo(F, "%s (%g)\n", why, static_cast<double>(value)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode PivotsAreSmallAlone(Mat F, bool *they_are)
{
  MultifrontalFactor *f = Data(F);
  PetscReal           backward_error;
  PetscFunctionBegin;
  *they_are = false;
  if (f->report.status != ribbon::FactorStatus::zero_pivot || !(f->report.smallest_pivot > 0) ||
      zero_pivot(f) != default_zero_pivot || f->pivot == MAT_MULTIFRONTAL_PIVOT_NONE)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Logged(&Events::judge, [&] { return Probe(F, &backward_error, &f->rcond); }));
  *they_are = f->rcond >= static_cast<PetscReal>(F->rmap->N) * PETSC_MACHINE_EPSILON;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// If all pivots relative to their columns are at least this large, pivots show no singularity. Otherwise
/// the matrix is judged by its condition. Scales of columns are not unique, and neither are pivots.
PetscReal tells(const MultifrontalFactor *f)
{
  return sizeof(PetscReal) == 8 && !f->is_scaled ? 1e-10 : 1e-5;
}

} // namespace

PetscErrorCode JudgeFactors(Mat F, Mat A)
{
  MultifrontalFactor *f = Data(F);
  PetscFunctionBegin;
  if (f->pivot == MAT_MULTIFRONTAL_PIVOT_NONE) {
    PetscCall(QuickProbe(F, &f->backward_error));
    if (!(f->backward_error <= 1e4 * PETSC_MACHINE_EPSILON)) { // or NaN
      PetscCall(
        Refuse(F, A,
               "elimination without pivots is inaccurate for this matrix: -mat_multifrontal_pivot qr; "
               "backward error of the probe",
               f->backward_error));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (f->report.is_tiny) {
    bool is_finite;
    PetscCall(InverseIsFinite(F, &is_finite));
    if (!is_finite) {
      PetscCall(Refuse(
        F, A,
        "the inverse of the matrix has entries beyond the largest number: scale the matrix; smallest pivot",
        f->report.smallest_pivot));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (f->report.doubtful_pivot < tells(f) && f->rcond < 0) {
    PetscReal backward_error,
      least =
        PetscMin(static_cast<PetscReal>(PetscMin(F->rmap->N, 10)) * PETSC_MACHINE_EPSILON, zero_pivot(f));
    PetscCall(Probe(F, &backward_error, &f->rcond));
    if (!(f->rcond >= least))
      PetscCall(Refuse(F, A,
                       "the matrix is singular to working precision; reciprocal condition estimate of the "
                       "equilibrated matrix",
                       f->rcond));
    else if (f->pivot != MAT_MULTIFRONTAL_PIVOT_NONE) f->backward_error = backward_error;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
