// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_dots.hpp  Contributions of sub-lines to the reduced system before the sub-lines are solved.
///
/// The reduced system needs only the first and the last K unknowns of y = A_i^-1 f. They are dot products
/// of f with the first and the last K rows of A_i^-1, over the rows in which these have not decayed. If
/// these rows are many, y is never stored: once zl and zr are known, the solver computes x = A_i^-1
/// (f - C_l zl - C_r zr) directly. If they are few, y is solved while messages travel.
#pragma once

#include <ribbon/distributed/cut_kernels.hpp>
#include <ribbon/algorithm/partition/known_separators.hpp>

namespace ribbon {

/// How a sub-line is solved.
enum class CutWay {
  corrected, ///< y is stored and corrected when the separators are known
  ahead,     ///< likewise, but the contribution to the reduced system is sent first
  known      ///< one solve, when the separators are known
};

/// Types and kernels of CutDots.
template <class Scalar, class Memory>
struct CutDotsKernels {
  /// Lines in the form of the kernel of the dot products. Each line is one segment. Some lines that are
  /// apart in memory count as segments of one line, because they share a matrix.
  struct Batch {
    PartitionCut                                cut;
    typename CutKernels<Scalar, Memory>::Matrix A;
    KOKKOS_FUNCTION std::int64_t matrix(std::int64_t l, std::int64_t q) const
    {
      return A.of(q * cut.lines + l);
    }
  };
  /// First and last unknowns of y from the dot products.
  struct Found {
    const Scalar                 *y;
    std::int64_t                  lines, parts;
    int                           splits, width;
    KOKKOS_INLINE_FUNCTION Scalar first(std::int64_t l, int e) const { return sum(l, e); }
    KOKKOS_INLINE_FUNCTION Scalar last(std::int64_t l, int e) const { return sum(l, width + e); }
    KOKKOS_INLINE_FUNCTION Scalar sum(std::int64_t l, int v) const
    {
      const std::int64_t q    = parts == 1 ? 0 : l / lines;
      const Scalar      *from = y + (q * 2 * width + v) * lines + l - q * lines;
      Scalar             all(0);
      for (int t = 0; t < splits; ++t) all += from[t * parts * 2 * width * lines];
      return all;
    }
  };

  /// Writes zl and then zr, with zeros for separators that do not exist.
  struct BesideKernel {
    const Scalar        *zl, *zr;
    Scalar              *to;
    std::int64_t         each;
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      const Scalar *from = k < each ? zl : zr;
      to[k]              = from ? from[k < each ? k : k - each] : Scalar(0);
    }
  };
};

template <class Scalar, class Exec>
class CutDots : CutDotsKernels<Scalar, typename Exec::memory_space> {
public:
  using Memory  = typename Exec::memory_space;
  using Input   = Bands<Scalar, Memory>;
  using Kernels = CutKernels<Scalar, Memory>;
  using Words   = typename Kernels::Words;
  using typename CutDotsKernels<Scalar, Memory>::Batch, typename CutDotsKernels<Scalar, Memory>::Found,
    typename CutDotsKernels<Scalar, Memory>::BesideKernel;
  using Dots = DotKernel<Scalar, Memory, Batch>;

  CutDots() = default;

  /// Chooses how to solve. way() is `corrected` if dot products save nothing.
  /// @param lines      the interiors of the sub-lines
  /// @param bands      of these, tridiagonal or pentadiagonal, shared or classes; entries in columns
  ///   outside the interior couple with separators
  /// @param corrected  rows that the separators change
  CutDots(const Exec &exec, const typename Kernels::Parts &parts, const LineSet &lines, const Input &bands,
          const LineSolverOptions &options, std::int64_t corrected)
      : piece_(parts.piece)
  {
    // values that are moved per line, in addition to those of a solve. Lines share the coefficients that
    // multiply their values. A saving below a sixteenth of a solve does not justify another kernel.
    const double shared = static_cast<double>(bands.values.extent(0)) / static_cast<double>(lines.lines()),
                 least  = static_cast<double>(piece_.n()) / 8,
                 by_correction = static_cast<double>(corrected) * (2 + piece_.S() * shared);
    const bool may_be_known    = by_correction > least,
               may_be_ahead    = !is_device_space<Exec> || lines.unknowns() >= least_ahead;
    if (!may_be_known && !may_be_ahead) return;
    const EndReach reach = inverse_ends(exec, bands, ends_);
    reach_[0]            = piece_.left ? static_cast<int>(reach.first) : 0,
    reach_[1]            = piece_.right ? static_cast<int>(reach.last) : 0;
    const double by_dots = static_cast<double>(rows_read()) * (1 + 2 * ends_.width * shared);
    if (by_correction - by_dots > least && continue_lines(exec, lines, bands, options, solver_))
      way_ = CutWay::known;
    else if (by_dots <= least && may_be_ahead) way_ = CutWay::ahead;
    if (way_ != CutWay::known) solver_ = {};
    batch_.A = parts.A, batch_.cut.piece = piece_.m + (piece_.right ? 0 : piece_.K), batch_.cut.K = piece_.K;
    splits_ = Dots::most_splits(dots(nullptr, lines), device::multiprocessors(exec));
  }

  CutWay              way() const { return way_; }
  const FactorReport &report() const { return solver_.report(); } ///< of sub-lines with known separators
  std::int64_t        rows_read() const { return std::min<std::int64_t>(reach_[0] + reach_[1], piece_.n()); }
  std::size_t         bytes() const
  {
    const std::size_t own = (ends_.words.size() + y_.size() + beside_.size()) * sizeof(Scalar);
    return way_ == CutWay::corrected ? 0 : way_ == CutWay::known ? own + solver_.report().bytes : own;
  }

  /// Allocates memory for `lines` lines.
  void reserve(const Exec &exec, std::int64_t lines)
  {
    if (way_ == CutWay::corrected) return;
    y_ = allocate<Words>(exec, "ribbon::cut_dots::y",
                         static_cast<std::size_t>(splits_ * 2 * ends_.width * lines));
    if (way_ == CutWay::known && (piece_.S() > 1 || (piece_.left && piece_.right)))
      beside_ =
        allocate<Words>(exec, "ribbon::cut_dots::beside", static_cast<std::size_t>(2 * piece_.S() * lines));
  }

  /// Writes 2 S values of every line to `ends`. Asynchronous on exec.
  void forward(const Exec &exec, const typename Kernels::Parts &parts, const Scalar *b, const LineSet &in,
               Scalar *ends) const
  {
    const Dots kernel = dots(b, in);
    device::launch(exec, "ribbon::cut_dots::dots", kernel.league(), kernel);
    Kokkos::parallel_for("ribbon::cut_dots::ends", light_indices(exec, in.lines()),
                         typename Kernels::template EndsKernel<Found>{
                           parts,
                           {kernel.y, kernel.parts.cut.lines, kernel.parts.cut.pieces, splits_, ends_.width},
                           b,
                           in,
                           ends});
  }

  /// Writes x of sub-lines whose separators are known, including the separators. b == x is allowed.
  /// Asynchronous on exec.
  void between(const Exec &exec, const Scalar *b, const LineSet &in, const Scalar *zl, const Scalar *zr,
               Scalar *x, const LineSet &out) const
  {
    Segments::solve(solver_, exec, b, piece_.inside(in), x, piece_.inside(out),
                    beside(exec, zl, zr, in.lines()));
  }

private:
  /// unknowns for which a device needs longer than two more launches take
  static constexpr std::int64_t least_ahead = std::int64_t{1} << 21;

  Dots dots(const Scalar *b, const LineSet &in) const
  {
    constexpr int together = Dots::together;
    const int     most     = together / (2 * ends_.width);
    Batch         batch    = batch_;
    std::int64_t  stride   = 0;
    int           bits     = 0;
    batch.cut.lines = in.count0, batch.cut.pieces = in.count1;
    if (in.count1 > 1) stride = in.stride1;
    else if (in.is_contiguous() && in.count0 % most == 0)
      batch.cut.lines = in.count0 / most, batch.cut.pieces = most, stride = batch.cut.lines * in.stride0;
    while (!in.is_contiguous() && bits < 5 && (1 << bits) < batch.cut.lines) ++bits;
    return {batch, {ends_, {}}, b, y_.data(), in, stride, {reach_[0], reach_[1]}, bits, splits_};
  }

  /// The separators of the sub-lines in the order of the solver: those on the left, then those on the
  /// right. Values of separators that do not exist are multiplied by zero.
  KnownRows<Scalar> beside(const Exec &exec, const Scalar *zl, const Scalar *zr, std::int64_t lines) const
  {
    const std::int64_t each = piece_.S() * lines;
    const bool         both = piece_.left && piece_.right;
    KnownRows<Scalar>  rows{zr, {0, lines, 1, lines, 1, 0, 0}, piece_.right ? piece_.S() : 0};
    if (both && zl + each == zr) return rows;
    if (!both && piece_.S() == 1) {
      rows.values = piece_.left ? zl : zr, rows.lines.row_stride = 0;
      return rows;
    }
    Kokkos::parallel_for(
      "ribbon::cut_dots::beside", indices(exec, 2 * each),
      BesideKernel{piece_.left ? zl : nullptr, piece_.right ? zr : nullptr, beside_.data(), each});
    rows.values = beside_.data() + each;
    return rows;
  }

  CutPiece                    piece_;
  Batch                       batch_;
  LineSolver<Scalar, Exec>    solver_;
  InverseEnds<Scalar, Memory> ends_;
  /// rows at the beginning and at the end that dot products read, and the number of runs they are split
  /// into
  int    reach_[2] = {0, 0}, splits_ = 1;
  Words  y_, beside_;
  CutWay way_ = CutWay::corrected;
};

} // namespace ribbon
