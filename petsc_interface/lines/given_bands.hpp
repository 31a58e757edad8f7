// SPDX-License-Identifier: BSD-2-Clause
/// @file given_bands.hpp  Bands of the lines of one direction that somebody else has,
///   in place of those of Pmat.
#pragma once

#include "../support/compat.h"

#include <ribbon/lines_from_csr.hpp>

namespace ribbon::petsc {

/// What PC line asks before it takes the bands. Bands of pieces of lines have the entries
/// beyond the pieces' ends, too.
class GivenBands {
public:
  virtual ~GivenBands() = default;
  /// What the entries of these lines say, on all ranks; `not_finite` on this one.
  virtual LineCouplings couplings() const = 0;
};

template <class Exec>
class GivenBandsOn : public GivenBands {
public:
  /// @param per_line  false: lines that share matrices may, and those that do not are known not to
  virtual Bands<Scalar, typename Exec::memory_space> bands(const Exec &exec, bool per_line) const = 0;
};

} // namespace ribbon::petsc
