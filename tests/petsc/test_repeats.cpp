// SPDX-License-Identifier: BSD-2-Clause
// Repeated solves with constant factors and two alternating sets of right-hand sides, between reductions
// and copies of other code. Every solution is bitwise equal to the first one. A difference means that a
// value was read before it was written, or overwritten while it was read. RIBBON_TEST_REPEATS: number of
// rounds (default 3). tests/device/stress runs thousands of rounds, with other processes on the device and
// with random delays.
#include "chain_fixture.hpp"

#include <Kokkos_Core.hpp>

#include <cstdlib>
#include <cstring>

using namespace test;

namespace {

using Numbers = std::vector<PetscScalar>;

struct TwoCounts {
  std::int64_t                      all = 0, odd = 0;
  KOKKOS_INLINE_FUNCTION TwoCounts &operator+=(const TwoCounts &o)
  {
    all += o.all, odd += o.odd;
    return *this;
  }
};
struct CountOdd {
  KOKKOS_FUNCTION void operator()(const std::int64_t k, TwoCounts &counts) const
  {
    ++counts.all, counts.odd += k % 2;
  }
};

} // namespace

template <>
struct Kokkos::reduction_identity<TwoCounts> {
  KOKKOS_FORCEINLINE_FUNCTION static TwoCounts sum() { return TwoCounts(); }
};

namespace {

Numbers numbers_of(Vec v)
{
  const PetscScalar *a;
  PetscInt           n;
  VecGetLocalSize(v, &n);
  VecGetArrayRead(v, &a);
  const Numbers all(a, a + n);
  VecRestoreArrayRead(v, &a);
  return all;
}
Numbers numbers_of(Mat X)
{
  const PetscScalar *a;
  PetscInt           rows, columns, ld;
  Numbers            all;
  MatGetLocalSize(X, &rows, nullptr);
  MatGetSize(X, nullptr, &columns);
  MatDenseGetLDA(X, &ld);
  MatDenseGetArrayRead(X, &a);
  for (PetscInt c = 0; c < columns; ++c)
    all.insert(all.end(), a + static_cast<std::ptrdiff_t>(c) * ld,
               a + static_cast<std::ptrdiff_t>(c) * ld + rows);
  MatDenseRestoreArrayRead(X, &a);
  return all;
}

class Repeats : public Petsc {
protected:
  void SetUp() override
  {
    Petsc::SetUp();
    const char *asked = std::getenv("RIBBON_TEST_REPEATS");
    rounds            = asked ? std::atoi(asked) : 3;
  }

  /// Mimics other parts of a program between two solves: a reduction by Kokkos, and a vector that is filled
  /// on the host, used, and filled again at once.
  void disturb(Vec like, int round)
  {
    TwoCounts counts;
    Kokkos::parallel_reduce("test::count", Kokkos::RangePolicy<Kokkos::IndexType<std::int64_t>>(0, 1001),
                            CountOdd(), Kokkos::Sum<TwoCounts>(counts));
    EXPECT_EQ(counts.all, 1001);
    EXPECT_EQ(counts.odd, 500);
    PetscScalar *a, sum;
    PetscInt     n, all;
    Vec          v;
    VecDuplicate(like, &v);
    VecGetLocalSize(v, &n);
    VecGetSize(v, &all);
    for (int k = 0; k < 2; ++k) {
      VecGetArrayWrite(v, &a);
      std::fill(a, a + n, static_cast<PetscScalar>(round + k + 1));
      VecRestoreArrayWrite(v, &a);
      VecScale(v, 2);
    }
    VecSum(v, &sum);
    EXPECT_EQ(PetscRealPart(sum), 2. * (round + 2) * static_cast<PetscReal>(all)) << "PETSc's own copies";
    VecDestroy(&v);
  }

  /// solve(k) returns the entries of this rank for right-hand side k, 0 or 1. A column has `column`
  /// entries.
  void expect_same_bits(const std::string &what, Vec like, PetscInt column,
                        const std::function<Numbers(int)> &solve)
  {
    const Numbers first[2] = {solve(0), solve(1)};
    int           wrong    = 0;
    for (int round = 0; round < rounds; ++round)
      for (int k : {0, 1}) {
        disturb(like, round);
        const Numbers now = solve(k);
        ASSERT_EQ(now.size(), first[k].size());
        const bool differs =
          !now.empty() && std::memcmp(now.data(), first[k].data(), now.size() * sizeof now[0]) != 0;
        wrong += differs;
        if (!any(differs)) continue;
        const Numbers again = solve(k);
        if (!differs || wrong > 5) continue;
        std::size_t at = 0, differ = 0, others = 0;
        for (std::size_t i = now.size(); i-- > 0;)
          if (std::memcmp(&now[i], &first[k][i], sizeof now[i]) != 0)
            at = i, ++differ, others += std::memcmp(&now[i], &first[1 - k][i], sizeof now[i]) == 0;
        ADD_FAILURE() << "rank " << rank << ", " << what << ", round " << round << ", right-hand sides " << k
                      << ": " << differ << " of " << now.size() << " numbers differ, " << others
                      << " of them are those of the other ones; first row "
                      << at % static_cast<std::size_t>(std::max<PetscInt>(column, 1)) << " of column "
                      << at / static_cast<std::size_t>(std::max<PetscInt>(column, 1)) << ": "
                      << PetscRealPart(now[at]) << ", not " << PetscRealPart(first[k][at])
                      << "; solved again: " << (again == first[k] ? "right" : "wrong");
      }
    EXPECT_EQ(wrong, 0) << what << ": of " << 2 * rounds << " solves";
  }
  /// Whether `mine` holds on any rank, because solves are collective.
  static bool any(bool mine)
  {
    int all = mine;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    return all != 0;
  }

  int rounds = 3;
};

// Chains on all ranks by both eliminations. One column, and more columns than cross the ranks at a time.
TEST_F(Repeats, ChainsThatRanksShare)
{
  const RandomChain chains[] = {{PetscInt(43 + 5 * ranks), 1, 1},
                                {PetscInt(47 + 8 * ranks), 2, 1, true},
                                {PetscInt(50 + 12 * ranks), 5, 2, true},
                                {PetscInt(50 + 45 * ranks), 12, 20, true}};
  for (const RandomChain &chain : chains)
    for (const char *pivot : {"qr", "none"}) {
      const Option elimination("-mat_multifrontal_pivot", pivot);
      Mat          A = chain.matrix(), B[2] = {dense(A, 70, 1), dense(A, 70, 1)}, X = dense(A, 70, 0);
      Vec          b[2] = {random_vector(A), random_vector(A)}, x;
      OK(VecDuplicate(b[0], &x));
      OK(MatScale(B[1], -3));
      OK(VecScale(b[1], -3));
      {
        Factored f(A);
        OK(f.symbolic(A));
        OK(f.numeric(A));
        for (bool transposed : {false, true}) {
          const std::string what = name(chain) + ", " + pivot + (transposed ? ", transposed" : "");
          expect_same_bits(what, x, local_rows(A), [&](int k) {
            EXPECT_EQ(static_cast<int>(transposed ? MatSolveTranspose(f.F, b[k], x) : MatSolve(f.F, b[k], x)),
                      0)
              << last_error();
            return numbers_of(x);
          });
          expect_same_bits(what + ", 70 columns", x, local_rows(A), [&](int k) {
            EXPECT_EQ(
              static_cast<int>(transposed ? MatMatSolveTranspose(f.F, B[k], X) : MatMatSolve(f.F, B[k], X)),
              0)
              << last_error();
            return numbers_of(X);
          });
          expect_solved(A, B[1], X, 70, transposed);
        }
      }
      for (Mat *M : {&A, &B[0], &B[1], &X}) OK(MatDestroy(M));
      for (Vec *v : {&b[0], &b[1], &x}) OK(VecDestroy(v));
    }
}

// Lines that span ranks, with any ranks that solve the reduced systems, and gathered lines.
TEST_F(Repeats, LinesThatThePartitionCuts)
{
  for (const char *options : {"-pc_line_cut exact -pc_line_cut_exchange every_rank",
                              "-pc_line_cut exact -pc_line_cut_exchange dealt_out", "-pc_line_cut drop",
                              "-pc_line_precision single"}) {
    // Single precision is an error for complex scalars.
    if (contains(options, "single") && !std::is_floating_point_v<PetscScalar>) continue;
    for (PetscInt rows : {PetscInt(2), PetscInt(20)}) { // rows of a rank
      Grid grid({33, rows * ranks + 1}, {0, 1}, 0.3, false, {1, ranks});
      Line one(grid.A, grid.da), other(grid.A, grid.da);
      reset_options(options);
      OK(PCSetFromOptions(one.pc));
      OK(PCLineSetDirection(one.pc, PC_LINE_DIRECTION_Y));
      OK(VecScale(other.b, -3));
      for (bool transposed : {false, true})
        expect_same_bits(std::string(options) + ", " + std::to_string(rows) + " rows" +
                           (transposed ? ", transposed" : ""),
                         one.x, local_rows(grid.A), [&](int k) {
                           const Vec b = k == 0 ? one.b : other.b;
                           EXPECT_EQ(static_cast<int>(transposed ? PCApplyTranspose(one.pc, b, one.x)
                                                                 : PCApply(one.pc, b, one.x)),
                                     0)
                             << last_error();
                           return numbers_of(one.x);
                         });
      reset_options();
    }
  }
}

/// Products, dot products, sums and a Krylov method of PETSc, with alternating right-hand sides as above.
/// No code of Ribbon runs, so that failures lie outside of it.
void expect_petsc_is_right(int rounds, const std::function<void(Vec, int)> &before)
{
  Grid        grid({32, 32}, {1, 1}, 0.01);
  Line        vectors[2] = {Line(grid.A), Line(grid.A)};
  KSP         ksp;
  PC          pc;
  Vec         p, y, known[2];
  PetscScalar dot, known_dot[2] = {};
  PetscReal   off, size;
  int         products = 0, dots = 0, solves = 0;
  OK(KSPCreate(PETSC_COMM_WORLD, &ksp));
  OK(KSPSetOperators(ksp, grid.A, grid.A));
  OK(KSPSetType(ksp, KSPCG));
  OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetType(pc, PCJACOBI));
  OK(VecScale(vectors[1].b, -3));
  for (Vec *v : {&p, &y, &known[0], &known[1]}) OK(VecDuplicate(vectors[0].b, v));
  for (int round = -1; round < rounds; ++round) {
    if (round >= 0) before(p, round);
    for (int repeat = 0; repeat < 20; ++repeat)
      for (int k : {0, 1}) {
        OK(VecCopy(vectors[k].b, p));
        OK(MatMult(grid.A, p, y));
        OK(VecDot(p, vectors[0].b, &dot));
        if (round < 0) {
          OK(VecCopy(y, known[k]));
          known_dot[k] = dot;
          continue;
        }
        dots += !(PetscAbsScalar(dot - known_dot[k]) <= 1e-12 * PetscAbsScalar(known_dot[k]));
        OK(VecAXPY(y, -1, known[k]));
        OK(VecNorm(y, NORM_INFINITY, &off));
        OK(VecNorm(known[k], NORM_INFINITY, &size));
        products += !(off <= 1e-12 * size);
      }
    if (round < 0) continue;
    OK(KSPSolve(ksp, vectors[round % 2].b, vectors[round % 2].x));
    solves += !(relative_residual(grid.A, vectors[round % 2].b, vectors[round % 2].x) < 1e-8);
  }
  EXPECT_EQ(products, 0) << "of " << 40 * rounds << " products, not counting those in solves";
  EXPECT_EQ(dots, 0) << "of " << 40 * rounds << " dot products";
  EXPECT_EQ(solves, 0) << "of " << rounds << " solves by CG with PCJACOBI";
  OK(KSPDestroy(&ksp));
  for (Vec *v : {&p, &y, &known[0], &known[1]}) OK(VecDestroy(v));
}

TEST_F(Repeats, PetscWithoutCompany)
{
  expect_petsc_is_right(rounds, [](Vec, int) {});
}

TEST_F(Repeats, PetscAfterReductions)
{
  Grid grid({9, 9}, {1, 1});
  Line line(grid.A);
  OK(PCSetUp(line.pc)); // starts Kokkos
  expect_petsc_is_right(rounds, [&](Vec like, int round) { disturb(like, round); });
}

} // namespace
