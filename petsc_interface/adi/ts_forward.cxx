// SPDX-License-Identifier: BSD-2-Clause
// Forward sensitivities of TS adi: the operations of PETSc on them.
#include "ts_sensitivities.hpp"

namespace ribbon::petsc {

namespace {

/// Loads the columns of ts->mat_sensip into the first stages.
PetscErrorCode LoadColumns(TS ts)
{
  PetscFunctionBegin;
  PetscInt column = 0;
  for (TangentVectors &v : adi_of(ts)->tangent.columns) {
    Vec S;
    PetscCall(MatDenseGetColumnVecRead(ts->mat_sensip, column, &S));
    PetscCall(VecCopy(S, v.stage[0]));
    PetscCall(MatDenseRestoreColumnVecRead(ts->mat_sensip, column++, &S));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StoreColumn(Mat S, PetscInt column, Vec from)
{
  Vec to;
  PetscFunctionBegin;
  PetscCall(MatDenseGetColumnVecWrite(S, column, &to));
  PetscCall(VecCopy(from, to));
  PetscCall(MatDenseRestoreColumnVecWrite(S, column, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Creates the vectors of as many columns as ts->mat_sensip has.
PetscErrorCode CreateColumns(TS ts)
{
  Tangent &tangent = adi_of(ts)->tangent;
  PetscInt columns;
  PetscFunctionBegin;
  PetscCall(MatGetSize(ts->mat_sensip, nullptr, &columns));
  if (tangent.rhs && static_cast<PetscInt>(tangent.columns.size()) == columns)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSForwardReset_ADI(ts));
  PetscCallCXX(tangent.columns.resize(static_cast<std::size_t>(columns)));
  for (Vec *v : {&tangent.rhs, &tangent.algebraic}) PetscCall(VecDuplicate(ts->vec_sol, v));
  for (TangentVectors &v : tangent.columns) {
    for (int i = 0; i < PetscMax(method_of(adi_of(ts)->type).stages, 2); ++i) {
      PetscCall(VecDuplicate(ts->vec_sol, &v.stage[i]));
      PetscCall(VecDuplicate(ts->vec_sol, &v.increment[i]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Refuses what has no forward sensitivities.
PetscErrorCode CheckSensitivities(TS ts)
{
  const TS_ADI  *adi  = adi_of(ts);
  const MPI_Comm comm = PetscObjectComm((PetscObject)ts);
  PetscInt       rows, size, columns, directions = 1;
  PetscErrorCode (*dense)(Mat, PetscInt, Vec *);
  PetscFunctionBegin;
  if (ts->quadraturets) PetscCall(TSForwardIntegral_ADI(ts));
  PetscCheck(adi->rannacher == 0, comm, PETSC_ERR_SUP,
             "TS adi: forward sensitivities do not support -ts_adi_rannacher %" PetscInt_FMT ": take 0",
             adi->rannacher);
  PetscCheck(ts->mat_sensip, comm, PETSC_ERR_ARG_WRONGSTATE,
             "TS adi: there is no matrix of forward sensitivities: call TSForwardSetSensitivities()");
  PetscCall(PetscObjectQueryFunction((PetscObject)ts->mat_sensip, "MatDenseGetColumnVecRead_C", &dense));
  PetscCall(MatGetSize(ts->mat_sensip, &rows, &columns));
  PetscCall(VecGetSize(ts->vec_sol, &size));
  PetscCheck(dense && rows == size, comm, PETSC_ERR_ARG_WRONG,
             "TS adi: the matrix of TSForwardSetSensitivities() has type %s and %" PetscInt_FMT
             " rows: pass a dense matrix with the %" PetscInt_FMT " rows of the solution",
             ((PetscObject)ts->mat_sensip)->type_name, rows, size);
  if (ts->vecs_sensi2) {
    PetscCheck(
      columns == 1, comm, PETSC_ERR_ARG_WRONG,
      "TS adi: TSSetCostHessianProducts() has one direction, and the matrix of forward sensitivities "
      "%" PetscInt_FMT " columns: call TSAdjointSetForward(), which makes it",
      columns);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const Mat A : {ts->ijacobianp ? ts->Jacp : nullptr, ts->rhsjacobianp ? ts->Jacprhs : nullptr}) {
    if (!A) continue;
    PetscCall(MatGetSize(A, nullptr, &directions));
    PetscCheck(columns == directions, comm, PETSC_ERR_ARG_WRONG,
               "TS adi: the matrix of TSForwardSetSensitivities() has %" PetscInt_FMT
               " columns, and that of TSSetRHSJacobianP() or TSSetIJacobianP() %" PetscInt_FMT
               ": there is one column for each parameter",
               columns, directions);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DropStages(Tangent *tangent)
{
  PetscFunctionBegin;
  for (std::array<Vec, max_stages> &step : tangent->kept)
    for (Vec &v : step) PetscCall(VecDestroy(&v));
  tangent->kept.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Keeps the tangents of the stages for an adjoint of second order, if the trajectory does not.
PetscErrorCode KeepStages(TS ts, int stages)
{
  Tangent  &tangent = adi_of(ts)->tangent;
  PetscBool basic   = PETSC_FALSE;
  PetscFunctionBegin;
  if (!ts->vecs_sensi2) PetscCall(DropStages(&tangent)); // those of another run
  if (!ts->trajectory || !ts->vecs_sensi2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)ts->trajectory, TSTRAJECTORYBASIC, &basic));
  if (basic) PetscFunctionReturn(PETSC_SUCCESS);
  const auto at = static_cast<std::size_t>(ts->steps);
  if (tangent.kept.size() <= at) PetscCallCXX(tangent.kept.resize(at + 1));
  for (int i = 0; i < stages; ++i) {
    Vec &kept = tangent.kept[at][static_cast<std::size_t>(i)];
    if (!kept) PetscCall(VecDuplicate(ts->vec_sol, &kept));
    PetscCall(VecCopy(tangent.columns[0].stage[i], kept));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The tangents at the end of the step.
PetscErrorCode Complete(const TangentStep &step, const WMethod &m, bool *ok)
{
  TS_ADI     *adi    = step.adi;
  PetscInt    column = 0;
  PetscScalar w[max_stages];
  PetscFunctionBegin;
  *ok = true;
  for (int i = 0; i < m.stages; ++i) w[i] = m.b[i];
  for (TangentVectors &v : step.columns) {
    bool finite;
    PetscCall(SumVectors(v.stage[0], m.stages, w, v.increment, adi->tangent.rhs, &finite));
    PetscCall(StoreColumn(step.ts->mat_sensip, column++, adi->tangent.rhs));
    *ok = *ok && finite;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode TSForwardSetUp_ADI(TS ts)
{
  PetscFunctionBegin;
  PetscCall(CheckSensitivities(ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSForwardStep_ADI(TS ts)
{
  TS_ADI  *adi = adi_of(ts);
  Tangent &all = adi->tangent;
  Vec     *values;
  bool     ok = true;
  PetscFunctionBegin;
  if (ts->reason < 0) PetscFunctionReturn(PETSC_SUCCESS); // there is no step
  PetscCall(CheckSensitivities(ts));                      // they may differ from those of the set-up
  PetscCall(TSGetStages(ts, nullptr, &values));
  PetscCall(CreateColumns(ts));
  const bool        has_parameters = (ts->ijacobianp && ts->Jacp) || (ts->rhsjacobianp && ts->Jacprhs);
  const TangentStep step{{ts, adi, adi->start, adi->start_time, ts->ptime - adi->start_time},
                         all.columns,
                         values,
                         has_parameters && (!ts->vecs_sensi2 || ts->vecs_sensi2p)};
  const TSADIType   type  = adi->type == TS_ADI_AUTO ? adi->choice.type : adi->type;
  const PetscReal   theta = theta_of_type(adi, type), time = time_of_jacobian(step, type);
  if (ts->steps == 0) all.generation = -1;
  const bool frozen = adi->lag_jacobian < 0, anew = all.generation != adi->splitting.generation();
  if (frozen || adi->given[0].A || anew) PetscCall(CheckMass(step));
  if (!frozen && anew) PetscCall(CheckFactors(step, time, ts->vec_sol));
  if (step.parameters) PetscCall(CheckParameters(step, time));
  all.generation = adi->splitting.generation();
  PetscCall(LoadColumns(ts));
  PetscCall(FactorOfStep(step, type, &ok)); // those of the step, unless it was fused
  if (ok) {
    const PetscInt solves[2] = {ts->ksp_its, ts->snes_its};
    const WMethod  m         = method_of_type(type, theta);
    PetscCall(ComputeTangents(step, type, theta));
    ts->ksp_its = solves[0], ts->snes_its = solves[1]; // TS counts those of the solution
    PetscCall(Complete(step, m, &ok));
    PetscCall(KeepStages(ts, m.stages));
    all.stages = m.stages, all.end = ts->ptime;
  }
  if (!ok) ts->reason = TSFORWARD_DIVERGED_LINEAR_SOLVE;
  adi->base = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSForwardGetStages_ADI(TS ts, PetscInt *n, Mat **S)
{
  TS_ADI  *adi = adi_of(ts);
  Tangent &all = adi->tangent;
  PetscFunctionBegin;
  PetscCall(CreateColumns(ts));
  for (int i = 0; i < adi->stage_count; ++i) {
    Mat     &stage  = all.matrices[static_cast<std::size_t>(i)];
    PetscInt column = 0;
    if (!stage) PetscCall(MatDuplicate(ts->mat_sensip, MAT_DO_NOT_COPY_VALUES, &stage));
    if (i >= all.stages) PetscCall(MatZeroEntries(stage));
    else
      for (const TangentVectors &v : all.columns) PetscCall(StoreColumn(stage, column++, v.stage[i]));
  }
  if (n) *n = adi->stage_count;
  if (S) *S = all.matrices.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSForwardRollBack_ADI(TS ts)
{
  PetscInt column = 0;
  PetscFunctionBegin;
  const Tangent &all = adi_of(ts)->tangent;
  if (!ts->forward_solve || all.stages == 0 || all.end != ts->ptime) PetscFunctionReturn(PETSC_SUCCESS);
  for (const TangentVectors &v : all.columns) PetscCall(StoreColumn(ts->mat_sensip, column++, v.stage[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSForwardReset_ADI(TS ts)
{
  Tangent &all = adi_of(ts)->tangent;
  PetscFunctionBegin;
  for (TangentVectors &v : all.columns)
    for (Vec *one : v.all()) PetscCall(VecDestroy(one));
  for (Vec *v : {&all.rhs, &all.algebraic}) PetscCall(VecDestroy(v));
  for (Mat &S : all.matrices) PetscCall(MatDestroy(&S));
  PetscCall(DropStages(&all));
  all = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSForwardIntegral_ADI(TS ts)
{
  PetscFunctionBegin;
  SETERRQ(
    PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP,
    "TS adi does not integrate costs over time (TSCreateQuadratureTS()): make the integral an unknown, or "
    "take -ts_type cn");
}

} // namespace ribbon::petsc
