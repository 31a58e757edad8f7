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

#include <ribbon/algorithm/partition/joined_boundaries.hpp>
#include <ribbon/algorithm/partition/known_separators.hpp>
#include <ribbon/algorithm/partition/near_boundaries.hpp>
#include <ribbon/algorithm/partition/right_hand_side.hpp>
#include <ribbon/line_solver.hpp>
#include <ribbon/lines_from_csr.hpp>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace ribbon {

template <class Scalar, class Exec>
class Partition : PartitionKernels<Scalar, typename Exec::memory_space> {
public:
  using Memory  = typename Exec::memory_space;
  using Input   = Bands<Scalar, Memory>;
  using Kernels = PartitionKernels<Scalar, Memory>;
  using typename Kernels::AssembleKernel, typename Kernels::CorrectKernel, typename Kernels::BoundaryKernel;
  using typename Kernels::Spikes, typename Kernels::Parts, typename Kernels::CutKernel,
    typename Kernels::CouplingKernel, typename Kernels::ReachKernel;
  using GatherKernel = typename PartitionRightHandSide<Scalar, Memory>::GatherKernel;
  using Dots         = DotKernel<Scalar, Memory, Parts>;
  using Ends         = InverseEnds<Scalar, Memory>;
  using Index        = Kokkos::IndexType<std::int64_t>;

  /// measured on an H200: the reduced systems of longer pentadiagonal segments take too long if they are
  /// joined
  static constexpr std::int64_t long_joined = 1280;

  /// Factors. `failure` says where the segments, the tails or the reduced system could not be factored.
  /// @param known  segments are solved with known separators, if possible
  Partition(const Exec &exec, const LineSet &of, const Input &bands, const PartitionCut &cut, bool known,
            std::string &failure)
      : known_(known)
  {
    const LineSet lines   = of.merged();
    const bool    shared  = bands.lhs == Lhs::shared;
    found_.smallest_pivot = 1e300;
    parts_.cut            = cut;
    // every solve reads the rows of the separators
    parts_.A = {BandEntries<Scalar, Memory>(copy(exec, bands)), shared};
    for (int k = 0; k < (cut.tail > 0 ? 2 : 1); ++k) {
      const bool         tails = k == 1;
      const EqualPieces  equal(cut, bands, shared && !tails);
      const std::int64_t rows     = cut.interior(tails ? cut.pieces : 0),
                         count    = cut.lines * (tails ? 1 : cut.pieces),
                         matrices = (shared ? count / cut.lines : count) - (equal.count - 1);
      Input part                  = bands;
      part.periodic = false, part.lhs = Lhs::per_line, part.repeats = 1;
      part.values = allocate<typename Input::values_type>(
        exec, "ribbon::partition::bands", static_cast<std::size_t>(matrices), static_cast<std::size_t>(rows),
        bands.values.extent(2));
      Kokkos::parallel_for("ribbon::partition::cut", policy(exec, matrices * rows),
                           CutKernel{parts_.A, cut, part.values, rows, tails, shared, {}, equal});
      share<Scalar>(exec, part, 64);
      if (shared && (cut.lines > 1 || equal.count > 1))
        spread_over_pieces<Scalar>(exec, part, count, cut, equal);
      // only layout and coefficients; the place of segments is an argument of the solve
      PartitionBatch like = PartitionBatch::all(cut);
      if (cut.run > 0 && !tails) like.lines = cut.run, like.pieces *= cut.lines / cut.run;
      factor(exec, k, like.of(cut, lines, k), part);
      find(solver_[k].report(),
           [&](std::int64_t line, std::int64_t row) { return place_of(part, k, line, row); });
      if (shared && !solver_[k].report().ok()) { // otherwise the other lines are solved
        failure = tails ? "a tail is singular" : "a segment is singular";
        return;
      }
      spikes(exec, k, part, rows);
      if (known_) end_rows_ = std::max(end_rows_, inverse_ends(exec, part, ends_[k]).most());
    }
    const std::int64_t separators = cut.separators(), reduced_matrices = shared ? 1 : cut.lines;
    const auto         S = static_cast<std::size_t>(cut.S());
    Input              reduced;
    reduced.lhs = shared ? Lhs::shared : Lhs::per_line, reduced.periodic = cut.ring,
    reduced.lower = reduced.upper = 1, reduced.block = cut.S();
    reduced.values          = allocate<typename Input::values_type>(exec, "ribbon::partition::reduced",
                                                           static_cast<std::size_t>(reduced_matrices),
                                                           static_cast<std::size_t>(separators), 3 * S * S);
    real_t<Scalar> coupling = 0;
    if (cut.B == 1 && cut.S() <= Kernels::most_near)
      near_ = allocate<decltype(near_)>(exec, "ribbon::partition::near",
                                        static_cast<std::size_t>(reduced_matrices * separators) * 3 * S * S);
    const bool joined = std::is_same_v<Scalar, double> && known_ && shared && !cut.ring &&
                        !cut.lines_fastest && solver_[0].joins();
    Kokkos::View<Scalar *, Memory> couplings;
    if (joined)
      couplings = allocate<decltype(couplings)>(exec, "ribbon::partition::couplings",
                                                static_cast<std::size_t>(separators) * 2 * S * S);
    Kokkos::parallel_reduce("ribbon::partition::assemble", policy(exec, reduced_matrices * separators),
                            AssembleKernel{parts_, reduced.values, near_, couplings},
                            Kokkos::Max<real_t<Scalar>>(coupling));
    corrected_rows_             = std::min(left_rows_ + right_rows_ + cut.K, cut.piece);
    const std::int64_t shortest = cut.interior(cut.ring && cut.tail > 0 ? cut.pieces : 0);
    // two more groups on either side: zeros beyond the ends of a line, and the separators left of the first
    // segment of a ring
    z_words_ = static_cast<std::size_t>((separators + 4) * cut.S() * cut.lines),
    z_       = Kokkos::View<Scalar *, Memory>("ribbon::partition::z", z_words_);
    if (coupling > unit_roundoff<Scalar>() / 32 ||
        left_rows_ + right_rows_ + 2 * cut.K > std::min(shortest, cut.interior(0)))
      near_ = {};
    if (near_.size() == 0) {
      // unknown a of separators p of line l at (p S + a) lines + l
      LineSet line{separators, cut.lines, 1, static_cast<std::int64_t>(S) * cut.lines, 1, 0, 0};
      line.components = cut.S(), line.component_stride = cut.lines;
      reduced_ = LineSolver<Scalar, Exec>(exec, line, reduced);
      find(reduced_.report(), [&](std::int64_t l, std::int64_t p) {
        return std::pair{l, p < 0 ? p : cut.begin(p) + cut.interior(p)};
      });
      if (shared && !reduced_.report().ok()) failure = "the reduced system is singular";
    }
    if constexpr (std::is_same_v<Scalar, double>)
      if (joined && !dots_beside_separators() &&
          (bands.half_bandwidth() <= 1 || cut.interior(0) <= long_joined))
        joined_ = JoinedBoundaries<Scalar, Memory>(exec, reduced.values, couplings, cut.S(), ends_[0].width,
                                                   cut.parts() * cut.lines, cut.lines);
    if (joined && dots_beside_separators() && 2 * end_rows_ <= cut.interior(0))
      near_boundaries_ = NearBoundaries<Scalar, Memory>(exec, near_, ends_, cut, static_cast<int>(end_rows_));
    if (!known_ || (joined_.empty() ? dots_beside_separators() : cut.tail == 0)) return;
    const Dots dots = dot_products(nullptr, lines);
    splits_         = Dots::most_splits(dots, device::multiprocessors(exec));
    y_              = allocate<decltype(y_)>(
      exec, "ribbon::partition::y",
      static_cast<std::size_t>(splits_ * dots.parts.cut.parts() * 2 * ends_[0].width * cut.lines));
  }

  std::size_t bytes() const
  {
    std::size_t all =
      solver_[0].report().bytes + (near_.size() ? 0 : reduced_.report().bytes) +
      (parts_.spikes[0].words.size() + parts_.spikes[1].words.size() + parts_.A.of_class.values.size() +
       ends_[0].words.size() + ends_[1].words.size() + near_.size() + z_.size() + y_.size()) *
        sizeof(Scalar);
    if (parts_.cut.tail > 0) all += solver_[1].report().bytes;
    all += joined_.bytes() + near_boundaries_.bytes();
    return all;
  }
  /// Result for the segments and the reduced system: the smallest pivot, or the failure of the first
  /// segment, tail or reduced system that cannot be factored, and its place in the lines. The other lines
  /// are solved.
  const FactorReport &found() const { return found_; }
  const PartitionCut &cut() const { return parts_.cut; }
  /// Rows of a segment that are corrected, out of all its rows.
  std::int64_t corrected_rows() const { return corrected_rows_; }
  std::string  pieces_by() const { return solver_[0].report().algorithm; }
  /// Whether segments are solved with known separators. correct_pieces() selects the correction of a
  /// solution without neighbours instead.
  bool with_known_separators() const { return known_; }
  void correct_pieces() { known_ = false, joined_ = {}, near_boundaries_ = {}; }

  /// Allocates separate workspace, for solves that need not be ordered with those of a copy of this object.
  void separate(const Exec &exec)
  {
    z_ = Kokkos::View<Scalar *, Memory>("ribbon::partition::z", z_words_);
    if (y_.size()) y_ = allocate<decltype(y_)>(exec, "ribbon::partition::y", y_.size());
    reduced_ = reduced_.independent(exec);
    joined_.separate(exec, parts_.cut.lines);
  }

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
  static Kokkos::RangePolicy<Exec, Index> policy(const Exec &exec, std::int64_t n)
  {
    return Kokkos::RangePolicy<Exec, Index>(exec, 0, n);
  }

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
  /// log2 of the neighbouring lines in a group of the dot products.
  int lane_bits() const
  {
    int bits = 0;
    while (parts_.cut.lines_fastest && bits < 5 && (1 << bits) < parts_.cut.lines) ++bits;
    return bits;
  }
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

  /// Whether the ends of the segments have only a few rows, which the kernel of the separators reads
  /// itself.
  bool dots_beside_separators() const { return near_.size() > 0 && end_rows_ <= 128; }
  /// Of all parts, or, if segments are joined, only of the tails.
  Dots dot_products(const Scalar *b, const LineSet &in) const
  {
    const int reach = static_cast<int>(end_rows_);
    Dots dots{parts_,         {ends_[0], ends_[1]}, b,      y_.data(), in, parts_.cut.piece * in.row_stride,
              {reach, reach}, lane_bits(),          splits_};
    if (!joined_.empty()) dots.in.offset += parts_.cut.pieces * dots.part_stride, dots.parts.cut.pieces = 0;
    return dots;
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

  /// Segments of shared matrices use one_pass with known separators, if it has a kernel. Segments are not
  /// divided again.
  void factor(const Exec &exec, int k, const LineSet &set, const Input &part)
  {
    known_ = known_ && continue_lines(exec, set, part, {}, solver_[k]);
    if (known_) return;
    LineSolverOptions whole;
    whole.whole_lines = true;
    solver_[k]        = LineSolver<Scalar, Exec>(exec, set, part, whole);
  }

  /// Reads the report of a part; place(line, row) converts to the lines.
  template <class Place>
  void find(const FactorReport &report, const Place &place)
  {
    if (!found_.ok() || (report.ok() && !(report.smallest_pivot < found_.smallest_pivot))) return;
    found_.status = report.status, found_.smallest_pivot = report.smallest_pivot,
    found_.probe_error = report.probe_error, found_.rcond = report.rcond;
    std::tie(found_.line, found_.row) = place(report.line, report.row);
  }

  /// Line and row for a row of part k, of a line of its batch or of a class.
  std::pair<std::int64_t, std::int64_t> place_of(const Input &part, int k, std::int64_t place,
                                                 std::int64_t row) const
  {
    const PartitionCut &cut = parts_.cut;
    if (part.lhs == Lhs::classes && place >= 0) {
      const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part.class_of_line);
      place =
        std::find(classes.data(), classes.data() + classes.size(), static_cast<int>(place)) - classes.data();
    }
    if (place < 0) return {place, -1};
    const std::int64_t q = k == 1 ? cut.pieces : cut.piece_of(place);
    return {parts_.A.shared ? 0 : k == 1 ? place : cut.line(place), row < 0 ? row : cut.begin(q) + row};
  }

  void spikes(const Exec &exec, int k, const Input &part, std::int64_t rows)
  {
    const PartitionCut &cut = parts_.cut;
    Spikes             &s   = parts_.spikes[k];
    s.matrices = static_cast<std::int64_t>(part.values.extent(0)), s.columns = 2 * cut.S();
    if (part.lhs == Lhs::classes) s.matrix_of = part.class_of_line;
    s.words = allocate<decltype(s.words)>(exec, "ribbon::partition::spikes",
                                          static_cast<std::size_t>(rows * cut.B * s.columns * s.matrices));
    Kokkos::parallel_for("ribbon::partition::couplings",
                         policy(exec, static_cast<std::int64_t>(s.words.size())),
                         CouplingKernel{part.values, part.kl(), part.ku(), cut.K, cut.B, rows, s});
    LineSet all{rows, s.matrices * s.columns, 1, cut.B * s.columns * s.matrices, 1, 0, 0};
    all.components = cut.B, all.component_stride = s.columns * s.matrices;
    if (part.lhs == Lhs::per_line) solver_[k].solve(exec, s.words.data(), all, s.words.data(), all);
    else { // every matrix as one line
      Input one         = part;
      one.lhs           = Lhs::per_line;
      one.class_of_line = {};
      LineSet lines     = all;
      lines.count0      = s.matrices;
      LineSolver<Scalar, Exec>(exec, lines, one).solve(exec, s.words.data(), all, s.words.data(), all);
    }
    // for every matrix separately, because the spikes of a bad line may be larger than all others
    const auto largest = allocate_zeros<Kokkos::View<double *, Memory>>(
      exec, "ribbon::partition::largest", parts_.A.shared ? 1 : static_cast<std::size_t>(s.matrices));
    const double tolerance = static_cast<double>(unit_roundoff<Scalar>()) / 32;
    const auto   reach     = [&](bool size, bool right) {
      std::int64_t found = 0;
      Kokkos::parallel_reduce("ribbon::partition::reach",
                                    policy(exec, static_cast<std::int64_t>(s.words.size())),
                                    ReachKernel{s, cut.B, cut.S(), rows, tolerance, largest, size, right},
                                    Kokkos::Max<std::int64_t>(found));
      return found;
    };
    reach(true, false);
    left_rows_  = std::max(left_rows_, reach(false, false));
    right_rows_ = std::max(right_rows_, reach(false, true));
  }

  Parts                    parts_;
  LineSolver<Scalar, Exec> solver_[2], reduced_;
  Ends                     ends_[2];
  /// near_: rows of the boundaries, if separators do not couple
  Kokkos::View<Scalar *, Memory> y_, z_, near_;
  /// runs of rows of a part in its dot products
  int                              splits_ = 1;
  JoinedBoundaries<Scalar, Memory> joined_;
  std::size_t                      z_words_ = 0;
  FactorReport                     found_;
  NearBoundaries<Scalar, Memory>   near_boundaries_;
  std::int64_t                     left_rows_ = 0, right_rows_ = 0, corrected_rows_ = 0, end_rows_ = 0;
  bool                             known_; ///< segments are solved with known separators
};

} // namespace ribbon
