// SPDX-License-Identifier: BSD-2-Clause
#include "rows_of_label.hpp"

#include "../support/format.hpp"
#include "../support/session.hpp"

#include <petscdmplex.h>

#include <algorithm>

namespace ribbon::petsc {

namespace {

/// The points of a mesh, the rows of each, and the points of one value of a label.
class Mesh {
public:
  PetscErrorCode open(DM dm)
  {
    PetscFunctionBegin;
    dm_ = dm;
    PetscCall(DMPlexGetChart(dm, &begin_, &end_));
    PetscCall(DMGetGlobalSection(dm, &section_));
    PetscCall(PetscSectionGetChart(section_, &first_, &last_));
    PetscCallCXX(value_.assign(static_cast<std::size_t>(end_ - begin_), none));
    PetscCallCXX(visited_.assign(value_.size(), 0));
    for (PetscInt p = begin_; p < end_; ++p) {
      PetscInt first, count;
      PetscCall(rows_of(p, &first, &count));
      if (count < 0) value_[at(p)] = elsewhere;
      else rows_ += count;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscInt rows() const { return rows_; } ///< of this rank

  /// First row of a point, and the number of its rows; -1 if another rank has them.
  PetscErrorCode rows_of(PetscInt point, PetscInt *first, PetscInt *count) const
  {
    PetscInt fixed;
    PetscFunctionBegin;
    *first = *count = 0;
    if (point < first_ || point >= last_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscSectionGetDof(section_, point, count)); // n unknowns of another rank: -(n + 1)
    if (*count < 0) {
      *count = *count < -1 ? -1 : 0;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PetscSectionGetOffset(section_, point, first));
    PetscCall(PetscSectionGetConstraintDof(section_, point, &fixed));
    *count -= fixed;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Takes the points of a value that have rows of this rank. `value`, `other`: numbers of values, from 0;
  /// `other` is one that `point`, one of these points, has, too.
  PetscErrorCode take(PetscInt value, const PetscInt *points, PetscInt n, PetscInt *point, PetscInt *other)
  {
    PetscFunctionBegin;
    now_ = value;
    taken_.clear();
    for (PetscInt k = 0; k < n; ++k) {
      PetscInt first, count;
      PetscCall(rows_of(points[k], &first, &count));
      if (count <= 0) continue;
      PetscInt &before = value_[at(points[k])];
      if (before != none) *point = points[k], *other = before;
      before = value;
      taken_.push_back(points[k]);
    }
    std::sort(taken_.begin(), taken_.end());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The connected parts of the points of the value, each in the order of their distance from an end. A part
  /// may branch.
  PetscErrorCode divide(std::vector<std::vector<PetscInt>> *parts)
  {
    PetscFunctionBegin;
    for (PetscInt first : taken_) {
      if (visited_[at(first)]) continue;
      std::vector<PetscInt> part;
      PetscCall(visit(first, &part));
      const PetscInt end = part.back();
      for (PetscInt p : part) visited_[at(p)] = 0;
      PetscCall(visit(end, &part));
      parts->push_back(part);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static constexpr PetscInt none = -1, elsewhere = -2;

  std::size_t at(PetscInt point) const { return static_cast<std::size_t>(point - begin_); }

  /// Calls f for the points of the next lower and the next higher dimension that touch a point.
  template <class F>
  PetscErrorCode around(PetscInt point, const F &f) const
  {
    const PetscInt *near;
    PetscInt        n;
    PetscFunctionBegin;
    PetscCall(DMPlexGetConeSize(dm_, point, &n));
    PetscCall(DMPlexGetCone(dm_, point, &near));
    for (PetscInt k = 0; k < n; ++k) PetscCall(f(near[k]));
    PetscCall(DMPlexGetSupportSize(dm_, point, &n));
    PetscCall(DMPlexGetSupport(dm_, point, &near));
    for (PetscInt k = 0; k < n; ++k) PetscCall(f(near[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Breadth-first order of the points of the value that are connected with a point: directly, as an edge
  /// with its vertices, or through one point without the value, as two cells through their face. Points whose
  /// rows another rank has connect nothing.
  PetscErrorCode visit(PetscInt start, std::vector<PetscInt> *part)
  {
    PetscFunctionBegin;
    part->assign(1, start);
    visited_[at(start)] = 1;
    const auto add      = [&](PetscInt q) {
      PetscFunctionBegin;
      if (value_[at(q)] == now_ && !visited_[at(q)]) part->push_back(q), visited_[at(q)] = 1;
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    for (std::size_t k = 0; k < part->size(); ++k)
      PetscCall(around((*part)[k], [&](PetscInt q) {
        PetscFunctionBegin;
        PetscCall(add(q));
        if (value_[at(q)] != now_ && value_[at(q)] != elsewhere) PetscCall(around(q, add));
        PetscFunctionReturn(PETSC_SUCCESS);
      }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  DM           dm_      = nullptr;
  PetscSection section_ = nullptr;
  PetscInt     begin_ = 0, end_ = 0;  // points of the mesh
  PetscInt     first_ = 0, last_ = 0; // points of the section
  PetscInt     rows_ = 0, now_ = none;
  // number of the value of each point. none: no value, or no rows; elsewhere: another rank has the rows
  std::vector<PetscInt> value_;
  std::vector<char>     visited_;
  std::vector<PetscInt> taken_; // points of the value now_
};

/// The DMPLEX of the PC, else of its matrix. Collective.
PetscErrorCode GetMesh(PC pc, const std::string &label, DM *mesh, const char **with)
{
  Mat A;
  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, nullptr, &A));
  *mesh = nullptr;
  for (bool of_pc : {true, false}) {
    DM        dm      = nullptr;
    PetscBool is_plex = PETSC_FALSE;
    if (of_pc) PetscCall(PCGetDM(pc, &dm));
    else PetscCall(MatGetDM(A, &dm));
    if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMPLEX, &is_plex));
    if (is_plex && !*mesh) *mesh = dm, *with = of_pc ? "PC" : "matrix";
  }
  PetscCheck(*mesh, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PC line: -pc_line_label %s: neither the PC nor the matrix has a DMPLEX; call PCSetDM()",
             label.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The label, or null on ranks that do not have it: DMSetLabelValue() creates it where it is called. Collective.
PetscErrorCode GetLabel(DM mesh, const std::string &name, DMLabel *label)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)mesh);
  std::string    there, error;
  PetscInt       n;
  int            some;
  PetscFunctionBegin;
  PetscCall(DMGetLabel(mesh, name.c_str(), label));
  some = *label != nullptr;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, comm));
  PetscCall(DMGetNumLabels(mesh, &n));
  for (PetscInt k = 0; k < n; ++k) {
    const char *other;
    PetscCall(DMGetLabelName(mesh, k, &other));
    there += (there.empty() ? "" : ", ") + std::string(other);
  }
  if (!some)
    error = format("PC line: -pc_line_label %s: the DMPLEX has no such label; it has %s", name.c_str(),
                   there.c_str());
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_WRONG, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Adds the lines of value number k, unless one of its points has another value, too: `point`, and number `other`.
PetscErrorCode AddValue(DMLabel label, PetscInt value, PetscInt k, Mesh *mesh, std::vector<PetscInt> *rows,
                        std::vector<PetscInt> *offsets, PetscInt *point, PetscInt *other)
{
  IS                                 stratum;
  const PetscInt                    *points;
  PetscInt                           n;
  std::vector<std::vector<PetscInt>> parts;
  PetscFunctionBegin;
  PetscCall(DMLabelGetStratumIS(label, value, &stratum));
  if (!stratum) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetLocalSize(stratum, &n));
  PetscCall(ISGetIndices(stratum, &points));
  PetscCall(mesh->take(k, points, n, point, other));
  PetscCall(ISRestoreIndices(stratum, &points));
  PetscCall(ISDestroy(&stratum));
  if (*point >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(mesh->divide(&parts));
  for (const std::vector<PetscInt> &part : parts) {
    for (PetscInt p : part) {
      PetscInt first, count;
      PetscCall(mesh->rows_of(p, &first, &count));
      for (PetscInt r = 0; r < count; ++r) rows->push_back(first + r);
    }
    offsets->push_back(static_cast<PetscInt>(rows->size()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values of a label on this rank, ascending; none without a label.
PetscErrorCode GetValues(DMLabel label, std::vector<PetscInt> *values)
{
  IS              is = nullptr;
  const PetscInt *value;
  PetscInt        n;
  PetscFunctionBegin;
  if (label) PetscCall(DMLabelGetValueIS(label, &is));
  if (!is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &value));
  PetscCallCXX(values->assign(value, value + n));
  PetscCall(ISRestoreIndices(is, &value));
  PetscCall(ISDestroy(&is));
  std::sort(values->begin(), values->end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode RowsOfLabel(PC pc, Mat A, const std::string &name, std::vector<PetscInt> *rows,
                           std::vector<PetscInt> *offsets, const char **with)
{
  const MPI_Comm        comm  = PetscObjectComm((PetscObject)pc);
  DM                    dm    = nullptr;
  DMLabel               label = nullptr;
  Mesh                  mesh;
  PetscMPIInt           rank;
  PetscInt              own, all, point = -1, other = 0;
  std::vector<PetscInt> values;
  std::string           error;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(GetMesh(pc, name, &dm, with));
  PetscCall(GetLabel(dm, name, &label));
  PetscCall(mesh.open(dm));
  PetscCall(MatGetLocalSize(A, &own, nullptr));
  if (mesh.rows() != own)
    error = format(
      "PC line: -pc_line_label %s: rank %d: the DMPLEX has %lld unknowns, and the matrix %lld rows",
      name.c_str(), static_cast<int>(rank), static_cast<long long>(mesh.rows()), static_cast<long long>(own));
  rows->clear(), offsets->assign(1, 0);
  PetscCall(GetValues(label, &values));
  for (std::size_t k = 0; k < values.size() && error.empty(); ++k) {
    PetscCall(AddValue(label, values[k], static_cast<PetscInt>(k), &mesh, rows, offsets, &point, &other));
    if (point >= 0)
      error = format("PC line: -pc_line_label %s: rank %d: point %lld has the values %lld and %lld",
                     name.c_str(), static_cast<int>(rank), static_cast<long long>(point),
                     static_cast<long long>(values[static_cast<std::size_t>(other)]),
                     static_cast<long long>(values[k]));
  }
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_INCOMP, error));
  all = static_cast<PetscInt>(rows->size());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPIU_INT, MPI_SUM, comm));
  PetscCheck(all > 0, comm, PETSC_ERR_ARG_INCOMP,
             "PC line: -pc_line_label %s: no point with this label has unknowns", name.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
