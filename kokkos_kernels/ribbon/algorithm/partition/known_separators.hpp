// SPDX-License-Identifier: BSD-2-Clause
/// @file known_separators.hpp  Segments of longer lines that are solved once, after the separators around
///   them are known: their solver, and the rows of the inverse for the right-hand sides of the separators.
#pragma once

#include <ribbon/algorithm/partition/end_dots.hpp>
#include <ribbon/algorithm/segments.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace ribbon {

/// A solver of such segments.
/// @param bands  entries in columns outside the segments are their couplings to the separators
/// @return false if one_pass has no kernel for them, if a correction was measured to be faster, or if their
///   factorization failed
template <class Scalar, class Exec>
bool continue_lines(const Exec &exec, const LineSet &lines,
                    const Bands<Scalar, typename Exec::memory_space> &bands, LineSolverOptions options,
                    LineSolver<Scalar, Exec> &solver)
{
  // measured on an H200: interleaved pentadiagonal segments need kernels of 64 rows a thread and are faster
  // with a correction
  const bool faster = !is_device_space<Exec> || bands.half_bandwidth() <= 1 || lines.is_contiguous();
  if (!faster || (bands.lhs != Lhs::shared && bands.lhs != Lhs::classes) || bands.half_bandwidth() > 2 ||
      bands.block > 1)
    return false;
  options.algorithm = "one_pass";
  try {
    solver = Segments::factor<Scalar>(exec, lines, bands, options);
  } catch (const std::invalid_argument &) { // lines that are too short or too long
    return false;
  }
  return solver.report().ok();
}

/// Rows at the beginning in which the first rows of an inverse have not decayed below 1/32 of rounding.
/// Rows at the end in which the last ones have not. Entries of the inverse are multiplied by the size of
/// their row of the matrix, because the right-hand side of a row may be as large.
struct EndReach {
  std::int64_t first = 0, last = 0;
  std::int64_t most() const { return std::max(first, last); }
};

/// Place of entry (a, b) of block d in the values of a row.
inline std::size_t word_of_block(int B, int d, int a, int b)
{
  return static_cast<std::size_t>((d * B + a) * B + b);
}

/// The transposed matrices, one per line. Entries outside the matrices are ignored.
template <class Scalar, class Exec, class Host>
Bands<Scalar, typename Exec::memory_space>
transpose_on_host(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, const Host &from)
{
  using Input          = Bands<Scalar, typename Exec::memory_space>;
  const int          B = bands.block, kl = bands.kl(), ku = bands.ku();
  const std::int64_t rows       = bands.rows();
  const auto         matrices   = from.extent(0);
  Input              transposed = bands;
  transposed.lhs = Lhs::per_line, transposed.class_of_line = {}, transposed.lower = ku, transposed.upper = kl;
  transposed.values = allocate<typename Input::values_type>(exec, "ribbon::inverse_ends::transposed",
                                                            matrices, from.extent(1), from.extent(2));
  const auto values = Kokkos::create_mirror_view(transposed.values);
  for (std::size_t c = 0; c < matrices; ++c)
    for (std::int64_t i = 0; i < rows; ++i)
      for (int d = -ku; d <= kl; ++d)
        for (int a = 0; a < B; ++a)
          for (int b = 0; b < B; ++b)
            values(c, static_cast<std::size_t>(i), word_of_block(B, d + ku, a, b)) =
              i + d < 0 || i + d >= rows
                ? Scalar(0)
                : from(c, static_cast<std::size_t>(i + d), word_of_block(B, kl - d, b, a));
  Kokkos::deep_copy(exec, transposed.values, values);
  return transposed;
}

/// Solves with the first and the last unit vectors of every matrix. @return the solutions on the host
template <class Scalar, class Exec>
Kokkos::View<Scalar *, Kokkos::HostSpace>
solve_ends(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &transposed,
           InverseEnds<Scalar, typename Exec::memory_space> &ends)
{
  const auto         matrices = transposed.values.extent(0);
  const std::int64_t columns  = 2 * ends.width;
  ends.words                  = allocate<decltype(ends.words)>(exec, "ribbon::inverse_ends",
                                              matrices * static_cast<std::size_t>(columns * ends.unknowns));
  const Kokkos::View<Scalar *, Kokkos::HostSpace> words("ribbon::inverse_ends", ends.words.size());
  const auto                                      row = [&](std::size_t c, std::int64_t column) {
    return words.data() + (static_cast<std::int64_t>(c) * columns + column) * ends.unknowns;
  };
  for (std::size_t c = 0; c < matrices; ++c)
    for (std::int64_t v = 0; v < std::min<std::int64_t>(ends.width, ends.unknowns); ++v)
      row(c, v)[v] = row(c, columns - 1 - v)[ends.unknowns - 1 - v] = Scalar(1);
  Kokkos::deep_copy(exec, ends.words, words);
  LineSet all{transposed.rows(),
              static_cast<std::int64_t>(matrices),
              columns,
              transposed.block,
              columns * ends.unknowns,
              ends.unknowns,
              0};
  all.components = transposed.block;
  LineSet lines  = all;
  lines.count1   = 1;
  LineSolver<Scalar, Exec>(exec, lines, transposed)
    .solve(exec, ends.words.data(), all, ends.words.data(), all);
  Kokkos::deep_copy(exec, words, ends.words);
  exec.fence();
  return words;
}

/// Sizes of the right-hand sides of one matrix. The contribution of a right-hand side is as large as its
/// row, or larger if unknowns are large because their columns are small.
struct RowSizes {
  /// (row): its largest entry; its largest entry relative to those of the column
  std::vector<double> size[2];

  /// @param from  values of the matrices on the host; c is the matrix
  template <class Input, class Host>
  RowSizes(const Input &bands, const Host &from, std::size_t c)
  {
    const int           B = bands.block, kl = bands.kl(), ku = bands.ku();
    const std::int64_t  rows = bands.rows();
    std::vector<double> column(static_cast<std::size_t>(rows * B), 0);
    size[0] = size[1]     = column;
    const auto each_entry = [&](const auto &f) {
      for (std::int64_t i = 0; i < rows; ++i)
        for (int d = -kl; d <= ku; ++d)
          for (int a = 0; i + d >= 0 && i + d < rows && a < B; ++a)
            for (int b = 0; b < B; ++b)
              f(static_cast<std::size_t>(i * B + a), static_cast<std::size_t>((i + d) * B + b),
                static_cast<double>(
                  magnitude(from(c, static_cast<std::size_t>(i), word_of_block(B, d + kl, a, b)))));
    };
    each_entry([&](std::size_t, std::size_t j, double a) { column[j] = std::max(column[j], a); });
    each_entry([&](std::size_t i, std::size_t j, double a) {
      size[0][i] = std::max(size[0][i], a),
      size[1][i] = a > 0 ? std::max(size[1][i], a / column[j]) : size[1][i];
    });
  }
};

/// Calls found(i) for the unknowns i in which a row of the inverse, times the sizes of the right-hand
/// sides, has not decayed below 1/32 of rounding.
template <class Scalar, class Found>
void each_not_decayed(const Scalar *row, const std::vector<double> &sizes, const Found &found)
{
  std::vector<double> added(sizes.size());
  double              largest = 0;
  for (std::size_t i = 0; i < added.size(); ++i) {
    added[i] = sizes[i] * static_cast<double>(magnitude(row[i]));
    if (is_finite(added[i])) largest = std::max(largest, added[i]);
  }
  for (std::size_t i = 0; i < added.size(); ++i)
    if (!(added[i] <= largest * static_cast<double>(unit_roundoff<Scalar>()) / 32))
      found(static_cast<std::int64_t>(i));
}

/// Computes `ends` by solves with the transposed matrices, of which there are few. Entries outside the
/// matrices are ignored.
/// @pre as continue_lines(): tridiagonal or pentadiagonal, shared or classes
template <class Scalar, class Exec>
EndReach inverse_ends(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                      InverseEnds<Scalar, typename Exec::memory_space> &ends)
{
  const auto from       = to_host(bands).values;
  const int  B          = bands.block;
  const auto transposed = transpose_on_host<Scalar>(exec, bands, from);
  ends.unknowns = bands.rows() * B, ends.width = std::max(1, bands.half_bandwidth()) * B;
  const auto         words   = solve_ends(exec, transposed, ends);
  const std::int64_t columns = 2 * ends.width;
  EndReach           found;
  for (std::size_t c = 0; c < from.extent(0); ++c) {
    const RowSizes sizes(bands, from, c);
    for (std::int64_t v = 0; v < columns; ++v)
      for (const auto &of_row : sizes.size)
        each_not_decayed(words.data() + (static_cast<std::int64_t>(c) * columns + v) * ends.unknowns, of_row,
                         [&](std::int64_t i) {
                           std::int64_t &reaches = v < ends.width ? found.first : found.last;
                           reaches = std::max(reaches, (v < ends.width ? i : ends.unknowns - 1 - i) / B + 1);
                         });
  }
  return found;
}

} // namespace ribbon
