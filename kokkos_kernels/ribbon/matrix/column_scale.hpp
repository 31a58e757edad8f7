// SPDX-License-Identifier: BSD-2-Clause
/// @file column_scale.hpp  Unknowns in different units: columns of band matrices scaled by powers of two.
///
/// With D = diag(d), A x = b becomes (A D) y = b, x = D y. Alternating scaling (Sinkhorn & Knopp, Pacific
/// J. Math. 21, 1967) gives R A D rows and columns of equal size: the mean of |a|^(1/4) over the nonzero
/// entries of a row, or of a column, becomes 1. Every pattern can be scaled this way. Small entries have
/// little weight, and R A D is nearly the same for A in any units. Every algorithm scales rows, so that
/// only D is stored. Pivots, reduced systems and residuals are those of A D. Powers of two change no digit
/// of an elimination without pivoting.
///
/// A matrix is scaled if the largest entry of some column is below 1/16, with each entry relative to the
/// largest entry of its row. Constant stencils and rows with a dominant diagonal have no such column. They
/// need no memory, and no work in a solve.
///
/// Units that change along a line, as 2^-i, make no column small, and a sweep of the scaling spreads them
/// only as far as a row reaches. The ratio of the units of two unknowns j and k is a geometric mean of
/// |a_ij / a_ik|. It is taken over pairs of rows, i and j + k - i, with entries for both unknowns. The
/// units of the equations cancel in these means, and so does a dominance of the diagonal over its
/// neighbours. Sums of the logarithms of these ratios along the line are the initial values of the sweeps.
/// An asymmetric stencil has such sums, too. Hence the sums count as units only if they span at most three
/// times as many bits as the sizes of rows.
#pragma once

#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/line_set.hpp>
#include <ribbon/matrix/matrix_of_line.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ribbon {

/// Scales of rows and columns; unknown k = row * block + component of matrix c at k * matrices + c.
template <class Scalar, class Memory>
struct ColumnScaleKernel {
  using Real   = real_t<Scalar>;
  using Scales = Kokkos::View<Real *, Memory>;
  struct Look { };
  struct Ratios { };
  struct Chain { };
  struct Any { };
  struct Start { };
  struct Rows { };
  struct Columns { };
  struct Finish { };
  struct Apply { };

  BandEntries<Scalar, Memory>                 entry;
  Scales                                      row, column; ///< fourth roots; Finish: powers of two in column
  typename Bands<Scalar, Memory>::values_type to;          ///< of Apply; shifted lines get one matrix each
  /// bits small_column, ... per matrix; may be empty
  Kokkos::View<int *, Memory> scaled;
  Kokkos::View<int *, Memory> step; ///< distance back to the other unknown of a ratio
  /// exponents of the sizes of rows of matrix c: the largest at 2 c, the negative of the smallest at 2 c + 1
  Kokkos::View<int *, Memory> sizes;
  bool                        forced = false; ///< units along the line count for any span
  bool                        along  = false; ///< units along the line count for any diagonal

  static constexpr int small_column = 1, units_along = 2, small_diagonal = 4,
                       to_be_scaled = small_column | units_along;

  KOKKOS_FUNCTION std::int64_t unknowns() const { return entry.rows * entry.block * entry.matrices(); }
  KOKKOS_FUNCTION std::int64_t wrap(std::int64_t i) const
  {
    return ((i % entry.rows) + entry.rows) % entry.rows;
  }
  KOKKOS_FUNCTION std::int64_t at(std::int64_t c, std::int64_t i, int a) const
  {
    return (i * entry.block + a) * entry.matrices() + c;
  }

  /// Calls f(i, a, size) for the finite nonzero entries (i, a) of column (j, b).
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
  /// Whether some column needs a scale, and whether some row has a small diagonal.
  KOKKOS_FUNCTION void operator()(Look, const std::int64_t t, int &found) const
  {
    constexpr Real     enough = Real(1) / 16;
    const std::int64_t c = t % entry.matrices(), k = t / entry.matrices(), j = k / entry.block;
    const int          b        = static_cast<int>(k % entry.block);
    const Real         diagonal = magnitude(entry(c, j, 0, b, b)), row_largest = entry.row_max(c, j, b);
    if (diagonal > 0 && diagonal >= enough * row_largest) return; // most rows return here
    if (is_finite(row_largest)) note(c, small_diagonal, found);
    Real largest = 0;
    each_of_column(c, j, b, [&](std::int64_t i, int a, Real size) {
      const Real relative = size / entry.row_max(c, i, a);
      largest             = relative > largest ? relative : largest;
    });
    if (largest > 0 && largest < enough) note(c, small_column, found);
  }
  KOKKOS_FUNCTION void note(std::int64_t c, int what, int &found) const
  {
    found |= what;
    if (scaled.extent(0) > 0) Kokkos::atomic_fetch_or(&scaled(c), what);
  }
  /// log2 of |a_qk / a_qj| for unknowns q, j and k; NaN if an entry is zero or not finite.
  KOKKOS_FUNCTION Real log_ratio(std::int64_t c, std::int64_t q, std::int64_t j, std::int64_t k) const
  {
    const std::int64_t i    = q / entry.block;
    const auto         size = [&](std::int64_t u) {
      return magnitude(entry(c, i, u / entry.block - i, static_cast<int>(q % entry.block),
                                     static_cast<int>(u % entry.block)));
    };
    const Real here = size(j), there = size(k);
    return here > 0 && there > 0 && is_finite(here) && is_finite(there) ? std::log2(there) - std::log2(here)
                                                                        : static_cast<Real>(NAN);
  }
  /// column(t) = log2 of the ratio of two units: that of unknown k, and that of the nearest unknown before k
  /// that shares a row with it.
  KOKKOS_FUNCTION void operator()(Ratios, const std::int64_t t) const
  {
    const std::int64_t c = t % entry.matrices(), k = t / entry.matrices(), j = k / entry.block,
                       n = entry.rows * entry.block,
                       reach =
                         ((entry.lower > entry.upper ? entry.lower : entry.upper) + 1) * entry.block - 1;
    const Real largest = entry.row_max(c, j, static_cast<int>(k % entry.block));
    if (largest > 0 && is_finite(largest)) {
      const int exponent = std::ilogb(largest);
      Kokkos::atomic_fetch_max(&sizes(2 * c), exponent),
        Kokkos::atomic_fetch_max(&sizes(2 * c + 1), -exponent);
    }
    column(t) = 0, step(t) = 0;
    for (std::int64_t back = 1; back <= 2 * reach && back <= k; ++back) {
      Real sum = 0, count = 0;
      for (std::int64_t q = k - back - reach; q <= k + reach; ++q) {
        const std::int64_t mirror = 2 * k - back - q;
        if (q < 0 || mirror < 0 || q >= n || mirror >= n) continue;
        const Real ratio = log_ratio(c, q, k, k - back), other = log_ratio(c, mirror, k, k - back);
        if (ratio == ratio && other == other) sum += ratio, ++count;
      }
      if (count == 0) continue;
      column(t) = sum / count, step(t) = static_cast<int>(back);
      return;
    }
  }
  /// Accumulates the ratios of matrix c, and decides whether they are units.
  KOKKOS_FUNCTION void operator()(Chain, const std::int64_t c) const
  {
    constexpr Real     most_apart = 10, most_times_rows = 1.5; // bits
    const std::int64_t n   = entry.rows * entry.block;
    Real               low = 0, high = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t t   = k * entry.matrices() + c;
      const Real         sum = step(t) > 0 ? column(t) + column(t - step(t) * entry.matrices()) : Real(0);
      column(t) = sum, low = sum < low ? sum : low, high = sum > high ? sum : high;
    }
    const Real spread = high - low, rows = static_cast<Real>(sizes(2 * c) + sizes(2 * c + 1));
    const bool are_units =
      spread > most_apart && spread <= most_times_rows * rows && (along || scaled(c) & small_diagonal);
    if (forced ? scaled(c) & small_column : are_units) scaled(c) |= units_along;
    row(c) = (low + high) / 2; // read by Start alone
  }
  KOKKOS_FUNCTION void operator()(Any, const std::int64_t c, int &found) const
  {
    found |= scaled(c) & to_be_scaled;
  }
  /// Initial values of the sweeps: fourth roots of units.
  KOKKOS_FUNCTION void operator()(Start, const std::int64_t t) const
  {
    constexpr Real     most = std::numeric_limits<Real>::max_exponent / 2;
    const std::int64_t c    = t % entry.matrices();
    const Real         unit = scaled(c) & units_along ? column(t) - row(c) : Real(0);
    column(t)               = std::exp2((unit > most ? most : unit < -most ? -most : unit) / 4);
  }
  KOKKOS_FUNCTION static Real fourth_root(Real a) { return std::sqrt(std::sqrt(a)); }
  KOKKOS_FUNCTION void        operator()(Rows, const std::int64_t t) const
  {
    const std::int64_t c = t % entry.matrices(), k = t / entry.matrices(), i = k / entry.block;
    Real               sum = 0, count = 0;
    if (!(scaled(c) & to_be_scaled)) return;
    for (int d = -entry.lower; d <= entry.upper; ++d)
      for (int b = 0; b < entry.block; ++b) {
        const Real size = magnitude(entry(c, i, d, static_cast<int>(k % entry.block), b));
        if (size > 0 && is_finite(size)) sum += fourth_root(size) * column(at(c, wrap(i + d), b)), ++count;
      }
    row(t) = count > 0 ? count / sum : Real(1);
  }
  /// @param moves  set to 1 if the fourth root of a scale changes by more than 0.1%
  KOKKOS_FUNCTION void operator()(Columns, const std::int64_t t, int &moves) const
  {
    constexpr Real     little = Real(1e-3);
    const std::int64_t c = t % entry.matrices(), k = t / entry.matrices();
    Real               sum = 0, count = 0;
    if (!(scaled(c) & to_be_scaled)) return;
    each_of_column(c, k / entry.block, static_cast<int>(k % entry.block),
                   [&](std::int64_t i, int a, Real size) {
                     sum += fourth_root(size) * row(at(c, i, a));
                     ++count;
                   });
    const Real before = column(t);
    column(t)         = count > 0 ? count / sum : Real(1);
    moves |= std::abs(column(t) - before) > little * before;
  }
  /// Rounds the scale to a power of two, within the square root of the range of the type.
  KOKKOS_FUNCTION void operator()(Finish, const std::int64_t t) const
  {
    constexpr int most     = std::numeric_limits<Real>::max_exponent / 2;
    const Real    exponent = scaled(t % entry.matrices()) & to_be_scaled
                               ? std::floor(4 * std::log2(column(t)) + Real(0.5))
                               : Real(0);
    column(t)              = std::ldexp(Real(1), static_cast<int>(exponent > most    ? most
                                                                  : exponent < -most ? -most
                                                                                     : exponent));
  }
  /// One thread per row of a matrix.
  KOKKOS_FUNCTION void operator()(Apply, const std::int64_t t) const
  {
    const std::int64_t c = t % entry.matrices(), i = t / entry.matrices();
    for (int d = -entry.lower; d <= entry.upper; ++d)
      for (int a = 0; a < entry.block; ++a)
        for (int b = 0; b < entry.block; ++b)
          to(c, i, ((d + entry.lower) * entry.block + a) * entry.block + b) =
            entry(c, i, d, a, b) * column(at(c, wrap(i + d), b));
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
    const std::int64_t l = along ? t / out.rows : t % out.lines(), i = along ? t % out.rows : t / out.lines(),
                       m = matrix(l);
    for (int b = 0; b < out.components; ++b)
      x[out(l, i) + b * out.component_stride] *= scale((i * out.components + b) * matrix.matrices + m);
  }
};

/// Scales of the columns of a batch; empty if no column needs one.
template <class Scalar, class Exec>
class ColumnScale {
public:
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

  ColumnScale() = default;

  /// Examines every column. If a column needs a scale, replaces `bands` by scaled bands. These store every
  /// row, and one matrix per line for shifted bands. Waits.
  /// @param chains  looks for units that change along lines, in matrices with a small diagonal
  /// @param along  looks for them in all matrices
  ColumnScale(const Exec &exec, Input &bands, bool chains, bool along)
  {
    Kernel    kernel{BandEntries<Scalar, Memory>(bands), {}, {}, {}, {}, {}, {}};
    const int found = look(exec, kernel);
    // constant stencils have no units
    chains = chains && bands.repeats == 1 && (found != 0 || along);
    if (!(found & Kernel::small_column) && !chains) return;
    kernel.scaled = flags(exec, static_cast<std::size_t>(bands.matrices())), kernel.along = along;
    if (found) look(exec, kernel);
    add_up(exec, kernel, chains);
    int any = 0;
    Kokkos::parallel_reduce("ribbon::column_scale::any", policy<typename Kernel::Any>(exec, bands.matrices()),
                            kernel, Kokkos::BOr<int>(any));
    const Input given = bands;
    if (any) scale(exec, kernel, bands);
    if (any && !(found & Kernel::small_column) && spread() <= 1 << 10) { // the sums of ratios only fluctuate
      *this = ColumnScale();
      bands = given;
    }
  }

  /// Scales the matrices whose flag in `which` is set, for any columns. Waits.
  ColumnScale(const Exec &exec, Input &bands, const Kokkos::View<int *, Memory> &which)
  {
    Kernel kernel{BandEntries<Scalar, Memory>(bands), {}, {}, {}, {}, {}, {}};
    kernel.forced = true, kernel.scaled = flags(exec, static_cast<std::size_t>(bands.matrices()));
    Kokkos::deep_copy(exec, kernel.scaled, which);
    add_up(exec, kernel, true);
    scale(exec, kernel, bands);
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

  /// Largest ratio of the units of two unknowns of a matrix: the largest scale divided by the smallest.
  double spread() const
  {
    const auto        host     = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), scale_);
    const std::size_t matrices = static_cast<std::size_t>(matrices_);
    double            most     = 1;
    for (std::size_t c = 0; c < matrices; ++c) {
      double low = host(c), high = host(c);
      for (std::size_t k = c; k < host.extent(0); k += matrices)
        low = std::min<double>(low, host(k)), high = std::max<double>(high, host(k));
      most = std::max(most, high / low);
    }
    return most;
  }

  /// x = D y, in place: y solves the scaled matrices, x the given ones. Asynchronous on exec.
  void apply(const Exec &exec, Scalar *x, const LineSet &out, const MatrixOfLine &matrix) const
  {
    if (empty()) return;
    Kokkos::parallel_for("ribbon::column_scale::unscale", indices(exec, out.lines() * out.rows),
                         UnscaleKernel<Scalar, Memory>{scale_, matrix, x, out});
  }

private:
  /// enough to reduce units that differ by 10^24 from row to row to a factor of 100
  static constexpr int sweeps = 32;

  using Kernel = ColumnScaleKernel<Scalar, Memory>;

  static auto flags(const Exec &exec, std::size_t count)
  {
    return allocate_zeros<Kokkos::View<int *, Memory>>(exec, "ribbon::column_scale::flags", count);
  }
  static int look(const Exec &exec, const Kernel &kernel)
  {
    int found = 0;
    Kokkos::parallel_reduce("ribbon::column_scale::look",
                            policy<typename Kernel::Look>(exec, kernel.unknowns()), kernel,
                            Kokkos::BOr<int>(found));
    return found;
  }
  template <class Tag>
  static void run(const Exec &exec, Tag, const char *name, const Kernel &kernel, std::int64_t count)
  {
    Kokkos::parallel_for(name, policy<Tag>(exec, count), kernel);
  }
  /// Computes the initial values of the sweeps.
  static void add_up(const Exec &exec, Kernel &kernel, bool chains)
  {
    const auto unknowns = static_cast<std::size_t>(kernel.unknowns()),
               matrices = static_cast<std::size_t>(kernel.entry.matrices());
    kernel.row          = allocate<typename Kernel::Scales>(exec, "ribbon::column_scale::row", unknowns);
    kernel.column       = allocate<typename Kernel::Scales>(exec, "ribbon::column_scale", unknowns);
    if (!chains) return;
    kernel.step  = flags(exec, unknowns);
    kernel.sizes = flags(exec, 2 * matrices);
    Kokkos::deep_copy(exec, kernel.sizes, -std::numeric_limits<real_t<Scalar>>::max_exponent);
    run(exec, typename Kernel::Ratios(), "ribbon::column_scale::ratios", kernel, kernel.unknowns());
    run(exec, typename Kernel::Chain(), "ribbon::column_scale::chain", kernel, kernel.entry.matrices());
  }
  /// Computes the scales from the values of add_up(), and scales the matrices.
  void scale(const Exec &exec, Kernel &kernel, Input &bands)
  {
    const auto unknowns = kernel.unknowns();
    scale_              = kernel.column;
    matrices_           = bands.matrices();
    run(exec, typename Kernel::Start(), "ribbon::column_scale::start", kernel, unknowns);
    int moves = 1;
    for (int sweep = 0; moves && sweep < sweeps; ++sweep) {
      run(exec, typename Kernel::Rows(), "ribbon::column_scale::rows", kernel, unknowns);
      Kokkos::parallel_reduce("ribbon::column_scale::columns",
                              policy<typename Kernel::Columns>(exec, unknowns), kernel,
                              Kokkos::BOr<int>(moves));
    }
    run(exec, typename Kernel::Finish(), "ribbon::column_scale::finish", kernel, unknowns);
    const auto matrices = static_cast<std::size_t>(bands.matrices());
    kernel.to =
      allocate<typename Input::values_type>(exec, "ribbon::column_scale::bands", matrices,
                                            static_cast<std::size_t>(bands.rows()), bands.values.extent(2));
    run(exec, typename Kernel::Apply(), "ribbon::column_scale::apply", kernel,
        bands.matrices() * bands.rows());
    bands.lower = bands.kl(), bands.upper = bands.ku(), bands.values = kernel.to, bands.repeats = 1;
    if (bands.lhs == Lhs::shifted) bands.lhs = Lhs::per_line;
    exec.fence(); // the caller may own the entries
  }
  template <class Tag>
  static auto policy(const Exec &exec, std::int64_t count)
  {
    return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Tag>(exec, 0, count);
  }

  typename ColumnScaleKernel<Scalar, Memory>::Scales scale_;
  std::int64_t                                       matrices_ = 0;
};

} // namespace ribbon
