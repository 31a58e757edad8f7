// SPDX-License-Identifier: BSD-2-Clause
/// @file coefficients.hpp  Coefficients of the regular chunks of a step kernel: half of them are arguments,
///   the other half is in scratch.
#pragma once

#include <ribbon/algorithm/one_pass/coefficients.hpp>

namespace ribbon {

/// Coefficients of a row that a kernel reads from scratch.
template <class Scalar, int K>
struct alignas(sizeof(Scalar) * K) HeldRow {
  Scalar D[K], H[K];
};

/// The coefficients of a full chunk. With all of them in the arguments, a device waited for its cache of
/// constants in a seventh of the time (H100, 32 pentadiagonal rows). A kernel copies half of them to scratch.
template <class Scheme, int rows>
struct PackedChunk {
  using Scalar                = typename Scheme::Scalar;
  static constexpr int  K     = Scheme::separators;
  static constexpr int  inner = rows - K;
  Scalar                inv[inner], L[inner * K], U[inner * K];
  typename Scheme::Edge edge;
  HeldRow<Scalar, K>    held[inner];

  PackedChunk() = default;
  explicit PackedChunk(const ChunkBlock<Scheme, rows> &from) : edge(from.forward.edge)
  {
    for (int k = 0; k < inner; ++k) {
      inv[k] = from.forward.row[k].inv[0];
      for (int q = 0; q < K; ++q) {
        L[k * K + q] = from.forward.row[k].L[q], U[k * K + q] = from.backward.row[k].U[q];
        held[k].D[q] = from.forward.row[k].D[q], held[k].H[q] = from.backward.row[k].H[q];
      }
    }
  }
};
template <class Chunk, class Scheme>
struct PackedBlock {
  static constexpr bool                      full = true;
  static constexpr int                       K    = Chunk::K;
  const Chunk                               &chunk;
  const HeldRow<typename Scheme::Scalar, K> *held;

  KOKKOS_FORCEINLINE_FUNCTION typename Scheme::Forward forward(int k) const
  {
    typename Scheme::Forward row;
    row.inv[0] = chunk.inv[k];
    for (int q = 0; q < K; ++q) row.L[q] = chunk.L[k * K + q], row.D[q] = held[k].D[q];
    return row;
  }
  KOKKOS_FORCEINLINE_FUNCTION typename Scheme::Backward backward(int k) const
  {
    typename Scheme::Backward row;
    for (int q = 0; q < K; ++q) row.U[q] = chunk.U[k * K + q], row.H[q] = held[k].H[q];
    return row;
  }
  KOKKOS_FUNCTION const auto &edge() const { return chunk.edge; }
};

} // namespace ribbon
