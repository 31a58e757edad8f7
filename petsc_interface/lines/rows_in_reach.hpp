// SPDX-License-Identifier: BSD-2-Clause
/// @file rows_in_reach.hpp  The rows of a rank, and two layers of rows of other ranks that couple with them.
#pragma once

#include "own_rows.hpp"

#include <ribbon/lines_from_graph.hpp>

#include <memory>

namespace ribbon::petsc {

/// Elements and rows here have local numbers in the order of their global numbers. Rows of the outer layer
/// lack their couplings with elements further away.
class RowsInReach {
public:
  RowsInReach(Mat A, PetscInt block) : A_(A), comm_(PetscObjectComm((PetscObject)A)), block_(block) { }

  /// Reads the rows. Collective.
  PetscErrorCode Open(const LinesOfGraphOptions &options);
  PetscErrorCode Close() { return own_.Close(); }

  /// The rows, with the strengths of couplings instead of entries, and one element more, `nowhere()`. It
  /// stands for all that are not here: rows that are not complete couple with it as strongly as with the
  /// strongest element that they lack. Otherwise their weak couplings would be the strongest of their row.
  HostRows strengths() const { return {rows() + block_, begin_of_row_.data(), column_.get(), value_.get()}; }
  /// Frees what strengths() shows.
  void forget_strengths() { column_.reset(), value_.reset(), begin_of_row_ = {}; }

  PetscInt nowhere() const { return elements_; }
  bool     is_own(PetscInt element) const { return element >= lower_ && element < lower_ + own_elements_; }
  /// The global number of an element.
  PetscInt global(PetscInt element) const
  {
    return is_own(element) ? first_ + element - lower_
                           : others_.data[at(element < lower_ ? element : element - own_elements_)];
  }
  PetscInt       own_elements() const { return own_elements_; }
  PetscInt       first_own() const { return lower_; } ///< the local number of the first own element
  PetscInt       first() const { return first_; }     ///< its global number
  const OwnRows &own() const { return own_; }
  /// The position of the element of column own().others()[k] in the values of OfOthers().
  PetscInt    other_of(PetscInt k) const { return other_of_column_[at(k)]; }
  PetscMPIInt owner(PetscInt global_element) const
  {
    return static_cast<PetscMPIInt>(std::upper_bound(ranges_, ranges_ + ranks_ + 1, global_element * block_) -
                                    ranges_) -
           1;
  }
  PetscMPIInt ranks() const { return ranks_; }
  PetscMPIInt rank() const { return rank_; }

  /// f(own element) of the ranks that own the elements of other ranks, in their order. Collective.
  template <class T, class F>
  PetscErrorCode OfOthers(const F &f, std::vector<T> *values) const
  {
    Parcels<T> answers, got;
    PetscFunctionBegin;
    answers.begin = asked_.begin;
    answers.data.reserve(asked_.data.size());
    for (PetscInt element : asked_.data) answers.data.push_back(f(element - first_));
    PetscCall(Exchange(comm_, answers, &got));
    *values = std::move(got.data);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static std::size_t at(PetscInt k) { return static_cast<std::size_t>(k); }
  PetscInt           rows() const { return elements_ * block_; }

  PetscErrorCode Divide(Indices elements, Parcels<PetscInt> *by_rank) const;
  PetscErrorCode Fetch(const Indices &elements, SentRows *rows) const;
  void           assemble(const Indices (&layer)[2], const SentRows (&rows)[2]);
  double         largest_coupling(PetscInt element) const;
  PetscErrorCode Complete();
  void           complete(const std::vector<double> &maxima);

  Mat               A_;
  MPI_Comm          comm_;
  PetscInt          block_;
  PetscMPIInt       ranks_ = 1, rank_ = 0;
  const PetscInt   *ranges_ = nullptr;
  PetscInt          first_ = 0, own_elements_ = 0, lower_ = 0, elements_ = 0;
  OwnRows           own_;
  Parcels<PetscInt> others_; ///< elements of other ranks, ascending, by their rank
  Parcels<PetscInt> asked_;  ///< own elements that are others of each rank
  Indices           other_of_column_;
  // the rows
  Indices                     begin_of_row_;
  std::unique_ptr<PetscInt[]> column_;
  std::unique_ptr<Scalar[]>   value_;
};

} // namespace ribbon::petsc
