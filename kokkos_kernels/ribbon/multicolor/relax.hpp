// SPDX-License-Identifier: BSD-2-Clause
/// @file relax.hpp  The kernel that relaxes the unknowns of one colour.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon {

/// A matrix in slices of H lanes, not owned. Entry (r, c) of the block of a lane in a slot is at
/// ((slot * B + c) * B + r) * H + lane.
template <class Scalar>
struct ColorSlices {
  const std::int32_t *order; ///< unknown at each place; -1: none
  const std::int64_t *begin, *later;
  const std::int32_t *column;
  const Scalar       *value, *inverse;
  Scalar             *sums;
  std::int64_t        unknowns;
};

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
    Scalar             sum[L][B];
    load(slice, lane, sum);
    if (earlier && !reuse) subtract(A.begin[slice], A.later[slice], lane, sum);
    if (keep) store_sums(slice, lane, sum);
    if (later) subtract(A.later[slice], A.begin[slice + 1], lane, sum);
    update(slice, lane, sum);
  }

private:
  KOKKOS_INLINE_FUNCTION std::int64_t unknown(std::int64_t slice, int lane) const
  {
    return A.order[slice * H + lane];
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t slice, int lane, Scalar (&sum)[L][B]) const
  {
    for (int l = 0; l < L; ++l) {
      const std::int64_t i = unknown(slice, lane + l);
      RIBBON_UNROLL
      for (int r = 0; r < B; ++r)
        sum[l][r] = reuse    ? A.sums[(slice * B + r) * H + lane + l]
                    : i >= 0 ? read_only_scalar(b + i * B + r)
                             : Scalar(0);
    }
  }
  KOKKOS_INLINE_FUNCTION void store_sums(std::int64_t slice, int lane, const Scalar (&sum)[L][B]) const
  {
    for (int l = 0; l < L; ++l) RIBBON_UNROLL
    for (int r = 0; r < B; ++r) A.sums[(slice * B + r) * H + lane + l] = sum[l][r];
  }
  KOKKOS_INLINE_FUNCTION void subtract(std::int64_t from, std::int64_t to, int lane,
                                       Scalar (&sum)[L][B]) const
  {
    for (std::int64_t slot = from; slot < to; ++slot)
      for (int l = 0; l < L; ++l) {
        const std::int64_t j = A.column[slot * H + lane + l];
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
  KOKKOS_INLINE_FUNCTION void update(std::int64_t slice, int lane, const Scalar (&sum)[L][B]) const
  {
    for (int l = 0; l < L; ++l) {
      const std::int64_t i = unknown(slice, lane + l);
      if (i < 0) continue;
      RIBBON_UNROLL
      for (int r = 0; r < B; ++r) {
        Scalar y(0);
        RIBBON_UNROLL
        for (int c = 0; c < B; ++c)
          add_product(y, read_only_scalar(A.inverse + ((slice * B + c) * B + r) * H + lane + l), sum[l][c]);
        Scalar &to = x[i * B + r];
        to         = rest == Scalar(0) ? y : set ? omega * y : rest * to + omega * y;
      }
    }
  }
};

} // namespace ribbon
