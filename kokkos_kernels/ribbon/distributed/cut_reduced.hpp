// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_reduced.hpp  Right-hand sides of the reduced systems of cut_lines.hpp, from the contributions
///   of the sub-lines, and their solutions.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

/// Places of the values of all sub-lines: value c of line l of sub-line p at p piece_stride + c
/// number_stride + l line_stride.
struct EndsLayout {
  std::int64_t piece_stride, number_stride, line_stride;
};

/// r of separators p from the contributions of sub-lines p (values S ..) and p + 1 (0 .. S - 1). Unknown a
/// of separators p of line l is at (p S + a) lines + l.
template <class Scalar>
struct ReducedRightHandSide {
  const Scalar        *ends;
  EndsLayout           at;
  std::int64_t         pieces, lines;
  int                  S;
  Scalar              *r;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t l = k % lines, a = k / lines % S, p = k / lines / S, next = (p + 1) % pieces;
    r[k] = ends[p * at.piece_stride + (S + a) * at.number_stride + l * at.line_stride] +
           ends[next * at.piece_stride + a * at.number_stride + l * at.line_stride];
  }
};

/// Writes, for every sub-line, the separators left of it and its separators: 2 S values. Left of sub-line 0
/// are the last separators of a ring. If the sub-lines are part of a longer line, the separators `before`
/// are left of it.
template <class Scalar>
struct ReducedSolution {
  /// value s of line l of `before` at s lines + l; null: no such separators
  const Scalar        *z, *before;
  EndsLayout           at;
  std::int64_t         pieces, separators, lines;
  int                  S;
  Scalar              *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t c = k % (2 * S), l = k / (2 * S) % lines, p = k / (2 * S) / lines,
                       q = c >= S                            ? p
                           : p > 0                           ? p - 1
                           : separators == pieces && !before ? pieces - 1
                                                             : -1;
    const Scalar *from   = q >= 0 && q < separators ? z + q * S * lines : c < S && p == 0 ? before : nullptr;
    to[p * at.piece_stride + c * at.number_stride + l * at.line_stride] =
      from ? from[c % S * lines + l] : Scalar(0);
  }
};

/// z = a + b.
template <class Scalar>
struct AddKernel {
  const Scalar        *a, *b;
  Scalar              *z;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const { z[k] = a[k] + b[k]; }
};

} // namespace ribbon
