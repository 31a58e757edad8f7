// SPDX-License-Identifier: BSD-2-Clause
// Lines of blocks that are found by rounds, compared with those of lines_from_graph().
#include "rounds_lines.hpp"

#include <cmath>
#include <limits>
#include <random>

using namespace test;

namespace {

using Strength = ribbon::CouplingStrength;

/// A matrix with a random block for each entry of `small`. Entries on the diagonal of a block are 0.8 to 1 times that
/// entry; other ones are smaller, or are not stored.
template <class Scalar, class Index>
Host<Scalar, Index> blocks_of(const Host<> &small, int block, std::mt19937 &random)
{
  std::uniform_real_distribution<double> uniform(-1, 1);
  Host<Scalar, Index>                    A(small.rows * block);
  const auto number = [](double a) { return Scalar(static_cast<ribbon::real_t<Scalar>>(a)); };
  for (const auto &[at, a] : small.entries)
    for (int p = 0; p < block; ++p)
      for (int q = 0; q < block; ++q)
        if (p == q)
          A.entries[{at.first * block + p, at.second * block + q}] =
            number(a * (0.9 + 0.1 * uniform(random)));
        else if (random() % 2 == 0)
          A.entries[{at.first * block + p, at.second * block + q}] = number(0.1 * a * uniform(random));
  return A;
}

template <class Scalar, class Index>
void expect_as_on_host(Host<Scalar, Index> &A, const ribbon::LinesOfGraphOptions &options)
{
  const auto found = by_rounds(A, options), host = ribbon::lines_from_graph(A.csr(), options);
  expect_sound(A, found, options.block);
  EXPECT_EQ(found.order, host.order);
  EXPECT_EQ(found.begin, host.begin);
}

template <class Scalar, class Index>
void strong_direction(unsigned seed)
{
  std::mt19937                random(seed);
  ribbon::LinesOfGraphOptions options;
  options.block    = 2 + static_cast<int>(random() % 7);
  options.strength = static_cast<Strength>(random() % 3);
  const Row  nx = 3 + static_cast<Row>(random() % 9), ny = 3 + static_cast<Row>(random() % 9);
  const auto to    = shuffled(nx * ny, seed);
  const int  along = seed % 2 == 0 ? 0 : 1;
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", blocks of " << options.block << ", strength "
                                  << static_cast<int>(options.strength));
  auto A = blocks_of<Scalar, Index>(
    grid(nx, ny, 1, constant(along == 0 ? 20 : 1, along == 0 ? 1 : 20)).renumbered(to), options.block,
    random);
  expect_as_on_host(A, options);
  EXPECT_EQ(as_set(by_rounds(A, options)), grid_lines(nx, ny, 1, along, to));
}

TEST(RoundsOfBlocks, StrongDirectionOfAGrid)
{
  for (unsigned seed = 1; seed <= 40 && !HasFailure(); ++seed) {
    strong_direction<double, std::int32_t>(seed);
    strong_direction<float, std::int64_t>(seed + 100);
    strong_direction<Kokkos::complex<double>, std::int32_t>(seed + 200);
  }
}

/// The Frobenius norms of the blocks.
template <class Scalar, class Index>
Host<> norms_of(const Host<Scalar, Index> &A, int block)
{
  Host<> norms(A.rows / block);
  for (const auto &[at, a] : A.entries) {
    double &norm = norms.entries[{at.first / block, at.second / block}];
    norm         = std::hypot(norm, static_cast<double>(ribbon::magnitude(a)));
  }
  return norms;
}

TEST(RoundsOfBlocks, RandomBlocks)
{
  double mine = 0, best = 0;
  for (unsigned seed = 1; seed <= 100 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937                           random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    ribbon::LinesOfGraphOptions            options;
    options.block = 2 + static_cast<int>(random() % 7);
    const Row n   = 1 + static_cast<Row>(random() % 40);
    Host<>    A(n * options.block);
    for (std::size_t k = 0, entries = random() % static_cast<std::size_t>(12 * A.rows); k < entries; ++k) {
      const Row i       = static_cast<Row>(random() % static_cast<unsigned>(A.rows)),
                near    = static_cast<Row>(random() % 20),
                j       = std::min(A.rows - 1, std::max<Row>(0, i + near - 10));
      A.entries[{i, j}] = random() % 8 == 0 ? 0 : uniform(random) * std::pow(10, 2 * uniform(random));
    }
    const auto found = by_rounds(A, options), host = ribbon::lines_from_graph(A.csr(), options);
    expect_sound(A, found, options.block);
    const Host<> norms = norms_of(A, options.block);
    mine += weight_of(norms, found), best += weight_of(norms, host);
  }
  EXPECT_GE(mine, 0.98 * best) << mine / best;
}

/// Lines are right only if the search reads norms, signs and rows as it should.
TEST(RoundsOfBlocks, EntriesOfAnySizeAndSign)
{
  const double largest = std::numeric_limits<double>::max(), inf = std::numeric_limits<double>::infinity();
  ribbon::LinesOfGraphOptions options;
  options.block = 2;
  Host<> A(8); // four blocks
  for (Row i = 0; i < 8; ++i) A.entries[{i, i}] = 1;
  A.entries[{0, 2}] = A.entries[{2, 0}] = largest; // the norm is larger than any number
  A.entries[{1, 3}] = A.entries[{3, 1}] = largest;
  A.entries[{4, 6}] = A.entries[{6, 4}] = 1e-200; // squares are zero
  A.entries[{4, 0}]                     = inf;
  options.least                         = 0;
  EXPECT_EQ(as_set(by_rounds(A, options)), (Lines{{0}, {1}, {2, 3}}));
  EXPECT_EQ(as_set(by_rounds(A, options)), as_set(ribbon::lines_from_graph(A.csr(), options)));
  // a positive trace does not couple by CouplingStrength::negative, unless diagonal entries are negative
  for (double sign : {1.0, -1.0}) {
    Host<> B(6);
    for (Row i = 0; i < 6; ++i) B.entries[{i, i}] = sign * 4;
    B.entries[{0, 2}] = B.entries[{2, 0}] = 1, B.entries[{1, 3}] = B.entries[{3, 1}] = 0.5;
    B.entries[{2, 4}] = B.entries[{4, 2}] = -0.4, B.entries[{2, 5}] = B.entries[{5, 2}] = 3;
    options.strength = Strength::negative;
    EXPECT_EQ(as_set(by_rounds(B, options)), sign > 0 ? (Lines{{0}, {1, 2}}) : (Lines{{0, 1}, {2}}));
    EXPECT_EQ(as_set(by_rounds(B, options)), as_set(ribbon::lines_from_graph(B.csr(), options)));
  }
}

TEST(RoundsOfBlocks, OtherForms)
{
  ribbon::LinesOfGraphOptions options;
  options.block = 3;
  Host<> none(0), one(3), wide(6);
  EXPECT_EQ(by_rounds(none, options).begin, std::vector<Row>{0});
  EXPECT_EQ(as_set(by_rounds(one, options)), (Lines{{0}})); // rows without entries
  wide.entries = {{{0, 0}, 1.}, {{0, 12}, -9.}, {{1, 4}, -1.}, {{3, 3}, 1.}};
  EXPECT_EQ(as_set(by_rounds(wide, options)), (Lines{{0, 1}})); // a column outside of the matrix
  Host<> second(4);                                             // the first rows of blocks are empty
  second.entries = {{{1, 1}, 1.}, {{1, 3}, -1.}, {{3, 1}, -1.}, {{3, 3}, 1.}};
  options.block  = 2;
  EXPECT_EQ(as_set(by_rounds(second, options)), (Lines{{0, 1}}));
  // columns descend inside of a block, where their order does not matter, or from block to block
  for (int block : {2, 4}) {
    Host<>                       sorted = grid(4, 1, 1, constant(1, 1));
    Device<double, std::int32_t> descending(sorted);
    std::swap(sorted.column[3], sorted.column[4]); // columns 1 and 2 of row 1
    descending.column   = ribbon::upload(Exec(), "column", sorted.column);
    descending.A.column = descending.column.data();
    options.block       = block;
    EXPECT_EQ(ribbon::lines_by_rounds(Exec(), descending.A, options).has_value(), block == 4);
  }
}

TEST(RoundsOfBlocks, LinesOfTheirRows)
{
  const Exec                                      exec;
  const ribbon::LinesOfGraph                      lines{{2, 0, 1}, {0, 1, 3}};
  const ribbon::LinesInMemory<Exec::memory_space> there = {ribbon::upload(exec, "order", lines.order),
                                                           ribbon::upload(exec, "begin", lines.begin)};
  const auto rows = ribbon::on_host(exec, ribbon::lines_of_rows(exec, there, 3));
  EXPECT_EQ(rows.order, (std::vector<Row>{6, 7, 8, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(rows.begin, (std::vector<Row>{0, 3, 9}));
}

} // namespace
