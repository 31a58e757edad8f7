// SPDX-License-Identifier: BSD-2-Clause
#include "chain_bench.hpp"

extern "C" {
void dgbtrf_(const int *m, const int *n, const int *kl, const int *ku, double *ab, const int *ldab, int *ipiv,
             int *info);
void dgbtrs_(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs, const double *ab,
             const int *ldab, const int *ipiv, double *b, const int *ldb, int *info, std::size_t);
}

namespace bench {

std::vector<ChainTiming> chain_lapack(const Band &A, const std::vector<int> &columns, bool transposed,
                                      int repeat)
{
  const int           n = static_cast<int>(A.rows()), kl = A.shape.kl, ku = A.shape.ku, ld = 2 * kl + ku + 1;
  const auto          rows = static_cast<std::size_t>(n);
  int                 info = 0;
  std::vector<double> ab(static_cast<std::size_t>(ld) * rows);
  std::vector<int>    pivots(rows);
  std::vector<ChainTiming> result;
  const auto               fill_band = [&] {
    std::fill(ab.begin(), ab.end(), 0.0);
    for (std::size_t i = 0; i < rows; ++i)
      for (auto e = static_cast<std::size_t>(A.row_begin[i]);
           e < static_cast<std::size_t>(A.row_begin[i + 1]); ++e) {
        const auto j = static_cast<std::size_t>(A.column[e]);
        ab[static_cast<std::size_t>(kl + ku) + i - j + j * static_cast<std::size_t>(ld)] = A.value[e];
      }
  };
  const double megabytes =
    1e-6 * static_cast<double>(ab.size() * sizeof(double) + pivots.size() * sizeof(int));
  result.push_back({"LAPACK (one core)", "factor", 1,
                    median_ms(repeat, 1, fill_band,
                              [&] { dgbtrf_(&n, &n, &kl, &ku, ab.data(), &ld, pivots.data(), &info); }),
                    0, megabytes});
  for (int m : columns) {
    std::vector<double> b(rows * static_cast<std::size_t>(m)), x(b.size());
    for (std::size_t k = 0; k < b.size(); ++k)
      b[k] = load(static_cast<std::int64_t>(k % rows), static_cast<int>(k / rows));
    const double ms = median_ms(
      repeat, 1, [&] { x = b; },
      [&] {
        dgbtrs_(transposed ? "T" : "N", &n, &kl, &ku, &m, ab.data(), &ld, pivots.data(), x.data(), &n, &info,
                1);
      });
    const auto last = b.size() - rows;
    result.push_back({"LAPACK (one core)", transposed ? "solve^T" : "solve", m, ms,
                      A.residual(x.data() + last, b.data() + last, transposed), megabytes});
  }
  return result;
}

} // namespace bench
