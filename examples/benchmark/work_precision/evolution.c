/* SPDX-License-Identifier: BSD-2-Clause */
static char help[] =
  "Evolution equations on the unit interval, square and cube, for comparisons of time steppers.\n\
A plain PETSc program without code for any plugin. It runs with any TS.\n\
-da_grid_x N -da_grid_y N -da_grid_z N work as in every program with a DMDA. Option:\n\
  -equation NAME   heat, anisotropic, source, mixed, advection, advection3, allen_cahn, gray_scott,\n\
                   oregonator, walls, wall_rows or thermostat\n\n";

/* u_t = diffusivity laplace u - velocity grad u + cross u_xy + reaction(u), by central differences. The
   whole right-hand side is in the IFunction. */

#include <petscdmda.h>
#include <petscts.h>

enum { most_components = 3, most_entries = 11 };

/* The ends of the domain: none, u = wall(t, x) with points at the ends (rows of algebraic equations) or
   without them, and zero derivatives. */
typedef enum { PERIODIC, WALL_ROWS, WALLS, INSULATED } Ends;

typedef struct Equation Equation;
struct Equation {
  const char *name;
  PetscInt    dimensions, components, grid;
  Ends        ends;
  PetscReal   time, diffusivity[3], scale[most_components]; /* along an axis, of a component */
  PetscReal   cross;
  void (*velocity)(const PetscReal x[], PetscReal v[]);
  void (*react)(const PetscScalar u[], PetscScalar f[], PetscScalar J[][most_components]);
  PetscScalar (*wall)(PetscReal t, const PetscReal x[]);
  void (*start)(const PetscReal x[], PetscScalar u[]);
  PetscReal heater; /* power of a source that events switch */
};

typedef struct {
  const Equation *equation;
  PetscBool       heats;
} Problem;

/* A row of the discrete operator: the offsets of some points, and their coefficients. */
typedef struct {
  PetscInt  n, offset[most_entries][3];
  PetscReal value[most_entries];
} Stencil;

static PetscReal Sine(PetscReal x)
{
  return PetscSinReal(2 * PETSC_PI * x);
}
static PetscReal Bump(PetscReal x, PetscReal center, PetscReal width)
{
  return PetscExpReal(-PetscSqr((x - center) / width));
}

/* initial values */
static void StartOfHeat(const PetscReal x[], PetscScalar u[])
{
  u[0] = 16 * x[0] * (1 - x[0]) * x[1] * (1 - x[1]) * PetscSinReal(PETSC_PI * x[2]) * (1 + x[0]);
}
static void StartOfWaves(const PetscReal x[], PetscScalar u[])
{
  u[0] = Bump(x[0], 0.5, 0.2) * PetscSqr(PetscCosReal(PETSC_PI * x[1])) + 0.2 * x[0];
}
static void StartOfHill(const PetscReal x[], PetscScalar u[])
{
  u[0] = Bump(x[0], 0.65, 0.12) * Bump(x[1], 0.5, 0.12);
}
static void StartOfSines(const PetscReal x[], PetscScalar u[])
{
  u[0] = (1 + Sine(x[0])) * (1 + Sine(x[1])) * (1 + Sine(x[2])) / 8;
}
static void StartOfPhases(const PetscReal x[], PetscScalar u[])
{
  u[0] = 0.5 * PetscCosReal(3 * PETSC_PI * x[0]) * PetscCosReal(2 * PETSC_PI * x[1]) + 0.1;
}
static void StartOfPattern(const PetscReal x[], PetscScalar u[])
{
  const PetscReal bump = Bump(x[0], 0.5, 0.15) * Bump(x[1], 0.5, 0.2) * Bump(x[2], 0.5, 0.25);
  u[0] = 1 - 0.5 * bump, u[1] = 0.25 * bump;
}
static void StartOfWave(const PetscReal x[], PetscScalar u[])
{
  u[0] = 0.3 + 0.25 * Sine(x[0]), u[1] = 0.15 + 0.1 * Sine(x[1]), u[2] = 0.1;
}
static void StartAtZero(const PetscReal x[], PetscScalar u[])
{
  (void)x;
  u[0] = 0;
}

/* velocities */
static void Rotation(const PetscReal x[], PetscReal v[])
{
  v[0] = -2 * PETSC_PI * (x[1] - 0.5), v[1] = 2 * PETSC_PI * (x[0] - 0.5), v[2] = 0;
}
static void Wind(const PetscReal x[], PetscReal v[])
{
  (void)x;
  v[0] = 1, v[1] = 0.7, v[2] = 0.4;
}

/* reactions */
static void Source(const PetscScalar u[], PetscScalar f[], PetscScalar J[][most_components])
{
  f[0] = 10 * PetscExpScalar(-u[0]), J[0][0] = -f[0];
}
static void AllenCahn(const PetscScalar u[], PetscScalar f[], PetscScalar J[][most_components])
{
  f[0] = 20 * (u[0] - u[0] * u[0] * u[0]), J[0][0] = 20 * (1 - 3. * u[0] * u[0]);
}
static void GrayScott(const PetscScalar u[], PetscScalar f[], PetscScalar J[][most_components])
{
  const PetscReal   feed = 0.024, kill = 0.06;
  const PetscScalar q = u[0] * u[1] * u[1];
  f[0] = feed * (1. - u[0]) - q, f[1] = q - (feed + kill) * u[1];
  J[0][0] = -feed - u[1] * u[1], J[0][1] = -2. * u[0] * u[1];
  J[1][0] = u[1] * u[1], J[1][1] = 2. * u[0] * u[1] - (feed + kill);
}
/* Scaled as by J. J. Tyson and P. C. Fife, The Journal of Chemical Physics 73 (1980). */
static void Oregonator(const PetscScalar u[], PetscScalar f[], PetscScalar J[][most_components])
{
  const PetscReal a = 1 / 0.05, b = 1 / 0.005, q = 0.002, s = 1.4;
  f[0]    = a * (q * u[1] - u[0] * u[1] + u[0] - u[0] * u[0]);
  f[1]    = b * (s * u[2] - q * u[1] - u[0] * u[1]);
  f[2]    = u[0] - u[2];
  J[0][0] = a * (1. - u[1] - 2. * u[0]), J[0][1] = a * (q - u[0]), J[0][2] = 0;
  J[1][0] = -b * u[1], J[1][1] = -b * (q + u[0]), J[1][2] = b * s;
  J[2][0] = 1, J[2][1] = 0, J[2][2] = -1;
}

/* boundary values */
static PetscScalar Zero(PetscReal t, const PetscReal x[])
{
  (void)t, (void)x;
  return 0;
}
static PetscScalar Swing(PetscReal t, const PetscReal x[])
{
  return PetscSinReal(5 * t) * (1 + x[0] * x[0] + 2 * x[1] * x[0]);
}

static const Equation equations[] = {
  {"heat", 3, 1, 13, WALLS, 0.1, {1, 1, 1}, {1}, 0, NULL, NULL, Zero, StartOfHeat, 0},
  {"anisotropic", 2, 1, 33, INSULATED, 0.1, {10, 0.1}, {1}, 0, NULL, NULL, NULL, StartOfWaves, 0},
  {"source", 3, 1, 13, WALLS, 0.2, {1, 1, 1}, {1}, 0, NULL, Source, Zero, StartOfHeat, 0},
  {"mixed", 2, 1, 33, WALLS, 0.1, {1, 1}, {1}, 1.4, NULL, NULL, Zero, StartOfHill, 0},
  {"advection", 2, 1, 41, WALLS, 0.25, {1e-3, 1e-3}, {1}, 0, Rotation, NULL, Zero, StartOfHill, 0},
  {"advection3", 3, 1, 16, PERIODIC, 1, {1e-3, 1e-3, 1e-3}, {1}, 0, Wind, NULL, NULL, StartOfSines, 0},
  {"allen_cahn", 2, 1, 33, INSULATED, 0.5, {0.1, 0.1}, {1}, 0, NULL, AllenCahn, NULL, StartOfPhases, 0},
  {"gray_scott",
   3,
   2,
   12,
   PERIODIC,
   100,
   {1e-4, 1e-4, 1e-4},
   {2, 1},
   0,
   NULL,
   GrayScott,
   NULL,
   StartOfPattern,
   0},
  {"oregonator", 2, 3, 24, PERIODIC, 2, {5e-3, 5e-3}, {1, 1, 0.6}, 0, NULL, Oregonator, NULL, StartOfWave, 0},
  {"walls", 2, 1, 33, WALLS, 1, {0.2, 0.2}, {1}, 0, NULL, NULL, Swing, StartAtZero, 0},
  {"wall_rows", 2, 1, 33, WALL_ROWS, 1, {0.2, 0.2}, {1}, 0, NULL, NULL, Swing, StartAtZero, 0},
  {"thermostat", 2, 1, 33, WALLS, 0.5, {1, 1}, {1}, 0, NULL, NULL, Zero, StartAtZero, 30},
};

/* Coordinates of a point of the grid, or of one beyond the ends. */
static PetscReal Coordinate(Ends ends, PetscInt i, PetscInt n)
{
  switch (ends) {
  case PERIODIC:
    return (PetscReal)i / (PetscReal)n;
  case WALL_ROWS:
    return (PetscReal)i / (PetscReal)(n - 1);
  case WALLS:
    return (PetscReal)(i + 1) / (PetscReal)(n + 1);
  default:
    return ((PetscReal)i + 0.5) / (PetscReal)n;
  }
}

static void Coordinates(const Equation *e, const PetscInt size[], const PetscInt i[], PetscReal x[])
{
  for (int d = 0; d < 3; ++d) x[d] = d < e->dimensions ? Coordinate(e->ends, i[d], size[d]) : 0.5;
}

static PetscBool IsOutside(const Equation *e, const PetscInt size[], const PetscInt i[])
{
  for (int d = 0; d < e->dimensions; ++d)
    if (e->ends != PERIODIC && (i[d] < 0 || i[d] >= size[d])) return PETSC_TRUE;
  return PETSC_FALSE;
}

static PetscBool IsWall(const Equation *e, const PetscInt size[], const PetscInt i[])
{
  for (int d = 0; d < e->dimensions; ++d)
    if (e->ends == WALL_ROWS && (i[d] == 0 || i[d] == size[d] - 1)) return PETSC_TRUE;
  return PETSC_FALSE;
}

static void AddEntry(Stencil *s, PetscInt x, PetscInt y, PetscInt z, PetscReal value)
{
  s->offset[s->n][0] = x, s->offset[s->n][1] = y, s->offset[s->n][2] = z;
  s->value[s->n++] = value;
}

/* Diffusion, advection and mixed derivative at a point, for component c. */
static Stencil StencilOf(const Equation *e, const PetscInt size[], const PetscInt i[], PetscInt c)
{
  Stencil   s = {0, {{0}}, {0}};
  PetscReal x[3], v[3] = {0, 0, 0}, h[3] = {1, 1, 1}, own = 0;
  Coordinates(e, size, i, x);
  if (e->velocity) e->velocity(x, v);
  for (int d = 0; d < e->dimensions; ++d) {
    h[d]                   = Coordinate(e->ends, 1, size[d]) - Coordinate(e->ends, 0, size[d]);
    const PetscReal second = e->scale[c] * e->diffusivity[d] / PetscSqr(h[d]), first = v[d] / (2 * h[d]);
    AddEntry(&s, -(d == 0), -(d == 1), -(d == 2), second + first);
    AddEntry(&s, d == 0, d == 1, d == 2, second - first);
    own -= 2 * second;
  }
  AddEntry(&s, 0, 0, 0, own);
  if (e->cross != 0)
    for (int a = -1; a <= 1; a += 2)
      for (int b = -1; b <= 1; b += 2) AddEntry(&s, a, b, 0, a * b * e->cross / (4 * h[0] * h[1]));
  return s;
}

/* The points of a rank, and the place of their values in an array. */
typedef struct {
  PetscInt size[3], begin[3], count[3], first[3], stride[3];
} Points;

static PetscErrorCode GetPoints(DM da, const Equation *e, PetscBool ghosted, Points *p)
{
  PetscInt extent[3];
  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &p->size[0], &p->size[1], &p->size[2], NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL, NULL, NULL));
  PetscCall(
    DMDAGetCorners(da, &p->begin[0], &p->begin[1], &p->begin[2], &p->count[0], &p->count[1], &p->count[2]));
  if (ghosted)
    PetscCall(
      DMDAGetGhostCorners(da, &p->first[0], &p->first[1], &p->first[2], &extent[0], &extent[1], &extent[2]));
  else
    for (int d = 0; d < 3; ++d) p->first[d] = p->begin[d], extent[d] = p->count[d];
  p->stride[0] = e->components;
  for (int d = 1; d < 3; ++d) p->stride[d] = p->stride[d - 1] * extent[d - 1];
  PetscFunctionReturn(0);
}

static PetscInt NumberOfPoints(const Points *p)
{
  return p->count[0] * p->count[1] * p->count[2];
}
/* Indices of the k-th point of this rank. */
static void Point(const Points *p, PetscInt k, PetscInt i[])
{
  i[0] = p->begin[0] + k % p->count[0];
  i[1] = p->begin[1] + k / p->count[0] % p->count[1];
  i[2] = p->begin[2] + k / (p->count[0] * p->count[1]);
}
static PetscInt Place(const Points *p, const PetscInt i[])
{
  PetscInt place = 0;
  for (int d = 0; d < 3; ++d) place += (i[d] - p->first[d]) * p->stride[d];
  return place;
}

/* The values u(t) and rate u_t at point i of the grid -> u_t minus the right-hand side. */
static void Evaluate(const Problem *problem, const Points *ghosted, PetscReal t, const PetscInt i[],
                     const PetscScalar u[], const PetscScalar rate[], PetscScalar f[])
{
  const Equation *e                         = problem->equation;
  PetscScalar     reaction[most_components] = {0}, J[most_components][most_components];
  const PetscInt  own                       = Place(ghosted, i);
  PetscReal       x[3];
  Coordinates(e, ghosted->size, i, x);
  if (IsWall(e, ghosted->size, i)) {
    f[0] = u[own] - e->wall(t, x);
    return;
  }
  if (e->react) e->react(u + own, reaction, J);
  if (problem->heats) reaction[0] += e->heater * Bump(x[0], 0.5, 0.2) * Bump(x[1], 0.5, 0.2);
  for (PetscInt c = 0; c < e->components; ++c) {
    const Stencil s = StencilOf(e, ghosted->size, i, c);
    f[c]            = rate[c] - reaction[c];
    for (PetscInt k = 0; k < s.n; ++k) {
      const PetscInt to[3] = {i[0] + s.offset[k][0], i[1] + s.offset[k][1], i[2] + s.offset[k][2]};
      PetscScalar    value = u[own + c];
      if (!IsOutside(e, ghosted->size, to)) value = u[Place(ghosted, to) + c];
      else if (e->ends == WALLS) {
        Coordinates(e, ghosted->size, to, x);
        value = e->wall(t, x);
      }
      f[c] -= s.value[k] * value;
    }
  }
}

static PetscErrorCode IFunction(TS ts, PetscReal t, Vec U, Vec Udot, Vec F, void *ctx)
{
  const Problem     *problem = (const Problem *)ctx;
  Points             points, ghosted;
  Vec                local;
  const PetscScalar *u, *rate;
  PetscScalar       *f;
  DM                 da;
  PetscInt           i[3];
  PetscFunctionBeginUser;
  PetscCall(TSGetDM(ts, &da));
  PetscCall(GetPoints(da, problem->equation, PETSC_FALSE, &points));
  PetscCall(GetPoints(da, problem->equation, PETSC_TRUE, &ghosted));
  PetscCall(DMGetLocalVector(da, &local));
  PetscCall(DMGlobalToLocal(da, U, INSERT_VALUES, local));
  PetscCall(VecGetArrayRead(local, &u));
  PetscCall(VecGetArrayRead(Udot, &rate));
  PetscCall(VecGetArrayWrite(F, &f));
  for (PetscInt k = 0; k < NumberOfPoints(&points); ++k) {
    Point(&points, k, i);
    Evaluate(problem, &ghosted, t, i, u, rate + Place(&points, i), f + Place(&points, i));
  }
  PetscCall(VecRestoreArrayWrite(F, &f));
  PetscCall(VecRestoreArrayRead(Udot, &rate));
  PetscCall(VecRestoreArrayRead(local, &u));
  PetscCall(DMRestoreLocalVector(da, &local));
  PetscFunctionReturn(0);
}

/* The rows of point i of the grid, with values u there. */
static PetscErrorCode SetRows(const Equation *e, const PetscInt size[], const PetscInt i[],
                              const PetscScalar u[], PetscReal shift, Mat P)
{
  PetscScalar f[most_components], J[most_components][most_components] = {{0}};
  MatStencil  row = {.i = i[0], .j = i[1], .k = i[2]}, columns[most_entries + most_components];
  PetscFunctionBeginUser;
  if (e->react) e->react(u, f, J);
  for (PetscInt c = 0; c < e->components; ++c) {
    PetscScalar values[most_entries + most_components];
    PetscInt    n = 0;
    Stencil     s = StencilOf(e, size, i, c);
    row.c         = c;
    for (PetscInt a = 0; a < e->components; ++a, ++n) {
      columns[n] = row, columns[n].c = a;
      values[n] = -J[c][a] + (a == c ? shift : 0);
    }
    if (IsWall(e, size, i)) values[c] = 1, s.n = 0;
    for (PetscInt k = 0; k < s.n; ++k) {
      const PetscInt  to[3]   = {i[0] + s.offset[k][0], i[1] + s.offset[k][1], i[2] + s.offset[k][2]};
      const PetscBool outside = IsOutside(e, size, to);
      if (outside && e->ends == WALLS) continue;
      if (outside || (to[0] == i[0] && to[1] == i[1] && to[2] == i[2])) {
        values[c] -= s.value[k];
        continue;
      }
      columns[n]  = (MatStencil){.i = to[0], .j = to[1], .k = to[2], .c = c};
      values[n++] = -s.value[k];
    }
    PetscCall(MatSetValuesStencil(P, 1, &row, n, columns, values, INSERT_VALUES));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode IJacobian(TS ts, PetscReal t, Vec U, Vec Udot, PetscReal shift, Mat J, Mat P, void *ctx)
{
  const Equation    *e = ((const Problem *)ctx)->equation;
  const PetscScalar *u;
  Points             points;
  DM                 da;
  PetscInt           i[3];
  PetscFunctionBeginUser;
  PetscCall(TSGetDM(ts, &da));
  PetscCall(GetPoints(da, e, PETSC_FALSE, &points));
  PetscCall(VecGetArrayRead(U, &u));
  for (PetscInt k = 0; k < NumberOfPoints(&points); ++k) {
    Point(&points, k, i);
    PetscCall(SetRows(e, points.size, i, u + Place(&points, i), shift, P));
  }
  PetscCall(VecRestoreArrayRead(U, &u));
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  if (J != P) {
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Start(DM da, const Equation *e, Vec U)
{
  PetscScalar *u;
  Points       points;
  PetscInt     i[3];
  PetscReal    x[3];
  PetscFunctionBeginUser;
  PetscCall(GetPoints(da, e, PETSC_FALSE, &points));
  PetscCall(VecGetArrayWrite(U, &u));
  for (PetscInt k = 0; k < NumberOfPoints(&points); ++k) {
    Point(&points, k, i);
    Coordinates(e, points.size, i, x);
    e->start(x, u + Place(&points, i));
  }
  PetscCall(VecRestoreArrayWrite(U, &u));
  PetscFunctionReturn(0);
}

/* The heater goes off when the mean temperature rises to 0.6, and on when it falls to 0.4. */
#if PETSC_VERSION_LT(3, 21, 0)
typedef PetscScalar EventValue;
#else
typedef PetscReal EventValue;
#endif
static PetscErrorCode Temperature(TS ts, PetscReal t, Vec U, EventValue values[], void *ctx)
{
  PetscScalar sum;
  PetscInt    n;
  PetscFunctionBeginUser;
  PetscCall(VecSum(U, &sum));
  PetscCall(VecGetSize(U, &n));
  const PetscReal mean = PetscRealPart(sum) / (PetscReal)n;
  values[0] = mean - 0.6, values[1] = mean - 0.4;
  PetscFunctionReturn(0);
}
static PetscErrorCode Switch(TS ts, PetscInt n, PetscInt events[], PetscReal t, Vec U, PetscBool forward,
                             void *ctx)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < n; ++k) ((Problem *)ctx)->heats = (PetscBool)(events[k] == 1);
  PetscFunctionReturn(0);
}
static PetscErrorCode SetThermostat(TS ts, Problem *problem)
{
  PetscInt  direction[2] = {1, -1};
  PetscBool terminate[2] = {PETSC_FALSE, PETSC_FALSE};
  PetscFunctionBeginUser;
  problem->heats = PETSC_TRUE;
  PetscCall(TSSetEventHandler(ts, 2, direction, terminate, Temperature, Switch, problem));
  PetscCall(TSSetEventTolerances(ts, 1e-10, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateGrid(const Equation *e, DM *da)
{
  const PetscInt       d = e->dimensions, n = e->grid, dof = e->components;
  const DMBoundaryType ends  = e->ends == PERIODIC ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  const PetscBool      cross = (PetscBool)(e->cross != 0);
  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, d));
  PetscCall(DMDASetSizes(*da, n, d > 1 ? n : 1, d > 2 ? n : 1));
  PetscCall(DMDASetBoundaryType(*da, ends, ends, ends));
  PetscCall(DMDASetDof(*da, dof));
  PetscCall(DMDASetStencilType(*da, cross ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*da, 1));
  /* components couple only at their point */
  if (dof > 1) PetscCall(DMSetMatrixPreallocateOnly(*da, PETSC_TRUE));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const int   count = (int)(sizeof equations / sizeof *equations);
  const char *names[sizeof equations / sizeof *equations];
  Problem     problem = {equations, PETSC_FALSE};
  PetscInt    chosen  = 0;
  DM          da;
  TS          ts;
  Vec         U;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (int k = 0; k < count; ++k) names[k] = equations[k].name;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Evolution equation", NULL);
  PetscCall(PetscOptionsEList("-equation", "The equation", NULL, names, count, names[0], &chosen, NULL));
  PetscOptionsEnd();
  problem.equation = &equations[chosen];
  PetscCall(CreateGrid(problem.equation, &da));
  PetscCall(DMCreateGlobalVector(da, &U));
  PetscCall(Start(da, problem.equation, U));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, da));
  PetscCall(TSSetIFunction(ts, NULL, IFunction, &problem));
  PetscCall(TSSetIJacobian(ts, NULL, NULL, IJacobian, &problem));
  if (problem.equation->heater != 0) PetscCall(SetThermostat(ts, &problem));
  PetscCall(TSSetType(ts, TSROSW));
  PetscCall(TSSetTimeStep(ts, problem.equation->time / 1000));
  PetscCall(TSSetMaxTime(ts, problem.equation->time));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, U));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&U));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
