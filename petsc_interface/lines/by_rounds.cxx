// SPDX-License-Identifier: BSD-2-Clause
#include "by_rounds.hpp"

#include "../support/session.hpp"
#include "add_lines.hpp"

#include <ribbon/lines_by_rounds.hpp>
#include <ribbon/matrix/line_reach.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace ribbon::petsc {

namespace {

/// The lines of a rank in the memory of its block.
class LinesThere {
public:
  virtual ~LinesThere() = default;
  /// `found`: false if lines_by_rounds() does not accept the block.
  virtual PetscErrorCode search(const LinesOfGraphOptions &options, bool *found) = 0;
  /// Uses these lines instead of a search.
  virtual PetscErrorCode set(const LinesOfGraph &lines) = 0;
  /// Replaces lines of blocks by lines of their rows.
  virtual PetscErrorCode divide() = 0;
  /// The entries along lines, up to largest_half_bandwidth away.
  virtual PetscErrorCode couplings(LineCouplings *found) = 0;
  virtual PetscErrorCode weigh(ReachOfLines *reach)      = 0;
  /// Rings, their elements, all elements.
  virtual PetscErrorCode count_rings(PetscInt (&count)[3]) = 0;
  /// Replaces the lines by those with folded rings, or restores them.
  virtual PetscErrorCode fold(bool folded)                       = 0;
  virtual PetscErrorCode copy_to_host(LinesOfGraph *lines) const = 0;
  virtual PetscErrorCode layout(LineLayout *to) const            = 0;
  virtual std::int64_t   lines() const                           = 0;
  /// rows of an element
  virtual int components() const = 0;
};

template <class Exec>
class LinesThereOn final : public LinesThere {
  using Memory = typename Exec::memory_space;
  using Array  = Kokkos::View<std::int64_t *, Memory>;

public:
  LinesThereOn(Mat block, int components) : block_(block), components_(components) { }

  PetscErrorCode search(const LinesOfGraphOptions &options, bool *found) override
  {
    std::optional<LinesInMemory<Memory>> lines;
    PetscFunctionBegin;
    PetscCall(WithCsr<Exec>(
      block_, [&](const auto &A) { lines = lines_by_rounds(current_space<Exec>(), A, options); }));
    *found = lines.has_value();
    if (*found) PetscCallCXX(take(*lines));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode set(const LinesOfGraph &lines) override
  {
    const Exec exec = current_space<Exec>();
    PetscFunctionBegin;
    PetscCallCXX(take(
      {upload(exec, "ribbon::order", lines.order),
       upload(exec, "ribbon::begin", lines.begin.empty() ? std::vector<std::int64_t>{0} : lines.begin)}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode divide() override
  {
    PetscFunctionBegin;
    PetscCallCXX(take(lines_of_rows(current_space<Exec>(), lines_, std::exchange(components_, 1))));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode couplings(LineCouplings *found) override
  {
    PetscFunctionBegin;
    PetscCall(WithCsr<Exec>(
      block_, [&](const auto &A) { *found = line_couplings(current_space<Exec>(), A, places()); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode weigh(ReachOfLines *reach) override
  {
    PetscFunctionBegin;
    PetscCall(WithCsr<Exec>(block_, [&](const auto &A) {
      const ReachWeights weights = reach_weights(current_space<Exec>(), A, places());
      std::copy(weights.begin(), weights.end(), reach->weight);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode count_rings(PetscInt (&count)[3]) override
  {
    PetscFunctionBegin;
    PetscCall(WithCsr<Exec>(block_, [&](const auto &A) {
      rings_ = find_rings(current_space<Exec>(), A, lines_, ReachOfLines::closes, components_);
    }));
    count[0] = static_cast<PetscInt>(rings_.lines), count[1] = static_cast<PetscInt>(rings_.elements),
    count[2] = static_cast<PetscInt>(lines_.order.extent(0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode fold(bool folded) override
  {
    PetscFunctionBegin;
    if (folded) {
      open_ = lines_;
      PetscCallCXX(take(ribbon::fold(current_space<Exec>(), open_, rings_)));
    } else PetscCallCXX(take(open_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode copy_to_host(LinesOfGraph *lines) const override
  {
    PetscFunctionBegin;
    PetscCallCXX(*lines = on_host(current_space<Exec>(), lines_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode layout(LineLayout *to) const override
  {
    PetscFunctionBegin;
    PetscCallCXX(*to = layout_of_tables());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::int64_t lines() const override { return lines_.lines(); }
  int          components() const override { return components_; }

private:
  void take(LinesInMemory<Memory> lines)
  {
    packed_ = pack(current_space<Exec>(), lines);
    lines_  = lines;
  }

  LinePlaces places() const
  {
    LinePlaces places{LineSet::interleaved(packed_.rows, packed_.pieces)};
    places.place = packed_.position_of.data(), places.element = packed_.row_at.data(),
    places.part = packed_.line_at.data(), places.components = components_;
    return places;
  }

  /// A table that is copied to the host on first use.
  static Table table_of(const Array &there)
  {
    return std::make_shared<const TableOfPlaces>([there] {
      const Exec                exec = current_space<Exec>();
      std::vector<std::int64_t> here(there.extent(0));
      Kokkos::deep_copy(
        exec,
        Kokkos::View<std::int64_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(here.data(),
                                                                                                 here.size()),
        there);
      exec.fence();
      return here;
    });
  }

  LineLayout layout_of_tables() const
  {
    const auto tables = std::make_shared<TablesIn<Memory>>();
    tables->lines     = lines_.lines();
    tables->elements  = static_cast<std::int64_t>(lines_.order.extent(0));
    tables->packing   = {packed_.position_of, packed_.row_at};
    tables->part      = packed_.line_at;
    return {LineSet::interleaved(packed_.rows, packed_.pieces), table_of(packed_.row_at),
            table_of(packed_.line_at), tables};
  }

  Mat                         block_;
  int                         components_;
  LinesInMemory<Memory>       lines_, open_; ///< open_: before rings were folded
  PackedLinesInMemory<Memory> packed_;
  Rings<Memory>               rings_;
};

/// Reads the couplings of lines, and the reach of their entries over all ranks. Collective.
PetscErrorCode Examine(MPI_Comm comm, LinesThere *lines, LineCouplings *found, ReachOfLines *reach)
{
  PetscFunctionBegin;
  PetscCall(lines->couplings(found));
  reach->largest    = found->too_far_row >= 0 ? ReachOfLines::most + 1 : found->half_bandwidth;
  reach->components = found->component_row >= 0;
  PetscCall(SumOverRanks(comm, reach));
  if (reach->largest <= ReachOfLines::most) PetscFunctionReturn(PETSC_SUCCESS); // bands hold all entries
  PetscCall(lines->weigh(reach));
  PetscCall(SumOverRanks(comm, reach));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Folds rings by the rule of FoldRings() (add_lines.cxx). Collective.
PetscErrorCode FoldRingsThere(MPI_Comm comm, LinesThere *lines, LineCouplings *found, ReachOfLines *reach,
                              LineDirection *direction)
{
  PetscInt      count[3];
  LineCouplings of_folded;
  ReachOfLines  folded;
  PetscFunctionBegin;
  PetscCall(lines->count_rings(count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 3, MPIU_INT, MPI_SUM, comm));
  if (static_cast<double>(count[1]) <= ReachOfLines::little * static_cast<double>(count[2]))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(lines->fold(true));
  PetscCall(Examine(comm, lines, &of_folded, &folded));
  if (folded.left_out() < reach->left_out()) {
    *found = of_folded, *reach = folded;
    direction->rings = count[0];
  } else PetscCall(lines->fold(false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Finds the colours of lines on the host. Collective.
PetscErrorCode ColourOnHost(MPI_Comm comm, Mat block, const LinesThere &lines, LineDirection *direction)
{
  HostRows     rows;
  LinesOfGraph here;
  PetscFunctionBegin;
  PetscCall(lines.copy_to_host(&here));
  PetscCall(GetHostRows(block, true, &rows));
  PetscCall(ColourLines(comm, rows, here, lines.components(), false, direction));
  PetscCall(RestoreHostRows(block, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Create(Mat block, int components, std::unique_ptr<LinesThere> *lines)
{
  bool on_device;
  PetscFunctionBegin;
  PetscCall(BlockIsOnDevice(block, &on_device));
  if (has_device && on_device) *lines = std::make_unique<LinesThereOn<DeviceExec>>(block, components);
  else *lines = std::make_unique<LinesThereOn<HostExec>>(block, components);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An array of the host in the memory of Exec.
template <class Exec, class Word>
auto in_memory_of(const Word *from, std::int64_t n)
{
  return Kokkos::create_mirror_view_and_copy(
    typename Exec::memory_space(),
    Kokkos::View<const Word *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      from, static_cast<std::size_t>(n)));
}

template <class Exec>
bool find_by_rounds(const HostRows &rows, const LinesOfGraphOptions &options, LinesOfGraph *lines)
{
  const Exec exec    = current_space<Exec>();
  const auto entries = rows.rows > 0 ? rows.row_begin[rows.rows] : 0;
  const auto begin   = in_memory_of<Exec>(rows.row_begin, rows.rows + 1),
             column  = in_memory_of<Exec>(rows.column, entries);
  const auto value   = in_memory_of<Exec>(rows.value, entries);
  const auto found   = lines_by_rounds(
      exec, CsrMatrix<Scalar, PetscInt>{rows.rows, begin.data(), column.data(), value.data()}, options);
  if (found) *lines = on_host(exec, *found);
  return found.has_value();
}

/// Adds the direction of lines. Chooses their band as AddLines(). Collective.
PetscErrorCode Add(const LineSource &source, const char *name, LinesThere *lines, LineMap *map)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)source.rows);
  LineDirection  direction;
  LineCouplings  couplings;
  ReachOfLines   reach;
  PetscFunctionBegin;
  PetscCall(Examine(comm, lines, &couplings, &reach));
  if (reach.may_fold(lines->components()))
    PetscCall(FoldRingsThere(comm, lines, &couplings, &reach, &direction));
  direction.widest = reach.widest(lines->components());
  if (reach.needs_rows(lines->components())) PetscCall(lines->divide());
  // zeros may be further away than the band reaches
  else if (reach.largest <= direction.widest && couplings.not_finite < 0 &&
           couplings.stored_bandwidth <= std::max(1, couplings.half_bandwidth))
    direction.known = couplings;
  direction.components = lines->components();
  PetscCall(lines->layout(&direction));
  if (map->coloured) PetscCall(ColourOnHost(comm, source.block, *lines, &direction));
  PetscCall(AddDirection(comm, name, lines->lines(), std::move(direction), map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode AddLinesByRounds(const LineSource &source, const LinesOfGraphOptions &options, bool *found,
                                LineMap *map)
{
  std::unique_ptr<LinesThere> lines;
  int                         all;
  PetscFunctionBegin;
  PetscCall(Create(source.block, options.block, &lines));
  PetscCall(lines->search(options, found));
  all = *found;
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)source.rows)));
  *found = all != 0;
  if (*found) PetscCall(Add(source, "matrix", lines.get(), map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindLinesByRounds(const HostRows &rows, bool on_device, const LinesOfGraphOptions &options,
                                 bool *found, LinesOfGraph *lines)
{
  PetscFunctionBegin;
  if (has_device && on_device) PetscCallCXX(*found = find_by_rounds<DeviceExec>(rows, options, lines));
  else PetscCallCXX(*found = find_by_rounds<HostExec>(rows, options, lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AddLinesThere(const LineSource &source, const char *name, const LinesOfGraph &given,
                             int components, LineMap *map)
{
  std::unique_ptr<LinesThere> lines;
  PetscFunctionBegin;
  PetscCall(Create(source.block, components, &lines));
  PetscCall(lines->set(given));
  PetscCall(Add(source, name, lines.get(), map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
