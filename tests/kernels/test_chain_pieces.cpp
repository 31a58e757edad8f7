// SPDX-License-Identifier: BSD-2-Clause
// Chains in sub-lines, as on several ranks, here processed one after another. The fronts that sub-lines
// pass form another tree.
#include "chain_values.hpp"

#include <gtest/gtest.h>

using namespace test;

namespace {

TYPED_TEST_SUITE(Chains, Scalars, );

// Sub-lines of several ranks, here processed one after another. The fronts that they pass form another
// tree.
template <class Scalar>
void check_pieces(int kl, int ku, bool ring, const std::vector<std::int64_t> &sizes, std::int64_t leaf,
                  std::int64_t columns, Values values)
{
  SCOPED_TRACE(testing::Message() << "values " << static_cast<int>(values) << " kl " << kl << " ku " << ku
                                  << " ring " << ring << " pieces " << sizes.size() << " leaf " << leaf);
  using Solver         = ribbon::ChainSolver<Scalar, Exec>;
  const std::int64_t n = std::accumulate(sizes.begin(), sizes.end(), std::int64_t(0)), W = kl + ku,
                     P = static_cast<std::int64_t>(sizes.size());
  std::mt19937_64     g(7);
  ChainSystem<Scalar> s{{n, 1, kl, ku, ring}};
  fill(s, g, values);
  std::vector<Solver>            pieces;
  const auto                     front = static_cast<std::size_t>(2 * W * (W + 1));
  Kokkos::View<Scalar *, Memory> passed("test::passed", front * sizes.size());
  std::vector<std::int64_t>      starts{0};
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    const std::int64_t start = starts.back(), end = start + sizes[p];
    starts.push_back(end);
    std::vector<int>          row_begin{0}, column, far_begin{0}, far;
    std::vector<Scalar>       value, far_value;
    std::vector<std::int64_t> distance;
    for (std::int64_t i = start; i < end; ++i) {
      for (int e = s.row_begin[static_cast<std::size_t>(i)]; e < s.row_begin[static_cast<std::size_t>(i) + 1];
           ++e) {
        std::int64_t j = s.column[static_cast<std::size_t>(e)];
        if (j - i > ku) j -= n; // around the ring
        if (j - i < -kl) j += n;
        if (j >= start && j < end)
          column.push_back(static_cast<int>(j - start)),
            value.push_back(s.value[static_cast<std::size_t>(e)]);
        else
          far.push_back(static_cast<int>(distance.size())), distance.push_back(j - start),
            far_value.push_back(s.value[static_cast<std::size_t>(e)]);
      }
      row_begin.push_back(static_cast<int>(column.size())), far_begin.push_back(static_cast<int>(far.size()));
    }
    const auto up      = [](const auto &v) { return ribbon::upload(Exec(), "test::piece", v); };
    const auto d_begin = up(row_begin), d_column = up(column), d_far_begin = up(far_begin), d_far = up(far);
    const auto d_value = up(value), d_far_value = up(far_value);
    const auto d_distance = up(distance);
    ribbon::ChainMatrix<Scalar, int> A{{end - start, d_begin.data(), d_column.data(), d_value.data()}};
    A.outside        = {end - start, d_far_begin.data(), d_far.data(), d_far_value.data()};
    A.outside_column = d_distance.data();
    pieces.emplace_back(
      Exec(), ribbon::Chain{end - start, 1, kl, ku, false, ring || p > 0, ring || p + 1 < sizes.size()},
      ribbon::ChainSolverOptions{leaf, 0});
    pieces.back().factor(Exec(), A);
    ASSERT_EQ(pieces.back().passed_size(), front);
    Kokkos::deep_copy(Kokkos::subview(passed, std::make_pair(p * front, (p + 1) * front)),
                      Kokkos::View<const Scalar *, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        pieces.back().passed(), front));
  }
  Solver root(Exec(), {P * W, 1, kl, ku, ring}, {W, values == Values::dominant ? 0 : 1e-300});
  root.factor_passed(Exec(), passed.data());
  ASSERT_TRUE(root.report().ok());
  std::vector<Scalar> b(static_cast<std::size_t>(n * columns));
  for (auto &a : b) a = random_scalar<Scalar>(g);
  for (bool transposed : {false, true}) {
    const std::int64_t             pass = transposed ? 2 * W : W;
    const auto                     db   = ribbon::upload(Exec(), "test::b", b);
    Kokkos::View<Scalar *, Memory> dx("test::x", b.size()),
      ends("test::ends", static_cast<std::size_t>(pass * columns * P)),
      cuts("test::cuts", static_cast<std::size_t>(P * W * columns)),
      both("test::both", static_cast<std::size_t>(2 * W * columns));
    Kokkos::View<Scalar *, Memory> cut_b("test::cut_b", cuts.extent(0));
    for (std::size_t p = 0; p < sizes.size(); ++p)
      pieces[p].up(Exec(), db.data() + starts[p], n, dx.data() + starts[p], n, columns, transposed,
                   ends.data() + static_cast<std::int64_t>(p) * pass * columns);
    const auto h_cut_b = Kokkos::create_mirror_view(cut_b);
    for (std::int64_t p = 0; p < P; ++p)
      for (std::int64_t k = 0; k < W; ++k)
        for (std::int64_t c = 0; c < columns; ++c) { // unknown k of the separator before sub-line p
          const std::int64_t in_cuts = (p * W - kl + k + P * W) % (P * W),
                             in_b    = (starts[static_cast<std::size_t>(p)] - kl + k + n) % n;
          h_cut_b(static_cast<std::size_t>(in_cuts + c * P * W)) = b[static_cast<std::size_t>(in_b + c * n)];
        }
    Kokkos::deep_copy(cut_b, h_cut_b);
    root.solve_passed(Exec(), cut_b.data(), cuts.data(), columns, transposed, ends.data());
    const auto h_cuts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), cuts);
    for (std::int64_t p = 0; p < P; ++p) {
      const auto to = static_cast<std::size_t>(p);
      if (transposed) {
        pieces[to].down(Exec(), dx.data() + starts[to], n, columns, true, ends.data() + p * pass * columns);
        continue;
      }
      const auto h_both = Kokkos::create_mirror_view(both);
      for (std::int64_t side = 0; side < 2; ++side)
        for (std::int64_t k = 0; k < W; ++k)
          for (std::int64_t c = 0; c < columns; ++c)
            h_both(static_cast<std::size_t>((side * W + k) * columns + c)) =
              h_cuts(static_cast<std::size_t>(((p + side) * W - kl + k + P * W) % (P * W) + c * P * W));
      Kokkos::deep_copy(both, h_both);
      pieces[to].down(Exec(), dx.data() + starts[to], n, columns, false, both.data());
      Kokkos::fence();
    }
    const auto          result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, dx);
    std::vector<Scalar> x(result.data(), result.data() + b.size());
    EXPECT_LE(backward_error(s, x, b, columns, transposed), chain_limit<Scalar>())
      << (transposed ? "transposed" : "");
  }
}

TYPED_TEST(Chains, InPieces)
{
  for (bool ring : {false, true})
    for (std::int64_t leaf : {0, 4})
      for (std::int64_t columns : {1, 3}) {
        check_pieces<TypeParam>(1, 1, ring, {40, 3, 17}, leaf, columns, Values::dominant);
        check_pieces<TypeParam>(2, 1, ring, {40, 3, 17, 90, 4}, leaf, columns, Values::dominant);
        check_pieces<TypeParam>(0, 2, ring, {20, 30}, leaf, columns, Values::dominant);
        check_pieces<TypeParam>(5, 3, ring, {8, 400, 33}, leaf, columns, Values::dominant);
      }
  for (bool ring : {false, true}) { // adjacent leaves with closed and with open ends
    check_pieces<TypeParam>(1, 1, ring, {203, 3, 170}, 0, 3, Values::dominant);
    check_pieces<TypeParam>(1, 3, ring, {405, 8, 230}, 0, 9, Values::dominant);
    check_pieces<TypeParam>(5, 2, ring, {430, 391}, 0, 1, Values::dominant);
  }
  for (std::int64_t leaf : {0, 1000}) // wide bands, in sub-lines of minimum length and more
    for (std::int64_t columns : {1, 3, 35}) {
      check_pieces<TypeParam>(12, 20, true, {40, 43, 46, 89}, leaf, columns, Values::dominant);
      check_pieces<TypeParam>(12, 20, false, {32, 43, 86}, leaf, columns, Values::dominant);
      // Widths of fronts that remain of other chains.
      if (leaf == 0 || !ribbon::is_device_space<Exec>)
        check_pieces<TypeParam>(39, 40, true, {80, 90, 100, 110}, leaf, columns, Values::dominant);
    }
  for (std::int64_t leaf : {0, 4})
    for (const auto &[kl, ku] : {std::pair(0, 2), std::pair(2, 0), std::pair(3, 1), std::pair(1, 3)})
      check_pieces<TypeParam>(kl, ku, false, {20, 5, 30, 25}, leaf, 2, Values::random);
}

} // namespace
