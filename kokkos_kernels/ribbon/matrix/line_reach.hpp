// SPDX-License-Identifier: BSD-2-Clause
/// @file line_reach.hpp  How far entries reach along lines of any rows, and the rings among these lines, in the
///   memory of the matrix.
#pragma once

#include <ribbon/lines_by_rounds.hpp>

#include <array>

namespace ribbon {

/// Weight d: the sum of |a_ij| / max_k |a_ik| over the entries that are d elements away along the line of their row.
/// Weight 0 is not used. The last weight: entries more than largest_half_bandwidth away.
using ReachWeights = std::array<double, largest_half_bandwidth + 2>;

/// Terms are rounded to multiples of 2^-20, so that sums do not depend on the number of threads. Entries that are not
/// a number do not count; a row with an infinite entry has no terms.
/// @param lines  contain every element once
template <class Scalar, class Index, class Exec>
ReachWeights reach_weights(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines);

/// Lines whose ends couple.
template <class MemorySpace>
struct Rings {
  std::int64_t lines = 0, elements = 0;          ///< the rings, and all of their elements
  Kokkos::View<unsigned char *, MemorySpace> is; ///< 1 for every line that is a ring
};

/// Finds lines of at least three elements whose ends couple by at least `closes`, in the mean of both directions.
/// Element i couples with j by the maximum, over the rows of i, of the largest entry in columns of j, relative to the
/// largest entry in columns outside of i.
/// @param block  rows of an element
template <class Scalar, class Index, class Exec>
Rings<typename Exec::memory_space> find_rings(const Exec &exec, const CsrMatrix<Scalar, Index> &A,
                                              const LinesInMemory<typename Exec::memory_space> &lines,
                                              double closes, int block = 1);

/// Lines with the elements of each ring in the order 0, n - 1, 1, n - 2, ...: neighbours on the ring are at most 2
/// apart.
template <class Exec>
LinesInMemory<typename Exec::memory_space> fold(const Exec                                       &exec,
                                                const LinesInMemory<typename Exec::memory_space> &lines,
                                                const Rings<typename Exec::memory_space>         &rings);

} // namespace ribbon
