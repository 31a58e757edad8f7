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
#include <ribbon/algorithm/one_pass/staged.hpp>
#include <ribbon/matrix/line_matrices.hpp>

namespace ribbon {

/// @tparam K, B  half-bandwidth, 1 for blocks; unknowns of a row
template <class Scalar, int K, int B>
struct OnePassWideKernel : CyclicRelations<Scalar, K * B> {
  static_assert(K == 1 || B == 1, "a band, or block tridiagonal");
  static constexpr int S  = K * B;
  static constexpr int BB = B * B;
  using Relations         = CyclicRelations<Scalar, S>;
  using Relations::shape, Relations::side;
  using typename Relations::Columns;
  using Tile = StagedTile<Scalar, B>;
  /// limits the registers: 128, 204 (ptxas uses 128 of the 255 that 256 threads leave, and spills) or 255
  static constexpr int max_threads = sizeof(Scalar) * S <= 16 ? 512 : sizeof(Scalar) * S == 24 ? 320 : 256;
  /// of a row
  static constexpr int matrix_words = (2 * K + 1) * BB;
  /// the first word of f, later of g, of lines that are not staged
  static constexpr int value = matrix_words;

  MatricesInFlight<Scalar> matrices;
  const Scalar            *b;
  Scalar                  *x;
  LineSet                  in, out;
  std::int64_t             lines = 0;
  int                      shift = 0; ///< lanes of the first team before line 0

  /// State of a thread between phases: the equations of its separators, diag zr + l zl + Us
  /// x_first(right) = r, as [r, l, .], later their relation.
  struct State {
    Columns own        = {};
    Scalar  diag[S][S] = {}, Us[S][S] = {};
  };

  KOKKOS_FUNCTION static int row_words(const OnePassShape &s) { return matrix_words + (s.staged ? 0 : B); }
  void                       set_shape(const OnePassShape &s)
  {
    shape = s;
    // a relation overwrites the rows of the separators
    this->thread_words = s.split.length * row_words(s),
    this->relation_at  = (s.split.length - K) * row_words(s);
  }
  /// Scratch: rows, and staged lines with their arrival.
  KOKKOS_FUNCTION std::size_t arrival_at() const
  {
    return device::align16(static_cast<std::size_t>(Relations::words()) * sizeof(Scalar));
  }
  KOKKOS_FUNCTION std::size_t scratch() const
  {
    return arrival_at() + (shape.staged
                             ? device::Arrival::bytes +
                                 device::align16(static_cast<std::size_t>(shape.pitch) *
                                                 static_cast<std::size_t>(shape.lanes()) * sizeof(Scalar))
                             : 0);
  }
  template <class Team>
  KOKKOS_FUNCTION Scalar *tile(const Team &team) const
  {
    return reinterpret_cast<Scalar *>(team.scratch() + arrival_at() + device::Arrival::bytes);
  }

  /// The part of a tile that one virtual thread processes.
  struct Piece {
    int          chunk, lane, size, row_step;
    bool         active;
    std::int64_t first_line, line, begin; ///< first_line: first line of the team, which may be out of range
    Scalar      *rows;                    ///< the words of its rows, `side` apart
    /// f, later g, of its first row; the next rows are `value_step` apart
    Scalar *values;
    int     value_step, component_step;
  };
  template <class Team>
  KOKKOS_FUNCTION Piece piece(const Team &team, int v) const
  {
    Piece p;
    p.lane                  = v & (shape.lanes() - 1);
    p.chunk                 = v >> shape.lane_bits;
    p.size                  = shape.split.size(p.chunk);
    p.begin                 = shape.split.begin(p.chunk);
    p.row_step              = row_words(shape) * side;
    p.first_line            = team.league_rank() * shape.lanes() - shift;
    const std::int64_t line = p.first_line + p.lane;
    p.active                = line >= 0 && line < lines;
    p.line                  = held(line);
    p.rows                  = Relations::words_of(team, v);
    p.values     = shape.staged ? tile(team) + p.lane * shape.pitch + p.begin * B : p.rows + value * side;
    p.value_step = shape.staged ? B : p.row_step, p.component_step = shape.staged ? 1 : side;
    return p;
  }
  KOKKOS_FUNCTION std::int64_t held(std::int64_t line) const
  {
    return line < 0 ? 0 : line < lines ? line : lines - 1;
  }
  KOKKOS_FUNCTION bool open(const Piece &p) const { return !shape.ring && p.chunk == 0; }
  KOKKOS_FUNCTION bool ends(const Piece &p) const { return !shape.ring && p.chunk + 1 == shape.split.chunks; }

  /// log2 of the rows of a group of copies. A thread waits for at most 8 groups.
  KOKKOS_FUNCTION int group_bits() const
  {
    int bits = B == 1 ? 1 : 0;
    while ((8 << bits) < shape.split.length) ++bits;
    return bits;
  }

  /// Whether neighbouring lanes form whole packs of 16 bytes in memory, in every row of their matrices.
  template <class Team>
  KOKKOS_FUNCTION bool packs() const
  {
    constexpr int P = device::pack<Scalar>;
    return device::copies_blocks<Team> && P > 1 && shape.lanes() >= P &&
           ((lines | shift | matrices.lines) & (P - 1)) == 0 &&
           reinterpret_cast<std::uintptr_t>(matrices.values) % 16 == 0;
  }
  /// The words of a row that are entries: [first, last). Word w is entry w - first.
  KOKKOS_FUNCTION int first_entry() const { return (K - matrices.lower) * BB; }
  KOKKOS_FUNCTION int end_of_entries() const { return (K + 1 + matrices.upper) * BB; }

  /// Starts copies of all rows of a chunk, `P` lanes of a matrix in a copy. The lanes of a chunk divide the
  /// words of a row among themselves.
  template <int P>
  KOKKOS_FUNCTION void bring(const Piece &p) const
  {
    constexpr int copies = (matrix_words + P - 1) / P; ///< per lane and row, at most
    const int     pieces = shape.lanes() / P, column = P == 1 ? p.lane : (p.lane & (pieces - 1)) * P,
              word = P == 1 ? 0 : p.lane / pieces, bits = group_bits();
    const bool         own      = matrices.alpha == nullptr;
    const std::int64_t first    = p.first_line + column,
                       line     = P == 1 || first <= lines - P ? held(first) : lines - P,
                       diagonal = matrices.lines * matrices.rows;
    const Scalar *from          = matrices.values + (line < matrices.lines ? line : line % matrices.lines) +
                         p.begin * matrices.lines + (word - first_entry()) * diagonal;
    Scalar *to = p.rows + column - p.lane + word * side;
    // right-hand sides: the unknowns of a row are contiguous in scratch if they are in memory
    const bool    together = B > 1 && in.component_stride == 1;
    const Scalar *f[B]     = {};
    Scalar       *f_to[B]  = {};
    if (!shape.staged) {
      RIBBON_UNROLL
      for (int j = 0; j < B; ++j) {
        const int e = p.lane + j * shape.lanes(), lane = together ? e / B : p.lane, a = together ? e % B : j;
        f[j]    = b + in.begin(held(p.first_line + lane)) + a * in.component_stride + p.begin * in.row_stride;
        f_to[j] = p.rows + lane - p.lane + (value + a) * side;
      }
    }
    for (int k = 0; k < p.size;) {
      const int end = p.size < k + (1 << bits) ? p.size : k + (1 << bits);
      for (; k < end; ++k, to += p.row_step, from += matrices.lines) {
        const Scalar *at = from;
        RIBBON_UNROLL
        for (int j = 0; j < copies; ++j, at += P * diagonal) {
          const int w = word + j * P;
          if (!own || w >= matrix_words) continue;
          if (w < first_entry() || w >= end_of_entries()) { // outside the bands
            RIBBON_UNROLL
            for (int q = 0; q < P; ++q) to[j * P * side + q] = Scalar(0);
          } else if constexpr (P > 1) device::async_copy_pack(to + j * P * side, at);
          else device::async_copy(to + j * side, at);
        }
        if (!shape.staged) {
          RIBBON_UNROLL
          for (int j = 0; j < B; ++j)
            device::async_copy(f_to[j], f[j]), f_to[j] += p.row_step, f[j] += in.row_stride;
        }
      }
      device::async_commit();
    }
  }

  /// Computes alpha A + beta B of the rows of a chunk, while right-hand sides are in flight.
  KOKKOS_FUNCTION void form(const Piece &p) const
  {
    const std::int64_t m     = p.line < matrices.lines ? p.line : p.line % matrices.lines;
    const Scalar       alpha = matrices.alpha[m], beta = matrices.beta[m];
    Scalar            *to   = p.rows;
    const Scalar      *from = matrices.values + 2 * p.begin;
    for (int k = 0; k < p.size; ++k, to += p.row_step, from += 2)
      for (int w = 0; w < matrix_words; ++w) {
        const Scalar *at = from + 2 * (w - first_entry()) * matrices.rows;
        to[w * side]     = w < first_entry() || w >= end_of_entries()
                             ? Scalar(0)
                             : alpha * read_only_scalar(at) + beta * read_only_scalar(at + 1);
      }
  }

  /// Waits for row k.
  KOKKOS_FUNCTION void await(const Piece &p, int k, int bits) const
  {
    if ((k & ((1 << bits) - 1)) != 0) return;
    device::async_wait(((p.size - 1) >> bits) - (k >> bits));
    device::lane_barrier(shape.lanes());
  }

  template <class Team>
  KOKKOS_FUNCTION void forward_band(const Team &team, const Piece &p, State &own) const
  {
    const int                   m = p.size - K, bits = group_bits();
    Scalar                      g[K] = {}; ///< the last K rows, the newest first
    ChunkElimination<Scalar, K> s;
    struct Row {
      Scalar a[2 * K + 1] = {}, f = {};
    } now, next;
    const auto read = [&](int k, Row &row) {
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
      const auto row    = s.next(now.a);
      Scalar     solved = now.f;
      RIBBON_UNROLL
      for (int q = K - 1; q >= 0; --q) subtract_product(solved, row.L[q], g[q]);
      RIBBON_UNROLL
      for (int q = K - 1; q > 0; --q) g[q] = g[q - 1];
      g[0] = row.inv * solved;
      RIBBON_UNROLL
      for (int r = 0; r < K; ++r) subtract_product(s.first.r[r], row.w[r], g[0]);
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
    RIBBON_UNROLL
    for (int r = 0; r < K; ++r) {
      first[r][0] = s.first.r[r];
      RIBBON_UNROLL
      for (int e = 0; e < K; ++e)
        first[r][1 + e] = s.first.l.a[r][e], first[r][1 + K + e] = s.first.u.a[r][e];
    }
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
      if (packs<Team>()) bring<device::pack<Scalar>>(p);
      else bring<1>(p);
      if (matrices.alpha) form(p);
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
