// SPDX-License-Identifier: BSD-2-Clause
// Costs of chains: launches as docs/methods/multifrontal.md states them, and no allocation by
// refactorizations and solves. Counted through the callbacks of Kokkos tools.
#include "chains.hpp"

#include <ribbon/schur_solver.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

int         kernels = 0, allocations = 0;
std::string foreign; ///< label of a kernel outside of Ribbon

void on_kernel(const char *label, std::uint32_t, std::uint64_t *)
{
  ++kernels;
  if (std::string(label).rfind("ribbon::", 0) != 0) foreign = label;
}
/// Kokkos itself allocates scratch on hosts.
void on_allocation(const Kokkos::Tools::SpaceHandle, const char *label, const void *, std::uint64_t)
{
  if (ribbon::is_device_space<Exec> || std::string(label).rfind("ribbon::", 0) == 0) ++allocations;
}

template <class Scalar>
class ChainCosts : public testing::Test {
protected:
  void SetUp() override
  {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(on_kernel);
    Kokkos::Tools::Experimental::set_allocate_data_callback(on_allocation);
  }
  void TearDown() override
  {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  }
  /// Number of kernels that run() starts. It expects no allocation.
  template <class Run>
  static int launches(const Run &run)
  {
    Kokkos::fence();
    kernels = allocations = 0;
    foreign.clear();
    run();
    Kokkos::fence();
    EXPECT_EQ(allocations, 0);
    EXPECT_EQ(foreign, "");
    return kernels;
  }
  static ChainSystem<Scalar> dominant(const ribbon::Chain &chain)
  {
    ChainSystem<Scalar> s{chain};
    s.fill([&](std::int64_t, int d) {
      return d == 0 ? Scalar(static_cast<ribbon::real_t<Scalar>>(chain.width() + 1)) : Scalar(-1);
    });
    return s;
  }
  using Vector = Kokkos::View<Scalar *, Memory>;
};
using Scalars = testing::Types<double, float, Kokkos::complex<double>>;
TYPED_TEST_SUITE(ChainCosts, Scalars, );

TYPED_TEST(ChainCosts, BandLuIsOneKernelToFactorAndOneToSolve)
{
  if (ribbon::is_device_space<Exec>) GTEST_SKIP() << "band LU is for hosts";
  for (const auto &[kl, ku] : {std::pair(0, 0), std::pair(1, 1), std::pair(3, 1), std::pair(5, 5),
                               std::pair(10, 10), std::pair(12, 20)})
    for (std::int64_t chains : {1, 3}) {
      SCOPED_TRACE(testing::Message() << chains << " chains, kl " << kl << " ku " << ku);
      const std::int64_t                   n = 60; // one leaf for any number of threads
      const auto                           s = this->dominant({n, chains, kl, ku});
      const ChainOnDevice<TypeParam>       A(s);
      ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), s.chain);
      ASSERT_STREQ(solver.method(), "band LU");
      const typename TestFixture::Vector b("test::b", static_cast<std::size_t>(n * chains * 150)),
        x("test::x", b.extent(0));
      for (int k = 0; k < 2; ++k) EXPECT_EQ(this->launches([&] { solver.factor(Exec(), A.matrix()); }), 1);
      ASSERT_TRUE(solver.report().ok());
      for (std::int64_t columns : {1, 33, 150})
        for (bool transposed : {false, true})
          EXPECT_EQ(this->launches([&] {
            solver.solve(Exec(), b.data(), n * chains, x.data(), n * chains, columns, transposed);
          }),
                    1);
    }
}

// Rings use leaves on hosts, too. Vector kernels process leaves of narrow bands. The number of launches is
// the one that the solver states, with one column more than a vector kernel processes at a time.
TYPED_TEST(ChainCosts, RingsOfHostsAllocateNothing)
{
  for (const auto &[kl, ku] : {std::pair(1, 1), std::pair(2, 3), std::pair(6, 6), std::pair(9, 9)}) {
    SCOPED_TRACE(testing::Message() << "kl " << kl << " ku " << ku);
    const std::int64_t                   n = 1003;
    const auto                           s = this->dominant({n, 1, kl, ku, true});
    const ChainOnDevice<TypeParam>       A(s);
    ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), s.chain);
    if (!ribbon::is_device_space<Exec> && kl + ku <= 16) {
      EXPECT_GE(solver.tree().leaves, 8);
    }
    const typename TestFixture::Vector b("test::b", static_cast<std::size_t>(n * 9)),
      x("test::x", b.extent(0));
    solver.reserve(Exec(), 9);
    for (int k = 0; k < 2; ++k)
      EXPECT_LE(this->launches([&] { solver.factor(Exec(), A.matrix()); }), solver.launches());
    ASSERT_TRUE(solver.report().ok());
    for (std::int64_t columns : {1, 9})
      for (bool transposed : {false, true})
        EXPECT_LE(
          this->launches([&] { solver.solve(Exec(), b.data(), n, x.data(), n, columns, transposed); }), 6);
  }
}

// Chains that are split for the threads of a host: leaves, and joins.
TYPED_TEST(ChainCosts, ChainsForThreadsOfHostsTakeTwoLaunchesEachWay)
{
  if (ribbon::is_device_space<Exec>) GTEST_SKIP() << "threads of hosts";
  for (const auto &[kl, ku, threads] : {std::tuple(1, 1, 4), std::tuple(2, 3, 8), std::tuple(9, 9, 24)}) {
    SCOPED_TRACE(testing::Message() << "kl " << kl << " ku " << ku);
    const std::int64_t                   n = 8200;
    const auto                           s = this->dominant({n, 1, kl, ku, false});
    const ChainOnDevice<TypeParam>       A(s);
    ribbon::ChainSolver<TypeParam, Exec> solver(Exec(), s.chain, {0, 0, threads});
    EXPECT_EQ(solver.launches(), 2);
    const typename TestFixture::Vector b("test::b", static_cast<std::size_t>(n * 9)),
      x("test::x", b.extent(0));
    solver.reserve(Exec(), 9);
    for (int k = 0; k < 2; ++k) EXPECT_EQ(this->launches([&] { solver.factor(Exec(), A.matrix()); }), 2);
    for (std::int64_t columns : {1, 9})
      for (bool transposed : {false, true})
        EXPECT_EQ(
          this->launches([&] { solver.solve(Exec(), b.data(), n, x.data(), n, columns, transposed); }), 4);
  }
}

/// Launches of a solve without pivots in one direction by the kernels for any width: leaves, and joins if
/// there are any.
int one_way(const ribbon::multifrontal::Tree &tree)
{
  return tree.top() == 0 ? 1 : tree.leaves <= 256 ? 2 : 3;
}

/// Launches of a factorization, or of a solve by orthogonal elimination in one direction. All joins take
/// one launch.
int factorization(const ribbon::multifrontal::Tree &tree)
{
  return tree.top() == 0 ? 1 : 2;
}

/// Launches of a solve by orthogonal elimination. `tiles`: the half-bandwidth has kernels for tiles of
/// leaves.
int launches_of(const ribbon::multifrontal::Tree &tree, bool tiles, std::int64_t columns, bool transposed)
{
  if (!tiles || transposed) return 2 * factorization(tree);
  if (columns == 1) return 1;
  return tree.top() == 0 ? 2 : 4;
}

// Orthogonal elimination and elimination without pivots, of every width, with leaves of 64 rows. With a
// given leaf size, hosts run the kernels of a device.
TYPED_TEST(ChainCosts, TreesTakeThreeKernelsEachWayAtMost)
{
  constexpr bool is_double = std::is_same_v<TypeParam, double>;
  for (const auto &[kl, ku] :
       {std::pair(0, 0), std::pair(1, 0), std::pair(1, 1), std::pair(1, 2), std::pair(2, 2), std::pair(5, 1),
        std::pair(4, 4), std::pair(2, 7), std::pair(5, 5), std::pair(6, 6), std::pair(12, 20)})
    for (std::int64_t n : {60, 300, 10000, 40000})
      for (bool ring : {false, true}) {
        const int W = kl + ku, w = std::max(kl, ku);
        if ((n > 10000 && W > 4) || (n > 300 && (W > 10 || ring)) || (n == 60 && ring) || (n > 60 && W == 0))
          continue;
        SCOPED_TRACE(testing::Message() << n << " rows, kl " << kl << " ku " << ku << (ring ? " ring" : ""));
        const std::int64_t                 most = n > 300 ? 1 : 150;
        const auto                         s    = this->dominant({n, 1, kl, ku, ring});
        const ChainOnDevice<TypeParam>     A(s);
        const typename TestFixture::Vector b("test::b", static_cast<std::size_t>(n * most)),
          x("test::x", b.extent(0));
        const auto check = [&](auto &solver, bool tiles, const auto &expected) {
          if (most > 1) solver.reserve(Exec(), most);
          for (int k = 0; k < 2; ++k)
            EXPECT_EQ(this->launches([&] { solver.factor(Exec(), A.matrix()); }),
                      tiles ? 1 : factorization(solver.tree()));
          ASSERT_TRUE(solver.report().ok());
          for (bool transposed : {false, true})
            for (std::int64_t columns : {1, 33, 150}) {
              if (columns > most) continue;
              const auto run = [&] { solver.solve(Exec(), b.data(), n, x.data(), n, columns, transposed); };
              EXPECT_EQ(this->launches(run), columns == 150
                                               ? expected(128, transposed) + expected(22, transposed)
                                               : expected(columns, transposed))
                << solver.report().algorithm << " columns " << columns << (transposed ? ", transposed" : "");
            }
        };
        const bool qr_tiles    = is_double && W % 2 == 0 && W > 0 && W <= 10,
                   schur_tiles = is_double && w > 0 && w <= 5;
        ribbon::ChainSolver<TypeParam, Exec> qr(Exec(), s.chain, {64, 0});
        check(qr, qr_tiles, [&](std::int64_t columns, bool transposed) {
          return launches_of(qr.tree(), qr_tiles, columns, transposed);
        });
        ribbon::SchurSolver<TypeParam, Exec> none(Exec(), s.chain, {64, 0});
        check(none, schur_tiles, [&](std::int64_t columns, bool) {
          return schur_tiles && columns == 1 ? 1 : 2 * one_way(none.tree());
        });
      }
}

} // namespace
