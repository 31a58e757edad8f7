// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas.hpp  Elimination along whole lines: one thread per line on a device, one SIMD lane per line
///   on a host.
///
/// The Thomas algorithm and its pentadiagonal form (Engeln-Muellges & Uhlig, Numerical Algorithms with C,
/// 1996; Gloster, O Naraigh & Pang, cuPentBatch, 2018, eqs. 8-12) with a stored factorization: a line is
/// one chunk of chunk.hpp. A periodic line ends in P separators that close the ring (bordering, Navon 1987)
/// and still needs only two sweeps.
#pragma once

#include <ribbon/algorithm/whole_lines/thomas_factors.hpp>
#include <ribbon/algorithm/whole_lines/thomas_staged.hpp>
#include <ribbon/algorithm/whole_lines/thomas_tile.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// One thread per line: 2 reads and 2 writes of the right-hand side. Rows are read in groups, so that
/// several reads are in flight although each row waits for the previous one.
template <class Scalar, int P, class Factors>
struct ThomasLineKernel {
  static constexpr int group = 8;
  Factors              factors;
  const Scalar        *b;
  Scalar              *x;
  LineSet              in, out;
  bool                 periodic;
  /// threads before line 0, so that neighbouring threads begin at a multiple of 256 bytes
  int shift;

  KOKKOS_FUNCTION void operator()(const std::int64_t thread) const
  {
    const std::int64_t l = thread - shift;
    if (l < 0) return;
    const auto         line = factors.line(l);
    const Scalar      *f    = b + in.begin(l);
    Scalar            *to   = x + out.begin(l);
    const std::int64_t m    = in.rows - (periodic ? P : 0);
    using Scheme            = PlainScheme<Scalar, P>;
    typename Scheme::Sweep  sweep;
    typename Scheme::Window w;
    Scalar                  z[P] = {}, row[group][1] = {}, v[1];
    std::int64_t            i = 0;
    for (; i + group <= m; i += group) {
      RIBBON_UNROLL
      for (int k = 0; k < group; ++k) row[k][0] = f[(i + k) * in.row_stride];
      RIBBON_UNROLL
      for (int k = 0; k < group; ++k) {
        Scheme::forward(line.forward(i + k), row[k], sweep, v);
        to[(i + k) * out.row_stride] = v[0];
      }
    }
    for (; i < m; ++i) {
      row[0][0] = f[i * in.row_stride];
      Scheme::forward(line.forward(i), row[0], sweep, v);
      to[i * out.row_stride] = v[0];
    }
    if (periodic) {
      const auto closure = line.closure();
      Scalar     f_sep[P], own[P], left[P];
      for (int a = 0; a < P; ++a) f_sep[a] = f[(m + a) * in.row_stride];
      Scheme::finish(closure.edge, sweep, f_sep, own, left);
      for (int a = 0; a < P; ++a) own[a] -= left[a];
      closure.solve(own, z);
      for (int a = 0; a < P; ++a) to[(m + a) * out.row_stride] = w.v[a] = z[a];
    }
    for (i = m - 1; i + 1 >= group; i -= group) {
      RIBBON_UNROLL
      for (int k = 0; k < group; ++k) row[k][0] = to[(i - k) * out.row_stride];
      RIBBON_UNROLL
      for (int k = 0; k < group; ++k) {
        Scheme::backward(line.backward(i - k), row[k], z, w, v);
        to[(i - k) * out.row_stride] = v[0];
      }
    }
    for (; i >= 0; --i) {
      row[0][0] = to[i * out.row_stride];
      Scheme::backward(line.backward(i), row[0], z, w, v);
      to[i * out.row_stride] = v[0];
    }
  }
};

/// Longest lines of a tile of one lane.
constexpr std::int64_t most_rows_of_tiles(int bytes_of_scalar)
{
  return (std::int64_t(64) << 20) / bytes_of_scalar - 64;
}

/// Solves all lines on a host, in tiles of several lines. False: lines are too long, and nothing was done.
template <class Exec, class Scalar, int P, class Factors, class Input = GivenLines>
bool thomas_solve_tiles(const Exec &exec, const Factors &factors, bool periodic, const Scalar *b,
                        const LineSet &in, Scalar *x, const LineSet &out, const Input &input = {})
{
  constexpr int line  = 64 / static_cast<int>(sizeof(Scalar)); // of a cache line
  const auto    tiles = [&](auto lanes) {
    using Kernel = ThomasTileKernel<Scalar, P, lanes(), Factors, Input>;
    if ((in.rows + input.more_rows()) * lanes() > most_rows_of_tiles(sizeof(Scalar))) return false;
    device::launch(exec, "ribbon::thomas",
                      {Kernel::teams(in), 1, Kernel::scratch(in.rows + input.more_rows())},
                      Kernel{factors, b, x, in, out, periodic, input});
    return true;
  };
  // Two cache lines per row, so that the state of a sweep fits the registers. Four if this uses memory
  // better: for one matrix per line, and for rows that share cache lines with those of the next tile.
  const bool whole_lines =
    out.row_stride == 1 ||
    (out.row_stride % line == 0 && reinterpret_cast<std::uintptr_t>(x + out.offset) % 64 == 0);
  if constexpr (Factors::shared)
    if (in.lines() > 1 && whole_lines && tiles(std::integral_constant<int, 2 * line>{})) return true;
  if (in.lines() > 1 && tiles(std::integral_constant<int, (P > 2 ? 2 : 4) * line>{})) return true;
  return tiles(std::integral_constant<int, 1>{});
}

/// Solves all lines. With `staged`, blocks of rows pass through scratch if lines are contiguous on a
/// device. Asynchronous on exec. In place if b == x and both layouts agree.
template <class Exec, class Scalar, int P, class Factors>
void thomas_solve(const Exec &exec, const Factors &factors, bool periodic, bool staged, const Scalar *b,
                  const LineSet &in, Scalar *x, const LineSet &out)
{
  if (in.unknowns() == 0) return;
  const bool contiguous =
    std::abs(in.row_stride) < std::abs(in.stride0) && std::abs(out.row_stride) < std::abs(out.stride0);
  if constexpr (P <= 2)
    if (staged || (is_device_space<Exec> && contiguous && in.rows >= 16 && in.lines() > 1)) {
      using Staged = ThomasStagedKernel<Scalar, P, Factors>;
      device::launch(exec, "ribbon::thomas",
                     {(in.lines() + Staged::lanes - 1) / Staged::lanes, Staged::lanes,
                      Staged::scratch(!is_device_space<Exec>)},
                     Staged{factors, b, x, in, out, periodic});
      return;
    }
  auto per_thread = [&](int shift) {
    Kokkos::parallel_for("ribbon::thomas", indices(exec, in.lines() + shift),
                         ThomasLineKernel<Scalar, P, Factors>{factors, b, x, in, out, periodic, shift});
  };
  if constexpr (is_device_space<Exec>) {
    per_thread(out.stride0 == 1
                 ? static_cast<int>(reinterpret_cast<std::uintptr_t>(x + out.offset) / sizeof(Scalar) % 32)
                 : 0);
  } else if (!thomas_solve_tiles<Exec, Scalar, P>(exec, factors, periodic, b, in, x, out)) per_thread(0);
}

} // namespace ribbon
