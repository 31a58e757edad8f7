// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_plan.hpp  Common parts of solvers on a tree: launches, and statistics of pivots.
#pragma once

#include <ribbon/chain_solver.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>
#include <ribbon/multifrontal/leaf_lanes.hpp>
#include <ribbon/device/staging.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace ribbon::multifrontal {

/// Calls f(integral_constant W) if the width has kernels for tiles of 32 leaves; returns false otherwise.
template <class Scalar, class F>
bool with_tiles(int W, const F &f)
{
  if constexpr (std::is_same_v<Scalar, double>) {
    const auto with = [&](auto K) {
      f(K);
      return true;
    };
    switch (W) {
    case 2:
      return with(std::integral_constant<int, 2>());
    case 4:
      return with(std::integral_constant<int, 4>());
    case 6:
      return with(std::integral_constant<int, 6>());
    case 8:
      return with(std::integral_constant<int, 8>());
    case 10:
      return with(std::integral_constant<int, 10>());
    default:
      break;
    }
  }
  return false;
}

/// The chain that is eliminated. If kl + ku is odd and the next width has tiles, a device adds a diagonal
/// of zeros: tiles take a fifth to a tenth of the time. Sub-chains, and trees of passed leaves, keep their
/// shape.
template <class Scalar, class Exec>
Chain with_even_width(Chain chain, const ChainSolverOptions &options)
{
  const int W = chain.width();
  if (is_device_space<Exec> && W % 2 != 0 && options.leaf_size == 0 && !chain.open_left &&
      !chain.open_right && chain.rows > W + 1 && with_tiles<Scalar>(W + 1, [](auto) {}))
    ++chain.ku;
  return chain;
}

/// Most right-hand sides that are solved at a time: a limit for the size of the data that nodes pass.
constexpr std::int64_t most_columns = 128;

inline int power_of_two_from(int n)
{
  int p = 1;
  while (p < n) p *= 2;
  return p;
}

/// Lanes per leaf with this many columns, and leaves per team with this many bytes of scratch each.
template <class Exec>
Groups leaf_groups(const Exec &exec, int columns, std::size_t bytes)
{
  if constexpr (!is_device_space<Exec>) return {1, 1};
  const std::size_t limit = device::scratch_limit(exec);
  if (bytes > limit)
    throw std::invalid_argument("ribbon: a window of " + std::to_string(bytes) +
                                " bytes for a leaf does not fit the scratch of a team");
  // one warp processes 48 columns as fast as two warps that wait for each other
  const int lanes  = columns <= 48   ? std::min(32, power_of_two_from(std::max(1, columns)))
                     : columns <= 64 ? 64
                                     : 128;
  int       groups = std::max(1, 64 / lanes);
  while (groups > 1 && static_cast<std::size_t>(groups) * bytes > limit) groups /= 2;
  return {lanes, groups};
}

/// Lanes of a leaf in a solve. If leaves are interleaved, neighbouring lanes have neighbouring leaves,
/// unless there is a warp of columns.
template <class Scalar, class Exec>
typename LeafLanes<Scalar>::Shape leaf_solve_shape(const Exec &exec, int W, std::int64_t columns,
                                                   int together)
{
  if constexpr (!is_device_space<Exec>) return {1, 1, 16, 1};
  const int warp  = 32,
            here  = columns >= warp ? warp
                    : together > 1  ? 1
                                    : power_of_two_from(static_cast<int>(columns)),
            parts = together > 1 ? 1 : warp / here;
  typename LeafLanes<Scalar>::Shape shape{parts, here, W <= 20 ? 16 : 8, 64 / (parts * here)};
  while (shape.groups > 1 && shape.scratch(W) > device::scratch_limit(exec)) shape.groups /= 2;
  return shape;
}

/// Calls f(integral_constant P) with the smallest compiled P >= W. False if there is none, and for few
/// columns, where many lanes share one column.
template <class Scalar, class Exec, class F>
bool with_leaf_columns(int W, std::int64_t columns, const F &f)
{
  if (columns < (is_device_space<Exec> ? 8 : 2)) return false;
  if (W <= 8) f(std::integral_constant<int, 8>());
  else if (W <= 16) f(std::integral_constant<int, 16>());
  else if (W > 32) return false;
  else if constexpr (sizeof(Scalar) > 8) return false;
  else f(std::integral_constant<int, 32>());
  return true;
}

/// A count of teams that run at the same time with any kernel. On hosts, where teams need not run at the
/// same time, a count that suffices for tests.
template <class Exec>
std::int64_t tiles_at_once(const Exec &exec)
{
  return is_device_space<Exec> ? device::multiprocessors(exec) : 64;
}

/// Rows of a leaf on a device. If all leaves of a chain run at the same time, the chain takes as long as
/// one leaf, so that leaves are short. With wide windows, registers limit a multiprocessor to three tiles
/// of 32 leaves instead of four. Chains with more rows than these tiles hold at 64 rows per leaf get longer
/// leaves.
template <class Scalar, class Exec>
std::int64_t usual_leaf(const Exec &exec, const Chain &chain)
{
  const std::int64_t usual = std::max<std::int64_t>(
                       {64, 4 * chain.width(), std::min<std::int64_t>(chain.rows / 65536, 128)}),
                     rows = chain.rows * chain.chains, at_once = 32 * tiles_at_once(exec);
  if (!with_tiles<Scalar>(chain.width(), [](auto) {})) return usual;
  if (chain.chains == 1 && rows <= 32 * at_once) return rows <= 4 * at_once ? 16 : 32;
  return chain.width() >= 8 && rows > 3 * 64 * at_once ? std::max<std::int64_t>(usual, 80) : usual;
}

/// Threads for which a host divides chains.
template <class Exec>
int threads_of(const Exec &exec, const ChainSolverOptions &options)
{
  return options.threads > 0 ? options.threads : static_cast<int>(exec.concurrency());
}

/// Divides the joining levels of a tree into launches: one launch if a team can process all leaves, else
/// two.
inline std::vector<Levels> plan_of(const Tree &tree, std::int64_t most_leaves = 256)
{
  const int top = tree.top(), middle = (top + 1) / 2;
  if (top == 0) return {};
  if (tree.leaves <= most_leaves) return {{0, top}};
  return {{0, middle}, {middle, top}};
}

/// The join or leaf at the top of every chain.
inline std::pair<int, std::int64_t> top_node(const Tree &tree)
{
  int          level = tree.top();
  std::int64_t node  = 0;
  tree.resolve(level, node);
  return {level, node};
}

template <class Record>
inline constexpr std::size_t words = sizeof(Record) / sizeof(double);
/// Interprets a view of words as records.
template <class Record, class View>
Record *as_records(const View &view)
{
  static_assert(sizeof(Record) % sizeof(double) == 0 && alignof(Record) <= alignof(double),
                "records are whole words");
  return reinterpret_cast<Record *>(view.data());
}

/// Room for n values.
template <class Value, class Exec>
Kokkos::View<Value *, typename Exec::memory_space> room_for(const Exec &exec, const char *label,
                                                            std::int64_t n)
{
  return allocate<Kokkos::View<Value *, typename Exec::memory_space>>(exec, label,
                                                                      static_cast<std::size_t>(n));
}
/// The same, filled with zeros.
template <class Value, class Exec>
Kokkos::View<Value *, typename Exec::memory_space> zeros_for(const Exec &exec, const char *label,
                                                             std::int64_t n)
{
  return allocate_zeros<Kokkos::View<Value *, typename Exec::memory_space>>(exec, label,
                                                                            static_cast<std::size_t>(n));
}
/// Room for the statistics of n nodes, as words.
template <class Statistics, class Exec>
Kokkos::View<double *, typename Exec::memory_space> room_for_statistics(const Exec &exec, const char *label,
                                                                        std::int64_t n)
{
  return zeros_for<double>(exec, label, n * static_cast<std::int64_t>(words<Statistics>));
}

/// The places of the records of the top nodes of all chains: every `stride`-th record of the leaves or the
/// joins, from `first` on.
struct TopRecords {
  bool        of_leaves;
  std::size_t first, stride, count;
  explicit TopRecords(const Tree &tree)
  {
    const auto [level, node] = top_node(tree);
    of_leaves                = level == 0;
    first                    = static_cast<std::size_t>(of_leaves ? 0 : tree.join_number(0, level, node)),
    stride                   = static_cast<std::size_t>(of_leaves ? 1 : tree.joins),
    count                    = static_cast<std::size_t>(tree.chain.chains);
  }
  std::size_t span() const { return count == 0 ? 0 : (count - 1) * stride + 1; }
};

/// Room on the host for the records of the top nodes; empty if the host can read the records in place.
template <class Statistics, class Exec>
StagedWords<Exec> room_for_tops(const Exec &exec, const Tree &tree)
{
  return allocate<StagedWords<Exec>>(exec, "ribbon::top_pivots",
                                     is_device_space<Exec> ? TopRecords(tree).span() * words<Statistics> : 0);
}

/// Whether kernels can write to that room, too: without a copy the host waits a few microseconds less.
template <class Exec>
inline constexpr bool     writes_to_tops =
  is_device_space<Exec> &&Kokkos::SpaceAccessibility<Exec, typename StagingSpace<Exec>::type>::accessible;

/// Joins the statistics of the top nodes of all chains; waits for exec.
/// @param leaves, joins  statistics, in views of their words
/// @param room  of room_for_tops()
/// @param is_written  whether the kernels have written to `room`
template <class Statistics, class Exec, class View>
Statistics top_statistics(const Exec &exec, const Tree &tree, const View &leaves, const View &joins,
                          const StagedWords<Exec> &room, bool is_written = false)
{
  const TopRecords tops(tree);
  Statistics       all;
  if (tops.count == 0) return all;
  const auto watched = Kokkos::subview(
    tops.of_leaves ? leaves : joins,
    std::make_pair(tops.first * words<Statistics>, (tops.first + tops.span()) * words<Statistics>));
  if constexpr (is_device_space<Exec>)
    if (!is_written) Kokkos::deep_copy(exec, room, watched);
  exec.fence();
  const Statistics *records;
  if constexpr (is_device_space<Exec>) records = as_records<Statistics>(room);
  else records = as_records<Statistics>(watched);
  for (std::size_t c = 0; c < tops.count; ++c) all.join(records[c * tops.stride]);
  return all;
}

} // namespace ribbon::multifrontal
