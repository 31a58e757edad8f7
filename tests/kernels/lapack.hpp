// SPDX-License-Identifier: BSD-2-Clause
/// @file lapack.hpp  Solutions by LAPACK's band elimination with row exchanges.
#pragma once

#include "batch.hpp"

#include <algorithm>

#define RIBBON_LAPACK_BANDS(scalar, trf, trs)                                                                \
  void trf(const int *m, const int *n, const int *kl, const int *ku, scalar *ab, const int *ldab,            \
           int *pivots, int *info);                                                                          \
  void trs(const char *transposed, const int *n, const int *kl, const int *ku, const int *columns,           \
           const scalar *ab, const int *ldab, const int *pivots, scalar *b, const int *ldb, int *info,       \
           std::size_t);
extern "C" {
RIBBON_LAPACK_BANDS(float, sgbtrf_, sgbtrs_)
RIBBON_LAPACK_BANDS(double, dgbtrf_, dgbtrs_)
RIBBON_LAPACK_BANDS(Kokkos::complex<double>, zgbtrf_, zgbtrs_)
}

namespace test {

/// x = A^-1 b for a matrix of bands, or of blocks as scalar bands. Empty if a pivot is zero. A ring is
/// folded: with its rows in the order 0, n - 1, 1, n - 2, ... it is a band of twice the width.
template <class Scalar>
std::vector<Scalar> by_lapack(const HostBands<Scalar> &bands, const std::vector<Scalar> &b,
                              std::size_t matrix = 0)
{
  const int rows = static_cast<int>(bands.rows()), B = bands.block, n = rows * B, one = 1;
  const int reach = std::min(2 * bands.half_bandwidth(), rows - 1);
  const int kl    = (bands.periodic ? reach : bands.kl()) * B + B - 1,
            ku = (bands.periodic ? reach : bands.ku()) * B + B - 1, ldab = 2 * kl + ku + 1;
  const auto place = [&](int i) { return !bands.periodic ? i : 2 * i < rows ? 2 * i : 2 * (rows - i) - 1; };
  int        info  = 0;
  std::vector<int>    pivots(static_cast<std::size_t>(n));
  std::vector<Scalar> ab(static_cast<std::size_t>(ldab) * static_cast<std::size_t>(n)), x(b.size());
  for (int i = 0; i < rows; ++i)
    for (int d = -bands.kl(); d <= bands.ku(); ++d) {
      const int j = bands.periodic ? ((i + d) % rows + rows) % rows : i + d;
      for (int p = 0; p < B && j >= 0 && j < rows; ++p)
        for (int q = 0; q < B; ++q) {
          const int row = place(i) * B + p, column = place(j) * B + q;
          ab[static_cast<std::size_t>(kl + ku + row - column + column * ldab)] +=
            bands.values(matrix, static_cast<std::size_t>(i),
                         static_cast<std::size_t>(((d + bands.kl()) * B + p) * B + q));
        }
    }
  const auto unknown = [&](int k) { return static_cast<std::size_t>(place(k / B) * B + k % B); };
  for (int k = 0; k < n; ++k) x[unknown(k)] = b[static_cast<std::size_t>(k)];
  const auto run = [&](auto trf, auto trs) {
    trf(&n, &n, &kl, &ku, ab.data(), &ldab, pivots.data(), &info);
    if (info == 0) trs("N", &n, &kl, &ku, &one, ab.data(), &ldab, pivots.data(), x.data(), &n, &info, 1);
  };
  if constexpr (std::is_same_v<Scalar, float>) run(sgbtrf_, sgbtrs_);
  else if constexpr (std::is_same_v<Scalar, double>) run(dgbtrf_, dgbtrs_);
  else run(zgbtrf_, zgbtrs_);
  if (info != 0) return {};
  std::vector<Scalar> found(b.size());
  for (int k = 0; k < n; ++k) found[static_cast<std::size_t>(k)] = x[unknown(k)];
  return found;
}

} // namespace test
