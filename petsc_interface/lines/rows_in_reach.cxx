// SPDX-License-Identifier: BSD-2-Clause
#include "rows_in_reach.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ribbon::petsc {

namespace {

/// Sorts, and removes repetitions.
void keep_ascending(Indices *elements)
{
  std::sort(elements->begin(), elements->end());
  elements->erase(std::unique(elements->begin(), elements->end()), elements->end());
}

/// The rows of a layer of elements, one after another.
struct Layer {
  const Indices  &elements;
  const SentRows &rows;
  std::size_t     element = 0, row = 0, entry = 0;
  bool begins_with(PetscInt e) const { return element < elements.size() && elements[element] == e; }
};

} // namespace

PetscErrorCode RowsInReach::Open(const LinesOfGraphOptions &options)
{
  Indices  layer[2], all;
  SentRows rows[2];
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm_, &ranks_));
  PetscCallMPI(MPI_Comm_rank(comm_, &rank_));
  PetscCall(MatGetOwnershipRanges(A_, &ranges_));
  PetscCall(own_.Open(A_));
  first_        = ranges_[rank_] / block_;
  own_elements_ = own_.rows() / block_;
  for (PetscInt k = 0; k < own_.count_of_others(); ++k) layer[0].push_back(own_.others()[k] / block_);
  keep_ascending(&layer[0]);
  PetscCall(Fetch(layer[0], &rows[0]));
  for (PetscInt column : rows[0].column.data)
    if (const PetscInt e = column / block_; e < first_ || e >= first_ + own_elements_) all.push_back(e);
  keep_ascending(&all);
  std::set_difference(all.begin(), all.end(), layer[0].begin(), layer[0].end(), std::back_inserter(layer[1]));
  PetscCall(Fetch(layer[1], &rows[1]));
  all.clear();
  std::merge(layer[0].begin(), layer[0].end(), layer[1].begin(), layer[1].end(), std::back_inserter(all));
  PetscCall(Divide(std::move(all), &others_));
  PetscCall(Exchange(comm_, others_, &asked_));
  PetscCallCXX(assemble(layer, rows));
  if (options.strength != CouplingStrength::absolute) {
    std::vector<Scalar> strengths;
    PetscCallCXX(strengths = entries_by_strength(
                   HostRows{this->rows(), begin_of_row_.data(), column_.get(), value_.get()}, options));
    std::copy(strengths.begin(), strengths.end(), value_.get());
  }
  PetscCall(Complete());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Elements in ascending order by the ranks that own them.
PetscErrorCode RowsInReach::Divide(Indices elements, Parcels<PetscInt> *by_rank) const
{
  std::size_t k = 0;
  PetscFunctionBegin;
  by_rank->begin.assign(1, 0);
  for (PetscMPIInt r = 0; r < ranks_; ++r) {
    PetscMPIInt end;
    while (k < elements.size() && elements[k] * block_ < ranges_[r + 1]) ++k;
    PetscCall(PetscMPIIntCast(static_cast<PetscInt>(k), &end));
    by_rank->begin.push_back(end);
  }
  by_rank->data = std::move(elements);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The rows of elements of other ranks, in their order, with global columns. Collective.
PetscErrorCode RowsInReach::Fetch(const Indices &elements, SentRows *rows) const
{
  Parcels<PetscInt> of, asked, own;
  PetscFunctionBegin;
  PetscCall(Divide(elements, &of));
  PetscCall(Exchange(comm_, of, &asked));
  for (PetscMPIInt r = 0; r < ranks_; ++r) {
    for (PetscMPIInt k = asked.begin[at(r)]; k < asked.begin[at(r) + 1]; ++k)
      for (PetscInt c = 0; c < block_; ++c) own.data.push_back((asked.data[at(k)] - first_) * block_ + c);
    PetscCall(own.EndRank());
  }
  const PetscInt  first  = ranges_[rank_];
  const PetscInt *others = own_.others();
  PetscCall(SendRows(
    comm_, own_, own, [=](PetscInt, bool is_own, PetscInt k) { return is_own ? first + k : others[k]; },
    rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Joins own rows and those of both layers, without columns further away. Leaves room for an entry more in
/// each row of another rank: before all rows, and behind them.
void RowsInReach::assemble(const Indices (&layer)[2], const SentRows (&rows)[2])
{
  const auto      others = static_cast<PetscInt>(others_.data.size());
  const PetscInt *first = others_.data.data(), *last = first + others;
  const auto      number_of = [&](PetscInt e) {
    return static_cast<PetscInt>(std::lower_bound(first, last, e) - first);
  };
  const auto row_of = [&](PetscInt other) {
    return (other < lower_ ? other : other + own_elements_) * block_;
  };
  PetscInt end;
  Indices  column_of;
  Layer    from[2] = {{layer[0], rows[0]}, {layer[1], rows[1]}};
  lower_           = number_of(first_);
  elements_        = own_elements_ + others;
  begin_of_row_.reserve(at(elements_ * block_ + block_ + 1));
  const std::size_t most =
    at(own_.entries() + 2 * others) + rows[0].column.data.size() + rows[1].column.data.size();
  column_.reset(new PetscInt[most]);
  value_.reset(new Scalar[most]);
  for (PetscInt k = 0; k < own_.count_of_others(); ++k) {
    const PetscInt column = own_.others()[k];
    other_of_column_.push_back(number_of(column / block_));
    column_of.push_back(row_of(other_of_column_.back()) + column % block_);
  }
  std::fill(column_.get(), column_.get() + lower_, PetscInt(0));
  std::fill(value_.get(), value_.get() + lower_, Scalar(0));
  end                   = lower_;
  const auto add_others = [&](PetscInt begin_other, PetscInt end_other) {
    for (PetscInt other = begin_other; other < end_other; ++other) {
      Layer &l = from[from[0].begins_with(first[other]) ? 0 : 1];
      ++l.element;
      for (PetscInt c = 0; c < block_; ++c) {
        begin_of_row_.push_back(end);
        const std::size_t entries = l.entry + at(l.rows.length.data[l.row++]);
        for (; l.entry < entries; ++l.entry) {
          const PetscInt column = l.rows.column.data[l.entry], e = column / block_;
          const bool     own = e >= first_ && e < first_ + own_elements_;
          const PetscInt to  = own ? 0 : number_of(e);
          if (!own && (to == others || first[to] != e)) continue;
          column_[at(end)]  = own ? (lower_ - first_) * block_ + column : row_of(to) + column % block_;
          value_[at(end++)] = l.rows.value.data[l.entry];
        }
      }
    }
  };
  add_others(0, lower_);
  PetscInt      *column = column_.get();
  Scalar        *value  = value_.get();
  const PetscInt shift  = lower_ * block_;
  for (PetscInt row = 0; row < own_.rows(); ++row) {
    begin_of_row_.push_back(end);
    own_.each(row, [&](bool own, PetscInt k, Scalar a) {
      column[end]  = own ? shift + k : column_of[at(k)];
      value[end++] = a;
    });
  }
  add_others(lower_, others);
  begin_of_row_.push_back(end);
}

/// The largest coupling of an element with another one.
double RowsInReach::largest_coupling(PetscInt element) const
{
  std::vector<std::pair<PetscInt, double>> size; // of couplings with elements
  double                                   largest = 0;
  for (PetscInt e = begin_of_row_[at(element * block_)]; e < begin_of_row_[at((element + 1) * block_)]; ++e)
    size.emplace_back(column_[at(e)] / block_, static_cast<double>(magnitude(value_[at(e)])));
  std::stable_sort(size.begin(), size.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  for (std::size_t k = 0; k < size.size();) {
    const PetscInt other = size[k].first;
    double         norm  = 0;
    for (; k < size.size() && size[k].first == other; ++k) norm = std::hypot(norm, size[k].second);
    if (other != element && is_finite(norm)) largest = std::max(largest, norm);
  }
  return largest;
}

/// Compares the largest couplings of the elements of other ranks with those that their ranks know.
/// Collective.
PetscErrorCode RowsInReach::Complete()
{
  std::vector<double> maxima;
  PetscFunctionBegin;
  PetscCall(OfOthers([this](PetscInt own) { return largest_coupling(lower_ + own); }, &maxima));
  PetscCallCXX(complete(maxima));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void RowsInReach::complete(const std::vector<double> &maxima)
{
  const PetscInt    first_behind = lower_ + own_elements_, rows = this->rows();
  std::vector<char> lacks(at(elements_), 0);
  PetscInt          before = 0, behind = 0; // elements that lack their largest coupling
  for (PetscInt e = 0; e < elements_; ++e) {
    if (is_own(e)) e = first_behind;
    if (e == elements_) break;
    const double largest = maxima[at(e < lower_ ? e : e - own_elements_)];
    lacks[at(e)]         = largest_coupling(e) < 0.999 * largest;
    if (lacks[at(e)]) ++(e < lower_ ? before : behind);
  }
  // rows before the own ones move down, and rows behind them move up
  const auto add = [&](PetscInt at_entry, PetscInt e) {
    column_[at(at_entry)] = rows;
    value_[at(at_entry)] =
      Scalar(static_cast<real_t<Scalar>>(maxima[at(e < lower_ ? e : e - own_elements_)]));
  };
  PetscInt *column = column_.get(), to = begin_of_row_[0] - before;
  Scalar   *value = value_.get();
  for (PetscInt row = 0, begin = begin_of_row_[0]; row < lower_ * block_; ++row) {
    const PetscInt end     = begin_of_row_[at(row) + 1];
    begin_of_row_[at(row)] = to;
    std::move(column + begin, column + end, column + to);
    std::move(value + begin, value + end, value + to);
    to += end - begin, begin = end;
    if (row % block_ == 0 && lacks[at(row / block_)]) add(to++, row / block_);
  }
  to = begin_of_row_[at(rows)] + behind;
  for (PetscInt row = rows - 1, end = begin_of_row_[at(rows)]; row >= first_behind * block_; --row) {
    const PetscInt begin       = begin_of_row_[at(row)];
    begin_of_row_[at(row) + 1] = to;
    if (row % block_ == 0 && lacks[at(row / block_)]) add(--to, row / block_);
    std::move_backward(column + begin, column + end, column + to);
    std::move_backward(value + begin, value + end, value + to);
    to -= end - begin, end = begin;
  }
  // zeros couple with nothing, but the pattern remains symmetric
  to = begin_of_row_[at(rows)];
  for (PetscInt e = 0; e < elements_; ++e)
    if (lacks[at(e)]) column[to] = e * block_, value[to++] = Scalar(0);
  begin_of_row_.insert(begin_of_row_.end(), at(block_), to);
}

} // namespace ribbon::petsc
