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

#include <ribbon/line_stepper/tile.hpp>

namespace ribbon {

/// @tparam W         half-bandwidth of B and D
/// @tparam Function  p, or NoFunction
/// @tparam Energy    of two neighbouring rows, or NoEnergy
template <class Scheme_, int slots_, CoefficientSource source, int W, class Function, class Energy>
struct StepKernel : StepTile<Scheme_, slots_, source, W, is_given<Function>> {
  using Base = StepTile<Scheme_, slots_, source, W, is_given<Function>>;
  using Base::shape, Base::in, Base::lines, Base::slots, Base::rows, Base::interior, Base::S, Base::pitch;
  using Base::stencil, Base::whole, Base::reduced_sum, Base::sums, Base::place, Base::row_of;
  using typename Base::Scheme, typename Base::Rows, typename Base::Scalar, typename Base::State,
    typename Base::Spot, typename Base::Scratch, typename Base::Square;

  Function      function;
  Energy        energy;
  int           steps;
  const Scalar *g;
  int           g_steps;

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
    if (Base::stored_chunks(shape, reduced_sum) == T) return;
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
    const int     T = shape.split.chunks, q = this->first_of_sum(p.chunk);
    const Square *G   = Base::holds_inverse ? at.inverse : whole + static_cast<std::int64_t>(p.cls) * T * T;
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
      this->with_block(p, at, [&](const auto &block) {
        if (g) forward<true>(p, s, block, at, added);
        else forward<false>(p, s, block, at, added);
      });
    });
    team.barrier();
    each([&](const Spot &p, State &s) {
      find_separators(p, s, at);
      this->with_block(p, at, [&](const auto &block) { backward(s, block); });
    });
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const Scratch                at = this->places(team.scratch());
    device::Threads<State, Team> threads(
      team,
      team.scratch() + Base::exchanged(shape, reduced_sum, sums.values, in.rows, this->through_scratch));
    const auto with_line = [&](const auto &phase) {
      threads.for_each([&](int v, State &s) { phase(this->piece(team, v, nullptr), s); });
    };
    const auto each = [&](const auto &phase) {
      threads.for_each([&](int v, State &s) { phase(this->spot(team.league_rank(), v), s); });
    };
    this->load(team, threads, with_line, at);
    this->prepare(team, threads, at);
    for (int done = 0;; ++done) {
      const bool summed = sums.values && done > 0 && done % sums.every == 0;
      if (done == steps && !summed) break;
      each([&](const Spot &p, State &s) { publish(p, s, at); });
      team.barrier();
      if (summed) add_up(team, each, at, done / sums.every - 1);
      if (done == steps) break;
      step(team, each, at, done);
    }
    this->store(team, threads, with_line, at);
  }
};

} // namespace ribbon
