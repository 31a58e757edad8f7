// SPDX-License-Identifier: BSD-2-Clause
// Places beyond 2^31 and 2^32: a few lines that lie far apart in memory that is reserved and hardly touched,
// on the host and, where it has the memory, on the device; batches of more than 2^31 unknowns and one line of
// 1e8 rows, on a device, or on a host where RIBBON_LARGE is set.
#include "batch.hpp"

#include <ribbon/matrix/line_residuals.hpp>
#include <ribbon/probe/probe.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace test;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

constexpr std::int64_t places = (std::int64_t(1) << 32) + (std::int64_t(1) << 28);
constexpr std::size_t  bytes  = static_cast<std::size_t>(places) * sizeof(double);

/// Memory of the default execution space that nobody uses.
std::size_t free_memory()
{
#ifdef KOKKOS_ENABLE_CUDA
  std::size_t free = 0, all = 0;
  cudaMemGetInfo(&free, &all);
  return free;
#else
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#endif
}

/// Room for `places` unknowns; `why` tells where there is none. Pages that nobody
/// touches cost a host nothing.
template <class Exec>
struct Room {
  double     *data = nullptr;
  std::string why;

  Room()
  {
    if constexpr (ribbon::is_device_space<Exec>) {
#ifdef KOKKOS_ENABLE_CUDA
      if (free_memory() < bytes + (std::size_t(2) << 30))
        why = std::to_string(free_memory() >> 30) + " GiB of device memory are free";
      else if (cudaMalloc(reinterpret_cast<void **>(&data), bytes) != cudaSuccess)
        why = cudaGetErrorString(cudaGetLastError()), data = nullptr;
#else
      why = "a device that is not CUDA's";
#endif
    } else {
      void *const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED)
        why = "no " + std::to_string(bytes >> 30) + " GiB of addresses: " + std::strerror(errno);
      else data = static_cast<double *>(at);
    }
  }
  Room(const Room &)            = delete;
  Room &operator=(const Room &) = delete;
  ~Room()
  {
    if (!data) return;
    if constexpr (ribbon::is_device_space<Exec>) {
#ifdef KOKKOS_ENABLE_CUDA
      cudaFree(data);
#endif
    } else munmap(data, bytes);
  }
};

/// Place of component a of row i of line l, by the formula of LineSet.
KOKKOS_FUNCTION std::int64_t place(const ribbon::LineSet &s, std::int64_t l, std::int64_t i, std::int64_t a)
{
  return s.offset + i * s.row_stride + l % s.count0 * s.stride0 + l / s.count0 * s.stride1 +
         a * s.component_stride;
}

/// to(to_set) = from(from_set) for all lines.
template <class Exec>
void copy_lines(const double *from, const ribbon::LineSet &from_set, double *to,
                const ribbon::LineSet &to_set)
{
  Kokkos::parallel_for(
    "test::copy_lines", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, from_set.unknowns()),
    KOKKOS_LAMBDA(const std::int64_t k) {
      const std::int64_t l = k % from_set.lines(), i = k / from_set.lines() % from_set.rows,
                         a       = k / from_set.lines() / from_set.rows;
      to[place(to_set, l, i, a)] = from[place(from_set, l, i, a)];
    });
}

/// The same lines without gaps: rows or lines side by side as in `far`.
ribbon::LineSet compact(const ribbon::LineSet &far)
{
  const bool contiguous = far.row_stride < far.stride0;
  return (contiguous ? ribbon::LineSet::contiguous(far.rows, far.lines())
                     : ribbon::LineSet::interleaved(far.rows, far.lines()))
    .with_components(far.components);
}

struct Layout {
  const char     *name;
  ribbon::LineSet set;
};

constexpr std::int64_t rows = 75, lines = 40;

std::vector<Layout> layouts(int block)
{
  const std::int64_t  past = places - 1;
  std::vector<Layout> all{
    {"rows far apart", {rows, lines, 1, (past - lines * block) / (rows - 1), 1, 0, 0}},
    {"lines far apart", {rows, lines, 1, 1, (past - rows * block) / (lines - 1), 0, 0}},
    {"interleaved, far from the beginning", {rows, lines, 1, lines, 1, 0, past - rows * lines * block}},
    {"contiguous, far from the beginning", {rows, lines, 1, 1, rows, 0, past - rows * lines * block}},
    {"planes far apart, interleaved",
     {rows, lines / 4, 4, lines / 4, 1, (past - rows * lines * block) / 3, 0}},
    {"planes far apart, contiguous", {rows, lines / 4, 4, 1, rows, (past - rows * lines * block) / 3, 0}}};
  for (auto &l : all) {
    l.set.components = block;
    if (block == 1) continue;
    if (std::string(l.name) == "rows far apart") l.set.component_stride = lines;
    else if (std::string(l.name) == "lines far apart") l.set.component_stride = rows;
    else l.set.row_stride *= block, l.set.stride0 *= block;
  }
  all.push_back({"components far apart", {rows, lines, 1, lines, 1, 0, 0, block, (past - rows * lines) / 2}});
  if (block == 1) all.pop_back();
  return all;
}

/// Systems of one batch, on the host.
ribbon::Bands<double, Kokkos::HostSpace> system_of(const std::string &algorithm, int h, int block,
                                                   bool periodic, ribbon::Lhs lhs)
{
  std::mt19937_64 g(17);
  const auto      matrices = matrices_for(lhs, lines);
  auto            bands    = algorithm == "toeplitz_cr" && h == 1 && block == 1
                               ? random_bands<double>(g, matrices, rows, h, periodic, Kind::poisson)
                               : random_system<double>(g, matrices, rows, h, h, block, periodic);
  assign(g, bands, lhs, lines);
  return bands;
}

/// Lines far apart get the numbers that they get side by side, which are right. False where the algorithm
/// does not take the system.
template <class Exec>
bool check(const Exec &exec, const Room<Exec> &room, const Layout &layout, const std::string &algorithm,
           int h, int block, bool periodic, ribbon::Lhs lhs)
{
  SCOPED_TRACE(std::string(layout.name) + ", " + algorithm + ", " + ribbon::to_string(lhs) + ", h " +
               std::to_string(h) + ", block " + std::to_string(block) + (periodic ? ", ring" : ", open"));
  using Memory                       = typename Exec::memory_space;
  const auto                    near = compact(layout.set);
  const auto                    host = system_of(algorithm, h, block, periodic, lhs);
  ribbon::Bands<double, Memory> bands;
  bands.periodic = periodic, bands.block = block, bands.lower = bands.upper = h, bands.lhs = lhs;
  bands.values        = Kokkos::create_mirror_view_and_copy(Memory(), host.values);
  bands.class_of_line = Kokkos::create_mirror_view_and_copy(Memory(), host.class_of_line);
  bands.alpha         = Kokkos::create_mirror_view_and_copy(Memory(), host.alpha),
  bands.beta          = Kokkos::create_mirror_view_and_copy(Memory(), host.beta);
  ribbon::LineSolverOptions options;
  options.algorithm = algorithm, options.rows_per_piece = algorithm == "partition" ? 24 : 0;
  ribbon::LineSolver<double, Exec> solver;
  try {
    solver = ribbon::LineSolver<double, Exec>(exec, layout.set, bands, options);
  } catch (const std::invalid_argument &) {
    return false;
  }
  EXPECT_TRUE(solver.report().ok()) << solver.report().reason;
  std::mt19937_64                g(19);
  Kokkos::View<double *, Memory> b("test::b", static_cast<std::size_t>(near.unknowns())),
    x("test::x", b.extent(0));
  const auto given = Kokkos::create_mirror_view(b);
  for (std::size_t k = 0; k < given.extent(0); ++k) given(k) = random_scalar<double>(g);
  Kokkos::deep_copy(b, given);
  const auto fetched = [&](const Kokkos::View<double *, Memory> &from) {
    Kokkos::fence();
    const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
    return std::vector<double>(on_host.data(), on_host.data() + on_host.extent(0));
  };
  solver.solve(exec, b.data(), near, x.data(), near);
  const auto expected = fetched(x);
  EXPECT_LE(backward_error(expanded(host), near, expected, fetched(b)), 1e-13);
  copy_lines<Exec>(b.data(), near, room.data, layout.set);
  Kokkos::fence();
  solver.solve(exec, room.data, room.data);
  Kokkos::deep_copy(x, 0.0);
  copy_lines<Exec>(room.data, layout.set, x.data(), near);
  EXPECT_TRUE(fetched(x) == expected) << "in place";
  solver.solve(exec, b.data(), near, room.data, layout.set);
  copy_lines<Exec>(room.data, layout.set, x.data(), near);
  EXPECT_TRUE(fetched(x) == expected) << "out of place";
  return true;
}

template <class Exec>
void check_all(const Exec &exec)
{
  const Room<Exec> room;
  if (!room.data) GTEST_SKIP() << room.why;
  const auto every = {ribbon::Lhs::shared, ribbon::Lhs::classes, ribbon::Lhs::per_line, ribbon::Lhs::shifted};
  for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted", "partition", "cyclic_reduction",
                                "parallel_cyclic_reduction", "cr_pcr", "toeplitz_cr", "tile_products"}) {
    int taken = 0;
    for (auto lhs : every)
      for (bool periodic : {false, true}) {
        for (const auto &layout : layouts(1))
          for (int h : {1, 2, 3}) taken += check(exec, room, layout, algorithm, h, 1, periodic, lhs);
        for (const auto &layout : layouts(2))
          taken += check(exec, room, layout, algorithm, 1, 2, periodic, lhs);
      }
    testing::Test::RecordProperty(algorithm, taken);
    EXPECT_GE(taken, 12) << algorithm; // toeplitz_cr: one matrix, six layouts, open and rings
  }
}

TEST(Large, PlacesBeyondTwoToTheThirtyTwoOnTheHost)
{
  check_all(Host());
}

#ifdef KOKKOS_ENABLE_CUDA
TEST(Large, PlacesBeyondTwoToTheThirtyTwoOnTheDevice)
{
  check_all(Exec());
}
#endif

/// Numbers of a large batch, the same on the device and the host.
KOKKOS_FUNCTION float right_hand_side(std::int64_t line, std::int64_t row)
{
  return ribbon::noise<float>(static_cast<std::uint64_t>(line * 256 + row));
}
KOKKOS_FUNCTION float entry(std::int64_t matrix, std::int64_t row, int d, int h)
{
  return d == h ? 2.5f * static_cast<float>(h)
                : ribbon::noise<float>(static_cast<std::uint64_t>(matrix * 2048 + row * 8 + d) << 20);
}

/// More than 2^31 unknowns in float, solved in place; lines from all over the batch are
/// compared with their equations.
void check_batch(bool contiguous, const char *algorithm, ribbon::Lhs lhs, int h)
{
  SCOPED_TRACE(std::string(contiguous ? "contiguous, " : "interleaved, ") + algorithm + ", " +
               ribbon::to_string(lhs) + ", h " + std::to_string(h));
  const std::int64_t n = 256, M = (std::int64_t(1) << 23) + 64, matrices = lhs == ribbon::Lhs::shared ? 1 : M;
  const auto set = contiguous ? ribbon::LineSet::contiguous(n, M) : ribbon::LineSet::interleaved(n, M);
  const auto at  = [](std::int64_t k) { return static_cast<std::size_t>(k); };
  ribbon::Bands<float, Memory>  bands;
  Kokkos::View<float *, Memory> x(Kokkos::view_alloc(std::string("test::x"), Kokkos::WithoutInitializing),
                                  at(set.unknowns()));
  bands.lhs = lhs;
  bands.values =
    decltype(bands.values)(Kokkos::view_alloc(std::string("test::bands"), Kokkos::WithoutInitializing),
                           at(matrices), at(n), at(2 * h + 1));
  const auto values = bands.values;
  using Policy      = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(
    "test::bands", Policy(0, matrices * n), KOKKOS_LAMBDA(const std::int64_t k) {
      for (int d = 0; d <= 2 * h; ++d)
        values(k % matrices, k / matrices, d) = entry(k % matrices, k / matrices, d, h);
    });
  Kokkos::parallel_for(
    "test::right_hand_sides", Policy(0, set.unknowns()), KOKKOS_LAMBDA(const std::int64_t k) {
      const std::int64_t l = contiguous ? k / n : k % M, i = contiguous ? k % n : k / M;
      x(place(set, l, i, 0)) = right_hand_side(l, i);
    });
  const ribbon::LineSolver<float, Exec> solver(Exec(), set, bands, {algorithm});
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
  solver.solve(Exec(), x.data(), x.data());

  const std::int64_t                      chosen[] = {0,         1,      31,     32,     M / 4 + 5, M / 2,
                                                      M / 2 + 1, M - 65, M - 64, M - 33, M - 2,     M - 1};
  const auto                              samples  = ribbon::LineSet::contiguous(n, std::size(chosen));
  std::vector<float>                      b, found;
  ribbon::Bands<float, Kokkos::HostSpace> own;
  const Kokkos::View<float *, Memory>     line("test::line", at(n));
  own.lhs    = ribbon::Lhs::per_line;
  own.values = decltype(own.values)("test::bands", std::size(chosen), at(n), at(2 * h + 1));
  for (std::size_t k = 0; k < std::size(chosen); ++k) {
    const std::int64_t l = chosen[k];
    Kokkos::parallel_for(
      "test::line", Policy(0, n), KOKKOS_LAMBDA(const std::int64_t i) { line(i) = x(place(set, l, i, 0)); });
    const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), line);
    for (std::int64_t i = 0; i < n; ++i) {
      b.push_back(right_hand_side(l, i)), found.push_back(on_host(at(i)));
      for (int d = 0; d <= 2 * h; ++d) own.values(k, at(i), at(d)) = entry(matrices == 1 ? 0 : l, i, d, h);
    }
  }
  EXPECT_LE(backward_error(own, samples, found, b), 1e-6);
}

TEST(Large, MoreThanTwoToTheThirtyOneUnknowns)
{
  constexpr bool device = ribbon::is_device_space<Exec>;
  if (!device && !std::getenv("RIBBON_LARGE")) GTEST_SKIP() << "on a host, where RIBBON_LARGE is set";
  if (free_memory() < std::size_t(12) << 30)
    GTEST_SKIP() << (free_memory() >> 30) << " GiB of memory are free";
  for (bool contiguous : {false, true})
    for (int h : {1, 2})
      for (const char *algorithm : {"auto", "one_pass", "thomas", "pivoted"})
        if (device || std::string(algorithm) == "auto")
          check_batch(contiguous, algorithm, ribbon::Lhs::shared, h);
}

TEST(Large, MoreThanTwoToTheThirtyOneUnknownsWithMatricesOfTheirOwn)
{
  if (!ribbon::is_device_space<Exec> && !std::getenv("RIBBON_LARGE"))
    GTEST_SKIP() << "on a host, where RIBBON_LARGE is set";
  if (free_memory() < std::size_t(84) << 30)
    GTEST_SKIP() << (free_memory() >> 30) << " GiB of memory are free";
  for (bool contiguous : {false, true})
    for (const char *algorithm : {"one_pass", "thomas", "cr_pcr"})
      check_batch(contiguous, algorithm, ribbon::Lhs::per_line, 1);
}

/// ||b - A x|| / (||A|| ||x|| + ||b||) of one line of rows `stencil`, in maximum norms.
double stencil_error(const std::vector<double> &stencil, bool periodic,
                     const Kokkos::View<const double *, Memory> &b,
                     const Kokkos::View<const double *, Memory> &x)
{
  using Policy        = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  const auto   n      = static_cast<std::int64_t>(b.extent(0));
  const int    h      = static_cast<int>(stencil.size() / 2);
  const auto   s      = ribbon::upload(Exec(), "test::stencil", stencil);
  double       norm_a = 0, norm_r = 0, norm_x = 0, norm_b = 0;
  const double infinite = std::numeric_limits<double>::infinity();
  for (double e : stencil) norm_a += std::abs(e);
  Kokkos::parallel_reduce(
    "test::residual", Policy(0, n),
    KOKKOS_LAMBDA(const std::int64_t i, double &most) {
      double r = b(i);
      for (int d = -h; d <= h; ++d) {
        const std::int64_t j = i + d;
        if (periodic || (j >= 0 && j < n)) r -= s(d + h) * x(j < 0 ? j + n : j >= n ? j - n : j);
      }
      ribbon::enlarge(most, r, infinite);
    },
    Kokkos::Max<double>(norm_r));
  Kokkos::parallel_reduce(
    "test::solution", Policy(0, n),
    KOKKOS_LAMBDA(const std::int64_t i, double &most) { ribbon::enlarge(most, x(i), infinite); },
    Kokkos::Max<double>(norm_x));
  Kokkos::parallel_reduce(
    "test::right_hand_side", Policy(0, n),
    KOKKOS_LAMBDA(const std::int64_t i, double &most) { ribbon::enlarge(most, b(i), infinite); },
    Kokkos::Max<double>(norm_b));
  return norm_r / (norm_a * norm_x + norm_b);
}

/// One line with one stencil in every row.
/// @param cut  what is to take it: partition, of which auto is one on a device
void check_line(std::int64_t n, const std::vector<double> &stencil, bool periodic,
                const std::string &algorithm, bool cut)
{
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  SCOPED_TRACE(algorithm + ", " + std::to_string(n) + " rows, half-bandwidth " +
               std::to_string(stencil.size() / 2) + ", diagonal " +
               std::to_string(stencil[stencil.size() / 2]) + (periodic ? ", ring" : ", open"));
  const auto                     size = static_cast<std::size_t>(n);
  Kokkos::View<double *, Memory> b(Kokkos::view_alloc(std::string("test::b"), Kokkos::WithoutInitializing),
                                   size),
    x(Kokkos::view_alloc(std::string("test::x"), Kokkos::WithoutInitializing), size);
  Kokkos::parallel_for(
    "test::b", Policy(0, n),
    KOKKOS_LAMBDA(const std::int64_t i) { b(i) = ribbon::noise<double>(static_cast<std::uint64_t>(i)); });
  ribbon::LineSolver<double, Exec> solver;
  {
    ribbon::Bands<double, Memory> bands;
    bands.periodic = periodic;
    bands.values   = decltype(bands.values)(
      Kokkos::view_alloc(std::string("test::bands"), Kokkos::WithoutInitializing), 1, size, stencil.size());
    const auto values = bands.values;
    const auto s      = ribbon::upload(Exec(), "test::stencil", stencil);
    const int  width  = static_cast<int>(stencil.size());
    Kokkos::parallel_for(
      "test::bands", Policy(0, n), KOKKOS_LAMBDA(const std::int64_t i) {
        for (int d = 0; d < width; ++d) values(0, i, d) = s(d);
      });
    solver = ribbon::LineSolver<double, Exec>(Exec(), ribbon::LineSet::contiguous(n, 1), bands, {algorithm});
  }
  ASSERT_TRUE(solver.report().ok()) << solver.report().reason;
  EXPECT_EQ(solver.report().algorithm.rfind("partition", 0) == 0, cut) << solver.report().algorithm;
  Kokkos::deep_copy(x, 0.0);
  solver.solve(Exec(), b.data(), x.data());
  EXPECT_LE(stencil_error(stencil, periodic, b, x), 1e-13) << solver.report().algorithm;
  Kokkos::deep_copy(x, b);
  solver.solve(Exec(), x.data(), x.data());
  EXPECT_LE(stencil_error(stencil, periodic, b, x), 1e-13) << solver.report().algorithm << ", in place";
}

/// Bytes a row that a line takes while it is factored and solved: on a device the bands three times and a
/// dozen vectors; on a host, where whole lines are eliminated in extended precision, as measured.
std::int64_t bytes_per_row(std::size_t width, bool periodic, bool cut)
{
  if (ribbon::is_device_space<Exec>) return 24 * static_cast<std::int64_t>(width) + 160;
  if (cut) return width == 3 ? 130 : 165;
  return (periodic ? 2 : 1) * (width == 3 ? 200 : 330);
}

/// Fast and slow decay, open lines and rings. Returns what was left out for want of memory.
std::string check_lines(std::int64_t n)
{
  const std::vector<double> stencils[] = {
    {-1, 2.5, -1}, {-1, 2.0001, -1}, {1, -4, 7, -4, 1}, {1, -4, 6.001, -4, 1}};
  std::string left_out;
  for (const auto &stencil : stencils)
    for (bool periodic : {false, true})
      for (bool cut : {true, false}) { // a host cuts lines by name alone
        if (ribbon::is_device_space<Exec> && !cut) continue;
        const char *const algorithm = cut && !ribbon::is_device_space<Exec> ? "partition" : "auto";
        const auto        needed = static_cast<std::size_t>(n * bytes_per_row(stencil.size(), periodic, cut));
        if (free_memory() < needed)
          left_out += std::string(algorithm) + " of " + std::to_string(stencil.size()) + " diagonals" +
                      (periodic ? ", ring" : "") + ": " + std::to_string(needed >> 30) + " GiB; ";
        else check_line(n, stencil, periodic, algorithm, cut);
      }
  return left_out;
}

TEST(Large, OneLineOfAHundredMillionRows)
{
  if (!ribbon::is_device_space<Exec> && !std::getenv("RIBBON_LARGE"))
    GTEST_SKIP() << "on a host, where RIBBON_LARGE is set";
  const std::string left_out = check_lines(100000000);
  if (!left_out.empty()) GTEST_SKIP() << (free_memory() >> 30) << " GiB of memory are free: not " << left_out;
}

// The same in small, on every machine.
TEST(Large, OneLineOfAQuarterMillionRows)
{
  const std::string left_out = check_lines(250007);
  if (!left_out.empty()) GTEST_SKIP() << "no memory is free: not " << left_out;
}

} // namespace
