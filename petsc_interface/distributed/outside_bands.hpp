// SPDX-License-Identifier: BSD-2-Clause
/// @file outside_bands.hpp  Bands of sub-lines with the entries that couple them to sub-lines of other
///   ranks. Bands leave room for entries beyond their ends.
#pragma once

#include "../lines/line_map.hpp"

#include <ribbon/matrix/insert.hpp>
#include <ribbon/matrix/transpose.hpp>

#include <algorithm>

namespace ribbon::petsc {

/// Inserts entries in columns of other ranks into the bands of the lines of a direction, one matrix per
/// line.
/// @param entries  ordered by rows; entries of other lines are ignored
template <class Exec>
void insert_outside(const Exec &exec, const std::vector<OutsideEntry> &entries,
                    const LineDirection &direction, const Bands<Scalar, typename Exec::memory_space> &bands)
{
  const LineSet            &s = direction.lines;
  const int                 B = direction.components, h = bands.kl();
  std::vector<std::int64_t> place;
  std::vector<Scalar>       value;
  for (std::int64_t l = 0; l < s.lines(); ++l)
    for (std::int64_t i = 0; i < s.rows;
         i              = i == h - 1 ? std::max(i + 1, s.rows - h) : i + 1) { // rows that reach beyond an end
      const std::int64_t first = s(l, i) * B;
      for (auto e =
             std::lower_bound(entries.begin(), entries.end(), first,
                              [](const OutsideEntry &entry, std::int64_t row) { return entry.row < row; });
           e != entries.end() && e->row < first + B; ++e) {
        const std::int64_t d =
          B == 1 ? e->distance + h : ((e->distance + h) * B + (e->row - first)) * B + e->component;
        place.push_back(l + s.lines() * (i + s.rows * d)), value.push_back(e->value);
      }
    }
  const auto places = upload(exec, "ribbon::places", place);
  const auto values = upload(exec, "ribbon::values", value);
  insert_entries(exec, bands.values.data(), values, places);
  exec.fence(); // the lifetime of the tables ends here
}

/// Couplings of the sub-lines of a rank to the next ones: blocks of S x S, S = K B, for each of `count` matrices.
/// Entry (a, e), a among the K rows of the rank on the left, e among those of the rank on the right, is at
/// (a S + e) count + l.
struct OutsideBlocks {
  std::int64_t        S = 0, count = 0;
  std::vector<Scalar> to_left, to_right;
};

/// The entries of A in rows of this rank and columns of its neighbours.
/// @param matrix_of(l)  the matrix of line l
template <class HostBands, class MatrixOf>
OutsideBlocks outside_blocks(const HostBands &from, std::int64_t count, const MatrixOf &matrix_of)
{
  const int  kl = from.kl(), ku = from.ku(), K = std::max(kl, ku), B = from.block;
  const auto m = static_cast<std::int64_t>(from.values.extent(1)), S = static_cast<std::int64_t>(K) * B;
  const auto beyond = [&](bool to_right) {
    std::vector<Scalar> words(static_cast<std::size_t>(S * S * count), Scalar(0));
    for (std::int64_t k = 0; k < S * S * count; ++k) {
      const std::int64_t l = k % count, a = k / count / S, e = k / count % S;
      const std::int64_t row = to_right ? m - K + a / B : e / B,
                         d   = to_right ? K + e / B - a / B : a / B - K - e / B;
      const int r = static_cast<int>((to_right ? a : e) % B), c = static_cast<int>((to_right ? e : a) % B);
      if (row >= 0 && row < m && d >= -kl && d <= ku)
        words[static_cast<std::size_t>(k)] = from.values(
          matrix_of(l), static_cast<std::size_t>(row), static_cast<std::size_t>(((d + kl) * B + r) * B + c));
    }
    return words;
  };
  return {S, count, beyond(false), beyond(true)};
}

/// Replaces the blocks by those that the neighbours sent: to_left comes from the left. Collective on the chain.
inline PetscErrorCode ExchangeBlocks(const LineChain &chain, bool periodic, OutsideBlocks *blocks)
{
  const PetscMPIInt   left = chain.left(periodic), right = chain.right(periodic);
  std::vector<Scalar> from_left(blocks->to_right.size(), Scalar(0)), from_right(from_left);
  PetscMPIInt         n;
  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(static_cast<PetscInt>(from_left.size()), &n));
  PetscCallMPI(MPI_Sendrecv(blocks->to_right.data(), n, MPIU_SCALAR, right, 0, from_left.data(), n,
                            MPIU_SCALAR, left, 0, chain.comm, MPI_STATUS_IGNORE));
  PetscCallMPI(MPI_Sendrecv(blocks->to_left.data(), n, MPIU_SCALAR, left, 1, from_right.data(), n,
                            MPIU_SCALAR, right, 1, chain.comm, MPI_STATUS_IGNORE));
  blocks->to_left = std::move(from_left), blocks->to_right = std::move(from_right);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The sub-lines of the transposed lines, from the sub-lines of all ranks. The entries of A that couple a
/// rank to the next one couple the next one to it in A^T. Sub-lines are at least as long as their couplings
/// reach, except the last one of an open line. Collective on the chain.
template <class Exec>
PetscErrorCode TransposePieces(const Exec &exec, const LineChain &chain, bool periodic, std::int64_t lines,
                               const Bands<Scalar, typename Exec::memory_space> &pieces,
                               Bands<Scalar, typename Exec::memory_space>       *transposed)
{
  using Input          = Bands<Scalar, typename Exec::memory_space>;
  const bool has_left  = chain.left(periodic) != MPI_PROC_NULL,
             has_right = chain.right(periodic) != MPI_PROC_NULL;
  const auto from      = to_host(pieces);
  const auto inner     = to_host(ribbon::transpose<Scalar>(exec, pieces));
  const int  kl = pieces.kl(), ku = pieces.ku(), K = std::max(kl, ku), B = pieces.block;
  const auto m       = static_cast<std::int64_t>(pieces.values.extent(1));
  int        several = pieces.lhs != Lhs::shared;
  PetscFunctionBegin;
  exec.fence();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &several, 1, MPI_INT, MPI_MAX, chain.comm));
  const std::int64_t count     = several ? lines : std::min<std::int64_t>(lines, 1);
  const auto         matrix_of = [&](std::int64_t l) {
    return static_cast<std::size_t>(pieces.lhs == Lhs::shared ? 0
                                            : pieces.lhs == Lhs::classes
                                              ? from.class_of_line(static_cast<std::size_t>(l))
                                              : l);
  };
  OutsideBlocks outside = outside_blocks(from, count, matrix_of);
  PetscCall(ExchangeBlocks(chain, periodic, &outside));
  Bands<Scalar, Kokkos::HostSpace> all;
  all.values = decltype(all.values)("ribbon::transposed bands", static_cast<std::size_t>(count),
                                    static_cast<std::size_t>(m), inner.values.extent(2));
  for (std::int64_t l = 0; l < count; ++l) {
    const auto c = static_cast<std::size_t>(l);
    for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i)
      for (std::size_t d = 0; d < inner.values.extent(2); ++d)
        all.values(c, i, d) = inner.values(matrix_of(l), i, d);
    for (std::int64_t k = 0; k < outside.S * outside.S; ++k) { // A^T has ku sub- and kl superdiagonals
      const std::int64_t a = k / outside.S, e = k % outside.S, up = a / B - K - e / B, down = -up,
                         first = e / B, last = m - K + a / B;
      const auto entry = [&](std::int64_t i, std::int64_t d, std::int64_t r, std::int64_t s) -> Scalar & {
        return all.values(c, static_cast<std::size_t>(i),
                          static_cast<std::size_t>(((d + ku) * B + r) * B + s));
      };
      if (has_left && first < m && up >= -ku && up <= kl)
        entry(first, up, e % B, a % B) = outside.to_left[static_cast<std::size_t>(k * count + l)];
      if (has_right && last >= 0 && down >= -ku && down <= kl)
        entry(last, down, a % B, e % B) = outside.to_right[static_cast<std::size_t>(k * count + l)];
    }
  }
  *transposed       = Input();
  transposed->lower = ku, transposed->upper = kl, transposed->block = B,
  transposed->lhs = several ? Lhs::per_line : Lhs::shared;
  PetscCallCXX(transposed->values =
                 allocate<typename Input::values_type>(exec, "ribbon::transposed bands", all.values.extent(0),
                                                       all.values.extent(1), all.values.extent(2)));
  PetscCallCXX(Kokkos::deep_copy(exec, transposed->values, all.values));
  PetscCallCXX(exec.fence());
  if (several) PetscCallCXX(share<Scalar>(exec, *transposed, std::max<std::int64_t>(1, (lines - 1) / 4)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
