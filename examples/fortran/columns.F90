! SPDX-License-Identifier: BSD-2-Clause
! Diffusion in the columns of a lake: each column has its own number of cells. The program passes its columns
! to PC line, solves all of them at once, and prints the results of the set-up and of each column. Rows of
! a column are consecutive. The module ribbon is petsc_interface/ribbon_petsc/ribbon.F90.
!   mpiexec -n 2 columns_fortran
! Options: those of PETSc. The exit status is nonzero if the solution is wrong.
program columns
#include <petsc/finclude/petscksp.h>
  use petscksp
  use ribbon
  implicit none

  PetscInt, parameter :: n = 5, depth(n) = [3, 8, 0, 5, 8]
  PetscInt, parameter :: one = 1, cells = sum(depth)
  PetscScalar, parameter :: unity = 1, minus_one = -1
  PetscInt :: offsets(n + 1), i, k, first, row(1), col(3), entries, refined, lines, open
  PetscInt, allocatable :: starts(:)
  PetscReal, allocatable :: residuals(:)
  PetscReal :: worst, error
  PetscScalar :: entry(3)
  PetscErrorCode :: ierr
  Mat :: A
  Vec :: b, x, exact
  IS :: is_offsets
  KSP :: ksp
  PC :: pc
  character(len=32) :: direction

  PetscCallA(PetscInitialize(ierr))
  PetscCallA(RibbonInitialize(ierr))

  ! Each rank has the same lake, after those of the ranks before it.
  PetscCallA(MatCreate(PETSC_COMM_WORLD, A, ierr))
  PetscCallA(MatSetSizes(A, cells, cells, PETSC_DETERMINE, PETSC_DETERMINE, ierr))
  PetscCallA(MatSetFromOptions(A, ierr))
  PetscCallA(MatSetUp(A, ierr))
  PetscCallA(MatGetOwnershipRange(A, first, i, ierr))
  offsets(1) = 0
  do k = 1, n
    offsets(k + 1) = offsets(k) + depth(k)
    do i = offsets(k), offsets(k + 1) - 1
      entries = 1
      col(1) = first + i
      entry(1) = 3
      if (i > offsets(k)) then
        entries = entries + 1
        col(entries) = first + i - 1
        entry(entries) = -1
      end if
      if (i < offsets(k + 1) - 1) then
        entries = entries + 1
        col(entries) = first + i + 1
        entry(entries) = -1
      end if
      row(1) = first + i
      PetscCallA(MatSetValues(A, one, row, entries, col, entry, INSERT_VALUES, ierr))
    end do
  end do
  PetscCallA(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatCreateVecs(A, x, b, ierr))
  PetscCallA(VecDuplicate(x, exact, ierr))
  PetscCallA(VecSet(exact, unity, ierr))
  PetscCallA(MatMult(A, exact, b, ierr))

  PetscCallA(KSPCreate(PETSC_COMM_WORLD, ksp, ierr))
  PetscCallA(KSPSetOperators(ksp, A, A, ierr))
  PetscCallA(KSPSetType(ksp, 'line', ierr))
  PetscCallA(KSPGetPC(ksp, pc, ierr))
  PetscCallA(PCSetType(pc, 'line', ierr))
  PetscCallA(ISCreateGeneral(PETSC_COMM_SELF, n + one, offsets, PETSC_COPY_VALUES, is_offsets, ierr))
  PetscCallA(PCLineSetRows(pc, PETSC_NULL_IS, is_offsets, ierr)) ! NULL: the rows of this rank in their order
  PetscCallA(KSPSetFromOptions(ksp, ierr))
  PetscCallA(KSPSolve(ksp, b, x, ierr))

  PetscCallA(PCLineGetInfo(pc, direction=direction, ierr=ierr))
  PetscCallA(KSPLineGetInfo(ksp, lines, refined, open, worst, ierr))
  PetscCallA(KSPLineGetLines(ksp, rows=starts, residuals=residuals, ierr=ierr))
  PetscCallA(VecAXPY(x, minus_one, exact, ierr))
  PetscCallA(VecNorm(x, NORM_INFINITY, error, ierr))
  if (first == 0) then
    write (*, '(i0, a, a, a, i0, a, es7.1)') lines, ' columns, direction ', trim(direction), ', ', open, &
      ' above the tolerance, largest error ', error
    write (*, '(a, *(1x, i0))') 'first rows of columns on rank 0:', starts
    if (any(residuals > 1e-6)) stop 1
  end if

  PetscCallA(KSPDestroy(ksp, ierr))
  PetscCallA(ISDestroy(is_offsets, ierr))
  PetscCallA(VecDestroy(exact, ierr))
  PetscCallA(VecDestroy(x, ierr))
  PetscCallA(VecDestroy(b, ierr))
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(PetscFinalize(ierr))
  if (.not. error <= 1e-6) stop 1
end program columns
