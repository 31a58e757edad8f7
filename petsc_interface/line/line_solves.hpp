// SPDX-License-Identifier: BSD-2-Clause
/// @file line_solves.hpp  The interface of the ways to solve the lines of a matrix.
///
///     LinesInPlace    lines at constant strides in the vectors                     lines_in_place.hpp
///     PackedLines     lines at places of a table: pack, solve, unpack              packed_lines.hpp
///     LinesInPieces   lines that span ranks, each rank solves its sub-lines        lines_in_pieces.hpp
///     GatheredLines   lines that span ranks, each gathered to one rank             gathered_lines.hpp
#pragma once

#include "operator.hpp"

#include "../support/format.hpp"

#include <complex>
#include <stdexcept>
#include <string>

namespace ribbon::petsc {

/// The factors of lines, and their solves. LineOperatorOn has one object, which it chooses at set-up.
template <class Exec>
class LineSolves {
public:
  virtual ~LineSolves() = default;
  /// x = A^-1 b, or after transpose() x = A^-T b, in the memory of Exec; b == x is allowed. Collective if
  /// lines span ranks. Allocates only if there are more right-hand sides than before.
  virtual PetscErrorCode solve(const Exec &exec, bool transposed, const Scalar *b, const LineSet &in,
                               Scalar *x, const LineSet &out) = 0;
  /// Whether one solve accepts several right-hand sides, which are further lines at one more stride.
  virtual bool takes_columns(bool transposed) const = 0;
  /// Factors the transposed lines. If they cannot be solved, `failure` says why; otherwise it is empty.
  virtual PetscErrorCode transpose(const Exec &exec, const LineSolverOptions &options,
                                   std::string *failure) = 0;
  /// Stores report, memory and number of refinement steps in facts.
  virtual PetscErrorCode describe(const Exec &exec, LineFacts *facts) = 0;
  /// Multiplies `sign` by the sign of the determinant of all lines, and adds the logarithm of its magnitude
  /// to `log_abs`. `known`: false if it is not known.
  virtual PetscErrorCode determinant(double *log_abs, std::complex<double> *sign, bool *known) = 0;
  /// The first line of a class, or -1.
  virtual std::int64_t line_of_class(std::int64_t) const { return -1; }
  /// Whether solves in lower precision are refined from now on.
  virtual void set_refined(bool) { }
};

/// Runs f, which factors. std::invalid_argument sets facts->refusal; other exceptions are PETSc errors.
template <class F>
PetscErrorCode FactorOrRefuse(const F &f, LineFacts *facts)
{
  PetscFunctionBegin;
  try {
    f();
  } catch (const std::invalid_argument &e) {
    facts->refusal = e.what();
  } catch (const std::exception &e) {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "PC line: %s", e.what());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Why transposed lines cannot be solved; empty if they can.
inline std::string TransposedFailure(const LineSolverOptions &options, const FactorReport &report)
{
  if (report.ok()) return "";
  return format(
    "PC line: the transposed lines cannot be solved with -pc_line_algorithm %s: their smallest pivot is %.2g "
    "of its row, their backward error %.1e",
    options.algorithm.c_str(), report.smallest_pivot, report.probe_error);
}

} // namespace ribbon::petsc
