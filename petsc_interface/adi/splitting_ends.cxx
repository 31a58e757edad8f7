// SPDX-License-Identifier: BSD-2-Clause
// Differences at the ends of the lines of a splitting (docs/methods/adi.md#functions-of-time).
#include "splitting.hpp"

#include "../support/csr.hpp"

namespace ribbon::petsc {

namespace {

/// A row at the end of a line, and its difference: columns and weights.
struct EndRow {
  PetscInt    row = 0, size = 0, column[3] = {};
  PetscScalar weight[3] = {};

  void add(PetscInt at, PetscScalar w) { column[size] = at, weight[size++] = w; }
};

} // namespace

PetscErrorCode DirectionSplitting::line_ends(int d, Mat *E) const
{
  const int       axis = at(d).axis, components = grid_.components();
  const Mat       of = at(d).A ? at(d).A : rows_;
  const PetscInt *columns;
  Mat             block[2];
  HostRows        rows[2];
  PetscInt        first, n, all;
  PetscBool       bound;
  PetscFunctionBegin;
  *E = nullptr;
  PetscCall(GetBlocks(of, block, &columns));
  PetscCall(MatGetOwnershipRange(of, &first, nullptr));
  PetscCall(MatGetLocalSize(of, &n, nullptr));
  PetscCall(MatGetSize(of, &all, nullptr));
  for (int b = 0; b < 2; ++b)
    if (block[b]) PetscCall(GetHostRows(block[b], false, &rows[b]));
  std::vector<EndRow>   ends;
  std::vector<PetscInt> counts(static_cast<std::size_t>(n), 0);
  for (PetscInt r = 0; r < n; ++r) {
    PetscInt inside[2] = {-1, -1}; // the neighbours at the offsets -1 and 1
    if (!is_algebraic_.empty() && is_algebraic_[static_cast<std::size_t>(r)]) continue;
    for (int b = 0; b < 2; ++b)
      for (PetscInt k = block[b] ? rows[b].row_begin[r] : 0; block[b] && k < rows[b].row_begin[r + 1]; ++k) {
        const PetscInt column = b == 0 ? first + rows[0].column[k] : columns[rows[1].column[k]];
        PetscInt       offset;
        if ((column - first - r) % components == 0 && grid_.direction(first + r, column, &offset) == axis &&
            PetscAbsInt(offset) == 1)
          inside[offset > 0] = column;
      }
    if ((inside[0] < 0) == (inside[1] < 0)) continue;
    const bool     ahead = inside[1] >= 0;
    const PetscInt next  = grid_.along(first + r, axis, ahead ? 2 : -2);
    EndRow         end;
    end.row = first + r;
    end.add(first + r, 1);
    end.add(inside[ahead], next < 0 ? -1 : -2);
    if (next >= 0) end.add(next, 1);
    counts[static_cast<std::size_t>(r)] = end.size;
    ends.push_back(end);
  }
  for (int b = 0; b < 2; ++b)
    if (block[b]) PetscCall(RestoreHostRows(block[b], &rows[b]));
  int some = !ends.empty();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, comm()));
  if (!some) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreate(comm(), E));
  PetscCall(MatSetSizes(*E, n, n, all, all));
  PetscCall(MatSetType(*E, ((PetscObject)of)->type_name));
  PetscCall(MatSeqAIJSetPreallocation(*E, 0, counts.data()));
  PetscCall(MatMPIAIJSetPreallocation(*E, 0, counts.data(), 0, counts.data()));
  for (const EndRow &end : ends)
    PetscCall(MatSetValues(*E, 1, &end.row, end.size, end.column, end.weight, INSERT_VALUES));
  PetscCall(MatSetOption(*E, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(*E, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*E, MAT_FINAL_ASSEMBLY));
  PetscCall(IsBoundToHost(of, &bound));
  if (bound) PetscCall(MatBindToCPU(*E, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
