// SPDX-License-Identifier: BSD-2-Clause
/// @file in_flight.hpp  one_pass for one matrix per line, or alpha_l A + beta_l B: the kernel of a system,
///   and the smallest pivot of its matrices or a bound of it.
#pragma once

#include "algorithms.hpp"

#include <ribbon/algorithm/whole_lines/looped_factor.hpp>

namespace ribbon::detail {

/// Of a system with a kernel. Empty if no tile of lines fits: `why` holds the reason.
/// @param dominance  of the matrices, if it was computed
template <class Scalar, class Exec>
Made<Scalar, Exec> make_in_flight(const Exec &exec, const LineSet &lines,
                                  const Bands<Scalar, typename Exec::memory_space> &bands,
                                  const LineSolverOptions &options, const RowDominance &dominance,
                                  DevicePivot &pivot, std::string &why)
{
  Made<Scalar, Exec> made;
  const int          reach   = std::max(1, bands.half_bandwidth());
  const bool         bounded = dominance.bounds_pivots();
  with_system<Scalar>(reach, bands.block, [&](auto K, auto B) {
    if constexpr (K() <= 2 && B() == 1)
      made = make_one_pass_per_line<Scalar, Exec, K()>(exec, lines, bands, options,
                                                       bounded ? nullptr : &pivot, why);
    else {
      made = make_one_pass_wide<Scalar, Exec, K(), B()>(exec, lines, bands, options, why);
      if (!made || bounded) return;
      const auto found =
        smallest_pivot_of_lines<Scalar, Exec>(exec, bands, static_cast<real_t<Scalar>>(pivot.tolerance));
      pivot = {pivot.tolerance, static_cast<double>(found.val), found.loc / lines.rows,
               found.loc % lines.rows};
    }
  });
  if (bounded) pivot = bound_of_pivots(dominance, pivot.tolerance);
  if (made && dominance.certifies(reach)) made->certificate = dominance.certificate();
  return made;
}

} // namespace ribbon::detail
