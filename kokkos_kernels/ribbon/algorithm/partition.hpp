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
/// Pieces that one_pass takes are solved once, with their separators known: r comes from dot products with the first and the last rows of A^-1
/// (y_first and y_last alone are needed), and x = A^-1 (f - couplings to zl and zr) is all that is written. Three passes over memory instead of four.
///
/// Where V and W have decayed over a piece, R is block diagonal, and r is z times small matrices (truncated SPIKE); the other algorithms of pieces
/// have one kernel that does 2 and 3 for each boundary.
///
/// (Mattor, Williams & Hewett, "Algorithm for solving tridiagonal matrix problems in parallel", Parallel Computing 21, 1995; Polizzi &
/// Sameh, SPIKE, 2006.) The pieces and the reduced system are solved by LineSolver, so that a reduced system that is long is cut again.
#pragma once

#include <ribbon/algorithm/joined_boundaries.hpp>
#include <ribbon/algorithm/known_separators.hpp>
#include <ribbon/algorithm/near_boundaries.hpp>
#include <ribbon/algorithm/partition_right_hand_side.hpp>
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
  using typename Kernels::AssembleKernel, typename Kernels::CorrectKernel, typename Kernels::BoundaryKernel;
  using typename Kernels::Spikes, typename Kernels::Parts, typename Kernels::CutKernel, typename Kernels::CouplingKernel, typename Kernels::ReachKernel;
  using GatherKernel = typename PartitionRightHandSide<Scalar, Memory>::GatherKernel;
  using Dots         = DotKernel<Scalar, Memory, Parts>;
  using Ends         = InverseEnds<Scalar, Memory>;
  using Index        = Kokkos::IndexType<std::int64_t>;

  static constexpr std::int64_t long_piece  = 512;  ///< longer ones are cut so that kernels like their interiors
  static constexpr std::int64_t long_joined = 1280; ///< measured on an H200: the reduced systems of longer pentadiagonal pieces take too long for joined ones

  /// Cut for these lines, with pieces == 0 where there is nothing to cut. `piece`: rows of a piece, at least 3 K.
  /// Cut as `exact` says, or, where others leave no tail, in pieces of half to five quarters as many rows.
  static PartitionCut cut(const LineSet &lines, const Input &bands, std::int64_t piece, bool exact)
  {
    PartitionCut c;
    c.rows = lines.rows, c.lines = lines.lines(), c.K = std::max(1, bands.half_bandwidth()), c.B = bands.block, c.ring = bands.periodic;
    c.lines_fastest = !lines.is_contiguous();
    if (lines.count1 != 1 || lines.rows < 2 * piece) return c;
    if (piece > long_piece) { // interiors of whole chunks, which the copy engine takes where lines are contiguous
      if (lines.is_contiguous() && bands.lhs == Lhs::shared && c.B == 1 && sizeof(Scalar) == 8) c.K += c.K % 2;
      piece += c.K - piece % 32;
      if (2 * piece > lines.rows) piece -= 32;
      if (lines.is_contiguous() && !exact)
        for (std::int64_t p = piece + piece / 128 * 32; p > piece / 2; p -= 32)
          if (lines.rows % p == 0 && lines.rows > p) {
            c.piece = p, c.pieces = c.rows / p;
            return c;
          }
    }
    for (int groups : {2, 1}) // a tail is either nothing or long enough for one_pass or, where no piece leaves such, for its couplings
      for (c.piece = piece; c.piece >= 3 * c.K; c.piece -= c.piece > long_piece ? 32 : 1) {
        c.tail = c.rows % c.piece, c.pieces = c.rows / c.piece;
        if (c.tail == 0 || c.tail >= (c.ring ? groups + 1 : groups) * c.K) return c;
      }
    c.pieces = 0;
    return c;
  }

  /// Factors. `failure` tells where the pieces, the tails or the reduced system could not be factored.
  /// @param known  pieces are solved with separators that are known, where that can be done
  Partition(const Exec &exec, const LineSet &lines, const Input &bands, const PartitionCut &cut, bool known, std::string &failure) : lines_(lines), known_(known)
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
      factor(exec, k, lines_of(lines, k), part);
      if (!note(solver_[k].report(), k, shared, part)) {
        failure = tails ? "a tail is singular" : "a piece is singular";
        return;
      }
      spikes(exec, k, part, rows);
      if (known_) end_rows_ = std::max(end_rows_, inverse_ends(exec, part, ends_[k]).most());
    }
    const std::int64_t separators = cut.separators(), reduced_matrices = shared ? 1 : cut.lines;
    const auto         S = static_cast<std::size_t>(cut.S());
    Input              reduced;
    reduced.lhs = shared ? Lhs::shared : Lhs::per_line, reduced.periodic = cut.ring, reduced.lower = reduced.upper = 1, reduced.block = cut.S();
    reduced.values          = allocate<typename Input::values_type>(exec, "ribbon::partition::reduced", static_cast<std::size_t>(reduced_matrices), static_cast<std::size_t>(separators), 3 * S * S);
    real_t<Scalar> coupling = 0;
    if (cut.B == 1 && cut.S() <= Kernels::most_near) near_ = allocate<decltype(near_)>(exec, "ribbon::partition::near", static_cast<std::size_t>(reduced_matrices * separators) * 3 * S * S);
    const bool                     joined = std::is_same_v<Scalar, double> && known_ && shared && !cut.ring && !cut.lines_fastest && solver_[0].joins();
    Kokkos::View<Scalar *, Memory> couplings;
    if (joined) couplings = allocate<decltype(couplings)>(exec, "ribbon::partition::couplings", static_cast<std::size_t>(separators) * 2 * S * S);
    Kokkos::parallel_reduce("ribbon::partition::assemble", policy(exec, reduced_matrices * separators), AssembleKernel{parts_, reduced.values, near_, couplings}, Kokkos::Max<real_t<Scalar>>(coupling));
    corrected_rows_             = std::min(left_rows_ + right_rows_ + cut.K, cut.piece);
    const std::int64_t shortest = cut.interior(cut.ring && cut.tail > 0 ? cut.pieces : 0);
    // two more of them on either side: zeros beyond the ends of a line, and what is left of a ring's first piece
    z_ = Kokkos::View<Scalar *, Memory>("ribbon::partition::z", static_cast<std::size_t>((separators + 4) * cut.S() * cut.lines));
    if (coupling > unit_roundoff<Scalar>() / 32 || left_rows_ + right_rows_ + 2 * cut.K > std::min(shortest, cut.interior(0))) near_ = {};
    if (near_.size() == 0) {
      // unknown a of separators p of line l at (p S + a) lines + l
      LineSet line{separators, cut.lines, 1, static_cast<std::int64_t>(S) * cut.lines, 1, 0, 0};
      line.components = cut.S(), line.component_stride = cut.lines;
      reduced_ = LineSolver<Scalar, Exec>(exec, line, reduced);
      if (!note(reduced_.report(), 2, shared, reduced)) failure = "the reduced system is singular";
    }
    if constexpr (std::is_same_v<Scalar, double>)
      if (joined && !dots_beside_separators() && (bands.half_bandwidth() <= 1 || cut.interior(0) <= long_joined))
        joined_ = JoinedBoundaries<Scalar, Memory>(exec, reduced.values, couplings, cut.S(), ends_[0].width, cut.parts() * cut.lines);
    if (joined && dots_beside_separators() && 2 * end_rows_ <= cut.interior(0)) near_boundaries_ = NearBoundaries<Scalar, Memory>(exec, near_, ends_, cut, static_cast<int>(end_rows_));
    if (!known_ || (joined_.empty() ? dots_beside_separators() : cut.tail == 0)) return;
    const Dots dots = dot_products(nullptr, lines);
    splits_         = Dots::most_splits(dots, device::multiprocessors(exec));
    y_              = allocate<decltype(y_)>(exec, "ribbon::partition::y", static_cast<std::size_t>(splits_ * dots.parts.cut.parts() * 2 * ends_[0].width * cut.lines));
  }

  std::size_t bytes() const
  {
    std::size_t all =
      solver_[0].report().bytes + (near_.size() ? 0 : reduced_.report().bytes) +
      (parts_.spikes[0].words.size() + parts_.spikes[1].words.size() + parts_.A.of_class.values.size() + ends_[0].words.size() + ends_[1].words.size() + near_.size() + z_.size() + y_.size()) * sizeof(Scalar);
    if (parts_.cut.tail > 0) all += solver_[1].report().bytes;
    all += joined_.bytes() + near_boundaries_.bytes();
    return all;
  }
  /// Of the pieces and of the reduced system.
  double smallest_pivot() const { return near_.size() ? solver_[0].report().smallest_pivot : std::min(solver_[0].report().smallest_pivot, reduced_.report().smallest_pivot); }
  /// Of the first of several lines that cannot be cut like this; ok() where there is none. The others are solved.
  const FactorReport &bad() const { return bad_; }
  const PartitionCut &cut() const { return parts_.cut; }
  /// Rows of a piece that are corrected, of all its rows.
  std::int64_t corrected_rows() const { return corrected_rows_; }
  std::string  pieces_by() const { return solver_[0].report().algorithm; }
  /// Pieces are solved with separators that are known, until it is asked for the correction of what they were solved to without.
  bool with_known_separators() const { return known_; }
  void correct_pieces() { known_ = false, joined_ = {}, near_boundaries_ = {}; }

  /// x = A^-1 b. Asynchronous on exec; in place where b == x and both layouts agree. Lines in groups of as many as were factored.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const
  {
    const PartitionCut &cut   = parts_.cut;
    const int           parts = cut.tail > 0 ? 2 : 1;
    for (std::int64_t first = 0; first < in.lines(); first += cut.lines) {
      const LineSet from = slice(in, first), to = slice(out, first);
      if (known_ && !joined_.empty()) {
        join(exec, b, from, x, to);
        continue;
      }
      if (known_ && !near_boundaries_.empty()) {
        const bool        in_place = !apart(b, from, x, to); // a launch for the separators first
        const auto        near     = near_boundaries_.separators(z(0), in_place);
        KnownRows<Scalar> rows;
        rows.near = &near, rows.stored = cut.S();
        solver_[0].solve(exec, b, lines_of(from, 0), x, lines_of(to, 0), rows);
        for (int k = in_place ? 0 : 1; k < parts; ++k) solver_[k].solve(exec, b, lines_of(from, k), x, lines_of(to, k), known(k));
        continue;
      }
      if (known_) {
        if (!dots_beside_separators()) {
          const Dots dots = dot_products(b, from);
          device::launch(exec, "ribbon::partition::dots", dots.league(), dots);
        }
        reduce(exec, b, y_.data(), from, to);
        for (int k = 0; k < parts; ++k) solver_[k].solve(exec, b, lines_of(from, k), x, lines_of(to, k), known(k));
        continue;
      }
      for (int k = 0; k < parts; ++k) solver_[k].solve(exec, b, lines_of(from, k), x, lines_of(to, k));
      if (near_.size()) {
        const BoundaryKernel boundary{parts_, near_.data(), b, x, from, to, static_cast<int>(left_rows_), static_cast<int>(right_rows_), parts_.A.shared ? 1 : cut.lines};
        device::launch(exec, "ribbon::partition::boundary", boundary.league(), boundary);
        continue;
      }
      reduce(exec, b, x, from, to);
      const CorrectKernel correct{parts_, z(0), x, to, left_rows_, right_rows_, corrected_rows_};
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

  /// Whether right-hand sides and solution lie in different places.
  static bool apart(const Scalar *b, const LineSet &in, const Scalar *x, const LineSet &out)
  {
    const auto ends = [](const Scalar *array, const LineSet &set) {
      const Scalar *least = array + set.offset, *most = least + 1;
      for (auto [count, stride] : {std::pair{set.rows, set.row_stride}, {set.count0, set.stride0}, {set.count1, set.stride1}, {std::int64_t(set.components), set.component_stride}})
        (stride < 0 ? least : most) += (count - 1) * stride;
      return std::pair{least, most};
    };
    const auto [from, from_end] = ends(b, in);
    const auto [to, to_end]     = ends(x, out);
    return !std::less<const Scalar *>()(from, to_end) || !std::less<const Scalar *>()(to, from_end);
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

  /// Unknowns of separators p of all lines, p = -1 left of the first piece.
  Scalar *z(std::int64_t p) const { return z_.data() + (2 + p) * parts_.cut.S() * parts_.cut.lines; }
  /// Lines side by side that a team of the dot products takes, as a power of two.
  int lane_bits() const
  {
    int bits = 0;
    while (parts_.cut.lines_fastest && bits < 5 && (1 << bits) < parts_.cut.lines) ++bits;
    return bits;
  }
  /// The separators beside the pieces (part 0) or tails (part 1), in the order of lines_of().
  KnownRows<Scalar> known(int part) const
  {
    const PartitionCut &cut = parts_.cut;
    KnownRows<Scalar>   rows;
    rows.values = z(part == 1 ? cut.pieces : 0), rows.stored = part == 0 || cut.ring ? cut.S() : 0;
    const std::int64_t piece = cut.S() * cut.lines;
    if (part == 1 || cut.lines_fastest) rows.lines = {0, cut.lines, part == 1 ? 1 : cut.pieces, cut.lines, 1, piece, 0};
    else rows.lines = {0, cut.pieces, cut.lines, cut.lines, piece, 1, 0};
    return rows;
  }

  /// A few rows at the ends of the pieces, which the kernel of the separators reads by itself.
  bool dots_beside_separators() const { return near_.size() > 0 && end_rows_ <= 128; }
  /// Of all parts, or, where pieces are joined, of the tails alone.
  Dots dot_products(const Scalar *b, const LineSet &in) const
  {
    const int reach = static_cast<int>(end_rows_);
    Dots      dots{parts_, {ends_[0], ends_[1]}, b, y_.data(), in, parts_.cut.piece * in.row_stride, {reach, reach}, lane_bits(), splits_};
    if (!joined_.empty()) dots.in.offset += parts_.cut.pieces * dots.part_stride, dots.parts.cut.pieces = 0;
    return dots;
  }

  /// Pieces find what lies beside them by themselves; tails before and after them.
  void join(const Exec &exec, const Scalar *b, const LineSet &from, Scalar *x, const LineSet &to) const
  {
    const PartitionCut  &cut    = parts_.cut;
    JoinedPieces<Scalar> joined = joined_.pieces();
    joined.pieces = cut.pieces, joined.lines = cut.lines, joined.splits = splits_;
    if (cut.tail > 0) {
      const Dots dots = dot_products(b, from);
      device::launch(exec, "ribbon::partition::dots", dots.league(), dots);
      joined.tails = y_.data(), joined.last = z(cut.pieces - 1);
    }
    KnownRows<Scalar> rows;
    rows.joined = &joined;
    solver_[0].solve(exec, b, lines_of(from, 0), x, lines_of(to, 0), rows);
    if (cut.tail > 0) solver_[1].solve(exec, b, lines_of(from, 1), x, lines_of(to, 1), known(1));
  }

  /// z, from the solution y of the pieces or what dot products left of it.
  void reduce(const Exec &exec, const Scalar *b, const Scalar *y, const LineSet &from, const LineSet &to) const
  {
    const PartitionCut &cut  = parts_.cut;
    const Ends          none = {};
    const GatherKernel  gather{
      parts_, {known_ ? ends_[0] : none, known_ ? ends_[1] : none}, b, y, near_.data(), from, to, known_ && dots_beside_separators() ? static_cast<int>(end_rows_) : 0, splits_, parts_.A.shared ? 1 : cut.lines, z(0)};
    device::launch(exec, "ribbon::partition::gather", gather.league(), gather);
    if (near_.size()) return;
    reduced_.solve(exec, z(0), z(0));
    const auto group = [&](std::int64_t p) { return Kokkos::View<Scalar *, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(z(p), static_cast<std::size_t>(cut.S() * cut.lines)); };
    if (cut.ring) Kokkos::deep_copy(exec, group(-1), group(cut.separators() - 1));
  }

  /// Pieces of shared matrices by one_pass, which takes separators that are known, where it has a kernel.
  void factor(const Exec &exec, int k, const LineSet &set, const Input &part)
  {
    known_ = known_ && continue_lines(exec, set, part, {}, solver_[k]);
    if (!known_) solver_[k] = LineSolver<Scalar, Exec>(exec, set, part);
  }

  /// Matrices that are numbered by piece, for the pieces of all lines.
  void spread(const Exec &exec, Input &part, std::int64_t count) const
  {
    if (part.lhs == Lhs::shared) return;
    const auto          from     = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part.class_of_line);
    const auto          matrices = static_cast<std::int64_t>(part.values.extent(0));
    const PartitionCut &cut      = parts_.cut;
    std::vector<int>    classes(static_cast<std::size_t>(count));
    for (std::int64_t s = 0; s < count; ++s) {
      const std::int64_t q                 = matrices == 1 ? 0 : cut.lines_fastest ? s / cut.lines : s % cut.pieces;
      classes[static_cast<std::size_t>(s)] = from.extent(0) ? from(static_cast<std::size_t>(q)) : static_cast<int>(q);
    }
    part.class_of_line = upload(exec, "ribbon::partition::classes", classes), part.lhs = Lhs::classes;
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
    // of every matrix by itself: those of a bad line may be larger than all others
    const Kokkos::View<double *, Memory> largest("ribbon::partition::largest", parts_.A.shared ? 1 : static_cast<std::size_t>(s.matrices));
    const double                         tolerance = static_cast<double>(unit_roundoff<Scalar>()) / 32;
    const auto                           reach     = [&](bool size, bool right) {
      std::int64_t found = 0;
      Kokkos::parallel_reduce("ribbon::partition::reach", policy(exec, static_cast<std::int64_t>(s.words.size())), ReachKernel{s, cut.B, cut.S(), rows, tolerance, largest, size, right}, Kokkos::Max<std::int64_t>(found));
      return found;
    };
    reach(true, false);
    left_rows_  = std::max(left_rows_, reach(false, false));
    right_rows_ = std::max(right_rows_, reach(false, true));
  }

  /// Notes which of several lines has a singular piece (part 0), tail (1) or reduced system (2). False: there is one matrix, and nothing is left to solve.
  bool note(const FactorReport &found, int part, bool shared, const Input &of)
  {
    if (found.ok()) return true;
    if (shared) return false;
    if (!bad_.ok()) return true;
    bad_ = found;
    if (found.line < 0) return true;
    const PartitionCut &cut = parts_.cut;
    std::int64_t        s   = found.line;
    if (of.lhs == Lhs::classes) { // the first line of that class
      const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), of.class_of_line);
      s                  = std::find(classes.data(), classes.data() + classes.extent(0), static_cast<int>(found.line)) - classes.data();
    }
    const std::int64_t q = part == 1 ? cut.pieces : part == 2 ? found.row : cut.lines_fastest ? s / cut.lines : s % cut.pieces;
    bad_.line            = part > 0 ? s : cut.lines_fastest ? s % cut.lines : s / cut.pieces;
    if (found.row >= 0) bad_.row = cut.begin(q) + (part == 2 ? cut.interior(q) : found.row);
    return true;
  }

  LineSet                          lines_;
  Parts                            parts_;
  LineSolver<Scalar, Exec>         solver_[2], reduced_;
  FactorReport                     bad_;
  Ends                             ends_[2];
  Kokkos::View<Scalar *, Memory>   y_, z_, near_; ///< near_: rows of the boundaries, where separators do not couple
  int                              splits_ = 1;   ///< runs of rows of a part in which its dot products are formed
  JoinedBoundaries<Scalar, Memory> joined_;
  NearBoundaries<Scalar, Memory>   near_boundaries_;
  std::int64_t                     left_rows_ = 0, right_rows_ = 0, corrected_rows_ = 0, end_rows_ = 0;
  bool                             known_; ///< pieces are solved with separators that are known
};

} // namespace ribbon
