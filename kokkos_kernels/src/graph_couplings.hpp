// SPDX-License-Identifier: BSD-2-Clause
/// @file graph_couplings.hpp  Couplings of the rows of a sparse matrix, for lines_from_graph().
#pragma once

#include <ribbon/lines_from_graph.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace ribbon::graph {

inline std::size_t at(std::int64_t k)
{
  return static_cast<std::size_t>(k);
}

/// Couplings of every row, compressed. Couplings of weight 0 are none.
template <class Index>
struct Couplings {
  std::vector<std::int64_t> begin;
  std::vector<Index>        own_column;       ///< empty: `column` is that of the matrix
  const Index              *column = nullptr; ///< ascending in every row
  std::vector<float>        weight;

  explicit Couplings(std::int64_t rows) : begin(at(rows) + 1, 0) { }
  Couplings(Couplings &&)            = default;
  Couplings &operator=(Couplings &&) = default;
  Couplings(const Couplings &)       = delete;

  std::int64_t rows() const { return static_cast<std::int64_t>(begin.size()) - 1; }
  std::int64_t degree(std::int64_t i) const { return begin[at(i) + 1] - begin[at(i)]; }
  void         push(std::int64_t j, float w)
  {
    own_column.push_back(static_cast<Index>(j));
    weight.push_back(w);
  }
  void end_row(std::int64_t i) { begin[at(i) + 1] = static_cast<std::int64_t>(own_column.size()); }
  void end() { column = own_column.data(); }
  /// Weight of (i, j), 0 if they do not couple.
  float operator()(std::int64_t i, std::int64_t j) const
  {
    const Index *first = column + begin[at(i)], *last = column + begin[at(i) + 1],
                *found = std::lower_bound(first, last, static_cast<Index>(j));
    return found != last && *found == static_cast<Index>(j) ? weight[at(found - column)] : 0;
  }
};

/// |a_ij| / max_k |a_ik| of the entries that count, in the order of the matrix.
template <class Scalar, class Index>
Couplings<Index> relative_sizes(const CsrMatrix<Scalar, Index> &A, std::int64_t block, double least)
{
  Couplings<Index>    relative(A.rows / block);
  const std::int64_t  rows = relative.rows();
  std::vector<double> size(at(rows), 0);
  std::vector<Index>  touched;
  for (std::int64_t i = 0; i < rows; ++i) {
    touched.clear();
    for (Index e = A.row_begin[i * block]; e < A.row_begin[(i + 1) * block]; ++e) {
      const double       a = static_cast<double>(magnitude(A.value[e]));
      const std::int64_t c = static_cast<std::int64_t>(A.column[e]);
      if (!(a > 0) || !is_finite(a) || c < 0 || c >= A.rows) continue;
      double &s = size[at(c / block)];
      if (s == 0) touched.push_back(static_cast<Index>(c / block));
      s = block == 1 ? s + a : std::hypot(s, a);
    }
    double largest = 0;
    for (Index j : touched)
      if (j != i) largest = std::max(largest, size[at(j)]);
    for (Index j : touched) {
      if (j == i || size[at(j)] < least * size[at(i)]) continue;
      const float w = static_cast<float>(size[at(j)] / largest);
      if (w > 0) relative.push(j, w);
    }
    relative.end_row(i);
    for (Index j : touched) size[at(j)] = 0;
  }
  relative.end();
  return relative;
}

/// The transpose, columns sorted.
template <class Index>
Couplings<Index> transpose_of(const Couplings<Index> &C)
{
  Couplings<Index> T(C.rows());
  for (Index j : C.own_column) ++T.begin[at(j) + 1];
  std::partial_sum(T.begin.begin(), T.begin.end(), T.begin.begin());
  T.own_column.resize(C.own_column.size());
  T.weight.resize(C.own_column.size());
  std::vector<std::int64_t> next(T.begin.begin(), T.begin.end() - 1);
  for (std::int64_t i = 0; i < C.rows(); ++i)
    for (std::int64_t e = C.begin[at(i)]; e < C.begin[at(i) + 1]; ++e) {
      const std::int64_t to = next[at(C.column[e])]++;
      T.own_column[at(to)]  = static_cast<Index>(i);
      T.weight[at(to)]      = C.weight[at(e)];
    }
  T.end();
  return T;
}

/// (C + C^T) / 2, columns sorted.
template <class Index>
Couplings<Index> symmetric_part(const Couplings<Index> &C)
{
  const Couplings<Index> T = transpose_of(C), S = transpose_of(T); // S is C with sorted columns
  Couplings<Index>       sum(C.rows());
  for (std::int64_t i = 0; i < C.rows(); ++i) {
    std::int64_t       s = S.begin[at(i)], t = T.begin[at(i)];
    const std::int64_t s_end = S.begin[at(i) + 1], t_end = T.begin[at(i) + 1];
    while (s < s_end || t < t_end) {
      const bool from_s = s < s_end && (t == t_end || S.column[s] <= T.column[t]),
                 from_t = t < t_end && (s == s_end || T.column[t] <= S.column[s]);
      sum.push(from_s ? S.column[s] : T.column[t],
               ((from_s ? S.weight[at(s)] : 0) + (from_t ? T.weight[at(t)] : 0)) / 2);
      s += from_s, t += from_t;
    }
    sum.end_row(i);
  }
  sum.end();
  return sum;
}

/// The same as symmetric_part(relative_sizes()) in two passes that write weights alone, for rows without
/// blocks, with ascending columns and a symmetric pattern, as PETSc stores most matrices.
/// @return false: the matrix has another form
template <class Scalar, class Index>
bool couplings_in_place(const CsrMatrix<Scalar, Index> &A, double least, Couplings<Index> *C)
{
  if (A.rows == 0) return false;
  const Index *begin = A.row_begin, *column = A.column;
  C->weight.resize(at(static_cast<std::int64_t>(begin[A.rows])));
  float *w = C->weight.data();
  for (Index i = 0; i < static_cast<Index>(A.rows); ++i) {
    double largest = 0, diagonal = 0;
    Index  before = -1;
    for (Index e = begin[i]; e < begin[i + 1]; before = column[e++]) {
      const Index c = column[e];
      if (c <= before || static_cast<std::int64_t>(c) >= A.rows) return false;
      const double a = static_cast<double>(magnitude(A.value[e]));
      if (!is_finite(a)) continue;
      double &to = c == i ? diagonal : largest;
      to         = std::max(to, a);
    }
    for (Index e = begin[i]; e < begin[i + 1]; ++e) {
      const double a      = static_cast<double>(magnitude(A.value[e]));
      const bool   counts = a > 0 && is_finite(a) && column[e] != i && a >= least * diagonal;
      w[e]                = counts ? static_cast<float>(a / largest) : 0;
    }
  }
  // row i meets the entries (j, i) of later rows in their order
  std::vector<Index> next(begin, begin + A.rows);
  for (Index i = 0; i < static_cast<Index>(A.rows); ++i) {
    Index e = next[at(i)];
    if (e < begin[i + 1] && column[e] < i) return false; // row column[e] does not store i
    if (e < begin[i + 1] && column[e] == i) ++e;
    for (; e < begin[i + 1]; ++e) {
      const Index j = column[e], other = next[at(j)]++;
      if (other == begin[j + 1] || column[other] != i) return false;
      w[e] = w[other] = (w[e] + w[other]) / 2;
    }
  }
  C->begin.assign(begin, begin + A.rows + 1);
  C->column = column;
  return true;
}

/// The couplings of a matrix: symmetric, columns ascending. They may refer to the columns of the matrix.
template <class Scalar, class Index>
Couplings<Index> couplings_of(const CsrMatrix<Scalar, Index> &A, const LinesOfGraphOptions &options)
{
  if (options.block == 1) {
    Couplings<Index> C(0);
    if (couplings_in_place(A, options.least, &C)) return C;
  }
  return symmetric_part(relative_sizes(A, options.block, options.least));
}

/// Couplings that can be on a line.
template <class Index>
Couplings<Index> strong_ones(const Couplings<Index> &C, const LinesOfGraphOptions &options)
{
  constexpr double   rounding = 1 - 1e-5; // couplings are stored in float
  std::vector<float> needed(at(C.rows()));
  for (std::int64_t i = 0; i < C.rows(); ++i) {
    float first = 0, second = 0, third = 0; // the largest ones
    for (std::int64_t e = C.begin[at(i)]; e < C.begin[at(i) + 1]; ++e) {
      const float w = C.weight[at(e)];
      if (w <= third) continue;
      third = std::min(second, w);
      if (w > first) second = std::exchange(first, w);
      else second = std::max(second, w);
    }
    needed[at(i)] = static_cast<float>(rounding * std::max(options.threshold * static_cast<double>(first),
                                                           options.anisotropy * static_cast<double>(third)));
  }
  Couplings<Index> strong(C.rows());
  std::int64_t     count = 0;
  strong.own_column.resize(C.weight.size());
  strong.weight.resize(C.weight.size());
  for (std::int64_t i = 0; i < C.rows(); ++i) {
    const float own = needed[at(i)];
    for (std::int64_t e = C.begin[at(i)]; e < C.begin[at(i) + 1]; ++e) {
      const float w = C.weight[at(e)];
      if (w <= 0 || w < own || w < needed[at(C.column[e])]) continue;
      strong.own_column[at(count)] = C.column[e];
      strong.weight[at(count++)]   = w;
    }
    strong.begin[at(i) + 1] = count;
  }
  strong.own_column.resize(at(count));
  strong.weight.resize(at(count));
  strong.end();
  return strong;
}

} // namespace ribbon::graph
