// SPDX-License-Identifier: BSD-2-Clause
/// @file composition.hpp  Groups of lines of a PC line, the sequences that they are solved in, and damping.
#pragma once

#include "pc.hpp"

namespace ribbon::petsc {

/// Damping of solves that nobody gave one: Richardson's iteration with undamped line Jacobi does not smooth,
/// and a multigrid level is there to smooth. Collective.
PetscErrorCode DefaultOmega(PC pc, const PC_Line *line, PetscReal *omega);
/// What auto stands for. Symmetric, since nobody tells a PC whether a method that needs that stands around
/// its KSP; and definite: wide lines overshoot where all of a direction are solved at once, and are averaged,
/// as are directions of which each is strong elsewhere. Collective.
PetscErrorCode AutoComposition(PC pc, const PC_Line *line, PCLineComposition *composed);
/// The groups of every direction, not yet factored.
void DivideIntoGroups(PC_Line *line, const LineSource &source);
/// Makes the sequences. Where auto pays for symmetry, a KSP that takes any preconditioner, and that this PC
/// can see, has it multiplicative (PreSolveLine()).
void ComposeSweep(PC_Line *line);

} // namespace ribbon::petsc
