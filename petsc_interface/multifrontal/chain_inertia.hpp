// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_inertia.hpp  The inertia of a chain whose pieces lie on several ranks.
#pragma once

#include "../support/compat.h"

#include <ribbon/multifrontal/host/inertia.hpp>

#include <string>
#include <vector>

namespace ribbon::petsc {

/// Whole chains, on this rank alone. @param refusal  why it cannot be told
PetscErrorCode InertiaOfChains(const Chain &chain, const Scalar *band, Inertia *inertia,
                               std::string *refusal);

/// A chain, or a ring, whose pieces lie on the ranks of comm in their order. Collective;
/// every rank gets the same.
PetscErrorCode InertiaOfPieces(MPI_Comm comm, const Chain &whole, PetscInt rows, const Scalar *band,
                               Inertia *inertia, std::string *refusal);

} // namespace ribbon::petsc
