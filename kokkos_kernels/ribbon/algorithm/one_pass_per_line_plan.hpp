// SPDX-License-Identifier: BSD-2-Clause
/// @file one_pass_per_line_plan.hpp  Shape, matrices and launch of the one-pass kernel for lines with matrices of their own.
#pragma once

#include <ribbon/algorithm/one_pass_per_line.hpp>
#include <ribbon/algorithm/per_line_factor.hpp>
#include <ribbon/choice.hpp>

#include <algorithm>

namespace ribbon {

/// One-pass solver of one matrix per line, or of alpha_l A + beta_l B. Matrices are kept as they are and eliminated in every solve.
template <class Scalar, class Exec, int K>
class OnePassPerLine {
public:
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

  /// Shape of the kernel for lines of this layout, by the table where the caller names none, with split.chunks == 0 where no tile fits the scratch of a team.
  static OnePassShape choose(const Exec &exec, const LineSet &lines, bool periodic, bool shifted, int rows_per_thread = 0, int lines_per_team = 0)
  {
    OnePassShape s;
    s.ring   = periodic;
    s.staged = lines.is_contiguous();
    if (lines.rows > 16384) return s;
    const int         n     = static_cast<int>(lines.rows);
    const std::size_t limit = device::scratch_limit(exec);
    const choice::Key key{K, 1, s.staged ? choice::Layout::contiguous : choice::Layout::interleaved, shifted ? choice::Source::shifted : choice::Source::per_line};
    const int         measured = choice::measured(key, n).rows_per_thread, rows = std::min(n, rows_per_thread ? rows_per_thread : measured ? measured : 16);
    s.split = ChunkSplit::make(n, K, rows);
    for (int T = 1, length = n; periodic && T <= 512; T *= 2) { // the cyclic reduction of a ring takes a power of two of chunks
      const auto split = ChunkSplit::make(n, K, length = (n + T - 1) / T);
      if (split.chunks == T) s.split = split;
      if (length <= rows) break;
    }
    s.lane_bits     = 5;
    s.pitch         = n | 1; // lanes of a warp fall on different banks
    const auto fits = [&] { return s.threads() <= OnePassPerLineKernel<Scalar, K, OwnMatrices<Scalar, K>, true>::max_threads && scratch(s) <= limit; };
    while (s.lane_bits > 0 && (!fits() || (s.lane_bits > 4 && (scratch(s) > limit / 2 || s.staged)))) --s.lane_bits; // two teams on a multiprocessor, but rows of 128 bytes
    for (int bits = 0; lines_per_team >> bits; ++bits) s.lane_bits = bits;
    if (!fits()) s.split.chunks = 0;
    return s;
  }

  /// Copies the matrices.
  OnePassPerLine(const Exec &exec, const Input &bands, const OnePassShape &shape) : bands_(copy(exec, bands)), shape_(shape)
  {
    exec.fence();
    if (bands.lhs == Lhs::shifted) find_equal_rows();
  }

  std::size_t         bytes() const { return (bands_.values.size() + bands_.alpha.size() + bands_.beta.size()) * sizeof(Scalar); }
  const OnePassShape &shape() const { return shape_; }

  /// Smallest pivot of the matrices, eliminated line by line.
  typename SmallestPivot<real_t<Scalar>>::value_type smallest_pivot(const Exec &exec) const
  {
    using Kernel             = PerLineFactorKernel<Scalar, K, Memory>;
    const std::int64_t lines = bands_.matrices(), n = bands_.rows(), together = std::min<std::int64_t>(lines, std::max<std::int64_t>(1024, (std::int64_t(1) << 24) / n));
    const std::size_t  count = static_cast<std::size_t>(together), width = bands_.periodic ? 1 + 4 * K : 1 + 2 * K;
    const auto         words    = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::one_pass::words", static_cast<std::size_t>(n - (bands_.periodic ? K : 0)) * width * count);
    const auto         closures = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::one_pass::closures", bands_.periodic ? 4 * K * K * count : 0);
    auto               smallest = Kernel::Watch::start(-1);
    for (std::int64_t first = 0; first < lines; first += together) {
      typename Kernel::Smallest found;
      Kokkos::parallel_reduce("ribbon::one_pass::pivots", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, std::min(together, lines - first)),
                              Kernel{BandEntries<Scalar, Memory>(bands_), words.data(), closures.data(), together, first}, typename Kernel::Watch::reducer(found));
      if (found.val < smallest.val) smallest = found;
    }
    return smallest;
  }

  /// x = A^-1 b for all lines. Asynchronous on exec; in place where b == x and both layouts agree.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const { solve(exec, bands_, b, in, x, out); }

  /// The same with matrices of other values.
  void solve(const Exec &exec, const Input &bands, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const
  {
    const bool own = bands.values.data() == bands_.values.data(); // other matrices may have other rows that agree
    if (bands.lhs == Lhs::shifted)
      run(exec, ShiftedMatrices<Scalar, K>{bands.values.data(), bands.alpha.data(), bands.beta.data(), bands.matrices(), bands.rows(), bands.kl(), bands.ku(), own ? equal_begin_ : 0, own ? equal_end_ : 0}, b, in, x,
          out);
    else run(exec, OwnMatrices<Scalar, K>{bands.values.data(), bands.matrices(), bands.rows(), bands.kl(), bands.ku()}, b, in, x, out);
  }

private:
  /// The rows around the middle one that agree with it, in both matrices.
  void find_equal_rows()
  {
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, bands_.values);
    const auto n = values.extent(1), middle = n / 2;
    const auto agree = [&](std::size_t i) {
      for (std::size_t c = 0; c < 2; ++c)
        for (std::size_t d = 0; d < values.extent(2); ++d)
          if (!(values(c, i, d) == values(c, middle, d))) return false;
      return true;
    };
    std::size_t begin = middle, end = middle;
    while (end < n && agree(end)) ++end;
    while (begin > 0 && begin < end && agree(begin - 1)) --begin;
    equal_begin_ = static_cast<std::int64_t>(begin), equal_end_ = static_cast<std::int64_t>(end);
  }

  static std::size_t scratch(const OnePassShape &s)
  {
    return s.staged ? OnePassPerLineKernel<Scalar, K, OwnMatrices<Scalar, K>, true>::scratch(s) : OnePassPerLineKernel<Scalar, K, OwnMatrices<Scalar, K>, false>::scratch(s);
  }

  template <class Matrices>
  void run(const Exec &exec, const Matrices &matrices, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const
  {
    const auto start = [&](auto staged) {
      using Kernel = OnePassPerLineKernel<Scalar, K, Matrices, staged()>;
      Kernel k{matrices, b, x, in, out, shape_, in.lines(), 0};
      if (!staged && out.stride0 == 1) k.shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(x + out.offset) / sizeof(Scalar) % static_cast<std::uintptr_t>(shape_.lanes()));
      const std::size_t states = is_device_space<Exec> ? 0 : static_cast<std::size_t>(shape_.threads()) * sizeof(typename Kernel::State);
      device::launch(exec, "ribbon::one_pass", {(k.lines + k.shift + shape_.lanes() - 1) / shape_.lanes(), shape_.threads(), Kernel::scratch(shape_) + states}, k);
    };
    if (shape_.staged) start(std::true_type{});
    else start(std::false_type{});
  }

  Input        bands_;
  OnePassShape shape_;
  std::int64_t equal_begin_ = 0, equal_end_ = 0;
};

} // namespace ribbon
