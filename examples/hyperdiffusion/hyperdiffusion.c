/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
  "A batch of 1D periodic problems u_t = -D u_xxxx or u_t = D u_xx, Crank-Nicolson in time.\n\
A plain PETSc program. It runs with any PC. Options:\n\
  -lines M -points N -steps K   size of the batch and number of time steps\n\
  -operator hyperdiffusion|diffusion   -D u_xxxx or D u_xx\n\
  -final_time T -diffusivity D  the modes decay like exp(-D (2 pi k)^4 t), or with (2 pi k)^2\n\
  -batch contiguous|interleaved|dense   one AIJ matrix with 5 entries per row, line after line;\n\
                                the same with a 2D DMDA, point after point; or one 1D matrix and\n\
                                KSPMatSolve with a dense matrix of right-hand sides\n\
  -step solve|compact|ts        a step is a solve and an update; or one product with a matrix of\n\
                                libribbon's type compact, whose vectors have the type of -dm_vec_type;\n\
                                or a step of a TS (-ts_type, default cn)\n\
  -solvers line,lu,lu:mumps,bjacobi,ilu   PC types to run one after another, with the package of a\n\
                                factorization after a colon (default: the PC of -pc_type).\n\
                                bjacobi and pbjacobi need one line per block, as in a contiguous\n\
                                batch. PCs that are not direct precondition GMRES to 1e-12.\n\
                                Each solver first does a step of a few lines, so that the start of\n\
                                libraries is not timed\n\
  -waves W                      all lines start as W waves (default: 1 to 4 in turn)\n\
  -refine R                     also R resolutions from 16 points on, each twice as fine, and the slope\n\
                                of a line through the logarithms of their errors in the L2 norm\n\
  -refine_steps K -refine_time T   steps and final time of each\n\
  -amplitudes F -refinement F -space_time F   files for the data of plots\n\n";

/* u^(n+1) solves (I + s) u^(n+1) = (I - s) u^n with s = dt D / 2 times the fourth difference, or times minus
   the second one. With v = (u^(n+1) + u^n) / 2 this is (I + s) v = u^n and u^(n+1) = 2 v - u^n: one solve and
   one update per step. See A. Gloster, L. O Naraigh, K. E. Pang, cuPentBatch (2019), eqs. 5-7. Line m starts
   as cos(2 pi k x), k = 1 + m mod 4, or as -waves says. */

#include "hyperdiffusion.h"

#include <unistd.h>

static const char *const Batches[]   = {"contiguous", "interleaved", "dense", "Batch", "", NULL};
static const char *const Operators[] = {"diffusion", "hyperdiffusion", "Operator", "", NULL};
static const char *const StepTypes[] = {"solve", "compact", "ts", "StepType", "", NULL};

/* The values of the options. */
typedef struct {
  char     *solvers[16];
  char      amplitudes[PETSC_MAX_PATH_LEN], refinement[PETSC_MAX_PATH_LEN], space_time[PETSC_MAX_PATH_LEN];
  PetscInt  count, refine, refine_steps;
  PetscReal refine_time;
  PetscBool listed, has_amplitudes, has_refinement, has_space_time;
} Request;

/* The default step is so small that the error in space dominates. */
static PetscErrorCode Refine(Problem p, const Request *request)
{
  const PetscInt resolutions = request->refine;
  FILE          *file        = NULL;
  PetscReal      last = 0, n = (PetscReal)resolutions, x = 0, y = 0, xx = 0, xy = 0;
  PetscInt       r;
  PetscMPIInt    size;
  Result         result;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  p.lines = PetscMax(size, PetscMin(p.lines, 8));
  p.steps = request->refine_steps;
  p.T     = request->refine_time;
  if (request->has_refinement) PetscCall(PetscFOpen(PETSC_COMM_WORLD, request->refinement, "w", &file));
  if (file) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "points,error,l2_error\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%8s %12s %12s %8s\n", "points", "error", "L2 error", "slope"));
  for (r = 0; r < resolutions; r++) {
    p.points = 16 << r;
    PetscCall(Run(&p, request->solvers[0], NULL, PETSC_FALSE, &result));
    const PetscReal a = PetscLog2Real((PetscReal)p.points), b = PetscLog2Real(result.mean);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8" PetscInt_FMT " %12.3e %12.3e", p.points,
                          (double)result.error, (double)result.mean));
    if (r > 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %8.2f", (double)(b - last)));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    if (file)
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%" PetscInt_FMT ",%g,%g\n", p.points,
                             (double)result.error, (double)result.mean));
    last = b;
    x += a;
    y += b;
    xx += a * a;
    xy += a * b;
  }
  if (resolutions > 1)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "fitted slope of the L2 error: %.4f\n",
                          (double)((n * xy - x * y) / (n * xx - x * x))));
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(0);
}

static PetscErrorCode ReadOptions(Problem *p, Request *r)
{
  PetscFunctionBeginUser;
  r->count        = 16;
  r->refine_steps = 400;
  r->refine_time  = 2e-5;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Hyperdiffusion", NULL);
  PetscCall(PetscOptionsBoundedInt("-lines", "Lines in the batch", NULL, p->lines, &p->lines, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-points", "Points per line", NULL, p->points, &p->points, NULL, 5));
  PetscCall(PetscOptionsBoundedInt("-steps", "Time steps", NULL, p->steps, &p->steps, NULL, 1));
  PetscCall(PetscOptionsEnum("-operator", "u_t = D u_xx or u_t = -D u_xxxx", NULL, Operators,
                             (PetscEnum)p->op, (PetscEnum *)&p->op, NULL));
  PetscCall(PetscOptionsReal("-diffusivity", "D", NULL, p->D, &p->D, NULL));
  PetscCall(PetscOptionsReal("-final_time", "Time at the last step", NULL, p->T, &p->T, NULL));
  PetscCall(PetscOptionsEnum("-batch", "How the batch is held", NULL, Batches, (PetscEnum)p->batch,
                             (PetscEnum *)&p->batch, NULL));
  PetscCall(PetscOptionsEnum("-step",
                             "A solve and an update, a product with a matrix of type compact, or a TS", NULL,
                             StepTypes, (PetscEnum)p->step, (PetscEnum *)&p->step, NULL));
  PetscCall(
    PetscOptionsStringArray("-solvers", "PC types to compare", NULL, r->solvers, &r->count, &r->listed));
  PetscCall(PetscOptionsBoundedInt("-waves", "Waves on every line (0: 1 to 4 in turn)", NULL, p->waves,
                                   &p->waves, NULL, 0));
  PetscCall(PetscOptionsBoundedInt("-refine_steps", "Time steps of a resolution", NULL, r->refine_steps,
                                   &r->refine_steps, NULL, 1));
  PetscCall(PetscOptionsReal("-refine_time", "Final time of a resolution", NULL, r->refine_time,
                             &r->refine_time, NULL));
  PetscCall(PetscOptionsString("-space_time", "File for the first line after about 100 of the steps", NULL,
                               r->space_time, r->space_time, sizeof(r->space_time), &r->has_space_time));
  PetscCall(PetscOptionsBoundedInt("-refine", "Resolutions of the refinement study", NULL, r->refine,
                                   &r->refine, NULL, 0));
  PetscCall(PetscOptionsString("-amplitudes", "File for the decay of the first four lines", NULL,
                               r->amplitudes, r->amplitudes, sizeof(r->amplitudes), &r->has_amplitudes));
  PetscCall(PetscOptionsString("-refinement", "File for the refinement study", NULL, r->refinement,
                               r->refinement, sizeof(r->refinement), &r->has_refinement));
  PetscOptionsEnd();
  if (!r->listed) r->count = 1;
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOptions(const Problem *p, const Request *r, PetscMPIInt size)
{
  PetscFunctionBeginUser;
  PetscCheck(p->lines >= size, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-lines %" PetscInt_FMT " on %d ranks: every rank takes whole lines, at least one", p->lines,
             (int)size);
  PetscCheck(p->T > 0 && p->T <= PETSC_MAX_REAL, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-final_time %g: must be positive and finite", (double)p->T);
  PetscCheck(r->refine_time > 0 && r->refine_time <= PETSC_MAX_REAL, PETSC_COMM_WORLD,
             PETSC_ERR_ARG_OUTOFRANGE, "-refine_time %g: must be positive and finite",
             (double)r->refine_time);
  PetscCheck(p->D >= 0 && p->D <= PETSC_MAX_REAL, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-diffusivity %g: must be finite and not negative", (double)p->D);
  PetscCheck(p->step == SOLVE || p->batch != DENSE, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-step %s steps vectors: -batch contiguous or interleaved, not dense", StepTypes[p->step]);
  PetscCheck(p->step == SOLVE || !r->listed, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-step %s takes no list of solvers: -solvers is for -step solve", StepTypes[p->step]);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem     p = {1024, 256, 20, 0, 1, 2e-4, CONTIGUOUS, HYPERDIFFUSION, SOLVE, 0, 0};
  Request     r = {0};
  PetscInt    k;
  PetscMPIInt size;
  Result      result;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(ReadOptions(&p, &r));
  PetscCall(CheckOptions(&p, &r, size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " lines of %" PetscInt_FMT " points, %" PetscInt_FMT
                        " steps, batch %s\n",
                        p.lines, p.points, p.steps, Batches[p.batch]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %12s %12s %14s %14s %8s\n", "solver", "set-up s", "solve s",
                        "unknowns/s", "error", "% copy"));
  for (k = 0; k < r.count; k++) {
    const char *solver = r.listed ? r.solvers[k] : NULL,
               *name   = p.step == SOLVE ? "as given" : StepTypes[p.step];
    Problem few        = p;
    few.lines          = PetscMin(p.lines, 16 * size);
    few.steps          = 1;
    if (solver) PetscCall(Run(&few, solver, NULL, PETSC_FALSE, &result));
    PetscCall(Run(&p, solver, NULL, (PetscBool)isatty(2), &result));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %12.4f %12.4f %14.3e %14.3e %8.1f\n",
                          solver ? solver : name, result.setup, result.solve,
                          (double)p.lines * (double)p.points * (double)p.steps / result.solve,
                          (double)result.error, 100 * result.copy * (double)p.steps / result.solve));
  }
  if (r.has_amplitudes) {
    Problem few        = p;
    few.lines          = PetscMax(PetscMax(4, size), PetscMin(p.lines, 8));
    few.steps          = 400;
    const Record decay = {r.amplitudes, "time,k,amplitude,theory", PrintAmplitudes};
    PetscCall(Run(&few, r.solvers[0], &decay, PETSC_FALSE, &result));
  }
  if (r.has_space_time) {
    Problem few        = p;
    few.lines          = size;
    const Record lines = {r.space_time, "time,x,u", PrintLine};
    PetscCall(Run(&few, r.solvers[0], &lines, PETSC_FALSE, &result));
  }
  if (r.refine > 0) PetscCall(Refine(p, &r));
  for (k = 0; r.listed && k < r.count; k++) PetscCall(PetscFree(r.solvers[k]));
  PetscCall(PetscFinalize());
  return 0;
}
