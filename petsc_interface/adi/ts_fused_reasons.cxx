// SPDX-License-Identifier: BSD-2-Clause
// Why steps of TS adi are not fused (docs/methods/fused_steps.md).
#include "ts_fused.hpp"

#include "../support/format.hpp"

namespace ribbon::petsc {

namespace {

/// Stores the first of some reasons.
class Reason {
public:
  explicit Reason(std::string *words) : words_(words) { words_->clear(); }
  void operator()(bool holds, const std::string &words) const
  {
    if (holds && words_->empty()) *words_ = words;
  }

private:
  std::string *words_;
};

/// Whether PETSc's own functions say that the problem is U' = J U with a constant J, and that M = I.
PetscErrorCode IsLinearOfPetsc(TS ts, bool *is)
{
  DM                  dm;
  RibbonTSIFunction   ifunction;
  RibbonTSRHSFunction rhsfunction;
  RibbonTSRHSJacobian rhsjacobian;
  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetIFunction(dm, &ifunction, nullptr));
  PetscCall(DMTSGetRHSFunction(dm, &rhsfunction, nullptr));
  PetscCall(DMTSGetRHSJacobian(dm, &rhsjacobian, nullptr));
  *is = !ifunction && rhsfunction == TSComputeRHSFunctionLinear &&
        rhsjacobian == TSComputeRHSJacobianConstant && ts->Arhs && ts->Arhs == ts->Brhs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether R, the result of Linearise(), is the Jacobian times U to rounding. `difference`, `size`: largest
/// values of the difference, and of the Jacobian times the largest value of U. Collective.
PetscErrorCode IsLinear(TS ts, Vec U, Vec R, bool *is, PetscReal *difference, PetscReal *size)
{
  TS_ADI   *adi = adi_of(ts);
  Mat       A, B;
  PetscReal norm;
  PetscFunctionBegin;
  PetscCall(GetRHSMatrices(ts, &A, &B));
  adi->udot_is_zero = false;
  if (B) PetscCall(MatMult(B, U, adi->udot));
  else { // B is shift M - J
    PetscCall(SNESGetJacobian(ts->snes, &A, &B, nullptr, nullptr));
    PetscCall(MatMult(B, U, adi->udot));
    PetscCall(adi->splitting.multiply_mass(U, adi->work));
    PetscCall(VecAXPBY(adi->udot, adi->shift, -1, adi->work));
  }
  PetscCall(VecAXPY(adi->udot, -sign_of(adi), R));
  PetscCall(VecNorm(adi->udot, NORM_INFINITY, difference));
  PetscCall(VecNorm(U, NORM_INFINITY, size));
  PetscCall(MatNorm(adi->splitting.rows(), NORM_INFINITY, &norm));
  *size *= norm;
  *is = *difference <= 1000 * PETSC_MACHINE_EPSILON * *size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode WhyNoProduct(TS ts, std::string *why)
{
  const TS_ADI    *adi    = adi_of(ts);
  const ADIMethod &method = method_of(adi->type);
  const Reason     because(why);
  PetscBool        none;
  bool             linear;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts->adapt, TSADAPTNONE, &none));
  PetscCall(IsLinearOfPetsc(ts, &linear));
  because(adi->fuse_steps == 0, "-ts_adi_fuse_steps is 0");
  because(!method.is_product || !method.is_product(theta_of(adi)),
          format("-ts_adi_type %s has more than one solve in a step", TSADITypes[adi->type]));
  because(!none, "-ts_adapt_type is not none");
  because(!linear && !adi->constant_linear,
          "the problem is not known to be linear with a constant Jacobian (TSADISetConstantLinear())");
  because(adi->given[0].A, "TSADISetDirectionJacobian() replaces the Jacobian");
  because(ts->prestage || ts->poststage, "there is a function of TSSetPreStage() or TSSetPostStage()");
  because(ts->functiondomainerror || ts->adapt->checkstage,
          "there is a function of TSSetFunctionDomainError() or TSAdaptSetCheckStage()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

void FindWhyOne(TS ts, std::string *why)
{
  const TS_ADI *adi = adi_of(ts);
  const Reason  because(why);
  because(adi->fuse_steps == 1, "-ts_adi_fuse_steps is 1");
  because(ts->numbermonitors > 0, "there is a monitor");
  because(ts->event, "there are events");
  because(ts->trajectory, "there is a trajectory");
  because(ts->forward_solve, "there are forward sensitivities");
  because(ts->quadraturets, "there is a quadrature");
  because(ts->postevaluate, "there is a function of TSSetPostEvaluate()");
  because(ts->poststep, "there is a function of TSSetPostStep()");
  because(RibbonMayResize(ts), "there is a function of TSSetResize()");
  because(ts->testjacobian || ts->testjacobiantranspose, "the Jacobian is tested after each step");
  because(ts->adapt->monitor, "-ts_adapt_monitor is set");
  because(ts->max_snes_failures != 1, "-ts_max_snes_failures is not 1: a step that fails may be repeated");
}

PetscErrorCode MatrixIsRead(TS ts, bool *is)
{
  const TS_ADI    *adi   = adi_of(ts);
  PetscObjectId    id    = 0;
  PetscObjectState state = 0;
  PetscFunctionBegin;
  if (ts->Brhs) PetscCall(PetscObjectGetId((PetscObject)ts->Brhs, &id));
  if (ts->Brhs) PetscCall(PetscObjectStateGet((PetscObject)ts->Brhs, &state));
  *is = adi->read != 0 && id == adi->read && state == adi->read_state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobianIsKnown(TS ts, bool *known)
{
  const TS_ADI     *adi    = adi_of(ts);
  const FusedSteps &f      = adi->fused;
  bool              linear = false, is_read = false;
  PetscFunctionBegin;
  PetscCall(IsLinearOfPetsc(ts, &linear));
  PetscCall(MatrixIsRead(ts, &is_read));
  // other Jacobians may change when a run begins
  if (!linear || adi->read == 0) is_read = !f.run_ended && (!ts->steprestart || f.prepared);
  *known = is_read && f.generation >= 0 && f.generation == adi->splitting.generation();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindRefusal(TS ts, std::string *why)
{
  TS_ADI                   *adi       = adi_of(ts);
  const DirectionSplitting &splitting = adi->splitting;
  const Reason              because(why);
  bool                      is;
  PetscReal                 difference, size;
  PetscFunctionBegin;
  because(adi->imex, "the RHSFunction next to an IFunction is explicit");
  because(splitting.directions() != 1,
          format("the Jacobian couples along %d directions", splitting.directions()));
  because(splitting.remainder().mixed > 0, "couplings along no direction are explicit");
  because(splitting.algebraic() != nullptr, "there are algebraic equations");
  if (!why->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(IsLinear(ts, ts->vec_sol, adi->rhs, &is, &difference, &size));
  PetscCheck(
    is || !adi->constant_linear, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONG,
    "TSADISetConstantLinear: at time %g the function differs by %g from the Jacobian times the solution, "
    "whose terms are at most %g: the problem is not linear with this Jacobian, or has another term",
    (double)ts->ptime, (double)difference, (double)size);
  because(!is, "the RHSFunction differs from the RHSJacobian times the solution");
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
