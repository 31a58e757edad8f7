// SPDX-License-Identifier: BSD-2-Clause
/// @file local_lines.hpp  Whole lines of one rank, factored: the common part of LinesInPlace and
///   PackedLines.
#pragma once

#include "line_determinants.hpp"
#include "line_solves.hpp"
#include "refined_solves.hpp"
#include "shared_bands.hpp"

#include <ribbon/matrix/transpose.hpp>

namespace ribbon::petsc {

/// Matrices, factors, and factors of the transposed matrices. Derived classes define the places of the
/// unknowns.
/// @tparam Number  scalar type of factors and solves: Scalar, or float if Scalar is double
template <class Exec, class Number>
class LocalLines : public LineSolves<Exec> {
protected:
  static constexpr bool rounds = !std::is_same_v<Number, Scalar>;
  using Memory                 = typename Exec::memory_space;
  using Input                  = Bands<Scalar, Memory>;
  using Solver                 = LineSolver<Number, Exec>;

public:
  /// @param refines  solves in lower precision than Scalar are refined
  LocalLines(const LineSet &lines, bool refines) : lines_(lines), refined_(refines) { }

  /// Factors. Shifts the diagonals of `bands` if a pivot is zero and the request allows it.
  PetscErrorCode factor(const Exec &exec, const LineRequest &request, const Input &bands, LineFacts *facts)
  {
    PetscFunctionBegin;
    options_ = request.solver;
    PetscCall(FactorOrRefuse([&] { eliminate(exec, request, bands, facts); }, facts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode transpose(const Exec &exec, const LineSolverOptions &options, std::string *failure) override
  {
    bool converges = true;
    PetscFunctionBegin;
    PetscCallCXX(transposed_ =
                   Solver(exec, solver_.lines(), ribbon::transpose<Number>(exec, matrices_), options));
    *failure = TransposedFailure(options, transposed_.report());
    if constexpr (rounds) {
      if (failure->empty()) PetscCallCXX(converges = refined_.judge_transposed(exec, transposed_));
    }
    if (!converges)
      *failure =
        "PC line: -pc_line_precision single: refinement of the transposed lines stagnates, their condition "
        "number is too large for single precision; -pc_line_precision same has more digits";
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode describe(const Exec &exec, LineFacts *facts) override
  {
    PetscFunctionBegin;
    facts->report = solver_.report();
    facts->bytes  = facts->report.bytes + matrices_.values.size() * sizeof(Number);
    if constexpr (rounds) PetscCallCXX(refined_.judge(exec, solver_, facts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode determinant(double *log_abs, std::complex<double> *sign, bool *known) override
  {
    PetscFunctionBegin;
    *known = true;
    PetscCallCXX(multiply_determinants<Exec>(matrices_, lines_.lines(), refined_.alpha(), log_abs, sign));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::int64_t line_of_class(std::int64_t c) const override
  {
    if (matrices_.lhs != Lhs::classes) return -1;
    const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matrices_.class_of_line);
    for (std::size_t l = 0; l < classes.extent(0); ++l)
      if (classes(l) == c) return static_cast<std::int64_t>(l);
    return -1;
  }

  void set_refined(bool on) override { refined_.set_refined(on); }

protected:
  /// The layout of lines in a solve: the caller's, or that of the buffer of rounded unknowns.
  static LineSet inner(const LineSet &lines)
  {
    if constexpr (rounds) return RefinedSolves<Exec, Number>::inner(lines);
    else return lines;
  }

  LineSet                     lines_;
  LineSolverOptions           options_;
  Bands<Number, Memory>       matrices_;
  Solver                      solver_, transposed_;
  RefinedSolves<Exec, Number> refined_; ///< if the matrices are rounded

private:
  void eliminate(const Exec &exec, const LineRequest &request, const Input &bands, LineFacts *facts)
  {
    do {
      if constexpr (rounds) matrices_ = refined_.round(exec, lines_, bands);
      else matrices_ = bands;
      solver_ = Solver(exec, inner(lines_), matrices_, request.solver);
    } while (ShiftZeroPivots(exec, request, solver_.report(), bands, facts));
    if constexpr (rounds) facts->below_range = first_row_below_range<Scalar, Number>(exec, bands, matrices_);
  }
};

} // namespace ribbon::petsc
