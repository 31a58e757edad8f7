// SPDX-License-Identifier: BSD-2-Clause
/// @file halo_product.hpp  Products of banded matrices with lines that span ranks: a sub-line and the rows of
///   its neighbours next to it.
#pragma once

#include <ribbon/bands.hpp>
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

/// One work item for every row of every line, in the order of memory.
template <class Scalar, class Memory>
struct HaloProductKernel {
  typename Bands<Scalar, Memory>::values_type B;
  int                                         kl, ku;
  Scalar                                      alpha, beta;
  LineSet                                     in, added, out;
  const Scalar                               *u, *v;
  Halo<Scalar>                                halo;
  Scalar                                     *w;
  bool                                        contiguous;
  KOKKOS_FUNCTION void                        operator()(const std::int64_t k) const
  {
    const std::int64_t n = in.rows, M = in.lines(), l = contiguous ? k / n : k % M,
                       i = contiguous ? k % n : k / M;
    const Scalar *line   = u + in.begin(l);
    Scalar        sum(0);
    for (int d = -kl; d <= ku; ++d) {
      const std::int64_t j = i + d;
      if (j >= 0 && j < n) add_product(sum, B(0, i, d + kl), line[j * in.row_stride]);
      else if (j < 0 && halo.left) add_product(sum, B(0, i, d + kl), halo.left[(j + kl) * M + l]);
      else if (j >= n && halo.right) add_product(sum, B(0, i, d + kl), halo.right[(j - n) * M + l]);
    }
    sum *= alpha;
    if (beta != Scalar(0)) add_product(sum, beta, v[added(l, i)]);
    w[out(l, i)] = sum;
  }
};

/// w = alpha B u + beta v. Asynchronous on exec. w must not overlap u; v may be w if it has its places.
/// @param B  one matrix, all rows stored, with the entries in rows of the halo
template <class Scalar, class Exec>
void halo_product(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &B,
                  const Halo<Scalar> &halo, Scalar alpha, const Scalar *u, const LineSet &in, Scalar beta,
                  const Scalar *v, const LineSet &added, Scalar *w, const LineSet &out)
{
  Kokkos::parallel_for("ribbon::halo_product", indices(exec, in.rows * in.lines()),
                       HaloProductKernel<Scalar, typename Exec::memory_space>{B.values, B.kl(), B.ku(), alpha,
                                                                              beta, in, added, out, u, v,
                                                                              halo, w, out.is_contiguous()});
}

} // namespace ribbon
