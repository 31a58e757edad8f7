// SPDX-License-Identifier: BSD-2-Clause
/// @file color_storage.hpp  The copy of a matrix by colours: order of the unknowns, slices, values, equal slices.
#pragma once

#include "color_sharing.hpp"
#include "color_values.hpp"

#include <ribbon/multicolor.hpp>
#include <ribbon/multicolor/relax.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>

namespace ribbon {

namespace {

constexpr int threads_of_long_row = 8;
template <int n>
using Size = std::integral_constant<int, n>;

/// Lanes of a slice: those of a warp, or as many as a host core computes at once. Small colours on a host have slices
/// of one unknown, because a colour fills its last slice up.
template <class Exec>
int lanes_of_slice(int block, std::int64_t unknowns, int colors)
{
  return is_device_space<Exec>                                              ? 32
         : block == 1 && unknowns >= 32 * static_cast<std::int64_t>(colors) ? 8
                                                                            : 1;
}

/// The diagonals that at least a tenth of some pseudorandom rows have entries on. Blocks have none: their
/// columns are few bytes.
template <class Scalar, class Exec>
std::vector<std::int32_t> frequent_distances(const Exec &exec, const MulticolorRows<Scalar> &rows)
{
  const std::int64_t n = rows.blocks(), samples = std::min<std::int64_t>(n, 128);
  if (rows.block > 1 || n == 0) return {};
  const auto found = allocate<Kokkos::View<std::int32_t *, typename Exec::memory_space>>(
    exec, "ribbon::distances", static_cast<std::size_t>(samples * most_offsets));
  Kokkos::parallel_for("ribbon::distances", indices(exec, samples),
                       SampleDistances<Scalar>{{rows}, n, found.data()});
  exec.fence();
  const auto                  host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found);
  std::map<std::int32_t, int> rows_with;
  for (std::size_t k = 0; k < host.size(); ++k)
    if (host(k) != 0) ++rows_with[host(k)];
  std::vector<std::pair<int, std::int32_t>> order;
  for (const auto &[distance, count] : rows_with)
    if (10 * count >= samples) order.push_back({-count, distance});
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> distances;
  for (std::size_t k = 0; k < order.size() && k < most_offsets; ++k) distances.push_back(order[k].second);
  std::sort(distances.begin(), distances.end());
  return distances;
}

/// Finds for each slice the first one with its hash, and numbers the slots of these.
template <class Exec>
struct SharedSlots {
  using Numbers = Kokkos::View<std::int64_t *, typename Exec::memory_space>;
  Numbers      same, begin; ///< of each slice
  std::int64_t slots = 0;

  SharedSlots(const Exec &exec, const Kokkos::View<std::uint64_t *, typename Exec::memory_space> &hash,
              const Kokkos::View<ColorSlice *, typename Exec::memory_space> &slice)
      : same(allocate<Numbers>(exec, "ribbon::same", hash.size())),
        begin(allocate_zeros<Numbers>(exec, "ribbon::same", hash.size()))
  {
    std::size_t size = 64;
    while (size < 2 * hash.size()) size *= 2;
    const auto table =
      allocate_zeros<Kokkos::View<std::uint64_t *, typename Exec::memory_space>>(exec, "ribbon::table", size);
    const auto      first = allocate<Numbers>(exec, "ribbon::table", size);
    const HashTable in{table.data(), first.data(), size - 1};
    const auto      all = indices(exec, static_cast<std::int64_t>(hash.size()));
    Kokkos::deep_copy(exec, first, std::numeric_limits<std::int64_t>::max());
    Kokkos::parallel_for("ribbon::same", all, FirstWithHash{in, hash.data()});
    Kokkos::parallel_for("ribbon::same", all, FindSame{in, hash.data(), same.data()});
    Kokkos::parallel_scan("ribbon::same", all, BeginKept{slice.data(), same.data(), begin.data()}, slots);
    exec.fence();
  }
};

} // namespace

/// A matrix by colours.
template <class Scalar, class Exec>
struct MulticolorRelaxation<Scalar, Exec>::Storage {
  int                                  block = 1, lanes = 1;
  int                                  threads_of_row = 0; ///< 0: chosen for each colour
  std::int64_t                         unknowns = 0, slots = 0, column_slots = 0;
  std::vector<std::int64_t>            first_slice; ///< of each colour, and the end
  std::vector<std::int64_t>            unknowns_of; ///< each colour
  std::vector<SlotCounts>              counts_of;   ///< each colour
  Kokkos::View<ColorSlice *, Memory>   slice;
  Kokkos::View<std::int32_t *, Memory> order, diagonal, column; ///< see ColorSlices
  Kokkos::View<Scalar *, Memory>       value, sums;
  bool                                 shares = false; ///< slices with equal values have the same slots
  MulticolorReport                     report;

  ColorSlices<Scalar> slices() const;
  Diagonals           diagonals() const { return {diagonal.data(), static_cast<int>(diagonal.size())}; }
  /// Numbers the places of unknowns, colour after colour.
  void order_by_color(const Exec &exec, const ColorArray<Exec> &colors, int count);
  /// Finds what each slice needs, and stores the columns that masks do not give.
  template <int Most>
  void divide_into_slices(const Exec &exec, const MulticolorRows<Scalar> &rows,
                          const ColorArray<Exec> &colors);
  /// Copies values. False: a row has an entry without a slot.
  bool fill(const Exec &exec, const MulticolorRows<Scalar> &rows, const ColorArray<Exec> &colors,
            Scalar shift);
  /// Gives every slice its own slots, for fill().
  void separate(const Exec &exec);
  /// Stores slots that are equal once, if this saves half of the memory.
  void share(const Exec &exec);
  /// Whether several threads share a row of this colour.
  bool shares_rows(std::size_t color) const;
  template <int B, int H>
  void relax_slices(const Exec &exec, const ColorStep &step, Scalar omega,
                    const MulticolorVectors<Scalar> &v) const;
  template <int H>
  void store_residual(const Exec &exec, std::size_t color, const MulticolorVectors<Scalar> &v,
                      Scalar *r) const;
  template <int B>
  void relax_blocks(const Exec &exec, const ColorStep &step, Scalar omega,
                    const MulticolorVectors<Scalar> &v) const;
};

template <class Scalar, class Exec>
ColorSlices<Scalar> MulticolorRelaxation<Scalar, Exec>::Storage::slices() const
{
  return {order.data(), slice.data(), diagonal.data(), column.data(), value.data(), sums.data(), unknowns};
}

template <class Scalar, class Exec>
void MulticolorRelaxation<Scalar, Exec>::Storage::order_by_color(const Exec             &exec,
                                                                 const ColorArray<Exec> &colors, int count)
{
  const std::int64_t places = unknowns + static_cast<std::int64_t>(count) * lanes;
  order =
    allocate<Kokkos::View<std::int32_t *, Memory>>(exec, "ribbon::order", static_cast<std::size_t>(places));
  Kokkos::deep_copy(exec, order, -1);
  first_slice.assign(1, 0);
  for (int c = 0; c < count; ++c) {
    std::int64_t found = 0;
    Kokkos::parallel_scan("ribbon::order", indices(exec, unknowns),
                          OrderColor{colors.data(), order.data(), c, first_slice.back() * lanes}, found);
    exec.fence();
    unknowns_of.push_back(found);
    first_slice.push_back(first_slice.back() + (found + lanes - 1) / lanes);
  }
  if (std::accumulate(unknowns_of.begin(), unknowns_of.end(), std::int64_t(0)) != unknowns)
    throw std::invalid_argument("ribbon::MulticolorRelaxation: the colour of an unknown is not below " +
                                std::to_string(count));
}

template <class Scalar, class Exec>
template <int Most>
void MulticolorRelaxation<Scalar, Exec>::Storage::divide_into_slices(const Exec                   &exec,
                                                                     const MulticolorRows<Scalar> &rows,
                                                                     const ColorArray<Exec>       &colors)
{
  const std::int64_t all     = first_slice.back();
  const auto         entries = static_cast<std::size_t>(all);
  const auto         of      = [&](std::int64_t first, std::int64_t end) {
    return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, first, end);
  };
  diagonal         = upload(exec, "ribbon::diagonals", frequent_distances(exec, rows));
  slice            = allocate<Kokkos::View<ColorSlice *, Memory>>(exec, "ribbon::slices", entries);
  const auto needs = allocate<Kokkos::View<SliceNeeds *, Memory>>(exec, "ribbon::slices", entries);
  const int  team  = is_device_space<Exec> ? 4 : 1;
  Kokkos::parallel_for(
    "ribbon::count_blocks",
    Kokkos::TeamPolicy<Exec>(exec, static_cast<int>((all + team - 1) / team), team,
                             is_device_space<Exec> ? 32 : 1),
    CountBlocks<Scalar, Most>{
      {rows}, diagonals(), colors.data(), order.data(), unknowns, all, needs.data(), lanes});
  Kokkos::parallel_for(
    "ribbon::slices", of(0, all),
    DecideSlices{needs.data(), slice.data(), static_cast<std::int64_t>(sizeof(Scalar)) * block * block});
  Kokkos::parallel_scan("ribbon::slices", of(0, all), BeginColumns{slice.data()}, column_slots);
  exec.fence();
  column = allocate<Kokkos::View<std::int32_t *, Memory>>(exec, "ribbon::columns",
                                                          static_cast<std::size_t>(column_slots * lanes));
  Kokkos::deep_copy(exec, column, -1);
  if (column_slots > 0)
    Kokkos::parallel_for("ribbon::columns", of(0, all * lanes),
                         FillColumns<Scalar, Most>{{rows}, colors.data(), slices(), lanes});
  const Kokkos::View<SlotCounts *, Memory> counts("ribbon::slices", first_slice.size() - 1);
  for (std::size_t c = 0; c < counts.size(); ++c)
    Kokkos::parallel_reduce("ribbon::slices", of(first_slice[c], first_slice[c + 1]),
                            CountSlots{slice.data()}, Kokkos::subview(counts, c));
  exec.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), counts);
  counts_of.assign(host.data(), host.data() + host.size());
}

template <class Scalar, class Exec>
bool MulticolorRelaxation<Scalar, Exec>::Storage::fill(const Exec &exec, const MulticolorRows<Scalar> &rows,
                                                       const ColorArray<Exec> &colors, Scalar shift)
{
  constexpr auto     none      = std::numeric_limits<std::int64_t>::max();
  constexpr bool     on_device = is_device_space<Exec>;
  const auto         fault     = upload(exec, "ribbon::fault", std::vector<std::int64_t>{none});
  const auto         other     = allocate_zeros<Kokkos::View<int *, Memory>>(exec, "ribbon::fault", 1);
  const std::int64_t threads   = first_slice.back() * (on_device ? lanes : 1);
  if (on_device) Kokkos::deep_copy(exec, value, Scalar(0));
  const auto copy = [&](auto has_blocks) {
    Kokkos::parallel_for("ribbon::fill_slices", indices(exec, threads * (on_device ? block : 1)),
                         FillSlices<Scalar, decltype(has_blocks)::value, on_device>{
                           rows, diagonals(), colors.data(), slices(), lanes, fault.data(), other.data()});
  };
  const auto invert = [&](auto most) {
    Kokkos::parallel_for(
      "ribbon::invert_diagonals", indices(exec, threads),
      InvertDiagonals<Scalar, decltype(most)::value, on_device>{slices(), shift, block, lanes, fault.data()});
  };
  if (block == 1) copy(std::false_type()), invert(Size<1>());
  else copy(std::true_type()), invert(Size<largest_point_block>());
  exec.fence();
  const auto first   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), fault);
  const auto pattern = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), other);
  report             = {};
  if (first(0) != none) {
    const auto what = static_cast<int>(first(0) % 8);
    report.status   = what == fault_not_finite ? FactorStatus::not_finite : FactorStatus::zero_pivot;
    report.unknown  = first(0) / 8;
  }
  return pattern(0) == 0;
}

template <class Scalar, class Exec>
void MulticolorRelaxation<Scalar, Exec>::Storage::separate(const Exec &exec)
{
  Kokkos::parallel_scan("ribbon::slices", indices(exec, first_slice.back()), BeginSlices{slice.data()},
                        slots);
  exec.fence();
  value  = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::values",
                                                   static_cast<std::size_t>(slots * lanes * block * block));
  shares = false;
}

template <class Scalar, class Exec>
void MulticolorRelaxation<Scalar, Exec>::Storage::share(const Exec &exec)
{
  constexpr bool     on_device = is_device_space<Exec>;
  const std::int64_t all = first_slice.back(), scalars = static_cast<std::int64_t>(lanes) * block * block;
  const auto         entries = static_cast<std::size_t>(all);
  const auto threads = [&](std::int64_t slices) { return indices(exec, slices * (on_device ? lanes : 1)); };
  if (!report.ok() || all < 64) return;
  const auto hash = allocate_zeros<Kokkos::View<std::uint64_t *, Memory>>(exec, "ribbon::hashes", entries);
  const auto find = [&](std::int64_t from, std::int64_t count) {
    Kokkos::parallel_for("ribbon::hash_slices", threads(count),
                         HashSlices<Scalar, on_device>{slices(), block * block, lanes, from, hash.data()});
    exec.fence();
  };
  // some slices in a row tell whether many are equal
  const std::int64_t some = std::min<std::int64_t>(all, 512), middle = (all - some) / 2;
  find(middle, some);
  const auto sample = Kokkos::create_mirror_view_and_copy(
    Kokkos::HostSpace(), Kokkos::subview(hash, std::make_pair(static_cast<std::size_t>(middle),
                                                              static_cast<std::size_t>(middle + some))));
  const std::unordered_set<std::uint64_t> distinct(sample.data(), sample.data() + sample.size());
  if (2 * static_cast<std::int64_t>(distinct.size()) > some || distinct.count(0)) return;
  Kokkos::deep_copy(exec, hash, std::uint64_t(0));
  find(0, all);
  const SharedSlots<Exec> found(exec, hash, slice);
  if (2 * found.slots > slots) return;
  const auto   kept   = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::values",
                                                             static_cast<std::size_t>(found.slots * scalars));
  std::int64_t differ = 0;
  Kokkos::parallel_reduce("ribbon::share_slices", threads(all),
                          ShareSlices<Scalar, on_device>{slices(), scalars, lanes, found.same.data(),
                                                         found.begin.data(), kept.data()},
                          differ);
  exec.fence();
  if (differ > 0) return; // two hashes are equal by chance
  Kokkos::parallel_for("ribbon::share_slices", indices(exec, all),
                       MoveSlices{slice.data(), found.same.data(), found.begin.data()});
  exec.fence();
  value = kept, shares = true;
}

} // namespace ribbon
