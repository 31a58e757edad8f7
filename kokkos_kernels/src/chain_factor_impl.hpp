// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_factor_impl.hpp  ChainSolver: the launches of a factorization, in separate files because
///   their kernels take long to compile.
#pragma once

#include <ribbon/multifrontal/qr/leaf.hpp>
#include <ribbon/multifrontal/host/qr_leaf.hpp>
#include <ribbon/multifrontal/host/qr_leaf_lanes.hpp>
#include <ribbon/multifrontal/qr/tile_factor.hpp>

#include "chain_plan.hpp"
#include "chain_solver_class.hpp"
#include "instantiate.hpp"

#include <algorithm>

namespace ribbon {

namespace multifrontal {

/// The team of a join.
template <class Scalar, class Exec>
typename QrJoinKernel<Scalar>::Shape join_shape(const Exec &exec, int W)
{
  using Join = QrJoinKernel<Scalar>;
  // the reduced matrix of several ranks has a larger width
  const int columns = std::max(std::min(64, power_of_two_from(4 * W)), power_of_two_from(W));
  const int parts =
    !is_device_space<Exec>
      ? 1
      : std::max(1, std::min(Join::max_threads / columns, std::max(W < 32 ? 2 : 4, 32 / columns)));
  typename Join::Shape shape{columns, parts, columns,
                             is_device_space<Exec> ? (W > 8   ? 5
                                                      : W > 4 ? 4
                                                              : 3)
                                                   : 0};
  while (shape.batch > 1 && Join::Scratch::bytes(W, shape) > device::scratch_limit(exec)) shape.batch /= 2;
  return shape;
}

} // namespace multifrontal

template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::factor_entries(const Exec                 &exec,
                                                               const ChainEntries<Scalar> &A)
{
  using namespace multifrontal;
  const int W       = tree_.chain.width();
  bool      at_once = false; // leaves and joins
  if (in_tiles_) {
    with_tiles<Scalar>(W, [&](auto K) {
      using Both                    = QrTileFactorKernel<Scalar, K()>;
      using Leaves                  = typename Both::Leaves;
      constexpr bool     is_virtual = !is_device_space<Exec>;
      const Leaves       leaves{tree_, A, factors_};
      const std::int64_t tiles = (tree_.chain.chains * tree_.slots + Leaves::leaves - 1) / Leaves::leaves;
      at_once = (tree_.chain.chains == 1 || tree_.slots >= Leaves::leaves) && tiles <= tiles_at_once(exec);
      if (at_once)
        device::launch(exec, "ribbon::chain_factor", {tiles, Both::team_size, Both::scratch(is_virtual)},
                       Both{leaves, {tree_, factors_, {arrivals_.data()}, {0, tree_.top()}, tops()}});
      else
        device::launch(exec, "ribbon::chain_leaves", {tiles, Leaves::team_size, Leaves::scratch(is_virtual)},
                       leaves);
    });
  } else if (in_lanes_) {
    if constexpr (!is_device_space<Exec>) {
      const std::int64_t lanes = bundle_lanes<Scalar>;
      Kokkos::parallel_for("ribbon::chain_leaves",
                           indices(exec, (tree_.chain.chains * tree_.leaves + lanes - 1) / lanes),
                           LeafBundlesKernel<Scalar>{tree_, factors_, A});
    }
  } else if (windows_.extent(0) > 0) {
    if constexpr (!is_device_space<Exec>)
      Kokkos::parallel_for("ribbon::chain_leaves", indices(exec, tree_.chain.chains * tree_.leaves),
                           HostLeavesKernel<Scalar, Exec>{tree_, factors_, A, windows_.data(),
                                                          Kokkos::Experimental::UniqueToken<Exec>(exec)});
  } else {
    using Kernel     = QrLeafKernel<Scalar>;
    const auto bytes = Kernel::Window::bytes(W);
    const auto shape = leaf_groups(exec, 2 * W, bytes);
    device::launch(exec, "ribbon::chain_leaves",
                   {tree_.chain.chains * ((tree_.leaves + shape.groups - 1) / shape.groups),
                    shape.lanes * shape.groups, static_cast<std::size_t>(shape.groups) * bytes},
                   Kernel{tree_, shape, A, factors_, bytes});
  }
  has_leaves_ = true;
  if (!at_once) factor_joins(exec);
  finish_report(exec);
}

template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::factor_joins(const Exec &exec)
{
  using namespace multifrontal;
  const int W = tree_.chain.width();
  if (in_tiles_) {
    if (tree_.top() == 0) return;
    with_tiles<Scalar>(W, [&](auto K) {
      const int  top   = tree_.top();
      const auto joins = [&](const auto &kernel) {
        using Kernel = std::decay_t<decltype(kernel)>;
        device::launch(exec, "ribbon::chain_joins",
                       {tree_.chain.chains * tree_.count[tree_.stage_top(kernel.levels.bottom)],
                        Kernel::team_size, Kernel::scratch(!is_device_space<Exec>)},
                       kernel);
      };
      using Many = QrJoinRegistersKernel<Scalar, K()>;
      if constexpr (K() <= 4) joins(Many{tree_, factors_, {arrivals_.data()}, {0, top}, tops()});
      else { // higher up a device is not full
        const int middle = tree_.chain.chains * tree_.count[tree_.stage_top(0)] <= tiles_at_once(exec)
                             ? 0
                             : tree_.stage_top(0);
        if (middle > 0) joins(Many{tree_, factors_, {arrivals_.data()}, {0, middle}, tops()});
        if (middle < top)
          joins(QrJoinRegistersKernel<Scalar, K(), (K() <= 6 ? 32 : 64), 512>{
            tree_, factors_, {arrivals_.data()}, {middle, top}, tops()});
      }
    });
    return;
  }
  if (tree_.top() == 0) return;
  using Join       = QrJoinKernel<Scalar>;
  const auto shape = join_shape<Scalar>(exec, W);
  device::launch(exec, "ribbon::chain_joins",
                 {tree_.chain.chains * tree_.count[tree_.stage_top(0)], shape.columns * shape.parts,
                  Join::Scratch::bytes(W, shape)},
                 Join{tree_, factors_, {arrivals_.data()}, shape});
}

} // namespace ribbon
