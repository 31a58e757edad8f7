// SPDX-License-Identifier: BSD-2-Clause
// Data that the solver type multifrontal keeps between matrices. Factoring and solving again allocates
// nothing, and copies no values between host and device.
#include "allocations.hpp"
#include "chain_fixture.hpp"

#include <petsc/private/matimpl.h>

#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t large_from = 512; // bytes: labels of kernels are shorter
bool                  counts     = false;
int                   large      = 0; // allocations of C++ while `counts`

} // namespace

// Not inlined, because compilers then warn of mismatched new and delete.
__attribute__((noinline)) void *operator new(std::size_t size)
{
#ifdef __CUDA_ARCH__ // nvcc compiles it for devices, too
  return std::malloc(size);
#else
  if (counts && size >= large_from) ++large;
  if (void *memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
#endif
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

/// A factored matrix and all operations on it.
struct Work {
  Mat      A, B, X, rows = nullptr, sparse = nullptr;
  Vec      b, x, y;
  Factored f;
  Work(Mat matrix, PetscInt leaf, PetscInt refine, PetscInt columns, MatFactorType type = MAT_FACTOR_LU)
      : A(matrix), B(dense(A, columns, 1)), X(dense(A, columns, 0)), b(random_vector(A)), x(random_vector(A)),
        y(random_vector(A)), f(A, type)
  {
    PetscMPIInt ranks;
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    // on several ranks PETSc transposes right-hand sides
    if (ranks == 1) MatTranspose(B, MAT_INITIAL_MATRIX, &rows);
    if (ranks == 1 && !is_of_type(b, "cuda")) MatConvert(rows, MATAIJ, MAT_INITIAL_MATRIX, &sparse);
    MatMultifrontalSetLeafSize(f.F, leaf);
    MatMultifrontalSetRefine(f.F, refine);
  }
  Work(const Work &)            = delete;
  Work &operator=(const Work &) = delete;
  ~Work()
  {
    for (Mat *M : {&A, &B, &X, &rows, &sparse}) MatDestroy(M);
    for (Vec *v : {&b, &x, &y}) VecDestroy(v);
  }
  /// Calls step(name, work) for each operation.
  void steps(const std::function<void(const char *, const std::function<void()> &)> &step)
  {
    step("MatLUFactorNumeric", [&] { OK(f.numeric(A)); });
    step("MatSolve", [&] { OK(MatSolve(f.F, b, x)); });
    step("MatSolveTranspose", [&] { OK(MatSolveTranspose(f.F, b, x)); });
    step("MatSolveAdd", [&] { OK(MatSolveAdd(f.F, b, y, x)); });
    step("MatSolveTransposeAdd", [&] { OK(MatSolveTransposeAdd(f.F, b, y, x)); });
    step("MatMatSolve", [&] { OK(MatMatSolve(f.F, B, X)); });
    step("MatMatSolveTranspose", [&] { OK(MatMatSolveTranspose(f.F, B, X)); });
    if (rows) step("MatMatTransposeSolve", [&] { OK(MatMatTransposeSolve(f.F, rows, X)); });
    if (sparse) step("MatMatTransposeSolve of AIJ", [&] { OK(MatMatTransposeSolve(f.F, sparse, X)); });
  }
};

// Counts allocations of PETSc and Kokkos, and of C++ from 512 bytes on. Runs on one rank and with
// distributed chains, and includes gathered matrices and matrices of blocks.
TEST_F(MultifrontalMemory, FactoringAndSolvingAgainAllocatesNothing)
{
  const std::pair<RandomChain, const char *> kinds[] = {
    {{300, 2, 1}, MATAIJ},
    {{300, 8, 8}, MATAIJ},
    {{300, 2, 3, true}, MATAIJ},
    {RandomChain{200, 1, 2}.shuffle(), MATAIJ},
    {{36, 1, 1, true, 4}, MATAIJ},
    {{300, 2, 2}, MATBAIJ},
    {{300, 2, 2, false, 1, Values::symmetric}, MATSBAIJ},
    {RandomChain{120, 2, 2, true, 1, Values::symmetric}.shuffle(2), MATSBAIJ}};
  for (const char *pivot : {"qr", "none"})
    for (PetscInt leaf : {0, 64})
      for (const auto &[chain, type] : kinds) {
        SCOPED_TRACE(name(chain) + ", " + type + ", " + pivot + ", leaf size " + std::to_string(leaf));
        const Option elimination("-mat_multifrontal_pivot", pivot);
        const bool   symmetric = std::string(type) == MATSBAIJ;
        Work         work(chain.matrix(PETSC_DECIDE, type, std::string(type) == MATAIJ ? 1 : 2), leaf,
                  leaf == 64 && chain.kl == 2 ? 1 : 0, 5, symmetric ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU);
        OK(work.f.symbolic(work.A));
        for (int round = 0; round < 2; ++round) {
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

// The symbolic factorization does not know the number of columns.
TEST_F(MultifrontalMemory, MoreColumnsThanBeforeAllocateOnce)
{
  for (const char *pivot : {"qr", "none"}) {
    const Option elimination("-mat_multifrontal_pivot", pivot), leaf("-mat_multifrontal_leaf_size", "16");
    Mat          A = RandomChain{200, 2, 1}.matrix();
    {
      Factored f(A);
      OK(f.symbolic(A));
      OK(f.numeric(A));
      PetscInt most = 1;
      for (PetscInt columns : {3, 3, 70, 70, 5, 200, 200, 130}) {
        Mat B = dense(A, columns, 0), X = dense(A, columns, 0);
        large = 0, counts = columns <= most;
        const int found = allocations_of([&] { OK(MatMatSolve(f.F, B, X)); });
        counts          = false;
        if (columns <= most) {
          EXPECT_EQ(found, 0) << columns << " columns: " << allocations();
          EXPECT_EQ(large, 0) << columns << " columns";
        }
        most = std::max(most, columns);
        expect_solved(A, B, X, columns, false);
        OK(MatDestroy(&B));
        OK(MatDestroy(&X));
      }
    }
    OK(MatDestroy(&A));
  }
}

// New values of an SBAIJ matrix reach the factors: on the diagonal, next to it and in the rows of other
// ranks. They are conjugated below the diagonal if PETSc was told, before or after the first factorization,
// that the matrix is Hermitian.
TEST_F(MultifrontalMemory, NewNumbersOfSymmetricBlocks)
{
  for (PetscInt block : {1, 2, 3})
    for (int kind = 0; kind < (block == 1 ? 5 : 2); ++kind) { // PETSc has no Hermitian matrices of blocks
      const bool  shuffled = kind % 2 != 0;
      const int   told     = kind < 2 ? -1 : kind < 4 ? 0 : 2; // round before which A is marked Hermitian
      RandomChain chain{42 * block, block, block, true, 1, told == 0 ? Values::hermitian : Values::symmetric};
      if (shuffled) chain.shuffle(block);
      SCOPED_TRACE(name(chain) + ", blocks of " + std::to_string(block) + ", Hermitian from round " +
                   std::to_string(told));
      Mat A = chain.matrix(PETSC_DECIDE, MATSBAIJ, block), twin = chain.matrix(local_rows(A));
      if (told == 0) {
        OK(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
      }
      {
        Factored f(A, MAT_FACTOR_CHOLESKY);
        OK(f.symbolic(A));
        for (int round = 0; round < 4; ++round, chain.seed += 3) {
          if (round == told) {
            OK(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
            chain.values = Values::hermitian;
          }
          chain.fill(A);
          chain.fill(twin);
          OK(f.numeric(A));
          Vec b = random_vector(twin), x;
          OK(VecDuplicate(b, &x));
          OK(MatSolve(f.F, b, x));
          EXPECT_LE(backward_error(twin, x, b), rounding) << "round " << round;
          OK(VecDestroy(&b));
          OK(VecDestroy(&x));
        }
      }
      OK(MatDestroy(&A));
      OK(MatDestroy(&twin));
    }
}

// The pattern of a matrix changes while its nonzero state stays the same. No value is written out of bounds.
TEST_F(MultifrontalMemory, GatheredEntriesMoreOrLessThanThereIsRoomFor)
{
  if (ranks == 1) GTEST_SKIP() << "nothing is gathered";
  for (int factored : {0, 1}) // before and after the change
    for (bool fewer : {false, true}) {
      SCOPED_TRACE(testing::Message() << factored << (fewer ? " fewer entries" : " more entries"));
      RandomChain chain = RandomChain{80, 2, 1}.shuffle();
      Mat         A     = chain.matrix();
      {
        Factored f(A);
        OK(f.symbolic(A));
        if (factored) {
          OK(f.numeric(A));
        }
        const PetscObjectState state = A->nonzerostate;
        if (fewer) {
          const PetscInt row = chain.rows() - 1;
          OK(MatZeroRows(A, 1, &row, 1, nullptr, nullptr));
        } else {
          chain.ku = 2;
          OK(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
          OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
          chain.fill(A);
        }
        A->nonzerostate = state;
        EXPECT_TRUE(contains(error_of([&] { return f.numeric(A); }), "entries, and had ")) << last_error();
      }
      OK(MatDestroy(&A));
    }
}

TEST_F(MultifrontalMemory, FollowsValuesAndPatterns)
{
  const Option leaf("-chain_mat_multifrontal_leaf_size", "6");
  for (bool shuffled : {false, true}) {
    RandomChain chain{80, 2, 1};
    if (shuffled) chain.shuffle();
    Mat A = chain.matrix(), other = RandomChain{80, 1, 3, true}.matrix();
    {
      ByOptions  by(A);
      const auto analyses = [&] { // the next factorization
        PC pc;
        KSPGetPC(by.ksp, &pc);
        allocations_of([&] { OK(PCSetUp(pc)); });
        return contains(allocations(), "ribbon::");
      };
      EXPECT_LE(by.error(A), rounding);
      for (int k = 0; k < 3; ++k) { // the pattern is the same, and the factors keep memory and tree
        chain.seed += 7;
        chain.fill(A);
        EXPECT_FALSE(analyses()) << allocations();
        EXPECT_LE(by.error(A), rounding);
      }
      chain.kl = 3; // one more entry in every row
      OK(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
      OK(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      chain.fill(A);
      EXPECT_TRUE(analyses() || rank > 0) << allocations(); // rank 0 has rows in both cases
      EXPECT_LE(by.error(A), rounding);
      OK(KSPReset(by.ksp));
      OK(KSPSetOperators(by.ksp, other, other));
      EXPECT_LE(by.error(other), rounding);
      OK(KSPSetOperators(by.ksp, A, A));
      EXPECT_LE(by.error(A), rounding);
    }
    OK(MatDestroy(&A));
    OK(MatDestroy(&other));
  }
}

// One factor for a sequence of matrices with the same or other patterns. It never uses the analysis of
// another matrix. Adding blocks does not change the nonzero state of PETSc's matrices of blocks (3.18).
TEST_F(MultifrontalMemory, BlocksThatGrow)
{
  for (const char *type : {MATBAIJ, MATSBAIJ})
    for (PetscInt refine : {0, 1}) {
      SCOPED_TRACE(std::string(type) + ", " + std::to_string(refine) + " steps");
      const bool  symmetric = std::string(type) == MATSBAIJ;
      RandomChain narrow{48, 1, 1, false, 1, Values::symmetric}, wide{48, 5, 5, false, 1, Values::symmetric};
      Mat         A = narrow.matrix(PETSC_DECIDE, type, 2), twin = wide.matrix();
      Vec         x, b                                           = random_vector(twin);
      OK(VecDuplicate(b, &x));
      {
        Factored f(A, symmetric ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU);
        OK(MatMultifrontalSetRefine(f.F, refine));
        OK(f.symbolic(A));
        OK(f.numeric(A));
        wide.fill(A);
        OK(f.numeric(A));
        expect_solves(f.F, twin, b, x);
      }
      for (Mat *M : {&A, &twin}) OK(MatDestroy(M));
      for (Vec *v : {&x, &b}) OK(VecDestroy(v));
    }
}

TEST_F(MultifrontalMemory, NumericFactorizationsOfAnotherMatrix)
{
  const RandomChain kinds[] = {{70, 1, 1},       {70, 1, 1, false, 1, Values::dominant, 9},
                               {70, 3, 2},       RandomChain{70, 2, 2}.shuffle(),
                               {70, 2, 1, true}, {70, 1, 1}};
  Mat               A       = kinds[0].matrix();
  {
    Factored f(A);
    OK(f.symbolic(A));
    for (const RandomChain &kind : kinds) {
      SCOPED_TRACE(name(kind));
      Mat other = kind.matrix();
      Vec b     = random_vector(other), x;
      OK(VecDuplicate(b, &x));
      OK(f.numeric(other));
      OK(MatSolve(f.F, b, x));
      EXPECT_LE(backward_error(other, x, b), rounding);
      OK(VecDestroy(&b));
      OK(VecDestroy(&x));
      OK(MatDestroy(&other));
    }
  }
  OK(MatDestroy(&A));
}

TEST_F(MultifrontalMemory, SeveralFactorsAtOnce)
{
  const RandomChain kinds[] = {
    {70, 1, 1}, {75, 2, 2, true}, RandomChain{40, 2, 1}.shuffle(), {36, 1, 1, true, 3}};
  std::vector<Mat>                       matrices;
  std::vector<std::unique_ptr<Factored>> factors;
  for (const RandomChain &kind : kinds) {
    matrices.push_back(kind.matrix());
    factors.push_back(std::make_unique<Factored>(matrices.back()));
    OK(factors.back()->symbolic(matrices.back()));
    OK(factors.back()->numeric(matrices.back()));
  }
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    Vec b = random_vector(matrices[k]), x;
    OK(VecDuplicate(b, &x));
    OK(MatSolve(factors[k]->F, b, x));
    EXPECT_LE(backward_error(matrices[k], x, b), rounding);
    OK(VecDestroy(&b));
    OK(VecDestroy(&x));
    factors[k].reset();
    OK(MatDestroy(&matrices[k]));
  }
}

#if defined(PETSC_USE_LOG) && defined(PETSC_HAVE_DEVICE)
/// Bytes that Kokkos copies between memory spaces.
std::uint64_t moved = 0;

TEST_F(MultifrontalMemory, ADeviceFactorizationAndItsSolvesCrossTheBusZeroTimes) // one rank
{
  for (const char *pivot : {"qr", "none"})
    for (const RandomChain &chain :
         {RandomChain{3000, 2, 1}, RandomChain{3000, 2, 2}, RandomChain{3000, 6, 6, true}}) {
      SCOPED_TRACE(name(chain) + ", " + pivot);
      const Option elimination("-mat_multifrontal_pivot", pivot);
      Work         work(chain.matrix(), 0, 0, 70);
      const bool   is_cuda = is_of_type(work.b, "cuda");
      if (!is_cuda && !is_of_type(work.b, "kokkos")) GTEST_SKIP() << "host vectors";
      OK(work.f.symbolic(work.A));
      for (int round = 0; round < 2; ++round) {
        OK(MatScale(work.A, 2));
        work.steps([&](const char *name, const std::function<void()> &step) {
          const bool is_dense = contains(name, "MatMat");
          // Dense matrices of Kokkos types are on the host here; 3.18 returns host arrays.
          if (is_dense && (!is_cuda || PETSC_VERSION_LT(3, 19, 0))) return;
          const PetscLogDouble up = petsc_ctog_sz, down = petsc_gtoc_sz;
          moved = 0;
          Kokkos::Tools::Experimental::set_begin_deep_copy_callback(
            [](const Kokkos::Tools::SpaceHandle to, const char *, const void *,
               const Kokkos::Tools::SpaceHandle from, const char *, const void *, std::uint64_t bytes) {
              if (std::string(to.name) != from.name) moved += bytes;
            });
          step();
          Kokkos::Tools::Experimental::set_begin_deep_copy_callback(nullptr);
          if (round == 0) return;
          EXPECT_EQ(petsc_ctog_sz, up) << name;
          EXPECT_LE(petsc_gtoc_sz - down, 100) << name << ": more than norms of a probe";
          EXPECT_LE(moved, 1000u) << name << ": more than what was found of pivots";
        });
      }
    }
}
#endif

} // namespace
