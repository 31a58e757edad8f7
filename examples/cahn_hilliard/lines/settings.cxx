// SPDX-License-Identifier: BSD-2-Clause
#include "settings.hpp"

#include "../../petsc_space.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace ch_lines {

static const char *const Studies[]    = {"convergence", "coarsening", "patterns", "evolution", "speed"};
static const char *const Advections[] = {"weno", "flux", "central"};
static const char *const Algorithms[] = {"auto", "on_chip", "separate", "stencil", "thomas"};
static const char *const Forms[]      = {"state", "increment"};
constexpr double         pi           = 3.14159265358979323846;

/// Options of one kind, read into C++ types.
class Reader {
public:
  explicit Reader(MPI_Comm comm) : comm_(comm) { }

  template <std::size_t choices>
  PetscErrorCode choice(const char *name, const char *const (&list)[choices], int *value) const
  {
    char      text[64] = "";
    PetscBool found;

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetString(NULL, NULL, name, text, sizeof text, &found));
    if (!found) PetscFunctionReturn(PETSC_SUCCESS);
    const auto  at = std::find(std::begin(list), std::end(list), std::string(text));
    std::string all;
    for (const char *one : list) all += (all.empty() ? "" : ", ") + std::string(one);
    PetscCheck(at != std::end(list), comm_, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s %s: unknown; one of %s", name,
               text, all.c_str());
    *value = static_cast<int>(at - std::begin(list));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// @param positive  zero is refused
  PetscErrorCode real(const char *name, bool positive, double *value) const
  {
    auto number = static_cast<PetscReal>(*value);

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetReal(NULL, NULL, name, &number, NULL));
    *value = static_cast<double>(number);
    PetscCheck(std::isfinite(*value) && (positive ? *value > 0 : *value >= 0), comm_,
               PETSC_ERR_ARG_OUTOFRANGE, "%s %g: must %s", name, *value,
               positive ? "be positive" : "not be negative");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode integer(const char *name, std::int64_t least, std::int64_t *value) const
  {
    auto number = static_cast<PetscInt>(*value);

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetInt(NULL, NULL, name, &number, NULL));
    *value = static_cast<std::int64_t>(number);
    PetscCheck(*value >= least, comm_, PETSC_ERR_ARG_OUTOFRANGE, "%s %lld: must be at least %lld", name,
               static_cast<long long>(*value), static_cast<long long>(least));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// One number, or the two ends of a range.
  PetscErrorCode range(const char *name, double (&value)[2]) const
  {
    PetscReal pair[2] = {static_cast<PetscReal>(value[0]), static_cast<PetscReal>(value[1])};
    PetscInt  count   = 2;
    PetscBool found;

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetRealArray(NULL, NULL, name, pair, &count, &found));
    value[0] = static_cast<double>(pair[0]),
    value[1] = static_cast<double>(pair[found && count == 1 ? 0 : 1]);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode reals(const char *name, std::vector<double> *values) const
  {
    PetscReal array[16];
    PetscInt  count = 16;
    PetscBool found;

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetRealArray(NULL, NULL, name, array, &count, &found));
    if (found) values->assign(array, array + count);
    for (double value : *values)
      PetscCheck(value > 0, comm_, PETSC_ERR_ARG_OUTOFRANGE, "%s %g: must be positive", name, value);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode integers(const char *name, std::int64_t least, std::vector<std::int64_t> *values) const
  {
    PetscInt  array[16], count = 16;
    PetscBool found;

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetIntArray(NULL, NULL, name, array, &count, &found));
    if (found) values->assign(array, array + count);
    for (std::int64_t value : *values)
      PetscCheck(value >= least, comm_, PETSC_ERR_ARG_OUTOFRANGE, "%s %lld: must be at least %lld", name,
                 static_cast<long long>(value), static_cast<long long>(least));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode text(const char *name, std::string *value) const
  {
    char      array[PETSC_MAX_PATH_LEN];
    PetscBool found;

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetString(NULL, NULL, name, array, sizeof array, &found));
    if (found) *value = array;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode flag(const char *name, bool *value) const
  {
    auto option = static_cast<PetscBool>(*value);

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetBool(NULL, NULL, name, &option, NULL));
    *value = option;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  MPI_Comm comm_;
};

/// The defaults of a study.
static void set_defaults(Settings &s)
{
  Equation &e = s.equation;
  if (s.study == Study::coarsening || s.study == Study::speed) {
    e.rows = 256, e.gamma = 1, e.dt = 0.5;
    s.lengths = {128, 256}, s.runs = 4096, s.final_time = 5000, s.first_report = 10;
    if (s.study == Study::speed) e.length = 128, s.runs = 1024, e.speed = 0.05, s.forcing[0] = 0.01;
  } else if (s.study == Study::patterns || s.study == Study::evolution) {
    e.rows = 128, e.length = 2 * pi, e.gamma = 0.01, e.dt = 0.005, e.stabilization = 2, e.waves = 3,
    e.speed  = 0.3;
    s.map[0] = s.map[1] = 96, s.mean[1] = 1, s.forcing[1] = 4, s.final_time = 20;
    if (s.study == Study::evolution) s.map[0] = s.map[1] = 1, s.reports = 200;
  } else {
    e.length = 2 * pi, e.gamma = 0.01, e.speed = 0;
    s.grids = {128, 256, 512, 1024, 2048, 4096, 8192}, s.dt_per_spacing = 0.1;
    s.noise.cosine = true, s.noise.amplitude = 0.5;
    // increments, and a line eliminated from end to end: rounding errors of fine grids are the smallest
    s.method = {"thomas", Form::increment, true}, s.final_time = 0.5;
  }
}

static PetscErrorCode ReadEquation(const Reader &read, Settings *s)
{
  Equation    &e         = s->equation;
  std::int64_t waves     = e.waves;
  int          advection = static_cast<int>(e.advection);
  PetscReal    speed     = static_cast<PetscReal>(e.speed);

  PetscFunctionBeginUser;
  PetscCall(read.integer("-n", 8, &e.rows));
  PetscCall(read.real("-length", true, &e.length));
  PetscCall(read.real("-gamma", true, &e.gamma));
  PetscCall(read.real("-dt", true, &e.dt));
  PetscCall(read.real("-stabilization", false, &e.stabilization));
  PetscCall(read.integer("-waves", 0, &waves));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-speed", &speed, NULL));
  PetscCall(read.choice("-advection", Advections, &advection));
  PetscCall(read.range("-mean", s->mean));
  PetscCall(read.range("-forcing", s->forcing));
  PetscCall(read.real("-final_time", true, &s->final_time));
  PetscCall(read.real("-amplitude", false, &s->noise.amplitude));
  e.waves = static_cast<int>(waves), e.speed = static_cast<double>(speed);
  e.advection = static_cast<Advection>(advection);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadStudy(const Reader &read, MPI_Comm comm, Settings *s)
{
  std::vector<std::int64_t> map(s->map, s->map + 2);
  std::int64_t              seed = 0;

  PetscFunctionBeginUser;
  PetscCall(read.integers("-grids", 8, &s->grids));
  PetscCall(read.real("-dt_per_spacing", s->study == Study::convergence, &s->dt_per_spacing));
  PetscCall(read.flag("-extrapolate", &s->extrapolate));
  PetscCall(read.reals("-lengths", &s->lengths));
  PetscCall(read.integer("-runs", 1, &s->runs));
  PetscCall(read.integer("-reports", 3, &s->reports));
  PetscCall(read.real("-first_report", true, &s->first_report));
  // domains exist from about t = 40 gamma on
  s->fit[0] = std::min(std::max(100 * s->equation.gamma, s->final_time / 50), s->final_time / 2);
  s->fit[1] = s->final_time;
  PetscCall(read.range("-fit", s->fit));
  PetscCall(read.integers("-map", 1, &map));
  PetscCheck(map.size() == 2, comm, PETSC_ERR_ARG_SIZ, "-map: takes two numbers, not %d",
             static_cast<int>(map.size()));
  std::copy(map.begin(), map.end(), s->map);
  PetscCall(read.integer("-points", 8, &s->points));
  PetscCall(read.integer("-steps", 1, &s->steps));
  PetscCall(read.real("-window", true, &s->window));
  PetscCall(read.integer("-part_lines", 0, &s->part_lines));
  PetscCall(read.real("-progress", false, &s->progress));
  PetscCall(read.flag("-conserve", &s->method.conserve));
  PetscCall(read.flag("-restart", &s->restart));
  PetscCall(read.text("-file", &s->file));
  PetscCall(read.text("-csv", &s->csv));
  PetscCall(read.integer("-seed", 0, &seed));
  s->noise.seed = static_cast<std::uint64_t>(seed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(MPI_Comm comm, const Settings &s)
{
  const Equation &e       = s.equation;
  const bool      stepper = s.method.algorithm == "on_chip" || s.method.algorithm == "separate";

  PetscFunctionBeginUser;
  PetscCheck(!(stepper && e.has_explicit_advection()), comm, PETSC_ERR_ARG_INCOMP,
             "-algorithm %s: has no explicit advection; take -advection central, or -algorithm stencil",
             s.method.algorithm.c_str());
  PetscCheck(!(stepper && s.method.form == Form::increment), comm, PETSC_ERR_ARG_INCOMP,
             "-algorithm %s: computes states; take -form state, or -algorithm stencil",
             s.method.algorithm.c_str());
  PetscCheck(!s.restart || !s.file.empty(), comm, PETSC_ERR_ARG_INCOMP, "-restart: needs a -file");
  PetscCheck(s.study != Study::patterns || s.window <= s.final_time, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-window %g: is longer than -final_time %g", s.window, s.final_time);
  PetscCheck((s.study != Study::patterns && s.study != Study::evolution) ||
               e.rows % std::min(s.points, e.rows) == 0,
             comm, PETSC_ERR_ARG_SIZ, "-points %lld: must divide -n %lld", static_cast<long long>(s.points),
             static_cast<long long>(e.rows));
  PetscCheck(s.study != Study::coarsening || s.first_report < s.final_time, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-first_report %g: must be below -final_time %g", s.first_report, s.final_time);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReadSettings(MPI_Comm comm, Settings *s)
{
  const Reader read(comm);
  int          study = 0, algorithm = 0, form;
  PetscMPIInt  ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCheck(ranks == 1, comm, PETSC_ERR_SUP, "The studies run on one rank, not %d", ranks);
  PetscCall(read.choice("-study", Studies, &study));
  s->study = static_cast<Study>(study);
  set_defaults(*s);
  form      = static_cast<int>(s->method.form);
  algorithm = static_cast<int>(std::find(std::begin(Algorithms), std::end(Algorithms), s->method.algorithm) -
                               std::begin(Algorithms));
  PetscCall(read.choice("-algorithm", Algorithms, &algorithm));
  PetscCall(read.choice("-form", Forms, &form));
  s->method.algorithm = Algorithms[algorithm], s->method.form = static_cast<Form>(form);
  PetscCall(ReadEquation(read, s));
  PetscCall(ReadStudy(read, comm, s));
  PetscCall(Check(comm, *s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ch_lines
