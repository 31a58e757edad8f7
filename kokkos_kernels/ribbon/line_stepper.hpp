// SPDX-License-Identifier: BSD-2-Clause
/// @file line_stepper.hpp  Many time steps u <- A^-1 (B u + D p(u) + g) on all lines of a set, without
///   writing the states between them to memory.
#pragma once

#include <ribbon/line_operator.hpp>

#include <array>
#include <memory>
#include <string>

namespace ribbon {

struct LineStepperOptions {
  LineSolverOptions solver; ///< of A; on chip, its algorithm is one_pass
  /// "auto": on_chip on devices if there is a kernel for these lines, otherwise separate. "on_chip": one
  /// launch for all steps, or an error. "separate": a launch, or two, for every step.
  std::string algorithm = "auto";
};

/// Sums over each line after chosen steps.
template <class Scalar>
struct LineSums {
  /// Quantities of a line: sum of u, sum of u^2, energy (templates/step_with.hpp; 0 without an energy).
  static constexpr int quantities = 3;
  /// Null: no sums. After step k every (k = 1, 2, ...), quantity q of line l is at
  /// values[((k - 1) quantities + q) lines + l].
  Scalar *values = nullptr;
  int     every  = 1;
};

/// Terms of steps that may differ from call to call.
template <class Scalar>
struct StepTerms {
  /// Coefficients of p(u) = p[0] + p[1] u + ... + p[5] u^5. Not used without D.
  std::array<Scalar, 6> p = {};
  /// A term for all lines: row i of step s adds g[(s % g_steps) rows + i]. Null: none.
  const Scalar *g       = nullptr;
  int           g_steps = 1;
  /// Line l adds g_scale[l] g, and steps are one launch each. Null: g.
  const Scalar    *g_scale = nullptr;
  LineSums<Scalar> sums;
};

/// Steps of one-dimensional problems with implicit linear terms, on all lines of a set:
///
///     u <- A^-1 (B u + D p(u) + g)
///
/// with banded A, B and D that are periodic or not. Crank-Nicolson steps of u_t = L u are A = I - dt/2 L,
/// B = I + dt/2 L. A semi-implicit step of Cahn-Hilliard's equation has D = dt times the Laplacian and a
/// cubic p.
///
///     ribbon::LineStepper<double> stepper(exec, ribbon::LineSet::interleaved(n, M), A, B);
///     stepper.step(exec, 50, u.data());                                 // 50 steps in one launch
///
/// On a device, the rows of a line stay in the registers of a team from the first step to the last. A call
/// reads u once and writes it once. This kernel (reason() says if there is none) exists for A with
/// half-bandwidth 1 or 2, B and D with half-bandwidths to 3, shared or with classes, in float and double, and
/// for lines of up to 1024 rows (tridiagonal A: 2048).
/// Other steps are a product and a solve. On a host they are done for some lines at a time, which stay in the
/// cache (one matrix for all lines).
///
/// Results equal those of single steps to rounding. Copies share tables and workspace.
template <class Scalar, class Exec = Kokkos::DefaultExecutionSpace>
class LineStepper {
public:
  using scalar_type     = Scalar;
  using execution_space = Exec;
  using memory_space    = typename Exec::memory_space;
  using bands_type      = Bands<Scalar, memory_space>;
  using terms_type      = StepTerms<Scalar>;

  /// An empty stepper. Every use but an assignment throws std::logic_error.
  LineStepper() = default;

  /// Factors A and copies B and D. Returns when all tables are complete.
  /// @param lines  layout of the lines, of one component
  /// @param A, B   as for LineOperator
  /// @param D      like B; without values: no term D p(u)
  /// @throws std::invalid_argument if extents do not match, or if there is no kernel for "on_chip"
  LineStepper(const Exec &exec, const LineSet &lines, const bands_type &A, const bands_type &B,
              const bands_type &D = {}, const LineStepperOptions &options = {});

  /// The report of the factorization of A. If it is not ok(), lines that failed become NaN, as in
  /// LineSolver::solve().
  const FactorReport &report() const;
  const LineSet      &lines() const { return lines_; }
  /// Whether all steps of a call are one launch.
  bool is_on_chip() const;
  /// Why there is no such kernel; empty if there is one.
  const std::string &reason() const;

  /// `steps` steps of all lines, in place. Asynchronous on exec.
  void step(const Exec &exec, int steps, Scalar *u) const { step(exec, steps, u, lines_, u, lines_); }

  /// The same from u to y, which may be u if both layouts are the same; 0 steps copy. The count of lines is a
  /// multiple of that of the constructor, as in LineSolver::solve(). Without a kernel on chip, the workspace
  /// grows, and allocates, when a call has more lines than any before.
  /// @throws std::invalid_argument if counts of rows, lines or steps do not fit
  void step(const Exec &exec, int steps, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out,
            const terms_type &terms = {}) const;

  struct Implementation;
  /// For step_with().
  Implementation &implementation() const;
  /// @throws std::invalid_argument if the arguments of step() do not fit
  void check(int steps, const LineSet &in, const LineSet &out, const terms_type &terms) const;

private:
  LineSet                         lines_;
  std::shared_ptr<Implementation> implementation_;
};

} // namespace ribbon
