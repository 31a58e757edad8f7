// SPDX-License-Identifier: BSD-2-Clause
/// ribbon-bench-chain: time of the multifrontal solver for long banded matrices, factorization and solves, beside a copy of the band and beside LAPACK's gbtrf and gbtrs on one core.
#include "bench.hpp"

#include <ribbon/chain_solver.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <random>

extern "C" {
void dgbtrf_(const int *m, const int *n, const int *kl, const int *ku, double *ab, const int *ldab, int *ipiv, int *info);
void dgbtrs_(const char *trans, const int *n, const int *kl, const int *ku, const int *nrhs, const double *ab, const int *ldab, const int *ipiv, double *b, const int *ldb, int *info, std::size_t);
}

namespace bench {

struct ChainSettings {
  std::vector<double> rows{1e3, 1e4, 1e5, 1e6};
  std::vector<int>    half_bandwidths{1, 2, 3, 4, 5}, columns{1, 32};
  std::int64_t        leaf_size = 0;
  int                 repeat    = 10;
  bool                peers     = true;
  std::string         json;
};

/// A matrix with p entries on either side of the diagonal, compressed rows on the host: random, the diagonal as large as a row.
struct Band {
  std::vector<std::int32_t> row_begin{0}, column;
  std::vector<double>       value;
  Band(std::int64_t n, int p)
  {
    std::mt19937_64                        g(1);
    std::uniform_real_distribution<double> u(-1, 1);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = std::max<std::int64_t>(0, i - p); j <= std::min(n - 1, i + p); ++j) column.push_back(static_cast<std::int32_t>(j)), value.push_back(i == j ? p + 1.0 + u(g) : u(g));
      row_begin.push_back(static_cast<std::int32_t>(column.size()));
    }
  }
};

/// max |b - A x| / (max row sum of |A| max |x| + max |b|) of the first column.
double residual(const Band &A, const std::vector<double> &x, const std::vector<double> &b)
{
  double r = 0, a = 0, xs = 0, bs = 0;
  for (std::size_t i = 0; i + 1 < A.row_begin.size(); ++i) {
    double sum = b[i], row = 0;
    for (auto e = static_cast<std::size_t>(A.row_begin[i]); e < static_cast<std::size_t>(A.row_begin[i + 1]); ++e) sum -= A.value[e] * x[static_cast<std::size_t>(A.column[e])], row += std::abs(A.value[e]);
    r = std::max(r, std::abs(sum)), a = std::max(a, row), xs = std::max(xs, std::abs(x[i])), bs = std::max(bs, std::abs(b[i]));
  }
  return r / (a * xs + bs);
}

void report(nlohmann::json &table, std::int64_t n, int p, const std::string &solver, const std::string &phase, int columns, double ms, double copy, double error)
{
  std::printf("%10lld %3d %-28s %-14s %5d %10.4f %12.3e %8.1f %9.1e\n", static_cast<long long>(n), p, solver.c_str(), phase.c_str(), columns, ms, static_cast<double>(n) * columns / ms * 1e3, 100 * copy / ms, error);
  std::fflush(stdout);
  table.push_back({{"rows", n}, {"half_bandwidth", p}, {"solver", solver}, {"phase", phase}, {"columns", columns}, {"ms", ms}, {"copy_ms", copy}, {"backward_error", error}});
}

nlohmann::json run(const ChainSettings &s)
{
  nlohmann::json table = nlohmann::json::array();
  const Exec     exec;
  std::printf("%10s %3s %-28s %-14s %5s %10s %12s %8s %9s\n", "rows", "p", "solver", "phase", "rhs", "ms", "values/s", "% copy", "error");
  for (double rows : s.rows)
    for (int p : s.half_bandwidths) {
      const auto                                      n = static_cast<std::int64_t>(rows);
      const Band                                      A(n, p);
      const auto                                      row_begin = ribbon::upload(exec, "bench::row_begin", A.row_begin), column = ribbon::upload(exec, "bench::column", A.column);
      const auto                                      value   = ribbon::upload(exec, "bench::value", A.value);
      const auto                                      copied  = Vector("bench::copy", A.value.size());
      const auto                                      nothing = [] {};
      const double                                    copy    = median_ms(s.repeat, 4, nothing, [&] { Kokkos::deep_copy(exec, copied, value); });
      ribbon::ChainSolver<double, Exec>               solver(exec, {n, 1, p, p}, {s.leaf_size, 0});
      const ribbon::ChainMatrix<double, std::int32_t> matrix{{n, row_begin.data(), column.data(), value.data()}};
      const double                                    factor = median_ms(s.repeat, 1, nothing, [&] { solver.factor(exec, matrix); });
      report(table, n, p, std::string("ribbon ") + solver.method(), "factor", 1, factor, copy, 0);
      for (int columns : s.columns) {
        const auto   numbers = static_cast<std::size_t>(n) * static_cast<std::size_t>(columns);
        const Vector b("bench::b", numbers), x("bench::x", numbers);
        fill(b);
        const double copy_b = median_ms(s.repeat, 4, nothing, [&] { Kokkos::deep_copy(exec, x, b); });
        const double solve  = median_ms(s.repeat, columns > 1 ? 1 : 4, nothing, [&] { solver.solve(exec, b.data(), n, x.data(), n, columns); });
        const auto   host_b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b), host_x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
        report(table, n, p, std::string("ribbon ") + solver.method(), "solve", columns, solve, copy_b,
               residual(A, std::vector<double>(host_x.data(), host_x.data() + n), std::vector<double>(host_b.data(), host_b.data() + n)));
      }
      if (!s.peers || n > 100000000) continue;
      const int           rows32 = static_cast<int>(n), ld = 3 * p + 1;
      int                 info = 0;
      std::vector<double> ab(static_cast<std::size_t>(ld) * static_cast<std::size_t>(n));
      std::vector<int>    pivots(static_cast<std::size_t>(n));
      const auto          load = [&] {
        std::fill(ab.begin(), ab.end(), 0.0);
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
          for (auto e = static_cast<std::size_t>(A.row_begin[i]); e < static_cast<std::size_t>(A.row_begin[i + 1]); ++e) {
            const auto j                                                                   = static_cast<std::size_t>(A.column[e]);
            ab[static_cast<std::size_t>(2 * p) + i - j + j * static_cast<std::size_t>(ld)] = A.value[e];
          }
      };
      report(table, n, p, "LAPACK (one core)", "factor", 1, median_ms(3, 1, load, [&] { dgbtrf_(&rows32, &rows32, &p, &p, ab.data(), &ld, pivots.data(), &info); }), copy, 0);
      for (int columns : s.columns) {
        std::vector<double> b(static_cast<std::size_t>(n) * static_cast<std::size_t>(columns), 1.0);
        report(table, n, p, "LAPACK (one core)", "solve", columns, median_ms(3, 1, nothing, [&] { dgbtrs_("N", &rows32, &p, &p, &columns, ab.data(), &ld, pivots.data(), b.data(), &rows32, &info, 1); }), copy, 0);
      }
    }
  return table;
}

} // namespace bench

int main(int argc, char **argv)
{
  bench::ChainSettings s;
  CLI::App             app{"Times factorization and solves of long banded matrices against a copy and LAPACK."};
  app.add_option("--rows", s.rows, "rows")->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--half-bandwidth", s.half_bandwidths, "entries on either side of the diagonal")->delimiter(',')->check(CLI::Range(0, 32));
  app.add_option("--columns", s.columns, "right-hand sides")->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--leaf-size", s.leaf_size, "rows of a leaf, 0 for the solver's choice")->check(CLI::NonNegativeNumber);
  app.add_option("--repeat", s.repeat, "samples; the median counts")->check(CLI::PositiveNumber);
  app.add_flag("!--no-peers", s.peers, "leave LAPACK out");
  app.add_option("--json", s.json, "also write the table to this file");
  CLI11_PARSE(app, argc, argv);
  Kokkos::initialize(argc, argv);
  nlohmann::json table;
  try {
    table = bench::run(s);
  } catch (const std::exception &e) {
    std::fprintf(stderr, "ribbon-bench-chain: %s\n", e.what());
    Kokkos::finalize();
    return 1;
  }
  Kokkos::finalize();
  if (!s.json.empty()) {
    std::ofstream file(s.json);
    file << table.dump(1) << '\n';
    if (!file) {
      std::fprintf(stderr, "ribbon-bench-chain: cannot write %s\n", s.json.c_str());
      return 1;
    }
  }
  return 0;
}
