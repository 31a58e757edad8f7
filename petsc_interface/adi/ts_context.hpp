// SPDX-License-Identifier: BSD-2-Clause
/// @file ts_context.hpp  The context of TS `adi`.
#pragma once

#include "factors.hpp"
#include "../support/vector_sum.hpp"
#include "wmethod.hpp"

#include <ribbon_petsc/tsadi.h>

#include <petsc/private/tsimpl.h>

#include <array>

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

/// Stages that GMRES solves, with P as preconditioner (adi/ts_iterated.cxx).
struct Iterated {
  bool      used     = false;          ///< in this step
  bool      failed   = false;          ///< in this step
  PetscReal longest  = PETSC_MAX_REAL; ///< length of the longest step that tries GMRES, until TSReset()
  int       failures = 0;              ///< since the last restart
  KSP       ksp      = nullptr;
  Vec       scale = nullptr, work = nullptr;
  PetscInt  iterations = 0; ///< of all stages of this step
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
  PetscBool                        iterate         = PETSC_TRUE;  ///< see Iterated
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
  Iterated   iterated;
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

/// The application computes R = sign G: F with an IFunction, otherwise RHS. Factors and weights include the
/// sign, so that it needs no pass over memory.
inline PetscReal sign_of(const TS_ADI *adi)
{
  return adi->has_ifunction ? -1 : 1;
}

} // namespace ribbon::petsc
