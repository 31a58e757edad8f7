// SPDX-License-Identifier: BSD-2-Clause
/// @file any_numbers.hpp  Values whose scalar is known at run time, for kernels that read matrices once:
///   one kernel instead of one per scalar.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon::detail {

/// An array of float, double or complex<double>, read in double precision.
class AnyNumbers {
public:
  using Complex = Kokkos::complex<double>;

  template <class Scalar>
  explicit AnyNumbers(const Scalar *numbers)
      : numbers_(numbers), bytes_(sizeof(Scalar)), eps_(static_cast<double>(unit_roundoff<Scalar>()))
  {
    static_assert(std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double> ||
                  std::is_same_v<Scalar, Complex>);
  }
  KOKKOS_FUNCTION Complex operator[](std::int64_t k) const
  {
    return bytes_ == sizeof(Complex) ? static_cast<const Complex *>(numbers_)[k] : Complex(real(k), 0);
  }
  /// |value k|
  KOKKOS_FUNCTION double size(std::int64_t k) const
  {
    if (bytes_ == sizeof(Complex)) return magnitude(static_cast<const Complex *>(numbers_)[k]);
    const double a = real(k);
    return a < 0 ? -a : a;
  }
  KOKKOS_FUNCTION bool is_complex() const { return bytes_ == sizeof(Complex); }
  /// Unit of roundoff of their scalar.
  KOKKOS_FUNCTION double roundoff() const { return eps_; }
  /// Copies value k to place `at` of an array of the same scalar.
  KOKKOS_FUNCTION void copy(std::int64_t k, void *to, std::int64_t at) const
  {
    if (bytes_ == sizeof(Complex)) static_cast<Complex *>(to)[at] = static_cast<const Complex *>(numbers_)[k];
    else if (bytes_ == sizeof(double))
      static_cast<double *>(to)[at] = static_cast<const double *>(numbers_)[k];
    else static_cast<float *>(to)[at] = static_cast<const float *>(numbers_)[k];
  }

private:
  KOKKOS_FUNCTION double real(std::int64_t k) const
  {
    return bytes_ == sizeof(double) ? static_cast<const double *>(numbers_)[k]
                                    : static_cast<double>(static_cast<const float *>(numbers_)[k]);
  }

  const void *numbers_;
  int         bytes_; ///< size of a value, which determines the scalar
  double      eps_;
};

} // namespace ribbon::detail
