// SPDX-License-Identifier: BSD-2-Clause
// Growth of domains from noise: averages over many runs at times that grow geometrically.
#include "settings.hpp"

#include "../line_fit.hpp"
#include "../../petsc_space.hpp"
#include "parts_file.hpp"
#include "progress.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ch_lines {

/// The numbers of steps after which domains are measured.
static std::vector<int> report_steps(const Settings &s)
{
  std::vector<int> steps;
  const double     first = std::max(1., s.first_report / s.equation.dt), last = s.final_time / s.equation.dt;
  for (std::int64_t k = 0; k < s.reports; ++k) {
    const double share = s.reports > 1 ? static_cast<double>(k) / static_cast<double>(s.reports - 1) : 1;
    const int    step  = static_cast<int>(std::lround(first * std::pow(last / first, share)));
    if (steps.empty() || step > steps.back()) steps.push_back(step);
  }
  return steps;
}

static std::int64_t rows_of(const Settings &s, double length)
{
  return std::llround(static_cast<double>(s.equation.rows) * length / s.lengths[0]);
}

/// All parameters on which the sums of a part depend.
static std::string header(const Settings &s, std::int64_t part_lines)
{
  std::ostringstream text;
  text.precision(17);
  text << "study coarsening\nrows " << s.equation.rows << "\ngamma " << s.equation.gamma << "\ndt "
       << s.equation.dt << "\nstabilization " << s.equation.stabilization << "\nmean " << s.mean[0]
       << "\namplitude " << s.noise.amplitude << "\nseed " << s.noise.seed << "\nruns " << s.runs
       << "\npart_lines " << part_lines << "\nreports " << report_steps(s).size() << "\nfinal_time "
       << s.final_time << "\nlengths";
  for (double length : s.lengths) text << ' ' << length;
  text << '\n';
  return text.str();
}

/// Sums of s and s^2 at each time, and the largest change of a mean.
static PetscErrorCode RunPart(const Settings &s, const std::vector<int> &steps, std::int64_t first,
                              std::int64_t lines, Batch &batch, std::vector<double> *record)
{
  int done = 0;

  PetscFunctionBeginUser;
  record->clear();
  PetscCallCXX(
    batch.start(std::vector<Start>(static_cast<std::size_t>(lines), {s.mean[0], 0}), s.noise, first));
  double drift = 0;
  for (int step : steps) {
    BatchSums sums;
    PetscCallCXX(batch.step(step - done));
    PetscCallCXX(sums = batch.sums());
    record->push_back(sums.size);
    record->push_back(sums.size_squares);
    drift = std::max(drift, sums.drift);
    done  = step;
  }
  record->push_back(drift);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Averages of all runs of one length, the fitted line, and rows of the file.
static PetscErrorCode Report(MPI_Comm comm, const Settings &s, double length, const std::vector<int> &steps,
                             const std::vector<double> &sums, FILE *file)
{
  const auto          runs = static_cast<double>(s.runs);
  std::vector<double> logarithm, size;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(comm, "length %g, %lld points, %lld runs\n%10s %10s %10s %14s\n", length,
                        static_cast<long long>(rows_of(s, length)), static_cast<long long>(s.runs), "time",
                        "<s>", "spread", "error of <s>"));
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const double t = steps[k] * s.equation.dt, mean = sums[2 * k] / runs,
                 spread = std::sqrt(std::max(0., sums[2 * k + 1] / runs - mean * mean));
    PetscCheck(std::isfinite(mean), comm, PETSC_ERR_FP,
               "<s> is not a number at t = %g; take a smaller -dt or more -stabilization", t);
    PetscCall(PetscPrintf(comm, "%10.5g %10.5f %10.5f %14.2e\n", t, mean, spread, spread / std::sqrt(runs)));
    const bool fitted = t >= s.fit[0] && t <= s.fit[1] * (1 + 1e-12);
    if (file)
      PetscCall(
        PetscFPrintf(comm, file, "%.9g,%.9g,%.9g,%.9g,%.9g,%d\n", length, t, mean, spread, runs, fitted));
    if (!fitted) continue;
    logarithm.push_back(std::log(t)), size.push_back(mean);
  }
  PetscCheck(size.size() > 2, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-fit %g,%g: holds %d of the times, a line takes 3", s.fit[0], s.fit[1],
             static_cast<int>(size.size()));
  const ch::LineFit fit(logarithm, size);
  PetscCall(PetscPrintf(comm,
                        "length %g: <s> = %.4f + %.4f ln t for t = %g to %g, correlation r = %.6f; largest "
                        "drift of a mean %.1e\n",
                        length, fit.offset, fit.slope, s.fit[0], s.fit[1], fit.correlation, sums.back()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RunCoarsening(MPI_Comm comm, const Settings &s)
{
  Exec                   exec;
  PartsFile              file;
  FILE                  *table = NULL;
  const std::vector<int> steps = report_steps(s);
  const std::size_t      width = 2 * steps.size() + 1;
  std::vector<double>    record(width);
  std::string            kernels;

  PetscFunctionBeginUser;
  PetscCall(GetSpace(&exec));
  const std::int64_t most       = s.part_lines > 0 ? s.part_lines : lines_at_once(exec, s.equation.rows);
  const std::int64_t part_lines = std::min(most, s.runs), parts = (s.runs + part_lines - 1) / part_lines;
  double             all = 0;
  for (double length : s.lengths) all += static_cast<double>(rows_of(s, length) * s.runs) * steps.back();
  Progress progress(comm, s.progress, all);
  PetscCall(file.open(comm, s.file, header(s, part_lines), s.restart, sizeof(double)));
  std::int64_t        known = file.numbers() / static_cast<std::int64_t>(width);
  std::vector<double> on_file(static_cast<std::size_t>(known) * width);
  if (known > 0) PetscCall(file.read(on_file.data(), known * static_cast<std::int64_t>(width)));
  PetscCall(file.truncate(known * static_cast<std::int64_t>(width)));
  if (known > 0)
    PetscCall(PetscPrintf(comm, "restart: %lld of %lld parts are on file\n", static_cast<long long>(known),
                          static_cast<long long>(parts * static_cast<std::int64_t>(s.lengths.size()))));
  if (!s.csv.empty()) {
    PetscCall(PetscFOpen(comm, s.csv.c_str(), "w", &table));
    PetscCall(PetscFPrintf(comm, table, "length,time,size,spread,runs,fitted\n"));
  }
  PetscCall(progress.begin());
  const double *next = on_file.data();
  for (double length : s.lengths) {
    Equation equation = s.equation;
    equation.length = length, equation.rows = rows_of(s, length);
    Batch batch(exec, equation, s.method, part_lines);
    PetscCall(batch.create(comm));
    kernels = batch.kernels();
    std::vector<double> sums(width, 0.);
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t first = part * part_lines, lines = std::min(part_lines, s.runs - first);
      const double       work = static_cast<double>(equation.rows * lines) * steps.back();
      if (known > 0) {
        record.assign(next, next + width);
        next += width, --known;
        progress.skip(work);
      } else {
        PetscCall(RunPart(s, steps, first, lines, batch, &record));
        PetscCall(file.append(record.data(), static_cast<std::int64_t>(width)));
        PetscCall(progress.add(work));
      }
      for (std::size_t k = 0; k + 1 < width; ++k) sums[k] += record[k];
      sums.back() = std::max(sums.back(), record.back());
    }
    PetscCall(Report(comm, s, length, steps, sums, table));
  }
  PetscCall(progress.end(kernels.c_str()));
  if (table) PetscCall(PetscFClose(comm, table));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ch_lines
