// SPDX-License-Identifier: BSD-2-Clause
/// @file lines_from_csr.hpp  Bands of the lines of a sparse matrix, read in the memory of the matrix.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_set.hpp>

#include <string>
#include <vector>

namespace ribbon {

/// A compressed-sparse-row matrix in the memory of Exec, not owned.
template <class Scalar, class Index>
struct CsrMatrix {
  std::int64_t  rows = 0;
  const Index  *row_begin; ///< rows + 1 positions
  const Index  *column;
  const Scalar *value;
};

/// Indices of 32 or 64 bits: a kernel per width would double the device code.
struct AnyIndices {
  const void            *data;
  bool                   wide;
  KOKKOS_INLINE_FUNCTION std::int64_t operator[](std::int64_t i) const
  {
    return wide ? static_cast<const std::int64_t *>(data)[i] : static_cast<const std::int32_t *>(data)[i];
  }
  /// The lower 32 bits of index i (the first ones in little-endian order), for differences of close
  /// indices.
  KOKKOS_INLINE_FUNCTION const std::int32_t *low(std::int64_t i) const
  {
    return static_cast<const std::int32_t *>(data) + (wide ? 2 * i : i);
  }
};

/// A CsrMatrix with indices of either width.
template <class Scalar>
struct AnyCsrMatrix {
  std::int64_t  rows;
  AnyIndices    row_begin, column;
  const Scalar *value;
  template <class Index>
  explicit AnyCsrMatrix(const CsrMatrix<Scalar, Index> &A)
      : rows(A.rows), row_begin{A.row_begin, sizeof(Index) == 8}, column{A.column, sizeof(Index) == 8},
        value(A.value)
  {
  }
};

inline constexpr int largest_half_bandwidth = 8;

/// The places of the unknowns of a matrix on lines. An element is `components` consecutive rows of the
/// matrix. Elements 0, 1, ... have the places 0, 1, ... of `lines`, unless `place` is given.
struct LinePlaces {
  LineSet lines;                               ///< of elements, each counted as one unknown
  bool    wrap       = false;                  ///< entries may join the ends of a line
  int     components = 1;                      ///< rows of an element
  int     reach      = largest_half_bandwidth; ///< entries further along a line count as off it
  /// place of every element of the matrix, in the memory of Exec; in extract_bands() -1 marks an element
  /// that is on no line
  const std::int64_t *place   = nullptr;
  const std::int64_t *element = nullptr; ///< inverse of `place`; -1: no element
  /// index of the line at every place, if one of `lines` consists of several lines, one after another
  const std::int64_t *part = nullptr;
  /// for every row, the sum of |a_ij| over those neighbours on its line that are not columns of the matrix;
  /// comparisons of strengths include the sum
  const double *outside = nullptr;

  KOKKOS_INLINE_FUNCTION bool same_line(std::int64_t k, std::int64_t other) const
  {
    return !part || part[k] == part[other];
  }
};

/// The couplings of a matrix along one set of lines. Rows are rows of the matrix, and distances count
/// elements.
struct LineCouplings {
  int          half_bandwidth   = 0;     ///< largest distance of a nonzero entry on a line, wrapped or not
  int          stored_bandwidth = 0;     ///< the same for stored entries
  bool         periodic         = false; ///< a nonzero entry joins the ends of a line
  bool         stored_periodic  = false;
  std::int64_t entries          = 0;     ///< stored off-diagonal entries along the lines
  std::int64_t too_far_row      = -1;    ///< first row with a nonzero entry on its line, out of reach
  std::int64_t no_diagonal      = -1;    ///< first row that stores no diagonal entry
  std::int64_t not_finite       = -1;    ///< first row with a NaN or Inf on its line
  bool         across           = false; ///< a nonzero entry is off its line, or out of reach
  std::int64_t component_row    = -1;    ///< first row with a nonzero entry to another component on its line
  /// the entries of some row along its line, including the diagonal, sum to zero up to rounding: lines may
  /// be singular
  bool zero_sums = false;
};

/// Histogram of the strength of coupling of the rows along a line, with 64 bins per factor of 2. The
/// strength of row i is sum_j |a_ij| / |a_ii| over its neighbours on the line. Rows without nonzero
/// off-diagonal entries do not count.
inline constexpr int strength_bins = 64 * 80;
/// Strength of bin k.
double strength_of_bin(int k);
/// Median bin: the first bin at which half of the rows are reached; -1: no row counts.
int median_bin(const std::vector<std::int64_t> &histogram);

/// Reads the couplings of a matrix along lines that hold all its rows.
/// @param every  1: all rows are read; else one of `every` rows, the same rows in every call. The functions
///   below have this parameter, too.
template <class Scalar, class Index, class Exec>
LineCouplings line_couplings(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines,
                             std::int64_t every = 1);

/// Largest count of sets of lines in one comparison: the directions of a grid.
inline constexpr std::size_t most_sets_of_lines = 3;

/// Histograms of the strengths along each of several sets of lines (host memory, strength_bins long each).
/// @throws std::invalid_argument for zero sets, or more than most_sets_of_lines
template <class Scalar, class Index, class Exec>
std::vector<std::vector<std::int64_t>>
strength_histograms(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const std::vector<LinePlaces> &lines,
                    std::int64_t every = 1);

/// How many rows of a matrix couple more strongly along one set of lines than along others.
struct LinePreference {
  std::int64_t rows = 0; ///< rows that couple along at least one of these sets
  /// rows that couple along `set` at least `factor` times as strongly as along each of the others
  std::int64_t preferring = 0;
};
/// Which sets line_preferences() compares, by index.
struct LineComparison {
  std::size_t              set;
  std::vector<std::size_t> others;
};
/// One LinePreference per comparison.
/// @throws std::invalid_argument unless there are 1 to most_sets_of_lines sets, and as many comparisons,
///   and every index names a set
template <class Scalar, class Index, class Exec>
std::vector<LinePreference>
line_preferences(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const std::vector<LinePlaces> &lines,
                 const std::vector<LineComparison> &comparisons, double factor, std::int64_t every = 1);

/// Whether the elements of a matrix form runs: consecutive elements, all runs of one length, that entries
/// near the diagonal connect.
struct UniformRuns {
  bool holds = false; ///< all elements form runs, and every other entry joins the ends of a run
  bool wraps = false; ///< an entry joins the ends of a run
  /// an element with such an entry in the first and in the last run
  std::int64_t closes_first = -1, closes_last = -1;
};
/// Finds out whether the elements of a matrix, `components` rows each, form runs of `length` elements.
/// @param length  a divisor of the number of elements
/// @param far  entries up to `far` elements from the diagonal connect elements, stored zeros included. Each
/// pair of neighbours in a run needs an entry that couples them; otherwise `holds` is false, and the other
/// members have no meaning.
template <class Scalar, class Index, class Exec>
UniformRuns uniform_runs(const Exec &exec, const CsrMatrix<Scalar, Index> &A, int components,
                         std::int64_t length, int far);

/// One band matrix per line, periodic if the lines wrap, with blocks of `components` rows. Entries of A
/// that are off the lines, and rows that are on no line, are ignored. Places without an element get a one
/// on the diagonal.
template <class Scalar, class Index, class Exec>
Bands<Scalar, typename Exec::memory_space> extract_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A,
                                                         const LinePlaces &lines, int half_bandwidth);

struct SharingResult {
  std::int64_t classes = 0;                ///< distinct matrices; 0: more than allowed
  std::int64_t first = -1, different = -1; ///< first pair of lines that differ
};

/// Finds lines with equal matrices in bands with one matrix per line. With at most `most` distinct
/// matrices, the bands become shared bands or classes. Otherwise they do not change.
/// @param tolerance  0: equal exactly (-0 equals 0). Otherwise each entry of a line differs from that of
///   the first line of its class by at most `tolerance` times the largest entry of its row in that first
///   line. The class keeps the matrix of the first line.
template <class Scalar, class Exec>
SharingResult share(const Exec &exec, Bands<Scalar, typename Exec::memory_space> &bands, std::int64_t most,
                    double tolerance = 0);

} // namespace ribbon
