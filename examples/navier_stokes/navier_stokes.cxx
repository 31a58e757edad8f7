// SPDX-License-Identifier: BSD-2-Clause
static char help[] =
  "Vortex of Taylor and Green: incompressible Navier-Stokes equations in a periodic box of side 2 pi.\n\
Compact differences of order 6 by Mat compact, Runge-Kutta methods by TS, the pressure by FFTs.\n\
Options:\n\
  -n n | nx,ny,nz         points in each direction (default 64)\n\
  -viscosity nu           1 / Reynolds number (default 1/1600; 0: none)\n\
  -flow taylor_green | plane   the vortex of the plane has an exact solution, and its error is printed\n\
  -drift u,v,w            a uniform velocity that is added\n\
  -final_time t           (default 20)\n\
  -cfl c                  time step: c times the smaller one of the spacing h and h^2 / (10 nu) (default 0.75)\n\
  -report dt              time between two rows (default 0.25)\n\
  -csv file               also writes the rows to this file\n\
  -dm_vec_type type       cuda or kokkos: on a device, one rank\n\n";

#include "report.hpp"

#include <ribbon_petsc/ribbon.h>

static const char *const Flows[] = {"taylor_green", "plane"};

struct Options {
  Model     model;
  PetscReal end = 20, cfl = static_cast<PetscReal>(0.75), interval = static_cast<PetscReal>(0.25);
  char      csv[PETSC_MAX_PATH_LEN] = "";
};

static PetscErrorCode CheckOptions(const Options &o, PetscInt sizes)
{
  const MPI_Comm comm = PETSC_COMM_WORLD;

  PetscFunctionBeginUser;
  PetscCheck(sizes == 1 || sizes == 3, comm, PETSC_ERR_ARG_SIZ,
             "-n: takes one number or three, not %" PetscInt_FMT, sizes);
  for (const PetscInt n : o.model.n)
    PetscCheck(n >= 5, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-n %" PetscInt_FMT ": a direction takes 5 points at least", n);
  PetscCheck(o.model.viscosity >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-viscosity %g: must not be negative",
             (double)o.model.viscosity);
  PetscCheck(o.end > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-final_time %g: must be positive", (double)o.end);
  PetscCheck(o.cfl > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-cfl %g: must be positive", (double)o.cfl);
  PetscCheck(o.interval > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-report %g: must be positive",
             (double)o.interval);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadOptions(Options *o)
{
  Model    &model = o->model;
  PetscInt  n[4] = {}, sizes = 4, components = 4, flow = 0;
  PetscReal drift[4] = {};
  PetscBool has_n, has_drift;

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Vortex of Taylor and Green", NULL);
  PetscCall(PetscOptionsIntArray("-n", "Points along x, y and z", NULL, n, &sizes, &has_n));
  PetscCall(
    PetscOptionsReal("-viscosity", "1 / Reynolds number", NULL, model.viscosity, &model.viscosity, NULL));
  PetscCall(PetscOptionsEList("-flow", "Initial state", NULL, Flows, 2, Flows[flow], &flow, NULL));
  PetscCall(PetscOptionsRealArray("-drift", "Velocity that is added", NULL, drift, &components, &has_drift));
  PetscCall(PetscOptionsReal("-final_time", "The end", NULL, o->end, &o->end, NULL));
  PetscCall(PetscOptionsReal("-cfl", "Time step relative to the spacing", NULL, o->cfl, &o->cfl, NULL));
  PetscCall(PetscOptionsReal("-report", "Time between two rows", NULL, o->interval, &o->interval, NULL));
  PetscCall(PetscOptionsString("-csv", "File for the rows", NULL, o->csv, o->csv, sizeof(o->csv), NULL));
  PetscOptionsEnd();
  if (!has_n) sizes = 3;
  if (!has_drift) components = 3;
  PetscCheck(components == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ,
             "-drift: takes three numbers, not %" PetscInt_FMT, components);
  for (int d = 0; d < 3 && has_n; ++d) model.n[d] = n[d];
  for (int d = 0; d < 3; ++d) model.drift[d] = drift[d];
  if (sizes == 1) model.n[1] = model.n[2] = model.n[0];
  model.plane = static_cast<PetscBool>(flow == 1);
  PetscCall(CheckOptions(*o, sizes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal TimeStep(const Options &o)
{
  const Model    &m = o.model;
  const PetscReal h = PetscMin(m.spacing(0), PetscMin(m.spacing(1), m.spacing(2)));
  return o.cfl * (m.viscosity > 0 ? PetscMin(h, h * h / (10 * m.viscosity)) : h);
}

static PetscErrorCode RightHandSide(TS, PetscReal, Vec u, Vec f, void *flow)
{
  PetscFunctionBeginUser;
  PetscCall(static_cast<Flow *>(flow)->right_hand_side(u, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Monitor(TS, PetscInt step, PetscReal time, Vec u, void *report)
{
  PetscFunctionBeginUser;
  PetscCall(static_cast<Report *>(report)->monitor(step, time, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateStepper(const Options &o, Flow *flow, Report *report, TS *ts)
{
  TSAdapt adapt;

  PetscFunctionBeginUser;
  PetscCall(TSCreate(PETSC_COMM_WORLD, ts));
  PetscCall(TSSetType(*ts, TSRK));
  PetscCall(TSRKSetType(*ts, TSRK4));
  PetscCall(TSGetAdapt(*ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTNONE));
  PetscCall(TSSetRHSFunction(*ts, NULL, RightHandSide, flow));
  PetscCall(TSSetTimeStep(*ts, TimeStep(o)));
  PetscCall(TSSetMaxTime(*ts, o.end));
  PetscCall(TSSetMaxSteps(*ts, static_cast<PetscInt>(o.end / TimeStep(o)) + 2)); // the default may be fewer
  PetscCall(TSSetExactFinalTime(*ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSMonitorSet(*ts, Monitor, report, NULL));
  PetscCall(TSSetFromOptions(*ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const Options &o)
{
  Flow              flow(o.model, PETSC_COMM_WORLD);
  Report            report(&flow, o.interval, o.end);
  TS                ts;
  Vec               u;
  TSConvergedReason reason;
  PetscReal         time, error;

  PetscFunctionBeginUser;
  PetscCall(flow.create());
  PetscCall(flow.create_state(&u));
  PetscCall(flow.start(u));
  PetscCall(report.create(u));
  PetscCall(CreateStepper(o, &flow, &report, &ts));
  PetscCall(TSSolve(ts, u));
  PetscCall(TSGetConvergedReason(ts, &reason));
  PetscCall(TSGetSolveTime(ts, &time));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "TSSolve() stopped at t = %g: %s",
             (double)time, TSConvergedReasons[reason]);
  PetscCall(report.write(o.csv));
  if (o.model.plane) {
    PetscCall(flow.error(u, time, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "largest error of a velocity: %.4e\n", (double)error));
  }
  PetscCall(report.print_peaks());
  PetscCall(report.print_speed(ts));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&u));
  PetscCall(report.destroy());
  PetscCall(flow.destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Kokkos::ScopeGuard kokkos(argc, argv); // outlives PETSc
  Options            options;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(RibbonInitialize());
  PetscCall(ReadOptions(&options));
  PetscCall(Run(options));
  PetscCall(PetscFinalize());
  return 0;
}
