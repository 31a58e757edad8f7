// SPDX-License-Identifier: BSD-2-Clause
/// @file row_splitter.hpp  Applies the rules of docs/methods/adi.md row by row.
#pragma once

#include <ribbon/splitting/direction_split.hpp>

namespace ribbon {

/// Splits the rows of GridRows. With S_d = sum of the couplings along d and r_i = J_ii + sum_j J_ij - shift
/// M_ii, rows of differential equations have (A_d)_ij = -J_ij and (A_d)_ii = S_d - e_d. Values of each
/// direction are in arrays with compile-time indices and without branches, so that they are registers.
/// Operations that few rows need are in separate functions.
/// @tparam Reach  at least the reach of the rows
template <class Scalar, class Index, int Reach>
class RowSplitter {
public:
  GridRows<Scalar, Index> in;

  /// Calls emit(part, block, number, offset, component) for every entry of the parts of row r, in the order
  /// of storage. The column is the component of the element `offset` further along the direction of the
  /// part.
  /// @return s_b, 0 for a row of differential equations
  template <class Emit>
  KOKKOS_FUNCTION Scalar split(std::int64_t r, SplitCounts &counts, Emit &emit) const
  {
    const Sums sums = sum_up(r);
    if (is_algebraic(r)) return split_algebraic(r, sums, counts, emit);
    counts.mixed += sums.mixed;
    split_differential(r, sums, counts, emit);
    return Scalar(0);
  }

  /// Parts of a row with one component and nearest neighbours only: (A_d)_ij of the neighbour before it, of
  /// the row and of the neighbour after it.
  struct Star {
    Scalar value[3][3];
  };
  /// Whether row r is such a row of a differential equation, and its parts. The values are those of
  /// split(), at a fraction of its time on a host. For 1 component, Reach 1 and a diagonal M.
  KOKKOS_FUNCTION bool split_star(std::int64_t r, SplitCounts &counts, Star &star) const
  {
    if (is_algebraic(r)) return false;
    Scalar side[3][3] = {}; // to the neighbours along each direction
    Sums   s;
    s.other = Scalar(0), s.mixed = 0;
    s.inner = read_star(r, s, side);
    for (int d = 0; d < 3; ++d) {
      const Scalar before = side[d][0], after = side[d][2];
      s.along[d]       = before + after;
      s.size[d]        = size_of(before) + size_of(after);
      s.missing[d]     = is_zero(before) != is_zero(after) ? -(before + after) : Scalar(0);
      star.value[d][0] = -before, star.value[d][2] = -after;
    }
    Scalar own[3];
    counts.mixed += s.mixed;
    diagonals(r, s, counts, own);
    for (int d = 0; d < 3; ++d) star.value[d][1] = own[d];
    return true;
  }

  /// Adds the convection of row r.
  KOKKOS_FUNCTION void add_convection(std::int64_t r, Convection &sum) const
  {
    if (is_algebraic(r)) return;
    const double mass     = size_of(mass_at(r));
    const int    own      = component_of(r);
    Scalar       first[3] = {}, second[3] = {}; // moments
    int          sides[3] = {};
    for (int b = 0; b < 2; ++b) {
      if (in.J[b].rows == 0) continue;
      for (Index k = in.J[b].row_begin[r]; k < in.J[b].row_begin[r + 1]; ++k) {
        const std::uint16_t way = in.way[b][k];
        const int           d   = direction_of(way);
        if (d < 0 || Way::component(way) != own || is_zero(in.J[b].value[k])) continue;
        const int    o = Way::offset(way);
        const Scalar v = entry(b, k) * Scalar(static_cast<real_t<Scalar>>(o));
        add(first, d, v), add(second, d, v * Scalar(static_cast<real_t<Scalar>>(o)));
        with_direction(d, [&](int e) { sides[e] |= o < 0 ? 1 : 2; });
      }
    }
    for (int d = 0; d < 3; ++d) {
      if (sides[d] == 0) continue;
      Convection::Rows one;
      const double     damping = -real_part(second[d]) / mass;
      one.rows = 1, one.transport = one.sum = size_of(first[d]) / mass;
      one.weighted_damping = one.sum * (damping > 0 ? damping : 0);
      (sides[d] == 3 ? sum.both : sum.one)[d] += one;
    }
  }

private:
  /// A value for each direction.
  struct OfDirections {
    Scalar of[3];
  };

  /// Sums over one row. Couplings are to the component of the row unless stated otherwise.
  struct Sums {
    Scalar along[3]; ///< S_d
    Scalar inner;    ///< J_ii
    Scalar other;    ///< along no direction
    /// the contribution to the diagonal of neighbours that were eliminated, if their couplings equal those
    /// of the other side
    Scalar missing[3];
    /// sums of |J_ij|: along d, along d to all components, and along no direction to all components
    double       size[3], every[3], stray;
    std::int64_t mixed; ///< nonzero entries along no direction
  };

  KOKKOS_FUNCTION static double size_of(const Scalar &v) { return static_cast<double>(magnitude(v)); }
  KOKKOS_FUNCTION static double real_part(const Scalar &v)
  {
    if constexpr (std::is_floating_point_v<Scalar>) return static_cast<double>(v);
    else return static_cast<double>(v.real());
  }
  KOKKOS_FUNCTION static bool   is_zero(const Scalar &v) { return v == Scalar(0); }
  KOKKOS_FUNCTION static Scalar scale_of(const Scalar &diagonal)
  {
    return is_zero(diagonal) ? Scalar(1) : Scalar(1) / diagonal;
  }
  KOKKOS_FUNCTION bool   is_algebraic(std::int64_t r) const { return in.mass && is_zero(in.mass[r]); }
  KOKKOS_FUNCTION Scalar mass_at(std::int64_t r) const { return in.mass ? in.mass[r] : Scalar(1); }
  KOKKOS_FUNCTION Scalar entry(int b, Index k) const { return in.factor * in.J[b].value[k]; }
  KOKKOS_FUNCTION int    component_of(std::int64_t r) const
  {
    return in.components == 1 ? 0 : static_cast<int>((in.first_component + r) % in.components);
  }
  /// Index of the direction, Way::same, or Way::mixed. Couplings along an axis without a direction are
  /// Way::mixed, too.
  KOKKOS_FUNCTION int direction_of(std::uint16_t way) const
  {
    const int axis      = Way::axis(way);
    int       direction = axis;
    with_direction(axis, [&](int e) { direction = in.direction_of_axis[e]; });
    return direction;
  }
  template <class T>
  KOKKOS_FUNCTION static void add(T (&of)[3], int d, const T &v)
  {
    with_direction(d, [&](int e) { of[e] += v; });
  }
  /// The couplings to the neighbours of a row along each direction.
  struct Beside {
    Scalar               v[3][2 * Reach + 1] = {};
    KOKKOS_FUNCTION void add(int d, int offset, const Scalar &value)
    {
      if constexpr (Reach == 1)
        with_direction(d, [&](int e) { with_direction(offset + 1, [&](int k) { v[e][k] += value; }); });
      else v[d][Reach + offset] += value;
    }
  };
  /// Reads the couplings of a row to its nearest neighbours, and the sum of those along no direction.
  /// @return its diagonal entry
  KOKKOS_FUNCTION Scalar read_star(std::int64_t r, Sums &s, Scalar (&side)[3][3]) const
  {
#ifdef __CUDA_ARCH__
    Scalar inner(0);
    for (int b = 0; b < 2; ++b) {
      if (in.J[b].rows == 0) continue;
      for (Index k = in.J[b].row_begin[r]; k < in.J[b].row_begin[r + 1]; ++k) {
        const Scalar v = entry(b, k);
        const int    d = direction_of(in.way[b][k]), side_of = Way::offset(in.way[b][k]) + 1;
        if (d >= 0)
          with_direction(d, [&](int e) { with_direction(side_of, [&](int o) { side[e][o] = v; }); });
        else if (d == Way::same) inner += v;
        else s.other += v, s.mixed += !is_zero(v);
      }
    }
    return inner;
#else
    Scalar             of_way[Way::kinds]; // most of these are never used
    constexpr unsigned mixed = 0, same = 1;
    of_way[same] = Scalar(0);
    for (int axis = 0; axis < 3; ++axis)
      for (int o = -1; o <= 1; ++o) of_way[Way::of(axis, o, 0)] = Scalar(0);
    for (int b = 0; b < 2; ++b) {
      if (in.J[b].rows == 0) continue;
      for (Index k = in.J[b].row_begin[r]; k < in.J[b].row_begin[r + 1]; ++k) {
        const Scalar v = of_way[in.way[b][k]] = entry(b, k);
        if (in.way[b][k] == mixed) s.other += v, s.mixed += !is_zero(v);
      }
    }
    for (int axis = 0; axis < 3; ++axis) { // couplings of other directions are zero
      const int d = in.direction_of_axis[axis];
      if (d >= 0) side[d][0] = of_way[Way::of(axis, -1, 0)], side[d][2] = of_way[Way::of(axis, 1, 0)];
    }
    return of_way[same];
#endif
  }
  KOKKOS_FUNCTION static double total_of(const Sums &s)
  {
    return size_of(s.inner) + s.size[0] + s.size[1] + s.size[2];
  }
  /// Replaces a rest by 0 if rounding errors of values of this size explain it.
  KOKKOS_FUNCTION static Scalar rounded(const Scalar &rest, double total)
  {
    return size_of(rest) <= 100 * static_cast<double>(unit_roundoff<Scalar>()) * total ? Scalar(0) : rest;
  }

  KOKKOS_FUNCTION Sums sum_up(std::int64_t r) const
  {
    const int own = component_of(r);
    Sums      s;
    Beside    beside;
    s.inner = s.other = Scalar(0), s.stray = 0, s.mixed = 0;
    for (int d = 0; d < 3; ++d) s.along[d] = s.missing[d] = Scalar(0), s.size[d] = s.every[d] = 0;
    for (int b = 0; b < 2; ++b) {
      if (in.J[b].rows == 0) continue;
      for (Index k = in.J[b].row_begin[r]; k < in.J[b].row_begin[r + 1]; ++k) {
        const Scalar        v      = entry(b, k);
        const std::uint16_t way    = in.way[b][k];
        const int           d      = direction_of(way);
        const bool          is_own = Way::component(way) == own;
        if (d == Way::same) {
          if (is_own) s.inner += v;
        } else if (d == Way::mixed) {
          s.stray += size_of(v), s.mixed += !is_zero(v);
          if (is_own) s.other += v;
        } else {
          add(s.every, d, size_of(v));
          if (is_own) add(s.along, d, v), add(s.size, d, size_of(v)), beside.add(d, Way::offset(way), v);
        }
      }
    }
    for (int d = 0; d < 3; ++d)
      for (int k = 1; k <= Reach; ++k) {
        const Scalar before = beside.v[d][Reach - k], after = beside.v[d][Reach + k];
        if (is_zero(before) != is_zero(after)) s.missing[d] -= before + after;
      }
    return s;
  }

  /// r_i.
  KOKKOS_FUNCTION Scalar rest_of(std::int64_t r, const Sums &s) const
  {
    return rounded(s.inner + s.other + s.along[0] + s.along[1] + s.along[2] - in.shift * mass_at(r),
                   total_of(s));
  }

  /// The nearest column of row r along direction d; -1: none on this process.
  KOKKOS_FUNCTION std::int64_t nearest(std::int64_t r, int d) const
  {
    std::int64_t column = -1;
    int          least  = Way::farthest + 1;
    for (Index k = in.J[0].row_begin[r]; k < in.J[0].row_begin[r + 1]; ++k) {
      const std::uint16_t way = in.way[0][k];
      if (direction_of(way) != d || Way::component(way) != component_of(r) || is_zero(in.J[0].value[k]))
        continue;
      const int offset = Way::offset(way), distance = offset < 0 ? -offset : offset;
      if (distance < least) least = distance, column = in.J[0].column[k];
    }
    return column;
  }

  /// The fraction of the missing neighbour that an end of a line along d at row r has on its diagonal: 1 if
  /// a neighbour was eliminated, 0 at a Neumann end. It is known if no other direction ends at the row.
  /// Otherwise the next row along another direction that ends is examined.
  /// @return false if no row of this process determines it
  template <int depth>
  KOKKOS_FUNCTION bool share_of_end(std::int64_t r, int d, Scalar &share) const
  {
    if (is_algebraic(r)) return false;
    const Sums s = sum_up(r);
    if (is_zero(s.missing[d])) return false;
    bool ends = false;
    for (int e = 0; e < in.directions; ++e) {
      if (e == d || is_zero(s.missing[e])) continue;
      ends                                     = true;
      [[maybe_unused]] const std::int64_t next = nearest(r, e);
      if constexpr (depth > 0) {
        if (next >= 0 && share_of_end<depth - 1>(next, d, share)) return true;
      }
    }
    if (ends) return false;
    share = rest_of(r, s) / s.missing[d];
    return true;
  }

  /// If lines of several directions end at a row, its neighbours determine which of them have an eliminated
  /// neighbour: a corner between Neumann and Dirichlet conditions.
  RIBBON_NOINLINE KOKKOS_FUNCTION OfDirections weigh_ends(std::int64_t r, OfDirections missing) const
  {
    OfDirections weighed = missing;
    for (int d = 0; d < in.directions; ++d) {
      Scalar share(0);
      if (is_zero(missing.of[d])) continue;
      if (!share_of_end<2>(r, d, share)) return missing;
      weighed.of[d] *= share;
    }
    return is_zero(weighed.of[0] + weighed.of[1] + weighed.of[2]) ? missing : weighed;
  }

  /// S_d - e_d of all directions.
  KOKKOS_FUNCTION void diagonals(std::int64_t r, const Sums &s, SplitCounts &counts, Scalar (&own)[3]) const
  {
    if (in.directions == 1) { // a single direction contains the whole row
      own[0] = in.shift * mass_of_row(r) - s.inner, own[1] = own[2] = Scalar(0);
      return;
    }
    Scalar missing[3] = {s.missing[0], s.missing[1], s.missing[2]}, rest = rest_of(r, s);
    if (is_zero(rest)) { // most interior rows: no rest to distribute
      for (int d = 0; d < 3; ++d) own[d] = s.along[d];
      return;
    }
    double least = 0; // smallest contribution of a missing neighbour
    for (int d = 0; d < 3; ++d)
      if (!is_zero(missing[d]) && !(least > 0 && least <= size_of(missing[d]))) least = size_of(missing[d]);
    // a much smaller rest does not belong to a neighbour: reaction at Neumann ends, or upwind differences
    // on one side
    if (size_of(rest) < 0.1 * least) missing[0] = missing[1] = missing[2] = Scalar(0);
    else if (!is_zero(missing[0]) + !is_zero(missing[1]) + !is_zero(missing[2]) > 1) {
      const RowSplitter  self    = *this; // a copy, because the function needs an address
      const OfDirections weighed = self.weigh_ends(r, {{missing[0], missing[1], missing[2]}});
      for (int d = 0; d < 3; ++d) missing[d] = weighed.of[d];
    }
    const Scalar all  = missing[0] + missing[1] + missing[2];
    const bool   ends = real_part(rest) * real_part(all) > 0;
    // a block without the growth of its diagonal would be another reaction
    if (!ends && real_part(rest) < 0 && in.components == 1) rest = Scalar(0), ++counts.growth;
    for (int d = 0; d < 3; ++d)
      own[d] = s.along[d] -
               (ends ? missing[d] / all * rest : rest / Scalar(static_cast<real_t<Scalar>>(in.directions)));
  }

  /// The diagonal entry of M.
  KOKKOS_FUNCTION Scalar mass_of_row(std::int64_t r) const
  {
    if (!in.M[0]) return mass_at(r);
    Scalar m(0);
    for (Index k = in.J[0].row_begin[r]; k < in.J[0].row_begin[r + 1]; ++k)
      if (in.J[0].column[k] == r) m += in.M[0][k];
    return m;
  }

  /// The same for an entry of the element off the diagonal. The part that couplings to component c do not
  /// explain is distributed evenly.
  RIBBON_NOINLINE KOKKOS_FUNCTION OfDirections entries_of_element(std::int64_t r, int c, double total) const
  {
    Scalar       rest(0);
    OfDirections found = {{Scalar(0), Scalar(0), Scalar(0)}};
    for (int b = 0; b < 2; ++b) {
      if (in.J[b].rows == 0) continue;
      for (Index k = in.J[b].row_begin[r]; k < in.J[b].row_begin[r + 1]; ++k) {
        if (Way::component(in.way[b][k]) != c) continue;
        const int d = direction_of(in.way[b][k]);
        rest += entry(b, k);
        if (d >= 0) found.of[d] += entry(b, k);
      }
    }
    rest = rounded(rest, total);
    for (int d = 0; d < in.directions; ++d)
      found.of[d] -= rest / Scalar(static_cast<real_t<Scalar>>(in.directions));
    return found;
  }

  /// Calls on_entry for the entries of row r in the order of storage, and on_diagonal for the diagonal even
  /// if J has none.
  template <class OnDiagonal, class OnEntry>
  KOKKOS_FUNCTION void walk(std::int64_t r, const OnDiagonal &on_diagonal, const OnEntry &on_entry) const
  {
    for (int b = 0; b < 2; ++b) {
      bool done = b == 1;
      if (in.J[b].rows == 0) continue;
      for (Index k = in.J[b].row_begin[r]; k < in.J[b].row_begin[r + 1]; ++k) {
        const std::int64_t c = in.J[b].column[k];
        if (!done && c >= r) done = true, on_diagonal();
        if (b == 1 || c != r) on_entry(b, k, direction_of(in.way[b][k]));
      }
      if (!done) on_diagonal();
    }
  }

  template <class Emit>
  KOKKOS_FUNCTION void split_differential(std::int64_t r, const Sums &s, SplitCounts &counts,
                                          Emit &emit) const
  {
    const double total     = total_of(s);
    const int    component = component_of(r);
    Scalar       own[3];
    diagonals(r, s, counts, own);
    walk(
      r,
      [&] {
        for (int d = 0; d < 3; ++d)
          if (d < in.directions) emit(d + 1, 0, own[d], 0, component);
      },
      [&](int b, Index k, int d) {
        const std::uint16_t way      = in.way[b][k];
        const Scalar        negative = in.M[b] ? in.shift * in.M[b][k] - entry(b, k) : -entry(b, k);
        if (d >= 0) emit(d + 1, b, negative, Way::offset(way), Way::component(way));
        if (d != Way::same) return;
        OfDirections of_element = {{negative, negative, negative}};
        if (in.directions > 1) {
          const RowSplitter self = *this;
          of_element             = self.entries_of_element(r, Way::component(way), total);
        }
        for (int e = 0; e < in.directions; ++e) emit(e + 1, b, of_element.of[e], 0, Way::component(way));
      });
  }

  template <class Emit>
  KOKKOS_FUNCTION Scalar split_algebraic(std::int64_t r, const Sums &s, SplitCounts &counts, Emit &emit) const
  {
    const Scalar scale = scale_of(s.inner);
    int          own = 0, along = 0;
    double       most = s.every[0];
    for (int d = 0; d < 3; ++d) { // zero along directions beyond the last
      if (s.every[d] > most) own = d, most = s.every[d];
      along += s.every[d] > 0;
    }
    counts.torn += along + (s.stray > 0) > 1;
    const int component = component_of(r);
    walk(
      r,
      [&] {
        for (int d = 0; d < in.directions; ++d)
          emit(d + 1, 0, d == own ? -(scale * s.inner) : Scalar(-1), 0, component);
      },
      [&](int b, Index k, int d) {
        const std::uint16_t way    = in.way[b][k];
        const int           offset = d >= 0 ? Way::offset(way) : 0;
        const Scalar        v      = scale * entry(b, k);
        emit(0, b, v, offset, Way::component(way));
        for (int e = 0; e < in.directions; ++e)
          if (d == e || d == Way::same)
            emit(e + 1, b, e == own ? -v : Scalar(0), offset, Way::component(way));
      });
    return scale;
  }
};

} // namespace ribbon
