// SPDX-License-Identifier: BSD-2-Clause
// What a solve promises on CUDA: it waits for nothing, so it can be captured in a graph, and it runs on the stream it was given and no other.
#include "batch.hpp"

#include <gtest/gtest.h>

#include <string>

using namespace test;

namespace {

#define OK(call) ASSERT_EQ(call, cudaSuccess) << #call

struct Problem {
  ribbon::LineSet                  set;
  std::string                      what;
  ribbon::LineSolver<double, Exec> solver;
  Kokkos::View<double *, Memory>   b, x;
  std::vector<double>              expected;

  /// @param joined  a tridiagonal stencil on contiguous lines, whose pieces wait for each other
  Problem(const std::string &algorithm, ribbon::Lhs lhs, int h, std::int64_t n, bool joined = false)
      : set(joined ? ribbon::LineSet::contiguous(n, 64) : ribbon::LineSet::interleaved(n, 64)), what(algorithm + ", " + ribbon::to_string(lhs) + ", h " + std::to_string(h) + (joined ? ", joined" : ""))
  {
    std::mt19937_64 g(3);
    auto            bands = joined ? toeplitz(n, {-1000.0, 2001.0, -1000.0}, false) : random_bands<double>(g, matrices_for(lhs, 64), n, h, true, Kind::dominant);
    if (!joined) assign(g, bands, lhs, 64);
    solver = ribbon::LineSolver<double, Exec>(Exec(), set, to_device(bands), {algorithm});
    b = decltype(b)("test::b", static_cast<std::size_t>(set.unknowns())), x = decltype(x)("test::x", static_cast<std::size_t>(set.unknowns()));
    const auto host = Kokkos::create_mirror_view(b);
    for (std::size_t k = 0; k < host.extent(0); ++k) host(k) = random_scalar<double>(g);
    Kokkos::deep_copy(b, host);
    solver.solve(Exec(), b.data(), x.data());
    expected = result();
    Kokkos::deep_copy(x, 0.0);
  }
  std::vector<double> result() const
  {
    Kokkos::fence();
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
    return std::vector<double>(host.data(), host.data() + host.extent(0));
  }
};

std::vector<Problem> problems()
{
  std::vector<Problem> all;
  for (int h : {1, 2, 3})
    for (const char *algorithm : {"one_pass", "thomas", "pivoted"})
      for (auto lhs : {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line, ribbon::Lhs::shifted})
        if (h < 3 || lhs == ribbon::Lhs::shared || std::string(algorithm) != "one_pass") all.emplace_back(algorithm, lhs, h, 200);
  for (int h : {2, 4, 8}) all.emplace_back("tile_products", ribbon::Lhs::shared, h, 200);
  for (const char *algorithm : {"cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr"}) all.emplace_back(algorithm, ribbon::Lhs::shared, 1, 200);
  all.emplace_back("partition", ribbon::Lhs::shared, 1, 5000);
  all.emplace_back("partition", ribbon::Lhs::per_line, 2, 5000);
  all.emplace_back("partition", ribbon::Lhs::shared, 1, 6000, true);
  return all;
}

TEST(Streams, ASolveIsCapturedInAGraph)
{
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  {
    const Kokkos::Cuda exec(stream);
    const auto         all = problems();
    for (const auto &p : all) {
      SCOPED_TRACE(p.what);
      cudaGraph_t     graph = nullptr;
      cudaGraphExec_t runs;
      std::string     waited;
      OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      try {
        p.solver.solve(exec, p.b.data(), p.x.data());
      } catch (const std::exception &e) { // Kokkos, of what a stream does not permit while it is captured
        waited = e.what();
      }
      if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || !waited.empty()) {
        cudaGetLastError();
        ADD_FAILURE() << "not captured " << waited;
        continue;
      }
      EXPECT_TRUE(p.result() != p.expected) << "it ran while it was captured";
      OK(cudaGraphInstantiate(&runs, graph, 0));
      OK(cudaGraphLaunch(runs, stream));
      OK(cudaStreamSynchronize(stream));
      EXPECT_TRUE(p.result() == p.expected);
      OK(cudaGraphExecDestroy(runs));
      OK(cudaGraphDestroy(graph));
    }
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
    const auto all = problems();
    for (const auto &p : all) {
      SCOPED_TRACE(p.what);
      *flag = 0;
      {
        const Kokkos::Cuda  on_busy(busy), on_idle(idle);
        const std::size_t   bytes = p.expected.size() * sizeof(double);
        std::vector<double> early(p.expected.size());
        wait_for<<<1, 1, 0, busy>>>(flag);
        p.solver.solve(on_idle, p.b.data(), p.x.data());
        OK(cudaMemcpyAsync(early.data(), p.x.data(), bytes, cudaMemcpyDeviceToHost, idle));
        OK(cudaStreamSynchronize(idle)); // while the other stream still waits
        EXPECT_EQ(cudaStreamQuery(busy), cudaErrorNotReady);
        EXPECT_TRUE(early == p.expected);
        *flag = 1;
        OK(cudaStreamSynchronize(busy));
      }
    }
  }
  OK(cudaFreeHost(flag));
  OK(cudaStreamDestroy(busy));
  OK(cudaStreamDestroy(idle));
}

} // namespace
