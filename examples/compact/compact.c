/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
  "Accuracy of compact finite differences by Mat compact, next to theory and to second-order differences.\n\
Options:\n\
  -parts wavenumbers,orders,advection   parts to run (default: all)\n\
  -modes n             points of a line for the wavenumbers, which has n/2 + 1 modes (default 256)\n\
  -grids n,m,...       points of a line for the orders (default 32,48,64,96,128,192)\n\
  -points p,q,...      points of a wavelength for the advection (default 16)\n\
  -periods k           of the advected wave (default 100)\n\
  -steps s             time steps of a period (default 0: 256, or the points of a wavelength if more)\n\
  -phase_error e       finds the points of a wavelength for this phase error, in periods (default 0.01;\n\
                       0: does not)\n\
  -csv prefix          also writes PREFIX-wavenumbers.csv and further files for plots\n\n";

#include "compact.h"

static PetscErrorCode IsChosen(PetscInt count, char *const parts[], const char *name, PetscBool *yes)
{
  PetscInt k;

  PetscFunctionBeginUser;
  *yes = (PetscBool)(count == 0);
  for (k = 0; k < count && !*yes; k++) PetscCall(PetscStrcmp(parts[k], name, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckParts(PetscInt count, char *const parts[])
{
  static const char *const known[] = {"wavenumbers", "orders", "advection"};
  PetscInt                 k, j;
  PetscBool                is;

  PetscFunctionBeginUser;
  for (k = 0; k < count; k++) {
    for (j = 0, is = PETSC_FALSE; j < 3 && !is; j++) PetscCall(PetscStrcmp(parts[k], known[j], &is));
    PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
               "-parts %s: wavenumbers, orders or advection", parts[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Raises an error if a list is empty, or a value is less than `least`. */
static PetscErrorCode CheckList(const char *option, PetscInt count, const PetscInt n[], PetscInt least)
{
  PetscInt k;

  PetscFunctionBeginUser;
  PetscCheck(count > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "%s: needs a number at least", option);
  for (k = 0; k < count; k++)
    PetscCheck(n[k] >= least, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
               "%s %" PetscInt_FMT ": must be %" PetscInt_FMT " at least", option, n[k], least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Advection a         = {{16}, 32, 100, 0, 0.01};
  PetscInt  grids[32] = {32, 48, 64, 96, 128, 192}, grid_count = 32, modes = 256, part_count = 3, k;
  char     *parts[3], prefix[PETSC_MAX_PATH_LEN] = "";
  PetscBool has_parts, has_grids, has_points, yes;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(RibbonInitialize());
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Compact finite differences", NULL);
  PetscCall(PetscOptionsStringArray("-parts", "Parts to run", NULL, parts, &part_count, &has_parts));
  PetscCall(
    PetscOptionsBoundedInt("-modes", "Points of a line for the wavenumbers", NULL, modes, &modes, NULL, 12));
  PetscCall(
    PetscOptionsIntArray("-grids", "Points of a line for the orders", NULL, grids, &grid_count, &has_grids));
  PetscCall(PetscOptionsIntArray("-points", "Points of an advected wavelength", NULL, a.points, &a.count,
                                 &has_points));
  PetscCall(PetscOptionsBoundedInt("-periods", "Periods of advection", NULL, a.periods, &a.periods, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-steps", "Time steps of a period (0: as the grid needs)", NULL, a.steps,
                                   &a.steps, NULL, 0));
  PetscCall(PetscOptionsReal("-phase_error", "In periods, whose number of points is found", NULL, a.tolerance,
                             &a.tolerance, NULL));
  PetscCall(
    PetscOptionsString("-csv", "What names of files begin with", NULL, prefix, prefix, sizeof(prefix), NULL));
  PetscOptionsEnd();
  if (!has_parts) part_count = 0;
  if (!has_grids) grid_count = 6;
  if (!has_points) a.count = 1;
  PetscCall(CheckParts(part_count, parts));
  PetscCall(CheckList("-grids", grid_count, grids, 12));
  PetscCall(CheckList("-points", a.count, a.points, 4));
  PetscCheck(a.tolerance == 0 || (a.tolerance >= 1e-4 && a.tolerance < 0.5), PETSC_COMM_WORLD,
             PETSC_ERR_ARG_OUTOFRANGE, "-phase_error %g: is not 0 or in [1e-4, 0.5)", (double)a.tolerance);
  PetscCheck(modes % 2 == 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-modes %" PetscInt_FMT ": must be even", modes);
  PetscCall(IsChosen(part_count, parts, "wavenumbers", &yes));
  if (yes) PetscCall(Wavenumbers(modes, prefix));
  PetscCall(IsChosen(part_count, parts, "orders", &yes));
  if (yes) PetscCall(Orders(grid_count, grids, prefix));
  PetscCall(IsChosen(part_count, parts, "advection", &yes));
  if (yes) PetscCall(Advect(&a, prefix));
  for (k = 0; k < part_count; k++) PetscCall(PetscFree(parts[k]));
  PetscCall(PetscFinalize());
  return 0;
}
