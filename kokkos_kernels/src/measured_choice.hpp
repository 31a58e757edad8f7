// SPDX-License-Identifier: BSD-2-Clause
/// @file measured_choice.hpp  What a device takes first: for large batches by the table, for
///   few long lines by a rule.
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

/// Whether wide bands and blocks that have matrices of their own are eliminated in flight faster than thomas
/// solves from factors: blocks of 2, and K = 3 to 128 rows, in double; K = 4 and blocks of 4 are not (64 to
/// 512 rows, measured on an H200, docs/performance/index.md).
template <class Scalar, class Memory>
bool wide_in_flight(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  return std::is_same_v<Scalar, double> &&
         (bands.block == 2 || (bands.block == 1 && bands.half_bandwidth() == 3 && lines.rows <= 128));
}

/// Fewer lines than these leave threads of `thomas` idle: with one matrix per line narrow ones are eliminated
/// in flight then, wide ones and blocks by factored_reduction. Blocks of 4 on an H100, one direction,
/// milliseconds of `thomas` and factored_reduction: 193 lines of 193 rows 1.33 and 0.036, 4225 of 65 0.99 and
/// 0.32, 9409 of 97 1.51 and 0.75; 16641 of 129 rows, blocks of 3, 1.43 and 1.32, blocks of 5, 3.75 and 2.41.
inline constexpr std::int64_t few_lines = 32768;
/// A kernel in flight stores no factors, but computes pivots with one thread per line. Blocks of 2,
/// milliseconds of a refresh and of an application, in flight and by factored_reduction: 385 lines 17.4 +
/// 0.145 and 2.4 + 0.185, 1089 lines 3.8 + 0.140 and 2.1 + 0.150, 4225 lines 8.3 + 0.48 and 5.9 + 0.65.
inline constexpr std::int64_t few_lines_in_flight = 2048;

/// Whether auto has a kernel that eliminates matrices of their own in flight, for lines that
/// leave a team room for several.
template <class Scalar, class Memory>
bool in_flight(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  // of a line in scratch
  const std::int64_t bytes = lines.rows * (1 + 2 * bands.half_bandwidth()) * bands.block * bands.block *
                             static_cast<std::int64_t>(sizeof(Scalar));
  return (is_narrow(bands) || wide_in_flight(lines, bands)) &&
         2 * bytes <= static_cast<std::int64_t>(device::scratch_limit(typename Memory::execution_space()));
}

/// Whether wide bands and blocks with one matrix per line are so few that the chain of dependent steps along
/// a line decides, which factored_reduction has the shortest of.
template <class Scalar, class Memory>
bool few_wide_lines(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  using Exec = typename Memory::execution_space;
  return is_device_space<Exec> && FactoredReduction<Scalar, Exec>::takes(bands) && !is_narrow(bands) &&
         lines.lines() < (in_flight(lines, bands) ? few_lines_in_flight : few_lines) &&
         FactoredReduction<Scalar, Exec>::scratch(lines.rows, bands) <= device::scratch_limit(Exec());
}

/// What was fastest for a large batch of such lines. Matrices of their own that are too few for thomas to
/// fill a device go to one_pass.
/// @param has_constant_stencil  of a shared matrix, which it brings to the host: asked only where the
///   table tells the two apart
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
    // a system without entries, since in_flight() is false here
    if (measured == Algorithm::one_pass && !is_narrow(bands)) return Algorithm::thomas;
    // A batch of the table has 2^26 unknowns. thomas was faster than partition for so many lines (of 512
    // rows, pentadiagonal: of 1024); batches of longer lines have fewer.
    const bool filled = lines.lines() * bands.half_bandwidth() >= 131072;
    return measured == Algorithm::partition && filled ? Algorithm::thomas : measured;
  }
  const auto constant = of(Source::constant), general = of(Source::general);
  return constant == general || bands.lhs == Lhs::classes || !has_constant_stencil() ? general : constant;
}

/// Shared matrices of a system that one_pass has a kernel for: a team solves a tile of lines, or of pieces.
/// Otherwise each has one thread.
template <class Scalar, class Memory>
bool by_teams(const Bands<Scalar, Memory> &bands)
{
  return bands.lhs != Lhs::per_line && bands.lhs != Lhs::shifted &&
         with_system<Scalar>(std::max(1, bands.half_bandwidth()), bands.block, [](auto, auto) {});
}

/// Whether a device has kernels of tile_products for such a matrix: they want matrix instructions.
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

/// Lines that are too few to fill a device, and long enough to be cut.
template <class Scalar, class Memory>
bool few_long_lines(const LineSet &lines, const Bands<Scalar, Memory> &bands)
{
  return by_teams(bands) ? lines.rows > 4096 && lines.lines() < 264
                         : lines.rows >= 128 && lines.lines() < 16384 && !in_flight(lines, bands);
}

/// Whether a few rows of a shared matrix agree. That takes no time, and where it errs
/// pieces are of another length.
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

/// Runs of lines at one stride that auto has solved by partition, a launch for each.
inline constexpr std::int64_t most_runs = 8;

/// Whether partition is faster with dot products, which cost a few microseconds, than with a correction,
/// which costs memory traffic.
inline bool pieces_are_many(const LineSet &lines)
{
  return lines.rows * lines.lines() >= (1 << 22);
}

/// Rows of a piece of partition. One thread per piece: enough threads to fill a device before long pieces;
/// classes are given a matrix for every line. A team per tile of pieces: as long as the kernel likes them,
/// which for one pentadiagonal stencil and many interleaved pieces is longer: fewer boundaries.
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
