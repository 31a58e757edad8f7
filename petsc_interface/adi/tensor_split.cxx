// SPDX-License-Identifier: BSD-2-Clause
// The matrices K_d of A for a mass matrix that is a Kronecker product
// (docs/methods/adi.md#kronecker-products).
#include "tensor_mass.hpp"

#include "../support/format.hpp"
#include "../support/session.hpp"
#include "tensor_rows.hpp"

#include <algorithm>

namespace ribbon::petsc {

/// rho_d: for each row and component of a direction, the part of the row sums of A that direction d has. It
/// is that of the least damped row of all lines, less the least damping of the grid, of which all directions
/// have the same part. For products this is exact: a line end with an eliminated neighbour belongs to the
/// direction that ends there.
PetscErrorCode TensorMass::least_damping(const std::vector<PetscScalar>      &sums,
                                         std::vector<std::vector<PetscReal>> *of) const
{
  const auto components = static_cast<std::size_t>(grid_->components());
  PetscFunctionBegin;
  of->clear();
  for (int d = 0; d < directions(); ++d) {
    std::vector<PetscReal> largest(static_cast<std::size_t>(at(d).all) * components, -PETSC_MAX_REAL);
    for (PetscInt r = 0; r < rows(); ++r)
      if (!algebraic_[static_cast<std::size_t>(r)])
        largest[place(d, r)] =
          std::max(largest[place(d, r)], PetscMin(PetscRealPart(sums[static_cast<std::size_t>(r)]), 0));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, largest.data(), static_cast<PetscMPIInt>(largest.size()),
                               MPIU_REAL, MPIU_MAX, comm_));
    for (std::size_t c = 0; c < components; ++c) {
      PetscReal least = -PETSC_MAX_REAL;
      for (std::size_t i = c; i < largest.size(); i += components) least = PetscMax(least, largest[i]);
      for (std::size_t i = c; i < largest.size(); i += components)
        largest[i] -= least * (1 - PetscReal(1) / static_cast<PetscReal>(directions()));
    }
    PetscCallCXX(of->push_back(largest));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The least squares fit of A / T in a row: K_d = A times the M_e of all other directions, divided by the
/// squares of their rows, up to a multiple of M_d. sums: of the rows of A / T.
PetscErrorCode TensorMass::fit_rows(Mat J, PetscScalar shift, PetscReal factor, Rows *K,
                                    std::vector<PetscScalar> *sums)
{
  PetscFunctionBegin;
  sums->assign(algebraic_.size(), 0);
  for (int d = 0; d < directions(); ++d)
    PetscCallCXX((*K)[static_cast<std::size_t>(d)].assign(
      algebraic_.size() * static_cast<std::size_t>(at(d).width()), 0));
  not_finite_ = -1;
  PetscCall(for_rows(J, [&](PetscInt r, const RowEntries &entries) {
    const auto   at_r   = static_cast<std::size_t>(r);
    const Places places = places_of(r);
    PetscReal    square[3];
    PetscScalar  sum = shift;
    if (algebraic_[at_r]) return;
    for (int d = 0; d < directions(); ++d) {
      const auto         width = static_cast<std::size_t>(at(d).width());
      const PetscScalar *mass  = &at(d).mass[places.at[d] * width];
      square[d]                = 0;
      for (std::size_t k = 0; k < width; ++k)
        square[d] += PetscSqr(PetscAbsScalar(mass[k])),
          (*K)[static_cast<std::size_t>(d)][at_r * width + k] += shift * mass[k];
    }
    for (const auto &[entry, value] : entries) {
      if (entry.kind != Entry::here) continue;
      const PetscScalar v = factor * value / sums_[at_r];
      if (PetscIsInfOrNanScalar(v) && not_finite_ < 0) not_finite_ = r;
      sum -= v;
      for (int d = 0; d < directions(); ++d) {
        PetscReal squares = 1;
        for (int e = 0; e < directions(); ++e) squares *= e == d ? 1 : square[e];
        (*K)[static_cast<std::size_t>(d)][at_r * static_cast<std::size_t>(at(d).width()) +
                                          static_cast<std::size_t>(at(d).reach + entry.offset[d])] -=
          v * PetscConj(product_of_masses(places, entry, d)) / squares;
      }
    }
    (*sums)[at_r] = sum;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Adds the multiple of M_d to the fit of each row that makes its sum the part of direction d. Growth stays
/// explicit.
PetscErrorCode TensorMass::divide_damping(const std::vector<PetscScalar> &sums, Rows *K) const
{
  std::vector<std::vector<PetscReal>> part;
  const auto                          D = static_cast<PetscReal>(directions());
  PetscFunctionBegin;
  PetscCall(least_damping(sums, &part));
  for (PetscInt r = 0; r < rows(); ++r) {
    const auto   at_r   = static_cast<std::size_t>(r);
    const Places places = places_of(r);
    PetscReal    rest   = PetscMin(PetscRealPart(sums[at_r]), 0);
    if (algebraic_[at_r]) continue;
    for (int d = 0; d < directions(); ++d) rest -= part[static_cast<std::size_t>(d)][places.at[d]];
    for (int d = 0; d < directions(); ++d) {
      const auto         width = static_cast<std::size_t>(at(d).width());
      const PetscScalar *mass  = &at(d).mass[places.at[d] * width];
      PetscScalar       *row   = &(*K)[static_cast<std::size_t>(d)][at_r * width];
      PetscScalar        more  = PetscMin(part[static_cast<std::size_t>(d)][places.at[d]] + rest / D, 0);
      more += PetscScalar(sums[at_r] - PetscRealPart(sums[at_r])) / D;
      for (std::size_t k = 0; k < width; ++k) more -= row[k];
      for (std::size_t k = 0; k < width; ++k) row[k] += more * mass[k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The factors of K_d, by components, that make it dominate the rows of all lines: 0.8 times the largest
/// ratio of their diagonals to that of the mean, at least 1. The rest of a row is explicit. Diffusion is
/// stable with 0.7 (ra34pw2) or 0.4 (hundsdorfer_verwer) times the coefficient of a row in K_d, and with any
/// larger one.
PetscErrorCode TensorMass::factors_of_dominance(int d, const Rows &K, const std::vector<PetscScalar> &mean,
                                                std::vector<PetscReal> *factors) const
{
  const auto C     = static_cast<std::size_t>(grid_->components());
  const auto width = static_cast<std::size_t>(at(d).width()), middle = static_cast<std::size_t>(at(d).reach);
  PetscFunctionBegin;
  PetscCallCXX(factors->assign(C, 1));
  for (PetscInt r = 0; r < rows(); ++r) {
    const auto at_r = static_cast<std::size_t>(r), at_i = place(d, r);
    const auto here = -PetscRealPart(K[static_cast<std::size_t>(d)][at_r * width + middle]),
               all  = -PetscRealPart(mean[at_i * width + middle]);
    PetscReal &most = (*factors)[at_i % C];
    if (!algebraic_[at_r] && all > 0 && !PetscIsInfOrNanReal(here))
      most = PetscMax(most, PetscReal(0.8) * here / all);
  }
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, factors->data(), static_cast<PetscMPIInt>(C), MPIU_REAL, MPIU_MAX, comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Keeps one K_d for all lines, and its half-bandwidth.
PetscErrorCode TensorMass::keep(const Rows &K, bool *changed)
{
  Rows mean(along_.size());
  PetscFunctionBegin;
  PetscCall(mean_of_lines(K, false, &mean));
  for (int d = 0; d < directions(); ++d) {
    Along     &along = along_[static_cast<std::size_t>(d)];
    auto      &K_d   = mean[static_cast<std::size_t>(d)];
    const auto width = static_cast<std::size_t>(along.width()),
               C     = static_cast<std::size_t>(grid_->components());
    std::vector<PetscReal> factors;
    PetscReal              largest = 0;
    PetscCall(factors_of_dominance(d, K, K_d, &factors));
    for (std::size_t k = 0; k < K_d.size(); ++k) {
      K_d[k] *= factors[k / width % C];
      largest = PetscMax(largest, PetscAbsScalar(K_d[k]));
    }
    const int  before       = along.half_bandwidth;
    const bool was_periodic = along.periodic;
    along.half_bandwidth = 1, along.periodic = false;
    for (std::size_t k = 0; k < K_d.size(); ++k) {
      const int      offset = static_cast<int>(k % width) - along.reach;
      const PetscInt to     = static_cast<PetscInt>(k / width / C) + offset;
      if (PetscAbsScalar(along.mass[k]) <= PetscReal(1e-9) &&
          PetscAbsScalar(K_d[k]) <= PetscReal(1e-9) * largest)
        continue;
      along.half_bandwidth = std::max(along.half_bandwidth, std::abs(offset));
      along.periodic       = along.periodic || to < 0 || to >= along.all;
    }
    if (along.half_bandwidth != before || along.periodic != was_periodic) PetscCall(MatDestroy(&products_));
    *changed = *changed || along.half_bandwidth != before || along.periodic != was_periodic || along.K != K_d;
    PetscCallCXX(along.K = K_d);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// s_b of algebraic rows. Raises an error if one of them has couplings above 1e-6 of its diagonal. Smaller ones are
/// rounding errors of Jacobians by differences.
PetscErrorCode TensorMass::scale_algebraic(Mat J, PetscReal factor, Vec scale, bool *changed)
{
  std::vector<PetscScalar> s(algebraic_.size(), 0);
  std::string              what;
  PetscScalar             *to;
  PetscFunctionBegin;
  PetscCall(for_rows(J, [&](PetscInt r, const RowEntries &entries) {
    const auto at_r = static_cast<std::size_t>(r);
    if (!algebraic_[at_r]) return;
    PetscScalar own   = 0;
    PetscReal   other = 0;
    for (const auto &[entry, value] : entries)
      if (entry.kind == Entry::here && !entry.offset[0] && !entry.offset[1] && !entry.offset[2]) own = value;
      else other += PetscAbsScalar(value);
    s[at_r] = own == PetscScalar(0) ? PetscScalar(1) : PetscScalar(1) / (factor * own);
    if (what.empty() &&
        !(other <= PetscMax(PetscReal(1e-6), 10 * PETSC_SQRT_MACHINE_EPSILON) * PetscAbsScalar(own)))
      what =
        format("ADI: the algebraic equation of row %lld couples to other rows; with a mass matrix that is "
               "not diagonal, several directions take equations of the form u = g only",
               static_cast<long long>(first_ + r));
  }));
  PetscCall(CollectiveError(comm_, PETSC_ERR_SUP, what));
  *changed = *changed || s != scale_;
  PetscCallCXX(scale_ = s);
  if (!scale) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AwaitCopies(scale));
  PetscCall(VecGetArrayWrite(scale, &to));
  std::copy(s.begin(), s.end(), to);
  PetscCall(VecRestoreArrayWrite(scale, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TensorMass::split(Mat J, PetscScalar shift, PetscReal factor, Vec scale, bool *changed)
{
  Rows                     K(along_.size());
  std::vector<PetscScalar> sums;
  PetscFunctionBegin;
  *changed = false;
  PetscCall(scale_algebraic(J, factor, scale, changed));
  PetscCall(fit_rows(J, shift, factor, &K, &sums));
  PetscCall(divide_damping(sums, &K));
  PetscCall(keep(K, changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
