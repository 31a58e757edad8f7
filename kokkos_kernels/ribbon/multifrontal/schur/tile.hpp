// SPDX-License-Identifier: BSD-2-Clause
/// @file tile.hpp  Right-hand sides at the leaves of the tree of Schur complements, for half-bandwidths
///   known at compile time.
#pragma once

#include <ribbon/multifrontal/qr/tile.hpp>
#include <ribbon/multifrontal/schur/factors.hpp>

namespace ribbon::multifrontal {

/// Rows and factors of the leaves of a tile are copied as in QrTile. A slot of the ring has 2 w values of L
/// or U for every step, followed, on the way down, by 1 / d of all steps.
template <class Scalar, int w, bool Many>
struct SchurTile : QrTile<Scalar, w, Many, false> {
  using Base = QrTile<Scalar, w, Many, false>;
  using Base::apart;
  using Base::block;
  using Base::chunk;
  using Base::leaves;
  using Base::solve;
  using Base::stages;
  using Base::team_size;
  using typename Base::Shared;
  struct Tile : Base::Tile { ///< reflection: L
    const Scalar *pivot;
  };
  SchurFactors<Scalar> factors;
  explicit SchurTile(const SchurSolve<Scalar> &s) : Base(s.at), factors(s.factors) { }

  KOKKOS_INLINE_FUNCTION Tile tile(std::int64_t team) const
  {
    const Tree        &tree         = solve.tree;
    const std::int64_t number       = solve.quotient(team, this->blocks()),
                       block_number = team - number * this->blocks(), slot0 = number * leaves,
                       chain0 = tree.chain.chains == 1 ? 0 : slot0 / tree.slots,
                       node0 = slot0 - chain0 * tree.slots, rest = solve.v.columns - block_number * block,
                       lane = slot0 % 32, first = (slot0 - lane) * tree.most_rows();
    const bool ends = !tree.chain.ring && node0 + leaves >= tree.leaves;
    return {{chain0, node0, chain0 * tree.chain.rows + tree.start(node0), block_number * block,
             (static_cast<int>(tree.most_rows()) - (ends ? 0 : w) + chunk - 1) / chunk,
             static_cast<int>(rest < block ? rest : block), static_cast<int>(tree.shortest) - w,
             factors.lower + first * 2 * w + lane, factors.upper + first * 2 * w + lane},
            factors.pivot + first + lane};
  }
  KOKKOS_INLINE_FUNCTION void begin(const Tile &tile, int v, Shared &shared) const
  {
    if (v >= leaves) return;
    const Tree  &tree = solve.tree;
    std::int64_t chain, node;
    shared.begin[v] = shared.length[v] = shared.lead[v] = shared.own[v] = 0;
    if (!this->find_leaf(tile, v * block, chain, node)) return;
    const SchurLeaf leaf(tree, chain, node);
    shared.begin[v]  = static_cast<int>(chain * tree.chain.rows + leaf.first - tile.base),
    shared.length[v] = leaf.rows, shared.own[v] = leaf.own;
  }

  /// Starts to copy the factors of chunk q to slot u % stages.
  template <bool Up, bool Virtual>
  KOKKOS_INLINE_FUNCTION void fetch(const Tile &tile, int u, int q, int v, Shared &shared) const
  {
    constexpr int together = 32;
    const int     rest     = static_cast<int>(solve.tree.most_rows()) - q * chunk,
              steps        = rest < chunk ? rest : chunk;
    Scalar            *to  = shared.factor[u % stages];
    const std::int64_t at  = static_cast<std::int64_t>(q) * chunk * together;
    // N values per step, after `behind` values of a leaf
    const auto copy = [&](const Scalar *from, auto N, int behind) {
      constexpr int n = decltype(N)::value, run = Many ? leaves : leaves / 2,
                    rounds = (chunk * n * run + team_size - 1) / team_size;
      RIBBON_UNROLL
      for (int k = 0; k < rounds; ++k) {
        const int e = v + k * team_size;
        if (e >= steps * n * run) continue;
        if constexpr (Many)
          device::async_copy(to + e % run * Base::slot + behind + e / run,
                             from + e / run * together + e % run);
        else if constexpr (Virtual)
          to[behind * leaves + 2 * e] = from[2 * e], to[behind * leaves + 2 * e + 1] = from[2 * e + 1];
        else device::async_copy_pack(to + behind * leaves + 2 * e, from + 2 * e);
      }
    };
    copy((Up ? tile.reflection : tile.upper) + at * 2 * w, std::integral_constant<int, 2 * w>(), 0);
    if constexpr (!Up) copy(tile.pivot + at, std::integral_constant<int, 1>(), chunk * 2 * w);
  }

  /// The rows of chunk q on the way up. `near`, `cut`: the values that eliminated unknowns subtract from
  /// the next rows, and from those of the cut before. Whole: every leaf has all these steps.
  template <bool Whole>
  KOKKOS_INLINE_FUNCTION void forward(int u, int q, int v, Scalar (&near)[w], Scalar (&cut)[w],
                                      const Shared &shared, Scalar *values) const
  {
    const int     leaf = Base::leaf_of(v), first = q * chunk, own = shared.own[leaf];
    const Scalar *l    = Base::factor_of(shared, u, leaf);
    Scalar       *rows = this->value(values, leaf, Base::column_of(v)) + first, y[chunk];
    read<Whole>(rows, first, own, y);
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t) {
      if (!Whole && first + t >= own) continue;
      y[t] -= near[0];
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) {
        near[k] = (k + 1 < w ? near[k + 1 < w ? k + 1 : 0] : Scalar(0)) + l[(t * 2 * w + k) * apart] * y[t];
        cut[k] += l[(t * 2 * w + w + k) * apart] * y[t];
      }
    }
    write<Whole>(rows, first, own, y);
  }
  /// Solves for the unknowns of chunk q; `near`: those after them, `left`: those of the cut before the
  /// leaf.
  template <bool Whole>
  KOKKOS_INLINE_FUNCTION void backward(int u, int q, int v, Scalar (&near)[w], const Scalar (&left)[w],
                                       const Shared &shared, Scalar *values) const
  {
    const int     leaf = Base::leaf_of(v), first = q * chunk, own = shared.own[leaf];
    const Scalar *f = Base::factor_of(shared, u, leaf), *d = f + chunk * 2 * w * apart;
    Scalar       *rows = this->value(values, leaf, Base::column_of(v)) + first, y[chunk];
    read<Whole>(rows, first, own, y);
    RIBBON_UNROLL
    for (int t = chunk - 1; t >= 0; --t) {
      if (!Whole && first + t >= own) continue;
      Scalar sum = y[t] * d[t * apart];
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) sum -= f[(t * 2 * w + w + k) * apart] * left[k];
      RIBBON_UNROLL
      for (int k = w - 1; k >= 0; --k)
        sum -= f[(t * 2 * w + k) * apart] * near[k]; // the most recent unknown is used last
      RIBBON_UNROLL
      for (int k = w - 1; k > 0; --k) near[k] = near[k - 1];
      y[t] = near[0] = sum;
    }
    write<Whole>(rows, first, own, y);
  }
  template <bool Whole>
  KOKKOS_INLINE_FUNCTION static void read(const Scalar *rows, int first, int own, Scalar (&y)[chunk])
  {
    if (Whole) return Base::load(rows, first % 2 == 0, y);
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t) y[t] = first + t < own ? rows[t] : Scalar(0);
  }
  template <bool Whole>
  KOKKOS_INLINE_FUNCTION static void write(Scalar *rows, int first, int own, const Scalar (&y)[chunk])
  {
    if (Whole) return Base::keep(rows, first % 2 == 0, y);
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t)
      if (first + t < own) rows[t] = y[t];
  }
  KOKKOS_INLINE_FUNCTION void up(const Tile &tile, int u, int q, int v, Scalar (&near)[w], Scalar (&cut)[w],
                                 const Shared &shared, Scalar *values) const
  {
    if (!Base::works(tile, v)) return;
    if ((q + 1) * chunk <= tile.least) forward<true>(u, q, v, near, cut, shared, values);
    else forward<false>(u, q, v, near, cut, shared, values);
  }
  KOKKOS_INLINE_FUNCTION void down(const Tile &tile, int u, int q, int v, Scalar (&near)[w],
                                   const Scalar (&left)[w], const Shared &shared, Scalar *values) const
  {
    if (!Base::works(tile, v)) return;
    if ((q + 1) * chunk <= tile.least) backward<true>(u, q, v, near, left, shared, values);
    else backward<false>(u, q, v, near, left, shared, values);
  }
  /// Value k that a leaf passes: for the cut before, then for the cut after, including b there.
  KOKKOS_INLINE_FUNCTION Scalar passed(int v, int k, const Scalar (&near)[w], const Scalar (&cut)[w],
                                       const Shared &shared, Scalar *values) const
  {
    const int leaf = Base::leaf_of(v), own = shared.own[leaf];
    if (k < w) return -cut[k < w ? k : 0];
    return own + k - w < shared.length[leaf]
             ? this->value(values, leaf, Base::column_of(v))[own + k - w] - near[k >= w ? k - w : 0]
             : Scalar(0);
  }
  /// Copies the unknowns of the cut after a leaf to its values.
  KOKKOS_INLINE_FUNCTION void place_cut(int v, const Scalar (&behind)[w], const Shared &shared,
                                        Scalar *values) const
  {
    const int leaf = Base::leaf_of(v), own = shared.own[leaf];
    RIBBON_UNROLL
    for (int k = 0; k < w; ++k)
      if (own + k < shared.length[leaf]) this->value(values, leaf, Base::column_of(v))[own + k] = behind[k];
  }
};

} // namespace ribbon::multifrontal
