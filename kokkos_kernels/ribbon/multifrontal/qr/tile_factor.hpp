// SPDX-License-Identifier: BSD-2-Clause
/// @file tile_factor.hpp  Leaves and joins of a short chain in one launch.
#pragma once

#include <ribbon/multifrontal/qr/join_registers.hpp>
#include <ribbon/multifrontal/qr/leaf_tile.hpp>

namespace ribbon::multifrontal {

/// A team continues with the joins above its leaves. Joins need more threads than leaves, so that fewer
/// teams fit a multiprocessor than with separate kernels. The kernel is therefore for few tiles, of one
/// chain or of chains with at least 32 leaves.
template <class Scalar, int W>
struct QrTileFactorKernel {
  using Leaves                     = QrLeafTileKernel<Scalar, W>;
  using Joins                      = QrJoinRegistersKernel<Scalar, W, W <= 2 ? 16 : W <= 6 ? 32 : 64, 256>;
  static constexpr int team_size   = Joins::team_size;
  static constexpr int max_threads = team_size;
  Leaves               leaves;
  Joins                joins;

  static std::size_t scratch(bool virtual_threads)
  {
    const std::size_t states =
                        virtual_threads ? team_size * device::align16(sizeof(typename Leaves::Lane)) : 0,
                      bytes = Leaves::scratch(false) + states, more = Joins::scratch(virtual_threads);
    return bytes > more ? bytes : more;
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    leaves.template run<false>(team);
    team.barrier();
    if (joins.tree.top() > 0) joins(team);
  }
};

} // namespace ribbon::multifrontal
