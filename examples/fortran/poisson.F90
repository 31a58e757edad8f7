! SPDX-License-Identifier: BSD-2-Clause
! Anisotropic Poisson equation -u_xx - c u_yy = f in the unit square with u = 0 on the boundary. Second
! differences on a DMDA are exact for the solution u = x (1 - x) y (1 - y). The program has no code for
! Ribbon:
!   mpiexec -n 4 poisson_fortran -dll_append .../libribbon.so -pc_type line -ksp_converged_reason
! Options: -c <1000>, and those of PETSc. The exit status is nonzero if the solution is wrong.
program poisson
#include <petsc/finclude/petscdmda.h>
#include <petsc/finclude/petscksp.h>
  use petscvec
  use petscmat
  use petscdmda
  use petscksp
  implicit none

  PetscInt, parameter :: one = 1, two = 2, points = 33, max_it = 10000
  PetscInt, parameter :: di(5) = [0, -1, 1, 0, 0], dj(5) = [0, 0, 0, -1, 1]
  PetscReal, parameter :: rtol = 1e-10, atol = 0, dtol = 1e5
  DM da
  Mat A
  Vec b, x, exact
  KSP ksp
  DMBoundaryType bx, by, bz
  DMDAStencilType stencil
  PetscErrorCode ierr
  PetscMPIInt rank
  PetscBool set
  PetscInt dim, mx, my, mz, np(3), dof, width, xs, ys, zs, xm, ym, zm, gxs, gys, gzs, gxm, gym, gzm
  PetscInt i, j, k, n, iterations, row(1), col(5)
  PetscScalar weight(5), entry(5), u(1), f(1), minus_one
  PetscReal c, hx, hy, px, py, error

  PetscCallA(PetscInitialize(ierr))
  c = 1000
  PetscCallA(PetscOptionsGetReal(PETSC_NULL_OPTIONS, PETSC_NULL_CHARACTER, '-c', c, set, ierr))

  PetscCallA(DMCreate(PETSC_COMM_WORLD, da, ierr))
  PetscCallA(DMSetType(da, DMDA, ierr))
  PetscCallA(DMSetDimension(da, two, ierr))
  PetscCallA(DMDASetSizes(da, points, points, one, ierr))
  PetscCallA(DMDASetDof(da, one, ierr))
  PetscCallA(DMDASetStencilType(da, DMDA_STENCIL_STAR, ierr))
  PetscCallA(DMDASetStencilWidth(da, one, ierr))
  PetscCallA(DMSetFromOptions(da, ierr))
  PetscCallA(DMSetUp(da, ierr))
  PetscCallA(DMDAGetInfo(da, dim, mx, my, mz, np(1), np(2), np(3), dof, width, bx, by, bz, stencil, ierr))
  PetscCallA(DMDAGetCorners(da, xs, ys, zs, xm, ym, zm, ierr))
  PetscCallA(DMDAGetGhostCorners(da, gxs, gys, gzs, gxm, gym, gzm, ierr))
  PetscCallA(DMCreateMatrix(da, A, ierr))
  PetscCallA(DMCreateGlobalVector(da, b, ierr))
  PetscCallA(VecDuplicate(b, x, ierr))
  PetscCallA(VecDuplicate(b, exact, ierr))

  hx = 1/real(mx + 1, kind(hx))
  hy = 1/real(my + 1, kind(hy))
  weight = [2/hx**2 + 2*c/hy**2, -1/hx**2, -1/hx**2, -c/hy**2, -c/hy**2]
  do j = ys, ys + ym - 1
    do i = xs, xs + xm - 1
      n = 0
      do k = 1, 5
        if (min(i + di(k), j + dj(k)) < 0 .or. i + di(k) >= mx .or. j + dj(k) >= my) cycle ! u = 0 there
        n = n + 1
        col(n) = i + di(k) - gxs + (j + dj(k) - gys)*gxm
        entry(n) = weight(k)
      end do
      row(1) = col(1)
      px = (i + 1)*hx*(1 - (i + 1)*hx)
      py = (j + 1)*hy*(1 - (j + 1)*hy)
      u(1) = px*py
      f(1) = 2*py + 2*c*px
      PetscCallA(MatSetValuesLocal(A, one, row, n, col, entry, INSERT_VALUES, ierr))
      PetscCallA(VecSetValuesLocal(exact, one, row, u, INSERT_VALUES, ierr))
      PetscCallA(VecSetValuesLocal(b, one, row, f, INSERT_VALUES, ierr))
    end do
  end do
  PetscCallA(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(VecAssemblyBegin(exact, ierr))
  PetscCallA(VecAssemblyEnd(exact, ierr))
  PetscCallA(VecAssemblyBegin(b, ierr))
  PetscCallA(VecAssemblyEnd(b, ierr))

  PetscCallA(KSPCreate(PETSC_COMM_WORLD, ksp, ierr))
  PetscCallA(KSPSetOperators(ksp, A, A, ierr))
  PetscCallA(KSPSetTolerances(ksp, rtol, atol, dtol, max_it, ierr))
  PetscCallA(KSPSetFromOptions(ksp, ierr))
  PetscCallA(KSPSolve(ksp, b, x, ierr))
  PetscCallA(KSPGetIterationNumber(ksp, iterations, ierr))

  minus_one = -1
  PetscCallA(VecAXPY(x, minus_one, exact, ierr))
  PetscCallA(VecNorm(x, NORM_INFINITY, error, ierr))
  PetscCallMPIA(MPI_Comm_rank(PETSC_COMM_WORLD, rank, ierr))
  if (rank == 0) write (*, '(i0, a, i0, a, i0, a, es8.1)') mx, ' x ', my, ' points, ', iterations, ' iterations, largest error ', error

  PetscCallA(KSPDestroy(ksp, ierr))
  PetscCallA(VecDestroy(exact, ierr))
  PetscCallA(VecDestroy(x, ierr))
  PetscCallA(VecDestroy(b, ierr))
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(DMDestroy(da, ierr))
  PetscCallA(PetscFinalize(ierr))
  if (.not. error <= 1e-6) stop 1
end program poisson
