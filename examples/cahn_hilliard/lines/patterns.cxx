// SPDX-License-Identifier: BSD-2-Clause
// States at the end for a grid of mean concentrations and amplitudes of the forcing.
#include "pattern_runs.hpp"

#include "../../petsc_space.hpp"
#include "parts_file.hpp"
#include "progress.hpp"

#include <algorithm>
#include <cmath>

namespace ch_lines {

/// Runs consecutive lines to the end. record: of each line its points, its change over the window and the
/// change of its mean.
static PetscErrorCode RunPart(const Settings &s, std::int64_t first, std::int64_t lines, std::int64_t stride,
                              Batch &batch, std::vector<float> *record)
{
  const auto points = static_cast<std::size_t>(s.equation.rows / stride);
  const auto steps  = static_cast<int>(std::lround(s.final_time / s.equation.dt)),
             late   = static_cast<int>(std::lround(s.window / s.equation.dt));
  std::vector<float>      states;
  std::vector<LineResult> results;

  PetscFunctionBeginUser;
  PetscCallCXX(batch.start(pattern_starts(s, first, lines), s.noise, first));
  PetscCallCXX(batch.step(steps - late));
  PetscCallCXX(batch.remember());
  PetscCallCXX(batch.step(late));
  PetscCallCXX(states = batch.states(stride));
  PetscCallCXX(results = batch.results());
  record->clear();
  for (std::size_t l = 0; l < results.size(); ++l) {
    const auto begin = states.begin() + static_cast<std::ptrdiff_t>(l * points);
    record->insert(record->end(), begin, begin + static_cast<std::ptrdiff_t>(points));
    record->push_back(static_cast<float>(results[l].change));
    record->push_back(static_cast<float>(results[l].drift));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunPatterns(MPI_Comm comm, const Settings &s)
{
  Exec               exec;
  PartsFile          file;
  const std::int64_t runs = s.map[0] * s.map[1], stride = point_stride(s);
  const std::int64_t width = s.equation.rows / stride + 2;
  std::vector<float> record;
  double             drift = 0;

  PetscFunctionBeginUser;
  PetscCall(GetSpace(&exec));
  const std::int64_t most  = s.part_lines > 0 ? s.part_lines : lines_at_once(exec, s.equation.rows),
                     steps = std::lround(s.final_time / s.equation.dt);
  const double line        = static_cast<double>(s.equation.rows) * static_cast<double>(steps);
  Progress     progress(comm, s.progress, line * static_cast<double>(runs));
  PetscCall(file.open(comm, s.file, pattern_header(s), s.restart, sizeof(float)));
  const std::int64_t known = std::min(runs, file.numbers() / width);
  PetscCall(file.truncate(known * width));
  progress.skip(line * static_cast<double>(known));
  if (known > 0)
    PetscCall(PetscPrintf(comm, "restart: %lld of %lld runs are on file\n", static_cast<long long>(known),
                          static_cast<long long>(runs)));
  Batch batch(exec, s.equation, s.method, std::min(most, runs));
  PetscCall(batch.create(comm));
  PetscCall(progress.begin());
  for (std::int64_t first = known; first < runs; first += most) {
    const std::int64_t lines = std::min(most, runs - first);
    PetscCall(RunPart(s, first, lines, stride, batch, &record));
    for (std::int64_t l = 0; l < lines; ++l) {
      const auto end = static_cast<std::size_t>((l + 1) * width);
      PetscCheck(std::isfinite(record[end - 2]), comm, PETSC_ERR_FP,
                 "Run %lld is not a number; take a smaller -dt or more -stabilization",
                 static_cast<long long>(first + l));
      drift = std::max(drift, std::abs(static_cast<double>(record[end - 1])));
    }
    PetscCall(file.append(record.data(), lines * width));
    PetscCall(progress.add(line * static_cast<double>(lines)));
  }
  PetscCall(progress.end(batch.kernels().c_str()));
  if (known < runs)
    PetscCall(PetscPrintf(comm, "%lld runs to t = %g, largest drift of a mean %.1e\n",
                          static_cast<long long>(runs - known), s.final_time, drift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ch_lines
