// SPDX-License-Identifier: BSD-2-Clause
/// @file rows.hpp  The rows of a matrix on a rank as rows of unknowns, and the exchange of unknowns between
///   ranks.
#pragma once

#include "../support/csr.hpp"

#include <ribbon/coloring.hpp>

#include <petscsf.h>

#include <vector>

namespace ribbon::petsc {

/// The rows of Pmat that this rank owns. An unknown is a block of rows. Other ranks own the ghosts: the
/// unknowns in whose columns this rank has entries.
class UnknownRows {
public:
  UnknownRows()                               = default;
  UnknownRows(const UnknownRows &)            = delete;
  UnknownRows &operator=(const UnknownRows &) = delete;
  ~UnknownRows() { (void)reset(); }

  /// Finds the unknowns of a matrix, and the ghosts. @param block  rows of an unknown. Collective. Errors:
  /// PETSC_ERR_SUP for types without rows, in the name of PC multicolor.
  PetscErrorCode set_up(Mat pmat, PetscInt block);
  /// Opens the current values of the matrix, as AIJ: converted if it is another type. Collective.
  PetscErrorCode open(Mat pmat);
  PetscErrorCode close();
  PetscErrorCode reset();

  PetscInt    block() const { return block_; }
  PetscInt    unknowns() const { return unknowns_; }
  PetscInt    first() const { return first_; } ///< number of the first unknown over all ranks
  PetscInt    ghosts() const { return static_cast<PetscInt>(ghosts_.size()); }
  PetscMPIInt ranks() const { return ranks_; }
  bool        are_coupled() const { return sf_ != nullptr; } ///< some rank has ghosts; the same on all ranks
  /// the ghosts by their numbers over all ranks, in increasing order
  const std::vector<PetscInt> &ghost_numbers() const { return ghosts_; }
  Mat                          aij() const { return aij_; } ///< while it is open
  Mat                          own_block() const { return own_; }

  /// Calls f(MulticolorRows), which returns a PetscErrorCode, with arrays in the memory of Exec, while the
  /// matrix is open.
  template <class Exec, class F>
  PetscErrorCode with(const F &f)
  {
    PetscErrorCode error = PETSC_SUCCESS;
    PetscFunctionBegin;
    PetscCall(WithCsr<Exec>(own_, [&](const auto &own) {
      MulticolorRows<Scalar> rows{AnyCsrMatrix<Scalar>(own)};
      rows.block = static_cast<int>(block_), rows.ghosts = ghosts();
      if (ghosts() == 0) {
        error = f(rows);
        return;
      }
      const auto inner = WithCsr<Exec>(others_, [&](const auto &others) {
        const auto place = upload(Exec(), "ribbon::places", places_);
        rows.others      = AnyCsrMatrix<Scalar>(others);
        rows.place       = place.data();
        error            = f(rows);
      });
      if (inner) error = inner;
    }));
    PetscCall(error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Copies values of unknowns to the ghosts of other ranks. Collective.
  /// @param unit   MPI type of the values of one unknown
  /// @param color  only unknowns of this colour, after divide(); -1: all
  PetscErrorCode share(MPI_Datatype unit, PetscMemType where, const void *own, void *ghosts,
                       int color = -1) const;
  /// Prepares the exchange of single colours. @param color  of each ghost, below `colors`. Collective.
  PetscErrorCode divide(const std::vector<std::int32_t> &color, int colors);
  /// MPI type of the scalars of one unknown.
  MPI_Datatype scalars() const { return scalars_; }

private:
  PetscErrorCode FindGhosts();

  PetscInt                  block_ = 1, unknowns_ = 0, first_ = 0;
  PetscMPIInt               ranks_ = 1;
  std::vector<PetscInt>     ghosts_;
  std::vector<std::int32_t> places_; ///< for each column of the others its scalar place among the ghosts
  PetscSF                   sf_ = nullptr; ///< null: no rank has ghosts
  std::vector<PetscSF>      of_color_;     ///< the ghosts of each colour
  MPI_Datatype              scalars_ = MPI_DATATYPE_NULL;
  Mat                       aij_ = nullptr, own_ = nullptr, others_ = nullptr; ///< own_, others_: borrowed
};

} // namespace ribbon::petsc
