// SPDX-License-Identifier: BSD-2-Clause
/// @file measured_choice.hpp  The algorithm that a device tries first: for large batches from the table,
///   for few long lines by a rule.
#pragma once

#include "algorithms.hpp"

#include <ribbon/algorithm/cyclic_reduction/factored_reduction.hpp>
#include <ribbon/algorithm/choice.hpp>
#include <ribbon/device/line_tile.hpp>

#include <algorithm>

namespace ribbon::detail {

/// Tridiagonal and pentadiagonal matrices.
template <class Scalar, class Memory>
bool is_narrow(const Bands<Scalar, Memory> &bands)
{
  return bands.half_bandwidth() <= 2 && bands.block == 1;
}

/// Whether in-flight elimination of one matrix per line is faster than thomas with stored factors, for wide
/// bands and blocks. In double it is faster for blocks of 2, and for K = 3 to 128 rows. It is not for K = 4
/// and blocks of 4 (64 to 512 rows, measured on an H200, docs/performance/index.md).
template <class Scalar, class Memory>
bool wide_in_flight(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  return std::is_same_v<Scalar, double> &&
         (bands.block == 2 || (bands.block == 1 && bands.half_bandwidth() == 3 && lines.rows <= 128));
}

/// Fewer lines than these leave threads of `thomas` idle. With one matrix per line, narrow lines are then
/// eliminated in flight, wide ones and blocks by factored_reduction. On an H100, for blocks of 3 to 5,
/// factored_reduction takes 0.03 (193 lines) to 0.92 (16641 lines) of the time of `thomas`.
inline constexpr std::int64_t few_lines = 32768;
/// A kernel in flight stores no factors, but computes pivots with one thread per line. For blocks of 2 its
/// refresh takes 7 times (385 lines) to 1.4 times (4225 lines) as long as that of factored_reduction. Its
/// application takes 0.7 to 0.9 of the time.
inline constexpr std::int64_t few_lines_in_flight = 2048;

/// Whether auto has a kernel that eliminates one matrix per line in flight, and scratch of a team holds at
/// least two lines.
template <class Scalar, class Memory>
bool in_flight(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  // bytes of a line in scratch
  const std::int64_t bytes = lines.rows * (1 + 2 * bands.half_bandwidth()) * bands.block * bands.block *
                             static_cast<std::int64_t>(sizeof(Scalar));
  return (is_narrow(bands) || wide_in_flight(lines, bands)) &&
         2 * bytes <= static_cast<std::int64_t>(device::scratch_limit(typename Memory::execution_space()));
}

/// Whether wide bands and blocks with one matrix per line are so few that the sequence of dependent steps
/// along a line limits the speed. factored_reduction has the shortest sequence.
template <class Scalar, class Memory>
bool few_wide_lines(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  using Exec = typename Memory::execution_space;
  return is_device_space<Exec> && FactoredReduction<Scalar, Exec>::takes(bands) && !is_narrow(bands) &&
         lines.lines() < (in_flight(lines, bands) ? few_lines_in_flight : few_lines) &&
         FactoredReduction<Scalar, Exec>::scratch(lines.rows, bands) <= device::scratch_limit(Exec());
}

/// The fastest algorithm for a large batch of such lines. One matrix per line, with too few lines for
/// thomas to fill a device, is solved by one_pass.
/// @param has_constant_stencil  of a shared matrix, which it copies to the host: called only if the table
///   distinguishes the two cases
template <class Scalar, class Memory, class Constant>
Algorithm measured_fastest(const LineSet &lines, const Bands<Scalar, Memory> &bands,
                           const Constant &has_constant_stencil)
{
  using choice::Source;
  const auto layout = lines.is_contiguous() ? choice::Layout::contiguous : choice::Layout::interleaved;
  const auto of     = [&](Source source) {
    return choice::measured({std::max(1, bands.half_bandwidth()), bands.block, layout, source}, lines.rows)
      .algorithm;
  };
  const bool own = bands.lhs == Lhs::per_line || bands.lhs == Lhs::shifted;
  // thomas has one thread per line
  if (own && in_flight(lines, bands) && (lines.lines() < few_lines || wide_in_flight(lines, bands)))
    return Algorithm::one_pass;
  if (own) {
    const auto measured = of(bands.lhs == Lhs::per_line ? Source::per_line : Source::shifted);
    // no entry for this system: in_flight() is false here
    if (measured == Algorithm::one_pass && !is_narrow(bands)) return Algorithm::thomas;
    // A batch of the table has 2^26 unknowns. For this many lines (of 512 rows, pentadiagonal: of 1024)
    // thomas was faster than partition; batches of longer lines have fewer.
    const bool filled = lines.lines() * bands.half_bandwidth() >= 131072;
    return measured == Algorithm::partition && filled ? Algorithm::thomas : measured;
  }
  const auto constant = of(Source::constant), general = of(Source::general);
  return constant == general || bands.lhs == Lhs::classes || !has_constant_stencil() ? general : constant;
}

/// Whether a team solves a tile of lines or segments: shared matrices of a system with a one_pass kernel.
/// Otherwise one thread solves each line or segment.
template <class Scalar, class Memory>
bool by_teams(const Bands<Scalar, Memory> &bands)
{
  return bands.lhs != Lhs::per_line && bands.lhs != Lhs::shifted &&
         with_system<Scalar>(std::max(1, bands.half_bandwidth()), bands.block, [](auto, auto) {});
}

/// Whether a device has kernels of tile_products for such a matrix: they need matrix instructions.
template <class Scalar, class Memory>
bool is_for_tile_products(const Bands<Scalar, Memory> &bands)
{
  return std::is_same_v<Scalar, double> &&
         device::has_matrix_instructions<typename Memory::execution_space>() && bands.lhs != Lhs::per_line &&
         bands.lhs != Lhs::shifted && bands.matrices() == 1;
}

/// Whether no other kernel solves a tile of these lines.
template <class Scalar, class Memory>
bool only_tile_products(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  return is_for_tile_products(bands) && !by_teams(bands) &&
         tile_products_fit(lines.rows, std::max(1, bands.half_bandwidth()), bands.block);
}

/// Whether the lines are too few to fill a device with one thread per line, and long enough to be split.
template <class Scalar, class Memory>
bool few_long_lines(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  return !by_teams(bands) && lines.rows >= 128 && lines.lines() < 16384 && !in_flight(lines, bands);
}

/// Whether there are so few lines with a one_pass kernel that one_pass is faster than partition for all
/// lengths of which a tile fits. On an H100, for 512 to 16384 rows and 32 to 256 lines, one_pass takes 0.16 to
/// 1.03 of the time. The exceptions are interleaved: 1.5 with 128 lines of 16384 rows of one general
/// tridiagonal matrix, and 1.25 to 1.6 with classes of 2048 rows.
template <class Scalar, class Memory>
bool few_team_lines(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  return by_teams(bands) && lines.lines() < 264;
}

/// Whether a few rows of a shared matrix are equal. The test takes no time; a wrong result only changes the
/// length of segments.
template <class Scalar, class Memory>
bool seems_constant(const Bands<Scalar, Memory> &bands)
{
  const auto at = [&](std::int64_t i, std::size_t d) {
    Scalar value;
    Kokkos::deep_copy(value, Kokkos::subview(bands.values, 0, static_cast<std::size_t>(bands.stored(i)), d));
    return value;
  };
  const std::int64_t n = bands.rows();
  for (std::size_t d = 0; d < bands.values.extent(2); ++d)
    if (!(at(n / 3, d) == at(n / 2, d)) || !(at(n - n / 3, d) == at(n / 2, d))) return false;
  return true;
}

/// Most runs of lines at one stride for which auto chooses partition. Each run is at least a launch of 2 to 5
/// microseconds more. A limit by reasoning: that many launches take as long as copying 10^7 unknowns.
inline constexpr std::int64_t most_runs = 8;

/// Whether partition is faster with dot products (a few microseconds) than with a correction (memory
/// traffic). 64 lines of 10^6 rows: 20 to 43% of copy bandwidth with a correction, 41 to 51% with dot products
/// (H200, examples/benchmark/history.md).
inline bool pieces_are_many(const LineSet &lines)
{
  return lines.rows * lines.lines() >= (1 << 22);
}

/// Rows of a segment of partition. With one thread per segment, filling a device with threads comes before
/// long segments; classes are stored as one matrix per line. With a team per tile of segments, segments
/// have the best length for the kernel. One pentadiagonal stencil with many interleaved segments has longer
/// ones, with fewer boundaries: 73% of copy bandwidth with 2048 rows, 64% with 1024 (H200).
template <class Scalar, class Memory>
std::int64_t longest_piece(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  if (!by_teams(bands) || bands.lhs == Lhs::classes)
    return std::max<std::int64_t>(32, std::min<std::int64_t>(256, lines.rows * lines.lines() / 131072));
  return lines.rows * lines.lines() >= (1 << 24) && lines.rows > 8192 && !lines.is_contiguous() &&
             bands.half_bandwidth() == 2 && bands.block == 1 && seems_constant(bands)
           ? 2048
           : 1024;
}

} // namespace ribbon::detail
