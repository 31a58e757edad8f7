// SPDX-License-Identifier: BSD-2-Clause
/// @file chunk_rows.hpp  Rows of matrices that kernels multiply by, joined to the factors of the chunks of A.
#pragma once

#include "host_matrices.hpp"

#include <ribbon/algorithm/one_pass/shape.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

namespace ribbon::detail {

/// A run of chunks whose rows are all equal.
template <class Row>
struct RegularRun {
  int begin = 0, end = 0;
  Row row; ///< zeros if there is no such run
};

/// The rows of every chunk of every class.
/// @tparam Row  coefficients c[] of one row (ProductRows, StepRows)
template <class Row>
class ChunkRows {
  using Scalar = std::remove_extent_t<decltype(Row::c)>;

public:
  ChunkRows(const OnePassShape &shape, std::size_t classes)
      : split_(shape.split), slots_(shape.slots), classes_(classes),
        rows_(classes * static_cast<std::size_t>(split_.chunks * slots_))
  {
  }

  /// Writes the rows of B, with half-bandwidth up to W, from place `at` of c[] on. Rows of empty slots stay
  /// zero.
  template <int W>
  void fill(const std::vector<HostMatrix<Scalar>> &B, int at = 0)
  {
    for (std::size_t m = 0; m < classes_; ++m)
      for (int c = 0; c < split_.chunks; ++c) fill<W>(first(m, c), B[std::min(m, B.size() - 1)], c, at);
  }

  /// The longest run among the chunks [begin, end) of the first class.
  RegularRun<Row> regular(int begin, int end) const
  {
    RegularRun<Row> longest;
    const auto      same = [&](int c, const Row &row) {
      return std::all_of(first(0, c), first(0, c) + slots_,
                              [&](const Row &r) { return std::memcmp(r.c, row.c, sizeof row.c) == 0; });
    };
    for (int c = begin; c < end;) {
      const Row &row = *first(0, c);
      int        d   = c;
      while (d < end && same(d, row)) ++d;
      if (d - c > longest.end - longest.begin) longest = {c, d, row};
      c = std::max(d, c + 1);
    }
    return longest;
  }

  /// A Block for every chunk: these rows, and the factors of A.
  /// @tparam Block  ProductBlock
  /// @param factors  view of words: ChunkBlock (class, chunk)
  template <class Block, class Words>
  std::vector<Scalar> join(const Words &factors) const
  {
    const auto          from   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), factors);
    const auto         *chunks = reinterpret_cast<const typename Block::Chunk *>(from.data());
    const auto          slots = static_cast<std::size_t>(slots_), count = rows_.size() / slots;
    std::vector<Scalar> words(count * sizeof(Block) / sizeof(Scalar));
    auto               *blocks = reinterpret_cast<Block *>(words.data());
    for (std::size_t c = 0; c < count; ++c) {
      auto &forward = blocks[c].forward;
      std::memcpy(static_cast<void *>(&forward), &chunks[c].forward, sizeof chunks[c].forward);
      std::memcpy(static_cast<void *>(&blocks[c].backward), &chunks[c].backward, sizeof chunks[c].backward);
      std::memcpy(static_cast<void *>(forward.product), rows_.data() + c * slots, slots * sizeof(Row));
    }
    return words;
  }

private:
  std::size_t place(std::size_t m, int chunk) const
  {
    return (m * static_cast<std::size_t>(split_.chunks) + static_cast<std::size_t>(chunk)) *
           static_cast<std::size_t>(slots_);
  }
  Row       *first(std::size_t m, int chunk) { return rows_.data() + place(m, chunk); }
  const Row *first(std::size_t m, int chunk) const { return rows_.data() + place(m, chunk); }

  /// Entries outside of B are multiplied by zeros: they are those of the nearest row that has them, so that
  /// the rows of a stencil are equal.
  template <int W>
  void fill(Row *rows, const HostMatrix<Scalar> &B, int chunk, int at) const
  {
    const int pad = slots_ - split_.size(chunk), last = B.rows - 1;
    for (int k = pad; k < slots_; ++k)
      for (int d = -W; d <= W; ++d) {
        int i = split_.begin(chunk) + k - pad;
        if (!B.periodic) i = std::max(std::min(i, last - std::max(d, 0)), std::max(-d, 0));
        rows[k].c[at + d + W] = i <= last ? narrow<Scalar>(B(i, d)) : Scalar(0);
      }
  }

  ChunkSplit       split_;
  int              slots_;
  std::size_t      classes_;
  std::vector<Row> rows_;
};

} // namespace ribbon::detail
