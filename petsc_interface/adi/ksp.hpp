// SPDX-License-Identifier: BSD-2-Clause
/// @file ksp.hpp  KSP `adi`: its context and its parts.
#pragma once

#include "factors.hpp"
#include "shifts.hpp"

#include <petsc/private/kspimpl.h>

#include <ribbon_petsc/kspadi.h>

PETSC_INTERN PetscErrorCode KSPCreate_ADI(KSP ksp);

namespace ribbon::petsc {

/// Context of KSP adi.
struct KSP_ADI {
  // options
  PetscReal bounds[2] = {0, 0}; ///< 0, 0: estimated
  PetscInt  shifts    = 0;      ///< 0: as many as the tolerance requires

  // results of the last set-up
  DirectionSplitting    splitting;
  DirectionFactors      factors;
  std::vector<Spectrum> spectra;  ///< of the directions
  std::vector<bool>     singular; ///< directions with an eigenvalue 0 below these
  /// scales of the correction in each iteration of a cycle; empty before a set-up
  std::vector<PetscScalar> scale;
  /// shifts of two directions; three directions use p only; one direction has none
  std::vector<ShiftPair> pairs;
  double                 predicted  = 0; ///< iterations for the tolerance
  double                 commutator = 0; ///< relative, for random vectors
  double                 left_out   = 0; ///< difference of matrix and directions, relative
  bool                   separable  = true;
  /// the shift that all iterations use if a cycle does not help
  std::size_t middle     = 0;
  bool        smooths    = false; ///< shifts are for the upper half of the spectra
  bool        indefinite = false; ///< an eigenvalue of a direction is negative
  /// borrowed: Pmat, its state
  Mat              set_up_with = nullptr;
  PetscObjectState state       = -1;
};

/// Splits Pmat, finds bounds and shifts, and factors. Collective.
PetscErrorCode SetUpADI(KSP ksp, KSP_ADI *adi);
/// Eigenvalues of -A_d on rows of differential equations. `null`: the smallest one is 0, and
/// spectrum->least is the next one. Collective.
PetscErrorCode EstimateSpectrum(KSP_ADI *adi, int d, bool least, Spectrum *spectrum, bool *null);
/// Measures the commutators of the directions, and the difference of their sum and the matrix. Collective.
PetscErrorCode MeasureSeparability(KSP_ADI *adi, Mat P);
/// Attaches the Set and Get functions of the options to a KSP.
PetscErrorCode ComposeADIOptions(KSP ksp, bool attach);
PetscErrorCode SetADIFromOptions(KSP ksp, RibbonOptionItems PetscOptionsObject);

} // namespace ribbon::petsc
