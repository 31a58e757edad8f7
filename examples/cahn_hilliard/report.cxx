// SPDX-License-Identifier: BSD-2-Clause
#include "report.hpp"

#include "line_fit.hpp"

PetscReal TypicalLength(const Model &model, const Integrals &integrals)
{
  return PetscSqrtReal(8 * model.gamma) / 3 / integrals.energy;
}

PetscErrorCode WriteSnapshot(const Report &report, PetscInt k, Vec state)
{
  char        name[PETSC_MAX_PATH_LEN];
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s-%" PetscInt_FMT ".bin", report.prefix, k));
  PetscCall(PetscViewerBinaryOpen(PetscObjectComm((PetscObject)state), name, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(VecView(state, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WriteRows(const Report &report, const std::vector<Row> &rows)
{
  FILE *file;

  PetscFunctionBeginUser;
  if (!report.csv[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, report.csv, "w", &file));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "time,mass,energy,length,scale\n"));
  for (const Row &r : rows)
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%.9g,%.6e,%.12e,%.9g,%.9g\n", (double)r.time,
                           (double)r.integrals.mass, (double)r.integrals.energy, (double)r.length,
                           (double)r.integrals.scale));
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WriteProblems(const Report &report, const Model &model, const std::vector<Integrals> &each)
{
  FILE *file;

  PetscFunctionBeginUser;
  if (!report.problems[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFOpen(PETSC_COMM_WORLD, report.problems, "w", &file));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "mean,forcing,mass,variance,energy\n"));
  for (std::size_t p = 0; p < each.size(); p++) {
    const auto i = static_cast<PetscInt>(p);
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%.9g,%.9g,%.6e,%.9g,%.9g\n", (double)model.mean_of(i),
                           (double)model.forcing_of(i), (double)each[p].mass, (double)each[p].variance,
                           (double)each[p].energy));
  }
  PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrintGrowthLaw(const Report &report, const Model &model, const std::vector<Row> &rows)
{
  const bool          plane = model.dim == 2;
  std::vector<double> logarithm, value;

  PetscFunctionBeginUser;
  for (const Row &r : rows) {
    if (r.time <= 0 || r.time < report.fit[0] || r.time > report.fit[1] * (1 + PETSC_SQRT_MACHINE_EPSILON))
      continue;
    logarithm.push_back(PetscLogReal(r.time));
    value.push_back(plane ? PetscLogReal(r.length) : r.integrals.scale);
  }
  const ch::LineFit fit(logarithm, value);
  if (fit.points < 3) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "growth law, %d rows with t = %g to %g: ", fit.points,
                        (double)report.fit[0], (double)report.fit[1]));
  if (plane) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "length ~ t^%.3f, theory 1/3\n", fit.slope));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "<s> = %.4g + %.4g log t, correlation %.5f; theory: linear in log t\n", fit.offset,
                          fit.slope, fit.correlation));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrintGrowthRate(const Model &model, const Row &first, const Row &last)
{
  PetscReal squares = 0;

  PetscFunctionBeginUser;
  for (int d = 2 - static_cast<int>(model.dim); d < 2; d++)
    squares += PetscSqr(2 * PETSC_PI / (static_cast<PetscReal>(model.n[d]) * model.spacing()));
  const PetscReal theory =
    model.mobility * squares * (1 - 3 * PetscSqr(model.mean[0]) - model.gamma * squares);
  const PetscReal rate =
    PetscLogReal(last.integrals.variance / first.integrals.variance) / (2 * (last.time - first.time));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "growth rate %.8e, theory %.8e, relative error %.3e\n",
                        (double)rate, (double)theory, (double)PetscAbsReal(rate / theory - 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
