// SPDX-License-Identifier: BSD-2-Clause
// The rows of algebraic equations in the stages of TS adi (docs/methods/adi.md#boundary-values).
#include "ts.hpp"

namespace ribbon::petsc {

namespace {

/// Whether methods of order 3 are Rosenbrock methods in the rows of algebraic equations:
///     -A_b y_i = G_b(t_i, Y_i) + h sum_j gamma_ij dG_b/dt.
/// If these rows contain an explicit RHSFunction, A_b is not their derivative. Their increments k_j are then
/// h q'(t + alpha_j h), where q interpolates the increments at t + h/2 and t + h. Methods of order 2 take k_j =
/// q(t + h), and correct it in the last stage if the equations are not linear.
bool is_rosenbrock(const TS_ADI *adi, const WMethod &m)
{
  return m.order == 3 && !adi->imex;
}
/// Whether the rows of algebraic equations of stage i depend on the function there.
bool uses_function(const TS_ADI *adi, const WMethod &m, int i)
{
  return m.order == 3 ? is_rosenbrock(adi, m) : i > 0 && m.c[i] == 1;
}

/// Factors of boundary[0] and boundary[1] in the rows of algebraic equations of stage i.
void weigh_boundary(const TS_ADI *adi, const WMethod &m, int i, PetscReal weight[2])
{
  weight[0] = weight[1] = 0;
  for (int j = 0; j <= i; ++j) {
    const PetscReal gamma = m.gamma_ij[i][j];
    if (m.order < 3) weight[0] += gamma;
    else if (is_rosenbrock(adi, m)) weight[1] += gamma;
    else weight[0] += gamma * 2 * m.alpha[j], weight[1] += gamma * (1 - 2 * m.alpha[j]);
  }
  if (is_rosenbrock(adi, m)) weight[0] = 1;
  else if (uses_function(adi, m, i)) weight[1] = 1 / m.b[i];
}

/// c := s_b R_b(time, U): the distance by which the algebraic equations move their unknowns away from U, times the
/// sign. Other rows are 0. If functions depend on time, `all` keeps R for ComputeInTime(): `evaluated`.
PetscErrorCode BoundaryIncrement(const Step &step, PetscReal time, Vec all, bool *evaluated, Vec c)
{
  TS_ADI *adi = step.adi;
  PetscFunctionBegin;
  *evaluated  = adi->in_time.depends && all;
  const Vec R = *evaluated ? all : adi->work;
  PetscCall(ClearRate(adi));
  PetscCall(Evaluate(step.ts, time, step.U, R));
  PetscCall(VecPointwiseMult(c, adi->splitting.algebraic(), R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ComputeBoundary(const Step &step, const WMethod &m, Vec R)
{
  TS_ADI *adi = step.adi;
  Vec    *c   = adi->boundary;
  InTime &t   = adi->in_time;
  PetscFunctionBegin;
  if (!adi->splitting.algebraic()) PetscFunctionReturn(PETSC_SUCCESS);
  for (Vec &v : adi->boundary)
    if (!v) PetscCall(VecDuplicate(step.U, &v));
  if (m.c[0] == 1) PetscCall(VecPointwiseMult(c[0], adi->splitting.algebraic(), R));
  else PetscCall(BoundaryIncrement(step, step.t + step.h, t.first, &t.evaluated[0], c[0]));
  if (m.order < 3) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BoundaryIncrement(step, step.t + step.h / 2, t.second, &t.evaluated[1], c[1]));
  PetscCall(VecAXPBY(c[1], -1, 4, c[0]));
  if (!is_rosenbrock(adi, m))
    PetscFunctionReturn(PETSC_SUCCESS); // q(t) = 0: q' includes what is missing at t
  PetscCall(VecPointwiseMult(c[0], adi->splitting.algebraic(), R));
  PetscCall(VecAXPY(c[1], -3, c[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KeepBoundaryRows(const Step &step, const WMethod &m, int i, Vec R)
{
  TS_ADI *adi = step.adi;
  PetscFunctionBegin;
  if (adi->splitting.algebraic() && uses_function(adi, m, i))
    PetscCall(VecPointwiseMult(adi->boundary[m.order == 3 ? 0 : 1], adi->splitting.algebraic(), R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StageBoundary(const Step &step, const WMethod &m, int i, Vec rhs)
{
  const TS_ADI *adi = step.adi;
  PetscReal     weight[2];
  PetscFunctionBegin;
  if (!adi->splitting.algebraic()) PetscFunctionReturn(PETSC_SUCCESS);
  weigh_boundary(adi, m, i, weight);
  const PetscScalar w[2] = {weight[0], weight[1]};
  const PetscInt    n    = m.order >= 3 || uses_function(adi, m, i) ? 2 : 1;
  PetscCall(SetBoundaryRows(step.ts, n, w, rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

BoundaryWeights boundary_weights(const TS_ADI *adi, const WMethod &m, int i)
{
  BoundaryWeights all;
  PetscReal       w[2];
  weigh_boundary(adi, m, i, w);
  if (is_rosenbrock(adi, m)) all.stage = w[0], all.at[0] = -3 * w[1], all.at[1] = 4 * w[1], all.at[2] = -w[1];
  else if (m.order == 3) all.at[1] = 4 * w[1], all.at[2] = w[0] - w[1];
  else all.at[2] = w[0], all.stage = w[1];
  return all;
}

} // namespace ribbon::petsc
