// SPDX-License-Identifier: BSD-2-Clause
// Periodic lines of blocks with one matrix per line, compared with dense solves.
#include "batch.hpp"
#include "scalars.hpp"

#include <ribbon/algorithm/whole_lines/block_thomas_factor.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

/// Random periodic blocks. The diagonal outweighs the row by `weight`; 0: no diagonal is large.
template <class Scalar>
HostBands<Scalar> rings(std::mt19937_64 &g, std::size_t lines, std::size_t n, int B, double weight)
{
  const auto        size = static_cast<std::size_t>(B);
  HostBands<Scalar> bands;
  bands.periodic = true, bands.lhs = ribbon::Lhs::per_line, bands.block = B;
  bands.values = decltype(bands.values)("test::rings", lines, n, 3 * size * size);
  for (std::size_t l = 0; l < lines; ++l)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t a = 0; a < size; ++a) {
        double sum = 0;
        for (std::size_t d = 0; d < 3; ++d)
          for (std::size_t b = 0; b < size; ++b) {
            Scalar &v = bands.values(l, i, (d * size + a) * size + b);
            v         = random_scalar<Scalar>(g);
            sum += static_cast<double>(ribbon::magnitude(v));
          }
        bands.values(l, i, (size + a) * size + a) +=
          Scalar(static_cast<ribbon::real_t<Scalar>>(weight * sum));
      }
  return bands;
}

/// The largest residual of lines, relative to the sum of the magnitudes of their rows.
template <class Scalar>
double residual(const HostBands<Scalar> &bands, const ribbon::LineSet &set, const std::vector<Scalar> &b,
                const std::vector<Scalar> &x)
{
  const ribbon::BandEntries<Scalar, Kokkos::HostSpace> entry(bands);
  const int                                            B     = bands.block;
  double                                               worst = 0, size = 0;
  for (const Scalar &v : x) size = std::max(size, static_cast<double>(ribbon::magnitude(v)));
  for (std::int64_t l = 0; l < set.lines(); ++l)
    for (std::int64_t i = 0; i < set.rows; ++i)
      for (int a = 0; a < B; ++a) {
        Scalar r   = b[static_cast<std::size_t>(set(l, i) + a * set.component_stride)];
        double sum = 0;
        for (int d = -1; d <= 1; ++d)
          for (int c = 0; c < B; ++c) {
            const Scalar       e = entry(l, i, d, a, c);
            const std::int64_t j = (i + d + set.rows) % set.rows;
            r -= e * x[static_cast<std::size_t>(set(l, j) + c * set.component_stride)];
            sum += static_cast<double>(ribbon::magnitude(e));
          }
        worst = std::max(worst, static_cast<double>(ribbon::magnitude(r)) / (sum * size));
      }
  return worst;
}

template <class Scalar>
class BlockRings : public testing::Test {
};
TYPED_TEST_SUITE(BlockRings, Scalars);

TYPED_TEST(BlockRings, SolveWhatTheyFactor)
{
  using Scalar = TypeParam;
  const Host      exec;
  std::mt19937_64 g(7);
  const double    limit = 500 * static_cast<double>(ribbon::unit_roundoff<Scalar>());
  for (int B : {2, 3, 4, 8})
    for (std::size_t n : {std::size_t(3), std::size_t(4), std::size_t(33)})
      for (std::size_t lines : {std::size_t(1), std::size_t(5), std::size_t(37)})
        for (double weight : {1.2, 0.0}) { // 0: rows need exchanges, other algorithms take over
          SCOPED_TRACE(testing::Message()
                       << "blocks of " << B << ", " << n << " rows, " << lines << " lines, " << weight);
          const auto rows = static_cast<std::int64_t>(n), count = static_cast<std::int64_t>(lines);
          auto       bands = rings<Scalar>(g, lines, n, B, weight);
          for (const ribbon::LineSet &set : {ribbon::LineSet::contiguous(rows, count).with_components(B),
                                             ribbon::LineSet::interleaved(rows, count).with_components(B)}) {
            ribbon::LineSolver<Scalar, Host> solver(exec, set, bands);
            if (weight > 0) {
              ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
            } else if (!solver.report().ok()) continue;
            std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns())), x(b.size());
            for (Scalar &v : b) v = random_scalar<Scalar>(g);
            solver.solve(exec, b.data(), set, x.data(), set);
            exec.fence();
            EXPECT_LT(residual(bands, set, b, x), limit);
            if (weight == 0) continue;
            // the factors of block_thomas.hpp with the border of ring_border.hpp
            const ribbon::BlockTiles<Scalar> factors{nullptr, rows - 1, count, B};
            EXPECT_EQ(solver.report().algorithm, "thomas");
            EXPECT_EQ(solver.report().bytes, (factors.size() + factors.border_size()) * sizeof(Scalar) +
                                               lines * sizeof(ribbon::real_t<Scalar>));
            const auto others = rings<Scalar>(g, lines, n, B, weight); // new values
            ASSERT_TRUE(solver.refactor(exec, others));
            solver.solve(exec, b.data(), set, x.data(), set);
            exec.fence();
            EXPECT_LT(residual(others, set, b, x), limit);
          }
        }
}

/// The rows without the last one are singular, and other algorithms solve the lines.
TYPED_TEST(BlockRings, SolveShifts)
{
  using Scalar = TypeParam;
  const Host      exec;
  std::mt19937_64 g(9);
  const auto      set   = ribbon::LineSet::interleaved(9, 18).with_components(2);
  auto            bands = rings<Scalar>(g, 18, 9, 2, 1.2);
  for (std::size_t l = 0; l < 18; ++l)
    for (std::size_t i = 0; i < 9; ++i)
      for (std::size_t e = 0; e < 12; ++e)
        bands.values(l, i, e) =
          Scalar(static_cast<ribbon::real_t<Scalar>>(e == 8 || e == 11 ? 2.0 + static_cast<double>(l) : 0));
  ribbon::LineSolver<Scalar, Host> solver(exec, set, bands);
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
  std::vector<Scalar> b(static_cast<std::size_t>(set.unknowns())), x(b.size());
  for (Scalar &v : b) v = random_scalar<Scalar>(g);
  solver.solve(exec, b.data(), set, x.data(), set);
  exec.fence();
  EXPECT_LT(residual(bands, set, b, x), 500 * static_cast<double>(ribbon::unit_roundoff<Scalar>()));
}

TYPED_TEST(BlockRings, SingularLinesAreReported)
{
  using Scalar = TypeParam;
  const Host      exec;
  std::mt19937_64 g(8);
  auto            bands = rings<Scalar>(g, 20, 12, 2, 1.2);
  for (std::size_t i = 0; i < 12; ++i) // row sums of line 17 are zero
    for (std::size_t e = 0; e < 12; ++e)
      bands.values(17, i, e) = Scalar(e == 4 || e == 7 ? 2 : e == 0 || e == 3 || e == 8 || e == 11 ? -1 : 0);
  const auto                       set = ribbon::LineSet::interleaved(12, 20).with_components(2);
  ribbon::LineSolver<Scalar, Host> solver(exec, set, bands);
  EXPECT_EQ(solver.report().status, ribbon::FactorStatus::zero_pivot) << solver.report().reason;
  EXPECT_EQ(solver.report().line, 17);
  bands.values(17, 3, 5) = Scalar(std::numeric_limits<ribbon::real_t<Scalar>>::quiet_NaN());
  ribbon::LineSolver<Scalar, Host> with_nan(exec, set, bands);
  EXPECT_EQ(with_nan.report().status, ribbon::FactorStatus::not_finite);
}

} // namespace
