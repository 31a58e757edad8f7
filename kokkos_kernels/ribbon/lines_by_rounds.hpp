// SPDX-License-Identifier: BSD-2-Clause
/// @file lines_by_rounds.hpp  Lines along the largest couplings of a sparse matrix, found in parallel in the
///   memory of the matrix.
#pragma once

#include <ribbon/lines_from_graph.hpp>

#include <memory>
#include <optional>

namespace ribbon {

/// LinesOfGraph in a memory space.
template <class MemorySpace>
struct LinesInMemory {
  Kokkos::View<std::int64_t *, MemorySpace> order; ///< rows, or blocks of rows, line after line
  Kokkos::View<std::int64_t *, MemorySpace> begin; ///< lines + 1 positions in order
  /// The memory of both, if the Views do not hold it. Kernels on the execution space instance of the search can use it
  /// until the last copy of this pointer is gone.
  std::shared_ptr<const void> memory = {};
  std::int64_t                lines() const { return static_cast<std::int64_t>(begin.extent(0)) - 1; }
};

/// PackedLines in a memory space.
template <class MemorySpace>
struct PackedLinesInMemory {
  std::int64_t                              rows = 0, pieces = 0;
  Kokkos::View<std::int64_t *, MemorySpace> row_at, line_at, position_of;
};

/// The lines of lines_from_graph(), by rounds of proposals instead of one coupling after another, as a linear
/// forest is extracted from a graph on GPUs (Klein & Strzodka, ICPP 2021). In a round every row proposes its
/// best couplings that may join its line, at most as many as it has free ends. A coupling that both of its
/// rows propose is accepted. Rounds end when none is accepted. Rings are then found by pointer jumping, and
/// are opened at their weakest coupling. Results do not depend on the number of threads.
///
/// Couplings, thresholds, ties, corners and rings are those of lines_from_graph(). Strong couplings that form
/// paths by themselves give the same lines. Elsewhere lines differ: rounds decide between couplings that tie
/// before lines of other rows have grown to their ends. docs/methods/lines.md compares both.
/// @param A  in the memory of exec
/// @return nothing if the matrix has another form: options.block > 8, 2^30 blocks or more, or a row whose
///   columns (options.block == 1) or blocks (options.block > 1) do not ascend
/// @throws std::invalid_argument as lines_from_graph()
template <class Scalar, class Index, class Exec>
std::optional<LinesInMemory<typename Exec::memory_space>>
lines_by_rounds(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinesOfGraphOptions &options = {});

/// Replaces each element e of the lines by rows e * block to (e + 1) * block - 1.
template <class Exec>
LinesInMemory<typename Exec::memory_space>
lines_of_rows(const Exec &exec, const LinesInMemory<typename Exec::memory_space> &lines, int block);

/// Copies lines to the host.
template <class Exec>
LinesOfGraph on_host(const Exec &exec, const LinesInMemory<typename Exec::memory_space> &lines);

/// pack() of lines in the memory of exec. The host reads only the lengths of lines.
/// @throws std::invalid_argument if a line is longer than rows
template <class Exec>
PackedLinesInMemory<typename Exec::memory_space>
pack(const Exec &exec, const LinesInMemory<typename Exec::memory_space> &lines, std::int64_t rows = 0);

} // namespace ribbon
