// SPDX-License-Identifier: BSD-2-Clause
#include "mass.hpp"

#include "split_kernels.hpp"

#include <petscsnes.h>

#include <algorithm>
#include <cmath>
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

PetscErrorCode GetMassOfTS(TS ts, Vec mass)
{
  PetscErrorCode (*function)(TS, PetscReal, Vec, Vec, Vec, void *) = nullptr;
  DM           dm;
  Vec          u, v, f;
  PetscReal    t, size;
  PetscInt     n;
  PetscScalar *m;
  PetscFunctionBegin;
  PetscCall(VecSet(mass, 1));
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetIFunction(dm, &function, nullptr));
  if (!function) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetSolution(ts, &u));
  PetscCall(TSGetTime(ts, &t));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &f));
  PetscCall(VecSet(v, 0));
  PetscCall(TSComputeIFunction(ts, t, u, v, f, PETSC_TRUE));
  PetscCall(VecNorm(f, NORM_INFINITY, &size));
  PetscReal c = 1;
  for (int attempt = 0; attempt < 4; ++attempt) { // some programs step back along U', and leave the domain of their functions
    PetscReal sum;
    c = static_cast<PetscReal>(std::ldexp(1., -10 * attempt));
    PetscCall(VecSet(v, c));
    PetscCall(TSComputeIFunction(ts, t, u, v, mass, PETSC_TRUE));
    PetscCall(VecAXPY(mass, -1, f));
    PetscCall(VecScale(mass, 1 / c));
    PetscCall(VecNorm(mass, NORM_1, &sum));
    if (std::isfinite(sum)) break;
  }
  PetscCall(VecGetLocalSize(mass, &n));
  PetscCall(VecGetArray(mass, &m));
  // to what is left of the digits beside F(t, U, 0): rows that ought to be equal are
  const PetscReal quantum = static_cast<PetscReal>(std::exp2(std::ceil(std::log2(32 * static_cast<double>(PETSC_MACHINE_EPSILON) * std::max(1., static_cast<double>(size / c))))));
  auto           *parts   = reinterpret_cast<PetscReal *>(m); // real ones, and imaginary ones where there are
  for (std::size_t k = 0; k < static_cast<std::size_t>(n) * (sizeof(PetscScalar) / sizeof(PetscReal)); ++k) {
    const PetscReal r = std::round(parts[k] / quantum) * quantum;
    parts[k]          = r != 0 && std::abs(parts[k]) > 1024 * quantum ? r : parts[k]; // small numbers keep their digits
  }
  PetscCall(VecRestoreArray(mass, &m));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MarkDiagonalRows(Mat J, Vec mass)
{
  PetscBool                     is_aij;
  Mat                           P = J;
  std::unique_ptr<SplitKernels> kernels;
  PetscFunctionBegin;
  PetscCall(IsAIJ(J, &is_aij));
  if (!is_aij) PetscCall(MatConvert(J, MATAIJ, MAT_INITIAL_MATRIX, &P));
  PetscCall(SplitKernels::create(P, &kernels));
  PetscCall(kernels->mark_diagonal_rows(P, mass));
  if (!is_aij) PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Bisection: the number that half of all values do not exceed.
static PetscErrorCode GlobalMedian(MPI_Comm comm, const std::vector<PetscReal> &values, PetscReal *median)
{
  PetscReal ends[2] = {PETSC_INFINITY, PETSC_INFINITY}; // least, minus greatest
  PetscInt  all     = static_cast<PetscInt>(values.size());
  PetscFunctionBegin;
  for (PetscReal v : values) ends[0] = PetscMin(ends[0], v), ends[1] = PetscMin(ends[1], -v);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPIU_REAL, MPI_MIN, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPIU_INT, MPI_SUM, comm));
  PetscReal low = ends[0], high = -ends[1];
  *median = all > 0 ? high : 0;
  while (all > 0 && high - low > 1e-6 * PetscMax(PetscAbsReal(low), PetscAbsReal(high))) {
    const PetscReal middle = low + (high - low) / 2;
    PetscInt        below  = static_cast<PetscInt>(std::count_if(values.begin(), values.end(), [middle](PetscReal v) { return v <= middle; }));
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
