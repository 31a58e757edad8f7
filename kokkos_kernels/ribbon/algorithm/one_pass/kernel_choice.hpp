// SPDX-License-Identifier: BSD-2-Clause
/// @file kernel_choice.hpp  The kernels of one_pass for a system, and the shape in which lines are solved.
#pragma once

#include <ribbon/algorithm/choice.hpp>
#include <ribbon/algorithm/one_pass/joined.hpp>
#include <ribbon/algorithm/one_pass/resident.hpp>
#include <ribbon/algorithm/one_pass/staged_plan.hpp>

#include <algorithm>
#include <vector>

namespace ribbon {

/// The kernels of a scheme and their shapes. plan.hpp has the tables and launches.
template <class Scheme, class Exec>
class OnePassKernels {
public:
  using Scalar           = typename Scheme::Scalar;
  static constexpr int B = Scheme::block;
  static constexpr int S = Scheme::separators;
  /// rows of the shortest chunk
  static constexpr int least = Scheme::always_ring ? S : 2 * Scheme::separator_rows;

  /// Tridiagonal and pentadiagonal systems have kernels of several shapes, other systems have one of 32
  /// unknowns.
  static constexpr bool many_shapes = !Scheme::always_ring && S <= 2 && B == 1;
  static constexpr bool every_shape = many_shapes && std::is_same_v<Scalar, double>;
  /// kernels for segments that compute their adjacent separators
  static constexpr bool joinable = every_shape;
  static constexpr bool wide     = sizeof(Scalar) > 8; ///< complex double
  /// rows in registers, for systems with one shape
  static constexpr int few_rows = wide && Scheme::always_ring && S > 2 ? 0 : 8;
  /// Kernel of a single matrix. If it has no regular chunk, it uses the same kernel, because a separate one
  /// does not justify its code size.
  static constexpr CoefficientSource one_matrix =
    many_shapes || std::is_same_v<Scalar, double> ? CoefficientSource::regular : CoefficientSource::shared;
  /// Contiguous lines of up to this many rows with one stencil have chunks of 16 rows: the coefficients of
  /// 32 rows do not fit the cache of instruction constants.
  static constexpr int short_chunks_to = many_shapes && wide && S == 2 ? 256 : 0;
  /// Float: a thread has 64 rows of longer lines, which are as many bytes as 32 in double. Then fewer
  /// threads keep as many bytes in flight. Contiguous lines only if their last chunk would be short
  /// otherwise.
  static constexpr bool long_chunks = many_shapes && sizeof(Scalar) < 8;
  /// Kernels for several matrices. Half-bandwidth 3 is padded to 4, and pivoted pentadiagonal matrices in
  /// float are left to algorithms for whole lines.
  static constexpr bool several = (B > 1 || S != 3) && !(Scheme::always_ring && S == 4 && sizeof(Scalar) < 8);
  /// Blocks of a team: several for long interleaved lines, which have too many rows for one.
  static constexpr int most_blocks = every_shape ? device::most_blocks<Exec>() : 1;
  using Resident                   = ResidentOnePassKernel<Scheme, 32>;

  /// Shape of the kernel for lines of this layout, from the table unless the caller gives one. split.chunks
  /// == 0 if no tile fits the scratch of a team. The factorization determines how many chunks share a
  /// block. So place() makes the final choice of tiles and blocks.
  /// @param constant  a matrix with one stencil, whose full chunks may share a block
  /// @param classes   several matrices or continued lines
  /// @throws std::invalid_argument for rows_per_thread that no kernel has
  static OnePassShape choose(const TeamRoom &room, const LineSet &lines, bool periodic, bool constant,
                             bool classes, int rows_per_thread = 0, int lines_per_team = 0)
  {
    OnePassShape s;
    s.ring   = periodic || Scheme::always_ring;
    s.staged = lines.is_contiguous();
    if (lines.rows > 16384) return s;
    const auto known = slots_known(s.staged, classes);
    check_rows_per_thread(rows_per_thread, known, s.staged);
    const int         n = static_cast<int>(lines.rows);
    const choice::Key key{Scheme::separator_rows, B,
                          s.staged ? choice::Layout::contiguous : choice::Layout::interleaved,
                          constant ? choice::Source::constant : choice::Source::general};
    const int         measured = choice::measured(key, n).rows_per_thread;
    s.slots                    = rows_per_thread ? rows_per_thread
                                 : std::find(known.begin(), known.end(), measured) != known.end() ? measured
                                                                                                  : known.front();
    if (rows_per_thread == 0 && constant && !classes &&
        ((s.staged && n <= short_chunks_to) || (long_chunks && (s.staged ? n > 64 && n % 32 != 0 : n > 128))))
      s.slots = known.back();
    s.pack = every_shape && !classes && n % 2 != 0 && lie_side_by_side(lines, 0) ? 1 : Pack<Scalar>::size;
    // one tile per multiprocessor: short chunks give it enough threads
    if (rows_per_thread == 0 && lines.lines() <= 8 * room.multiprocessors)
      for (int k : known)
        if (k < s.slots && n * B <= 32 * k) s.slots = k;
    // time steps (line_stepper), which give the rows of a thread, exchange three rows
    s.split = ChunkSplit::make(n, least, s.slots / B, rows_per_thread > 0 && !s.staged ? 3 : 0);
    // swept in loops
    if (every_shape && s.staged && constant && !classes && s.split.chunks == 2) s.split.share_ends(n);
    if constexpr (every_shape)
      if (s.staged && !constant && !classes && s.pack > 1 && lines.lines() > 8 * room.multiprocessors &&
          fit_resident<Resident, Scheme>(s, room, lines_per_team))
        return s;
    if (s.split.chunks > 0 && !fit(s, room, constant ? kept_regular(s, s.split.chunks) : 0, lines_per_team))
      s.split.chunks = 0;
    return s;
  }

protected:
  /// Number of regular chunks that the kernel reads from its arguments, of `regular` chunks that share a
  /// block.
  static int kept_regular(const OnePassShape &s, int regular)
  {
    const int T = s.split.chunks;
    if (one_matrix != CoefficientSource::regular || s.resident > 0 || 2 * regular < T ||
        (T == 1 && !s.staged) || (Scheme::always_ring && s.staged))
      return 0;
    // measured on an H200: a large block of constants is slower than blocks in scratch if teams are small
    const bool large =
      B == 1 && ((S == 2 && (s.slots == 64 || (wide && !s.staged))) || (S == 4 && !s.staged));
    const bool two_ends = T - regular > 1; // teams wait for both ends
    return large && T < (Scheme::always_ring ? 3 : S == 2 ? (two_ends ? 12 : 5) : 8) ? 0 : regular;
  }

  /// Sets lines and blocks of a team for lines that are divided into chunks, with `regular` regular chunks.
  /// @return false if no tile fits
  static bool fit(OnePassShape &s, const TeamRoom &room, int regular, int lines_per_team)
  {
    const auto fits = [&] {
      return s.block_threads() <= 512 && scratch(s, room.is_virtual, regular) <= room.scratch;
    };
    s.set_blocks(1);
    if (s.resident > 0) return true;
    if (s.staged) {
      const bool few =
        regular == 0 && !Scheme::always_ring &&
        static_cast<std::size_t>(s.split.chunks) * block_words(s.slots) * sizeof(Scalar) <= few_bytes;
      fit_staged<Scheme>(s, room, regular, few,
                         [&](const OnePassShape &shape) { return scratch(shape, room.is_virtual, regular); });
      for (int bits = 0; lines_per_team >> bits; ++bits) lay_out_staged<Scheme>(s, bits);
    } else {
      s.lane_bits = sizeof(Scalar) < 8 ? 6 : 5; // rows of 256 bytes, in complex double of 512
      choose_blocks(s, regular + 2 >= s.split.chunks);
      // two teams per multiprocessor
      if (wide && Scheme::always_ring && 2 * scratch(s, room.is_virtual, regular) > room.scratch)
        s.lane_bits = 4;
      while (s.lane_bits > 2 && !fits()) --s.lane_bits;
      for (int bits = 0; lines_per_team >> bits; ++bits) s.lane_bits = bits;
      if (!fits()) s.set_blocks(1);
    }
    return fits();
  }

  /// Calls f with the kernel of a shape.
  template <CoefficientSource source, class F>
  static void with_kernel(const OnePassShape &s, const F &f)
  {
    if (s.staged) {
      if constexpr (every_shape && source != CoefficientSource::classes)
        if (s.resident > 0) return f(TypeTag<Resident>{});
      // see kept_regular()
      constexpr auto from =
        source == CoefficientSource::regular && Scheme::always_ring ? CoefficientSource::shared : source;
      if constexpr (short_chunks_to > 0 && source != CoefficientSource::classes)
        if (s.slots == 16) return f(TypeTag<OnePassKernel<Scheme, 0, 16, source, true>>{});
      if constexpr (long_chunks && source != CoefficientSource::classes)
        if (s.slots == 64) return f(TypeTag<OnePassKernel<Scheme, 0, 64, source, true>>{});
      if constexpr (every_shape && source == CoefficientSource::regular)
        if (s.pack == 1) return f(TypeTag<OnePassKernel<Scheme, 0, 32, from, true, 1>>{});
      f(TypeTag<OnePassKernel<Scheme, 0, 32, from, true>>{});
    } else if constexpr (!many_shapes)
      f(TypeTag<OnePassKernel<Scheme, few_rows, 32 - few_rows, source, false>>{});
    else if constexpr (wide || source == CoefficientSource::classes)
      f(TypeTag<OnePassKernel<Scheme, wide ? 12 : 4, wide ? 20 : 28, source, false>>{});
    else {
      if constexpr (every_shape)
        if (s.slots == 16) return f(TypeTag<OnePassKernel<Scheme, 8, 8, source, false>>{});
      if (s.slots == 32) f(TypeTag<OnePassKernel<Scheme, 4, 28, source, false>>{});
      else f(TypeTag<OnePassKernel<Scheme, 24, 40, source, false>>{});
    }
  }

  /// Calls f with the number of slots as a compile-time constant.
  template <class F>
  static void with_slots([[maybe_unused]] int slots, const F &f)
  {
    if constexpr (many_shapes) {
      if (slots == 16) return f(std::integral_constant<int, 16>{});
      if (slots == 64) return f(std::integral_constant<int, 64>{});
    }
    f(std::integral_constant<int, 32>{});
  }

  static std::size_t block_words(int slots)
  {
    std::size_t words = 0;
    with_slots(slots, [&](auto n) { words = sizeof(ChunkBlock<Scheme, n()>) / sizeof(Scalar); });
    return words;
  }

private:
  /// Blocks of a team that has too many rows for one. Measured on an H200, rows 1024 to 4096: coefficients
  /// in scratch need smaller blocks. Pentadiagonal lines are faster with half as many lanes than with more
  /// blocks.
  static void choose_blocks(OnePassShape &s, bool constant)
  {
    if (most_blocks == 1 || s.slots != 64) return;
    const int T = s.split.chunks;
    // half of these chunks have too many threads for a second block on a multiprocessor, a quarter do not
    // have too many for a third
    const bool few = T <= 20;
    if (S == 1) s.set_blocks(T > 32 ? 4 : T > 16 ? (constant && !few ? 2 : 4) : T > 8 && !constant ? 2 : 1);
    else if (T > 16) s.set_blocks(few ? 4 : 2);
  }

  /// Slots of the available kernels: every shape in double, in which they were measured; one shape for
  /// classes and for wider systems.
  static std::vector<int> slots_known(bool staged, bool classes)
  {
    if (!many_shapes || classes || (staged ? short_chunks_to == 0 && !long_chunks : wide)) return {32};
    return staged && wide ? std::vector<int>{32, 16}
           : every_shape  ? std::vector<int>{16, 32, 64}
                          : std::vector<int>{32, 64};
  }

  /// Scratch of a block of a team with that many regular chunks.
  static std::size_t scratch(const OnePassShape &s, bool is_virtual, int regular_chunks)
  {
    std::size_t bytes = 0;
    with_kernel<CoefficientSource::shared>(
      s, [&](auto type) { bytes = decltype(type)::type::scratch(s, is_virtual, regular_chunks); });
    return bytes;
  }
};

} // namespace ribbon
