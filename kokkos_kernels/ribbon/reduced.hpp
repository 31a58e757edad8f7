// SPDX-License-Identifier: BSD-2-Clause
/// @file reduced.hpp  The reduced system of a line: its separators, once every chunk's interior is eliminated.
///
///     R_lower z_(c-1) + R_diag z_c + R_upper z_(c+1) = r_c,    0 <= c < chunks,  indices modulo `chunks` where the line is periodic.
///
/// R is block tridiagonal (a ring where periodic), P x P blocks. Its inverse G is precomputed; of each block row only the window of
/// blocks that have not decayed below rounding is kept.
#pragma once

#include <ribbon/elimination.hpp>

#include <functional>

namespace ribbon {

template <class Scalar, int P>
struct ReducedSystem {
  using Wide           = wide_t<Scalar>;
  int         chunks   = 0;
  bool        periodic = false;
  Dense<Wide> lower, diag, upper; ///< (chunks * P) x P: the blocks of each block row
  Dense<Wide> inverse;            ///< (chunks * P)^2

  ReducedSystem() = default;
  ReducedSystem(const HostMatrix<Scalar, P> &A, const std::vector<ChunkElimination<Scalar, P>> &chunk, const std::function<int(int)> &separator, PivotWatch &watch)
      : chunks(static_cast<int>(chunk.size())), periodic(A.periodic), lower(chunks * P, P), diag(chunks * P, P), upper(chunks * P, P)
  {
    Dense<Wide> R(chunks * P, chunks * P);
    for (int c = 0; c < chunks; ++c) {
      const auto &own       = chunk[static_cast<std::size_t>(c)];
      const bool  has_right = periodic || c + 1 < chunks, has_left = periodic || c > 0;
      const auto &right = chunk[static_cast<std::size_t>((c + 1) % chunks)];
      for (int a = 0; a < P; ++a)
        for (int b = 0; b < P; ++b) {
          Wide l(0), d = A(separator(c) + a, b - a), u(0);
          for (int q = 0; q < P; ++q) {
            d -= own.Ls(a, q) * own.right_last(q, b);
            if (has_left) l -= own.Ls(a, q) * own.left_last(q, b);
            if (has_right) d -= right.Us(a, q) * right.left_first(q, b), u -= right.Us(a, q) * right.right_first(q, b);
          }
          lower(c * P + a, b) = l, diag(c * P + a, b) = d, upper(c * P + a, b) = u;
          R(c * P + a, c * P + b) += d;
          if (has_left) R(c * P + a, (c + chunks - 1) % chunks * P + b) += l;
          if (has_right) R(c * P + a, (c + 1) % chunks * P + b) += u;
        }
    }
    long double scale = 0;
    for (int c = 0; c < chunks; ++c)
      for (int a = 0; a < P; ++a) scale = std::max(scale, A.row_max(separator(c) + a));
    inverse = R.inverse([&](long double pivot, int k) { watch.see(pivot, scale, separator(k / P) + k % P); });
  }

  /// Blocks to the left and right of the diagonal that matter: beyond, |G_cq| times the largest entry of row q of R is below
  /// `tolerance` times the largest such product in block row c.
  int reach(long double tolerance) const
  {
    std::vector<long double> weight(static_cast<std::size_t>(chunks), 0);
    for (int q = 0; q < chunks * P; ++q)
      for (int b = 0; b < P; ++b)
        for (const auto *block : {&lower, &diag, &upper}) weight[static_cast<std::size_t>(q / P)] = std::max(weight[static_cast<std::size_t>(q / P)], std::abs((*block)(q, b)));
    int k = 0;
    for (int c = 0; c < chunks; ++c) {
      long double largest = 0;
      auto        size    = [&](int q) {
        long double s = 0;
        for (int a = 0; a < P; ++a)
          for (int b = 0; b < P; ++b) s = std::max(s, std::abs(inverse(c * P + a, q * P + b)) * weight[static_cast<std::size_t>(q)]);
        return s;
      };
      for (int q = 0; q < chunks; ++q) largest = std::max(largest, size(q));
      for (int q = 0; q < chunks; ++q) {
        int distance = std::abs(q - c);
        if (periodic) distance = std::min(distance, chunks - distance);
        if (distance > k && size(q) > tolerance * largest) k = distance;
      }
    }
    return k;
  }
};

} // namespace ribbon
