// SPDX-License-Identifier: BSD-2-Clause
/// @file qr_leaf_lanes.hpp  Orthogonal elimination of a bundle of leaves, interleaved in vectors. Steps and
///   factors are those of qr_leaf.hpp.
#pragma once

#include <ribbon/multifrontal/host/qr_leaf_bundle.hpp>

namespace ribbon::multifrontal {

/// Reflections of a pack.
template <class Scalar, int bytes>
struct ReflectorPack {
  using Lanes = host::LanesOf<Scalar, bytes>;
  typename Lanes::Pack     tau_conjugate{}, factor{};
  typename Lanes::RealPack beta{}, one_over_beta{};

  ReflectorPack(const typename Lanes::Pack &alpha, const typename Lanes::RealPack &rest)
  {
    using Real = real_t<Scalar>;
    typename Lanes::RealPack none{};
    if constexpr (std::is_floating_point_v<Scalar>) {
      typename Lanes::RealPack one, size2 = alpha * alpha + rest, root = size2;
      host::fill_lanes(one, Real(1));
      host::take_roots<Real>(root);
      root = one / root;
      host::take_sign<Real>(root, alpha);
      tau_conjugate = one + alpha * root, factor = root / tau_conjugate, beta = none - size2 * root,
      one_over_beta = none - root;
      if (!host::some_lane(rest == none)) return;
    }
    for (int l = 0; l < Lanes::size; ++l) {
      if (std::is_floating_point_v<Scalar> && rest[l] != Real(0)) continue;
      const Reflector<Scalar> h = make_reflector(host::lane_of<Scalar>(alpha, l), static_cast<Real>(rest[l]));
      host::set_lane(tau_conjugate, l, h.tau_conjugate), host::set_lane(factor, l, h.factor);
      beta[l] = h.beta, one_over_beta[l] = h.one_over_beta;
    }
  }
};

/// @tparam K      the width W = kl + ku; 0: any width
/// @tparam bytes  of a vector
template <class Scalar, int K, int bytes>
class BundleElimination {
  using Real                 = real_t<Scalar>;
  using Lanes                = host::LanesOf<Scalar, bytes>;
  using Pack                 = typename Lanes::Pack;
  using RealPack             = typename Lanes::RealPack;
  using Doubles              = typename host::LanesOf<double, bytes>::RealPack;
  using Bundle               = LeafBundle<Scalar>;
  static constexpr int lanes = Bundle::lanes, pack = Lanes::size, packs = lanes / pack, most = K ? K : 16,
                       in_doubles = host::LanesOf<double, bytes>::size, doubles = pack / in_doubles;
  static_assert(K > 0 || has_bundles(most), "arrays take the widest");

  /// The window of a pack, by columns: the leading ones, from that of the next pivot on, and those of the
  /// cut before. Only the entering row has an entry in the last leading column.
  struct Window {
    Pack     ahead[most * most], cut[most * most], entering_cut[most];
    RealPack largest_ahead[most + 1], largest_cut[most]; ///< largest entries of the columns
    Doubles  product[doubles];                           ///< see PivotStatistics
    RealPack smallest;
  };
  const Factors<Scalar>          &factors_;
  const Bundle                   &bundle_;
  const int                       W_;
  Window                          window_[packs];
  Scalar                          row_[bundle_rows * (most + 1) * lanes];
  host::Exponents<Real, RealPack> exponents_[packs] = {}; ///< of a few rows
  PivotStatistics<Real>           statistics_[lanes];

  int width() const { return K ? K : W_; }

public:
  BundleElimination(const Factors<Scalar> &factors, const Bundle &bundle)
      : factors_(factors), bundle_(bundle), W_(bundle.tree.chain.width())
  {
    for (Window &w : window_) {
      w = Window();
      for (int d = 0; d < doubles; ++d) host::fill_lanes(w.product[d], 1.0);
      host::fill_lanes(w.smallest, statistics_[0].smallest);
    }
  }

  /// Processes rows i0 to i0 + n - 1 of all leaves. @param entries  of each leaf, W + 1 per row
  void take_rows(const Scalar *const (&entries)[lanes], int i0, int n)
  {
    bring_to_lanes(entries, n * (width() + 1), row_);
    for (int i = i0; i < i0 + n; ++i) {
      const Scalar *row = row_ + (i - i0) * (width() + 1) * lanes;
      const int     s   = i - width();
      if (s < 0) begin_with(i, row);
      else if (bundle_.is_common(s)) step<true>(s, row);
      else if (s < bundle_.steps) step<false>(s, row);
    }
    for (int l = 0; l < lanes; ++l) {
      statistics_[l].exponents += exponents_[l / pack][l % pack];
      exponents_[l / pack][l % pack] = 0;
    }
  }

  void finish() const
  {
    for (int l = 0; l < lanes; ++l) {
      if (bundle_.repeats[l]) continue;
      const Leaf   &leaf   = bundle_.leaf[l];
      const Window &w      = window_[l / pack];
      const auto    passed = factors_.passed(bundle_.tree, leaf.chain, 0, leaf.node);
      const int     in     = l % pack;
      for (int c = 0; c < W_; ++c) {
        for (int k = 0; k < W_; ++k)
          passed.entry(k, c)                      = host::lane_of<Scalar>(w.cut[c * W_ + k], in),
                          passed.entry(k, W_ + c) = host::lane_of<Scalar>(w.ahead[c * W_ + k], in);
        passed.scale(c) = Scalar(w.largest_cut[c][in]), passed.scale(W_ + c) = Scalar(w.largest_ahead[c][in]);
      }
      PivotStatistics<Real> all = statistics_[l];
      put_seen(w, in, all);
      factors_.leaf_statistics[leaf.chain * bundle_.tree.leaves + leaf.node] = all;
    }
  }

private:
  /// Loads row i of the leaves of a pack, scaled, if they have it.
  void load(int i, int p, const Scalar *row, Pack *to)
  {
    RealPack largest{}, scale;
    host::for_each<K ? K + 1 : 0>(width() + 1, [&](int j) {
      host::load_lanes(row + j * lanes + p * pack, to[j]);
      Pack a = to[j];
      if constexpr (host::is_complex_pack<Pack>) {
        host::take_size<Real>(a.re), host::take_size<Real>(a.im);
        host::take_larger<Real>(largest, a.re), host::take_larger<Real>(largest, a.im);
      } else host::take_size<Real>(a), host::take_larger<Real>(largest, a);
    });
    if (bundle_.all_have(i) && bundle_.scales_aligned && host::scale_of(largest, scale, exponents_[p]))
      host::store_lanes(scale, bundle_.step(factors_.row_scale, i, 1) + p * pack);
    else
      for (int in = 0; in < pack; ++in) {
        const int l        = p * pack + in,
                  exponent = exponent_of<Real>(size_word(static_cast<double>(largest[in])));
        scale[in]          = static_cast<Real>(power_of_two(-exponent));
        if (!bundle_.has(l, i)) continue;
        statistics_[l].take_row(exponent, largest[in] == Real(0), bundle_.place(l, i));
        bundle_.scale(factors_, l, i) = scale[in];
      }
    host::for_each<K ? K + 1 : 0>(width() + 1, [&](int j) { host::scale_by(to[j], scale); });
  }

  /// Loads row i, one of the W in the window before the first step.
  void begin_with(int i, const Scalar *row)
  {
    const int  W    = width();
    const auto take = [&](const Pack &from, Pack &to, RealPack &largest) {
      RealPack size;
      to = from;
      host::sizes_of<Real>(to, size);
      host::take_larger_or_none<Real>(largest, size);
    };
    for (int p = 0; p < packs; ++p) {
      Window &w = window_[p];
      Pack    entries[most + 1];
      load(i, p, row, entries);
      for (int c = i; c < W; ++c) take(entries[c - i], w.cut[c * W + i], w.largest_cut[c]);
      for (int c = 0; c <= i; ++c) take(entries[W - i + c], w.ahead[c * W + i], w.largest_ahead[c]);
    }
  }

  /// Reflects one column.
  void reflect(const Pack *v, const Pack &tau_conjugate, const Pack &entering, const Pack *column, Pack *to,
               Scalar *kept) const
  {
    Pack sum = entering, other{}, kept_here = entering, rows[most];
    host::for_each_by_turns<K>(W_, [&](int k, auto odd) {
      rows[k] = column[k], host::add_conjugate_products(odd ? other : sum, v[k], rows[k]);
    });
    host::add(sum, other);
    host::multiply(sum, tau_conjugate);
    host::for_each<K>(W_, [&](int k) { host::subtract_products(rows[k], v[k], sum), to[k] = rows[k]; });
    host::subtract(kept_here, sum);
    host::store_lanes(kept_here, kept);
  }

  /// @tparam Common  all leaves have the step and its row
  template <bool Common>
  void step(int s, const Scalar *row)
  {
    const int     W          = width();
    Scalar *const reflection = bundle_.step(factors_.reflection, s, W + 1), *const upper = bundle_.step(
                                                                              factors_.upper, s, 2 * W + 1);
    constexpr int line = 64 / static_cast<int>(sizeof(Scalar)), ahead = 8; // steps
    for (int k = 0; k < (W + 1) * lanes; k += line) host::prefetch(reflection + ahead * (W + 1) * lanes + k);
    for (int k = 0; k < (2 * W + 1) * lanes; k += line)
      host::prefetch(upper + ahead * (2 * W + 1) * lanes + k);
    for (int p = 0; p < packs; ++p) {
      Window                                                  &w = window_[p];
      Pack                                                     v[most], entering[most + 1];
      RealPack                                                 rest{}, largest, size;
      [[maybe_unused]] std::conditional_t<Common, int, Window> before;
      if constexpr (!Common) before = w;
      load(W + s, p, row, entering);
      largest = w.largest_ahead[0];
      host::for_each<K>(W, [&](int j) {
        host::sizes_of<Real>(entering[j + 1], size);
        w.largest_ahead[j] = w.largest_ahead[j + 1];
        host::take_larger_or_none<Real>(w.largest_ahead[j], size);
      });
      if constexpr (!Common) leave_out(s, p, entering);
      host::sizes_of<Real>(entering[0], size);
      host::take_larger_or_none<Real>(largest, size);
      host::for_each<K>(W, [&](int k) { host::add_squares(rest, w.ahead[k]); });
      const ReflectorPack<Scalar, bytes> h(entering[0], rest);
      host::store_lanes(h.tau_conjugate, reflection + p * pack);
      host::for_each<K>(W, [&](int k) {
        v[k] = w.ahead[k];
        host::multiply(v[k], h.factor);
        host::store_lanes(v[k], reflection + (1 + k) * lanes + p * pack);
      });
      Scalar *const kept = upper + p * pack;
      if constexpr (host::is_complex_pack<Pack>) host::store_lanes(Pack{h.one_over_beta, RealPack{}}, kept);
      else host::store_lanes(h.one_over_beta, kept);
      for (int j = 1; j < W; ++j)
        reflect(v, h.tau_conjugate, entering[j], w.ahead + j * W, w.ahead + (j - 1) * W, kept + j * lanes);
      Pack sum = entering[W], last = sum;
      host::multiply(sum, h.tau_conjugate);
      host::for_each<K>(W, [&](int k) {
        Pack a{};
        host::subtract_products(a, v[k], sum);
        w.ahead[(W - 1) * W + k] = a;
      });
      host::subtract(last, sum);
      host::store_lanes(last, kept + W * lanes);
      for (int c = 0; c < W; ++c)
        reflect(v, h.tau_conjugate, w.entering_cut[c], w.cut + c * W, w.cut + c * W,
                kept + (1 + W + c) * lanes);
      watch<Common>(s, p, h.beta, largest);
      if constexpr (!Common) put_back(s, p, before);
    }
  }

  /// Updates the statistics of pivots for a step.
  template <bool Common>
  void watch(int s, int p, const RealPack &beta, const RealPack &largest)
  {
    Window  &w    = window_[p];
    RealPack size = beta, bound = w.smallest * largest, least, small, odd = largest - largest;
    Doubles  now[doubles], low, high;
    host::take_size<Real>(size);
    host::fill_lanes(least, least_pivot<Real>()), host::fill_lanes(small, static_cast<Real>(least_of_column)),
      host::fill_lanes(low, 0x1p-300), host::fill_lanes(high, 0x1p300);
    auto odd_lanes = (size < bound) | (size < least) | (largest < small) | (odd != odd);
    bool some_odd  = !Common;
    for (int d = 0; d < doubles; ++d) {
      Doubles factor = {};
      if constexpr (doubles == 1) factor = size;
      else
        for (int l = 0; l < in_doubles; ++l) factor[l] = static_cast<double>(size[d * in_doubles + l]);
      now[d]                   = w.product[d] * factor;
      const Doubles difference = now[d] - now[d];
      const auto    wild       = (now[d] < low) | (now[d] >= high) | (difference != difference);
      if constexpr (doubles == 1) odd_lanes = odd_lanes | wild;
      else some_odd = host::some_lane(wild) || some_odd;
    }
    if (!some_odd && !host::some_lane(odd_lanes)) {
      for (int d = 0; d < doubles; ++d) w.product[d] = now[d];
      return;
    }
    for (int in = 0; in < pack; ++in) {
      const int l = p * pack + in;
      if (s >= bundle_.leaf[l].own) continue;
      PivotStatistics<Real> &statistics = statistics_[l];
      put_seen(w, in, statistics);
      statistics.look_at_column(static_cast<Real>(largest[in]));
      statistics.take(pivot_of(static_cast<Real>(beta[in])), static_cast<Real>(largest[in]),
                      bundle_.place(l, bundle_.tree.chain.ku + s));
      w.smallest[in]                              = statistics.smallest;
      w.product[in / in_doubles][in % in_doubles] = statistics.product;
    }
  }
  void put_seen(const Window &w, int in, PivotStatistics<Real> &statistics) const
  {
    statistics.smallest = w.smallest[in], statistics.product = w.product[in / in_doubles][in % in_doubles];
  }

  /// Prepares a step for leaves that lack the step or its row.
  void leave_out(int s, int p, Pack *entering)
  {
    const int W = width();
    Window   &w = window_[p];
    for (int in = 0; in < pack; ++in) {
      const Leaf &leaf = bundle_.leaf[p * pack + in];
      if (s >= leaf.own) host::set_lane(entering[0], in, Scalar(1)); // a pivot of one
      else if (!bundle_.has(p * pack + in, W + s)) {
        const int  k    = row_instead(bundle_.tree.chain, leaf.first + W + s);
        const auto take = [&](Pack &from, Pack &to) {
          host::set_lane(to, in, host::lane_of<Scalar>(from, in)), host::set_lane(from, in, Scalar(0));
        };
        for (int c = 0; c < W; ++c)
          take(w.ahead[c * W + k], entering[c]), take(w.cut[c * W + k], w.entering_cut[c]);
      }
    }
  }
  /// Restores the lanes of leaves that lack the step.
  void put_back(int s, int p, const Window &before)
  {
    const int W = width();
    Window   &w = window_[p];
    for (int c = 0; c < W; ++c) w.entering_cut[c] = Pack{};
    for (int in = 0; in < pack; ++in) {
      if (s < bundle_.leaf[p * pack + in].own) continue;
      for (int k = 0; k < W * W; ++k)
        host::set_lane(w.ahead[k], in, host::lane_of<Scalar>(before.ahead[k], in)),
          host::set_lane(w.cut[k], in, host::lane_of<Scalar>(before.cut[k], in));
      for (int j = 0; j <= W; ++j) w.largest_ahead[j][in] = before.largest_ahead[j][in];
    }
  }
};

/// Leaves of all chains, one bundle per item.
template <class Scalar>
struct LeafBundlesKernel {
  static constexpr int lanes = bundle_lanes<Scalar>;
  Tree                 tree;
  Factors<Scalar>      factors;
  ChainEntries<Scalar> A;

  void operator()(const std::int64_t number) const
  {
    with_bundle_vectors(tree.chain.width(), [&](auto K, auto bytes) { run<K(), bytes()>(number); });
  }
  template <int K, int bytes>
  void run(std::int64_t number) const
  {
    const LeafBundle<Scalar>            bundle(tree, number);
    BundleElimination<Scalar, K, bytes> elimination(factors, bundle);
    Scalar                              gathered[lanes * bundle_rows * ((K ? K : 16) + 1)];
    const int                           rows = bundle.steps + tree.chain.width();
    for (int i = 0; i < rows; i += bundle_rows) {
      const Scalar *entries[lanes];
      const int     n = std::min(bundle_rows, rows - i);
      gather(bundle, i, n, gathered, entries);
      host::with_vectors_of<bytes>([&] { elimination.take_rows(entries, i, n); });
    }
    elimination.finish();
  }

private:
  /// The entries of rows i to i + n - 1 of each leaf, W + 1 per row: in the matrix if no row lacks any,
  /// else in `gathered`.
  void gather(const LeafBundle<Scalar> &bundle, int i, int n, Scalar *gathered,
              const Scalar *(&entries)[lanes]) const
  {
    A.with_indices_of_host([&](const auto &matrix) {
      for (int l = 0; l < lanes; ++l)
        entries[l] = run_of(matrix, bundle, l, i, n, gathered + l * n * (tree.chain.width() + 1));
    });
  }
  template <class Matrix>
  const Scalar *run_of(const Matrix &matrix, const LeafBundle<Scalar> &bundle, int l, int i, int n,
                       Scalar *gathered) const
  {
    const Chain       &chain = tree.chain;
    const Leaf        &leaf  = bundle.leaf[l];
    const std::int64_t place = leaf.first + i, first = bundle.place(l, i);
    const int          W = chain.width();
    if (!matrix.row_of && !matrix.place_of && place >= chain.kl && place + n <= chain.rows - chain.ku &&
        matrix.local.row_begin[first + n] - matrix.local.row_begin[first] == n * (W + 1)) {
      const Scalar *const run = matrix.local.value + matrix.local.row_begin[first];
      // the next entries
      for (int k = 0; k < n * (W + 1); k += 64 / static_cast<int>(sizeof(Scalar)))
        host::prefetch(run + n * (W + 1) + k);
      return run;
    }
    std::fill(gathered, gathered + n * (W + 1), Scalar(0));
    for (int r = 0; r < n; ++r) {
      if (!bundle.has(l, i + r)) continue;
      const std::int64_t row = matrix.row(chain, leaf.chain, place + r);
      for (int e = 0, count = matrix.entries(row), distance; e < count; ++e) {
        const Scalar value = matrix.entry(chain, leaf.chain, place + r, row, e, distance);
        gathered[r * (W + 1) + distance + chain.kl] = value;
      }
    }
    return gathered;
  }
};

} // namespace ribbon::multifrontal
