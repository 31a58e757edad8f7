// SPDX-License-Identifier: BSD-2-Clause
/// @file ts.hpp  TS `adi`: its context and its parts.
#pragma once

#include "factors.hpp"
#include "../support/vector_sum.hpp"
#include "wmethod.hpp"

#include <ribbon_petsc/tsadi.h>

#include <petsc/private/tsimpl.h>

#include <array>

PETSC_INTERN PetscErrorCode TSCreate_ADI(TS ts);

namespace ribbon::petsc {

/// Steps of a linear problem with a constant Jacobian, without functions of the application
/// (docs/methods/fused_steps.md).
struct FusedSteps {
  using Lines = std::shared_ptr<const LineSteps>;

  Lines       lines; ///< U <- A^-1 B U with the step h and theta; null: none yet
  PetscReal   h = 0, theta = 0;
  PetscInt64  generation = -1;   ///< of the splitting of `lines` and `reason`
  std::string reason;            ///< why this Jacobian has no such steps; empty: it has
  std::string reason_of_step;    ///< why there are none of size h with theta
  bool        prepared  = false; ///< PrepareFused() was called for the next TSStep()
  bool        run_ended = false; ///< the last step was the last one of a run
  bool        last      = false; ///< the last step was fused

  // the next TSStep()
  bool      in_solve  = false;                   ///< TSSolve() calls it
  PetscInt  postponed = 0;                       ///< steps before its own that it computes as well
  PetscReal time = 0, time_before = 0, step = 0; ///< of the TS before the first of these

  // for views
  std::string why_not;     ///< why the last step was not fused; empty: it was, or was an exception
  std::string why_one;     ///< why the last TSStep() was one step; empty: it may take more
  PetscInt    longest = 0; ///< largest number of steps of a TSStep()
};

/// An earlier solution in place of the one that a vector stands for, which these steps compute from it.
struct Delay {
  PetscInt          steps = 0;
  FusedSteps::Lines lines;
};

/// The method of -ts_adi_type auto (adi/ts_choice.cxx).
struct Choice {
  using Transport                      = DirectionSplitting::Transport;
  static constexpr PetscReal tolerance = PetscReal(1.05); ///< largest |R| of a stable method

  TSADIType  type       = TS_ADI_RA34PW2; ///< of this step
  PetscInt64 generation = -1;             ///< of the splitting of `along`
  int        directions = 0;              ///< of `along`
  Transport  along[3];                    ///< transport along the directions
  bool       known   = true;              ///< otherwise `along` is unknown
  PetscReal  largest = PETSC_MAX_REAL;    ///< step up to which ra34pw2 is stable
};

/// Change of the function with time (adi/ts_in_time.cxx): R(t + s h, U) = R(t, U) + s first + s^2 second, with U
/// at the start of the step. 0 in rows of algebraic equations.
struct InTime {
  bool depends = false; ///< the function depends on time
  bool used    = false; ///< in this step
  /// `first` and `second` already are the functions at t + h and t + h / 2 (ComputeBoundary())
  bool      evaluated[2] = {};
  PetscInt  looked       = -1; ///< step of the last comparison; -1: there was none
  Vec       first = nullptr, second = nullptr;
  PetscReal gamma[max_stages] = {}; ///< factor of `first` in each stage
  /// factors of `first` and `second` in D_i of each stage (docs/methods/adi.md#functions-of-time)
  PetscReal  weight[max_stages][2] = {};
  Mat        ends[2]               = {}; ///< line_ends() of directions 1 and 2
  Vec        at_ends[2][2]         = {}; ///< their products with `first` and `second`
  PetscInt64 structure             = -1; ///< of the splitting of `ends`
};

/// Vectors of the adjoint of a step (adi/ts_adjoint.cxx), for one cost.
struct AdjointVectors {
  Vec increment[max_stages] = {};
  Vec rhs = nullptr, algebraic = nullptr; ///< of a stage; its rows of algebraic equations
  /// adjoints of the functions at (t, U), (t + h / 2, U), (t + h, U) in rows of algebraic equations
  Vec boundary[3]   = {};
  Vec parameters[2] = {}; ///< work vectors

  std::array<Vec *, max_stages + 5> of_the_solution()
  {
    return {&increment[0], &increment[1], &increment[2], &increment[3], &rhs,
            &algebraic,    &boundary[0],  &boundary[1],  &boundary[2]};
  }
};

/// Vectors of the tangent linear model of a step, for one column of forward sensitivities.
struct TangentVectors {
  Vec stage[max_stages]     = {}; ///< derivatives of the values of the stages; the first is at the start
  Vec increment[max_stages] = {};
  Vec boundary[3]           = {}; ///< those of AdjointVectors::boundary

  std::array<Vec *, 2 * max_stages + 3> all()
  {
    return {&stage[0],     &stage[1],     &stage[2],    &stage[3],    &increment[0], &increment[1],
            &increment[2], &increment[3], &boundary[0], &boundary[1], &boundary[2]};
  }
};

/// The tangent linear model (adi/ts_forward.cxx).
struct Tangent {
  std::vector<TangentVectors> columns;
  Vec                         rhs = nullptr, algebraic = nullptr; ///< of a stage; its algebraic equations
  int                         stages     = 0;                     ///< of the last step; 0: there is none
  PetscReal                   end        = 0;                     ///< time of its end
  PetscInt64                  generation = -1;                    ///< of the factors that were checked last
  std::array<Mat, max_stages> matrices{};                         ///< result of TSForwardGetStages()
  /// the only column of the stages of each step, for the adjoint of second order
  std::vector<std::array<Vec, max_stages>> kept;
};

/// Vectors of the adjoint of second order (adi/ts_hessian.cxx); vectors of vectors have one for each cost.
struct SecondOrder {
  std::array<Vec, max_stages> tangents{};        ///< of the stages of the step
  Vec                         moved = nullptr;   ///< another solution, for checks
  std::vector<Vec> by_solution, by_parameters;   ///< R_UU T + R_UP p, R_PU T + R_PP p, times adjoints
  std::vector<Vec> products, parameter_products; ///< results of the application
};

/// Context of TS adi. M U' = G(t, U) with G = -F(t, U, 0) + RHS(t, U), and P = P_1 M^-1 P_2 ... with P_d =
/// M - a A_d.
struct TS_ADI {
  struct DirectionJacobian {
    Mat                    A        = nullptr;
    TSADIDirectionJacobian function = nullptr;
    void                  *ctx      = nullptr;
  };

  // options
  TSADIType                        type            = TS_ADI_AUTO;
  PetscReal                        theta           = 0; ///< 0: the weight of the method
  PetscInt                         lag_jacobian    = 1;
  PetscInt                         rannacher       = 0;
  PetscInt                         fuse_steps      = -1; ///< most steps of a call; 0: none, -1: any number
  PetscBool                        constant_linear = PETSC_FALSE; ///< says the application
  PetscBool                        time_derivative = PETSC_TRUE;  ///< see InTime
  std::array<DirectionJacobian, 3> given;

  // the problem, from the first step on
  bool has_ifunction = false; ///< otherwise M is the identity
  bool imex          = false; ///< lines come from the IFunction only
  bool mass_known = false, mass_is_diagonal = true;
  Vec  mass        = nullptr; ///< diagonal of M, or its row sums; null: the identity
  Mat  mass_matrix = nullptr; ///< M if it is not diagonal

  DirectionSplitting splitting;
  DirectionFactors   factors;
  PetscInt           age         = -1;      ///< steps since the last Jacobian; -1: there is none
  Mat                placeholder = nullptr; ///< replaces matrices in the SNES: see TakeMatrices()
  // time and shift of the Jacobian, and the solution (borrowed)
  PetscReal stage_time = 0, shift = 0;
  Vec       base = nullptr;
  /// the matrix of the RHSJacobian that was split last, and its state; 0: another one
  PetscObjectId    read       = 0;
  PetscObjectState read_state = 0;

  // vectors of a step
  Vec                         before = nullptr; ///< the solution before `start`
  Vec                         start  = nullptr; ///< the solution at the start of the step
  std::array<Vec, max_stages> value{};          ///< of the stages after the first
  std::array<Vec, max_stages> increment{};      ///< y of the stages
  std::array<Vec, max_stages> stages{};         ///< result of TSGetStages()
  int                         stage_count = 0;
  Vec                         udot = nullptr, rhs = nullptr, work = nullptr, residual = nullptr;
  bool                        udot_is_zero = false;
  Vec                         boundary[2]  = {nullptr, nullptr}; ///< see ComputeBoundary()

  bool has_function = false; ///< rhs has the function at the start of the step, for the first stage

  PetscReal factor_scale = 0; ///< SolveP() solves P x = factor_scale rhs

  // data that a change of the grid does not affect
  struct History {
    PetscReal before_time = 0, start_time = 0;
    bool      before_is_there = false;
    PetscInt  since_restart   = 0;
  };
  bool    resumes = false; ///< `before` and `start` exist already when the TS is set up
  History kept;

  // the step
  WMethod      method;              ///< of this step, for every type
  PetscReal    before_time     = 0; ///< time of `before`
  PetscReal    start_time      = 0; ///< time of `start`
  bool         before_is_there = false;
  bool         repeats         = false; ///< an attempt at this step was rejected
  bool         starting        = false; ///< this step is one of Rannacher's method
  PetscInt     since_restart   = 0;
  TSStepStatus status          = TS_STEP_INCOMPLETE;

  FusedSteps fused;
  Choice     choice;
  InTime     in_time;
  /// methods of the steps of a trajectory, with -ts_adi_type auto
  std::vector<TSADIType>      taken;
  std::vector<AdjointVectors> adjoint; ///< for each cost
  Tangent                     tangent;
  SecondOrder                 second;
  Delay                       before_delay, start_delay; ///< of `before` and `start`
};

inline TS_ADI *adi_of(TS ts)
{
  return static_cast<TS_ADI *>(ts->data);
}

// evaluation (adi/ts_evaluate.cxx)

/// The application computes R = sign G: F with an IFunction, otherwise RHS. Factors and weights include the
/// sign, so that it needs no pass over memory.
inline PetscReal sign_of(const TS_ADI *adi)
{
  return adi->has_ifunction ? -1 : 1;
}
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

/// Computes the increments of these rows for a step. boundary[0] := their increments at t + h. Methods of order 3: boundary[1] := h
/// q'(t). `R` is used if it is that of (t + h, U).
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

// choice of the method (adi/ts_choice.cxx)

/// A step of the method that suits the Jacobian and the step size.
PetscErrorCode StepOfChoice(const Step &step, PetscReal theta, bool *ok);
/// Bounds the next step of an adaptive run, if ra34pw2 is stable up to there and a longer step of the other
/// method would not be worth more.
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
