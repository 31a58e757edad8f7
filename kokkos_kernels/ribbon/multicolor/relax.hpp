// SPDX-License-Identifier: BSD-2-Clause
/// @file relax.hpp  The kernel that relaxes the unknowns of one colour.
#pragma once

#include <ribbon/multicolor/slices.hpp>

namespace ribbon {

/// Relaxes L unknowns: a device thread one, a host thread a slice, so that the compiler vectorizes over lanes.
/// @tparam B  unknowns of a block
/// @tparam H  lanes of a slice
template <class Scalar, int B, int H, int L>
struct RelaxColor {
  ColorSlices<Scalar> A;
  const Scalar       *b, *ghosts;
  Scalar             *x;
  Scalar              omega, rest; ///< rest = 1 - omega
  std::int64_t        first;       ///< slice
  bool                set, earlier, later, keep, reuse;

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t slice = first + (L == 1 ? k / H : k);
    const int          lane  = L == 1 ? static_cast<int>(k % H) : 0;
    const ColorSlice   s     = A.slice[slice];
    Scalar             sum[L][B];
    std::int64_t       unknown[L];
    for (int l = 0; l < L; ++l) unknown[l] = A.order[slice * H + lane + l];
    load(slice, lane, unknown, sum);
    if (earlier && !reuse) subtract(s, true, lane, unknown, sum);
    if (keep) store_sums(slice, lane, sum);
    if (later) subtract(s, false, lane, unknown, sum);
    update(s.begin, lane, unknown, sum);
  }

private:
  KOKKOS_INLINE_FUNCTION void load(std::int64_t slice, int lane, const std::int64_t (&unknown)[L],
                                   Scalar (&sum)[L][B]) const
  {
    for (int l = 0; l < L; ++l) {
      const std::int64_t i = unknown[l];
      RIBBON_UNROLL
      for (int r = 0; r < B; ++r)
        sum[l][r] = reuse    ? A.sums[(slice * B + r) * H + lane + l]
                    : i >= 0 ? read_only_scalar(b + i * B + r)
                             : Scalar(0);
    }
  }
  KOKKOS_INLINE_FUNCTION void store_sums(std::int64_t slice, int lane, const Scalar (&sum)[L][B]) const
  {
    for (int l = 0; l < L; ++l) {
      RIBBON_UNROLL
      for (int r = 0; r < B; ++r) A.sums[(slice * B + r) * H + lane + l] = sum[l][r];
    }
  }

  /// Subtracts the couplings with earlier colours, or those with later ones.
  KOKKOS_INLINE_FUNCTION void subtract(const ColorSlice &s, bool of_earlier, int lane,
                                       const std::int64_t (&unknown)[L], Scalar (&sum)[L][B]) const
  {
    const std::int64_t skipped = of_earlier ? 0 : s.slots(true), slot = s.begin + 1 + skipped;
    if (B == 1 && s.is_on_diagonals())
      subtract_diagonals(of_earlier ? s.earlier : s.later, slot, lane, unknown, sum);
    else subtract_columns(of_earlier ? s.earlier : s.later, slot, s.column + skipped, lane, sum);
  }
  KOKKOS_INLINE_FUNCTION void subtract_diagonals(std::uint32_t mask, std::int64_t slot, int lane,
                                                 const std::int64_t (&unknown)[L], Scalar (&sum)[L][B]) const
  {
    for (; mask; mask &= mask - 1, ++slot) {
      const Scalar *v = A.value + slot * H + lane, *xj = x + A.diagonal[lowest_bit(mask)];
      for (int l = 0; l < L; ++l) { // x may be undefined where a row has no entry
        const Scalar value = read_only_scalar(v + l);
        if (!(value == Scalar(0))) subtract_product(sum[l][0], value, xj[unknown[l]]);
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void subtract_columns(std::uint32_t slots, std::int64_t slot, std::int64_t column,
                                               int lane, Scalar (&sum)[L][B]) const
  {
    for (std::uint32_t k = 0; k < slots; ++k, ++slot, ++column)
      for (int l = 0; l < L; ++l) {
        const std::int64_t j = A.column[column * H + lane + l];
        if (j < 0) continue;
        const Scalar *xj = j < A.unknowns ? x + j * B : ghosts + (j - A.unknowns) * B;
        RIBBON_UNROLL
        for (int c = 0; c < B; ++c) {
          const Scalar value = xj[c];
          RIBBON_UNROLL
          for (int r = 0; r < B; ++r)
            subtract_product(sum[l][r], read_only_scalar(A.value + ((slot * B + c) * B + r) * H + lane + l),
                             value);
        }
      }
  }

  KOKKOS_INLINE_FUNCTION void update(std::int64_t slot, int lane, const std::int64_t (&unknown)[L],
                                     const Scalar (&sum)[L][B]) const
  {
    for (int l = 0; l < L; ++l) {
      if (unknown[l] < 0) continue;
      RIBBON_UNROLL
      for (int r = 0; r < B; ++r) {
        Scalar y(0);
        RIBBON_UNROLL
        for (int c = 0; c < B; ++c)
          add_product(y, read_only_scalar(A.value + ((slot * B + c) * B + r) * H + lane + l), sum[l][c]);
        Scalar &to = x[unknown[l] * B + r];
        to         = rest == Scalar(0) ? y : set ? omega * y : rest * to + omega * y;
      }
    }
  }
};

} // namespace ribbon
