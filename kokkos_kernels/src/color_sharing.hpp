// SPDX-License-Identifier: BSD-2-Clause
/// @file color_sharing.hpp  Kernels that find slices with equal values, and store their slots once.
#pragma once

#include <ribbon/multicolor/slices.hpp>

#include <type_traits>

namespace ribbon {

namespace {

/// The sum over the lanes of hashes of their values: on a device with a thread for each lane, on a host with one for
/// each slice. 0: columns are stored, so that no other slice is equal.
template <class Scalar, bool OnDevice>
struct HashSlices {
  using Word                 = std::conditional_t<sizeof(Scalar) % 8 == 0, std::uint64_t, std::uint32_t>;
  static constexpr int words = static_cast<int>(sizeof(Scalar) / sizeof(Word));
  ColorSlices<Scalar>  A;
  int                  block, lanes; ///< block: scalars of a block
  std::int64_t         first;        ///< slice
  std::uint64_t       *hash;         ///< zeros before

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t slice = first + (OnDevice ? k / lanes : k);
    const ColorSlice   s     = A.slice[slice];
    if (!s.is_on_diagonals()) return;
    if constexpr (OnDevice)
      Kokkos::atomic_fetch_add(&hash[slice], of_lanes<1>(s, static_cast<int>(k % lanes)));
    else
      for (int lane = 0; lane < lanes; lane += lanes % 8 == 0 ? 8 : 1)
        hash[slice] += lanes % 8 == 0 ? of_lanes<8>(s, lane) : of_lanes<1>(s, lane);
  }

private:
  /// L lanes at once, because each hash is a chain of products.
  template <int L>
  KOKKOS_INLINE_FUNCTION std::uint64_t of_lanes(const ColorSlice &s, int lane) const
  {
    std::uint64_t h[L], sum = 0;
    for (int l = 0; l < L; ++l) h[l] = static_cast<std::uint64_t>(lane + l + 1);
    const std::int64_t n = (1 + s.slots()) * block;
    for (std::int64_t e = 0; e < n; ++e) {
      const auto *value = reinterpret_cast<const Word *>(A.value + (s.begin * block + e) * lanes + lane);
      for (int w = 0; w < words; ++w)
        for (int l = 0; l < L; ++l)
          h[l] = (h[l] ^ value[l * words + w]) * 0x9e3779b97f4a7c15ull, h[l] ^= h[l] >> 32;
    }
    for (int l = 0; l < L; ++l) sum += h[l] * 0xbf58476d1ce4e5b9ull;
    return sum;
  }
};

/// A table of hashes other than 0, with the first slice of each: open addressing.
struct HashTable {
  std::uint64_t *hash; ///< 0: free
  std::int64_t  *first;
  std::size_t    mask; ///< size - 1, where the size is a power of two

  KOKKOS_INLINE_FUNCTION void insert(std::uint64_t h, std::int64_t k) const
  {
    for (std::size_t at = h & mask;; at = (at + 1) & mask) {
      const std::uint64_t there = Kokkos::atomic_compare_exchange(hash + at, std::uint64_t(0), h);
      if (there != 0 && there != h) continue;
      if (first[at] > k) Kokkos::atomic_fetch_min(first + at, k);
      return;
    }
  }
  KOKKOS_INLINE_FUNCTION std::int64_t find(std::uint64_t h) const
  {
    std::size_t at = h & mask;
    while (hash[at] != h) at = (at + 1) & mask;
    return first[at];
  }
};
struct FirstWithHash {
  HashTable            table;
  const std::uint64_t *hash;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    if (hash[k] != 0) table.insert(hash[k], k);
  }
};
struct FindSame {
  HashTable            table;
  const std::uint64_t *hash;
  std::int64_t        *same;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    same[k] = hash[k] != 0 ? table.find(hash[k]) : k;
  }
};
/// First slots of slices that are the first with their values.
struct BeginKept {
  using value_type = std::int64_t;
  const ColorSlice    *slice;
  const std::int64_t  *same;
  std::int64_t        *begin;
  KOKKOS_FUNCTION void operator()(const std::int64_t k, std::int64_t &sum, const bool final) const
  {
    if (same[k] != k) return;
    if (final) begin[k] = sum;
    sum += 1 + slice[k].slots();
  }
};

/// Copies the slots of slices that are the first with their values, and counts values of others that differ: on a
/// device with a thread for each lane, on a host with one for each slice.
template <class Scalar, bool OnDevice>
struct ShareSlices {
  ColorSlices<Scalar>  A;
  std::int64_t         scalars; ///< of a slot
  int                  lanes;
  const std::int64_t  *same;  ///< the first slice with the same values
  const std::int64_t  *begin; ///< new first slot of such a one
  Scalar              *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t thread, std::int64_t &differ) const
  {
    const std::int64_t k = OnDevice ? thread / lanes : thread, n = (1 + A.slice[k].slots()) * scalars;
    const Scalar      *mine = A.value + A.slice[k].begin * scalars,
                 *other     = A.value + A.slice[same[k]].begin * scalars;
    for (std::int64_t e = OnDevice ? thread % lanes : 0; e < n; e += OnDevice ? lanes : 1)
      if (same[k] == k) to[begin[k] * scalars + e] = mine[e];
      else differ += !(mine[e] == other[e]);
  }
};
/// Moves slices to the slots of their representatives.
struct MoveSlices {
  ColorSlice          *slice;
  const std::int64_t  *same, *begin;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const { slice[k].begin = begin[same[k]]; }
};

} // namespace

} // namespace ribbon
