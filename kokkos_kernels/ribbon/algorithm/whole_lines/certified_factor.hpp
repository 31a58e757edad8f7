// SPDX-License-Identifier: BSD-2-Clause
/// @file certified_factor.hpp  Factors one band matrix per line, not periodic, and computes certificates
///   (certificate.hpp).
///
/// A forward pass eliminates and checks row sums of |L| |U|. A backward pass bounds the inverse. On a
/// device a thread has a line. On a host the lines of a tile are the SIMD direction, and a tile stays in
/// the cache between the two passes.
#pragma once

#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/elimination/certificate.hpp>
#include <ribbon/host/vectors.hpp>

#include <algorithm>
#include <vector>

namespace ribbon {

/// Lanes of one pack, which is a scalar or a vector of scalars.
template <class Scalar, class Pack>
struct CertifiedPack {
  using Real                  = real_t<Scalar>;
  static constexpr int  lanes = static_cast<int>(sizeof(Pack) / sizeof(Scalar));
  static constexpr bool alone = std::is_same_v<Pack, Scalar>;
  using Sizes                 = std::conditional_t<alone, Real, Pack>;
  using Places                = std::conditional_t<alone, std::int64_t, decltype(Sizes() < Sizes())>;

  KOKKOS_FUNCTION static void take_size(const Pack &a, Sizes &size)
  {
    if constexpr (alone) size = magnitude(a);
    else size = a < Real(0) ? -a : a;
  }
  /// Entries (i, i + d) of the matrices from c on, with the indices (a, b) in blocks.
  template <class Memory>
  KOKKOS_FUNCTION static void load(const BandEntries<Scalar, Memory> &entry, std::int64_t c, std::int64_t i,
                                   int d, int a, int b, Pack &to)
  {
    to = Pack{};
    if (d < -entry.lower || d > entry.upper || i + d < 0 || i + d >= entry.rows) return;
    if constexpr (alone) to = entry(c, i, d, a, b);
    else if (entry.alpha.data())
      for (int l = 0; l < lanes; ++l) to[l] = entry(c + l, i, d, a, b);
    else
      host::load_pack(
        &entry.values(c,
                      repeated_row(i, static_cast<std::int64_t>(entry.values.extent(1)) / 2, entry.repeats),
                      ((d + entry.lower) * entry.block + a) * entry.block + b),
        to);
  }
  template <class Any>
  KOKKOS_FUNCTION static auto lane(const Any &a, [[maybe_unused]] int e)
  {
    if constexpr (std::is_arithmetic_v<Any>) return a;
    else return a[e];
  }
};

/// Writes the words of PerLineFactors, and a lower bound of the reciprocal condition number of every matrix.
template <class Scalar, int P, class Memory>
struct CertifiedFactorKernel {
  using Real                 = real_t<Scalar>;
  using Watch                = SmallestPivot<Real>;
  using Smallest             = typename Watch::value_type;
  static constexpr int width = 1 + 2 * P; ///< words of a row

  BandEntries<Scalar, Memory> entry; ///< kl, ku <= P, not periodic
  Scalar                     *words;
  std::int64_t                count;
  Real                       *rcond;     ///< of each line; -1: no certificate
  Real                       *work;      ///< rows * count values; null on hosts
  Real                        tolerance; ///< a line with a pivot at or below it is bad

  template <class Pack>
  KOKKOS_FUNCTION void store(std::int64_t l, std::int64_t i, int word, const Pack &a) const
  {
    host::store_pack(a, words + (i * width + word) * count + l, false);
  }

  /// Prefetches row i of the lines of the next tile: rows are far apart, in pages that processors do not
  /// prefetch.
  KOKKOS_FUNCTION void fetch_next(std::int64_t first, std::int64_t i) const
  {
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(Scalar)), ahead = 2 * line;
    if (first + ahead > count) return;
    for (int d = 0; d < static_cast<int>(entry.values.extent(2)) && !entry.alpha.data(); ++d)
      for (std::int64_t e = 0; e < ahead; e += line) host::prefetch(&entry.values(first + e, i, d));
    for (int w = 0; w < width; ++w)
      for (std::int64_t e = 0; e < ahead; e += line)
        host::prefetch(words + (i * width + w) * count + first + e);
  }

  /// Factors N packs of lines from l on. One function, because the last P rows of all packs are local arrays
  /// that stay in registers from row to row: each part of a row reads and replaces them.
  /// @param z  workspace of rows * step values
  template <class Pack, int N>
  KOKKOS_FUNCTION void factor(std::int64_t l, Real *z, std::int64_t step, Smallest &smallest) const
  {
    using Of                = CertifiedPack<Scalar, Pack>;
    using Sizes             = typename Of::Sizes;
    using Places            = typename Of::Places;
    constexpr int lanes     = Of::lanes;
    const auto    take_size = [](const Pack &a, Sizes &size) { Of::take_size(a, size); };
    const auto    lane      = [](const auto &a, int e) { return Of::lane(a, e); };
    Pack          u[P][P][N]; // u[q]: -U of row i - 1 - q
    Sizes         row_of_u[P][N], z_of[P][N], least[N], unproved[N];
    Places        place[N];
    for (int k = 0; k < N; ++k) {
      for (int q = 0; q < P; ++q) {
        for (int p = 0; p < P; ++p) u[q][p][k] = Pack{};
        row_of_u[q][k] = z_of[q][k] = Sizes{};
      }
      least[k] = Sizes{} + Real(1e30f), unproved[k] = Sizes{}, place[k] = Places{};
    }
    for (std::int64_t i = 0; i < entry.rows; ++i) {
      if constexpr (N > 1) fetch_next(l + N * lanes, i);
      RIBBON_UNROLL_PACKS
      for (int k = 0; k < N; ++k) {
        const std::int64_t c = l + k * lanes;
        Pack               a[2 * P + 1], multiplier[P];
        Sizes              sum{}, largest{}, junk{};
        for (int d = -P; d <= P; ++d) {
          Of::load(entry, c, i, d, 0, 0, a[d + P]);
          Sizes s;
          take_size(a[d + P], s);
          sum += s, junk += s - s;
          largest = s > largest ? s : largest;
        }
        Sizes diagonal, pivot, size;
        take_size(a[P], diagonal);
        for (int q = P - 1; q >= 0; --q) {
          multiplier[q] = a[P - 1 - q];
          for (int p = 0; p < P; ++p) a[P - q + p] += multiplier[q] * u[q][p][k];
        }
        take_size(a[P], pivot);
        Sizes relative = largest > Real(0) ? pivot / largest : Sizes{};
        junk += pivot - pivot;
        relative = junk == Real(0) ? relative : Sizes{} - Real(1);
        // values after a zero pivot are infinite because of it
        const auto smaller = (relative < least[k]) & (least[k] != Real(0));
        least[k]           = smaller ? relative : least[k];
        place[k]           = smaller ? Places{} + static_cast<decltype(lane(place[k], 0))>(i) : place[k];
        const Pack inv     = Scalar(1) / a[P];
        Sizes      lu = pivot, bound = sum, above = Sizes{} + Real(1);
        for (int q = 0; q < P; ++q) {
          take_size(a[P + 1 + q], size);
          lu += size;
          take_size(multiplier[q], size);
          lu += size * row_of_u[q][k], bound += size * z_of[q][k];
        }
        constexpr Real growth = static_cast<Real>(Certificate::growth(P));
        const auto     proved = (lu <= growth * sum) & (diagonal * Real(16) >= largest);
        unproved[k]           = proved ? unproved[k] : Sizes{} + Real(1);
        for (int q = P - 1; q > 0; --q) {
          for (int p = 0; p < P; ++p) u[q][p][k] = u[q - 1][p][k];
          row_of_u[q][k] = row_of_u[q - 1][k], z_of[q][k] = z_of[q - 1][k];
        }
        store(c, i, 0, inv);
        for (int q = 0; q < P; ++q) {
          u[0][q][k] = -a[P + 1 + q] * inv;
          take_size(u[0][q][k], size);
          above += size;
          store(c, i, 1 + q, Pack(-multiplier[q] * inv));
          store(c, i, 1 + P + q, u[0][q][k]);
        }
        row_of_u[0][k] = above;
        take_size(inv, size);
        z_of[0][k] = bound * size;
        host::store_pack(z_of[0][k], z + i * step + k * lanes, false);
      }
    }
    Sizes y[P][N], most[N];
    for (int k = 0; k < N; ++k) {
      for (int q = 0; q < P; ++q) y[q][k] = Sizes{};
      most[k] = Sizes{};
    }
    for (std::int64_t i = entry.rows - 1; i >= 0; --i) {
      RIBBON_UNROLL_PACKS
      for (int k = 0; k < N; ++k) {
        Sizes t;
        host::load_pack(z + i * step + k * lanes, t);
        for (int q = 0; q < P; ++q) {
          Pack  above;
          Sizes size;
          host::load_pack(words + (i * width + 1 + P + q) * count + l + k * lanes, above);
          take_size(above, size);
          t += size * y[q][k];
        }
        for (int q = P - 1; q > 0; --q) y[q][k] = y[q - 1][k];
        y[0][k] = t;
        most[k] = t > most[k] ? t : most[k];
      }
    }
    for (int k = 0; k < N; ++k)
      for (int e = 0; e < lanes; ++e) {
        const std::int64_t line    = l + k * lanes + e;
        const Real         largest = lane(most[k], e), first = lane(y[0][k], e); // NaN reaches y[0]
        rcond[line]   = lane(unproved[k], e) == 0 && is_finite(largest) && is_finite(first) && largest > 0
                          ? 1 / largest
                          : Real(-1);
        Smallest mine = Watch::start(line * entry.rows);
        mine.val      = lane(least[k], e),
        mine.loc      = line * entry.rows + static_cast<std::int64_t>(lane(place[k], e));
        Watch::finish(mine, tolerance, smallest);
      }
  }

  /// One line.
  KOKKOS_FUNCTION void operator()(const std::int64_t l, Smallest &smallest) const
  {
    factor<Scalar, 1>(l, work + l, count, smallest);
  }
};

/// The same on a host: a tile of lines at a time, the remaining lines one by one.
template <class Scalar, int P, class Memory>
struct CertifiedFactorTiles {
  using Kernel   = CertifiedFactorKernel<Scalar, P, Memory>;
  using Smallest = typename Kernel::Smallest;
  using Pack     = typename host::PackOf<Scalar>::type;
  /// several reciprocals are computed at a time
  static constexpr int packs = std::is_same_v<Pack, Scalar> ? 1 : P > 2 ? 2 : 4;
  static constexpr int lanes = packs * CertifiedPack<Scalar, Pack>::lanes;

  Kernel       kernel;
  std::int64_t tiles() const { return (kernel.count + lanes - 1) / lanes; }

  void operator()(const std::int64_t t, Smallest &smallest) const
  {
    const std::int64_t                 first = t * lanes, end = std::min(first + lanes, kernel.count);
    std::vector<typename Kernel::Real> z(static_cast<std::size_t>(kernel.entry.rows * lanes));
    if (end - first == lanes)
      host::with_widest_vectors_of_host(
        [&] { kernel.template factor<Pack, packs>(first, z.data(), lanes, smallest); });
    else
      for (std::int64_t l = first; l < end; ++l) kernel.template factor<Scalar, 1>(l, z.data(), 1, smallest);
  }
};

/// The smallest value of an array and its place.
template <class Real, class Memory>
struct SmallestOf {
  Kokkos::View<const Real *, Memory> from;
  KOKKOS_FUNCTION void               operator()(std::int64_t                                             l,
                                  typename Kokkos::MinLoc<Real, std::int64_t>::value_type &least) const
  {
    if (from(l) < least.val) least.val = from(l), least.loc = l;
  }
};

} // namespace ribbon
