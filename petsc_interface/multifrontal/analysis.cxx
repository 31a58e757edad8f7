// SPDX-License-Identifier: BSD-2-Clause
#include "analysis.hpp"

#include "kept_aij.hpp"
#include "local_blocks.hpp"

#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

/// Above this kl + ku the set-up examines whether stored zeros widen the band.
constexpr int widest_with_zeros = 8;

/// Finds the chain of the matrix. Stored zeros count if they do not widen the band much, because later
/// values may not be zero. A copy without zeros is factored if the matrix with its zeros is not a chain. It
/// is also factored if kl + ku is above 8 and at least twice that of the nonzero entries.
PetscErrorCode FindChainOfValues(MultifrontalFactor *f)
{
  ChainPattern other;
  PetscFunctionBegin;
  PetscCall(FindChain(f->aij, &f->pattern));
  const bool refused = !f->pattern.refusal.empty();
  if (!refused && f->pattern.chain.width() <= widest_with_zeros) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CopyWithoutZeros(f->aij, &f->places, &f->compact));
  if (!f->compact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindChain(f->compact, &other));
  if (refused ? other.refusal.empty()
              : other.refusal.empty() && 2 * other.chain.width() <= f->pattern.chain.width()) {
    f->pattern = other;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (refused) f->pattern.refusal = other.refusal + " (zeros that the matrix stores left out)";
  PetscCall(MatDestroy(&f->compact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Creates the tree for the pattern of f->aij.
PetscErrorCode MakeTree(Mat F)
{
  MultifrontalFactor *f    = Data(F);
  const MPI_Comm      comm = PetscObjectComm((PetscObject)F);
  PetscMPIInt         size, rank;
  PetscInt            rows, first;
  Mat                 local, outside;
  const PetscInt     *columns;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(FindChainOfValues(f));
  const Mat aij = f->compact ? f->compact : f->aij;
  PetscCall(CollectiveError(comm, PETSC_ERR_SUP, f->pattern.refusal));
  if (size > 1 && f->pivot == MAT_MULTIFRONTAL_PIVOT_NONE && !f->pattern.separate &&
      f->pattern.fewest < 2 * std::max(f->pattern.chain.kl, f->pattern.chain.ku))
    f->pattern.gathered = true;
  if (f->pattern.gathered) PetscCall(GatherOnFirstRank(aij, &f->gathered));
  if (f->pattern.gathered) local = f->gathered;
  else PetscCall(LocalBlocks(aij, &local, &outside, &columns));
  PetscCall(MatGetLocalSize(local, &rows, nullptr));
  PetscCall(MatGetOwnershipRange(aij, &first, nullptr));
  if (f->pattern.gathered) {
    Vec vector;
    PetscCall(MatCreateVecs(aij, nullptr, &vector));
    PetscCall(VecScatterCreateToZero(vector, &f->to_first, &f->all_b));
    PetscCall(VecDuplicate(f->all_b, &f->all_x));
    PetscCall(VecDestroy(&vector));
    f->active = rank == 0 ? PETSC_COMM_SELF : MPI_COMM_NULL, first = 0;
  } else if (size == 1) f->active = PETSC_COMM_SELF;
  else PetscCallMPI(MPI_Comm_split(comm, rows > 0 ? 0 : MPI_UNDEFINED, rank, &f->active));
  if (f->active != MPI_COMM_NULL) {
    ribbon::ChainSolverOptions options;
    options.leaf_size = f->leaf_size, options.zero_pivot = static_cast<double>(f->zero_pivot);
    PetscCall(BlockIsOnDevice(local, &f->on_device));
    f->factor             = ChainFactor::create(f->on_device);
    f->factor->pivots     = f->pivot != MAT_MULTIFRONTAL_PIVOT_NONE;
    f->factor->keeps_band = F->factortype == MAT_FACTOR_CHOLESKY;
    PetscCall(f->factor->symbolic(f->active, f->pattern, first, rows, options));
  }
  int some = f->on_device; // ranks without rows have no factors
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, comm));
  f->some_on_device = some != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode Analyse(Mat F, Mat A)
{
  MultifrontalFactor *f = Data(F);
  PetscBool           alike;
  PetscFunctionBegin;
  PetscCall(ResetMultifrontal(F));
  PetscCheck(A->rmap->N == A->cmap->N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "multifrontal: a matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns is not square",
             A->rmap->N, A->cmap->N);
  PetscCall(PetscLayoutCompare(A->rmap, A->cmap, &alike));
  PetscCheck(alike, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "multifrontal: ranks have other columns than rows of the matrix");
  PetscCall(PetscLayoutCompare(A->rmap, F->rmap, &alike));
  PetscCheck(
    alike, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
    "multifrontal: ranks have other rows of the matrix than of that which MatGetFactor() was called with");
  PetscCall(KeepAIJ(f, A));
  PetscCall(MakeTree(F));
  PetscCall(PetscObjectGetId((PetscObject)A, &f->matrix));
  PetscCall(MatGetNonzeroState(A, &f->nonzeros));
  bool has_blocks;
  PetscCall(CountBlocks(A, &has_blocks, &f->entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
