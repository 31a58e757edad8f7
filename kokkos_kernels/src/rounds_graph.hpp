// SPDX-License-Identifier: BSD-2-Clause
/// @file rounds_graph.hpp  Couplings of a sparse matrix in any memory, for lines_by_rounds().
#pragma once

#include <ribbon/lines_from_graph.hpp>

#include "positions.hpp"
#include "row_on_lines.hpp"

#include <cstring>

namespace ribbon::rounds {

/// couplings this close to the strongest coupling of a group are ties
constexpr float tie = 0.99f;
/// couplings this strong relative to another one form triangles and quadrilaterals with it
constexpr float alike = 0.9f;
/// above this count of entries of two rows there is no search for quadrilaterals
constexpr int long_rows = 256;

/// The bits of a positive float have the order of the floats.
KOKKOS_INLINE_FUNCTION std::uint32_t bits_of(float positive)
{
  std::uint32_t bits;
  memcpy(&bits, &positive, sizeof bits);
  return bits;
}

/// Weights from 2^-32 to 1 in 512 bins for each factor of 2.
constexpr int              weight_bins = 16384, bin_shift = 14;
constexpr int              first_bin = 65024 - weight_bins + 1; ///< 65024: bits of 1 without the last 14
KOKKOS_INLINE_FUNCTION int bin_of(float weight)
{
  const int bin = static_cast<int>(bits_of(weight) >> bin_shift) - first_bin;
  return bin < 0 ? 0 : bin >= weight_bins ? weight_bins - 1 : bin;
}

/// Position of column j among those of a row, which ascend; -1: the row does not store it.
KOKKOS_INLINE_FUNCTION std::int64_t find(const AnyIndices &begin, const AnyIndices &column, std::int64_t row,
                                         std::int64_t j)
{
  std::int64_t       first = begin[row];
  const std::int64_t last  = begin[row + 1];
  for (std::int64_t end = last; first < end;) {
    const std::int64_t middle = first + (end - first) / 2;
    if (column[middle] < j) first = middle + 1;
    else end = middle;
  }
  return first < last && column[first] == j ? first : -1;
}

/// A coupling in the order in which lines take them: smaller ones first.
struct Rank {
  std::uint64_t               group_and_distance;
  std::int32_t                row; ///< the smaller one of its rows
  KOKKOS_INLINE_FUNCTION bool operator<(const Rank &other) const
  {
    return group_and_distance != other.group_and_distance ? group_and_distance < other.group_and_distance
                                                          : row < other.row;
  }
};

/// Symmetric couplings of all rows.
struct Graph {
  std::int64_t         rows;
  AnyIndices           begin, column; ///< ascending columns
  const float         *weight;        ///< negative: too weak for a line; 0: no coupling
  const unsigned char *strong;        ///< strong couplings of each row, up to 3
  const std::uint16_t *group;         ///< of every bin of weights; ties have one group

  KOKKOS_INLINE_FUNCTION float coupling(std::int64_t i, std::int64_t j) const
  {
    const std::int64_t e = find(begin, column, i, j);
    return e < 0 ? 0 : size(e);
  }
  KOKKOS_INLINE_FUNCTION float size(std::int64_t e) const { return weight[e] < 0 ? -weight[e] : weight[e]; }
  KOKKOS_INLINE_FUNCTION std::int64_t degree(std::int64_t i) const { return begin[i + 1] - begin[i]; }
  KOKKOS_INLINE_FUNCTION Rank         rank(std::int64_t i, std::int64_t j, float w) const
  {
    const std::int64_t low = i < j ? i : j, high = i < j ? j : i;
    return {static_cast<std::uint64_t>(group[bin_of(w)]) << 32 | static_cast<std::uint64_t>(high - low),
            static_cast<std::int32_t>(low)};
  }
  /// Whether a path must not pass k, i and j: PathCover::turns() (path_cover.hpp) explains the rule.
  KOKKOS_INLINE_FUNCTION bool turns(std::int64_t k, std::int64_t i, std::int64_t j, float w) const
  {
    return k >= 0 && is_turn(k, i, j, alike * w, strong[i] <= 2 && strong[j] <= 2 && strong[k] <= 2);
  }
  KOKKOS_FUNCTION bool is_turn(std::int64_t k, std::int64_t i, std::int64_t j, float side, bool alone) const
  {
    if (coupling(k, j) >= side) return !alone;
    if (degree(k) + degree(j) > long_rows) return false;
    return is_corner(k, i, j, side, alone) || is_corner(j, i, k, side, alone);
  }
  /// Whether some m is the fourth corner, and (k, m) is the side that is about as strong as (i, j).
  KOKKOS_FUNCTION bool is_corner(std::int64_t k, std::int64_t i, std::int64_t j, float side, bool alone) const
  {
    for (std::int64_t e = begin[k]; e < begin[k + 1]; ++e) {
      const std::int64_t m = column[e];
      const float        w = size(e);
      if (w < side || m == i || (alone && strong[m] <= 2)) continue;
      const float opposite = coupling(j, m);
      if (opposite > 0 && coupling(i, m) < alike * (w < opposite ? w : opposite)) return true;
    }
    return false;
  }
};

/// |a_ii| of all rows; the largest entry of a row whose |a_ii| is 0 or not finite.
struct DiagonalKernel {
  CsrNumbers           A;
  double              *diagonal;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    double own = 0, largest = 0;
    for (std::int64_t e = A.row_begin[i]; e < A.row_begin[i + 1]; ++e) {
      const double a = A.value.size(e);
      if (!is_finite(a)) continue;
      if (A.column[e] == i) own = a;
      largest = a > largest ? a : largest;
    }
    diagonal[i] = own > 0 ? own : largest > 0 ? largest : 1;
  }
};

/// s_ij / max_k s_ik for the entries of a row that count, 0 for others.
struct RelativeKernel {
  CsrNumbers       A;
  std::int64_t     rows;
  double           least;
  CouplingStrength strength;
  const double    *diagonal; ///< of DiagonalKernel, for CouplingStrength::aggregation
  float           *relative;
  int             *unsorted; ///< 1: the columns of some row do not ascend

  using Complex = detail::AnyNumbers::Complex;
  /// a_ii / |a_ii|, or 1.
  KOKKOS_INLINE_FUNCTION Complex sign_of_diagonal(std::int64_t i) const
  {
    for (std::int64_t e = A.row_begin[i]; e < A.row_begin[i + 1]; ++e)
      if (const double a = A.value.size(e); A.column[e] == i && a > 0 && is_finite(a)) return A.value[e] / a;
    return Complex(1, 0);
  }
  KOKKOS_INLINE_FUNCTION double size(std::int64_t i, std::int64_t e, const Complex &sign) const
  {
    const std::int64_t c = A.column[e];
    if (strength == CouplingStrength::aggregation)
      return A.value.size(e) * (1 / (square_root(diagonal[i]) * square_root(diagonal[c])));
    if (strength == CouplingStrength::absolute || c == i) return A.value.size(e);
    const Complex a    = A.value[e];
    const double  part = a.real() * sign.real() + a.imag() * sign.imag();
    return part < 0 ? -part : part >= 0 ? 0 : part;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    const Complex sign    = strength == CouplingStrength::negative ? sign_of_diagonal(i) : Complex(1, 0);
    double        largest = 0, own = 0;
    for (std::int64_t e = A.row_begin[i]; e < A.row_begin[i + 1]; ++e) {
      const std::int64_t c = A.column[e];
      if (e > A.row_begin[i] && c <= A.column[e - 1]) *unsorted = 1;
      if (c < 0 || c >= rows) continue;
      const double s = size(i, e, sign);
      if (!is_finite(s)) continue;
      if (c == i) own = s;
      else largest = s > largest ? s : largest;
    }
    for (std::int64_t e = A.row_begin[i]; e < A.row_begin[i + 1]; ++e) {
      const std::int64_t c = A.column[e];
      const double       s = c < 0 || c >= rows || c == i ? 0 : size(i, e, sign);
      relative[e]          = s > 0 && is_finite(s) && s >= least * own ? static_cast<float>(s / largest) : 0;
    }
  }
};

/// Counts the couplings (i, j) whose entry (j, i) is not stored, or adds these entries to the new rows.
struct MissingKernel {
  std::int64_t         rows;
  AnyIndices           begin, column;
  const float         *relative;
  std::int64_t        *missing;  ///< of every row; null: they are written
  int                 *any;      ///< 1: there are some
  const std::int64_t  *to_begin; ///< of the new rows
  std::int64_t        *next;     ///< free place in each new row
  std::int32_t        *to_column;
  float               *to_relative;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    for (std::int64_t e = begin[i]; e < begin[i + 1]; ++e) {
      const std::int64_t j = column[e];
      if (!(relative[e] > 0) || find(begin, column, j, i) >= 0) continue;
      if (missing) {
        *any = 1;
        Kokkos::atomic_fetch_add(missing + j, std::int64_t(1));
        continue;
      }
      const std::int64_t at = Kokkos::atomic_fetch_add(next + j, std::int64_t(1));
      to_column[at]         = static_cast<std::int32_t>(i);
      to_relative[at]       = 0;
    }
  }
};

/// Copies the entries of a row whose columns are in the matrix to new rows, or counts them. MissingKernel
/// sees stored zeros, too.
struct CopyKernel {
  std::int64_t         rows;
  AnyIndices           begin, column;
  const float         *relative;
  std::int64_t        *count;    ///< grows; null: entries are copied
  const std::int64_t  *to_begin; ///< of the new rows
  std::int64_t        *next;     ///< free place in each new row
  std::int32_t        *to_column;
  float               *to_relative;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    std::int64_t at = count ? 0 : to_begin[i];
    for (std::int64_t e = begin[i]; e < begin[i + 1]; ++e) {
      const std::int64_t c = column[e];
      if (c < 0 || c >= rows) continue;
      if (!count) to_column[at] = static_cast<std::int32_t>(c), to_relative[at] = relative[e];
      ++at;
    }
    if (count) count[i] += at;
    else next[i] = at;
  }
};

/// Sorts the columns of a row: heap sort, as rows may have any length.
struct SortKernel {
  const std::int64_t         *begin;
  std::int32_t               *column;
  float                      *relative;
  KOKKOS_INLINE_FUNCTION void exchange(std::int64_t a, std::int64_t b) const
  {
    const std::int32_t c = column[a];
    const float        w = relative[a];
    column[a] = column[b], relative[a] = relative[b];
    column[b] = c, relative[b] = w;
  }
  KOKKOS_INLINE_FUNCTION void sink(std::int64_t first, std::int64_t at, std::int64_t n) const
  {
    for (std::int64_t child; (child = 2 * at + 1) < n; at = child) {
      if (child + 1 < n && column[first + child] < column[first + child + 1]) ++child;
      if (column[first + at] >= column[first + child]) return;
      exchange(first + at, first + child);
    }
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    const std::int64_t first = begin[i], n = begin[i + 1] - first;
    bool               sorted = true;
    for (std::int64_t k = 1; k < n; ++k) sorted = sorted && column[first + k - 1] < column[first + k];
    if (sorted) return;
    for (std::int64_t k = n / 2; k-- > 0;) sink(first, k, n);
    for (std::int64_t k = n; k-- > 1;) exchange(first, first + k), sink(first, 0, k);
  }
};

/// The mean of both directions of every coupling, and the weight that a strong coupling of a row needs.
struct WeightKernel {
  std::int64_t         rows;
  AnyIndices           begin, column;
  const float         *relative;
  double               threshold, anisotropy;
  float               *weight, *needed;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    constexpr double rounding = 1 - 1e-5;
    float            first = 0, second = 0, third = 0; // the largest ones
    for (std::int64_t e = begin[i]; e < begin[i + 1]; ++e) {
      const std::int64_t j     = column[e];
      const std::int64_t other = j < 0 || j >= rows || j == i ? -1 : find(begin, column, j, i);
      const float        w     = other < 0 ? 0 : (relative[e] + relative[other]) / 2;
      weight[e]                = w;
      if (w <= third) continue;
      third = second < w ? second : w;
      if (w > first) second = first, first = w;
      else if (w > second) second = w;
    }
    const double by_first = threshold * static_cast<double>(first),
                 by_third = anisotropy * static_cast<double>(third);
    needed[i]             = static_cast<float>(rounding * (by_first > by_third ? by_first : by_third));
  }
};

/// Marks couplings that are too weak by their sign, and the bins of the others.
struct StrongKernel {
  AnyIndices           begin, column;
  const float         *needed;
  float               *weight;
  unsigned char       *strong;
  unsigned char       *present; ///< of every bin of weights
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    int count = 0;
    for (std::int64_t e = begin[i]; e < begin[i + 1]; ++e) {
      const float w = weight[e];
      if (!(w > 0)) continue;
      if (w < needed[i] || w < needed[column[e]]) {
        weight[e] = -w;
        continue;
      }
      count += count < 3;
      unsigned char &bin = present[bin_of(w)];
      if (!bin) bin = 1;
    }
    strong[i] = static_cast<unsigned char>(count);
  }
};

} // namespace ribbon::rounds
