// SPDX-License-Identifier: BSD-2-Clause
/// @file inertia.hpp  Counts of negative, zero and positive eigenvalues of a Hermitian chain, by
///   Sylvester's law. Host only.
///
/// The chain is scaled by powers of two on both sides, which changes no sign, and eliminated by congruences
/// (symmetric_window.hpp). The pivots are those of a matrix that differs from the chain by delta, a few
/// roundings of its largest entry. Pivots are therefore counted for A + delta and for A - delta. Negative
/// eigenvalues of the first are negative in A, positive ones of the second are positive in A. The others
/// are zero within this precision. For every matrix, rounding errors decide no sign.
#pragma once

#include <ribbon/chain.hpp>
#include <ribbon/multifrontal/host/symmetric_window.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ribbon {

/// Counts of eigenvalues; zero: within some roundings of zero, after scaling.
struct Inertia {
  std::int64_t negative = 0, zero = 0, positive = 0;
};

namespace multifrontal {

/// The lower half of a Hermitian band, or of a sub-chain whose first rows couple with the last rows of the
/// sub-chain before it.
template <class Scalar>
struct HermitianBand {
  std::int64_t          rows      = 0;
  int                   b         = 0;       ///< half-bandwidth
  const Scalar         *lower     = nullptr; ///< (rows, b + 1): entry (i, i - d)
  const real_t<Scalar> *scale     = nullptr; ///< (b + rows): of the b unknowns before, then of the rows
  bool                  open_left = false, open_right = false;

  Scalar entry(std::int64_t i, int d, real_t<Scalar> shift) const
  {
    if (i - d < 0 && !open_left) return Scalar(0);
    const Scalar a = lower[i * (b + 1) + d] * (scale[b + i] * scale[b + i - d]);
    return d == 0 ? a + Scalar(shift) : a;
  }
};

/// The lower half of a stored band, the scales of both sides, and the distance of the band from Hermitian.
///
/// The scales are those of Ruiz (RAL-TR-2001-034). Each round divides every row and its column by the
/// square root of the largest entry, rounded to a power of two. Rounds end when all largest entries are
/// about 1. Both sides have the same scales, so that the scaled matrix has the same inertia. One round is
/// not enough: S T S with S = 10^(+-8) keeps entries of 10^-8.
template <class Scalar>
struct BandHalves {
  using Real                  = real_t<Scalar>;
  static constexpr int rounds = 16; ///< at most; each round halves the remaining exponents
  static constexpr int highest =
    /// largest exponent of a scale: the product of two does not overflow
    std::is_same_v<Real, float> ? 60 : 500;
  std::int64_t        n  = 0;
  int                 kl = 0, ku = 0, b = 0;
  bool                ring = false;
  const Scalar       *band = nullptr;
  std::vector<Scalar> lower;    ///< (rows, b + 1)
  std::vector<int>    exponent; ///< (rows): of the scales
  /// (rows): powers of two that scale the largest entry of every row to about 1
  std::vector<Real> scale;
  /// largest |a_ij - conj(a_ji)| of the scaled matrix, for local rows
  double asymmetry = 0;

  BandHalves() = default;
  /// @param rows_of_band  (n, kl + ku + 1): a row begins with the entry kl before the diagonal
  /// @param is_ring  whether the ends of these rows couple
  BandHalves(std::int64_t rows, int below, int above, bool is_ring, const Scalar *rows_of_band)
      : n(rows), kl(below), ku(above), b(std::min(below, above)), ring(is_ring), band(rows_of_band),
        exponent(static_cast<std::size_t>(rows), 0)
  {
    lower.reserve(static_cast<std::size_t>(n * (b + 1)));
    for (std::int64_t i = 0; i < n; ++i)
      for (int d = 0; d <= b; ++d) lower.push_back(at(i, -d));
  }
  Scalar at(std::int64_t i, int d) const
  {
    return d < -kl || d > ku ? Scalar(0) : band[i * (kl + ku + 1) + kl + d];
  }

  /// One round.
  /// @param before, behind  (max(kl, ku)): exponents of the unknowns before the first row and after the
  ///   last; null: there are no such unknowns
  /// @return whether a scale changed
  bool scale_once(const int *before, const int *behind)
  {
    const int  m           = std::max(kl, ku);
    const auto exponent_at = [&](std::int64_t j) {
      return j < 0 ? before[m + j] : j >= n ? behind[j - n] : exponent[static_cast<std::size_t>(j)];
    };
    std::vector<int> next  = exponent;
    bool             moves = false;
    for (std::int64_t i = 0; i < n; ++i) {
      constexpr int none    = std::numeric_limits<int>::min();
      int           largest = none;
      for (int d = -kl; d <= ku; ++d) {
        const Real size = magnitude(at(i, d));
        if ((i + d < 0 && !before) || (i + d >= n && !behind) || !(size > 0) || !is_finite(size)) continue;
        int e = 0;
        std::frexp(size, &e);
        largest = std::max(largest, e + exponent_at(i + d));
      }
      if (largest == none) continue;
      largest += exponent[static_cast<std::size_t>(i)];
      int &to = next[static_cast<std::size_t>(i)];
      to      = std::clamp(to - (largest > 0 ? (largest + 1) / 2 : largest / 2), -highest, highest);
      moves   = moves || to != exponent[static_cast<std::size_t>(i)];
    }
    exponent = std::move(next);
    return moves;
  }
  /// All rounds for rows that couple with no other rows.
  void scale_all()
  {
    const auto m = static_cast<std::size_t>(std::max(kl, ku));
    for (int k = 0; k < rounds; ++k)
      if (std::vector<int> ends = exponent;
          !scale_once(ring ? ends.data() + ends.size() - m : nullptr, ring ? ends.data() : nullptr))
        break;
    finish();
  }
  /// After the last round: computes scales and asymmetry.
  void finish()
  {
    scale.clear();
    for (int e : exponent) scale.push_back(static_cast<Real>(std::ldexp(1.0, e)));
    for (std::int64_t i = 0; i < n; ++i)
      for (int d = 0; d <= std::max(kl, ku); ++d)
        if (const std::int64_t j = i + d < n || !ring ? i + d : i + d - n; j < n)
          see(at(i, d), at(j, -d), scale[static_cast<std::size_t>(i)], scale[static_cast<std::size_t>(j)]);
  }
  void see(const Scalar &upper, const Scalar &opposite, Real one, Real other)
  {
    const double difference = static_cast<double>(magnitude(upper - conjugate(opposite)) * (one * other));
    if (!(difference <= asymmetry) && is_finite(asymmetry)) asymmetry = difference;
  }
};

/// The elimination of a sub-chain. Rows are eliminated one by one until a pivot is too small. From there on
/// unknowns enter a window, where complete ones may wait (symmetric_window.hpp). While none waits, rows are
/// eliminated one by one again.
template <class Scalar>
class PieceElimination {
public:
  using Window = SymmetricWindow<Scalar>;
  using Real   = real_t<Scalar>;

  PieceElimination(const HermitianBand<Scalar> &A, Real shift)
      : A_(A), shift_(shift), b_(A.b), n_(A.rows), end_(A.open_right ? n_ - b_ : n_), window_(4 * b_ + 2),
        rows_(static_cast<std::size_t>(b_ + 1) * static_cast<std::size_t>(b_ + 1))
  {
  }

  Window run()
  {
    if (A_.open_left)
      for (int k = -b_; k < 0; ++k) window_.add(k);
    else {
      for (std::int64_t i = 0; i < std::min<std::int64_t>(b_, n_); ++i) load(i);
      to_window(eliminate_rows(0));
    }
    while (added_ < n_) {
      enter(added_++);
      window_.reduce();
      if (A_.open_left || added_ < b_ || window_.waiting() > 0) continue;
      from_window(added_ - b_);
      to_window(eliminate_rows(added_ - b_));
    }
    name_ends();
    return std::move(window_);
  }

private:
  /// Entry (i, i - d) is row(i)[d], for the last b + 1 rows that were loaded.
  Scalar *row(std::int64_t i) { return rows_.data() + i % (b_ + 1) * (b_ + 1); }
  void    load(std::int64_t i)
  {
    for (int d = 0; d <= b_; ++d) row(i)[d] = A_.entry(i, d, shift_);
  }

  /// Eliminates unknowns from j on without the window; rows j to j + b - 1 are loaded. @return the first
  /// unknown that is no pivot
  std::int64_t eliminate_rows(std::int64_t j)
  {
    std::vector<Scalar> l(static_cast<std::size_t>(b_) + 1), c(l.size());
    for (; j < end_; ++j) {
      const int below = static_cast<int>(std::min<std::int64_t>(b_, n_ - 1 - j));
      if (j + b_ < n_) load(j + b_);
      const Scalar diagonal = row(j)[0];
      Real         d, others = 0;
      if constexpr (std::is_floating_point_v<Scalar>) d = diagonal;
      else d = diagonal.real();
      for (int r = 1; r <= below; ++r)
        c[static_cast<std::size_t>(r)] = row(j + r)[r],
        others                         = std::max(others, magnitude(c[static_cast<std::size_t>(r)]));
      window_.signs.see(static_cast<double>(std::max(magnitude(d), others)));
      if (!(magnitude(d) > 0 && magnitude(d) >= Window::bears * others)) break;
      window_.signs.take(static_cast<double>(d));
      for (int r = 1; r <= below; ++r)
        l[static_cast<std::size_t>(r)] = conjugate(c[static_cast<std::size_t>(r)]) / d;
      for (int r = 1; r <= below; ++r)
        for (int k = 1; k <= r; ++k)
          row(j + r)[r - k] -= c[static_cast<std::size_t>(r)] * l[static_cast<std::size_t>(k)];
    }
    return j;
  }
  /// Moves rows j to j + b - 1 to the empty window.
  void to_window(std::int64_t j)
  {
    window_.clear();
    for (added_ = j; added_ < std::min(j + b_, n_); ++added_) {
      window_.add(added_);
      for (std::int64_t k = j; k <= added_; ++k)
        window_.put(static_cast<int>(added_ - j), static_cast<int>(k - j), row(added_)[added_ - k]);
    }
  }
  /// Moves rows j to j + b - 1 back.
  void from_window(std::int64_t j)
  {
    for (std::int64_t r = j; r < added_; ++r)
      for (std::int64_t k = j; k <= r; ++k) row(r)[r - k] = window_.at(window_.find(r), window_.find(k));
  }
  /// Adds unknown i to the window; unknown i - b becomes complete.
  void enter(std::int64_t i)
  {
    const int place = window_.add(i);
    for (int d = 0; d <= b_ && (i - d >= 0 || A_.open_left); ++d)
      if (const Scalar a = A_.entry(i, d, shift_); a != Scalar(0)) window_.put(place, window_.find(i - d), a);
    if (i - b_ >= 0) window_.rename(window_.find(i - b_), Window::complete);
  }
  /// Names the last b unknowns for the sub-chain behind, or completes them.
  void name_ends()
  {
    for (int k = 0; k < window_.size(); ++k)
      if (const std::int64_t name = window_.name(k); name >= 0 && name != Window::complete)
        window_.rename(k, A_.open_right ? name - end_ : Window::complete);
    if (!A_.open_right) window_.reduce();
  }

  const HermitianBand<Scalar> &A_;
  const Real                   shift_;
  const int                    b_;
  const std::int64_t           n_, end_;   ///< unknowns before `end` become complete
  std::int64_t                 added_ = 0; ///< count of rows in the window
  Window                       window_;
  std::vector<Scalar>          rows_;
};

/// Eliminates a sub-chain. The result has its waiting complete unknowns. If there are neighbours, it also
/// has the last b unknowns of the sub-chain before (-b to -1) and its last b (0 to b - 1).
template <class Scalar>
SymmetricWindow<Scalar> eliminate_piece(const HermitianBand<Scalar> &A, real_t<Scalar> shift)
{
  return PieceElimination<Scalar>(A, shift).run();
}

/// Joins the results of two neighbours; the unknowns between them become complete.
template <class Scalar>
SymmetricWindow<Scalar> join_pieces(int b, const SymmetricWindow<Scalar> &before,
                                    const SymmetricWindow<Scalar> &behind)
{
  using Window = SymmetricWindow<Scalar>;
  Window w(before.size() + behind.size());
  w.signs = before.signs;
  w.signs.join(behind.signs);
  // names of the unknowns between while both are assembled
  const auto between = static_cast<std::int64_t>(b) * 2;
  const auto put     = [&](const Window &from, bool first) {
    std::vector<int> place;
    for (int i = 0; i < from.size(); ++i) {
      const std::int64_t name = from.name(i);
      if (name == Window::complete) place.push_back(w.add(name));
      else if (first && name >= 0) place.push_back(w.add(between + name));
      else if (!first && name < 0) place.push_back(w.find(between + name + b));
      else place.push_back(w.add(name));
    }
    for (int i = 0; i < from.size(); ++i)
      for (int j = 0; j <= i; ++j)
        w.put(place[static_cast<std::size_t>(i)], place[static_cast<std::size_t>(j)], from.at(i, j));
  };
  put(before, true);
  put(behind, false);
  for (int i = 0; i < w.size(); ++i)
    if (w.name(i) >= between) w.rename(i, Window::complete);
  w.reduce();
  return w;
}

/// Joins the ends of a ring, or eliminates the rest of a chain.
template <class Scalar>
Signs close_pieces(int b, const SymmetricWindow<Scalar> &left_over)
{
  using Window = SymmetricWindow<Scalar>;
  Window           w(left_over.size());
  std::vector<int> place;
  w.signs = left_over.signs;
  for (int i = 0; i < left_over.size(); ++i)
    if (const auto name = left_over.name(i); name == Window::complete || name >= 0) w.add(name);
  int complete = 0;
  for (int i = 0; i < left_over.size(); ++i) {
    const auto name = left_over.name(i);
    if (name == Window::complete || name >= 0) place.push_back(complete++);
    else place.push_back(w.find(name + b));
  }
  for (int i = 0; i < left_over.size(); ++i)
    for (int j = 0; j <= i; ++j) {
      const int to = place[static_cast<std::size_t>(i)], from = place[static_cast<std::size_t>(j)];
      w.put(to, from, left_over.at(i, j));
      if (to == from && i != j) w.put(to, from, conjugate(left_over.at(i, j)));
    }
  for (int i = 0; i < w.size(); ++i) w.rename(i, Window::complete);
  w.reduce();
  return w.signs;
}

/// Requests the signs of the pivots of A + shift until the shift covers the rounding errors of the largest
/// value.
/// @param asymmetry  largest |a_ij - conj(a_ji)| of the scaled matrix
/// @param signs_of  signs_of(shift): the signs
/// @return false if rounding errors exceed the cube root of a unit of roundoff, or values are not finite
template <class Scalar, class SignsOf>
bool certified_inertia(std::int64_t rows, int b, double asymmetry, const SignsOf &signs_of, Inertia *inertia)
{
  const double eps = static_cast<double>(unit_roundoff<Scalar>()), per_number = 16 * eps * (2 * b + 1),
               most = std::cbrt(eps);
  double largest    = 4;
  while (true) {
    const double delta = per_number * largest + asymmetry * (b + 1);
    if (!(delta <= most)) return false;
    const Signs  above = signs_of(delta), below = signs_of(-delta);
    const double met = std::max(above.largest, below.largest);
    if (!is_finite(above.largest) || !is_finite(below.largest)) return false;
    if (met <= largest) {
      *inertia = {above.negative, rows - above.negative - below.positive, below.positive};
      return true;
    }
    largest = 2 * met;
  }
}

} // namespace multifrontal

/// Inertia of Hermitian chains.
/// @param band  (chains rows, kl + ku + 1), as in BandHalves
/// @param asymmetry  largest |a_ij - conj(a_ji)| of the last scaled chain
/// @return false if they are not Hermitian, or the signs are uncertain
template <class Scalar>
bool inertia_of_chains(const Chain &chain, const Scalar *band, Inertia *inertia, double *asymmetry = nullptr)
{
  using namespace multifrontal;
  *inertia = {};
  for (std::int64_t c = 0; c < chain.chains; ++c) {
    BandHalves<Scalar> halves(chain.rows, chain.kl, chain.ku, chain.ring,
                              band + c * chain.rows * (chain.width() + 1));
    halves.scale_all();
    if (asymmetry) *asymmetry = halves.asymmetry;
    auto scale = std::vector<real_t<Scalar>>(static_cast<std::size_t>(halves.b), real_t<Scalar>(1));
    if (chain.ring) scale.assign(halves.scale.end() - halves.b, halves.scale.end());
    scale.insert(scale.end(), halves.scale.begin(), halves.scale.end());
    const HermitianBand<Scalar> A{chain.rows,   halves.b,   halves.lower.data(),
                                  scale.data(), chain.ring, chain.ring};
    const auto                  signs_of = [&](double shift) {
      return close_pieces(halves.b, eliminate_piece(A, static_cast<real_t<Scalar>>(shift)));
    };
    Inertia found;
    if (!certified_inertia<Scalar>(chain.rows, halves.b, halves.asymmetry, signs_of, &found)) return false;
    inertia->negative += found.negative, inertia->zero += found.zero, inertia->positive += found.positive;
  }
  return true;
}

} // namespace ribbon
