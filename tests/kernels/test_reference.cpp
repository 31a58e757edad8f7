// SPDX-License-Identifier: BSD-2-Clause
// Compares the two references.
#include <ribbon/reference/dense.hpp>
#include <ribbon/reference/sparse.hpp>

#include <gtest/gtest.h>

#include <random>

namespace {

template <class Scalar>
using Rows = std::vector<std::vector<std::pair<std::int64_t, Scalar>>>;

template <class Scalar>
Scalar number(std::mt19937 &random)
{
  std::uniform_real_distribution<double> d(-1, 1);
  if constexpr (std::is_floating_point_v<Scalar>) return static_cast<Scalar>(d(random));
  else return Scalar(d(random), d(random));
}

TEST(Reference, SparseIsDense)
{
  using Complex = Kokkos::complex<double>;
  std::mt19937 random(7);
  const auto   check = [&](auto zero, int n, int kl, int ku, int block, bool periodic) {
    using Scalar = decltype(zero);
    ribbon::Bands<Scalar, Kokkos::HostSpace> bands;
    bands.values = decltype(bands.values)("values", 1, static_cast<std::size_t>(n),
                                          static_cast<std::size_t>((kl + ku + 1) * block * block));
    bands.lower = kl, bands.upper = ku, bands.block = block, bands.periodic = periodic;
    for (std::size_t i = 0; i < bands.values.extent(1); ++i)
      for (std::size_t d = 0; d < bands.values.extent(2); ++d)
        bands.values(0, i, d) = number<Scalar>(random); // not dominant: both need pivoting
    const auto          size = static_cast<std::size_t>(n * block);
    const auto          A    = ribbon::reference::dense(bands, 0);
    Rows<Scalar>        rows(size);
    std::vector<Scalar> b(size);
    for (std::size_t i = 0; i < size; ++i) {
      b[i] = number<Scalar>(random);
      for (std::size_t j = size; j-- > 0;)
        if (A[i * size + j] != Scalar(0)) rows[i].emplace_back(static_cast<std::int64_t>(j), A[i * size + j]);
    }
    const auto x = ribbon::reference::solve(rows, b);
    ASSERT_EQ(x.size(), size);
    EXPECT_LT(ribbon::reference::backward_error(A, x, b), 1e-15) << n << kl << ku << block << periodic;
    EXPECT_LT(ribbon::reference::backward_error(A, ribbon::reference::solve(A, b), b), 1e-13);
  };
  for (int n : {1, 2, 5, 40})
    for (bool periodic : {false, true}) {
      check(0., n, 1, 1, 1, periodic);
      check(0., n, 3, 0, 1, periodic);
      check(0., n, 2, 4, 1, periodic);
      check(0., n, 1, 1, 3, periodic);
      check(Complex(0), n, 2, 2, 1, periodic);
    }
}

TEST(Reference, ASingularLineHasNoSolution)
{
  EXPECT_TRUE(
    ribbon::reference::solve(Rows<double>{{{0, 1.}, {1, 1.}}, {{0, 1.}, {1, 1.}}}, {1., 2.}).empty());
  EXPECT_TRUE(ribbon::reference::solve(Rows<double>{{{0, 1.}}, {}}, {1., 2.}).empty());
  // Zero diagonal, two entries at one place.
  const auto x = ribbon::reference::solve(Rows<double>{{{1, 2.}}, {{0, 4.}, {0, 1.}}}, {1., 2.});
  ASSERT_EQ(x.size(), 2U);
  EXPECT_DOUBLE_EQ(x[0], 0.4);
  EXPECT_DOUBLE_EQ(x[1], 0.5);
}

} // namespace
