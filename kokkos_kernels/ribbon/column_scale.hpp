// SPDX-License-Identifier: BSD-2-Clause
/// @file column_scale.hpp  Unknowns in different units: columns of band matrices scaled by powers of two.
///
/// With D = diag(d), A x = b becomes (A D) y = b, x = D y. R A D has rows and columns of equal size, by alternating
/// scaling (Sinkhorn & Knopp, Pacific J. Math. 21, 1967): the mean of |a|^(1/4) over the entries of a row, or a column,
/// that are not zero becomes 1. Every pattern can be scaled this way. Small entries have little weight, and R A D is
/// nearly the same for A in any units. Rows are scaled by every algorithm itself, so that D alone is kept. Pivots, reduced systems and
/// residuals are those of A D. Powers of two change no digit of an elimination without pivoting.
///
/// A matrix is scaled where the largest entry of some column is below 1/16, each entry relative to the largest of its
/// row. Constant stencils and rows with a dominant diagonal have no such column: nothing is stored for them, and
/// nothing added to a solve.
#pragma once

#include <ribbon/band_entries.hpp>
#include <ribbon/line_set.hpp>
#include <ribbon/matrix_of_line.hpp>

#include <cmath>
#include <limits>

namespace ribbon {

/// Scales of rows and columns; unknown k = row * block + component of matrix c at k * matrices + c.
template <class Scalar, class Memory>
struct ColumnScaleKernel {
  using Real   = real_t<Scalar>;
  using Scales = Kokkos::View<Real *, Memory>;
  struct Count { };
  struct Rows { };
  struct Columns { };
  struct Finish { };
  struct Apply { };

  BandEntries<Scalar, Memory>                 entry;
  Scales                                      row, column; ///< fourth roots, until Finish makes powers of two of columns
  typename Bands<Scalar, Memory>::values_type to;          ///< of Apply: one matrix per line where they were shifted
  Kokkos::View<int *, Memory>                 scaled;      ///< 1 for matrices that have a column which needs a scale; empty: they are counted alone

  KOKKOS_FUNCTION std::int64_t unknowns() const { return entry.rows * entry.block * entry.matrices(); }
  KOKKOS_FUNCTION std::int64_t wrap(std::int64_t i) const { return ((i % entry.rows) + entry.rows) % entry.rows; }
  KOKKOS_FUNCTION std::int64_t at(std::int64_t c, std::int64_t i, int a) const { return (i * entry.block + a) * entry.matrices() + c; }

  /// Calls f(i, a, size) for the entries (i, a) of column (j, b) that are finite and not zero.
  template <class F>
  KOKKOS_FUNCTION void each_of_column(std::int64_t c, std::int64_t j, int b, const F &f) const
  {
    for (int d = -entry.lower; d <= entry.upper; ++d) {
      const std::int64_t i = entry.periodic ? wrap(j - d) : j - d;
      for (int a = 0; a < entry.block && i >= 0 && i < entry.rows; ++a) {
        const Real size = magnitude(entry(c, i, d, a, b));
        if (size > 0 && is_finite(size)) f(i, a, size);
      }
    }
  }
  /// Columns that need a scale.
  KOKKOS_FUNCTION void operator()(Count, const std::int64_t t, std::int64_t &count) const
  {
    constexpr Real     enough = Real(1) / 16;
    const std::int64_t c = t % entry.matrices(), k = t / entry.matrices(), j = k / entry.block;
    const int          b        = static_cast<int>(k % entry.block);
    const Real         diagonal = magnitude(entry(c, j, 0, b, b));
    if (diagonal > 0 && diagonal >= enough * entry.row_max(c, j, b)) return; // mostly
    Real largest = 0;
    each_of_column(c, j, b, [&](std::int64_t i, int a, Real size) {
      const Real relative = size / entry.row_max(c, i, a);
      largest             = relative > largest ? relative : largest;
    });
    if (!(largest > 0 && largest < enough)) return;
    ++count;
    if (scaled.extent(0) > 0) Kokkos::atomic_fetch_or(&scaled(c), 1);
  }
  KOKKOS_FUNCTION static Real fourth_root(Real a) { return std::sqrt(std::sqrt(a)); }
  KOKKOS_FUNCTION void        operator()(Rows, const std::int64_t t) const
  {
    const std::int64_t c = t % entry.matrices(), k = t / entry.matrices(), i = k / entry.block;
    Real               sum = 0, count = 0;
    for (int d = -entry.lower; d <= entry.upper; ++d)
      for (int b = 0; b < entry.block; ++b) {
        const Real size = magnitude(entry(c, i, d, static_cast<int>(k % entry.block), b));
        if (size > 0 && is_finite(size)) sum += fourth_root(size) * column(at(c, wrap(i + d), b)), ++count;
      }
    row(t) = count > 0 ? count / sum : Real(1);
  }
  KOKKOS_FUNCTION void operator()(Columns, const std::int64_t t) const
  {
    const std::int64_t c = t % entry.matrices(), k = t / entry.matrices();
    Real               sum = 0, count = 0;
    each_of_column(c, k / entry.block, static_cast<int>(k % entry.block), [&](std::int64_t i, int a, Real size) {
      sum += fourth_root(size) * row(at(c, i, a));
      ++count;
    });
    column(t) = count > 0 ? count / sum : Real(1);
  }
  /// The power of two next to the scale, within the square root of the range of numbers.
  KOKKOS_FUNCTION void operator()(Finish, const std::int64_t t) const
  {
    constexpr int most     = std::numeric_limits<Real>::max_exponent / 2;
    const Real    exponent = scaled(t % entry.matrices()) ? std::floor(4 * std::log2(column(t)) + Real(0.5)) : Real(0);
    column(t)              = std::ldexp(Real(1), static_cast<int>(exponent > most ? most : exponent < -most ? -most : exponent));
  }
  /// One thread per row of a matrix.
  KOKKOS_FUNCTION void operator()(Apply, const std::int64_t t) const
  {
    const std::int64_t c = t % entry.matrices(), i = t / entry.matrices();
    for (int d = -entry.lower; d <= entry.upper; ++d)
      for (int a = 0; a < entry.block; ++a)
        for (int b = 0; b < entry.block; ++b)
          to(c, i, ((d + entry.lower) * entry.block + a) * entry.block + b) = entry(c, i, d, a, b) * column(at(c, wrap(i + d), b));
  }
};

/// x = D y, in place: one thread per row of a line.
template <class Scalar, class Memory>
struct UnscaleKernel {
  Kokkos::View<const real_t<Scalar> *, Memory> scale;
  MatrixOfLine                                 matrix;
  Scalar                                      *x;
  LineSet                                      out;

  KOKKOS_FUNCTION void operator()(const std::int64_t t) const
  {
    const bool         along = out.row_stride < out.stride0;
    const std::int64_t l = along ? t / out.rows : t % out.lines(), i = along ? t % out.rows : t / out.lines(), m = matrix(l);
    for (int b = 0; b < out.components; ++b)
      x[out(l, i) + b * out.component_stride] *= scale((i * out.components + b) * matrix.matrices + m);
  }
};

/// Scales of the columns of a batch; empty where no column needs one.
template <class Scalar, class Exec>
class ColumnScale {
public:
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

  ColumnScale() = default;

  /// Looks at every column and, where one needs a scale, replaces `bands` by scaled ones, which store every row, and
  /// every matrix of shifted ones. Waits.
  ColumnScale(const Exec &exec, Input &bands)
  {
    using Kernel = ColumnScaleKernel<Scalar, Memory>;
    Kernel       kernel{BandEntries<Scalar, Memory>(bands), {}, {}, {}, {}};
    std::int64_t count    = 0;
    const auto   unknowns = kernel.unknowns();
    const auto   look     = [&] { Kokkos::parallel_reduce("ribbon::column_scale::count", policy<typename Kernel::Count>(exec, unknowns), kernel, count); };
    look();
    if (count == 0) return;
    kernel.scaled = allocate_zeros<Kokkos::View<int *, Memory>>(exec, "ribbon::column_scale::scaled", static_cast<std::size_t>(bands.matrices()));
    look();
    const auto run    = [&](auto tag, const char *name, std::int64_t n) { Kokkos::parallel_for(name, policy<decltype(tag)>(exec, n), kernel); };
    const auto scales = [&] { return allocate<typename Kernel::Scales>(exec, "ribbon::column_scale", static_cast<std::size_t>(unknowns)); };
    kernel.row = scales(), kernel.column = scale_ = scales();
    Kokkos::deep_copy(exec, kernel.column, real_t<Scalar>(1));
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      run(typename Kernel::Rows(), "ribbon::column_scale::rows", unknowns);
      run(typename Kernel::Columns(), "ribbon::column_scale::columns", unknowns);
    }
    run(typename Kernel::Finish(), "ribbon::column_scale::finish", unknowns);
    const auto matrices = static_cast<std::size_t>(bands.matrices());
    kernel.to = allocate<typename Input::values_type>(exec, "ribbon::column_scale::bands", matrices, static_cast<std::size_t>(bands.rows()), bands.values.extent(2));
    run(typename Kernel::Apply(), "ribbon::column_scale::apply", bands.matrices() * bands.rows());
    bands.lower = bands.kl(), bands.upper = bands.ku(), bands.values = kernel.to, bands.repeats = 1;
    if (bands.lhs == Lhs::shifted) bands.lhs = Lhs::per_line;
    exec.fence(); // entries may be the caller's
  }

  bool        empty() const { return scale_.extent(0) == 0; }
  std::size_t bytes() const { return scale_.size() * sizeof(real_t<Scalar>); }

  /// log |det D|, summed over the matrices.
  double log_det() const
  {
    double     sum  = 0;
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), scale_);
    for (std::size_t k = 0; k < host.extent(0); ++k) sum += std::log(static_cast<double>(host(k)));
    return sum;
  }

  /// Makes of the solutions y of the scaled matrices those of the given ones. Asynchronous on exec.
  void apply(const Exec &exec, Scalar *x, const LineSet &out, const MatrixOfLine &matrix) const
  {
    if (empty()) return;
    Kokkos::parallel_for("ribbon::column_scale::unscale", indices(exec, out.lines() * out.rows), UnscaleKernel<Scalar, Memory>{scale_, matrix, x, out});
  }

private:
  static constexpr int sweeps = 32; ///< units that differ by 10^24 from one row to the next leave a factor of 100 then

  template <class Tag>
  static auto policy(const Exec &exec, std::int64_t count)
  {
    return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Tag>(exec, 0, count);
  }

  typename ColumnScaleKernel<Scalar, Memory>::Scales scale_;
};

} // namespace ribbon
