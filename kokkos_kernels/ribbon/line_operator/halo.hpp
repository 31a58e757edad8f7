// SPDX-License-Identifier: BSD-2-Clause
/// @file halo.hpp  Rows of the neighbours next to sub-lines, for products with lines that span ranks.
#pragma once

#include <ribbon/compat.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// Rows beyond the ends of sub-lines. Row r of line l is at r lines + l.
template <class Scalar>
struct Halo {
  const Scalar *left  = nullptr; ///< the kl rows before a sub-line; null: it begins its line
  const Scalar *right = nullptr; ///< the ku rows behind it; null: it ends its line
};

/// Copies the first `ku` rows of all lines to to_left, and the last `kl` rows to to_right.
template <class Scalar>
struct PackHaloKernel {
  LineSet              lines;
  int                  kl, ku;
  const Scalar        *u;
  Scalar              *to_left, *to_right;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t M = lines.lines(), l = k % M, r = k / M;
    if (r < ku) to_left[k] = u[lines(l, r)];
    else to_right[k - ku * M] = u[lines(l, lines.rows - kl + r - ku)];
  }
};

/// Asynchronous on exec. Sub-lines have at least max(kl, ku) rows.
template <class Scalar, class Exec>
void pack_halo(const Exec &exec, const LineSet &lines, int kl, int ku, const Scalar *u, Scalar *to_left,
               Scalar *to_right)
{
  Kokkos::parallel_for("ribbon::pack_halo", indices(exec, (kl + ku) * lines.lines()),
                       PackHaloKernel<Scalar>{lines, kl, ku, u, to_left, to_right});
}

} // namespace ribbon
