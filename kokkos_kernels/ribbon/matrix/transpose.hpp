// SPDX-License-Identifier: BSD-2-Clause
/// @file transpose.hpp  Bands of the transposed matrices.
#pragma once

#include <ribbon/bands.hpp>

namespace ribbon {

template <class Values>
struct TransposeKernel {
  Values               from, to;
  std::int64_t         n;
  int                  kl, ku, block; ///< of `from`; `to` has ku sub- and kl superdiagonals
  bool                 periodic, conjugated;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    using Scalar         = typename Values::non_const_value_type;
    const std::int64_t c = k % static_cast<std::int64_t>(from.extent(0)),
                       i = k / static_cast<std::int64_t>(from.extent(0));
    for (std::int64_t d = -ku; d <= kl; ++d) {
      const std::int64_t j = i + d, w = n > 0 ? ((j % n) + n) % n : 0;
      for (int a = 0; a < block; ++a)
        for (int b = 0; b < block; ++b) {
          const Scalar v = periodic || w == j ? from(c, w, ((kl - d) * block + b) * block + a) : Scalar(0);
          to(c, i, ((d + ku) * block + a) * block + b) = conjugated ? conjugate(v) : v;
        }
    }
  }
};

template <class View>
struct ConjugateKernel {
  View                 alpha, beta, to_alpha, to_beta;
  KOKKOS_FUNCTION void operator()(const std::int64_t l) const
  {
    to_alpha(l) = conjugate(alpha(l)), to_beta(l) = conjugate(beta(l));
  }
};

/// The same matrices with `count` more stored rows at either end, or with all rows stored. Waits.
template <class Scalar, class Exec>
Bands<Scalar, typename Exec::memory_space>
store_more_rows(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, std::int64_t count)
{
  auto       result = bands;
  const auto stored = std::min(static_cast<std::int64_t>(bands.values.extent(1)) + 2 * count, bands.rows());
  result.repeats    = bands.rows() - stored + 1;
  result.values     = allocate<decltype(result.values)>(exec, "ribbon::bands", bands.values.extent(0),
                                                    static_cast<std::size_t>(stored), bands.values.extent(2));
  const auto from   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bands.values);
  const auto to     = Kokkos::create_mirror_view(result.values);
  for (std::int64_t k = 0; k < stored; ++k) {
    const auto i = static_cast<std::size_t>(bands.stored(k <= stored / 2 ? k : k + result.repeats - 1));
    for (std::size_t c = 0; c < from.extent(0); ++c)
      for (std::size_t d = 0; d < from.extent(2); ++d) to(c, static_cast<std::size_t>(k), d) = from(c, i, d);
  }
  Kokkos::deep_copy(exec, result.values, to);
  exec.fence();
  return result;
}

/// Bands of the transposes, or of the conjugate transposes; everything else as in `bands`. Asynchronous on
/// exec, except for bands that repeat a row (Bands::repeats): their transposes have more different rows at
/// the ends.
template <class Scalar, class Exec>
Bands<Scalar, typename Exec::memory_space>
transpose(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, bool conjugated = false)
{
  const auto from   = bands.repeats > 1 ? store_more_rows(exec, bands, bands.half_bandwidth()) : bands;
  auto       result = from;
  using Values      = typename decltype(result)::values_type;
  result.lower = from.ku(), result.upper = from.kl();
  if (conjugated && bands.lhs == Lhs::shifted) {
    result.alpha = allocate<decltype(result.alpha)>(exec, "ribbon::conjugated alpha", bands.alpha.extent(0)),
    result.beta  = allocate<decltype(result.beta)>(exec, "ribbon::conjugated beta", bands.beta.extent(0));
    Kokkos::parallel_for(
      "ribbon::conjugate", indices(exec, bands.matrices()),
      ConjugateKernel<decltype(result.alpha)>{bands.alpha, bands.beta, result.alpha, result.beta});
  }
  result.values = allocate<Values>(exec, "ribbon::transposed bands", from.values.extent(0),
                                   from.values.extent(1), from.values.extent(2));
  Kokkos::parallel_for(
    "ribbon::transpose",
    indices(exec, static_cast<std::int64_t>(from.values.extent(0) * from.values.extent(1))),
    TransposeKernel<Values>{from.values, result.values, static_cast<std::int64_t>(from.values.extent(1)),
                            from.kl(), from.ku(), from.block, from.periodic, conjugated});
  return result;
}

} // namespace ribbon
