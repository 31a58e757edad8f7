// SPDX-License-Identifier: BSD-2-Clause
// Places beyond 2^31 and 2^32: a few lines with large strides in memory that is reserved and hardly
// touched. Runs on the host and, if it has the memory, on the device.
#include "large.hpp"

#include <ribbon/matrix/line_residuals.hpp>
#include <ribbon/probe/probe.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>

using namespace test;

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

constexpr std::int64_t places = (std::int64_t(1) << 32) + (std::int64_t(1) << 28);
constexpr std::size_t  bytes  = static_cast<std::size_t>(places) * sizeof(double);

/// Memory for `places` unknowns. `why` gives the reason if there is too little. Untouched pages do not use
/// memory of a host.
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

/// The same lines without gaps, with adjacent rows or lines as in `far`.
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

/// The matrices of one batch, on the host.
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

/// Lines with large strides have the same solution as compact ones, and an accurate one. Returns false if
/// the algorithm does not support the system.
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

} // namespace
