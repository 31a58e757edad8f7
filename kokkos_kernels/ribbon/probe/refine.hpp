// SPDX-License-Identifier: BSD-2-Clause
/// @file refine.hpp  Residuals in the precision of vectors, for lines whose matrices are stored in a
///   shorter type.
///
/// round_bands() (precision.hpp) stores R = alpha A in float. Solves in float are refined in double with
/// the stored matrix A' = R / alpha:
///
///     r = b - A' x,   x += S r       with S, the solve in float, near the inverse of A'
///
/// Then x -> A'^-1 b is linear to the roundoff of double (Higham, Accuracy and Stability of Numerical
/// Algorithms, SIAM, 2002, chapter 12).
#pragma once

#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/line_set.hpp>
#include <ribbon/matrix/matrix_of_line.hpp>
#include <ribbon/probe/noise.hpp>

#include <limits>

namespace ribbon {

/// One thread per row of a line.
template <class Scalar, class Short, class Memory>
struct ShortResidualKernel {
  BandEntries<Short, Memory> entry;
  MatrixOfLine               matrix;
  Scalar                     alpha;
  bool                       transposed, contiguous;
  LineSet                    in, at;
  const Scalar              *b; ///< null: zeros
  const Scalar              *x;
  Scalar                    *r;
  KOKKOS_FUNCTION std::int64_t wrap(std::int64_t i) const
  {
    return ((i % entry.rows) + entry.rows) % entry.rows;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t l = contiguous ? k / at.rows : k % at.lines(),
                       i = contiguous ? k % at.rows : k / at.lines(), c = matrix(l);
    const int first = transposed ? -entry.upper : -entry.lower, last = transposed ? entry.lower : entry.upper;
    for (int a = 0; a < entry.block; ++a) {
      Scalar sum(0);
      for (int d = first; d <= last; ++d) {
        const std::int64_t j = i + d;
        if (!entry.periodic && (j < 0 || j >= entry.rows)) continue;
        const std::int64_t to = entry.periodic ? wrap(j) : j;
        for (int e = 0; e < entry.block; ++e)
          sum += static_cast<Scalar>(transposed ? entry(c, to, -d, e, a) : entry(c, i, d, a, e)) *
                 x[at(l, to) + e * at.component_stride];
      }
      const Scalar right                    = b ? b[in(l, i) + a * in.component_stride] : Scalar(0);
      r[at(l, i) + a * at.component_stride] = right - sum / alpha;
    }
  }
};

/// r = b - A' x line by line, or with the transpose of A'. r and x lie on `at`, b on `in` (null: zeros). r
/// must not be x. Asynchronous on exec, allocates no memory.
/// @param rounded  alpha A, of `lines` lines; `at` has a multiple of these
template <class Scalar, class Short, class Exec>
void short_residual(const Exec &exec, const Bands<Short, typename Exec::memory_space> &rounded,
                    std::int64_t lines, Scalar alpha, bool transposed, const LineSet &in, const Scalar *b,
                    const LineSet &at, const Scalar *x, Scalar *r)
{
  using Memory               = typename Exec::memory_space;
  const int *const   classes = rounded.lhs == Lhs::classes ? rounded.class_of_line.data() : nullptr;
  const MatrixOfLine matrix{classes, rounded.matrices(), 0, lines};
  Kokkos::parallel_for("ribbon::short_residual", indices(exec, at.lines() * at.rows),
                       ShortResidualKernel<Scalar, Short, Memory>{BandEntries<Short, Memory>(rounded), matrix,
                                                                  alpha, transposed, at.is_contiguous(), in,
                                                                  at, b, x, r});
}

template <class Scalar>
struct SumLinesKernel {
  LineSet              at, out;
  const Scalar        *x, *d;
  Scalar              *to;
  bool                 contiguous;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t l = contiguous ? k / at.rows : k % at.lines(),
                       i = contiguous ? k % at.rows : k / at.lines();
    for (int a = 0; a < at.components; ++a) {
      const std::int64_t place                 = at(l, i) + a * at.component_stride;
      to[out(l, i) + a * out.component_stride] = x[place] + d[place];
    }
  }
};

/// to = x + d line by line; x and d lie on `at`, `to` on `out`. Asynchronous on exec, allocates no memory.
template <class Scalar, class Exec>
void sum_lines(const Exec &exec, const LineSet &at, const Scalar *x, const Scalar *d, const LineSet &out,
               Scalar *to)
{
  Kokkos::parallel_for("ribbon::sum_lines", indices(exec, at.lines() * at.rows),
                       SumLinesKernel<Scalar>{at, out, x, d, to, out.is_contiguous()});
}

template <class Scalar>
struct NoiseKernel {
  Scalar              *x;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    x[k] = noise<Scalar>(static_cast<std::uint64_t>(k));
  }
};

/// n random values in [-1, 1). Asynchronous on exec.
template <class Scalar, class Exec>
void fill_with_noise(const Exec &exec, std::int64_t n, Scalar *x)
{
  Kokkos::parallel_for("ribbon::noise", indices(exec, n), NoiseKernel<Scalar>{x});
}

/// Finds rows that have entries, all of which are below the normal range of the shorter type.
template <class Scalar, class Short, class Memory>
struct BelowRangeKernel {
  BandEntries<Scalar, Memory> from;
  BandEntries<Short, Memory>  to;
  real_t<Short>               least;
  KOKKOS_FUNCTION void        operator()(const std::int64_t k, std::int64_t &first) const
  {
    const std::int64_t c = k / from.rows, i = k % from.rows;
    for (int a = 0; a < from.block; ++a)
      if (from.row_max(c, i, a) > 0 && to.row_max(c, i, a) < least && k < first) first = k;
  }
};

/// matrix * rows + row of the first row of `bands` whose entries are all below the range of the shorter
/// type; -1: no such row. Waits for the result.
template <class Scalar, class Short, class Exec>
std::int64_t first_row_below_range(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                                   const Bands<Short, typename Exec::memory_space> &rounded)
{
  using Memory                 = typename Exec::memory_space;
  constexpr std::int64_t none  = std::numeric_limits<std::int64_t>::max();
  std::int64_t           first = none;
  Kokkos::parallel_reduce("ribbon::below_range", indices(exec, bands.matrices() * bands.rows()),
                          BelowRangeKernel<Scalar, Short, Memory>{BandEntries<Scalar, Memory>(bands),
                                                                  BandEntries<Short, Memory>(rounded),
                                                                  std::numeric_limits<Short>::min()},
                          Kokkos::Min<std::int64_t>(first));
  return first == none ? -1 : first;
}

} // namespace ribbon
