// SPDX-License-Identifier: BSD-2-Clause
// The algorithm of the recipe solves a lower triangular matrix, and refuses a tridiagonal one with one
// error message.
#include <ribbon/line_solver.hpp>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

ribbon::Bands<double, Kokkos::HostSpace> matrix(int upper)
{
  ribbon::Bands<double, Kokkos::HostSpace> bands;
  bands.lower = 1, bands.upper = upper;
  bands.values = decltype(bands.values)("bands", 1, 100, static_cast<std::size_t>(2 + upper));
  for (std::size_t i = 0; i < 100; ++i) {
    bands.values(0, i, 0) = -1, bands.values(0, i, 1) = 2;
    if (upper) bands.values(0, i, 2) = -0.5;
  }
  return bands;
}

} // namespace

int main(int argc, char **argv)
{
  using Exec = Kokkos::DefaultHostExecutionSpace;
  Kokkos::ScopeGuard                     kokkos(argc, argv);
  const auto                             lines = ribbon::LineSet::interleaved(100, 7);
  const ribbon::LineSolver<double, Exec> solver(Exec(), lines, matrix(0), {"substitution"});
  std::vector<double>                    b(700, 1), x(700);
  solver.solve(Exec(), b.data(), lines, x.data(), lines);
  double worst = 0;
  for (std::size_t k = 0; k < 700; ++k)
    worst = std::max(worst, std::abs(2 * x[k] - (k >= 7 ? x[k - 7] : 0) - 1));
  std::string said;
  try {
    ribbon::LineSolver<double, Exec>(Exec(), lines, matrix(1), {"substitution"});
  } catch (const std::invalid_argument &error) {
    said = error.what();
  }
  std::printf("%s, backward error of the probe %.1e, residual %.1e; of a tridiagonal matrix: %s\n",
              solver.report().algorithm.c_str(), solver.report().probe_error, worst, said.c_str());
  const bool right = solver.report().ok() && solver.report().algorithm == "substitution" && worst < 1e-14;
  return right && said == "ribbon: algorithm substitution: takes lower triangular matrices" ? 0 : 1;
}
