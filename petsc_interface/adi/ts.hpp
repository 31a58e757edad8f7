// SPDX-License-Identifier: BSD-2-Clause
/// @file ts.hpp  TS `adi`: its context and the parts it is made of.
#pragma once

#include "factors.hpp"
#include "../support/vector_sum.hpp"
#include "wmethod.hpp"

#include <ribbon_petsc/tsadi.h>

#include <petsc/private/tsimpl.h>

#include <array>

PETSC_INTERN PetscErrorCode TSCreate_ADI(TS ts);

namespace ribbon::petsc {

/// Context of TS adi. M U' = G(t, U) with G = -F(t, U, 0) + RHS(t, U); P = P_1 M^-1 P_2
/// ... with P_d = M - a A_d.
struct TS_ADI {
  struct DirectionJacobian {
    Mat                    A        = nullptr;
    TSADIDirectionJacobian function = nullptr;
    void                  *ctx      = nullptr;
  };

  // options
  TSADIType                        type         = TS_ADI_HUNDSDORFER_VERWER;
  PetscReal                        theta        = 0; ///< 0: of the method
  PetscInt                         lag_jacobian = 1;
  PetscInt                         rannacher    = 0;
  std::array<DirectionJacobian, 3> given;

  // the problem, as the first step finds it
  bool has_ifunction = false; ///< else M is the identity
  bool imex          = false; ///< lines come from the IFunction alone
  bool mass_known = false, mass_is_diagonal = true;
  Vec  mass        = nullptr; ///< diagonal of M, or its row sums; null: the identity
  Mat  mass_matrix = nullptr; ///< M where it is not diagonal

  DirectionSplitting splitting;
  DirectionFactors   factors;
  PetscInt           age         = -1;      ///< steps since the Jacobian was computed; -1: there is none
  Mat                placeholder = nullptr; ///< the SNES has it in place of matrices: see TakeMatrices()
  // where the Jacobian is computed
  PetscReal stage_time = 0, shift = 0;

  // vectors of a step
  Vec                         before = nullptr; ///< the solution one step before `start`
  Vec                         start  = nullptr; ///< the solution that the step starts from
  std::array<Vec, max_stages> value{};          ///< of the stages after the first
  std::array<Vec, max_stages> increment{};      ///< y of the stages
  std::array<Vec, max_stages> stages{};         ///< what TSGetStages() hands out
  int                         stage_count = 0;
  Vec                         udot = nullptr, rhs = nullptr, work = nullptr, residual = nullptr;
  bool                        udot_is_zero = false;
  Vec                         boundary[2]  = {nullptr, nullptr}; ///< see ComputeBoundary()

  PetscReal factor_scale = 0; ///< SolveP() solves P x = factor_scale rhs

  // what a change of the grid leaves as it is
  struct History {
    PetscReal before_time = 0, start_time = 0;
    bool      before_is_there = false;
    PetscInt  since_restart   = 0;
  };
  bool    resumes = false; ///< `before` and `start` are there already when the TS is set up
  History kept;

  // the step
  WMethod      method;              ///< of this step, whatever the type
  PetscReal    before_time     = 0; ///< time of `before`
  PetscReal    start_time      = 0; ///< time of `start`
  bool         before_is_there = false;
  bool         starting        = false; ///< this step is one of Rannacher's
  PetscInt     since_restart   = 0;
  TSStepStatus status          = TS_STEP_INCOMPLETE;
};

inline TS_ADI *adi_of(TS ts)
{
  return static_cast<TS_ADI *>(ts->data);
}

// evaluation (adi/ts_evaluate.cxx)

/// What the application computes is R = sign G: F with an IFunction, else RHS. The sign goes into factors and
/// weights, so that no pass over memory is spent on it.
inline PetscReal sign_of(const TS_ADI *adi)
{
  return adi->has_ifunction ? -1 : 1;
}
/// adi->udot := 0, unless it is.
PetscErrorCode ClearRate(TS_ADI *adi);
/// adi->udot := (Y - U) / c.
PetscErrorCode SetRate(TS_ADI *adi, Vec U, Vec Y, PetscReal c);
/// R := F(t, Y, udot), less the RHSFunction, or RHS(t, Y) where there is no IFunction. Functions outside
/// their domain make it infinite.
PetscErrorCode Evaluate(TS ts, PetscReal t, Vec Y, Vec R);
/// R of (t, U) at the point where the Jacobian is computed next, and the Jacobian where it is due:
/// splits it. Collective. `ok`: false, with snes->reason set, where R is not finite at a point
/// where the Jacobian is due.
PetscErrorCode Linearise(TS ts, PetscReal t, Vec U, PetscReal h, Vec R, bool *ok);
/// Whether v is finite; else snes->reason is set, on all ranks. Collective.
PetscErrorCode CheckFinite(TS ts, Vec v, bool *ok);
/// Sets snes->reason to what made numbers infinite or none. Collective.
PetscErrorCode ReportNotFinite(TS ts);
/// Factors P_d = M - a A_d, the first of them, or all, divided by sign a: the scale of right-hand sides is in
/// the factors. `ok`: false, with snes->reason set, where that fails.
PetscErrorCode Factor(TS ts, PetscReal a, bool all_scaled, bool *ok);
/// P x = sign a R, with sign and a of Factor(). R has what algebraic equations ask of
/// x in their rows, as it is.
PetscErrorCode SolveP(TS ts, Vec R, Vec x);
/// c := s_b R_b(t, U): by how much the algebraic equations at time t move their unknowns away from U, times
/// the sign. Other rows are 0.
PetscErrorCode BoundaryIncrement(TS ts, PetscReal t, Vec U, Vec c);
/// Replaces the rows of algebraic equations of rhs by sign sum_k weight_k boundary_k.
PetscErrorCode SetBoundaryRows(TS ts, PetscInt n, const PetscScalar weight[], Vec rhs);
/// The Jacobian at adi->stage_time, for SNES.
PetscErrorCode FormFunctionADI(SNES snes, Vec U, Vec F, TS ts);
PetscErrorCode FormJacobianADI(SNES snes, Vec U, Mat A, Mat B, TS ts);

// methods (adi/ts_methods.cxx)

/// A step from U at time t.
struct Step {
  TS        ts;
  TS_ADI   *adi;
  Vec       U;
  PetscReal t, h;
};
/// What TS adi has to know of a method: a row of the table in adi/ts_methods.cxx.
struct ADIMethod {
  TSADIType type;
  int       stages; ///< increments of a step
  /// has an error estimate with the default theta: -ts_adapt_type defaults to basic
  bool estimates;
  bool multiplies;                    ///< by the A_d: it needs each as a matrix, and one more work vector
  PetscReal (*theta)(int directions); ///< default of -ts_adi_theta; null: the method has none
  /// Sets adi->method and computes the increments. `ok`: whether every stage was accepted.
  PetscErrorCode (*step)(const Step &step, PetscReal theta, bool *ok);
};
const ADIMethod &method_of(TSADIType type);

/// One step from adi->start to ts->vec_sol. `ok`: whether every stage was accepted.
PetscErrorCode Advance(TS ts, bool *ok);
/// Theta of the option, else the default of the method; 0 if it has none and none was set.
PetscReal theta_of(const TS_ADI *adi);

// options (adi_options.cxx)
PetscErrorCode ComposeADIOptions(TS ts, bool attach);
/// Takes the RHSJacobian's matrices from the SNES where they are constant, and leaves a shell there:
/// TSSetUp() copies them otherwise, to shift them, and nobody asks for that here. GiveMatrices() gives the
/// SNES what it would have: copies, or the matrices themselves.
PetscErrorCode TakeMatrices(TS ts);
PetscErrorCode GiveMatrices(TS ts, bool copies);
/// The SNES carries the Jacobian, and solves nothing: it gets a type without iterations, and no KSP.
PetscErrorCode PrepareSNES(TS ts);
/// Raises an error where the application asks the TS or its SNES for something that would have no
/// effect on the solution. Errors: PETSC_ERR_SUP, in one sentence, for bounds, functions that
/// SNESSolve() calls and transient variables.
PetscErrorCode RefuseWhatIsIgnored(TS ts);
PetscErrorCode SetADIFromOptions(TS ts, RibbonOptionItems PetscOptionsObject);

} // namespace ribbon::petsc
