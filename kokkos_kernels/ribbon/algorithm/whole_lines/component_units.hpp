// SPDX-License-Identifier: BSD-2-Clause
/// @file component_units.hpp  Units of the components of a block, for certificates of block
///   tridiagonal lines on hosts.
///
/// Components often have different units: at a wall, the vorticity is a velocity divided by the mesh size h,
/// and its row has the entries 1 and 1 / h. With unknowns x = W y, W = diag(w_b) repeated for every block,
/// the matrix A W has a diagonal that is comparable to the other entries of its row where
///
///     |a_ab| w_b <= t |a_aa| w_a                                                     (1)
///
/// for the largest |a_ab| / |a_aa| of all rows. t is the least of 1, 2, 4, 8 with a solution; the smallest
/// solution is rounded down to powers of two. A certificate (certificate.hpp) holds for any units.
#pragma once

#include <ribbon/algorithm/whole_lines/certified_factor.hpp>
#include <ribbon/algorithm/whole_lines/looped.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace ribbon {

/// One power of two per component of a block.
template <class Real>
struct ComponentUnits {
  static constexpr int         most_apart = 20; ///< the largest unit is at most 2^20
  std::array<Real, most_block> unit;

  ComponentUnits() { unit.fill(1); }
  Real operator[](int b) const { return unit[static_cast<std::size_t>(b)]; }
  bool operator==(const ComponentUnits &other) const { return unit == other.unit; }

  /// @param ratio  largest |a_ab| / |a_aa| of all rows at a * B + b; infinite: a diagonal entry is zero,
  ///   and there are no units
  static ComponentUnits solve(const std::vector<Real> &ratio, int B)
  {
    for (Real t = 1; t <= 8; t *= 2) { // rounding may double the ratio; certificates accept ratios up to 16
      ComponentUnits units;
      bool           changes = true;
      for (int sweep = 0; sweep <= B && changes; ++sweep) { // longest paths
        changes = false;
        for (int a = 0; a < B; ++a)
          for (int b = 0; b < B; ++b) {
            const Real least = ratio[static_cast<std::size_t>(a * B + b)] / t * units[b];
            if (least <= units[a]) continue;
            units.unit[static_cast<std::size_t>(a)] = least, changes = true;
          }
      }
      const Real largest = *std::max_element(units.unit.begin(), units.unit.begin() + B);
      if (changes || !(largest <= std::ldexp(Real(1), most_apart))) continue;
      for (Real &u : units.unit) u = std::ldexp(Real(1), std::ilogb(u));
      return units;
    }
    return ComponentUnits();
  }
};

/// Finds the largest |a_ab| / |a_aa| of the rows of a tile of lines.
template <class Scalar>
struct ComponentRatios {
  using Real = real_t<Scalar>;
  using Pack = typename host::PackOf<Scalar>::type;
  template <class P>
  using Of                   = CertifiedPack<Scalar, P>;
  static constexpr int width = static_cast<int>(sizeof(Pack) / sizeof(Scalar)), lanes = 4 * width;

  BandEntries<Scalar, Kokkos::HostSpace> entry;
  Real                                  *ratio; ///< B * B for each tile

  static std::int64_t tiles(std::int64_t lines) { return (lines + lanes - 1) / lanes; }

  void operator()(const std::int64_t t) const
  {
    host::with_widest_vectors_of_host([&] {
      std::int64_t       l   = t * lanes;
      const std::int64_t end = std::min<std::int64_t>(l + lanes, entry.matrices());
      Real *const        to  = ratio + t * entry.block * entry.block;
      if constexpr (width > 1)
        for (; l + width <= end; l += width) find<Pack>(l, to);
      for (; l < end; ++l) find<Scalar>(l, to);
    });
  }

private:
  template <class P>
  void find(std::int64_t l, Real *to) const
  {
    using Sizes                            = typename Of<P>::Sizes;
    const int B                            = entry.block;
    Sizes     most[most_block][most_block] = {};
    for (std::int64_t i = 0; i < entry.rows; ++i)
      for (int a = 0; a < B; ++a) {
        P     v;
        Sizes diagonal, s;
        Of<P>::load(entry, l, i, 0, a, a, v), Of<P>::take_size(v, diagonal);
        for (int b = 0; b < B; ++b) {
          Sizes largest{};
          for (int d = -1; d <= 1; ++d) {
            Of<P>::load(entry, l, i, d, a, b, v), Of<P>::take_size(v, s);
            largest = s > largest ? s : largest;
          }
          const Sizes relative = largest / diagonal;
          // a NaN may be lost: such a line has no certificate
          most[a][b] = relative <= most[a][b] ? most[a][b] : relative;
        }
      }
    for (int a = 0; a < B; ++a)
      for (int b = 0; b < B; ++b)
        for (int e = 0; e < Of<P>::lanes; ++e)
          to[a * B + b] = std::max(to[a * B + b], Of<P>::lane(most[a][b], e));
  }
};

} // namespace ribbon
