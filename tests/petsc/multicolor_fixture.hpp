// SPDX-License-Identifier: BSD-2-Clause
/// @file multicolor_fixture.hpp  Matrices for PC multicolor, and a serial reference on every rank.
#pragma once

#include "fixture.hpp"

#include <ribbon/multicolor.hpp>

#include <random>

namespace test {

/// An application of PC multicolor in plain words.
struct ColorRequest {
  MatSORType      direction = SOR_SYMMETRIC_SWEEP; ///< forward, backward or symmetric
  PetscReal       omega = 1, shift = 0;
  PetscInt        its = 1, lits = 1;
  PCMulticolorCut cut = PC_MULTICOLOR_CUT_LOCAL;
};

/// All entries of a matrix on every rank, and sweeps over given colours.
struct DenseSweeps {
  PetscInt                 n = 0, block = 1;
  std::vector<PetscScalar> a;      ///< n x n
  std::vector<int>         color;  ///< of each unknown
  std::vector<PetscInt>    ranges; ///< first rows of the ranks, and n

  DenseSweeps(Mat A, PetscInt rows_of_unknown) : block(rows_of_unknown)
  {
    PetscInt        begin, end;
    const PetscInt *r;
    PetscMPIInt     ranks;
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    MatGetSize(A, &n, nullptr);
    a.assign(static_cast<std::size_t>(n * n), 0);
    MatGetOwnershipRange(A, &begin, &end);
    for (PetscInt i = begin; i < end; ++i) {
      PetscInt           count;
      const PetscInt    *columns;
      const PetscScalar *values;
      MatGetRow(A, i, &count, &columns, &values);
      for (PetscInt k = 0; k < count; ++k) at(i, columns[k]) = values[k];
      MatRestoreRow(A, i, &count, &columns, &values);
    }
    MPI_Allreduce(MPI_IN_PLACE, a.data(), static_cast<int>(a.size()), MPIU_SCALAR, MPIU_SUM,
                  PETSC_COMM_WORLD);
    MatGetOwnershipRanges(A, &r);
    ranges.assign(r, r + ranks + 1);
  }
  PetscScalar &at(PetscInt i, PetscInt j) { return a[static_cast<std::size_t>(i * n + j)]; }
  PetscScalar  at(PetscInt i, PetscInt j) const { return a[static_cast<std::size_t>(i * n + j)]; }
  PetscInt     unknowns() const { return n / block; }
  int          owner(PetscInt row) const
  {
    int r = 0;
    while (ranges[static_cast<std::size_t>(r) + 1] <= row) ++r;
    return r;
  }
  /// Whether unknowns i and j couple in A + A^T.
  bool couple(PetscInt i, PetscInt j) const
  {
    for (PetscInt r = 0; r < block; ++r)
      for (PetscInt c = 0; c < block; ++c)
        if (at(i * block + r, j * block + c) != PetscScalar(0) ||
            at(j * block + c, i * block + r) != PetscScalar(0))
          return true;
    return false;
  }
  /// First fit in the order of the rows, on each rank by itself.
  void color_greedily()
  {
    color.assign(static_cast<std::size_t>(unknowns()), -1);
    for (PetscInt i = 0; i < unknowns(); ++i) {
      std::vector<char> used(static_cast<std::size_t>(unknowns()) + 1, 0);
      for (PetscInt j = 0; j < i; ++j)
        if (owner(i * block) == owner(j * block) && couple(i, j))
          used[static_cast<std::size_t>(color[static_cast<std::size_t>(j)])] = 1;
      int c = 0;
      while (used[static_cast<std::size_t>(c)]) ++c;
      color[static_cast<std::size_t>(i)] = c;
    }
  }
  /// By Jones and Plassmann: the whole matrix, or each rank by itself.
  void color_in_parallel(bool exact)
  {
    using Exec = Kokkos::DefaultHostExecutionSpace;
    color.clear();
    for (std::size_t r = 0; r + 1 < ranges.size(); ++r) {
      const PetscInt first = exact ? 0 : ranges[r] / block, end = exact ? unknowns() : ranges[r + 1] / block;
      std::vector<std::int64_t>  begin = {0};
      std::vector<std::int32_t>  neighbor;
      std::vector<std::uint64_t> keys;
      for (PetscInt i = first; i < end; ++i) {
        for (PetscInt j = first; j < end; ++j)
          if (i != j && couple(i, j)) neighbor.push_back(static_cast<std::int32_t>(j - first));
        begin.push_back(static_cast<std::int64_t>(neighbor.size()));
        keys.push_back(ribbon::coloring_key(static_cast<std::uint64_t>(i)));
      }
      ribbon::UnknownGraph<Exec> graph{end - first, 0, ribbon::upload(Exec(), "begin", begin),
                                       ribbon::upload(Exec(), "neighbor", neighbor)};
      ribbon::ColorArray<Exec>   found("colors", static_cast<std::size_t>(end - first));
      ribbon::color_in_parallel(Exec(), graph, ribbon::upload(Exec(), "keys", keys), found);
      for (std::size_t i = 0; i < found.size(); ++i) color.push_back(found(i));
      if (exact) break;
    }
  }
  int colors() const
  {
    int most = -1;
    for (int c : color) most = std::max(most, c);
    return most + 1;
  }

  /// Applies the request to x; without a guess x is zero.
  void apply(const ColorRequest &q, const std::vector<PetscScalar> &b, std::vector<PetscScalar> &x) const
  {
    const bool exact = q.cut == PC_MULTICOLOR_CUT_EXACT || ranges.size() == 2;
    for (PetscInt it = 0; it < q.its; ++it) {
      const auto before = x; // values of other ranks for a local cut
      for (PetscInt lit = 0; lit < q.lits; ++lit) {
        for (int c = 0; q.direction & SOR_FORWARD_SWEEP && c < colors(); ++c)
          relax(q, c, exact ? x : before, b, x);
        for (int c = colors(); q.direction & SOR_BACKWARD_SWEEP && c-- > 0;)
          relax(q, c, exact ? x : before, b, x);
      }
    }
  }

private:
  void relax(const ColorRequest &q, int which, const std::vector<PetscScalar> &others,
             const std::vector<PetscScalar> &b, std::vector<PetscScalar> &x) const
  {
    for (PetscInt u = 0; u < unknowns(); ++u) {
      if (color[static_cast<std::size_t>(u)] != which) continue;
      std::vector<PetscScalar> s, D;
      for (PetscInt i = u * block; i < (u + 1) * block; ++i) {
        PetscScalar sum = b[static_cast<std::size_t>(i)];
        for (PetscInt j = 0; j < n; ++j)
          if (j / block != u)
            sum -= at(i, j) * (owner(j) == owner(i) ? x : others)[static_cast<std::size_t>(j)];
        s.push_back(sum);
        for (PetscInt j = u * block; j < (u + 1) * block; ++j) D.push_back(at(i, j) + (i == j ? q.shift : 0));
      }
      solve(D, s);
      for (PetscInt r = 0; r < block; ++r) {
        PetscScalar &to = x[static_cast<std::size_t>(u * block + r)];
        to              = (PetscScalar(1) - q.omega) * to + q.omega * s[static_cast<std::size_t>(r)];
      }
    }
  }
  /// s = D^-1 s by elimination without pivoting; the blocks here are dominant.
  void solve(std::vector<PetscScalar> &D, std::vector<PetscScalar> &s) const
  {
    const auto B = static_cast<std::size_t>(block);
    for (std::size_t k = 0; k < B; ++k)
      for (std::size_t i = 0; i < B; ++i) {
        if (i == k) continue;
        const PetscScalar f = D[i * B + k] / D[k * B + k];
        for (std::size_t j = 0; j < B; ++j) D[i * B + j] -= f * D[k * B + j];
        s[i] -= f * s[k];
      }
    for (std::size_t k = 0; k < B; ++k) s[k] /= D[k * B + k];
  }
};

/// A random matrix of dominant blocks, the same on any number of ranks.
/// @param symmetric  pattern
inline Mat random_blocks(std::mt19937_64 &g, PetscInt unknowns, PetscInt block, int couplings, bool symmetric)
{
  const PetscInt n = unknowns * block;
  PetscMPIInt    ranks, rank;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const PetscInt                         local = (unknowns / ranks + (rank < unknowns % ranks)) * block;
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double>                    a(static_cast<std::size_t>(n * n), 0);
  const auto                             fill = [&](PetscInt i, PetscInt j) {
    for (PetscInt r = 0; r < block; ++r)
      for (PetscInt c = 0; c < block; ++c)
        a[static_cast<std::size_t>((i * block + r) * n + j * block + c)] =
          value(g) / (i == j ? 2. * static_cast<double>(block) : 1. + couplings) + (i == j && r == c ? 4 : 0);
  };
  for (PetscInt i = 0; i < unknowns; ++i) {
    fill(i, i);
    for (int k = 0; k < couplings; ++k) {
      const auto j = static_cast<PetscInt>(g() % static_cast<std::uint64_t>(unknowns));
      if (i == j) continue;
      fill(i, j);
      if (symmetric) fill(j, i);
    }
  }
  Mat      A;
  PetscInt begin, end;
  MatCreate(PETSC_COMM_WORLD, &A);
  MatSetSizes(A, local, local, n, n);
  MatSetBlockSize(A, block);
  MatSetType(A, MATAIJ);
  MatSetFromOptions(A);
  MatSetUp(A);
  MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
  MatGetOwnershipRange(A, &begin, &end);
  for (PetscInt i = begin; i < end; ++i)
    for (PetscInt j = 0; j < n; ++j)
      if (a[static_cast<std::size_t>(i * n + j)] != 0)
        MatSetValue(A, i, j, static_cast<PetscReal>(a[static_cast<std::size_t>(i * n + j)]) * turned,
                    INSERT_VALUES);
  MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  return A;
}

/// A PC multicolor and its vectors.
struct MulticolorPC {
  PC  pc = nullptr;
  Vec b = nullptr, x = nullptr;

  /// @param like  creates the vectors; null: A
  explicit MulticolorPC(Mat A, DM da = nullptr, Mat like = nullptr)
  {
    PCCreate(PETSC_COMM_WORLD, &pc);
    PCSetType(pc, PCMULTICOLOR);
    PCSetOperators(pc, A, A);
    if (da) PCSetDM(pc, da);
    MatCreateVecs(like ? like : A, &x, &b);
    fill(b, 1), fill(x, 2);
  }
  MulticolorPC(const MulticolorPC &)            = delete;
  MulticolorPC &operator=(const MulticolorPC &) = delete;
  ~MulticolorPC()
  {
    VecDestroy(&b), VecDestroy(&x);
    PCDestroy(&pc);
  }
  /// Values by the global row, so that they do not depend on the ranks.
  static void fill(Vec v, int kind)
  {
    PetscInt     begin, end;
    PetscScalar *a;
    VecGetOwnershipRange(v, &begin, &end);
    VecGetArray(v, &a);
    for (PetscInt i = begin; i < end; ++i)
      a[i - begin] = PetscSinReal(static_cast<PetscReal>(kind * i + 1)) * turned;
    VecRestoreArray(v, &a);
  }
  void set(const ColorRequest &q) const
  {
    PCMulticolorSetCut(pc, q.cut);
    PCMulticolorSetSymmetric(pc, q.direction);
    PCMulticolorSetOmega(pc, q.omega);
    PCMulticolorSetDiagonalShift(pc, q.shift);
    PCMulticolorSetIterations(pc, q.its, q.lits);
  }
  /// All values of a vector on every rank.
  static std::vector<PetscScalar> all(Vec v)
  {
    Vec                whole;
    VecScatter         scatter;
    const PetscScalar *a;
    PetscInt           n;
    VecScatterCreateToAll(v, &scatter, &whole);
    VecScatterBegin(scatter, v, whole, INSERT_VALUES, SCATTER_FORWARD);
    VecScatterEnd(scatter, v, whole, INSERT_VALUES, SCATTER_FORWARD);
    VecGetSize(whole, &n);
    VecGetArrayRead(whole, &a);
    std::vector<PetscScalar> values(a, a + n);
    VecRestoreArrayRead(whole, &a);
    VecScatterDestroy(&scatter);
    VecDestroy(&whole);
    return values;
  }
  /// Largest difference of x from the reference, relative to its largest value.
  PetscReal difference(const std::vector<PetscScalar> &expected) const
  {
    const auto found = all(x);
    PetscReal  off = 0, size = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const PetscReal d = PetscAbsScalar(found[i] - expected[i]);
      off               = d <= off ? off : d; // NaN stays
      size              = std::max(size, PetscAbsScalar(expected[i]));
    }
    return off / size;
  }
};

/// Bound of differences from a reference.
inline constexpr PetscReal color_rounding = 2000 * PETSC_MACHINE_EPSILON;

inline std::string view_of(PC pc)
{
  return printed([pc](PetscViewer viewer) { PCView(pc, viewer); });
}

/// Tests of PC multicolor.
class MulticolorTest : public Petsc {
protected:
  /// Starts Kokkos by a first set-up, because references use it.
  void SetUp() override
  {
    Petsc::SetUp();
    const Grid   grid({8}, {1});
    MulticolorPC m(grid.A, grid.da);
    OK(PCSetUp(m.pc));
  }
};

class PCMulticolorUse : public MulticolorTest { };

} // namespace test
