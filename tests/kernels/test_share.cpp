// SPDX-License-Identifier: BSD-2-Clause
// Lines share a matrix if their matrices are equal, exactly or to a tolerance.
#include "batch.hpp"

#include <ribbon/lines_from_csr.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

TEST(Share, OneMatrixClassesAndTooMany)
{
  std::mt19937_64 g(9);
  const auto      three = random_bands<double>(g, 3, 12, 1, false, Kind::dominant);
  auto            batch = [&](const std::vector<int> &classes) {
    ribbon::Bands<double, Kokkos::HostSpace> bands;
    bands.lhs    = ribbon::Lhs::per_line;
    bands.values = decltype(bands.values)("bands", classes.size(), 12, 3);
    for (std::size_t l = 0; l < classes.size(); ++l)
      for (std::size_t i = 0; i < 12; ++i)
        for (std::size_t d = 0; d < 3; ++d)
          bands.values(l, i, d) = three.values(static_cast<std::size_t>(classes[l]), i, d);
    return to_device(bands);
  };
  auto one = batch({1, 1, 1, 1});
  EXPECT_EQ(ribbon::share<double>(Exec(), one, 1).classes, 1);
  EXPECT_EQ(one.lhs, ribbon::Lhs::shared);
  auto       some   = batch({2, 0, 2, 1, 0, 2});
  const auto result = ribbon::share<double>(Exec(), some, 3);
  EXPECT_EQ(result.classes, 3);
  EXPECT_EQ(result.first, 0);
  EXPECT_EQ(result.different, 1);
  EXPECT_EQ(some.lhs, ribbon::Lhs::classes);
  const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, some.class_of_line);
  EXPECT_EQ(std::vector<int>(classes.data(), classes.data() + 6), (std::vector<int>{0, 1, 0, 2, 1, 0}));
  auto many = batch({2, 0, 2, 1, 0, 2});
  EXPECT_EQ(ribbon::share<double>(Exec(), many, 2).classes, 0);
  EXPECT_EQ(many.lhs, ribbon::Lhs::per_line);
}

TEST(Share, MatricesThatAgreeToATolerance)
{
  const auto check = [](auto scalar) {
    using Scalar            = decltype(scalar);
    const std::size_t lines = 60, n = 200;
    const double      unit = ribbon::unit_roundoff<Scalar>();
    std::mt19937_64   g(4);
    const auto two   = random_bands<Scalar>(g, 2, static_cast<std::int64_t>(n), 1, false, Kind::dominant);
    const auto batch = [&](double noise) { // line l has matrix l % 2, times 1 or 1 + 1e-3
      ribbon::Bands<Scalar, Kokkos::HostSpace> bands;
      bands.lhs    = ribbon::Lhs::per_line;
      bands.values = decltype(bands.values)("bands", lines, n, 3);
      std::uniform_real_distribution<double> uniform(-noise, noise);
      for (std::size_t l = 0; l < lines; ++l)
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t d = 0; d < 3; ++d)
            bands.values(l, i, d) =
              two.values(l % 2, i, d) *
              static_cast<ribbon::real_t<Scalar>>((l % 3 == 0 ? 1.001 : 1.0) * (1 + uniform(g)));
      return to_device(bands);
    };
    for (double tolerance : {8.0, 1e3}) {
      auto       bands  = batch(3 * unit);
      const auto result = ribbon::share<Scalar>(Exec(), bands, 4, tolerance * unit);
      EXPECT_EQ(result.classes, 4) << tolerance;
      EXPECT_EQ(result.first, 0);
      EXPECT_EQ(result.different, 1);
      const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, bands.class_of_line);
      ASSERT_EQ(bands.lhs, ribbon::Lhs::classes);
      for (std::size_t l = 6; l < lines; ++l) EXPECT_EQ(classes(l), classes(l % 6)) << l;
      EXPECT_EQ(classes(0), 0);
    }
    auto all = batch(3 * unit), few = batch(3 * unit), exact = batch(3 * unit), coarse = batch(3 * unit);
    EXPECT_EQ(ribbon::share<Scalar>(Exec(), few, 3, 1e3 * unit).classes, 0) << "one too many";
    EXPECT_EQ(few.lhs, ribbon::Lhs::per_line);
    EXPECT_EQ(ribbon::share<Scalar>(Exec(), exact, 4).classes, 0);
    EXPECT_EQ(ribbon::share<Scalar>(Exec(), coarse, 4, 0.01).classes, 2) << "1.001 is near";
    Kokkos::deep_copy(all.values, Scalar(std::nan("")));
    EXPECT_EQ(ribbon::share<Scalar>(Exec(), all, 4, 0.01).classes, 0);
  };
  check(float()), check(double()), check(Kokkos::complex<double>());
}

} // namespace
