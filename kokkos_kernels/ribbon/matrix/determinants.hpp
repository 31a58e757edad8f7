// SPDX-License-Identifier: BSD-2-Clause
/// @file determinants.hpp  log |det| and sign of every matrix of a batch, on demand: with one matrix per
///   line, a LineSolver stores neither.
#pragma once

#include <ribbon/matrix/band_entries.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace ribbon {

/// One thread per matrix: Gaussian elimination with row exchanges over a sliding window of rows, which are
/// scaled by their largest entry. The last kl unknowns are eliminated at the end; in a ring also the first
/// ku unknowns, as in orthogonal.hpp.
template <class Scalar, class Memory>
struct DeterminantKernel {
  BandEntries<Scalar, Memory> entry;
  std::int64_t                first, workers; ///< matrix of thread 0, threads
  Scalar                     *workspace;      ///< a window per thread, thread fastest
  double                     *log_abs_det;
  Scalar                     *sign;

  /// A product that may leave the range of its type, as log |.| and sign.
  struct Product {
    double               log_abs = 0;
    Scalar               sign{1};
    KOKKOS_FUNCTION void multiply(const Scalar &by)
    {
      using std::log;
      const auto size = magnitude(by);
      log_abs += log(static_cast<double>(size));
      sign *= size == 0 ? Scalar(0) : by / size;
    }
    KOKKOS_FUNCTION bool is_zero() const { return sign == Scalar(0); }
  };

  /// Exchanges row k with the row below that has the largest entry in column k, and eliminates column k
  /// below.
  template <class Window>
  KOKKOS_FUNCTION static void eliminate(const Window &w, int k, int rows, int columns, Product &det)
  {
    if (det.is_zero()) return;
    int p = k;
    for (int i = k + 1; i < rows; ++i)
      if (magnitude(w(i, k)) > magnitude(w(p, k))) p = i;
    for (int j = k; p != k && j < columns; ++j) {
      const Scalar t = w(k, j);
      w(k, j) = w(p, j), w(p, j) = t;
    }
    if (p != k) det.sign = -det.sign;
    det.multiply(w(k, k));
    for (int i = k + 1; i < rows && !det.is_zero(); ++i) {
      const Scalar f = w(i, k) / w(k, k);
      for (int j = k; j < columns; ++j) w(i, j) -= f * w(k, j);
    }
  }

  /// The size of a window for these bands.
  struct Shape {
    /// kept: unknowns that are eliminated at the end; skipped: of these, unknowns at the beginning; band,
    /// width: columns of the band and of the window
    int             kl, ku, kept, skipped, band, width;
    KOKKOS_FUNCTION Shape(int lower, int upper, int block, bool ring)
        : kl((lower + 1) * block - 1), ku((upper + 1) * block - 1), kept(ring ? kl + ku : kl),
          skipped(ring ? ku : 0), band(kl + ku + 1), width(band + (ring ? kept : 0))
    {
    }
    KOKKOS_FUNCTION int words() const { return (kept + 1) * width; }
  };

  KOKKOS_FUNCTION void operator()(const std::int64_t thread) const
  {
    const Shape        s(entry.lower, entry.upper, entry.block, entry.periodic);
    const std::int64_t c = first + thread, n = entry.rows * entry.block;
    const bool         dense  = n < s.kept;
    const int          last   = dense ? static_cast<int>(n) : s.kept;
    const auto         window = [&](int i, int e) -> Scalar         &{
      return workspace[static_cast<std::int64_t>(i * s.width + e) * workers + thread];
    };
    Product det;
    for (std::int64_t r = 0; r < n; ++r) {
      const bool fills = r < last; // the window fills; then one row leaves for each new row
      const int  place = fills ? static_cast<int>(r) : s.kept;
      // of the first entry of the window
      const std::int64_t column  = fills ? s.skipped : r - s.kept + s.skipped;
      const auto         largest = entry.row_max(c, r / entry.block, static_cast<int>(r % entry.block));
      det.multiply(Scalar(largest));
      for (int e = 0; e < s.width; ++e) window(place, e) = Scalar(0);
      for (int d = -s.kl; d <= s.ku; ++d) {
        const std::int64_t j = r + d;
        if (!entry.periodic && (j < 0 || j >= n)) continue;
        const std::int64_t e = dense ? (j % n + n) % n : j < s.skipped ? s.band + s.kl + j : j - column;
        window(place, static_cast<int>(e)) += entry.of_unknown(c, r, d) / largest;
      }
      if (fills) continue;
      eliminate(window, 0, s.kept + 1, s.width, det);
      for (int i = 0; i < s.kept; ++i) {
        for (int e = 0; e + 1 < s.band; ++e) window(i, e) = window(i + 1, e + 1);
        window(i, s.band - 1) = Scalar(0);
        for (int e = s.band; e < s.width; ++e) window(i, e) = window(i + 1, e);
      }
    }
    for (int i = 0; entry.periodic && !dense && i < last; ++i)
      for (int q = 0; q < last; ++q) window(i, q) += window(i, s.band + q);
    for (int k = 0; k < last; ++k) eliminate(window, k, last, last, det);
    // the order of unknowns is rotated by ku places
    if (entry.periodic && !dense && s.ku % 2 == 1 && (n - s.ku) % 2 == 1) det.sign = -det.sign;
    log_abs_det[c] = det.log_abs, sign[c] = det.sign;
  }
};

/// log |det| and det / |det| of all bands.matrices() matrices: of the shared one, of every class, of every
/// line (per_line, shifted). A matrix with a zero pivot has -infinity and 0, a matrix with entries that are
/// not finite has NaN. The result is also accurate for matrices that need pivoting. Allocates a window per
/// thread; returns when the result is complete.
/// @throws std::invalid_argument if the views do not have an entry per matrix
template <class Scalar, class Exec>
void determinants(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                  const Kokkos::View<double *, typename Exec::memory_space> &log_abs_det,
                  const Kokkos::View<Scalar *, typename Exec::memory_space> &sign)
{
  using Memory                = typename Exec::memory_space;
  using Kernel                = DeterminantKernel<Scalar, Memory>;
  const std::int64_t matrices = bands.matrices(),
                     words =
                       typename Kernel::Shape(bands.kl(), bands.ku(), bands.block, bands.periodic).words();
  const std::int64_t together =
    std::min<std::int64_t>(matrices, std::max<std::int64_t>(1024, (std::int64_t(1) << 24) / words));
  if (static_cast<std::int64_t>(log_abs_det.extent(0)) != matrices ||
      static_cast<std::int64_t>(sign.extent(0)) != matrices)
    throw std::invalid_argument("ribbon: determinants of " + std::to_string(matrices) + " matrices into " +
                                std::to_string(log_abs_det.extent(0)) + " and " +
                                std::to_string(sign.extent(0)) + " places");
  const auto windows = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::determinants::windows",
                                                                static_cast<std::size_t>(words * together));
  for (std::int64_t first = 0; first < matrices; first += together)
    Kokkos::parallel_for("ribbon::determinants", indices(exec, std::min(together, matrices - first)),
                         Kernel{BandEntries<Scalar, Memory>(bands), first, together, windows.data(),
                                log_abs_det.data(), sign.data()});
  exec.fence();
}

} // namespace ribbon
