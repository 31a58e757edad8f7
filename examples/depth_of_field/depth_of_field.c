/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
  "Depth of field: a picture is blurred by diffusion whose strength grows with the distance from the plane in\n\
focus. A plain PETSc program; -pc_type line solves the lines. Options:\n\
  -width w -height h   pixels\n\
  -focus z             depth in focus (the balls are at 2.4, 4, 6.5, 10 and 16)\n\
  -aperture a          blur at infinity in pixels of a picture of 1000 columns\n\
  -sharp F -blurred F  files for the pictures (PPM)\n\n";

/* Each row solves u - d/dx(c^2 du/dx) = u0 with zero flux at its ends, then each column likewise: an ADI step
   of the heat equation. c is the diameter of the circle of confusion in pixels; between two pixels the smaller
   one counts, so that sharp objects do not bleed. See M. Kass, A. Lefohn, J. Owens, Interactive depth of field
   using simulated diffusion on a GPU, 2006. */

#include "scene.h"

#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

typedef struct {
  PetscInt  width, height;
  PetscReal focus, aperture;
  DM        da;
  Vec       blur;      /* c of each pixel */
  Mat       picture;   /* dense, a column for each colour */
  PetscReal last_mean; /* of all colours */
} Photo;

/* Fills the picture and the blur. */
static PetscErrorCode Expose(Photo *p)
{
  PetscScalar **c, *a;
  PetscInt      x0, y0, nx, ny, i, j, k;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(p->da, &x0, &y0, NULL, &nx, &ny, NULL));
  PetscCall(DMCreateGlobalVector(p->da, &p->blur));
  PetscCall(
    MatCreateDense(PETSC_COMM_WORLD, nx * ny, PETSC_DECIDE, p->width * p->height, 3, NULL, &p->picture));
  PetscCall(DMDAVecGetArray(p->da, p->blur, &c));
  PetscCall(MatDenseGetArrayWrite(p->picture, &a));
  for (j = y0; j < y0 + ny; j++)
    for (i = x0; i < x0 + nx; i++) {
      const PetscReal x = (2 * i + 1 - p->width) / (PetscReal)p->width,
                      y = (p->height - 2 * j - 1) / (PetscReal)p->width;
      PetscReal colour[3], depth;
      TracePixel(x, y, colour, &depth);
      c[j][i] = p->aperture * p->width / 1000 * PetscAbsReal(depth - p->focus) / depth;
      for (k = 0; k < 3; k++) a[k * nx * ny + (j - y0) * nx + i - x0] = colour[k];
    }
  PetscCall(MatDenseRestoreArrayWrite(p->picture, &a));
  PetscCall(DMDAVecRestoreArray(p->da, p->blur, &c));
  PetscFunctionReturn(0);
}

/* The matrix of the lines along x, or along y. */
static PetscErrorCode Assemble(const Photo *p, PetscBool along_x, Mat *A)
{
  PetscScalar **c;
  Vec           local;
  PetscInt      x0, y0, nx, ny, i, j, side;

  PetscFunctionBeginUser;
  PetscCall(DMGetLocalVector(p->da, &local));
  PetscCall(DMGlobalToLocal(p->da, p->blur, INSERT_VALUES, local));
  PetscCall(DMDAVecGetArrayRead(p->da, local, &c));
  PetscCall(DMCreateMatrix(p->da, A));
  PetscCall(DMDAGetCorners(p->da, &x0, &y0, NULL, &nx, &ny, NULL));
  for (j = y0; j < y0 + ny; j++)
    for (i = x0; i < x0 + nx; i++) {
      MatStencil  row        = {0, j, i, 0}, columns[3];
      PetscScalar entries[3] = {1};
      PetscInt    n          = 1;
      columns[0]             = row;
      for (side = -1; side <= 1; side += 2) {
        const PetscInt k = along_x ? i + side : j + side;
        if (k < 0 || k >= (along_x ? p->width : p->height)) continue;
        const PetscReal b = PetscMin(PetscRealPart(c[j][i]), PetscRealPart(along_x ? c[j][k] : c[k][i]));
        columns[n]        = row;
        if (along_x) columns[n].i = k;
        else columns[n].j = k;
        entries[0] += b * b;
        entries[n++] = -b * b;
      }
      PetscCall(MatSetValuesStencil(*A, 1, &row, n, columns, entries, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMDAVecRestoreArrayRead(p->da, local, &c));
  PetscCall(DMRestoreLocalVector(p->da, &local));
  PetscFunctionReturn(0);
}

/* Diffuses the picture along x, or along y. */
static PetscErrorCode Diffuse(Photo *p, PetscBool along_x)
{
  Mat            A, blurred;
  KSP            ksp;
  PetscLogDouble t0, t1, t2;

  PetscFunctionBeginUser;
  PetscCall(Assemble(p, along_x, &A));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(MatDuplicate(p->picture, MAT_DO_NOT_COPY_VALUES, &blurred));
  PetscCall(PetscTime(&t0));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscTime(&t1));
  PetscCall(KSPMatSolve(ksp, p->picture, blurred));
  PetscCall(PetscTime(&t2));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "along %s: set-up %.4f s, solve of three colours %.4f s\n",
                        along_x ? "x" : "y", t1 - t0, t2 - t1));
  PetscCall(MatDestroy(&p->picture));
  p->picture = blurred;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Prints the range of the picture and the change of its mean, which diffusion keeps. */
static PetscErrorCode Report(Photo *p, const char *name)
{
  const PetscScalar *a;
  PetscInt           rows, k;
  PetscReal          sums[1] = {0}, least[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL}; /* of u and of -u */

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(p->picture, &rows, NULL));
  PetscCall(MatDenseGetArrayRead(p->picture, &a));
  for (k = 0; k < 3 * rows; k++) {
    sums[0] += PetscRealPart(a[k]);
    least[0] = PetscMin(least[0], PetscRealPart(a[k]));
    least[1] = PetscMin(least[1], -PetscRealPart(a[k]));
  }
  PetscCall(MatDenseRestoreArrayRead(p->picture, &a));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, sums, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(MPIU_Allreduce(MPI_IN_PLACE, least, 2, MPIU_REAL, MPIU_MIN, PETSC_COMM_WORLD));
  sums[0] /= 3 * (PetscReal)p->width * (PetscReal)p->height;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: colours from %.4f to %.4f, mean %.6f", name, (double)least[0],
                        (double)-least[1], (double)sums[0]));
  if (p->last_mean > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", changed by %.1e", (double)(sums[0] / p->last_mean - 1)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  p->last_mean = sums[0];
  PetscFunctionReturn(0);
}

/* Writes a PPM file by rank 0. */
static PetscErrorCode Save(const Photo *p, const char *name)
{
  FILE       *file = NULL;
  Vec         colour, natural, all[3];
  VecScatter  gather;
  PetscMPIInt rank;
  PetscInt    k, i;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(DMDACreateNaturalVector(p->da, &natural));
  for (k = 0; k < 3; k++) {
    PetscCall(MatDenseGetColumnVecRead(p->picture, k, &colour));
    PetscCall(DMDAGlobalToNaturalBegin(p->da, colour, INSERT_VALUES, natural));
    PetscCall(DMDAGlobalToNaturalEnd(p->da, colour, INSERT_VALUES, natural));
    PetscCall(MatDenseRestoreColumnVecRead(p->picture, k, &colour));
    PetscCall(VecScatterCreateToZero(natural, &gather, &all[k]));
    PetscCall(VecScatterBegin(gather, natural, all[k], INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(gather, natural, all[k], INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterDestroy(&gather));
  }
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, name, "wb", &file));
  if (rank == 0) {
    const PetscScalar *a[3];
    fprintf(file, "P6\n%d %d\n255\n", (int)p->width, (int)p->height);
    for (k = 0; k < 3; k++) PetscCall(VecGetArrayRead(all[k], &a[k]));
    for (i = 0; i < p->width * p->height; i++)
      for (k = 0; k < 3; k++)
        fputc((int)(255 * PetscMax(0, PetscMin(1, PetscRealPart(a[k][i]))) + 0.5), file);
    for (k = 0; k < 3; k++) PetscCall(VecRestoreArrayRead(all[k], &a[k]));
  }
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  for (k = 0; k < 3; k++) PetscCall(VecDestroy(&all[k]));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Photo     p                         = {640, 360, 4, 12, NULL, NULL, NULL, 0};
  char      sharp[PETSC_MAX_PATH_LEN] = "", blurred[PETSC_MAX_PATH_LEN] = "";
  PetscBool has_sharp, has_blurred;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Depth of field", NULL);
  PetscCall(PetscOptionsBoundedInt("-width", "Columns of pixels", NULL, p.width, &p.width, NULL, 2));
  PetscCall(PetscOptionsBoundedInt("-height", "Rows of pixels", NULL, p.height, &p.height, NULL, 2));
  PetscCall(PetscOptionsReal("-focus", "Depth in focus", NULL, p.focus, &p.focus, NULL));
  PetscCall(PetscOptionsReal("-aperture", "Blur at infinity in pixels of 1000 columns", NULL, p.aperture,
                             &p.aperture, NULL));
  PetscCall(
    PetscOptionsString("-sharp", "File for the sharp picture", NULL, sharp, sharp, sizeof sharp, &has_sharp));
  PetscCall(PetscOptionsString("-blurred", "File for the blurred picture", NULL, blurred, blurred,
                               sizeof blurred, &has_blurred));
  PetscOptionsEnd();
  PetscCheck(p.focus > 0 && p.focus <= PETSC_MAX_REAL, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-focus %g: must be positive and finite", (double)p.focus);
  PetscCheck(p.aperture >= 0 && p.aperture <= PETSC_MAX_REAL, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-aperture %g: must be finite and not negative", (double)p.aperture);
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, p.width,
                         p.height, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &p.da));
  PetscCall(DMSetFromOptions(p.da));
  PetscCall(DMSetUp(p.da));
  PetscCall(Expose(&p));
  PetscCall(Report(&p, "sharp"));
  if (has_sharp) PetscCall(Save(&p, sharp));
  PetscCall(Diffuse(&p, PETSC_TRUE));
  PetscCall(Diffuse(&p, PETSC_FALSE));
  PetscCall(Report(&p, "blurred"));
  if (has_blurred) PetscCall(Save(&p, blurred));
  PetscCall(VecDestroy(&p.blur));
  PetscCall(MatDestroy(&p.picture));
  PetscCall(DMDestroy(&p.da));
  PetscCall(PetscFinalize());
  return 0;
}
