// SPDX-License-Identifier: BSD-2-Clause
/// @file reduced.hpp  The reduced system of a line: the equations of its separators after the interiors of
///   all chunks are eliminated.
///
///     R_lower z_(c-1) + R_diag z_c + R_upper z_(c+1) = r_c,    0 <= c < chunks,
///     indices modulo `chunks` in periodic lines.
///
/// R is block tridiagonal (a ring in periodic lines) with S x S blocks. Its inverse G is precomputed. Of
/// each block row only the window of blocks that have not decayed below rounding is kept. If this window is
/// wide, steps of parallel cyclic reduction come first (halve()).
#pragma once

#include <ribbon/elimination/elimination.hpp>

#include <algorithm>
#include <functional>

namespace ribbon {

template <class Scalar>
struct ReducedSystem {
  using Wide      = wide_t<Scalar>;
  int  chunks     = 0;
  int  separators = 0; ///< S: R has S x S blocks
  bool ring       = false;
  /// R couples chunk c with c - stride and c + stride: 2^k after k calls of halve()
  int         stride = 1;
  Dense<Wide> lower, diag, upper; ///< (chunks * S) x S: the blocks of each block row
  Dense<Wide> inverse;            ///< (chunks * S)^2
  /// of every step, (chunks * S) x S: the factors by which chunk c adds the right-hand sides of c - stride
  /// and c + stride
  std::vector<Dense<Wide>> left, right;
  /// of a right-hand side of rows of R for unknowns of about 1, after the steps if no terms cancel
  std::vector<long double> magnitude;

  ReducedSystem() = default;
  /// @param ring  the first and the last chunk are neighbours
  /// @param row_of(k)    row of the line that row k belongs to; pivot k is reported for it
  /// @param scale_of(k)  largest entry of that row; the pivot is relative to it
  ReducedSystem(const std::vector<ChunkTables<Wide>> &chunk, bool is_ring,
                const std::function<int(int)> &row_of, const std::function<long double(int)> &scale_of,
                PivotWatch &watch)
      : chunks(static_cast<int>(chunk.size())), separators(chunk[0].own_self.n), ring(is_ring),
        lower(chunks * separators, separators), diag(lower), upper(lower)
  {
    const int S = separators;
    for (int c = 0; c < chunks; ++c) {
      const auto &own       = chunk[static_cast<std::size_t>(c)];
      const bool  has_right = ring || c + 1 < chunks, has_left = ring || c > 0;
      const auto &next = chunk[static_cast<std::size_t>((c + 1) % chunks)];
      for (int a = 0; a < S; ++a)
        for (int b = 0; b < S; ++b) {
          lower(c * S + a, b)                  = has_left ? own.own_left(a, b) : Wide(0),
                           upper(c * S + a, b) = has_right ? next.left_right(a, b) : Wide(0);
          diag(c * S + a, b) = own.own_self(a, b) + (has_right ? next.left_self(a, b) : Wide(0));
        }
    }
    std::vector<long double> scale;
    for (int k = 0; k < chunks * S; ++k) {
      scale.push_back(scale_of(k));
      for (const auto *block : {&lower, &diag, &upper})
        for (int b = 0; b < S; ++b)
          if (const long double size = std::abs((*block)(k, b));
              scale.back() > 0 && size > watch.growth * scale.back())
            watch.growth = size / scale.back();
    }
    invert(scale, [&](const Wide &pivot, int k) {
      watch.see(pivot, scale[static_cast<std::size_t>(k)], row_of(k));
    });
    magnitude = weights();
  }

  /// Whether another step leaves systems of chunks `stride` apart. A ring needs an even number of them.
  bool can_halve() const { return stride < chunks && (!ring || chunks % (2 * stride) == 0); }

  /// A step of parallel cyclic reduction (Hockney & Jesshope 1981) substitutes both neighbours into every
  /// equation: r_c += left_c r_(c-stride) + right_c r_(c+stride). The result couples chunks that are twice
  /// as far apart, and its inverse decays twice as fast from one to the next.
  void halve()
  {
    const int                S = separators, T = chunks;
    ReducedSystem            before = *this;
    std::vector<Dense<Wide>> inverses;
    for (int c = 0; c < T; ++c) {
      Dense<Wide> block(S, S);
      std::copy_n(diag.a.begin() + static_cast<std::ptrdiff_t>(c * S * S), S * S, block.a.begin());
      inverses.push_back(block.inverse([](const Wide &, int) {}));
    }
    left.emplace_back(T * S, S), right.emplace_back(T * S, S);
    lower = upper = Dense<Wide>(T * S, S);
    for (int c = 0; c < T; ++c)
      for (int side = 0; side < 2; ++side) {
        const int q = c + (side == 0 ? -stride : stride), to = (q + T) % T;
        if (!ring && q != to) continue;
        const auto &coupling = side == 0 ? before.lower : before.upper;
        auto       &factor = side == 0 ? left.back() : right.back(), &beyond = side == 0 ? lower : upper;
        const auto &back = side == 0 ? before.upper : before.lower,
                   &far  = side == 0 ? before.lower : before.upper;
        for (int a = 0; a < S; ++a) {
          const int k = c * S + a;
          for (int b = 0; b < S; ++b)
            for (int e = 0; e < S; ++e)
              factor(k, b) -= coupling(k, e) * inverses[static_cast<std::size_t>(to)](e, b);
          for (int e = 0; e < S; ++e) {
            magnitude[static_cast<std::size_t>(k)] +=
              std::abs(factor(k, e)) * before.magnitude[static_cast<std::size_t>(to * S + e)];
            for (int b = 0; b < S; ++b)
              diag(k, b) += factor(k, e) * back(to * S + e, b),
                beyond(k, b) += factor(k, e) * far(to * S + e, b);
          }
        }
      }
    stride *= 2;
    invert(weights(), [](const Wide &, int) {});
  }

  /// Ratio of the rounding errors to those of the product with the inverse of `original`: the largest ratio
  /// of sums of magnitudes. NaN if a step met a singular block.
  long double growth(const ReducedSystem &original) const
  {
    long double most = 0;
    for (int k = 0; k < chunks * separators; ++k) {
      long double mine = 0, its = 0;
      for (int j = 0; j < chunks * separators; ++j)
        mine += std::abs(inverse(k, j)) * magnitude[static_cast<std::size_t>(j)],
          its += std::abs(original.inverse(k, j)) * original.magnitude[static_cast<std::size_t>(j)];
      if (!(mine <= most * its) && most == most) most = mine / its;
    }
    return most;
  }

  /// Blocks to the left and right of the diagonal that matter. Beyond them, |G_cq| times the largest entry
  /// of row q of R is below `tolerance` times the largest such product in block row c.
  int reach(long double tolerance) const
  {
    const auto weight = weights();
    int        k      = 0;
    for (int c = 0; c < chunks; ++c) {
      long double largest = 0;
      auto        size    = [&](int q) {
        long double s = 0;
        for (int a = 0; a < separators; ++a)
          for (int b = 0; b < separators; ++b)
            s = std::max(s, std::abs(inverse(c * separators + a, q * separators + b)) *
                                        weight[static_cast<std::size_t>(q * separators)]);
        return s;
      };
      for (int q = 0; q < chunks; ++q) largest = std::max(largest, size(q));
      for (int q = 0; q < chunks; ++q) {
        int distance = std::abs(q - c);
        if (ring) distance = std::min(distance, chunks - distance);
        if (distance > k * stride && size(q) > tolerance * largest) k = distance / stride;
      }
    }
    return k;
  }

private:
  /// For every row of R, the largest entry of all rows of its chunk.
  std::vector<long double> weights() const
  {
    std::vector<long double> weight;
    for (int q = 0; q < chunks; ++q) {
      const auto  first   = static_cast<std::ptrdiff_t>(q * separators * separators);
      long double largest = 0;
      for (const auto *block : {&lower, &diag, &upper})
        std::for_each_n(block->a.begin() + first, separators * separators,
                        [&](const Wide &entry) { largest = std::max(largest, std::abs(entry)); });
      weight.insert(weight.end(), static_cast<std::size_t>(separators), largest);
    }
    return weight;
  }

  /// The inverse, with rows scaled by the powers of two next to `scale`. see(pivot, k) is called for the
  /// pivots of R.
  template <class See>
  void invert(const std::vector<long double> &scale, const See &see)
  {
    const int                S = separators;
    std::vector<long double> size;
    Dense<Wide>              R(chunks * S, chunks * S);
    for (int k = 0; k < chunks * S; ++k) {
      const long double of_row = scale[static_cast<std::size_t>(k)];
      size.push_back(of_row > 0 && of_row - of_row == 0 ? std::ldexp(1.0L, std::ilogb(of_row)) : 1.0L);
      const int c = k / S;
      for (int b = 0; b < S; ++b) {
        R(k, c * S + b) += diag(k, b);
        if (ring || c >= stride) R(k, (c + chunks - stride) % chunks * S + b) += lower(k, b);
        if (ring || c + stride < chunks) R(k, (c + stride) % chunks * S + b) += upper(k, b);
      }
      for (int j = 0; j < chunks * S; ++j) R(k, j) /= size.back();
    }
    inverse = R.inverse([&](const Wide &pivot, int k) { see(pivot * size[static_cast<std::size_t>(k)], k); });
    for (int k = 0; k < chunks * S; ++k)
      for (int i = 0; i < chunks * S; ++i) inverse(i, k) /= size[static_cast<std::size_t>(k)];
  }
};

} // namespace ribbon
