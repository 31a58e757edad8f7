// SPDX-License-Identifier: BSD-2-Clause
/// @file couplings.hpp  Computes LineCouplings of a matrix, row by row.
#pragma once

#include "row_on_lines.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace ribbon {

/// The result so far. Members for rows hold the first row with the property; `none`: no row.
struct CouplingsReducer {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  std::int64_t bandwidth = 0, stored = 0, periodic = 0, stored_periodic = 0, entries = 0, across = 0,
               component = none, too_far = none, no_diagonal = none, not_finite = none, zero_sums = 0;
  KOKKOS_INLINE_FUNCTION static std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
  KOKKOS_INLINE_FUNCTION static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  RIBBON_ADD_VOLATILE(CouplingsReducer)
  KOKKOS_INLINE_FUNCTION CouplingsReducer   &operator+=(const CouplingsReducer &o)
  {
    bandwidth       = larger(bandwidth, o.bandwidth);
    stored          = larger(stored, o.stored);
    periodic        = larger(periodic, o.periodic);
    stored_periodic = larger(stored_periodic, o.stored_periodic);
    across          = larger(across, o.across);
    zero_sums       = larger(zero_sums, o.zero_sums);
    component       = smaller(component, o.component);
    entries += o.entries;
    too_far     = smaller(too_far, o.too_far);
    no_diagonal = smaller(no_diagonal, o.no_diagonal);
    not_finite  = smaller(not_finite, o.not_finite);
    return *this;
  }
};

/// Examines row k.
struct CouplingsKernel {
  CsrNumbers           A;
  LinePlaces           lines;
  KOKKOS_FUNCTION void operator()(const std::int64_t k, CouplingsReducer &r) const
  {
    const RowOnLines row(lines, k);
    bool             has_diagonal = false, is_finite_row = true, joins_components = false, wrapped = false,
         stored_wrapped = false;
    // distances of nonzero entries, of all entries
    int                     reach = 0, stored = 0, entries = 0;
    Kokkos::complex<double> sum(0);
    double                  largest = 0;
    const std::int64_t      end     = A.row_begin[k + 1];
    for (std::int64_t e = A.row_begin[k]; e < end; ++e) {
      const std::int64_t            column = A.column[e];
      const Kokkos::complex<double> value  = A.value[e];
      const double size_of_entry           = A.value.is_complex() ? magnitude(value) : fabs(value.real());
      const bool   zero                    = size_of_entry == 0;
      const Entry  entry                   = row.to(column);
      const int    size                    = entry.distance < 0 ? -entry.distance : entry.distance;
      has_diagonal                         = has_diagonal || column == k;
      if (size == 0 && !entry.same) {
        if (zero) continue;
        if (on_line(row.at(column), row)) {
          r.too_far     = CouplingsReducer::smaller(r.too_far, k);
          is_finite_row = is_finite_row && is_finite(size_of_entry);
        }
        r.across = 1;
        continue;
      }
      is_finite_row = is_finite_row && is_finite(size_of_entry);
      sum += value;
      largest          = size_of_entry > largest ? size_of_entry : largest;
      joins_components = joins_components || (!zero && row.other_component(column));
      if (entry.same) continue;
      ++entries;
      stored         = size > stored ? size : stored;
      stored_wrapped = stored_wrapped || entry.wrapped;
      if (zero) continue;
      reach   = size > reach ? size : reach;
      wrapped = wrapped || entry.wrapped;
    }
    r.entries += entries;
    r.stored    = CouplingsReducer::larger(r.stored, stored);
    r.bandwidth = CouplingsReducer::larger(r.bandwidth, reach);
    if (stored_wrapped) r.stored_periodic = 1;
    if (wrapped) r.periodic = 1;
    if (joins_components) r.component = CouplingsReducer::smaller(r.component, k);
    if (!is_finite_row) r.not_finite = CouplingsReducer::smaller(r.not_finite, k);
    if ((A.value.is_complex() ? magnitude(sum) : fabs(sum.real())) <= 100 * A.value.roundoff() * largest)
      r.zero_sums = 1;
    if (!has_diagonal) r.no_diagonal = CouplingsReducer::smaller(r.no_diagonal, k);
  }
  /// Whether a place that is out of reach along the line is on it.
  KOKKOS_INLINE_FUNCTION bool on_line(std::int64_t other, const RowOnLines &row) const
  {
    return place_of(lines.lines, other).line == row.place.line && lines.same_line(row.k, other);
  }
};

/// The rows of a matrix on a host, one after another. Consecutive rows mostly have entries at the same
/// distances from the diagonal. For such a row only the values are read. A row matches the pattern of an
/// earlier one if it has the same distances, and all its entries are finite and nonzero. It must also be
/// farther than `reach` from both ends of its line. It then changes only the count of entries and
/// `zero_sums`.
template <class Scalar, class Index>
struct CouplingsOfHost {
  static constexpr std::int64_t elements = 1024; ///< of a task

  CsrMatrix<Scalar, Index> A;
  CouplingsKernel          kernel; ///< of lines that lie in the matrix itself

  std::int64_t tasks() const { return (A.rows / kernel.lines.components + elements - 1) / elements; }

  void operator()(std::int64_t task, CouplingsReducer &r) const
  {
    const int            B     = kernel.lines.components;
    const std::int64_t   first = task * elements, last = std::min(first + elements, A.rows / B);
    std::vector<Pattern> pattern(static_cast<std::size_t>(B)); // of each component
    RowOfLine            row{kernel.lines.lines};
    for (std::int64_t k = first; k < last; ++k) {
      const bool inside = is_inside(row.of(k));
      for (int a = 0; a < B; ++a) {
        Pattern &p = pattern[static_cast<std::size_t>(a)];
        if (inside && is_alike(p, k * B + a, r)) continue;
        kernel(k * B + a, r);
        if (inside) learn(p, k * B + a);
      }
    }
  }

private:
  /// Distances of the entries of a row from its diagonal.
  struct Pattern {
    std::vector<std::int64_t> distance;    ///< in rows; empty: no row so far
    std::vector<char>         counts;      ///< whether each is on the line
    std::int64_t              entries = 0; ///< on the line, without the diagonal block
  };

  /// Position along its line of one unknown after another. It divides only if the previous position does
  /// not determine the next one.
  struct RowOfLine {
    const LineSet &lines;
    std::int64_t   row = 0, known = 0; ///< unknowns until the next division

    std::int64_t of(std::int64_t k)
    {
      const std::int64_t stride = lines.rows > 1 ? lines.row_stride : 0;
      if (known > 0) row += stride == 1 ? 1 : 0, --known;
      else {
        row   = place_of(lines, k).row;
        known = stride == 1  ? lines.rows - 1 - row
                : stride > 1 ? stride - 1 - (k - lines.offset) % stride
                             : 0;
      }
      return row;
    }
  };

  bool is_inside(std::int64_t row) const
  {
    return row >= kernel.lines.reach && row < kernel.lines.lines.rows - kernel.lines.reach;
  }

  bool is_alike(const Pattern &p, std::int64_t k, CouplingsReducer &r) const
  {
    const std::int64_t begin = A.row_begin[k], n = A.row_begin[k + 1] - begin;
    if (n == 0 || n != static_cast<std::int64_t>(p.distance.size())) return false;
    Scalar sum(0);
    double largest = 0;
    bool   alike   = true;
    for (std::int64_t e = 0; e < n; ++e) {
      const Scalar value  = A.value[begin + e];
      const double size   = static_cast<double>(magnitude(value));
      const bool   counts = p.counts[static_cast<std::size_t>(e)];
      alike &= A.column[begin + e] - k == p.distance[static_cast<std::size_t>(e)] && size > 0 &&
               size <= std::numeric_limits<double>::max();
      if (!counts) continue;
      sum += value;
      largest = size > largest ? size : largest;
    }
    if (!alike) return false;
    r.entries += p.entries;
    if (static_cast<double>(magnitude(sum)) <= 100 * kernel.A.value.roundoff() * largest) r.zero_sums = 1;
    return true;
  }

  void learn(Pattern &p, std::int64_t k) const
  {
    const RowOnLines   row(kernel.lines, k);
    const LineSet     &lines  = kernel.lines.lines;
    const std::int64_t stride = lines.row_stride < 0 ? -lines.row_stride : lines.row_stride;
    p.distance.clear(), p.counts.clear(), p.entries = 0;
    for (std::int64_t e = A.row_begin[k]; e < A.row_begin[k + 1]; ++e) {
      const Entry        entry = row.to(A.column[e]);
      const std::int64_t delta = row.at(A.column[e]) - row.k, size = delta < 0 ? -delta : delta;
      const bool         counts = entry.same || entry.distance != 0;
      const double       a      = kernel.A.value.size(e);
      // possibly on the line and out of reach
      if (!(a > 0 && is_finite(a)) || (!counts && size < lines.rows * stride && size % stride == 0))
        return p.distance.clear();
      p.distance.push_back(A.column[e] - k), p.counts.push_back(counts);
      p.entries += counts && !entry.same;
    }
  }
};

} // namespace ribbon

template <>
struct Kokkos::reduction_identity<ribbon::CouplingsReducer> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::CouplingsReducer sum() { return ribbon::CouplingsReducer(); }
};
