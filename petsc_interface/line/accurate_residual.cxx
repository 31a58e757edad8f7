// SPDX-License-Identifier: BSD-2-Clause
#include "accurate_residual.hpp"

#include "../support/aij.hpp"
#include "../support/native_vectors.hpp"
#include "../support/open_arrays.hpp"
#include "../support/session.hpp"

namespace ribbon::petsc {

namespace {

/// Gives vectors in the memory of Exec: v itself, or a copy whose memory is kept for the next vector.
template <class Exec>
class InMemory {
public:
  ~InMemory() { (void)VecDestroy(&copy_); }
  PetscErrorCode get(Vec like, Vec v, bool copies, Vec *there)
  {
    PetscBool same = PETSC_TRUE;
    PetscFunctionBegin;
    if (is_device_space<Exec>)
      PetscCall(PetscObjectTypeCompare((PetscObject)v, ((PetscObject)like)->type_name, &same));
    *there = v;
    if (same) PetscFunctionReturn(PETSC_SUCCESS);
    if (!copy_) PetscCall(VecDuplicate(like, &copy_));
    if (copies) PetscCall(CopyThroughHost(v, copy_));
    *there = copy_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode put(Vec there, Vec v)
  {
    PetscFunctionBegin;
    if (there != v) PetscCall(CopyThroughHost(there, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  Vec copy_ = nullptr;
};

template <class Exec, class Index>
class AccurateResidualOn final : public AccurateResidual {
public:
  ~AccurateResidualOn() override
  {
    (void)MatDestroy(&aij_);
    (void)VecDestroy(&like_);
    (void)VecDestroy(&ghosts_);
    (void)VecScatterDestroy(&scatter_);
  }

  /// @param like     a vector of the matrix
  /// @param columns  of MATMAIJ; otherwise 1
  PetscErrorCode set(Mat aij, PetscInt columns, Vec like)
  {
    const PetscInt *others;
    PetscFunctionBegin;
    PetscCall(PetscObjectReference((PetscObject)aij));
    PetscCall(PetscObjectReference((PetscObject)like));
    aij_ = aij, columns_ = columns, like_ = like;
    PetscCall(GetBlocks(aij_, block_, &others));
    if (block_[1]) PetscCall(make_scatter(others));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode compute(Vec b, Vec x, Vec r, Vec sizes, ResidualSizes which) override
  {
    Vec in[2], out[2] = {nullptr, nullptr};
    PetscFunctionBegin;
    PetscCall(copies_[0].get(like_, b, true, &in[0]));
    PetscCall(copies_[1].get(like_, x, true, &in[1]));
    PetscCall(copies_[2].get(like_, r, false, &out[0]));
    if (sizes) PetscCall(copies_[3].get(like_, sizes, false, &out[1]));
    if (scatter_) {
      PetscCall(VecScatterBegin(scatter_, in[1], ghosts_, INSERT_VALUES, SCATTER_FORWARD));
      PetscCall(VecScatterEnd(scatter_, in[1], ghosts_, INSERT_VALUES, SCATTER_FORWARD));
    }
    PetscCall(run(in, out, which));
    PetscCall(copies_[2].put(out[0], r));
    if (sizes) PetscCall(copies_[3].put(out[1], sizes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode make_scatter(const PetscInt *others)
  {
    PetscInt n;
    VecType  type;
    IS       from;
    PetscFunctionBegin;
    PetscCall(MatGetLocalSize(block_[1], nullptr, &n));
    PetscCall(MatGetVecType(block_[1], &type));
    PetscCall(VecCreate(PETSC_COMM_SELF, &ghosts_));
    PetscCall(VecSetSizes(ghosts_, n * columns_, n * columns_));
    PetscCall(VecSetType(ghosts_, type));
    PetscCall(ISCreateBlock(PETSC_COMM_SELF, columns_, n, others, PETSC_COPY_VALUES, &from));
    PetscCall(VecScatterCreate(like_, from, ghosts_, nullptr, &scatter_));
    PetscCall(ISDestroy(&from));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode run(const Vec (&in)[2], const Vec (&out)[2], ResidualSizes which)
  {
    const Exec                  exec = current_space<Exec>();
    OpenRows<Exec, Index>       rows[2];
    OpenVec<Exec>               b, x, ghosts, r, sizes;
    ResidualRows<Scalar, Index> A{};
    PetscInt                    others = 0;
    PetscFunctionBegin;
    PetscCall(AwaitCopies(out[0]));
    if (out[1]) PetscCall(AwaitCopies(out[1]));
    if (block_[1]) PetscCall(MatGetLocalSize(block_[1], nullptr, &others));
    PetscCall(rows[0].open(block_[0], Access::read));
    if (others > 0) PetscCall(rows[1].open(block_[1], Access::read));
    PetscCall(b.open(in[0], Access::read));
    PetscCall(x.open(in[1], Access::read));
    if (others > 0) PetscCall(ghosts.open(ghosts_, Access::read));
    PetscCall(r.open(out[0], Access::write));
    if (out[1]) PetscCall(sizes.open(out[1], Access::write));
    A.block[0] = rows[0].rows, A.block[1] = rows[1].rows, A.columns = columns_;
    A.x[0] = x.data(), A.x[1] = ghosts.data(), A.b = b.data();
    PetscCallCXX(
      csr_residual(exec, A, r.data(), out[1] ? sizes.data() : static_cast<Scalar *>(nullptr), which));
    if (!is_device_space<Exec>) PetscCallCXX(exec.fence());
    if (out[1]) PetscCall(sizes.close());
    PetscCall(r.close());
    if (others > 0) PetscCall(ghosts.close());
    PetscCall(x.close());
    PetscCall(b.close());
    for (auto &block : rows) PetscCall(block.close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Mat            aij_      = nullptr;
  Mat            block_[2] = {nullptr, nullptr}; ///< of aij_, borrowed
  PetscInt       columns_  = 1;
  Vec            like_ = nullptr, ghosts_ = nullptr;
  VecScatter     scatter_ = nullptr;
  InMemory<Exec> copies_[4]; ///< b, x, r, sizes
};

template <class Exec, class Index>
PetscErrorCode CreateOn(Mat aij, PetscInt columns, Vec like, std::unique_ptr<AccurateResidual> *residual)
{
  PetscFunctionBegin;
  auto made = std::make_unique<AccurateResidualOn<Exec, Index>>();
  PetscCall(made->set(aij, columns, like));
  *residual = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreateWhereRowsAre(Mat aij, PetscInt columns, Vec like,
                                  std::unique_ptr<AccurateResidual> *residual)
{
  Mat             block[2];
  const PetscInt *others;
  bool            on_device;
  PetscFunctionBegin;
  PetscCall(GetBlocks(aij, block, &others));
  PetscCall(BlockIsOnDevice(block[0], &on_device));
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
  if (on_device) {
    PetscBool is_cusparse;
    PetscCall(PetscObjectTypeCompare((PetscObject)block[0], MATSEQAIJCUSPARSE, &is_cusparse));
    if (is_cusparse) PetscCall((CreateOn<DeviceExec, std::int32_t>(aij, columns, like, residual)));
    else PetscCall((CreateOn<DeviceExec, PetscInt>(aij, columns, like, residual)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall((CreateOn<HostExec, PetscInt>(aij, columns, like, residual)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The AIJ matrix with the rows of A, which the caller destroys; null if there is none.
PetscErrorCode RowsOf(Mat A, Mat *aij, PetscInt *columns)
{
  PetscBool is_aij, is_maij, is_blocked;
  PetscFunctionBegin;
  *aij = nullptr, *columns = 1;
  PetscCall(IsAIJ(A, &is_aij));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &is_maij, MATSEQMAIJ, MATMPIMAIJ, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &is_blocked, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ,
                                      MATMPISBAIJ, ""));
  if (is_blocked) {
    PetscCall(ConvertToAIJ(A, aij));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (is_maij) {
    PetscInt all, rows;
    PetscCall(MatMAIJGetAIJ(A, aij));
    PetscCall(IsAIJ(*aij, &is_aij));
    PetscCall(MatGetSize(A, &all, nullptr));
    PetscCall(MatGetSize(*aij, &rows, nullptr));
    *columns = rows > 0 ? all / rows : 1;
  } else *aij = A;
  if (is_aij) PetscCall(PetscObjectReference((PetscObject)*aij));
  else *aij = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

bool AccurateResidual::is_of(Mat A, bool transposed) const
{
  PetscObjectId    id    = -1;
  PetscObjectState state = -1;
  (void)PetscObjectGetId((PetscObject)A, &id);
  (void)PetscObjectStateGet((PetscObject)A, &state);
  return id == id_ && state == state_ && transposed == transposed_;
}

PetscErrorCode AccurateResidual::create(Mat A, bool transposed, std::unique_ptr<AccurateResidual> *residual)
{
  Mat      aij;
  Vec      like;
  PetscInt columns;
  PetscFunctionBegin;
  residual->reset();
  PetscCall(RowsOf(A, &aij, &columns));
  if (!aij) PetscFunctionReturn(PETSC_SUCCESS);
  if (transposed) {
    Mat At;
    PetscCall(MatTranspose(aij, MAT_INITIAL_MATRIX, &At));
    PetscCall(MatDestroy(&aij));
    aij = At;
  }
  PetscCall(MatCreateVecs(A, &like, nullptr));
  PetscCall(CreateWhereRowsAre(aij, columns, like, residual));
  PetscCall(PetscObjectGetId((PetscObject)A, &(*residual)->id_));
  PetscCall(PetscObjectStateGet((PetscObject)A, &(*residual)->state_));
  (*residual)->transposed_ = transposed;
  PetscCall(VecDestroy(&like));
  PetscCall(MatDestroy(&aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
