// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas_tile.hpp  Elimination along lines on a host: the lines of a tile are the SIMD direction.
///
/// A tile holds the same row of all its lines side by side and stays in the second cache. Rows are loaded just before the forward sweep
/// needs them and stored just after the backward sweep, so lines are read once and written once. Both sweeps bring lines of the next tile
/// to the second cache, a little with every row, since one core reads at full speed only while many reads are under way.
#pragma once

#include <ribbon/algorithm/thomas_lanes.hpp>
#include <ribbon/host/tile_lines.hpp>

#include <type_traits>

namespace ribbon {

template <class Scalar, int P, int Lanes, class Factors>
struct ThomasTileKernel {
  static constexpr int max_threads = 1;
  using Tile                       = host::TileLines<Scalar, Lanes>;
  Factors       factors;
  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;
  bool          periodic;

  static constexpr std::size_t cache_line = 64;
  static std::size_t           scratch(std::int64_t rows) { return static_cast<std::size_t>(rows + 2 * P) * Lanes * sizeof(Scalar) + cache_line; }

  /// Whether the lines come from memory and go there, not to a cache.
  KOKKOS_FUNCTION bool from_memory() const { return static_cast<std::size_t>(in.unknowns()) * sizeof(Scalar) > (std::size_t(32) << 20); }

  /// The lines of one tile, with coefficients of thomas_lanes.hpp. Count: a constant for full tiles, whose loops are unrolled.
  template <bool Ring, class Lines, class Count>
  KOKKOS_FUNCTION void solve(const Lines &coefficients, std::int64_t first, Count all, Scalar *tile) const
  {
    const int          lanes = all;
    const Tile         from(in, first), to(out, first), next(in, from_memory() ? first + Lanes : in.lines());
    const std::int64_t m = in.rows - (Ring ? P : 0);
    // In place, lines are in a cache already when they are stored; lines of the cache that are filled in parts are fetched before they are.
    const bool           past = from_memory() && b != x && to.fills_cache_lines(x);
    const Tile           nothing(out, out.lines());
    typename Tile::Ahead ahead(next, b, 2 * m), room(from_memory() && b != x && !past ? to : nothing, x, m);
    Scalar               y_first[P][Lanes] = {}, z[P][Lanes] = {};
    for (int k = 0; k < P * Lanes; ++k) tile[k - P * Lanes] = tile[in.rows * Lanes + k] = Scalar(0); // recurrences start from zero
    for (std::int64_t i0 = 0; i0 < in.rows; i0 += Tile::block) {
      const std::int64_t i1 = i0 + Tile::block < in.rows ? i0 + Tile::block : in.rows;
      from.load(b, i0, i1, tile);
      for (std::int64_t i = i0; i < i1 && i < m; ++i) {
        const auto row = coefficients.forward(i);
        Scalar    *t   = tile + i * Lanes;
        ahead.step();
        room.step();
        RIBBON_SIMD
        for (int l = 0; l < lanes; ++l) {
          const Scalar f = t[l];
          Scalar       g = row.inv(l) * f;
          if constexpr (Ring)
            for (int q = 0; q < P; ++q) y_first[q][l] += row.D(q, l) * f;
          for (int q = P - 1; q >= 0; --q) g += row.L(q, l) * t[l - (q + 1) * Lanes];
          t[l] = g;
        }
      }
    }
    if constexpr (Ring)
      for (int l = 0; l < lanes; ++l) {
        const auto                             closure = coefficients.closure(l);
        typename PlainScheme<Scalar, P>::Sweep done;
        Scalar                                 f_sep[P], own[P], left[P], zl[P];
        for (int a = 0; a < P; ++a) done.g.v[a] = tile[(m - 1 - a) * Lanes + l], done.y_first[a] = y_first[a][l], f_sep[a] = tile[(m + a) * Lanes + l];
        PlainScheme<Scalar, P>::finish(closure.edge, done, f_sep, own, left);
        for (int a = 0; a < P; ++a) own[a] -= left[a];
        closure.solve(own, zl);
        for (int a = 0; a < P; ++a) tile[(m + a) * Lanes + l] = z[a][l] = zl[a];
      }
    for (std::int64_t i1 = in.rows; i1 > 0;) {
      const std::int64_t i0 = (i1 - 1) / Tile::block * Tile::block;
      for (std::int64_t i = (i1 < m ? i1 : m) - 1; i >= i0; --i) {
        const auto row = coefficients.backward(i);
        Scalar    *t   = tile + i * Lanes;
        ahead.step();
        RIBBON_SIMD
        for (int l = 0; l < lanes; ++l) {
          Scalar v = t[l];
          if constexpr (Ring)
            for (int q = 0; q < P; ++q) v -= row.H(q, l) * z[q][l];
          for (int q = P - 1; q >= 0; --q) v += row.U(q, l) * t[l + (q + 1) * Lanes];
          t[l] = v;
        }
      }
      to.store(tile, i0, i1, x, past);
      i1 = i0;
    }
    if (past) host::finish_copies();
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    auto              *tile  = reinterpret_cast<Scalar *>((reinterpret_cast<std::uintptr_t>(team.scratch()) + cache_line - 1) / cache_line * cache_line) + P * Lanes;
    const std::int64_t first = team.league_rank() * Lanes;
    const int          lanes = static_cast<int>(in.lines() - first < Lanes ? in.lines() - first : Lanes);
    with_lanes<Lanes>(factors, first, lanes, [&](const auto &coefficients) {
      host::with_widest_vectors([&] {
        if (lanes < Lanes && periodic) solve<true>(coefficients, first, lanes, tile);
        else if (lanes < Lanes) solve<false>(coefficients, first, lanes, tile);
        else if (periodic) solve<true>(coefficients, first, std::integral_constant<int, Lanes>{}, tile);
        else solve<false>(coefficients, first, std::integral_constant<int, Lanes>{}, tile);
      });
    });
  }
};

} // namespace ribbon
