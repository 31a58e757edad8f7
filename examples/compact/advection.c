/* SPDX-License-Identifier: BSD-2-Clause */
#include "compact.h"

#include <petscts.h>

/* u_t + u_x = 0 on a ring of 2 pi, which has WAVES wavelengths. Component 0 is a sine, component 1 a packet
   of the same wavelength. */
#define WAVES 4

static double Wave(double x)
{
  return sin(WAVES * x);
}
static double Packet(double x)
{
  const double from = remainder(x - PETSC_PI, 2 * PETSC_PI);
  return cos(WAVES * from) * exp(-from * from / 0.36);
}

/* The wave in polar coordinates at the end of each period. */
typedef struct {
  DM       da;
  PetscInt steps;                  /* of a period */
  double   start[2], angle, turns; /* turns: phase error so far, in periods */
  double   amplitude;
} Tracker;

typedef struct {
  double phase, amplitude; /* errors of the wave, in periods and relative */
  double packet;           /* largest error of the packet */
} Errors;

/* Coefficient of exp(i k x) in the wave. */
static PetscErrorCode Project(const Tracker *t, Vec u, double z[2])
{
  PetscInt            begin, count, n, i;
  const PetscScalar **a;

  PetscFunctionBeginUser;
  z[0] = z[1] = 0;
  PetscCall(DMDAGetInfo(t->da, NULL, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(t->da, &begin, NULL, NULL, &count, NULL, NULL));
  PetscCall(DMDAVecGetArrayDOFRead(t->da, u, &a));
  for (i = begin; i < begin + count; i++) {
    const double phase = 2 * PETSC_PI * WAVES * (double)i / (double)n;
    z[0] += (double)PetscRealPart(a[i][0]) * cos(phase) / (double)n;
    z[1] -= (double)PetscRealPart(a[i][0]) * sin(phase) / (double)n;
  }
  PetscCall(DMDAVecRestoreArrayDOFRead(t->da, u, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, z, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whole turns count: a wave that lags by half a period and more would otherwise look early. */
static PetscErrorCode Track(TS ts, PetscInt step, PetscReal time, Vec u, void *context)
{
  Tracker *t = (Tracker *)context;
  double   z[2], angle;

  PetscFunctionBeginUser;
  (void)ts, (void)time;
  if (step % t->steps) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Project(t, u, z));
  angle = atan2(z[1], z[0]);
  if (step == 0) PetscCall(PetscArraycpy(t->start, z, 2));
  else t->turns -= remainder(angle - t->angle, 2 * PETSC_PI) / (2 * PETSC_PI);
  t->angle     = angle;
  t->amplitude = hypot(z[0], z[1]) / hypot(t->start[0], t->start[1]) - 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the exact solution at time t, or returns the largest difference of the packet from it. */
static PetscErrorCode Exact(DM da, double t, Vec u, double *packet)
{
  PetscInt      begin, count, n, i;
  PetscScalar **a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &begin, NULL, NULL, &count, NULL, NULL));
  PetscCall(DMDAVecGetArrayDOF(da, u, &a));
  if (packet) *packet = 0;
  for (i = begin; i < begin + count; i++) {
    const double x = 2 * PETSC_PI * (double)i / (double)n - t;
    if (packet) {
      *packet = PetscMax(*packet, fabs((double)PetscRealPart(a[i][1]) - Packet(x)));
    } else {
      a[i][0] = Wave(x);
      a[i][1] = Packet(x);
    }
  }
  PetscCall(DMDAVecRestoreArrayDOF(da, u, &a));
  if (packet) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, packet, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the packet at time t and in theory. Collective. */
static PetscErrorCode WritePacket(const Scheme *s, PetscInt points, double t, Vec u, FILE *file)
{
  VecScatter         scatter;
  Vec                all;
  PetscInt           n, i;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecScatterCreateToZero(u, &scatter, &all)); /* in one dimension, in the order of the points */
  PetscCall(VecScatterBegin(scatter, u, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, u, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(all, &n));
  PetscCall(VecGetArrayRead(all, &a));
  for (i = 0; i < n / 2; i++) {
    const double x = 4 * PETSC_PI * (double)i / (double)n;
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%.6f,%.6e,%.6e\n",
                           s->name, s->order, points, x, (double)PetscRealPart(a[2 * i + 1]), Packet(x - t)));
  }
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Time of the run; the wave has speed 1. */
static double Length(const Advection *a)
{
  return 2 * PETSC_PI / WAVES * (double)a->periods;
}
static PetscInt StepsOf(const Advection *a, PetscInt points)
{
  return a->steps ? a->steps : PetscMax(256, points);
}

/* Errors of the wave in theory. A step of the classical Runge-Kutta method multiplies it by 1 - i z - z^2 / 2
   + i z^3 / 6 + z^4 / 24 with z = w' dt / h and the modified wavenumber w' of the scheme. */
static void Predict(const Scheme *s, const Advection *a, PetscInt points, Errors *errors)
{
  const double w = 2 * PETSC_PI / (double)points, steps = (double)StepsOf(a, points);
  const double z = Symbol(s, w) * (double)points / steps, total = steps * (double)a->periods;
  const double re = 1 - z * z / 2 + z * z * z * z / 24, im = -z + z * z * z / 6;

  errors->phase     = -atan2(im, re) * total / (2 * PETSC_PI) - (double)a->periods;
  errors->amplitude = expm1(total * log(hypot(re, im)));
  errors->packet    = 0;
}

/* state: the solution at the end, or NULL. */
static PetscErrorCode Run(const Scheme *s, const Advection *a, PetscInt points, Errors *errors, Vec *state)
{
  const PetscInt  steps = StepsOf(a, points);
  const PetscReal dt    = 2 * PETSC_PI / WAVES / (PetscReal)steps;
  Tracker         t     = {NULL, steps, {0, 0}, 0, 0, 0};
  Mat             D;
  Vec             u;
  TS              ts;
  TSAdapt         adapt;

  PetscFunctionBeginUser;
  PetscCall(CreateLines(PETSC_TRUE, WAVES * points, 1, 2, &t.da));
  PetscCall(CreateOperator(s, t.da, 4, &D));
  PetscCall(MatScale(D, -1));
  PetscCall(DMCreateGlobalVector(t.da, &u));
  PetscCall(Exact(t.da, 0, u, NULL));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(ts, D, D, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetType(ts, TSRK));
  PetscCall(TSRKSetType(ts, TSRK4));
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTNONE));
  PetscCall(TSSetTimeStep(ts, dt));
  PetscCall(TSSetMaxSteps(ts, steps * a->periods));
  PetscCall(TSSetMaxTime(ts, PETSC_MAX_REAL));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSMonitorSet(ts, Track, &t, NULL));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, u));
  errors->phase     = t.turns;
  errors->amplitude = t.amplitude;
  PetscCall(Exact(t.da, Length(a), u, &errors->packet));
  PetscCall(TSDestroy(&ts));
  if (state) *state = u;
  else PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&D));
  PetscCall(DMDestroy(&t.da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The least number of points of a wavelength with this phase error: from theory, and corrected by runs. */
static PetscErrorCode PointsNeeded(const Scheme *s, const Advection *a, PetscInt *points, double *phase)
{
  PetscInt n = 4;
  Errors   at, below;

  PetscFunctionBeginUser;
  do Predict(s, a, n++, &at);
  while (fabs(at.phase) > a->tolerance && n < 100000);
  n--;
  PetscCall(Run(s, a, n, &at, NULL));
  while (fabs(at.phase) > a->tolerance) PetscCall(Run(s, a, ++n, &at, NULL));
  for (; n > 4; n--) {
    PetscCall(Run(s, a, n - 1, &below, NULL));
    if (fabs(below.phase) > a->tolerance) break;
    at = below;
  }
  *points = n;
  *phase  = at.phase;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintPointsNeeded(const Advection *a, const char *prefix)
{
  FILE    *file;
  PetscInt s, points = 0, central = 0;
  double   phase = 0;

  PetscFunctionBeginUser;
  PetscCall(OpenTable(prefix, "points", "scheme,order,points,phase", &file));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Points of a wavelength for a phase error of %g periods\n",
                        (double)a->tolerance));
  for (s = CENTRAL; s <= FIRST_10; s++) {
    PetscCall(PointsNeeded(&schemes[s], a, &points, &phase));
    if (s == CENTRAL) central = points;
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD,
                  "%-26s %5" PetscInt_FMT " %7" PetscInt_FMT " %13.3e, second order has %.1f times as "
                  "many\n",
                  schemes[s].name, schemes[s].order, points, phase, (double)central / (double)points));
    if (file)
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%.6e\n",
                             schemes[s].name, schemes[s].order, points, phase));
  }
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Advect(const Advection *a, const char *prefix)
{
  FILE    *file, *packets;
  PetscInt s, k;
  Vec      u;
  Errors   found, theory;

  PetscFunctionBeginUser;
  PetscCall(OpenTable(prefix, "advection",
                      "scheme,order,points,phase,phase_theory,amplitude,amplitude_theory,packet", &file));
  PetscCall(OpenTable(prefix, "packets", "scheme,order,points,x,u,exact", &packets));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD,
                "Advection over %" PetscInt_FMT " periods: errors of a wave (phase in periods) and of a "
                "packet\n%-26s %5s %7s %13s %13s %13s %13s %10s\n",
                a->periods, "scheme", "order", "points", "phase", "theory", "amplitude", "theory", "packet"));
  for (k = 0; k < a->count; k++)
    for (s = CENTRAL; s <= FIRST_10; s++) {
      PetscCall(Run(&schemes[s], a, a->points[k], &found, &u));
      if (prefix[0]) PetscCall(WritePacket(&schemes[s], a->points[k], Length(a), u, packets));
      PetscCall(VecDestroy(&u));
      Predict(&schemes[s], a, a->points[k], &theory);
      PetscCall(PetscPrintf(
        PETSC_COMM_WORLD, "%-26s %5" PetscInt_FMT " %7" PetscInt_FMT " %13.4e %13.4e %13.4e %13.4e %10.2e\n",
        schemes[s].name, schemes[s].order, a->points[k], found.phase, theory.phase, found.amplitude,
        theory.amplitude, found.packet));
      if (file)
        PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file,
                               "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%.9e,%.9e,%.9e,%.9e,%.6e\n",
                               schemes[s].name, schemes[s].order, a->points[k], found.phase, theory.phase,
                               found.amplitude, theory.amplitude, found.packet));
    }
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  if (packets) PetscCall(PetscFClose(PETSC_COMM_WORLD, packets));
  if (a->tolerance > 0) PetscCall(PrintPointsNeeded(a, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}
