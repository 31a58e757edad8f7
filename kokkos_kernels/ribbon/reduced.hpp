// SPDX-License-Identifier: BSD-2-Clause
/// @file reduced.hpp  The reduced system of a line: its separators, once every chunk's interior is eliminated.
///
///     R_lower z_(c-1) + R_diag z_c + R_upper z_(c+1) = r_c,    0 <= c < chunks,  indices modulo `chunks` where the line is periodic.
///
/// R is block tridiagonal (a ring where periodic), S x S blocks. Its inverse G is precomputed; of each block row only the window of
/// blocks that have not decayed below rounding is kept.
#pragma once

#include <ribbon/elimination.hpp>

#include <functional>

namespace ribbon {

template <class Scalar>
struct ReducedSystem {
  using Wide             = wide_t<Scalar>;
  int         chunks     = 0;
  int         separators = 0; ///< S: R has S x S blocks
  bool        ring       = false;
  Dense<Wide> lower, diag, upper; ///< (chunks * S) x S: the blocks of each block row
  Dense<Wide> inverse;            ///< (chunks * S)^2

  ReducedSystem() = default;
  /// @param ring  the first and the last chunk are neighbours
  /// @param row_of(k)    row of the line that row k comes from, which pivot k is reported for
  /// @param scale_of(k)  largest entry of that row, which the pivot is relative to
  ReducedSystem(const std::vector<ChunkTables<Wide>> &chunk, bool is_ring, const std::function<int(int)> &row_of, const std::function<long double(int)> &scale_of, PivotWatch &watch)
      : chunks(static_cast<int>(chunk.size())), separators(chunk[0].own_self.n), ring(is_ring), lower(chunks * separators, separators), diag(lower), upper(lower)
  {
    const int   S = separators;
    Dense<Wide> R(chunks * S, chunks * S);
    for (int c = 0; c < chunks; ++c) {
      const auto &own       = chunk[static_cast<std::size_t>(c)];
      const bool  has_right = ring || c + 1 < chunks, has_left = ring || c > 0;
      const auto &right = chunk[static_cast<std::size_t>((c + 1) % chunks)];
      for (int a = 0; a < S; ++a)
        for (int b = 0; b < S; ++b) {
          const Wide l = has_left ? own.own_left(a, b) : Wide(0), u = has_right ? right.left_right(a, b) : Wide(0);
          const Wide d        = own.own_self(a, b) + (has_right ? right.left_self(a, b) : Wide(0));
          lower(c * S + a, b) = l, diag(c * S + a, b) = d, upper(c * S + a, b) = u;
          R(c * S + a, c * S + b) += d;
          if (has_left) R(c * S + a, (c + chunks - 1) % chunks * S + b) += l;
          if (has_right) R(c * S + a, (c + 1) % chunks * S + b) += u;
        }
    }
    std::vector<long double> scale, size; // of rows, and the power of two next to it
    for (int k = 0; k < chunks * S; ++k) {
      scale.push_back(scale_of(k));
      size.push_back(scale.back() > 0 && scale.back() - scale.back() == 0 ? std::ldexp(1.0L, std::ilogb(scale.back())) : 1.0L);
      for (int j = 0; j < chunks * S; ++j) R(k, j) /= size.back();
    }
    inverse = R.inverse([&](const Wide &pivot, int k) { watch.see(pivot * size[static_cast<std::size_t>(k)], scale[static_cast<std::size_t>(k)], row_of(k)); });
    for (int k = 0; k < chunks * S; ++k)
      for (int i = 0; i < chunks * S; ++i) inverse(i, k) /= size[static_cast<std::size_t>(k)];
  }

  /// Blocks to the left and right of the diagonal that matter: beyond, |G_cq| times the largest entry of row q of R is below
  /// `tolerance` times the largest such product in block row c.
  int reach(long double tolerance) const
  {
    std::vector<long double> weight(static_cast<std::size_t>(chunks), 0);
    for (int q = 0; q < chunks * separators; ++q)
      for (int b = 0; b < separators; ++b)
        for (const auto *block : {&lower, &diag, &upper}) weight[static_cast<std::size_t>(q / separators)] = std::max(weight[static_cast<std::size_t>(q / separators)], std::abs((*block)(q, b)));
    int k = 0;
    for (int c = 0; c < chunks; ++c) {
      long double largest = 0;
      auto        size    = [&](int q) {
        long double s = 0;
        for (int a = 0; a < separators; ++a)
          for (int b = 0; b < separators; ++b) s = std::max(s, std::abs(inverse(c * separators + a, q * separators + b)) * weight[static_cast<std::size_t>(q)]);
        return s;
      };
      for (int q = 0; q < chunks; ++q) largest = std::max(largest, size(q));
      for (int q = 0; q < chunks; ++q) {
        int distance = std::abs(q - c);
        if (ring) distance = std::min(distance, chunks - distance);
        if (distance > k && size(q) > tolerance * largest) k = distance;
      }
    }
    return k;
  }
};

} // namespace ribbon
