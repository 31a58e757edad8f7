// SPDX-License-Identifier: BSD-2-Clause
/// @file looped.hpp  Elimination along whole lines for every bandwidth and block size: one thread per line,
///   widths known at run time.
///
/// There is one kernel per scalar and scheme instead of one per system: PlainScheme and OrthogonalScheme
/// with loops over run-time widths. A line is one chunk (chunk.hpp, orthogonal.hpp). The coefficients of a
/// row are `word` apart: 1 if lines share a table, the number of lines for one matrix per line, so that
/// neighbouring threads read neighbouring words.
///
/// Lines may be long. So the equation with the largest entry leaves the window of W + 1 equations
/// (in orthogonal.hpp the oldest). Sums in the window are compensated (docs/methods/kernels.md).
#pragma once

#include <ribbon/elimination/elimination.hpp>
#include <ribbon/line_set.hpp>
#include <ribbon/elimination/orthogonal.hpp>
#include <ribbon/elimination/reduced.hpp>

namespace ribbon {

inline constexpr int most_separators = 30; ///< kl + ku of a block tridiagonal matrix with blocks of 8
inline constexpr int most_block      = 8;

/// Widths of a system, and the words of its tables per row and per line.
struct LoopedShape {
  bool orthogonal = false;
  int  reach = 0, block = 1; ///< plain: K and B
  int  lower = 0, upper = 0; ///< orthogonal: kl and ku
  bool closed = false;       ///< the line ends in separators that close a ring (orthogonal: always)

  KOKKOS_INLINE_FUNCTION int separators() const { return orthogonal ? lower + upper : reach * block; }
  KOKKOS_INLINE_FUNCTION int separator_rows() const
  {
    return closed ? (orthogonal ? separators() : reach) : 0;
  }
  KOKKOS_INLINE_FUNCTION int row_block() const { return orthogonal ? 1 : block; }
  KOKKOS_INLINE_FUNCTION int forward_words() const
  {
    return orthogonal ? separators() + 3 : block * block * (1 + 2 * reach);
  }
  KOKKOS_INLINE_FUNCTION int backward_words() const
  {
    return orthogonal ? 2 * separators() : 2 * block * block * reach;
  }
  /// Plain: Lg, Us, R and G. Orthogonal: the triangular factors of R, W x W, with the reciprocals of the
  /// pivots on the diagonal, and the order of its rows.
  KOKKOS_INLINE_FUNCTION int closure_words() const
  {
    return !closed ? 0 : orthogonal ? separators() * (separators() + 1) : 4 * separators() * separators();
  }
  KOKKOS_INLINE_FUNCTION std::int64_t forward_rows(std::int64_t n) const
  {
    return orthogonal ? n : n - separator_rows();
  }
  KOKKOS_INLINE_FUNCTION std::int64_t backward_rows(std::int64_t n) const { return n - separator_rows(); }
  KOKKOS_INLINE_FUNCTION std::int64_t words(std::int64_t n) const
  {
    return forward_rows(n) * forward_words() + backward_rows(n) * backward_words() + closure_words();
  }
};

/// Solves lines with tables of a LoopedShape. Rows of an orthogonal table are unknowns: block matrices are
/// treated as bands.
/// @tparam Max  most separators. Loops run to Max and leave early, so that small arrays stay in registers
///   on a device
template <class Scalar, bool orthogonal, int Max>
struct LoopedKernel {
  LoopedShape   shape;
  std::int64_t  rows; ///< of the table
  const Scalar *table;
  std::int64_t  word, next;    ///< distance of the words of a matrix, and of two matrices
  const int    *class_of_line; ///< null: line l has matrix l % matrices
  std::int64_t  classified, matrices;
  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;

  /// Calls f(0), ..., f(n - 1), n <= Max.
  template <class F>
  KOKKOS_INLINE_FUNCTION static void each(int n, const F &f)
  {
    if constexpr (Max > 8)
      for (int k = 0; k < n; ++k) f(k);
    else {
      RIBBON_UNROLL
      for (int k = 0; k < Max; ++k) {
        if (k >= n) break;
        f(k);
      }
    }
  }

  /// Position of row i of a line; component a lies `component_stride` further.
  KOKKOS_FUNCTION std::int64_t place(const LineSet &set, std::int64_t i) const
  {
    return !orthogonal || set.components == 1
             ? i * set.row_stride
             : i / set.components * set.row_stride + i % set.components * set.component_stride;
  }
  /// Word j of the table at `at`.
  KOKKOS_FUNCTION Scalar read(const Scalar *at, int j) const { return read_only_scalar(at + j * word); }

  /// z = G r with one step of refinement. Words from `at`: R, G.
  KOKKOS_FUNCTION void close(const Scalar *at, const Scalar *r, Scalar *z) const
  {
    const int S             = shape.separators();
    Scalar    residual[Max] = {};
    each(S, [&](int a) {
      z[a] = Scalar(0);
      each(S, [&](int e) { z[a] += read(at, S * S + a * S + e) * r[e]; });
    });
    each(S, [&](int a) {
      residual[a] = r[a];
      each(S, [&](int e) { residual[a] -= read(at, a * S + e) * z[e]; });
    });
    each(S, [&](int a) { each(S, [&](int e) { z[a] += read(at, S * S + a * S + e) * residual[e]; }); });
  }

  /// R z = r by the triangular factors of R with its rows in order: backward stable even if R is close to
  /// singular.
  KOKKOS_FUNCTION void close_pivoted(const Scalar *at, const Scalar *r, Scalar *z) const
  {
    const int W = shape.separators();
    each(W, [&](int a) {
      const Scalar from = read(at, W * W + a);
      z[a]              = Scalar(0);
      each(W, [&](int e) {
        if (from == Scalar(static_cast<real_t<Scalar>>(e))) z[a] = r[e];
      });
      each(W, [&](int e) {
        if (e < a) z[a] -= read(at, a * W + e) * z[e];
      });
    });
    each(W, [&](int k) {
      const int a = W - 1 - k;
      Scalar    v(0);
      each(W, [&](int e) {
        if (e == a) v = z[e];
      });
      each(W, [&](int e) {
        if (e > a) v -= read(at, a * W + e) * z[e];
      });
      v *= read(at, a * W + a);
      each(W, [&](int e) {
        if (e == a) z[e] = v;
      });
    });
  }

  /// Whether v belongs to the row that a reflection removes from the window: its v is larger than 1 and
  /// those of the others are smaller (|v|^2 = 2).
  KOKKOS_FUNCTION static bool leaves(const Scalar &v)
  {
    if constexpr (std::is_floating_point_v<Scalar>) return v * v > 1;
    else return v.real() * v.real() + v.imag() * v.imag() > 1;
  }

  /// Moves a window by a row: the newest values first. Either rows have one unknown or the window has one
  /// row.
  KOKKOS_FUNCTION static void push(int S, int B, const Scalar *v, Scalar *w)
  {
    if (B == 1) {
      if constexpr (Max > 8)
        for (int q = S - 1; q > 0; --q) w[q] = w[q - 1];
      else {
        RIBBON_UNROLL
        for (int q = Max - 1; q > 0; --q)
          if (q < S) w[q] = w[q - 1];
      }
      w[0] = v[0];
    } else each(B, [&](int a) { w[a] = v[a]; });
  }

  /// Backward sweep of the rows before the separators: unknowns of row k go to rows k + shift. w: the
  /// unknowns right of them, nearest first.
  KOKKOS_FUNCTION void backward(const Scalar *from, std::int64_t m, int shift, const Scalar *z, Scalar *w,
                                Scalar *to) const
  {
    const int S = shape.separators(), B = shape.row_block();
    for (std::int64_t i = m - 1; i >= 0; --i) {
      const Scalar *row    = from + i * shape.backward_words() * word;
      Scalar       *at     = to + place(out, i + shift);
      Scalar        v[Max] = {};
      each(B, [&](int a) {
        Scalar s = at[a * out.component_stride];
        if (shape.closed) each(S, [&](int q) { s -= read(row, S * B + a * S + q) * z[q]; });
        each(S, [&](int q) { s += read(row, u_word(q, a)) * w[q]; });
        v[a] = s;
      });
      push(S, B, v, w);
      each(B, [&](int a) { at[a * out.component_stride] = v[a]; });
    }
  }
  /// Word of the coupling of unknown a of a row to value q of a window. There are K blocks of B x B, with
  /// K = 1 or B = 1.
  KOKKOS_FUNCTION int u_word(int q, int a) const { return a * shape.row_block() + q; }

  KOKKOS_FUNCTION void plain(const Scalar *mine, const Scalar *f, Scalar *to) const
  {
    const int          K = shape.reach, B = shape.block, S = K * B, BB = B * B;
    const std::int64_t m         = rows - shape.separator_rows();
    const Scalar      *backwards = mine + m * shape.forward_words() * word,
                 *closure        = backwards + m * shape.backward_words() * word;
    Scalar g[Max] = {}, y_first[Max] = {}, z[Max] = {}, w[Max] = {};
    for (std::int64_t i = 0; i < m; ++i) {
      const Scalar *row = mine + i * shape.forward_words() * word, *from = f + i * in.row_stride;
      Scalar        arriving[Max] = {}, v[Max] = {};
      each(B, [&](int a) { arriving[a] = from[a * in.component_stride]; });
      each(B, [&](int a) {
        v[a] = Scalar(0);
        each(B, [&](int e) { v[a] += read(row, a * B + e) * arriving[e]; });
        each(S, [&](int q) { v[a] += read(row, BB + u_word(q, a)) * g[q]; });
      });
      if (shape.closed)
        each(S, [&](int s) {
          each(B, [&](int e) { y_first[s] += read(row, BB + K * BB + s * B + e) * arriving[e]; });
        });
      push(S, B, v, g);
      each(B, [&](int a) { to[i * out.row_stride + a * out.component_stride] = v[a]; });
    }
    if (shape.closed) {
      Scalar r[Max] = {};
      each(S, [&](int a) {
        const std::int64_t at = m + a / B;
        r[a]                  = f[at * in.row_stride + a % B * in.component_stride];
        each(S, [&](int q) {
          r[a] -= read(closure, a * S + q) * g[q] + read(closure, S * S + a * S + q) * y_first[q];
        });
      });
      close(closure + 2 * S * S * word, r, z);
      each(S, [&](int a) { to[(m + a / B) * out.row_stride + a % B * out.component_stride] = w[a] = z[a]; });
    }
    backward(backwards, m, 0, z, w, to);
  }

  /// In place, row k + W of the right-hand side is read before unknown k + ku is written: the first ku
  /// unknowns are computed last. `rest` holds the rounding errors of t.
  KOKKOS_FUNCTION void householder(const Scalar *mine, const Scalar *f, Scalar *to) const
  {
    const int          W = shape.separators(), shift = shape.upper;
    const std::int64_t m         = rows - W;
    const Scalar      *backwards = mine + rows * shape.forward_words() * word,
                 *closure        = backwards + m * shape.backward_words() * word;
    Scalar t[Max] = {}, rest[Max] = {}, z[Max] = {}, w[Max] = {};
    for (std::int64_t i = 0; i < rows; ++i) {
      const Scalar *row      = mine + i * shape.forward_words() * word;
      const Scalar  arriving = read(row, W + 2) * f[place(in, i)];
      if (i < W) { // the window fills first, then one row leaves for each new row
        each(W, [&](int q) {
          if (q == i) t[q] = arriving;
        });
        continue;
      }
      const Scalar last    = read(row, W);
      Scalar       dot     = conjugate(last) * arriving;
      int          leaving = W;
      each(W, [&](int q) {
        const Scalar v = read(row, q);
        dot += conjugate(v) * t[q];
        if (leaves(v)) leaving = q;
      });
      Scalar newest = arriving, of_newest(0);
      subtract_compensated(newest, of_newest, last * dot);
      Scalar gone = newest;
      each(W, [&](int q) { // rows after the leaving row move by one
        Scalar v = t[q], of_v = rest[q];
        subtract_compensated(v, of_v, read(row, q) * dot);
        if (q < leaving) t[q] = v, rest[q] = of_v;
        if (q == leaving) gone = v;
        if (q > leaving && q > 0) t[q - 1] = v, rest[q - 1] = of_v;
        if (q + 1 == W && leaving < W) t[q] = newest, rest[q] = of_newest;
      });
      to[place(out, i - W + shift)] = read(row, W + 1) * gone;
    }
    close_pivoted(closure, t, z);
    each(W, [&](int a) {
      const std::int64_t k                    = m + shift + a;
      to[place(out, k < rows ? k : k - rows)] = w[a] = z[a];
    });
    backward(backwards, m, shift, z, w, to);
  }

  KOKKOS_FUNCTION void operator()(const std::int64_t l) const
  {
    const Scalar *mine = table + (class_of_line ? class_of_line[l % classified] : l % matrices) * next;
    if constexpr (orthogonal) householder(mine, b + in.begin(l), x + out.begin(l));
    else plain(mine, b + in.begin(l), x + out.begin(l));
  }
};

/// Whole-line factors of a LoopedShape. solve() may be called any number of times.
template <class Scalar, class Exec>
class Looped {
public:
  using Memory = typename Exec::memory_space;
  using Table  = Kokkos::View<Scalar *, Memory>;

  /// Factors a few matrices on the host, in extended precision. `watch` sees every pivot.
  Looped(const Exec &exec, const std::vector<HostMatrix<Scalar>> &matrices, bool orthogonal,
         PivotWatch &watch)
      : matrices_(static_cast<std::int64_t>(matrices.size())), word_(1)
  {
    shape_ = shape_of(matrices[0], orthogonal), rows_ = matrices[0].rows, next_ = shape_.words(rows_);
    table_ = allocate<Table>(exec, "ribbon::looped::table", static_cast<std::size_t>(next_ * matrices_));
    auto    host = Kokkos::create_mirror_view(table_);
    Scalar *to   = host.data();
    for (const auto &A : matrices) {
      watch.current    = static_cast<int>(&A - matrices.data());
      const auto chunk = orthogonal ? eliminate_orthogonal(A, 0, A.rows, true, watch)
                                    : eliminate_plain(A, 0, A.rows, shape_.closed, watch);
      auto       put   = [&to](const auto &words) {
        for (const auto &v : words) *to++ = narrow<Scalar>(v);
      };
      put(chunk.forward), put(chunk.backward);
      if (!shape_.closed) continue;
      if (!orthogonal) put(chunk.edge);
      const int  S = shape_.separators(), first = A.rows - shape_.separator_rows();
      const auto row_of = [&](int k) { return (first + (orthogonal ? A.upper + k : k / A.block)) % A.rows; };
      const ReducedSystem<Scalar> ring(
        {chunk}, true, row_of, [&](int k) { return orthogonal ? 1 : A.row_max(row_of(k), k % A.block); },
        watch);
      Dense<wide_t<Scalar>> R(S, S);
      for (std::size_t e = 0; e < R.a.size(); ++e)
        R.a[e] = ring.lower.a[e] + ring.diag.a[e] + ring.upper.a[e];
      if (orthogonal) {
        const auto order = R.factor();
        put(R.a);
        for (int k : order) *to++ = Scalar(static_cast<real_t<Scalar>>(k));
      } else put(R.a), put(ring.inverse.a);
    }
    Kokkos::deep_copy(exec, table_, host);
    exec.fence();
  }

  /// Uses tables that were computed in the memory of the coefficients: word k of line l at k * lines + l.
  Looped(const LoopedShape &shape, std::int64_t rows, std::int64_t lines, Table table)
      : shape_(shape), rows_(rows), matrices_(lines), word_(lines), next_(1), table_(table)
  {
  }

  static LoopedShape shape_of(const HostMatrix<Scalar> &A, bool orthogonal)
  {
    LoopedShape s;
    s.orthogonal = orthogonal, s.reach = A.reach(), s.block = A.block, s.lower = A.lower, s.upper = A.upper,
    s.closed = orthogonal || A.periodic;
    return s;
  }

  std::size_t        bytes() const { return table_.size() * sizeof(Scalar); }
  const LoopedShape &shape() const { return shape_; }
  const Table       &table() const { return table_; }
  /// The same with new tables, without values.
  Looped beside(const Exec &exec) const
  {
    return Looped(shape_, rows_, matrices_, allocate<Table>(exec, "ribbon::looped::table", table_.size()));
  }

  /// x = A^-1 b for all lines. Asynchronous on exec. In place if b == x and both layouts agree.
  /// @param first  of one matrix per line, that of the first line
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const int *class_of_line, std::int64_t classified, std::int64_t first = 0) const
  {
    const auto run = [&](auto orthogonal, auto most) {
      using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<128, 4>>;
      Kokkos::parallel_for(
        orthogonal ? "ribbon::pivoted" : "ribbon::thomas", Policy(exec, 0, in.lines()),
        LoopedKernel<Scalar, orthogonal(), most()>{shape_, rows_, table_.data() + first * next_, word_, next_,
                                                   class_of_line, classified, matrices_, b, x, in, out});
    };
    if (!shape_.orthogonal && shape_.separators() <= 4)
      run(std::false_type{}, std::integral_constant<int, 4>{});
    else if (!shape_.orthogonal) run(std::false_type{}, std::integral_constant<int, most_block>{});
    else {
      // in float they use the loops of wider ones, to limit the number of kernels of the library
      if constexpr (sizeof(Scalar) > 4)
        if (shape_.separators() <= 4) return run(std::true_type{}, std::integral_constant<int, 4>{});
      run(std::true_type{}, std::integral_constant<int, most_separators>{});
    }
  }

private:
  LoopedShape  shape_;
  std::int64_t rows_ = 0, matrices_ = 0, word_ = 1, next_ = 1;
  Table        table_;
};

} // namespace ribbon
