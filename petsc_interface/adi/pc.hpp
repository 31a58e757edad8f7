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
  PetscReal             shift = 0;  ///< 0: that of the time step
  std::vector<PetscInt> directions; ///< none: the order of the grid
  PetscBool             symmetric = PETSC_FALSE;

  // what the last set-up made
  DirectionSplitting splitting;
  DirectionFactors   factors;
  /// directions of the splitting as they are passed; empty before a set-up
  std::vector<int> sequence;
  /// the shift that Pmat has
  PetscReal contained = 0;
  /// the shift of the factors
  PetscReal used = 0;
  /// where it comes from
  const char *source = "";
  /// right: what b is multiplied with first; null: ones
  Vec mass = nullptr, right = nullptr, between[2] = {nullptr, nullptr};
  /// of transposed solves
  Vec  algebraic_part = nullptr;
  bool failed         = false;
};

/// Attaches the Set and Get functions of the options to a PC.
PetscErrorCode ComposeADIOptions(PC pc, bool attach);
PetscErrorCode SetADIFromOptions(PC pc, RibbonOptionItems PetscOptionsObject);
/// Splits and factors Pmat. Collective; what it leaves behind when it raises an error is half made.
PetscErrorCode SetUpADI(PC pc, PC_ADI *adi);
/// The list x,y,z of an order.
std::string names_of(const std::vector<PetscInt> &directions);

} // namespace ribbon::petsc
