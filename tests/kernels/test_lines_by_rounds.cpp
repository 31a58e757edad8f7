// SPDX-License-Identifier: BSD-2-Clause
// Lines along the largest couplings that are found by rounds, compared with those of lines_from_graph().
#include "rounds_lines.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

using namespace test;

namespace {

/// Sound lines with at least `share` of the weight of those of lines_from_graph().
template <class Scalar, class Index>
ribbon::LinesOfGraph expect_good(Host<Scalar, Index> &A, double share,
                                 const ribbon::LinesOfGraphOptions &options = {})
{
  const auto found = by_rounds(A, options);
  expect_sound(A, found);
  const double mine = weight_of(A, found), best = weight_of(A, ribbon::lines_from_graph(A.csr(), options));
  EXPECT_GE(mine, share * best - 1e-6) << mine / best;
  return found;
}

TEST(LinesByRounds, FewRowsAndNothingCoupled)
{
  Host<> none(0);
  auto   found = by_rounds(none);
  EXPECT_EQ(found.lines(), 0);
  EXPECT_EQ(found.begin, std::vector<Row>{0});
  Host<> one(1);
  EXPECT_EQ(as_set(by_rounds(one)), (Lines{{0}})); // a row without an entry
  one.entries[{0, 0}] = 3;
  EXPECT_EQ(as_set(by_rounds(one)), (Lines{{0}}));
  Host<> diagonal(6);
  for (Row i = 0; i < 6; ++i) diagonal.entries[{i, i}] = static_cast<double>(i); // includes a zero
  EXPECT_EQ(as_set(by_rounds(diagonal)), (Lines{{0}, {1}, {2}, {3}, {4}, {5}}));
}

TEST(LinesByRounds, EntriesThatAreNoNumbersOrNoCouplings)
{
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  Host<>       A(12);
  const auto   pair = [&A](Row i, double diagonal, double a, double b) {
    A.entries[{i, i}] = A.entries[{i + 1, i + 1}] = diagonal;
    A.entries[{i, i + 1}]                         = a;
    A.entries[{i + 1, i}]                         = b;
  };
  pair(0, 2, nan, nan);
  pair(2, 2, inf, -inf);
  pair(4, 2, 0, 0);       // stored zeros
  pair(6, 1, 1e-9, 1e-9); // nearly zero
  pair(8, 0, 1, 1);       // zero diagonals
  pair(10, nan, 0, 1);    // one-sided
  EXPECT_EQ(as_set(by_rounds(A)), (Lines{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8, 9}, {10, 11}}));
  // Upwind: every row couples only to the row before it, and stores no other entry.
  Host<> upwind(40);
  for (Row i = 0; i < 40; ++i) {
    const double scale     = std::pow(10., static_cast<double>(i * 7 % 13) - 6);
    upwind.entries[{i, i}] = scale;
    if (i > 0) upwind.entries[{i, i - 1}] = -scale;
  }
  Host<> renumbered = upwind.renumbered(shuffled(40, 9));
  EXPECT_EQ(by_rounds(renumbered).lines(), 1);
  // Columns outside the matrix.
  Host<> wide(2);
  wide.entries = {{{0, 0}, 1.}, {{0, 5}, -9.}, {{1, 0}, -1.}, {{1, 1}, 1.}};
  EXPECT_EQ(as_set(by_rounds(wide)), (Lines{{0, 1}}));
  // One row that all others couple to, one-sided: its row grows to all columns.
  Host<> star(500);
  for (Row i = 0; i < 500; ++i) star.entries[{i, i}] = 1, star.entries[{i, (7 * i) % 500 == 0 ? 1 : 0}] = -1;
  expect_good(star, 1);
}

TEST(LinesByRounds, OptionsAndOtherForms)
{
  Host<> A = grid(4, 1, 1, [](int, Row x, Row, Row) { return x == 1 ? 0.1 : 1.; });
  EXPECT_EQ(as_set(by_rounds(A)), (Lines{{0, 1}, {2, 3}}));
  ribbon::LinesOfGraphOptions options;
  options.threshold = 0.05;
  EXPECT_EQ(as_set(by_rounds(A, options)), (Lines{{0, 1, 2, 3}}));
  options.anisotropy = 4;
  Host<> B           = grid(6, 6, 1, constant(1, 1));
  EXPECT_EQ(by_rounds(B, options).lines(), 36);

  const Exec                         exec;
  const Device<double, std::int32_t> on_device(B);
  options.block = 9;
  EXPECT_FALSE(ribbon::lines_by_rounds(exec, on_device.A, options)); // for lines_from_graph()
  options.block = 5;
  EXPECT_THROW(ribbon::lines_by_rounds(exec, on_device.A, options), std::invalid_argument);
  options.block     = 1;
  options.threshold = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(ribbon::lines_by_rounds(exec, on_device.A, options), std::invalid_argument);
  Host<>                       sorted = grid(3, 3, 1, constant(1, 1));
  Device<double, std::int32_t> descending(sorted);
  std::swap(sorted.column[1], sorted.column[2]);
  descending.column   = ribbon::upload(exec, "column", sorted.column);
  descending.A.column = descending.column.data();
  EXPECT_FALSE(ribbon::lines_by_rounds(exec, descending.A));
}

TEST(LinesByRounds, StrongDirectionOfAGridInAnyNumbering)
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
      Host<> A = natural.renumbered(to);
      SCOPED_TRACE(testing::Message() << c.n[0] << " x " << c.n[1] << " x " << c.n[2] << ", seed " << seed);
      const auto found = by_rounds(A), host = ribbon::lines_from_graph(A.csr());
      expect_sound(A, found);
      EXPECT_EQ(as_set(found), grid_lines(c.n[0], c.n[1], c.n[2], c.strong, to));
      EXPECT_EQ(found.order, host.order);
      EXPECT_EQ(found.begin, host.begin);
    }
}

TEST(LinesByRounds, Rings)
{
  for (Row n : {3, 4, 5, 6, 31}) {
    Host<> A = grid(n, 1, 1, constant(1, 1), {true, false, false});
    Line   whole(static_cast<std::size_t>(n));
    std::iota(whole.begin(), whole.end(), Row(0));
    EXPECT_EQ(by_rounds(A).order, whole) << n; // opened between the last row and the first
    Host<> B = A.renumbered(shuffled(n, 7));
    EXPECT_EQ(by_rounds(B).lines(), 1) << n;
    Host<> rings = grid(n, 5, 1, constant(100, 1), {true, true, false}).renumbered(shuffled(5 * n, 11));
    EXPECT_EQ(by_rounds(rings).lines(), 5) << n;
  }
  // Ends of neighbouring rings couple, too, but rings make no spiral.
  const Row n = 12, rings = 5;
  Host<>    A(n * rings);
  for (Row r = 0; r < rings; ++r)
    for (Row k = 0; k < n; ++k) {
      const Row next = (k + 1) % n;
      A.couple(r * n + k, r * n + next, 1 + 0.01 * static_cast<double>(k * (n - 1 - k)));
      for (Row out : {k, next})
        if (r + 1 < rings) A.couple(r * n + k, (r + 1) * n + out, 0.5);
    }
  const auto found = by_rounds(A);
  expect_sound(A, found);
  EXPECT_EQ(found.order, ribbon::lines_from_graph(A.csr()).order);
  // Rings of ten rows and more end lines, shorter ones do not: two of them that couple.
  for (Row rows : {9, 10}) {
    Host<> two(2 * rows);
    for (Row r = 0; r < 2; ++r)
      for (Row k = 0; k < rows; ++k)
        two.couple(r * rows + k, r * rows + (k + 1) % rows, k + 1 == rows ? 0.8 : 1);
    two.couple(0, rows, 0.7);
    EXPECT_EQ(by_rounds(two).lines(), rows == 9 ? 1 : 2);
    EXPECT_EQ(ribbon::lines_from_graph(two.csr()).lines(), rows == 9 ? 1 : 2);
  }
}

TEST(LinesByRounds, IsotropicGridInRandomNumberingHasNoCorners)
{
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const Row        nx = 60, ny = 60;
    const auto       to = shuffled(nx * ny, seed);
    std::vector<Row> from(to.size());
    for (std::size_t i = 0; i < to.size(); ++i) from[static_cast<std::size_t>(to[i])] = static_cast<Row>(i);
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Host<>     A     = grid(nx, ny, 1, constant(1, 1), {true, true, false}).renumbered(to);
    const auto found = expect_good(A, 0.9);
    for (const Line &line : as_set(found))
      for (std::size_t k = 2; k < line.size(); ++k) {
        const Row a = from[static_cast<std::size_t>(line[k - 2])],
                  b = from[static_cast<std::size_t>(line[k])];
        EXPECT_TRUE(a % nx == b % nx || a / nx == b / nx);
      }
  }
}

/// Numbered along diagonals, as by Cuthill and McKee: all lines grow along a front, and walks complete them.
TEST(LinesByRounds, GridsNumberedAlongDiagonals)
{
  for (const Row n : {40, 90}) {
    Host<>           A = grid(n, n, 1, [](int, Row, Row, Row) { return 1.; });
    std::vector<Row> point, number(static_cast<std::size_t>(n * n));
    for (Row p = 0; p < n * n; ++p) point.push_back(p);
    std::stable_sort(point.begin(), point.end(), [n](Row p, Row q) { return p / n + p % n < q / n + q % n; });
    for (std::size_t k = 0; k < point.size(); ++k)
      number[static_cast<std::size_t>(point[k])] = static_cast<Row>(k);
    Host<>     diagonal = A.renumbered(number);
    const auto found    = by_rounds(diagonal);
    expect_sound(diagonal, found);
    EXPECT_EQ(found.lines(), n);
    EXPECT_EQ(as_set(found), as_set(ribbon::lines_from_graph(diagonal.csr(), {})));
    for (auto &[at, value] : diagonal.entries)
      if (at.first != at.second && (at.first * 31 % 97 == 0 || at.second * 31 % 97 == 0))
        value = 0; // decouples these rows
    expect_good(diagonal, 0.9);
  }
}

/// A grid of triangles, both numberings, with couplings that vary.
TEST(LinesByRounds, Meshes)
{
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937                           random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    const Row                              nx = 20 + static_cast<Row>(random() % 30), ny = 30;
    const double                           spread = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 0.3 : 2;
    Host<>                                 A(nx * ny);
    for (Row y = 0; y < ny; ++y)
      for (Row x = 0; x < nx; ++x) {
        const auto couple = [&](Row dx, Row dy, double g) {
          if (x + dx >= 0 && x + dx < nx && y + dy < ny)
            A.couple(x + nx * y, x + dx + nx * (y + dy), g * std::pow(10, spread * uniform(random)));
        };
        couple(1, 0, 1), couple(0, 1, seed % 2 ? 1 : 3), couple(1, 1, 0.5);
      }
    expect_good(A, 0.9);
    Host<> B = A.renumbered(shuffled(A.rows, seed));
    expect_good(B, 0.9);
  }
}

/// Returns the weight of lines, and that of lines_from_graph().
template <class Scalar, class Index>
std::array<double, 2> random_graphs(unsigned seed)
{
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937                           random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const Row                              n = 1 + static_cast<Row>(random() % 60);
  Host<Scalar, Index>                    A(n);
  const std::size_t                      entries = random() % static_cast<std::size_t>(6 * n + 1);
  for (std::size_t k = 0; k < entries; ++k) {
    const Row i = static_cast<Row>(random() % static_cast<unsigned>(n)),
              j = static_cast<Row>(random() % static_cast<unsigned>(n));
    A.entries[{i, j}] =
      random() % 8 == 0
        ? Scalar(0)
        : Scalar(static_cast<ribbon::real_t<Scalar>>(uniform(random) * std::pow(10, 2 * uniform(random))));
  }
  ribbon::LinesOfGraphOptions options;
  options.threshold      = random() % 2 == 0 ? 0.25 : 0;
  options.anisotropy     = random() % 3 == 0 ? 2 : 0;
  using Strength         = ribbon::CouplingStrength;
  const Strength kinds[] = {Strength::absolute, Strength::aggregation, Strength::negative};
  options.strength       = kinds[random() % 3];
  const auto found = by_rounds(A, options), again = by_rounds(A, options);
  expect_sound(A, found);
  EXPECT_EQ(found.order, again.order);
  EXPECT_EQ(found.begin, again.begin);
  // the host sees the same couplings
  Host<Scalar, Index> strengths = A;
  const auto          values    = ribbon::entries_by_strength(A.csr(), options);
  std::size_t         k         = 0;
  for (auto &[at, a] : strengths.entries) a = values[k++];
  const double mine = weight_of(strengths, found),
               best = weight_of(strengths, ribbon::lines_from_graph(A.csr(), options));
  EXPECT_GE(mine, 0.8 * best - 1e-6);
  return {mine, best};
}

TEST(LinesByRounds, RandomGraphs)
{
  double     mine = 0, best = 0;
  const auto add = [&](const std::array<double, 2> &weights) { mine += weights[0], best += weights[1]; };
  for (unsigned seed = 1; seed <= 150 && !testing::Test::HasFailure(); ++seed) {
    add(random_graphs<double, std::int32_t>(seed));
    add(random_graphs<float, std::int64_t>(seed + 1000));
    add(random_graphs<Kokkos::complex<double>, std::int32_t>(seed + 2000));
    add(random_graphs<double, std::int64_t>(seed + 3000));
  }
  EXPECT_GE(mine, 0.98 * best) << mine / best;
}

TEST(LinesByRounds, PackedAsOnTheHost)
{
  for (unsigned seed = 1; seed <= 6; ++seed) {
    Host<>     A = grid(30, 20, 1, constant(1, seed % 2 ? 1 : 5)).renumbered(shuffled(600, seed));
    const Exec exec;
    const Device<double, std::int32_t> device(A);
    const auto                         found = ribbon::lines_by_rounds(exec, device.A);
    ASSERT_TRUE(found);
    const auto host = ribbon::on_host(exec, *found);
    for (Row rows : {0, 64}) {
      const auto packed   = ribbon::pack(exec, *found, rows);
      const auto expected = ribbon::pack(host, rows);
      EXPECT_EQ(packed.rows, expected.rows);
      EXPECT_EQ(packed.pieces, expected.pieces);
      const auto same = [](const auto &view, const std::vector<Row> &vector) {
        const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
        return std::vector<Row>(mirror.data(), mirror.data() + mirror.size()) == vector;
      };
      EXPECT_TRUE(same(packed.row_at, expected.row_at));
      EXPECT_TRUE(same(packed.line_at, expected.line_at));
      EXPECT_TRUE(same(packed.position_of, expected.position_of));
    }
    EXPECT_THROW(ribbon::pack(exec, *found, 1), std::invalid_argument);
  }
  Host<>                             none(0);
  const Exec                         exec;
  const Device<double, std::int32_t> device(none);
  EXPECT_EQ(ribbon::pack(exec, *ribbon::lines_by_rounds(exec, device.A)).pieces, 0);
}

} // namespace
