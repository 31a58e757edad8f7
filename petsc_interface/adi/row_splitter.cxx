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

/// What the diagonal has for neighbours that were eliminated, were their couplings those of the other side.
void RowSplitter::find_missing()
{
  for (std::size_t d = 0; d < D(); ++d) {
    missing_[d] = 0;
    for (int k = 1; k <= reach; ++k) {
      const Scalar before = beside(d, -k), after = beside(d, k);
      if ((before == Scalar(0)) != (after == Scalar(0))) missing_[d] -= before + after;
    }
  }
}

/// r_i of the row that was summed up.
Scalar RowSplitter::rest_of(PetscInt r) const
{
  const auto c0    = static_cast<std::size_t>((first + r) % components);
  Scalar     rest  = inner_[c0] + other_[c0] - shift * (mass ? mass[r] : Scalar(1));
  double     total = size_of(inner_[c0]);
  for (std::size_t d = 0; d < D(); ++d) rest += sums_[at(d, c0)], total += size_[d];
  return size_of(rest) <= 100 * static_cast<double>(PETSC_MACHINE_EPSILON) * total ? Scalar(0) : rest;
}

/// What an end of a line along d at row r makes of what it may stand for: 1 where a neighbour was eliminated, 0 at a Neumann end. Known where nothing else ends, else asked of the next row
/// along another direction that ends. False where no row of this rank tells.
bool RowSplitter::share_of_end(PetscInt r, std::size_t d, int depth, Scalar *share)
{
  if (algebraic[r]) return false;
  sum_up(r);
  find_missing();
  if (missing_[d] == Scalar(0)) return false;
  std::vector<PetscInt> next;
  for (std::size_t e = 0; e < D(); ++e) {
    if (e == d || missing_[e] == Scalar(0)) continue;
    for (PetscInt k = block[0].J.row_begin[r], nearest = reach + 1; k < block[0].J.row_begin[r + 1]; ++k) {
      const signed char way = block[0].way[k];
      const PetscInt    c   = block[0].J.column[k];
      if (direction_of(way) != static_cast<int>(e) || (c - r) % components != 0 || block[0].J.value[k] == Scalar(0) || std::abs(Way::offset(way)) >= nearest) continue;
      if (nearest <= reach) next.pop_back();
      nearest = std::abs(Way::offset(way));
      next.push_back(c);
    }
  }
  if (next.empty()) {
    for (std::size_t e = 0; e < D(); ++e)
      if (e != d && missing_[e] != Scalar(0)) return false; // a line of one row
    *share = rest_of(r) / missing_[d];
    return true;
  }
  for (PetscInt c : next)
    if (depth > 0 && share_of_end(c, d, depth - 1, share)) return true;
  return false;
}

/// Where lines of several directions end at a row, neighbours tell which of them were cut off: a corner between Neumann and Dirichlet conditions.
void RowSplitter::weigh_ends(PetscInt r)
{
  std::size_t ends = 0;
  for (std::size_t d = 0; d < D(); ++d) ends += missing_[d] != Scalar(0);
  if (ends < 2) return;
  if (!neighbour_) {
    neighbour_ = std::make_unique<RowSplitter>();
    for (int b = 0; b < 2; ++b) neighbour_->block[b] = block[b];
    neighbour_->reach = reach, neighbour_->first = first, neighbour_->components = components, neighbour_->axes = axes, neighbour_->shift = shift, neighbour_->mass = mass, neighbour_->algebraic = algebraic;
    neighbour_->clear();
  }
  std::vector<Scalar> weighed = missing_;
  for (std::size_t d = 0; d < D(); ++d) {
    Scalar share;
    if (missing_[d] == Scalar(0)) continue;
    if (!neighbour_->share_of_end(r, d, 2, &share)) return;
    weighed[d] *= share;
  }
  Scalar sum = 0;
  for (const Scalar w : weighed) sum += w;
  if (sum != Scalar(0)) missing_ = weighed;
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
  find_missing();
  double least = 0; // of what may stand for a neighbour
  for (const Scalar end : missing_)
    if (end != Scalar(0)) least = least > 0 ? std::min(least, size_of(end)) : size_of(end);
  // so much less is no neighbour: reaction at Neumann ends, and where upwind differences have one side alone
  if (size_of(rest_of(r)) >= 0.1 * least) weigh_ends(r);
  else std::fill(missing_.begin(), missing_.end(), Scalar(0));
  Scalar missing = 0;
  for (const Scalar end : missing_) missing += end;
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
