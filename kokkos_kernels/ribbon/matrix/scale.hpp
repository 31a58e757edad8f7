// SPDX-License-Identifier: BSD-2-Clause
/// @file scale.hpp  Multiples of banded matrices, and matrices with a larger diagonal.
#pragma once

#include <ribbon/bands.hpp>

namespace ribbon {

/// One thread per row of a matrix.
template <class Values>
struct ScaleKernel {
  using Scalar = typename Values::non_const_value_type;
  Values               values;
  Scalar               alpha;
  real_t<Scalar>       shift; ///< 0: no shift
  int                  lower, block;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t c = k % static_cast<std::int64_t>(values.extent(0)),
                       i = k / static_cast<std::int64_t>(values.extent(0));
    for (std::size_t d = 0; d < values.extent(2); ++d) values(c, i, d) *= alpha;
    if (shift == 0) return;
    const int diagonals = static_cast<int>(values.extent(2)) / (block * block);
    for (int a = 0; a < block; ++a) {
      real_t<Scalar> largest = 0;
      for (int d = 0; d < diagonals; ++d)
        for (int b = 0; b < block; ++b) {
          const real_t<Scalar> size = magnitude(values(c, i, (d * block + a) * block + b));
          largest                   = size > largest ? size : largest;
        }
      Scalar              &diagonal = values(c, i, (lower * block + a) * block + a);
      const real_t<Scalar> size     = magnitude(diagonal);
      diagonal +=
        size > 0 ? shift * largest / size * diagonal : Scalar(largest > 0 ? shift * largest : shift);
    }
  }
};

template <class Scalar, class Exec>
void scale_and_shift(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                     const Scalar &alpha, real_t<Scalar> shift)
{
  using Values = typename Bands<Scalar, typename Exec::memory_space>::values_type;
  Kokkos::parallel_for(
    "ribbon::scale",
    indices(exec, static_cast<std::int64_t>(bands.values.extent(0) * bands.values.extent(1))),
    ScaleKernel<Values>{bands.values, alpha, shift, bands.kl(), bands.block});
}

/// Every matrix times alpha, in place. Asynchronous on exec.
template <class Scalar, class Exec>
void scale(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, const Scalar &alpha)
{
  scale_and_shift<Scalar>(exec, bands, alpha, 0);
}

/// Increases the diagonal of every matrix by `shift` times the largest entry of its row (rows of zeros: by
/// `shift`), in place. Asynchronous on exec.
template <class Scalar, class Exec>
void shift_diagonal(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                    real_t<Scalar> shift)
{
  scale_and_shift<Scalar>(exec, bands, Scalar(1), shift);
}

} // namespace ribbon
