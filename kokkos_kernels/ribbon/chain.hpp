// SPDX-License-Identifier: BSD-2-Clause
/// @file chain.hpp  A banded matrix as the multifrontal solver sees it: one chain of unknowns, or several,
///   each cut into the leaves of a tree.
#pragma once

#include <ribbon/lines_from_csr.hpp>

#include <stdexcept>
#include <type_traits>

namespace ribbon {

/// Shape of `chains` equal banded matrices of `rows` rows each, one behind another. Row i couples with rows i
/// - kl to i + ku; in a ring these wrap around.
struct Chain {
  std::int64_t rows = 0, chains = 1;
  int          kl = 0, ku = 0;
  bool         ring = false;
  /// A piece of a longer chain: columns -kl to -1, or rows to rows + ku - 1, are unknowns of the
  /// neighbouring pieces. One chain only.
  bool open_left = false, open_right = false;

  /// Unknowns between two neighbours that both couple with.
  KOKKOS_INLINE_FUNCTION int  width() const { return kl + ku; }
  KOKKOS_INLINE_FUNCTION bool is_open_left() const { return ring || open_left; }
  KOKKOS_INLINE_FUNCTION bool is_open_right() const { return ring || open_right; }
  /// Places from the diagonal of row i to a column.
  KOKKOS_INLINE_FUNCTION int distance(std::int64_t i, std::int64_t column) const
  {
    const std::int64_t d = column - i;
    return static_cast<int>(!ring ? d : d > ku ? d - rows : d < -kl ? d + rows : d);
  }
};

/// Where the entries of a Chain are, in the memory of the space that factors. Every row has its entries in
/// `local` and, in a piece, more in `outside`; columns ascend in both.
template <class Scalar, class Index>
struct ChainMatrix {
  CsrMatrix<Scalar, Index> local; ///< of chains x rows rows
  CsrMatrix<Scalar, Index> outside = {0, nullptr, nullptr, nullptr};
  /// for every column of `outside`: its distance from row 0
  const std::int64_t *outside_column = nullptr;
  /// place i of the chains is row row_of[i] of the matrix and the vectors; null: i
  const std::int64_t *row_of   = nullptr;
  const std::int64_t *place_of = nullptr; ///< the inverse
};

/// A ChainMatrix as kernels read it. @tparam Csr  CsrMatrix, or AnyCsrMatrix
template <class Csr>
struct ChainRows {
  Csr                 local, outside;
  const std::int64_t *outside_column, *row_of, *place_of;

  /// The row of the matrix at place i of a chain.
  KOKKOS_INLINE_FUNCTION std::int64_t row(const Chain &chain, std::int64_t number, std::int64_t i) const
  {
    const std::int64_t place = number * chain.rows + i;
    return row_of ? row_of[place] : place;
  }
  KOKKOS_INLINE_FUNCTION int entries(std::int64_t row) const
  {
    const auto inside = local.row_begin[row + 1] - local.row_begin[row];
    return static_cast<int>(outside.rows > 0 ? inside + outside.row_begin[row + 1] - outside.row_begin[row]
                                             : inside);
  }
  /// Value of entry e of the row at place i of a chain, and its distance from the diagonal.
  KOKKOS_INLINE_FUNCTION auto entry(const Chain &chain, std::int64_t number, std::int64_t i, std::int64_t row,
                                    int e, int &distance) const
  {
    const auto at = local.row_begin[row] + e, end = local.row_begin[row + 1];
    if (at < end) {
      const std::int64_t column = local.column[at];
      distance = chain.distance(i, (place_of ? place_of[column] : column) - number * chain.rows);
      return local.value[at];
    }
    const auto far = outside.row_begin[row] + (at - end);
    distance       = chain.distance(i, outside_column[outside.column[far]]);
    return outside.value[far];
  }
};

/// The rows of a ChainMatrix with indices of either width: a kernel for each would be twice as many.
template <class Scalar>
struct ChainEntries : ChainRows<AnyCsrMatrix<Scalar>> {
  template <class Index>
  ChainEntries(const ChainMatrix<Scalar, Index> &A)
      : ChainRows<AnyCsrMatrix<Scalar>>{AnyCsrMatrix<Scalar>(A.local), AnyCsrMatrix<Scalar>(A.outside),
                                        A.outside_column, A.row_of, A.place_of}
  {
  }
  /// Calls f(rows) with ChainRows of one width, for loops over many rows, whose code
  /// is then that of the width.
  template <class F>
  KOKKOS_INLINE_FUNCTION void with_indices(const F &f) const
  {
    if (this->local.row_begin.wide) f(as<std::int64_t>());
    else f(as<std::int32_t>());
  }
  /// The same for code of hosts alone, which nvcc does not take from a function for both.
  template <class F>
  void with_indices_of_host(const F &f) const
  {
    if (this->local.row_begin.wide) f(as<std::int64_t>());
    else f(as<std::int32_t>());
  }
  /// The rows, whose indices have this width.
  template <class Index>
  KOKKOS_INLINE_FUNCTION ChainRows<CsrMatrix<Scalar, Index>> as() const
  {
    const auto csr = [](const AnyCsrMatrix<Scalar> &A) {
      return CsrMatrix<Scalar, Index>{A.rows, static_cast<const Index *>(A.row_begin.data),
                                      static_cast<const Index *>(A.column.data), A.value};
    };
    return {csr(this->local), csr(this->outside), this->outside_column, this->row_of, this->place_of};
  }
};

namespace multifrontal {

/// Calls f(integral_constant K), K = w where w is one of the widths, half-bandwidths with
/// code of their own, else 0.
template <int Width, int... Widths, class F>
decltype(auto) with_half_bandwidth(int w, const F &f)
{
  if (w == Width) return f(std::integral_constant<int, Width>());
  if constexpr (sizeof...(Widths) > 0) return with_half_bandwidth<Widths...>(w, f);
  else return f(std::integral_constant<int, 0>());
}

/// Neighbouring nodes of a level.
struct NodeRange {
  std::int64_t begin, end;
};

/// The elimination tree of a Chain, which depends on nothing but the shape. Leaves are runs of rows; a node
/// of level k + 1 joins two neighbours of level k, and what is left over at the end of a level is passed on.
/// Leaf j of a chain owns rows start(j) to start(j + 1) - 1. A cut at row c has the width() unknowns c - kl
/// to c + ku - 1. Every node leaves over W = width() equations in the W unknowns of the cut before it and
/// the W of the cut behind; where the chain ends these are zeros, as if ku rows of zeros came before its
/// first and kl behind its last.
struct Tree {
  static constexpr int most_levels = 48;
  Chain                chain;
  std::int64_t         leaves = 1; ///< of one chain
  /// rows of the shortest leaf; leaves that have one more come first
  std::int64_t shortest = 0, longer = 0;
  int          levels = 0; ///< joining ones; a ring has one more, where its ends meet
  /// nodes of a chain on each level, those that are passed on among them
  std::int64_t count[most_levels];
  /// number of the first node of a level among the joining nodes of a chain
  std::int64_t first[most_levels];
  std::int64_t joins = 0; ///< joining nodes of a chain
  std::int64_t slots = 1; ///< places that factors keep for the leaves of a chain
  int          stage = 5; ///< levels that teams of a factorization work off at a time

  Tree() : count{1}, first{0} { }
  Tree(const Chain &shape, std::int64_t leaf_count)
      : chain(shape), leaves(leaf_count), shortest(shape.rows / leaf_count),
        longer(shape.rows % leaf_count), count{leaf_count}, first{0}, slots(leaf_count)
  {
    while (count[levels] > 1) {
      if (levels + 2 >= most_levels) throw std::invalid_argument("ribbon::ChainSolver: too many leaves");
      count[levels + 1] = (count[levels] + 1) / 2;
      first[++levels]   = joins;
      joins += count[levels];
    }
    if (chain.ring) count[levels + 1] = 1, first[levels + 1] = joins++;
  }

  /// Rows of the longest leaf.
  KOKKOS_INLINE_FUNCTION std::int64_t most_rows() const { return shortest + (longer > 0 ? 1 : 0); }
  /// Columns that the leaves in slots first to first + n - 1 remove at most.
  KOKKOS_INLINE_FUNCTION int most_steps(std::int64_t first_slot, int n) const
  {
    const std::int64_t at   = first_slot < slots ? first_slot : first_slot % slots;
    const int          left = at == 0 && !chain.is_open_left() ? chain.ku : 0,
              right         = at + n >= leaves && !chain.is_open_right() ? chain.kl : 0;
    return static_cast<int>(most_rows()) - chain.width() + left + right;
  }
  /// The level where the stage that begins at level `bottom` ends.
  KOKKOS_INLINE_FUNCTION int stage_top(int bottom) const
  {
    return bottom + stage < levels ? bottom + stage : top();
  }
  KOKKOS_INLINE_FUNCTION int top() const { return levels + (chain.ring ? 1 : 0); }
  KOKKOS_INLINE_FUNCTION std::int64_t start(std::int64_t leaf) const
  {
    return leaf * shortest + (leaf < longer ? leaf : longer);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t first_leaf(int level, std::int64_t node) const
  {
    return level > levels ? 0 : (node << level) < leaves ? node << level : leaves;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t end_leaf(int level, std::int64_t node) const
  {
    return level > levels ? leaves : first_leaf(level, node + 1);
  }
  /// Whether the node joins two, or the ends of a ring.
  KOKKOS_INLINE_FUNCTION bool is_join(int level, std::int64_t node) const
  {
    return level > levels || (level > 0 && 2 * node + 1 < count[level - 1]);
  }
  /// Goes down from a node that is passed on to the one that is.
  KOKKOS_INLINE_FUNCTION void resolve(int &level, std::int64_t &node) const
  {
    while (level > 0 && !is_join(level, node)) --level, node *= 2;
  }
  /// Whether what is left over at the top goes to the pieces beside this one.
  KOKKOS_INLINE_FUNCTION bool is_piece() const { return chain.open_left || chain.open_right; }
  /// The row where a join cuts its part of the chain.
  KOKKOS_INLINE_FUNCTION std::int64_t cut(int level, std::int64_t node) const
  {
    return level > levels ? 0 : start((2 * node + 1) << (level - 1));
  }
  /// The nodes of a level that are below a node of a higher one, or that node itself.
  KOKKOS_INLINE_FUNCTION NodeRange below(int high, std::int64_t node, int level) const
  {
    if (level > levels) return {0, 1};
    const std::int64_t begin = node << (high - level), end = (node + 1) << (high - level);
    return {begin, end < count[level] ? end : count[level]};
  }
  KOKKOS_INLINE_FUNCTION std::int64_t join_number(std::int64_t in_chain, int level, std::int64_t node) const
  {
    return in_chain * joins + first[level] + node;
  }
};

/// A run of levels that one launch works off: a team has one node of `top` and everything
/// below it down to `bottom`.
struct Levels {
  int bottom, top;
};

} // namespace multifrontal

} // namespace ribbon
