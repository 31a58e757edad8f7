// SPDX-License-Identifier: BSD-2-Clause
/// @file multicolor_impl.hpp  MulticolorRelaxation: sweeps over the colours of a matrix.
#pragma once

#include "color_storage.hpp"

#include <limits>
#include <stdexcept>

namespace ribbon {

template <class Scalar, class Exec>
MulticolorRelaxation<Scalar, Exec>::MulticolorRelaxation(const Exec &exec, const MulticolorRows<Scalar> &rows,
                                                         const ColorArray<Exec> &colors, int count,
                                                         Scalar shift, int threads_of_row)
    : storage_(std::make_shared<Storage>())
{
  Storage &s = *storage_;
  s.block = rows.block, s.lanes = lanes_of_slice<Exec>(rows.block, rows.blocks(), count),
  s.unknowns = rows.blocks(), s.threads_of_row = threads_of_row;
  if (s.block < 1 || s.block > largest_point_block)
    throw std::invalid_argument("ribbon::MulticolorRelaxation: blocks have 1 to 8 rows");
  if (s.unknowns + rows.ghosts >= std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("ribbon::MulticolorRelaxation: more than 2^31 unknowns on a rank");
  if (static_cast<std::int64_t>(colors.size()) < s.unknowns + rows.ghosts)
    throw std::invalid_argument("ribbon::MulticolorRelaxation: fewer colours than unknowns and ghosts");
  s.order_by_color(exec, colors, count);
  if (s.block == 1) s.template divide_into_slices<1>(exec, rows, colors);
  else s.template divide_into_slices<largest_point_block>(exec, rows, colors);
  if (count > 2) // no sequence of two colours keeps sums
    s.sums = allocate<Kokkos::View<Scalar *, Memory>>(
      exec, "ribbon::sums", static_cast<std::size_t>(s.first_slice.back() * s.lanes * s.block));
  if (!refresh(exec, rows, colors, shift))
    throw std::invalid_argument("ribbon::MulticolorRelaxation: unknowns of one colour couple");
}

template <class Scalar, class Exec>
bool MulticolorRelaxation<Scalar, Exec>::refresh(const Exec &exec, const MulticolorRows<Scalar> &rows,
                                                 const ColorArray<Exec> &colors, Scalar shift)
{
  Storage &s = *storage_;
  if (s.shares || s.value.size() == 0) s.separate(exec);
  const bool fits = s.fill(exec, rows, colors, shift);
  if (fits) s.share(exec);
  return fits;
}

template <class Scalar, class Exec>
const MulticolorReport &MulticolorRelaxation<Scalar, Exec>::report() const
{
  return storage_->report;
}

template <class Scalar, class Exec>
int MulticolorRelaxation<Scalar, Exec>::colors() const
{
  return storage_ ? static_cast<int>(storage_->first_slice.size()) - 1 : 0;
}

template <class Scalar, class Exec>
std::int64_t MulticolorRelaxation<Scalar, Exec>::unknowns_of(int color) const
{
  return storage_->unknowns_of[static_cast<std::size_t>(color)];
}

template <class Scalar, class Exec>
std::int64_t MulticolorRelaxation<Scalar, Exec>::stored_blocks() const
{
  return (storage_->slots - storage_->first_slice.back()) * storage_->lanes;
}

template <class Scalar, class Exec>
std::size_t MulticolorRelaxation<Scalar, Exec>::bytes() const
{
  const Storage &s = *storage_;
  return (s.order.size() + s.column.size() + s.diagonal.size()) * sizeof(std::int32_t) +
         s.slice.size() * sizeof(ColorSlice) + (s.value.size() + s.sums.size()) * sizeof(Scalar);
}

template <class Scalar, class Exec>
std::int64_t MulticolorRelaxation<Scalar, Exec>::blocks_of(const ColorStep &step) const
{
  const Storage &s = *storage_;
  const auto     c = static_cast<std::size_t>(step.color);
  return s.lanes * ((step.earlier && !step.reuse ? s.counts_of[c].earlier : 0) +
                    (step.later ? s.counts_of[c].later : 0));
}

template <class Scalar, class Exec>
bool MulticolorRelaxation<Scalar, Exec>::Storage::shares_rows(std::size_t color) const
{
  const std::int64_t count   = first_slice[color + 1] - first_slice[color],
                     entries = count > 0 ? (counts_of[color].earlier + counts_of[color].later) / count
                                         : 0; // blocks of a row
  if (threads_of_row > 0) return threads_of_row > 1;
  // H100: 27 points of 2 to 4 unknowns and 125 points take 0.3 to 0.9 of the time, 27 points of one take 1.1 to 3
  return is_device_space<Exec> && count * lanes <= 40000 && entries >= 16 && entries * block * block >= 64;
}

template <class Scalar, class Exec>
template <int B, int H>
void MulticolorRelaxation<Scalar, Exec>::Storage::relax_slices(const Exec &exec, const ColorStep &step,
                                                               Scalar                           omega,
                                                               const MulticolorVectors<Scalar> &v) const
{
  constexpr int      L     = is_device_space<Exec> ? 1 : H;
  const auto         c     = static_cast<std::size_t>(step.color);
  const std::int64_t first = first_slice[c], count = first_slice[c + 1] - first;
  const auto         task = [&](auto diagonals, auto lanes_of_thread, auto threads) {
    Scalar rest(1);
    for (int k = 0; k < step.repeats; ++k) rest *= Scalar(1) - omega;
    return RelaxColor<Scalar, B, H, decltype(lanes_of_thread)::value, decltype(diagonals)::value,
                      decltype(threads)::value>{
      slices(), v.b,          v.ghosts,   v.x,       Scalar(1) - rest, rest,      first,
      step.set, step.earlier, step.later, step.keep, step.reuse,       count * H, shares};
  };
  const auto run = [&](auto diagonals) {
    constexpr int shared = threads_of_long_row, team = is_device_space<Exec> ? 128 / shared : 1;
    if (shares_rows(c))
      Kokkos::parallel_for(
        "ribbon::relax_color",
        Kokkos::TeamPolicy<Exec>(exec, static_cast<int>((count * H + team - 1) / team), team, shared),
        task(diagonals, Size<1>(), Size<shared>()));
    else
      Kokkos::parallel_for("ribbon::relax_color", indices(exec, count * (H / L)),
                           task(diagonals, Size<L>(), Size<1>()));
  };
  if (count == 0) return;
  // fewer registers without the code for stored columns
  if (B == 1 && counts_of[c].with_columns == 0) run(std::bool_constant<B == 1>());
  else run(std::false_type());
}

template <class Scalar, class Exec>
template <int B>
void MulticolorRelaxation<Scalar, Exec>::Storage::relax_blocks(const Exec &exec, const ColorStep &step,
                                                               Scalar                           omega,
                                                               const MulticolorVectors<Scalar> &v) const
{
  if constexpr (is_device_space<Exec>) relax_slices<B, 32>(exec, step, omega, v);
  else if (B == 1 && lanes == 8) relax_slices<1, 8>(exec, step, omega, v);
  else relax_slices<B, 1>(exec, step, omega, v);
}

template <class Scalar, class Exec>
void MulticolorRelaxation<Scalar, Exec>::relax(const Exec &exec, const ColorStep &step, Scalar omega,
                                               const MulticolorVectors<Scalar> &v) const
{
  const Storage &s = *storage_;
  switch (s.block) {
  case 1:
    return s.template relax_blocks<1>(exec, step, omega, v);
  case 2:
    return s.template relax_blocks<2>(exec, step, omega, v);
  case 3:
    return s.template relax_blocks<3>(exec, step, omega, v);
  case 4:
    return s.template relax_blocks<4>(exec, step, omega, v);
  case 5:
    return s.template relax_blocks<5>(exec, step, omega, v);
  case 6:
    return s.template relax_blocks<6>(exec, step, omega, v);
  case 7:
    return s.template relax_blocks<7>(exec, step, omega, v);
  default:
    return s.template relax_blocks<8>(exec, step, omega, v);
  }
}

template <class Scalar, class Exec>
template <int H>
void MulticolorRelaxation<Scalar, Exec>::Storage::store_residual(const Exec &exec, std::size_t color,
                                                                 const MulticolorVectors<Scalar> &v,
                                                                 Scalar                          *r) const
{
  constexpr int      L     = is_device_space<Exec> ? 1 : H;
  const std::int64_t first = first_slice[color], count = first_slice[color + 1] - first;
  const auto         run = [&](auto diagonals) {
    Kokkos::parallel_for("ribbon::color_residual", indices(exec, count * (H / L)),
                                 RelaxColor<Scalar, 1, H, L, decltype(diagonals)::value, 1, true>{
                           slices(), v.b, v.ghosts, v.x, Scalar(1), Scalar(0), first, false, true, true,
                           false, false, count * H, shares, r});
  };
  if (count == 0) return;
  if (counts_of[color].with_columns == 0) run(std::true_type());
  else run(std::false_type());
}

template <class Scalar, class Exec>
void MulticolorRelaxation<Scalar, Exec>::residual(const Exec &exec, int last,
                                                  const MulticolorVectors<Scalar> &v, Scalar *r) const
{
  const Storage &s = *storage_;
  if (s.block != 1)
    throw std::invalid_argument("ribbon::MulticolorRelaxation: a residual needs blocks of 1 row");
  for (std::size_t c = 0; c + 1 < s.first_slice.size(); ++c)
    if (static_cast<int>(c) == last)
      Kokkos::parallel_for("ribbon::color_residual",
                           Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, s.first_slice[c] * s.lanes, s.first_slice[c + 1] * s.lanes),
                           ZeroUnknowns<Scalar>{s.order.data(), r});
    else if constexpr (is_device_space<Exec>) s.template store_residual<32>(exec, c, v, r);
    else if (s.lanes == 8) s.template store_residual<8>(exec, c, v, r);
    else s.template store_residual<1>(exec, c, v, r);
}

} // namespace ribbon
