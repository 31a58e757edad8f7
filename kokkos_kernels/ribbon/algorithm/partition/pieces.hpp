// SPDX-License-Identifier: BSD-2-Clause
/// @file pieces.hpp  The segments of partition.hpp: their bands and spikes, and the kernels that compute
///   them.
#pragma once

#include <ribbon/algorithm/partition/cut.hpp>
#include <ribbon/matrix/band_entries.hpp>

#include <vector>

namespace ribbon {

/// V and W of the segments or the tails: word (row, column, matrix) at (row (2 S) + column)
/// matrices + matrix; columns 0 .. S-1 are V.
template <class Scalar, class Memory>
struct PartitionSpikes {
  Kokkos::View<Scalar *, Memory> words;
  /// of every line of the batch; empty: one matrix per line, or a single matrix
  Kokkos::View<int *, Memory> matrix_of;
  std::int64_t                matrices = 0;
  int                         columns  = 0;

  KOKKOS_INLINE_FUNCTION std::int64_t matrix(std::int64_t line) const
  {
    return matrices == 1 ? 0 : matrix_of.extent(0) ? matrix_of(line) : line;
  }
  KOKKOS_INLINE_FUNCTION const Scalar &operator()(std::int64_t unknown, int column, std::int64_t matrix) const
  {
    return words((unknown * columns + column) * matrices + matrix);
  }
};

/// The kernels that compute the bands and the spikes of segments.
template <class Scalar, class Memory>
struct PartitionPieceKernels {
  using Values = typename Bands<Scalar, Memory>::values_type;
  using Spikes = PartitionSpikes<Scalar, Memory>;

  /// Entries of the bands, line l.
  struct Matrix {
    BandEntries<Scalar, Memory> of_class;
    bool                        shared;
    KOKKOS_FUNCTION Scalar      entry(std::int64_t l, std::int64_t i, std::int64_t d, int a, int b) const
    {
      return of_class(shared ? 0 : l, i, d, a, b);
    }
  };

  /// Bands of the segments (or tails): rows [first, first + rows) of part q. Entries before the beginning
  /// of an open line are copied from the next segment: they are meaningless, and equal segments must have
  /// equal bands.
  struct CutKernel {
    Matrix       from;
    PartitionCut cut;
    Values       to;
    std::int64_t rows;
    /// one_line: shared bands, matrices are indexed by segment
    bool tails, one_line;
    /// empty: line l has bands l
    typename Bands<Scalar, Memory>::classes_type class_of_line = {};
    /// with one_line: segments that share a matrix
    EqualPieces          equal = {};
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      const std::int64_t c = k % static_cast<std::int64_t>(to.extent(0)),
                         i = k / static_cast<std::int64_t>(to.extent(0));
      std::int64_t l = c, q = cut.pieces;
      if (!tails) {
        if (one_line) l = 0, q = equal.piece(c);
        else l = cut.line(c), q = cut.piece_of(c);
      }
      if (class_of_line.extent(0)) l = class_of_line(l);
      const int          lower = from.of_class.lower, B = from.of_class.block;
      const std::int64_t base =
        q == 0 && !from.of_class.periodic && cut.pieces > 1 ? cut.begin(1) : cut.begin(q);
      for (int d = -lower; d <= from.of_class.upper; ++d) {
        const bool leaves = i + d < 0;
        for (int a = 0; a < B; ++a)
          for (int b = 0; b < B; ++b)
            to(c, i, ((d + lower) * B + a) * B + b) =
              from.entry(l, (leaves ? base : cut.begin(q)) + i, d, a, b);
      }
    }
  };

  /// Right-hand sides of V and W in the words of `spikes`; line (column, matrix).
  struct CouplingKernel {
    Values               values; ///< of the matrices of the parts
    int                  kl, ku, K, B;
    std::int64_t         rows;
    Spikes               spikes;
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      const std::int64_t c = k % spikes.matrices, unknown = k / spikes.matrices / spikes.columns,
                         i = unknown / B;
      const int column = static_cast<int>(k / spikes.matrices % spikes.columns), S = K * B, e = column % S,
                a          = static_cast<int>(unknown % B);
      const std::int64_t j = column < S ? e / B - K : rows + e / B, d = j - i; // row of the separator
      spikes.words(k) = d < -kl || d > ku ? Scalar(0) : values(c, i, ((d + kl) * B + a) * B + e % B);
    }
  };

  /// The largest values of V and W, or the rows of V from its beginning (of W from its end) that matter
  /// relative to them. Values of a bad line that are not finite do not count.
  struct ReachKernel {
    Spikes                         spikes;
    int                            B, S;
    std::int64_t                   rows;
    double                         tolerance; ///< relative to the largest value
    Kokkos::View<double *, Memory> largest;   ///< of every matrix, or one for all
    bool                           size, right;
    KOKKOS_FUNCTION void           operator()(const std::int64_t k, std::int64_t &most) const
    {
      const int          column = static_cast<int>(k / spikes.matrices % spikes.columns);
      const std::int64_t i = k / spikes.matrices / spikes.columns / B, distance = right ? rows - i : i + 1;
      const double       a   = static_cast<double>(magnitude(spikes.words(k)));
      double            &own = largest(largest.extent(0) == 1 ? 0 : k % spikes.matrices);
      if (!is_finite(a)) return;
      if (size) {
        if (a > atomic_read(&own)) Kokkos::atomic_fetch_max(&own, a);
      } else if ((column >= S) == right && distance > most && a > tolerance * own) most = distance;
    }
  };
};

/// Repeats matrices that are indexed by segment for the segments of all lines.
template <class Scalar, class Exec>
void spread_over_pieces(const Exec &exec, Bands<Scalar, typename Exec::memory_space> &part,
                        std::int64_t count, const PartitionCut &cut, const EqualPieces &equal)
{
  if (part.lhs == Lhs::shared) return;
  const auto       from     = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part.class_of_line);
  const auto       matrices = static_cast<std::int64_t>(part.values.extent(0));
  std::vector<int> classes(static_cast<std::size_t>(count));
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int64_t q = matrices == 1 ? 0 : equal.matrix(cut.piece_of(s));
    classes[static_cast<std::size_t>(s)] =
      from.extent(0) ? from(static_cast<std::size_t>(q)) : static_cast<int>(q);
  }
  part.class_of_line = upload(exec, "ribbon::partition::classes", classes), part.lhs = Lhs::classes;
}

} // namespace ribbon
