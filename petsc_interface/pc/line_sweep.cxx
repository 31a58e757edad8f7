// SPDX-License-Identifier: BSD-2-Clause
#include "line_sweep.hpp"

namespace ribbon::petsc {

PetscErrorCode LineGroup::solve(Vec b, Vec x, bool transposed)
{
  PetscFunctionBegin;
  for (LineBatch &batch : batches) PetscCall(batch.op->solve(b, x, transposed));
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
  bool chained = sequences.size() == 1 && iterations > 1;
  PetscFunctionBegin;
  for (const auto &sequence : sequences) chained = chained || sequence.size() > 1;
  if (chained) PetscCall(MatCreateVecs(A, &correction_, &residual_));
  if (sequences.size() > 1) PetscCall(MatCreateVecs(A, &part_, iterations > 1 ? &outer_ : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::reset()
{
  PetscFunctionBegin;
  for (Vec *v : {&residual_, &correction_, &outer_, &part_}) PetscCall(VecDestroy(v));
  groups.clear(), sequences.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::run(Mat A, const std::vector<int> &sequence, Vec b, Vec z, bool z_is_zero, bool transposed)
{
  PetscFunctionBegin;
  for (std::size_t k = 0; k < sequence.size(); ++k) {
    LineGroup &group = groups[static_cast<std::size_t>(sequence[transposed ? sequence.size() - 1 - k : k])];
    const bool fresh = z_is_zero && k == 0;
    const Vec  to    = fresh ? z : correction_;
    if (!fresh) PetscCall(Residual(A, b, z, residual_, transposed));
    if (!group.all_rows) PetscCall(VecSet(to, 0));
    PetscCall(group.solve(fresh ? b : residual_, to, transposed));
    if (!fresh) PetscCall(VecAXPY(z, 1, correction_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::apply(Mat A, Vec b, Vec x, bool transposed)
{
  const PetscReal weight = PetscReal(1) / static_cast<PetscReal>(sequences.size());
  PetscFunctionBegin;
  for (PetscInt k = 0; k < iterations; ++k) {
    if (sequences.size() == 1) {
      PetscCall(run(A, sequences[0], b, x, k == 0, transposed));
      continue;
    }
    if (k > 0) PetscCall(Residual(A, b, x, outer_, transposed));
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      const bool first = k == 0 && s == 0;
      PetscCall(run(A, sequences[s], k == 0 ? b : outer_, first ? x : part_, true, transposed));
      if (first) PetscCall(VecScale(x, weight));
      else PetscCall(VecAXPY(x, weight, part_));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
