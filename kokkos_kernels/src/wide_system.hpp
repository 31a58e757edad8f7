// SPDX-License-Identifier: BSD-2-Clause
/// @file wide_system.hpp  The kernel of a wide system (K, B) with one matrix per line; included by the
///   files that instantiate it.
#pragma once

#include "in_flight_algorithm.hpp"

#include <ribbon/algorithm/in_flight/wide_plan.hpp>

namespace ribbon::detail {

template <class Scalar, class Exec, int K, int B>
Made<Scalar, Exec> make_one_pass_wide(const Exec &exec, const LineSet &lines,
                                      const Bands<Scalar, typename Exec::memory_space> &bands,
                                      const LineSolverOptions &options, std::string &why)
{
  return made_in_flight<Scalar, Exec, K, B, OnePassWide<Scalar, Exec, K, B>>(exec, lines, bands, options,
                                                                             why);
}

} // namespace ribbon::detail
