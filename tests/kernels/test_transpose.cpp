// SPDX-License-Identifier: BSD-2-Clause
// Solves with A^T and A^H: bands of transposed matrices, compared with the transposed dense reference.
#include "batch.hpp"

#include <ribbon/matrix/transpose.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

using namespace test;
using ribbon::Lhs;

namespace {

struct System {
  int  kl, ku, block;
  bool periodic;
};

/// Random dominant matrices. For shifted complex ones, alpha and beta of a line have the same phase, so
/// that their sum is dominant, too. Entries outside of open matrices are NaN, because no kernel may read
/// them.
template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> batch(std::mt19937_64 &g, const System &s, Lhs lhs, std::int64_t n,
                                               std::int64_t lines)
{
  auto bands = random_system<Scalar>(g, matrices_for(lhs, lines), n, s.kl, s.ku, s.block, s.periodic);
  assign(g, bands, lhs, lines);
  if constexpr (!std::is_floating_point_v<Scalar>)
    for (std::size_t l = 0; l < bands.alpha.extent(0); ++l) {
      const auto   t     = static_cast<ribbon::real_t<Scalar>>(l) + 1;
      const Scalar phase = {std::cos(t), std::sin(t)};
      bands.alpha(l) *= phase, bands.beta(l) *= phase;
    }
  const std::int64_t BB = s.block * s.block;
  for (std::size_t c = 0; c < bands.values.extent(0); ++c)
    for (std::int64_t i = 0; i < n && !s.periodic; ++i)
      for (std::int64_t d = -s.kl; d <= s.ku; ++d)
        if (i + d < 0 || i + d >= n)
          for (std::int64_t e = 0; e < BB; ++e)
            bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>((d + s.kl) * BB + e)) =
              std::numeric_limits<ribbon::real_t<Scalar>>::quiet_NaN();
  return bands;
}

/// The dense transpose of a dense n x n matrix.
template <class Scalar>
std::vector<Scalar> transposed(const std::vector<Scalar> &A, std::size_t n, bool conjugated)
{
  std::vector<Scalar> T(A.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      T[j * n + i] = conjugated ? ribbon::conjugate(A[i * n + j]) : A[i * n + j];
  return T;
}

template <class Scalar>
void check(const System &s, Lhs lhs, bool contiguous, std::int64_t n, const std::string &algorithm,
           bool conjugated)
{
  const std::int64_t  lines = 5;
  const std::uint64_t seed  = static_cast<std::uint64_t>(n * 100 + s.kl * 10 + s.ku);
  SCOPED_TRACE(testing::Message() << algorithm << ", n " << n << ", kl " << s.kl << ", ku " << s.ku
                                  << ", block " << s.block << (s.periodic ? ", ring, " : ", open, ")
                                  << (contiguous ? "contiguous, " : "interleaved, ") << to_string(lhs)
                                  << (conjugated ? ", conjugated" : "") << ", " << sizeof(Scalar)
                                  << " bytes, seed " << seed);
  std::mt19937_64 g(seed);
  const auto      bands = batch<Scalar>(g, s, lhs, n, lines);
  const auto      set =
    (contiguous ? ribbon::LineSet::contiguous(n, lines) : ribbon::LineSet::interleaved(n, lines))
      .with_components(s.block);
  const auto given = ribbon::transpose(Exec(), to_device(bands), conjugated);
  EXPECT_EQ(given.kl(), s.ku);
  EXPECT_EQ(given.ku(), s.kl);
  const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, given, {algorithm});
  ASSERT_TRUE(solver.report().ok()) << solver.report().algorithm << ", " << solver.report().reason;
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns()));
  for (auto &v : b) v = random_scalar<Scalar>(g);
  const auto x   = solve(solver, b);
  const auto own = expanded(bands);
  for (std::int64_t l = 0; l < lines; ++l) {
    std::vector<Scalar> mine, right;
    for (std::int64_t i = 0; i < n; ++i)
      for (int c = 0; c < s.block; ++c)
        mine.push_back(x[static_cast<std::size_t>(set(l, i) + c)]),
          right.push_back(b[static_cast<std::size_t>(set(l, i) + c)]);
    const auto A = transposed(ribbon::reference::dense(own, matrix_of(own, l)), mine.size(), conjugated);
    EXPECT_LE(ribbon::reference::backward_error(A, mine, right),
              45 * static_cast<double>(ribbon::unit_roundoff<Scalar>()))
      << "line " << l;
  }
}

TEST(TransposedBands, AreSolvedAsTheTransposeAndTheConjugateTranspose)
{
  for (const System &s : {System{1, 1, 1, false}, System{1, 1, 1, true}, System{2, 1, 1, true},
                          System{0, 3, 1, false}, System{4, 2, 1, true}, System{8, 2, 1, false},
                          System{1, 1, 2, true}, System{1, 1, 3, false}, System{1, 1, 4, true}})
    for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
      for (std::int64_t n : {1, 3, 2 * s.kl + 1, 41})
        for (const char *algorithm : {"auto", "pivoted"})
          for (bool conjugated : {false, true}) {
            const bool contiguous = n % 4 == 1;
            check<double>(s, lhs, contiguous, n, algorithm, conjugated);
            check<Kokkos::complex<double>>(s, lhs, contiguous, n, algorithm, conjugated);
            if (n == 41)
              check<float>(s, lhs, contiguous, n, algorithm, conjugated),
                check<Kokkos::complex<float>>(s, lhs, contiguous, n, algorithm, conjugated);
          }
}

/// Algorithms that eliminate in flight, and `partition`, accept transposed bands as any others.
TEST(TransposedBands, AreTakenByEveryAlgorithm)
{
  using Complex = Kokkos::complex<double>;
  for (bool periodic : {false, true})
    for (bool conjugated : {false, true})
      for (bool contiguous : {false, true}) {
        for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
          for (const char *algorithm : {"one_pass", "thomas", "cyclic_reduction", "cr_pcr"})
            check<Complex>({1, 1, 1, periodic}, lhs, contiguous, 70, algorithm, conjugated);
        for (Lhs lhs : {Lhs::shared, Lhs::per_line, Lhs::shifted})
          check<Complex>({1, 2, 1, periodic}, lhs, contiguous, 210, "partition", conjugated);
        check<double>({3, 1, 1, periodic}, Lhs::shared, contiguous, 70, "tile_products", conjugated);
      }
}

/// The transpose of the transpose is the matrix itself, and the caller's arrays do not change.
TEST(TransposedBands, OfTransposedBandsAreTheMatrixItself)
{
  using Complex = Kokkos::complex<double>;
  for (Lhs lhs : {Lhs::per_line, Lhs::shifted})
    for (const System &s : {System{3, 1, 1, true}, System{3, 1, 1, false}, System{1, 1, 2, true}})
      for (bool conjugated : {false, true}) {
        std::mt19937_64 g(3);
        const auto      bands = batch<Complex>(g, s, lhs, 9, 4);
        const auto      once  = ribbon::transpose(Exec(), to_device(bands), conjugated);
        const auto A = expanded(bands), back = ribbon::to_host(ribbon::transpose(Exec(), once, conjugated));
        for (std::int64_t l = 0; l < 4; ++l)
          EXPECT_EQ(ribbon::reference::dense(A, l), ribbon::reference::dense(back, l))
            << to_string(lhs) << s.kl << s.periodic << conjugated << l;
      }
}

TEST(Transpose, SolvesWithTheTransposedMatrices)
{
  for (int h : {1, 2})
    for (bool periodic : {false, true})
      for (std::int64_t n : {1, 2, 3, 5, 40}) {
        std::mt19937_64 g(static_cast<std::uint64_t>(n));
        const auto      bands = random_bands<double>(g, 1, n, h, periodic, Kind::dominant);
        const auto      t     = ribbon::transpose<double>(Exec(), to_device(bands));
        Kokkos::fence();
        ribbon::Bands<double, Kokkos::HostSpace> host = bands;
        host.values  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, t.values);
        const auto A = ribbon::reference::dense(bands, 0), B = ribbon::reference::dense(host, 0);
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            EXPECT_NEAR(A[static_cast<std::size_t>(i * n + j)], B[static_cast<std::size_t>(j * n + i)], 1e-15)
              << h << periodic << n;
      }
}

} // namespace
