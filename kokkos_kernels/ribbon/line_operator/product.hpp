// SPDX-License-Identifier: BSD-2-Clause
/// @file product.hpp  Products of banded matrices with the lines of a set, and sums of lines.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_operator/halo.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

struct SameValue {
  template <class Scalar>
  KOKKOS_FUNCTION const Scalar &operator()(const Scalar &u, std::int64_t) const
  {
    return u;
  }
};

/// w = alpha B u + beta v, one work item for every row of every line in the order of memory.
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
  Halo<Scalar>                                halo = {}; ///< of lines that are not periodic

  KOKKOS_FUNCTION std::int64_t matrix(std::int64_t line) const
  {
    return class_of_line ? class_of_line[line % classified] : matrices == 1 ? 0 : line % matrices;
  }
  /// Element (line, row) of the halo: null if there is none.
  KOKKOS_FUNCTION const Scalar *beyond(std::int64_t l, std::int64_t row) const
  {
    const std::int64_t M = in.lines();
    if (row < 0) return halo.left ? halo.left + (row + kl) * M + l : nullptr;
    return halo.right ? halo.right + (row - in.rows) * M + l : nullptr;
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
      if ((j < 0 || j >= n) && !periodic) {
        if (const Scalar *value = beyond(l, j)) add_product(sum, B(c, stored, d + kl), map(*value, j));
        continue;
      }
      if (j < 0 || j >= n) j = (j % n + n) % n;
      add_product(sum, B(c, stored, d + kl), map(line[j * in.row_stride], j));
    }
    return sum;
  }
  /// Computes row i of line l.
  KOKKOS_FUNCTION void compute(std::int64_t l, std::int64_t i) const
  {
    Scalar sum = alpha * row(l, i, SameValue());
    if (beta != Scalar(0)) add_product(sum, beta, v[added(l, i)]);
    w[out(l, i)] = sum;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t n = in.rows;
    if (contiguous) compute(k / n, k % n);
    else compute(k % in.lines(), k / in.lines());
  }
};

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
