// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas.hpp  Elimination along whole lines: one thread per line on a device, one SIMD lane per line on a host.
///
/// The Thomas algorithm and its pentadiagonal form (Engeln-Muellges & Uhlig, Numerical Algorithms with C, 1996; Gloster, O Naraigh & Pang,
/// cuPentBatch, 2018, eqs. 8-12) with the factorization kept: a line is one chunk of chunk.hpp. A periodic line ends in P separators that
/// close the ring (bordering, Navon 1987) and still takes two sweeps.
#pragma once

#include <ribbon/chunk.hpp>
#include <ribbon/device/async_copy.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// What closes a periodic line: R z = r with G = R^-1, row-major P x P.
template <class Scalar, int P>
struct alignas(16) RingClosure {
  typename PlainScheme<Scalar, P>::Edge edge;
  Scalar                                R[P * P], G[P * P];

  /// z = G r with one step of refinement.
  KOKKOS_INLINE_FUNCTION void solve(const Scalar (&r)[P], Scalar (&z)[P]) const
  {
    for (int a = 0; a < P; ++a) {
      z[a] = Scalar(0);
      for (int b = 0; b < P; ++b) z[a] += G[a * P + b] * r[b];
    }
    Scalar residual[P], correction[P];
    for (int a = 0; a < P; ++a) {
      residual[a] = r[a];
      for (int b = 0; b < P; ++b) residual[a] -= R[a * P + b] * z[b];
    }
    for (int a = 0; a < P; ++a) {
      correction[a] = Scalar(0);
      for (int b = 0; b < P; ++b) correction[a] += G[a * P + b] * residual[b];
    }
    for (int a = 0; a < P; ++a) z[a] += correction[a];
  }
};

/// Factors of a few matrices: rows of matrix c start at c * interior.
template <class Scalar, int P>
struct SharedFactors {
  using ForwardRow  = typename PlainScheme<Scalar, P>::Forward;
  using BackwardRow = typename PlainScheme<Scalar, P>::Backward;
  const ForwardRow             *forward_rows;
  const BackwardRow            *backward_rows;
  const RingClosure<Scalar, P> *closures;
  const int                    *class_of_line; ///< null: one class
  std::int64_t                  classified = 1, interior = 0;

  struct Line {
    const ForwardRow                  *f;
    const BackwardRow                 *w;
    const RingClosure<Scalar, P>      *c;
    KOKKOS_INLINE_FUNCTION ForwardRow  forward(std::int64_t i) const { return read_only(f + i); }
    KOKKOS_INLINE_FUNCTION BackwardRow backward(std::int64_t i) const { return read_only(w + i); }
    KOKKOS_INLINE_FUNCTION RingClosure<Scalar, P> closure() const { return *c; }
  };
  KOKKOS_INLINE_FUNCTION std::int64_t matrix(std::int64_t line) const { return class_of_line ? class_of_line[line % classified] : 0; }
  KOKKOS_INLINE_FUNCTION Line         line(std::int64_t l) const
  {
    const std::int64_t m = matrix(l);
    return {forward_rows + m * interior, backward_rows + m * interior, closures + m};
  }
};

/// Factors of one matrix per line, line index fastest. Word j of row i: inv, L[P], U[P] and for periodic lines D[P], H[P].
template <class Scalar, int P>
struct PerLineFactors {
  using ForwardRow  = typename PlainScheme<Scalar, P>::Forward;
  using BackwardRow = typename PlainScheme<Scalar, P>::Backward;
  const Scalar *words;
  const Scalar *closures; ///< (line fastest, word of RingClosure)
  std::int64_t  count    = 0;
  bool          periodic = false;

  struct Line {
    const Scalar                     *at, *closure_at;
    std::int64_t                      count;
    bool                              periodic;
    KOKKOS_INLINE_FUNCTION Scalar     word(std::int64_t i, int j) const { return read_only_scalar(at + (i * (periodic ? 1 + 4 * P : 1 + 2 * P) + j) * count); }
    KOKKOS_INLINE_FUNCTION ForwardRow forward(std::int64_t i) const
    {
      ForwardRow row;
      row.inv[0] = word(i, 0);
      for (int q = 0; q < P; ++q) row.L[q] = word(i, 1 + q), row.D[q] = periodic ? word(i, 1 + 2 * P + q) : Scalar(0);
      return row;
    }
    KOKKOS_INLINE_FUNCTION BackwardRow backward(std::int64_t i) const
    {
      BackwardRow row;
      for (int q = 0; q < P; ++q) row.U[q] = word(i, 1 + P + q), row.H[q] = periodic ? word(i, 1 + 3 * P + q) : Scalar(0);
      return row;
    }
    KOKKOS_INLINE_FUNCTION RingClosure<Scalar, P> closure() const
    {
      RingClosure<Scalar, P> c;
      for (int e = 0; e < P * P; ++e) {
        c.edge.Lg[e] = closure_at[e * count];
        c.edge.Us[e] = closure_at[(P * P + e) * count];
        c.R[e]       = closure_at[(2 * P * P + e) * count];
        c.G[e]       = closure_at[(3 * P * P + e) * count];
      }
      return c;
    }
  };
  KOKKOS_INLINE_FUNCTION Line line(std::int64_t l) const { return {words + l % count, closures + l % count, count, periodic}; }
};

/// One thread per line: 2 reads and 2 writes of the right-hand side. Rows are read in groups, so that several reads are under way although
/// each row waits for the one before.
template <class Scalar, int P, class Factors>
struct ThomasLineKernel {
  static constexpr int group = 8;
  Factors              factors;
  const Scalar        *b;
  Scalar              *x;
  LineSet              in, out;
  bool                 periodic;
  int                  shift; ///< threads before line 0, so that neighbouring threads begin at a multiple of 256 bytes

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

/// One thread per line where the rows of a line lie side by side: blocks of rows of 32 lines pass through scratch, so that neighbouring
/// threads touch neighbouring memory, and the next block is under way while one is worked on.
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

  static std::size_t scratch(bool is_virtual) { return device::align16(2 * lanes * pitch * sizeof(Scalar)) + (is_virtual ? lanes * sizeof(State) : 0); }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t           first = team.league_rank() * lanes, left = in.lines() - first, m = in.rows - (periodic ? P : 0), blocks = (in.rows + block - 1) / block;
    const int                    count = static_cast<int>(left < lanes ? left : lanes);
    Scalar                      *tile  = reinterpret_cast<Scalar *>(team.scratch());
    device::Threads<State, Team> threads(team, team.scratch() + device::align16(2 * lanes * pitch * sizeof(Scalar)));
    const auto                   at   = [&](std::int64_t k) { return tile + (k & 1) * (lanes * pitch); };
    const auto                   load = [&](int v, const Scalar *from, const LineSet &set, std::int64_t k) {
      const std::int64_t row = k * block + v;
      if (k >= 0 && k < blocks && row < set.rows)
        for (int l = 0; l < count; ++l) device::async_copy(at(k) + l * pitch + v, from + set.begin(first + l) + row * set.row_stride);
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
    for (std::int64_t k = 0; k < blocks; ++k) {
      threads.for_each([&](int v, State &) {
        load(v, b, in, k + 1);
        device::async_wait(1);
      });
      team.barrier();
      threads.for_each([&](int v, State &s) {
        if (v >= count) return;
        const auto         line = factors.line(first + v);
        Scalar            *row  = at(k) + v * pitch;
        const std::int64_t base = k * block;
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
      team.barrier();
      threads.for_each([&](int v, State &) { store(v, k); });
      team.barrier();
    }
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
    for (std::int64_t k = blocks - 1; k >= 0; --k) {
      threads.for_each([&](int v, State &) {
        load(v, x, out, k - 1);
        device::async_wait(1);
      });
      team.barrier();
      threads.for_each([&](int v, State &s) {
        if (v >= count) return;
        const auto         line = factors.line(first + v);
        Scalar            *row  = at(k) + v * pitch;
        const std::int64_t base = k * block;
        for (int j = block - group; j >= 0; j -= group) {
          if (base + j + group <= m) {
            RIBBON_UNROLL
            for (int e = group - 1; e >= 0; --e) backward(line, base + j + e, s, row[j + e]);
          } else
            for (int e = group - 1; e >= 0; --e)
              if (base + j + e < m) backward(line, base + j + e, s, row[j + e]);
        }
      });
      team.barrier();
      threads.for_each([&](int v, State &) { store(v, k); });
      team.barrier();
    }
  }

  KOKKOS_FUNCTION static void forward(const typename Factors::Line &line, std::int64_t i, State &s, Scalar &value)
  {
    Scalar f[1] = {value}, g[1];
    Scheme::forward(line.forward(i), f, s.sweep, g);
    value = g[0];
  }
  KOKKOS_FUNCTION static void backward(const typename Factors::Line &line, std::int64_t i, State &s, Scalar &value)
  {
    Scalar g[1] = {value}, v[1];
    Scheme::backward(line.backward(i), g, s.z, s.w, v);
    value = v[0];
  }
};

/// A tile of Lanes lines in scratch, row by row: the lanes are the SIMD direction. Lines are read once and written once.
template <class Scalar, int P, int Lanes, class Factors>
struct ThomasTileKernel {
  static constexpr int max_threads = 1;
  Factors              factors;
  const Scalar        *b;
  Scalar              *x;
  LineSet              in, out;
  bool                 periodic;

  static std::size_t scratch(std::int64_t rows) { return static_cast<std::size_t>(rows) * Lanes * sizeof(Scalar); }

  /// Calls move(lane, row) over a tile in an order that suits the memory of `set`.
  template <class Move>
  KOKKOS_FUNCTION static void for_tile(const LineSet &set, int lanes, const Move &move)
  {
    constexpr std::int64_t block = 32; // rows of a tile that stay in the first cache while it is transposed
    if (set.row_stride < set.stride0)
      for (std::int64_t i = 0; i < set.rows; i += block)
        for (int l = 0; l < lanes; ++l)
          for (std::int64_t k = i; k < i + block && k < set.rows; ++k) move(l, k);
    else
      for (std::int64_t i = 0; i < set.rows; ++i)
        for (int l = 0; l < lanes; ++l) move(l, i);
  }

  /// Both sweeps for lanes with coefficient rows forward(i, lane), ...; Uniform: the lane is ignored and rows are read once for all.
  template <bool Uniform, class Line>
  KOKKOS_FUNCTION static void sweep(const Line *line, int lanes, std::int64_t m, bool periodic, Scalar *tile)
  {
    Scalar g[P + 1][Lanes] = {}, y_first[P][Lanes] = {}, z[P][Lanes] = {};
    for (std::int64_t i = 0; i < m; ++i) {
      Scalar    *t   = tile + i * Lanes;
      const auto one = line[0].forward(i);
      for (int l = 0; l < (Uniform ? Lanes : lanes); ++l) {
        const auto   row = Uniform ? one : line[l].forward(i);
        const Scalar f   = t[l];
        Scalar       v   = row.inv[0] * f;
        for (int q = 0; q < P; ++q) {
          if (periodic) y_first[q][l] += row.D[q] * f;
          v += row.L[q] * g[q][l];
        }
        for (int q = P - 1; q > 0; --q) g[q][l] = g[q - 1][l];
        t[l] = g[0][l] = v;
      }
    }
    Scalar w[P][Lanes] = {};
    if (periodic)
      for (int l = 0; l < lanes; ++l) {
        const auto                            &at      = line[Uniform ? 0 : l];
        const auto                             closure = at.closure();
        typename PlainScheme<Scalar, P>::Sweep done;
        Scalar                                 f_sep[P], own[P], left[P], zl[P];
        for (int a = 0; a < P; ++a) done.g.v[a] = g[a][l], done.y_first[a] = y_first[a][l], f_sep[a] = tile[(m + a) * Lanes + l];
        PlainScheme<Scalar, P>::finish(closure.edge, done, f_sep, own, left);
        for (int a = 0; a < P; ++a) own[a] -= left[a];
        closure.solve(own, zl);
        for (int a = 0; a < P; ++a) tile[(m + a) * Lanes + l] = w[a][l] = z[a][l] = zl[a];
      }
    for (std::int64_t i = m - 1; i >= 0; --i) {
      Scalar    *t   = tile + i * Lanes;
      const auto one = line[0].backward(i);
      for (int l = 0; l < (Uniform ? Lanes : lanes); ++l) {
        const auto row = Uniform ? one : line[l].backward(i);
        Scalar     v   = t[l];
        for (int q = 0; q < P; ++q) {
          if (periodic) v -= row.H[q] * z[q][l];
          v += row.U[q] * w[q][l];
        }
        for (int q = P - 1; q > 0; --q) w[q][l] = w[q - 1][l];
        t[l] = w[0][l] = v;
      }
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t first = team.league_rank() * Lanes, m = in.rows - (periodic ? P : 0);
    const int          lanes = static_cast<int>(in.lines() - first < Lanes ? in.lines() - first : Lanes);
    Scalar            *tile  = reinterpret_cast<Scalar *>(team.scratch());
    using Line               = typename Factors::Line;
    Line         line[Lanes] = {};
    std::int64_t from[Lanes] = {}, to[Lanes] = {};
    bool         uniform = std::is_same_v<Factors, SharedFactors<Scalar, P>>;
    for (int l = 0; l < lanes; ++l) {
      line[l] = factors.line(first + l);
      from[l] = in.begin(first + l);
      to[l]   = out.begin(first + l);
      if constexpr (std::is_same_v<Factors, SharedFactors<Scalar, P>>) uniform = uniform && line[l].f == line[0].f;
    }
    if (lanes < Lanes)
      for (std::int64_t i = 0; i < in.rows * Lanes; ++i) tile[i] = Scalar(0);
    for_tile(in, lanes, [&](int l, std::int64_t i) { tile[i * Lanes + l] = b[from[l] + i * in.row_stride]; });
    if (uniform) sweep<true>(line, lanes, m, periodic, tile);
    else sweep<false>(line, lanes, m, periodic, tile);
    for_tile(out, lanes, [&](int l, std::int64_t i) { x[to[l] + i * out.row_stride] = tile[i * Lanes + l]; });
  }
};

/// Solves all lines; `staged` asks for blocks of rows through scratch, which a device takes where lines are contiguous. Asynchronous on exec;
/// in place where b == x and both layouts agree.
template <class Exec, class Scalar, int P, class Factors>
void thomas_solve(const Exec &exec, const Factors &factors, bool periodic, bool staged, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out)
{
  if (in.unknowns() == 0) return;
  const bool contiguous = std::abs(in.row_stride) < std::abs(in.stride0) && std::abs(out.row_stride) < std::abs(out.stride0);
  if (staged || (is_device_space<Exec> && contiguous && in.rows >= 16 && in.lines() > 1)) {
    using Staged = ThomasStagedKernel<Scalar, P, Factors>;
    device::launch(exec, "ribbon::thomas", {(in.lines() + Staged::lanes - 1) / Staged::lanes, Staged::lanes, Staged::scratch(!is_device_space<Exec>)}, Staged{factors, b, x, in, out, periodic});
    return;
  }
  auto per_thread = [&](int shift) {
    Kokkos::parallel_for("ribbon::thomas", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, in.lines() + shift), ThomasLineKernel<Scalar, P, Factors>{factors, b, x, in, out, periodic, shift});
  };
  if constexpr (is_device_space<Exec>) {
    per_thread(out.stride0 == 1 ? static_cast<int>(reinterpret_cast<std::uintptr_t>(x + out.offset) / sizeof(Scalar) % 32) : 0);
  } else {
    constexpr int lanes        = 16;
    using Wide                 = ThomasTileKernel<Scalar, P, lanes, Factors>;
    using Single               = ThomasTileKernel<Scalar, P, 1, Factors>;
    constexpr std::size_t most = std::size_t(64) << 20; // longer lines go one by one
    if (in.lines() > 1 && Wide::scratch(in.rows) <= most) device::launch(exec, "ribbon::thomas", {(in.lines() + lanes - 1) / lanes, 1, Wide::scratch(in.rows)}, Wide{factors, b, x, in, out, periodic});
    else if (Single::scratch(in.rows) <= most) device::launch(exec, "ribbon::thomas", {in.lines(), 1, Single::scratch(in.rows)}, Single{factors, b, x, in, out, periodic});
    else per_thread(0);
  }
}

} // namespace ribbon
