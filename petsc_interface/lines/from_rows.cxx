// SPDX-License-Identifier: BSD-2-Clause
// Lines of the application: index sets of their rows, or a label of its mesh.
#include "finders.hpp"
#include "rows_of_label.hpp"

#include "../support/format.hpp"
#include "../support/session.hpp"

#include <numeric>

namespace ribbon::petsc {

namespace {

/// The parts of two index sets on this rank. Without an index set of rows, these are all rows in their
/// order.
struct SaidLines {
  std::vector<PetscInt> rows, offsets;
  PetscInt              begin = 0, end = 0; ///< rows that this rank owns
  PetscMPIInt           rank = 0;

  PetscInt owned() const { return end - begin; }
  /// A sentence that names the first entry that cannot be right; empty: all can.
  std::string complaint() const
  {
    const auto count = static_cast<PetscInt>(rows.size());
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      const PetscInt before = k > 0 ? offsets[k - 1] : 0;
      if (k == 0 && offsets[0] != 0)
        return format("PC line: PCLine_offsets: entry 0 of rank %d is %lld, not 0", rank,
                      static_cast<long long>(offsets[0]));
      if (offsets[k] < before)
        return format(
          "PC line: PCLine_offsets: entry %lld of rank %d is %lld, less than the entry before it, "
          "%lld",
          static_cast<long long>(k), rank, static_cast<long long>(offsets[k]),
          static_cast<long long>(before));
    }
    const PetscInt last = offsets.empty() ? 0 : offsets.back();
    if (last != count)
      return format("PC line: PCLine_offsets: the last entry of rank %d is %lld, but the lines of this rank "
                    "have %lld rows",
                    rank, static_cast<long long>(last), static_cast<long long>(count));
    std::vector<PetscInt> entry_of(static_cast<std::size_t>(owned()), -1);
    for (PetscInt k = 0; k < count; ++k) {
      const PetscInt row = rows[static_cast<std::size_t>(k)];
      if (row < begin || row >= end)
        return format("PC line: PCLine_rows: entry %lld of rank %d is row %lld, but this rank owns rows %lld "
                      "to %lld",
                      static_cast<long long>(k), rank, static_cast<long long>(row),
                      static_cast<long long>(begin), static_cast<long long>(end) - 1);
      PetscInt &earlier = entry_of[static_cast<std::size_t>(row - begin)];
      if (earlier >= 0)
        return format("PC line: PCLine_rows: entries %lld and %lld of rank %d are both row %lld",
                      static_cast<long long>(earlier), static_cast<long long>(k), rank,
                      static_cast<long long>(row));
      earlier = k;
    }
    return "";
  }
  /// Whether lines consist of whole blocks of this size.
  bool has_blocks(PetscInt size) const
  {
    for (std::size_t l = 0; l + 1 < offsets.size(); ++l)
      for (PetscInt k = offsets[l]; k < offsets[l + 1]; ++k) {
        const PetscInt along = (k - offsets[l]) % size, row = rows[static_cast<std::size_t>(k)] - begin;
        if (row % size != along || (offsets[l + 1] - offsets[l]) % size != 0) return false;
        if (along > 0 && row != rows[static_cast<std::size_t>(k) - 1] - begin + 1) return false;
      }
    return true;
  }
  /// These lines, then a line of one element for every element that is on none.
  LinesOfGraph of_elements(PetscInt size) const
  {
    LinesOfGraph      lines;
    std::vector<char> seen(static_cast<std::size_t>(owned() / size), 0);
    lines.begin.push_back(0);
    for (std::size_t l = 0; l + 1 < offsets.size(); ++l) {
      if (offsets[l] == offsets[l + 1]) continue;
      for (PetscInt k = offsets[l]; k < offsets[l + 1]; k += size) {
        const PetscInt element = (rows[static_cast<std::size_t>(k)] - begin) / size;
        lines.order.push_back(element), seen[static_cast<std::size_t>(element)] = 1;
      }
      lines.begin.push_back(static_cast<std::int64_t>(lines.order.size()));
    }
    for (std::size_t element = 0; element < seen.size(); ++element)
      if (!seen[element])
        lines.order.push_back(static_cast<std::int64_t>(element)),
          lines.begin.push_back(static_cast<std::int64_t>(lines.order.size()));
    return lines;
  }
};

PetscErrorCode CopyIndices(IS is, std::vector<PetscInt> *to)
{
  const PetscInt *indices;
  PetscInt        n;
  PetscFunctionBegin;
  PetscCall(ISGetLocalSize(is, &n));
  PetscCall(ISGetIndices(is, &indices));
  PetscCallCXX(to->assign(indices, indices + n));
  PetscCall(ISRestoreIndices(is, &indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The index sets that are composed with an object; null: there are none.
PetscErrorCode Query(PetscObject object, IS *rows, IS *offsets, std::string *error)
{
  PetscObject found[2];
  const char *names[2] = {"PCLine_rows", "PCLine_offsets"};
  PetscFunctionBegin;
  for (int k = 0; k < 2; ++k) {
    PetscCall(PetscObjectQuery(object, names[k], &found[k]));
    if (found[k] && found[k]->classid != IS_CLASSID)
      *error = format("PC line: %s, composed with a %s, is no index set (IS)", names[k], object->class_name);
  }
  if (error->empty() && found[0] && !found[1])
    *error = format("PC line: a %s has PCLine_rows, but no PCLine_offsets", object->class_name);
  *rows    = reinterpret_cast<IS>(found[0]);
  *offsets = reinterpret_cast<IS>(found[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LinesFromRows(PC pc, const LineSource &source, ElementsOfSource &elements, LineMap *map)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)source.rows);
  IS             rows = nullptr, offsets = nullptr;
  SaidLines      said;
  LinesOfGraph   lines;
  Elements       of;
  int            blocks;
  std::string    error;
  PetscFunctionBegin;
  PetscCall(Query((PetscObject)pc, &rows, &offsets, &error));
  const char *with = offsets ? "PC" : "matrix";
  if (!offsets && error.empty()) PetscCall(Query((PetscObject)pc->pmat, &rows, &offsets, &error));
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_WRONG, error));
  const bool by_label = !offsets && !map->label.empty();
  if (!offsets && !by_label) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &said.rank));
  PetscCall(MatGetOwnershipRange(source.rows, &said.begin, &said.end));
  if (by_label) PetscCall(RowsOfLabel(pc, source.rows, map->label, &said.rows, &said.offsets, &with));
  else PetscCall(CopyIndices(offsets, &said.offsets));
  if (rows) PetscCall(CopyIndices(rows, &said.rows));
  else if (!by_label) {
    PetscCallCXX(said.rows.resize(static_cast<std::size_t>(said.owned())));
    std::iota(said.rows.begin(), said.rows.end(), said.begin);
  }
  PetscCallCXX(error = said.complaint());
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_OUTOFRANGE, error));
  PetscCall(elements.get(&of));
  blocks = of.coupled && of.components <= 8 && said.has_blocks(of.components);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &blocks, 1, MPI_INT, MPI_LAND, comm));
  const PetscInt components = blocks ? of.components : 1;
  PetscCallCXX(lines = said.of_elements(components));
  PetscCall(AddLines(source, "lines", std::move(lines), components, map));
  map->source   = by_label ? "label " + map->label + " of the DMPLEX of the " + with
                           : std::string("index sets of rows that the ") + with + " has";
  map->required = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
