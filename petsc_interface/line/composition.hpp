// SPDX-License-Identifier: BSD-2-Clause
/// @file composition.hpp  Groups of lines of a PC line, the sequences in which they are solved, and
///   damping.
#pragma once

#include "pc.hpp"

namespace ribbon::petsc {

/// The default damping. Richardson's iteration with undamped line Jacobi does not smooth, but a multigrid
/// level must smooth. Collective.
PetscErrorCode DefaultOmega(PC pc, const PC_Line *line, PetscReal *omega);
/// Replaces the composition auto. It is symmetric, because a PC cannot see whether an outer KSP needs
/// symmetry. It must also be definite. Wide lines overshoot if all lines of a direction are solved at once,
/// and so do directions that are each strong in other rows. Auto averages these (additive composition).
/// Collective.
PetscErrorCode AutoComposition(PC pc, const PC_Line *line, PCLineComposition *composed);
/// The groups of every direction, not yet factored.
void DivideIntoGroups(PC_Line *line, const LineSource &source);
/// Creates the sequences. Auto composes symmetrically at extra cost. If this PC can see its KSP, and the
/// KSP accepts any preconditioner, PreSolveLine() changes to multiplicative composition.
void ComposeSweep(PC_Line *line);

} // namespace ribbon::petsc
