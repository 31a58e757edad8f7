// SPDX-License-Identifier: BSD-2-Clause
/// @file substitution_kernel.hpp (copied as algorithm/substitution/substitution.hpp)  Forward substitution
///   for lower triangular bands: no factors, one thread per line.
#pragma once

#include <ribbon/line_set.hpp>
#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/matrix/matrix_of_line.hpp>

namespace ribbon {

template <class Scalar, class Memory>
struct SubstitutionKernel {
  BandEntries<Scalar, Memory> entry;
  MatrixOfLine                matrix;
  const Scalar               *b;
  Scalar                     *x;
  LineSet                     in, out;

  KOKKOS_FUNCTION void operator()(const std::int64_t l) const
  {
    const std::int64_t c = matrix(l);
    for (std::int64_t i = 0; i < entry.rows; ++i) {
      Scalar sum = b[in(l, i)];
      for (int d = -entry.lower; d < 0; ++d)
        if (i + d >= 0) sum -= entry(c, i, d, 0, 0) * x[out(l, i + d)];
      x[out(l, i)] = sum / entry(c, i, 0, 0, 0);
    }
  }
};

} // namespace ribbon
