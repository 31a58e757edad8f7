// SPDX-License-Identifier: BSD-2-Clause
/// ribbon-bench-operators: times of y = A^-1 B u on batches of lines, compared with a copy of the same array
/// and with a product and a solve, all in one run.
#include "bench.hpp"
#include "write_json.hpp"

#include <ribbon/line_operator.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace bench {

struct Settings {
  std::vector<int>         rows{64, 128, 256, 512, 1024};
  double                   unknowns = ribbon::is_device_space<Exec> ? 134217728.0 : 8e6;
  std::int64_t             lines    = 0;
  std::vector<std::string> systems{"tri", "penta"}, layouts{"interleaved"}, matrices{"toeplitz"};
  std::vector<double>      sigmas{0.4};
  std::vector<int>         periodic{0}, widths{0};
  int                      repeat = 10, rows_per_thread = 0;
  bool                     in_place = false, adds = false, in_float = false, in_complex = false, peers = true;
  std::string              json;
};

/// B = 2 I - A with W diagonals on either side: a step of Crank-Nicolson, if W is the half-bandwidth of A.
template <class Scalar>
ribbon::Bands<Scalar, Memory> explicit_half(const ribbon::Bands<Scalar, Memory> &A, int W)
{
  const auto from = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A.values);
  const int  K    = A.kl();
  W               = std::max(W, K);
  auto B          = A;
  B.lower = B.upper = W;
  B.values =
    decltype(B.values)("bench::B", from.extent(0), from.extent(1), static_cast<std::size_t>(2 * W + 1));
  const auto to = Kokkos::create_mirror_view(B.values);
  for (std::size_t c = 0; c < from.extent(0); ++c)
    for (std::size_t i = 0; i < from.extent(1); ++i)
      for (int d = -W; d <= W; ++d)
        to(c, i, static_cast<std::size_t>(d + W)) =
          Scalar(d == 0 ? 2 : 0) -
          (d >= -K && d <= K ? from(c, i, static_cast<std::size_t>(d + K)) : Scalar(0));
  Kokkos::deep_copy(B.values, to);
  return B;
}

/// Bytes that an operator has to move per unknown.
double floor_bytes(const Case &c, const Settings &s, int W, std::size_t scalar)
{
  return static_cast<double>(scalar) *
         ((s.adds ? 3 : 2) +
          (c.per_line ? 2 * c.half_bandwidth + 1 + 2 * std::max(W, c.half_bandwidth) + 1 : 0));
}

template <class Scalar>
nlohmann::json run(const Settings &s)
{
  using Array          = VectorOf<Scalar>;
  nlohmann::json table = nlohmann::json::array();
  const Exec     exec;
  std::printf("%-6s %6s %9s %-12s %-9s %8s %4s %2s | %-26s %9s %12s %7s %9s\n", "system", "rows", "lines",
              "layout", "matrix", "sigma", "ring", "W", "operator", "ms", "unknowns/s", "% copy", "error");
  for (int n : s.rows) {
    const std::int64_t lines = s.lines ? s.lines : lines_of(s.unknowns, n);
    const auto         size  = static_cast<std::size_t>(n) * static_cast<std::size_t>(lines);
    const auto         arena = [&](const char *label) {
      return Array(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), size);
    };
    const Array u = arena("bench::u"), y = arena("bench::y"), expected = arena("bench::expected");
    fill(u);
    const double copy = median_ms(
      s.repeat, 4, [] {}, [&] { Kokkos::deep_copy(exec, y, u); });
    for (const auto &system : s.systems)
      for (const auto &layout : s.layouts)
        for (const auto &matrix : s.matrices)
          for (double sigma : s.sigmas)
            for (int ring : s.periodic)
              for (int W : s.widths) {
                Case c;
                c.rows = n, c.lines = lines, c.half_bandwidth = systems_known().at(system).first,
                c.periodic = ring != 0, c.interleaved = layout == "interleaved", c.sigma = sigma,
                c.general = matrix == "general", c.per_line = matrix == "per_line",
                c.classes    = matrix == "classes";
                const auto A = bands_of<Scalar>(c), B = explicit_half<Scalar>(A, W);
                bool       first = true;
                struct Way {
                  const char *name, *algorithm, *solver;
                };
                for (const Way &way : {Way{"separate", "separate", "auto"}, Way{"fused", "fused", "auto"},
                                       Way{"product and thomas", "separate", "thomas"}}) {
                  if (!s.peers && way.solver == std::string("thomas")) continue;
                  ribbon::LineOperatorOptions options;
                  options.algorithm = way.algorithm, options.solver.algorithm = way.solver;
                  options.solver.rows_per_thread = s.rows_per_thread;
                  try {
                    const ribbon::LineOperator<Scalar, Exec> op(exec, c.layout(), A, B, options);
                    ribbon::OperatorTerms<Scalar>            terms;
                    if (s.adds) terms.beta = 1, terms.v = u.data(), terms.lines = c.layout();
                    const auto apply = [&](const Array &from) {
                      op.apply(exec, from.data(), c.layout(), y.data(), c.layout(), terms);
                    };
                    Kokkos::deep_copy(y, u);
                    apply(s.in_place ? y : u);
                    if (first) Kokkos::deep_copy(expected, y);
                    first              = false;
                    const double error = difference(y, expected);
                    // in place, values decay or stay bounded
                    const double ms = median_ms(
                      s.repeat, 4, [] {}, [&] { apply(s.in_place ? y : u); });
                    const double rate  = c.unknowns() / ms * 1e3,
                                 share = 100 * copy / ms * floor_bytes(c, s, W, sizeof(Scalar)) /
                                         (2 * sizeof(Scalar));
                    const std::string name = way.name + (" (" + op.report().algorithm + ")");
                    std::printf("%-6s %6d %9lld %-12s %-9s %8g %4s %2d | %-26s %9.4f %12.3e %7.1f %9.1e\n",
                                system.c_str(), n, static_cast<long long>(lines), layout.c_str(),
                                matrix.c_str(), sigma, ring ? "yes" : "no", B.kl(), name.c_str(), ms, rate,
                                share, error);
                    table.push_back({{"system", system},
                                     {"rows", n},
                                     {"lines", lines},
                                     {"layout", layout},
                                     {"matrix", matrix},
                                     {"sigma", sigma},
                                     {"periodic", ring != 0},
                                     {"half_bandwidth_of_B", B.kl()},
                                     {"in_place", s.in_place},
                                     {"adds", s.adds},
                                     {"operator", name},
                                     {"ms", ms},
                                     {"unknowns_per_s", rate},
                                     {"percent_of_copy", share},
                                     {"copy_ms", copy},
                                     {"difference", error}});
                  } catch (const std::invalid_argument &e) {
                    std::printf("%s: %s\n", way.name, e.what());
                  }
                  std::fflush(stdout);
                }
              }
  }
  return table;
}

} // namespace bench

int main(int argc, char **argv)
{
  bench::Settings s;
  CLI::App app{"Times y = A^-1 B u, B = 2 I - A, on batches of lines against a copy of the same array and "
               "against a product and a solve."};
  app.add_option("--rows", s.rows, "unknowns per line")->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--unknowns", s.unknowns,
                 "unknowns in the batch (lines = unknowns / rows, a multiple of 256)");
  app.add_option("--lines", s.lines, "lines in the batch instead")->check(CLI::NonNegativeNumber);
  app.add_option("--system", s.systems, "tri, penta, band3, band4")
    ->delimiter(',')
    ->check(CLI::IsMember({"tri", "penta", "band3", "band4"}));
  app.add_option("--layout", s.layouts, "interleaved, contiguous")
    ->delimiter(',')
    ->check(CLI::IsMember({"interleaved", "contiguous"}));
  app.add_option("--matrix", s.matrices, "toeplitz, general, classes, per_line")
    ->delimiter(',')
    ->check(CLI::IsMember({"toeplitz", "general", "classes", "per_line"}));
  app.add_option("--sigma", s.sigmas, "A = I + sigma D with a difference operator D")->delimiter(',');
  app.add_option("--periodic", s.periodic, "0, 1")->delimiter(',')->check(CLI::IsMember({0, 1}));
  app.add_option("--width", s.widths, "half-bandwidth of B with zeros; 0: that of A")
    ->delimiter(',')
    ->check(CLI::NonNegativeNumber);
  app
    .add_option("--rows-per-thread", s.rows_per_thread,
                "shape of one_pass: 16, 32, 64, 0 for the operator's choice")
    ->check(CLI::IsMember({0, 16, 32, 64}));
  app.add_option("--repeat", s.repeat, "samples; the median counts");
  app.add_option("--rest", bench::rest_ms, "idle milliseconds before each sample");
  app.add_flag("--in-place", s.in_place, "y and u are one vector");
  app.add_flag("--adds", s.adds, "y = A^-1 B u + v, with v = u");
  auto *in_float = app.add_flag("--float", s.in_float, "single precision");
  app.add_flag("--complex", s.in_complex, "complex scalars in double precision")->excludes(in_float);
  app.add_flag("!--no-peers", s.peers, "leave the product and Thomas out");
  app.add_option("--json", s.json, "also write the table to this file");
  CLI11_PARSE(app, argc, argv);
  Kokkos::initialize(argc, argv);
  nlohmann::json table = s.in_float     ? bench::run<float>(s)
                         : s.in_complex ? bench::run<Kokkos::complex<double>>(s)
                                        : bench::run<double>(s);
  Kokkos::finalize();
  return bench::write_json("ribbon-bench-operators", s.json, table) ? 0 : 1;
}
