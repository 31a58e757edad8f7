// SPDX-License-Identifier: BSD-2-Clause
#include "batch.hpp"

#include "../../petsc_space.hpp"
#include "step_matrices.hpp"
#include "sums.hpp"

#include <algorithm>

namespace ch_lines {

constexpr int steps_between_means = 10;

static std::int64_t padded(std::int64_t lines)
{
  return (lines + pack_lines - 1) / pack_lines * pack_lines;
}

std::int64_t lines_at_once(const Exec &exec, std::int64_t rows)
{
  // a state and a right-hand side in the L2 cache of a core; or enough for all multiprocessors of a device
  if (ribbon::is_device_space<Exec>) return 131072;
  return std::max<std::int64_t>(16, 32768 / rows / 16 * 16) * exec.concurrency();
}

Batch::Batch(const Exec &exec, const Equation &equation, const Method &method, std::int64_t lines)
    : exec_(exec), equation_(equation), method_(method), used_(lines), lines_(padded(lines)),
      places_(ribbon::LineSet::interleaved(equation.rows, lines_)), mean_("cahn_hilliard::mean", lines_),
      forcing_("cahn_hilliard::forcing", lines_), profile_("cahn_hilliard::profile", equation.rows)
{
  const auto size    = static_cast<std::size_t>(lines_ * equation.rows);
  u_                 = Array("cahn_hilliard::u", size);
  right_             = Array("cahn_hilliard::right", steps_by_stencil() ? size : 0);
  const auto profile = Kokkos::create_mirror_view(profile_);
  for (std::int64_t i = 0; i < equation.rows; ++i) {
    const auto   place = equation.waves * i % equation.rows; // exact: the sum over a line is zero to rounding
    const double turn  = static_cast<double>(place) / static_cast<double>(equation.rows);
    profile(static_cast<std::size_t>(i)) = equation.dt * std::cos(2 * 3.14159265358979323846 * turn);
  }
  Kokkos::deep_copy(profile_, profile);
}

bool Batch::steps_by_stencil() const
{
  const auto &name = method_.algorithm;
  return name == "stencil" || name == "thomas" ||
         (name == "auto" && (!ribbon::is_device_space<Exec> || method_.form == Form::increment ||
                             equation_.has_explicit_advection()));
}

void Batch::make()
{
  const auto A = implicit_matrix(equation_);
  if (steps_by_stencil()) {
    ribbon::LineSolverOptions options;
    if (method_.algorithm == "thomas") options.algorithm = "thomas";
    solver_ = ribbon::LineSolver<double, Exec>(exec_, places_, A, options);
  } else {
    ribbon::LineStepperOptions options;
    options.algorithm = method_.algorithm;
    stepper_          = ribbon::LineStepper<double, Exec>(exec_, places_, A, identity(equation_),
                                                 nonlinear_matrix(equation_), options);
  }
}

PetscErrorCode Batch::create(MPI_Comm comm)
{
  PetscFunctionBeginUser;
  PetscCallCXX(make());
  const ribbon::FactorReport &report = steps_by_stencil() ? solver_.report() : stepper_.report();
  PetscCheck(report.ok(), comm, PETSC_ERR_MAT_LU_ZRPVT, "The matrix of a step cannot be factored: %s",
             report.reason.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string Batch::kernels() const
{
  if (steps_by_stencil()) return "stencil and " + solver_.report().algorithm;
  return stepper_.is_on_chip() && !has_amplitudes_ ? "all steps on chip"
                                                   : "a product and " + stepper_.report().algorithm;
}

void Batch::fill(const std::vector<Start> &lines)
{
  const auto mean = Kokkos::create_mirror_view(mean_), forcing = Kokkos::create_mirror_view(forcing_);
  has_forcing_ = has_amplitudes_ = false;
  for (std::size_t l = 0; l < mean.extent(0); ++l) { // lines of the last pack repeat the last line
    const Start &start = lines[std::min(l, lines.size() - 1)];
    mean(l) = start.mean, forcing(l) = start.forcing;
    has_forcing_    = has_forcing_ || start.forcing != 0;
    has_amplitudes_ = has_amplitudes_ || start.forcing != lines[0].forcing;
  }
  Kokkos::deep_copy(mean_, mean);
  Kokkos::deep_copy(forcing_, forcing);
  if (!has_forcing_ || has_amplitudes_) return;
  const auto profile = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), profile_);
  common_            = Array("cahn_hilliard::common", profile.extent(0));
  const auto common  = Kokkos::create_mirror_view(common_);
  for (std::size_t i = 0; i < profile.extent(0); ++i) common(i) = lines[0].forcing * profile(i);
  Kokkos::deep_copy(common_, common);
}

void Batch::start(const std::vector<Start> &lines, const Noise &noise, std::int64_t first)
{
  used_ = static_cast<std::int64_t>(lines.size());
  fill(lines);
  Kokkos::parallel_for("cahn_hilliard::start", ribbon::indices(exec_, lines_ * equation_.rows),
                       StartKernel{lines_, equation_.rows, first, mean_.data(), noise.amplitude, noise.seed,
                                   noise.cosine, u_.data()});
  Kokkos::parallel_for("cahn_hilliard::mean", ribbon::indices(exec_, lines_),
                       MeanKernel{lines_, equation_.rows, u_.data(), mean_.data()});
}

template <Advection advection>
void Batch::right_hand_side() const
{
  const RightHandSide<advection> kernel(equation_, method_.form, lines_, u_.data(),
                                        has_forcing_ ? forcing_.data() : nullptr, profile_.data(),
                                        right_.data());
  Kokkos::parallel_for("cahn_hilliard::right_hand_side", ribbon::indices(exec_, kernel.items()), kernel);
}

void Batch::step_by_stencil() const
{
  if (equation_.advection == Advection::weno) right_hand_side<Advection::weno>();
  else if (equation_.advection == Advection::flux) right_hand_side<Advection::flux>();
  else right_hand_side<Advection::central>();
  if (method_.form == Form::state) return solver_.solve(exec_, right_.data(), u_.data());
  solver_.solve(exec_, right_.data(), right_.data());
  Kokkos::parallel_for("cahn_hilliard::add", ribbon::indices(exec_, lines_ * equation_.rows),
                       AddIncrement{u_.data(), right_.data()});
}

void Batch::restore_means() const
{
  Kokkos::parallel_for("cahn_hilliard::restore", ribbon::indices(exec_, lines_),
                       RestoreKernel{lines_, equation_.rows, mean_.data(), u_.data()});
}

void Batch::step(int steps)
{
  if (steps_by_stencil()) {
    const bool restores =
      method_.conserve && equation_.has_explicit_advection() && equation_.advection == Advection::weno;
    for (int s = 1; s <= steps; ++s) {
      step_by_stencil();
      if (restores && (s % steps_between_means == 0 || s == steps)) restore_means();
    }
    return;
  }
  ribbon::StepTerms<double> terms;
  terms.p = {0, -1 - equation_.stabilization, 0, 1, 0, 0};
  if (has_amplitudes_) terms.g = profile_.data(), terms.g_scale = forcing_.data();
  else if (has_forcing_) terms.g = common_.data();
  stepper_.step(exec_, steps, u_.data(), places_, u_.data(), places_, terms);
}

BatchSums Batch::sums() const
{
  BatchSums result;
  Kokkos::parallel_reduce("cahn_hilliard::sizes", ribbon::indices(exec_, used_),
                          SizeKernel{{lines_, equation_.rows, u_.data(), mean_.data()}}, result.size,
                          result.size_squares, Kokkos::Max<double>(result.drift));
  return result;
}

void Batch::remember()
{
  if (remembered_.extent(0) == 0) remembered_ = Array("cahn_hilliard::remembered", u_.extent(0));
  Kokkos::deep_copy(exec_, remembered_, u_);
}

std::vector<LineResult> Batch::results() const
{
  const Array drift("cahn_hilliard::drift", static_cast<std::size_t>(lines_)),
    change("cahn_hilliard::change", static_cast<std::size_t>(lines_));
  Kokkos::parallel_for(
    "cahn_hilliard::results", ribbon::indices(exec_, lines_),
    ResultKernel{
      {lines_, equation_.rows, u_.data(), mean_.data()}, remembered_.data(), drift.data(), change.data()});
  exec_.fence();
  const auto moved   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), drift),
             changed = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), change);
  std::vector<LineResult> all(static_cast<std::size_t>(used_));
  for (std::size_t l = 0; l < all.size(); ++l) all[l] = {moved(l), changed(l)};
  return all;
}

std::vector<float> Batch::states(std::int64_t stride) const
{
  const std::int64_t                              points = equation_.rows / stride;
  const Kokkos::View<float *, Exec::memory_space> thin("cahn_hilliard::thin",
                                                       static_cast<std::size_t>(points * lines_));
  Kokkos::parallel_for("cahn_hilliard::thin", ribbon::indices(exec_, points * lines_),
                       ThinKernel{lines_, stride, points, u_.data(), thin.data()});
  exec_.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), thin);
  return std::vector<float>(host.data(), host.data() + points * used_);
}

std::vector<double> Batch::line(std::int64_t l) const
{
  exec_.fence();
  const auto          host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u_);
  std::vector<double> values(static_cast<std::size_t>(equation_.rows));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = host(i * static_cast<std::size_t>(lines_) + static_cast<std::size_t>(l));
  return values;
}

} // namespace ch_lines
