// SPDX-License-Identifier: BSD-2-Clause
/// ribbon-bench-chain: times of factorization and solves of the multifrontal solver for long banded matrices.
/// References are a copy of the band, LAPACK's gbtrf and gbtrs on one core, and NVIDIA's libraries.
#include "chain_bench.hpp"
#include "write_json.hpp"

#include <ribbon/schur_solver.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace bench {

struct ChainSettings {
  std::vector<double>      rows{1e3, 1e4, 1e5, 1e6};
  std::vector<int>         half_bandwidths{1, 2, 3, 4, 5}, columns{1, 32};
  std::vector<std::string> pivots{"qr"};
  std::int64_t             leaf_size = 0;
  int                      repeat    = 10;
  int                      upper     = -1; ///< entries above the diagonal; -1: as many as below
  std::int64_t             chains    = 1;
  bool peers = true, lapack = true, levels = false, ring = false, transposed = false, in_float = false,
       in_complex = false;
  std::string json;
};

/// Prints the rows of the table and collects them.
struct Report {
  nlohmann::json table = nlohmann::json::array();

  Report()
  {
    std::printf("%10s %3s %-34s %-14s %5s %10s %12s %8s %10s %9s\n", "rows", "p", "solver", "phase", "rhs",
                "ms", "values/s", "% copy", "MB", "error");
  }
  void add(const BandShape &A, const ChainTiming &t, double copy)
  {
    const std::int64_t rows = A.rows * A.chains;
    std::printf("%10lld %3d %-34s %-14s %5d %10.4f %12.3e %8.1f %10.3f %9.1e\n", static_cast<long long>(rows),
                A.kl, t.solver.c_str(), t.phase.c_str(), t.columns, t.ms,
                static_cast<double>(rows) * t.columns / t.ms * 1e3, 100 * copy / t.ms, t.megabytes, t.error);
    std::fflush(stdout);
    table.push_back({{"rows", rows},
                     {"half_bandwidth", A.kl},
                     {"upper", A.ku},
                     {"chains", A.chains},
                     {"solver", t.solver},
                     {"phase", t.phase},
                     {"columns", t.columns},
                     {"ms", t.ms},
                     {"copy_ms", copy},
                     {"megabytes", t.megabytes},
                     {"backward_error", t.error}});
  }
};

/// Times Ribbon's solver and compares it with copies of the data that it reads.
template <class Solver, class Scalar>
void measure(const BandOf<Scalar> &A, const ribbon::ChainMatrix<Scalar, std::int32_t> &matrix, double copy,
             const ChainSettings &s, const char *name, Report &report)
{
  const Exec exec;
  const auto n       = A.rows();
  const auto nothing = [] {};
  Solver solver(exec, {A.shape.rows, A.shape.chains, A.shape.kl, A.shape.ku, A.shape.ring}, {s.leaf_size, 0});
  const auto factor = median_ms(s.repeat, 1, nothing, [&] { solver.factor(exec, matrix); });
  const auto label  = std::string("ribbon ") + (name ? name : solver.report().algorithm);
  const auto held   = 1e-6 * static_cast<double>(solver.report().bytes);
  report.add(A.shape, {label, "factor", 1, factor, 0, held}, copy);
  for (int columns : s.columns) {
    const auto             numbers = static_cast<std::size_t>(n) * static_cast<std::size_t>(columns);
    const VectorOf<Scalar> b("bench::b", numbers), x("bench::x", numbers);
    fill(b);
    const double copy_b = median_ms(s.repeat, 4, nothing, [&] { Kokkos::deep_copy(exec, x, b); });
    const double solve  = median_ms(s.repeat, columns > 1 ? 1 : 4, nothing, [&] {
      solver.solve(exec, b.data(), n, x.data(), n, columns, s.transposed);
    });
    const auto   last   = std::make_pair(numbers - static_cast<std::size_t>(n), numbers);
    const auto   host_b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Kokkos::subview(b, last)),
               host_x   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Kokkos::subview(x, last));
    report.add(A.shape,
               {label, s.transposed ? "solve^T" : "solve", columns, solve,
                A.residual(host_x.data(), host_b.data(), s.transposed), held},
               copy_b);
  }
}

/// Seconds of kernels by label. Kokkos Tools passes the label at the beginning and at the end.
struct KernelTimes {
  static inline std::map<std::string, double> seconds;
  static inline std::string                   label;
  static inline Kokkos::Timer                 timer;

  static void begin(const char *name, const std::uint32_t, std::uint64_t *)
  {
    label = name;
    timer.reset();
  }
  static void end(const std::uint64_t)
  {
    Kokkos::DefaultExecutionSpace().fence();
    seconds[label] += timer.seconds();
  }
  KernelTimes()
  {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(begin);
    Kokkos::Tools::Experimental::set_end_parallel_for_callback(end);
  }
  ~KernelTimes() { Kokkos::Tools::Experimental::pause_tools(); }
};

/// Time of each level of the tree. A chain of twice as many leaves of the same size has one more level at
/// the bottom, with half as many joins as leaves. The labels of kernels tell them apart.
template <class Solver>
void measure_levels(int p, const ChainSettings &s, const char *name, Report &report)
{
  const Exec   exec;
  const double most     = *std::max_element(s.rows.begin(), s.rows.end());
  double       joins[2] = {0, 0}, all[2] = {0, 0};
  bool         was_apart[2] = {true, true};
  for (std::int64_t leaves = 1;; leaves *= 2) {
    const std::int64_t leaf = std::max<std::int64_t>(s.leaf_size, p + 1), n = leaves * leaf;
    if (static_cast<double>(n) > most) break;
    const Band A({n, p, p});
    const auto row_begin = ribbon::upload(exec, "bench::row_begin", A.row_begin),
               column    = ribbon::upload(exec, "bench::column", A.column);
    const auto                                      value = ribbon::upload(exec, "bench::value", A.value);
    const ribbon::ChainMatrix<double, std::int32_t> matrix{
      {n, row_begin.data(), column.data(), value.data()}};
    const Vector b("bench::b", static_cast<std::size_t>(n)), x("bench::x", static_cast<std::size_t>(n));
    Solver       solver(exec, {n, 1, p, p}, {leaf, 0});
    fill(b);
    for (int phase = 0; phase < 2; ++phase) {
      std::vector<double> at_leaves, at_joins;
      for (int k = 0; k < s.repeat + 2; ++k) {
        KernelTimes::seconds.clear();
        if (phase == 0) solver.factor(exec, matrix);
        else solver.solve(exec, b.data(), n, x.data(), n, 1);
        exec.fence();
        double sums[2] = {0, 0};
        for (const auto &[label, seconds] : KernelTimes::seconds)
          sums[label.find("joins") != std::string::npos ? 1 : 0] += 1e3 * seconds;
        if (k >= 2) at_leaves.push_back(sums[0]), at_joins.push_back(sums[1]);
      }
      const auto fastest = [](const std::vector<double> &t) { return *std::min_element(t.begin(), t.end()); };
      const double of_leaves = fastest(at_leaves), of_joins = fastest(at_joins);
      const char  *what = phase == 0 ? "factor" : "solve";
      // otherwise one kernel holds leaves and joins, and more leaves are free while a device is not full
      const bool is_apart = leaves == 1 || of_joins > 0;
      report.add(A.shape, {std::string("ribbon ") + name, std::string(what) + " leaves", 1, of_leaves, 0, 0},
                 0);
      if (leaves > 1 && ((is_apart && was_apart[phase]) || (ribbon::is_device_space<Exec> && phase == 0)))
        report.add(
          A.shape,
          {std::string("ribbon ") + name, std::string(what) + " level", static_cast<int>(leaves / 2),
           is_apart && was_apart[phase] ? of_joins - joins[phase] : of_leaves + of_joins - all[phase], 0, 0},
          0);
      joins[phase] = of_joins, all[phase] = of_leaves + of_joins, was_apart[phase] = is_apart;
    }
  }
}

template <class Scalar>
void measure_all(const ChainSettings &s, Report &report)
{
  const Exec exec;
  for (double rows : s.rows)
    for (int p : s.half_bandwidths) {
      const BandOf<Scalar> A(
        {static_cast<std::int64_t>(rows) / s.chains, p, s.upper < 0 ? p : s.upper, s.ring, s.chains});
      const auto row_begin = ribbon::upload(exec, "bench::row_begin", A.row_begin),
                 column    = ribbon::upload(exec, "bench::column", A.column);
      const auto   value   = ribbon::upload(exec, "bench::value", A.value);
      const auto   copied  = VectorOf<Scalar>("bench::copy", A.value.size());
      const double copy    = median_ms(
           s.repeat, 4, [] {}, [&] { Kokkos::deep_copy(exec, copied, value); });
      const ribbon::ChainMatrix<Scalar, std::int32_t> matrix{
        {A.rows(), row_begin.data(), column.data(), value.data()}};
      for (const auto &pivot : s.pivots) {
        if (pivot == "qr") measure<ribbon::ChainSolver<Scalar, Exec>>(A, matrix, copy, s, nullptr, report);
        else measure<ribbon::SchurSolver<Scalar, Exec>>(A, matrix, copy, s, "Schur, no pivots", report);
      }
      if constexpr (std::is_floating_point_v<Scalar>) {
        if (!s.peers || s.ring || A.rows() > 100000000) continue;
        if constexpr (std::is_same_v<Scalar, double>)
          if (s.lapack && s.chains == 1)
            for (const auto &t : chain_lapack(A, s.columns, s.transposed, std::min(s.repeat, 3)))
              report.add(A.shape, t, 0);
        if (s.transposed || A.shape.kl != A.shape.ku) continue;
        for (const auto &t : chain_cuda(A, s.columns, s.repeat)) report.add(A.shape, t, 0);
      }
    }
}

nlohmann::json run(const ChainSettings &s)
{
  Report report;
  if (s.levels) {
    const KernelTimes times;
    for (int p : s.half_bandwidths)
      for (const auto &pivot : s.pivots) {
        if (pivot == "qr") measure_levels<ribbon::ChainSolver<double, Exec>>(p, s, "QR", report);
        else measure_levels<ribbon::SchurSolver<double, Exec>>(p, s, "Schur", report);
      }
  } else if (s.in_float) measure_all<float>(s, report);
  else if (s.in_complex) measure_all<Kokkos::complex<double>>(s, report);
  else measure_all<double>(s, report);
  return report.table;
}

} // namespace bench

int main(int argc, char **argv)
{
  bench::ChainSettings s;
  CLI::App app{"Times factorization and solves of long banded matrices against a copy, LAPACK, and on a "
               "device NVIDIA's libraries."};
  app.add_option("--rows", s.rows, "rows")->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--half-bandwidth", s.half_bandwidths, "entries on either side of the diagonal")
    ->delimiter(',')
    ->check(CLI::Range(0, 32));
  app.add_option("--columns", s.columns, "right-hand sides")->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--pivot", s.pivots, "qr, none")->delimiter(',')->check(CLI::IsMember({"qr", "none"}));
  auto *ring = app.add_flag("--ring", s.ring, "a ring instead of a chain, without LAPACK and peers");
  auto *upper =
    app
      .add_option(
        "--upper", s.upper,
        "superdiagonals, if there are more or fewer than subdiagonals; of the peers only LAPACK runs")
      ->check(CLI::Range(0, 32));
  auto *chains =
    app
      .add_option("--chains", s.chains,
                  "divide the rows among this many chains; of the peers only cuDSS runs, as a uniform batch")
      ->check(CLI::PositiveNumber);
  auto *transposed = app.add_flag("--transposed", s.transposed,
                                  "solves with the transposed matrix; of the peers only LAPACK runs");
  auto *in_float   = app.add_flag("--float", s.in_float, "single precision; of the peers only cuDSS runs");
  auto *in_complex =
    app.add_flag("--complex", s.in_complex, "complex scalars in double precision, without LAPACK and peers")
      ->excludes(in_float);
  app.add_option("--leaf-size", s.leaf_size, "rows of a leaf, 0 for the solver's choice")
    ->check(CLI::NonNegativeNumber);
  app.add_option("--repeat", s.repeat, "samples; the median counts")->check(CLI::PositiveNumber);
  app
    .add_flag("--levels", s.levels,
              "print the cost of each level of the tree, for trees of up to this many rows; the column rhs "
              "is the number of joins of the level")
    ->excludes(ring)
    ->excludes(upper)
    ->excludes(chains)
    ->excludes(transposed)
    ->excludes(in_float)
    ->excludes(in_complex);
  app.add_flag("!--no-lapack", s.lapack, "leave LAPACK out");
  app.add_flag("!--no-peers", s.peers, "leave the other libraries out, too");
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
  return bench::write_json("ribbon-bench-chain", s.json, table) ? 0 : 1;
}
