// SPDX-License-Identifier: BSD-2-Clause
// TS adi: orders on problems with known solutions.
#include "diffusion.hpp"

using namespace test;

namespace {

class TSADIOrder : public Petsc { };

PetscReal error_with(const Diffusion &problem, const char *method, PetscReal dt, NormType norm = NORM_INFINITY)
{
  DiffusionTS run(problem, method);
  run.fixed(dt, 0.5);
  EXPECT_EQ(static_cast<int>(TSSolve(run.ts, run.u)), 0) << last_error();
  return run.error(norm);
}

TEST_F(TSADIOrder, Table)
{
  const char *methods[] = {"hundsdorfer_verwer", "modified_craig_sneyd", "craig_sneyd", "douglas", "peaceman_rachford", "ra34pw2"};
  struct Case {
    const char *name;
    Diffusion   p;
  };
  Case cases[10];
  for (int i = 0; i < 10; ++i) cases[i].name = nullptr;
  int  n   = 0;
  auto add = [&](const char *name) -> Diffusion & {
    cases[n].name = name;
    return cases[n++].p;
  };
  add("dirichlet 2d");
  {
    auto &p    = add("neumann 2d");
    p.boundary = Diffusion::neumann;
  }
  {
    auto &p    = add("rates 2d rhs");
    p.boundary = Diffusion::rates, p.form = Diffusion::rhsfunction;
  }
  {
    auto &p    = add("eliminated 2d rhs");
    p.boundary = Diffusion::eliminated, p.form = Diffusion::rhsfunction;
  }
  {
    auto &p = add("dirichlet 3d");
    p.dim = 3, p.n = 9;
  }
  {
    auto &p = add("dirichlet 1d");
    p.dim = 1, p.n = 33;
  }
  {
    auto &p = add("dirichlet 2d mixed");
    p.mixed = 0.1;
  }
  {
    auto &p = add("dirichlet 2d imex adv react");
    p.form = Diffusion::imex, p.v = 0.2, p.cubic = 1, p.growth = 1;
  }
  {
    auto &p    = add("periodic 2d react");
    p.boundary = Diffusion::periodic, p.cubic = 1, p.growth = 1;
  }
  for (int k = 0; k < n; ++k)
    for (const char *m : methods) {
      if (cases[k].p.dim != 2 && std::string(m) == "peaceman_rachford") continue;
      PetscReal e[4], l[4];
      for (int s = 0; s < 4; ++s) e[s] = error_with(cases[k].p, m, 0.05 / (1 << s)), l[s] = error_with(cases[k].p, m, 0.05 / (1 << s), NORM_2);
      printf("%-28s %-22s max %.1e %.1e %.1e %.1e order %.2f  %.2f   l2 %.1e order %.2f %.2f\n", cases[k].name, m, e[0], e[1], e[2], e[3], std::log2(e[1] / e[2]), std::log2(e[2] / e[3]), l[3], std::log2(l[1] / l[2]),
             std::log2(l[2] / l[3]));
      fflush(stdout);
    }
}

} // namespace
