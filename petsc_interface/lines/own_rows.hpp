// SPDX-License-Identifier: BSD-2-Clause
/// @file own_rows.hpp  The rows of a parallel AIJ matrix that this rank owns, and rows that ranks send.
#pragma once

#include "../support/csr.hpp"
#include "parcels.hpp"

#include <algorithm>

namespace ribbon::petsc {

/// The rows of this rank, in the two blocks in which PETSc stores them.
class OwnRows {
public:
  PetscErrorCode Open(Mat A)
  {
    PetscInt count, before;
    PetscFunctionBegin;
    PetscCall(MatMPIAIJGetSeqAIJ(A, &blocks_[0], &blocks_[1], &others_));
    PetscCall(MatGetSize(blocks_[1], nullptr, &count));
    PetscCall(MatGetOwnershipRange(A, &before, nullptr));
    count_ = count,
    lower_ = static_cast<PetscInt>(std::lower_bound(others_, others_ + count, before) - others_);
    PetscCall(GetHostRows(blocks_[0], true, &inside_));
    PetscCall(GetHostRows(blocks_[1], true, &outside_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Close()
  {
    PetscFunctionBegin;
    PetscCall(RestoreHostRows(blocks_[0], &inside_));
    PetscCall(RestoreHostRows(blocks_[1], &outside_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscInt rows() const { return static_cast<PetscInt>(inside_.rows); }
  PetscInt entries() const { return inside_.row_begin[rows()] + outside_.row_begin[rows()]; }
  /// Columns of other ranks in which these rows have entries, ascending, and their count.
  const PetscInt *others() const { return others_; }
  PetscInt        count_of_others() const { return count_; }

  /// Calls f(own, k, value) for the entries of a row in the order of their columns: column k of this rank, or
  /// column others()[k].
  template <class F>
  void each(PetscInt row, const F &f) const
  {
    PetscInt       o     = outside_.row_begin[row];
    const PetscInt o_end = outside_.row_begin[row + 1];
    for (; o < o_end && outside_.column[o] < lower_; ++o) f(false, outside_.column[o], outside_.value[o]);
    for (PetscInt e = inside_.row_begin[row]; e < inside_.row_begin[row + 1]; ++e)
      f(true, inside_.column[e], inside_.value[e]);
    for (; o < o_end; ++o) f(false, outside_.column[o], outside_.value[o]);
  }

private:
  Mat             blocks_[2] = {nullptr, nullptr};
  const PetscInt *others_    = nullptr;
  PetscInt        count_ = 0, lower_ = 0; ///< of the columns of other ranks; of those before the own ones
  HostRows        inside_, outside_;
};

/// Rows from every rank, in the order of ranks.
struct SentRows {
  Parcels<PetscInt> length, column;
  Parcels<Scalar>   value;
};

/// Sends rows of this rank to others. Collective.
/// @param rows    of this rank, for every rank
/// @param column  column(row, own, k): the column to send for that of OwnRows::each(); negative: no entry
template <class Column>
PetscErrorCode SendRows(MPI_Comm comm, const OwnRows &matrix, const Parcels<PetscInt> &rows,
                        const Column &column, SentRows *got)
{
  SentRows sent;
  PetscFunctionBegin;
  for (std::size_t r = 0; r + 1 < rows.begin.size(); ++r) {
    for (PetscMPIInt k = rows.begin[r]; k < rows.begin[r + 1]; ++k) {
      const PetscInt    row    = rows.data[static_cast<std::size_t>(k)];
      const std::size_t before = sent.column.data.size();
      matrix.each(row, [&](bool own, PetscInt c, Scalar value) {
        const PetscInt to = column(row, own, c);
        if (to < 0) return;
        sent.column.data.push_back(to);
        sent.value.data.push_back(value);
      });
      sent.length.data.push_back(static_cast<PetscInt>(sent.column.data.size() - before));
    }
    PetscCall(sent.length.EndRank());
    PetscCall(sent.column.EndRank());
    PetscCall(sent.value.EndRank());
  }
  PetscCall(Exchange(comm, sent.length, &got->length));
  PetscCall(Exchange(comm, sent.column, &got->column));
  PetscCall(Exchange(comm, sent.value, &got->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
