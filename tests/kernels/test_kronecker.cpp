// SPDX-License-Identifier: BSD-2-Clause
// Bands of I x S + A x T, compared with dense matrices.
#include "batch.hpp"

#include <ribbon/matrix/kronecker.hpp>

#include <gtest/gtest.h>

namespace {

using Lhs = ribbon::Lhs;

/// Lines of A. class_of(l) is the matrix of line l.
struct Lines {
  std::int64_t count, rows;
  int          class_of(Lhs lhs, std::int64_t l) const
  {
    return lhs == Lhs::shared ? 0 : static_cast<int>(lhs == Lhs::classes ? (2 * l + 1) % 3 : l);
  }
};
constexpr Lines lines = {5, 6};

template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> bands_of(Lhs lhs, int half_bandwidth, bool periodic)
{
  std::mt19937_64 random(7);
  auto            bands = test::random_bands<Scalar>(random, test::matrices_for(lhs, lines.count), lines.rows,
                                          half_bandwidth, periodic, test::Kind::dominant);
  bands.lhs             = lhs;
  if (lhs != Lhs::classes) return bands;
  bands.class_of_line = decltype(bands.class_of_line)("test::class", static_cast<std::size_t>(lines.count));
  for (std::int64_t l = 0; l < lines.count; ++l)
    bands.class_of_line(static_cast<std::size_t>(l)) = lines.class_of(lhs, l);
  return bands;
}

/// The dense matrix of line l.
template <class Scalar>
std::vector<Scalar> dense(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands, std::int64_t l)
{
  return ribbon::reference::dense(bands, bands.lhs == Lhs::shared ? 0
                                         : bands.lhs == Lhs::classes
                                           ? bands.class_of_line(static_cast<std::size_t>(l))
                                           : l);
}

template <class Scalar>
class Kronecker : public ::testing::Test {
};
using Scalars = ::testing::Types<double, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Kronecker, Scalars);

/// Compares every line of the result with S and T (p x p). If components couple, its unknowns are those of
/// p lines of A together.
template <class Scalar>
void expect_product(Lhs lhs, int half_bandwidth, bool periodic, int p, const std::vector<Scalar> &S,
                    const std::vector<Scalar> &T, Lhs expected)
{
  const auto A       = bands_of<Scalar>(lhs, half_bandwidth, periodic);
  const auto factors = ribbon::KroneckerFactors<Scalar>::from_dense(p, S, T);
  const auto product = ribbon::kronecker(test::Exec(), test::to_device(A), lines.count, factors);
  Kokkos::fence();
  EXPECT_EQ(product.lhs, expected);
  const auto        found = ribbon::to_host(product);
  const std::size_t n = static_cast<std::size_t>(lines.rows), P = static_cast<std::size_t>(p);
  const std::size_t in_line = factors.coupled ? P : 1; // number of components
  for (std::int64_t l = 0; l < lines.count; ++l) {
    const auto a = dense(A, l);
    for (std::size_t first = 0; first < P; first += in_line) {
      const auto x = dense(found, factors.coupled ? l : l * p + static_cast<std::int64_t>(first));
      ASSERT_EQ(x.size(), n * n * in_line * in_line);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t c = 0; c < in_line; ++c)
            for (std::size_t e = 0; e < in_line; ++e) {
              const std::size_t at   = (first + c) * P + first + e;
              const Scalar      want = (i == j ? S[at] : Scalar(0)) + T[at] * a[i * n + j];
              EXPECT_LE(static_cast<double>(
                          ribbon::magnitude(x[(i * in_line + c) * n * in_line + j * in_line + e] - want)),
                        1e-14)
                << "line " << l << ", rows " << i << " and " << j << ", components " << c << " and " << e;
            }
    }
  }
}

TYPED_TEST(Kronecker, EqualComponentsShareAMatrix)
{
  using Scalar = TypeParam;
  for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line})
    for (bool periodic : {false, true})
      expect_product<Scalar>(lhs, 2, periodic, 3, {2, 0, 0, 0, 2, 0, 0, 0, 2}, {3, 0, 0, 0, 3, 0, 0, 0, 3},
                             lhs == Lhs::shared ? Lhs::shared : Lhs::classes);
}

TYPED_TEST(Kronecker, DifferentComponentsAreClasses)
{
  using Scalar = TypeParam;
  for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line})
    for (bool periodic : {false, true})
      expect_product<Scalar>(lhs, 1, periodic, 2, {2, 0, 0, -1}, {3, 0, 0, 3}, Lhs::classes);
}

TYPED_TEST(Kronecker, CoupledComponentsAreBlocks)
{
  using Scalar = TypeParam;
  for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line})
    for (bool periodic : {false, true})
      expect_product<Scalar>(lhs, 1, periodic, 2, {2, 0.5, 0, -1}, {3, 1, -4, 5}, lhs);
}

TEST(KroneckerFactors, DefaultIsAForAllComponents)
{
  const auto A       = bands_of<double>(Lhs::shared, 1, false);
  const auto product = ribbon::to_host(
    ribbon::kronecker(test::Exec(), test::to_device(A), lines.count, ribbon::KroneckerFactors<double>()));
  EXPECT_EQ(dense(product, 0), dense(A, 0));
}

TEST(KroneckerFactors, SimplestForm)
{
  using Factors       = ribbon::KroneckerFactors<double>;
  const auto equal    = Factors::from_dense(2, {2, 0, 0, 2}, {3, 0, 0, 3}),
             diagonal = Factors::from_dense(2, {2, 0, 0, 2}, {3, 0, 0, 4}),
             coupled  = Factors::from_dense(2, {2, 0, 0, 2}, {3, 0, 1, 3});
  EXPECT_EQ(equal.S, std::vector<double>({2}));
  EXPECT_EQ(equal.T, std::vector<double>({3}));
  EXPECT_EQ(diagonal.S, std::vector<double>({2, 2}));
  EXPECT_EQ(diagonal.T, std::vector<double>({3, 4}));
  EXPECT_FALSE(equal.coupled || diagonal.coupled);
  EXPECT_TRUE(coupled.coupled);
  EXPECT_EQ(coupled.T, std::vector<double>({3, 0, 1, 3}));
}

} // namespace
