// SPDX-License-Identifier: BSD-2-Clause
/// ribbon-bench: times of batched line solves, compared with a copy of the same array and with published
/// solvers, all in one run.
#include "bench.hpp"
#include "hyperdiffusion.hpp"
#include "make_table.hpp"
#include "write_json.hpp"

#include <ribbon/algorithm/name.hpp>
#include <ribbon/line_solver.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <stdexcept>

namespace bench {

/// Bytes that a solve has to move per unknown: right-hand side, solution, and the matrix if there is one
/// matrix per line. A scalar has `scalar` bytes.
double floor_bytes(const Case &c, std::size_t scalar)
{
  return static_cast<double>(scalar) * (2 + (c.per_line ? (2 * c.half_bandwidth + 1) * c.block : 0));
}

/// Copies of the right-hand sides to the device and of the solutions back, from and to pageable and
/// page-locked memory of the host.
template <class Array>
std::vector<Timing> transfers(const Array &b, const Array &x, int repeat)
{
  const Exec exec;
  const auto time = [&](const char *name, const auto &host) {
    Timing t{name};
    t.milliseconds = median_ms(
      repeat, 1, [] {},
      [&] {
        Kokkos::deep_copy(exec, b, host);
        Kokkos::deep_copy(exec, host, x);
      });
    return t;
  };
  std::vector<Timing> result{time("to the device and back, pageable", Kokkos::create_mirror(b))};
#ifdef KOKKOS_ENABLE_CUDA
  result.push_back(
    time("to the device and back, page-locked", Kokkos::create_mirror(Kokkos::CudaHostPinnedSpace(), b)));
#endif
  fill(b);
  return result;
}

struct Settings {
  std::vector<int>         rows{64, 128, 256, 512, 1024};
  double                   unknowns = is_cpu() ? 8e6 : 268435456.0;
  std::int64_t             lines    = 0;
  std::vector<std::string> systems{"tri", "penta"}, layouts{"interleaved"}, matrices{"toeplitz"},
    algorithms{"auto", "thomas"};
  std::vector<double> sigmas{0.4};
  std::vector<int>    periodic{0};
  int                 repeat    = 10;
  int                 threads   = 1; ///< of LAPACK
  bool                transfers = false;
  bool        peers = true, in_place = false, factor_and_solve = false, in_float = false, in_complex = false;
  int         rows_per_thread = 0, lines_per_team = 0, rows_per_piece = 0, switch_rows = 0;
  std::string json;
  static constexpr bool is_cpu() { return !ribbon::is_device_space<Exec>; }
};

template <class Scalar>
nlohmann::json run(const Settings &s)
{
  using Array          = VectorOf<Scalar>;
  nlohmann::json table = nlohmann::json::array();
  std::printf("%-6s %6s %9s %-12s %-9s %8s %4s | %-34s %9s %12s %7s %9s %10s\n", "system", "rows", "lines",
              "layout", "matrix", "sigma", "ring", "solver", "ms", "unknowns/s", "% copy", "error",
              "MB held");
  const Exec  exec;
  auto        lines_for = [&](int n) { return s.lines ? s.lines : lines_of(s.unknowns, n); };
  std::size_t most      = 0;
  for (int n : s.rows)
    most = std::max(most, static_cast<std::size_t>(n) * static_cast<std::size_t>(lines_for(n)));
  const auto arena = [&](const char *label) {
    return Array(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), most);
  };
  const Array b_all = arena("bench::b"), x_all = arena("bench::x"), expected_all = arena("bench::expected");
  for (int n : s.rows) {
    const std::int64_t lines = lines_for(n);
    const auto         part =
      std::make_pair(std::size_t(0), static_cast<std::size_t>(n) * static_cast<std::size_t>(lines));
    const Array b = Kokkos::subview(b_all, part), x = Kokkos::subview(x_all, part),
                expected = Kokkos::subview(expected_all, part);
    fill(b);
    const double copy = median_ms(
      s.repeat, 4, [] {}, [&] { Kokkos::deep_copy(exec, x, b); });
    for (const auto &system : s.systems)
      for (const auto &layout : s.layouts)
        for (const auto &matrix : s.matrices)
          for (double sigma : s.sigmas)
            for (int ring : s.periodic) {
              Case c;
              const auto [K, B] = systems_known().at(system);
              if (n % B != 0) continue;
              c.rows = n / B, c.lines = lines, c.half_bandwidth = K, c.block = B, c.periodic = ring != 0,
              c.interleaved = layout == "interleaved", c.sigma = sigma, c.general = matrix == "general",
              c.per_line = matrix == "per_line", c.shifted = matrix == "shifted",
              c.layers = matrix == "layers", c.edges = matrix == "edges",
              c.classes = matrix == "classes" || c.layers || c.edges;
              std::vector<Timing> timings;
              for (const auto &algorithm : s.algorithms) {
                try {
                  const ribbon::LineSolver<Scalar, Exec> solver(
                    exec, c.layout(), bands_of<Scalar>(c),
                    {algorithm, 0, s.rows_per_thread, s.lines_per_team, s.rows_per_piece, s.switch_rows});
                  Timing t;
                  t.solver = "ribbon " + solver.report().algorithm, t.bytes = solver.report().bytes;
                  if (!solver.report().ok()) {
                    std::printf("ribbon %s refuses: probe error %.1e, smallest pivot %.1e\n",
                                algorithm.c_str(), solver.report().probe_error,
                                solver.report().smallest_pivot);
                    continue;
                  }
                  Kokkos::deep_copy(x, Scalar(-1));
                  const auto bands =
                    s.factor_and_solve ? bands_of<Scalar>(c) : ribbon::Bands<Scalar, Memory>();
                  if (s.factor_and_solve) t.solver += ", factor and solve";
                  t.milliseconds = median_ms(
                    s.repeat, s.in_place ? 1 : 4,
                    [&] {
                      if (s.in_place) Kokkos::deep_copy(x, b);
                    },
                    [&] {
                      if (s.factor_and_solve)
                        solver.factor_and_solve(exec, bands, s.in_place ? x.data() : b.data(), x.data());
                      else solver.solve(exec, s.in_place ? x.data() : b.data(), x.data());
                    });
                  if (timings.empty()) Kokkos::deep_copy(expected, x);
                  t.error = difference(x, expected);
                  timings.push_back(t);
                } catch (const std::invalid_argument &) { // this algorithm does not support this case
                }
              }
              if constexpr (std::is_same_v<Scalar, double>)
                if (s.peers && c.has_peers()) {
                  for (const auto &t : cusparse(c, b, x, expected, s.repeat)) timings.push_back(t);
                  for (const auto &t : lapack(c)) timings.push_back(t);
                  if (s.threads > 1)
                    for (const auto &t : lapack(c, s.threads)) timings.push_back(t);
                }
              if (s.transfers)
                for (const auto &t : transfers(b, x, s.repeat)) timings.push_back(t);
              for (const auto &t : timings) {
                const double rate  = c.unknowns() / t.milliseconds * 1e3,
                             share = 100 * copy / t.milliseconds * floor_bytes(c, sizeof(Scalar)) /
                                     (2 * sizeof(Scalar));
                std::printf("%-6s %6d %9lld %-12s %-9s %8g %4s | %-34s %9.3f %12.3e %7.1f %9.1e %10.3f\n",
                            system.c_str(), n, static_cast<long long>(lines), layout.c_str(), matrix.c_str(),
                            sigma, ring ? "yes" : "no", t.solver.c_str(), t.milliseconds, rate, share,
                            t.error, static_cast<double>(t.bytes) / 1e6);
                table.push_back({{"system", system},
                                 {"rows", n},
                                 {"lines", lines},
                                 {"layout", layout},
                                 {"matrix", matrix},
                                 {"sigma", sigma},
                                 {"periodic", ring != 0},
                                 {"solver", t.solver},
                                 {"ms", t.milliseconds},
                                 {"unknowns_per_s", rate},
                                 {"scalar", s.in_float     ? "float"
                                            : s.in_complex ? "complex"
                                                           : "double"},
                                 {"floor_bytes", floor_bytes(c, sizeof(Scalar))},
                                 {"bytes_held", t.bytes},
                                 {"percent_of_copy", share},
                                 {"copy_ms", copy},
                                 {"difference", t.error}});
              }
              std::fflush(stdout);
            }
  }
  return table;
}

/// The rows of run() for the scalar of the options.
nlohmann::json run_in_scalar(const Settings &s)
{
#ifdef RIBBON_KERNELS_DOUBLE_ALONE
  if (s.in_float || s.in_complex)
    throw std::invalid_argument("this build has kernels in double alone (RIBBON_KERNELS_DOUBLE_ALONE)");
#else
  if (s.in_float) return run<float>(s);
  if (s.in_complex) return run<Kokkos::complex<double>>(s);
#endif
  return run<double>(s);
}

} // namespace bench

int main(int argc, char **argv)
{
  bench::Settings               s;
  bench::TableSettings          make;
  bench::HyperdiffusionSettings step;
  CLI::App app{"Times batched band and block tridiagonal solves against a copy of the same array and against "
               "other libraries."};
  const auto *rows =
    app.add_option("--rows", s.rows, "unknowns per line")->delimiter(',')->check(CLI::PositiveNumber);
  const auto *unknowns = app.add_option("--unknowns", s.unknowns,
                                        "unknowns in the batch (lines = unknowns / rows, a multiple of 256)");
  app.add_option("--lines", s.lines, "lines in the batch instead");
  app.add_option("--system", s.systems, "tri, penta, band3, band4, band8, block2, block3, block4, block8")
    ->delimiter(',')
    ->check(CLI::IsMember(bench::systems_known()));
  app.add_option("--layout", s.layouts, "interleaved, contiguous")
    ->delimiter(',')
    ->check(CLI::IsMember({"interleaved", "contiguous"}));
  app
    .add_option(
      "--matrix", s.matrices,
      "toeplitz, general (coefficients vary along the line), classes (three of those, for lines in turn), "
      "layers (for 1000 lines each), edges (two of them, for the first and the last of 128 lines and for "
      "those between), per_line, shifted (alpha_l I + beta_l A)")
    ->delimiter(',')
    ->check(CLI::IsMember({"toeplitz", "general", "classes", "layers", "edges", "per_line", "shifted"}));
  std::vector<std::string> algorithms;
  for (const auto &known : ribbon::algorithm_names) algorithms.emplace_back(known.name);
  app.add_option("--algorithm", s.algorithms, "auto, or the name of an algorithm")
    ->delimiter(',')
    ->check(CLI::IsMember(algorithms));
  app.add_option(
    "--switch-rows", s.switch_rows,
    "cr_pcr: equations that are left when parallel cyclic reduction takes over, 0 for the solver's choice");
  app
    .add_option(
      "--sigma", s.sigmas,
      "matrix I + sigma D with a difference operator D; its inverse decays fast for 0.4, slowly for 5000")
    ->delimiter(',');
  app.add_option("--periodic", s.periodic, "0, 1")->delimiter(',');
  const auto *repeat = app.add_option("--repeat", s.repeat, "samples; the median counts");
  app
    .add_option("--rest", bench::rest_ms,
                "idle milliseconds before each sample, which keep a device below its power limit")
    ->check(CLI::NonNegativeNumber);
  app.add_option(
    "--rows-per-thread", s.rows_per_thread,
    "shape of one_pass: 16, 32, 64 (contiguous lines: 32, of floats 64 as well), 0 for the solver's choice");
  app.add_option("--lines-per-team", s.lines_per_team,
                 "shape of one_pass: a power of two, 0 for the solver's choice");
  app.add_option("--rows-per-piece", s.rows_per_piece,
                 "rows of a segment of partition, 0 for the solver's choice");
  app.add_flag("--in-place", s.in_place, "solve in place (b == x)");
  app.add_flag("--factor-and-solve", s.factor_and_solve,
               "each solve has new matrices and right-hand sides (per_line, shifted)");
  auto *in_float = app.add_flag("--float", s.in_float, "single precision, without cuSPARSE and LAPACK");
  app.add_flag("--complex", s.in_complex, "complex scalars in double precision, without cuSPARSE and LAPACK")
    ->excludes(in_float);
  app.add_flag("!--no-peers", s.peers, "leave cuSPARSE and LAPACK out");
  app.add_option("--lapack-threads", s.threads, "also LAPACK on this many threads")
    ->check(CLI::PositiveNumber);
  app.add_flag("--transfers", s.transfers, "also the copies of b to the device and of x to the host");
  app.add_option("--json", s.json, "also write the table to this file");
  app
    .add_option("--make-table", make.file,
                "time every algorithm and shape that auto chooses from, and write its table to this header "
                "(only with --rows, --unknowns, --repeat)")
    ->excludes("--lines", "--system", "--layout", "--matrix", "--algorithm", "--sigma", "--periodic",
               "--rows-per-thread", "--lines-per-team", "--rows-per-piece", "--switch-rows", "--in-place",
               "--factor-and-solve", "--json");
  const auto *march =
    app
      .add_flag("--hyperdiffusion",
                "time steps of periodic hyperdiffusion, the benchmark of cuPentBatch (only with --rows, "
                "--lines or --unknowns, --repeat, --steps, --time-step, --energy, --no-peers, --json)")
      ->excludes("--system", "--layout", "--matrix", "--algorithm", "--sigma", "--periodic",
                 "--rows-per-thread", "--lines-per-team", "--rows-per-piece", "--switch-rows", "--in-place",
                 "--factor-and-solve", "--float", "--complex", "--make-table");
  app
    .add_flag("--diffusion", step.diffusion,
              "with --hyperdiffusion: diffusion instead, the benchmark of cuThomasConstantBatch")
    ->needs("--hyperdiffusion");
  app
    .add_option("--time-step", step.time_step,
                "hyperdiffusion: length of a step; lines have length 1, sigma is half of it times rows^4 "
                "(diffusion: rows^2)")
    ->check(CLI::PositiveNumber)
    ->needs("--hyperdiffusion");
  app.add_option("--steps", step.steps, "hyperdiffusion: time steps of a sample")
    ->check(CLI::PositiveNumber)
    ->needs("--hyperdiffusion");
  app.add_option("--schemes", step.schemes, "hyperdiffusion: the schemes that are timed; default: all")
    ->delimiter(',')
    ->check(CLI::IsMember(bench::hyperdiffusion_schemes()))
    ->needs("--hyperdiffusion");
  app
    .add_option("--energy", bench::energy_seconds,
                "hyperdiffusion: also the energy of the device, over steps of at least this many seconds")
    ->check(CLI::PositiveNumber)
    ->needs("--hyperdiffusion");
  CLI11_PARSE(app, argc, argv);
  Kokkos::initialize(argc, argv);
  nlohmann::json table;
  try {
    if (march->count() > 0) {
      if (rows->count() > 0) step.points = s.rows;
      step.unknowns = s.unknowns, step.lines = s.lines, step.repeat = s.repeat, step.peers = s.peers;
      table = bench::hyperdiffusion(step);
    } else if (make.file.empty()) table = bench::run_in_scalar(s);
    else {
      if (rows->count() > 0) make.rows = s.rows;
      if (unknowns->count() > 0) make.unknowns = s.unknowns;
      if (repeat->count() > 0) make.repeat = s.repeat;
      bench::make_table(make);
    }
  } catch (const std::exception &e) {
    std::fprintf(stderr, "ribbon-bench: %s\n", e.what());
    Kokkos::finalize();
    return 1;
  }
  Kokkos::finalize();
  return bench::write_json("ribbon-bench", s.json, table) ? 0 : 1;
}
