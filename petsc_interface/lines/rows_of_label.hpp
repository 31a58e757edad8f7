// SPDX-License-Identifier: BSD-2-Clause
/// @file rows_of_label.hpp  Lines that a label of a DMPLEX marks.
#pragma once

#include <petscmat.h>
#include <petscpc.h>

#include <string>
#include <vector>

namespace ribbon::petsc {

/// The rows of the points that have a value of the label, for each value: line after line, each in the order
/// in which its points follow each other in the mesh. Points of one value that are not connected, or are
/// connected through points of other ranks, are several lines. Errors name the label. Collective.
/// @param A        the matrix of these rows
/// @param rows     global numbers of rows that this rank owns
/// @param offsets  positions at which lines begin, and the number of rows
/// @param with     receives "PC" or "matrix": the object that has the DMPLEX
PetscErrorCode RowsOfLabel(PC pc, Mat A, const std::string &label, std::vector<PetscInt> *rows,
                           std::vector<PetscInt> *offsets, const char **with);

} // namespace ribbon::petsc
