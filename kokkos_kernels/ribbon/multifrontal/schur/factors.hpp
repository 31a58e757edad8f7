// SPDX-License-Identifier: BSD-2-Clause
/// @file factors.hpp  The tree of Schur complements of K. Kuznik's thesis, without pivoting, and the
///   storage of its factors.
///
///     unknowns   [ interior 0 | c_1 ][ interior 1 | c_2 ][ interior 2 | c_3 ][ interior 3 ]
///
/// with w = max(kl, ku) unknowns in each cut c, the last unknowns of the leaf before it.
///
/// A leaf eliminates its interior and leaves a front of 2 w x 2 w in the unknowns of the cuts before and
/// after it. A join adds two fronts and eliminates the cut between them. A = L D U with unit triangles, so
/// that the transposed matrix is solved with L and U exchanged.
#pragma once

#include <ribbon/chain.hpp>
#include <ribbon/multifrontal/qr/solve.hpp>
#include <ribbon/multifrontal/reflector.hpp>

namespace ribbon::multifrontal {

/// Half-bandwidth that determines the width of cuts.
KOKKOS_INLINE_FUNCTION int cut_width(const Chain &chain)
{
  return chain.kl > chain.ku ? chain.kl : chain.ku;
}

template <class Scalar>
struct SchurFactors {
  using Statistics = PivotStatistics<real_t<Scalar>>;
  Scalar *pivot    = nullptr; ///< (leaves, steps): 1 / d_j
  /// (leaves, steps, entries): L for the next w rows, and, with cuts, for the w rows of the cut before
  Scalar *lower = nullptr;
  Scalar *upper = nullptr; ///< the same columns of U
  /// (chains leaves, front_size): fronts of leaves, by rows, the cut before first
  Scalar *front = nullptr;
  /// (chains joins, join_size): the front that is passed, then see Join
  Scalar     *join            = nullptr;
  Statistics *leaf_statistics = nullptr, *join_statistics = nullptr;
  int         numbers  = 0; ///< values of a step: 2 w, or w if the chain is not divided
  int         together = 1; ///< leaves whose factors are interleaved, for threads with one leaf each

  /// The place of a value of step 0 of a leaf; the next step is `count` times `together` further.
  KOKKOS_INLINE_FUNCTION std::int64_t place(const Tree &tree, std::int64_t chain, std::int64_t leaf,
                                            int count) const
  {
    const std::int64_t slot = chain * tree.slots + leaf, tile = together == 1 ? slot : slot / together;
    return tile * tree.most_rows() * count * together + (slot - tile * together);
  }
  static std::int64_t padded(std::int64_t slots, int together)
  {
    return (slots + together - 1) / together * together;
  }
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t front_size(int w)
  {
    return 4 * static_cast<std::int64_t>(w) * w;
  }
  KOKKOS_INLINE_FUNCTION static constexpr std::int64_t join_size(int w)
  {
    return 9 * static_cast<std::int64_t>(w) * w;
  }

  KOKKOS_INLINE_FUNCTION Scalar *front_of(const Tree &tree, std::int64_t chain, int level,
                                          std::int64_t node) const
  {
    const int w = cut_width(tree.chain);
    tree.resolve(level, node);
    return level == 0 ? front + (chain * tree.leaves + node) * front_size(w)
                      : join + tree.join_number(chain, level, node) * join_size(w);
  }
  KOKKOS_INLINE_FUNCTION Statistics &statistics(const Tree &tree, std::int64_t chain, int level,
                                                std::int64_t node) const
  {
    tree.resolve(level, node);
    return level == 0 ? leaf_statistics[chain * tree.leaves + node]
                      : join_statistics[tree.join_number(chain, level, node)];
  }
  /// For a join: S^-1 of its cut by rows (w x w), C S^-1 and (S^-1 C')^T of the cuts before and after it (2
  /// w x w, by columns).
  struct Join {
    Scalar *inverse, *lower, *upper;
  };
  /// `at`: the front that the join passes.
  KOKKOS_INLINE_FUNCTION static Join join_at(Scalar *at, int w)
  {
    at += front_size(w);
    return {at, at + w * w, at + 3 * w * w};
  }
  KOKKOS_INLINE_FUNCTION Join join_of(const Tree &tree, std::int64_t chain, int level,
                                      std::int64_t node) const
  {
    const int w = cut_width(tree.chain);
    return join_at(join + tree.join_number(chain, level, node) * join_size(w), w);
  }
  /// The factors of leaves for the transposed matrix.
  SchurFactors transposed() const
  {
    SchurFactors t = *this;
    t.lower = upper, t.upper = lower;
    return t;
  }
};

/// A leaf: rows first to first + rows - 1; the first `own` rows are eliminated.
struct SchurLeaf {
  std::int64_t chain, node, first;
  int          rows, own;
  bool         left, right; ///< whether there are cuts

  KOKKOS_INLINE_FUNCTION SchurLeaf(const Tree &tree, std::int64_t c, std::int64_t number)
      : chain(c), node(number), first(tree.start(number)),
        rows(static_cast<int>(tree.start(number + 1) - first))
  {
    left = number > 0 || tree.chain.ring, right = number + 1 < tree.leaves || tree.chain.ring;
    own = rows - (right ? cut_width(tree.chain) : 0);
  }
};

/// Operations of a thread on a column at a leaf, or on a row of a join. Up: the contributions of eliminated
/// unknowns to b. Down: the unknowns.
template <class Scalar>
struct SchurSolve {
  QrSolve<Scalar>      at; ///< places of the vectors, and of the 2 w values that nodes pass
  SchurFactors<Scalar> factors;
  bool                 is_transposed;

  /// Unknown k of a cut; `cut` is the first row after it.
  KOKKOS_INLINE_FUNCTION Scalar &at_cut(std::int64_t chain, std::int64_t cut, int k,
                                        std::int64_t column) const
  {
    return at.x(chain, cut - cut_width(at.tree.chain) + k, column);
  }

  /// C columns; numbers(c, k): 2 w values of column c in the thread.
  template <int K, int C, class Numbers>
  KOKKOS_INLINE_FUNCTION void leaf_up(const SchurLeaf &leaf, std::int64_t column,
                                      const Numbers &numbers) const
  {
    constexpr int w      = K;
    const Tree   &tree   = at.tree;
    const int     stride = factors.together;
    const Scalar *l      = factors.lower + factors.place(tree, leaf.chain, leaf.node, factors.numbers);
    RIBBON_UNROLL
    for (int c = 0; c < C; ++c) {
      RIBBON_UNROLL
      for (int k = 0; k < 2 * w; ++k) numbers(c, k) = Scalar(0);
    }
    for (int s = 0; s < leaf.own; ++s, l += factors.numbers * stride) {
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) {
        const Scalar y = at.b(leaf.chain, leaf.first + s, column + c) - (w > 0 ? numbers(c, 0) : Scalar(0));
        RIBBON_UNROLL
        for (int k = 0; k + 1 < w; ++k) numbers(c, k) = numbers(c, k + 1) + l[k * stride] * y;
        if (w > 0) numbers(c, w - 1) = l[(w - 1) * stride] * y;
        if (leaf.left) {
          RIBBON_UNROLL
          for (int k = 0; k < w; ++k) numbers(c, w + k) += l[(w + k) * stride] * y;
        }
        at.x(leaf.chain, leaf.first + s, column + c) = y;
      }
    }
    RIBBON_UNROLL
    for (int c = 0; c < C; ++c) {
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) {
        if (leaf.left) at.passed(leaf.chain, 0, leaf.node, k, column + c) = -numbers(c, w + k);
        if (leaf.right)
          at.passed(leaf.chain, 0, leaf.node, w + k, column + c) =
            at.b(leaf.chain, leaf.first + leaf.own + k, column + c) - numbers(c, k);
      }
    }
  }

  template <int K, int C, class Numbers>
  KOKKOS_INLINE_FUNCTION void leaf_down(const SchurLeaf &leaf, std::int64_t column,
                                        const Numbers &numbers) const
  {
    constexpr int w      = K;
    const Tree   &tree   = at.tree;
    const int     stride = factors.together;
    const Scalar *u      = factors.upper + factors.place(tree, leaf.chain, leaf.node, factors.numbers) +
                      static_cast<std::int64_t>(leaf.own) * factors.numbers * stride;
    const Scalar *d = factors.pivot + factors.place(tree, leaf.chain, leaf.node, 1) +
                      static_cast<std::int64_t>(leaf.own) * stride;
    RIBBON_UNROLL
    for (int c = 0; c < C; ++c) {
      RIBBON_UNROLL
      for (int k = 0; k < w; ++k) {
        numbers(c, k) = leaf.right ? at_cut(leaf.chain, leaf.first + leaf.rows, k, column + c) : Scalar(0);
        numbers(c, w + k) = leaf.left ? at_cut(leaf.chain, leaf.first, k, column + c) : Scalar(0);
      }
    }
    for (int s = leaf.own - 1; s >= 0; --s) {
      u -= factors.numbers * stride, d -= stride;
      RIBBON_UNROLL
      for (int c = 0; c < C; ++c) {
        Scalar &x   = at.x(leaf.chain, leaf.first + s, column + c);
        Scalar  sum = x * d[0];
        if (leaf.left) {
          RIBBON_UNROLL
          for (int k = 0; k < w; ++k) sum -= u[(w + k) * stride] * numbers(c, w + k);
        }
        RIBBON_UNROLL
        for (int k = w - 1; k >= 0; --k)
          sum -= u[k * stride] * numbers(c, k); // the most recent unknown is used last
        RIBBON_UNROLL
        for (int k = w - 1; k > 0; --k) numbers(c, k) = numbers(c, k - 1);
        if (w > 0) numbers(c, 0) = sum;
        x = sum;
      }
    }
  }

  /// Row r of a join: of its cut, then of the cuts before and after it.
  KOKKOS_INLINE_FUNCTION void join_up(std::int64_t chain, int level, std::int64_t node, int r,
                                      std::int64_t column) const
  {
    const Tree        &tree   = at.tree;
    const int          w      = cut_width(tree.chain);
    const bool         closes = level > tree.levels;
    const std::int64_t before = closes ? 0 : 2 * node, behind = closes ? 0 : 2 * node + 1;
    const typename SchurFactors<Scalar>::Join join = factors.join_of(tree, chain, level, node);
    const bool                                left = !closes && (node > 0 || tree.chain.ring),
               right = !closes && (node + 1 < tree.count[level] || tree.chain.ring);
    const int outer  = r - w;
    if (outer >= 0 && !(outer < w ? left : right)) return;
    const Scalar *first  = &at.passed(chain, level - 1, before, 0, column),
                 *second = &at.passed(chain, level - 1, behind, 0, column);
    Scalar sum(0);
    for (int k = 0; k < w; ++k) {
      const Scalar s = first[(w + k) * at.v.columns] + second[k * at.v.columns];
      sum += (outer >= 0      ? (is_transposed ? join.upper : join.lower)[k * 2 * w + outer]
              : is_transposed ? join.inverse[k * w + r]
                              : join.inverse[r * w + k]) *
             s;
    }
    if (outer < 0) at_cut(chain, tree.cut(level, node), r, column) = sum;
    else
      at.passed(chain, level, node, outer, column) = (outer < w ? first : second)[outer * at.v.columns] - sum;
  }
  KOKKOS_INLINE_FUNCTION void join_down(std::int64_t chain, int level, std::int64_t node, int r,
                                        std::int64_t column) const
  {
    const Tree &tree = at.tree;
    const int   w    = cut_width(tree.chain);
    if (level > tree.levels) return;
    const auto    join  = factors.join_of(tree, chain, level, node);
    const Scalar *upper = (is_transposed ? join.lower : join.upper) + r * 2 * w;
    Scalar        sum(0);
    if (node > 0 || tree.chain.ring)
      for (int k = 0; k < w; ++k)
        sum += upper[k] * at_cut(chain, tree.start(tree.first_leaf(level, node)), k, column);
    if (node + 1 < tree.count[level] || tree.chain.ring)
      for (int k = 0; k < w; ++k)
        sum += upper[w + k] * at_cut(chain, tree.start(tree.end_leaf(level, node)), k, column);
    at_cut(chain, tree.cut(level, node), r, column) -= sum;
  }
};

} // namespace ribbon::multifrontal
