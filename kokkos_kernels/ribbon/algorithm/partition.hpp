// SPDX-License-Identifier: BSD-2-Clause
/// @file partition.hpp  Few long lines: every line is cut into pieces that are solved as a batch of their own.
///
/// A piece is R rows, the last K of which are separators; what is left at the end of a line is its tail. With the interior A of a piece, zl
/// and zr the separators left and right of it, and V = A^-1 (couplings to zl), W = A^-1 (couplings to zr),
///
///     1  y = A^-1 f for all pieces, a batch of lines with K-th neighbours apart,
///     2  r = f_separators - Ls y_last - Us y_first(next)      and the reduced system R z = r, a line of S x S blocks, S = K B,
///     3  x = y - V zl - W zr, where V and W have not decayed below rounding.
///
/// Where they have decayed over a piece, R is block diagonal, and one kernel does 2 and 3 for each boundary of two pieces (truncated SPIKE).
///
/// (Mattor, Williams & Hewett, "Algorithm for solving tridiagonal matrix problems in parallel", Parallel Computing 21, 1995; Polizzi &
/// Sameh, SPIKE, 2006.) The pieces and the reduced system are solved by LineSolver, so that a reduced system that is long is cut again.
#pragma once

#include <ribbon/algorithm/partition_kernels.hpp>
#include <ribbon/line_solver.hpp>
#include <ribbon/lines_from_csr.hpp>

#include <algorithm>
#include <vector>

namespace ribbon {

template <class Scalar, class Exec>
class Partition : PartitionKernels<Scalar, typename Exec::memory_space> {
public:
  using Memory  = typename Exec::memory_space;
  using Input   = Bands<Scalar, Memory>;
  using Kernels = PartitionKernels<Scalar, Memory>;
  using typename Kernels::AssembleKernel, typename Kernels::GatherKernel, typename Kernels::CorrectKernel, typename Kernels::BoundaryKernel;
  using typename Kernels::Spikes, typename Kernels::Parts, typename Kernels::CutKernel, typename Kernels::CouplingKernel, typename Kernels::ReachKernel, typename Kernels::LargestKernel;
  using Index = Kokkos::IndexType<std::int64_t>;

  static constexpr std::int64_t long_piece = 512; ///< longer ones are cut so that kernels like their interiors

  /// Cut for these lines, with pieces == 0 where there is nothing to cut. `piece`: rows of a piece, at least 3 K.
  static PartitionCut cut(const LineSet &lines, const Input &bands, std::int64_t piece)
  {
    PartitionCut c;
    c.rows = lines.rows, c.lines = lines.lines(), c.K = std::max(1, bands.half_bandwidth()), c.B = bands.block, c.ring = bands.periodic;
    c.lines_fastest = !lines.is_contiguous();
    if (lines.count1 != 1 || lines.rows < 2 * piece) return c;
    if (piece > long_piece) { // interiors of whole chunks, which the copy engine takes where lines are contiguous
      if (lines.is_contiguous() && bands.lhs == Lhs::shared && c.B == 1 && sizeof(Scalar) == 8) c.K += c.K % 2;
      piece += c.K - piece % 32;
      if (2 * piece > lines.rows) piece -= 32;
    }
    for (c.piece = piece; c.piece >= 3 * c.K; c.piece -= c.piece > long_piece ? 32 : 1) { // a tail is either nothing or long enough for its couplings
      c.tail = c.rows % c.piece;
      if (c.tail == 0 || c.tail >= (c.ring ? 2 : 1) * c.K) break;
    }
    c.pieces = c.piece >= 3 * c.K ? c.rows / c.piece : 0;
    return c;
  }

  /// Factors. `failure` tells where the pieces, the tails or the reduced system could not be factored.
  Partition(const Exec &exec, const LineSet &lines, const Input &bands, const PartitionCut &cut, std::string &failure) : lines_(lines)
  {
    const bool shared = bands.lhs == Lhs::shared;
    parts_.cut        = cut;
    parts_.A          = {BandEntries<Scalar, Memory>(copy(exec, bands)), shared}; // every solve reads the rows of the separators
    for (int k = 0; k < (cut.tail > 0 ? 2 : 1); ++k) {
      const bool         tails = k == 1;
      const std::int64_t rows = cut.interior(tails ? cut.pieces : 0), count = cut.lines * (tails ? 1 : cut.pieces), matrices = shared ? count / cut.lines : count;
      Input              part = bands;
      part.periodic = false, part.lhs = Lhs::per_line;
      part.values = allocate<typename Input::values_type>(exec, "ribbon::partition::bands", static_cast<std::size_t>(matrices), static_cast<std::size_t>(rows), bands.values.extent(2));
      Kokkos::parallel_for("ribbon::partition::cut", policy(exec, matrices * rows), CutKernel{parts_.A, cut, part.values, rows, tails, shared});
      share<Scalar>(exec, part, 64);
      if (shared && cut.lines > 1) spread(exec, part, count);
      const LineSet set = lines_of(lines, k);
      solver_[k]        = LineSolver<Scalar, Exec>(exec, set, part);
      if (!solver_[k].report().ok()) {
        failure = tails ? "a tail is singular" : "a piece is singular";
        return;
      }
      spikes(exec, k, part, rows);
    }
    const std::int64_t separators = cut.separators(), reduced_matrices = shared ? 1 : cut.lines;
    const auto         S = static_cast<std::size_t>(cut.S());
    Input              reduced;
    reduced.lhs = shared ? Lhs::shared : Lhs::per_line, reduced.periodic = cut.ring, reduced.lower = reduced.upper = 1, reduced.block = cut.S();
    reduced.values          = allocate<typename Input::values_type>(exec, "ribbon::partition::reduced", static_cast<std::size_t>(reduced_matrices), static_cast<std::size_t>(separators), 3 * S * S);
    real_t<Scalar> coupling = 0;
    if (cut.B == 1 && cut.S() <= Kernels::most_near) near_ = allocate<decltype(near_)>(exec, "ribbon::partition::near", static_cast<std::size_t>(reduced_matrices * separators) * 3 * S * S);
    Kokkos::parallel_reduce("ribbon::partition::assemble", policy(exec, reduced_matrices * separators), AssembleKernel{parts_, reduced.values, near_}, Kokkos::Max<real_t<Scalar>>(coupling));
    corrected_rows_             = std::min(left_rows_ + right_rows_ + cut.K, cut.piece);
    const std::int64_t shortest = cut.interior(cut.ring && cut.tail > 0 ? cut.pieces : 0);
    if (near_.size() && coupling <= unit_roundoff<Scalar>() / 32 && left_rows_ + right_rows_ + 2 * cut.K <= std::min(shortest, cut.interior(0))) return;
    near_ = {};
    // unknown a of separators p of line l at (p S + a) lines + l
    LineSet line{separators, cut.lines, 1, static_cast<std::int64_t>(S) * cut.lines, 1, 0, 0};
    line.components = cut.S(), line.component_stride = cut.lines;
    reduced_ = LineSolver<Scalar, Exec>(exec, line, reduced);
    if (!reduced_.report().ok()) failure = "the reduced system is singular";
    z_ = allocate<decltype(z_)>(exec, "ribbon::partition::z", static_cast<std::size_t>(line.unknowns()));
  }

  std::size_t bytes() const
  {
    std::size_t all = solver_[0].report().bytes + (near_.size() ? 0 : reduced_.report().bytes) +
                      (parts_.spikes[0].words.size() + parts_.spikes[1].words.size() + parts_.A.of_class.values.size() + near_.size() + z_.size()) * sizeof(Scalar);
    if (parts_.cut.tail > 0) all += solver_[1].report().bytes;
    return all;
  }
  /// Of the pieces and of the reduced system.
  double              smallest_pivot() const { return near_.size() ? solver_[0].report().smallest_pivot : std::min(solver_[0].report().smallest_pivot, reduced_.report().smallest_pivot); }
  const PartitionCut &cut() const { return parts_.cut; }
  /// Rows of a piece that are corrected, of all its rows.
  std::int64_t corrected_rows() const { return corrected_rows_; }
  std::string  pieces_by() const { return solver_[0].report().algorithm; }

  /// x = A^-1 b. Asynchronous on exec; in place where b == x and both layouts agree. Lines in groups of as many as were factored.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const
  {
    const PartitionCut &cut = parts_.cut;
    for (std::int64_t first = 0; first < in.lines(); first += cut.lines) {
      const LineSet from = slice(in, first), to = slice(out, first);
      for (int k = 0; k < (cut.tail > 0 ? 2 : 1); ++k) solver_[k].solve(exec, b, lines_of(from, k), x, lines_of(to, k));
      if (near_.size()) {
        const BoundaryKernel boundary{parts_, near_.data(), b, x, from, to, static_cast<int>(left_rows_), static_cast<int>(right_rows_), parts_.A.shared ? 1 : cut.lines};
        device::launch(exec, "ribbon::partition::boundary", boundary.league(), boundary);
        continue;
      }
      // without the hint Kokkos sends so large a functor through a staging copy and waits
      Kokkos::parallel_for("ribbon::partition::gather", Kokkos::Experimental::require(policy(exec, cut.separators() * cut.S() * cut.lines), Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                           GatherKernel{parts_, b, x, from, to, z_.data()});
      reduced_.solve(exec, z_.data(), z_.data());
      const CorrectKernel correct{parts_, z_.data(), x, to, left_rows_, right_rows_, corrected_rows_};
      device::launch(exec, "ribbon::partition::correct", {correct.teams(), correct.threads(), CorrectKernel::max_threads}, correct);
    }
  }

private:
  static Kokkos::RangePolicy<Exec, Index> policy(const Exec &exec, std::int64_t n) { return Kokkos::RangePolicy<Exec, Index>(exec, 0, n); }

  /// Lines [first, first + lines) of a batch.
  LineSet slice(const LineSet &set, std::int64_t first) const
  {
    LineSet s = set;
    s.offset = set.begin(first), s.count0 = parts_.cut.lines, s.count1 = 1;
    const bool affine = set.count1 == 1 || set.begin(first + s.count0 - 1) == s.offset + (s.count0 - 1) * set.stride0;
    if (!affine) throw std::invalid_argument("ribbon: algorithm partition: the right-hand sides of a group of lines do not lie at one stride");
    return s;
  }

  /// The interiors of all pieces (part 0) or tails (part 1) of a batch as lines.
  LineSet lines_of(const LineSet &set, int part) const
  {
    const PartitionCut &cut = parts_.cut;
    LineSet             s   = set;
    s.rows                  = cut.interior(part == 1 ? cut.pieces : 0);
    if (part == 1) s.offset += cut.pieces * cut.piece * set.row_stride;
    else if (cut.lines_fastest) s.count1 = cut.pieces, s.stride1 = cut.piece * set.row_stride;
    else s.count0 = cut.pieces, s.stride0 = cut.piece * set.row_stride, s.count1 = cut.lines, s.stride1 = set.stride0;
    return s;
  }

  /// Matrices that are numbered by piece, for the pieces of all lines.
  void spread(const Exec &exec, Input &part, std::int64_t count) const
  {
    if (part.lhs == Lhs::shared) return;
    const auto classes = allocate<Kokkos::View<int *, Memory>>(exec, "ribbon::partition::classes", static_cast<std::size_t>(count));
    Kokkos::parallel_for("ribbon::partition::classes", policy(exec, count), PartitionSpreadKernel<Memory>{part.class_of_line, classes, parts_.cut, static_cast<std::int64_t>(part.values.extent(0))});
    part.class_of_line = classes, part.lhs = Lhs::classes;
  }

  void spikes(const Exec &exec, int k, const Input &part, std::int64_t rows)
  {
    const PartitionCut &cut = parts_.cut;
    Spikes             &s   = parts_.spikes[k];
    s.matrices = static_cast<std::int64_t>(part.values.extent(0)), s.columns = 2 * cut.S();
    if (part.lhs == Lhs::classes) s.matrix_of = part.class_of_line;
    s.words = allocate<decltype(s.words)>(exec, "ribbon::partition::spikes", static_cast<std::size_t>(rows * cut.B * s.columns * s.matrices));
    Kokkos::parallel_for("ribbon::partition::couplings", policy(exec, static_cast<std::int64_t>(s.words.size())), CouplingKernel{part.values, part.kl(), part.ku(), cut.K, cut.B, rows, s});
    LineSet all{rows, s.matrices * s.columns, 1, cut.B * s.columns * s.matrices, 1, 0, 0};
    all.components = cut.B, all.component_stride = s.columns * s.matrices;
    if (part.lhs == Lhs::per_line) solver_[k].solve(exec, s.words.data(), all, s.words.data(), all);
    else { // every matrix as the line of its own number
      Input one         = part;
      one.lhs           = Lhs::per_line;
      one.class_of_line = {};
      LineSet lines     = all;
      lines.count0      = s.matrices;
      LineSolver<Scalar, Exec>(exec, lines, one).solve(exec, s.words.data(), all, s.words.data(), all);
    }
    real_t<Scalar> largest = 0;
    Kokkos::parallel_reduce("ribbon::partition::largest", policy(exec, static_cast<std::int64_t>(s.words.size())), LargestKernel{s}, Kokkos::Max<real_t<Scalar>>(largest));
    for (bool right : {false, true}) {
      std::int64_t reach = 0;
      Kokkos::parallel_reduce("ribbon::partition::reach", policy(exec, static_cast<std::int64_t>(s.words.size())), ReachKernel{s, cut.B, cut.S(), rows, right, largest * unit_roundoff<Scalar>() / 32},
                              Kokkos::Max<std::int64_t>(reach));
      (right ? right_rows_ : left_rows_) = std::max(right ? right_rows_ : left_rows_, reach);
    }
  }

  LineSet                        lines_;
  Parts                          parts_;
  LineSolver<Scalar, Exec>       solver_[2], reduced_;
  Kokkos::View<Scalar *, Memory> z_, near_; ///< near_: rows of the boundaries, where separators do not couple
  std::int64_t                   left_rows_ = 0, right_rows_ = 0, corrected_rows_ = 0;
};

} // namespace ribbon
