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

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t first = team.league_rank() * lanes, left = in.lines() - first,
                       m = in.rows - (periodic ? P : 0), blocks = (in.rows + block - 1) / block;
    const int                    count = static_cast<int>(left < lanes ? left : lanes);
    Scalar                      *tile  = reinterpret_cast<Scalar *>(team.scratch());
    device::Threads<State, Team> threads(team, team.scratch() +
                                                 device::align16(2 * lanes * pitch * sizeof(Scalar)));
    const auto                   at   = [&](std::int64_t k) { return tile + (k & 1) * (lanes * pitch); };
    const auto                   load = [&](int v, const Scalar *from, const LineSet &set, std::int64_t k) {
      const std::int64_t row = k * block + v;
      if (k >= 0 && k < blocks && row < set.rows)
        for (int l = 0; l < count; ++l)
          device::async_copy(at(k) + l * pitch + v, from + set.begin(first + l) + row * set.row_stride);
      device::async_commit();
    };
    const auto store = [&](int v, std::int64_t k) {
      const std::int64_t row = k * block + v;
      if (row < m)
        for (int l = 0; l < count; ++l) x[out.begin(first + l) + row * out.row_stride] = at(k)[l * pitch + v];
    };
    threads.for_each([&](int v, State &s) {
      s = State{};
      load(v, b, in, 0);
    });
    // a block of rows in scratch: awaited, swept while the next one (k + step) is in flight, and stored
    const auto pass = [&](std::int64_t k, int step, const Scalar *from, const LineSet &set,
                          const auto &sweep) {
      threads.for_each([&](int v, State &) {
        load(v, from, set, k + step);
        device::async_wait(1);
      });
      team.barrier();
      threads.for_each([&](int v, State &s) {
        if (v < count) sweep(factors.line(first + v), s, at(k) + v * pitch, k * block);
      });
      team.barrier();
      threads.for_each([&](int v, State &) { store(v, k); });
      team.barrier();
    };
    for (std::int64_t k = 0; k < blocks; ++k)
      pass(k, 1, b, in, [&](const auto &line, State &s, Scalar *row, std::int64_t base) {
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
      });
    threads.for_each([&](int v, State &s) {
      if (periodic && v < count) {
        const auto closure = factors.line(first + v).closure();
        Scalar     own[P], other[P];
        Scheme::finish(closure.edge, s.sweep, s.f_sep, own, other);
        for (int a = 0; a < P; ++a) own[a] -= other[a];
        closure.solve(own, s.z);
        for (int a = 0; a < P; ++a) x[out.begin(first + v) + (m + a) * out.row_stride] = s.w.v[a] = s.z[a];
      }
      load(v, x, out, blocks - 1);
    });
    for (std::int64_t k = blocks - 1; k >= 0; --k)
      pass(k, -1, x, out, [&](const auto &line, State &s, Scalar *row, std::int64_t base) {
        for (int j = block - group; j >= 0; j -= group) {
          if (base + j + group <= m) {
            RIBBON_UNROLL
            for (int e = group - 1; e >= 0; --e) backward(line, base + j + e, s, row[j + e]);
          } else
            for (int e = group - 1; e >= 0; --e)
              if (base + j + e < m) backward(line, base + j + e, s, row[j + e]);
        }
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
