// SPDX-License-Identifier: BSD-2-Clause
#include "line_sweep.hpp"

#include "../session.hpp"

namespace ribbon::petsc {

PetscErrorCode LineGroup::solve(Vec b, Vec x, bool transposed)
{
  PetscFunctionBegin;
  for (LineBatch &batch : batches) {
    if (batch.reference) PetscCall(batch.reference->keep(b));
    PetscCall(batch.op->solve(b, x, transposed));
    if (batch.reference) PetscCall(batch.reference->compare(x, transposed));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// r = b - A z, or b - A^T z.
static PetscErrorCode Residual(Mat A, Vec b, Vec z, Vec r, bool transposed)
{
  PetscFunctionBegin;
  if (transposed) PetscCall(MatMultTranspose(A, z, r));
  else PetscCall(MatMult(A, z, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::allocate(Mat A)
{
  bool chained = sequences.size() == 1 && iterations > 1, some_rows = false;
  PetscFunctionBegin;
  for (const auto &sequence : sequences) chained = chained || sequence.size() > 1;
  for (const LineGroup &group : groups) some_rows = some_rows || !group.all_rows;
  if (chained) PetscCall(MatCreateVecs(A, nullptr, &residual_));
  if (some_rows) PetscCall(MatCreateVecs(A, &correction_, nullptr));
  if (sequences.size() > 1) PetscCall(MatCreateVecs(A, &part_, iterations > 1 ? &outer_ : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::transpose(MPI_Comm comm)
{
  std::string failure;
  PetscFunctionBegin;
  if (has_transposed_) PetscFunctionReturn(PETSC_SUCCESS);
  for (LineGroup &group : groups)
    for (LineBatch &batch : group.batches) { // of lines that the partition cuts all ranks have to
      std::string found;
      PetscCall(batch.op->transpose(&found));
      if (failure.empty()) failure = found;
    }
  PetscCall(CollectiveError(comm, PETSC_ERR_MAT_LU_ZRPVT, failure));
  has_transposed_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::reset()
{
  PetscFunctionBegin;
  has_transposed_ = false;
  for (Vec *v : {&residual_, &correction_, &outer_, &part_, &foreign_b_, &foreign_x_}) PetscCall(VecDestroy(v));
  groups.clear(), sequences.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::run(Mat A, const std::vector<int> &sequence, Vec b, Vec z, bool z_is_zero, bool transposed, Vec r)
{
  PetscFunctionBegin;
  for (std::size_t k = 0; k < sequence.size(); ++k) {
    LineGroup &group = groups[static_cast<std::size_t>(sequence[transposed ? sequence.size() - 1 - k : k])];
    const bool fresh = z_is_zero && k == 0;
    const Vec  to    = fresh ? z : group.all_rows ? r : correction_; // a solve may overwrite what it is given
    if (!fresh) PetscCall(Residual(A, b, z, r, transposed));
    if (!group.all_rows) PetscCall(VecSet(to, 0));
    PetscCall(group.solve(fresh ? b : r, to, transposed));
    if (!fresh) PetscCall(VecAXPY(z, 1, to));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::iterate(Mat A, Vec b, Vec x, bool x_is_zero, PetscInt64 times, bool transposed, Vec work)
{
  const PetscReal weight   = PetscReal(1) / static_cast<PetscReal>(sequences.size());
  const Vec       residual = residual_ ? residual_ : work, outer = outer_ ? outer_ : work;
  PetscFunctionBegin;
  for (PetscInt64 k = 0; k < times; ++k) {
    const bool zero = x_is_zero && k == 0;
    if (sequences.size() == 1) {
      PetscCall(run(A, sequences[0], b, x, zero, transposed, residual));
      continue;
    }
    if (!zero) PetscCall(Residual(A, b, x, outer, transposed));
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      const bool first = zero && s == 0;
      PetscCall(run(A, sequences[s], zero ? b : outer, first ? x : part_, true, transposed, residual));
      if (first) PetscCall(VecScale(x, weight));
      else PetscCall(VecAXPY(x, weight, part_));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// to = from, of whatever types.
static PetscErrorCode CopyThroughHost(Vec from, Vec to)
{
  const PetscScalar *f;
  PetscScalar       *t;
  PetscInt           n;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(from, &n));
  PetscCall(VecGetArrayRead(from, &f));
  PetscCall(VecGetArrayWrite(to, &t));
  PetscCall(PetscArraycpy(t, f, n));
  PetscCall(VecRestoreArrayWrite(to, &t));
  PetscCall(VecRestoreArrayRead(from, &f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::apply(Mat A, Vec b, Vec x, bool transposed)
{
  const Vec work  = residual_ ? residual_ : part_;
  PetscBool alike = PETSC_TRUE;
  PetscFunctionBegin;
  // columns of a dense matrix in host memory beside a matrix on a device: PETSc's vectors do not mix
  if (work) PetscCall(PetscObjectTypeCompare((PetscObject)b, ((PetscObject)work)->type_name, &alike));
  if (alike) {
    PetscCall(iterate(A, b, x, true, iterations, transposed, nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!foreign_b_) PetscCall(VecDuplicate(work, &foreign_b_));
  if (!foreign_x_) PetscCall(VecDuplicate(work, &foreign_x_));
  PetscCall(CopyThroughHost(b, foreign_b_));
  PetscCall(iterate(A, foreign_b_, foreign_x_, true, iterations, transposed, nullptr));
  PetscCall(CopyThroughHost(foreign_x_, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::richardson(Mat A, Vec b, Vec x, Vec work, bool x_is_zero, PetscInt times, bool exact)
{
  PetscFunctionBegin;
  if (exact) PetscCall(iterate(A, b, x, true, PetscMin(times, 2), false, work));
  else PetscCall(iterate(A, b, x, x_is_zero, PetscInt64(times) * iterations, false, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
