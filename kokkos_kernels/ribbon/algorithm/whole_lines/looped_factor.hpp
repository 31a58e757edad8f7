// SPDX-License-Identifier: BSD-2-Clause
/// @file looped_factor.hpp  Tables of looped.hpp for one matrix per line, computed in the memory of the
///   coefficients, one thread per line.
///
/// The elimination is that of elimination.hpp in the precision of the scalar. Intermediate values are in
/// the table itself, since arrays of the largest width would cost every thread of a device kilobytes.
#pragma once

#include <ribbon/device/temporary.hpp>
#include <ribbon/algorithm/whole_lines/looped.hpp>
#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/elimination/dense_elimination.hpp>

#include <algorithm>

namespace ribbon {

/// The reduction finds the smallest pivot (SmallestPivot).
template <class Scalar, class Memory, bool orthogonal>
struct LoopedFactorKernel {
  using Real     = real_t<Scalar>;
  using Watch    = SmallestPivot<Real>;
  using Smallest = typename Watch::value_type;

  BandEntries<Scalar, Memory> entry;
  LoopedShape                 shape;
  std::int64_t                lines; ///< of the table
  Scalar                     *table;
  Scalar                     *workspace; ///< orthogonal: (W + 1) x (2 W + 1) words of `workers` lines, twice
  std::int64_t                first_line = 0, workers = 1;
  Real                        tolerance  = 0; ///< a line with a pivot at or below it is bad
  std::int64_t                table_line = 0; ///< the first line of the table

  /// Inverse in place of the n x n matrix whose entry (i, j) is at[(i n + j) lines].
  template <class See>
  KOKKOS_FUNCTION void invert(int n, Scalar *at, const See &see) const
  {
    int order[most_separators];
    invert_dense(
      n, [&](int i, int j) -> Scalar & { return at[(i * n + j) * lines]; }, order, see);
  }

  KOKKOS_FUNCTION void plain(std::int64_t l, Smallest &smallest) const
  {
    const int          K = shape.reach, B = shape.block, S = K * B, BB = B * B;
    const std::int64_t rows = entry.rows, m = rows - shape.separator_rows();
    Scalar *const row = table + (l - table_line), *const closure =
                                                    row + m *
                                                            (shape.forward_words() + shape.backward_words()) *
                                                            lines;
    auto inv = [&](std::int64_t i, int e) -> Scalar & {
      return row[(i * shape.forward_words() + e) * lines];
    };
    auto L = [&](std::int64_t i, int q, int e) -> Scalar & { return inv(i, BB + q * BB + e); };
    auto D = [&](std::int64_t i, int s, int b) -> Scalar & { return inv(i, BB + K * BB + s * B + b); };
    auto U = [&](std::int64_t i, int q, int e) -> Scalar & {
      return row[(m * shape.forward_words() + i * shape.backward_words() + q * BB + e) * lines];
    };
    auto H = [&](std::int64_t i, int a, int s) -> Scalar & { return U(i, K, a * S + s); };
    // the row under elimination: its entry at distance d, in the place of the resulting coefficient
    auto at = [&](std::int64_t i, int d, int e) -> Scalar & {
      return d < 0 ? L(i, -1 - d, e) : d == 0 ? inv(i, e) : U(i, d - 1, e);
    };
    for (std::int64_t i = 0; i < m; ++i) {
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
      Real scale = 0;
      for (int a = 0; a < B; ++a) {
        const Real r = entry.row_max(l, i, a);
        if (!(r <= scale)) scale = r;
      }
      if (B == 1) {
        Watch::see(magnitude(inv(i, 0)), scale, l * rows + i, smallest);
        inv(i, 0) = Scalar(1) / inv(i, 0);
      } else { // rows are scaled to one size, because their equations may have any units
        for (int a = 0; a < B; ++a)
          for (int b = 0; b < B; ++b) inv(i, a * B + b) *= entry.row_scale(l, i, a);
        const Real one = scale > 0 && is_finite(scale) ? Real(1) : scale;
        invert(B, &inv(i, 0),
               [&](const Scalar &pivot, int) { Watch::see(magnitude(pivot), one, l * rows + i, smallest); });
        for (int a = 0; a < B; ++a)
          for (int b = 0; b < B; ++b) inv(i, a * B + b) *= entry.row_scale(l, i, b);
      }
      for (int q = 0; q < 2 * K; ++q) { // L and U are multiplied by -inv, column by column
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
      if (!shape.closed) continue;
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
    if (!shape.closed) return;
    Scalar w[most_block], v[most_block];
    auto   push = [&] {
      for (int q = S - 1; q >= B; --q) w[q] = w[q - B];
      for (int a = 0; a < B; ++a) w[a] = v[a];
    };
    for (int e = 0; e < S; ++e) { // D: first K rows of A^-1, by the transposed factors
      for (int q = 0; q < S; ++q) w[q] = Scalar(0);
      for (std::int64_t i = 0; i < m; ++i) {
        for (int b = 0; b < B; ++b) {
          v[b] = Scalar(i * B + b == e ? 1 : 0);
          for (int p = 0; p < K && i - 1 - p >= 0; ++p)
            for (int c = 0; c < B; ++c) v[b] += w[p * B + c] * U(i - 1 - p, p, c * B + b);
        }
        push();
        for (int b = 0; b < B; ++b) D(i, e, b) = v[b];
      }
      for (int q = 0; q < S; ++q) w[q] = Scalar(0);
      for (std::int64_t i = m - 1; i >= 0; --i) {
        for (int b = 0; b < B; ++b) {
          v[b] = D(i, e, b);
          for (int p = 0; p < K && i + 1 + p < m; ++p)
            for (int c = 0; c < B; ++c) v[b] += w[p * B + c] * L(i + 1 + p, p, c * B + b);
        }
        push();
        for (int b = 0; b < B; ++b) {
          D(i, e, b) = Scalar(0);
          for (int c = 0; c < B; ++c) D(i, e, b) += v[c] * inv(i, c * B + b);
        }
      }
    }
    auto Lg = [&](int a, int q) -> Scalar & { return closure[(a * S + q) * lines]; };
    auto Us = [&](int a, int q) -> Scalar & { return closure[(S * S + a * S + q) * lines]; };
    auto R  = [&](int a, int q) -> Scalar  &{ return closure[(2 * S * S + a * S + q) * lines]; };
    auto G  = [&](int a, int q) -> Scalar  &{ return closure[(3 * S * S + a * S + q) * lines]; };
    auto Ls = [&](int a, int q) { return entry(l, m + a / B, q / B - K - a / B, a % B, q % B); };
    for (int a = 0; a < S; ++a)
      for (int q = 0; q < S; ++q) Us(a, q) = entry(l, m + a / B, q / B + K - a / B, a % B, q % B);
    for (int e = 0; e < S; ++e) {
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
      // the interior for a unit separator e, which is on both sides
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
        push();
      }
      for (int a = 0; a < S; ++a) {
        Scalar r = entry(l, m + a / B, e / B - a / B, a % B, e % B);
        for (int q = 0; q < S; ++q) r -= Ls(a, q) * last[q] + Us(a, q) * first[q];
        R(a, e) = r;
      }
    }
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

  KOKKOS_FUNCTION void householder(std::int64_t l, Smallest &smallest) const
  {
    const int          W = shape.separators(), kl = shape.lower, ku = shape.upper, width = 2 * W + 1;
    const std::int64_t rows = entry.rows, block = entry.block, n = rows * block, m = n - W;
    Scalar *const words = table + (l - table_line), *const closure = words + (n * shape.forward_words() +
                                                                              m * shape.backward_words()) *
                                                                               lines;
    Scalar *const mine   = workspace + l % workers;
    auto          window = [&](int i, int e) -> Scalar          &{
      return mine[static_cast<std::int64_t>(i * width + e) * workers];
    };
    // rounding errors
    auto rest = [&](int i, int e) -> Scalar & { return window(W + 1 + i, e); };
    for (std::int64_t r = 0; r < n; ++r) {
      auto       f       = [&](int e) -> Scalar             &{ return words[(r * shape.forward_words() + e) * lines]; };
      const int  place   = r < W ? static_cast<int>(r) : W;
      const Real largest = entry.row_max(l, r / block, static_cast<int>(r % block));
      // a row of zeros is a zero pivot
      if (!(largest > 0 && is_finite(largest))) Watch::see(largest, largest, l * rows + r / block, smallest);
      const Real scale = entry.power_of_two_for(largest);
      for (int e = 0; e < W + 2; ++e) f(e) = Scalar(0);
      f(W + 2) = Scalar(scale);
      for (int e = 0; e < width; ++e) window(place, e) = rest(place, e) = Scalar(0);
      const std::int64_t column = r < W ? ku : r - kl;
      for (int d = -kl; d <= ku; ++d) {
        const std::int64_t j = r + d;
        window(place, static_cast<int>(j < ku ? W + 1 + kl + j : j - column)) +=
          entry.of_unknown(l, r, d) * scale;
      }
      if (r < W) continue;
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
        f(i) = norm > 0 ? (window(i, 0) - (i == p ? alpha : Scalar(0))) / size : Scalar(0);
      for (int e = 0; e < width; ++e) {
        Scalar dot(0);
        for (int i = 0; i <= W; ++i) dot += conjugate(f(i)) * window(i, e);
        for (int i = 0; i <= W; ++i) subtract_compensated(window(i, e), rest(i, e), f(i) * dot);
      }
      f(W + 1) = Scalar(1) / alpha;
      auto u   = [&](int e) -> Scalar   &{
        return words[(n * shape.forward_words() + (r - W) * shape.backward_words() + e) * lines];
      };
      for (int q = 0; q < W; ++q) u(q) = -(window(p, 1 + q) / alpha), u(W + q) = window(p, W + 1 + q) / alpha;
      for (int i = 0; i < W; ++i) {
        const int from = i < p ? i : i + 1;
        for (int e = 0; e < width; ++e) {
          const int shifted = e < W ? e + 1 : e; // columns of the window move by one, zl stays
          window(i, e)      = e == W ? Scalar(0) : window(from, shifted);
          rest(i, e)        = e == W ? Scalar(0) : rest(from, shifted);
        }
      }
    }
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

  KOKKOS_FUNCTION void operator()(const std::int64_t k, Smallest &smallest) const
  {
    const std::int64_t l    = first_line + k;
    Smallest           mine = Watch::start(l * entry.rows);
    if constexpr (orthogonal) householder(l, mine);
    else plain(l, mine);
    Watch::finish(mine, tolerance, smallest);
  }
};

/// Tables of one matrix per line.
/// @return their solver and the smallest pivot (see LoopedFactorKernel)
template <class Scalar, class Exec, bool orthogonal>
Looped<Scalar, Exec>
factor_lines(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
             real_t<Scalar> tolerance,
             typename LoopedFactorKernel<Scalar, typename Exec::memory_space, orthogonal>::Smallest &smallest)
{
  using Memory = typename Exec::memory_space;
  using Kernel = LoopedFactorKernel<Scalar, Memory, orthogonal>;
  LoopedShape shape;
  shape.orthogonal = orthogonal, shape.reach = bands.half_bandwidth(), shape.block = bands.block,
  shape.closed = orthogonal || bands.periodic;
  shape.lower = (bands.kl() + 1) * bands.block - 1, shape.upper = (bands.ku() + 1) * bands.block - 1;
  const std::int64_t lines = bands.matrices(), rows = bands.rows(),
                     n = orthogonal ? rows * bands.block : rows;
  const int          W = shape.separators();
  const std::int64_t workers =
    orthogonal
      ? std::min<std::int64_t>(lines, std::max<std::int64_t>(1024, 1048576 / ((W + 1) * (2 * W + 1))))
      : lines;
  auto table = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::looped::table",
                                                        static_cast<std::size_t>(shape.words(n) * lines));
  const Temporary<Scalar, Exec> space(
    exec, "ribbon::looped::workspace",
    orthogonal ? static_cast<std::size_t>(2 * (W + 1) * (2 * W + 1) * workers) : 0);
  smallest         = Kernel::Watch::start(-1);
  const auto place = PivotPlace<real_t<Scalar>, Memory>(exec);
  for (std::int64_t first = 0; first < lines; first += workers) {
    Kokkos::parallel_reduce("ribbon::looped::factor", indices(exec, std::min(workers, lines - first)),
                            Kernel{BandEntries<Scalar, Memory>(bands), shape, lines, table.data(),
                                   space.data(), first, workers, tolerance},
                            place.reducer());
    Kernel::Watch::join(smallest, place.found(exec));
  }
  return Looped<Scalar, Exec>(shape, n, lines, table);
}

/// The smallest pivot of matrices whose factors are not stored, eliminated line by line.
template <class Scalar, class Exec>
auto smallest_pivot_of_lines(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                             real_t<Scalar> tolerance)
{
  using Memory = typename Exec::memory_space;
  using Kernel = LoopedFactorKernel<Scalar, Memory, false>;
  LoopedShape shape;
  shape.reach = std::max(1, bands.half_bandwidth()), shape.block = bands.block, shape.closed = bands.periodic;
  const std::int64_t lines = bands.matrices(), words = shape.words(bands.rows()),
                     together =
                       std::min(lines, std::max<std::int64_t>(1024, (std::int64_t(1) << 26) / words));
  const Temporary<Scalar, Exec> table(exec, "ribbon::looped::table",
                                      static_cast<std::size_t>(words * together));
  const auto                    place    = PivotPlace<real_t<Scalar>, Memory>(exec);
  auto                          smallest = Kernel::Watch::start(-1);
  for (std::int64_t first = 0; first < lines; first += together) {
    Kokkos::parallel_reduce("ribbon::looped::factor", indices(exec, std::min(together, lines - first)),
                            Kernel{BandEntries<Scalar, Memory>(bands), shape, together, table.data(), nullptr,
                                   first, 1, tolerance, first},
                            place.reducer());
    Kernel::Watch::join(smallest, place.found(exec));
  }
  return smallest;
}

/// Overwrites the tables of `plan` with plain tables for matrices of other values, for as many lines and no
/// wider. Asynchronous on exec, one kernel.
template <class Scalar, class Exec>
void factor_lines_again(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                        const Looped<Scalar, Exec>                                    &plan,
                        const PivotPlace<real_t<Scalar>, typename Exec::memory_space> &place)
{
  using Memory = typename Exec::memory_space;
  using Kernel = LoopedFactorKernel<Scalar, Memory, false>;
  Kokkos::parallel_reduce(
    "ribbon::looped::factor", indices(exec, bands.matrices()),
    Kernel{BandEntries<Scalar, Memory>(bands), plan.shape(), bands.matrices(), plan.table().data(), nullptr},
    place.reducer());
}

} // namespace ribbon
