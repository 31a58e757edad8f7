// SPDX-License-Identifier: BSD-2-Clause
/// @file lines_from_graph.hpp  Lines along the largest couplings of any sparse matrix, and batches of
///   equal length made of them.
#pragma once

#include <ribbon/lines_from_csr.hpp>

#include <cstdint>
#include <vector>

namespace ribbon {

/// Which couplings of a row may make a line.
struct LinesOfGraphOptions {
  double threshold = 0.25; ///< share of the strongest coupling of either end that a coupling needs
  /// share of the third strongest coupling of either end that it needs: a line takes two couplings of a row,
  /// the third is the best that it leaves out. 0: isotropic rows are on lines too, which smooths better; 4:
  /// they are left single, as by Mavriplis
  double anisotropy = 0;
  /// share of its row's diagonal below which an entry is none: Jacobi's iteration deals with it
  double least = 1e-3;
  /// rows r * block .. r * block + block - 1 stay together; blocks couple by their Frobenius norms
  int block = 1;
};

/// Lines that have no row in common and hold all of them. Rows, and all positions, count block
/// rows where options.block > 1.
struct LinesOfGraph {
  /// rows, line after line; neighbours on a line are coupled by an entry that is not zero, in
  /// one of the two rows at least
  std::vector<std::int64_t> order;
  std::vector<std::int64_t> begin; ///< lines + 1 positions in order: where each line begins, and the end
  std::int64_t lines() const { return begin.empty() ? 0 : static_cast<std::int64_t>(begin.size()) - 1; }
};

/// Covers the graph of a square matrix in host memory with paths by greedy matching, the strongest couplings
/// first, as line-implicit smoothers do (Mavriplis, J. Comput. Phys. 145 (1998); Soto, Löhner & Camelli, Int.
/// J. Numer. Methods Heat Fluid Flow 13 (2003); Fidkowski et al., J. Comput. Phys. 207 (2005)). The coupling
/// of i and j is (|a_ij| / max_k |a_ik| + |a_ji| / max_k |a_jk|) / 2, k off the diagonal: scales of rows do
/// not matter, the diagonal may be zero or missing, and a coupling that only one of the two rows stores is
/// half as strong. Couplings within 1% of each other are ties: lines grow from the one with the nearest row
/// numbers, first to the nearest rows, and never turn a corner (two couplings of a row that are sides of one
/// triangle, or of one quadrilateral without diagonals): a regular grid in its natural order gives its grid
/// lines. Zeros, NaN, Inf and columns outside the matrix couple nothing. A line begins at its end with the
/// smaller number; lines are in the order of their beginnings. Time O(nnz log nnz) at bounded row lengths.
/// Throws std::invalid_argument where rows are no multiple of block or an option is negative or NaN.
template <class Scalar, class Index>
LinesOfGraph lines_from_graph(const CsrMatrix<Scalar, Index> &A, const LinesOfGraphOptions &options = {});

/// Lines of different lengths as a batch of `pieces` lines of `rows` rows each: several whole lines, one
/// behind the other, in a piece, and padding at its end. What joins two lines of a piece in the matrix is
/// for the caller to leave out.
struct PackedLines {
  std::int64_t rows = 0, pieces = 0;
  /// rows * pieces: the row at element i of piece s, at i * pieces + s; -1 is padding
  std::vector<std::int64_t> row_at;
  std::vector<std::int64_t> position_of; ///< of every row: its place in row_at
};

/// Packs lines by best fit, the longest first (of equal ones the first first). rows 0: the longest line, or
/// up to 256 where that pads less: the first length tried with at most 5% of padding, else the one with
/// least. Throws std::invalid_argument where a line is longer than rows. Time O(rows + lines log rows).
PackedLines pack(const LinesOfGraph &lines, std::int64_t rows = 0);

} // namespace ribbon
