// SPDX-License-Identifier: BSD-2-Clause
/// @file substitution.hpp  Forward substitution as an algorithm of a LineSolver.
#pragma once

#include "problem.hpp"

#include <ribbon/algorithm/substitution/substitution.hpp>

namespace ribbon::detail {

template <class Scalar, class Exec>
struct Substitution final : Factored<Scalar, Exec> {
  using Memory = typename Exec::memory_space;
  Bands<Scalar, Memory> bands;

  explicit Substitution(const Bands<Scalar, Memory> &given) : bands(given) { this->name = "substitution"; }
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const int *class_of_line, std::int64_t classified) const override
  {
    const SubstitutionKernel<Scalar, Memory> kernel{
      BandEntries<Scalar, Memory>(bands), {class_of_line, bands.matrices(), 0, classified}, b, x, in, out};
    Kokkos::parallel_for("ribbon::substitution", indices(exec, in.lines()), kernel);
  }
};

} // namespace ribbon::detail
