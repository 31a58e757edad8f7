// SPDX-License-Identifier: BSD-2-Clause
#include "rows.hpp"

#include "../support/aij.hpp"

#include <algorithm>
#include <limits>

namespace ribbon::petsc {

PetscErrorCode UnknownRows::open(Mat pmat)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pmat);
  PetscBool      is_aij, converts, has_rows;
  Mat            blocks[2];
  PetscFunctionBegin;
  PetscCall(close());
  PetscCall(IsAIJ(pmat, &is_aij));
  if (is_aij) {
    PetscCall(PetscObjectReference((PetscObject)pmat));
    aij_ = pmat;
  } else {
    PetscCall(MatHasOperation(pmat, MATOP_GET_ROW, &has_rows));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)pmat, &converts, MATNEST, MATIS, MATSEQSELL, MATMPISELL,
                                        MATSEQMAIJ, MATMPIMAIJ, MATSEQKAIJ, MATMPIKAIJ, ""));
    PetscCheck(has_rows || converts, comm, PETSC_ERR_SUP,
               "PC multicolor: a matrix of type %s stores no rows; use an assembled AIJ matrix for Pmat",
               ((PetscObject)pmat)->type_name);
    PetscCall(ConvertToAIJ(pmat, &aij_));
  }
  PetscCall(GetBlocks(aij_, blocks, nullptr));
  own_ = blocks[0], others_ = blocks[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UnknownRows::close()
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&aij_));
  own_ = others_ = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UnknownRows::reset()
{
  PetscFunctionBegin;
  PetscCall(close());
  for (PetscSF &sf : of_color_) PetscCall(PetscSFDestroy(&sf));
  of_color_.clear();
  PetscCall(PetscSFDestroy(&sf_));
  if (scalars_ != MPI_DATATYPE_NULL) PetscCallMPI(MPI_Type_free(&scalars_));
  ghosts_.clear(), places_.clear();
  block_ = 1, unknowns_ = first_ = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The unknowns of the columns in which other ranks own entries of these rows.
PetscErrorCode UnknownRows::FindGhosts()
{
  const MPI_Comm  comm = PetscObjectComm((PetscObject)aij_);
  const PetscInt *columns;
  PetscInt        count = 0, most;
  Mat             blocks[2];
  PetscLayout     layout;
  PetscFunctionBegin;
  PetscCall(GetBlocks(aij_, blocks, &columns));
  if (blocks[1]) PetscCall(MatGetSize(blocks[1], nullptr, &count));
  PetscCallCXX(places_.resize(static_cast<std::size_t>(count)));
  for (PetscInt c = 0; c < count; ++c) { // columns have increasing numbers
    if (ghosts_.empty() || ghosts_.back() != columns[c] / block_)
      PetscCallCXX(ghosts_.push_back(columns[c] / block_));
    places_[static_cast<std::size_t>(c)] =
      static_cast<std::int32_t>((ghosts() - 1) * block_ + columns[c] % block_);
  }
  most = ghosts();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_INT, MPI_MAX, comm));
  if (most == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLayoutCreateFromSizes(comm, unknowns_, PETSC_DECIDE, 1, &layout));
  PetscCall(PetscSFCreate(comm, &sf_));
  PetscCall(PetscSFSetGraphLayout(sf_, layout, ghosts(), nullptr, PETSC_COPY_VALUES, ghosts_.data()));
  PetscCall(PetscSFSetUp(sf_));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UnknownRows::set_up(Mat pmat, PetscInt block)
{
  PetscInt    rows, begin;
  PetscMPIInt width;
  PetscFunctionBegin;
  PetscCall(reset());
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pmat), &ranks_));
  PetscCall(open(pmat));
  PetscCall(MatGetLocalSize(aij_, &rows, nullptr));
  PetscCall(MatGetOwnershipRange(aij_, &begin, nullptr));
  block_ = block, unknowns_ = rows / block, first_ = begin / block;
  PetscCall(PetscMPIIntCast(block, &width));
  PetscCallMPI(MPI_Type_contiguous(width, MPIU_SCALAR, &scalars_));
  PetscCallMPI(MPI_Type_commit(&scalars_));
  PetscCall(FindGhosts());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UnknownRows::divide(const std::vector<std::int32_t> &color, int colors)
{
  PetscFunctionBegin;
  for (PetscSF &sf : of_color_) PetscCall(PetscSFDestroy(&sf));
  of_color_.clear();
  if (!sf_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(of_color_.resize(static_cast<std::size_t>(colors), nullptr));
  for (int c = 0; c < colors; ++c) {
    std::vector<PetscInt> leaves;
    for (std::size_t k = 0; k < color.size(); ++k)
      if (color[k] == c) leaves.push_back(static_cast<PetscInt>(k));
    PetscCall(PetscSFCreateEmbeddedLeafSF(sf_, static_cast<PetscInt>(leaves.size()), leaves.data(),
                                          &of_color_[static_cast<std::size_t>(c)]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode UnknownRows::share(MPI_Datatype unit, PetscMemType where, const void *own, void *ghosts,
                                  int color) const
{
  const PetscSF sf = color < 0 || !sf_ ? sf_ : of_color_[static_cast<std::size_t>(color)];
  PetscFunctionBegin;
  if (!sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFBcastWithMemTypeBegin(sf, unit, where, own, where, ghosts, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, unit, own, ghosts, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
