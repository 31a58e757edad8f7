// SPDX-License-Identifier: BSD-2-Clause
/// @file factors.hpp  P_d = s M - a A_d, one direction each, factored by PC line.
#pragma once

#include "splitting.hpp"

namespace ribbon::petsc {

/// Line factors of the directions of a splitting. An inner PC line of each has the prefix <owner's prefix>adi_x_, adi_y_, adi_z_, takes every option of PC line, and solves undamped.
/// Lines that ranks cut are one error that names -<prefix>adi_x_pc_line_cut.
class DirectionFactors {
public:
  DirectionFactors()                                    = default;
  DirectionFactors(const DirectionFactors &)            = delete;
  DirectionFactors &operator=(const DirectionFactors &) = delete;
  ~DirectionFactors() { (void)reset(); }
  PetscErrorCode reset();

  /// Before the first factor(); `prefix` may be null. Both are borrowed from the owner, whose tab level the inner PCs get.
  PetscErrorCode set_owner(PetscObject owner, const char *prefix);

  /// Factors M - a A_d of every direction, unless a and the splitting are those of the last call. Collective. Rows of algebraic equations do not depend on a.
  /// @param refactored  may be null
  /// A factor that fails is no error: failure() says so, on all ranks.
  PetscErrorCode factor(const DirectionSplitting &splitting, PetscReal a, bool *refactored);
  /// Several sets of factors side by side: set `slot` of direction d gets s M - a A_d.
  PetscErrorCode factor(const DirectionSplitting &splitting, int d, int slot, PetscReal s, PetscReal a, bool *refactored);

  /// x = P_d^-1 b; b == x is not allowed. Collective. Solves with a failed factor give infinity.
  PetscErrorCode solve(int d, Vec b, Vec x, int slot = 0) const;
  PetscErrorCode solve_transposed(int d, Vec b, Vec x, int slot = 0) const;

  PCFailedReason failure() const { return failure_; } ///< PC_NOERROR, or the worst of all directions, slots and ranks
  /// Which direction failed and why: the sentence of PC line.
  const std::string &failure_sentence() const { return sentence_; }
  PetscErrorCode     view(PetscViewer viewer) const;

private:
  struct Factor {
    PC             pc = nullptr;
    PetscReal      s = 0, a = 0;
    PetscInt64     generation = -1;
    PCFailedReason failed     = PC_NOERROR;
  };
  struct Direction {
    Mat                 P = nullptr; ///< every slot is set up from it in turn
    std::vector<Factor> slots;
  };
  PetscErrorCode create(const DirectionSplitting &splitting, int d, Factor *factor);

  PetscObject            owner_ = nullptr;
  std::string            prefix_;
  std::vector<Direction> directions_;
  PCFailedReason         failure_ = PC_NOERROR;
  std::string            sentence_;
};

} // namespace ribbon::petsc
