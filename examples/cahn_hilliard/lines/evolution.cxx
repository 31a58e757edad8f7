// SPDX-License-Identifier: BSD-2-Clause
// States of a few runs at many times, for pictures of space and time.
#include "pattern_runs.hpp"

#include "../../petsc_space.hpp"
#include "parts_file.hpp"

#include <algorithm>
#include <cmath>

namespace ch_lines {

PetscErrorCode RunEvolution(MPI_Comm comm, const Settings &s)
{
  Exec               exec;
  PartsFile          file;
  const std::int64_t runs  = s.map[0] * s.map[1],
                     steps = std::max<std::int64_t>(1, std::lround(s.final_time / s.equation.dt)),
                     every = std::max<std::int64_t>(1, steps / s.reports);
  Settings           kept  = s;
  std::vector<float> states;

  PetscFunctionBeginUser;
  PetscCall(GetSpace(&exec));
  kept.reports    = (steps + every / 2) / every;
  kept.final_time = static_cast<double>(kept.reports * every) * s.equation.dt;
  PetscCall(file.open(comm, s.file, pattern_header(kept), false, sizeof(float)));
  Batch batch(exec, s.equation, s.method, runs);
  PetscCall(batch.create(comm));
  PetscCallCXX(batch.start(pattern_starts(s, 0, runs), s.noise, 0));
  PetscCallCXX(batch.remember());
  for (std::int64_t k = 0; k <= kept.reports; ++k) {
    if (k > 0) PetscCallCXX(batch.step(static_cast<int>(every)));
    PetscCallCXX(states = batch.states(point_stride(s)));
    PetscCall(file.append(states.data(), static_cast<std::int64_t>(states.size())));
  }
  double drift = 0;
  for (const LineResult &result : batch.results()) {
    PetscCheck(std::isfinite(result.change), comm, PETSC_ERR_FP,
               "A run is not a number; take a smaller -dt or more -stabilization");
    drift = std::max(drift, std::abs(result.drift));
  }
  PetscCall(PetscPrintf(comm, "%lld runs to t = %g, largest drift of a mean %.1e\n",
                        static_cast<long long>(runs), kept.final_time, drift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ch_lines
