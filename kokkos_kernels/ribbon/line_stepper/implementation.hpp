// SPDX-License-Identifier: BSD-2-Clause
/// @file implementation.hpp  A stepper's tables, and its steps with any functions.
#pragma once

#include <ribbon/line_stepper/launch.hpp>
#include <ribbon/line_stepper/separate.hpp>

#include <algorithm>
#include <type_traits>

namespace ribbon {

/// LineStepperOptions::algorithm.
enum class StepsBy { automatic, on_chip, separate };

template <class Scalar, class Exec>
struct LineStepper<Scalar, Exec>::Implementation {
  using Classes = typename bands_type::classes_type;
  using Words   = Kokkos::View<Scalar *, memory_space>;
  /// On hosts, steps on chip are for tests.
  static constexpr bool has_tables =
    std::is_same_v<Scalar, double> || (std::is_same_v<Scalar, float> && is_device_space<Exec>);

  LineSolver<Scalar, Exec>   solver; ///< of A
  LineOperator<Scalar, Exec> single; ///< A^-1 B, for steps that are not on chip
  bands_type                 B, D;   ///< D: no values if there is no such term
  Classes                    class_of_line;
  std::int64_t               classified = 0;
  bool        on_chip = false, shared = true; ///< shared: A, B and D are one matrix for all lines
  std::string reason;
  StepTables<std::conditional_t<has_tables, Scalar, double>, memory_space> tables;
  Words state, rhs; ///< of lines that step together

  Implementation(const Exec &exec, const LineSet &lines, const bands_type &A, const bands_type &right,
                 const bands_type &nonlinear, const LineSolverOptions &options, StepsBy algorithm);

  bool has_D() const { return D.values.size() > 0; }
  /// An array of at least `words` words.
  static Scalar *room(const Exec &exec, Words &array, std::int64_t words)
  {
    if (words > static_cast<std::int64_t>(array.extent(0)))
      array = allocate<Words>(exec, "ribbon::line_stepper", static_cast<std::size_t>(words));
    return array.data();
  }
  /// Lines that step together. On a host, as many as stay in the caches of its cores. All lines, if they are
  /// not one matrix, or lie in short runs.
  std::int64_t lines_at_once(const Exec &exec, const LineSet &set) const
  {
    const std::int64_t least = 64, rows = std::max<std::int64_t>(set.rows, 1),
                       most = std::max(least, 32768 / rows / least * least) * exec.concurrency();
    const bool runs         = set.count1 == 1 || set.count0 >= least;
    return is_device_space<Exec> || !shared || !runs ? set.lines() : std::min(most, set.lines());
  }

  template <class Function, class Energy>
  void step(const Exec &exec, int steps, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out,
            const terms_type &terms, const Function &function, const Energy &energy)
  {
    if constexpr (has_tables)
      if (on_chip && !(terms.g && terms.g_scale)) // factors of lines do not fit the registers
        return launch_steps(exec, tables,
                            {u, in, y, out, steps, terms.g, terms.g_steps, terms.sums,
                             class_of_line.size() ? class_of_line.data() : nullptr, classified},
                            function, energy);
    const std::int64_t most = std::max(lines_at_once(exec, in), lines_at_once(exec, out));
    if (is_device_space<Exec> || most == in.lines())
      return some(exec, steps, u, in, y, out, y, out, terms, in.lines(), function, energy);
    Scalar *const between = steps > 1 ? room(exec, state, most * in.rows) : y;
    for (std::int64_t first = 0; first < in.lines();) {
      // lines with a constant stride in both layouts
      const auto left  = [&](const LineSet &set) { return set.count0 - first % set.count0; };
      const auto count = std::min({most, left(in), left(out), in.lines() - first});
      const auto part  = [&](const LineSet &set) {
        LineSet some = set;
        some.offset = set.begin(first), some.count0 = count, some.count1 = 1;
        return some;
      };
      terms_type own = terms;
      if (own.sums.values) own.sums.values += first;
      if (own.g_scale) own.g_scale += first;
      const LineSet to = part(out), there = steps > 1 ? to.without_gaps() : to;
      some(exec, steps, u, part(in), between, there, y, to, own, in.lines(), function, energy);
      first += count;
    }
  }

private:
  /// Empty if there may be a kernel.
  std::string why_not_on_chip(const LineSet &lines, const bands_type &A, StepsBy algorithm) const;
  void try_on_chip(const Exec &exec, const LineSet &lines, const bands_type &A, LineSolverOptions options);

  /// Steps from u to w, with the last one to y.
  template <class Function, class Energy>
  void some(const Exec &exec, int steps, const Scalar *u, const LineSet &in, Scalar *w,
            const LineSet &between, Scalar *y, const LineSet &out, const terms_type &terms,
            std::int64_t lines, const Function &function, const Energy &energy)
  {
    if (steps == 0) copy_lines(exec, u, in, y, out);
    for (int s = 0; s < steps; ++s) {
      const bool     last = s == steps - 1;
      const Scalar  *from = s == 0 ? u : w;
      const LineSet &at   = s == 0 ? in : between;
      Scalar *const  to   = last ? y : w;
      one(exec, from, at, to, last ? out : between, terms.g ? terms.g + s % terms.g_steps * in.rows : nullptr,
          terms.g_scale, function);
      if (terms.sums.values && (s + 1) % terms.sums.every == 0)
        Kokkos::parallel_for("ribbon::line_sums", indices(exec, in.lines()),
                             LineSumsKernel<Scalar, Energy>{
                               to, last ? out : between, B.periodic, energy,
                               terms.sums.values + std::int64_t((s + 1) / terms.sums.every - 1) * 3 * lines,
                               lines});
    }
  }
  template <class Function>
  void one(const Exec &exec, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out,
           const Scalar *g, const Scalar *g_scale, const Function &function)
  {
    if (!is_given<Function> && !g) return single.apply(exec, u, in, y, out);
    const LineSet between = in.without_gaps();
    Scalar *const f       = room(exec, rhs, in.unknowns());
    const auto    product = [&](const bands_type &bands) {
      return BandProductKernel<Scalar, memory_space>{
        bands.values,
        class_of_line.size() && bands.lhs == Lhs::classes ? class_of_line.data() : nullptr,
        classified,
        std::max<std::int64_t>(bands.matrices(), 1),
        bands.repeats,
        bands.kl(),
        bands.ku(),
        bands.periodic,
        u,
        nullptr,
        rhs.data(),
        in,
        in,
        between,
        Scalar(1),
        Scalar(0),
        between.is_contiguous()};
    };
    Kokkos::parallel_for(
      "ribbon::step_product", indices(exec, in.rows * in.lines()),
      StepProductKernel<Scalar, memory_space, Function>{product(B), product(D), function, g, g_scale});
    solver.solve(exec, f, between, y, out);
  }
};

} // namespace ribbon
