// SPDX-License-Identifier: BSD-2-Clause
/// @file reduced.hpp  The reduced system between the two sweeps of the one-pass kernel: steps of cyclic
///   reduction, product with the inverse of the remaining system, one step of refinement.
#pragma once

#include <ribbon/algorithm/one_pass/dot_run.hpp>
#include <ribbon/algorithm/one_pass/shape.hpp>
#include <ribbon/device/async_copy.hpp>
#include <ribbon/known_rows.hpp>

namespace ribbon {

/// Whether kernels with this many slots support continued lines: tridiagonal and pentadiagonal ones that
/// have enough registers.
template <class Scheme>
constexpr bool takes_continued(int slots)
{
  return Scheme::couples_left && Scheme::block == 1 && Scheme::separators <= 2 && slots <= 32;
}

/// Reduced systems of the lines of a tile. Arrays in scratch are indexed (chunk, separator, lane) by at().
/// @tparam Continued  lines may be segments of longer ones
template <class Scheme, bool Staged, bool Continued>
struct OnePassReduced {
  using Scalar           = typename Scheme::Scalar;
  static constexpr int S = Scheme::separators;
  /// separators that a kernel computes between two segments
  static constexpr int  N      = NearSeparators<Scalar>::separators;
  static constexpr bool joins  = false;  ///< a JoinedOnePassKernel
  static constexpr bool stays  = false;  ///< a ResidentOnePassKernel, with persistent teams
  static constexpr bool halves = Staged; ///< supports shapes with halvings
  /// supports lines that are stored in parts; orthogonal elimination does not, because it writes rows of
  /// the next chunk
  static constexpr bool pieces = Staged && !Scheme::always_ring;
  using Square                 = SquareBlock<Scalar, S>;
  using Steps                  = StepBlocks<Scalar, S>;

  /// If the window has more blocks, a chunk reads its left separators from its neighbour, which needs a
  /// barrier more, instead of computing them again. Measured on an H200.
  static constexpr int most_formed_twice = !Scheme::couples_left && S > 2                       ? 2
                                           : Staged                                             ? 8
                                           : S == 2 && Scheme::block == 1 && sizeof(Scalar) > 8 ? 6
                                                                                                : 1 << 30;

  /// Line and chunk of a virtual thread.
  struct Place {
    int          lane, chunk, cls;
    bool         active; ///< false before the first and after the last line: reads it, stores no result
    std::int64_t line;
  };

  OnePassShape shape;
  /// blocks of the reduced inverse: (class, chunk, window). Staged: (class, window, chunk), because warps
  /// read several chunks
  const Square *inverse;
  const Square *reduced;         ///< (class, chunk, 3): lower, diag, upper
  const Steps  *steps = nullptr; ///< (class, step, chunk)
  /// of continued lines, otherwise null: (class, 2), couplings of the separators of the first chunk and of
  /// the last ones to the known separators
  const Square          *outer = nullptr;
  Square                 outer_of_one[2]; ///< the same of a single class
  KnownRows<Scalar>      known;
  NearSeparators<Scalar> near;          ///< to compute the separators between segments of a tile
  std::size_t            beside_at = 0; ///< bytes of scratch before these separators, (side, unknown, lane)

  /// Place of value e of chunk q in an array of the tile. In lines that are stored in parts, neighbouring
  /// chunks use different banks.
  KOKKOS_FUNCTION int at(int q, int e, int lane) const
  {
    if constexpr (!pieces) return ((q * S + e) << shape.lane_bits) + lane;
    const int k = ((e * shape.split.chunks + q) << shape.lane_bits) + lane;
    return shape.piece_bits > 0 ? k + (k >> 6 << 2) : k;
  }
  /// Places of an array for `threads` virtual threads.
  KOKKOS_FUNCTION static int places(const OnePassShape &s, int threads)
  {
    return pieces && s.piece_bits > 0 ? S * threads + (S * threads >> 4) : S * threads;
  }

  /// z[i] += block row c - i of the reduced inverse (indices modulo the chunks) times r. r = r_own - r_left
  /// of the right neighbour; it is r_own for a residual and after steps of cyclic reduction. The windows of
  /// all these block rows begin at block q.
  template <bool residual, int block_rows>
  KOKKOS_FUNCTION void apply_inverse(const Place &p, int c, int q, const Scalar *r_own, const Scalar *r_left,
                                     Scalar (*z)[S]) const
  {
    constexpr int batch = S <= 2 ? 2 : 1; // blocks that are loaded together
    const int     W     = shape.window;
    int           w     = 0;
    for (; w + batch <= W; w += batch) apply_some<residual, block_rows, batch>(p, c, w, q, r_own, r_left, z);
    for (; batch > 1 && w < W; ++w) apply_some<residual, block_rows, 1>(p, c, w, q, r_own, r_left, z);
  }

  /// Blocks w to w + batch - 1 of the window. q advances by as many chunks.
  template <bool residual, int block_rows, int batch>
  KOKKOS_FUNCTION void apply_some(const Place &p, int c, int w, int &q, const Scalar *r_own,
                                  const Scalar *r_left, Scalar (*z)[S]) const
  {
    const int T = shape.split.chunks, W = shape.window, stride = halves && residual ? 1 << shape.halvings : 1;
    const int along = Staged ? T : 1, across = Staged ? 1 : W, previous = c > 0 ? -across : (T - 1) * across;
    const Square *G = inverse + (static_cast<std::int64_t>(p.cls) * T * W + c * across + w * along);
    Square        block[batch][block_rows];
    Scalar        r[batch][S];
    // measured on an H200, n = 256 to 1024: small blocks should be loaded after r (4 to 10 % of the
    // kernel), large ones before (1 to 3 %)
    const auto ask = [&] {
      RIBBON_UNROLL
      for (int k = 0; k < batch; ++k)
        for (int i = 0; i < block_rows; ++i) block[k][i] = read_only(&G[k * along + i * previous]);
    };
    if (S > 1) ask();
    RIBBON_UNROLL
    for (int k = 0; k < batch; ++k) {
      const int next = q + stride >= T ? q + stride - T : q + stride;
      for (int e = 0; e < S; ++e) {
        r[k][e] = r_own[at(q, e, p.lane)];
        if constexpr (!residual && Scheme::couples_left) r[k][e] -= r_left[at(next, e, p.lane)];
      }
      q = next;
    }
    if (S == 1) ask();
    RIBBON_UNROLL
    for (int k = 0; k < batch; ++k)
      for (int i = 0; i < block_rows; ++i)
        for (int e = 0; e < S; ++e)
          for (int a = 0; a < S; ++a) add_product(z[i][a], block[k][i].a[a * S + e], r[k][e]);
  }

  /// r_own -= r_left of the right neighbour.
  KOKKOS_FUNCTION void subtract_left(const Place &p, Scalar *r_own, const Scalar *r_left) const
  {
    const int right = p.chunk + 1 == shape.split.chunks ? 0 : p.chunk + 1;
    for (int a = 0; a < S; ++a) r_own[at(p.chunk, a, p.lane)] -= r_left[at(right, a, p.lane)];
  }

  /// Replaces r_own, the right-hand side of the reduced system, by its residual.
  template <class Team>
  KOKKOS_FUNCTION void reduced_residual(const Team &team, const Place &p, const Scalar *z,
                                        Scalar *r_own) const
  {
    const int T = shape.split.chunks, c = p.chunk, right = c + 1 == T ? 0 : c + 1,
              left   = c == 0 ? T - 1 : c - 1;
    const auto R     = reduced + static_cast<std::int64_t>(p.cls * T + c) * 3;
    const auto lower = read_only(&R[0]), diag = read_only(&R[1]), upper = read_only(&R[2]);
    for (int a = 0; a < S; ++a) {
      Scalar r = r_own[at(c, a, p.lane)];
      for (int e = 0; e < S; ++e) { // blocks beyond the ends of an open line are zero
        subtract_product(r, lower.a[a * S + e], z[at(left, e, p.lane)]);
        subtract_product(r, diag.a[a * S + e], z[at(c, e, p.lane)]);
        subtract_product(r, upper.a[a * S + e], z[at(right, e, p.lane)]);
      }
      team.write(&r_own[at(c, a, p.lane)], r, shape.readers(c));
    }
  }

  /// Step k of cyclic reduction. Blocks beyond the ends of an open line are zero.
  template <class Team>
  KOKKOS_FUNCTION void halve(const Team &team, const Place &p, int k, const Scalar *from, Scalar *to) const
  {
    const int T = shape.split.chunks, c = p.chunk, stride = 1 << k,
              left  = c < stride ? c - stride + T : c - stride,
              right = c + stride < T ? c + stride : c + stride - T;
    const auto both = read_only(&steps[(p.cls * shape.halvings + k) * T + shape.alike(c, stride)]);
    Scalar     r[S];
    for (int a = 0; a < S; ++a) r[a] = from[at(c, a, p.lane)];
    for (int e = 0; e < S; ++e) {
      const Scalar before = from[at(left, e, p.lane)], behind = from[at(right, e, p.lane)];
      for (int a = 0; a < S; ++a)
        add_product(r[a], both.left[a * S + e], before), add_product(r[a], both.right[a * S + e], behind);
    }
    for (int a = 0; a < S; ++a) team.write(&to[at(c, a, p.lane)], r[a], shape.readers(c));
  }

  /// All steps, each with a barrier after it. `other` becomes the array that is no longer read.
  template <class Team, class Each>
  KOKKOS_FUNCTION void halve(const Team &team, const Each &each, Scalar *&r, Scalar *&other) const
  {
    for (int k = 0; k < shape.halvings; ++k) {
      each([&](const Place &p, auto &) { halve(team, p, k, r, other); });
      team.barrier();
      Scalar *const next = other;
      other = r, r = next;
    }
  }

  /// Solves the reduced systems by steps of cyclic reduction and the inverse of the remaining system, as
  /// solve_reduced().
  template <class Team, class Each>
  KOKKOS_FUNCTION Scalar *solve_halved(const Team &team, const Each &each, Scalar *r, Scalar *r_left,
                                       bool correct) const
  {
    Scalar *other = r_left;
    each([&](const Place &p, auto &s) {
      if (Scheme::couples_left) subtract_left(p, r, r_left);
      for (int a = 0; a < S; ++a) {
        Scalar *const own = &r[at(p.chunk, a, p.lane)];
        s.z[0][a] = Scalar(0), s.z[1][a] = *own;
        if (Team::spans_blocks && Scheme::couples_left) team.write(own, s.z[1][a], shape.readers(p.chunk));
      }
    });
    if (Scheme::couples_left) team.barrier();
    for (bool again = correct;; again = false) {
      halve(team, each, r, other);
      each([&](const Place &p, auto &s) {
        apply_inverse<true, 1>(p, p.chunk, shape.halved_window_begin(p.chunk), r, nullptr, s.z);
        publish(team, p, s.z[0], other);
      });
      team.barrier();
      if (!again) return other;
      each([&](const Place &p, auto &s) {
        for (int a = 0; a < S; ++a) r[at(p.chunk, a, p.lane)] = s.z[1][a];
        reduced_residual(team, p, other, r);
      });
      team.barrier();
    }
  }

  /// Solves the reduced systems of a tile. Call it after the forward sweep and a barrier. each(phase) calls
  /// phase(place, state) for all virtual threads with a chunk.
  /// @return null if state.z holds the separators of the chunk and those to the left; otherwise the array
  ///   of all separators, after a barrier
  template <class Team, class Each>
  KOKKOS_FUNCTION const Scalar *solve_reduced(const Team &team, const Each &each, Scalar *r_own,
                                              Scalar *r_left, bool correct) const
  {
    if constexpr (halves)
      if (shape.halvings > 0) return solve_halved(team, each, r_own, r_left, correct);
    constexpr bool z_replaces_r_left = Scheme::couples_left;
    Scalar *const  z                 = r_left;
    const bool     share             = correct || shape.window > most_formed_twice;
    each([&](const Place &p, auto &s) {
      const int left  = shape.left_of(p.chunk);
      const int begin = shape.window_begin(p.chunk), left_begin = left < 0 ? begin : shape.window_begin(left);
      for (int a = 0; a < S; ++a) s.z[0][a] = s.z[1][a] = Scalar(0);
      // Every chunk also computes the separators of its left neighbour, both at once if the registers
      // suffice. In most cases this is cheaper than a second barrier. The barrier is cheaper if many short
      // chunks have long windows.
      bool both = false;
      if constexpr (S == 1) both = left >= 0 && begin == left_begin && !share;
      if (both) apply_inverse<false, S == 1 ? 2 : 1>(p, p.chunk, begin, r_own, r_left, s.z);
      else {
        apply_inverse<false, 1>(p, p.chunk, begin, r_own, r_left, s.z);
        if (share && !z_replaces_r_left) publish(team, p, s.z[0], z);
        if (!share && left >= 0) apply_inverse<false, 1>(p, left, left_begin, r_own, r_left, s.z + 1);
      }
    });
    if (!share) return nullptr;
    team.barrier();
    if (correct && Scheme::couples_left) {
      each([&](const Place &p, auto &) { subtract_left(p, r_own, r_left); });
      team.barrier();
    }
    if (z_replaces_r_left) {
      each([&](const Place &p, auto &s) { publish(team, p, s.z[0], z); });
      team.barrier();
    }
    if (correct) {
      each([&](const Place &p, auto &) { reduced_residual(team, p, z, r_own); });
      team.barrier();
      each([&](const Place &p, auto &s) {
        apply_inverse<true, 1>(p, p.chunk, shape.window_begin(p.chunk), r_own, nullptr, s.z);
        publish(team, p, s.z[0], z);
      });
      team.barrier();
    }
    return z;
  }

  /// Whether lines are segments of longer ones with known adjacent separators.
  KOKKOS_FUNCTION bool continued() const { return Continued && outer; }

  /// Whether the kernel computes these separators.
  KOKKOS_FUNCTION bool forms_known() const { return Continued && Staged && near.weights; }
  /// Reserves scratch for them. Teams that do nothing else have the minimum size, so that a device runs
  /// many of them at the same time.
  void place_beside(device::League &league, bool on_device)
  {
    const auto bytes = [](int numbers) {
      return device::align16(static_cast<std::size_t>(numbers) * sizeof(Scalar));
    };
    if (near.only && on_device)
      league.threads = near_group() * (shape.lanes() + 1), league.scratch = bytes(N * league.threads);
    beside_at = league.scratch, league.scratch += bytes(2 * N * shape.lanes());
  }
  template <class Team>
  KOKKOS_FUNCTION Scalar *beside(const Team &team) const
  {
    return reinterpret_cast<Scalar *>(team.scratch() + beside_at);
  }
  /// Threads that compute the separators between two segments of a tile.
  KOKKOS_FUNCTION int near_group() const
  {
    int group = 16;
    while (group * (shape.lanes() + 1) > shape.threads()) group /= 2;
    return group;
  }
  /// Terms of virtual thread v of the separators left of the segments of a tile and right of the last one.
  /// Rows are read from memory while the tile is copied.
  /// @param first  segment of the tile; the last of all is segment `lines` - 1
  KOKKOS_FUNCTION void near_terms(int v, const Scalar *b, const LineSet &in, std::int64_t first,
                                  std::int64_t lines, Scalar *terms) const
  {
    const int          group = near_group(), j = v / group, thread = v - j * group;
    const std::int64_t next = first + j < lines ? first + j : lines; // the segment right of these separators
    if (j > shape.lanes()) return;
    Scalar sum[1][N] = {};
    if (j > 0 || !near.begins(next)) {
      const bool    last = near.begins(next);
      const Scalar *from = b + (j > 0 ? in.begin(next - 1) + (in.rows - near.reach) * in.row_stride
                                      : in.begin(next) - (N + near.reach) * in.row_stride);
      DotRun<Scalar>{from, in.row_stride, 0, near.weights + (last ? N * near.rows() : 0), near.rows(), 1, 0}
        .template add<6>(thread, near.reach + N + (last ? near.behind : near.reach), group, sum);
    }
    for (int a = 0; a < N; ++a) terms[(j * N + a) * group + thread] = sum[0][a];
  }
  /// Adds up these terms.
  KOKKOS_FUNCTION void near_sums(int v, std::int64_t first, std::int64_t lines, const Scalar *terms,
                                 Scalar *beside) const
  {
    const int group = near_group(), j = v / N, a = v - j * N, lanes = shape.lanes();
    if (j > lanes) return;
    const std::int64_t next = first + j;
    const bool         last = near.begins(next);
    Scalar             sum(0);
    for (int t = 0; t < group; ++t) sum += terms[v * group + t];
    if (j < lanes) beside[a * lanes + j] = last ? Scalar(0) : sum;
    if (j > 0) beside[(N + a) * lanes + j - 1] = sum;
    if (j == 0 || next > lines || !near.z || !(last || near.only)) return;
    const std::int64_t piece = next - 1,
                       line  = static_cast<std::uint32_t>(piece) / static_cast<std::uint32_t>(near.pieces);
    near.z[((piece - line * near.pieces) * N + a) * near.lines + line] = sum;
  }

  template <class Team, class Threads>
  KOKKOS_FUNCTION void form_known(const Team &team, Threads &threads, const Scalar *b, const LineSet &in,
                                  std::int64_t first, std::int64_t lines, Scalar *terms) const
  {
    threads.for_each([&](int v, auto &) { near_terms(v, b, in, first, lines, terms); });
    team.barrier();
    threads.for_each([&](int v, auto &) { near_sums(v, first, lines, terms, beside(team)); });
  }

  /// Starts copies of the known separators: the first chunk copies those left of a continued line, the last
  /// chunk those right of it. Their place is that of the right-hand sides of these chunks, which are
  /// written later.
  KOKKOS_FUNCTION void bring_known(const Place &p, Scalar *r_own, Scalar *r_left) const
  {
    if (!continued() || forms_known()) return;
    for (int a = 0; p.chunk == 0 && a < S; ++a)
      device::async_copy(&r_left[at(0, a, p.lane)], known.place(p.line, a - S));
    for (int a = 0; p.chunk + 1 == shape.split.chunks && a < S; ++a)
      device::async_copy(&r_own[at(p.chunk, a, p.lane)], known.place(p.line, a));
    device::async_commit();
  }
  /// Subtracts the known separators from the right-hand sides of these chunks.
  template <bool classes, class Team>
  KOKKOS_FUNCTION void subtract_known(const Team &team, const Place &p, const Scalar *r_own,
                                      const Scalar *r_left, Scalar (&own)[S]) const
  {
    if (!continued()) return;
    device::async_wait(0);
    for (int side = 0; side < 2; ++side) {
      if (p.chunk != (side == 0 ? 0 : shape.split.chunks - 1)) continue;
      const Square  block = classes ? read_only(&outer[2 * p.cls + side]) : outer_of_one[side];
      const Scalar *from  = side == 0 ? r_left : r_own;
      for (int e = 0; e < S; ++e) {
        const Scalar value = forms_known() ? known_of(team, p, side, e) : from[at(p.chunk, e, p.lane)];
        for (int a = 0; a < S; ++a) subtract_product(own[a], block.a[a * S + e], value);
      }
    }
  }
  /// zl of the first chunk are the known separators left of the line.
  template <class Team>
  KOKKOS_FUNCTION void pass_known(const Team &team, const Place &p, Scalar (&zl)[S]) const
  {
    for (int a = 0; continued() && p.chunk == 0 && a < S; ++a) zl[a] = known_of(team, p, 0, a);
  }
  /// The last chunk calls store(u, value) with the known separators after the line.
  template <class Team, class Store>
  KOKKOS_FUNCTION void store_known(const Team &team, const Place &p, const Store &store) const
  {
    for (int u = 0; continued() && p.active && p.chunk + 1 == shape.split.chunks && u < known.stored; ++u)
      store(u, known_of(team, p, 1, u));
  }
  template <class Team>
  KOKKOS_FUNCTION void store_known(const Team &team, const Place &p, const LineSet &out, Scalar *x) const
  {
    constexpr int B = Scheme::block;
    store_known(team, p, [&](int u, const Scalar &value) {
      x[out(p.line, out.rows + u / B) + u % B * out.component_stride] = value;
    });
  }
  template <class Team>
  KOKKOS_FUNCTION Scalar known_of(const Team &team, const Place &p, int side, int a) const
  {
    return forms_known() ? beside(team)[((side == 0 ? N - S + a : N + a) << shape.lane_bits) + p.lane]
                         : *known.place(p.line, side == 0 ? a - S : a);
  }

  template <class Team>
  KOKKOS_FUNCTION void publish(const Team &team, const Place &p, const Scalar (&own)[S], Scalar *z) const
  {
    for (int a = 0; a < S; ++a) team.write(&z[at(p.chunk, a, p.lane)], own[a], shape.readers(p.chunk));
  }
};

} // namespace ribbon
