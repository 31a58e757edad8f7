// SPDX-License-Identifier: BSD-2-Clause
/// @file band_shapes.hpp  Finds the bands that each direction of J needs (docs/methods/adi.md): ways of
///   entries, half-bandwidths, rings and blocks. Compiled where it is included, like
///   direction_split_kernels.hpp.
#pragma once

#include <ribbon/splitting/direction_split_kernels.hpp>
#include <ribbon/splitting/grid_box.hpp>

#include <algorithm>

namespace ribbon {

/// Shape of the bands of a direction.
struct BandShape {
  int  half_bandwidth = 0;
  bool periodic       = false; ///< some entry joins the ends of the grid
  bool blocks         = false; ///< components couple: blocks; otherwise one line per component

  bool operator==(const BandShape &o) const
  {
    return half_bandwidth == o.half_bandwidth && periodic == o.periodic && blocks == o.blocks;
  }
};

/// Shapes of three directions, and the first row with an entry that is not finite.
struct FoundShapes {
  std::int64_t half_bandwidth[3] = {0, 0, 0}, not_finite = INT64_MAX;
  unsigned     periodic = 0, blocks = 0; ///< bits of directions

  RIBBON_ADD_VOLATILE(FoundShapes)
  KOKKOS_INLINE_FUNCTION FoundShapes &operator+=(const FoundShapes &o)
  {
    for (int d = 0; d < 3; ++d)
      if (o.half_bandwidth[d] > half_bandwidth[d]) half_bandwidth[d] = o.half_bandwidth[d];
    if (o.not_finite < not_finite) not_finite = o.not_finite;
    periodic |= o.periodic, blocks |= o.blocks;
    return *this;
  }
};

} // namespace ribbon

template <>
struct Kokkos::reduction_identity<ribbon::FoundShapes> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::FoundShapes sum() { return ribbon::FoundShapes(); }
};

namespace ribbon {

namespace direction_bands {

/// Finds how the entries in the columns of this process couple.
template <class Scalar, class Index>
struct WaysKernel {
  CsrMatrix<Scalar, Index> A;
  GridBox                  box;
  std::uint16_t           *way;

  KOKKOS_FUNCTION std::uint16_t of(std::int64_t r, const RowOfBox &row, std::int64_t column) const
  {
    std::int64_t unused;
    return of(r, row, column, unused);
  }
  /// @param apart  receives the distance of the elements along an axis
  KOKKOS_FORCEINLINE_FUNCTION std::uint16_t of(std::int64_t r, const RowOfBox &row, std::int64_t column,
                                               std::int64_t &apart) const
  {
    const std::int64_t B = box.components, f = B == 1 ? column : column / B, delta = f - (B == 1 ? r : r / B);
    const std::int64_t nx = box.size[0], plane = nx * box.size[1], component = column - f * B;
    apart = 0;
    if (delta == 0) return Way::of(Way::same, 0, component);
    int          axis   = Way::mixed;
    std::int64_t offset = delta;
    if (row.along[0] + delta >= 0 && row.along[0] + delta < nx) axis = 0;
    else if (delta == nx && row.along[1] + 1 < box.size[1]) axis = 1, offset = 1; // frequent: no division
    else if (delta == -nx && row.along[1] > 0) axis = 1, offset = -1;
    else if (delta == plane) axis = 2, offset = 1;
    else if (delta == -plane) axis = 2, offset = -1;
    else if (delta % nx == 0 && row.along[1] + delta / nx >= 0 && row.along[1] + delta / nx < box.size[1])
      axis = 1, offset = delta / nx;
    else if (delta % plane == 0) axis = 2, offset = delta / plane;
    if (axis >= 0 && box.ring[axis] && 2 * (offset < 0 ? -offset : offset) > box.all[axis])
      offset += offset > 0 ? -box.all[axis] : box.all[axis]; // the shorter distance around the ring
    if (axis >= 0) apart = offset < 0 ? -offset : offset;
    return Way::of(axis, offset, component);
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t r, FoundShapes &found) const
  {
    const RowOfBox row(box, r);
    const Index    end     = A.row_begin[r + 1];
    std::int64_t   largest = 0, before = -1;
    bool           ascend = true;
    for (Index k = A.row_begin[r]; k < end; ++k) {
      const std::int64_t column = A.column[k];
      std::int64_t       apart;
      way[k] = of(r, row, column, apart);
      ascend = ascend && before < column, before = column;
      if (apart > largest) largest = apart;
    }
    if (largest > Way::farthest) largest = Way::farthest;
    if (largest > found.half_bandwidth[0]) found.half_bandwidth[0] = largest;
    if (!ascend && r < found.not_finite) found.not_finite = r;
  }
};

/// Reads the entries of a row to find the bands that they need.
template <class Scalar>
struct TakeShape {
  FoundShapes    &found;
  const GridBox  &box;
  const RowOfBox &row;
  const int (&axes)[3]; ///< of the directions
  std::int64_t r;

  KOKKOS_FUNCTION void operator()(int part, int, const Scalar &v, int offset, int component)
  {
    if (v == Scalar(0) || part == 0) return;
    const std::int64_t size = offset < 0 ? -offset : offset;
    if (!is_finite(magnitude(v)) && r < found.not_finite) found.not_finite = r;
    with_direction(part - 1, [&](int d) {
      const int          axis  = axes[d];
      const std::int64_t place = box.begin[axis] + row.at(axis) + offset;
      if (size > found.half_bandwidth[d]) found.half_bandwidth[d] = size;
      if (place < 0 || place >= box.all[axis]) found.periodic |= 1u << d;
      if (component != row.component) found.blocks |= 1u << d;
    });
  }
};

/// Results: half-bandwidths of the directions, flags of rings and blocks, and INT64_MAX less the first row
/// that is not finite. Few rows change the results, so atomics are cheap. As parallel_reduce this kernel
/// and FillKernel stop with an illegal instruction in threads without a row (CUDA 13.0, sm_90).
template <class Scalar, class Index, int Reach>
struct ShapeKernel {
  RowSplitter<Scalar, Index, Reach> splitter;
  GridBox                           box;
  int                               axes[3];
  std::int64_t                     *answer;

  KOKKOS_FUNCTION void larger(int k, std::int64_t value) const
  {
    if (value > answer[k]) Kokkos::atomic_fetch_max(answer + k, value);
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t r) const
  {
    SplitCounts       ignored;
    FoundShapes       found;
    const RowOfBox    row(box, r);
    TakeShape<Scalar> take{found, box, row, axes, r};
    splitter.split(r, ignored, take);
    for (int d = 0; d < 3; ++d) larger(d, found.half_bandwidth[d]);
    for (int d = 0; d < 3; ++d) larger(3 + d, found.periodic >> d & 1), larger(6 + d, found.blocks >> d & 1);
    if (found.not_finite != INT64_MAX) larger(9, INT64_MAX - found.not_finite);
  }
};

} // namespace direction_bands

/// Writes the ways of the entries in the columns of this process. Waits for the result.
/// @param reach  the largest offset along an axis
/// @return the first row whose columns do not ascend; -1: no such row
template <class Scalar, class Index, class Exec>
std::int64_t find_ways(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const GridBox &box,
                       std::uint16_t *way, int *reach)
{
  FoundShapes found;
  if (A.rows > 0)
    Kokkos::parallel_reduce("ribbon::find_ways", indices(exec, A.rows),
                            direction_bands::WaysKernel<Scalar, Index>{A, box, way},
                            Kokkos::Sum<FoundShapes>(found));
  exec.fence();
  *reach = static_cast<int>(std::max<std::int64_t>(found.half_bandwidth[0], 1));
  return found.not_finite == INT64_MAX ? -1 : found.not_finite;
}

/// The shapes that the bands need, from all rows or from the first few. Waits for the result.
/// @param axes  of the directions
template <class Scalar, class Index, class Exec>
FoundShapes band_shapes(const Exec &exec, const GridRows<Scalar, Index> &rows, const GridBox &box,
                        const int (&axes)[3], bool few)
{
  using Rows = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<128, 4>>;
  const std::int64_t n     = few ? std::min<std::int64_t>(rows.J[0].rows, 4096) : rows.J[0].rows;
  const auto         words = upload(exec, "ribbon::band_shapes", std::vector<std::int64_t>(10, 0));
  const auto         run   = [&](const auto &kernel) {
    Kokkos::parallel_for("ribbon::band_shapes", Rows(exec, 0, n), kernel);
  };
  if (n > 0 && rows.reach <= 1)
    run(
      direction_bands::ShapeKernel<Scalar, Index, 1>{{rows}, box, {axes[0], axes[1], axes[2]}, words.data()});
  else if (n > 0)
    run(direction_bands::ShapeKernel<Scalar, Index, Way::farthest>{
      {rows}, box, {axes[0], axes[1], axes[2]}, words.data()});
  exec.fence();
  const auto  host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), words);
  FoundShapes found;
  for (std::size_t d = 0; d < 3; ++d) {
    found.half_bandwidth[d] = host(d);
    found.periodic |= unsigned(host(3 + d) > 0) << d, found.blocks |= unsigned(host(6 + d) > 0) << d;
  }
  if (host(9) > 0) found.not_finite = INT64_MAX - host(9);
  return found;
}

} // namespace ribbon
