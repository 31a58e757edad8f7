// SPDX-License-Identifier: BSD-2-Clause
/// @file line_residuals.hpp  The largest residual of every line of a batch, the lines that have converged,
///   and zeroing of these.
#pragma once

#include <ribbon/line_set.hpp>

#include <algorithm>
#include <limits>

namespace ribbon {

/// Tables for packed lines, where several lines lie one after another in one line of a LineSet
/// (packing.hpp): the element and the line at every place, -1 for padding. Every line is in one line of the
/// set, without gaps.
template <class Memory>
struct PackedPlaces {
  using Table = Kokkos::View<const std::int64_t *, Memory>;
  LineSet places;
  Table   element, part;  ///< (places)
  int     components = 1; ///< adjacent unknowns of an element
};

/// Values that are not finite count as infinite.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void enlarge(real_t<Scalar> &largest, const Scalar &a, real_t<Scalar> infinite)
{
  const real_t<Scalar> size = magnitude(a);
  if (!is_finite(size)) largest = infinite;
  else if (size > largest) largest = size;
}

/// One work item: `tile` neighbouring lines, every `chunks`-th row of them.
template <class Scalar, int tile>
struct LineMaximaKernel {
  using Real = real_t<Scalar>;
  LineSet              lines;
  const Scalar        *x;
  Real                *largest;
  std::int64_t         chunks;
  bool                 contiguous;
  Real                 infinite;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t all = lines.lines(), tiles = (all + tile - 1) / tile,
                       first = (contiguous ? k / chunks : k % tiles) * tile,
                       chunk = contiguous ? k % chunks : k / tiles;
    const int     count      = static_cast<int>(all - first < tile ? all - first : tile);
    const Scalar *at[tile];
    Real          m[tile];
    for (int t = 0; t < tile; ++t) at[t] = x + lines.begin(t < count ? first + t : first), m[t] = 0;
    for (std::int64_t i = chunk; i < lines.rows; i += chunks)
      for (int a = 0; a < lines.components; ++a)
        for (int t = 0; t < tile; ++t)
          enlarge(m[t], at[t][i * lines.row_stride + a * lines.component_stride], infinite);
    for (int t = 0; t < count; ++t)
      if (chunks == 1) largest[first + t] = m[t];
      else Kokkos::atomic_fetch_max(largest + first + t, m[t]);
  }
};

template <class Scalar, class Memory>
struct PartMaximaKernel {
  using Real = real_t<Scalar>;
  PackedPlaces<Memory> packed;
  const Scalar        *x;
  Real                *largest;
  Real                 infinite;
  KOKKOS_FUNCTION void operator()(const std::int64_t l) const
  {
    std::int64_t part = -1;
    Real         m    = 0;
    for (std::int64_t i = 0; i < packed.places.rows; ++i) {
      const std::int64_t place = packed.places(l, i), e = packed.element(place);
      if (e < 0) continue;
      if (packed.part(place) != part) {
        if (part >= 0) largest[part] = m;
        part = packed.part(place), m = 0;
      }
      for (int a = 0; a < packed.components; ++a) enlarge(m, x[e * packed.components + a], infinite);
    }
    if (part >= 0) largest[part] = m;
  }
};

/// largest[l] = max |x| over the unknowns of line l, infinity if an unknown is not finite. Asynchronous on
/// exec, allocates nothing.
/// @param largest  (lines.lines()), in memory of exec
template <class Scalar, class Exec>
void line_maxima(const Exec &exec, const LineSet &lines, const Scalar *x, real_t<Scalar> *largest)
{
  using Real = real_t<Scalar>;
  // a host reads whole cache lines of interleaved lines
  constexpr int tile     = is_device_space<Exec> ? 1 : 16;
  const Real    infinite = std::numeric_limits<Real>::infinity();
  const bool    behind   = lines.is_contiguous();
  std::int64_t  chunks   = 1;
  // neighbouring threads read neighbouring values
  if (is_device_space<Exec> && lines.rows > 64)
    chunks = std::max<std::int64_t>(lines.rows / 64, behind ? 32 : 1);
  if (chunks > 1)
    Kokkos::deep_copy(
      exec,
      Kokkos::View<Real *, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        largest, static_cast<std::size_t>(lines.lines())),
      Real(0));
  const auto run = [&](auto kernel, std::int64_t tiles) {
    Kokkos::parallel_for("ribbon::line_maxima", indices(exec, tiles * chunks), kernel);
  };
  if (behind) run(LineMaximaKernel<Scalar, 1>{lines, x, largest, chunks, true, infinite}, lines.lines());
  else
    run(LineMaximaKernel<Scalar, tile>{lines, x, largest, chunks, false, infinite},
        (lines.lines() + tile - 1) / tile);
}

/// The same for packed lines: largest[p] for every part p that has a place.
template <class Scalar, class Exec>
void line_maxima(const Exec &exec, const PackedPlaces<typename Exec::memory_space> &packed, const Scalar *x,
                 real_t<Scalar> *largest)
{
  Kokkos::parallel_for("ribbon::line_maxima", indices(exec, packed.places.lines()),
                       PartMaximaKernel<Scalar, typename Exec::memory_space>{
                         packed, x, largest, std::numeric_limits<real_t<Scalar>>::infinity()});
}

/// Residuals of lines, their limits, and the iteration in which a line converged.
template <class Real, class Memory>
struct LineStates {
  Kokkos::View<Real *, Memory> largest; ///< of the residual
  /// of the right-hand side; of the first residual if the right-hand side is zero
  Kokkos::View<Real *, Memory> scale;
  /// the iteration in which the line converged, -1: not converged
  Kokkos::View<int *, Memory> closed;
};

template <class Real, class Memory>
struct JudgeKernel {
  LineStates<Real, Memory> states;
  Real                     rtol, abstol, infinite;
  int                      iteration;
  KOKKOS_FUNCTION void     operator()(const std::int64_t l, Real &worst) const
  {
    if (iteration == 0 && states.scale(l) == 0) states.scale(l) = states.largest(l);
    const Real relative = rtol * states.scale(l), allowed = relative > abstol ? relative : abstol,
               size = states.largest(l);
    const bool open = !(size <= allowed) || size == infinite;
    if (open) states.closed(l) = -1;
    else if (states.closed(l) < 0) states.closed(l) = iteration;
    const Real ratio = size == 0 ? Real(0) : allowed == 0 || size == infinite ? infinite : size / allowed;
    if (ratio > worst) worst = ratio;
  }
};

/// Closes lines with largest <= max(rtol scale, abstol) and opens the others. Waits.
/// @param iteration  0: scales that are zero become `largest`
/// @return the largest of largest / max(rtol scale, abstol): more than 1 if a line is open
template <class Real, class Exec>
Real judge(const Exec &exec, const LineStates<Real, typename Exec::memory_space> &states, Real rtol,
           Real abstol, int iteration)
{
  Real worst = 0;
  Kokkos::parallel_reduce("ribbon::judge", indices(exec, static_cast<std::int64_t>(states.largest.extent(0))),
                          JudgeKernel<Real, typename Exec::memory_space>{
                            states, rtol, abstol, std::numeric_limits<Real>::infinity(), iteration},
                          Kokkos::Max<Real>(worst));
  return std::max(worst, Real(0)); // without lines, Max returns its least value
}

template <class Scalar>
struct ClearKernel {
  LineSet              lines;
  const int           *closed;
  Scalar              *x;
  bool                 contiguous;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t l = contiguous ? k / lines.rows : k % lines.lines(),
                       i = contiguous ? k % lines.rows : k / lines.lines();
    if (closed[l] < 0) return;
    for (int a = 0; a < lines.components; ++a) x[lines(l, i) + a * lines.component_stride] = Scalar(0);
  }
};

template <class Scalar, class Memory>
struct ClearPartsKernel {
  PackedPlaces<Memory> packed;
  const int           *closed;
  Scalar              *x;
  KOKKOS_FUNCTION void operator()(const std::int64_t place) const
  {
    const std::int64_t e = packed.element(place);
    if (e < 0 || closed[packed.part(place)] < 0) return;
    for (int a = 0; a < packed.components; ++a) x[e * packed.components + a] = Scalar(0);
  }
};

/// x = 0 on all lines that are closed. Asynchronous on exec.
template <class Scalar, class Exec>
void clear_closed(const Exec &exec, const LineSet &lines, const int *closed, Scalar *x)
{
  Kokkos::parallel_for("ribbon::clear_closed", indices(exec, lines.lines() * lines.rows),
                       ClearKernel<Scalar>{lines, closed, x, lines.is_contiguous()});
}
template <class Scalar, class Exec>
void clear_closed(const Exec &exec, const PackedPlaces<typename Exec::memory_space> &packed,
                  const int *closed, Scalar *x)
{
  Kokkos::parallel_for("ribbon::clear_closed",
                       indices(exec, static_cast<std::int64_t>(packed.element.extent(0))),
                       ClearPartsKernel<Scalar, typename Exec::memory_space>{packed, closed, x});
}

} // namespace ribbon
