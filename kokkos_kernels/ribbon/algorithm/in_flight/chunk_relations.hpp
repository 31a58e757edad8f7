// SPDX-License-Identifier: BSD-2-Clause
/// @file chunk_relations.hpp  Elimination of the chunks of a line in flight, and the reduced system of the
///   line: the common part of kernels with one matrix per line.
///
/// Lines are divided into chunks as in chunk.hpp, with one virtual thread per (line, chunk). The last K
/// rows of a chunk are its separators (zr), those of the chunk to the left are zl. The forward sweep
/// eliminates row after row,
///
///     x_i = g_i - H_i zl + sum_p U_ip x_(i+1+p),
///
/// and also updates the first K unknowns of the chunk in terms of zl and of the next K unknowns,
/// x_first = y - v zl - w x_next. At the end of the sweep the next unknowns are zr. Parallel cyclic
/// reduction over the chunks (Hockney & Jesshope 1981) solves the reduced system of a line, T blocks of K x
/// K. (Wang 1981; Mattor, Williams & Hewett 1995.)
#pragma once

#include <ribbon/algorithm/one_pass/shape.hpp>
#include <ribbon/elimination/small_block.hpp>

namespace ribbon {

/// The matrix of a chunk, eliminated row by row.
template <class Scalar, int K>
struct ChunkElimination {
  Scalar              U[K][K] = {}, H[K][K] = {}; ///< of the last K rows, the newest first
  Relation<Scalar, K> first;                      ///< of the first K unknowns; the caller updates r

  /// Initial state: the rows before the chunk are zl, the next unknowns are its first ones.
  KOKKOS_FUNCTION ChunkElimination()
  {
    for (int q = 0; q < K; ++q) H[q][K - 1 - q] = Scalar(-1), first.u.a[q][q] = Scalar(-1);
  }
  /// Eliminates the previous K rows from a row. a[d + K] is its entry at distance d; h receives its
  /// couplings to zl, and L[q] the factor of g_(-1-q).
  KOKKOS_FUNCTION void take_out(Scalar *a, Scalar (&h)[K], Scalar (&L)[K]) const
  {
    for (int q = K - 1; q >= 0; --q) { // row -1 - q
      L[q] = a[K - 1 - q];
      for (int e = 0; e < K; ++e) subtract_product(h[e], L[q], H[q][e]);
      for (int p = 0; p < K; ++p) add_product(a[K - q + p], L[q], U[q][p]);
    }
  }
  /// Effect of a row on a right-hand side: g = inv (f - sum L_q g_(-1-q)), and y -= w g.
  struct Row {
    Scalar inv, L[K], w[K];
  };
  /// Eliminates the next row.
  KOKKOS_FUNCTION Row next(Scalar *a)
  {
    Scalar h[K] = {};
    Row    row;
    take_out(a, h, row.L);
    row.inv = reciprocal(a[K]);
    for (int q = K - 1; q > 0; --q)
      for (int e = 0; e < K; ++e) U[q][e] = U[q - 1][e], H[q][e] = H[q - 1][e];
    for (int e = 0; e < K; ++e) U[0][e] = -row.inv * a[K + 1 + e], H[0][e] = row.inv * h[e];
    for (int r = 0; r < K; ++r) {
      const Scalar w = row.w[r] = first.u.a[r][0];
      for (int e = 0; e < K; ++e) subtract_product(first.l.a[r][e], w, H[0][e]);
      for (int e = 0; e < K; ++e) {
        first.u.a[r][e] = e + 1 < K ? first.u.a[r][e + 1 < K ? e + 1 : e] : Scalar(0);
        add_product(first.u.a[r][e], w, U[0][e]);
      }
    }
    return row;
  }
};

/// The reduced systems of the lines of a tile.
/// @tparam row_words  words of a row in scratch, if relations overwrite the rows of the separators; 0:
///   relations have separate scratch
template <class Scalar, int K, int row_words = 0>
struct ChunkRelations {
  /// virtual threads whose words are contiguous in scratch
  static constexpr int side = 32;
  static constexpr int told = K + 2 * K * K; ///< values of a relation
  /// with one buffer, threads wait at a barrier before they write relations
  static constexpr int buffers = row_words ? 1 : 2;
  using Block                  = SmallBlock<Scalar, K>;
  static_assert(row_words == 0 || told <= K * row_words, "a relation takes the place of K rows");

  OnePassShape shape; ///< slots, window and reach are unused

  /// Index of a virtual thread and its chunk.
  struct Place {
    int thread, chunk;
  };
  /// The equations of the separators of a chunk, diag zr + l zl + Us x_first(right) = r, later their
  /// relation to those of the neighbours.
  struct Separators {
    Relation<Scalar, K> own;
    Block               diag, Us;
  };

  KOKKOS_FUNCTION static int padded(const OnePassShape &s) { return (s.threads() + side - 1) / side * side; }
  /// Words of scratch that `side` virtual threads have.
  KOKKOS_FUNCTION static int words_of_side(const OnePassShape &s)
  {
    return side * (row_words ? s.split.length * row_words : 2 * told);
  }
  /// Words at the beginning of scratch: the relations, and the rows if relations overwrite rows.
  KOKKOS_FUNCTION static int relation_words(const OnePassShape &s)
  {
    return padded(s) / side * words_of_side(s);
  }

  /// Writes a relation to one of the buffers for other threads; words are `side` apart.
  template <class Team>
  KOKKOS_FUNCTION void tell(const Team &team, const Place &p, int buffer,
                            const Relation<Scalar, K> &relation) const
  {
    Scalar *to = words_of(team, p.thread, buffer);
    for (int r = 0; r < K; ++r) {
      to[r * side] = relation.r[r];
      for (int e = 0; e < K; ++e)
        to[(K + r * K + e) * side]                              = relation.l.a[r][e],
                             to[(K + K * K + r * K + e) * side] = relation.u.a[r][e];
    }
  }
  /// The relation of the chunk at `distance`; zero beyond the ends of an open line.
  template <class Team>
  KOKKOS_FUNCTION Relation<Scalar, K> ask(const Team &team, const Place &p, int buffer, int distance) const
  {
    const int           T = shape.split.chunks;
    int                 c = p.chunk + distance;
    Relation<Scalar, K> relation;
    if (shape.ring) c = c < 0 ? c + T : c >= T ? c - T : c;
    if (c < 0 || c >= T) return relation;
    const Scalar *from = words_of(team, p.thread + (c - p.chunk) * shape.lanes(), buffer);
    for (int r = 0; r < K; ++r) {
      relation.r[r] = from[r * side];
      for (int e = 0; e < K; ++e)
        relation.l.a[r][e] = from[(K + r * K + e) * side],
        relation.u.a[r][e] = from[(K + K * K + r * K + e) * side];
    }
    return relation;
  }

  /// Solves the reduced systems. Before, every virtual thread writes the relation of its first unknowns to
  /// buffer 0, and a barrier passes. separators(state) of every thread become values, own.r.
  /// @return the buffer that also holds them
  template <class Team, class Threads, class PlaceOf>
  KOKKOS_FUNCTION int solve(const Team &team, Threads &threads, const PlaceOf &place_of) const
  {
    int        buffer = 0;
    const auto change = [&](const auto &step) {
      const int next = buffers - 1 - buffer;
      threads.for_each([&](int v, auto &s) {
        const Place p = place_of(v);
        step(p, s);
        if (buffers > 1) tell(team, p, next, s.own);
      });
      if (buffers == 1) {
        team.barrier();
        threads.for_each([&](int v, auto &s) { tell(team, place_of(v), next, s.own); });
      }
      team.barrier();
      buffer = next;
    };
    change([&](const Place &p, auto &s) {
      const auto right = ask(team, p, buffer, 1);
      s.diag.subtract_product(s.Us, right.l);
      s.own.subtract_product(s.Us, right.r);
      s.own.u.subtract_product(s.Us, right.u);
      s.own.divide_by(s.diag);
    });
    for (int distance = 1; distance < shape.split.chunks; distance *= 2)
      change([&](const Place &p, auto &s) {
        s.own.reduce(ask(team, p, buffer, -distance), ask(team, p, buffer, distance));
      });
    return buffer;
  }

  /// The separators left of a chunk, after solve(). s.own.r holds those of the chunk.
  template <class Team>
  KOKKOS_FUNCTION Relation<Scalar, K> left_of(const Team &team, const Place &p, int buffer,
                                              Separators &s) const
  {
    auto left = ask(team, p, buffer, -1);
    if (shape.ring) s.own.close_ring(), left.close_ring();
    return left;
  }

private:
  template <class Team>
  KOKKOS_FUNCTION Scalar *words_of(const Team &team, int thread, int buffer) const
  {
    const int at = row_words ? (shape.split.length - K) * row_words : buffer * told;
    return reinterpret_cast<Scalar *>(team.scratch()) + thread / side * words_of_side(shape) + at * side +
           thread % side;
  }
};

} // namespace ribbon
