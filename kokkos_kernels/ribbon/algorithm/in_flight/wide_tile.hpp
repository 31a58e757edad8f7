// SPDX-License-Identifier: BSD-2-Clause
/// @file wide_tile.hpp  The tile of a team of in_flight/wide.hpp: its scratch, its division into chunks, and
///   the copies of matrices and right-hand sides to it.
#pragma once

#include <ribbon/algorithm/in_flight/cyclic_relations.hpp>
#include <ribbon/algorithm/one_pass/staged.hpp>
#include <ribbon/matrix/line_matrices.hpp>

namespace ribbon {

/// @tparam K, B  half-bandwidth, 1 for blocks; unknowns of a row
template <class Scalar, int K, int B>
struct OnePassWideTile : CyclicRelations<Scalar, K * B> {
  static_assert(K == 1 || B == 1, "a band, or block tridiagonal");
  static constexpr int S  = K * B;
  static constexpr int BB = B * B;
  using Relations         = CyclicRelations<Scalar, S>;
  using Relations::shape, Relations::side;
  using Tile = StagedTile<Scalar, B>;
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
};

} // namespace ribbon
