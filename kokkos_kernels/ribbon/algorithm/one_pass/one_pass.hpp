// SPDX-License-Identifier: BSD-2-Clause
/// @file one_pass.hpp  The kernel that reads every line once and writes it once: two sweeps with, in most
///   cases, one barrier between them.
///
/// A team holds a tile of `lanes` lines, divided into chunks of rows, with one virtual thread per (line,
/// chunk). The forward sweep runs while rows arrive. Then chunks exchange S or 2 S values per line. The
/// backward sweep runs while rows are stored (chunk.hpp or orthogonal.hpp, reduced.hpp). Rows wait in
/// registers and team scratch. Contiguous lines (Staged) pass through scratch (one_pass/staged.hpp).
#pragma once

#include <ribbon/algorithm/one_pass/tile.hpp>

namespace ribbon {

/// The sweeps of a tile; for the parameters see OnePassTile.
template <class Scheme, int MR, int MS, CoefficientSource source, bool Staged,
          int pack = device::pack<typename Scheme::Scalar>, class Input = GivenRows>
struct OnePassKernel : OnePassTile<Scheme, MR, MS, source, Staged, pack, Input> {
  using Tile = OnePassTile<Scheme, MR, MS, source, Staged, pack, Input>;
  /// the same kernel with other right-hand sides
  template <class Other>
  using WithInput = OnePassKernel<Scheme, MR, MS, source, Staged, pack, Other>;
  using Scalar    = typename Scheme::Scalar;
  using Tile::shape, Tile::b, Tile::x, Tile::in, Tile::out, Tile::lines, Tile::correct;
  using Tile::slots, Tile::B, Tile::S, Tile::rows, Tile::interior, Tile::group, Tile::side;
  using Tile::tile_words, Tile::exchanged, Tile::warp_bits, Tile::piece, Tile::product_reach;
  using typename Tile::Reduced, typename Tile::Piece, typename Tile::State, typename Tile::ForwardRow,
    typename Tile::BackwardRow;
  using Lines = typename StagedTile<Scalar, B>::Lines;

  /// Reads the rows of u beyond the ends of a chunk, from memory or from the tile of the line.
  KOKKOS_FORCEINLINE_FUNCTION void load_halo([[maybe_unused]] const Piece  &p,
                                             [[maybe_unused]] const Scalar *tile,
                                             [[maybe_unused]] State        &s) const
  {
    if constexpr (product_reach > 0) {
      const int     begin = shape.split.begin(p.chunk), n = static_cast<int>(in.rows);
      const Scalar *line = Staged ? tile + p.lane * shape.pitch : b + in.begin(p.line);
      Input::read_halo(
        begin, begin + shape.split.size(p.chunk), n, shape.ring,
        [&](int r) { return Staged ? line[this->place_of_row(p.chunk, r)] : line[r * in.row_stride]; }, s);
    }
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
    load_halo(p, nullptr, s);
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

  /// The group of asynchronous copies with slot e; -1 for slots in registers.
  KOKKOS_FUNCTION static constexpr int group_of(int e) { return e < MR ? -1 : (e - MR) / group; }
  /// The last group that row k of the forward sweep needs.
  KOKKOS_FUNCTION static constexpr int last_group(int k)
  {
    return group_of((k + product_reach < rows ? k + product_reach : rows - 1) * B + B - 1);
  }

  /// The right-hand side of row k from slots of u, in the order of the sweep. slot(e) reads slot e.
  template <class Coefficients, class Slot>
  KOKKOS_FORCEINLINE_FUNCTION void
  read_row(const Piece &p, const State &s, [[maybe_unused]] const Coefficients &block, int k,
           const Slot &slot, [[maybe_unused]] typename Input::Window &window, Scalar (&f)[B]) const
  {
    if constexpr (product_reach == 0) RIBBON_UNROLL
    for (int c = 0; c < B; ++c) f[c] = slot(k * B + c);
    else
    {
      constexpr int W = product_reach;
      if (k == 0) {
        RIBBON_UNROLL
        for (int j = 0; j < W; ++j) window.u[j] = s.before[j], window.u[W + j] = slot(j);
      }
      window.u[2 * W] =
        k + W < rows ? slot(k + W < rows ? k + W : 0) : s.behind[k + W < rows ? 0 : k + W - rows];
      if constexpr (Coefficients::full) f[0] = window.times(this->product.stencil);
      else f[0] = window.times(block.product(k).c);
      window.move(!Coefficients::full && k < p.pad);
    }
  }

  /// Writes the contributions of a chunk to the right-hand sides of the separators.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void write_right_hand_sides(const Team &team, const Piece &p,
                                                          const Scalar (&own)[S], const Scalar (&left)[S],
                                                          Scalar *r_own, Scalar *r_left) const
  {
    const bool coupled = shape.ring || p.chunk > 0;
    const auto readers = shape.readers(p.chunk);
    team.await_blocks();
    for (int a = 0; a < S; ++a) {
      const int at = this->at(p.chunk, a, p.lane);
      team.write(&r_own[at], own[a], readers);
      if constexpr (Scheme::couples_left) team.write(&r_left[at], coupled ? left[a] : Scalar(0), readers);
    }
  }

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
      const auto slot = [&](int e) -> Scalar {
        if constexpr (Staged) return packed.read(e);
        else return e < MR ? s.g[e < MR ? e : 0] : p.slot(e);
      };
      [[maybe_unused]] typename Input::Window window;
      RIBBON_UNROLL
      for (int k = 0; k < rows; ++k) {
        if constexpr (!Staged)
          if (last_group(k) >= 0 && (k == 0 || last_group(k - 1) != last_group(k))) {
            device::async_wait(groups - 1 - last_group(k));
            if constexpr (packs<Team>) device::lane_barrier(shape.lanes());
          }
        Scalar f[B], g[B];
        read_row(p, s, block, k, slot, window, f);
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
    write_right_hand_sides(team, p, own, left, r_own, r_left);
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
    [[maybe_unused]] const Scalar *term = nullptr; // v at the same row
    if constexpr (product_reach > 0)
      if (this->product.beta != Scalar(0)) term = this->product.v + this->product.lines(p.line, end - 1);
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
      if constexpr (product_reach > 0)
        if (Coefficients::full ? p.active : k >= first_stored) this->product.finish(term, v[0]);
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

  /// Starts and awaits copies of contiguous lines, of their coefficients and of known separators.
  template <class Team, class Threads, class Each>
  KOKKOS_FORCEINLINE_FUNCTION void bring_staged(const Team &team, Threads &threads, const Each &each,
                                                const StagedTile<Scalar, B> &staged, const Lines &own,
                                                Scalar *r_own, Scalar *r_left, char *fetched) const
  {
    threads.for_each([&](int v, State &) { staged.bring(team, v, own, in, b); });
    each([&](const Piece &p, State &) {
      this->bring_known(p, r_own, r_left);
      this->with_block(team, p, fetched, [](const auto &block) { block.fetch_forward(); });
    });
    if (this->forms_known()) this->form_known(team, threads, b, in, own.first, lines, r_own);
    staged.await(team, in, b);
    share_halos(team, each, staged.tile);
  }
  /// Reads the halos of all chunks of a tile, before one of them is written.
  template <class Team, class Each>
  KOKKOS_FORCEINLINE_FUNCTION void share_halos([[maybe_unused]] const Team   &team,
                                               [[maybe_unused]] const Each   &each,
                                               [[maybe_unused]] const Scalar *tile) const
  {
    if constexpr (product_reach > 0) {
      each([&](const Piece &p, State &s) { load_halo(p, tile, s); });
      team.barrier();
    }
  }

  /// Reads the separators left of a chunk.
  KOKKOS_FORCEINLINE_FUNCTION void read_left(const Piece &p, const Scalar *z, Scalar (&zl)[S]) const
  {
    const int left = shape.left_of(p.chunk);
    for (int a = 0; a < S; ++a) zl[a] = left >= 0 ? z[this->at(left, a, p.lane)] : Scalar(0);
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
    [[maybe_unused]] const std::int64_t first = team.league_rank() * shape.lanes();
    [[maybe_unused]] const Lines        own{
      first, static_cast<int>(lines - first < shape.lanes() ? lines - first : shape.lanes())};
    const auto for_pieces = [&](const auto &phase) {
      if constexpr (!Staged) threads.for_each(phase);
      else
        threads.for_each([&](int v, State &s) {
          if (const int rank = shape.rank(v); rank >= 0) phase(rank, s);
        });
    };
    const auto each = [&](const auto &phase) {
      for_pieces([&](int v, State &s) { phase(piece(team, v, tile), s); });
    };
    if constexpr (Staged) {
      fetched += device::Arrival::bytes;
      if (this->forms_known() && this->near.only)
        return this->form_known(team, threads, b, in, first, lines, tile);
      bring_staged(team, threads, each, staged, own, r_own, r_left, fetched);
    }
    each([&](const Piece &p, State &s) {
      this->with_block(team, p, fetched, [&](const auto &block) {
        if constexpr (!Staged) {
          this->bring_known(p, r_own, r_left);
          block.fetch_forward();
          load<std::decay_t<decltype(block)>>(team, p, s);
        }
        forward(team, p, s, block, r_own, r_left);
      });
    });
    team.barrier();
    const Scalar *z          = this->solve_reduced(team, each, r_own, r_left, correct);
    const bool    with_known = Staged && staged.template whole<Team>(out, x);
    each([&](const Piece &p, State &s) {
      if (z) this->read_left(p, z, s.z[1]);
      this->pass_known(team, p, s.z[1]);
      this->with_block(team, p, fetched, [&](const auto &block) { backward(p, s, block); });
      if (with_known)
        this->store_known(team, p, [&](int u, const Scalar &value) { p.tile[slots + u] = value; });
      if constexpr (Staged) staged.template release<Team>(out, x);
    });
    if constexpr (Staged) {
      team.barrier();
      threads.for_each([&](int v, State &) { staged.store(team, v, own, out, x); });
    }
    if (this->continued() && !with_known)
      each([&](const Piece &p, State &) { this->store_known(team, p, out, x); });
  }
};

} // namespace ribbon
