// SPDX-License-Identifier: BSD-2-Clause
#include "rest.hpp"

#include "../support/csr.hpp"
#include "../lines/places.hpp"
#include "../support/session.hpp"
#include "sweep.hpp"

#include <algorithm>

namespace ribbon::petsc {

/// The rows from which entries are copied.
struct LineRest::Reading {
  HostRows own, others;
  bool     has_others = false;
};

PetscErrorCode LineRest::takes(Mat A, PetscBool *takes)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, takes, MATSEQAIJ, MATMPIAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Copies the rows of the groups of one direction, which are ordered in each group.
PetscErrorCode LineRest::CopyDirection(const Reading &from, const std::vector<LineGroup> &groups,
                                       std::size_t direction)
{
  std::vector<Place>        places(static_cast<std::size_t>(from.own.rows));
  std::vector<std::int64_t> lengths;
  std::vector<std::size_t>  group_of; // of each line
  const LineRequest        *request = nullptr;
  std::vector<PetscInt>     along; // sorted entries in columns of other ranks that are on lines
  PetscFunctionBegin;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const LineBatch &batch : groups[g].batches) {
      if (groups[g].direction != direction) continue;
      enter_places(batch.request.direction, &places, &lengths);
      group_of.resize(lengths.size(), g);
      request = &batch.request;
    }
  if (!request) PetscFunctionReturn(PETSC_SUCCESS);
  if (request->outside)
    for (const OutsideEntry &e : *request->outside)
      if (std::abs(e.distance) <= request->half_bandwidth) along.push_back(e.entry);
  for (PetscInt row = 0; row < from.own.rows; ++row) {
    const Place &at = places[static_cast<std::size_t>(row)];
    if (at.line < 0) continue;
    Part &part = parts_[group_of[static_cast<std::size_t>(at.line)]];
    for (PetscInt e = from.own.row_begin[row]; e < from.own.row_begin[row + 1]; ++e) {
      const PetscInt column = from.own.column[e];
      if (from.own.value[e] == Scalar(0) ||
          on_line(at, places[static_cast<std::size_t>(column)], request->direction, request->half_bandwidth,
                  request->periodic))
        continue;
      part.own.column.push_back(column),
        part.own.value.push_back(reinterpret_cast<const PetscScalar &>(from.own.value[e]));
    }
    part.own.close(row);
    const std::size_t before = part.others.column.size();
    for (PetscInt e = from.has_others ? from.others.row_begin[row] : 0;
         from.has_others && e < from.others.row_begin[row + 1]; ++e)
      if (from.others.value[e] != Scalar(0) && !std::binary_search(along.begin(), along.end(), e))
        part.others.column.push_back(from.others.column[e]),
          part.others.value.push_back(reinterpret_cast<const PetscScalar &>(from.others.value[e]));
    if (part.others.column.size() > before) part.others.close(row);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineRest::MakeScatter(Mat A, PetscInt count, const PetscInt *columns)
{
  IS  is;
  Vec x;
  PetscFunctionBegin;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, count, &ghosts_));
  PetscCall(MatCreateVecs(A, &x, nullptr));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, columns, PETSC_COPY_VALUES, &is));
  PetscCall(VecScatterCreate(x, is, ghosts_, nullptr, &scatter_));
  PetscCall(ISDestroy(&is));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A second solve of a group changes nothing if none of its rows has an entry in another of its rows.
PetscErrorCode LineRest::AskWhatSettles(Mat A)
{
  Vec                marked;
  PetscScalar       *m;
  const PetscScalar *ghosts = nullptr;
  std::vector<int>   couples(parts_.size(), 0);
  PetscMPIInt        count;
  const auto         meets = [](const Rows &rows, const PetscScalar *marks) {
    return std::any_of(rows.column.begin(), rows.column.end(),
                               [marks](PetscInt column) { return marks[column] != PetscScalar(0); });
  };
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &marked, nullptr));
  for (std::size_t g = 0; g < parts_.size(); ++g) {
    PetscCall(VecSet(marked, 0));
    PetscCall(VecGetArray(marked, &m));
    for (PetscInt row : parts_[g].own.row) m[row] = 1;
    couples[g] = meets(parts_[g].own, m);
    PetscCall(VecRestoreArray(marked, &m));
    if (!scatter_) continue;
    PetscCall(VecScatterBegin(scatter_, marked, ghosts_, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter_, marked, ghosts_, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(ghosts_, &ghosts));
    couples[g] = couples[g] || meets(parts_[g].others, ghosts);
    PetscCall(VecRestoreArrayRead(ghosts_, &ghosts));
  }
  PetscCall(VecDestroy(&marked));
  PetscCall(PetscMPIIntCast(static_cast<PetscInt>(couples.size()), &count));
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, couples.data(), count, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  for (std::size_t g = 0; g < parts_.size(); ++g) parts_[g].settles = couples[g] == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineRest::make(Mat A, const std::vector<LineGroup> &groups)
{
  PetscFunctionBegin;
  PetscCall(Logged(&Events::rest, [&] { return Make(A, groups); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineRest::Make(Mat A, const std::vector<LineGroup> &groups)
{
  Mat             block = A, off = nullptr;
  const PetscInt *columns;
  PetscInt        count = 0;
  Reading         from;
  PetscFunctionBegin;
  PetscCall(reset());
  PetscCall(GetOffProcessBlock(A, &off, &columns));
  if (off) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block, nullptr, nullptr));
    PetscCall(MatGetSize(off, nullptr, &count));
    PetscCall(MakeScatter(A, count, columns));
    PetscCall(GetHostRows(off, true, &from.others));
    from.has_others = true;
  }
  PetscCall(GetHostRows(block, true, &from.own));
  PetscCallCXX(parts_.resize(groups.size()));
  for (std::size_t d = 0; d <= groups.back().direction; ++d) PetscCall(CopyDirection(from, groups, d));
  PetscCall(RestoreHostRows(block, &from.own));
  if (off) PetscCall(RestoreHostRows(off, &from.others));
  PetscCall(AskWhatSettles(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineRest::reset()
{
  PetscFunctionBegin;
  PetscCall(VecScatterDestroy(&scatter_));
  PetscCall(VecDestroy(&ghosts_));
  parts_.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::size_t LineRest::bytes() const
{
  std::size_t sum = 0;
  for (const Part &part : parts_) sum += part.own.bytes() + part.others.bytes();
  return sum;
}

PetscErrorCode LineRest::residual(std::size_t g, Vec b, Vec x, Vec r)
{
  const Rows        &own = parts_[g].own, &others = parts_[g].others;
  const PetscScalar *pb, *px, *ghosts;
  PetscScalar       *pr;
  PetscFunctionBegin;
  if (scatter_) PetscCall(VecScatterBegin(scatter_, x, ghosts_, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(b, &pb));
  PetscCall(VecGetArrayRead(x, &px));
  PetscCall(VecGetArray(r, &pr));
  const PetscInt *const    column = own.column.data();
  const PetscScalar *const value  = own.value.data();
  for (std::size_t k = 0; k < own.row.size(); ++k) {
    PetscScalar sum = pb[own.row[k]];
    for (PetscInt e = own.begin[k]; e < own.begin[k + 1]; ++e) sum -= value[e] * px[column[e]];
    pr[own.row[k]] = sum;
  }
  PetscCall(VecRestoreArrayRead(x, &px));
  if (scatter_) {
    PetscCall(VecScatterEnd(scatter_, x, ghosts_, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(ghosts_, &ghosts));
    for (std::size_t k = 0; k < others.row.size(); ++k)
      for (PetscInt e = others.begin[k]; e < others.begin[k + 1]; ++e)
        pr[others.row[k]] -=
          others.value[static_cast<std::size_t>(e)] * ghosts[others.column[static_cast<std::size_t>(e)]];
    PetscCall(VecRestoreArrayRead(ghosts_, &ghosts));
  }
  PetscCall(VecRestoreArray(r, &pr));
  PetscCall(VecRestoreArrayRead(b, &pb));
  PetscCall(PetscLogFlops(2.0 * static_cast<double>(own.value.size() + others.value.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineRest::damp(std::size_t g, PetscReal omega, Vec d, Vec x) const
{
  const PetscScalar *pd;
  PetscScalar       *px;
  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(d, &pd));
  PetscCall(VecGetArray(x, &px));
  for (PetscInt row : parts_[g].own.row) px[row] = (1 - omega) * px[row] + pd[row];
  PetscCall(VecRestoreArray(x, &px));
  PetscCall(VecRestoreArrayRead(d, &pd));
  PetscCall(PetscLogFlops(3.0 * static_cast<double>(parts_[g].own.row.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
