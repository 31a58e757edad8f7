// SPDX-License-Identifier: BSD-2-Clause
// Residuals in doubled precision, compared with long double.
#include "batch.hpp"

#include <ribbon/matrix/csr_residual.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

namespace {

using ribbon::real_t;
using test::Exec;
using test::Memory;

using Long = std::complex<long double>;

template <class Scalar>
Long widened(const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return Long(a);
  else return Long(a.real(), a.imag());
}

/// Rows of five entries in two blocks. Their sums cancel except for rounding.
template <class Scalar>
struct System {
  using Real = real_t<Scalar>;
  std::int64_t              rows, columns;
  std::vector<std::int32_t> begin[2] = {{0}, {0}}, column[2];
  std::vector<Scalar>       value[2], x[2], b;

  System(std::int64_t n, std::int64_t m) : rows(n), columns(m)
  {
    std::mt19937_64 g(5);
    const auto      random = [&] { return test::random_scalar<Scalar>(g); };
    for (auto &v : x)
      for (std::int64_t k = 0; k < n * m; ++k) v.push_back(random());
    for (std::int64_t i = 0; i < n; ++i)
      for (int p = 0; p < 2; ++p) {
        for (std::int64_t k = 0; k < (p == 0 ? 3 : i % 3); ++k) {
          column[p].push_back(static_cast<std::int32_t>((i + k) % n));
          value[p].push_back(random() * static_cast<Real>(k == 0 ? 1000 : 1));
        }
        begin[p].push_back(static_cast<std::int32_t>(column[p].size()));
      }
    for (std::int64_t k = 0; k < n * m; ++k) {
      const Long sum = row(k, Long(0));
      if constexpr (std::is_floating_point_v<Scalar>) b.push_back(-static_cast<Scalar>(sum.real()));
      else b.push_back(-Scalar(static_cast<Real>(sum.real()), static_cast<Real>(sum.imag())));
    }
  }
  /// first - A x of row k, and the sum of absolute values.
  Long row(std::int64_t k, Long first, long double *size = nullptr) const
  {
    for (int p = 0; p < 2; ++p)
      for (auto at = begin[p][static_cast<std::size_t>(k / columns)];
           at < begin[p][static_cast<std::size_t>(k / columns) + 1]; ++at) {
        const auto place =
          static_cast<std::size_t>(column[p][static_cast<std::size_t>(at)] * columns + k % columns);
        const Long a = widened(value[p][static_cast<std::size_t>(at)]), y = widened(x[p][place]);
        first -= a * y;
        if (size) *size += std::abs(a) * std::abs(y);
      }
    return first;
  }
  /// Residuals and sizes of the kernel.
  std::vector<Scalar> solve(ribbon::ResidualSizes which, std::vector<Scalar> *sizes) const
  {
    const Exec                                 exec;
    ribbon::ResidualRows<Scalar, std::int32_t> A{};
    Kokkos::View<std::int32_t *, Memory>       indices[2][2];
    Kokkos::View<Scalar *, Memory>             numbers[2][2];
    for (int p = 0; p < 2; ++p) {
      indices[p][0] = ribbon::upload(exec, "test::begin", begin[p]),
      indices[p][1] = ribbon::upload(exec, "test::column", column[p]);
      numbers[p][0] = ribbon::upload(exec, "test::value", value[p]),
      numbers[p][1] = ribbon::upload(exec, "test::x", x[p]);
      A.block[p]    = {rows, indices[p][0].data(), indices[p][1].data(), numbers[p][0].data()};
      A.x[p]        = numbers[p][1].data();
    }
    const auto                           right = ribbon::upload(exec, "test::b", b);
    const Kokkos::View<Scalar *, Memory> r("test::r", b.size()), s("test::sizes", b.size());
    A.b = right.data(), A.columns = columns;
    ribbon::csr_residual(exec, A, r.data(), s.data(), which);
    exec.fence();
    const auto host_r = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), r);
    const auto host_s = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s);
    sizes->assign(host_s.data(), host_s.data() + b.size());
    return {host_r.data(), host_r.data() + b.size()};
  }
};

template <class Scalar>
void compare_with_long_double()
{
  using Real           = real_t<Scalar>;
  constexpr double eps = std::numeric_limits<Real>::epsilon(), wider = sizeof(Real) == 4 ? 2.3e-16 : 1.1e-19;
  for (std::int64_t columns : {1, 3}) {
    const System<Scalar> system(40, columns);
    std::vector<Scalar>  sums, quotients;
    const auto           r = system.solve(ribbon::ResidualSizes::sums, &sums);
    system.solve(ribbon::ResidualSizes::quotients, &quotients);
    for (std::size_t k = 0; k < r.size(); ++k) {
      const Long  right = system.row(static_cast<std::int64_t>(k), widened(system.b[k]));
      long double size  = std::abs(widened(system.b[k]));
      system.row(static_cast<std::int64_t>(k), Long(0), &size);
      // The residual is about eps times the size, so that a sum in working precision has no correct digit
      // of it.
      ASSERT_LE(std::abs(widened(r[k]) - right), 2 * eps * std::abs(right) + 20 * wider * size) << k;
      ASSERT_LE(std::abs(right), 2 * eps * size);
      ASSERT_NEAR(static_cast<double>(std::abs(widened(sums[k])) / size), 1, 20 * eps);
      ASSERT_NEAR(static_cast<double>(std::abs(widened(quotients[k]))),
                  static_cast<double>(std::abs(right) / size), 0.01 * eps);
    }
  }
}

} // namespace

TEST(CsrResidual, IsThatOfLongDouble)
{
  compare_with_long_double<float>();
  compare_with_long_double<double>();
  compare_with_long_double<Kokkos::complex<double>>();
}

TEST(CsrResidual, WhatIsNotFiniteIsInfinitelyWrong)
{
  System<double>      system(10, 1);
  std::vector<double> sizes;
  system.x[0][4] = std::numeric_limits<double>::quiet_NaN(),
  system.x[0][9] = std::numeric_limits<double>::max();
  system.solve(ribbon::ResidualSizes::quotients, &sizes);
  EXPECT_EQ(sizes[4], std::numeric_limits<double>::infinity());
  EXPECT_EQ(sizes[9], std::numeric_limits<double>::infinity());
  system = System<double>(10, 1);
  for (auto &v : system.x) v.assign(10, 0);
  system.b.assign(10, 0);
  system.solve(ribbon::ResidualSizes::quotients, &sizes);
  EXPECT_EQ(sizes, std::vector<double>(10, 0)) << "nothing is no error";
}
