// SPDX-License-Identifier: BSD-2-Clause
/// @file moved_rows.hpp  Rows on the ranks that solve their lines.
#pragma once

#include "../support/compat.h"

#include <petscmat.h>

#include <memory>
#include <vector>

namespace ribbon::petsc {

/// The rows of the lines that this rank solves, wherever they are. Every row of the matrix is in one such
/// set.
struct MovedRows {
  std::vector<PetscInt> rows;            ///< global, ascending
  PetscInt              from_others = 0; ///< how many of them other ranks own
  /// rows and columns of this set, until ForgetBlock()
  mutable std::vector<PetscInt> begin, column;
  mutable std::vector<Scalar>   value;
  mutable Mat                   block   = nullptr; ///< these rows as a matrix
  VecScatter                    scatter = nullptr; ///< from a vector of the matrix to b or x
  Vec                           b = nullptr, x = nullptr;

  MovedRows()                             = default;
  MovedRows(const MovedRows &)            = delete;
  MovedRows &operator=(const MovedRows &) = delete;
  ~MovedRows()
  {
    (void)VecScatterDestroy(&scatter);
    (void)VecDestroy(&b);
    (void)VecDestroy(&x);
    (void)MatDestroy(&block);
  }
  /// Makes the block, the vectors and the scatter from the arrays. Collective on A.
  /// @param type  of the block; it determines the memory of the vectors
  PetscErrorCode Open(Mat A, MatType type)
  {
    const auto n = static_cast<PetscInt>(rows.size());
    IS         is;
    Vec        of_A;
    PetscBool  plain;
    PetscFunctionBegin;
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, begin.data(), column.data(),
                                        reinterpret_cast<PetscScalar *>(value.data()), &block));
    PetscCall(PetscStrcmp(type, MATSEQAIJ, &plain));
    if (!plain) PetscCall(CopyBlock(type));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, rows.data(), PETSC_USE_POINTER, &is));
    PetscCall(MatCreateVecs(A, &of_A, nullptr));
    PetscCall(MatCreateVecs(block, &x, &b));
    PetscCall(VecScatterCreate(of_A, is, b, nullptr, &scatter));
    PetscCall(VecDestroy(&of_A));
    PetscCall(ISDestroy(&is));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Frees the block, which only a set-up needs.
  PetscErrorCode ForgetBlock() const
  {
    PetscFunctionBegin;
    PetscCall(MatDestroy(&block));
    begin = {}, column = {}, value = {};
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// Makes the block a matrix of another type, and frees the arrays.
  PetscErrorCode CopyBlock(MatType type)
  {
    Mat copy;
    PetscFunctionBegin;
    PetscCall(MatDuplicate(block, MAT_COPY_VALUES, &copy));
    PetscCall(ForgetBlock());
    PetscCall(MatConvert(copy, type, MAT_INPLACE_MATRIX, &copy));
    block = copy;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

} // namespace ribbon::petsc
