// SPDX-License-Identifier: BSD-2-Clause
/// @file mass.hpp  Shift and mass of the matrices that time steps make.
#pragma once

#include "../compat.h"

#include <petscts.h>

namespace ribbon::petsc {

/// The TS whose nonlinear or linear systems a DM carries; null where there is none.
PetscErrorCode GetTSOfDM(DM dm, TS *ts);

/// M 1 = dF/dU' 1 at the solution of the TS, one number per row: the diagonal of a diagonal M, row sums of others. Two evaluations of the IFunction; ones where there is none.
/// Rounded, so that rows that ought to be equal are. Collective.
PetscErrorCode GetMassOfTS(TS ts, Vec mass);

/// Sets the mass of rows that have a diagonal entry alone, and have one, to 0: Dirichlet values of matrices that no time step made.
PetscErrorCode MarkDiagonalRows(Mat J, Vec mass);

/// The median over all ranks of (row sums of J) / M, over rows where M != 0: with J = shift M - A the shift, up to how much A changes constants. 0 where M is 0 everywhere. Collective.
PetscErrorCode EstimateShift(Mat J, Vec mass, PetscReal *shift);

} // namespace ribbon::petsc
