// SPDX-License-Identifier: BSD-2-Clause
/// @file elimination.hpp  Elimination of chunks on the host, plain and orthogonal, in extended precision.
#pragma once

#include <ribbon/elimination/host_matrix.hpp>
#include <ribbon/elimination/orthogonal.hpp>
#include <ribbon/elimination/pivot_watch.hpp>
#include <ribbon/elimination/small_dense.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace ribbon {

/// A chunk after elimination: the coefficients of a scheme (its Forward, Backward and Edge in the order of
/// their members) and the contributions of the chunk to the reduced system. S separators on either side: zl
/// left of the chunk, zr in it.
template <class Wide>
struct ChunkTables {
  int               forward_words = 0, backward_words = 0; ///< per row
  std::vector<Wide> forward, backward, edge;
  Dense<Wide>       own_left, own_self; ///< coefficients of zl and zr in the equations of the chunk
  /// coefficients of zl and zr in the equations of the left neighbour
  Dense<Wide> left_self, left_right;
};

/// Plain elimination of rows [begin, begin + length) of a matrix. The last K = A.reach() of them are
/// separators, or the chunk is the whole line without separators. Tables of PlainScheme<Scalar, K,
/// A.block>.
template <class Scalar>
ChunkTables<wide_t<Scalar>> eliminate_plain(const HostMatrix<Scalar> &A, int begin, int length,
                                            bool has_separators, PivotWatch &watch)
{
  using Wide  = wide_t<Scalar>;
  const int K = A.reach(), B = A.block, S = K * B, BB = B * B, m = length - (has_separators ? K : 0),
            n                     = A.rows;
  const int         forward_words = BB + K * BB + S * B, backward_words = 2 * B * S;
  ChunkTables<Wide> t;
  t.forward_words = forward_words, t.backward_words = backward_words;
  t.forward.assign(static_cast<std::size_t>(m) * static_cast<std::size_t>(forward_words), Wide(0));
  t.backward.assign(static_cast<std::size_t>(m) * static_cast<std::size_t>(backward_words), Wide(0));
  t.edge.assign(static_cast<std::size_t>(2 * S * S), Wide(0));
  auto inv = [&](int i) {
    return t.forward.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(forward_words);
  };
  auto L = [&](int i, int q) { return inv(i) + BB + q * BB; };
  auto D = [&](int i) { return inv(i) + BB + K * BB; }; // S x B
  auto U = [&](int i, int q) {
    return t.backward.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(backward_words) +
           q * BB;
  };
  auto H = [&](int i) { return U(i, K); }; // B x S
  // C (r x c) += f A (r x k) B (k x c)
  auto add_product = [](Wide *C, int ldc, const Wide *X, int ldx, const Wide *Y, int ldy, int r, int k, int c,
                        int f) {
    for (int a = 0; a < r; ++a)
      for (int b = 0; b < k; ++b) {
        const Wide x = X[a * ldx + b] * static_cast<long double>(f);
        if (x == Wide(0)) continue;
        for (int d = 0; d < c; ++d) C[a * ldc + d] += x * Y[b * ldy + d];
      }
  };
  std::vector<Wide> row(static_cast<std::size_t>((2 * K + 1) * BB)), coupling(static_cast<std::size_t>(BB));
  // rows are scaled by the pivots: row i means x_i - U_i0 x_(i+1) - U_i1 x_(i+2) = g_i
  for (int i = 0; i < m; ++i) {
    auto entry = [&](int d) { return row.data() + static_cast<std::size_t>((d + K) * BB); };
    for (int d = -K; d <= K; ++d)
      for (int a = 0; a < B; ++a)
        for (int b = 0; b < B; ++b)
          entry(d)[a * B + b] = i + d < 0 || i + d >= length ? Wide(0) : A(begin + i, d, a, b);
    for (int q = K - 1; q >= 0; --q) { // eliminates the coupling to row i - 1 - q
      const int k = i - 1 - q;
      if (k < 0) continue;
      for (int p = 0; p < K; ++p) add_product(entry(p - q), B, entry(-1 - q), B, U(k, p), B, B, B, B, 1);
    }
    long double scale = 0; // of the row; in a block, of its worst row
    Dense<Wide> pivot(B, B);
    std::copy(entry(0), entry(0) + BB, pivot.a.begin());
    for (int a = 0; a < B; ++a) {
      const long double r = A.row_max(begin + i, a);
      if (!(r <= scale)) scale = r;
      for (int e = 0; e <= K && r > 0; ++e)
        for (int b = 0; b < B; ++b) watch.growth = std::max(watch.growth, std::abs(entry(e)[a * B + b]) / r);
    }
    if (B == 1) {
      watch.see(pivot.a[0], scale, begin + i);
      inv(i)[0] = Wide(1) / pivot.a[0];
    } else { // rows are scaled to one size, because their equations may have any units
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
    for (int q = 0; q < K; ++q) {
      add_product(L(i, q), B, inv(i), B, entry(-1 - q), B, B, B, B, -1);
      add_product(U(i, q), B, inv(i), B, entry(1 + q), B, B, B, B, -1);
    }
  }
  // H = L^-1 (couplings to the left separators): block (i, q) sits at distance q - K - i
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
  // D: the first K rows of A^-1, from solves with the transpose of the factors
  std::vector<Wide> y(static_cast<std::size_t>(m * B));
  for (int e = 0; e < S && e < m * B; ++e) {
    auto part = [&](int i) { return y.data() + static_cast<std::size_t>(i * B); };
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
  if (!has_separators) return t;
  // first and last K rows of A^-1 (left couplings) and of A^-1 (couplings to the separators of the chunk)
  Dense<Wide> first[2] = {Dense<Wide>(S, S), Dense<Wide>(S, S)},
              last[2]  = {Dense<Wide>(S, S), Dense<Wide>(S, S)};
  std::vector<Wide> x(static_cast<std::size_t>((m + K) * B * S));
  for (int side = 0; side < 2; ++side) {
    auto part = [&](int i) { return x.data() + static_cast<std::size_t>(i * B * S); }; // B x S
    std::fill(x.begin(), x.end(), Wide(0));
    for (int e = 0; side == 1 && e < S; ++e) part(m)[e * S + e] = Wide(1);
    for (int i = m - 1; i >= 0; --i) {
      if (side == 0) std::copy(H(i), H(i) + B * S, part(i));
      for (int p = 0; p < K; ++p) add_product(part(i), S, U(i, p), B, part(i + 1 + p), S, B, B, S, 1);
    }
    const Wide sign(side == 0 ? 1 : -1);
    for (int e = 0; e < S * S; ++e)
      first[side].a[static_cast<std::size_t>(e)] = sign * part(0)[e],
      last[side].a[static_cast<std::size_t>(e)]  = sign * part(m - K)[e];
  }
  // couplings of the separators of the chunk to the last K interior rows, and of those of the left
  // neighbour to the first K
  Dense<Wide> Ls(S, S), back(S, S);
  t.own_left = t.own_self = t.left_self = t.left_right = Dense<Wide>(S, S);
  Wide *Lg = t.edge.data(), *Us = Lg + S * S;
  for (int i = 0; i < K; ++i)
    for (int q = 0; q < K; ++q)
      for (int a = 0; a < B; ++a)
        for (int b = 0; b < B; ++b) {
          const int r                      = begin - K + i;
          Ls(i * B + a, q * B + b)         = A(begin + m + i, q - K - i, a, b);
          Us[(i * B + a) * S + q * B + b]  = A.periodic || r >= 0 ? A((r + n) % n, q + K - i, a, b) : Wide(0);
          t.own_self(i * B + a, q * B + b) = A(begin + m + i, q - i, a, b);
        }
  // the last K rows of the solution from the last K values of g, newest first: y_(m-1-j) =
  // g_(m-1-j) + sum_(q<j) U y
  for (int e = 0; e < S; ++e)
    for (int j = 0; j < K; ++j)
      for (int a = 0; a < B; ++a) {
        Wide v(j * B + a == e ? 1 : 0);
        for (int q = 0; q < j; ++q)
          for (int b = 0; b < B; ++b) v += U(m - 1 - j, q)[a * B + b] * back((K - j + q) * B + b, e);
        back((K - 1 - j) * B + a, e) = v;
      }
  add_product(Lg, S, Ls.a.data(), S, back.a.data(), S, S, S, S, 1);
  add_product(t.own_left.a.data(), S, Ls.a.data(), S, last[0].a.data(), S, S, S, S, -1);
  add_product(t.own_self.a.data(), S, Ls.a.data(), S, last[1].a.data(), S, S, S, S, -1);
  add_product(t.left_self.a.data(), S, Us, S, first[0].a.data(), S, S, S, S, -1);
  add_product(t.left_right.a.data(), S, Us, S, first[1].a.data(), S, S, S, S, -1);
  return t;
}

/// subtract_compensated() of orthogonal.hpp for complex numbers of a host.
template <class Real>
void subtract_compensated(std::complex<Real> &a, std::complex<Real> &rest, const std::complex<Real> &product)
{
  using Parts = Real[2];
  for (int k = 0; k < 2; ++k)
    subtract_compensated(reinterpret_cast<Parts &>(a)[k], reinterpret_cast<Parts &>(rest)[k],
                         reinterpret_cast<const Parts &>(product)[k]);
}

/// Orthogonal elimination of rows [begin, begin + length) of a band matrix (block 1), length >= kl + ku.
/// Tables of OrthogonalScheme (orthogonal.hpp).
/// @param ordered  the equation with the largest entry leaves the window, instead of the oldest
template <class Scalar>
ChunkTables<wide_t<Scalar>> eliminate_orthogonal(const HostMatrix<Scalar> &A, int begin, int length,
                                                 bool ordered, PivotWatch &watch)
{
  using Wide = wide_t<Scalar>;
  // a row: columns j .. j + W of the window, then zl
  const int         kl = A.lower, ku = A.upper, W = kl + ku, width = 2 * W + 1;
  ChunkTables<Wide> t;
  t.forward_words = W + 3, t.backward_words = 2 * W;
  t.forward.assign(static_cast<std::size_t>(length) * static_cast<std::size_t>(t.forward_words), Wide(0));
  t.backward.assign(static_cast<std::size_t>(length - W) * static_cast<std::size_t>(t.backward_words),
                    Wide(0));
  auto conj = [](const Wide &a) {
    if constexpr (std::is_floating_point_v<Scalar>) return a;
    else return std::conj(a);
  };
  // unknowns are shifted by ku places
  if (begin == 0 && ku % 2 == 1 && (A.rows - ku) % 2 == 1) watch.sign = -watch.sign;
  // rest: the rounding errors of the sums
  Dense<Wide> window(W + 1, width), rest(W + 1, width);
  for (int r = 0; r < length; ++r) {
    Wide     *f = t.forward.data() + static_cast<std::size_t>(r) * static_cast<std::size_t>(t.forward_words);
    const int place           = std::min(r, W); // the window fills, then one row leaves per new row
    const long double largest = A.row_max(begin + r);
    // a row of zeros is a zero pivot, although reflections of many rows may hide it
    if (!(largest > 0 && largest - largest == 0)) watch.see(largest, largest, begin + r);
    const long double scale =
      largest > 0 && largest - largest == 0
        ? std::ldexp(1.0L,
                     std::min(-std::ilogb(largest), std::numeric_limits<real_t<Scalar>>::max_exponent - 1))
        : 1.0L;
    f[W + 2] = Wide(scale);
    watch.log_det -= std::log(scale);
    for (int e = 0; e < width; ++e) window(place, e) = rest(place, e) = Wide(0);
    const int column = r < W ? ku : r - kl; // of the first entry of the window, relative to `begin`
    for (int d = -kl; d <= ku; ++d) {
      const int j = r + d; // columns left of ku are zl
      window(place, j < ku ? W + 1 + kl + j : j - column) += A(begin + r, d) * scale;
    }
    if (r < W) continue;
    long double norm = 0;
    int         p    = 0;
    for (int i = 0; i <= W; ++i) {
      norm += std::norm(window(i, 0));
      if (ordered && std::abs(window(i, 0)) > std::abs(window(p, 0))) p = i;
    }
    norm               = std::sqrt(norm);
    const int  unknown = begin + r - W + ku;
    const Wide pivot   = window(p, 0);
    const Wide phase   = pivot == Wide(0) ? Wide(1) : pivot / std::abs(pivot);
    const Wide alpha   = -phase * norm;
    watch.see(-alpha, 1, unknown < A.rows ? unknown : unknown - A.rows); // a reflection has determinant -1
    if (p % 2 == 1) watch.sign = -watch.sign;
    const long double size = std::sqrt(norm * (norm + std::abs(pivot))); // |v| / sqrt 2
    for (int i = 0; i <= W; ++i)
      f[i] = norm > 0 ? (window(i, 0) - (i == p ? alpha : Wide(0))) / size : Wide(0);
    for (int e = 0; e < width; ++e) {
      Wide dot(0);
      for (int i = 0; i <= W; ++i) dot += conj(f[i]) * window(i, e);
      for (int i = 0; i <= W; ++i) subtract_compensated(window(i, e), rest(i, e), f[i] * dot);
    }
    f[W + 1] = Wide(1) / alpha;
    Wide *U =
           t.backward.data() + static_cast<std::size_t>(r - W) * static_cast<std::size_t>(t.backward_words),
         *H = U + W;
    for (int q = 0; q < W; ++q) U[q] = -window(p, 1 + q) / alpha, H[q] = window(p, W + 1 + q) / alpha;
    for (int i = 0; i < W; ++i) {
      const int from = i < p ? i : i + 1;
      for (int e = 0; e < width; ++e) {
        const int shifted = e < W ? e + 1 : e; // columns of the window move by one, zl stays
        window(i, e)      = e == W ? Wide(0) : window(from, shifted);
        rest(i, e)        = e == W ? Wide(0) : rest(from, shifted);
      }
    }
  }
  t.own_left = t.own_self = t.left_self = t.left_right = Dense<Wide>(W, W);
  for (int i = 0; i < W; ++i)
    for (int q = 0; q < W; ++q) t.own_left(i, q) = window(i, W + 1 + q), t.own_self(i, q) = window(i, q);
  return t;
}

} // namespace ribbon
