// SPDX-License-Identifier: BSD-2-Clause
/// @file line_map.hpp  Which lines a matrix has: from its DMDA, from its sparsity pattern, or
///   along its largest couplings.
#pragma once

#include "chain.hpp"
#include "layout.hpp"

#include <ribbon/matrix/kronecker.hpp>

#include <string>

namespace ribbon::petsc {

class GivenBands;

/// What Pmat is to the kernels: sparse rows, and what becomes of them where Pmat is a Kronecker product.
/// Where `factors.p` is p, row r of the rows stands for rows r p .. r p + p - 1 of Pmat.
struct LineSource {
  Mat                      rows           = nullptr; ///< Pmat, or the matrix A of I x S + A x T; borrowed
  Mat                      block          = nullptr; ///< rows and columns of this rank, sequential AIJ
  Mat                      converted      = nullptr; ///< owns the block where that had to be made
  Mat                      converted_rows = nullptr; ///< and the rows
  bool                     kronecker      = false;
  const GivenBands        *given          = nullptr; ///< bands in place of those of the rows; borrowed
  KroneckerFactors<Scalar> factors;
};

/// The rows of Pmat, MATMAIJ and MATKAIJ included. Errors: PETSC_ERR_SUP for types that store no rows, and
/// for blocks above 8. Collective.
/// @param joined  entries in columns of other ranks are wanted, too
PetscErrorCode GetLineSource(Mat pmat, LineSource *source, bool joined = false);
PetscErrorCode RestoreLineSource(LineSource *source);

/// One way to cut the local rows of a matrix into lines of elements; an element is
/// `components` consecutive rows.
struct LineDirection : LineLayout {
  std::string name; ///< "x", "y", "z", "rows" or "matrix"
  int         components = 1;
  bool        wrap       = false;                  ///< entries may join the ends of a line
  int         widest     = largest_half_bandwidth; ///< couplings further along a line are left out
  /// the partition cuts the lines of this direction among so many ranks
  PetscMPIInt processes = 1;
  PetscInt    lines_cut = 0; ///< lines (all ranks) that the partition cuts
  PetscInt    lines_all = 0; ///< lines (all ranks), cut ones counted once
  /// other couplings of these rows are left out, even where they lie on the line
  bool       partial = false;
  ChainPlace place; ///< of this rank among those that hold pieces of its lines

  /// these ranks, where their pieces are solved as one; null: each for itself, or none here
  std::shared_ptr<const LineChain> chain;
  /// entries in columns of other ranks, once they and the chain were looked for
  std::shared_ptr<const OutsideCouplings> couplings;
  /// of every row, the sum of sizes of its entries along the lines in columns of other
  /// ranks; null: there are none
  std::shared_ptr<const std::vector<double>> outside;

  /// What zebra ordering solves one after the other: the even and the odd lines by global numbers, or colours
  /// of lines that do not couple; each a few sets that hold a line. As many on all ranks, each with lines on
  /// some rank; none: nobody wants them, or one would have all lines.
  std::vector<std::vector<LineLayout>> colours;
};

/// What was found, and where. An empty list comes with the reason.
struct LineMap {
  bool coloured = false; ///< colours are wanted; set before lines are looked for
  /// pieces of lines that the partition cuts are to be solved as one where that is possible; likewise
  bool                       joined = false;
  std::vector<LineDirection> directions;
  /// "DMDA of the PC", "DMDA of the matrix", "matrix pattern", ...
  std::string source;
  /// elements along x, y, z of a grid that the pattern shows, numbered naturally over all ranks; 0: not so
  std::int64_t natural[3] = {0, 0, 0};
  std::string  why_not;
};

/// Directions of the DMDA of the PC, else of the matrix, whose sizes, dof and ownership fit
/// on every rank. Collective.
PetscErrorCode LinesFromDM(PC pc, const LineSource &source, LineMap *map);

/// What an element is where no DM says it.
struct Elements {
  /// rows: the block size of the matrix, where that divides its local rows on every rank; else the lines that
  /// lie side by side, an element being a row of each
  PetscInt components = 1;
  bool     coupled    = false; ///< components couple with other ones in the stored pattern of some rank
};
/// Reads the stored pattern once. Collective.
PetscErrorCode GetElements(const LineSource &source, Elements *elements);

/// Consecutive elements as lines, from the stored pattern. With `strict` every entry must lie along the
/// lines, up to 8 elements from the diagonal (on all ranks). Otherwise elements that couple with the next
/// one, or the one after it, make lines; these hold their entries up to 8 elements from the diagonal (blocks:
/// 1), and what lies off them is left out. Where no element couples so closely, or the lines have several
/// lengths, it is tried first whether one band holds everything. Collective.
PetscErrorCode LinesFromPattern(const LineSource &source, const Elements &elements, bool strict,
                                LineMap *map);

/// Directions of the grid whose natural numbering, or whose numbering box by box, the stored
/// pattern shows. Collective.
PetscErrorCode LinesFromGrid(const LineSource &source, const Elements &elements, LineMap *map);

/// Lines along the largest couplings, of any matrix (lines_from_graph.hpp). Collective for the counts alone.
PetscErrorCode LinesFromCouplings(const LineSource &source, const Elements &elements, LineMap *map);

/// Elements in runs: each of a run is tied to the next.
struct Runs {
  std::vector<PetscInt> begin; ///< first element of each run, and the end
  std::size_t           count() const { return begin.size() - 1; }
  PetscInt              length(std::size_t r) const { return begin[r + 1] - begin[r]; }
  /// Length of all runs, 0 where they differ.
  PetscInt common_length() const;
};
/// tied[e]: element e hangs together with e + 1.
Runs runs_of(const std::vector<char> &tied, PetscInt elements);

} // namespace ribbon::petsc
