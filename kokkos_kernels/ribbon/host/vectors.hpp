// SPDX-License-Identifier: BSD-2-Clause
/// @file vectors.hpp  Features of compilers and processors beyond C++ for host kernels: vectors,
///   non-temporal stores, prefetches.
///
/// This is the only file with compiler attributes and intrinsics. All of them are hints. Without them
/// (other compilers, other processors, CUDA compilation) kernels do the same with plain code.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  #include <immintrin.h>
  #define RIBBON_X86 1
#endif

/// Before a loop without dependences between iterations. The loop goes over packs (PackOf), which stay in
/// registers. Clang finds this without a hint.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
  #define RIBBON_SIMD         _Pragma("GCC ivdep")
  #define RIBBON_UNROLL_PACKS _Pragma("GCC unroll 16")
#else
  #define RIBBON_SIMD
  #define RIBBON_UNROLL_PACKS
#endif

namespace ribbon::host {

#ifdef RIBBON_X86
/// `flatten` inlines the body, so that it is compiled for this target.
template <class Body>
__attribute__((target("avx2,fma"), flatten)) void with_avx2(const Body &body)
{
  body();
}
#endif

/// Runs body() compiled for the widest vectors of the processor at hand. Packages are built for the first
/// x86-64, whose vectors of two doubles are slower than the memory. Vectors of eight are no faster than
/// those of four, because memory is the limit.
template <class Body>
KOKKOS_INLINE_FUNCTION void with_widest_vectors(const Body &body)
{
#ifdef RIBBON_X86
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) return with_avx2(body);
#endif
  body();
}

/// The same if body() is host code only.
template <class Body>
void with_widest_vectors_of_host(const Body &body)
{
#ifdef RIBBON_X86
  with_widest_vectors(body);
#else
  body();
#endif
}

/// Runs body(integral_constant) with the bytes of the vectors of the processor, 32 or 16, for kernels whose
/// data layout depends on it; 32 if compilers have no vectors.
template <class Body>
void with_vector_bytes(const Body &body)
{
#ifdef RIBBON_X86
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!avx2) return body(std::integral_constant<int, 16>());
#endif
  body(std::integral_constant<int, 32>());
}
/// Runs body() compiled for vectors of `bytes` bytes.
template <int bytes, class Body>
void with_vectors_of(const Body &body)
{
#ifdef RIBBON_X86
  if constexpr (bytes == 32) return with_avx2(body);
#endif
  body();
}

/// Prefetches a cache line to the L2 cache.
KOKKOS_INLINE_FUNCTION void prefetch(const void *at)
{
#ifdef RIBBON_X86
  asm volatile("prefetcht1 %0"
               :
               : "m"(*static_cast<const char *>(
                 at))); // GCC removes calls of functions that contain only __builtin_prefetch
#else
  (void)at;
#endif
}

/// Neighbouring values in a register: 32 bytes if the compiler has such vectors, otherwise one value.
/// Arithmetic is element by element and accepts a Scalar for all of them. Without this type a compiler
/// keeps the state of a sweep in memory.
template <class Scalar>
struct PackOf {
  using type  = Scalar;
  using loose = Scalar; ///< the same type without alignment
};
#ifdef RIBBON_X86
template <>
struct PackOf<double> {
  typedef double type __attribute__((vector_size(32)));
  typedef double loose __attribute__((vector_size(32), aligned(8), may_alias));
};
template <>
struct PackOf<float> {
  typedef float type __attribute__((vector_size(32)));
  typedef float loose __attribute__((vector_size(32), aligned(4), may_alias));
};
#endif

/// Functions pass packs by reference: the registers for a pack by value depend on the target.
template <class Scalar, class Pack>
KOKKOS_INLINE_FUNCTION void load_pack(const Scalar *from, Pack &pack)
{
  if constexpr (std::is_same_v<Pack, Scalar>) pack = *from;
  else pack = *reinterpret_cast<const typename PackOf<Scalar>::loose *>(from);
}
/// With `past_caches`, stores are non-temporal: whole cache lines are written to memory without being read
/// before. Then `to` is a multiple of 32 bytes.
template <class Scalar, class Pack>
KOKKOS_INLINE_FUNCTION void store_pack(const Pack &pack, Scalar *to, [[maybe_unused]] bool past_caches)
{
  if constexpr (std::is_same_v<Pack, Scalar>) *to = pack;
  else {
#ifdef RIBBON_X86
    if (past_caches) {
      for (int half = 0; half < 2; ++half)
        _mm_stream_si128(reinterpret_cast<__m128i *>(to) + half,
                         reinterpret_cast<const __m128i *>(&pack)[half]);
      return;
    }
#endif
    *reinterpret_cast<typename PackOf<Scalar>::loose *>(to) = pack;
  }
}

/// Copies `count` elements. With `past_caches`, whole cache lines are written to memory without being read
/// before.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void copy_out(const Scalar *from, Scalar *to, int count,
                                     [[maybe_unused]] bool past_caches)
{
  int k = 0;
#ifdef RIBBON_X86
  constexpr int line = 64 / static_cast<int>(sizeof(Scalar));
  if (past_caches) {
    for (; k < count && reinterpret_cast<std::uintptr_t>(to + k) % 64 != 0; ++k) to[k] = from[k];
    for (; k + line <= count; k += line)
      for (int e = 0; e < 64; e += 16)
        _mm_stream_si128(
          reinterpret_cast<__m128i *>(reinterpret_cast<char *>(to + k) + e),
          _mm_loadu_si128(reinterpret_cast<const __m128i *>(reinterpret_cast<const char *>(from + k) + e)));
  }
#endif
  RIBBON_SIMD
  for (int l = k; l < count; ++l) to[l] = from[l];
}

/// The square to[k][e] = from[e][k]: four rows and columns, in registers for real scalars.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void transpose_square(const Scalar *const (&from)[4], Scalar *const (&to)[4])
{
#if defined(RIBBON_X86) && defined(__has_builtin)
  #if __has_builtin(__builtin_shufflevector)
  if constexpr (std::is_same_v<Scalar, double>) { // combined as loaded: one shuffle per row, not two
    typedef double Two __attribute__((vector_size(16)));
    typedef double Loose __attribute__((vector_size(16), aligned(8), may_alias));
    for (int half = 0; half < 2; ++half) {
      Two part[4];
      for (int e = 0; e < 4; ++e) part[e] = *reinterpret_cast<const Loose *>(from[e] + 2 * half);
      const auto even = __builtin_shufflevector(part[0], part[2], 0, 1, 2, 3),
                 odd  = __builtin_shufflevector(part[1], part[3], 0, 1, 2, 3);
      store_pack(__builtin_shufflevector(even, odd, 0, 4, 2, 6), to[2 * half], false);
      store_pack(__builtin_shufflevector(even, odd, 1, 5, 3, 7), to[2 * half + 1], false);
    }
    return;
  }
  if constexpr (std::is_same_v<Scalar, float>) {
    typedef float Four __attribute__((vector_size(16)));
    typedef float Loose __attribute__((vector_size(16), aligned(4), may_alias));
    Four          row[4];
    for (int e = 0; e < 4; ++e) row[e] = *reinterpret_cast<const Loose *>(from[e]);
    const Four even[2]                = {__builtin_shufflevector(row[0], row[1], 0, 4, 2, 6),
                                         __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6)};
    const Four odd[2]                 = {__builtin_shufflevector(row[0], row[1], 1, 5, 3, 7),
                                         __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7)};
    *reinterpret_cast<Loose *>(to[0]) = __builtin_shufflevector(even[0], even[1], 0, 1, 4, 5);
    *reinterpret_cast<Loose *>(to[1]) = __builtin_shufflevector(odd[0], odd[1], 0, 1, 4, 5);
    *reinterpret_cast<Loose *>(to[2]) = __builtin_shufflevector(even[0], even[1], 2, 3, 6, 7);
    *reinterpret_cast<Loose *>(to[3]) = __builtin_shufflevector(odd[0], odd[1], 2, 3, 6, 7);
    return;
  }
  #endif
#endif
  for (int k = 0; k < 4; ++k)
    for (int e = 0; e < 4; ++e) to[k][e] = from[e][k];
}

#ifdef RIBBON_X86
__attribute__((target("avx"))) inline void stream_lines_avx(const double *from, std::ptrdiff_t stride,
                                                            double *const (&to)[4])
{
  __m256d line[4][2]; // whole cache lines one after another: alternating halves of several lines are slower
  for (int half = 0; half < 2; ++half) {
    const double *const f = from + 4 * half * stride;
    const __m256d a = _mm256_load_pd(f), b = _mm256_load_pd(f + stride), c = _mm256_load_pd(f + 2 * stride),
                  d      = _mm256_load_pd(f + 3 * stride);
    const __m256d even01 = _mm256_unpacklo_pd(a, b), odd01 = _mm256_unpackhi_pd(a, b),
                  even23 = _mm256_unpacklo_pd(c, d), odd23 = _mm256_unpackhi_pd(c, d);
    line[0][half] = _mm256_permute2f128_pd(even01, even23, 0x20),
    line[1][half] = _mm256_permute2f128_pd(odd01, odd23, 0x20);
    line[2][half] = _mm256_permute2f128_pd(even01, even23, 0x31),
    line[3][half] = _mm256_permute2f128_pd(odd01, odd23, 0x31);
  }
  for (int e = 0; e < 4; ++e) _mm256_stream_pd(to[e], line[e][0]), _mm256_stream_pd(to[e] + 4, line[e][1]);
}
#endif

/// Writes to[e][k] = from[k * stride + e], e < 4, k < 8, with non-temporal stores from registers. Returns
/// false and writes nothing if there are no such vectors. `from` and the stride are multiples of 32 bytes,
/// each `to` is a multiple of 64.
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool stream_lines([[maybe_unused]] const Scalar  *from,
                                         [[maybe_unused]] std::ptrdiff_t stride,
                                         [[maybe_unused]] Scalar *const (&to)[4])
{
#ifdef RIBBON_X86
  if constexpr (std::is_same_v<Scalar, double>) {
    static const bool avx = __builtin_cpu_supports("avx");
    if (avx) stream_lines_avx(from, stride, to);
    return avx;
  }
#endif
  return false;
}

/// Makes non-temporal stores of copy_out visible to other threads.
KOKKOS_INLINE_FUNCTION void finish_copies()
{
#ifdef RIBBON_X86
  _mm_sfence();
#endif
}

} // namespace ribbon::host
