// SPDX-License-Identifier: BSD-2-Clause
// Matrices that elimination without row exchanges, or nearly every algorithm, cannot solve. Lines are
// solved to the limit of the algorithm or reported, for every source of coefficients, layout and width.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace test;
using ribbon::Lhs;

namespace {

constexpr std::int64_t lines        = 7;
const char *const      algorithms[] = {"auto", "one_pass", "thomas", "pivoted", "partition", "tile_products"};

/// Whether line l has the tested matrix. The others have a dominant matrix.
bool is_in_question(Lhs lhs, std::int64_t l)
{
  return lhs == Lhs::shared || (lhs == Lhs::classes ? l * 5 % 3 : l % 3) == 1;
}

template <class Bands>
Bands empty_bands(const Bands &like, std::size_t matrices)
{
  Bands bands = like;
  bands.values =
    decltype(bands.values)("test::bands", matrices, like.values.extent(1), like.values.extent(2));
  return bands;
}

/// The same entries in another precision. Complex rows have different phases.
template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> in_scalar(const HostBands<double> &bands)
{
  ribbon::Bands<Scalar, Kokkos::HostSpace> other;
  other.periodic = bands.periodic, other.lower = bands.lower, other.upper = bands.upper,
  other.block  = bands.block;
  other.values = decltype(other.values)("test::bands", 1, bands.values.extent(1), bands.values.extent(2));
  for (std::size_t i = 0; i < bands.values.extent(1); ++i) {
    Scalar turned(1);
    if constexpr (!std::is_floating_point_v<Scalar>)
      turned = Scalar(std::cos(static_cast<double>(i)), std::sin(static_cast<double>(i)));
    for (std::size_t d = 0; d < bands.values.extent(2); ++d)
      other.values(0, i, d) = turned * static_cast<ribbon::real_t<Scalar>>(bands.values(0, i, d));
  }
  return other;
}

/// Places matrix 0 of `bands` in a batch: as the shared matrix, as one of three classes, as the matrix of
/// every third line, or as the first of two with factor 1.
template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> as(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, Lhs lhs)
{
  if (lhs == Lhs::shared) return bands;
  std::mt19937_64   g(1);
  const std::size_t matrices = static_cast<std::size_t>(matrices_for(lhs, lines));
  auto              all      = empty_bands(bands, matrices);
  const auto benign = random_system<Scalar>(g, static_cast<std::int64_t>(matrices), bands.rows(), bands.kl(),
                                            bands.ku(), bands.block, bands.periodic);
  assign(g, all, lhs, lines);
  for (std::size_t c = 0; c < matrices; ++c)
    for (std::size_t i = 0; i < bands.values.extent(1); ++i)
      for (std::size_t d = 0; d < bands.values.extent(2); ++d)
        all.values(c, i, d) =
          (lhs == Lhs::shifted ? c == 0 : c % 3 == 1) ? bands.values(0, i, d) : benign.values(c, i, d);
  for (std::size_t l = 0; l < all.alpha.extent(0); ++l)
    all.alpha(l) = is_in_question(lhs, static_cast<std::int64_t>(l)) ? 1 : 0, all.beta(l) = 1 - all.alpha(l);
  return all;
}

/// The same matrix with zeros between its diagonals, s times as wide: s interleaved systems.
HostBands<double> spread(const HostBands<double> &bands, int s)
{
  const int         h = bands.half_bandwidth();
  HostBands<double> wide;
  wide.periodic = bands.periodic, wide.lower = wide.upper = s * h;
  wide.values = decltype(wide.values)("test::spread", 1, bands.values.extent(1) * static_cast<std::size_t>(s),
                                      static_cast<std::size_t>(2 * s * h + 1));
  for (std::size_t i = 0; i < wide.values.extent(1); ++i)
    for (int d = 0; d <= 2 * h; ++d)
      wide.values(0, i, static_cast<std::size_t>(d * s)) =
        bands.values(0, i / static_cast<std::size_t>(s), static_cast<std::size_t>(d));
  return wide;
}

/// Multiplies every entry of a tridiagonal matrix by a well-conditioned block that also needs row
/// exchanges.
HostBands<double> in_blocks(const HostBands<double> &bands, int B)
{
  HostBands<double> blocks;
  blocks.periodic = bands.periodic, blocks.lower = blocks.upper = 1, blocks.block = B;
  blocks.values =
    decltype(blocks.values)("test::blocks", 1, bands.values.extent(1), static_cast<std::size_t>(3 * B * B));
  for (std::size_t i = 0; i < blocks.values.extent(1); ++i)
    for (int d = 0; d < 3; ++d)
      for (int a = 0; a < B; ++a)
        for (int b = 0; b < B; ++b)
          blocks.values(0, i, static_cast<std::size_t>((d * B + a) * B + b)) =
            bands.values(0, i, static_cast<std::size_t>(d)) * (b == (a + 1) % B ? 1 : -0.1);
  return blocks;
}

/// Largest backward error over the lines with or without the tested matrix. All other lines are set to
/// zero.
template <class Scalar>
double error_of(const ribbon::Bands<Scalar, Kokkos::HostSpace> &own, Lhs lhs, const ribbon::LineSet &set,
                bool in_question, std::vector<Scalar> x, std::vector<Scalar> b)
{
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t i = 0; i < set.rows && is_in_question(lhs, l) != in_question; ++i)
      for (int a = 0; a < set.components; ++a)
        x[static_cast<std::size_t>(set(l, i) + a)] = b[static_cast<std::size_t>(set(l, i) + a)] = 0;
  return backward_error(own, set, x, b);
}

/// Lines are solved to the limit of the algorithm, or reported. A matrix that auto or pivoted reports is
/// singular to working precision, or nearly so. Dominant lines of the same batch are solved in any case.
/// @param regular  auto and pivoted have to solve it
/// @param by_name  limit in double for algorithms that the test names, as the probe allows
template <class Scalar = double>
void expect_honest(const HostBands<double> &given, const std::string &what, const std::vector<Lhs> &sources,
                   bool regular = false, double by_name = 1e-13)
{
  const auto   matrix = in_scalar<Scalar>(given);
  const bool   narrow = matrix.half_bandwidth() <= 2 && matrix.block == 1;
  const double unit =
    static_cast<double>(ribbon::unit_roundoff<Scalar>()) / std::numeric_limits<double>::epsilon();
  for (Lhs lhs : sources)
    for (bool contiguous : {false, true}) {
      // Layouts alternate.
      if (!narrow && contiguous == ((static_cast<int>(lhs) + matrix.rows() + matrix.block) % 2 == 0))
        continue;
      const auto bands = as(matrix, lhs), own = expanded(bands);
      const auto set = (contiguous ? ribbon::LineSet::contiguous(bands.rows(), lines)
                                   : ribbon::LineSet::interleaved(bands.rows(), lines))
                         .with_components(bands.block);
      std::mt19937_64     g(11);
      std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
      for (auto &v : b) v = random_scalar<Scalar>(g);
      for (const std::string algorithm : algorithms) {
        SCOPED_TRACE(what + ", " + to_string(lhs) + (contiguous ? ", contiguous, " : ", interleaved, ") +
                     algorithm + ", " + std::to_string(sizeof(Scalar)) + " bytes");
        const bool                       any = algorithm == "auto" || algorithm == "pivoted";
        ribbon::LineSolver<Scalar, Exec> solver;
        try {
          solver = ribbon::LineSolver<Scalar, Exec>(Exec(), set, to_device(bands), {algorithm});
        } catch (const std::invalid_argument &e) { // no such kernel
          EXPECT_TRUE(!any && algorithm != "thomas") << e.what();
          continue;
        }
        const auto &report = solver.report();
        EXPECT_TRUE(!any || report.ok() ||
                    (!regular && (report.rcond < 1e-12 * unit || report.smallest_pivot < 1e-12 * unit)))
          << report.algorithm << ", " << report.reason << ", probe " << report.probe_error;
        if (!report.ok() && lhs == Lhs::shared) continue;
        const auto   x     = solve(solver, b);
        const double limit = unit * (report.algorithm.find("pivoted") == 0 ? 1e-14
                                     : algorithm == "auto"                 ? 1e-13
                                     : std::is_same_v<Scalar, double>      ? by_name
                                                                           : 1e-12);
        EXPECT_LE(report.ok() ? error_of(own, lhs, set, true, x, b) : 0, limit)
          << report.algorithm << ", probe " << report.probe_error << ", rcond " << report.rcond;
        EXPECT_LE(error_of(own, lhs, set, false, x, b), limit)
          << "dominant lines, " << report.algorithm << ", status " << static_cast<int>(report.status);
      }
    }
}

const std::vector<Lhs> every_source = {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted};

/// Rows far from size 1, and rows that differ by 1e16.
HostBands<double> rows_scaled(std::int64_t n)
{
  auto scaled = toeplitz(n, {-1, 2.1, -1}, false);
  for (std::size_t i = 0; i < scaled.values.extent(1); i += 7)
    for (std::size_t d = 0; d < 3; ++d) scaled.values(0, i, d) *= i % 2 ? 1e8 : 1e-8;
  return scaled;
}

TEST(Killers, AreNeverSilentlyWrong)
{
  struct Stencil {
    std::int64_t        n;
    std::vector<double> row;
    bool                periodic;
  };
  const std::vector<Stencil> stencils = {
    {256, {-1e4, 1, 1e4}, false},     {256, {-1.5, 1, 0}, false},
    {256, {-1.5, 1, 0}, true},        {1024, {1, 0, 1}, false},
    {300, {-1, 1, 1}, false},         {400, {-1, 2 + 1e-10, -1}, true},
    {400, {-1, 2 + 1e-14, -1}, true}, {300, {1e10, -4e10, 1 + 6e10, -4e10, 1e10}, true},
    {150, {0.01, 1, -100}, false},    {200, {0.01, 1, -100}, false},
    {400, {0.01, 1, -100}, false}};
  for (const auto &s : stencils) {
    const std::string what = "stencil " + std::to_string(&s - stencils.data());
    expect_honest(toeplitz(s.n, s.row, s.periodic), what, every_source);
    // scalars in turn
    if ((&s - stencils.data()) % 2 == 0)
      expect_honest<float>(toeplitz(s.n, s.row, s.periodic), what, every_source);
    else expect_honest<Kokkos::complex<double>>(toeplitz(s.n, s.row, s.periodic), what, every_source);
    const auto short_one = toeplitz(std::min<std::int64_t>(s.n, 120), s.row, s.periodic);
    if (s.row.size() == 5) {
      expect_honest(spread(short_one, 2), what + ", K = 4", every_source);
      continue;
    }
    const auto k = static_cast<int>(&s - stencils.data());
    for (int K : {3, 4})
      expect_honest(spread(short_one, K), what + ", K = " + std::to_string(K), every_source);
    for (int B : {2, 3 + k % 2})
      expect_honest(in_blocks(short_one, B), what + ", blocks of " + std::to_string(B), every_source);
  }
  expect_honest(rows_scaled(200), "rows scaled by 1e+-8", every_source, true);
  expect_honest<float>(rows_scaled(200), "rows scaled by 1e+-8", every_source, true);
  expect_honest<Kokkos::complex<double>>(rows_scaled(200), "rows scaled by 1e+-8", every_source, true);
  expect_honest(in_blocks(rows_scaled(100), 2), "rows of blocks scaled by 1e+-8", every_source, true);
}

TEST(Killers, RandomMatricesAreNeverSilentlyWrong)
{
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 g(seed);
    auto            bands = random_bands<double>(g, 1, 90, seed % 2 ? 1 : 2, seed % 4 < 2, Kind::dominant);
    // Not dominant any more.
    for (std::size_t i = 0; i < 90; ++i)
      bands.values(0, i, static_cast<std::size_t>(bands.half_bandwidth())) *= 0.4;
    expect_honest(bands, "seed " + std::to_string(seed), {Lhs::shared, every_source[seed % 3 + 1]});
    if (seed < 12)
      expect_honest<float>(bands, "seed " + std::to_string(seed), {Lhs::shared, every_source[seed % 3 + 1]});
    if (seed < 12)
      expect_honest<Kokkos::complex<double>>(bands, "seed " + std::to_string(seed),
                                             {Lhs::shared, every_source[seed % 3 + 1]});
  }
}

/// The first pivot is zero, but the matrix is regular: auto solves it.
TEST(Killers, AZeroLeadingPivot)
{
  for (const std::vector<double> &row :
       {std::vector<double>{-1, 4, -1}, std::vector<double>{1, -4, 11, -4, 1}})
    for (bool periodic : {false, true})
      for (std::int64_t n : {8, 67}) {
        auto bands                         = toeplitz(n, row, periodic);
        bands.values(0, 0, row.size() / 2) = 0;
        const std::string what = "zero leading pivot, half-bandwidth " + std::to_string(row.size() / 2) +
                                 (periodic ? ", ring of " : ", rows ") + std::to_string(n);
        expect_honest(bands, what, every_source, true);
        expect_honest<float>(bands, what, every_source, true);
        expect_honest<Kokkos::complex<double>>(bands, what, every_source, true);
        expect_honest(spread(bands, row.size() == 3 ? 3 : 2), what + ", spread", every_source, true);
        if (row.size() == 3)
          for (int B : {2, 3, 4})
            expect_honest(in_blocks(bands, B), what + ", blocks of " + std::to_string(B), every_source, true);
      }
}

/// -x_(i-1) + s x_i - x_(i+1) with s at or near 2 cos(k pi / (n + 1)) (open) or 2 cos(2 k pi / n) (rings):
/// singular, nearly singular, and indefinite. One matrix, and a Helmholtz family with another k on every
/// line.
TEST(Killers, ResonantIndefiniteToeplitz)
{
  const double pi = std::acos(-1.0);
  for (bool periodic : {false, true})
    for (std::int64_t n : {16, 31, 100, 255})
      for (double beside : {0.0, 1e-15, 1e-12, 1e-8, 1e-3}) {
        const auto shift = [&](std::int64_t k) {
          return 2 * std::cos(periodic ? 2 * pi * static_cast<double>(k) / static_cast<double>(n)
                                       : pi * static_cast<double>(k) / static_cast<double>(n + 1)) +
                 beside;
        };
        const std::string what = (periodic ? "ring of " : "rows ") + std::to_string(n) + ", " +
                                 std::to_string(beside) + " beside resonance";
        for (std::int64_t k : {std::int64_t(1), n / 3, n / 2})
          expect_honest(toeplitz(n, {-1, shift(k), -1}, periodic), what + ", k " + std::to_string(k),
                        {k == 1 ? Lhs::per_line : Lhs::shared}, false, 1e-12); // as the probe allows
        for (bool contiguous : {false, true})
          for (const std::string algorithm : {"auto", "one_pass", "thomas", "pivoted", "cr_pcr"}) {
            SCOPED_TRACE(what + ", a family, " + algorithm + (contiguous ? ", contiguous" : ", interleaved"));
            const std::int64_t modes  = n / 2;
            HostBands<double>  bands  = toeplitz(n, {-1, 0, -1}, periodic);
            HostBands<double>  family = empty_bands(bands, 2);
            family.lhs                = Lhs::shifted;
            family.alpha = decltype(family.alpha)("test::alpha", static_cast<std::size_t>(modes)),
            family.beta  = decltype(family.beta)("test::beta", static_cast<std::size_t>(modes));
            for (std::size_t i = 0; i < bands.values.extent(1); ++i)
              for (std::size_t d = 0; d < 3; ++d)
                family.values(0, i, d) = bands.values(0, i, d), family.values(1, i, d) = d == 1 ? 1 : 0;
            for (std::int64_t l = 0; l < modes; ++l)
              family.alpha(static_cast<std::size_t>(l)) = 1,
              family.beta(static_cast<std::size_t>(l))  = shift(l + 1);
            const auto set =
              contiguous ? ribbon::LineSet::contiguous(n, modes) : ribbon::LineSet::interleaved(n, modes);
            const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(family), {algorithm});
            const bool                             any = algorithm == "auto" || algorithm == "pivoted";
            EXPECT_TRUE(!any || solver.report().ok() || beside < 1e-8)
              << solver.report().algorithm << ", " << solver.report().reason;
            if (!solver.report().ok()) continue;
            std::mt19937_64     g(3);
            std::vector<double> b(static_cast<std::size_t>(set.unknowns()));
            for (auto &v : b) v = random_scalar<double>(g);
            EXPECT_LE(backward_error(expanded(family), set, solve(solver, b), b),
                      solver.report().algorithm.find("pivoted") == 0 ? 1e-14
                      : algorithm == "auto"                          ? 1e-13
                                                                     : 1e-12)
              << solver.report().algorithm;
          }
      }
}

/// Wright's boundary value problem ("A collection of problems for which Gaussian elimination with partial
/// pivoting is unstable", 1993), exp(h S) with separated ends. Elimination with row exchanges grows as 2^n.
/// The problem is stated as a ring of bands and of blocks.
TEST(Killers, GrowthOfWrightsBoundaryValueProblem)
{
  const double h = 0.3, c = std::exp(-h / 6) * std::cosh(h), q = std::exp(-h / 6) * std::sinh(h);
  for (std::int64_t n : {30, 200, 1000}) {
    HostBands<double> blocks, bands;
    blocks.periodic = bands.periodic = true, blocks.lower = blocks.upper = 1, blocks.block = 2,
    bands.lower = 3, bands.upper = 0;
    blocks.values = decltype(blocks.values)("test::blocks", 1, static_cast<std::size_t>(n), 12),
    bands.values  = decltype(bands.values)("test::bands", 1, static_cast<std::size_t>(2 * n), 4);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      for (std::size_t a = 0; a < 2; ++a) {
        const double same = i == 0 ? -1 : c, other = i == 0 ? 0 : q; // entries of exp(h S)
        blocks.values(0, i, 4 + 3 * a) = bands.values(0, 2 * i + a, 3) = 1;
        blocks.values(0, i, 3 * a) = bands.values(0, 2 * i + a, 1) = -same;
        blocks.values(0, i, a == 0 ? 1 : 2) = bands.values(0, 2 * i + a, a == 0 ? 2 : 0) = -other;
      }
    expect_honest(blocks, "blocks, " + std::to_string(n) + " rows", every_source, true);
    expect_honest(bands, "bands, " + std::to_string(2 * n) + " rows", every_source, true);
  }
}

} // namespace
