// SPDX-License-Identifier: BSD-2-Clause
#include "ksp.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

/// steps of Arnoldi's method
constexpr PetscInt steps = 20;
/// a shift that makes singular lines regular, relative to the largest eigenvalue
constexpr PetscReal nothing = PetscReal(1e-8) > 10 * PETSC_MACHINE_EPSILON ? PetscReal(1e-8)
                                                                           : 10 * PETSC_MACHINE_EPSILON;

/// A vector of random values, 0 on rows of algebraic equations.
PetscErrorCode RandomVector(const DirectionSplitting &splitting, Vec *v)
{
  PetscRandom random;
  PetscFunctionBegin;
  PetscCall(VecDuplicate(splitting.mass(), v));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)*v), &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(VecSetRandom(*v, random));
  PetscCall(PetscRandomDestroy(&random));
  // keep the order of the arguments: PETSc 3.24 loses host values of the third argument when it writes the
  // first on a device
  PetscCall(VecPointwiseMult(*v, *v, splitting.mass()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Context of a shell matrix that solves.
struct Inverse {
  const KSP_ADI *adi;
  int            d;
};

PetscErrorCode MultInverse(Mat S, Vec x, Vec y)
{
  Inverse *inverse;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &inverse));
  PetscCall(inverse->adi->factors.solve(inverse->d, x, y, 0));
  PetscCall(VecPointwiseMult(y, y, inverse->adi->splitting.mass())); // 0 on algebraic rows
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode EstimateSpectrum(KSP_ADI *adi, int d, bool least, Spectrum *spectrum, bool *null)
{
  const DirectionSplitting &splitting = adi->splitting;
  const MPI_Comm            comm      = PetscObjectComm((PetscObject)splitting.A(d));
  Inverse                   inverse{adi, d};
  PetscInt                  n, all, found;
  Mat                       S;
  KSP                       gmres;
  PC                        none;
  Vec                       b, x;
  PetscReal                 real[steps], imaginary[steps];
  PetscFunctionBegin;
  *null = false;
  PetscCall(splitting.largest_row_sum(d, &spectrum->largest)); // Gershgorin's discs
  if (!least || !(spectrum->largest > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  const double delta = static_cast<double>(nothing) * spectrum->largest;
  PetscCall(adi->factors.factor(adi->splitting, d, 0, static_cast<PetscReal>(delta), 1, nullptr));
  if (adi->factors.failure() != PC_NOERROR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(RandomVector(splitting, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetSize(b, &all));
  PetscCall(MatCreateShell(comm, n, n, all, all, &inverse, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))MultInverse));
  PetscCall(KSPCreate(comm, &gmres));
  // a separate prefix: options of the program's solvers must not apply to this one
  PetscCall(KSPSetOptionsPrefix(gmres, "adi_spectrum_"));
  PetscCall(KSPSetType(gmres, KSPGMRES));
  PetscCall(KSPGMRESSetRestart(gmres, steps));
  PetscCall(RibbonGMRESRefineAlways(gmres));
  PetscCall(KSPSetTolerances(gmres, PETSC_SMALL, PETSC_SMALL, PETSC_MAX_REAL, steps));
  PetscCall(KSPSetComputeEigenvalues(gmres, PETSC_TRUE));
  PetscCall(KSPSetOperators(gmres, S, S));
  PetscCall(KSPGetPC(gmres, &none));
  PetscCall(PCSetType(none, PCNONE));
  PetscCall(KSPSolve(gmres, b, x));
  PetscCall(KSPComputeEigenvalues(gmres, steps, real, imaginary, &found));
  std::vector<double> eigenvalues;
  for (PetscInt k = 0; k < found; ++k) {
    const double t2 = static_cast<double>(real[k] * real[k] + imaginary[k] * imaginary[k]);
    if (t2 > 0) eigenvalues.push_back(static_cast<double>(real[k]) / t2 - delta);
  }
  std::sort(eigenvalues.begin(), eigenvalues.end());
  if (!eigenvalues.empty() && eigenvalues[0] < -2 * delta) adi->indefinite = true;
  const auto positive =
    std::find_if(eigenvalues.begin(), eigenvalues.end(), [delta](double e) { return e > 2 * delta; });
  *null = !eigenvalues.empty() && positive != eigenvalues.begin();
  spectrum->least =
    positive == eigenvalues.end() ? spectrum->largest : std::min(*positive, spectrum->largest);
  PetscCall(KSPDestroy(&gmres));
  PetscCall(MatDestroy(&S));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MeasureSeparability(KSP_ADI *adi, Mat P)
{
  const DirectionSplitting &splitting = adi->splitting;
  const int                 D         = splitting.directions();
  Vec                       v, sum, forth, back, w[3];
  PetscReal                 size, rest;
  PetscFunctionBegin;
  PetscCall(RandomVector(splitting, &v));
  PetscCall(VecDuplicate(v, &sum));
  PetscCall(VecDuplicate(v, &forth));
  PetscCall(VecDuplicate(v, &back));
  PetscCall(MatMult(P, v, sum));
  PetscCall(VecPointwiseMult(sum, sum, splitting.mass()));
  PetscCall(VecNorm(sum, NORM_2, &size));
  adi->commutator = 0;
  for (int d = 0; d < D; ++d) {
    PetscCall(VecDuplicate(v, &w[d]));
    PetscCall(MatMult(splitting.A(d), v, w[d]));
    PetscCall(VecPointwiseMult(w[d], w[d], splitting.mass()));
    PetscCall(VecAXPY(sum, 1, w[d]));
  }
  PetscCall(VecNorm(sum, NORM_2, &rest));
  adi->left_out = size > 0 ? static_cast<double>(rest / size) : 0;
  for (int d = 0; d < D; ++d)
    for (int e = 0; e < d; ++e) {
      PetscCall(MatMult(splitting.A(d), w[e], forth));
      PetscCall(MatMult(splitting.A(e), w[d], back));
      PetscCall(VecAXPY(forth, -1, back));
      PetscCall(VecPointwiseMult(forth, forth, splitting.mass()));
      PetscCall(VecPointwiseMult(back, back, splitting.mass()));
      PetscCall(VecNorm(forth, NORM_2, &rest));
      PetscCall(VecNorm(back, NORM_2, &size));
      if (size > 0) adi->commutator = std::max(adi->commutator, static_cast<double>(rest / size));
    }
  for (int d = 0; d < D; ++d) PetscCall(VecDestroy(&w[d]));
  for (Vec *u : {&v, &sum, &forth, &back}) PetscCall(VecDestroy(u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
