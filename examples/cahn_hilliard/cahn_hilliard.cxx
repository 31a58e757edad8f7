// SPDX-License-Identifier: BSD-2-Clause
static char help[] =
  "Cahn-Hilliard equation C_t = D lap(C^3 - C - gamma lap C), periodic, by semi-implicit line solves.\n\
A plain PETSc program without code for any plugin. -pc_type line solves the lines. PETSc's own\n\
direct PCs need -assembled, too. Options:\n\
  -dim 2|1                the plane, by alternating directions; or a batch of lines\n\
  -n nx,ny                points along x and y; of a batch: problems, and points of a line\n\
  -length l               along y, with the same spacing along x; 0: spacing 1\n\
  -gamma g -mobility D -dt dt -final_time t\n\
  -scheme bdf2|euler      two-step, or one-step semi-implicit\n\
  -stabilization s        adds -s D lap (C_next - its extrapolation)\n\
  -start noise|mode       noise about the mean, or one period of a cosine and its growth rate\n\
  -amplitude a -seed k -mean m[,m']\n\
  -study M,F              a batch of M means m to m', each with F forcings f to f'\n\
  -forcing f[,f'] -waves w -speed v   f cos(k (y - v t)), k = 2 pi w / l, in a batch\n\
  -report r               rows at times that grow by this factor\n\
  -fit a,b                times of the growth law (default: from a tenth of the end)\n\
  -csv file -problems file -snapshots t,... -snapshot_files prefix   files for plots\n\
  -assembled              lines along y as one AIJ matrix instead of MATMAIJ\n\n";

#include "report.hpp"

static const char *const Schemes[] = {"bdf2", "euler", "Scheme", "", NULL};
static const char *const Starts[]  = {"noise", "mode", "Start", "", NULL};

static PetscErrorCode ReadOptions(Model *model, Report *report, PetscReal *end)
{
  const MPI_Comm comm = PETSC_COMM_WORLD;
  PetscInt       two = 2, pair = 2, window = 2, means = 2, forcings = 2;
  PetscInt       scheme = 0, start = 0;
  PetscBool      has_study, has_fit, has_snapshots, has_n, has_mean, has_forcing;

  PetscFunctionBeginUser;
  *end = 100;
  PetscOptionsBegin(comm, NULL, "Cahn-Hilliard equation", NULL);
  PetscCall(PetscOptionsRangeInt("-dim", "2: the plane; 1: a batch of lines", NULL, model->dim, &model->dim,
                                 NULL, 1, 2));
  PetscCall(PetscOptionsIntArray("-n", "Points along x and y; of a batch: problems, points", NULL, model->n,
                                 &two, &has_n));
  PetscCall(
    PetscOptionsReal("-length", "Length along y (0: spacing 1)", NULL, model->length, &model->length, NULL));
  PetscCall(
    PetscOptionsReal("-gamma", "Square of the width of interfaces", NULL, model->gamma, &model->gamma, NULL));
  PetscCall(PetscOptionsReal("-mobility", "D", NULL, model->mobility, &model->mobility, NULL));
  PetscCall(PetscOptionsReal("-dt", "Time step", NULL, model->dt, &model->dt, NULL));
  PetscCall(PetscOptionsReal("-final_time", "The end", NULL, *end, end, NULL));
  PetscCall(PetscOptionsEList("-scheme", "Two-step or one-step method", NULL, Schemes, 2, Schemes[scheme],
                              &scheme, NULL));
  PetscCall(PetscOptionsReal("-stabilization", "Of the explicit part", NULL, model->stabilization,
                             &model->stabilization, NULL));
  PetscCall(PetscOptionsEList("-start", "Noise, or a cosine", NULL, Starts, 2, Starts[start], &start, NULL));
  PetscCall(PetscOptionsReal("-amplitude", "Of the start", NULL, model->amplitude, &model->amplitude, NULL));
  PetscCall(PetscOptionsBoundedInt("-seed", "Of the noise", NULL, model->seed, &model->seed, NULL, 0));
  PetscCall(
    PetscOptionsIntArray("-study", "Means and forcings of a batch", NULL, model->study, &pair, &has_study));
  PetscCall(PetscOptionsBoundedInt("-waves", "Periods of the forcing along a line", NULL, model->waves,
                                   &model->waves, NULL, 0));
  PetscCall(PetscOptionsReal("-speed", "Of the forcing", NULL, model->speed, &model->speed, NULL));
  PetscCall(
    PetscOptionsReal("-report", "Ratio of the times of rows", NULL, report->ratio, &report->ratio, NULL));
  PetscCall(PetscOptionsRealArray("-fit", "Window of the growth law", NULL, report->fit, &window, &has_fit));
  report->snapshots = static_cast<PetscInt>(sizeof(report->snapshot) / sizeof(report->snapshot[0]));
  PetscCall(PetscOptionsRealArray("-snapshots", "Times of states that are written", NULL, report->snapshot,
                                  &report->snapshots, &has_snapshots));
  PetscCall(PetscOptionsString("-snapshot_files", "What their names begin with", NULL, report->prefix,
                               report->prefix, sizeof(report->prefix), NULL));
  PetscCall(PetscOptionsString("-csv", "File for the rows", NULL, report->csv, report->csv,
                               sizeof(report->csv), NULL));
  PetscCall(PetscOptionsString("-problems", "File for the problems of a batch at the end", NULL,
                               report->problems, report->problems, sizeof(report->problems), NULL));
  PetscCall(PetscOptionsBool("-assembled", "Lines along y as one AIJ matrix", NULL, model->assembled,
                             &model->assembled, NULL));
  PetscCall(PetscOptionsRealArray("-mean", "Mean of C, or the ends of the range of a study", NULL,
                                  model->mean, &means, &has_mean));
  PetscCall(PetscOptionsRealArray("-forcing", "Amplitude of the forcing, or the ends of the range of a study",
                                  NULL, model->forcing, &forcings, &has_forcing));
  PetscOptionsEnd();
  model->one_step = static_cast<PetscBool>(scheme == 1);
  model->mode     = static_cast<PetscBool>(start == 1);
  if (has_mean && means == 1) model->mean[1] = model->mean[0];
  if (has_forcing && forcings == 1) model->forcing[1] = model->forcing[0];
  if (!has_snapshots) report->snapshots = 0;
  if (!has_fit) report->fit[0] = *end / 10, report->fit[1] = *end;
  PetscCheck(!has_n || two == 2, comm, PETSC_ERR_ARG_SIZ, "-n: takes two numbers, not %" PetscInt_FMT, two);
  PetscCheck(model->n[1] >= 5 && model->n[0] >= (model->dim == 2 ? 5 : 1), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT ",%" PetscInt_FMT ": a line takes 5 points at least", model->n[0],
             model->n[1]);
  PetscCheck(model->dt > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-dt %g: must be positive", (double)model->dt);
  PetscCheck(*end > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-final_time %g: must be positive", (double)*end);
  PetscCheck(model->gamma > 0 && model->mobility > 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-gamma %g, -mobility %g: must be positive", (double)model->gamma, (double)model->mobility);
  PetscCheck(model->stabilization >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-stabilization %g: must not be negative", (double)model->stabilization);
  PetscCheck(report->ratio > 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-report %g: must be above 1",
             (double)report->ratio);
  PetscCheck(!has_fit || window == 2, comm, PETSC_ERR_ARG_SIZ, "-fit: takes two times, not %" PetscInt_FMT,
             window);
  PetscCheck(model->dim == 1 || !(has_study || model->has_forcing()), comm, PETSC_ERR_ARG_INCOMP,
             "-study, -forcing: are of a batch, -dim 1");
  PetscCheck(!has_study || (pair == 2 && model->study[0] >= 1 && model->study[1] >= 1), comm,
             PETSC_ERR_ARG_SIZ, "-study: takes two positive numbers");
  if (has_study) model->n[0] = model->study[0] * model->study[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const Model &model, const Report &report, PetscReal end)
{
  const PetscInt steps =
    static_cast<PetscInt>(PetscCeilReal(end / model.dt * (1 - PETSC_SQRT_MACHINE_EPSILON)));
  const PetscInt         settled = model.one_steps() + 1; // after so many steps nothing is set up any more
  Simulation             simulation(model, PETSC_COMM_WORLD);
  std::vector<Row>       rows;
  std::vector<Integrals> each;
  PetscReal              next     = 0;
  PetscInt               snapshot = 0, first = 0, timed = 0; // steps before this row; steps in `seconds`
  PetscLogDouble         begin = 0, now = 0, seconds = 0, copy;

  PetscFunctionBeginUser;
  PetscCall(simulation.create());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%10s %10s %16s %10s %10s\n", "time", "mass drift",
                        "energy density", "length", "<s>"));
  for (PetscInt n = 0;; n++) {
    const PetscReal time = simulation.time(), now_or_never = time + model.dt / 2;
    const bool      is_snapshot = snapshot < report.snapshots && now_or_never >= report.snapshot[snapshot];
    if (now_or_never >= next || is_snapshot || n == settled || n == steps) {
      Row row;
      PetscCall(Now(PETSC_COMM_WORLD, &now));
      if (first >= settled) seconds += now - begin, timed += n - first;
      PetscCall(simulation.integrals(&row.integrals, n == steps ? &each : nullptr));
      row.time = time, row.length = TypicalLength(model, row.integrals);
      rows.push_back(row);
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%10.6g %10.2e %16.9e %10.6g %10.6g\n", (double)time,
                            (double)row.integrals.mass, (double)row.integrals.energy, (double)row.length,
                            (double)row.integrals.scale));
      PetscCheck(!PetscIsInfOrNanReal(row.integrals.energy), PETSC_COMM_WORLD, PETSC_ERR_FP,
                 "The energy is not a number at t = %g; take a smaller -dt or more -stabilization",
                 (double)time);
      next = PetscMax(next * report.ratio, time + model.dt);
      if (is_snapshot) PetscCall(WriteSnapshot(report, snapshot++, simulation.state()));
      first = n;
      PetscCall(PetscTime(&begin));
    }
    if (n == steps) break;
    PetscCall(simulation.step());
  }
  PetscCall(WriteRows(report, rows));
  if (model.dim == 1) PetscCall(WriteProblems(report, model, each));
  if (model.mode) PetscCall(PrintGrowthRate(model, rows.front(), rows.back()));
  else if (!model.has_forcing()) PetscCall(PrintGrowthLaw(report, model, rows));
  if (timed > 0) {
    const PetscLogDouble rate = static_cast<PetscLogDouble>(timed) * static_cast<PetscLogDouble>(model.n[0]) *
                                static_cast<PetscLogDouble>(model.n[1]) / seconds;
    PetscCall(simulation.copy_speed(&copy));
    PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "%" PetscInt_FMT " steps of %" PetscInt_FMT " x %" PetscInt_FMT
      " points in %.4g s: %.4g point-steps/s, at %d bytes each %.4g GB/s, %.0f %% of a copy (%.4g GB/s)\n",
      timed, model.n[0], model.n[1], seconds, rate, model.bytes(), rate * model.bytes() / 1e9,
      100 * rate * model.bytes() / copy, copy / 1e9));
  }
  PetscCall(simulation.destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Kokkos::ScopeGuard kokkos(argc, argv); // outlives PETSc
  Model              model;
  Report             report;
  PetscReal          end;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&model, &report, &end));
  PetscCall(Run(model, report, end));
  PetscCall(PetscFinalize());
  return 0;
}
