// SPDX-License-Identifier: BSD-2-Clause
#include "factors.hpp"

#include "../line/pc.hpp"

#include <petscts.h>

namespace ribbon::petsc {

PetscErrorCode DirectionFactors::reset()
{
  PetscFunctionBegin;
  for (Direction &direction : directions_) {
    for (Factor &factor : direction.slots) PetscCall(PCDestroy(&factor.pc));
    PetscCall(MatDestroy(&direction.P));
    PetscCall(MatDestroy(&direction.of));
  }
  directions_.clear(), sentence_.clear();
  failure_ = PC_NOERROR, structure_ = -1, asked_ = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Raises one error for an option of an inner PC that would change the system P_d x = b.
static PetscErrorCode RefuseOptions(const char *name, PCLineDirection along, bool steps, PC pc)
{
  const auto *line   = static_cast<const PC_Line *>(pc->data);
  const char *option = nullptr, *why = nullptr;
  const auto  refuse = [&](bool refused, const char *key, const char *sentence) {
    if (refused && !option) option = key, why = sentence;
  };
  PetscBool is_line;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLINE, &is_line));
  if (!is_line) PetscFunctionReturn(PETSC_SUCCESS);
  refuse(line->directions != std::vector<PCLineDirection>{along}, "pc_line_direction",
         "each of these PCs solves along its own direction");
  refuse(line->omega != 1, "pc_line_omega", "directions are solved undamped");
  refuse(line->iterations != 1, "pc_line_iterations", "a direction is solved once, exactly");
  refuse(line->ordering == PC_LINE_ORDERING_ZEBRA, "pc_line_ordering",
         "lines of one direction do not couple: they are solved at once");
  refuse(line->lhs_tol > PETSC_SQRT_MACHINE_EPSILON, "pc_line_lhs_tol",
         "lines are solved exactly; a tolerance for rounding (up to the square root of machine epsilon) may "
         "stand");
  refuse(steps && (line->cut == PC_LINE_CUT_LOCAL || line->cut == PC_LINE_CUT_DROP), "pc_line_cut",
         "a time step solves whole lines: take exact or auto");
  PetscCheck(!option, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "%s contradicts ADI along %s: %s", option_of(pc, option).c_str(), name, why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionFactors::create(MPI_Comm comm, const char *name, PCLineDirection line, DM dm,
                                        PC *pc) const
{
  const char       *prefix = nullptr;
  const std::string own    = std::string("adi_") + name + "_";
  PetscFunctionBegin;
  PetscCall(PCCreate(comm, pc));
  if (owner_) {
    PetscCall(PetscObjectGetOptionsPrefix(owner_, &prefix));
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)*pc, owner_, 1));
  }
  PetscCall(PCSetOptionsPrefix(*pc, prefix));
  PetscCall(PCAppendOptionsPrefix(*pc, own.c_str()));
  PetscCall(PCSetType(*pc, PCLINE));
  if (dm) PetscCall(PCSetDM(*pc, dm));
  PetscCall(PCLineSetDirection(*pc, line));
  PetscCall(PCLineSetOmega(*pc, 1));
  PetscCall(PCLineSetCut(*pc, PC_LINE_CUT_EXACT)); // local solves would be another matrix
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(RefuseOptions(name, line, owner_ && owner_->classid == TS_CLASSID, *pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionFactors::axes_of_matrices(MPI_Comm comm, unsigned *axes)
{
  PetscFunctionBegin;
  for (int axis = 0; axis < 3 && !asked_; ++axis) {
    const auto line = static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + axis);
    PC         pc;
    bool       takes;
    if (axis == 0) matrices_ = 0;
    PetscCall(create(comm, axis_names[axis], line, nullptr, &pc));
    PetscCall(LineTakesBands(pc, line, &takes));
    PetscCall(PCDestroy(&pc));
    if (!takes) matrices_ |= 1u << axis;
  }
  asked_ = true;
  *axes  = matrices_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Creates the matrix from which the slots of direction d are factored, with the pattern of A_d.
PetscErrorCode DirectionFactors::make_matrix(const DirectionSplitting &splitting, int d)
{
  Direction &direction = directions_[static_cast<std::size_t>(d)];
  const Mat  A         = splitting.A(d);
  PetscFunctionBegin;
  if (direction.of == A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&direction.P));
  PetscCall(MatDestroy(&direction.of));
  PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &direction.P));
  PetscCall(PetscObjectReference((PetscObject)A));
  direction.of = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DirectionFactors::look_for_failures()
{
  failure_ = PC_NOERROR;
  for (const Direction &direction : directions_)
    for (const Factor &factor : direction.slots)
      if (factor.failed != PC_NOERROR && failure_ == PC_NOERROR)
        failure_ = factor.failed, sentence_ = "the lines along " + direction.name +
                                              " cannot be solved; -adi_" + direction.name +
                                              "_pc_line_view says why";
}

/// A slot of the same entries with a smaller shift, to which the difference can be added without loss of
/// accuracy. Null if there is none.
const DirectionFactors::Factor *DirectionFactors::smaller_shift(const DirectionSplitting &splitting,
                                                                const Direction &direction, PetscReal s,
                                                                PetscReal a)
{
  const Factor *found = nullptr;
  for (const Factor &factor : direction.slots) {
    const bool is_like = factor.pc && factor.generation == splitting.generation() && factor.a == a &&
                         factor.failed == PC_NOERROR && !splitting.mass_matrix();
    if (is_like && PetscAbsReal(factor.s) < PetscAbsReal(s) &&
        (!found || PetscAbsReal(factor.s) < PetscAbsReal(found->s)))
      found = &factor;
  }
  return found;
}

/// Factors s M - a A_d: its bands, or its matrix.
PetscErrorCode DirectionFactors::set_up(const DirectionSplitting &splitting, int d, PetscReal s, PetscReal a,
                                        Factor *factor)
{
  Direction &direction = directions_[static_cast<std::size_t>(d)];
  bool       done      = false;
  PetscFunctionBegin;
  if (!splitting.A(d)) {
    PetscCallCXX(factor->bands = splitting.shifted_bands(d, s, a));
    PetscCall(SetUpGivenLine(factor->pc, splitting.rows(), factor->bands.get()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(make_matrix(splitting, d));
  PetscCall(PCSetOperators(factor->pc, direction.P, direction.P));
  const Factor *near = smaller_shift(splitting, direction, s, a);
  if (near) PetscCall(SetUpShiftedLine(factor->pc, near->pc, splitting.mass(), s - near->s, &done));
  if (!done) {
    PetscCall(splitting.shifted(d, s, a, direction.P));
    PetscCall(PCSetReusePreconditioner(factor->pc, PETSC_FALSE));
    PetscCall(PCSetUp(factor->pc));
  }
  PetscCall(PCSetReusePreconditioner(factor->pc, PETSC_TRUE)); // other slots will overwrite P
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionFactors::factor(const DirectionSplitting &splitting, int d, int slot, PetscReal s,
                                        PetscReal a, bool *refactored)
{
  PetscFunctionBegin;
  if (structure_ != splitting.structure()) {
    PetscCall(reset());
    directions_.resize(static_cast<std::size_t>(splitting.directions()));
    structure_ = splitting.structure();
  }
  Direction &direction = directions_[static_cast<std::size_t>(d)];
  direction.name       = splitting.name(d);
  if (direction.slots.size() <= static_cast<std::size_t>(slot))
    direction.slots.resize(static_cast<std::size_t>(slot) + 1);
  Factor &factor = direction.slots[static_cast<std::size_t>(slot)];
  if (factor.pc && factor.generation == splitting.generation() && factor.s == s && factor.a == a)
    PetscFunctionReturn(PETSC_SUCCESS);
  if (!factor.pc)
    PetscCall(
      create(splitting.comm(), splitting.name(d), splitting.line_direction(d), splitting.dm(), &factor.pc));
  factor.generation = -1; // no factors if the set-up raises an error
  PetscCall(set_up(splitting, d, s, a, &factor));
  PetscCall(PCGetFailedReason(factor.pc, &factor.failed));
  factor.s = s, factor.a = a, factor.generation = splitting.generation();
  look_for_failures();
  if (refactored) *refactored = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionFactors::factor(const DirectionSplitting &splitting, PetscReal a, bool *refactored)
{
  PetscFunctionBegin;
  if (refactored) *refactored = false;
  for (int d = 0; d < splitting.directions(); ++d) PetscCall(factor(splitting, d, 0, 1, a, refactored));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionFactors::drop(int d, int slot)
{
  Factor &factor = directions_[static_cast<std::size_t>(d)].slots[static_cast<std::size_t>(slot)];
  PetscFunctionBegin;
  PetscCall(PCDestroy(&factor.pc));
  factor = Factor();
  look_for_failures();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionFactors::solve(int d, Vec b, Vec x, int slot) const
{
  PetscFunctionBegin;
  PetscCall(PCApply(directions_[static_cast<std::size_t>(d)].slots[static_cast<std::size_t>(slot)].pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionFactors::solve_transposed(int d, Vec b, Vec x, int slot) const
{
  PetscFunctionBegin;
  PetscCall(PCApplyTranspose(
    directions_[static_cast<std::size_t>(d)].slots[static_cast<std::size_t>(slot)].pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionFactors::make_steps(const DirectionSplitting &splitting, int d, PetscReal a,
                                            PetscReal b, std::shared_ptr<const LineSteps> *steps,
                                            std::string *reason) const
{
  const PC                    pc      = directions_[static_cast<std::size_t>(d)].slots[0].pc;
  const PetscReal             scale[] = {a, -b}; // of A_d in M - scale A_d
  StepMatrix                  of[2];
  std::unique_ptr<GivenBands> bands[2];
  PetscFunctionBegin;
  for (int k = 0; k < 2; ++k) {
    if (splitting.A(d)) {
      PetscCall(MatDuplicate(splitting.A(d), MAT_DO_NOT_COPY_VALUES, &of[k].rows));
      PetscCall(splitting.shifted(d, 1, scale[k], of[k].rows));
    } else {
      PetscCallCXX(bands[k] = splitting.shifted_bands(d, 1, scale[k]));
      of[k] = {splitting.rows(), bands[k].get()};
    }
  }
  PetscCall(MakeLineSteps(pc, of[0], of[1], steps, reason));
  for (int k = 0; k < 2; ++k)
    if (splitting.A(d)) PetscCall(MatDestroy(&of[k].rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionFactors::view(PetscViewer viewer) const
{
  PetscFunctionBegin;
  for (const Direction &direction : directions_)
    for (const Factor &factor : direction.slots)
      if (factor.pc) {
        PetscCall(PCView(factor.pc, viewer));
        break; // all further slots have the same options
      }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
