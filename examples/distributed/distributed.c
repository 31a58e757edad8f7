/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
  "Lines along y that span all ranks: seconds of an application of the PC, and of a copy of its vector.\n\
  -lines <n>    lines, each on all ranks (default 2048)\n\
  -rows <n>     rows of a line on all ranks together (default 512)\n\
  -sigma <s>    the matrix is 1 + s D, where D has 2 and -1 along the lines (default 0.4)\n\
  -half_bandwidth <1|2>  2: 1 + s D^2, with 6, -4 and 1 (default 1)\n\
  -per_line     s (1 + k / 16) in place of s, with k = 0 to 15 from line to line: one matrix per line\n\
  -repeat <n>   timed applications; the median counts (default 21)\n\
  -try <list>   options of the PC, timed one after another. They begin with a blank:\n\
                \" -pc_line_cut exact; -pc_line_cut local\"\n\
  -ping         seconds and bandwidth of messages between the first two ranks\n";

#include <petscdevice.h>
#include <petscdmda.h>
#include <petscksp.h>

static PetscErrorCode Assemble(DM da, PetscReal sigma, PetscInt width, PetscBool per_line, Mat *A)
{
  const PetscReal differences[2][3] = {{2, -1, 0}, {6, -4, 1}};
  PetscInt        x, y, nx, ny, all;
  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, NULL, &all, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &x, &y, NULL, &nx, &ny, NULL));
  PetscCall(DMCreateMatrix(da, A));
  for (PetscInt j = y; j < y + ny; ++j)
    for (PetscInt i = x; i < x + nx; ++i) {
      const PetscReal s   = per_line ? sigma * (1 + (PetscReal)(i % 16) / 16) : sigma;
      MatStencil      row = {.j = j, .i = i}, columns[5];
      PetscScalar     values[5];
      PetscInt        n = 0;
      for (PetscInt step = -width; step <= width; ++step) {
        if (j + step < 0 || j + step >= all) continue;
        columns[n]  = (MatStencil){.j = j + step, .i = i};
        values[n++] = (step == 0 ? 1 : 0) + s * differences[width - 1][PetscAbsInt(step)];
      }
      PetscCall(MatSetValuesStencil(*A, 1, &row, n, columns, values, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Waits for all work on a device. */
static PetscErrorCode Finish(void)
{
  PetscDeviceContext context;
  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context));
  PetscFunctionReturn(0);
}

/* Seconds of an application, or of a copy if there is no PC: the median over repeats, for the slowest
   rank. */
static PetscErrorCode Time(PC pc, Vec b, Vec x, PetscInt repeat, PetscReal *median)
{
  PetscReal *seconds;
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(repeat, &seconds));
  for (PetscInt k = -2; k < repeat; ++k) {
    PetscCall(Finish());
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    double began = MPI_Wtime(), took;
    if (pc) PetscCall(PCApply(pc, b, x));
    else PetscCall(VecCopy(b, x));
    PetscCall(Finish());
    took = MPI_Wtime() - began;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    if (k >= 0) seconds[k] = (PetscReal)took;
  }
  PetscCall(PetscSortReal(repeat, seconds));
  *median = seconds[repeat / 2];
  PetscCall(PetscFree(seconds));
  PetscFunctionReturn(0);
}

static PetscErrorCode Ping(PetscMPIInt rank)
{
  char *message;
  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(1 << 22, &message));
  for (int bytes = 8; bytes <= 1 << 22 && rank < 2; bytes *= 8) {
    const int times = bytes < 1 << 16 ? 2000 : 50;
    double    began = 0;
    for (int k = -10; k < times; ++k) {
      if (k == 0) began = MPI_Wtime();
      if (rank == 0) PetscCallMPI(MPI_Send(message, bytes, MPI_CHAR, 1, 0, PETSC_COMM_WORLD));
      PetscCallMPI(MPI_Recv(message, bytes, MPI_CHAR, 1 - rank, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE));
      if (rank == 1) PetscCallMPI(MPI_Send(message, bytes, MPI_CHAR, 0, 0, PETSC_COMM_WORLD));
    }
    const double one_way = (MPI_Wtime() - began) / (2 * times);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "message of %8d bytes: %9.2e s, %8.2e bytes/s\n", bytes, one_way,
                          bytes / one_way));
  }
  PetscCall(PetscFree(message));
  PetscFunctionReturn(0);
}

/* One row for the PC with the present options and with `more`. */
static PetscErrorCode Try(PC pc, Mat A, Vec b, Vec x, Vec r, PetscInt lines, PetscInt rows, PetscInt repeat,
                          const char *more)
{
  PetscReal   applied, copied, left, norm;
  PetscMPIInt ranks;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(PetscOptionsInsertString(NULL, more));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(Time(pc, b, x, repeat, &applied));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &left));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(Time(NULL, b, x, repeat, &copied));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%d ranks, %" PetscInt_FMT " lines of %" PetscInt_FMT
                        " rows%s%s: %.3e s, %.3e unknowns/s, a copy %.3e s (%.0f%%), residual %.1e\n",
                        ranks, lines, rows, more[0] ? ", " : "", more, (double)applied,
                        (double)lines * (double)rows / (double)applied, (double)copied,
                        100 * (double)copied / (double)applied, (double)(left / norm)));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt    lines = 2048, rows = 512, repeat = 21, width = 1;
  PetscReal   sigma = 0.4;
  PetscBool   ping = PETSC_FALSE, per_line = PETSC_FALSE;
  PetscMPIInt ranks, rank;
  char        list[2048] = "", **tries;
  int         count;
  DM          da;
  Mat         A;
  Vec         b, x, r;
  PC          pc;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-lines", &lines, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rows", &rows, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-sigma", &sigma, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-half_bandwidth", &width, NULL));
  PetscCheck(width == 1 || width == 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-half_bandwidth %" PetscInt_FMT ": must be 1 or 2", width);
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-per_line", &per_line, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-ping", &ping, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-try", list, sizeof list, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (ping && ranks > 1) PetscCall(Ping(rank));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, lines, rows,
                         1, ranks, 1, width, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(Assemble(da, sigma, width, per_line, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PetscStrToArray(list, ';', &count, &tries));
  for (int k = 0; k < PetscMax(count, 1); ++k)
    PetscCall(Try(pc, A, b, x, r, lines, rows, repeat, count ? tries[k] : ""));
  PetscCall(PetscStrToArrayDestroy(count, tries));
  PetscCall(PCDestroy(&pc));
  for (Vec *v[] = {&b, &x, &r}, **p = v; p < v + 3; ++p) PetscCall(VecDestroy(*p));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
