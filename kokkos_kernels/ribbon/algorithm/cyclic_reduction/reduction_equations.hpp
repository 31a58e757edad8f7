// SPDX-License-Identifier: BSD-2-Clause
/// @file reduction_equations.hpp  Equations of cyclic reduction in team scratch, and the elimination of two
///   neighbours from one.
///
/// Every equation is scaled so that its unknowns have the coefficient I: x_k + A_k x_left + C_k
/// x_right = r_k. It has 2 B^2 + B values. With the neighbours p (left) and q (right), of the same form,
///
///     M = I - A_k C_p - C_k A_q
///     A_k <- - M^-1 A_k A_p,    C_k <- - M^-1 C_k C_q,    r_k <- M^-1 (r_k - A_k r_p - C_k r_q).
///
/// Rings: the last row is a separator z, left of the first equation and right of the last one. A_first and
/// C_last are then their coefficients of z, at every level. If a neighbour is missing, the coefficient does
/// not change (it is zero in an open line). The equation of the separator is A_s x_last + D_s z + C_s
/// x_first = r_s. Adjacent equations are eliminated from it as well. That needs 3 B^2 + B values per line
/// and none per row.
#pragma once

#include <ribbon/algorithm/cyclic_reduction/reduction_tile.hpp>
#include <ribbon/elimination/dense_elimination.hpp>

namespace ribbon {

/// A B x B matrix, later its triangular factors (rows exchanged, pivots inverted).
template <class Scalar, int Most>
struct PivotBlock {
  Scalar a[Most * Most] = {};
  int    moved[Most]    = {};

  /// @return the smallest |pivot|; NaN if a pivot is NaN
  KOKKOS_FUNCTION real_t<Scalar> factor(int B)
  {
    real_t<Scalar> smallest = 0;
    factor_dense(
      B, [&](int i, int j) -> Scalar & { return a[i * B + j]; }, [&](int k, int p) { moved[k] = p; },
      [&](const Scalar &entry, int k) {
        const real_t<Scalar> pivot = magnitude(entry);
        if (k == 0 || pivot < smallest || !(pivot == pivot)) smallest = pivot;
      });
    return smallest;
  }
  /// v <- M^-1 v.
  KOKKOS_FUNCTION void solve(int B, Scalar *v) const
  {
    for (int k = 0; k < B; ++k)
      if (moved[k] != k) swap_values(v[k], v[moved[k]]);
    for (int k = 1; k < B; ++k)
      for (int j = 0; j < k; ++j) v[k] -= a[k * B + j] * v[j];
    for (int k = B - 1; k >= 0; --k) {
      for (int j = k + 1; j < B; ++j) v[k] -= a[k * B + j] * v[j];
      v[k] *= a[k * B + k];
    }
  }
};

/// The equations of a tile.
/// @tparam Most  1: tridiagonal matrices; otherwise the largest block size
template <class Scalar_, int Most_>
struct ReductionEquations {
  using Scalar              = Scalar_;
  using Real                = real_t<Scalar>;
  static constexpr int Most = Most_;

  ReductionTile tile;
  Scalar       *memory = nullptr, *border = nullptr; ///< equations; separators
  int           block = 1;
  bool          ring  = false;

  /// Values of one equation: A at 0, C at B^2, r at 2 B^2, row by row. A separator has D at 2 B^2 + B.
  struct Equation {
    Scalar                  *first = nullptr;
    int                      step  = 0;
    KOKKOS_FUNCTION Scalar  &operator()(int word) const { return first[word * step]; }
    KOKKOS_FUNCTION explicit operator bool() const { return first != nullptr; }
  };

  KOKKOS_INLINE_FUNCTION int B() const { return Most == 1 ? 1 : block; }
  KOKKOS_INLINE_FUNCTION int A() const { return 0; }
  KOKKOS_INLINE_FUNCTION int C() const { return B() * B(); }
  KOKKOS_INLINE_FUNCTION int R() const { return 2 * B() * B(); }
  KOKKOS_INLINE_FUNCTION int D() const { return 2 * B() * B() + B(); }
  static std::size_t         words(int B) { return static_cast<std::size_t>(2 * B * B + B); }
  static std::size_t         border_words(int B) { return static_cast<std::size_t>(3 * B * B + B); }

  KOKKOS_FUNCTION Equation at(int place, int lane) const
  {
    return {memory + place * tile.pitch + lane, tile.places * tile.pitch};
  }
  /// Equation k of a level; empty beyond its ends.
  KOKKOS_FUNCTION Equation equation(int level, int k, int lane) const
  {
    return k < 0 || k >= tile.equations(level) ? Equation() : at(tile.place(level, k), lane);
  }
  KOKKOS_FUNCTION Equation separator(int lane) const { return {border + lane, tile.lanes()}; }

  /// to = M^-1 from.
  KOKKOS_FUNCTION void scale(const PivotBlock<Scalar, Most> &M, const Equation &from,
                             const Equation &to) const
  {
    Scalar v[Most];
    for (int j = 0; j <= 2 * B(); ++j) { // columns of A, those of C, r
      const int first = j < B() ? A() + j : j < 2 * B() ? C() + j - B() : R(), step = j < 2 * B() ? B() : 1;
      for (int a = 0; a < B(); ++a) v[a] = from(first + a * step);
      M.solve(B(), v);
      for (int a = 0; a < B(); ++a) to(first + a * step) = v[a];
    }
  }
  /// X <- - X Y for the matrix at `word` of both.
  KOKKOS_FUNCTION void multiply(const Equation &x, const Equation &y, int word) const
  {
    Scalar row[Most];
    for (int a = 0; a < B(); ++a) {
      for (int e = 0; e < B(); ++e) row[e] = x(word + a * B() + e);
      for (int b = 0; b < B(); ++b) {
        Scalar v(0);
        for (int e = 0; e < B(); ++e) v -= row[e] * y(word + e * B() + b);
        x(word + a * B() + b) = v;
      }
    }
  }
  /// r of x -= (matrix at `word` of x) (r of y)
  KOKKOS_FUNCTION void subtract(const Equation &x, int word, const Equation &y) const
  {
    for (int a = 0; a < B(); ++a) {
      Scalar v = x(R() + a);
      for (int e = 0; e < B(); ++e) v -= x(word + a * B() + e) * y(R() + e);
      x(R() + a) = v;
    }
  }

  /// to = from with its neighbours eliminated. A neighbour may be empty; `to` may be `from`.
  /// @return the smallest |pivot|
  KOKKOS_FUNCTION Real combine(const Equation &from, const Equation &left, const Equation &right,
                               const Equation &to) const
  {
    PivotBlock<Scalar, Most> M;
    for (int a = 0; a < B(); ++a)
      for (int b = 0; b < B(); ++b) {
        Scalar m(a == b ? 1 : 0);
        for (int e = 0; left && e < B(); ++e) m -= from(A() + a * B() + e) * left(C() + e * B() + b);
        for (int e = 0; right && e < B(); ++e) m -= from(C() + a * B() + e) * right(A() + e * B() + b);
        M.a[a * B() + b] = m;
      }
    const Real pivot = M.factor(B());
    scale(M, from, to);
    if (left) subtract(to, A(), left), multiply(to, left, A());
    if (right) subtract(to, C(), right), multiply(to, right, C());
    return pivot;
  }

  /// Eliminates the adjacent equations from that of the separator. `left` is empty if that equation
  /// remains.
  KOKKOS_FUNCTION void reduce_separator(const Equation &s, const Equation &left, const Equation &right) const
  {
    for (int a = 0; a < B(); ++a)
      for (int b = 0; b < B(); ++b) {
        Scalar d = s(D() + a * B() + b);
        for (int e = 0; e < B(); ++e) d -= s(C() + a * B() + e) * right(A() + e * B() + b);
        for (int e = 0; left && e < B(); ++e) d -= s(A() + a * B() + e) * left(C() + e * B() + b);
        s(D() + a * B() + b) = d;
      }
    subtract(s, C(), right), multiply(s, right, C());
    if (left) subtract(s, A(), left), multiply(s, left, A());
  }
  /// Solves for z when the separator is the only neighbour of every equation of the last level. r of the
  /// separator becomes z.
  /// @return the smallest |pivot|
  KOKKOS_FUNCTION Real close(int lane) const
  {
    const int      m = tile.equations(tile.levels);
    const Equation s = separator(lane), first = equation(tile.levels, 0, lane),
                   last = equation(tile.levels, m - 1, lane);
    PivotBlock<Scalar, Most> M;
    for (int a = 0; a < B(); ++a)
      for (int b = 0; b < B(); ++b) {
        Scalar d = s(D() + a * B() + b);
        if (m == 0) d += s(A() + a * B() + b) + s(C() + a * B() + b); // a ring of one row
        for (int e = 0; m > 0 && e < B(); ++e) {
          d -= s(C() + a * B() + e) * (first(A() + e * B() + b) + first(C() + e * B() + b));
          d -= s(A() + a * B() + e) * (last(A() + e * B() + b) + last(C() + e * B() + b));
        }
        M.a[a * B() + b] = d;
      }
    const Real pivot = M.factor(B());
    if (m > 0) subtract(s, C(), first), subtract(s, A(), last);
    Scalar z[Most];
    for (int a = 0; a < B(); ++a) z[a] = s(R() + a);
    M.solve(B(), z);
    for (int a = 0; a < B(); ++a) s(R() + a) = z[a];
    return pivot;
  }
  /// r becomes x. The unknowns on either side are known. Beyond the ends is the separator of a ring, or no
  /// unknown.
  KOKKOS_FUNCTION void substitute(const Equation &e, const Equation &left, const Equation &right,
                                  int lane) const
  {
    if (left || ring) subtract(e, A(), left ? left : separator(lane));
    if (right || ring) subtract(e, C(), right ? right : separator(lane));
  }
};

} // namespace ribbon
