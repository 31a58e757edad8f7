// SPDX-License-Identifier: BSD-2-Clause
/// @file factored_reduction.hpp  Block cyclic reduction with stored factors, for lines of blocks or wide
///   bands that are too few to fill a device.
///
/// Cyclic reduction (Hockney 1965, with Golub; for blocks Heller, SIAM J. Numer. Anal. 13, 1976) halves the
/// number of equations A_k x_(k-1) + D_k x_k + C_k x_(k+1) = r_k at every level. Even equations are
/// eliminated,
///
///     x_k = D_k^-1 r_k - (D_k^-1 A_k) x_(k-1) - (D_k^-1 C_k) x_(k+1),
///
/// and odd equations become equations 0, 1, 2, ... of the next level, with
///
///     r_k <- r_k - (A_k D_(k-1)^-1) r_(k-1) - (C_k D_(k+1)^-1) r_(k+1).
///
/// The factorization stores D_k^-1 and all products in parentheses. A solve of m equations has 2 log2 m
/// steps of small products, each for all equations and components at once. `thomas` has 2 n dependent steps
/// for n rows. If rows couple with K others on either side, K rows form an equation of S = K B <= 8
/// unknowns. Factors need 5 S^2 values per equation, those of `thomas` 3 S^2.
///
/// Only diagonal blocks have row pivoting, in their inversion.
#pragma once

#include <ribbon/algorithm/cyclic_reduction/factored_reduction_factor.hpp>
#include <ribbon/algorithm/cyclic_reduction/factored_reduction_solve.hpp>
#include <ribbon/device/temporary.hpp>

#include <algorithm>

namespace ribbon {

/// Block cyclic reduction of lines with one matrix per line, which are not periodic.
template <class Scalar, class Exec>
class FactoredReduction {
public:
  using Memory = typename Exec::memory_space;
  using Real   = real_t<Scalar>;
  using Input  = Bands<Scalar, Memory>;

  static constexpr int most = 8; ///< unknowns of an equation

  /// Whether block cyclic reduction can factor these matrices.
  static bool takes(const Input &bands)
  {
    return !bands.periodic && (bands.lhs == Lhs::per_line || bands.lhs == Lhs::shifted) &&
           std::max(1, bands.half_bandwidth()) * bands.block <= most;
  }
  /// Bytes of scratch per line.
  static std::size_t scratch(std::int64_t rows, const Input &bands)
  {
    const int K = std::max(1, bands.half_bandwidth());
    return device::align16(2 * static_cast<std::size_t>((rows + K - 1) / K * K * bands.block) *
                           sizeof(Scalar));
  }

  /// Allocates factors; factor() computes them.
  /// @param bands  such that takes(bands), with lines that fit the scratch of a team
  FactoredReduction(const Exec &exec, const Input &bands) : matrices_(bands.matrices())
  {
    shape_ = {static_cast<int>(bands.rows()), std::max(1, bands.half_bandwidth()), bands.block};
    words_ = shape_.words();
    factors_ =
      allocate<Factors>(exec, "ribbon::factored_reduction", static_cast<std::size_t>(words_ * matrices_));
    const int items = std::max(1, shape_.left_out(shape_.equations()) * shape_.size());
    threads_        = 32;
    while (threads_ < items && threads_ < 256) threads_ *= 2;
    const auto bytes = scratch(bands.rows(), bands), limit = device::scratch_limit(exec);
    lanes_ = static_cast<int>(std::max<std::size_t>(
      1, std::min<std::size_t>(static_cast<std::size_t>(128 / threads_), limit / bytes)));
    threads_ *= lanes_;
    scratch_ = 2 * static_cast<std::size_t>(lanes_ * shape_.equations() * shape_.size()) * sizeof(Scalar);
  }

  std::size_t bytes() const { return factors_.size() * sizeof(Scalar); }
  bool        takes_again(const Input &bands) const
  {
    return takes(bands) && bands.rows() == shape_.rows && bands.matrices() == matrices_ &&
           bands.block == shape_.block && std::max(1, bands.half_bandwidth()) == shape_.group;
  }

  /// Factors matrices for which takes_again(bands). Asynchronous, except for the pivots.
  /// @return the smallest pivot relative to the largest entry of its rows, or the first pivot no larger than
  /// `tolerance`, in the form of SmallestPivot: loc is matrix * rows + row
  typename SmallestPivot<Real>::value_type factor(const Exec &exec, const Input &bands, Real tolerance)
  {
    return with_exact_size([&](auto size) { return factor_with<size()>(exec, bands, tolerance); });
  }

  /// x = A^-1 b. The lines have the matrices from `first` on. Asynchronous, one kernel; b == x is allowed.
  void solve(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
             const LineSet &out) const
  {
    with_size([&](auto most_of) {
      device::launch(exec, "ribbon::factored_reduction",
                     {(in.lines() + lanes_ - 1) / lanes_, threads_, scratch_},
                     FactoredReductionSolve<Scalar, most_of()>{shape_, lanes_, words_, factors_.data(), first,
                                                               matrices_, b, x, in, out});
      return 0;
    });
  }

private:
  using Factors = Kokkos::View<Scalar *, Memory>;
  using Key     = unsigned long long;

  template <class F>
  auto with_size(const F &f) const
  {
    const int S = shape_.size();
    if (S <= 2) return f(std::integral_constant<int, 2>{});
    if (S <= 4) return f(std::integral_constant<int, 4>{});
    return f(std::integral_constant<int, most>{});
  }

  /// f(S), where S is the number of unknowns of an equation as a constant, so that blocks stay in registers.
  template <int S = 1, class F>
  auto with_exact_size(const F &f) const
  {
    if constexpr (S < most)
      if (shape_.size() != S) return with_exact_size<S + 1>(f);
    return f(std::integral_constant<int, S>{});
  }

  template <int S>
  typename SmallestPivot<Real>::value_type factor_with(const Exec &exec, const Input &bands, Real tolerance)
  {
    using Factor    = FactoredReductionFactor<Scalar, S, Memory>;
    const auto room = [&](int equations) {
      return Temporary<Scalar, Exec>(exec, "ribbon::factored_reduction::equations",
                                     static_cast<std::size_t>(matrices_ * 3 * S * S * equations));
    };
    const int                      all = shape_.equations();
    const Temporary<Key, Exec>     pivots(exec, "ribbon::factored_reduction::pivots",
                                          static_cast<std::size_t>(matrices_));
    const Temporary<Scalar, Exec>  odd = room(all / 2), even = room(all / 4);
    const PivotPlace<Real, Memory> place(exec);
    int                            threads = 32;
    while (threads < shape_.left_out(all) && threads < Factor::max_threads) threads *= 2;
    device::launch(exec, "ribbon::factored_reduction::factor", {matrices_, threads, 16},
                   Factor{BandEntries<Scalar, Memory>(bands), shape_, words_, factors_.data(), odd.data(),
                          even.data(), pivots.data()});
    Kokkos::parallel_reduce("ribbon::factored_reduction::smallest", indices(exec, matrices_),
                            FactoredReductionPivots<Factor>{pivots.data(), shape_.rows, tolerance},
                            place.reducer());
    return place.found(exec);
  }

  FactoredReductionShape shape_;
  std::int64_t           matrices_ = 0, words_ = 0;
  int                    lanes_ = 1, threads_ = 32;
  std::size_t            scratch_ = 0;
  Factors                factors_;
};

} // namespace ribbon
