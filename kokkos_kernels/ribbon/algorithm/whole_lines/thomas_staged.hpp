// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas_staged.hpp  Elimination along contiguous lines on a device: blocks of rows pass through
///   scratch.
#pragma once

#include <ribbon/elimination/chunk.hpp>
#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// One thread per line for lines with contiguous rows. Blocks of rows of 32 lines pass through scratch, so
/// that neighbouring threads access neighbouring memory. The next block is in flight while one is
/// processed.
template <class Scalar, int P, class Factors>
struct ThomasStagedKernel {
  static constexpr int lanes = 32, block = 32, pitch = block + 1, group = 8;
  static constexpr int max_threads = lanes;
  using Scheme                     = PlainScheme<Scalar, P>;
  Factors       factors;
  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;
  bool          periodic;

  struct State {
    typename Scheme::Sweep  sweep;
    typename Scheme::Window w;
    Scalar                  z[P], f_sep[P];
  };

  static std::size_t scratch(bool is_virtual)
  {
    return device::align16(2 * lanes * pitch * sizeof(Scalar)) + (is_virtual ? lanes * sizeof(State) : 0);
  }

  /// The lines of a team, and its two blocks of rows in scratch.
  struct Lines {
    std::int64_t            first;
    int                     count;
    Scalar                 *tile;
    KOKKOS_FUNCTION Scalar *block_at(std::int64_t k) const { return tile + (k & 1) * (lanes * pitch); }
  };
  KOKKOS_FUNCTION std::int64_t blocks() const { return (in.rows + block - 1) / block; }
  KOKKOS_FUNCTION std::int64_t interior() const { return in.rows - (periodic ? P : 0); }

  /// Starts copies of a row of block k, if there is such a block.
  KOKKOS_FUNCTION void load(const Lines &own, int v, const Scalar *from, const LineSet &set,
                            std::int64_t k) const
  {
    const std::int64_t row = k * block + v;
    if (k >= 0 && k < blocks() && row < set.rows)
      for (int l = 0; l < own.count; ++l)
        device::async_copy(own.block_at(k) + l * pitch + v,
                           from + set.begin(own.first + l) + row * set.row_stride);
    device::async_commit();
  }
  KOKKOS_FUNCTION void store(const Lines &own, int v, std::int64_t k) const
  {
    const std::int64_t row = k * block + v;
    if (row < interior())
      for (int l = 0; l < own.count; ++l)
        x[out.begin(own.first + l) + row * out.row_stride] = own.block_at(k)[l * pitch + v];
  }

  /// A block of rows in scratch: awaited, swept while the next one (k + step) is in flight, and stored.
  template <class Team, class Sweep>
  KOKKOS_FUNCTION void pass(const Team &team, device::Threads<State, Team> &threads, const Lines &own,
                            std::int64_t k, int step, const Scalar *from, const LineSet &set,
                            const Sweep &sweep) const
  {
    threads.for_each([&](int v, State &) {
      load(own, v, from, set, k + step);
      device::async_wait(1);
    });
    team.barrier();
    threads.for_each([&](int v, State &s) {
      if (v < own.count) sweep(factors.line(own.first + v), s, own.block_at(k) + v * pitch, k * block);
    });
    team.barrier();
    threads.for_each([&](int v, State &) { store(own, v, k); });
    team.barrier();
  }

  /// The rows of a block from row `base` on.
  KOKKOS_FUNCTION void forward_block(const typename Factors::Line &line, State &s, Scalar *row,
                                     std::int64_t base) const
  {
    const std::int64_t m = interior();
    for (int j = 0; j < block; j += group) {
      if (base + j + group <= m) {
        RIBBON_UNROLL
        for (int e = 0; e < group; ++e) forward(line, base + j + e, s, row[j + e]);
      } else
        for (int e = 0; e < group && base + j + e < in.rows; ++e) {
          const std::int64_t i = base + j + e;
          if (i < m) forward(line, i, s, row[j + e]);
          else s.f_sep[i - m] = row[j + e];
        }
    }
  }
  KOKKOS_FUNCTION void backward_block(const typename Factors::Line &line, State &s, Scalar *row,
                                      std::int64_t base) const
  {
    const std::int64_t m = interior();
    for (int j = block - group; j >= 0; j -= group) {
      if (base + j + group <= m) {
        RIBBON_UNROLL
        for (int e = group - 1; e >= 0; --e) backward(line, base + j + e, s, row[j + e]);
      } else
        for (int e = group - 1; e >= 0; --e)
          if (base + j + e < m) backward(line, base + j + e, s, row[j + e]);
    }
  }

  /// Solves for the separators of a ring, stores them, and starts the backward sweep from them.
  KOKKOS_FUNCTION void close_ring(std::int64_t l, State &s) const
  {
    const auto closure = factors.line(l).closure();
    Scalar     own[P], other[P];
    Scheme::finish(closure.edge, s.sweep, s.f_sep, own, other);
    for (int a = 0; a < P; ++a) own[a] -= other[a];
    closure.solve(own, s.z);
    for (int a = 0; a < P; ++a) x[out.begin(l) + (interior() + a) * out.row_stride] = s.w.v[a] = s.z[a];
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t           first = team.league_rank() * lanes, left = in.lines() - first;
    const Lines                  own{first, static_cast<int>(left < lanes ? left : lanes),
                    reinterpret_cast<Scalar *>(team.scratch())};
    device::Threads<State, Team> threads(team, team.scratch() +
                                                 device::align16(2 * lanes * pitch * sizeof(Scalar)));
    threads.for_each([&](int v, State &s) {
      s = State{};
      load(own, v, b, in, 0);
    });
    for (std::int64_t k = 0; k < blocks(); ++k)
      pass(team, threads, own, k, 1, b, in, [&](const auto &line, State &s, Scalar *row, std::int64_t base) {
        forward_block(line, s, row, base);
      });
    threads.for_each([&](int v, State &s) {
      if (periodic && v < own.count) close_ring(own.first + v, s);
      load(own, v, x, out, blocks() - 1);
    });
    for (std::int64_t k = blocks() - 1; k >= 0; --k)
      pass(team, threads, own, k, -1, x, out,
           [&](const auto &line, State &s, Scalar *row, std::int64_t base) {
             backward_block(line, s, row, base);
           });
  }

  KOKKOS_FUNCTION static void forward(const typename Factors::Line &line, std::int64_t i, State &s,
                                      Scalar &value)
  {
    Scalar f[1] = {value}, g[1];
    Scheme::forward(line.forward(i), f, s.sweep, g);
    value = g[0];
  }
  KOKKOS_FUNCTION static void backward(const typename Factors::Line &line, std::int64_t i, State &s,
                                       Scalar &value)
  {
    Scalar g[1] = {value}, v[1];
    Scheme::backward(line.backward(i), g, s.z, s.w, v);
    value = v[0];
  }
};

} // namespace ribbon
