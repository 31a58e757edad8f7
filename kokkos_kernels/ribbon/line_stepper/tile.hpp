// SPDX-License-Identifier: BSD-2-Clause
/// @file tile.hpp  The tile of a team of a step kernel: its scratch, its division into chunks, the
///   coefficients of each chunk, and loads and stores of lines.
#pragma once

#include <ribbon/algorithm/one_pass/tile.hpp>
#include <ribbon/line_stepper.hpp>
#include <ribbon/line_stepper/coefficients.hpp>
#include <ribbon/line_stepper/rows.hpp>

namespace ribbon {

/// The source for a tile that leaves the regular chunks to the kernel.
template <CoefficientSource source>
inline constexpr CoefficientSource without_regular =
  source == CoefficientSource::regular ? CoefficientSource::shared : source;

/// @tparam W          half-bandwidth of B and D
/// @tparam nonlinear  there is a term D p(u)
template <class Scheme_, int slots_, CoefficientSource source, int W, bool nonlinear>
struct StepTile : OnePassTile<Scheme_, slots_, 0, without_regular<source>, false, 1,
                              StepRows<typename Scheme_::Scalar, W, nonlinear>> {
  using Scheme = Scheme_;
  using Rows   = StepRows<typename Scheme::Scalar, W, nonlinear>;
  using Tile   = OnePassTile<Scheme, slots_, 0, without_regular<source>, false, 1, Rows>;
  using Tile::shape, Tile::b, Tile::x, Tile::in, Tile::out, Tile::S, Tile::lines, Tile::slots;
  using typename Tile::Scalar, typename Tile::Piece, typename Tile::State, typename Tile::Block;
  /// limits the registers to 128
  static constexpr int max_threads  = 512;
  static constexpr int teams_beside = 0;

  using Square                   = SquareBlock<Scalar, Scheme::separators>;
  using Packed                   = PackedChunk<Scheme, slots_>;
  using Held                     = HeldRow<Scalar, Scheme::separators>;
  static constexpr int held_rows = source == CoefficientSource::regular ? Packed::inner : 0;

  Packed             packed;      ///< the regular chunks
  typename Rows::Row stencil;     ///< their rows of B and D
  const Square      *whole;       ///< inverse of the reduced system: (class, chunk, chunk)
  int                reduced_sum; ///< right-hand sides that enter the separators of two neighbouring chunks
  bool               through_scratch; ///< lines whose rows are neighbours in memory
  LineSums<Scalar>   sums;

  /// Scratch of a team. Contiguous lines pass through it before the first step and after the last.
  struct Scratch {
    Scalar *own, *left;   ///< right-hand sides of the separators, and what is subtracted: (chunk, S, lane)
    Scalar *first, *last; ///< rows at the beginning and at the end of every chunk: (chunk, row, lane)
    Scalar *parts;        ///< of sums: (quantity, chunk, lane)
    Held   *held;         ///< D and H of the regular chunks
    Square *inverse;      ///< (chunk, chunk)
    Scalar *tile;         ///< (lane, row)
  };
  /// Places of a row in scratch, for at most 32 lanes: constant, so that addresses are offsets.
  static constexpr int pitch = 32;
  /// Whether the inverse of the reduced system is copied to scratch. Lanes of several classes read it from
  /// memory.
  static constexpr bool holds_inverse = source == CoefficientSource::regular;
  /// Chunks for which right-hand sides are stored: those of a ring twice, if sums reach around it.
  KOKKOS_FUNCTION static int stored_chunks(const OnePassShape &s, int sum)
  {
    return s.ring && sum < s.split.chunks ? 2 * s.split.chunks : s.split.chunks;
  }
  /// Words of the arrays before those of constants.
  KOKKOS_FUNCTION static std::size_t exchanged_words(const OnePassShape &s, int sum, bool adds_up)
  {
    const int T = s.split.chunks;
    return static_cast<std::size_t>(2 * S * stored_chunks(s, sum) + 2 * W * (T + 2) +
                                    (adds_up ? LineSums<Scalar>::quantities * T : 0)) *
           pitch;
  }
  KOKKOS_FUNCTION Scratch places(char *memory) const
  {
    const int T = shape.split.chunks, stored = stored_chunks(shape, reduced_sum);
    Scratch   to;
    to.own  = reinterpret_cast<Scalar *>(memory);
    to.left = to.own + S * stored * pitch, to.first = to.left + S * stored * pitch;
    to.last = to.first + W * (T + 2) * pitch, to.parts = to.last + W * (T + 2) * pitch;
    to.inverse = reinterpret_cast<Square *>(to.own + exchanged_words(shape, reduced_sum, sums.values));
    to.held    = reinterpret_cast<Held *>(to.inverse + (holds_inverse ? T * T : 0)); // of less alignment
    to.tile    = to.own;
    return to;
  }
  /// Bytes of scratch before the states of virtual threads.
  KOKKOS_FUNCTION static std::size_t exchanged(const OnePassShape &s, int sum, bool adds_up,
                                               std::int64_t rows, bool contiguous)
  {
    const auto squares =
      holds_inverse ? static_cast<std::size_t>(s.split.chunks * s.split.chunks) : std::size_t(0);
    const auto bytes = exchanged_words(s, sum, adds_up) * sizeof(Scalar) + held_rows * sizeof(Held) +
                       squares * sizeof(Square),
               tile = contiguous ? static_cast<std::size_t>((rows | 1) * s.lanes()) * sizeof(Scalar)
                                 : std::size_t(0);
    return device::align16(bytes > tile ? bytes : tile);
  }
  static std::size_t scratch(const OnePassShape &s, int sum, bool adds_up, std::int64_t rows, bool contiguous,
                             bool is_virtual)
  {
    return exchanged(s, sum, adds_up, rows, contiguous) +
           (is_virtual ? static_cast<std::size_t>(s.threads()) * sizeof(State) : 0);
  }
  /// Odd, so that threads of a warp use different banks.
  KOKKOS_FUNCTION int tile_pitch() const { return static_cast<int>(in.rows) | 1; }

  /// The chunk of a virtual thread.
  struct Spot {
    int lane, chunk, pad, cls;
  };
  KOKKOS_FUNCTION Spot spot(std::int64_t team, int v) const
  {
    Spot p{v & (shape.lanes() - 1), v >> shape.lane_bits, 0, 0};
    p.pad                   = slots - shape.split.size(p.chunk);
    const std::int64_t line = this->line_at(team, p.lane);
    p.cls                   = this->class_of(this->nearest_line(line, this->is_line(line)));
    return p;
  }
  /// The chunk of the first of these right-hand sides: that of the window of the left neighbour.
  KOKKOS_FUNCTION int first_of_sum(int chunk) const
  {
    const int T = shape.split.chunks, q = chunk - 1 - shape.reach, most = T - reduced_sum;
    if (most == 0) return 0;
    if (shape.ring) return q < 0 ? q + T : q;
    return q < 0 ? 0 : q < most ? q : most;
  }

  /// Calls f(coefficients) with those of a chunk.
  template <class F>
  KOKKOS_FUNCTION void with_block(const Spot &p, [[maybe_unused]] const Scratch &at, const F &f) const
  {
    if constexpr (source == CoefficientSource::regular)
      if (p.chunk >= this->regular_begin && p.chunk < this->regular_end)
        return f(PackedBlock<Packed, Scheme>{packed, at.held});
    f(MemoryBlock<Block>{this->blocks + (p.cls * shape.split.chunks + p.chunk)});
  }
  KOKKOS_FUNCTION static int place(int chunk, int e, int count, int lane)
  {
    return (chunk * count + e) * pitch + lane;
  }

  /// The row of slot k; that of the first row for empty slots.
  KOKKOS_FUNCTION int row_of(const Spot &p, int k) const
  {
    return shape.split.begin(p.chunk) + (k > p.pad ? k - p.pad : 0);
  }

  template <class Team, class Threads, class Each>
  KOKKOS_FUNCTION void load(const Team &team, Threads &threads, const Each &each, const Scratch &at) const
  {
    const int n = static_cast<int>(in.rows);
    if (through_scratch) {
      const std::int64_t first = team.league_rank() * shape.lanes();
      threads.for_each([&](int v, State &) {
        for (int lane = v >> shape.lane_bits; lane < shape.lanes(); lane += shape.split.chunks)
          for (int i = v & (shape.lanes() - 1); i < n; i += shape.lanes())
            at.tile[lane * tile_pitch() + i] = first + lane < lines ? b[in(first + lane, i)] : Scalar(0);
      });
      team.barrier();
    }
    each([&](const Piece &p, State &s) {
      const auto    stride = through_scratch ? std::int64_t(1) : in.row_stride;
      const Scalar *from   = (through_scratch ? at.tile + p.lane * tile_pitch() : b + in.begin(p.line)) +
                           shape.split.begin(p.chunk) * stride;
      RIBBON_UNROLL
      for (int k = 0; k < slots; ++k) {
        s.g[k] = through_scratch ? *from : device::streaming_load(from);
        from += k >= p.pad ? stride : 0;
      }
    });
    if (through_scratch) team.barrier();
  }

  template <class Team, class Threads, class Each>
  KOKKOS_FUNCTION void store(const Team &team, Threads &threads, const Each &each, const Scratch &at) const
  {
    const int n = static_cast<int>(in.rows);
    if (through_scratch) team.barrier(); // others may still read separators
    each([&](const Piece &p, State &s) {
      const auto stride = through_scratch ? std::int64_t(1) : out.row_stride;
      Scalar    *to     = (through_scratch ? at.tile + p.lane * tile_pitch() : x + out.begin(p.line)) +
                   shape.split.begin(p.chunk) * stride;
      const bool written = through_scratch || p.active;
      RIBBON_UNROLL
      for (int k = 0; k < slots; ++k)
        if (written && k >= p.pad) *to = s.g[k], to += stride;
    });
    if (!through_scratch) return;
    team.barrier();
    const std::int64_t first = team.league_rank() * shape.lanes();
    threads.for_each([&](int v, State &) {
      for (int lane = v >> shape.lane_bits; lane < shape.lanes() && first + lane < lines;
           lane += shape.split.chunks)
        for (int i = v & (shape.lanes() - 1); i < n; i += shape.lanes())
          x[out(first + lane, i)] = at.tile[lane * tile_pitch() + i];
    });
  }

  /// Zeros beyond the ends of open lines, and the inverse of the reduced system.
  template <class Team, class Threads>
  KOKKOS_FUNCTION void prepare(const Team &team, Threads &threads, const Scratch &at) const
  {
    const int T       = shape.split.chunks,
              words   = static_cast<int>(exchanged_words(shape, reduced_sum, sums.values)),
              squares = holds_inverse ? T * T : 0;
    threads.for_each([&](int v, State &) {
      for (int k = v; k < words; k += team.size()) at.own[k] = Scalar(0);
      for (int k = v; k < squares; k += team.size()) at.inverse[k] = whole[k];
      for (int k = v; k < held_rows; k += team.size()) at.held[k] = packed.held[k];
    });
    team.barrier();
  }
};

} // namespace ribbon
