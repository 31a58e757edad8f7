// SPDX-License-Identifier: BSD-2-Clause
/// @file probe.hpp  Right-hand sides that show whether an elimination without pivoting keeps the digits of its matrices.
///
/// No norm of the factors tells sound from unsound; solving does. Six right-hand sides per matrix, A 1, A (+-1), two times A random and
/// two random ones, are solved with the kernel's own arithmetic, and the backward error ||r|| / (||A|| ||x|| + ||b||) (maximum norms;
/// Rigal & Gaches 1967) is measured.
#pragma once

#include <ribbon/band_entries.hpp>
#include <ribbon/line_set.hpp>

#include <algorithm>

namespace ribbon {

inline constexpr int probe_kinds = 6;

template <class Scalar, class Memory>
struct Probe {
  using Real  = real_t<Scalar>;
  using Found = typename Kokkos::MinMaxLoc<Real, std::int64_t>::value_type; ///< max: backward error and its matrix; min: reciprocal condition
  struct Fill { };
  struct Measure { };

  BandEntries<Scalar, Memory> entry;
  LineSet                     set; ///< line l: matrix l % matrices, right-hand side kind + l / matrices
  int                         kind;
  Scalar                     *x;

  /// Uniform in [-1, 1), the same on every machine (splitmix64).
  KOKKOS_FUNCTION static Real noise(std::uint64_t key)
  {
    key += 0x9e3779b97f4a7c15ull;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ull;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebull;
    return static_cast<Real>(static_cast<double>((key ^ (key >> 31)) >> 11) * (2.0 / 9007199254740992.0) - 1.0);
  }
  KOKKOS_FUNCTION std::int64_t wrap(std::int64_t i) const { return (i % set.rows + set.rows) % set.rows; }
  KOKKOS_FUNCTION Scalar       given(int k, std::int64_t i) const
  {
    if (k == 0) return Scalar(1);
    if (k == 1) return Scalar(i % 2 == 0 ? 1 : -1);
    const std::uint64_t key = (static_cast<std::uint64_t>(k) << 40) + static_cast<std::uint64_t>(2 * i);
    if constexpr (std::is_floating_point_v<Scalar>) return noise(key);
    else return Scalar(noise(key), noise(key + 1));
  }
  /// Unknowns are numbered through: i * entry.block + component.
  KOKKOS_FUNCTION Scalar right_hand_side(std::int64_t c, int k, std::int64_t i, int a) const
  {
    if (k >= 4) return given(k, i * entry.block + a);
    Scalar f(0);
    for (int d = -entry.lower; d <= entry.upper; ++d)
      for (int b = 0; b < entry.block; ++b) f += entry(c, i, d, a, b) * given(k, wrap(i + d) * entry.block + b);
    return f;
  }
  KOKKOS_FUNCTION int         kind_of(std::int64_t l) const { return static_cast<int>((kind + l / entry.matrices()) % probe_kinds); }
  KOKKOS_FUNCTION static void largest(Real &m, Real a)
  {
    if (!(a <= m)) m = is_finite(a) ? a : Real(1) / unit_roundoff<Scalar>() / unit_roundoff<Scalar>(); // NaN and Inf are large
  }
  /// Takes row i of line l into the norms of the residual, the matrix, the solution and the right-hand side.
  KOKKOS_FUNCTION void see(std::int64_t l, std::int64_t i, Real &norm_r, Real &norm_a, Real &norm_x, Real &norm_b) const
  {
    const std::int64_t c = l % entry.matrices();
    for (int a = 0; a < entry.block; ++a) {
      const Scalar f   = right_hand_side(c, kind_of(l), i, a);
      Scalar       r   = f;
      Real         sum = 0;
      for (int d = -entry.lower; d <= entry.upper; ++d)
        for (int b = 0; b < entry.block; ++b) {
          const Scalar e = entry(c, i, d, a, b);
          sum += magnitude(e);
          if (e != Scalar(0)) r -= e * x[set(l, wrap(i + d)) + b * set.component_stride];
        }
      largest(norm_r, magnitude(r)), largest(norm_a, sum), largest(norm_x, magnitude(x[set(l, i) + a * set.component_stride])), largest(norm_b, magnitude(f));
    }
  }
  KOKKOS_FUNCTION static void judge(std::int64_t c, Real norm_r, Real norm_a, Real norm_x, Real norm_b, Found &found)
  {
    const Real error = norm_r == 0 ? Real(0) : norm_r / (norm_a * norm_x + norm_b), rcond = norm_b / (norm_a * norm_x);
    if (error > found.max_val) found.max_val = error, found.max_loc = c;
    if (rcond < found.min_val) found.min_val = rcond, found.min_loc = c;
  }
  /// One thread per line ...
  KOKKOS_FUNCTION void operator()(Measure, const std::int64_t l, Found &found) const
  {
    Real norm_r = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    for (std::int64_t i = 0; i < set.rows; ++i) see(l, i, norm_r, norm_a, norm_x, norm_b);
    judge(l % entry.matrices(), norm_r, norm_a, norm_x, norm_b, found);
  }
  /// ... or one per row of line `first_line`, where lines are few and long.
  KOKKOS_FUNCTION void operator()(const std::int64_t i, Real &norm_r, Real &norm_a, Real &norm_x, Real &norm_b) const { see(first_line, i, norm_r, norm_a, norm_x, norm_b); }
  std::int64_t         first_line = 0;
  /// One thread per row.
  KOKKOS_FUNCTION void fill(std::int64_t l, std::int64_t i) const
  {
    for (int a = 0; a < entry.block; ++a) x[set(l, i) + a * set.component_stride] = right_hand_side(l % entry.matrices(), kind_of(l), i, a);
  }
  KOKKOS_FUNCTION void operator()(Fill, const std::int64_t k) const { set.row_stride < set.stride0 ? fill(k / set.rows, k % set.rows) : fill(k % set.lines(), k / set.lines()); }
};

/// What the probe found.
template <class Scalar>
struct ProbeResult {
  real_t<Scalar> error  = 0;  ///< largest backward error
  std::int64_t   matrix = -1; ///< the matrix it belongs to
  real_t<Scalar> rcond  = 1;  ///< smallest ||b|| / (||A|| ||x||) met: the reciprocal condition number is at most that
};

/// Solves the probe right-hand sides with solve(x, set).
/// @param layout  of the lines to be solved later: tells interleaved from contiguous
/// @param lines   solved together, a multiple of the matrices: so much memory is taken. Fewer than six times the matrices are solved repeatedly.
template <class Scalar, class Exec, class Solve>
ProbeResult<Scalar> probe(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, const LineSet &layout, std::int64_t lines, const Solve &solve)
{
  using Memory                 = typename Exec::memory_space;
  using Kernel                 = Probe<Scalar, Memory>;
  using Index                  = Kokkos::IndexType<std::int64_t>;
  const std::int64_t  matrices = bands.matrices(), n = bands.rows();
  ProbeResult<Scalar> result;
  const LineSet       set    = (layout.row_stride < layout.stride0 ? LineSet::contiguous(n, lines) : LineSet::interleaved(n, lines)).with_components(bands.block);
  auto                x      = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::probe", static_cast<std::size_t>(set.unknowns()));
  const bool          by_row = set.lines() <= 192 && set.rows >= 1024;
  for (int kind = 0; kind < probe_kinds; kind += static_cast<int>(std::min<std::int64_t>(probe_kinds, lines / matrices))) {
    Kernel                 kernel{BandEntries<Scalar, Memory>(bands), set, kind, x.data()};
    typename Kernel::Found found;
    Kokkos::parallel_for("ribbon::probe::fill", Kokkos::RangePolicy<Exec, Index, typename Kernel::Fill>(exec, 0, set.lines() * set.rows), kernel);
    solve(x.data(), set);
    if (by_row) {
      using Max     = Kokkos::Max<typename Kernel::Real>;
      found.max_val = 0, found.min_val = 1;
      for (std::int64_t l = 0; l < set.lines(); ++l) {
        typename Kernel::Real r = 0, a = 0, s = 0, f = 0;
        kernel.first_line = l;
        Kokkos::parallel_reduce("ribbon::probe::measure", Kokkos::RangePolicy<Exec, Index>(exec, 0, set.rows), kernel, Max(r), Max(a), Max(s), Max(f));
        Kernel::judge(l % matrices, r, a, s, f, found);
      }
    } else {
      Kokkos::parallel_reduce("ribbon::probe::measure", Kokkos::RangePolicy<Exec, Index, typename Kernel::Measure>(exec, 0, set.lines()), kernel, Kokkos::MinMaxLoc<typename Kernel::Real, std::int64_t>(found));
    }
    if (found.max_val > result.error) result.error = found.max_val, result.matrix = found.max_loc;
    if (found.min_val < result.rcond) result.rcond = found.min_val;
  }
  return result;
}

} // namespace ribbon
