// SPDX-License-Identifier: BSD-2-Clause
static char help[] =
  "Isogeometric analysis in 1D: -(a u')' + b u' + c u = f, u(0) = 0 and a u' + beta u = gamma at 1, in\n\
B-splines. A plain PETSc program without code for any plugin. It runs with any -mat_type, -ksp_type\n\
and -pc_type. Default: preonly with LU, a redundant one on several ranks. Prints relative errors,\n\
their rates and times. Options:\n\
  -degree p,q,...  -elements n,m,...   degrees (1 to 10) and numbers of elements, all combinations\n\
  -continuity k  -separators s         C^k at breakpoints (default p - 1), C^0 at every s-th of them\n\
  -breakpoints uniform|graded|random  -grading g   graded: the last element is g times as long as\n\
                                       the first\n\
  -periodic                            instead of boundary conditions\n\
  -curve line|arc                      an interval, or a quarter of a circle as a NURBS; length 1\n\
  -method galerkin|collocation         collocation: at Greville abscissae\n\
  -problem thesis|constant|helmholtz   a, b, c: sin x, x, -x; -coefficients a,b,c; 1, 0, -k^2 with\n\
                                       -wavenumber k\n\
  -beta beta                           of the boundary condition\n\
  -rhs n                               right-hand sides, solved together by KSPMatSolve()\n\
  -repeat n                            times are the shortest of n runs; all but the first keep\n\
                                       objects that depend only on the pattern\n\
  -lapack                              one rank: LAPACK's band LU (gbtrf, gbtrs) instead of the KSP;\n\
                                       filling the band is not timed\n\
  -cpu_time                            CPU times instead of wall-clock times, for busy machines\n\
  -csv file                            also writes the rows to this file\n\
  -field file                          writes degree, elements, x, u(x) and the exact u(x) of the\n\
                                       first right-hand side at the quadrature points\n\n";

#include "run.hpp"

#include <petscdt.h>

static const char *const Breakpoints[] = {"uniform", "graded", "random", "Breakpoints", "", NULL};
static const char *const Curves[]      = {"line", "arc", "Curve", "", NULL};
static const char *const Methods[]     = {"galerkin", "collocation", "Method", "", NULL};
static const char *const Equations[]   = {"thesis", "constant", "helmholtz", "Equation", "", NULL};

struct Options {
  PetscInt degree[16] = {3}, degrees = 16, elements[32] = {100, 200, 400}, sizes = 32,
           continuity                = PETSC_DECIDE;
  PetscBool csv                      = PETSC_FALSE;
  char      file[PETSC_MAX_PATH_LEN] = "", field[PETSC_MAX_PATH_LEN] = "";
};

static PetscErrorCode ReadOptions(Options *options, Run *run)
{
  enum { LINE, ARC } curve                      = LINE;
  enum { GALERKIN, COLLOCATION } method         = GALERKIN;
  enum { THESIS, CONSTANT, HELMHOLTZ } equation = THESIS;
  iga::Discretization<PetscReal> &d             = run->d;
  PetscBool                       periodic      = PETSC_FALSE, has_degree, has_elements;
  PetscInt                        separators = 0, three = 3;
  PetscReal                       coefficients[3] = {1, 0, 1}, wavenumber = 50;

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Isogeometric analysis in 1D", NULL);
  PetscCall(PetscOptionsIntArray("-degree", "Degrees of the splines, 1 to 10", NULL, options->degree,
                                 &options->degrees, &has_degree));
  PetscCall(PetscOptionsIntArray("-elements", "Numbers of elements", NULL, options->elements, &options->sizes,
                                 &has_elements));
  PetscCall(PetscOptionsInt("-continuity", "Continuous derivatives at breakpoints (default: degree - 1)",
                            NULL, options->continuity, &options->continuity, NULL));
  PetscCall(PetscOptionsBoundedInt("-separators", "Every so many elements a breakpoint is C^0 (0: none)",
                                   NULL, separators, &separators, NULL, 0));
  PetscCall(PetscOptionsEnum("-breakpoints", "Where the elements end", NULL, Breakpoints,
                             (PetscEnum)d.space.breakpoints, (PetscEnum *)&d.space.breakpoints, NULL));
  PetscCall(PetscOptionsReal("-grading",
                             "Length of the last element over that of the first, of -breakpoints graded",
                             NULL, d.space.grading, &d.space.grading, NULL));
  PetscCall(PetscOptionsBool("-periodic", "Period 1 instead of boundary conditions", NULL, periodic,
                             &periodic, NULL));
  PetscCall(PetscOptionsEnum("-curve", "Interval, or a quarter of a circle (NURBS)", NULL, Curves,
                             (PetscEnum)curve, (PetscEnum *)&curve, NULL));
  PetscCall(PetscOptionsEnum("-method", "Galerkin, or collocation at Greville abscissae", NULL, Methods,
                             (PetscEnum)method, (PetscEnum *)&method, NULL));
  PetscCall(PetscOptionsEnum("-problem", "Coefficients and exact solution", NULL, Equations,
                             (PetscEnum)equation, (PetscEnum *)&equation, NULL));
  PetscCall(PetscOptionsRealArray("-coefficients", "a, b and c of -problem constant", NULL, coefficients,
                                  &three, NULL));
  PetscCall(PetscOptionsReal("-wavenumber", "k of -problem helmholtz", NULL, wavenumber, &wavenumber, NULL));
  PetscCall(
    PetscOptionsReal("-beta", "beta of the condition at 1", NULL, d.problem.beta, &d.problem.beta, NULL));
  PetscCall(PetscOptionsBoundedInt("-rhs", "Right-hand sides", NULL, run->rhs, &run->rhs, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-repeat", "Runs, the shortest times of which are printed", NULL,
                                   run->repeat, &run->repeat, NULL, 1));
  PetscCall(PetscOptionsBool("-lapack", "LAPACK's band LU instead of the KSP", NULL, run->lapack,
                             &run->lapack, NULL));
  PetscCall(PetscOptionsBool("-cpu_time", "Times of the processor instead of the clock", NULL, run->cpu_time,
                             &run->cpu_time, NULL));
  PetscCall(PetscOptionsString("-csv", "File for the rows", NULL, options->file, options->file,
                               sizeof(options->file), &options->csv));
  PetscCall(PetscOptionsString("-field", "File for the solutions at the points of quadrature", NULL,
                               options->field, options->field, sizeof(options->field), &run->write_field));
  PetscOptionsEnd();
  if (!has_degree) options->degrees = 1;
  if (!has_elements) options->sizes = 3;
  d.collocation      = method == COLLOCATION;
  d.curve.arc        = curve == ARC;
  d.space.periodic   = periodic;
  d.space.separators = separators;
  d.problem.equation = equation == THESIS ? iga::Equation::thesis : iga::Equation::constant;
  d.problem.a        = equation == HELMHOLTZ ? 1 : coefficients[0];
  d.problem.b        = equation == HELMHOLTZ ? 0 : coefficients[1];
  d.problem.c        = equation == HELMHOLTZ ? -wavenumber * wavenumber : coefficients[2];
  PetscCheck(!periodic || equation != THESIS, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-periodic: the coefficients of -problem thesis are not periodic");
  PetscCheck(!periodic || curve != ARC, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-periodic: -curve arc does not close");
  PetscCheck(!separators || method != COLLOCATION, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP,
             "-separators: -method collocation needs C^1");
  PetscCheck(d.space.grading > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-grading %g: must be positive",
             (double)d.space.grading);
  PetscCheck(three == 0 || three == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ,
             "-coefficients: takes a, b and c, not %" PetscInt_FMT " numbers", three);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Sets a degree and a number of elements, with the other options.
static PetscErrorCode SetSize(const Options &options, PetscInt degree, PetscInt elements, Run *run)
{
  const PetscInt continuity          = options.continuity == PETSC_DECIDE ? degree - 1 : options.continuity;
  const MPI_Comm comm                = PETSC_COMM_WORLD;
  iga::SplineSpace<PetscReal> &space = run->d.space;
  iga::Quadrature<PetscReal>  &gauss = run->d.gauss;

  PetscFunctionBeginUser;
  PetscCheck(degree >= 1 && degree <= iga::max_degree, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-degree %" PetscInt_FMT ": must be 1 to %d", degree, iga::max_degree);
  PetscCheck(elements >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-elements %" PetscInt_FMT ": must be positive",
             elements);
  PetscCheck(continuity >= 0 && continuity < degree, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-continuity %" PetscInt_FMT ": splines of degree %" PetscInt_FMT " take 0 to %" PetscInt_FMT,
             continuity, degree, degree - 1);
  PetscCheck(!run->d.collocation || continuity >= 1, comm, PETSC_ERR_ARG_INCOMP,
             "-method collocation: needs C^1, -degree 2 and -continuity 1 at least");
  PetscCheck(!run->d.curve.arc || degree >= 2, comm, PETSC_ERR_ARG_INCOMP,
             "-curve arc: needs -degree 2 at least");
  PetscCheck(!space.periodic || !space.separators || elements % space.separators == 0, comm,
             PETSC_ERR_ARG_INCOMP, "-separators: must divide -elements %" PetscInt_FMT " with -periodic",
             elements);
  space.degree       = static_cast<int>(degree);
  space.multiplicity = static_cast<int>(degree - continuity);
  space.elements     = elements;
  gauss.points       = space.degree + 1;
  PetscCall(PetscDTGaussQuadrature(gauss.points, 0, 1, gauss.x, gauss.w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Kokkos::ScopeGuard kokkos(argc, argv); // outlives PETSc
  Options            options;
  Run                run  = {};
  FILE              *file = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&options, &run));
  if (options.csv) PetscCall(PetscFOpen(PETSC_COMM_WORLD, options.file, "w", &file));
  if (run.write_field) {
    PetscCall(PetscFOpen(PETSC_COMM_WORLD, options.field, "w", &run.field));
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, run.field, "degree,elements,x,u,exact\n"));
  }
  if (file)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file,
                           "degree,elements,unknowns,rhs,assembly,setup,solve,backward,l2,h1,memory\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6s %9s %9s %11s %11s %11s %9s %9s %10s %6s %10s %6s\n", "degree",
                        "elements", "unknowns", "assembly s", "set-up s", "solve s", "memory MB", "backward",
                        "L2 error", "rate", "H1 error", "rate"));
  for (PetscInt p = 0; p < options.degrees; p++) {
    Result    last;
    PetscReal last_elements = 0;
    for (PetscInt n = 0; n < options.sizes; n++) {
      Result result;
      PetscCall(SetSize(options, options.degree[p], options.elements[n], &run));
      PetscCall(Measure(run, &result));
      char            rates[2][16] = {"", ""};
      const PetscReal finer        = (PetscReal)options.elements[n] / last_elements;
      if (n > 0)
        PetscCall(PetscSNPrintf(rates[0], sizeof(rates[0]), "%.2f",
                                (double)(PetscLogReal(last.l2 / result.l2) / PetscLogReal(finer))));
      if (n > 0)
        PetscCall(PetscSNPrintf(rates[1], sizeof(rates[1]), "%.2f",
                                (double)(PetscLogReal(last.h1 / result.h1) / PetscLogReal(finer))));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "%6" PetscInt_FMT " %9" PetscInt_FMT " %9" PetscInt_FMT
                            " %11.3e %11.3e %11.3e %9.3f %9.1e %10.3e %6s %10.3e %6s\n",
                            options.degree[p], options.elements[n], run.unknowns(), result.assembly,
                            result.setup, result.solve, 1e-6 * result.memory, (double)result.backward,
                            (double)result.l2, rates[0], (double)result.h1, rates[1]));
      if (file)
        PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file,
                               "%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
                               ",%.3e,%.3e,%.3e,%.3e,%.6e,%.6e,%.0f\n",
                               options.degree[p], options.elements[n], run.unknowns(), run.rhs,
                               result.assembly, result.setup, result.solve, (double)result.backward,
                               (double)result.l2, (double)result.h1, result.memory));
      last          = result;
      last_elements = (PetscReal)options.elements[n];
    }
  }
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  if (run.write_field) PetscCall(PetscFClose(PETSC_COMM_WORLD, run.field));
  PetscCall(PetscFinalize());
  return 0;
}
