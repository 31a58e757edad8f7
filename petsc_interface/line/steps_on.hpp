// SPDX-License-Identifier: BSD-2-Clause
/// @file steps_on.hpp  LineSteps in the memory of an execution space.
#pragma once

#include "../support/format.hpp"
#include "../support/open_arrays.hpp"
#include "../support/session.hpp"
#include "steps.hpp"

#include <ribbon/line_stepper.hpp>
#include <ribbon/splitting/vector_sum.hpp>

namespace ribbon::petsc {

template <class Exec>
class LineStepsOn final : public LineSteps {
  using Stepper = LineStepper<Scalar, Exec>;
  using Matrix  = typename Stepper::bands_type;
  using Sums    = Kokkos::View<Scalar *, typename Exec::memory_space>;

public:
  /// Factors A. `reason` says why A cannot be solved; otherwise it is empty.
  /// @throws std::invalid_argument if the kernels do not take these matrices
  LineStepsOn(const Exec &exec, const LineSet &lines, const Matrix &A, const Matrix &B,
              const LineSolverOptions &solver, std::string *reason)
      : lines_(lines)
  {
    LineStepperOptions options;
    options.solver = solver;
    reason->clear();
    if (lines.unknowns() == 0) return;
    stepper_ = Stepper(exec, lines, A, B, {}, options);
    if (!stepper_.report().ok()) *reason = "the matrix of the steps has inaccurate factors";
    if (stepper_.is_on_chip()) // other kernels would compute sums in one more pass
      sums_ = allocate<Sums>(exec, "ribbon::steps::sums",
                             static_cast<std::size_t>(LineSums<Scalar>::quantities * lines.lines()));
    flops_ = (2.0 * (B.kl() + B.ku()) + 1 + 6.0 * A.half_bandwidth() + 1) *
             (std::is_floating_point_v<Scalar> ? 1 : 4) * static_cast<double>(lines.unknowns());
  }

  PetscErrorCode advance(int count, Vec u, bool *finite) const override
  {
    OpenVec<Exec> values;
    PetscFunctionBegin;
    if (finite) *finite = true;
    if (count == 0 || lines_.unknowns() == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(values.open(u, Access::update));
    const PetscErrorCode error = run(count, values, finite);
    PetscCall(values.close());
    PetscCall(error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool on_device() const override { return is_device_space<Exec>; }

  std::string facts() const override
  {
    if (lines_.unknowns() == 0) return "this rank has no lines";
    return stepper_.report().algorithm +
           (stepper_.is_on_chip() ? ", on chip" : ", separate: " + stepper_.reason());
  }

private:
  PetscErrorCode run(int count, const OpenVec<Exec> &values, bool *finite) const
  {
    const Exec        exec = current_space<Exec>();
    StepTerms<Scalar> terms;
    PetscFunctionBegin;
    const bool sums = finite && stepper_.is_on_chip();
    if (sums) terms.sums = {sums_.data(), count};
    if constexpr (is_device_space<Exec>) PetscCall(PetscLogGpuTimeBegin());
    PetscCallCXX(stepper_.step(exec, count, values.data(), lines_, values.data(), lines_, terms));
    if (finite) {
      const auto check = [&](std::int64_t n, const Scalar *x) {
        return all_finite<Scalar>(exec, n, x, "ribbon::steps::finite");
      };
      // a sum is not finite if a value is not, and if it overflows
      PetscCallCXX(*finite = (sums && check(lines_.lines(), sums_.data())) ||
                             check(lines_.unknowns(), values.data()));
    }
    if constexpr (is_device_space<Exec>) {
      PetscCall(PetscLogGpuTimeEnd());
      PetscCall(PetscLogGpuFlops(flops_ * count));
    } else {
      PetscCallCXX(exec.fence());
      PetscCall(PetscLogFlops(flops_ * count));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  LineSet lines_;
  Stepper stepper_;
  Sums    sums_; ///< of the lines, on chip
  double  flops_ = 0;
};

} // namespace ribbon::petsc
