// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/line_solver.hpp>
int main(int argc, char **argv)
{
  Kokkos::ScopeGuard                          kokkos(argc, argv);
  Kokkos::View<double **, Kokkos::LayoutLeft> b("b", 8, 100); // 100 rows of 8 lines, interleaved
  ribbon::LineSolver<double>::bands_type      bands;
  Kokkos::deep_copy(b, 1.0);
  Kokkos::deep_copy(bands.values = decltype(bands.values)("bands", 1, 100, 3), 1.0);
  Kokkos::deep_copy(Kokkos::subview(bands.values, 0, Kokkos::ALL, 1), 4.0);
  ribbon::LineSolver<double> solver(Kokkos::DefaultExecutionSpace(), ribbon::LineSet::interleaved(100, 8),
                                    bands);
  solver.solve(Kokkos::DefaultExecutionSpace(), b.data(), b.data());
  return solver.report().ok() ? 0 : 1;
}
