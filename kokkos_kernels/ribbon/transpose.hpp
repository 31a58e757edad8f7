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
    const std::int64_t c = k % static_cast<std::int64_t>(from.extent(0)), i = k / static_cast<std::int64_t>(from.extent(0));
    for (std::int64_t d = -ku; d <= kl; ++d) {
      const std::int64_t j = i + d, w = n > 0 ? ((j % n) + n) % n : 0;
      for (int a = 0; a < block; ++a)
        for (int b = 0; b < block; ++b) {
          const Scalar v                               = periodic || w == j ? from(c, w, ((kl - d) * block + b) * block + a) : Scalar(0);
          to(c, i, ((d + ku) * block + a) * block + b) = conjugated ? conjugate(v) : v;
        }
    }
  }
};

template <class View>
struct ConjugateKernel {
  View                 alpha, beta, to_alpha, to_beta;
  KOKKOS_FUNCTION void operator()(const std::int64_t l) const { to_alpha(l) = conjugate(alpha(l)), to_beta(l) = conjugate(beta(l)); }
};

/// Bands of the transposes, or of the conjugate transposes; everything else as in `bands`. Asynchronous on exec.
template <class Scalar, class Exec>
Bands<Scalar, typename Exec::memory_space> transpose(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, bool conjugated = false)
{
  auto result  = bands;
  using Values = typename decltype(result)::values_type;
  result.lower = bands.ku(), result.upper = bands.kl();
  if (conjugated && bands.lhs == Lhs::shifted) {
    result.alpha = allocate<decltype(result.alpha)>(exec, "ribbon::conjugated alpha", bands.alpha.extent(0)), result.beta = allocate<decltype(result.beta)>(exec, "ribbon::conjugated beta", bands.beta.extent(0));
    Kokkos::parallel_for("ribbon::conjugate", indices(exec, bands.matrices()), ConjugateKernel<decltype(result.alpha)>{bands.alpha, bands.beta, result.alpha, result.beta});
  }
  result.values = allocate<Values>(exec, "ribbon::transposed bands", bands.values.extent(0), bands.values.extent(1), bands.values.extent(2));
  Kokkos::parallel_for("ribbon::transpose", indices(exec, static_cast<std::int64_t>(bands.values.extent(0) * bands.values.extent(1))),
                       TransposeKernel<Values>{bands.values, result.values, static_cast<std::int64_t>(bands.values.extent(1)), bands.kl(), bands.ku(), bands.block, bands.periodic, conjugated});
  return result;
}

} // namespace ribbon
