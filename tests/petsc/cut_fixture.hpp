// SPDX-License-Identifier: BSD-2-Clause
// Grids with distributed lines for any partition, solved along one direction on all ranks and on one.
#pragma once

#include "fixture.hpp"
#include "fuzz_draw.hpp"

#include <algorithm>

namespace test {

/// A grid that couples in all directions, most strongly along one. Its entries do not depend on the
/// partition.
struct CutCase {
  PetscInt dim = 1, n[3] = {1, 1, 1}, along = 0, dof = 1, width = 1;
  PetscInt matrices = 1; ///< number of different matrices; 0: one per line
  bool     periodic = false;
  /// penalty: factor of the first row of each line and of its right-hand side
  double strength = 1, shift = 1, penalty = 1;
  /// factor of every seventh column along the lines; solutions are multiplied by it, too
  double                seventh = 1;
  std::vector<PetscInt> split[3]; ///< rows of the ranks
  std::string           options;

  std::string what(bool transposed) const
  {
    std::string text = std::to_string(dim) + "D along " + "xyz"[along] + ", width " + std::to_string(width) +
                       ", dof " + std::to_string(dof) + (periodic ? ", periodic" : "") +
                       (transposed ? ", transposed" : "") + ", " + options;
    for (PetscInt d = 0; d < dim; ++d)
      for (std::size_t p = 0; p < split[d].size(); ++p)
        text += (p ? " " : "; ") + std::to_string(split[d][p]);
    return text;
  }
};

/// A CutCase on some ranks, with PC line.
struct CutCaseSolver {
  const CutCase &c;
  DM             da;
  Mat            A;
  PC             pc;
  Vec            b, x;

  CutCaseSolver(const CutCase &of, MPI_Comm comm) : c(of)
  {
    const bool            alone = comm == PETSC_COMM_SELF;
    const DMBoundaryType  edge  = c.periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    const PCLineDirection direction =
      static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + static_cast<int>(c.along));
    const auto   pieces = [&](int d) { return alone || d >= c.dim ? nullptr : c.split[d].data(); };
    const auto   ranks  = [&](int d) { return alone ? 1 : static_cast<PetscInt>(c.split[d].size()); };
    PetscOptions options;
    DMDACreate(comm, &da);
    DMSetDimension(da, c.dim);
    DMDASetSizes(da, c.n[0], c.n[1], c.n[2]);
    DMDASetNumProcs(da, ranks(0), ranks(1), ranks(2));
    DMDASetBoundaryType(da, edge, c.dim > 1 ? edge : DM_BOUNDARY_NONE, c.dim > 2 ? edge : DM_BOUNDARY_NONE);
    DMDASetStencilType(da, DMDA_STENCIL_STAR);
    DMDASetStencilWidth(da, c.width);
    DMDASetDof(da, c.dof);
    DMDASetOwnershipRanges(da, pieces(0), pieces(1), pieces(2));
    DMSetFromOptions(da);
    DMSetUp(da);
    DMCreateMatrix(da, &A);
    fill();
    MatCreateVecs(A, &x, &b);
    PCCreate(comm, &pc);
    PCSetType(pc, PCLINE);
    PCSetOperators(pc, A, A);
    PCSetDM(pc, da);
    PetscOptionsCreate(&options);
    PetscOptionsInsertString(options, c.options.c_str());
    PetscObjectSetOptions((PetscObject)pc, options);
    PCSetFromOptions(pc);
    PetscObjectSetOptions((PetscObject)pc, nullptr);
    PetscOptionsDestroy(&options);
    PCLineSetDirection(pc, direction);
  }
  CutCaseSolver(const CutCaseSolver &)            = delete;
  CutCaseSolver &operator=(const CutCaseSolver &) = delete;
  ~CutCaseSolver()
  {
    PCDestroy(&pc);
    VecDestroy(&b), VecDestroy(&x);
    MatDestroy(&A);
    DMDestroy(&da);
  }

  PetscInt number(const PetscInt (&at)[3]) const { return (at[2] * c.n[1] + at[1]) * c.n[0] + at[0]; }

  void fill() const
  {
    each_point([&](const PetscInt(&at)[3]) {
      for (PetscInt r = 0; r < c.dof; ++r) {
        const MatStencil row = {at[2], at[1], at[0], r};
        const PetscInt   of  = c.matrices == 0
                                 ? number(at)
                                 : at[c.along] * c.matrices + (at[0] + at[1] + at[2] - at[c.along]) % c.matrices;
        double           sum = 0;
        for (PetscInt d = 0; d < c.dim; ++d)
          for (PetscInt step = -c.width; step <= c.width; ++step)
            for (PetscInt k = 0; k < c.dof; ++k) {
              PetscInt to[3] = {at[0], at[1], at[2]};
              to[d] += step;
              if (step == 0 || (!c.periodic && (to[d] < 0 || to[d] >= c.n[d]))) continue;
              const MatStencil column = {to[2], to[1], to[0], k};
              PetscScalar      value  = (d == c.along ? c.strength : 0.1) *
                                  (1.3 + Draw::noise(3, of, (d * 5 + step + 2) * 9 + r * 3 + k)) *
                                  (k == r ? -1 : 0.1) * turned * scale(at);
              sum += d == c.along ? PetscAbsScalar(value) / scale(at) : 0;
              value *= column_scale(to);
              MatSetValuesStencil(A, 1, &row, 1, &column, &value, INSERT_VALUES);
            }
        const PetscScalar diagonal = (sum + c.shift) * scale(at) * column_scale(at);
        MatSetValuesStencil(A, 1, &row, 1, &row, &diagonal, INSERT_VALUES);
      }
    });
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
  }
  void each_point(const std::function<void(const PetscInt (&)[3])> &f) const
  {
    PetscInt begin[3], size[3];
    DMDAGetCorners(da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
    for (PetscInt k = begin[2]; k < begin[2] + size[2]; ++k)
      for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
        for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i) f({i, j, k});
  }

  double scale(const PetscInt (&at)[3]) const { return at[c.along] ? 1 : c.penalty; }
  double column_scale(const PetscInt (&at)[3]) const
  {
    return (at[c.along] + c.n[c.along]) % c.n[c.along] % 7 == 3 ? c.seventh : 1;
  }
  PetscScalar given(const PetscInt (&at)[3], PetscInt component, int column) const
  {
    return scale(at) * turned * Draw::noise(7 + static_cast<std::uint64_t>(column), number(at), component);
  }
  /// M b or M^T b in natural numbering, with zeros for the rows of other ranks. In place, b and x share an
  /// array. Kokkos vectors are excepted, because PETSc leaves them invalid after that.
  std::vector<PetscScalar> apply(bool transposed, bool in_place = false)
  {
    in_place = in_place && !is_of_type(x, "kokkos");
    std::vector<PetscScalar> answer(static_cast<std::size_t>(c.n[0] * c.n[1] * c.n[2] * c.dof), 0);
    PetscScalar             *array;
    std::size_t              k = 0;
    VecGetArray(b, &array);
    each_point([&](const PetscInt(&at)[3]) {
      for (PetscInt r = 0; r < c.dof; ++r) array[k++] = given(at, r, 0);
    });
    VecRestoreArray(b, &array);
    if (in_place) {
      VecGetArray(b, &array);
      VecPlaceArray(x, array);
      VecRestoreArray(b, &array);
    } else VecSet(x, NAN);
    EXPECT_EQ(static_cast<int>(transposed ? PCApplyTranspose(pc, b, x) : PCApply(pc, b, x)), 0)
      << last_error();
    VecGetArray(x, &array), k = 0;
    each_point([&](const PetscInt(&at)[3]) {
      for (PetscInt r = 0; r < c.dof; ++r)
        answer[static_cast<std::size_t>(number(at) * c.dof + r)] = array[k++] * column_scale(at);
    });
    VecRestoreArray(x, &array);
    if (in_place) VecResetArray(x);
    return answer;
  }
  /// Largest difference between the columns of PCMatApply() and the results of PCApply().
  PetscReal columns_differ() const
  {
    PetscInt  rows;
    Mat       B, X;
    PetscReal most = 0;
    VecGetLocalSize(b, &rows);
    MatCreateDense(PetscObjectComm((PetscObject)A), rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, &B);
    MatSetRandom(B, nullptr);
    MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X);
    EXPECT_EQ(static_cast<int>(PCMatApply(pc, B, X)), 0) << last_error();
    for (PetscInt column = 0; column < 3; ++column) {
      PetscReal difference, size;
      Vec       of_all;
      MatGetColumnVector(B, b, column);
      PCApply(pc, b, x);
      VecNorm(x, NORM_INFINITY, &size);
      VecDuplicate(x, &of_all);
      MatGetColumnVector(X, of_all, column);
      VecAXPY(of_all, -1, x);
      VecNorm(of_all, NORM_INFINITY, &difference);
      VecDestroy(&of_all);
      most = std::max(most, difference / size);
    }
    MatDestroy(&B), MatDestroy(&X);
    return most;
  }
};

/// Largest difference between the solutions of both solvers, relative to the largest entry. Both solvers
/// need the same case.
inline PetscReal answers_differ(CutCaseSolver *cut, CutCaseSolver *whole, bool transposed,
                                bool in_place = false)
{
  std::vector<PetscScalar> found = cut->apply(transposed, in_place);
  const auto               right = whole->apply(transposed);
  PetscReal                size = 0, most = 0;
  MPI_Allreduce(MPI_IN_PLACE, found.data(), static_cast<int>(found.size()), MPIU_SCALAR, MPIU_SUM,
                PETSC_COMM_WORLD);
  for (std::size_t k = 0; k < right.size(); ++k)
    size = std::max(size, PetscAbsScalar(right[k])),
    most = std::max(most, PetscIsNanScalar(found[k]) ? PETSC_INFINITY : PetscAbsScalar(right[k] - found[k]));
  return most / size;
}

} // namespace test
