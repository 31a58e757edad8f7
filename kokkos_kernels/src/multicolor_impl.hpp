// SPDX-License-Identifier: BSD-2-Clause
/// @file multicolor_impl.hpp  MulticolorRelaxation: the copy of a matrix by colours, and its sweeps.
#pragma once

#include <ribbon/elimination/dense_elimination.hpp>
#include <ribbon/multicolor.hpp>
#include <ribbon/multicolor/relax.hpp>
#include <ribbon/multicolor/rows.hpp>

#include <limits>
#include <stdexcept>

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

/// Whether the unknown of a column comes earlier than colour `own` in the order of a sweep.
KOKKOS_INLINE_FUNCTION bool is_earlier(const std::int32_t *color, std::int64_t column, std::int32_t own)
{
  return color[column] < own;
}

/// Raises the widths of each slice to the numbers of entries of its rows.
template <class Scalar, int Most>
struct CountBlocks {
  BlockRowReader<Scalar, Most> reader;
  const std::int32_t          *color, *order;
  std::int64_t                *earlier, *all; ///< of each slice; `all` starts as the width of later colours
  int                          lanes;
  KOKKOS_FUNCTION void         operator()(const std::int64_t place) const
  {
    const std::int64_t i = order[place];
    if (i < 0) return;
    std::int64_t count[2] = {0, 0};
    reader.each(i, [&](std::int64_t j, const Scalar *) {
      if (j != i) ++count[is_earlier(color, j, color[i]) ? 0 : 1];
    });
    Kokkos::atomic_fetch_max(&earlier[place / lanes], count[0]);
    Kokkos::atomic_fetch_max(&all[place / lanes], count[1]);
  }
};

/// Widths of slices -> first slots, and first slots of later colours.
struct SliceBegins {
  using value_type = std::int64_t;
  std::int64_t        *earlier, *all, slices;
  KOKKOS_FUNCTION void operator()(const std::int64_t s, std::int64_t &sum, const bool final) const
  {
    const std::int64_t before = s < slices ? earlier[s] : 0, after = s < slices ? all[s] : 0;
    if (final) {
      if (s < slices) earlier[s] = sum + before;
      all[s] = sum;
    }
    sum += before + after;
  }
};

/// Sums the slots of slices that couple with earlier colours.
struct CountEarlier {
  const std::int64_t  *begin, *later;
  KOKKOS_FUNCTION void operator()(const std::int64_t slice, std::int64_t &sum) const
  {
    sum += later[slice] - begin[slice];
  }
};

/// Faults of a copy. Those after `pattern` belong to an unknown.
enum Fault { fault_none = 0, fault_pattern = 1, fault_missing = 2, fault_zero = 3, fault_not_finite = 4 };

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

/// Copies the rows of unknowns to their lanes.
template <class Scalar, int Most>
struct FillSlices {
  BlockRowReader<Scalar, Most> reader;
  const std::int32_t          *color, *order;
  const std::int64_t          *begin, *later;
  std::int32_t                *column;
  Scalar                      *value, *inverse;
  Scalar                       shift;
  int                          lanes;
  std::int64_t                *fault;   ///< the smallest 8 i + Fault of an unknown i
  int                         *pattern; ///< set if a row has other entries than the set-up found

  KOKKOS_INLINE_FUNCTION int  block() const { return Most == 1 ? 1 : reader.A.block; }
  KOKKOS_INLINE_FUNCTION void store(Scalar *to, std::int64_t slot, int lane, const Scalar *v) const
  {
    const int B2 = block() * block();
    for (int k = 0; k < B2; ++k) to[(slot * B2 + k) * lanes + lane] = v[k];
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t place) const
  {
    const std::int64_t i = order[place], slice = place / lanes;
    const int          lane = static_cast<int>(place % lanes), B = block();
    const Scalar       zero[Most * Most]     = {};
    std::int64_t       at[2]                 = {begin[slice], later[slice]};
    const std::int64_t end[2]                = {later[slice], begin[slice + 1]};
    Scalar             diagonal[Most * Most] = {};
    bool               has_diagonal = false, finite = true, fits = true;
    if (i >= 0)
      reader.each(i, [&](std::int64_t j, const Scalar *v) {
        for (int k = 0; k < B * B; ++k) finite = finite && is_finite(magnitude(v[k]));
        if (j == i) {
          has_diagonal = true;
          for (int k = 0; k < B * B; ++k) diagonal[k] = v[k];
          return;
        }
        const int side = is_earlier(color, j, color[i]) ? 0 : 1;
        if (at[side] == end[side] || color[j] == color[i]) {
          fits = false;
          return;
        }
        column[at[side] * lanes + lane] = static_cast<std::int32_t>(j);
        store(value, at[side]++, lane, v);
      });
    for (int side = 0; side < 2; ++side)
      for (; at[side] < end[side]; ++at[side]) {
        column[at[side] * lanes + lane] = -1;
        store(value, at[side], lane, zero);
      }
    if (i < 0) {
      store(inverse, slice, lane, zero);
      return;
    }
    for (int r = 0; r < B; ++r) diagonal[r * B + r] += shift;
    int what = !finite                               ? fault_not_finite
               : !has_diagonal && shift == Scalar(0) ? fault_missing
                                                     : invert_block<Scalar, Most>(B, diagonal);
    store(inverse, slice, lane, diagonal);
    if (what != fault_none) Kokkos::atomic_fetch_min(fault, 8 * i + what);
    if (!fits) Kokkos::atomic_fetch_or(pattern, 1);
  }
};

/// Lanes of a slice: those of a warp, or as many as a host core computes at once.
template <class Exec>
int lanes_of_slice(int block)
{
  return is_device_space<Exec> ? 32 : block == 1 ? 8 : 1;
}

} // namespace

template <class Scalar, class Exec>
void MulticolorRelaxation<Scalar, Exec>::order_by_color(const Exec &exec, const ColorArray<Exec> &colors,
                                                        int count)
{
  const std::int64_t places = unknowns_ + static_cast<std::int64_t>(count) * lanes_;
  order_ =
    allocate<Kokkos::View<std::int32_t *, Memory>>(exec, "ribbon::order", static_cast<std::size_t>(places));
  Kokkos::deep_copy(exec, order_, -1);
  first_slice_.assign(1, 0);
  for (int c = 0; c < count; ++c) {
    std::int64_t found = 0;
    Kokkos::parallel_scan("ribbon::order", indices(exec, unknowns_),
                          OrderColor{colors.data(), order_.data(), c, first_slice_.back() * lanes_}, found);
    exec.fence();
    first_slice_.push_back(first_slice_.back() + (found + lanes_ - 1) / lanes_);
  }
}

template <class Scalar, class Exec>
template <int Most>
void MulticolorRelaxation<Scalar, Exec>::count_entries(const Exec &exec, const MulticolorRows<Scalar> &rows,
                                                       const ColorArray<Exec> &colors)
{
  using Positions            = Kokkos::View<std::int64_t *, Memory>;
  const std::int64_t slices  = first_slice_.back();
  const auto         entries = static_cast<std::size_t>(slices + 1);
  slice_later_               = allocate_zeros<Positions>(exec, "ribbon::slices", entries);
  slice_begin_               = allocate_zeros<Positions>(exec, "ribbon::slices", entries);
  Kokkos::parallel_for(
    "ribbon::count_blocks", indices(exec, slices * lanes_),
    CountBlocks<Scalar, Most>{
      {rows}, colors.data(), order_.data(), slice_later_.data(), slice_begin_.data(), lanes_});
  Kokkos::parallel_scan("ribbon::slices", indices(exec, slices + 1),
                        SliceBegins{slice_later_.data(), slice_begin_.data(), slices}, slots_);
  exec.fence();
  const auto begin = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), slice_begin_);
  for (std::size_t c = 0; c + 1 < first_slice_.size(); ++c) {
    const std::int64_t first = first_slice_[c], end = first_slice_[c + 1];
    std::int64_t       earlier = 0;
    Kokkos::parallel_reduce("ribbon::slices",
                            Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, first, end),
                            CountEarlier{slice_begin_.data(), slice_later_.data()}, earlier);
    exec.fence();
    earlier_.push_back(earlier);
    later_.push_back(begin(static_cast<std::size_t>(end)) - begin(static_cast<std::size_t>(first)) - earlier);
  }
}

template <class Scalar, class Exec>
template <int Most>
bool MulticolorRelaxation<Scalar, Exec>::fill(const Exec &exec, const MulticolorRows<Scalar> &rows,
                                              const ColorArray<Exec> &colors, Scalar shift)
{
  constexpr auto none  = std::numeric_limits<std::int64_t>::max();
  const auto     fault = upload(exec, "ribbon::fault", std::vector<std::int64_t>{none});
  const auto     other = allocate_zeros<Kokkos::View<int *, Memory>>(exec, "ribbon::fault", 1);
  Kokkos::parallel_for("ribbon::fill_slices", indices(exec, first_slice_.back() * lanes_),
                       FillSlices<Scalar, Most>{{rows},
                                                colors.data(),
                                                order_.data(),
                                                slice_begin_.data(),
                                                slice_later_.data(),
                                                column_.data(),
                                                value_.data(),
                                                inverse_.data(),
                                                shift,
                                                lanes_,
                                                fault.data(),
                                                other.data()});
  exec.fence();
  const auto first   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), fault);
  const auto pattern = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), other);
  report_            = {};
  if (first(0) != none) {
    const auto what = static_cast<int>(first(0) % 8);
    report_.status  = what == fault_not_finite ? FactorStatus::not_finite : FactorStatus::zero_pivot;
    report_.unknown = first(0) / 8;
    report_.missing = what == fault_missing;
  }
  return pattern(0) == 0;
}

template <class Scalar, class Exec>
MulticolorRelaxation<Scalar, Exec>::MulticolorRelaxation(const Exec &exec, const MulticolorRows<Scalar> &rows,
                                                         const ColorArray<Exec> &colors, int count,
                                                         Scalar shift)
    : block_(rows.block), lanes_(lanes_of_slice<Exec>(rows.block)), unknowns_(rows.blocks())
{
  if (block_ < 1 || block_ > largest_point_block)
    throw std::invalid_argument("ribbon::MulticolorRelaxation: blocks have 1 to 8 rows");
  if (unknowns_ + rows.ghosts >= std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("ribbon::MulticolorRelaxation: more than 2^31 unknowns on a rank");
  if (static_cast<std::int64_t>(colors.size()) < unknowns_ + rows.ghosts)
    throw std::invalid_argument("ribbon::MulticolorRelaxation: fewer colours than unknowns and ghosts");
  order_by_color(exec, colors, count);
  block_ == 1 ? count_entries<1>(exec, rows, colors) : count_entries<largest_point_block>(exec, rows, colors);
  const auto numbers = [&](const char *label, std::int64_t n) {
    return allocate<Kokkos::View<Scalar *, Memory>>(exec, label, static_cast<std::size_t>(n));
  };
  const std::int64_t places = first_slice_.back() * lanes_;
  column_                   = allocate<Kokkos::View<std::int32_t *, Memory>>(exec, "ribbon::columns",
                                                           static_cast<std::size_t>(slots_ * lanes_));
  value_                    = numbers("ribbon::values", slots_ * lanes_ * block_ * block_);
  inverse_                  = numbers("ribbon::inverses", places * block_ * block_);
  sums_                     = numbers("ribbon::sums", places * block_);
  if (!refresh(exec, rows, colors, shift))
    throw std::invalid_argument("ribbon::MulticolorRelaxation: unknowns of one colour couple");
}

template <class Scalar, class Exec>
bool MulticolorRelaxation<Scalar, Exec>::refresh(const Exec &exec, const MulticolorRows<Scalar> &rows,
                                                 const ColorArray<Exec> &colors, Scalar shift)
{
  return block_ == 1 ? fill<1>(exec, rows, colors, shift)
                     : fill<largest_point_block>(exec, rows, colors, shift);
}

template <class Scalar, class Exec>
std::size_t MulticolorRelaxation<Scalar, Exec>::bytes() const
{
  return order_.size() * sizeof(std::int32_t) +
         (slice_begin_.size() + slice_later_.size()) * sizeof(std::int64_t) +
         column_.size() * sizeof(std::int32_t) +
         (value_.size() + inverse_.size() + sums_.size()) * sizeof(Scalar);
}

template <class Scalar, class Exec>
std::int64_t MulticolorRelaxation<Scalar, Exec>::blocks_of(const ColorStep &step) const
{
  const auto c = static_cast<std::size_t>(step.color);
  return lanes_ * ((step.earlier && !step.reuse ? earlier_[c] : 0) + (step.later ? later_[c] : 0));
}

template <class Scalar, class Exec>
template <int B>
void MulticolorRelaxation<Scalar, Exec>::relax_blocks(const Exec &exec, const ColorStep &step, Scalar omega,
                                                      const MulticolorVectors<Scalar> &v) const
{
  constexpr int      H = is_device_space<Exec> ? 32 : B == 1 ? 8 : 1, L = is_device_space<Exec> ? 1 : H;
  const auto         c     = static_cast<std::size_t>(step.color);
  const std::int64_t first = first_slice_[c], slices = first_slice_[c + 1] - first;
  Scalar             rest(1);
  for (int k = 0; k < step.repeats; ++k) rest *= Scalar(1) - omega;
  if (slices == 0) return;
  Kokkos::parallel_for(
    "ribbon::relax_color", indices(exec, slices * (H / L)),
    RelaxColor<Scalar, B, H, L>{{order_.data(), slice_begin_.data(), slice_later_.data(), column_.data(),
                                 value_.data(), inverse_.data(), sums_.data(), unknowns_},
                                v.b,
                                v.ghosts,
                                v.x,
                                Scalar(1) - rest,
                                rest,
                                first,
                                step.set,
                                step.earlier,
                                step.later,
                                step.keep,
                                step.reuse});
}

template <class Scalar, class Exec>
void MulticolorRelaxation<Scalar, Exec>::relax(const Exec &exec, const ColorStep &step, Scalar omega,
                                               const MulticolorVectors<Scalar> &v) const
{
  switch (block_) {
  case 1:
    return relax_blocks<1>(exec, step, omega, v);
  case 2:
    return relax_blocks<2>(exec, step, omega, v);
  case 3:
    return relax_blocks<3>(exec, step, omega, v);
  case 4:
    return relax_blocks<4>(exec, step, omega, v);
  case 5:
    return relax_blocks<5>(exec, step, omega, v);
  case 6:
    return relax_blocks<6>(exec, step, omega, v);
  case 7:
    return relax_blocks<7>(exec, step, omega, v);
  default:
    return relax_blocks<8>(exec, step, omega, v);
  }
}

} // namespace ribbon
