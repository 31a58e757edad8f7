// SPDX-License-Identifier: BSD-2-Clause
/// @file lanes.hpp  Packs of values of independent problems in vector registers: vectors, arrays if the
///   compiler has no vectors, and complex packs with a pack of real and a pack of imaginary parts.
///
/// Functions pass packs by reference (see load_pack() of vectors.hpp).
#pragma once

#include <ribbon/host/vectors.hpp>

#include <cmath>
#include <utility>

namespace ribbon::host {

/// Calls f(k) for k < n, unrolled if n = K > 0 is known. Then arrays in f stay in registers.
template <int K, class F>
void for_each(int n, const F &f)
{
  if constexpr (K > 0) {
    RIBBON_UNROLL_PACKS
    for (int k = 0; k < K; ++k) f(k);
  } else
    for (int k = 0; k < n; ++k) f(k);
}

/// The same with f(k, whether k is odd), with the flag known at compile time: for two sums at once.
template <int K, class F>
void for_each_by_turns(int n, const F &f)
{
  if constexpr (K > 0) {
    RIBBON_UNROLL_PACKS
    for (int k = 0; k < K; ++k) f(k, k % 2 != 0);
  } else {
    int k = 0;
    for (; k + 2 <= n; k += 2) f(k, std::false_type()), f(k + 1, std::true_type());
    if (k < n) f(k, std::false_type());
  }
}

/// Replacement of a pack if the compiler has no vectors. Comparisons say whether they hold in some lane.
template <class Real, int n>
struct NumberArray {
  Real        v[n];
  Real       &operator[](int l) { return v[l]; }
  const Real &operator[](int l) const { return v[l]; }
#define RIBBON_OPERATOR(OP, ASSIGN)                                                                          \
  NumberArray &operator ASSIGN(const NumberArray &b)                                                         \
  {                                                                                                          \
    for (int l = 0; l < n; ++l) v[l] ASSIGN b.v[l];                                                          \
    return *this;                                                                                            \
  }                                                                                                          \
  friend NumberArray operator OP(NumberArray a, const NumberArray &b)                                        \
  {                                                                                                          \
    a ASSIGN b;                                                                                              \
    return a;                                                                                                \
  }
  RIBBON_OPERATOR(+, +=)
  RIBBON_OPERATOR(-, -=)
  RIBBON_OPERATOR(*, *=)
  RIBBON_OPERATOR(/, /=)
#undef RIBBON_OPERATOR
#define RIBBON_COMPARISON(OP)                                                                                \
  friend bool operator OP(const NumberArray &a, const NumberArray &b)                                        \
  {                                                                                                          \
    bool some = false;                                                                                       \
    for (int l = 0; l < n; ++l) some = some || a.v[l] OP b.v[l];                                             \
    return some;                                                                                             \
  }
  RIBBON_COMPARISON(==) RIBBON_COMPARISON(!=) RIBBON_COMPARISON(<) RIBBON_COMPARISON(>=)
#undef RIBBON_COMPARISON
};

template <class Pack>
struct ComplexPack {
  Pack re, im;
};

/// A vector of the compiler, and the same type without alignment; void if the compiler has none.
template <class Real, int bytes>
struct VectorOf {
  using type = void;
};
#ifdef RIBBON_X86
  #define RIBBON_VECTOR(Real, bytes)                                                                         \
    template <>                                                                                              \
    struct VectorOf<Real, bytes> {                                                                           \
      typedef Real type __attribute__((vector_size(bytes)));                                                 \
      typedef Real loose __attribute__((vector_size(bytes), aligned(alignof(Real)), may_alias));             \
    };
RIBBON_VECTOR(double, 16)
RIBBON_VECTOR(double, 32)
RIBBON_VECTOR(float, 16)
RIBBON_VECTOR(float, 32)
  #undef RIBBON_VECTOR
#endif

/// Packs for vectors of `bytes` bytes.
template <class Scalar, int bytes>
struct LanesOf {
  using Real                = real_t<Scalar>;
  using Vector              = typename VectorOf<Real, bytes>::type;
  static constexpr int size = bytes / static_cast<int>(sizeof(Real));
  using RealPack            = std::conditional_t<std::is_void_v<Vector>, NumberArray<Real, size>, Vector>;
  using Pack = std::conditional_t<std::is_floating_point_v<Scalar>, RealPack, ComplexPack<RealPack>>;
};
template <class RealPack>
inline constexpr bool is_vector = !std::is_class_v<RealPack>;
template <class Pack>
inline constexpr bool is_complex_pack = false;
template <class Pack>
inline constexpr bool is_complex_pack<ComplexPack<Pack>> = true;

/// Lanes of a pack.
template <class Real, class Pack>
inline constexpr int lanes_in = static_cast<int>(sizeof(Pack) / sizeof(Real));

template <class Scalar, class Pack>
void load_lanes(const Scalar *from, Pack &to)
{
  if constexpr (is_complex_pack<Pack>)
    for (int l = 0; l < lanes_in<Scalar, Pack>; ++l) to.re[l] = from[l].real(), to.im[l] = from[l].imag();
  // a memcpy may become two half loads, which stall
  else if constexpr (is_vector<Pack>)
    to = *reinterpret_cast<const typename VectorOf<Scalar, sizeof(Pack)>::loose *>(from);
  else std::memcpy(&to, from, sizeof to);
}
template <class Scalar, class Pack>
void store_lanes(const Pack &from, Scalar *to)
{
  if constexpr (is_complex_pack<Pack>)
    for (int l = 0; l < lanes_in<Scalar, Pack>; ++l) to[l] = Scalar(from.re[l], from.im[l]);
  else if constexpr (is_vector<Pack>)
    *reinterpret_cast<typename VectorOf<Scalar, sizeof(Pack)>::loose *>(to) = from;
  else std::memcpy(to, &from, sizeof from);
}
template <class Scalar, class Pack>
Scalar lane_of(const Pack &a, int l)
{
  if constexpr (is_complex_pack<Pack>) return Scalar(a.re[l], a.im[l]);
  else return a[l];
}
template <class Scalar, class Pack>
void set_lane(Pack &a, int l, const Scalar &value)
{
  if constexpr (is_complex_pack<Pack>) a.re[l] = value.real(), a.im[l] = value.imag();
  else a[l] = value;
}
template <class Real, class RealPack>
void fill_lanes(RealPack &a, Real value)
{
  for (int l = 0; l < lanes_in<Real, RealPack>; ++l) a[l] = value;
}

/// sum += a b.
template <class Pack>
void add_products(Pack &sum, const Pack &a, const Pack &b)
{
  if constexpr (is_complex_pack<Pack>)
    sum.re += a.re * b.re, sum.im += a.re * b.im, sum.re -= a.im * b.im, sum.im += a.im * b.re;
  else sum += a * b;
}
/// sum += conj(a) b.
template <class Pack>
void add_conjugate_products(Pack &sum, const Pack &a, const Pack &b)
{
  if constexpr (is_complex_pack<Pack>)
    sum.re += a.re * b.re, sum.im += a.re * b.im, sum.re += a.im * b.im, sum.im -= a.im * b.re;
  else sum += a * b;
}
/// y -= a b.
template <class Pack>
void subtract_products(Pack &y, const Pack &a, const Pack &b)
{
  if constexpr (is_complex_pack<Pack>)
    y.re -= a.re * b.re, y.im -= a.re * b.im, y.re += a.im * b.im, y.im -= a.im * b.re;
  else y -= a * b;
}
/// y -= conj(a) b.
template <class Pack>
void subtract_conjugate_products(Pack &y, const Pack &a, const Pack &b)
{
  if constexpr (is_complex_pack<Pack>)
    y.re -= a.re * b.re, y.im -= a.re * b.im, y.re -= a.im * b.im, y.im += a.im * b.re;
  else y -= a * b;
}
template <class Pack>
void multiply(Pack &a, const Pack &b)
{
  if constexpr (is_complex_pack<Pack>) {
    const auto re = a.re * b.re - a.im * b.im;
    a.im          = a.re * b.im + a.im * b.re;
    a.re          = re;
  } else a *= b;
}
template <class Pack, class RealPack>
void scale_by(Pack &a, const RealPack &b)
{
  if constexpr (is_complex_pack<Pack>) a.re *= b, a.im *= b;
  else a *= b;
}
template <class Pack>
void add(Pack &a, const Pack &b)
{
  if constexpr (is_complex_pack<Pack>) a.re += b.re, a.im += b.im;
  else a += b;
}
template <class Pack>
void subtract(Pack &a, const Pack &b)
{
  if constexpr (is_complex_pack<Pack>) a.re -= b.re, a.im -= b.im;
  else a -= b;
}
/// sum += |a|^2.
template <class Pack, class RealPack>
void add_squares(RealPack &sum, const Pack &a)
{
  if constexpr (is_complex_pack<Pack>) sum += a.re * a.re, sum += a.im * a.im;
  else sum += a * a;
}

/// a = max(a, b); a if b is NaN.
template <class Real, class RealPack>
void take_larger(RealPack &a, const RealPack &b)
{
  if constexpr (is_vector<RealPack>) a = a < b ? b : a;
  else
    for (int l = 0; l < lanes_in<Real, RealPack>; ++l) a[l] = a[l] < b[l] ? b[l] : a[l];
}
/// The same, but b if b is NaN.
template <class Real, class RealPack>
void take_larger_or_none(RealPack &a, const RealPack &b)
{
  if constexpr (is_vector<RealPack>) a = b <= a ? a : b;
  else
    for (int l = 0; l < lanes_in<Real, RealPack>; ++l) a[l] = b[l] <= a[l] ? a[l] : b[l];
}
/// y = sign > 0 ? y : -y.
template <class Real, class RealPack>
void take_sign(RealPack &y, const RealPack &sign)
{
  if constexpr (is_vector<RealPack>) y = sign > Real(0) ? y : -y;
  else
    for (int l = 0; l < lanes_in<Real, RealPack>; ++l) y[l] = sign[l] > Real(0) ? y[l] : -y[l];
}
template <class Real, class RealPack>
void take_size(RealPack &y)
{
  if constexpr (is_vector<RealPack>) y = y < Real(0) ? -y : y;
  else
    for (int l = 0; l < lanes_in<Real, RealPack>; ++l) y[l] = y[l] < Real(0) ? -y[l] : y[l];
}

#ifdef RIBBON_X86
// Instructions that compilers do not generate themselves: they do not vectorize loops over square roots,
// since these may set errno.
template <class Mask>
bool some_of_16(const Mask &mask)
{
  return _mm_movemask_epi8(reinterpret_cast<const __m128i &>(mask)) != 0;
}
template <class Mask>
__attribute__((target("avx2"))) bool some_of_32(const Mask &mask)
{
  return _mm256_movemask_epi8(reinterpret_cast<const __m256i &>(mask)) != 0;
}
template <class Real, class Pack>
void roots_of_16(Pack &a)
{
  if constexpr (std::is_same_v<Real, double>) a = _mm_sqrt_pd(a);
  else a = _mm_sqrt_ps(a);
}
template <class Real, class Pack>
__attribute__((target("avx"))) void roots_of_32(Pack &a)
{
  if constexpr (std::is_same_v<Real, double>) a = _mm256_sqrt_pd(a);
  else a = _mm256_sqrt_ps(a);
}
#endif

/// Whether a comparison of packs holds in some lane.
template <class Mask>
bool some_lane(const Mask &mask)
{
#ifdef RIBBON_X86
  if constexpr (sizeof(Mask) == 32) return some_of_32(mask);
  if constexpr (sizeof(Mask) == 16) return some_of_16(mask);
#endif
  if constexpr (std::is_integral_v<Mask>) return mask != 0;
  else return true;
}
/// a = sqrt(a).
template <class Real, class RealPack>
void take_roots(RealPack &a)
{
#ifdef RIBBON_X86
  if constexpr (is_vector<RealPack>) {
    if constexpr (sizeof a == 32) roots_of_32<Real>(a);
    else roots_of_16<Real>(a);
    return;
  }
#endif
  for (int l = 0; l < lanes_in<Real, RealPack>; ++l) a[l] = std::sqrt(a[l]);
}

/// Sums of exponents.
template <class Real, class RealPack, bool = is_vector<RealPack>>
struct ExponentsOf {
  using type = decltype(RealPack() < RealPack());
};
template <class Real, class RealPack>
struct ExponentsOf<Real, RealPack, false> {
  using type = NumberArray<int, lanes_in<Real, RealPack>>;
};
template <class Real, class RealPack>
using Exponents = typename ExponentsOf<Real, RealPack>::type;

/// The powers of two that scale positive values to between 1/2 and 1. Their exponents are added to `sums`.
/// Returns false and changes nothing if one of the values is zero, tiny (2^-600, float 2^-60: the caller
/// has to treat it), not finite or next to that.
template <class RealPack, class Sums>
bool scale_of([[maybe_unused]] const RealPack &a, [[maybe_unused]] RealPack &scale,
              [[maybe_unused]] Sums &sums)
{
  if constexpr (!is_vector<RealPack>) return false;
  else {
    constexpr bool is_double = sizeof(a[0]) == 8;
    constexpr int  digits = is_double ? 52 : 23, half = is_double ? 1022 : 126,
                  least = is_double ? half - 600 : half - 60,
                  most  = is_double ? 2043 : 252; // exponents as they are stored
    Sums stored;
    std::memcpy(&stored, &a, sizeof a);
    stored = stored >> digits;
    if (some_lane((stored < least) | (stored > most))) return false;
    sums += stored - half;
    stored = (2 * half + 1 - stored) << digits;
    std::memcpy(&scale, &stored, sizeof a);
    return true;
  }
}

/// Magnitudes of values whose squares neither overflow nor underflow significantly.
template <class Real, class Pack, class RealPack>
void sizes_of(const Pack &a, RealPack &to)
{
  if constexpr (is_complex_pack<Pack>) to = a.re * a.re + a.im * a.im, take_roots<Real>(to);
  else to = a, take_size<Real>(to);
}

} // namespace ribbon::host
