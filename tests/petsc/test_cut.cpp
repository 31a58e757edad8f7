// SPDX-License-Identifier: BSD-2-Clause
// Lines that span ranks.
#include "fixture.hpp"

#include <ribbon/distributed/cut_kernels.hpp>

using namespace test;

namespace {

class PCLineCuts : public Petsc {
protected:
  /// All ways to distribute the ranks over the dimensions.
  std::vector<std::vector<PetscInt>> splits(std::size_t dimensions) const
  {
    std::vector<std::vector<PetscInt>> all;
    for (PetscInt x = 1; x <= ranks; ++x)
      for (PetscInt y = 1; x * y <= ranks; ++y) {
        const PetscInt z = ranks / (x * y);
        if (x * y * z != ranks || (dimensions < 3 && z > 1) || (dimensions < 2 && y > 1)) continue;
        all.push_back({x, y, z});
      }
    return all;
  }
};

/// If only the rows of lines couple, a solve along the lines is exact for any partition.
TEST_F(PCLineCuts, EveryDirectionOfEveryDecomposition)
{
  for (std::size_t dimensions : {1, 2, 3})
    for (const auto &processes : splits(dimensions))
      for (std::size_t d = 0; d < dimensions; ++d)
        for (bool periodic : {false, true})
          for (PetscInt width : {1, 2}) {
            std::vector<PetscInt>  n = {dimensions == 1 ? 23 : 11, 10, 9};
            std::vector<PetscReal> strength(3, 0);
            for (std::size_t e = 0; e < 3; ++e) n[e] = std::max(n[e], processes[e] * (2 * width + 1));
            n.resize(dimensions), strength[d] = 3;
            Grid                  grid(n, strength, 0.5, periodic,
                                       std::vector<PetscInt>(processes.begin(),
                                            processes.begin() + static_cast<std::ptrdiff_t>(dimensions)),
                                       false, width);
            Line                  line(grid.A, grid.da);
            const PCLineDirection direction =
              static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + static_cast<int>(d));
            OK(PCLineSetDirections(line.pc, 1, &direction));
            OK(PCLineSetCut(line.pc, PC_LINE_CUT_EXACT));
            const std::string what = std::to_string(dimensions) + "D along " + PCLineDirections[direction] +
                                     " on " + std::to_string(processes[0]) + " x " +
                                     std::to_string(processes[1]) + " x " + std::to_string(processes[2]) +
                                     (periodic ? ", periodic" : "") + ", width " + std::to_string(width);
            EXPECT_LT(line.residual(grid.A), 1e-13) << what;
            EXPECT_LT(line.residual(grid.A, true), 1e-13) << what;
          }
}

/// Rows for which all or most neighbours on their line are on other ranks.
TEST_F(PCLineCuts, AutoFollowsCouplingsToOtherRanks)
{
  for (PetscInt rows : {1, 2, 3}) {
    Grid grid({8, rows * ranks + (rows * ranks < 2)}, {1e-3, 1}, 0.1, false, {1, ranks});
    Line line(grid.A, grid.da);
    OK(PCSetUp(line.pc));
    EXPECT_EQ(line.direction(), "y") << rows;
  }
}

/// Solves along y of a grid with couplings only along y. The numbers of lines and of rows per rank are
/// parameters.
struct Stack {
  Grid grid;
  Line line;
  Stack(PetscInt lines, PetscInt rows, PetscInt ranks, PetscReal shift, bool periodic = false)
      : grid({lines, rows * ranks}, {0, 1}, shift, periodic, {1, ranks}), line(grid.A, grid.da)
  {
    PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Y);
  }
};

TEST_F(PCLineCuts, TheInverseDecidesWhoIsAsked)
{
  Stack fast(5, 60, ranks, 5);
  EXPECT_LT(fast.line.residual(fast.grid.A), 1e-14);
  EXPECT_TRUE(ranks == 1 || contains(fast.line.view(), "joined: on rank 0: exactly by neighbours, "))
    << fast.line.view();
  Stack slow(5, 30, ranks, 1e-4);
  EXPECT_LT(slow.line.residual(slow.grid.A), 1e-11);
  const std::string how = ranks == 2 ? "exactly by neighbours"
                                     : "exactly, reduced systems of " + std::to_string(ranks - 1) +
                                         " unknowns solved on every rank";
  EXPECT_TRUE(ranks == 1 || contains(slow.line.view(), how)) << slow.line.view();
  OK(PCLineSetCut(slow.line.pc, PC_LINE_CUT_DROP));
  EXPECT_LT(slow.line.residual(slow.grid.A), ranks <= 2 ? 1e-11 : 0.9);
  if (ranks > 2) {
    EXPECT_GT(slow.line.residual(slow.grid.A), 1e-6);
  }
  EXPECT_TRUE(ranks <= 2 || contains(slow.line.view(), "approximately by neighbours")) << slow.line.view();
  OK(PCLineSetCut(slow.line.pc, PC_LINE_CUT_LOCAL));
  EXPECT_TRUE(ranks == 1 || slow.line.residual(slow.grid.A) > 1e-6);
}

TEST_F(PCLineCuts, OptionsSayWhoSolvesTheReducedSystems)
{
  const char *const how[] = {"", "on every rank", "dealt out by lines"};
  Stack             stack(7, 6, ranks, 1e-3);
  PCLineCutExchange exchange;
  for (PCLineCutExchange asked : {PC_LINE_CUT_EXCHANGE_EVERY_RANK, PC_LINE_CUT_EXCHANGE_DEALT_OUT}) {
    reset_options((std::string("-pc_line_cut_exchange ") + PCLineCutExchanges[asked]).c_str());
    OK(PCSetFromOptions(stack.line.pc));
    OK(PCLineGetCutExchange(stack.line.pc, &exchange));
    EXPECT_EQ(exchange, asked);
    for (bool transposed : {false, true}) EXPECT_LT(stack.line.residual(stack.grid.A, transposed), 1e-11);
    EXPECT_TRUE(ranks == 1 || contains(stack.line.view(), how[asked])) << stack.line.view();
  }
  reset_options();
}

/// Host vectors travel by MPI in every case; devices use each transport, or say why not.
TEST_F(PCLineCuts, EveryTransportGivesTheSameSolution)
{
  for (const char *exchange : {"auto", "every_rank", "dealt_out"})
    for (const char *asked : {"auto", "mpi", "staged", "nccl", "peer"}) {
      reset_options((std::string("-pc_line_cut exact -pc_line_cut_exchange ") + exchange +
                     " -pc_line_cut_transport " + asked)
                      .c_str());
      Stack           stack(7, 6, ranks, 1e-3);
      RibbonTransport found;
      OK(PCSetFromOptions(stack.line.pc));
      OK(PCLineGetCutTransport(stack.line.pc, &found));
      EXPECT_STREQ(RibbonTransports[found], asked);
      for (bool transposed : {false, true})
        EXPECT_LT(stack.line.residual(stack.grid.A, transposed), 1e-11) << exchange << ", " << asked;
      EXPECT_EQ(contains(stack.line.view(), "messages by "),
                ranks > 1 && contains(stack.line.view(), "held on Cuda"))
        << stack.line.view();
    }
  reset_options();
}

TEST_F(PCLineCuts, ManyLinesShareTheReducedSystemsAmongTheRanks)
{
  Grid     grid({64, 60, 4 * ranks}, {0, 0, 1}, 0.01, false, {1, 1, ranks});
  PetscInt begin, end;
  OK(MatGetOwnershipRange(grid.A, &begin, &end));
  // One matrix per line.
  for (PetscInt r = begin; r < end; r += 7)
    OK(MatSetValue(grid.A, r, r, 3 + static_cast<double>(r % 11), INSERT_VALUES));
  OK(MatAssemblyBegin(grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(grid.A, MAT_FINAL_ASSEMBLY));
  Line line(grid.A, grid.da);
  OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Z));
  OK(PCLineSetCut(line.pc, PC_LINE_CUT_EXACT));
  EXPECT_LT(line.residual(grid.A), 1e-13);
  EXPECT_LT(line.residual(grid.A, true), 1e-13);
  EXPECT_TRUE(ranks <= 2 || contains(line.view(), "dealt out by lines")) << line.view();
}

/// Consecutive rows over ranks that hold many rows, one row or no row.
TEST_F(PCLineCuts, RowsOfOneLineOverUnevenRanks)
{
  for (PetscInt reach : {1, 2, 5})
    for (bool ring : {false, true})
      for (PetscInt few : {0, 1, 6}) {
        // Ribbon does not join the sub-lines of a ring whose couplings reach across a whole rank.
        if (ring && reach == 5 && few < 6) continue;
        const PetscInt n = 20 + 10 * ranks, mine = ranks == 1          ? n
                                                   : rank == 0         ? n - few * (ranks - 1) - 3
                                                   : rank == ranks - 1 ? few + 3
                                                                       : few;
        const auto     away = [&](PetscInt r, PetscInt c) {
          return ring ? std::min(std::abs(r - c), n - std::abs(r - c)) : std::abs(r - c);
        };
        Mat A = matrix(
          n,
          [&](PetscInt r, PetscInt c) {
            return r == c ? 2.2 * static_cast<double>(reach) + static_cast<double>(r % 3)
                          : -1 + 0.1 * static_cast<double>((r + 2 * c) % 5);
          },
          [&](PetscInt r, PetscInt c) { return away(r, c) <= reach; }, mine);
        {
          Line line(A);
          for (bool transposed : {false, true})
            EXPECT_LT(line.residual(A, transposed), 1e-13)
              << "reach " << reach << (ring ? ", ring" : "") << ", " << few << " rows in the middle\n"
              << line.view();
        }
        OK(MatDestroy(&A));
      }
}

TEST_F(PCLineCuts, SeveralRightHandSidesTravelTogether)
{
  Stack    stack(4, 12, ranks, 0.01);
  PetscInt rows;
  Mat      B, X;
  OK(MatGetLocalSize(stack.grid.A, &rows, nullptr));
  OK(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B));
  OK(MatSetRandom(B, nullptr));
  OK(MatDuplicate(B, MAT_COPY_VALUES, &X));
  OK(PCMatApply(stack.line.pc, B, X));
  EXPECT_LT(residual(stack.grid.A, B, X), 1e-12);
  for (Mat *M : {&B, &X}) OK(MatDestroy(M));
}

/// Neumann and periodic lines: the whole lines are singular, their sub-lines are not.
TEST_F(PCLineCuts, SingularLinesArePinnedOrReported)
{
  const WithoutPhases real; // rows that sum to zero
  for (bool periodic : {false, true}) {
    Stack    stack(3, 8, ranks, 0, periodic);
    Line    &line = stack.line;
    PetscInt begin, end;
    OK(MatGetOwnershipRange(stack.grid.A, &begin, &end));
    for (PetscInt l = 0; l < 3 && !periodic; ++l) {
      const PetscInt    first = begin + l, last = end - 1 - l;
      const PetscScalar one = 1;
      if (rank == 0) {
        OK(MatSetValues(stack.grid.A, 1, &first, 1, &first, &one, INSERT_VALUES));
      }
      if (rank == ranks - 1) {
        OK(MatSetValues(stack.grid.A, 1, &last, 1, &last, &one, INSERT_VALUES));
      }
    }
    OK(MatAssemblyBegin(stack.grid.A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(stack.grid.A, MAT_FINAL_ASSEMBLY));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(failed_reason(line.pc), PC_FACTOR_NUMERIC_ZEROPIVOT) << line.view();
    OK(PCLineSetShiftType(line.pc, PC_LINE_SHIFT_PIN));
    OK(MatMult(stack.grid.A, line.b, line.x)); // a consistent right-hand side
    OK(VecCopy(line.x, line.b));
    EXPECT_LT(line.residual(stack.grid.A), 1e-12) << line.view();
    EXPECT_TRUE(ranks == 1 || contains(line.view(), "each line is brought to one rank")) << line.view();
    OK(PCLineSetShiftType(line.pc, PC_LINE_SHIFT_NONZERO));
    OK(PCSetUp(line.pc));
    EXPECT_EQ(failed_reason(line.pc), PC_NOERROR);
  }
}

/// A singular sub-line of regular lines.
TEST_F(PCLineCuts, ASingularPieceIsNoReasonToFail)
{
  Stack    stack(3, 4, ranks, 4);
  PetscInt begin, end;
  OK(MatGetOwnershipRange(stack.grid.A, &begin, &end));
  // Row 0 of every line has a zero diagonal entry. It couples only to row 1.
  if (rank == 0)
    for (PetscInt l = 0; l < 3; ++l) {
      const PetscScalar zero = 0;
      const PetscInt    r    = begin + l;
      OK(MatSetValues(stack.grid.A, 1, &r, 1, &r, &zero, INSERT_VALUES));
    }
  OK(MatAssemblyBegin(stack.grid.A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(stack.grid.A, MAT_FINAL_ASSEMBLY));
  EXPECT_LT(stack.line.residual(stack.grid.A), 1e-13) << stack.line.view();
}

TEST_F(PCLineCuts, AZeroRowOfOneRankIsSaidByAll)
{
  Stack    stack(3, 5, ranks, 1);
  PetscInt row = 0;
  OK(MatSetOption(stack.grid.A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  OK(MatZeroRows(stack.grid.A, rank == 0 ? 1 : 0, &row, 0, nullptr, nullptr));
  OK(PCSetUp(stack.line.pc));
  EXPECT_NE(failed_reason(stack.line.pc), PC_NOERROR);
  EXPECT_TRUE(contains(stack.line.view(), "failed: PC line: ")) << stack.line.view();
  OK(MatShift(stack.grid.A, 2));
  EXPECT_LT(stack.line.residual(stack.grid.A), 1e-13) << stack.line.view();
}

TEST_F(PCLineCuts, ExactlyNeedsToKnowWhichPiecesBelongTogether)
{
  const PetscInt nx = 5;
  if (ranks == 1) return;
  Mat A = matrix( // a grid in natural numbering, on ranks that begin inside a line
    nx * 3 * ranks, [](PetscInt r, PetscInt c) { return r == c ? 5 : -1; },
    [](PetscInt r, PetscInt c) {
      return r == c || std::abs(r - c) == nx || (std::abs(r - c) == 1 && r / nx == c / nx);
    },
    rank == 0   ? nx * 3 + 2
    : rank == 1 ? nx * 3 - 2
                : nx * 3);
  {
    Line line(A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_X));
    OK(PCSetUp(line.pc));
    OK(PCLineSetCut(line.pc, PC_LINE_CUT_EXACT));
    EXPECT_NE(PCSetUp(line.pc), 0);
    EXPECT_TRUE(contains(last_error(), "does not tell which sub-lines belong together")) << last_error();
  }
  OK(MatDestroy(&A));
}

// Ranks whose rows lie in one plane of a grid detect another grid than ranks with rows in two planes. All
// ranks raise one error. If no rank has a whole plane, the grid has no planes.
TEST_F(PCLineCuts, RanksThatSeeDifferentGridsRaiseOneError)
{
  const PetscInt nx = 3, plane = nx * ranks;
  if (ranks % 2 == 1) return; // a plane begins with a rank
  Mat A = matrix(
    2 * plane, [](PetscInt r, PetscInt c) { return r == c ? 7 : -1; },
    [&](PetscInt r, PetscInt c) {
      return r == c || std::abs(r - c) == plane || (std::abs(r - c) == nx && r / plane == c / plane) ||
             (std::abs(r - c) == 1 && r / nx == c / nx);
    },
    rank == 0           ? nx
    : rank == ranks - 1 ? 3 * nx
                        : 2 * nx);
  {
    Line line(A);
    OK(PCLineSetDirection(line.pc, PC_LINE_DIRECTION_Z));
    OK(PCLineSetCut(line.pc, PC_LINE_CUT_EXACT));
    EXPECT_NE(PCSetUp(line.pc), 0);
    char first[1000] = "";
    last_error().copy(first, sizeof first - 1);
    OK(MPI_Bcast(first, sizeof first, MPI_CHAR, 0, PETSC_COMM_WORLD));
    EXPECT_TRUE(contains(last_error(), ranks == 2 ? "does not tell which sub-lines belong together"
                                                  : "-pc_line_direction z: the grid has 2 dimensions"))
      << last_error();
    EXPECT_EQ(last_error(), first);
  }
  OK(MatDestroy(&A));
}

/// On devices each thread corrects some rows of a line; on hosts it corrects a line, or a tile of lines.
TEST_F(PCLineCuts, RowsAreCorrectedAlikeByAnyThreads) // one rank
{
  using Kernels = ribbon::CutKernels<double, Kokkos::HostSpace>;
  Stack kokkos(1, 4, ranks, 1);
  OK(PCSetUp(kokkos.line.pc)); // starts Kokkos
  for (bool contiguous : {false, true})
    for (int K : {1, 2})
      for (std::int64_t m : {5, 300, 1000})
        for (bool right : {false, true}) {
          const std::int64_t    lines = m == 300 ? 520 : 3; // a tile has 512
          const ribbon::LineSet set   = contiguous ? ribbon::LineSet::contiguous(m, lines, m + 1)
                                                   : ribbon::LineSet::interleaved(m, lines);
          Kernels::Parts        parts;
          parts.piece.m = m, parts.piece.lines = lines, parts.piece.K = K, parts.piece.left = true,
          parts.piece.right = right;
          parts.A.values    = Kernels::Values("values", 1, static_cast<std::size_t>(m), 3),
          parts.A.lines     = lines;
          auto &s           = parts.spikes;
          s.S = K, s.n = parts.piece.n(), s.left_rows = std::min<std::int64_t>(s.n, 290),
          s.right_rows = right ? s.n : 0;
          s.V          = Kernels::Words("V", static_cast<std::size_t>(s.left_rows * K)),
          s.W          = Kernels::Words("W", static_cast<std::size_t>(s.right_rows * K));
          for (std::size_t e = 0; e < s.V.size(); ++e) s.V(e) = std::sin(static_cast<double>(e));
          for (std::size_t e = 0; e < s.W.size(); ++e) s.W(e) = std::cos(static_cast<double>(e));
          std::vector<double> zl(static_cast<std::size_t>(K * lines)), zr(zl.size()),
            x(static_cast<std::size_t>(lines * (m + 1)), 0.5), y = x;
          for (std::size_t e = 0; e < zl.size(); ++e)
            zl[e] = 1 + static_cast<double>(e), zr[e] = -3 - 0.5 * static_cast<double>(e);
          Kernels::CorrectKernel each{parts, zl.data(), zr.data(),           x.data(), set,
                                      0,     m,         set.is_contiguous(), false},
            flat = each;
          flat.x = y.data(), flat.flat = true;
          for (std::int64_t k = 0; k < each.items(); ++k) each(k);
          for (std::int64_t k = 0; k < flat.items(); ++k) flat(k);
          for (std::size_t e = 0; e < x.size(); ++e)
            ASSERT_NEAR(x[e], y[e], 1e-14)
              << e << " of " << m << ", K " << K << (contiguous ? ", contiguous" : "");
        }
}

} // namespace
