// SPDX-License-Identifier: BSD-2-Clause
#include "hyperdiffusion.hpp"
#include "bench.hpp"

#include <ribbon/line_solver.hpp>

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace bench {

/// f = (I - sigma D) c on a ring. D is symmetric and has at most five points. On a device a thread computes
/// `together` rows of a line, on a host it computes a row of all lines.
struct ExplicitHalf {
  static constexpr bool device   = ribbon::is_device_space<Exec>;
  static constexpr int  together = device ? 16 : 1;
  const double         *c;
  double               *f;
  std::int64_t          points, lines;
  /// entries of I - sigma D: diagonal, first neighbours, second neighbours
  double own, beside, behind;

  std::int64_t items() const { return (points + together - 1) / together * (device ? lines : 1); }

  KOKKOS_FUNCTION const double *row(std::int64_t i) const
  {
    return c + (i < 0 ? i + points : i < points ? i : i - points) * lines;
  }
  KOKKOS_FUNCTION double value(double a, double b, double m, double d, double e) const
  {
    return own * m + beside * (b + d) + behind * (a + e);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t item) const
  {
    if constexpr (device) {
      const std::int64_t first = item / lines * together, line = item % lines,
                         end = first + together < points ? first + together : points;
      double a = row(first - 2)[line], b = row(first - 1)[line], m = row(first)[line],
             d = row(first + 1)[line];
      for (std::int64_t i = first; i < end; ++i) {
        const double e      = row(i + 2)[line];
        f[i * lines + line] = value(a, b, m, d, e);
        a = b, b = m, m = d, d = e;
      }
    } else {
      const double *a = row(item - 2), *b = row(item - 1), *m = row(item), *d = row(item + 1),
                   *e = row(item + 2);
      for (std::int64_t line = 0; line < lines; ++line)
        f[item * lines + line] = value(a[line], b[line], m[line], d[line], e[line]);
    }
  }
};

namespace {

using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

constexpr int mode = 2; ///< waves on a line
const double  pi   = std::acos(-1.0);

/// c = cos(2 pi mode i / points) in every line.
void start(const Vector &c, std::int64_t lines, const Vector &wave)
{
  Kokkos::parallel_for(
    "bench::start", Range(0, static_cast<std::int64_t>(c.extent(0))),
    KOKKOS_LAMBDA(const std::int64_t k) { c(k) = wave(k / lines); });
}

/// Largest |c - factor wave| over all lines, relative to the factor.
double decay_error(const Vector &c, std::int64_t lines, const Vector &wave, double factor)
{
  double worst = 0;
  Kokkos::parallel_reduce(
    "bench::decay", Range(0, static_cast<std::int64_t>(c.extent(0))),
    KOKKOS_LAMBDA(const std::int64_t k, double &w) {
      const double d = c(k) / factor - wave(k / lines), e = d < 0 ? -d : d;
      if (!(e <= w)) w = e;
    },
    Kokkos::Max<double>(worst));
  return worst;
}

/// A row of the second or the fourth difference.
std::vector<double> difference_row(bool diffusion)
{
  return diffusion ? std::vector<double>{-1, 2, -1} : std::vector<double>{1, -4, 6, -4, 1};
}

/// I + sigma D, once or for every line.
ribbon::Bands<double, Memory> implicit_half(std::int64_t points, std::int64_t lines, double sigma,
                                            const std::vector<double> &D, bool per_line)
{
  auto row = D;
  for (double &entry : row) entry *= sigma;
  row[row.size() / 2] += 1;
  auto bands     = ribbon::toeplitz_bands<double>(Exec(), points, row);
  bands.periodic = true;
  if (!per_line) return bands;
  const auto one = bands.values;
  bands.lhs = ribbon::Lhs::per_line, bands.repeats = 1;
  bands.values =
    decltype(bands.values)(Kokkos::view_alloc(std::string("bench::bands"), Kokkos::WithoutInitializing),
                           static_cast<std::size_t>(lines), static_cast<std::size_t>(points), row.size());
  const auto values = bands.values;
  Kokkos::parallel_for(
    "bench::bands", Range(0, lines * points), KOKKOS_LAMBDA(const std::int64_t k) {
      for (std::size_t d = 0; d < values.extent(2); ++d) values(k % lines, k / lines, d) = one(0, 0, d);
    });
  return bands;
}

struct Scheme {
  const char *name, *algorithm;
  bool        per_line;
};
constexpr Scheme schemes[] = {{"one matrix", "auto", false},
                              {"one matrix, a thread per line", "thomas", false},
                              {"factors of every line, a thread per line", "thomas", true}};

} // namespace

nlohmann::json hyperdiffusion(const HyperdiffusionSettings &s)
{
  const Exec          exec;
  nlohmann::json      table     = nlohmann::json::array();
  const char *const   what      = s.diffusion ? "diffusion" : "hyperdiffusion";
  const int           power     = s.diffusion ? 1 : 2;
  const double        time_step = s.time_step > 0 ? s.time_step : s.diffusion ? 1e-5 : 1e-8;
  std::vector<double> D         = difference_row(s.diffusion);
  std::printf("%6s %9s %10s | %-56s %10s %12s %7s %9s %10s\n", "points", "lines", "sigma",
              (std::string("a step of ") + what).c_str(), "ms", "unknowns/s", "% copy", "decay", "MB held");
  for (int n : s.points) {
    if (n < 5)
      throw std::invalid_argument("--rows " + std::to_string(n) + ": a line of " + what +
                                  " has at least 5 points");
    const std::int64_t lines = s.lines ? s.lines : lines_of(s.unknowns, n);
    const auto         size  = static_cast<std::size_t>(n) * static_cast<std::size_t>(lines);
    const double sigma = time_step / 2 * std::pow(n, 2 * power), root = 2 - 2 * std::cos(2 * pi * mode / n),
                 decay  = sigma * std::pow(root, power);
    const double factor = std::pow((1 - decay) / (1 + decay), s.steps);
    // Bound of rounding errors of the matrix alone: its entries reach 16 sigma, the eigenvalue is about 1.
    const double bound = 50 * s.steps * (1 + 16 * sigma) * 2.2e-16;
    const Vector c(Kokkos::view_alloc("bench::c", Kokkos::WithoutInitializing), size),
      f(Kokkos::view_alloc("bench::f", Kokkos::WithoutInitializing), size);
    const Vector wave("bench::wave", static_cast<std::size_t>(n));
    const auto   host = Kokkos::create_mirror_view(wave);
    for (int i = 0; i < n; ++i) host(static_cast<std::size_t>(i)) = std::cos(2 * pi * mode * i / n);
    Kokkos::deep_copy(wave, host);
    const std::size_t  centre = D.size() / 2;
    const ExplicitHalf half{c.data(),
                            f.data(),
                            n,
                            lines,
                            1 - sigma * D[centre],
                            -sigma * D[centre + 1],
                            power == 2 ? -sigma * D[centre + 2] : 0};
    const auto         right_hand_side = [&] {
      Kokkos::parallel_for("bench::right_hand_side", Range(exec, 0, half.items()), half);
    };
    const auto row = [&](const std::string &name, double ms, double copies, double error, std::size_t bytes) {
      const double rate = static_cast<double>(size) / ms * 1e3;
      std::printf("%6d %9lld %10.3g | %-56s %10.4f %12.3e %7.1f %9.1e %10.3f\n", n,
                  static_cast<long long>(lines), sigma, name.c_str(), ms, rate, 100 * copies / ms, error,
                  static_cast<double>(bytes) / 1e6);
      std::fflush(stdout);
      table.push_back({{"points", n},
                       {"lines", lines},
                       {"sigma", sigma},
                       {"steps", s.steps},
                       {"solver", name},
                       {"ms", ms},
                       {"unknowns_per_s", rate},
                       {"percent_of_copy", 100 * copies / ms},
                       {"decay_error", error},
                       {"bytes_held", bytes}});
    };
    start(c, lines, wave);
    const double copy = median_ms(
      s.repeat, 4, [] {}, [&] { Kokkos::deep_copy(exec, f, c); });
    row("right-hand side alone",
        median_ms(
          s.repeat, 4, [] {}, right_hand_side),
        copy, 0, 0);
    for (const Scheme &scheme : schemes) {
      const ribbon::LineSolver<double, Exec> solver(exec, ribbon::LineSet::interleaved(n, lines),
                                                    implicit_half(n, lines, sigma, D, scheme.per_line),
                                                    {scheme.algorithm});
      const std::string name = std::string(scheme.name) + " (" + solver.report().algorithm + ")";
      if (!solver.report().ok())
        throw std::runtime_error(name + " refuses " + std::to_string(n) +
                                 " points: " + solver.report().reason);
      const double ms = median_ms(
        s.repeat, s.steps, [&] { start(c, lines, wave); },
        [&] {
          right_hand_side();
          solver.solve(exec, f.data(), c.data());
        });
      const double error = decay_error(c, lines, wave, factor);
      row(name, ms, 2 * copy, error, solver.report().bytes);
      if (!(error <= bound))
        throw std::runtime_error(name + ", " + std::to_string(n) + " points: after " +
                                 std::to_string(s.steps) + " steps the mode is " +
                                 std::to_string(error / bound) +
                                 " times as far from theory as rounding allows");
    }
  }
  return table;
}

} // namespace bench
