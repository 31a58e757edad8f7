// SPDX-License-Identifier: BSD-2-Clause
/// @file relax.hpp  The kernel that relaxes the unknowns of one colour.
#pragma once

#include <ribbon/host/vectors.hpp>
#include <ribbon/multicolor/slices.hpp>

namespace ribbon {

/// The sums of one block over its couplings.
template <class Scalar, int B>
struct BlockSums {
  Scalar v[B];

  KOKKOS_INLINE_FUNCTION BlockSums()
  {
    RIBBON_UNROLL
    for (int r = 0; r < B; ++r) v[r] = Scalar(0);
  }
  KOKKOS_INLINE_FUNCTION void operator+=(const BlockSums &other)
  {
    RIBBON_UNROLL
    for (int r = 0; r < B; ++r) v[r] += other.v[r];
  }
};

/// Relaxes L unknowns: a device thread one, a host thread a slice, so that the compiler vectorizes over
/// lanes. For long rows of a small colour S device threads share a row, each with every S-th slot.
/// @tparam B  unknowns of a block
/// @tparam H  lanes of a slice
/// @tparam Diagonals  all slices of the colour are on diagonals
/// @tparam Residual   b - A x is stored, and x stays as it is; B = 1
template <class Scalar, int B, int H, int L, bool Diagonals, int S = 1, bool Residual = false>
struct RelaxColor {
  ColorSlices<Scalar> A;
  const Scalar       *b, *ghosts;
  Scalar             *x;
  Scalar              omega, rest; ///< rest = 1 - omega
  std::int64_t        first;       ///< slice
  bool                set, earlier, later, keep, reuse;
  std::int64_t        lanes;         ///< of all slices
  bool                shared_values; ///< many slices have the same slots
  Scalar             *residual = nullptr;

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t slice = first + (L == 1 ? k / H : k);
    const int          lane  = L == 1 ? static_cast<int>(k % H) : 0;
    const ColorSlice   s     = A.slice[slice];
    Scalar             sum[L][B];
    std::int64_t       unknown[L];
    for (int l = 0; l < L; ++l) unknown[l] = A.order[slice * H + lane + l];
    fetch(s.begin, 1);
    load(slice, lane, unknown, sum);
    if (earlier && !reuse) subtract(s, true, lane, unknown, sum);
    if (keep) store_sums(slice, lane, sum);
    if (later) subtract(s, false, lane, unknown, sum);
    update(s.begin, lane, unknown, sum);
  }
  /// A team of threads, each with S vector lanes for one row.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void operator()(const Member &team) const
  {
    const std::int64_t k =
      static_cast<std::int64_t>(team.league_rank()) * team.team_size() + team.team_rank();
    if (k >= lanes) return;
    const std::int64_t slice      = first + k / H;
    const int          lane       = static_cast<int>(k % H);
    const ColorSlice   s          = A.slice[slice];
    const std::int64_t unknown[1] = {A.order[slice * H + lane]};
    Scalar             sum[1][B];
    load(slice, lane, unknown, sum);
    if (earlier && !reuse) subtract_by_team(team, s, true, lane, unknown, sum);
    if (keep) Kokkos::single(Kokkos::PerThread(team), [&] { store_sums(slice, lane, sum); });
    if (later) subtract_by_team(team, s, false, lane, unknown, sum);
    Kokkos::single(Kokkos::PerThread(team), [&] { update(s.begin, lane, unknown, sum); });
  }

private:
  template <class Member>
  KOKKOS_INLINE_FUNCTION void subtract_by_team(const Member &team, const ColorSlice &s, bool of_earlier,
                                               int lane, const std::int64_t (&unknown)[1],
                                               Scalar (&sum)[1][B]) const
  {
    BlockSums<Scalar, B> all;
    Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, S),
      [&](const int part, BlockSums<Scalar, B> &to) {
        Scalar mine[1][B];
        for (int r = 0; r < B; ++r) mine[0][r] = Scalar(0);
        subtract(s, of_earlier, lane, unknown, mine, part);
        for (int r = 0; r < B; ++r) to.v[r] += mine[0][r];
      },
      all);
    for (int r = 0; r < B; ++r) sum[0][r] += all.v[r];
  }
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

  /// On a host, fetches values of slices that follow. A processor does not look so far ahead past the reads of x.
  KOKKOS_INLINE_FUNCTION void fetch(std::int64_t slot, int slots) const
  {
    if constexpr (H < 32) {
      if (shared_values) return; // they are in a cache
      constexpr int line = 64 / static_cast<int>(sizeof(Scalar)), ahead = 64 * line;
      const Scalar *v = A.value + slot * B * B * H;
      for (int e = 0; e < slots * B * B * H; e += line) host::prefetch(v + e + ahead);
    }
  }
  /// Subtracts the couplings with earlier colours, or those with later ones.
  KOKKOS_INLINE_FUNCTION void subtract(const ColorSlice &s, bool of_earlier, int lane,
                                       const std::int64_t (&unknown)[L], Scalar (&sum)[L][B],
                                       int part = 0) const
  {
    const std::int64_t skipped = of_earlier ? 0 : s.slots(true), slot = s.begin + 1 + skipped;
    fetch(slot, s.slots(of_earlier));
    if (Diagonals || (B == 1 && s.is_on_diagonals()))
      subtract_diagonals(of_earlier ? s.earlier : s.later, slot, lane, unknown, sum, part);
    else subtract_columns(of_earlier ? s.earlier : s.later, slot, s.column + skipped, lane, sum, part);
  }
  KOKKOS_INLINE_FUNCTION void subtract_diagonals(std::uint32_t mask, std::int64_t slot, int lane,
                                                 const std::int64_t (&unknown)[L], Scalar (&sum)[L][B],
                                                 int part) const
  {
    if constexpr (L == 1) return subtract_diagonals_at_once(mask, slot, lane, unknown[0], sum[0][0], part);
    for (; mask; mask &= mask - 1, ++slot) {
      const Scalar *v = A.value + slot * H + lane, *xj = x + A.diagonal[lowest_bit(mask)];
      for (int l = 0; l < L; ++l) { // x may be undefined where a row has no entry
        const Scalar value = read_only_scalar(v + l);
        if (!(value == Scalar(0))) subtract_product(sum[l][0], value, xj[unknown[l]]);
      }
    }
  }
  /// The same for one lane: loads of four diagonals are on their way together. They do not depend on each
  /// other, because x is read where a row has no entry, too, at some unknown.
  KOKKOS_INLINE_FUNCTION void subtract_diagonals_at_once(std::uint32_t mask, std::int64_t slot, int lane,
                                                         std::int64_t unknown, Scalar &sum, int part) const
  {
    constexpr int at_once = 4;
    const Scalar *v       = A.value + slot * H + lane;
    while (mask) {
      Scalar value[at_once], of_x[at_once];
      RIBBON_UNROLL
      for (int t = 0; t < at_once; ++t) {
        value[t] = of_x[t] = Scalar(0);
        RIBBON_UNROLL
        for (int p = 0; p < S && mask; ++p, mask &= mask - 1, v += H) {
          if (S > 1 && p != part) continue;
          const std::int64_t j = unknown + A.diagonal[lowest_bit(mask)];
          value[t]             = read_only_scalar(v);
          of_x[t]              = x[j < 0 || j >= A.unknowns ? 0 : j];
        }
      }
      RIBBON_UNROLL
      for (int t = 0; t < at_once; ++t)
        if (!(value[t] == Scalar(0))) subtract_product(sum, value[t], of_x[t]);
    }
  }
  KOKKOS_INLINE_FUNCTION void subtract_columns(std::uint32_t slots, std::int64_t slot, std::int64_t column,
                                               int lane, Scalar (&sum)[L][B], int part) const
  {
    if constexpr (L == 1) return subtract_columns_at_once(slots, slot, column, lane, sum[0], part);
    for (std::uint32_t k = 0; k < slots; ++k, ++slot, ++column)
      for (int l = 0; l < L; ++l) {
        const std::int64_t j = A.column[column * H + lane + l];
        if (j >= 0) subtract_block(slot, lane + l, at(j), sum[l]);
      }
  }
  /// The same for one lane: the columns and x of some slots are on their way together.
  KOKKOS_INLINE_FUNCTION void subtract_columns_at_once(std::uint32_t slots, std::int64_t slot,
                                                       std::int64_t column, int lane, Scalar (&sum)[B],
                                                       std::uint32_t part) const
  {
    constexpr int at_once = B == 1 ? 8 : 2;
    for (std::uint32_t k = S > 1 ? part : 0; k < slots; k += at_once * S) {
      std::int64_t j[at_once];
      Scalar       of_x[at_once][B] = {};
      RIBBON_UNROLL
      for (int t = 0; t < at_once; ++t)
        j[t] = k + t * S < slots ? A.column[(column + k + t * S) * H + lane] : -1;
      RIBBON_UNROLL
      for (int t = 0; t < at_once; ++t) {
        if (j[t] < 0) continue;
        RIBBON_UNROLL
        for (int c = 0; c < B; ++c) of_x[t][c] = at(j[t])[c];
      }
      RIBBON_UNROLL
      for (int t = 0; t < at_once; ++t)
        if (j[t] >= 0) subtract_block(slot + k + t * S, lane, of_x[t], sum);
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
      if constexpr (Residual) {
        const Scalar inverse = read_only_scalar(A.value + slot * H + lane + l);
        residual[unknown[l]] = sum[l][0] - x[unknown[l]] / inverse;
        continue;
      }
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

/// Sets the unknowns of places to zero.
template <class Scalar>
struct ZeroUnknowns {
  const std::int32_t  *order;
  Scalar              *r;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    if (order[k] >= 0) r[order[k]] = Scalar(0);
  }
};

} // namespace ribbon

template <class Scalar, int B>
struct Kokkos::reduction_identity<ribbon::BlockSums<Scalar, B>> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::BlockSums<Scalar, B> sum() { return {}; }
};
