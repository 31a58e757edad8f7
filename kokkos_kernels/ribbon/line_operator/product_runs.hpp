// SPDX-License-Identifier: BSD-2-Clause
/// @file product_runs.hpp  Products of banded matrices with lines on a host, run by run: one row of
///   neighbouring lines, or neighbouring rows of a line. All elements of a run have the same terms, so that
///   they are computed in packs.
#pragma once

#include <ribbon/host/vectors.hpp>
#include <ribbon/line_operator/product.hpp>

#include <algorithm>
#include <numeric>

namespace ribbon {

template <class Scalar, class Memory>
struct ProductRunsKernel {
  static constexpr int most_terms = 17; ///< kl, ku <= 8
  static constexpr int tile       = 1024;

  BandProductKernel<Scalar, Memory> product;
  std::int64_t                      run; ///< lines at one stride in all sets

  ProductRunsKernel(const BandProductKernel<Scalar, Memory> &p) : product(p), run(p.in.lines())
  {
    const LineSet sets[] = {p.in, p.out, p.beta != Scalar(0) ? p.added : p.in};
    for (const LineSet &set : sets)
      if (set.count1 > 1) run = std::gcd(run, set.count0);
  }

  /// Work items: lines, or tiles of neighbouring lines.
  std::int64_t items() const
  {
    return product.contiguous ? product.in.lines()
                              : product.in.lines() / std::max<std::int64_t>(run, 1) * tiles();
  }
  void operator()(const std::int64_t k) const
  {
    host::with_widest_vectors_of_host([&] { product.contiguous ? along(k) : across(k); });
  }

private:
  /// An element of a run is the sum over its terms of b[t][q b_step] from[t][q step[t]], for element q.
  struct Terms {
    int           count = 0;
    const Scalar *b[most_terms], *from[most_terms];
    std::int64_t  step[most_terms], b_step = 0;
    bool          dense = true; ///< all steps are 1
    void          add(const Scalar *coefficient, const Scalar *values, std::int64_t distance)
    {
      b[count] = coefficient, from[count] = values, step[count] = distance, ++count;
      dense = dense && distance == 1;
    }
  };

  std::int64_t tiles() const { return (run + tile - 1) / tile; }
  /// Whether the matrices of neighbouring lines have one distance in memory.
  bool has_regular_matrices() const
  {
    return !product.class_of_line && (product.matrices == 1 || product.matrices == product.in.lines());
  }
  std::int64_t stored(std::int64_t i) const
  {
    return repeated_row(i, static_cast<std::int64_t>(product.B.extent(1)) / 2, product.repeats);
  }
  const Scalar *coefficient(std::int64_t l, std::int64_t i, int d) const
  {
    return &product.B(product.matrix(l), stored(i), d + product.kl);
  }

  /// Tile k of neighbouring lines, row by row.
  void across(std::int64_t k) const
  {
    const std::int64_t first = k / tiles() * run, begin = k % tiles() * tile,
                       count = std::min<std::int64_t>(tile, run - begin), l = first + begin,
                       n = product.in.rows;
    for (std::int64_t i = 0; i < n; ++i)
      if (has_regular_matrices()) row_of_lines(l, count, i);
      else
        for (std::int64_t q = 0; q < count; ++q) product.compute(l + q, i);
  }
  /// Row i of lines l .. l + count - 1.
  void row_of_lines(std::int64_t l, std::int64_t count, std::int64_t i) const
  {
    const LineSet     &in = product.in;
    const std::int64_t n  = in.rows;
    Terms              terms;
    terms.b_step = product.matrices == 1 ? 0 : static_cast<std::int64_t>(product.B.stride(0));
    for (int d = -product.kl; d <= product.ku; ++d) {
      const std::int64_t j      = i + d;
      const bool         inside = product.periodic || (j >= 0 && j < n);
      if (inside)
        terms.add(coefficient(l, i, d), product.u + in.begin(l) + (j % n + n) % n * in.row_stride,
                  in.stride0);
      else if (const Scalar *values = product.beyond(l, j)) terms.add(coefficient(l, i, d), values, 1);
    }
    compute(terms, count, l, i, product.out.stride0, product.added.stride0);
  }

  /// Line l: the rows whose terms are all on the line as runs, the others one by one.
  void along(std::int64_t l) const
  {
    const std::int64_t n = product.in.rows, first = std::min<std::int64_t>(product.kl, n),
                       last   = std::max(first, n - product.ku),
                       middle = static_cast<std::int64_t>(product.B.extent(1)) / 2,
                       behind = middle + product.repeats;
    const auto clip           = [&](std::int64_t i) { return std::min(std::max(i, first), last); };
    for (std::int64_t i = 0; i < first; ++i) product.compute(l, i);
    rows_of_line(l, first, clip(middle), false);
    rows_of_line(l, clip(middle), clip(behind), product.repeats > 1);
    rows_of_line(l, clip(behind), last, false);
    for (std::int64_t i = last; i < n; ++i) product.compute(l, i);
  }
  /// Rows begin .. end - 1 of line l, which are `stored_once` or row by row.
  void rows_of_line(std::int64_t l, std::int64_t begin, std::int64_t end, bool stored_once) const
  {
    const LineSet &in = product.in;
    Terms          terms;
    if (begin >= end) return;
    terms.b_step = stored_once ? 0 : static_cast<std::int64_t>(product.B.stride(1));
    for (int d = -product.kl; d <= product.ku; ++d)
      terms.add(coefficient(l, begin, d), product.u + in(l, begin + d), in.row_stride);
    compute(terms, end - begin, l, begin, product.out.row_stride, product.added.row_stride);
  }

  /// A run whose first element is row i of line l.
  void compute(const Terms &terms, std::int64_t count, std::int64_t l, std::int64_t i, std::int64_t to_step,
               std::int64_t v_step) const
  {
    using Pack          = typename host::PackOf<Scalar>::type;
    constexpr int lanes = static_cast<int>(sizeof(Pack) / sizeof(Scalar));
    const bool    adds  = product.beta != Scalar(0);
    Scalar *const to    = product.w + product.out(l, i);
    const Scalar *v     = adds ? product.v + product.added(l, i) : nullptr;
    const bool    packed =
      lanes > 1 && terms.dense && to_step == 1 && (!adds || v_step == 1) && terms.b_step <= 1;
    std::int64_t q = 0;
    if constexpr (lanes > 1)
      for (; packed && q + lanes <= count; q += lanes) {
        Pack sum = {}, value, factor;
        for (int t = 0; t < terms.count; ++t) {
          host::load_pack(terms.from[t] + q, value);
          if (terms.b_step == 0) sum += *terms.b[t] * value;
          else {
            host::load_pack(terms.b[t] + q, factor);
            sum += factor * value;
          }
        }
        sum *= product.alpha;
        if (adds) {
          host::load_pack(v + q, value);
          sum += product.beta * value;
        }
        host::store_pack(sum, to + q, false);
      }
    for (; q < count; ++q) {
      Scalar sum(0);
      for (int t = 0; t < terms.count; ++t)
        add_product(sum, terms.b[t][q * terms.b_step], terms.from[t][q * terms.step[t]]);
      sum *= product.alpha;
      if (adds) add_product(sum, product.beta, v[q * v_step]);
      to[q * to_step] = sum;
    }
  }
};

/// w = alpha B u + beta v. Asynchronous on exec. w must not overlap u; v may be w if it has its places.
/// @param class_of_line  of line l % classified; null: line l has matrix l % B.matrices()
/// @param halo           rows of neighbours; B, not periodic, stores the entries in them
template <class Scalar, class Exec>
void band_product(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &B,
                  const int *class_of_line, std::int64_t classified, Scalar alpha, const Scalar *u,
                  const LineSet &in, Scalar beta, const Scalar *v, const LineSet &added, Scalar *w,
                  const LineSet &out, const Halo<Scalar> &halo = {})
{
  const BandProductKernel<Scalar, typename Exec::memory_space> product{B.values,
                                                                       class_of_line,
                                                                       classified,
                                                                       B.matrices(),
                                                                       B.repeats,
                                                                       B.kl(),
                                                                       B.ku(),
                                                                       B.periodic,
                                                                       u,
                                                                       v,
                                                                       w,
                                                                       in,
                                                                       added,
                                                                       out,
                                                                       alpha,
                                                                       beta,
                                                                       out.is_contiguous(),
                                                                       halo};
  if constexpr (is_device_space<Exec>)
    Kokkos::parallel_for("ribbon::band_product", indices(exec, in.rows * in.lines()), product);
  else {
    const ProductRunsKernel<Scalar, typename Exec::memory_space> runs(product);
    Kokkos::parallel_for("ribbon::band_product", indices(exec, runs.items()), runs);
  }
}

} // namespace ribbon
