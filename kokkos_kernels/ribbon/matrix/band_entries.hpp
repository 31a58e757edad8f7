// SPDX-License-Identifier: BSD-2-Clause
/// @file band_entries.hpp  The entries of Bands as a function, for kernels that eliminate or check matrices
///   in the memory of the coefficients.
#pragma once

#include <ribbon/bands.hpp>

#include <cstdint>

namespace ribbon {

template <class Scalar, class Memory>
struct BandEntries {
  using Real = real_t<Scalar>;
  Kokkos::View<const Scalar ***, Kokkos::LayoutLeft, Memory> values;
  std::int64_t                                               rows = 0, repeats = 1;
  int                                                        lower = 0, upper = 0, block = 1;
  bool                                                       periodic = false;
  Kokkos::View<const Scalar *, Memory>                       alpha, beta; ///< empty except for Lhs::shifted

  BandEntries() = default;
  explicit BandEntries(const Bands<Scalar, Memory> &bands)
      : values(bands.values), rows(bands.rows()), repeats(bands.repeats), lower(bands.kl()),
        upper(bands.ku()), block(bands.block), periodic(bands.periodic)
  {
    if (bands.lhs == Lhs::shifted) alpha = bands.alpha, beta = bands.beta;
  }
  KOKKOS_FUNCTION std::int64_t matrices() const
  {
    return static_cast<std::int64_t>(alpha.data() ? alpha.extent(0) : values.extent(0));
  }

  /// Entry (i, i + d) of matrix c, (a, b) of the block there; zero outside the bands and outside a matrix
  /// that is not periodic.
  KOKKOS_FUNCTION Scalar operator()(std::int64_t c, std::int64_t i, std::int64_t d, int a = 0,
                                    int b = 0) const
  {
    if (d < -lower || d > upper || (!periodic && (i + d < 0 || i + d >= rows))) return Scalar(0);
    const std::int64_t e = ((d + lower) * block + a) * block + b,
                       k = repeated_row(i, static_cast<std::int64_t>(values.extent(1)) / 2, repeats);
    return alpha.data() ? alpha(c) * values(0, k, e) + beta(c) * values(1, k, e) : values(c, k, e);
  }
  /// Entry (i, i + d) of matrix c, with blocks interpreted as bands of single unknowns.
  KOKKOS_FUNCTION Scalar of_unknown(std::int64_t c, std::int64_t i, std::int64_t d) const
  {
    if (block == 1) return (*this)(c, i, d);
    const std::int64_t a = i % block, j = a + d + block * (lower + 1), e = j / block - (lower + 1);
    return (*this)(c, i / block, e, static_cast<int>(a), static_cast<int>(j % block));
  }
  /// The power of two that scales the largest entry of a row to [1, 2); 1 for rows of zeros, and if an
  /// entry is not finite.
  KOKKOS_FUNCTION Real row_scale(std::int64_t c, std::int64_t i, int a = 0) const
  {
    return power_of_two_for(row_max(c, i, a));
  }
  KOKKOS_FUNCTION static Real power_of_two_for(Real largest)
  {
    Real scale = 1;
    if (!(largest > 0 && is_finite(largest))) return scale;
    while (largest * scale >= 2) scale *= Real(0.5);
    while (largest * scale < 1 && is_finite(scale * 2)) scale *= 2;
    return scale;
  }
  /// Largest entry of a row; NaN if an entry is NaN.
  KOKKOS_FUNCTION Real row_max(std::int64_t c, std::int64_t i, int a = 0) const
  {
    Real m = 0;
    for (int d = -lower; d <= upper; ++d)
      for (int b = 0; b < block; ++b) {
        const Real v = magnitude((*this)(c, i, d, a, b));
        if (!(v <= m) && m == m) m = v; // keeps a NaN
      }
    return m;
  }
};

/// Smallest pivot, relative to the largest entry of its row, and its place (line * rows + row): the result
/// of a reduction over lines. -1: a pivot or an entry is not finite. If lines are bad, the result is that
/// of the first bad line.
template <class Real>
struct SmallestPivot {
  struct value_type {
    Real         val;
    int          bad; ///< val is no larger than the tolerance
    std::int64_t loc;
  };

  /// The initial value of a line. Values are per line: a zero pivot explains infinite values after it in
  /// the same line, but not in other lines.
  KOKKOS_FUNCTION static value_type start(std::int64_t at) { return {Real(1e30f), 0, at}; }
  KOKKOS_FUNCTION static void       see(Real pivot, Real scale, std::int64_t at, value_type &smallest)
  {
    if (smallest.val == 0) return; // values after a zero pivot are infinite because of it
    const Real relative = !is_finite(pivot) || !is_finite(scale) ? Real(-1)
                          : scale > 0                            ? pivot / scale
                                                                 : Real(0);
    if (relative < smallest.val) smallest.val = relative, smallest.loc = at;
  }
  KOKKOS_FUNCTION static void join(value_type &to, const value_type &from)
  {
    const bool first = from.bad != to.bad               ? from.bad > 0
                       : from.bad || from.val == to.val ? from.loc < to.loc
                                                        : from.val < to.val;
    if (first) to = from;
  }
  /// Adds the result of a completed line.
  KOKKOS_FUNCTION static void finish(value_type line, Real tolerance, value_type &all)
  {
    line.bad = line.val <= tolerance;
    join(all, line);
  }
};

/// A place for a SmallestPivot in the memory of the kernels, so that a reduction need not wait for its
/// result.
template <class Real, class Memory>
class PivotPlace {
public:
  using value_type = typename SmallestPivot<Real>::value_type;

  struct reducer_type {
    using reducer          = reducer_type;
    using value_type       = typename SmallestPivot<Real>::value_type;
    using result_view_type = Kokkos::View<value_type, Memory>;
    value_type          *place;
    KOKKOS_FUNCTION void join(value_type &to, const value_type &from) const
    {
      SmallestPivot<Real>::join(to, from);
    }
    RIBBON_JOIN_VOLATILE(value_type)
    KOKKOS_FUNCTION void             init(value_type &value) const { value = SmallestPivot<Real>::start(-1); }
    KOKKOS_FUNCTION value_type      &reference() const { return *place; }
    KOKKOS_FUNCTION result_view_type view() const { return result_view_type(place); }
    KOKKOS_FUNCTION bool             references_scalar() const { return false; }
  };

  PivotPlace() = default;
  template <class Exec>
  explicit PivotPlace(const Exec &exec)
      : words_(allocate<Words>(exec, "ribbon::pivot", sizeof(value_type) / sizeof(int)))
  {
  }
  reducer_type reducer() const { return {reinterpret_cast<value_type *>(words_.data())}; }

  /// The result of the last reduction.
  template <class Exec>
  value_type found(const Exec &exec) const
  {
    value_type value;
    Kokkos::deep_copy(exec,
                      Kokkos::View<int *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        reinterpret_cast<int *>(&value), words_.size()),
                      words_);
    exec.fence();
    return value;
  }

private:
  using Words = Kokkos::View<int *, Memory>; ///< a view of records would add device kernels of Kokkos
  Words words_;
};

} // namespace ribbon
