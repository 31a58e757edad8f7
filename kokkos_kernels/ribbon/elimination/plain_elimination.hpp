// SPDX-License-Identifier: BSD-2-Clause
/// @file plain_elimination.hpp  Plain elimination of chunks on the host, in extended precision.
#pragma once

#include <ribbon/elimination/chunk_tables.hpp>
#include <ribbon/elimination/host_matrix.hpp>
#include <ribbon/elimination/pivot_watch.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace ribbon {

/// The steps of eliminate_plain(). Letters are those of chunk.hpp; m is the number of interior rows.
template <class Scalar>
struct PlainElimination {
  using Wide = wide_t<Scalar>;
  const HostMatrix<Scalar> &A;
  PivotWatch               &watch;
  const int                 begin, length, K, B, S, BB, m;
  ChunkTables<Wide>         t;
  std::vector<Wide>         row; ///< the row under elimination: its blocks at the distances -K, ..., K

  PlainElimination(const HostMatrix<Scalar> &matrix, int first, int rows, bool has_separators,
                   PivotWatch &pivots)
      : A(matrix), watch(pivots), begin(first), length(rows), K(matrix.reach()), B(matrix.block), S(K * B),
        BB(B * B), m(rows - (has_separators ? K : 0)), row(static_cast<std::size_t>((2 * K + 1) * BB))
  {
    t.forward_words = BB + K * BB + S * B, t.backward_words = 2 * B * S;
    t.forward.assign(static_cast<std::size_t>(m) * static_cast<std::size_t>(t.forward_words), Wide(0));
    t.backward.assign(static_cast<std::size_t>(m) * static_cast<std::size_t>(t.backward_words), Wide(0));
    t.edge.assign(static_cast<std::size_t>(2 * S * S), Wide(0));
  }

  // coefficients of row i
  Wide *inv(int i)
  {
    return t.forward.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(t.forward_words);
  }
  Wide *L(int i, int q) { return inv(i) + BB + q * BB; }
  Wide *D(int i) { return inv(i) + BB + K * BB; } // S x B
  Wide *U(int i, int q)
  {
    return t.backward.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(t.backward_words) +
           q * BB;
  }
  Wide *H(int i) { return U(i, K); } // B x S
  Wide *entry(int d) { return row.data() + static_cast<std::size_t>((d + K) * BB); }

  /// C (r x c) += f X (r x k) Y (k x c)
  static void add_product(Wide *C, int ldc, const Wide *X, int ldx, const Wide *Y, int ldy, int r, int k,
                          int c, int f)
  {
    for (int a = 0; a < r; ++a)
      for (int b = 0; b < k; ++b) {
        const Wide x = X[a * ldx + b] * static_cast<long double>(f);
        if (x == Wide(0)) continue;
        for (int d = 0; d < c; ++d) C[a * ldc + d] += x * Y[b * ldy + d];
      }
  }

  /// Loads row i of the matrix and eliminates its couplings to the rows before it.
  void reduce_row(int i)
  {
    for (int d = -K; d <= K; ++d)
      for (int a = 0; a < B; ++a)
        for (int b = 0; b < B; ++b)
          entry(d)[a * B + b] = i + d < 0 || i + d >= length ? Wide(0) : A(begin + i, d, a, b);
    for (int q = K - 1; q >= 0; --q) { // eliminates the coupling to row i - 1 - q
      const int k = i - 1 - q;
      if (k < 0) continue;
      for (int p = 0; p < K; ++p) add_product(entry(p - q), B, entry(-1 - q), B, U(k, p), B, B, B, B, 1);
    }
  }

  /// Records the growth of row i. @return its largest entry in the matrix; in a block, that of its worst
  /// row
  long double scale_of_row(int i)
  {
    long double scale = 0;
    for (int a = 0; a < B; ++a) {
      const long double r = A.row_max(begin + i, a);
      if (!(r <= scale)) scale = r;
      for (int e = 0; e <= K && r > 0; ++e)
        for (int b = 0; b < B; ++b) watch.growth = std::max(watch.growth, std::abs(entry(e)[a * B + b]) / r);
    }
    return scale;
  }

  /// Inverts the pivot block of row i. Its rows are scaled to one size, because their equations may have
  /// any units.
  void invert_pivot(int i, long double scale)
  {
    Dense<Wide> pivot(B, B);
    std::copy(entry(0), entry(0) + BB, pivot.a.begin());
    if (B == 1) {
      watch.see(pivot.a[0], scale, begin + i);
      inv(i)[0] = Wide(1) / pivot.a[0];
      return;
    }
    std::vector<long double> size;
    for (int a = 0; a < B; ++a) {
      const long double r = A.row_max(begin + i, a);
      size.push_back(r > 0 && r - r == 0 ? std::ldexp(1.0L, -std::ilogb(r)) : 1.0L);
      for (int b = 0; b < B; ++b) pivot(a, b) *= size.back();
    }
    const auto inverse = pivot.inverse([&](const Wide &p, int k) {
      watch.see(p, scale > 0 && scale - scale == 0 ? 1 : scale, begin + i);
      watch.log_det -= std::log(size[static_cast<std::size_t>(k)]); // a sum over all rows, in any order
    });
    for (int a = 0; a < B; ++a)
      for (int b = 0; b < B; ++b) inv(i)[a * B + b] = inverse(a, b) * size[static_cast<std::size_t>(b)];
  }

  /// inv, L and U. Rows are scaled by the pivots: row i means x_i - U_i0 x_(i+1) - U_i1 x_(i+2) = g_i
  void factor()
  {
    for (int i = 0; i < m; ++i) {
      reduce_row(i);
      invert_pivot(i, scale_of_row(i));
      for (int q = 0; q < K; ++q) {
        add_product(L(i, q), B, inv(i), B, entry(-1 - q), B, B, B, B, -1);
        add_product(U(i, q), B, inv(i), B, entry(1 + q), B, B, B, B, -1);
      }
    }
  }

  /// H = L^-1 (couplings to the left separators): block (i, q) sits at distance q - K - i
  void couple_left_separators()
  {
    std::vector<Wide> coupling(static_cast<std::size_t>(BB));
    for (int i = 0; i < m; ++i) {
      for (int q = i; q < K; ++q) {
        for (int a = 0; a < B; ++a)
          for (int b = 0; b < B; ++b)
            coupling[static_cast<std::size_t>(a * B + b)] = A(begin + i, q - K - i, a, b);
        add_product(H(i) + q * B, S, inv(i), B, coupling.data(), B, B, B, B, 1);
      }
      for (int p = 0; p < K && i - 1 - p >= 0; ++p)
        add_product(H(i), S, L(i, p), B, H(i - 1 - p), S, B, B, S, 1);
    }
  }

  /// D: the first K rows of A^-1, from solves with the transpose of the factors.
  void find_first_rows_of_inverse()
  {
    std::vector<Wide> y(static_cast<std::size_t>(m * B));
    const auto        part = [&](int i) { return y.data() + static_cast<std::size_t>(i * B); };
    for (int e = 0; e < S && e < m * B; ++e) {
      for (int i = 0; i < m; ++i) {
        for (int b = 0; b < B; ++b) part(i)[b] = Wide(i * B + b == e ? 1 : 0);
        for (int p = 0; p < K && i - 1 - p >= 0; ++p)
          add_product(part(i), B, part(i - 1 - p), B, U(i - 1 - p, p), B, 1, B, B, 1);
      }
      for (int i = m - 1; i >= 0; --i)
        for (int p = 0; p < K && i + 1 + p < m; ++p)
          add_product(part(i), B, part(i + 1 + p), B, L(i + 1 + p, p), B, 1, B, B, 1);
      for (int i = 0; i < m; ++i) add_product(D(i) + e * B, B, part(i), B, inv(i), B, 1, B, B, 1);
    }
  }

  /// First and last K rows of A^-1 (couplings to the separators on one side).
  struct Spike {
    Dense<Wide> first, last;
  };
  /// @param right  of the separators of the chunk, instead of those left of it
  Spike spike(bool right)
  {
    Spike             ends{Dense<Wide>(S, S), Dense<Wide>(S, S)};
    std::vector<Wide> x(static_cast<std::size_t>((m + K) * B * S), Wide(0));
    const auto        part = [&](int i) { return x.data() + static_cast<std::size_t>(i * B * S); }; // B x S
    for (int e = 0; right && e < S; ++e) part(m)[e * S + e] = Wide(1);
    for (int i = m - 1; i >= 0; --i) {
      if (!right) std::copy(H(i), H(i) + B * S, part(i));
      for (int p = 0; p < K; ++p) add_product(part(i), S, U(i, p), B, part(i + 1 + p), S, B, B, S, 1);
    }
    const Wide sign(right ? -1 : 1);
    for (int e = 0; e < S * S; ++e)
      ends.first.a[static_cast<std::size_t>(e)] = sign * part(0)[e],
      ends.last.a[static_cast<std::size_t>(e)]  = sign * part(m - K)[e];
    return ends;
  }

  /// Reads Us, the couplings of the separators of the left neighbour to the first K interior rows, and the
  /// diagonal block of the separators. @return Ls, the couplings of the separators of the chunk to its last
  /// K interior rows
  Dense<Wide> read_couplings_of_separators(Wide *Us)
  {
    const int   n = A.rows;
    Dense<Wide> Ls(S, S);
    for (int i = 0; i < K; ++i)
      for (int q = 0; q < K; ++q)
        for (int a = 0; a < B; ++a)
          for (int b = 0; b < B; ++b) {
            const int r              = begin - K + i;
            Ls(i * B + a, q * B + b) = A(begin + m + i, q - K - i, a, b);
            Us[(i * B + a) * S + q * B + b] =
              A.periodic || r >= 0 ? A((r + n) % n, q + K - i, a, b) : Wide(0);
            t.own_self(i * B + a, q * B + b) = A(begin + m + i, q - i, a, b);
          }
    return Ls;
  }

  /// The last K rows of the solution from the last K values of g, newest first: y_(m-1-j) =
  /// g_(m-1-j) + sum_(q<j) U y
  Dense<Wide> last_rows_of_substitution()
  {
    Dense<Wide> back(S, S);
    for (int e = 0; e < S; ++e)
      for (int j = 0; j < K; ++j)
        for (int a = 0; a < B; ++a) {
          Wide v(j * B + a == e ? 1 : 0);
          for (int q = 0; q < j; ++q)
            for (int b = 0; b < B; ++b) v += U(m - 1 - j, q)[a * B + b] * back((K - j + q) * B + b, e);
          back((K - 1 - j) * B + a, e) = v;
        }
    return back;
  }

  /// Contributions of the chunk to the equations of its separators and of those left of it.
  void reduce_separators()
  {
    const Spike left = spike(false), right = spike(true);
    t.own_left = t.own_self = t.left_self = t.left_right = Dense<Wide>(S, S);
    Wide             *Lg = t.edge.data(), *Us = Lg + S * S;
    const Dense<Wide> Ls = read_couplings_of_separators(Us), back = last_rows_of_substitution();
    add_product(Lg, S, Ls.a.data(), S, back.a.data(), S, S, S, S, 1);
    add_product(t.own_left.a.data(), S, Ls.a.data(), S, left.last.a.data(), S, S, S, S, -1);
    add_product(t.own_self.a.data(), S, Ls.a.data(), S, right.last.a.data(), S, S, S, S, -1);
    add_product(t.left_self.a.data(), S, Us, S, left.first.a.data(), S, S, S, S, -1);
    add_product(t.left_right.a.data(), S, Us, S, right.first.a.data(), S, S, S, S, -1);
  }
};

/// Plain elimination of rows [begin, begin + length) of a matrix. The last K = A.reach() of them are
/// separators, or the chunk is the whole line without separators. Tables of PlainScheme<Scalar, K,
/// A.block>.
template <class Scalar>
ChunkTables<wide_t<Scalar>> eliminate_plain(const HostMatrix<Scalar> &A, int begin, int length,
                                            bool has_separators, PivotWatch &watch)
{
  PlainElimination<Scalar> chunk(A, begin, length, has_separators, watch);
  chunk.factor();
  chunk.couple_left_separators();
  chunk.find_first_rows_of_inverse();
  if (has_separators) chunk.reduce_separators();
  return std::move(chunk.t);
}

} // namespace ribbon
