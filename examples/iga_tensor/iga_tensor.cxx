// SPDX-License-Identifier: BSD-2-Clause
static char help[] =
  "Isogeometric analysis in 2D and 3D by alternating directions: B-splines on the unit square or cube,\n\
solved one direction after another with many right-hand sides. A plain PETSc program on one rank.\n\
Options of the solvers of the directions have the prefix -direction_ (default: preonly with LU).\n\
Prints relative errors, their rates and times. Options:\n\
  -problem projection|heat|elliptic    L2 projection; u_t - div grad u = f; -div(a grad u) + u = f\n\
                                       with a = 1 + v prod sin(pi x_d)\n\
  -dim 2|3  -degree p,q,...  -elements n,m,...   all combinations of degrees (1 to 10) and numbers\n\
                                       of elements in a direction\n\
  -aspect a,b,c                        elements of each direction over -elements\n\
  -time t  -steps n,m,...              for heat: final time, and numbers of steps, all combinations\n\
  -variation v                         of the coefficient of elliptic\n\
  -assembled                           solves with the assembled sum of Kronecker products by a KSP:\n\
                                       CG with fast diagonalization, or any options; always for\n\
                                       elliptic\n\
  -repeat n                            times are the shortest of n runs\n\
  -csv file  -field file               rows; the last solution and its error at quadrature points\n\n";

#include "measure.hpp"

#include <Kokkos_Core.hpp>

static const char *const Problems[] = {"projection", "heat", "elliptic", "Problem", "", NULL};

struct Options {
  PetscInt degree[16] = {3}, degrees = 16, elements[32] = {16, 32, 64}, sizes = 32, steps[32] = {64},
           times               = 32;
  char csv[PETSC_MAX_PATH_LEN] = "", field[PETSC_MAX_PATH_LEN] = "";
};

static PetscErrorCode CheckList(const char option[], const PetscInt list[], PetscInt count, PetscInt most)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < count; k++) {
    if (most == PETSC_MAX_INT)
      PetscCheck(list[k] >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
                 "%s %" PetscInt_FMT ": must be positive", option, list[k]);
    else
      PetscCheck(list[k] >= 1 && list[k] <= most, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
                 "%s %" PetscInt_FMT ": must be 1 to %" PetscInt_FMT, option, list[k], most);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadOptions(Options *options, Run *run)
{
  PetscInt  aspects = 3;
  PetscBool has_degree, has_elements, has_steps, has_aspect;

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Isogeometric analysis by alternating directions", NULL);
  PetscCall(PetscOptionsEnum("-problem", "What is solved", NULL, Problems, (PetscEnum)run->problem,
                             (PetscEnum *)&run->problem, NULL));
  PetscCall(PetscOptionsInt("-dim", "2 or 3", NULL, run->dim, &run->dim, NULL));
  PetscCall(PetscOptionsIntArray("-degree", "Degrees of the splines, 1 to 10", NULL, options->degree,
                                 &options->degrees, &has_degree));
  PetscCall(PetscOptionsIntArray("-elements", "Numbers of elements in a direction", NULL, options->elements,
                                 &options->sizes, &has_elements));
  PetscCall(PetscOptionsIntArray("-aspect", "Elements of each direction over -elements", NULL, run->aspect,
                                 &aspects, &has_aspect));
  PetscCall(
    PetscOptionsReal("-time", "End of -problem heat, which begins at 0", NULL, run->time, &run->time, NULL));
  PetscCall(PetscOptionsIntArray("-steps", "Numbers of steps of -problem heat", NULL, options->steps,
                                 &options->times, &has_steps));
  PetscCall(PetscOptionsReal("-variation", "v of the coefficient of -problem elliptic", NULL, run->variation,
                             &run->variation, NULL));
  PetscCall(PetscOptionsBool("-assembled", "Solve the sum of Kronecker products by a KSP", NULL,
                             run->assembled, &run->assembled, NULL));
  PetscCall(PetscOptionsBoundedInt("-repeat", "Runs, the shortest times of which are printed", NULL,
                                   run->repeat, &run->repeat, NULL, 1));
  PetscCall(PetscOptionsString("-csv", "File for the rows", NULL, options->csv, options->csv,
                               sizeof(options->csv), NULL));
  PetscCall(PetscOptionsString("-field", "File for the last solution", NULL, options->field, options->field,
                               sizeof(options->field), NULL));
  PetscOptionsEnd();
  if (!has_degree) options->degrees = 1;
  if (!has_elements) options->sizes = 3;
  if (!has_steps || run->problem != HEAT) options->times = 1;
  PetscCheck(run->dim == 2 || run->dim == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-dim %" PetscInt_FMT ": must be 2 or 3", run->dim);
  PetscCheck(!has_aspect || aspects == run->dim, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ,
             "-aspect: takes a number for each of %" PetscInt_FMT " directions, not %" PetscInt_FMT, run->dim,
             aspects);
  PetscCall(CheckList("-degree", options->degree, options->degrees, iga::max_degree));
  PetscCall(CheckList("-elements", options->elements, options->sizes, PETSC_MAX_INT));
  PetscCall(CheckList("-aspect", run->aspect, run->dim, PETSC_MAX_INT));
  PetscCall(CheckList("-steps", options->steps, options->times, PETSC_MAX_INT));
  PetscCheck(run->time > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-time %g: must be positive",
             (double)run->time);
  PetscCheck(PetscAbsReal(run->variation) < 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-variation %g: must be between -1 and 1, or the coefficient is not positive",
             (double)run->variation);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// log(last / now) / log(finer), or an empty text in the first row.
static PetscErrorCode Rate(PetscReal last, PetscReal now, PetscReal finer, char text[], std::size_t size)
{
  PetscFunctionBeginUser;
  text[0] = '\0';
  if (finer > 0)
    PetscCall(PetscSNPrintf(text, size, "%.2f", (double)(PetscLogReal(last / now) / PetscLogReal(finer))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Kokkos::ScopeGuard kokkos(argc, argv); // outlives PETSc
  Options            o;
  Run                run;
  FILE              *csv = NULL, *field = NULL;
  PetscMPIInt        ranks;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCheck(ranks == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "iga_tensor runs on one rank, not on %d",
             (int)ranks);
  PetscCall(ReadOptions(&o, &run));
  if (o.csv[0]) PetscCall(PetscFOpen(PETSC_COMM_WORLD, o.csv, "w", &csv));
  if (o.field[0]) PetscCall(PetscFOpen(PETSC_COMM_WORLD, o.field, "w", &field));
  if (csv)
    PetscCall(
      PetscFPrintf(PETSC_COMM_WORLD, csv, "degree,elements,steps,unknowns,setup,solve,iterations,l2,h1\n"));
  if (field) PetscCall(PetscFPrintf(PETSC_COMM_WORLD, field, "x,y,z,u,error\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6s %8s %6s %9s %11s %11s %11s %10s %10s %6s %10s %6s\n", "degree",
                        "elements", "steps", "unknowns", "set-up s", "solve s", "ns/unknown", "iterations",
                        "L2 error", "rate", "H1 error", "rate"));
  for (PetscInt p = 0; p < o.degrees; p++) {
    Result last;
    // Refinement since the previous row: in time if -steps has several values, otherwise in space.
    PetscReal finer = 0;
    for (PetscInt n = 0; n < o.sizes; n++)
      for (PetscInt k = 0; k < o.times; k++) {
        const PetscInt steps = run.problem == HEAT ? o.steps[k] : 1;
        Result         result;
        char           rates[2][16];
        if (o.times > 1)
          finer = k ? static_cast<PetscReal>(steps) / static_cast<PetscReal>(o.steps[k - 1]) : 0;
        else if (n > 0)
          finer = static_cast<PetscReal>(o.elements[n]) / static_cast<PetscReal>(o.elements[n - 1]);
        if (p + 1 == o.degrees && n + 1 == o.sizes && k + 1 == o.times) run.field = field;
        PetscCall(Measure(run, o.degree[p], o.elements[n], steps, &result));
        PetscCall(Rate(last.l2, result.l2, finer, rates[0], sizeof(rates[0])));
        PetscCall(Rate(last.h1, result.h1, finer, rates[1], sizeof(rates[1])));
        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              "%6" PetscInt_FMT " %8" PetscInt_FMT " %6" PetscInt_FMT " %9" PetscInt_FMT
                              " %11.3e %11.3e %11.1f %10.1f %10.3e %6s %10.3e %6s\n",
                              o.degree[p], o.elements[n], steps, result.unknowns, result.setup, result.solve,
                              1e9 * result.solve / ((double)result.unknowns * (double)steps),
                              (double)result.iterations, (double)result.l2, rates[0], (double)result.h1,
                              rates[1]));
        if (csv)
          PetscCall(PetscFPrintf(PETSC_COMM_WORLD, csv,
                                 "%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT
                                 ",%.3e,%.3e,%.2f,%.6e,%.6e\n",
                                 o.degree[p], o.elements[n], steps, result.unknowns, result.setup,
                                 result.solve, (double)result.iterations, (double)result.l2,
                                 (double)result.h1));
        last = result;
      }
  }
  if (csv) PetscCall(PetscFClose(PETSC_COMM_WORLD, csv));
  if (field) PetscCall(PetscFClose(PETSC_COMM_WORLD, field));
  PetscCall(PetscFinalize());
  return 0;
}
