// SPDX-License-Identifier: BSD-2-Clause
/// @file shifted.hpp  Lines with the matrices alpha_l A + beta_l B, where A and B have one stencil each
///   except for a few rows at their ends: only right-hand side and solution cross the memory bus, once
///   each.
///
/// The chunks of a line between the first and the last have the same matrix. The threads of one chunk
/// eliminate it (chunk_relations.hpp) once per line, to team scratch, while right-hand sides are in flight.
/// They also eliminate the first and the last chunk if these differ. Then the cost of a row is only its
/// recurrences, without divisions and spikes. Rows wait in registers.
#pragma once

#include <ribbon/algorithm/in_flight/chunk_relations.hpp>
#include <ribbon/algorithm/one_pass/staged.hpp>
#include <ribbon/matrix/line_matrices.hpp>

namespace ribbon {

/// @tparam Staged    rows of a line are contiguous: right-hand side and solution pass through scratch
/// @tparam rows      most rows of a chunk
template <class Scalar, int K, bool Staged, int rows>
struct OnePassShiftedKernel : ChunkRelations<Scalar, K> {
  using Relations = ChunkRelations<Scalar, K>;
  using Relations::shape;
  using typename Relations::Place, typename Relations::Separators;
  static constexpr int max_threads = 512; ///< limits the registers: 128
  static constexpr int interior    = rows - K;
  /// inv, L and w of the forward sweep, H and U of the backward sweep
  static constexpr int row_words = 1 + 4 * K;
  /// couplings of the first unknowns and of the separators
  static constexpr int edge_words = 6 * K * K;
  /// per line; odd, so that lanes use different banks
  static constexpr int table_words = (interior * row_words + edge_words) | 1;

  ShiftedMatrices<Scalar, K> matrices;
  const Scalar              *b;
  Scalar                    *x;
  LineSet                    in, out;
  std::int64_t               lines = 0;
  /// lanes of the first team before line 0
  int  shift         = 0;
  bool first_differs = false, last_differs = false; ///< from the interior chunks

  /// Distinct eliminations of a line: of the interior chunks, then of the chunks that differ.
  KOKKOS_FUNCTION int kinds() const { return 1 + first_differs + last_differs; }
  KOKKOS_FUNCTION int kind_of(int c) const
  {
    return c == 0 && first_differs ? 1 : c + 1 == shape.split.chunks && last_differs ? kinds() - 1 : 0;
  }
  /// A chunk of that kind. If there are several chunks, the first one represents only itself, because it
  /// has no couplings to the left.
  KOKKOS_FUNCTION int example(int kind) const
  {
    const int T = shape.split.chunks;
    return kind == 0 ? (T > 2 || (T == 2 && !last_differs) ? 1 : 0) : kind == 1 && first_differs ? 0 : T - 1;
  }
  void find_kinds()
  {
    const auto &split = shape.split;
    const int   T     = split.chunks;
    first_differs     = T > 2 && (split.first != split.length || matrices.equal_begin > 0);
    last_differs      = T > 1 && (split.last != (T == 2 ? split.first : split.length) ||
                             matrices.equal_end < matrices.rows || (T == 2 && matrices.equal_begin > 0));
  }

  struct State : Separators {
    Scalar f[rows];
  };

  /// Scratch: relations, tables of the kinds, tile of staged lines and its arrival.
  KOKKOS_FUNCTION static std::size_t tables_at(const OnePassShape &s)
  {
    return device::align16(static_cast<std::size_t>(Relations::relation_words(s)) * sizeof(Scalar));
  }
  KOKKOS_FUNCTION std::size_t tile_at() const
  {
    return tables_at(shape) +
           device::align16(static_cast<std::size_t>(kinds() * table_words * shape.lanes()) * sizeof(Scalar));
  }
  KOKKOS_FUNCTION std::size_t scratch() const
  {
    return tile_at() + (Staged ? device::Arrival::bytes +
                                   static_cast<std::size_t>(shape.pitch * shape.lanes()) * sizeof(Scalar)
                               : 0);
  }

  /// The part of a tile that one virtual thread processes.
  struct Piece : Place {
    int           lane, pad; ///< pad: empty places before its first row
    bool          active;
    std::int64_t  line, begin;
    const Scalar *table;
  };
  template <class Team>
  KOKKOS_FUNCTION Scalar *table(const Team &team, int kind, int lane) const
  {
    return reinterpret_cast<Scalar *>(team.scratch() + tables_at(shape)) +
           ((kind << shape.lane_bits) + lane) * table_words;
  }
  template <class Team>
  KOKKOS_FUNCTION Piece piece(const Team &team, int v) const
  {
    Piece p;
    p.thread = v, p.chunk = v >> shape.lane_bits;
    p.lane                  = v & (shape.lanes() - 1);
    p.pad                   = rows - shape.split.size(p.chunk);
    p.begin                 = shape.split.begin(p.chunk);
    const std::int64_t line = team.league_rank() * shape.lanes() + p.lane - shift;
    p.active                = line >= 0 && line < lines;
    p.line                  = p.active ? line : line < 0 ? 0 : lines - 1;
    p.table                 = table(team, kind_of(p.chunk), p.lane);
    return p;
  }

  /// The elimination of chunk c of a line. Empty places before its first row are zero.
  KOKKOS_FUNCTION void eliminate(Scalar *to, int c, std::int64_t l) const
  {
    const int                   m    = shape.split.size(c) - K;
    const bool                  open = !shape.ring && c == 0;
    const auto                  line = matrices.line(l, shape.split.begin(c));
    ChunkElimination<Scalar, K> s;
    const auto                  read = [&](int k, Scalar(&a)[2 * K + 1]) {
      line.row(k, a);
      for (int d = -K; d < 0; ++d)
        if (open && k + d < 0) a[d + K] = Scalar(0); // outside the matrix: the stored entry is arbitrary
    };
    Scalar a[2 * K + 1];
    for (int k = 0; k < (interior - m) * row_words; ++k) *to++ = Scalar(0);
#ifdef __CUDA_ARCH__
  #pragma unroll 4
#endif
    for (int k = 0; k < m; ++k, to += row_words) {
      read(k, a);
      const auto row = s.next(a);
      to[0]          = row.inv;
      for (int e = 0; e < K; ++e)
        to[1 + e] = -row.inv * row.L[e], to[1 + K + e] = row.w[e], to[1 + 2 * K + e] = s.H[0][e],
               to[1 + 3 * K + e] = s.U[0][e];
    }
    for (int r = 0; r < K; ++r) {
      Scalar h[K] = {}, L[K], column[3 * K] = {}; // columns from K before the first separator
      read(m + r, a);
      for (int d = -K; d <= K; ++d) column[K + r + d] = a[d + K];
      s.take_out(column, h, L);
      for (int e = 0; e < K; ++e) {
        Scalar *edge = to + r * K + e;
        edge[0] = s.first.l.a[r][e], edge[K * K] = s.first.u.a[r][e], edge[2 * K * K] = L[e],
        edge[3 * K * K] = h[e], edge[4 * K * K] = column[K + e], edge[5 * K * K] = column[2 * K + e];
      }
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void forward(const Team &team, const Piece &p, State &s) const
  {
    Scalar              g[K] = {}; // the last K rows, the newest first
    Relation<Scalar, K> first;
    RIBBON_UNROLL
    for (int k = 0; k < interior; ++k) {
      const Scalar *row   = p.table + k * row_words;
      Scalar        value = row[0] * s.f[k];
      for (int q = K - 1; q >= 0; --q) add_product(value, row[1 + q], g[q]);
      for (int r = 0; r < K; ++r) subtract_product(first.r[r], row[1 + K + r], value);
      for (int q = K - 1; q > 0; --q) g[q] = g[q - 1];
      g[0] = s.f[k] = value;
    }
    const bool begins = !shape.ring && p.chunk == 0, ends = !shape.ring && p.chunk + 1 == shape.split.chunks;
    for (int r = 0; r < K; ++r) {
      s.own.r[r] = s.f[interior + r];
      for (int e = 0; e < K; ++e) {
        const Scalar *edge = p.table + interior * row_words + r * K + e;
        first.l.a[r][e] = edge[0], first.u.a[r][e] = edge[K * K];
        subtract_product(s.own.r[r], edge[2 * K * K], g[e]);
        s.own.l.a[r][e] = begins ? Scalar(0) : edge[3 * K * K], s.own.u.a[r][e] = Scalar(0),
        s.diag.a[r][e] = edge[4 * K * K], s.Us.a[r][e] = ends ? Scalar(0) : edge[5 * K * K];
      }
    }
    Relations::tell(team, p, 0, first);
  }

  /// Calls store(k, x) from the last place to the first.
  template <class Store>
  KOKKOS_FUNCTION void backward(const Piece &p, const Scalar (&zl)[K], State &s, const Store &store) const
  {
    Scalar w[K];
    for (int r = K - 1; r >= 0; --r) store(interior + r, w[r] = s.own.r[r]);
    RIBBON_UNROLL
    for (int k = interior - 1; k >= 0; --k) {
      const Scalar *row   = p.table + k * row_words + 1 + 2 * K;
      Scalar        value = s.f[k];
      for (int e = 0; e < K; ++e) subtract_product(value, row[e], zl[e]);
      for (int e = K - 1; e >= 0; --e) add_product(value, row[K + e], w[e]);
      for (int e = K - 1; e > 0; --e) w[e] = w[e - 1];
      store(k, w[0] = value);
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    device::Threads<State, Team> threads(team, team.scratch() + scratch());
    char                        *arrival = team.scratch() + tile_at();
    Scalar                      *tile    = reinterpret_cast<Scalar *>(arrival + device::Arrival::bytes);
    const StagedTile<Scalar, 1>  staged{shape, tile, {reinterpret_cast<std::uint64_t *>(arrival)}};
    const std::int64_t           first = team.league_rank() * shape.lanes();
    const typename StagedTile<Scalar, 1>::Lines own{
      first, static_cast<int>(lines - first < shape.lanes() ? lines - first : shape.lanes())};
    threads.for_each([&](int v, State &s) {
      const Piece p = piece(team, v);
      if constexpr (Staged) staged.bring(team, v, own, in, b);
      else {
        const Scalar *from = b + in.begin(p.line) + (p.begin - p.pad) * in.row_stride;
        RIBBON_UNROLL
        for (int k = 0; k < rows; ++k, from += in.row_stride)
          s.f[k] = k >= p.pad ? device::streaming_load(from) : Scalar(0);
      }
      if (p.chunk < kinds()) eliminate(table(team, p.chunk, p.lane), example(p.chunk), p.line);
    });
    if constexpr (Staged) staged.await(team, in, b);
    else team.barrier();
    threads.for_each([&](int v, State &s) {
      const Piece p = piece(team, v);
      if constexpr (Staged) {
        const Scalar *from = tile + p.lane * shape.pitch + p.begin - p.pad;
        RIBBON_UNROLL
        for (int k = 0; k < rows; ++k) s.f[k] = k >= p.pad ? from[k] : Scalar(0);
      }
      forward(team, p, s);
    });
    team.barrier();
    const int buffer = Relations::solve(team, threads, [&](int v) { return Place{v, v >> shape.lane_bits}; });
    threads.for_each([&](int v, State &s) {
      const Piece p    = piece(team, v);
      const auto  left = Relations::left_of(team, p, buffer, s);
      if constexpr (Staged) {
        Scalar *to = tile + p.lane * shape.pitch + p.begin - p.pad;
        backward(p, left.r, s, [&](int k, const Scalar &value) {
          if (k >= p.pad) to[k] = value;
        });
        staged.template release<Team>(out, x);
      } else {
        const int first_stored = p.active ? p.pad : rows;
        Scalar   *to           = x + out.begin(p.line) + (p.begin - p.pad + rows - 1) * out.row_stride;
        backward(p, left.r, s, [&](int k, const Scalar &value) {
          if (k >= first_stored) *to = value;
          to -= out.row_stride;
        });
      }
    });
    if constexpr (Staged) {
      team.barrier();
      threads.for_each([&](int v, State &) { staged.store(team, v, own, out, x); });
    }
  }
};

} // namespace ribbon
