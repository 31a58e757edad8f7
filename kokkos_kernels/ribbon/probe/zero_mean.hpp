// SPDX-License-Identifier: BSD-2-Clause
/// @file zero_mean.hpp  Lines whose matrix is singular because its rows sum to zero: Neumann and periodic
///   lines.
///
/// The constants are the null space of such a matrix A, l that of A^H. Row p is replaced by rho e_p^T,
/// which gives A'. A' is regular if l_p is not zero. Solutions of A' satisfy row p of A to rounding if l_p
/// a_p is among the largest of all l_i a_i (a_i: largest entry of row i), since a residual r has l^H r = 0.
/// p is the last row unless another one is much better: if coefficients of rows differ by powers of ten,
/// the entries of l differ by many more. From A' x' = b, the least squares solution of zero mean is
///
///     x = x' - c w - mean(x' - c w),    w = A'^-1 l of zero mean,
///     c = l^H b / l^H l = l_p^* (rho x'_p - a_p x') / l^H l,
///
/// with the replaced row a_p, so that b is no longer needed. If rows differ in size, x' may be larger than
/// x by the same ratio, and c and x are inaccurate by this ratio. Then c l is subtracted from b before the
/// solve. c is zero if b is consistent, otherwise ||b - A x|| = |c| ||l||. (Campbell & Meyer, Generalized
/// Inverses of Linear Transformations, 1979.) If a line consists of parts that do not couple, each part is
/// treated independently.
#pragma once
#include <ribbon/line_solver.hpp>
#include <ribbon/probe/singular_pieces.hpp>
#include <ribbon/probe/zero_mean_kernels.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ribbon {

template <class Scalar, class Exec>
class ZeroMean {
public:
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

  ZeroMean() = default;

  /// Finds matrices (block 1) whose rows, or those of a part, sum to zero. If there are any, `bands` is
  /// replaced by bands in which one of these rows is changed (shifted ones by one matrix per line). Works
  /// on the host. Matrices with more than constants in their null space remain singular and are not
  /// changed.
  /// @param roundoff  unit of the entries
  ZeroMean(const Exec &exec, const LineSet &lines, Input &bands, real_t<Scalar> roundoff)
      : lines_(lines.lines()), rows_(lines.rows), lower_(bands.kl()), upper_(bands.ku())
  {
    const auto         host = to_host(bands);
    const Singular     singular(rows_, lower_, upper_);
    std::vector<Piece> pieces;
    for (std::size_t c = 0; c < host.values.extent(0); ++c)
      for (const Piece &p : singular.pieces_of(host, c))
        if (singular.sums_to_zero(host, c, p, roundoff)) pieces.push_back(p);
    if (pieces.empty()) return;
    Singular::choose_pins(host, pieces);
    Pinned pinned(host, pieces);
    if (!pinned.regular())
      pieces = Singular::regular(host, pieces, pinned.which), pinned = Pinned(host, pieces);
    if (pieces.empty()) return;
    std::vector<Scalar>       row;
    const std::vector<Scalar> l = singular.left_null_vectors(host, pinned, pieces, row);
    matrices_                   = static_cast<std::int64_t>(pinned.which.size()),
    pieces_                     = static_cast<std::int64_t>(pieces.size());
    find_lines(exec, host, pieces);

    const Host        here;
    const std::size_t width = host.values.extent(2), count = pieces.size(), matrices = pinned.which.size();
    for (const Piece &p : pieces)
      for (std::size_t d = 0; d < width; ++d)
        host.values(static_cast<std::size_t>(p.matrix), static_cast<std::size_t>(p.pin), d) =
          pinned.bands.values(pinned.place(p), static_cast<std::size_t>(p.pin), d);
    if (std::any_of(pieces.begin(), pieces.end(),
                    [&](const Piece &p) { return Singular::has_uneven_rows(host, p); }))
      l_ = upload(exec, "ribbon::zero_mean::l", l);
    std::vector<Scalar> w = l;
    pinned.solver.solve(here, w.data(), w.data());
    here.fence();
    std::vector<int>    table;
    std::vector<double> sizes;
    for (std::size_t p = 0; p < count; ++p) {
      const auto m = pinned.place(pieces[p]), begin = static_cast<std::size_t>(pieces[p].begin),
                 end      = static_cast<std::size_t>(pieces[p].end);
      real_t<Scalar> norm = 0;
      Scalar         sum(0);
      for (std::size_t i = begin; i < end; ++i) {
        const auto size = magnitude(l[i * matrices + m]);
        norm += size * size, sum += w[i * matrices + m];
      }
      for (std::size_t i = begin; i < end; ++i)
        w[i * matrices + m] -= sum / static_cast<real_t<Scalar>>(end - begin);
      for (std::size_t d = 0; d < width; ++d)
        row[d * count + p] *= conjugate(l[static_cast<std::size_t>(pieces[p].pin) * matrices + m]) / norm;
      sizes.push_back(std::sqrt(static_cast<double>(norm)));
      table.insert(table.end(), {static_cast<int>(m), static_cast<int>(begin), static_cast<int>(end),
                                 static_cast<int>(pieces[p].pin)});
    }
    w_ = upload(exec, "ribbon::zero_mean::w", w), row_ = upload(exec, "ribbon::zero_mean::row", row),
    piece_   = upload(exec, "ribbon::zero_mean::piece", table);
    size_    = upload(exec, "ribbon::zero_mean::size", sizes),
    largest_ = allocate_zeros<Largest>(exec, "ribbon::zero_mean::largest", std::size_t(1));
    bands    = mirror_back(exec, host, bands);
  }

  bool empty() const { return matrices_ == 0; }
  /// Singular lines. Independent parts of a line count separately.
  std::int64_t singular_lines() const
  {
    return !of_all_lines_ ? static_cast<std::int64_t>(piece_of_.extent(0)) : empty() ? 0 : lines_ * pieces_;
  }
  std::size_t bytes() const
  {
    return (w_.size() + l_.size() + row_.size() + right_.size()) * sizeof(Scalar) +
           (size_.size() + largest_.size()) * sizeof(double) +
           (piece_.size() + line_of_.size() + piece_of_.size()) * sizeof(int);
  }

  /// Converts the solutions with pinned matrices to the least squares solutions of zero mean. Asynchronous
  /// on exec.
  void apply(const Exec &exec, Scalar *x, const LineSet &out) const
  {
    if (empty()) return;
    const std::int64_t places = singular_lines();
    if (places == 0) return; // no line has the class
    Kokkos::parallel_for("ribbon::zero_mean", indices(exec, places * (out.lines() / lines_)),
                         pieces_in(x, out));
  }

  /// Whether right-hand sides must pass consistent() before the solve.
  bool projects() const { return l_.size() > 0; }
  /// Right-hand sides on `at` without the component that no solution has. Allocates memory if there are
  /// more lines than before.
  const Scalar *consistent(const Exec &exec, const Scalar *b, const LineSet &in, LineSet *at) const
  {
    *at          = in.is_contiguous() ? LineSet::contiguous(in.rows, in.lines())
                                      : LineSet::interleaved(in.rows, in.lines());
    const auto n = static_cast<std::size_t>(at->unknowns());
    if (right_.extent(0) < n)
      right_ = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::zero_mean::right", n);
    Kokkos::parallel_for("ribbon::zero_mean::copy", indices(exec, at->unknowns()),
                         CopyRowsKernel<Scalar>{in, *at, b, right_.data()});
    Kokkos::parallel_for("ribbon::zero_mean::project",
                         indices(exec, singular_lines() * (in.lines() / lines_)),
                         ProjectKernel<Scalar, Memory>{pieces_in(right_.data(), *at), l_});
    return right_.data();
  }
  /// Copies share the workspace of solves until this is called.
  void own_workspace() { right_ = Kokkos::View<Scalar *, Memory>(); }

  /// The largest ||b - A x||_2 of a part in all solves since the last call; infinity if one was not finite.
  /// Waits.
  double inconsistency(const Exec &exec) const
  {
    double found = 0;
    if (empty()) return found;
    Kokkos::deep_copy(
      exec, Kokkos::View<double *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&found, 1),
      largest_);
    Kokkos::deep_copy(exec, largest_, 0.0);
    exec.fence();
    return found;
  }

private:
  using Largest   = typename ZeroMeanKernel<Scalar, Memory>::Largest;
  using Singular  = SingularPieces<Scalar>;
  using Piece     = typename Singular::Piece;
  using Pinned    = typename Singular::Pinned;
  using HostBands = typename Singular::HostBands;
  using Host      = typename Singular::Host;

  ZeroMeanKernel<Scalar, Memory> pieces_in(Scalar *x, const LineSet &out) const
  {
    return {w_,     row_,   size_,  largest_, piece_, line_of_, piece_of_, rows_, matrices_, singular_lines(),
            lines_, lower_, upper_, x,        out};
  }

  static Input mirror_back(const Exec &exec, const HostBands &host, const Input &like)
  {
    Input result = like;
    result.lhs   = host.lhs;
    result.lower = host.lower, result.upper = host.upper, result.repeats = 1;
    result.values = allocate<typename Input::values_type>(
      exec, "ribbon::zero_mean::bands", host.values.extent(0), host.values.extent(1), host.values.extent(2));
    Kokkos::deep_copy(exec, result.values, host.values);
    exec.fence();
    return result;
  }

  /// Lists the singular parts of all lines, unless all lines share one matrix.
  void find_lines(const Exec &exec, const HostBands &bands, const std::vector<Piece> &pieces)
  {
    of_all_lines_ = bands.lhs == Lhs::shared;
    if (of_all_lines_) return;
    std::vector<std::vector<int>> of(bands.values.extent(0));
    for (std::size_t p = 0; p < pieces.size(); ++p)
      of[static_cast<std::size_t>(pieces[p].matrix)].push_back(static_cast<int>(p));
    std::vector<int> line_of, piece_of;
    for (std::int64_t l = 0; l < lines_; ++l) {
      const auto c = static_cast<std::size_t>(
        bands.lhs == Lhs::classes ? bands.class_of_line(static_cast<std::size_t>(l)) : l);
      for (int p : of[c]) line_of.push_back(static_cast<int>(l)), piece_of.push_back(p);
    }
    line_of_  = upload(exec, "ribbon::zero_mean::line", line_of),
    piece_of_ = upload(exec, "ribbon::zero_mean::piece_of_line", piece_of);
  }

  typename ZeroMeanKernel<Scalar, Memory>::Words w_, l_, row_; ///< l_: empty if solves do not need it
  mutable Kokkos::View<Scalar *, Memory>         right_;
  typename ZeroMeanKernel<Scalar, Memory>::Sizes size_;
  Largest                                        largest_;
  typename ZeroMeanKernel<Scalar, Memory>::Ints  piece_, line_of_, piece_of_;
  std::int64_t                                   lines_ = 0, rows_ = 0, matrices_ = 0, pieces_ = 0;
  int                                            lower_ = 0, upper_ = 0;
  bool                                           of_all_lines_ = true;
};

} // namespace ribbon
