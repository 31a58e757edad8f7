// SPDX-License-Identifier: BSD-2-Clause
#include "coloring.hpp"
#include "grid.hpp"

#include "../support/format.hpp"
#include "../support/session.hpp"

namespace ribbon::petsc {

namespace {

/// Makes an array of unknowns and ghosts without colours.
template <class Exec>
PetscErrorCode NoColors(const UnknownRows &rows, ColorArray<Exec> *colors)
{
  const auto all = static_cast<std::size_t>(rows.unknowns() + rows.ghosts());
  PetscFunctionBegin;
  if (colors->size() != all)
    PetscCallCXX(*colors = allocate<ColorArray<Exec>>(current_space<Exec>(), "ribbon::colors", all));
  PetscCallCXX(Kokkos::deep_copy(current_space<Exec>(), *colors, -1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether no rank has a coupling within a colour. Collective.
template <class Exec>
PetscErrorCode IsProperEverywhere(UnknownRows &rows, const ColorArray<Exec> &colors, bool *proper)
{
  int all = 0;
  PetscFunctionBegin;
  for (const std::int64_t among :
       {std::int64_t(1000), std::int64_t(1) << 62}) { // a few rows reject most stencils
    PetscCall(rows.with<Exec>([&](const MulticolorRows<Scalar> &r) -> PetscErrorCode {
      PetscFunctionBegin;
      PetscCallCXX(all = is_proper(current_space<Exec>(), r, colors, among));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    if (!all) break;
  }
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)rows.aij())));
  *proper = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Tries the colours of two stencils on a grid, of which the first one has fewer colours.
template <class Exec>
PetscErrorCode TryWidth(UnknownRows &rows, PCMulticolorCut cut, const UnknownGrid &grid, int width,
                        ColorArray<Exec> *colors, ColorsFound *found)
{
  bool proper = false;
  PetscFunctionBegin;
  for (bool box : {false, true}) {
    GridColoring by = grid.points;
    by.box = box, by.width = width;
    PetscCall(ColorGrid<Exec>(rows, by, cut, colors));
    PetscCall(IsProperEverywhere<Exec>(rows, *colors, &proper));
    if (!proper) continue;
    found->on_grid = true, found->grid = by;
    found->count = by.colors(grid.dimensions);
    found->how   = format("grid of %lld x %lld x %lld points of the %s, for a %s of width %d",
                          (long long)grid.all[0], (long long)grid.all[1], (long long)grid.all[2],
                          grid.source.c_str(), box ? "box" : "star", width);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Colours by the coordinates of a grid: of the DMDA, and of the pattern if that of the DMDA does not fit the
/// matrix. Sets found->on_grid, or why_not.
template <class Exec>
PetscErrorCode OnGrid(PC pc, UnknownRows &rows, PCMulticolorCut cut, ColorArray<Exec> *colors,
                      ColorsFound *found, std::string *why_not)
{
  UnknownGrid grids[2];
  PetscFunctionBegin;
  PetscCall(GridOfDM(pc, rows, &grids[0]));
  for (int width : {1, 2})
    for (UnknownGrid &grid : grids) {
      if (width == 1 && &grid == &grids[1]) PetscCall(GridOfPattern(rows, &grid));
      // a chain is a guess, whose two colours are as few as there can be
      if (!grid.source.empty() && (width == 1 || grid.why_not.empty()))
        PetscCall(TryWidth<Exec>(rows, cut, grid, width, colors, found));
      if (found->on_grid) PetscFunctionReturn(PETSC_SUCCESS);
    }
  for (const UnknownGrid &grid : grids)
    if (why_not->empty()) *why_not = grid.why_not;
  if (why_not->empty())
    *why_not =
      "unknowns of the " + grids[!grids[1].source.empty()].source +
      " couple further than two points away, or around a period whose length these colours do not divide";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A sum over the entries between ranks that is 0 if their pattern is symmetric, and hardly ever otherwise.
/// Collective.
PetscErrorCode IsSymmetricBetweenRanks(const UnknownRows &rows, bool *symmetric)
{
  Mat             blocks[2] = {nullptr, nullptr};
  const PetscInt *columns;
  HostRows        others;
  PetscInt        begin;
  std::uint64_t   sum = 0;
  PetscFunctionBegin;
  PetscCall(GetOffProcessBlock(rows.aij(), &blocks[1], &columns));
  PetscCall(MatGetOwnershipRange(rows.aij(), &begin, nullptr));
  if (blocks[1]) {
    PetscCall(GetHostRows(blocks[1], true, &others));
    for (PetscInt i = 0; i < others.rows; ++i)
      for (PetscInt e = others.row_begin[i]; e < others.row_begin[i + 1]; ++e) {
        const auto r = static_cast<std::uint64_t>(begin + i),
                   c = static_cast<std::uint64_t>(columns[others.column[e]]);
        if (others.value[e] == Scalar(0)) continue;
        sum += coloring_key(r ^ coloring_key(c)) - coloring_key(c ^ coloring_key(r));
      }
    PetscCall(RestoreHostRows(blocks[1], &others));
  }
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, PetscObjectComm((PetscObject)rows.aij())));
  *symmetric = sum == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// |A| + |A^T| as a host matrix, which has a symmetric pattern.
PetscErrorCode SymmetricPattern(Mat aij, Mat *both)
{
  Mat             blocks[2], transposed;
  const PetscInt *columns;
  PetscFunctionBegin;
  PetscCall(MatConvert(aij, MATAIJ, MAT_INITIAL_MATRIX, both));
  PetscCall(GetOffProcessBlock(*both, &blocks[1], &columns));
  blocks[0] = *both;
  if (blocks[1]) PetscCall(MatMPIAIJGetSeqAIJ(*both, &blocks[0], nullptr, nullptr));
  for (Mat block : blocks) {
    HostRows     rows;
    PetscScalar *values;
    if (!block) continue;
    PetscCall(GetHostRows(block, false, &rows));
    PetscCall(MatSeqAIJGetArray(block, &values));
    for (PetscInt e = 0; e < rows.row_begin[rows.rows]; ++e) values[e] = PetscAbsScalar(values[e]);
    PetscCall(MatSeqAIJRestoreArray(block, &values));
    PetscCall(RestoreHostRows(block, &rows));
  }
  PetscCall(MatTranspose(*both, MAT_INITIAL_MATRIX, &transposed));
  PetscCall(MatAXPY(*both, 1, transposed, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Keys by the numbers of unknowns over all ranks.
template <class Exec>
auto Keys(const UnknownRows &rows)
{
  const std::vector<PetscInt> &ghosts = rows.ghost_numbers();
  return coloring_keys(current_space<Exec>(), rows.first(), rows.unknowns(),
                       std::vector<std::int64_t>(ghosts.begin(), ghosts.end()));
}

PetscErrorCode Reduce(std::int64_t *values, int n, MPI_Op operation, MPI_Comm comm)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, operation, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Communication of a colouring over all ranks. An error is kept in *error.
template <class Exec>
ColoringRanks OverAllRanks(const UnknownRows &rows, const ColorArray<Exec> &colors, PetscErrorCode *error)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)rows.aij());
  const auto     done = [error](PetscErrorCode e) {
    if (e) *error = e;
    return !e;
  };
  ColoringRanks ranks;
  ranks.exchange = [=, &rows] { return done(ShareColors<Exec>(rows, colors)); };
  ranks.sum      = [=](std::int64_t *values, int n) { return done(Reduce(values, n, MPI_SUM, comm)); };
  ranks.largest  = [=](std::int64_t *value) { return done(Reduce(value, 1, MPI_MAX, comm)); };
  return ranks;
}

/// Colours by Jones and Plassmann over all ranks.
template <class Exec>
PetscErrorCode InParallel(UnknownRows &rows, const ColorArray<Exec> &colors, ColorsFound *found)
{
  PetscFunctionBegin;
  PetscCall(rows.with<Exec>([&](const MulticolorRows<Scalar> &r) -> PetscErrorCode {
    PetscErrorCode error = PETSC_SUCCESS;
    PetscFunctionBegin;
    PetscCallCXX(found->count =
                   color_in_parallel(current_space<Exec>(), unknown_graph(current_space<Exec>(), r),
                                     Keys<Exec>(rows), colors, OverAllRanks<Exec>(rows, colors, &error)));
    PetscCall(error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  found->how = "Jones and Plassmann";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Colours of a matrix with a symmetric pattern, for the own unknowns of `rows`.
template <class Exec>
PetscErrorCode InParallelBy(Mat both, UnknownRows &rows, const ColorArray<Exec> &colors, ColorsFound *found)
{
  UnknownRows          symmetric;
  ColorArray<HostExec> all;
  const auto           own = std::make_pair(std::size_t(0), static_cast<std::size_t>(rows.unknowns()));
  PetscFunctionBegin;
  PetscCall(symmetric.set_up(both, rows.block()));
  PetscCallCXX(all = ColorArray<HostExec>(
                 "ribbon::colors", static_cast<std::size_t>(symmetric.unknowns() + symmetric.ghosts())));
  PetscCall(InParallel<HostExec>(symmetric, all, found));
  PetscCallCXX(Kokkos::deep_copy(Kokkos::subview(colors, own), Kokkos::subview(all, own)));
  PetscCall(ShareColors<Exec>(rows, colors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same for a matrix whose pattern is not symmetric between ranks.
template <class Exec>
PetscErrorCode InParallelWithTransposed(UnknownRows &rows, const ColorArray<Exec> &colors, ColorsFound *found)
{
  Mat both;
  PetscFunctionBegin;
  PetscCall(SymmetricPattern(rows.aij(), &both));
  const PetscErrorCode error = InParallelBy<Exec>(both, rows, colors, found);
  PetscCall(MatDestroy(&both));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

constexpr const char *in_order = "first fit in the order of the rows";

/// First fit in the order of the rows, each rank by itself.
template <class Exec>
PetscErrorCode Greedily(const UnknownGraph<Exec> &graph, const ColorArray<Exec> &colors, ColorsFound *found)
{
  PetscFunctionBegin;
  PetscCallCXX(found->count = color_greedily(current_space<Exec>(), graph, colors));
  found->how = in_order;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Two colours if the own rows of all ranks have no odd cycle. Otherwise found->how stays empty.
template <class Exec>
PetscErrorCode Bipartite(const UnknownGraph<Exec> &graph, MPI_Comm comm, const ColorArray<Exec> &colors,
                         ColorsFound *found)
{
  int all = 0;
  PetscFunctionBegin;
  PetscCallCXX(all = color_bipartite(current_space<Exec>(), graph, colors));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, comm));
  if (!all) PetscFunctionReturn(PETSC_SUCCESS);
  found->count = 2;
  found->how   = "breadth-first search, which found no odd cycle";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The graph of the own rows.
template <class Exec>
PetscErrorCode OwnGraph(UnknownRows &rows, UnknownGraph<Exec> *graph)
{
  PetscFunctionBegin;
  PetscCall(rows.with<Exec>([&](const MulticolorRows<Scalar> &r) -> PetscErrorCode {
    MulticolorRows<Scalar> seen = r;
    PetscFunctionBegin;
    seen.others.rows = 0, seen.ghosts = 0;
    PetscCallCXX(*graph = unknown_graph(current_space<Exec>(), seen));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Colours by the graph of each rank.
template <class Exec>
PetscErrorCode OnOwnGraph(UnknownRows &rows, PCMulticolorColoring wanted, const ColorArray<Exec> &colors,
                          ColorsFound *found)
{
  UnknownGraph<Exec> graph;
  PetscFunctionBegin;
  PetscCall(OwnGraph<Exec>(rows, &graph));
  if (wanted == PC_MULTICOLOR_COLORING_AUTO)
    PetscCall(Bipartite<Exec>(graph, PetscObjectComm((PetscObject)rows.aij()), colors, found));
  if (!found->how.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (wanted == PC_MULTICOLOR_COLORING_AUTO && is_device_space<Exec>) {
    PetscCallCXX(found->count = color_greedily_in_rounds(current_space<Exec>(), graph, colors));
    if (found->count > 0) found->how = in_order;
    else wanted = PC_MULTICOLOR_COLORING_JP;
  }
  if (!found->how.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (wanted == PC_MULTICOLOR_COLORING_JP) {
    PetscCallCXX(found->count = color_in_parallel(current_space<Exec>(), graph, Keys<Exec>(rows), colors));
    found->how = "Jones and Plassmann";
  } else PetscCall(Greedily<Exec>(graph, colors, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Colours by the graph of the matrix.
template <class Exec>
PetscErrorCode OnGraph(UnknownRows &rows, PCMulticolorColoring wanted, PCMulticolorCut cut,
                       const ColorArray<Exec> &colors, ColorsFound *found)
{
  const bool exact     = cut == PC_MULTICOLOR_CUT_EXACT && rows.ranks() > 1;
  bool       symmetric = true;
  PetscFunctionBegin;
  if (!exact) {
    PetscCall(OnOwnGraph<Exec>(rows, wanted, colors, found));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(IsSymmetricBetweenRanks(rows, &symmetric));
  if (symmetric) PetscCall(InParallel<Exec>(rows, colors, found));
  else PetscCall(InParallelWithTransposed<Exec>(rows, colors, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

template <class Exec>
PetscErrorCode ShareColors(const UnknownRows &rows, const ColorArray<Exec> &colors)
{
  const auto n = static_cast<std::size_t>(rows.unknowns());
  PetscFunctionBegin;
  PetscCallCXX(current_space<Exec>().fence());
  if constexpr (is_device_space<Exec>) {
    const auto host = Kokkos::create_mirror_view(colors);
    PetscCallCXX(Kokkos::deep_copy(host, colors));
    PetscCall(rows.share(MPI_INT, PETSC_MEMTYPE_HOST, host.data(), host.data() + n));
    PetscCallCXX(Kokkos::deep_copy(colors, host));
  } else PetscCall(rows.share(MPI_INT, PETSC_MEMTYPE_HOST, colors.data(), colors.data() + n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Exec>
PetscErrorCode ColorGrid(const UnknownRows &rows, const GridColoring &grid, PCMulticolorCut cut,
                         ColorArray<Exec> *colors)
{
  PetscFunctionBegin;
  PetscCall(NoColors<Exec>(rows, colors));
  PetscCallCXX(color_grid(current_space<Exec>(), grid, rows.unknowns(), *colors));
  if (cut == PC_MULTICOLOR_CUT_EXACT) PetscCall(ShareColors<Exec>(rows, *colors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Exec>
PetscErrorCode ColorUnknowns(PC pc, UnknownRows &rows, PCMulticolorColoring wanted, PCMulticolorCut cut,
                             ColorArray<Exec> *colors, ColorsFound *found)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  std::string    why_not;
  PetscFunctionBegin;
  *found = {};
  PetscCheck(wanted != PC_MULTICOLOR_COLORING_GREEDY || cut != PC_MULTICOLOR_CUT_EXACT || rows.ranks() == 1,
             comm, PETSC_ERR_SUP,
             "PC multicolor: %s greedy colours the rows of one rank, and %s exact needs colours over all "
             "ranks: take jp",
             option_of((PetscObject)pc, "pc_multicolor_coloring").c_str(),
             option_of((PetscObject)pc, "pc_multicolor_cut").c_str());
  if (wanted == PC_MULTICOLOR_COLORING_AUTO || wanted == PC_MULTICOLOR_COLORING_GRID)
    PetscCall(OnGrid<Exec>(pc, rows, cut, colors, found, &why_not));
  PetscCheck(found->count > 0 || wanted != PC_MULTICOLOR_COLORING_GRID, comm, PETSC_ERR_SUP,
             "PC multicolor: %s grid: %s", option_of((PetscObject)pc, "pc_multicolor_coloring").c_str(),
             why_not.c_str());
  if (!found->on_grid) {
    PetscCall(NoColors<Exec>(rows, colors));
    PetscCall(OnGraph<Exec>(rows, wanted, cut, *colors, found));
  }
  found->most = found->count;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found->most, 1, MPIU_INT, MPI_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define RIBBON_COLOR_UNKNOWNS(Exec)                                                                          \
  template PetscErrorCode ColorUnknowns<Exec>(PC, UnknownRows &, PCMulticolorColoring, PCMulticolorCut,      \
                                              ColorArray<Exec> *, ColorsFound *);                            \
  template PetscErrorCode ColorGrid<Exec>(const UnknownRows &, const GridColoring &, PCMulticolorCut,        \
                                          ColorArray<Exec> *);
RIBBON_COLOR_UNKNOWNS(HostExec)
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
RIBBON_COLOR_UNKNOWNS(DeviceExec)
#endif

} // namespace ribbon::petsc
