// SPDX-License-Identifier: BSD-2-Clause
static char help[] = "Studies of the Cahn-Hilliard equation on batches of rings, with kernels of Ribbon:\n\
  C_t = (C^3 - C - gamma C_xx)_xx + v C_x + f cos(2 pi w x / l), in the frame of a wave of speed v.\n\
Options:\n\
  -study convergence      errors against grids with twice as many points\n\
  -study coarsening       domain size against time, averaged over many runs\n\
  -study patterns         final states for many means and forcings\n\
  -study evolution        states of a few runs at many times\n\
  -study speed            unknown-steps per second of all algorithms\n\
  -n points -length l -gamma g -dt dt -final_time t -stabilization s\n\
  -mean m[,m'] -forcing f[,f'] -waves w -speed v\n\
  -advection weno|flux|central      explicit WENO5 (Hamilton-Jacobi, or fluxes), or implicit\n\
  -algorithm auto|on_chip|separate|stencil|thomas   kernels of a step\n\
  -form state|increment   A C = ..., or A (C - C_old) = ...\n\
  -conserve bool          weno: restores the means of lines, which Hamilton-Jacobi derivatives change\n\
  -amplitude a -seed k    noise about the mean (convergence: a cosine)\n\
 convergence:\n\
  -grids n,n',... -dt_per_spacing c -extrapolate bool   dt = c h, extrapolated to dt = 0\n\
 coarsening:\n\
  -lengths l,l' -runs r -reports k -first_report t -fit t,t'   -n points on the first length\n\
 patterns, evolution:\n\
  -map M,F -points p      a grid of means and forcings, points of a state on file\n\
  -window t               patterns: time over which the change is measured\n\
  -reports k              evolution: about so many times\n\
 speed:\n\
  -runs r -steps s\n\
  -csv file               rows of the table\n\
  -file file -restart     results of parts of a study, and a run that continues behind them\n\
  -part_lines l -progress s   runs of a part; seconds between two lines of progress (0: none)\n\n";

#include "settings.hpp"

#include "../../petsc_space.hpp"

int main(int argc, char **argv)
{
  Kokkos::ScopeGuard kokkos(argc, argv); // outlives PETSc
  ch_lines::Settings settings;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ch_lines::ReadSettings(PETSC_COMM_WORLD, &settings));
  switch (settings.study) {
  case ch_lines::Study::convergence:
    PetscCall(ch_lines::RunConvergence(PETSC_COMM_WORLD, settings));
    break;
  case ch_lines::Study::coarsening:
    PetscCall(ch_lines::RunCoarsening(PETSC_COMM_WORLD, settings));
    break;
  case ch_lines::Study::patterns:
    PetscCall(ch_lines::RunPatterns(PETSC_COMM_WORLD, settings));
    break;
  case ch_lines::Study::evolution:
    PetscCall(ch_lines::RunEvolution(PETSC_COMM_WORLD, settings));
    break;
  case ch_lines::Study::speed:
    PetscCall(ch_lines::RunSpeed(PETSC_COMM_WORLD, settings));
    break;
  }
  PetscCall(PetscFinalize());
  return 0;
}
