// SPDX-License-Identifier: BSD-2-Clause
/// @file probe.hpp  Right-hand sides that show whether an elimination without pivoting is accurate.
///
/// No norm of the factors distinguishes accurate from inaccurate factors, but solves do. The kernel itself
/// solves six right-hand sides per matrix: A 1, A (+-1), A random (two of them) and two random ones. The
/// probe measures the backward error ||r|| / (||A|| ||x|| + ||b||) in maximum norms (Rigal & Gaches 1967).
/// Rows are scaled so that the magnitudes of their entries add up to 1.
#pragma once

#include <ribbon/device/temporary.hpp>
#include <ribbon/probe/probe_kernels.hpp>

namespace ribbon {

/// Number of threads that fills a large device. Larger problems have several rows per thread.
inline constexpr std::int64_t threads_of_a_device = std::int64_t(1) << 18;

/// Results of the probe.
template <class Scalar>
struct ProbeResult {
  real_t<Scalar> error  = 0;  ///< largest backward error
  std::int64_t   matrix = -1; ///< the matrix it belongs to
  /// smallest ||b|| / (||A|| ||x||): an upper bound of the reciprocal condition number
  real_t<Scalar> rcond        = 1;
  std::int64_t   rcond_matrix = -1; ///< the matrix it belongs to
};

/// The right-hand sides to be solved, and the results stored for every matrix.
template <class Scalar>
struct ProbeOptions {
  /// The lines are those of the batch, each with its matrix in the batch. All lines have the same
  /// right-hand side: A (+-1), then A random (two of them). These lie in the range of singular matrices,
  /// too. Otherwise line l has matrix l % matrices.
  bool       batch         = false;
  const int *class_of_line = nullptr; ///< of a batch with classes
  /// The error is that of the worst row, |r_i| / (|A| |x| + |b|)_i (Oettli & Prager 1964). The unknowns of
  /// given solutions differ by up to 10^12. rcond is meaningless then.
  bool componentwise = false;
  /// 0: the six right-hand sides named above; 1, 2, ...: six random ones each
  int round = 0;
  /// one flag per matrix, in the memory of the kernels; 1: the matrix exceeds a limit
  int           *bad        = nullptr;
  real_t<Scalar> most_error = 0, least_rcond = 0;
};

/// Solves the probe right-hand sides with solve(x, set).
/// @param layout  of the lines to be solved later: interleaved or contiguous
/// @param lines   lines solved together, a multiple of the number of matrices; memory is allocated for
///   them. If they are fewer than six times the matrices, the solve is repeated
template <class Scalar, class Exec, class Solve>
ProbeResult<Scalar> probe(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                          const LineSet &layout, std::int64_t lines, const Solve &solve,
                          const ProbeOptions<Scalar> &options = {})
{
  using Memory                 = typename Exec::memory_space;
  using Kernel                 = Probe<Scalar, Memory>;
  using Index                  = Kokkos::IndexType<std::int64_t>;
  const std::int64_t  matrices = bands.matrices(), n = bands.rows();
  ProbeResult<Scalar> result;
  const LineSet       set =
    (layout.row_stride < layout.stride0 ? LineSet::contiguous(n, lines) : LineSet::interleaved(n, lines))
      .with_components(bands.block);
  const Temporary<Scalar, Exec> x(exec, "ribbon::probe", static_cast<std::size_t>(set.unknowns()));
  const auto                    fill = [&](const auto &kernel, std::int64_t count) {
    Kokkos::parallel_for("ribbon::probe::fill",
                                            Kokkos::RangePolicy<Exec, Index, typename Kernel::Fill>(exec, 0, count), kernel);
  };
  const auto measure = [&](auto tag, const auto &kernel, std::int64_t count) {
    typename Kernel::Found found{};
    Kokkos::parallel_reduce("ribbon::probe::measure",
                            Kokkos::RangePolicy<Exec, Index, decltype(tag)>(exec, 0, count), kernel,
                            Kokkos::MinMaxLoc<typename Kernel::Real, std::int64_t>(found));
    if (found.max_val > result.error) result.error = found.max_val, result.matrix = found.max_loc;
    if (found.min_val < result.rcond) result.rcond = found.min_val, result.rcond_matrix = found.min_loc;
  };
  const int at_once =
    options.batch ? 1 : static_cast<int>(std::min<std::int64_t>(probe_kinds, lines / matrices));
  const int begin = options.batch ? 1 : 0, end = options.batch ? Kernel::first_given : probe_kinds;
  Kernel    kernel{BandEntries<Scalar, Memory>(bands), set, begin, x.data()};
  kernel.batch = options.batch, kernel.class_of_line = options.class_of_line, kernel.round = options.round;
  kernel.componentwise = options.componentwise;
  kernel.bad = options.bad, kernel.most_error = options.most_error, kernel.least_rcond = options.least_rcond;
  if constexpr (is_device_space<Exec>) {
    const std::int64_t                           all = set.lines() * ((end - begin + at_once - 1) / at_once);
    const Temporary<typename Kernel::Word, Exec> norms(exec, "ribbon::probe::norms",
                                                       static_cast<std::size_t>(3 * all));
    kernel.norms = norms.data();
    kernel.strip =
      static_cast<int>(std::clamp<std::int64_t>(set.lines() * set.rows / threads_of_a_device, 1, 8));
    for (; kernel.kind < end; kernel.kind += at_once, kernel.first += set.lines()) {
      fill(kernel, set.lines() * kernel.strips());
      solve(x.data(), set);
      Kokkos::parallel_for("ribbon::probe::measure",
                           Kokkos::RangePolicy<Exec, Index, typename Kernel::MeasureStrip>(
                             exec, 0, set.lines() * kernel.strips()),
                           kernel);
    }
    measure(typename Kernel::Judge(), kernel, all);
  } else {
    const bool tiled =
      bands.block == 1 && matrices >= ProbeTiles<Scalar, Memory>::width / 2 && !options.batch;
    for (; kernel.kind < end; kernel.kind += at_once) {
      const ProbeTiles<Scalar, Memory> tiles(kernel);
      tiled ? fill(tiles, tiles.count()) : fill(kernel, set.lines() * kernel.strips());
      solve(x.data(), set);
      tiled ? measure(typename Kernel::Measure(), tiles, tiles.count())
            : measure(typename Kernel::Measure(), kernel, set.lines());
    }
  }
  return result;
}

} // namespace ribbon
