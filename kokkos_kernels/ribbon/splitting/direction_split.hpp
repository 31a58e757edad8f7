// SPDX-License-Identifier: BSD-2-Clause
/// @file direction_split.hpp  Splits a sparse matrix J = shift M - A on a grid by the direction along which
///   its entries couple, in the memory of the matrix: A = A_1 + ... + A_D + R (docs/methods/adi.md).
#pragma once

#include <ribbon/lines_from_csr.hpp>

namespace ribbon {

/// The axis and the offset along which an entry couples, seen from its row, and the component of its
/// column, in two bytes. Offsets of more than `farthest` elements count as `farthest`.
struct Way {
  static constexpr int same     = -1; ///< rows of one element
  static constexpr int mixed    = -2; ///< elements that differ in several coordinates
  static constexpr int farthest = largest_half_bandwidth + 1, offsets = 2 * farthest + 1, kinds = 64,
                       most_components = 65536 / kinds;

  KOKKOS_INLINE_FUNCTION static std::uint16_t of(int axis, std::int64_t offset, std::int64_t component)
  {
    const std::int64_t near = offset < -farthest ? -farthest : offset > farthest ? farthest : offset;
    return static_cast<std::uint16_t>(component * kinds + 2 +
                                      (axis < 0 ? axis : axis * offsets + farthest + near));
  }
  /// 0, 1, 2, `same` or `mixed`
  KOKKOS_INLINE_FUNCTION static int axis(std::uint16_t way)
  {
    return way % kinds < 2 ? way % kinds - 2 : (way % kinds - 2) / offsets;
  }
  KOKKOS_INLINE_FUNCTION static int offset(std::uint16_t way)
  {
    return (way % kinds - 2) % offsets - farthest;
  }
  KOKKOS_INLINE_FUNCTION static int component(std::uint16_t way) { return way / kinds; }
};
static_assert(3 * Way::offsets + 2 <= Way::kinds, "three axes in one code");

/// Calls f(d) for d in 0 .. 2 and does nothing for other values. On a device d is compared with
/// compile-time constants, so that arrays that f indexes with it are registers.
template <class F>
KOKKOS_FORCEINLINE_FUNCTION void with_direction(int d, const F &f)
{
#ifdef __CUDA_ARCH__
  RIBBON_UNROLL
  for (int e = 0; e < 3; ++e)
    if (e == d) f(e);
#else
  if (d >= 0 && d < 3) f(d);
#endif
}

/// The rows of J that a process has, in the memory of Exec. Block 0 holds the columns of the process, block
/// 1 all others (rows = 0: none). Columns of a row ascend.
template <class Scalar, class Index>
struct GridRows {
  CsrMatrix<Scalar, Index> J[2] = {};
  /// values of a mass matrix with the pattern of J, for use with one direction; null: M is diagonal
  const Scalar        *M[2]   = {nullptr, nullptr};
  const std::uint16_t *way[2] = {nullptr, nullptr}; ///< of every entry
  /// diagonal of M, or its row sums; 0: the row is an algebraic equation; null: ones
  const Scalar  *mass                 = nullptr;
  Scalar         shift                = Scalar(0);
  real_t<Scalar> factor               = 1; ///< J is this factor times the entries of the rows
  int            components           = 1; ///< rows of an element
  int            first_component      = 0; ///< of row 0
  int            reach                = 1; ///< largest offset of a way
  int            directions           = 1; ///< D
  int            direction_of_axis[3] = {Way::mixed, Way::mixed, Way::mixed};
};

/// The parts that the rows are split into. Part 0 has the couplings s_b J_bj of algebraic equations: all
/// entries of their rows except the diagonal. Part d + 1 is A_d: the diagonal, the entries along direction
/// d and, in block 0, those of the element. Entries of a row are in the order of J.
template <class Scalar, class Index>
struct SplitParts {
  static constexpr int most               = 4;
  const Index         *row_begin[most][2] = {}; ///< null: the part or its block is not stored
  Scalar              *value[most][2]     = {};
  /// s_b, 0 in rows of differential equations; may be null
  Scalar *scale = nullptr;
};

/// Counts of entries and rows that a splitting leaves out, and of rows that differ from the previous ones.
struct SplitCounts {
  std::int64_t                        mixed   = 0; ///< nonzero couplings along no direction
  std::int64_t                        growth  = 0; ///< rows whose r_i < 0
  std::int64_t                        torn    = 0; ///< algebraic rows that couple along several directions
  std::int64_t                        differs = 0; ///< rows that differ, or 0
  RIBBON_ADD_VOLATILE(SplitCounts)
  KOKKOS_INLINE_FUNCTION SplitCounts &operator+=(const SplitCounts &o)
  {
    mixed += o.mixed, growth += o.growth, torn += o.torn, differs += o.differs;
    return *this;
  }
};

/// Convection along each direction, by the moments of the couplings A_ij / M_ii of a component to itself: at
/// a row with neighbours A_- and A_+ the rates of transport |A_+ - A_-| and of damping A_+ + A_-.
struct Convection {
  struct Rows {
    double       transport = 0;                 ///< largest rate of transport
    double       sum = 0, weighted_damping = 0; ///< sums of rates of transport, and of products of both rates
    std::int64_t rows = 0;
    KOKKOS_INLINE_FUNCTION Rows &operator+=(const Rows &o)
    {
      transport = o.transport > transport ? o.transport : transport;
      sum += o.sum, weighted_damping += o.weighted_damping, rows += o.rows;
      return *this;
    }
  };
  /// rows with couplings on both sides, and on one: line ends, or upwind differences
  Rows                               both[3], one[3];
  RIBBON_ADD_VOLATILE(Convection)
  KOKKOS_INLINE_FUNCTION Convection &operator+=(const Convection &o)
  {
    for (int d = 0; d < 3; ++d) both[d] += o.both[d], one[d] += o.one[d];
    return *this;
  }
};

/// Sums over the rows of differential equations. Waits for the result.
template <class Scalar, class Index, class Exec>
Convection convection_of(const Exec &exec, const GridRows<Scalar, Index> &rows);

/// Bit a: some entry along axis a is not zero. Waits for the result.
/// @param axes  axes of the grid: reading stops after all of them are found
template <class Scalar, class Index, class Exec>
unsigned coupling_axes(const Exec &exec, const GridRows<Scalar, Index> &rows, unsigned axes);

/// Compares the parts with those of the rows. `differs` counts at least one row if they differ; the other
/// counts are meaningless then. Waits for the result.
template <class Scalar, class Index, class Exec>
SplitCounts compare_parts(const Exec &exec, const GridRows<Scalar, Index> &rows,
                          const SplitParts<Scalar, Index> &parts);

/// Writes all values of the parts, and their scale. Waits for the counts.
template <class Scalar, class Index, class Exec>
SplitCounts write_parts(const Exec &exec, const GridRows<Scalar, Index> &rows,
                        const SplitParts<Scalar, Index> &parts);

/// One direction that the caller assembled: to = A in rows of differential equations. Algebraic rows are
/// scaled to -1 on the diagonal, or become -1 alone if A_bb = 0.
/// @param write  false: nothing is written. Waits for the result
/// @return if not `write`, whether `to` differs
template <class Scalar, class Index, class Exec>
bool scale_algebraic_rows(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], const Scalar *mass,
                          Scalar *const (&to)[2], bool write);

/// Sets mass to 0 in rows with a nonzero diagonal entry and zeros elsewhere: Dirichlet values. Asynchronous
/// on exec.
template <class Scalar, class Index, class Exec>
void mark_diagonal_rows(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], Scalar *mass);

/// The largest sum of |A_ij| over rows where mass is not 0: a bound of the eigenvalues (Gershgorin).
/// Infinite if a value is not finite. Waits for the result.
template <class Scalar, class Index, class Exec>
double largest_row_sum(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], const Scalar *mass);

/// P = s M - a A in rows of differential equations, -A in algebraic ones. P has the pattern of A.
/// Asynchronous on exec.
/// @param diagonal  false: without s M
template <class Scalar, class Index, class Exec>
void shifted_rows(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], const Scalar *mass, bool diagonal,
                  real_t<Scalar> s, real_t<Scalar> a, Scalar *const (&P)[2]);

} // namespace ribbon
