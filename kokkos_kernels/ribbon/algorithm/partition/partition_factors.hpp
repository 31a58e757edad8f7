// SPDX-License-Identifier: BSD-2-Clause
/// @file partition_factors.hpp  The set-up of Partition: factors segments, tails and the reduced system, and
///   chooses how a solve finds the separators.
#pragma once

#include <ribbon/algorithm/partition/joined_boundaries.hpp>
#include <ribbon/algorithm/partition/known_separators.hpp>
#include <ribbon/algorithm/partition/near_boundaries.hpp>
#include <ribbon/algorithm/partition/right_hand_side.hpp>
#include <ribbon/line_solver.hpp>
#include <ribbon/lines_from_csr.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace ribbon {

template <class Scalar, class Exec>
class PartitionFactors : protected PartitionKernels<Scalar, typename Exec::memory_space> {
public:
  using Memory  = typename Exec::memory_space;
  using Input   = Bands<Scalar, Memory>;
  using Kernels = PartitionKernels<Scalar, Memory>;
  using typename Kernels::AssembleKernel, typename Kernels::CutKernel, typename Kernels::CouplingKernel,
    typename Kernels::ReachKernel, typename Kernels::Spikes, typename Kernels::Parts;
  using Dots  = DotKernel<Scalar, Memory, Parts>;
  using Ends  = InverseEnds<Scalar, Memory>;
  using Index = Kokkos::IndexType<std::int64_t>;

  /// measured on an H200: the reduced systems of longer pentadiagonal segments take too long if they are
  /// joined
  static constexpr std::int64_t long_joined = 1280;

  /// Factors. `failure` says where the segments, the tails or the reduced system could not be factored.
  /// @param known  segments are solved with known separators, if possible
  PartitionFactors(const Exec &exec, const LineSet &of, const Input &bands, const PartitionCut &cut,
                   bool known, std::string &failure)
      : known_(known)
  {
    const LineSet lines   = of.merged();
    found_.smallest_pivot = 1e300;
    parts_.cut            = cut;
    // every solve reads the rows of the separators
    parts_.A = {BandEntries<Scalar, Memory>(copy(exec, bands)), bands.lhs == Lhs::shared};
    for (int k = 0; k < (cut.tail > 0 ? 2 : 1); ++k)
      if (!factor_part(exec, k, lines, bands, failure)) return;
    const Assembled assembled = assemble(exec);
    corrected_rows_           = std::min(left_rows_ + right_rows_ + cut.K, cut.piece);
    allocate_separators();
    if (couples(assembled.coupling)) near_ = {};
    if (near_.size() == 0) factor_reduced(exec, assembled.reduced, failure);
    prepare_joined(exec, bands, assembled);
    if (known_ && !(joined_.empty() ? dots_beside_separators() : cut.tail == 0)) allocate_dots(exec, lines);
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

protected:
  /// log2 of the neighbouring lines in a group of the dot products.
  int lane_bits() const
  {
    int bits = 0;
    while (parts_.cut.lines_fastest && bits < 5 && (1 << bits) < parts_.cut.lines) ++bits;
    return bits;
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

  Parts                    parts_;
  LineSolver<Scalar, Exec> solver_[2], reduced_;
  Ends                     ends_[2];
  /// near_: rows of the boundaries, if separators do not couple
  Kokkos::View<Scalar *, Memory> y_, z_, near_;
  /// runs of rows of a part in its dot products
  int                              splits_ = 1;
  JoinedBoundaries<Scalar, Memory> joined_;
  NearBoundaries<Scalar, Memory>   near_boundaries_;
  std::int64_t                     left_rows_ = 0, right_rows_ = 0, corrected_rows_ = 0, end_rows_ = 0;
  bool                             known_; ///< segments are solved with known separators

private:
  static Kokkos::RangePolicy<Exec, Index> policy(const Exec &exec, std::int64_t n)
  {
    return Kokkos::RangePolicy<Exec, Index>(exec, 0, n);
  }

  /// The matrices of the segments (part 0) or tails (part 1), without couplings to separators.
  Input cut_part(const Exec &exec, int k, const Input &bands) const
  {
    const PartitionCut &cut   = parts_.cut;
    const bool          tails = k == 1, shared = parts_.A.shared;
    const EqualPieces   equal(cut, bands, shared && !tails);
    const std::int64_t  rows    = cut.interior(tails ? cut.pieces : 0),
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
    return part;
  }

  /// Factors a part and solves its spikes. @return false if it is singular for all lines
  bool factor_part(const Exec &exec, int k, const LineSet &lines, const Input &bands, std::string &failure)
  {
    const PartitionCut &cut   = parts_.cut;
    const bool          tails = k == 1;
    const Input         part  = cut_part(exec, k, bands);
    // only layout and coefficients; the place of segments is an argument of the solve
    PartitionBatch like = PartitionBatch::all(cut);
    if (cut.run > 0 && !tails) like.lines = cut.run, like.pieces *= cut.lines / cut.run;
    factor(exec, k, like.of(cut, lines, k), part);
    find(solver_[k].report(),
         [&](std::int64_t line, std::int64_t row) { return place_of(part, k, line, row); });
    if (parts_.A.shared && !solver_[k].report().ok()) { // otherwise the other lines are solved
      failure = tails ? "a tail is singular" : "a segment is singular";
      return false;
    }
    const std::int64_t rows = cut.interior(tails ? cut.pieces : 0);
    solve_spikes(exec, k, part, rows);
    find_reach(exec, parts_.spikes[k], rows);
    if (known_) end_rows_ = std::max(end_rows_, inverse_ends(exec, part, ends_[k]).most());
    return true;
  }

  /// Whether segments may compute their adjacent separators.
  bool may_join() const
  {
    const PartitionCut &cut = parts_.cut;
    return std::is_same_v<Scalar, double> && known_ && parts_.A.shared && !cut.ring && !cut.lines_fastest &&
           Segments::joins(solver_[0]);
  }

  /// The reduced system as assembled.
  struct Assembled {
    Input                          reduced;
    Kokkos::View<Scalar *, Memory> couplings;    ///< of the separators to the segments, if these may join
    real_t<Scalar>                 coupling = 0; ///< largest entry that couples separators
  };
  Assembled assemble(const Exec &exec)
  {
    const PartitionCut &cut        = parts_.cut;
    const std::int64_t  separators = cut.separators(), reduced_matrices = parts_.A.shared ? 1 : cut.lines;
    const auto          S = static_cast<std::size_t>(cut.S());
    Assembled           found;
    Input              &reduced = found.reduced;
    reduced.lhs = parts_.A.shared ? Lhs::shared : Lhs::per_line, reduced.periodic = cut.ring,
    reduced.lower = reduced.upper = 1, reduced.block = cut.S();
    reduced.values = allocate<typename Input::values_type>(exec, "ribbon::partition::reduced",
                                                           static_cast<std::size_t>(reduced_matrices),
                                                           static_cast<std::size_t>(separators), 3 * S * S);
    if (cut.B == 1 && cut.S() <= Kernels::most_near)
      near_ = allocate<decltype(near_)>(exec, "ribbon::partition::near",
                                        static_cast<std::size_t>(reduced_matrices * separators) * 3 * S * S);
    if (may_join())
      found.couplings = allocate<decltype(found.couplings)>(exec, "ribbon::partition::couplings",
                                                            static_cast<std::size_t>(separators) * 2 * S * S);
    Kokkos::parallel_reduce("ribbon::partition::assemble", policy(exec, reduced_matrices * separators),
                            AssembleKernel{parts_, reduced.values, near_, found.couplings},
                            Kokkos::Max<real_t<Scalar>>(found.coupling));
    return found;
  }

  /// Two more groups on either side: zeros beyond the ends of a line, and the separators left of the first
  /// segment of a ring.
  void allocate_separators()
  {
    const PartitionCut &cut = parts_.cut;
    z_words_                = static_cast<std::size_t>((cut.separators() + 4) * cut.S() * cut.lines),
    z_                      = Kokkos::View<Scalar *, Memory>("ribbon::partition::z", z_words_);
  }

  /// Whether separators couple with each other, or the rows that one boundary corrects with those of
  /// another.
  bool couples(real_t<Scalar> coupling) const
  {
    const PartitionCut &cut      = parts_.cut;
    const std::int64_t  shortest = cut.interior(cut.ring && cut.tail > 0 ? cut.pieces : 0);
    return coupling > unit_roundoff<Scalar>() / 32 ||
           left_rows_ + right_rows_ + 2 * cut.K > std::min(shortest, cut.interior(0));
  }

  void factor_reduced(const Exec &exec, const Input &reduced, std::string &failure)
  {
    const PartitionCut &cut = parts_.cut;
    // unknown a of separators p of line l at (p S + a) lines + l
    LineSet line{cut.separators(), cut.lines, 1, static_cast<std::int64_t>(cut.S()) * cut.lines, 1, 0, 0};
    line.components = cut.S(), line.component_stride = cut.lines;
    reduced_ = LineSolver<Scalar, Exec>(exec, line, reduced);
    find(reduced_.report(), [&](std::int64_t l, std::int64_t p) {
      return std::pair{l, p < 0 ? p : cut.begin(p) + cut.interior(p)};
    });
    if (parts_.A.shared && !reduced_.report().ok()) failure = "the reduced system is singular";
  }

  /// Coefficients with which segments compute their adjacent separators, if they may.
  void prepare_joined(const Exec &exec, const Input &bands, const Assembled &assembled)
  {
    const PartitionCut &cut = parts_.cut;
    if (!may_join()) return;
    if constexpr (std::is_same_v<Scalar, double>)
      if (!dots_beside_separators() && (bands.half_bandwidth() <= 1 || cut.interior(0) <= long_joined))
        joined_ =
          JoinedBoundaries<Scalar, Memory>(exec, assembled.reduced.values, assembled.couplings, cut.S(),
                                           ends_[0].width, cut.parts() * cut.lines, cut.lines);
    if (dots_beside_separators() && 2 * end_rows_ <= cut.interior(0))
      near_boundaries_ = NearBoundaries<Scalar, Memory>(exec, near_, ends_, cut, static_cast<int>(end_rows_));
  }

  /// Workspace of the dot products.
  void allocate_dots(const Exec &exec, const LineSet &lines)
  {
    const Dots dots = dot_products(nullptr, lines);
    splits_         = Dots::most_splits(dots, device::multiprocessors(exec));
    y_              = allocate<decltype(y_)>(
      exec, "ribbon::partition::y",
      static_cast<std::size_t>(splits_ * dots.parts.cut.parts() * 2 * ends_[0].width * parts_.cut.lines));
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

  /// V and W of the rows of a part: A^-1 (couplings to the separators around it).
  void solve_spikes(const Exec &exec, int k, const Input &part, std::int64_t rows)
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
  }

  /// Rows from either end in which the spikes of a part have not decayed below rounding.
  void find_reach(const Exec &exec, const Spikes &s, std::int64_t rows)
  {
    const PartitionCut &cut = parts_.cut;
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

  std::size_t  z_words_ = 0;
  FactorReport found_;
};

} // namespace ribbon
