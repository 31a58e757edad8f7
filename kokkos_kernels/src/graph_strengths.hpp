// SPDX-License-Identifier: BSD-2-Clause
/// @file graph_strengths.hpp  Measures of the strength of couplings, for lines_from_graph().
#pragma once

#include "graph_couplings.hpp"

#include <complex>

namespace ribbon::graph {

template <class Scalar>
std::complex<double> as_complex(Scalar a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return {static_cast<double>(a), 0};
  else return {static_cast<double>(a.real()), static_cast<double>(a.imag())};
}

/// Norms of the diagonal blocks; the largest entry of the rows of a block whose diagonal block is zero.
template <class Scalar, class Index>
std::vector<double> sizes_of_diagonal(const CsrMatrix<Scalar, Index> &A, std::int64_t block)
{
  std::vector<double> size(at(A.rows / block), 0);
  for (std::int64_t i = 0; i < A.rows / block; ++i) {
    double largest = 0;
    for (Index e = A.row_begin[i * block]; e < A.row_begin[(i + 1) * block]; ++e) {
      const double a = static_cast<double>(magnitude(A.value[e]));
      if (!is_finite(a)) continue;
      if (A.column[e] / block == i) size[at(i)] = std::hypot(size[at(i)], a);
      largest = std::max(largest, a);
    }
    if (size[at(i)] == 0) size[at(i)] = largest > 0 ? largest : 1;
  }
  return size;
}

/// Divides entries by the root of the product of the diagonals of their row and of their column.
template <class Scalar, class Index>
void divide_by_diagonals(const CsrMatrix<Scalar, Index> &A, std::int64_t block, std::vector<Scalar> *value)
{
  using Real                     = real_t<Scalar>;
  const std::vector<double> size = sizes_of_diagonal(A, block);
  for (std::int64_t r = 0; r < A.rows; ++r)
    for (Index e = A.row_begin[r]; e < A.row_begin[r + 1]; ++e) {
      const std::int64_t c = static_cast<std::int64_t>(A.column[e]);
      if (c < 0 || c >= A.rows) continue;
      const double by = std::sqrt(size[at(r / block)]) * std::sqrt(size[at(c / block)]);
      (*value)[at(e)] *= static_cast<Real>(1 / by);
    }
}

/// Signs of the diagonal entries: a_ii / |a_ii|, or 1.
template <class Scalar, class Index>
std::vector<std::complex<double>> signs_of_diagonal(const CsrMatrix<Scalar, Index> &A)
{
  std::vector<std::complex<double>> sign(at(A.rows), 1);
  for (std::int64_t r = 0; r < A.rows; ++r)
    for (Index e = A.row_begin[r]; e < A.row_begin[r + 1]; ++e)
      if (const double a = static_cast<double>(magnitude(A.value[e]));
          A.column[e] == r && a > 0 && is_finite(a))
        sign[at(r)] = as_complex(A.value[e]) / a;
  return sign;
}

/// Replaces the entries of blocks whose trace has not the opposite sign of the diagonal by zero. A block of one
/// entry keeps the part that has the opposite sign.
template <class Scalar, class Index>
void keep_negative(const CsrMatrix<Scalar, Index> &A, std::int64_t block, std::vector<Scalar> *value)
{
  using Real      = real_t<Scalar>;
  const auto sign = signs_of_diagonal(A);
  const auto part = [&](std::int64_t r, Index e) {
    return (as_complex(A.value[e]) * std::conj(sign[at(r)])).real();
  };
  std::vector<double> trace(at(A.rows / block), 0); // of the blocks of a row of blocks
  for (std::int64_t i = 0; i < A.rows / block; ++i) {
    const auto each = [&](const auto &f) {
      for (std::int64_t r = i * block; r < (i + 1) * block; ++r)
        for (Index e = A.row_begin[r]; e < A.row_begin[r + 1]; ++e)
          if (A.column[e] >= 0 && A.column[e] < A.rows && A.column[e] / block != i) f(r, e);
    };
    each([&](std::int64_t r, Index e) {
      if (A.column[e] % block == r % block) trace[at(A.column[e] / block)] += part(r, e);
    });
    each([&](std::int64_t r, Index e) {
      if (!(trace[at(A.column[e] / block)] < 0)) (*value)[at(e)] = Scalar(0);
      else if (block == 1) (*value)[at(e)] = Scalar(static_cast<Real>(part(r, e)));
    });
    each([&](std::int64_t, Index e) { trace[at(A.column[e] / block)] = 0; });
  }
}

} // namespace ribbon::graph
