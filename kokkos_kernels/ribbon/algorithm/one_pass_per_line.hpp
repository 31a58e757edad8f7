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
/// next, x_first = y - v zl + P x_next: at the end of the sweep these are zr. Two barriers later the reduced system of a line, T blocks of
/// K x K, is solved by one thread, and the backward sweep runs while x leaves. (Mattor, Williams & Hewett 1995; Wang 1981.)
#pragma once

#include <ribbon/algorithm/one_pass_shape.hpp>
#include <ribbon/bands.hpp>
#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// Rows of one matrix per line, the line running fastest.
template <class Scalar, int K>
struct OwnMatrices {
  const Scalar *values; ///< entry (line, i, d) at line + lines (i + rows d)
  std::int64_t  lines, rows;
  int           lower, upper;

  struct Line {
    const Scalar        *at;
    std::int64_t         row_step, diagonal_step;
    int                  lower, upper;
    KOKKOS_FUNCTION void row(std::int64_t i, Scalar (&a)[2 * K + 1]) const
    {
      for (int d = -K; d <= K; ++d) a[d + K] = d < -lower || d > upper ? Scalar(0) : read_only_scalar(at + i * row_step + (d + lower) * diagonal_step);
    }
  };
  KOKKOS_FUNCTION Line line(std::int64_t l) const { return {values + l % lines, lines, lines * rows, lower, upper}; }
};

/// Rows of alpha_l A + beta_l B.
template <class Scalar, int K>
struct ShiftedMatrices {
  const Scalar *values; ///< A and B side by side: entry (c, i, d) at c + 2 (i + rows d)
  const Scalar *alpha, *beta;
  std::int64_t  lines, rows;
  int           lower, upper;

  struct alignas(2 * sizeof(Scalar)) Pair {
    Scalar a, b;
  };
  struct Line {
    const Pair          *at;
    std::int64_t         rows;
    Scalar               alpha, beta;
    int                  lower, upper;
    KOKKOS_FUNCTION void row(std::int64_t i, Scalar (&a)[2 * K + 1]) const
    {
      for (int d = -K; d <= K; ++d) {
        a[d + K] = Scalar(0);
        if (d < -lower || d > upper) continue;
        Pair entry;
        if constexpr (sizeof(Pair) % 16 == 0) entry = read_only(at + i + (d + lower) * rows);
        else entry = at[i + (d + lower) * rows];
        a[d + K] = alpha * entry.a + beta * entry.b;
      }
    }
  };
  KOKKOS_FUNCTION Line line(std::int64_t l) const { return {reinterpret_cast<const Pair *>(values), rows, alpha[l % lines], beta[l % lines], lower, upper}; }
};

/// K x K blocks, row-major, in registers.
template <class Scalar, int K>
struct SmallBlock {
  Scalar a[K][K] = {};

  /// Inverse by Gauss-Jordan elimination with row pivoting; Inf or NaN where there is none.
  KOKKOS_INLINE_FUNCTION SmallBlock inverse() const
  {
    SmallBlock A = *this, B;
    for (int k = 0; k < K; ++k) B.a[k][k] = Scalar(1);
    for (int k = 0; k < K; ++k) {
      for (int i = k + 1; i < K; ++i)
        if (magnitude(A.a[i][k]) > magnitude(A.a[k][k]))
          for (int j = 0; j < K; ++j) swap(A.a[i][j], A.a[k][j]), swap(B.a[i][j], B.a[k][j]);
      const Scalar inv = Scalar(1) / A.a[k][k];
      for (int j = 0; j < K; ++j) A.a[k][j] *= inv, B.a[k][j] *= inv;
      for (int i = 0; i < K; ++i) {
        const Scalar f = A.a[i][k];
        for (int j = 0; i != k && j < K; ++j) A.a[i][j] -= f * A.a[k][j], B.a[i][j] -= f * B.a[k][j];
      }
    }
    return B;
  }
  KOKKOS_INLINE_FUNCTION static void swap(Scalar &x, Scalar &y)
  {
    const Scalar t = x;
    x = y, y = t;
  }
  KOKKOS_INLINE_FUNCTION friend SmallBlock operator*(const SmallBlock &x, const SmallBlock &y)
  {
    SmallBlock z;
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < K; ++j)
        for (int k = 0; k < K; ++k) z.a[i][j] += x.a[i][k] * y.a[k][j];
    return z;
  }
  KOKKOS_INLINE_FUNCTION SmallBlock &operator-=(const SmallBlock &y)
  {
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < K; ++j) a[i][j] -= y.a[i][j];
    return *this;
  }
};

/// @tparam Matrices  OwnMatrices or ShiftedMatrices
/// @tparam Staged    rows of a line lie side by side: right-hand side and solution pass through scratch
template <class Scalar, int K, class Matrices, bool Staged>
struct OnePassPerLineKernel {
  static constexpr int max_threads = 512;
  static constexpr int words       = 1 + 2 * K;         ///< g, U and H of a row
  static constexpr int published   = 2 * K + 5 * K * K; ///< numbers that a chunk tells the reduced system
  static constexpr int group       = K == 1 ? 4 : 2;    ///< rows whose numbers are asked for together
  using Block                      = SmallBlock<Scalar, K>;

  Matrices      matrices;
  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;
  OnePassShape  shape; ///< slots, window and reach are not used
  std::int64_t  lines = 0;
  int           shift = 0; ///< lanes of the first team before line 0

  /// Words of rows that a virtual thread keeps in scratch: all but g where that lies in the tile.
  KOKKOS_INLINE_FUNCTION static int kept(const OnePassShape &s) { return (s.split.length - K) * (words - (Staged ? 1 : 0)); }
  static std::size_t                scratch(const OnePassShape &s)
  {
    const std::size_t threads = static_cast<std::size_t>(s.threads()), tile = Staged ? static_cast<std::size_t>(s.pitch) * static_cast<std::size_t>(s.lanes()) : 0;
    return device::align16((static_cast<std::size_t>(kept(s) + published) * threads + tile) * sizeof(Scalar));
  }

  /// The piece of a tile one virtual thread owns.
  struct Piece {
    int          lane, chunk, size, threads;
    bool         active;
    std::int64_t line, begin;
    Scalar      *rows; ///< g (not staged), U and H of a row, `threads` apart
    Scalar      *tile; ///< staged: first row of the chunk
    Scalar      *told; ///< what this chunk publishes, `threads` apart
  };
  template <class Team>
  KOKKOS_FUNCTION Piece piece(const Team &team, int v) const
  {
    Piece p;
    p.threads               = shape.threads();
    p.lane                  = v & (shape.lanes() - 1);
    p.chunk                 = v >> shape.lane_bits;
    p.size                  = shape.split.size(p.chunk);
    p.begin                 = shape.split.begin(p.chunk);
    const std::int64_t line = team.league_rank() * shape.lanes() + p.lane - shift;
    p.active                = line >= 0 && line < lines;
    p.line                  = p.active ? line : line < 0 ? 0 : lines - 1;
    Scalar *all             = reinterpret_cast<Scalar *>(team.scratch());
    p.told                  = all + v;
    p.rows                  = all + published * p.threads + v;
    p.tile                  = all + (published + kept(shape)) * p.threads + p.lane * shape.pitch + p.begin;
    return p;
  }

  /// What a sweep carries: the last K rows, the newest first, and the first K unknowns.
  struct Sweep {
    Scalar g[K], U[K][K], H[K][K], y[K], v[K][K], P[K][K];
  };

  /// One row: takes the K rows before it out, a[d + K] being its entry at distance d, h its couplings to zl.
  KOKKOS_FUNCTION static void eliminate(const Sweep &s, Scalar *a, Scalar (&h)[K], Scalar &f)
  {
    for (int q = K - 1; q >= 0; --q) { // row -1 - q
      const Scalar l = a[K - 1 - q];
      f -= l * s.g[q];
      for (int e = 0; e < K; ++e) h[e] -= l * s.H[q][e];
      for (int p = 0; p < K; ++p) a[K - q + p] += l * s.U[q][p];
    }
  }

  KOKKOS_FUNCTION void forward(const Piece &p) const
  {
    const auto    line = matrices.line(p.line);
    const Scalar *from = b + in.begin(p.line) + p.begin * in.row_stride;
    const int     m    = p.size - K;
    const bool    open = !shape.ring && p.chunk == 0;
    Sweep         s    = {};
    for (int q = 0; q < K; ++q) s.H[q][K - 1 - q] = Scalar(-1), s.P[q][q] = Scalar(1); // the rows before the chunk are zl, the next unknowns the first
    Scalar     a[group][2 * K + 1], f[group];
    const auto read = [&](int k, Scalar(&row)[2 * K + 1], Scalar &value) {
      line.row(p.begin + k, row);
      value = Staged ? p.tile[k] : device::streaming_load(from + k * in.row_stride);
    };
    const auto step = [&](int k, Scalar(&row)[2 * K + 1], Scalar value) {
      Scalar h[K] = {};
      if (open && k < K)
        for (int d = -K; d < -k; ++d) row[d + K] = Scalar(0); // entries outside the matrix may be anything
      eliminate(s, row, h, value);
      const Scalar inv = Scalar(1) / row[K];
      for (int q = K - 1; q > 0; --q) {
        s.g[q] = s.g[q - 1];
        for (int e = 0; e < K; ++e) s.U[q][e] = s.U[q - 1][e], s.H[q][e] = s.H[q - 1][e];
      }
      s.g[0] = inv * value;
      for (int e = 0; e < K; ++e) s.U[0][e] = -inv * row[K + 1 + e], s.H[0][e] = inv * h[e];
      for (int r = 0; r < K; ++r) {
        const Scalar P = s.P[r][0];
        s.y[r] += P * s.g[0];
        for (int e = 0; e < K; ++e) s.v[r][e] += P * s.H[0][e];
        for (int e = 0; e < K; ++e) s.P[r][e] = (e + 1 < K ? s.P[r][e + 1 < K ? e + 1 : e] : Scalar(0)) + P * s.U[0][e];
      }
      Scalar *to = p.rows + k * (words - (Staged ? 1 : 0)) * p.threads;
      if constexpr (Staged) p.tile[k] = s.g[0];
      else *to = s.g[0], to += p.threads;
      for (int e = 0; e < K; ++e, to += p.threads) *to = s.U[0][e];
      for (int e = 0; e < K; ++e, to += p.threads) *to = s.H[0][e];
    };
    int k = 0;
    for (; k + group <= m; k += group) {
      RIBBON_UNROLL
      for (int j = 0; j < group; ++j) read(k + j, a[j], f[j]);
      RIBBON_UNROLL
      for (int j = 0; j < group; ++j) step(k + j, a[j], f[j]);
    }
    for (; k < m; ++k) {
      read(k, a[0], f[0]);
      step(k, a[0], f[0]);
    }
    // the separators' own rows: couplings to zl, to zr and to the first unknowns of the chunk to the right
    Scalar *to  = p.told;
    auto    put = [&](const Scalar &value) { *to = value, to += p.threads; };
    for (int r = 0; r < K; ++r) {
      Scalar value, h[K] = {}, column[3 * K] = {}; // columns from K before the first separator
      read(m + r, a[0], value);
      for (int d = -K; d <= K; ++d) column[K + r + d] = a[0][d + K];
      if (p.size - K + r < K && open)
        for (int d = -K; d < -(m + r); ++d) column[K + r + d] = Scalar(0);
      for (int e = 0; p.chunk + 1 == shape.split.chunks && !shape.ring && e < K; ++e) column[2 * K + e] = Scalar(0);
      eliminate(s, column, h, value);
      put(value);
      for (int e = 0; e < K; ++e) put(h[e]);
      for (int e = 0; e < K; ++e) put(column[K + e]);
      for (int e = 0; e < K; ++e) put(column[2 * K + e]);
    }
    for (int r = 0; r < K; ++r) {
      put(s.y[r]);
      for (int e = 0; e < K; ++e) put(s.v[r][e]);
      for (int e = 0; e < K; ++e) put(s.P[r][e]);
    }
  }

  /// Block row c of the reduced system of a lane: lower z_(c-1) + diag z_c + upper z_(c+1) = r.
  struct ReducedRow {
    Block  lower, diag, upper;
    Scalar r[K];
  };
  KOKKOS_FUNCTION Scalar     told(const Scalar *all, int lane, int c, int word) const { return all[word * shape.threads() + (c << shape.lane_bits) + lane]; }
  KOKKOS_FUNCTION ReducedRow reduced_row(const Scalar *all, int lane, int c) const
  {
    const int  right = c + 1 < shape.split.chunks ? c + 1 : shape.ring ? 0 : -1;
    ReducedRow row;
    Block      Us, v, P;
    for (int r = 0; r < K; ++r) {
      const int at = r * (1 + 3 * K);
      row.r[r]     = told(all, lane, c, at);
      for (int e = 0; e < K; ++e) {
        row.lower.a[r][e] = told(all, lane, c, at + 1 + e);
        row.diag.a[r][e]  = told(all, lane, c, at + 1 + K + e);
        Us.a[r][e]        = told(all, lane, c, at + 1 + 2 * K + e);
      }
    }
    if (right < 0) return row;
    Scalar y[K];
    for (int r = 0; r < K; ++r) {
      const int at = K * (1 + 3 * K) + r * (1 + 2 * K);
      y[r]         = told(all, lane, right, at);
      for (int e = 0; e < K; ++e) v.a[r][e] = told(all, lane, right, at + 1 + e), P.a[r][e] = told(all, lane, right, at + 1 + K + e);
    }
    row.diag -= Us * v;
    row.upper = Us * P;
    for (int r = 0; r < K; ++r)
      for (int e = 0; e < K; ++e) row.r[r] -= Us.a[r][e] * y[e];
    return row;
  }

  /// Solves the reduced system of a lane; z_c takes the place of the first K numbers of chunk c. A ring is closed by its last block.
  KOKKOS_FUNCTION void solve_reduced(Scalar *all, int lane) const
  {
    const int T = shape.split.chunks, open_rows = shape.ring ? T - 1 : T;
    auto      place = [&](int c, int word) -> Scalar      &{ return all[word * shape.threads() + (c << shape.lane_bits) + lane]; };
    // x_c = g - H z_(T-1) + U x_(c+1), in the place of the row's own numbers
    Scalar g[K] = {}, last[K] = {};
    Block  U, H;
    for (int c = 0; c < open_rows; ++c) {
      ReducedRow row = reduced_row(all, lane, c);
      Block      h;
      if (c == 0) {
        if (shape.ring) h = row.lower;
      } else {
        for (int r = 0; r < K; ++r)
          for (int e = 0; e < K; ++e) row.r[r] -= row.lower.a[r][e] * g[e];
        h -= row.lower * H;
        const Block t = row.lower * U;
        for (int r = 0; r < K; ++r)
          for (int e = 0; e < K; ++e) row.diag.a[r][e] += t.a[r][e];
      }
      const Block inv = row.diag.inverse();
      H = inv * h, U = inv * row.upper;
      for (int r = 0; r < K; ++r) {
        g[r] = Scalar(0);
        for (int e = 0; e < K; ++e) g[r] += inv.a[r][e] * row.r[e], U.a[r][e] = -U.a[r][e];
      }
      for (int r = 0; r < K; ++r) {
        const int at = r * (1 + 3 * K);
        place(c, at) = g[r];
        for (int e = 0; e < K; ++e) place(c, at + 1 + e) = H.a[r][e], place(c, at + 1 + K + e) = U.a[r][e];
      }
    }
    Scalar next[K] = {};
    if (shape.ring) close(all, lane, g, U, H, last);
    for (int r = 0; shape.ring && r < K; ++r) next[r] = place(T - 1, r * (1 + 3 * K)) = last[r];
    for (int c = open_rows - 1; c >= 0; --c) {
      Scalar z[K];
      for (int r = 0; r < K; ++r) {
        const int at = r * (1 + 3 * K);
        z[r]         = place(c, at);
        for (int e = 0; e < K; ++e) {
          z[r] += place(c, at + 1 + K + e) * next[e];
          if (shape.ring) z[r] -= place(c, at + 1 + e) * last[e];
        }
      }
      for (int r = 0; r < K; ++r) next[r] = place(c, r * (1 + 3 * K)) = z[r];
    }
  }

  /// The last block of a ring: z_(T-2) and z_0 in terms of it are known.
  KOKKOS_FUNCTION void close(const Scalar *all, int lane, const Scalar (&g)[K], const Block &U, const Block &H, Scalar (&z)[K]) const
  {
    const int        T   = shape.split.chunks;
    const ReducedRow row = reduced_row(all, lane, T - 1);
    Block            R   = row.diag;
    Scalar           r[K], y[K] = {};
    Block            V; // z_0 = y - V z_(T-1)
    for (int a = 0; a < K; ++a) r[a] = row.r[a];
    if (T == 1) { // both neighbours are the chunk itself
      for (int a = 0; a < K; ++a)
        for (int e = 0; e < K; ++e) R.a[a][e] += row.lower.a[a][e] + row.upper.a[a][e];
    } else {
      for (int a = 0; a < K; ++a) V.a[a][a] = Scalar(-1);
      for (int c = T - 2; c >= 0; --c) { // z_c = g_c - H_c z_(T-1) + U_c z_(c+1)
        Scalar y_c[K];
        Block  V_c;
        for (int a = 0; a < K; ++a) {
          const int at = a * (1 + 3 * K);
          y_c[a]       = told(all, lane, c, at);
          for (int e = 0; e < K; ++e) {
            V_c.a[a][e] += told(all, lane, c, at + 1 + e);
            const Scalar u = told(all, lane, c, at + 1 + K + e);
            y_c[a] += u * y[e];
            for (int j = 0; j < K; ++j) V_c.a[a][j] += u * V.a[e][j];
          }
        }
        for (int a = 0; a < K; ++a) y[a] = y_c[a];
        V = V_c;
      }
      // z_(T-2) = g - (H - U) z_(T-1)
      Block W = H;
      W -= U;
      R -= row.lower * W;
      R -= row.upper * V;
      for (int a = 0; a < K; ++a)
        for (int e = 0; e < K; ++e) r[a] -= row.lower.a[a][e] * g[e] + row.upper.a[a][e] * y[e];
    }
    const Block G = R.inverse();
    for (int a = 0; a < K; ++a) {
      z[a] = Scalar(0);
      for (int e = 0; e < K; ++e) z[a] += G.a[a][e] * r[e];
    }
  }

  KOKKOS_FUNCTION void backward(const Piece &p) const
  {
    const int m = p.size - K, left = p.chunk > 0 ? p.chunk - 1 : shape.ring ? shape.split.chunks - 1 : -1;
    Scalar    zl[K] = {}, w[K];
    for (int r = 0; r < K; ++r) {
      w[r] = p.told[r * (1 + 3 * K) * p.threads];
      if (left >= 0) zl[r] = p.told[r * (1 + 3 * K) * p.threads + ((left - p.chunk) << shape.lane_bits)];
    }
    Scalar    *to    = x + out.begin(p.line) + p.begin * out.row_stride;
    const auto store = [&](int k, const Scalar &value) {
      if constexpr (Staged) p.tile[k] = value;
      else if (p.active) to[k * out.row_stride] = value;
    };
    for (int r = 0; r < K; ++r) store(m + r, w[r]);
#ifdef __CUDA_ARCH__
  #pragma unroll 4
#endif
    for (int k = m - 1; k >= 0; --k) {
      const Scalar *at    = p.rows + k * (words - (Staged ? 1 : 0)) * p.threads;
      Scalar        value = Staged ? p.tile[k] : *at;
      if constexpr (!Staged) at += p.threads;
      for (int e = 0; e < K; ++e) value -= at[(K + e) * p.threads] * zl[e];
      for (int e = K - 1; e >= 0; --e) value += at[e * p.threads] * w[e];
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
    Scalar                     *all  = reinterpret_cast<Scalar *>(team.scratch());
    Scalar                     *tile = all + (published + kept(shape)) * shape.threads();
    device::Threads<char, Team> threads(team, team.scratch()); // no state between phases
    if constexpr (Staged) {
      threads.for_each([&](int v, char &) {
        for_tile(team, in, v, [&](std::int64_t at, int t) { device::async_copy(&tile[t], &b[at]); });
        device::async_commit();
        device::async_wait(0);
      });
      team.barrier();
    }
    threads.for_each([&](int v, char &) { forward(piece(team, v)); });
    team.barrier();
    threads.for_each([&](int v, char &) {
      if (v < shape.lanes()) solve_reduced(all, v);
    });
    team.barrier();
    threads.for_each([&](int v, char &) { backward(piece(team, v)); });
    if constexpr (Staged) {
      team.barrier();
      threads.for_each([&](int v, char &) { for_tile(team, out, v, [&](std::int64_t at, int t) { x[at] = tile[t]; }); });
    }
  }
};

} // namespace ribbon
