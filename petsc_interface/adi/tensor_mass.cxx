// SPDX-License-Identifier: BSD-2-Clause
// Finds out whether a mass matrix is a Kronecker product (docs/methods/adi.md#kronecker-products).
#include "tensor_mass.hpp"

#include "../support/csr.hpp"
#include "../support/format.hpp"
#include "../support/session.hpp"
#include "tensor_rows.hpp"

#include <algorithm>

namespace ribbon::petsc {

PetscErrorCode TensorMass::reset()
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&pattern_));
  PetscCall(MatDestroy(&products_));
  PetscCall(VecDestroy(&inverse_));
  for (auto &entries : entries_) entries.clear();
  along_.clear(), algebraic_.clear(), sums_.clear(), scale_.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TensorMass::set_pattern(Mat pattern, const RowGrid &grid, const std::vector<int> &axes)
{
  const GridBox  &box = *grid.box();
  Mat             block[2];
  const PetscInt *columns = nullptr;
  PetscInt        first;
  int             reach[3] = {1, 1, 1};
  PetscFunctionBegin;
  PetscCall(reset());
  PetscCall(PetscObjectReference((PetscObject)pattern));
  pattern_ = pattern, grid_ = &grid, comm_ = PetscObjectComm((PetscObject)pattern);
  PetscCall(MatCreateVecs(pattern, nullptr, &inverse_));
  PetscCall(MatGetOwnershipRange(pattern, &first, nullptr));
  first_ = first;
  PetscCall(GetBlocks(pattern, block, &columns));
  for (int b = 0; b < 2; ++b) {
    HostRows rows;
    if (!block[b]) continue;
    PetscCall(GetHostRows(block[b], false, &rows));
    for (PetscInt r = 0; r < static_cast<PetscInt>(rows.rows); ++r)
      for (PetscInt k = rows.row_begin[r]; k < rows.row_begin[r + 1]; ++k) {
        const PetscInt column = b == 0 ? first + rows.column[k] : columns[rows.column[k]];
        const auto     apart  = grid.offsets(first + r, column);
        Entry          entry;
        bool           is_here = true;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const auto along = std::find(axes.begin(), axes.end(), static_cast<int>(axis));
          const auto d     = static_cast<std::size_t>(along - axes.begin());
          if (apart[axis] == 0) continue;
          if (along == axes.end() || std::abs(apart[axis]) > largest_half_bandwidth) is_here = false;
          else {
            entry.offset[d] = static_cast<signed char>(apart[axis]);
            reach[d]        = std::max(reach[d], std::abs(static_cast<int>(apart[axis])));
          }
        }
        if (!is_here) entry.kind = Entry::elsewhere;
        else if ((first + r - column) % box.components != 0) entry.kind = Entry::other_component;
        PetscCallCXX(entries_[b].push_back(entry));
      }
    PetscCall(RestoreHostRows(block[b], &rows));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, reach, 3, MPI_INT, MPI_MAX, comm_));
  for (std::size_t d = 0; d < axes.size(); ++d) {
    Along along;
    along.axis = axes[d], along.reach = reach[d];
    along.all   = static_cast<PetscInt>(box.all[axes[d]]),
    along.begin = static_cast<PetscInt>(box.begin[axes[d]]);
    along_.push_back(along);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::size_t TensorMass::place(int d, PetscInt row) const
{
  const GridBox &box = *grid_->box();
  const RowOfBox at_row(box, row);
  const auto     i = static_cast<std::size_t>(at(d).begin + at_row.at(at(d).axis));
  return i * static_cast<std::size_t>(box.components) + static_cast<std::size_t>(at_row.component);
}

TensorMass::Places TensorMass::places_of(PetscInt row) const
{
  Places places;
  for (int d = 0; d < directions(); ++d) places.at[d] = place(d, row);
  return places;
}

/// The product of the entries of M_e in a row, for all directions e but `without`.
PetscScalar TensorMass::product_of_masses(const Places &places, const Entry &entry, int without) const
{
  PetscScalar product = 1;
  for (int e = 0; e < directions(); ++e)
    if (e != without)
      product *= at(e).mass[places.at[e] * static_cast<std::size_t>(at(e).width()) +
                            static_cast<std::size_t>(at(e).reach + entry.offset[e])];
  return product;
}

/// The mean of the rows of all lines, for each row and component of a direction. `masses`: also finds the
/// rows that are algebraic on all lines.
PetscErrorCode TensorMass::mean_of_lines(const Rows &of_rows, bool masses, Rows *mean)
{
  const auto components = static_cast<std::size_t>(grid_->components());
  PetscFunctionBegin;
  for (int d = 0; d < directions(); ++d) {
    Along                   &along = along_[static_cast<std::size_t>(d)];
    const auto               width = static_cast<std::size_t>(along.width());
    const std::size_t        n     = static_cast<std::size_t>(along.all) * components;
    std::vector<PetscScalar> sum(n * (width + 1), 0); // and the count of rows
    for (PetscInt r = 0; r < rows(); ++r) {
      if (algebraic_[static_cast<std::size_t>(r)]) continue;
      const PetscScalar *from = &of_rows[static_cast<std::size_t>(d)][static_cast<std::size_t>(r) * width];
      PetscScalar       *to   = &sum[place(d, r) * (width + 1)];
      for (std::size_t k = 0; k < width; ++k) to[k] += from[k];
      to[width] += 1;
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum.data(), static_cast<PetscMPIInt>(sum.size()), MPIU_SCALAR,
                               MPIU_SUM, comm_));
    if (masses) PetscCallCXX(along.algebraic.assign(n, 0));
    auto &values = (*mean)[static_cast<std::size_t>(d)];
    PetscCallCXX(values.assign(n * width, 0));
    for (std::size_t i = 0; i < n; ++i) {
      const PetscScalar count = sum[i * (width + 1) + width];
      if (masses) along.algebraic[i] = count == PetscScalar(0);
      for (std::size_t k = 0; k < width; ++k)
        values[i * width + k] = count == PetscScalar(0) ? count : sum[i * (width + 1) + k] / count;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the rows of M are the products of the mean masses. Otherwise says which row differs most, and how.
/// Collective.
PetscErrorCode TensorMass::check_mass(Mat M, const std::vector<PetscReal> &noise, const Rows &of_rows,
                                      std::string *what) const
{
  const char *why   = nullptr;
  PetscInt    row   = -1;
  PetscReal   worst = 1, worst_of_all;
  PetscFunctionBegin;
  PetscCall(for_rows(M, [&](PetscInt r, const RowEntries &entries) {
    const auto      at_r   = static_cast<std::size_t>(r);
    const Places    places = places_of(r);
    const PetscReal near   = noise[at_r];
    PetscReal       found = 0, complete = 1;
    // difference: in units of the tolerance, at most 1 if the row fits
    const auto judge = [&](PetscReal difference, const char *reason) {
      if (!(difference <= worst)) worst = difference, why = reason, row = r;
    };
    if (algebraic_[at_r]) {
      bool on_face = false;
      for (int d = 0; d < directions(); ++d) on_face = on_face || at(d).algebraic[places.at[d]];
      if (!on_face) judge(PETSC_MAX_REAL, "is zero, but not all rows of a face of the grid are");
      return;
    }
    for (int d = 0; d < directions(); ++d) {
      const auto width = static_cast<std::size_t>(at(d).width());
      PetscReal  sum   = 0;
      for (std::size_t k = 0; k < width; ++k) {
        const PetscScalar mean = at(d).mass[places.at[d] * width + k];
        sum += PetscAbsScalar(mean);
        judge(PetscAbsScalar(of_rows[static_cast<std::size_t>(d)][at_r * width + k] - mean) / near,
              "differs from the rows of other lines");
      }
      complete *= sum;
    }
    for (const auto &[entry, value] : entries) {
      const PetscScalar v = value / sums_[at_r];
      if (entry.kind != Entry::here) {
        judge(PetscAbsScalar(v) / near, entry.kind == Entry::elsewhere
                                          ? "couples beyond the bands of the directions"
                                          : "couples components");
        continue;
      }
      const PetscScalar product = product_of_masses(places, entry, -1);
      found += PetscAbsScalar(product);
      judge(PetscAbsScalar(v - product) / near, "is no product of rows along the directions");
    }
    judge((complete - found) / near, "is no product of rows along the directions"); // entries are missing
  }));
  PetscCallMPI(MPI_Allreduce(&worst, &worst_of_all, 1, MPIU_REAL, MPIU_MAX, comm_));
  if (why && worst == worst_of_all)
    *what = format("ADI in %d directions needs a mass matrix that is diagonal, or a Kronecker product of one "
                   "matrix for each direction: row %lld %s; one direction alone takes others",
                   directions(), static_cast<long long>(first_ + row), why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TensorMass::set_mass(Mat M, Mat J, PetscScalar shift, const std::vector<char> &algebraic)
{
  std::vector<PetscReal> noise(algebraic.size(), 0);
  Rows                   of_rows(along_.size()), mean(along_.size());
  PetscScalar           *inverse;
  std::string            what;
  int                    some = 0;
  PetscFunctionBegin;
  PetscCallCXX(algebraic_ = algebraic);
  for (char is : algebraic) some |= is;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, comm_));
  has_algebraic_ = some != 0;
  PetscCallCXX(sums_.assign(algebraic.size(), 1));
  PetscCall(MatDestroy(&products_));
  for (int d = 0; d < directions(); ++d)
    PetscCallCXX(of_rows[static_cast<std::size_t>(d)].assign(
      algebraic.size() * static_cast<std::size_t>(at(d).width()), 0));
  // differences of Jacobians have errors of rounding of the entries of J / shift
  PetscCall(for_rows(J, [&](PetscInt r, const RowEntries &entries) {
    for (const auto &one : entries) noise[static_cast<std::size_t>(r)] += PetscAbsScalar(one.second / shift);
  }));
  PetscCall(for_rows(M, [&](PetscInt r, const RowEntries &entries) {
    const auto  at_r = static_cast<std::size_t>(r);
    PetscScalar sum  = 0;
    PetscReal   size = 0;
    if (algebraic_[at_r]) return;
    for (const auto &[entry, value] : entries)
      if (entry.kind == Entry::here) sum += value, size += PetscAbsScalar(value);
    if (PetscAbsScalar(sum) <= PetscReal(1e-6) * size) {
      if (what.empty())
        what = format("ADI: the entries of row %lld of the mass matrix sum to zero",
                      static_cast<long long>(first_ + r));
      return;
    }
    sums_[at_r] = sum;
    for (const auto &[entry, value] : entries)
      for (int d = 0; entry.kind == Entry::here && d < directions(); ++d)
        of_rows[static_cast<std::size_t>(d)][at_r * static_cast<std::size_t>(at(d).width()) +
                                             static_cast<std::size_t>(at(d).reach + entry.offset[d])] +=
          value / sum;
    noise[at_r] = (PetscMax(PetscReal(1e-6), 256 * PETSC_MACHINE_EPSILON) * size +
                   64 * PETSC_MACHINE_EPSILON * noise[at_r]) /
                  PetscAbsScalar(sum);
  }));
  PetscCall(CollectiveError(comm_, PETSC_ERR_SUP, what));
  PetscCall(mean_of_lines(of_rows, true, &mean));
  for (std::size_t d = 0; d < along_.size(); ++d) PetscCallCXX(along_[d].mass = mean[d]);
  PetscCall(check_mass(M, noise, of_rows, &what));
  PetscCall(CollectiveError(comm_, PETSC_ERR_SUP, what));
  PetscCall(AwaitCopies(inverse_));
  PetscCall(VecGetArrayWrite(inverse_, &inverse));
  for (std::size_t r = 0; r < sums_.size(); ++r) inverse[r] = PetscScalar(1) / sums_[r];
  PetscCall(VecRestoreArrayWrite(inverse_, &inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
