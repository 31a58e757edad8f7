// SPDX-License-Identifier: BSD-2-Clause
/// @file block_elimination.hpp  Elimination of a chunk of block rows in flight: the counterpart of
///   ChunkElimination (chunk_relations.hpp) for blocks.
#pragma once

#include <ribbon/algorithm/in_flight/cyclic_relations.hpp>

namespace ribbon {

/// The block tridiagonal matrix of a chunk of rows of B unknowns, eliminated row by row. U and H of the
/// previous row stay in scratch, which saves two blocks of registers.
template <class Scalar, int B>
struct BlockChunkElimination {
  using Columns = typename CyclicRelations<Scalar, B>::Columns;
  Scalar  g[B]  = {}; ///< of the last row
  Columns first;      ///< x_first = y - v zl - w x_next of the first row: y, v and w

  KOKKOS_FUNCTION BlockChunkElimination()
  {
    RIBBON_UNROLL
    for (int a = 0; a < B; ++a) {
      RIBBON_UNROLL
      for (int e = 0; e < 1 + 2 * B; ++e) first[a][e] = Scalar(e == 1 + B + a ? -1 : 0);
    }
  }
  /// Eliminates the previous row from a row: D x + h zl + C x_next = r, x = [r, h, C].
  /// @param entry    entry(d, a, b) of the block at distance d
  /// @param before   before(e) is value e of [U | H] of the previous row; with `begins` the chunk has no
  ///   previous row, and zl is in its place
  /// @param couples  whether the matrix has a previous row; otherwise the stored coupling is arbitrary
  template <class Entry, class Before>
  KOKKOS_FUNCTION void take_out(const Entry &entry, const Before &before, bool begins, bool couples,
                                Scalar (&D)[B][B], Columns &x) const
  {
    RIBBON_UNROLL
    for (int a = 0; a < B; ++a) {
      RIBBON_UNROLL
      for (int e = 0; e < B; ++e)
        D[a][e] = entry(0, a, e), x[a][1 + e] = Scalar(0), x[a][1 + B + e] = entry(1, a, e);
    }
    RIBBON_UNROLL
    for (int q = 0; q < B; ++q) {
      Scalar L[B];
      RIBBON_UNROLL
      for (int a = 0; a < B; ++a) {
        L[a] = couples ? entry(-1, a, q) : Scalar(0);
        subtract_product(x[a][0], L[a], g[q]);
        if (begins) x[a][1 + q] = L[a];
      }
      if (begins) continue;
      RIBBON_UNROLL
      for (int e = 0; e < B; ++e) {
        const Scalar U = before(q * B + e), H = before((B + q) * B + e);
        RIBBON_UNROLL
        for (int a = 0; a < B; ++a) add_product(D[a][e], L[a], U), subtract_product(x[a][1 + e], L[a], H);
      }
    }
  }
  /// Eliminates a row. Its right-hand side is in x[.][0]; x becomes [g, H, -U].
  template <class Entry, class Before>
  KOKKOS_FUNCTION void next(const Entry &entry, const Before &before, bool begins, bool couples, Columns &x)
  {
    Scalar D[B][B];
    take_out(entry, before, begins, couples, D, x);
    solve_in_place(D, x);
    RIBBON_UNROLL
    for (int a = 0; a < B; ++a) {
      Scalar w[B];
      g[a] = x[a][0];
      RIBBON_UNROLL
      for (int e = 0; e < B; ++e) w[e] = first[a][1 + B + e], first[a][1 + B + e] = Scalar(0);
      RIBBON_UNROLL
      for (int q = 0; q < B; ++q) {
        RIBBON_UNROLL
        for (int e = 0; e < 1 + 2 * B; ++e) subtract_product(first[a][e], w[q], x[q][e]);
      }
    }
  }
};

} // namespace ribbon
