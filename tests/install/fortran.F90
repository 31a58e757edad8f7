! SPDX-License-Identifier: BSD-2-Clause
! Calls the functions of the module ribbon that examples/fortran/columns.F90 does not call. The exit status is
! nonzero if a result is wrong.
module problem
#include <petsc/finclude/petscts.h>
  use petscts
  implicit none
  integer :: calls = 0
contains
  subroutine right_side(ts, t, U, F, J, ierr)
    TS :: ts
    PetscReal :: t
    Vec :: U, F
    Mat :: J
    PetscErrorCode :: ierr
    PetscCall(MatMult(J, U, F, ierr))
  end subroutine
  subroutine jacobian(ts, t, U, J, P, ctx, ierr)
    TS :: ts
    PetscReal :: t
    Vec :: U
    Mat :: J, P, ctx
    PetscErrorCode :: ierr
    ierr = 0
  end subroutine
  subroutine along_x(ts, t, U, A, ierr)
    TS :: ts
    PetscReal :: t
    Vec :: U
    Mat :: A
    PetscErrorCode :: ierr
    PetscInt :: begin, end, n
    PetscCall(VecGetOwnershipRange(U, begin, end, ierr))
    PetscCall(VecGetSize(U, n, ierr))
    if (t < 0) stop 5
    call laplacian(A, begin, end, n, ierr)
    calls = calls + 1
  end subroutine
  ! Second differences on n points of a line, zero beyond them.
  subroutine laplacian(A, begin, end, n, ierr)
    Mat :: A
    PetscInt :: begin, end, n, i, entries, row(1), col(3)
    PetscScalar :: entry(3)
    PetscErrorCode :: ierr
    PetscInt, parameter :: one = 1
    do i = begin, end - 1
      row(1) = i
      col(1) = i
      entry(1) = -2
      entries = 1
      if (i > 0) then
        entries = entries + 1
        col(entries) = i - 1
        entry(entries) = 1
      end if
      if (i < n - 1) then
        entries = entries + 1
        col(entries) = i + 1
        entry(entries) = 1
      end if
      PetscCall(MatSetValues(A, one, row, entries, col, entry, INSERT_VALUES, ierr))
    end do
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY, ierr))
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY, ierr))
  end subroutine
end module

program functions
#include <petsc/finclude/petscdmda.h>
#include <petsc/finclude/petscts.h>
  use petscdmda
  use petscts
  use ribbon
  use problem
  implicit none
  PetscInt, parameter :: n = 16, one = 1, zero = 0
  PetscErrorCode :: ierr
  PetscInt :: nx, ny, nz, dof, first, last, row, half, matrices, rows, lines, colors, block, shifts
  PetscReal :: metric(n), rcond, determinant, error, growth, predicted, time_step, final
  PetscReal, allocatable :: got(:)
  PetscScalar :: sign, scalar
  PetscScalar, parameter :: unity = 1
  PetscLogDouble :: bytes
  PetscBool :: separable
  character(len=64) :: how
  type(MatCompactRows) :: A_rows, B_rows, A_got, B_got
  Mat :: D, J
  Vec :: u, v
  IS :: is_rows, is_offsets
  DM :: da
  KSP :: ksp
  PC :: pc
  TS :: ts

  PetscCallA(PetscInitialize(ierr))
  PetscCallA(RibbonInitialize(ierr))

  ! Mat compact: central differences as a stencil of the application, then the scheme of the options with a metric.
  PetscCallA(MatCreate(PETSC_COMM_SELF, D, ierr))
  PetscCallA(MatSetType(D, 'compact', ierr))
  PetscCallA(MatCompactSetGrid(D, n, one, one, one, ierr))
  PetscCallA(MatCompactGetGrid(D, nx, ny, nz, dof, ierr))
  if (nx /= n .or. ny /= 1 .or. nz /= 1 .or. dof /= 1) stop 1
  A_rows%interior = [unity]
  B_rows%interior = [-unity/2, 0*unity, unity/2]
  allocate (B_rows%first(3, 1), B_rows%last(3, 1))
  B_rows%first(:, 1) = [0*unity, -unity, unity]
  B_rows%last(:, 1) = [-unity, unity, 0*unity]
  PetscCallA(MatCompactSetStencil(D, A_rows, B_rows, ierr))
  PetscCallA(MatCompactGetStencil(D, A_got, B_got, ierr))
  if (any(B_got%interior /= B_rows%interior) .or. any(B_got%last /= B_rows%last) .or. size(A_got%first) /= 0) stop 2
  PetscCallA(MatSetUp(D, ierr))
  PetscCallA(MatCreateVecs(D, u, v, ierr))
  do row = 0, n - 1
    scalar = 3*row
    PetscCallA(VecSetValue(u, row, scalar, INSERT_VALUES, ierr))
  end do
  PetscCallA(VecAssemblyBegin(u, ierr))
  PetscCallA(VecAssemblyEnd(u, ierr))
  PetscCallA(MatMult(D, u, v, ierr))
  scalar = -3
  PetscCallA(VecShift(v, scalar, ierr))
  PetscCallA(VecNorm(v, NORM_INFINITY, error, ierr))
  if (.not. error <= 1e-5) stop 3
  PetscCallA(MatCompactSetStencil(D, ierr=ierr))
  PetscCallA(MatCompactGetStencil(D, A_got, B_got, ierr))
  if (allocated(A_got%interior)) stop 4
  metric = 2
  PetscCallA(MatCompactSetMetric(D, metric, ierr))
  PetscCallA(MatCompactGetMetric(D, got, ierr))
  if (size(got) /= n .or. any(got /= 2)) stop 6
  PetscCallA(MatMult(D, u, v, ierr))
  scalar = -6
  PetscCallA(VecShift(v, scalar, ierr))
  PetscCallA(VecNorm(v, NORM_INFINITY, error, ierr))
  if (.not. error <= 1e-4) stop 7
  PetscCallA(VecDestroy(u, ierr))
  PetscCallA(VecDestroy(v, ierr))
  PetscCallA(MatDestroy(D, ierr))

  ! One line of a DMDA.
  PetscCallA(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, n, one, one, PETSC_NULL_INTEGER, da, ierr))
  PetscCallA(DMSetUp(da, ierr))
  PetscCallA(DMCreateMatrix(da, J, ierr))
  PetscCallA(MatGetOwnershipRange(J, first, last, ierr))
  call laplacian(J, first, last, n, ierr)
  PetscCallA(MatCreateVecs(J, u, v, ierr))
  PetscCallA(VecSet(u, unity, ierr))
  PetscCallA(KSPCreate(PETSC_COMM_WORLD, ksp, ierr))
  PetscCallA(KSPSetOperators(ksp, J, J, ierr))
  PetscCallA(KSPGetPC(ksp, pc, ierr))
  PetscCallA(PCSetType(pc, 'line', ierr))
  PetscCallA(PCSetDM(pc, da, ierr))
  PetscCallA(KSPSetType(ksp, 'line', ierr))
  PetscCallA(KSPSolve(ksp, u, v, ierr))
  PetscCallA(PCLineGetInfo(pc, how, lines, rows, matrices, half, bytes, ierr))
  if (how /= 'x' .or. lines /= 1 .or. rows /= n .or. half /= 1 .or. .not. bytes > 0) stop 8
  PetscCallA(PCLineGetFactorInfo(pc, rcond, row, growth, determinant, sign, ierr))
  ! The determinant of these second differences is (-1)^n (n + 1).
  if (row /= 0 .or. abs(exp(determinant) - (n + 1)) > 1e-3 .or. abs(sign - 1) > 1e-5) stop 9
  if (.not. (rcond > 0 .and. rcond < 1)) stop 10
  PetscCallA(KSPLineGetBackwardError(ksp, worst=error, ierr=ierr))
  if (.not. error <= 1e-6) stop 11
  PetscCallA(PCLineGetRows(pc, is_rows, is_offsets, ierr))
  if (is_offsets%v /= 0) stop 12
  PetscCallA(PCSetType(pc, 'multicolor', ierr))
  PetscCallA(PCSetUp(pc, ierr))
  PetscCallA(PCMulticolorGetColors(pc, colors, block, how, ierr))
  if (colors /= 2 .or. block /= 1 .or. how == ' ') stop 13
  PetscCallA(KSPSetType(ksp, 'adi', ierr))
  PetscCallA(PCSetType(pc, 'adi', ierr))
  PetscCallA(KSPSetUp(ksp, ierr))
  PetscCallA(KSPADIGetInfo(ksp, shifts, predicted, separable, ierr))
  if (shifts /= 0 .or. .not. separable) stop 14 ! one direction is solved without shifts
  PetscCallA(KSPDestroy(ksp, ierr))

  ! TS adi with the Jacobian of its direction: the total of u decays.
  PetscCallA(TSCreate(PETSC_COMM_WORLD, ts, ierr))
  PetscCallA(TSSetDM(ts, da, ierr))
  PetscCallA(TSSetType(ts, 'adi', ierr))
  PetscCallA(TSSetRHSFunction(ts, PETSC_NULL_VEC, right_side, J, ierr))
  PetscCallA(TSSetRHSJacobian(ts, J, J, jacobian, J, ierr))
  PetscCallA(DMCreateMatrix(da, D, ierr))
  PetscCallA(TSADISetDirectionJacobian(ts, zero, D, along_x, ierr))
  time_step = 0.5
  final = 2
  PetscCallA(TSSetTimeStep(ts, time_step, ierr))
  PetscCallA(TSSetMaxTime(ts, final, ierr))
  PetscCallA(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP, ierr))
  PetscCallA(TSSolve(ts, u, ierr))
  PetscCallA(VecNorm(u, NORM_INFINITY, error, ierr))
  if (calls == 0 .or. .not. error < 1) stop 15
  write (*, '(a)') 'the functions of the module ribbon work'
  PetscCallA(TSDestroy(ts, ierr))
  PetscCallA(MatDestroy(D, ierr))
  PetscCallA(MatDestroy(J, ierr))
  PetscCallA(VecDestroy(u, ierr))
  PetscCallA(VecDestroy(v, ierr))
  PetscCallA(DMDestroy(da, ierr))
  PetscCallA(PetscFinalize(ierr))
end program
