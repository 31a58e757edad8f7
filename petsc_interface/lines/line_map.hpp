// SPDX-License-Identifier: BSD-2-Clause
/// @file line_map.hpp  The lines of a matrix: from its DMDA, from its sparsity pattern, or along its
///   largest couplings.
#pragma once

#include "chain.hpp"
#include "layout.hpp"
#include "moved_rows.hpp"

#include <ribbon/matrix/kronecker.hpp>

#include <optional>
#include <string>

namespace ribbon::petsc {

class ElementsOfSource;
class GivenBands;

/// Pmat as the kernels need it: sparse rows, and the factors of a Kronecker product. If `factors.p` is p,
/// row r of the rows represents rows r p .. r p + p - 1 of Pmat.
struct LineSource {
  Mat                      rows           = nullptr; ///< Pmat, or the matrix A of I x S + A x T; borrowed
  Mat                      block          = nullptr; ///< rows and columns of this rank, sequential AIJ
  Mat                      converted      = nullptr; ///< owns the block if it was converted
  Mat                      converted_rows = nullptr; ///< owns the rows if they were converted
  bool                     kronecker      = false;
  const GivenBands        *given          = nullptr; ///< bands that replace those of the rows; borrowed
  KroneckerFactors<Scalar> factors;
};

/// Opens the rows of Pmat, including MATMAIJ and MATKAIJ. Errors: PETSC_ERR_SUP for types that store no
/// rows, and for blocks above 8. Collective.
/// @param joined  entries in columns of other ranks are needed as well
PetscErrorCode GetLineSource(Mat pmat, LineSource *source, bool joined = false);
PetscErrorCode RestoreLineSource(LineSource *source);

/// One way to divide the local rows of a matrix into lines of elements. An element consists of `components`
/// consecutive rows.
struct LineDirection : LineLayout {
  std::string name;                ///< "x", "y", "z", "rows" or "matrix"
  std::size_t number      = 0;     ///< among the directions from which auto chooses
  bool        consecutive = false; ///< direction "rows"
  int         components  = 1;
  bool        wrap        = false;                  ///< entries may join the ends of a line
  int         widest      = largest_half_bandwidth; ///< couplings further along a line are left out
  /// the lines of this direction span this number of ranks
  PetscMPIInt processes = 1;
  PetscInt    lines_cut = 0; ///< lines (all ranks) that span ranks
  PetscInt    lines_all = 0; ///< lines (all ranks); one that spans ranks counts once
  PetscInt    rings     = 0; ///< lines (all ranks) that close, whose elements alternate between both sides
  /// other couplings of these rows are left out, even if they are on the line
  bool partial = false;
  /// couplings on a line that its band leaves out are added to the diagonals of both rows
  bool lumped = false;
  /// rows of this rank and of other ranks whose lines this rank solves, in whose order elements are numbered;
  /// null: elements are those of this rank
  std::shared_ptr<const MovedRows> moved;
  ChainPlace                       place; ///< of this rank among those with sub-lines of its lines

  /// these ranks, if their sub-lines are solved together; null: each rank solves alone, or has no lines
  std::shared_ptr<const LineChain> chain;
  /// entries in columns of other ranks, after a search for them and the chain
  std::shared_ptr<const OutsideCouplings> couplings;
  /// of the block, if the search for lines computed them; too_far_row is then -1
  std::optional<LineCouplings> known;
  /// for every row, the sum of magnitudes of its entries along the lines in columns of other ranks; null:
  /// there are none
  std::shared_ptr<const std::vector<double>> outside;

  /// Global number of a row of the block in which elements are numbered.
  PetscInt global_row(PetscInt rbegin, std::int64_t row) const
  {
    return moved ? moved->rows[static_cast<std::size_t>(row)] : rbegin + static_cast<PetscInt>(row);
  }

  /// The colours that zebra ordering solves one after another: the even and the odd lines by global
  /// numbers, or colours of lines that do not couple. Each colour consists of a few sets. All ranks have
  /// the same number of colours, and each colour has lines on some rank. Empty if colours are not needed,
  /// or if one colour would have all lines.
  std::vector<std::vector<LineLayout>> colours;
};

/// The search for lines along the largest couplings. automatic: by rounds if the matrix is in device memory.
enum class LineSearch { automatic, host, rounds };

/// The lines that were found, and their source. If there are none, `why_not` is the reason.
struct LineMap {
  bool coloured = false; ///< find colours; set before the search
  /// solve sub-lines of lines that span ranks together if possible; set before the search
  bool joined = false;
  /// lines along the largest couplings may continue on other ranks; set before the search
  bool across_ranks = false;
  /// the measure of couplings by which lines along the largest couplings are found; set before the search
  CouplingStrength strength = CouplingStrength::absolute;
  LineSearch       search   = LineSearch::automatic; ///< set before the search
  std::string      label; ///< of a DMPLEX, whose values mark lines; empty: none; set before the search
  std::vector<LineDirection> directions;
  /// "DMDA of the PC", "DMDA of the matrix", "matrix pattern", ...
  std::string source;
  bool        required = false;   ///< lines of no other source replace them
  DM          dm       = nullptr; ///< the DMDA that gave them, borrowed; null: another source
  /// elements along x, y, z of a grid that the pattern shows, with natural numbering over all ranks; 0: no
  /// such grid
  std::int64_t natural[3] = {0, 0, 0};
  std::string  why_not;
};

/// Directions of the DMDA of the PC, otherwise of the matrix, if its sizes, dof and ownership fit on every
/// rank. Collective.
PetscErrorCode LinesFromDM(PC pc, const LineSource &source, LineMap *map);

/// The definition of an element without a DM.
struct Elements {
  /// rows of an element: the block size of the matrix, if it divides the local rows of every rank.
  /// Otherwise the number of interleaved lines: an element has one row of each
  PetscInt components = 1;
  bool     coupled    = false; ///< some rank stores couplings between components
};
/// Reads the stored pattern once. Collective.
PetscErrorCode GetElements(const LineSource &source, Elements *elements);

/// Consecutive elements as lines, from the stored pattern. With `strict` every entry of all ranks must be
/// along the lines, up to 8 elements from the diagonal. Otherwise elements that couple with the next
/// element, or with the one after it, make lines. These hold their entries up to 8 elements from the
/// diagonal (blocks: 1). Entries off the lines are left out. If no element couples so closely, or if the
/// lines have several lengths, one band for all entries is tried first. Collective.
PetscErrorCode LinesFromPattern(const LineSource &source, const Elements &elements, bool strict,
                                LineMap *map);

/// Directions of a grid if the stored pattern shows its natural numbering, or its numbering box by box.
/// Collective.
PetscErrorCode LinesFromGrid(const LineSource &source, const Elements &elements, LineMap *map);

/// Lines along the largest couplings, of any matrix (lines_from_graph.hpp). Collective.
PetscErrorCode LinesFromCouplings(const LineSource &source, const Elements &elements, LineMap *map);

/// Lines of the index sets "PCLine_rows" and "PCLine_offsets" that are composed with the PC, else with Pmat
/// (PCLineSetRows()), else of map->label. Invalid index sets or labels raise an error. Collective.
PetscErrorCode LinesFromRows(PC pc, const LineSource &source, ElementsOfSource &elements, LineMap *map);

/// Adds the direction of these lines of a rank to a map. Chooses the band of the lines: all their
/// entries if these are at most 8 unknowns from the diagonal, else the strong ones, and the others are
/// lumped. If blocks of 2 or 3 components couple further than the next element, their lines are lines of
/// rows. Collective.
/// @param components  rows of an element
/// @param moved       the rows in whose order elements are numbered; null: those of this rank
PetscErrorCode AddLines(const LineSource &source, const char *name, LinesOfGraph lines, PetscInt components,
                        LineMap *map, std::shared_ptr<const MovedRows> moved = nullptr);

/// Runs of elements. Each element of a run is tied to the next.
struct Runs {
  std::vector<PetscInt> begin; ///< first element of each run, and the end
  std::size_t           count() const { return begin.size() - 1; }
  PetscInt              length(std::size_t r) const { return begin[r + 1] - begin[r]; }
  /// Length of all runs, 0 if they differ.
  PetscInt common_length() const;
};
/// @param tied  tied[e]: element e is tied to e + 1
Runs runs_of(const std::vector<char> &tied, PetscInt elements);

} // namespace ribbon::petsc
