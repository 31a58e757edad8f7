// SPDX-License-Identifier: BSD-2-Clause
/// @file partition.hpp  Few long lines: every line is divided into segments that are solved as a batch of
///   shorter lines.
///
/// A segment has R rows, the last K of which are separators. The remaining rows at the end of a line are
/// its tail. A is the interior of a segment, zl and zr are the separators left and right of it, V = A^-1
/// (couplings to zl) and W = A^-1 (couplings to zr):
///
///     1  y = A^-1 f for all segments, a batch of lines with K rows between them,
///     2  r = f_separators - Ls y_last - Us y_first(next) and the reduced system R z = r, a line of S x S
///        blocks, S = K B,
///     3  x = y - V zl - W zr, where V and W have not decayed below rounding.
///
/// Segments that one_pass supports are solved once, with known separators. r needs only y_first and y_last,
/// which are dot products with the first and the last rows of A^-1. Only x = A^-1 (f - couplings to zl and
/// zr) is written. This has three passes over memory instead of four.
///
/// If V and W decay within a segment, R is block diagonal, and z is r times small matrices
/// (truncated SPIKE). Then the other algorithms have one kernel for 2 and 3 at each boundary.
///
/// Launches of a solve; segments and tails one each, tails only if there are any:
///
///     joined      segments; with tails, dot products before and tails after them
///     near        segments, tails; in place one more launch before
///     known       dot products (unless they read few rows), right-hand side of the reduced system, that
///                 system unless separators do not couple, segments, tails
///     corrected   segments, tails, then right-hand side, reduced system and correction, or one kernel if
///                 separators do not couple
///
/// The same launches repeat for every right-hand side of a matrix. Segments and tails of lines at two
/// strides need one launch for each run of lines at one stride (joined: for each line). If the layouts of b
/// and x split the runs of the factored lines, every segment of these runs needs a launch.
///
/// Source: Mattor, Williams & Hewett, "Algorithm for solving tridiagonal matrix problems in parallel",
/// Parallel Computing 21, 1995; Polizzi & Sameh, SPIKE, 2006. LineSolver solves the segments and the
/// reduced system, so that a long reduced system is divided again.
#pragma once

#include <ribbon/algorithm/partition/partition_factors.hpp>

namespace ribbon {

template <class Scalar, class Exec>
class Partition : public PartitionFactors<Scalar, Exec> {
public:
  using Factors = PartitionFactors<Scalar, Exec>;
  using Memory  = typename Exec::memory_space;
  using Kernels = PartitionKernels<Scalar, Memory>;
  using typename Factors::Dots, typename Factors::Ends;
  using typename Kernels::CorrectKernel, typename Kernels::BoundaryKernel;
  using GatherKernel = typename PartitionRightHandSide<Scalar, Memory>::GatherKernel;
  using Factors::Factors;

  /// x = A^-1 b. Asynchronous on exec. In place if b == x and both layouts agree. Lines are solved in
  /// groups of the size that was factored.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const
  {
    const PartitionCut &cut = parts_.cut;
    for (std::int64_t first = 0; first < in.lines(); first += cut.lines) {
      const LineSet from = group_of_lines(cut, in, first), to = group_of_lines(cut, out, first);
      if (known_ && !joined_.empty()) {
        join(exec, b, from, x, to);
        continue;
      }
      if (known_ && !near_boundaries_.empty()) {
        const bool in_place = !lie_apart(b, from, x, to); // a launch for the separators first
        each(0, from, to, [&](const PartitionBatch &batch, const LineSet &f, const LineSet &t) {
          const auto        near = near_boundaries_.separators(z(0) + batch.line, in_place);
          KnownRows<Scalar> rows;
          rows.near = &near, rows.stored = cut.S();
          solver_[0].solve_lines(exec, batch.first(cut, 0), b, f, x, t, rows);
        });
        for (int k = in_place ? 0 : 1; k < 2; ++k) solve_known(exec, k, b, from, x, to);
        continue;
      }
      if (known_) {
        if (!dots_beside_separators()) {
          const Dots dots = dot_products(b, from);
          device::launch(exec, "ribbon::partition::dots", dots.league(), dots);
        }
        reduce(exec, b, y_.data(), from, to);
        for (int k = 0; k < 2; ++k) solve_known(exec, k, b, from, x, to);
        continue;
      }
      for (int k = 0; k < 2; ++k)
        each(k, from, to, [&](const PartitionBatch &batch, const LineSet &f, const LineSet &t) {
          solver_[k].solve_lines(exec, batch.first(cut, k), b, f, x, t, {});
        });
      if (near_.size()) {
        const BoundaryKernel boundary{parts_,
                                      near_.data(),
                                      b,
                                      x,
                                      from,
                                      to,
                                      static_cast<int>(left_rows_),
                                      static_cast<int>(right_rows_),
                                      parts_.A.shared ? 1 : cut.lines};
        device::launch(exec, "ribbon::partition::boundary", boundary.league(), boundary);
        continue;
      }
      reduce(exec, b, x, from, to);
      const CorrectKernel correct{parts_, z(0), x, to, left_rows_, right_rows_, corrected_rows_};
      device::launch(exec, "ribbon::partition::correct",
                     {correct.teams(), correct.threads(), CorrectKernel::max_threads}, correct);
    }
  }

private:
  using Factors::dot_products, Factors::dots_beside_separators;
  using Factors::parts_, Factors::solver_, Factors::reduced_, Factors::ends_, Factors::y_, Factors::z_,
    Factors::near_, Factors::splits_, Factors::joined_, Factors::near_boundaries_, Factors::left_rows_,
    Factors::right_rows_, Factors::corrected_rows_, Factors::end_rows_, Factors::known_;

  /// Calls f(batch, in, out) for the launches that solve a part of a group of lines, with the lines of
  /// each.
  template <class F>
  void each(int part, const LineSet &in, const LineSet &out, const F &f) const
  {
    if (part == 1 && parts_.cut.tail == 0) return;
    PartitionBatch::each(parts_.cut, part, known_ && !joined_.empty(), in, out,
                         [&](const PartitionBatch &batch) {
                           f(batch, batch.of(parts_.cut, in, part), batch.of(parts_.cut, out, part));
                         });
  }

  /// Solves a part with known separators.
  void solve_known(const Exec &exec, int part, const Scalar *b, const LineSet &from, Scalar *x,
                   const LineSet &to) const
  {
    each(part, from, to, [&](const PartitionBatch &batch, const LineSet &f, const LineSet &t) {
      solver_[part].solve_lines(exec, batch.first(parts_.cut, part), b, f, x, t, known(part, batch));
    });
  }

  /// Unknowns of separators p of all lines; p = -1 is left of the first segment.
  Scalar *z(std::int64_t p) const { return z_.data() + (2 + p) * parts_.cut.S() * parts_.cut.lines; }
  /// The separators of the segments (part 0) or tails (part 1) of a batch.
  KnownRows<Scalar> known(int part, const PartitionBatch &batch) const
  {
    const PartitionCut &cut = parts_.cut;
    KnownRows<Scalar>   rows;
    rows.values              = z(part == 1 ? cut.pieces : batch.piece) + batch.line,
    rows.stored              = part == 0 || cut.ring ? cut.S() : 0;
    const std::int64_t piece = cut.S() * cut.lines;
    if (part == 1 || cut.lines_fastest)
      rows.lines = {0, batch.lines, part == 1 ? 1 : batch.pieces, cut.lines, 1, piece, 0};
    else rows.lines = {0, cut.pieces, batch.lines, cut.lines, piece, 1, 0};
    return rows;
  }

  /// Segments compute their adjacent separators; tails are processed before and after them.
  void join(const Exec &exec, const Scalar *b, const LineSet &from, Scalar *x, const LineSet &to) const
  {
    const PartitionCut &cut = parts_.cut;
    if (cut.tail > 0) {
      const Dots dots = dot_products(b, from);
      device::launch(exec, "ribbon::partition::dots", dots.league(), dots);
    }
    each(0, from, to, [&](const PartitionBatch &batch, const LineSet &f, const LineSet &t) {
      JoinedPieces<Scalar> joined = joined_.pieces(batch.lines < cut.lines);
      joined.pieces = cut.pieces, joined.lines = cut.lines, joined.splits = splits_;
      if (cut.tail > 0) joined.tails = y_.data() + batch.line, joined.last = z(cut.pieces - 1) + batch.line;
      KnownRows<Scalar> rows;
      rows.joined = &joined;
      solver_[0].solve_lines(exec, batch.first(cut, 0), b, f, x, t, rows);
    });
    solve_known(exec, 1, b, from, x, to);
  }

  /// Computes z from the solution y of the segments or from the dot products.
  void reduce(const Exec &exec, const Scalar *b, const Scalar *y, const LineSet &from,
              const LineSet &to) const
  {
    const PartitionCut &cut  = parts_.cut;
    const Ends          none = {};
    const GatherKernel  gather{parts_,
                              {known_ ? ends_[0] : none, known_ ? ends_[1] : none},
                              b,
                              y,
                              near_.data(),
                              from,
                              to,
                              known_ && dots_beside_separators() ? static_cast<int>(end_rows_) : 0,
                              splits_,
                              parts_.A.shared ? 1 : cut.lines,
                              z(0)};
    device::launch(exec, "ribbon::partition::gather", gather.league(), gather);
    if (near_.size()) return;
    reduced_.solve(exec, z(0), z(0));
    const auto group = [&](std::int64_t p) {
      return Kokkos::View<Scalar *, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        z(p), static_cast<std::size_t>(cut.S() * cut.lines));
    };
    if (cut.ring) Kokkos::deep_copy(exec, group(-1), group(cut.separators() - 1));
  }
};

} // namespace ribbon
