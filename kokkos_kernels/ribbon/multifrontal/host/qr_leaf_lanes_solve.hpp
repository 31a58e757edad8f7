// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf_lanes_solve.hpp  Solves at a bundle of leaves, interleaved in vectors: QrSolve::leaf_up()
///   and leaf_down(), and those of the transposed matrix.
#pragma once

#include <ribbon/multifrontal/host/qr_leaf_bundle.hpp>
#include <ribbon/multifrontal/qr/solve.hpp>

namespace ribbon::multifrontal {

/// A few columns at a bundle: some steps of each in turn, while their factors are in the first-level cache.
/// @tparam K      the width W = kl + ku; 0: any width
/// @tparam bytes  of a vector
template <class Scalar, int K, int bytes>
class BundleSolve {
  using Lanes                = host::LanesOf<Scalar, bytes>;
  using Pack                 = typename Lanes::Pack;
  using Bundle               = LeafBundle<Scalar>;
  static constexpr int lanes = Bundle::lanes, pack = Lanes::size, packs = lanes / pack, most = K ? K : 16;

public:
  static constexpr int together = 8; ///< columns

private:
  const QrSolve<Scalar> &solve_;
  const Bundle           bundle_;
  const int              W_;
  const std::int64_t     column_;
  const int              columns_;
  /// window values of the sweep
  Pack first_[together][packs][most], second_[together][packs][most];
  /// values of the current steps, lanes fastest
  Scalar number_[(bundle_rows + most) * lanes];

  int          width() const { return K ? K : W_; }
  const Chain &chain() const { return solve_.tree.chain; }
  /// Prefetches the factors of a later step.
  static void prefetch(const Scalar *step, int numbers)
  {
    for (int k = 0; k < numbers * lanes; k += 64 / static_cast<int>(sizeof(Scalar))) host::prefetch(step + k);
  }
  const Scalar *reflection(int s, int p) const
  {
    return bundle_.step(solve_.factors.reflection, s, width() + 1) + p * pack;
  }
  const Scalar *upper(int s, int p) const
  {
    return bundle_.step(solve_.factors.upper, s, 2 * width() + 1) + p * pack;
  }

public:
  BundleSolve(const QrSolve<Scalar> &solve, std::int64_t number, std::int64_t column, int columns)
      : solve_(solve), bundle_(solve.tree, number), W_(solve.tree.chain.width()), column_(column),
        columns_(columns)
  {
  }

  void sweep(Sweep direction)
  {
    for (int q = 0; q < columns_; ++q) begin(direction, q);
    const int parts = (bundle_.steps + bundle_rows - 1) / bundle_rows;
    for (int k = 0; k < parts; ++k) {
      const int s = (goes_up(direction) ? k : parts - 1 - k) * bundle_rows,
                n = std::min(bundle_rows, bundle_.steps - s);
      for (int q = 0; q < columns_; ++q) host::with_vectors_of<bytes>([&] { part(direction, q, s, n); });
    }
    for (int q = 0; q < columns_; ++q) end(direction, q);
  }

private:
  static bool goes_up(Sweep direction) { return direction == Sweep::up || direction == Sweep::up_transposed; }
  /// Calls f(l, pack, lane of it) for all lanes.
  template <class F>
  static void for_lanes(const F &f)
  {
    for (int l = 0; l < lanes; ++l) f(l, l / pack, l % pack);
  }
  Scalar scaled_b(int l, int i, std::int64_t column) const
  {
    return bundle_.has(l, i) ? solve_.b(bundle_.leaf[l].chain, bundle_.leaf[l].first + i, column) *
                                 bundle_.scale(solve_.factors, l, i)
                             : Scalar(0);
  }
  /// Unknown k after the last step of a leaf.
  Scalar behind(int l, int k, std::int64_t column) const
  {
    return k < width() ? solve_.cut(bundle_.leaf[l].chain, bundle_.leaf[l].node + 1, column)[k] : Scalar(0);
  }

  void begin(Sweep direction, int q)
  {
    const std::int64_t column = column_ + q;
    for_lanes([&](int l, int p, int in) {
      const Leaf &leaf = bundle_.leaf[l];
      for (int k = 0; k < width(); ++k) {
        Scalar first(0), second(0);
        if (direction == Sweep::up) first = scaled_b(l, k, column);
        else if (direction == Sweep::down)
          first  = solve_.cut(leaf.chain, leaf.node, column)[k],
          second = behind(l, bundle_.steps - leaf.own + k, column);
        else if (direction == Sweep::down_transposed)
          first = solve_.came_down(leaf.chain, 0, leaf.node, k, column);
        host::set_lane(first_[q][p][k], in, first), host::set_lane(second_[q][p][k], in, second);
      }
    });
  }
  void end(Sweep direction, int q) const
  {
    const std::int64_t column = column_ + q;
    for_lanes([&](int l, int p, int in) {
      const Leaf &leaf = bundle_.leaf[l];
      if (bundle_.repeats[l] || direction == Sweep::down) return;
      for (int k = 0; k < width(); ++k) {
        const auto first  = host::lane_of<Scalar>(first_[q][p][k], in),
                   second = host::lane_of<Scalar>(second_[q][p][k], in);
        if (direction == Sweep::up) solve_.passed(leaf.chain, 0, leaf.node, k, column) = first;
        else if (direction == Sweep::up_transposed)
          solve_.passed(leaf.chain, 0, leaf.node, k, column)               = first,
                                                     solve_.passed(leaf.chain, 0, leaf.node, width() + k,
                                                                   column) = second;
        else if (bundle_.has(l, k))
          solve_.x(leaf.chain, leaf.first + k, column) = first * bundle_.scale(solve_.factors, l, k);
      }
    });
  }

  /// Steps s0 to s0 + n - 1 of a column.
  void part(Sweep direction, int q, int s0, int n)
  {
    const std::int64_t column = column_ + q, *const row_of = solve_.v.row_of;
    const bool is_common = s0 + n <= bundle_.common_steps && bundle_.all_have(width() + s0) &&
                           bundle_.all_have(width() + s0 + n - 1);
    // indexed by rows of the leaf, not by its unknowns
    const bool    of_rows = direction == Sweep::up, to_rows = direction == Sweep::down_transposed;
    const Scalar *from =
      goes_up(direction) ? solve_.v.b + column * solve_.v.ldb : solve_.v.x + column * solve_.v.ldx;
    Scalar *const to = solve_.v.x + column * solve_.v.ldx;
    const int     i0 = s0 + (of_rows ? width() : chain().ku), j0 = s0 + (to_rows ? width() : chain().ku);
    const bool    at_once = is_common && !row_of;
    if (at_once) {
      const Scalar *at[lanes];
      const int     next = (goes_up(direction) ? 1 : -1) * bundle_rows,
                line     = 64 / static_cast<int>(sizeof(Scalar));
      for (int l = 0; l < lanes; ++l) {
        at[l] = from + bundle_.place(l, i0);
        for (int k = 0; k < bundle_rows; k += line)
          host::prefetch(at[l] + next + k), host::prefetch(to + bundle_.place(l, j0) + next + k);
      }
      bring_to_lanes(at, n, number_);
    } else
      for (int r = 0; r < n; ++r)
        for (int l = 0; l < lanes; ++l)
          number_[r * lanes + l] =
            bundle_.has(l, i0 + r) && s0 + r < bundle_.leaf[l].own ? from[row(l, i0 + r)] : Scalar(0);
    if (of_rows) scale(s0, n);
    if (is_common) steps<true>(direction, q, s0, n);
    else steps<false>(direction, q, s0, n);
    if (to_rows) scale(s0, n);
    if (at_once) {
      Scalar *at[lanes], unread[bundle_rows];
      for (int l = 0; l < lanes; ++l) at[l] = bundle_.repeats[l] ? unread : to + bundle_.place(l, j0);
      return bring_from_lanes(number_, n, at);
    }
    for (int l = 0; l < lanes && !bundle_.repeats[l]; ++l)
      for (int r = 0; r < std::min(n, bundle_.leaf[l].own - s0); ++r)
        if (bundle_.has(l, j0 + r)) to[row(l, j0 + r)] = number_[r * lanes + l];
  }
  std::int64_t row(int l, int i) const
  {
    return solve_.v.row_of ? solve_.v.row_of[bundle_.place(l, i)] : bundle_.place(l, i);
  }
  /// Scales the values of the rows that enter in these steps.
  void scale(int s0, int n)
  {
    for (int r = 0; r < n; ++r) {
      const int i = width() + s0 + r;
      if (bundle_.scales_aligned && bundle_.all_have(i)) {
        for (int p = 0; p < packs; ++p) {
          Pack                     a;
          typename Lanes::RealPack by;
          host::load_lanes(number_ + r * lanes + p * pack, a),
            host::load_lanes(bundle_.step(solve_.factors.row_scale, i, 1) + p * pack, by);
          host::scale_by(a, by);
          host::store_lanes(a, number_ + r * lanes + p * pack);
        }
      } else
        for (int l = 0; l < lanes; ++l)
          if (bundle_.has(l, i)) number_[r * lanes + l] *= bundle_.scale(solve_.factors, l, i);
    }
  }

  template <bool Common>
  void steps(Sweep direction, int q, int s0, int n)
  {
    switch (direction) {
    case Sweep::up:
      return up<Common>(q, s0, n);
    case Sweep::down:
      return down<Common>(q, s0, n);
    case Sweep::up_transposed:
      return up_transposed<Common>(q, s0, n);
    case Sweep::down_transposed:
      return down_transposed<Common>(q, s0, n);
    }
  }
  /// Restores the values of leaves that lack the step.
  template <bool Common>
  void put_back(int s, int p, Pack *to, const Pack *before) const
  {
    if constexpr (!Common)
      for (int in = 0; in < pack; ++in)
        if (s >= bundle_.leaf[p * pack + in].own)
          for (int k = 0; k < width(); ++k) host::set_lane(to[k], in, host::lane_of<Scalar>(before[k], in));
  }
  template <bool Common>
  void keep(const Pack *from, Pack *to) const
  {
    if constexpr (!Common) std::copy(from, from + width(), to);
  }

  template <bool Common>
  void up(int q, int s0, int n)
  {
    const int W = width();
    Pack      before[Common ? 1 : most];
    for (int s = s0; s < s0 + n; ++s)
      for (int p = 0; p < packs; ++p) {
        Pack *const         y    = first_[q][p];
        Scalar *const       at   = number_ + (s - s0) * lanes + p * pack;
        const Scalar *const from = reflection(s, p);
        if (p == 0) prefetch(reflection(s + bundle_rows / 2, 0), W + 1);
        keep<Common>(y, before);
        Pack entering, sum, v[most], tau;
        host::load_lanes(at, entering);
        if constexpr (!Common)
          for (int in = 0; in < pack; ++in) {
            const Leaf &leaf = bundle_.leaf[p * pack + in];
            if (s >= leaf.own || bundle_.has(p * pack + in, W + s)) continue;
            Pack &instead = y[row_instead(chain(), leaf.first + W + s)];
            host::set_lane(entering, in, host::lane_of<Scalar>(instead, in)),
              host::set_lane(instead, in, Scalar(0));
          }
        sum = entering;
        Pack other{};
        host::for_each_by_turns<K>(W, [&](int k, auto odd) {
          host::load_lanes(from + (1 + k) * lanes, v[k]);
          host::add_conjugate_products(odd ? other : sum, v[k], y[k]);
        });
        host::load_lanes(from, tau);
        host::add(sum, other);
        host::multiply(sum, tau);
        host::for_each<K>(W, [&](int k) { host::subtract_products(y[k], v[k], sum); });
        host::subtract(entering, sum);
        host::store_lanes(entering, at);
        put_back<Common>(s, p, y, before);
      }
  }

  /// Unknowns after a step are in number_: those of the next step, and so on.
  template <bool Common>
  void down(int q, int s0, int n)
  {
    const int W = width();
    for (int k = 0; k < W; ++k)
      for (int p = 0; p < packs; ++p)
        host::store_lanes(second_[q][p][k], number_ + (n + k) * lanes + p * pack);
    for (int s = s0 + n - 1; s >= s0; --s)
      for (int p = 0; p < packs; ++p) {
        const Pack *const   left = first_[q][p];
        Scalar *const       at   = number_ + (s - s0) * lanes + p * pack;
        const Scalar *const from = upper(s, p);
        if (p == 0) prefetch(upper(s - bundle_rows / 2, 0), 2 * W + 1);
        Pack sum, other{}, a, near;
        host::load_lanes(at, sum);
        host::for_each_by_turns<K>(W, [&](int k, auto odd) {
          host::load_lanes(from + (1 + W + k) * lanes, a);
          host::subtract_products(odd ? other : sum, a, left[k]);
        });
        host::for_each_by_turns<K>(W, [&](int j, auto odd) { // the most recent unknown is used last
          const int k = W - j;
          host::load_lanes(from + k * lanes, a), host::load_lanes(at + k * lanes, near);
          host::subtract_products(odd ? other : sum, a, near);
        });
        host::add(sum, other);
        host::load_lanes(from, a);
        host::multiply(sum, a);
        host::store_lanes(sum, at);
        if constexpr (!Common) // shorter leaves reach the cut after them earlier
          for (int in = 0; in < pack; ++in) {
            const int own = bundle_.leaf[p * pack + in].own;
            if (s >= own) at[in] = behind(p * pack + in, s - own, column_ + q);
          }
      }
    for (int k = 0; k < W; ++k)
      for (int p = 0; p < packs; ++p) host::load_lanes(number_ + k * lanes + p * pack, second_[q][p][k]);
  }

  template <bool Common>
  void up_transposed(int q, int s0, int n)
  {
    const int W = width();
    Pack      before[2][Common ? 1 : most];
    for (int s = s0; s < s0 + n; ++s)
      for (int p = 0; p < packs; ++p) {
        Pack *const left = first_[q][p], *const near = second_[q][p];
        Scalar *const       at   = number_ + (s - s0) * lanes + p * pack;
        const Scalar *const from = upper(s, p);
        if (p == 0) prefetch(upper(s + bundle_rows / 2, 0), 2 * W + 1);
        keep<Common>(left, before[0]), keep<Common>(near, before[1]);
        Pack z, a;
        host::load_lanes(at, z), host::load_lanes(from, a);
        host::subtract(z, near[0]);
        host::multiply(z, a);
        host::for_each<K>(W, [&](int j) {
          const int k = j + 1;
          Pack      next{};
          if (k < W) next = near[k];
          host::load_lanes(from + k * lanes, a);
          host::add_products(next, a, z);
          near[k - 1] = next;
        });
        host::for_each<K>(W, [&](int k) {
          host::load_lanes(from + (1 + W + k) * lanes, a);
          host::add_products(left[k], a, z);
        });
        host::store_lanes(z, at);
        put_back<Common>(s, p, left, before[0]), put_back<Common>(s, p, near, before[1]);
      }
  }

  template <bool Common>
  void down_transposed(int q, int s0, int n)
  {
    const int W = width();
    Pack      before[Common ? 1 : most];
    for (int s = s0 + n - 1; s >= s0; --s)
      for (int p = 0; p < packs; ++p) {
        Pack *const         y    = first_[q][p];
        Scalar *const       at   = number_ + (s - s0) * lanes + p * pack;
        const Scalar *const from = reflection(s, p);
        if (p == 0) prefetch(reflection(s - bundle_rows / 2, 0), W + 1);
        keep<Common>(y, before);
        Pack z, sum, other{}, v[most], tau;
        host::load_lanes(at, z);
        sum = z;
        host::for_each_by_turns<K>(W, [&](int k, auto odd) {
          host::load_lanes(from + (1 + k) * lanes, v[k]);
          host::add_products(odd ? other : sum, v[k], y[k]);
        });
        host::load_lanes(from, tau);
        host::add(sum, other);
        host::multiply(sum, tau);
        host::for_each<K>(W, [&](int k) { host::subtract_conjugate_products(y[k], v[k], sum); });
        host::subtract(z, sum);
        host::store_lanes(z, at);
        put_back<Common>(s, p, y, before);
        if constexpr (!Common)
          for (int in = 0; in < pack; ++in) {
            const Leaf &leaf = bundle_.leaf[p * pack + in];
            if (s < leaf.own && !bundle_.has(p * pack + in, W + s))
              host::set_lane(y[row_instead(chain(), leaf.first + W + s)], in, host::lane_of<Scalar>(z, in));
          }
      }
  }
};

/// Leaves of all chains, a bundle and a few columns per item.
template <class Scalar>
struct LeafBundlesSolveKernel {
  QrSolve<Scalar> solve;
  Sweep           sweep;

  static constexpr int lanes = bundle_lanes<Scalar>, together = BundleSolve<Scalar, 0, 32>::together;
  static std::int64_t  bundles(const Tree &tree)
  {
    return (tree.chain.chains * tree.leaves + lanes - 1) / lanes;
  }
  std::int64_t items() const { return bundles(solve.tree) * ((solve.v.columns + together - 1) / together); }
  void         operator()(const std::int64_t item) const
  {
    const std::int64_t all = bundles(solve.tree), column = item / all * together;
    const int          columns = static_cast<int>(std::min<std::int64_t>(together, solve.v.columns - column));
    with_bundle_vectors(solve.tree.chain.width(), [&](auto K, auto bytes) {
      BundleSolve<Scalar, K(), bytes()>(solve, item % all, column, columns).sweep(sweep);
    });
  }
};

} // namespace ribbon::multifrontal
