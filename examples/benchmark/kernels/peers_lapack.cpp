// SPDX-License-Identifier: BSD-2-Clause
#include "bench.hpp"

#include <numeric>
#include <thread>
#include <utility>

extern "C" {
void dpttrf_(const int *n, double *d, double *e, int *info);
void dpttrs_(const int *n, const int *nrhs, const double *d, const double *e, double *b, const int *ldb,
             int *info);
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

/// Calls of solve() with nrhs lines of n unknowns in about a tenth of a second, and their seconds.
std::pair<int, double> calls_and_seconds(int n, int nrhs, const std::function<void(double *)> &solve)
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
  return {calls, spent};
}

/// Seconds for a line if `threads` threads solve lines at the same time.
double seconds_per_line(int n, int nrhs, int threads, const std::function<void(double *)> &solve)
{
  std::vector<double>      rates(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  for (double &rate : rates)
    workers.emplace_back([&] {
      const auto [calls, seconds] = calls_and_seconds(n, nrhs, solve);
      rate                        = calls * nrhs / seconds;
    });
  for (auto &worker : workers) worker.join();
  return 1 / std::accumulate(rates.begin(), rates.end(), 0.0);
}

std::string cores(int threads)
{
  return threads == 1 ? " (one core)" : " (" + std::to_string(threads) + " threads)";
}

} // namespace

std::vector<Timing> lapack(const Case &c, int threads)
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
    if (c.stencil()) { // symmetric and positive definite: elimination without pivoting
      auto pivot = d, factor = dl;
      dpttrf_(&n, pivot.data(), factor.data(), &info);
      const double t = seconds_per_line(n, nrhs, threads, [&](double *b) {
        int fails = 0;
        dpttrs_(&n, &nrhs, pivot.data(), factor.data(), b, &n, &fails);
      });
      result.push_back({"LAPACK dpttrs" + cores(threads), 1e3 * t * static_cast<double>(c.lines), 0, 0});
    }
    dgttrf_(&n, dl.data(), d.data(), du.data(), du2.data(), pivots.data(), &info);
    const double t = seconds_per_line(n, nrhs, threads, [&](double *b) {
      int fails = 0;
      dgttrs_("N", &n, &nrhs, dl.data(), d.data(), du.data(), du2.data(), pivots.data(), b, &n, &fails, 1);
    });
    result.push_back({"LAPACK dgttrs" + cores(threads), 1e3 * t * static_cast<double>(c.lines), 0, 0});
  }
  std::vector<double> ab(static_cast<std::size_t>(ldab) * static_cast<std::size_t>(n), 0.0);
  for (int i = 0; i < n; ++i) {
    const auto row = c.row(i);
    for (int d = -h; d <= h; ++d)
      if (i + d >= 0 && i + d < n)
        ab[static_cast<std::size_t>(2 * h - d + (i + d) * ldab)] = row[static_cast<std::size_t>(d + h)];
  }
  dgbtrf_(&n, &n, &h, &h, ab.data(), &ldab, pivots.data(), &info);
  const double t = seconds_per_line(n, nrhs, threads, [&](double *b) {
    int fails = 0;
    dgbtrs_("N", &n, &h, &h, &nrhs, ab.data(), &ldab, pivots.data(), b, &n, &fails, 1);
  });
  result.push_back({"LAPACK dgbtrs" + cores(threads), 1e3 * t * static_cast<double>(c.lines), 0, 0});
  return result;
}

} // namespace bench
