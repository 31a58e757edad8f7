// SPDX-License-Identifier: BSD-2-Clause
#include "splitting.hpp"

#include "../support/aij.hpp"
#include "../support/csr.hpp"
#include "../support/session.hpp"

#include <ribbon_petsc/matcompact.h>

namespace ribbon::petsc {

/// A different number for every change of any splitting, so that factors cannot confuse two splittings.
PetscInt64 DirectionSplitting::next_generation()
{
  static PetscInt64 last = 0;
  return ++last;
}

PetscErrorCode DirectionSplitting::forget_directions()
{
  PetscFunctionBegin;
  for (Direction &d : directions_) PetscCall(MatDestroy(&d.A));
  PetscCall(MatDestroy(&couplings_));
  PetscCall(MatDestroy(&mass_along_));
  directions_.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::reset()
{
  PetscFunctionBegin;
  PetscCall(forget_directions());
  for (Vec *v : {&mass_, &multiplier_, &algebraic_, &is_algebraic_vector_, &work_[0], &work_[1]})
    PetscCall(VecDestroy(v));
  PetscCall(MatDestroy(&converted_));
  PetscCall(MatDestroy(&mass_matrix_));
  PetscCall(MatDestroy(&rows_));
  PetscCall(grid_.reset());
  couplings_of_pattern_ = {}, kernels_.reset(), tensor_.reset(), mass_seen_ = {};
  is_algebraic_.clear();
  patterns_.clear(), axes_ = matrices_ = no_bands_ = 0, mass_is_identity_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::as_aij(Mat J, Mat *aij)
{
  PetscBool is_aij, is_compact;
  PetscFunctionBegin;
  *aij = J;
  PetscCall(IsAIJ(J, &is_aij));
  if (is_aij) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)J, MATCOMPACT, &is_compact));
  PetscCheck(
    !is_compact, PetscObjectComm((PetscObject)J), PETSC_ERR_SUP,
    "alternating directions need the entries of a matrix, and one of type compact stores none: take a "
    "matrix of type aij");
  // not every type can be converted in place, nor can a matrix whose pattern changed
  PetscCall(MatDestroy(&converted_));
  PetscCall(ConvertToAIJ(J, &converted_));
  *aij = converted_;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The couplings of the entries of J, from its pattern.
PetscErrorCode DirectionSplitting::find_ways(Mat aij)
{
  SplitKernels::Pattern &found = couplings_of_pattern_;
  Mat                    block[2];
  const PetscInt        *columns = nullptr;
  PetscInt               first;
  PetscInt64             unsorted;
  const int              components = grid_.components();
  PetscFunctionBegin;
  PetscCheck(components <= Way::most_components, PetscObjectComm((PetscObject)aij), PETSC_ERR_SUP,
             "ADI: a grid point has %d unknowns; there are at most %d", components, Way::most_components);
  PetscCall(GetBlocks(aij, block, &columns));
  PetscCall(MatGetOwnershipRange(aij, &first, nullptr));
  found.components = components, found.first_component = static_cast<int>(first % components),
  found.reach = 1;
  found.box   = grid_.box();
  for (int b = 0; b < 2; ++b) {
    HostRows rows;
    found.ways[b].clear();
    if (!block[b] || (b == 0 && found.box)) continue;
    PetscCall(GetHostRows(block[b], false, &rows));
    found.ways[b].reserve(static_cast<std::size_t>(rows.row_begin[rows.rows]));
    bool sorted = true;
    for (PetscInt r = 0; r < static_cast<PetscInt>(rows.rows); ++r)
      for (PetscInt k = rows.row_begin[r]; k < rows.row_begin[r + 1]; ++k) {
        PetscInt       offset;
        const PetscInt column = b == 0 ? first + rows.column[k] : columns[rows.column[k]];
        const int      axis   = grid_.direction(first + r, column, &offset);
        sorted                = sorted && (k == rows.row_begin[r] || rows.column[k - 1] < rows.column[k]);
        found.ways[b].push_back(Way::of(axis, offset, column % components));
        if (axis >= 0) found.reach = PetscMax(found.reach, std::abs(Way::offset(found.ways[b].back())));
      }
    PetscCall(RestoreHostRows(block[b], &rows));
    PetscCheck(sorted, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "ADI: the columns of a row are not in ascending order");
  }
  PetscCall(SplitKernels::create(aij, &kernels_));
  PetscCall(kernels_->set_pattern(aij, found, &unsorted));
  PetscCheck(unsorted < 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "ADI: the columns of row %lld are not in ascending order",
             static_cast<long long>(first + unsorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::update_mass(Mat aij, const SplitJacobian &jacobian, bool *changed,
                                               bool *rows_changed)
{
  PetscInt           n;
  const PetscScalar *from = nullptr;
  PetscScalar       *mass, *multiplier;
  Pattern            seen{0, 0};
  PetscFunctionBegin;
  if (jacobian.mass) {
    PetscCall(PetscObjectStateGet((PetscObject)jacobian.mass, &seen.state));
    PetscCall(PetscObjectGetId((PetscObject)jacobian.mass, &seen.of));
  }
  // ones, which are not read
  if (!jacobian.mass && !jacobian.mass_matrix && !mass_ && matrices_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (mass_ && seen == mass_seen_ && mass_matrix_ == jacobian.mass_matrix) PetscFunctionReturn(PETSC_SUCCESS);
  mass_seen_ = seen;
  if (!mass_) {
    PetscCall(MatCreateVecs(aij, nullptr, &mass_));
    PetscCall(VecSet(mass_, 1));
    PetscCall(VecDuplicate(mass_, &multiplier_));
    PetscCall(VecSet(multiplier_, 1));
  }
  PetscCall(VecGetLocalSize(mass_, &n));
  mass_is_identity_ = !jacobian.mass_matrix;
  if (is_algebraic_.size() != static_cast<std::size_t>(n))
    is_algebraic_.assign(static_cast<std::size_t>(n), 0), *rows_changed = true;
  if (jacobian.mass) PetscCall(VecGetArrayRead(jacobian.mass, &from));
  PetscCall(AwaitCopies(mass_));
  PetscCall(VecGetArray(mass_, &mass));
  PetscCall(AwaitCopies(multiplier_));
  PetscCall(VecGetArray(multiplier_, &multiplier));
  for (PetscInt r = 0; r < n; ++r) {
    const PetscScalar m         = from ? from[r] : PetscScalar(1);
    const char        algebraic = m == PetscScalar(0);
    auto             &was       = is_algebraic_[static_cast<std::size_t>(r)];
    *changed                    = *changed || mass[r] != m;
    *rows_changed               = *rows_changed || was != algebraic;
    mass[r] = m, multiplier[r] = algebraic ? PetscScalar(1) : m, was = algebraic;
    mass_is_identity_ = mass_is_identity_ && multiplier[r] == PetscScalar(1);
  }
  PetscCall(VecRestoreArray(multiplier_, &multiplier));
  PetscCall(VecRestoreArray(mass_, &mass));
  if (jacobian.mass) PetscCall(VecRestoreArrayRead(jacobian.mass, &from));
  if (mass_matrix_ != jacobian.mass_matrix) {
    *changed = true;
    PetscCall(PetscObjectReference((PetscObject)jacobian.mass_matrix));
    PetscCall(MatDestroy(&mass_matrix_));
    PetscCall(MatDestroy(&mass_along_));
    mass_matrix_ = jacobian.mass_matrix;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Creates an empty matrix of J's type for the entries of J along an axis, those of the element and the
/// diagonal. axis < 0: all entries except the diagonal of algebraic rows.
PetscErrorCode DirectionSplitting::create_rows(Mat aij, int axis, Mat *A) const
{
  Mat             block[2];
  HostRows        rows[2];
  const PetscInt *columns = nullptr;
  PetscInt        first, n, all, size;
  PetscBool       bound;
  PetscFunctionBegin;
  PetscCall(GetBlocks(aij, block, &columns));
  PetscCall(MatGetOwnershipRange(aij, &first, nullptr));
  PetscCall(MatGetLocalSize(aij, &n, nullptr));
  PetscCall(MatGetSize(aij, &all, nullptr));
  for (int b = 0; b < 2; ++b)
    if (block[b]) PetscCall(GetHostRows(block[b], false, &rows[b]));
  const auto way = [&](int b, PetscInt r, PetscInt k) { // with a box they are not on the host
    if (b == 1 || !grid_.box()) return couplings_of_pattern_.ways[b][static_cast<std::size_t>(k)];
    const GridBox &box = *grid_.box();
    return direction_bands::WaysKernel<Scalar, PetscInt>{rows[0], box, nullptr}.of(r, RowOfBox(box, r),
                                                                                   rows[0].column[k]);
  };
  const auto kept = [&](int b, PetscInt r, PetscInt k) {
    if (axis < 0) return is_algebraic_[static_cast<std::size_t>(r)] && (b == 1 || rows[0].column[k] != r);
    const int along = Way::axis(way(b, r, k));
    return along >= 0 ? along == axis : along == Way::same && rows[0].column[k] != r;
  };
  std::vector<PetscInt> counts[2] = {std::vector<PetscInt>(static_cast<std::size_t>(n), axis < 0 ? 0 : 1),
                                     std::vector<PetscInt>(static_cast<std::size_t>(n), 0)},
                        line;
  std::vector<PetscScalar> zeros;
  for (int b = 0; b < 2; ++b)
    for (PetscInt r = 0; r < n && block[b]; ++r)
      for (PetscInt k = rows[b].row_begin[r]; k < rows[b].row_begin[r + 1]; ++k)
        counts[b][static_cast<std::size_t>(r)] += kept(b, r, k);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)aij), A));
  PetscCall(MatSetSizes(*A, n, n, all, all));
  PetscCall(MatSetType(*A, ((PetscObject)aij)->type_name));
  PetscCall(MatGetBlockSize(aij, &size));
  if (n % size == 0) PetscCall(MatSetBlockSize(*A, size));
  PetscCall(MatSeqAIJSetPreallocation(*A, 0, counts[0].data()));
  PetscCall(MatMPIAIJSetPreallocation(*A, 0, counts[0].data(), 0, counts[1].data()));
  for (PetscInt r = 0; r < n; ++r) {
    line.clear();
    if (axis >= 0) line.push_back(first + r);
    for (int b = 0; b < 2; ++b)
      for (PetscInt k = block[b] ? rows[b].row_begin[r] : 0; block[b] && k < rows[b].row_begin[r + 1]; ++k)
        if (kept(b, r, k)) line.push_back(b == 0 ? first + rows[0].column[k] : columns[rows[1].column[k]]);
    zeros.resize(line.size(), 0);
    const PetscInt row = first + r;
    PetscCall(MatSetValues(*A, 1, &row, static_cast<PetscInt>(line.size()), line.data(), zeros.data(),
                           INSERT_VALUES));
  }
  for (int b = 0; b < 2; ++b)
    if (block[b]) PetscCall(RestoreHostRows(block[b], &rows[b]));
  PetscCall(MatSetOption(*A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(IsBoundToHost(aij, &bound));
  if (bound) PetscCall(MatBindToCPU(*A, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Creates the matrices of the axes that couple, without values.
PetscErrorCode DirectionSplitting::make(Mat aij)
{
  const MPI_Comm comm    = PetscObjectComm((PetscObject)aij);
  int            some[2] = {0, 0}; // algebraic rows, algebraic rows with couplings
  Mat            block[2];
  PetscFunctionBegin;
  PetscCall(forget_directions());
  for (int axis = 0; axis < grid_.dimensions(); ++axis)
    if (axes_ >> axis & 1 || (axes_ == 0 && axis == 0)) {
      Direction d;
      d.name = axis_names[axis], d.axis = axis;
      if (grid_.dm()) d.line = static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + axis);
      directions_.push_back(d);
      if (matrices_ >> axis & 1) PetscCall(create_rows(aij, axis, &directions_.back().A));
    }
  structure_ = next_generation();
  const PetscInt *columns;
  PetscCall(GetBlocks(aij, block, &columns));
  for (std::size_t r = 0; r < is_algebraic_.size(); ++r)
    if (is_algebraic_[r]) some[0] = 1;
  for (int b = 0; b < 2 && some[0]; ++b) {
    HostRows rows;
    if (!block[b]) continue;
    PetscCall(GetHostRows(block[b], false, &rows));
    for (std::size_t r = 0; r < is_algebraic_.size(); ++r)
      if (is_algebraic_[r] && rows.row_begin[r + 1] - rows.row_begin[r] > 1 - b) some[1] = 1;
    PetscCall(RestoreHostRows(block[b], &rows));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, some, 2, MPI_INT, MPI_MAX, comm));
  if (some[1] && !tensor_) PetscCall(create_rows(aij, -1, &couplings_));
  PetscCall(make_algebraic_vectors(some[0] != 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::make_algebraic_vectors(bool some)
{
  PetscScalar *is;
  PetscFunctionBegin;
  if (!some) {
    PetscCall(VecDestroy(&algebraic_));
    PetscCall(VecDestroy(&is_algebraic_vector_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!algebraic_) PetscCall(VecDuplicate(mass_, &algebraic_));
  if (!is_algebraic_vector_) PetscCall(VecDuplicate(mass_, &is_algebraic_vector_));
  PetscCall(AwaitCopies(is_algebraic_vector_));
  PetscCall(VecGetArrayWrite(is_algebraic_vector_, &is));
  for (std::size_t r = 0; r < is_algebraic_.size(); ++r) is[r] = is_algebraic_[r] ? 1 : 0;
  PetscCall(VecRestoreArrayWrite(is_algebraic_vector_, &is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Writes A_d, the couplings and s_b if those of J differ, or if `all`. On entry `changed` says what
/// changed before. Collective.
PetscErrorCode DirectionSplitting::refill(Mat aij, const SplitJacobian &jacobian, bool all, bool *changed)
{
  SplitKernels::Task task;
  SplitCounts        counts;
  BandCounts         bands;
  bool               has_parts = couplings_ || algebraic_;
  PetscFunctionBegin;
  task.J = aij, task.mass_matrix = jacobian.mass_matrix, task.mass = mass_, task.scale = algebraic_;
  task.shift = jacobian.shift, task.factor = factor_ = jacobian.factor;
  task.parts.push_back(couplings_);
  for (const Direction &d : directions_) {
    if (!d.A) task.bands |= 1u << task.axes.size();
    task.axes.push_back(d.axis), task.parts.push_back(d.A);
    has_parts = has_parts || d.A;
  }
  if (has_parts && !all) PetscCall(kernels_->split(task, false, &counts));
  if (task.bands) PetscCall(refill_bands(task, all, &bands));
  int any = all || *changed || counts.differs > 0 || bands.changed != 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)aij)));
  *changed = any != 0;
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  counts = bands.counts;
  if (has_parts) PetscCall(kernels_->split(task, true, &counts));
  PetscInt sums[3] = {static_cast<PetscInt>(counts.mixed), static_cast<PetscInt>(counts.growth),
                      static_cast<PetscInt>(counts.torn)};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)aij)));
  remainder_  = {sums[0], sums[1], sums[2]};
  generation_ = next_generation();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Updates the directions of J and their entries, if its pattern is known.
PetscErrorCode DirectionSplitting::update_rows(Mat aij, const SplitJacobian &jacobian, bool anew,
                                               bool *changed)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)aij);
  const unsigned grid = (1u << grid_.dimensions()) - 1;
  unsigned       axes, flags;
  PetscFunctionBegin;
  PetscCall(axes_that_couple(aij, jacobian, grid, &axes));
  const bool     is_tensor    = jacobian.mass_matrix && (axes & (axes - 1)) != 0;
  const unsigned matrices     = is_tensor                              ? 0
                                : grid_.box() && !jacobian.mass_matrix ? (jacobian.matrices | no_bands_) & grid
                                                                       : grid;
  bool           mass_changed = false, rows_changed = matrices != matrices_ || is_tensor != has_tensor_mass();
  if (!is_tensor) tensor_.reset();
  matrices_ = matrices;
  PetscCall(update_mass(aij, jacobian, &mass_changed, &rows_changed));
  flags =
    axes | unsigned(rows_changed) << 3 | unsigned(mass_changed) << 4 | unsigned(!mass_is_identity_) << 5;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &flags, 1, MPI_UNSIGNED, MPI_BOR, comm));
  const bool remake = anew || (flags & 7) != axes_ || flags >> 3 & 1;
  axes_             = flags & 7;
  mass_is_identity_ = (flags >> 5 & 1) == 0;
  *changed          = flags >> 4 & 1;
  if (remake && is_tensor) PetscCallCXX(tensor_ = std::make_unique<TensorMass>());
  if (remake) PetscCall(make(aij));
  if (tensor_) PetscCall(refill_tensor(aij, jacobian, remake, changed));
  else PetscCall(refill(aij, jacobian, remake, changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DirectionSplitting::update(const SplitJacobian &jacobian, bool *changed)
{
  Mat           aij;
  DM            dm    = jacobian.dm;
  PetscBool     is_da = PETSC_FALSE;
  Pattern       pattern;
  bool          any;
  const Events *events;
  PetscFunctionBegin;
  PetscCall(GetEvents(&events));
  PetscCall(PetscLogEventBegin(events->split, jacobian.J, 0, 0, 0));
  PetscCall(as_aij(jacobian.J, &aij));
  PetscCall(MatGetNonzeroState(jacobian.J, &pattern.state));
  PetscCall(PetscObjectGetId((PetscObject)jacobian.J, &pattern.of));
  bool anew = patterns_ != std::vector<Pattern>{pattern};
  if (anew) {
    PetscCall(reset());
    PetscCall(as_aij(jacobian.J, &aij));
    if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_da));
    if (!is_da) PetscCall(MatGetDM(jacobian.J, &dm));
    PetscCall(grid_.find(aij, dm));
    PetscCall(find_ways(aij));
  }
  PetscCall(PetscObjectReference((PetscObject)aij));
  PetscCall(MatDestroy(&rows_));
  rows_ = aij, shift_ = jacobian.shift;
  const unsigned no_bands = no_bands_;
  PetscCall(update_rows(aij, jacobian, anew, &any));
  // matrices, whose entries PC line reports
  if (no_bands_ != no_bands) PetscCall(update_rows(aij, jacobian, true, &any));
  patterns_ = {pattern};
  if (changed) *changed = any;
  PetscCall(PetscLogEventEnd(events->split, jacobian.J, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
