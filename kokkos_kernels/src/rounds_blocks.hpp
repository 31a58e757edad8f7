// SPDX-License-Identifier: BSD-2-Clause
/// @file rounds_blocks.hpp  The blocks of a matrix as the entries of a smaller matrix, for lines_by_rounds().
#pragma once

#include "rounds_couplings.hpp"

namespace ribbon::rounds {

constexpr int largest_block = 8; ///< of lines_by_rounds()

/// A Frobenius norm that does not overflow.
struct Norm {
  double                      largest = 0, sum = 0; ///< of squares, relative to the largest one
  KOKKOS_INLINE_FUNCTION void add(double size)
  {
    if (!(size > 0) || !is_finite(size)) return;
    const double smaller = size > largest ? largest / size : size / largest;
    if (size > largest) sum = 1 + sum * smaller * smaller, largest = size;
    else sum += smaller * smaller;
  }
  KOKKOS_INLINE_FUNCTION double value() const { return largest * square_root(sum); }
};

/// Visits the blocks of a row of blocks, whose rows it merges. If the columns of each row ascend, so do blocks.
struct BlocksOfRow {
  CsrNumbers   A;
  std::int64_t elements; ///< rows of blocks
  int          block;    ///< rows of a block

  /// Calls entry(a, e) for the entries e of rows a of a block, then end(column of the block).
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

struct CountBlocksKernel {
  BlocksOfRow          blocks;
  std::int64_t        *count;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    std::int64_t n = 0;
    blocks.each(
      i, [](int, std::int64_t) {}, [&n](std::int64_t) { ++n; });
    count[i] = n;
  }
};

/// The norm of every block. With CouplingStrength::negative it has the sign of the trace, for which every entry counts
/// relative to the sign of the diagonal entry of its row; the norm of a diagonal block is positive.
struct NormsOfBlocksKernel {
  BlocksOfRow         blocks;
  bool                negative;
  const std::int64_t *begin;
  std::int32_t       *column;
  double             *norm;

  using Complex = detail::AnyNumbers::Complex;
  /// Re(a_rc conj(a_rr) / |a_rr|)
  KOKKOS_INLINE_FUNCTION double part(std::int64_t r, std::int64_t e) const
  {
    const CsrNumbers  &A    = blocks.A;
    const std::int64_t d    = find(A.row_begin, A.column, r, r);
    const double       s    = d < 0 ? 0 : A.value.size(d);
    const Complex      sign = s > 0 && is_finite(s) ? A.value[d] / s : Complex(1, 0), a = A.value[e];
    return a.real() * sign.real() + a.imag() * sign.imag();
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    std::int64_t at    = begin[i];
    Norm         of    = {};
    double       trace = 0;
    blocks.each(
      i,
      [&](int a, std::int64_t e) {
        const std::int64_t r = i * blocks.block + a;
        of.add(blocks.A.value.size(e));
        if (negative && (blocks.A.column[e] - r) % blocks.block == 0) trace += part(r, e);
      },
      [&](std::int64_t j) {
        column[at] = static_cast<std::int32_t>(j);
        norm[at++] = trace < 0 && j != i ? -of.value() : of.value();
        of = {}, trace = 0;
      });
  }
};

/// The matrix of the norms of blocks, in temporary memory.
template <class Exec>
class NormsOfBlocks {
public:
  NormsOfBlocks(const Exec &exec, const CsrNumbers &A, std::int64_t elements, int block, bool negative)
      : begin_(exec, "ribbon::rounds", words(elements + 1))
  {
    const BlocksOfRow blocks{A, elements, block};
    Kokkos::parallel_for("ribbon::rounds", indices(exec, elements), CountBlocksKernel{blocks, begin_.data()});
    Kokkos::parallel_scan("ribbon::rounds", indices(exec, elements + 1),
                          detail::Positions{begin_.data(), elements}, entries_);
    exec.fence();
    column_ = {exec, "ribbon::rounds", words(entries_)};
    norm_   = {exec, "ribbon::rounds", words(entries_)};
    Kokkos::parallel_for("ribbon::rounds", indices(exec, elements),
                         NormsOfBlocksKernel{blocks, negative, begin_.data(), column_.data(), norm_.data()});
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
