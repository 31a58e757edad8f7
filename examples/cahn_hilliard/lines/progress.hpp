// SPDX-License-Identifier: BSD-2-Clause
/// @file progress.hpp  Lines of output that say how much of a study is done and when it ends.
#pragma once

#include <petscsys.h>
#include <petsctime.h>

namespace ch_lines {

class Progress {
public:
  /// @param every  seconds between two lines; 0: none
  /// @param all    unknown-steps of the study
  Progress(MPI_Comm comm, double every, double all) : comm_(comm), every_(every), all_(all) { }

  PetscErrorCode begin()
  {
    PetscFunctionBeginUser;
    PetscCall(PetscTime(&begin_));
    last_ = begin_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// What an earlier run has done.
  void skip(double work) { done_ += work, skipped_ += work; }
  /// After work that is complete on the device.
  PetscErrorCode add(double work)
  {
    PetscLogDouble now = 0;

    PetscFunctionBeginUser;
    done_ += work;
    PetscCall(PetscTime(&now));
    if (every_ <= 0 || now - last_ < every_ || done_ >= all_) PetscFunctionReturn(PETSC_SUCCESS);
    last_ = now;
    PetscCall(PetscPrintf(comm_, "progress: %.1f %% in %.0f s, ends in %.0f s\n", 100 * done_ / all_,
                          now - begin_, (all_ - done_) * (now - begin_) / (done_ - skipped_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Time and speed of the whole study. Everything on the device is complete.
  PetscErrorCode end(const char *kernels)
  {
    PetscLogDouble now = 0;
    const double   work = done_ - skipped_;

    PetscFunctionBeginUser;
    PetscCall(PetscTime(&now));
    if (work > 0)
      PetscCall(PetscPrintf(comm_, "%.4g unknown-steps in %.4g s: %.4g unknown-steps/s (%s)\n", work,
                            now - begin_, work / (now - begin_), kernels));
    else PetscCall(PetscPrintf(comm_, "nothing was left to do\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  MPI_Comm       comm_;
  double         every_, all_, done_ = 0, skipped_ = 0;
  PetscLogDouble begin_ = 0, last_ = 0;
};

} // namespace ch_lines
