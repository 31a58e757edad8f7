! SPDX-License-Identifier: BSD-2-Clause
! ribbon.F90  Fortran module of libribbon: RibbonInitialize(), and the functions that options cannot replace.
! Compile this file with the program. The compiler's format of modules, and the version of PETSc, are then
! those of the program.
!
! Arguments are those of C, followed by ierr. Output arguments are optional: pass those that follow an
! omitted one, and ierr, by name. Link with -lribbon.
module ribbon
#include <petsc/finclude/petscts.h>
  use, intrinsic :: iso_c_binding
  use petscts
  implicit none
  private
  public :: RibbonInitialize
  public :: PCLineSetRows, PCLineGetRows, PCLineGetInfo, PCLineGetFactorInfo
  public :: PCMulticolorGetColors
  public :: KSPLineGetInfo, KSPLineGetLines, KSPLineGetBackwardError, KSPADIGetInfo
  public :: MatCompactSetGrid, MatCompactGetGrid, MatCompactSetMetric, MatCompactGetMetric
  public :: MatCompactRows, MatCompactSetStencil, MatCompactGetStencil
  public :: TSADIDirectionJacobian, TSADISetDirectionJacobian

  ! PETSc's types in the terms of C.
#if defined(PETSC_USE_64BIT_INDICES)
#define CInt integer(c_int64_t)
#else
#define CInt integer(c_int)
#endif
#if defined(PETSC_USE_REAL_SINGLE)
#define CReal real(c_float)
#elif defined(PETSC_USE_REAL___FLOAT128)
#define CReal real(c_float128)
#else
#define CReal real(c_double)
#endif
#if !defined(PETSC_USE_COMPLEX)
#define CScalar CReal
#elif defined(PETSC_USE_REAL_SINGLE)
#define CScalar complex(c_float_complex)
#elif defined(PETSC_USE_REAL___FLOAT128)
#define CScalar complex(c_float128_complex)
#else
#define CScalar complex(c_double_complex)
#endif
  ! An int before PETSc 3.24, then a bool.
#if PETSC_VERSION_MAJOR == 3 && PETSC_VERSION_MINOR < 24
#define CBool integer(c_int)
#define CIsTrue(flag) ((flag) /= 0)
#else
#define CBool logical(c_bool)
#define CIsTrue(flag) (flag)
#endif

  ! Rows of A or B of a Mat compact. Row j of first and last is the column j of the array.
  type MatCompactRows
    PetscScalar, allocatable :: interior(:)             ! 2 width + 1 entries
    PetscScalar, allocatable :: first(:, :), last(:, :) ! (2 width + 1, ends); not allocated: ends is 0
  end type

  type, bind(C) :: c_rows ! MatCompactRows of matcompact.h
    CInt :: width
    type(c_ptr) :: interior
    CInt :: ends
    type(c_ptr) :: first, last
  end type

  abstract interface
    ! Computes A = dG_d/dU at (t, U), with M U' = G_1 + ... + G_D + the rest. Its data are in its scope.
    subroutine TSADIDirectionJacobian(ts, t, U, A, ierr)
      import
      type(tTS) :: ts
      PetscReal :: t
      type(tVec) :: U
      type(tMat) :: A
      PetscErrorCode :: ierr
    end subroutine
  end interface

  ! The Jacobian of one direction of a TS, whose address is the context of C's function.
  type direction_jacobian
    PetscFortranAddr :: ts
    PetscInt :: direction
    procedure(TSADIDirectionJacobian), pointer, nopass :: func
    type(direction_jacobian), pointer :: next
  end type
  type(direction_jacobian), pointer :: jacobians => null()

  interface
    function c_initialize() bind(C, name='RibbonInitialize') result(ierr)
      import
      integer(c_int) :: ierr
    end function
    function c_set_rows(pc, rows, offsets) bind(C, name='PCLineSetRows') result(ierr)
      import
      integer(c_intptr_t), value :: pc, rows, offsets
      integer(c_int) :: ierr
    end function
    function c_get_rows(pc, rows, offsets) bind(C, name='PCLineGetRows') result(ierr)
      import
      integer(c_intptr_t), value :: pc
      integer(c_intptr_t) :: rows, offsets
      integer(c_int) :: ierr
    end function
    function c_line_info(pc, direction, lines, rows, matrices, half_bandwidth, bytes) &
      bind(C, name='PCLineGetInfo') result(ierr)
      import
      integer(c_intptr_t), value :: pc
      type(c_ptr) :: direction
      CInt :: lines, rows, matrices, half_bandwidth
      real(c_double) :: bytes
      integer(c_int) :: ierr
    end function
    function c_factor_info(pc, rcond, row, growth, log_abs_det, det_sign) &
      bind(C, name='PCLineGetFactorInfo') result(ierr)
      import
      integer(c_intptr_t), value :: pc
      CReal :: rcond, growth, log_abs_det
      CInt :: row
      CScalar :: det_sign
      integer(c_int) :: ierr
    end function
    function c_colors(pc, colors, block, how) bind(C, name='PCMulticolorGetColors') result(ierr)
      import
      integer(c_intptr_t), value :: pc
      CInt :: colors, block
      type(c_ptr) :: how
      integer(c_int) :: ierr
    end function
    function c_ksp_info(ksp, lines, refined, open, worst) bind(C, name='KSPLineGetInfo') result(ierr)
      import
      integer(c_intptr_t), value :: ksp
      CInt :: lines, refined, open
      CReal :: worst
      integer(c_int) :: ierr
    end function
    function c_ksp_lines(ksp, n, rows, columns, solves, residuals) &
      bind(C, name='KSPLineGetLines') result(ierr)
      import
      integer(c_intptr_t), value :: ksp
      CInt :: n
      type(c_ptr), value :: rows, columns, solves, residuals
      integer(c_int) :: ierr
    end function
    function c_backward_error(ksp, worst, row) bind(C, name='KSPLineGetBackwardError') result(ierr)
      import
      integer(c_intptr_t), value :: ksp
      CReal :: worst
      CInt :: row
      integer(c_int) :: ierr
    end function
    function c_adi_info(ksp, n, predicted, separable) bind(C, name='KSPADIGetInfo') result(ierr)
      import
      integer(c_intptr_t), value :: ksp
      CInt :: n
      CReal :: predicted
      CBool :: separable
      integer(c_int) :: ierr
    end function
    function c_set_grid(mat, nx, ny, nz, dof) bind(C, name='MatCompactSetGrid') result(ierr)
      import
      integer(c_intptr_t), value :: mat
      CInt, value :: nx, ny, nz, dof
      integer(c_int) :: ierr
    end function
    function c_get_grid(mat, nx, ny, nz, dof) bind(C, name='MatCompactGetGrid') result(ierr)
      import
      integer(c_intptr_t), value :: mat
      CInt :: nx, ny, nz, dof
      integer(c_int) :: ierr
    end function
    function c_set_metric(mat, n, dxi_dx) bind(C, name='MatCompactSetMetric') result(ierr)
      import
      integer(c_intptr_t), value :: mat
      CInt, value :: n
      CReal :: dxi_dx(*)
      integer(c_int) :: ierr
    end function
    function c_get_metric(mat, n, dxi_dx) bind(C, name='MatCompactGetMetric') result(ierr)
      import
      integer(c_intptr_t), value :: mat
      CInt :: n
      type(c_ptr) :: dxi_dx
      integer(c_int) :: ierr
    end function
    function c_set_stencil(mat, A, B) bind(C, name='MatCompactSetStencil') result(ierr)
      import
      integer(c_intptr_t), value :: mat
      type(c_ptr), value :: A, B
      integer(c_int) :: ierr
    end function
    function c_get_stencil(mat, A, B) bind(C, name='MatCompactGetStencil') result(ierr)
      import
      integer(c_intptr_t), value :: mat
      type(c_rows) :: A, B
      integer(c_int) :: ierr
    end function
    function c_direction_jacobian(ts, direction, A, func, ctx) &
      bind(C, name='TSADISetDirectionJacobian') result(ierr)
      import
      integer(c_intptr_t), value :: ts
      CInt, value :: direction
      integer(c_intptr_t), value :: A
      type(c_funptr), value :: func
      type(c_ptr), value :: ctx
      integer(c_int) :: ierr
    end function
  end interface

contains

  ! C's pointer to the object; PETSc's null objects and objects that were never created: NULL.
  pure function handle(v)
    PetscFortranAddr, intent(in) :: v
    integer(c_intptr_t) :: handle
    handle = int(v, c_intptr_t)
    if (handle >= -3 .and. handle < 0) handle = 0
  end function

  ! Copies a string of C. Blanks follow it.
  subroutine copy_string(from, to)
    type(c_ptr), intent(in) :: from
    character(len=*), intent(out) :: to
    character(kind=c_char), pointer :: characters(:)
    integer :: k
    to = ' '
    if (.not. c_associated(from)) return
    call c_f_pointer(from, characters, [len(to)])
    do k = 1, len(to)
      if (characters(k) == c_null_char) return
      to(k:k) = characters(k)
    end do
  end subroutine

  ! Registers all types. See ribbon.h.
  subroutine RibbonInitialize(ierr)
    PetscErrorCode, intent(out) :: ierr
    ierr = c_initialize()
  end subroutine

  ! Sets the lines as lists of rows, whose numbers begin at 0. See pcline.h.
  subroutine PCLineSetRows(pc, rows, offsets, ierr)
    type(tPC), intent(in) :: pc
    type(tIS), intent(in) :: rows, offsets
    PetscErrorCode, intent(out) :: ierr
    ierr = c_set_rows(handle(pc%v), handle(rows%v), handle(offsets%v))
  end subroutine

  ! The index sets belong to the PC: do not destroy them.
  subroutine PCLineGetRows(pc, rows, offsets, ierr)
    type(tPC), intent(in) :: pc
    type(tIS), intent(inout), optional :: rows, offsets
    PetscErrorCode, intent(out) :: ierr
    integer(c_intptr_t) :: r, o
    r = 0
    o = 0
    ierr = c_get_rows(handle(pc%v), r, o)
    if (present(rows)) rows%v = r
    if (present(offsets)) offsets%v = o
  end subroutine

  subroutine PCLineGetInfo(pc, direction, lines, rows, matrices, half_bandwidth, bytes, ierr)
    type(tPC), intent(in) :: pc
    character(len=*), intent(out), optional :: direction
    PetscInt, intent(out), optional :: lines, rows, matrices, half_bandwidth
    real(c_double), intent(out), optional :: bytes
    PetscErrorCode, intent(out) :: ierr
    type(c_ptr) :: name
    PetscInt :: l, r, m, h
    real(c_double) :: b
    name = c_null_ptr
    ierr = c_line_info(handle(pc%v), name, l, r, m, h, b)
    if (ierr /= 0) return
    if (present(direction)) call copy_string(name, direction)
    if (present(lines)) lines = l
    if (present(rows)) rows = r
    if (present(matrices)) matrices = m
    if (present(half_bandwidth)) half_bandwidth = h
    if (present(bytes)) bytes = b
  end subroutine

  ! Computes the determinant, too. Collective. See pcline.h.
  subroutine PCLineGetFactorInfo(pc, rcond, row, growth, log_abs_det, det_sign, ierr)
    type(tPC), intent(in) :: pc
    PetscReal, intent(out), optional :: rcond
    PetscInt, intent(out), optional :: row
    PetscReal, intent(out), optional :: growth, log_abs_det
    PetscScalar, intent(out), optional :: det_sign
    PetscErrorCode, intent(out) :: ierr
    PetscReal :: c, g, d
    PetscInt :: r
    PetscScalar :: s
    ierr = c_factor_info(handle(pc%v), c, r, g, d, s)
    if (ierr /= 0) return
    if (present(rcond)) rcond = c
    if (present(row)) row = r
    if (present(growth)) growth = g
    if (present(log_abs_det)) log_abs_det = d
    if (present(det_sign)) det_sign = s
  end subroutine

  subroutine PCMulticolorGetColors(pc, colors, block, how, ierr)
    type(tPC), intent(in) :: pc
    PetscInt, intent(out), optional :: colors, block
    character(len=*), intent(out), optional :: how
    PetscErrorCode, intent(out) :: ierr
    PetscInt :: c, b
    type(c_ptr) :: words
    words = c_null_ptr
    ierr = c_colors(handle(pc%v), c, b, words)
    if (ierr /= 0) return
    if (present(colors)) colors = c
    if (present(block)) block = b
    if (present(how)) call copy_string(words, how)
  end subroutine

  subroutine KSPLineGetInfo(ksp, lines, refined, open, worst, ierr)
    type(tKSP), intent(in) :: ksp
    PetscInt, intent(out), optional :: lines, refined, open
    PetscReal, intent(out), optional :: worst
    PetscErrorCode, intent(out) :: ierr
    PetscInt :: l, r, o
    PetscReal :: w
    ierr = c_ksp_info(handle(ksp%v), l, r, o, w)
    if (ierr /= 0) return
    if (present(lines)) lines = l
    if (present(refined)) refined = r
    if (present(open)) open = o
    if (present(worst)) worst = w
  end subroutine

  ! Allocates arrays with an entry for each line of this rank.
  subroutine KSPLineGetLines(ksp, rows, columns, solves, residuals, ierr)
    type(tKSP), intent(in) :: ksp
    PetscInt, allocatable, intent(out), optional :: rows(:), columns(:), solves(:)
    PetscReal, allocatable, intent(out), optional :: residuals(:)
    PetscErrorCode, intent(out) :: ierr
    PetscInt, allocatable, target :: row(:), column(:), solve(:)
    PetscReal, allocatable, target :: residual(:)
    PetscInt :: n
    ierr = c_ksp_lines(handle(ksp%v), n, c_null_ptr, c_null_ptr, c_null_ptr, c_null_ptr)
    if (ierr /= 0) return
    allocate (row(n), column(n), solve(n), residual(n))
    if (n > 0) ierr = c_ksp_lines(handle(ksp%v), n, c_loc(row), c_loc(column), c_loc(solve), c_loc(residual))
    if (present(rows)) call move_alloc(row, rows)
    if (present(columns)) call move_alloc(column, columns)
    if (present(solves)) call move_alloc(solve, solves)
    if (present(residuals)) call move_alloc(residual, residuals)
  end subroutine

  subroutine KSPLineGetBackwardError(ksp, worst, row, ierr)
    type(tKSP), intent(in) :: ksp
    PetscReal, intent(out), optional :: worst
    PetscInt, intent(out), optional :: row
    PetscErrorCode, intent(out) :: ierr
    PetscReal :: w
    PetscInt :: r
    ierr = c_backward_error(handle(ksp%v), w, r)
    if (ierr /= 0) return
    if (present(worst)) worst = w
    if (present(row)) row = r
  end subroutine

  subroutine KSPADIGetInfo(ksp, n, predicted, separable, ierr)
    type(tKSP), intent(in) :: ksp
    PetscInt, intent(out), optional :: n
    PetscReal, intent(out), optional :: predicted
    PetscBool, intent(out), optional :: separable
    PetscErrorCode, intent(out) :: ierr
    PetscInt :: shifts
    PetscReal :: p
    CBool :: s
    ierr = c_adi_info(handle(ksp%v), shifts, p, s)
    if (ierr /= 0) return
    if (present(n)) n = shifts
    if (present(predicted)) predicted = p
    if (present(separable)) separable = CIsTrue(s)
  end subroutine

  subroutine MatCompactSetGrid(mat, nx, ny, nz, dof, ierr)
    type(tMat), intent(in) :: mat
    PetscInt, intent(in) :: nx, ny, nz, dof
    PetscErrorCode, intent(out) :: ierr
    ierr = c_set_grid(handle(mat%v), nx, ny, nz, dof)
  end subroutine

  subroutine MatCompactGetGrid(mat, nx, ny, nz, dof, ierr)
    type(tMat), intent(in) :: mat
    PetscInt, intent(out) :: nx, ny, nz, dof
    PetscErrorCode, intent(out) :: ierr
    ierr = c_get_grid(handle(mat%v), nx, ny, nz, dof)
  end subroutine

  ! dxi/dx at the points of a line. An array without entries removes the metric.
  subroutine MatCompactSetMetric(mat, dxi_dx, ierr)
    type(tMat), intent(in) :: mat
    PetscReal, intent(in) :: dxi_dx(:)
    PetscErrorCode, intent(out) :: ierr
    PetscInt :: n
    n = size(dxi_dx)
    ierr = c_set_metric(handle(mat%v), n, dxi_dx)
  end subroutine

  ! Without a metric the array has no entries.
  subroutine MatCompactGetMetric(mat, dxi_dx, ierr)
    type(tMat), intent(in) :: mat
    PetscReal, allocatable, intent(out) :: dxi_dx(:)
    PetscErrorCode, intent(out) :: ierr
    PetscReal, pointer :: values(:)
    type(c_ptr) :: address
    PetscInt :: n
    ierr = c_get_metric(handle(mat%v), n, address)
    if (ierr /= 0) return
    allocate (dxi_dx(n))
    if (n == 0) return
    call c_f_pointer(address, values, [n])
    dxi_dx = values
  end subroutine

  ! Without A and B: the scheme of the options.
  subroutine MatCompactSetStencil(mat, A, B, ierr)
    type(tMat), intent(in) :: mat
    type(MatCompactRows), intent(in), optional, target :: A, B
    PetscErrorCode, intent(out) :: ierr
    character(len=*), parameter :: wrong = &
      'MatCompactSetStencil: A and B need interior(2 width + 1), and first and last of one shape (2 width + 1, ends)'
    type(c_rows), target :: rows_of_A, rows_of_B
    if (.not. present(A) .and. .not. present(B)) then
      ierr = c_set_stencil(handle(mat%v), c_null_ptr, c_null_ptr)
      return
    end if
    ierr = PETSC_ERR_ARG_SIZ
    if (.not. (fits(A) .and. fits(B))) then
      SETERRQ(PETSC_COMM_SELF, ierr, wrong)
    end if
    rows_of_A = rows_of(A)
    rows_of_B = rows_of(B)
    ierr = c_set_stencil(handle(mat%v), c_loc(rows_of_A), c_loc(rows_of_B))
  end subroutine

  ! Without a stencil of the application, interior is not allocated.
  subroutine MatCompactGetStencil(mat, A, B, ierr)
    type(tMat), intent(in) :: mat
    type(MatCompactRows), intent(out) :: A, B
    PetscErrorCode, intent(out) :: ierr
    type(c_rows) :: rows_of_A, rows_of_B
    ierr = c_get_stencil(handle(mat%v), rows_of_A, rows_of_B)
    if (ierr /= 0) return
    call copy_rows(rows_of_A, A)
    call copy_rows(rows_of_B, B)
  end subroutine

  pure function fits(rows)
    type(MatCompactRows), intent(in), optional :: rows
    logical :: fits
    fits = present(rows)
    if (.not. fits) return
    fits = allocated(rows%interior) .and. (allocated(rows%first) .eqv. allocated(rows%last))
    if (.not. fits) return
    fits = mod(size(rows%interior), 2) == 1
    if (.not. allocated(rows%first)) return
    fits = fits .and. size(rows%first, 1) == size(rows%interior) .and. all(shape(rows%first) == shape(rows%last))
  end function

  function rows_of(rows) result(c)
    type(MatCompactRows), intent(in), target :: rows
    type(c_rows) :: c
    c%width = size(rows%interior)/2
    c%interior = c_loc(rows%interior)
    c%ends = 0
    c%first = c_null_ptr
    c%last = c_null_ptr
    if (.not. allocated(rows%first)) return
    c%ends = size(rows%first, 2)
    if (c%ends == 0) return
    c%first = c_loc(rows%first)
    c%last = c_loc(rows%last)
  end function

  subroutine copy_rows(c, rows)
    type(c_rows), intent(in) :: c
    type(MatCompactRows), intent(out) :: rows
    PetscScalar, pointer :: row(:), table(:, :)
    PetscInt :: n
    if (.not. c_associated(c%interior)) return
    n = 2*c%width + 1
    call c_f_pointer(c%interior, row, [n])
    allocate (rows%interior(n), rows%first(n, c%ends), rows%last(n, c%ends))
    rows%interior = row
    if (c%ends == 0) return
    call c_f_pointer(c%first, table, [n, c%ends])
    rows%first = table
    call c_f_pointer(c%last, table, [n, c%ends])
    rows%last = table
  end subroutine

  ! PETSC_NULL_MAT removes the Jacobian of the direction, which begins at 0.
  subroutine TSADISetDirectionJacobian(ts, direction, A, func, ierr)
    type(tTS), intent(in) :: ts
    PetscInt, intent(in) :: direction
    type(tMat), intent(in) :: A
    procedure(TSADIDirectionJacobian) :: func
    PetscErrorCode, intent(out) :: ierr
    type(direction_jacobian), pointer :: this
    this => jacobians ! an entry serves all later calls for its TS and direction
    do while (associated(this))
      if (this%ts == ts%v .and. this%direction == direction) exit
      this => this%next
    end do
    if (.not. associated(this)) then
      allocate (this)
      this%ts = ts%v
      this%direction = direction
      this%next => jacobians
      jacobians => this
    end if
    this%func => func
    ierr = c_direction_jacobian(handle(ts%v), direction, handle(A%v), c_funloc(call_jacobian), c_loc(this))
  end subroutine

  ! The function that C calls.
  function call_jacobian(ts, t, U, A, ctx) bind(C) result(ierr)
    integer(c_intptr_t), value :: ts
    CReal, value :: t
    integer(c_intptr_t), value :: U, A
    type(c_ptr), value :: ctx
    integer(c_int) :: ierr
    type(direction_jacobian), pointer :: this
    type(tTS) :: stepper
    type(tVec) :: state
    type(tMat) :: matrix
    PetscReal :: time
    PetscErrorCode :: error
    call c_f_pointer(ctx, this)
    stepper%v = ts
    state%v = U
    matrix%v = A
    time = t
    call this%func(stepper, time, state, matrix, error)
    ierr = error
  end function

end module ribbon
