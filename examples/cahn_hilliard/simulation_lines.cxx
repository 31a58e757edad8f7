// SPDX-License-Identifier: BSD-2-Clause
// The implicit part of a step: matrices of lines, their factors, and solves along x and y.
#include "simulation.hpp"

#include <utility>

/// 1 + alpha d^4 - beta d^2 on a ring.
PetscErrorCode Simulation::create_line(MPI_Comm comm, PetscInt mine, PetscInt n, Mat *A) const
{
  const PetscReal alpha = scheme_.alpha(scheme_.hy), beta = scheme_.beta(scheme_.hy);
  const PetscReal stencil[5] = {alpha, -4 * alpha - beta, 1 + 6 * alpha + 2 * beta, -4 * alpha - beta, alpha};
  PetscInt        begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, mine, mine, n, n));
  PetscCall(MatSetType(*A, MATAIJ));
#if defined(PETSC_HAVE_KOKKOS_KERNELS)
  if (on_device_) PetscCall(MatSetType(*A, MATAIJKOKKOS)); // a MATMAIJ of MATAIJCUSPARSE would be assembled
#endif
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 4, NULL));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    PetscInt columns[5];
    for (PetscInt d = 0; d < 5; d++) columns[d] = (row + d - 2 + n) % n;
    PetscCall(MatSetValues(*A, 1, &row, 5, columns, stencil, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Simulation::create_solver(MPI_Comm comm, Mat A, PC *pc) const
{
  PCFailedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(comm, pc));
  PetscCall(PCSetType(*pc, PCLU));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCGetFailedReason(*pc, &reason));
  PetscCheck(!reason, comm, PETSC_ERR_NOT_CONVERGED, "The lines cannot be solved: %s",
             PCFailedReasons[reason]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Simulation::destroy_lines()
{
  PetscFunctionBeginUser;
  PetscCall(PCDestroy(&x_));
  PetscCall(PCDestroy(&y_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One matrix of the size of a line serves all lines along x; their right-hand sides are columns of a dense
/// matrix. Another one serves all lines along y; their vectors are interleaved.
PetscErrorCode Simulation::set_up(PetscReal c)
{
  Mat line, lines;

  PetscFunctionBeginUser;
  if (c == scheme_.c) PetscFunctionReturn(PETSC_SUCCESS);
  scheme_.c = c;
  PetscCall(destroy_lines());
  if (model_.dim == 2) {
    PetscCall(create_line(PETSC_COMM_SELF, model_.n[0], model_.n[0], &line));
    PetscCall(create_solver(PETSC_COMM_SELF, line, &x_));
    PetscCall(MatDestroy(&line));
  }
  PetscCall(create_line(comm_, static_cast<PetscInt>(scheme_.ny), model_.n[1], &line));
  PetscCall(MatCreateMAIJ(line, model_.n[0], &lines));
  if (model_.assembled) PetscCall(MatConvert(lines, MATAIJ, MAT_INPLACE_MATRIX, &lines));
  PetscCall(create_solver(comm_, lines, &y_));
  PetscCall(MatDestroy(&lines));
  PetscCall(MatDestroy(&line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Lines along x. A state and its dense matrix have one array, but each object tracks the valid copy
/// separately. A dense matrix of a device type may have a copy on the host, which PCs on the host read and
/// write. Hence calls tell the matrix about values that were written through the vector, and ask it to copy
/// the solution to the array.
PetscErrorCode Simulation::solve_along_x(const Buffer &right, const Buffer &solution)
{
  const PetscScalar *b;
  PetscScalar       *x;
  PetscMemType       where;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayReadAndMemType(right.state, &b, &where));
  PetscCall(VecGetArrayWriteAndMemType(solution.state, &x, &where));
#if PETSC_VERSION_GE(3, 21, 0)
  if (on_device_) {
    PetscScalar *written;
    PetscCall(MatDenseGetArrayWriteAndMemType(right.lines, &written, &where));
    PetscCall(MatDenseRestoreArrayWriteAndMemType(right.lines, &written));
  }
#endif
  PetscCall(PCMatApply(x_, right.lines, solution.lines));
#if PETSC_VERSION_GE(3, 21, 0)
  if (on_device_) {
    const PetscScalar *solved;
    PetscCall(MatDenseGetArrayReadAndMemType(solution.lines, &solved, &where));
    PetscCall(MatDenseRestoreArrayReadAndMemType(solution.lines, &solved));
  }
#endif
  PetscCall(VecRestoreArrayWriteAndMemType(solution.state, &x));
  PetscCall(VecRestoreArrayReadAndMemType(right.state, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The state before the last is not needed any more. Its memory receives the first solution.
PetscErrorCode Simulation::solve()
{
  PetscFunctionBeginUser;
  if (model_.dim == 2) {
    PetscCall(solve_along_x(buffers_[right_], buffers_[last_]));
    std::swap(right_, last_);
  }
  PetscCall(PCApply(y_, buffers_[right_].state, buffers_[last_].state));
  std::swap(now_, last_);
  PetscFunctionReturn(PETSC_SUCCESS);
}
