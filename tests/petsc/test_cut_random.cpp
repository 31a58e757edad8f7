// SPDX-License-Identifier: BSD-2-Clause
// Lines that random partitions cut: answers are those of one rank.
//   RIBBON_PETSC_FUZZ_SEED=S  others than those of every day
#include "fixture.hpp"
#include "fuzz_draw.hpp"

#include <algorithm>

using namespace test;

namespace {

/// A grid that couples in all directions, most along one; the same numbers whatever the partition.
struct Case {
  PetscInt              dim, n[3] = {1, 1, 1}, along, dof, width;
  bool                  periodic, one_matrix;
  double                strength, shift;
  std::vector<PetscInt> split[3]; ///< sizes of the pieces
  std::string           options;

  Case(Draw *draw, PetscMPIInt ranks)
  {
    const char *const cuts[] = {"auto", "exact"}, *const exchanges[] = {"auto", "every_rank", "dealt_out", "groups"};
    PetscInt left = ranks, processes[3] = {1, 1, 1};
    dim = draw->between(1, 3), along = draw->below(dim), dof = draw->between(1, 3), width = dof > 1 ? 1 : draw->between(1, 2), periodic = draw->one_in(2), one_matrix = draw->one_in(2);
    strength = draw->of<double>({0.2, 3, 20}), shift = draw->of<double>({0.5, 5});
    for (PetscInt d = dim - 1; d > 0; --d) {
      do processes[d] = draw->between(1, left);
      while (left % processes[d]);
      left /= processes[d];
    }
    processes[0] = left;
    if (draw->one_in(2)) std::swap(processes[0], processes[along]); // more cuts along the lines
    for (PetscInt d = 0; d < 3; ++d) {
      const PetscInt most = d >= dim ? 0 : d == along ? 12 : 3, least = processes[d] > 1 || periodic ? width : 1; // PETSc's
      for (PetscInt p = 0; p < processes[d]; ++p) split[d].push_back(d >= dim ? 1 : draw->one_in(3) ? least : least + draw->below(most));
      n[d] = 0;
      for (PetscInt size : split[d]) n[d] += size;
      if (d < dim && n[d] < 2 * width + 1) n[d] = split[d][0] += 2 * width + 1, n[d] = 0;
      if (n[d] == 0)
        for (PetscInt size : split[d]) n[d] += size;
    }
    options = "-pc_line_cut " + std::string(cuts[draw->below(2)]) + " -pc_line_cut_exchange " + exchanges[draw->below(4)] + " -pc_line_cut_parts " + std::to_string(draw->between(1, 3));
  }
  std::string what(bool transposed) const
  {
    std::string text =
      std::to_string(dim) + "D along " + "xyz"[along] + ", width " + std::to_string(width) + ", dof " + std::to_string(dof) + (periodic ? ", periodic" : "") + (transposed ? ", transposed" : "") + ", " + options;
    for (PetscInt d = 0; d < dim; ++d)
      for (std::size_t p = 0; p < split[d].size(); ++p) text += (p ? " " : "; ") + std::to_string(split[d][p]);
    return text;
  }
};

/// That grid on some ranks, with PC line.
struct Solver {
  const Case &c;
  DM          da;
  Mat         A;
  PC          pc;
  Vec         b, x;

  Solver(const Case &of, MPI_Comm comm) : c(of)
  {
    const bool            alone     = comm == PETSC_COMM_SELF;
    const DMBoundaryType  edge      = c.periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    const PCLineDirection direction = static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + static_cast<int>(c.along));
    const auto            pieces    = [&](int d) { return alone || d >= c.dim ? nullptr : c.split[d].data(); };
    const auto            ranks     = [&](int d) { return alone ? 1 : static_cast<PetscInt>(c.split[d].size()); };
    PetscOptions          options;
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
  Solver(const Solver &)            = delete;
  Solver &operator=(const Solver &) = delete;
  ~Solver()
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
        const PetscInt   of  = c.one_matrix ? at[c.along] : number(at); // lines that agree, or not
        double           sum = 0;
        for (PetscInt d = 0; d < c.dim; ++d)
          for (PetscInt step = -c.width; step <= c.width; ++step)
            for (PetscInt k = 0; k < c.dof; ++k) {
              PetscInt to[3] = {at[0], at[1], at[2]};
              to[d] += step;
              if (step == 0 || (!c.periodic && (to[d] < 0 || to[d] >= c.n[d]))) continue;
              const MatStencil  column = {to[2], to[1], to[0], k};
              const PetscScalar value  = (d == c.along ? c.strength : 0.1) * (1.3 + Draw::noise(3, of, (d * 5 + step + 2) * 9 + r * 3 + k)) * (k == r ? -1 : 0.1) * turned;
              sum += d == c.along ? PetscAbsScalar(value) : 0;
              MatSetValuesStencil(A, 1, &row, 1, &column, &value, INSERT_VALUES);
            }
        const PetscScalar diagonal = sum + c.shift;
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

  PetscScalar given(const PetscInt (&at)[3], PetscInt component, int column) const { return turned * Draw::noise(7 + static_cast<std::uint64_t>(column), number(at), component); }
  /// M b, or M^T b, in natural numbering; zero elsewhere than on this rank.
  std::vector<PetscScalar> apply(bool transposed)
  {
    std::vector<PetscScalar> answer(static_cast<std::size_t>(c.n[0] * c.n[1] * c.n[2] * c.dof), 0);
    PetscScalar             *array;
    std::size_t              k = 0;
    VecGetArray(b, &array);
    each_point([&](const PetscInt(&at)[3]) {
      for (PetscInt r = 0; r < c.dof; ++r) array[k++] = given(at, r, 0);
    });
    VecRestoreArray(b, &array);
    VecSet(x, NAN);
    EXPECT_EQ(static_cast<int>(transposed ? PCApplyTranspose(pc, b, x) : PCApply(pc, b, x)), 0) << last_error();
    VecGetArray(x, &array), k = 0;
    each_point([&](const PetscInt(&at)[3]) {
      for (PetscInt r = 0; r < c.dof; ++r) answer[static_cast<std::size_t>(number(at) * c.dof + r)] = array[k++];
    });
    VecRestoreArray(x, &array);
    return answer;
  }
  /// Largest difference between the columns of PCMatApply() and those of PCApply().
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

class PCLineCutsAtRandom : public Petsc {
protected:
  static std::uint64_t seed()
  {
    const char *given = std::getenv("RIBBON_PETSC_FUZZ_SEED");
    return given ? std::strtoull(given, nullptr, 10) : 20261122;
  }
};

TEST_F(PCLineCutsAtRandom, AnswersAreThoseOfOneRank)
{
  for (std::uint64_t number = 0; number < 30; ++number) {
    Draw       draw(seed() + number);
    const Case c(&draw, ranks);
    Solver     cut(c, PETSC_COMM_WORLD), whole(c, PETSC_COMM_SELF);
    for (bool transposed : {false, true}) {
      std::vector<PetscScalar> found = cut.apply(transposed);
      const auto               right = whole.apply(transposed);
      PetscReal                size = 0, most = 0;
      MPI_Allreduce(MPI_IN_PLACE, found.data(), static_cast<int>(found.size()), MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD);
      for (std::size_t k = 0; k < right.size(); ++k) size = std::max(size, PetscAbsScalar(right[k])), most = std::max(most, PetscIsNanScalar(found[k]) ? PETSC_INFINITY : PetscAbsScalar(right[k] - found[k]));
      EXPECT_LE(most, 10 * static_cast<PetscReal>(c.n[c.along]) * PETSC_MACHINE_EPSILON * size) << "case " << number << ": " << c.what(transposed);
    }
    EXPECT_LE(cut.columns_differ(), 10 * static_cast<PetscReal>(c.n[c.along]) * PETSC_MACHINE_EPSILON) << "case " << number << ": " << c.what(false);
    if (HasFailure()) break; // ranks go on together
  }
}

/// Consecutive rows, of which ranks have many, one or none.
TEST_F(PCLineCutsAtRandom, RowsOfOneLineOverAnyRanks)
{
  for (std::uint64_t number = 0; number < 20; ++number) {
    Draw           draw(seed() + 1000 + number);
    const PetscInt reach = draw.between(1, 3), n = draw.between(2 * reach + 2, 14 * ranks);
    const auto     own  = draw.split(n, ranks, true);
    const bool     ring = draw.one_in(2) && std::none_of(own.begin(), own.end(), [&](PetscInt rows) { return rows > 0 && rows <= reach; }); // rings that couplings cross a whole rank of are not joined
    const auto     away = [&](PetscInt r, PetscInt c) { return ring ? std::min(std::abs(r - c), n - std::abs(r - c)) : std::abs(r - c); };
    Mat            A    = matrix(
                    n, [&](PetscInt r, PetscInt c) { return r == c ? 2.4 * static_cast<double>(reach) : -1 + 0.2 * Draw::noise(number, r, c); }, [&](PetscInt r, PetscInt c) { return away(r, c) <= reach; },
                    own[static_cast<std::size_t>(rank)]);
    {
      Line line(A);
      for (bool transposed : {false, true}) EXPECT_LT(line.residual(A, transposed), 1e-13) << "case " << number << ": " << n << " rows, reach " << reach << (ring ? ", ring" : "") << "\n" << line.view();
    }
    MatDestroy(&A);
    if (HasFailure()) break;
  }
}

} // namespace
