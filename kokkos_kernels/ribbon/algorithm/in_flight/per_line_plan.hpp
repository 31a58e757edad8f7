// SPDX-License-Identifier: BSD-2-Clause
/// @file per_line_plan.hpp  Shape, matrices and launch of the one-pass kernel with one matrix per line.
#pragma once

#include <ribbon/device/temporary.hpp>
#include <ribbon/algorithm/in_flight/per_line.hpp>
#include <ribbon/algorithm/in_flight/shifted.hpp>
#include <ribbon/algorithm/whole_lines/per_line_factor.hpp>
#include <ribbon/algorithm/choice.hpp>

#include <algorithm>

namespace ribbon {

/// One-pass solver of one matrix per line, or of alpha_l A + beta_l B. It stores the matrices without
/// factors and eliminates them in every solve.
template <class Scalar, class Exec, int K>
class OnePassPerLine {
public:
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

  static constexpr bool shares = !std::is_same_v<Scalar, float>; ///< has the kernel of share_elimination()

  /// Shape of the kernel for lines of this layout, from the table unless the caller gives one. split.chunks
  /// == 0 if no tile fits the scratch of a team.
  static OnePassShape choose(const Exec &exec, const LineSet &lines, bool periodic, bool shifted,
                             int rows_per_thread = 0, int lines_per_team = 0)
  {
    OnePassShape s;
    s.ring   = periodic;
    s.staged = lines.is_contiguous();
    if (lines.rows > 16384) return s;
    const int         n     = static_cast<int>(lines.rows);
    const std::size_t limit = device::scratch_limit(exec);
    const choice::Key key{K, 1, s.staged ? choice::Layout::contiguous : choice::Layout::interleaved,
                          shifted ? choice::Source::shifted : choice::Source::per_line};
    const int         measured = choice::measured(key, n).rows_per_thread,
              rows             = std::min(n, rows_per_thread ? rows_per_thread
                                             : measured      ? measured
                                                             : 16);
    s.split                    = ChunkSplit::in_flight(n, K, rows, periodic);
    s.pitch                    = packed_pitch<Scalar>(n);
    s.lane_bits                = s.staged ? 4 : 5;
    const auto needs           = [&] {
      return shifted ? scratch<ShiftedMatrices<Scalar, K>>(s) : scratch<OwnMatrices<Scalar, K>>(s);
    };
    const auto fits = [&] { return s.threads() <= max_threads && needs() <= limit; };
    // two teams per multiprocessor, but at least 128 bytes of a row (contiguous lines: 64)
    while (s.lane_bits > 0 && (!fits() || (needs() > limit / 2 && s.lane_bits > (s.staged ? 3 : 4))))
      --s.lane_bits;
    for (int bits = 0; lines_per_team >> bits; ++bits) s.lane_bits = bits;
    if (!fits()) s.split.chunks = 0;
    return s;
  }

  /// Copies the matrices.
  OnePassPerLine(const Exec &exec, const Input &bands, const OnePassShape &shape)
      : bands_(copy(exec, bands)), shape_(shape)
  {
    exec.fence();
    if (bands.lhs == Lhs::shifted) find_equal_rows();
  }

  /// For alpha_l A + beta_l B in which most rows of A and of B are equal: later solves eliminate a line
  /// once instead of chunk by chunk, if a tile fits a team. Not in float, to keep device code small.
  void share_elimination(const Exec &exec, const LineSet &lines, int rows_per_thread = 0,
                         int lines_per_team = 0)
  {
    if constexpr (!shares) return;
    const std::size_t room = device::scratch_limit(exec);
    OnePassShape      s    = shape_;
    s.slots                = shared_rows(s.staged, lines.rows);
    s.split =
      ChunkSplit::in_flight(static_cast<int>(lines.rows), K,
                            rows_per_thread ? std::min(rows_per_thread, s.slots) : s.slots, shape_.ring);
    s.pitch     = packed_pitch<Scalar>(lines.rows);
    s.lane_bits = 5;
    if (bands_.lhs != Lhs::shifted || s.split.length > s.slots || !alike(s.split)) return;
    const auto scratch = [&] {
      std::size_t bytes = 0;
      with_sharing(s, [&](const auto &kernel) { bytes = kernel.scratch(); });
      return bytes;
    };
    const auto fits = [&] { return s.threads() <= 512 && scratch() <= room; };
    // three teams per multiprocessor, but at least 128 bytes of a row
    while (s.lane_bits > 0 && (!fits() || (scratch() > room / 3 && (s.staged || s.lane_bits > 4))))
      --s.lane_bits;
    for (int bits = 0; lines_per_team >> bits; ++bits) s.lane_bits = bits;
    if (fits()) sharing_ = s;
  }

  /// Whether set_values() accepts these bands.
  bool takes_values_of(const Input &bands) const
  {
    return bands.lhs == Lhs::per_line && same_shape(bands, bands_);
  }
  /// Copies other matrices of the same extents. Asynchronous on exec.
  void set_values(const Exec &exec, const Input &bands)
  {
    Kokkos::deep_copy(exec, bands_.values, bands.values);
  }

  std::size_t bytes() const
  {
    return (bands_.values.size() + bands_.alpha.size() + bands_.beta.size()) * sizeof(Scalar);
  }
  const OnePassShape &shape() const { return shape_; }

  /// Smallest pivot of the matrices, or of the first one with a pivot of at most the tolerance, eliminated
  /// line by line.
  typename SmallestPivot<real_t<Scalar>>::value_type smallest_pivot(const Exec    &exec,
                                                                    real_t<Scalar> tolerance) const
  {
    using Kernel             = PerLineFactorKernel<Scalar, K, Memory>;
    const std::int64_t lines = bands_.matrices(), n = bands_.rows(),
                       together = std::min<std::int64_t>(
                         lines, std::max<std::int64_t>(1024, (std::int64_t(1) << 24) / n));
    const std::size_t count = static_cast<std::size_t>(together),
                      width = bands_.periodic ? 1 + 4 * K : 1 + 2 * K;
    const Temporary<Scalar, Exec> words(exec, "ribbon::one_pass::words",
                                        static_cast<std::size_t>(n - (bands_.periodic ? K : 0)) * width *
                                          count);
    const Temporary<Scalar, Exec> closures(exec, "ribbon::one_pass::closures",
                                           bands_.periodic ? 4 * K * K * count : 0);
    auto                          smallest = Kernel::Watch::start(-1);
    const auto                    place    = PivotPlace<real_t<Scalar>, Memory>(exec);
    for (std::int64_t first = 0; first < lines; first += together) {
      Kokkos::parallel_reduce("ribbon::one_pass::pivots", indices(exec, std::min(together, lines - first)),
                              Kernel{BandEntries<Scalar, Memory>(bands_), words.data(), closures.data(),
                                     together, first, tolerance},
                              place.reducer());
      Kernel::Watch::join(smallest, place.found(exec));
    }
    return smallest;
  }

  /// x = A^-1 b for all lines. Asynchronous on exec. In place if b == x and both layouts agree.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const
  {
    solve(exec, bands_, b, in, x, out);
  }

  /// The same for lines whose matrices are those of the lines from `first` on. @pre one matrix per line
  void solve_lines(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
                   const LineSet &out) const
  {
    run(exec,
        OwnMatrices<Scalar, K>{bands_.values.data() + first, bands_.matrices(), bands_.rows(), bands_.kl(),
                               bands_.ku()},
        b, in, x, out);
  }

  /// The same with matrices of other values.
  void solve(const Exec &exec, const Input &bands, const Scalar *b, const LineSet &in, Scalar *x,
             const LineSet &out) const
  {
    if (bands.lhs != Lhs::shifted)
      run(exec,
          OwnMatrices<Scalar, K>{bands.values.data(), bands.matrices(), bands.rows(), bands.kl(), bands.ku()},
          b, in, x, out);
    // rows that are equal in bands_ may differ in other matrices
    else if (bands.values.data() != bands_.values.data()) run(exec, shifted(bands, 0, 0), b, in, x, out);
    else if (sharing_.split.chunks == 0) run(exec, shifted(bands, equal_begin_, equal_end_), b, in, x, out);
    else with_sharing(sharing_, [&](const auto &kernel) { start(exec, kernel, b, in, x, out); });
  }

private:
  /// Finds the rows around the middle one that equal it in both matrices, not counting entries outside the
  /// matrix.
  void find_equal_rows()
  {
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, bands_.values);
    const auto n = values.extent(1), middle = n / 2, below = static_cast<std::size_t>(bands_.kl());
    const auto agree = [&](std::size_t i) {
      for (std::size_t c = 0; c < 2; ++c)
        for (std::size_t d = 0; d < values.extent(2); ++d)
          if ((bands_.periodic || (i + d >= below && i + d < n + below)) &&
              !(values(c, i, d) == values(c, middle, d)))
            return false;
      return true;
    };
    if (!bands_.periodic && n < values.extent(2)) return; // every row has entries outside
    std::size_t begin = middle, end = middle;
    while (end < n && agree(end)) ++end;
    while (begin > 0 && begin < end && agree(begin - 1)) --begin;
    equal_begin_ = static_cast<std::int64_t>(begin), equal_end_ = static_cast<std::int64_t>(end);
  }

  template <class Matrices>
  static std::size_t scratch(const OnePassShape &s)
  {
    return s.staged ? OnePassPerLineKernel<Scalar, K, Matrices, true>::scratch(s)
                    : OnePassPerLineKernel<Scalar, K, Matrices, false>::scratch(s);
  }
  static constexpr int max_threads =
    OnePassPerLineKernel<Scalar, K, OwnMatrices<Scalar, K>, true>::max_threads;

  static ShiftedMatrices<Scalar, K> shifted(const Input &bands, std::int64_t equal_begin,
                                            std::int64_t equal_end)
  {
    return {bands.values.data(), bands.alpha.data(), bands.beta.data(), bands.matrices(), bands.rows(),
            bands.kl(),          bands.ku(),         equal_begin,       equal_end};
  }

  /// Rows of a chunk for lines that are eliminated once. Measured on an H200, 64 to 1024 rows: short chunks
  /// are faster if teams have few threads or lines have few chunks.
  static int shared_rows(bool staged, std::int64_t n)
  {
    if (!std::is_same_v<Scalar, double>) return 16 / K;
    return n <= (K == 1 && !staged ? 64 : 256) ? 16 : 32;
  }

  /// Whether most rows are equal, and so all chunks between the first and the last.
  bool alike(const ChunkSplit &split) const
  {
    const int T = split.chunks;
    return T > 0 && 2 * (equal_end_ - equal_begin_) > bands_.rows() &&
           (T <= 2 || (equal_begin_ <= split.begin(1) && split.begin(T - 1) <= equal_end_));
  }

  /// Calls f with the kernel that eliminates a line once.
  template <class F>
  void with_sharing(const OnePassShape &shape, const F &f) const
  {
    const auto with = [&]([[maybe_unused]] auto staged, [[maybe_unused]] auto rows) {
      if constexpr (shares) {
        OnePassShiftedKernel<Scalar, K, staged(), rows()> k;
        k.matrices = shifted(bands_, equal_begin_, equal_end_), k.shape = shape;
        k.find_kinds();
        f(k);
      }
    };
    const auto with_rows = [&](auto staged) {
      if (std::is_same_v<Scalar, double> && shape.slots == 32)
        with(staged, std::integral_constant < int, std::is_same_v<Scalar, double> ? 32 : 16 / K > {});
      else with(staged, std::integral_constant < int, std::is_same_v<Scalar, double> ? 16 : 16 / K > {});
    };
    if (shape.staged) with_rows(std::true_type{});
    else with_rows(std::false_type{});
  }

  template <class Matrices>
  void run(const Exec &exec, const Matrices &matrices, const Scalar *b, const LineSet &in, Scalar *x,
           const LineSet &out) const
  {
    const auto with = [&](auto staged) {
      OnePassPerLineKernel<Scalar, K, Matrices, staged()> k;
      k.matrices = matrices, k.shape = shape_;
      start(exec, k, b, in, x, out);
    };
    if (shape_.staged) with(std::true_type{});
    else with(std::false_type{});
  }

  /// Starts a kernel whose matrices and shape are set.
  template <class Kernel>
  static void start(const Exec &exec, Kernel k, const Scalar *b, const LineSet &in, Scalar *x,
                    const LineSet &out)
  {
    const OnePassShape &s = k.shape;
    k.b = b, k.x = x, k.in = in, k.out = out, k.lines = in.lines();
    if (!s.staged && out.stride0 == 1)
      k.shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(x + out.offset) / sizeof(Scalar) %
                                 static_cast<std::uintptr_t>(s.lanes()));
    const std::size_t states =
      is_device_space<Exec> ? 0 : static_cast<std::size_t>(s.threads()) * sizeof(typename Kernel::State);
    device::launch(exec, "ribbon::one_pass",
                   {(k.lines + k.shift + s.lanes() - 1) / s.lanes(), s.threads(), k.scratch() + states}, k);
  }

  Input bands_;
  /// sharing_: of the kernel that eliminates a line once; no chunks if it is not used
  OnePassShape shape_, sharing_;
  std::int64_t equal_begin_ = 0, equal_end_ = 0;
};

} // namespace ribbon
