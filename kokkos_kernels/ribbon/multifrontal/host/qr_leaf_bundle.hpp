// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf_bundle.hpp  Bundles of leaves, interleaved in the vectors of a host, and copies of rows to
///   and from vectors. qr_leaf_lanes.hpp eliminates them, qr_leaf_lanes_solve.hpp solves.
///
/// Leaves differ by few rows. At the ends of chains and in the last few steps, some leaves lack a row or a
/// step that others have. Their lanes take part, and their values are restored afterwards.
#pragma once

#include <ribbon/host/lanes.hpp>
#include <ribbon/multifrontal/factors.hpp>

#include <algorithm>

namespace ribbon::multifrontal {

/// Leaves of a bundle: two vectors of 32 bytes, so that products of one overlap with roots and quotients of
/// the other. Vectors of 64 bytes were slower.
template <class Scalar>
inline constexpr int bundle_lanes = 64 / static_cast<int>(sizeof(real_t<Scalar>));
/// Widths with bundles; the window of a wider band does not fit the first-level cache.
constexpr bool has_bundles(int W)
{
  return W >= 1 && W <= 16;
}
/// Calls f(K, bytes) with the width W, or 0 for any, and the bytes of a vector, as integral_constants. For
/// old processors there is only code for any width.
template <class F>
void with_bundle_vectors(int W, const F &f)
{
  host::with_vector_bytes([&](auto bytes) {
    if constexpr (bytes() == 16) f(std::integral_constant<int, 0>(), bytes);
    else with_half_bandwidth<2, 4, 6, 8, 10>(W, [&](auto K) { f(K, bytes); });
  });
}

/// Rows, or steps, that are copied to and from vectors together.
inline constexpr int bundle_rows = 16;

/// The leaves of slots lanes * number and on. Lanes after the last leaf repeat it, for slots that are never
/// read.
template <class Scalar>
struct LeafBundle {
  static constexpr int lanes = bundle_lanes<Scalar>;
  const Tree          &tree;
  std::int64_t         number;
  Leaf                 leaf[lanes];
  bool                 repeats[lanes];
  int                  begin[lanes], end[lanes];               ///< rows of a leaf that the chain has
  int                  steps = 0, common_steps = 1 << 30;      ///< of the longest and the shortest leaf
  int                  common_begin = 0, common_end = 1 << 30; ///< rows that all leaves have
  bool                 scales_aligned = true;                  ///< scales of row i are contiguous

  LeafBundle(const Tree &t, std::int64_t bundle) : tree(t), number(bundle)
  {
    const std::int64_t all = tree.chain.chains * tree.leaves;
    const int          W   = tree.chain.width();
    for (int l = 0; l < lanes; ++l) {
      const std::int64_t slot = std::min(bundle * lanes + l, all - 1);
      leaf[l] = Leaf(tree, slot / tree.leaves, slot % tree.leaves), repeats[l] = bundle * lanes + l >= all;
      begin[l] = static_cast<int>(std::max<std::int64_t>(-leaf[l].first, 0)),
      end[l]   = static_cast<int>(std::min<std::int64_t>(leaf[l].own + W, tree.chain.rows - leaf[l].first));
      steps = std::max(steps, leaf[l].own), common_steps = std::min(common_steps, leaf[l].own);
      common_begin = std::max(common_begin, begin[l]), common_end = std::min(common_end, end[l]);
      scales_aligned = scales_aligned && leaf[l].first == tree.start(leaf[l].node);
    }
  }

  bool has(int l, int i) const { return i >= begin[l] && i < end[l]; }
  bool all_have(int i) const { return i >= common_begin && i < common_end; }
  /// Whether all leaves have step s and the row that enters there.
  bool is_common(int s) const { return s < common_steps && all_have(tree.chain.width() + s); }
  /// `count` values of a step, lanes fastest.
  template <class Number>
  Number *step(Number *all, int s, int count) const
  {
    return all + (number * tree.most_rows() + s) * count * lanes;
  }
  real_t<Scalar> &scale(const Factors<Scalar> &factors, int l, int i) const
  {
    return step(factors.row_scale, i + static_cast<int>(leaf[l].first - tree.start(leaf[l].node)), 1)[l];
  }
  /// The place of row i of a leaf in the matrix and its vectors.
  std::int64_t place(int l, int i) const { return leaf[l].chain * tree.chain.rows + leaf[l].first + i; }
};

/// to[k * lanes + l] = from[l][k] for k < n.
template <class Scalar, int lanes>
void bring_to_lanes(const Scalar *const (&from)[lanes], int n, Scalar *to)
{
  int k = 0;
  if constexpr (std::is_floating_point_v<Scalar>)
    for (; k + 4 <= n; k += 4)
      for (int l = 0; l < lanes; l += 4) {
        Scalar *const at = to + k * lanes + l;
        host::transpose_square<Scalar>({from[l] + k, from[l + 1] + k, from[l + 2] + k, from[l + 3] + k},
                                       {at, at + lanes, at + 2 * lanes, at + 3 * lanes});
      }
  for (; k < n; ++k)
    for (int l = 0; l < lanes; ++l) to[k * lanes + l] = from[l][k];
}
/// The reverse.
template <class Scalar, int lanes>
void bring_from_lanes(const Scalar *from, int n, Scalar *const (&to)[lanes])
{
  int k = 0;
  if constexpr (std::is_floating_point_v<Scalar>)
    for (; k + 4 <= n; k += 4)
      for (int l = 0; l < lanes; l += 4) {
        const Scalar *const at = from + k * lanes + l;
        host::transpose_square<Scalar>({at, at + lanes, at + 2 * lanes, at + 3 * lanes},
                                       {to[l] + k, to[l + 1] + k, to[l + 2] + k, to[l + 3] + k});
      }
  for (; k < n; ++k)
    for (int l = 0; l < lanes; ++l) to[l][k] = from[k * lanes + l];
}

} // namespace ribbon::multifrontal
