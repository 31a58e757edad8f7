// SPDX-License-Identifier: BSD-2-Clause
// Directions that are stored as bands, read from the rows of J. Solves equal those with matrices.
#include "adi_bands.hpp"

#include <cmath>
#include <limits>

using namespace test;
using namespace test::adi_bands;

namespace {

class AdiBands : public test::Adi { };

} // namespace

TEST_F(AdiBands, SolveWhatMatricesSolve)
{
  const auto wide = [](const At &, int d, PetscInt o, PetscInt c, PetscInt e) -> PetscScalar {
    return c != e ? 0. : std::abs(o) == 1 ? -4. - d : std::abs(o) == 2 ? 1. : 0.;
  };
  const auto coupled = [](const At &, int, PetscInt o, PetscInt c, PetscInt e) -> PetscScalar {
    return c == e ? (o == 0 ? 0. : -1. - static_cast<PetscReal>(c)) : o == 0 ? 0.25 : 0.;
  };
  const auto along_x = [](const At &, int d, PetscInt o, PetscInt c, PetscInt e) -> PetscScalar {
    return c == e ? (o == 0 ? 0. : -1.) : d == 0 && o == 1 ? 0.125 : 0.;
  };
  for (std::vector<PetscInt> n : {std::vector<PetscInt>{17}, {9, 12}, {8, 9, 10}})
    for (bool periodic : {false, true})
      for (std::size_t cut = 0; cut < n.size(); cut += ranks == 1 ? n.size() : 1) {
        const std::string where = std::to_string(n.size()) + "D" + (periodic ? " periodic" : "") +
                                  " cut along " + std::to_string(cut);
        const auto run = [&](const char *what, PetscInt dof, PetscInt width, const auto &coupling,
                             PetscReal damping) {
          Problem p(n, dof, width, periodic, processes_along(cut));
          p.fill(coupling, damping);
          Both().compare(p, where + ", " + what);
        };
        run("constant", 1, 1, constant, 0);
        run("damped", 1, 1, constant, 1);
        run("growing", 1, 1, constant, -1);
        run("varying", 1, 1, varying, 0.5);
        run("zeros stored", 1, 2, constant, 0);
        run("wide", 1, 2, wide, 1);
        run("two components", 2, 1, constant, 0);
        run(
          "different components", 2, 1,
          [](const At &at, int d, PetscInt o, PetscInt c, PetscInt e) {
            return constant(at, d, o, c, e) * PetscReal(1 + c);
          },
          0);
        run("coupled components", 2, 1, coupled, 1);
        run("components coupled along x", 3, 1, along_x, 1);
      }
}

TEST_F(AdiBands, AlgebraicRowsAndMass)
{
  for (std::vector<PetscInt> n : {std::vector<PetscInt>{9, 12}, {8, 9, 10}})
    for (bool varies : {false, true})
      for (std::size_t cut = 0; cut < n.size(); cut += ranks == 1 ? n.size() : 1) {
        Problem        p(n, 1, 1, false, processes_along(cut));
        PetscInt       begin[3], size[3];
        PetscScalar ***m;
        Both           both;
        OK(DMCreateGlobalVector(p.da, &p.mass));
        OK(DMDAGetCorners(p.da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]));
        const auto is_edge = [&](PetscInt i, PetscInt j, PetscInt k) {
          return i == 0 || i == p.n[0] - 1 || j == 0 || (n.size() > 2 && k == p.n[2] - 1);
        };
        OK(VecSet(p.mass, 2));
        p.fill(constant);
        for (PetscInt k = begin[2]; k < begin[2] + size[2]; ++k)
          for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
            for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i) {
              const MatStencil  row = {k, j, i, 0}, column = {k, j, i == 0 ? 1 : i - 1, 0};
              const PetscScalar own = 2, other = i == 0 || i == p.n[0] - 1 ? -0.5 : 0;
              if (!is_edge(i, j, k)) continue;
              for (std::size_t d = 0; d < n.size(); ++d)
                for (PetscInt o = -1; o <= 1; o += 2) {
                  const MatStencil to = {k + (d == 2 ? o : 0), j + (d == 1 ? o : 0), i + (d == 0 ? o : 0), 0};
                  const PetscScalar zero = 0;
                  if (to.i >= 0 && to.i < p.n[0] && to.j >= 0 && to.j < p.n[1] && to.k >= 0 &&
                      to.k < p.n[2]) {
                    OK(MatSetValuesStencil(p.J, 1, &row, 1, &to, &zero, INSERT_VALUES));
                  }
                }
              OK(MatSetValuesStencil(p.J, 1, &row, 1, &row, &own, INSERT_VALUES));
              // Robin data along x
              if (other != PetscScalar(0)) {
                OK(MatSetValuesStencil(p.J, 1, &row, 1, &column, &other, INSERT_VALUES));
              }
            }
        OK(MatAssemblyBegin(p.J, MAT_FINAL_ASSEMBLY));
        OK(MatAssemblyEnd(p.J, MAT_FINAL_ASSEMBLY));
        PetscScalar **plane;
        if (n.size() > 2) {
          OK(DMDAVecGetArray(p.da, p.mass, &m));
        } else {
          OK(DMDAVecGetArray(p.da, p.mass, &plane));
          m = &plane;
        }
        for (PetscInt k = begin[2]; k < begin[2] + size[2]; ++k)
          for (PetscInt j = begin[1]; j < begin[1] + size[1]; ++j)
            for (PetscInt i = begin[0]; i < begin[0] + size[0]; ++i)
              m[n.size() > 2 ? k : 0][j][i] =
                is_edge(i, j, k) ? 0.
                : varies         ? 1 + 0.5 * std::sin(static_cast<PetscReal>(i + 3 * j + 5 * k))
                                 : 2.;
        if (n.size() > 2) {
          OK(DMDAVecRestoreArray(p.da, p.mass, &m));
        } else {
          OK(DMDAVecRestoreArray(p.da, p.mass, m));
        }
        const std::string what =
          std::to_string(n.size()) + "D, cut along " + std::to_string(cut) + (varies ? ", mass varies" : "");
        both.compare(p, what);
        both.compare(p, what + ", once more", false);
        OK(MatScale(p.J, 1)); // another state
        both.compare(p, what + ", another state", false, 0.125);
        OK(VecScale(p.mass, 2));
        both.compare(p, what + ", another mass");
        Vec       twice, edges; // Equations of the boundary times 2: A_d stay, s_b change.
        PetscReal error;
        OK(VecDuplicate(p.mass, &twice));
        OK(VecSet(twice, 1));
        OK(VecAXPY(twice, 1, both.splitting[0].is_algebraic()));
        OK(MatDiagonalScale(p.J, twice, nullptr));
        both.compare(p, what + ", scaled");
        OK(VecDuplicate(p.mass, &edges));
        OK(VecCopy(both.splitting[0].is_algebraic(), edges));
        for (DirectionSplitting &splitting : both.splitting) {
          OK(VecAXPBYPCZ(twice, 1, -0.25, 0, splitting.algebraic(), edges)); // J_bb is 4
          OK(VecNorm(twice, NORM_INFINITY, &error));
          EXPECT_EQ(error, 0) << what;
        }
        OK(VecDestroy(&edges));
        OK(VecDestroy(&twice));
      }
}

/// Every update checks row by row whether lines share a matrix. One changed entry ends the sharing, and the
/// next change restores it.
TEST_F(AdiBands, EveryChangeIsNoticed)
{
  Problem p({9, 12, 10}, 1, 1, false, processes_along(2));
  Both    both;
  p.fill(constant);
  both.compare(p, "constant");
  both.compare(p, "unchanged", false);
  p.fill(
    [](const At &at, int d, PetscInt o, PetscInt c, PetscInt e) { return 2. * constant(at, d, o, c, e); });
  both.compare(p, "other numbers, that all lines share");
  const auto bent = [](PetscReal by) {
    return [by](const At &at, int d, PetscInt o, PetscInt c, PetscInt e) {
      return constant(at, d, o, c, e) * (at == At{4, 5, 6} && d == 1 ? 1 + by : PetscReal(1));
    };
  };
  p.fill(bent(std::numeric_limits<PetscReal>::epsilon()));
  both.compare(p, "one row differs in the last digit");
  p.fill(bent(std::numeric_limits<PetscReal>::epsilon()));
  both.compare(p, "classes, unchanged", false);
  p.fill(bent(1));
  both.compare(p, "another class");
  p.fill(varying);
  both.compare(p, "a matrix for each line");
  both.compare(p, "a matrix for each line, unchanged", false);
  p.fill([&](const At &at, int d, PetscInt o, PetscInt c, PetscInt e) {
    return varying(at, d, o, c, e) * (at == At{8, 11, 9} && d == 0 ? 1.5 : 1.);
  });
  both.compare(p, "one row of many");
  p.fill(constant);
  both.compare(p, "the same for all again");
}

/// Stored zeros leave bands narrow. One nonzero entry in their place makes the band wide.
TEST_F(AdiBands, BandsGrow)
{
  Problem p({9, 12}, 1, 2, true, processes_along(1));
  Both    both;
  p.fill(constant);
  both.compare(p, "narrow");
  p.fill([](const At &at, int d, PetscInt o, PetscInt c, PetscInt e) -> PetscScalar {
    return std::abs(o) == 2 && d == 1 && at[0] == 7 ? 0.125 : constant(at, d, o, c, e);
  });
  both.compare(p, "wide along y");
  p.fill(varying);
  both.compare(p, "narrow again");
}

TEST_F(AdiBands, WhatIsNotFiniteIsAFailure)
{
  Problem p({9, 12}, 1, 1, false, processes_along(1));
  Both    both;
  p.fill(constant);
  both.compare(p, "finite");
  for (bool per_line : {false, true}) {
    const auto nan = std::numeric_limits<PetscReal>::quiet_NaN();
    if (per_line) p.fill(varying), both.compare(p, "finite, a matrix for each line");
    p.fill([&](const At &at, int d, PetscInt o, PetscInt c, PetscInt e) -> PetscScalar {
      return at == At{4, 5, 0} && d == 0 && o == 1 ? nan
             : per_line                            ? varying(at, d, o, c, e)
                                                   : constant(at, d, o, c, e);
    });
    for (int k = 0; k < 2; ++k) {
      bool changed;
      OK(both.splitting[k].update(p.jacobian(k == 0 ? 0 : 7), &changed));
      EXPECT_TRUE(changed);
      OK(both.factors[k].factor(both.splitting[k], 0.25, nullptr));
      EXPECT_NE(both.factors[k].failure(), PC_NOERROR);
      EXPECT_NE(both.factors[k].failure_sentence(), "");
    }
    p.fill(constant);
    both.compare(p, "finite again");
  }
}

/// An option that needs more than solves along lines makes its direction use a matrix. Other directions
/// keep bands.
TEST_F(AdiBands, OptionsThatNeedAMatrixGetOne)
{
  for (const char *option : {"-adi_y_pc_type jacobi", "-adi_y_pc_line_compare"}) {
    Problem            p({9, 12}, 1, 1, false, processes_along(0));
    DirectionSplitting splitting;
    DirectionFactors   factors;
    unsigned           matrices;
    p.fill(constant);
    OK(PetscOptionsInsertString(nullptr, option));
    OK(factors.axes_of_matrices(PETSC_COMM_WORLD, &matrices));
    EXPECT_EQ(matrices, 2U) << option;
    OK(splitting.update(p.jacobian(matrices), nullptr));
    EXPECT_EQ(splitting.A(0), nullptr) << option;
    ASSERT_NE(splitting.A(1), nullptr) << option;
    OK(factors.factor(splitting, 0.25, nullptr));
    std::string name = option;
    if (const auto space = name.find(' '); space != std::string::npos) name.resize(space);
    OK(PetscOptionsClearValue(nullptr, name.c_str()));
  }
}

/// Options that PC line accepts together with bands.
TEST_F(AdiBands, OptionsOfLines)
{
  for (const char *option : {"-adi_x_pc_line_lhs per_line", "-adi_x_pc_line_lhs classes",
                             "-adi_x_pc_line_lhs shared", "-adi_x_pc_line_lhs_tol 1e-12",
                             "-adi_x_pc_line_algorithm thomas", "-adi_x_pc_line_precision single"}) {
    std::string name = option;
    name.resize(name.find(' '));
    if (name == "-adi_x_pc_line_precision" && !std::is_same_v<PetscScalar, double>) continue;
    // periodic, because the shares of open ends are rounded
    Problem p({9, 12}, 1, 1, true, processes_along(1));
    p.fill(constant);
    OK(PetscOptionsInsertString(nullptr, option));
    Both().compare(p, option);
    OK(PetscOptionsClearValue(nullptr, name.c_str()));
  }
  Problem            p({9, 12}, 1, 1, false, processes_along(1));
  DirectionSplitting splitting;
  DirectionFactors   factors;
  p.fill(varying);
  OK(splitting.update(p.jacobian(0), nullptr));
  OK(PetscOptionsInsertString(nullptr, "-adi_x_pc_line_lhs shared"));
  EXPECT_NE(static_cast<int>(factors.factor(splitting, 0.25, nullptr)), 0);
  EXPECT_EQ(last_error().rfind("PC line: -pc_line_lhs shared, but lines 0 and 1 ", 0), 0U) << last_error();
  OK(PetscOptionsClearValue(nullptr, "-adi_x_pc_line_lhs"));
}
