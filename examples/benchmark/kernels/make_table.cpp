// SPDX-License-Identifier: BSD-2-Clause
#include "make_table.hpp"
#include "table_rule.hpp"

#include <ribbon/line_solver.hpp>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace bench {

namespace {

using choice::Algorithm;
using choice::Layout;
using choice::Source;

constexpr int shortest_cut = 512; ///< rows of the shortest lines that are timed with partition

bool shared(Source source)
{
  return source == Source::constant || source == Source::general;
}

/// Shapes of one_pass. Only tridiagonal and pentadiagonal systems have several shapes.
std::vector<int> shapes(const choice::Key &key)
{
  if (key.B > 1 || key.K > 2) return {0};
  if (!shared(key.source)) return {8, 16, 32};
  return key.layout == Layout::interleaved ? std::vector<int>{16, 32, 64} : std::vector<int>{32};
}

std::vector<Candidate> candidates(const choice::Key &key, int rows)
{
  std::vector<Candidate> all;
  for (int rows_per_thread : shapes(key)) all.push_back({Algorithm::one_pass, rows_per_thread});
  if (shared(key.source)) all.push_back({Algorithm::tile_products});
  all.push_back({Algorithm::thomas});
  if (rows >= shortest_cut) all.push_back({Algorithm::partition});
  return all;
}

Case case_of(const choice::Key &key, int rows, std::int64_t lines, double sigma)
{
  Case c;
  c.rows = rows, c.lines = lines, c.half_bandwidth = key.K, c.block = key.B,
  c.interleaved = key.layout == Layout::interleaved, c.sigma = sigma;
  c.general = key.source == Source::general, c.per_line = key.source == Source::per_line,
  c.shifted = key.source == Source::shifted;
  return c;
}

/// Milliseconds of a solve; negative if the candidate does not support this case. A candidate that needs
/// more than twice as long as `least`, the fastest so far, is timed once.
double time(const Exec &exec, const Case &c, const ribbon::Bands<double, Memory> &bands,
            const Candidate &candidate, double least, const Vector &b, const Vector &x, int repeat)
{
  try {
    const ribbon::LineSolver<double, Exec> solver(
      exec, c.layout(), bands, {to_string(candidate.algorithm), 0, candidate.rows_per_thread});
    if (!solver.report().ok()) return -1;
    const auto sample = [&](int samples, int solves) {
      return median_ms(
        samples, solves, [] {}, [&] { solver.solve(exec, b.data(), x.data()); });
    };
    const double once = sample(1, 1);
    return once > 2 * least ? once : sample(repeat, 4);
  } catch (const std::invalid_argument &) { // this algorithm does not support this case
    return -1;
  }
}

Measurement measure(const Exec &exec, const choice::Key &key, int unknowns_per_line, std::int64_t lines,
                    const Vector &b, const Vector &x, int repeat)
{
  const int                 rows = unknowns_per_line / key.B;
  const std::vector<double> sigmas =
    shared(key.source) ? std::vector<double>{0.4, 5000} : std::vector<double>{0.4};
  Measurement         m{key, rows, candidates(key, rows)};
  std::vector<double> product(m.candidates.size(), 1.0);
  for (double sigma : sigmas) {
    const Case c     = case_of(key, rows, lines, sigma);
    const auto bands = bands_of<double>(c);
    double     least = 1e300;
    for (std::size_t k = 0; k < product.size(); ++k) {
      const double t = product[k] < 0 ? -1 : time(exec, c, bands, m.candidates[k], least, b, x, repeat);
      product[k]     = t < 0 ? -1 : product[k] * t;
      if (t >= 0) least = std::min(least, t);
    }
  }
  for (std::size_t k = 0; k < product.size(); ++k)
    m.candidates[k].milliseconds =
      product[k] < 0 ? -1 : std::pow(product[k], 1.0 / static_cast<double>(sigmas.size()));
  return m;
}

void print(const std::string &system, const Measurement &m)
{
  std::printf("%-6s %-11s %-8s %6lld |", system.c_str(), to_string(m.key.layout), to_string(m.key.source),
              static_cast<long long>(m.rows));
  for (const auto &c : m.candidates) {
    const std::string name =
      to_string(c.algorithm) + (c.rows_per_thread ? " " + std::to_string(c.rows_per_thread) : std::string());
    if (c.milliseconds < 0) std::printf("  %s -", name.c_str());
    else std::printf("  %s %.3f", name.c_str(), c.milliseconds);
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::string machine()
{
#ifdef KOKKOS_ENABLE_CUDA
  return Exec().cuda_device_prop().name;
#else
  return std::string("a host (") + Exec::name() + ")";
#endif
}

std::vector<std::string> origin(const TableSettings &s)
{
  char              date[16];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::string rows;
  for (int n : s.rows) rows += (rows.empty() ? "" : ",") + std::to_string(n);
  return {"machine  " + machine(), std::string("date     ") + date,
          "command  ribbon-bench --make-table " + std::filesystem::path(s.file).filename().string() +
            " --rows " + rows + " --unknowns " + std::to_string(static_cast<std::int64_t>(s.unknowns)) +
            " --repeat " + std::to_string(s.repeat)};
}

} // namespace

void make_table(const TableSettings &settings)
{
  TableSettings s = settings;
  std::sort(s.rows.begin(), s.rows.end());
  s.rows.erase(std::unique(s.rows.begin(), s.rows.end()), s.rows.end());
  // fail before the measurements, which need minutes
  if (!std::ofstream(s.file, std::ios::app)) throw std::runtime_error("cannot write " + s.file);
  const auto  start = std::chrono::steady_clock::now();
  const Exec  exec;
  std::size_t most = 0;
  for (int n : s.rows)
    most = std::max(most, static_cast<std::size_t>(n) * static_cast<std::size_t>(lines_of(s.unknowns, n)));
  const Vector b(Kokkos::view_alloc(std::string("bench::b"), Kokkos::WithoutInitializing), most),
    x(Kokkos::view_alloc(std::string("bench::x"), Kokkos::WithoutInitializing), most);
  fill<double>(b);
  std::printf("milliseconds of a solve, %.0f unknowns\n", s.unknowns);
  std::vector<Measurement> measurements;
  for (const char *system : {"tri", "penta", "band3", "band4", "block2", "block4"})
    for (Layout layout : {Layout::interleaved, Layout::contiguous})
      for (Source source : {Source::constant, Source::general, Source::per_line, Source::shifted}) {
        const auto [K, B] = systems_known().at(system);
        // Wide systems have fewer candidates and longer solves. Every second length is enough.
        for (std::size_t k = 0; k<s.rows.size(); k += K> 2 || B > 1 ? 2 : 1) {
          const int n = s.rows[k];
          if (n % B != 0) continue;
          measurements.push_back(
            measure(exec, {K, B, layout, source}, n, lines_of(s.unknowns, n), b, x, s.repeat));
          print(system, measurements.back());
        }
      }
  const auto    table = condense(measurements);
  std::ofstream file(s.file);
  write_table(file, table, origin(s));
  if (!file) throw std::runtime_error("cannot write " + s.file);
  std::printf("%zu entries of %zu choices in %.0f s: %s\n", table.size(), measurements.size(),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
              s.file.c_str());
}

} // namespace bench
