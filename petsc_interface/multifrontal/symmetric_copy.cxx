// SPDX-License-Identifier: BSD-2-Clause
#include "symmetric_copy.hpp"

#include "../support/csr.hpp"

#include <algorithm>
#include <tuple>

namespace ribbon::petsc {

namespace {

/// The blocks of an AIJ matrix with the rows of this rank.
struct Blocks {
  /// far: columns of other ranks; null for types of one rank
  Mat             near = nullptr, far = nullptr;
  const PetscInt *far_columns = nullptr; ///< their global numbers
  PetscInt        first = 0, end = 0;
  HostRows        near_rows, far_rows;
};

PetscErrorCode OpenBlocks(Mat aij, Blocks *b)
{
  PetscBool mpi;
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)aij, MATMPIAIJ, &mpi));
  PetscCall(MatGetOwnershipRange(aij, &b->first, &b->end));
  b->near = aij;
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(aij, &b->near, &b->far, &b->far_columns));
  PetscCall(GetHostRows(b->near, false, &b->near_rows));
  if (b->far) PetscCall(GetHostRows(b->far, false, &b->far_rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode CloseBlocks(Blocks *b)
{
  PetscFunctionBegin;
  PetscCall(RestoreHostRows(b->near, &b->near_rows));
  if (b->far) PetscCall(RestoreHostRows(b->far, &b->far_rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// False if an entry below the diagonal has no entry to mirror.
bool mirror(const HostRows &rows, std::vector<PetscInt> &from)
{
  from.resize(static_cast<std::size_t>(rows.rows > 0 ? rows.row_begin[rows.rows] : 0));
  for (PetscInt r = 0; r < rows.rows; ++r)
    for (PetscInt e = rows.row_begin[r]; e < rows.row_begin[r + 1]; ++e) {
      const PetscInt c = rows.column[e];
      PetscInt       k = e;
      if (c < r) {
        const PetscInt *const end = rows.column + rows.row_begin[c + 1], *const at = std::lower_bound(
                                                                           rows.column + rows.row_begin[c],
                                                                           end, r);
        if (at == end || *at != r) return false;
        k = static_cast<PetscInt>(at - rows.column);
      }
      from[static_cast<std::size_t>(e)] = k;
    }
  return true;
}

/// Entries in columns of other ranks, in the order in which they are sent.
/// @param upper  entries of the upper triangle
std::vector<PetscInt> in_order(const Blocks &b, const PetscInt *starts, int size, bool upper,
                               std::vector<PetscMPIInt> &count)
{
  // rank, column and row of the upper triangle, place
  std::vector<std::tuple<int, PetscInt, PetscInt, PetscInt>> all;
  for (PetscInt r = 0; b.far && r < b.far_rows.rows; ++r)
    for (PetscInt e = b.far_rows.row_begin[r]; e < b.far_rows.row_begin[r + 1]; ++e) {
      const PetscInt c = b.far_columns[b.far_rows.column[e]], row = b.first + r;
      if ((c >= b.end) != upper) continue;
      const int rank = static_cast<int>(std::upper_bound(starts, starts + size + 1, c) - starts) - 1;
      all.emplace_back(rank, upper ? c : row, upper ? row : c, e);
    }
  std::sort(all.begin(), all.end());
  std::vector<PetscInt> places;
  count.assign(static_cast<std::size_t>(size), 0);
  for (const auto &[rank, column, row, place] : all)
    ++count[static_cast<std::size_t>(rank)], places.push_back(place);
  return places;
}

std::vector<PetscMPIInt> starts_of(const std::vector<PetscMPIInt> &counts)
{
  std::vector<PetscMPIInt> starts{0};
  for (PetscMPIInt n : counts) starts.push_back(starts.back() + n);
  return starts;
}

PetscErrorCode Make(Mat A, const Blocks &b, SymmetricCopy *copy)
{
  const MPI_Comm           comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt              size;
  const PetscInt          *starts;
  std::vector<PetscMPIInt> told;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatGetOwnershipRanges(A, &starts));
  int usable = 1;
  if (b.near_rows.rows != b.end - b.first || !mirror(b.near_rows, copy->near_from)) usable = 0;
  copy->sent     = in_order(b, starts, size, true, copy->send_count);
  copy->received = in_order(b, starts, size, false, copy->count);
  told.resize(static_cast<std::size_t>(size));
  PetscCallMPI(MPI_Alltoall(copy->send_count.data(), 1, MPI_INT, told.data(), 1, MPI_INT, comm));
  if (told != copy->count) usable = 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &usable, 1, MPI_INT, MPI_LAND, comm));
  copy->send_start = starts_of(copy->send_count), copy->start = starts_of(copy->count);
  copy->send.resize(copy->sent.size()), copy->receive.resize(copy->received.size());
  copy->is_made = true, copy->is_usable = usable != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Reads the entries [begin, end) of a row from A.
/// @param global  global number of a column
template <class Global>
PetscErrorCode Ask(Mat A, PetscInt row, const PetscInt *column, PetscInt begin, PetscInt end,
                   const Global &global, SymmetricCopy *copy, PetscScalar *to)
{
  PetscFunctionBegin;
  if (begin == end) PetscFunctionReturn(PETSC_SUCCESS);
  copy->columns.clear();
  for (PetscInt e = begin; e < end; ++e) copy->columns.push_back(global(column[e]));
  PetscCall(MatGetValues(A, 1, &row, end - begin, copy->columns.data(), to + begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode CopySymmetric(Mat A, Mat aij, SymmetricCopy *copy, bool *is_done)
{
  Blocks       b;
  PetscScalar *near = nullptr, *far = nullptr;
  PetscBool    is_known, is_hermitian;
  PetscFunctionBegin;
  PetscCall(MatIsHermitianKnown(A, &is_known, &is_hermitian));
  const auto mirrored = [&](PetscScalar a) { return is_known && is_hermitian ? PetscConj(a) : a; };
  PetscCall(OpenBlocks(aij, &b));
  if (!copy->is_made) PetscCall(Make(A, b, copy));
  *is_done = copy->is_usable;
  if (*is_done) {
    PetscCall(MatSeqAIJGetArrayWrite(b.near, &near));
    if (b.far) PetscCall(MatSeqAIJGetArrayWrite(b.far, &far));
    for (PetscInt r = 0; r < b.near_rows.rows; ++r) {
      const PetscInt *column = b.near_rows.column, begin = b.near_rows.row_begin[r],
                     end = b.near_rows.row_begin[r + 1];
      PetscCall(Ask(
        A, b.first + r, column,
        static_cast<PetscInt>(std::lower_bound(column + begin, column + end, r) - column), end,
        [&](PetscInt c) { return b.first + c; }, copy, near));
      if (!b.far) continue;
      column                 = b.far_rows.column;
      PetscInt       behind  = b.far_rows.row_begin[r];
      const PetscInt far_end = b.far_rows.row_begin[r + 1];
      while (behind < far_end && b.far_columns[column[behind]] < b.first) ++behind;
      PetscCall(Ask(
        A, b.first + r, column, behind, far_end, [&](PetscInt c) { return b.far_columns[c]; }, copy, far));
    }
    for (std::size_t e = 0; e < copy->near_from.size(); ++e)
      if (const auto from = static_cast<std::size_t>(copy->near_from[e]); from != e)
        near[e] = mirrored(near[from]);
    for (std::size_t k = 0; k < copy->sent.size(); ++k) copy->send[k] = mirrored(far[copy->sent[k]]);
    PetscCallMPI(MPI_Alltoallv(copy->send.data(), copy->send_count.data(), copy->send_start.data(),
                               MPIU_SCALAR, copy->receive.data(), copy->count.data(), copy->start.data(),
                               MPIU_SCALAR, PetscObjectComm((PetscObject)A)));
    for (std::size_t k = 0; k < copy->received.size(); ++k) far[copy->received[k]] = copy->receive[k];
    if (b.far) PetscCall(MatSeqAIJRestoreArrayWrite(b.far, &far));
    PetscCall(MatSeqAIJRestoreArrayWrite(b.near, &near));
  }
  PetscCall(CloseBlocks(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
