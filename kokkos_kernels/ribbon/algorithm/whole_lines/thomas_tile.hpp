// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas_tile.hpp  Elimination along lines on a host: the lines of a tile are the SIMD direction.
///
/// In a tile the same row of all its lines is contiguous. The tile stays in the L2 cache. Rows are loaded
/// just before the forward sweep needs them and stored just after the backward sweep, so lines are read
/// once and written once. Both sweeps prefetch lines of the next tile to the L2 cache, a few cache lines
/// per row. One core reads at full speed only if many reads are in flight.
#pragma once

#include <ribbon/algorithm/whole_lines/thomas_input.hpp>
#include <ribbon/algorithm/whole_lines/thomas_lanes.hpp>
#include <ribbon/host/tile_lines.hpp>

#include <type_traits>

namespace ribbon {

/// @tparam Input  right-hand sides
template <class Scalar, int P, int Lanes, class Factors, class Input = GivenLines>
struct ThomasTileKernel {
  static constexpr int max_threads = 1;
  using Tile                       = host::TileLines<Scalar, Lanes>;
  using Pack = std::conditional_t<Lanes == 1, Scalar, typename host::PackOf<Scalar>::type>;
  /// of a row of the tile
  static constexpr int width = static_cast<int>(sizeof(Pack) / sizeof(Scalar)), packs = Lanes / width;
  Factors              factors;
  const Scalar        *b;
  Scalar              *x;
  LineSet              in, out;
  bool                 periodic;
  Input                input{};

  static constexpr std::size_t cache_line = 64;
  /// Tiles of about 64 KB in total, because finish_copies() waits for about a microsecond.
  KOKKOS_FUNCTION static std::int64_t tiles_of_team(std::int64_t rows)
  {
    return 1 + static_cast<std::int64_t>(65536 / (scratch(rows) + 8192));
  }
  /// Neighbouring lines that one tile may combine: teams do not cross the end of a run.
  struct Runs {
    std::int64_t length, teams, lines; ///< lines of a run, its teams, lines of a team
    KOKKOS_FUNCTION explicit Runs(const LineSet &set)
    {
      const std::int64_t most = tiles_of_team(set.rows) * Lanes;
      const bool         side_by_side =
        set.stride0 == 1 && set.row_stride != 1 && set.count1 > 1 && set.count0 >= Lanes;
      length = side_by_side ? set.count0 : set.lines();
      teams  = (length + most - 1) / most;
      lines  = side_by_side ? (length + teams - 1) / teams : most;
    }
  };
  static std::int64_t teams(const LineSet &set)
  {
    const Runs runs(set);
    return runs.length > 0 ? set.lines() / runs.length * runs.teams : 0;
  }
  KOKKOS_FUNCTION static std::size_t scratch(std::int64_t rows)
  {
    return static_cast<std::size_t>(rows) * Lanes * sizeof(Scalar) + cache_line;
  }

  /// Whether lines are read from and written to memory instead of a cache.
  KOKKOS_FUNCTION bool from_memory() const
  {
    return static_cast<std::size_t>(in.unknowns()) * sizeof(Scalar) > (std::size_t(32) << 20);
  }
  /// Whether lines are read from beyond the L2 cache, to which the next tile is prefetched. Crowded lines
  /// evict each other from it.
  KOKKOS_FUNCTION bool from_afar(const Tile &lines) const
  {
    return from_memory() ||
           (static_cast<std::size_t>(in.unknowns()) * sizeof(Scalar) > (std::size_t(1) << 20) &&
            !lines.is_crowded());
  }

  /// One row of the forward sweep.
  /// @param c  its coefficients; a pack of them, or, if lines have the same ones, one each
  template <bool Ring, bool same, class Row>
  KOKKOS_FORCEINLINE_FUNCTION static void forward_row(const Row &c, const Scalar *row,
                                                      Pack (&y_first)[P][packs], Pack (&window)[P][packs],
                                                      Scalar *to)
  {
    using Coefficient = std::conditional_t<same, Scalar, Pack>;
    Coefficient inv, L[P], D[P];
    RIBBON_UNROLL_PACKS
    for (int k = 0; k < packs; ++k) {
      if (k == 0 || !same) {
        host::load_pack(c.inv + k * width, inv);
        for (int q = 0; q < P; ++q) host::load_pack(c.L + q * c.next + k * width, L[q]);
        for (int q = 0; Ring && q < P; ++q) host::load_pack(c.D + q * c.next + k * width, D[q]);
      }
      Pack f;
      host::load_pack(row + k * width, f);
      Pack v = inv * f;
      for (int q = 0; Ring && q < P; ++q) y_first[q][k] += D[q] * f;
      for (int q = P - 1; q >= 0; --q) v += L[q] * window[q][k];
      for (int q = P - 1; q > 0; --q) window[q][k] = window[q - 1][k];
      window[0][k] = v;
      host::store_pack(v, to + k * width, false);
    }
  }
  /// One row of the backward sweep, with the separators z of rings.
  /// @param past  the row is written past the caches
  template <bool Ring, bool same, class Row>
  KOKKOS_FORCEINLINE_FUNCTION static void backward_row(const Row &c, const Scalar *from,
                                                       const Pack (&z)[P][packs], Pack (&window)[P][packs],
                                                       Scalar *row, bool past)
  {
    using Coefficient = std::conditional_t<same, Scalar, Pack>;
    Coefficient U[P], H[P];
    RIBBON_UNROLL_PACKS
    for (int k = 0; k < packs; ++k) {
      if (k == 0 || !same) {
        for (int q = 0; q < P; ++q) host::load_pack(c.U + q * c.next + k * width, U[q]);
        for (int q = 0; Ring && q < P; ++q) host::load_pack(c.H + q * c.next + k * width, H[q]);
      }
      Pack v;
      host::load_pack(from + k * width, v);
      for (int q = 0; Ring && q < P; ++q) v -= H[q] * z[q][k];
      for (int q = P - 1; q >= 0; --q) v += U[q] * window[q][k];
      for (int q = P - 1; q > 0; --q) window[q][k] = window[q - 1][k];
      window[0][k] = v;
      host::store_pack(v, row + k * width, past);
    }
  }

  /// Solves the lines of one tile, with coefficients of thomas_lanes.hpp. The state of the recurrences
  /// stays in registers.
  template <bool Ring, class Lines>
  KOKKOS_FUNCTION void solve(Lines &coefficients, std::int64_t first, int lanes, Scalar *tile) const
  {
    const Tile         from(in, first, lanes), to(out, first, lanes);
    const Tile         next(in, from_afar(from) ? first + lanes : in.lines(), lanes);
    const std::int64_t m = in.rows - (Ring ? P : 0);
    // In place, lines are already in a cache when they are stored. Cache lines that are written in parts
    // are fetched before.
    const bool           past = from_memory() && b != x && to.fills_cache_lines(x);
    const Tile           nothing(out, out.lines(), 0);
    typename Tile::Ahead ahead(next, b, 2 * m), room(from_afar(to) && b != x && !past ? to : nothing, x, m);
    Pack                 y_first[P][packs] = {}, window[P][packs] = {};
    for (std::int64_t e = 0; lanes < Lanes && e < (in.rows + input.more_rows()) * Lanes; ++e)
      tile[e] = Scalar(0);
    typename Input::template Source<Scalar, Lanes> source(input, from, first, periodic, b, tile, in.rows);
    for (std::int64_t i0 = 0; i0 < m; i0 += Tile::block) {
      const std::int64_t i1 = i0 + Tile::block < m ? i0 + Tile::block : m;
      source.fetch(i0, i1);
      for (std::int64_t i = i0; i < i1; ++i) {
        const auto    c   = coefficients.forward(i);
        const Scalar *row = source.row(i);
        ahead.step();
        room.step();
        forward_row<Ring, Lines::same>(c, row, y_first, window, tile + i * Lanes);
      }
    }
    Pack z[P][packs] = {};
    if constexpr (Ring) {
      source.copy(m, in.rows);
      close_rings(coefficients, y_first, lanes, tile);
      for (int q = 0; q < P; ++q)
        for (int k = 0; k < packs; ++k) host::load_pack(tile + (m + q) * Lanes + k * width, z[q][k]);
    }
    for (int q = 0; q < P; ++q)
      for (int k = 0; k < packs; ++k) window[q][k] = z[q][k];
    for (std::int64_t i = m; i < in.rows && input.adds(); ++i)
      source.add(tile + i * Lanes, i, tile + i * Lanes);
    const bool runs = to.is_run(); // rows are written directly to memory
    if (runs) to.store(tile, m, in.rows, x, past);
    for (std::int64_t i1 = runs ? m : in.rows; i1 > 0;) {
      const std::int64_t i0   = (i1 - 1) / Tile::block * Tile::block;
      const auto         rows = to.room(x, i0, tile);
      for (std::int64_t i = (i1 < m ? i1 : m) - 1; i >= i0; --i) {
        const auto c   = coefficients.backward(i);
        Scalar    *row = rows.at(i - i0);
        ahead.step();
        if (input.adds()) {
          backward_row<Ring, Lines::same>(c, tile + i * Lanes, z, window, tile + i * Lanes, false);
          source.add(tile + i * Lanes, i, row);
        } else backward_row<Ring, Lines::same>(c, tile + i * Lanes, z, window, row, past && runs);
      }
      if (!runs) to.store(tile, i0, i1, x, past);
      i1 = i0;
    }
  }

  /// Replaces the right-hand sides of the separators, in the last P rows of the tile, by the solution.
  template <class Lines>
  KOKKOS_FUNCTION void close_rings(const Lines &coefficients, const Pack (&y_first)[P][packs], int lanes,
                                   Scalar *tile) const
  {
    const std::int64_t m = in.rows - P;
    Scalar             first[P][Lanes];
    for (int q = 0; q < P; ++q)
      for (int k = 0; k < packs; ++k) host::store_pack(y_first[q][k], first[q] + k * width, false);
    for (int l = 0; l < lanes; ++l) {
      const auto                             closure = coefficients.closure(l);
      typename PlainScheme<Scalar, P>::Sweep done;
      Scalar                                 f_sep[P], own[P], left[P], z[P];
      for (int a = 0; a < P; ++a)
        done.g.v[a] = tile[(m - 1 - a) * Lanes + l], done.y_first[a] = first[a][l],
        f_sep[a] = tile[(m + a) * Lanes + l];
      PlainScheme<Scalar, P>::finish(closure.edge, done, f_sep, own, left);
      for (int a = 0; a < P; ++a) own[a] -= left[a];
      closure.solve(own, z);
      for (int a = 0; a < P; ++a) tile[(m + a) * Lanes + l] = z[a];
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    auto *tile = reinterpret_cast<Scalar *>(
      (reinterpret_cast<std::uintptr_t>(team.scratch()) + cache_line - 1) / cache_line * cache_line);
    const Runs         runs(in);
    const std::int64_t run = team.league_rank() / runs.teams, of_run = team.league_rank() - run * runs.teams;
    const std::int64_t begin = run * runs.length + of_run * runs.lines, last = (run + 1) * runs.length;
    const std::int64_t end = begin + runs.lines < last ? begin + runs.lines : last;
    for (std::int64_t next = begin; next < end; next += Lanes) {
      // The last tile of a run begins earlier and repeats lines of the previous one: full tiles take a
      // fraction of the time.
      const bool again =
        end - next < Lanes && end - begin >= Lanes && runs.length < in.lines() && b != x && !input.adds();
      const std::int64_t first = again ? end - Lanes : next,
                         lanes = end - first < Lanes ? end - first : Lanes;
      with_lanes<Lanes>(factors, first, static_cast<int>(lanes), [&](auto &&coefficients) {
        host::with_widest_vectors([&] {
          if (periodic) solve<true>(coefficients, first, static_cast<int>(lanes), tile);
          else solve<false>(coefficients, first, static_cast<int>(lanes), tile);
        });
      });
    }
    host::finish_copies();
  }
};

} // namespace ribbon
