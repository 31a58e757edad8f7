// SPDX-License-Identifier: BSD-2-Clause
#include "line_rest.hpp"

#include "../csr.hpp"
#include "../lines/places.hpp"

namespace ribbon::petsc {

PetscErrorCode LineRest::takes(Mat A, PetscBool *takes)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, takes, MATSEQAIJ, MATMPIAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineRest::make(Mat A, const LineRequest &request)
{
  Mat                       block = A, off;
  const PetscInt           *columns;
  HostRows                  rows;
  PetscInt                  m, n, M, N;
  std::vector<std::int64_t> lengths;
  std::vector<Place>        places;
  // the entries that are taken, negative
  const auto copy = [](const HostRows &from, Rows *to, const auto &is_taken, const auto &column_of) {
    *to = Rows();
    to->begin.reserve(static_cast<std::size_t>(from.rows) + 1), to->begin.push_back(0);
    for (std::int64_t row = 0; row < from.rows; ++row) {
      for (PetscInt e = from.row_begin[row]; e < from.row_begin[row + 1]; ++e)
        if (from.value[e] != Scalar(0) && is_taken(row, from.column[e])) to->column.push_back(column_of(from.column[e])), to->value.push_back(-reinterpret_cast<const PetscScalar &>(from.value[e]));
      to->begin.push_back(static_cast<PetscInt>(to->column.size()));
    }
  };
  PetscFunctionBegin;
  PetscCall(reset());
  PetscCall(GetOffProcessBlock(A, &off, &columns));
  if (off) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, nullptr, nullptr));
  PetscCall(GetHostRows(block, true, &rows));
  PetscCallCXX(places = places_of(request.direction, rows.rows, &lengths));
  PetscCallCXX(copy(
    rows, &own_, [&](std::int64_t row, PetscInt column) { return !on_line(places[static_cast<std::size_t>(row)], places[static_cast<std::size_t>(column)], request.direction, request.half_bandwidth, request.periodic); },
    [](PetscInt column) { return column; }));
  PetscCall(RestoreHostRows(block, &rows));
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  if (!off) {
    PetscCall(MatCreateSeqAIJWithArrays(PetscObjectComm((PetscObject)A), m, n, own_.begin.data(), own_.column.data(), own_.value.data(), &minus_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetHostRows(off, true, &rows));
  PetscCallCXX(copy(
    rows, &others_, [](std::int64_t, PetscInt) { return true; }, [&](PetscInt column) { return columns[column]; }));
  PetscCall(RestoreHostRows(off, &rows));
  PetscCall(
    MatCreateMPIAIJWithSplitArrays(PetscObjectComm((PetscObject)A), m, n, M, N, own_.begin.data(), own_.column.data(), own_.value.data(), others_.begin.data(), others_.column.data(), others_.value.data(), &minus_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineRest::reset()
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&minus_));
  own_ = others_ = Rows();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineRest::residual(Vec b, Vec x, Vec r) const
{
  PetscFunctionBegin;
  PetscCall(MatMultAdd(minus_, x, b, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
