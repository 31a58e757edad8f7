// SPDX-License-Identifier: BSD-2-Clause
/// @file lines_in_place.hpp  Lines that are solved in the memory of the vectors.
#pragma once

#include "column_solver.hpp"
#include "local_lines.hpp"
#include "refreshed_bands.hpp"

namespace ribbon::petsc {

/// Whole lines at constant strides: a solve copies nothing. Only these lines can be refreshed and shifted.
template <class Exec, class Number>
class LinesInPlace final : public LocalLines<Exec, Number> {
  using Base = LocalLines<Exec, Number>;
  using Base::lines_, Base::matrices_, Base::options_, Base::refined_, Base::solver_, Base::transposed_;
  using Base::rounds;
  using typename Base::Input, typename Base::Solver;

public:
  using Base::Base;

  PetscErrorCode solve(const Exec &exec, bool transposed, const Scalar *b, const LineSet &in, Scalar *x,
                       const LineSet &out) override
  {
    const Solver *solver = &transposed_;
    PetscFunctionBegin;
    if (!transposed)
      PetscCallCXX(solver = &columns_.choose(exec, solver_, matrices_, options_, Base::inner(in)));
    if constexpr (rounds) PetscCallCXX(refined_.solve(exec, *solver, transposed, b, in, x, out));
    else PetscCallCXX(solver->solve(exec, b, in, x, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool takes_columns(bool) const override { return lines_.count1 == 1; }

  /// Whether new values can be read into the matrices of these lines, whose elements have `components`.
  bool is_refreshable(int components) const
  {
    if constexpr (rounds) return false;
    else return RefreshedBands<Exec>::takes(matrices_, components);
  }

  /// Reads new values into the matrices; see RefreshedBands.
  template <class Csr>
  bool read(const Exec &exec, const Csr &A, const LinePlaces &places, const LineRequest &request)
  {
    return refreshed_.read(exec, A, places, request, matrices_);
  }

  /// Factors the values that were read, in the memory of the old factors if the kernels can.
  PetscErrorCode refactor(const Exec &exec, const LineRequest &request, LineFacts *facts)
  {
    PetscFunctionBegin;
    transposed_ = Solver(), columns_ = ColumnSolver<Number, Exec>();
    try {
      if (!solver_.refactor(exec, matrices_))
        solver_ = Solver(exec, Base::inner(lines_), matrices_, request.solver);
    } catch (const std::exception &e) {
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "PC line: %s", e.what());
    }
    facts->bytes += solver_.report().bytes - facts->report.bytes;
    facts->report = solver_.report();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Factors the matrices of other lines plus s diag(diagonal). `made`: false if the lines do not share
  /// matrices, or have different diagonals.
  PetscErrorCode factor_shifted(const Exec &exec, const LinesInPlace &other, Vec diagonal, PetscReal s,
                                const LineRequest &request, LineFacts *facts, bool *made)
  {
    Input shifted;
    PetscFunctionBegin;
    *made = false;
    if constexpr (!rounds) PetscCall(ShiftBands(exec, other.matrices_, lines_, diagonal, s, &shifted, made));
    if (!*made) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(this->factor(exec, request, shifted, facts));
    *made = facts->refusal.empty();
    if (*made) PetscCall(this->describe(exec, facts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  ColumnSolver<Number, Exec> columns_;
  RefreshedBands<Exec>       refreshed_;
};

} // namespace ribbon::petsc
