// SPDX-License-Identifier: BSD-2-Clause
/// @file scale_rounds.hpp  Data of the rounds of FindScales(): exponents of entries, and the largest
///   exponents by rows and by columns. For equilibrate.cxx and units.cxx.
#pragma once

#include "equilibrate.hpp"
#include "local_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ribbon::petsc {

inline constexpr int none = std::numeric_limits<int>::min() / 2; ///< the exponent of zero

/// e with 2^-e |a| between 1/2 and 1. An entry that is not finite has no scale; the factorization reports
/// it.
inline int exponent_of_entry(const Scalar &a)
{
  const auto size = magnitude(a);
  int        e    = none;
  if (size > 0 && is_finite(size)) std::frexp(size, &e);
  return e;
}

/// Sends the scales of columns to the other ranks. Collective.
inline PetscErrorCode TellColumns(Scales *s)
{
  PetscFunctionBegin;
  if (!s->others) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFBcastBegin(s->others, MPI_INT, s->column.data(), s->outside.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(s->others, MPI_INT, s->column.data(), s->outside.data(), MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rounds of FindScales() on the exponents of the entries.
class Rounds {
public:
  Rounds(MPI_Comm comm, const BothBlocks &A, Scales &s)
      : comm_(comm), A_(A), s_(s), row_(s.largest_of_row), column_(s.largest_of_column),
        far_column_(s.largest_outside)
  {
    column_.resize(s.column.size()), far_column_.resize(s.outside.size());
  }

  /// Largest exponents of the rows, scaled.
  const std::vector<int> &rows()
  {
    row_.assign(s_.row.size(), none);
    for_each([&](std::size_t i, int size, std::size_t, bool) { row_[i] = std::max(row_[i], size); });
    return row_;
  }
  /// Finds the largest exponents of the columns of this rank, which have entries in rows of other ranks as
  /// well. Collective.
  PetscErrorCode find_columns()
  {
    PetscFunctionBegin;
    std::fill(column_.begin(), column_.end(), none), std::fill(far_column_.begin(), far_column_.end(), none);
    for_each([&](std::size_t, int size, std::size_t j, bool is_near) {
      int &to = is_near ? column_[j] : far_column_[j];
      to      = std::max(to, size);
    });
    if (s_.others) {
      PetscCall(PetscSFReduceBegin(s_.others, MPI_INT, far_column_.data(), column_.data(), MPI_MAX));
      PetscCall(PetscSFReduceEnd(s_.others, MPI_INT, far_column_.data(), column_.data(), MPI_MAX));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const std::vector<int> &columns() const { return column_; }
  PetscErrorCode          tell() { return TellColumns(&s_); }
  PetscErrorCode          any(bool here, bool *anywhere) const
  {
    int is = here ? 1 : 0;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &is, 1, MPI_INT, MPI_MAX, comm_));
    *anywhere = is != 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Calls f(row, exponent of the scaled entry, column, whether this rank has the column).
  template <class F>
  void for_each(const F &f) const
  {
    for (std::size_t i = 0; i < s_.row.size(); ++i) {
      for (auto e = static_cast<std::size_t>(A_.near.row_begin[i]);
           e < static_cast<std::size_t>(A_.near.row_begin[i + 1]); ++e) {
        const auto j = static_cast<std::size_t>(A_.near.column[e]);
        if (s_.near[e] != none) f(i, s_.near[e] + s_.row[i] + s_.column[j], j, true);
      }
      for (std::size_t e = A_.outside ? static_cast<std::size_t>(A_.far.row_begin[i]) : 0;
           A_.outside && e < static_cast<std::size_t>(A_.far.row_begin[i + 1]); ++e) {
        const auto j = static_cast<std::size_t>(A_.far.column[e]);
        if (s_.far[e] != none) f(i, s_.far[e] + s_.row[i] + s_.outside[j], j, false);
      }
    }
  }

private:
  MPI_Comm          comm_;
  const BothBlocks &A_;
  Scales           &s_;
  std::vector<int> &row_, &column_, &far_column_;
};

/// Finds units u, as log2, of the rows of this rank. |a_ij / a_ji| is about 2^(u_i - u_j), as closely as
/// one value per unknown can represent it. Then 2^(-u/2) A 2^(u/2) has entries of similar size on both
/// sides of its diagonal. For A = r B c with such a B, u is log2(r / c) up to a constant. One pass along
/// the rows in `order` (empty: as they are) computes u. A row takes the mean of the values from its
/// couplings with earlier rows. The first row of each chain takes minus the scale of its row, so that u +
/// s.row starts from zero. A coupling in one direction only does not change that sum, or it counts with a
/// smaller weight, as if a_ii a_jj were a_ij^2. Collective.
/// @param s          scales of rows; gets u
/// @param has_pairs  whether some couplings have both directions
PetscErrorCode FindUnits(Mat aij, const BothBlocks &A, Scales *s, const std::vector<std::int64_t> &order,
                         bool one_way_counts, bool *has_pairs);

} // namespace ribbon::petsc
