// SPDX-License-Identifier: BSD-2-Clause
/// @file one_pass.hpp  The kernel that reads every line once and writes it once: two sweeps and, mostly, one barrier between them.
///
/// A team holds a tile of `lanes` lines, cut in chunks of rows; one virtual thread per (line, chunk). The forward sweep runs while rows
/// arrive, chunks exchange S or 2 S numbers per line, and the backward sweep runs while rows leave (chunk.hpp or orthogonal.hpp, reduced.hpp). Rows wait in
/// registers and team scratch; contiguous lines (Staged) pass through scratch on their way in and out, so that neighbouring threads touch
/// neighbouring memory. The team's work grows neither with the batch nor with the kind of matrix.
#pragma once

#include <ribbon/algorithm/one_pass_coefficients.hpp>
#include <ribbon/algorithm/one_pass_shape.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// @tparam Scheme    how a chunk is eliminated
/// @tparam MR, MS    unknowns of a chunk that wait in registers and in scratch; slots = MR + MS
/// @tparam Staged    lines pass through scratch
template <class Scheme, int MR, int MS, CoefficientSource source, bool Staged>
struct OnePassKernel {
  using Scalar                     = typename Scheme::Scalar;
  static constexpr int slots       = MR + MS;
  static constexpr int B           = Scheme::block;
  static constexpr int S           = Scheme::separators;
  static constexpr int rows        = slots / B;
  static constexpr int interior    = rows - Scheme::separator_rows;
  static constexpr int group       = 8;                                                                     ///< unknowns per group of asynchronous copies
  static constexpr int max_threads = slots > 32 || S > 2 || B > 1 ? 512 : slots > 16 || S > 1 ? 768 : 1024; ///< bounds the registers: 128, 80 or 64
  static constexpr int side        = 32;                                                                    ///< virtual threads whose slots lie side by side in scratch (interleaved)
  static constexpr int exchanged   = (Scheme::couples_left ? 3 : 2) * S;                                    ///< numbers per virtual thread: r_own, z and r_left
  using Block                      = ChunkBlock<Scheme, slots>;
  using Square                     = SquareBlock<Scalar, S>;
  using ForwardRow                 = typename Scheme::Forward;
  using BackwardRow                = typename Scheme::Backward;
  using Edge                       = typename Scheme::Edge;
  static_assert(slots % B == 0 && group % B == 0, "a row lies in one group");

  std::conditional_t<source == CoefficientSource::regular, Block, NoRegularBlock> regular;

  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;
  OnePassShape  shape;
  const Block  *blocks;        ///< (class, chunk)
  const Square *inverse;       ///< (class, chunk, window): blocks of the reduced inverse
  const Square *reduced;       ///< (class, chunk, 3): lower, diag, upper
  const int    *class_of_line; ///< null where all lines are of class 0
  std::int64_t  classified;    ///< lines in that table; line l is of class_of_line[l % classified]
  int           regular_begin = 0, regular_end = 0;
  std::int64_t  lines   = 0;
  int           shift   = 0;     ///< lanes of the first team that lie before line 0, so that tiles begin at multiples of their width in memory
  bool          correct = false; ///< one step of iterative refinement of the reduced system

  struct State {
    Scalar g[MR > 0 ? MR : 1];
    Scalar z[2][S]; ///< separators right (own) and left of the chunk
  };

  /// Scalars of the tile in scratch.
  KOKKOS_FUNCTION static std::size_t tile_words(const OnePassShape &s)
  {
    return Staged ? static_cast<std::size_t>(s.pitch) * static_cast<std::size_t>(s.lanes()) : static_cast<std::size_t>(MS * ((s.threads() + side - 1) / side * side));
  }

  /// Bytes of team scratch; `regular` chunks bring no block of theirs to it.
  static std::size_t scratch(const OnePassShape &s, bool is_virtual, int regular_chunks)
  {
    const std::size_t threads = static_cast<std::size_t>(s.threads()), tile = tile_words(s);
    const std::size_t extra = is_virtual ? threads * sizeof(State) : source == CoefficientSource::classes ? 0 : static_cast<std::size_t>(s.split.chunks - regular_chunks) * fetched_bytes;
    return device::align16(tile * sizeof(Scalar)) + device::align16(exchanged * threads * sizeof(Scalar)) + extra;
  }

  /// The piece of a tile one virtual thread owns.
  struct Piece {
    int          lane, chunk, pad, cls; ///< pad: empty slots before the first unknown
    bool         active;                ///< false before the first and beyond the last line: reads that one, writes nothing
    std::int64_t line;
    Scalar      *tile; ///< scratch of slot MR (interleaved) or of slot 0 (staged)

    /// Scratch of slot k.
    KOKKOS_FUNCTION Scalar &slot(int k) const { return Staged ? tile[k] : tile[(k - MR) * side]; }
  };

  template <class Team>
  KOKKOS_FUNCTION Piece piece(const Team &team, int v, Scalar *tile) const
  {
    Piece p;
    p.lane                  = v & (shape.lanes() - 1);
    p.chunk                 = v >> shape.lane_bits;
    const std::int64_t line = team.league_rank() * shape.lanes() + p.lane - shift;
    p.active                = line >= 0 && line < lines;
    p.line                  = p.active ? line : line < 0 ? 0 : lines - 1;
    p.pad                   = slots - shape.split.size(p.chunk) * B;
    p.cls                   = 0;
    if constexpr (source == CoefficientSource::classes) p.cls = class_of_line[p.line % classified];
    if constexpr (Staged) p.tile = tile + p.lane * shape.pitch + shape.split.begin(p.chunk) * B - p.pad;
    else p.tile = tile + v / side * (side * MS) + v % side;
    return p;
  }

  /// The rows of an interleaved tile are asked for after the block.
  using Fetched                              = FetchedBlock<Block, Staged ? 0 : (MS + group - 1) / group>;
  static constexpr std::size_t fetched_bytes = Fetched::bytes;
  /// Lanes of different classes would need different blocks in scratch; hosts gain nothing from a copy.
  template <class Team>
  static constexpr bool fetches = source != CoefficientSource::classes &&device::copies_blocks<Team>;

  template <class Team, class F>
  KOKKOS_FUNCTION void with_block(const Piece &p, [[maybe_unused]] char *fetched, const F &f) const
  {
    [[maybe_unused]] int place = p.chunk;
    if constexpr (source == CoefficientSource::regular) {
      if (p.chunk >= regular_begin && p.chunk < regular_end) {
        f(RegularBlock<Block>{regular});
        return;
      }
      if (place >= regular_end) place -= regular_end - regular_begin;
    }
    const Block *block = blocks + (p.cls * shape.split.chunks + p.chunk);
    if constexpr (fetches<Team>) f(Fetched{block, fetched + static_cast<std::size_t>(place) * fetched_bytes, p.lane, shape.lanes()});
    else f(MemoryBlock<Block>{block});
  }

  /// Whether slot k holds a row.
  template <class Coefficients>
  KOKKOS_FUNCTION static bool holds(const Piece &p, int k)
  {
    return Coefficients::full || k >= p.pad;
  }

  /// Brings the rows of an interleaved chunk. Empty slots get its first row: their coefficients are zero, and nothing branches. The address
  /// runs along, since a product with the row stride for every row costs more than the arithmetic of a row.
  template <class Coefficients>
  KOKKOS_FUNCTION void load(const Piece &p, State &s) const
  {
    const Scalar *from = b + in.begin(p.line) + shape.split.begin(p.chunk) * in.row_stride;
    RIBBON_UNROLL
    for (int k = 0; k < slots; ++k) {
      const Scalar *at = B == 1 ? from : from + k % B * in.component_stride;
      if (k < MR) s.g[k < MR ? k : 0] = device::streaming_load(at);
      else device::async_copy(&p.slot(k), at);
      if (k >= MR && ((k - MR) % group == group - 1 || k == slots - 1)) device::async_commit();
      if (k % B == B - 1) from += holds<Coefficients>(p, k) ? in.row_stride : 0;
    }
  }

  template <class Coefficients>
  KOKKOS_FUNCTION void forward(const Piece &p, State &s, const Coefficients &block, Scalar *r_own, Scalar *r_left) const
  {
    constexpr int                              groups = (MS + group - 1) / group, given = Scheme::forward_rows(rows), delay = Scheme::delay;
    typename Scheme::Sweep                     sweep;
    Scalar                                     f_sep[S] = {};
    ReadAhead<ForwardRow, Coefficients::ahead> coefficients;
    block.await_forward();
    RIBBON_UNROLL
    for (int k = 0; k < rows; ++k) {
      constexpr int last = B - 1;
      if constexpr (!Staged)
        if (k * B + last >= MR && (k == 0 || (k * B - 1 < MR ? -1 : (k * B - 1 - MR) / group) != (k * B + last - MR) / group)) device::async_wait(groups - 1 - (k * B + last - MR) / group);
      Scalar f[B], g[B];
      RIBBON_UNROLL
      for (int c = 0; c < B; ++c) {
        const int e = k * B + c;
        if constexpr (Staged) f[c] = p.slot(holds<Coefficients>(p, e) ? e : p.pad);
        else f[c] = e < MR ? s.g[e < MR ? e : 0] : p.slot(e);
      }
      if (k < given) {
        Scheme::forward(coefficients.next(k < given ? k : 0, given, [&](int i) -> decltype(auto) { return block.forward(i); }), f, sweep, g);
        if (k >= delay) RIBBON_UNROLL
        for (int c = 0; c < B; ++c) {
          const int e = (k - delay) * B + c;
          if (e < MR) s.g[e >= 0 && e < MR ? e : 0] = g[c];
          else if (!Staged || holds<Coefficients>(p, e)) p.slot(e) = g[c];
        }
      } else {
        RIBBON_UNROLL
        for (int c = 0; c < B; ++c) f_sep[k < given ? 0 : (k - given) * B + c] = f[c];
      }
    }
    Scalar own[S], left[S];
    Scheme::finish(block.edge(), sweep, f_sep, own, left);
    const bool coupled = shape.ring || p.chunk > 0;
    for (int a = 0; a < S; ++a) {
      const int at = ((p.chunk * S + a) << shape.lane_bits) + p.lane;
      r_own[at]    = own[a];
      if constexpr (Scheme::couples_left) r_left[at] = coupled ? left[a] : Scalar(0);
    }
    block.fetch_backward();
  }

  /// z[i] += block row c - i of the reduced inverse (indices modulo the chunks) times r = r_own - r_left of the right neighbour, or r = r_own
  /// for a residual. The windows of all these block rows begin at block q.
  template <bool residual, int block_rows>
  KOKKOS_FUNCTION void apply_inverse(const Piece &p, int c, int q, const Scalar *r_own, const Scalar *r_left, Scalar (*z)[S]) const
  {
    const int     T = shape.split.chunks, W = shape.window;
    const Square *G        = inverse + static_cast<std::int64_t>(p.cls * T + c) * W;
    const int     previous = c > 0 ? -W : (T - 1) * W;
#ifdef __CUDA_ARCH__
  #pragma unroll 4
#endif
    for (int w = 0; w < W; ++w) {
      const int next = q + 1 == T ? 0 : q + 1;
      Square    block[block_rows];
      Scalar    r[S];
      // measured on an H200, n = 256 to 1024: small blocks are better asked for after r (4 to 10 % of the kernel), large ones before (1 to 3 %)
      if (S > 1)
        for (int i = 0; i < block_rows; ++i) block[i] = read_only(&G[w + i * previous]);
      for (int e = 0; e < S; ++e) {
        r[e] = r_own[((q * S + e) << shape.lane_bits) + p.lane];
        if constexpr (!residual && Scheme::couples_left) r[e] -= r_left[((next * S + e) << shape.lane_bits) + p.lane];
      }
      for (int i = 0; i < block_rows; ++i) {
        if (S == 1) block[i] = read_only(&G[w + i * previous]);
        for (int e = 0; e < S; ++e)
          for (int a = 0; a < S; ++a) z[i][a] += block[i].a[a * S + e] * r[e];
      }
      q = next;
    }
  }

  /// Replaces r_own by the residual of the reduced system.
  KOKKOS_FUNCTION void reduced_residual(const Piece &p, const Scalar *z, Scalar *r_own, const Scalar *r_left) const
  {
    const int  T = shape.split.chunks, c = p.chunk, right = c + 1 == T ? 0 : c + 1, left = c == 0 ? T - 1 : c - 1;
    const auto R     = reduced + static_cast<std::int64_t>(p.cls * T + c) * 3;
    const auto lower = read_only(&R[0]), diag = read_only(&R[1]), upper = read_only(&R[2]);
    for (int a = 0; a < S; ++a) {
      Scalar r = r_own[((c * S + a) << shape.lane_bits) + p.lane];
      if constexpr (Scheme::couples_left) r -= r_left[((right * S + a) << shape.lane_bits) + p.lane];
      for (int e = 0; e < S; ++e) { // blocks beyond the ends of a line that is not periodic are zero
        r -= lower.a[a * S + e] * z[((left * S + e) << shape.lane_bits) + p.lane];
        r -= diag.a[a * S + e] * z[((c * S + e) << shape.lane_bits) + p.lane];
        r -= upper.a[a * S + e] * z[((right * S + e) << shape.lane_bits) + p.lane];
      }
      r_own[((c * S + a) << shape.lane_bits) + p.lane] = r;
    }
  }

  KOKKOS_FUNCTION void publish(const Piece &p, const State &s, Scalar *z) const
  {
    for (int a = 0; a < S; ++a) z[((p.chunk * S + a) << shape.lane_bits) + p.lane] = s.z[0][a];
  }

  /// The chunk whose separators lie left of chunk c; -1 at the end of a line that is not periodic.
  KOKKOS_FUNCTION int left_of(int c) const
  {
    return c > 0 ? c - 1 : shape.ring ? shape.split.chunks - 1 : -1;
  }

  template <class Coefficients>
  KOKKOS_FUNCTION void backward(const Piece &p, const State &s, const Coefficients &block) const
  {
    const int                                   first_stored = p.active ? (Coefficients::full ? 0 : p.pad) : slots;
    const std::int64_t                          end          = shape.split.begin(p.chunk) + shape.split.size(p.chunk);
    const bool                                  wraps        = Scheme::shift > 0 && p.chunk == shape.split.chunks - 1; ///< the last unknowns are the line's first
    Scalar                                     *to           = nullptr;                                                ///< runs from the last row to the first
    typename Scheme::Window                     w;
    ReadAhead<BackwardRow, Coefficients::ahead> coefficients;
    if constexpr (!Staged) to = x + out.begin(p.line) + ((wraps ? 0 : end) + Scheme::shift - 1) * out.row_stride;
    block.await_backward();
    Scheme::start(s.z[0], w);
    RIBBON_UNROLL
    for (int k = rows - 1; k >= 0; --k) {
      Scalar v[B];
      if (k >= interior) {
        RIBBON_UNROLL
        for (int c = 0; c < B; ++c) v[c] = s.z[0][k >= interior ? (k - interior) * B + c : 0];
      } else {
        Scalar g[B];
        RIBBON_UNROLL
        for (int c = 0; c < B; ++c) {
          const int e = k * B + c;
          g[c]        = e < MR ? s.g[e < MR ? e : 0] : p.slot(Staged && !holds<Coefficients>(p, e) ? p.pad : e);
        }
        Scheme::backward(coefficients.next(k < interior ? interior - 1 - k : 0, interior, [&](int i) -> decltype(auto) { return block.backward(interior - 1 - i); }), g, s.z[1], w, v);
      }
      if (Scheme::shift > 0 && k == rows - 1 - Scheme::shift && wraps) {
        if constexpr (!Staged) to = x + out.begin(p.line) + (end - 1) * out.row_stride;
      }
      RIBBON_UNROLL
      for (int c = 0; c < B; ++c) {
        const int e = k * B + c;
        if constexpr (Staged) {
          if (holds<Coefficients>(p, e)) p.slot(e) = v[c];
        } else {
          if (Coefficients::full ? p.active : e >= first_stored) to[B == 1 ? 0 : c * out.component_stride] = v[c];
        }
      }
      if constexpr (!Staged) to -= out.row_stride;
    }
  }

  /// Moves a tile of whole lines between memory and scratch: a group of 32 virtual threads per line, neighbours at neighbouring unknowns.
  /// Unknown k of a line lies `rotation` places further to the left in scratch.
  template <int rotation, class Team, class Move>
  KOKKOS_FUNCTION void for_tile(const Team &team, const LineSet &set, int v, const Move &move) const
  {
    const int          n = static_cast<int>(set.rows) * B, width = team.size() < 32 ? team.size() : 32, groups = team.size() / width;
    const std::int64_t first = team.league_rank() * shape.lanes(), left = lines - first;
    const int          end        = left < shape.lanes() ? static_cast<int>(left) : shape.lanes();
    const int          group_rank = v / width, lane = v - group_rank * width;
    if (group_rank >= groups) return;
    const auto   place = [&](int k) { return rotation == 0 ? k : k < rotation ? k + n - rotation : k - rotation; };
    const bool   dense = set.row_stride == B && (B == 1 || set.component_stride == 1);
    std::int64_t at    = set.begin(first + group_rank);
    for (int line = group_rank; line < end; line += groups) {
      const int t = line * shape.pitch;
      if (dense) {
        for (int k = lane; k < n; k += 4 * width) {
          RIBBON_UNROLL
          for (int j = 0; j < 4; ++j)
            if (k + j * width < n) move(at + k + j * width, t + place(k + j * width));
        }
      } else {
        for (int k = lane; k < n; k += width) move(at + k / B * set.row_stride + k % B * set.component_stride, t + place(k));
      }
      at = set.count1 == 1 ? at + groups * set.stride0 : set.begin(first + line + groups);
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const int                    size  = team.size();
    const std::size_t            words = tile_words(shape);
    Scalar                      *tile  = reinterpret_cast<Scalar *>(team.scratch());
    Scalar                      *r_own = reinterpret_cast<Scalar *>(team.scratch() + (words * sizeof(Scalar) + 15) / 16 * 16);
    Scalar                      *z = r_own + S * size, *r_left = z + S * size;                                                                             // r_left: only where the scheme couples to the left
    char                        *fetched = reinterpret_cast<char *>(r_own) + (exchanged * sizeof(Scalar) * static_cast<std::size_t>(size) + 15) / 16 * 16; // or virtual states
    device::Threads<State, Team> threads(team, fetched);

    if constexpr (Staged) {
      threads.for_each([&](int v, State &) {
        for_tile<0>(team, in, v, [&](std::int64_t at, int t) { device::async_copy(&tile[t], &b[at]); });
        device::async_commit();
        device::async_wait(0);
      });
      team.barrier();
    }
    threads.for_each([&](int v, State &s) {
      const Piece p = piece(team, v, tile);
      with_block<Team>(p, fetched, [&](const auto &block) {
        block.fetch_forward();
        if constexpr (!Staged) load<std::decay_t<decltype(block)>>(p, s);
        forward(p, s, block, r_own, r_left);
      });
    });
    team.barrier();
    const bool share = correct || (Staged && shape.window > 8);
    threads.for_each([&](int v, State &s) {
      const Piece p     = piece(team, v, tile);
      const int   left  = left_of(p.chunk);
      const int   begin = shape.window_begin(p.chunk), left_begin = left < 0 ? begin : shape.window_begin(left);
      for (int a = 0; a < S; ++a) s.z[0][a] = s.z[1][a] = Scalar(0);
      // Every chunk forms its left neighbour's separators once more, both at once where the registers suffice: mostly cheaper than a second
      // barrier, which pays where many short chunks have long windows.
      bool both = false;
      if constexpr (S == 1) both = left >= 0 && begin == left_begin && !share;
      if (both) apply_inverse<false, S == 1 ? 2 : 1>(p, p.chunk, begin, r_own, r_left, s.z);
      else {
        apply_inverse<false, 1>(p, p.chunk, begin, r_own, r_left, s.z);
        if (share) publish(p, s, z);
        else if (left >= 0) apply_inverse<false, 1>(p, left, left_begin, r_own, r_left, s.z + 1);
      }
    });
    if (share) team.barrier();
    if (correct) {
      threads.for_each([&](int v, State &) { reduced_residual(piece(team, v, tile), z, r_own, r_left); });
      team.barrier();
      threads.for_each([&](int v, State &s) {
        const Piece p = piece(team, v, tile);
        apply_inverse<true, 1>(p, p.chunk, shape.window_begin(p.chunk), r_own, nullptr, s.z);
        publish(p, s, z);
      });
      team.barrier();
    }
    threads.for_each([&](int v, State &s) {
      const Piece p    = piece(team, v, tile);
      const int   left = left_of(p.chunk);
      if (share && left >= 0)
        for (int a = 0; a < S; ++a) s.z[1][a] = z[((left * S + a) << shape.lane_bits) + p.lane];
      with_block<Team>(p, fetched, [&](const auto &block) { backward(p, s, block); });
    });
    if constexpr (Staged) {
      team.barrier();
      threads.for_each([&](int v, State &) { for_tile<Scheme::shift>(team, out, v, [&](std::int64_t at, int t) { x[at] = tile[t]; }); });
    }
  }
};

} // namespace ribbon
