// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_inertia.hpp  The inertia of a chain that spans several ranks.
#pragma once

#include "../support/compat.h"

#include <ribbon/multifrontal/host/inertia.hpp>

#include <string>
#include <vector>

namespace ribbon::petsc {

/// The inertia of whole chains on this rank.
/// @param refusal  why it cannot be counted
PetscErrorCode InertiaOfChains(const Chain &chain, const Scalar *band, Inertia *inertia,
                               std::string *refusal);

/// The inertia of a chain, or a ring, that spans the ranks of comm in their order. Collective; the result
/// is the same on every rank.
PetscErrorCode InertiaOfPieces(MPI_Comm comm, const Chain &whole, PetscInt rows, const Scalar *band,
                               Inertia *inertia, std::string *refusal);

} // namespace ribbon::petsc
