// SPDX-License-Identifier: BSD-2-Clause
/// @file one_pass_per_line.hpp  Lines with matrices of their own, eliminated and solved in flight: matrix, right-hand side and solution cross
/// the memory bus once.
///
/// The elimination of a chunk and the reduced system of a line are those of chunk_relations.hpp; g, H and U of each row are kept in team scratch,
/// and the backward sweep runs while x leaves.
#pragma once

#include <ribbon/algorithm/chunk_relations.hpp>
#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_matrices.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// @tparam Matrices  OwnMatrices or ShiftedMatrices
/// @tparam Staged    rows of a line lie side by side: right-hand side and solution pass through scratch
template <class Scalar, int K, class Matrices, bool Staged>
struct OnePassPerLineKernel : ChunkRelations<Scalar, K> {
  using Relations = ChunkRelations<Scalar, K>;
  using Relations::shape, Relations::side;
  using typename Relations::Place;
  using State                      = typename Relations::Separators;
  static constexpr int max_threads = 512;                                             ///< bounds the registers: 128
  static constexpr int words       = 1 + 2 * K;                                       ///< g, U and H of a row
  static constexpr int kept        = Staged ? 2 * K : words;                          ///< of them, beside the tile of staged lines, in scratch
  static constexpr int group       = (K == 1 ? 4 : 2) / (sizeof(Scalar) > 8 ? 2 : 1); ///< rows that are asked for together

  Matrices      matrices;
  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;
  std::int64_t  lines = 0;
  int           shift = 0; ///< lanes of the first team before line 0

  /// Words of scratch: relations and the rows of every virtual thread, and the tile of staged lines.
  KOKKOS_FUNCTION static int         row_words(const OnePassShape &s) { return Relations::relation_words(s) + (s.split.length - K) * kept * Relations::padded(s); }
  KOKKOS_FUNCTION static std::size_t scratch(const OnePassShape &s) { return device::align16(static_cast<std::size_t>(row_words(s) + (Staged ? s.pitch * s.lanes() : 0)) * sizeof(Scalar)); }
  KOKKOS_FUNCTION std::size_t scratch() const { return scratch(shape); }

  /// The piece of a tile one virtual thread owns.
  struct Piece : Place {
    int          size;
    bool         active;
    std::int64_t line, begin;
    Scalar      *rows; ///< the words of its rows, `side` apart
    Scalar      *tile; ///< staged: its first row
  };
  template <class Team>
  KOKKOS_FUNCTION Piece piece(const Team &team, int v) const
  {
    Piece     p;
    const int lane          = v & (shape.lanes() - 1);
    p.thread                = v;
    p.chunk                 = v >> shape.lane_bits;
    p.size                  = shape.split.size(p.chunk);
    p.begin                 = shape.split.begin(p.chunk);
    const std::int64_t line = team.league_rank() * shape.lanes() + lane - shift;
    p.active                = line >= 0 && line < lines;
    p.line                  = p.active ? line : line < 0 ? 0 : lines - 1;
    Scalar *all             = reinterpret_cast<Scalar *>(team.scratch());
    p.rows                  = all + Relations::relation_words(shape) + v / side * (side * kept * (shape.split.length - K)) + v % side;
    p.tile                  = all + row_words(shape) + lane * shape.pitch + p.begin;
    return p;
  }

  /// Rows that are asked for together.
  struct Rows {
    Scalar a[group][2 * K + 1] = {}, f[group] = {};
  };

  template <class Team>
  KOKKOS_FUNCTION void forward(const Team &team, const Piece &p, State &own) const
  {
    const auto    line = matrices.line(p.line, p.begin);
    const Scalar *from = b + in.begin(p.line) + p.begin * in.row_stride;
    const int     m    = p.size - K;
    const bool    open = !shape.ring && p.chunk == 0;
    Scalar        g[K] = {}; // the last K rows, the newest first

    ChunkElimination<Scalar, K> s;
    const auto                  read = [&](int k, Scalar(&row)[2 * K + 1], Scalar &value) {
      if constexpr (Matrices::from_memory) line.row(k, row);
      value = Staged ? p.tile[k] : device::streaming_load(from + k * in.row_stride);
    };
    const auto read_group = [&](int k, Rows &rows) {
      RIBBON_UNROLL
      for (int j = 0; j < group; ++j)
        if (k + j < p.size) read(k + j, rows.a[j], rows.f[j]);
    };
    const auto step = [&](int k, const Scalar(&given)[2 * K + 1], Scalar value) {
      Scalar entries[2 * K + 1];
      for (int d = 0; d <= 2 * K; ++d) entries[d] = given[d];
      const auto row = s.next(entries);
      for (int q = K - 1; q >= 0; --q) value -= row.L[q] * g[q];
      for (int q = K - 1; q > 0; --q) g[q] = g[q - 1];
      g[0] = row.inv * value;
      for (int r = 0; r < K; ++r) s.first.r[r] -= row.w[r] * g[0];
      Scalar *to = p.rows + k * kept * side;
      if constexpr (Staged) p.tile[k] = g[0];
      else to[2 * K * side] = g[0];
      for (int e = 0; e < K; ++e) to[e * side] = s.U[0][e], to[(K + e) * side] = s.H[0][e];
    };
    // rows of matrices that were not read with the right-hand side, and entries outside the matrix, which may be anything
    const auto prepare = [&](int k, Rows &rows) {
      RIBBON_UNROLL
      for (int j = 0; j < group; ++j) {
        if constexpr (!Matrices::from_memory)
          if (k + j < p.size) line.row(k + j, rows.a[j]);
        for (int d = -K; d < 0; ++d)
          if (open && k + j + d < 0) rows.a[j][d + K] = Scalar(0);
      }
    };
    Rows now, next;
    int  k = 0;
    read_group(0, now);
#ifdef __CUDA_ARCH__
  #pragma unroll 2
#endif
    for (; k + group <= m; k += group) {
      read_group(k + group, next); // under way while these are eliminated
      const bool agree = !Matrices::from_memory && line.agree(k, group) && !(open && k < K);
      if constexpr (!Matrices::from_memory)
        if (agree) {
          RIBBON_UNROLL
          for (int j = 0; j < group; ++j) step(k + j, line.equal, now.f[j]);
        }
      if (!agree) {
        if (!Matrices::from_memory || k < K) prepare(k, now);
        RIBBON_UNROLL
        for (int j = 0; j < group; ++j) step(k + j, now.a[j], now.f[j]);
      }
      now = next;
    }
    prepare(k, now);
    Scalar a_sep[K][2 * K + 1] = {}, f_sep[K] = {};
    RIBBON_UNROLL
    for (int j = 0; j < group; ++j) {
      if (k + j < m) step(k + j, now.a[j], now.f[j]);
      for (int r = 0; r < K; ++r)
        if (k + j == m + r) {
          for (int d = 0; d <= 2 * K; ++d) a_sep[r][d] = now.a[j][d];
          f_sep[r] = now.f[j];
        }
    }
    if (K > 1 && k + group < p.size) { // one row more than a group
      read_group(p.size - 1, now);
      prepare(p.size - 1, now);
      for (int d = 0; d <= 2 * K; ++d) a_sep[K - 1][d] = now.a[0][d];
      f_sep[K - 1] = now.f[0];
    }
    // the separators' own rows: couplings to zl, to zr and to the first unknowns of the chunk to the right
    RIBBON_UNROLL
    for (int r = 0; r < K; ++r) {
      Scalar h[K] = {}, L[K], column[3 * K] = {}; // columns from K before the first separator
      own.own.r[r] = f_sep[r];
      for (int d = -K; d <= K; ++d) column[K + r + d] = a_sep[r][d + K];
      for (int e = 0; e < K; ++e)
        if (!shape.ring && p.chunk + 1 == shape.split.chunks) column[2 * K + e] = Scalar(0);
      s.take_out(column, h, L);
      for (int q = K - 1; q >= 0; --q) own.own.r[r] -= L[q] * g[q];
      for (int e = 0; e < K; ++e) own.own.l.a[r][e] = open ? Scalar(0) : h[e], own.diag.a[r][e] = column[K + e], own.Us.a[r][e] = column[2 * K + e];
    }
    Relations::tell(team, p, 0, s.first);
  }

  template <class Team>
  KOKKOS_FUNCTION void backward(const Team &team, const Piece &p, int buffer, State &s) const
  {
    const int  m    = p.size - K;
    const auto left = Relations::left_of(team, p, buffer, s);
    Scalar     w[K];
    Scalar    *to    = x + out.begin(p.line) + p.begin * out.row_stride;
    const auto store = [&](int k, const Scalar &value) {
      if constexpr (Staged) p.tile[k] = value;
      else if (p.active) to[k * out.row_stride] = value;
    };
    for (int r = 0; r < K; ++r) store(m + r, w[r] = s.own.r[r]);
#ifdef __CUDA_ARCH__
  #pragma unroll 4
#endif
    for (int k = m - 1; k >= 0; --k) {
      const Scalar *at    = p.rows + k * kept * side;
      Scalar        value = Staged ? p.tile[k] : at[2 * K * side];
      for (int e = 0; e < K; ++e) value -= at[(K + e) * side] * left.r[e];
      for (int e = K - 1; e >= 0; --e) value += at[e * side] * w[e];
      for (int e = K - 1; e > 0; --e) w[e] = w[e - 1];
      w[0] = value;
      store(k, value);
    }
  }

  /// Moves whole lines between memory and scratch, neighbouring threads at neighbouring rows.
  template <class Team, class Move>
  KOKKOS_FUNCTION void for_tile(const Team &team, const LineSet &set, int v, const Move &move) const
  {
    const int          n = static_cast<int>(set.rows), width = team.size() < 32 ? team.size() : 32, groups = team.size() / width, lane = v % width;
    const std::int64_t first = team.league_rank() * shape.lanes(), left = lines - first;
    const int          end = left < shape.lanes() ? static_cast<int>(left) : shape.lanes();
    if (v / width >= groups) return;
    for (int line = v / width; line < end; line += groups) {
      const std::int64_t at = set.begin(first + line);
#ifdef __CUDA_ARCH__
  #pragma unroll 4
#endif
      for (int k = lane; k < n; k += width) move(at + k * set.row_stride, line * shape.pitch + k);
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    Scalar                      *tile = reinterpret_cast<Scalar *>(team.scratch()) + row_words(shape);
    device::Threads<State, Team> threads(team, team.scratch() + scratch()); // virtual states lie behind the tile
    if constexpr (Staged) {
      threads.for_each([&](int v, State &) {
        for_tile(team, in, v, [&](std::int64_t at, int t) { device::async_copy(&tile[t], &b[at]); });
        device::async_commit();
        device::async_wait(0);
      });
      team.barrier();
    }
    threads.for_each([&](int v, State &s) {
      s = State();
      forward(team, piece(team, v), s);
    });
    team.barrier();
    const int buffer = Relations::solve(team, threads, [&](int v) { return Place{v, v >> shape.lane_bits}; });
    threads.for_each([&](int v, State &s) { backward(team, piece(team, v), buffer, s); });
    if constexpr (Staged) {
      team.barrier();
      threads.for_each([&](int v, State &) { for_tile(team, out, v, [&](std::int64_t at, int t) { x[at] = tile[t]; }); });
    }
  }
};

} // namespace ribbon
