// SPDX-License-Identifier: BSD-2-Clause
/// @file color_slices.hpp  Kernels that divide the rows of a matrix into slices of its colours.
#pragma once

#include <ribbon/multicolor/rows.hpp>
#include <ribbon/multicolor/slices.hpp>

namespace ribbon {

/// What the rows of a slice need.
struct SliceNeeds {
  std::int32_t  earlier = 0, later = 0;       ///< most entries of a row
  std::uint32_t on_earlier = 0, on_later = 0; ///< masks of the diagonals that have entries
  std::int32_t  irregular = 0;                ///< an entry is on none of the diagonals

  RIBBON_ADD_VOLATILE(SliceNeeds)
  KOKKOS_INLINE_FUNCTION void operator+=(const SliceNeeds &row)
  {
    earlier = earlier < row.earlier ? row.earlier : earlier, later = later < row.later ? row.later : later;
    on_earlier |= row.on_earlier, on_later |= row.on_later, irregular |= row.irregular;
  }
};

/// What the slices of a colour have.
struct SlotCounts {
  std::int64_t earlier = 0, later = 0; ///< slots
  std::int64_t with_columns = 0;       ///< slices that store columns

  RIBBON_ADD_VOLATILE(SlotCounts)
  KOKKOS_INLINE_FUNCTION void operator+=(const SlotCounts &other)
  {
    earlier += other.earlier, later += other.later, with_columns += other.with_columns;
  }
};

} // namespace ribbon

template <>
struct Kokkos::reduction_identity<ribbon::SliceNeeds> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::SliceNeeds sum() { return {}; }
};
template <>
struct Kokkos::reduction_identity<ribbon::SlotCounts> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::SlotCounts sum() { return {}; }
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
/// Counts what the slices of a colour have.
struct CountSlots {
  const ColorSlice    *slice;
  KOKKOS_FUNCTION void operator()(const std::int64_t k, SlotCounts &sum) const
  {
    sum += {slice[k].slots(true), slice[k].slots(false), slice[k].is_on_diagonals() ? 0 : 1};
  }
};

/// Stores the columns of slices that have no masks, in the order of the entries of a row: a thread for each place.
template <class Scalar, int Most>
struct FillColumns {
  BlockRowReader<Scalar, Most> reader;
  const std::int32_t          *color;
  ColorSlices<Scalar>          to; ///< columns: -1 before
  int                          lanes;

  KOKKOS_FUNCTION void operator()(const std::int64_t place) const
  {
    const std::int32_t i = to.order[place];
    const ColorSlice   s = to.slice[place / lanes];
    if (i < 0 || s.is_on_diagonals()) return;
    int next[2] = {0, static_cast<int>(s.earlier)};
    reader.each(i, [&](std::int64_t j, const Scalar *) {
      if (j != i)
        to.column[(s.column + next[color[j] < color[i] ? 0 : 1]++) * lanes + place % lanes] =
          static_cast<std::int32_t>(j);
    });
  }
};

} // namespace

} // namespace ribbon
