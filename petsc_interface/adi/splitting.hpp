// SPDX-License-Identifier: BSD-2-Clause
/// @file splitting.hpp  An assembled Jacobian J = shift M - A, split by direction: A = A_1 + ... + A_D + R (docs/adi.md).
#pragma once

#include "row_grid.hpp"

#include <ribbon_petsc/ribbon.h>

namespace ribbon::petsc {

/// What J is made of.
struct SplitJacobian {
  Mat         J           = nullptr; ///< any type that converts to AIJ, square
  DM          dm          = nullptr; ///< a DMDA whose rows these are, or null, or another DM: the pattern of J is asked
  PetscScalar shift       = 0;       ///< J = shift M - A
  Vec         mass        = nullptr; ///< diagonal M; null: the identity. Rows with 0 are algebraic equations
  Mat         mass_matrix = nullptr; ///< M where it is not diagonal, its pattern within that of J: one direction alone takes it. `mass` are its row sums then
};

/// A_1 .. A_D on the rows of J, in its AIJ type, so that P_d = M - a A_d are lines along direction d.
///
/// Rows of differential equations (M_ii != 0), with S_d = sum of the couplings J_ij along d and r_i = J_ii + sum_j J_ij - shift M_ii:
///     (A_d)_ij = -J_ij,  (A_d)_ii = S_d - e_d,  e_d: the share that direction d has of r_i.
/// r_i > 0 at ends of lines is shared by the directions that end, in proportion to |S_d|, else r_i > 0 by all evenly; r_i < 0 is left out. Components of an element are blocks: the same for each column.
/// Couplings along no direction are left out. One direction leaves nothing out: A_1 = shift M - J.
///
/// Rows of algebraic equations (M_bb = 0), scaled to s_b J with s_b = 1 / J_bb (1 where J_bb = 0): along the direction of their couplings A_d has the row -s_b J, along the others -1 on
/// the diagonal; mass() is 0 there, so that P_d has the equation itself, or x_b = rhs_b, for every a. Couplings of boundary rows are thereby eliminated line by line.
class DirectionSplitting {
public:
  DirectionSplitting()                                      = default;
  DirectionSplitting(const DirectionSplitting &)            = delete;
  DirectionSplitting &operator=(const DirectionSplitting &) = delete;
  ~DirectionSplitting() { (void)reset(); }
  PetscErrorCode reset();

  /// Splits, or splits anew: in place as long as the pattern, the rows of algebraic equations and the directions that couple are the same. Collective.
  /// @param changed  whether A_d or mass() are not what they were, on any rank
  /// Errors: PETSC_ERR_SUP in one sentence where J has no lines, or a mass matrix in several directions.
  PetscErrorCode update(const SplitJacobian &jacobian, bool *changed);
  /// A_1 .. A_D as the application made them, -J_b in rows of algebraic equations; copied. Otherwise as above, but for couplings that `jacobian.J` has and they have not.
  /// J may be null: no algebraic equations then.
  PetscErrorCode update(const std::vector<Mat> &A, const SplitJacobian &jacobian, bool *changed);

  int         directions() const { return static_cast<int>(directions_.size()); }                 ///< D; 0 before update()
  const char *name(int d) const { return directions_[static_cast<std::size_t>(d)].name.c_str(); } ///< "x", "y", "z"
  /// What PC line is told of direction d; PC_LINE_DIRECTION_AUTO where the pattern of P_d shows it.
  PCLineDirection line_direction(int d) const { return directions_[static_cast<std::size_t>(d)].line; }
  Mat             A(int d) const { return directions_[static_cast<std::size_t>(d)].A; }
  Vec             mass() const { return mass_; } ///< M, 0 in algebraic rows
  Mat             mass_matrix() const { return mass_matrix_; }
  DM              dm() const { return dm_; } ///< the DMDA, null where lines come from the pattern
  const char     *source() const { return grid_.source().c_str(); }
  PetscInt64      generation() const { return generation_; } ///< grows when anything changed

  /// M x on differential rows, x itself on algebraic ones: what stands between two solves, P_2^-1 M P_1^-1. x == y is allowed. With a mass matrix: M x, algebraic rows as they are.
  PetscErrorCode multiply_mass(Vec x, Vec y) const;
  bool           mass_is_identity() const { return mass_is_identity_; } ///< multiply_mass() changes nothing

  bool has_algebraic() const { return has_algebraic_; }
  Vec  algebraic() const { return algebraic_; }                   ///< s_b on algebraic rows, 0 on the others; null where there are none
  bool algebraic_couple() const { return couplings_ != nullptr; } ///< some algebraic row has couplings: Neumann data, Robin data
  /// x_b := g_b - s_b sum_j J_bj x_j on algebraic rows, other rows untouched; D times, so that corners follow edges and edges what is inside. Only rows b of g are read.
  PetscErrorCode solve_algebraic(Vec g, Vec x) const;
  /// The transpose of that map, (g, x) -> x: from y to (g, x). `x` == y is allowed; g gets 0 on other rows.
  PetscErrorCode solve_algebraic_transposed(Vec y, Vec g, Vec x) const;

  /// What is left to the explicit part, summed over all ranks.
  struct Remainder {
    PetscInt  mixed   = 0; ///< couplings along no direction that are not zero
    PetscInt  growth  = 0; ///< rows whose r_i < 0 is left out
    PetscReal largest = 0; ///< largest entry of it, relative to the diagonal of its row
  };
  const Remainder &remainder() const { return remainder_; }

private:
  struct Direction {
    std::string     name;
    PCLineDirection line = PC_LINE_DIRECTION_AUTO;
    Mat             A    = nullptr;
  };
  struct Rows;

  RowGrid                grid_;
  std::vector<Direction> directions_;
  DM                     dm_               = nullptr;
  Vec                    mass_             = nullptr;
  Mat                    mass_matrix_      = nullptr;
  Vec                    algebraic_        = nullptr;
  Mat                    couplings_        = nullptr; ///< s_b J_bj of algebraic rows, without the diagonal
  mutable Vec            work_             = nullptr;
  Mat                    converted_        = nullptr; ///< J as AIJ, where it is of another type
  bool                   mass_is_identity_ = true, has_algebraic_ = false;
  PetscInt64             generation_ = 0;
  Remainder              remainder_;
};

} // namespace ribbon::petsc
