// SPDX-License-Identifier: BSD-2-Clause
// What the solver type multifrontal keeps: factoring and solving again allocates nothing, and on a device no numbers cross the bus.
#include "allocations.hpp"
#include "chain_fixture.hpp"

#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t large_from = 512; // bytes: labels of kernels are shorter
bool                  counts     = false;
int                   large      = 0; // allocations of C++ while `counts`

} // namespace

// where they are inlined compilers take them for one another's wrong partners
__attribute__((noinline)) void *operator new(std::size_t size)
{
  if (counts && size >= large_from) ++large;
  if (void *memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void *memory) noexcept
{
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void *memory, std::size_t) noexcept
{
  std::free(memory);
}

using namespace test;

namespace {

class MultifrontalMemory : public Petsc { };

/// A factored matrix and everything that is asked of it.
struct Work {
  Mat      A, B, X, rows = nullptr, sparse = nullptr;
  Vec      b, x;
  Factored f;
  Work(Mat matrix, PetscInt leaf, PetscInt refine, PetscInt columns) : A(matrix), B(dense(A, columns, 1)), X(dense(A, columns, 0)), b(random_vector(A)), x(random_vector(A)), f(A)
  {
    PetscMPIInt ranks;
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    if (ranks == 1) MatTranspose(B, MAT_INITIAL_MATRIX, &rows); // on several PETSc turns right-hand sides
    if (ranks == 1) MatConvert(rows, MATAIJ, MAT_INITIAL_MATRIX, &sparse);
    MatMultifrontalSetLeafSize(f.F, leaf);
    MatMultifrontalSetRefine(f.F, refine);
  }
  Work(const Work &)            = delete;
  Work &operator=(const Work &) = delete;
  ~Work()
  {
    for (Mat *M : {&A, &B, &X, &rows, &sparse}) MatDestroy(M);
    for (Vec *v : {&b, &x}) VecDestroy(v);
  }
  /// Calls step(name, work) for each.
  void steps(const std::function<void(const char *, const std::function<void()> &)> &step)
  {
    step("MatLUFactorNumeric", [&] { OK(f.numeric(A)); });
    step("MatSolve", [&] { OK(MatSolve(f.F, b, x)); });
    step("MatSolveTranspose", [&] { OK(MatSolveTranspose(f.F, b, x)); });
    step("MatMatSolve", [&] { OK(MatMatSolve(f.F, B, X)); });
    step("MatMatSolveTranspose", [&] { OK(MatMatSolveTranspose(f.F, B, X)); });
    if (rows) step("MatMatTransposeSolve", [&] { OK(MatMatTransposeSolve(f.F, rows, X)); });
  }
};

// On one rank and in a chain that is cut, gathered matrices and those of blocks among them: allocations of PETSc and Kokkos, and of C++ from 512 bytes on.
TEST_F(MultifrontalMemory, FactoringAndSolvingAgainAllocatesNothing)
{
  const std::pair<RandomChain, const char *> kinds[] = {{{300, 2, 1}, MATAIJ},         {{300, 8, 8}, MATAIJ}, {{300, 2, 3, true}, MATAIJ}, {RandomChain{200, 1, 2}.shuffle(), MATAIJ},
                                                        {{30, 1, 1, true, 8}, MATAIJ}, {{300, 2, 2}, MATBAIJ}};
  for (const char *pivot : {"qr", "none"})
    for (PetscInt leaf : {0, 64})
      for (const auto &[chain, type] : kinds) {
        SCOPED_TRACE(std::string(pivot) + ", leaf size " + std::to_string(leaf) + ", " + type + ", " + std::to_string(chain.chains) + " of " + std::to_string(chain.n) + " rows, kl " + std::to_string(chain.kl));
        const Option elimination("-mat_multifrontal_pivot", pivot);
        Work         work(chain.matrix(PETSC_DECIDE, type, std::string(type) == MATBAIJ ? 2 : 1), leaf, leaf == 64 && chain.kl == 2 ? 1 : 0, 70);
        OK(work.f.symbolic(work.A));
        for (int round = 0; round < 3; ++round) {
          OK(MatScale(work.A, 2));
          work.steps([&](const char *name, const std::function<void()> &step) {
            large = 0, counts = round > 0;
            const int found = allocations_of(step);
            counts          = false;
            if (round == 0) return;
            EXPECT_EQ(found, 0) << name << ": " << allocations();
            EXPECT_EQ(large, 0) << name;
          });
        }
      }
}

#if defined(PETSC_USE_LOG) && defined(PETSC_HAVE_DEVICE)
/// Bytes that Kokkos copies from one memory to another.
std::uint64_t moved = 0;

TEST_F(MultifrontalMemory, ADeviceFactorizationAndItsSolvesCrossTheBusZeroTimes) // one rank
{
  for (const char *pivot : {"qr", "none"})
    for (const RandomChain &chain : {RandomChain{3000, 2, 1}, RandomChain{3000, 2, 2}, RandomChain{3000, 6, 6, true}}) {
      SCOPED_TRACE(std::string(pivot) + ", kl " + std::to_string(chain.kl) + ", ku " + std::to_string(chain.ku));
      const Option elimination("-mat_multifrontal_pivot", pivot);
      Work         work(chain.matrix(), 0, 0, 70);
      const bool   is_cuda = is_of_type(work.b, "cuda");
      if (!is_cuda && !is_of_type(work.b, "kokkos")) GTEST_SKIP() << "host vectors";
      OK(work.f.symbolic(work.A));
      for (int round = 0; round < 2; ++round) {
        OK(MatScale(work.A, 2));
        work.steps([&](const char *name, const std::function<void()> &step) {
          const bool is_dense = contains(name, "MatMat");
          if (is_dense && (!is_cuda || PETSC_VERSION_LT(3, 19, 0))) return; // dense matrices of Kokkos types are on the host here, 3.18 hands out host arrays
          const PetscLogDouble up = petsc_ctog_ct, down = petsc_gtoc_ct;
          moved = 0;
          Kokkos::Tools::Experimental::set_begin_deep_copy_callback(
            [](const Kokkos::Tools::SpaceHandle to, const char *, const void *, const Kokkos::Tools::SpaceHandle from, const char *, const void *, std::uint64_t bytes) {
              if (std::string(to.name) != from.name) moved += bytes;
            });
          step();
          Kokkos::Tools::Experimental::set_begin_deep_copy_callback(nullptr);
          if (round == 0) return;
          EXPECT_EQ(petsc_ctog_ct, up) << name;
          EXPECT_EQ(petsc_gtoc_ct, down) << name;
          EXPECT_LE(moved, 1000u) << name << ": more than what was found of pivots";
        });
      }
    }
}
#endif

} // namespace
