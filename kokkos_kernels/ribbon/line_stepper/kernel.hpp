// SPDX-License-Identifier: BSD-2-Clause
/// @file kernel.hpp  Time steps u <- A^-1 (B u + D p(u) + g) whose lines stay in registers.
///
/// A team holds `lanes` lines, divided into chunks as in the one-pass kernel (one_pass.hpp). A virtual thread
/// keeps the rows of its chunk in registers from the first step to the last. A step:
///
///     publish   the first and the last W rows of the chunk, in scratch
///     barrier
///     forward   rows of B u + D p(u) + g from a window of 2 W + 1 rows; forward sweep; right-hand sides of
///               the separators, in scratch
///     barrier
///     reduced   separators of the chunk and of its left neighbour, by the inverse of the reduced system
///     backward  backward sweep: rows of the new u, in registers
///
/// Arrays in scratch have places beyond the ends of a line, which are zero for open lines and copies for
/// rings, so that no thread has a special case at the ends.
#pragma once

#include <ribbon/algorithm/one_pass/tile.hpp>
#include <ribbon/line_stepper.hpp>
#include <ribbon/line_stepper/rows.hpp>

namespace ribbon {

/// Coefficients of a row that a kernel reads from scratch.
template <class Scalar, int K>
struct alignas(sizeof(Scalar) * K) HeldRow {
  Scalar D[K], H[K];
};

/// The coefficients of a full chunk. With all of them in the arguments, a device waited for its cache of
/// constants in a seventh of the time (H100, 32 pentadiagonal rows). A kernel copies half of them to scratch.
template <class Scheme, int rows>
struct PackedChunk {
  using Scalar                = typename Scheme::Scalar;
  static constexpr int  K     = Scheme::separators;
  static constexpr int  inner = rows - K;
  Scalar                inv[inner], L[inner * K], U[inner * K];
  typename Scheme::Edge edge;
  HeldRow<Scalar, K>    held[inner];

  PackedChunk() = default;
  explicit PackedChunk(const ChunkBlock<Scheme, rows> &from) : edge(from.forward.edge)
  {
    for (int k = 0; k < inner; ++k) {
      inv[k] = from.forward.row[k].inv[0];
      for (int q = 0; q < K; ++q) {
        L[k * K + q] = from.forward.row[k].L[q], U[k * K + q] = from.backward.row[k].U[q];
        held[k].D[q] = from.forward.row[k].D[q], held[k].H[q] = from.backward.row[k].H[q];
      }
    }
  }
};
template <class Chunk, class Scheme>
struct PackedBlock {
  static constexpr bool                      full = true;
  static constexpr int                       K    = Chunk::K;
  const Chunk                               &chunk;
  const HeldRow<typename Scheme::Scalar, K> *held;

  KOKKOS_FORCEINLINE_FUNCTION typename Scheme::Forward forward(int k) const
  {
    typename Scheme::Forward row;
    row.inv[0] = chunk.inv[k];
    for (int q = 0; q < K; ++q) row.L[q] = chunk.L[k * K + q], row.D[q] = held[k].D[q];
    return row;
  }
  KOKKOS_FORCEINLINE_FUNCTION typename Scheme::Backward backward(int k) const
  {
    typename Scheme::Backward row;
    for (int q = 0; q < K; ++q) row.U[q] = chunk.U[k * K + q], row.H[q] = held[k].H[q];
    return row;
  }
  KOKKOS_FUNCTION const auto &edge() const { return chunk.edge; }
};

/// The source for a tile that leaves the regular chunks to the kernel.
template <CoefficientSource source>
inline constexpr CoefficientSource without_regular =
  source == CoefficientSource::regular ? CoefficientSource::shared : source;

/// @tparam W         half-bandwidth of B and D
/// @tparam Function  p, or NoFunction
/// @tparam Energy    of two neighbouring rows, or NoEnergy
template <class Scheme_, int slots_, CoefficientSource source, int W, class Function, class Energy>
struct StepKernel : OnePassTile<Scheme_, slots_, 0, without_regular<source>, false, 1,
                                StepRows<typename Scheme_::Scalar, W, is_given<Function>>> {
  using Scheme = Scheme_;
  using Rows   = StepRows<typename Scheme::Scalar, W, is_given<Function>>;
  using Tile   = OnePassTile<Scheme, slots_, 0, without_regular<source>, false, 1, Rows>;
  using Tile::shape, Tile::b, Tile::x, Tile::in, Tile::out, Tile::S, Tile::rows, Tile::interior, Tile::lines,
    Tile::slots;
  using typename Tile::Scalar, typename Tile::Piece, typename Tile::State, typename Tile::Block;
  /// limits the registers to 128
  static constexpr int max_threads  = 512;
  static constexpr int teams_beside = 0;

  using Square                   = SquareBlock<Scalar, Scheme::separators>;
  using Packed                   = PackedChunk<Scheme, slots_>;
  using Held                     = HeldRow<Scalar, Scheme::separators>;
  static constexpr int held_rows = source == CoefficientSource::regular ? Packed::inner : 0;

  Packed             packed;      ///< the regular chunks
  typename Rows::Row stencil;     ///< their rows of B and D
  const Square      *whole;       ///< inverse of the reduced system: (class, chunk, chunk)
  int                reduced_sum; ///< right-hand sides that enter the separators of two neighbouring chunks
  Function           function;
  Energy             energy;
  int                steps;
  bool               through_scratch; ///< lines whose rows are neighbours in memory
  const Scalar      *g;
  int                g_steps;
  LineSums<Scalar>   sums;

  /// Scratch of a team. Contiguous lines pass through it before the first step and after the last.
  struct Scratch {
    Scalar *own, *left;   ///< right-hand sides of the separators, and what is subtracted: (chunk, S, lane)
    Scalar *first, *last; ///< rows at the beginning and at the end of every chunk: (chunk, row, lane)
    Scalar *parts;        ///< of sums: (quantity, chunk, lane)
    Held   *held;         ///< D and H of the regular chunks
    Square *inverse;      ///< (chunk, chunk)
    Scalar *tile;         ///< (lane, row)
  };
  /// Places of a row in scratch, for at most 32 lanes: constant, so that addresses are offsets.
  static constexpr int pitch = 32;
  /// Whether the inverse of the reduced system is copied to scratch. Lanes of several classes read it from
  /// memory.
  static constexpr bool holds_inverse = source == CoefficientSource::regular;
  /// Chunks for which right-hand sides are stored: those of a ring twice, if sums reach around it.
  KOKKOS_FUNCTION static int stored_chunks(const OnePassShape &s, int sum)
  {
    return s.ring && sum < s.split.chunks ? 2 * s.split.chunks : s.split.chunks;
  }
  /// Words of the arrays before those of constants.
  KOKKOS_FUNCTION static std::size_t exchanged_words(const OnePassShape &s, int sum, bool adds_up)
  {
    const int T = s.split.chunks;
    return static_cast<std::size_t>(2 * S * stored_chunks(s, sum) + 2 * W * (T + 2) +
                                    (adds_up ? LineSums<Scalar>::quantities * T : 0)) *
           pitch;
  }
  KOKKOS_FUNCTION Scratch places(char *memory) const
  {
    const int T = shape.split.chunks, stored = stored_chunks(shape, reduced_sum);
    Scratch   to;
    to.own  = reinterpret_cast<Scalar *>(memory);
    to.left = to.own + S * stored * pitch, to.first = to.left + S * stored * pitch;
    to.last = to.first + W * (T + 2) * pitch, to.parts = to.last + W * (T + 2) * pitch;
    to.inverse = reinterpret_cast<Square *>(to.own + exchanged_words(shape, reduced_sum, sums.values));
    to.held    = reinterpret_cast<Held *>(to.inverse + (holds_inverse ? T * T : 0)); // of less alignment
    to.tile    = to.own;
    return to;
  }
  /// Bytes of scratch before the states of virtual threads.
  KOKKOS_FUNCTION static std::size_t exchanged(const OnePassShape &s, int sum, bool adds_up,
                                               std::int64_t rows, bool contiguous)
  {
    const auto squares =
      holds_inverse ? static_cast<std::size_t>(s.split.chunks * s.split.chunks) : std::size_t(0);
    const auto bytes = exchanged_words(s, sum, adds_up) * sizeof(Scalar) + held_rows * sizeof(Held) +
                       squares * sizeof(Square),
               tile = contiguous ? static_cast<std::size_t>((rows | 1) * s.lanes()) * sizeof(Scalar)
                                 : std::size_t(0);
    return device::align16(bytes > tile ? bytes : tile);
  }
  static std::size_t scratch(const OnePassShape &s, int sum, bool adds_up, std::int64_t rows, bool contiguous,
                             bool is_virtual)
  {
    return exchanged(s, sum, adds_up, rows, contiguous) +
           (is_virtual ? static_cast<std::size_t>(s.threads()) * sizeof(State) : 0);
  }
  /// Odd, so that threads of a warp use different banks.
  KOKKOS_FUNCTION int tile_pitch() const { return static_cast<int>(in.rows) | 1; }

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
  /// The chunk of the first of these right-hand sides: that of the window of the left neighbour.
  KOKKOS_FUNCTION int first_of_sum(int chunk) const
  {
    const int T = shape.split.chunks, q = chunk - 1 - shape.reach, most = T - reduced_sum;
    if (most == 0) return 0;
    if (shape.ring) return q < 0 ? q + T : q;
    return q < 0 ? 0 : q < most ? q : most;
  }

  /// Calls f(coefficients) with those of a chunk.
  template <class F>
  KOKKOS_FUNCTION void with_block(const Spot &p, [[maybe_unused]] const Scratch &at, const F &f) const
  {
    if constexpr (source == CoefficientSource::regular)
      if (p.chunk >= this->regular_begin && p.chunk < this->regular_end)
        return f(PackedBlock<Packed, Scheme>{packed, at.held});
    f(MemoryBlock<Block>{this->blocks + (p.cls * shape.split.chunks + p.chunk)});
  }
  KOKKOS_FUNCTION static int place(int chunk, int e, int count, int lane)
  {
    return (chunk * count + e) * pitch + lane;
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
            at.tile[lane * tile_pitch() + i] = first + lane < lines ? b[in(first + lane, i)] : Scalar(0);
      });
      team.barrier();
    }
    each([&](const Piece &p, State &s) {
      const auto    stride = through_scratch ? std::int64_t(1) : in.row_stride;
      const Scalar *from   = (through_scratch ? at.tile + p.lane * tile_pitch() : b + in.begin(p.line)) +
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
      Scalar    *to     = (through_scratch ? at.tile + p.lane * tile_pitch() : x + out.begin(p.line)) +
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
          x[out(first + lane, i)] = at.tile[lane * tile_pitch() + i];
    });
  }

  /// Zeros beyond the ends of open lines, and the inverse of the reduced system.
  template <class Team, class Threads>
  KOKKOS_FUNCTION void prepare(const Team &team, Threads &threads, const Scratch &at) const
  {
    const int T       = shape.split.chunks,
              words   = static_cast<int>(exchanged_words(shape, reduced_sum, sums.values)),
              squares = holds_inverse ? T * T : 0;
    threads.for_each([&](int v, State &) {
      for (int k = v; k < words; k += team.size()) at.own[k] = Scalar(0);
      for (int k = v; k < squares; k += team.size()) at.inverse[k] = whole[k];
      for (int k = v; k < held_rows; k += team.size()) at.held[k] = packed.held[k];
    });
    team.barrier();
  }

  /// Writes the rows that neighbouring chunks need. Those of chunk c are at place c + 1.
  KOKKOS_FUNCTION void publish(const Spot &p, const State &s, const Scratch &at) const
  {
    const int  T    = shape.split.chunks;
    const auto copy = [&](Scalar *to, auto slot) {
      RIBBON_UNROLL
      for (int j = 0; j < W; ++j) to[j * pitch] = slot(j);
    };
    const auto last = [&](int j) { return s.g[slots - W + j]; };
    copy(at.last + place(p.chunk + 1, 0, W, p.lane), last);
    if (shape.ring && p.chunk == T - 1) copy(at.last + place(0, 0, W, p.lane), last);
    const auto give_first = [&](Scalar *to) {
      if (p.pad == 0) return copy(to, [&](int j) { return s.g[j]; });
      RIBBON_UNROLL
      for (int k = 0; k < slots; ++k)
        if (k >= p.pad && k < p.pad + W) to[(k - p.pad) * pitch] = s.g[k];
    };
    give_first(at.first + place(p.chunk + 1, 0, W, p.lane));
    if (shape.ring && p.chunk == 0) give_first(at.first + place(T + 1, 0, W, p.lane));
  }

  /// Row r of a line or of a ring.
  KOKKOS_FUNCTION int around(int r) const
  {
    const int n = static_cast<int>(in.rows);
    return r < 0 ? r + n : r < n ? r : r - n;
  }
  /// Whether there is a chunk left or right of a chunk. Asked only for p(u).
  KOKKOS_FUNCTION bool has_left(int chunk) const { return shape.ring || chunk > 0; }
  KOKKOS_FUNCTION bool has_right(int chunk) const { return shape.ring || chunk + 1 < shape.split.chunks; }

  /// The window of the first row, without its last place, and the rows behind the chunk.
  KOKKOS_FUNCTION void open_window(const Spot &p, const State &s, const Scratch &at,
                                   typename Rows::Window &window, Scalar (&behind)[W]) const
  {
    const Scalar *const last = at.last + place(p.chunk, 0, W, p.lane), *const first =
                                                                         at.first +
                                                                         place(p.chunk + 2, 0, W, p.lane);
    RIBBON_UNROLL
    for (int j = 0; j < W; ++j) {
      window.set(j, last[j * pitch], has_left(p.chunk), function, around(shape.split.begin(p.chunk) - W + j));
      window.set(W + j, s.g[j], true, function, row_of(p, j));
      behind[j] = first[j * pitch];
    }
  }

  template <bool with_g, class Coefficients>
  KOKKOS_FUNCTION void forward(const Spot &p, State &s, const Coefficients &block, const Scratch &at,
                               [[maybe_unused]] const Scalar *added) const
  {
    constexpr int          given = Scheme::forward_rows(rows);
    typename Scheme::Sweep sweep;
    typename Rows::Window  window;
    Scalar                 f_sep[S] = {}, behind[W];
    open_window(p, s, at, window, behind);
    RIBBON_UNROLL
    for (int k = 0; k < rows; ++k) {
      const int beyond = k + W - rows;
      if (beyond < 0) window.set(2 * W, s.g[k + W < rows ? k + W : 0], true, function, row_of(p, k + W));
      else
        window.set(2 * W, behind[beyond < 0 ? 0 : beyond], has_right(p.chunk), function,
                   around(shape.split.begin(p.chunk) + shape.split.size(p.chunk) + beyond));
      Scalar f[1], value[1];
      // p of an empty slot may be infinite
      const bool held = Coefficients::full || k >= p.pad;
      if constexpr (Coefficients::full) f[0] = window.times(stencil);
      else f[0] = held ? window.times(block.product(k)) : Scalar(0);
      if constexpr (with_g)
        if (held) f[0] += read_only_scalar(&added[row_of(p, k)]);
      window.move(!held);
      if (k < given) {
        Scheme::forward(block.forward(k < given ? k : 0), f, sweep, value);
        s.g[k] = value[0];
      } else f_sep[k < given ? 0 : k - given] = f[0];
    }
    Scalar own[S], left[S];
    Scheme::finish(block.edge(), sweep, f_sep, own, left);
    store_sums(p, own, left, at);
  }

  /// Stores right-hand sides of separators. What a chunk subtracts from those of its left neighbour is stored
  /// at the place of that neighbour.
  KOKKOS_FUNCTION void store_sums(const Spot    &p, const Scalar (&own)[S], const Scalar (&left)[S],
                                  const Scratch &at) const
  {
    const int  T = shape.split.chunks, before = p.chunk > 0 ? p.chunk - 1 : T - 1;
    const auto store = [&](Scalar *to, const Scalar(&values)[S]) {
      for (int a = 0; a < S; ++a) to[a * pitch] = values[a];
    };
    store(at.own + place(p.chunk, 0, S, p.lane), own);
    if (has_left(p.chunk)) store(at.left + place(before, 0, S, p.lane), left);
    if (stored_chunks(shape, reduced_sum) == T) return;
    store(at.own + place(p.chunk + T, 0, S, p.lane), own);
    store(at.left + place(before + T, 0, S, p.lane), left);
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
          const Scalar next = k + 1 < slots        ? s.g[k + 1 < slots ? k + 1 : 0]
                              : has_right(p.chunk) ? at.first[place(p.chunk + 2, 0, W, p.lane)]
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

  /// The separators of a chunk and of its left neighbour; zero if there is none.
  KOKKOS_FUNCTION void find_separators(const Spot &p, State &s, const Scratch &at) const
  {
    const int     T = shape.split.chunks, q = first_of_sum(p.chunk);
    const Square *G   = holds_inverse ? at.inverse : whole + static_cast<std::int64_t>(p.cls) * T * T;
    const Square *own = G + p.chunk * T, *left = G + (p.chunk > 0 ? p.chunk - 1 : T - 1) * T;
    const Scalar *r = at.own + place(q, 0, S, p.lane), *minus = at.left + place(q, 0, S, p.lane);
    for (int a = 0; a < S; ++a) s.z[0][a] = s.z[1][a] = Scalar(0);
    const auto add = [&](int w, int column) {
      const Square mine = own[column], other = left[column];
      for (int e = 0; e < S; ++e) {
        const int    k   = (w * S + e) * pitch;
        const Scalar sum = r[k] - minus[k];
        for (int a = 0; a < S; ++a)
          add_product(s.z[0][a], mine.a[a * S + e], sum), add_product(s.z[1][a], other.a[a * S + e], sum);
      }
    };
    if (q + reduced_sum <= T) RIBBON_UNROLL_FOUR
    for (int w = 0; w < reduced_sum; ++w) add(w, q + w);
    else for (int w = 0; w < reduced_sum; ++w) add(w, q + w < T ? q + w : q + w - T);
    if (!has_left(p.chunk))
      for (int a = 0; a < S; ++a) s.z[1][a] = Scalar(0);
  }

  template <class Team, class Each>
  KOKKOS_FUNCTION void step(const Team &team, const Each &each, const Scratch &at, int number) const
  {
    const Scalar *added = g ? g + number % g_steps * in.rows : nullptr;
    each([&](const Spot &p, State &s) {
      with_block(p, at, [&](const auto &block) {
        if (g) forward<true>(p, s, block, at, added);
        else forward<false>(p, s, block, at, added);
      });
    });
    team.barrier();
    each([&](const Spot &p, State &s) {
      find_separators(p, s, at);
      with_block(p, at, [&](const auto &block) { backward(s, block); });
    });
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const Scratch                at = places(team.scratch());
    device::Threads<State, Team> threads(
      team, team.scratch() + exchanged(shape, reduced_sum, sums.values, in.rows, through_scratch));
    const auto with_line = [&](const auto &phase) {
      threads.for_each([&](int v, State &s) { phase(this->piece(team, v, nullptr), s); });
    };
    const auto each = [&](const auto &phase) {
      threads.for_each([&](int v, State &s) { phase(spot(team.league_rank(), v), s); });
    };
    load(team, threads, with_line, at);
    prepare(team, threads, at);
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
