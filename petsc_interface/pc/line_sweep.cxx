// SPDX-License-Identifier: BSD-2-Clause
#include "line_sweep.hpp"

#include "../session.hpp"

#include <utility>

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

PetscErrorCode LineSweep::allocate(Mat A, const std::vector<std::vector<int>> &others)
{
  bool chained = sequences.size() == 1 && iterations > 1, some_rows = false;
  PetscFunctionBegin;
  for (const auto *all : {&std::as_const(sequences), &others})
    for (const auto &sequence : *all) chained = chained || sequence.size() > 1;
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

PetscErrorCode LineSweep::refreshed()
{
  PetscFunctionBegin;
  has_transposed_ = false, steps_ = 0;
  PetscCall(rest_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::reset()
{
  PetscFunctionBegin;
  PetscCall(refreshed());
  for (Vec *v : {&residual_, &correction_, &outer_, &part_}) PetscCall(VecDestroy(v));
  PetscCall(native_.reset());
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

PetscErrorCode LineSweep::apply(Mat A, Vec b, Vec x, bool transposed)
{
  PetscFunctionBegin;
  PetscCall(native_.with(residual_ ? residual_ : part_, b, x, [&](Vec native_b, Vec native_x) { return iterate(A, native_b, native_x, true, iterations, transposed, nullptr); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// x + B (b - A x) = (1 - omega) x + B (b - N x), N being what the lines leave out of A.
PetscErrorCode LineSweep::split(Vec b, Vec x, bool x_is_zero, PetscInt64 times, Vec work)
{
  LineGroup      &group = groups[0];
  const PetscReal omega = group.batches[0].request.omega;
  PetscFunctionBegin;
  for (PetscInt64 k = 0; k < times; ++k) {
    const bool zero = x_is_zero && k == 0;
    if (!zero) PetscCall(rest_.residual(b, x, work));
    PetscCall(group.solve(zero ? b : work, zero || omega == 1 ? x : work, false));
    if (!zero && omega != 1) PetscCall(VecAXPBY(x, 1, 1 - omega, work));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::richardson(Mat A, Vec b, Vec x, Vec work, bool x_is_zero, PetscInt times, bool exact, bool splits)
{
  const PetscInt64 all   = PetscInt64(times) * iterations;
  PetscBool        takes = PETSC_FALSE;
  PetscFunctionBegin;
  if (exact) {
    PetscCall(iterate(A, b, x, true, PetscMin(times, 2), false, work));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (splits && groups.size() == 1 && groups[0].batches.size() == 1 && sequences.size() == 1 && sequences[0].size() == 1) PetscCall(LineRest::takes(A, &takes));
  if (takes && !rest_.is_made() && (steps_ += all) > 4) PetscCall(rest_.make(A, groups[0].batches[0].request)); // making it takes as long as it saves in a few steps
  if (takes && rest_.is_made()) PetscCall(split(b, x, x_is_zero, all, work));
  else PetscCall(iterate(A, b, x, x_is_zero, all, false, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
