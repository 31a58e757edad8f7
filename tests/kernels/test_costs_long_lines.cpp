// SPDX-License-Identifier: BSD-2-Clause
// Costs of long lines: kernels and allocations of partitioned solves and of chains.
#include "chains.hpp"
#include "costs.hpp"

using namespace test;

namespace {

// The file comment of partition.hpp states these counts.
TEST_F(Costs, APartitionedSolveIsAStatedNumberOfKernels)
{
  using ribbon::LineSet;
  const int  joined        = ribbon::is_device_space<Exec> ? 1 : 2; // launches of the segments
  const auto in_three_runs = [](std::int64_t n, bool contiguous) {
    return contiguous ? LineSet{n, 2, 3, 1, n, 2 * n + 2, 0} : LineSet{n, 2, 3, 2, 1, 2 * n + 5, 0};
  };
  struct Case {
    const char *what;
    LineSet     set;
    int         h;
    double      sigma; // of I + sigma (difference of order 2 h)
    bool        periodic, per_line;
    int         piece, launches, in_place;
  };
  for (const Case &c :
       {Case{"known: dots, right-hand side, reduced system, pieces, tails", LineSet::interleaved(1010, 3), 1,
             1e4, false, false, 100, 5, 5},
        {"known, no tails", LineSet::interleaved(1000, 3), 1, 1e4, false, false, 100, 4, 4},
        {"known, decay: separators, pieces, tails", LineSet::interleaved(1010, 3), 1, 0.3, false, false, 100,
         3, 3},
        {"known, ring", LineSet::contiguous(546 * 7, 3), 1, 1e3, true, false, 544, 4, 4},
        {"near", LineSet::contiguous(546 * 7, 3), 1, 0.3, false, false, 544, 1, 2},
        {"near, tails", LineSet::contiguous(546 * 7 + 100, 3), 1, 0.3, false, false, 544, 2, 3},
        {"joined", LineSet::contiguous(546 * 7, 3), 1, 1e3, false, false, 544, joined, joined},
        {"joined, tails", LineSet::contiguous(546 * 7 + 100, 3), 1, 1e3, false, false, 544, joined + 2,
         joined + 2},
        {"corrected: pieces, tails, right-hand side, reduced system, correction",
         LineSet::interleaved(1010, 7), 2, 1e4, false, true, 100, 5, 5},
        {"corrected, decay: pieces, tails, boundaries", LineSet::interleaved(1010, 7), 2, 0.01, false, true,
         100, 3, 3},
        {"corrected, ring", LineSet::contiguous(1000, 7), 2, 1e4, true, true, 100, 4, 4},
        {"two strides: pieces and tails in three runs", in_three_runs(1010, false), 1, 1e4, false, false, 100,
         3 + 3 + 3, 3 + 3 + 3},
        {"two strides, matrices of lines", in_three_runs(1000, true), 2, 1e4, false, true, 100, 3 + 3, 3 + 3},
        {"two strides, joined: line by line", in_three_runs(546 * 7, true), 1, 1e3, false, false, 544,
         6 * joined, 6 * joined}}) {
    const double s     = c.sigma;
    auto         bands = toeplitz(c.set.rows,
                          c.h == 1 ? std::vector<double>{-s, 1 + 2 * s, -s}
                                           : std::vector<double>{s, -4 * s, 1 + 6 * s, -4 * s, s},
                                  c.periodic);
    if (c.per_line) {
      ribbon::Bands<double, Kokkos::HostSpace> all = bands;
      all.lhs                                      = ribbon::Lhs::per_line,
      all.values = decltype(all.values)("test::bands", static_cast<std::size_t>(c.set.lines()),
                                        bands.values.extent(1), bands.values.extent(2));
      for (std::size_t l = 0; l < all.values.extent(0); ++l)
        for (std::size_t i = 0; i < all.values.extent(1); ++i)
          for (std::size_t d = 0; d < all.values.extent(2); ++d)
            all.values(l, i, d) = bands.values(0, i, d) +
                                  // more segments than classes
                                  (d == 2 ? 1e-3 * static_cast<double>((i * 7 + l * 13) % 101) : 0.0);
      bands = all;
    }
    ribbon::LineSolverOptions options;
    options.algorithm = "partition", options.rows_per_piece = c.piece;
    const ribbon::LineSolver<double, Exec> solver(Exec(), c.set, to_device(bands), options);
    expect_kernels(c.launches, solver, c.what), expect_kernels(c.in_place, solver, c.what, true);
    expect_kernels(c.launches, solver.independent(Exec()), c.what);
  }
  // Lines that break the runs of the factored ones: segments of ten separate rows.
  std::mt19937_64           g(1);
  ribbon::LineSolverOptions options;
  options.algorithm = "partition", options.rows_per_piece = 100;
  const ribbon::LineSolver<double, Exec> solver(Exec(), LineSet::interleaved(1000, 6),
                                                to_device(toeplitz(1000, {-1, 2.0001, -1}, false)), options);
  const auto                             set = in_three_runs(1000, false);
  Kokkos::View<double *, Memory>         b("b", static_cast<std::size_t>(3 * (2 * 1000 + 5)));
  ASSERT_EQ(solver.report().algorithm, "partition of 10 x 100 rows");
  expect_launches(3 + 10 * 3, "broken runs", [&] { solver.solve(Exec(), b.data(), set, b.data(), set); });
}

// Chains whose tiles of leaves all run at the same time take one kernel to factor and one to solve for a
// column. Neither allocates, because memory for the report and for columns is allocated before.
TEST_F(Costs, AShortChainIsOneKernelToFactorAndOneToSolve)
{
  for (const std::int64_t n : {1000, 10000, 1500000})
    for (int p : {1, 5}) {
      const bool is_short = n <= 10000;
      if (p > 1 && !is_short) continue;
      ChainSystem<double> s{{n, 1, p, p}};
      s.fill([&](std::int64_t, int d) { return d == 0 ? 2.0 * p + 1 : -1.0; });
      const ChainOnDevice<double> A(s);
      // With a leaf size, hosts run the kernels of a device.
      ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {64, 0});
      const std::int64_t                most = is_short ? 150 : 1;
      solver.reserve(Exec(), most);
      Kokkos::View<double *, Memory> b("test::b", static_cast<std::size_t>(n * most)),
        x("test::x", b.extent(0));
      Kokkos::deep_copy(b, 1.0);
      const auto expect = [&](int count, const std::string &what, const auto &run) {
        Kokkos::fence();
        kernels = views = allocations = 0;
        run();
        Kokkos::fence();
        EXPECT_EQ(kernels, count) << what << ", " << n << " rows, half-bandwidth " << p;
        EXPECT_EQ(ribbon::is_device_space<Exec> ? allocations : views, 0)
          << what << ", " << n << " rows, half-bandwidth " << p;
      };
      for (const char *what : {"factorization", "refactorization"})
        expect(is_short ? 1 : 2, what, [&] { solver.factor(Exec(), A.matrix()); });
      ASSERT_TRUE(solver.report().ok());
      expect(is_short ? 1 : 2, "solve", [&] { solver.solve(Exec(), b.data(), n, x.data(), n, 1); });
      if (!is_short) continue;
      expect(4, "128 columns", [&] { solver.solve(Exec(), b.data(), n, x.data(), n, 128); });
      expect(8, "150 columns", [&] { solver.solve(Exec(), b.data(), n, x.data(), n, most); });
      expect(4, "33 columns, transposed", [&] { solver.solve(Exec(), b.data(), n, x.data(), n, 33, true); });
    }
}

} // namespace
