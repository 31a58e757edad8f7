// SPDX-License-Identifier: BSD-2-Clause
/// @file relax.hpp  The kernel that relaxes the unknowns of one colour.
#pragma once

#include <ribbon/multicolor/slices.hpp>

namespace ribbon {

/// Relaxes L unknowns: a device thread one, a host thread a slice, so that the compiler vectorizes over lanes.
/// @tparam B  unknowns of a block
/// @tparam H  lanes of a slice
/// @tparam Diagonals  all slices of the colour are on diagonals
template <class Scalar, int B, int H, int L, bool Diagonals>
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
    if (Diagonals || (B == 1 && s.is_on_diagonals()))
      subtract_diagonals(of_earlier ? s.earlier : s.later, slot, lane, unknown, sum);
    else subtract_columns(of_earlier ? s.earlier : s.later, slot, s.column + skipped, lane, sum);
  }
  KOKKOS_INLINE_FUNCTION void subtract_diagonals(std::uint32_t mask, std::int64_t slot, int lane,
                                                 const std::int64_t (&unknown)[L], Scalar (&sum)[L][B]) const
  {
    if constexpr (L == 1) return subtract_diagonals_at_once(mask, slot, lane, unknown[0], sum[0][0]);
    for (; mask; mask &= mask - 1, ++slot) {
      const Scalar *v = A.value + slot * H + lane, *xj = x + A.diagonal[lowest_bit(mask)];
      for (int l = 0; l < L; ++l) { // x may be undefined where a row has no entry
        const Scalar value = read_only_scalar(v + l);
        if (!(value == Scalar(0))) subtract_product(sum[l][0], value, xj[unknown[l]]);
      }
    }
  }
  /// The same for one lane: loads of four diagonals are on their way together. They do not depend on each other,
  /// because x is read where a row has no entry, too, at some unknown.
  KOKKOS_INLINE_FUNCTION void subtract_diagonals_at_once(std::uint32_t mask, std::int64_t slot, int lane,
                                                         std::int64_t unknown, Scalar &sum) const
  {
    constexpr int at_once = 4;
    const Scalar *v       = A.value + slot * H + lane;
    while (mask) {
      Scalar value[at_once], of_x[at_once];
      RIBBON_UNROLL
      for (int t = 0; t < at_once; ++t) {
        value[t] = of_x[t] = Scalar(0);
        if (!mask) continue;
        const std::int64_t j = unknown + A.diagonal[lowest_bit(mask)];
        value[t]             = read_only_scalar(v);
        of_x[t]              = x[j < 0 || j >= A.unknowns ? 0 : j];
        mask &= mask - 1, v += H;
      }
      RIBBON_UNROLL
      for (int t = 0; t < at_once; ++t)
        if (!(value[t] == Scalar(0))) subtract_product(sum, value[t], of_x[t]);
    }
  }
  KOKKOS_INLINE_FUNCTION void subtract_columns(std::uint32_t slots, std::int64_t slot, std::int64_t column,
                                               int lane, Scalar (&sum)[L][B]) const
  {
    if constexpr (L == 1) return subtract_columns_at_once(slots, slot, column, lane, sum[0]);
    for (std::uint32_t k = 0; k < slots; ++k, ++slot, ++column)
      for (int l = 0; l < L; ++l) {
        const std::int64_t j = A.column[column * H + lane + l];
        if (j >= 0) subtract_block(slot, lane + l, at(j), sum[l]);
      }
  }
  /// The same for one lane: the columns and x of some slots are on their way together.
  KOKKOS_INLINE_FUNCTION void subtract_columns_at_once(std::uint32_t slots, std::int64_t slot,
                                                       std::int64_t column, int lane, Scalar (&sum)[B]) const
  {
    constexpr int at_once = B == 1 ? 8 : 2;
    for (std::uint32_t k = 0; k < slots; k += at_once) {
      std::int64_t j[at_once];
      Scalar       of_x[at_once][B];
      RIBBON_UNROLL
      for (int t = 0; t < at_once; ++t) j[t] = k + t < slots ? A.column[(column + k + t) * H + lane] : -1;
      RIBBON_UNROLL
      for (int t = 0; t < at_once; ++t) {
        if (j[t] < 0) continue;
        RIBBON_UNROLL
        for (int c = 0; c < B; ++c) of_x[t][c] = at(j[t])[c];
      }
      RIBBON_UNROLL
      for (int t = 0; t < at_once; ++t)
        if (j[t] >= 0) subtract_block(slot + k + t, lane, of_x[t], sum);
    }
  }
  /// x of a column
  KOKKOS_INLINE_FUNCTION const Scalar *at(std::int64_t j) const
  {
    return j < A.unknowns ? x + j * B : ghosts + (j - A.unknowns) * B;
  }
  KOKKOS_INLINE_FUNCTION void subtract_block(std::int64_t slot, int lane, const Scalar *of_x,
                                             Scalar (&sum)[B]) const
  {
    RIBBON_UNROLL
    for (int c = 0; c < B; ++c) {
      const Scalar value = of_x[c];
      RIBBON_UNROLL
      for (int r = 0; r < B; ++r)
        subtract_product(sum[r], read_only_scalar(A.value + ((slot * B + c) * B + r) * H + lane), value);
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
