// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas_factors.hpp  Sources of the coefficients of a line for the kernels of thomas.hpp: a few
///   matrices, or one per line.
#pragma once

#include <ribbon/elimination/chunk.hpp>

#include <cstdint>

namespace ribbon {

/// Closes a periodic line: R z = r with G = R^-1, row-major P x P.
template <class Scalar, int P>
struct alignas(16) RingClosure {
  typename PlainScheme<Scalar, P>::Edge edge;
  Scalar                                R[P * P], G[P * P];

  /// z = G r with one step of refinement.
  KOKKOS_INLINE_FUNCTION void solve(const Scalar (&r)[P], Scalar (&z)[P]) const
  {
    for (int a = 0; a < P; ++a) {
      z[a] = Scalar(0);
      for (int b = 0; b < P; ++b) z[a] += G[a * P + b] * r[b];
    }
    Scalar residual[P], correction[P];
    for (int a = 0; a < P; ++a) {
      residual[a] = r[a];
      for (int b = 0; b < P; ++b) residual[a] -= R[a * P + b] * z[b];
    }
    for (int a = 0; a < P; ++a) {
      correction[a] = Scalar(0);
      for (int b = 0; b < P; ++b) correction[a] += G[a * P + b] * residual[b];
    }
    for (int a = 0; a < P; ++a) z[a] += correction[a];
  }
};

/// Factors of a few matrices: rows of matrix c start at c * interior.
template <class Scalar, int P>
struct SharedFactors {
  static constexpr bool shared = true;
  using ForwardRow             = typename PlainScheme<Scalar, P>::Forward;
  using BackwardRow            = typename PlainScheme<Scalar, P>::Backward;
  const ForwardRow             *forward_rows;
  const BackwardRow            *backward_rows;
  const RingClosure<Scalar, P> *closures;
  const int                    *class_of_line; ///< null: one class
  std::int64_t                  classified = 1, interior = 0;

  struct Line {
    const ForwardRow                  *f;
    const BackwardRow                 *w;
    const RingClosure<Scalar, P>      *c;
    KOKKOS_INLINE_FUNCTION ForwardRow  forward(std::int64_t i) const { return read_only(f + i); }
    KOKKOS_INLINE_FUNCTION BackwardRow backward(std::int64_t i) const { return read_only(w + i); }
    KOKKOS_INLINE_FUNCTION RingClosure<Scalar, P> closure() const { return *c; }
  };
  KOKKOS_INLINE_FUNCTION std::int64_t matrix(std::int64_t line) const
  {
    return class_of_line ? class_of_line[line % classified] : 0;
  }
  KOKKOS_INLINE_FUNCTION Line line(std::int64_t l) const
  {
    const std::int64_t m = matrix(l);
    return {forward_rows + m * interior, backward_rows + m * interior, closures + m};
  }
};

/// Factors of one matrix per line, line index fastest. Word j of row i: inv, L[P], U[P] and for periodic
/// lines D[P], H[P].
template <class Scalar, int P>
struct PerLineFactors {
  static constexpr bool shared = false;
  using ForwardRow             = typename PlainScheme<Scalar, P>::Forward;
  using BackwardRow            = typename PlainScheme<Scalar, P>::Backward;
  const Scalar *words;
  const Scalar *closures; ///< (line fastest, word of RingClosure)
  std::int64_t  count    = 0;
  bool          periodic = false;

  struct Line {
    const Scalar                 *at, *closure_at;
    std::int64_t                  count;
    bool                          periodic;
    KOKKOS_INLINE_FUNCTION int    words() const { return periodic ? 1 + 4 * P : 1 + 2 * P; } ///< of a row
    KOKKOS_INLINE_FUNCTION Line   neighbour(int l) const { return {at + l, closure_at + l, count, periodic}; }
    KOKKOS_INLINE_FUNCTION Scalar word(std::int64_t i, int j) const
    {
      return read_only_scalar(at + (i * words() + j) * count);
    }
    KOKKOS_INLINE_FUNCTION ForwardRow forward(std::int64_t i) const
    {
      ForwardRow row;
      row.inv[0] = word(i, 0);
      for (int q = 0; q < P; ++q)
        row.L[q] = word(i, 1 + q), row.D[q] = periodic ? word(i, 1 + 2 * P + q) : Scalar(0);
      return row;
    }
    KOKKOS_INLINE_FUNCTION BackwardRow backward(std::int64_t i) const
    {
      BackwardRow row;
      for (int q = 0; q < P; ++q)
        row.U[q] = word(i, 1 + P + q), row.H[q] = periodic ? word(i, 1 + 3 * P + q) : Scalar(0);
      return row;
    }
    KOKKOS_INLINE_FUNCTION RingClosure<Scalar, P> closure() const
    {
      RingClosure<Scalar, P> c;
      for (int e = 0; e < P * P; ++e) {
        c.edge.Lg[e] = closure_at[e * count];
        c.edge.Us[e] = closure_at[(P * P + e) * count];
        c.R[e]       = closure_at[(2 * P * P + e) * count];
        c.G[e]       = closure_at[(3 * P * P + e) * count];
      }
      return c;
    }
  };
  KOKKOS_INLINE_FUNCTION Line line(std::int64_t l) const
  {
    return {words + l % count, closures + l % count, count, periodic};
  }
};

} // namespace ribbon
