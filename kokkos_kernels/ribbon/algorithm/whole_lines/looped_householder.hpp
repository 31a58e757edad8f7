// SPDX-License-Identifier: BSD-2-Clause
/// @file looped_householder.hpp  Orthogonal elimination of one line by one thread, with widths known at run
///   time.
///
/// The elimination is that of orthogonal_elimination.hpp in the precision of the scalar. The window of W + 1
/// equations is in the workspace of the thread. The equation with the largest entry leaves it.
#pragma once

#include <ribbon/algorithm/whole_lines/looped.hpp>
#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/elimination/dense_elimination.hpp>

namespace ribbon {

/// Computes the words of one line of a table, which are `lines` apart.
template <class Scalar, class Memory>
struct LoopedHouseholder {
  using Real  = real_t<Scalar>;
  using Watch = SmallestPivot<Real>;

  const BandEntries<Scalar, Memory> &entry;
  const LoopedShape                 &shape;
  std::int64_t                       lines;     ///< of the table
  Scalar                            *words;     ///< first word of the line
  std::int64_t                       l;         ///< the line
  Scalar                            *workspace; ///< (W + 1) x (2 W + 1) words, twice, `workers` apart
  std::int64_t                       workers;
  typename Watch::value_type        &smallest;

  const int          W = shape.separators(), kl = shape.lower, ku = shape.upper;
  const int          width = 2 * W + 1; ///< of a row of the window: W + 1 columns, then zl
  const std::int64_t rows = entry.rows, block = entry.block, n = rows * block, m = n - W;
  Scalar *const      closure = words + (n * shape.forward_words() + m * shape.backward_words()) * lines;

  KOKKOS_FUNCTION void factor() const
  {
    for (std::int64_t r = 0; r < n; ++r) {
      load_row(r);
      if (r < W) continue; // the window fills, then one row leaves per new row
      const Reflection step = reflection(r);
      reflect(r);
      remove_equation(r, step);
    }
    factor_closure();
  }

  KOKKOS_FUNCTION Scalar &window(int i, int e) const
  {
    return workspace[static_cast<std::int64_t>(i * width + e) * workers];
  }
  /// Rounding errors of the window.
  KOKKOS_FUNCTION Scalar &rest(int i, int e) const { return window(W + 1 + i, e); }
  /// Forward coefficients of row r: v, inv, scale.
  KOKKOS_FUNCTION Scalar &forward(std::int64_t r, int e) const
  {
    return words[(r * shape.forward_words() + e) * lines];
  }
  /// Backward coefficients of the unknown that leaves with row r: U, H.
  KOKKOS_FUNCTION Scalar &backward(std::int64_t r, int e) const
  {
    return words[(n * shape.forward_words() + (r - W) * shape.backward_words() + e) * lines];
  }

  /// Loads row r into the window, equilibrated.
  KOKKOS_FUNCTION void load_row(std::int64_t r) const
  {
    const int  place   = r < W ? static_cast<int>(r) : W;
    const Real largest = entry.row_max(l, r / block, static_cast<int>(r % block));
    // a row of zeros is a zero pivot
    if (!(largest > 0 && is_finite(largest))) Watch::see(largest, largest, l * rows + r / block, smallest);
    const Real scale = entry.power_of_two_for(largest);
    for (int e = 0; e < W + 2; ++e) forward(r, e) = Scalar(0);
    forward(r, W + 2) = Scalar(scale);
    for (int e = 0; e < width; ++e) window(place, e) = rest(place, e) = Scalar(0);
    const std::int64_t column = r < W ? ku : r - kl;
    for (int d = -kl; d <= ku; ++d) {
      const std::int64_t j = r + d;
      window(place, static_cast<int>(j < ku ? W + 1 + kl + j : j - column)) +=
        entry.of_unknown(l, r, d) * scale;
    }
  }

  /// The reflection of the first column of the window to its equation p.
  struct Reflection {
    int    p;
    Scalar alpha; ///< the reflected pivot
  };
  /// Computes the reflection of step r and stores its vector v.
  KOKKOS_FUNCTION Reflection reflection(std::int64_t r) const
  {
    Real norm = 0;
    int  p    = 0; // the equation with the largest entry leaves
    for (int i = 0; i <= W; ++i) {
      const Real a = magnitude(window(i, 0));
      norm += a * a;
      if (a > magnitude(window(p, 0))) p = i;
    }
    norm                       = square_root(norm);
    const std::int64_t unknown = r - W + ku;
    Watch::see(norm, 1, l * rows + (unknown < n ? unknown : unknown - n) / block, smallest);
    const Scalar pivot = window(p, 0);
    const Real   size0 = magnitude(pivot);
    const Scalar phase = size0 > 0 ? pivot / size0 : Scalar(1);
    const Scalar alpha = -(phase * norm);
    const Real   size  = square_root(norm * (norm + size0));
    for (int i = 0; i <= W; ++i)
      forward(r, i) = norm > 0 ? (window(i, 0) - (i == p ? alpha : Scalar(0))) / size : Scalar(0);
    forward(r, W + 1) = Scalar(1) / alpha;
    return {p, alpha};
  }

  /// Applies the reflection of step r to all columns of the window.
  KOKKOS_FUNCTION void reflect(std::int64_t r) const
  {
    for (int e = 0; e < width; ++e) {
      Scalar dot(0);
      for (int i = 0; i <= W; ++i) dot += conjugate(forward(r, i)) * window(i, e);
      for (int i = 0; i <= W; ++i) subtract_compensated(window(i, e), rest(i, e), forward(r, i) * dot);
    }
  }

  /// Stores equation p of the window as the backward coefficients of step r, and removes it.
  KOKKOS_FUNCTION void remove_equation(std::int64_t r, const Reflection &step) const
  {
    const int p = step.p;
    for (int q = 0; q < W; ++q)
      backward(r, q)                 = -(window(p, 1 + q) / step.alpha),
                  backward(r, W + q) = window(p, W + 1 + q) / step.alpha;
    for (int i = 0; i < W; ++i) {
      const int from = i < p ? i : i + 1;
      for (int e = 0; e < width; ++e) {
        const int shifted = e < W ? e + 1 : e; // columns of the window move by one, zl stays
        window(i, e)      = e == W ? Scalar(0) : window(from, shifted);
        rest(i, e)        = e == W ? Scalar(0) : rest(from, shifted);
      }
    }
  }

  /// Triangular factors of the equations of the separators, which remain in the window.
  KOKKOS_FUNCTION void factor_closure() const
  {
    auto R     = [&](int i, int j) -> Scalar     &{ return closure[(i * W + j) * lines]; };
    auto order = [&](int i) -> Scalar & { return closure[(W * W + i) * lines]; };
    for (int i = 0; i < W; ++i) {
      order(i) = Scalar(static_cast<Real>(i));
      for (int q = 0; q < W; ++q) R(i, q) = window(i, W + 1 + q) + window(i, q);
    }
    factor_dense(
      W, R,
      [&](int k, int p) {
        if (p != k) swap_values(order(k), order(p));
      },
      [&](const Scalar &pivot, int k) {
        Watch::see(magnitude(pivot), 1, l * rows + (m + ku + k) % n / block, smallest);
      });
  }
};

} // namespace ribbon
