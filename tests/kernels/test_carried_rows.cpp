// SPDX-License-Identifier: BSD-2-Clause
// Matrices for which the elimination of whole lines carries a row from one end of a line to the other. Each
// step changes the row by about as much as rounding does, or less.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace test;
using ribbon::Lhs;

namespace {

enum class End { leading, trailing, ring };

/// 1 on diagonal `one`, r on the diagonal before it. Rings, or matrices with two rows at an end that are
/// exchanged rows of an identity. Complex rows have different phases.
template <class Scalar>
ribbon::Bands<Scalar, Kokkos::HostSpace> nearly_shifted(std::int64_t n, int kl, int ku, int one, double r,
                                                        End end)
{
  ribbon::Bands<Scalar, Kokkos::HostSpace> bands;
  bands.lower = kl, bands.upper = ku, bands.periodic = end == End::ring;
  bands.values     = decltype(bands.values)("test::bands", 1, static_cast<std::size_t>(n),
                                        static_cast<std::size_t>(kl + ku + 1));
  const auto entry = [&](std::int64_t i, int d) -> Scalar & {
    return bands.values(0, static_cast<std::size_t>(i), static_cast<std::size_t>(d + kl));
  };
  for (std::int64_t i = 0; i < n; ++i) {
    Scalar turned(1);
    if constexpr (!std::is_floating_point_v<Scalar>)
      turned = Scalar(std::cos(static_cast<double>(i)), std::sin(static_cast<double>(i)));
    entry(i, one) = turned, entry(i, one - 1) = turned * static_cast<ribbon::real_t<Scalar>>(r);
  }
  if (end == End::ring) return bands;
  const std::int64_t first = end == End::leading ? 0 : n - 2;
  for (std::int64_t i = first; i < first + 2; ++i) {
    for (int d = -kl; d <= ku; ++d) entry(i, d) = Scalar(0);
    entry(i, i == first ? 1 : -1) = Scalar(1);
  }
  return bands;
}

template <class Scalar>
void expect_digits(const ribbon::Bands<Scalar, Kokkos::HostSpace> &matrix, const std::string &what)
{
  const std::int64_t n   = matrix.rows();
  const auto         set = ribbon::LineSet::contiguous(n, 1);
  const double       in_units =
    static_cast<double>(ribbon::unit_roundoff<Scalar>()) / std::numeric_limits<double>::epsilon();
  for (Lhs lhs : {Lhs::shared, Lhs::per_line})
    for (const char *algorithm : {"pivoted", "auto"}) {
      SCOPED_TRACE(what + ", " + std::to_string(n) + " rows, " + to_string(lhs) + ", " + algorithm + ", " +
                   std::to_string(sizeof(Scalar)) + " bytes");
      auto bands = matrix;
      bands.lhs  = lhs;
      const ribbon::LineSolver<Scalar, Exec> solver(Exec(), set, to_device(bands), {algorithm});
      EXPECT_TRUE(solver.report().ok()) << solver.report().algorithm << ", " << solver.report().reason
                                        << ", probe " << solver.report().probe_error;
      std::mt19937_64     g(7);
      std::vector<Scalar> b(static_cast<std::size_t>(n));
      for (int kind = 0; kind < 3 && solver.report().ok(); ++kind) {
        for (std::size_t i = 0; i < b.size(); ++i)
          b[i] = kind == 0 ? Scalar(1) : kind == 1 ? Scalar(i % 2 ? 1 : -1) : random_scalar<Scalar>(g);
        EXPECT_LE(backward_error(bands, set, solve(solver, b), b), 1e-14 * in_units)
          << "right-hand side " << kind << ", " << solver.report().algorithm << ", probe "
          << solver.report().probe_error;
      }
    }
}

TEST(CarriedRows, KeepTheirDigits)
{
  for (std::int64_t n : {100, 3000})
    for (double r :
         {1.6983563040999995e-09, 6.1310662578009973e-09, 2.2133149190661596e-08, 7.9900668578288354e-08,
          3.7589973457545924e-06, 6.4e-4, 1 / std::sqrt(static_cast<double>(n))})
      for (End end : {End::leading, End::trailing, End::ring}) {
        const std::string what =
          "r " + std::to_string(r * 1e9) + "e-9, end " + std::to_string(static_cast<int>(end));
        expect_digits(nearly_shifted<double>(n, 1, 1, 0, r, end), what);
        expect_digits(nearly_shifted<Kokkos::complex<double>>(n, 1, 1, 0, r, end), what);
        expect_digits(nearly_shifted<float>(n, 1, 1, 0, std::sqrt(r) / 10, end), what + ", its root / 10");
      }
}

TEST(CarriedRows, OfWiderBands)
{
  for (double r : {1.9e-11, 6.1310662578009973e-09, 1.5181127029874787e-07, 3.7589973457545924e-06, 2e-2}) {
    const std::string what = "r " + std::to_string(r * 1e9) + "e-9";
    expect_digits(nearly_shifted<double>(3000, 2, 2, -1, r, End::ring), what + ", half-bandwidth 2");
    expect_digits(nearly_shifted<double>(3000, 1, 3, 2, r, End::ring), what + ", kl 1 ku 3");
    expect_digits(nearly_shifted<double>(3000, 3, 2, 0, r, End::trailing), what + ", kl 3 ku 2");
    expect_digits(nearly_shifted<double>(1000, 8, 8, 0, r, End::leading), what + ", half-bandwidth 8");
  }
}

TEST(CarriedRows, OverAHundredThousandRows)
{
  expect_digits(nearly_shifted<double>(100000, 1, 1, 0, 6.1310662578009973e-09, End::trailing), "r 6.1e-9");
}

/// A ring of differences whose first row reaches to its end. The carried row stays of the same size along
/// the whole line, and each row changes it by s. In extended precision, too, this is less than half a unit.
TEST(CarriedRows, OverAMillionRows)
{
  const std::int64_t                       n = 1000000;
  ribbon::Bands<double, Kokkos::HostSpace> bands;
  bands.lower = 3, bands.upper = 0, bands.periodic = true;
  bands.values = decltype(bands.values)("test::bands", 1, static_cast<std::size_t>(n), 4);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    bands.values(0, i, 2) = i == 0 ? 1.0001 : 1, bands.values(0, i, 3) = i == 0 ? 3.28e-10 : -1;
  const auto                             set = ribbon::LineSet::contiguous(n, 1);
  const ribbon::LineSolver<double, Exec> solver(Exec(), set, to_device(bands), {"pivoted"});
  EXPECT_TRUE(solver.report().ok()) << solver.report().reason;
  std::vector<double> b(static_cast<std::size_t>(n));
  b[0] = 1;
  EXPECT_LE(backward_error(bands, set, solve(solver, b), b), 2e-15)
    << "probe " << solver.report().probe_error;
}

} // namespace
