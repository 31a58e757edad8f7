// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf.hpp  Leaves of a tree on hosts, one thread each, for bands that are too wide for bundles
///   (qr_leaf_lanes.hpp): the window is stored by rows, so that the compiler vectorizes over columns. Steps
///   and factors are those of qr/leaf.hpp and qr/solve.hpp.
#pragma once

#include <ribbon/host/vectors.hpp>
#include <ribbon/multifrontal/factors.hpp>

#include <algorithm>

namespace ribbon::multifrontal {

/// Columns that are eliminated before the window is shifted.
constexpr int host_step = 32;
/// Scalars of a row: those of the cut before the leaf, then the leading columns.
constexpr int host_row_size(int W)
{
  return 2 * W + 1 + host_step;
}

/// Orthogonal elimination of a leaf.
template <class Scalar, class Matrix>
class HostLeaf {
  using Real = real_t<Scalar>;
  const Tree            &tree_;
  const Factors<Scalar> &factors_;
  const Matrix          &A_;
  const Leaf             leaf_;
  const int              W_, size_;
  Scalar *const window_, *const entering_;
  Real *const largest_;  ///< largest entries of the columns
  int         base_ = 0; ///< the first leading column
  /// a row of the window has entered, so that it has entries in the cut before
  bool                  wraps_ = false;
  PivotStatistics<Real> statistics_;
  Scalar               *reflection_, *upper_; ///< of the next step

  /// Row i of the leaf, scaled.
  void load(int i, Scalar *to)
  {
    const Chain       &chain = tree_.chain;
    const std::int64_t place = leaf_.first + i, row = A_.row(chain, leaf_.chain, place);
    const int          entries = A_.entries(row);
    Real               in_row  = 0;
    int                distance;
    for (int e = 0; e < entries; ++e) {
      const Scalar value  = A_.entry(chain, leaf_.chain, place, row, e, distance);
      const int    column = i + distance,
                at        = column < chain.ku ? column + chain.kl : W_ + column - chain.ku - base_;
      in_row              = std::max(in_row, magnitude(value));
      to[at]              = value;
    }
    const int exponent = exponent_of<Real>(size_word(static_cast<double>(in_row))),
              first = i < W_ ? 0 : i - base_, end = W_ + i + 1 - base_;
    const Real scale = static_cast<Real>(power_of_two(-exponent));
    statistics_.take_row(exponent, in_row == Real(0), leaf_.chain * chain.rows + place);
    factors_.scale(tree_, leaf_.chain, leaf_.node, place) = scale;
    for (int at = first; at < end; ++at) {
      to[at] *= scale;
      const Real size = magnitude(to[at]);
      largest_[at]    = size <= largest_[at] ? largest_[at] : size;
    }
  }
  /// Reflects W columns from place `at` on.
  void reflect(const Reflector<Scalar> &h, int at, Scalar *kept) const
  {
    int c = 0;
    for (; c + 4 <= W_; c += 4) reflect(h, at + c, kept + c, std::integral_constant<int, 4>());
    for (; c < W_; ++c) reflect(h, at + c, kept + c, std::integral_constant<int, 1>());
  }
  template <class Columns>
  void reflect(const Reflector<Scalar> &h, int at, Scalar *kept, Columns) const
  {
    constexpr int columns = Columns();
    Scalar        sum[columns];
    for (int c = 0; c < columns; ++c) sum[c] = entering_[at + c];
    for (int k = 0; k < W_; ++k) {
      const Scalar v = conjugate(reflection_[1 + k]);
      for (int c = 0; c < columns; ++c) sum[c] += v * window_[k * size_ + at + c];
    }
    for (int c = 0; c < columns; ++c) sum[c] *= h.tau_conjugate;
    for (int k = 0; k < W_; ++k) {
      const Scalar v = reflection_[1 + k];
      for (int c = 0; c < columns; ++c) window_[k * size_ + at + c] -= v * sum[c];
    }
    for (int c = 0; c < columns; ++c) kept[c] = entering_[at + c] - sum[c];
  }

public:
  HostLeaf(const Tree &tree, const Factors<Scalar> &factors, const Matrix &A, std::int64_t chain,
           std::int64_t node, Scalar *window)
      : tree_(tree), factors_(factors), A_(A), leaf_(tree, chain, node), W_(tree.chain.width()),
        size_(host_row_size(W_)), window_(window), entering_(window + W_ * size_),
        largest_(reinterpret_cast<Real *>(entering_ + size_)),
        reflection_(factors.step(factors.reflection, tree, chain, node, 0, W_ + 1).at),
        upper_(factors.step(factors.upper, tree, chain, node, 0, 2 * W_ + 1).at)
  {
    std::fill(window, window + (W_ + 2) * size_, Scalar(0));
    for (int i = 0; i < W_; ++i)
      if (has_row(tree.chain, leaf_.first + i)) load(i, window + i * size_);
  }
  /// Eliminates the columns of the leaf, and passes on the remaining equations.
  void eliminate()
  {
    for (int s = 0; s < leaf_.own; ++s) step(s);
    finish();
  }

private:
  void step(int s)
  {
    if (s - base_ == host_step) {
      const auto move_on = [&](auto *row) {
        std::fill(std::copy(row + W_ + host_step, row + size_, row + W_), row + size_, 0);
      };
      for (int k = 0; k < W_; ++k) move_on(window_ + k * size_);
      move_on(largest_);
      base_ = s;
    }
    const int          p     = W_ + s - base_; // place of the pivot column
    const std::int64_t place = leaf_.first + W_ + s;
    std::fill(entering_ + p, entering_ + p + W_ + 1, Scalar(0));
    if (wraps_) std::fill(entering_, entering_ + W_, Scalar(0));
    if (has_row(tree_.chain, place)) load(W_ + s, entering_);
    else {
      Scalar *row = window_ + row_instead(tree_.chain, place) * size_;
      std::swap_ranges(entering_, entering_ + W_, row),
        std::swap_ranges(entering_ + p, entering_ + p + W_ + 1, row + p);
      wraps_ = true;
    }
    Real rest = 0;
    for (int k = 0; k < W_; ++k) rest += squared(window_[k * size_ + p]);
    const Reflector<Scalar> h = make_reflector(entering_[p], rest);
    reflection_[0] = h.tau_conjugate, upper_[0] = Scalar(h.one_over_beta);
    for (int k = 0; k < W_; ++k) reflection_[1 + k] = h.factor * window_[k * size_ + p];
    reflect(h, p + 1, upper_ + 1), reflect(h, 0, upper_ + 1 + W_);
    statistics_.look_at_column(largest_[p]);
    statistics_.take(pivot_of(h.beta), std::max(magnitude(entering_[p]), largest_[p]),
                     leaf_.chain * tree_.chain.rows + leaf_.first + tree_.chain.ku + s);
    reflection_ += W_ + 1, upper_ += 2 * W_ + 1;
  }
  void finish() const
  {
    const auto passed = factors_.passed(tree_, leaf_.chain, 0, leaf_.node);
    for (int c = 0; c < 2 * W_; ++c) {
      const int at = c < W_ ? c : c + leaf_.own - base_;
      for (int k = 0; k < W_; ++k) passed.entry(k, c) = window_[k * size_ + at];
      passed.scale(c) = Scalar(largest_[at]);
    }
    factors_.leaf_statistics[leaf_.chain * tree_.leaves + leaf_.node] = statistics_;
  }
};

/// Leaves of all chains. A thread uses one of `windows`; there is one per running thread.
template <class Scalar, class Exec>
struct HostLeavesKernel {
  Tree                                    tree;
  Factors<Scalar>                         factors;
  ChainEntries<Scalar>                    A;
  Scalar                                 *windows;
  Kokkos::Experimental::UniqueToken<Exec> thread;

  /// Scalars of a window: its W rows, the entering row, the largest entries of the columns.
  static std::size_t window_size(int W)
  {
    return static_cast<std::size_t>(W + 2) * static_cast<std::size_t>(host_row_size(W));
  }

  void operator()(const std::int64_t leaf) const
  {
    const auto    mine   = thread.acquire();
    Scalar *const window = windows + static_cast<std::size_t>(mine) * window_size(tree.chain.width());
    A.with_indices_of_host([&](const auto &matrix) {
      host::with_widest_vectors_of_host([&] {
        HostLeaf<Scalar, std::decay_t<decltype(matrix)>>(tree, factors, matrix, leaf / tree.leaves,
                                                         leaf % tree.leaves, window)
          .eliminate();
      });
    });
    thread.release(mine);
  }
};

} // namespace ribbon::multifrontal
