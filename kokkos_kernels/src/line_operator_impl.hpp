// SPDX-License-Identifier: BSD-2-Clause
/// @file line_operator_impl.hpp  Implementation of LineOperator; included by the file that instantiates it.
#pragma once

#include "check_product.hpp"
#include "host_matrices.hpp"

#include <ribbon/algorithm/name.hpp>
#include <ribbon/complex_float.hpp>
#include <ribbon/line_operator.hpp>
#include <ribbon/line_operator/product_runs.hpp>
#include <ribbon/matrix/transpose.hpp>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace ribbon {

namespace detail {

[[noreturn]] inline void refuse(const std::string &what)
{
  throw std::invalid_argument("ribbon::LineOperator: " + what);
}

/// LineOperatorOptions::algorithm.
enum class Fusion { automatic, fused, separate };
inline constexpr Named<Fusion> fusion_names[] = {
  {Fusion::automatic, "auto"},
  {Fusion::fused, "fused"},
  {Fusion::separate, "separate"},
};

/// Whether a matrix is periodic with equal rows: then it commutes with all such matrices.
template <class Scalar, class Memory>
bool is_circulant(const Bands<Scalar, Memory> &bands)
{
  if (!bands.periodic || bands.lhs != Lhs::shared) return false;
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bands.values);
  for (std::size_t i = 1; i < values.extent(1); ++i)
    for (std::size_t d = 0; d < values.extent(2); ++d)
      if (!(values(0, i, d) == values(0, 0, d))) return false;
  return true;
}

} // namespace detail

/// A solver of A that applies B while it solves, or a product and a solve.
template <class Scalar, class Exec>
struct LineOperator<Scalar, Exec>::Implementation {
  using Classes = typename bands_type::classes_type;
  LineSolver<Scalar, Exec>             solver;
  bands_type                           B;
  Classes                              class_of_line;
  std::int64_t                         classified = 0;
  bool                                 fused = false, solves_first = false;
  std::string                          reason;
  Kokkos::View<Scalar *, memory_space> workspace;

  Implementation(const Exec &exec, const LineSet &lines, const bands_type &A, const bands_type &right,
                 const LineOperatorOptions &options, detail::Fusion fusion)
      : classified(lines.lines())
  {
    const bool commutes = options.transposed && detail::is_circulant(A) && detail::is_circulant(right);
    const auto left     = options.transposed ? transpose(exec, A) : A;
    // copies: the caller may change its arrays
    B            = options.transposed ? transpose(exec, right) : copy(exec, right);
    solves_first = options.transposed && !commutes;
    if (A.lhs == Lhs::classes && B.lhs == Lhs::classes) {
      class_of_line = allocate<Classes>(exec, "ribbon::class_of_line", A.class_of_line.extent(0));
      Kokkos::deep_copy(exec, class_of_line, A.class_of_line);
    }
    const bool separate = fusion == detail::Fusion::separate;
    if (!separate) try_fused(exec, lines, left, options.solver);
    else reason = "algorithm separate";
    if (!fused && fusion == detail::Fusion::fused) detail::refuse("no fused kernel: " + reason);
    if (!fused) {
      if (separate || is_automatic(options.solver))
        solver = LineSolver<Scalar, Exec>(exec, lines, left, options.solver);
      make_room(exec, lines.unknowns());
    }
  }

  static bool is_automatic(const LineSolverOptions &options)
  {
    return algorithm_named(options.algorithm) == Algorithm::automatic;
  }

  /// Factors A by an algorithm that has fused kernels, or by the one that the caller asks for.
  void try_fused(const Exec &exec, const LineSet &lines, const bands_type &A, LineSolverOptions options)
  {
    if constexpr (std::is_same_v<Scalar, Kokkos::complex<float>>)
      reason = "complex<float> is solved in complex<double>";
    if (lines.unknowns() == 0) reason = "no unknowns";
    if (solves_first) reason = "the transpose solves before it applies B";
    const bool automatic = is_automatic(options);
    if (automatic && !reason.empty()) return;
    if (automatic) choose(lines, A, options);
    try {
      solver = LineSolver<Scalar, Exec>(exec, lines, A, options);
    } catch (const std::invalid_argument &refused) {
      if (!automatic) throw;
      reason = refused.what();
      return;
    }
    if constexpr (!std::is_same_v<Scalar, Kokkos::complex<float>>) {
      if (!reason.empty()) return;
      if (solver.report().ok()) fused = solver.implementation_->fuse(exec, B, reason);
      else reason = solver.report().algorithm + " does not solve A: " + solver.report().reason;
    }
  }

  /// The algorithm with fused kernels. Measured on an H100, interleaved lines of one matrix in double: other
  /// numbers of rows per thread than without B are faster, since the window of u takes registers.
  static void choose(const LineSet &lines, const bands_type &A, LineSolverOptions &options)
  {
    options.algorithm = to_string(is_device_space<Exec> ? Algorithm::one_pass : Algorithm::thomas);
    const bool many_shapes =
      std::is_same_v<Scalar, double> && A.half_bandwidth() <= 2 && A.lhs == Lhs::shared;
    if (is_device_space<Exec> && many_shapes && !lines.is_contiguous() && options.rows_per_thread == 0 &&
        lines.rows <= 768)
      options.rows_per_thread = lines.rows <= 128 ? 16 : 32;
  }

  void make_room(const Exec &exec, std::int64_t unknowns)
  {
    if (unknowns > static_cast<std::int64_t>(workspace.extent(0)))
      workspace = allocate<decltype(workspace)>(exec, "ribbon::line_operator::workspace",
                                                static_cast<std::size_t>(unknowns));
  }

  void apply(const Exec &exec, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out,
             const terms_type &terms)
  {
    if constexpr (!std::is_same_v<Scalar, Kokkos::complex<float>>)
      if (fused) return solver.implementation_->apply(exec, u, in, y, out, terms);
    make_room(exec, in.unknowns());
    const LineSet between = in.without_gaps();
    Scalar *const w       = workspace.data();
    const auto    product = [&](const Scalar *from, const LineSet &at, Scalar beta, Scalar *to,
                             const LineSet &there) {
      band_product(exec, B, class_of_line.size() ? class_of_line.data() : nullptr, classified, terms.alpha,
                      from, at, beta, terms.v, terms.lines, to, there);
    };
    if (solves_first) {
      solver.solve(exec, u, in, w, between);
      product(w, between, terms.beta, y, out);
    } else {
      product(u, in, Scalar(0), w, between);
      if (terms.beta == Scalar(0)) return solver.solve(exec, w, between, y, out);
      solver.solve(exec, w, between, w, between);
      add_lines(exec, w, between, terms.beta, terms.v, terms.lines, y, out);
    }
  }
};

template <class Scalar, class Exec>
LineOperator<Scalar, Exec>::LineOperator(const Exec &exec, const LineSet &lines, const bands_type &A,
                                         const bands_type &B, const LineOperatorOptions &options)
    : lines_(lines)
{
  const auto fusion = value_named(detail::fusion_names, options.algorithm);
  if (!fusion)
    detail::refuse("unknown algorithm '" + options.algorithm + "' (" + list_of(detail::fusion_names) + ")");
  detail::check_product("ribbon::LineOperator", "B", lines, A, B);
  implementation_ = std::make_shared<Implementation>(exec, lines, A, B, options, *fusion);
}

namespace detail {

template <class Implementation>
Implementation &made(const std::shared_ptr<Implementation> &implementation)
{
  if (!implementation) throw std::logic_error("ribbon::LineOperator: nothing has been factored");
  return *implementation;
}

} // namespace detail

template <class Scalar, class Exec>
const FactorReport &LineOperator<Scalar, Exec>::report() const
{
  return detail::made(implementation_).solver.report();
}

template <class Scalar, class Exec>
const LineSolver<Scalar, Exec> &LineOperator<Scalar, Exec>::solver() const
{
  return detail::made(implementation_).solver;
}

template <class Scalar, class Exec>
bool LineOperator<Scalar, Exec>::is_fused() const
{
  return detail::made(implementation_).fused;
}

template <class Scalar, class Exec>
const std::string &LineOperator<Scalar, Exec>::reason() const
{
  return detail::made(implementation_).reason;
}

template <class Scalar, class Exec>
void LineOperator<Scalar, Exec>::apply(const Exec &exec, const Scalar *u, const LineSet &in, Scalar *y,
                                       const LineSet &out, const terms_type &terms) const
{
  auto      &made  = detail::made(implementation_);
  const auto other = [&](const LineSet &set) {
    return set.rows != lines_.rows || set.components != 1 || set.count0 < 0 || set.count1 < 0 ||
           set.lines() != in.lines();
  };
  if (other(in) || other(out) || (terms.beta != Scalar(0) && other(terms.lines)) ||
      (lines_.lines() ? in.lines() % lines_.lines() : in.lines()) != 0)
    detail::refuse("apply: the lines do not fit the lines that were factored");
  if (terms.beta != Scalar(0) && !terms.v) detail::refuse("apply: beta without a vector v");
  if (in.unknowns() > 0) made.apply(exec, u, in, y, out, terms);
}

} // namespace ribbon
