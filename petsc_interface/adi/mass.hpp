// SPDX-License-Identifier: BSD-2-Clause
/// @file mass.hpp  Shift and mass of the matrices of time steps.
#pragma once

#include "../support/compat.h"

#include <petscts.h>

namespace ribbon::petsc {

/// The TS whose nonlinear or linear systems belong to a DM; null if there is none.
PetscErrorCode GetTSOfDM(DM dm, TS *ts);

/// Measures M 1 = dF/dU' 1 at (t, U), one value per row: the diagonal of a diagonal M, the row sums of any
/// other M. Values are rounded, so that rows that should be equal are equal. If `*mass` exists and is right
/// to rounding, it does not change, and `changed` is false. Takes one evaluation of the IFunction or a few.
/// Collective.
/// @param implicit  F(t, U, 0), evaluated with the same `imex`
/// @param v         work vector; 0 afterwards
/// @param y         work vector
/// @param mass      null: created
PetscErrorCode UpdateMass(TS ts, PetscReal t, Vec U, Vec implicit, PetscBool imex, Vec v, Vec y, Vec *mass,
                          bool *changed);

/// Whether M couples no unknowns: M v is the product of row sums and v. Errors: PETSC_ERR_SUP if rows that
/// are not zero sum to zero, as in many singular M. Collective.
PetscErrorCode MassIsDiagonal(TS ts, PetscReal t, Vec U, Vec implicit, PetscBool imex, Vec row_sums,
                              bool *is);

/// Whether dF/dU' at (t, U) is M, by its product with a random vector. Collective.
PetscErrorCode MassIs(TS ts, PetscReal t, Vec U, Vec implicit, PetscBool imex, Mat M, bool *is);

/// UpdateMass() at the solution of the TS; ones without an IFunction. Collective.
PetscErrorCode GetMassOfTS(TS ts, Vec *mass);

/// Sets the mass to 0 in rows with a nonzero diagonal entry alone: Dirichlet values of matrices that no
/// time step made.
PetscErrorCode MarkDiagonalRows(Mat J, Vec mass);

/// The median over all ranks of (row sums of J) / M, over rows with M != 0. With J = shift M - A this is
/// the shift, up to the effect of A on constants. 0 if M is 0 everywhere. Collective.
PetscErrorCode EstimateShift(Mat J, Vec mass, PetscReal *shift);

} // namespace ribbon::petsc
