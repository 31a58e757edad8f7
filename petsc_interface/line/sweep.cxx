// SPDX-License-Identifier: BSD-2-Clause
#include "sweep.hpp"

#include "../support/session.hpp"

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
    for (LineBatch &batch : group.batches) { // lines that span ranks need all ranks
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

PetscErrorCode LineSweep::keep(Mat A)
{
  PetscBool   takes;
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(LineRest::takes(A, &takes));
  // not on several ranks: there one rank ended the eigenvalue estimate of Chebyshev's iteration before the
  // others
  if (takes && size == 1 && !is_one_solve()) PetscCall(rest_.make(A, groups));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solves the rows of one group, for z that is not zero, with the entries that lines leave out.
PetscErrorCode LineSweep::Renew(std::size_t g, Vec b, Vec z, Vec r)
{
  LineGroup &group = groups[g];
  const Vec  to    = omega == 1 ? z : group.all_rows ? r : correction_;
  PetscFunctionBegin;
  PetscCall(rest_.residual(g, b, z, r));
  PetscCall(group.solve(r, to, false));
  if (omega != 1) PetscCall(rest_.damp(g, omega, to, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::run(Mat A, const std::vector<int> &sequence, Vec b, Vec z, bool z_is_zero,
                              const Way &way, Vec r, int *last)
{
  PetscFunctionBegin;
  for (std::size_t k = 0; k < sequence.size(); ++k) {
    const int  g     = sequence[way.transposed ? sequence.size() - 1 - k : k];
    LineGroup &group = groups[static_cast<std::size_t>(g)];
    const bool fresh = z_is_zero && k == 0;
    if (!fresh && way.kept) {
      if (g != *last || !rest_.settles(static_cast<std::size_t>(g)) || omega != 1)
        PetscCall(Renew(static_cast<std::size_t>(g), b, z, r));
      *last = g;
      continue;
    }
    const Vec to = fresh ? z : group.all_rows ? r : correction_; // a solve may overwrite its right-hand side
    if (!fresh) PetscCall(Residual(A, b, z, r, way.transposed));
    if (!group.all_rows) PetscCall(VecSet(to, 0));
    PetscCall(group.solve(fresh ? b : r, to, way.transposed));
    if (!fresh) PetscCall(VecAXPY(z, 1, to));
    *last = g;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::iterate(Mat A, Vec b, Vec x, bool x_is_zero, PetscInt64 times, const Way &way,
                                  Vec work)
{
  const PetscReal weight   = PetscReal(1) / static_cast<PetscReal>(sequences.size());
  const Vec       residual = residual_ ? residual_ : work, outer = outer_ ? outer_ : work;
  int             last = -1; // the group that was solved last
  PetscFunctionBegin;
  for (PetscInt64 k = 0; k < times; ++k) {
    const bool zero = x_is_zero && k == 0;
    if (sequences.size() == 1) {
      PetscCall(run(A, sequences[0], b, x, zero, way, residual, &last));
      continue;
    }
    if (!zero) PetscCall(Residual(A, b, x, outer, way.transposed));
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      const bool first = zero && s == 0;
      last             = -1;
      PetscCall(run(A, sequences[s], zero ? b : outer, first ? x : part_, true, way, residual, &last));
      if (first) PetscCall(VecScale(x, weight));
      else PetscCall(VecAXPY(x, weight, part_));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::apply(Mat A, Vec b, Vec x, bool transposed, bool splits)
{
  const Way way{transposed, splits && !transposed && rest_.is_made()};
  PetscFunctionBegin;
  if (is_one_solve()) {
    LineGroup &group = groups[static_cast<std::size_t>(sequences[0][0])];
    if (!group.all_rows) PetscCall(VecSet(x, 0));
    PetscCall(group.solve(b, x, transposed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(native_.with(residual_ ? residual_ : part_, b, x, [&](Vec native_b, Vec native_x) {
    return iterate(A, native_b, native_x, true, iterations, way, nullptr);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineSweep::richardson(Mat A, Vec b, Vec x, Vec work, bool x_is_zero, PetscInt times,
                                     bool exact, bool splits)
{
  const PetscInt64 all = PetscInt64(times) * iterations;
  Way              way;
  PetscBool        takes = PETSC_FALSE;
  PetscFunctionBegin;
  if (exact) {
    PetscCall(iterate(A, b, x, true, PetscMin(times, 2), way, work));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (splits && !rest_.is_made()) PetscCall(LineRest::takes(A, &takes));
  // if M is one solve: creating it takes as much time as it saves in a few steps
  if (takes && (steps_ += all) > 4) PetscCall(rest_.make(A, groups));
  way.kept = splits && rest_.is_made();
  PetscCall(iterate(A, b, x, x_is_zero, all, way, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
