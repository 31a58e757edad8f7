// SPDX-License-Identifier: BSD-2-Clause
/// @file band_row.hpp  The places of a row in the bands of A_1 .. A_D, and what is done with its entries there: they are
///   compared, written, or collected to do both (direction_bands.hpp).
#pragma once

#include <ribbon/splitting/direction_split.hpp>
#include <ribbon/splitting/grid_box.hpp>

namespace ribbon {

/// The bands of one direction in memory: entry (matrix, i, slot) at value[matrix + matrices (i + rows slot)].
template <class Scalar>
struct BandsToFill {
  Scalar      *value         = nullptr; ///< null: this direction is not requested
  Scalar      *mass          = nullptr; ///< of row i of a matrix, by components; null: ones
  const int   *class_of_line = nullptr; ///< null: all lines have matrix 0, or one matrix per line
  std::int64_t matrices = 0, rows = 0;
  int          axis = 0, half_bandwidth = 0, block = 1;
  bool         periodic = false;
  bool         per_line = false; ///< rows that differ are written; otherwise they are reported
  bool         fresh    = false; ///< the bands are uninitialised: every row is written
};

namespace direction_bands {

/// The places of the entries of a row in the bands of a direction.
template <class Scalar>
struct BandRow {
  Scalar      *first  = nullptr; ///< null: not requested
  Scalar      *mass   = nullptr;
  std::int64_t stride = 0, place = 0, all = 0;
  int          half_bandwidth = 0, block = 1, component = 0;
  bool         periodic = false;

  KOKKOS_FUNCTION void set(const GridBox &box, const RowOfBox &row, const BandsToFill<Scalar> &to)
  {
    if (!to.value) return;
    const std::int64_t l    = row.line(box, to.axis);
    const std::int64_t line = to.block == 1 ? l * box.components + row.component : l;
    set_to(box, row, to, to.per_line ? line : to.class_of_line ? to.class_of_line[line] : 0);
  }
  KOKKOS_FUNCTION void set_to(const GridBox &box, const RowOfBox &row, const BandsToFill<Scalar> &to,
                              std::int64_t matrix)
  {
    const std::int64_t at = matrix + to.matrices * row.at(to.axis);
    first = to.value + at, stride = to.matrices * to.rows;
    component = row.component, half_bandwidth = to.half_bandwidth, block = to.block, periodic = to.periodic;
    mass  = !to.mass ? nullptr : to.mass + (block == 1 ? at : at + stride * component);
    place = box.begin[to.axis] + row.at(to.axis), all = box.all[to.axis];
  }
  KOKKOS_FUNCTION int width() const { return 2 * half_bandwidth + 1; }
  /// Whether the bands have a place for an entry.
  KOKKOS_FUNCTION bool holds(int offset, int column) const
  {
    const bool inside = place + offset >= 0 && place + offset < all;
    return offset >= -half_bandwidth && offset <= half_bandwidth && (block > 1 || column == component) &&
           (inside || periodic);
  }
  KOKKOS_FUNCTION Scalar &at(int offset, int column) const
  {
    const int d = offset + half_bandwidth;
    return first[stride * (block == 1 ? d : (d * block + component) * block + column)];
  }
  KOKKOS_FUNCTION int nonzeros() const
  {
    int n = 0;
    for (int d = -half_bandwidth; d <= half_bandwidth; ++d)
      for (int c = 0; c < block; ++c) n += !(at(d, c) == Scalar(0));
    return n;
  }
  KOKKOS_FUNCTION void clear() const
  {
    for (int d = -half_bandwidth; d <= half_bandwidth; ++d)
      for (int c = 0; c < block; ++c) at(d, c) = Scalar(0);
  }
};

/// Compares the entries of a row with those of the bands.
template <class Scalar>
struct TakeCompared {
  const BandRow<Scalar> (&rows)[3];
  int      nonzeros[3] = {0, 0, 0};
  unsigned differs = 0, beyond = 0;

  KOKKOS_FUNCTION explicit TakeCompared(const BandRow<Scalar> (&r)[3]) : rows(r) { }
  KOKKOS_FUNCTION void operator()(int part, int, const Scalar &v, int offset, int component)
  {
    const bool zero = v == Scalar(0);
    with_direction(part - 1, [&](int d) {
      if (!rows[d].first) return;
      if (rows[d].holds(offset, component)) {
        differs |= unsigned(!(rows[d].at(offset, component) == v)) << d;
        nonzeros[d] += !zero;
      } else if (!zero) beyond |= 1u << d;
    });
  }
};

/// Writes the entries of a row for some directions.
template <class Scalar>
struct TakeWritten {
  const BandRow<Scalar> (&rows)[3];
  unsigned directions;
  bool     finite = true;

  KOKKOS_FUNCTION TakeWritten(const BandRow<Scalar> (&r)[3], unsigned written) : rows(r), directions(written)
  {
    for (int d = 0; d < 3; ++d)
      if (directions >> d & 1) rows[d].clear();
  }
  KOKKOS_FUNCTION void operator()(int part, int, const Scalar &v, int offset, int component)
  {
    with_direction(part - 1, [&](int d) {
      if (!(directions >> d & 1) || !rows[d].holds(offset, component)) return;
      rows[d].at(offset, component) = v;
      finite                        = finite && is_finite(magnitude(v));
    });
  }
};

/// Collects the entries of a row in memory of the thread, so that it is split once.
template <class Scalar>
struct TakeCollected {
  static constexpr int room = 24; ///< most entries of a row of one direction
  const BandRow<Scalar> (&rows)[3];
  Scalar   value[3][room]; ///< of direction d: [d][(offset + half_bandwidth) block + component]
  unsigned beyond = 0;     ///< bits of directions with a nonzero entry outside the bands

  KOKKOS_FUNCTION explicit TakeCollected(const BandRow<Scalar> (&r)[3]) : rows(r)
  {
    for (int d = 0; d < 3; ++d)
      for (int k = 0; rows[d].first && k < places(d); ++k) value[d][k] = Scalar(0);
  }
  KOKKOS_FUNCTION int  places(int d) const { return rows[d].width() * rows[d].block; }
  KOKKOS_FUNCTION void operator()(int part, int, const Scalar &v, int offset, int component)
  {
    with_direction(part - 1, [&](int d) {
      const BandRow<Scalar> &row = rows[d];
      if (!row.first) return;
      if (row.holds(offset, component))
        value[d][(offset + row.half_bandwidth) * row.block + (row.block == 1 ? 0 : component)] = v;
      else if (!(v == Scalar(0))) beyond |= 1u << d;
    });
  }
  /// Calls f(entry of the bands, collected value) for all places of direction d.
  template <class F>
  KOKKOS_FUNCTION void each(int d, const F &f) const
  {
    const BandRow<Scalar> &row = rows[d];
    for (int k = 0; k < row.width(); ++k) {
      Scalar *entry = &row.at(k - row.half_bandwidth, 0);
      for (int c = 0; c < row.block; ++c, entry += row.stride) f(*entry, value[d][k * row.block + c]);
    }
  }
};

} // namespace direction_bands

} // namespace ribbon
