// SPDX-License-Identifier: BSD-2-Clause
/// @file one_pass.hpp  The kernel that reads every line once and writes it once: two sweeps with, in most
///   cases, one barrier between them.
///
/// A team holds a tile of `lanes` lines, divided into chunks of rows, with one virtual thread per (line,
/// chunk). The forward sweep runs while rows arrive. Then chunks exchange S or 2 S values per line. The
/// backward sweep runs while rows are stored (chunk.hpp or orthogonal.hpp, reduced.hpp). Rows wait in
/// registers and team scratch. Contiguous lines (Staged) pass through scratch (one_pass/staged.hpp).
#pragma once

#include <ribbon/algorithm/one_pass/coefficients.hpp>
#include <ribbon/algorithm/one_pass/reduced.hpp>
#include <ribbon/algorithm/one_pass/staged.hpp>
#include <ribbon/device/cluster_launch.hpp>

#include <algorithm>

namespace ribbon {

/// @tparam Scheme    elimination of a chunk
/// @tparam MR, MS    unknowns of a chunk in registers and in scratch; slots = MR + MS
/// @tparam Staged    lines pass through scratch
/// @tparam pack      scalars that are loaded together, or, if Staged, read and written together
template <class Scheme, int MR, int MS, CoefficientSource source, bool Staged,
          int pack = device::pack<typename Scheme::Scalar>>
struct OnePassKernel : OnePassReduced<Scheme, Staged, takes_continued<Scheme>(MR + MS)> {
  using Reduced                 = OnePassReduced<Scheme, Staged, takes_continued<Scheme>(MR + MS)>;
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
  using Block               = ChunkBlock<Scheme, slots>;
  using Square              = typename Reduced::Square;
  using ForwardRow          = typename Scheme::Forward;
  using BackwardRow         = typename Scheme::Backward;
  using Edge                = typename Scheme::Edge;
  static_assert(slots % B == 0 && group % B == 0, "a row lies in one group");
  static_assert(!Staged || MR == 0, "contiguous lines wait in scratch");

  std::conditional_t<source == CoefficientSource::regular, Block, NoRegularBlock> regular;

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

  struct State {
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

  template <class Team>
  KOKKOS_FUNCTION Piece piece(const Team &team, int v, Scalar *tile, std::int64_t number = -1) const
  {
    Piece p;
    p.lane                  = v & (shape.lanes() - 1);
    const int rank          = v >> shape.lane_bits;
    p.chunk                 = Reduced::pieces ? shape.chunk_of(rank) : rank;
    const std::int64_t line = (number < 0 ? team.league_rank() : number) * shape.lanes() + p.lane - shift;
    p.active                = line >= 0 && line < lines;
    p.line                  = p.active ? line : line < 0 ? 0 : lines - 1;
    p.pad                   = slots - shape.split.size(p.chunk) * B;
    p.cls                   = 0;
    if constexpr (source == CoefficientSource::classes) p.cls = class_of_line[p.line % classified];
    const int local = v - team.first();
    p.tile          = tile + (Staged ? p.lane * shape.pitch + shape.split.begin(p.chunk) * B +
                                (p.chunk + 1 == shape.split.chunks ? shape.gap : 0) +
                                (Reduced::pieces ? shape.piece_of(rank) * shape.piece_gap : 0) - p.pad
                                     : local / side * (side * MS) + local % side);
    return p;
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

  template <class Team, class F>
  KOKKOS_FUNCTION void with_block([[maybe_unused]] const Team &team, const Piece &p,
                                  [[maybe_unused]] char *fetched, const F &f) const
  {
    [[maybe_unused]] int place = p.chunk; // among the chunks of the block that copy coefficients to scratch
    if constexpr (source == CoefficientSource::regular) {
      if (p.chunk >= regular_begin && p.chunk < regular_end) {
        f(RegularBlock<Block>{regular});
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

  /// Whether slot k holds a row.
  template <class Coefficients>
  KOKKOS_FUNCTION static bool holds(const Piece &p, int k)
  {
    return Coefficients::full || k >= p.pad;
  }

  /// If lanes have a whole chunk in a warp, they load its rows in packs. Each lane loads one of every
  /// `pack` unknowns.
  template <class Team>
  static constexpr bool packs =
    device::copies_blocks<Team> && !Staged && MS % pack == 0 && MR % B == 0 && (B == 1 || B % pack == 0);

  KOKKOS_FUNCTION static constexpr bool ends_group(int e)
  {
    return (e - MR) % group == group - 1 || e == slots - 1;
  }

  /// Loads the rows of an interleaved chunk. Empty slots load its first row: their coefficients are zero,
  /// so that no branches are needed. The address is incremented, because a product with the row stride
  /// costs more than the arithmetic of a row.
  template <class Coefficients, class Team>
  KOKKOS_FUNCTION void load(const Team &, const Piece &p, State &s) const
  {
    [[maybe_unused]] const Scalar *from = b + in.begin(p.line) + shape.split.begin(p.chunk) * in.row_stride,
                                  *own  = from;
    RIBBON_UNROLL
    for (int e = 0; e < MR; ++e) {
      s.g[e] = device::streaming_load(B == 1 ? from : from + e % B * in.component_stride);
      if (e % B == B - 1) from += holds<Coefficients>(p, e) ? in.row_stride : 0;
    }
    if constexpr (packs<Team>) {
      const int lanes = 1 << warp_bits(shape), lane = p.lane & 31;
      // neighbouring lanes are neighbours in memory in most layouts
      const Scalar *first = device::of_first_lane(lanes, own);
      const bool    dense = own - first == lane && p.active,
                 aligned  = reinterpret_cast<std::uintptr_t>(first) % 16 == 0 && in.row_stride % pack == 0 &&
                           (B == 1 || in.component_stride % pack == 0);
      if (device::all_lanes(lanes, dense && aligned && lanes >= pack))
        return load_packs<Coefficients>(p, first, lane);
    }
    RIBBON_UNROLL
    for (int e = MR; e < slots; ++e) {
      device::async_copy(&p.slot(e), B == 1 ? from : from + e % B * in.component_stride);
      if (ends_group(e)) device::async_commit();
      if (e % B == B - 1) from += holds<Coefficients>(p, e) ? in.row_stride : 0;
    }
  }

  /// The unknowns in scratch, from those of the first lane of the warp on.
  template <class Coefficients>
  KOKKOS_FUNCTION void load_packs(const Piece &p, const Scalar *first, int lane) const
  {
    const int bits  = warp_bits(shape) - (pack == 4   ? 2
                                          : pack == 2 ? 1
                                                      : 0),
              ahead = lane >> bits, column = (lane - (ahead << bits)) * pack;
    const int     before = B > 1 ? MR : MR + ahead, skipped = Coefficients::full || p.pad == 0 ? before
                                                              : before > p.pad ? before - p.pad
                                                                               : 0;
    const Scalar *from =
      first + column + skipped / B * in.row_stride + (B > 1 ? ahead * in.component_stride : 0);
    Scalar *to = p.tile - lane + column + ahead * side;
    RIBBON_UNROLL
    for (int e = MR; e < slots; e += pack) {
      device::async_copy_pack(to + (e - MR) * side, B == 1 ? from : from + e % B * in.component_stride);
      if (ends_group(e + pack - 1)) device::async_commit();
      // rows of the next `pack` slots that are not empty
      const int held = Coefficients::full ? pack : e + ahead + pack - p.pad;
      if (B == 1) from += (held < 0 ? 0 : held < pack ? held : pack) * in.row_stride;
      else if ((e + pack) % B == 0) from += holds<Coefficients>(p, e) ? in.row_stride : 0;
    }
  }

  /// The slots of a staged chunk.
  template <class Coefficients, int step>
  using Packed = PackedSlots<Scalar, slots, step, Coefficients::full, pack>;

  /// Whether sweeps over the irregular chunks are loops: for tridiagonal and pentadiagonal lines, which
  /// were measured. Wider ones spill with and without loops.
  static constexpr bool loops = Staged && source == CoefficientSource::regular && B == 1 && S <= 2 &&
                                Scheme::delay == 0 && Scheme::shift == 0;

  /// keep(sweep) receives the state at the end of the sweep.
  template <class Team, class Coefficients, class Keep = KeepNothing>
  KOKKOS_FUNCTION void forward(const Team &team, const Piece &p, State &s, const Coefficients &block,
                               Scalar *r_own, Scalar *r_left, const Keep &keep = {}) const
  {
    constexpr int groups = (MS + group - 1) / group, given = Scheme::forward_rows(rows),
                  delay = Scheme::delay;
    typename Scheme::Sweep                     sweep;
    Scalar                                     f_sep[S] = {};
    ReadAhead<ForwardRow, Coefficients::ahead> coefficients;
    [[maybe_unused]] Packed<Coefficients, 1>   packed(p.tile, p.pad);
    block.await_forward();
    if constexpr (is_looped<Coefficients>)
      ChunkLoops<Scheme, slots>::forward(p.tile, p.pad, block, sweep, f_sep);
    else {
      if constexpr (Staged) packed.start(0);
      RIBBON_UNROLL
      for (int k = 0; k < rows; ++k) {
        if constexpr (!Staged)
          if (k * B + B - 1 >= MR &&
              (k == 0 || (k * B - 1 < MR ? -1 : (k * B - 1 - MR) / group) != (k * B + B - 1 - MR) / group)) {
            device::async_wait(groups - 1 - (k * B + B - 1 - MR) / group);
            if constexpr (packs<Team>) device::lane_barrier(shape.lanes());
          }
        Scalar f[B], g[B];
        RIBBON_UNROLL
        for (int c = 0; c < B; ++c) {
          const int e = k * B + c;
          if constexpr (Staged) f[c] = packed.read(e);
          else f[c] = e < MR ? s.g[e < MR ? e : 0] : p.slot(e);
        }
        if (k < given) {
          Scheme::forward(coefficients.next(k < given ? k : 0, given,
                                            [&](int i) -> decltype(auto) { return block.forward(i); }),
                          f, sweep, g);
          if (k >= delay) RIBBON_UNROLL
          for (int c = 0; c < B; ++c) {
            const int e = (k - delay) * B + c, at = e + Scheme::shift;
            if constexpr (Staged)
              packed.write(at, g[c], at % pack == pack - 1 || e == (given - delay) * B - 1);
            else if (e < MR) s.g[e >= 0 && e < MR ? e : 0] = g[c];
            else p.slot(e) = g[c];
          }
        } else {
          RIBBON_UNROLL
          for (int c = 0; c < B; ++c) f_sep[k < given ? 0 : (k - given) * B + c] = f[c];
        }
      }
    }
    Scalar own[S], left[S];
    Scheme::finish(block.edge(), sweep, f_sep, own, left);
    keep(sweep);
    this->template subtract_known<source == CoefficientSource::classes>(team, p, r_own, r_left, own);
    const bool coupled = shape.ring || p.chunk > 0;
    const auto readers = shape.readers(p.chunk);
    team.await_blocks();
    for (int a = 0; a < S; ++a) {
      const int at = this->at(p.chunk, a, p.lane);
      team.write(&r_own[at], own[a], readers);
      if constexpr (Scheme::couples_left) team.write(&r_left[at], coupled ? left[a] : Scalar(0), readers);
    }
    block.fetch_backward();
  }

  template <class Coefficients>
  KOKKOS_FUNCTION void backward(const Piece &p, const State &s, const Coefficients &block) const
  {
    const int          first_stored = p.active ? (Coefficients::full ? 0 : p.pad) : slots;
    const std::int64_t end          = shape.split.begin(p.chunk) + shape.split.size(p.chunk);
    /// the last unknowns are the first of the line
    const bool wraps = Scheme::shift > 0 && p.chunk == shape.split.chunks - 1;
    /// moves from the last row to the first
    Scalar                                     *to = nullptr;
    typename Scheme::Window                     w;
    ReadAhead<BackwardRow, Coefficients::ahead> coefficients;
    if constexpr (!Staged)
      to = x + out.begin(p.line) + ((wraps ? 0 : end) + Scheme::shift - 1) * out.row_stride;
    [[maybe_unused]] Packed<Coefficients, -1> packed(p.tile, p.pad);
    if constexpr (Staged && !is_looped<Coefficients>) packed.start(interior * B - 1 + Scheme::shift);
    block.await_backward();
    Scheme::start(s.z[0], w);
    if constexpr (is_looped<Coefficients>) ChunkLoops<Scheme, slots>::backward(p.tile, p.pad, block, s.z, w);
    else RIBBON_UNROLL
    for (int k = rows - 1; k >= 0; --k) {
      Scalar v[B];
      if (k >= interior) {
        RIBBON_UNROLL
        for (int c = 0; c < B; ++c) v[c] = s.z[0][k >= interior ? (k - interior) * B + c : 0];
      } else {
        Scalar g[B];
        RIBBON_UNROLL
        for (int c = B - 1; c >= 0; --c) {
          const int e = k * B + c;
          if constexpr (Staged) g[c] = packed.read(e + Scheme::shift);
          else g[c] = e < MR ? s.g[e < MR ? e : 0] : p.slot(e);
        }
        Scheme::backward(
          coefficients.next(k < interior ? interior - 1 - k : 0, interior,
                            [&](int i) -> decltype(auto) { return block.backward(interior - 1 - i); }),
          g, s.z[1], w, v);
      }
      if (Scheme::shift > 0 && k == rows - 1 - Scheme::shift && wraps) {
        if constexpr (!Staged) to = x + out.begin(p.line) + (end - 1) * out.row_stride;
      }
      RIBBON_UNROLL
      for (int c = 0; c < B; ++c) {
        const int e = k * B + c;
        if constexpr (Staged && Scheme::shift > 0) {
          if (e + Scheme::shift < slots) packed.write_behind(e + Scheme::shift, v[c], Scheme::shift);
          else p.tile[shape.to_next(p.chunk) + e + Scheme::shift - slots] = v[c]; // rows of the next chunk
        } else if constexpr (Staged) packed.write(e, v[c], e % pack == (B < pack ? B : pack) - 1);
        else {
          if (Coefficients::full ? p.active : e >= first_stored)
            to[B == 1 ? 0 : c * out.component_stride] = v[c];
        }
      }
      if constexpr (!Staged) to -= out.row_stride;
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const int         size  = team.size();
    const std::size_t words = tile_words(shape);
    Scalar           *tile  = reinterpret_cast<Scalar *>(team.scratch());
    Scalar *r_own  = reinterpret_cast<Scalar *>(team.scratch() + device::align16(words * sizeof(Scalar)));
    Scalar *r_left = r_own + Reduced::places(shape, size);
    // or virtual states
    char                        *fetched = reinterpret_cast<char *>(r_own) + exchanged(shape, size);
    device::Threads<State, Team> threads(team, fetched + (Staged ? device::Arrival::bytes : 0));

    [[maybe_unused]] const StagedTile<Scalar, B> staged{
      shape, tile, {reinterpret_cast<std::uint64_t *>(fetched)}};
    [[maybe_unused]] const std::int64_t                          first = team.league_rank() * shape.lanes();
    [[maybe_unused]] const typename StagedTile<Scalar, B>::Lines own{
      first, static_cast<int>(lines - first < shape.lanes() ? lines - first : shape.lanes())};
    const auto for_pieces = [&](const auto &phase) {
      if constexpr (!Staged) threads.for_each(phase);
      else
        threads.for_each([&](int v, State &s) {
          if (const int rank = shape.rank(v); rank >= 0) phase(rank, s);
        });
    };
    if constexpr (Staged) {
      fetched += device::Arrival::bytes;
      if (this->forms_known() && this->near.only)
        return this->form_known(team, threads, b, in, first, lines, tile);
      threads.for_each([&](int v, State &) { staged.bring(team, v, own, in, b); });
      for_pieces([&](int v, State &) {
        const Piece p = piece(team, v, tile);
        this->bring_known(p, r_own, r_left);
        with_block(team, p, fetched, [](const auto &block) { block.fetch_forward(); });
      });
      if (this->forms_known()) this->form_known(team, threads, b, in, first, lines, r_own);
      staged.await(team, in, b);
    }
    for_pieces([&](int v, State &s) {
      const Piece p = piece(team, v, tile);
      with_block(team, p, fetched, [&](const auto &block) {
        if constexpr (!Staged) {
          this->bring_known(p, r_own, r_left);
          block.fetch_forward();
          load<std::decay_t<decltype(block)>>(team, p, s);
        }
        forward(team, p, s, block, r_own, r_left);
      });
    });
    team.barrier();
    const auto each = [&](const auto &phase) {
      for_pieces([&](int v, State &s) { phase(piece(team, v, tile), s); });
    };
    const Scalar *z          = this->solve_reduced(team, each, r_own, r_left, correct);
    const bool    with_known = Staged && staged.template whole<Team>(out, x);
    for_pieces([&](int v, State &s) {
      const Piece p    = piece(team, v, tile);
      const int   left = shape.left_of(p.chunk);
      for (int a = 0; z && a < S; ++a) s.z[1][a] = left >= 0 ? z[this->at(left, a, p.lane)] : Scalar(0);
      this->pass_known(team, p, s.z[1]);
      with_block(team, p, fetched, [&](const auto &block) { backward(p, s, block); });
      if (with_known)
        this->store_known(team, p, [&](int u, const Scalar &value) { p.tile[slots + u] = value; });
      if constexpr (Staged) staged.template release<Team>(out, x);
    });
    if constexpr (Staged) {
      team.barrier();
      threads.for_each([&](int v, State &) { staged.store(team, v, own, out, x); });
    }
    if (this->continued() && !with_known)
      for_pieces([&](int v, State &) { this->store_known(team, piece(team, v, tile), out, x); });
  }
};

} // namespace ribbon
