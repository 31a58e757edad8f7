// SPDX-License-Identifier: BSD-2-Clause
/// @file joined_plan.hpp  Coefficients and launches of one-pass kernels for segments of longer lines.
#pragma once

#include <ribbon/algorithm/one_pass/joined.hpp>
#include <ribbon/algorithm/one_pass/reduced_plan.hpp>

#include <vector>

namespace ribbon {

/// Couplings of the separators of the first chunk to those left of the line, after its interior is
/// eliminated. Then couplings of the last separators to those right of the line.
template <class Scheme>
std::vector<SquareBlock<typename Scheme::Scalar, Scheme::separators>>
outer_couplings(const HostMatrix<typename Scheme::Scalar>          &A,
                const ChunkTables<wide_t<typename Scheme::Scalar>> &first)
{
  using Scalar    = typename Scheme::Scalar;
  constexpr int S = Scheme::separators, B = Scheme::block, K = Scheme::separator_rows;
  return {square_block<Scalar, S>([&](int a, int b) { return first.own_left(a, b); }),
          square_block<Scalar, S>(
            [&](int a, int b) { return A(A.rows - K + a / B, K + b / B - a / B, a % B, b % B); })};
}

/// The spikes that a JoinedOnePassKernel needs, for a segment of `chunks` chunks.
template <class Scheme>
std::vector<SquareBlock<typename Scheme::Scalar, Scheme::separators>>
joined_spikes(int chunks, const ChunkTables<wide_t<typename Scheme::Scalar>> &first,
              const ReducedSystem<typename Scheme::Scalar> &system,
              const HostMatrix<typename Scheme::Scalar>    &A)
{
  using Scalar    = typename Scheme::Scalar;
  using Wide      = wide_t<Scalar>;
  constexpr int S = Scheme::separators, K = Scheme::separator_rows;
  static_assert(Scheme::block == 1);
  std::vector<SquareBlock<Scalar, S>> spikes;
  for (int c = 0; c < chunks; ++c)
    for (int side = 0; side < 2; ++side)
      spikes.push_back(square_block<Scalar, S>([&](int a, int b) {
        Wide sum(0);
        for (int e = 0; e < S; ++e)
          sum += system.inverse(c * S + a, (side == 0 ? 0 : (chunks - 1) * S) + e) *
                 (side == 0 ? first.own_left(e, b) : A(A.rows - K + e, K + b - e));
        return sum;
      }));
  // the backward sweep of the first chunk, from a unit vector
  spikes.push_back(square_block<Scalar, S>([&](int a, int b) {
    std::vector<Wide> x(static_cast<std::size_t>(2 * S));
    x[static_cast<std::size_t>(b)] = Wide(1);
    for (int k = static_cast<int>(first.backward.size()) / first.backward_words - 1; k >= 0; --k) {
      Wide next(0);
      for (int q = 0; q < K; ++q)
        next += first.backward[static_cast<std::size_t>(k * first.backward_words + q)] *
                x[static_cast<std::size_t>(q)];
      x.insert(x.begin(), next), x.pop_back();
    }
    return -x[static_cast<std::size_t>(a)];
  }));
  return spikes;
}

/// Launches a JoinedOnePassKernel for `tiles` tiles.
/// @param at_once  teams of this shape that run at the same time, 0 if not yet known
template <class Exec, class Kernel>
void launch_joined(const Exec &exec, Kernel &kernel, std::int64_t tiles, std::int64_t &at_once)
{
  device::League league{tiles, kernel.shape.threads(), kernel.scratch(kernel.shape, !is_device_space<Exec>)};
  if constexpr (is_device_space<Exec>) {
    if (at_once == 0) at_once = device::teams_at_once<Kernel>(exec, league.threads, league.scratch);
    if (at_once < std::min<std::int64_t>(tiles, 2 * JoinedPieces<typename Kernel::Scalar>::most_reach))
      throw std::runtime_error("ribbon::one_pass_joined: the device runs too few teams at once");
    kernel.teams = league.teams = std::min(tiles, at_once), league.at_once = true;
  } else {
    kernel.phase = Kernel::Phase::announce;
    device::launch(exec, "ribbon::one_pass_joined", league, kernel);
    kernel.phase = Kernel::Phase::solve;
  }
  device::launch(exec, "ribbon::one_pass_joined", league, kernel);
}

} // namespace ribbon
