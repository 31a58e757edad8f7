// SPDX-License-Identifier: BSD-2-Clause
// Random systems of every kind, each with a seed that reproduces it: solved to 1e-13 or reported.
// RIBBON_FUZZ sets their number (the long preset: 100000), RIBBON_FUZZ_SEED the first seed.
#include "batch.hpp"
#include "scalars.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

using namespace test;

namespace {

std::int64_t setting(const char *name, std::int64_t otherwise)
{
  const char *text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

struct Draw {
  std::mt19937_64 g;
  explicit Draw(std::uint64_t seed) : g(seed) { }
  int  below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(g); }
  bool coin() { return below(2) == 1; }
  template <class T>
  const T &of(const std::vector<T> &all)
  {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }
};

/// Changes a dominant system to another kind: indefinite, graded rows, stiff, sparse, or keeps it.
template <class Scalar>
const char *spoil(Draw &d, ribbon::Bands<Scalar, Kokkos::HostSpace> &bands)
{
  using Real     = ribbon::real_t<Scalar>;
  const int kind = d.below(5), B = bands.block;
  for (std::size_t c = 0; c < bands.values.extent(0); ++c)
    for (std::size_t i = 0; i < bands.values.extent(1); ++i) {
      const Real scale = static_cast<Real>(std::pow(10.0, d.below(9) - 4));
      for (std::size_t e = 0; e < bands.values.extent(2); ++e) {
        const auto diagonal = static_cast<int>(e) / (B * B) == bands.kl() &&
                              static_cast<int>(e) / B % B == static_cast<int>(e) % B;
        Scalar &a = bands.values(c, i, e);
        if (kind == 1 && diagonal) a *= static_cast<Real>(0.3); // no longer dominant
        if (kind == 2) a *= scale;
        if (kind == 3 && diagonal) a *= static_cast<Real>(1 + 1e-6); // dominant
        if (kind == 4 && d.below(3) == 0) a = Scalar(0);
      }
    }
  const char *names[] = {"dominant", "indefinite", "graded", "dominant", "sparse"};
  return names[kind];
}

template <class Scalar>
void check(std::uint64_t seed)
{
  Draw       d(seed);
  const bool is_float      = std::is_same_v<ribbon::real_t<Scalar>, float>;
  const int  block         = d.below(4) == 0 ? d.of<int>({2, 3, 4, 5, 8}) : 1,
            kl             = block > 1    ? 1
                             : d.below(3) ? d.below(3)
                                          : d.below(9),
            ku             = block > 1    ? 1
                             : d.below(3) ? d.below(3)
                                          : d.below(9);
  const std::int64_t n     = d.below(4) == 0    ? 1 + d.below(12)
                             : d.below(10) == 0 ? 100 + d.below(400)
                             : d.below(40) == 0 ? 500 + d.below(2600)
                                                : 1 + d.below(140);
  const std::int64_t lines = d.below(3) == 0 ? 1 : 1 + d.below(d.below(10) == 0 ? 200 : 40);
  const auto         lhs   = d.of<ribbon::Lhs>(
    {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line, ribbon::Lhs::shifted});
  const bool        periodic = d.coin(), contiguous = d.coin();
  const std::string algorithm = d.of<std::string>(
    {"auto", "auto", "auto", "one_pass", "thomas", "pivoted", "partition", "cyclic_reduction",
     "parallel_cyclic_reduction", "cr_pcr", "toeplitz_cr", "tile_products"});
  auto bands = random_system<Scalar>(
    d.g, lhs == ribbon::Lhs::classes ? std::min<std::int64_t>(3, lines) : matrices_for(lhs, lines), n, kl, ku,
    block, periodic);
  const char *kind = spoil(d, bands);
  assign(d.g, bands, lhs, lines);
  if (lhs == ribbon::Lhs::classes && d.coin()) // neighbours mostly share a class
    for (std::int64_t l = 0; l < lines; ++l)
      bands.class_of_line(static_cast<std::size_t>(l)) =
        static_cast<int>(l / 33 % static_cast<std::int64_t>(bands.values.extent(0)));
  const std::int64_t        ends = d.below(3);
  ribbon::LineSolverOptions options{algorithm};
  Draw                      aside = d; // other draws stay as they were
  if (algorithm == "cr_pcr") options.switch_rows = aside.below(2 * static_cast<int>(n));
  // Rows between the ends are equal, and stored once.
  const bool equal = d.below(6) == 0 && n > 2 * ends + 1;
  auto       given = bands;
  if (equal) {
    given.repeats = n - 2 * ends;
    given.values  = decltype(given.values)("test::given", bands.values.extent(0),
                                          static_cast<std::size_t>(2 * ends + 1), bands.values.extent(2));
    for (std::size_t c = 0; c < bands.values.extent(0); ++c)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::size_t e = 0; e < bands.values.extent(2); ++e) {
          Scalar &all  = bands.values(c, static_cast<std::size_t>(i), e),
                 &once = given.values(c, static_cast<std::size_t>(given.stored(i)), e);
          (i <= ends || i >= n - ends ? once = all : all = once);
        }
  }
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + kind + ", n " + std::to_string(n) + ", lines " +
               std::to_string(lines) + ", kl " + std::to_string(kl) + ", ku " + std::to_string(ku) +
               ", block " + std::to_string(block) + (periodic ? ", ring" : "") +
               (contiguous ? ", contiguous, " : ", interleaved, ") + ribbon::to_string(lhs) +
               (equal ? ", equal rows, " : ", ") + algorithm + ", switch_rows " +
               std::to_string(options.switch_rows) + (is_float ? ", float" : ""));
  const auto set = (contiguous ? ribbon::LineSet::contiguous(n, lines, n + d.below(3))
                               : ribbon::LineSet::interleaved(n, lines))
                     .with_components(block);
  ribbon::LineSolver<Scalar, Exec> solver;
  try {
    solver = ribbon::LineSolver<Scalar, Exec>(Exec(), set, to_device(given), options);
  } catch (const std::invalid_argument &e) {
    if (algorithm.find("reduction") != std::string::npos || algorithm == "cr_pcr")
      if (std::string(e.what()).find("do not fit the scratch of a team") != std::string::npos) return;
    const bool wide = kl > 1 || ku > 1, reduction = algorithm == "cyclic_reduction" ||
                                                    algorithm == "parallel_cyclic_reduction" ||
                                                    algorithm == "cr_pcr";
    EXPECT_TRUE(algorithm == "one_pass" || algorithm == "partition" || algorithm == "toeplitz_cr" ||
                algorithm == "tile_products" || (reduction && wide))
      << "refused";
    return;
  }
  const auto &report = solver.report();
  if (!report.ok()) {
    // Algorithms that need no dominance refuse only matrices that are singular to working precision.
    const double roundoff = static_cast<double>(ribbon::unit_roundoff<Scalar>());
    if (algorithm == "auto" || algorithm == "pivoted") {
      EXPECT_TRUE(report.status == ribbon::FactorStatus::zero_pivot)
        << "status " << static_cast<int>(report.status) << ", probe " << report.probe_error << " ("
        << report.algorithm << ", " << report.reason << ")";
      EXPECT_TRUE(report.smallest_pivot <= std::sqrt(roundoff) || report.rcond <= 10 * roundoff)
        << report.algorithm << ", pivot " << report.smallest_pivot << ", rcond " << report.rcond;
    }
    if (algorithm == "auto" || algorithm == "pivoted" || algorithm == "thomas" || algorithm == "partition") {
      EXPECT_STRNE(kind, "dominant") << "status " << static_cast<int>(report.status) << ", probe "
                                     << report.probe_error << " (" << report.algorithm << ", "
                                     << report.reason << ")";
    }
    return;
  }
  std::vector<Scalar> b(static_cast<std::size_t>(set(lines - 1, n - 1) + block));
  for (auto &v : b) v = random_scalar<Scalar>(d.g);
  const auto x = solve(solver, b);
  // A solution outside the range of the scalar is not an error of the solver: it is visible, and the report
  // indicates it.
  if (report.rcond < static_cast<double>(ribbon::unit_roundoff<Scalar>()) &&
      std::any_of(x.begin(), x.end(),
                  [](const Scalar &v) { return !ribbon::is_finite(ribbon::magnitude(v)); }))
    return;
  // The probe accepts 45 units of roundoff for algorithms that auto selects, and 450 for an algorithm that
  // the caller names. Orthogonal elimination is backward stable.
  const double limit = (report.algorithm.find("pivoted") == 0 ? 1e-14
                        : algorithm == "auto"                 ? 1e-13
                                                              : 1e-12) *
                       (is_float ? 1.2e-7 / 2.2e-16 : 1);
  EXPECT_LE(backward_error(expanded(bands), set, x, b), limit)
    << report.algorithm << ", probe " << report.probe_error << ", rcond " << report.rcond;
}

template <class Scalar>
void check_if_built(std::uint64_t seed)
{
  if constexpr (std::is_same_v<Scalar, double> || !double_alone) check<Scalar>(seed);
}

TEST(Fuzz, RandomSystemsAreSolvedOrReported)
{
  const std::int64_t count = setting("RIBBON_FUZZ", 1200), first = setting("RIBBON_FUZZ_SEED", 1);
  for (std::int64_t k = 0; k < count && !testing::Test::HasFailure(); ++k) {
    const auto seed = static_cast<std::uint64_t>(first + k);
    if (k % 8 == 6) check_if_built<float>(seed);
    else if (k % 8 == 7) check_if_built<Kokkos::complex<double>>(seed);
    else check<double>(seed);
  }
}

// Rows of one stencil, whose rounding errors accumulated (orthogonal elimination of 700 to 3000 rows).
TEST(Fuzz, DrawsThatFailedBefore)
{
  for (std::uint64_t seed : {210100, 214042, 252517, 280861, 288063}) check<double>(seed);
}

} // namespace
