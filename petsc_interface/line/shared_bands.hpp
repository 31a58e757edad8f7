// SPDX-License-Identifier: BSD-2-Clause
/// @file shared_bands.hpp  Matrices of lines: shared, scaled and shifted.
#pragma once

#include "operator.hpp"

#include "../support/open_arrays.hpp"
#include "../support/session.hpp"

#include <ribbon/matrix/kronecker.hpp>
#include <ribbon/matrix/scale.hpp>
#include <ribbon/matrix/shifted_classes.hpp>

#include <algorithm>
#include <cmath>

namespace ribbon::petsc {

/// Stores one matrix for lines that agree.
template <class Exec>
PetscErrorCode ShareBands(const Exec &exec, std::int64_t lines, const LineRequest &request,
                          Bands<Scalar, typename Exec::memory_space> &bands, LineFacts *facts)
{
  PetscFunctionBegin;
  if (request.lhs != PC_LINE_LHS_PER_LINE && lines > 0) {
    // classes are kept while they hold less than a quarter of the entries of one matrix per line
    const std::int64_t most = request.lhs == PC_LINE_LHS_SHARED ? 1
                              : request.lhs == PC_LINE_LHS_CLASSES
                                ? lines
                                : std::max<std::int64_t>(1, (lines - 1) / 4);
    SharingResult      shared;
    PetscCallCXX(shared = share<Scalar>(exec, bands, most, request.lhs_tol));
    facts->first = shared.first, facts->different = shared.different;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the options request another sharing of matrices than that of given bands.
inline bool LooksAtLines(const LineRequest &request)
{
  return request.lhs != PC_LINE_LHS_AUTO || request.lhs_tol > 0;
}

/// Shares one matrix among lines that agree, then applies the Kronecker product and omega.
template <class Exec>
PetscErrorCode ShareAndScale(const Exec &exec, const LineSource &source, const LineRequest &request,
                             Bands<Scalar, typename Exec::memory_space> *bands, LineFacts *facts)
{
  const std::int64_t lines = request.direction.lines.lines();
  PetscFunctionBegin;
  if (!source.given || LooksAtLines(request)) PetscCall(ShareBands(exec, lines, request, *bands, facts));
  if (source.kronecker) {
    PetscCallCXX(*bands = kronecker(exec, *bands, lines, source.factors));
    if (bands->values.extent(0) > 1 && facts->different < 0) facts->first = 0, facts->different = 1;
  }
  if (request.omega != 1) PetscCallCXX(scale<Scalar>(exec, *bands, Scalar(1 / request.omega)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// result = bands + s diag(diagonal) for lines that share matrices. `made`: false if they do not share, or
/// have different diagonals.
template <class Exec>
PetscErrorCode ShiftBands(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                          const LineSet &lines, Vec diagonal, PetscReal s,
                          Bands<Scalar, typename Exec::memory_space> *result, bool *made)
{
  OpenVec<Exec> open;
  PetscFunctionBegin;
  *made = bands.values.extent(0) > 0 && (bands.lhs == Lhs::shared || bands.lhs == Lhs::classes);
  if (!*made) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(open.open(diagonal, Access::read));
  PetscCallCXX(*made = add_diagonal<Scalar>(exec, bands, lines, open.data(), Scalar(s), result));
  PetscCallCXX(exec.fence());
  PetscCall(open.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether to try again after a zero pivot, with twice the last shift. The limit is the square root of the
/// machine epsilon.
template <class Exec>
bool ShiftZeroPivots(const Exec &exec, const LineRequest &request, const FactorReport &report,
                     const Bands<Scalar, typename Exec::memory_space> &bands, LineFacts *facts)
{
  const double more = facts->shift > 0 ? facts->shift : request.shift,
               most = std::max(request.shift, std::sqrt(static_cast<double>(PETSC_MACHINE_EPSILON)));
  if (report.status != FactorStatus::zero_pivot || more == 0 || facts->shift + more > most) return false;
  shift_diagonal<Scalar>(exec, bands, static_cast<real_t<Scalar>>(more));
  facts->shift += more;
  return true;
}

} // namespace ribbon::petsc
