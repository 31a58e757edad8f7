// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_kernels.hpp  The kernels of cut_lines.hpp.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_set.hpp>
#include <ribbon/probe/noise.hpp>
#include <ribbon/probe/probe.hpp>

namespace ribbon {

/// A piece of m rows of every line: n interior ones, then K separators where the line goes on to the right. S
/// = K B unknowns are a group of separators.
struct CutPiece {
  std::int64_t m = 0, lines = 0;
  int          K = 1, B = 1;
  bool         left = false, right = false; ///< the line goes on there

  KOKKOS_INLINE_FUNCTION int S() const { return K * B; }
  KOKKOS_INLINE_FUNCTION std::int64_t n() const { return right ? m - K : m; }
  /// The interiors of the pieces `set`.
  LineSet inside(LineSet set) const
  {
    set.rows = n();
    return set;
  }
};

/// 0, 1, ..., n - 1 for a functor that Kokkos would send through a staging copy, and wait, without
/// the hint that it is light.
template <class Exec>
auto light_indices(const Exec &exec, std::int64_t n)
{
#if KOKKOS_VERSION >= 30400
  return Kokkos::Experimental::require(indices(exec, n),
                                       Kokkos::Experimental::WorkItemProperty::HintLightWeight);
#else
  return indices(exec, n);
#endif
}

/// The kernels of a piece, in one place of types.
template <class Scalar, class Memory>
struct CutKernels {
  using Values = typename Bands<Scalar, Memory>::values_type;
  using Words  = Kokkos::View<Scalar *, Memory>;
  using Real   = real_t<Scalar>;

  /// Entries of the pieces, those in columns of other pieces among them: columns -K .. -1 are the separators
  /// left of the piece, m .. m + K - 1 the first rows right of it.
  struct Matrix {
    Values                      values;
    Kokkos::View<int *, Memory> class_of_line; ///< empty: one matrix, or one per line
    std::int64_t                lines = 0;
    int                         kl = 0, ku = 0, B = 1;
    KOKKOS_INLINE_FUNCTION std::int64_t of(std::int64_t line) const
    {
      const std::int64_t l = line % lines;
      return class_of_line.extent(0) ? class_of_line(l) : values.extent(0) == 1 ? 0 : l;
    }
    KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t c, std::int64_t i, std::int64_t j, int a,
                                             int b) const
    {
      const std::int64_t d = j - i;
      return d < -kl || d > ku ? Scalar(0) : values(c, i, ((d + kl) * B + a) * B + b);
    }
  };

  /// V and W, as far as they reach from their ends.
  struct Spikes {
    Words                         V, W;
    std::int64_t                  left_rows = 0, right_rows = 0, n = 0, matrices = 1;
    int                           B = 1, S = 1;
    KOKKOS_INLINE_FUNCTION Scalar v(std::int64_t c, std::int64_t i, int a, int s) const
    {
      return i < left_rows ? V(((i * B + a) * S + s) * matrices + c) : Scalar(0);
    }
    KOKKOS_INLINE_FUNCTION Scalar w(std::int64_t c, std::int64_t i, int a, int s) const
    {
      return n - i <= right_rows ? W((((i - n + right_rows) * B + a) * S + s) * matrices + c) : Scalar(0);
    }
  };

  /// The couplings of the interior rows to the separators left and right, 2 S columns: word (unknown, column,
  /// matrix) at (unknown 2 S + column) matrices + matrix.
  struct CouplingKernel {
    Matrix               A;
    CutPiece             piece;
    Words                words;
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      const auto matrices = static_cast<std::int64_t>(A.values.extent(0));
      const int S = piece.S(), B = piece.B, column = static_cast<int>(k / matrices % (2 * S)), s = column % S;
      const std::int64_t unknown = k / matrices / (2 * S),
                         j       = column < S ? s / B - piece.K : piece.n() + s / B;
      const bool has             = column < S ? piece.left : piece.right;
      words(k) = has ? A(k % matrices, unknown / B, j, static_cast<int>(unknown % B), s % B) : Scalar(0);
    }
  };

  /// Sizes of the numbers of spikes: as they are, and beside their columns of the interior, since an unknown
  /// may be as large as its column is small.
  struct SpikeSizes {
    Words                       words;
    Matrix                      A;
    std::int64_t                matrices, n;
    int                         B, S;
    KOKKOS_INLINE_FUNCTION Real of(std::int64_t k, bool beside_column) const
    {
      const std::int64_t c = k % matrices, u = k / matrices / (2 * S), j = u / B;
      Real               column = beside_column ? 0 : 1;
      for (std::int64_t i = j > A.ku ? j - A.ku : 0; beside_column && i < n && i <= j + A.kl; ++i)
        for (int a = 0; a < B; ++a) {
          const Real size = magnitude(A(c, i, j, a, static_cast<int>(u % B)));
          if (!(size <= column)) column = size;
        }
      return magnitude(words(k)) * column;
    }
  };
  /// of each matrix and each separator beside it, in both sizes
  using Largest = Kokkos::View<Real *[2], Memory>;
  struct LargestKernel {
    SpikeSizes sizes;
    Largest    largest;
    template <class Team>
    KOKKOS_FUNCTION void operator()(const Team &team) const
    {
      const std::int64_t spikes = static_cast<std::int64_t>(largest.extent(0)),
                         spike  = team.league_rank() % spikes;
      const bool       beside   = team.league_rank() >= spikes;
      const SpikeSizes of       = sizes;
      Real             most     = 0;
      Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, of.n * of.B),
        [=](const std::int64_t u, Real &m) {
          const Real a = of.of(u * spikes + spike, beside);
          if (!(a <= m)) m = is_finite(a) ? a : Real(1) / unit_roundoff<Scalar>() / unit_roundoff<Scalar>();
        },
        Kokkos::Max<Real>(most));
      Kokkos::single(Kokkos::PerTeam(team),
                     [&] { largest(static_cast<std::size_t>(spike), beside ? 1 : 0) = most; });
    }
  };
  /// Rows from an end in which a spike has not decayed below 1/32 of rounding, in one size or the other.
  struct ReachKernel {
    SpikeSizes           sizes;
    Largest              largest;
    bool                 right;
    KOKKOS_FUNCTION void operator()(const std::int64_t k, std::int64_t &reach) const
    {
      const std::int64_t spikes = static_cast<std::int64_t>(largest.extent(0)), spike = k % spikes,
                         i = k / spikes / sizes.B, distance = right ? sizes.n - i : i + 1;
      const bool of_right = spike / sizes.matrices >= sizes.S;
      for (int beside = 0; beside < 2; ++beside)
        if (of_right == right && distance > reach &&
            !(sizes.of(k, beside) <=
              largest(static_cast<std::size_t>(spike), beside) * unit_roundoff<Scalar>() / 32))
          reach = distance;
    }
  };
  struct KeepKernel {
    Words                words, to;
    std::int64_t         matrices, first; ///< unknown
    int                  S;
    bool                 right;
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      const std::int64_t c = k % matrices, s = k / matrices % S, u = k / matrices / S + first;
      to(k) = words((u * 2 * S + s + (right ? S : 0)) * matrices + c);
    }
  };
  /// The interior rows, without what lies beside an end of the line.
  struct RowsKernel {
    Matrix               A;
    CutPiece             piece;
    Values               to;
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      const auto         matrices = static_cast<std::int64_t>(to.extent(0));
      const std::int64_t c = k % matrices, i = k / matrices, n = piece.n();
      const int          words = A.B * A.B;
      for (int d = 0; d < static_cast<int>(to.extent(2)); ++d) {
        const std::int64_t j = i + d / words - A.kl;
        to(c, i, d) = (j < 0 && !piece.left) || (j >= n && !piece.right) ? Scalar(0) : A.values(c, i, d);
      }
    }
  };

  /// A piece, and everything that its rows and those left of it have to do with separators.
  struct Parts {
    CutPiece piece;
    Matrix   A;
    Spikes   spikes;
    /// couplings of the separators left of the piece to its first K rows: word (a S + e) us_count + line
    Words        Us;
    std::int64_t us_count = 1; ///< 1 or the number of lines

    KOKKOS_INLINE_FUNCTION Scalar us(std::int64_t line, int a, int e) const
    {
      return Us((static_cast<std::int64_t>(a) * piece.S() + e) * us_count +
                (us_count == 1 ? 0 : line % piece.lines));
    }
    /// Coupling of separator a to unknown e of the K rows before the separators; those that lie left of the
    /// piece are separators themselves.
    KOKKOS_INLINE_FUNCTION Scalar ls(std::int64_t c, int a, int e) const
    {
      return A(c, piece.n() + a / piece.B, piece.n() - piece.K + e / piece.B, a % piece.B, e % piece.B);
    }
  };

  /// What a piece brings to the reduced matrix R: to (p, p), (p, p - 1), (p - 1, p - 1) and (p - 1, p), for
  /// the separators p in it, S x S each.
  struct BlocksKernel {
    Parts                parts;
    Words                to; ///< word (block S^2 + a S + b) lines + line
    std::int64_t         lines;
    KOKKOS_FUNCTION void operator()(const std::int64_t l) const
    {
      const CutPiece    &piece = parts.piece;
      const int          S = piece.S(), B = piece.B;
      const std::int64_t n = piece.n(), c = parts.A.of(l);
      for (int a = 0; a < S; ++a)
        for (int b = 0; b < S; ++b) {
          Scalar block[4] = {Scalar(0), Scalar(0), Scalar(0), Scalar(0)};
          if (piece.right) {
            block[0] = parts.A(c, n + a / B, n + b / B, a % B, b % B);
            if (piece.left) block[1] = parts.A(c, n + a / B, b / B - piece.K, a % B, b % B);
            for (int e = 0; e < S; ++e) {
              const std::int64_t i = n - piece.K + e / B;
              if (i < 0) continue;
              const Scalar ls = parts.ls(c, a, e);
              block[0] -= ls * parts.spikes.w(c, i, e % B, b);
              if (piece.left) block[1] -= ls * parts.spikes.v(c, i, e % B, b);
            }
          }
          for (int e = 0; piece.left && e < S; ++e) {
            const std::int64_t i  = e / B;
            const Scalar       us = parts.us(l, a, e);
            if (i < n) block[2] -= us * parts.spikes.v(c, i, e % B, b);
            if (i < n && piece.right) block[3] -= us * parts.spikes.w(c, i, e % B, b);
            if (i >= n && piece.right && (i - n) * B + e % B == b) block[3] += us;
          }
          for (int k = 0; k < 4; ++k)
            to((static_cast<std::int64_t>(k) * S * S + a * S + b) * lines + l) = block[k];
        }
    }
  };

  /// y of pieces that have been solved: unknown e of their first or last K rows.
  struct Solved {
    const Scalar                 *y;
    LineSet                       out;
    CutPiece                      piece;
    KOKKOS_INLINE_FUNCTION Scalar first(std::int64_t l, int e) const { return at(l, 0, e); }
    KOKKOS_INLINE_FUNCTION Scalar last(std::int64_t l, int e) const { return at(l, piece.n() - piece.K, e); }
    KOKKOS_INLINE_FUNCTION Scalar at(std::int64_t l, std::int64_t row, int e) const
    {
      return y[out(l, row + e / piece.B) + e % piece.B * out.component_stride];
    }
  };

  /// What a piece brings to the right-hand side of the reduced system: of the separators left of it (0 .. S -
  /// 1), and of its own (S .. 2 S - 1).
  template <class Y>
  struct EndsKernel {
    Parts                parts;
    Y                    y;
    const Scalar        *b;
    LineSet              in;
    Scalar              *ends; ///< number c of line l at c lines + l
    KOKKOS_FUNCTION void operator()(const std::int64_t l) const
    {
      const CutPiece    &piece = parts.piece;
      const int          S = piece.S(), B = piece.B;
      const std::int64_t n = piece.n(), c = parts.A.of(l), M = in.lines(), from = in.begin(l);
      for (int a = 0; a < S; ++a) {
        Scalar left(0), own(0);
        for (int e = 0; piece.left && e < S && e / B < n; ++e) left -= parts.us(l, a, e) * y.first(l, e);
        if (piece.right) {
          own = b[from + (n + a / B) * in.row_stride + a % B * in.component_stride];
          for (int e = 0; e < S; ++e)
            if (n - piece.K + e / B >= 0) own -= parts.ls(c, a, e) * y.last(l, e);
        }
        ends[a * M + l] = left, ends[(S + a) * M + l] = own;
      }
    }
  };

  /// x = y - V zl - W zr where that matters, and the separators. Along: one thread per line; otherwise one
  /// per row, of all lines, or (`flat`) one for some rows of a line.
  struct CorrectKernel {
    static constexpr int some = 8, side = 32; ///< rows of a thread; threads side by side on a line
    Parts                parts;
    const Scalar        *zl, *zr; ///< number s of line l at s lines + l
    Scalar              *x;
    LineSet              out;
    std::int64_t         first, rows; ///< of the rows that change, [first, first + rows)
    bool                 along, flat;
    KOKKOS_FUNCTION void operator()(const std::int64_t k) const
    {
      if (flat) return correct_some(k);
      if (!along) return correct_row(first + k);
      const Spikes &s = parts.spikes;
      if (s.matrices > 1 || s.S > 1 || out.row_stride != 1) return correct(k, first, 1, rows);
      // one word of V and W for a row, one separator for the line
      Scalar *const      at = x + out.begin(k);
      const std::int64_t n = s.n, last = first + rows, left = s.left_rows < last ? s.left_rows : last,
                         right = n - s.right_rows > first ? n - s.right_rows : first,
                         end   = n < last ? n : last;
      for (std::int64_t i = first; i < left; ++i) at[i] -= s.V(i) * zl[k];
      for (std::int64_t i = right; i < end; ++i) at[i] -= s.W(i - n + s.right_rows) * zr[k];
      if (n < last) at[n] = zr[k];
    }
    /// Threads of the flat kernel: each has rows of one line, since a division of 64-bit numbers takes a
    /// device longer than a row. Neighbours have neighbours in memory.
    std::int64_t threads() const
    {
      return (along ? threads_of_line() : (rows + some - 1) / some) * out.lines();
    }
    KOKKOS_INLINE_FUNCTION std::int64_t threads_of_line() const
    {
      return (rows + some * side - 1) / (some * side) * side;
    }
    KOKKOS_INLINE_FUNCTION void correct_some(std::int64_t k) const
    {
      const std::int64_t of = along ? threads_of_line() : out.lines(), whole = k / of, rest = k - whole * of;
      if (along) correct(whole, first + rest / side * (some * side) + rest % side, side, some);
      else correct(rest, first + whole * some, 1, some);
    }
    /// All lines of a row, side by side as they mostly lie.
    KOKKOS_INLINE_FUNCTION void correct_row(std::int64_t i) const
    {
      const CutPiece    &piece = parts.piece;
      const Spikes      &s     = parts.spikes;
      const std::int64_t n = s.n, M = out.lines(), count = out.count0, stride = out.stride0;
      for (std::int64_t s1 = 0; s1 < out.count1; ++s1)
        for (int a = 0; a < piece.B; ++a) {
          const std::int64_t l0 = s1 * count;
          Scalar *const      at = x + out.begin(l0) + i * out.row_stride + a * out.component_stride;
          if (i >= n) {
            const Scalar *const z = zr + ((i - n) * piece.B + a) * M + l0;
            for (std::int64_t l = 0; l < count; ++l) at[l * stride] = z[l];
            continue;
          }
          for (int e = 0; i < s.left_rows && e < s.S; ++e)
            subtract(&s.V(((i * s.B + a) * s.S + e) * s.matrices), zl + e * M + l0, l0, count, stride, at);
          for (int e = 0; n - i <= s.right_rows && e < s.S; ++e)
            subtract(&s.W((((i - n + s.right_rows) * s.B + a) * s.S + e) * s.matrices), zr + e * M + l0, l0,
                     count, stride, at);
        }
    }
    /// at -= v z, for lines l0 .. l0 + count - 1.
    KOKKOS_INLINE_FUNCTION void subtract(const Scalar *v, const Scalar *z, std::int64_t l0,
                                         std::int64_t count, std::int64_t stride, Scalar *at) const
    {
      if (parts.spikes.matrices > 1)
        for (std::int64_t l = 0; l < count; ++l) at[l * stride] -= v[parts.A.of(l0 + l)] * z[l];
      else if (stride == 1) {
        const Scalar one = v[0];
        for (std::int64_t l = 0; l < count; ++l) at[l] -= one * z[l];
      } else
        for (std::int64_t l = 0; l < count; ++l) at[l * stride] -= v[0] * z[l];
    }
    /// Rows begin, begin + step, ... of line l, `count` of them, as far as they change.
    KOKKOS_INLINE_FUNCTION void correct(std::int64_t l, std::int64_t begin, int step,
                                        std::int64_t count) const
    {
      const CutPiece    &piece = parts.piece;
      const Spikes      &s     = parts.spikes;
      const int          S = piece.S(), B = piece.B;
      const std::int64_t n = piece.n(), M = out.lines(), c = s.matrices == 1 ? 0 : parts.A.of(l),
                         last = first + rows, end = begin + count * step < last ? begin + count * step : last;
      Scalar *at = x + out.begin(l) + begin * out.row_stride;
      for (std::int64_t i = begin; i < end; i += step, at += step * out.row_stride)
        for (int a = 0; a < B; ++a) {
          if (i >= n) {
            at[a * out.component_stride] = zr[((i - n) * B + a) * M + l];
            continue;
          }
          Scalar v = at[a * out.component_stride];
          for (int e = 0; i < s.left_rows && e < S; ++e) v -= s.v(c, i, a, e) * zl[e * M + l];
          for (int e = 0; n - i <= s.right_rows && e < S; ++e) v -= s.w(c, i, a, e) * zr[e * M + l];
          at[a * out.component_stride] = v;
        }
    }
  };

  /// Right-hand sides that show whether the solves keep the digits of these lines, as probe.hpp has them, of
  /// rows that are numbered along the whole line.
  struct ProbeKernel {
    Matrix       A;
    CutPiece     piece;
    LineSet      set;
    std::int64_t first, length; ///< position of the piece, rows of the whole line
    int          kind;
    Scalar      *x;
    /// solution left of the piece, number s of line l at s lines + l, and right of it, component b of row i
    /// of line l at (i lines + l) B + b
    const Scalar *zl, *next;

    KOKKOS_INLINE_FUNCTION Scalar given(std::int64_t i, int a) const
    {
      const std::int64_t at = ((first + i) % length + length) % length * piece.B + a;
      if (kind == 0) return Scalar(1);
      const Real real =
        noise<Real>((static_cast<std::uint64_t>(kind) << 40) + static_cast<std::uint64_t>(at));
      if constexpr (std::is_floating_point_v<Scalar>) return real;
      else
        return Scalar(
          real, noise<Real>((static_cast<std::uint64_t>(kind + 8) << 40) + static_cast<std::uint64_t>(at)));
    }
    KOKKOS_INLINE_FUNCTION bool is_on_line(std::int64_t j) const
    {
      return (j >= 0 || piece.left) && (j < piece.m || piece.right);
    }
    KOKKOS_INLINE_FUNCTION Scalar right_hand_side(std::int64_t c, std::int64_t i, int a) const
    {
      if (kind == 2) return given(i, a);
      Scalar f(0);
      for (std::int64_t j = i - A.kl; j <= i + A.ku; ++j)
        for (int b = 0; b < piece.B && is_on_line(j); ++b) f += A(c, i, j, a, b) * given(j, b);
      return f;
    }
    struct Fill { };
    KOKKOS_FUNCTION void operator()(Fill, const std::int64_t l) const
    {
      const std::int64_t c = A.of(l);
      for (std::int64_t i = 0; i < piece.m; ++i)
        for (int a = 0; a < piece.B; ++a) x[set(l, i) + a * set.component_stride] = right_hand_side(c, i, a);
    }
    /// Norms of a line, four for each: of the residual, the matrix, the solution and the right-hand side.
    struct Measure { };
    Real                *norms = nullptr;
    KOKKOS_FUNCTION void operator()(Measure, const std::int64_t l) const
    {
      const std::int64_t c = A.of(l), M = set.lines();
      Real               norm[4] = {0, 0, 0, 0};
      const auto         see     = [&](int k, Real a) {
        if (!(a <= norm[k]))
          norm[k] = is_finite(a) ? a : Real(1) / unit_roundoff<Scalar>() / unit_roundoff<Scalar>();
      };
      for (std::int64_t i = 0; i < piece.m; ++i)
        for (int a = 0; a < piece.B; ++a) {
          const Scalar f   = right_hand_side(c, i, a);
          Scalar       r   = f;
          Real         sum = 0;
          for (std::int64_t j = i - A.kl; j <= i + A.ku; ++j)
            for (int b = 0; b < piece.B && is_on_line(j); ++b) {
              const Scalar e = A(c, i, j, a, b);
              sum += magnitude(e);
              if (e != Scalar(0))
                r -= e * (j < 0         ? zl[((j + piece.K) * piece.B + b) * M + l]
                          : j < piece.m ? x[set(l, j) + b * set.component_stride]
                                        : next[((j - piece.m) * M + l) * piece.B + b]);
            }
          see(0, magnitude(r)), see(1, sum), see(2, magnitude(x[set(l, i) + a * set.component_stride])),
            see(3, magnitude(f));
        }
      for (int k = 0; k < 4; ++k) norms[k * M + l] = norm[k];
    }
  };
};

} // namespace ribbon
