// SPDX-License-Identifier: BSD-2-Clause
/// @file ts.hpp  The parts of TS `adi`. Comments name the file of each.
#pragma once

#include "ts_context.hpp"

PETSC_INTERN PetscErrorCode TSCreate_ADI(TS ts);

namespace ribbon::petsc {

// evaluation (adi/ts_evaluate.cxx)

/// adi->udot := 0, unless it is zero already.
PetscErrorCode ClearRate(TS_ADI *adi);
/// adi->udot := (Y - U) / c.
PetscErrorCode SetRate(TS_ADI *adi, Vec U, Vec Y, PetscReal c);
/// R := F(t, Y, udot) minus the RHSFunction, or RHS(t, Y) without an IFunction. Functions out of their
/// domain make it infinite.
PetscErrorCode Evaluate(TS ts, PetscReal t, Vec Y, Vec R);
/// Computes R of (t, U) at the point of the next Jacobian. If the Jacobian is due, computes and splits it.
/// Collective. `ok`: false, with snes->reason set, if R is not finite when the Jacobian is due.
PetscErrorCode Linearise(TS ts, PetscReal t, Vec U, PetscReal h, Vec R, bool *ok);
/// Whether v is finite; otherwise sets snes->reason on all ranks. Collective.
PetscErrorCode CheckFinite(TS ts, Vec v, bool *ok);
/// Sets snes->reason to the cause of values that are not finite. Collective.
PetscErrorCode ReportNotFinite(TS ts);
/// Determines which functions the application has set.
PetscErrorCode LookAtProblem(TS ts);
/// The matrices of the RHSJacobian, if the SNES would only shift them (sometimes in a copy). Null with an
/// IFunction, or if the SNES has another Jacobian, as by differences.
PetscErrorCode GetRHSMatrices(TS ts, Mat *A, Mat *B);
/// Computes the Jacobian. `ok`: false, with snes->reason set, if the application reports that it is out of
/// its domain. Collective.
PetscErrorCode ComputeJacobian(TS ts, PetscReal shift, Vec U, Mat A, Mat B, bool *ok);
/// The function and the Jacobian at adi->stage_time, for SNES.
PetscErrorCode FormFunctionADI(SNES snes, Vec U, Vec F, TS ts);
PetscErrorCode FormJacobianADI(SNES snes, Vec U, Mat A, Mat B, TS ts);

// factors and solves (adi/ts_solves.cxx)

/// Whether a step at this time of the TS is one of the last before the final time, or before the next
/// evaluation time, which PETSc adjusts to meet that time.
bool IsMatched(TS ts);
/// Whether such a step differs from an earlier one only by the rounding of its times. a, kept: theta times
/// these steps.
bool IsRounded(TS ts, PetscReal a, PetscReal kept);
/// Factors P_d = M - a A_d. The first of them, or all, are divided by sign a: the factors include the scale
/// of right-hand sides. `ok`: false, with snes->reason set, if this fails.
PetscErrorCode Factor(TS ts, PetscReal a, bool all_scaled, bool *ok);
/// P x = sign a R, with sign and a of Factor(). In rows of algebraic equations R has their right-hand
/// sides, without a factor.
/// @param moves  InTime::weight of the stage; null: without terms at the ends of lines
PetscErrorCode SolveP(TS ts, Vec R, Vec x, const PetscReal moves[2] = nullptr);
/// M x = R for a mass that is a Kronecker product, with x = 0 in rows of algebraic equations. Changes these
/// rows of R.
PetscErrorCode SolveTensorMass(TS ts, Vec R, Vec x);
/// Sets the rows of algebraic equations of rhs to sign sum_k weight_k boundary_k.
PetscErrorCode SetBoundaryRows(TS ts, PetscInt n, const PetscScalar weight[], Vec rhs);

// methods (adi/ts_methods.cxx)

/// A step from U at time t.
struct Step {
  TS        ts;
  TS_ADI   *adi;
  Vec       U;
  PetscReal t, h;
};
/// Properties of a method: a row of the table in adi/ts_methods.cxx.
struct ADIMethod {
  TSADIType type;
  int       stages; ///< increments of a step
  /// estimates errors with the default theta: the default of -ts_adapt_type is basic
  bool estimates;
  bool multiplies;                    ///< by A_d: each must be a matrix; needs a work vector
  PetscReal (*theta)(int directions); ///< default of -ts_adi_theta; null: the method has none
  /// whether a step of a linear problem in one direction is U <- (M - theta h A)^-1 (M + (1 - theta) h A) U;
  /// null: it is not
  bool (*is_product)(PetscReal theta);
  /// Sets adi->method and computes the increments. `ok`: whether every stage was accepted.
  PetscErrorCode (*step)(const Step &step, PetscReal theta, bool *ok);
};
const ADIMethod &method_of(TSADIType type);
// rows of algebraic equations (adi/ts_boundary.cxx)

/// Computes the increments of these rows for a step. boundary[0] := their increments at t + h. Methods of order 3:
/// boundary[1] := h q'(t). `R` is used if it is that of (t + h, U).
PetscErrorCode ComputeBoundary(const Step &step, const WMethod &m, Vec R);
/// Stores these rows of R, the function of stage i. They overwrite increments that later stages do not need.
PetscErrorCode KeepBoundaryRows(const Step &step, const WMethod &m, int i, Vec R);
/// Sets these rows of the right-hand side of stage i.
PetscErrorCode StageBoundary(const Step &step, const WMethod &m, int i, Vec rhs);
/// Factors of the function R in these rows of stage i: that of the stage, and those at (t, U), (t + h / 2, U)
/// and (t + h, U).
struct BoundaryWeights {
  PetscReal stage = 0, at[3] = {0, 0, 0};
};
/// The weights by which StageBoundary() applies the functions that boundary[0] and boundary[1] combine.
BoundaryWeights boundary_weights(const TS_ADI *adi, const WMethod &m, int i);

// functions that depend on time (adi/ts_in_time.cxx)

/// Determines whether the functions depend on time, and computes their change in the step. `R`: that of (t, U).
PetscErrorCode ComputeInTime(const Step &step, const WMethod &m, Vec R);
/// Adds the terms of stage i to its right-hand side. SolveP() needs InTime::weight of the stage then.
PetscErrorCode AddInTime(const Step &step, int i, Vec rhs);
/// v += first InTime::first + second InTime::second at the ends of the lines of direction d > 0.
PetscErrorCode AddAtEnds(TS_ADI *adi, int d, PetscReal first, PetscReal second, Vec v);
PetscErrorCode ResetInTime(TS_ADI *adi);

// stages that GMRES solves (adi/ts_iterated.cxx)

/// The longest step whose stages -ts_adi_type auto may solve with GMRES; 0: none. GMRES needs the tolerances of
/// adaptive steps. It is not linear in the right-hand side, as sensitivities require.
PetscErrorCode LongestIterated(TS ts, PetscReal *longest);
/// Makes the stages of this step use GMRES, and scales them by the tolerances of the TS.
PetscErrorCode PrepareIterated(const Step &step);
/// Solves the system of SolveP() without its splitting: R is its right-hand side, x the solution. `ok`: false, with
/// snes->reason set, if values are not finite; also if GMRES does not converge (Iterated::failed).
PetscErrorCode SolveIterated(const Step &step, Vec R, Vec x, bool *ok);

// choice of the method (adi/ts_choice.cxx)

/// A step of the method that suits the Jacobian and the step size.
PetscErrorCode StepOfChoice(const Step &step, PetscReal theta, bool *ok);
/// Shortens the next step of an adaptive run to the bound of ra34pw2, if a longer one does not pay.
PetscErrorCode BoundStep(TS ts, PetscReal *next);
/// Prints the method that was chosen, and why.
PetscErrorCode ViewChoice(TS ts, PetscViewer viewer);

/// One step from adi->start to ts->vec_sol. `ok`: whether every stage was accepted.
PetscErrorCode Advance(TS ts, bool *ok);
/// Reports a stage that could not be solved.
PetscErrorCode Refuse(const Step &step, PetscReal time, Vec Y);
/// Theta of the option, otherwise the default of the method; 0 if neither exists.
PetscReal theta_of(const TS_ADI *adi);

// operations of the TS on a step that is computed (adi/ts_estimates.cxx)

PetscErrorCode TSInterpolate_ADI(TS ts, PetscReal time, Vec U);
/// The local error by the embedded method, otherwise h^2 u'' / 2 by differences of solutions as in TSTHETA,
/// and after a start by differences of slopes.
PetscErrorCode TSEvaluateWLTE_ADI(TS ts, NormType norm, PetscInt *order, PetscReal *wlte);
PetscErrorCode TSEvaluateStep_ADI(TS ts, PetscInt order, Vec U, PetscBool *done);

// adjoint (adi/ts_adjoint.cxx)

/// Refuses what has no adjoint, and creates vectors.
PetscErrorCode TSAdjointSetUp_ADI(TS ts);
PetscErrorCode TSAdjointReset_ADI(TS ts);
/// Gradients at the start of a step from those at its end. Errors: PETSC_ERR_SUP in one sentence if the factors
/// depend on the solution or on parameters.
PetscErrorCode TSAdjointStep_ADI(TS ts);

// forward sensitivities (adi/ts_forward.cxx)

/// Refuses what has no forward sensitivities.
PetscErrorCode TSForwardSetUp_ADI(TS ts);
PetscErrorCode TSForwardReset_ADI(TS ts);
/// Forward sensitivities at the end of the last step from those at its start. Errors: see TSAdjointStep_ADI().
PetscErrorCode TSForwardStep_ADI(TS ts);
PetscErrorCode TSForwardGetStages_ADI(TS ts, PetscInt *n, Mat **S);
/// Restores those at the start of the last step.
PetscErrorCode TSForwardRollBack_ADI(TS ts);
/// Raises an error: there are no integrals over time.
PetscErrorCode TSForwardIntegral_ADI(TS ts);

// fused steps (adi/ts_fused.cxx; ts_fused_reasons.cxx says why there are none)

/// Prepares the next step at the time of the TS. `fused`: whether AdvanceFused() can compute it. Collective.
/// Errors: PETSC_ERR_SUP in one sentence if -ts_adi_fuse_steps requests what is not possible,
/// PETSC_ERR_ARG_WRONG if TSADISetConstantLinear() was called for another problem.
PetscErrorCode PrepareFused(TS ts, bool *fused);
/// Computes this step and those before it that are postponed, from adi->start to ts->vec_sol. `ok`: false if
/// values are not finite; ts->vec_sol is then as before. Collective.
PetscErrorCode AdvanceFused(TS ts, bool *ok);
/// Ends TSStep().
void EndFused(TS ts);
/// Takes back the times of the postponed steps. Returns their number.
PetscInt UndoPostponed(TS ts);
/// Ends TSStep() with an error: restores the time before the postponed steps and, with `begun`, the solution
/// (adi->start). An application that goes on takes these steps again.
PetscErrorCode DropSteps(TS ts, bool begun);
/// Computes the solutions that `before` and `start` stand for, if these hold earlier ones.
PetscErrorCode BringUp(TS_ADI *adi);
/// Sets a function of TSSetPreStep() that postpones steps, unless the application has one; or removes it.
PetscErrorCode WatchSolve(TS ts, bool on);
/// Prints a line on fused steps, or on the reason why there are none.
PetscErrorCode ViewFused(TS ts, PetscViewer viewer);
/// Asks TSAdapt for the step after one at the time of the TS.
PetscErrorCode ChooseStep(TS ts, PetscReal *next, PetscBool *accept);

// options (adi/ts_options.cxx)
PetscErrorCode ComposeADIOptions(TS ts, bool attach);
/// Takes constant matrices of the RHSJacobian from the SNES, and leaves a shell there. Otherwise TSSetUp()
/// would copy them, to shift the copies, which TS adi does not need. GiveMatrices() restores the matrices
/// of the SNES: copies, or the matrices themselves.
PetscErrorCode TakeMatrices(TS ts);
PetscErrorCode GiveMatrices(TS ts, bool copies);
/// Prepares the SNES, which stores the Jacobian and solves nothing: it gets a type without iterations, and
/// no KSP.
PetscErrorCode PrepareSNES(TS ts);
/// Raises an error if the application sets something in the TS or its SNES that would have no effect on the
/// solution. Errors: PETSC_ERR_SUP, in one sentence, for bounds, functions that SNESSolve() calls and
/// transient variables.
PetscErrorCode RefuseWhatIsIgnored(TS ts);
PetscErrorCode SetADIFromOptions(TS ts, RibbonOptionItems PetscOptionsObject);

} // namespace ribbon::petsc
