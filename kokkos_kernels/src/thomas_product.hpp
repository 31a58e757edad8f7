// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas_product.hpp  Products A^-1 B u on a host, where thomas solves with A.
#pragma once

#include "algorithms.hpp"

#include <ribbon/algorithm/whole_lines/thomas.hpp>

namespace ribbon::detail {

/// B and the lines of a product that thomas solves on a host.
template <class Scalar, class Exec>
struct ThomasProduct {
  Bands<Scalar, typename Exec::memory_space> B;

  /// False if there is no kernel: `why` holds the reason.
  bool take(const Bands<Scalar, typename Exec::memory_space> &given, bool staged, std::string &why)
  {
    if (is_device_space<Exec>) why = "thomas applies no B on a device";
    else if (staged) why = "thomas through scratch applies no B";
    else if (given.rows() > most_rows_of_tiles(sizeof(Scalar)) - 2 * given.half_bandwidth())
      why = "lines of " + std::to_string(given.rows()) + " rows are too long for a tile";
    else if (given.periodic && given.rows() < given.half_bandwidth())
      why = "periodic lines of " + std::to_string(given.rows()) + " rows are shorter than the stencil of B";
    else B = given;
    return B.values.size() > 0;
  }
  template <int P, class Factors>
  void apply([[maybe_unused]] const Exec &exec, [[maybe_unused]] const Factors &factors, const Scalar *u,
             const LineSet &in, Scalar *y, const LineSet &out, const int *class_of_line,
             std::int64_t classified, const OperatorTerms<Scalar> &terms) const
  {
    ProductLines<Scalar> input;
    input.values = B.values.data(), input.matrices = static_cast<std::int64_t>(B.values.extent(0)),
    input.stored = static_cast<std::int64_t>(B.values.extent(1)), input.repeats = B.repeats;
    input.kl = B.kl(), input.ku = B.ku();
    input.class_of_line = B.lhs == Lhs::classes ? class_of_line : nullptr, input.classified = classified;
    input.alpha = terms.alpha, input.beta = terms.beta, input.v = terms.v,
    input.lines = terms.beta == Scalar(0) ? in : terms.lines;
    if constexpr (!is_device_space<Exec>)
      thomas_solve_tiles<Exec, Scalar, P>(exec, factors, B.periodic, u, in, y, out, input);
  }
};

} // namespace ribbon::detail
