// SPDX-License-Identifier: BSD-2-Clause
/// @file rounds_graph.hpp  Couplings of a sparse matrix in any memory, for lines_by_rounds().
#pragma once

#include <ribbon/lines_from_graph.hpp>

#include "positions.hpp"
#include "row_lanes.hpp"
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
/// @param guess  position that is tried first
KOKKOS_INLINE_FUNCTION std::int64_t find(const AnyIndices &begin, const AnyIndices &column, std::int64_t row,
                                         std::int64_t j, std::int64_t guess = -1)
{
  std::int64_t       first = begin[row];
  const std::int64_t last  = begin[row + 1];
  if (first <= guess && guess < last && column[guess] == j) return guess;
  for (std::int64_t end = last; first < end;) {
    const std::int64_t middle = first + (end - first) / 2;
    if (column[middle] < j) first = middle + 1;
    else end = middle;
  }
  return first < last && column[first] == j ? first : -1;
}
/// Position of entry (j, i), where entry e is (i, j). -1: it is not stored. Tries the mirrored position first: in a
/// stencil, (j, i) is as far from the end of row j as e is from the start of row i.
KOKKOS_INLINE_FUNCTION std::int64_t find_transposed(const AnyIndices &begin, const AnyIndices &column,
                                                    std::int64_t i, std::int64_t e)
{
  const std::int64_t j = column[e];
  return find(begin, column, j, i, begin[j + 1] - 1 - (e - begin[i]));
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
  const float         *weight;        ///< 0: no coupling
  const std::int32_t  *strong_count;  ///< number of couplings of each row that are strong enough for a line
  const std::int32_t  *strong_column; ///< their columns, ascending, from begin[i] on
  const float         *strong_weight;
  const std::uint16_t *group; ///< of every bin of weights; ties have one group

  KOKKOS_INLINE_FUNCTION float coupling(std::int64_t i, std::int64_t j) const
  {
    const std::int64_t e = find(begin, column, i, j);
    return e < 0 ? 0 : weight[e];
  }
  KOKKOS_INLINE_FUNCTION std::int64_t degree(std::int64_t i) const { return begin[i + 1] - begin[i]; }
  KOKKOS_INLINE_FUNCTION std::uint64_t group_of(float w) const { return group[bin_of(w)]; }
  KOKKOS_INLINE_FUNCTION Rank          rank(std::int64_t i, std::int64_t j, float w) const
  {
    const std::int64_t low = i < j ? i : j, high = i < j ? j : i;
    return {group_of(w) << 32 | static_cast<std::uint64_t>(high - low), static_cast<std::int32_t>(low)};
  }
  /// Whether a path must not pass k, i and j: PathCover::turns() (path_cover.hpp) explains the rule.
  KOKKOS_INLINE_FUNCTION bool turns(std::int64_t k, std::int64_t i, std::int64_t j, float w) const
  {
    return k >= 0 &&
           is_turn(k, i, j, alike * w, strong_count[i] <= 2 && strong_count[j] <= 2 && strong_count[k] <= 2);
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
      const float        w = weight[e];
      if (w < side || m == i || (alone && strong_count[m] <= 2)) continue;
      const float opposite = coupling(j, m);
      if (opposite > 0 && coupling(i, m) < alike * (w < opposite ? w : opposite)) return true;
    }
    return false;
  }
};

/// The diagonal entry and the largest other one of a row.
struct RowSizes {
  double                           own = 0, largest = 0;
  KOKKOS_INLINE_FUNCTION RowSizes &operator+=(const RowSizes &other)
  {
    own += other.own;
    if (other.largest > largest) largest = other.largest;
    return *this;
  }
  KOKKOS_INLINE_FUNCTION void add(double size, bool on_diagonal)
  {
    if (!is_finite(size)) return;
    if (on_diagonal) own = size;
    else if (size > largest) largest = size;
  }
};

/// |a_ii| of all rows; the largest entry of a row whose |a_ii| is 0 or not finite.
struct DiagonalKernel {
  CsrNumbers A;
  double    *diagonal;
  template <class Lanes>
  KOKKOS_FUNCTION void operator()(const Lanes &lanes, std::int64_t i) const
  {
    const auto s =
      lanes.template sum<RowSizes>(A.row_begin[i], A.row_begin[i + 1], [&](std::int64_t e, RowSizes &to) {
        to.add(A.value.size(e), A.column[e] == i);
      });
    lanes.once([&] { diagonal[i] = s.own > 0 ? s.own : s.largest > 0 ? s.largest : 1; });
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
    const std::int64_t e = find(A.row_begin, A.column, i, i);
    const double       a = e < 0 ? 0 : A.value.size(e);
    return a > 0 && is_finite(a) ? A.value[e] / a : Complex(1, 0);
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
  template <class Lanes>
  KOKKOS_FUNCTION void operator()(const Lanes &lanes, std::int64_t i) const
  {
    const std::int64_t first = A.row_begin[i], end = A.row_begin[i + 1];
    const Complex      sign = strength == CouplingStrength::negative ? sign_of_diagonal(i) : Complex(1, 0);
    const auto         most = lanes.template sum<RowSizes>(first, end, [&](std::int64_t e, RowSizes &to) {
      const std::int64_t c = A.column[e];
      if (e > first && c <= A.column[e - 1]) *unsorted = 1;
      if (c >= 0 && c < rows) to.add(size(i, e, sign), c == i);
    });
    lanes.each(first, end, [&](std::int64_t e) {
      const std::int64_t c = A.column[e];
      const double       s = c < 0 || c >= rows || c == i ? 0 : size(i, e, sign);
      relative[e] = s > 0 && is_finite(s) && s >= least * most.own ? static_cast<float>(s / most.largest) : 0;
    });
  }
};

/// Counts the couplings (i, j) whose entry (j, i) is not stored, or adds these entries to the new rows.
struct MissingKernel {
  std::int64_t         rows;
  AnyIndices           begin, column;
  const float         *relative;
  std::int64_t        *missing; ///< of every row; null: they are written
  std::int64_t        *next;    ///< free place in each new row
  std::int32_t        *to_column;
  float               *to_relative;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    for (std::int64_t e = begin[i]; e < begin[i + 1]; ++e) {
      const std::int64_t j = column[e];
      if (!(relative[e] > 0) || find(begin, column, j, i) >= 0) continue;
      if (missing) {
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

/// The largest weights of a row.
struct Largest {
  float                           first = 0, second = 0, third = 0;
  KOKKOS_INLINE_FUNCTION Largest &operator+=(float w)
  {
    if (w <= third) return *this;
    third = second < w ? second : w;
    if (w > first) second = first, first = w;
    else if (w > second) second = w;
    return *this;
  }
  KOKKOS_INLINE_FUNCTION Largest &operator+=(const Largest &other)
  {
    return *this += other.first, *this += other.second, *this += other.third;
  }
};

/// The mean of both directions of every coupling, and the weight that a strong coupling of a row needs.
struct WeightKernel {
  std::int64_t rows;
  AnyIndices   begin, column;
  const float *relative;
  double       threshold, anisotropy;
  float       *weight, *needed;
  int         *missing; ///< 1: for some coupling (i, j) the entry (j, i) is not stored
  template <class Lanes>
  KOKKOS_FUNCTION void operator()(const Lanes &lanes, std::int64_t i) const
  {
    constexpr double rounding = 1 - 1e-5;
    const auto       largest =
      lanes.template sum<Largest>(begin[i], begin[i + 1], [&](std::int64_t e, Largest &to) {
        const std::int64_t j     = column[e];
        const std::int64_t other = j < 0 || j >= rows || j == i ? -1 : find_transposed(begin, column, i, e);
        const float        w     = other < 0 ? 0 : (relative[e] + relative[other]) / 2;
        if (other < 0 && relative[e] > 0) *missing = 1;
        weight[e] = w;
        to += w;
      });
    const double by_first = threshold * static_cast<double>(largest.first),
                 by_third = anisotropy * static_cast<double>(largest.third);
    lanes.once(
      [&] { needed[i] = static_cast<float>(rounding * (by_first > by_third ? by_first : by_third)); });
  }
};

/// Strong couplings: those that reach the thresholds of both rows.
struct Strong {
  AnyIndices                  column;
  const float                *weight, *needed;
  KOKKOS_INLINE_FUNCTION bool operator()(std::int64_t i, std::int64_t e) const
  {
    const float w = weight[e];
    return w > 0 && w >= needed[i] && w >= needed[column[e]];
  }
};
/// Lists the strong couplings of every row, and marks the bins of their weights.
struct ListStrongKernel {
  AnyIndices     begin;
  Strong         strong;
  std::int32_t  *count, *to_column;
  float         *to_weight;
  unsigned char *present; ///< of every bin of weights
  template <class Lanes>
  KOKKOS_FUNCTION void operator()(const Lanes &lanes, std::int64_t i) const
  {
    const std::int64_t first = begin[i];
    lanes.each_chosen(
      first, begin[i + 1], [&](std::int64_t e) { return strong(i, e); },
      [&](std::int64_t e, int k) {
        const float    w     = strong.weight[e];
        unsigned char &bin   = present[bin_of(w)];
        to_column[first + k] = static_cast<std::int32_t>(strong.column[e]);
        to_weight[first + k] = w;
        if (!bin) bin = 1;
      },
      [&](int n) { count[i] = n; });
  }
};

} // namespace ribbon::rounds
