// SPDX-License-Identifier: BSD-2-Clause
// Unknown-steps per second of all ways to step, with the same states in one run. `difference` compares the states
// of a way with those of the first one with the same advection.
#include "settings.hpp"

#include "../../petsc_space.hpp"

#include <algorithm>
#include <cmath>

namespace ch_lines {

struct Way {
  const char *algorithm;
  Advection   advection;
  const char *label;
};

/// The least time of three samples for all runs, a part at a time as in the other studies.
static PetscErrorCode Time(MPI_Comm comm, const Settings &s, std::int64_t part_lines, Batch &batch,
                           double *seconds)
{
  PetscFunctionBeginUser;
  for (int sample = 0; sample < 4; ++sample) { // the first is a warm-up
    double sum = 0;
    for (std::int64_t first = 0; first < s.runs; first += part_lines) {
      const auto     lines = static_cast<std::size_t>(std::min(part_lines, s.runs - first));
      PetscLogDouble begin = 0, end = 0;
      PetscCallCXX(batch.start(std::vector<Start>(lines, {s.mean[0], s.forcing[0]}), s.noise, first));
      PetscCall(Now(comm, &begin));
      PetscCallCXX(batch.step(static_cast<int>(s.steps)));
      PetscCall(Now(comm, &end));
      sum += end - begin;
    }
    if (sample > 0) *seconds = sample > 1 ? std::min(*seconds, sum) : sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double largest_difference(const std::vector<double> &u, const std::vector<double> &v)
{
  double difference = 0;
  for (std::size_t i = 0; i < u.size(); ++i) difference = std::max(difference, std::abs(u[i] - v[i]));
  return difference;
}

PetscErrorCode RunSpeed(MPI_Comm comm, const Settings &s)
{
  constexpr Way       ways[] = {{"on_chip", Advection::central, "LineStepper on chip"},
                                {"separate", Advection::central, "LineStepper, step by step"},
                                {"stencil", Advection::central, "stencil and line solver"},
                                {"thomas", Advection::central, "stencil and Thomas"},
                                {"stencil", Advection::weno, "stencil with WENO5 and line solver"},
                                {"thomas", Advection::weno, "stencil with WENO5 and Thomas"}};
  Exec                exec;
  std::vector<double> expected;
  Advection           last = Advection::flux;

  PetscFunctionBeginUser;
  PetscCall(GetSpace(&exec));
  const std::int64_t part_lines =
    std::min(s.runs, s.part_lines > 0 ? s.part_lines : lines_at_once(exec, s.equation.rows));
  PetscCall(PetscPrintf(comm,
                        "%lld runs of %lld points, %lld at a time, %lld steps\n%-36s %-24s %12s %16s %12s\n",
                        static_cast<long long>(s.runs), static_cast<long long>(s.equation.rows),
                        static_cast<long long>(part_lines), static_cast<long long>(s.steps), "steps",
                        "kernels", "seconds", "unknown-steps/s", "difference"));
  for (const Way &way : ways) {
    Equation equation  = s.equation;
    Method   method    = s.method;
    double   seconds   = 0;
    equation.advection = way.advection, method.algorithm = way.algorithm, method.form = Form::state;
    Batch batch(exec, equation, method, part_lines);
    try {
      batch.make();
    } catch (const std::invalid_argument &refused) {
      PetscCall(PetscPrintf(comm, "%-36s %s\n", way.label, refused.what()));
      continue;
    }
    PetscCall(Time(comm, s, part_lines, batch, &seconds));
    const auto u = batch.line(0);
    if (way.advection != last) expected = u;
    last = way.advection;
    PetscCall(PetscPrintf(comm, "%-36s %-24s %12.4g %16.4g %12.1e\n", way.label, batch.kernels().c_str(),
                          seconds, static_cast<double>(equation.rows * s.runs * s.steps) / seconds,
                          largest_difference(u, expected)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ch_lines
