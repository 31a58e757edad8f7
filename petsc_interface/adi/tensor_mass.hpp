// SPDX-License-Identifier: BSD-2-Clause
/// @file tensor_mass.hpp  A mass matrix that is a Kronecker product of matrices along the directions of a
///   grid, and the matrices K_d of A for it (docs/methods/adi.md#kronecker-products).
#pragma once

#include "row_grid.hpp"
#include "split_kernels.hpp"

#include "../lines/given_bands.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ribbon::petsc {

/// M = T (M_x (x) M_y (x) M_z) with a diagonal matrix T. The rows of M_d sum to 1, so that T has the row sums
/// of M. A = shift M - J is T (K_x (x) M_y (x) M_z + M_x (x) K_y (x) M_z + ...) and a remainder. All lines
/// along d have the same M_d and K_d. Rows of zeros in M are equations u = g. They fill whole faces of the
/// grid, and the matrices along a direction that ends there have the row (0 .. 1 .. 0).
class TensorMass {
public:
  TensorMass()                              = default;
  TensorMass(const TensorMass &)            = delete;
  TensorMass &operator=(const TensorMass &) = delete;
  ~TensorMass() { (void)reset(); }
  PetscErrorCode reset();

  /// Stores the offsets of the entries of a pattern. `grid` is borrowed.
  /// @param axes  of the directions
  PetscErrorCode set_pattern(Mat pattern, const RowGrid &grid, const std::vector<int> &axes);
  /// Finds T and M_d. Collective. Errors: PETSC_ERR_SUP in one sentence that names the row that
  /// differs most from a product.
  /// @param M          with this pattern
  /// @param J          shift M - A up to a factor: its entries limit the accuracy of those of M
  /// @param algebraic  local rows of M that are zero
  PetscErrorCode set_mass(Mat M, Mat J, PetscScalar shift, const std::vector<char> &algebraic);
  /// Finds K_d. Collective. Errors: PETSC_ERR_SUP in one sentence if an algebraic row couples.
  /// @param J        with this pattern: factor J = shift M - A
  /// @param scale    receives s_b = 1 / J_bb of algebraic rows; null: there are none
  /// @param changed  whether K_d or s_b of this rank differ from those before
  PetscErrorCode split(Mat J, PetscScalar shift, PetscReal factor, Vec scale, bool *changed);

  /// s M_d - a K_d for PC line.
  std::unique_ptr<GivenBands> bands(SplitKernels &kernels, int d, PetscReal s, PetscReal a) const;
  /// Prepares right-hand sides for the product of the matrices s_d M_d - a_d K_d.
  PetscErrorCode set_factors(const PetscReal (&s)[3], const PetscReal (&a)[3]);
  /// scaled := the right-hand side of the product of these matrices: T^-1 rhs, and in the rows of algebraic
  /// equations the product of the matrices along the faces, times their values in rhs.
  PetscErrorCode scale(Vec rhs, Vec scaled) const;
  /// T^-1, and 1 in rows of algebraic equations
  Vec inverse_sums() const { return inverse_; }

  /// See DirectionSplitting::Transport. Couplings of neighbours i and j are compared in the inner product of
  /// M_d, where r = m_ij / m_ji is the ratio of the row sums: k_ij = r k_ji is diffusion, on any grid, and
  /// k_ij = -r k_ji is transport.
  struct Transport {
    PetscReal transport = 0, damping = 0, mass = 0;
  };
  Transport transport(int d) const;
  /// Whether transport() describes the matrices: they are tridiagonal.
  bool is_tridiagonal(int d) const { return at(d).half_bandwidth == 1; }

private:
  /// Offsets along the directions.
  struct Entry {
    enum Kind : signed char { here, other_component, elsewhere };
    signed char offset[3] = {0, 0, 0};
    Kind        kind      = here;
  };
  /// M_d and K_d, by rows and components: entry (i, c, offset) at [(i C + c) width + reach + offset].
  struct Along {
    int                      axis = 0, reach = 1;
    int                      half_bandwidth = 1; ///< of the bands
    PetscInt                 all = 1, begin = 0;
    bool                     periodic = false; ///< some entry joins the ends of the grid
    std::vector<PetscScalar> mass, K;
    std::vector<char>        algebraic;
    int                      width() const { return 2 * reach + 1; }
  };
  /// Rows of M_d or K_d for each local row, or for each row and component, by directions.
  using Rows       = std::vector<std::vector<PetscScalar>>;
  using RowEntries = std::vector<std::pair<Entry, PetscScalar>>;
  /// Indices (i C + c) of a local row along the directions.
  struct Places {
    std::size_t at[3] = {0, 0, 0};
  };
  const Along &at(int d) const { return along_[static_cast<std::size_t>(d)]; }
  int          directions() const { return static_cast<int>(along_.size()); }
  PetscInt     rows() const { return static_cast<PetscInt>(algebraic_.size()); }
  std::size_t  place(int d, PetscInt row) const;
  Places       places_of(PetscInt row) const;
  PetscScalar  product_of_masses(const Places &places, const Entry &entry, int without) const;
  PetscScalar  entry_of(int d, std::size_t at_i, int offset, PetscReal s, PetscReal a) const;
  bool         components_agree(int d) const;

  template <class F>
  PetscErrorCode for_rows(Mat A, const F &f) const;
  PetscErrorCode mean_of_lines(const Rows &of_rows, bool masses, Rows *mean);
  PetscErrorCode check_mass(Mat M, const std::vector<PetscReal> &noise, const Rows &of_rows,
                            std::string *what) const;
  PetscErrorCode least_damping(const std::vector<PetscScalar>      &sums,
                               std::vector<std::vector<PetscReal>> *of) const;
  PetscErrorCode fit_rows(Mat J, PetscScalar shift, PetscReal factor, Rows *K,
                          std::vector<PetscScalar> *sums);
  PetscErrorCode divide_damping(const std::vector<PetscScalar> &sums, Rows *K) const;
  PetscErrorCode factors_of_dominance(int d, const Rows &K, const std::vector<PetscScalar> &mean,
                                      std::vector<PetscReal> *factors) const;
  PetscErrorCode keep(const Rows &K, bool *changed);
  PetscErrorCode scale_algebraic(Mat J, PetscReal factor, Vec scale, bool *changed);
  template <class F>
  void for_face_entries(PetscInt row, const F &f) const;

  const RowGrid           *grid_  = nullptr; ///< borrowed
  PetscInt                 first_ = 0;       ///< row of this rank
  std::vector<Entry>       entries_[2];      ///< of the diagonal and the off-diagonal block
  std::vector<Along>       along_;
  std::vector<char>        algebraic_; ///< local rows
  std::vector<PetscScalar> sums_;      ///< T of local rows
  std::vector<PetscScalar> scale_;     ///< s_b
  std::int64_t             not_finite_    = -1;
  MPI_Comm                 comm_          = MPI_COMM_NULL;
  Mat                      pattern_       = nullptr; ///< whose type and layout the products have
  Vec                      inverse_       = nullptr;
  Mat                      products_      = nullptr; ///< see scale(); null without algebraic equations
  bool                     has_algebraic_ = false;   ///< on some rank
};

} // namespace ribbon::petsc
