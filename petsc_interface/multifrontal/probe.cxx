// SPDX-License-Identifier: BSD-2-Clause
#include "probe.hpp"

#include "solve.hpp"

namespace ribbon::petsc {

PetscErrorCode InverseIsFinite(Mat F, bool *is_finite)
{
  Vec          b, x;
  PetscInt     first, rows;
  PetscScalar *a;
  PetscReal    norm;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(Data(F)->aij, &x, &b));
  PetscCall(VecGetLocalSize(b, &rows));
  PetscCall(VecGetOwnershipRange(b, &first, nullptr));
  PetscCall(VecGetArrayWrite(b, &a));
  for (PetscInt i = 0; i < rows; ++i)
    a[i] = (static_cast<std::uint64_t>(first + i) * 0x9e3779b97f4a7c15u >> 63) != 0
             ? 1
             : -1; // no pattern along the rows that could make sums vanish
  PetscCall(VecRestoreArrayWrite(b, &a));
  PetscCall(Solve(F, b, x, false));
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  *is_finite = !PetscIsInfOrNanReal(norm);
  if (*is_finite) { // maxima ignore NaN
    PetscCall(VecNorm(x, NORM_1, &norm));
    *is_finite = !PetscIsNanReal(norm);
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Makes the vectors of QuickProbe(): v is 1 to 2 along the chain, u is random.
static PetscErrorCode MakeProbeVectors(Mat F, MultifrontalFactor *f)
{
  const auto &place_of = f->pattern.place_of;
  PetscMPIInt rank;
  PetscInt    begin, end;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)F), &rank));
  PetscCall(MatCreateVecs(f->aij, &f->probe_v, &f->probe_r));
  PetscCall(VecDuplicate(f->probe_v, &f->probe_u));
  PetscCall(VecDuplicate(f->probe_v, &f->probe_x));
  PetscCall(VecDuplicate(f->probe_v, &f->probe_b));
  PetscCall(VecSetRandom(f->probe_u, nullptr));
  PetscCall(VecGetOwnershipRange(f->probe_v, &begin, &end));
  // rank 0 has the order of the rows
  if (f->pattern.gathered) begin = 0, end = rank == 0 ? f->aij->rmap->N : 0;
  for (PetscInt i = begin; i < end; ++i) {
    const PetscReal place = place_of.empty() ? static_cast<PetscReal>(i)
                                             : static_cast<PetscReal>(place_of[static_cast<std::size_t>(i)]);
    PetscCall(VecSetValue(f->probe_v, i, 1 + place / static_cast<PetscReal>(f->aij->rmap->N), INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(f->probe_v));
  PetscCall(VecAssemblyEnd(f->probe_v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode QuickProbe(Mat F, PetscReal *backward_error)
{
  MultifrontalFactor *f = Data(F);
  const Mat           A = FactoredMatrix(f);
  PetscReal           as, us, bs, xs, rs;
  PetscFunctionBegin;
  if (!f->probe_v) PetscCall(MakeProbeVectors(F, f));
  PetscCall(MatMult(A, f->probe_u, f->probe_r));
  PetscCall(VecNorm(f->probe_r, NORM_INFINITY, &as));
  PetscCall(VecNorm(f->probe_u, NORM_INFINITY, &us));
  *backward_error  = 0;
  const auto judge = [&](Vec x, PetscReal least) { // probe_r: residual of x, or A times its error
    PetscFunctionBegin;
    PetscCall(VecNorm(x, NORM_INFINITY, &xs));
    PetscCall(VecNorm(f->probe_r, NORM_INFINITY, &rs));
    const PetscReal error = rs == 0 ? 0 : rs / (as / us * xs + bs);
    if (!(error <= PetscMax(*backward_error, least))) *backward_error = error; // or NaN
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const auto known = [&](Vec v, bool transposed, PetscReal least) {
    PetscFunctionBegin;
    PetscCall(transposed ? MatMultTranspose(A, v, f->probe_r) : MatMult(A, v, f->probe_r));
    PetscCall(VecNorm(f->probe_r, NORM_INFINITY, &bs));
    PetscCall(SolveAndRefine(F, f->probe_r, f->probe_x, transposed));
    PetscCall(VecAXPY(f->probe_x, -1, v));
    PetscCall(transposed ? MatMultTranspose(A, f->probe_x, f->probe_r) : MatMult(A, f->probe_x, f->probe_r));
    PetscCall(judge(v, least)); // v is as large as x, up to rounding
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(known(f->probe_v, false, 0));
  // u, u^2, u^3, ... for each unknown, as right-hand sides, and as solutions if a pivot is small. Long
  // chains are inaccurate for rough solutions, which is no reason to reject them
  const bool      small = f->report.smallest_pivot < 1e-5;
  const PetscReal rough = 1e6 * PETSC_MACHINE_EPSILON;
  if (small) PetscCall(known(f->probe_u, true, rough));
  for (int k = 0; k < (small ? 5 : 1) && *backward_error <= PETSC_MAX_REAL; ++k) {
    if (k == 0) PetscCall(VecCopy(f->probe_u, f->probe_b));
    else PetscCall(VecPointwiseMult(f->probe_b, f->probe_b, f->probe_u));
    PetscCall(VecNorm(f->probe_b, NORM_INFINITY, &bs));
    PetscCall(SolveAndRefine(F, f->probe_b, f->probe_x, false));
    PetscCall(MatMult(A, f->probe_x, f->probe_r));
    PetscCall(VecAXPY(f->probe_r, -1, f->probe_b));
    PetscCall(judge(f->probe_x, 0));
    if (small) PetscCall(known(f->probe_b, false, rough));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// The equilibrated matrix S, and solves with it. The factors are those of S if the columns have scales,
/// otherwise those of A, whose rows are then scaled.
struct Equilibrated {
  Mat    F, S = nullptr;
  Scales scales;
  Vec    row = nullptr, column = nullptr, work = nullptr; ///< scales if A was factored; null if S was

  explicit Equilibrated(Mat factor) : F(factor) { }
  PetscErrorCode make()
  {
    MultifrontalFactor *f = Data(F);
    PetscFunctionBegin;
    if (f->is_scaled) {
      S = f->scaled;
      PetscCall(PetscObjectReference((PetscObject)S));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(FindScales(f->aij, {}, &scales));
    PetscCall(CopyScaled(f->aij, scales, &S));
    PetscCall(MatCreateVecs(S, &column, &row));
    PetscCall(VecDuplicate(row, &work));
    PetscCall(PutPowers(scales.row, row));
    PetscCall(PutPowers(scales.column, column));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// S = r A c, so that S^-1 b = c^-1 A^-1 r^-1 b and S^-T b = r^-1 A^-T c^-1 b.
  PetscErrorCode solve(Vec b, Vec x, bool transposed)
  {
    PetscFunctionBegin;
    if (row) PetscCall(VecPointwiseDivide(work, b, transposed ? column : row));
    PetscCall(SolveAndRefine(F, row ? work : b, x, transposed));
    if (row) PetscCall(VecPointwiseDivide(x, x, transposed ? row : column));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode destroy()
  {
    PetscFunctionBegin;
    PetscCall(MatDestroy(&S));
    for (Vec *v : {&row, &column, &work}) PetscCall(VecDestroy(v));
    PetscCall(scales.reset());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

} // namespace

PetscErrorCode Probe(Mat F, PetscReal *backward_error, PetscReal *rcond)
{
  Equilibrated of(F);
  Vec          b, x, r;
  PetscReal    norm, norm1, bs, xs, rs, estimate = 0, largest;
  PetscInt     n, place;
  PetscFunctionBegin;
  PetscCall(of.make());
  const Mat A = of.S;
  PetscCall(MatGetSize(A, &n, nullptr));
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  PetscCall(MatNorm(A, NORM_1, &norm1));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSetRandom(b, nullptr));
  PetscCall(of.solve(b, x, false));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_INFINITY, &bs));
  PetscCall(VecNorm(x, NORM_INFINITY, &xs));
  PetscCall(VecNorm(r, NORM_INFINITY, &rs));
  *backward_error = rs == 0 ? 0 : rs / (norm * xs + bs);
  // Hager, SIAM J. Sci. Stat. Comput. 5 (1984)
  PetscCall(VecSet(b, static_cast<PetscScalar>(1 / static_cast<PetscReal>(PetscMax(n, 1)))));
  for (int its = 0; its < 5; ++its) {
    PetscReal now;
    PetscCall(of.solve(b, x, false));
    PetscCall(VecNorm(x, NORM_1, &now));
    if (!(now > estimate)) break;
    estimate = now;
    PetscScalar *a;
    PetscInt     rows;
    PetscCall(VecGetLocalSize(x, &rows));
    PetscCall(VecGetArray(x, &a));
    for (PetscInt i = 0; i < rows; ++i)
      a[i] = a[i] == PetscScalar(0) ? PetscScalar(1) : a[i] / PetscAbsScalar(a[i]);
    PetscCall(VecRestoreArray(x, &a));
    PetscCall(VecConjugate(x));
    PetscCall(of.solve(x, r, true));
    PetscCall(VecAbs(r));
    PetscCall(VecMax(r, &place, &largest));
    PetscCall(VecSet(b, 0));
    if (place >= 0) {
      PetscInt first, end;
      PetscCall(VecGetOwnershipRange(b, &first, &end));
      if (place >= first && place < end) PetscCall(VecSetValue(b, place, 1, INSERT_VALUES));
    }
    PetscCall(VecAssemblyBegin(b));
    PetscCall(VecAssemblyEnd(b));
  }
  *rcond = estimate > 0 && norm1 > 0 ? 1 / (estimate * norm1) : 0;
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(of.destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
