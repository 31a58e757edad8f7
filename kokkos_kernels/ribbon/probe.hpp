// SPDX-License-Identifier: BSD-2-Clause
/// @file probe.hpp  Right-hand sides that show whether an elimination without pivoting keeps the digits of its matrices.
///
/// No norm of the factors tells sound from unsound; solving does. Six right-hand sides per matrix, A 1, A (+-1), two times A random and
/// two random ones, are solved with the kernel's own arithmetic, and the backward error ||r|| / (||A|| ||x|| + ||b||) (maximum norms;
/// Rigal & Gaches 1967) is measured, rows scaled so that the magnitudes of their entries add up to 1.
#pragma once

#include <ribbon/probe_kernels.hpp>

namespace ribbon {

/// What the probe found.
template <class Scalar>
struct ProbeResult {
  real_t<Scalar> error  = 0;  ///< largest backward error
  std::int64_t   matrix = -1; ///< the matrix it belongs to
  real_t<Scalar> rcond  = 1;  ///< smallest ||b|| / (||A|| ||x||) met: the reciprocal condition number is at most that
  std::int64_t   rcond_matrix = -1; ///< the matrix it belongs to
};

/// Which right-hand sides are solved, and what is noted of every matrix.
template <class Scalar>
struct ProbeOptions {
  /// The lines are those of a batch, each with its matrix, and all have the same right-hand side: A (+-1), then two times
  /// A random, which are in the range of singular matrices, too. Otherwise line l has matrix l % matrices.
  bool           batch         = false;
  const int     *class_of_line = nullptr; ///< of a batch with classes
  int            round         = 0;       ///< 0: the six right-hand sides named above; 1, 2, ...: six random ones each
  int           *bad           = nullptr; ///< one flag per matrix, in the memory of the kernels: 1 where it exceeds a limit
  real_t<Scalar> most_error = 0, least_rcond = 0;
};

/// Solves the probe right-hand sides with solve(x, set).
/// @param layout  of the lines to be solved later: tells interleaved from contiguous
/// @param lines   solved together, a multiple of the matrices: so much memory is taken. Fewer than six times the matrices are solved repeatedly.
template <class Scalar, class Exec, class Solve>
ProbeResult<Scalar> probe(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, const LineSet &layout, std::int64_t lines, const Solve &solve,
                          const ProbeOptions<Scalar> &options = {})
{
  using Memory                 = typename Exec::memory_space;
  using Kernel                 = Probe<Scalar, Memory>;
  using Index                  = Kokkos::IndexType<std::int64_t>;
  const std::int64_t  matrices = bands.matrices(), n = bands.rows();
  ProbeResult<Scalar> result;
  const LineSet       set    = (layout.row_stride < layout.stride0 ? LineSet::contiguous(n, lines) : LineSet::interleaved(n, lines)).with_components(bands.block);
  auto                x      = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::probe", static_cast<std::size_t>(set.unknowns()));
  const bool          by_row = set.lines() <= 192 && set.rows >= 1024 && !options.bad && !options.class_of_line; // the host judges then
  const bool          tiled  = !is_device_space<Exec> && bands.block == 1 && matrices >= ProbeTiles<Scalar, Memory>::width / 2 && !options.batch;
  const auto          fill    = [&](const auto &kernel, std::int64_t count) { Kokkos::parallel_for("ribbon::probe::fill", Kokkos::RangePolicy<Exec, Index, typename Kernel::Fill>(exec, 0, count), kernel); };
  const auto          measure = [&](const auto &kernel, std::int64_t count) {
    typename Kernel::Found found{};
    Kokkos::parallel_reduce("ribbon::probe::measure", Kokkos::RangePolicy<Exec, Index, typename Kernel::Measure>(exec, 0, count), kernel, Kokkos::MinMaxLoc<typename Kernel::Real, std::int64_t>(found));
    return found;
  };
  const int at_once = options.batch ? 1 : static_cast<int>(std::min<std::int64_t>(probe_kinds, lines / matrices));
  for (int kind = options.batch ? 1 : 0; kind < (options.batch ? Kernel::first_given : probe_kinds); kind += at_once) {
    Kernel kernel{BandEntries<Scalar, Memory>(bands), set, kind, x.data()};
    kernel.batch = options.batch, kernel.class_of_line = options.class_of_line, kernel.round = options.round;
    kernel.bad = options.bad, kernel.most_error = options.most_error, kernel.least_rcond = options.least_rcond;
    typename Kernel::Found found{};
    if constexpr (!is_device_space<Exec>) {
      const ProbeTiles<Scalar, Memory> tiles(kernel);
      if (tiled) {
        fill(tiles, tiles.count());
        solve(x.data(), set);
        found = measure(tiles, tiles.count());
      }
    }
    if (!tiled) {
      fill(kernel, set.lines() * set.rows);
      solve(x.data(), set);
    }
    if (!tiled && by_row) {
      using Max     = Kokkos::Max<typename Kernel::Real>;
      found.max_val = 0, found.min_val = 1;
      for (std::int64_t l = 0; l < set.lines(); ++l) {
        typename Kernel::Real r = 0, s = 0, f = 0;
        kernel.first_line = l;
        Kokkos::parallel_reduce("ribbon::probe::measure", Kokkos::RangePolicy<Exec, Index>(exec, 0, set.rows), kernel, Max(r), Max(s), Max(f));
        kernel.judge(kernel.matrix_of(l), r, s, f, found);
      }
    } else if (!tiled) found = measure(kernel, set.lines());
    if (found.max_val > result.error) result.error = found.max_val, result.matrix = found.max_loc;
    if (found.min_val < result.rcond) result.rcond = found.min_val, result.rcond_matrix = found.min_loc;
  }
  return result;
}

} // namespace ribbon
