// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/line_solver.hpp>

#include "make_banded_solver.hpp"

#include <limits>
#include <stdexcept>

namespace ribbon {

namespace {

[[noreturn]] void refuse(const std::string &what)
{
  throw std::invalid_argument("ribbon::LineSolver: " + what);
}

template <class Scalar, class Memory>
void validate(const LineSet &lines, const Bands<Scalar, Memory> &bands, const LineSolverOptions &options)
{
  const auto matrices = static_cast<std::int64_t>(bands.values.extent(0)), rows = static_cast<std::int64_t>(bands.values.extent(1));
  const auto width = bands.values.extent(2);
  if (lines.rows < 0 || lines.count0 < 0 || lines.count1 < 0) refuse("negative extent in the line set");
  if (lines.rows > std::numeric_limits<int>::max()) refuse("lines of more than 2^31 - 1 rows");
  if (options.algorithm != "auto" && options.algorithm != "one_pass" && options.algorithm != "thomas") refuse("unknown algorithm '" + options.algorithm + "' (auto, one_pass, thomas)");
  if (options.lines_per_team < 0 || options.lines_per_team > 32 || (options.lines_per_team & (options.lines_per_team - 1)) != 0)
    refuse("lines_per_team " + std::to_string(options.lines_per_team) + " (a power of two, at most 32)");
  if (width != 3 && width != 5) refuse("bands with " + std::to_string(width) + " diagonals (3 or 5)");
  if (lines.unknowns() == 0) return;
  if (rows != lines.rows) refuse("bands of " + std::to_string(rows) + " rows for lines of " + std::to_string(lines.rows));
  if (bands.lhs == Lhs::shared && matrices != 1) refuse("shared bands with " + std::to_string(matrices) + " matrices");
  if (bands.lhs == Lhs::per_line && matrices != lines.lines()) refuse(std::to_string(matrices) + " matrices for " + std::to_string(lines.lines()) + " lines");
  if (bands.lhs == Lhs::classes && static_cast<std::int64_t>(bands.class_of_line.extent(0)) != lines.lines()) refuse("class_of_line does not have one entry per line");
}

} // namespace

template <class Scalar, class Exec>
LineSolver<Scalar, Exec>::LineSolver(const Exec &exec, const LineSet &lines, const bands_type &bands, const LineSolverOptions &options) : lines_(lines)
{
  validate(lines, bands, options);
  implementation_ = bands.half_bandwidth() == 1 ? detail::make_banded_solver<Scalar, Exec, 1>(exec, lines, bands, options) : detail::make_banded_solver<Scalar, Exec, 2>(exec, lines, bands, options);
}

template <class Scalar, class Exec>
void LineSolver<Scalar, Exec>::solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const
{
  if (in.rows != lines_.rows || out.rows != lines_.rows || in.lines() != out.lines() || (lines_.lines() && in.lines() % lines_.lines() != 0))
    refuse("solve: the lines of the right-hand side do not fit the lines that were factored");
  if (in.unknowns() > 0) implementation_->solve(exec, b, in, x, out);
}

template class LineSolver<float, Kokkos::DefaultHostExecutionSpace>;
template class LineSolver<double, Kokkos::DefaultHostExecutionSpace>;
template class LineSolver<Kokkos::complex<double>, Kokkos::DefaultHostExecutionSpace>;
#ifdef RIBBON_HAS_DEVICE
template class LineSolver<float, Kokkos::DefaultExecutionSpace>;
template class LineSolver<double, Kokkos::DefaultExecutionSpace>;
template class LineSolver<Kokkos::complex<double>, Kokkos::DefaultExecutionSpace>;
#endif

} // namespace ribbon
