// SPDX-License-Identifier: BSD-2-Clause
/// @file csr_residual.hpp  Residuals b - A x in doubled precision, for refinement, and the sizes to which
///   they are compared.
#pragma once

#include <ribbon/lines_from_csr.hpp>

#include <math.h>

#include <limits>

namespace ribbon {

/// A sum of products in about twice the precision of Real: the error-free transformations of T. Ogita, S. M.
/// Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005), algorithm 5.3 (Dot2), with a
/// fused multiply-add. Single precision adds up in double precision.
template <class Real>
class DoubledSum {
public:
  KOKKOS_INLINE_FUNCTION explicit DoubledSum(Real first) : high_(first), low_(0) { }
  /// sum -= a b
  KOKKOS_INLINE_FUNCTION void subtract(Real a, Real b)
  {
    if constexpr (is_narrow) high_ -= static_cast<double>(a) * static_cast<double>(b);
    else {
      const Real p = -a * b, rest = ::fma(-a, b, -p), sum = high_ + p, moved = sum - high_;
      low_ += rest + ((high_ - (sum - moved)) + (p - moved));
      high_ = sum;
    }
  }
  KOKKOS_INLINE_FUNCTION Real value() const
  {
    return static_cast<Real>(is_finite(low_) ? high_ + low_ : high_); // low_ is NaN if high_ overflows
  }

private:
  static constexpr bool is_narrow = std::is_same_v<Real, float>;
  using Wide                      = std::conditional_t<is_narrow, double, Real>;
  Wide high_, low_;
};

template <class Real>
class DoubledSum<Kokkos::complex<Real>> {
  using Scalar = Kokkos::complex<Real>;

public:
  KOKKOS_INLINE_FUNCTION explicit DoubledSum(const Scalar &first)
      : real_(first.real()), imaginary_(first.imag())
  {
  }
  KOKKOS_INLINE_FUNCTION void subtract(const Scalar &a, const Scalar &b)
  {
    real_.subtract(a.real(), b.real()), real_.subtract(-a.imag(), b.imag());
    imaginary_.subtract(a.real(), b.imag()), imaginary_.subtract(a.imag(), b.real());
  }
  KOKKOS_INLINE_FUNCTION Scalar value() const { return Scalar(real_.value(), imaginary_.value()); }

private:
  DoubledSum<Real> real_, imaginary_;
};

/// The sizes that residuals are compared with.
enum class ResidualSizes {
  sums,     ///< s_i = sum_j |a_ij| |x_j| + |b_i|
  quotients ///< |r_i| / s_i: the largest is the componentwise backward error (W. Oettli, W. Prager, Numerische
            ///< Mathematik 6 (1964); R. D. Skeel, J. ACM 26 (1979)); 0 where r_i and s_i are 0
};

/// The rows of A (times an identity of `columns`: entry i of vector c is at i * columns + c) and their
/// vectors, in two blocks: columns in local memory, and columns of other memories.
template <class Scalar, class Index>
struct ResidualRows {
  CsrMatrix<Scalar, Index> block[2]; ///< the second may have no rows
  const Scalar            *x[2];
  const Scalar            *b;
  std::int64_t             columns = 1;
};

template <class Scalar, class Index>
struct ResidualKernel {
  using Real = real_t<Scalar>;
  ResidualRows<Scalar, Index> A;
  Scalar                     *r, *sizes;
  ResidualSizes               which;
  Real                        infinite; ///< replaces quotients that are not finite
  KOKKOS_FUNCTION void        operator()(const std::int64_t k) const
  {
    const std::int64_t i = k / A.columns, c = k % A.columns;
    DoubledSum<Scalar> sum(A.b[k]);
    Real               size = magnitude(A.b[k]);
    for (int p = 0; p < 2; ++p) {
      if (A.block[p].rows == 0) continue;
      for (Index at = A.block[p].row_begin[i]; at < A.block[p].row_begin[i + 1]; ++at) {
        const Scalar a = A.block[p].value[at], x = A.x[p][A.block[p].column[at] * A.columns + c];
        sum.subtract(a, x);
        size += magnitude(a) * magnitude(x);
      }
    }
    r[k] = sum.value();
    if (!sizes) return;
    const Real residual = magnitude(r[k]), quotient = residual == 0 ? Real(0) : residual / size;
    sizes[k] = which == ResidualSizes::sums ? size : is_finite(quotient) ? quotient : infinite;
  }
};

/// r = b - A x, rounded once from doubled precision. Asynchronous on exec.
/// @param r      (block[0].rows * columns); may be b
/// @param sizes  (block[0].rows * columns), or null
template <class Scalar, class Index, class Exec>
void csr_residual(const Exec &exec, const ResidualRows<Scalar, Index> &A, Scalar *r, Scalar *sizes,
                  ResidualSizes which)
{
  Kokkos::parallel_for(
    "ribbon::csr_residual", indices(exec, A.block[0].rows * A.columns),
    ResidualKernel<Scalar, Index>{A, r, sizes, which, std::numeric_limits<real_t<Scalar>>::infinity()});
}

} // namespace ribbon
