// SPDX-License-Identifier: BSD-2-Clause
/// @file petsc_build.hpp  The PETSc for which libribbon was compiled, and the PETSc of the process.
#pragma once

#include <petscsys.h>

namespace ribbon::petsc {

/// Raises an error if the PETSc of this process has another binary interface than the PETSc for which
/// libribbon was compiled: version, scalars, precision, indices, debugging, device or MPI. The functions
/// that it calls take the same arguments in all of them. It can be called before PetscInitialize(). Not
/// collective. Errors: PETSC_ERR_LIB, in one sentence that names both.
/// @param caller  an address in the program or library that loads libribbon; null: unknown. If this is a
///   PETSc, it must be the one that libribbon calls: a process can have two
PetscErrorCode CheckPetscBuild(const void *caller);

} // namespace ribbon::petsc
