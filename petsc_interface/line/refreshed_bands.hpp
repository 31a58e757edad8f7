// SPDX-License-Identifier: BSD-2-Clause
/// @file refreshed_bands.hpp  New values of a matrix with an old pattern, in the bands of its lines.
#pragma once

#include "operator.hpp"

#include <ribbon/matrix/refresh_bands.hpp>
#include <ribbon/matrix/scale.hpp>

#include <vector>

namespace ribbon::petsc {

/// Overwrites the bands of lines in place with the values of a matrix of the same pattern. The plan of the
/// first refresh serves all later ones.
template <class Exec>
class RefreshedBands {
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

public:
  /// Whether these bands, of lines with `components`, have the form in which they were extracted.
  static bool takes(const Input &bands, int components)
  {
    return bands.block == components && bands.lhs != Lhs::shifted && bands.repeats == 1 &&
           bands.kl() == bands.ku();
  }

  /// Returns false if the values do not fit the bands, which are then lost.
  template <class Csr>
  bool read(const Exec &exec, const Csr &A, const LinePlaces &places, const LineRequest &request,
            const Input &bands)
  {
    find_first_lines(exec, bands);
    const RefreshResult found = refresh_bands(exec, A, places, plan_, bands, request.siblings);
    if (found.differ || found.components || found.beyond || found.narrower || found.not_finite) return false;
    if (found.across && !request.coupled) return false;
    if (request.omega != 1) scale<Scalar>(exec, bands, Scalar(1 / request.omega));
    return true;
  }

private:
  /// A line of each class.
  void find_first_lines(const Exec &exec, const Input &bands)
  {
    if (bands.lhs != Lhs::classes || plan_.first.extent(0) > 0) return;
    const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bands.class_of_line);
    std::vector<std::int64_t> first(bands.values.extent(0), 0);
    for (std::size_t l = classes.extent(0); l-- > 0;)
      first[static_cast<std::size_t>(classes(l))] = static_cast<std::int64_t>(l);
    plan_.first = upload(exec, "ribbon::first_of_class", first);
  }

  RefreshPlan<Memory> plan_;
};

} // namespace ribbon::petsc
