// SPDX-License-Identifier: BSD-2-Clause
// Reports and refusals of factorizations of chains.
#include "chains.hpp"

using namespace test;

namespace {

TEST(ChainReport, SingularMatricesNameTheirColumn)
{
  for (std::int64_t leaf : {0, 10}) {
    ChainSystem<double> s{{300, 1, 1, 1}};
    // A row and a column of zeros.
    s.fill([&](std::int64_t i, int d) {
      return i == 123 || (d != 0 && i + d == 123) ? 0.0 : d == 0 ? 4.0 : 1.0;
    });
    ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
    solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
    EXPECT_EQ(solver.report().status, ribbon::FactorStatus::zero_pivot);
    EXPECT_EQ(solver.report().row, 123);
    s.value[500] = std::nan("");
    solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
    EXPECT_EQ(solver.report().status, ribbon::FactorStatus::not_finite);
  }
}

// With several zero pivots, the first is that of the column of zeros.
TEST(ChainReport, AColumnOfZerosBesideOneCoupling)
{
  for (std::int64_t leaf : {0, 1, 2, 8})
    for (bool lower : {true, false}) {
      SCOPED_TRACE(testing::Message() << "leaf " << leaf << " lower " << lower);
      ChainSystem<double> s{{6, 1, lower ? 1 : 0, lower ? 0 : 1}};
      s.fill([](std::int64_t i, int d) { return i + d == 2 ? 0.0 : d == 0 ? 4.0 : 1.0; });
      ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
      solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
      EXPECT_EQ(solver.report().status, ribbon::FactorStatus::zero_pivot);
      EXPECT_EQ(solver.report().row, 2);
    }
}

// Boundary rows of 1 next to rows of n^4, and a row of zeros among random ones. The solver scales rows
// before it checks them.
TEST(ChainReport, RowsOfDifferentSize)
{
  const std::int64_t  n = 1000;
  ChainSystem<double> s{{n, 1, 2, 2}};
  const double        h4 = std::pow(static_cast<double>(n - 1), 4), stencil[] = {1, -4, 6, -4, 1};
  s.fill(
    [&](std::int64_t i, int d) { return i < 2 || i >= n - 2 ? (d == 0 ? 1.0 : 0.0) : stencil[d + 2] * h4; });
  std::vector<double> b(static_cast<std::size_t>(n), 1);
  for (std::int64_t leaf : {0, 10, 64}) {
    ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
    solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
    ASSERT_TRUE(solver.report().ok()) << solver.report().smallest_pivot;
    const auto x = solve(solver, b, 1, false);
    EXPECT_NEAR(x[0], 1, 1e-5); // the condition number is 1e12; without row scales the error is 1e-2
    EXPECT_NEAR(x[static_cast<std::size_t>(n) - 1], 1, 1e-5);
  }
  std::mt19937_64     g(3);
  ChainSystem<double> zero{{80, 1, 2, 1}};
  zero.fill([&](std::int64_t i, int) { return i == 37 ? 0.0 : random_scalar<double>(g); });
  for (std::int64_t leaf : {6, 20}) {
    ribbon::ChainSolver<double, Exec> solver(Exec(), zero.chain, {leaf, 0});
    solver.factor(Exec(), ChainOnDevice<double>(zero).matrix());
    EXPECT_EQ(solver.report().status, ribbon::FactorStatus::zero_pivot);
    EXPECT_EQ(solver.report().row, 37);
  }
}

// Rows of any size are solved as accurately as rows of one size. This includes band LU (leaf 0 on a host),
// which first checks unscaled rows.
TEST(ChainReport, RowsThatDifferByHundredsOfOrders)
{
  for (const auto &[kl, ku] : {std::pair(1, 1), std::pair(2, 2), std::pair(3, 1), std::pair(0, 2)})
    for (std::int64_t leaf : {0, 8})
      for (double size : {1e-20, 1e-150, 1e150}) {
        SCOPED_TRACE(testing::Message()
                     << "kl " << kl << " ku " << ku << " leaf " << leaf << " size " << size);
        std::mt19937_64     g(9);
        ChainSystem<double> s{{60, 2, kl, ku}}, sized = s;
        const auto          of = [&](std::int64_t i) {
          return i % 3 == 1 ? size : i % 3 == 2 ? std::sqrt(size) : 1.0;
        };
        s.fill([&](std::int64_t, int d) { return random_scalar<double>(g) + (d == 0 ? 2 : 0); });
        g.seed(9);
        sized.fill(
          [&](std::int64_t i, int d) { return (random_scalar<double>(g) + (d == 0 ? 2 : 0)) * of(i); });
        ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
        for (bool again : {false, true}) { // first rows of different sizes, then rows of one size
          const auto &system = again ? s : sized;
          solver.factor(Exec(), ChainOnDevice<double>(system).matrix());
          ASSERT_TRUE(solver.report().ok()) << solver.report().smallest_pivot;
          for (std::int64_t columns : {1, 5})
            for (bool transposed : {false, true}) {
              std::vector<double> b, right;
              for (std::int64_t k = 0; k < 120 * columns; ++k)
                b.push_back(random_scalar<double>(g)),
                  right.push_back(again || transposed ? b.back() : b.back() * of(k % 120 % 60));
              auto x = solve(solver, right, columns, transposed);
              for (std::int64_t k = 0; k < 120 * columns && !again && transposed; ++k)
                x[static_cast<std::size_t>(k)] *= of(k % 120 % 60);
              EXPECT_LE(backward_error(s, x, b, columns, transposed), 1e-14);
            }
        }
      }
}

// A column that is far smaller than its rows is solved for or named, although reflections square its
// entries.
TEST(ChainReport, ColumnsThatAreSmallerByHundredsOfOrders)
{
  for (const auto &[kl, ku] : {std::pair(1, 1), std::pair(2, 2), std::pair(3, 2), std::pair(5, 5)})
    for (std::int64_t leaf : {0, 8, 64})
      for (double size : {1e-130, 1e-150, 1e-158, 1e-162, 1e-170, 1e-300})
        for (const std::int64_t small : {0, 71, 199}) {
          SCOPED_TRACE(testing::Message() << "kl " << kl << " ku " << ku << " leaf " << leaf << " size "
                                          << size << " column " << small);
          std::mt19937_64     g(11);
          ChainSystem<double> s{{200, 1, kl, ku}};
          s.fill([&](std::int64_t i, int d) {
            return (random_scalar<double>(g) + (d == 0 ? 2 : 0)) * (i + d == small ? size : 1.0);
          });
          ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
          solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
          if (size == 1e-130) {
            EXPECT_TRUE(solver.report().ok());
          }
          if (!solver.report().ok()) {
            EXPECT_EQ(solver.report().status, ribbon::FactorStatus::zero_pivot);
            EXPECT_EQ(solver.report().row, small);
            continue;
          }
          std::vector<double> x, b(200, 0); // in b all unknowns contribute with the same size
          for (std::int64_t k = 0; k < 200; ++k)
            x.push_back(random_scalar<double>(g) / (k == small ? size : 1.0));
          for (std::size_t i = 0; i < 200; ++i)
            for (auto e = static_cast<std::size_t>(s.row_begin[i]);
                 e < static_cast<std::size_t>(s.row_begin[i + 1]); ++e)
              b[i] += s.value[e] * x[static_cast<std::size_t>(s.column[e])];
          const auto found = solve(solver, b, 1, false);
          for (std::size_t k = 0; k < 200; ++k)
            EXPECT_LE(std::abs(found[k] - x[k]), 1e-9 * std::abs(x[k]) + 1e-10);
        }
}

TEST(ChainReport, DeterminantsOfPivotsFarFromTheOthers)
{
  for (double last : {1e-280, 1e280}) {
    ChainSystem<double> s{{64, 1, 1, 1}};
    s.fill([&](std::int64_t i, int d) { return d != 0 ? 0.0 : i < 63 ? (last < 1 ? 0.05 : 20) : last; });
    ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {});
    solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
    EXPECT_NEAR(solver.report().log_abs_det, 63 * std::log(last < 1 ? 0.05 : 20) + std::log(last), 1e-9);
  }
}

// In triangular bands a NaN reaches no pivot.
TEST(ChainReport, NumbersThatAreNoneInTriangularBands)
{
  for (const auto &[kl, ku] : {std::pair(0, 1), std::pair(2, 0), std::pair(0, 0)})
    for (std::int64_t leaf : {0, 8}) {
      ChainSystem<double> s{{40, 1, kl, ku}};
      s.fill([kl = kl, ku = ku](std::int64_t i, int d) {
        return i == 20 && d == ku - kl ? std::nan("") : d == 0 ? 4.0 : 1.0;
      });
      ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
      solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
      EXPECT_EQ(solver.report().status, ribbon::FactorStatus::not_finite) << kl << ku << leaf;
    }
}

TEST(ChainReport, NeumannAndRingOfDifferencesAreSingular)
{
  for (std::int64_t leaf : {0, 10})
    for (bool ring : {false, true}) {
      const std::int64_t  n = 5000;
      ChainSystem<double> s{{n, 1, 1, 1, ring}};
      s.fill([&](std::int64_t i, int d) {
        return d != 0 ? -1.0 : !ring && (i == 0 || i == n - 1) ? 1.0 : 2.0;
      });
      ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
      solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
      EXPECT_EQ(solver.report().status, ribbon::FactorStatus::zero_pivot)
        << leaf << ring << solver.report().smallest_pivot;
    }
}

TEST(ChainReport, Determinant)
{
  for (std::int64_t leaf : {0, 10}) { // (-1, 2, -1) of n rows: n + 1
    ChainSystem<double> s{{4000, 3, 1, 1}};
    s.fill([&](std::int64_t, int d) { return d == 0 ? 2.0 : -1.0; });
    ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
    solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
    EXPECT_NEAR(solver.report().log_abs_det, 3 * std::log(4001.0), 1e-8);
  }
}

// Places of rows beyond the last one are outside of any memory.
TEST(ChainNumbering, NothingIsReadBeyondTheLastRow)
{
  if (ribbon::is_device_space<Exec>) GTEST_SKIP() << "band LU is for hosts";
  for (int half : {1, 2, 4})
    for (std::int64_t n = 1; n <= 12; ++n)
      for (std::int64_t exchanged = 0; exchanged <= n; ++exchanged) { // the first row with row exchanges
        SCOPED_TRACE(testing::Message()
                     << n << " rows, half-bandwidth " << half << ", exchanges from row " << exchanged);
        ChainSystem<double> s{{n, 1, half, half}};
        for (std::int64_t i = 0; i < n; ++i) s.row_of.push_back(n - 1 - i), s.place_of.push_back(n - 1 - i);
        s.fill([&](std::int64_t i, int d) { return d == 0 ? 20.0 : d == -1 && i > exchanged ? 100.0 : 1.0; });
        const ChainOnDevice<double> device(s);
        auto                        A = device.matrix();
        std::vector<std::int64_t>   places(s.row_of);
        places.resize(places.size() + 16, std::int64_t(1) << 40);
        A.row_of = places.data();
        ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain);
        solver.factor(Exec(), A);
        ASSERT_TRUE(solver.report().ok());
        const std::vector<double> b(static_cast<std::size_t>(n), 1.0);
        for (bool transposed : {false, true})
          EXPECT_LE(backward_error(s, solve(solver, b, 1, transposed), b, 1, transposed), 1e-14);
      }
}

TEST(ChainErrors, ShapesThatAreNone)
{
  using Solver = ribbon::ChainSolver<double, Exec>;
  EXPECT_THROW(Solver(Exec(), {-1, 1, 1, 1}), std::invalid_argument);
  EXPECT_THROW(Solver(Exec(), {10, 1, -1, 1}), std::invalid_argument);
  EXPECT_THROW(Solver(Exec(), {4, 1, 2, 2, true}), std::invalid_argument);
  EXPECT_THROW(Solver(Exec(), {3, 1, 2, 2, false, true}), std::invalid_argument);
  EXPECT_THROW(Solver(Exec(), {10, 1, 1, 1}, {-1}), std::invalid_argument);
}

// Band LU, tiles, bundles, windows of hosts and leaves of lanes detect a column in another unit, and a row
// so small that the inverse may overflow.
TEST(ChainReport, ColumnsAndRowsOfOtherUnits)
{
  for (const auto &[kl, ku] : {std::pair(1, 1), std::pair(2, 1), std::pair(5, 5), std::pair(9, 9)})
    for (bool ring : {false, true})
      for (std::int64_t leaf : {0, 1, 40})
        for (bool orthogonal : {false, true})
          for (std::int64_t at : {0, 31, 211, 299}) {
            SCOPED_TRACE(testing::Message() << "kl " << kl << " ku " << ku << " ring " << ring << " leaf "
                                            << leaf << " orthogonal " << orthogonal << " at " << at);
            ChainSystem<double>               s{{300, 1, kl, ku, ring}};
            ribbon::ChainSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0, 4, orthogonal});
            const auto                        factor = [&](double row, double column) {
              std::mt19937_64 g(5);
              s.fill([&](std::int64_t i, int d) {
                const double a = random_scalar<double>(g) + (d == 0 ? 3 : 0);
                return a * (i == at ? row : 1) * ((i + d + 300) % 300 == at ? column : 1);
              });
              solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
              EXPECT_TRUE(solver.report().ok());
            };
            factor(1, 1);
            EXPECT_FALSE(solver.has_small_columns());
            EXPECT_FALSE(solver.is_tiny());
            factor(1, 1e-5);
            EXPECT_TRUE(solver.has_small_columns());
            EXPECT_FALSE(solver.is_tiny());
            factor(1e-300, 1);
            EXPECT_TRUE(solver.is_tiny());
            factor(1, 1);
            EXPECT_FALSE(solver.has_small_columns() || solver.is_tiny());
          }
}

// Band LU: U of [[1, 0, 1], [-1, 1, 1], [-1, -1, 1]] ends with 4, and two exchanged rows have the
// determinant -1.
TEST(ChainReport, GrowthAndSignOfBandLu)
{
  using Host          = Kokkos::DefaultHostExecutionSpace;
  const auto factored = [](const ChainSystem<double> &s) {
    ribbon::ChainSolver<double, Host> solver(Host(), s.chain);
    solver.factor(Host(), ribbon::ChainMatrix<double, int>{
                            {s.rows(), s.row_begin.data(), s.column.data(), s.value.data()}});
    return solver;
  };
  ChainSystem<double> wilkinson{{3, 1, 2, 2}}, exchanged{{2, 3, 1, 1}};
  wilkinson.fill([](std::int64_t i, int d) { return i + d == 2 ? 1. : d == 0 ? 1. : d < 0 ? -1. : 0.; });
  exchanged.fill([](std::int64_t, int d) { return d == 0 ? 0. : 1.; });
  EXPECT_EQ(factored(wilkinson).report().growth, 4);
  EXPECT_EQ(factored(wilkinson).det_sign(), 1.);
  EXPECT_EQ(factored(exchanged).report().growth, 1);
  EXPECT_EQ(factored(exchanged).det_sign(), -1.); // three chains
  ribbon::ChainSolver<double, Host> qr(Host(), wilkinson.chain, {0, 0, 0, true});
  qr.factor(Host(), ribbon::ChainMatrix<double, int>{
                      {3, wilkinson.row_begin.data(), wilkinson.column.data(), wilkinson.value.data()}});
  EXPECT_TRUE(std::isnan(qr.report().growth) && std::isnan(qr.det_sign().real()));
}

// A pivot of 1 in a row of 1 next to rows of 10^8 is small only relative to its column. A pivot of [[1, 1],
// [1, 1 + 1e-12]] is small relative to both row and column.
TEST(ChainReport, PivotsThatAreSmallInTheirRowsToo)
{
  using Host = Kokkos::DefaultHostExecutionSpace;
  for (bool orthogonal : {false, true}) {
    ChainSystem<double> rows{{50, 1, 1, 1}}, near{{2, 1, 1, 1}};
    rows.fill([](std::int64_t i, int d) {
      const bool is_boundary = i == 0 || i == 49;
      return is_boundary ? (d == 0 ? 1. : 0.) : (d == 0 ? 2e8 : -1e8);
    });
    near.fill([](std::int64_t i, int d) { return i == 1 && d == 0 ? 1 + 1e-12 : 1.; });
    for (const auto *s : {&rows, &near}) {
      ribbon::ChainSolver<double, Host> solver(Host(), s->chain, {0, 0, 0, orthogonal});
      solver.factor(Host(), ribbon::ChainMatrix<double, int>{
                              {s->rows(), s->row_begin.data(), s->column.data(), s->value.data()}});
      EXPECT_TRUE(solver.report().ok());
      if (s == &near) {
        EXPECT_LE(solver.doubtful_pivot(), 2e-12) << orthogonal;
      } else {
        EXPECT_GE(solver.doubtful_pivot(), 1e-3) << orthogonal;
      }
      if (orthogonal) {
        EXPECT_EQ(solver.doubtful_pivot(), solver.report().smallest_pivot);
      }
    }
  }
}

} // namespace
