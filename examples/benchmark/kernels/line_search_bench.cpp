// SPDX-License-Identifier: BSD-2-Clause
/// ribbon-bench-lines: times of the search for lines along the largest couplings, by rounds in the memory of
/// the default execution space and one coupling after another on a host, compared with a product with the
/// matrix.
#include "bench.hpp"
#include "write_json.hpp"

#include <ribbon/lines_by_rounds.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <numeric>
#include <random>

namespace bench {

namespace {

struct Settings {
  std::vector<int>    sizes{256, 1024};
  std::vector<double> anisotropies{1, 100};
  std::vector<int>    numberings{0, 1};
  double              spread = 0;
  int                 repeat = 5;
  std::string         json;
};

/// The 5-point operator of an n x n grid, in host memory.
struct Grid {
  std::vector<std::int32_t> row_begin, column;
  std::vector<double>       value;

  /// @param strong  couplings along y; those along x are 1
  /// @param spread  couplings vary by random factors up to 10^spread
  /// @param renumbered  rows are in a random order
  Grid(int n, double strong, double spread, bool renumbered)
  {
    const auto                             rows = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    std::mt19937                           random(1);
    std::uniform_real_distribution<double> uniform(0, spread);
    std::vector<std::int32_t>              to(rows), from(rows);
    std::vector<double>                    east(rows), north(rows); // couplings with the next ones
    std::iota(to.begin(), to.end(), 0);
    if (renumbered) std::shuffle(to.begin(), to.end(), random);
    for (std::size_t i = 0; i < rows; ++i)
      from[static_cast<std::size_t>(to[i])] = static_cast<std::int32_t>(i);
    for (double &g : east) g = std::pow(10, uniform(random));
    for (double &g : north) g = strong * std::pow(10, uniform(random));
    row_begin.push_back(0);
    std::vector<std::pair<std::int32_t, double>> row;
    for (std::size_t r = 0; r < rows; ++r) {
      const auto i = static_cast<std::size_t>(from[r]), across = static_cast<std::size_t>(n);
      double     diagonal = 1e-3;
      const auto add      = [&](std::size_t j, double g) { row.emplace_back(to[j], -g), diagonal += g; };
      row.clear();
      if (i % across > 0) add(i - 1, east[i - 1]);
      if (i % across + 1 < across) add(i + 1, east[i]);
      if (i >= across) add(i - across, north[i - across]);
      if (i + across < rows) add(i + across, north[i]);
      row.emplace_back(static_cast<std::int32_t>(r), diagonal);
      std::sort(row.begin(), row.end());
      for (const auto &[c, a] : row) column.push_back(c), value.push_back(a);
      row_begin.push_back(static_cast<std::int32_t>(column.size()));
    }
  }
  ribbon::CsrMatrix<double, std::int32_t> csr() const
  {
    return {static_cast<std::int64_t>(row_begin.size()) - 1, row_begin.data(), column.data(), value.data()};
  }
};

struct ProductKernel {
  ribbon::CsrMatrix<double, std::int32_t> A;
  const double                           *x;
  double                                 *y;
  KOKKOS_FUNCTION void                    operator()(const std::int64_t i) const
  {
    double sum = 0;
    for (std::int32_t e = A.row_begin[i]; e < A.row_begin[i + 1]; ++e) sum += A.value[e] * x[A.column[e]];
    y[i] = sum;
  }
};

nlohmann::json run(const Settings &s)
{
  const Exec     exec;
  nlohmann::json table = nlohmann::json::array();
  std::printf("%6s %10s %10s | %10s %10s %10s %10s %10s | %10s %10s %7s\n", "n", "strong : 1", "numbering",
              "product ms", "rounds ms", "pack ms", "host ms", "host pack", "lines", "host lines", "joined");
  for (int n : s.sizes)
    for (double anisotropy : s.anisotropies)
      for (int renumbered : s.numberings) {
        const Grid grid(n, anisotropy, s.spread, renumbered != 0);
        const auto begin  = ribbon::upload(exec, "bench::A", grid.row_begin),
                   column = ribbon::upload(exec, "bench::A", grid.column);
        const auto                                    value = ribbon::upload(exec, "bench::A", grid.value);
        const auto                                    host  = grid.csr();
        const ribbon::CsrMatrix<double, std::int32_t> A{host.rows, begin.data(), column.data(), value.data()};
        const Vector x("bench::x", static_cast<std::size_t>(A.rows)), y("bench::y", x.extent(0));
        auto         lines    = *ribbon::lines_by_rounds(exec, A);
        auto         expected = ribbon::lines_from_graph(host);
        const auto   nothing  = [] {};
        const double product  = median_ms(s.repeat, 20, nothing, [&] {
          Kokkos::parallel_for("bench::product", ribbon::indices(exec, A.rows),
                                ProductKernel{A, x.data(), y.data()});
        });
        const double rounds =
          median_ms(s.repeat, 1, nothing, [&] { lines = *ribbon::lines_by_rounds(exec, A); });
        const double packs = median_ms(s.repeat, 1, nothing, [&] { ribbon::pack(exec, lines); });
        const double greedy =
          median_ms(s.repeat, 1, nothing, [&] { expected = ribbon::lines_from_graph(host); });
        const double host_packs = median_ms(s.repeat, 1, nothing, [&] { ribbon::pack(expected); });
        // rows that the lines join, relative to those of the host's lines
        const double joined = static_cast<double>(A.rows - lines.lines()) /
                              static_cast<double>(std::max<std::int64_t>(1, A.rows - expected.lines()));
        std::printf("%6d %10g %10s | %10.3f %10.3f %10.3f %10.3f %10.3f | %10lld %10lld %6.1f%%\n", n,
                    anisotropy, renumbered ? "random" : "natural", product, rounds, packs, greedy, host_packs,
                    static_cast<long long>(lines.lines()), static_cast<long long>(expected.lines()),
                    100 * joined);
        std::fflush(stdout);
        table.push_back({{"n", n},
                         {"anisotropy", anisotropy},
                         {"spread", s.spread},
                         {"renumbered", renumbered != 0},
                         {"product_ms", product},
                         {"rounds_ms", rounds},
                         {"pack_ms", packs},
                         {"host_ms", greedy},
                         {"host_pack_ms", host_packs},
                         {"lines", lines.lines()},
                         {"host_lines", expected.lines()},
                         {"joined", joined}});
      }
  return table;
}

} // namespace

} // namespace bench

int main(int argc, char **argv)
{
  bench::Settings s;
  CLI::App        app{
    "Times the search for lines along the largest couplings of 5-point operators by rounds, on the "
           "default execution space, against the search on a host."};
  app.add_option("--size", s.sizes, "n of n x n grids")->delimiter(',')->check(CLI::Range(2, 16384));
  app.add_option("--anisotropy", s.anisotropies, "couplings along y; those along x are 1")->delimiter(',');
  app.add_option("--renumbered", s.numberings, "0: natural numbering, 1: random")
    ->delimiter(',')
    ->check(CLI::IsMember({0, 1}));
  app.add_option("--spread", s.spread, "couplings vary by random factors from 1 to 10^spread");
  app.add_option("--repeat", s.repeat, "samples; the median counts")->check(CLI::PositiveNumber);
  app.add_option("--json", s.json, "also write the table to this file");
  CLI11_PARSE(app, argc, argv);
  Kokkos::initialize(argc, argv);
  const nlohmann::json table = bench::run(s);
  Kokkos::finalize();
  return bench::write_json("ribbon-bench-lines", s.json, table) ? 0 : 1;
}
