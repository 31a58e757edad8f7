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

/// The launches of a probe, and its result.
template <class Scalar, class Exec>
class ProbeRun {
public:
  using Memory = typename Exec::memory_space;
  using Kernel = Probe<Scalar, Memory>;
  using Tiles  = ProbeTiles<Scalar, Memory>;

  /// @param end      behind the last kind of right-hand side
  /// @param at_once  kinds that are solved together
  ProbeRun(const Exec &exec, const Kernel &kernel, const LineSet &set, int end, int at_once)
      : exec_(exec), set_(set), kernel_(kernel), end_(end), at_once_(at_once)
  {
  }

  /// On a device: the norms of all solutions are stored, and judged by one kernel at the end.
  template <class Solve>
  void measure_strips(Scalar *x, const Solve &solve)
  {
    const std::int64_t all = set_.lines() * ((end_ - kernel_.kind + at_once_ - 1) / at_once_);
    const Temporary<typename Kernel::Word, Exec> norms(exec_, "ribbon::probe::norms",
                                                       static_cast<std::size_t>(3 * all));
    kernel_.norms = norms.data();
    kernel_.strip =
      static_cast<int>(std::clamp<std::int64_t>(set_.lines() * set_.rows / threads_of_a_device, 1, 8));
    for (; kernel_.kind < end_; kernel_.kind += at_once_, kernel_.first += set_.lines()) {
      fill(kernel_, set_.lines() * kernel_.strips());
      solve(x, set_);
      Kokkos::parallel_for("ribbon::probe::measure",
                           policy<typename Kernel::MeasureStrip>(set_.lines() * kernel_.strips()), kernel_);
    }
    measure<typename Kernel::Judge>(kernel_, all);
  }

  /// On a host: every kind is measured after its solve.
  /// @param tiled  the lines of a tile are the SIMD direction
  template <class Solve>
  void measure_lines(Scalar *x, const Solve &solve, bool tiled)
  {
    for (; kernel_.kind < end_; kernel_.kind += at_once_) {
      const Tiles tiles(kernel_);
      tiled ? fill(tiles, tiles.count()) : fill(kernel_, set_.lines() * kernel_.strips());
      solve(x, set_);
      tiled ? measure<typename Kernel::Measure>(tiles, tiles.count())
            : measure<typename Kernel::Measure>(kernel_, set_.lines());
    }
  }

  const ProbeResult<Scalar> &result() const { return result_; }

private:
  template <class Tag>
  auto policy(std::int64_t count) const
  {
    return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Tag>(exec_, 0, count);
  }
  template <class Filler>
  void fill(const Filler &kernel, std::int64_t count) const
  {
    Kokkos::parallel_for("ribbon::probe::fill", policy<typename Kernel::Fill>(count), kernel);
  }
  /// Reduces the errors of all lines to the result.
  template <class Tag, class Meter>
  void measure(const Meter &kernel, std::int64_t count)
  {
    typename Kernel::Found found{};
    Kokkos::parallel_reduce("ribbon::probe::measure", policy<Tag>(count), kernel,
                            Kokkos::MinMaxLoc<typename Kernel::Real, std::int64_t>(found));
    if (found.max_val > result_.error) result_.error = found.max_val, result_.matrix = found.max_loc;
    if (found.min_val < result_.rcond) result_.rcond = found.min_val, result_.rcond_matrix = found.min_loc;
  }

  const Exec         &exec_;
  const LineSet      &set_;
  Kernel              kernel_;
  int                 end_, at_once_;
  ProbeResult<Scalar> result_;
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
  using Run                   = ProbeRun<Scalar, Exec>;
  using Kernel                = typename Run::Kernel;
  const std::int64_t matrices = bands.matrices(), n = bands.rows();
  const bool         tiled = !is_device_space<Exec> && matrices >= Run::Tiles::width / 2 && !options.batch;
  LineSet            set   = (layout.row_stride < layout.stride0 && !tiled ? LineSet::contiguous(n, lines)
                                                                           : LineSet::interleaved(n, lines))
                  .with_components(bands.block);
  if (tiled) set.stride0 = 1, set.component_stride = lines; // the lines of a tile are adjacent in memory
  const Temporary<Scalar, Exec> x(exec, "ribbon::probe", static_cast<std::size_t>(set.unknowns()));
  const int                     at_once =
    options.batch ? 1 : static_cast<int>(std::min<std::int64_t>(probe_kinds, lines / matrices));
  const int begin = options.batch ? 1 : 0, end = options.batch ? Kernel::first_given : probe_kinds;
  Kernel    kernel{BandEntries<Scalar, typename Exec::memory_space>(bands), set, begin, x.data()};
  kernel.batch = options.batch, kernel.class_of_line = options.class_of_line, kernel.round = options.round;
  kernel.componentwise = options.componentwise;
  kernel.bad = options.bad, kernel.most_error = options.most_error, kernel.least_rcond = options.least_rcond;
  Run run(exec, kernel, set, end, at_once);
  if constexpr (is_device_space<Exec>) run.measure_strips(x.data(), solve);
  else run.measure_lines(x.data(), solve, tiled);
  return run.result();
}

} // namespace ribbon
