// SPDX-License-Identifier: BSD-2-Clause
// The tree of Schur complements: backward errors for every shape of tree without row exchanges, and the
// reports for matrices that need exchanges.
#include "chains.hpp"

#include <ribbon/schur_solver.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

template <class Scalar>
void check(const ribbon::Chain &chain, std::int64_t leaf_size, std::int64_t columns, bool permuted,
           std::uint64_t seed)
{
  using Real = ribbon::real_t<Scalar>;
  SCOPED_TRACE(testing::Message() << "n " << chain.rows << " chains " << chain.chains << " kl " << chain.kl
                                  << " ku " << chain.ku << " ring " << chain.ring << " leaf " << leaf_size
                                  << " columns " << columns);
  std::mt19937_64     g(seed);
  ChainSystem<Scalar> s{chain};
  if (permuted) s.shuffle(g);
  s.fill([&](std::int64_t, int d) {
    return random_scalar<Scalar>(g) + (d == 0 ? Scalar(static_cast<Real>(chain.width() + 1)) : Scalar(0));
  });
  const ChainOnDevice<Scalar>       device(s);
  ribbon::SchurSolver<Scalar, Exec> solver(Exec(), chain, {leaf_size, 0});
  check_solves(solver, s, device, columns, !permuted, g);
}

template <class Scalar>
class Schur : public testing::Test {
};
using Scalars = testing::Types<double, float, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Schur, Scalars, );

TYPED_TEST(Schur, BandsOfAllWidths)
{
  for (int kl = 0; kl <= 6; ++kl)
    for (int ku = 0; ku <= 6; ++ku)
      for (std::int64_t leaf : {0, 1, 17}) {
        check<TypeParam>({131, 1, kl, ku}, leaf, 1, false, 1);
        if (kl + ku > 0) check<TypeParam>({131, 1, kl, ku, true}, leaf, 1, false, 2);
      }
  for (std::int64_t leaf : {0, 100}) check<TypeParam>({700, 1, 32, 32}, leaf, 2, false, 3);
  check<TypeParam>({300, 1, 7, 12, true}, 20, 2, false, 3);
}

TYPED_TEST(Schur, SizesThatDegenerate)
{
  for (int kl = 0; kl <= 3; ++kl)
    for (int ku = 0; ku <= 3; ++ku)
      for (std::int64_t n = 0; n <= 18; ++n)
        for (std::int64_t leaf : {0, 1, 5}) {
          check<TypeParam>({n, 1, kl, ku}, leaf, 1, false, 1);
          if (n > kl + ku && kl + ku > 0) check<TypeParam>({n, 1, kl, ku, true}, leaf, 1, false, 2);
        }
  // fewer rows than half-bandwidths, in the kernel for any half-bandwidth
  for (std::int64_t n = 0; n <= 12; ++n) check<TypeParam>({n, 1, 9, 7}, 0, 2, false, 3);
}

TYPED_TEST(Schur, ManyRightHandSidesAndChains)
{
  // More levels than one launch processes.
  for (std::int64_t columns : {2, 4, 7, 150}) check<TypeParam>({900, 1, 2, 2}, 1, columns, false, 1);
  for (bool ring : {false, true})
    for (std::int64_t leaf : {0, 9}) {
      check<TypeParam>({90, 5, 1, 2, ring}, leaf, 3, false, 2);
      check<TypeParam>({90, 2, 3, 3, ring}, leaf, 3, true, 2);
    }
}

// Leaves and nodes without a neighbour at the end of a tile, with five and ten levels. More tiles than run
// at the same time.
TYPED_TEST(Schur, LeavesAndNodesWithoutNeighbours)
{
  for (bool ring : {false, true}) {
    for (std::int64_t leaves : {31, 32, 33, 65, 1025})
      for (std::int64_t columns : {1, 5}) check<TypeParam>({2 * leaves, 1, 1, 1, ring}, 1, columns, false, 1);
    check<TypeParam>({4500, 1, 1, 1, ring}, 1, 1, false, 2);
    check<TypeParam>({66, 3, 1, 0, ring}, 1, 2, true, 3);
  }
}

// One unknown per leaf, after p + 1 elements: the tree of the thesis.
TEST(SchurTree, OfTheThesis)
{
  for (int p = 1; p <= 5; ++p) {
    const std::int64_t                elements = 64 * (p + 1);
    ribbon::SchurSolver<double, Exec> solver(Exec(), {elements, 1, p, p}, {1, 0});
    EXPECT_EQ(solver.tree().leaves, 64);
    EXPECT_EQ(solver.tree().shortest, p + 1);
    EXPECT_EQ(solver.tree().top(), 6);
  }
}

TEST(SchurReport, PivotsOfZeroAndDeterminants)
{
  for (std::int64_t leaf : {0, 1, 16}) {
    ChainSystem<double> s{{4000, 1, 1, 1}};
    s.fill([](std::int64_t, int d) { return d == 0 ? 2.0 : -1.0; });
    ribbon::SchurSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
    solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
    EXPECT_NEAR(solver.report().log_abs_det, std::log(4001.0), 1e-8);
    // regular, but all pivots in order are zero
    s.fill([](std::int64_t, int d) { return d == 0 ? 0.0 : 1.0; });
    solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
    EXPECT_FALSE(solver.report().ok());
    s.value[77] = std::nan("");
    solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
    EXPECT_EQ(solver.report().status, ribbon::FactorStatus::not_finite);
  }
}

TEST(SchurReport, DeterminantsOfPivotsFarFromTheOthers)
{
  for (std::int64_t leaf : {0, 16, 64})
    for (double size : {1e90, 1e-90}) { // alternating 1e250 and 1e-250: products of two overflow or underflow
      const double        other = size > 1 ? 1e250 : 1e-250;
      ChainSystem<double> s{{64, 1, 1, 1}};
      s.fill([&](std::int64_t i, int d) { return d != 0 ? 0.0 : i % 2 == 0 ? size : other; });
      ribbon::SchurSolver<double, Exec> solver(Exec(), s.chain, {leaf, 0});
      solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
      EXPECT_NEAR(solver.report().log_abs_det, 32 * (std::log(size) + std::log(other)), 1e-8) << leaf;
    }
}

// So many tiles that a device processes several at the same time, and entries arrive late.
TEST(SchurReport, LongChains)
{
  for (int p : {1, 2, 4}) { // p interleaved chains of half-bandwidth 1
    const std::int64_t  n = 1000000;
    ChainSystem<double> s{{n, 1, p, p}};
    s.fill([&](std::int64_t, int d) { return d == 0 ? 2.5 : d == p || d == -p ? -1.0 : 0.0; });
    ribbon::SchurSolver<double, Exec> solver(Exec(), s.chain, {0, 0});
    solver.factor(Exec(), ChainOnDevice<double>(s).matrix());
    // log det of a chain is (rows + 1) log 2 - log 1.5, up to 2^-rows.
    const double rows = static_cast<double>(n) / p;
    EXPECT_NEAR(solver.report().log_abs_det, p * ((rows + 1) * std::log(2.0) - std::log(1.5)), 1e-5);
  }
}

TEST(SchurErrors, ShapesThatAreNone)
{
  using Solver = ribbon::SchurSolver<double, Exec>;
  EXPECT_THROW(Solver(Exec(), {-1, 1, 1, 1}), std::invalid_argument);
  EXPECT_THROW(Solver(Exec(), {4, 1, 2, 2, true}), std::invalid_argument);
  EXPECT_THROW(Solver(Exec(), {10, 1, 1, 1, false, true}), std::invalid_argument);
  EXPECT_THROW(Solver(Exec(), {10, 1, 1, 1}, {-1}), std::invalid_argument);
}

} // namespace
