// SPDX-License-Identifier: BSD-2-Clause
/// @file reduced_plan.hpp  Tables of the reduced systems of the one-pass kernel, and the number of steps of
///   cyclic reduction before the product with an inverse.
#pragma once

#include <ribbon/algorithm/one_pass/shape.hpp>
#include <ribbon/elimination/reduced.hpp>

#include <vector>

namespace ribbon {

template <class Scalar, int S, class Entry>
SquareBlock<Scalar, S> square_block(const Entry &entry)
{
  SquareBlock<Scalar, S> s;
  for (int a = 0; a < S; ++a)
    for (int b = 0; b < S; ++b) s.a[a * S + b] = narrow<Scalar>(entry(a, b));
  return s;
}

/// The entries of blocks, on the device.
template <class Exec, class Scalar, int S, template <class, int> class Block>
auto upload_blocks(const Exec &exec, const char *label, const std::vector<Block<Scalar, S>> &blocks)
{
  const auto *words = reinterpret_cast<const Scalar *>(blocks.data());
  return upload(
    exec, label,
    std::vector<Scalar>(words, words + blocks.size() * (sizeof(Block<Scalar, S>) / sizeof(Scalar))));
}

/// Sets the window of blocks of the inverse that matter to any of the systems.
template <class Scalar>
void set_window(OnePassShape &s, const std::vector<ReducedSystem<Scalar>> &systems)
{
  const int count = (s.split.chunks + systems[0].stride - 1) / systems[0].stride;
  s.reach         = 0;
  for (const auto &system : systems)
    s.reach = std::max(s.reach, system.reach(static_cast<long double>(unit_roundoff<Scalar>()) / 32));
  s.window = std::min(count, 2 * s.reach + 1);
  if (s.window == count) s.reach = count;
}

/// The systems after as many steps of cyclic reduction as are faster and accurate, and the shape with them.
template <class Scalar>
std::vector<ReducedSystem<Scalar>> halve_what_pays(const std::vector<ReducedSystem<Scalar>> &systems,
                                                   OnePassShape                             &shape)
{
  constexpr long double most_growth = 16; // of rounding errors: the probe accepts a thousand
  // A step with its barrier costs as much as three blocks of the inverse.
  const auto cost = [](int window, int steps) { return window + 3 * steps + (steps > 0 ? 1 : 0); };
  auto       best = systems, next = systems;
  for (int steps = 1; cost(1, steps) < cost(shape.window, shape.halvings); ++steps) {
    for (std::size_t m = 0; m < systems.size(); ++m) {
      if (!next[m].can_halve()) return best;
      next[m].halve();
      if (!(next[m].growth(systems[m]) <= most_growth)) return best;
    }
    OnePassShape s = shape;
    s.halvings     = steps;
    set_window(s, next);
    if (cost(s.window, steps) < cost(shape.window, shape.halvings)) best = next, shape = s;
  }
  return best;
}

/// Block w of the window of chunk c.
template <int S, class Scalar>
SquareBlock<Scalar, S> block_of_inverse(const ReducedSystem<Scalar> &system, const OnePassShape &shape, int c,
                                        int w)
{
  const int q =
    ((shape.halvings > 0 ? shape.halved_window_begin(c) : shape.window_begin(c)) + w * system.stride) %
    system.chunks;
  return square_block<Scalar, S>([&](int a, int b) { return system.inverse(c * S + a, q * S + b); });
}

/// Factors by which chunk c adds other right-hand sides in step k.
template <int S, class Scalar>
StepBlocks<Scalar, S> blocks_of_step(const ReducedSystem<Scalar> &system, int k, int c)
{
  const auto            step = static_cast<std::size_t>(k);
  StepBlocks<Scalar, S> blocks;
  for (int a = 0; a < S; ++a)
    for (int b = 0; b < S; ++b)
      blocks.left[a * S + b]                      = narrow<Scalar>(system.left[step](c * S + a, b)),
                          blocks.right[a * S + b] = narrow<Scalar>(system.right[step](c * S + a, b));
  return blocks;
}

} // namespace ribbon
