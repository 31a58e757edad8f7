// SPDX-License-Identifier: BSD-2-Clause
/// @file one_pass_per_line.hpp  Lines with matrices of their own, eliminated and solved in flight: matrix, right-hand side and solution cross
/// the memory bus once.
///
/// Lines are cut in chunks as in chunk.hpp, one virtual thread per (line, chunk); the last K rows of a chunk are its separators (zr), those of
/// the chunk to the left are zl. The forward sweep eliminates while rows arrive,
///
///     x_i = g_i - H_i zl + sum_p U_ip x_(i+1+p)
///
/// with g, H and U kept in team scratch, and carries the first K unknowns of the chunk along in terms of zl and of the K unknowns that come
/// next, x_first = y - v zl - w x_next: at the end of the sweep these are zr. The reduced system of a line, T blocks of K x K, is solved by
/// parallel cyclic reduction over its chunks (Hockney & Jesshope 1981), and the backward sweep runs while x leaves. (Wang 1981; Mattor, Williams
/// & Hewett 1995.)
#pragma once

#include <ribbon/algorithm/one_pass_shape.hpp>

#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_matrices.hpp>
#include <ribbon/line_set.hpp>
#include <ribbon/small_block.hpp>

namespace ribbon {

/// @tparam Matrices  OwnMatrices or ShiftedMatrices
/// @tparam Staged    rows of a line lie side by side: right-hand side and solution pass through scratch
template <class Scalar, int K, class Matrices, bool Staged>
struct OnePassPerLineKernel {
  static constexpr int max_threads = 512;                                             ///< bounds the registers: 128
  static constexpr int side        = 32;                                              ///< virtual threads whose words lie side by side in scratch
  static constexpr int words       = 1 + 2 * K;                                       ///< g, U and H of a row
  static constexpr int kept        = Staged ? 2 * K : words;                          ///< of them, beside the tile of staged lines, in scratch
  static constexpr int told        = K + 2 * K * K;                                   ///< numbers of a relation
  static constexpr int group       = (K == 1 ? 4 : 2) / (sizeof(Scalar) > 8 ? 2 : 1); ///< rows that are asked for together
  using Block                      = SmallBlock<Scalar, K>;

  Matrices      matrices;
  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;
  OnePassShape  shape; ///< slots, window and reach are not used
  std::int64_t  lines = 0;
  int           shift = 0; ///< lanes of the first team before line 0

  /// What a virtual thread keeps between the phases: its separators' own equations, diag zr + l zl + Us x_first(right) = r, then their relation.
  struct State {
    Relation<Scalar, K> own;
    Block               diag, Us;
  };

  /// Words of scratch: two relations and the rows of every virtual thread, and the tile of staged lines.
  KOKKOS_FUNCTION static int         padded(const OnePassShape &s) { return (s.threads() + side - 1) / side * side; }
  KOKKOS_FUNCTION static int         row_words(const OnePassShape &s) { return (2 * told + (s.split.length - K) * kept) * padded(s); }
  KOKKOS_FUNCTION static std::size_t scratch(const OnePassShape &s) { return device::align16(static_cast<std::size_t>(row_words(s) + (Staged ? s.pitch * s.lanes() : 0)) * sizeof(Scalar)); }

  /// The piece of a tile one virtual thread owns.
  struct Piece {
    int          thread, chunk, size;
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
    p.rows                  = all + 2 * told * padded(shape) + v / side * (side * kept * (shape.split.length - K)) + v % side;
    p.tile                  = all + row_words(shape) + lane * shape.pitch + p.begin;
    return p;
  }

  /// What a sweep carries: the last K rows, the newest first, and the first K unknowns of the chunk.
  struct Sweep {
    Scalar              g[K] = {}, U[K][K] = {}, H[K][K] = {};
    Relation<Scalar, K> first;
  };
  /// One row: takes the K rows before it out; a[d + K] is its entry at distance d, h its couplings to zl.
  KOKKOS_FUNCTION static void eliminate(const Sweep &s, Scalar *a, Scalar (&h)[K], Scalar &f)
  {
    for (int q = K - 1; q >= 0; --q) { // row -1 - q
      const Scalar l = a[K - 1 - q];
      f -= l * s.g[q];
      for (int e = 0; e < K; ++e) h[e] -= l * s.H[q][e];
      for (int p = 0; p < K; ++p) a[K - q + p] += l * s.U[q][p];
    }
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
    Sweep         s;
    for (int q = 0; q < K; ++q) s.H[q][K - 1 - q] = Scalar(-1), s.first.u.a[q][q] = Scalar(-1); // the rows before the chunk are zl, the next unknowns the first
    const auto read = [&](int k, Scalar(&row)[2 * K + 1], Scalar &value) {
      if constexpr (Matrices::from_memory) line.row(k, row);
      value = Staged ? p.tile[k] : device::streaming_load(from + k * in.row_stride);
    };
    const auto read_group = [&](int k, Rows &rows) {
      RIBBON_UNROLL
      for (int j = 0; j < group; ++j)
        if (k + j < p.size) read(k + j, rows.a[j], rows.f[j]);
    };
    const auto step = [&](int k, const Scalar(&given)[2 * K + 1], Scalar value) {
      Scalar h[K] = {}, row[2 * K + 1];
      for (int d = 0; d <= 2 * K; ++d) row[d] = given[d];
      eliminate(s, row, h, value);
      const Scalar inv = reciprocal(row[K]);
      for (int q = K - 1; q > 0; --q) {
        s.g[q] = s.g[q - 1];
        for (int e = 0; e < K; ++e) s.U[q][e] = s.U[q - 1][e], s.H[q][e] = s.H[q - 1][e];
      }
      s.g[0] = inv * value;
      for (int e = 0; e < K; ++e) s.U[0][e] = -inv * row[K + 1 + e], s.H[0][e] = inv * h[e];
      for (int r = 0; r < K; ++r) {
        const Scalar w = s.first.u.a[r][0];
        s.first.r[r] -= w * s.g[0];
        for (int e = 0; e < K; ++e) s.first.l.a[r][e] -= w * s.H[0][e];
        for (int e = 0; e < K; ++e) s.first.u.a[r][e] = (e + 1 < K ? s.first.u.a[r][e + 1 < K ? e + 1 : e] : Scalar(0)) + w * s.U[0][e];
      }
      Scalar *to = p.rows + k * kept * side;
      if constexpr (Staged) p.tile[k] = s.g[0];
      else to[2 * K * side] = s.g[0];
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
      Scalar h[K] = {}, column[3 * K] = {}; // columns from K before the first separator
      own.own.r[r] = f_sep[r];
      for (int d = -K; d <= K; ++d) column[K + r + d] = a_sep[r][d + K];
      for (int e = 0; e < K; ++e)
        if (!shape.ring && p.chunk + 1 == shape.split.chunks) column[2 * K + e] = Scalar(0);
      eliminate(s, column, h, own.own.r[r]);
      for (int e = 0; e < K; ++e) own.own.l.a[r][e] = open ? Scalar(0) : h[e], own.diag.a[r][e] = column[K + e], own.Us.a[r][e] = column[2 * K + e];
    }
    tell(team, p, 0, s.first);
  }

  /// Where a virtual thread leaves what it tells others: one relation in each of two buffers, words `side` apart.
  template <class Team>
  KOKKOS_FUNCTION static Scalar *place(const Team &team, int thread, int buffer)
  {
    return reinterpret_cast<Scalar *>(team.scratch()) + (thread / side * 2 + buffer) * (told * side) + thread % side;
  }
  template <class Team>
  KOKKOS_FUNCTION static void tell(const Team &team, const Piece &p, int buffer, const Relation<Scalar, K> &relation)
  {
    Scalar *to = place(team, p.thread, buffer);
    for (int r = 0; r < K; ++r) {
      to[r * side] = relation.r[r];
      for (int e = 0; e < K; ++e) to[(K + r * K + e) * side] = relation.l.a[r][e], to[(K + K * K + r * K + e) * side] = relation.u.a[r][e];
    }
  }
  /// What the chunk `distance` further told; nothing beyond the ends of a line that is no ring.
  template <class Team>
  KOKKOS_FUNCTION Relation<Scalar, K> ask(const Team &team, const Piece &p, int buffer, int distance) const
  {
    const int           T = shape.split.chunks;
    int                 c = p.chunk + distance;
    Relation<Scalar, K> relation;
    if (shape.ring) c = c < 0 ? c + T : c >= T ? c - T : c;
    if (c < 0 || c >= T) return relation;
    const Scalar *from = place(team, p.thread + (c - p.chunk) * shape.lanes(), buffer);
    for (int r = 0; r < K; ++r) {
      relation.r[r] = from[r * side];
      for (int e = 0; e < K; ++e) relation.l.a[r][e] = from[(K + r * K + e) * side], relation.u.a[r][e] = from[(K + K * K + r * K + e) * side];
    }
    return relation;
  }

  /// The separators of a chunk in terms of those of its neighbours.
  template <class Team>
  KOKKOS_FUNCTION void relate(const Team &team, const Piece &p, State &s) const
  {
    const auto right = ask(team, p, 0, 1);
    s.diag.subtract_product(s.Us, right.l);
    s.own.subtract_product(s.Us, right.r);
    s.own.u.subtract_product(s.Us, right.u);
    s.own.divide_by(s.diag);
    tell(team, p, 1, s.own);
  }

  template <class Team>
  KOKKOS_FUNCTION void backward(const Team &team, const Piece &p, int buffer, State &s) const
  {
    const int m    = p.size - K;
    auto      left = ask(team, p, buffer, -1);
    if (shape.ring) s.own.close_ring(), left.close_ring();
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
    device::Threads<State, Team> threads(team, team.scratch() + scratch(shape)); // virtual states lie behind the tile
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
    threads.for_each([&](int v, State &s) { relate(team, piece(team, v), s); });
    team.barrier();
    int buffer = 1;
    for (int distance = 1; distance < shape.split.chunks; distance *= 2, buffer = 1 - buffer) {
      threads.for_each([&](int v, State &s) {
        const Piece p = piece(team, v);
        s.own.reduce(ask(team, p, buffer, -distance), ask(team, p, buffer, distance));
        tell(team, p, 1 - buffer, s.own);
      });
      team.barrier();
    }
    threads.for_each([&](int v, State &s) { backward(team, piece(team, v), buffer, s); });
    if constexpr (Staged) {
      team.barrier();
      threads.for_each([&](int v, State &) { for_tile(team, out, v, [&](std::int64_t at, int t) { x[at] = tile[t]; }); });
    }
  }
};

} // namespace ribbon
