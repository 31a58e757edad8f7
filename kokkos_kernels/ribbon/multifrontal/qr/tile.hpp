// SPDX-License-Identifier: BSD-2-Clause
/// @file tile.hpp  Common parts of the kernels for right-hand sides at the leaves of a tree, for chains of
///   one width.
#pragma once

#include <ribbon/device/async_copy.hpp>
#include <ribbon/multifrontal/qr/solve.hpp>

namespace ribbon::multifrontal {

/// Sweeps over the leaves of a tile for W = kl + ku known at compile time. A team has all rows of its
/// leaves and columns in scratch, `values`. They are loaded at once and stay until they are solved. A
/// thread has a leaf and a column. Factors go through a ring of slots: a chunk of steps of all leaves is
/// copied while earlier ones are processed. One column: 32 leaves, with one lane each; the same team
/// continues with their joins. Many: 4 leaves with one warp each, and 32 columns with one lane each, so
/// that a factor is read once for all lanes.
template <class Scalar, int W, bool Many, bool Up>
struct QrTile {
  static constexpr int leaves    = Many ? 4 : 32;
  static constexpr int team_size = 128;
  static constexpr int block     = Many ? 32 : 1; ///< columns per team
  static constexpr int abreast   = 32;            ///< leaves whose factors are interleaved
  /// threads with columns; the others help with copies and joins
  static constexpr int busy = block * leaves;
  static constexpr int most = Up ? W + 1 : 2 * W + 1; ///< factors of a step
  /// Steps in the ring: with leaves of 65 rows, three teams with many columns, or four with one column, fit
  /// a multiprocessor.
  static constexpr int capacity = (!Many ? 40192 : W < 8 ? 8800 : 9600) / (leaves * ((most + 1) * 8));
  /// steps per slot
  static constexpr int chunk  = capacity >= (Many ? 16 : 24) ? 8
                                : capacity >= 12 || Many     ? 4
                                : capacity >= 9              ? 3
                                                             : 2;
  static constexpr int stages = capacity / chunk < 4 ? capacity / chunk : 4;
  /// factors of a leaf in a slot, for many columns
  static constexpr int slot = chunk * most + chunk * most % 2;
  /// rows are copied, and loaded from scratch, two at a time
  static constexpr bool packs = Many && W < 10;
  QrSolve<Scalar>       solve;
  /// places for the rows of a leaf in scratch: odd, or an odd count of packs if rows are copied in packs,
  /// so that lanes read different banks
  int pitch;
  int width; ///< most columns per team

  struct alignas(16) Shared {
    /// many columns: by leaves, steps, factors of a step; one column: leaves last
    Scalar         factor[stages][slot * leaves];
    real_t<Scalar> scale[stages][chunk * leaves];
    /// rows of a leaf, and the first of them relative to the first row of the tile
    int begin[leaves], length[leaves];
    /// rows of zeros before the first of a chain; columns that are eliminated
    int lead[leaves], own[leaves];
  };
  /// Bytes before the values. For one column they are the same for both ways, so that Q^H b stays in place
  /// between them.
  KOKKOS_INLINE_FUNCTION static constexpr std::size_t shared_bytes()
  {
    constexpr std::size_t mine   = sizeof(Shared),
                          others = Many ? 0 : sizeof(typename QrTile<Scalar, W, Many, !Up>::Shared);
    return mine > others ? mine : others;
  }
  struct Tile {
    std::int64_t          chain0, node0, base, column0; ///< first chain, leaf, row of all vectors, column
    int                   chunks, columns, least;       ///< least: steps that have a row in every leaf
    const Scalar         *reflection, *upper;           ///< of the first step of the first leaf
    const real_t<Scalar> *scale = nullptr;              ///< of its first row
  };
  QrTile(const QrSolve<Scalar> &s)
      : solve(s), pitch(packs ? static_cast<int>((s.tree.most_rows() + 1) / 2 | 1) * 2
                              : static_cast<int>(s.tree.most_rows()) | 1),
        width(static_cast<int>(s.v.columns < block ? s.v.columns : block))
  {
  }
  KOKKOS_INLINE_FUNCTION std::size_t value_bytes() const
  {
    return device::align16(static_cast<std::size_t>(width * leaves * pitch) * sizeof(Scalar));
  }
  std::int64_t teams() const
  {
    return (solve.tree.chain.chains * solve.tree.slots + leaves - 1) / leaves * blocks();
  }

  KOKKOS_INLINE_FUNCTION std::int64_t blocks() const { return (solve.v.columns + block - 1) / block; }
  KOKKOS_INLINE_FUNCTION Tile         tile(std::int64_t team) const
  {
    const Tree        &tree   = solve.tree;
    const std::int64_t number = solve.quotient(team, blocks()), block_number = team - number * blocks(),
                       slot0 = number * leaves, chain0 = tree.chain.chains == 1 ? 0 : slot0 / tree.slots,
                       node0 = slot0 - chain0 * tree.slots;
    const std::int64_t rest  = solve.v.columns - block_number * block;
    const auto         first = [&](const auto *all, int numbers) {
      return solve.factors.step(all, tree, chain0, node0, 0, numbers).at;
    };
    return {chain0,
            node0,
            chain0 * tree.chain.rows + tree.start(node0),
            block_number * block,
            (tree.most_steps(slot0 - chain0 * tree.slots, leaves) + chunk - 1) / chunk,
            static_cast<int>(rest < block ? rest : block),
            static_cast<int>(tree.shortest) - W,
            first(solve.factors.reflection, W + 1),
            first(solve.factors.upper, 2 * W + 1),
            first(static_cast<const real_t<Scalar> *>(solve.factors.row_scale), 1)};
  }
  KOKKOS_INLINE_FUNCTION void begin(const Tile &tile, int v, Shared &shared) const
  {
    if (v >= leaves) return;
    const Tree &tree         = solve.tree;
    const int   slots        = static_cast<int>(tree.slots < leaves ? tree.slots : leaves),
              group          = slots == leaves ? 0 : v / slots;
    const std::int64_t chain = tile.chain0 + group, node = tile.node0 + v - group * slots;
    const bool         there = chain < tree.chain.chains && node < tree.leaves;
    Leaf               leaf;
    if (there) leaf = Leaf(tree, chain, node);
    shared.begin[v]  = there ? static_cast<int>(chain * tree.chain.rows + tree.start(node) - tile.base) : 0;
    shared.length[v] = there ? static_cast<int>(tree.start(node + 1) - tree.start(node)) : 0;
    shared.lead[v]   = there ? static_cast<int>(tree.start(node) - leaf.first) : 0,
    shared.own[v]    = there ? leaf.own : 0;
  }
  KOKKOS_INLINE_FUNCTION static int leaf_of(int v) { return Many ? v / block : v; }
  KOKKOS_INLINE_FUNCTION static int column_of(int v) { return Many ? v % block : 0; }
  /// Whether a thread has a column.
  KOKKOS_INLINE_FUNCTION static bool works(const Tile &tile, int v)
  {
    return Many ? column_of(v) < tile.columns : v < busy;
  }
  /// The leaf of a thread that has a column.
  KOKKOS_INLINE_FUNCTION bool find_leaf(const Tile &tile, int v, std::int64_t &chain,
                                        std::int64_t &node) const
  {
    const int slots = static_cast<int>(solve.tree.slots < leaves ? solve.tree.slots : leaves),
              leaf = leaf_of(v), group = slots == leaves ? 0 : leaf / slots;
    chain = tile.chain0 + group, node = tile.node0 + leaf - group * slots;
    return works(tile, v) && chain < solve.tree.chain.chains && node < solve.tree.leaves;
  }

  /// The rows of a leaf and a column.
  KOKKOS_INLINE_FUNCTION Scalar *value(Scalar *values, int leaf, int column) const
  {
    return values + (leaf * width + column) * pitch;
  }
  /// Two rows of a column.
  struct alignas(2 * sizeof(Scalar)) Pack {
    Scalar row[2];
  };
  /// Calls body(place in scratch, place in memory) for a thread's part of the rows of the tile, with
  /// columns at a distance of ld in memory; neighbouring threads have neighbouring rows. both(...): the
  /// same for two rows, if their alignment permits a common copy.
  template <class Number, class Body, class Packs>
  KOKKOS_INLINE_FUNCTION void for_each_value(const Tile &tile, int v, const Shared &shared, Scalar *values,
                                             Number *memory, std::int64_t ld, const Body &body,
                                             const Packs &both) const
  {
    constexpr int together = 8;
    memory += tile.column0 * ld;
    const auto columns = [&](Scalar *near, Number *far, const auto &copy) {
      int c = 0;
      for (; c + together <= tile.columns; c += together, near += together * pitch, far += together * ld) {
        RIBBON_UNROLL
        for (int k = 0; k < together; ++k) copy(near + k * pitch, far + k * ld);
      }
      RIBBON_NO_UNROLL
      for (; c < tile.columns; ++c, near += pitch, far += ld) copy(near, far);
    };
    for (int leaf = v / 32; leaf < leaves; leaf += team_size / 32) {
      if constexpr (!Many) {
        for (int r = v % 32; r < shared.length[leaf]; r += 32) {
          const std::int64_t place = tile.base + shared.begin[leaf] + r;
          body(value(values, leaf, 0) + r, memory + (solve.v.row_of ? solve.v.row_of[place] : place));
        }
        continue;
      }
      const int          length = shared.length[leaf];
      const std::int64_t first  = tile.base + shared.begin[leaf];
      Scalar            *near   = value(values, leaf, 0);
      const bool         packed = packs && !solve.v.row_of && ld % 2 == 0 &&
                          reinterpret_cast<std::uintptr_t>(memory + first) % sizeof(Pack) == 0;
      int r = v % 32;
      if (packed) {
        for (r *= 2; r + 1 < length; r += 64) columns(near + r, memory + (first + r), both);
        r = r + 1 == length ? r : length; // one more row
      }
      for (; r < length; r += 32)
        columns(near + r, memory + (solve.v.row_of ? solve.v.row_of[first + r] : first + r), body);
    }
  }
  /// Starts to copy the rows of the tile, for its columns.
  template <bool Virtual>
  KOKKOS_INLINE_FUNCTION void bring(const Tile &tile, int v, const Shared &shared, Scalar *values,
                                    const Scalar *from, std::int64_t ld) const
  {
    for_each_value(
      tile, v, shared, values, from, ld,
      [](Scalar *near, const Scalar *far) { device::async_copy(near, far); },
      [](Scalar *near, const Scalar *far) {
        if constexpr (Virtual) near[0] = far[0], near[1] = far[1];
        else device::async_copy_pack(near, far);
      });
  }
  KOKKOS_INLINE_FUNCTION void store(const Tile &tile, int v, const Shared &shared, Scalar *values) const
  {
    for_each_value(
      tile, v, shared, values, solve.v.x, solve.v.ldx, [](const Scalar *near, Scalar *far) { *far = *near; },
      [](const Scalar *near, Scalar *far) {
        *reinterpret_cast<Pack *>(far) = *reinterpret_cast<const Pack *>(near);
      });
  }
  /// Loads the rows of a chunk, if all of them exist.
  KOKKOS_INLINE_FUNCTION static void load(const Scalar *rows, bool packed, Scalar (&y)[chunk])
  {
    if (packs && packed) {
      RIBBON_UNROLL
      for (int t = 0; t + 1 < chunk; t += 2) {
        const Pack two = *reinterpret_cast<const Pack *>(rows + t);
        y[t] = two.row[0], y[t + 1] = two.row[1];
      }
    } else {
      RIBBON_UNROLL
      for (int t = 0; t < chunk; ++t) y[t] = rows[t];
    }
  }
  KOKKOS_INLINE_FUNCTION static void keep(Scalar *rows, bool packed, const Scalar (&y)[chunk])
  {
    if (packs && packed) {
      RIBBON_UNROLL
      for (int t = 0; t + 1 < chunk; t += 2) *reinterpret_cast<Pack *>(rows + t) = Pack{{y[t], y[t + 1]}};
    } else {
      RIBBON_UNROLL
      for (int t = 0; t < chunk; ++t) rows[t] = y[t];
    }
  }

  /// Starts to copy the factors of chunk q, of reflections or of R, to slot u % stages.
  template <bool Reflections, bool Virtual>
  KOKKOS_INLINE_FUNCTION void fetch(const Tile &tile, int u, int q, int v, Shared &shared) const
  {
    // entries of one copy are contiguous
    constexpr int numbers = Reflections ? W + 1 : 2 * W + 1, run = Many ? leaves : leaves / 2,
                  rounds = (chunk * numbers * run + team_size - 1) / team_size;
    const Scalar *from   = (Reflections ? tile.reflection : tile.upper) +
                         (q * chunk * numbers + v / run) * abreast + v % run * (Many ? 1 : 2);
    Scalar   *to   = shared.factor[u % stages] + (Many ? v % run * slot + v / run : 2 * v);
    const int rest = static_cast<int>(solve.tree.most_rows()) - q * chunk,
              n    = (rest < chunk ? rest : chunk) * numbers * run;
    RIBBON_UNROLL
    for (int k = 0; k < rounds;
         ++k, from += team_size / run * abreast, to += Many ? team_size / run : 2 * team_size) {
      if (v + k * team_size >= n) continue;
      if constexpr (Many) device::async_copy(to, from);
      else if constexpr (Virtual) to[0] = from[0], to[1] = from[1];
      else device::async_copy_pack(to, from);
    }
    if constexpr (Reflections) RIBBON_UNROLL
    for (int k = v; k - v < chunk * leaves; k += team_size) {
      if (k >= chunk * leaves) continue;
      const int leaf = k % leaves, t = k / leaves, r = W + q * chunk + t - shared.lead[leaf];
      if (r < shared.length[leaf])
        device::async_copy(&shared.scale[u % stages][Many ? leaf * chunk + t : k],
                           tile.scale + (r * abreast + leaf));
    }
  }

  /// The first W rows of a thread's leaf, scaled, in two parts: first their scales; then, after the rows
  /// are loaded, the products.
  KOKKOS_INLINE_FUNCTION void begin_window(const Tile &tile, int v, Scalar (&window)[W],
                                           const Shared &shared) const
  {
    if (!works(tile, v)) return;
    const int leaf = leaf_of(v), first = -shared.lead[leaf];
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k)
      window[k] = first + k >= 0 && first + k < shared.length[leaf] ? tile.scale[(first + k) * abreast + leaf]
                                                                    : real_t<Scalar>(0);
  }
  KOKKOS_INLINE_FUNCTION void fill_window(const Tile &tile, int v, Scalar (&window)[W], const Shared &shared,
                                          Scalar *values) const
  {
    if (!works(tile, v)) return;
    const int     leaf = leaf_of(v), first = -shared.lead[leaf];
    const Scalar *rows = value(values, leaf, column_of(v));
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k)
      if (first + k >= 0 && first + k < shared.length[leaf]) window[k] *= rows[first + k];
  }
  /// The factors of a thread's leaf in a slot; the next factor of a step is `apart` further.
  static constexpr int                        apart = Many ? 1 : leaves;
  KOKKOS_INLINE_FUNCTION static const Scalar *factor_of(const Shared &shared, int u, int leaf)
  {
    return shared.factor[u % stages] + (Many ? leaf * slot : leaf);
  }
  /// Reflects the rows of chunk q: b becomes Q^H b, which is stored at its columns if `keeps`. `Whole`:
  /// every leaf has all these steps.
  template <bool Whole>
  KOKKOS_INLINE_FUNCTION void reflect(int u, int q, int v, bool keeps, Scalar (&w)[W], const Shared &shared,
                                      Scalar *values) const
  {
    const int leaf = leaf_of(v), first = q * chunk, own = shared.own[leaf],
              row = W + first - shared.lead[leaf], length = shared.length[leaf];
    const Scalar         *factor = factor_of(shared, u, leaf);
    const real_t<Scalar> *scale  = shared.scale[u % stages] + (Many ? leaf * chunk : leaf);
    Scalar               *rows   = value(values, leaf, column_of(v)) + row, y[chunk];
    if (Whole) load(rows, row % 2 == 0, y);
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t)
      y[t] = Whole                                 ? y[t] * scale[t * apart]
             : first + t < own && row + t < length ? rows[t] * scale[t * apart]
                                                   : Scalar(0);
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t) {
      if (!Whole && first + t >= own) continue;
      if (!Whole && row + t >= length) {
        RIBBON_UNROLL
        for (int k = 0; k < W; ++k)
          if (renewed(k == W - 1 - (row + t - length))) y[t] = taken(w[k]); // after the end, see Leaf
      }
      Scalar f[W + 1], sum = y[t], other(0);
      RIBBON_UNROLL
      for (int k = 0; k <= W; ++k) f[k] = factor[(t * (W + 1) + k) * apart];
      RIBBON_UNROLL
      for (int k = 0; k < W; k += 2) sum += f[1 + k] * w[k], other += f[2 + k] * w[k + 1];
      sum = (sum + other) * f[0];
      RIBBON_UNROLL
      for (int k = 0; k < W; ++k) w[k] -= f[1 + k] * sum;
      y[t] -= sum;
    }
    if (!keeps) return;
    const int back = solve.tree.chain.kl;
    if (Whole) return keep(rows - back, (row - back) % 2 == 0, y);
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t)
      if (first + t < own) rows[t - back] = y[t];
  }
  KOKKOS_INLINE_FUNCTION void up(const Tile &tile, int u, int q, int v, bool keeps, Scalar (&window)[W],
                                 const Shared &shared, Scalar *values) const
  {
    if (!works(tile, v)) return;
    if ((q + 1) * chunk <= tile.least) reflect<true>(u, q, v, keeps, window, shared, values);
    else reflect<false>(u, q, v, keeps, window, shared, values);
  }

  /// Solves for the columns of chunk q; `w`: the unknowns after them, `left`: those of the cut before the
  /// leaf.
  template <bool Whole>
  KOKKOS_INLINE_FUNCTION void substitute(int u, int q, int v, Scalar (&w)[W], const Scalar (&left)[W],
                                         const Shared &shared, Scalar *values) const
  {
    const int     leaf = leaf_of(v), first = q * chunk, own = shared.own[leaf];
    const Scalar *factor = factor_of(shared, u, leaf);
    const int     row    = solve.tree.chain.ku + first - shared.lead[leaf];
    Scalar       *rows   = value(values, leaf, column_of(v)) + row, y[chunk];
    if (Whole) load(rows, row % 2 == 0, y);
    else {
      RIBBON_UNROLL
      for (int t = 0; t < chunk; ++t) y[t] = first + t < own ? rows[t] : Scalar(0);
    }
    RIBBON_UNROLL
    for (int t = chunk - 1; t >= 0; --t) {
      if (!Whole && first + t >= own) continue;
      Scalar f[2 * W + 1], sum = y[t], other(0);
      RIBBON_UNROLL
      for (int k = 0; k <= 2 * W; ++k) f[k] = factor[(t * (2 * W + 1) + k) * apart];
      RIBBON_UNROLL
      for (int k = 0; k < W; k += 2) sum -= f[1 + W + k] * left[k], other -= f[2 + W + k] * left[k + 1];
      sum += other;
      RIBBON_UNROLL
      for (int k = W - 1; k >= 0; --k) sum -= f[1 + k] * w[k]; // the most recent unknown is used last
      RIBBON_UNROLL
      for (int k = W - 1; k > 0; --k) w[k] = w[k - 1];
      y[t] = w[0] = sum * f[0];
    }
    if (Whole) return keep(rows, row % 2 == 0, y);
    RIBBON_UNROLL
    for (int t = 0; t < chunk; ++t)
      if (first + t < own) rows[t] = y[t];
  }
  KOKKOS_INLINE_FUNCTION void down(const Tile &tile, int u, int q, int v, Scalar (&window)[W],
                                   const Scalar (&left)[W], const Shared &shared, Scalar *values) const
  {
    if (!works(tile, v)) return;
    if ((q + 1) * chunk <= tile.least) substitute<true>(u, q, v, window, left, shared, values);
    else substitute<false>(u, q, v, window, left, shared, values);
  }
  /// Copies those unknowns of the cuts before and after a leaf that are in its rows to its values.
  KOKKOS_INLINE_FUNCTION void place_cuts(int v, const Scalar (&behind)[W], const Scalar (&before)[W],
                                         const Shared &shared, Scalar *values) const
  {
    const Chain &chain = solve.tree.chain;
    // rows of the leaf whose columns it does not eliminate
    const int leaf = leaf_of(v), above = chain.ku - shared.lead[leaf],
              below = shared.length[leaf] - above - shared.own[leaf];
    Scalar *to      = value(values, leaf, column_of(v));
    RIBBON_UNROLL
    for (int k = 0; k < W; ++k) {
      if (k >= chain.kl && above > 0) to[k - chain.kl] = before[k];
      if (k < below) to[shared.length[leaf] - below + k] = behind[k];
    }
  }

  /// Whether Q^H b stays on the chip, so that b is reflected again on the way down. For a sub-chain, the
  /// way down starts without b.
  KOKKOS_INLINE_FUNCTION bool reflects_again() const { return Many && !solve.tree.is_piece(); }

  /// A sweep over chunks 0 to n - 1 in two parts: fetch(u, v) starts the copies of a chunk, work(u, v,
  /// state) processes it.
  template <class Threads, class Fetch>
  KOKKOS_INLINE_FUNCTION static void prime(Threads &threads, int n, const Fetch &fetch)
  {
    for (int u = 0; u < stages - 1; ++u)
      threads.for_each([&](int v, auto &) {
        if (u < n) fetch(u, v);
        device::async_commit();
      });
  }
  template <class Team, class Threads, class Fetch, class Work>
  KOKKOS_INLINE_FUNCTION static void run(const Team &team, Threads &threads, int n, const Fetch &fetch,
                                         const Work &work)
  {
    for (int u = 0; u < n; ++u) {
      threads.for_each([&](int, auto &) { device::async_wait(stages - 2); });
      team.barrier();
      threads.for_each([&](int v, auto &mine) {
        if (u + stages - 1 < n) fetch(u + stages - 1, v);
        device::async_commit();
        work(u, v, mine);
      });
    }
    threads.for_each([&](int, auto &) { device::async_wait(0); }); // chains without a step have rows, too
    team.barrier();
  }
};

} // namespace ribbon::multifrontal
