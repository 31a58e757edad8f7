/* SPDX-License-Identifier: BSD-2-Clause */
/* ribbon.h  The types and functions that Ribbon adds to PETSc, for programs that link libribbon. Programs
   that only set options do not need it. */
#pragma once

#include <petscsys.h>

/* Registers all types. A program may call it any number of times after PetscInitialize(). Errors:
   PETSC_ERR_LIB if libribbon was built for a PETSc of another version, scalar, precision, width of indices,
   debugging, device or MPI. */
PETSC_EXTERN PetscErrorCode RibbonInitialize(void);

#include <ribbon_petsc/kspadi.h>
#include <ribbon_petsc/kspline.h>
#include <ribbon_petsc/matcompact.h>
#include <ribbon_petsc/matsolvermultifrontal.h>
#include <ribbon_petsc/pcadi.h>
#include <ribbon_petsc/pcline.h>
#include <ribbon_petsc/pcmulticolor.h>
