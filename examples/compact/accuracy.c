/* SPDX-License-Identifier: BSD-2-Clause */
#include "compact.h"

/* Where the results of a scheme are, in points from i. */
static double Shift(const Scheme *s)
{
  return s->staggered == MAT_COMPACT_STAGGERED_FORWARD ? 0.5 : 0;
}
static double ShiftOfValues(const Scheme *s)
{
  return s->staggered == MAT_COMPACT_STAGGERED_BACKWARD ? 0.5 : 0;
}

/* 2 pi m i / n, less whole turns, whose rounding would exceed that of the scheme. */
static double Phase(PetscInt m, double i, PetscInt n)
{
  return 2 * PETSC_PI * fmod((double)m * i, (double)n) / (double)n;
}

/* Line m holds the mode m: cos(m x) and sin(m x). */
static PetscErrorCode SetModes(DM da, PetscInt n, double shift, Vec u)
{
  PetscInt       i, m, x, y, nx, ny;
  PetscScalar ***a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &x, &y, NULL, &nx, &ny, NULL));
  PetscCall(DMDAVecGetArrayDOFWrite(da, u, &a));
  for (m = y; m < y + ny; m++)
    for (i = x; i < x + nx; i++) {
      const double phase = Phase(m, (double)i + shift, n);
      a[m][i][0]         = cos(phase);
      a[m][i][1]         = sin(phase);
    }
  PetscCall(DMDAVecRestoreArrayDOFWrite(da, u, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The symbol of each mode from y = D u, and the largest difference of y from theory at any point. */
static PetscErrorCode ReadModes(const Scheme *s, DM da, PetscInt n, Vec y, double *symbol, double *off)
{
  PetscInt       i, m, x0, y0, nx, ny;
  PetscScalar ***a;
  const double   h = 2 * PETSC_PI / (double)n, scale = s->derivative == 2 ? h * h : s->derivative ? h : 1;

  PetscFunctionBeginUser;
  *off = 0;
  for (m = 0; m <= n / 2; m++) symbol[m] = 0;
  PetscCall(DMDAGetCorners(da, &x0, &y0, NULL, &nx, &ny, NULL));
  PetscCall(DMDAVecGetArrayDOFRead(da, y, &a));
  for (m = y0; m < y0 + ny; m++)
    for (i = x0; i < x0 + nx; i++) {
      /* D turns cos(w x) and sin(w x) into the symbol times (p, q) */
      const double phase = Phase(m, (double)i + Shift(s), n);
      const double p     = s->derivative == 0 ? cos(phase) : s->derivative == 1 ? -sin(phase) : -cos(phase);
      const double q     = s->derivative == 0 ? sin(phase) : s->derivative == 1 ? cos(phase) : -sin(phase);
      const double c     = scale * (double)PetscRealPart(a[m][i][0]);
      const double d     = scale * (double)PetscRealPart(a[m][i][1]);
      const double exact = Symbol(s, 2 * PETSC_PI * (double)m / (double)n);
      symbol[m] += (c * p + d * q) / (double)n;
      *off = PetscMax(*off, PetscMax(fabs(c - exact * p), fabs(d - exact * q)));
    }
  PetscCall(DMDAVecRestoreArrayDOFRead(da, y, &a));
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, symbol, (PetscMPIInt)(n / 2 + 1), MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, off, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of [0, pi] in which the relative error of a derivative is at most the tolerance. */
static double Resolved(const Scheme *s, PetscInt n, const double *symbol, double tolerance)
{
  PetscInt m;

  for (m = 1; m <= n / 2; m++) {
    const double w = 2 * PETSC_PI * (double)m / (double)n, exact = s->derivative == 2 ? w * w : w;
    if (fabs(symbol[m] / exact - 1) > tolerance) break;
  }
  return 2 * (double)(m - 1) / (double)n;
}

static PetscErrorCode WavenumbersOf(const Scheme *s, PetscInt n, DM da, double *symbol, FILE *file)
{
  Mat      D;
  Vec      u, y;
  double   off;
  PetscInt m;

  PetscFunctionBeginUser;
  PetscCall(CreateOperator(s, da, 4, &D));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecDuplicate(u, &y));
  PetscCall(SetModes(da, n, ShiftOfValues(s), u));
  PetscCall(MatMult(D, u, y));
  PetscCall(ReadModes(s, da, n, y, symbol, &off));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-26s %5" PetscInt_FMT " %12.1e", s->name, s->order, off));
  if (s->derivative)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %9.0f %% %9.0f %%", 100 * Resolved(s, n, symbol, 0.01),
                          100 * Resolved(s, n, symbol, 0.001)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  for (m = 0; file && m <= n / 2; m++)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file,
                           "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%.17g,%.17g,%.17g,%.3e\n", s->name,
                           s->derivative, s->order, 2 * PETSC_PI * (double)m / (double)n, symbol[m],
                           Symbol(s, 2 * PETSC_PI * (double)m / (double)n), off));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Wavenumbers(PetscInt n, const char *prefix)
{
  DM       da;
  FILE    *file;
  double  *symbol;
  PetscInt s;

  PetscFunctionBeginUser;
  PetscCall(CreateLines(PETSC_TRUE, n, n / 2 + 1, 2, &da));
  PetscCall(PetscMalloc1(n / 2 + 1, &symbol));
  PetscCall(OpenTable(prefix, "wavenumbers", "scheme,derivative,order,w,measured,theory,difference", &file));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "Modified wavenumbers and transfer functions of %" PetscInt_FMT
                        " modes next to theory,\nand the part of [0, pi] with an error of at most 1%% and "
                        "0.1%%\n%-26s %5s %12s %11s %11s\n",
                        n / 2 + 1, "scheme", "order", "difference", "1%", "0.1%"));
  for (s = CENTRAL; s < SCHEMES; s++) PetscCall(WavenumbersOf(&schemes[s], n, da, symbol, file));
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscCall(PetscFree(symbol));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* exp(sin x) and its derivatives. */
static double Wave(PetscInt derivative, double x)
{
  const double s = sin(x), c = cos(x);
  return exp(s) * (derivative == 0 ? 1 : derivative == 1 ? c : c * c - s);
}

/* Largest error of a scheme on n points. */
static PetscErrorCode Error(const Scheme *s, PetscInt ends, PetscInt n, double *error)
{
  const PetscBool periodic = (PetscBool)(ends == 0);
  const double    h        = 2 * PETSC_PI / (double)(periodic ? n : n - 1);
  const double    from     = periodic ? 0 : 3.3; /* there, derivatives of order 4 to 7 are of one size */
  DM              da;
  Mat             D;
  Vec             u, y;
  PetscScalar    *a;
  PetscInt        begin, count, i;

  PetscFunctionBeginUser;
  PetscCall(CreateLines(periodic, n, 1, 1, &da));
  PetscCall(CreateOperator(s, da, periodic ? 4 : ends, &D));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(VecDuplicate(u, &y));
  PetscCall(DMDAGetCorners(da, &begin, NULL, NULL, &count, NULL, NULL));
  PetscCall(VecGetArrayWrite(u, &a));
  for (i = 0; i < count; i++) a[i] = Wave(0, from + h * ((double)(begin + i) + ShiftOfValues(s)));
  PetscCall(VecRestoreArrayWrite(u, &a));
  PetscCall(MatMult(D, u, y));
  PetscCall(VecGetArray(y, &a));
  *error = 0;
  for (i = 0; i < count; i++) {
    const double exact = Wave(s->derivative, from + h * ((double)(begin + i) + Shift(s)));
    *error             = PetscMax(*error, fabs((double)PetscRealPart(a[i]) - exact));
  }
  PetscCall(VecRestoreArray(y, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, error, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&D));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Error because the values of the function are rounded: the operator multiplies the rounding by at most its
   largest modified wavenumber. */
static double RoundingFloor(const Scheme *s, PetscInt n)
{
  const double h    = 2 * PETSC_PI / (double)n;
  double       most = 0;
  PetscInt     k;

  for (k = 0; k <= 100; k++) most = PetscMax(most, fabs(Symbol(s, PETSC_PI * (double)k / 100)));
  return PETSC_MACHINE_EPSILON * exp(1.) * most / (s->derivative == 2 ? h * h : s->derivative ? h : 1);
}

/* A row: observed orders between grids, as long as the error is well above rounding. */
static PetscErrorCode OrdersOf(const Scheme *s, PetscInt ends, PetscInt count, const PetscInt n[], FILE *file)
{
  const char *const lines = ends == 0 ? "periodic" : ends == 3 ? "ends 3" : "ends 4";
  double            last  = 0, error;
  PetscInt          k;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-26s %5" PetscInt_FMT " %-9s", s->name, s->order, lines));
  for (k = 0; k < count; k++) {
    const double floor    = RoundingFloor(s, n[k]);
    double       observed = 0;
    PetscCall(Error(s, ends, n[k], &error));
    if (k > 0 && error > 20 * floor) observed = log(last / error) / log((double)n[k] / (double)n[k - 1]);
    if (k > 0 && observed) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %7.2f", observed));
    if (k > 0 && !observed) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %7s", "-"));
    if (file)
      PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file,
                             "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%s,%" PetscInt_FMT ",%.6e,%.6g,%.3e\n",
                             s->name, s->derivative, s->order, lines, n[k], error, observed, floor));
    last = error;
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %12.1e %12.1e\n", error, RoundingFloor(s, n[count - 1])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Orders(PetscInt count, const PetscInt n[], const char *prefix)
{
  FILE    *file;
  PetscInt s, ends, k;

  PetscFunctionBeginUser;
  PetscCall(OpenTable(prefix, "orders", "scheme,derivative,order,lines,n,error,observed,floor", &file));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "Observed orders for exp(sin x) between grids of n points (-: the error is near the "
                        "rounding floor),\nand the last error\n%-26s %5s %9s",
                        "scheme", "order", "n:"));
  for (k = 1; k < count; k++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %7" PetscInt_FMT, n[k]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %12s %12s\n", "error", "floor"));
  for (s = CENTRAL; s < SCHEMES; s++) PetscCall(OrdersOf(&schemes[s], 0, count, n, file));
  for (ends = 3; ends <= 4; ends++)
    for (s = FIRST_4; s <= SECOND_10; s++) PetscCall(OrdersOf(&schemes[s], ends, count, n, file));
  if (file) PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}
