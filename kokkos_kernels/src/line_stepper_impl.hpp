// SPDX-License-Identifier: BSD-2-Clause
/// @file line_stepper_impl.hpp  Implementation of LineStepper; included by the file that instantiates it.
#pragma once

#include "check_product.hpp"
#include "chunk_rows.hpp"

#include <ribbon/complex_float.hpp>
#include <ribbon/algorithm/name.hpp>
#include <ribbon/algorithm/one_pass/reduced_plan.hpp>
#include <ribbon/elimination/host_matrix.hpp>
#include <ribbon/line_stepper/implementation.hpp>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace ribbon {

namespace detail {

inline constexpr Named<StepsBy> step_names[] = {
  {StepsBy::automatic, "auto"},
  {StepsBy::on_chip, "on_chip"},
  {StepsBy::separate, "separate"},
};

/// The rows of B and D, joined to the factors of A.
template <class Kernels, bool nonlinear, class Exec, class Scalar, class Memory>
void join_rows(const Exec &exec, const std::vector<HostMatrix<Scalar>> &B,
               const std::vector<HostMatrix<Scalar>> &D, StepTables<Scalar, Memory> &to)
{
  constexpr int W = Kernels::W;
  using Rows      = StepRows<Scalar, W, nonlinear>;
  using Block     = typename Rows::template Block<typename Kernels::Scheme, Kernels::slots>;
  const auto                   &from = to.factors;
  ChunkRows<typename Rows::Row> rows(from.shape, from.classes);
  rows.template fill<W>(B);
  if constexpr (nonlinear) rows.template fill<W>(D, Rows::width);
  if (from.classes == 1) {
    const auto run = rows.regular(from.regular_begin, from.regular_end);
    to.begin = run.begin, to.end = run.end;
    to.stencil.assign(std::begin(run.row.c), std::end(run.row.c));
  }
  to.blocks = upload(exec, "ribbon::line_stepper::blocks", rows.template join<Block>(from.blocks));
}

/// The inverse of the reduced system with zeros outside of the stored windows.
template <class Kernels, class Exec, class Scalar, class Memory>
void expand_inverse(const Exec &exec, StepTables<Scalar, Memory> &to)
{
  using Square      = SquareBlock<Scalar, Kernels::Scheme::separators>;
  const auto &shape = to.factors.shape;
  // many classes have more blocks than an int counts
  const auto T               = static_cast<std::size_t>(shape.split.chunks),
             window          = static_cast<std::size_t>(shape.window);
  const auto          words  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to.factors.inverse);
  const auto         *blocks = reinterpret_cast<const Square *>(words.data());
  std::vector<Square> all(to.factors.classes * T * T);
  for (std::size_t row = 0; row < to.factors.classes * T; ++row) { // of a chunk in a class
    const auto first = static_cast<std::size_t>(shape.window_begin(static_cast<int>(row % T)));
    for (std::size_t w = 0; w < window; ++w) all[row * T + (first + w) % T] = blocks[row * window + w];
  }
  to.reduced_sum = std::min(shape.split.chunks, shape.window + 1);
  to.inverse     = upload_blocks(exec, "ribbon::line_stepper::inverse", all);
}

/// Completes the tables of steps on chip. False if there is no kernel: `why` holds the reason.
template <class Exec, class Scalar, class Memory>
bool make_step_tables(const Exec &exec, const Bands<Scalar, Memory> &B, const Bands<Scalar, Memory> &D,
                      StepTables<Scalar, Memory> &to, std::string &why)
{
  to.factors.shape.lane_bits = std::min(to.factors.shape.lane_bits, 5); // see StepTile::pitch
  const auto &shape          = to.factors.shape;
  const auto &split          = shape.split;
  const int   widest         = std::max(B.half_bandwidth(), D.values.size() ? D.half_bandwidth() : 0);
  to.reach                   = step_reach<Exec>(to.factors.reach, to.factors.classes > 1, widest);
  if (widest > to.reach) why = "B or D has half-bandwidth " + std::to_string(widest) + " (at most 3)";
  else if (split.length < to.reach || split.first < to.reach || split.last < to.reach)
    why = "lines of " + std::to_string(B.rows()) + " rows are too short";
  else if (to.factors.correct) why = "the reduced system of A needs refinement";
  else if (shape.blocks > 1 || shape.staged || shape.halvings > 0)
    why = "lines of " + std::to_string(B.rows()) + " rows are too long for the registers of a team";
  if (!why.empty()) return false;
  with_step_kernels<Exec>(to, [&](auto type) {
    using Kernels       = typename decltype(type)::type;
    using Linear        = typename Kernels::template Kernel<NoFunction, NoEnergy>;
    const auto room     = TeamRoom::of(exec);
    const auto contains = [&](bool contiguous) {
      return Linear::scratch(shape, std::min(shape.split.chunks, shape.window + 1), true, B.rows(),
                             contiguous, room.is_virtual) <= room.scratch;
    };
    if (!contains(false) || !contains(true)) {
      why = "lines of " + std::to_string(B.rows()) + " rows do not fit the scratch of a team";
      return;
    }
    const auto left = host_matrices(B, false);
    if (D.values.size()) join_rows<Kernels, true>(exec, left, host_matrices(D, false), to);
    else join_rows<Kernels, false>(exec, left, {}, to);
    expand_inverse<Kernels>(exec, to);
  });
  return why.empty();
}

[[noreturn]] inline void refuse_steps(const std::string &what)
{
  throw std::invalid_argument("ribbon::LineStepper: " + what);
}

} // namespace detail

template <class Scalar, class Exec>
std::string LineStepper<Scalar, Exec>::Implementation::why_not_on_chip(const LineSet    &lines,
                                                                       const bands_type &A,
                                                                       StepsBy           algorithm) const
{
  const int   K = A.half_bandwidth();
  std::string why;
  if (algorithm == StepsBy::separate) why = "algorithm separate";
  else if (algorithm == StepsBy::automatic && !is_device_space<Exec>) why = "a host steps in its cache";
  else if (!has_tables) why = "no kernel for these scalars";
  else if (lines.unknowns() == 0) why = "no unknowns";
  else if (K != 1 && K != 2) why = "A has half-bandwidth " + std::to_string(K) + " (1, 2)";
  else if (A.lhs != Lhs::shared && A.lhs != Lhs::classes)
    why = "A is " + std::string(to_string(A.lhs)) + " (shared, classes)";
  else if (B.lhs == Lhs::per_line || (has_D() && D.lhs == Lhs::per_line))
    why = "B or D differs from line to line, and A does not";
  return why;
}

template <class Scalar, class Exec>
void LineStepper<Scalar, Exec>::Implementation::try_on_chip(const Exec &exec, const LineSet &lines,
                                                            const bands_type &A, LineSolverOptions options)
{
  if constexpr (has_tables) {
    options.algorithm       = to_string(Algorithm::one_pass);
    options.rows_per_thread = step_slots<Scalar, Exec>(A.lhs == Lhs::classes, lines.rows);
    try {
      solver  = LineSolver<Scalar, Exec>(exec, LineSet::interleaved(lines.rows, lines.lines()), A, options);
      on_chip = solver.implementation_->tables(tables.factors, reason) &&
                detail::make_step_tables(exec, B, D, tables, reason);
    } catch (const std::invalid_argument &refused) {
      reason = refused.what();
    }
  }
}

template <class Scalar, class Exec>
LineStepper<Scalar, Exec>::Implementation::Implementation(const Exec &exec, const LineSet &lines,
                                                          const bands_type &A, const bands_type &right,
                                                          const bands_type        &nonlinear,
                                                          const LineSolverOptions &options, StepsBy algorithm)
    : B(copy(exec, right)), classified(lines.lines())
{
  if (nonlinear.values.size()) D = copy(exec, nonlinear);
  shared = A.lhs == Lhs::shared && B.lhs == Lhs::shared && (!has_D() || D.lhs == Lhs::shared);
  if (A.lhs == Lhs::classes) {
    class_of_line = allocate<Classes>(exec, "ribbon::class_of_line", A.class_of_line.extent(0));
    Kokkos::deep_copy(exec, class_of_line, A.class_of_line);
  }
  reason = why_not_on_chip(lines, A, algorithm);
  if (reason.empty()) try_on_chip(exec, lines, A, options);
  if (on_chip) return;
  if (algorithm == StepsBy::on_chip) detail::refuse_steps("no kernel on chip: " + reason);
  // any number of lines steps together
  const LineSet some =
    is_device_space<Exec> || !shared || lines.unknowns() == 0 ? lines : LineSet::interleaved(lines.rows, 1);
  if (has_D()) solver = LineSolver<Scalar, Exec>(exec, some, A, options);
  else {
    LineOperatorOptions both;
    both.solver = options;
    single      = LineOperator<Scalar, Exec>(exec, some, A, B, both);
    solver      = single.solver();
  }
  const std::int64_t most = lines_at_once(exec, lines) * lines.rows;
  if (has_D()) room(exec, rhs, most);
  if (most < lines.unknowns()) room(exec, state, most);
}

template <class Scalar, class Exec>
LineStepper<Scalar, Exec>::LineStepper(const Exec &exec, const LineSet &lines, const bands_type &A,
                                       const bands_type &B, const bands_type &D,
                                       const LineStepperOptions &options)
    : lines_(lines)
{
  const auto algorithm = value_named(detail::step_names, options.algorithm);
  if (!algorithm)
    detail::refuse_steps("unknown algorithm '" + options.algorithm + "' (" + list_of(detail::step_names) +
                         ")");
  detail::check_product("ribbon::LineStepper", "B", lines, A, B);
  if (D.values.size()) detail::check_product("ribbon::LineStepper", "D", lines, A, D);
  implementation_ = std::make_shared<Implementation>(exec, lines, A, B, D, options.solver, *algorithm);
}

template <class Scalar, class Exec>
typename LineStepper<Scalar, Exec>::Implementation &LineStepper<Scalar, Exec>::implementation() const
{
  if (!implementation_) throw std::logic_error("ribbon::LineStepper: nothing has been factored");
  return *implementation_;
}

template <class Scalar, class Exec>
const FactorReport &LineStepper<Scalar, Exec>::report() const
{
  return implementation().solver.report();
}

template <class Scalar, class Exec>
bool LineStepper<Scalar, Exec>::is_on_chip() const
{
  return implementation().on_chip;
}

template <class Scalar, class Exec>
const std::string &LineStepper<Scalar, Exec>::reason() const
{
  return implementation().reason;
}

template <class Scalar, class Exec>
void LineStepper<Scalar, Exec>::check(int steps, const LineSet &in, const LineSet &out,
                                      const terms_type &terms) const
{
  const auto other = [&](const LineSet &set) {
    return set.rows != lines_.rows || set.components != 1 || set.count0 < 0 || set.count1 < 0 ||
           set.lines() != in.lines();
  };
  implementation();
  if (other(in) || other(out) || (lines_.lines() ? in.lines() % lines_.lines() : in.lines()) != 0)
    detail::refuse_steps("step: the lines do not fit the lines that were factored");
  if (steps < 0) detail::refuse_steps("step: " + std::to_string(steps) + " steps");
  if (terms.g && terms.g_steps < 1)
    detail::refuse_steps("step: g for " + std::to_string(terms.g_steps) + " steps (at least 1)");
  if (terms.sums.values && terms.sums.every < 1)
    detail::refuse_steps("step: sums every " + std::to_string(terms.sums.every) + " steps (at least 1)");
}

template <class Scalar, class Exec>
void LineStepper<Scalar, Exec>::step(const Exec &exec, int steps, const Scalar *u, const LineSet &in,
                                     Scalar *y, const LineSet &out, const terms_type &terms) const
{
  check(steps, in, out, terms);
  auto &made = implementation();
  if (in.unknowns() == 0) return;
  if (!made.has_D()) return made.step(exec, steps, u, in, y, out, terms, NoFunction(), NoEnergy());
  Polynomial<Scalar> p;
  std::copy(terms.p.begin(), terms.p.end(), p.c);
  p.high = terms.p[4] != Scalar(0) || terms.p[5] != Scalar(0);
  made.step(exec, steps, u, in, y, out, terms, p, NoEnergy());
}

} // namespace ribbon
