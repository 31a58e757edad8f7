// SPDX-License-Identifier: BSD-2-Clause
/// @file fused_steps.hpp  Runs of TS adi with fused steps next to ordinary ones.
#pragma once

#include "linear_problem.hpp"

#include <Kokkos_Core.hpp>

#include <functional>

namespace test {

class TSADIFused : public Petsc {
  const WithoutPhases real;
};

/// Counts calls of LineStepper while it lives: each ends with a test of the values.
class Calls {
public:
  Calls()
  {
    count() = 0;
    Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(
      [](const char *label, std::uint32_t, std::uint64_t *) {
        if (std::string(label) == "ribbon::steps::finite") ++count();
      });
  }
  ~Calls() { Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr); }
  Calls(const Calls &)                 = delete;
  Calls      &operator=(const Calls &) = delete;
  static int &count()
  {
    static int calls = 0;
    return calls;
  }
};

/// Lines of one rank.
inline std::vector<PetscInt> whole(const LinearProblem &p, PetscMPIInt ranks)
{
  return p.along == 0 ? std::vector<PetscInt>{1, ranks} : std::vector<PetscInt>{ranks, 1};
}

/// Runs a problem with ordinary steps and with fused ones, and expects the same results.
inline void expect_same(const LinearProblem &p, TSADIType type, PetscMPIInt ranks, PetscInt fuse, int calls,
                        const std::function<PetscErrorCode(LinearTS &)> &run)
{
  const PetscReal   tolerance = 2000 * PETSC_MACHINE_EPSILON;
  LinearTS          ordinary(p, type, 0, whole(p, ranks)), fused(p, type, fuse, whole(p, ranks));
  TSConvergedReason reasons[2];
  PetscReal         before[2], size[2];
  PetscInt          solves[2];
  OK(run(ordinary));
  EXPECT_TRUE(contains(ordinary.view(), "steps are not fused: -ts_adi_fuse_steps is 0"));
  {
    const Calls counted;
    OK(run(fused));
    EXPECT_EQ(Calls::count(), calls) << fused.view();
  }
  EXPECT_TRUE(contains(fused.view(), "steps are fused: up to ")) << fused.view();
  EXPECT_LT(distance(fused.u, ordinary.u), tolerance) << TSADITypes[type];
  EXPECT_EQ(fused.steps(), ordinary.steps());
  EXPECT_EQ(fused.time(), ordinary.time()); // exactly
  const LinearTS *both[2] = {&ordinary, &fused};
  for (int k = 0; k < 2; ++k) {
    OK(TSGetConvergedReason(both[k]->ts, &reasons[k]));
    OK(TSGetPrevTime(both[k]->ts, &before[k]));
    OK(TSGetTimeStep(both[k]->ts, &size[k]));
    OK(TSGetKSPIterations(both[k]->ts, &solves[k]));
  }
  EXPECT_EQ(reasons[0], reasons[1]);
  EXPECT_EQ(before[0], before[1]);
  EXPECT_EQ(size[0], size[1]);
  EXPECT_EQ(solves[0], (type == TS_ADI_DOUGLAS ? 1 : 2) * solves[1]); // of an ordinary step: 1, or 2
}

inline PetscErrorCode solve(LinearTS &run)
{
  return TSSolve(run.ts, run.u);
}

} // namespace test
