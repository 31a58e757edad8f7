// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_host_leaves.hpp  The number of leaves into which a host divides a chain.
#pragma once

#include <ribbon/chain.hpp>
#include <ribbon/multifrontal/host/qr_leaf_bundle.hpp>

#include <algorithm>
#include <cstdint>

namespace ribbon::multifrontal {

/// A chain is divided from this many threads on. Times on one core, relative to band LU, for W = 2 to 10:
/// bundles take 0.9 to 2.5 to factor, 0.9 to 3 for one column, and 2 to 4 for eight. For W = 12 to 16 they
/// take 5 to 6 to factor. Leaves one by one take 4 + W.
constexpr int threads_for_leaves(int W)
{
  return !has_bundles(W) ? 5 + W : W > 10 ? 8 : 4;
}
/// Rows from which on the division is worth the launches.
constexpr std::int64_t rows_for_leaves = 8192;

/// Most rows of a leaf on a host: a row that remains in the window for more steps is rounded so often that
/// it is inaccurate.
constexpr std::int64_t longest_leaf = 2048;

/// Leaves of a chain on a host, if it has enough rows for them: a bundle per thread, or one leaf per thread
/// if the band is too wide for bundles. One leaf, for band LU, if that is as fast.
template <class Scalar>
std::int64_t leaves_of_threads(std::int64_t threads, const Chain &chain, bool orthogonal)
{
  const std::int64_t chains = std::max<std::int64_t>(chain.chains, 1),
                     lanes  = has_bundles(chain.width()) ? bundle_lanes<Scalar> : 1;
  if (!orthogonal && !chain.is_open_left() && !chain.is_open_right() &&
      (threads / chains < threads_for_leaves(chain.width()) || chain.rows < rows_for_leaves))
    return 1;
  return std::max((lanes * threads + chains - 1) / chains,
                  (chain.rows / longest_leaf + lanes - 1) / lanes * lanes);
}

/// Fewest rows of a leaf on a host: fewer are not worth the join.
constexpr int shortest_leaf(int W)
{
  return has_bundles(W) ? std::max(16, 6 * W) : std::max(64, 4 * W);
}

} // namespace ribbon::multifrontal
