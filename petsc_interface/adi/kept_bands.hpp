// SPDX-License-Identifier: BSD-2-Clause
/// @file kept_bands.hpp  Bands of A_1 .. A_D in the memory of an execution space: one matrix for all lines,
///   classes, or one matrix per line. They are kept until J requires other bands.
#pragma once

#include "../lines/given_bands.hpp"

#include <ribbon/splitting/band_operations.hpp>
#include <ribbon/splitting/band_shapes.hpp>
#include <ribbon/splitting/direction_bands.hpp>

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace ribbon::petsc {

/// The bands of one direction.
template <class Exec>
struct DirectionBands {
  using Memory = typename Exec::memory_space;
  using Array  = Kokkos::View<Scalar *, Memory>;

  BandShape                            shape;
  Bands<Scalar, Memory>                bands;
  Array                                mass;           ///< of the rows of each matrix; empty: ones
  Kokkos::View<std::int64_t *, Memory> representative; ///< a line of each shared matrix
  std::int64_t                         lines = 0, not_finite = -1;
  int                                  axis = 0;
  bool                                 kept = false; ///< false: values are not computed yet

  int block(const GridBox &box) const { return shape.blocks ? box.components : 1; }

  /// Allocates matrices of the shape, and as many values of mass as rows, if there is a mass.
  void allocate_for(const Exec &exec, const GridBox &box, std::size_t matrices, bool has_mass)
  {
    const auto B = static_cast<std::size_t>(block(box)), rows = static_cast<std::size_t>(box.size[axis]);
    const auto h   = static_cast<std::size_t>(shape.half_bandwidth);
    lines          = box.lines(axis) * (shape.blocks ? 1 : box.components);
    bands.block    = static_cast<int>(B);
    bands.periodic = shape.periodic;
    bands.values =
      allocate<decltype(bands.values)>(exec, "ribbon::bands", matrices, rows, (2 * h + 1) * B * B);
    mass = has_mass ? allocate<Array>(exec, "ribbon::mass", matrices * rows * B) : Array();
  }

  BandsToFill<Scalar> to_fill() const
  {
    BandsToFill<Scalar> to;
    to.value = bands.values.data(), to.mass = mass.data();
    to.class_of_line = bands.lhs == Lhs::classes ? bands.class_of_line.data() : nullptr;
    to.matrices      = static_cast<std::int64_t>(bands.values.extent(0));
    to.rows          = static_cast<std::int64_t>(bands.values.extent(1));
    to.axis = axis, to.half_bandwidth = shape.half_bandwidth, to.block = bands.block,
    to.periodic = shape.periodic;
    to.per_line = bands.lhs == Lhs::per_line;
    return to;
  }

  /// Finds the lines that represent the classes: the first line of each.
  void find_representatives(const Exec &exec)
  {
    std::vector<std::int64_t> first(bands.values.extent(0), -1);
    if (bands.lhs == Lhs::shared) first.assign(1, 0);
    else {
      const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bands.class_of_line);
      for (std::size_t l = classes.extent(0); l-- > 0;)
        first[static_cast<std::size_t>(classes(l))] = static_cast<std::int64_t>(l);
    }
    representative = upload(exec, "ribbon::representative", first);
  }
};

/// P = s M - a A_d as PC line reads it. A_d must live as long.
template <class Exec>
class ShiftedBands final : public GivenBandsOn<Exec> {
public:
  ShiftedBands(const DirectionBands<Exec> &A, PetscReal s, PetscReal a) : A_(A), s_(s), a_(a) { }

  LineCouplings couplings() const override
  {
    LineCouplings found;
    found.half_bandwidth = found.stored_bandwidth = A_.shape.half_bandwidth;
    found.periodic = found.stored_periodic = A_.shape.periodic;
    found.component_row                    = A_.shape.blocks ? 0 : -1;
    found.not_finite                       = A_.not_finite;
    found.zero_sums                        = true; // unknown
    return found;
  }

  Bands<Scalar, typename Exec::memory_space> bands(const Exec &exec, bool per_line) const override
  {
    auto P   = A_.bands;
    P.values = allocate<decltype(P.values)>(exec, "ribbon::bands", P.values.extent(0), P.values.extent(1),
                                            P.values.extent(2));
    shift_bands<Scalar>(exec, A_.bands, A_.mass.data(), s_, a_, P);
    return per_line ? one_per_line<Scalar>(exec, P, A_.lines) : P;
  }

private:
  const DirectionBands<Exec> &A_;
  PetscReal                   s_, a_;
};

/// Bands that were computed on the host.
template <class Exec>
class HostBands final : public GivenBandsOn<Exec> {
  using Memory = typename Exec::memory_space;

public:
  HostBands(const Bands<Scalar, Kokkos::HostSpace> &bands, const LineCouplings &couplings, std::int64_t lines)
      : bands_(bands), couplings_(couplings), lines_(lines)
  {
  }

  LineCouplings couplings() const override { return couplings_; }

  Bands<Scalar, Memory> bands(const Exec &exec, bool per_line) const override
  {
    Bands<Scalar, Memory> P;
    const auto           &from = bands_.values;
    P.periodic = bands_.periodic, P.lhs = bands_.lhs;
    P.values =
      allocate<decltype(P.values)>(exec, "ribbon::bands", from.extent(0), from.extent(1), from.extent(2));
    Kokkos::deep_copy(exec, P.values, from);
    if (bands_.lhs == Lhs::classes) {
      P.class_of_line =
        allocate<decltype(P.class_of_line)>(exec, "ribbon::class_of_line", bands_.class_of_line.extent(0));
      Kokkos::deep_copy(exec, P.class_of_line, bands_.class_of_line);
    }
    exec.fence();
    return per_line ? one_per_line<Scalar>(exec, P, lines_) : P;
  }

private:
  Bands<Scalar, Kokkos::HostSpace> bands_;
  LineCouplings                    couplings_;
  std::int64_t                     lines_;
};

/// Bands of all directions that are stored as bands.
template <class Exec, class Index>
class KeptBands {
  using Rows = GridRows<Scalar, Index>;
  using To   = BandsToFill<Scalar>[3];

public:
  std::array<DirectionBands<Exec>, 3> of;

  /// The shapes that the rows require.
  FoundShapes shapes(const Exec &exec, const Rows &rows, const GridBox &box, const std::vector<int> &axes,
                     bool few) const
  {
    int of_directions[3] = {0, 0, 0};
    for (std::size_t d = 0; d < axes.size(); ++d) of_directions[d] = axes[d];
    return band_shapes(exec, rows, box, of_directions, few);
  }

  /// Begins with one matrix for all lines. refresh() finds out whether they agree.
  void begin(const Exec &exec, const std::vector<int> &axes, const BandShape (&shapes)[3],
             unsigned directions)
  {
    for (std::size_t d = 0; d < 3; ++d) {
      of[d] = {};
      if (!(directions >> d & 1)) continue;
      of[d].shape = shapes[d], of[d].axis = axes[d];
      of[d].bands.lhs = Lhs::shared, of[d].bands.values = {};
      of[d].find_representatives(exec);
    }
  }

  /// Updates the bands with the values of the rows, if the form of the bands allows it. `misfit`:
  /// directions whose form does not.
  BandCounts refresh(const Exec &exec, const Rows &rows, const GridBox &box, unsigned directions)
  {
    std::array<DirectionBands<Exec>, 3> next;
    To                                  to;
    for (int d = 0; d < 3; ++d) {
      const auto &kept = of[static_cast<std::size_t>(d)];
      auto       &now  = next[static_cast<std::size_t>(d)];
      if (!(directions >> d & 1)) continue;
      now = kept;
      if (kept.bands.lhs != Lhs::per_line) {
        now.allocate_for(exec, box, kept.representative.extent(0), rows.mass != nullptr);
        fill_representatives(exec, rows, box, d, now.to_fill(), now.representative.data());
      }
      to[d] = now.to_fill();
    }
    BandCounts found = fill_bands(exec, rows, box, to);
    for (int d = 0; d < 3; ++d) {
      auto &kept = of[static_cast<std::size_t>(d)], &now = next[static_cast<std::size_t>(d)];
      if (!(directions >> d & 1) || (found.misfit >> d & 1)) continue;
      kept.not_finite = found.not_finite == INT64_MAX ? -1 : found.not_finite;
      if (kept.bands.lhs == Lhs::per_line) continue;
      if (!kept.kept || differ(exec, kept, now)) found.changed |= 1u << d;
      kept = now, kept.kept = true;
    }
    return found;
  }

  /// Reads all lines of some directions again, and finds the lines that share matrices.
  BandCounts extract(const Exec &exec, const Rows &rows, const GridBox &box, const BandShape (&shapes)[3],
                     unsigned directions)
  {
    To to;
    for (std::size_t d = 0; d < 3; ++d) {
      auto &kept = of[d];
      if (!(directions >> d & 1)) continue;
      const auto classes = kept.bands.lhs == Lhs::classes && kept.shape.blocks == shapes[d].blocks
                             ? kept.bands.class_of_line
                             : decltype(kept.bands.class_of_line)();
      kept.shape = shapes[d], kept.kept = true;
      // for share_lines()
      kept.bands = {}, kept.bands.lhs = Lhs::per_line, kept.bands.class_of_line = classes;
      kept.allocate_for(
        exec, box, static_cast<std::size_t>(box.lines(kept.axis) * (kept.shape.blocks ? 1 : box.components)),
        rows.mass != nullptr);
      to[d] = kept.to_fill(), to[d].fresh = true;
    }
    BandCounts found = fill_bands(exec, rows, box, to);
    found.changed |= directions;
    for (int d = 0; d < 3; ++d) {
      auto &kept = of[static_cast<std::size_t>(d)];
      if (!(directions >> d & 1)) continue;
      kept.not_finite = found.not_finite == INT64_MAX ? -1 : found.not_finite;
      if (kept.not_finite < 0) share_lines(exec, rows, box, d, kept);
    }
    return found;
  }

private:
  static bool differ(const Exec &exec, const DirectionBands<Exec> &a, const DirectionBands<Exec> &b)
  {
    const auto n = [](const auto &view) { return static_cast<std::int64_t>(view.size()); };
    if (n(a.bands.values) != n(b.bands.values) || n(a.mass) != n(b.mass)) return true;
    return numbers_differ(exec, n(a.bands.values), a.bands.values.data(), b.bands.values.data()) ||
           numbers_differ(exec, n(a.mass), a.mass.data(), b.mass.data());
  }

  /// Divides the classes of bands by the previous classes as well. Lines that agree only by rounding would
  /// make other classes, and so a second pass, for every Jacobian. Returns false if there are too many
  /// classes.
  template <class Classes>
  static bool refine(const Exec &exec, const Classes &before, std::int64_t most,
                     Bands<Scalar, typename Exec::memory_space> *bands)
  {
    const auto old = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), before);
    const auto now = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bands->class_of_line);
    std::map<std::pair<int, int>, int> number;
    std::vector<int>                   class_of_line;
    for (std::size_t l = 0; l < old.extent(0); ++l)
      class_of_line.push_back(
        number
          .emplace(std::pair(old(l), bands->lhs == Lhs::shared ? 0 : now(l)), static_cast<int>(number.size()))
          .first->second);
    if (static_cast<std::int64_t>(number.size()) > most) return false;
    if (number.size() == 1) return true;
    bands->class_of_line = upload(exec, "ribbon::class_of_line", class_of_line), bands->lhs = Lhs::classes;
    // only the number of matrices; share_lines() allocates the values
    bands->values =
      allocate<decltype(bands->values)>(exec, "ribbon::bands", number.size(), std::size_t(1), std::size_t(1));
    return true;
  }

  /// Keeps one matrix for lines that agree in it and in their mass, if there are few such matrices.
  static void share_lines(const Exec &exec, const Rows &rows, const GridBox &box, int d,
                          DirectionBands<Exec> &kept)
  {
    DirectionBands<Exec> shared = kept;
    const auto           most   = std::max<std::int64_t>(1, (kept.lines - 1) / 4);
    const auto           before = kept.bands.class_of_line;
    kept.bands.class_of_line    = {};
    if (share<Scalar>(exec, shared.bands, most).classes == 0) return;
    if (before.extent(0) > 0 && !refine(exec, before, most, &shared.bands)) return;
    shared.find_representatives(exec);
    shared.allocate_for(exec, box, shared.representative.extent(0), rows.mass != nullptr);
    fill_representatives(exec, rows, box, d, shared.to_fill(), shared.representative.data());
    if (rows.mass && !masses_agree(exec, rows.mass, box, shared.to_fill())) return;
    kept = shared;
  }
};

} // namespace ribbon::petsc
