// SPDX-License-Identifier: BSD-2-Clause
/// @file adi.hpp  TS `adi`: its context and the parts it is made of.
#pragma once

#include "../adi/factors.hpp"
#include "wmethod.hpp"

#include <ribbon_petsc/tsadi.h>

#include <petsc/private/tsimpl.h>

#include <array>

PETSC_INTERN PetscErrorCode TSCreate_ADI(TS ts);

namespace ribbon::petsc {

/// Context of TS adi. M U' = G(t, U) with G = -F(t, U, 0) + RHS(t, U); P = P_1 M^-1 P_2 ... with P_d = M - a A_d.
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
  PetscInt           age = -1; ///< steps since the Jacobian was computed; -1: there is none
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
  Vec                         boundary[2] = {nullptr, nullptr}; ///< see ComputeBoundary()

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

// evaluation (adi_evaluate.cxx)

/// Computes rhs := G(t, Y; V) = M V - F(t, Y, V), V null or 0 standing for 0, without the term M V. Without an IFunction V is not looked at.
/// Functions outside their domain make it infinite.
PetscErrorCode EvaluateG(TS ts, PetscReal t, Vec Y, Vec V, Vec G);
/// G(t, U) at the point where the Jacobian is computed next, and the Jacobian where it is due: splits it. Collective.
/// `ok`: false, with snes->reason set, where G is not finite at a point where the Jacobian is due.
PetscErrorCode Linearise(TS ts, PetscReal t, Vec U, PetscReal h, Vec G, bool *ok);
/// Whether v is finite; else snes->reason is set, on all ranks. Collective.
PetscErrorCode CheckFinite(TS ts, Vec v, bool *ok);
/// Factors P_d = M - a A_d. `ok`: false, with snes->reason set, where that fails.
PetscErrorCode Factor(TS ts, PetscReal a, bool *ok);
/// x = P^-1 rhs. rhs has what algebraic equations ask of x in their rows.
PetscErrorCode SolveP(TS ts, Vec rhs, Vec x);
/// c := s_b G_b(t, U): by how much the algebraic equations at time t move their unknowns away from U. Other rows are 0.
PetscErrorCode BoundaryIncrement(TS ts, PetscReal t, Vec U, Vec c);
/// Replaces the rows of algebraic equations of rhs by sum_k weight_k boundary_k.
PetscErrorCode SetBoundaryRows(TS ts, PetscInt n, const PetscScalar weight[], Vec rhs);
/// The Jacobian at adi->stage_time, for SNES.
PetscErrorCode FormFunctionADI(SNES snes, Vec U, Vec F, TS ts);
PetscErrorCode FormJacobianADI(SNES snes, Vec U, Mat A, Mat B, TS ts);

// methods (adi_methods.cxx)

/// One step from adi->start to ts->vec_sol. `ok`: whether every stage was accepted.
PetscErrorCode Advance(TS ts, bool *ok);
/// The weight that was asked for, or that of the method.
PetscReal theta_of(const TS_ADI *adi);
/// Order of the type where nothing is left to the explicit part.
PetscInt order_of(const TS_ADI *adi);

// options (adi_options.cxx)
PetscErrorCode ComposeADIOptions(TS ts, bool attach);
/// The SNES carries the Jacobian, and solves nothing: it gets a type without iterations, and no KSP.
PetscErrorCode PrepareSNES(TS ts);
PetscErrorCode SetADIFromOptions(TS ts, RibbonOptionItems PetscOptionsObject);

} // namespace ribbon::petsc
