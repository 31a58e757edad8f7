// SPDX-License-Identifier: BSD-2-Clause
/// @file given_bands.hpp  Bands of the lines of one direction that replace those of Pmat.
#pragma once

#include "../support/compat.h"

#include <ribbon/lines_from_csr.hpp>

namespace ribbon::petsc {

/// Data that PC line needs before it reads the bands. Bands of sub-lines include the entries beyond the
/// ends of the sub-lines.
class GivenBands {
public:
  virtual ~GivenBands() = default;
  /// Properties of the entries of these lines on all ranks; `not_finite` is that of this rank.
  virtual LineCouplings couplings() const = 0;
};

template <class Exec>
class GivenBandsOn : public GivenBands {
public:
  /// @param per_line  false: lines may share matrices; lines that do not share are known to differ
  virtual Bands<Scalar, typename Exec::memory_space> bands(const Exec &exec, bool per_line) const = 0;
};

} // namespace ribbon::petsc
