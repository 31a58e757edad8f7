// SPDX-License-Identifier: BSD-2-Clause
/// @file factors.hpp  P_d = s M - a A_d, one direction each, factored by PC line.
#pragma once

#include "splitting.hpp"

namespace ribbon::petsc {

/// Line factors of the directions of a splitting, from its bands; a direction whose options ask for more than
/// one solve along its lines (another -pc_type, ...) gets a matrix. An inner PC line for each has the prefix
/// <owner's prefix>adi_x_, adi_y_ or adi_z_, and takes every option of PC line but those that solve something
/// else: these are one error (PETSC_ERR_ARG_INCOMP) that names the option. Lines that ranks cut are solved
/// exactly; where nobody knows which pieces belong together that is one error, which names -pc_line_cut.
class DirectionFactors {
public:
  DirectionFactors()                                    = default;
  DirectionFactors(const DirectionFactors &)            = delete;
  DirectionFactors &operator=(const DirectionFactors &) = delete;
  ~DirectionFactors() { (void)reset(); }
  PetscErrorCode reset();

  /// Before the first factor(): the object whose prefix the inner PCs get, with its tab level; borrowed.
  void set_owner(PetscObject owner) { owner_ = owner; }

  /// The axes whose PCs need a matrix, as bits: to be asked for in SplitJacobian.
  /// Their options are read once.
  PetscErrorCode axes_of_matrices(MPI_Comm comm, unsigned *axes);

  /// Factors M - a A_d of every direction, unless a and the splitting are those of the last call. Rows of
  /// algebraic equations do not depend on a. Collective.
  /// @param refactored  may be null
  /// A factor that fails is no error: failure() says so, on all ranks.
  PetscErrorCode factor(const DirectionSplitting &splitting, PetscReal a, bool *refactored);
  /// Several sets of factors side by side: set `slot` of direction d becomes s M - a A_d, algebraic rows as
  /// above. Where lines share matrices and a set with a smaller s is there, its matrices get the difference
  /// added, and nothing else of A_d is looked at: take the smallest shift first.
  PetscErrorCode factor(const DirectionSplitting &splitting, int d, int slot, PetscReal s, PetscReal a,
                        bool *refactored);

  /// Forgets a set, and whether it failed.
  PetscErrorCode drop(int d, int slot);

  /// x = P_d^-1 b; b == x is not allowed. Collective. A failed factor gives infinity.
  PetscErrorCode solve(int d, Vec b, Vec x, int slot = 0) const;
  PetscErrorCode solve_transposed(int d, Vec b, Vec x, int slot = 0) const;

  /// PC_NOERROR, or the reason of the first direction and slot that failed; the same on all ranks.
  PCFailedReason failure() const { return failure_; }
  /// Which direction that is, "x", and where PC line says why: `-adi_x_pc_line_view`.
  const std::string &failure_sentence() const { return sentence_; }
  PetscErrorCode     view(PetscViewer viewer) const;

private:
  struct Factor {
    PC                          pc = nullptr;
    std::unique_ptr<GivenBands> bands; ///< where the PC has no matrix
    PetscReal                   s = 0, a = 0;
    PetscInt64                  generation = -1;
    PCFailedReason              failed     = PC_NOERROR;
  };
  struct Direction {
    std::string         name;
    Mat                 P  = nullptr; ///< every slot is factored from it in turn
    Mat                 of = nullptr; ///< the A_d whose pattern it has
    std::vector<Factor> slots;
  };
  PetscErrorCode create(MPI_Comm comm, const char *name, PCLineDirection line, DM dm, PC *pc) const;
  PetscErrorCode set_up(const DirectionSplitting &splitting, int d, PetscReal s, PetscReal a, Factor *factor);
  PetscErrorCode make_matrix(const DirectionSplitting &splitting, int d);
  void           look_for_failures();
  static const Factor *smaller_shift(const DirectionSplitting &splitting, const Direction &direction,
                                     PetscReal s, PetscReal a);

  PetscObject            owner_ = nullptr;
  std::vector<Direction> directions_;
  PetscInt64             structure_ = -1; ///< of the splitting that these are of
  bool                   asked_     = false;
  unsigned               matrices_  = 0; ///< see axes_of_matrices()
  PCFailedReason         failure_   = PC_NOERROR;
  std::string            sentence_;
};

} // namespace ribbon::petsc
