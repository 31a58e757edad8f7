// SPDX-License-Identifier: BSD-2-Clause
/// @file splitting.hpp  An assembled Jacobian J = shift M - A, split by direction: A = A_1 +
///   ... + A_D + R (docs/methods/adi.md).
#pragma once

#include "row_grid.hpp"
#include "split_kernels.hpp"
#include "tensor_mass.hpp"

#include "../lines/given_bands.hpp"

#include <ribbon_petsc/ribbon.h>

namespace ribbon::petsc {

/// J and the data that describe it.
struct SplitJacobian {
  Mat J = nullptr; ///< any type that converts to AIJ, square
  /// a DMDA of these rows, or null, or another DM: then the DMDA of J, or its pattern
  DM          dm    = nullptr;
  PetscScalar shift = 0;       ///< J = shift M - A
  Vec         mass  = nullptr; ///< diagonal M; null: the identity. Rows with 0 are algebraic equations
  /// M if it is not diagonal, with the pattern of J. `mass` then has its row sums. With several directions
  /// it is a Kronecker product of one matrix for each, as TensorMass describes
  Mat mass_matrix = nullptr;
  /// `factor` times the matrix is J: with -1, and shift 0, the matrix is A
  PetscReal factor = 1;
  /// bit a: the direction along axis a needs a matrix A(d); the others are stored only as bands if possible
  unsigned matrices = 7;
};

/// A_1 .. A_D on the rows of J, so that P_d = M - a A_d has lines along direction d. They are bands
/// (kept_bands.hpp), with one matrix for the lines that share it. They are matrices of J's AIJ type if
/// these are requested, or if the elements are not a box of a grid.
///
/// Rows of differential equations (M_ii != 0), with S_d = sum of the couplings J_ij along d and r_i = J_ii
/// + sum_j J_ij - shift M_ii:
///     (A_d)_ij = -J_ij,  (A_d)_ii = S_d - e_d,  e_d: the part of r_i that direction d has.
/// At ends of lines r_i represents eliminated neighbours and belongs to the directions that end there.
/// Elsewhere r_i > 0 is divided evenly, and r_i < 0 is left out if elements have one component. Several
/// components are blocks: the same for each column, and r_i of any sign is divided. Couplings along no
/// direction are left out. One direction leaves out only these: A_1 = shift M - J.
///
/// Rows of algebraic equations (M_bb = 0) are scaled to s_b J with s_b = 1 / J_bb (1 if J_bb = 0). A_d has
/// the row -s_b J along the direction of its couplings, and -1 on the diagonal along the other directions.
/// mass() is 0 there. P_d must have the negative row of A_d for any a: the equation itself, or x_b = rhs_b.
/// This eliminates couplings of boundary rows line by line.
///
/// With a mass matrix and several directions, P_d = s M_d - a K_d (TensorMass), stored as bands. Their
/// product, without M between them, solves the right-hand sides of scale_rhs().
class DirectionSplitting {
public:
  DirectionSplitting()                                      = default;
  DirectionSplitting(const DirectionSplitting &)            = delete;
  DirectionSplitting &operator=(const DirectionSplitting &) = delete;
  ~DirectionSplitting() { (void)reset(); }
  PetscErrorCode reset();

  /// Splits J. It splits in place if the pattern, the rows of algebraic equations and the directions that
  /// couple are unchanged. Otherwise D may change as well. Collective. Errors: PETSC_ERR_SUP in one
  /// sentence if J has no lines, or for a mass matrix that is no Kronecker product with several directions.
  /// @param changed  whether A_d or mass() changed on any rank; may be null
  PetscErrorCode update(const SplitJacobian &jacobian, bool *changed);
  /// The same with A_1 .. A_D of the application, AIJ with stored diagonals, in the order of the grid's
  /// directions. Rows of algebraic equations have -J_b along the direction of their couplings, and zeros
  /// along the others. The matrices are copied. Of `jacobian` only mass, mass_matrix and dm count. If dm is
  /// not a DMDA, the grid is that of the DMDA of J, or of the patterns of A_d.
  PetscErrorCode update(const std::vector<Mat> &A, const SplitJacobian &jacobian, bool *changed);

  int         directions() const { return static_cast<int>(directions_.size()); } ///< D; 0 before update()
  const char *name(int d) const { return at(d).name; }                            ///< "x", "y", "z"
  int         axis(int d) const { return at(d).axis; }                            ///< of the grid: 0, 1, 2
  Mat         A(int d) const { return at(d).A; } ///< null if the direction is stored as bands
  MPI_Comm    comm() const { return PetscObjectComm((PetscObject)(rows_ ? rows_ : at(0).A)); }
  Mat         rows() const { return rows_; } ///< J as AIJ, with the rows of all directions
  /// P_d = s M - a A_d for PC line if A(d) is null. Valid until the next change.
  std::unique_ptr<GivenBands> shifted_bands(int d, PetscReal s, PetscReal a) const;
  /// The direction to set for PC line; PC_LINE_DIRECTION_AUTO if lines are consecutive rows.
  PCLineDirection line_direction(int d) const { return at(d).line; }
  DM              dm() const { return grid_.dm(); } ///< a DMDA of these rows for PC line, or null
  Mat             mass_matrix() const { return mass_matrix_; }
  /// M, 0 in algebraic rows; null: ones, if no direction needs a matrix
  Vec mass() const { return mass_; }
  /// grows with every change of any splitting of the program
  PetscInt64 generation() const { return generation_; }
  /// grows when directions, patterns or algebraic rows change
  PetscInt64  structure() const { return structure_; }
  const char *source() const { return grid_.source().c_str(); } ///< where the directions come from

  /// P = s M - a A_d, in algebraic rows -A_d, in the memory of the entries. P has the pattern of A_d.
  PetscErrorCode shifted(int d, PetscReal s, PetscReal a, Mat P) const;
  /// Largest sum of |(A_d)_ij| over the rows of differential equations of all ranks: a bound of the
  /// eigenvalues. Infinite if an entry is not finite. Collective.
  PetscErrorCode largest_row_sum(int d, double *sum) const;

  /// y = M x on differential rows. On algebraic ones y = x if M is diagonal, otherwise 0. x == y is allowed if
  /// M is diagonal.
  PetscErrorCode multiply_mass(Vec x, Vec y) const;
  /// Whether M stands between two solves, P_2^-1 M P_1^-1.
  bool mass_between_solves() const { return !mass_is_identity_ && !tensor_; }
  /// M is a Kronecker product of matrices along several directions, which are not diagonal.
  bool has_tensor_mass() const { return tensor_ != nullptr; }
  /// Prepares scale_rhs() for P_d = s_d M_d - a_d K_d. Only with such a mass.
  PetscErrorCode set_tensor_factors(const PetscReal (&s)[3], const PetscReal (&a)[3]);
  /// The right-hand side of the solves with P_1 .. P_D, of this object until the next call.
  PetscErrorCode scale_rhs(Vec rhs, Vec *scaled) const;
  /// That of M_1 .. M_D, for a right-hand side with zeros in algebraic rows.
  PetscErrorCode scale_rhs_of_mass(Vec rhs, Vec *scaled) const;
  bool           mass_is_identity() const { return mass_is_identity_; } ///< multiply_mass() changes nothing

  /// y := s M x - a A x, with all couplings of J; on algebraic rows y_b := s_b J_b x. Not for matrices of the
  /// application. J still has the values of the last update(). x != y.
  PetscErrorCode multiply(PetscReal s, PetscReal a, Vec x, Vec y) const;

  /// s_b on algebraic rows, 0 on the others; null if no rank has algebraic rows
  Vec algebraic() const { return algebraic_; }
  /// 1 on algebraic rows, 0 on the others; null if no rank has algebraic rows
  Vec is_algebraic() const { return is_algebraic_vector_; }
  /// some algebraic row has couplings: Neumann or Robin data
  bool algebraic_couple() const { return couplings_ != nullptr; }
  /// x_b := g_b - s_b sum_j J_bj x_j on algebraic rows b, D times, so that edges follow the interior, and
  /// corners follow edges. Other rows of x do not change. Without couplings this does nothing.
  PetscErrorCode solve_algebraic(Vec g, Vec x) const;
  /// The transpose of (g, x) -> x of solve_algebraic(). It overwrites x, and stores the part of `g` in g, 0
  /// on differential rows.
  PetscErrorCode solve_algebraic_transposed(Vec x, Vec g) const;

  /// Creates E with E v = v - 2 v_1 + v_2 in the rows at both ends of the lines of direction d, with v_1 and v_2
  /// one and two elements further inside; E v = v - v_1 on lines of two elements, and without a grid. Other
  /// rows, and those of algebraic equations, are empty. Null if no line ends. Collective.
  /// @param U  a vector of the type of v
  PetscErrorCode line_ends(int d, Vec U, Mat *E) const;

  /// Bounds of the eigenvalues of M^-1 A_d without reactions: z(phi) = (-damping (1 - cos phi) + i transport
  /// sin phi) / (1 - mass (1 - cos phi)) with the coefficients of three-point differences, and of M_d.
  struct Transport {
    PetscReal transport = 0, damping = 0, mass = 0;
  };
  /// Transport along each direction, from J of the last update(). False if it is unknown: for a mass matrix
  /// that is no product of tridiagonal matrices, or matrices that the application provides. Collective.
  PetscErrorCode transport(Transport (&along)[3], bool *known) const;

  /// The part of J that stays explicit, summed over all ranks.
  struct Remainder {
    PetscInt mixed  = 0; ///< nonzero couplings along no direction
    PetscInt growth = 0; ///< rows with r_i < 0
    PetscInt torn   = 0; ///< algebraic rows that couple along several directions: P_d has one
  };
  const Remainder &remainder() const { return remainder_; }

private:
  struct Direction {
    const char     *name = "x";
    PCLineDirection line = PC_LINE_DIRECTION_AUTO;
    int             axis = 0; ///< of the grid
    Mat             A    = nullptr;
  };
  /// The pattern of a matrix, and its state.
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
  PetscErrorCode    make_mass_along(Mat A) const;
  PetscErrorCode    make_algebraic_vectors(bool some);
  PetscErrorCode    axes_that_couple(Mat aij, const SplitJacobian &jacobian, unsigned grid, unsigned *axes);
  PetscErrorCode    refill_tensor(Mat aij, const SplitJacobian &jacobian, bool all, bool *changed);
  PetscErrorCode    make_given(const std::vector<Mat> &A, const SplitJacobian &jacobian);
  PetscErrorCode    update_given(const std::vector<Mat> &A, const SplitJacobian &jacobian, bool *changed);
  PetscErrorCode    algebraic_of_given(const std::vector<Mat> &A);
  static PetscInt64 next_generation();

  RowGrid                       grid_;
  std::vector<Direction>        directions_;
  SplitKernels::Pattern         couplings_of_pattern_;
  std::unique_ptr<SplitKernels> kernels_;      ///< in the memory of the entries
  std::unique_ptr<TensorMass>   tensor_;       ///< null unless M is a Kronecker product
  unsigned                      axes_ = 0;     ///< bit d: some coupling along d is not zero
  std::vector<Pattern>          patterns_;     ///< of the matrices from which the directions were created
  std::vector<char>             is_algebraic_; ///< local rows
  Pattern                       mass_seen_;    ///< the application's vector of mass()
  Vec                           mass_ = nullptr, multiplier_ = nullptr, algebraic_ = nullptr;
  Vec                           is_algebraic_vector_ = nullptr; ///< 1 on algebraic rows, 0 on the others
  mutable Vec                   work_[2]             = {nullptr, nullptr};
  Mat                           mass_matrix_         = nullptr;
  mutable Mat                   mass_along_          = nullptr; ///< mass_matrix_ with the pattern of A_1
  /// s_b J_bj of algebraic rows, without the diagonal
  Mat         couplings_        = nullptr;
  Mat         converted_        = nullptr; ///< J as AIJ, if it has another type
  Mat         rows_             = nullptr; ///< converted_, or J
  bool        mass_is_identity_ = true;
  PetscInt64  generation_ = 0, structure_ = 0;
  unsigned    matrices_ = 0; ///< bit a: the direction along axis a is a matrix
  unsigned    no_bands_ = 0; ///< bit a: bands of this pattern cannot hold all entries
  BandShape   shapes_[3];    ///< of the bands, on all ranks
  Remainder   remainder_;
  PetscReal   factor_ = 1; ///< J is this times rows_
  PetscScalar shift_  = 0; ///< of J
};

} // namespace ribbon::petsc
