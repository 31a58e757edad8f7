// SPDX-License-Identifier: BSD-2-Clause
/// @file tile.hpp  The tile of a team of the one-pass kernel: its arguments, its scratch, its division into
///   chunks, and the coefficients of each chunk.
#pragma once

#include <ribbon/algorithm/one_pass/coefficients.hpp>
#include <ribbon/algorithm/one_pass/input.hpp>
#include <ribbon/algorithm/one_pass/reduced.hpp>
#include <ribbon/algorithm/one_pass/staged.hpp>
#include <ribbon/device/cluster_launch.hpp>

#include <algorithm>

namespace ribbon {

/// @tparam Scheme    elimination of a chunk
/// @tparam MR, MS    unknowns of a chunk in registers and in scratch; slots = MR + MS
/// @tparam Staged    lines pass through scratch
/// @tparam pack      scalars that are loaded together, or, if Staged, read and written together
/// @tparam Input     right-hand sides
template <class Scheme, int MR, int MS, CoefficientSource source, bool Staged,
          int pack = device::pack<typename Scheme::Scalar>, class Input = GivenRows>
struct OnePassTile
    : OnePassReduced<Scheme, Staged, takes_continued<Scheme>(MR + MS) && Input::product_reach == 0>,
      Input {
  using Reduced =
    OnePassReduced<Scheme, Staged, takes_continued<Scheme>(MR + MS) && Input::product_reach == 0>;
  using Input::product_reach;
  using Scalar                  = typename Scheme::Scalar;
  static constexpr int slots    = MR + MS;
  static constexpr int B        = Scheme::block;
  static constexpr int S        = Scheme::separators;
  static constexpr int rows     = slots / B;
  static constexpr int interior = rows - Scheme::separator_rows;
  /// 2^most_bits lanes: at least 256 bytes of a row
  static constexpr int most_bits = sizeof(Scalar) < 8 && !Staged ? 6 : 5;
  /// unknowns per group of asynchronous copies
  static constexpr int group = 8;
  /// limits the registers: 128 or 80
  static constexpr int max_threads = (slots > 32 && !Staged) || S > 2 || B > 1 || sizeof(Scalar) > 8 ? 512
                                                                                                     : 768;
  /// contiguous tridiagonal lines of mixed classes are faster with more teams of 64 registers
  static constexpr int teams_beside =
    source == CoefficientSource::classes && (!Staged || max_threads == 512) ? 1 : 0;
  /// virtual threads whose slots are contiguous in scratch (interleaved)
  static constexpr int side = 32;
  using RegularChunk        = ChunkBlock<Scheme, slots>;
  using Block               = typename Input::template Block<Scheme, slots>;
  using Square              = typename Reduced::Square;
  using ForwardRow          = typename Scheme::Forward;
  using BackwardRow         = typename Scheme::Backward;
  using Edge                = typename Scheme::Edge;
  static_assert(slots % B == 0 && group % B == 0, "a row lies in one group");
  static_assert(!Staged || MR == 0, "contiguous lines wait in scratch");
  static_assert(product_reach == 0 || (B == 1 && Scheme::delay == 0 && Scheme::shift == 0),
                "products of bands");

  std::conditional_t<source == CoefficientSource::regular, RegularChunk, NoRegularBlock> regular;

  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;
  using Reduced::shape;
  const Block *blocks;        ///< (class, chunk)
  const int   *class_of_line; ///< null if all lines are of class 0
  std::int64_t classified;    ///< lines in that table; line l is in class_of_line[l % classified]
  int          regular_begin = 0, regular_end = 0;
  std::int64_t lines = 0;
  /// lanes of the first team before line 0, so that tiles begin at multiples of their width in memory
  int  shift   = 0;
  bool correct = false; ///< one step of iterative refinement of the reduced system
  bool looped  = false; ///< sweeps over irregular chunks are loops

  struct State : Input::Halo {
    Scalar g[MR > 0 ? MR : 1];
    Scalar z[2][S]; ///< separators right (of this chunk) and left
  };

  /// Scalars of the tile in scratch.
  KOKKOS_FUNCTION static std::size_t tile_words(const OnePassShape &s)
  {
    return Staged ? static_cast<std::size_t>(s.pitch) * static_cast<std::size_t>(s.lanes())
                  : static_cast<std::size_t>(MS * ((s.block_threads() + side - 1) / side * side));
  }

  /// Bytes of r_own, and of r_left or z.
  KOKKOS_FUNCTION static std::size_t exchanged(const OnePassShape &s, int threads)
  {
    return device::align16(2 * sizeof(Scalar) * static_cast<std::size_t>(Reduced::places(s, threads)));
  }

  /// Lanes of a chunk in one warp, as a power of two.
  KOKKOS_FUNCTION static int warp_bits(const OnePassShape &s)
  {
    return most_bits > 5 && s.lane_bits > 5 ? 5 : s.lane_bits;
  }

  /// Bytes of scratch of a block of the team. Regular chunks need no block of coefficients in it.
  static std::size_t scratch(const OnePassShape &s, bool is_virtual, int regular_chunks)
  {
    const std::size_t threads = static_cast<std::size_t>(s.threads()), tile = tile_words(s);
    const int         fetching = fetches(s) ? std::min(s.split.chunks - regular_chunks, s.block_chunks)
                                        << (s.lane_bits - warp_bits(s))
                                            : 0;
    const std::size_t extra =
      is_virtual ? threads * sizeof(State) : static_cast<std::size_t>(fetching) * fetched_bytes;
    return device::align16(tile * sizeof(Scalar)) + exchanged(s, s.threads()) +
           (Staged ? device::Arrival::bytes : 0) + extra;
  }

  /// The part of a tile that one virtual thread processes.
  struct Piece : Reduced::Place {
    int     pad;  ///< empty slots before the first unknown
    Scalar *tile; ///< scratch of slot MR (interleaved) or of slot 0 (staged)

    /// Scratch of slot k (interleaved).
    KOKKOS_FUNCTION Scalar &slot(int k) const { return tile[(k - MR) * side]; }
  };

  /// Number of irregular chunks before chunk c.
  KOKKOS_FUNCTION int irregular_before(int c) const
  {
    if (source != CoefficientSource::regular || c < regular_begin) return c;
    return c < regular_end ? regular_begin : c - (regular_end - regular_begin);
  }

  /// The line of a lane of a tile. It may lie before the first line or after the last one.
  KOKKOS_FUNCTION std::int64_t line_at(std::int64_t number, int lane) const
  {
    return number * shape.lanes() + lane - shift;
  }
  KOKKOS_FUNCTION bool is_line(std::int64_t line) const { return line >= 0 && line < lines; }
  /// The line itself if it exists (is_line()), otherwise the nearest one.
  KOKKOS_FUNCTION std::int64_t nearest_line(std::int64_t line, bool exists) const
  {
    return exists ? line : line < 0 ? 0 : lines - 1;
  }
  KOKKOS_FUNCTION int class_of([[maybe_unused]] std::int64_t line) const
  {
    if constexpr (source == CoefficientSource::classes) return class_of_line[line % classified];
    else return 0;
  }

  template <class Team>
  KOKKOS_FUNCTION Piece piece(const Team &team, int v, Scalar *tile, std::int64_t number = -1) const
  {
    Piece p;
    p.lane                  = v & (shape.lanes() - 1);
    const int rank          = v >> shape.lane_bits;
    p.chunk                 = Reduced::pieces ? shape.chunk_of(rank) : rank;
    const std::int64_t line = line_at(number < 0 ? team.league_rank() : number, p.lane);
    p.active                = is_line(line);
    p.line                  = nearest_line(line, p.active);
    p.pad                   = slots - shape.split.size(p.chunk) * B;
    p.cls                   = class_of(p.line);
    const int local         = v - team.first();
    p.tile                  = tile + (Staged ? p.lane * shape.pitch + shape.split.begin(p.chunk) * B +
                                (p.chunk + 1 == shape.split.chunks ? shape.gap : 0) +
                                (Reduced::pieces ? shape.piece_of(rank) * shape.piece_gap : 0) - p.pad
                                             : local / side * (side * MS) + local % side);
    return p;
  }

  /// Place in the scratch of the line of row r, which lies in chunk c or beyond it (staged).
  KOKKOS_FUNCTION int place_of_row(int c, int r) const
  {
    const int T = shape.split.chunks, away = r - shape.split.begin(c);
    if (away > 2 * slots) c = T - 1; // around a ring
    if (away < -2 * slots) c = 0;
    while (r < shape.split.begin(c)) --c;
    while (r >= shape.split.begin(c) + shape.split.size(c)) ++c;
    const int part = Reduced::pieces && shape.piece_bits > 0 ? c / (T >> shape.piece_bits) : 0;
    return r + (c + 1 == T ? shape.gap : 0) + part * shape.piece_gap;
  }

  /// Copies of the rows of an interleaved tile start after those of the block.
  using Fetched                              = FetchedBlock<Block, Staged ? 0 : (MS + group - 1) / group>;
  static constexpr std::size_t fetched_bytes = Fetched::bytes;
  /// Whether the L1 cache keeps blocks for later teams. Measured on an H200: contiguous lines are faster if
  /// all blocks fit the rest of the L1 cache, interleaved ones if blocks are small.
  KOKKOS_FUNCTION bool keeps() const
  {
    return Staged
             ? static_cast<std::size_t>(shape.split.chunks - (regular_end - regular_begin)) * sizeof(Block) <=
                 few_bytes
             : S == 1 || (S == 2 && !Scheme::couples_left);
  }

  /// Whether a device copies blocks to scratch. With several classes, only if all lanes have one class.
  /// Measured on an H200: not for long contiguous pentadiagonal lines, which then have fewer teams.
  KOKKOS_FUNCTION static bool fetches(const OnePassShape &s)
  {
    return source != CoefficientSource::classes || !Staged || S == 1 || s.split.chunks <= 16;
  }

  /// Whether sweeps over the irregular chunks are loops: for tridiagonal and pentadiagonal lines, which
  /// were measured. Wider ones spill with and without loops.
  static constexpr bool loops = Staged && source == CoefficientSource::regular && B == 1 && S <= 2 &&
                                Scheme::delay == 0 && Scheme::shift == 0 && product_reach == 0;

  /// Calls f(coefficients) with the source of the coefficients of a chunk.
  template <class Team, class F>
  KOKKOS_FUNCTION void with_block([[maybe_unused]] const Team &team, const Piece &p,
                                  [[maybe_unused]] char *fetched, const F &f) const
  {
    [[maybe_unused]] int place = p.chunk; // among the chunks of the block that copy coefficients to scratch
    if constexpr (source == CoefficientSource::regular) {
      if (p.chunk >= regular_begin && p.chunk < regular_end) {
        f(RegularBlock<RegularChunk>{regular});
        return;
      }
      if (place >= regular_end) place -= regular_end - regular_begin;
    }
    if constexpr (Team::spans_blocks) place -= irregular_before(team.first() >> shape.lane_bits);
    // every warp has a separate place
    if constexpr (most_bits > 5) place = (place << (shape.lane_bits - warp_bits(shape))) + (p.lane >> 5);
    const Block *block = blocks + (p.cls * shape.split.chunks + p.chunk);
    const auto   give  = [&](const auto &coefficients) {
      if constexpr (loops)
        if (looped) return f(LoopedBlock<std::decay_t<decltype(coefficients)>>{coefficients});
      f(coefficients);
    };
    // lanes of different classes would need different blocks in scratch; on hosts a copy is no faster
    if constexpr (device::copies_blocks<Team>) {
      const int lanes = 1 << warp_bits(shape);
      if (source != CoefficientSource::classes ||
          (fetches(shape) && device::all_lanes(lanes, device::of_first_lane(lanes, block) == block)))
        return give(Fetched{block, fetched + static_cast<std::size_t>(place) * fetched_bytes, p.lane & 31,
                            lanes, keeps()});
    }
    if constexpr (!device::copies_blocks<Team> || source == CoefficientSource::classes)
      give(MemoryBlock<Block>{block});
  }
};

} // namespace ribbon
