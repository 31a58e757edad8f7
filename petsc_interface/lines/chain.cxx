// SPDX-License-Identifier: BSD-2-Clause
#include "chain.hpp"

#include "line_map.hpp"
#include "pattern.hpp"

#include <petscsf.h>

namespace ribbon::petsc {

LineChain::~LineChain()
{
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

PetscErrorCode MakeChain(MPI_Comm comm, const ChainPlace &place, PetscInt rows, PetscInt begin,
                         std::shared_ptr<const LineChain> *chain)
{
  MPI_Comm    own;
  PetscMPIInt size;
  PetscFunctionBegin;
  chain->reset();
  if (!place.joinable) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_split(comm, place.colour, place.order, &own));
  if (own == MPI_COMM_NULL) PetscFunctionReturn(PETSC_SUCCESS);
  auto made  = std::make_shared<LineChain>();
  made->comm = own;
  PetscCallMPI(MPI_Comm_size(own, &size));
  PetscCallMPI(MPI_Comm_rank(own, &made->own));
  const PetscInt        mine[2] = {rows, begin};
  std::vector<PetscInt> all(2 * static_cast<std::size_t>(size));
  PetscCallMPI(MPI_Allgather(mine, 2, MPIU_INT, all.data(), 2, MPIU_INT, own));
  PetscInt first = 0;
  for (std::size_t q = 0; q < static_cast<std::size_t>(size); first += all[2 * q], ++q)
    made->pieces.push_back({all[2 * q], first, all[2 * q + 1]});
  *chain = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Line and position of a row. The number of a line is unique in the matrix.
struct RowOnChain {
  PetscInt line = -1, position = -1;
};

std::vector<RowOnChain> rows_on_chain(const LineDirection &direction, PetscInt rows)
{
  std::vector<RowOnChain> at(static_cast<std::size_t>(rows));
  if (!direction.chain) return at;
  const LineChain &chain = *direction.chain;
  for (std::int64_t l = 0; l < direction.lines.lines(); ++l)
    for (std::int64_t i = 0; i < direction.lines.rows; ++i)
      for (std::int64_t c = 0; c < direction.components; ++c)
        at[static_cast<std::size_t>(direction.lines(l, i) * direction.components + c)] = {
          chain.pieces[0].begin + static_cast<PetscInt>(l), chain.mine().first + static_cast<PetscInt>(i)};
  return at;
}

/// Line and position of columns of other ranks. Collective.
PetscErrorCode ColumnsOnChain(Mat rows, const std::vector<RowOnChain> &own, PetscInt count,
                              const PetscInt *columns, std::vector<RowOnChain> *at)
{
  PetscSF     sf;
  PetscLayout layout;
  PetscFunctionBegin;
  static_assert(sizeof(RowOnChain) == 2 * sizeof(PetscInt), "sent as a pair of PetscInt");
  at->resize(static_cast<std::size_t>(count));
  PetscCall(MatGetLayouts(rows, nullptr, &layout));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)rows), &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, count, nullptr, PETSC_COPY_VALUES, columns));
  PetscCall(PetscSFBcastBegin(sf, MPIU_2INT, own.data(), at->data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_2INT, own.data(), at->data(), MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ReadOutside(const LineSource &source, const LineDirection &direction, OutsideCouplings *found)
{
  Mat             off;
  const PetscInt *columns;
  PetscInt        count = 0, local, rbegin;
  PetscMPIInt     size;
  HostRows        A;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)source.rows), &size));
  PetscCall(GetOffProcessBlock(source.rows, &off, &columns));
  if (!off) {
    found->across = size > 1; // other types do not show which columns are outside
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetLocalSize(source.rows, &local, nullptr));
  PetscCall(MatGetOwnershipRange(source.rows, &rbegin, nullptr));
  PetscCall(MatGetSize(off, nullptr, &count));
  std::vector<RowOnChain> own, at;
  if (direction.place.joinable) {
    PetscCallCXX(own = rows_on_chain(direction, local));
    PetscCall(ColumnsOnChain(source.rows, own, count, columns, &at));
  }
  const PetscInt n = direction.chain ? direction.chain->length() : 0, components = direction.components;
  PetscCall(GetHostRows(off, true, &A));
  for (PetscInt r = 0; r < local; ++r)
    for (PetscInt e = A.row_begin[r]; e < A.row_begin[r + 1]; ++e) {
      const Scalar value = A.value[e];
      if (value == Scalar(0)) continue;
      const auto column = static_cast<std::size_t>(A.column[e]), row = static_cast<std::size_t>(r);
      if (!direction.chain || at[column].line != own[row].line) {
        found->across = true;
        continue;
      }
      const PetscInt straight = at[column].position - own[row].position,
                     around   = straight > 0 ? straight - n : straight + n;
      const bool     wraps    = direction.place.ring && std::abs(around) < std::abs(straight);
      const PetscInt d        = wraps ? around : straight;
      if (std::abs(d) > direction.widest) {
        found->across = true;
        if (found->too_far_row < 0) found->too_far_row = r;
        continue;
      }
      const auto component = static_cast<int>(columns[column] % components);
      if (!is_finite(magnitude(value)) && found->not_finite < 0) found->not_finite = r;
      if (component != (rbegin + r) % components && found->component_row < 0) found->component_row = r;
      found->half_bandwidth = std::max(found->half_bandwidth, static_cast<int>(std::abs(d)));
      found->periodic       = found->periodic || wraps;
      PetscCallCXX(found->entries.push_back({r, static_cast<int>(d), component, value, e}));
    }
  PetscCall(RestoreHostRows(off, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
