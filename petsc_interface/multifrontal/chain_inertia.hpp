// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_inertia.hpp  The inertia of a chain whose pieces lie on several ranks.
#pragma once

#include "../support/compat.h"

#include <ribbon/multifrontal/host/inertia.hpp>

#include <string>
#include <vector>

namespace ribbon::petsc {

/// Keeps a band as it is factored: rows from the entry kl before the diagonal on, for BandHalves.
struct CopyBand {
  Chain                chain;
  ChainEntries<Scalar> A;
  Scalar              *band;
  KOKKOS_FUNCTION void operator()(const std::int64_t place) const
  {
    const std::int64_t number = place / chain.rows, i = place % chain.rows, row = A.row(chain, number, i);
    Scalar            *to = band + place * (chain.width() + 1);
    for (int k = 0; k <= chain.width(); ++k) to[k] = Scalar(0);
    for (int e = 0, n = A.entries(row); e < n; ++e) {
      int          distance;
      const Scalar value      = A.entry(chain, number, i, row, e, distance);
      to[chain.kl + distance] = value;
    }
  }
};

/// Whole chains, on this rank alone. @param refusal  why it cannot be told
PetscErrorCode InertiaOfChains(const Chain &chain, const Scalar *band, Inertia *inertia, std::string *refusal);

/// A chain, or a ring, whose pieces lie on the ranks of comm in their order. Collective; every rank gets the same.
PetscErrorCode InertiaOfPieces(MPI_Comm comm, const Chain &whole, PetscInt rows, const Scalar *band, Inertia *inertia, std::string *refusal);

} // namespace ribbon::petsc
