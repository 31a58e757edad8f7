// SPDX-License-Identifier: BSD-2-Clause
#include "pc.hpp"

#include "mass.hpp"
#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

constexpr PetscReal least_shift = static_cast<PetscReal>(1e-8); ///< relative to the diagonal entry

/// Shift and mass: those of options, or of the time step that made Pmat.
PetscErrorCode FindShift(PC pc, PC_ADI *adi)
{
  TS ts;
  PetscFunctionBegin;
  PetscCall(GetTSOfDM(pc->dm, &ts));
  PetscCheck(ts || adi->shift > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "PC adi needs the shift of a matrix shift M - A, and no time step made this one: give it with "
             "-%spc_adi_shift, or solve an elliptic problem with -%sksp_type adi",
             ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "",
             ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "");
  if (ts) PetscCall(GetMassOfTS(ts, &adi->mass));
  else {
    if (!adi->mass) PetscCall(MatCreateVecs(pc->pmat, nullptr, &adi->mass));
    PetscCall(VecSet(adi->mass, 1));
    PetscCall(MarkDiagonalRows(pc->pmat, adi->mass));
  }
  PetscCall(EstimateShift(pc->pmat, adi->mass, &adi->contained));
  adi->used = adi->contained, adi->source = "the median of the row sums over the mass of the TS";
  if (adi->shift > 0) {
    adi->used = adi->shift, adi->source = "given";
    adi->contained = PetscMax(PetscMin(adi->contained, adi->shift), 0); // an elliptic matrix has no shift
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Raises one error if the shift of a row is negligible compared with its diagonal: the product of factors
/// would be far from the matrix. Collective.
PetscErrorCode CheckShift(PC pc, PC_ADI *adi)
{
  Vec       largest;
  PetscReal least;
  PetscFunctionBegin;
  PetscCall(VecDuplicate(adi->mass, &largest));
  PetscCall(MatGetDiagonal(pc->pmat, largest));
  PetscCall(VecPointwiseDivide(largest, largest, adi->mass)); // 0 if the mass is 0
  PetscCall(VecNorm(largest, NORM_INFINITY, &least));
  least = least > 0 ? adi->used / least : PETSC_MAX_REAL; // NaN: the factors report it
  PetscCall(VecDestroy(&largest));
  PetscCheck(
    least > least_shift, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
    "PC adi: a shift of %g (%s) is %.1e of the diagonal of a row, which leaves no shift to factor with: give "
    "a larger one with -%spc_adi_shift, or solve an elliptic problem with -%sksp_type adi",
    (double)adi->used, adi->source, (double)least, ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "",
    ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The directions of the splitting in the requested order; with symmetric also in reverse order.
PetscErrorCode Order(PC pc, PC_ADI *adi)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  PetscFunctionBegin;
  adi->sequence.clear();
  for (PetscInt wanted : adi->directions)
    for (int d = 0; d < adi->splitting.directions(); ++d)
      if (adi->splitting.axis(d) == wanted) adi->sequence.push_back(d);
  for (int d = 0; d < adi->splitting.directions(); ++d) {
    const bool listed = std::find(adi->sequence.begin(), adi->sequence.end(), d) != adi->sequence.end();
    PetscCheck(listed || adi->directions.empty(), comm, PETSC_ERR_ARG_OUTOFRANGE,
               "PC adi: -pc_adi_directions %s leaves out %s, along which the matrix couples",
               names_of(adi->directions).c_str(), adi->splitting.name(d));
    if (!listed) adi->sequence.push_back(d);
  }
  for (std::size_t k = adi->sequence.size() - 1; k-- > 0 && adi->symmetric;)
    adi->sequence.push_back(adi->sequence[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SetUpADI(PC pc, PC_ADI *adi)
{
  unsigned matrices;
  bool     changed;
  PetscFunctionBegin;
  PetscCall(EnsureKokkos());
  PetscCall(Logged(&Events::mass, [&] { return FindShift(pc, adi); }));
  PetscCall(adi->factors.axes_of_matrices(PetscObjectComm((PetscObject)pc), &matrices));
  PetscCall(
    adi->splitting.update({pc->pmat, pc->dm, adi->contained, adi->mass, nullptr, 1, matrices}, &changed));
  PetscCall(Order(pc, adi));
  // contained M - A_1 is Pmat without couplings along no direction: there is no product
  if (adi->splitting.directions() == 1)
    adi->used = adi->contained, adi->source = "that of the matrix: there is one direction";
  else PetscCall(CheckShift(pc, adi));
  // the direction in the middle, or the first, has the shift in its factor: shift M - A_d. The others have
  // M - A_d / shift, or half of A_d
  const int middle = adi->sequence[adi->symmetric ? adi->sequence.size() / 2 : 0];
  for (int d = 0; d < adi->splitting.directions(); ++d) {
    if (d == middle) PetscCall(adi->factors.factor(adi->splitting, d, 0, adi->used, 1, nullptr));
    else
      PetscCall(adi->factors.factor(adi->splitting, d, 0, 1,
                                    (adi->symmetric ? PetscReal(0.5) : PetscReal(1)) / adi->used, nullptr));
  }
  for (Vec &v : adi->between)
    if (!v) PetscCall(VecDuplicate(adi->mass, &v));
  if (!adi->splitting.algebraic()) PetscCall(VecDestroy(&adi->right));
  else { // rows of algebraic equations are scaled
    if (!adi->right) PetscCall(VecDuplicate(adi->mass, &adi->right));
    PetscCall(VecSet(adi->right, 1));
    PetscCall(VecAXPBYPCZ(adi->right, -1, 1, 1, adi->splitting.is_algebraic(), adi->splitting.algebraic()));
  }
  adi->failed = adi->factors.failure() != PC_NOERROR;
  PetscCall(PCSetFailedReason(pc, adi->factors.failure()));
  if (adi->failed) {
    PetscCall(PetscInfo(pc, "PC adi: %s\n", adi->factors.failure_sentence().c_str()));
    PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_MAT_LU_ZRPVT, "PC adi: %s",
               adi->factors.failure_sentence().c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
