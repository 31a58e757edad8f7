// SPDX-License-Identifier: BSD-2-Clause
/// @file sweep_reference.hpp  Sweeps along lines of a DMDA in dense linear algebra, computed redundantly on
///   every rank.
#pragma once

#include "fixture.hpp"

#include <array>
#include <map>

namespace test {

using Numbers = std::vector<PetscScalar>;

/// All entries of a distributed vector, on every rank.
inline Numbers gathered(MPI_Comm comm, const PetscScalar *mine, std::size_t count)
{
  int ranks, size = static_cast<int>(count);
  MPI_Comm_size(comm, &ranks);
  std::vector<int> sizes(static_cast<std::size_t>(ranks)), begins(sizes.size(), 0);
  MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, comm);
  for (std::size_t r = 1; r < sizes.size(); ++r) begins[r] = begins[r - 1] + sizes[r - 1];
  Numbers all(static_cast<std::size_t>(begins.back() + sizes.back()));
  MPI_Allgatherv(mine, size, MPIU_SCALAR, all.data(), sizes.data(), begins.data(), MPIU_SCALAR, comm);
  return all;
}
inline Numbers gathered(Vec v)
{
  const PetscScalar *a;
  PetscInt           n;
  VecGetLocalSize(v, &n);
  VecGetArrayRead(v, &a);
  const Numbers all = gathered(PetscObjectComm((PetscObject)v), a, static_cast<std::size_t>(n));
  VecRestoreArrayRead(v, &a);
  return all;
}

/// The composition of a sweep, as options define it.
struct Sweep {
  std::vector<int>  directions  = {0}; ///< 0: x, 1: y, 2: z
  PCLineComposition composition = PC_LINE_COMPOSITION_MULTIPLICATIVE;
  PCLineOrdering    ordering    = PC_LINE_ORDERING_JACOBI;
  PetscReal         omega       = 1;
  PetscInt          iterations  = 1;
  bool              pieces      = false; ///< solves each sub-line of a distributed line separately

  void set(PC pc) const
  {
    std::vector<PCLineDirection> list;
    for (int d : directions) list.push_back(static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + d));
    PCLineSetDirections(pc, static_cast<PetscInt>(list.size()), list.data());
    PCLineSetComposition(pc, composition);
    PCLineSetOrdering(pc, ordering);
    PCLineSetOmega(pc, omega);
    PCLineSetIterations(pc, iterations);
    PCLineSetCut(pc, pieces ? PC_LINE_CUT_LOCAL : PC_LINE_CUT_AUTO);
  }
};

/// A matrix as dense rows on every rank, with the place of each row: grid indices x, y, z and the rank that
/// owns it. The numbering of rows is that of the DMDA. A multiple of the number of grid points means
/// several components.
class Dense {
public:
  std::size_t                          n = 0;
  Numbers                              a;
  std::vector<std::array<PetscInt, 4>> at;

  Dense(Mat A, DM da)
  {
    PetscInt    begin[3], size[3], rbegin, rend, all;
    PetscMPIInt rank;
    MPI_Comm    comm = PetscObjectComm((PetscObject)A);
    MPI_Comm_rank(comm, &rank);
    DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
    MatGetOwnershipRange(A, &rbegin, &rend);
    MatGetSize(A, &all, nullptr);
    n                     = static_cast<std::size_t>(all);
    const PetscInt points = size[0] * size[1] * size[2], dof = points > 0 ? (rend - rbegin) / points : 1;
    Numbers        rows(static_cast<std::size_t>(rend - rbegin) * n, 0), places;
    for (PetscInt r = rbegin; r < rend; ++r) {
      const PetscInt    *columns, k = r - rbegin;
      const PetscScalar *values;
      PetscInt           count;
      MatGetRow(A, r, &count, &columns, &values);
      for (PetscInt e = 0; e < count; ++e)
        rows[static_cast<std::size_t>(k) * n + static_cast<std::size_t>(columns[e])] = values[e];
      MatRestoreRow(A, r, &count, &columns, &values);
      const PetscInt p = k / dof;
      for (PetscInt i : {begin[0] + p % size[0], begin[1] + p / size[0] % size[1],
                         begin[2] + p / (size[0] * size[1]), static_cast<PetscInt>(rank)})
        places.push_back(static_cast<PetscReal>(i));
    }
    a      = gathered(comm, rows.data(), rows.size());
    places = gathered(comm, places.data(), places.size());
    for (std::size_t k = 0; k < places.size(); k += 4) {
      at.emplace_back();
      for (std::size_t i = 0; i < 4; ++i) at.back()[i] = static_cast<PetscInt>(PetscRealPart(places[k + i]));
    }
  }

  Numbers apply(const Sweep &s, const Numbers &b) const
  {
    const bool                                   additive = s.composition == PC_LINE_COMPOSITION_ADDITIVE;
    std::vector<std::vector<std::array<int, 2>>> sequences(1); // of (direction, colour); -1: all lines
    for (int d : s.directions) {
      if (additive && !sequences.back().empty()) sequences.emplace_back();
      const bool zebra = s.ordering == PC_LINE_ORDERING_ZEBRA && has_both_colours(d);
      // The symmetric sweep has to end with the last colour.
      const bool backwards = s.composition == PC_LINE_COMPOSITION_SYMMETRIC;
      for (int k = 0; k < (zebra ? 2 : 1); ++k)
        sequences.back().push_back({d, !zebra ? -1 : backwards ? 1 - k : k});
    }
    if (s.composition == PC_LINE_COMPOSITION_SYMMETRIC)
      for (auto k = sequences[0].size() - 1; k-- > 0;)
        sequences[0].push_back(std::array<int, 2>(sequences[0][k]));
    Numbers x(n, 0);
    for (PetscInt iteration = 0; iteration < s.iterations; ++iteration) {
      const Numbers r = residual(b, x);
      for (const auto &sequence : sequences) {
        Numbers z(n, 0);
        for (const auto &[d, colour] : sequence) {
          const Numbers w = solve(d, colour, s.pieces, residual(r, z));
          for (std::size_t k = 0; k < n; ++k) z[k] += s.omega * w[k];
        }
        for (std::size_t k = 0; k < n; ++k) x[k] += z[k] / static_cast<PetscReal>(sequences.size());
      }
    }
    return x;
  }

private:
  static PetscInt colour_of(std::array<PetscInt, 4> line, int d)
  {
    line[static_cast<std::size_t>(d)] = 0;
    return (line[0] + line[1] + line[2]) % 2;
  }
  bool has_both_colours(int d) const
  {
    bool has[2] = {false, false};
    for (const auto &place : at) has[colour_of(place, d)] = true;
    return has[0] && has[1];
  }

  Numbers residual(const Numbers &b, const Numbers &x) const
  {
    Numbers r = b;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) r[i] -= a[i * n + j] * x[j];
    return r;
  }

  /// Solves along the lines of direction d of one colour. With `pieces` it solves each sub-line of a
  /// distributed line separately. All other entries are 0.
  Numbers solve(int d, int colour, bool pieces, const Numbers &b) const
  {
    std::map<std::array<PetscInt, 4>, std::vector<std::size_t>> lines;
    Numbers                                                     x(n, 0);
    for (std::size_t r = 0; r < n; ++r) {
      auto line                         = at[r];
      line[static_cast<std::size_t>(d)] = 0;
      if (!pieces) line[3] = 0; // the rank
      if (colour < 0 || colour_of(line, d) == colour) lines[line].push_back(r);
    }
    for (const auto &[line, rows] : lines) {
      const std::size_t m = rows.size();
      Numbers           A(m * m), y(m);
      for (std::size_t i = 0; i < m; ++i) {
        y[i] = b[rows[i]];
        for (std::size_t j = 0; j < m; ++j) A[i * m + j] = a[rows[i] * n + rows[j]];
      }
      for (std::size_t k = 0; k < m; ++k) { // Gauss-Jordan elimination with row exchanges
        std::size_t pivot = k;
        for (std::size_t i = k + 1; i < m; ++i)
          if (PetscAbsScalar(A[i * m + k]) > PetscAbsScalar(A[pivot * m + k])) pivot = i;
        for (std::size_t j = 0; j < m; ++j) std::swap(A[k * m + j], A[pivot * m + j]);
        std::swap(y[k], y[pivot]);
        for (std::size_t i = 0; i < m; ++i) {
          if (i == k) continue;
          const PetscScalar f = A[i * m + k] / A[k * m + k];
          for (std::size_t j = k; j < m; ++j) A[i * m + j] -= f * A[k * m + j];
          y[i] -= f * y[k];
        }
      }
      for (std::size_t i = 0; i < m; ++i) x[rows[i]] = y[i] / A[i * m + i];
    }
    return x;
  }
};

class PCLineSweep : public Petsc { };

} // namespace test
