// SPDX-License-Identifier: BSD-2-Clause
/// @file cyclic_relations.hpp  Solves the reduced systems of the lines of a tile in place in scratch, by
///   cyclic reduction over the chunks.
///
/// Relations x_c = r - l x_(c-s) - u x_(c+s) are in scratch, S + 2 S^2 values each. With s = 1, 2, 4, ...
/// every second remaining relation eliminates its neighbours and then refers to those twice as far away.
/// The last one gives its unknowns, and the backward phase computes the others (Hockney 1965). That is T
/// reductions of S x S blocks. Parallel cyclic reduction (chunk_relations.hpp) needs T log2(T): for S > 2
/// these dominate the cost of a line. Chunks are assigned to threads at each step, so that busy threads are
/// neighbours.
#pragma once

#include <ribbon/algorithm/one_pass/shape.hpp>
#include <ribbon/elimination/small_solve.hpp>

namespace ribbon {

/// @tparam S  unknowns between two chunks
template <class Scalar, int S>
struct CyclicRelations {
  static constexpr int side = 32;            ///< virtual threads whose words are contiguous in scratch
  static constexpr int told = S + 2 * S * S; ///< values of a relation: r, l and u

  OnePassShape shape;
  int          thread_words = 0; ///< words of a virtual thread in scratch
  int          relation_at  = 0; ///< index of the first word of its relation

  /// Words of scratch of all virtual threads.
  KOKKOS_FUNCTION int words() const { return (shape.threads() + side - 1) / side * side * thread_words; }

  /// The words of a virtual thread, `side` apart.
  template <class Team>
  KOKKOS_FUNCTION Scalar *words_of(const Team &team, int thread) const
  {
    return reinterpret_cast<Scalar *>(team.scratch()) + thread / side * (side * thread_words) + thread % side;
  }
  /// The relation of a chunk that may be beyond the ends of a line. The address is always in scratch.
  struct Place {
    Scalar *at;
    bool    there;
  };
  template <class Team>
  KOKKOS_FUNCTION Place relation(const Team &team, int c, int lane) const
  {
    const int  T = shape.split.chunks, around = c < 0 ? c + T : c >= T ? c - T : c;
    const bool there = shape.ring || c == around;
    return {words_of(team, ((there ? around : 0) << shape.lane_bits) + lane) + relation_at * side, there};
  }
  KOKKOS_FUNCTION static Scalar &r(Scalar *at, int a) { return at[a * side]; }
  KOKKOS_FUNCTION static Scalar &l(Scalar *at, int a, int e) { return at[(S + a * S + e) * side]; }
  KOKKOS_FUNCTION static Scalar &u(Scalar *at, int a, int e) { return at[(S + S * S + a * S + e) * side]; }

  /// Columns of a small system: r, then l, then u.
  using Columns = Scalar[S][1 + 2 * S];
  KOKKOS_FUNCTION static void tell(Scalar *at, const Columns &x)
  {
    RIBBON_UNROLL
    for (int a = 0; a < S; ++a) {
      r(at, a) = x[a][0];
      RIBBON_UNROLL
      for (int e = 0; e < S; ++e) l(at, a, e) = x[a][1 + e], u(at, a, e) = x[a][1 + S + e];
    }
  }

  /// Solves the reduced systems, after every relation is written and a barrier has passed. r of every
  /// relation becomes its unknowns.
  template <class Team, class Threads>
  KOKKOS_FUNCTION void solve(const Team &team, Threads &threads) const
  {
    const int T = shape.split.chunks, lane_mask = shape.lanes() - 1;
    int       distance = 1;
    for (; distance < T; distance *= 2) {
      threads.for_each([&](int v, auto &) {
        const int c = 2 * distance * ((v >> shape.lane_bits) + 1) - 1;
        if (c < T)
          reduce(relation(team, c, v & lane_mask).at, relation(team, c - distance, v & lane_mask),
                 relation(team, c + distance, v & lane_mask));
      });
      team.barrier();
    }
    if (shape.ring) { // T is a power of two, and the last chunk is its neighbour on both sides
      threads.for_each([&](int v, auto &) {
        if (v < shape.lanes()) close(relation(team, T - 1, v).at);
      });
      team.barrier();
    }
    for (distance /= 2; distance > 0; distance /= 2) {
      threads.for_each([&](int v, auto &) {
        const int c = distance * (2 * (v >> shape.lane_bits) + 1) - 1;
        if (c < T)
          resolve(relation(team, c, v & lane_mask).at, relation(team, c - distance, v & lane_mask),
                  relation(team, c + distance, v & lane_mask));
      });
      team.barrier();
    }
  }

private:
  /// Eliminates the neighbours.
  KOKKOS_FUNCTION static void reduce(Scalar *own, const Place &left, const Place &right)
  {
    Scalar  A[S][S];
    Columns x;
    RIBBON_UNROLL
    for (int a = 0; a < S; ++a) {
      x[a][0] = r(own, a);
      RIBBON_UNROLL
      for (int e = 0; e < S; ++e) A[a][e] = Scalar(a == e ? 1 : 0), x[a][1 + e] = x[a][1 + S + e] = Scalar(0);
    }
    RIBBON_UNROLL
    for (int a = 0; a < S; ++a) RIBBON_UNROLL
    for (int q = 0; q < S; ++q) {
      if (left.there) {
        const Scalar f = l(own, a, q);
        subtract_product(x[a][0], f, r(left.at, q));
        RIBBON_UNROLL
        for (int e = 0; e < S; ++e)
          subtract_product(A[a][e], f, u(left.at, q, e)), subtract_product(x[a][1 + e], f, l(left.at, q, e));
      }
      if (right.there) {
        const Scalar f = u(own, a, q);
        subtract_product(x[a][0], f, r(right.at, q));
        RIBBON_UNROLL
        for (int e = 0; e < S; ++e)
          subtract_product(A[a][e], f, l(right.at, q, e)),
            subtract_product(x[a][1 + S + e], f, u(right.at, q, e));
      }
    }
    solve_in_place(A, x);
    tell(own, x);
  }
  KOKKOS_FUNCTION static void close(Scalar *own)
  {
    Scalar A[S][S], x[S][1];
    RIBBON_UNROLL
    for (int a = 0; a < S; ++a) {
      x[a][0] = r(own, a);
      RIBBON_UNROLL
      for (int e = 0; e < S; ++e) A[a][e] = Scalar(a == e ? 1 : 0) + l(own, a, e) + u(own, a, e);
    }
    solve_in_place(A, x);
    RIBBON_UNROLL
    for (int a = 0; a < S; ++a) r(own, a) = x[a][0];
  }
  KOKKOS_FUNCTION static void resolve(Scalar *own, const Place &left, const Place &right)
  {
    RIBBON_UNROLL
    for (int a = 0; a < S; ++a) {
      Scalar x = r(own, a);
      RIBBON_UNROLL
      for (int q = 0; q < S; ++q) {
        if (left.there) subtract_product(x, l(own, a, q), r(left.at, q));
        if (right.there) subtract_product(x, u(own, a, q), r(right.at, q));
      }
      r(own, a) = x;
    }
  }
};

} // namespace ribbon
