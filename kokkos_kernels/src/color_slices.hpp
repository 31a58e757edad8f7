// SPDX-License-Identifier: BSD-2-Clause
/// @file color_slices.hpp  Kernels that copy a matrix to the slices of its colours.
#pragma once

#include <ribbon/elimination/dense_elimination.hpp>
#include <ribbon/multicolor/rows.hpp>
#include <ribbon/multicolor/slices.hpp>

namespace ribbon {

/// What the rows of a slice need.
struct SliceNeeds {
  std::int32_t  earlier = 0, later = 0;       ///< most entries of a row
  std::uint32_t on_earlier = 0, on_later = 0; ///< masks of the diagonals that have entries
  std::int32_t  irregular = 0;                ///< an entry is on none of the diagonals

  KOKKOS_INLINE_FUNCTION void operator+=(const SliceNeeds &row)
  {
    earlier = earlier < row.earlier ? row.earlier : earlier, later = later < row.later ? row.later : later;
    on_earlier |= row.on_earlier, on_later |= row.on_later, irregular |= row.irregular;
  }
};

} // namespace ribbon

template <>
struct Kokkos::reduction_identity<ribbon::SliceNeeds> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::SliceNeeds sum() { return {}; }
};

namespace ribbon {

namespace {

/// The unknowns of a colour in their order, from place `first`.
struct OrderColor {
  using value_type = std::int64_t;
  const std::int32_t  *color;
  std::int32_t        *order, which;
  std::int64_t         first;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, std::int64_t &before, const bool final) const
  {
    if (color[i] != which) return;
    if (final) order[first + before] = static_cast<std::int32_t>(i);
    ++before;
  }
};

/// Distances from the diagonal that most rows have entries at.
struct Diagonals {
  const std::int32_t *distance;
  int                 count;
  /// Number of a diagonal; -1: it is none of them.
  /// @param guess  number that is tried first
  KOKKOS_INLINE_FUNCTION int find(std::int64_t d, int guess) const
  {
    for (int k = guess; k < count; ++k)
      if (distance[k] == d) return k;
    for (int k = 0; k < guess && k < count; ++k)
      if (distance[k] == d) return k;
    return -1;
  }
};

/// Writes the distances of the entries of some rows; 0: none.
template <class Scalar>
struct SampleDistances {
  BlockRowReader<Scalar, 1> reader;
  std::int64_t              unknowns;
  std::int32_t             *distance;
  KOKKOS_FUNCTION void      operator()(const std::int64_t k) const
  {
    const auto i  = static_cast<std::int64_t>(coloring_key(static_cast<std::uint64_t>(k)) %
                                             static_cast<std::uint64_t>(unknowns));
    int        at = 0;
    for (int e = 0; e < most_offsets; ++e) distance[k * most_offsets + e] = 0;
    reader.each(i, [&](std::int64_t j, const Scalar *) {
      if (j < unknowns && j != i && at < most_offsets)
        distance[k * most_offsets + at++] = static_cast<std::int32_t>(j - i);
    });
  }
};

/// Finds the needs of slices. A team has some slices, and a vector lane of it some rows of a slice.
template <class Scalar, int Most>
struct CountBlocks {
  BlockRowReader<Scalar, Most> reader;
  Diagonals                    diagonals;
  const std::int32_t          *color, *order;
  std::int64_t                 unknowns, slices;
  SliceNeeds                  *needs;
  int                          lanes;

  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const std::int64_t slice =
      static_cast<std::int64_t>(team.league_rank()) * team.team_size() + team.team_rank();
    if (slice >= slices) return;
    SliceNeeds all;
    Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, lanes),
      [&](const int lane, SliceNeeds &to) {
        const std::int32_t i = order[slice * lanes + lane];
        if (i >= 0) to += row(i);
      },
      all);
    Kokkos::single(Kokkos::PerThread(team), [&] { needs[slice] = all; });
  }

private:
  KOKKOS_INLINE_FUNCTION SliceNeeds row(std::int64_t i) const
  {
    SliceNeeds         n;
    const std::int32_t own = color[i];
    int                d   = -1;
    reader.each(i, [&](std::int64_t j, const Scalar *) {
      if (j == i) return;
      const bool earlier      = color[j] < own;
      d                       = j < unknowns ? diagonals.find(j - i, d + 1) : -1;
      const std::uint32_t bit = d < 0 ? 0 : std::uint32_t(1) << d;
      ++(earlier ? n.earlier : n.later);
      (earlier ? n.on_earlier : n.on_later) |= bit;
      if (d < 0) n.irregular = 1;
    });
    return n;
  }
};

/// Decides how slices store columns: in masks of diagonals if this takes fewer bytes.
struct DecideSlices {
  const SliceNeeds *needs;
  ColorSlice       *slice;
  std::int64_t      bytes_of_block;

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const SliceNeeds   n     = needs[k];
    const std::int64_t slots = ColorSlice::bits(n.on_earlier) + ColorSlice::bits(n.on_later);
    const bool         on_diagonals =
      !n.irregular && slots * bytes_of_block <= (n.earlier + n.later) * (bytes_of_block + 4);
    slice[k] = {0, on_diagonals ? -1 : 0, on_diagonals ? n.on_earlier : static_cast<std::uint32_t>(n.earlier),
                on_diagonals ? n.on_later : static_cast<std::uint32_t>(n.later)};
  }
};

/// First slots of slices.
struct BeginSlices {
  using value_type = std::int64_t;
  ColorSlice          *slice;
  KOKKOS_FUNCTION void operator()(const std::int64_t k, std::int64_t &sum, const bool final) const
  {
    const std::int64_t slots = 1 + slice[k].slots();
    if (final) slice[k].begin = sum;
    sum += slots;
  }
};
/// First slots of stored columns.
struct BeginColumns {
  using value_type = std::int64_t;
  ColorSlice          *slice;
  KOKKOS_FUNCTION void operator()(const std::int64_t k, std::int64_t &sum, const bool final) const
  {
    if (slice[k].is_on_diagonals()) return;
    const std::int64_t slots = slice[k].slots();
    if (final) slice[k].column = sum;
    sum += slots;
  }
};
/// Counts slots with earlier colours, those with later ones, or slices that store columns.
struct CountSlots {
  enum What { of_earlier, of_later, stored_columns };
  const ColorSlice    *slice;
  What                 what;
  KOKKOS_FUNCTION void operator()(const std::int64_t k, std::int64_t &sum) const
  {
    sum += what == stored_columns ? !slice[k].is_on_diagonals() : slice[k].slots(what == of_earlier);
  }
};

/// Faults of the diagonal of an unknown.
enum Fault { fault_none, fault_zero, fault_not_finite };

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
        if (!(magnitude(pivot) >= smallest)) smallest = magnitude(pivot);
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

/// The slot of each diagonal of the masks of a slice, with earlier and later colours.
struct DiagonalSlots {
  std::int8_t at[2][most_offsets];

  KOKKOS_INLINE_FUNCTION explicit DiagonalSlots(const ColorSlice &s)
  {
    std::int8_t next = 0;
    for (int side = 0; side < 2 && s.is_on_diagonals(); ++side)
      for (std::uint32_t mask = side == 0 ? s.earlier : s.later; mask; mask &= mask - 1)
        at[side][lowest_bit(mask)] = next++;
  }
};

/// Copies the rows of unknowns to their lanes: on a device with a thread for each row, on a host with one for each
/// slice.
template <class Scalar, int Most, bool OnDevice>
struct FillSlices {
  BlockRowReader<Scalar, Most> reader;
  Diagonals                    diagonals;
  const std::int32_t          *color;
  ColorSlices<Scalar>          to;
  Scalar                       shift;
  int                          lanes;
  std::int64_t                *fault;   ///< the smallest 8 i + Fault of an unknown i
  int                         *pattern; ///< set if a row has other entries than the set-up found

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t  slice = OnDevice ? k / lanes : k;
    const ColorSlice    s     = to.slice[slice];
    const DiagonalSlots slots(s);
    if constexpr (OnDevice) fill(slice, static_cast<int>(k % lanes), s, slots);
    else
      for (int lane = 0; lane < lanes; ++lane) fill(slice, lane, s, slots);
  }

private:
  KOKKOS_INLINE_FUNCTION int  block() const { return Most == 1 ? 1 : reader.A.block; }
  KOKKOS_INLINE_FUNCTION void store(std::int64_t slot, int lane, const Scalar *v) const
  {
    const int B2 = block() * block();
    for (int k = 0; k < B2; ++k) to.value[(slot * B2 + k) * lanes + lane] = v[k];
  }

  /// The entries of a row on their way to the slots of a lane.
  struct Row {
    std::int64_t  i;
    std::int32_t  color;
    int           last    = -1;     ///< diagonal of the last entry
    std::uint64_t filled  = 0;      ///< slots with an entry, of masks
    int           used[2] = {0, 0}; ///< slots with an entry, of stored columns
  };

  /// Stores an entry off the diagonal. False: there is no slot for it.
  KOKKOS_INLINE_FUNCTION bool put(const ColorSlice &s, const DiagonalSlots &slots, int lane, std::int64_t j,
                                  const Scalar *v, Row &row) const
  {
    const std::int32_t other = color[j];
    const int          side  = other < row.color ? 0 : 1;
    if (other == row.color) return false;
    const std::uint32_t all = side == 0 ? s.earlier : s.later;
    if (s.is_on_diagonals()) {
      row.last = j < to.unknowns ? diagonals.find(j - row.i, row.last + 1) : -1;
      if (row.last < 0 || !(all >> row.last & 1)) return false;
      const int slot = slots.at[side][row.last];
      row.filled |= std::uint64_t(1) << slot;
      store(s.begin + 1 + slot, lane, v);
      return true;
    }
    const int k = row.used[side]++, slot = (side == 0 ? 0 : static_cast<int>(s.earlier)) + k;
    if (k >= static_cast<int>(all)) return false;
    to.column[(s.column + slot) * lanes + lane] = static_cast<std::int32_t>(j);
    store(s.begin + 1 + slot, lane, v);
    return true;
  }
  /// Makes the slots empty that have no entry.
  KOKKOS_INLINE_FUNCTION void clear(const ColorSlice &s, int lane, const Row &row) const
  {
    const Scalar zero[Most * Most] = {};
    const int    all = s.slots(), earlier = s.slots(true);
    for (int k = 0; k < all; ++k) {
      const bool has = s.is_on_diagonals() ? row.filled >> k & 1
                       : k < earlier       ? k < row.used[0]
                                           : k - earlier < row.used[1];
      if (has) continue;
      store(s.begin + 1 + k, lane, zero);
      if (!s.is_on_diagonals()) to.column[(s.column + k) * lanes + lane] = -1;
    }
  }

  KOKKOS_INLINE_FUNCTION void fill(std::int64_t slice, int lane, const ColorSlice &s,
                                   const DiagonalSlots &slots) const
  {
    const std::int64_t i                     = to.order[slice * lanes + lane];
    const int          B                     = block();
    Scalar             diagonal[Most * Most] = {};
    bool               finite = true, fits = true;
    Row                row{i, i < 0 ? 0 : color[i]};
    if (i >= 0)
      reader.each(i, [&](std::int64_t j, const Scalar *v) {
        for (int k = 0; k < B * B; ++k) finite = finite && is_finite(magnitude(v[k]));
        if (j != i) fits = put(s, slots, lane, j, v, row) && fits;
        for (int k = 0; j == i && k < B * B; ++k) diagonal[k] = v[k];
      });
    clear(s, lane, row);
    for (int r = 0; r < B; ++r) diagonal[r * B + r] += shift;
    const int what = i < 0     ? fault_none
                     : !finite ? fault_not_finite
                               : invert_block<Scalar, Most>(B, diagonal);
    store(s.begin, lane, diagonal);
    if (what != fault_none) Kokkos::atomic_fetch_min(fault, 8 * i + what);
    if (!fits) Kokkos::atomic_fetch_or(pattern, 1);
  }
};

} // namespace

} // namespace ribbon
