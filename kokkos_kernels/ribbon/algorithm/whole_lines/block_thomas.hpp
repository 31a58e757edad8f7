// SPDX-License-Identifier: BSD-2-Clause
/// @file block_thomas.hpp  Solves of block tridiagonal lines on hosts: the lines of a tile are SIMD lanes.
#pragma once

#include <ribbon/algorithm/whole_lines/block_thomas_factor.hpp>

namespace ribbon {

/// Solves T y = f for the right-hand sides of a tile, in place, with the factors of tile t. join() continues with
/// the border of periodic lines.
template <class Scalar>
struct BlockSweep {
  using Tiles                = BlockTiles<Scalar>;
  using Pack                 = typename Tiles::Pack;
  static constexpr int lanes = Tiles::lanes, packs = Tiles::packs, width = Tiles::width, most = most_block;

  Tiles factors;

  void operator()(std::int64_t t, Scalar *tile) const
  {
    const int B = factors.block, BB = B * B * lanes;
    Pack      near[most][packs] = {}, v[most][packs]; // of the previous row, of this row
    for (std::int64_t i = 0; i < factors.rows; ++i) {
      const Scalar *const M = factors.row(t, i), *const D = M + BB;
      for (int a = 0; a < B; ++a) {
        load(tile, i * B + a, v[a]);
        for (int c = 0; c < B; ++c) subtract(v[a], M, a * B + c, near[c]);
        for (int c = 0; c < a; ++c) subtract(v[a], D, a * B + c, v[c]);
        store(tile, i * B + a, v[a]);
      }
      copy(v, near);
    }
    for (int a = 0; a < B; ++a)
      for (int k = 0; k < packs; ++k) near[a][k] = Pack{};
    for (std::int64_t i = factors.rows - 1; i >= 0; --i) {
      const Scalar *const D = factors.row(t, i) + BB, *const C = D + BB;
      for (int a = B - 1; a >= 0; --a) {
        load(tile, i * B + a, v[a]);
        for (int c = 0; c < B; ++c) subtract(v[a], C, a * B + c, near[c]);
        for (int c = a + 1; c < B; ++c) subtract(v[a], D, a * B + c, v[c]);
        for (int k = 0; k < packs; ++k) {
          Pack inv;
          host::load_pack(D + (a * B + a) * lanes + k * width, inv);
          v[a][k] *= inv;
        }
        store(tile, i * B + a, v[a]);
      }
      copy(v, near);
    }
  }
  /// x_n = S^-1 (f_n - H y), x = y - Z x_n (ring_border.hpp)
  void join(std::int64_t t, Scalar *tile) const
  {
    const int          B = factors.block;
    const std::int64_t n = factors.rows;
    Pack               f[most][packs], x[most][packs], v[packs];
    const Scalar *left = factors.border_row(t, n), *right = left + B * B * lanes, *S = right + B * B * lanes;
    for (int a = 0; a < B; ++a) {
      load(tile, n * B + a, f[a]);
      for (int c = 0; c < B; ++c) {
        load(tile, (n - 1) * B + c, v), subtract(f[a], left, a * B + c, v);
        load(tile, c, v), subtract(f[a], right, a * B + c, v);
      }
      for (int k = 0; k < packs; ++k) f[a][k] = -f[a][k];
    }
    for (int a = 0; a < B; ++a) {
      for (int k = 0; k < packs; ++k) x[a][k] = Pack{};
      for (int c = 0; c < B; ++c) subtract(x[a], S, a * B + c, f[c]);
      store(tile, n * B + a, x[a]);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const Scalar *const Z = factors.border_row(t, i);
      for (int a = 0; a < B; ++a) {
        load(tile, i * B + a, v);
        for (int c = 0; c < B; ++c) subtract(v, Z, a * B + c, x[c]);
        store(tile, i * B + a, v);
      }
    }
  }

private:
  void copy(const Pack (&from)[most][packs], Pack (&to)[most][packs]) const
  {
    for (int a = 0; a < factors.block; ++a)
      for (int k = 0; k < packs; ++k) to[a][k] = from[a][k];
  }
  static void load(const Scalar *tile, std::int64_t e, Pack (&v)[packs])
  {
    for (int k = 0; k < packs; ++k) host::load_pack(tile + e * lanes + k * width, v[k]);
  }
  static void store(Scalar *tile, std::int64_t e, const Pack (&v)[packs])
  {
    for (int k = 0; k < packs; ++k) host::store_pack(v[k], tile + e * lanes + k * width, false);
  }
  static void subtract(Pack (&v)[packs], const Scalar *words, int e, const Pack (&with)[packs])
  {
    RIBBON_UNROLL_PACKS
    for (int k = 0; k < packs; ++k) {
      Pack u;
      host::load_pack(words + e * lanes + k * width, u);
      v[k] -= u * with[k];
    }
  }
};

/// Solves lines with the matrices first, first + 1, ..., first + lines - 1, which repeat if there are more
/// lines; or with one matrix, whose factors are in every lane of the first tile.
template <class Scalar>
struct BlockSolveTiles {
  static constexpr int max_threads = 1;
  using Tiles                      = BlockTiles<Scalar>;
  static constexpr int lanes       = Tiles::lanes;

  Tiles         factors;
  std::int64_t  first, lines; ///< lines: number of different matrices
  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;
  bool          shared = false; ///< one matrix

  std::int64_t tiles() const { return (first + lines - 1) / lanes - first / lanes + 1; }
  std::int64_t teams() const
  {
    return shared ? (in.lines() + lanes - 1) / lanes : tiles() * (in.lines() / lines);
  }
  std::size_t scratch() const { return static_cast<std::size_t>(factors.room()) * sizeof(Scalar) + 64; }

  template <class Team>
  void operator()(const Team &team) const
  {
    auto *tile =
      reinterpret_cast<Scalar *>((reinterpret_cast<std::uintptr_t>(team.scratch()) + 63) / 64 * 64);
    const std::int64_t rank = team.league_rank(), t = shared ? 0 : first / lanes + rank % tiles(),
                       begin = shared ? 0 : rank / tiles() * lines;
    const std::int64_t from = std::max(first, t * lanes), end = std::min(first + lines, (t + 1) * lanes);
    const int          lane = shared ? 0 : static_cast<int>(from - t * lanes);
    const std::int64_t line = shared ? rank * lanes : begin + from - first;
    const int          count =
      static_cast<int>(shared ? std::min<std::int64_t>(lanes, in.lines() - line) : end - from);
    if (count < lanes) std::fill(tile, tile + factors.room(), Scalar(0));
    move(
      in, line, lane, count, tile, [this](Scalar &of_tile, std::int64_t k) { of_tile = b[k]; },
      [&](const auto &set) { set.load(b, 0, in.rows * in.components, tile); });
    host::with_widest_vectors_of_host([&] {
      const BlockSweep<Scalar> sweep{factors};
      sweep(t, tile);
      if (factors.border) sweep.join(t, tile);
    });
    move(
      out, line, lane, count, tile, [this](Scalar &of_tile, std::int64_t k) { x[k] = of_tile; },
      [&](const auto &set) {
        for (std::int64_t i = 0, n = out.rows * out.components; i < n; i += set.block)
          set.store(tile, i, std::min<std::int64_t>(i + set.block, n), x, false);
      });
  }

private:
  /// Calls whole(TileLines) if lines are contiguous unknowns and begin with lane 0. Otherwise calls
  /// one(value of the tile, place) for every unknown.
  template <class One, class Whole>
  void move(const LineSet &set, std::int64_t line, int lane, int count, Scalar *tile, const One &one,
            const Whole &whole) const
  {
    const int B = factors.block;
    if (lane == 0 && set.component_stride == 1 && set.row_stride == B) {
      LineSet runs    = set;
      runs.rows       = set.rows * B;
      runs.row_stride = 1, runs.components = 1;
      return whole(host::TileLines<Scalar, lanes>(runs, line, count));
    }
    for (std::int64_t i = 0; i < set.rows; ++i)
      for (int l = 0; l < count; ++l) {
        const std::int64_t k = set(line + l, i);
        for (int a = 0; a < B; ++a) one(tile[(i * B + a) * lanes + lane + l], k + a * set.component_stride);
      }
  }
};

} // namespace ribbon
