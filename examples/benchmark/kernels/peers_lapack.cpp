// SPDX-License-Identifier: BSD-2-Clause
#include "bench.hpp"

extern "C" {
void dgttrf_(const int *n, double *dl, double *d, double *du, double *du2, int *ipiv, int *info);
void dgttrs_(const char *trans, const int *n, const int *nrhs, const double *dl, const double *d,
             const double *du, const double *du2, const int *ipiv, double *b, const int *ldb, int *info,
             std::size_t);
void dgbtrf_(const int *m, const int *n, const int *kl, const int *ku, double *ab, const int *ldab, int *ipiv,
             int *info);
void dgbtrs_(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs, const double *ab,
             const int *ldab, const int *ipiv, double *b, const int *ldb, int *info, std::size_t);
}

namespace bench {

namespace {

double seconds_per_line(int n, int nrhs, const std::function<void(double *)> &solve)
{
  std::vector<double> b(static_cast<std::size_t>(n) * static_cast<std::size_t>(nrhs));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>((i * 7919) % 1009) / 1009.0 - 0.5;
  auto work = b;
  solve(work.data()); // warm up
  int        calls = 0;
  const auto start = std::chrono::steady_clock::now();
  double     spent = 0;
  while (spent < 0.1) {
    solve(work.data());
    ++calls;
    spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return spent / calls / nrhs;
}

} // namespace

std::vector<Timing> lapack(const Case &c)
{
  if (c.periodic) return {}; // LAPACK has no periodic bands
  std::vector<Timing> result;
  const int           n = c.rows, h = c.half_bandwidth, nrhs = 64, ldab = 3 * h + 1;
  int                 info = 0;
  std::vector<int>    pivots(static_cast<std::size_t>(n));
  if (h == 1) {
    std::vector<double> dl, d, du, du2(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      const auto row = c.row(i);
      if (i > 0) dl.push_back(row[0]);
      d.push_back(row[1]);
      if (i + 1 < n) du.push_back(row[2]);
    }
    dgttrf_(&n, dl.data(), d.data(), du.data(), du2.data(), pivots.data(), &info);
    const double t = seconds_per_line(n, nrhs, [&](double *b) {
      dgttrs_("N", &n, &nrhs, dl.data(), d.data(), du.data(), du2.data(), pivots.data(), b, &n, &info, 1);
    });
    result.push_back({"LAPACK dgttrs (one core)", 1e3 * t * static_cast<double>(c.lines), 0, 0});
  }
  std::vector<double> ab(static_cast<std::size_t>(ldab) * static_cast<std::size_t>(n), 0.0);
  for (int i = 0; i < n; ++i) {
    const auto row = c.row(i);
    for (int d = -h; d <= h; ++d)
      if (i + d >= 0 && i + d < n)
        ab[static_cast<std::size_t>(2 * h - d + (i + d) * ldab)] = row[static_cast<std::size_t>(d + h)];
  }
  dgbtrf_(&n, &n, &h, &h, ab.data(), &ldab, pivots.data(), &info);
  const double t = seconds_per_line(n, nrhs, [&](double *b) {
    dgbtrs_("N", &n, &h, &h, &nrhs, ab.data(), &ldab, pivots.data(), b, &n, &info, 1);
  });
  result.push_back({"LAPACK dgbtrs (one core)", 1e3 * t * static_cast<double>(c.lines), 0, 0});
  return result;
}

} // namespace bench
