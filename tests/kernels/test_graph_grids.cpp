// SPDX-License-Identifier: BSD-2-Clause
// Lines along the largest couplings of grids and rings, and the convergence with lines as preconditioner.
#include "graph_lines.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

using namespace test;

namespace {

TEST(LinesOfGraph, StrongDirectionOfAGridInAnyNumbering)
{
  struct Case {
    Row    n[3];
    double g[3];
    int    strong;
  };
  for (const Case &c :
       {Case{{17, 12, 1}, {100, 1, 1}, 0}, Case{{17, 12, 1}, {1, 100, 1}, 1}, Case{{9, 11, 1}, {1, 3, 1}, 1},
        Case{{2, 30, 1}, {1, 10, 1}, 1}, Case{{5, 6, 7}, {1, 1, 50}, 2}, Case{{5, 6, 7}, {20, 1000, 1}, 1},
        Case{{8, 8, 1}, {1, 1, 1}, 0}, Case{{9, 7, 6}, {1, 1, 1}, 0}})
    for (unsigned seed : {0u, 1u, 2u, 3u}) {
      if (seed > 0 && c.g[0] == c.g[1]) continue; // no direction is stronger: the numbering decides
      Host<>           natural = grid(c.n[0], c.n[1], c.n[2], constant(c.g[0], c.g[1], c.g[2]));
      std::vector<Row> to      = shuffled(natural.rows, seed);
      if (seed == 0) std::iota(to.begin(), to.end(), Row(0));
      Host<>     A     = natural.renumbered(to);
      const auto found = ribbon::lines_from_graph(A.csr());
      SCOPED_TRACE(testing::Message() << c.n[0] << " x " << c.n[1] << " x " << c.n[2] << ", seed " << seed);
      expect_sound(A, found);
      EXPECT_EQ(as_set(found), grid_lines(c.n[0], c.n[1], c.n[2], c.strong, to));
    }
}

TEST(LinesOfGraph, NinePointsAndDirichletRows)
{
  // Bilinear elements on squares: all eight neighbours are equally strong.
  const Row nx = 9, ny = 8;
  Host<>    A(nx * ny);
  for (Row i = 0; i < A.rows; ++i)
    for (Row dy : {-1, 0, 1})
      for (Row dx : {-1, 0, 1}) {
        const Row x = i % nx + dx, y = i / nx + dy;
        if (x < 0 || x >= nx || y < 0 || y >= ny) continue;
        A.entries[{i, x + nx * y}] = dx == 0 && dy == 0 ? 8 : -1;
      }
  std::vector<Row> same(static_cast<std::size_t>(nx * ny));
  std::iota(same.begin(), same.end(), Row(0));
  EXPECT_EQ(as_set(ribbon::lines_from_graph(A.csr())), grid_lines(nx, ny, 1, 0, same));

  // Rows of the identity at the boundary: lines may end in them.
  Host<> B = grid(nx, ny, 1, constant(1, 100));
  for (auto &[at, a] : B.entries) {
    const Row x = at.first % nx, y = at.first / nx;
    if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) a = at.first == at.second ? 1 : 0;
  }
  const auto found = ribbon::lines_from_graph(B.csr());
  expect_sound(B, found);
  const Lines lines = as_set(found);
  for (const Line &line : grid_lines(nx, ny, 1, 1, same))
    EXPECT_EQ(lines.count(line), line[0] % nx == 0 || line[0] % nx == nx - 1 ? 0u : 1u);
}

TEST(LinesOfGraph, IsotropicGridInRandomNumberingHasNoCorners)
{
  const Row        nx = 40, ny = 40;
  const auto       to = shuffled(nx * ny, 5);
  std::vector<Row> from(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) from[static_cast<std::size_t>(to[i])] = static_cast<Row>(i);
  Host<>     A     = grid(nx, ny, 1, constant(1, 1), {true, true, false}).renumbered(to);
  const auto found = ribbon::lines_from_graph(A.csr());
  expect_sound(A, found);
  EXPECT_LT(found.lines(), nx * ny / 3); // at least three rows per line
  for (const Line &line : as_set(found))
    for (std::size_t k = 2; k < line.size(); ++k) {
      const Row a = from[static_cast<std::size_t>(line[k - 2])], b = from[static_cast<std::size_t>(line[k])];
      EXPECT_TRUE(a % nx == b % nx || a / nx == b / nx);
    }
}

TEST(LinesOfGraph, BoundaryLayer)
{
  // Layers whose height doubles from 1/256 of the width up to the width, then squares; finite volumes.
  const Row           nx = 20, ny = 24, layers = 8;
  std::vector<double> height;
  for (Row y = 0; y < ny; ++y) height.push_back(y < layers ? std::exp2(static_cast<double>(y - layers)) : 1);
  Host<> A = grid(nx, ny, 1, [&](int d, Row, Row y, Row) {
    const auto   k     = static_cast<std::size_t>(y);
    const double above = k + 1 < height.size() ? height[k + 1] : height[k];
    return d == 0 ? height[k] : 2 / (height[k] + above);
  });
  // With isotropic rows on single lines, lines cover the layer up to about where its cells are half as high
  // as wide.
  ribbon::LinesOfGraphOptions options;
  options.anisotropy = 4;
  auto found         = ribbon::lines_from_graph(A.csr(), options);
  expect_sound(A, found);
  Row in_layer = 0;
  for (const Line &line : as_set(found)) {
    if (line.size() == 1) {
      EXPECT_GE(line[0] / nx, layers - 2);
      continue;
    }
    ++in_layer;
    // One column, from the wall up.
    for (std::size_t k = 0; k < line.size(); ++k) EXPECT_EQ(line[k], line[0] + static_cast<Row>(k) * nx);
    EXPECT_EQ(line[0] / nx, 0);
    EXPECT_GE(static_cast<Row>(line.size()), layers - 2);
    EXPECT_LE(static_cast<Row>(line.size()), layers);
  }
  EXPECT_EQ(in_layer, nx);
  // By default isotropic rows are on lines, too, and the layer keeps its lines: columns below, rows above.
  found = ribbon::lines_from_graph(A.csr());
  expect_sound(A, found);
  std::map<std::pair<bool, Row>, Line> expected;
  for (Row i = 0; i < A.rows; ++i)
    expected[{i / nx < layers, i / nx < layers ? i % nx : i / nx}].push_back(i);
  Lines lines;
  for (const auto &line : expected) lines.insert(line.second);
  EXPECT_EQ(as_set(found), lines);
}

// Ends of neighbouring rings couple, too, as in triangles.
TEST(LinesOfGraph, RingsMakeNoSpiral)
{
  const Row n = 12, rings = 5;
  Host<>    A(n * rings);
  for (Row r = 0; r < rings; ++r)
    for (Row k = 0; k < n; ++k) {
      const Row next = (k + 1) % n;
      A.couple(r * n + k, r * n + next, 1 + 0.01 * static_cast<double>(k * (n - 1 - k)));
      for (Row out : {k, next})
        if (r + 1 < rings) A.couple(r * n + k, (r + 1) * n + out, 0.5);
    }
  const auto found = ribbon::lines_from_graph(A.csr());
  expect_sound(A, found);
  ASSERT_EQ(found.lines(), rings);
  for (Row r = 0; r < rings; ++r) EXPECT_EQ(found.begin[static_cast<std::size_t>(r)], r * n);
}

TEST(LinesOfGraph, RingsAreCutOnce)
{
  for (Row n : {3, 4, 5, 6, 31}) {
    Host<> A = grid(n, 1, 1, constant(1, 1), {true, false, false});
    Line   whole(static_cast<std::size_t>(n));
    std::iota(whole.begin(), whole.end(), Row(0));
    EXPECT_EQ(ribbon::lines_from_graph(A.csr()).order, whole) << n;
    EXPECT_EQ(as_set(ribbon::lines_from_graph(A.csr())), Lines{whole}) << n;
    const auto to = shuffled(n, 7);
    Host<>     B  = A.renumbered(to);
    EXPECT_EQ(ribbon::lines_from_graph(B.csr()).lines(), 1) << n;
    Host<> rings = grid(n, 5, 1, constant(100, 1), {true, true, false}).renumbered(shuffled(5 * n, 11));
    EXPECT_EQ(ribbon::lines_from_graph(rings.csr()).lines(), 5) << n;
  }
  // Lines with five and seven diagonals have no corners.
  for (const auto &diagonals : {std::vector<double>{4, 1}, std::vector<double>{1, 0.5, 0.1}}) {
    Host<> A(50);
    for (Row i = 0; i < 50; ++i)
      for (std::size_t d = 0; d < diagonals.size(); ++d)
        if (i + static_cast<Row>(d) + 1 < 50) A.couple(i, i + static_cast<Row>(d) + 1, diagonals[d]);
    EXPECT_EQ(ribbon::lines_from_graph(A.renumbered(shuffled(50, 3)).csr()).lines(), 1);
  }
}

TEST(LinesOfGraph, Blocks)
{
  // Two unknowns per point that couple with each other a thousand times as strongly as the points do.
  // Points along y couple only by the off-diagonal entry of a block.
  Host<> scalar = grid(5, 7, 1, constant(1, 30)), A(2 * scalar.rows);
  for (const auto &[at, a] : scalar.entries) {
    if (at.first == at.second)
      for (Row c : {0, 1})
        A.entries[{2 * at.first + c, 2 * at.first + c}] = a,
                                                    A.entries[{2 * at.first + c, 2 * at.first + 1 - c}] =
                                                      1000;
    else A.entries[{2 * at.first, 2 * at.second + 1}] = a;
  }
  ribbon::LinesOfGraphOptions options;
  options.block = 2;
  options.least = 0;
  std::vector<Row> same(35);
  std::iota(same.begin(), same.end(), Row(0));
  const auto found = ribbon::lines_from_graph(A.csr(), options);
  expect_sound(A, found, 2);
  EXPECT_EQ(as_set(found), grid_lines(5, 7, 1, 1, same));
}

/// Iterations of conjugate gradients to 1e-8 from random right-hand sides, with the tridiagonal matrices of
/// the lines as preconditioner.
int cg_iterations(Host<> &matrix, const ribbon::LinesOfGraph &lines)
{
  const auto               A = matrix.csr();
  const auto               n = static_cast<std::size_t>(A.rows);
  std::vector<std::size_t> position(n);
  std::vector<double>      below(n, 0), diagonal(n, 0), above(n, 0), r(n), z(n), p(n, 0), q(n);
  for (std::size_t k = 0; k < n; ++k) position[static_cast<std::size_t>(lines.order[k])] = k;
  std::set<std::size_t> begins(lines.begin.begin(), lines.begin.end());
  for (const auto &[at, a] : matrix.entries) {
    const std::size_t k = position[static_cast<std::size_t>(at.first)],
                      m = position[static_cast<std::size_t>(at.second)];
    if (k == m) diagonal[k] = a;
    if (m + 1 == k && begins.count(k) == 0) below[k] = a;
    if (k + 1 == m && begins.count(m) == 0) above[k] = a;
  }
  for (std::size_t k = 1; k < n; ++k) diagonal[k] -= below[k] * above[k - 1] / diagonal[k - 1];
  auto row = [&lines](std::size_t k) { return static_cast<std::size_t>(lines.order[k]); };
  auto dot = [](const std::vector<double> &a, const std::vector<double> &b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.);
  };
  auto condition = [&] {
    for (std::size_t k = 0; k < n; ++k)
      z[row(k)] = r[row(k)] - (k > 0 ? below[k] / diagonal[k - 1] * z[row(k - 1)] : 0);
    for (std::size_t k = n; k-- > 0;)
      z[row(k)] = (z[row(k)] - (k + 1 < n ? above[k] * z[row(k + 1)] : 0)) / diagonal[k];
  };
  std::mt19937 random(3);
  for (double &value : r) value = static_cast<double>(random()) / 4294967296. - 0.5;
  const double aim = 1e-8 * std::sqrt(dot(r, r));
  double       rz  = 1;
  for (int iteration = 0; iteration < 5000; ++iteration) {
    if (std::sqrt(dot(r, r)) <= aim) return iteration;
    condition();
    const double beta = dot(r, z) / rz;
    rz *= beta;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + (iteration > 0 ? beta : 0) * p[i];
    for (std::size_t i = 0; i < n; ++i) {
      q[i] = 0;
      for (int e = A.row_begin[i]; e < A.row_begin[i + 1]; ++e)
        q[i] += A.value[e] * p[static_cast<std::size_t>(A.column[e])];
    }
    const double alpha = rz / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
  }
  return 5000;
}

TEST(LinesOfGraph, LongerLinesPreconditionBetter)
{
  std::mt19937 random(8);
  auto         layer = [](int d, Row, Row y, Row) {
    return d == 0 ? std::min(1., std::pow(1.4, static_cast<double>(y - 20)))
                          : std::max(1., std::pow(1.4, static_cast<double>(20 - y)));
  };
  auto erratic = [&random](int, Row, Row, Row) {
    return std::pow(10., static_cast<double>(random() % 1000) / 250 - 2);
  };
  for (const Coupling &coupling : {Coupling(layer), Coupling(erratic)}) {
    Host<>                      A = grid(40, 40, 1, coupling).renumbered(shuffled(1600, 2));
    ribbon::LinesOfGraphOptions single, anisotropic;
    single.threshold       = 2; // no coupling is twice the strongest one
    anisotropic.anisotropy = 4;
    const int jacobi       = cg_iterations(A, ribbon::lines_from_graph(A.csr(), single)),
              some         = cg_iterations(A, ribbon::lines_from_graph(A.csr(), anisotropic)),
              all          = cg_iterations(A, ribbon::lines_from_graph(A.csr()));
    EXPECT_LT(some, jacobi);
    EXPECT_LT(all, some);
    EXPECT_LT(4 * all, 3 * jacobi);
    RecordProperty("iterations",
                   std::to_string(jacobi) + " " + std::to_string(some) + " " + std::to_string(all));
  }
}

} // namespace
