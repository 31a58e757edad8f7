// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_reduced.hpp  Right-hand sides of the reduced systems of cut_lines.hpp, from what the pieces
///   brought, and solutions for them.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

/// Where the numbers of all pieces are: number c of line l of piece p at p piece_stride + c
/// number_stride + l line_stride.
struct EndsLayout {
  std::int64_t piece_stride, number_stride, line_stride;
};

/// r of separators p from what pieces p (numbers S ..) and p + 1 (0 .. S - 1) brought; unknown a of
/// separators p of line l at (p S + a) lines + l.
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

/// For every piece the separators left of it and its own, 2 S numbers. Left of piece 0 are the last ones of a
/// ring, or, where these pieces are some of a longer line, the `before`.
template <class Scalar>
struct ReducedSolution {
  const Scalar        *z, *before; ///< number s of line l of `before` at s lines + l; null: there are none
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
