// SPDX-License-Identifier: BSD-2-Clause
#include "hyperdiffusion.hpp"
#include "bench.hpp"

#include <ribbon/algorithm/name.hpp>
#include <ribbon/line_solver.hpp>

#include <algorithm>
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

/// How the systems of a step are solved.
struct Scheme {
  const char *id, *name, *algorithm;
  bool        per_line; ///< factors of every line
  bool        rewrites; ///< the matrices of every step are new
};
constexpr Scheme schemes[] = {
  {"auto", "one matrix", "auto", false, false},
  {"constant", "one matrix, a thread per line", "thomas", false, false},
  {"per_line", "factors of every line, a thread per line", "thomas", true, false},
  {"rewrite", "factors of every line, made in every step", "thomas", true, true},
  {"rewrite_auto", "new matrices of every line in every step", "auto", true, true},
};

/// Threads of LAPACK in the second of its rows: those of the publication.
constexpr int lapack_threads = 8;

/// Times the steps of one batch.
class Batch {
public:
  Batch(const HyperdiffusionSettings &s, int points, std::int64_t lines, nlohmann::json &table)
      : s_(s), n_(points), lines_(lines), power_(s.diffusion ? 1 : 2), D_(difference_row(s.diffusion)),
        table_(table)
  {
    const double step = s.time_step > 0 ? s.time_step : s.diffusion ? 1e-5 : 1e-8;
    const double root = 2 - 2 * std::cos(2 * pi * mode / n_);
    sigma_            = step / 2 * std::pow(n_, 2 * power_);
    const double rate = sigma_ * std::pow(root, power_);
    factor_           = std::pow((1 - rate) / (1 + rate), s.steps);
    // Bound of rounding errors of the matrix alone: its entries reach 16 sigma, the eigenvalue is about 1.
    bound_          = 50 * s.steps * (1 + 16 * sigma_) * 2.2e-16;
    const auto size = static_cast<std::size_t>(n_) * static_cast<std::size_t>(lines_);
    c_              = Vector(Kokkos::view_alloc("bench::c", Kokkos::WithoutInitializing), size);
    f_              = Vector(Kokkos::view_alloc("bench::f", Kokkos::WithoutInitializing), size);
    wave_           = Vector("bench::wave", static_cast<std::size_t>(n_));
    const auto host = Kokkos::create_mirror_view(wave_);
    for (int i = 0; i < n_; ++i) host(static_cast<std::size_t>(i)) = std::cos(2 * pi * mode * i / n_);
    Kokkos::deep_copy(wave_, host);
    start(c_, lines_, wave_);
  }

  void run()
  {
    copy_ = median_ms(
      s_.repeat, 4, [] {}, [&] { Kokkos::deep_copy(exec_, f_, c_); });
    Timing alone{"right-hand side alone", median_ms(
                                            s_.repeat, 4, [] {}, [&] { right_hand_side(); })};
    row("right_hand_side", alone, 1);
    for (const Scheme &scheme : schemes)
      if (s_.schemes.empty() || std::count(s_.schemes.begin(), s_.schemes.end(), scheme.id) > 0)
        steps(scheme);
    if (s_.peers) peers(alone.milliseconds);
  }

private:
  void right_hand_side() const
  {
    const std::size_t  centre = D_.size() / 2;
    const ExplicitHalf half{c_.data(),
                            f_.data(),
                            n_,
                            lines_,
                            1 - sigma_ * D_[centre],
                            -sigma_ * D_[centre + 1],
                            power_ == 2 ? -sigma_ * D_[centre + 2] : 0};
    Kokkos::parallel_for("bench::right_hand_side", Range(exec_, 0, half.items()), half);
  }

  /// @param copies  bytes of the row, in copies of the batch
  void row(const char *scheme, const Timing &t, double copies)
  {
    const double size  = static_cast<double>(n_) * static_cast<double>(lines_);
    const double rate  = size / t.milliseconds * 1e3;
    const double share = 100 * copies * copy_ / t.milliseconds;
    std::printf("%6d %9lld %10.3g | %-56s %10.4f %12.3e %7.1f %9.1e %10.3f", n_,
                static_cast<long long>(lines_), sigma_, t.solver.c_str(), t.milliseconds, rate, share,
                t.error, static_cast<double>(t.bytes) / 1e6);
    if (t.joules >= 0) std::printf(" %8.2f J", t.joules / size * 1e9);
    std::printf("\n");
    std::fflush(stdout);
    nlohmann::json cells = {{"points", n_},         {"lines", lines_},        {"sigma", sigma_},
                            {"steps", s_.steps},    {"scheme", scheme},       {"solver", t.solver},
                            {"ms", t.milliseconds}, {"unknowns_per_s", rate}, {"percent_of_copy", share},
                            {"copy_ms", copy_},     {"decay_error", t.error}, {"bytes_held", t.bytes}};
    if (!ribbon::is_device_space<Exec>) cells["threads"] = exec_.concurrency();
    if (t.joules >= 0) cells["joules_per_1e9_unknown_steps"] = t.joules / size * 1e9;
    table_.push_back(cells);
  }

  void steps(const Scheme &scheme)
  {
    const auto                bands = implicit_half(n_, lines_, sigma_, D_, scheme.per_line);
    ribbon::LineSolverOptions options{scheme.algorithm};
    options.refactors = scheme.rewrites;
    const ribbon::LineSolver<double, Exec> solver(exec_, ribbon::LineSet::interleaved(n_, lines_), bands,
                                                  options);
    Timing t{std::string(scheme.name) + " (" + solver.report().algorithm + ")"};
    if (!solver.report().ok())
      throw std::runtime_error(t.solver + " refuses " + std::to_string(n_) +
                               " points: " + solver.report().reason);
    if (scheme.rewrites && solver.report().used == ribbon::Algorithm::pivoted) return; // it keeps its factors
    const auto step = [&] {
      right_hand_side();
      if (scheme.rewrites) solver.factor_and_solve(exec_, bands, f_.data(), c_.data());
      else solver.solve(exec_, f_.data(), c_.data());
    };
    t.milliseconds = median_ms(
      s_.repeat, s_.steps, [&] { start(c_, lines_, wave_); }, step);
    t.error  = decay_error(c_, lines_, wave_, factor_);
    t.bytes  = solver.report().bytes;
    t.joules = joules_per_call(step);
    row(scheme.id, t, 2);
    if (!(t.error <= bound_))
      throw std::runtime_error(t.solver + ", " + std::to_string(n_) + " points: after " +
                               std::to_string(s_.steps) + " steps the mode is " +
                               std::to_string(t.error / bound_) +
                               " times as far from theory as rounding allows");
  }

  /// Other libraries have no periodic systems: they solve open lines of the same size. The time of a step is
  /// the sum of the times of the right-hand side, of the copies of the matrices that cuSPARSE overwrites, and
  /// of the solves.
  /// @param alone  milliseconds of the right-hand side
  void peers(double alone)
  {
    Case c;
    c.rows = n_, c.lines = lines_, c.half_bandwidth = power_, c.sigma = sigma_;
    const double half_joules = joules_per_call([&] { right_hand_side(); });
    for (Timing t : cusparse(c, f_, c_, f_, s_.repeat, true)) {
      t.solver += ", open lines", t.error = 0, t.milliseconds += alone;
      if (t.joules >= 0) t.joules += half_joules;
      const bool gtsv = t.solver.find("cuThomas") != std::string::npos;
      row(power_ == 2 || gtsv ? "cusparse" : "cusparse_other", t, 2);
    }
    for (int threads : {1, lapack_threads})
      for (Timing t : lapack(c, threads)) {
        if (power_ == 1 && t.solver.find("gttrs") == std::string::npos) continue;
        t.solver += ", open lines, solve alone";
        row(threads == 1 ? "lapack" : "lapack_threads", t, 2);
      }
  }

  const HyperdiffusionSettings &s_;
  int                           n_;
  std::int64_t                  lines_;
  int                           power_;
  std::vector<double>           D_;
  nlohmann::json               &table_;
  double                        sigma_, factor_, bound_, copy_ = 0;
  Exec                          exec_;
  Vector                        c_, f_, wave_;
};

} // namespace

std::vector<std::string> hyperdiffusion_schemes()
{
  std::vector<std::string> ids;
  for (const Scheme &scheme : schemes) ids.emplace_back(scheme.id);
  return ids;
}

nlohmann::json hyperdiffusion(const HyperdiffusionSettings &s)
{
  nlohmann::json    table = nlohmann::json::array();
  const char *const what  = s.diffusion ? "diffusion" : "hyperdiffusion";
  std::printf("%6s %9s %10s | %-56s %10s %12s %7s %9s %10s\n", "points", "lines", "sigma",
              (std::string("a step of ") + what).c_str(), "ms", "unknowns/s", "% copy", "decay", "MB held");
  for (int n : s.points) {
    if (n < 5)
      throw std::invalid_argument("--rows " + std::to_string(n) + ": a line of " + what +
                                  " has at least 5 points");
    Batch(s, n, s.lines ? s.lines : lines_of(s.unknowns, n), table).run();
  }
  return table;
}

} // namespace bench
