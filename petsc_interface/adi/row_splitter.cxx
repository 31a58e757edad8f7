// SPDX-License-Identifier: BSD-2-Clause
#include "row_splitter.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

double size_of(Scalar v)
{
  return static_cast<double>(PetscAbsScalar(static_cast<PetscScalar>(v)));
}

double real_part(Scalar v)
{
  return static_cast<double>(PetscRealPart(static_cast<PetscScalar>(v)));
}

} // namespace

void RowSplitter::clear()
{
  for (int &d : direction_of_axis_) d = RowGrid::mixed;
  for (std::size_t d = 0; d < D(); ++d) direction_of_axis_[axes[d]] = static_cast<int>(d);
  sums_.resize(D() * nc()), local_.resize(D() * nc()), inner_.resize(nc()), other_.resize(nc());
  size_.resize(D()), every_.resize(D()), missing_.resize(D());
  beside_.resize(D() * static_cast<std::size_t>(2 * reach + 1));
  mixed = growth = torn = 0;
}

void RowSplitter::sum_up(PetscInt r)
{
  const auto c0 = static_cast<std::size_t>((first + r) % components);
  for (auto *v : {&sums_, &inner_, &other_, &beside_}) std::fill(v->begin(), v->end(), Scalar(0));
  for (auto *v : {&size_, &every_}) std::fill(v->begin(), v->end(), 0.);
  stray_ = 0;
  for (const Block &b : block) {
    if (b.J.rows == 0) continue;
    for (PetscInt k = b.J.row_begin[r]; k < b.J.row_begin[r + 1]; ++k) {
      const Scalar      v = b.J.value[k];
      const int         d = direction_of(b.way[k]);
      const std::size_t c = component(b, b.J.column[k]);
      if (d == RowGrid::same) inner_[c] += v;
      else if (d == RowGrid::mixed) {
        other_[c] += v, stray_ += size_of(v);
        if (v != Scalar(0) && !algebraic[r]) ++mixed;
      } else {
        const auto e = static_cast<std::size_t>(d);
        sums_[at(e, c)] += v, every_[e] += size_of(v);
        if (c == c0) size_[e] += size_of(v), beside(e, Way::offset(b.way[k])) += v;
      }
    }
  }
}

/// What the diagonal has for neighbours that were eliminated, were their couplings those of the other side; the sum over the directions.
Scalar RowSplitter::find_missing()
{
  Scalar sum = 0;
  for (std::size_t d = 0; d < D(); ++d) {
    missing_[d] = 0;
    for (int k = 1; k <= reach; ++k) {
      const Scalar before = beside(d, -k), after = beside(d, k);
      if ((before == Scalar(0)) != (after == Scalar(0))) missing_[d] -= before + after;
    }
    sum += missing_[d];
  }
  return sum;
}

void RowSplitter::share(PetscInt r)
{
  const auto   c0 = static_cast<std::size_t>((first + r) % components);
  const Scalar m  = mass ? mass[r] : Scalar(1);
  if (D() == 1) { // nothing is left out
    for (std::size_t c = 0; c < nc(); ++c) local_[c] = -inner_[c];
    if (!block[0].M.value) local_[c0] += shift * m;
    else
      for (PetscInt k = block[0].M.row_begin[r]; k < block[0].M.row_begin[r + 1]; ++k)
        if (block[0].M.column[k] == r) local_[c0] += shift * block[0].M.value[k];
    return;
  }
  double total = size_of(inner_[c0]);
  for (std::size_t d = 0; d < D(); ++d) total += size_[d];
  const Scalar missing = find_missing();
  for (std::size_t c = 0; c < nc(); ++c) {
    Scalar rest = inner_[c] + other_[c]; // r_i
    for (std::size_t d = 0; d < D(); ++d) rest += sums_[at(d, c)];
    if (c == c0) rest -= shift * m;
    if (size_of(rest) <= 100 * static_cast<double>(PETSC_MACHINE_EPSILON) * total) rest = Scalar(0);
    const bool ends = c == c0 && real_part(rest) * real_part(missing) > 0;
    if (c == c0 && !ends && real_part(rest) < 0) rest = Scalar(0), ++growth;
    for (std::size_t d = 0; d < D(); ++d) local_[at(d, c)] = sums_[at(d, c)] - (ends ? missing_[d] / missing * rest : rest / Scalar(static_cast<PetscReal>(D())));
  }
}

Scalar RowSplitter::scale(PetscInt r) const
{
  const HostRows &J        = block[0].J;
  Scalar          diagonal = 0;
  for (PetscInt k = J.row_begin[r]; k < J.row_begin[r + 1]; ++k)
    if (J.column[k] == r) diagonal += J.value[k];
  return scale_of(diagonal);
}

} // namespace ribbon::petsc
