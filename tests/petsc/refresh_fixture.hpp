// SPDX-License-Identifier: BSD-2-Clause
/// @file refresh_fixture.hpp  New values of a matrix, and the difference between a PC after a refresh and a
///   new one.
#pragma once

#include "fixture.hpp"

#include <line/pc.hpp>

namespace test {

class PCLineRefresh : public Petsc {
public:
  PetscInt wide = 12, high = 9;

  static constexpr PetscReal rounding = 100 * PETSC_MACHINE_EPSILON;

  static PetscInt refreshes(PC pc) { return static_cast<ribbon::petsc::PC_Line *>(pc->data)->refreshes; }
  /// Multiplies row r by factor(r), and adds more(r) to its diagonal.
  template <class Factor, class More>
  static void change(Mat A, const Factor &factor, const More &more)
  {
    Vec          rows, diagonal;
    PetscInt     begin, end;
    PetscScalar *f, *d;
    MatCreateVecs(A, &rows, &diagonal);
    MatGetOwnershipRange(A, &begin, &end);
    VecGetArray(rows, &f), VecGetArray(diagonal, &d);
    for (PetscInt r = begin; r < end; ++r) f[r - begin] = factor(r), d[r - begin] = more(r);
    VecRestoreArray(rows, &f), VecRestoreArray(diagonal, &d);
    MatDiagonalScale(A, rows, nullptr);
    MatDiagonalSet(A, diagonal, ADD_VALUES);
    VecDestroy(&rows), VecDestroy(&diagonal);
  }
  /// Sets the diagonal of the first row of every rank.
  static void first_row(Mat A, PetscScalar value)
  {
    PetscInt begin;
    MatGetOwnershipRange(A, &begin, nullptr);
    MatSetValue(A, begin, begin, value, INSERT_VALUES);
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY), MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }
  /// Sets up, and returns whether the set-up kept the lines of the last one.
  static bool refreshed(Line &line)
  {
    const PetscInt before = refreshes(line.pc);
    EXPECT_EQ(static_cast<int>(PCSetUp(line.pc)), 0) << last_error();
    return refreshes(line.pc) == before + 1;
  }
  /// Difference between the applications of a PC and those of a new one.
  static PetscReal away(Line &line, Mat A, DM da, PCLineDirection direction, bool transposed = false)
  {
    Line      other(A, da);
    PetscReal difference, size;
    Vec       y;
    PetscReal omega;
    VecDuplicate(line.x, &y);
    PCLineSetDirection(other.pc, direction);
    PCLineGetOmega(line.pc, &omega);
    if (omega != 0) PCLineSetOmega(other.pc, omega);
    if (transposed) PCApplyTranspose(other.pc, line.b, y), PCApplyTranspose(line.pc, line.b, line.x);
    else PCApply(other.pc, line.b, y), PCApply(line.pc, line.b, line.x);
    VecNorm(y, NORM_2, &size);
    VecAXPY(y, -1, line.x);
    VecNorm(y, NORM_2, &difference);
    VecDestroy(&y);
    return difference / size;
  }
};

} // namespace test
