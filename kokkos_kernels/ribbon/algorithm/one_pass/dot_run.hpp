// SPDX-License-Identifier: BSD-2-Clause
/// @file dot_run.hpp  Dot products over rows that threads divide among themselves.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon {

/// Unknowns of consecutive rows of parts, and the coefficients that multiply them.
template <class Scalar>
struct DotRun {
  const Scalar *f;                       ///< unknown 0 of the first part
  std::int64_t  row_stride, part_stride; ///< in f
  const Scalar *words;                   ///< of unknown 0 in the first column
  std::int64_t  column_stride;
  int           block;
  std::int64_t  component_stride;

  /// sum[p][e] += unknowns begin, begin + step, ... (before end) of part p times column e. There are no
  /// branches, so that loads of all `unroll` rows are in flight together.
  template <int unroll, int parts, int columns>
  KOKKOS_FUNCTION void add(int begin, int end, int step, Scalar (&sum)[parts][columns]) const
  {
    for (int k = begin; k < end; k += unroll * step) {
      Scalar value[unroll][parts], word[unroll][columns];
      RIBBON_UNROLL
      for (int u = 0; u < unroll; ++u) {
        const int     i = k + u * step < end ? k + u * step : end - 1;
        const Scalar *at =
          f + (block == 1 ? i * row_stride : i / block * row_stride + i % block * component_stride);
        RIBBON_UNROLL
        for (int p = 0; p < parts; ++p) value[u][p] = read_only_scalar(at + p * part_stride);
        RIBBON_UNROLL
        for (int e = 0; e < columns; ++e) word[u][e] = read_only_scalar(words + e * column_stride + i);
      }
      RIBBON_UNROLL
      for (int u = 0; u < unroll; ++u) {
        const bool valid = k + u * step < end;
        RIBBON_UNROLL
        for (int e = 0; e < columns; ++e) {
          RIBBON_UNROLL
          for (int p = 0; p < parts; ++p) sum[p][e] += (valid ? word[u][e] : Scalar(0)) * value[u][p];
        }
      }
    }
  }
};

} // namespace ribbon
