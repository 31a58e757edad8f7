// SPDX-License-Identifier: BSD-2-Clause
/// ribbon-bench-steps: times of many steps u <- A^-1 (B u + D p(u)) on batches of lines: all in one launch,
/// one launch a step, and a product and the Thomas algorithm for every step, all in one run.
#include "bench.hpp"
#include "write_json.hpp"

#include <ribbon/line_stepper.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace bench {

struct Settings {
  std::vector<int>         rows{64, 128, 256, 512, 1024};
  double                   unknowns = ribbon::is_device_space<Exec> ? 67108864.0 : 2e6;
  std::vector<std::string> systems{"tri", "penta"}, layouts{"interleaved"}, matrices{"toeplitz"};
  std::vector<double>      sigmas{0.4};
  std::vector<int>         periodic{0};
  int                      steps = 50, repeat = 7, sums = 0;
  bool                     cubic = false, in_float = false, peers = true;
  std::string              json;
};

/// A matrix with one stencil, whose entries are those of `stencil`.
template <class Scalar>
ribbon::Bands<Scalar, Memory> stencil_of(const ribbon::Bands<Scalar, Memory> &A,
                                         const std::vector<double>           &stencil)
{
  const auto rows  = static_cast<std::size_t>(A.rows());
  auto       B     = A;
  const auto width = stencil.size();
  B.lhs = ribbon::Lhs::shared, B.repeats = 1, B.lower = B.upper = static_cast<int>(width) / 2;
  B.class_of_line = {};
  B.values        = decltype(B.values)("bench::B", 1, rows, width);
  const auto to   = Kokkos::create_mirror_view(B.values);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t d = 0; d < width; ++d) to(0, i, d) = static_cast<Scalar>(stencil[d]);
  Kokkos::deep_copy(B.values, to);
  return B;
}

/// The matrices of a step: Crank-Nicolson with A = I + sigma D, B = I - sigma D, or, with a cubic, a
/// semi-implicit step u <- (I + sigma D)^-1 (u + 0.01 (second difference) (u^3 - u)).
template <class Scalar>
struct Step {
  ribbon::Bands<Scalar, Memory> A, B, D;
  ribbon::StepTerms<Scalar>     terms;

  Step(const Case &c, bool cubic) : A(bands_of<Scalar>(c))
  {
    auto right = c.row(0);
    for (auto &entry : right) entry = -entry;
    right[right.size() / 2] += 2;
    if (!cubic) B = stencil_of(A, right);
    else {
      B       = stencil_of(A, {1});
      D       = stencil_of(A, {0.01, -0.02, 0.01});
      terms.p = {0, -1, 0, 1, 0, 0};
    }
  }
};

struct Way {
  const char *name, *algorithm, *solver;
};
constexpr Way ways[] = {{"on chip", "on_chip", "auto"},
                        {"one launch a step", "separate", "auto"},
                        {"product and thomas", "separate", "thomas"}};

template <class Scalar>
class Run {
public:
  explicit Run(const Settings &s) : s_(s) { }
  nlohmann::json operator()()
  {
    std::printf("%-6s %6s %9s %-12s %-9s %8s %4s | %-20s %9s %12s %9s\n", "system", "rows", "lines", "layout",
                "matrix", "sigma", "ring", "steps", "ms", "u. steps/s", "error");
    for (int n : s_.rows)
      for (const auto &system : s_.systems)
        for (const auto &layout : s_.layouts)
          for (const auto &matrix : s_.matrices)
            for (double sigma : s_.sigmas)
              for (int ring : s_.periodic) {
                Case c;
                c.rows = n, c.lines = lines_of(s_.unknowns, n),
                c.half_bandwidth = systems_known().at(system).first, c.periodic = ring != 0,
                c.interleaved = layout == "interleaved", c.sigma = sigma, c.general = matrix == "general",
                c.classes = matrix == "classes";
                all_ways(c, {{"system", system},
                             {"rows", n},
                             {"lines", c.lines},
                             {"layout", layout},
                             {"matrix", matrix},
                             {"sigma", sigma},
                             {"periodic", ring != 0},
                             {"steps", s_.steps},
                             {"cubic", s_.cubic},
                             {"sums_every", s_.sums}});
              }
    return table_;
  }

private:
  static constexpr int first_steps = 10; ///< whose states are compared

  void all_ways(const Case &c, const nlohmann::json &facts)
  {
    using Array     = VectorOf<Scalar>;
    const auto size = static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(c.lines);
    const auto room = [&](const char *label) {
      return Array(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing), size);
    };
    const Array        u = room("bench::u"), y = room("bench::y"), expected = room("bench::expected");
    const Step<Scalar> step(c, s_.cubic);
    fill(u);
    const double copy = median_ms(
      s_.repeat, 4, [] {}, [&] { Kokkos::deep_copy(exec_, y, u); });
    auto  terms = step.terms;
    Array sums("bench::sums",
               s_.sums ? static_cast<std::size_t>(std::max(s_.steps, first_steps) / s_.sums * 3 * c.lines)
                       : 0);
    if (s_.sums) terms.sums = {sums.data(), s_.sums};
    bool first = true;
    for (const Way &way : ways) {
      if (!s_.peers && way.algorithm != std::string("on_chip")) continue;
      ribbon::LineStepperOptions options;
      options.algorithm = way.algorithm, options.solver.algorithm = way.solver;
      try {
        const ribbon::LineStepper<Scalar, Exec> stepper(exec_, c.layout(), step.A, step.B, step.D, options);
        const auto                              run = [&](int steps) {
          stepper.step(exec_, steps, u.data(), c.layout(), y.data(), c.layout(), terms);
        };
        run(first_steps);
        if (first) Kokkos::deep_copy(expected, y);
        first              = false;
        const double error = difference(y, expected),
                     ms    = median_ms(
                          s_.repeat, 1, [] {}, [&] { run(s_.steps); }),
                     one = median_ms(
                       s_.repeat, 4, [] {}, [&] { run(1); });
        report(c, facts, way.name, ms, one, copy, error);
      } catch (const std::invalid_argument &e) {
        std::printf("%s: %s\n", way.name, e.what());
      }
      std::fflush(stdout);
    }
  }
  void report(const Case &c, nlohmann::json row, const char *name, double ms, double one, double copy,
              double error)
  {
    const double rate = c.unknowns() * s_.steps / ms * 1e3;
    std::printf(
      "%-6s %6d %9lld %-12s %-9s %8g %4s | %-20s %9.3f %12.3e %9.1e  1 step %.3f ms, %.1f%% of a copy\n",
      row["system"].get<std::string>().c_str(), c.rows, static_cast<long long>(c.lines),
      row["layout"].get<std::string>().c_str(), row["matrix"].get<std::string>().c_str(), c.sigma,
      c.periodic ? "yes" : "no", name, ms, rate, error, one, 100 * copy / one);
    row["way"] = name, row["ms"] = ms, row["unknown_steps_per_s"] = rate, row["ms_of_one_step"] = one;
    row["copy_ms"] = copy, row["difference_after_10"] = error;
    table_.push_back(row);
  }

  const Settings &s_;
  Exec            exec_;
  nlohmann::json  table_ = nlohmann::json::array();
};

} // namespace bench

int main(int argc, char **argv)
{
  bench::Settings s;
  CLI::App app{"Times steps u <- A^-1 (B u + D p(u)) of batches of lines: all in one launch, one launch a "
               "step, and a product and the Thomas algorithm for every step."};
  app.add_option("--rows", s.rows, "unknowns per line")->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--unknowns", s.unknowns,
                 "unknowns in the batch (lines = unknowns / rows, a multiple of 256)");
  app.add_option("--system", s.systems, "tri, penta")->delimiter(',')->check(CLI::IsMember({"tri", "penta"}));
  app.add_option("--layout", s.layouts, "interleaved, contiguous")
    ->delimiter(',')
    ->check(CLI::IsMember({"interleaved", "contiguous"}));
  app.add_option("--matrix", s.matrices, "toeplitz, general, classes")
    ->delimiter(',')
    ->check(CLI::IsMember({"toeplitz", "general", "classes"}));
  app.add_option("--sigma", s.sigmas, "A = I + sigma D with a difference operator D")->delimiter(',');
  app.add_option("--periodic", s.periodic, "0, 1")->delimiter(',')->check(CLI::IsMember({0, 1}));
  app.add_option("--steps", s.steps, "steps of a call")->check(CLI::PositiveNumber);
  app.add_option("--sums", s.sums, "sums over lines after every so many steps; 0: none")
    ->check(CLI::NonNegativeNumber);
  app.add_option("--repeat", s.repeat, "samples; the median counts");
  app.add_option("--rest", bench::rest_ms, "idle milliseconds before each sample");
  app.add_flag("--cubic", s.cubic, "semi-implicit steps with a cubic term, as for Cahn-Hilliard's equation");
  app.add_flag("--float", s.in_float, "single precision");
  app.add_flag("!--no-peers", s.peers, "steps on chip alone");
  app.add_option("--json", s.json, "also write the table to this file");
  CLI11_PARSE(app, argc, argv);
  Kokkos::initialize(argc, argv);
  const auto table = s.in_float ? bench::Run<float>(s)() : bench::Run<double>(s)();
  Kokkos::finalize();
  return bench::write_json("ribbon-bench-steps", s.json, table) ? 0 : 1;
}
