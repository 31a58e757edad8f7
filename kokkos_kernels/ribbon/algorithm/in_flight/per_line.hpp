// SPDX-License-Identifier: BSD-2-Clause
/// @file per_line.hpp  One matrix per line, eliminated and solved in flight: matrix, right-hand side and
///   solution cross the memory bus once.
///
/// A team requests all rows of a tile at once, as copies to scratch that bypass registers. The forward
/// sweep reads them in the order of their arrival and overwrites the matrix and the right-hand side of a
/// row with g, H and U. The relations between chunks (chunk_relations.hpp) overwrite the separators. So
/// scratch holds only the data that were copied, and a multiprocessor runs several small teams. The
/// backward sweep runs while x is stored.
#pragma once

#include <ribbon/algorithm/in_flight/chunk_relations.hpp>
#include <ribbon/algorithm/one_pass/staged.hpp>
#include <ribbon/matrix/line_matrices.hpp>

namespace ribbon {

/// Values of a row in scratch: those of its matrix, and its right-hand side unless it is in the tile of
/// staged lines. A matrix that is computed instead of read has space there, too.
template <int K, class Matrices, bool Staged>
inline constexpr int row_words_in_flight = 2 * K + 1 + (Matrices::from_memory && !Staged ? 1 : 0);

/// @tparam Matrices  OwnMatrices or ShiftedMatrices
/// @tparam Staged    rows of a line are contiguous: right-hand side and solution pass through scratch as
///   whole lines
template <class Scalar, int K, class Matrices, bool Staged>
struct OnePassPerLineKernel : ChunkRelations<Scalar, K, row_words_in_flight<K, Matrices, Staged>> {
  using Relations = ChunkRelations<Scalar, K, row_words_in_flight<K, Matrices, Staged>>;
  using Relations::shape, Relations::side;
  using typename Relations::Place;
  using State                      = typename Relations::Separators;
  using Tile                       = StagedTile<Scalar, 1>;
  static constexpr int max_threads = 512; ///< limits the registers: 128
  static constexpr int words       = row_words_in_flight<K, Matrices, Staged>;
  /// the word of f, later of g, of lines that are not staged
  static constexpr int value = words - 1;
  /// words of a row that are copied from memory
  static constexpr int first_word = Matrices::from_memory ? 0 : value,
                       last_word  = Staged && !Matrices::from_memory ? first_word : words;

  Matrices      matrices;
  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;
  std::int64_t  lines = 0;
  int           shift = 0; ///< lanes of the first team before line 0

  /// Scratch: rows, and staged lines with their arrival.
  KOKKOS_FUNCTION static std::size_t arrival_at(const OnePassShape &s)
  {
    return device::align16(static_cast<std::size_t>(Relations::relation_words(s)) * sizeof(Scalar));
  }
  KOKKOS_FUNCTION static std::size_t scratch(const OnePassShape &s)
  {
    return arrival_at(s) +
           (Staged ? device::Arrival::bytes +
                       device::align16(static_cast<std::size_t>(s.pitch * s.lanes()) * sizeof(Scalar))
                   : 0);
  }
  KOKKOS_FUNCTION std::size_t scratch() const { return scratch(shape); }

  /// The part of a tile that one virtual thread processes.
  struct Piece : Place {
    int          lane, size;
    bool         active;
    std::int64_t first_line, line, begin; ///< first_line: first line of the team, which may be out of range
    Scalar      *rows;                    ///< the words of its rows, `side` apart
    Scalar      *tile;                    ///< staged: its first row
  };
  template <class Team>
  KOKKOS_FUNCTION Piece piece(const Team &team, int v) const
  {
    Piece p;
    p.thread                = v;
    p.lane                  = v & (shape.lanes() - 1);
    p.chunk                 = v >> shape.lane_bits;
    p.size                  = shape.split.size(p.chunk);
    p.begin                 = shape.split.begin(p.chunk);
    p.first_line            = team.league_rank() * shape.lanes() - shift;
    const std::int64_t line = p.first_line + p.lane;
    p.active                = line >= 0 && line < lines;
    p.line                  = p.active ? line : line < 0 ? 0 : lines - 1;
    p.rows =
      reinterpret_cast<Scalar *>(team.scratch()) + v / side * Relations::words_of_side(shape) + v % side;
    p.tile = tile(team) + p.lane * shape.pitch + p.begin;
    return p;
  }
  template <class Team>
  KOKKOS_FUNCTION Scalar *tile(const Team &team) const
  {
    return reinterpret_cast<Scalar *>(team.scratch() + arrival_at(shape) + device::Arrival::bytes);
  }

  /// log2 of the rows of a group of copies. A thread waits for at most 8 groups.
  KOKKOS_FUNCTION int group_bits() const
  {
    int bits = 1;
    while ((8 << bits) < shape.split.length) ++bits;
    return bits;
  }

  /// Whether neighbouring lanes form whole packs of 16 bytes in memory, in every row.
  template <class Team>
  KOKKOS_FUNCTION bool packs() const
  {
    constexpr int  P     = device::pack<Scalar>;
    std::int64_t   parts = lines | shift;
    std::uintptr_t bytes = 0;
    if constexpr (!Staged) {
      parts |= in.row_stride | (in.count1 == 1 ? 0 : in.count0 | in.stride1);
      bytes |= reinterpret_cast<std::uintptr_t>(b + in.offset);
      if (in.stride0 != 1) return false;
    }
    if constexpr (Matrices::from_memory) {
      parts |= matrices.lines;
      bytes |= reinterpret_cast<std::uintptr_t>(matrices.values);
      if (matrices.lower != K || matrices.upper != K) return false;
    }
    return device::copies_blocks<Team> && P > 1 && shape.lanes() >= P && (parts & (P - 1)) == 0 &&
           bytes % 16 == 0;
  }

  /// Starts copies of all rows of a chunk, `P` lanes in a copy. The lanes of a chunk divide the words of a
  /// row among themselves.
  template <int P>
  KOKKOS_FUNCTION void bring(const Piece &p) const
  {
    /// per lane and row, at most
    constexpr int copies = (last_word - first_word + P - 1) / P;
    const int     pieces = shape.lanes() / P, column = P == 1 ? p.lane : (p.lane & (pieces - 1)) * P,
              word = first_word + (P == 1 ? 0 : p.lane / pieces), bits = group_bits();
    const std::int64_t line = p.first_line + column, held = line < 0           ? 0
                                                            : line > lines - P ? lines - P
                                                                               : line;
    // rows share cache sectors: asynchronous copies would each request the sector again
    [[maybe_unused]] const bool few                           = lines * static_cast<int>(sizeof(Scalar)) < 32;
    Scalar                     *to                            = p.rows + column - p.lane + word * side;
    const Scalar               *from[copies > 0 ? copies : 1] = {};
    std::int64_t                step[copies > 0 ? copies : 1] = {};
    RIBBON_UNROLL
    for (int j = 0; j < copies; ++j) {
      const int w = word + j * P, d = w - K;
      if (!Staged && w == value)
        from[j] = b + in.begin(held) + p.begin * in.row_stride, step[j] = in.row_stride;
      else if constexpr (Matrices::from_memory) {
        const auto own = matrices.line(held, p.begin);
        from[j] = d < -own.lower || d > own.upper ? nullptr : own.at + (d + own.lower) * own.diagonal_step,
        step[j] = own.row_step;
      }
    }
    for (int k = 0; k < p.size;) {
      const int end = p.size < k + (1 << bits) ? p.size : k + (1 << bits);
      for (; k < end; ++k, to += words * side) {
        [[maybe_unused]] Scalar arrived[copies > 0 ? copies : 1];
        RIBBON_UNROLL
        for (int j = 0; j < copies; ++j) {
          if (word + j * P >= last_word) continue;
          if constexpr (P > 1) device::async_copy_pack(to + j * P * side, from[j]);
          else if (few) arrived[j] = from[j] ? *from[j] : Scalar(0);
          else if (from[j]) device::async_copy(to + j * side, from[j]);
          else to[j * side] = Scalar(0); // outside the bands
          if (P > 1 || from[j]) from[j] += step[j];
        }
        if (P == 1 && few) {
          RIBBON_UNROLL
          for (int j = 0; j < copies; ++j) to[j * side] = arrived[j];
        }
      }
      device::async_commit();
    }
  }

  /// A row in registers.
  struct Row {
    Scalar a[2 * K + 1] = {}, f = {};
  };

  /// Eliminates a row and its right-hand side. g: the last K rows, the newest first.
  KOKKOS_FORCEINLINE_FUNCTION static void eliminate(Row &now, ChunkElimination<Scalar, K> &s, Scalar (&g)[K])
  {
    const auto row    = s.next(now.a);
    Scalar     solved = now.f;
    for (int q = K - 1; q >= 0; --q) subtract_product(solved, row.L[q], g[q]);
    for (int q = K - 1; q > 0; --q) g[q] = g[q - 1];
    g[0] = row.inv * solved;
    for (int r = 0; r < K; ++r) subtract_product(s.first.r[r], row.w[r], g[0]);
  }
  /// Keeps g, U and H of row k for the backward sweep, in the place of the row.
  KOKKOS_FORCEINLINE_FUNCTION void keep(const Piece &p, int k, const ChunkElimination<Scalar, K> &s,
                                        const Scalar &g) const
  {
    Scalar *to = p.rows + k * (words * side);
    if constexpr (Staged) p.tile[k] = g;
    else to[value * side] = g;
    for (int e = 0; e < K; ++e) to[e * side] = s.U[0][e], to[(K + e) * side] = s.H[0][e];
  }

  template <class Team>
  KOKKOS_FUNCTION void forward(const Team &team, const Piece &p, State &own) const
  {
    const int  m = p.size - K, bits = group_bits(), mask = (1 << bits) - 1;
    const bool open    = !shape.ring && p.chunk == 0;
    int        pending = (p.size + mask) >> bits; ///< groups that are not yet awaited
    Scalar     g[K]    = {};                      ///< the last K rows, the newest first

    ChunkElimination<Scalar, K> s;
    [[maybe_unused]] const auto line = matrices.line(p.line, p.begin);
    // stored entries outside the matrix are arbitrary
    const auto clear = [&](int k, const auto &entry) {
      for (int d = -K; d < 0; ++d)
        if (k + d < 0) entry(d + K) = Scalar(0);
    };
    const auto read = [&](int k, Row &row) {
      const Scalar *from = p.rows + k * (words * side);
      if ((k & mask) == 0) {
        device::async_wait(--pending);
        device::lane_barrier(shape.lanes());
      }
      row.f = Staged ? p.tile[k] : from[value * side];
      if constexpr (Matrices::from_memory)
        for (int d = 0; d <= 2 * K; ++d) row.a[d] = from[d * side];
      else line.row(k, row.a);
      if (!Matrices::from_memory && open) clear(k, [&](int d) -> Scalar & { return row.a[d]; });
    };
    Row now, next;
    read(0, now);
    if (Matrices::from_memory && open) {
      clear(0, [&](int d) -> Scalar & { return now.a[d]; });
      // rows of the same group
      for (int k = 1; k < K; ++k) clear(k, [&](int d) -> Scalar & { return p.rows[(k * words + d) * side]; });
    }
#ifdef __CUDA_ARCH__
  #pragma unroll 2
#endif
    for (int k = 0; k < m; ++k) {
      read(k + 1, next); // in parallel with the elimination of this row
      eliminate(now, s, g);
      keep(p, k, s, g[0]);
      now = next;
    }
    // rows of the separators: couplings to zl, to zr and to the first unknowns of the chunk to the right
    RIBBON_UNROLL
    for (int r = 0; r < K; ++r) {
      Scalar h[K] = {}, L[K], column[3 * K] = {}; // columns from K before the first separator
      own.own.r[r] = now.f;
      for (int d = -K; d <= K; ++d) column[K + r + d] = now.a[d + K];
      for (int e = 0; e < K; ++e)
        if (!shape.ring && p.chunk + 1 == shape.split.chunks) column[2 * K + e] = Scalar(0);
      s.take_out(column, h, L);
      for (int q = K - 1; q >= 0; --q) subtract_product(own.own.r[r], L[q], g[q]);
      for (int e = 0; e < K; ++e)
        own.own.l.a[r][e] = open ? Scalar(0) : h[e], own.diag.a[r][e] = column[K + e],
        own.Us.a[r][e] = column[2 * K + e];
      if (r + 1 < K) read(m + r + 1, now);
    }
    Relations::tell(team, p, 0, s.first);
  }

  template <class Team>
  KOKKOS_FUNCTION void backward(const Team &team, const Piece &p, int buffer, State &s) const
  {
    struct Kept {
      Scalar U[K] = {}, H[K] = {}, g = {};
    } now, next;
    const auto left = Relations::left_of(team, p, buffer, s);
    Scalar     w[K];
    Scalar    *to =
      Staged ? p.tile + (p.size - 1) : x + out.begin(p.line) + (p.begin + p.size - 1) * out.row_stride;
    const auto store = [&](const Scalar &unknown) { // from the last row to the first
      if (Staged || p.active) *to = unknown;
      to -= Staged ? 1 : out.row_stride;
    };
    const auto read = [&](int k, Kept &row) {
      const Scalar *from = p.rows + k * (words * side);
      row.g              = Staged ? p.tile[k] : from[value * side];
      for (int e = 0; e < K; ++e) row.U[e] = from[e * side], row.H[e] = from[(K + e) * side];
    };
    for (int r = K - 1; r >= 0; --r) store(w[r] = s.own.r[r]);
    int k = p.size - K - 1;
    if (k >= 0) read(k, now);
#ifdef __CUDA_ARCH__
  #pragma unroll 2
#endif
    for (; k >= 0; --k) {
      if (k > 0) read(k - 1, next);
      Scalar unknown = now.g;
      for (int e = 0; e < K; ++e) subtract_product(unknown, now.H[e], left.r[e]);
      for (int e = K - 1; e >= 0; --e) add_product(unknown, now.U[e], w[e]);
      for (int e = K - 1; e > 0; --e) w[e] = w[e - 1];
      store(w[0] = unknown);
      now = next;
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    // virtual states are after the tile
    device::Threads<State, Team> threads(team, team.scratch() + scratch());
    const Tile                   staged{
      shape, tile(team), {reinterpret_cast<std::uint64_t *>(team.scratch() + arrival_at(shape))}};
    const std::int64_t         first = team.league_rank() * shape.lanes();
    const typename Tile::Lines own{
      first, static_cast<int>(lines - first < shape.lanes() ? lines - first : shape.lanes())};
    threads.for_each([&](int v, State &s) {
      s = State();
      if constexpr (Staged) staged.bring(team, v, own, in, b);
      if (packs<Team>()) bring<device::pack<Scalar>>(piece(team, v));
      else bring<1>(piece(team, v));
    });
    if constexpr (Staged) staged.await(team, in, b);
    threads.for_each([&](int v, State &s) { forward(team, piece(team, v), s); });
    team.barrier();
    const int buffer = Relations::solve(team, threads, [&](int v) { return Place{v, v >> shape.lane_bits}; });
    threads.for_each([&](int v, State &s) {
      backward(team, piece(team, v), buffer, s);
      if constexpr (Staged) staged.template release<Team>(out, x);
    });
    if constexpr (Staged) {
      team.barrier();
      threads.for_each([&](int v, State &) { staged.store(team, v, own, out, x); });
    }
  }
};

} // namespace ribbon
