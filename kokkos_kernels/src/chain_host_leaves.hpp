// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_host_leaves.hpp  How many leaves a host cuts a chain into.
#pragma once

#include <ribbon/chain.hpp>
#include <ribbon/multifrontal/host/qr_leaf_bundle.hpp>

#include <algorithm>
#include <cstdint>

namespace ribbon::multifrontal {

/// Threads from which on a chain is cut. On one core bundles take 0.9 (W = 2) to 2.5 times (W = 10) as long
/// as band LU to factor, 0.9 to 3 times for one column and 2 to 4 times for eight; 5 to 6 times to factor for
/// W = 12 to 16. Leaves one by one take 4 + W times.
constexpr int threads_for_leaves(int W)
{
  return !has_bundles(W) ? 5 + W : W > 10 ? 8 : 4;
}
/// Rows from which on that is worth the launches.
constexpr std::int64_t rows_for_leaves = 8192;

/// Rows of a leaf on a host at most: a row that stays for more steps is rounded so
/// often that digits are lost.
constexpr std::int64_t longest_leaf = 2048;

/// Leaves of a chain on a host, as far as it has rows for them: a bundle for each thread, or one leaf where
/// the band is too wide; one, for band LU, where that is as fast.
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

/// Rows of a leaf on a host at least: fewer are not worth the join.
constexpr int shortest_leaf(int W)
{
  return has_bundles(W) ? std::max(16, 6 * W) : std::max(64, 4 * W);
}

} // namespace ribbon::multifrontal
