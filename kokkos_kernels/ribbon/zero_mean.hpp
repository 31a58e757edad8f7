// SPDX-License-Identifier: BSD-2-Clause
/// @file zero_mean.hpp  Lines whose matrix is singular because its rows sum to zero: Neumann and periodic lines.
///
/// The constants are the null space of such a matrix A, l that of A^H. The last row is replaced by rho e_p^T, which makes A' regular. From
/// A' x' = b, the solution of least squares and of zero mean is
///
///     x = x' - c w - mean(x'),    w = A'^-1 l of zero mean,    c = l^H b / l^H l = l_p^* (rho x'_p - a_p x') / l^H l,
///
/// with a_p the row that was replaced: b itself is not needed any more. Where b is consistent c is zero. (Campbell & Meyer, Generalized
/// Inverses of Linear Transformations, 1979.)
#pragma once

#include <ribbon/elimination.hpp>
#include <ribbon/line_solver.hpp>
#include <ribbon/transpose.hpp>

#include <vector>

namespace ribbon {

/// One thread per singular line.
template <class Scalar, class Memory>
struct ZeroMeanKernel {
  using Words = Kokkos::View<const Scalar *, Memory>;
  using Ints  = Kokkos::View<const int *, Memory>;
  Words        w;                               ///< row i of matrix m at i * matrices + m
  Words        row;                             ///< entry d of rho e_p^T - a_p, times 1 / l^H l, likewise
  Ints         line_of, matrix_of;              ///< of the singular lines; empty: all lines, all of matrix 0
  std::int64_t rows, matrices, singular, lines; ///< lines: of the batch that was factored
  int          lower, upper;
  Scalar      *x;
  LineSet      out;

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t f = k % singular, m = matrix_of.extent(0) ? matrix_of(f) : 0, line = (line_of.extent(0) ? line_of(f) : f) + k / singular * lines;
    Scalar *const      at = x + out.begin(line);
    Scalar             c(0), sum(0);
    for (int d = -lower; d <= upper; ++d) {
      const std::int64_t j = rows - 1 + d;
      c += row((d + lower) * matrices + m) * at[((j % rows + rows) % rows) * out.row_stride]; // zero where an open line ends
    }
    for (std::int64_t i = 0; i < rows; ++i) sum += at[i * out.row_stride];
    const Scalar mean = sum / static_cast<real_t<Scalar>>(rows);
    for (std::int64_t i = 0; i < rows; ++i) at[i * out.row_stride] -= mean + c * w(i * matrices + m);
  }
};

template <class Scalar, class Exec>
class ZeroMean {
public:
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

  ZeroMean() = default;

  /// Looks for matrices (block 1) whose rows sum to zero and, where there are any, replaces `bands` by ones whose last row is changed (shifted
  /// ones by one matrix per line). Works on the host. `failure` tells where a matrix stays singular.
  ZeroMean(const Exec &exec, const LineSet &lines, Input &bands, std::string &failure) : lines_(lines.lines()), rows_(lines.rows), lower_(bands.kl()), upper_(bands.ku())
  {
    using Host            = Kokkos::DefaultHostExecutionSpace;
    const auto       host = to_host(bands);
    std::vector<int> place(host.values.extent(0), -1); // of a matrix among the singular ones
    std::vector<int> which;
    for (std::size_t c = 0; c < place.size(); ++c)
      if (sums_to_zero(host, c)) place[c] = static_cast<int>(which.size()), which.push_back(static_cast<int>(c));
    matrices_ = static_cast<std::int64_t>(which.size());
    if (matrices_ == 0) return;
    find_lines(exec, host, place);

    // pinned matrices, as one per line, and what solves with them and their adjoints
    const auto n = static_cast<std::size_t>(rows_), width = host.values.extent(2), last = n - 1;
    auto       pinned = host;
    pinned.lhs        = Lhs::per_line;
    pinned.values     = decltype(pinned.values)("ribbon::zero_mean::pinned", which.size(), n, width);
    std::vector<Scalar> l(n * which.size(), Scalar(0)), row(width * which.size());
    for (std::size_t m = 0; m < which.size(); ++m) {
      const auto c   = static_cast<std::size_t>(which[m]);
      Scalar     rho = Scalar(0);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t d = 0; d < width; ++d) pinned.values(m, i, d) = host.values(c, i, d);
      for (std::size_t d = 0; d < width; ++d)
        if (magnitude(host.values(c, last, d)) > magnitude(rho)) rho = host.values(c, last, d);
      for (std::size_t d = 0; d < width; ++d) {
        const bool         diagonal = static_cast<int>(d) == lower_;
        const std::int64_t j        = rows_ - 1 + static_cast<std::int64_t>(d) - lower_;
        const Scalar       a        = host.periodic || (j >= 0 && j < rows_) ? host.values(c, last, d) : Scalar(0);
        row[d * which.size() + m]   = (diagonal ? rho : Scalar(0)) - a;
        l[static_cast<std::size_t>((j % rows_ + rows_) % rows_) * which.size() + m] += conjugate(row[d * which.size() + m]); // right-hand side for l
        pinned.values(m, last, d) = host.values(c, last, d) = diagonal ? rho : Scalar(0);
      }
    }
    const Host                     here;
    const auto                     set = LineSet::interleaved(rows_, matrices_);
    const LineSolver<Scalar, Host> regular(here, set, pinned), adjoint(here, set, transpose(here, pinned, true));
    if (!regular.report().ok() || !adjoint.report().ok()) {
      failure = "a line whose rows sum to zero stays singular where one unknown is fixed";
      return;
    }
    adjoint.solve(here, l.data(), l.data());
    std::vector<Scalar> w = l;
    regular.solve(here, w.data(), w.data());
    here.fence();
    for (std::size_t m = 0; m < which.size(); ++m) {
      real_t<Scalar> norm = 0;
      Scalar         sum(0);
      for (std::size_t i = 0; i < n; ++i) {
        const auto size = magnitude(l[i * which.size() + m]);
        norm += size * size, sum += w[i * which.size() + m];
      }
      for (std::size_t i = 0; i < n; ++i) w[i * which.size() + m] -= sum / static_cast<real_t<Scalar>>(rows_);
      for (std::size_t d = 0; d < width; ++d) row[d * which.size() + m] *= conjugate(l[last * which.size() + m]) / norm;
    }
    w_ = upload(exec, "ribbon::zero_mean::w", w), row_ = upload(exec, "ribbon::zero_mean::row", row);
    bands = mirror_back(exec, host, bands);
  }

  bool         empty() const { return matrices_ == 0; }
  std::int64_t singular_lines() const { return line_of_.extent(0) ? static_cast<std::int64_t>(line_of_.extent(0)) : empty() ? 0 : lines_; }
  std::size_t  bytes() const { return (w_.size() + row_.size()) * sizeof(Scalar) + (line_of_.size() + matrix_of_.size()) * sizeof(int); }

  /// Makes of the solutions with pinned matrices those of least squares and zero mean. Asynchronous on exec.
  void apply(const Exec &exec, Scalar *x, const LineSet &out) const
  {
    if (empty()) return;
    const std::int64_t singular = singular_lines();
    Kokkos::parallel_for("ribbon::zero_mean", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, singular * (out.lines() / lines_)),
                         ZeroMeanKernel<Scalar, Memory>{w_, row_, line_of_, matrix_of_, rows_, matrices_, singular, lines_, lower_, upper_, x, out});
  }

private:
  using HostBands = Bands<Scalar, Kokkos::HostSpace>;

  static Input mirror_back(const Exec &exec, const HostBands &host, const Input &like)
  {
    Input result = like;
    result.lhs   = host.lhs;
    result.lower = host.lower, result.upper = host.upper;
    result.values = allocate<typename Input::values_type>(exec, "ribbon::zero_mean::bands", host.values.extent(0), host.values.extent(1), host.values.extent(2));
    Kokkos::deep_copy(exec, result.values, host.values);
    exec.fence();
    return result;
  }

  /// Whether every row of a matrix sums to zero, to rounding, and one is not all zeros.
  bool sums_to_zero(const HostBands &bands, std::size_t c) const
  {
    real_t<Scalar> most = 0;
    for (std::int64_t i = 0; i < rows_; ++i) {
      Scalar         sum(0);
      real_t<Scalar> largest = 0;
      for (std::int64_t d = -lower_; d <= upper_; ++d) {
        if (!bands.periodic && (i + d < 0 || i + d >= rows_)) continue;
        const Scalar a = bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + lower_));
        sum += a;
        largest = std::max(largest, magnitude(a));
      }
      if (!(magnitude(sum) <= 4 * static_cast<real_t<Scalar>>(lower_ + upper_ + 1) * unit_roundoff<Scalar>() * largest)) return false;
      most = std::max(most, largest);
    }
    return most > 0;
  }

  /// Lists the singular lines, unless one matrix is that of all.
  void find_lines(const Exec &exec, const HostBands &bands, const std::vector<int> &place)
  {
    if (bands.lhs == Lhs::shared) return;
    std::vector<int> line_of, matrix_of;
    for (std::int64_t l = 0; l < lines_; ++l) {
      const int m = place[static_cast<std::size_t>(bands.lhs == Lhs::classes ? bands.class_of_line(static_cast<std::size_t>(l)) : l)];
      if (m >= 0) line_of.push_back(static_cast<int>(l)), matrix_of.push_back(m);
    }
    line_of_ = upload(exec, "ribbon::zero_mean::line", line_of), matrix_of_ = upload(exec, "ribbon::zero_mean::matrix", matrix_of);
  }

  typename ZeroMeanKernel<Scalar, Memory>::Words w_, row_;
  typename ZeroMeanKernel<Scalar, Memory>::Ints  line_of_, matrix_of_;
  std::int64_t                                   lines_ = 0, rows_ = 0, matrices_ = 0;
  int                                            lower_ = 0, upper_ = 0;
};

} // namespace ribbon
