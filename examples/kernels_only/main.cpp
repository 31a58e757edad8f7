// SPDX-License-Identifier: BSD-2-Clause
// Batched line solves without PETSc: implicit diffusion along the y-lines of a 64 x 100 grid with x
// fastest.
#include <ribbon/line_solver.hpp>
#include <cstdio>

int main(int argc, char **argv)
{
  Kokkos::ScopeGuard                  kokkos(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;
  // 64 lines of 100 rows, along y
  const auto lines = ribbon::LineSet::box({64, 100, 1}, 1);

  ribbon::LineSolver<double>::bands_type bands; // one matrix for all lines: I - 10 d^2/dy^2
  bands.values    = decltype(bands.values)("bands", 1, 100, 3);
  const auto host = Kokkos::create_mirror_view(bands.values);
  for (int i = 0; i < 100; ++i) host(0, i, 0) = -10, host(0, i, 1) = 21, host(0, i, 2) = -10;
  Kokkos::deep_copy(bands.values, host);

  const ribbon::LineSolver<double> solver(exec, lines, bands); // factor once
  std::printf("%s (%s)\n", solver.report().algorithm.c_str(), solver.report().reason.c_str());
  if (!solver.report().ok()) return 1;

  Kokkos::View<double *> u("u", 6400);
  Kokkos::deep_copy(u, 1.0);
  // any number of solves, in place or not
  for (int step = 0; step < 10; ++step) solver.solve(exec, u.data(), u.data());
  exec.fence();
  std::printf("backward error %.1e, reciprocal condition %.1e\n", solver.report().probe_error,
              solver.report().rcond);
}
