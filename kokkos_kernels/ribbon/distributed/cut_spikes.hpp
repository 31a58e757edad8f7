// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_spikes.hpp  Kernels that compute the spikes of a sub-line and find how far they reach.
#pragma once

#include <ribbon/distributed/cut_parts.hpp>

namespace ribbon {

/// Kernels of the factorization in cut_lines.hpp, except those of the reduced matrix.
template <class Scalar, class Memory>
struct CutSpikeKernels : CutParts<Scalar, Memory> {
  using typename CutParts<Scalar, Memory>::Matrix, typename CutParts<Scalar, Memory>::Real;
  using typename CutParts<Scalar, Memory>::Values, typename CutParts<Scalar, Memory>::Words;

  /// The couplings of the interior rows to the separators left and right, 2 S columns: word (unknown, column,
  /// matrix) at (unknown 2 S + column) matrices + matrix.
  struct CouplingKernel {
    Matrix               A;
    CutPiece             piece;
    Words                words;
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      const auto matrices = static_cast<std::int64_t>(A.values.extent(0));
      const int S = piece.S(), B = piece.B, column = static_cast<int>(k / matrices % (2 * S)), s = column % S;
      const std::int64_t unknown = k / matrices / (2 * S),
                         j       = column < S ? s / B - piece.K : piece.n() + s / B;
      const bool has             = column < S ? piece.left : piece.right;
      words(k) = has ? A(k % matrices, unknown / B, j, static_cast<int>(unknown % B), s % B) : Scalar(0);
    }
  };

  /// Two magnitudes of the entries of spikes: the entry itself, and the entry times the largest entry of
  /// its column of the interior. An unknown may be large because its column is small, so both magnitudes
  /// count.
  struct SpikeSizes {
    Words                       words;
    Matrix                      A;
    std::int64_t                matrices, n;
    int                         B, S;
    KOKKOS_INLINE_FUNCTION Real of(std::int64_t k, bool beside_column) const
    {
      const std::int64_t c = k % matrices, u = k / matrices / (2 * S), j = u / B;
      Real               column = beside_column ? 0 : 1;
      for (std::int64_t i = j > A.ku ? j - A.ku : 0; beside_column && i < n && i <= j + A.kl; ++i)
        for (int a = 0; a < B; ++a) {
          const Real size = magnitude(A(c, i, j, a, static_cast<int>(u % B)));
          if (!(size <= column)) column = size;
        }
      return magnitude(words(k)) * column;
    }
  };
  /// of each matrix and each adjacent separator, for both magnitudes
  using Largest = Kokkos::View<Real *[2], Memory>;
  struct LargestKernel {
    SpikeSizes sizes;
    Largest    largest;
    template <class Team>
    KOKKOS_FUNCTION void operator()(const Team &team) const
    {
      const std::int64_t spikes = static_cast<std::int64_t>(largest.extent(0)),
                         spike  = team.league_rank() % spikes;
      const bool       beside   = team.league_rank() >= spikes;
      const SpikeSizes of       = sizes;
      Real             most     = 0;
      Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, of.n * of.B),
        [=](const std::int64_t u, Real &m) {
          const Real a = of.of(u * spikes + spike, beside);
          if (!(a <= m)) m = is_finite(a) ? a : Real(1) / unit_roundoff<Scalar>() / unit_roundoff<Scalar>();
        },
        Kokkos::Max<Real>(most));
      Kokkos::single(Kokkos::PerTeam(team),
                     [&] { largest(static_cast<std::size_t>(spike), beside ? 1 : 0) = most; });
    }
  };
  /// Rows from an end in which a spike has not decayed below 1/32 of rounding, for either magnitude.
  struct ReachKernel {
    SpikeSizes           sizes;
    Largest              largest;
    bool                 right;
    KOKKOS_FUNCTION void operator()(const std::int64_t k, std::int64_t &reach) const
    {
      const std::int64_t spikes = static_cast<std::int64_t>(largest.extent(0)), spike = k % spikes,
                         i = k / spikes / sizes.B, distance = right ? sizes.n - i : i + 1;
      const bool of_right = spike / sizes.matrices >= sizes.S;
      for (int beside = 0; beside < 2; ++beside)
        if (of_right == right && distance > reach &&
            !(sizes.of(k, beside) <=
              largest(static_cast<std::size_t>(spike), beside) * unit_roundoff<Scalar>() / 32))
          reach = distance;
    }
  };
  struct KeepKernel {
    Words                words, to;
    std::int64_t         matrices, first; ///< unknown
    int                  S;
    bool                 right;
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      const std::int64_t c = k % matrices, s = k / matrices % S, u = k / matrices / S + first;
      to(k) = words((u * 2 * S + s + (right ? S : 0)) * matrices + c);
    }
  };
  /// The interior rows, without entries beyond an end of the line.
  struct RowsKernel {
    Matrix               A;
    CutPiece             piece;
    Values               to;
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      const auto         matrices = static_cast<std::int64_t>(to.extent(0));
      const std::int64_t c = k % matrices, i = k / matrices, n = piece.n();
      const int          words = A.B * A.B;
      for (int d = 0; d < static_cast<int>(to.extent(2)); ++d) {
        const std::int64_t j = i + d / words - A.kl;
        to(c, i, d) = (j < 0 && !piece.left) || (j >= n && !piece.right) ? Scalar(0) : A.values(c, i, d);
      }
    }
  };
};

} // namespace ribbon
