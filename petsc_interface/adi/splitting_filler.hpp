// SPDX-License-Identifier: BSD-2-Clause
/// @file splitting_filler.hpp  The numbers of a splitting, compared with those of J or written.
#pragma once

#include "row_splitter.hpp"
#include "splitting.hpp"

namespace ribbon::petsc {

/// The diagonal and the off-diagonal block of AIJ, borrowed; the latter may be null.
inline PetscErrorCode GetBlocks(Mat aij, Mat (&block)[2], const PetscInt **columns)
{
  PetscBool sequential;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)aij, &sequential, MATSEQAIJ, MATSEQAIJCUSPARSE, MATSEQAIJKOKKOS, ""));
  block[0] = aij, block[1] = nullptr;
  if (!sequential) PetscCall(MatMPIAIJGetSeqAIJ(aij, &block[0], &block[1], columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of J, and the arrays of what is made of them, open to be compared or written.
class DirectionSplitting::Filler {
public:
  explicit Filler(const DirectionSplitting &s) : splitting_(s) { }

  PetscErrorCode open(Mat aij, const SplitJacobian &jacobian)
  {
    const PetscInt *columns = nullptr;
    PetscFunctionBegin;
    PetscCall(GetBlocks(aij, J_, &columns));
    if (jacobian.mass_matrix) PetscCall(GetBlocks(jacobian.mass_matrix, M_, &ignored_));
    for (int b = 0; b < 2; ++b) {
      RowSplitter::Block &block = rows.block[b];
      if (J_[b]) PetscCall(GetHostRows(J_[b], true, &block.J));
      if (M_[b]) PetscCall(GetHostRows(M_[b], true, &block.M));
      block.way = splitting_.ways_[b].data();
    }
    rows.block[1].columns = columns;
    PetscCall(MatGetOwnershipRange(aij, &rows.first, nullptr));
    for (const Direction &d : splitting_.directions_) rows.axes.push_back(d.axis);
    mass_           = splitting_.mass_;
    rows.components = splitting_.grid_.components(), rows.algebraic = splitting_.is_algebraic_.data();
    rows.reach = splitting_.reach_, rows.shift = static_cast<Scalar>(jacobian.shift);
    const PetscScalar *m;
    PetscCall(VecGetArrayRead(mass_, &m));
    rows.mass = reinterpret_cast<const Scalar *>(m);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode close()
  {
    auto *m = reinterpret_cast<const PetscScalar *>(rows.mass);
    PetscFunctionBegin;
    for (int b = 0; b < 2; ++b) {
      if (M_[b]) PetscCall(RestoreHostRows(M_[b], &rows.block[b].M));
      if (J_[b]) PetscCall(RestoreHostRows(J_[b], &rows.block[b].J));
    }
    PetscCall(VecRestoreArrayRead(mass_, &m));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Whether A_d and the couplings of algebraic rows have the numbers that J asks for.
  PetscErrorCode differs(bool *found)
  {
    PetscFunctionBegin;
    std::vector<const PetscScalar *> next;
    PetscCall(each_block([&](Mat block) {
      const PetscScalar *a = nullptr;
      PetscFunctionBegin;
      if (block) PetscCall(MatSeqAIJGetArrayRead(block, &a));
      next.push_back(a);
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    auto at       = next;
    *found        = !rows.each([&](int d, int b, Scalar v) { return *reinterpret_cast<const Scalar *>(at[index(d, b)]++) == v; });
    std::size_t k = 0;
    PetscCall(each_block([&](Mat block) {
      PetscFunctionBegin;
      if (block) PetscCall(MatSeqAIJRestoreArrayRead(block, &next[k]));
      ++k;
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode write()
  {
    PetscFunctionBegin;
    std::vector<PetscScalar *> next;
    PetscCall(each_block([&](Mat block) {
      PetscScalar *a = nullptr;
      PetscFunctionBegin;
      if (block) PetscCall(MatSeqAIJGetArrayWrite(block, &a));
      next.push_back(a);
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    auto at = next;
    rows.each([&](int d, int b, Scalar v) {
      *reinterpret_cast<Scalar *>(at[index(d, b)]++) = v;
      return true;
    });
    std::size_t k = 0;
    PetscCall(each_block([&](Mat block) {
      PetscFunctionBegin;
      if (block) PetscCall(MatSeqAIJRestoreArrayWrite(block, &next[k]));
      ++k;
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    for (const Direction &d : splitting_.directions_) PetscCall(PetscObjectStateIncrease((PetscObject)d.A));
    if (splitting_.couplings_) PetscCall(PetscObjectStateIncrease((PetscObject)splitting_.couplings_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  RowSplitter rows;

private:
  /// Where emit(d, b) goes in the order of each_block().
  static std::size_t index(int d, int b) { return static_cast<std::size_t>(2 * (d + 1) + b); }

  template <class F>
  PetscErrorCode each_block(const F &f) const
  {
    Mat             block[2] = {nullptr, nullptr};
    const PetscInt *columns;
    PetscFunctionBegin;
    if (splitting_.couplings_) PetscCall(GetBlocks(splitting_.couplings_, block, &columns));
    for (Mat b : block) PetscCall(f(b));
    for (const Direction &d : splitting_.directions_) {
      PetscCall(GetBlocks(d.A, block, &columns));
      for (Mat b : block) PetscCall(f(b));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const DirectionSplitting &splitting_;
  Mat                       J_[2] = {nullptr, nullptr}, M_[2] = {nullptr, nullptr};
  const PetscInt           *ignored_ = nullptr;
  Vec                       mass_    = nullptr;
};

} // namespace ribbon::petsc
