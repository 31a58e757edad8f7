// SPDX-License-Identifier: BSD-2-Clause
/// @file direction_split.hpp  A sparse matrix J = shift M - A on a grid, split by the direction along which
///   its entries couple, where it lives: A = A_1 + ... + A_D + R (docs/methods/adi.md).
#pragma once

#include <ribbon/lines_from_csr.hpp>

namespace ribbon {

/// Along which way an entry couples, seen from its row, and which component of an element its column is, in
/// two bytes. Offsets of more than `farthest` elements count as `farthest`.
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

/// f(d) for d in 0 .. 2, nothing for others. On a device d is compared with numbers that the compiler knows,
/// so that arrays that f indexes with it are registers.
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

/// The rows of J that a process has, in the memory of Exec: block 0 holds their own columns, block 1 all
/// others (rows = 0: there are none). Columns of a row ascend.
template <class Scalar, class Index>
struct GridRows {
  CsrMatrix<Scalar, Index> J[2] = {};
  /// numbers of a mass matrix with the pattern of J, which one direction takes; null: M is diagonal
  const Scalar        *M[2]   = {nullptr, nullptr};
  const std::uint16_t *way[2] = {nullptr, nullptr}; ///< of every entry
  /// diagonal of M, or its row sums; 0: the row is an algebraic equation; null: ones
  const Scalar  *mass                 = nullptr;
  Scalar         shift                = Scalar(0);
  real_t<Scalar> factor               = 1; ///< J is this times the entries of the rows
  int            components           = 1; ///< rows of an element
  int            first_component      = 0; ///< of row 0
  int            reach                = 1; ///< largest offset of a way
  int            directions           = 1; ///< D
  int            direction_of_axis[3] = {Way::mixed, Way::mixed, Way::mixed};
};

/// What the rows are split into: part 0 has the couplings s_b J_bj of algebraic equations, all entries of
/// their rows but the diagonal; part d + 1 is A_d, with the diagonal, the entries along direction d and, in
/// block 0, those of the element. Entries of a row are in the order of J.
template <class Scalar, class Index>
struct SplitParts {
  static constexpr int most               = 4;
  const Index         *row_begin[most][2] = {}; ///< null: the part or its block is not kept
  Scalar              *value[most][2]     = {};
  /// s_b, 0 in rows of differential equations; may be null
  Scalar *scale = nullptr;
};

/// What a splitting leaves out, and whether it differs from what was there.
struct SplitCounts {
  std::int64_t                        mixed   = 0; ///< couplings along no direction that are not zero
  std::int64_t                        growth  = 0; ///< rows whose r_i < 0
  std::int64_t                        torn    = 0; ///< algebraic rows that couple along several directions
  std::int64_t                        differs = 0; ///< rows, or 0
  KOKKOS_INLINE_FUNCTION SplitCounts &operator+=(const SplitCounts &o)
  {
    mixed += o.mixed, growth += o.growth, torn += o.torn, differs += o.differs;
    return *this;
  }
};

/// Bit a: some entry along axis a is not zero. Waits for the answer.
/// @param axes  those that the grid has: once all of them are found no more rows are read
template <class Scalar, class Index, class Exec>
unsigned coupling_axes(const Exec &exec, const GridRows<Scalar, Index> &rows, unsigned axes);

/// Compares the parts with what the rows ask for; `differs` counts at least one row where they differ, the
/// other counts mean nothing then. Waits for the answer.
template <class Scalar, class Index, class Exec>
SplitCounts compare_parts(const Exec &exec, const GridRows<Scalar, Index> &rows,
                          const SplitParts<Scalar, Index> &parts);

/// Writes every number of the parts, and their scale. Waits for the counts.
template <class Scalar, class Index, class Exec>
SplitCounts write_parts(const Exec &exec, const GridRows<Scalar, Index> &rows,
                        const SplitParts<Scalar, Index> &parts);

/// One direction that somebody else made: to = A in rows of differential equations; algebraic rows scaled to
/// -1 on the diagonal, or -1 alone where A_bb = 0.
/// @param write  false: nothing is written, the answer is whether `to` differs. Waits.
template <class Scalar, class Index, class Exec>
bool scale_algebraic_rows(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], const Scalar *mass,
                          Scalar *const (&to)[2], bool write);

/// Sets mass to 0 in rows whose diagonal entry is not zero and whose other entries are: Dirichlet
/// values. Asynchronous on exec.
template <class Scalar, class Index, class Exec>
void mark_diagonal_rows(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], Scalar *mass);

/// The largest sum of |A_ij| over rows where mass is not 0: a bound of the eigenvalues (Gershgorin). Infinite
/// where a number is not finite. Waits for the answer.
template <class Scalar, class Index, class Exec>
double largest_row_sum(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], const Scalar *mass);

/// P = s M - a A in rows of differential equations, -A in algebraic ones; P has the pattern
/// of A. Asynchronous on exec.
/// @param diagonal  false: s M is left out
template <class Scalar, class Index, class Exec>
void shifted_rows(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], const Scalar *mass, bool diagonal,
                  real_t<Scalar> s, real_t<Scalar> a, Scalar *const (&P)[2]);

} // namespace ribbon
