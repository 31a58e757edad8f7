// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas_tile.hpp  Elimination along lines on a host: the lines of a tile are the SIMD direction.
#pragma once

#include <ribbon/algorithm/thomas_factors.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// A tile of Lanes lines in scratch, row by row: the lanes are the SIMD direction. Lines are read once and written once.
template <class Scalar, int P, int Lanes, class Factors>
struct ThomasTileKernel {
  static constexpr int max_threads = 1;
  Factors              factors;
  const Scalar        *b;
  Scalar              *x;
  LineSet              in, out;
  bool                 periodic;

  static std::size_t scratch(std::int64_t rows) { return static_cast<std::size_t>(rows) * Lanes * sizeof(Scalar); }

  /// Calls move(lane, row) over a tile in an order that suits the memory of `set`.
  template <class Move>
  KOKKOS_FUNCTION static void for_tile(const LineSet &set, int lanes, const Move &move)
  {
    constexpr std::int64_t block = 32; // rows of a tile that stay in the first cache while it is transposed
    if (set.row_stride < set.stride0)
      for (std::int64_t i = 0; i < set.rows; i += block)
        for (int l = 0; l < lanes; ++l)
          for (std::int64_t k = i; k < i + block && k < set.rows; ++k) move(l, k);
    else
      for (std::int64_t i = 0; i < set.rows; ++i)
        for (int l = 0; l < lanes; ++l) move(l, i);
  }

  /// Both sweeps for lanes with coefficient rows forward(i, lane), ...; Uniform: the lane is ignored and rows are read once for all.
  template <bool Uniform, class Line>
  KOKKOS_FUNCTION static void sweep(const Line *line, int lanes, std::int64_t m, bool periodic, Scalar *tile)
  {
    Scalar g[P + 1][Lanes] = {}, y_first[P][Lanes] = {}, z[P][Lanes] = {};
    for (std::int64_t i = 0; i < m; ++i) {
      Scalar    *t   = tile + i * Lanes;
      const auto one = line[0].forward(i);
      for (int l = 0; l < (Uniform ? Lanes : lanes); ++l) {
        const auto   row = Uniform ? one : line[l].forward(i);
        const Scalar f   = t[l];
        Scalar       v   = row.inv[0] * f;
        for (int q = 0; q < P; ++q) {
          if (periodic) y_first[q][l] += row.D[q] * f;
          v += row.L[q] * g[q][l];
        }
        for (int q = P - 1; q > 0; --q) g[q][l] = g[q - 1][l];
        t[l] = g[0][l] = v;
      }
    }
    Scalar w[P][Lanes] = {};
    if (periodic)
      for (int l = 0; l < lanes; ++l) {
        const auto                            &at      = line[Uniform ? 0 : l];
        const auto                             closure = at.closure();
        typename PlainScheme<Scalar, P>::Sweep done;
        Scalar                                 f_sep[P], own[P], left[P], zl[P];
        for (int a = 0; a < P; ++a) done.g.v[a] = g[a][l], done.y_first[a] = y_first[a][l], f_sep[a] = tile[(m + a) * Lanes + l];
        PlainScheme<Scalar, P>::finish(closure.edge, done, f_sep, own, left);
        for (int a = 0; a < P; ++a) own[a] -= left[a];
        closure.solve(own, zl);
        for (int a = 0; a < P; ++a) tile[(m + a) * Lanes + l] = w[a][l] = z[a][l] = zl[a];
      }
    for (std::int64_t i = m - 1; i >= 0; --i) {
      Scalar    *t   = tile + i * Lanes;
      const auto one = line[0].backward(i);
      for (int l = 0; l < (Uniform ? Lanes : lanes); ++l) {
        const auto row = Uniform ? one : line[l].backward(i);
        Scalar     v   = t[l];
        for (int q = 0; q < P; ++q) {
          if (periodic) v -= row.H[q] * z[q][l];
          v += row.U[q] * w[q][l];
        }
        for (int q = P - 1; q > 0; --q) w[q][l] = w[q - 1][l];
        t[l] = w[0][l] = v;
      }
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t first = team.league_rank() * Lanes, m = in.rows - (periodic ? P : 0);
    const int          lanes = static_cast<int>(in.lines() - first < Lanes ? in.lines() - first : Lanes);
    Scalar            *tile  = reinterpret_cast<Scalar *>(team.scratch());
    using Line               = typename Factors::Line;
    Line         line[Lanes] = {};
    std::int64_t from[Lanes] = {}, to[Lanes] = {};
    bool         uniform = std::is_same_v<Factors, SharedFactors<Scalar, P>>;
    for (int l = 0; l < lanes; ++l) {
      line[l] = factors.line(first + l);
      from[l] = in.begin(first + l);
      to[l]   = out.begin(first + l);
      if constexpr (std::is_same_v<Factors, SharedFactors<Scalar, P>>) uniform = uniform && line[l].f == line[0].f;
    }
    if (lanes < Lanes)
      for (std::int64_t i = 0; i < in.rows * Lanes; ++i) tile[i] = Scalar(0);
    for_tile(in, lanes, [&](int l, std::int64_t i) { tile[i * Lanes + l] = b[from[l] + i * in.row_stride]; });
    if (uniform) sweep<true>(line, lanes, m, periodic, tile);
    else sweep<false>(line, lanes, m, periodic, tile);
    for_tile(out, lanes, [&](int l, std::int64_t i) { x[to[l] + i * out.row_stride] = tile[i * Lanes + l]; });
  }
};

} // namespace ribbon
