// SPDX-License-Identifier: BSD-2-Clause
static char help[] =
  "Throughput of compact finite differences along x, y and z of a cube of n^3 points on [0, 1]^3, next to\n\
LAPACK (vectors on a host) or cuSPARSE (on a device), and to a copy in the same run. Options:\n\
  -n n                 points along each direction (default 128 on a host, 512 on a device)\n\
  -derivative 1|2      (default 1)\n\
  -orders p,q,...      4, 6, 8 or 10 (default 6,10)\n\
  -peers               also by the other library: tridiagonal first derivatives on one rank (default true)\n\
  -repeat r            samples; the median counts (default 10)\n\
  -view                view the matrices\n\
  -json file           also writes the rows to this file\n\
  -dm_vec_type type    standard: on the host (default: cuda or kokkos, if PETSc has it)\n\n";

#include "peers.hpp"

#include "petsc_space.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <type_traits>

struct Options {
  PetscInt  n = 0, derivative = 1, orders[4] = {6, 10}, count = 4, repeat = 10;
  PetscBool peers = PETSC_TRUE, view = PETSC_FALSE;
  char      json[PETSC_MAX_PATH_LEN] = "";
};

struct Seconds {
  PetscLogDouble work = 0, copy = 0;
};

/// The cube: derivatives y and z of u, and a copy of u. Points are `spacing` apart.
struct Cube {
  DM          da = NULL;
  Vec         u = NULL, y = NULL, z = NULL, copy = NULL;
  PetscInt    n         = 0;
  PetscMPIInt ranks     = 1;
  PetscBool   on_device = PETSC_FALSE;
  PetscReal   spacing() const { return PetscReal(1) / static_cast<PetscReal>(n - 1); }
  double points() const { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }
};

static PetscErrorCode ReadOptions(Options *o)
{
  PetscBool listed, has_n;

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Throughput of compact finite differences", NULL);
  PetscCall(PetscOptionsInt("-n", "Points along each direction", NULL, o->n, &o->n, &has_n));
  PetscCall(
    PetscOptionsRangeInt("-derivative", "First or second", NULL, o->derivative, &o->derivative, NULL, 1, 2));
  PetscCall(PetscOptionsIntArray("-orders", "4, 6, 8 or 10", NULL, o->orders, &o->count, &listed));
  PetscCall(PetscOptionsBool("-peers", "Also by LAPACK or cuSPARSE", NULL, o->peers, &o->peers, NULL));
  PetscCall(PetscOptionsBoundedInt("-repeat", "Samples", NULL, o->repeat, &o->repeat, NULL, 1));
  PetscCall(PetscOptionsBool("-view", "View the matrices", NULL, o->view, &o->view, NULL));
  PetscCall(PetscOptionsString("-json", "File for the rows", NULL, o->json, o->json, sizeof(o->json), NULL));
  PetscOptionsEnd();
  PetscCheck(!has_n || o->n >= 12, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT ": must be 12 at least", o->n);
  if (!listed) o->count = 2;
  for (PetscInt k = 0; k < o->count; k++)
    PetscCheck(o->orders[k] % 2 == 0 && o->orders[k] >= 4 && o->orders[k] <= 10, PETSC_COMM_WORLD,
               PETSC_ERR_ARG_OUTOFRANGE, "-orders %" PetscInt_FMT ": must be 4, 6, 8 or 10", o->orders[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateCube(const Options &o, Cube *cube)
{
  VecType type;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &cube->ranks));
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &cube->da));
  PetscCall(DMSetDimension(cube->da, 3));
  PetscCall(DMDASetSizes(cube->da, 16, 16, 16)); // until -dm_vec_type is known
  PetscCall(DMDASetDof(cube->da, 1));
  PetscCall(DMDASetStencilWidth(cube->da, 1));
  if (!std::is_same<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>::value) {
#if defined(PETSC_HAVE_CUDA)
    PetscCall(DMSetVecType(cube->da, VECCUDA));
#elif defined(PETSC_HAVE_KOKKOS_KERNELS)
    PetscCall(DMSetVecType(cube->da, VECKOKKOS));
#endif
  }
  PetscCall(DMSetFromOptions(cube->da));
  PetscCall(DMGetVecType(cube->da, &type));
  const std::string name = type ? type : VECSTANDARD;
  cube->on_device =
    static_cast<PetscBool>(name.find("cuda") != name.npos || name.find("kokkos") != name.npos);
  cube->n = o.n ? o.n : cube->on_device ? 512 : 128;
  PetscCall(DMDASetSizes(cube->da, cube->n, cube->n, cube->n));
  PetscCall(DMSetUp(cube->da));
  PetscCall(DMCreateGlobalVector(cube->da, &cube->u));
  PetscCall(VecDuplicate(cube->u, &cube->y));
  PetscCall(VecDuplicate(cube->u, &cube->z));
  PetscCall(VecDuplicate(cube->u, &cube->copy));
  PetscCall(VecSetRandom(cube->u, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Seconds of an application of work(), after one that is not timed.
static PetscErrorCode Sample(const std::function<PetscErrorCode()> &work,
                             std::vector<PetscLogDouble>           *samples)
{
  const int      inner = 3;
  PetscLogDouble begin = 0, end;

  PetscFunctionBeginUser;
  for (int k = -1; k < inner; k++) {
    if (k == 0) PetscCall(Now(PETSC_COMM_WORLD, &begin));
    PetscCall(work());
  }
  PetscCall(Now(PETSC_COMM_WORLD, &end));
  samples->push_back((end - begin) / inner);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Medians of work() and of VecCopy(), in turns: other programs on the machine slow down both.
static PetscErrorCode Time(const Cube &cube, PetscInt repeat, const std::function<PetscErrorCode()> &work,
                           Seconds *seconds)
{
  std::vector<PetscLogDouble> works, copies;

  PetscFunctionBeginUser;
  for (PetscInt r = 0; r < repeat; r++) {
    PetscCall(Sample([&] { return VecCopy(cube.u, cube.copy); }, &copies));
    PetscCall(Sample(work, &works));
  }
  for (auto *samples : {&works, &copies}) std::sort(samples->begin(), samples->end());
  seconds->work = works[works.size() / 2];
  seconds->copy = copies[copies.size() / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Prints a row and appends it to the table. The derivative reads a vector and writes one, as a copy does.
static PetscErrorCode Report(const Cube &cube, const Scheme &scheme, int direction, const char *way,
                             const Seconds &seconds, double difference, nlohmann::json *table)
{
  const double bytes   = 2 * sizeof(PetscScalar) * cube.points();
  const double percent = 100 * seconds.copy / seconds.work;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%5" PetscInt_FMT " %-9s %-28s %10.4f %10.1f %10.1f %8.1f %11.1e\n",
                        scheme.order, MatCompactDirections[direction], way, 1e3 * seconds.work,
                        bytes / seconds.work / 1e9, bytes / seconds.copy / 1e9, percent, difference));
  table->push_back({{"n", cube.n},
                    {"ranks", cube.ranks},
                    {"device", cube.on_device == PETSC_TRUE},
                    {"derivative", scheme.derivative},
                    {"order", scheme.order},
                    {"direction", MatCompactDirections[direction]},
                    {"way", way},
                    {"ms", 1e3 * seconds.work},
                    {"bytes_per_s", bytes / seconds.work},
                    {"percent_of_copy", percent},
                    {"copy_ms", 1e3 * seconds.copy},
                    {"difference", difference}});
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The derivative by the other library, next to cube.y.
static PetscErrorCode MeasurePeer(const Options &o, const Cube &cube, const Scheme &scheme, int direction,
                                  Peer *peer, nlohmann::json *table)
{
  PetscReal apart, size;
  Seconds   seconds;

  PetscFunctionBeginUser;
  const auto apply = [&]() -> PetscErrorCode {
    const PetscScalar *u;
    PetscScalar       *z;
    PetscFunctionBeginUser;
    PetscCall(VecGetArrayReadAndMemType(cube.u, &u, NULL));
    PetscCall(VecGetArrayWriteAndMemType(cube.z, &z, NULL));
    PetscCallCXX(peer->apply(direction, u, z));
    PetscCall(VecRestoreArrayWriteAndMemType(cube.z, &z));
    PetscCall(VecRestoreArrayReadAndMemType(cube.u, &u));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(Time(cube, o.repeat, apply, &seconds));
  PetscCall(VecNorm(cube.y, NORM_INFINITY, &size));
  PetscCall(VecAXPY(cube.z, -1, cube.y));
  PetscCall(VecNorm(cube.z, NORM_INFINITY, &apart));
  PetscCall(Report(cube, scheme, direction, peer->name(), seconds, static_cast<double>(apart / size), table));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(const Options &o, const Cube &cube, const Scheme &scheme, nlohmann::json *table)
{
  std::unique_ptr<Peer> peer;
  Seconds               seconds;
  Mat                   D;

  PetscFunctionBeginUser;
  if (o.peers && cube.ranks == 1 && scheme.derivative == 1 && scheme.beta == 0) {
    const TridiagonalRows rows = OpenRows(scheme, cube.n, cube.spacing());
    PetscCallCXX(peer = cube.on_device ? MakeCusparse(rows) : MakeLapack(rows));
  }
  for (int direction = 0; direction < 3; direction++) {
    PetscCall(CreateOperator(&scheme, cube.da, 4, &D));
    PetscCall(MatCompactSetDirection(D, static_cast<MatCompactDirection>(direction)));
    PetscCall(MatCompactSetSpacing(D, cube.spacing()));
    PetscCall(Time(
      cube, o.repeat, [&] { return MatMult(D, cube.u, cube.y); }, &seconds));
    PetscCall(Report(cube, scheme, direction, "Mat compact", seconds, 0, table));
    if (o.view) PetscCall(MatView(D, PETSC_VIEWER_STDOUT_WORLD));
    if (peer) PetscCall(MeasurePeer(o, cube, scheme, direction, peer.get(), table));
    PetscCall(MatDestroy(&D));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Kokkos::ScopeGuard kokkos(argc, argv); // outlives PETSc
  Options            o;
  Cube               cube;
  PetscMPIInt        rank;
  nlohmann::json     table = nlohmann::json::array();

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(RibbonInitialize());
  PetscCall(ReadOptions(&o));
  PetscCall(CreateCube(o, &cube));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "Derivative %" PetscInt_FMT " of %" PetscInt_FMT "^3 points %s, %d rank%s\n"
                        "%5s %-9s %-28s %10s %10s %10s %8s %11s\n",
                        o.derivative, cube.n, cube.on_device ? "on the device" : "on the host",
                        (int)cube.ranks, cube.ranks > 1 ? "s" : "", "order", "direction", "by", "ms", "GB/s",
                        "copy GB/s", "% copy", "difference"));
  for (PetscInt k = 0; k < o.count; k++)
    PetscCall(
      Measure(o, cube, schemes[(o.derivative == 1 ? FIRST_4 : SECOND_4) + (o.orders[k] - 4) / 2], &table));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (o.json[0] && rank == 0) {
    std::ofstream file(o.json);
    file << table.dump(1) << std::endl;
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "-json %s: cannot be written", o.json);
  }
  PetscCall(VecDestroy(&cube.u));
  PetscCall(VecDestroy(&cube.y));
  PetscCall(VecDestroy(&cube.z));
  PetscCall(VecDestroy(&cube.copy));
  PetscCall(DMDestroy(&cube.da));
  PetscCall(PetscFinalize());
  return 0;
}
