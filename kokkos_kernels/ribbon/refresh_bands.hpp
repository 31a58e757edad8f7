// SPDX-License-Identifier: BSD-2-Clause
/// @file refresh_bands.hpp  New values of a sparse matrix whose pattern is known, read into the bands of its lines.
#pragma once

#include <ribbon/lines_from_csr.hpp>

namespace ribbon {

/// What of a matrix does not fit bands that were extracted from an older one of the same pattern.
struct RefreshResult {
  bool across     = false; ///< an entry that is not zero joins different lines
  bool beyond     = false; ///< an entry that is not zero is on its line, outside of the bands
  bool narrower   = false; ///< no entry that is not zero is as far from the diagonal as the bands reach, or closes the ring
  bool not_finite = false; ///< the bands hold NaN or Inf
  bool differ     = false; ///< lines that had one matrix have several now
};

/// Overwrites the values of `bands`, which extract_bands(), and share() maybe, made of a matrix of the same pattern.
/// Where lines share matrices the first line of each is read, and all others are compared with it, entry by entry.
/// Reads the matrix once, allocates nothing that grows with it, and waits.
/// @param lines  as extract_bands() had them: lines of scalars that lie in the matrix itself (components 1, no table)
/// @param first  a line of each class, in the memory of Exec; read where bands.lhs is classes
/// @throws std::invalid_argument for other lines, and shifted bands
template <class Scalar, class Index, class Exec>
RefreshResult refresh_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines, const Kokkos::View<const std::int64_t *, typename Exec::memory_space> &first,
                            const Bands<Scalar, typename Exec::memory_space> &bands);

} // namespace ribbon
