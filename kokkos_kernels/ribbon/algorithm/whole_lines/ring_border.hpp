// SPDX-License-Identifier: BSD-2-Clause
/// @file ring_border.hpp  The last row of blocks of periodic block tridiagonal lines on hosts, which borders the other
///   rows.
///
///     A = | T  G |    S = D - H Z,  Z = T^-1 G
///         | H  D |    x_n = S^-1 (f_n - H y),  x = y - Z x_n,  y = T^-1 f
///
/// T is block tridiagonal, and BlockFactorTiles factors it. G couples its first and its last row with the last row of
/// A, and H couples that row with these two. No certificate covers S: the probe checks the solves.
#pragma once

#include <ribbon/algorithm/whole_lines/block_thomas.hpp>

namespace ribbon {

/// Finds Z and S^-1 of the lines of a tile after T is factored. The reduction finds the smallest pivot of S
/// (SmallestPivot), in the last row.
template <class Scalar>
struct RingBorderTiles {
  using Real                 = real_t<Scalar>;
  using Tiles                = BlockTiles<Scalar>;
  using Watch                = SmallestPivot<Real>;
  using Smallest             = typename Watch::value_type;
  static constexpr int lanes = Tiles::lanes;

  BandEntries<Scalar, Kokkos::HostSpace> entry; ///< of A: periodic, kl = ku = 1
  Tiles                                  factors;
  Real                                   tolerance; ///< a line with a pivot at or below it is bad

  void operator()(const std::int64_t t, Smallest &smallest) const
  {
    const int           B     = factors.block;
    const std::int64_t  first = t * lanes, end_of_T = factors.rows - 1;
    const int           count = static_cast<int>(std::min<std::int64_t>(lanes, factors.count - first));
    std::vector<Scalar> column(static_cast<std::size_t>(factors.room()) + 64 / sizeof(Scalar));
    auto *const         tile =
      reinterpret_cast<Scalar *>((reinterpret_cast<std::uintptr_t>(column.data()) + 63) / 64 * 64);
    for (int c = 0; c < B; ++c) { // Z, column by column
      std::fill(tile, tile + factors.room(), Scalar(0));
      for (int a = 0; a < B; ++a)
        for (int l = 0; l < count; ++l) {
          tile[a * lanes + l]                  = entry(first + l, 0, -1, a, c);
          tile[(end_of_T * B + a) * lanes + l] = entry(first + l, end_of_T, 1, a, c);
        }
      host::with_widest_vectors_of_host([&] { BlockSweep<Scalar>{factors}(t, tile); });
      for (std::int64_t i = 0; i < factors.rows; ++i)
        for (int a = 0; a < B; ++a)
          std::copy_n(tile + (i * B + a) * lanes, lanes, factors.border_row(t, i) + (a * B + c) * lanes);
    }
    for (int l = 0; l < count; ++l) join(t, l, smallest);
  }

private:
  /// Stores H and S^-1 of lane l.
  void join(std::int64_t t, int l, Smallest &smallest) const
  {
    const int          B = factors.block, BB = B * B * lanes;
    const std::int64_t n = factors.rows, line = t * lanes + l;
    Scalar *const      H = factors.border_row(t, n) + l; // two blocks, then S^-1
    Scalar             S[most_block][2 * most_block];
    Real               largest[most_block];
    const auto         z = [&](std::int64_t i, int a, int b) {
      return factors.border_row(t, i)[(a * B + b) * lanes + l];
    };
    for (int a = 0; a < B; ++a) {
      largest[a] = entry.row_max(line, n, a);
      for (int b = 0; b < B; ++b) {
        H[(a * B + b) * lanes]      = entry(line, n, -1, a, b);
        H[BB + (a * B + b) * lanes] = entry(line, n, 1, a, b);
        S[a][b]                     = entry(line, n, 0, a, b);
        S[a][B + b]                 = Scalar(a == b ? 1 : 0);
      }
    }
    for (int a = 0; a < B; ++a)
      for (int b = 0; b < B; ++b)
        for (int c = 0; c < B; ++c)
          S[a][b] -= H[(a * B + c) * lanes] * z(n - 1, c, b) + H[BB + (a * B + c) * lanes] * z(0, c, b);
    Smallest mine = Watch::start(line * (n + 1));
    for (int c = 0; c < B; ++c) {
      int p = c;
      for (int a = c + 1; a < B; ++a)
        if (magnitude(S[a][c]) > magnitude(S[p][c])) p = a;
      if (p != c) {
        std::swap(largest[p], largest[c]);
        for (int b = 0; b < 2 * B; ++b) std::swap(S[p][b], S[c][b]);
      }
      Watch::see(magnitude(S[c][c]), largest[c], line * (n + 1) + n, mine);
      const Scalar inverse = Scalar(1) / S[c][c];
      for (int b = 0; b < 2 * B; ++b) S[c][b] *= inverse;
      for (int a = 0; a < B; ++a) {
        if (a == c) continue;
        const Scalar m = S[a][c];
        for (int b = 0; b < 2 * B; ++b) S[a][b] -= m * S[c][b];
      }
    }
    for (int a = 0; a < B; ++a)
      for (int b = 0; b < B; ++b) H[2 * BB + (a * B + b) * lanes] = S[a][B + b];
    Watch::finish(mine, tolerance, smallest);
  }
};

} // namespace ribbon
