// SPDX-License-Identifier: BSD-2-Clause
#include "format.hpp"
#include "line.hpp"

#include "../lines/host_rows.hpp"

#include <ribbon/reference/sparse.hpp>

#include <cmath>
#include <limits>

namespace ribbon::petsc {

namespace {

/// S(a, b) or T(a, b) of a Kronecker product.
Scalar entry(const KroneckerFactors<Scalar> &f, const std::vector<Scalar> &values, int a, int b)
{
  if (f.coupled) return values[static_cast<std::size_t>(a * f.p + b)];
  return a == b ? values[values.size() == 1 ? 0 : static_cast<std::size_t>(a)] : Scalar(0);
}

/// A row of the block: its line, its element's place along it, its number among the rows of the line.
struct Place {
  std::int64_t line = -1, along = 0, number = 0;
};

/// Places of all rows of a block; rows on no line keep -1. Where lines lie behind each other in one of a LineSet, each is one.
std::vector<Place> places_of(const LineDirection &direction, std::int64_t rows, std::vector<std::int64_t> *lengths)
{
  const LineSet     &lines = direction.lines;
  const std::int64_t size  = direction.components;
  std::vector<Place> places(static_cast<std::size_t>(rows));
  for (std::int64_t l = 0; l < lines.lines(); ++l) {
    std::int64_t part = -1;
    for (std::int64_t i = 0; i < lines.rows; ++i) {
      const std::int64_t place = lines(l, i), element = direction.element ? (*direction.element)[static_cast<std::size_t>(place)] : place;
      if (element < 0) continue;
      const std::int64_t own = direction.part ? (*direction.part)[static_cast<std::size_t>(place)] : 0;
      if (lengths->empty() || own != part || i == 0) lengths->push_back(0);
      part = own;
      for (std::int64_t c = 0; c < size; ++c) places[static_cast<std::size_t>(element * size + c)] = {static_cast<std::int64_t>(lengths->size()) - 1, i, lengths->back()++};
    }
  }
  return places;
}

} // namespace

PetscErrorCode LineReference::create(const LineSource &source, PetscInt rbegin, const LineRequest &request, std::unique_ptr<LineReference> *reference)
{
  const LineDirection            &direction = request.direction;
  const KroneckerFactors<Scalar> &f         = source.factors;
  HostRows                        A;
  PetscFunctionBegin;
  PetscCallCXX(*reference = std::make_unique<LineReference>());
  LineReference &r = **reference;
  r.omega_ = request.omega, r.begin_ = static_cast<std::int64_t>(rbegin) * f.p;
  PetscCall(GetHostRows(source.block, true, &A));
  std::vector<std::int64_t> lengths;
  const std::vector<Place>  places = places_of(direction, A.rows, &lengths);
  r.lines_.resize(lengths.size());
  for (std::size_t l = 0; l < lengths.size(); ++l) r.lines_[l].at.resize(static_cast<std::size_t>(lengths[l] * f.p)), r.lines_[l].rows.resize(r.lines_[l].at.size());
  for (std::int64_t row = 0; row < A.rows; ++row) {
    const Place &own = places[static_cast<std::size_t>(row)];
    if (own.line < 0) continue;
    OneLine   &line = r.lines_[static_cast<std::size_t>(own.line)];
    const auto add  = [&](const Place &column, const Scalar &value, const std::vector<Scalar> &factors) {
      for (int c = 0; c < f.p; ++c)
        for (int d = 0; d < f.p; ++d) {
          const Scalar v = value * entry(f, factors, c, d);
          if (v != Scalar(0)) line.rows[static_cast<std::size_t>(own.number * f.p + c)].emplace_back(column.number * f.p + d, v);
        }
    };
    for (int c = 0; c < f.p; ++c) line.at[static_cast<std::size_t>(own.number * f.p + c)] = static_cast<std::size_t>(row) * static_cast<std::size_t>(f.p) + static_cast<std::size_t>(c);
    if (source.kronecker) add(own, Scalar(1), f.S);
    for (PetscInt e = A.row_begin[row]; e < A.row_begin[row + 1]; ++e) {
      const Place       &column   = places[static_cast<std::size_t>(A.column[e])];
      const std::int64_t straight = std::abs(own.along - column.along), distance = request.periodic ? std::min(straight, direction.lines.rows - straight) : straight;
      if (column.line == own.line && distance <= request.half_bandwidth) add(column, A.value[e], f.T);
    }
  }
  PetscCall(RestoreHostRows(source.block, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineReference::keep(Vec b)
{
  const PetscScalar *a;
  PetscInt           n;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetArrayRead(b, &a));
  PetscCallCXX(kept_.assign(a, a + n));
  PetscCall(VecRestoreArrayRead(b, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineReference::compare(Vec x, bool transposed)
{
  const PetscScalar *a;
  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(compare(kept_.data(), a, transposed));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineReference::compare(const PetscScalar *b, const PetscScalar *x, bool transposed)
{
  PetscFunctionBegin;
  for (std::size_t l = 0; l < lines_.size(); ++l) PetscCallCXX(compare_line(l, b, x, transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void LineReference::compare_line(std::size_t line, const PetscScalar *b, const PetscScalar *x, bool transposed)
{
  const std::vector<Row>         &own      = lines_[line].rows;
  const std::vector<std::size_t> &position = lines_[line].at;
  std::vector<Row>                turned(transposed ? own.size() : 0);
  std::vector<Scalar>             right(own.size());
  for (std::size_t u = 0; u < own.size(); ++u) {
    right[u] = reinterpret_cast<const Scalar &>(b[position[u]]) * Scalar(omega_);
    if (transposed)
      for (const auto &[column, value] : own[u]) turned[static_cast<std::size_t>(column)].emplace_back(static_cast<std::int64_t>(u), value);
  }
  std::vector<Scalar> wanted  = reference::solve(transposed ? turned : own, right);
  const bool          regular = !wanted.empty();
  double              largest = 0, size = -1;
  std::size_t         at = 0;
  if (!regular) wanted.assign(own.size(), Scalar(std::numeric_limits<real_t<Scalar>>::quiet_NaN()));
  for (const Scalar &w : wanted) largest = std::max(largest, static_cast<double>(magnitude(w)));
  for (std::size_t u = 0; u < wanted.size(); ++u) {
    const double difference = static_cast<double>(magnitude(reinterpret_cast<const Scalar &>(x[position[u]]) - wanted[u]));
    const double relative   = std::isfinite(difference) ? (difference == 0 ? 0 : difference / largest) : std::numeric_limits<double>::infinity();
    if (relative > size) size = relative, at = u;
  }
  if (size <= worst.size) return;
  worst = {size, begin_ + static_cast<std::int64_t>(position[at]), static_cast<std::int64_t>(line), static_cast<double>(PetscRealPart(x[position[at]])),
           static_cast<double>(PetscRealPart(reinterpret_cast<const PetscScalar &>(wanted[at])))};
}

PetscErrorCode CompareColumns(PC_Line *line, Mat B, Mat X, bool transposed)
{
  const PetscScalar *b, *x;
  PetscInt           columns, ldb, ldx;
  PetscFunctionBegin;
  if (!line->compare) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(B, nullptr, &columns));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(X, &ldx));
  PetscCall(MatDenseGetArrayRead(B, &b));
  PetscCall(MatDenseGetArrayRead(X, &x));
  for (PetscInt c = 0; c < columns; ++c)
    for (const LineBatch &batch : line->sweep.groups[0].batches) {
      const auto column = static_cast<std::size_t>(c);
      PetscCall(batch.reference->compare(b + column * static_cast<std::size_t>(ldb), x + column * static_cast<std::size_t>(ldx), transposed));
    }
  PetscCall(MatDenseRestoreArrayRead(X, &x));
  PetscCall(MatDenseRestoreArrayRead(B, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrintComparison(PC pc, PC_Line *line)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  LineDifference worst;
  std::string    text, direction;
  PetscMPIInt    rank;
  PetscFunctionBegin;
  if (!line->compare || !line->failure.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  for (LineGroup &group : line->sweep.groups)
    for (LineBatch &batch : group.batches) {
      LineDifference &found = batch.reference->worst;
      if (found.size > worst.size) worst = found, direction = batch.request.direction.name;
      found = LineDifference();
    }
  struct {
    double size;
    int    rank;
  } place;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  place.size = worst.size, place.rank = rank;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &place, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm));
  const char *prefix = ((PetscObject)pc)->prefix;
  if (rank == place.rank)
    text = format("PC line -%spc_line_compare: application %lld differs from the serial reference by %.1e of the line's largest number at most: row %lld (line %lld of rank %d along %s) has %.17g instead of %.17g",
                  prefix ? prefix : "", static_cast<long long>(line->compared), worst.size, static_cast<long long>(worst.row), static_cast<long long>(worst.line), (int)rank, direction.c_str(), worst.value, worst.wanted);
  ++line->compared;
  std::vector<char> all(512, '\0'); // rank 0 prints
  text.copy(all.data(), all.size() - 1);
  PetscCallMPI(MPI_Bcast(all.data(), static_cast<PetscMPIInt>(all.size()), MPI_CHAR, place.rank, comm));
  if (place.size >= 0) PetscCall(PetscPrintf(comm, "%s\n", all.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
