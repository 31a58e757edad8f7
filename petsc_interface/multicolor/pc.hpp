// SPDX-License-Identifier: BSD-2-Clause
/// @file pc.hpp  PC `multicolor`: its context and its parts.
#pragma once

#include "sweeps.hpp"

#include "../support/native_vectors.hpp"

PETSC_INTERN PetscErrorCode PCCreate_Multicolor(PC pc);

namespace ribbon::petsc {

/// Context of PC multicolor.
struct PC_Multicolor {
  // options
  MatSORType           direction = SOR_SYMMETRIC_SWEEP; ///< forward, backward or symmetric
  PetscReal            omega = 1, shift = 0;
  PetscInt             its = 1, lits = 1;
  PCMulticolorColoring coloring = PC_MULTICOLOR_COLORING_AUTO;
  PCMulticolorCut      cut      = PC_MULTICOLOR_CUT_LOCAL;
  PetscBool            residual = PETSC_FALSE;

  // results of the last set-up; no sweeps: there are none
  UnknownRows                  rows;
  std::unique_ptr<ColorSweeps> sweeps;
  PetscObjectState             values = 0; ///< of Pmat, whose entries the sweeps have
  std::string                  failure;    ///< why nothing may be applied, on all ranks
  NativeVectors                copies;
  Vec                          like = nullptr; ///< a vector in the memory of the matrix; null: any vector is

  // -pc_multicolor_residual
  Mat         residual_of = nullptr; ///< its MatResidual() is that of this PC
  std::string no_residual;           ///< why there is none
  struct {
    PetscObjectId    b, x;
    PetscObjectState b_state, x_state, values; ///< after the application; of Pmat
  } swept = {};
};

/// Lets MatResidual() of Amat use the sweeps, if -pc_multicolor_residual is set and they can. After a set-up.
PetscErrorCode AttachResidual(PC pc);
PetscErrorCode DetachResidual(PC pc);
/// Remembers an application to x, after which MatResidual() knows the residual of the last colour.
PetscErrorCode RememberSweep(PC pc, Vec b, Vec x);

/// Attaches the Set and Get functions of the options to a PC.
PetscErrorCode ComposeMulticolorOptions(PC pc, bool attach);
PetscErrorCode SetMulticolorFromOptions(PC pc, RibbonOptionItems PetscOptionsObject);

} // namespace ribbon::petsc
