// SPDX-License-Identifier: BSD-2-Clause
// Copies and conversions of Mat compact, and clear errors of operations that need entries.
#include "mat.hpp"

using namespace ribbon::petsc;

static PetscErrorCode MatDuplicate_Compact(Mat A, MatDuplicateOption, Mat *copy)
{
  const char *prefix;
  DM          dm;
  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), copy));
  PetscCall(MatSetSizes(*copy, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(MatSetBlockSizesFromMats(*copy, A, A));
  PetscCall(MatSetType(*copy, MATCOMPACT));
  PetscCall(MatGetOptionsPrefix(A, &prefix));
  PetscCall(MatSetOptionsPrefix(*copy, prefix));
  PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(MatSetDM(*copy, dm));
  PetscCall(CopyCompactOptions(A, *copy));
  PetscCall(MatSetUp(*copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCopy_Compact(Mat A, Mat B, MatStructure)
{
  PetscFunctionBegin;
  PetscCheck(B->ops->copy == A->ops->copy, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "MatCopy: Mat compact stores no entries to copy to a matrix of type %s: call "
             "MatComputeOperator() first",
             ((PetscObject)B)->type_name);
  PetscCall(CopyCompactOptions(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix of another type, from products with the columns of the identity.
static PetscErrorCode MatConvert_Compact(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  Mat converted;
  PetscFunctionBegin;
  PetscCall(MatComputeOperator(A, type, &converted));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(converted, *B, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&converted));
  } else if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatHeaderReplace(A, &converted));
  else *B = converted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static constexpr char parent[] = "MatCompact";

/// The view of the matrix of which rows and columns were taken.
static PetscErrorCode ViewParent(Mat B, PetscViewer viewer)
{
  Mat A;
  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)B, parent, (PetscObject *)&A));
  if (A) PetscCall(ViewCompact(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A virtual submatrix. The view of a matrix of DMCreateMatrix() on several ranks takes one.
static PetscErrorCode MatCreateSubMatrix_Compact(Mat A, IS rows, IS columns, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatSubMatrixVirtualUpdate(*B, A, rows, columns));
  else PetscCall(MatCreateSubMatrixVirtual(A, rows, columns, B));
  PetscCall(PetscObjectCompose((PetscObject)*B, parent, (PetscObject)A));
  (*B)->ops->view = ViewParent;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An operation that needs entries.
struct NeedsEntries {
  MatOperation operation;
  const char  *function, *instead;
};

#define RIBBON_ENTRIES "MatComputeOperator(), which makes a matrix with entries"
static constexpr NeedsEntries needs_entries[] = {
  {MATOP_SET_VALUES, "MatSetValues",
   "MatCompactSetStencil(), or choose the scheme with -mat_compact_derivative and -mat_compact_order"},
  {MATOP_GET_ROW, "MatGetRow", RIBBON_ENTRIES},
  {MATOP_NORM, "MatNorm", RIBBON_ENTRIES},
  {MATOP_AXPY, "MatAXPY", "MatConvert() to type shell, which adds operators, or " RIBBON_ENTRIES},
  {MATOP_DIAGONAL_SET, "MatDiagonalSet", "MatConvert() to type shell, which adds diagonals"},
  {MATOP_DIAGONAL_SCALE, "MatDiagonalScale", "MatConvert() to type shell, which scales operators"},
  {MATOP_TRANSPOSE, "MatTranspose", "MatCreateTranspose(), which multiplies by the transpose"},
  {MATOP_ZERO_ENTRIES, "MatZeroEntries",
   "MatScale() with 0; an implicit time step needs a matrix of type aij"}};
#undef RIBBON_ENTRIES

static constexpr const NeedsEntries *row_of(MatOperation operation)
{
  for (const NeedsEntries &row : needs_entries)
    if (row.operation == operation) return &row;
  return nullptr;
}

template <MatOperation operation, class... Args>
static PetscErrorCode Refused(Mat A, Args...)
{
  constexpr const NeedsEntries *row = row_of(operation);
  PetscFunctionBegin;
  A->assembled  = PETSC_TRUE; // MatSetValues() has reset it
  A->insertmode = NOT_SET_VALUES;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "%s: Mat compact stores no entries: call %s",
          row->function, row->instead);
}

static PetscErrorCode MatHasOperation_Compact(Mat A, MatOperation operation, PetscBool *has)
{
  PetscFunctionBegin;
  *has = static_cast<PetscBool>(reinterpret_cast<void **>(A->ops)[operation] && !row_of(operation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ribbon::petsc::SetCompactOperations(Mat A)
{
  A->ops->setvalues       = Refused<MATOP_SET_VALUES>;
  A->ops->getrow          = Refused<MATOP_GET_ROW>;
  A->ops->norm            = Refused<MATOP_NORM>;
  A->ops->axpy            = Refused<MATOP_AXPY>;
  A->ops->diagonalset     = Refused<MATOP_DIAGONAL_SET>;
  A->ops->diagonalscale   = Refused<MATOP_DIAGONAL_SCALE>;
  A->ops->transpose       = Refused<MATOP_TRANSPOSE>;
  A->ops->zeroentries     = Refused<MATOP_ZERO_ENTRIES>;
  A->ops->hasoperation    = MatHasOperation_Compact;
  A->ops->duplicate       = MatDuplicate_Compact;
  A->ops->copy            = MatCopy_Compact;
  A->ops->convert         = MatConvert_Compact;
  A->ops->createsubmatrix = MatCreateSubMatrix_Compact;
}
