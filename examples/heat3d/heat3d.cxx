// SPDX-License-Identifier: BSD-2-Clause
static char help[] = "Heat equation u_t = lap u in the unit cube, u = 0 on its boundary.\n\
A plain PETSc program without code for any plugin. It runs with any -ts_type. Alternating directions\n\
by Douglas and Gunn: -ts_type adi -ts_adi_type douglas -ts_adi_lag_jacobian -1.\n\
Prints errors, their rates and times. Options:\n\
  -n n,m,...       inner points in each direction, one run for each (default 15,31,63)\n\
  -steps s,t,...   time steps of each run (default 10,20,40); the last value serves all further runs\n\
  -final_time t    (default 0.05)\n\
  -csv file        also writes the rows to this file\n\n";

// The solution is a sum of two eigenfunctions of the Laplacian, which are also eigenfunctions of its
// differences. Hence errors are known against the differential equation and against the equations in time
// alone.

#include "petsc_space.hpp"

#include <petscdmda.h>
#include <petscts.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

using Index = std::int64_t;

// with three equal wave numbers Douglas and Gunn's method would have order 3
constexpr int waves[2][3] = {{1, 1, 2}, {1, 2, 1}};

struct Grid {
  PetscInt n        = 0;                ///< inner points in a direction
  Index    begin[3] = {}, size[3] = {}; ///< points of this rank
  /// layers of points of other ranks that local vectors have below and above, in each direction
  Index     lower[3] = {}, upper[3] = {};
  bool      alone = true; ///< a single rank, which needs no local vectors
  DM        da    = NULL;
  PetscReal spacing() const { return PetscReal(1) / static_cast<PetscReal>(n + 1); }
};

/// The least memory traffic of a step of Douglas and Gunn's method, in copies of a state. The function and
/// the three solves read one vector and write one. The update reads two and writes one.
constexpr double least = 5.5;

/// Seconds between the ends of steps. The first two steps do not count: they set up.
struct Clock {
  PetscLogDouble begin = 0, end = 0;
  PetscInt       steps = -2;
};

struct Row {
  /// largest errors, against the differential equation and against the equations in time
  PetscReal error = 0, error_in_time = 0;
  /// of a step; unknowns times steps per second; bytes per second
  PetscLogDouble seconds = 0, rate = 0, copy = 0;
};

/// f = lap u by second differences. u is a local vector, or the global vector of a single rank. Values
/// beyond the boundary are 0.
template <class Exec>
static PetscErrorCode Laplacian(const Grid &grid, const PetscScalar *u, PetscScalar *f)
{
  const Index nx = grid.size[0], ny = grid.size[1], nz = grid.size[2],
              sy = nx + grid.lower[0] + grid.upper[0], sz = sy * (ny + grid.lower[1] + grid.upper[1]);
  const Index x0 = grid.lower[0], y0 = grid.lower[1], z0 = grid.lower[2], x1 = nx + grid.upper[0],
              y1 = ny + grid.upper[1], z1 = nz + grid.upper[2];
  const PetscReal scale = 1 / (grid.spacing() * grid.spacing());
  Exec            exec;

  PetscFunctionBeginUser;
  PetscCall(GetSpace(&exec));
  using Lines             = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<Index>>;
  constexpr int team_size = std::is_same<Exec, Kokkos::DefaultHostExecutionSpace>::value ? 1 : 128;
  Kokkos::parallel_for(
    "heat3d::laplacian", Lines(exec, static_cast<int>(ny * nz), team_size),
    KOKKOS_LAMBDA(const typename Lines::member_type &team) {
      const Index j = team.league_rank() % ny, k = team.league_rank() / ny;
      // For neighbours beyond the boundary the loop reads the point itself, times 0. It has no branches
      // inside and is vectorized.
      const bool         has[4] = {j + y0 > 0, j + 1 < y1, k + z0 > 0, k + 1 < z1};
      const PetscScalar *c = u + x0 + sy * (j + y0) + sz * (k + z0), *south = has[0] ? c - sy : c,
                        *north = has[1] ? c + sy : c;
      const PetscScalar *below = has[2] ? c - sz : c, *above = has[3] ? c + sz : c;
      const PetscReal    s = has[0] ? scale : 0, n = has[1] ? scale : 0, b = has[2] ? scale : 0,
                      a = has[3] ? scale : 0;
      // rows with both neighbours along x
      const Index  first = x0 > 0 ? 0 : 1, last = x1 > nx ? nx : nx - 1;
      PetscScalar *to     = f + nx * (j + ny * k);
      const auto   across = [=](Index i) {
        return s * south[i] + n * north[i] + b * below[i] + a * above[i] - 6 * scale * c[i];
      };
      const auto end = [=](Index i) {
        to[i] = across(i);
        if (i + x0 > 0) to[i] += scale * c[i - 1];
        if (i + 1 < x1) to[i] += scale * c[i + 1];
      };
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, last),
                           [=](Index i) { to[i] = across(i) + scale * (c[i - 1] + c[i + 1]); });
      Kokkos::single(Kokkos::PerTeam(team), [=] {
        if (first > 0) end(0);
        if (last < nx && last >= first) end(last);
      });
    });
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Function(TS, PetscReal, Vec U, Vec F, void *ctx)
{
  const Grid        &grid  = *static_cast<const Grid *>(ctx);
  Vec                local = U;
  const PetscScalar *u;
  PetscScalar       *f;
  PetscMemType       where;

  PetscFunctionBeginUser;
  if (!grid.alone) {
    PetscCall(DMGetLocalVector(grid.da, &local));
    PetscCall(DMGlobalToLocal(grid.da, U, INSERT_VALUES, local));
  }
  PetscCall(VecGetArrayReadAndMemType(local, &u, &where));
  PetscCall(VecGetArrayWriteAndMemType(F, &f, &where));
  PetscCall(PetscMemTypeDevice(where) ? Laplacian<Kokkos::DefaultExecutionSpace>(grid, u, f)
                                      : Laplacian<Kokkos::DefaultHostExecutionSpace>(grid, u, f));
  PetscCall(VecRestoreArrayWriteAndMemType(F, &f));
  PetscCall(VecRestoreArrayReadAndMemType(local, &u));
  if (!grid.alone) PetscCall(DMRestoreLocalVector(grid.da, &local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateGrid(PetscInt n, Grid *grid)
{
  PetscMPIInt size;
  PetscInt    begin[3], count[3], from[3], all[3];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  grid->n     = n;
  grid->alone = size == 1;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL,
                         NULL, NULL, &grid->da));
  PetscCall(DMSetFromOptions(grid->da));
  PetscCall(DMSetUp(grid->da));
  PetscCall(DMDAGetCorners(grid->da, &begin[0], &begin[1], &begin[2], &count[0], &count[1], &count[2]));
  PetscCall(DMDAGetGhostCorners(grid->da, &from[0], &from[1], &from[2], &all[0], &all[1], &all[2]));
  for (int d = 0; d < 3; d++) {
    grid->begin[d] = begin[d], grid->size[d] = count[d];
    grid->lower[d] = begin[d] - from[d], grid->upper[d] = all[d] - count[d] - grid->lower[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateJacobian(const Grid &grid, Mat *A)
{
  const PetscScalar scale = 1 / (grid.spacing() * grid.spacing());

  PetscFunctionBeginUser;
  PetscCall(DMSetMatrixPreallocateOnly(grid.da, PETSC_TRUE));
  PetscCall(DMCreateMatrix(grid.da, A));
  PetscCall(DMSetMatrixPreallocateOnly(grid.da, PETSC_FALSE)); // TS creates another matrix and shifts it
  for (Index row = 0; row < grid.size[0] * grid.size[1] * grid.size[2]; row++) {
    const Index p[3] = {grid.begin[0] + row % grid.size[0], grid.begin[1] + row / grid.size[0] % grid.size[1],
                        grid.begin[2] + row / (grid.size[0] * grid.size[1])};
    MatStencil  at   = {}, columns[7];
    PetscScalar values[7];
    PetscInt    count = 0;
    at.i = static_cast<PetscInt>(p[0]), at.j = static_cast<PetscInt>(p[1]),
    at.k = static_cast<PetscInt>(p[2]);
    for (int way = -3; way <= 3; way++) { // ascending columns: PETSc keeps this order
      const int      d    = std::abs(way) - 1;
      const PetscInt step = way < 0 ? -1 : 1;
      if (way != 0 && (p[d] + step < 0 || p[d] + step >= grid.n)) continue;
      columns[count] = at;
      if (way != 0) (d == 0 ? columns[count].i : d == 1 ? columns[count].j : columns[count].k) += step;
      values[count++] = way == 0 ? -6 * scale : scale;
    }
    PetscCall(MatSetValuesStencil(*A, 1, &at, count, columns, values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Decay of an eigenfunction under the Laplacian, or under its differences.
static PetscReal Decay(const Grid &grid, int m, bool differences, PetscReal t)
{
  PetscReal eigenvalue = 0;
  for (const int wave : waves[m]) {
    const PetscReal k = PETSC_PI * static_cast<PetscReal>(wave), h = grid.spacing();
    eigenvalue += differences ? PetscSqr(2 / h * PetscSinReal(k * h / 2)) : k * k;
  }
  return PetscExpReal(-eigenvalue * t);
}

/// u = sum of the eigenfunctions, each with its factor. With `error`: the largest difference from this sum
/// instead.
static PetscErrorCode Solution(const Grid &grid, const PetscReal (&factor)[2], Vec u, PetscReal *error)
{
  std::vector<PetscReal> sine[2][3];
  PetscScalar           *a;
  PetscReal              worst = 0;

  PetscFunctionBeginUser;
  for (int m = 0; m < 2; m++)
    for (int d = 0; d < 3; d++)
      for (Index p = 0; p < grid.size[d]; p++)
        sine[m][d].push_back(PetscSinReal(PETSC_PI * static_cast<PetscReal>(waves[m][d]) *
                                          static_cast<PetscReal>(grid.begin[d] + p + 1) * grid.spacing()));
  PetscCall(error ? VecGetArray(u, &a) : VecGetArrayWrite(u, &a));
  PetscScalar *next = a;
  for (Index k = 0; k < grid.size[2]; k++)
    for (Index j = 0; j < grid.size[1]; j++) {
      PetscReal of_row[2];
      for (int m = 0; m < 2; m++)
        of_row[m] =
          factor[m] * sine[m][1][static_cast<std::size_t>(j)] * sine[m][2][static_cast<std::size_t>(k)];
      for (Index i = 0; i < grid.size[0]; i++, next++) {
        const PetscReal exact = of_row[0] * sine[0][0][static_cast<std::size_t>(i)] +
                                of_row[1] * sine[1][0][static_cast<std::size_t>(i)];
        if (error) worst = PetscMax(worst, PetscAbsScalar(*next - exact));
        else *next = exact;
      }
    }
  PetscCall(error ? VecRestoreArray(u, &a) : VecRestoreArrayWrite(u, &a));
  if (error) PetscCallMPI(MPI_Allreduce(&worst, error, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Tick(TS ts)
{
  Clock *clock;

  PetscFunctionBeginUser;
  PetscCall(TSGetApplicationContext(ts, &clock));
  clock->steps++;
  if (clock->steps == 0) PetscCall(Now(PETSC_COMM_WORLD, &clock->begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(PetscInt n, PetscInt steps, PetscReal end, Row *row)
{
  Grid                 grid;
  Clock                clock;
  TS                   ts;
  Mat                  A;
  Vec                  u, other;
  TSConvergedReason    reason;
  PetscReal            factor[2] = {1, 0.5}, t;
  const PetscLogDouble unknowns =
    static_cast<PetscLogDouble>(n) * static_cast<PetscLogDouble>(n) * static_cast<PetscLogDouble>(n);

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(n, &grid));
  PetscCall(DMCreateGlobalVector(grid.da, &u));
  PetscCall(CreateJacobian(grid, &A));
  PetscCall(Solution(grid, factor, u, NULL));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, grid.da));
  PetscCall(TSSetType(ts, TSCN));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetRHSFunction(ts, NULL, Function, &grid));
  PetscCall(TSSetRHSJacobian(ts, A, A, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetTimeStep(ts, end / static_cast<PetscReal>(steps)));
  PetscCall(TSSetMaxTime(ts, end));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetApplicationContext(ts, &clock));
  PetscCall(TSSetPostStep(ts, Tick));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));
  PetscCall(Now(PETSC_COMM_WORLD, &clock.end));
  PetscCall(TSGetConvergedReason(ts, &reason));
  PetscCall(TSGetSolveTime(ts, &t));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "TSSolve() stopped at t = %g: %s",
             (double)t, TSConvergedReasons[reason]);
  PetscCall(VecDuplicate(u, &other));
  PetscCall(CopySpeed(u, other, &row->copy));
  PetscCall(VecDestroy(&other));
  if (clock.steps > 0)
    row->seconds = (clock.end - clock.begin) / static_cast<PetscLogDouble>(clock.steps),
    row->rate    = unknowns / row->seconds;
  for (int differences = 0; differences < 2; differences++) {
    const PetscReal decayed[2] = {Decay(grid, 0, differences, t), Decay(grid, 1, differences, t) / 2};
    PetscCall(Solution(grid, decayed, u, differences ? &row->error_in_time : &row->error));
  }
  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&grid.da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// log2 of the ratio of two errors, for twice the resolution; empty for the first.
static PetscErrorCode Rate(PetscReal last, PetscReal now, char (&text)[16])
{
  PetscFunctionBeginUser;
  text[0] = '\0';
  if (last > 0 && now > 0)
    PetscCall(PetscSNPrintf(text, sizeof(text), "%.2f", (double)PetscLog2Real(last / now)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Kokkos::ScopeGuard kokkos(argc, argv); // outlives PETSc
  PetscInt           n[16] = {15, 31, 63}, sizes = 16, steps[16] = {10, 20, 40}, counts = 16;
  PetscReal          end = 0.05;
  PetscBool          has_n, has_steps, has_csv;
  char               name[PETSC_MAX_PATH_LEN] = "";
  FILE              *file                     = NULL;
  Row                row, last;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Heat equation in the cube", NULL);
  PetscCall(PetscOptionsIntArray("-n", "Inner points in a direction, for each run", NULL, n, &sizes, &has_n));
  PetscCall(PetscOptionsIntArray("-steps", "Time steps, for each run", NULL, steps, &counts, &has_steps));
  PetscCall(PetscOptionsReal("-final_time", "The end", NULL, end, &end, NULL));
  PetscCall(PetscOptionsString("-csv", "File for the rows", NULL, name, name, sizeof(name), &has_csv));
  PetscOptionsEnd();
  if (!has_n) sizes = 3;
  if (!has_steps) counts = 3;
  PetscCheck(sizes > 0 && counts > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ,
             "-n, -steps: need a number at least");
  PetscCheck(end > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-final_time %g: must be positive",
             (double)end);
  if (has_csv) PetscCall(PetscFOpen(PETSC_COMM_WORLD, name, "w", &file));
  if (file)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "n,steps,error,error_in_time,seconds,rate,copy\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%5s %6s %10s %6s %13s %6s %11s %12s %15s %8s\n", "n", "steps",
                        "error", "rate", "error in time", "rate", "s per step", "unknowns/s",
                        "copies per step", "% copy"));
  for (PetscInt k = 0; k < PetscMax(sizes, counts); k++) {
    const PetscInt points = n[PetscMin(k, sizes - 1)], count = steps[PetscMin(k, counts - 1)];
    char           rates[2][16];
    PetscCheck(points >= 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
               "-n %" PetscInt_FMT ": must be 2 at least", points);
    PetscCheck(count >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
               "-steps %" PetscInt_FMT ": must be positive", count);
    PetscCall(Run(points, count, end, &row));
    PetscCall(Rate(last.error, row.error, rates[0]));
    PetscCall(Rate(last.error_in_time, row.error_in_time, rates[1]));
    const double copies = row.rate > 0 ? row.copy / (2 * sizeof(PetscScalar) * row.rate) : 0;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%5" PetscInt_FMT " %6" PetscInt_FMT
                          " %10.3e %6s %13.3e %6s %11.3e %12.3e %15.2f %8.1f\n",
                          points, count, (double)row.error, rates[0], (double)row.error_in_time, rates[1],
                          row.seconds, row.rate, copies, copies > 0 ? 100 * least / copies : 0));
    if (file)
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file,
                             "%" PetscInt_FMT ",%" PetscInt_FMT ",%.6e,%.6e,%.4e,%.4e,%.4e\n", points, count,
                             (double)row.error, (double)row.error_in_time, row.seconds, row.rate, row.copy));
    last = row;
  }
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscCall(PetscFinalize());
  return 0;
}
