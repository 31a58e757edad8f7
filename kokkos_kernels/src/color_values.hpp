// SPDX-License-Identifier: BSD-2-Clause
/// @file color_values.hpp  Kernels that copy the values of a matrix to the slices of its colours.
#pragma once

#include "color_slices.hpp"

#include <ribbon/elimination/dense_elimination.hpp>

namespace ribbon {

namespace {

/// Faults of the row of an unknown. The smallest is reported.
enum Fault { fault_none, fault_not_finite, fault_zero };

/// Inverts the diagonal block of an unknown in place: entry of row r and column c at a[c * B + r]. The rows
/// are scaled to one size, because their equations may have any units. In a block of several rows a pivot of
/// at most 100 roundings is zero.
template <class Scalar, int Most>
KOKKOS_INLINE_FUNCTION int invert_block(int B, Scalar (&a)[Most * Most])
{
  using Real = real_t<Scalar>;
  if constexpr (Most == 1) {
    if (a[0] == Scalar(0)) return fault_zero;
    a[0] = Scalar(1) / a[0];
    return is_finite(magnitude(a[0])) ? fault_none : fault_not_finite;
  } else {
    Real scale[Most], smallest = 1;
    for (int r = 0; r < B; ++r) {
      Real largest = 0;
      for (int c = 0; c < B; ++c)
        largest = magnitude(a[c * B + r]) > largest ? magnitude(a[c * B + r]) : largest;
      if (largest == 0) return fault_zero;
      scale[r] = Real(1) / largest;
      for (int c = 0; c < B; ++c) a[c * B + r] *= scale[r];
    }
    int order[Most];
    invert_dense(
      B, [&](int i, int j) -> Scalar & { return a[j * B + i]; }, order,
      [&](const Scalar &pivot, int) {
        // pivots after one of zero are not finite
        if (smallest != 0 && !(magnitude(pivot) >= smallest)) smallest = magnitude(pivot);
      });
    if (smallest <= 100 * unit_roundoff<Scalar>()) return fault_zero;
    bool finite = true;
    for (int c = 0; c < B; ++c)
      for (int r = 0; r < B; ++r) {
        a[c * B + r] *= scale[c];
        finite = finite && is_finite(magnitude(a[c * B + r]));
      }
    return finite ? fault_none : fault_not_finite;
  }
}

/// Copies the entries of rows of the matrix to the slots of their lanes: on a device with a thread for each row, on a
/// host with one for each slice.
template <class Scalar, bool HasBlocks, bool OnDevice>
struct FillSlices {
  MulticolorRows<Scalar> A;
  Diagonals              diagonals;
  const std::int32_t    *color;
  ColorSlices<Scalar>    to; ///< values: on a device 0 before
  int                    lanes;
  std::int64_t          *fault;   ///< the smallest 8 i + Fault of an unknown i
  int                   *pattern; ///< set if a row has other entries than the set-up found

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    if constexpr (OnDevice) copy_row(k / lanes / block(), static_cast<int>(k % lanes), k / lanes % block());
    else {
      const std::int64_t scalars = block() * block() * lanes, begin = to.slice[k].begin * scalars;
      for (std::int64_t e = 0; e < (1 + to.slice[k].slots()) * scalars; ++e) to.value[begin + e] = Scalar(0);
      for (int lane = 0; lane < lanes; ++lane)
        for (int r = 0; r < block(); ++r) copy_row(k, lane, r);
    }
  }

private:
  KOKKOS_INLINE_FUNCTION std::int64_t block() const { return HasBlocks ? A.block : 1; }
  /// The row of the matrix whose entries are copied.
  struct Row {
    std::int64_t i;
    int          r, lane; ///< row r of the block row of unknown i
    std::int32_t color;
    ColorSlice   s;
    int          next;       ///< diagonal after that of the last entry, or first stored column to look at
    int          next_later; ///< first stored column to look at for later colours
    std::int64_t j = -1;     ///< block of the last entry
    int          k = 0;      ///< its slot, or 0
  };

  /// Slot of block j of a row; -1: it has none. The entries of a row come in the order of the stored columns.
  KOKKOS_INLINE_FUNCTION int slot(std::int64_t j, Row &row) const
  {
    const ColorSlice  &s     = row.s;
    const std::int32_t other = color[j];
    const int          side  = other < row.color ? 0 : 1;
    if (other == row.color) return -1;
    if (s.is_on_diagonals()) {
      const int           d   = j < to.unknowns ? diagonals.find(j - row.i, row.next) : -1;
      const std::uint32_t all = side == 0 ? s.earlier : s.later;
      if (d < 0 || !(all >> d & 1)) return -1;
      row.next = d + 1;
      return (side == 0 ? 0 : ColorSlice::bits(s.earlier)) +
             ColorSlice::bits(all & ((std::uint32_t(1) << d) - 1));
    }
    const int end = static_cast<int>(side == 0 ? s.earlier : s.earlier + s.later);
    for (int k = side == 0 ? row.next : row.next_later; k < end; ++k)
      if (to.column[(s.column + k) * lanes + row.lane] == j) {
        (side == 0 ? row.next : row.next_later) = k + 1;
        return k;
      }
    return -1;
  }
  /// Copies an entry other than 0. False: there is no slot for it.
  KOKKOS_INLINE_FUNCTION bool put(std::int64_t column, const Scalar &v, Row &row) const
  {
    const std::int64_t B = block();
    if (!HasBlocks || column < row.j * B || column >= row.j * B + B) {
      row.j = column / B;
      row.k = row.j == row.i ? 0 : 1 + slot(row.j, row);
    }
    if (row.k == 0 && row.j != row.i) return false;
    to.value[(((row.s.begin + row.k) * B + column - row.j * B) * B + row.r) * lanes + row.lane] = v;
    return true;
  }
  KOKKOS_INLINE_FUNCTION void copy_row(std::int64_t slice, int lane, std::int64_t r) const
  {
    const std::int32_t i = to.order[slice * lanes + lane];
    if (i < 0) return;
    const ColorSlice s = to.slice[slice];
    Row              row{
      i, static_cast<int>(r), lane, color[i], s, 0, s.is_on_diagonals() ? 0 : static_cast<int>(s.earlier)};
    bool finite = true, fits = true;
    for (int part = 0; part < (A.others.rows > 0 ? 2 : 1); ++part)
      each_entry(part, i * block() + r, [&](std::int64_t column, const Scalar &v) {
        finite = finite && is_finite(magnitude(v));
        fits   = put(column, v, row) && fits;
      });
    if (!finite) Kokkos::atomic_fetch_min(fault, 8 * static_cast<std::int64_t>(i) + fault_not_finite);
    if (!fits) Kokkos::atomic_fetch_or(pattern, 1);
  }
  /// Calls f(column, value) for the entries of a row that are not 0. A device reads four at once, because the
  /// caches do not keep a line until each thread of a warp has read its entries one by one.
  template <class F>
  KOKKOS_INLINE_FUNCTION void each_entry(int part, std::int64_t at, const F &f) const
  {
    constexpr int               together = OnDevice ? 4 : 1;
    const AnyCsrMatrix<Scalar> &rows     = part == 0 ? A.own : A.others;
    const std::int64_t          begin = rows.row_begin[at], end = rows.row_begin[at + 1];
    for (std::int64_t first = begin / together * together; first < end; first += together) {
      std::int64_t column[together];
      Scalar       v[together];
      RIBBON_UNROLL
      for (int k = 0; k < together; ++k) {
        const std::int64_t e         = first + k;
        const bool         is_of_row = e >= begin && e < end;
        column[k] = is_of_row ? rows.column[e] : 0, v[k] = is_of_row ? rows.value[e] : Scalar(0);
      }
      RIBBON_UNROLL
      for (int k = 0; k < together; ++k)
        if (!(v[k] == Scalar(0)))
          f(part == 0 ? column[k] : A.own.rows + (A.place ? A.place[column[k]] : column[k]), v[k]);
    }
  }
};

/// Inverts the diagonal blocks in place, with the shift added: on a device with a thread for each lane, on a host with
/// one for each slice.
template <class Scalar, int Most, bool OnDevice>
struct InvertDiagonals {
  ColorSlices<Scalar> to;
  Scalar              shift;
  int                 block, lanes;
  std::int64_t       *fault; ///< the smallest 8 i + Fault of an unknown i

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    if constexpr (OnDevice) invert(k / lanes, static_cast<int>(k % lanes));
    else
      for (int lane = 0; lane < lanes; ++lane) invert(k, lane);
  }

private:
  KOKKOS_INLINE_FUNCTION void invert(std::int64_t slice, int lane) const
  {
    const std::int64_t i = to.order[slice * lanes + lane];
    const int          B = Most == 1 ? 1 : block;
    if (i < 0) return;
    Scalar *own = to.value + to.slice[slice].begin * B * B * lanes + lane;
    Scalar  a[Most * Most];
    for (int e = 0; e < B * B; ++e) a[e] = own[e * lanes];
    for (int r = 0; r < B; ++r) a[r * B + r] += shift;
    const int what = invert_block<Scalar, Most>(B, a);
    for (int e = 0; e < B * B; ++e) own[e * lanes] = a[e];
    if (what != fault_none) Kokkos::atomic_fetch_min(fault, 8 * i + what);
  }
};

} // namespace

} // namespace ribbon
