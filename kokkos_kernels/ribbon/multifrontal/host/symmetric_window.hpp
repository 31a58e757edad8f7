// SPDX-License-Identifier: BSD-2-Clause
/// @file symmetric_window.hpp  Congruences that keep a Hermitian front small and bounded, for the inertia
///   of chains. Host only.
///
/// A front has unknowns with complete equations, and others whose equations are still assembled. Complete
/// unknowns are eliminated by pivots of size one or two that are large enough for the whole column (Duff &
/// Reid, ACM Trans. Math. Softw. 9, 1983). Without such a pivot, complete unknowns wait. There are never
/// more waiting unknowns than others: reflections (a congruence) zero the coupling of the last waiting one
/// with the others. An unknown that couples only with complete unknowns is a pivot of size one or, with the
/// direction that it couples with, of size two. The growth is as small as that of Bunch & Kaufman (Math.
/// Comp. 31, 1977; for bands Irony & Toledo, SIAM J. Matrix Anal. Appl. 28, 2006). For every matrix the
/// front therefore stays small.
#pragma once

#include <ribbon/multifrontal/reflector.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace ribbon::multifrontal {

/// Signs of the pivots so far, and the largest value.
struct Signs {
  std::int64_t negative = 0, positive = 0;
  double       largest = 0;
  void         take(double pivot) { ++(pivot < 0 ? negative : positive); }
  void         see(double size)
  {
    if (!(size <= largest) && is_finite(largest)) largest = size; // keeps a NaN
  }
  void join(const Signs &other)
  {
    negative += other.negative, positive += other.positive, see(other.largest);
  }
};

template <class Scalar>
class SymmetricWindow {
public:
  using Real = real_t<Scalar>;
  /// name of an unknown whose equation is complete
  static constexpr std::int64_t complete = std::numeric_limits<std::int64_t>::max();
  /// smallest pivot relative to the other entries of its column
  static constexpr Real bears = Real(0.1);
  Signs                 signs;

  explicit SymmetricWindow(int most = 0)
      : ld_(most), a_(static_cast<std::size_t>(most) * static_cast<std::size_t>(most))
  {
  }
  int          size() const { return static_cast<int>(name_.size()); }
  std::int64_t name(int i) const { return name_[static_cast<std::size_t>(i)]; }
  void         rename(int i, std::int64_t name) { name_[static_cast<std::size_t>(i)] = name; }
  Scalar      &at(int i, int j)
  {
    return a_[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(ld_)];
  }
  const Scalar &at(int i, int j) const
  {
    return a_[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(ld_)];
  }
  int find(std::int64_t name) const
  {
    return static_cast<int>(std::find(name_.begin(), name_.end(), name) - name_.begin());
  }
  int  waiting() const { return static_cast<int>(std::count(name_.begin(), name_.end(), complete)); }
  void clear() { name_.clear(); }

  /// Adds an unknown without couplings. @return its place
  int add(std::int64_t name)
  {
    const int m = size();
    name_.push_back(name);
    for (int i = 0; i <= m; ++i) at(i, m) = at(m, i) = Scalar(0);
    return m;
  }
  /// Adds to entry (i, j), and its conjugate to (j, i).
  void put(int i, int j, const Scalar &value)
  {
    at(i, j) += value;
    if (i != j) at(j, i) += conjugate(value);
  }

  /// Eliminates complete unknowns until at most as many wait as there are others.
  void reduce()
  {
    while (find_pivot()) {
    }
    for (int s = waiting(); s > size() - s; s = waiting()) {
      force_pivot();
      while (find_pivot()) {
      }
    }
  }

private:
  static Real real(const Scalar &a)
  {
    if constexpr (std::is_floating_point_v<Scalar>) return a;
    else return a.real();
  }
  bool is_complete(int i) const { return name_[static_cast<std::size_t>(i)] == complete; }

  void exchange(int i, int j)
  {
    if (i == j) return;
    std::swap(name_[static_cast<std::size_t>(i)], name_[static_cast<std::size_t>(j)]);
    for (int k = 0; k < size(); ++k) std::swap(at(k, i), at(k, j));
    for (int k = 0; k < size(); ++k) std::swap(at(i, k), at(j, k));
  }

  /// Eliminates the last unknown.
  void eliminate_one()
  {
    const int  m = size() - 1;
    const Real d = real(at(m, m));
    signs.take(static_cast<double>(d));
    for (int j = 0; j < m; ++j) {
      const Scalar l = conjugate(at(j, m)) / d;
      if (l == Scalar(0)) continue;
      for (int i = 0; i < m; ++i) at(i, j) -= at(i, m) * l;
    }
    name_.pop_back();
  }
  /// Eliminates the last two unknowns.
  void eliminate_two()
  {
    const int    m  = size() - 2;
    const Real   d0 = real(at(m, m)), d1 = real(at(m + 1, m + 1));
    const Scalar e   = at(m, m + 1);
    const Real   det = d0 * d1 - squared(e);
    signs.take(static_cast<double>(det < 0 ? -1 : d0)), signs.take(static_cast<double>(det < 0 ? 1 : d0));
    for (int j = 0; j < m; ++j) {
      const Scalar c0 = conjugate(at(j, m)), c1 = conjugate(at(j, m + 1)), l0 = (d1 * c0 - e * c1) / det,
                   l1 = (d0 * c1 - conjugate(e) * c0) / det;
      for (int i = 0; i < m; ++i) at(i, j) -= at(i, m) * l0 + at(i, m + 1) * l1;
    }
    name_.resize(name_.size() - 2);
  }

  /// Eliminates one or two complete unknowns that are acceptable pivots. @return whether there were any
  bool find_pivot()
  {
    const int m = size();
    for (int i = m - 1; i >= 0; --i) {
      if (!is_complete(i)) continue;
      const auto most = [&](int column, int but) {
        Real largest = 0;
        for (int k = 0; k < m; ++k)
          if (k != column && k != but) largest = std::max(largest, magnitude(at(k, column)));
        return largest;
      };
      const Real d = magnitude(real(at(i, i))), others = most(i, i);
      signs.see(static_cast<double>(std::max(d, others)));
      if (d > 0 && d >= bears * others) {
        exchange(i, m - 1);
        eliminate_one();
        return true;
      }
      int partner = -1;
      for (int k = 0; k < m; ++k)
        if (k != i && is_complete(k) && (partner < 0 || magnitude(at(k, i)) > magnitude(at(partner, i))))
          partner = k;
      if (partner < 0) continue;
      const Real e = magnitude(at(partner, i)), d1 = magnitude(real(at(partner, partner))),
                 det  = magnitude(real(at(i, i)) * real(at(partner, partner)) - e * e),
                 mine = most(i, partner), theirs = most(partner, i);
      if (det > 0 && std::max(d1 * mine + e * theirs, e * mine + d * theirs) <= det / bears) {
        exchange(i, m - 1);
        exchange(partner == m - 1 ? i : partner, m - 2);
        eliminate_two();
        return true;
      }
    }
    return false;
  }

  /// Congruence by 1 - tau v v^H on complete unknowns.
  void reflect(const std::vector<int> &places, const std::vector<Scalar> &v, Real tau)
  {
    const int  n     = static_cast<int>(places.size());
    const auto sweep = [&](const auto &entry, bool conjugated) {
      for (int k = 0; k < size(); ++k) {
        Scalar sum(0);
        for (int i = 0; i < n; ++i) {
          const Scalar vi = v[static_cast<std::size_t>(i)];
          sum += (conjugated ? conjugate(vi) : vi) * entry(places[static_cast<std::size_t>(i)], k);
        }
        sum *= tau;
        for (int i = 0; i < n; ++i) {
          const Scalar vi = v[static_cast<std::size_t>(i)];
          entry(places[static_cast<std::size_t>(i)], k) -= (conjugated ? vi : conjugate(vi)) * sum;
        }
      }
    };
    sweep([&](int i, int k) -> Scalar & { return at(i, k); }, true);
    sweep([&](int i, int k) -> Scalar & { return at(k, i); }, false);
  }
  /// Zeros the coupling of the places with `column`, except for the first place.
  void gather(const std::vector<int> &places, int column)
  {
    Real norm = 0, scale = 0;
    for (int i : places) scale = std::max(scale, magnitude(at(i, column)));
    if (scale == Real(0) || places.size() < 2) return;
    for (int i : places) norm += squared(at(i, column) / scale);
    norm = scale * square_root(norm);
    std::vector<Scalar> v;
    for (int i : places) v.push_back(at(i, column) / norm);
    const Real first = magnitude(v.front());
    v.front()        = first == Real(0) ? Scalar(1) : v.front() * ((first + Real(1)) / first);
    reflect(places, v, Real(1) / (Real(1) + first)); // ||v||^2 = 2 (1 + first)
    for (std::size_t k = 1; k < places.size(); ++k) at(places[k], column) = at(column, places[k]) = Scalar(0);
  }

  /// If there is no acceptable pivot, and more unknowns wait than there are others: constructs an unknown
  /// that couples only with complete ones, and eliminates it.
  void force_pivot()
  {
    std::vector<int> places;
    for (int i = 0; i < size(); ++i)
      if (is_complete(i)) places.push_back(i);
    const std::vector<int> all = places;
    for (int column = 0; column < size() && places.size() > 1; ++column) { // makes a triangle
      if (is_complete(column)) continue;
      gather(places, column);
      places.erase(places.begin());
    }
    Real largest = 0;
    for (int j = 0; j < size(); ++j) { // this bounds all entries under orthogonal transformations
      Real sum = 0;
      for (int i = 0; i < size(); ++i) sum += magnitude(at(i, j));
      largest = std::max(largest, sum);
    }
    signs.see(static_cast<double>(largest));
    int one = places.front();
    for (int i : places)
      if (magnitude(real(at(i, i))) > magnitude(real(at(one, one)))) one = i;
    std::vector<int> others;
    Real             coupling = 0;
    for (int i : all)
      if (i != one) others.push_back(i), coupling += squared(at(i, one));
    const Real d = magnitude(real(at(one, one)));
    if (others.empty() || d * largest >= Real(0.64) * coupling) { // (1 + sqrt(17)) / 8 of Bunch and Kaufman
      exchange(one, size() - 1);
      // without couplings: an eigenvalue of zero, counted as if positive
      if (at(size() - 1, size() - 1) == Scalar(0))
        at(size() - 1, size() - 1) = std::numeric_limits<Real>::min();
      eliminate_one();
      return;
    }
    gather(others, one);
    const int two = others.front(), m = size();
    exchange(one, m - 1);
    exchange(two == m - 1 ? one : two, m - 2);
    eliminate_two();
  }

  int                       ld_;
  std::vector<Scalar>       a_;
  std::vector<std::int64_t> name_;
};

} // namespace ribbon::multifrontal
