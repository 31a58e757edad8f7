// SPDX-License-Identifier: BSD-2-Clause
/// @file chain.hpp  A banded matrix in the multifrontal solver: one chain of unknowns, or several, each
///   divided into the leaves of a tree.
#pragma once

#include <ribbon/lines_from_csr.hpp>

#include <stdexcept>
#include <type_traits>

namespace ribbon {

/// Shape of `chains` equal banded matrices of `rows` rows each, one after another. Row i couples with rows
/// i - kl to i + ku; in a ring these wrap around.
struct Chain {
  std::int64_t rows = 0, chains = 1;
  int          kl = 0, ku = 0;
  bool         ring = false;
  /// A sub-chain, that is, the rows of a longer chain on one rank: columns -kl to -1, or rows to
  /// rows + ku - 1, are unknowns of the neighbouring sub-chains. One chain only.
  bool open_left = false, open_right = false;

  /// Unknowns that both of two neighbouring leaves couple with.
  KOKKOS_INLINE_FUNCTION int  width() const { return kl + ku; }
  KOKKOS_INLINE_FUNCTION bool is_open_left() const { return ring || open_left; }
  KOKKOS_INLINE_FUNCTION bool is_open_right() const { return ring || open_right; }
  /// Distance from the diagonal of row i to a column.
  KOKKOS_INLINE_FUNCTION int distance(std::int64_t i, std::int64_t column) const
  {
    const std::int64_t d = column - i;
    return static_cast<int>(!ring ? d : d > ku ? d - rows : d < -kl ? d + rows : d);
  }
};

/// The entries of a Chain, in the memory of the space that factors. Every row has entries in `local` and,
/// in a sub-chain, more in `outside`; columns ascend in both.
template <class Scalar, class Index>
struct ChainMatrix {
  CsrMatrix<Scalar, Index> local; ///< chains x rows rows
  CsrMatrix<Scalar, Index> outside = {0, nullptr, nullptr, nullptr};
  /// for every column of `outside`: its distance from row 0
  const std::int64_t *outside_column = nullptr;
  /// place i of the chains is row row_of[i] of the matrix and of the vectors; null: i
  const std::int64_t *row_of   = nullptr;
  const std::int64_t *place_of = nullptr; ///< the inverse
};

/// A ChainMatrix in the form that kernels read. @tparam Csr  CsrMatrix, or AnyCsrMatrix
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

/// The rows of a ChainMatrix with indices of either width: a kernel per width would double the device code.
template <class Scalar>
struct ChainEntries : ChainRows<AnyCsrMatrix<Scalar>> {
  template <class Index>
  ChainEntries(const ChainMatrix<Scalar, Index> &A)
      : ChainRows<AnyCsrMatrix<Scalar>>{AnyCsrMatrix<Scalar>(A.local), AnyCsrMatrix<Scalar>(A.outside),
                                        A.outside_column, A.row_of, A.place_of}
  {
  }
  /// Calls f(rows) with ChainRows of one index width: loops over many rows are then compiled for that
  /// width.
  template <class F>
  KOKKOS_INLINE_FUNCTION void with_indices(const F &f) const
  {
    if (this->local.row_begin.wide) f(as<std::int64_t>());
    else f(as<std::int32_t>());
  }
  /// The same for host code, which nvcc rejects in a function for host and device.
  template <class F>
  void with_indices_of_host(const F &f) const
  {
    if (this->local.row_begin.wide) f(as<std::int64_t>());
    else f(as<std::int32_t>());
  }
  /// The rows with indices of this width.
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

/// Calls f(integral_constant K). K = w if w is one of the template arguments, the half-bandwidths with
/// compiled code; else K = 0.
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

/// The elimination tree of a Chain. It depends only on the shape. Leaves are runs of rows. A node of level
/// k + 1 joins two neighbours of level k; an odd node at the end of a level is passed on to the next level.
/// Leaf j of a chain owns rows start(j) to start(j + 1) - 1. A cut at row c has the width() unknowns c - kl
/// to c + ku - 1. Every node passes on W = width() equations in the W unknowns of the cut before it and the
/// W unknowns of the cut after it. At the ends of the chain these are zeros, as if ku rows of zeros
/// preceded the first row and kl followed the last.
struct Tree {
  static constexpr int most_levels = 48;
  Chain                chain;
  std::int64_t         leaves = 1; ///< of one chain
  /// rows of the shortest leaf; the first `longer` leaves have one more
  std::int64_t shortest = 0, longer = 0;
  int          levels = 0; ///< levels with joins; a ring has one more, where its ends meet
  /// nodes of a chain on each level, including those that are passed on
  std::int64_t count[most_levels];
  /// index of the first node of a level among the joining nodes of a chain
  std::int64_t first[most_levels];
  std::int64_t joins = 0; ///< joining nodes of a chain
  std::int64_t slots = 1; ///< places for the leaves of a chain in the factors
  int          stage = 5; ///< levels that a team of a factorization processes at a time

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
  /// Most columns that a leaf in slots first to first + n - 1 removes.
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
  /// Whether the node joins two nodes, or the ends of a ring.
  KOKKOS_INLINE_FUNCTION bool is_join(int level, std::int64_t node) const
  {
    return level > levels || (level > 0 && 2 * node + 1 < count[level - 1]);
  }
  /// Descends from a node that is passed on to the node below that is a join or a leaf.
  KOKKOS_INLINE_FUNCTION void resolve(int &level, std::int64_t &node) const
  {
    while (level > 0 && !is_join(level, node)) --level, node *= 2;
  }
  /// Whether the equations at the top go to the neighbouring sub-chains.
  KOKKOS_INLINE_FUNCTION bool is_piece() const { return chain.open_left || chain.open_right; }
  /// The row of the cut that a join eliminates.
  KOKKOS_INLINE_FUNCTION std::int64_t cut(int level, std::int64_t node) const
  {
    return level > levels ? 0 : start((2 * node + 1) << (level - 1));
  }
  /// The nodes of a level below a node of a higher one, or that node itself.
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

/// A range of levels that one launch processes: a team has one node of level `top` and all nodes below it
/// down to level `bottom`.
struct Levels {
  int bottom, top;
};

} // namespace multifrontal

} // namespace ribbon
