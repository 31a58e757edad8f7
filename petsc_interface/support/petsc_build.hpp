// SPDX-License-Identifier: BSD-2-Clause
/// @file petsc_build.hpp  Which PETSc libribbon was compiled for, and which one it runs with.
#pragma once

#include <petscsys.h>

namespace ribbon::petsc {

/// Raises an error where the PETSc of this process has another binary interface than the one that libribbon
/// was compiled for: version, scalars, precision, indices, debugging, device or MPI. The functions that it
/// calls take the same arguments in all of them. It can be called before PetscInitialize(). Not collective.
/// @param caller  an address in the program or library that loads libribbon; null: unknown.
///   Where that is a PETSc, it
///                has to be the one that libribbon calls: a process can have two.
/// Errors: PETSC_ERR_LIB, in one sentence that names both.
PetscErrorCode CheckPetscBuild(const void *caller);

} // namespace ribbon::petsc
