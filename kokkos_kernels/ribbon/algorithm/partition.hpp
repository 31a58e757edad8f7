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
/// (Mattor, Williams & Hewett, "Algorithm for solving tridiagonal matrix problems in parallel", Parallel Computing 21, 1995; Polizzi &
/// Sameh, SPIKE, 2006.) The pieces and the reduced system are solved by LineSolver, so that a reduced system that is long is cut again.
#pragma once

#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_solver.hpp>
#include <ribbon/lines_from_csr.hpp>

#include <algorithm>
#include <vector>

namespace ribbon {

/// How lines are cut. Part 0 are the pieces, part 1 the tails.
struct PartitionCut {
  std::int64_t rows = 0, lines = 0; ///< of the batch
  std::int64_t piece  = 0;          ///< R
  std::int64_t pieces = 0;          ///< Q, per line
  std::int64_t tail   = 0;          ///< rows after the last piece
  int          K = 1, B = 1;
  bool         ring = false, lines_fastest = true;

  KOKKOS_INLINE_FUNCTION int S() const { return K * B; }
  KOKKOS_INLINE_FUNCTION std::int64_t parts() const { return pieces + (tail > 0 ? 1 : 0); }
  /// Separators per line, in groups of K rows: those of all pieces, and of the tail where it closes a ring.
  KOKKOS_INLINE_FUNCTION std::int64_t separators() const { return pieces + (tail > 0 && ring ? 1 : 0); }
  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t q) const { return q * piece; }
  KOKKOS_INLINE_FUNCTION std::int64_t size(std::int64_t q) const { return q < pieces ? piece : tail; }
  KOKKOS_INLINE_FUNCTION std::int64_t interior(std::int64_t q) const { return q < pieces ? piece - K : ring ? tail - K : tail; }
  /// The separators right and left of part q; -1 at the ends of an open line.
  KOKKOS_INLINE_FUNCTION std::int64_t right_of(std::int64_t q) const { return q < separators() ? q : -1; }
  KOKKOS_INLINE_FUNCTION std::int64_t left_of(std::int64_t q) const { return q > 0 ? q - 1 : ring ? separators() - 1 : -1; }
  /// The part right of separators p; -1 at the end of an open line.
  KOKKOS_INLINE_FUNCTION std::int64_t next(std::int64_t p) const { return p + 1 < parts() ? p + 1 : ring ? 0 : -1; }
  /// Number of (line, piece) among the lines of the batch of pieces.
  KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t l, std::int64_t q) const { return lines_fastest ? q * lines + l : l * pieces + q; }
};

/// V and W of the pieces or the tails: word (row, column, matrix) at (row (2 S) + column) matrices + matrix; columns 0 .. S-1 are V.
template <class Scalar, class Memory>
struct PartitionSpikes {
  Kokkos::View<Scalar *, Memory> words;
  Kokkos::View<int *, Memory>    matrix_of; ///< of every line of the batch; empty: its own or, where there is one only, that
  std::int64_t                   matrices = 0;
  int                            columns  = 0;

  KOKKOS_INLINE_FUNCTION std::int64_t  matrix(std::int64_t line) const { return matrix_of.extent(0) ? matrix_of(line) : matrices == 1 ? 0 : line; }
  KOKKOS_INLINE_FUNCTION const Scalar &operator()(std::int64_t unknown, int column, std::int64_t matrix) const { return words((unknown * columns + column) * matrices + matrix); }
};

template <class Scalar, class Exec>
class Partition {
public:
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;
  using Spikes = PartitionSpikes<Scalar, Memory>;
  using Index  = Kokkos::IndexType<std::int64_t>;

  /// Entries of the bands, line l.
  struct Matrix {
    typename Input::values_type values;
    int                         kl, ku, B;
    bool                        periodic, shared;
    std::int64_t                n;
    KOKKOS_FUNCTION Scalar      entry(std::int64_t l, std::int64_t i, std::int64_t d, int a, int b) const
    {
      if (d < -kl || d > ku || (!periodic && (i + d < 0 || i + d >= n))) return Scalar(0);
      return values(shared ? 0 : l, i, ((d + kl) * B + a) * B + b);
    }
  };

  /// Bands of the pieces (or tails): rows [first, first + rows) of part q. Entries that leave an open line at its begin are those of the next
  /// piece: they have no meaning, and equal pieces shall look equal.
  struct CutKernel {
    Matrix                      from;
    PartitionCut                cut;
    typename Input::values_type to;
    std::int64_t                rows;
    bool                        tails, one_line; ///< one_line: shared bands, matrices are numbered by piece
    KOKKOS_FUNCTION void        operator()(const std::int64_t k) const
    {
      const std::int64_t c = k % static_cast<std::int64_t>(to.extent(0)), i = k / static_cast<std::int64_t>(to.extent(0));
      std::int64_t       l = c, q = cut.pieces;
      if (!tails) {
        if (one_line) l = 0, q = c;
        else if (cut.lines_fastest) l = c % cut.lines, q = c / cut.lines;
        else l = c / cut.pieces, q = c % cut.pieces;
      }
      const std::int64_t base = q == 0 && !from.periodic && cut.pieces > 1 ? cut.begin(1) : cut.begin(q);
      for (int d = -from.kl; d <= from.ku; ++d) {
        const bool leaves = i + d < 0;
        for (int a = 0; a < from.B; ++a)
          for (int b = 0; b < from.B; ++b) to(c, i, ((d + from.kl) * from.B + a) * from.B + b) = from.entry(l, (leaves ? base : cut.begin(q)) + i, d, a, b);
      }
    }
  };

  /// Right-hand sides of V and W in the words of `spikes`; line (column, matrix).
  struct CouplingKernel {
    typename Input::values_type values; ///< of the matrices of the parts
    int                         kl, ku, K, B;
    std::int64_t                rows;
    Spikes                      spikes;
    KOKKOS_FUNCTION void        operator()(const std::int64_t k) const
    {
      const std::int64_t c = k % spikes.matrices, unknown = k / spikes.matrices / spikes.columns, i = unknown / B;
      const int          column = static_cast<int>(k / spikes.matrices % spikes.columns), S = K * B, e = column % S, a = static_cast<int>(unknown % B);
      const std::int64_t j = column < S ? e / B - K : rows + e / B, d = j - i; // row of the separator
      spikes.words(k) = d < -kl || d > ku ? Scalar(0) : values(c, i, ((d + kl) * B + a) * B + e % B);
    }
  };

  /// Rows of V from its begin (W from its end) that matter.
  struct ReachKernel {
    Spikes               spikes;
    int                  B, S;
    std::int64_t         rows;
    bool                 right;
    real_t<Scalar>       tolerance;
    KOKKOS_FUNCTION void operator()(const std::int64_t k, std::int64_t &reach) const
    {
      const int          column = static_cast<int>(k / spikes.matrices % spikes.columns);
      const std::int64_t i = k / spikes.matrices / spikes.columns / B, distance = right ? rows - i : i + 1;
      if ((column >= S) == right && distance > reach && !(magnitude(spikes.words(k)) <= tolerance)) reach = distance;
    }
  };
  struct LargestKernel {
    Spikes               spikes;
    KOKKOS_FUNCTION void operator()(const std::int64_t k, real_t<Scalar> &m) const
    {
      const auto a = magnitude(spikes.words(k));
      if (!(a <= m)) m = a;
    }
  };

  /// Everything a line's parts have, to be looked up by part.
  struct Parts {
    Matrix       A;
    PartitionCut cut;
    Spikes       spikes[2];

    KOKKOS_FUNCTION std::int64_t  matrix(std::int64_t l, std::int64_t q) const { return q < cut.pieces ? spikes[0].matrix(cut.place(l, q)) : spikes[1].matrix(l); }
    KOKKOS_FUNCTION const Scalar &spike(std::int64_t l, std::int64_t q, std::int64_t unknown, int column) const { return spikes[q < cut.pieces ? 0 : 1](unknown, column, matrix(l, q)); }
    /// Coupling of unknown a of separators p to unknown e of the last K interior rows left of it, or of the first K right of it.
    KOKKOS_FUNCTION Scalar Ls(std::int64_t l, std::int64_t p, int a, int e) const
    {
      const int B = cut.B;
      return A.entry(l, cut.begin(p) + cut.interior(p) + a / B, e / B - cut.K - a / B, a % B, e % B);
    }
    KOKKOS_FUNCTION Scalar Us(std::int64_t l, std::int64_t p, int a, int e) const
    {
      const int B = cut.B;
      return A.entry(l, cut.begin(p) + cut.interior(p) + a / B, e / B + cut.K - a / B, a % B, e % B);
    }
  };

  /// The matrix of the reduced system.
  struct AssembleKernel {
    Parts                       parts;
    typename Input::values_type to; ///< (matrices, separators, 3 S^2)
    KOKKOS_FUNCTION void        operator()(const std::int64_t k) const
    {
      const PartitionCut &cut = parts.cut;
      const std::int64_t  l = k % static_cast<std::int64_t>(to.extent(0)), p = k / static_cast<std::int64_t>(to.extent(0)), right = cut.next(p), m = cut.interior(p) * cut.B;
      const int           S = cut.S(), B = cut.B;
      for (int a = 0; a < S; ++a)
        for (int b = 0; b < S; ++b) {
          Scalar lower(0), diag = parts.A.entry(l, cut.begin(p) + cut.interior(p) + a / B, b / B - a / B, a % B, b % B), upper(0);
          for (int e = 0; e < S; ++e) {
            const Scalar Ls = parts.Ls(l, p, a, e);
            if (cut.left_of(p) >= 0) lower -= Ls * parts.spike(l, p, m - S + e, b);
            diag -= Ls * parts.spike(l, p, m - S + e, S + b);
            if (right < 0) continue;
            const Scalar Us = parts.Us(l, p, a, e);
            diag -= Us * parts.spike(l, right, e, b);
            if (cut.right_of(right) >= 0) upper -= Us * parts.spike(l, right, e, S + b);
          }
          to(l, p, (0 * S + a) * S + b) = lower, to(l, p, (1 * S + a) * S + b) = diag, to(l, p, (2 * S + a) * S + b) = upper;
        }
    }
  };

  /// r, from the right-hand side at the separators and y beside them. Unknown a of separators p of line l at (p S + a) lines + l.
  struct GatherKernel {
    Parts                               parts;
    const Scalar                       *b, *y;
    LineSet                             in, out;
    Scalar                             *r;
    KOKKOS_FUNCTION static std::int64_t at(const LineSet &set, std::int64_t begin, std::int64_t i, int a) { return begin + i * set.row_stride + a * set.component_stride; }
    KOKKOS_FUNCTION void                operator()(const std::int64_t k) const
    {
      const PartitionCut &cut = parts.cut;
      const int           S = cut.S(), B = cut.B;
      const std::int64_t  l = k % cut.lines, p = k / cut.lines / S, right = cut.next(p), first = cut.begin(p) + cut.interior(p), from = in.begin(l), to = out.begin(l);
      const int           a = static_cast<int>(k / cut.lines % S);
      Scalar              v = b[at(in, from, first + a / B, a % B)];
      for (int e = 0; e < S; ++e) {
        v -= parts.Ls(l, p, a, e) * y[at(out, to, first - cut.K + e / B, e % B)];
        if (right >= 0) v -= parts.Us(l, p, a, e) * y[at(out, to, cut.begin(right) + e / B, e % B)];
      }
      r[k] = v;
    }
  };

  /// x = y - V zl - W zr in the rows where that matters, and the separators themselves. A team has one part of 32 lines that lie side by
  /// side, or of one line.
  struct CorrectKernel {
    static constexpr int max_threads = 256;
    Parts                parts;
    const Scalar        *z;
    Scalar              *x;
    LineSet              out;
    std::int64_t         left_rows, right_rows, rows; ///< rows that V and W reach; rows: all that a piece corrects, separators included

    KOKKOS_FUNCTION int width() const { return parts.cut.lines_fastest ? 32 : 1; } ///< lines of a team
    KOKKOS_FUNCTION int threads() const { return parts.cut.lines_fastest || rows >= max_threads ? max_threads : static_cast<int>((rows + 31) / 32 * 32); }
    std::int64_t        teams() const { return parts.cut.parts() * ((parts.cut.lines + width() - 1) / width()); }

    template <class Team>
    KOKKOS_FUNCTION void operator()(const Team &team) const
    {
      const PartitionCut         &cut   = parts.cut;
      const std::int64_t          first = team.league_rank() / cut.parts() * width(), q = team.league_rank() % cut.parts(), size = cut.size(q);
      device::Threads<char, Team> all(team, team.scratch());
      all.for_each([&](int v, char &) {
        const std::int64_t l = first + v % width(), step = threads() / width();
        if (l >= cut.lines) return;
        const std::int64_t left = cut.left_of(q), right = cut.right_of(q), begin = out.begin(l) + cut.begin(q) * out.row_stride, matrix = parts.matrix(l, q);
        for (std::int64_t j = v / width(); j < rows; j += step) {
          std::int64_t i = j; // row within the part
          if (rows < cut.piece && j >= left_rows) {
            i = size - (rows - j);
            if (i < left_rows) continue; // tails may be shorter
          }
          if (i < size) correct(l, q, i, left, right, matrix, x + begin + i * out.row_stride);
        }
      });
    }

    KOKKOS_FUNCTION void correct(std::int64_t l, std::int64_t q, std::int64_t i, std::int64_t left, std::int64_t right, std::int64_t matrix, Scalar *at) const
    {
      const PartitionCut &cut    = parts.cut;
      const Spikes       &spikes = parts.spikes[q < cut.pieces ? 0 : 1];
      const int           S = cut.S(), B = cut.B;
      const std::int64_t  m = cut.interior(q);
      if (i >= m) {
        for (int a = 0; a < B; ++a) at[a * out.component_stride] = z[(right * S + (i - m) * B + a) * cut.lines + l];
        return;
      }
      const bool has_left = left >= 0 && i < left_rows, has_right = right >= 0 && m - i <= right_rows;
      if (!has_left && !has_right) return;
      for (int a = 0; a < B; ++a) {
        Scalar v = at[a * out.component_stride];
        for (int e = 0; has_left && e < S; ++e) v -= spikes(i * B + a, e, matrix) * z[(left * S + e) * cut.lines + l];
        for (int e = 0; has_right && e < S; ++e) v -= spikes(i * B + a, S + e, matrix) * z[(right * S + e) * cut.lines + l];
        at[a * out.component_stride] = v;
      }
    }
  };

  /// Class of the piece of every line, from the classes of the pieces of one.
  struct SpreadKernel {
    Kokkos::View<int *, Memory> from, to;
    PartitionCut                cut;
    std::int64_t                matrices;
    KOKKOS_FUNCTION void        operator()(const std::int64_t s) const
    {
      const std::int64_t q = matrices == 1 ? 0 : cut.lines_fastest ? s / cut.lines : s % cut.pieces;
      to(s)                = from.extent(0) ? from(q) : static_cast<int>(q);
    }
  };

  /// Cut for these lines, with pieces == 0 where there is nothing to cut. `piece`: rows of a piece, at least 3 K.
  static PartitionCut cut(const LineSet &lines, const Input &bands, std::int64_t piece)
  {
    PartitionCut c;
    c.rows = lines.rows, c.lines = lines.lines(), c.K = std::max(1, bands.half_bandwidth()), c.B = bands.block, c.ring = bands.periodic;
    c.lines_fastest = lines.lines() > 1 && std::abs(lines.row_stride) > std::abs(lines.stride0);
    if (lines.count1 != 1 || lines.rows < 2 * piece) return c;
    for (c.piece = piece; c.piece >= 3 * c.K; --c.piece) { // a tail is either nothing or long enough for its couplings
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
    parts_.A          = {bands.values, bands.kl(), bands.ku(), bands.block, bands.periodic, shared, lines.rows};
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
    reduced.values = allocate<typename Input::values_type>(exec, "ribbon::partition::reduced", static_cast<std::size_t>(reduced_matrices), static_cast<std::size_t>(separators), 3 * S * S);
    Kokkos::parallel_for("ribbon::partition::assemble", policy(exec, reduced_matrices * separators), AssembleKernel{parts_, reduced.values});
    // unknown a of separators p of line l at (p S + a) lines + l
    LineSet line{separators, cut.lines, 1, static_cast<std::int64_t>(S) * cut.lines, 1, 0, 0};
    line.components = cut.S(), line.component_stride = cut.lines;
    reduced_ = LineSolver<Scalar, Exec>(exec, line, reduced);
    if (!reduced_.report().ok()) failure = "the reduced system is singular";
    z_              = allocate<decltype(z_)>(exec, "ribbon::partition::z", static_cast<std::size_t>(line.unknowns()));
    corrected_rows_ = left_rows_ + right_rows_ + cut.K >= cut.piece ? cut.piece : left_rows_ + right_rows_ + cut.K;
  }

  std::size_t bytes() const
  {
    std::size_t all = solver_[0].report().bytes + reduced_.report().bytes + (parts_.spikes[0].words.size() + parts_.spikes[1].words.size() + parts_.A.values.size() + z_.size()) * sizeof(Scalar);
    if (parts_.cut.tail > 0) all += solver_[1].report().bytes;
    return all;
  }
  /// Of the pieces and of the reduced system.
  double              smallest_pivot() const { return std::min(solver_[0].report().smallest_pivot, reduced_.report().smallest_pivot); }
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
      Kokkos::parallel_for("ribbon::partition::gather", policy(exec, cut.separators() * cut.S() * cut.lines), GatherKernel{parts_, b, x, from, to, z_.data()});
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
    Kokkos::parallel_for("ribbon::partition::classes", policy(exec, count), SpreadKernel{part.class_of_line, classes, parts_.cut, static_cast<std::int64_t>(part.values.extent(0))});
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
  Kokkos::View<Scalar *, Memory> z_;
  std::int64_t                   left_rows_ = 0, right_rows_ = 0, corrected_rows_ = 0;
};

} // namespace ribbon
