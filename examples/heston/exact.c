/* SPDX-License-Identifier: BSD-2-Clause */
/* With F = s exp((rd - rf) T) and phi the characteristic function of ln(s_T / F), A. L. Lewis, A simple
   option formula for general jump-diffusion processes (2001), has

     price = exp(-rd T) (F - sqrt(F K) / pi int_0^inf Re(exp(i u ln(F / K)) phi(u - i/2)) / (u^2 + 1/4) du),
     phi = exp(C(u) + D(u) v).

   The sign of the root is the one for which the logarithm needs no branch: H. Albrecher, P. Mayer,
   W. Schoutens, J. Tistaert, The little Heston trap, Wilmott (2007). */
#include "heston.h"

#include <petscdt.h>

static void Exponents(const Model *m, PetscReal u, PetscComplex *C, PetscComplex *D)
{
  const PetscReal    square = m->sigma * m->sigma;
  const PetscComplex b      = m->kappa - m->rho * m->sigma * PetscCMPLX(0.5, u),
                     d      = PetscSqrtComplex(b * b + square * (u * u + 0.25));
  const PetscComplex minus  = -square * (u * u + 0.25) / (b + d); /* b - d, without cancellation */
  const PetscComplex q = minus / (b + d), e = PetscExpComplex(-d * m->T);
  *C = m->kappa * m->eta / square *
       (minus * m->T - (PetscReal)2 * PetscLogComplex(((PetscReal)1 - q * e) / ((PetscReal)1 - q)));
  *D = minus / square * ((PetscReal)1 - e) / ((PetscReal)1 - q * e);
}

static PetscErrorCode Quadrature(const Model *m, PetscReal end, PetscInt panels, PetscInt ns,
                                 const PetscReal s[], PetscInt nv, const PetscReal v[], PetscReal prices[])
{
  enum { NODES = 16 };
  PetscReal     x[NODES], w[NODES];
  PetscComplex *in_s, *in_v, C, D;
  PetscInt      k, l, a, b;

  PetscFunctionBeginUser;
  PetscCall(PetscDTGaussQuadrature(NODES, 0, end / (PetscReal)panels, x, w));
  PetscCall(PetscMalloc2(ns, &in_s, nv, &in_v));
  PetscCall(PetscArrayzero(prices, ns * nv));
  for (k = 0; k < panels; k++)
    for (l = 0; l < NODES; l++) {
      const PetscReal u = x[l] + end * (PetscReal)k / (PetscReal)panels;
      Exponents(m, u, &C, &D);
      for (a = 0; a < ns; a++)
        in_s[a] = PetscExpComplex(PetscCMPLX(0, u * (PetscLogReal(s[a] / m->K) + (m->rd - m->rf) * m->T)));
      for (b = 0; b < nv; b++) in_v[b] = w[l] / (u * u + 0.25) * PetscExpComplex(C + D * v[b]);
      for (b = 0; b < nv; b++)
        for (a = 0; a < ns; a++)
          prices[a + ns * b] += PetscRealPartComplex(in_s[a]) * PetscRealPartComplex(in_v[b]) -
                                PetscImaginaryPartComplex(in_s[a]) * PetscImaginaryPartComplex(in_v[b]);
    }
  for (b = 0; b < nv; b++)
    for (a = 0; a < ns; a++)
      prices[a + ns * b] = s[a] * PetscExpReal(-m->rf * m->T) - PetscSqrtReal(s[a] * m->K) *
                                                                  PetscExpReal(-(m->rd + m->rf) * m->T / 2) /
                                                                  PETSC_PI * prices[a + ns * b];
  PetscCall(PetscFree2(in_s, in_v));
  PetscFunctionReturn(0);
}

PetscErrorCode ExactPrices(const Model *m, PetscInt ns, const PetscReal s[], PetscInt nv, const PetscReal v[],
                           PetscReal tolerance, PetscReal prices[])
{
  PetscReal   *coarse, end = 16, smallest = PETSC_MAX_REAL, change = PETSC_MAX_REAL;
  PetscComplex C, D;
  PetscInt     panels, k;

  PetscFunctionBeginUser;
  if (ns * nv == 0) PetscFunctionReturn(0);
  for (k = 0; k < nv; k++) smallest = PetscMin(smallest, v[k]);
  for (; end < 1e6; end *= 2) { /* the rest of the integral is at most |phi| / u */
    Exponents(m, end, &C, &D);
    if (PetscExpReal(PetscRealPartComplex(C + D * smallest)) * m->K < 0.01 * tolerance * end) break;
  }
  PetscCall(PetscMalloc1(ns * nv, &coarse));
  PetscCall(Quadrature(m, end, 8, ns, s, nv, v, coarse));
  for (panels = 16; change > tolerance; panels *= 2) {
    PetscCheck(panels <= 65536, PETSC_COMM_SELF, PETSC_ERR_CONV_FAILED,
               "The integral of the price does not converge: it changes by %g", (double)change);
    PetscCall(Quadrature(m, end, panels, ns, s, nv, v, prices));
    for (k = 0, change = 0; k < ns * nv; k++) {
      if (!(PetscAbsReal(prices[k] - coarse[k]) <= change)) change = PetscAbsReal(prices[k] - coarse[k]);
      coarse[k] = prices[k];
    }
  }
  PetscCall(PetscFree(coarse));
  PetscFunctionReturn(0);
}
