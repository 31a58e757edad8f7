// SPDX-License-Identifier: BSD-2-Clause
/// @file wide.hpp  One matrix per line with wide bands or blocks, eliminated and solved in flight: matrix,
///   right-hand side and solution cross the memory bus once.
///
/// The sweeps are those of in_flight/per_line.hpp, for systems with long rows, whose limits are scratch and
/// arithmetic. So the reduced system is solved in place and without idle work (cyclic_relations.hpp). A row
/// of blocks is one step of elimination with row pivoting within its block. One kernel supports both
/// layouts and both sources of coefficients:
///
///     row i     [ L | D | C ] x = f         as copied to scratch, (2 K + 1) or 3 B^2 values and f
///               [ U |   H   ]   g           after the forward sweep: x_i = g_i - H_i zl + U_i x_(i+1), ...
///
/// alpha_l A + beta_l B is computed in scratch, in the place of a matrix that is read.
#pragma once

#include <ribbon/algorithm/in_flight/block_elimination.hpp>
#include <ribbon/algorithm/in_flight/chunk_relations.hpp>
#include <ribbon/algorithm/in_flight/wide_tile.hpp>

namespace ribbon {

/// @tparam K, B  half-bandwidth, 1 for blocks; unknowns of a row
template <class Scalar, int K, int B>
struct OnePassWideKernel : OnePassWideTile<Scalar, K, B> {
  using Base = OnePassWideTile<Scalar, K, B>;
  using Base::arrival_at, Base::scratch, Base::tile, Base::piece, Base::open, Base::ends, Base::group_bits,
    Base::await;
  using Base::S, Base::BB, Base::shape, Base::side, Base::matrices, Base::b, Base::x, Base::in, Base::out,
    Base::lines;
  using typename Base::Piece, typename Base::Relations, typename Base::Tile, typename Base::Columns;
  /// limits the registers: 128, 204 (ptxas uses 128 of the 255 that 256 threads leave, and spills) or 255
  static constexpr int max_threads = sizeof(Scalar) * S <= 16 ? 512 : sizeof(Scalar) * S == 24 ? 320 : 256;

  /// State of a thread between phases: the equations of its separators, diag zr + l zl + Us
  /// x_first(right) = r, as [r, l, .], later their relation.
  struct State {
    Columns own        = {};
    Scalar  diag[S][S] = {}, Us[S][S] = {};
  };

  /// A row of a band in registers.
  struct BandRow {
    Scalar a[2 * K + 1] = {}, f = {};
  };
  /// Eliminates a row and its right-hand side. g: the last K rows, the newest first.
  KOKKOS_FORCEINLINE_FUNCTION static void eliminate(BandRow &now, ChunkElimination<Scalar, K> &s,
                                                    Scalar (&g)[K])
  {
    const auto row    = s.next(now.a);
    Scalar     solved = now.f;
    RIBBON_UNROLL
    for (int q = K - 1; q >= 0; --q) subtract_product(solved, row.L[q], g[q]);
    RIBBON_UNROLL
    for (int q = K - 1; q > 0; --q) g[q] = g[q - 1];
    g[0] = row.inv * solved;
    RIBBON_UNROLL
    for (int r = 0; r < K; ++r) subtract_product(s.first.r[r], row.w[r], g[0]);
  }
  /// The first unknowns of a chunk as [r, l, u].
  KOKKOS_FORCEINLINE_FUNCTION static void columns_of(const ChunkElimination<Scalar, K> &s, Columns &first)
  {
    RIBBON_UNROLL
    for (int r = 0; r < K; ++r) {
      first[r][0] = s.first.r[r];
      RIBBON_UNROLL
      for (int e = 0; e < K; ++e)
        first[r][1 + e] = s.first.l.a[r][e], first[r][1 + K + e] = s.first.u.a[r][e];
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void forward_band(const Team &team, const Piece &p, State &own) const
  {
    const int                   m = p.size - K, bits = group_bits();
    Scalar                      g[K] = {}; ///< the last K rows, the newest first
    ChunkElimination<Scalar, K> s;
    BandRow                     now, next;
    const auto                  read = [&](int k, BandRow &row) {
      await(p, k, bits);
      const Scalar *from = p.rows + k * p.row_step;
      row.f              = p.values[k * p.value_step];
      RIBBON_UNROLL
      for (int d = 0; d <= 2 * K; ++d) row.a[d] = from[d * side];
      if (k < K && open(p)) { // stored entries outside the matrix are arbitrary
        RIBBON_UNROLL
        for (int d = 0; d < K; ++d)
          if (k + d < K) row.a[d] = Scalar(0);
      }
    };
    read(0, now);
    for (int k = 0; k < m; ++k) {
      read(k + 1, next); // in parallel with the elimination of this row
      eliminate(now, s, g);
      Scalar *to                 = p.rows + k * p.row_step;
      p.values[k * p.value_step] = g[0];
      RIBBON_UNROLL
      for (int e = 0; e < K; ++e) to[e * side] = s.U[0][e], to[(K + e) * side] = s.H[0][e];
      now = next;
    }
    // rows of the separators: couplings to zl, to zr and to the first unknowns of the chunk to the right
    RIBBON_UNROLL
    for (int r = 0; r < K; ++r) {
      Scalar h[K] = {}, L[K], column[3 * K] = {}; // columns from K before the first separator
      Scalar f = now.f;
      RIBBON_UNROLL
      for (int d = -K; d <= K; ++d) column[K + r + d] = now.a[d + K];
      s.take_out(column, h, L);
      RIBBON_UNROLL
      for (int q = K - 1; q >= 0; --q) subtract_product(f, L[q], g[q]);
      own.own[r][0] = f;
      RIBBON_UNROLL
      for (int e = 0; e < K; ++e)
        own.own[r][1 + e] = open(p) ? Scalar(0) : h[e], own.diag[r][e] = column[K + e],
                       own.Us[r][e] = ends(p) ? Scalar(0) : column[2 * K + e];
      if (r + 1 < K) read(m + r + 1, now);
    }
    Columns first;
    columns_of(s, first);
    Relations::tell(Relations::relation(team, p.chunk, p.lane).at, first);
  }

  template <class Team>
  KOKKOS_FUNCTION void forward_blocks(const Team &team, const Piece &p, State &own) const
  {
    const int                        bits = group_bits();
    BlockChunkElimination<Scalar, B> s;
    const auto                       with_row = [&](int k, Columns &columns, const auto &step) {
      await(p, k, bits);
      Scalar    *row = p.rows + k * p.row_step, *f = p.values + k * p.value_step;
      const auto entry = [&](int d, int a, int e) { return row[((d + 1) * BB + a * B + e) * side]; };
      const auto before = [&](int e) { return row[e * side - p.row_step]; };
      RIBBON_UNROLL
      for (int a = 0; a < B; ++a) columns[a][0] = f[a * p.component_step];
      step(row, f, entry, before, k == 0, k > 0 || !open(p));
    };
    for (int k = 0; k + 1 < p.size; ++k) {
      Columns columns;
      with_row(k, columns,
               [&](Scalar *row, Scalar *f, const auto &entry, const auto &before, bool begins, bool couples) {
                 s.next(entry, before, begins, couples, columns);
                 RIBBON_UNROLL
                 for (int a = 0; a < B; ++a) {
                   f[a * p.component_step] = s.g[a];
                   RIBBON_UNROLL
                   for (int e = 0; e < B; ++e)
                     row[(a * B + e) * side]                        = -columns[a][1 + B + e],
                                       row[(BB + a * B + e) * side] = columns[a][1 + e];
                 }
               });
    }
    // row of the separators
    with_row(p.size - 1, own.own,
             [&](Scalar *, Scalar *, const auto &entry, const auto &before, bool begins, bool couples) {
               s.take_out(entry, before, begins, couples, own.diag, own.own);
               RIBBON_UNROLL
               for (int a = 0; a < B; ++a) {
                 RIBBON_UNROLL
                 for (int e = 0; e < B; ++e) {
                   own.Us[a][e] = ends(p) ? Scalar(0) : own.own[a][1 + B + e];
                   if (open(p)) own.own[a][1 + e] = Scalar(0);
                 }
               }
             });
    Relations::tell(Relations::relation(team, p.chunk, p.lane).at, s.first);
  }

  /// Substitutes x_first(right) = y - v zr - w zr(right) into the equations of the separators: zr = r - l
  /// zl - u zr(right).
  template <class Team>
  KOKKOS_FUNCTION void relate(const Team &team, const Piece &p, State &s) const
  {
    const auto right = Relations::relation(team, p.chunk + 1, p.lane);
    RIBBON_UNROLL
    for (int a = 0; a < S; ++a) {
      RIBBON_UNROLL
      for (int e = 0; e < S; ++e) s.own[a][1 + S + e] = Scalar(0);
    }
    if (right.there) {
      RIBBON_UNROLL
      for (int e = 0; e < 1 + 2 * S; ++e) { // column by column, to save registers
        RIBBON_UNROLL
        for (int q = 0; q < S; ++q) {
          const Scalar v = e == 0   ? Relations::r(right.at, q)
                           : e <= S ? Relations::l(right.at, q, e - 1)
                                    : Relations::u(right.at, q, e - 1 - S);
          RIBBON_UNROLL
          for (int a = 0; a < S; ++a)
            subtract_product(e == 0 || e > S ? s.own[a][e] : s.diag[a][e - 1], s.Us[a][q], v);
        }
      }
    }
    solve_in_place(s.diag, s.own);
  }

  template <class Team>
  KOKKOS_FUNCTION void backward(const Team &team, const Piece &p) const
  {
    const auto zr   = Relations::relation(team, p.chunk, p.lane),
               left = Relations::relation(team, p.chunk - 1, p.lane);
    Scalar     zl[S], w[S]; // w: the next K rows, the nearest first
    Scalar    *to        = shape.staged ? p.values + (p.size - 1) * B
                                        : x + out.begin(p.line) + (p.begin + p.size - 1) * out.row_stride;
    const auto row_step  = shape.staged ? static_cast<std::int64_t>(B) : out.row_stride;
    const auto component = shape.staged ? static_cast<std::int64_t>(1) : out.component_stride;
    const bool stores    = shape.staged || p.active;
    RIBBON_UNROLL
    for (int a = 0; a < S; ++a)
      w[a] = Relations::r(zr.at, a), zl[a] = left.there ? Relations::r(left.at, a) : Scalar(0);
    RIBBON_UNROLL
    for (int r = K - 1; r >= 0; --r, to -= row_step) {
      RIBBON_UNROLL
      for (int a = 0; a < B; ++a)
        if (stores) to[a * component] = w[r * B + a];
    }
    struct Kept {
      Scalar U[S * B] = {}, H[S * B] = {}, g[B] = {};
    } now, next;
    const auto read = [&](int k, Kept &row) {
      const Scalar *from = p.rows + k * p.row_step;
      RIBBON_UNROLL
      for (int e = 0; e < S * B; ++e) row.U[e] = from[e * side], row.H[e] = from[(S * B + e) * side];
      RIBBON_UNROLL
      for (int a = 0; a < B; ++a) row.g[a] = p.values[k * p.value_step + a * p.component_step];
    };
    int k = p.size - K - 1;
    if (k >= 0) read(k, now);
    for (; k >= 0; --k, to -= row_step) {
      if (k > 0) read(k - 1, next);
      Scalar unknown[B];
      RIBBON_UNROLL
      for (int a = 0; a < B; ++a) {
        unknown[a] = now.g[a];
        RIBBON_UNROLL
        for (int e = 0; e < S; ++e) subtract_product(unknown[a], now.H[a * S + e], zl[e]);
        RIBBON_UNROLL
        for (int e = S - 1; e >= 0; --e) add_product(unknown[a], now.U[a * S + e], w[e]);
      }
      RIBBON_UNROLL
      for (int e = S - 1; e >= B; --e) w[e] = w[e - B];
      RIBBON_UNROLL
      for (int a = 0; a < B; ++a) {
        w[a] = unknown[a];
        if (stores) to[a * component] = unknown[a];
      }
      now = next;
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    // virtual states are after the tile
    device::Threads<State, Team> threads(team, team.scratch() + scratch());
    const Tile staged{shape, tile(team), {reinterpret_cast<std::uint64_t *>(team.scratch() + arrival_at())}};
    const std::int64_t         first = team.league_rank() * shape.lanes();
    const typename Tile::Lines own{
      first, static_cast<int>(lines - first < shape.lanes() ? lines - first : shape.lanes())};
    threads.for_each([&](int v, State &) {
      const Piece p = piece(team, v);
      if (shape.staged) staged.bring(team, v, own, in, b);
      if (this->template packs<Team>()) this->template bring<device::pack<Scalar>>(p);
      else this->template bring<1>(p);
      if (matrices.alpha) this->form(p);
    });
    if (shape.staged) staged.await(team, in, b);
    threads.for_each([&](int v, State &s) {
      if constexpr (B == 1) forward_band(team, piece(team, v), s);
      else forward_blocks(team, piece(team, v), s);
    });
    team.barrier();
    threads.for_each([&](int v, State &s) { relate(team, piece(team, v), s); });
    team.barrier();
    threads.for_each([&](int v, State &s) {
      Relations::tell(Relations::relation(team, v >> shape.lane_bits, v & (shape.lanes() - 1)).at, s.own);
    });
    team.barrier();
    Relations::solve(team, threads);
    threads.for_each([&](int v, State &) {
      backward(team, piece(team, v));
      if (shape.staged) staged.template release<Team>(out, x);
    });
    if (shape.staged) {
      team.barrier();
      threads.for_each([&](int v, State &) { staged.store(team, v, own, out, x); });
    }
  }
};

} // namespace ribbon
