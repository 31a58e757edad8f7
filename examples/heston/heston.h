/* SPDX-License-Identifier: BSD-2-Clause */
/* A European call under the model of S. L. Heston (1993). With t the time to maturity its price u(s, v, t)
   solves

     u_t = s^2 v u_ss / 2 + rho sigma s v u_sv + sigma^2 v u_vv / 2
           + (rd - rf) s u_s + kappa (eta - v) u_v - rd u,
     u(s, v, 0) = max(s - K, 0).

   Grids, differences and boundary conditions are those of K. J. in 't Hout, S. Foulon, ADI finite difference
   schemes for option pricing in the Heston model with correlation, International Journal of Numerical
   Analysis and Modeling 7 (2010). */
#pragma once

#include <petscdmda.h>
#include <petscts.h>

typedef struct {
  PetscReal kappa, eta, sigma, rho, rd, rf, T, K;
} Model;

/* Nodes x_0 .. x_n, and weights of differences at each node. A derivative at x_k is sum_l w[k][l + 2]
   u_(k+l), l = -2 .. 2. */
typedef PetscReal Weights[5];
typedef struct {
  PetscInt   n;
  PetscReal *x;
  Weights   *first, *upwind, *second;
} Axis;

/* M u' = A u + exp(-rf t) g. M is the identity if boundary values are eliminated. Otherwise it is zero
   in their rows. */
typedef struct {
  Model     model;
  Axis      s, v;
  PetscBool algebraic; /* boundary values are unknowns */
  PetscBool rhs;       /* TS receives A u + exp(-rf t) g as an RHSFunction */
  DM        da;
  Mat       A;
  Vec       g, mass, mass_udot;
} Problem;

/* grid.c. S and V: ends of the grid. */
PetscErrorCode CreateProblem(PetscInt m1, PetscInt m2, PetscReal S, PetscReal V, Problem *p);
PetscErrorCode DestroyProblem(Problem *p);
/* Node (index on each axis) of unknown (i, j) of the DMDA. */
void NodeOf(const Problem *p, PetscInt i, PetscInt j, PetscInt *node_s, PetscInt *node_v);
/* max(s - K, 0), or its average over the cell of each node. */
PetscErrorCode Payoff(const Problem *p, PetscBool average, Vec u);

/* exact.c. Prices[a + ns b] at s[a] > 0 and v[b] >= 0, by the characteristic function. tolerance:
   absolute error of the quadrature. */
PetscErrorCode ExactPrices(const Model *m, PetscInt ns, const PetscReal s[], PetscInt nv, const PetscReal v[],
                           PetscReal tolerance, PetscReal prices[]);

/* Unknowns of this rank in the region of the errors, contiguous in s, and their exact prices. */
typedef struct {
  PetscInt   first_s, count_s, first_v, count_v; /* as indices of the DMDA */
  PetscReal *exact;
} Region;

/* errors.c. The rows of this rank for s in (K/2, 3K/2) and v in [0, 1). Free r->exact with PetscFree(). */
PetscErrorCode CreateRegion(const Problem *p, Region *r);
/* Largest |u - w| in the region. A null w means the exact prices. */
PetscErrorCode Error(const Problem *p, const Region *r, Vec u, Vec w, PetscReal *error);
/* Writes s,v,price,exact of every node of the region. */
PetscErrorCode WriteSurface(const Problem *p, const Region *r, Vec u, const char *name);
