// SPDX-License-Identifier: BSD-2-Clause
/// @file block_thomas_factor.hpp  Factors of block tridiagonal lines on hosts, one matrix per line or one
///   for all lines: the lines of a tile are SIMD lanes.
///
/// A = L U is computed unknown by unknown, without row exchanges. This is the elimination of a band with 2
/// B - 1 diagonals on either side, so that the certificate of bands holds (certificate.hpp). Inverses of
/// blocks would have no certificate. If row exchanges are necessary, there is no certificate either, and
/// looped.hpp solves the lines.
#pragma once

#include <ribbon/algorithm/whole_lines/certified_factor.hpp>
#include <ribbon/algorithm/whole_lines/component_units.hpp>
#include <ribbon/algorithm/whole_lines/looped.hpp>
#include <ribbon/host/tile_lines.hpp>

namespace ribbon {

/// Layout of the factors: tile by tile, and row by row in a tile. A row has the entries of three blocks, and
/// the lanes of an entry are consecutive. M is L left of the diagonal block, D is L and U of the diagonal
/// block with reciprocal pivots, and C is U right of the diagonal block.
template <class Scalar>
struct BlockTiles {
  using Pack                 = typename host::PackOf<Scalar>::type;
  static constexpr int width = static_cast<int>(sizeof(Pack) / sizeof(Scalar)), packs = 4,
                       lanes = packs * width;

  Scalar      *words;
  std::int64_t rows, count; ///< rows of blocks, lines
  int          block;
  Scalar *border = nullptr; ///< of periodic lines alone, which have rows + 1 rows of blocks (ring_border.hpp)

  std::int64_t tiles() const { return (count + lanes - 1) / lanes; }
  std::size_t  size() const { return static_cast<std::size_t>(tiles() * rows * 3 * block * block * lanes); }
  Scalar      *row(std::int64_t tile, std::int64_t i) const
  {
    return words + (tile * rows + i) * 3 * block * block * lanes;
  }
  /// Values of a tile of right-hand sides.
  std::int64_t room() const { return (rows + (border ? 1 : 0)) * block * lanes; }
  /// Block i of the border: Z_i for i < rows, then both blocks of H, then S^-1.
  Scalar *border_row(std::int64_t tile, std::int64_t i) const
  {
    return border + (tile * (rows + 3) + i) * block * block * lanes;
  }
  std::size_t border_size() const
  {
    return static_cast<std::size_t>(tiles() * (rows + 3) * block * block * lanes);
  }
};

/// Factors the lines of a tile: all at once if the tile is full, otherwise in packs, and the remaining
/// lines one by one. The reduction finds the smallest pivot (SmallestPivot). B is known at run time only: a
/// kernel for each B takes 10% less time for B = 2, and no less for larger blocks.
template <class Scalar>
struct BlockFactorTiles {
  using Real     = real_t<Scalar>;
  using Tiles    = BlockTiles<Scalar>;
  using Watch    = SmallestPivot<Real>;
  using Smallest = typename Watch::value_type;
  template <class Pack>
  using Of                   = CertifiedPack<Scalar, Pack>;
  static constexpr int lanes = Tiles::lanes, room = most_block;

  BandEntries<Scalar, Kokkos::HostSpace> entry; ///< kl = ku = 1, not periodic
  Tiles                                  factors;
  Real                                  *rcond;     ///< lower bound for each line; -1: no certificate
  Real                                   tolerance; ///< a line with a pivot at or below it is bad
  ComponentUnits<Real>                   units = {};

  void operator()(const std::int64_t t, Smallest &smallest) const
  {
    const std::int64_t first = t * lanes, end = std::min(first + lanes, factors.count);
    std::vector<Real>  z(static_cast<std::size_t>(factors.room()));
    if (end - first == lanes)
      return host::with_widest_vectors_of_host(
        [&] { factor<typename Tiles::Pack, Tiles::packs>(first, 0, z.data(), smallest); });
    std::int64_t l = first;
    if constexpr (Tiles::width > 1)
      for (; l + Tiles::width <= end; l += Tiles::width)
        host::with_widest_vectors_of_host(
          [&] { factor<typename Tiles::Pack, 1>(l, static_cast<int>(l - first), z.data(), smallest); });
    for (; l < end; ++l) factor<Scalar, 1>(l, static_cast<int>(l - first), z.data(), smallest);
  }

private:
  /// Values of a row of blocks that the next row needs: sums of the magnitudes of the rows of U, and
  /// z = M(L)^-1 (row sums of A).
  template <class Sizes, int N>
  struct Carried {
    Sizes of_u[room][N], z[room][N];
  };

  /// Prefetches row i of the lines of the next tile: its entries are far apart, in pages that processors do
  /// not prefetch.
  void fetch_next(std::int64_t l, std::int64_t i) const
  {
    constexpr int line = 64 / static_cast<int>(sizeof(Scalar));
    if (l + 2 * lanes > factors.count || entry.alpha.data()) return;
    for (int e = 0; e < static_cast<int>(entry.values.extent(2)); ++e)
      for (int k = 0; k < lanes; k += line) host::prefetch(&entry.values(l + lanes + k, i, e));
  }

  /// Factors N packs of lines. The first is line `l`, which is lane `lane` of its tile.
  /// @param z  workspace of factors.room() values
  template <class Pack, int N>
  void factor(std::int64_t l, int lane, Real *z, Smallest &smallest) const
  {
    using Sizes         = typename Of<Pack>::Sizes;
    using Places        = typename Of<Pack>::Places;
    constexpr int     w = Of<Pack>::lanes;
    const int         B = factors.block, words = 3 * B * B * lanes;
    Scalar *const     at     = factors.row(l / lanes, 0) + lane;
    Carried<Sizes, N> before = {}, now;
    Sizes             least[N], unproved[N], sum[room][N], pivot[room][N];
    Places            place[N];
    for (int k = 0; k < N; ++k) least[k] = Sizes{} + Real(1e30f), unproved[k] = Sizes{}, place[k] = Places{};
    for (std::int64_t i = 0; i < entry.rows; ++i) {
      Scalar *const row = at + i * words;
      Sizes         largest[room][N];
      if constexpr (N > 1) fetch_next(l, i);
      for (int a = 0; a < B; ++a) read<Pack, N>(l, i, a, row, sum[a], largest[a], unproved);
      if (i > 0) eliminate<Pack, N>(row, row - words);
      for (int a = 0; a < B; ++a) {
        divide<Pack, N>(row, a, pivot[a]);
        for (int k = 0; k < N; ++k) {
          const Sizes junk     = (pivot[a][k] - pivot[a][k]) + (sum[a][k] - sum[a][k]);
          Sizes       relative = largest[a][k] > Real(0) ? pivot[a][k] * units[a] / largest[a][k] : Sizes{};
          relative             = junk == Real(0) ? relative : Sizes{} - Real(1);
          // a zero pivot remains the smallest: later pivots are infinite because of it
          const auto smaller = (relative < least[k]) & (least[k] != Real(0));
          least[k]           = smaller ? relative : least[k];
          place[k] = smaller ? Places{} + static_cast<decltype(Of<Pack>::lane(place[k], 0))>(i) : place[k];
        }
      }
      prove<Pack, N>(row, sum, pivot, before, now, unproved);
      before = now;
      for (int a = 0; a < B; ++a)
        for (int k = 0; k < N; ++k)
          host::store_pack(now.z[a][k], z + (i * B + a) * lanes + lane + k * w, false);
    }
    Sizes most[N], first[N];
    bound<Pack, N>(at, z + lane, most, first);
    for (int k = 0; k < N; ++k)
      for (int e = 0; e < w; ++e) {
        const std::int64_t line    = l + k * w + e;
        const Real         largest = Of<Pack>::lane(most[k], e), last = Of<Pack>::lane(first[k], e);
        rcond[line] =
          Of<Pack>::lane(unproved[k], e) == 0 && is_finite(largest) && is_finite(last) && largest > 0
            ? 1 / largest
            : Real(-1);
        Smallest mine = Watch::start(line * entry.rows);
        mine.val      = Of<Pack>::lane(least[k], e),
        mine.loc      = line * entry.rows + static_cast<std::int64_t>(Of<Pack>::lane(place[k], e));
        Watch::finish(mine, tolerance, smallest);
      }
  }

  /// Copies row a of a row of blocks to the factors. Finds the sum of its magnitudes, its largest entry, and
  /// whether its diagonal entry is too small for a certificate.
  template <class Pack, int N, class Sizes>
  void read(std::int64_t l, std::int64_t i, int a, Scalar *row, Sizes (&sum)[N], Sizes (&largest)[N],
            Sizes (&unproved)[N]) const
  {
    const int B = factors.block;
    Sizes     diagonal[N];
    for (int k = 0; k < N; ++k) sum[k] = largest[k] = diagonal[k] = Sizes{};
    for (int d = -1; d <= 1; ++d)
      for (int b = 0; b < B; ++b) RIBBON_UNROLL_PACKS
    for (int k = 0; k < N; ++k) {
      Pack  v;
      Sizes s;
      Of<Pack>::load(entry, l + k * Of<Pack>::lanes, i, d, a, b, v);
      host::store_pack(v, row + (((d + 1) * B + a) * B + b) * lanes + k * Of<Pack>::lanes, false);
      Of<Pack>::take_size(v, s);
      s *= units[b], sum[k] += s;
      largest[k] = s > largest[k] ? s : largest[k];
      if (d == 0 && a == b) diagonal[k] = s;
    }
    for (int k = 0; k < N; ++k)
      unproved[k] = diagonal[k] * Real(16) >= largest[k] ? unproved[k] : Sizes{} + Real(1);
  }

  /// M <- M U^-1, D <- D - M C, with U and C of the row of blocks above.
  template <class Pack, int N>
  void eliminate(Scalar *row, const Scalar *above) const
  {
    const int     B = factors.block;
    Scalar *const M = row, *const D = row + B * B * lanes;
    const Scalar *const U = above + B * B * lanes, *const C = above + 2 * B * B * lanes;
    for (int a = 0; a < B; ++a)
      for (int b = 0; b < B; ++b) {
        Pack m[N], u;
        load<Pack, N>(M, a * B + b, m);
        for (int c = 0; c < b; ++c) RIBBON_UNROLL_PACKS
        for (int k = 0; k < N; ++k) {
          Pack left;
          load_one(M, a * B + c, k, left), load_one(U, c * B + b, k, u);
          m[k] -= left * u;
        }
        for (int k = 0; k < N; ++k) load_one(U, b * B + b, k, u), m[k] *= u;
        store<Pack, N>(M, a * B + b, m);
        subtract<Pack, N>(D + a * B * lanes, m, C + b * B * lanes, 0);
      }
  }

  /// Eliminates unknown a of the diagonal block from the rows below it in this row of blocks.
  template <class Pack, int N, class Sizes>
  void divide(Scalar *row, int a, Sizes (&pivot)[N]) const
  {
    const int     B = factors.block;
    Scalar *const D = row + B * B * lanes, *const C = row + 2 * B * B * lanes;
    Pack inv[N];
    load<Pack, N>(D, a * B + a, inv);
    for (int k = 0; k < N; ++k) Of<Pack>::take_size(inv[k], pivot[k]), inv[k] = Scalar(1) / inv[k];
    store<Pack, N>(D, a * B + a, inv);
    for (int r = a + 1; r < B; ++r) {
      Pack m[N];
      load<Pack, N>(D, r * B + a, m);
      for (int k = 0; k < N; ++k) m[k] *= inv[k];
      store<Pack, N>(D, r * B + a, m);
      subtract<Pack, N>(D + r * B * lanes, m, D + a * B * lanes, a + 1);
      subtract<Pack, N>(C + r * B * lanes, m, C + a * B * lanes, 0);
    }
  }

  /// Compares the row sums of |L| |U| with those of |A|, and continues the solve z = M(L)^-1 (row sums of A).
  template <class Pack, int N, class Sizes>
  void prove(const Scalar            *row, const Sizes (&sum)[room][N], const Sizes (&pivot)[room][N],
             const Carried<Sizes, N> &before, Carried<Sizes, N> &now, Sizes (&unproved)[N]) const
  {
    const int           B      = factors.block;
    const Real          growth = static_cast<Real>(Certificate::growth(2 * B - 1));
    const Scalar *const M = row, *const D = row + B * B * lanes, *const C = row + 2 * B * B * lanes;
    for (int a = 0; a < B; ++a) RIBBON_UNROLL_PACKS
    for (int k = 0; k < N; ++k) {
      Sizes of_u = pivot[a][k] * units[a], lu{}, z = sum[a][k];
      for (int b = 0; b < B; ++b) {
        Pack  v;
        Sizes s;
        load_one(M, a * B + b, k, v), Of<Pack>::take_size(v, s);
        lu += s * before.of_u[b][k], z += s * before.z[b][k];
        load_one(C, a * B + b, k, v), Of<Pack>::take_size(v, s);
        of_u += s * units[b];
        if (b == a) continue;
        load_one(D, a * B + b, k, v), Of<Pack>::take_size(v, s);
        if (b < a) lu += s * now.of_u[b][k], z += s * now.z[b][k];
        else of_u += s * units[b];
      }
      now.of_u[a][k] = of_u, now.z[a][k] = z;
      unproved[k] = lu + of_u <= growth * sum[a][k] ? unproved[k] : Sizes{} + Real(1);
    }
  }

  /// The largest entry of M(U)^-1 z, divided by the units, and the last computed entry, which is NaN if any
  /// entry is.
  template <class Pack, int N, class Sizes>
  void bound(const Scalar *at, const Real *z, Sizes (&most)[N], Sizes (&last)[N]) const
  {
    const int B = factors.block, words = 3 * B * B * lanes;
    Sizes     y[room][N] = {}, y_next[room][N] = {};
    for (int k = 0; k < N; ++k) most[k] = last[k] = Sizes{};
    for (std::int64_t i = entry.rows - 1; i >= 0; --i) {
      const Scalar *const D = at + i * words + B * B * lanes, *const C = D + B * B * lanes;
      for (int a = B - 1; a >= 0; --a) RIBBON_UNROLL_PACKS
      for (int k = 0; k < N; ++k) {
        Pack  v;
        Sizes s, t;
        host::load_pack(z + (i * B + a) * lanes + k * Of<Pack>::lanes, t);
        for (int c = a + 1; c < B; ++c)
          load_one(D, a * B + c, k, v), Of<Pack>::take_size(v, s), t += s * y[c][k];
        for (int c = 0; c < B; ++c)
          load_one(C, a * B + c, k, v), Of<Pack>::take_size(v, s), t += s * y_next[c][k];
        load_one(D, a * B + a, k, v), Of<Pack>::take_size(v, s);
        t *= s;
        y[a][k] = last[k] = t;
        t *= Real(1) / units[a];
        most[k] = t > most[k] ? t : most[k];
      }
      for (int a = 0; a < B; ++a)
        for (int k = 0; k < N; ++k) y_next[a][k] = y[a][k];
    }
  }

  template <class Pack>
  static void load_one(const Scalar *words, int e, int k, Pack &v)
  {
    host::load_pack(words + e * lanes + k * Of<Pack>::lanes, v);
  }
  template <class Pack, int N>
  static void load(const Scalar *words, int e, Pack (&v)[N])
  {
    for (int k = 0; k < N; ++k) load_one(words, e, k, v[k]);
  }
  template <class Pack, int N>
  static void store(Scalar *words, int e, const Pack (&v)[N])
  {
    for (int k = 0; k < N; ++k) host::store_pack(v[k], words + e * lanes + k * Of<Pack>::lanes, false);
  }
  /// to[c] -= m from[c] for c >= first.
  template <class Pack, int N>
  void subtract(Scalar *to, const Pack (&m)[N], const Scalar *from, int first) const
  {
    const int B = factors.block;
    for (int c = first; c < B; ++c) RIBBON_UNROLL_PACKS
    for (int k = 0; k < N; ++k) {
      Pack v, u;
      load_one(to, c, k, v), load_one(from, c, k, u);
      v -= m[k] * u;
      host::store_pack(v, to + c * lanes + k * Of<Pack>::lanes, false);
    }
  }
};

} // namespace ribbon
