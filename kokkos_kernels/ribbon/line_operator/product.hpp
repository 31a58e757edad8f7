// SPDX-License-Identifier: BSD-2-Clause
/// @file product.hpp  Products of banded matrices with the lines of a set, and sums of lines.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

struct SameValue {
  template <class Scalar>
  KOKKOS_FUNCTION const Scalar &operator()(const Scalar &u, std::int64_t) const
  {
    return u;
  }
};

/// One work item for every row of every line, in the order of memory.
/// w = alpha B u + beta v.
template <class Scalar, class Memory>
struct BandProductKernel {
  typename Bands<Scalar, Memory>::values_type B;
  const int                                  *class_of_line; ///< null: matrix l % matrices of line l
  std::int64_t                                classified, matrices, repeats;
  int                                         kl, ku;
  bool                                        periodic;
  const Scalar                               *u, *v;
  Scalar                                     *w;
  LineSet                                     in, added, out;
  Scalar                                      alpha, beta;
  bool                                        contiguous;

  KOKKOS_FUNCTION std::int64_t matrix(std::int64_t line) const
  {
    return class_of_line ? class_of_line[line % classified] : matrices == 1 ? 0 : line % matrices;
  }
  /// Row i of B times map(u, row) of line l.
  template <class Map>
  KOKKOS_FUNCTION Scalar row(std::int64_t l, std::int64_t i, const Map &map) const
  {
    const std::int64_t n = in.rows, c = matrix(l),
                       stored = repeated_row(i, static_cast<std::int64_t>(B.extent(1)) / 2, repeats);
    const Scalar *line        = u + in.begin(l);
    Scalar        sum(0);
    for (int d = -kl; d <= ku; ++d) {
      std::int64_t j = i + d;
      if (j < 0 || j >= n) {
        if (!periodic) continue;
        j = (j % n + n) % n;
      }
      add_product(sum, B(c, stored, d + kl), map(line[j * in.row_stride], j));
    }
    return sum;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t n = in.rows, l = contiguous ? k / n : k % in.lines(),
                       i = contiguous ? k % n : k / in.lines();
    Scalar sum           = alpha * row(l, i, SameValue());
    if (beta != Scalar(0)) add_product(sum, beta, v[added(l, i)]);
    w[out(l, i)] = sum;
  }
};

/// w = alpha B u + beta v. Asynchronous on exec. w must not overlap u; v may be w if it has its places.
/// @param class_of_line  of line l % classified; null: line l has matrix l % B.matrices()
template <class Scalar, class Exec>
void band_product(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &B,
                  const int *class_of_line, std::int64_t classified, Scalar alpha, const Scalar *u,
                  const LineSet &in, Scalar beta, const Scalar *v, const LineSet &added, Scalar *w,
                  const LineSet &out)
{
  Kokkos::parallel_for("ribbon::band_product", indices(exec, in.rows * in.lines()),
                       BandProductKernel<Scalar, typename Exec::memory_space>{
                         B.values, class_of_line, classified, B.matrices(), B.repeats, B.kl(), B.ku(),
                         B.periodic, u, v, w, in, added, out, alpha, beta, out.is_contiguous()});
}

/// y = w + beta v, for every row of every line in the order of memory.
template <class Scalar>
struct AddLinesKernel {
  const Scalar        *w, *v;
  Scalar              *y;
  LineSet              in, added, out;
  Scalar               beta;
  bool                 contiguous;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t l = contiguous ? k / in.rows : k % in.lines(),
                       i = contiguous ? k % in.rows : k / in.lines();
    Scalar sum           = w[in(l, i)];
    add_product(sum, beta, v[added(l, i)]);
    y[out(l, i)] = sum;
  }
};

/// y = w + beta v on all lines. Asynchronous on exec.
template <class Scalar, class Exec>
void add_lines(const Exec &exec, const Scalar *w, const LineSet &in, Scalar beta, const Scalar *v,
               const LineSet &added, Scalar *y, const LineSet &out)
{
  Kokkos::parallel_for("ribbon::add_lines", indices(exec, in.rows * in.lines()),
                       AddLinesKernel<Scalar>{w, v, y, in, added, out, beta, out.is_contiguous()});
}

} // namespace ribbon
