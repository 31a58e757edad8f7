// SPDX-License-Identifier: BSD-2-Clause
/// @file edges.hpp  Right-hand sides at the ends of a sub-chain.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon::multifrontal {

/// to(k, column) = row k of b for the ku first rows, then for the kl last ones. One thread per column.
template <class Scalar>
struct EdgeRows {
  const Scalar        *b;
  Scalar              *to;
  std::int64_t         ldb, rows, columns;
  int                  kl, ku;
  KOKKOS_FUNCTION void operator()(const std::int64_t column) const
  {
    for (int k = 0; k < kl + ku; ++k)
      to[k * columns + column] = b[(k < ku ? k : rows - kl + k - ku) + column * ldb];
  }
};

/// The kl + ku rows of b at the ends of a sub-chain, row by row. Asynchronous on exec.
template <class Scalar, class Exec>
void edge_rows(const Exec &exec, const Scalar *b, std::int64_t ldb, std::int64_t rows, std::int64_t columns,
               int kl, int ku, Scalar *to)
{
  Kokkos::parallel_for("ribbon::edge_rows", indices(exec, columns),
                       EdgeRows<Scalar>{b, to, ldb, rows, columns, kl, ku});
}

} // namespace ribbon::multifrontal
