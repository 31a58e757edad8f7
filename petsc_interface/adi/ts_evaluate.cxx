// SPDX-License-Identifier: BSD-2-Clause
// Evaluations of the application in a step of TS adi: functions, Jacobian, mass.
#include "ts.hpp"

#include "mass.hpp"
#include "../support/session.hpp"

#include <petscsnes.h>

namespace ribbon::petsc {

namespace {

/// Reads the domain errors of the application's functions, because SNES never solves.
PetscErrorCode CheckDomain(TS ts, Vec F)
{
  SNES snes;
  PetscFunctionBegin;
  PetscCall(TSGetSNES(ts, &snes));
  // only this rank knows: the next norm tells all ranks
  if (RibbonFunctionDomainError(snes)) PetscCall(RibbonVecSetInfinity(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Computes M at (t, U), and, once, whether it is diagonal. `changed`: whether it differs from the last M.
PetscErrorCode ComputeMass(TS ts, PetscReal t, Vec U, Vec implicit, bool *changed)
{
  TS_ADI         *adi  = adi_of(ts);
  const PetscBool imex = adi->imex ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionBegin;
  *changed = false;
  if (!adi->has_ifunction) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Logged(&Events::mass, [&] {
    PetscFunctionBegin;
    // udot is 0 afterwards
    PetscCall(UpdateMass(ts, t, U, implicit, imex, adi->udot, adi->work, &adi->mass, changed));
    if (!adi->mass_known)
      PetscCall(MassIsDiagonal(ts, t, U, implicit, imex, adi->mass, &adi->mass_is_diagonal));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  adi->mass_known = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Binds F to the host if a Jacobian of the SNES that the TS did not set may call coloured differences.
/// These copy F to a vector that is bound to the host. PETSc would copy device values to the device, but
/// the differences read the host. `bound`: F, to be released afterwards, or null.
PetscErrorCode BindFunctionToTheHost(SNES snes, Vec *bound)
{
  PetscErrorCode (*function)(SNES, Vec, Mat, Mat, void *);
  PetscBool there;
  Vec       F;
  PetscFunctionBegin;
  *bound = nullptr;
  PetscCall(SNESGetJacobian(snes, nullptr, nullptr, &function, nullptr));
  // other functions may compute differences, or wrap such a function
  if (function == SNESTSFormJacobian) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SNESGetFunction(snes, &F, nullptr, nullptr));
  PetscCall(VecBoundToCPU(F, &there));
  if (there) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecBindToCPU(F, PETSC_TRUE));
  *bound = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the Jacobian is in its domain according to the application; otherwise sets snes->reason.
/// Collective.
PetscErrorCode CheckJacobianDomain(TS ts, bool *ok)
{
  PetscInt outside = ts->snes->jacobiandomainerror;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &outside, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)ts)));
  *ok = !outside;
  if (outside) PetscCall(SNESSetConvergedReason(ts->snes, SNES_DIVERGED_JACOBIAN_DOMAIN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode GetRHSMatrices(TS ts, Mat *A, Mat *B)
{
  const SNES          snes = ts->snes;
  DM                  dm;
  RibbonTSIJacobian   ijacobian;
  RibbonTSRHSJacobian rhsjacobian;
  PetscErrorCode (*jacobian)(SNES, Vec, Mat, Mat, void *);
  PetscBool tests;
  PetscFunctionBegin;
  *A = *B = nullptr;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetIJacobian(dm, &ijacobian, nullptr));
  PetscCall(DMTSGetRHSJacobian(dm, &rhsjacobian, nullptr));
  if (adi_of(ts)->has_ifunction || ijacobian || !rhsjacobian || (snes->mf && !snes->mf_operator))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMSNESGetJacobian(dm, &jacobian, nullptr));
  if (jacobian != SNESTSFormJacobian || ts->rhsjacobian.shift != PetscScalar(0))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsHasName(((PetscObject)snes)->options, ((PetscObject)snes)->prefix,
                                "-snes_test_jacobian", &tests));
  if (tests || !ts->Arhs || !ts->Brhs) PetscFunctionReturn(PETSC_SUCCESS);
  *A = ts->Arhs, *B = ts->Brhs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComputeJacobian(TS ts, PetscReal shift, Vec U, Mat A, Mat B, bool *ok)
{
  TS_ADI  *adi = adi_of(ts);
  SNES     snes;
  Vec      bound;
  PetscInt lag;
  PetscFunctionBegin;
  adi->shift = shift;
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(BindFunctionToTheHost(snes, &bound));
  PetscCall(SNESGetLagJacobian(snes, &lag)); // it counts nonlinear iterations, and there are none
  PetscCall(SNESSetLagJacobian(snes, 1));
  snes->jacobiandomainerror = PETSC_FALSE;
  PetscCall(SNESComputeJacobian(snes, U, A, B));
  PetscCall(SNESSetLagJacobian(snes, lag));
  if (bound) PetscCall(VecBindToCPU(bound, PETSC_FALSE));
  PetscCall(CheckJacobianDomain(ts, ok));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LookAtProblem(TS ts)
{
  TS_ADI             *adi = adi_of(ts);
  DM                  dm;
  RibbonTSIFunction   ifunction;
  RibbonTSRHSFunction rhsfunction;
  RibbonTSIJacobian   ijacobian;
  RibbonTSRHSJacobian rhsjacobian;
  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetIFunction(dm, &ifunction, nullptr));
  PetscCall(DMTSGetRHSFunction(dm, &rhsfunction, nullptr));
  PetscCall(DMTSGetIJacobian(dm, &ijacobian, nullptr));
  PetscCall(DMTSGetRHSJacobian(dm, &rhsjacobian, nullptr));
  adi->has_ifunction = ifunction != nullptr;
  adi->imex          = ifunction && rhsfunction && (ijacobian || !rhsjacobian);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// M of J = shift M - A, from the Jacobians for two shifts, unless M is that of the last Jacobian. On return
/// A and B have the Jacobian of `shift`. `implicit`: F(t, U, 0).
PetscErrorCode ComputeMassMatrix(TS ts, PetscReal t, Vec implicit, PetscReal shift, Vec U, Mat A, Mat B,
                                 bool *ok)
{
  TS_ADI *adi   = adi_of(ts);
  bool    is_it = false;
  PetscFunctionBegin;
  if (adi->mass_matrix)
    PetscCall(Logged(&Events::mass, [&] {
      return MassIs(ts, t, U, implicit, adi->imex ? PETSC_TRUE : PETSC_FALSE, adi->mass_matrix, &is_it);
    }));
  if (is_it) {
    PetscCall(ComputeJacobian(ts, shift, U, A, B, ok));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatDestroy(&adi->mass_matrix));
  PetscCall(ComputeJacobian(ts, 2 * shift, U, A, B, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &adi->mass_matrix));
  PetscCall(ComputeJacobian(ts, shift, U, A, B, ok));
  PetscCall(MatAXPY(adi->mass_matrix, -1, B, SAME_NONZERO_PATTERN));
  PetscCall(MatScale(adi->mass_matrix, 1 / shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Raises an error for what a mass that is a Kronecker product does not support.
PetscErrorCode RefuseWithTensorMass(TS ts, unsigned axes_of_matrices)
{
  const TS_ADI   *adi  = adi_of(ts);
  const MPI_Comm  comm = PetscObjectComm((PetscObject)ts);
  const TSADIType type = adi->type;
  PetscFunctionBegin;
  PetscCheck(!method_of(type).multiplies && type != TS_ADI_PEACEMAN_RACHFORD, comm, PETSC_ERR_SUP,
             "TS adi: -ts_adi_type %s with several directions needs a diagonal mass matrix; take "
             "hundsdorfer_verwer, ra34pw2 or douglas",
             TSADITypes[type]);
  for (int d = 0; d < adi->splitting.directions(); ++d) {
    const char *name = adi->splitting.name(d);
    PetscCheck(
      !(axes_of_matrices >> adi->splitting.axis(d) & 1), comm, PETSC_ERR_SUP,
      "TS adi: the options of -adi_%s_ need the matrix of the direction, or solve more than once along "
      "its lines; a mass matrix that is not diagonal, with several directions, takes one solve with PC "
      "line: remove -adi_%s_pc_type, or -adi_%s_pc_line_compare",
      name, name, name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Splits the matrix B: `factor` times B is shift M - A.
PetscErrorCode Split(TS ts, PetscReal t, Vec U, Mat B, PetscReal shift, PetscReal factor, bool *changed)
{
  TS_ADI          *adi = adi_of(ts);
  SplitJacobian    jacobian;
  std::vector<Mat> given;
  PetscFunctionBegin;
  jacobian.J = B, jacobian.shift = shift, jacobian.factor = factor, jacobian.mass = adi->mass,
  jacobian.mass_matrix = adi->mass_matrix;
  PetscCall(TSGetDM(ts, &jacobian.dm));
  PetscCall(adi->factors.axes_of_matrices(PetscObjectComm((PetscObject)ts), &jacobian.matrices));
  const unsigned of_options = jacobian.matrices;
  if (method_of(adi->type).multiplies) jacobian.matrices = 7;
  for (const TS_ADI::DirectionJacobian &direction : adi->given) {
    if (!direction.A) break;
    PetscCall((*direction.function)(ts, t, U, direction.A, direction.ctx));
    PetscCallCXX(given.push_back(direction.A));
  }
  if (given.empty()) PetscCall(adi->splitting.update(jacobian, changed));
  else PetscCall(adi->splitting.update(given, jacobian, changed));
  if (adi->splitting.has_tensor_mass()) PetscCall(RefuseWithTensorMass(ts, of_options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ClearRate(TS_ADI *adi)
{
  PetscFunctionBegin;
  if (!adi->udot_is_zero) PetscCall(VecZeroEntries(adi->udot));
  adi->udot_is_zero = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetRate(TS_ADI *adi, Vec U, Vec Y, PetscReal c)
{
  PetscFunctionBegin;
  PetscCall(VecAXPBYPCZ(adi->udot, 1 / c, -1 / c, 0, Y, U));
  adi->udot_is_zero = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Evaluate(TS ts, PetscReal t, Vec Y, Vec R)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  RibbonFunctionDomainError(ts->snes) = PETSC_FALSE;
  PetscCall(AwaitCopies(R));
  if (adi->has_ifunction) PetscCall(TSComputeIFunction(ts, t, Y, adi->udot, R, PETSC_FALSE));
  else PetscCall(TSComputeRHSFunction(ts, t, Y, R));
  PetscCall(CheckDomain(ts, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportNotFinite(TS ts)
{
  PetscInt outside = RibbonFunctionDomainError(ts->snes);
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &outside, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)ts)));
  PetscCall(SNESSetConvergedReason(ts->snes,
                                   outside ? SNES_DIVERGED_FUNCTION_DOMAIN : RIBBON_SNES_DIVERGED_NANORINF));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckFinite(TS ts, Vec v, bool *ok)
{
  PetscFunctionBegin;
  PetscCall(IsFinite(v, ok));
  if (!*ok) PetscCall(ReportNotFinite(ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Linearise() of a TS whose RHSFunction has a Jacobian matrix: A = dRHS/dU, and M = I.
static PetscErrorCode LineariseRHS(TS ts, PetscReal t, Vec U, Mat A, Mat B, Vec R, bool *ok)
{
  TS_ADI *adi = adi_of(ts);
  SNES    snes;
  bool    changed;
  PetscFunctionBegin;
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(Evaluate(ts, t, U, R));
  PetscCall(CheckFinite(ts, R, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  snes->jacobiandomainerror = PETSC_FALSE;
  PetscCall(TSComputeRHSJacobian(ts, t, U, A, B));
  PetscCall(CheckJacobianDomain(ts, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Split(ts, t, U, B, 0, -1, &changed));
  PetscCall(PetscObjectGetId((PetscObject)B, &adi->read));
  PetscCall(PetscObjectStateGet((PetscObject)B, &adi->read_state));
  adi->age = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Linearise(TS ts, PetscReal t, Vec U, PetscReal h, Vec R, bool *ok)
{
  TS_ADI *adi = adi_of(ts);
  SNES    snes;
  Mat     A, B;
  Vec     F;
  bool    changed, another_mass;
  PetscFunctionBegin;
  *ok = true;
  PetscCall(LookAtProblem(ts));
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(ClearRate(adi));
  if (adi->age >= 0 && (adi->lag_jacobian < 0 || adi->age < adi->lag_jacobian)) {
    PetscCall(Evaluate(ts, t, U, R));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetRHSMatrices(ts, &A, &B));
  if (B) {
    PetscCall(LineariseRHS(ts, t, U, A, B, R, ok));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GiveMatrices(ts, true));
  adi->base = U, adi->read = 0;
  PetscCall(SNESSetSolution(snes, U));
  PetscCall(SNESSetUp(snes));
  PetscCall(SNESGetJacobian(snes, &A, &B, nullptr, nullptr));
  PetscCall(SNESGetFunction(snes, &F, nullptr, nullptr));
  PetscCheck(B, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONGSTATE,
             "TS adi: there is no Jacobian matrix; set one, or a DM that makes it (with -snes_mf_operator in "
             "place of -snes_mf)");
  // finite differences read F, at the solution of SNES, as the function that they differentiate
  adi->stage_time                 = t;
  RibbonFunctionDomainError(snes) = PETSC_FALSE;
  PetscCall(AwaitCopies(F));
  PetscCall(TSComputeIFunction(ts, t, U, adi->udot, F, adi->imex ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(CheckDomain(ts, F));
  if (adi->imex) {
    RibbonFunctionDomainError(snes) = PETSC_FALSE;
    PetscCall(AwaitCopies(R));
    PetscCall(TSComputeRHSFunction(ts, t, U, R));
    PetscCall(CheckDomain(ts, R));
    PetscCall(VecAYPX(R, -1, F));
  } else PetscCall(VecAXPBY(R, -sign_of(adi), 0, F));
  PetscCall(CheckFinite(ts, R, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS); // differences would produce couplings from it
  const PetscReal shift = 1 / h;
  if (!adi->mass_known) PetscCall(ComputeMass(ts, t, U, F, &another_mass));
  if (adi->mass_is_diagonal) PetscCall(ComputeJacobian(ts, shift, U, A, B, ok));
  else PetscCall(ComputeMassMatrix(ts, t, F, shift, U, A, B, ok));
  if (!*ok) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Split(ts, t, U, B, shift, 1, &changed));
  if (changed && adi->age >= 0) { // an unchanged Jacobian includes the same mass
    PetscCall(ComputeMass(ts, t, U, F, &another_mass));
    if (another_mass) PetscCall(Split(ts, t, U, B, shift, 1, &changed));
  }
  adi->age = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormFunctionADI(SNES, Vec U, Vec F, TS ts)
{
  TS_ADI   *adi = adi_of(ts);
  PetscBool on_host, stays;
  PetscFunctionBegin;
  // finite differences keep U on the host; a device would read the old values there
  PetscCall(VecBoundToCPU(U, &on_host));
  PetscCall(VecBoundToCPU(adi->work, &stays));
  if (on_host && !stays) PetscCall(VecBindToCPU(adi->work, PETSC_TRUE));
  PetscCall(VecWAXPY(adi->work, -1, adi->base ? adi->base : adi->start, U));
  PetscCall(VecScale(adi->work, adi->shift));
  PetscCall(AwaitCopies(F));
  PetscCall(TSComputeIFunction(ts, adi->stage_time, U, adi->work, F, adi->imex ? PETSC_TRUE : PETSC_FALSE));
  if (on_host && !stays) PetscCall(VecBindToCPU(adi->work, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FormJacobianADI(SNES, Vec U, Mat A, Mat B, TS ts)
{
  TS_ADI *adi = adi_of(ts);
  PetscFunctionBegin;
  PetscCall(TSComputeIJacobian(ts, adi->stage_time, U, adi->udot, adi->shift, A, B,
                               adi->imex ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
