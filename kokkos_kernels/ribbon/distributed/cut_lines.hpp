// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_lines.hpp  Distributed lines: the solve of one sub-line.
///
/// The last K rows of a sub-line are separators, except in the last sub-line of an open line. A_i is the
/// interior of sub-line i, zl and zr are the separators left of it and in it, V = A_i^-1 (couplings to zl)
/// and W = A_i^-1 (couplings to zr).
///
///     forward    y = A_i^-1 f, and the contributions to the right-hand side r of the reduced system:
///                f - Ls y_last for the separators of the sub-line, - Us y_first for those left of it
///     between    R z = r for all separators. R is block tridiagonal with blocks of S = K B. It consists of
///                the blocks() of all sub-lines. The caller solves this system.
///     backward   x = y - V zl - W zr, where V and W have not decayed below rounding
///
/// Right-hand sides are read once and solutions are written once, and once more in the rows that the spikes
/// reach. With algorithm one_pass (cut_dots.hpp), forward may omit y. Then backward solves x = A_i^-1
/// (f - couplings to zl and zr), which reads right-hand sides at most twice and writes solutions once. If
/// the spikes reach only a few rows, y is solved between forward and backward, while messages travel.
///
/// Source: Mattor, Williams & Hewett, Parallel Computing 21, 1995. The separators follow Polizzi & Sameh,
/// "A parallel hybrid banded system solver: the SPIKE algorithm", Parallel Computing 32, 2006: R is a Schur
/// complement and is as well conditioned as the matrix.
#pragma once

#include <ribbon/algorithm/name.hpp>
#include <ribbon/distributed/cut_dots.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ribbon {

template <class Scalar, class Exec>
class CutLines {
public:
  using Memory  = typename Exec::memory_space;
  using Input   = Bands<Scalar, Memory>;
  using Kernels = CutKernels<Scalar, Memory>;
  using Words   = typename Kernels::Words;

  CutLines() = default;

  /// Couplings of the separators of a sub-line to the first K rows right of it, in the form that the next
  /// sub-line expects: word (a S + e) count + line, for one matrix (count 1) or all lines.
  static std::vector<Scalar> right_couplings(const Exec &exec, const CutPiece &piece, const Input &bands)
  {
    check(bands);
    const auto         host = to_host(bands);
    const int          S = piece.S(), B = piece.B;
    const std::int64_t count = bands.lhs == Lhs::shared ? 1 : piece.lines;
    exec.fence();
    std::vector<Scalar> words(static_cast<std::size_t>(count * S * S), Scalar(0));
    for (std::int64_t l = 0; l < count; ++l) {
      const auto c = static_cast<std::size_t>(
        bands.lhs == Lhs::classes ? host.class_of_line(static_cast<std::size_t>(l)) : l);
      for (int a = 0; a < S; ++a)
        for (int e = 0; e < S; ++e) {
          const int d = piece.K + e / B - a / B;
          if (d <= bands.ku())
            words[static_cast<std::size_t>((a * S + e) * count + l)] =
              host.values(c, static_cast<std::size_t>(piece.n() + a / B),
                          static_cast<std::size_t>(((d + bands.kl()) * B + a % B) * B + e % B));
        }
    }
    return words;
  }

  /// Factors the interior. Needs piece.m >= piece.K. `failure` says why the sub-lines cannot be factored,
  /// although their lines may be regular.
  /// @param lines  of piece.m rows
  /// @param bands  of the sub-lines, not periodic. Entries in columns of other sub-lines are stored where
  ///   Bands ignore them. The bands are not changed
  /// @param us     right_couplings() of the sub-line left of this one
  /// @param dots   whether dot products with rows of the inverse are allowed. Then the caller checks the
  ///   accuracy and calls correct() or keep()
  /// @throws std::invalid_argument as LineSolver
  CutLines(const Exec &exec, const CutPiece &piece, const LineSet &lines, const Input &bands,
           const std::vector<Scalar> &us, bool dots, const LineSolverOptions &options, std::string &failure)
  {
    check(bands);
    parts_.piece    = piece;
    parts_.A.values = bands.values, parts_.A.lines = piece.lines, parts_.A.kl = bands.kl(),
    parts_.A.ku = bands.ku(), parts_.A.B = bands.block;
    if (bands.lhs == Lhs::classes) parts_.A.class_of_line = bands.class_of_line;
    parts_.Us       = upload(exec, "ribbon::cut_lines::Us", us);
    parts_.us_count = static_cast<std::int64_t>(us.size()) / (piece.S() * piece.S());
    parts_.spikes.B = piece.B, parts_.spikes.S = piece.S(), parts_.spikes.n = piece.n(),
    parts_.spikes.matrices = static_cast<std::int64_t>(bands.values.extent(0));
    if (piece.n() == 0) return;
    Input interior = bands;
    interior.values =
      allocate<typename Input::values_type>(exec, "ribbon::cut_lines::bands", bands.values.extent(0),
                                            static_cast<std::size_t>(piece.n()), bands.values.extent(2));
    Kokkos::parallel_for("ribbon::cut_lines::rows",
                         indices(exec, static_cast<std::int64_t>(bands.values.extent(0)) * piece.n()),
                         typename Kernels::RowsKernel{parts_.A, piece, interior.values});
    solver_ = LineSolver<Scalar, Exec>(exec, piece.inside(lines), interior, options);
    if (!solver_.report().ok()) {
      failure = "a sub-line cannot be solved alone";
      return;
    }
    spikes(exec, interior, options);
    if (dots && solver_.report().used == Algorithm::one_pass && !solver_.report().corrected &&
        interior.half_bandwidth() <= 2 && interior.block == 1 &&
        (interior.lhs == Lhs::shared || interior.lhs == Lhs::classes))
      dots_ = CutDots<Scalar, Exec>(exec, parts_, piece.inside(lines), interior, options,
                                    std::min(left_rows() + right_rows() + piece.m - piece.n(), piece.m));
    way_ = dots_.way();
  }

  const FactorReport &report() const { return way_ == CutWay::known ? dots_.report() : solver_.report(); }
  bool                has_interior() const { return parts_.piece.n() > 0; }
  const CutPiece     &piece() const { return parts_.piece; }
  /// Rows at either end of a sub-line that a correction changes.
  std::int64_t left_rows() const { return parts_.spikes.left_rows; }
  std::int64_t right_rows() const { return parts_.spikes.right_rows; }
  CutWay       way() const { return way_; }
  /// Rows of a sub-line that dot products read.
  std::int64_t rows_read() const { return dots_.rows_read(); }
  std::size_t  bytes() const
  {
    return (way_ != CutWay::known && has_interior() ? solver_.report().bytes : 0) + dots_.bytes() +
           (parts_.spikes.V.size() + parts_.spikes.W.size() + parts_.Us.size()) * sizeof(Scalar);
  }

  /// Selects a solve without dot products (yes), or with them. Only before keep().
  void correct(bool yes) { way_ = yes ? CutWay::corrected : dots_.way(); }
  /// Frees the data that the selected way does not need. Only after blocks().
  void keep()
  {
    if (way_ == CutWay::corrected) dots_ = {};
    if (way_ == CutWay::known) solver_ = {}, parts_.spikes.V = {}, parts_.spikes.W = {};
  }
  /// Allocates memory for solves of `lines` lines.
  void reserve(const Exec &exec, std::int64_t lines) { dots_.reserve(exec, lines); }

  /// Words of BlocksKernel on the host, for one matrix if all lines share it.
  std::vector<Scalar> blocks(const Exec &exec) const
  {
    const std::int64_t S = parts_.piece.S(), lines = parts_.spikes.matrices == 1 && parts_.us_count == 1
                                                       ? std::min<std::int64_t>(1, parts_.piece.lines)
                                                       : parts_.piece.lines;
    const auto         words =
      allocate<Words>(exec, "ribbon::cut_lines::blocks", static_cast<std::size_t>(4 * S * S * lines));
    Kokkos::parallel_for("ribbon::cut_lines::blocks", indices(exec, lines),
                         typename Kernels::BlocksKernel{parts_, words, lines});
    std::vector<Scalar> host(words.size());
    Kokkos::deep_copy(exec,
                      Kokkos::View<Scalar *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        host.data(), host.size()),
                      words);
    exec.fence();
    return host;
  }

  /// Writes 2 S values of every line to `ends` (EndsKernel). b == x is allowed. Asynchronous on exec.
  void forward(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
               Scalar *ends) const
  {
    if (way_ != CutWay::corrected) return dots_.forward(exec, parts_, b, in, ends);
    solve_interior(exec, b, in, x, out);
    Kokkos::parallel_for("ribbon::cut_lines::ends", light_indices(exec, in.lines()),
                         typename Kernels::template EndsKernel<typename Kernels::Solved>{
                           parts_, {x, out, parts_.piece}, b, in, ends});
  }

  /// Work that does not need the separators, after `ends` are sent to other ranks. Asynchronous on exec.
  void meanwhile(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const
  {
    if (way_ == CutWay::ahead) solve_interior(exec, b, in, x, out);
  }

  /// Writes x. b and x are those of forward(). Asynchronous on exec.
  void backward(const Exec &exec, const Scalar *b, const LineSet &in, const Scalar *zl, const Scalar *zr,
                Scalar *x, const LineSet &out) const
  {
    if (way_ == CutWay::known) return dots_.between(exec, b, in, zl, zr, x, out);
    correct_ends(exec, parts_, zl, zr, x, out);
  }

  const typename Kernels::Parts &parts() const { return parts_; }

private:
  static void check(const Input &bands)
  {
    if (bands.repeats > 1) throw std::invalid_argument("ribbon::CutLines: bands that do not hold every row");
  }

  /// Writes y to x.
  void solve_interior(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x,
                      const LineSet &out) const
  {
    if (has_interior()) solver_.solve(exec, b, parts_.piece.inside(in), x, parts_.piece.inside(out));
  }

  void spikes(const Exec &exec, const Input &interior, const LineSolverOptions &options)
  {
    const CutPiece           &piece = parts_.piece;
    typename Kernels::Spikes &s     = parts_.spikes;
    const std::int64_t        n = piece.n(), columns = 2 * piece.S();
    const auto                words = allocate<Words>(exec, "ribbon::cut_lines::spikes",
                                       static_cast<std::size_t>(n * piece.B * columns * s.matrices));
    const auto                all   = indices(exec, static_cast<std::int64_t>(words.size()));
    Kokkos::parallel_for("ribbon::cut_lines::couplings", all,
                         typename Kernels::CouplingKernel{parts_.A, piece, words});
    LineSet set{n, s.matrices * columns, 1, piece.B * columns * s.matrices, 1, 0, 0};
    set.components = piece.B, set.component_stride = columns * s.matrices;
    if (interior.lhs == Lhs::per_line) solver_.solve(exec, words.data(), set, words.data(), set);
    else { // every matrix as one line
      Input one         = interior;
      one.lhs           = Lhs::per_line;
      one.class_of_line = {};
      LineSet lines     = set;
      lines.count0      = s.matrices;
      LineSolver<Scalar, Exec>(exec, lines, one, options).solve(exec, words.data(), set, words.data(), set);
    }
    const typename Kernels::SpikeSizes sizes{words, parts_.A, s.matrices, n, piece.B, piece.S()};
    const typename Kernels::Largest    largest("ribbon::cut_lines::largest",
                                               static_cast<std::size_t>(columns * s.matrices));
    if (largest.extent(0) > 0)
      Kokkos::parallel_for(
        "ribbon::cut_lines::largest",
        Kokkos::TeamPolicy<Exec>(exec, 2 * static_cast<int>(largest.extent(0)), Kokkos::AUTO),
        typename Kernels::LargestKernel{sizes, largest});
    for (bool right : {false, true}) {
      std::int64_t reach = 0;
      Kokkos::parallel_reduce("ribbon::cut_lines::reach", all,
                              typename Kernels::ReachKernel{sizes, largest, right},
                              Kokkos::Max<std::int64_t>(reach));
      reach                                = std::max<std::int64_t>(reach, 0);
      (right ? s.right_rows : s.left_rows) = reach;
      Words &kept                          = right ? s.W : s.V;
      kept                                 = allocate<Words>(exec, "ribbon::cut_lines::kept",
                             static_cast<std::size_t>(reach * piece.B * piece.S() * s.matrices));
      Kokkos::parallel_for("ribbon::cut_lines::keep", indices(exec, static_cast<std::int64_t>(kept.size())),
                           typename Kernels::KeepKernel{words, kept, s.matrices,
                                                        right ? (n - reach) * piece.B : 0, piece.S(), right});
    }
    exec.fence();
  }

  typename Kernels::Parts  parts_;
  LineSolver<Scalar, Exec> solver_; ///< computes y
  CutDots<Scalar, Exec>    dots_;
  CutWay                   way_ = CutWay::corrected;
};

} // namespace ribbon
