// SPDX-License-Identifier: BSD-2-Clause
/// @file richardson_fixture.hpp  KSPRICHARDSON around a PC line, with counts of the calls.
#pragma once

#include "fixture.hpp"

#include <petsc/private/pcimpl.h>

namespace test {

inline int products                              = 0; ///< of the matrix that counts
inline PetscErrorCode (*multiply)(Mat, Vec, Vec) = nullptr;

inline PetscErrorCode count_and_multiply(Mat A, Vec x, Vec y)
{
  ++products;
  return multiply(A, x, y);
}

using Multiply = PetscErrorCode (*)(Mat, Vec, Vec);

/// MatGetOperation() and MatSetOperation() of the product. The template accepts the signature of any PETSc
/// version, because PETSc renamed its generic function pointer.
template <class Function>
Multiply product_of(PetscErrorCode (*get)(Mat, MatOperation, Function *), Mat A)
{
  Multiply own = nullptr;
  get(A, MATOP_MULT, reinterpret_cast<Function *>(&own));
  return own;
}
template <class Function>
void set_product(PetscErrorCode (*set)(Mat, MatOperation, Function), Mat A, Multiply own)
{
  set(A, MATOP_MULT, reinterpret_cast<Function>(own));
}

/// Counts the products of a matrix from now on.
inline void count_products(Mat A)
{
  const Multiply own = product_of(MatGetOperation, A);
  if (own != count_and_multiply) multiply = own;
  set_product(MatSetOperation, A, count_and_multiply);
  products = 0;
}

/// Whether PC line keeps the couplings that lines leave out of A. It keeps them for matrices in host
/// memory.
inline bool is_kept(Mat A)
{
  PetscBool kept;
  PetscObjectTypeCompareAny((PetscObject)A, &kept, MATSEQAIJ, MATMPIAIJ, "");
  return kept;
}

inline int applications                      = 0; ///< calls of PCApply() for the PCs that count
inline PetscErrorCode (*apply)(PC, Vec, Vec) = nullptr;

inline PetscErrorCode count_and_apply(PC pc, Vec x, Vec y)
{
  ++applications;
  return apply(pc, x, y);
}

/// Counts the applications of a PC line from now on.
inline void count_applications(PC pc)
{
  apply          = pc->ops->apply;
  pc->ops->apply = count_and_apply;
}

/// Results of a solve. `applications` is 0 if PETSc hands the whole iteration to the PC.
struct Outcome {
  KSPConvergedReason reason       = KSP_CONVERGED_ITERATING;
  PetscInt           iterations   = -1;
  PetscReal          norm         = -1;
  int                applications = 0;
};

/// KSPRICHARDSON with PC line around a matrix.
struct Richardson {
  KSP ksp = nullptr;
  PC  pc  = nullptr;
  Vec b = nullptr, x = nullptr;

  Richardson(Mat amat, Mat pmat, DM da, PetscInt its, KSPNormType norm = KSP_NORM_NONE)
  {
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOperators(ksp, amat, pmat);
    KSPSetType(ksp, KSPRICHARDSON);
    KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, its);
    KSPSetNormType(ksp, norm);
    KSPGetPC(ksp, &pc);
    PCSetType(pc, PCLINE);
    count_applications(pc);
    if (da) PCSetDM(pc, da);
    const Line vectors(pmat);
    VecDuplicate(vectors.b, &b);
    VecDuplicate(vectors.b, &x);
    VecCopy(vectors.b, b);
    guess();
  }
  Richardson(const Richardson &)            = delete;
  Richardson &operator=(const Richardson &) = delete;
  ~Richardson()
  {
    VecDestroy(&b), VecDestroy(&x);
    KSPDestroy(&ksp);
  }
  /// A first guess that is not zero.
  void guess()
  {
    VecSet(x, 0.5);
    VecAXPY(x, 0.25, b);
  }
  Outcome solve()
  {
    Outcome o;
    applications = 0;
    guess();
    EXPECT_EQ(KSPSolve(ksp, b, x), 0) << last_error();
    KSPGetConvergedReason(ksp, &o.reason);
    KSPGetIterationNumber(ksp, &o.iterations);
    KSPGetResidualNorm(ksp, &o.norm);
    o.applications = applications;
    return o;
  }
};

/// Largest difference of two solutions relative to the second.
inline PetscReal difference(Vec x, Vec y)
{
  Vec       d;
  PetscReal norm, size;
  VecDuplicate(x, &d);
  VecWAXPY(d, -1, x, y);
  VecNorm(d, NORM_INFINITY, &norm);
  VecNorm(y, NORM_INFINITY, &size);
  VecDestroy(&d);
  return norm / size;
}

} // namespace test
