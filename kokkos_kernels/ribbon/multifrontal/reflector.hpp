// SPDX-License-Identifier: BSD-2-Clause
/// @file reflector.hpp  Householder reflections, and what is watched while a chain is eliminated.
#pragma once

#include <ribbon/compat.hpp>

namespace ribbon::multifrontal {

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

/// @param rest  squared norm of x
template <class Scalar>
KOKKOS_INLINE_FUNCTION Reflector<Scalar> make_reflector(const Scalar &alpha, real_t<Scalar> rest)
{
  using Real = real_t<Scalar>;
  Real real;
  bool is_done = rest == Real(0);
  if constexpr (std::is_floating_point_v<Scalar>) real = alpha;
  else real = alpha.real(), is_done = is_done && alpha.imag() == Real(0);
  if (is_done) return {Scalar(0), Scalar(0), real, Real(1) / real};
  const Real size2 = squared(alpha) + rest, one_over_size = reciprocal_root(size2);
  const Real beta = real > 0 ? -size2 * one_over_size : size2 * one_over_size, one_over_beta = real > 0 ? -one_over_size : one_over_size;
  return {conjugate((Scalar(beta) - alpha) * one_over_beta), reciprocal(alpha - Scalar(beta)), beta, one_over_beta};
}

/// The diagonal of R as far as it is known: smallest |R_jj| relative to the largest entry of column j of the matrix, that column, the sum of log |R_jj|.
template <class Real>
struct PivotStatistics {
  Real         smallest   = Real(1e30);
  std::int64_t column     = -1;
  double       log_det    = 0;
  double       product    = 1;
  bool         not_finite = false;

  /// Two products and three comparisons unless something is out of the ordinary.
  KOKKOS_INLINE_FUNCTION void take(Real pivot, Real scale, std::int64_t j)
  {
    const Real size = pivot < 0 ? -pivot : pivot;
    product *= static_cast<double>(size);
    if (!(product > 1e-200 && product < 1e200) || !(size >= smallest * scale)) look(size, scale, j);
  }
  KOKKOS_INLINE_FUNCTION void look(Real size, Real scale, std::int64_t j)
  {
    if (!is_finite(size) || !is_finite(scale)) {
      if (!not_finite) column = j;
      not_finite = true;
      product    = 1;
      return;
    }
    settle();
    if (!not_finite && !(size >= smallest * scale)) smallest = size / scale, column = j;
    if (!not_finite && size == Real(0)) smallest = 0, column = j;
  }
  KOKKOS_INLINE_FUNCTION void settle()
  {
    log_det += log(product);
    product = 1;
  }
  KOKKOS_INLINE_FUNCTION void join(const PivotStatistics &other)
  {
    if ((other.not_finite && !not_finite) || (other.not_finite == not_finite && other.smallest < smallest)) smallest = other.smallest, column = other.column;
    not_finite = not_finite || other.not_finite;
    settle();
    log_det += other.log_det + log(other.product);
  }
};

} // namespace ribbon::multifrontal
