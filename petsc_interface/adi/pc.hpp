// SPDX-License-Identifier: BSD-2-Clause
/// @file pc.hpp  PC `adi`: the product of one-direction factors of shift M - A.
#pragma once

#include "factors.hpp"

#include <ribbon_petsc/pcadi.h>

PETSC_INTERN PetscErrorCode PCCreate_ADI(PC pc);

namespace ribbon::petsc {

/// Context of PC adi.
struct PC_ADI {
  // options
  PetscReal             shift = 0;  ///< 0: the shift of the time step
  std::vector<PetscInt> directions; ///< empty: the order of the grid
  PetscBool             symmetric = PETSC_FALSE;

  // results of the last set-up
  DirectionSplitting splitting;
  DirectionFactors   factors;
  /// directions of the splitting in their order; empty before a set-up
  std::vector<int> sequence;
  /// the shift of Pmat
  PetscReal contained = 0;
  /// the shift of the factors
  PetscReal used = 0;
  /// the source of this shift
  const char *source = "";
  /// right: b is multiplied by it first; null: ones
  Vec mass = nullptr, right = nullptr, between[2] = {nullptr, nullptr};
  /// of transposed solves
  Vec  algebraic_part = nullptr;
  bool failed         = false;
};

/// Attaches the Set and Get functions of the options to a PC.
PetscErrorCode ComposeADIOptions(PC pc, bool attach);
PetscErrorCode SetADIFromOptions(PC pc, RibbonOptionItems PetscOptionsObject);
/// Splits and factors Pmat. Collective. After an error the state is incomplete.
PetscErrorCode SetUpADI(PC pc, PC_ADI *adi);
/// The order as a list x,y,z.
std::string names_of(const std::vector<PetscInt> &directions);

} // namespace ribbon::petsc
