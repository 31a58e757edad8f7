// SPDX-License-Identifier: BSD-2-Clause
// The bands s M_d - a K_d of a mass matrix that is a Kronecker product, and their right-hand sides
// (docs/methods/adi.md#kronecker-products).
#include "tensor_mass.hpp"

#include "../support/csr.hpp"

#include <algorithm>
#include <map>

namespace ribbon::petsc {

/// Entry of s M_d - a K_d.
PetscScalar TensorMass::entry_of(int d, std::size_t at_i, int offset, PetscReal s, PetscReal a) const
{
  const Along &along = at(d);
  const auto   k =
    at_i * static_cast<std::size_t>(along.width()) + static_cast<std::size_t>(along.reach + offset);
  if (along.algebraic[at_i]) return offset == 0 ? 1 : 0;
  return s * along.mass[k] - a * along.K[k];
}

/// Whether lines of all components have the same matrices.
bool TensorMass::components_agree(int d) const
{
  const Along &along = at(d);
  const auto   width = static_cast<std::size_t>(along.width()),
             C       = static_cast<std::size_t>(grid_->components());
  bool agree         = true;
  for (std::size_t i = 0; i < along.algebraic.size() && agree; ++i) {
    const std::size_t first = i - i % C; // of the components
    agree                   = along.algebraic[i] == along.algebraic[first];
    for (std::size_t k = 0; k < width && agree; ++k)
      agree = along.mass[i * width + k] == along.mass[first * width + k] &&
              along.K[i * width + k] == along.K[first * width + k];
  }
  return agree;
}

std::unique_ptr<GivenBands> TensorMass::bands(SplitKernels &kernels, int d, PetscReal s, PetscReal a) const
{
  const GridBox                   &box   = *grid_->box();
  const Along                     &along = at(d);
  const int                        C = box.components, h = along.half_bandwidth;
  const std::int64_t               n = box.size[along.axis], lines = box.lines(along.axis) * C;
  const std::int64_t               matrices = components_agree(d) ? 1 : C;
  Bands<Scalar, Kokkos::HostSpace> bands;
  LineCouplings                    couplings;
  bands.periodic = along.periodic;
  bands.lhs      = matrices == 1 ? Lhs::shared : Lhs::classes;
  bands.values   = decltype(bands.values)("ribbon::bands", static_cast<std::size_t>(matrices),
                                        static_cast<std::size_t>(n), static_cast<std::size_t>(2 * h + 1));
  for (std::int64_t c = 0; c < matrices; ++c)
    for (std::int64_t i = 0; i < n; ++i)
      for (int o = -h; o <= h; ++o) {
        const PetscScalar v = entry_of(d, static_cast<std::size_t>((along.begin + i) * C + c), o, s, a);
        bands.values(static_cast<std::size_t>(c), static_cast<std::size_t>(i),
                     static_cast<std::size_t>(h + o)) = reinterpret_cast<const Scalar &>(v);
      }
  if (bands.lhs == Lhs::classes) {
    bands.class_of_line =
      decltype(bands.class_of_line)("ribbon::class_of_line", static_cast<std::size_t>(lines));
    for (std::int64_t l = 0; l < lines; ++l)
      bands.class_of_line(static_cast<std::size_t>(l)) = static_cast<int>(l % C);
  }
  couplings.half_bandwidth = couplings.stored_bandwidth = h;
  couplings.periodic = couplings.stored_periodic = along.periodic;
  couplings.not_finite                           = not_finite_;
  couplings.zero_sums                            = true; // unknown
  return kernels.given_bands(bands, couplings, lines);
}

TensorMass::Transport TensorMass::transport(int d) const
{
  const Along &along = at(d);
  const auto width = static_cast<std::size_t>(along.width()), middle = static_cast<std::size_t>(along.reach),
             C  = static_cast<std::size_t>(grid_->components());
  PetscReal sum = 0, weighted = 0;
  Transport found;
  for (std::size_t i = 0, j = C; j < along.algebraic.size(); ++i, ++j) {
    const PetscScalar *mass_i = &along.mass[i * width + middle], *mass_j = &along.mass[j * width + middle];
    const PetscReal    there = PetscRealPart(mass_i[1]), back = PetscRealPart(mass_j[-1]),
                    ratio = there * back > 0 ? there / back : 1;
    const PetscReal upper = PetscRealPart(along.K[i * width + middle + 1]),
                    lower = ratio * PetscRealPart(along.K[j * width + middle - 1]);
    if (upper == 0 || lower == 0) continue;
    PetscReal transport = PetscAbsReal(upper - lower);
    if (transport <= PETSC_SQRT_MACHINE_EPSILON * (PetscAbsReal(upper) + PetscAbsReal(lower)))
      transport = 0; // rounding
    found.transport = PetscMax(found.transport, transport);
    found.mass      = PetscMax(found.mass, PetscRealPart(mass_i[-1] + mass_i[1]));
    sum += transport, weighted += transport * (upper + lower);
  }
  if (sum > 0) found.damping = weighted / sum;
  return found;
}

/// Calls f(places, offsets) for the products of entries along the directions in which an algebraic row does
/// not end.
template <class F>
void TensorMass::for_face_entries(PetscInt row, const F &f) const
{
  const Places places = places_of(row);
  int          h[3]   = {0, 0, 0}, o[3];
  for (int d = 0; d < directions(); ++d)
    if (!at(d).algebraic[places.at[d]]) h[d] = at(d).half_bandwidth;
  for (o[2] = -h[2]; o[2] <= h[2]; ++o[2])
    for (o[1] = -h[1]; o[1] <= h[1]; ++o[1])
      for (o[0] = -h[0]; o[0] <= h[0]; ++o[0]) f(places, o);
}

PetscErrorCode TensorMass::set_factors(const PetscReal (&s)[3], const PetscReal (&a)[3])
{
  const GridBox                  &box = *grid_->box();
  std::map<PetscInt, PetscScalar> entries;
  std::vector<PetscInt>           columns;
  std::vector<PetscScalar>        values;
  PetscBool                       bound;
  PetscFunctionBegin;
  if (!has_algebraic_) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt end    = first_ + rows();
  const auto     row_of = [&](PetscInt r) { // the columns of a row, with the entries of the product
    const RowOfBox at_r(box, r);
    entries.clear();
    if (!algebraic_[static_cast<std::size_t>(r)]) {
          entries[first_ + r] = PetscScalar(1) / sums_[static_cast<std::size_t>(r)];
          return;
    }
    for_face_entries(r, [&](const Places &places, const int(&o)[3]) {
      RowGrid::Index to;
      PetscScalar    product = 1;
      for (std::size_t axis = 0; axis < 3; ++axis)
        to[axis] = static_cast<PetscInt>(box.begin[axis] + at_r.along[axis]);
      for (int d = 0; d < directions(); ++d) {
        PetscInt &place = to[static_cast<std::size_t>(at(d).axis)];
        place += o[d];
        if ((place < 0 || place >= at(d).all) && !at(d).periodic) return;
        place = (place + at(d).all) % at(d).all;
        product *= entry_of(d, places.at[d], o[d], s[d], a[d]);
      }
      entries[grid_->row(to, at_r.component)] += product;
    });
  };
  const bool anew = !products_;
  if (anew) {
    std::vector<PetscInt> counts[2];
    PetscInt              all;
    PetscCall(MatGetSize(pattern_, &all, nullptr));
    for (PetscInt r = 0; r < rows(); ++r) {
      PetscCallCXX(row_of(r));
      PetscInt here = 0;
      for (const auto &one : entries) here += one.first >= first_ && one.first < end;
      PetscCallCXX(counts[0].push_back(here));
      PetscCallCXX(counts[1].push_back(static_cast<PetscInt>(entries.size()) - here));
    }
    PetscCall(MatCreate(comm_, &products_));
    PetscCall(MatSetSizes(products_, rows(), rows(), all, all));
    PetscCall(MatSetType(products_, ((PetscObject)pattern_)->type_name));
    PetscCall(MatSeqAIJSetPreallocation(products_, 0, counts[0].data()));
    PetscCall(MatMPIAIJSetPreallocation(products_, 0, counts[0].data(), 0, counts[1].data()));
    PetscCall(MatSetOption(products_, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    PetscCall(IsBoundToHost(pattern_, &bound));
    if (bound) PetscCall(MatBindToCPU(products_, PETSC_TRUE));
  }
  for (PetscInt r = 0; r < rows(); ++r) {
    const PetscInt row = first_ + r;
    if (!anew && !algebraic_[static_cast<std::size_t>(r)]) continue;
    PetscCallCXX(row_of(r));
    columns.clear(), values.clear();
    for (const auto &[column, value] : entries) columns.push_back(column), values.push_back(value);
    PetscCall(MatSetValues(products_, 1, &row, static_cast<PetscInt>(columns.size()), columns.data(),
                           values.data(), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(products_, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(products_, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TensorMass::scale(Vec rhs, Vec scaled) const
{
  PetscFunctionBegin;
  if (has_algebraic_) PetscCall(MatMult(products_, rhs, scaled));
  else PetscCall(VecPointwiseMult(scaled, inverse_, rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
