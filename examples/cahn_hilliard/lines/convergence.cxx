// SPDX-License-Identifier: BSD-2-Clause
// Errors against grids with twice as many points, and their orders.
#include "settings.hpp"

#include "../../petsc_space.hpp"

#include <algorithm>
#include <cmath>

namespace ch_lines {

/// The solution at the end, with its time steps, and the change of its mean.
struct Solution {
  std::vector<double> u;
  double              drift = 0;
};

static PetscErrorCode Integrate(MPI_Comm comm, const Exec &exec, const Settings &s, std::int64_t rows,
                                double dt, Solution *solution)
{
  Equation equation = s.equation;

  PetscFunctionBeginUser;
  equation.rows    = rows;
  const auto steps = static_cast<int>(std::ceil(s.final_time / dt * (1 - 1e-12)));
  equation.dt      = s.final_time / steps;
  Batch batch(exec, equation, s.method, 1);
  PetscCall(batch.create(comm));
  PetscCallCXX(batch.start({{s.mean[0], s.forcing[0]}}, s.noise, 0));
  PetscCallCXX(batch.remember());
  PetscCallCXX(batch.step(steps));
  PetscCallCXX(solution->u = batch.line(0));
  PetscCallCXX(solution->drift = std::abs(batch.results()[0].drift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With extrapolation to dt = 0 (Richardson), which leaves the error in space.
static PetscErrorCode Solve(MPI_Comm comm, const Exec &exec, const Settings &s, std::int64_t rows,
                            Solution *solution)
{
  const double dt = s.dt_per_spacing * s.equation.length / static_cast<double>(rows);
  Solution     half;

  PetscFunctionBeginUser;
  PetscCall(Integrate(comm, exec, s, rows, dt, solution));
  if (!s.extrapolate) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Integrate(comm, exec, s, rows, dt / 2, &half));
  for (std::size_t i = 0; i < half.u.size(); ++i) solution->u[i] = 2 * half.u[i] - solution->u[i];
  solution->drift = std::max(solution->drift, half.drift);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Root mean square of the difference in the points of the coarser grid.
static double error(const Solution &coarse, const Solution &fine)
{
  double sum = 0;
  for (std::size_t i = 0; i < coarse.u.size(); ++i) sum += std::pow(coarse.u[i] - fine.u[2 * i], 2);
  return std::sqrt(sum / static_cast<double>(coarse.u.size()));
}

PetscErrorCode RunConvergence(MPI_Comm comm, const Settings &s)
{
  Exec     exec;
  Solution coarse, fine;
  double   before = 0;
  FILE    *file   = NULL;

  PetscFunctionBeginUser;
  PetscCall(GetSpace(&exec));
  if (!s.csv.empty()) {
    PetscCall(PetscFOpen(comm, s.csv.c_str(), "w", &file));
    PetscCall(PetscFPrintf(comm, file, "points,error,order,drift\n"));
  }
  PetscCall(PetscPrintf(comm, "%8s %12s %8s %12s\n", "points", "error", "order", "mean drift"));
  for (std::size_t k = 0; k < s.grids.size(); ++k) {
    const std::int64_t rows  = s.grids[k];
    const bool         again = k > 0 && s.grids[k - 1] * 2 == rows;
    if (again) std::swap(coarse, fine);
    else PetscCall(Solve(comm, exec, s, rows, &coarse));
    PetscCall(Solve(comm, exec, s, 2 * rows, &fine));
    const double e = error(coarse, fine), drift = std::max(coarse.drift, fine.drift);
    const double order = again ? std::log2(before / e) : 0;
    PetscCheck(std::isfinite(e), comm, PETSC_ERR_FP,
               "The solution on %lld points is not a number; take a smaller -dt_per_spacing",
               static_cast<long long>(rows));
    PetscCall(PetscPrintf(comm, "%8lld %12.4e ", static_cast<long long>(rows), e));
    if (again) PetscCall(PetscPrintf(comm, "%8.4f %12.1e\n", order, drift));
    else PetscCall(PetscPrintf(comm, "%8s %12.1e\n", "", drift));
    if (file)
      PetscCall(
        PetscFPrintf(comm, file, "%lld,%.9e,%.6f,%.3e\n", static_cast<long long>(rows), e, order, drift));
    before = e;
  }
  if (file) PetscCall(PetscFClose(comm, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ch_lines
