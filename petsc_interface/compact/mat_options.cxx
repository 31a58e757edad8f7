// SPDX-License-Identifier: BSD-2-Clause
#include "../support/options.hpp"
#include "mat.hpp"

const char *const MatCompactDirections[] = {"x", "y", "z", "MatCompactDirection", "MAT_COMPACT_", nullptr};
const char *const MatCompactStaggereds[] = {
  "none", "forward", "backward", "MatCompactStaggered", "MAT_COMPACT_STAGGERED_", nullptr};

namespace ribbon::petsc {

namespace {

template <auto member>
constexpr auto kept = stored<Mat, member, PrepareAgain>;

const char *NotADerivative(PetscInt derivative)
{
  return derivative >= 0 && derivative <= 2 ? nullptr : "is not 0, 1 or 2";
}
const char *NotAnOrder(PetscInt order)
{
  return order == 4 || order == 6 || order == 8 || order == 10 ? nullptr : "is not 4, 6, 8 or 10";
}
const char *NotAnEnd(PetscInt order)
{
  return order == 3 || order == 4 ? nullptr : "is not 3 or 4";
}
const char *NotAFilter(PetscReal a)
{
  return a >= 0 && a < static_cast<PetscReal>(0.5) ? nullptr : "is not in [0, 1/2)";
}
const char *NotASpacing(PetscReal h)
{
  return h >= 0 && !PetscIsInfOrNanReal(h) ? nullptr : "is negative, or not a finite number";
}

constexpr auto mat_compact_options = std::make_tuple(
  Option("-mat_compact_direction", "Direction of the lines", "MatCompactSetDirection",
         kept<&Mat_Compact::direction>, MatCompactDirections),
  Option("-mat_compact_derivative", "1 or 2; 0: an interpolation if staggered, otherwise a filter",
         "MatCompactSetDerivative", kept<&Mat_Compact::derivative>, NotADerivative),
  Option("-mat_compact_order", "4, 6, 8 or 10; 6 of staggered schemes and filters", "MatCompactSetOrder",
         kept<&Mat_Compact::order>, NotAnOrder),
  Option("-mat_compact_ends", "Order of the first and last rows of open lines, 3 or 4", "MatCompactSetEnds",
         kept<&Mat_Compact::ends>, NotAnEnd),
  Option("-mat_compact_filter", "Parameter of a filter, in [0, 1/2)", "MatCompactSetFilter",
         kept<&Mat_Compact::filter>, NotAFilter),
  Option("-mat_compact_staggered", "Places of values and results", "MatCompactSetStaggered",
         kept<&Mat_Compact::staggered>, MatCompactStaggereds),
  Option("-mat_compact_spacing", "Distance of the points; 0: that of the DMDA's coordinates, or 1",
         "MatCompactSetSpacing", kept<&Mat_Compact::spacing>, NotASpacing),
  Option("-mat_compact_periodic", "Lines of a grid without a DMDA are periodic", "MatCompactSetPeriodic",
         kept<&Mat_Compact::periodic>, NotABool),
  Option("-mat_compact_transport", "How messages travel between devices", "MatCompactSetTransport",
         kept<&Mat_Compact::transport>, RibbonTransports));

} // namespace

PetscErrorCode ComposeCompactOptions(Mat A, bool attach)
{
  PetscFunctionBegin;
  PetscCall(ComposeOptions(A, mat_compact_options, attach));
  PetscCall(ComposeCompactValues(A, attach));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyCompactOptions(Mat from, Mat to)
{
  PetscFunctionBegin;
  PetscCall(CopyOptions(from, to, mat_compact_options));
  PetscCallCXX(CompactOf(to)->given = CompactOf(from)->given);
  PrepareAgain(to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetCompactFromOptions(Mat A, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Mat compact options");
  PetscCall(ReadOptions(A, mat_compact_options, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc

using namespace ribbon::petsc;

RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Direction, MatCompactDirection)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Derivative, PetscInt)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Order, PetscInt)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Ends, PetscInt)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Filter, PetscReal)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Staggered, MatCompactStaggered)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Spacing, PetscReal)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Periodic, PetscBool)
RIBBON_OPTION(mat_compact_options, Mat, MatCompact, Transport, RibbonTransport)
