// SPDX-License-Identifier: BSD-2-Clause
/// @file kernel.hpp  Time steps u <- A^-1 (B u + D p(u) + g) whose lines wait in registers.
///
/// A team holds `lanes` lines, divided into chunks as in the one-pass kernel (one_pass.hpp). A virtual thread
/// keeps the rows of its chunk in registers from the first step to the last. A step:
///
///     publish   the first and the last W rows of the chunk, in scratch
///     barrier
///     forward   rows of B u + D p(u) + g from a window of 2 W + 1 rows; forward sweep; right-hand sides of
///               the separators, in scratch
///     barrier
///     reduced   separators of the chunk and of its left neighbour
///     backward  backward sweep: rows of the new u, in registers
#pragma once

#include <ribbon/algorithm/one_pass/tile.hpp>
#include <ribbon/line_stepper.hpp>
#include <ribbon/line_stepper/rows.hpp>

namespace ribbon {

/// Blocks by which right-hand sides of the reduced system enter the separators of a chunk and of its left
/// neighbour. Row-major, 16-byte aligned for wide loads.
template <class Scalar, int S>
struct alignas(16) SeparatorBlocks {
  Scalar own[S * S] = {}, left[S * S] = {};
};

/// @tparam W         half-bandwidth of B and D
/// @tparam Function  p, or NoFunction
/// @tparam Energy    of two neighbouring rows, or NoEnergy
template <class Scheme, int slots_, CoefficientSource source, int W, class Function, class Energy>
struct StepKernel : OnePassTile<Scheme, slots_, 0, source, false, 1,
                                StepRows<typename Scheme::Scalar, W, is_given<Function>>> {
  using Rows = StepRows<typename Scheme::Scalar, W, is_given<Function>>;
  using Tile = OnePassTile<Scheme, slots_, 0, source, false, 1, Rows>;
  using Tile::shape, Tile::b, Tile::x, Tile::in, Tile::out, Tile::S, Tile::rows, Tile::interior, Tile::lines,
    Tile::slots;
  using typename Tile::Scalar, typename Tile::Piece, typename Tile::State, typename Tile::Block,
    typename Tile::RegularChunk;
  /// limits the registers to 128
  static constexpr int max_threads  = 512;
  static constexpr int teams_beside = 0;

  using Blocks = SeparatorBlocks<Scalar, Scheme::separators>;

  typename Rows::Row stencil;    ///< of the regular chunks
  const Blocks      *separators; ///< (class, chunk, right-hand side), from that of first_of() on
  int                terms;      ///< of a sum for separators
  Function           function;
  Energy             energy;
  int                steps;
  bool               through_scratch; ///< lines whose rows are neighbours in memory
  const Scalar      *g;
  int                g_steps;
  LineSums<Scalar>   sums;

  /// Scratch of a team. Contiguous lines pass through it before the first step and after the last.
  struct Scratch {
    Scalar *r_own, *r_left;
    Scalar *first, *last; ///< rows at the beginning and at the end of every chunk, (chunk, row, lane)
    Scalar *parts;        ///< of sums, (quantity, chunk, lane)
    Scalar *tile;         ///< (lane, row)
    int     pitch;        ///< of a lane
  };
  KOKKOS_FUNCTION Scratch places(char *memory, int threads) const
  {
    Scratch to;
    to.r_own  = reinterpret_cast<Scalar *>(memory);
    to.r_left = to.r_own + S * threads;
    to.first = to.r_left + S * threads, to.last = to.first + W * threads;
    to.parts = to.last + W * threads;
    to.tile  = to.r_own;
    to.pitch = static_cast<int>(in.rows) | 1; // threads of a warp use different banks
    return to;
  }
  /// Bytes of scratch before the states of virtual threads.
  KOKKOS_FUNCTION static std::size_t exchanged(const OnePassShape &s, std::int64_t rows, bool contiguous)
  {
    const auto threads = static_cast<std::size_t>(s.threads()),
               words   = (2 * S + 2 * W + LineSums<Scalar>::quantities) * threads,
               tile    = contiguous ? static_cast<std::size_t>((rows | 1) * s.lanes()) : std::size_t(0);
    return device::align16((words > tile ? words : tile) * sizeof(Scalar));
  }
  static std::size_t scratch(const OnePassShape &s, std::int64_t rows, bool contiguous, bool is_virtual)
  {
    return exchanged(s, rows, contiguous) +
           (is_virtual ? static_cast<std::size_t>(s.threads()) * sizeof(State) : 0);
  }

  /// The chunk of a virtual thread.
  struct Spot {
    int lane, chunk, pad, cls;
  };
  KOKKOS_FUNCTION Spot spot(std::int64_t team, int v) const
  {
    Spot p{v & (shape.lanes() - 1), v >> shape.lane_bits, 0, 0};
    p.pad = slots - shape.split.size(p.chunk);
    if constexpr (source == CoefficientSource::classes) {
      const std::int64_t line = team * shape.lanes() + p.lane - this->shift;
      p.cls = this->class_of_line[(line < 0 ? 0 : line < lines ? line : lines - 1) % this->classified];
    }
    return p;
  }
  /// The chunk with the first right-hand side that enters the separators of a chunk and of its left
  /// neighbour.
  KOKKOS_FUNCTION static int first_of(const OnePassShape &shape, int chunk)
  {
    const int left = shape.left_of(chunk);
    return shape.window_begin(left < 0 ? chunk : left);
  }

  /// Calls f(coefficients) with those of a chunk.
  template <class F>
  KOKKOS_FUNCTION void with_block(const Spot &p, const F &f) const
  {
    if constexpr (source == CoefficientSource::regular)
      if (p.chunk >= this->regular_begin && p.chunk < this->regular_end)
        return f(RegularBlock<RegularChunk>{this->regular});
    f(MemoryBlock<Block>{this->blocks + (p.cls * shape.split.chunks + p.chunk)});
  }
  KOKKOS_FUNCTION int place(int chunk, int e, int count, int lane) const
  {
    return ((chunk * count + e) << shape.lane_bits) + lane;
  }
  /// Neighbours of a chunk; -1 at the ends of an open line.
  KOKKOS_FUNCTION int right_of(int chunk) const
  {
    return chunk + 1 < shape.split.chunks ? chunk + 1 : shape.ring ? 0 : -1;
  }
  /// The row of slot k; that of the first row for empty slots.
  KOKKOS_FUNCTION int row_of(const Spot &p, int k) const
  {
    return shape.split.begin(p.chunk) + (k > p.pad ? k - p.pad : 0);
  }

  template <class Team, class Threads, class Each>
  KOKKOS_FUNCTION void load(const Team &team, Threads &threads, const Each &each, const Scratch &at) const
  {
    const int n = static_cast<int>(in.rows);
    if (through_scratch) {
      const std::int64_t first = team.league_rank() * shape.lanes();
      threads.for_each([&](int v, State &) {
        for (int lane = v >> shape.lane_bits; lane < shape.lanes(); lane += shape.split.chunks)
          for (int i = v & (shape.lanes() - 1); i < n; i += shape.lanes())
            at.tile[lane * at.pitch + i] = first + lane < lines ? b[in(first + lane, i)] : Scalar(0);
      });
      team.barrier();
    }
    each([&](const Piece &p, State &s) {
      const auto    stride = through_scratch ? std::int64_t(1) : in.row_stride;
      const Scalar *from   = (through_scratch ? at.tile + p.lane * at.pitch : b + in.begin(p.line)) +
                           shape.split.begin(p.chunk) * stride;
      RIBBON_UNROLL
      for (int k = 0; k < slots; ++k) {
        s.g[k] = through_scratch ? *from : device::streaming_load(from);
        from += k >= p.pad ? stride : 0;
      }
    });
    if (through_scratch) team.barrier();
  }

  template <class Team, class Threads, class Each>
  KOKKOS_FUNCTION void store(const Team &team, Threads &threads, const Each &each, const Scratch &at) const
  {
    const int n = static_cast<int>(in.rows);
    if (through_scratch) team.barrier(); // others may still read separators
    each([&](const Piece &p, State &s) {
      const auto stride = through_scratch ? std::int64_t(1) : out.row_stride;
      Scalar    *to     = (through_scratch ? at.tile + p.lane * at.pitch : x + out.begin(p.line)) +
                   shape.split.begin(p.chunk) * stride;
      const bool written = through_scratch || p.active;
      RIBBON_UNROLL
      for (int k = 0; k < slots; ++k)
        if (written && k >= p.pad) *to = s.g[k], to += stride;
    });
    if (!through_scratch) return;
    team.barrier();
    const std::int64_t first = team.league_rank() * shape.lanes();
    threads.for_each([&](int v, State &) {
      for (int lane = v >> shape.lane_bits; lane < shape.lanes() && first + lane < lines;
           lane += shape.split.chunks)
        for (int i = v & (shape.lanes() - 1); i < n; i += shape.lanes())
          x[out(first + lane, i)] = at.tile[lane * at.pitch + i];
    });
  }

  /// Writes the rows that neighbouring chunks need.
  KOKKOS_FUNCTION void publish(const Spot &p, const State &s, const Scratch &at) const
  {
    Scalar *const first = at.first + place(p.chunk, 0, W, p.lane), *const last =
                                                                     at.last + place(p.chunk, 0, W, p.lane);
    RIBBON_UNROLL
    for (int j = 0; j < W; ++j) last[j << shape.lane_bits] = s.g[slots - W + j];
    if (p.pad == 0) {
      RIBBON_UNROLL
      for (int j = 0; j < W; ++j) first[j << shape.lane_bits] = s.g[j];
    } else {
      RIBBON_UNROLL
      for (int k = 0; k < slots; ++k)
        if (k >= p.pad && k < p.pad + W) first[(k - p.pad) << shape.lane_bits] = s.g[k];
    }
  }

  /// The window of the first row, without its last place, and the rows behind the chunk.
  KOKKOS_FUNCTION void open_window(const Spot &p, const State &s, const Scratch &at,
                                   typename Rows::Window &window, Scalar (&behind)[W]) const
  {
    const int n = static_cast<int>(in.rows), begin = shape.split.begin(p.chunk),
              left = shape.left_of(p.chunk), right = right_of(p.chunk);
    const Scalar *const        first = at.first + place(right < 0 ? 0 : right, 0, W, p.lane),
                        *const last  = at.last + place(left < 0 ? 0 : left, 0, W, p.lane);
    RIBBON_UNROLL
    for (int j = 0; j < W; ++j) {
      const int before = begin - W + j;
      window.set(j, left >= 0 ? last[j << shape.lane_bits] : Scalar(0), left >= 0, function,
                 before < 0 ? before + n : before);
      window.set(W + j, s.g[j], true, function, row_of(p, j));
      behind[j] = right >= 0 ? first[j << shape.lane_bits] : Scalar(0);
    }
  }

  template <bool with_g, class Coefficients>
  KOKKOS_FUNCTION void forward(const Spot &p, State &s, const Coefficients &block, const Scratch &at,
                               [[maybe_unused]] const Scalar *added) const
  {
    constexpr int given = Scheme::forward_rows(rows);
    const int     n = static_cast<int>(in.rows), end = shape.split.begin(p.chunk) + shape.split.size(p.chunk);
    const bool    has_right = right_of(p.chunk) >= 0;
    typename Scheme::Sweep sweep;
    typename Rows::Window  window;
    Scalar                 f_sep[S] = {}, behind[W];
    open_window(p, s, at, window, behind);
    RIBBON_UNROLL
    for (int k = 0; k < rows; ++k) {
      const int next = end + k + W - rows;
      if (k + W < rows) window.set(2 * W, s.g[k + W < rows ? k + W : 0], true, function, row_of(p, k + W));
      else
        window.set(2 * W, behind[k + W < rows ? 0 : k + W - rows], has_right, function,
                   next < n ? next : next - n);
      Scalar f[1], value[1];
      if constexpr (Coefficients::full) f[0] = window.times(stencil);
      else f[0] = window.times(block.product(k));
      if constexpr (with_g)
        if (Coefficients::full || k >= p.pad) f[0] += read_only_scalar(&added[row_of(p, k)]);
      window.move(!Coefficients::full && k < p.pad);
      if (k < given) {
        Scheme::forward(block.forward(k < given ? k : 0), f, sweep, value);
        s.g[k] = value[0];
      } else f_sep[k < given ? 0 : k - given] = f[0];
    }
    Scalar own[S], left[S];
    Scheme::finish(block.edge(), sweep, f_sep, own, left);
    // what a chunk subtracts from the equations of its left neighbour is stored with these
    const int     left_of = p.chunk > 0 ? p.chunk - 1 : shape.split.chunks - 1;
    const bool    coupled = shape.ring || p.chunk > 0;
    Scalar *const to      = at.r_own + place(p.chunk, 0, S, p.lane), *const beside =
                                                                  at.r_left + place(left_of, 0, S, p.lane);
    for (int a = 0; a < S; ++a)
      to[a << shape.lane_bits] = own[a], beside[a << shape.lane_bits] = coupled ? left[a] : Scalar(0);
  }

  template <class Coefficients>
  KOKKOS_FUNCTION void backward(State &s, const Coefficients &block) const
  {
    typename Scheme::Window w;
    Scheme::start(s.z[0], w);
    RIBBON_UNROLL
    for (int k = rows - 1; k >= 0; --k) {
      if (k >= interior) {
        s.g[k] = s.z[0][k >= interior ? k - interior : 0];
        continue;
      }
      const Scalar value[1] = {s.g[k]};
      Scalar       v[1];
      Scheme::backward(block.backward(k < interior ? k : 0), value, s.z[1], w, v);
      s.g[k] = v[0];
    }
  }

  /// Sums over the rows of a chunk; `index` counts the sums of a call.
  template <class Team, class Each>
  KOKKOS_FUNCTION void add_up(const Team &team, const Each &each, const Scratch &at, int index) const
  {
    constexpr int quantities = LineSums<Scalar>::quantities;
    const int     T          = shape.split.chunks;
    each([&](const Spot &p, State &s) {
      Scalar part[quantities] = {};
      RIBBON_UNROLL
      for (int k = 0; k < slots; ++k) {
        if (k < p.pad) continue;
        part[0] += s.g[k];
        add_product(part[1], s.g[k], s.g[k]);
        if constexpr (is_given<Energy>) {
          const int    right = right_of(p.chunk);
          const Scalar next  = k + 1 < slots ? s.g[k + 1 < slots ? k + 1 : 0]
                               : right >= 0  ? at.first[place(right, 0, W, p.lane)]
                                             : s.g[k];
          part[2] += energy(s.g[k], next, row_of(p, k));
        }
      }
      for (int q = 0; q < quantities; ++q) at.parts[place(q, p.chunk, T, p.lane)] = part[q];
    });
    team.barrier();
    each([&](const Spot &p, State &) {
      const std::int64_t line = team.league_rank() * shape.lanes() + p.lane - this->shift;
      for (int q = 0; p.chunk == 0 && line >= 0 && line < lines && q < quantities; ++q) {
        Scalar sum(0);
        for (int c = 0; c < T; ++c) sum += at.parts[place(q, c, T, p.lane)];
        sums.values[(static_cast<std::int64_t>(index) * quantities + q) * lines + line] = sum;
      }
    });
  }

  /// The separators of a chunk and of its left neighbour.
  KOKKOS_FUNCTION void find_separators(const Spot &p, State &s, const Scratch &at) const
  {
    const int     T = shape.split.chunks, stride = S << shape.lane_bits, threads = T << shape.lane_bits;
    const Blocks *G = separators + (p.cls * T + p.chunk) * terms;
    int           q = first_of(shape, p.chunk);
    const Scalar *r = at.r_own + place(q, 0, S, p.lane);
    for (int a = 0; a < S; ++a) s.z[0][a] = s.z[1][a] = Scalar(0);
    for (int w = 0; w < terms; ++w) {
      const Blocks block = read_only(&G[w]);
      for (int e = 0; e < S; ++e) {
        const Scalar sum = r[e << shape.lane_bits] - r[(e << shape.lane_bits) + S * threads];
        for (int a = 0; a < S; ++a)
          add_product(s.z[0][a], block.own[a * S + e], sum),
            add_product(s.z[1][a], block.left[a * S + e], sum);
      }
      ++q, r += stride;
      if (q == T) q = 0, r -= T * stride;
    }
  }

  template <class Team, class Each>
  KOKKOS_FUNCTION void step(const Team &team, const Each &each, const Scratch &at, int number) const
  {
    const Scalar *added = g ? g + number % g_steps * in.rows : nullptr;
    each([&](const Spot &p, State &s) {
      with_block(p, [&](const auto &block) {
        if (g) forward<true>(p, s, block, at, added);
        else forward<false>(p, s, block, at, added);
      });
    });
    team.barrier();
    each([&](const Spot &p, State &s) {
      find_separators(p, s, at);
      with_block(p, [&](const auto &block) { backward(s, block); });
    });
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const Scratch                at = places(team.scratch(), team.size());
    device::Threads<State, Team> threads(team, team.scratch() + exchanged(shape, in.rows, through_scratch));
    const auto                   with_line = [&](const auto &phase) {
      threads.for_each([&](int v, State &s) { phase(this->piece(team, v, nullptr), s); });
    };
    const auto each = [&](const auto &phase) {
      threads.for_each([&](int v, State &s) { phase(spot(team.league_rank(), v), s); });
    };
    load(team, threads, with_line, at);
    for (int done = 0;; ++done) {
      const bool summed = sums.values && done > 0 && done % sums.every == 0;
      if (done == steps && !summed) break;
      each([&](const Spot &p, State &s) { publish(p, s, at); });
      team.barrier();
      if (summed) add_up(team, each, at, done / sums.every - 1);
      if (done == steps) break;
      step(team, each, at, done);
    }
    store(team, threads, with_line, at);
  }
};

} // namespace ribbon
