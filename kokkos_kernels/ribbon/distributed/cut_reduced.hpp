// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_reduced.hpp  Right-hand sides of the reduced systems of cut_lines.hpp, from the contributions
///   of the sub-lines, and their solutions.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

/// Places of the values of all sub-lines: value c of line l of sub-line p at p piece_stride + c
/// number_stride + l line_stride.
struct EndsLayout {
  std::int64_t piece_stride, number_stride, line_stride, pieces, lines;
  int          S; ///< unknowns of a group of separators
};

template <class Scalar>
struct ReducedRightHandSide {
  EndsLayout           at;
  const Scalar        *ends;
  Scalar              *r;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t l = k % at.lines, a = k / at.lines % at.S, p = k / at.lines / at.S,
                       next = (p + 1) % at.pieces;
    r[k]                    = ends[p * at.piece_stride + (at.S + a) * at.number_stride + l * at.line_stride] +
           ends[next * at.piece_stride + a * at.number_stride + l * at.line_stride];
  }
};
/// r of separators p from the contributions of sub-lines p (values S ..) and p + 1 (0 .. S - 1). Unknown a
/// of separators p of line l is at (p S + a) lines + l. Asynchronous on exec.
template <class Scalar, class Exec>
void add_ends(const Exec &exec, const EndsLayout &at, std::int64_t separators, const Scalar *ends, Scalar *r)
{
  Kokkos::parallel_for("ribbon::cut::add_ends", indices(exec, separators * at.S * at.lines),
                       ReducedRightHandSide<Scalar>{at, ends, r});
}

template <class Scalar>
struct ReducedSolution {
  EndsLayout           at;
  std::int64_t         separators;
  const Scalar        *z;
  Scalar              *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t c = k % (2 * at.S), l = k / (2 * at.S) % at.lines, p = k / (2 * at.S) / at.lines,
                       q = c >= at.S                 ? p
                           : p > 0                   ? p - 1
                           : separators == at.pieces ? at.pieces - 1
                                                     : -1;
    to[p * at.piece_stride + c * at.number_stride + l * at.line_stride] =
      q >= 0 && q < separators ? z[(q * at.S + c % at.S) * at.lines + l] : Scalar(0);
  }
};
/// Writes, for every sub-line, the separators left of it and its separators: 2 S values. Left of sub-line 0
/// are the last separators of a ring. Asynchronous on exec.
template <class Scalar, class Exec>
void spread_separators(const Exec &exec, const EndsLayout &at, std::int64_t separators, const Scalar *z,
                       Scalar *to)
{
  Kokkos::parallel_for("ribbon::cut::spread_separators", indices(exec, 2 * at.S * at.lines * at.pieces),
                       ReducedSolution<Scalar>{at, separators, z, to});
}

/// The messages between a sub-line and its neighbours: those to the left hold `carried` rows and S
/// contributions, those to the right S contributions and `carried` rows. Value c of line l is at c lines + l.
struct NeighbourMessages {
  std::int64_t lines;
  int          S, carried;
  bool         of_left; ///< whether the neighbour is the left one
};

template <class Scalar>
struct JoinKernel {
  NeighbourMessages at;
  const Scalar *own, *theirs; ///< messages sent left, then right; received from the left, then from the right
  Scalar       *z;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t all = (at.S + at.carried) * at.lines, ends = at.S * at.lines,
                       rows = at.carried * at.lines, next = k - ends;
    if (at.of_left) z[k] = k < ends ? own[rows + k] + theirs[k] : theirs[k];
    else if (k < ends) z[k] = own[all + k] + theirs[all + rows + k];
    // the last S of the own rows are the separators, which are followed by rows of the neighbour
    else z[k] = next < ends ? own[all + rows + next] : theirs[all + next - ends];
  }
};
/// z: S sums of the contributions of a sub-line and of a neighbour, then `carried` rows of u: those left of the
/// sub-line (of_left), or its separators and the first rows of the right neighbour. Asynchronous on exec.
template <class Scalar, class Exec>
void join_messages(const Exec &exec, const NeighbourMessages &at, const Scalar *own, const Scalar *theirs,
                   Scalar *z)
{
  Kokkos::parallel_for("ribbon::cut::join_messages", indices(exec, (at.S + at.carried) * at.lines),
                       JoinKernel<Scalar>{at, own, theirs, z});
}

} // namespace ribbon
