// SPDX-License-Identifier: BSD-2-Clause
/// @file reflector.hpp  Householder reflections, and statistics of pivots of a chain.
#pragma once

#include <ribbon/compat.hpp>

#include <cstring>

namespace ribbon::multifrontal {

/// The same value, which the compiler must treat as a new one. It then recomputes expressions in every
/// iteration of a loop instead of holding them in registers that are scarce. It also does not turn a
/// selection of registers into an index, which would move the registers to local memory.
KOKKOS_INLINE_FUNCTION int renewed(int a)
{
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(a));
#endif
  return a;
}

template <class Scalar>
KOKKOS_INLINE_FUNCTION real_t<Scalar> squared(const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return a * a;
  else return a.real() * a.real() + a.imag() * a.imag();
}

/// H = 1 - tau v v^H with v = (1, factor x) and H^H (alpha, x) = (beta, 0), beta real (LAPACK's larfg).
template <class Scalar>
struct Reflector {
  Scalar         tau_conjugate, factor;
  real_t<Scalar> beta, one_over_beta;
  Scalar         tau_factor; ///< conj(tau) factor, which is available before factor
};

/// 1 / sqrt(a) to about one unit of roundoff; Inf for 0.
template <class Real>
KOKKOS_INLINE_FUNCTION Real reciprocal_root(Real a)
{
#ifdef __CUDA_ARCH__
  return rsqrt(a); // a tenth of the instructions
#else
  return Real(1) / square_root(a);
#endif
}

#ifdef __CUDA_ARCH__
/// tau = 1 + |alpha| / size, factor = +-1 / (size tau). Independent operations overlap: the reciprocal of
/// tau starts from that of its approximation. Returns false, and does not change h, if size^2 is zero,
/// subnormal or not finite.
KOKKOS_INLINE_FUNCTION bool make_reflector_quickly(double alpha, double rest, Reflector<double> &h)
{
  const double size2 = fma(alpha, alpha, rest);
  if (static_cast<unsigned>(__double2hiint(size2)) - 0x00100000u >= 0x7fe00000u) return false;
  double y, z;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(size2)); // 20 bits
  const double size = fabs(alpha), error = fma(-size2, y * y, 1.0);
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(z) : "d"(fma(size, y, 1.0)));
  const double one_over_size = fma(fma(error, 0.375, 0.5), error * y, y), tau = fma(size, one_over_size, 1.0),
               rest_of_z = fma(-tau, z, 1.0);
  const double one_over  = copysign(one_over_size, alpha);
  h = {tau, one_over * fma(z, fma(rest_of_z, rest_of_z, rest_of_z), z), -size2 * one_over, -one_over,
       one_over};
  return true;
}
#endif

/// @param rest  squared norm of x
template <class Scalar>
KOKKOS_INLINE_FUNCTION Reflector<Scalar> make_reflector(const Scalar &alpha, real_t<Scalar> rest)
{
  using Real = real_t<Scalar>;
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<Scalar, double>) {
    Reflector<double> h;
    if (make_reflector_quickly(alpha, rest, h)) return h;
  }
#endif
  Real real;
  bool is_done = rest == Real(0);
  if constexpr (std::is_floating_point_v<Scalar>) real = alpha;
  else real = alpha.real(), is_done = is_done && alpha.imag() == Real(0);
  if (is_done) return {Scalar(0), Scalar(0), real, Real(1) / real, Scalar(0)};
  const Real size2 = squared(alpha) + rest, one_over_size = reciprocal_root(size2);
  if constexpr (std::is_floating_point_v<Scalar>) {
    const Real one_over = real > 0 ? one_over_size : -one_over_size, tau = Real(1) + real * one_over;
    return {tau, one_over / tau, -size2 * one_over, -one_over, one_over};
  }
  const Real beta            = real > 0 ? -size2 * one_over_size : size2 * one_over_size,
             one_over_beta   = real > 0 ? -one_over_size : one_over_size;
  const Scalar tau_conjugate = conjugate((Scalar(beta) - alpha) * one_over_beta),
               factor        = reciprocal(alpha - Scalar(beta));
  return {tau_conjugate, factor, beta, one_over_beta, tau_conjugate * factor};
}

/// The square of this value is the least normal number divided by the unit of roundoff.
template <class Real>
KOKKOS_INLINE_FUNCTION constexpr Real least_pivot()
{
  return std::is_same_v<Real, float> ? static_cast<Real>(0x1p-51) : static_cast<Real>(0x1p-485);
}
/// The pivot that a reflection leaves: beta, or zero if the squares of all entries of the column underflow
/// partly. beta is then inaccurate.
template <class Real>
KOKKOS_INLINE_FUNCTION Real pivot_of(Real beta)
{
  constexpr Real least = least_pivot<Real>();
  return beta < least && beta > -least ? Real(0) : beta;
}

/// The upper 32 bits of |a|, which order values by size to 20 bits: integers are faster to compare.
KOKKOS_INLINE_FUNCTION int size_word(double a)
{
#ifdef __CUDA_ARCH__
  return __double2hiint(a) & 0x7fffffff;
#else
  std::uint64_t bits;
  std::memcpy(&bits, &a, sizeof bits);
  return static_cast<int>(bits >> 32 & 0x7fffffff);
#endif
}
/// The size word of infinity; larger words are NaN.
inline constexpr int size_of_infinity = 0x7ff00000;
/// The size word of least_of_column.
inline constexpr int size_of_small_column = (1023 - 4) << 20;
/// The value with these upper bits.
KOKKOS_INLINE_FUNCTION double of_size_word(int word)
{
#ifdef __CUDA_ARCH__
  return __hiloint2double(word, 0);
#else
  const std::uint64_t bits = static_cast<std::uint64_t>(static_cast<std::uint32_t>(word)) << 32;
  double              a;
  std::memcpy(&a, &bits, sizeof a);
  return a;
#endif
}

/// The exponent e for which 2^-e times a value of this size is in [1/2, 1), within the exponents of Real; 0
/// for zero, infinity and NaN.
template <class Real>
KOKKOS_INLINE_FUNCTION int exponent_of(int size_word_of_largest)
{
  constexpr int most   = std::is_same_v<Real, float> ? 126 : 1021;
  const int     biased = size_word_of_largest >> 20, e = biased - 1022;
  return size_word_of_largest == 0 || biased == 2047 ? 0 : e > most ? most : e < -most ? -most : e;
}
KOKKOS_INLINE_FUNCTION double power_of_two(int e)
{
  return of_size_word((e + 1023) << 20);
}

/// Rows whose largest entry is below 2 to this power, and such pivots, may have inverses that overflow.
template <class Real>
KOKKOS_INLINE_FUNCTION constexpr int least_exponent()
{
  return std::is_same_v<Real, float> ? -60 : -600;
}
/// Columns whose entries, with scaled rows, are all smaller than this have different units: the scales of
/// rows then depend on the largest columns only.
inline constexpr double least_of_column = 1.0 / 16;

/// Statistics of the diagonal of R: smallest |R_jj| relative to the largest entry of column j of the
/// matrix, that column, and the sum of log |R_jj|. Statistics of the rows: the sum of the exponents of
/// their scales, and the first row of zeros.
template <class Real>
struct PivotStatistics {
  Real         smallest         = Real(1e30);
  std::int64_t column           = -1;
  double       log_det          = 0;
  double       product          = 1;
  bool         not_finite       = false;
  bool         has_small_column = false; ///< see least_of_column; set by orthogonal elimination and band LU
  bool         is_tiny          = false; ///< a row of the matrix, or a pivot: see least_exponent()
  std::int64_t exponents = 0, zero_row = no_row;

  static constexpr std::int64_t no_row = std::int64_t(1) << 62;

  /// Whether the product of two such products is far from overflow.
  KOKKOS_INLINE_FUNCTION bool is_tame() const
  {
    const int size = size_word(product);
    return size > 0x2b300000 && size < 0x54b00000; // between 2^-332 and 2^332
  }
  /// Adds a row of the matrix with this exponent.
  KOKKOS_INLINE_FUNCTION void take_row(int exponent, bool is_zero, std::int64_t row)
  {
    exponents += exponent;
    if (exponent < least_exponent<Real>()) is_tiny = true;
    if (is_zero && row < zero_row) zero_row = row;
  }
  /// Adds the largest entry of a column, with scaled rows.
  KOKKOS_INLINE_FUNCTION void look_at_column(Real largest)
  {
    if (largest < Real(least_of_column)) has_small_column = true;
  }
  /// The fast path: a product and comparisons, rarely a quotient, unless a value is out of range.
  KOKKOS_INLINE_FUNCTION void take(Real pivot, Real scale, std::int64_t j)
  {
    const Real   size   = pivot < 0 ? -pivot : pivot;
    const double before = product;
    product             = before * static_cast<double>(size);
    if (!is_tame() || !is_finite(scale)) product = before, look(size, scale, j);
    else if (!(size >= smallest * scale)) smallest = size / scale, column = j;
  }
  /// Adds a pivot that is not yet in the product.
  KOKKOS_INLINE_FUNCTION void look(Real size, Real scale, std::int64_t j)
  {
    if (!is_finite(size) || !is_finite(scale)) {
      if (!not_finite) column = j;
      not_finite = true;
      product = 1, smallest = 0; // no later pivot is smaller
      return;
    }
    // one by one: the product of both may be 0 or infinite
    settle(), product = static_cast<double>(size), settle();
    if (!not_finite && !(size >= smallest * scale)) smallest = size / scale, column = j;
    // keeps the first one
    if (!not_finite && size == Real(0) && smallest != Real(0)) smallest = 0, column = j;
  }
  KOKKOS_INLINE_FUNCTION void settle()
  {
    log_det += log(product);
    product = 1;
  }
  /// The same if columns of both are interleaved: of equal pivots the first counts.
  KOKKOS_INLINE_FUNCTION void join_among(const PivotStatistics &other)
  {
    const bool was_finite = !not_finite, is_first = other.column >= 0 && other.column < column &&
                                                    other.not_finite == not_finite &&
                                                    other.smallest == smallest;
    join(other);
    if (is_first || (was_finite && other.not_finite)) column = other.column;
  }
  KOKKOS_INLINE_FUNCTION void join(const PivotStatistics &other)
  {
    if (!not_finite && (other.not_finite || other.smallest < smallest))
      smallest = other.smallest, column = other.column;
    not_finite       = not_finite || other.not_finite;
    has_small_column = has_small_column || other.has_small_column;
    is_tiny          = is_tiny || other.is_tiny;
    log_det += other.log_det;
    product *= other.product;
    if (!is_tame()) settle();
    exponents += other.exponents;
    if (other.zero_row < zero_row) zero_row = other.zero_row;
  }
};

/// The pivots of a leaf, by steps. With interleaved leaves, some leaf has a new smallest quotient in most
/// steps. The division is therefore postponed to the end: until then `smallest` is |R_jj|, and `column` is
/// its step.
template <class Real>
struct LeafPivots {
  PivotStatistics<Real> statistics;
  Real                  scale = 1;

  /// The values that take() compares with.
  struct Seen {
    double product;
    Real   smallest, scale;
  };
  KOKKOS_INLINE_FUNCTION Seen seen() const { return {statistics.product, statistics.smallest, scale}; }
  KOKKOS_INLINE_FUNCTION void take(Real beta, Real largest, int step)
  {
    take(seen(), beta, largest, is_finite(largest), step);
  }
  /// @param now  seen(), which can be read long before it is needed
  /// @param largest  largest entry of the column
  KOKKOS_INLINE_FUNCTION void take(const Seen &now, Real beta, Real largest, bool largest_is_finite, int step)
  {
    const Real size    = beta < 0 ? -beta : beta;
    statistics.product = now.product * static_cast<double>(size);
    if (!statistics.is_tame() || !largest_is_finite) {
      statistics.smallest /= scale, scale = 1, statistics.product = now.product;
      statistics.look(size, largest, step);
    } else if (!(size * now.scale >= now.smallest * largest))
      statistics.smallest = size, scale = largest, statistics.column = step;
  }
  /// @param first  column of step 0
  KOKKOS_INLINE_FUNCTION PivotStatistics<Real> finished(std::int64_t first) const
  {
    PivotStatistics<Real> all = statistics;
    all.smallest /= scale;
    if (all.column >= 0) all.column += first;
    return all;
  }
};

} // namespace ribbon::multifrontal
