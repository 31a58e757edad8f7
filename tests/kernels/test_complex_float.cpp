// SPDX-License-Identifier: BSD-2-Clause
// complex<float>, which is solved in complex<double>: the same algorithms, with solutions that are rounded
// once.
#include "complex_float.hpp"

#include <ribbon/algorithm/segments.hpp>

#include <gtest/gtest.h>

#include <tuple>

using ribbon::Lhs;

namespace test::complex_float {
namespace {

void check(const std::string &algorithm, Lhs lhs, int kl, int ku, int block, int kind, std::int64_t n,
           bool periodic)
{
  SCOPED_TRACE(testing::Message() << algorithm << ", " << to_string(lhs) << ", kl " << kl << ", ku " << ku
                                  << ", block " << block << ", layout " << kind << ", rows " << n
                                  << (periodic ? ", ring" : ""));
  std::mt19937_64 g(static_cast<std::uint64_t>(n + 100 * kl + 1000 * block));
  auto            bands = random_system<Scalar>(g, matrices_for(lhs, many), n, kl, ku, block, periodic);
  for (std::size_t i = 1; algorithm == "toeplitz_cr" && i < bands.values.extent(1); ++i)
    for (std::size_t d = 0; d < bands.values.extent(2); ++d) bands.values(0, i, d) = bands.values(0, 0, d);
  assign(g, bands, lhs, many);
  const auto set   = layout(kind, n, block),
             inner = (set.is_contiguous() ? LineSet::contiguous(n, many) : LineSet::interleaved(n, many))
                       .with_components(block);
  Options options, in_double;
  options.algorithm = in_double.algorithm = algorithm, in_double.single_entries = true;
  const Tried<Scalar> mine(set, bands, options);
  const Tried<Wide>   other(inner, widened(bands), in_double);
  ASSERT_EQ(mine.refusal, other.refusal);
  if (!mine.solver) return;
  const auto &r = mine.solver->report(), &s = other.solver->report();
  EXPECT_TRUE(r.ok()) << r.reason;
  EXPECT_EQ(std::tie(r.algorithm, r.reason, r.status, r.smallest_pivot, r.line, r.row, r.probe_error),
            std::tie(s.algorithm, s.reason, s.status, s.smallest_pivot, s.line, s.row, s.probe_error));
  EXPECT_EQ(r.bytes, s.bytes + sizeof(Wide) * static_cast<std::size_t>(set.unknowns()));
  EXPECT_EQ(mine.solver->lines().stride1, set.stride1);
  EXPECT_FALSE(ribbon::Segments::joins(*mine.solver));

  const auto        b = numbers<Scalar>(g, words(set));
  std::vector<Wide> right(static_cast<std::size_t>(inner.unknowns()));
  for_each_unknown(
    set, inner, [&](std::size_t from, std::size_t to) { right[to] = Wide(b[from].real(), b[from].imag()); });
  const auto y        = cast<Scalar>(solve(*other.solver, right));
  auto       expected = b;
  for_each_unknown(set, inner, [&](std::size_t to, std::size_t from) { expected[to] = y[from]; });
  const auto x =
    on_device(b, b, [&](const Scalar *from, Scalar *to) { mine.solver->solve(Exec(), from, to); });
  EXPECT_TRUE(x == expected) << "not the solution in double, rounded, or gaps were written";
  EXPECT_TRUE(solve(*mine.solver, b, true) == expected) << "in place";
  EXPECT_LE(backward_error(expanded(widened(bands)), set, cast<Wide>(x), cast<Wide>(b)), rounded_once);
}

// Every algorithm, source and layout, including lines of one row and rings. A problem that complex<double>
// accepts is accepted, solved, and rounded once. A problem that complex<double> refuses is refused with the
// same text.
TEST(ComplexFloat, IsSolvedInDoubleAndRoundedOnce)
{
  int k = 0;
  for (const std::string algorithm :
       {"auto", "one_pass", "thomas", "pivoted", "partition", "cyclic_reduction", "parallel_cyclic_reduction",
        "cr_pcr", "toeplitz_cr", "tile_products"})
    for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
      for (auto [kl, ku, block] :
           {std::tuple{0, 0, 1}, std::tuple{1, 1, 1}, std::tuple{1, 2, 1}, std::tuple{4, 3, 1},
            std::tuple{8, 0, 1}, std::tuple{1, 1, 2}, std::tuple{1, 1, 3}})
        for (std::int64_t n : {1, 2, 5, algorithm == "partition" ? 130 : 40})
          for (bool periodic : {false, true})
            check(algorithm, lhs, kl, ku, block, k++ * 7 / 3 % 4, n, periodic);
}

// Lines with other strides than the factored ones, and three right-hand sides per matrix. The number of
// lines is not a multiple of the lines of one stride.
TEST(ComplexFloat, SeveralRightHandSidesAtOtherStrides)
{
  const std::int64_t n = 70, all = 3 * many;
  for (const char *algorithm : {"auto", "one_pass", "pivoted", "partition"})
    for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
      for (bool contiguous : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << algorithm << ", " << to_string(lhs) << ", contiguous " << contiguous);
        std::mt19937_64 g(8);
        auto            bands = random_system<Scalar>(g, matrices_for(lhs, many), n, 1, 2, 1, true);
        assign(g, bands, lhs, many);
        const auto                             set = layout(contiguous ? 1 : 0, n, 1);
        const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
        ASSERT_TRUE(solver.report().ok());
        const LineSet in{n, 9, 2, 10, 1, 10 * n + 4, 3}, out{n, 2, 9, 1, n + 1, 2 * n + 5, 1};
        const auto    b    = numbers<Scalar>(g, words(in));
        auto          want = numbers<Scalar>(g, words(out)), in_place = b;
        const auto    x = on_device(
             b, want, [&](const Scalar *from, Scalar *to) { solver.solve(Exec(), from, in, to, out); });
        const auto y =
          on_device(b, b, [&](const Scalar *, Scalar *to) { solver.solve(Exec(), to, in, to, in); });
        for (std::int64_t r = 0; r < 3; ++r) {
          std::vector<Scalar> one(static_cast<std::size_t>(set.unknowns()));
          const auto          each = [&](const auto &f) {
            for (std::int64_t l = 0; l < many; ++l)
              for (std::int64_t i = 0; i < n; ++i) f(static_cast<std::size_t>(set(l, i)), r * many + l, i);
          };
          each([&](std::size_t k, std::int64_t l, std::int64_t i) {
            one[k] = b[static_cast<std::size_t>(in(l, i))];
          });
          one = solve(solver, one);
          each([&](std::size_t k, std::int64_t l, std::int64_t i) {
            want[static_cast<std::size_t>(out(l, i))] = in_place[static_cast<std::size_t>(in(l, i))] = one[k];
          });
        }
        ASSERT_EQ(in.lines(), all);
        EXPECT_TRUE(x == want);
        EXPECT_TRUE(y == in_place) << "in place";
        try {
          solver.solve(Exec(), nullptr, LineSet::interleaved(n, many + 1), nullptr,
                       LineSet::interleaved(n, many + 1));
          ADD_FAILURE() << "taken";
        } catch (const std::invalid_argument &e) {
          EXPECT_STREQ(e.what(), "ribbon::LineSolver: solve: the lines of the right-hand side do not fit the "
                                 "lines that were factored");
        }
      }
}

// Other matrices in one call, as wide as the factored ones or narrower. The factored matrices remain.
TEST(ComplexFloat, FactorAndSolve)
{
  const std::int64_t n = 50;
  for (const auto &[algorithm, h, block] : {std::tuple{"one_pass", 2, 1},
                                            {"cr_pcr", 1, 1},
                                            {"cr_pcr", 1, 2},
                                            {"thomas", 1, 1},
                                            {"thomas", 2, 1},
                                            {"thomas", 4, 1},
                                            {"thomas", 1, 3},
                                            {"auto", 2, 1}})
    for (Lhs factored : {Lhs::per_line, Lhs::shifted})
      for (Lhs given : {Lhs::per_line, Lhs::shifted})
        for (int narrower : {0, 1}) {
          if (narrower && h == 1) continue;
          SCOPED_TRACE(testing::Message()
                       << algorithm << ", h " << h << ", block " << block << ", " << to_string(factored)
                       << ", " << to_string(given) << ", narrower by " << narrower);
          std::mt19937_64 g(5);
          auto bands  = random_system<Scalar>(g, matrices_for(factored, many), n, h, h, block, true),
               others = random_system<Scalar>(g, matrices_for(given, many), n, h - narrower, h, block, true);
          assign(g, bands, factored, many), assign(g, others, given, many);
          Options options;
          options.algorithm = algorithm, options.refactors = true;
          const auto                             set = layout(3, n, block);
          const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), options);
          ASSERT_TRUE(solver.report().ok());
          const auto b = numbers<Scalar>(g, words(set)), kept = solve(solver, b);
          const auto by = to_device(others);
          try {
            const auto x = on_device(
              b, b, [&](const Scalar *from, Scalar *to) { solver.factor_and_solve(Exec(), by, from, to); });
            EXPECT_LE(backward_error(expanded(widened(others)), set, cast<Wide>(x), cast<Wide>(b)),
                      rounded_once);
            EXPECT_EQ(factored == Lhs::shifted && given == Lhs::per_line, false) << "no room for these";
          } catch (const std::invalid_argument &e) {
            EXPECT_EQ(factored == Lhs::shifted && given == Lhs::per_line, true);
            EXPECT_STREQ(e.what(), "ribbon::LineSolver: factor_and_solve: no room for these matrices of "
                                   "complex<float>; ask for refactors, with matrices of this kind and width");
          }
          EXPECT_TRUE(solve(solver, b) == kept);
        }
  // Refused calls: without room, with an algorithm that has no kernel for it, with matrices that do not
  // fit.
  std::mt19937_64 g(5);
  const auto      set   = layout(0, n, 1);
  auto            bands = random_system<Scalar>(g, many, n, 1, 1, 1, false);
  assign(g, bands, Lhs::per_line, many);
  const auto text = [&](const Options &options, const HostBands &others) -> std::string {
    const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), options);
    Kokkos::View<Scalar *, Memory>         x("test::x", static_cast<std::size_t>(set.unknowns()));
    try {
      solver.factor_and_solve(Exec(), to_device(others), x.data(), x.data());
    } catch (const std::invalid_argument &e) {
      return e.what();
    }
    return "";
  };
  Options with_room   = {"pivoted"};
  with_room.refactors = true;
  EXPECT_EQ(text({"one_pass"}, bands),
            "ribbon::LineSolver: factor_and_solve: no room for these matrices of complex<float>; ask for "
            "refactors, with matrices of this kind and width");
  EXPECT_EQ(text(with_room, bands),
            "ribbon::LineSolver: factor_and_solve: pivoted keeps factors, has other widths or solves "
            "singular lines for zero mean; ask for algorithm one_pass, or thomas with refactors");
  EXPECT_EQ(text(with_room, random_system<Scalar>(g, 1, n, 1, 1, 1, false)),
            "ribbon::LineSolver: factor_and_solve: shared bands (per_line, shifted)");
}

} // namespace
} // namespace test::complex_float
