// SPDX-License-Identifier: BSD-2-Clause
// LineOperator: y = alpha A^-1 B u + beta v, against the residual of A on the host.
#include "line_products.hpp"

#include <ribbon/line_operator.hpp>

#include <gtest/gtest.h>

#include <algorithm>

using namespace test;
using ribbon::Lhs;
using ribbon::LineSet;

namespace {

/// Half-bandwidths of A and B, and how many matrices a batch has.
struct Case {
  int  kl, ku, bl, bu;
  bool periodic;
  Lhs  lhs, right;
  bool stencil; ///< rows are equal
};

std::ostream &operator<<(std::ostream &out, const Case &c)
{
  return out << "A " << c.kl << ", " << c.ku << " " << to_string(c.lhs) << ", B " << c.bl << ", " << c.bu
             << " " << to_string(c.right) << (c.periodic ? ", ring" : ", open")
             << (c.stencil ? ", stencil" : "");
}

template <class Scalar>
struct Setting {
  std::string algorithm = "auto";
  bool        in_place  = false;
  Scalar      alpha = 1, beta = 0;
  int         layout = 0;
  std::string solver = "auto";
};

/// Largest ||A y' - B u|| relative to the terms of both, with y' = (y - beta v) / alpha.
template <class Scalar>
double relative_residual(const HostBands<Scalar> &A, const HostBands<Scalar> &B, const LineSet &set,
                         const Setting<Scalar> &run, const std::vector<Scalar> &u,
                         const std::vector<Scalar> &v, const std::vector<Scalar> &y)
{
  const auto own   = expanded(A);
  double     worst = 0;
  auto       x     = y;
  for (std::size_t k = 0; k < y.size(); ++k) x[k] = (y[k] - run.beta * v[k]) / run.alpha;
  for (std::int64_t l = 0; l < set.lines(); ++l) {
    const std::int64_t a = matrix_of(own, l), b = B.lhs == Lhs::shared ? 0 : B.lhs == Lhs::classes ? a : l;
    double             residual = 0, size = 0;
    for (std::int64_t i = 0; i < set.rows; ++i) {
      const auto   left  = product(own, a, set, x, l, i);
      const auto   right = product(B, b, set, u, l, i);
      const auto   k     = static_cast<std::size_t>(set(l, i));
      const double error = static_cast<double>(ribbon::magnitude(left.first - right.first));
      if (!(error <= residual)) residual = error;
      size =
        std::max({size, left.second, right.second, static_cast<double>(ribbon::magnitude(run.beta * v[k]))});
    }
    const double relative = residual == 0 ? 0 : residual / size;
    if (!(relative <= worst)) worst = relative;
  }
  return worst;
}

template <class Scalar>
std::vector<Scalar> apply(const ribbon::LineOperator<Scalar, Exec> &op, const Setting<Scalar> &run,
                          const LineSet &set, const std::vector<Scalar> &u, const std::vector<Scalar> &v)
{
  const auto                    at_u = upload(u), at_v = upload(v), at_y = run.in_place ? at_u : upload(v);
  ribbon::OperatorTerms<Scalar> terms;
  terms.alpha = run.alpha, terms.beta = run.beta, terms.v = at_v.data(), terms.lines = set;
  op.apply(Exec(), at_u.data(), set, at_y.data(), set, terms);
  Kokkos::fence();
  const auto y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), at_y);
  return {y.data(), y.data() + y.size()};
}

template <class Scalar>
void check(const Case &c, std::int64_t n, std::int64_t lines, const Setting<Scalar> &run)
{
  const std::uint64_t seed = static_cast<std::uint64_t>(n * 1000 + c.kl * 100 + c.bl * 10 + c.bu);
  SCOPED_TRACE(testing::Message() << c << ", n " << n << ", " << lines << " lines, layout " << run.layout
                                  << ", " << run.algorithm << ", " << run.solver
                                  << (run.in_place ? ", in place" : "") << ", alpha " << run.alpha
                                  << ", beta " << run.beta << ", " << sizeof(Scalar) << " bytes, seed "
                                  << seed);
  std::mt19937_64 g(seed);
  const auto      A   = random_batch<Scalar>(g, n, lines, c.kl, c.ku, c.periodic, c.lhs, c.stencil);
  const auto      B   = random_batch<Scalar>(g, n, lines, c.bl, c.bu, c.periodic, c.right, c.stencil);
  const auto      set = places(run.layout, n, lines);
  std::size_t     all = 0;
  for (std::int64_t l = 0; l < lines; ++l) all = std::max(all, static_cast<std::size_t>(set(l, n - 1)) + 1);
  ribbon::LineOperatorOptions options;
  options.algorithm = run.algorithm, options.solver.algorithm = run.solver;
  const ribbon::LineOperator<Scalar, Exec> op(Exec(), set, to_device(A), to_device(B), options);
  ASSERT_TRUE(op.report().ok()) << op.report().reason;
  const auto u = random_values<Scalar>(g, all), v = random_values<Scalar>(g, all);
  auto       y = apply(op, run, set, u, v);
  EXPECT_LE(relative_residual(A, B, set, run, u, v, y),
            100 * static_cast<double>(ribbon::unit_roundoff<Scalar>()));
  // places of no line stay as they are
  std::vector<bool> written(all);
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t i = 0; i < n; ++i) written[static_cast<std::size_t>(set(l, i))] = true;
  for (std::size_t k = 0; k < all; ++k)
    if (!written[k]) {
      EXPECT_EQ(y[k], run.in_place ? u[k] : v[k]) << "place " << k;
    }
}

template <class Scalar>
void check_all(const Case &c, std::initializer_list<std::int64_t> rows, const char *algorithm)
{
  for (std::int64_t n : rows)
    for (int layout : {0, 1, 2})
      for (bool in_place : {false, true}) {
        Setting<Scalar> run;
        run.algorithm = algorithm, run.in_place = in_place, run.layout = layout;
        check<Scalar>(c, n, 38, run);
        run.alpha = Scalar(-2), run.beta = Scalar(0.5);
        check<Scalar>(c, n, 38, run);
      }
}

constexpr Case widths[] = {{1, 1, 1, 1, false, Lhs::shared, Lhs::shared, true},
                           {1, 1, 3, 2, true, Lhs::shared, Lhs::shared, true},
                           {2, 2, 3, 3, true, Lhs::shared, Lhs::shared, true},
                           {2, 1, 0, 3, false, Lhs::shared, Lhs::shared, false},
                           {1, 1, 3, 3, true, Lhs::shared, Lhs::shared, false},
                           {1, 0, 5, 6, false, Lhs::shared, Lhs::shared, false},
                           {4, 3, 4, 6, false, Lhs::shared, Lhs::shared, true},
                           {0, 0, 2, 2, false, Lhs::shared, Lhs::shared, true},
                           {0, 0, 2, 1, true, Lhs::shared, Lhs::shared, true},
                           {0, 0, 1, 3, true, Lhs::per_line, Lhs::shared, false},
                           {1, 1, 2, 2, false, Lhs::classes, Lhs::classes, false},
                           {2, 2, 3, 3, true, Lhs::classes, Lhs::shared, false},
                           {1, 1, 1, 1, false, Lhs::per_line, Lhs::per_line, false},
                           {2, 2, 2, 2, true, Lhs::per_line, Lhs::shared, false},
                           {1, 1, 2, 2, true, Lhs::shared, Lhs::per_line, false},
                           {1, 1, 2, 2, false, Lhs::shifted, Lhs::per_line, false}};

TEST(LineOperator, SolvesWithARightHandSideOfAProduct)
{
  for (const Case &c : widths) {
    check_all<double>(c, {1, 2, 7, 40, 70, 133}, "auto");
    check_all<float>(c, {16, 96}, "auto");
    check_all<Kokkos::complex<double>>(c, {31, 64}, "auto");
    check_all<Kokkos::complex<float>>(c, {33}, "auto");
  }
}

TEST(LineOperator, SeparateGivesTheSame)
{
  for (const Case &c : widths) check_all<double>(c, {1, 2, 7, 40, 133}, "separate");
}

/// Lines that a device keeps in registers, in scratch, and in teams of several blocks.
TEST(LineOperator, LongLinesAreRight)
{
  for (std::int64_t n : {255, 256, 600, 1024, 2100})
    for (const Case &c : {widths[0], widths[2], widths[4], widths[11]})
      for (int layout : {0, 1}) {
        Setting<double> run;
        run.layout = layout, run.in_place = n % 2 == 1;
        check<double>(c, n, 70, run);
      }
}

/// Every shape of the kernels of one_pass, on hosts too.
TEST(LineOperator, EveryShapeOfOnePassIsRight)
{
  for (const Case &c : {widths[0], widths[1], widths[3], widths[8], widths[10]})
    for (std::int64_t n : {40, 130, 256})
      for (int layout : {0, 1}) {
        Setting<double> run;
        run.layout = layout, run.solver = "one_pass", run.algorithm = "fused";
        check<double>(c, n, 38, run);
        check<float>(c, n, 38, {run.algorithm, false, 1, 0, layout, run.solver});
      }
}

template <class Scalar>
ribbon::LineOperator<Scalar, Exec> stencil_operator(std::int64_t n, std::int64_t lines, bool periodic,
                                                    bool contiguous, int width = 1)
{
  std::mt19937_64 g(3);
  const auto      A = random_batch<Scalar>(g, n, lines, width, width, periodic, Lhs::shared, true),
             B      = random_batch<Scalar>(g, n, lines, 2, 2, periodic, Lhs::shared, true);
  return {Exec(), places(contiguous, n, lines), to_device(A), to_device(B)};
}

TEST(LineOperator, AStencilIsFused)
{
  for (bool periodic : {false, true})
    for (bool contiguous : {false, true}) {
      EXPECT_TRUE(stencil_operator<double>(64, 40, periodic, contiguous).is_fused());
      EXPECT_TRUE(stencil_operator<float>(64, 40, periodic, contiguous).is_fused());
      EXPECT_TRUE(stencil_operator<Kokkos::complex<double>>(64, 40, periodic, contiguous).is_fused());
      EXPECT_FALSE(stencil_operator<Kokkos::complex<float>>(64, 40, periodic, contiguous).is_fused());
      EXPECT_TRUE(stencil_operator<double>(64, 40, periodic, contiguous, 0).is_fused());
    }
}

/// v^T (A^-1 B u) = u^T (B^T A^-T v) on every line.
TEST(LineOperator, TheTransposeIsThatOfTheOperator)
{
  for (const Case &c : widths)
    for (std::int64_t n : {7, 40, 133}) {
      SCOPED_TRACE(testing::Message() << c << ", n " << n);
      const std::int64_t lines = 12;
      std::mt19937_64    g(static_cast<std::uint64_t>(n));
      const auto         A   = random_batch<double>(g, n, lines, c.kl, c.ku, c.periodic, c.lhs, c.stencil);
      const auto         B   = random_batch<double>(g, n, lines, c.bl, c.bu, c.periodic, c.right, c.stencil);
      const auto         set = LineSet::interleaved(n, lines);
      const auto         u   = random_values<double>(g, static_cast<std::size_t>(n * lines)),
                 v           = random_values<double>(g, static_cast<std::size_t>(n * lines));
      std::vector<double> result[2];
      for (bool transposed : {false, true}) {
        ribbon::LineOperatorOptions options;
        options.transposed = transposed;
        const ribbon::LineOperator<double, Exec> op(Exec(), set, to_device(A), to_device(B), options);
        EXPECT_FALSE(transposed && !c.periodic && op.is_fused());
        result[transposed ? 1 : 0] = apply(op, {}, set, transposed ? v : u, v);
      }
      for (std::int64_t l = 0; l < lines; ++l) {
        double forward = 0, backward = 0, size = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          const auto k = static_cast<std::size_t>(set(l, i));
          forward += v[k] * result[0][k], backward += u[k] * result[1][k];
          size += std::abs(v[k] * result[0][k]) + std::abs(u[k] * result[1][k]);
        }
        EXPECT_NEAR(forward, backward, 1e-13 * size * static_cast<double>(n)) << "line " << l;
      }
    }
}

TEST(LineOperator, SeveralRightHandSidesPerMatrix)
{
  std::mt19937_64 g(5);
  const auto      A = random_batch<double>(g, 50, 6, 1, 1, false, Lhs::per_line, false),
             B      = random_batch<double>(g, 50, 6, 2, 1, false, Lhs::per_line, false);
  const auto one = LineSet::interleaved(50, 6), two = LineSet::interleaved(50, 12);
  for (const char *algorithm : {"auto", "separate"}) {
    ribbon::LineOperatorOptions options;
    options.algorithm = algorithm;
    const ribbon::LineOperator<double, Exec> op(Exec(), one, to_device(A), to_device(B), options);
    const auto                               u = random_values<double>(g, 600);
    const auto                               y = apply(op, {}, two, u, u);
    for (int half = 0; half < 2; ++half) { // lines 0 to 5, and 6 to 11, as a separate batch
      std::vector<double> part(300);
      for (std::int64_t l = 0; l < 6; ++l)
        for (std::int64_t i = 0; i < 50; ++i)
          part[static_cast<std::size_t>(one(l, i))] = u[static_cast<std::size_t>(two(l + 6 * half, i))];
      const auto expected = apply(op, {}, one, part, part);
      for (std::int64_t l = 0; l < 6; ++l)
        for (std::int64_t i = 0; i < 50; ++i)
          EXPECT_NEAR(y[static_cast<std::size_t>(two(l + 6 * half, i))],
                      expected[static_cast<std::size_t>(one(l, i))], 1e-14);
    }
  }
}

/// A line whose matrix is singular is NaN, the others are solved.
TEST(LineOperator, ALineThatFailsIsNaN)
{
  std::mt19937_64 g(7);
  auto            A = random_batch<double>(g, 30, 4, 1, 1, false, Lhs::per_line, false);
  const auto      B = random_batch<double>(g, 30, 4, 1, 1, false, Lhs::shared, false);
  for (std::size_t d = 0; d < 3; ++d) A.values(2, 11, d) = 0;
  const auto                               set = LineSet::interleaved(30, 4);
  const ribbon::LineOperator<double, Exec> op(Exec(), set, to_device(A), to_device(B));
  EXPECT_FALSE(op.report().ok());
  EXPECT_FALSE(op.is_fused());
  const auto u = random_values<double>(g, 120);
  const auto y = apply(op, {}, set, u, u);
  for (std::int64_t l = 0; l < 4; ++l)
    EXPECT_EQ(std::isnan(y[static_cast<std::size_t>(set(l, 5))]), l == 2) << "line " << l;
}

std::string refusal_of(const HostBands<double> &A, const HostBands<double> &B, const LineSet &set,
                       const ribbon::LineOperatorOptions &options = {})
{
  try {
    ribbon::LineOperator<double, Exec>(Exec(), set, to_device(A), to_device(B), options);
  } catch (const std::invalid_argument &e) {
    return e.what();
  }
  return "";
}

TEST(LineOperator, RefusesWhatDoesNotFit)
{
  std::mt19937_64 g(1);
  const auto      bands = [&](std::int64_t n, int kl, int ku, bool periodic, Lhs lhs) {
    return random_batch<double>(g, n, 5, kl, ku, periodic, lhs, false);
  };
  const auto set    = LineSet::interleaved(20, 5);
  const auto A      = bands(20, 1, 1, false, Lhs::shared);
  const auto expect = [](const std::string &refusal, const std::string &text) {
    EXPECT_NE(refusal.find(text), std::string::npos) << "'" << refusal << "' lacks '" << text << "'";
  };
  expect(refusal_of(A, bands(19, 1, 1, false, Lhs::shared), set), "B has 19 rows, the lines 20");
  expect(refusal_of(A, bands(20, 1, 1, true, Lhs::shared), set), "one of A and B is periodic");
  expect(refusal_of(A, bands(20, 1, 1, false, Lhs::classes), set), "B has classes, and A is shared");
  expect(refusal_of(A, bands(20, 1, 1, false, Lhs::shifted), set), "B is shifted");
  expect(refusal_of(bands(20, 1, 1, false, Lhs::classes), bands(20, 1, 1, false, Lhs::per_line), set),
         "B is per_line, and A has classes");
  expect(refusal_of(A, bands(20, 9, 9, false, Lhs::shared), set), "half-bandwidth 9 (at most 8)");
  ribbon::LineOperatorOptions options;
  options.algorithm = "fast";
  expect(refusal_of(A, A, set, options), "unknown algorithm 'fast' (auto, fused, separate)");
  options.algorithm = "fused", options.transposed = true;
  expect(refusal_of(A, A, set, options), "no fused kernel: the transpose solves before it applies B");
  options = {}, options.solver.algorithm = "fastest";
  expect(refusal_of(A, A, set, options), "unknown algorithm 'fastest'");
  const ribbon::LineOperator<double, Exec> op(Exec(), set, to_device(A), to_device(A));
  std::vector<double>                      u(100);
  const auto                               wrong = LineSet::interleaved(20, 4);
  EXPECT_THROW(op.apply(Exec(), u.data(), wrong, u.data(), wrong), std::invalid_argument);
  ribbon::OperatorTerms<double> terms;
  terms.beta = 1, terms.lines = set;
  EXPECT_THROW(op.apply(Exec(), u.data(), set, u.data(), set, terms), std::invalid_argument);
  EXPECT_THROW((ribbon::LineOperator<double, Exec>().report()), std::logic_error);
}

} // namespace
