// SPDX-License-Identifier: BSD-2-Clause
/// @file failures.hpp  Sentences about lines that could not be factored.
#pragma once

#include "pc.hpp"

namespace ribbon::petsc {

/// Global row of row i of a local line.
long long global_row(PetscInt rbegin, const LineRequest &request, std::int64_t line, std::int64_t row);
/// The line of a report. For a class this is its first line.
std::string describe_failure(PetscInt rbegin, const LineRequest &request, const LineFacts &facts);
/// Whether some lines of the batch are solved, though others may have failed.
bool solves_some(const LineBatch &batch);
/// Reports a failed factorization to PETSc, with the same sentence on all ranks.
PetscErrorCode ReportFailure(PC pc, PC_Line *line);

} // namespace ribbon::petsc
