// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_fixture.hpp  Random chains as PETSc matrices of any type and partition, their factors, and
///   the errors of their solutions.
#pragma once

#include "fixture.hpp"
#include "fuzz_draw.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

namespace test {

class Multifrontal : public Petsc { };
class MultifrontalPivot : public Petsc { };
class MultifrontalScales : public Petsc { };

enum class Values { dominant, symmetric, hermitian, random, wave, splines };

/// `chains` banded matrices of n rows, one after another, open or periodic. Rows are in the order of the
/// chain or in a random order.
struct RandomChain {
  PetscInt              n, kl, ku;
  bool                  ring   = false;
  PetscInt              chains = 1;
  Values                values = Values::dominant;
  std::uint64_t         seed   = 1;
  std::vector<PetscInt> row_of = {}; ///< row of each place in the chain; empty: the place itself

  PetscInt rows() const { return n * chains; }

  /// @param block  number of rows that stay consecutive
  RandomChain &shuffle(PetscInt block = 1)
  {
    Draw                  draw(seed);
    std::vector<PetscInt> order(static_cast<std::size_t>(rows() / block));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t k = order.size(); k > 1; --k)
      std::swap(order[k - 1], order[static_cast<std::size_t>(draw.below(static_cast<PetscInt>(k)))]);
    row_of.clear();
    for (PetscInt first : order)
      for (PetscInt k = 0; k < block; ++k) row_of.push_back(first * block + k);
    return *this;
  }
  /// The entry d columns to the right of the diagonal, in the row of this place.
  PetscScalar entry(PetscInt place, PetscInt d) const
  {
    // -u'' - k^2 u
    if (values == Values::wave) return d == 0 ? 2 - 0.81 : std::abs(d) == 1 ? -1. : 0.;
    // -u'', quadratic splines
    if (values == Values::splines)
      return d == 0 ? 1. : std::abs(d) == 1 ? -1. / 3 : std::abs(d) == 2 ? -1. / 6 : 0.;
    const PetscInt first = place / n * n, mirrored = first + (place - first + d + n) % n;
    if (values == Values::hermitian && d < 0) return PetscConj(entry(mirrored, -d));
    if (values == Values::symmetric && d < 0) place = mirrored, d = -d;
    const PetscScalar a = static_cast<PetscReal>(Draw::noise(seed, place, d)) +
                          (turned - PetscScalar(1)) * static_cast<PetscReal>(Draw::noise(seed + 1, place, d));
    if (values == Values::hermitian && d == 0) return PetscRealPart(a) + static_cast<PetscReal>(kl + ku + 1);
    return values != Values::random && d == 0 ? a + static_cast<PetscReal>(kl + ku + 1) : a;
  }
  /// Sets the entries of the rows of this rank.
  void fill(Mat A) const
  {
    PetscInt begin, end;
    MatGetOwnershipRange(A, &begin, &end);
    for (PetscInt place = 0; place < rows(); ++place) {
      const PetscInt r     = row_of.empty() ? place : row_of[static_cast<std::size_t>(place)],
                     first = place / n * n;
      for (PetscInt d = -kl; d <= ku && r >= begin && r < end; ++d) {
        PetscInt to = place - first + d;
        if (ring) to = (to + n) % n;
        if (to < 0 || to >= n) continue;
        MatSetValue(A, r, row_of.empty() ? first + to : row_of[static_cast<std::size_t>(first + to)],
                    entry(place, d), INSERT_VALUES);
      }
    }
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }
  /// AIJ matrices get their type from the options.
  /// @param local  rows of this rank
  Mat matrix(PetscInt local = PETSC_DECIDE, MatType type = MATAIJ, PetscInt block = 1) const
  {
    Mat A;
    MatCreate(PETSC_COMM_WORLD, &A);
    MatSetSizes(A, local, local, rows(), rows());
    MatSetBlockSize(A, block);
    MatSetType(A, type);
    if (std::string(type) == MATAIJ) MatSetFromOptions(A);
    MatSetUp(A);
    MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
    if (std::string(type) == MATSBAIJ) MatSetOption(A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE);
    fill(A);
    return A;
  }
};

inline std::string name(const RandomChain &c)
{
  return std::to_string(c.chains) + (c.ring ? " rings of " : " chains of ") + std::to_string(c.n) +
         " rows, kl " + std::to_string(c.kl) + " ku " + std::to_string(c.ku) + ", values " +
         std::to_string(static_cast<int>(c.values)) + (c.row_of.empty() ? "" : ", shuffled");
}

/// ||b - A x|| / (||A|| ||x|| + ||b||) in maximum norms, of A or of its transpose.
inline PetscReal backward_error(Mat A, Vec x, Vec b, bool transposed = false)
{
  PetscReal as, xs, bs, rs;
  Vec       r;
  VecDuplicate(b, &r);
  if (transposed) MatMultTranspose(A, x, r);
  else MatMult(A, x, r);
  VecAXPY(r, -1, b);
  MatNorm(A, transposed ? NORM_1 : NORM_INFINITY, &as);
  VecNorm(x, NORM_INFINITY, &xs);
  VecNorm(b, NORM_INFINITY, &bs);
  VecNorm(r, NORM_INFINITY, &rs);
  VecDestroy(&r);
  return rs == 0 ? 0 : rs / (as * xs + bs);
}
inline constexpr PetscReal rounding = 45 * PETSC_MACHINE_EPSILON; ///< 1e-14 in double
/// Tests of units need the range of exponents of double.
inline constexpr bool is_double = sizeof(PetscReal) == 8;

inline Vec random_vector(Mat A)
{
  Vec b;
  MatCreateVecs(A, nullptr, &b);
  VecSetRandom(b, nullptr);
  return b;
}

/// Number of local entries of v that are Inf or NaN.
inline PetscInt not_finite(Vec v)
{
  const PetscScalar *numbers;
  PetscInt           n, found = 0;
  VecGetLocalSize(v, &n);
  VecGetArrayRead(v, &numbers);
  for (PetscInt i = 0; i < n; ++i) found += PetscIsInfOrNanScalar(numbers[i]) ? 1 : 0;
  VecRestoreArrayRead(v, &numbers);
  return found;
}

inline PetscInt local_rows(Mat A)
{
  PetscInt rows;
  MatGetLocalSize(A, &rows, nullptr);
  return rows;
}

/// Solves for b with the factors F of A and with those of the transpose. On return x is the solution of the
/// transposed system.
inline void expect_solves(Mat F, Mat A, Vec b, Vec x)
{
  OK(MatSolve(F, b, x));
  EXPECT_LE(backward_error(A, x, b), rounding);
  OK(MatSolveTranspose(F, b, x));
  EXPECT_LE(backward_error(A, x, b, true), rounding) << "transposed";
}

/// Compares every column of A X with its column of B. On a device A multiplies only vectors of its type.
inline void expect_solved(Mat A, Mat B, Mat X, PetscInt columns, bool transposed)
{
  Vec b, x;
  OK(MatCreateVecs(A, &x, &b));
  for (PetscInt c = 0; c < columns; ++c) {
    OK(MatGetColumnVector(B, b, c));
    OK(MatGetColumnVector(X, x, c));
    EXPECT_LE(backward_error(A, x, b, transposed), rounding) << "column " << c << " of " << columns;
  }
  OK(VecDestroy(&b));
  OK(VecDestroy(&x));
}

/// A dense random matrix, on the device for cuda vectors, otherwise in host memory. In host memory `gap`
/// rows separate its columns. Kokkos types use host memory because PETSc's dense Kokkos matrices read
/// columns that do not exist.
inline Mat dense(Mat A, PetscInt columns, PetscInt gap)
{
  const PetscInt rows = local_rows(A);
  VecType        type;
  Mat            B;
  MatGetVecType(A, &type);
  const bool on_device = contains(type, "cuda");
  MatCreate(PETSC_COMM_WORLD, &B);
  MatSetSizes(B, rows, PETSC_DECIDE, PETSC_DETERMINE, columns);
  MatSetType(B, on_device ? "densecuda" : MATDENSE);
  if (!on_device) MatDenseSetLDA(B, rows + gap);
  MatSetUp(B);
  MatSetRandom(B, nullptr);
  MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY);
  return B;
}

/// Sets an option for the lifetime of the object.
struct Option {
  std::string name;
  Option(const std::string &n, const std::string &value) : name(n)
  {
    PetscOptionsSetValue(nullptr, name.c_str(), value.c_str());
  }
  Option(const Option &)            = delete;
  Option &operator=(const Option &) = delete;
  ~Option() { PetscOptionsClearValue(nullptr, name.c_str()); }
};

/// A KSP that gets its solver type from options with the prefix chain_.
struct ByOptions {
  Option type{"-chain_ksp_type", "preonly"}, pc, package{"-chain_pc_factor_mat_solver_type", "multifrontal"};
  KSP    ksp = nullptr;

  explicit ByOptions(Mat A, const std::string &factorization = "lu") : pc("-chain_pc_type", factorization)
  {
    KSPCreate(PETSC_COMM_WORLD, &ksp);
    KSPSetOptionsPrefix(ksp, "chain_");
    KSPSetOperators(ksp, A, A);
    KSPSetFromOptions(ksp);
  }
  ~ByOptions() { KSPDestroy(&ksp); }
  /// Backward error of a solve. Above `rounding` it prints the number of entries of b and x that are not
  /// finite. `twin` is an AIJ matrix with the entries of A.
  PetscReal error(Mat twin, bool transposed = false) const
  {
    Vec       b = random_vector(twin), x;
    PetscReal e = PETSC_INFINITY;
    VecDuplicate(b, &x);
    VecSet(x, 1); // changes x, so that no rank keeps a stored norm of it
    if ((transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x)) == 0)
      e = backward_error(twin, x, b, transposed);
    else ADD_FAILURE() << last_error();
    if (!(e <= rounding))
      std::cout << "rank " << PetscGlobalRank << ", not finite: " << not_finite(b) << " of b, "
                << not_finite(x) << " of x\n";
    VecDestroy(&b);
    VecDestroy(&x);
    return e;
  }
  /// The reason with which a solve for a random right-hand side ends.
  KSPConvergedReason reason(Mat A) const
  {
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    Vec                b      = random_vector(A), x;
    VecDuplicate(b, &x);
    EXPECT_EQ(KSPSolve(ksp, b, x), 0) << last_error();
    KSPGetConvergedReason(ksp, &reason);
    VecDestroy(&b);
    VecDestroy(&x);
    return reason;
  }
  Mat factor() const
  {
    PC  pc_of;
    Mat F = nullptr;
    KSPGetPC(ksp, &pc_of);
    PCFactorGetMatrix(pc_of, &F);
    return F;
  }
};

/// The factors without a KSP.
struct Factored {
  Mat           F = nullptr;
  MatFactorInfo info;
  explicit Factored(Mat A, MatFactorType type = MAT_FACTOR_LU)
  {
    MatFactorInfoInitialize(&info);
    MatGetFactor(A, MATSOLVERMULTIFRONTAL, type, &F);
  }
  Factored(const Factored &)            = delete;
  Factored &operator=(const Factored &) = delete;
  ~Factored() { MatDestroy(&F); }
  PetscErrorCode symbolic(Mat A)
  {
    return is_lu() ? MatLUFactorSymbolic(F, A, nullptr, nullptr, &info)
                   : MatCholeskyFactorSymbolic(F, A, nullptr, &info);
  }
  PetscErrorCode numeric(Mat A)
  {
    return is_lu() ? MatLUFactorNumeric(F, A, &info) : MatCholeskyFactorNumeric(F, A, &info);
  }
  bool is_lu() const
  {
    MatFactorType type;
    MatGetFactorType(F, &type);
    return type == MAT_FACTOR_LU;
  }
};

/// The text of an error that all ranks raise with the same text. Empty if a rank raises no error or another
/// one.
inline std::string error_of(const std::function<PetscErrorCode()> &call)
{
  last_error().clear();
  char       mine[600] = {}, first[600];
  const bool failed    = call() != 0;
  last_error().copy(mine, sizeof mine - 1);
  std::copy(mine, mine + sizeof mine, first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, PETSC_COMM_WORLD);
  int alike = failed && std::equal(mine, mine + sizeof mine, first);
  MPI_Allreduce(MPI_IN_PLACE, &alike, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  return alike ? first : "";
}

/// A vector with the layout of A and the entries entry(i).
inline Vec vector_of(Mat A, const std::function<PetscScalar(PetscInt)> &entry)
{
  Vec      v;
  PetscInt first, end;
  MatCreateVecs(A, nullptr, &v);
  VecGetOwnershipRange(v, &first, &end);
  for (PetscInt i = first; i < end; ++i) VecSetValue(v, i, entry(i), INSERT_VALUES);
  VecAssemblyBegin(v);
  VecAssemblyEnd(v);
  return v;
}
/// Largest |x_i / y_i - 1|.
inline PetscReal componentwise(Vec x, Vec y)
{
  Vec       q;
  PetscReal e, sum;
  VecDuplicate(x, &q);
  VecPointwiseDivide(q, x, y);
  VecShift(q, -1);
  VecNorm(q, NORM_INFINITY, &e);
  VecNorm(q, NORM_1, &sum); // The maximum would drop NaN.
  VecDestroy(&q);
  return PetscIsInfOrNanReal(sum) ? PETSC_INFINITY : e;
}
inline std::string view_of(Mat F)
{
  return printed([&](PetscViewer viewer) {
    PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO);
    return MatView(F, viewer);
  });
}

} // namespace test
