// SPDX-License-Identifier: BSD-2-Clause
/// @file resident.hpp  One-pass kernel for contiguous lines with one matrix without a stencil: persistent
///   teams keep the coefficients of all chunks in scratch and process tile after tile.
///
/// A team of one tile waits for the coefficients of both sweeps, because all teams read them from the same
/// lines of the L2 cache. A persistent team loads them once. If there is enough scratch, a team has two
/// tiles: one is stored, and the next one loaded, while the other is swept.
#pragma once

#include <ribbon/algorithm/one_pass/one_pass.hpp>

namespace ribbon {

template <class Scheme, int slots, class Input = GivenRows>
struct ResidentOnePassKernel : OnePassKernel<Scheme, 0, slots, CoefficientSource::shared, true,
                                             device::pack<typename Scheme::Scalar>, Input> {
  using Base = OnePassKernel<Scheme, 0, slots, CoefficientSource::shared, true,
                             device::pack<typename Scheme::Scalar>, Input>;
  template <class Other>
  using WithInput = ResidentOnePassKernel<Scheme, slots, Other>;
  using Scalar    = typename Base::Scalar;
  using Base::S, Base::shape, Base::in, Base::out, Base::b, Base::x, Base::lines, Base::blocks;
  using typename Base::Block, typename Base::State, typename Base::Piece;
  static constexpr bool stays       = true;
  static constexpr int  max_threads = 512, teams_beside = 1;

  std::int64_t teams = 0; ///< of the league

  KOKKOS_FUNCTION static std::size_t tile_bytes(const OnePassShape &s)
  {
    return device::align16(Base::tile_words(s) * sizeof(Scalar));
  }
  static std::size_t scratch(const OnePassShape &s, bool is_virtual, int = 0)
  {
    const auto chunks  = static_cast<std::size_t>(s.split.chunks),
               threads = static_cast<std::size_t>(s.threads());
    const auto tiles   = static_cast<std::size_t>(s.resident);
    return tiles * tile_bytes(s) + chunks * sizeof(Block) + Base::exchanged(s, s.threads()) +
           (tiles + 1) * device::Arrival::bytes + (is_virtual ? threads * sizeof(State) : 0);
  }

  /// Starts copies of the coefficients of all chunks.
  template <class Team>
  KOKKOS_FUNCTION void bring_blocks(const Team &team, int v, Block *held,
                                    const device::Arrival &arrival) const
  {
    const int chunks = shape.split.chunks;
    if constexpr (device::bulk_copies<Team>) {
      if (v > 0) return;
      arrival.expect(chunks * static_cast<int>(sizeof(Block)));
      arrival.copy(held, blocks, chunks * static_cast<int>(sizeof(Block)));
    } else
      for (int c = v; c < chunks; c += team.size()) held[c] = blocks[c];
  }

  using Staged = StagedTile<Scalar, 1>;
  using Lines  = typename Staged::Lines;
  /// Scratch of a team: its tiles, the coefficients, the right-hand sides of the separators, the arrivals
  /// of the tiles and of the coefficients, virtual states.
  struct Scratch {
    char   *tiles;
    Block  *held;
    Scalar *r_own, *r_left;
    char   *words;

    KOKKOS_FUNCTION device::Arrival arrival(int k) const
    {
      return {reinterpret_cast<std::uint64_t *>(words + k * static_cast<int>(device::Arrival::bytes))};
    }
    KOKKOS_FUNCTION char *states(int buffers) const
    {
      return words + (buffers + 1) * static_cast<int>(device::Arrival::bytes);
    }
  };
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION Scratch scratch_of(const Team &team) const
  {
    Scratch at;
    at.tiles = team.scratch();
    at.held =
      reinterpret_cast<Block *>(at.tiles + static_cast<std::size_t>(shape.resident) * tile_bytes(shape));
    at.r_own  = reinterpret_cast<Scalar *>(at.held + shape.split.chunks);
    at.r_left = at.r_own + Base::places(shape, team.size());
    at.words  = reinterpret_cast<char *>(at.r_own) + Base::exchanged(shape, team.size());
    return at;
  }
  /// The tile of a round.
  KOKKOS_FORCEINLINE_FUNCTION Staged tile_of(const Scratch &at, int round) const
  {
    const int k = round % shape.resident;
    return {shape, reinterpret_cast<Scalar *>(at.tiles + static_cast<std::size_t>(k) * tile_bytes(shape)),
            at.arrival(k)};
  }
  KOKKOS_FORCEINLINE_FUNCTION Lines lines_of(std::int64_t number) const
  {
    const int lanes = shape.lanes();
    return {number * lanes,
            static_cast<int>(lines - number * lanes < lanes ? lines - number * lanes : lanes)};
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const int                    lanes = shape.lanes(), buffers = shape.resident;
    const std::int64_t           tiles = (lines + lanes - 1) / lanes;
    const Scratch                at    = scratch_of(team);
    device::Threads<State, Team> threads(team, at.states(buffers));
    std::int64_t                 number = team.league_rank();
    threads.for_each([&](int v, State &) {
      bring_blocks(team, v, at.held, at.arrival(buffers));
      tile_of(at, 0).bring(team, v, lines_of(number), in, b);
    });
    for (int round = 0; number < tiles; ++round, number += teams) {
      const Staged       tile = tile_of(at, round);
      const std::int64_t next = number + teams;
      const auto         each = [&](const auto &phase) {
        threads.for_each([&](int v, State &s) { phase(this->piece(team, v, tile.tile, number), s); });
      };
      tile.await(team, in, b, round / buffers);
      if constexpr (device::bulk_copies<Team>)
        if (round == 0) at.arrival(buffers).await();
      this->share_halos(team, each, tile.tile);
      each([&](const Piece &p, State &s) {
        this->forward(team, p, s, HeldBlock<Block>{at.held + p.chunk}, at.r_own, at.r_left);
      });
      const auto bring_next = [&] {
        // stores of the previous tile, whose place is reused
        threads.for_each([&](int, State &) { device::await_bulk_stores(); });
        // other threads may load it than those that store it
        if (!tile.template in_bulk<Team>(in, b)) team.barrier();
        threads.for_each([&](int v, State &) {
          if (next < tiles)
            tile_of(at, round + 1).bring(team, v, lines_of(next), in, b, (round + 1) / buffers);
        });
      };
      if (buffers > 1) bring_next();
      team.barrier();
      const Scalar *z = this->solve_reduced(team, each, at.r_own, at.r_left, this->correct);
      each([&](const Piece &p, State &s) {
        if (z) this->read_left(p, z, s.z[1]);
        this->backward(p, s, HeldBlock<Block>{at.held + p.chunk});
        if (tile.template in_bulk<Team>(out, x) || tile.template in_bulk<Team>(in, b))
          device::release_to_bulk_copies();
      });
      team.barrier();
      threads.for_each([&](int v, State &) { tile.start_store(team, v, lines_of(number), out, x); });
      if (buffers == 1) {
        team.barrier();
        bring_next();
      }
    }
    threads.for_each([&](int, State &) { device::await_bulk_stores(); });
  }
};

} // namespace ribbon
