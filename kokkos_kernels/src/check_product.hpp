// SPDX-License-Identifier: BSD-2-Clause
/// @file check_product.hpp  Whether a banded matrix that is multiplied fits lines and the matrix that is solved.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_set.hpp>

#include <stdexcept>
#include <string>

namespace ribbon::detail {

/// @param who, name  of the class and of the bands, for messages
/// @throws std::invalid_argument if B does not fit the lines or A
template <class Scalar, class Memory>
void check_product(const std::string &who, const std::string &name, const LineSet &lines,
                   const Bands<Scalar, Memory> &A, const Bands<Scalar, Memory> &B)
{
  const auto refuse   = [&](const std::string &what) { throw std::invalid_argument(who + ": " + what); };
  const auto width    = static_cast<int>(B.values.extent(2));
  const auto matrices = static_cast<std::int64_t>(B.values.extent(0));
  const auto expected = B.lhs == Lhs::shared    ? 1
                        : B.lhs == Lhs::classes ? static_cast<std::int64_t>(A.values.extent(0))
                                                : lines.lines();
  if (A.block != 1 || B.block != 1 || lines.components != 1) refuse("blocks: bands of block 1");
  if (width == 0 || width != B.kl() + B.ku() + 1)
    refuse(name + " has " + std::to_string(width) + " diagonals, not kl + ku + 1");
  if (B.half_bandwidth() > 8)
    refuse(name + " has half-bandwidth " + std::to_string(B.half_bandwidth()) + " (at most 8)");
  if (B.repeats < 1 || (B.repeats > 1 && B.values.extent(1) % 2 == 0))
    refuse(name + " has " + std::to_string(B.values.extent(1)) + " stored rows, the middle one " +
           std::to_string(B.repeats) + " times (an odd number of rows, at least once)");
  if (B.lhs == Lhs::shifted) refuse(name + " is shifted (shared, classes, per_line)");
  if (B.lhs == Lhs::classes && A.lhs != Lhs::classes)
    refuse(name + " has classes, and A is " + std::string(to_string(A.lhs)));
  if (B.lhs == Lhs::per_line && A.lhs == Lhs::classes)
    refuse(name + " is per_line, and A has classes (shared, classes)");
  if (lines.unknowns() == 0) return;
  if (B.rows() != lines.rows)
    refuse(name + " has " + std::to_string(B.rows()) + " rows, the lines " + std::to_string(lines.rows));
  if (B.periodic != A.periodic) refuse("one of A and " + name + " is periodic");
  if (matrices != expected)
    refuse(name + " has " + std::to_string(matrices) + " matrices, not " + std::to_string(expected));
}

} // namespace ribbon::detail
