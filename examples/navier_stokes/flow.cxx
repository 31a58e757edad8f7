// SPDX-License-Identifier: BSD-2-Clause
#include "flow.hpp"

#include "kernels.hpp"

#include <ribbon_petsc/ribbon.h>

using Device = Kokkos::DefaultExecutionSpace;
using Host   = Kokkos::DefaultHostExecutionSpace;

static_assert(std::is_same_v<PetscScalar, PetscReal>, "velocities are real");

/// Arrays of vectors for reading, between get() and restore().
struct ReadFields {
  const Vec                       *v;
  ns::Fields<const PetscScalar, 3> at = {};

  PetscErrorCode get()
  {
    PetscMemType where;
    PetscFunctionBeginUser;
    for (int c = 0; c < 3; c++) PetscCall(VecGetArrayReadAndMemType(v[c], &at.at[c], &where));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode restore()
  {
    PetscFunctionBeginUser;
    for (int c = 0; c < 3; c++) PetscCall(VecRestoreArrayReadAndMemType(v[c], &at.at[c]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// The product -u_c u_d / 2 among the six.
static int Product(int c, int d)
{
  constexpr int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  return place[c][d];
}

PetscErrorCode Flow::create()
{
  PetscMPIInt           ranks;
  PetscInt              planes = 0, points = 0;
  std::vector<PetscInt> all;
  PetscScalar          *array;
  PetscMemType          where;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm_, &ranks));
  PetscCall(GetPlanes(comm_, model_.n, &planes));
  all.resize(static_cast<std::size_t>(ranks));
  PetscCallMPI(MPI_Allgather(&planes, 1, MPIU_INT, all.data(), 1, MPIU_INT, comm_));
  PetscCall(DMDACreate3d(comm_, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC,
                         DMDA_STENCIL_STAR, model_.n[0], model_.n[1], model_.n[2], 1, 1, ranks, 1, 1, NULL,
                         NULL, all.data(), &da_));
  PetscCall(DMSetFromOptions(da_));
  PetscCall(DMSetUp(da_));
  PetscCall(DMCreateGlobalVector(da_, &pressure_));
  PetscCall(VecGetLocalSize(pressure_, &points));
  points_ = points;
  for (Vec &v : flux_) PetscCall(VecDuplicate(pressure_, &v));
  for (Vec &v : gradient_) PetscCall(VecDuplicate(pressure_, &v));
  PetscCall(VecGetArrayAndMemType(pressure_, &array, &where));
  on_device_ = PetscMemTypeDevice(where);
  PetscCall(VecRestoreArrayAndMemType(pressure_, &array));
  PetscCall(create_operators());
  PetscCall(create_poisson(planes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A matrix on the grid, or of one line on MPI_COMM_SELF.
PetscErrorCode Flow::create_operator(MPI_Comm comm, Kind kind, int d, Mat *A) const
{
  static const struct {
    const char         *prefix;
    PetscInt            derivative;
    MatCompactStaggered staggered;
  } table[kinds] = {
    {"first_", 1, MAT_COMPACT_STAGGERED_NONE},         {"second_", 2, MAT_COMPACT_STAGGERED_NONE},
    {"staggered_", 1, MAT_COMPACT_STAGGERED_FORWARD},  {"interpolation_", 0, MAT_COMPACT_STAGGERED_FORWARD},
    {"staggered_", 1, MAT_COMPACT_STAGGERED_BACKWARD}, {"interpolation_", 0, MAT_COMPACT_STAGGERED_BACKWARD}};
  const bool one_line = comm == PETSC_COMM_SELF;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  if (!one_line) PetscCall(MatSetDM(*A, da_));
  PetscCall(MatSetType(*A, MATCOMPACT));
  if (one_line) {
    PetscCall(MatCompactSetGrid(*A, model_.n[d], 1, 1, 1));
    PetscCall(MatCompactSetPeriodic(*A, PETSC_TRUE));
  }
  PetscCall(MatCompactSetDirection(*A, one_line ? MAT_COMPACT_X : static_cast<MatCompactDirection>(d)));
  PetscCall(MatCompactSetDerivative(*A, table[kind].derivative));
  PetscCall(MatCompactSetStaggered(*A, table[kind].staggered));
  PetscCall(MatCompactSetSpacing(*A, model_.spacing(d)));
  PetscCall(MatSetOptionsPrefix(*A, table[kind].prefix));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Flow::create_operators()
{
  PetscFunctionBeginUser;
  for (int kind = 0; kind < kinds; kind++)
    for (int d = 0; d < 3; d++) PetscCall(create_operator(comm_, static_cast<Kind>(kind), d, &op_[kind][d]));
  for (int d = 0; d < 3; d++) PetscCall(MatScale(op_[second][d], model_.viscosity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Squares of the symbol of an operator, from its product with a unit vector. Hence options of the schemes
/// need no formula here.
PetscErrorCode Flow::absolute_symbol(Kind kind, int d, std::vector<PetscReal> *squares) const
{
  const PetscInt     n = model_.n[d];
  const PetscScalar *response;
  PetscReal          largest = 0;
  Mat                A;
  Vec                unit, column;

  PetscFunctionBeginUser;
  PetscCall(create_operator(PETSC_COMM_SELF, kind, d, &A));
  PetscCall(MatCreateVecs(A, &unit, &column));
  PetscCall(VecSet(unit, 0));
  PetscCall(VecSetValue(unit, 0, 1, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(unit));
  PetscCall(VecAssemblyEnd(unit));
  PetscCall(MatMult(A, unit, column));
  PetscCall(VecGetArrayRead(column, &response));
  squares->clear();
  for (PetscInt mode = 0; mode < n; mode++) {
    PetscReal re = 0, im = 0;
    for (PetscInt i = 0; i < n; i++) {
      const PetscReal angle = 2 * PETSC_PI * static_cast<PetscReal>(static_cast<ns::Index>(mode) * i % n) /
                              static_cast<PetscReal>(n);
      re += response[i] * PetscCosReal(angle), im -= response[i] * PetscSinReal(angle);
    }
    squares->push_back(re * re + im * im);
    largest = PetscMax(largest, squares->back());
  }
  // the symbol is zero for these modes, but for rounding
  for (PetscReal &square : *squares)
    if (square < PetscSqr(1000 * PETSC_MACHINE_EPSILON) * largest) square = 0;
  PetscCall(VecRestoreArrayRead(column, &response));
  PetscCall(VecDestroy(&column));
  PetscCall(VecDestroy(&unit));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Flow::create_poisson(PetscInt planes)
{
  Box box;

  PetscFunctionBeginUser;
  box.comm = comm_, box.planes = planes;
  for (int d = 0; d < 3; d++) {
    box.n[d] = model_.n[d];
    PetscCall(absolute_symbol(derivative_at_centres, d, &box.symbol[d].derivative));
    PetscCall(absolute_symbol(values_at_centres, d, &box.symbol[d].interpolation));
  }
  PetscCall(CreatePoisson(box, on_device_, &poisson_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Flow::create_state(Vec *u) const
{
  Vec components[3];

  PetscFunctionBeginUser;
  for (Vec &v : components) PetscCall(VecDuplicate(pressure_, &v));
  PetscCall(VecCreateNest(comm_, 3, NULL, components, u));
  for (Vec &v : components) PetscCall(VecDestroy(&v)); // the nest keeps them
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Flow::start(Vec u)
{
  Vec *components;

  PetscFunctionBeginUser;
  PetscCall(exact(0, u, NULL));
  PetscCall(VecNestGetSubVecs(u, NULL, &components));
  PetscCall(project(components));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// u at the initial time; the vortex of the plane at any time. With `error`: the largest difference from it
/// instead.
PetscErrorCode Flow::exact(PetscReal time, Vec u, PetscReal *error) const
{
  const PetscReal        decay = PetscExpReal(-2 * model_.viscosity * time);
  PetscInt               begin[3], size[3];
  std::vector<PetscReal> sine[3], cosine[3];
  PetscReal              worst = 0;
  Vec                   *components;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da_, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]));
  for (int d = 0; d < 3; d++)
    for (PetscInt i = 0; i < size[d]; i++) {
      const PetscReal x = static_cast<PetscReal>(begin[d] + i) * model_.spacing(d) - model_.drift[d] * time;
      sine[d].push_back(PetscSinReal(x));
      cosine[d].push_back(d == 2 && model_.plane ? 1 : PetscCosReal(x));
    }
  PetscCall(VecNestGetSubVecs(u, NULL, &components));
  for (int c = 0; c < 3; c++) {
    const PetscReal factor = c == 0 ? decay : c == 1 ? -decay : 0;
    const auto     &x = c == 0 ? sine[0] : cosine[0], &y = c == 1 ? sine[1] : cosine[1];
    PetscScalar    *a;
    PetscCall(error ? VecGetArray(components[c], &a) : VecGetArrayWrite(components[c], &a));
    PetscScalar *next = a;
    for (const PetscReal along_z : cosine[2])
      for (const PetscReal along_y : y)
        for (const PetscReal along_x : x) {
          const PetscReal value = model_.drift[c] + factor * along_x * along_y * along_z;
          if (error) worst = PetscMax(worst, PetscAbsReal(*next - value));
          else *next = value;
          next++;
        }
    PetscCall(error ? VecRestoreArray(components[c], &a) : VecRestoreArrayWrite(components[c], &a));
  }
  if (error) PetscCallMPI(MPI_Allreduce(&worst, error, 1, MPIU_REAL, MPIU_MAX, comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Flow::error(Vec u, PetscReal time, PetscReal *error)
{
  PetscFunctionBeginUser;
  PetscCall(exact(time, u, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Exec>
PetscErrorCode Flow::multiply(const Vec *u)
{
  ReadFields                 from{u};
  ns::Fields<PetscScalar, 6> to;
  PetscMemType               where;
  Exec                       exec;

  PetscFunctionBeginUser;
  PetscCall(GetSpace(&exec));
  PetscCall(from.get());
  for (int k = 0; k < 6; k++) PetscCall(VecGetArrayWriteAndMemType(flux_[k], &to.at[k], &where));
  PetscCallCXX(ns::products(exec, points_, from.at, to));
  for (int k = 0; k < 6; k++) PetscCall(VecRestoreArrayWriteAndMemType(flux_[k], &to.at[k]));
  PetscCall(from.restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// f = -(u . gradient_) / 2.
template <class Exec>
PetscErrorCode Flow::advect(const Vec *u, Vec f)
{
  ReadFields   velocity{u}, gradient{gradient_};
  PetscScalar *to;
  PetscMemType where;
  Exec         exec;

  PetscFunctionBeginUser;
  PetscCall(GetSpace(&exec));
  PetscCall(velocity.get());
  PetscCall(gradient.get());
  PetscCall(VecGetArrayWriteAndMemType(f, &to, &where));
  PetscCallCXX(ns::advect(exec, points_, velocity.at, gradient.at, to));
  PetscCall(VecRestoreArrayWriteAndMemType(f, &to));
  PetscCall(gradient.restore());
  PetscCall(velocity.restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Derivatives along the direction of the derivative, values at the centres along the other two. Operators
/// along z are last: there are two of them instead of three, and they send messages.
PetscErrorCode Flow::divergence(const Vec *u, Vec result)
{
  Mat *const D = op_[derivative_at_centres], *const I = op_[values_at_centres];
  Vec *const w = flux_;

  PetscFunctionBeginUser;
  PetscCall(MatMult(D[0], u[0], w[0]));
  PetscCall(MatMult(I[0], u[1], w[1]));
  PetscCall(MatMult(I[0], u[2], w[2]));
  PetscCall(MatMult(I[1], w[0], w[3]));
  PetscCall(MatMultAdd(D[1], w[1], w[3], w[3]));
  PetscCall(MatMult(I[1], w[2], w[4]));
  PetscCall(MatMult(I[2], w[3], result));
  PetscCall(MatMultAdd(D[2], w[4], result, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Adds grad q with div grad q = -div f. grad is minus the transpose of div, so that this is an orthogonal
/// projection.
PetscErrorCode Flow::project(const Vec *f)
{
  Mat *const D = op_[derivative_at_points], *const I = op_[values_at_points];
  Vec *const   w = flux_;
  PetscScalar *array;
  PetscMemType where;

  PetscFunctionBeginUser;
  PetscCall(divergence(f, pressure_));
  PetscCall(VecGetArrayAndMemType(pressure_, &array, &where));
  PetscCall(poisson_->solve(array));
  PetscCall(VecRestoreArrayAndMemType(pressure_, &array));
  PetscCall(MatMult(I[2], pressure_, w[0]));
  PetscCall(MatMult(D[2], pressure_, w[1]));
  PetscCall(MatMult(I[1], w[0], w[2]));
  PetscCall(MatMultAdd(D[0], w[2], f[0], f[0]));
  PetscCall(MatMult(D[1], w[0], w[2]));
  PetscCall(MatMultAdd(I[0], w[2], f[1], f[1]));
  PetscCall(MatMult(I[1], w[1], w[2]));
  PetscCall(MatMultAdd(I[0], w[2], f[2], f[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The skew-symmetric form of advection: it keeps the energy of the differences, because first differences
/// are antisymmetric.
PetscErrorCode Flow::right_hand_side(Vec u, Vec f)
{
  Vec *from, *to;

  PetscFunctionBeginUser;
  PetscCall(VecNestGetSubVecs(u, NULL, &from));
  PetscCall(VecNestGetSubVecs(f, NULL, &to));
  PetscCall(on_device_ ? multiply<Device>(from) : multiply<Host>(from));
  for (int c = 0; c < 3; c++) {
    for (int d = 0; d < 3; d++) PetscCall(MatMult(op_[first][d], from[c], gradient_[d]));
    PetscCall(on_device_ ? advect<Device>(from, to[c]) : advect<Host>(from, to[c]));
    for (int d = 0; d < 3; d++) PetscCall(MatMultAdd(op_[first][d], flux_[Product(c, d)], to[c], to[c]));
    for (int d = 0; d < 3 && model_.viscosity > 0; d++)
      PetscCall(MatMultAdd(op_[second][d], from[c], to[c], to[c]));
  }
  PetscCall(project(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Mean of curl u . curl u / 2.
PetscErrorCode Flow::enstrophy(const Vec *u, PetscReal *value)
{
  PetscFunctionBeginUser;
  *value = 0;
  for (int c = 0; c < 3; c++) {
    const int   d = (c + 1) % 3, e = (c + 2) % 3;
    PetscScalar square;
    PetscCall(MatMult(op_[first][e], u[d], flux_[0]));
    PetscCall(MatMult(op_[first][d], u[e], flux_[1]));
    PetscCall(VecAXPY(flux_[1], -1, flux_[0]));
    PetscCall(VecDot(flux_[1], flux_[1], &square));
    *value += square / (2 * model_.points());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Flow::measure(Vec u, Vec f, Measures *measures)
{
  PetscScalar square, work;
  Vec        *components;

  PetscFunctionBeginUser;
  PetscCall(VecNestGetSubVecs(u, NULL, &components));
  PetscCall(VecDot(u, u, &square));
  PetscCall(right_hand_side(u, f));
  PetscCall(VecDot(u, f, &work));
  measures->energy      = square / (2 * model_.points());
  measures->dissipation = -work / model_.points();
  PetscCall(enstrophy(components, &measures->enstrophy));
  PetscCall(divergence(components, pressure_));
  PetscCall(VecNorm(pressure_, NORM_INFINITY, &measures->divergence));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Flow::copy_speed(PetscLogDouble *bytes_per_second)
{
  PetscFunctionBeginUser;
  PetscCall(CopySpeed(flux_[0], flux_[1], bytes_per_second));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Flow::destroy()
{
  PetscFunctionBeginUser;
  poisson_.reset();
  for (auto &kind : op_)
    for (Mat &A : kind) PetscCall(MatDestroy(&A));
  for (Vec &v : flux_) PetscCall(VecDestroy(&v));
  for (Vec &v : gradient_) PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&pressure_));
  PetscCall(DMDestroy(&da_));
  PetscFunctionReturn(PETSC_SUCCESS);
}
