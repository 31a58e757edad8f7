/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
  "European call options under Heston's model: a parabolic equation in price and variance with a mixed\n\
derivative. A plain PETSc program without code for any plugin. It runs with any TS. Options:\n\
  -case 1|2|3|4          parameters of In 't Hout & Foulon (2010), table 1; options for single ones:\n\
  -kappa -eta -sigma -rho -rd -rf -maturity -strike\n\
  -m1 N -m2 N            intervals of the grid in price and variance (default 100 and 50)\n\
  -end_s S -end_v V      ends of the grid (default 8 times the strike, and 5)\n\
  -boundary eliminated|algebraic   without unknowns for boundary values, or with rows for them that\n\
                         have no time derivative\n\
  -function implicit|rhs TS gets an IFunction, or an RHSFunction (eliminated boundary values only)\n\
  -payoff_average 0|1    start with averages of the payoff over cells instead of values (default 1)\n\
  -steps N,N,...         a run for each, of N equal time steps unless -ts_adapt_type says otherwise\n\
                         (default 25,50,100)\n\
  -damping N             the first N steps of each run are two half steps of backward Euler each,\n\
                         with the options of the TS damping_ (default 0)\n\
  -reference_steps N     steps of the reference run for errors in time, on the same grid\n\
                         (default 400; 0: no reference). Its options have the prefix\n\
                         reference_; its default is rosw ra34pw2 with one LU factorization\n\
  -reference_file F      read the reference from F, or write it there if there is no such file\n\
  -price s,v             print only the semi-analytic price there\n\
  -csv F -surface F      write the rows of the table, and s,v,price,exact in the region of errors\n\
Errors are the largest ones for s in (K/2, 3K/2) and v in [0, 1).\n\n";

#include "heston.h"

#include <petsctime.h>
#include <sys/resource.h>

/* kappa, eta, sigma, rho, rd, rf, T, K */
static const Model Cases[] = {
  {1.5, 0.04, 0.3, -0.9, 0.025, 0, 1, 100},
  {3, 0.12, 0.04, 0.6, 0.01, 0.04, 1, 100},
  {0.6067, 0.0707, 0.2928, -0.7571, 0.03, 0, 3, 100},
  {2.5, 0.06, 0.5, -0.1, 0.0507, 0.0469, 0.25, 100},
};
static const char *const        Boundaries[] = {"eliminated", "algebraic", "Boundary", "", NULL},
                         *const Functions[]  = {"implicit", "rhs", "Function", "", NULL};

typedef struct {
  PetscInt       steps, rejected;
  PetscLogDouble wall, cpu;
} Cost;

static PetscLogDouble CPUSeconds(void)
{
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage)
           ? 0
           : (PetscLogDouble)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               1e-6 * (PetscLogDouble)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static PetscErrorCode RHSFunction(TS ts, PetscReal t, Vec u, Vec f, void *ctx)
{
  Problem *p = (Problem *)ctx;
  PetscFunctionBeginUser;
  PetscCall(MatMult(p->A, u, f));
  PetscCall(VecAXPY(f, PetscExpReal(-p->model.rf * t), p->g));
  PetscFunctionReturn(0);
}

/* Not TSComputeRHSJacobianConstant: TS then shifts J in place and undoes this when it evaluates the
   function. Methods that keep a Jacobian need the unshifted one. */
static PetscErrorCode RHSJacobian(TS ts, PetscReal t, Vec u, Mat J, Mat P, void *ctx)
{
  Problem *p = (Problem *)ctx;
  PetscFunctionBeginUser;
  PetscCall(MatCopy(p->A, P, SAME_NONZERO_PATTERN));
  if (J != P) {
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode IFunction(TS ts, PetscReal t, Vec u, Vec udot, Vec f, void *ctx)
{
  Problem *p = (Problem *)ctx;
  PetscFunctionBeginUser;
  PetscCall(MatMult(p->A, u, f));
  PetscCall(VecAXPBY(f, -PetscExpReal(-p->model.rf * t), -1, p->g));
  PetscCall(VecPointwiseMult(p->mass_udot, p->mass, udot));
  PetscCall(VecAXPY(f, 1, p->mass_udot));
  PetscFunctionReturn(0);
}

static PetscErrorCode IJacobian(TS ts, PetscReal t, Vec u, Vec udot, PetscReal shift, Mat J, Mat P, void *ctx)
{
  Problem *p = (Problem *)ctx;
  PetscFunctionBeginUser;
  PetscCall(MatCopy(p->A, P, SAME_NONZERO_PATTERN));
  PetscCall(MatScale(P, -1));
  PetscCall(VecScale(p->mass, shift));
  PetscCall(MatDiagonalSet(P, p->mass, ADD_VALUES));
  PetscCall(VecScale(p->mass, 1 / shift));
  if (J != P) {
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateTS(Problem *p, const char *prefix, TSType type, PetscReal dt, PetscReal begin,
                               PetscReal end, TS *ts)
{
  Mat J;

  PetscFunctionBeginUser;
  PetscCall(TSCreate(PETSC_COMM_WORLD, ts));
  PetscCall(TSSetOptionsPrefix(*ts, prefix));
  PetscCall(TSSetProblemType(*ts, TS_LINEAR));
  PetscCall(TSSetDM(*ts, p->da));
  PetscCall(MatDuplicate(p->A, MAT_COPY_VALUES, &J));
  if (!p->rhs) {
    if (p->algebraic) PetscCall(TSSetEquationType(*ts, TS_EQ_DAE_IMPLICIT_INDEX1));
    PetscCall(TSSetIFunction(*ts, NULL, IFunction, p));
    PetscCall(TSSetIJacobian(*ts, J, J, IJacobian, p));
  } else {
    PetscCall(TSSetRHSFunction(*ts, NULL, RHSFunction, p));
    PetscCall(TSSetRHSJacobian(*ts, J, J, RHSJacobian, p));
  }
  PetscCall(MatDestroy(&J));
  PetscCall(TSSetType(*ts, type));
  PetscCall(TSSetTime(*ts, begin));
  PetscCall(TSSetTimeStep(*ts, dt));
  PetscCall(TSSetMaxTime(*ts, end));
  PetscCall(TSSetMaxSteps(*ts, 1000000000));
  PetscCall(TSSetExactFinalTime(*ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscFunctionReturn(0);
}

/* Equal steps, unless options ask for step size control. One set-up serves all steps of the reference. */
static PetscErrorCode SetOptions(TS ts, PetscBool factor_once)
{
  TSAdapt adapt;
  SNES    snes;
  KSP     ksp;
  PC      pc;

  PetscFunctionBeginUser;
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTNONE));
  if (factor_once) {
    PetscCall(TSGetSNES(ts, &snes));
    PetscCall(SNESSetLagJacobian(snes, -2));
    PetscCall(SNESSetLagJacobianPersists(snes, PETSC_TRUE));
    PetscCall(SNESGetKSP(snes, &ksp));
    PetscCall(KSPSetType(ksp, KSPPREONLY));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCLU));
  }
  PetscCall(TSSetFromOptions(ts));
  PetscFunctionReturn(0);
}

static PetscErrorCode Run(Problem *p, const char *prefix, PetscInt steps, PetscInt damping, Vec payoff, Vec u,
                          Cost *cost)
{
  const PetscReal dt = p->model.T / (PetscReal)steps;
  PetscLogDouble  wall[2], cpu[2];
  PetscBool       reference = (PetscBool)(prefix != NULL);
  TS              ts;

  PetscFunctionBeginUser;
  PetscCheck(damping <= steps, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-damping %" PetscInt_FMT ": more than the %" PetscInt_FMT " steps of a run", damping, steps);
  PetscCall(VecCopy(payoff, u));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&wall[0]));
  cpu[0] = CPUSeconds();
  if (damping > 0) {
    PetscCall(CreateTS(p, "damping_", TSBEULER, dt / 2, 0, (PetscReal)damping * dt, &ts));
    PetscCall(SetOptions(ts, PETSC_FALSE));
    PetscCall(TSSolve(ts, u));
    PetscCall(TSDestroy(&ts));
  }
  PetscCall(CreateTS(p, prefix, TSROSW, dt, (PetscReal)damping * dt, p->model.T, &ts));
  PetscCall(SetOptions(ts, reference));
  if (damping < steps) PetscCall(TSSolve(ts, u));
  PetscCall(TSGetStepNumber(ts, &cost->steps));
  PetscCall(TSGetStepRejections(ts, &cost->rejected));
  cost->steps += 2 * damping;
  cpu[1] = CPUSeconds();
  PetscCall(PetscTime(&wall[1]));
  cost->wall = wall[1] - wall[0];
  cost->cpu  = cpu[1] - cpu[0];
  PetscCall(TSDestroy(&ts));
  PetscFunctionReturn(0);
}

/* Solution with small steps. It is read from a file, or computed and written to it. */
static PetscErrorCode Reference(Problem *p, PetscInt steps, const char *name, Vec payoff, Vec w)
{
  PetscViewer viewer;
  PetscBool   there = PETSC_FALSE;
  Cost        cost;

  PetscFunctionBeginUser;
  if (name[0]) PetscCall(PetscTestFile(name, 'r', &there));
  if (!there) PetscCall(Run(p, "reference_", steps, 0, payoff, w, &cost));
  if (!name[0]) PetscFunctionReturn(0);
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, there ? FILE_MODE_READ : FILE_MODE_WRITE, &viewer));
  if (there) PetscCall(VecLoad(w, viewer));
  else PetscCall(VecView(w, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

static PetscErrorCode Options(Problem *p, PetscInt *m1, PetscInt *m2, PetscReal *S, PetscReal *V)
{
  Model    *m        = &p->model;
  PetscInt  which    = 1;
  PetscEnum boundary = (PetscEnum)0, function = (PetscEnum)0;

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Heston's model", NULL);
  PetscCall(
    PetscOptionsRangeInt("-case", "Parameters of In 't Hout & Foulon", NULL, which, &which, NULL, 1, 4));
  *m = Cases[which - 1];
  PetscCall(PetscOptionsReal("-kappa", "Rate at which the variance returns to its mean", NULL, m->kappa,
                             &m->kappa, NULL));
  PetscCall(PetscOptionsReal("-eta", "Mean of the variance", NULL, m->eta, &m->eta, NULL));
  PetscCall(PetscOptionsReal("-sigma", "Volatility of the variance", NULL, m->sigma, &m->sigma, NULL));
  PetscCall(PetscOptionsReal("-rho", "Correlation of price and variance", NULL, m->rho, &m->rho, NULL));
  PetscCall(PetscOptionsReal("-rd", "Domestic interest rate", NULL, m->rd, &m->rd, NULL));
  PetscCall(PetscOptionsReal("-rf", "Foreign interest rate, or dividend yield", NULL, m->rf, &m->rf, NULL));
  PetscCall(PetscOptionsReal("-maturity", "Years to maturity", NULL, m->T, &m->T, NULL));
  PetscCall(PetscOptionsReal("-strike", "Strike K", NULL, m->K, &m->K, NULL));
  PetscCheck(
    m->sigma > 0 && m->kappa >= 0 && m->eta >= 0 && m->T > 0 && m->K > 0 && PetscAbsReal(m->rho) <= 1,
    PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
    "-sigma, -maturity and -strike have to be positive, -kappa and -eta not negative, -rho in [-1, 1]");
  *S = 8 * m->K;
  *V = 5;
  PetscCall(PetscOptionsBoundedInt("-m1", "Intervals of the price", NULL, *m1, m1, NULL, 4));
  PetscCall(PetscOptionsBoundedInt("-m2", "Intervals of the variance", NULL, *m2, m2, NULL, 4));
  PetscCall(PetscOptionsReal("-end_s", "Largest price", NULL, *S, S, NULL));
  PetscCall(PetscOptionsReal("-end_v", "Largest variance", NULL, *V, V, NULL));
  PetscCheck(*S > 1.5 * m->K && *V > 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-end_s %g, -end_v %g: errors are measured to 1.5 times the strike and variance 1", (double)*S,
             (double)*V);
  PetscCall(PetscOptionsEnum("-boundary", "Boundary values", NULL, Boundaries, boundary, &boundary, NULL));
  PetscCall(PetscOptionsEnum("-function", "What TS is given", NULL, Functions, function, &function, NULL));
  p->algebraic = (PetscBool)boundary;
  p->rhs       = (PetscBool)function;
  PetscCheck(
    !p->algebraic || !p->rhs, PETSC_COMM_WORLD, PETSC_ERR_SUP,
    "-boundary algebraic needs -function implicit: rows without a time derivative are no right-hand side");
  PetscOptionsEnd();
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem p;
  Region  r;
  Vec     payoff, u, w = NULL;
  FILE   *csv;
  char    reference[PETSC_MAX_PATH_LEN] = "", rows[PETSC_MAX_PATH_LEN] = "", surface[PETSC_MAX_PATH_LEN] = "";
  PetscReal point[2], price;
  PetscInt  coordinates = 2;
  PetscBool asked;
  PetscInt  m1 = 100, m2 = 50, steps[32] = {25, 50, 100}, runs = 32, damping = 0, reference_steps = 400, k;
  PetscReal S, V, in_time, in_price, last = 0;
  PetscBool average = PETSC_TRUE, listed;
  Cost      cost, before = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscMemzero(&p, sizeof(p)));
  PetscCall(Options(&p, &m1, &m2, &S, &V));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Time steps and output", NULL);
  PetscCall(
    PetscOptionsBool("-payoff_average", "Averages of the payoff over cells", NULL, average, &average, NULL));
  PetscCall(
    PetscOptionsIntArray("-steps", "Numbers of time steps, a run for each", NULL, steps, &runs, &listed));
  if (!listed) runs = 3;
  for (k = 0; k < runs; k++)
    PetscCheck(steps[k] > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
               "-steps: %" PetscInt_FMT " is no number of steps", steps[k]);
  PetscCall(PetscOptionsBoundedInt("-damping", "Steps that are two half steps of backward Euler each", NULL,
                                   damping, &damping, NULL, 0));
  PetscCall(PetscOptionsBoundedInt("-reference_steps", "Steps of the reference in time (0: none)", NULL,
                                   reference_steps, &reference_steps, NULL, 0));
  PetscCall(PetscOptionsString("-reference_file", "File of the reference", NULL, reference, reference,
                               sizeof(reference), NULL));
  PetscCall(
    PetscOptionsString("-csv", "File for the rows of the table", NULL, rows, rows, sizeof(rows), NULL));
  PetscCall(PetscOptionsString("-surface", "File for the prices of the last run", NULL, surface, surface,
                               sizeof(surface), NULL));
  PetscCall(PetscOptionsRealArray("-price", "Print the semi-analytic price at s,v alone", NULL, point,
                                  &coordinates, &asked));
  PetscOptionsEnd();
  if (asked) {
    PetscCheck(coordinates == 2 && point[0] > 0 && point[1] >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
               "-price takes a price and a variance, as in -price 100,0.04");
    PetscCall(ExactPrices(&p.model, 1, &point[0], 1, &point[1], 1e-12 * p.model.K, &price));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.10f\n", (double)price));
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(CreateProblem(m1, m2, S, V, &p));
  PetscCall(CreateRegion(&p, &r));
  PetscCall(VecDuplicate(p.g, &payoff));
  PetscCall(VecDuplicate(p.g, &u));
  PetscCall(Payoff(&p, average, payoff));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "kappa %g, eta %g, sigma %g, rho %g, rd %g, rf %g, T %g, K %g; %" PetscInt_FMT
                        " x %" PetscInt_FMT " intervals, boundary %s\n",
                        (double)p.model.kappa, (double)p.model.eta, (double)p.model.sigma,
                        (double)p.model.rho, (double)p.model.rd, (double)p.model.rf, (double)p.model.T,
                        (double)p.model.K, m1, m2, Boundaries[p.algebraic]));
  if (reference_steps > 0) {
    PetscCall(VecDuplicate(u, &w));
    PetscCall(Reference(&p, reference_steps, reference, payoff, w));
    PetscCall(Error(&p, &r, w, NULL, &in_price));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "reference in time: price error %.3e\n", (double)in_price));
  }
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, rows[0] ? rows : "/dev/null", "w", &csv));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, csv, "steps,rejected,time_error,price_error,wall,cpu\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8s %8s %12s %7s %12s %10s %10s\n", "steps", "rejected",
                        "time error", "order", "price error", "wall s", "cpu s"));
  for (k = 0; k < runs; k++) {
    PetscCall(Run(&p, NULL, steps[k], damping, payoff, u, &cost));
    PetscCall(Error(&p, &r, u, NULL, &in_price));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8" PetscInt_FMT " %8" PetscInt_FMT, cost.steps, cost.rejected));
    if (w) PetscCall(Error(&p, &r, u, w, &in_time));
    if (w) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %12.4e", (double)in_time));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %12s", "-"));
    if (w && k > 0 && in_time > 0)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %7.2f",
                            (double)(PetscLogReal(last / in_time) /
                                     PetscLogReal((PetscReal)cost.steps / (PetscReal)before.steps))));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %7s", "-"));
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, " %12.4e %10.4f %10.4f\n", (double)in_price, cost.wall, cost.cpu));
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, csv, "%" PetscInt_FMT ",%" PetscInt_FMT ",%.8e,%.8e,%.4f,%.4f\n",
                           cost.steps, cost.rejected, w ? (double)in_time : -1., (double)in_price, cost.wall,
                           cost.cpu));
    last   = in_time;
    before = cost;
  }
  PetscCall(PetscFClose(PETSC_COMM_WORLD, csv));
  if (surface[0]) PetscCall(WriteSurface(&p, &r, u, surface));
  PetscCall(PetscFree(r.exact));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&payoff));
  PetscCall(DestroyProblem(&p));
  PetscCall(PetscFinalize());
  return 0;
}
