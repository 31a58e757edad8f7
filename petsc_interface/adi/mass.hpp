// SPDX-License-Identifier: BSD-2-Clause
/// @file mass.hpp  Shift and mass of the matrices that time steps make.
#pragma once

#include "../support/compat.h"

#include <petscts.h>

namespace ribbon::petsc {

/// The TS whose nonlinear or linear systems a DM carries; null where there is none.
PetscErrorCode GetTSOfDM(DM dm, TS *ts);

/// Measures M 1 = dF/dU' 1 at (t, U), one number per row: the diagonal of a diagonal M, row sums of others.
/// Rounded, so that rows that ought to be equal are. Where `*mass` is there and right to rounding it stays as
/// it is, and `changed` is false. One evaluation of the IFunction or a few. Collective.
/// @param implicit  F(t, U, 0), evaluated with the same `imex`
/// @param v         work vector; 0 afterwards
/// @param y         work vector
/// @param mass      null: made
PetscErrorCode UpdateMass(TS ts, PetscReal t, Vec U, Vec implicit, PetscBool imex, Vec v, Vec y, Vec *mass,
                          bool *changed);

/// Whether M couples no unknowns: M v is what its row sums make of v. Errors: PETSC_ERR_SUP where rows that
/// are not zero sum to zero, as those of many singular M do. Collective.
PetscErrorCode MassIsDiagonal(TS ts, PetscReal t, Vec U, Vec implicit, PetscBool imex, Vec row_sums,
                              bool *is);

/// UpdateMass() at the solution of the TS; ones where there is no IFunction. Collective.
PetscErrorCode GetMassOfTS(TS ts, Vec *mass);

/// Sets the mass of rows that have a diagonal entry alone, and have one, to 0: Dirichlet values of
/// matrices that no time step made.
PetscErrorCode MarkDiagonalRows(Mat J, Vec mass);

/// The median over all ranks of (row sums of J) / M, over rows where M != 0: with J = shift M - A the shift,
/// up to how much A changes constants. 0 where M is 0 everywhere. Collective.
PetscErrorCode EstimateShift(Mat J, Vec mass, PetscReal *shift);

} // namespace ribbon::petsc
