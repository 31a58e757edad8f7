// SPDX-License-Identifier: BSD-2-Clause
/// @file band_lu_elimination.hpp  The elimination of a band LU with partial pivoting: one chain, one thread.
#pragma once

#include <ribbon/multifrontal/host/band_lu_factors.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace ribbon::multifrontal {

/// Eliminates a chain in a window of `step` + kl rows that stays in the cache. Loops over the band are
/// unrolled if kl = ku = K; K = 0: any band.
template <class Scalar, int K, class Index>
class BandElimination {
public:
  using Real       = real_t<Scalar>;
  using Statistics = PivotStatistics<Real>;

  /// @param c  number of the chain
  /// @param window  scratch of BandLuFactors::window_size() scalars
  BandElimination(const BandLuFactors<Scalar> &lu, const ChainMatrix<Scalar, Index> &A, std::int64_t c,
                  Scalar *window)
      : lu_(lu), A_(A), window_(window), number_(c), begin_(c * lu.chain.rows), end_(begin_ + lu.chain.rows),
        kl_(lu.chain.kl), ku_(lu.chain.ku), first_(begin_), plain_rows_(lu.chain.rows), filled_(begin_)
  {
  }

  /// Stores the factors of the chain and returns the statistics of its pivots.
  Statistics run()
  {
    for (std::int64_t i = begin_; i < std::min(begin_ + kl(), end_); ++i) load(i);
    while (first_ < end_) {
      const std::int64_t stop = std::min(first_ + step, end_);
      for (std::int64_t j = first_; j < stop; ++j) {
        if (j + kl() < end_) {
          load(j + kl());
          if constexpr (K > 0) eliminate(j, std::integral_constant<int, K>());
          else eliminate(j, kl());
        } else eliminate(j, static_cast<int>(end_ - 1 - j));
      }
      shift(stop);
    }
    keep_results();
    return statistics_;
  }

private:
  static constexpr int step = BandLuFactors<Scalar>::step;
  /// Entries of U this many times larger than any of the matrix so far count as growth.
  static constexpr int growth = 64;
  /// If a column of U is this small relative to the largest entry of the matrix so far, its row or its
  /// column has different units. Units of columns do not change the elimination; units of rows make it
  /// inaccurate.
  static constexpr auto uneven = Real(0x1p-10);
  /// Pivots this small relative to the largest entry so far are compared with their columns and rows.
  static constexpr double looks_at = 1e-5;
  /// The largest half-bandwidth for which origins and sizes of rows are tracked through exchanges.
  static constexpr int most_followed = 64;

  int kl() const { return K ? K : kl_; }
  int ku() const { return K ? K : ku_; }
  /// Distance of the entries of a column in the window: each row begins one further to the right.
  int below_in_column() const { return 2 * kl() + ku(); }
  /// Row i of the window, at its diagonal.
  Scalar *row(std::int64_t i) const { return window_ + (i - first_) * (2 * kl() + ku() + 1) + kl(); }
  bool    follows() const { return kl() <= most_followed; }

  /// Loads row i of the matrix into the window. As a call it takes a sixth of the time of narrow bands.
  [[gnu::always_inline]] void load(std::int64_t i)
  {
    const std::int64_t r  = A_.row_of ? A_.row_of[i] : i;
    Scalar            *to = row(i);
    const auto         at = A_.local.row_begin[r], stop = A_.local.row_begin[r + 1];
    const auto         is_run = [&](int below, int above) { // columns ascend
      return K && !A_.place_of && stop - at == below + above + 1 && A_.local.column[at] == i - below &&
             A_.local.column[stop - 1] == i + above;
    };
    Real in_row = 0;
    if (is_run(K, K)) {
      in_row = load_run(A_.local.value + at, std::integral_constant<int, 2 * K + 1>(), to - K);
      for (int k = K + 1; k <= 2 * K; ++k) to[k] = Scalar(0);
    } else if (is_run(lu_.given_kl, lu_.given_ku)) {
      for (int k = -K; k <= 2 * K; ++k) to[k] = Scalar(0);
      in_row = load_run(A_.local.value + at, lu_.given_kl + lu_.given_ku + 1, to - lu_.given_kl);
    } else in_row = load_entries(i, at, stop, to);
    if (lu_.row_scale) in_row = scale_row(i, in_row, to);
    biggest_ = std::max(biggest_, in_row);
    if (follows()) size_of_row_[i - first_] = in_row;
    // pivots of a row that is exchanged over many steps grow while the others decay
    least_ = std::min(least_, in_row);
  }
  /// Copies n contiguous values; returns the largest size.
  template <class Count>
  static Real load_run(const Scalar *from, Count n, Scalar *to)
  {
    Real largest = 0;
    for (int k = 0; k < n; ++k) {
      const Scalar value = from[k];
      largest            = std::max(largest, absolute(value));
      to[k]              = value;
    }
    return largest;
  }
  /// Loads the entries `at` to `stop` - 1 of any row; returns the largest size.
  template <class At>
  Real load_entries(std::int64_t i, At at, At stop, Scalar *to)
  {
    Real in_row = 0;
    for (int k = -kl(); k <= ku() + kl(); ++k) to[k] = Scalar(0);
    for (auto e = at; e < stop; ++e) {
      const std::int64_t j    = A_.local.column[e];
      const std::int64_t at_j = A_.place_of ? A_.place_of[j] : j;
      const Real         size = absolute(A_.local.value[e]);
      in_row                  = std::max(in_row, size);
      to[at_j - i]            = A_.local.value[e];
      // elimination adds such an entry to no diagonal here
      if ((kl() == 0 || ku() == 0) && !is_finite(size)) statistics_.look(size, size, at_j);
    }
    return in_row;
  }
  /// Scales a row to a largest entry between 1/2 and 1, and returns the scaled size.
  Real scale_row(std::int64_t i, Real in_row, Scalar *to)
  {
    const int exponent = exponent_of<Real>(size_word(static_cast<double>(in_row)));
    lu_.row_scale[i]   = static_cast<Real>(power_of_two(-exponent));
    statistics_.take_row(exponent, false, i);
    for (int k = -kl(); k <= ku(); ++k) to[k] *= lu_.row_scale[i];
    return in_row * lu_.row_scale[i];
  }

  /// Eliminates column j from the `below` rows that follow; a constant if the whole band exists.
  template <class Below>
  void eliminate(std::int64_t j, Below below)
  {
    Scalar    *u = row(j), *l = lu_.lower + j * kl();
    int        p    = 0; // the pivot is in row j + p
    const Real most = find_pivot(j, u, below, p);
    least_          = std::min(least_, most);
    statistics_.take(most, largest_of_column(j, p, most), j);
    filled_          = std::max(filled_, std::min(j + ku() + p, end_ - 1));
    const int length = static_cast<int>(filled_ - j);
    if (p > 0) exchange(j, p, length);
    const Scalar reciprocal = Scalar(1) / u[0];
    keep_row(j, p, most, reciprocal, u);
    if (most == Real(0)) // a zero pivot eliminates nothing
      for (int r = 0; r < kl(); ++r) l[r] = Scalar(0);
    else if (K && length == K) subtract_unrolled(below, reciprocal, u, l);
    else subtract(below, length, reciprocal, u, l);
  }
  /// Searches column j for its largest entry and returns its size.
  template <class Below>
  Real find_pivot(std::int64_t j, const Scalar *u, Below below, int &p)
  {
    const int down = below_in_column();
    Real      most = absolute(u[0]), others = 0;
    for (int k = 1; k <= below; ++k) others = std::max(others, absolute(u[k * down]));
    if (others > most) {
      most = others;
      while (absolute(u[p * down]) != others) ++p;
      plain_rows_ = std::min(plain_rows_, j - begin_);
    }
    return most;
  }
  /// The largest entry of column j of U, computed only if the pivot, of size `most`, is small.
  Real largest_of_column(std::int64_t j, int p, Real most)
  {
    Real largest = most;
    if (most >= std::min(std::max(statistics_.smallest, Real(looks_at)), Real(0.1)) * biggest_)
      return largest;
    for (int k = 1; k <= ku() + kl() && j - k >= begin_; ++k)
      if (k <= ku() || j - k - begin_ >= plain_rows_)
        largest = std::max(largest, absolute(lu_.u(j - k, k, kl(), ku())));
    if (largest < biggest_ * uneven) statistics_.has_small_column = true;
    // rows of 1 next to rows of 10^12 have pivots of 1 that are small in their columns
    const Real compared = follows() ? std::min(largest, size_of_row_[j - first_ + p]) : largest;
    if (most < least_doubtful_ * compared) least_doubtful_ = most / compared;
    return largest;
  }
  /// Exchanges rows j and j + p from column j on.
  void exchange(std::int64_t j, int p, int length)
  {
    Scalar *u = row(j), *pivot = row(j + p) - p;
    for (int k = 0; k <= length; ++k) std::swap(u[k], pivot[k]);
    if (!follows()) return;
    if (plain_rows_ == j - begin_) // the first exchange
      for (int k = 0; k < kl() + step && first_ + k < end_; ++k) origin_[k] = first_ + k;
    longest_ = std::max(longest_, j + p - origin_[j - first_]);
    std::swap(origin_[j - first_], origin_[j + p - first_]);
    std::swap(size_of_row_[j - first_], size_of_row_[j + p - first_]);
  }
  /// Stores row j of U.
  void keep_row(std::int64_t j, int p, Real most, const Scalar &reciprocal, const Scalar *u)
  {
    Scalar *kept = lu_.upper + j * (ku() + 1);
    kept[0]      = reciprocal;
    Real top     = most;
    for (int k = 1; k <= ku(); ++k) kept[k] = u[k], top = std::max(top, absolute(u[k]));
    if (j - begin_ >= plain_rows_) {
      lu_.exchange[j] = p;
      for (int k = 0; k < kl(); ++k)
        lu_.fill[j * kl() + k] = u[ku() + 1 + k], top = std::max(top, absolute(u[ku() + 1 + k]));
    }
    grows_        = grows_ || top > growth * biggest_;
    biggest_of_u_ = std::max(biggest_of_u_, top);
  }
  /// Subtracts multiples of the pivot row from the rows below it. The row has K entries after the pivot.
  template <class Below>
  void subtract_unrolled(Below below, const Scalar &reciprocal, Scalar *u, Scalar *l) const
  {
    Scalar v[K + 1];
    for (int k = 1; k <= K; ++k) v[k] = u[k];
    for (int r = 1; r <= below; ++r) {
      Scalar      *to     = u + r * below_in_column();
      const Scalar factor = to[0] * reciprocal;
      l[r - 1]            = factor;
      for (int k = 1; k <= K; ++k) to[k] -= factor * v[k];
    }
  }
  /// The same for `length` entries.
  template <class Below>
  void subtract(Below below, int length, const Scalar &reciprocal, Scalar *u, Scalar *l) const
  {
    const int down = below_in_column();
    for (int r = 1; r <= below; ++r) {
      Scalar      *to     = u + r * down;
      const Scalar factor = to[0] * reciprocal;
      l[r - 1]            = factor;
      int k               = 1;
      // loads before stores: rows do not overlap, but the compiler cannot deduce that
      for (; k + 3 <= length; k += 4) {
        Scalar next[4];
        for (int m = 0; m < 4; ++m) next[m] = to[k + m] - factor * u[k + m];
        for (int m = 0; m < 4; ++m) to[k + m] = next[m];
      }
      for (; k <= length; ++k) to[k] -= factor * u[k];
    }
  }

  /// Moves the rows from `stop` on to the beginning of the window.
  void shift(std::int64_t stop)
  {
    const std::int64_t rest = std::min(stop + kl(), end_);
    std::copy(row(stop) - kl(), row(rest) - kl(), window_);
    if (follows()) std::copy(size_of_row_ + (stop - first_), size_of_row_ + (rest - first_), size_of_row_);
    if (follows() && plain_rows_ < lu_.chain.rows) {
      std::copy(origin_ + (stop - first_), origin_ + (rest - first_), origin_);
      for (int k = kl(); k < kl() + step; ++k) origin_[k] = stop + k;
    }
    first_ = stop;
  }
  /// Stores the results that tell how accurate the factors are.
  void keep_results()
  {
    statistics_.is_tiny =
      statistics_.is_tiny || least_ < static_cast<Real>(power_of_two(least_exponent<Real>()));
    lu_.grown[number_]     = biggest_ > 0 ? biggest_of_u_ / biggest_ : Real(1);
    lu_.doubtful[number_]  = least_doubtful_;
    lu_.plain[number_]     = plain_rows_;
    lu_.postponed[number_] = grows_ ? std::numeric_limits<std::int64_t>::max()
                             : follows() || plain_rows_ == lu_.chain.rows ? longest_
                                                                          : lu_.chain.rows;
  }

  const BandLuFactors<Scalar>      &lu_;
  const ChainMatrix<Scalar, Index> &A_;
  Scalar                           *window_;
  const std::int64_t                number_, begin_, end_;
  const int                         kl_, ku_;
  std::int64_t                      first_; ///< row of the window
  Statistics                        statistics_;
  Real         biggest_ = 0, biggest_of_u_ = 0; ///< entries of the matrix so far, and of U
  Real         least_ = std::numeric_limits<Real>::max(), least_doubtful_ = 1;
  bool         grows_ = false;
  std::int64_t plain_rows_;  ///< rows before the first exchange
  std::int64_t filled_;      ///< last column with entries of the rows above
  std::int64_t longest_ = 0; ///< most steps by which a row was postponed
  /// of the rows of the window: largest entry in the matrix, and, after the first exchange, the row that
  /// they were
  Real         size_of_row_[step + most_followed];
  std::int64_t origin_[step + most_followed];
};

} // namespace ribbon::multifrontal
