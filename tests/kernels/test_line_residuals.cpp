// SPDX-License-Identifier: BSD-2-Clause
// Largest entries of lines, converged lines, and entries with fewer bits than those of vectors.
#include "batch.hpp"

#include <ribbon/matrix/precision.hpp>
#include <ribbon/reference/line_maxima.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using ribbon::LineSet;
using test::Exec;
using test::Memory;

template <class Word>
std::vector<Word> download(const Kokkos::View<Word *, Memory> &from)
{
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
  return {host.data(), host.data() + host.extent(0)};
}

/// Values for all places of some lines, and beyond.
template <class Scalar>
std::vector<Scalar> numbers(const LineSet &lines, unsigned seed)
{
  std::mt19937_64     g(seed);
  std::vector<Scalar> x(static_cast<std::size_t>(lines.lines()
                                                   ? lines(lines.lines() - 1, lines.rows) + lines.components +
                                                       lines.rows * lines.row_stride
                                                   : 0) +
                        64);
  for (Scalar &v : x) v = test::random_scalar<Scalar>(g);
  return x;
}

const LineSet layouts[] = {LineSet::contiguous(7, 5),
                           LineSet::contiguous(300, 3),
                           LineSet::contiguous(9, 4, 13),
                           LineSet::interleaved(7, 40),
                           LineSet::interleaved(300, 17),
                           LineSet::interleaved(1, 33),
                           LineSet::contiguous(0, 3),
                           LineSet::interleaved(5, 0),
                           LineSet::box({5, 6, 7}, 1),
                           LineSet::box({5, 6, 70}, 2),
                           LineSet::contiguous(20, 5).with_components(3),
                           LineSet::interleaved(20, 20).with_components(2)};

template <class Scalar>
void compare_with_reference()
{
  const Exec exec;
  for (const LineSet &lines : layouts) {
    auto x = numbers<Scalar>(lines, 3);
    if (lines.unknowns() > 20)
      x[static_cast<std::size_t>(lines(1, lines.rows - 1))] =
        std::numeric_limits<ribbon::real_t<Scalar>>::quiet_NaN();
    const auto wanted = ribbon::reference::line_maxima(lines, x.data());
    const auto dx     = ribbon::upload(exec, "test::x", x);
    const Kokkos::View<ribbon::real_t<Scalar> *, Memory> largest("test::largest", wanted.size());
    ribbon::line_maxima(exec, lines, static_cast<const Scalar *>(dx.data()), largest.data());
    exec.fence();
    const auto found = download(largest);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t l = 0; l < wanted.size(); ++l)
      EXPECT_TRUE(found[l] == wanted[l] ||
                  std::abs(found[l] - wanted[l]) <=
                    4 * ribbon::unit_roundoff<Scalar>() *
                      wanted[l]) // a device computes absolute values of complex numbers with other rounding
        << "line " << l << " of " << lines.rows << " x " << lines.lines() << ": " << found[l] << ", not "
        << wanted[l];
    if (lines.unknowns() > 20) {
      EXPECT_EQ(wanted[1], std::numeric_limits<ribbon::real_t<Scalar>>::infinity());
    }
  }
}

TEST(LineResiduals, LargestNumbersAreThoseOfTheReference)
{
  compare_with_reference<float>();
  compare_with_reference<double>();
  compare_with_reference<Kokkos::complex<double>>();
  compare_with_reference<Kokkos::complex<float>>();
}

TEST(LineResiduals, PackedLinesAreLookedAtOneByOne)
{
  // Two packed lines of six places contain four lines with two unknowns per place: 0 0 0 1 1 - | 2 3 3 3 3
  // -.
  const Exec                      exec;
  const std::vector<std::int64_t> part    = {0, 2, 0, 3, 0, 3, 1, 3, 1, 3, -1, -1},
                                  element = {4, 0, 7, 1, 2, 3, 8, 9, 5, 6, -1, -1};
  std::vector<double> x(20, 0.25);
  x[2 * 4 + 1] = -5, x[2 * 8] = 3, x[2 * 3] = std::numeric_limits<double>::infinity();
  const ribbon::PackedPlaces<Memory>   packed = {LineSet::interleaved(6, 2),
                                                 ribbon::upload(exec, "test::element", element),
                                                 ribbon::upload(exec, "test::part", part), 2};
  const Kokkos::View<double *, Memory> largest("test::largest", 4);
  const auto                           dx = ribbon::upload(exec, "test::x", x);
  ribbon::line_maxima(exec, packed, static_cast<const double *>(dx.data()), largest.data());
  exec.fence();
  EXPECT_EQ(download(largest), (std::vector<double>{5, 3, 0.25, std::numeric_limits<double>::infinity()}));
  const auto closed = ribbon::upload(exec, "test::closed", std::vector<int>{-1, 2, 0, -1});
  ribbon::clear_closed(exec, packed, closed.data(), dx.data());
  exec.fence();
  for (int e : {8, 5, 0}) x[static_cast<std::size_t>(2 * e)] = x[static_cast<std::size_t>(2 * e + 1)] = 0;
  EXPECT_EQ(download(dx), x);
}

TEST(LineResiduals, LinesAreClosedAndOpened)
{
  const Exec   exec;
  const double inf       = std::numeric_limits<double>::infinity();
  const auto   states_of = [&](const std::vector<double> &largest, const std::vector<double> &scale,
                             const std::vector<int> &closed) {
    return ribbon::LineStates<double, Memory>{ribbon::upload(exec, "test::largest", largest),
                                              ribbon::upload(exec, "test::scale", scale),
                                              ribbon::upload(exec, "test::closed", closed)};
  };
  auto s = states_of({1e-9, 2e-6, 0, 3, inf, 1e-20}, {1, 1, 0, 0, 1, inf}, {-1, -1, -1, -1, -1, 0});
  EXPECT_EQ(ribbon::judge<double>(exec, s, 1e-6, 1e-30, 3), inf);
  EXPECT_EQ(download(s.closed), (std::vector<int>{3, -1, 3, -1, -1, 0}));
  s = states_of({1e-9, 2e-6}, {1, 1}, {2, 1});
  EXPECT_DOUBLE_EQ(ribbon::judge<double>(exec, s, 1e-6, 0, 4), 2);
  EXPECT_EQ(download(s.closed), (std::vector<int>{2, -1}))
    << "closed lines keep their iteration, others open again";
  s = states_of({0.5, 3}, {1, 0}, {-1, -1});
  EXPECT_DOUBLE_EQ(ribbon::judge<double>(exec, s, 0.1, 0, 0), 10);
  EXPECT_EQ(download(s.scale), (std::vector<double>{1, 3}))
    << "relative to the first residual where the right-hand side is zero";
  EXPECT_EQ(ribbon::judge<double>(exec, states_of({}, {}, {}), 1e-6, 0, 0), 0);
}

TEST(LineResiduals, ClosedLinesAreCleared)
{
  const Exec exec;
  for (const LineSet &lines : layouts) {
    auto             x = numbers<double>(lines, 5);
    std::vector<int> closed(static_cast<std::size_t>(lines.lines()));
    for (std::size_t l = 0; l < closed.size(); ++l) closed[l] = l % 3 == 1 ? 7 : -1;
    const auto dx = ribbon::upload(exec, "test::x", x);
    const auto dc = ribbon::upload(exec, "test::closed", closed);
    ribbon::clear_closed(exec, lines, dc.data(), dx.data());
    exec.fence();
    for (std::int64_t l = 1; l < lines.lines(); l += 3)
      for (std::int64_t i = 0; i < lines.rows; ++i)
        for (int a = 0; a < lines.components; ++a) x[static_cast<std::size_t>(lines(l, i) + a)] = 0;
    EXPECT_EQ(download(dx), x);
  }
}

TEST(LineResiduals, ShorterNumbersHaveTheRangeOfLongerOnes)
{
  const Exec      exec;
  std::mt19937_64 g(11);
  for (double size : {1., 1e-300, 1e300, 5e-324}) {
    auto host = test::random_bands<double>(g, 1, 12, 1, false, test::Kind::dominant);
    for (std::size_t k = 0; k < host.values.size(); ++k) host.values.data()[k] *= size;
    ribbon::Bands<double, Memory> bands;
    bands.values = ribbon::Bands<double, Memory>::values_type("test::bands", 1, 12, 3);
    Kokkos::deep_copy(bands.values, host.values);
    double     alpha   = 0;
    const auto rounded = ribbon::round_bands<float>(exec, bands, &alpha);
    exec.fence();
    const auto back = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rounded.values);
    for (std::size_t i = 0; i < 12; ++i)
      for (std::size_t d = 0; d < 3; ++d) {
        EXPECT_LE(std::abs(back(0, i, d)), 1.0f);
        EXPECT_NEAR(static_cast<double>(back(0, i, d)), host.values(0, i, d) * alpha, 1e-7);
      }
    if (size == 5e-324) continue; // its reciprocal overflows: no scaling
    for (const LineSet &lines : layouts) {
      auto x = numbers<double>(lines, 8);
      for (double &v : x) v *= size;
      const LineSet inner = (lines.is_contiguous() ? LineSet::contiguous(lines.rows, lines.lines())
                                                   : LineSet::interleaved(lines.rows, lines.lines()))
                              .with_components(lines.components);
      const Kokkos::View<double *, Memory> largest("test::largest", static_cast<std::size_t>(lines.lines())),
        y("test::y", x.size());
      const Kokkos::View<float *, Memory> small("test::small", static_cast<std::size_t>(inner.unknowns()));
      const auto                          dx = ribbon::upload(exec, "test::x", x);
      ribbon::line_maxima(exec, lines, static_cast<const double *>(dx.data()), largest.data());
      ribbon::narrow_lines(exec, lines, static_cast<const double *>(dx.data()),
                           static_cast<const double *>(largest.data()), inner, small.data());
      ribbon::widen_lines(exec, inner, static_cast<const float *>(small.data()),
                          static_cast<const double *>(largest.data()), 2.0, lines, y.data());
      exec.fence();
      const auto found = download(y), size_of = download(largest);
      for (std::int64_t l = 0; l < lines.lines(); ++l)
        for (std::int64_t i = 0; i < lines.rows; ++i)
          for (int a = 0; a < lines.components; ++a) {
            const auto k = static_cast<std::size_t>(lines(l, i) + a);
            EXPECT_NEAR(found[k] / 2 / size_of[static_cast<std::size_t>(l)],
                        x[k] / size_of[static_cast<std::size_t>(l)], 1e-7);
          }
    }
  }
}

} // namespace
