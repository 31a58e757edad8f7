// SPDX-License-Identifier: BSD-2-Clause
/// @file moved_lines.hpp  Lines that span ranks, each solved on one rank.
#pragma once

#include "operator.hpp"

namespace ribbon::petsc {

/// An operator of lines of direction.moved: gets the rows of its lines from other ranks, solves them with
/// another operator, and returns the solution. Vectors are in host memory. Set-ups and solves are collective.
std::unique_ptr<LineOperator> move_lines(std::unique_ptr<LineOperator> here);

} // namespace ribbon::petsc
