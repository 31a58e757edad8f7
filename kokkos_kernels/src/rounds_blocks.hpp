// SPDX-License-Identifier: BSD-2-Clause
/// @file rounds_blocks.hpp  The blocks of a matrix as the entries of a smaller matrix, for lines_by_rounds().
#pragma once

#include "rounds_couplings.hpp"

namespace ribbon::rounds {

constexpr int largest_block = 8; ///< rows of the largest block that lines_by_rounds() accepts

/// A Frobenius norm. Squares neither overflow nor underflow.
struct Norm {
  double                      largest = 0, sum = 0; ///< of squares, divided by largest^2
  KOKKOS_INLINE_FUNCTION void add(double size)
  {
    if (!(size > 0) || !is_finite(size)) return;
    const double smaller = size > largest ? largest / size : size / largest;
    if (size > largest) sum = 1 + sum * smaller * smaller, largest = size;
    else sum += smaller * smaller;
  }
  KOKKOS_INLINE_FUNCTION double value() const { return largest * square_root(sum); }
};

/// Merges the rows of an element, and visits its blocks. If the columns of each row ascend, so do the blocks.
struct BlocksOfRow {
  CsrNumbers   A;
  std::int64_t elements; ///< rows of blocks
  int          block;    ///< rows of a block

  /// For each block of element i: entry(a, e) for each entry e of its row a, then end(column of the block).
  template <class Entry, class End>
  KOKKOS_INLINE_FUNCTION void each(std::int64_t i, const Entry &entry, const End &end) const
  {
    const std::int64_t columns = elements * block;
    std::int64_t       at[largest_block];
    for (int a = 0; a < block; ++a) at[a] = A.row_begin[i * block + a];
    for (;;) {
      std::int64_t first = columns;
      for (int a = 0; a < block; ++a) {
        std::int64_t c = columns;
        for (; at[a] < A.row_begin[i * block + a + 1]; ++at[a])
          if (c = A.column[at[a]]; c >= 0 && c < columns) break;
          else c = columns; // outside of the matrix
        first = c < first ? c : first;
      }
      if (first == columns) return;
      const std::int64_t j = quotient(first, block), begin = j * block;
      for (int a = 0; a < block; ++a)
        for (; at[a] < A.row_begin[i * block + a + 1]; ++at[a]) {
          const std::int64_t c = A.column[at[a]];
          if (c < begin || c >= begin + block) break;
          entry(a, at[a]);
        }
      end(j);
    }
  }
};

/// Whether the rows of an element store whole blocks, in ascending order, as in most matrices of blocks. Block q then
/// begins q * block entries after the first entry of each row.
struct WholeBlocks {
  BlocksOfRow blocks;
  template <class Lanes>
  KOKKOS_INLINE_FUNCTION bool operator()(const Lanes &lanes, std::int64_t i) const
  {
    const CsrNumbers  &A     = blocks.A;
    const int          block = blocks.block;
    const std::int64_t row = i * block, first = A.row_begin[row], length = A.row_begin[row + 1] - first;
    for (int a = 1; a < block; ++a)
      if (A.row_begin[row + a + 1] - A.row_begin[row + a] != length) return false;
    const int parts = lanes.template sum<int>(0, length, [&](std::int64_t e, int &broken) {
      const std::int64_t c = A.column[first + e];
      if (c < 0 || c >= blocks.elements * block ||
          c - quotient(c, block) * block != e - quotient(e, block) * block ||
          (e > 0 && c <= A.column[first + e - 1]))
        ++broken;
      for (int a = 1; a < block; ++a)
        if (A.column[A.row_begin[row + a] + e] != c) ++broken;
    });
    return parts == 0 && length % block == 0;
  }
};

struct CountBlocksKernel {
  BlocksOfRow   blocks;
  std::int64_t *count;
  template <class Lanes>
  KOKKOS_FUNCTION void operator()(const Lanes &lanes, std::int64_t i) const
  {
    const bool whole = WholeBlocks{blocks}(lanes, i);
    lanes.once([&] {
      std::int64_t       n   = 0;
      const std::int64_t row = i * blocks.block;
      if (whole) n = (blocks.A.row_begin[row + 1] - blocks.A.row_begin[row]) / blocks.block;
      else
        blocks.each(
          i, [](int, std::int64_t) {}, [&n](std::int64_t) { ++n; });
      count[i] = n;
    });
  }
};

/// The norm of every block. With CouplingStrength::negative that of an off-diagonal block has the sign of
/// sum_a Re(b_aa conj(a_rr) / |a_rr|), where b_aa are the diagonal entries of the block, and a_rr is the diagonal entry
/// of row a of the element.
struct NormsOfBlocksKernel {
  BlocksOfRow         blocks;
  bool                negative;
  const std::int64_t *begin;
  std::int32_t       *column;
  double             *norm;

  using Complex = detail::AnyNumbers::Complex;
  /// A block in progress.
  struct Block {
    Norm                          norm;
    double                        trace = 0;
    KOKKOS_INLINE_FUNCTION double value(bool diagonal) const
    {
      return trace < 0 && !diagonal ? -norm.value() : norm.value();
    }
  };
  /// a_rr / |a_rr|, or 1. Columns may be in any order inside of a block.
  KOKKOS_INLINE_FUNCTION Complex sign_of_diagonal(std::int64_t r) const
  {
    const CsrNumbers &A = blocks.A;
    for (std::int64_t e = A.row_begin[r]; e < A.row_begin[r + 1]; ++e)
      if (const double s = A.column[e] == r ? A.value.size(e) : 0; s > 0 && is_finite(s))
        return A.value[e] / s;
    return Complex(1, 0);
  }
  /// Adds entry e of row a of the element.
  KOKKOS_INLINE_FUNCTION void add(Block &to, int a, std::int64_t e, const Complex *sign) const
  {
    to.norm.add(blocks.A.value.size(e));
    if (!negative || (blocks.A.column[e] - a) % blocks.block != 0) return;
    const Complex value = blocks.A.value[e];
    to.trace += value.real() * sign[a].real() + value.imag() * sign[a].imag();
  }
  template <class Lanes>
  KOKKOS_FUNCTION void operator()(const Lanes &lanes, std::int64_t i) const
  {
    const int          block = blocks.block;
    const std::int64_t row   = i * block;
    Complex            sign[largest_block];
    for (int a = 0; negative && a < block; ++a) sign[a] = sign_of_diagonal(row + a);
    if (WholeBlocks{blocks}(lanes, i)) {
      lanes.each(begin[i], begin[i + 1], [&](std::int64_t at) {
        const std::int64_t skip = (at - begin[i]) * block,
                           j    = quotient(blocks.A.column[blocks.A.row_begin[row] + skip], block);
        Block of;
        for (int a = 0; a < block; ++a)
          for (std::int64_t e = blocks.A.row_begin[row + a] + skip, end = e + block; e < end; ++e)
            add(of, a, e, sign);
        column[at] = static_cast<std::int32_t>(j);
        norm[at]   = of.value(j == i);
      });
      return;
    }
    lanes.once([&] {
      std::int64_t at = begin[i];
      Block        of;
      blocks.each(
        i, [&](int a, std::int64_t e) { add(of, a, e, sign); },
        [&](std::int64_t j) {
          column[at] = static_cast<std::int32_t>(j);
          norm[at++] = of.value(j == i);
          of         = {};
        });
    });
  }
};

/// The matrix of the norms of blocks, in temporary memory.
template <class Exec>
class NormsOfBlocks {
public:
  /// @param entries  stored entries of A
  NormsOfBlocks(const Exec &exec, const CsrNumbers &A, std::int64_t elements, std::int64_t entries, int block,
                bool negative)
      : begin_(exec, "ribbon::rounds", words(elements + 1))
  {
    const BlocksOfRow blocks{A, elements, block};
    const auto        each = [&](const auto &kernel) {
      detail::for_rows(exec, "ribbon::rounds", elements, entries / block, kernel);
    };
    each(CountBlocksKernel{blocks, begin_.data()});
    Kokkos::parallel_scan("ribbon::rounds", indices(exec, elements + 1),
                          detail::Positions{begin_.data(), elements}, entries_);
    exec.fence();
    column_ = {exec, "ribbon::rounds", words(entries_)};
    norm_   = {exec, "ribbon::rounds", words(entries_)};
    each(NormsOfBlocksKernel{blocks, negative, begin_.data(), column_.data(), norm_.data()});
    matrix_.row_begin = {begin_.data(), true};
    matrix_.column    = {column_.data(), false};
    matrix_.value     = detail::AnyNumbers(norm_.data());
  }
  const CsrNumbers &matrix() const { return matrix_; }
  std::int64_t      entries() const { return entries_; }

private:
  std::int64_t                  entries_ = 0;
  Temporary<std::int64_t, Exec> begin_;
  Temporary<std::int32_t, Exec> column_;
  Temporary<double, Exec>       norm_;
  CsrNumbers                    matrix_{CsrMatrix<double, std::int64_t>{}};
};

} // namespace ribbon::rounds
