// SPDX-License-Identifier: BSD-2-Clause
// Views of KSP line: the lines of its last solve.
#include "ksp.hpp"

#include "../support/format.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace ribbon::petsc {

namespace {

constexpr int shown = 5; // how many of the worst lines are printed
// decades of the histogram; the first includes all smaller values, the last all larger ones
constexpr int lowest = -17, highest = 0;
constexpr int decades = highest - lowest + 1;

/// One of the worst lines, in the form that ranks exchange.
struct Worst {
  double ratio = -1, row = 0, column = 0, solves = 0, rank = 0; ///< ratio -1: no line
};

PetscReal ratio(const LineOutcome &line)
{
  return line.residual == 0 ? 0
         : line.scale == 0  ? static_cast<PetscReal>(PETSC_INFINITY)
                            : line.residual / line.scale;
}

PetscInt solves(KSP ksp, const LineOutcome &line)
{
  return line.closed < 0 ? ksp->its : line.closed;
}

PetscErrorCode Outcomes(KSP ksp, std::vector<LineOutcome> *lines)
{
  const auto *line = static_cast<KSP_Line *>(ksp->data);
  PetscFunctionBegin;
  lines->clear();
  if (line->judged) PetscCall(line->lines->outcomes(lines));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Count(KSP ksp, const std::vector<LineOutcome> &lines, LineCounts *counts)
{
  PetscInt64 sums[4] = {static_cast<PetscInt64>(lines.size()), 0, 0, 0};
  PetscFunctionBegin;
  *counts = LineCounts();
  for (const LineOutcome &line : lines) {
    const PetscInt n = solves(ksp, line);
    if (n > 1) ++sums[1];
    if (n == 0) ++sums[2];
    if (line.closed < 0) ++sums[3];
    counts->worst = PetscMax(counts->worst, ratio(line));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)ksp)));
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, &counts->worst, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)ksp)));
  counts->lines = sums[0], counts->refined = sums[1], counts->untouched = sums[2], counts->open = sums[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The worst lines of all ranks, on rank 0.
PetscErrorCode GatherWorst(KSP ksp, std::vector<LineOutcome> lines, std::vector<Worst> *worst)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)ksp);
  PetscMPIInt    rank, size;
  Worst          own[shown];
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  const std::size_t count = std::min<std::size_t>(shown, lines.size());
  const auto        worse = [](const LineOutcome &a, const LineOutcome &b) {
    return ratio(a) != ratio(b)   ? ratio(a) > ratio(b)
                  : a.column != b.column ? a.column < b.column
                                         : a.row < b.row;
  };
  std::partial_sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count), lines.end(), worse);
  for (std::size_t k = 0; k < count; ++k)
    own[k] = {static_cast<double>(ratio(lines[k])), static_cast<double>(lines[k].row),
              static_cast<double>(lines[k].column), static_cast<double>(solves(ksp, lines[k])),
              static_cast<double>(rank)};
  constexpr int words = shown * static_cast<int>(sizeof(Worst) / sizeof(double));
  worst->resize(rank == 0 ? static_cast<std::size_t>(size) * shown : 0);
  PetscCallMPI(MPI_Gather(own, words, MPI_DOUBLE, worst->data(), words, MPI_DOUBLE, 0, comm));
  std::stable_sort(worst->begin(), worst->end(),
                   [](const Worst &a, const Worst &b) { return a.ratio > b.ratio; });
  worst->resize(std::min<std::size_t>(shown, worst->size()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Histogram(KSP ksp, const std::vector<LineOutcome> &lines, PetscInt64 (&counts)[decades])
{
  PetscFunctionBegin;
  std::fill(std::begin(counts), std::end(counts), 0);
  for (const LineOutcome &line : lines) {
    const double r = static_cast<double>(ratio(line));
    const int    d = r == 0 ? lowest
                     : !std::isfinite(r)
                       ? highest
                       : std::clamp(static_cast<int>(std::floor(std::log10(r))), lowest, highest);
    ++counts[d - lowest];
  }
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, counts, decades, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string text_of(const PetscInt64 (&counts)[decades])
{
  std::string text;
  for (int d = 0; d < decades; ++d)
    if (counts[d] > 0)
      text += format("%s%s1e%d: %lld", text.empty() ? "" : ", ", d == 0 ? "below " : "",
                     d == 0 ? lowest + 1 : lowest + d, static_cast<long long>(counts[d]));
  return text;
}

/// Componentwise backward errors of the last solve, line by line.
PetscErrorCode ViewBackwardErrors(KSP ksp, PetscViewer viewer)
{
  const auto       *line = static_cast<KSP_Line *>(ksp->data);
  AccurateResidual *accurate;
  Vec               errors;
  PetscReal         worst;
  PetscInt          row;
  PetscInt64        histogram[decades];
  PetscFunctionBegin;
  PetscCall(GetAccurateResidual(ksp, &accurate));
  if (line->of_a_matrix || !accurate) {
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "  componentwise backward error: unknown %s\n",
                             accurate ? "after KSPMatSolve()" : "of matrices whose rows cannot be read"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BackwardErrors(ksp, &errors));
  PetscCall(VecMax(errors, &row, &worst));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  componentwise backward error: %.1e, in row %" PetscInt_FMT "\n",
                                   (double)worst, row));
  if (line->judged) {
    std::vector<PetscReal>   largest;
    std::vector<LineOutcome> lines;
    PetscCall(line->lines->maxima(errors, &largest));
    for (PetscReal error : largest) lines.push_back({error, 1});
    PetscCall(Histogram(ksp, lines, histogram));
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "    lines of each power of ten: %s\n", text_of(histogram).c_str()));
  }
  PetscCall(VecDestroy(&errors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode BackwardErrors(KSP ksp, Vec *errors)
{
  const auto       *line = static_cast<KSP_Line *>(ksp->data);
  const MPI_Comm    comm = PetscObjectComm((PetscObject)ksp);
  AccurateResidual *accurate;
  Vec               r;
  PetscFunctionBegin;
  PetscCheck(line->solved && !line->of_a_matrix && ksp->vec_rhs && ksp->vec_sol, comm,
             PETSC_ERR_ARG_WRONGSTATE, "KSPLineGetBackwardError: call KSPSolve() first");
  PetscCall(GetAccurateResidual(ksp, &accurate));
  PetscCheck(accurate, comm, PETSC_ERR_SUP, "KSPLineGetBackwardError: cannot read the rows of Amat");
  PetscCall(VecDuplicate(ksp->vec_sol, errors));
  PetscCall(VecDuplicate(ksp->vec_sol, &r));
  PetscCall(accurate->compute(ksp->vec_rhs, ksp->vec_sol, r, *errors, ResidualSizes::quotients));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyLines(KSP ksp, PetscInt *n, PetscInt rows[], PetscInt columns[], PetscInt solved[],
                         PetscReal residuals[])
{
  std::vector<LineOutcome> lines;
  PetscFunctionBegin;
  PetscCall(Outcomes(ksp, &lines));
  if (n) *n = static_cast<PetscInt>(lines.size());
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (rows) rows[k] = static_cast<PetscInt>(lines[k].row);
    if (columns) columns[k] = lines[k].column;
    if (solved) solved[k] = solves(ksp, lines[k]);
    if (residuals) residuals[k] = ratio(lines[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CountLines(KSP ksp, LineCounts *counts)
{
  std::vector<LineOutcome> lines;
  PetscFunctionBegin;
  PetscCall(Outcomes(ksp, &lines));
  PetscCall(Count(ksp, lines, counts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ViewLines(KSP ksp, PetscViewer viewer)
{
  const auto              *line = static_cast<KSP_Line *>(ksp->data);
  std::vector<LineOutcome> lines;
  std::vector<Worst>       worst;
  LineCounts               counts;
  PetscInt64               histogram[decades];
  PetscBool                ascii;
  PetscViewerFormat        format_of_viewer;
  PetscFunctionBegin;
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm((PetscObject)ksp), &viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectPrintClassNamePrefixType((PetscObject)ksp, viewer));
  PetscCall(PetscViewerGetFormat(viewer, &format_of_viewer));
  const bool detailed = format_of_viewer == PETSC_VIEWER_ASCII_INFO_DETAIL && line->solved &&
                        ksp->reason != KSP_DIVERGED_PC_FAILED;
  if (!line->judged) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  lines are not looked at one by one: %s\n",
                                     !line->solved                    ? "nothing is solved"
                                     : ksp->normtype == KSP_NORM_NONE ? "no norms are asked for"
                                     : ksp->reason == KSP_DIVERGED_NANORINF
                                       ? "values are not finite"
                                       : "the PC is not the inverse of separate lines"));
    if (detailed) PetscCall(ViewBackwardErrors(ksp, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Outcomes(ksp, &lines));
  PetscCall(Count(ksp, lines, &counts));
  PetscCall(GatherWorst(ksp, lines, &worst));
  PetscCall(Histogram(ksp, lines, histogram));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  lines: %" PetscInt64_FMT ": solved once %" PetscInt64_FMT
                                   ", refined %" PetscInt64_FMT ", left alone %" PetscInt64_FMT
                                   "; not at the tolerance %" PetscInt64_FMT "\n",
                                   counts.lines, counts.lines - counts.refined - counts.untouched,
                                   counts.refined, counts.untouched, counts.open));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  largest residual / right-hand side, lines of each power of ten: %s\n",
                                   text_of(histogram).c_str()));
  for (const Worst &w : worst) // only rank 0 has lines, and prints
    if (w.ratio >= 0)
      PetscCall(PetscViewerASCIIPrintf(
        viewer, "    %.1e  line that begins at row %lld%s (rank %d), %d solve%s\n", w.ratio,
        static_cast<long long>(w.row),
        line->columns > 1 ? format(" of column %d", static_cast<int>(w.column)).c_str() : "",
        static_cast<int>(w.rank), static_cast<int>(w.solves), w.solves == 1 ? "" : "s"));
  if (ksp->reason == KSP_CONVERGED_HAPPY_BREAKDOWN)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  exact but for rounding: no solution in this precision has the tolerance\n"));
  if (detailed) PetscCall(ViewBackwardErrors(ksp, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
