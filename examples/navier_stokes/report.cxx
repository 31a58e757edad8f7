// SPDX-License-Identifier: BSD-2-Clause
#include "report.hpp"

/// A maximum of -dE/dt in time.
struct Peak {
  PetscReal time, value;
};

/// Spectral simulation with 512^3 points for Re = 1600 (van Rees, Leonard, Pullin and Koumoutsakos,
/// J. Comput. Phys. 230, 2011): from the file spectral_Re1600_512.gdiag of the International Workshops on
/// High-Order CFD Methods, case C3.5.
static constexpr Peak published = {static_cast<PetscReal>(8.97), static_cast<PetscReal>(0.0128575)};

PetscErrorCode Report::create(Vec u)
{
  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &work_));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8s %14s %14s %14s %10s\n", "time", "energy", "-dE/dt",
                        "2 nu enstrophy", "max |div|"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Report::destroy()
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&work_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Report::add_row(PetscReal time, Vec u)
{
  Row row;

  PetscFunctionBeginUser;
  row.time = time;
  PetscCall(flow_.measure(u, work_, &row.measures));
  rows_.push_back(row);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%8.4f %14.10f %14.6e %14.6e %10.2e\n", (double)time,
                        (double)row.measures.energy, (double)row.measures.dissipation,
                        (double)(2 * flow_.model().viscosity * row.measures.enstrophy),
                        (double)row.measures.divergence));
  PetscCheck(!PetscIsInfOrNanReal(row.measures.energy), PETSC_COMM_WORLD, PETSC_ERR_FP,
             "The energy is not a number at t = %g; take a smaller -cfl", (double)time);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The first step is not timed, because it sets up.
PetscErrorCode Report::monitor(PetscInt step, PetscReal time, Vec u)
{
  const PetscReal close = PETSC_SQRT_MACHINE_EPSILON * end_;
  PetscLogDouble  now;

  PetscFunctionBeginUser;
  PetscCall(Now(PETSC_COMM_WORLD, &now));
  if (step > 1) seconds_ += now - begin_, steps_++;
  if (time >= next_ - close || time >= end_ - close) {
    PetscCall(add_row(time, u));
    while (next_ <= time + close) next_ += interval_;
  }
  PetscCall(Now(PETSC_COMM_WORLD, &begin_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Report::write(const char *name) const
{
  FILE *file;

  PetscFunctionBeginUser;
  if (!name[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, name, "w", &file));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "time,energy,dissipation,viscous,divergence\n"));
  for (const Row &r : rows_)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%.9g,%.15e,%.12e,%.12e,%.4e\n", (double)r.time,
                           (double)r.measures.energy, (double)r.measures.dissipation,
                           (double)(2 * flow_.model().viscosity * r.measures.enstrophy),
                           (double)r.measures.divergence));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The maximum of the parabola through the largest of the values and its neighbours. False: it is at an end.
static bool FindPeak(const std::vector<Row> &rows, PetscReal (*value)(const Measures &), Peak *peak)
{
  std::size_t k  = 0;
  const auto  at = [&](std::size_t row) { return value(rows[row].measures); };
  for (std::size_t row = 0; row < rows.size(); row++)
    if (at(row) > at(k)) k = row;
  if (k == 0 || k + 1 >= rows.size()) return false;
  const PetscReal a = rows[k - 1].time - rows[k].time, b = rows[k + 1].time - rows[k].time,
                  below = (at(k - 1) - at(k)) / a, above = (at(k + 1) - at(k)) / b,
                  curvature = (above - below) / (b - a), slope = below - curvature * a;
  if (!(curvature < 0)) return false;
  *peak = {rows[k].time - slope / (2 * curvature), at(k) - slope * slope / (4 * curvature)};
  return true;
}

PetscErrorCode Report::print_peaks() const
{
  const Model    &model      = flow_.model();
  const PetscReal reynolds   = 1 / model.viscosity;
  const bool      comparable = !model.plane && PetscAbsReal(reynolds - 1600) < 1;
  const auto      print      = [&](const char *name, PetscReal (*value)(const Measures &), PetscReal factor) {
    Peak peak;
    PetscFunctionBeginUser;
    if (!FindPeak(rows_, value, &peak)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "peak of %s: %.5e at t = %.2f", name,
                                    (double)(factor * peak.value), (double)peak.time));
    if (comparable)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "; spectral with 512^3 points: %.5e at t = %.2f (%+.1f %%)",
                                      (double)published.value, (double)published.time,
                                      (double)(100 * (factor * peak.value / published.value - 1))));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBeginUser;
  PetscCall(print(
    "-dE/dt", [](const Measures &m) { return m.dissipation; }, 1));
  PetscCall(print(
    "2 nu enstrophy", [](const Measures &m) { return m.enstrophy; }, 2 * model.viscosity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Least memory traffic of a step of a Runge-Kutta method, in values per point: its right-hand sides, and one
/// pass over three components for each stage and for the end.
static PetscErrorCode ValuesOfStep(TS ts, PetscInt *values)
{
  const PetscReal *A, *b;
  PetscInt         stages;
  PetscBool        reuses_last;

  PetscFunctionBeginUser;
  PetscCall(TSRKGetTableau(ts, &stages, &A, &b, NULL, NULL, NULL, NULL, &reuses_last));
  *values = (stages - (reuses_last ? 1 : 0)) * Flow::values_of_right_hand_side;
  for (PetscInt i = 0; i <= stages; i++) {
    const PetscReal *row = i < stages ? A + i * stages : b;
    *values += 3 * 2;
    for (PetscInt j = 0; j < stages; j++) *values += row[j] != 0 ? 3 : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Report::print_speed(TS ts) const
{
  const Model   &model = flow_.model();
  PetscBool      is_rk;
  PetscInt       values = 0;
  PetscLogDouble copy   = 0;

  PetscFunctionBeginUser;
  if (steps_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscLogDouble each = seconds_ / static_cast<PetscLogDouble>(steps_);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " steps of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
                        " points, each %.4g s",
                        steps_, model.n[0], model.n[1], model.n[2], each));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSRK, &is_rk));
  if (is_rk) {
    PetscCall(ValuesOfStep(ts, &values));
    PetscCall(flow_.copy_speed(&copy));
    const PetscLogDouble bytes = static_cast<PetscLogDouble>(values) * sizeof(PetscScalar),
                         rate  = bytes * static_cast<PetscLogDouble>(model.points()) / each;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "; at %g bytes per point %.4g GB/s, %.0f %% of a copy (%.4g GB/s)", bytes,
                          rate / 1e9, 100 * rate / copy, copy / 1e9));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
