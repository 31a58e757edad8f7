// SPDX-License-Identifier: BSD-2-Clause
/// @file join.hpp  Joins of a tree, of any width: QR of the equations that two neighbours pass on.
#pragma once

#include <ribbon/device/lane_sum.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/multifrontal/factors.hpp>
#include <ribbon/multifrontal/stages.hpp>

namespace ribbon::multifrontal {

/// A join, and the equations that its children pass.
template <class Scalar>
struct Front {
  using Statistics = typename Factors<Scalar>::Statistics;
  typename Factors<Scalar>::Passed before, behind;
  typename Factors<Scalar>::Join   join;
  Statistics                      *statistics;
  const Statistics                *statistics_before, *statistics_behind;
  bool                             closes; ///< the ends of a ring: both are the same child
  int                              exchanged;

  KOKKOS_INLINE_FUNCTION Front(const Factors<Scalar> &factors, const Tree &tree, std::int64_t chain,
                               int level, std::int64_t node)
      : join(factors.join_at(tree, chain, level, node)), closes(level > tree.levels),
        exchanged(rows_exchanged(tree, node))
  {
    int          l = level - 1, r = level - 1;
    std::int64_t left = closes ? 0 : 2 * node, right = closes ? 0 : 2 * node + 1;
    tree.resolve(l, left), tree.resolve(r, right);
    before = factors.passed(tree, chain, l, left), behind = factors.passed(tree, chain, r, right);
    statistics        = &factors.statistics(tree, chain, level, node);
    statistics_before = &factors.statistics(tree, chain, l, left),
    statistics_behind = &factors.statistics(tree, chain, r, right);
  }
  /// Count of rows of a front that are exchanged with those W further: the first ku rows of a child at the
  /// beginning of a chain are zeros, which must not be pivot rows, see Leaf.
  KOKKOS_INLINE_FUNCTION static int rows_exchanged(const Tree &tree, std::int64_t node)
  {
    return node == 0 && !tree.chain.is_open_left() ? tree.chain.ku : 0;
  }
  /// The column of the matrix for unknown k of the cut.
  KOKKOS_INLINE_FUNCTION static std::int64_t column_number(const Tree &tree, std::int64_t chain, int level,
                                                           std::int64_t node, int k)
  {
    const std::int64_t c = tree.cut(level, node) - tree.chain.kl + k;
    return chain * tree.chain.rows + (c < 0 ? c + tree.chain.rows : c);
  }

  /// Entry (i, c) of the front, zero after its 2 W rows. Its columns are the W of the cut, the W of the cut
  /// before, the W of the cut after, and the 2 W of Q^H, initially an identity. The closing join of a ring
  /// has only the first and the last of these, with W rows and W rows of zeros.
  KOKKOS_INLINE_FUNCTION Scalar entry(int i, int c) const
  {
    const int W = join.passed.W;
    if (i >= 2 * W) return Scalar(0);
    if (i < exchanged) i += W;
    else if (i >= W && i < W + exchanged) i -= W;
    if (c >= 3 * W) return Scalar(c - 3 * W == i ? 1 : 0);
    if (closes) return c < W && i < W ? before.entry(i, W + c) + before.entry(i, c) : Scalar(0);
    if (i < W) return c < W ? before.entry(i, W + c) : c < 2 * W ? before.entry(i, c - W) : Scalar(0);
    return c < W ? behind.entry(i - W, c) : c < 2 * W ? Scalar(0) : behind.entry(i - W, c - W);
  }
  /// The largest entry of column c < 3 W in the matrix.
  KOKKOS_INLINE_FUNCTION Scalar scale(int c) const
  {
    const int    W     = join.passed.W;
    const bool   above = c < W || (c < 2 * W && !closes), below = c < W || (c >= 2 * W && !closes);
    const Scalar a = above ? before.scale(c < W ? W + c : c - W) : Scalar(0),
                 b = below ? behind.scale(c < W ? c : c - W) : Scalar(0);
    return magnitude(a) <= magnitude(b) ? b : a;
  }
};

/// A team has a join; the last of two teams that reach a node continues with it. First the columns of the
/// cut are eliminated in scratch, reflection by reflection. All lanes apply each reflection at the same
/// time; a few lanes share a column. The other columns are then independent: `batch` of them are copied to
/// scratch at a time, and four reflections are applied in one pass over a column.
template <class Scalar>
struct QrJoinKernel {
  static constexpr int max_threads = 256;
  /// few registers: many teams of half as many threads run at the same time
  static constexpr int teams_beside = 3;
  static constexpr int together     = 4; ///< reflections that are applied at a time
  static constexpr int products     = together * (together - 1) / 2;
  using Real                        = real_t<Scalar>;
  using Front                       = multifrontal::Front<Scalar>;
  /// A team has `columns` (at least W) times `parts` threads; whole warps on a device.
  struct Shape {
    int columns, parts; ///< parts: lanes that share a column, each with every parts-th of its rows
    int batch;          ///< of the other columns, count in scratch at a time; at most `columns`
    int row_bits;       ///< 2^row_bits lanes load a column
  };
  Tree            tree;
  Factors<Scalar> factors;
  Arrivals        arrivals;
  Shape           shape;

  struct Pivot {
    Real beta, one_over_beta, size;
  };
  struct Scratch {
    /// (W, ld) the columns of the cut; they become reflections (1, entries below it, zeros above)
    Scalar *cut;
    Scalar *other; ///< (batch, ld)
    /// (blocks of reflections, products): v_k^H v_j of the reflections j < k of a block
    Scalar *product;
    Scalar *tau, *factor; ///< conj(tau), and the factor that scales a column to a reflection
    Pivot  *pivot;
    int    *flag;

    static std::size_t bytes(int W, const Shape &shape)
    {
      const auto numbers = static_cast<std::size_t>((W + shape.batch) * ld(W, shape.parts) +
                                                    (W + together - 1) / together * products + 2 * W);
      return device::align16(numbers * sizeof(Scalar)) +
             device::align16(static_cast<std::size_t>(W) * sizeof(Pivot)) + 16;
    }
    KOKKOS_INLINE_FUNCTION Scratch(char *memory, int W, const Shape &shape)
    {
      cut     = reinterpret_cast<Scalar *>(memory);
      other   = cut + W * ld(W, shape.parts);
      product = other + shape.batch * ld(W, shape.parts);
      tau     = product + (W + together - 1) / together * products;
      factor  = tau + W;
      memory += device::align16(static_cast<std::size_t>(factor + W - cut) * sizeof(Scalar));
      pivot = reinterpret_cast<Pivot *>(memory);
      flag  = reinterpret_cast<int *>(memory + device::align16(static_cast<std::size_t>(W) * sizeof(Pivot)));
    }
    /// Rows of a lane, which are processed four at a time: rows after the 2 W-th are zeros.
    KOKKOS_INLINE_FUNCTION static int rows(int W, int parts)
    {
      return ((2 * W + parts - 1) / parts + 3) / 4 * 4;
    }
    /// An odd multiple of `parts`, so that lanes read different banks.
    KOKKOS_INLINE_FUNCTION static int ld(int W, int parts) { return (rows(W, parts) + 1) * parts; }
  };

  /// Calls body(v) for all threads of a team.
  template <class Team, class Body>
  KOKKOS_INLINE_FUNCTION static void phase(const Team &team, const Body &body)
  {
    if constexpr (Team::is_virtual)
      for (int v = 0; v < team.size(); ++v) body(v);
    else body(team.rank());
    team.barrier();
  }

  /// Computes reflection k, and applies it to the columns after it.
  KOKKOS_INLINE_FUNCTION void eliminate(const Scratch &s, int k, int v) const
  {
    const int W = tree.chain.width(), parts = shape.parts, ld = Scratch::ld(W, parts),
              rows = Scratch::rows(W, parts), part = v % parts, c = k + 1 + v / parts,
              first       = (k + 1) / (4 * parts) * 4;
    const bool has_column = c < W;
    // a warp without columns; the first warp computes the reflection
    if (v >= 32 && k + 1 + (v - v % 32) / parts >= W) return;
    const Scalar *x      = s.cut + k * ld;
    Scalar       *column = s.cut + (has_column ? c : k) * ld;
    const Scalar  top    = column[k];
    Scalar        product(0);
    Real          rest(0);
    for (int m = first; m < rows; m += 4) {
      Scalar a[4], b[4];
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) {
        const int i = part + (m + u) * parts;
        a[u] = i > k ? x[i] : Scalar(0), b[u] = column[i];
      }
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) rest += squared(a[u]), product += conjugate(a[u]) * b[u];
    }
    rest = device::lane_sum(rest, parts), product = device::lane_sum(product, parts);
    const Reflector<Scalar> h = make_reflector(x[k], rest);
    const Scalar sum = (top + conjugate(h.factor) * product) * h.tau_conjugate, tail = h.factor * sum;
    device::lane_barrier(32); // `top` has been read
    if (v == 0)
      s.tau[k] = h.tau_conjugate, s.factor[k] = h.factor, s.pivot[k].beta = h.beta,
      s.pivot[k].one_over_beta = h.one_over_beta;
    if (!has_column) return;
    for (int m = k / (4 * parts) * 4; m < rows; m += 4) {
      Scalar a[4], b[4];
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) {
        const int i = part + (m + u) * parts;
        a[u] = x[i], b[u] = column[i];
      }
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) {
        const int i = part + (m + u) * parts;
        if (i >= k) column[i] = b[u] - (i > k ? a[u] * tail : sum);
      }
    }
  }
  /// Applies N reflections from k on to a column. Lanes without a column must take part.
  template <int N>
  KOKKOS_INLINE_FUNCTION void apply(const Scratch &s, int k, Scalar *column, int part, bool has_column) const
  {
    const int W = tree.chain.width(), parts = shape.parts, ld = Scratch::ld(W, parts),
              rows = has_column ? Scratch::rows(W, parts) : 0, first = k / (4 * parts) * 4;
    const Scalar *x = s.cut + k * ld + part, *between = s.product + k / together * products;
    Scalar       *y = column + part;
    Scalar        sum[N];
    RIBBON_UNROLL
    for (int j = 0; j < N; ++j) sum[j] = Scalar(0);
    for (int m = first; m < rows; m += 4) {
      Scalar a[4], b[N][4];
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) {
        a[u] = y[(m + u) * parts];
        RIBBON_UNROLL
        for (int j = 0; j < N; ++j) b[j][u] = x[j * ld + (m + u) * parts];
      }
      RIBBON_UNROLL
      for (int j = 0; j < N; ++j) {
        RIBBON_UNROLL
        for (int u = 0; u < 4; ++u) sum[j] += conjugate(b[j][u]) * a[u];
      }
    }
    RIBBON_UNROLL
    for (int j = 0; j < N; ++j) sum[j] = device::lane_sum(sum[j], parts);
    RIBBON_UNROLL
    for (int j = 0; j < N; ++j) {
      RIBBON_UNROLL
      for (int m = 0; m < j; ++m) sum[j] -= between[j * (j - 1) / 2 + m] * sum[m];
      sum[j] *= s.tau[k + j];
    }
    for (int m = first; m < rows; m += 4) {
      Scalar a[4];
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) {
        a[u] = y[(m + u) * parts];
        RIBBON_UNROLL
        for (int j = 0; j < N; ++j) a[u] -= x[j * ld + (m + u) * parts] * sum[j];
      }
      RIBBON_UNROLL
      for (int u = 0; u < 4; ++u) y[(m + u) * parts] = a[u];
    }
  }
  KOKKOS_INLINE_FUNCTION void apply_all(const Scratch &s, Scalar *column, int part, bool has_column) const
  {
    const int W = tree.chain.width();
    int       k = 0;
    for (; k + together <= W; k += together) apply<together>(s, k, column, part, has_column);
    for (; k < W; ++k) apply<1>(s, k, column, part, has_column);
  }
  /// Products of the reflections of a block with one another.
  KOKKOS_INLINE_FUNCTION void multiply(const Scratch &s, int e) const
  {
    const int W = tree.chain.width(), ld = Scratch::ld(W, shape.parts), pair = e % products,
              k = pair < 1   ? 1
                  : pair < 3 ? 2
                             : 3,
              j = pair - k * (k - 1) / 2, first = e / products * together;
    if (first + k >= W) return;
    const Scalar *a = s.cut + (first + k) * ld, *b = s.cut + (first + j) * ld;
    Scalar        sum(0);
    for (int i = first + k; i < 2 * W; ++i) sum += conjugate(a[i]) * b[i];
    s.product[e] = sum;
  }
  /// Stores R, and replaces the columns by reflections.
  KOKKOS_INLINE_FUNCTION void keep_cut(const Scratch &s, const Front &f, int i, int c) const
  {
    const int W = tree.chain.width();
    Scalar   &a = s.cut[c * Scratch::ld(W, shape.parts) + i];
    if (i < W) f.join.r[c * W + i] = i < c ? a : i == c ? Scalar(s.pivot[c].one_over_beta) : Scalar(0);
    if (i < c) a = Scalar(0);
    else if (i == c) a = Scalar(1);
    else a *= s.factor[c];
  }
  /// Stores entry (i, c) of the front after all reflections.
  KOKKOS_INLINE_FUNCTION void keep(const Front &f, int i, int c, const Scalar &a) const
  {
    const int W = tree.chain.width();
    if (c >= 3 * W) f.join.q[(c - 3 * W) * 2 * W + i] = a;
    else if (i < W) f.join.cut[(c - W) * W + i] = a;
    else f.join.passed.entry(i - W, c - W) = a;
    if (i == 0 && c < 3 * W) f.join.passed.scale(c - W) = f.scale(c);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void join(const Team &team, const Scratch &s, std::int64_t chain, int level,
                                   std::int64_t node) const
  {
    const int W = tree.chain.width(), ld = Scratch::ld(W, shape.parts),
              padded = Scratch::rows(W, shape.parts) * shape.parts, threads = team.size(),
              rows_at_once = 1 << shape.row_bits;
    const Front f(factors, tree, chain, level, node);
    const auto  bring = [&](Scalar *to, int first, int columns, int v) {
      for (int i = v & (rows_at_once - 1); i < padded; i += rows_at_once)
        device::copy_in_fours(
           v >> shape.row_bits, threads >> shape.row_bits, columns,
           [&](int c) { return f.entry(i, first + c); }, [&](int c, const Scalar &a) { to[c * ld + i] = a; });
    };
    const auto each = [&](int columns, int v, const auto &body) { // body(row, column)
      for (int i = v & (rows_at_once - 1); i < 2 * W; i += rows_at_once)
        for (int c = v >> shape.row_bits; c < columns; c += threads >> shape.row_bits) body(i, c);
    };
    phase(team, [&](int v) {
      bring(s.cut, 0, W, v);
      for (int c = v; c < W; c += threads) s.pivot[c].size = magnitude(f.scale(c));
    });
    for (int k = 0; k < W; ++k) phase(team, [&](int v) { eliminate(s, k, v); });
    phase(team, [&](int v) { each(W, v, [&](int i, int c) { keep_cut(s, f, i, c); }); });
    phase(team, [&](int v) {
      for (int e = v; e < (W + together - 1) / together * products; e += threads) multiply(s, e);
      if (v != threads - 1) return;
      typename Factors<Scalar>::Statistics watched = *f.statistics_before;
      if (!f.closes) watched.join(*f.statistics_behind);
      for (int k = 0; k < W; ++k) {
        watched.look_at_column(s.pivot[k].size);
        watched.take(pivot_of(s.pivot[k].beta), s.pivot[k].size,
                     f.column_number(tree, chain, level, node, k));
      }
      *f.statistics = watched;
    });
    for (int first = f.closes ? 3 * W : W; first < 5 * W; first += shape.batch) {
      const int columns = 5 * W - first < shape.batch ? 5 * W - first : shape.batch;
      phase(team, [&](int v) { bring(s.other, first, columns, v); });
      phase(team, [&](int v) {
        const int c = v / shape.parts;
        apply_all(s, s.other + (c < columns ? c : 0) * ld, v % shape.parts, c < columns);
      });
      phase(team, [&](int v) {
        each(columns, v, [&](int i, int c) { keep(f, i, first + c, s.other[c * ld + i]); });
      });
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t lowest = tree.count[tree.stage_top(0)], chain = team.league_rank() / lowest;
    const Scratch      s(team.scratch(), tree.chain.width(), shape);
    climb(team, tree, arrivals, chain, team.league_rank() % lowest, 0, 1, s.flag,
          [&](const Levels &levels, std::int64_t top) {
            for (int level = levels.bottom + 1; level <= levels.top; ++level) {
              const NodeRange nodes = tree.below(levels.top, top, level);
              for (std::int64_t node = nodes.begin; node < nodes.end; ++node)
                if (tree.is_join(level, node)) join(team, s, chain, level, node);
            }
          });
  }
};

} // namespace ribbon::multifrontal
