// SPDX-License-Identifier: BSD-2-Clause
/// @file lines_from_csr.hpp  Bands of the lines of a sparse matrix, read where the matrix lives.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_set.hpp>

#include <string>
#include <vector>

namespace ribbon {

/// A compressed-sparse-row matrix that somebody else owns, in the memory of Exec.
template <class Scalar, class Index>
struct CsrMatrix {
  std::int64_t  rows = 0;
  const Index  *row_begin; ///< rows + 1 positions
  const Index  *column;
  const Scalar *value;
};

/// Numbers of 32 or 64 bits: a kernel for each width would be twice the device code.
struct AnyIndices {
  const void            *data;
  bool                   wide;
  KOKKOS_INLINE_FUNCTION std::int64_t operator[](std::int64_t i) const { return wide ? static_cast<const std::int64_t *>(data)[i] : static_cast<const std::int32_t *>(data)[i]; }
  /// The lower 32 bits of number i (in this order of bytes they come first), for differences of numbers that are close to each other.
  KOKKOS_INLINE_FUNCTION const std::int32_t *low(std::int64_t i) const { return static_cast<const std::int32_t *>(data) + (wide ? 2 * i : i); }
};

/// A CsrMatrix with indices of either width.
template <class Scalar>
struct AnyCsrMatrix {
  std::int64_t  rows;
  AnyIndices    row_begin, column;
  const Scalar *value;
  template <class Index>
  explicit AnyCsrMatrix(const CsrMatrix<Scalar, Index> &A) : rows(A.rows), row_begin{A.row_begin, sizeof(Index) == 8}, column{A.column, sizeof(Index) == 8}, value(A.value)
  {
  }
};

inline constexpr int largest_half_bandwidth = 8;

/// Where the unknowns of a matrix are on lines. An element is `components` consecutive rows of the matrix; elements 0, 1, ... of the matrix
/// are the places 0, 1, ... of `lines`, unless `place` says otherwise.
struct LinePlaces {
  LineSet             lines;                               ///< of elements, each counted as one unknown
  bool                wrap       = false;                  ///< entries may join the ends of a line
  int                 components = 1;                      ///< rows of an element
  int                 reach      = largest_half_bandwidth; ///< entries further along a line count as off it
  const std::int64_t *place      = nullptr;                ///< in the memory of Exec: place of every element of the matrix; extract_bands() takes -1 for one that is on no line
  const std::int64_t *element    = nullptr;                ///< the inverse, for every place of the lines; -1: a place that no element fills
  const std::int64_t *part       = nullptr;                ///< where several lines lie behind each other in one of `lines`: number of the line at every place
  const double       *outside    = nullptr;                ///< for every row, the sum of |a_ij| over its neighbours on the line that are no columns of the matrix: they count where strengths are compared

  KOKKOS_INLINE_FUNCTION bool same_line(std::int64_t k, std::int64_t other) const { return !part || part[k] == part[other]; }
};

/// What the entries of a matrix say about one set of lines. Rows are those of the matrix, distances count elements.
struct LineCouplings {
  int          half_bandwidth   = 0;     ///< largest distance along a line of an entry that is not zero, wrapped ones included
  int          stored_bandwidth = 0;     ///< the same for stored entries
  bool         periodic         = false; ///< some entry that is not zero joins the ends of a line
  bool         stored_periodic  = false;
  std::int64_t entries          = 0;     ///< stored off-diagonal entries along the lines
  std::int64_t too_far_row      = -1;    ///< first row with an entry that is not zero on its own line, out of reach
  std::int64_t no_diagonal      = -1;    ///< first row that stores no diagonal entry
  std::int64_t not_finite       = -1;    ///< first row with a NaN or Inf on its line
  bool         across           = false; ///< some entry that is not zero is off its line, or out of reach
  std::int64_t component_row    = -1;    ///< first row with an entry that is not zero to another component of an element on its line
  bool         zero_sums        = false; ///< the entries of some row along its line, the diagonal with them, sum to zero, to rounding: lines may be singular
};

/// Histogram of the strength of coupling of the rows along a line, sum_j |a_ij| / |a_ii| over its neighbours on the line; bins are 64 per
/// factor 2. Rows without off-diagonal entries that are not zero do not vote.
inline constexpr int strength_bins = 64 * 80;
/// Strength that bin k stands for.
double strength_of_bin(int k);
/// First bin at which half of the votes are reached, -1 without votes.
int median_bin(const std::vector<std::int64_t> &histogram);

/// Reads the couplings of a matrix along lines that hold all its rows; of one of `every` rows, here and in what follows, which
/// are the same ones in every call.
template <class Scalar, class Index, class Exec>
LineCouplings line_couplings(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines, std::int64_t every = 1);

/// Histogram of the strengths (host memory, strength_bins long).
template <class Scalar, class Index, class Exec>
std::vector<std::int64_t> strength_histogram(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines, std::int64_t every = 1);

/// How many rows of a matrix would rather be on other lines.
struct LinePreference {
  std::int64_t rows       = 0; ///< that couple along one of the sets of lines
  std::int64_t preferring = 0; ///< of these, that couple along the other set at least `factor` times as strongly as along each of `lines`
};
/// @param lines  one set or two; throws std::invalid_argument otherwise
template <class Scalar, class Index, class Exec>
LinePreference line_preference(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const std::vector<LinePlaces> &lines, const LinePlaces &other_lines, double factor, std::int64_t every = 1);

/// Runs of consecutive elements that entries near the diagonal tie together, all of one length.
struct UniformRuns {
  bool         holds = false; ///< they are, and every other entry joins the ends of a run
  bool         wraps = false; ///< there are such
  std::int64_t closes_first = -1, closes_last = -1; ///< an element with one in the first, in the last run
};
/// Whether the elements of a matrix, `components` rows each, are runs of `length`, a divisor of their number. Entries up to
/// `far` elements from the diagonal tie, stored zeros too. Where neighbours are tied by no entry of their own `holds` is
/// false, whatever others tie.
template <class Scalar, class Index, class Exec>
UniformRuns uniform_runs(const Exec &exec, const CsrMatrix<Scalar, Index> &A, int components, std::int64_t length, int far);

/// One band matrix per line, periodic where the lines wrap, with blocks of as many rows as elements have; entries of A that are not along the lines
/// are left out, and so are rows that are on none. Places that no element fills get a one on the diagonal.
template <class Scalar, class Index, class Exec>
Bands<Scalar, typename Exec::memory_space> extract_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines, int half_bandwidth);

struct SharingResult {
  std::int64_t classes = 0;                ///< distinct matrices; 0 when there are more than were allowed
  std::int64_t first = -1, different = -1; ///< first pair of lines that differ
};

/// Finds out which lines of per-line bands agree, and turns them into shared bands or classes where there are at most `most` distinct ones;
/// otherwise they stay as they are.
/// @param tolerance  0: agree exactly (-0 equals 0); otherwise every entry of a line agrees with that of the first line of its class to `tolerance` times
/// the largest entry of the latter's row. The matrix of the first line is kept.
template <class Scalar, class Exec>
SharingResult share(const Exec &exec, Bands<Scalar, typename Exec::memory_space> &bands, std::int64_t most, double tolerance = 0);

} // namespace ribbon
