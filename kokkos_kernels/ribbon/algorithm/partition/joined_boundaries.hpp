// SPDX-License-Identifier: BSD-2-Clause
/// @file joined_boundaries.hpp  Coefficients with which segments compute their adjacent separators
///   (JoinedPieces): rows of the inverse of the reduced system of a long line.
#pragma once

#include <ribbon/elimination/elimination.hpp>
#include <ribbon/known_rows.hpp>

#include <cstring>

namespace ribbon {

/// Computes these from the reduced system of one matrix, most of whose boundaries are equal. Separators
/// whose coefficients have decayed are omitted.
template <class Scalar, class Memory>
class JoinedBoundaries {
public:
  using Blocks       = typename Bands<Scalar, Memory>::values_type;
  using Words        = Kokkos::View<Scalar *, Memory>;
  JoinedBoundaries() = default;

  /// @param reduced  of every boundary the blocks lower, diag, upper, row-major
  /// @param ends     of every boundary the rows of [Ls Us]: couplings to the last and the first rows of the
  ///   adjacent segments
  /// @param width    of these rows those that matter: the last of Ls, the first of Us
  /// @param records  of a launch of all lines
  ///
  /// Empty if the inverse decays too slowly, or if the boundaries differ.
  template <class Exec>
  JoinedBoundaries(const Exec &exec, const Blocks &reduced_blocks, const Words &end_rows, int separators,
                   int width, std::int64_t records, std::int64_t lines)
      : separators_(separators), width_(width)
  {
    const auto          blocks = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), reduced_blocks);
    const auto          rows   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), end_rows);
    std::vector<Scalar> reduced, ends(rows.data(), rows.data() + rows.size());
    for (std::size_t p = 0; p < blocks.extent(1); ++p)
      for (std::size_t k = 0; k < blocks.extent(2); ++k) reduced.push_back(blocks(0, p, k));
    const std::int64_t S = separators, count = static_cast<std::int64_t>(ends.size()) / (2 * S * S);
    const Classes      found = classify(reduced, ends, count);
    if (found.first.empty()) return;
    std::vector<Dense<Wide>> inverses;
    for (std::int64_t p : found.first) {
      inverses.push_back(inverse_around(reduced, p, count));
      reach_ = std::max(reach_, reach(reduced, inverses.back(), p));
    }
    if (reach_ > most_reach) return;
    std::vector<Scalar> weights(found.first.size() * at(S * pieces().numbers()));
    for (std::size_t c = 0; c < found.first.size(); ++c)
      weigh(ends, found.first[c], inverses[c], count, &weights[c * at(S * pieces().numbers())]);
    weights_ = upload(exec, "ribbon::joined::weights", weights);
    classes_ = upload(exec, "ribbon::joined::classes", found.of_boundary);
    words_   = records * pieces().words();
    separate(exec, lines);
  }

  /// Allocates separate records, for launches that need not be ordered with those of a copy of this object.
  template <class Exec>
  void separate(const Exec &exec, std::int64_t lines)
  {
    if (words_ == 0) return;
    std::vector<Scalar> none(at(2 * words_ + 3), Scalar(0)); // and the state, zeros
    if constexpr (sizeof(Scalar) == sizeof JoinedPieces<Scalar>::none)
      for (std::int64_t k = 0; k < 2 * words_; ++k)
        std::memcpy(static_cast<void *>(&none[at(k)]), &JoinedPieces<Scalar>::none, sizeof(Scalar));
    records_[0] = upload(exec, "ribbon::joined::records", none);
    if (lines > 1) records_[1] = upload(exec, "ribbon::joined::records", none);
  }

  bool        empty() const { return words_ == 0; }
  std::size_t bytes() const
  {
    return (weights_.size() + records_[0].size() + records_[1].size()) * sizeof(Scalar) +
           classes_.size() * sizeof(int);
  }

  /// Arguments of a launch, without its lines and tails.
  /// @param alone  one line of several. Such launches share records, because a launch clears the buffer of
  ///   the next one of its kind
  JoinedPieces<Scalar> pieces(bool alone = false) const
  {
    const Words         &records = records_[alone];
    JoinedPieces<Scalar> joined;
    joined.weights = weights_.data(), joined.class_of = classes_.data(), joined.reach = reach_,
    joined.width = width_, joined.separators = separators_;
    joined.records = reinterpret_cast<std::uint64_t *>(records.data()),
    joined.state   = reinterpret_cast<std::int64_t *>(records.data() + 2 * words_);
    return joined;
  }

private:
  using Wide                      = wide_t<Scalar>;
  static constexpr int most_reach = JoinedPieces<Scalar>::most_reach;
  static std::size_t   at(std::int64_t k) { return static_cast<std::size_t>(k); }
  /// boundaries on either side of one that its inverse includes
  static constexpr std::int64_t far = 2 * most_reach + 2;

  /// Boundaries with equal surroundings have one row of coefficients.
  struct Classes {
    std::vector<std::int64_t> first; ///< the first boundary of every class; none: too many differ
    std::vector<int>          of_boundary;
  };
  Classes classify(const std::vector<Scalar> &reduced, const std::vector<Scalar> &ends,
                   std::int64_t count) const
  {
    const std::int64_t        S = separators_;
    std::vector<std::int64_t> unlike; // boundaries that need a separate row
    const auto                same = [&](std::int64_t p, std::int64_t q) {
      return std::equal(&reduced[at(p * 3 * S * S)], &reduced[at(p * 3 * S * S)] + 3 * S * S,
                                       &reduced[at(q * 3 * S * S)]) &&
             std::equal(&ends[at(p * 2 * S * S)], &ends[at(p * 2 * S * S)] + 2 * S * S,
                                       &ends[at(q * 2 * S * S)]);
    };
    for (std::int64_t p = 0; p < count; ++p)
      if (!same(p, count / 2)) unlike.push_back(p);
    Classes found;
    if (unlike.size() > 8) return found;
    found.of_boundary.resize(at(count));
    int alike = -1;
    for (std::int64_t p = 0; p < count; ++p) {
      bool usual = p >= far && p + far < count;
      for (std::int64_t q : unlike) usual = usual && (q < p - far || q > p + far);
      if (!usual || alike < 0) {
        if (usual) alike = static_cast<int>(found.first.size());
        found.of_boundary[at(p)] = static_cast<int>(found.first.size());
        found.first.push_back(p);
      } else found.of_boundary[at(p)] = alike;
    }
    return found;
  }

  /// Weights of the records around boundary p for its separators, from its block row of the inverse: G, and
  /// - G [Ls Us].
  void weigh(const std::vector<Scalar> &ends, std::int64_t p, const Dense<Wide> &inverse, std::int64_t count,
             Scalar *weights) const
  {
    const JoinedPieces<Scalar> sizes = pieces();
    const std::int64_t         S     = separators_;
    const int                  words = sizes.words();
    for (std::int64_t q = std::max<std::int64_t>(0, p - reach_); q < std::min(count, p + reach_ + 1); ++q)
      for (std::int64_t a = 0; a < S; ++a) {
        Scalar     *own = weights + a * sizes.numbers() + (q - p + reach_) * words;
        const Wide *G =
          &inverse(static_cast<int>(a), static_cast<int>((q - std::max<std::int64_t>(0, p - far)) * S));
        const auto to = [&](std::int64_t column) { // - G [Ls Us]
          Wide sum(0);
          for (std::int64_t e = 0; e < S; ++e) sum -= G[e] * widen(ends[at((q * S + e) * 2 * S + column)]);
          return narrow<Scalar>(sum);
        };
        for (int e = 0; e < width_; ++e) own[width_ + e] = to(S - width_ + e), own[words + e] = to(S + e);
        for (std::int64_t e = 0; e < S; ++e) own[2 * width_ + e] = narrow<Scalar>(G[e]);
      }
  }

  /// Block row p of the inverse of the reduced system of the boundaries around it.
  Dense<Wide> inverse_around(const std::vector<Scalar> &reduced, std::int64_t p, std::int64_t count) const
  {
    const std::int64_t S = separators_, from = std::max<std::int64_t>(0, p - far),
                       to = std::min(count, p + far + 1);
    Dense<Wide> R(static_cast<int>((to - from) * S), static_cast<int>((to - from) * S)),
      row(static_cast<int>(S), R.m);
    for (std::int64_t q = from; q < to; ++q)
      for (int side = -1; side <= 1; ++side)
        for (std::int64_t a = 0; a < S && q + side >= from && q + side < to; ++a)
          for (std::int64_t e = 0; e < S; ++e)
            R(static_cast<int>((q - from) * S + a), static_cast<int>((q + side - from) * S + e)) =
              widen(reduced[at(q * 3 * S * S + (1 + side) * S * S + a * S + e)]);
    const auto G = R.inverse([](const Wide &, int) {});
    for (int a = 0; a < row.n; ++a)
      for (int k = 0; k < row.m; ++k) row(a, k) = G(static_cast<int>((p - from) * S) + a, k);
    return row;
  }

  /// Boundaries on either side of p that matter, as in ReducedSystem::reach().
  int reach(const std::vector<Scalar> &reduced, const Dense<Wide> &row, std::int64_t p) const
  {
    const std::int64_t       S = separators_, from = std::max<std::int64_t>(0, p - far);
    std::vector<long double> size(at(row.m / S), 0);
    for (std::size_t k = 0; k < size.size(); ++k) {
      const auto *R = &reduced[at((from + static_cast<std::int64_t>(k)) * 3 * S * S)];
      long double weight(0);
      for (std::int64_t e = 0; e < 3 * S * S; ++e) weight = std::max(weight, std::abs(widen(R[e])));
      for (int a = 0; a < row.n; ++a)
        for (int e = 0; e < S; ++e)
          size[k] =
            std::max(size[k], std::abs(row(a, static_cast<int>(k) * static_cast<int>(S) + e)) * weight);
    }
    const long double least =
      *std::max_element(size.begin(), size.end()) * static_cast<long double>(unit_roundoff<Scalar>()) / 32;
    std::int64_t found = 0;
    for (std::size_t k = 0; k < size.size(); ++k)
      if (!(size[k] <= least)) found = std::max(found, std::abs(from + static_cast<std::int64_t>(k) - p));
    return static_cast<int>(found);
  }

  int separators_ = 1, width_ = 1, reach_ = 0;
  /// records of both buffers, then the state: of launches of all lines, and of one
  Words                       weights_, records_[2];
  Kokkos::View<int *, Memory> classes_;
  std::int64_t                words_ = 0;
};

} // namespace ribbon
