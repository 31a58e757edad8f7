// SPDX-License-Identifier: BSD-2-Clause
// Factorizations and solves on an instance of the execution space that is not the default one. Reports and
// results are bitwise equal, and all kernels run on that instance.
#include "chains.hpp"

#include <ribbon/schur_solver.hpp>

#include <gtest/gtest.h>

using namespace test;

namespace {

std::uint32_t instance = 0; ///< identifier in Kokkos tools
int           here     = 0; ///< number of Ribbon's kernels on this instance
std::string   elsewhere;    ///< label of a kernel on another instance

void on_kernel(const char *label, std::uint32_t on, std::uint64_t *)
{
  if (std::string(label).rfind("ribbon::", 0) != 0) return;
  constexpr int type_at = 24; // the bits of an identifier that distinguish hosts and kinds of devices
  if (on == instance) ++here;
  else if (on >> type_at == instance >> type_at) elsewhere = label; // zero_mean solves on the host
}

#ifdef KOKKOS_ENABLE_CUDA
__global__ void wait_for_cycles(long long cycles)
{
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}
#endif

/// Keeps the default instance of a device busy. A kernel that reads unfinished results of it gets wrong
/// values.
void delay_default()
{
#ifdef KOKKOS_ENABLE_CUDA
  wait_for_cycles<<<1, 1, 0, Kokkos::Cuda().cuda_stream()>>>(4000000);
#endif
}

/// Another instance: a stream that does not wait for the default one. A host space has only one instance in
/// Kokkos 3.4.
class OtherInstance {
public:
#ifdef KOKKOS_ENABLE_CUDA
  OtherInstance()
  {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    exec_ = std::make_unique<Exec>(stream_);
  }
  ~OtherInstance()
  {
    exec_.reset();
    cudaStreamDestroy(stream_);
  }
#elif KOKKOS_VERSION >= 40000
  OtherInstance() : exec_(std::make_unique<Exec>(Kokkos::Experimental::partition_space(Exec(), 1)[0])) { }
#else
  OtherInstance() : exec_(std::make_unique<Exec>()) { }
#endif
  OtherInstance(const OtherInstance &)            = delete;
  OtherInstance &operator=(const OtherInstance &) = delete;
  const Exec    &exec() const
  {
    return *exec_;
  }

private:
#ifdef KOKKOS_ENABLE_CUDA
  cudaStream_t stream_ = nullptr;
#endif
  std::unique_ptr<Exec> exec_;
};

class Instances : public testing::Test {
protected:
  void SetUp() override
  {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(on_kernel);
    Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(on_kernel);
  }
  void TearDown() override
  {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr);
  }
  /// Compares the results of run(exec) on the default instance and on another one.
  template <class Run>
  static void expect_same(const Run &run)
  {
    instance            = Kokkos::Tools::Experimental::device_id(Exec());
    const auto expected = run(Exec());
    Kokkos::fence();
    const OtherInstance other;
    instance = Kokkos::Tools::Experimental::device_id(other.exec()), here = 0;
    elsewhere.clear();
    delay_default();
    const auto found = run(other.exec());
    EXPECT_GT(here, 0);
    EXPECT_EQ(elsewhere, "") << "was launched on another instance";
    EXPECT_EQ(found.first, expected.first);
    EXPECT_TRUE(found.second == expected.second);
    Kokkos::fence();
  }
};

template <class Scalar>
std::vector<Scalar> random_numbers(std::size_t count)
{
  std::mt19937_64     g(7);
  std::vector<Scalar> b(count);
  for (auto &a : b) a = random_scalar<Scalar>(g);
  return b;
}

/// Appends solve(b, x) for random values on exec, without other synchronization.
template <class Scalar, class Solve>
void append(const Exec &exec, std::size_t count, std::vector<Scalar> &all, const Solve &solve)
{
  const auto                           b = ribbon::upload(exec, "test::b", random_numbers<Scalar>(count));
  const Kokkos::View<Scalar *, Memory> x =
    ribbon::allocate<Kokkos::View<Scalar *, Memory>>(exec, "test::x", count);
  delay_default();
  solve(b.data(), x.data());
  all.resize(all.size() + count);
  Kokkos::deep_copy(exec,
                    Kokkos::View<Scalar *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                      all.data() + all.size() - count, count),
                    x);
  exec.fence();
}

std::string text(const ribbon::FactorReport &r)
{
  return r.algorithm + ", " + r.reason + ", status " + std::to_string(static_cast<int>(r.status)) +
         ", smallest pivot " + std::to_string(r.smallest_pivot) + ", log|det| " +
         std::to_string(r.log_abs_det) + ", " + std::to_string(r.bytes) + " bytes";
}

TEST_F(Instances, LinesAreFactoredAndSolvedOnAnyInstance)
{
  using ribbon::Lhs;
  int                       taken  = 0;
  const std::pair<int, int> each[] = {{1, 1}, {2, 1}, {3, 1}, {1, 2}};
  for (const std::string algorithm :
       {"auto", "one_pass", "thomas", "pivoted", "partition", "cyclic_reduction", "parallel_cyclic_reduction",
        "cr_pcr", "tile_products", "toeplitz_cr", "zero_mean", "refactors"})
    for (Lhs lhs : {Lhs::shared, Lhs::classes, Lhs::per_line, Lhs::shifted})
      for (const auto &[h, block] : each)
        for (bool contiguous : {false, true}) {
          SCOPED_TRACE(algorithm + ", " + ribbon::to_string(lhs) + ", half-bandwidth " + std::to_string(h) +
                       ", block " + std::to_string(block) + (contiguous ? ", contiguous" : ", interleaved"));
          const bool stencil      = algorithm == "toeplitz_cr" || algorithm == "zero_mean",
                     refactors    = algorithm == "refactors";
          const std::int64_t rows = algorithm == "partition" ? 300 : 120, lines = 21;
          if (stencil && (lhs != Lhs::shared || h > 1 || block > 1)) continue;
          std::mt19937_64 g(3);
          auto            host = stencil
                                   ? toeplitz(rows, {-1, algorithm == "zero_mean" ? 2.0 : 2.5, -1}, true)
                                   : random_system<double>(g, matrices_for(lhs, lines), rows, h, h, block, contiguous);
          assign(g, host, lhs, lines);
          const auto set = (contiguous ? ribbon::LineSet::contiguous(rows, lines)
                                       : ribbon::LineSet::interleaved(rows, lines))
                             .with_components(block);
          const auto                bands = to_device(host);
          ribbon::LineSolverOptions options;
          options.algorithm = refactors                  ? "thomas"
                              : algorithm == "zero_mean" ? "auto"
                                                         : algorithm,
          options.refactors = refactors && (lhs == Lhs::per_line || lhs == Lhs::shifted);
          if (algorithm == "zero_mean") options.singular = algorithm;
          if (algorithm == "partition") options.rows_per_piece = 64;
          if (refactors && !options.refactors) continue;
          Kokkos::fence();
          const auto run = [&](const Exec &exec) {
            const ribbon::LineSolver<double, Exec> solver(exec, set, bands, options);
            std::vector<double>                    all;
            const auto                             count = static_cast<std::size_t>(set.unknowns());
            append(exec, count, all, [&](const double *b, double *x) { solver.solve(exec, b, x); });
            if (refactors)
              append(exec, count, all,
                     [&](const double *b, double *x) { solver.factor_and_solve(exec, bands, b, x); });
            append(exec, count, all,
                   [&](const double *b, double *x) { solver.independent(exec).solve(exec, b, x); });
            return std::pair(text(solver.report()), all);
          };
          try {
            expect_same(run);
            ++taken;
          } catch (const std::invalid_argument &) { // not for this algorithm
          }
        }
  EXPECT_GE(taken, 150);
}

TEST_F(Instances, ChainsAreFactoredAndSolvedOnAnyInstance)
{
  for (const ribbon::Chain &chain :
       {ribbon::Chain{700, 1, 1, 1}, ribbon::Chain{700, 1, 2, 1}, ribbon::Chain{700, 1, 5, 5},
        ribbon::Chain{900, 1, 2, 2, true}, ribbon::Chain{90, 3, 1, 2}, ribbon::Chain{300, 1, 12, 9}})
    for (std::int64_t leaf : {0, 40})
      for (bool pivots : {true, false}) {
        SCOPED_TRACE(testing::Message() << chain.chains << " of " << chain.rows << " rows, kl " << chain.kl
                                        << " ku " << chain.ku << (chain.ring ? ", ring" : "")
                                        << ", leaf size " << leaf << (pivots ? "" : ", without pivots"));
        std::mt19937_64     g(3);
        ChainSystem<double> s{chain};
        s.fill(
          [&](std::int64_t, int d) { return random_scalar<double>(g) + (d == 0 ? chain.width() + 1 : 0); });
        const ChainOnDevice<double> A(s);
        Kokkos::fence();
        const auto run = [&](const Exec &exec, auto solver) {
          std::vector<double> all;
          solver.reserve(exec, 5);
          solver.factor(exec, A.matrix());
          for (std::int64_t columns : {1, 5})
            for (bool transposed : {false, true})
              append(exec, static_cast<std::size_t>(s.rows() * columns), all,
                     [&](const double *b, double *x) {
                       solver.solve(exec, b, s.rows(), x, s.rows(), columns, transposed);
                     });
          return std::pair(text(solver.report()), all);
        };
        if (pivots)
          expect_same([&](const Exec &exec) {
            return run(exec, ribbon::ChainSolver<double, Exec>(exec, chain, {leaf, 0}));
          });
        else
          expect_same([&](const Exec &exec) {
            return run(exec, ribbon::SchurSolver<double, Exec>(exec, chain, {leaf, 0}));
          });
      }
}

} // namespace
