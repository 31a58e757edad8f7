// SPDX-License-Identifier: BSD-2-Clause
// Chains of all lengths, half-bandwidths and values compared with LAPACK's gbsv.
#include "chain_lapack.hpp"

using namespace test;
using namespace test::chain_lapack;

namespace {

template <class Scalar>
void check(const ribbon::Chain &chain, Values values, const std::vector<std::int64_t> &leaves,
           std::int64_t columns, bool permuted, std::uint64_t seed)
{
  SCOPED_TRACE(testing::Message() << "seed " << seed << " values " << static_cast<int>(values)
                                  << (permuted ? " permuted" : ""));
  std::mt19937_64             g(seed);
  const auto                  s = filled<Scalar>(chain, values, permuted, g);
  const ChainOnDevice<Scalar> device(s);
  const Wanted<Scalar>        wanted(s, columns, g);
  for (std::int64_t leaf : leaves) {
    expect_as_gbsv(s, device, leaf, wanted);
    if (values == Values::dominant) expect_as_gbsv<ribbon::SchurSolver>(s, device, leaf, wanted);
  }
}

TEST(ChainLapack, BandsAndRings)
{
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (bool ring : {false, true}) {
      for (int p = 1; p <= 5; ++p)
        for (Values values : {Values::dominant, Values::random, Values::symmetric}) {
          check<double>({301 + 100 * p, 1, p, p, ring}, values, {0, 8, 64}, 2, seed % 2 == 0, seed);
          if (p < 4)
            check<Kokkos::complex<double>>({401, 1, p, p, ring}, values, {0, 8, 64}, 1, seed % 2 == 0, seed);
        }
      for (const auto &[kl, ku] :
           {std::pair(0, 1), std::pair(2, 0), std::pair(3, 1), std::pair(1, 4), std::pair(5, 2)})
        for (Values values : {Values::dominant, Values::random})
          check<double>({60, 2, kl, ku, ring}, values, {0, 8, 20}, 2, seed % 2 == 0, seed);
    }
}

// Sizes near one leaf, near full tiles of 32 leaves, and primes.
TEST(ChainLapack, SizesAroundTilesAndPrimes)
{
  for (int p : {1, 2, 3, 5})
    for (bool ring : {false, true}) {
      for (std::int64_t leaf : {64, 65})
        for (std::int64_t n :
             {leaf - 1, leaf, leaf + 1, 2 * leaf + 1, 32 * leaf - 1, 32 * leaf, 32 * leaf + 1})
          check<double>({n, 1, p, p, ring}, p == 2 ? Values::random : Values::dominant, {leaf},
                        n % 2 == 0 ? 5 : 1, false, static_cast<std::uint64_t>(n));
      for (std::int64_t n : {1009, 2003, 10007})
        check<double>({n, 1, p, p, ring}, p == 2 ? Values::dominant : Values::random, {0, 8, 64}, 1, false,
                      static_cast<std::uint64_t>(n));
    }
}

TEST(ChainLapack, AMillionRows)
{
  for (int p = 1; p <= 5; ++p)
    check<double>({1000000, 1, p, p}, Values::random,
                  p % 2 == 1 ? std::vector<std::int64_t>{0, 64} : std::vector<std::int64_t>{0}, 1, false, 5);
  check<double>({1000000, 1, 1, 1, true}, Values::dominant, {0}, 1, false, 5);
}

// Half-bandwidths whose loops no other test runs, in band LU and in tiles, from a few rows on.
TEST(ChainLapack, WideBands)
{
  for (int p = 6; p <= 10; ++p)
    for (Values values : {Values::dominant, Values::symmetric, Values::random})
      for (std::int64_t n : {1, p - 1, p, p + 1, 2 * p, 2 * p + 1, 3 * p + 2, 211})
        for (std::int64_t columns : {1, 4}) {
          check<double>({n, 2, p, p}, values, {0, 20}, columns, n > 100, static_cast<std::uint64_t>(n + p));
          if (n > 2 * p)
            check<double>({n, 1, p, p, true}, values, {0, 20}, columns, n > 100,
                          static_cast<std::uint64_t>(n + p));
        }
  for (const auto &[kl, ku] : {std::pair(10, 0), std::pair(0, 10), std::pair(9, 1), std::pair(2, 8),
                               std::pair(7, 3), std::pair(4, 6), std::pair(7, 1), std::pair(2, 6),
                               std::pair(0, 8), std::pair(6, 0), std::pair(10, 3), std::pair(8, 10)})
    for (bool ring : {false, true})
      for (Values values : {Values::dominant, Values::random})
        check<double>({690, 1, kl, ku, ring}, values, {0, 17, 64}, ring ? 1 : 3, ring,
                      static_cast<std::uint64_t>(kl));
}

// Widths without specialized loops.
TEST(ChainLapack, BandsToTheWidest)
{
  for (const auto &[kl, ku] : {std::pair(11, 11), std::pair(12, 20), std::pair(16, 16), std::pair(0, 32),
                               std::pair(25, 3), std::pair(32, 32)})
    for (bool ring : {false, true})
      for (Values values : {Values::dominant, Values::random}) {
        check<double>({3 * (kl + ku) + 5, 1, kl, ku, ring}, values, {0}, 2, ring,
                      static_cast<std::uint64_t>(kl + ku));
        check<double>({411, 1, kl, ku, ring}, values, {0, 70}, 2, !ring, static_cast<std::uint64_t>(kl + ku));
      }
}

} // namespace
