// SPDX-License-Identifier: BSD-2-Clause
// Colours of unknowns: proper, few, balanced, and the same for any order of the neighbours.
#include "multicolor_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace {

using test::Exec;
using test::Memory;
using Colors = ribbon::ColorArray<Exec>;

std::vector<std::int32_t> on_host(const Colors &colors)
{
  const auto                host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), colors);
  std::vector<std::int32_t> v(host.size());
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = host(k);
  return v;
}

/// Compared with the definition, on the host.
template <class Scalar>
bool proper_by_definition(const test::BlockMatrix<Scalar> &A, const std::vector<std::int32_t> &color)
{
  for (std::size_t i = 0; i < A.rows.size(); ++i)
    for (const auto &[j, block] : A.rows[i])
      if (static_cast<std::size_t>(j) != i && color[i] >= 0 && color[i] == color[static_cast<std::size_t>(j)])
        for (const auto &row : block)
          for (const Scalar &v : row)
            if (!(v == Scalar(0))) return false;
  return true;
}

Kokkos::View<std::uint64_t *, Memory> keys(std::int64_t n)
{
  return ribbon::coloring_keys(Exec(), 0, n, {});
}

/// A star or a box of couplings up to `width` points away on a grid.
test::BlockMatrix<double> grid_matrix(const std::int64_t (&n)[3], int width, bool box)
{
  test::BlockMatrix<double> A(n[0] * n[1] * n[2], 0, 1);
  const auto                index = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return x + n[0] * (y + n[1] * z);
  };
  const auto apart = [](std::int64_t a, std::int64_t b) { return std::abs(a - b); };
  for (std::int64_t i = 0; i < A.own; ++i) {
    const std::int64_t p[3] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
    for (std::int64_t z = 0; z < n[2]; ++z)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t x = 0; x < n[0]; ++x) {
          const std::int64_t d[3] = {apart(x, p[0]), apart(y, p[1]), apart(z, p[2])},
                             far = std::max({d[0], d[1], d[2]}), away = (d[0] > 0) + (d[1] > 0) + (d[2] > 0);
          if (far <= width && (box || away <= 1))
            A.at(i, index(x, y, z)) = {{i == index(x, y, z) ? 8. : -1.}};
        }
  }
  return A;
}

TEST(Coloring, OfGridsByFormulaIsProper)
{
  const Exec exec;
  for (const auto &n : {std::array<std::int64_t, 3>{7, 1, 1}, {5, 6, 1}, {4, 5, 3}, {6, 4, 4}})
    for (int width : {1, 2})
      for (bool box : {false, true}) {
        const std::int64_t       size[3] = {n[0], n[1], n[2]};
        const auto               A       = grid_matrix(size, width, box);
        test::DeviceRows<double> rows(A);
        ribbon::GridColoring     grid;
        std::copy_n(size, 3, grid.size);
        std::copy_n(std::array<std::int64_t, 3>{3, 1, 4}.begin(), 3, grid.begin);
        grid.width = width, grid.box = box;
        const int dimensions = 1 + (size[1] > 1) + (size[2] > 1);
        Colors    colors("colors", static_cast<std::size_t>(A.own));
        ribbon::color_grid(exec, grid, A.own, colors);
        EXPECT_TRUE(ribbon::is_proper(exec, rows.rows, colors)) << n[0] << n[1] << n[2] << width << box;
        const auto host = on_host(colors);
        EXPECT_TRUE(proper_by_definition(A, host));
        EXPECT_EQ(grid.colors(dimensions),
                  box ? static_cast<int>(std::pow(width + 1, dimensions)) : width + 1);
        // fewer colours do not suffice
        grid.width = width - 1;
        ribbon::color_grid(exec, grid, A.own, colors);
        EXPECT_FALSE(ribbon::is_proper(exec, rows.rows, colors));
      }
}

TEST(Coloring, OfGridsContinuesOverRanks)
{
  for (int width : {1, 2})
    for (bool box : {false, true}) {
      ribbon::GridColoring whole;
      whole.size[0] = 5, whole.size[1] = 4, whole.size[2] = 3;
      whole.width = width, whole.box = box;
      ribbon::GridColoring part = whole;
      part.shift                = 13; // a rank begins within a line
      Colors colors("colors", 40);    // and ends within one
      ribbon::color_grid(Exec(), part, 40, colors);
      const auto found = on_host(colors);
      for (std::int64_t i = 0; i < 40; ++i)
        EXPECT_EQ(found[static_cast<std::size_t>(i)], whole.color(i + 13)) << i;
    }
}

TEST(Coloring, IgnoresZeros)
{
  const Exec                exec;
  test::BlockMatrix<double> A = grid_matrix({6, 6, 1}, 1, true);
  for (std::int64_t i = 0; i < A.own; ++i)
    for (auto &[j, block] : A.rows[static_cast<std::size_t>(i)])
      if ((std::abs(i - j) == 5) || (std::abs(i - j) == 7)) block[0][0] = 0;
  test::DeviceRows<double> rows(A);
  ribbon::GridColoring     grid;
  grid.size[0] = grid.size[1] = 6;
  Colors colors("colors", 36);
  ribbon::color_grid(exec, grid, 36, colors);
  EXPECT_TRUE(ribbon::is_proper(exec, rows.rows, colors));
  EXPECT_EQ(ribbon::color_greedily(exec, ribbon::unknown_graph(exec, rows.rows), colors), 2);
}

TEST(Coloring, OfRandomGraphsIsProperForAPlusItsTranspose)
{
  const Exec exec;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 g(seed);
    const auto      pick      = [&](int n) { return static_cast<int>(g() % static_cast<std::uint64_t>(n)); };
    const bool      symmetric = pick(2) == 0;
    const auto      A =
      test::BlockMatrix<double>::random(g, 1 + pick(300), 0, 1 + pick(3), 1 + pick(9), symmetric);
    test::BlockMatrix<double> both = A; // with the transposed pattern
    for (std::int64_t i = 0; i < A.own; ++i)
      for (const auto &[j, block] : A.rows[static_cast<std::size_t>(i)]) both.at(j, i) = block;
    test::DeviceRows<double> rows(A);
    const auto               graph = ribbon::unknown_graph(exec, rows.rows);
    Colors                   colors("colors", static_cast<std::size_t>(A.own));
    int                      most = 0;
    for (const auto &row : both.rows) most = std::max(most, static_cast<int>(row.size()));
    const int  greedy   = ribbon::color_greedily(exec, graph, colors);
    const auto in_order = on_host(colors);
    EXPECT_TRUE(proper_by_definition(both, in_order));
    EXPECT_LE(greedy, most);
    EXPECT_EQ(ribbon::color_greedily_in_rounds(exec, graph, colors), greedy);
    EXPECT_EQ(on_host(colors), in_order);
    const int  parallel = ribbon::color_in_parallel(exec, graph, keys(A.own), colors);
    const auto first    = on_host(colors);
    EXPECT_TRUE(proper_by_definition(both, first));
    EXPECT_LE(parallel, most);
    EXPECT_EQ(*std::max_element(first.begin(), first.end()) + 1, parallel);
    // any order of the neighbours gives the same colours
    const auto neighbor = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.neighbor);
    const auto begin    = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.begin);
    for (std::size_t i = 0; i < static_cast<std::size_t>(A.own); ++i)
      std::shuffle(neighbor.data() + begin(i), neighbor.data() + begin(i + 1), g);
    Kokkos::deep_copy(graph.neighbor, neighbor);
    EXPECT_EQ(ribbon::color_in_parallel(exec, graph, keys(A.own), colors), parallel);
    EXPECT_EQ(on_host(colors), first);
  }
}

/// A path in its order takes as many rounds as unknowns.
TEST(Coloring, GivesUpAfterManyRounds)
{
  const Exec               exec;
  test::DeviceRows<double> rows(grid_matrix({1000, 1, 1}, 1, false));
  const auto               graph = ribbon::unknown_graph(exec, rows.rows);
  Colors                   colors("colors", 1000);
  EXPECT_EQ(ribbon::color_greedily_in_rounds(exec, graph, colors, 900), 0);
  EXPECT_EQ(ribbon::color_greedily_in_rounds(exec, graph, colors, 1024), 2);
  EXPECT_EQ(ribbon::color_greedily(exec, graph, colors), 2);
}

/// Stars on grids have no odd cycles in any numbering, boxes have.
TEST(Coloring, FindsTwoColorsInAnyNumbering)
{
  const Exec      exec;
  std::mt19937_64 g(4);
  for (bool box : {false, true})
    for (int parts : {1, 3}) { // components
      const auto                grid = grid_matrix({6, 5, 4}, 1, box);
      std::vector<std::int64_t> to(static_cast<std::size_t>(parts * grid.own));
      std::iota(to.begin(), to.end(), std::int64_t(0));
      std::shuffle(to.begin(), to.end(), g);
      test::BlockMatrix<double> A(parts * grid.own, 0, 1);
      for (std::int64_t p = 0; p < parts; ++p)
        for (std::int64_t i = 0; i < grid.own; ++i)
          for (const auto &[j, block] : grid.rows[static_cast<std::size_t>(i)])
            A.at(to[static_cast<std::size_t>(p * grid.own + i)],
                 to[static_cast<std::size_t>(p * grid.own + j)]) = block;
      test::DeviceRows<double> rows(A);
      Colors                   colors("colors", static_cast<std::size_t>(A.own));
      const bool two = ribbon::color_bipartite(exec, ribbon::unknown_graph(exec, rows.rows), colors);
      EXPECT_EQ(two, !box);
      if (!two) continue;
      const auto color = on_host(colors);
      EXPECT_TRUE(proper_by_definition(A, color));
      for (std::int32_t c : color) EXPECT_TRUE(c == 0 || c == 1);
    }
}

TEST(Coloring, InParallelIsBalancedAndHasFewColors)
{
  const Exec               exec;
  const auto               A = grid_matrix({24, 24, 1}, 1, true); // the least number of colours is 4
  test::DeviceRows<double> rows(A);
  Colors                   colors("colors", static_cast<std::size_t>(A.own));
  const int                count =
    ribbon::color_in_parallel(exec, ribbon::unknown_graph(exec, rows.rows), keys(A.own), colors);
  EXPECT_LE(count, 7);
  const auto color = on_host(colors);
  for (std::int32_t c = 0; c < count; ++c)
    EXPECT_LT(static_cast<double>(std::count(color.begin(), color.end(), c)),
              1.6 * static_cast<double>(A.own) / count) // of the mean
      << "colour " << c;
}

TEST(Coloring, EndsAtAnErrorOfARank)
{
  const Exec               exec;
  const auto               A = grid_matrix({5, 5, 1}, 1, true);
  test::DeviceRows<double> rows(A);
  const auto               graph = ribbon::unknown_graph(exec, rows.rows);
  Colors                   colors("colors", 25);
  ribbon::ColoringRanks    ranks;
  int                      calls = 0;
  ranks.exchange                 = [&] { return ++calls < 3; };
  EXPECT_EQ(ribbon::color_in_parallel(exec, graph, keys(25), colors, ranks), -1);
  EXPECT_EQ(calls, 3);
  EXPECT_THROW(ribbon::color_in_parallel(exec, graph, keys(24), colors), std::invalid_argument);
}

} // namespace
