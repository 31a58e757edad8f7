// SPDX-License-Identifier: BSD-2-Clause
#include "chain_pattern.hpp"

#include "../support/csr.hpp"
#include "../support/session.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace ribbon::petsc {

namespace {

/// Largest distances of entries from the diagonal, along an open chain and along a ring.
struct Reach {
  PetscInt kl = 0, ku = 0, ring_kl = 0, ring_ku = 0;

  void take(PetscInt i, PetscInt j, PetscInt n)
  {
    const PetscInt d = j - i, wrapped = 2 * d > n ? d - n : 2 * d < -n ? d + n : d;
    kl = std::max(kl, -d), ku = std::max(ku, d);
    ring_kl = std::max(ring_kl, -wrapped), ring_ku = std::max(ring_ku, wrapped);
  }
  bool is_chain() const { return std::max(kl, ku) <= most_chain_bandwidth && !is_ring_of(0); }
  /// Whether the chain is narrower as a ring. n: number of rows, which must be enough for a ring; 0: not
  /// checked.
  bool is_ring_of(PetscInt n) const
  {
    const bool narrower = ring_kl + ring_ku < kl + ku && std::max(ring_kl, ring_ku) <= most_chain_bandwidth;
    return narrower && (n == 0 || n >= ring_kl + ring_ku + 1);
  }
};

/// Calls f(i, j) for all entries of a sequential matrix.
template <class F>
PetscErrorCode ForEachEntry(Mat aij, const F &f)
{
  const PetscInt *i, *j;
  PetscInt        n;
  PetscBool       done;
  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(aij, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "multifrontal: cannot read the rows of a matrix of type %s", ((PetscObject)aij)->type_name);
  for (PetscInt r = 0; r < n; ++r)
    for (PetscInt e = i[r]; e < i[r + 1]; ++e) f(r, j[e]);
  PetscCall(MatRestoreRowIJ(aij, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Raises one error if the columns of a row do not ascend, as the kernels require. Collective.
/// @param blocks  of this rank
PetscErrorCode CheckOrder(MPI_Comm comm, std::initializer_list<Mat> blocks)
{
  std::string wrong;
  PetscFunctionBegin;
  for (Mat block : blocks) {
    PetscInt row = -1, before = 0;
    PetscCall(ForEachEntry(block, [&](PetscInt i, PetscInt j) {
      if (i == row && j <= before)
        wrong = "multifrontal: the columns of a row are not in ascending order (row " + std::to_string(i) +
                " of a rank)";
      row = i, before = j;
    }));
  }
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_WRONG, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Number of rows of each block of a block-diagonal matrix if all are equal, otherwise n.
PetscErrorCode EqualBlocks(Mat aij, PetscInt n, PetscInt *rows)
{
  std::vector<PetscInt> last(static_cast<std::size_t>(n)), starts{0};
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) last[static_cast<std::size_t>(i)] = i;
  PetscCall(ForEachEntry(aij, [&](PetscInt i, PetscInt j) {
    auto &reach = last[static_cast<std::size_t>(std::min(i, j))];
    reach       = std::max({reach, i, j});
  }));
  PetscInt reach = 0;
  for (PetscInt i = 0; i < n; ++i) {
    reach = std::max(reach, last[static_cast<std::size_t>(i)]);
    if (reach == i) starts.push_back(i + 1);
  }
  *rows = starts.size() > 1 ? starts[1] : n;
  for (std::size_t k = 1; k < starts.size(); ++k)
    if (starts[k] - starts[k - 1] != *rows) *rows = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Reverse Cuthill-McKee of the graph of A + A^T. PETSc's implementation reads the rows of A, and fails if
/// only one of two entries is stored.
PetscErrorCode Reorder(Mat aij, ChainPattern *p)
{
  Mat             graph;
  IS              rows, columns;
  const PetscInt *order;
  PetscInt        n;
  PetscFunctionBegin;
  PetscCall(MatTranspose(aij, MAT_INITIAL_MATRIX, &graph));
  PetscCall(MatAXPY(graph, 1, aij, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatGetOrdering(graph, MATORDERINGRCM, &rows, &columns));
  PetscCall(ISGetLocalSize(rows, &n));
  PetscCall(ISGetIndices(rows, &order));
  p->row_of.assign(order, order + n);
  p->place_of.resize(p->row_of.size());
  for (PetscInt i = 0; i < n; ++i) p->place_of[static_cast<std::size_t>(order[i])] = i;
  PetscCall(ISRestoreIndices(rows, &order));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Finds the chain, or the chains, in the order of the rows, if there are any.
/// @param natural  reach of the entries
PetscErrorCode FindInOwnOrder(Mat aij, ChainPattern *p, Reach *natural, bool *found)
{
  PetscInt n, block = 0;
  Reach    of_blocks;
  PetscFunctionBegin;
  *found = true;
  PetscCall(MatGetLocalSize(aij, &n, nullptr));
  PetscCall(ForEachEntry(aij, [&](PetscInt i, PetscInt j) { natural->take(i, j, n); }));
  const auto accept = [&](const Reach &r, PetscInt rows) {
    const bool ring = r.is_ring_of(rows);
    p->chain        = {rows, rows > 0 ? n / rows : 1, static_cast<int>(ring ? r.ring_kl : r.kl),
                       static_cast<int>(ring ? r.ring_ku : r.ku), ring};
  };
  if (natural->is_chain() || natural->is_ring_of(n)) {
    accept(*natural, n);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(EqualBlocks(aij, n, &block));
  if (block < n) {
    PetscCall(
      ForEachEntry(aij, [&](PetscInt i, PetscInt j) { of_blocks.take(i % block, j % block, block); }));
    if (of_blocks.is_ring_of(block)) {
      accept(of_blocks, block);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (std::max(natural->kl, natural->ku) <= most_chain_bandwidth) { // a ring with too few rows
    p->chain = {n, 1, static_cast<int>(natural->kl), static_cast<int>(natural->ku)};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *found = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindSequentialChain(Mat aij, ChainPattern *p)
{
  PetscInt n;
  Reach    natural, reordered;
  bool     found;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(aij, &n, nullptr));
  PetscCall(FindInOwnOrder(aij, p, &natural, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Reorder(aij, p));
  PetscCall(ForEachEntry(aij, [&](PetscInt i, PetscInt j) {
    reordered.take(static_cast<PetscInt>(p->place_of[static_cast<std::size_t>(i)]),
                   static_cast<PetscInt>(p->place_of[static_cast<std::size_t>(j)]), n);
  }));
  p->chain = {n, 1, static_cast<int>(reordered.kl), static_cast<int>(reordered.ku)};
  if (std::max(reordered.kl, reordered.ku) > most_chain_bandwidth)
    p->refusal = "multifrontal: the matrix is no chain: half-bandwidth " +
                 std::to_string(std::max(natural.kl, natural.ku)) + " in its own order, " +
                 std::to_string(std::max(reordered.kl, reordered.ku)) +
                 " after reverse Cuthill-McKee, at most " + std::to_string(most_chain_bandwidth) +
                 "; problems of two and three dimensions are for -pc_factor_mat_solver_type petsc, mumps or "
                 "superlu_dist";
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode GatherOnFirstRank(Mat aij, Mat *gathered)
{
  PetscMPIInt rank;
  PetscInt    n;
  IS          all;
  Mat        *block;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)aij), &rank));
  PetscCall(MatGetSize(aij, &n, nullptr));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, rank == 0 ? n : 0, 0, 1, &all));
  PetscCall(MatCreateSubMatrices(aij, 1, &all, &all, MAT_INITIAL_MATRIX, &block));
  *gathered = block[0];
  PetscCall(PetscObjectReference((PetscObject)*gathered));
  PetscCall(MatDestroySubMatrices(1, &block));
  PetscCall(ISDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values of the rows of this rank, in ascending columns.
static PetscErrorCode CollectOwnValues(Mat aij, std::vector<Scalar> *values)
{
  PetscInt        rows, first;
  Mat             local, outside;
  const PetscInt *columns;
  HostRows        near, far;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(aij, &rows, nullptr));
  PetscCall(MatGetOwnershipRange(aij, &first, nullptr));
  PetscCall(MatMPIAIJGetSeqAIJ(aij, &local, &outside, &columns));
  PetscCall(GetHostRows(local, true, &near));
  PetscCall(GetHostRows(outside, true, &far));
  values->resize(static_cast<std::size_t>(rows > 0 ? near.row_begin[rows] + far.row_begin[rows] : 0));
  Scalar *to = values->data();
  for (PetscInt r = 0; r < rows; ++r) {
    PetscInt e = far.row_begin[r];
    for (; e < far.row_begin[r + 1] && columns[far.column[e]] < first; ++e) *to++ = far.value[e];
    to = std::copy(near.value + near.row_begin[r], near.value + near.row_begin[r + 1], to);
    to = std::copy(far.value + e, far.value + far.row_begin[r + 1], to);
  }
  PetscCall(RestoreHostRows(outside, &far));
  PetscCall(RestoreHostRows(local, &near));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GatherNumbers(Mat aij, Mat gathered, GatherRoom *room)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)aij);
  PetscMPIInt    size, rank, count;
  HostRows       whole;
  std::string    changed;
  PetscScalar   *all = nullptr;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(CollectOwnValues(aij, &room->mine));
  const auto entries = static_cast<PetscInt>(room->mine.size());
  count              = entries <= PETSC_MPI_INT_MAX ? static_cast<PetscMPIInt>(entries) : 0;
  if (entries != count)
    changed = "multifrontal: rank " + std::to_string(rank) + " has " + std::to_string(entries) +
              " entries, more than a message of MPI has, and this matrix has to be gathered";
  if (room->counts.empty()) {
    PetscCall(CollectiveError(comm, PETSC_ERR_ARG_OUTOFRANGE, changed));
    PetscInt                 total = 0;
    std::vector<PetscMPIInt> counts(static_cast<std::size_t>(size)), starts;
    PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm));
    for (PetscMPIInt each : counts) {
      PetscMPIInt start;
      PetscCall(PetscMPIIntCast(total, &start));
      starts.push_back(start);
      total += each;
    }
    room->counts = std::move(counts), room->starts = std::move(starts);
  }
  if (changed.empty() && count != room->counts[static_cast<std::size_t>(rank)])
    changed = "multifrontal: rank " + std::to_string(rank) + " has " + std::to_string(count) +
              " entries, and had " + std::to_string(room->counts[static_cast<std::size_t>(rank)]) +
              ": the pattern of the matrix changed, and PETSc was not told";
  PetscCall(GetHostRows(gathered, false, &whole));
  const PetscInt place  = whole.rows > 0 ? whole.row_begin[whole.rows] : 0,
                 needed = static_cast<PetscInt>(room->starts.back()) + room->counts.back();
  PetscCall(RestoreHostRows(gathered, &whole));
  if (rank == 0 && place != needed)
    changed = "multifrontal: the ranks have " + std::to_string(needed) + " entries, and had " +
              std::to_string(place) + ": the pattern of the matrix changed, and PETSc was not told";
  PetscCall(CollectiveError(comm, PETSC_ERR_ARG_WRONGSTATE, changed));
  PetscCall(MatSeqAIJGetArrayWrite(gathered, &all)); // marks device values as old
  PetscCallMPI(MPI_Gatherv(room->mine.data(), count, MPIU_SCALAR, all, room->counts.data(),
                           room->starts.data(), MPIU_SCALAR, 0, comm));
  PetscCall(MatSeqAIJRestoreArrayWrite(gathered, &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Whether every rank has rings, all with the same number of rows. Collective.
PetscErrorCode FindOwnRings(Mat aij, Mat local, ChainPattern *p, bool *found)
{
  PetscInt     n, rows, most[5] = {0, 0, 0, 0, -PETSC_MAX_INT};
  ChainPattern own;
  Reach        reach;
  bool         in_order;
  PetscFunctionBegin;
  PetscCall(MatGetSize(aij, &n, nullptr));
  PetscCall(MatGetLocalSize(local, &rows, nullptr));
  if (rows > 0) {
    PetscCall(FindInOwnOrder(local, &own, &reach, &in_order));
    most[0] = own.chain.kl, most[1] = own.chain.ku, most[2] = in_order && own.chain.ring ? 0 : 1;
    most[3] = static_cast<PetscInt>(own.chain.rows), most[4] = -most[3];
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 5, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)aij)));
  *found = most[2] == 0 && most[3] == -most[4] && most[3] > most[0] + most[1];
  if (*found) p->chain = {most[3], n / most[3], static_cast<int>(most[0]), static_cast<int>(most[1]), true};
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode FindChain(Mat aij, ChainPattern *p)
{
  const MPI_Comm  comm = PetscObjectComm((PetscObject)aij);
  PetscMPIInt     size, rank;
  PetscInt        n, first, end, most[6] = {}, found[4];
  bool            own_rings = false;
  int             number    = 0;
  Mat             local, outside, gathered;
  const PetscInt *column;
  Reach           reach;
  PetscFunctionBegin;
  *p = {};
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(MatGetSize(aij, &n, nullptr));
  PetscCall(MatGetOwnershipRange(aij, &first, &end));
  if (size == 1) {
    PetscBool is_mpi;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)aij, MATMPIAIJ, &is_mpi));
    local = aij;
    if (is_mpi) PetscCall(MatMPIAIJGetSeqAIJ(aij, &local, nullptr, nullptr));
    PetscCall(CheckOrder(comm, {local}));
    PetscCall(FindSequentialChain(local, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatMPIAIJGetSeqAIJ(aij, &local, &outside, &column));
  PetscCall(CheckOrder(comm, {local, outside}));
  PetscCall(ForEachEntry(local, [&](PetscInt i, PetscInt j) { reach.take(first + i, first + j, n); }));
  PetscCall(ForEachEntry(outside, [&](PetscInt i, PetscInt j) {
    reach.take(first + i, column[j], n);
    most[5] = 1;
  }));
  most[0] = reach.kl, most[1] = reach.ku, most[2] = reach.ring_kl, most[3] = reach.ring_ku,
  most[4] = first == end ? -n : first - end;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 6, MPIU_INT, MPI_MAX, comm));
  p->separate = most[5] == 0 && -most[4] < n, p->fewest = -most[4];
  reach.kl = most[0], reach.ku = most[1], reach.ring_kl = most[2], reach.ring_ku = most[3];
  const bool ring = reach.is_ring_of(n);
  if (ring) p->separate = false; // a ring that spans all ranks, even if few of its rows couple
  if (reach.is_chain() || ring) {
    p->chain    = {n, 1, static_cast<int>(ring ? reach.ring_kl : reach.kl),
                   static_cast<int>(ring ? reach.ring_ku : reach.ku), ring};
    p->gathered = !p->separate && p->fewest < p->chain.width();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (p->separate) PetscCall(FindOwnRings(aij, local, p, &own_rings));
  if (own_rings) PetscFunctionReturn(PETSC_SUCCESS);
  p->gathered = true, p->separate = false;
  PetscCall(GatherOnFirstRank(aij, &gathered));
  if (rank == 0) PetscCall(FindSequentialChain(gathered, p));
  PetscCall(MatDestroy(&gathered));
  PetscCall(AgreeOnSentence(comm, &p->refusal, &number));
  found[0] = static_cast<PetscInt>(p->chain.rows), found[1] = p->chain.kl, found[2] = p->chain.ku,
  found[3] = p->chain.ring ? 1 : 0;
  PetscCallMPI(MPI_Bcast(found, 4, MPIU_INT, 0, comm));
  p->chain = {found[0], found[0] > 0 ? n / found[0] : 1, static_cast<int>(found[1]),
              static_cast<int>(found[2]), found[3] == 1};
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
