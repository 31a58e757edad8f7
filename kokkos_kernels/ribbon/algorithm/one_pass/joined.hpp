// SPDX-License-Identifier: BSD-2-Clause
/// @file joined.hpp  One-pass kernel for segments of longer lines that compute the adjacent separators
///   themselves: one launch reads every row once and writes it once.
///
/// A segment is swept forward and solved to y as if it had no neighbours (only its reduced system; y stays
/// on the chip). It publishes the ends of y and the right-hand sides of the separators after it. The
/// separators on either end are sums of the records of nearby segments (JoinedPieces). The separators z_c
/// of a chunk become z_c - V_c zl - W_c zr, and the segment is swept back.
///
/// Teams wait for each other, also for those with later tiles. This cannot deadlock: all teams of the
/// league run at the same time and process tiles in order. The first unfinished tile waits for tiles whose
/// teams publish their records without waiting for it. A team starts its next tile after its waits have
/// ended.
///
/// Records need no flags: a word holds JoinedPieces::none until it is written. Launches alternate between
/// two buffers of records, and a launch clears that of the next one.
#pragma once

#include <ribbon/algorithm/one_pass/one_pass.hpp>

namespace ribbon {

/// @pre all chunks are regular
template <class Scheme, int slots>
struct JoinedOnePassKernel : OnePassKernel<Scheme, 0, slots, CoefficientSource::regular, true> {
  using Base   = OnePassKernel<Scheme, 0, slots, CoefficientSource::regular, true>;
  using Scalar = typename Base::Scalar;
  using Base::S, Base::shape, Base::in, Base::out, Base::b, Base::x, Base::lines;
  using typename Base::Square, typename Base::State, typename Base::Piece;
  using Joined                = JoinedPieces<Scalar>;
  static constexpr bool joins = true;
  /// If one thread runs a team, teams run one after another: one launch publishes records, another one
  /// solves.
  enum class Phase { all, announce, solve };

  Joined joined;
  /// V_c and W_c of all chunks, and the effect of the separators of the first chunk on the first unknowns
  const Square *spikes;
  Phase         phase = Phase::all;
  std::int64_t  teams = 0; ///< of the league

  /// Scratch of the adjacent separators of the segments of a tile, and of the index of the next tile.
  KOKKOS_FUNCTION static std::size_t beside_bytes(int lanes)
  {
    return device::align16(static_cast<std::size_t>(3 * Joined::most * lanes) * sizeof(Scalar)) + 16;
  }
  static std::size_t scratch(const OnePassShape &s, bool is_virtual)
  {
    return Base::scratch(s, is_virtual, s.split.chunks) + beside_bytes(s.lanes());
  }

  KOKKOS_FUNCTION static std::uint64_t bits(Scalar value)
  {
    union {
      Scalar        value;
      std::uint64_t bits;
    } word{value};
    return word.bits == Joined::none ? Joined::none ^ 1 : word.bits;
  }
  KOKKOS_FUNCTION static Scalar number(std::uint64_t bits)
  {
    union {
      std::uint64_t bits;
      Scalar        value;
    } word{bits};
    return word.value;
  }
  /// Writes word k of record r, and clears it for the next launch.
  KOKKOS_FUNCTION void announce(int buffer, std::int64_t r, int k, Scalar value) const
  {
    volatile std::uint64_t *word = joined.records + r * joined.words() + k;
    const std::int64_t      all  = joined.count() * joined.words();
    word[buffer * all]           = bits(value);
    if (phase == Phase::all) word[(1 - buffer) * all] = Joined::none;
  }
  /// Unknown a of the separators after segment p of line l. Waits for the records around it.
  KOKKOS_FUNCTION Scalar separator(int buffer, std::int64_t l, std::int64_t p, int a) const
  {
    if (p < 0) return Scalar(0);
    constexpr int      batch = 8;
    const int          n = joined.words(), reach = joined.reach;
    const std::int64_t from = p - reach > 0 ? p - reach : 0,
                       to   = p + reach + 1 < joined.of_line() ? p + reach + 2 : joined.of_line();
    const volatile std::uint64_t *word =
      joined.records + (buffer * joined.count() + l * joined.of_line() + from) * n;
    const Scalar *weights =
      joined.weights +
      (static_cast<std::int64_t>(joined.class_of[p]) * joined.separators + a) * joined.numbers() +
      (from - (p - reach)) * n;
    const int count = static_cast<int>(to - from) * n;
    Scalar    sum(0);
    for (int k = 0; k < count; k += batch) {
      std::uint64_t found[batch];
      const auto    all_there = [&] {
        bool there = true;
        RIBBON_UNROLL
        for (int j = 0; j < batch; ++j) found[j] = k + j < count ? word[k + j] : 0;
        RIBBON_UNROLL
        for (int j = 0; j < batch; ++j) there = there && found[j] != Joined::none;
        return there;
      };
      while (!all_there()) device::pause();
      RIBBON_UNROLL
      for (int j = 0; j < batch; ++j)
        if (k + j < count) sum += read_only_scalar(weights + k + j) * number(found[j]);
    }
    return sum;
  }

  /// The first and the last chunk of a segment publish its record. The last segment of a line also
  /// publishes that of the tail.
  KOKKOS_FUNCTION void tell(int buffer, const Piece &p, const State &s, const Scalar *f_sep) const
  {
    const int          T = shape.split.chunks;
    const std::int64_t l = joined.line(p.line), q = p.line - l * joined.pieces, r = l * joined.of_line() + q;
    if (p.chunk == 0) {
      const auto spike = read_only(&spikes[2 * T]);
      for (int e = 0; e < S; ++e) {
        Scalar first = s.z[1][e];
        for (int a = 0; a < S; ++a) subtract_product(first, spike.a[e * S + a], s.z[0][a]);
        announce(buffer, r, e, first);
      }
    }
    if (p.chunk != T - 1) return;
    for (int e = 0; e < S; ++e) announce(buffer, r, S + e, s.z[0][e]);
    for (int a = 0; a < joined.separators; ++a)
      announce(buffer, r, 2 * S + a, f_sep[a * shape.lanes() + p.lane]);
    for (int k = 0; joined.tails && q + 1 == joined.pieces && k < joined.words(); ++k) {
      Scalar value(0);
      for (int t = 0; k < S && t < joined.splits; ++t)
        value += joined.tails[(t * 2 * S + k) * joined.lines + l];
      announce(buffer, r + 1, k, value);
    }
  }

  /// The last team to finish resets the counts for the next launch.
  template <class Team>
  KOKKOS_FUNCTION void finish(const Team &team) const
  {
    if (team.rank() != 0 || Kokkos::atomic_fetch_add(joined.state + 1, std::int64_t(1)) != teams - 1) return;
    joined.state[1] = joined.state[2] = 0;
    ++joined.state[0];
  }

  using Staged = StagedTile<Scalar, 1>;
  using Lines  = typename Staged::Lines;
  /// Scratch of a team.
  struct Scratch {
    Scalar       *tile, *r_own, *r_left; ///< r_left: later the separators of the chunks
    char         *arrival;
    Scalar       *f_sep;  ///< right-hand sides of the separators after a segment, (unknown, lane)
    Scalar       *beside; ///< adjacent separators, (side, unknown, lane)
    std::int64_t *next;   ///< the next tile
    char         *states; ///< virtual ones
  };
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION Scratch scratch_of(const Team &team) const
  {
    const int lanes = shape.lanes(), most = Joined::most;
    Scratch   at;
    at.tile = reinterpret_cast<Scalar *>(team.scratch());
    at.r_own =
      reinterpret_cast<Scalar *>(team.scratch() + device::align16(Base::tile_words(shape) * sizeof(Scalar)));
    at.r_left  = at.r_own + Base::places(shape, team.size());
    at.arrival = reinterpret_cast<char *>(at.r_own) + Base::exchanged(shape, team.size());
    at.f_sep   = reinterpret_cast<Scalar *>(at.arrival + device::Arrival::bytes);
    at.beside  = at.f_sep + most * lanes;
    at.next    = reinterpret_cast<std::int64_t *>(at.f_sep + 3 * most * lanes);
    at.states  = reinterpret_cast<char *>(at.f_sep) + beside_bytes(lanes);
    return at;
  }
  KOKKOS_FORCEINLINE_FUNCTION Lines lines_of(std::int64_t number) const
  {
    const int lanes = shape.lanes();
    return {number * lanes,
            static_cast<int>(lines - number * lanes < lanes ? lines - number * lanes : lanes)};
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t line_of(const Lines &own, int lane) const
  {
    return own.first + lane < lines ? own.first + lane : lines - 1;
  }

  /// Starts copies of a tile, and loads the right-hand sides of the separators after its segments.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void bring(const Team &team, int v, const Staged &staged, const Scratch &at,
                                         const Lines &own, int round) const
  {
    const int lanes = shape.lanes();
    staged.bring(team, v, own, in, b, round);
    if (v < joined.separators * lanes) {
      device::async_copy(&at.f_sep[v], b + in(line_of(own, v % lanes), in.rows + v / lanes));
      device::async_commit();
      device::async_wait(0);
    }
  }

  /// Solves the reduced systems of the segments as if they had no neighbours, and publishes records.
  template <class Team, class Each>
  KOKKOS_FORCEINLINE_FUNCTION void solve_alone(const Team &team, const Each &each, const Scratch &at,
                                               int buffer) const
  {
    Scalar *r = at.r_own, *other = at.r_left;
    if (shape.halvings > 0) {
      each([&](const Piece &p, State &) { this->subtract_left(p, at.r_own, at.r_left); });
      team.barrier();
      this->halve(team, each, r, other);
    }
    each([&](const Piece &p, State &s) {
      for (int a = 0; a < S; ++a) s.z[0][a] = Scalar(0);
      if (shape.halvings > 0)
        this->template apply_inverse<true, 1>(p, p.chunk, shape.halved_window_begin(p.chunk), r, nullptr,
                                              s.z);
      else
        this->template apply_inverse<false, 1>(p, p.chunk, shape.window_begin(p.chunk), at.r_own, at.r_left,
                                               s.z);
      if (p.active && phase != Phase::solve) tell(buffer, p, s, at.f_sep);
    });
  }

  /// Computes one unknown of the adjacent separators of the segments of a tile.
  KOKKOS_FORCEINLINE_FUNCTION void find_beside(int v, const Scratch &at, const Lines &own, int buffer) const
  {
    const int lanes = shape.lanes(), most = Joined::most, separators = joined.separators;
    if (v >= 2 * separators * lanes) return;
    const int          lane = v % lanes, end = v / lanes % 2, a = v / lanes / 2;
    const std::int64_t line = line_of(own, lane), l = joined.line(line), q = line - l * joined.pieces;
    if (end == 0 && a + S < separators) return;
    const Scalar value                         = separator(buffer, l, q - 1 + end, a);
    at.beside[(end * most + a) * lanes + lane] = value;
    if (end == 1 && joined.last && q + 1 == joined.pieces) joined.last[a * joined.lines + l] = value;
  }
  /// Unknown a of those separators that couple with the segment of a lane; end: 0 left, 1 right.
  KOKKOS_FORCEINLINE_FUNCTION Scalar found(const Scratch &at, int end, int a, int lane) const
  {
    return at
      .beside[(end * Joined::most + (end == 0 ? joined.separators - S : 0) + a) * shape.lanes() + lane];
  }

  /// Couples the separators of a chunk with those next to its segment: z_c - V_c zl - W_c zr.
  KOKKOS_FORCEINLINE_FUNCTION void couple(const Piece &p, State &s, const Scratch &at) const
  {
    for (int end = 0; end < 2; ++end) {
      const auto spike = read_only(&spikes[2 * p.chunk + end]);
      for (int e = 0; e < S; ++e)
        for (int a = 0; a < S; ++a)
          subtract_product(s.z[0][a], spike.a[a * S + e], found(at, end, e, p.lane));
    }
  }

  /// Stores a tile and the separators after its segments.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Team &team, int v, const Staged &staged, const Scratch &at,
                                         const Lines &own) const
  {
    staged.store(team, v, own, out, x);
    if (v < joined.separators * own.count)
      x[out(own.first + v % own.count, out.rows + v / own.count)] =
        at.beside[(Joined::most + v / own.count) * shape.lanes() + v % own.count];
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t           tiles = (lines + shape.lanes() - 1) / shape.lanes();
    const Scratch                at    = scratch_of(team);
    device::Threads<State, Team> threads(team, at.states);
    const Staged                 staged{shape, at.tile, {reinterpret_cast<std::uint64_t *>(at.arrival)}};
    const RegularBlock<typename Base::Block> block{Base::regular};
    const int                                buffer =
      phase == Phase::all ? static_cast<int>(*static_cast<volatile std::int64_t *>(joined.state) & 1) : 0;
    int round = 0;
    for (std::int64_t number = team.league_rank(); number < tiles; ++round) {
      const Lines own  = lines_of(number);
      const auto  each = [&](const auto &step) {
        threads.for_each([&](int v, State &s) { step(this->piece(team, v, at.tile, number), s); });
      };
      threads.for_each([&](int v, State &) { bring(team, v, staged, at, own, round); });
      staged.await(team, in, b, round);
      each([&](const Piece &p, State &s) {
        this->forward(team, p, s, block, at.r_own, at.r_left, [&](const auto &sweep) {
          for (int a = 0; a < S; ++a) s.z[1][a] = sweep.y_first[a];
        });
      });
      team.barrier();
      solve_alone(team, each, at, buffer);
      if (phase == Phase::announce) return;
      threads.for_each([&](int v, State &) { find_beside(v, at, own, buffer); });
      team.barrier();
      threads.for_each([&](int v, State &s) {
        const Piece p = this->piece(team, v, at.tile, number);
        couple(p, s, at);
        this->publish(team, p, s.z[0], at.r_left);
        if constexpr (!Team::is_virtual)
          if (v == 0)
            *at.next = phase == Phase::all
                         ? teams + Kokkos::atomic_fetch_add(joined.state + 2, std::int64_t(1))
                         : tiles;
      });
      team.barrier();
      each([&](const Piece &p, State &s) {
        for (int a = 0; a < S; ++a)
          s.z[1][a] = p.chunk == 0 ? found(at, 0, a, p.lane) : at.r_left[this->at(p.chunk - 1, a, p.lane)];
        this->backward(p, s, block);
        staged.template release<Team>(out, x);
      });
      team.barrier();
      threads.for_each([&](int v, State &) { store(team, v, staged, at, own); });
      if constexpr (Team::is_virtual) return;
      team.barrier();
      number = *at.next;
    }
    if constexpr (!Team::is_virtual) finish(team);
  }
};

} // namespace ribbon
