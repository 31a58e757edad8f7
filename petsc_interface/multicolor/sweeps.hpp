// SPDX-License-Identifier: BSD-2-Clause
/// @file sweeps.hpp  The sweeps of PC multicolor on a rank, in the memory of its matrix.
#pragma once

#include "coloring.hpp"

#include <ribbon/multicolor.hpp>

#include <memory>

namespace ribbon::petsc {

/// What an application does.
struct SweepRequest {
  bool                 forward = true, backward = true;
  PetscReal            omega = 1, shift = 0;
  PetscInt             its = 1, lits = 1;
  PCMulticolorColoring coloring = PC_MULTICOLOR_COLORING_AUTO;
  PCMulticolorCut      cut      = PC_MULTICOLOR_CUT_LOCAL;
};

/// Sweeps over the colours of a matrix. All functions are collective.
class ColorSweeps {
public:
  virtual ~ColorSweeps() = default;

  /// Sweeps that keep the matrix where its rows are: on a device, or on the host.
  static PetscErrorCode create(Mat own_block, std::unique_ptr<ColorSweeps> *sweeps);

  /// Colours and copies the open rows. After a report that is not ok nothing may be applied.
  virtual PetscErrorCode set_up(PC pc, UnknownRows *rows, const SweepRequest &request) = 0;
  /// Copies new values of the same pattern. *same: false if the colours may not fit any more.
  virtual PetscErrorCode refresh(bool *same) = 0;
  /// `times` applications one after another to x, which is zero before if `zero`; then it is not read. b and
  /// x are in the memory of the matrix, or on the host.
  virtual PetscErrorCode apply(Vec b, Vec x, PetscInt times, bool zero) = 0;

  /// r = b - A x after an application to x, which it does not change: see MulticolorRelaxation::residual().
  /// *done: false if a vector is not in the memory of the matrix; then nothing was done.
  virtual PetscErrorCode residual(Vec b, Vec x, Vec r, bool *done) = 0;

  const MulticolorReport &report() const { return report_; }
  const ColorsFound      &colors() const { return found_; }
  virtual std::size_t     bytes() const = 0;
  virtual const char     *space() const = 0;
  /// smallest and largest number of unknowns of a colour on this rank
  virtual std::pair<std::int64_t, std::int64_t> sizes_of_colors() const = 0;
  virtual bool                                  on_device() const       = 0;

protected:
  MulticolorReport report_;
  ColorsFound      found_;
};

} // namespace ribbon::petsc
