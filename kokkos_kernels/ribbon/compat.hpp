// SPDX-License-Identifier: BSD-2-Clause
/// @file compat.hpp  The differences between Kokkos 3.4 and Kokkos 4.6+/5.
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

/// A function that few threads of a kernel call. Inlining would raise the registers of all threads.
#define RIBBON_NOINLINE __attribute__((noinline))

/// For a reducer with join(type &, const type &): Kokkos before 3.7 passes volatile references.
#if KOKKOS_VERSION < 30700
  #define RIBBON_JOIN_VOLATILE(type)                                                                         \
    KOKKOS_FUNCTION void join(volatile type &to, const volatile type &from) const                            \
    {                                                                                                        \
      join(const_cast<type &>(to), const_cast<const type &>(from));                                          \
    }
#else
  #define RIBBON_JOIN_VOLATILE(type)
#endif

/// The same for a type with operator+=(const type &) that parallel_reduce sums.
#if KOKKOS_VERSION < 30700
  #define RIBBON_ADD_VOLATILE(type)                                                                          \
    KOKKOS_FUNCTION void operator+=(const volatile type &from) volatile                                      \
    {                                                                                                        \
      const_cast<type &>(*this) += const_cast<const type &>(from);                                           \
    }
#else
  #define RIBBON_ADD_VOLATILE(type)
#endif

namespace ribbon {

/// Real type behind a scalar: double for double and complex<double>, float for float.
template <class Scalar>
struct RealOf {
  using type = Scalar;
};
template <class Real>
struct RealOf<Kokkos::complex<Real>> {
  using type = Real;
};
template <class Scalar>
using real_t = typename RealOf<Scalar>::type;

/// Magnitude of a real or complex scalar, usable on host and device.
template <class Scalar>
KOKKOS_INLINE_FUNCTION real_t<Scalar> magnitude(const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return a < 0 ? -a : a;
  else return Kokkos::abs(a);
}

template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar conjugate(const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return a;
  else return Kokkos::conj(a);
}

/// sum += a b. For complex scalars four multiply-adds. The operators need two multiply-adds, two products and
/// two sums.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void add_product(Scalar &sum, const Scalar &a, const Scalar &b)
{
  if constexpr (std::is_floating_point_v<Scalar>) sum += a * b;
  else
    sum = Scalar(sum.real() + a.real() * b.real() - a.imag() * b.imag(),
                 sum.imag() + a.real() * b.imag() + a.imag() * b.real());
}

/// sum -= a b, likewise.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void subtract_product(Scalar &sum, const Scalar &a, const Scalar &b)
{
  if constexpr (std::is_floating_point_v<Scalar>) sum -= a * b;
  else
    sum = Scalar(sum.real() - a.real() * b.real() + a.imag() * b.imag(),
                 sum.imag() - a.real() * b.imag() - a.imag() * b.real());
}

/// False for NaN and both infinities. @pre no -ffast-math
template <class Real>
KOKKOS_INLINE_FUNCTION bool is_finite(Real a)
{
  return a - a == Real(0);
}

template <class Real>
KOKKOS_INLINE_FUNCTION Real square_root(Real a)
{
  using std::sqrt;
  return sqrt(a);
}

/// 1 / a to about one unit of roundoff; NaN or Inf if a is zero. On CUDA an approximation and a cubic step:
/// half the operations of a division, and no branch.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar reciprocal(const Scalar &a)
{
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<Scalar, double>) {
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
    const double e = fma(-a, r, 1.0);
    return fma(r, fma(e, e, e), r);
  }
  if constexpr (std::is_same_v<Scalar, Kokkos::complex<double>>) { // scaled, so that squares stay finite
    const double scale = reciprocal(fabs(a.real()) + fabs(a.imag())), x = a.real() * scale,
                 y = a.imag() * scale, r = reciprocal(x * x + y * y) * scale;
    return Scalar(x * r, -y * r);
  }
#endif
  return Scalar(1) / a;
}

/// Rounding unit of the real type behind Scalar.
template <class Scalar>
KOKKOS_INLINE_FUNCTION constexpr real_t<Scalar> unit_roundoff()
{
  return std::is_same_v<real_t<Scalar>, float> ? real_t<Scalar>(1.1920929e-07)
                                               : real_t<Scalar>(2.2204460492503131e-16);
}

/// True if kernels of Exec run on an accelerator: one Kokkos thread per virtual thread, and scratch shared
/// by a team.
#ifdef KOKKOS_ENABLE_CUDA
template <class Exec>
inline constexpr bool is_device_space = std::is_same_v<Exec, Kokkos::Cuda>;
#else
template <class Exec>
inline constexpr bool is_device_space =
  !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;
#endif

/// Allocates without initialization on an execution space instance. view_alloc of Kokkos 3.4 rejects an
/// instance of a host space.
template <class ViewType, class Exec, class... Extents>
ViewType allocate(const Exec &exec, const std::string &label, Extents... extents)
{
  if constexpr (is_device_space<Exec>)
    return ViewType(Kokkos::view_alloc(exec, label, Kokkos::WithoutInitializing), extents...);
  else return ViewType(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), extents...);
}
/// The same, filled with zeros.
template <class ViewType, class Exec, class... Extents>
ViewType allocate_zeros(const Exec &exec, const std::string &label, Extents... extents)
{
  if constexpr (is_device_space<Exec>) return ViewType(Kokkos::view_alloc(exec, label), extents...);
  else return ViewType(label, extents...);
}

/// 0, 1, ..., n - 1 on exec, as 64-bit integers.
template <class Exec>
auto indices(const Exec &exec, std::int64_t n)
{
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n);
}

/// Copies a vector to the memory of exec's space; waits for the copy.
template <class Exec, class Word>
Kokkos::View<Word *, typename Exec::memory_space> upload(const Exec &exec, const std::string &label,
                                                         const std::vector<Word> &from)
{
  const auto to = allocate<Kokkos::View<Word *, typename Exec::memory_space>>(exec, label, from.size());
  Kokkos::deep_copy(exec, to,
                    Kokkos::View<const Word *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                      from.data(), from.size()));
  exec.fence();
  return to;
}

/// Reads a 16-byte aligned record that no kernel writes meanwhile, with wide loads that the compiler may
/// move.
template <class Record>
KOKKOS_INLINE_FUNCTION Record read_only(const Record *from)
{
#ifdef __CUDA_ARCH__
  static_assert(sizeof(Record) % 16 == 0 && alignof(Record) % 16 == 0,
                "records are read in pieces of 16 bytes");
  alignas(16) int4 words[sizeof(Record) / 16];
  #pragma unroll
  for (unsigned k = 0; k < sizeof(Record) / 16; ++k)
    words[k] = __ldg(reinterpret_cast<const int4 *>(from) + k);
  Record record;
  memcpy(static_cast<void *>(&record), words, sizeof(Record));
  return record;
#else
  return *from;
#endif
}

/// Reads a scalar that no kernel writes meanwhile. The compiler may move the load across stores.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar read_only_scalar(const Scalar *from)
{
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<Scalar, double> || std::is_same_v<Scalar, float>) return __ldg(from);
  else return *from;
#else
  return *from;
#endif
}

/// Reads a value that other threads raise atomically meanwhile.
KOKKOS_INLINE_FUNCTION double atomic_read(const double *from)
{
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return *static_cast<const volatile double *>(from);
#else
  double value;
  __atomic_load(from, &value, __ATOMIC_RELAXED);
  return value;
#endif
}

} // namespace ribbon

/// Full unrolling, on a device, of loops that index register arrays. Hosts keep the loop. Long bodies are
/// not unrolled: the code must fit the instruction caches.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  #define RIBBON_UNROLL       _Pragma("unroll")
  #define RIBBON_UNROLL_TWICE _Pragma("unroll 2")
  #define RIBBON_UNROLL_FOUR  _Pragma("unroll 4")
  #define RIBBON_NO_UNROLL    _Pragma("unroll 1")
#else
  #define RIBBON_UNROLL
  #define RIBBON_UNROLL_TWICE
  #define RIBBON_UNROLL_FOUR
  #define RIBBON_NO_UNROLL
#endif
