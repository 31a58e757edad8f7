// SPDX-License-Identifier: BSD-2-Clause
/// @file turn_dense.hpp  The transpose of a dense matrix of right-hand sides.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon::multifrontal {

/// to(i, j) = b(j, i), item = i + j rows. One thread per entry.
template <class Scalar>
struct TurnDense {
  const Scalar        *b;
  Scalar              *to;
  std::int64_t         ldb, rows;
  KOKKOS_FUNCTION void operator()(const std::int64_t item) const
  {
    to[item] = b[item / rows + item % rows * ldb];
  }
};

/// The transpose of b, of rows x columns, without gaps between its columns. Asynchronous on exec.
template <class Scalar, class Exec>
void turn_dense(const Exec &exec, const Scalar *b, std::int64_t ldb, std::int64_t rows, std::int64_t columns,
                Scalar *to)
{
  Kokkos::parallel_for("ribbon::transpose", indices(exec, rows * columns),
                       TurnDense<Scalar>{b, to, ldb, rows});
}

} // namespace ribbon::multifrontal
