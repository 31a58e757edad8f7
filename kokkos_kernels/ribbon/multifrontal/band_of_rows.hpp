// SPDX-License-Identifier: BSD-2-Clause
/// @file band_of_rows.hpp  A chain as a band: the kl + ku + 1 entries of a row are contiguous.
#pragma once

#include <ribbon/chain.hpp>

namespace ribbon::multifrontal {

/// Entries of a band of kl + ku + 1 diagonals.
template <class Scalar>
struct BandOfRows {
  const Scalar          *band;
  int                    kl, ku;
  KOKKOS_FUNCTION Scalar at(std::int64_t row, std::int64_t distance) const
  {
    return distance < -kl || distance > ku ? Scalar(0) : band[row * (kl + ku + 1) + kl + distance];
  }
};

/// Copies the band of a chain for BandHalves: a row begins with the entry kl before the diagonal. One
/// thread per row.
template <class Scalar>
struct CopyBand {
  Chain                chain;
  ChainEntries<Scalar> A;
  Scalar              *band;
  KOKKOS_FUNCTION void operator()(const std::int64_t place) const
  {
    const std::int64_t number = place / chain.rows, i = place % chain.rows, row = A.row(chain, number, i);
    Scalar            *to = band + place * (chain.width() + 1);
    for (int k = 0; k <= chain.width(); ++k) to[k] = Scalar(0);
    for (int e = 0, n = A.entries(row); e < n; ++e) {
      int          distance;
      const Scalar value      = A.entry(chain, number, i, row, e, distance);
      to[chain.kl + distance] = value;
    }
  }
};

/// The band of all rows of the chains. Asynchronous on exec.
/// @param band  (chains rows, kl + ku + 1)
template <class Scalar, class Exec>
void copy_band(const Exec &exec, const Chain &chain, const ChainEntries<Scalar> &A, Scalar *band)
{
  Kokkos::parallel_for("ribbon::copy_band", indices(exec, chain.chains * chain.rows),
                       CopyBand<Scalar>{chain, A, band});
}

} // namespace ribbon::multifrontal
