// SPDX-License-Identifier: BSD-2-Clause
/// @file looped_plain.hpp  Plain elimination of one line by one thread, with widths known at run time.
///
/// The elimination is that of plain_elimination.hpp in the precision of the scalar. Intermediate values are
/// in the table itself, since arrays of the largest width would cost every thread of a device kilobytes.
#pragma once

#include <ribbon/algorithm/whole_lines/looped.hpp>
#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/elimination/dense_elimination.hpp>

namespace ribbon {

/// Computes the words of one line of a table, which are `lines` apart: of the rows (chunk.hpp), then Lg, Us,
/// R and G.
template <class Scalar, class Memory>
struct LoopedPlain {
  using Real  = real_t<Scalar>;
  using Watch = SmallestPivot<Real>;

  const BandEntries<Scalar, Memory> &entry;
  const LoopedShape                 &shape;
  std::int64_t                       lines; ///< of the table
  Scalar                            *row;   ///< first word of the line
  std::int64_t                       l;     ///< the line
  typename Watch::value_type        &smallest;

  const int          K = shape.reach, B = shape.block, S = K * B, BB = B * B;
  const std::int64_t rows = entry.rows, m = rows - shape.separator_rows();
  Scalar *const      closure = row + m * (shape.forward_words() + shape.backward_words()) * lines;

  /// A recurrence: the last K rows, the newest first, and the next one.
  struct Window {
    Scalar               w[most_block], next[most_block];
    KOKKOS_FUNCTION void clear(int size)
    {
      for (int q = 0; q < size; ++q) w[q] = Scalar(0);
    }
    KOKKOS_FUNCTION void push(int size, int block)
    {
      for (int q = size - 1; q >= block; --q) w[q] = w[q - block];
      for (int a = 0; a < block; ++a) w[a] = next[a];
    }
  };

  KOKKOS_FUNCTION void factor() const
  {
    for (std::int64_t i = 0; i < m; ++i) {
      reduce_row(i);
      invert_pivot(i);
      scale_row(i);
      if (shape.closed) couple_left_separators(i);
    }
    if (!shape.closed) return;
    Window window;
    for (int e = 0; e < S; ++e) find_first_row_of_inverse(e, window);
    couple_separators();
    for (int e = 0; e < S; ++e) {
      substitute_separators(e);
      reduce_separator(e, window);
    }
    invert_closure();
  }

  // coefficients of row i
  KOKKOS_FUNCTION Scalar &inv(std::int64_t i, int e) const
  {
    return row[(i * shape.forward_words() + e) * lines];
  }
  KOKKOS_FUNCTION Scalar &L(std::int64_t i, int q, int e) const { return inv(i, BB + q * BB + e); }
  KOKKOS_FUNCTION Scalar &D(std::int64_t i, int s, int b) const { return inv(i, BB + K * BB + s * B + b); }
  KOKKOS_FUNCTION Scalar &U(std::int64_t i, int q, int e) const
  {
    return row[(m * shape.forward_words() + i * shape.backward_words() + q * BB + e) * lines];
  }
  KOKKOS_FUNCTION Scalar &H(std::int64_t i, int a, int s) const { return U(i, K, a * S + s); }
  /// The row under elimination: its entry at distance d, in the place of the resulting coefficient.
  KOKKOS_FUNCTION Scalar &at(std::int64_t i, int d, int e) const
  {
    return d < 0 ? L(i, -1 - d, e) : d == 0 ? inv(i, e) : U(i, d - 1, e);
  }
  // coefficients of the separators
  KOKKOS_FUNCTION Scalar &Lg(int a, int q) const { return closure[(a * S + q) * lines]; }
  KOKKOS_FUNCTION Scalar &Us(int a, int q) const { return closure[(S * S + a * S + q) * lines]; }
  KOKKOS_FUNCTION Scalar &R(int a, int q) const { return closure[(2 * S * S + a * S + q) * lines]; }
  KOKKOS_FUNCTION Scalar &G(int a, int q) const { return closure[(3 * S * S + a * S + q) * lines]; }
  KOKKOS_FUNCTION Scalar  Ls(int a, int q) const
  {
    return entry(l, m + a / B, q / B - K - a / B, a % B, q % B);
  }

  /// Inverse in place of the n x n matrix whose entry (i, j) is first[(i n + j) lines].
  template <class See>
  KOKKOS_FUNCTION void invert(int n, Scalar *first, const See &see) const
  {
    int order[most_separators];
    invert_dense(
      n, [&](int i, int j) -> Scalar & { return first[(i * n + j) * lines]; }, order, see);
  }

  /// Loads row i of the matrix and eliminates its couplings to the rows before it.
  KOKKOS_FUNCTION void reduce_row(std::int64_t i) const
  {
    for (int d = -K; d <= K; ++d)
      for (int a = 0; a < B; ++a)
        for (int b = 0; b < B; ++b)
          at(i, d, a * B + b) = i + d < 0 || i + d >= rows ? Scalar(0) : entry(l, i, d, a, b);
    for (int q = K - 1; q >= 0; --q) {
      if (i - 1 - q < 0) continue;
      for (int p = 0; p < K; ++p)
        for (int a = 0; a < B; ++a)
          for (int c = 0; c < B; ++c)
            for (int b = 0; b < B; ++b)
              at(i, p - q, a * B + b) += at(i, -1 - q, a * B + c) * U(i - 1 - q, p, c * B + b);
    }
  }

  /// Inverts the pivot block of row i. Its rows are scaled to one size, because their equations may have
  /// any units.
  KOKKOS_FUNCTION void invert_pivot(std::int64_t i) const
  {
    Real scale = 0, power[most_block];
    for (int a = 0; a < B; ++a) {
      const Real largest = entry.row_max(l, i, a);
      power[a]           = entry.power_of_two_for(largest);
      if (!(largest <= scale)) scale = largest;
    }
    if (B == 1) {
      Watch::see(magnitude(inv(i, 0)), scale, l * rows + i, smallest);
      inv(i, 0) = Scalar(1) / inv(i, 0);
      return;
    }
    for (int a = 0; a < B; ++a)
      for (int b = 0; b < B; ++b) inv(i, a * B + b) *= power[a];
    const Real one = scale > 0 && is_finite(scale) ? Real(1) : scale;
    invert(B, &inv(i, 0),
           [&](const Scalar &pivot, int) { Watch::see(magnitude(pivot), one, l * rows + i, smallest); });
    for (int a = 0; a < B; ++a)
      for (int b = 0; b < B; ++b) inv(i, a * B + b) *= power[b];
  }

  /// Multiplies L and U of row i by -inv, column by column.
  KOKKOS_FUNCTION void scale_row(std::int64_t i) const
  {
    for (int q = 0; q < 2 * K; ++q)
      for (int b = 0; b < B; ++b) {
        Scalar column[most_block];
        for (int a = 0; a < B; ++a) {
          column[a] = Scalar(0);
          for (int c = 0; c < B; ++c)
            column[a] -= inv(i, a * B + c) * (q < K ? L(i, q, c * B + b) : U(i, q - K, c * B + b));
        }
        for (int a = 0; a < B; ++a) (q < K ? L(i, q, a * B + b) : U(i, q - K, a * B + b)) = column[a];
      }
  }

  /// Row i of H = L^-1 (couplings to the left separators).
  KOKKOS_FUNCTION void couple_left_separators(std::int64_t i) const
  {
    for (int q = 0; q < K; ++q)
      for (int a = 0; a < B; ++a)
        for (int b = 0; b < B; ++b) {
          Scalar v(0);
          for (int c = 0; i <= q && c < B; ++c) v += inv(i, a * B + c) * entry(l, i, q - K - i, c, b);
          for (int p = 0; p < K && i - 1 - p >= 0; ++p)
            for (int c = 0; c < B; ++c) v += L(i, p, a * B + c) * H(i - 1 - p, c, q * B + b);
          H(i, a, q * B + b) = v;
        }
  }

  /// Row e of D, the first K rows of A^-1, by the transposed factors.
  KOKKOS_FUNCTION void find_first_row_of_inverse(int e, Window &window) const
  {
    auto &w = window.w, &v = window.next;
    window.clear(S);
    for (std::int64_t i = 0; i < m; ++i) {
      for (int b = 0; b < B; ++b) {
        v[b] = Scalar(i * B + b == e ? 1 : 0);
        for (int p = 0; p < K && i - 1 - p >= 0; ++p)
          for (int c = 0; c < B; ++c) v[b] += w[p * B + c] * U(i - 1 - p, p, c * B + b);
      }
      window.push(S, B);
      for (int b = 0; b < B; ++b) D(i, e, b) = v[b];
    }
    window.clear(S);
    for (std::int64_t i = m - 1; i >= 0; --i) {
      for (int b = 0; b < B; ++b) {
        v[b] = D(i, e, b);
        for (int p = 0; p < K && i + 1 + p < m; ++p)
          for (int c = 0; c < B; ++c) v[b] += w[p * B + c] * L(i + 1 + p, p, c * B + b);
      }
      window.push(S, B);
      for (int b = 0; b < B; ++b) {
        D(i, e, b) = Scalar(0);
        for (int c = 0; c < B; ++c) D(i, e, b) += v[c] * inv(i, c * B + b);
      }
    }
  }

  /// Us: the separators of the ring <- the first K interior rows.
  KOKKOS_FUNCTION void couple_separators() const
  {
    for (int a = 0; a < S; ++a)
      for (int q = 0; q < S; ++q) Us(a, q) = entry(l, m + a / B, q / B + K - a / B, a % B, q % B);
  }

  /// Column e of Lg: the last K rows of the solution for a unit g, times their couplings to the separators.
  KOKKOS_FUNCTION void substitute_separators(int e) const
  {
    Scalar back[most_block]; // row (K - 1 - j) B + a of the solution for a unit g
    for (int j = 0; j < K; ++j)
      for (int a = 0; a < B; ++a) {
        Scalar y = Scalar(j * B + a == e ? 1 : 0);
        for (int q = 0; q < j; ++q)
          for (int b = 0; b < B; ++b) y += U(m - 1 - j, q, a * B + b) * back[(K - j + q) * B + b];
        back[(K - 1 - j) * B + a] = y;
      }
    for (int a = 0; a < S; ++a) {
      Lg(a, e) = Scalar(0);
      for (int q = 0; q < S; ++q) Lg(a, e) += Ls(a, q) * back[q];
    }
  }

  /// Column e of R, from the interior for a unit separator e, which is on both sides.
  KOKKOS_FUNCTION void reduce_separator(int e, Window &window) const
  {
    auto  &w = window.w, &v = window.next;
    Scalar first[most_block], last[most_block];
    for (int q = 0; q < S; ++q) w[q] = Scalar(q == e ? -1 : 0);
    for (std::int64_t i = m - 1; i >= 0; --i) {
      for (int a = 0; a < B; ++a) {
        v[a] = H(i, a, e);
        for (int q = 0; q < K; ++q)
          for (int b = 0; b < B; ++b) v[a] += U(i, q, a * B + b) * w[q * B + b];
        if (i >= m - K) last[(i - (m - K)) * B + a] = v[a];
        if (i < K) first[i * B + a] = v[a];
      }
      window.push(S, B);
    }
    for (int a = 0; a < S; ++a) {
      Scalar r = entry(l, m + a / B, e / B - a / B, a % B, e % B);
      for (int q = 0; q < S; ++q) r -= Ls(a, q) * last[q] + Us(a, q) * first[q];
      R(a, e) = r;
    }
  }

  /// G = R^-1, of equilibrated rows.
  KOKKOS_FUNCTION void invert_closure() const
  {
    Real scale[most_block]; // of rows of R
    for (int a = 0; a < S; ++a) {
      const Real largest = entry.row_max(l, m + a / B, a % B);
      // checked before row exchanges, which would hide the row
      if (!(largest > 0)) Watch::see(largest, largest, l * rows + m + a / B, smallest);
      scale[a] = entry.power_of_two_for(largest);
      for (int e = 0; e < S; ++e) G(a, e) = R(a, e) * scale[a];
    }
    invert(S, &G(0, 0), [&](const Scalar &pivot, int k) {
      Watch::see(magnitude(pivot), 1, l * rows + m + k / B, smallest);
    });
    for (int a = 0; a < S; ++a)
      for (int e = 0; e < S; ++e) G(a, e) *= scale[e];
  }
};

} // namespace ribbon
