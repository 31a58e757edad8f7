// SPDX-License-Identifier: BSD-2-Clause
// Shapes of one_pass for devices, on any machine: the scratch that they need, and the blocks of a team that
// read the exchanged data.
#include "batch.hpp"

#include <ribbon/algorithm/one_pass/plan.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

constexpr ribbon::TeamRoom h200{232448, false, 132};

/// Every shape that is chosen for a stencil fits after the factorization, so that no factorization is
/// wasted. Returns the number of refused shapes.
template <class Scheme>
int refused(const std::vector<double> &stencil, bool contiguous)
{
  using Plan  = ribbon::OnePass<Scheme, Exec>;
  int refused = 0;
  for (int n : {40, 64, 100, 128, 200, 256, 512, 1000, 1500, 2048, 3000})
    for (bool periodic : {false, true}) {
      SCOPED_TRACE(std::to_string(n) + " rows, ring " + std::to_string(periodic) + ", contiguous " +
                   std::to_string(contiguous));
      ribbon::HostMatrix<double> A;
      A.rows = n, A.lower = A.upper = static_cast<int>(stencil.size() / 2), A.periodic = periodic;
      for (int i = 0; i < n; ++i) A.values.insert(A.values.end(), stencil.begin(), stencil.end());
      const int  many = n % 200 == 0 ? 64 : 1 << 20; // few lines have other shapes
      const auto lines =
        contiguous ? ribbon::LineSet::contiguous(n, many) : ribbon::LineSet::interleaved(n, many);
      const auto shape = Plan::choose(h200, lines, periodic, A.has_constant_stencil(), false);
      if (shape.split.chunks == 0) {
        ++refused;
        continue;
      }
      ribbon::PivotWatch watch;
      Plan               plan(Exec(), {A}, shape, watch);
      EXPECT_TRUE(plan.place(h200));
      EXPECT_LE(plan.shape().block_threads(), 512);
      EXPECT_LE(plan.shape().pitch, contiguous ? n + (plan.shape().piece_bits > 0 ? 20 : 4) : 0)
        << "room that is not used";
    }
  return refused;
}

TEST(OnePassShape, WhatIsChosenFitsOnceItIsFactored)
{
  const std::vector<double> tri{-1, 4, -1}, penta{1, -4, 11, -4, 1}, nine{-1, -1, -1, -1, 20, -1, -1, -1, -1};
  for (bool contiguous : {false, true}) {
    refused<ribbon::PlainScheme<double, 1>>(tri, contiguous);
    refused<ribbon::PlainScheme<double, 2>>(penta, contiguous);
    refused<ribbon::PlainScheme<double, 4>>(nine, contiguous);
  }
  EXPECT_GT((refused<ribbon::OrthogonalScheme<double, 2>>(penta, true)), 0)
    << "contiguous pivoted lines keep no block in the arguments, however regular they are";
}

/// Tiles of a persistent team, for contiguous lines with a general matrix. 0: teams process one tile.
template <class Scheme>
int resident(int n)
{
  using Plan        = ribbon::OnePass<Scheme, Exec>;
  const auto  lines = ribbon::LineSet::contiguous(n, 1 << 20);
  const auto  shape = Plan::choose(h200, lines, false, false, false);
  std::size_t bytes = 0;
  if (shape.resident > 0) bytes = Plan::Resident::scratch(shape, false);
  EXPECT_LE(bytes, h200.scratch);
  EXPECT_LE(shape.threads(), Plan::Resident::max_threads);
  EXPECT_EQ(Plan::choose(h200, lines, false, true, false).resident, 0) << "a stencil";
  EXPECT_EQ(Plan::choose(h200, lines, false, false, true).resident, 0) << "several matrices";
  return shape.resident;
}

TEST(OnePassShape, TeamsStayWhereTheNumbersOfAllChunksFit)
{
  using Tri   = ribbon::PlainScheme<double, 1>;
  using Penta = ribbon::PlainScheme<double, 2>;
  EXPECT_EQ(resident<Tri>(300), 0);
  EXPECT_EQ(resident<Tri>(512), 2);
  EXPECT_EQ(resident<Tri>(768), 1);
  EXPECT_EQ(resident<Tri>(2048), 2);
  EXPECT_EQ(resident<Tri>(4096), 0);
  EXPECT_EQ(resident<Penta>(200), 0);
  EXPECT_EQ(resident<Penta>(256), 2);
  EXPECT_EQ(resident<Penta>(768), 1);
  EXPECT_EQ(resident<Penta>(1024), 2);
  EXPECT_EQ(resident<Penta>(1025), 0) << "lines of an odd number of rows side by side";
  EXPECT_EQ(resident<Penta>(3000), 0);
}

/// Blocks of a team on a host. Each block has a copy of the exchanged data, with NaN for unwritten entries.
struct Copies {
  double              *of_block[8];
  int                  blocks, self;
  KOKKOS_FUNCTION void write(double *to, double value, ribbon::device::BlockRange readers) const
  {
    for (int k = 0; k < readers.count; ++k)
      of_block[(readers.first + k) % blocks][to - of_block[self]] = value;
  }
};

/// The step between the sweeps: separators are formed twice, exchanged, or corrected.
enum class Between { nothing, share, correct };

/// The reduced systems of a line as the kernel solves them between its sweeps. For every chunk it returns
/// its separators and those to its left.
template <int S>
std::vector<double> separators(ribbon::OnePassShape shape, int blocks, Between between)
{
  using Reduced = ribbon::OnePassReduced<ribbon::PlainScheme<double, S>, false, false>;
  shape.set_blocks(blocks);
  const int                             T = shape.split.chunks, words = T * S, W = shape.window;
  std::vector<typename Reduced::Square> inverse(static_cast<std::size_t>(T * W)),
    reduced(static_cast<std::size_t>(3 * T));
  int number = 0;
  for (auto *squares : {&inverse, &reduced})
    for (auto &square : *squares)
      for (auto &a : square.a) a = 0.25 + 0.125 * (number++ % 7);
  Reduced kernel;
  kernel.shape = shape, kernel.inverse = inverse.data(), kernel.reduced = reduced.data();
  std::vector<double> memory(static_cast<std::size_t>(3 * words * blocks), std::nan(""));
  Copies              team{{}, blocks, 0};
  for (int k = 0; k < blocks; ++k) team.of_block[k] = memory.data() + 3 * words * k;
  double     separator[2][2][128][S] = {};                      // first and corrected result, own and left
  const auto each                    = [&](const auto &phase) { // with a barrier at the end
    for (int c = 0; c < T; ++c) {
                         team.self     = c / shape.block_chunks;
                         double *r_own = team.of_block[team.self];
                         phase(typename Reduced::Place{0, c, 0, true, 0}, r_own, r_own + words, r_own + 2 * words,
                               separator[0][0][c], separator[0][1][c]);
    }
  };
  const auto left_of = [&](int c) { return c > 0 ? c - 1 : shape.ring ? T - 1 : -1; };
  using Place        = typename Reduced::Place;
  using Own          = double[S];
  each([&](const Place &p, double *r_own, double *r_left, double *, Own &, Own &) {
    for (int a = 0; a < S; ++a) {
      team.write(&r_own[p.chunk * S + a], 1 + 0.5 * (p.chunk % 5) + a, shape.readers(p.chunk));
      team.write(&r_left[p.chunk * S + a], shape.ring || p.chunk > 0 ? 0.75 * (p.chunk % 3) : 0.0,
                 shape.readers(p.chunk));
    }
  });
  each([&](const Place &p, double *r_own, double *r_left, double *, Own &own, Own &to_left) {
    const int left = left_of(p.chunk), begin = shape.window_begin(p.chunk),
              left_begin = left < 0 ? begin : shape.window_begin(left);
    Own z[2]             = {};
    if (S == 1 && between == Between::nothing && left >= 0 && begin == left_begin)
      kernel.template apply_inverse<false, 2>(p, p.chunk, begin, r_own, r_left, z);
    else {
      kernel.template apply_inverse<false, 1>(p, p.chunk, begin, r_own, r_left, z);
      if (between == Between::nothing && left >= 0)
        kernel.template apply_inverse<false, 1>(p, left, left_begin, r_own, r_left, z + 1);
    }
    std::copy(z[0], z[0] + S, own), std::copy(z[1], z[1] + S, to_left);
  });
  if (between == Between::correct)
    each([&](const Place &p, double *r_own, double *r_left, double *, Own &, Own &) {
      kernel.subtract_left(p, r_own, r_left);
    });
  if (between != Between::nothing)
    each([&](const Place &p, double *, double *, double *z, Own &own, Own &) {
      kernel.publish(team, p, own, z);
    });
  if (between == Between::correct) {
    each([&](const Place &p, double *r_own, double *, double *z, Own &, Own &) {
      kernel.reduced_residual(team, p, z, r_own);
    });
    each([&](const Place &p, double *r_own, double *, double *z, Own &own, Own &) {
      kernel.template apply_inverse<true, 1>(p, p.chunk, shape.window_begin(p.chunk), r_own, nullptr, &own);
      kernel.publish(team, p, own, z);
    });
  }
  std::vector<double> all;
  each([&](const Place &p, double *, double *, double *z, Own &own, Own &to_left) {
    const int left = left_of(p.chunk);
    for (int a = 0; a < S; ++a) {
      all.push_back(own[a]);
      all.push_back(between == Between::nothing ? to_left[a] : left < 0 ? 0 : z[left * S + a]);
    }
  });
  return all;
}

template <int S>
void expect_readers_to_be_those_that_read(int T, int blocks, int reach, bool ring)
{
  ribbon::OnePassShape shape;
  shape.split.chunks = T, shape.lane_bits = 0, shape.ring = ring;
  shape.reach = reach, shape.window = std::min(T, 2 * reach + 1);
  if (shape.window == T) shape.reach = T; // as in a plan
  shape.set_blocks(blocks);
  if ((blocks - 1) * shape.block_chunks >= T) return; // a block without chunks is not launched
  SCOPED_TRACE(std::to_string(T) + " chunks in " + std::to_string(blocks) + " blocks, reach " +
               std::to_string(shape.reach) + ", ring " + std::to_string(ring));
  for (auto between : {Between::nothing, Between::share, Between::correct})
    ASSERT_TRUE(separators<S>(shape, blocks, between) == separators<S>(shape, 1, between))
      << "a block reads what it has no copy of, or writes come too late, path " << static_cast<int>(between);
  for (int c = 0; c < T; ++c) { // no other blocks are written to
    const auto readers = shape.readers(c);
    ASSERT_LE(readers.count, blocks);
    if (readers.count == blocks) continue;
    for (int k = 0; k < readers.count; ++k) {
      int nearest = T;
      for (int q   = (readers.first + k) % blocks * shape.block_chunks,
               end = std::min(T, q + shape.block_chunks);
           q < end; ++q)
        nearest = std::min({nearest, std::abs(q - c), T - std::abs(q - c)});
      ASSERT_LE(nearest, 2 * shape.reach + 1) << "chunk " << c;
    }
  }
}

TEST(OnePassShape, BlocksOfATeamHaveWhatTheyRead)
{
  for (int T = 2; T <= 66; ++T)
    for (int blocks : {2, 3, 4, 8})
      for (int reach = 0; 2 * reach <= T + 1; reach += reach < 8 ? 1 : 5)
        for (bool ring : {false, true}) {
          expect_readers_to_be_those_that_read<1>(T, blocks, reach, ring);
          if (T % 7 == 1) expect_readers_to_be_those_that_read<2>(T, blocks, reach, ring);
          if (HasFatalFailure()) return;
        }
}

/// Compares two products: with the inverse that remains after `halvings` steps of cyclic reduction, as
/// kernels compute it, and with the inverse of the whole system.
template <int S>
void expect_steps_to_keep_the_solution(int T, bool ring)
{
  using Wide = long double;
  std::mt19937_64            g(static_cast<std::uint64_t>(T));
  ribbon::HostMatrix<double> A;
  A.rows = 8 * T, A.lower = A.upper = S, A.periodic = ring;
  const auto random = random_bands<double>(g, 1, A.rows, S, ring, Kind::dominant);
  for (std::size_t i = 0; i < random.values.extent(1); ++i)
    for (std::size_t d = 0; d < random.values.extent(2); ++d)
      // not dominant, with a slowly decaying inverse
      A.values.push_back(0.9 * random.values(0, i, d) + (d == S ? 0 : -0.2));
  ribbon::PivotWatch                     watch;
  std::vector<ribbon::ChunkTables<Wide>> chunks;
  for (int c = 0; c < T; ++c) chunks.push_back(ribbon::eliminate_plain(A, 8 * c, 8, true, watch));
  const auto                                       row_of = [](int k) { return k; };
  const std::vector<ribbon::ReducedSystem<double>> original{
    {chunks, ring, row_of, [](int) { return 1.0L; }, watch}};
  ribbon::OnePassShape shape;
  shape.split = {T, 8, 8, 8}, shape.ring = ring;
  std::vector<Wide> r, right, z;
  for (int k = 0; k < T * S; ++k) right.push_back(random_scalar<double>(g));
  const auto product = [&](const auto &system, int k, const std::vector<Wide> &v) {
    Wide sum = 0;
    for (int j = 0; j < T * S; ++j) sum += system.inverse(k, j) * v[static_cast<std::size_t>(j)];
    return sum;
  };
  auto systems = original;
  for (r = right; systems[0].can_halve();) {
    systems[0].halve();
    ++shape.halvings;
    ribbon::set_window(shape, systems);
    ASSERT_EQ(systems[0].stride, 1 << shape.halvings);
    ASSERT_LE(shape.window, (T + systems[0].stride - 1) >> shape.halvings);
    SCOPED_TRACE(std::to_string(T) + " chunks, S = " + std::to_string(S) + ", ring " + std::to_string(ring) +
                 ", " + std::to_string(shape.halvings) + " steps, window " + std::to_string(shape.window));
    const auto before = r;
    for (int c = 0; c < T; ++c) {
      const auto blocks = ribbon::blocks_of_step<S>(systems[0], shape.halvings - 1, c);
      const int  stride = systems[0].stride / 2;
      for (int a = 0; a < S; ++a)
        for (int b = 0; b < S; ++b)
          r[static_cast<std::size_t>(c * S + a)] +=
            blocks.left[a * S + b] * before[static_cast<std::size_t>((c - stride + T) % T * S + b)] +
            blocks.right[a * S + b] * before[static_cast<std::size_t>((c + stride) % T * S + b)];
    }
    const double limit = 1e-15 * (10 + static_cast<double>(systems[0].growth(original[0])));
    for (int c = 0; c < T; ++c)
      for (int a = 0; a < S; ++a) {
        Wide windowed = 0;
        for (int w = 0, q = shape.halved_window_begin(c); w < shape.window;
             ++w, q       = (q + systems[0].stride) % T) {
          const auto block = ribbon::block_of_inverse<S>(systems[0], shape, c, w);
          for (int b = 0; b < S; ++b) windowed += block.a[a * S + b] * r[static_cast<std::size_t>(q * S + b)];
        }
        Wide size = 0;
        for (int j = 0; j < T * S; ++j) size += std::abs(original[0].inverse(c * S + a, j));
        ASSERT_NEAR(static_cast<double>(windowed / size),
                    static_cast<double>(product(original[0], c * S + a, right) / size), limit)
          << "chunk " << c;
      }
  }
  EXPECT_GE(systems[0].stride, ring ? T & -T : T) << "a ring has steps while it has an even number of chunks";
}

TEST(OnePassShape, StepsOfCyclicReductionKeepTheSolution)
{
  for (int T : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 40})
    for (bool ring : {false, true}) {
      expect_steps_to_keep_the_solution<1>(T, ring);
      expect_steps_to_keep_the_solution<2>(T, ring);
    }
}

/// Every chunk has at least as many rows as separators, for any requested number of rows. In a ring this
/// number is a power of two.
TEST(OnePassShape, ChunksInFlightAreNeverTooShort)
{
  for (int least : {1, 2, 3, 4})
    for (bool ring : {false, true})
      for (int rows = 1; rows <= 20; ++rows)
        for (int n = (ring ? 2 : 1) * least; n <= 150; ++n) {
          SCOPED_TRACE(testing::Message() << n << " rows in chunks of " << rows << ", at least " << least
                                          << (ring ? ", ring" : ""));
          const auto split = ribbon::ChunkSplit::in_flight(n, least, rows, ring);
          ASSERT_GE(split.chunks, 1);
          ASSERT_TRUE(!ring || (split.chunks & (split.chunks - 1)) == 0) << split.chunks;
          ASSERT_TRUE(ring || split.length <= std::max(rows, 2 * least)) << split.length;
          int begin = 0;
          for (int c = 0; c < split.chunks; ++c) {
            ASSERT_EQ(split.begin(c), begin);
            ASSERT_TRUE(split.size(c) >= least && split.size(c) <= split.length)
              << "chunk " << c << " of " << split.chunks << " has " << split.size(c) << " rows";
            begin += split.size(c);
          }
          ASSERT_EQ(begin, n);
        }
}

} // namespace
