// SPDX-License-Identifier: BSD-2-Clause
// Determinants of every matrix of a batch, compared with those of the dense matrices.
#include "batch.hpp"

#include <ribbon/matrix/determinants.hpp>

#include <gtest/gtest.h>

#include <limits>

using namespace test;

namespace {

template <class Scalar>
struct Found {
  std::vector<double> log_abs;
  std::vector<Scalar> sign;
};

template <class Scalar>
Found<Scalar> found(const ribbon::Bands<Scalar, Kokkos::HostSpace> &bands)
{
  const auto                           count = static_cast<std::size_t>(bands.matrices());
  const Kokkos::View<double *, Memory> log_abs("test::log_abs_det", count);
  const Kokkos::View<Scalar *, Memory> sign("test::sign", count);
  ribbon::determinants(Exec(), to_device(bands), log_abs, sign);
  const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), log_abs);
  const auto s = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sign);
  return {std::vector<double>(a.data(), a.data() + count), std::vector<Scalar>(s.data(), s.data() + count)};
}

/// Random matrices whose rows are not diagonally dominant and need exchanges.
template <class Scalar>
void expect_determinants(ribbon::Lhs lhs, std::int64_t n, int kl, int ku, int block, bool periodic)
{
  SCOPED_TRACE(std::string(ribbon::to_string(lhs)) + ", n " + std::to_string(n) + ", kl " +
               std::to_string(kl) + ", ku " + std::to_string(ku) + ", block " + std::to_string(block) +
               (periodic ? ", ring" : ""));
  std::mt19937_64 g(static_cast<std::uint64_t>(n * 100 + kl * 10 + ku));
  auto            bands = random_system<Scalar>(g, matrices_for(lhs, 7), n, kl, ku, block, periodic);
  for (std::size_t k = 0; k < bands.values.size(); ++k) bands.values.data()[k] = random_scalar<Scalar>(g);
  assign(g, bands, lhs, 7);
  const auto   got       = found(bands);
  const auto   own       = expanded(bands);
  const double tolerance = 4e5 * static_cast<double>(ribbon::unit_roundoff<Scalar>());
  for (std::size_t c = 0; c < got.sign.size(); ++c) {
    const auto det = determinant(own, static_cast<std::int64_t>(c));
    EXPECT_NEAR(got.log_abs[c], std::log(std::abs(det)), tolerance) << "matrix " << c;
    const auto expected = det / std::abs(det);
    if constexpr (std::is_floating_point_v<Scalar>)
      EXPECT_EQ(static_cast<double>(got.sign[c]), expected.real()) << "matrix " << c;
    else
      EXPECT_LT(std::abs(std::complex<double>(got.sign[c].real(), got.sign[c].imag()) - expected), tolerance)
        << "matrix " << c;
  }
}

TEST(Determinants, OfEveryMatrix)
{
  for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line, ribbon::Lhs::shifted})
    for (bool periodic : {false, true})
      for (std::int64_t n : {1, 2, 3, 4, 5, 6, 17, 40}) {
        expect_determinants<double>(lhs, n, 1, 1, 1, periodic);
        expect_determinants<double>(lhs, n, 2, 2, 1, periodic);
        expect_determinants<double>(lhs, n, 2, 1, 1, periodic);
        expect_determinants<double>(lhs, n, 0, 3, 1, periodic);
        expect_determinants<double>(lhs, n, 8, 8, 1, periodic);
        expect_determinants<double>(lhs, n, 1, 1, 2, periodic);
        expect_determinants<double>(lhs, n, 1, 1, 3, periodic);
        expect_determinants<float>(lhs, n, 2, 2, 1, periodic);
        expect_determinants<Kokkos::complex<double>>(lhs, n, 1, 2, 1, periodic);
        expect_determinants<Kokkos::complex<float>>(lhs, n, 1, 1, 2, periodic);
      }
}

TEST(Determinants, BeyondTheRangeOfDouble)
{
  ribbon::Bands<double, Kokkos::HostSpace> bands;
  // tri(-1, 2, -1), whose determinant is n + 1, and -1e5 times this matrix.
  bands.values = decltype(bands.values)("test::bands", 2, 3000, 3);
  bands.lhs    = ribbon::Lhs::per_line;
  for (std::size_t i = 0; i < 3000; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      bands.values(0, i, d) = d == 1 ? 2 : -1, bands.values(1, i, d) = -1e5 * bands.values(0, i, d);
  const auto got = found(bands);
  EXPECT_NEAR(got.log_abs[0], std::log(3001.0), 1e-9);
  EXPECT_NEAR(got.log_abs[1], std::log(3001.0) + 3000 * std::log(1e5), 1e-7);
  EXPECT_EQ(got.sign[0], 1);
  EXPECT_EQ(got.sign[1], 1);
}

TEST(Determinants, SingularMatricesAndNaNAreTold)
{
  std::mt19937_64 g(3);
  for (bool periodic : {false, true}) {
    auto bands = random_system<double>(g, 4, 30, 1, 1, 1, periodic);
    bands.lhs  = ribbon::Lhs::per_line;
    for (std::size_t d = 0; d < 3; ++d) bands.values(1, 11, d) = 0;
    for (std::size_t i = 0; i < 30; ++i) bands.values(2, i, 0) = bands.values(2, i, 2) = 0;
    bands.values(2, 29, 1) = 0;
    bands.values(3, 8, 1)  = std::numeric_limits<double>::quiet_NaN();
    const auto got         = found(bands);
    EXPECT_EQ(got.sign[0], 1); // dominant, positive diagonal
    for (std::size_t c : {1, 2}) {
      EXPECT_EQ(got.log_abs[c], -std::numeric_limits<double>::infinity());
      EXPECT_EQ(got.sign[c], 0);
    }
    EXPECT_TRUE(std::isnan(got.log_abs[3]) && std::isnan(got.sign[3]));
  }
}

TEST(Determinants, NeedAPlaceForEveryMatrix)
{
  std::mt19937_64                      g(5);
  const auto                           bands = to_device(random_system<double>(g, 4, 30, 1, 1, 1, false));
  const Kokkos::View<double *, Memory> four("test::four", 4), three("test::three", 3);
  EXPECT_THROW(ribbon::determinants(Exec(), bands, four, three), std::invalid_argument);
  EXPECT_THROW(ribbon::determinants(Exec(), bands, three, four), std::invalid_argument);
}

TEST(Determinants, AgreeWithTheReport)
{
  std::mt19937_64                        g(5);
  const auto                             bands = random_bands<double>(g, 1, 200, 2, true, Kind::dominant);
  const ribbon::LineSolver<double, Exec> solver(Exec(), ribbon::LineSet::interleaved(200, 3),
                                                to_device(bands), {});
  const auto                             got = found(bands);
  EXPECT_NEAR(got.log_abs[0], solver.report().log_abs_det, 1e-10);
  EXPECT_EQ(got.sign[0], solver.report().det_sign.real());
}

} // namespace
