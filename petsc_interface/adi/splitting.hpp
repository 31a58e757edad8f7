// SPDX-License-Identifier: BSD-2-Clause
/// @file splitting.hpp  An assembled Jacobian J = shift M - A, split by direction: A = A_1 +
///   ... + A_D + R (docs/methods/adi.md).
#pragma once

#include "row_grid.hpp"
#include "split_kernels.hpp"

#include "../lines/given_bands.hpp"

#include <ribbon_petsc/ribbon.h>

namespace ribbon::petsc {

/// What J is made of.
struct SplitJacobian {
  Mat J = nullptr; ///< any type that converts to AIJ, square
  /// a DMDA whose rows these are, or null, or another DM: then the DMDA of J, or its pattern
  DM          dm    = nullptr;
  PetscScalar shift = 0;       ///< J = shift M - A
  Vec         mass  = nullptr; ///< diagonal M; null: the identity. Rows with 0 are algebraic equations
  /// M where it is not diagonal, with the pattern of J: one direction alone takes it.
  /// `mass` are its row sums then
  Mat mass_matrix = nullptr;
  /// `factor` times the matrix is J: with -1, and shift 0, the matrix is A itself
  PetscReal factor = 1;
  /// bit a: A(d) is wanted of the direction along axis a; the others are kept as bands
  /// alone where that is possible
  unsigned matrices = 7;
};

/// A_1 .. A_D on the rows of J, so that P_d = M - a A_d are lines along direction d: as bands
/// (kept_bands.hpp), one matrix for the lines that share it, or as matrices of J's AIJ type where these are
/// wanted, or where there is no box of a grid.
///
/// Rows of differential equations (M_ii != 0), with S_d = sum of the couplings J_ij along d and r_i = J_ii
/// + sum_j J_ij - shift M_ii:
///     (A_d)_ij = -J_ij,  (A_d)_ii = S_d - e_d,  e_d: the share that direction d has of r_i.
/// At ends of lines r_i stands for eliminated neighbours and goes to the directions that end; elsewhere r_i >
/// 0 is shared evenly, r_i < 0 is left out. Components of an element are blocks: the same for each column.
/// Couplings along no direction are left out. One direction leaves out those alone: A_1 = shift M - J.
///
/// Rows of algebraic equations (M_bb = 0), scaled to s_b J with s_b = 1 / J_bb (1 where J_bb = 0): A_d has
/// the row -s_b J along the direction of its couplings, -1 on the diagonal along the others; mass() is 0
/// there. P_d is to have the negative row of A_d, whatever a is: the equation itself, or x_b = rhs_b.
/// Couplings of boundary rows are thereby eliminated line by line.
class DirectionSplitting {
public:
  DirectionSplitting()                                      = default;
  DirectionSplitting(const DirectionSplitting &)            = delete;
  DirectionSplitting &operator=(const DirectionSplitting &) = delete;
  ~DirectionSplitting() { (void)reset(); }
  PetscErrorCode reset();

  /// Splits, or splits anew: in place as long as the pattern, the rows of algebraic equations and the
  /// directions that couple are the same; else D may change, too. Collective.
  /// @param changed  whether A_d or mass() are not what they were, on any rank; may be null
  /// Errors: PETSC_ERR_SUP in one sentence where J has no lines, or a mass matrix in several directions.
  PetscErrorCode update(const SplitJacobian &jacobian, bool *changed);
  /// The same with A_1 .. A_D as the application made them, AIJ with stored diagonals, in the order of the
  /// grid's directions: -J_b in rows of algebraic equations, along the direction of their couplings, zero
  /// along the others. They are copied. Of `jacobian` mass, mass_matrix and dm count; where that is no DMDA,
  /// the DMDA of J, or the patterns of A_d.
  PetscErrorCode update(const std::vector<Mat> &A, const SplitJacobian &jacobian, bool *changed);

  int         directions() const { return static_cast<int>(directions_.size()); } ///< D; 0 before update()
  const char *name(int d) const { return at(d).name; }                            ///< "x", "y", "z"
  int         axis(int d) const { return at(d).axis; }                            ///< of the grid: 0, 1, 2
  Mat         A(int d) const { return at(d).A; } ///< null where the direction is kept as bands
  MPI_Comm    comm() const { return PetscObjectComm((PetscObject)(rows_ ? rows_ : at(0).A)); }
  Mat         rows() const { return rows_; } ///< J as AIJ, on whose rows all of them are
  /// P_d = s M - a A_d for PC line, until the next change, where A(d) is null.
  std::unique_ptr<GivenBands> shifted_bands(int d, PetscReal s, PetscReal a) const;
  /// What PC line is to be told; PC_LINE_DIRECTION_AUTO where the lines are consecutive rows.
  PCLineDirection line_direction(int d) const { return at(d).line; }
  DM              dm() const { return grid_.dm(); } ///< a DMDA of these rows for PC line, or null
  Mat             mass_matrix() const { return mass_matrix_; }
  /// M, 0 in algebraic rows; null: ones, where no matrix is wanted
  Vec mass() const { return mass_; }
  /// grows with every change, of all splittings of the program
  PetscInt64 generation() const { return generation_; }
  /// grows when directions, patterns or algebraic rows change
  PetscInt64  structure() const { return structure_; }
  const char *source() const { return grid_.source().c_str(); } ///< where the directions come from

  /// P = s M - a A_d, in algebraic rows -A_d, where the numbers are. P has the pattern of A_d.
  PetscErrorCode shifted(int d, PetscReal s, PetscReal a, Mat P) const;
  /// Largest sum of |(A_d)_ij| over the rows of differential equations of all ranks: a bound of the
  /// eigenvalues; infinite where a number is not finite. Collective.
  PetscErrorCode largest_row_sum(int d, double *sum) const;

  /// y = M x on differential rows, y = x on algebraic ones: what stands between two solves, P_2^-1 M P_1^-1.
  /// x == y is allowed where M is diagonal.
  PetscErrorCode multiply_mass(Vec x, Vec y) const;
  bool           mass_is_identity() const { return mass_is_identity_; } ///< multiply_mass() changes nothing

  /// s_b on algebraic rows, 0 on the others; null where there are none on any rank
  Vec algebraic() const { return algebraic_; }
  /// 1 on algebraic rows, 0 on the others; null where there are none on any rank
  Vec is_algebraic() const { return is_algebraic_vector_; }
  /// some algebraic row has couplings: Neumann or Robin data
  bool algebraic_couple() const { return couplings_ != nullptr; }
  /// x_b := g_b - s_b sum_j J_bj x_j on algebraic rows b, D times, so that corners follow edges and edges
  /// what is inside; other rows of x stay. Nothing happens where none couples.
  PetscErrorCode solve_algebraic(Vec g, Vec x) const;
  /// The transpose of (g, x) -> x of solve_algebraic(): x is overwritten, `g` gets what belongs to
  /// it, 0 on differential rows.
  PetscErrorCode solve_algebraic_transposed(Vec x, Vec g) const;

  /// What is left to an explicit part, summed over all ranks.
  struct Remainder {
    PetscInt mixed  = 0; ///< couplings along no direction that are not zero
    PetscInt growth = 0; ///< rows whose r_i < 0
    PetscInt torn   = 0; ///< algebraic rows that couple along several directions: P_d has those of one
  };
  const Remainder &remainder() const { return remainder_; }

private:
  struct Direction {
    const char     *name = "x";
    PCLineDirection line = PC_LINE_DIRECTION_AUTO;
    int             axis = 0; ///< of the grid
    Mat             A    = nullptr;
  };
  /// Which pattern of which matrix.
  struct Pattern {
    PetscObjectState state = -1;
    PetscObjectId    of    = 0;
    bool             operator==(const Pattern &other) const { return state == other.state && of == other.of; }
  };
  const Direction  &at(int d) const { return directions_[static_cast<std::size_t>(d)]; }
  PetscErrorCode    as_aij(Mat J, Mat *aij);
  PetscErrorCode    find_ways(Mat aij);
  PetscErrorCode    update_mass(Mat aij, const SplitJacobian &jacobian, bool *changed, bool *rows_changed);
  PetscErrorCode    make(Mat aij);
  PetscErrorCode    create_rows(Mat aij, int axis, Mat *A) const;
  PetscErrorCode    refill(Mat aij, const SplitJacobian &jacobian, bool all, bool *changed);
  PetscErrorCode    refill_bands(const SplitKernels::Task &task, bool all, BandCounts *counts);
  PetscErrorCode    agree_on_shapes(const SplitKernels::Task &task, bool few, BandShape (&shapes)[3]);
  PetscErrorCode    update_rows(Mat aij, const SplitJacobian &jacobian, bool anew, bool *changed);
  PetscErrorCode    forget_directions();
  PetscErrorCode    make_work() const;
  PetscErrorCode    make_algebraic_vectors(bool some);
  PetscErrorCode    make_given(const std::vector<Mat> &A, const SplitJacobian &jacobian);
  PetscErrorCode    update_given(const std::vector<Mat> &A, const SplitJacobian &jacobian, bool *changed);
  PetscErrorCode    algebraic_of_given(const std::vector<Mat> &A);
  static PetscInt64 next_generation();

  RowGrid                       grid_;
  std::vector<Direction>        directions_;
  SplitKernels::Pattern         couplings_of_pattern_;
  std::unique_ptr<SplitKernels> kernels_;      ///< where the numbers are
  unsigned                      axes_ = 0;     ///< bit d: some coupling along d is not zero
  std::vector<Pattern>          patterns_;     ///< of the matrices that the directions were made for
  std::vector<char>             is_algebraic_; ///< local rows
  Pattern                       mass_seen_;    ///< the vector of the application that mass() is made of
  Vec                           mass_ = nullptr, multiplier_ = nullptr, algebraic_ = nullptr;
  Vec                           is_algebraic_vector_ = nullptr; ///< 1 on algebraic rows, 0 on the others
  mutable Vec                   work_[2]             = {nullptr, nullptr};
  Mat                           mass_matrix_         = nullptr;
  /// s_b J_bj of algebraic rows, without the diagonal
  Mat        couplings_        = nullptr;
  Mat        converted_        = nullptr; ///< J as AIJ, where it is of another type
  Mat        rows_             = nullptr; ///< that, or J
  bool       mass_is_identity_ = true;
  PetscInt64 generation_ = 0, structure_ = 0;
  unsigned   matrices_ = 0; ///< bit a: the direction along axis a is a matrix
  unsigned   no_bands_ = 0; ///< bit a: bands of this pattern have no room for its entries
  BandShape  shapes_[3];    ///< of the bands, on all ranks
  Remainder  remainder_;
};

} // namespace ribbon::petsc
