// SPDX-License-Identifier: BSD-2-Clause
/// @file block_thomas_impl.hpp  Block tridiagonal lines of a host as an algorithm of a LineSolver; included
///   by the files that instantiate it.
#pragma once

#include "algorithms.hpp"

#include <ribbon/algorithm/whole_lines/ring_border.hpp>
#include <ribbon/device/team_launch.hpp>

namespace ribbon::detail {

template <class Scalar, class Exec>
struct BlockThomas final : Factored<Scalar, Exec> {
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;
  using Real   = real_t<Scalar>;
  using Tiles  = BlockTiles<Scalar>;
  Kokkos::View<Scalar *, Memory> words, border;
  Kokkos::View<Real *, Memory>   rcond;
  PivotPlace<Real, Memory>       place;
  Tiles                          factors;
  ComponentUnits<Real>           units;  ///< of the certificate
  bool                           shared; ///< one matrix, in every lane of a tile

  BlockThomas(const Exec &exec, const Input &bands, DevicePivot &pivot)
      : place(exec), factors{nullptr, bands.rows() - bands.periodic,
                             bands.lhs == Lhs::shared ? Tiles::lanes : bands.matrices(), bands.block},
        shared(bands.lhs == Lhs::shared)
  {
    // zeros: some lanes have no line
    words = allocate_zeros<decltype(words)>(exec, "ribbon::block_thomas::words", factors.size());
    rcond =
      allocate<decltype(rcond)>(exec, "ribbon::block_thomas::rcond", static_cast<std::size_t>(factors.count));
    factors.words = words.data();
    if (bands.periodic) {
      border = allocate_zeros<decltype(border)>(exec, "ribbon::block_thomas::border", factors.border_size());
      factors.border = border.data();
    }
    factor(exec, bands, pivot);
    this->name  = "thomas";
    this->bytes = (words.size() + border.size()) * sizeof(Scalar) + rcond.size() * sizeof(Real);
  }
  bool refactor(const Exec &exec, const Input &bands, DevicePivot &pivot) override
  {
    const bool same = bands.block == factors.block && bands.periodic == is_ring() &&
                      bands.rows() == factors.rows + bands.periodic;
    if (!same || shared != (bands.lhs == Lhs::shared) || (!shared && bands.matrices() != factors.count))
      return false;
    factor(exec, bands, pivot);
    return true;
  }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out, const int *,
             std::int64_t) const override
  {
    solve_from(exec, 0, std::min(factors.count, in.lines()), b, in, x, out);
  }
  void solve_lines(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
                   const LineSet &out) const override
  {
    solve_from(exec, first, in.lines(), b, in, x, out);
  }

private:
  bool is_ring() const { return factors.border != nullptr; }
  /// The rows that BlockFactorTiles factors: all but the last one of periodic lines.
  BandEntries<Scalar, Memory> entries(const Input &bands) const
  {
    BandEntries<Scalar, Memory> of(bands);
    of.rows = factors.rows, of.periodic = false;
    return of;
  }
  /// The matrix of all lines, once per lane.
  Input copies(const Exec &exec, const Input &bands) const
  {
    Input all = bands;
    all.lhs = Lhs::per_line, all.repeats = 1;
    all.values = allocate<decltype(all.values)>(
      exec, "ribbon::block_thomas::copies", static_cast<std::size_t>(Tiles::lanes),
      static_cast<std::size_t>(factors.rows), bands.values.extent(2));
    for (std::int64_t i = 0; i < factors.rows; ++i)
      for (std::size_t e = 0; e < all.values.extent(2); ++e)
        for (std::size_t l = 0; l < all.values.extent(0); ++l)
          all.values(l, static_cast<std::size_t>(i), e) =
            bands.values(0, static_cast<std::size_t>(bands.stored(i)), e);
    return all;
  }
  /// Factors. Without a certificate, determines units and factors again.
  void factor(const Exec &exec, const Input &given, DevicePivot &pivot)
  {
    const Input bands = shared ? copies(exec, given) : given;
    factor_in_units(exec, bands, pivot);
    if (is_ring()) return factor_border(exec, bands, pivot);
    find_determinant(pivot);
    if (this->certificate.rcond > 0) return;
    const auto found = units_of(exec, bands);
    if (found == units) return;
    units = found;
    factor_in_units(exec, bands, pivot);
    find_determinant(pivot);
  }
  /// For one matrix: the product of its pivots, whose reciprocals are stored.
  void find_determinant(DevicePivot &pivot) const
  {
    if (!shared) return;
    const int            B    = factors.block;
    double               log  = 0;
    std::complex<double> sign = 1;
    for (std::int64_t i = 0; i < factors.rows; ++i)
      for (int a = 0; a < B; ++a) {
        const Scalar inverse =
          factors.row(0, i)[static_cast<std::ptrdiff_t>((B * B + a * B + a) * Tiles::lanes)];
        const double size = static_cast<double>(magnitude(inverse));
        log -= std::log(size);
        if constexpr (std::is_floating_point_v<Scalar>) sign *= inverse < 0 ? -1.0 : 1.0;
        else sign /= std::complex<double>(inverse.real() / size, inverse.imag() / size);
      }
    pivot.log_abs_det = log, pivot.det_sign = sign, pivot.line = 0;
  }
  ComponentUnits<Real> units_of(const Exec &exec, const Input &bands) const
  {
    using Ratios            = ComponentRatios<Scalar>;
    const auto        tiles = Ratios::tiles(factors.count);
    const std::size_t BB    = static_cast<std::size_t>(factors.block * factors.block);
    std::vector<Real> ratio(static_cast<std::size_t>(tiles) * BB, 0);
    Kokkos::parallel_for("ribbon::block_thomas::units", indices(exec, tiles),
                         Ratios{entries(bands), ratio.data()});
    exec.fence();
    for (std::size_t e = BB; e < ratio.size(); ++e) ratio[e % BB] = std::max(ratio[e % BB], ratio[e]);
    return ComponentUnits<Real>::solve(ratio, factors.block);
  }
  void factor_in_units(const Exec &exec, const Input &bands, DevicePivot &pivot)
  {
    using Smallest = Kokkos::MinLoc<Real, std::int64_t>;
    const BlockFactorTiles<Scalar> kernel{entries(bands), factors, rcond.data(),
                                          static_cast<Real>(pivot.tolerance), units};
    Kokkos::parallel_reduce("ribbon::block_thomas::factor", indices(exec, factors.tiles()), kernel,
                            place.reducer());
    typename Smallest::value_type found;
    Kokkos::parallel_reduce("ribbon::block_thomas::rcond", indices(exec, factors.count),
                            SmallestOf<Real, Memory>{rcond}, Smallest(found));
    const auto smallest = place.found(exec);
    pivot               = {pivot.tolerance, static_cast<double>(smallest.val), smallest.loc / factors.rows,
                           smallest.loc % factors.rows};
    this->certificate   = {static_cast<double>(found.val), found.loc,
                           Certificate::error_of(2 * factors.block - 1)};
  }
  void factor_border(const Exec &exec, const Input &bands, DevicePivot &pivot)
  {
    this->certificate = {};
    if (!(pivot.smallest > pivot.tolerance)) return;
    Kokkos::parallel_reduce("ribbon::block_thomas::border", indices(exec, factors.tiles()),
                            RingBorderTiles<Scalar>{BandEntries<Scalar, Memory>(bands), factors,
                                                    static_cast<Real>(pivot.tolerance)},
                            place.reducer());
    const auto         smallest = place.found(exec);
    const std::int64_t rows     = factors.rows + 1;
    if (static_cast<double>(smallest.val) < pivot.smallest)
      pivot = {pivot.tolerance, static_cast<double>(smallest.val), smallest.loc / rows, smallest.loc % rows};
  }
  void solve_from(const Exec &exec, std::int64_t first, std::int64_t different, const Scalar *b,
                  const LineSet &in, Scalar *x, const LineSet &out) const
  {
    if (in.unknowns() == 0) return;
    const BlockSolveTiles<Scalar> kernel{factors, first, different, b, x, in, out, shared};
    device::launch(exec, "ribbon::block_thomas", {kernel.teams(), 1, kernel.scratch()}, kernel);
  }
};

template <class Scalar, class Exec>
Made<Scalar, Exec> make_block_thomas(const Exec                                       &exec,
                                     const Bands<Scalar, typename Exec::memory_space> &bands,
                                     DevicePivot                                      &pivot)
{
  const BlockTiles<Scalar> shape{nullptr, bands.rows(), bands.matrices(), bands.block};
  // long lines: solving one by one is as fast
  if (static_cast<std::size_t>(shape.room()) * sizeof(Scalar) > (std::size_t(64) << 20)) return nullptr;
  return std::make_unique<BlockThomas<Scalar, Exec>>(exec, bands, pivot);
}

} // namespace ribbon::detail
