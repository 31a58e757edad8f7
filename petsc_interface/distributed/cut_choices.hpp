// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_choices.hpp  Options and costs of the ways to solve lines that span ranks.
#pragma once

#include <ribbon_petsc/pcline.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ribbon::petsc {

struct CutChoices {
  PCLineCut         cut       = PC_LINE_CUT_AUTO;
  PCLineCutExchange exchange  = PC_LINE_CUT_EXCHANGE_AUTO;
  RibbonTransport   transport = RIBBON_TRANSPORT_AUTO;
};

/// Seconds of the reduced systems of lines over P ranks, with S unknowns for each cut.
/// docs/methods/distributed.md derives the model; examples/distributed/model.py has the same constants.
struct CutCost {
  static constexpr double message = 2e-6, byte = 1e-10; ///< latency in s, seconds per byte (10 GB/s)
  /// bytes per second of reduced solves, and the least seconds per row of them
  static constexpr double memory = 2e11, row = 1e-8;

  double number_bytes; ///< bytes that a rank sends for a line: 2 S scalars

  CutCost(int S, std::size_t scalar) : number_bytes(2.0 * S * static_cast<double>(scalar)) { }

  /// Seconds to solve for one cut of these lines.
  double solve(double lines) const { return std::max(row, 2.5 * number_bytes * lines / memory); }
  double neighbours(double lines) const { return 2 * message + number_bytes * lines * byte; }
  double every_rank(double P, double lines) const
  {
    return std::ceil(std::log2(P)) * message + (P - 1) * (number_bytes * lines * byte + solve(lines));
  }
  double dealt_out(double P, double lines) const
  {
    return 2 * dealt(P, lines) + (P - 1) * solve(std::max(1.0, lines / P));
  }
  /// The cheapest way to solve exactly.
  PCLineCutExchange best(double P, double lines) const
  {
    return every_rank(P, lines) <= dealt_out(P, lines) ? PC_LINE_CUT_EXCHANGE_EVERY_RANK
                                                       : PC_LINE_CUT_EXCHANGE_DEALT_OUT;
  }

private:
  /// Seconds to send the unknowns to the ranks that solve, or to send the solutions back.
  double dealt(double P, double lines) const { return (P - 1) * (message + number_bytes * lines / P * byte); }
};

} // namespace ribbon::petsc
