// SPDX-License-Identifier: BSD-2-Clause
/// @file reader.hpp  The data that an operator of lines reads of a block before it factors, and the places
///   of lines in vectors.
#pragma once

#include "operator.hpp"

#include "../distributed/outside_bands.hpp"
#include "../lines/given_bands.hpp"
#include "../support/csr.hpp"
#include "../support/session.hpp"
#include "shared_bands.hpp"

#include <ribbon/matrix/lump_left_out.hpp>
#include <ribbon/matrix/packing.hpp>

#include <algorithm>
#include <map>

namespace ribbon::petsc {

/// The matrices of lines that are read from a block, and where packed lines lie.
template <class Exec>
struct LineMatrices {
  Bands<Scalar, typename Exec::memory_space> bands;
  Packing<typename Exec::memory_space>       packing;        ///< empty: lines lie in the vectors themselves
  int                                        components = 1; ///< unknowns of an element of the table
  std::int64_t                               lumped     = 0; ///< entries outside of the bands
  bool                                       is_packed() const { return packing.element.extent(0) > 0; }
};

/// The part of the operator that does not depend on the precision of the factors.
template <class Exec>
class LineReaderOn : public LineOperator {
public:
  bool on_device() const override { return is_device_space<Exec>; }

  PetscErrorCode histograms(Mat block, const std::vector<LineDirection> &directions,
                            std::vector<std::vector<std::int64_t>> *votes) override
  {
    return WithCsr<Exec>(block, [&](const auto &A) {
      *votes =
        strength_histograms(current_space<Exec>(), A, places_of(directions, A.rows), every(A.rows, enough));
    });
  }

  PetscErrorCode couplings(Mat block, const LineDirection &direction, LineCouplings *found) override
  {
    return WithCsr<Exec>(block, [&](const auto &A) {
      *found = line_couplings(current_space<Exec>(), A, places_of(direction, A.rows), every(A.rows));
    });
  }

  PetscErrorCode preferences(Mat block, const std::vector<LineDirection> &directions,
                             const std::vector<LineComparison> &comparisons, double factor,
                             std::vector<LinePreference> *found) override
  {
    return WithCsr<Exec>(block, [&](const auto &A) {
      *found = line_preferences(current_space<Exec>(), A, places_of(directions, A.rows), comparisons, factor,
                                every(A.rows, enough));
    });
  }

  void look_at(std::int64_t rows) override { most_ = rows; }

protected:
  /// With this many rows the standard error of the fraction that prefers a direction is at most 0.4%.
  static constexpr std::int64_t enough = 16384;

  /// Distance between examined rows. @param most  default number of rows; 0: all
  std::int64_t every(std::int64_t rows, std::int64_t most = 0) const
  {
    const std::int64_t sample = most_ > 0 ? most_ : most;
    return sample > 0 ? std::max<std::int64_t>(1, rows / sample) : 1;
  }

  using Tables = TablesIn<typename Exec::memory_space>;

  /// The tables of packed lines in the memory of Exec: those of the search, or copies.
  const Tables &tables_of(const LineDirection &direction, std::int64_t rows)
  {
    if (const auto *there = dynamic_cast<const Tables *>(direction.tables.get())) return *there;
    auto found = tables_.find(direction.element);
    if (found == tables_.end()) {
      const Exec exec = current_space<Exec>();
      Tables     tables;
      tables.packing = make_packing(exec, direction.element->entries(), rows / direction.components);
      tables.part    = upload(exec, "ribbon::part", direction.part->entries());
      found          = tables_.emplace(direction.element, tables).first;
    }
    return found->second;
  }

  /// Places of the rows of a block on lines. Tables are uploaded once for all functions that examine their
  /// direction.
  LinePlaces places_of(const LineDirection &direction, std::int64_t rows)
  {
    LinePlaces places{direction.lines, direction.wrap, direction.components, direction.widest};
    const Exec exec = current_space<Exec>();
    if (direction.outside) {
      auto sums = outside_.find(direction.outside);
      if (sums == outside_.end())
        sums = outside_.emplace(direction.outside, upload(exec, "ribbon::outside", *direction.outside)).first;
      places.outside = sums->second.data();
    }
    if (!direction.element) return places;
    const Tables &tables = tables_of(direction, rows);
    places.place = tables.packing.place.data(), places.element = tables.packing.element.data(),
    places.part = tables.part.data();
    return places;
  }

  std::vector<LinePlaces> places_of(const std::vector<LineDirection> &directions, std::int64_t rows)
  {
    std::vector<LinePlaces> places;
    for (const LineDirection &direction : directions) places.push_back(places_of(direction, rows));
    return places;
  }

  /// Reads the matrices of lines from a block, or uses given bands.
  PetscErrorCode Extract(const Exec &exec, const LineSource &source, const LineRequest &request,
                         LineMatrices<Exec> *read)
  {
    const LineDirection &direction = request.direction;
    PetscFunctionBegin;
    if (source.given) {
      const auto *here = dynamic_cast<const GivenBandsOn<Exec> *>(source.given);
      PetscCheck(here, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PC line: given bands are not in the memory of %s",
                 Exec::name());
      PetscCallCXX(read->bands = here->bands(exec, LooksAtLines(request)));
      read->bands.periodic = request.periodic && !direction.chain;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(WithCsr<Exec>(source.block, [&](const auto &A) {
      LinePlaces places = places_of(direction, A.rows);
      places.wrap       = request.periodic && !direction.chain;
      read->bands       = extract_bands(exec, A, places, request.half_bandwidth);
      if (direction.lumped) read->lumped = lump_left_out(exec, A, places, read->bands);
      if (direction.element) read->packing = tables_of(direction, A.rows).packing;
    }));
    read->components = read->bands.block * source.factors.p;
    if (direction.chain) PetscCallCXX(insert_outside(exec, *request.outside, direction, read->bands));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Frees the data that only the examination of directions needs.
  void forget_places() { tables_.clear(), outside_.clear(); }

  /// of look_at()
  std::int64_t most_ = 0;
  /// copies, of directions that were examined
  std::map<Table, Tables> tables_;
  /// of directions that were examined
  std::map<std::shared_ptr<const std::vector<double>>, Kokkos::View<double *, typename Exec::memory_space>>
    outside_;
};

/// Lines as they lie in the vectors: lines of blocks if components couple, otherwise neighbouring lines,
/// one for each component.
inline LineSet solved_lines(const LineSource &source, const LineRequest &request)
{
  const LineSet &lines = request.direction.lines;
  if (request.direction.components > 1) return lines.with_components(request.direction.components);
  if (source.factors.coupled) return lines.with_components(source.factors.p);
  return split_components(lines, source.factors.p)[0];
}

/// Adds columns at a distance of lda, as the stride that is free.
inline LineSet with_columns(LineSet s, std::int64_t columns, std::int64_t lda)
{
  if (s.count0 == 1) s.count0 = columns, s.stride0 = lda;
  else s.count1 = columns, s.stride1 = lda;
  return s;
}

} // namespace ribbon::petsc
