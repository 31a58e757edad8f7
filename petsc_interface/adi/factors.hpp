// SPDX-License-Identifier: BSD-2-Clause
/// @file factors.hpp  P_d = s M - a A_d for each direction, factored by PC line.
#pragma once

#include "../line/steps.hpp"
#include "splitting.hpp"

namespace ribbon::petsc {

/// Line factors of the directions of a splitting, from its bands. A direction whose options request more
/// than one solve along its lines (another -pc_type, ...) gets a matrix. Each direction has an inner PC
/// line with the prefix <owner's prefix>adi_x_, adi_y_ or adi_z_. It accepts the options of PC line. An
/// option that would solve another system is one error (PETSC_ERR_ARG_INCOMP) that names the option. Lines
/// that span ranks are solved exactly. If it is unknown which sub-lines belong together, this is one error
/// that names -pc_line_cut.
class DirectionFactors {
public:
  DirectionFactors()                                    = default;
  DirectionFactors(const DirectionFactors &)            = delete;
  DirectionFactors &operator=(const DirectionFactors &) = delete;
  ~DirectionFactors() { (void)reset(); }
  PetscErrorCode reset();

  /// Sets the object whose prefix and tab level the inner PCs get; borrowed. Call it before the first
  /// factor().
  void set_owner(PetscObject owner) { owner_ = owner; }

  /// The axes whose PCs need a matrix, as bits, for SplitJacobian. Their options are read once.
  PetscErrorCode axes_of_matrices(MPI_Comm comm, unsigned *axes);

  /// Factors M - a A_d of every direction, unless a and the splitting are those of the last call. Rows of
  /// algebraic equations do not depend on a. A failed factor is not an error: failure() returns it on all
  /// ranks. Collective.
  /// @param refactored  may be null
  PetscErrorCode factor(const DirectionSplitting &splitting, PetscReal a, bool *refactored);
  /// One of several sets of factors: set `slot` of direction d becomes s M - a A_d, with algebraic rows as
  /// above. If lines share matrices and a set with a smaller s exists, its matrices are shifted by the
  /// difference, and the rest of A_d is not read. So factor the smallest shift first.
  PetscErrorCode factor(const DirectionSplitting &splitting, int d, int slot, PetscReal s, PetscReal a,
                        bool *refactored);

  /// Deletes a set, and its failure.
  PetscErrorCode drop(int d, int slot);

  /// x = P_d^-1 b; b == x is not allowed. The result of a failed factor is infinite. Collective.
  PetscErrorCode solve(int d, Vec b, Vec x, int slot = 0) const;
  PetscErrorCode solve_transposed(int d, Vec b, Vec x, int slot = 0) const;

  /// Steps u <- (M - a A_d)^-1 (M + b A_d) u of a direction whose slot 0 is factored. `reason`: empty, or
  /// why there are no such steps, the same on all ranks. Collective.
  PetscErrorCode make_steps(const DirectionSplitting &splitting, int d, PetscReal a, PetscReal b,
                            std::shared_ptr<const LineSteps> *steps, std::string *reason) const;

  /// PC_NOERROR, or the reason of the first direction and slot that failed; the same on all ranks.
  PCFailedReason failure() const { return failure_; }
  /// Names the direction of the failure, as "x", and the option that prints the reason:
  /// `-adi_x_pc_line_view`.
  const std::string &failure_sentence() const { return sentence_; }
  PetscErrorCode     view(PetscViewer viewer) const;

private:
  struct Factor {
    PC                          pc = nullptr;
    std::unique_ptr<GivenBands> bands; ///< if the PC has no matrix
    PetscReal                   s = 0, a = 0;
    PetscInt64                  generation = -1;
    PCFailedReason              failed     = PC_NOERROR;
  };
  struct Direction {
    std::string         name;
    Mat                 P  = nullptr; ///< all slots are factored from it, one after another
    Mat                 of = nullptr; ///< A_d with the same pattern
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
  PetscInt64             structure_ = -1; ///< of the splitting of these factors
  bool                   asked_     = false;
  unsigned               matrices_  = 0; ///< see axes_of_matrices()
  PCFailedReason         failure_   = PC_NOERROR;
  std::string            sentence_;
};

} // namespace ribbon::petsc
