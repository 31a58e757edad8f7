// SPDX-License-Identifier: BSD-2-Clause
/// @file near_boundaries.hpp  Coefficients with which kernels compute the separators between segments of
///   longer lines (NearSeparators), if the inverse decays within a few rows.
#pragma once

#include <ribbon/algorithm/partition/end_dots.hpp>
#include <ribbon/known_rows.hpp>

#include <algorithm>
#include <vector>

namespace ribbon {

/// Computes these from the boundaries of one matrix, which are equal except for the last ones of a line.
template <class Scalar, class Memory>
class NearBoundaries {
public:
  using Words      = Kokkos::View<Scalar *, Memory>;
  using Ends       = InverseEnds<Scalar, Memory>;
  NearBoundaries() = default;

  /// @param near   of every boundary the rows of PartitionKernels::AssembleKernel
  /// @param ends   of the segments, and of the tail
  /// @param reach  rows at the ends of a segment that matter
  ///
  /// Empty if the boundaries differ, or do not have two separators.
  template <class Exec>
  NearBoundaries(const Exec &exec, const Words &near, const Ends (&ends)[2], const PartitionCut &cut,
                 int reach)
      : cut_(cut), reach_(reach), behind_(static_cast<int>(std::min<std::int64_t>(reach, cut.tail)))
  {
    if (cut.S() != NearSeparators<Scalar>::separators) return;
    const auto         rows = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), near);
    const int          S = cut.S(), width = ends[0].width, window = 2 * reach + S;
    const std::int64_t count = 3 * S * S, last = cut.pieces - 1;
    for (std::int64_t p = 1; p < last; ++p)
      if (!std::equal(rows.data(), rows.data() + count, rows.data() + p * count)) return;
    std::vector<Scalar> weights(static_cast<std::size_t>(2 * S * window), Scalar(0));
    Scalar             *to         = weights.data();
    const auto          left_words = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ends[0].words);
    for (std::int64_t p : {std::int64_t(0), last}) {
      const Ends &right       = ends[p == last && cut.tail > 0 ? 1 : 0];
      const auto  right_words = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), right.words);
      const int   after       = p < last ? reach : behind_;
      for (int a = 0; a < S; ++a, to += window) {
        const Scalar *row = rows.data() + (p * S + a) * 3 * S;
        for (int e = 0; e < S; ++e) to[reach + e] = row[e];
        for (int v = 0; v < width; ++v) { // unknown v of the last, and of the first, `width` ones
          for (int k = 0; k < reach; ++k)
            to[k] += row[2 * S - width + v] *
                     left_words((width + v) * ends[0].unknowns + ends[0].unknowns - reach + k);
          for (int k = 0; k < after; ++k)
            to[reach + S + k] += row[2 * S + v] * right_words(v * right.unknowns + k);
        }
      }
    }
    weights_ = upload(exec, "ribbon::near::weights", weights);
  }

  bool        empty() const { return weights_.size() == 0; }
  std::size_t bytes() const { return weights_.size() * sizeof(Scalar); }

  /// @param z     destination of the separators, at least of those before tails
  /// @param only  writes all separators and does not solve
  NearSeparators<Scalar> separators(Scalar *z, bool only) const
  {
    NearSeparators<Scalar> near;
    near.weights = weights_.data(), near.reach = reach_, near.behind = behind_;
    near.pieces = cut_.pieces, near.lines = cut_.lines, near.z = only || cut_.tail > 0 ? z : nullptr,
    near.only = only;
    return near;
  }

private:
  PartitionCut cut_;
  int          reach_ = 0, behind_ = 0;
  Words        weights_;
};

} // namespace ribbon
