// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_operator.hpp  Distributed lines: products A^-1 B of one sub-line, in one exchange.
///
/// The sub-line is that of cut_lines.hpp: interior rows with the matrix A_i, then K separators. B has entries
/// in the columns of the interior, of H rows left of it (ul), and of H rows right of it (ur): the separators,
/// and the first rows of the right neighbour. E = A_i^-1 (entries in ul), F = A_i^-1 (entries in ur).
///
///     forward    y = A_i^-1 B u of the interior in one pass, and the contributions to the right-hand side r
///                of the reduced system
///     between    R z = r, as for a solve; H rows of u travel in the same messages
///     backward   x = y + E ul + F ur - V zl - W zr, in the rows that these columns reach
///
/// A rank contributes every term that contains its rows of u, also those with E and F of its neighbours. Terms
/// from one end of a sub-line to a separator at its other end must be below rounding, relative to the other
/// terms of this separator.
#pragma once

#include <ribbon/distributed/cut_lines.hpp>
#include <ribbon/line_operator.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ribbon {

/// Values of a message: to the left H rows of u and S contributions, to the right S contributions and H rows.
template <class Scalar, class Memory>
struct CutProductEndsKernel {
  using Words = Kokkos::View<Scalar *, Memory>;
  CutPiece      piece;
  int           H;
  Words         to_left, to_right; ///< S x H, of the first rows of u; S x (S + H), of the last
  Words         us, ls;            ///< S x S, of the first and of the last S rows of y
  Scalar        alpha;
  const Scalar *u, *y;
  LineSet       in, out;
  Scalar       *message; ///< value c of line l at c lines + l

  KOKKOS_FUNCTION void operator()(const std::int64_t l) const
  {
    const std::int64_t n = piece.n(), M = in.lines(), from = in.begin(l), at = out.begin(l);
    const int          S = piece.S();
    for (int a = 0; a < S; ++a) message[(H + a) * M + l] = message[(H + S + a) * M + l] = Scalar(0);
    if (piece.left) {
      for (int a = 0; a < S; ++a)
        message[(H + a) * M + l] = alpha * sum(to_left, a, H, u + from, in) - sum(us, a, S, y + at, out);
      for (int t = 0; t < H; ++t) message[t * M + l] = alpha * u[from + t * in.row_stride];
    }
    if (!piece.right) return;
    for (int a = 0; a < S; ++a)
      message[(H + S + a) * M + l] = alpha * sum(to_right, a, S + H, u + from + (n - H) * in.row_stride, in) -
                                     sum(ls, a, S, y + at + (n - S) * out.row_stride, out);
    for (int t = 0; t < H; ++t)
      message[(H + 2 * S + t) * M + l] = alpha * u[from + (piece.m - H + t) * in.row_stride];
  }
  /// The product of row a of a matrix with rows of a line.
  KOKKOS_INLINE_FUNCTION Scalar sum(const Words &matrix, int a, int count, const Scalar *rows,
                                    const LineSet &set) const
  {
    Scalar s(0);
    for (int t = 0; t < count; ++t) s += matrix(a * count + t) * rows[t * set.row_stride];
    return s;
  }
};

/// One matrix A and one matrix B for all lines, without blocks.
template <class Scalar, class Exec>
class CutOperator {
public:
  using Memory  = typename Exec::memory_space;
  using Input   = Bands<Scalar, Memory>;
  using Kernels = CutKernels<Scalar, Memory>;
  using Words   = typename Kernels::Words;
  using Real    = real_t<Scalar>;

  CutOperator() = default;

  /// H: the rows of u that travel. The last S of them are the separators, so that H >= S.
  static int carried(const Input &A, const Input &B)
  {
    return std::max({1, A.half_bandwidth(), B.half_bandwidth()});
  }
  /// Least rows of a sub-line.
  static std::int64_t least_rows(const Input &A, const Input &B)
  {
    return carried(A, B) + std::max(1, A.half_bandwidth());
  }

  /// Factors the interior, and computes E and F. `why_not` says why this sub-line needs another way.
  /// @param cut   of A, without dot products
  /// @param A, B  rows of the sub-line, not periodic, including entries in columns of other sub-lines
  CutOperator(const Exec &exec, const CutLines<Scalar, Exec> &cut, const LineSet &lines, const Input &A,
              const Input &B, const LineSolverOptions &options, std::string &why_not)
      : parts_(cut.parts()), H_(carried(A, B))
  {
    const CutPiece &piece = parts_.piece;
    const Host      a = to_host(A), b = to_host(B);
    const auto      n      = piece.n();
    const LineSet   inside = piece.inside(lines);
    const auto      A_i = interior(exec, a, n), B_i = interior(exec, b, n);
    exec.fence();
    LineOperatorOptions how;
    how.solver = options;
    interior_  = {exec, inside, A_i, B_i, how};
    if (!interior_.report().ok()) {
      why_not = "a sub-line cannot be solved alone";
      return;
    }
    const Columns columns = solve_columns(exec, A_i, b);
    contribute(a, b, columns, exec, why_not);
    extend_spikes(exec, a, columns);
  }

  /// S x H coefficients that the neighbours need: of the last rows of the left, of the first of the right.
  const std::vector<Scalar> &of_left() const { return of_left_; }
  const std::vector<Scalar> &of_right() const { return of_right_; }
  /// Takes of_right() of the left neighbour and of_left() of the right one; empty where there is none.
  void take(const Exec &exec, const std::vector<Scalar> &left, const std::vector<Scalar> &right)
  {
    const int S = parts_.piece.S();
    to_left_    = upload(exec, "ribbon::cut_operator::to_left", left);
    for (int e = 0; !right.empty() && e < S * H_; ++e)
      own_[static_cast<std::size_t>(e / H_ * (S + H_) + S + e % H_)] += right[static_cast<std::size_t>(e)];
    to_right_ = upload(exec, "ribbon::cut_operator::to_right", own_);
    exec.fence();
  }

  bool is_fused() const { return interior_.is_fused(); }
  /// Rows at either end that backward() changes.
  std::int64_t left_rows() const { return parts_.spikes.left_rows; }
  std::int64_t right_rows() const { return parts_.spikes.right_rows; }

  /// Writes y to x, and the message. u is not x. Asynchronous on exec.
  void forward(const Exec &exec, Scalar alpha, const Scalar *u, const LineSet &in, Scalar *x,
               const LineSet &out, Scalar *message) const
  {
    const CutPiece       &piece = parts_.piece;
    OperatorTerms<Scalar> terms;
    terms.alpha = alpha;
    interior_.apply(exec, u, piece.inside(in), x, piece.inside(out), terms);
    Kokkos::parallel_for("ribbon::cut_operator::ends", light_indices(exec, in.lines()),
                         CutProductEndsKernel<Scalar, Memory>{piece, H_, to_left_, to_right_, us_, ls_, alpha,
                                                              u, x, in, out, message});
  }
  /// Writes x.
  /// @param left, right  the separators and H rows of u left and right of the interior: value s of line l at
  ///   s lines + l
  void backward(const Exec &exec, const Scalar *left, const Scalar *right, Scalar *x,
                const LineSet &out) const
  {
    correct_ends(exec, parts_, left, right, x, out);
  }

private:
  using Host = Bands<Scalar, Kokkos::HostSpace>;

  /// E and F: columns 0 .. H - 1 and H .. 2 H - 1 of n rows, value (row, column) at row * 2 H + column.
  struct Columns {
    std::vector<Scalar> words;
    int                 H;
    std::int64_t        n;
    Scalar operator()(std::int64_t i, int c) const { return words[static_cast<std::size_t>(i * 2 * H + c)]; }
  };

  /// Entry (i, j) of a sub-line.
  static Scalar entry(const Host &bands, std::int64_t i, std::int64_t j)
  {
    const std::int64_t d = j - i;
    return d < -bands.kl() || d > bands.ku()
             ? Scalar(0)
             : bands.values(0, static_cast<std::size_t>(i), static_cast<std::size_t>(d + bands.kl()));
  }
  /// The first n rows.
  static Input interior(const Exec &exec, const Host &bands, std::int64_t n)
  {
    Input rows;
    rows.lower = bands.kl(), rows.upper = bands.ku();
    rows.values = allocate<typename Input::values_type>(exec, "ribbon::cut_operator::bands", std::size_t(1),
                                                        static_cast<std::size_t>(n), bands.values.extent(2));
    const auto host = Kokkos::create_mirror_view(rows.values);
    for (std::size_t i = 0; i < rows.values.extent(1); ++i)
      for (std::size_t d = 0; d < rows.values.extent(2); ++d) host(0, i, d) = bands.values(0, i, d);
    Kokkos::deep_copy(exec, rows.values, host);
    exec.fence();
    return rows;
  }

  Columns solve_columns(const Exec &exec, const Input &A_i, const Host &B) const
  {
    const CutPiece &piece = parts_.piece;
    const auto      n     = piece.n();
    Columns         columns{std::vector<Scalar>(static_cast<std::size_t>(2 * H_ * n), Scalar(0)), H_, n};
    for (std::int64_t i = 0; i < n; ++i)
      for (int q = 0; q < H_; ++q) {
        Scalar *const row = &columns.words[static_cast<std::size_t>(i * 2 * H_)];
        if (piece.left) row[q] = entry(B, i, q - H_);
        if (piece.right) row[H_ + q] = entry(B, i, n + q);
      }
    const auto        words = upload(exec, "ribbon::cut_operator::columns", columns.words);
    const LineSet     set{n, 2 * H_, 1, 2 * H_, 1, 0, 0};
    LineSolverOptions judged; // interior_ has judged this matrix already
    judged.probe = "never";
    LineSolver<Scalar, Exec>(exec, set, A_i, judged).solve(exec, words.data(), set, words.data(), set);
    Kokkos::deep_copy(exec,
                      Kokkos::View<Scalar *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        columns.words.data(), columns.words.size()),
                      words);
    exec.fence();
    return columns;
  }

  /// Computes the matrices of the contributions on the host, and uploads us and ls.
  void contribute(const Host &A, const Host &B, const Columns &columns, const Exec &exec,
                  std::string &why_not)
  {
    const CutPiece     &piece = parts_.piece;
    const int           S = piece.S(), H = H_;
    const std::int64_t  n  = piece.n();
    const auto          at = [](int a, int e, int width) { return static_cast<std::size_t>(a * width + e); };
    std::vector<Scalar> us(static_cast<std::size_t>(S * S), Scalar(0)), ls = us;
    Kokkos::deep_copy(Kokkos::View<Scalar *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        us.data(), us.size()),
                      parts_.Us);
    for (int a = 0; piece.right && a < S; ++a)
      for (int k = 0; k < S; ++k) ls[at(a, k, S)] = entry(A, n + a, n - S + k);
    const auto through = [&](const std::vector<Scalar> &c, int a, std::int64_t first, int column) {
      Scalar s(0);
      for (int k = 0; k < S; ++k) s += c[at(a, k, S)] * columns(first + k, column);
      return s;
    };
    own_.assign(static_cast<std::size_t>(S * (S + H)), Scalar(0));
    if (piece.left) of_left_.assign(static_cast<std::size_t>(S * H), Scalar(0));
    if (piece.right) of_right_.assign(static_cast<std::size_t>(S * H), Scalar(0));
    for (int a = 0; a < S; ++a)
      for (int q = 0; q < H; ++q) {
        if (piece.left) of_left_[at(a, q, H)] = -through(us, a, 0, q);
        if (piece.right)
          of_right_[at(a, q, H)] =
            entry(B, n + a, piece.m + q) - (S + q < H ? through(ls, a, n - S, H + S + q) : Scalar(0));
      }
    for (int a = 0; piece.right && a < S; ++a)
      for (int t = 0; t < S + H; ++t)
        own_[at(a, t, S + H)] = entry(B, n + a, n - H + t) - (t >= H ? through(ls, a, n - S, t) : Scalar(0));
    // compared with the other terms of its separator only: rows of A and B may have any scale
    for (int a = 0; piece.left && piece.right && a < S; ++a) {
      Real to_left = 0, to_right = 0, at_left = 0, at_right = 0;
      for (int q = 0; q < H; ++q) {
        to_left  = std::max(to_left, magnitude(through(us, a, 0, H + q)));
        to_right = std::max(to_right, magnitude(through(ls, a, n - S, q)));
        at_left  = std::max(at_left, magnitude(of_left_[at(a, q, H)]));
        at_right = std::max(at_right, magnitude(of_right_[at(a, q, H)]));
      }
      for (int t = 0; t < S + H; ++t) at_right = std::max(at_right, magnitude(own_[at(a, t, S + H)]));
      if (!(to_left <= unit_roundoff<Scalar>() * at_left && to_right <= unit_roundoff<Scalar>() * at_right))
        why_not = "sub-lines are short";
    }
    us_ = upload(exec, "ribbon::cut_operator::us", us), ls_ = upload(exec, "ribbon::cut_operator::ls", ls);
    exec.fence();
  }

  /// Spikes of S + H columns: V and -E, W and -F.
  void extend_spikes(const Exec &exec, const Host &A, const Columns &columns)
  {
    const CutPiece    &piece = parts_.piece;
    const int          S = piece.S(), all = S + H_;
    const std::int64_t n      = piece.n();
    auto              &spikes = parts_.spikes;
    const auto         mirror = [](const Words &w) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), w);
    };
    for (bool right : {false, true}) {
      const auto         old   = mirror(right ? spikes.W : spikes.V);
      const std::int64_t had   = right ? spikes.right_rows : spikes.left_rows,
                         reach = std::max(had, rows_reached(A, columns, right));
      std::vector<Scalar> words(static_cast<std::size_t>(reach * all), Scalar(0));
      for (std::int64_t k = 0; k < reach; ++k) { // row k of those that are kept
        const std::int64_t i = right ? n - reach + k : k, in_old = right ? k - (reach - had) : k;
        for (int s = 0; s < all; ++s)
          words[static_cast<std::size_t>(k * all + s)] = s >= S ? -columns(i, (right ? H_ : 0) + s - S)
                                                         : in_old >= 0 && in_old < had
                                                           ? old(static_cast<std::size_t>(in_old * S + s))
                                                           : Scalar(0);
      }
      (right ? spikes.W : spikes.V)                  = upload(exec, "ribbon::cut_operator::spikes", words);
      (right ? spikes.right_rows : spikes.left_rows) = reach;
    }
    spikes.S = all;
    exec.fence();
  }
  /// Rows, counted from an end, up to the last in which E or F exceeds the threshold of SpikeSizes.
  std::int64_t rows_reached(const Host &A, const Columns &columns, bool right) const
  {
    const std::int64_t n     = columns.n;
    std::int64_t       reach = 0;
    std::vector<Real>  size(static_cast<std::size_t>(n), Real(0)); // largest entry of a column of A_i
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = std::max<std::int64_t>(0, j - A.ku()); i < n && i <= j + A.kl(); ++i)
        size[static_cast<std::size_t>(j)] =
          std::max(size[static_cast<std::size_t>(j)], magnitude(entry(A, i, j)));
    for (int c = right ? H_ : 0; c < (right ? 2 * H_ : H_); ++c)
      for (bool scaled : {false, true}) {
        const auto of = [&](std::int64_t i) {
          return magnitude(columns(i, c)) * (scaled ? size[static_cast<std::size_t>(i)] : Real(1));
        };
        Real most = 0;
        for (std::int64_t i = 0; i < n; ++i) most = std::max(most, of(i));
        for (std::int64_t i = 0; i < n; ++i)
          if (of(i) > most * unit_roundoff<Scalar>() / 32) reach = std::max(reach, right ? n - i : i + 1);
      }
    return reach;
  }

  typename Kernels::Parts    parts_; ///< with spikes of S + H columns
  LineOperator<Scalar, Exec> interior_;
  int                        H_ = 1;
  std::vector<Scalar>        own_, of_left_, of_right_;
  Words                      us_, ls_, to_left_, to_right_;
};

} // namespace ribbon
