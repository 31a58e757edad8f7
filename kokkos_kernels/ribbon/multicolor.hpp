// SPDX-License-Identifier: BSD-2-Clause
/// @file multicolor.hpp  Gauss-Seidel and SOR sweeps over the colours of a sparse matrix: unknowns of one
///   colour do not couple, and are relaxed in parallel. The result does not depend on the number of threads.
#pragma once

#include <ribbon/coloring.hpp>
#include <ribbon/factor_report.hpp>

#include <memory>
#include <vector>

namespace ribbon {

/// Why a matrix cannot be relaxed: the diagonal of an unknown is zero or singular, or its rows are not
/// finite.
struct MulticolorReport {
  FactorStatus status  = FactorStatus::ok; ///< ok, zero_pivot or not_finite
  std::int64_t unknown = -1;               ///< the first one at fault
  bool         ok() const { return status == FactorStatus::ok; }
};

/// Vectors of a sweep in the memory of Exec. Unknown i has the entries i * block .. i * block + block - 1.
template <class Scalar>
struct MulticolorVectors {
  const Scalar *b;
  Scalar       *x;
  const Scalar *ghosts = nullptr; ///< x of the unknowns of other ranks, in their order
};

/// One relaxation of all unknowns of a colour.
struct ColorStep {
  int  color;
  int  repeats = 1;     ///< equal relaxations in a row, done as one with factor 1 - (1 - omega)^repeats
  bool set     = false; ///< x of this colour is zero before the step, and is not read
  bool earlier = true;  ///< x of some earlier colour, or of another rank, may be nonzero
  bool later   = true;  ///< x of some later colour may be nonzero
  bool keep    = false; ///< stores b - L x for a later step
  bool reuse   = false; ///< starts from the stored b - L x, which no step has changed
};

/// The steps of `sweeps` sweeps over `colors` colours.
/// @param forward, backward  both: forward, then backward (symmetric)
/// @param zero               x is zero before the first step, and so are the unknowns of other ranks that no
///   colour has
///
/// After a forward sweep the values of earlier colours stay until the backward sweep passes. Its steps reuse
/// b - L x, as those of PETSc's MatSOR do. The last colour forward is the first one backward: one step
/// relaxes it twice.
std::vector<ColorStep> color_sequence(int colors, bool forward, bool backward, int sweeps, bool zero);

/// A matrix A = L + D + U in the order of its colours: L couples an unknown with earlier colours and with
/// other ranks, whose unknowns have no colour or an earlier one; U with later colours. D: the diagonal, or
/// blocks on the diagonal. Relaxing a colour replaces its unknowns x by
///
///     (1 - omega) x + omega (D + shift)^-1 (b - (L + U) x)
///
/// (D. M. Young, Iterative solution of large linear systems, 1971; Y. Saad, Iterative methods for sparse
/// linear systems, 2003, section 12.4). Entries lie by colour, then in slices of `lanes` unknowns, entry by
/// entry (SELL: M. Kreutzer et al., SIAM J. Sci. Comput. 36 (2014)), the earlier ones first.
template <class Scalar, class Exec>
class MulticolorRelaxation {
public:
  using Memory = typename Exec::memory_space;

  MulticolorRelaxation() = default; ///< without a matrix

  /// Copies a matrix. Waits.
  /// @param rows    A; the arrays are not needed afterwards
  /// @param colors  proper colours (is_proper()) of own unknowns and ghosts; -1: not in the order of a sweep
  /// @param count   number of colours
  /// @param shift   added to the diagonal
  /// @param threads_of_row  1; 8: threads that share a row; 0: 8 for long rows of small colours on a device
  /// Errors: std::invalid_argument for blocks above 8 and for more than 2^31 unknowns.
  MulticolorRelaxation(const Exec &exec, const MulticolorRows<Scalar> &rows, const ColorArray<Exec> &colors,
                       int count, Scalar shift, int threads_of_row = 0);

  /// Copies new values of a matrix with the same stored pattern. False: an entry is nonzero that was zero in
  /// the set-up, so that the colours may be wrong; nothing may be relaxed then. Waits.
  bool refresh(const Exec &exec, const MulticolorRows<Scalar> &rows, const ColorArray<Exec> &colors,
               Scalar shift);

  const MulticolorReport &report() const;
  int                     colors() const;
  std::int64_t            unknowns_of(int color) const;
  /// nonzero blocks off the diagonal, with those that fill up slices
  std::int64_t stored_blocks() const;
  std::size_t  bytes() const;
  /// blocks that a step reads, without the diagonal
  std::int64_t blocks_of(const ColorStep &step) const;

  /// Relaxes the unknowns of one colour. Asynchronous on exec.
  void relax(const Exec &exec, const ColorStep &step, Scalar omega, const MulticolorVectors<Scalar> &v) const;

  /// r = b - A x after steps that ended with a relaxation of the colour `last` with omega = 1, without shift:
  /// there r is zero, and only rows of other colours are read. For blocks of one row, without unknowns of
  /// other ranks. Asynchronous on exec. Errors: std::invalid_argument for larger blocks.
  void residual(const Exec &exec, int last, const MulticolorVectors<Scalar> &v, Scalar *r) const;

private:
  struct Storage;
  std::shared_ptr<Storage> storage_;
};

/// Relaxes the colours of a sequence, one after another. Asynchronous on exec.
template <class Scalar, class Exec>
void sweep_colors(const Exec &exec, const MulticolorRelaxation<Scalar, Exec> &matrix,
                  const std::vector<ColorStep> &steps, real_t<Scalar> omega,
                  const MulticolorVectors<Scalar> &v)
{
  for (const ColorStep &step : steps) matrix.relax(exec, step, Scalar(omega), v);
}

} // namespace ribbon
