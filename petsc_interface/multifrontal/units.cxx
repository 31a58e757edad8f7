// SPDX-License-Identifier: BSD-2-Clause
// The units of unknowns and equations along a chain, from the entries on both sides of the diagonal.
#include "scale_rounds.hpp"

namespace ribbon::petsc {

namespace {

constexpr double one_way = 1e-3; ///< weight of a coupling in one of the two rows only

/// The pass along the rows of this rank, with the exponents of its entries.
class Walk {
public:
  Walk(const BothBlocks &A, Scales &s, bool one_way_counts) : A_(A), s_(s), counts_(one_way_counts)
  {
    s.diagonal.resize(s.row.size()), s.means.resize(s.row.size());
    for (std::size_t i = 0; i < s.diagonal.size(); ++i) s.diagonal[i] = at(i, i);
  }

  /// The exponent of a_ij, with row and column on this rank.
  int at(std::size_t i, std::size_t j) const
  {
    const auto *begin = A_.near.column + A_.near.row_begin[i],
               *end   = A_.near.column + A_.near.row_begin[i + 1];
    const auto *place = std::lower_bound(begin, end, static_cast<PetscInt>(j));
    if (place == end || *place != static_cast<PetscInt>(j)) return none;
    return s_.near[static_cast<std::size_t>(place - A_.near.column)];
  }

  /// Passes along the rows in this order.
  /// @param has_pairs  whether some couplings are in both rows
  void go(const std::vector<std::int64_t> &order, std::vector<double> *u, bool *has_pairs) const
  {
    const std::size_t n     = s_.row.size();
    auto             &found = s_.means;
    std::fill(found.begin(), found.end(), Scales::Mean{});
    *has_pairs = false;
    std::vector<std::size_t> place(order.empty() ? 0 : n);
    for (std::size_t k = 0; k < place.size(); ++k) place[static_cast<std::size_t>(order[k])] = k;
    const auto place_of = [&](std::size_t i) { return place.empty() ? i : place[i]; };
    u->resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i       = order.empty() ? k : static_cast<std::size_t>(order[k]);
      const auto        for_row = [&](const auto &f) {
        for (auto e = A_.near.row_begin[i]; e < A_.near.row_begin[i + 1]; ++e)
          if (s_.near[static_cast<std::size_t>(e)] != none)
            f(static_cast<std::size_t>(A_.near.column[e]), s_.near[static_cast<std::size_t>(e)]);
      };
      for_row([&](std::size_t j, int e) { // the earlier row has no entry for this one
        if (place_of(j) < k && at(j, i) == none) found[i].add((*u)[j] + alone(j, i, e, true), one_way);
      });
      (*u)[i] = found[i].weight > 0 ? found[i].value() : -static_cast<double>(s_.row[i]);
      for_row([&](std::size_t j, int e) {
        if (place_of(j) <= k) return;
        const int back = at(j, i);
        if (back != none) found[j].add((*u)[i] + back - e), *has_pairs = true;
        else found[j].add((*u)[i] + alone(i, j, e, false), one_way);
      });
    }
  }
  /// u_j - u_i from one entry: a_ij, or a_ji. If a diagonal entry is zero, the step is unknown, and the
  /// scales of rows replace it.
  double alone(std::size_t i, std::size_t j, int entry, bool is_back) const
  {
    return alone(s_.diagonal[i], s_.diagonal[j], entry, is_back, s_.row[i] - s_.row[j]);
  }
  double alone(int a_ii, int a_jj, int entry, bool is_back, int by_rows) const
  {
    if (!counts_ || a_ii == none || a_jj == none) return by_rows;
    const double step = static_cast<double>(a_ii) + a_jj - 2. * entry;
    return is_back ? -step : step;
  }

private:
  const BothBlocks &A_;
  Scales           &s_;
  const bool        counts_;
};

/// The couplings of one rank with the rank before and the rank after it.
struct Ends {
  /// log2 |a_ij| - (u_i - u_j) / 2, the same for a_ji if the values of both ranks are right
  Scales::Mean both[2];
  Scales::Mean alone[2]; ///< offset of the other rank, from entries of this one
};

/// The next rank with rows in the direction of `step`, or -1.
PetscMPIInt neighbour(const PetscInt *ranges, PetscMPIInt size, PetscMPIInt rank, int step)
{
  for (rank += step; rank >= 0 && rank < size; rank += step)
    if (ranges[rank + 1] > ranges[rank]) return rank;
  return -1;
}

/// Adds an offset to the values of each rank, so that they fit those of the rank before. Collective.
PetscErrorCode JoinRanks(Mat aij, const BothBlocks &A, const Scales &s, const Walk &walk,
                         std::vector<double> *u)
{
  const MPI_Comm      comm = PetscObjectComm((PetscObject)aij);
  PetscMPIInt         size, rank;
  PetscLayout         layout;
  const PetscInt     *ranges;
  const std::size_t   far = s.outside.size();
  std::vector<double> outside(far);
  std::vector<int>    diagonal(far), row(far);
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(MatGetLayouts(aij, &layout, nullptr));
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  PetscCall(PetscSFBcastBegin(s.others, MPI_DOUBLE, u->data(), outside.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(s.others, MPI_DOUBLE, u->data(), outside.data(), MPI_REPLACE));
  for (const auto &[from, to] : {std::pair{&s.diagonal, &diagonal}, std::pair{&s.row, &row}}) {
    PetscCall(PetscSFBcastBegin(s.others, MPI_INT, from->data(), to->data(), MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(s.others, MPI_INT, from->data(), to->data(), MPI_REPLACE));
  }
  const PetscMPIInt sides[] = {neighbour(ranges, size, rank, -1), neighbour(ranges, size, rank, 1)};
  Ends              mine;
  for (std::size_t i = 0; i < s.row.size(); ++i)
    for (auto e = static_cast<std::size_t>(A.far.row_begin[i]);
         e < static_cast<std::size_t>(A.far.row_begin[i + 1]); ++e) {
      const auto     j      = static_cast<std::size_t>(A.far.column[e]);
      const PetscInt column = A.columns[j];
      for (int side = 0; side < 2; ++side) {
        const PetscMPIInt other = sides[side];
        if (other < 0 || column < ranges[other] || column >= ranges[other + 1] || s.far[e] == none) continue;
        const double between = (*u)[i] - outside[j];
        mine.both[side].add(s.far[e] - between / 2);
        mine.alone[side].add(between +
                             walk.alone(s.diagonal[i], diagonal[j], s.far[e], false, s.row[i] - row[j]));
      }
    }
  std::vector<Ends> all(static_cast<std::size_t>(size));
  static_assert(sizeof(Ends) == 8 * sizeof(double));
  PetscCallMPI(MPI_Allgather(&mine, 8, MPI_DOUBLE, all.data(), 8, MPI_DOUBLE, comm));
  double offset = 0;
  for (PetscMPIInt r = 0, next; r < rank && (next = neighbour(ranges, size, r, 1)) >= 0 && next <= rank;
       r             = next) {
    const Ends &here = all[static_cast<std::size_t>(r)], &there = all[static_cast<std::size_t>(next)];
    if (here.both[1].weight > 0 && there.both[0].weight > 0)
      offset += there.both[0].value() - here.both[1].value();
    else offset += here.alone[1].value() - there.alone[0].value();
  }
  for (double &value : *u) value += offset;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode FindUnits(Mat aij, const BothBlocks &A, Scales *scales, const std::vector<std::int64_t> &order,
                         bool one_way_counts, bool *has_pairs)
{
  Scales    &s = *scales;
  const Walk walk(A, s, one_way_counts);
  auto      *u = &s.units;
  PetscFunctionBegin;
  walk.go(order, u, has_pairs);
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, has_pairs, 1, MPI_C_BOOL, MPI_LOR, PetscObjectComm((PetscObject)aij)));
  if (s.others) PetscCall(JoinRanks(aij, A, s, walk, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
