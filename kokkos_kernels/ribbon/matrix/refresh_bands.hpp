// SPDX-License-Identifier: BSD-2-Clause
/// @file refresh_bands.hpp  New values of a sparse matrix whose pattern is known, read
///   into the bands of its lines.
#pragma once

#include <ribbon/lines_from_csr.hpp>

namespace ribbon {

/// What of a matrix does not fit bands that were extracted from an older one of the same pattern.
struct RefreshResult {
  bool across     = false; ///< an entry that is not zero joins different lines
  bool components = false; ///< one joins components that were apart
  bool beyond     = false; ///< an entry that is not zero is on its line, outside of the bands
  /// no entry that is not zero is as far from the diagonal as the bands reach, or closes the ring
  bool narrower   = false;
  bool not_finite = false; ///< the bands hold NaN or Inf
  bool differ     = false; ///< lines that had one matrix have several now
};

/// What refreshes of one set of lines keep from one to the next: the pattern of the matrix stays.
template <class Memory>
struct RefreshPlan {
  /// a line of each class; read where bands.lhs is classes
  Kokkos::View<const std::int64_t *, Memory> first;
  /// of a host, for each line: where its first value is, if its rows hold the line and nothing else, one
  /// behind the other; else -1. Made by the first refresh
  Kokkos::View<std::int64_t *, Memory> straight;
};

/// Overwrites the values of `bands`, which extract_bands(), and share() maybe, made of a matrix of the same
/// pattern. Where lines share matrices the first line of each is read, and all others are compared with it,
/// entry by entry. Reads the matrix once, allocates nothing that grows with its rows, and waits.
/// @param lines     as extract_bands() had them: lines that lie in the matrix itself (no table)
/// @param siblings  rows of an element whose components are lines of scalars, since
///   no entry joins them; else 1
/// @throws std::invalid_argument for other lines, and shifted bands
template <class Scalar, class Index, class Exec>
RefreshResult refresh_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines,
                            RefreshPlan<typename Exec::memory_space>         &plan,
                            const Bands<Scalar, typename Exec::memory_space> &bands, int siblings = 1);

} // namespace ribbon
