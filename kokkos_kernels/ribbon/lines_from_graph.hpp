// SPDX-License-Identifier: BSD-2-Clause
/// @file lines_from_graph.hpp  Lines along the largest couplings of any sparse matrix, and packed lines of
///   equal length.
#pragma once

#include <ribbon/lines_from_csr.hpp>

#include <cstdint>
#include <vector>

namespace ribbon {

/// The strength of the coupling of row i with row j, in units of which only ratios along row i matter.
enum class CouplingStrength {
  absolute,    ///< |a_ij|
  aggregation, ///< |a_ij| / sqrt(|a_ii a_jj|), as in smoothed aggregation
  negative     ///< max(0, -a_ij sign(a_ii)), as in classical algebraic multigrid; for complex a the
               ///< positive part of the real part of -a_ij conj(a_ii) / |a_ii|
};

/// Conditions for couplings that may form a line.
struct LinesOfGraphOptions {
  /// fraction of the strongest coupling of each of its two rows that a coupling must reach
  double threshold = 0.25;
  /// multiple of the third strongest coupling of each of its two rows that a coupling must reach. A line
  /// uses two couplings of a row; the third is the best that it omits. 0: isotropic rows are on lines, too,
  /// which smooths better. 4: they stay single, as in Mavriplis' method
  double anisotropy = 0;
  /// entries below this fraction of the diagonal of their row are ignored: a Jacobi iteration handles them
  double least = 1e-3;
  /// rows r * block .. r * block + block - 1 stay together; blocks couple by their Frobenius norms
  int              block    = 1;
  CouplingStrength strength = CouplingStrength::absolute;
};

/// Disjoint lines that together hold all rows. Rows, and all positions, count block rows if
/// options.block > 1.
struct LinesOfGraph {
  /// rows, line after line; neighbours on a line couple by a nonzero entry in at least one of the two rows
  std::vector<std::int64_t> order;
  std::vector<std::int64_t> begin; ///< lines + 1 positions in order: the beginning of each line, and the end
  std::int64_t lines() const { return begin.empty() ? 0 : static_cast<std::int64_t>(begin.size()) - 1; }
};

/// Covers the graph of a square matrix in host memory with paths by greedy matching, the strongest
/// couplings first, as line-implicit smoothers do (Mavriplis, J. Comput. Phys. 145 (1998); Soto, Löhner &
/// Camelli, Int. J. Numer. Methods Heat Fluid Flow 13 (2003); Fidkowski et al., J. Comput. Phys. 207
/// (2005)).
///
/// The coupling of i and j is (s_ij / max_k s_ik + s_ji / max_k s_jk) / 2, k off the diagonal, with s = |a| or
/// another options.strength. It does not depend on scales of rows, and the diagonal may be zero or missing. A
/// coupling that only one of the two rows stores is half as strong. Zeros, NaN, Inf and columns outside the
/// matrix do not couple.
///
/// Couplings within 1% of each other are ties. Among ties, lines grow from the coupling with the closest
/// row indices, first to the closest rows. Lines never turn a corner (two couplings of a row that are sides
/// of one triangle, or of one quadrilateral without diagonals). A regular grid in its natural order
/// therefore gives its grid lines.
///
/// A line of more than 9 rows whose ends couple more strongly than with other lines is a ring, which joins
/// no other line. It is opened where this coupling is.
///
/// A line begins at its end with the smaller index; lines are in the order of their beginnings. Time O(nnz
/// log nnz) at bounded row lengths.
/// @throws std::invalid_argument if the rows are not a multiple of block, or an option is negative or NaN
template <class Scalar, class Index>
LinesOfGraph lines_from_graph(const CsrMatrix<Scalar, Index> &A, const LinesOfGraphOptions &options = {});

/// Entries of A, in its order, whose magnitudes off the diagonal are the strengths of couplings. Their lines by
/// CouplingStrength::absolute are the lines of A by options.strength. For blocks the norm of the block replaces
/// |a_ij|, and its trace replaces the sign of a_ij. A row without a diagonal entry has its largest entry instead.
/// @throws std::invalid_argument as lines_from_graph
template <class Scalar, class Index>
std::vector<Scalar> entries_by_strength(const CsrMatrix<Scalar, Index> &A,
                                        const LinesOfGraphOptions      &options);

/// Lines of different lengths as a batch of `pieces` packed lines of `rows` rows each. A packed line
/// consists of several whole lines, one after another, and padding at its end. The caller must omit
/// couplings between the lines of a packed line.
struct PackedLines {
  std::int64_t rows = 0, pieces = 0;
  /// rows * pieces: the row at element i of packed line s, at i * pieces + s; -1 is padding
  std::vector<std::int64_t> row_at;
  std::vector<std::int64_t> line_at;     ///< for every place of row_at: its line, -1 for padding
  std::vector<std::int64_t> position_of; ///< for every row: its place in row_at
};

/// Packs lines by best fit, the longest first; among equal lengths the first line first. rows 0: the
/// longest line, or a length up to 256 with less padding: the first tried length with at most 5% of
/// padding, else the length with the least.
/// @throws std::invalid_argument if a line is longer than rows. Time O(rows + lines log rows).
PackedLines pack(const LinesOfGraph &lines, std::int64_t rows = 0);

} // namespace ribbon
