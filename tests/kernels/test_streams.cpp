// SPDX-License-Identifier: BSD-2-Clause
// Guarantees of a solve on CUDA: it does not synchronize, so that a graph can capture it, and it runs only
// on the given stream.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>

using namespace test;

namespace {

#define OK(call) ASSERT_EQ(call, cudaSuccess) << #call

template <class Scalar>
struct Problem {
  std::string                      what;
  ribbon::Bands<Scalar, Memory>    bands;
  ribbon::LineSolver<Scalar, Exec> solver;
  bool                             again; ///< factor_and_solve
  Kokkos::View<Scalar *, Memory>   b, x;
  std::vector<Scalar>              expected;

  Problem(const std::string &name, const ribbon::LineSet &set,
          const ribbon::Bands<Scalar, Kokkos::HostSpace> &host, const ribbon::LineSolverOptions &options)
      : what(name), bands(to_device(host)), again(options.refactors)
  {
    std::mt19937_64 g(3);
    solver = ribbon::LineSolver<Scalar, Exec>(Exec(), set, bands, options);
    if (!solver.report().ok()) ADD_FAILURE() << what << ": " << solver.report().reason;
    b                 = decltype(b)("test::b", static_cast<std::size_t>(set.unknowns())),
    x                 = decltype(x)("test::x", static_cast<std::size_t>(set.unknowns()));
    const auto mirror = Kokkos::create_mirror_view(b);
    for (std::size_t k = 0; k < mirror.extent(0); ++k) mirror(k) = random_scalar<Scalar>(g);
    Kokkos::deep_copy(b, mirror);
    solve(Exec());
    expected = result();
    Kokkos::deep_copy(x, Scalar(0));
  }
  /// Random dominant bands, periodic.
  Problem(const std::string &algorithm, ribbon::Lhs lhs, int h, std::int64_t n, int block = 1,
          bool contiguous = false)
      : Problem(algorithm + ", " + ribbon::to_string(lhs) + ", h " + std::to_string(h) + ", block " +
                  std::to_string(block) + ", " + std::to_string(n) +
                  (contiguous ? " rows, contiguous" : " rows"),
                (contiguous ? ribbon::LineSet::contiguous(n, 64) : ribbon::LineSet::interleaved(n, 64))
                  .with_components(block),
                random(lhs, h, n, block), {algorithm})
  {
  }
  static ribbon::Bands<Scalar, Kokkos::HostSpace> random(ribbon::Lhs lhs, int h, std::int64_t n, int block)
  {
    std::mt19937_64 g(3);
    auto            host = random_system<Scalar>(g, matrices_for(lhs, 64), n, h, h, block, true);
    assign(g, host, lhs, 64);
    return host;
  }
  void solve(const Exec &exec) const { solve(exec, solver, x); }
  void solve(const Exec &exec, const ribbon::LineSolver<Scalar, Exec> &by,
             const Kokkos::View<Scalar *, Memory> &to) const
  {
    again ? by.factor_and_solve(exec, bands, b.data(), to.data()) : by.solve(exec, b.data(), to.data());
  }
  std::vector<Scalar> result() const
  {
    Kokkos::fence();
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
    return std::vector<Scalar>(host.data(), host.data() + host.extent(0));
  }
};

std::vector<Problem<double>> problems()
{
  using ribbon::Lhs;
  std::vector<Problem<double>> all;
  for (int h : {1, 2, 3})
    for (const char *algorithm : {"one_pass", "thomas", "pivoted"})
      for (auto lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
        all.emplace_back(algorithm, lhs, h, 200);
  for (int h : {2, 4, 8}) all.emplace_back("tile_products", Lhs::shared, h, 200);
  for (const char *algorithm : {"cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr"})
    for (auto lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
      all.emplace_back(algorithm, lhs, 1, 200);
  all.emplace_back("toeplitz_cr", ribbon::LineSet::interleaved(200, 64), toeplitz(200, {-1, 3, -1}, true),
                   ribbon::LineSolverOptions{"toeplitz_cr"});
  for (int h : {1, 2}) all.emplace_back("one_pass", Lhs::shared, h, 2048); // teams of several blocks
  for (int h : {1, 4}) all.emplace_back("one_pass", Lhs::shared, h, 200, 1, true);
  for (int h : {1, 2})
    all.emplace_back("teams that stay, h " + std::to_string(h), ribbon::LineSet::contiguous(512, 4000),
                     Problem<double>::random(Lhs::shared, h, 512, 1), ribbon::LineSolverOptions{"one_pass"});
  for (int h : {1, 2})
    for (const char *algorithm : {"one_pass", "thomas", "pivoted"})
      for (auto lhs : {Lhs::shared, Lhs::per_line, Lhs::shifted})
        all.emplace_back(algorithm, lhs, h, h == 1 ? 200 : 201, 1, true);
  for (int block : {2, 4})
    for (auto lhs : {Lhs::shared, Lhs::per_line}) all.emplace_back("one_pass", lhs, 1, 100, block);
  all.emplace_back("thomas", Lhs::per_line, 1, 100, 3);
  all.emplace_back("partition", Lhs::shared, 1, 5000);
  all.emplace_back("partition", Lhs::per_line, 2, 5000);
  all.emplace_back("partition", Lhs::classes, 1, 5000);
  // Segments that form the adjacent separators, and segments that wait for each other.
  for (double diagonal : {5.0, 2.001})
    all.emplace_back(diagonal > 3 ? "near" : "joined", ribbon::LineSet::contiguous(6000, 64),
                     toeplitz(6000, {-1, diagonal, -1}, false), ribbon::LineSolverOptions{"partition"});
  ribbon::LineSolverOptions zero_mean, refactors;
  zero_mean.singular = "zero_mean";
  all.emplace_back("zero_mean", ribbon::LineSet::interleaved(200, 64), toeplitz(200, {-1, 2, -1}, true),
                   zero_mean);
  refactors.refactors = true;
  for (const char *algorithm : {"one_pass", "cr_pcr"}) {
    refactors.algorithm = algorithm;
    all.emplace_back("factor_and_solve, " + refactors.algorithm, ribbon::LineSet::interleaved(200, 64),
                     Problem<double>::random(Lhs::per_line, 1, 200, 1), refactors);
  }
  refactors.algorithm = "thomas";
  for (int h : {1, 3})
    all.emplace_back("factor_and_solve, h " + std::to_string(h), ribbon::LineSet::interleaved(200, 64),
                     Problem<double>::random(Lhs::per_line, h, 200, 1), refactors);
  return all;
}

/// Solvers of complex<float>, for which every solve needs a workspace.
std::vector<Problem<Kokkos::complex<float>>> complex_problems()
{
  using ribbon::Lhs;
  std::vector<Problem<Kokkos::complex<float>>> all;
  ribbon::LineSolverOptions                    refactors;
  refactors.algorithm = "one_pass", refactors.refactors = true;
  for (auto lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
    all.emplace_back("auto", lhs, 2, 200);
  all.emplace_back("one_pass", Lhs::shared, 1, 100, 2, true);
  all.emplace_back("partition", Lhs::shared, 1, 5000);
  for (auto lhs : {Lhs::per_line, Lhs::shifted})
    all.emplace_back("factor_and_solve", ribbon::LineSet::interleaved(200, 64),
                     Problem<Kokkos::complex<float>>::random(lhs, 2, 200, 1), refactors);
  return all;
}

/// Other scalars, whose kernels have other shapes.
template <class Scalar>
std::vector<Problem<Scalar>> problems_of()
{
  using ribbon::Lhs;
  std::vector<Problem<Scalar>> all;
  for (const char *algorithm : {"one_pass", "thomas", "pivoted"})
    for (auto lhs : {Lhs::shared, Lhs::per_line})
      all.emplace_back(algorithm, lhs, 2, 200, 1, lhs == Lhs::shared);
  all.emplace_back("cr_pcr", Lhs::shared, 1, 200);
  all.emplace_back("partition", Lhs::shared, 1, 5000);
  return all;
}

/// Calls test(problem) for all problems.
template <class Test>
void for_each_problem(const Test &test)
{
  const auto each = [&](const auto &all) {
    for (const auto &p : all) test(p);
  };
  each(problems()), each(problems_of<float>()), each(problems_of<Kokkos::complex<double>>()),
    each(complex_problems());
}

TEST(Streams, ASolveIsCapturedInAGraph)
{
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  {
    const Kokkos::Cuda exec(stream);
    const auto         expect_captured = [&](const auto &p) {
      SCOPED_TRACE(p.what);
      cudaGraph_t     graph = nullptr;
      cudaGraphExec_t runs;
      std::string     waited;
      OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      try {
        p.solve(exec);
      } catch (const std::exception &e) { // Kokkos refuses calls that are invalid while a stream is captured
        waited = e.what();
      }
      if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || !waited.empty()) {
        cudaGetLastError();
        ADD_FAILURE() << "not captured " << waited;
        return;
      }
      EXPECT_TRUE(p.result() != p.expected) << "it ran while it was captured";
      OK(cudaGraphInstantiate(&runs, graph, 0));
      for (int k = 0; k < 2; ++k) { // joined segments alternate between two buffers
        Kokkos::deep_copy(p.x, 0);
        OK(cudaGraphLaunch(runs, stream));
        OK(cudaStreamSynchronize(stream));
        EXPECT_TRUE(p.result() == p.expected) << "replay " << k;
      }
      OK(cudaGraphExecDestroy(runs));
      OK(cudaGraphDestroy(graph));
    };
    for_each_problem(expect_captured);
  }
  OK(cudaStreamDestroy(stream));
}

__global__ void wait_for(const volatile int *flag)
{
  while (*flag == 0) {
  }
}

TEST(Streams, ASolveWaitsForNoOtherStream)
{
  cudaStream_t busy, idle;
  int         *flag;
  OK(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&idle, cudaStreamNonBlocking));
  OK(cudaMallocHost(&flag, sizeof(int)));
  {
    const auto expect_no_wait = [&](const auto &p) {
      SCOPED_TRACE(p.what);
      *flag = 0;
      {
        const Kokkos::Cuda on_busy(busy), on_idle(idle);
        auto               early = p.expected;
        const std::size_t  bytes = early.size() * sizeof(early[0]);
        std::fill(early.begin(), early.end(), std::decay_t<decltype(early[0])>(0));
        wait_for<<<1, 1, 0, busy>>>(flag);
        p.solve(on_idle);
        OK(cudaMemcpyAsync(early.data(), p.x.data(), bytes, cudaMemcpyDeviceToHost, idle));
        OK(cudaStreamSynchronize(idle)); // while the other stream still waits
        EXPECT_EQ(cudaStreamQuery(busy), cudaErrorNotReady);
        EXPECT_TRUE(early == p.expected);
        *flag = 1;
        OK(cudaStreamSynchronize(busy));
      }
    };
    for_each_problem(expect_no_wait);
  }
  OK(cudaFreeHost(flag));
  OK(cudaStreamDestroy(busy));
  OK(cudaStreamDestroy(idle));
}

// Independent solvers have separate workspaces. Otherwise one would overwrite data that the other still
// reads.
TEST(Streams, IndependentSolversRunAtTheSameTime)
{
  cudaStream_t streams[2];
  for (auto &stream : streams) OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    const Kokkos::Cuda one(streams[0]), two(streams[1]);
    const auto         expect_independent = [&](const auto &p) {
      SCOPED_TRACE(p.what);
      const auto                         other = p.solver.independent(two);
      std::remove_const_t<decltype(p.x)> y("test::y", p.x.extent(0));
      Kokkos::fence();
      for (int k = 0; k < 20; ++k) p.solve(one), p.solve(two, other, y);
      EXPECT_TRUE(p.result() == p.expected);
      Kokkos::deep_copy(p.x, y);
      EXPECT_TRUE(p.result() == p.expected);
    };
    for_each_problem(expect_independent);
  }
  for (auto &stream : streams) OK(cudaStreamDestroy(stream));
}

} // namespace
