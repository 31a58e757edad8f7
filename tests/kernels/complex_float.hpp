// SPDX-License-Identifier: BSD-2-Clause
/// @file complex_float.hpp  Lines, solvers and casts for the tests of complex<float>.
#pragma once

#include "batch.hpp"

#include <optional>

namespace test::complex_float {

using ribbon::LineSet;

using Scalar    = Kokkos::complex<float>;
using Wide      = Kokkos::complex<double>;
using HostBands = ribbon::Bands<Scalar, Kokkos::HostSpace>;
using Options   = ribbon::LineSolverOptions;

/// backward error of a more accurate solution after rounding to single precision: 2^-24 and some margin
inline constexpr double       rounded_once = 6.1e-8;
inline constexpr std::int64_t many         = 6; ///< number of lines

template <class To, class From>
std::vector<To> cast(const std::vector<From> &from)
{
  std::vector<To> to;
  for (const auto &v : from)
    to.emplace_back(static_cast<ribbon::real_t<To>>(v.real()), static_cast<ribbon::real_t<To>>(v.imag()));
  return to;
}

inline ribbon::Bands<Wide, Kokkos::HostSpace> widened(const HostBands &bands)
{
  const Kokkos::DefaultHostExecutionSpace here;
  const auto                              result = ribbon::cast_bands<Wide>(here, bands);
  here.fence();
  return result;
}

/// Interleaved, contiguous, and both with two strides and gaps, where the components of a block lie in
/// planes.
inline LineSet layout(int kind, std::int64_t n, int block)
{
  if (kind < 2)
    return (kind ? LineSet::contiguous(n, many) : LineSet::interleaved(n, many)).with_components(block);
  const std::int64_t half = kind == 2 ? 4 * n + 3 : 3 * (n + 2) + 1;
  LineSet            set{n, 3, 2, kind == 2 ? 4 : 1, kind == 2 ? 1 : n + 2, half, 5};
  set.components = block, set.component_stride = 2 * half + 4;
  return set;
}
inline std::size_t words(const LineSet &set)
{
  return static_cast<std::size_t>(set(set.lines() - 1, set.rows - 1) +
                                  (set.components - 1) * set.component_stride + 9);
}

/// Calls f(place in a, place in b) for every unknown of two sets of lines.
template <class F>
void for_each_unknown(const LineSet &a, const LineSet &b, const F &f)
{
  for (std::int64_t l = 0; l < a.lines(); ++l)
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (int c = 0; c < a.components; ++c)
        f(static_cast<std::size_t>(a(l, i) + c * a.component_stride),
          static_cast<std::size_t>(b(l, i) + c * b.component_stride));
}

template <class S>
std::vector<S> numbers(std::mt19937_64 &g, std::size_t count)
{
  std::vector<S> b(count);
  for (auto &v : b) v = random_scalar<S>(g);
  return b;
}

/// A solver, or the error of its constructor.
template <class S>
struct Tried {
  std::optional<ribbon::LineSolver<S, Exec>> solver;
  std::string                                refusal;

  Tried(const LineSet &set, const ribbon::Bands<S, Kokkos::HostSpace> &bands, const Options &options)
  {
    try {
      solver.emplace(Exec(), set, to_device(bands), options);
    } catch (const std::invalid_argument &e) {
      refusal = e.what();
    }
  }
};

/// x = f(b) in the memory of the default execution space. x contains `before` at first.
template <class F>
std::vector<Scalar> on_device(const std::vector<Scalar> &b, const std::vector<Scalar> &before, const F &f)
{
  const auto from = ribbon::upload(Exec(), "test::b", b), to = ribbon::upload(Exec(), "test::x", before);
  f(from.data(), to.data());
  Kokkos::fence();
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
  return {x.data(), x.data() + x.extent(0)};
}

} // namespace test::complex_float
