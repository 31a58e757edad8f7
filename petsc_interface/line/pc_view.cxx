// SPDX-License-Identifier: BSD-2-Clause
#include "../support/format.hpp"
#include "pc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ribbon::petsc {

namespace {

/// The lines of one direction on this rank.
struct Held {
  std::int64_t     lines = 0, matrices = 0;
  double           bytes = 0, probe_error = 0, smallest_pivot = 1;
  long long        singular = 0, lumped = 0;
  bool             unproved = false; ///< some factors have neither certificate nor probe
  double           shift    = 0;
  Lhs              lhs      = Lhs::shared;
  const LineBatch *first    = nullptr; ///< represents all batches in properties that are not summed
};

Held sum_up(const LineSweep &sweep, std::size_t direction)
{
  Held h;
  for (const LineGroup &group : sweep.groups)
    if (group.direction == direction)
      for (const LineBatch &batch : group.batches) {
        if (!h.first) h.first = &batch, h.smallest_pivot = batch.facts.report.smallest_pivot;
        h.lines += batch.request.direction.lines.lines();
        h.matrices += batch.facts.matrices;
        h.bytes += static_cast<double>(batch.facts.bytes);
        h.singular += batch.facts.report.singular_lines;
        h.lumped += batch.facts.lumped;
        h.shift       = std::max(h.shift, batch.facts.shift);
        h.lhs         = std::max(h.lhs, batch.facts.lhs);
        h.unproved    = h.unproved || (batch.facts.report.ok() && std::isnan(batch.facts.report.probe_error));
        h.probe_error = std::max(h.probe_error, batch.facts.report.probe_error);
        h.smallest_pivot = std::min(h.smallest_pivot, batch.facts.report.smallest_pivot);
      }
  return h;
}

/// Prints how many lines, or classes, are not solved, and lists the first of them on rank 0. Collective.
PetscErrorCode ViewFailed(const PC_Line *line, std::size_t direction, PetscViewer viewer)
{
  constexpr std::size_t shown = 10;
  long long             count = 0;
  std::string           first;
  PetscFunctionBegin;
  for (const LineGroup &group : line->sweep.groups)
    for (const LineBatch &batch : group.batches) {
      const FactorReport &report = batch.facts.report;
      if (group.direction != direction) continue;
      if (report.ok()) continue;
      if (report.failed.empty()) { // one matrix is the matrix of all lines
        count += batch.request.direction.lines.lines();
        continue;
      }
      count += static_cast<long long>(report.failed.size());
      for (std::size_t k = 0; k < std::min(shown, report.failed.size()); ++k)
        first += format("%s%lld", first.empty() ? "" : ", ", static_cast<long long>(report.failed[k]));
      if (report.failed.size() > shown) first += ", ...";
    }
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_LONG_LONG, MPI_SUM, PetscObjectComm((PetscObject)viewer)));
  if (count > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  not solved: %lld lines or classes%s%s\n", count,
                                     first.empty() ? "" : (" (" + first + " on rank 0)").c_str(),
                                     line->some ? "; they hold NaN, the others are solved" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The precision of solves along lines, if it is not PETSc's.
std::string in_precision(const PC_Line *line, const Held &h)
{
  if (line->precision == PC_LINE_PRECISION_SAME) return "";
  if (!h.first->facts.rounded) return ", not in single precision: lines span ranks";
  if (line->precision == PC_LINE_PRECISION_SINGLE_UNREFINED) return ", in single precision, not refined";
  return format(", in single precision, solves are refined %d times, or by KSP line",
                h.first->facts.refinements);
}

/// Solutions have the accuracy of the precision of solves, divided by the condition. Collective.
PetscErrorCode ViewCondition(PC pc, PC_Line *line, std::size_t d, PetscViewer viewer)
{
  const double  unit = line->precision == PC_LINE_PRECISION_SAME
                         ? static_cast<double>(PETSC_MACHINE_EPSILON)
                         : static_cast<double>(std::numeric_limits<float>::epsilon());
  LineCondition c;
  PetscFunctionBegin;
  if (!line->failure.empty()) PetscFunctionReturn(PETSC_SUCCESS); // on all ranks
  PetscCall(GetCondition(pc, d, 1e7, &c));
  const std::string where =
    c.row < 0 ? "" : format(" (line that begins at row %lld)", static_cast<long long>(c.row));
  const std::string growth = std::isnan(c.growth) ? "" : format(", growth %.1e", c.growth);
  const std::string sign   = std::is_floating_point_v<Scalar>
                               ? format("%g", c.det_sign.real())
                               : format("%.3g%+.3gi", c.det_sign.real(), c.det_sign.imag());
  const std::string det =
    std::isnan(c.log_abs_det) ? "" : format(", log |det| %.10g of sign %s", c.log_abs_det, sign.c_str());
  if (std::isnan(c.rcond) && line->probe == PC_LINE_PROBE_NEVER)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  condition not estimated (-pc_line_probe never)%s%s\n",
                                     growth.c_str(), det.c_str()));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  smallest reciprocal condition number of a line %.1e%s%s%s\n",
                                     c.rcond, where.c_str(), growth.c_str(), det.c_str()));
  if (c.rcond < 1e3 * unit)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  remark: a line is ill-conditioned, its solution may have no more than %d correct digits\n",
      std::max(0, static_cast<int>(std::floor(std::log10(c.rcond / unit))))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The elements of every line of this rank, from one end to the other.
std::vector<std::vector<std::int64_t>> elements_of(const LineLayout &layout)
{
  std::vector<std::vector<std::int64_t>> all;
  for (std::int64_t l = 0; l < layout.lines.lines(); ++l)
    for (std::int64_t i = 0; i < layout.lines.rows; ++i) {
      const auto         place   = static_cast<std::size_t>(layout.element ? layout.lines(l, i) : 0);
      const std::int64_t element = layout.element ? (*layout.element)[place] : layout.lines(l, i);
      if (element < 0) continue; // padding
      const auto part = static_cast<std::size_t>(layout.part ? (*layout.part)[place] : l);
      if (all.size() <= part) all.resize(part + 1);
      all[part].push_back(element);
    }
  return all;
}

/// If lines of some rank are packed, prints how many rows are on lines, and how many are points. Collective.
PetscErrorCode ViewLengths(const LineDirection &way, PetscViewer viewer)
{
  int            packed     = way.element != nullptr;
  long long      rows[2]    = {0, 0};                                      // on lines, points
  long long      lengths[2] = {-std::numeric_limits<long long>::max(), 0}; // -least, most
  const MPI_Comm comm       = PetscObjectComm((PetscObject)viewer);
  std::vector<std::vector<std::int64_t>> lines;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &packed, 1, MPI_INT, MPI_LOR, comm));
  if (!packed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCXX(lines = elements_of(way));
  for (const auto &line : lines) {
    const auto length = static_cast<long long>(line.size());
    if (length > 1) lengths[0] = std::max(lengths[0], -length), lengths[1] = std::max(lengths[1], length);
    rows[length > 1 ? 0 : 1] += length * way.components;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, rows, 2, MPI_LONG_LONG, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, lengths, 2, MPI_LONG_LONG, MPI_MAX, comm));
  const std::string between = rows[0] > 0
                                ? format(" on lines of %lld to %lld elements", -lengths[0], lengths[1])
                                : std::string(" on lines");
  PetscCall(
    PetscViewerASCIIPrintf(viewer, "  rows: %lld%s, %lld are points\n", rows[0], between.c_str(), rows[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Prints the first row of every element, a line of text for each line.
/// @param rows  Pmat, or the matrix A of a Kronecker product. Collective.
PetscErrorCode ViewRows(Mat rows, const LineDirection &way, PetscViewer viewer)
{
  PetscInt                               begin;
  std::vector<std::vector<std::int64_t>> lines;
  PetscFunctionBegin;
  PetscCallCXX(lines = elements_of(way));
  PetscCall(MatGetOwnershipRange(rows, &begin, nullptr));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  rows of each line, in the order of its band:\n"));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  for (const auto &line : lines) {
    std::string text;
    for (std::int64_t element : line)
      text += format(" %lld", static_cast<long long>(way.global_row(begin, element * way.components)));
    if (!text.empty()) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "   %s\n", text.c_str()));
  }
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ViewDirection(PC pc, PC_Line *line, std::size_t d, PetscMPIInt size, PetscViewer viewer)
{
  const LineRequest   &q    = line->requests[d];
  const LineDirection &way  = q.direction;
  Held                 h    = sum_up(line->sweep, d);
  const char          *rank = size > 1 ? "on rank 0: " : "";
  PetscViewerFormat    form;
  PetscFunctionBegin;
  const std::string band = q.half_bandwidth == 1 ? "tridiagonal"
                           : q.half_bandwidth == 2
                             ? "pentadiagonal"
                             : format("banded, %d entries on either side of the diagonal", q.half_bandwidth);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  lines: %s%lld of %lld rows, %s%s%s%s\n", rank,
                                   static_cast<long long>(h.lines), static_cast<long long>(way.lines.rows),
                                   q.periodic ? "periodic " : "", q.block > 1 ? "block " : "", band.c_str(),
                                   q.block > 1 ? format(", blocks of %d", q.block).c_str() : ""));
  if (way.element)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  packed: %" PetscInt_FMT " lines of any length, one behind the other\n", way.lines_all));
  PetscCall(ViewLengths(way, viewer));
  if (way.rings > 0)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  rings: %" PetscInt_FMT " lines are closed, folded so that their bands hold all entries\n",
      way.rings));
  PetscCall(PetscViewerGetFormat(viewer, &form));
  if (form == PETSC_VIEWER_ASCII_INFO_DETAIL)
    PetscCall(ViewRows(line->watched ? line->watched : pc->pmat, way, viewer));
  if (line->ordered == PC_LINE_ORDERING_ZEBRA)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  colours: %d%s\n",
                                     way.colours.empty() ? 1 : static_cast<int>(way.colours.size()),
                                     way.colours.empty() ? ", as jacobi" : ""));
  if (size > 1)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  lines that span ranks: %" PetscInt_FMT " of %" PetscInt_FMT " lines%s\n", way.lines_cut,
      way.lines_all,
      way.lines_cut == 0   ? ""
      : way.moved          ? ", each solved on one of its ranks"
      : way.place.joinable ? ", solved as one"
                           : ", each sub-line is solved on its rank"));
  if (way.moved) {
    PetscInt moved = way.moved->from_others;
    PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, &moved, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)viewer)));
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "  moved: %" PetscInt_FMT " rows to the ranks of their lines\n", moved));
  }
  if (h.first && !h.first->facts.joined.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  joined: %s%s%s\n", rank,
                                     h.first->facts.whole ? "each line is brought to one rank, because " : "",
                                     h.first->facts.joined.c_str()));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &h.singular, 1, MPI_LONG_LONG, MPI_SUM,
                             PetscObjectComm((PetscObject)viewer)));
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, &h.shift, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)viewer)));
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, &h.lumped, 1, MPI_LONG_LONG, MPI_SUM, PetscObjectComm((PetscObject)viewer)));
  if (h.lumped > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  lumped: %lld entries on lines are outside of the bands, and were "
                                     "added to the diagonals\n",
                                     h.lumped));
  if (h.singular > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  singular lines: %lld, solved for the solution of zero mean (%s)\n",
                                     h.singular, line->pinned.c_str()));
  if (h.shift > 0)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  shifted: diagonals by %.1e of the largest entry of their rows, because of zero pivots\n",
      h.shift));
  PetscCall(ViewFailed(line, d, viewer));
  PetscCall(ViewCondition(pc, line, d, viewer));
  if (h.matrices == 0) PetscFunctionReturn(PETSC_SUCCESS); // no lines, or not factored
  const FactorReport &report = h.first->facts.report;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  matrices: %s%s, %lld distinct%s, %.3g bytes held on %s\n", rank,
                                   to_string(h.lhs), static_cast<long long>(h.matrices),
                                   in_precision(line, h).c_str(), h.bytes, h.first->facts.space));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  algorithm: %s%s (%s)\n", rank, report.algorithm.c_str(),
                                   report.reason.c_str()));
  const std::string accuracy =
    h.unproved ? "accuracy not known (-pc_line_probe never)" : format("probe error %.1e", h.probe_error);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s, smallest pivot %.1e of its row\n", accuracy.c_str(),
                                   h.smallest_pivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ViewLine(PC pc, PC_Line *line, PetscViewer viewer)
{
  PetscBool   ascii;
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (line->requests.empty()) {
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  direction %s, composition %s, ordering %s, lhs %s, cut %s, shift type %s (not set up)\n",
      names_of(line->directions).c_str(), PCLineCompositions[line->composition],
      PCLineOrderings[line->ordering], PCLineLhsTypes[line->lhs], PCLineCuts[line->cut],
      PCLineShiftTypes[line->shift_type]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  direction: %s (%s), from the %s\n", line->names.c_str(),
                                   line->why.c_str(), line->source.c_str()));
  PetscCall(PetscViewerASCIIPrintf(
    viewer, "  sweep: %s%s, %s%s%s, omega %s%s, iterations %" PetscInt_FMT "\n",
    PCLineCompositions[line->composed],
    line->one_way.empty()  ? ""
    : line->solved_one_way ? " (auto: multiplicative in the last solve, as its KSP takes any preconditioner)"
                           : " (auto: multiplicative under a KSP that takes any preconditioner)",
    PCLineOrderings[line->ordered],
    line->ordering == PC_LINE_ORDERING_AUTO && line->ordered == PC_LINE_ORDERING_ZEBRA
      ? " (auto: on a multigrid level)"
      : "",
    IsSweptTwice(line) ? ", all colours twice" : "", format("%g", (double)line->requests[0].omega).c_str(),
    line->omega > 0 || line->requests[0].omega == 1 ? "" : " (on a multigrid level, 1 would not smooth)",
    line->iterations));
  if (!line->failure.empty())
    PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", line->failure.c_str()));
  if (line->left_out)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  rows couple off these lines: one application is no inverse "
                                             "of the matrix, a KSP has to iterate (preonly does not)\n"));
  if (line->sweep.rest_bytes() > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  kept: %swhat lines leave out, %.3g bytes\n",
                                     size > 1 ? "on rank 0: " : "",
                                     static_cast<double>(line->sweep.rest_bytes())));
  for (std::size_t d = 0; d < line->requests.size(); ++d) {
    if (line->requests.size() > 1)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  along %s\n", line->requests[d].direction.name.c_str()));
    PetscCall(ViewDirection(pc, line, d, size, viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
