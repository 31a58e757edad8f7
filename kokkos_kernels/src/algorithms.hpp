// SPDX-License-Identifier: BSD-2-Clause
/// @file algorithms.hpp  Interface between LineSolver and the files that instantiate its kernels.
#pragma once

#include "instantiate.hpp"

#include <ribbon/algorithm/name.hpp>
#include <ribbon/algorithm/one_pass/tables.hpp>
#include <ribbon/elimination/certificate.hpp>
#include <ribbon/elimination/host_matrix.hpp>
#include <ribbon/elimination/pivot_watch.hpp>
#include <ribbon/line_operator.hpp>
#include <ribbon/matrix/row_dominance.hpp>

#include <cmath>
#include <complex>
#include <memory>
#include <stdexcept>

namespace ribbon::detail {

/// Smallest pivot, relative to the largest entry of its row, and its line and row, of matrices that were
/// factored in their memory space. -1: not finite. If pivots are below the tolerance: the smallest of the
/// first such line.
struct DevicePivot {
  double               tolerance = 0;
  double               smallest  = 1e300;
  std::int64_t         line = -1, row = -1;
  double               log_abs_det = std::nan(""); ///< of one matrix, if it was computed
  std::complex<double> det_sign    = std::nan("");
};

/// A lower bound instead of the smallest pivot.
inline DevicePivot bound_of_pivots(const RowDominance &dominance, double tolerance)
{
  return {tolerance, dominance.pivot_bound, dominance.pivot_matrix, dominance.pivot_row};
}

/// Lines, factored by an algorithm.
template <class Scalar, class Exec>
struct Factored {
  std::string  name;                    ///< of the algorithm, for reports
  bool         orthogonal      = false; ///< eliminated by reflections
  bool         growth_is_known = true;  ///< of entries, if the host eliminated
  std::size_t  bytes           = 0;
  std::int64_t lines           = 0; ///< solves multiples of this many lines; 0: any number
  Certificate  certificate;         ///< the bounds of its elimination
  virtual ~Factored()                                                         = default;
  virtual void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
                     const int *class_of_line, std::int64_t classified) const = 0;
  /// Solves segments of longer lines (segments.hpp), for one_pass.
  virtual void solve_between(const Exec &, const Scalar *, const LineSet &, Scalar *, const LineSet &,
                             const int *, std::int64_t, const KnownRows<Scalar> &) const
  {
  }
  /// The same for lines with the matrices of the lines from `first` on, for algorithms with one matrix per
  /// line.
  virtual void solve_lines(const Exec &, std::int64_t, const Scalar *, const LineSet &, Scalar *,
                           const LineSet &) const
  {
    throw std::logic_error("ribbon: " + name + " has no matrices of lines");
  }
  /// The same with a separate workspace; empty if it has no workspace.
  virtual std::shared_ptr<Factored> independent(const Exec &) const { return {}; }
  /// Factors matrices of the same extents with new values and solves; false if that is not supported.
  virtual bool solve_with(const Exec &, const Bands<Scalar, typename Exec::memory_space> &, const Scalar *,
                          const LineSet &, Scalar *, const LineSet &) const
  {
    return false;
  }
  /// Factors matrices of the same extents with new values in the memory of the old factors; false if there
  /// is no such kernel, and nothing changed.
  virtual bool refactor(const Exec &, const Bands<Scalar, typename Exec::memory_space> &, DevicePivot &)
  {
    return false;
  }
  /// Prepares apply(): solves with right-hand sides B u. False if there is no kernel for B: `why` holds the
  /// reason.
  virtual bool fuse(const Exec &, const Bands<Scalar, typename Exec::memory_space> &, std::string &why)
  {
    why = name + " applies no B";
    return false;
  }
  /// y = alpha A^-1 B u + beta v, after fuse().
  virtual void apply(const Exec &, const Scalar *, const LineSet &, Scalar *, const LineSet &, const int *,
                     std::int64_t, const OperatorTerms<Scalar> &) const
  {
  }
  /// Copies the tables of one_pass for bands of half-bandwidth 1 or 2. False: there are none.
  virtual bool tables(OnePassTables<Scalar, typename Exec::memory_space> &, std::string &why) const
  {
    why = name + " does not step on chip";
    return false;
  }
  /// Enables iterative refinement of the reduced system; false if it cannot be enabled.
  virtual bool refine() { return false; }
  /// Whether whole lines were eliminated by reflections.
  bool is_pivoted_whole() const { return orthogonal && !inverts_reduced_system(); }
  /// Whether a solve multiplies with the inverse of a system of the separators of chunks.
  virtual bool inverts_reduced_system() const { return false; }
  /// Whether the kernels can compute the unknowns next to segments of longer lines (KnownRows::joined).
  virtual bool joins() const { return false; }
};

template <class Scalar, class Exec>
using Made = std::shared_ptr<Factored<Scalar, Exec>>;

/// one_pass for rows of B unknowns that couple with K rows on either side. Empty if no tile of lines fits:
/// `why` holds the reason.
template <class Scalar, class Exec, int K, int B>
Made<Scalar, Exec> make_one_pass(const Exec &exec, const LineSet &lines,
                                 const std::vector<HostMatrix<Scalar>> &matrices,
                                 const LineSolverOptions &options, PivotWatch &watch, std::string &why);

/// The same with orthogonal elimination; K <= 2, block 1.
template <class Scalar, class Exec, int K>
Made<Scalar, Exec>
make_pivoted_one_pass(const Exec &exec, const LineSet &lines, const std::vector<HostMatrix<Scalar>> &matrices,
                      const LineSolverOptions &options, PivotWatch &watch, std::string &why);

/// The same for one matrix per line, or alpha_l A + beta_l B; K <= 2, block 1.
/// @param pivot  null: pivots are not examined
template <class Scalar, class Exec, int K>
Made<Scalar, Exec> make_one_pass_per_line(const Exec &exec, const LineSet &lines,
                                          const Bands<Scalar, typename Exec::memory_space> &bands,
                                          const LineSolverOptions &options, DevicePivot *pivot,
                                          std::string &why);

/// The same for all other systems; pivots are not examined.
template <class Scalar, class Exec, int K, int B>
Made<Scalar, Exec> make_one_pass_wide(const Exec &exec, const LineSet &lines,
                                      const Bands<Scalar, typename Exec::memory_space> &bands,
                                      const LineSolverOptions &options, std::string &why);

/// Block tridiagonal lines, one matrix per line, not periodic, on a host. Without a valid certificate the
/// factors are not used. Empty if lines are too long.
template <class Scalar, class Exec>
Made<Scalar, Exec> make_block_thomas(const Exec                                       &exec,
                                     const Bands<Scalar, typename Exec::memory_space> &bands,
                                     DevicePivot                                      &pivot);

/// thomas, unrolled, for K <= 2, on a host for K <= 4 without rings: a few matrices, or one per line.
/// `refactors` as in LineSolverOptions.
template <class Scalar, class Exec, int K>
Made<Scalar, Exec> make_thomas(const Exec &exec, const std::vector<HostMatrix<Scalar>> &matrices, bool staged,
                               PivotWatch &watch);
template <class Scalar, class Exec, int K>
Made<Scalar, Exec> make_thomas_per_line(const Exec                                       &exec,
                                        const Bands<Scalar, typename Exec::memory_space> &bands, bool staged,
                                        bool refactors, DevicePivot &pivot);

/// The sweeps of one_pass as products of tiles of eight unknowns with small matrices: one matrix, at most
/// eight unknowns between two chunks.
template <class Exec>
Made<double, Exec> make_tile_products(const Exec &exec, const HostMatrix<double> &A, PivotWatch &watch,
                                      std::string &why);
/// Whether lines of this many rows fit its kernels.
bool tile_products_fit(std::int64_t rows, int reach, int block);

/// Calls f(K, B) for the systems with a one-pass kernel; K may be larger than requested (float and complex
/// have no kernel for 3).
template <class Scalar, class F>
bool with_system(int K, int B, const F &f)
{
  using std::integral_constant;
  if (B == 1 && K == 1) return f(integral_constant<int, 1>{}, integral_constant<int, 1>{}), true;
  if (B == 1 && K == 2) return f(integral_constant<int, 2>{}, integral_constant<int, 1>{}), true;
  if (B == 1 && K == 3)
    return f(integral_constant < int, std::is_same_v<Scalar, double> ? 3 : 4 > {},
             integral_constant<int, 1>{}),
           true;
  if (B == 1 && K == 4) return f(integral_constant<int, 4>{}, integral_constant<int, 1>{}), true;
  if (B == 2 && K == 1) return f(integral_constant<int, 1>{}, integral_constant<int, 2>{}), true;
  if (B == 4 && K == 1) return f(integral_constant<int, 1>{}, integral_constant<int, 4>{}), true;
  return false;
}

} // namespace ribbon::detail
