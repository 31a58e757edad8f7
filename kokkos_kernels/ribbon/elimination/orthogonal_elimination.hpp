// SPDX-License-Identifier: BSD-2-Clause
/// @file orthogonal_elimination.hpp  Orthogonal elimination of chunks on the host, in extended precision.
#pragma once

#include <ribbon/elimination/chunk_tables.hpp>
#include <ribbon/elimination/host_matrix.hpp>
#include <ribbon/elimination/orthogonal.hpp>
#include <ribbon/elimination/pivot_watch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

namespace ribbon {

/// subtract_compensated() of orthogonal.hpp for complex numbers of a host.
template <class Real>
void subtract_compensated(std::complex<Real> &a, std::complex<Real> &rest, const std::complex<Real> &product)
{
  using Parts = Real[2];
  for (int k = 0; k < 2; ++k)
    subtract_compensated(reinterpret_cast<Parts &>(a)[k], reinterpret_cast<Parts &>(rest)[k],
                         reinterpret_cast<const Parts &>(product)[k]);
}

/// The steps of eliminate_orthogonal(): Householder reflections over a sliding window of W + 1 equations.
template <class Scalar>
struct OrthogonalElimination {
  using Wide = wide_t<Scalar>;
  const HostMatrix<Scalar> &A;
  PivotWatch               &watch;
  const int                 begin, length, kl, ku, W;
  const int                 width;        ///< of a row of the window: columns j .. j + W, then zl
  Dense<Wide>               window, rest; ///< rest: the rounding errors of the sums
  ChunkTables<Wide>         t;

  OrthogonalElimination(const HostMatrix<Scalar> &matrix, int first, int rows, PivotWatch &pivots)
      : A(matrix), watch(pivots), begin(first), length(rows), kl(matrix.lower), ku(matrix.upper), W(kl + ku),
        width(2 * W + 1), window(W + 1, width), rest(W + 1, width)
  {
    t.forward_words = W + 3, t.backward_words = 2 * W;
    t.forward.assign(static_cast<std::size_t>(length) * static_cast<std::size_t>(t.forward_words), Wide(0));
    t.backward.assign(static_cast<std::size_t>(length - W) * static_cast<std::size_t>(t.backward_words),
                      Wide(0));
  }

  static Wide conj(const Wide &a)
  {
    if constexpr (std::is_floating_point_v<Scalar>) return a;
    else return std::conj(a);
  }
  /// Forward coefficients of row r: v, inv, scale.
  Wide *forward(int r)
  {
    return t.forward.data() + static_cast<std::size_t>(r) * static_cast<std::size_t>(t.forward_words);
  }
  /// Backward coefficients of the unknown that leaves with row r: U, H.
  Wide *backward(int r)
  {
    return t.backward.data() + static_cast<std::size_t>(r - W) * static_cast<std::size_t>(t.backward_words);
  }

  /// The power of two that equilibrates row r.
  long double scale_of_row(int r)
  {
    const long double largest = A.row_max(begin + r);
    // a row of zeros is a zero pivot, although reflections of many rows may hide it
    if (!(largest > 0 && largest - largest == 0)) watch.see(largest, largest, begin + r);
    return largest > 0 && largest - largest == 0
             ? std::ldexp(
                 1.0L, std::min(-std::ilogb(largest), std::numeric_limits<real_t<Scalar>>::max_exponent - 1))
             : 1.0L;
  }

  /// Loads row r into the window, equilibrated.
  void load_row(int r)
  {
    const int         place = std::min(r, W); // the window fills, then one row leaves per new row
    const long double scale = scale_of_row(r);
    forward(r)[W + 2]       = Wide(scale);
    watch.log_det -= std::log(scale);
    for (int e = 0; e < width; ++e) window(place, e) = rest(place, e) = Wide(0);
    const int column = r < W ? ku : r - kl; // of the first entry of the window, relative to `begin`
    for (int d = -kl; d <= ku; ++d) {
      const int j = r + d; // columns left of ku are zl
      window(place, j < ku ? W + 1 + kl + j : j - column) += A(begin + r, d) * scale;
    }
  }

  /// The reflection of the first column of the window to its equation p: I - v v^H.
  struct Reflection {
    int  p = 0;
    Wide alpha; ///< the reflected pivot
  };
  /// Computes the reflection of step r and stores v. @param ordered  see eliminate_orthogonal()
  Reflection reflection(int r, bool ordered)
  {
    Wide       *f    = forward(r);
    long double norm = 0;
    Reflection  step;
    int        &p = step.p;
    for (int i = 0; i <= W; ++i) {
      norm += std::norm(window(i, 0));
      if (ordered && std::abs(window(i, 0)) > std::abs(window(p, 0))) p = i;
    }
    norm               = std::sqrt(norm);
    const int  unknown = begin + r - W + ku;
    const Wide pivot   = window(p, 0);
    const Wide phase   = pivot == Wide(0) ? Wide(1) : pivot / std::abs(pivot);
    step.alpha         = -phase * norm;
    watch.see(-step.alpha, 1,
              unknown < A.rows ? unknown : unknown - A.rows); // a reflection has determinant -1
    if (p % 2 == 1) watch.sign = -watch.sign;
    const long double size = std::sqrt(norm * (norm + std::abs(pivot))); // |v| / sqrt 2
    for (int i = 0; i <= W; ++i)
      f[i] = norm > 0 ? (window(i, 0) - (i == p ? step.alpha : Wide(0))) / size : Wide(0);
    f[W + 1] = Wide(1) / step.alpha;
    return step;
  }

  /// Applies the reflection of step r to all columns of the window.
  void reflect(int r)
  {
    const Wide *v = forward(r);
    for (int e = 0; e < width; ++e) {
      Wide dot(0);
      for (int i = 0; i <= W; ++i) dot += conj(v[i]) * window(i, e);
      for (int i = 0; i <= W; ++i) subtract_compensated(window(i, e), rest(i, e), v[i] * dot);
    }
  }

  /// Stores equation p of the window as the backward coefficients of step r, and removes it.
  void remove_equation(int r, const Reflection &step)
  {
    const int p = step.p;
    Wide     *U = backward(r), *H = U + W;
    for (int q = 0; q < W; ++q)
      U[q] = -window(p, 1 + q) / step.alpha, H[q] = window(p, W + 1 + q) / step.alpha;
    for (int i = 0; i < W; ++i) {
      const int from = i < p ? i : i + 1;
      for (int e = 0; e < width; ++e) {
        const int shifted = e < W ? e + 1 : e; // columns of the window move by one, zl stays
        window(i, e)      = e == W ? Wide(0) : window(from, shifted);
        rest(i, e)        = e == W ? Wide(0) : rest(from, shifted);
      }
    }
  }

  /// The equations that remain in the window are those of the separators.
  void reduce_separators()
  {
    t.own_left = t.own_self = t.left_self = t.left_right = Dense<Wide>(W, W);
    for (int i = 0; i < W; ++i)
      for (int q = 0; q < W; ++q) t.own_left(i, q) = window(i, W + 1 + q), t.own_self(i, q) = window(i, q);
  }
};

/// Orthogonal elimination of rows [begin, begin + length) of a band matrix (block 1), length >= kl + ku.
/// Tables of OrthogonalScheme (orthogonal.hpp).
/// @param ordered  the equation with the largest entry leaves the window, instead of the oldest
template <class Scalar>
ChunkTables<wide_t<Scalar>> eliminate_orthogonal(const HostMatrix<Scalar> &A, int begin, int length,
                                                 bool ordered, PivotWatch &watch)
{
  OrthogonalElimination<Scalar> chunk(A, begin, length, watch);
  // unknowns are shifted by ku places
  if (begin == 0 && A.upper % 2 == 1 && (A.rows - A.upper) % 2 == 1) watch.sign = -watch.sign;
  for (int r = 0; r < length; ++r) {
    chunk.load_row(r);
    if (r < chunk.W) continue;
    const auto step = chunk.reflection(r, ordered);
    chunk.reflect(r);
    chunk.remove_equation(r, step);
  }
  chunk.reduce_separators();
  return std::move(chunk.t);
}

} // namespace ribbon
