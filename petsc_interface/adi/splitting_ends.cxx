// SPDX-License-Identifier: BSD-2-Clause
// Differences at the ends of the lines of a splitting (docs/methods/adi.md#functions-of-time).
#include "splitting.hpp"

#include "../support/native_vectors.hpp"

namespace ribbon::petsc {

namespace {

/// A row at the end of a line, and its difference: columns and weights.
struct EndRow {
  PetscInt    row = 0, size = 0, column[3] = {};
  PetscScalar weight[3] = {};

  void add(PetscInt at, PetscScalar w) { column[size] = at, weight[size++] = w; }
};

} // namespace

/// A row is at an end if the grid has no element behind it, and J no coupling there (around a ring). Without a grid,
/// if all couplings are on one side.
PetscErrorCode DirectionSplitting::line_ends(int d, Vec U, Mat *E) const
{
  const int       axis = at(d).axis, components = grid_.components();
  const Mat       of = at(d).A ? at(d).A : rows_;
  const PetscInt *columns;
  Mat             block[2];
  HostRows        rows[2];
  PetscInt        first, n, all;
  PetscBool       is_native, bound;
  PetscFunctionBegin;
  *E = nullptr;
  PetscCall(GetBlocks(of, block, &columns));
  PetscCall(MatGetOwnershipRange(of, &first, nullptr));
  PetscCall(MatGetLocalSize(of, &n, nullptr));
  PetscCall(MatGetSize(of, &all, nullptr));
  const auto is_algebraic = [&](PetscInt row) { // of this rank
    return row >= first && row < first + n && !is_algebraic_.empty() &&
           is_algebraic_[static_cast<std::size_t>(row - first)];
  };
  for (int b = 0; b < 2; ++b)
    if (block[b]) PetscCall(GetHostRows(block[b], false, &rows[b]));
  std::vector<EndRow>   ends;
  std::vector<PetscInt> here(static_cast<std::size_t>(n), 0), there(here);
  for (PetscInt r = 0; r < n; ++r) {
    const PetscInt row       = first + r;
    PetscInt       inside[2] = {-1, -1}; // the neighbours at the offsets -1 and 1
    if (is_algebraic(row)) continue;
    for (int b = 0; b < 2; ++b)
      for (PetscInt k = block[b] ? rows[b].row_begin[r] : 0; block[b] && k < rows[b].row_begin[r + 1]; ++k) {
        const PetscInt column = b == 0 ? first + rows[0].column[k] : columns[rows[1].column[k]];
        PetscInt       offset;
        if (column == row || (column - row) % components != 0) continue;
        const int along = grid_.direction(row, column, &offset);
        if (!grid_.dm() || (along == axis && PetscAbsInt(offset) == 1)) inside[offset > 0] = column;
      }
    if ((inside[0] < 0) == (inside[1] < 0)) continue;
    const PetscInt ahead = inside[1] >= 0 ? 1 : -1, v1 = inside[ahead > 0];
    if (grid_.dm() && grid_.along(row, axis, -ahead) >= 0) continue; // J stores couplings of one side only
    const PetscInt v2 = grid_.along(row, axis, 2 * ahead);
    EndRow         end;
    if (is_algebraic(v1)) continue;
    const bool both = v2 >= 0 && !is_algebraic(v2);
    end.row         = row;
    end.add(row, 1);
    end.add(v1, both ? -2 : -1);
    if (both) end.add(v2, 1);
    here[static_cast<std::size_t>(r)]  = PetscMin(end.size, n); // PETSc refuses more than there are columns
    there[static_cast<std::size_t>(r)] = PetscMin(end.size, all - n);
    ends.push_back(end);
  }
  for (int b = 0; b < 2; ++b)
    if (block[b]) PetscCall(RestoreHostRows(block[b], &rows[b]));
  int some = !ends.empty();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, comm()));
  if (!some) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)U, &is_native, VECSEQ, VECMPI, VECSTANDARD, ""));
  PetscCall(MatCreate(comm(), E));
  PetscCall(MatSetSizes(*E, n, n, all, all));
  PetscCall(MatSetType(*E, is_native ? MATAIJ : ((PetscObject)of)->type_name));
  PetscCall(MatSeqAIJSetPreallocation(*E, 0, here.data()));
  PetscCall(MatMPIAIJSetPreallocation(*E, 0, here.data(), 0, there.data()));
  for (const EndRow &end : ends)
    PetscCall(MatSetValues(*E, 1, &end.row, end.size, end.column, end.weight, INSERT_VALUES));
  PetscCall(MatSetOption(*E, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(*E, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*E, MAT_FINAL_ASSEMBLY));
  PetscCall(IsBoundToHost(of, &bound));
  if (bound && !is_native) PetscCall(MatBindToCPU(*E, PETSC_TRUE));
  PetscCall(CheckIsMultiplied(*E, U, "TS adi"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
