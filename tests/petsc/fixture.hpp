// SPDX-License-Identifier: BSD-2-Clause
/// @file fixture.hpp  Matrices, solves and error texts for the tests of PETSc objects. Types follow the
///   options -mat_type, -vec_type, -dm_mat_type and -dm_vec_type.
#pragma once

#include <ribbon_petsc/ribbon.h>

#include <petscdmda.h>
#include <petscksp.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

/// A PETSc call that must succeed.
#define OK(call) ASSERT_EQ(static_cast<int>(call), 0) << last_error()

namespace test {

/// A factor that is complex in complex PETSc.
#if defined(PETSC_USE_COMPLEX)
inline const PetscScalar turned(1, 0.3);
#else
inline constexpr PetscScalar turned = 1;
#endif

/// Whether Grid multiplies its entries by phases in complex PETSc. Without phases, the null vectors of its
/// singular lines are the constants.
inline bool &phases()
{
  static bool on = true;
  return on;
}

/// Makes Grid real for the lifetime of the object.
struct WithoutPhases {
  WithoutPhases() { phases() = false; }
  ~WithoutPhases() { phases() = true; }
  WithoutPhases(const WithoutPhases &)            = delete;
  WithoutPhases &operator=(const WithoutPhases &) = delete;
};

/// exp(2 pi i step / n), 1 where PETSc is real.
inline PetscScalar phase([[maybe_unused]] PetscInt step, [[maybe_unused]] PetscInt n)
{
#if defined(PETSC_USE_COMPLEX)
  if (!phases()) return 1;
  return std::polar<PetscReal>(1, 2 * PETSC_PI * static_cast<PetscReal>(step) / static_cast<PetscReal>(n));
#else
  return 1;
#endif
}

/// Text of the error that a PETSc call raised last (its innermost message).
inline std::string &last_error()
{
  static std::string text;
  return text;
}
inline PetscErrorCode keep_error(MPI_Comm, int, const char *, const char *, PetscErrorCode code,
                                 PetscErrorType type, const char *message, void *)
{
  if (type == PETSC_ERROR_INITIAL) last_error() = message ? message : "";
  return code;
}

/// Options of the command line, such as types of matrices and vectors. They hold for every test.
inline std::string &command_line()
{
  static std::string text;
  return text;
}
/// Clears the options of earlier tests, and sets `more`.
inline void reset_options(const char *more = "")
{
  PetscOptionsClear(nullptr);
  PetscOptionsInsertString(nullptr, command_line().c_str());
  PetscOptionsInsertString(nullptr, more);
}

/// Collects errors instead of printing them.
class Petsc : public testing::Test {
protected:
  void SetUp() override
  {
    last_error().clear();
    PetscPushErrorHandler(keep_error, nullptr);
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  }
  void        TearDown() override { PetscPopErrorHandler(); }
  PetscMPIInt ranks = 1, rank = 0;
};

/// A DMDA with its operator sum_d s_d (second difference in direction d) + shift I. Optionally, boundary
/// rows are Dirichlet rows with 1 on the diagonal. In complex PETSc the operator is Q^H A Q for the real A,
/// with Q the diagonal of exp(2 pi i (x / nx + y / ny + z / nz)). It is Hermitian and keeps the spectrum,
/// the singular lines and the equal lines of A. Its transpose is neither A nor A^H.
struct Grid {
  DM  da = nullptr;
  Mat A  = nullptr;

  Grid(std::vector<PetscInt> n, std::vector<PetscReal> strength, PetscReal shift = 1, bool periodic = false,
       std::vector<PetscInt> processes = {}, bool dirichlet = false, PetscInt width = 1)
  {
    const auto           dim = n.size();
    const DMBoundaryType b   = periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    DMDACreate(PETSC_COMM_WORLD, &da);
    DMSetDimension(da, static_cast<PetscInt>(dim));
    n.resize(3, 1), strength.resize(3, 0);
    DMDASetSizes(da, n[0], n[1], n[2]);
    DMDASetBoundaryType(da, b, dim > 1 ? b : DM_BOUNDARY_NONE, dim > 2 ? b : DM_BOUNDARY_NONE);
    DMDASetStencilType(da, DMDA_STENCIL_STAR);
    DMDASetStencilWidth(da, width);
    DMDASetDof(da, 1);
    if (!processes.empty()) {
      processes.resize(3, PETSC_DECIDE);
      DMDASetNumProcs(da, processes[0], processes[1], processes[2]);
    }
    DMSetFromOptions(da);
    DMSetUp(da);
    DMCreateMatrix(da, &A);
    fill(n, strength, shift, periodic, dirichlet, width);
  }
  Grid(const Grid &)            = delete;
  Grid &operator=(const Grid &) = delete;
  ~Grid()
  {
    MatDestroy(&A);
    DMDestroy(&da);
  }

  void fill(std::vector<PetscInt> n, std::vector<PetscReal> strength, PetscReal shift, bool periodic = false,
            bool dirichlet = false, PetscInt width = 1)
  {
    n.resize(3, 1), strength.resize(3, 0);
    PetscInt begin[3], size[3];
    DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
    MatZeroEntries(A);
    for (PetscInt k = begin[2]; k < begin[2] + size[2]; ++k)
      for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
        for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i) {
          const MatStencil row     = {k, j, i, 0};
          const PetscInt   at[3]   = {i, j, k};
          bool             on_edge = false;
          for (int d = 0; d < 3; ++d)
            on_edge = on_edge || (n[static_cast<std::size_t>(d)] > 1 &&
                                  (at[d] == 0 || at[d] == n[static_cast<std::size_t>(d)] - 1));
          PetscScalar diagonal = shift;
          for (std::size_t d = 0; d < 3; ++d) {
            if (n[d] == 1) continue;
            const PetscReal c[3] = {PetscReal(width == 1 ? 2 : 6), PetscReal(width == 1 ? -1 : -4),
                                    PetscReal(width == 1 ? 0 : 1)};
            diagonal += c[0] * strength[d];
            for (PetscInt step = -width; step <= width; ++step) {
              if (step == 0 || (dirichlet && on_edge)) continue;
              MatStencil     column = row;
              const PetscInt to     = at[d] + step;
              if (!periodic && (to < 0 || to >= n[d])) continue;
              (d == 0 ? column.i : d == 1 ? column.j : column.k) = to;
              const PetscScalar v = c[std::abs(step)] * strength[d] * phase(step, n[d]);
              MatSetValuesStencil(A, 1, &row, 1, &column, &v, ADD_VALUES);
            }
          }
          if (dirichlet && on_edge) diagonal = 1;
          MatSetValuesStencil(A, 1, &row, 1, &row, &diagonal, ADD_VALUES);
        }
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }
};

inline bool contains(const std::string &text, const std::string &part)
{
  return text.find(part) != std::string::npos;
}

inline bool is_of_type(Vec v, const char *part)
{
  VecType type;
  VecGetType(v, &type);
  return contains(type, part);
}

inline bool is_on_device(Vec v)
{
  const PetscScalar *a;
  PetscMemType       where = PETSC_MEMTYPE_HOST;
  VecGetArrayReadAndMemType(v, &a, &where);
  VecRestoreArrayReadAndMemType(v, &a);
  return PetscMemTypeDevice(where);
}

/// Tells the KSP not to get operators, right-hand sides and guesses from the DM.
inline PetscErrorCode deactivate_dm(KSP ksp)
{
#if PETSC_VERSION_LT(3, 25, 0)
  return KSPSetDMActive(ksp, PETSC_FALSE);
#else
  return KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE);
#endif
}

/// A matrix without a DM from a function entry(row, column). Rows are split evenly among the ranks, and
/// `stored` defines the pattern.
inline Mat matrix(PetscInt n, const std::function<PetscScalar(PetscInt, PetscInt)> &entry,
                  const std::function<bool(PetscInt, PetscInt)> &stored, PetscInt local = PETSC_DECIDE)
{
  Mat      A;
  PetscInt begin, end;
  MatCreate(PETSC_COMM_WORLD, &A);
  MatSetSizes(A, local, local, n, n);
  MatSetType(A, MATAIJ);
  MatSetFromOptions(A);
  MatSetUp(A);
  MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE);
  MatGetOwnershipRange(A, &begin, &end);
  for (PetscInt r = begin; r < end; ++r)
    for (PetscInt c = 0; c < n; ++c)
      if (stored(r, c)) MatSetValue(A, r, c, entry(r, c), INSERT_VALUES);
  MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  return A;
}

/// ||B - A X|| / ||B||, Frobenius norms. The dense matrices may be in host memory while A is on a device,
/// where it multiplies only vectors of the same type.
inline PetscReal residual(Mat A, Mat B, Mat X)
{
  PetscInt  columns;
  PetscReal left = 0, size = 0, norm;
  Vec       b, x, r;
  MatGetSize(B, nullptr, &columns);
  MatCreateVecs(A, &x, &b);
  VecDuplicate(b, &r);
  for (PetscInt c = 0; c < columns; ++c) {
    MatGetColumnVector(B, b, c);
    MatGetColumnVector(X, x, c);
    MatMult(A, x, r);
    VecAXPY(r, -1, b);
    VecNorm(r, NORM_2, &norm);
    left += norm * norm;
    VecNorm(b, NORM_2, &norm);
    size += norm * norm;
  }
  for (Vec *v : {&b, &x, &r}) VecDestroy(v);
  return PetscSqrtReal(left / size);
}

/// A dense random matrix with columns that A can multiply: on a device if A is there.
inline Mat native_dense(Mat A, PetscInt columns)
{
  PetscInt rows;
  Mat      B;
  MatGetLocalSize(A, &rows, nullptr);
#if PETSC_VERSION_GE(3, 19, 0)
  VecType type;
  MatGetVecType(A, &type);
  MatCreateDenseFromVecType(PETSC_COMM_WORLD, type, rows, PETSC_DECIDE, PETSC_DETERMINE, columns,
                            PETSC_DECIDE, nullptr, &B);
#else
  MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, columns, nullptr, &B);
#endif
  MatSetRandom(B, nullptr);
  return B;
}

/// The text that `print` writes to a viewer. All ranks get it, so that their expectations agree.
inline std::string printed(const std::function<void(PetscViewer)> &print)
{
  std::string text;
  PetscViewer viewer;
  FILE       *file = tmpfile();
  PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer);
  print(viewer);
  PetscViewerFlush(viewer);
  rewind(file);
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) text += static_cast<char>(c);
  PetscViewerDestroy(&viewer);
  fclose(file);
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, PETSC_COMM_WORLD);
  return text;
}

/// ||b - A x|| / ||b||, or with the transpose of A.
inline PetscReal relative_residual(Mat A, Vec b, Vec x, bool transposed = false)
{
  Vec       y, r, rest; // vectors of A's own type; on a device A multiplies no others
  PetscReal norm = -1, size = 1;
  MatCreateVecs(A, &y, &r);
  VecDuplicate(r, &rest);
  VecCopy(x, y);
  VecCopy(b, rest);
  if (transposed) MatMultTranspose(A, y, r);
  else MatMult(A, y, r);
  VecAXPY(rest, -1, r);
  VecNorm(rest, NORM_2, &norm);
  VecNorm(b, NORM_2, &size);
  VecDestroy(&y);
  VecDestroy(&r);
  VecDestroy(&rest);
  return norm / size;
}

/// A PC line for a matrix, and a random right-hand side.
struct Line {
  PC  pc = nullptr;
  Vec b = nullptr, x = nullptr, r = nullptr;

  explicit Line(Mat A, DM da = nullptr)
  {
    PCCreate(PETSC_COMM_WORLD, &pc);
    PCSetType(pc, PCLINE);
    PCSetOperators(pc, A, A);
    if (da) PCSetDM(pc, da);
    vectors(A);
  }
  Line(const Line &)            = delete;
  Line &operator=(const Line &) = delete;
  ~Line()
  {
    VecDestroy(&b), VecDestroy(&x), VecDestroy(&r);
    PCDestroy(&pc);
  }
  void vectors(Mat A)
  {
    PetscRandom random;
    VecDestroy(&b), VecDestroy(&x), VecDestroy(&r);
    MatCreateVecs(A, &x, &b);
    VecDuplicate(b, &r);
    PetscRandomCreate(PETSC_COMM_WORLD, &random);
    PetscRandomSetInterval(random, PetscScalar(-1) - (turned - PetscRealPart(turned)), turned);
    VecSetRandom(b, random);
    PetscRandomDestroy(&random);
  }
  /// ||b - A x|| / ||b|| after one application, transposed or not.
  PetscReal residual(Mat A, bool transposed = false)
  {
    if ((transposed ? PCApplyTranspose(pc, b, x) : PCApply(pc, b, x)) != 0) return PETSC_INFINITY;
    return relative_residual(A, b, x, transposed);
  }
  PetscInt matrices() const
  {
    PetscInt m = -1;
    PCLineGetInfo(pc, nullptr, nullptr, nullptr, &m, nullptr, nullptr);
    return m;
  }
  std::string direction() const
  {
    const char *d = "?";
    PCLineGetInfo(pc, &d, nullptr, nullptr, nullptr, nullptr, nullptr);
    return d;
  }
  std::string view() const
  {
    return printed([this](PetscViewer viewer) { PCView(pc, viewer); });
  }
};

#if defined(PETSC_USE_LOG) && defined(PETSC_HAVE_DEVICE)
/// Applies a PC to device vectors. Only the first application may copy between host and device.
inline void expect_no_bus(const Line &line)
{
  PetscMemType       where;
  const PetscScalar *a;
  OK(PCApply(line.pc, line.b, line.x));
  OK(VecGetArrayReadAndMemType(line.b, &a, &where));
  OK(VecRestoreArrayReadAndMemType(line.b, &a));
  if (PetscMemTypeHost(where)) GTEST_SKIP() << "host vectors";
  const PetscLogDouble down = petsc_gtoc_ct, up = petsc_ctog_ct;
  for (int k = 0; k < 3; ++k) OK(PCApply(line.pc, line.b, line.x));
  EXPECT_EQ(petsc_gtoc_ct, down);
  EXPECT_EQ(petsc_ctog_ct, up);
}
#endif

inline PCFailedReason failed_reason(PC pc)
{
  PCFailedReason reason;
  PCGetFailedReason(pc, &reason);
  return reason;
}

} // namespace test
