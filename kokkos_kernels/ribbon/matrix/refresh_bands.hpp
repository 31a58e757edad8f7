// SPDX-License-Identifier: BSD-2-Clause
/// @file refresh_bands.hpp  Copies new values of a sparse matrix with a known pattern to the bands of its
///   lines.
#pragma once

#include <ribbon/lines_from_csr.hpp>

namespace ribbon {

/// Properties of a matrix that do not fit bands that were extracted from an older one of the same pattern.
struct RefreshResult {
  bool across     = false; ///< a nonzero entry joins different lines
  bool components = false; ///< a nonzero entry joins components that were uncoupled
  bool beyond     = false; ///< a nonzero entry is on its line, outside of the bands
  /// no nonzero entry is as far from the diagonal as the bands reach, or closes the ring
  bool narrower   = false;
  bool not_finite = false; ///< the bands hold NaN or Inf
  bool differ     = false; ///< lines that shared one matrix have several now
};

/// Data for repeated refreshes of one set of lines; the pattern of the matrix does not change.
template <class Memory>
struct RefreshPlan {
  /// a line of each class; read for Lhs::classes only
  Kokkos::View<const std::int64_t *, Memory> first;
  /// on a host, for each line: the position of its first value if its rows contain exactly the entries of
  /// the line, consecutively; else -1. Set by the first refresh
  Kokkos::View<std::int64_t *, Memory> straight;
};

/// Overwrites the values of `bands`, which extract_bands(), and possibly share(), made from a matrix of the
/// same pattern. If lines share matrices, the first line of each matrix is read, and all other lines are
/// compared with it, entry by entry. Reads the matrix once and waits. Allocated memory does not grow with
/// the rows.
/// @param lines     as for extract_bands(), without tables: lines lie in the matrix itself
/// @param siblings  rows per element if its components are lines of scalars, because no entry joins them;
///   else 1
/// @throws std::invalid_argument for other lines, and shifted bands
template <class Scalar, class Index, class Exec>
RefreshResult refresh_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines,
                            RefreshPlan<typename Exec::memory_space>         &plan,
                            const Bands<Scalar, typename Exec::memory_space> &bands, int siblings = 1);

} // namespace ribbon
