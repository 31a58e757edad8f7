// SPDX-License-Identifier: BSD-2-Clause
#include "mass.hpp"

#include "../support/aij.hpp"
#include "../support/session.hpp"
#include "split_kernels.hpp"

#include <petscsnes.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace ribbon::petsc {

PetscErrorCode GetTSOfDM(DM dm, TS *ts)
{
  PetscErrorCode (*function)(SNES, Vec, Vec, void *) = nullptr;
  void *context                                      = nullptr;
  PetscFunctionBegin;
  *ts = nullptr;
  if (dm) PetscCall(DMSNESGetFunction(dm, &function, &context));
  if (function == SNESTSFormFunction) *ts = static_cast<TS>(context);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// y := dF/dU' v = [F(t, U, c v) - F(t, U, 0)] / c, with F(t, U, 0) = implicit. v is scaled meanwhile. c is
/// reduced until the function is finite, for applications that evaluate U - h U'. `noise`: the part of y
/// that is rounding errors of F.
PetscErrorCode ApplyMass(TS ts, PetscReal t, Vec U, Vec implicit, PetscBool imex, Vec v, Vec y,
                         PetscReal *noise)
{
  SNES      snes;
  PetscReal c = 1, norm, size;
  PetscFunctionBegin;
  do {
    PetscCall(AwaitCopies(y));
    PetscCall(TSComputeIFunction(ts, t, U, v, y, imex));
    PetscCall(VecAXPY(y, -1, implicit));
    PetscCall(VecNorm(y, NORM_2, &norm));
    if (!PetscIsInfOrNanReal(norm)) break;
    c /= 1024;
    PetscCall(VecScale(v, PetscReal(1) / 1024));
  } while (c > PETSC_SQRT_MACHINE_EPSILON);
  PetscCall(VecScale(y, 1 / c));
  PetscCall(VecScale(v, 1 / c));
  PetscCall(VecNorm(implicit, NORM_INFINITY, &size));
  *noise = 32 * PETSC_MACHINE_EPSILON * size / c;
  PetscCall(TSGetSNES(ts, &snes));
  RibbonFunctionDomainError(snes) = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The largest distance between values of size m that should be equal.
PetscReal nearness(PetscReal m, PetscReal noise)
{
  return PetscMax(PetscMax(PetscReal(1e-9), 32 * PETSC_MACHINE_EPSILON) * m, noise);
}

/// Rounds values that are close to a value of few digits, or to their neighbour. Rows that should be equal
/// then are, and lines can share a matrix.
PetscErrorCode RoundMass(Vec mass, PetscReal noise)
{
  PetscScalar *m;
  PetscInt     n, components;
  PetscFunctionBegin;
  PetscCall(VecGetBlockSize(mass, &components));
  PetscCall(VecGetLocalSize(mass, &n));
  PetscCall(AwaitCopies(mass));
  PetscCall(VecGetArray(mass, &m));
  for (PetscInt i = 0; i < n; ++i) {
    int             exponent;
    const PetscReal near       = nearness(PetscAbsScalar(m[i]), noise),
                    fraction   = std::frexp(PetscRealPart(m[i]), &exponent),
                    few_digits = std::ldexp(std::rint(std::ldexp(fraction, 20)), exponent - 20);
    if (PetscAbsScalar(m[i] - few_digits) <= near) m[i] = few_digits;
    else if (i >= components && PetscAbsScalar(m[i] - m[i - components]) <= near) m[i] = m[i - components];
  }
  PetscCall(VecRestoreArray(mass, &m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode UpdateMass(TS ts, PetscReal t, Vec U, Vec implicit, PetscBool imex, Vec v, Vec y, Vec *mass,
                          bool *changed)
{
  PetscReal size, difference, noise;
  PetscFunctionBegin;
  *changed = false;
  PetscCall(VecSet(v, 1));
  PetscCall(ApplyMass(ts, t, U, implicit, imex, v, y, &noise));
  PetscCall(VecZeroEntries(v));
  if (*mass) {
    PetscCall(VecNorm(y, NORM_INFINITY, &size));
    PetscCall(VecWAXPY(v, -1, y, *mass));
    PetscCall(VecNorm(v, NORM_INFINITY, &difference));
    PetscCall(VecZeroEntries(v));
    if (difference <= 2 * nearness(size, noise)) PetscFunctionReturn(PETSC_SUCCESS);
  } else PetscCall(VecDuplicate(y, mass));
  *changed = true;
  PetscCall(VecCopy(y, *mass));
  PetscCall(RoundMass(*mass, noise));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Raises an error if M v is not 0 in a row of M whose sum is 0. Such an equation has no time derivative of
/// its unknown, and the method would not satisfy it. Collective.
static PetscErrorCode RefuseVanishingSums(Vec row_sums, Vec product, PetscReal noise)
{
  const PetscScalar *sum, *y;
  PetscInt           first, n;
  PetscReal          size;
  std::string        what;
  PetscFunctionBegin;
  PetscCall(VecNorm(product, NORM_INFINITY, &size));
  PetscCall(VecGetOwnershipRange(row_sums, &first, nullptr));
  PetscCall(VecGetLocalSize(row_sums, &n));
  PetscCall(VecGetArrayRead(row_sums, &sum));
  PetscCall(VecGetArrayRead(product, &y));
  for (PetscInt r = 0; r < n && what.empty(); ++r)
    if (PetscAbsScalar(sum[r]) <= nearness(size, noise) && PetscAbsScalar(y[r]) > 1e3 * nearness(size, noise))
      what = "TS adi: the entries of row " + std::to_string(first + r) +
             " of the mass matrix dF/dU' sum to zero; equations without a time derivative must be rows of "
             "zeros in it, and no combination of other rows";
  PetscCall(VecRestoreArrayRead(product, &y));
  PetscCall(VecRestoreArrayRead(row_sums, &sum));
  PetscCall(CollectiveError(PetscObjectComm((PetscObject)row_sums), PETSC_ERR_SUP, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Creates a random vector and y := dF/dU' times this vector.
static PetscErrorCode ApplyMassToRandom(TS ts, PetscReal t, Vec U, Vec implicit, PetscBool imex, Vec *random,
                                        Vec *y, PetscReal *noise)
{
  PetscRandom generator;
  PetscFunctionBegin;
  PetscCall(VecDuplicate(U, random));
  PetscCall(VecDuplicate(U, y));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)ts), &generator));
  PetscCall(PetscRandomSetInterval(generator, 0.5, 1.5));
  PetscCall(VecSetRandom(*random, generator));
  PetscCall(PetscRandomDestroy(&generator));
  PetscCall(ApplyMass(ts, t, U, implicit, imex, *random, *y, noise));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MassIs(TS ts, PetscReal t, Vec U, Vec implicit, PetscBool imex, Mat M, bool *is)
{
  Vec       random, y;
  PetscReal size, noise, difference;
  PetscFunctionBegin;
  PetscCall(ApplyMassToRandom(ts, t, U, implicit, imex, &random, &y, &noise));
  PetscCall(VecNorm(y, NORM_INFINITY, &size));
  PetscCall(VecScale(y, -1));
  PetscCall(MatMultAdd(M, random, y, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &difference));
  *is = difference <= 2 * nearness(size, noise);
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MassIsDiagonal(TS ts, PetscReal t, Vec U, Vec implicit, PetscBool imex, Vec row_sums, bool *is)
{
  Vec       random, y, expected;
  PetscReal size, noise, difference;
  PetscFunctionBegin;
  PetscCall(ApplyMassToRandom(ts, t, U, implicit, imex, &random, &y, &noise));
  PetscCall(VecDuplicate(U, &expected));
  PetscCall(RefuseVanishingSums(row_sums, y, noise));
  PetscCall(VecPointwiseMult(expected, row_sums, random));
  PetscCall(VecNorm(expected, NORM_INFINITY, &size));
  PetscCall(VecAXPY(y, -1, expected));
  PetscCall(VecNorm(y, NORM_INFINITY, &difference));
  // also false for NaN, which later steps report
  *is = !(difference > PetscMax(PetscReal(1e-6), 256 * PETSC_MACHINE_EPSILON) * size + 8 * noise);
  PetscCall(VecDestroy(&expected));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GetMassOfTS(TS ts, Vec *mass)
{
  PetscErrorCode (*function)(TS, PetscReal, Vec, Vec, Vec, void *) = nullptr;
  DM        dm;
  Vec       u, v, y, implicit;
  PetscReal t;
  bool      changed;
  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetIFunction(dm, &function, nullptr));
  PetscCall(TSGetSolution(ts, &u));
  PetscCall(TSGetTime(ts, &t));
  if (!function) {
    if (!*mass) PetscCall(VecDuplicate(u, mass));
    PetscCall(VecSet(*mass, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (Vec *w : {&v, &y, &implicit}) PetscCall(VecDuplicate(u, w));
  PetscCall(VecZeroEntries(v));
  PetscCall(TSComputeIFunction(ts, t, u, v, implicit, PETSC_TRUE));
  PetscCall(UpdateMass(ts, t, u, implicit, PETSC_TRUE, v, y, mass, &changed));
  for (Vec *w : {&v, &y, &implicit}) PetscCall(VecDestroy(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MarkDiagonalRows(Mat J, Vec mass)
{
  PetscBool                     is_aij;
  Mat                           P = J;
  std::unique_ptr<SplitKernels> kernels;
  PetscFunctionBegin;
  PetscCall(IsAIJ(J, &is_aij));
  if (!is_aij) PetscCall(ConvertToAIJ(J, &P));
  PetscCall(SplitKernels::create(P, &kernels));
  PetscCall(kernels->mark_diagonal_rows(P, mass));
  if (!is_aij) PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Bisection: the smallest value that at least half of all values do not exceed.
static PetscErrorCode GlobalMedian(MPI_Comm comm, const std::vector<PetscReal> &values, PetscReal *median)
{
  PetscReal ends[2] = {PETSC_INFINITY, PETSC_INFINITY}; // least, minus largest
  PetscInt  all     = static_cast<PetscInt>(values.size());
  PetscFunctionBegin;
  for (PetscReal v : values) ends[0] = PetscMin(ends[0], v), ends[1] = PetscMin(ends[1], -v);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPIU_REAL, MPI_MIN, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPIU_INT, MPI_SUM, comm));
  PetscReal low = ends[0], high = -ends[1];
  *median = all > 0 ? high : 0;
  while (all > 0 && high - low > 1e-6 * PetscMax(PetscAbsReal(low), PetscAbsReal(high))) {
    const PetscReal middle = low + (high - low) / 2;
    PetscInt        below  = static_cast<PetscInt>(
      std::count_if(values.begin(), values.end(), [middle](PetscReal v) { return v <= middle; }));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &below, 1, MPIU_INT, MPI_SUM, comm));
    (2 * below >= all ? high : low) = middle;
    *median                         = high;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EstimateShift(Mat J, Vec mass, PetscReal *shift)
{
  const PetscScalar     *m, *s;
  PetscInt               n;
  Vec                    sums;
  std::vector<PetscReal> ratios;
  PetscFunctionBegin;
  PetscCall(VecDuplicate(mass, &sums));
  PetscCall(MatGetRowSum(J, sums));
  PetscCall(VecGetLocalSize(mass, &n));
  PetscCall(VecGetArrayRead(mass, &m));
  PetscCall(VecGetArrayRead(sums, &s));
  for (PetscInt r = 0; r < n; ++r)
    if (m[r] != PetscScalar(0) && PetscIsNormalScalar(s[r])) ratios.push_back(PetscRealPart(s[r] / m[r]));
  PetscCall(VecRestoreArrayRead(sums, &s));
  PetscCall(VecRestoreArrayRead(mass, &m));
  PetscCall(VecDestroy(&sums));
  PetscCall(GlobalMedian(PetscObjectComm((PetscObject)J), ratios, shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
