// SPDX-License-Identifier: BSD-2-Clause
/// @file singular_pieces.hpp  Independent parts of lines whose rows sum to zero, and their null vectors, on
///   the host.
#pragma once

#include <ribbon/line_solver.hpp>
#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/matrix/scale.hpp>
#include <ribbon/matrix/transpose.hpp>
#include <ribbon/probe/noise.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace ribbon {

/// Parts of matrices with this many rows and diagonals, block 1.
template <class Scalar>
class SingularPieces {
public:
  using HostBands = Bands<Scalar, Kokkos::HostSpace>;
  using Host      = Kokkos::DefaultHostExecutionSpace;

  SingularPieces(std::int64_t rows, int lower, int upper) : rows_(rows), lower_(lower), upper_(upper) { }

  /// A part of a matrix: rows [begin, end), which couple with no other rows, and the row that is replaced.
  struct Piece {
    int          matrix;
    std::int64_t begin, end, pin;
    Piece(int c, std::int64_t first, std::int64_t behind)
        : matrix(c), begin(first), end(behind), pin(behind - 1)
    {
    }
  };

  /// The matrices of some parts (ordered by matrix) and solvers for them and their adjoints. A row of each
  /// part is replaced by one that fixes an unknown.
  struct Pinned {
    std::vector<int>         which; ///< indices of the matrices
    HostBands                bands; ///< one per line
    LineSolver<Scalar, Host> solver, adjoint;

    Pinned(const HostBands &all, const std::vector<Piece> &pieces) : bands(all)
    {
      for (const Piece &p : pieces)
        if (which.empty() || which.back() != p.matrix) which.push_back(p.matrix);
      const std::size_t n = all.values.extent(1), width = all.values.extent(2);
      bands.lhs    = Lhs::per_line;
      bands.values = decltype(bands.values)("ribbon::zero_mean::pinned", which.size(), n, width);
      for (std::size_t m = 0; m < which.size(); ++m)
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t d = 0; d < width; ++d)
            bands.values(m, i, d) = all.values(static_cast<std::size_t>(which[m]), i, d);
      for (const Piece &p : pieces) {
        const auto m = place(p), pin = static_cast<std::size_t>(p.pin);
        Scalar     rho(0);
        for (std::size_t d = 0; d < width; ++d)
          if (magnitude(bands.values(m, pin, d)) > magnitude(rho)) rho = bands.values(m, pin, d);
        if (rho == Scalar(0)) rho = Scalar(1); // a row of zeros
        for (std::size_t d = 0; d < width; ++d)
          bands.values(m, pin, d) = static_cast<int>(d) == all.kl() ? rho : Scalar(0);
      }
      const auto set =
        LineSet::interleaved(static_cast<std::int64_t>(n), static_cast<std::int64_t>(which.size()));
      solver  = LineSolver<Scalar, Host>(Host(), set, bands),
      adjoint = LineSolver<Scalar, Host>(Host(), set, transpose(Host(), bands, true));
    }
    bool        regular() const { return solver.report().ok() && adjoint.report().ok(); }
    std::size_t place(const Piece &p) const
    {
      return static_cast<std::size_t>(std::lower_bound(which.begin(), which.end(), p.matrix) - which.begin());
    }
  };

  /// The parts of those matrices that are regular after all of their parts are pinned.
  static std::vector<Piece> regular(const HostBands &host, const std::vector<Piece> &pieces,
                                    const std::vector<int> &which)
  {
    std::vector<Piece> result;
    for (int c : which) {
      std::vector<Piece> mine;
      std::copy_if(pieces.begin(), pieces.end(), std::back_inserter(mine),
                   [c](const Piece &p) { return p.matrix == c; });
      if (Pinned(host, mine).regular()) result.insert(result.end(), mine.begin(), mine.end());
    }
    return result;
  }

  /// Pins in every part the row with the largest entry of the left null vector, after rows are scaled to
  /// entries of about 1. The last row has preference if its entry is nearly as large. Two steps of inverse
  /// iteration, with A shifted by a small multiple of its diagonal, find that vector with enough accuracy.
  static void choose_pins(const HostBands &host, std::vector<Piece> &pieces)
  {
    const Host       here;
    std::vector<int> which;
    for (const Piece &p : pieces)
      if (which.empty() || which.back() != p.matrix) which.push_back(p.matrix);
    const std::size_t n = host.values.extent(1), width = host.values.extent(2), count = which.size();
    const auto        place = [&](const Piece &p) {
      return static_cast<std::size_t>(std::lower_bound(which.begin(), which.end(), p.matrix) - which.begin());
    };
    HostBands scaled(host);
    scaled.lhs    = Lhs::per_line;
    scaled.values = decltype(scaled.values)("ribbon::zero_mean::scaled", count, n, width);
    for (std::size_t m = 0; m < count; ++m)
      for (std::size_t i = 0; i < n; ++i) {
        const auto c     = static_cast<std::size_t>(which[m]);
        const auto scale = BandEntries<Scalar, Kokkos::HostSpace>(host).row_scale(
          static_cast<std::int64_t>(c), static_cast<std::int64_t>(i));
        for (std::size_t d = 0; d < width; ++d) scaled.values(m, i, d) = host.values(c, i, d) * scale;
      }
    const auto adjoint = transpose(here, scaled, true);
    shift_diagonal<Scalar>(here, adjoint, 1000 * unit_roundoff<Scalar>());
    LineSolverOptions options;
    options.algorithm = "pivoted", options.zero_pivot = std::numeric_limits<real_t<Scalar>>::min();
    const LineSolver<Scalar, Host> solver(
      here, LineSet::interleaved(static_cast<std::int64_t>(n), static_cast<std::int64_t>(count)), adjoint,
      options);
    std::vector<Scalar> l(n * count);
    for (std::size_t k = 0; k < l.size(); ++k) l[k] = Scalar(1 + noise<real_t<Scalar>>(k) / 2);
    for (int step = 0; step < 2; ++step) {
      solver.solve(here, l.data(), l.data());
      here.fence();
      for (const Piece &p : pieces) normalize(p, place(p), count, l);
    }
    for (Piece &p : pieces) {
      const auto size = [&](std::int64_t i) {
        return magnitude(l[static_cast<std::size_t>(i) * count + place(p)]);
      };
      for (std::int64_t i = p.begin; i < p.end; ++i)
        if (size(i) > 16 * size(p.pin) || (p.pin != p.end - 1 && size(i) > size(p.pin))) p.pin = i;
    }
  }

  /// l of every part, 1 in the row that is replaced, row i of matrix m at i * matrices + m. `row`: rho
  /// e_p^T - a_p of part p, entry d at d * pieces + p.
  std::vector<Scalar> left_null_vectors(const HostBands &host, const Pinned &pinned,
                                        const std::vector<Piece> &pieces, std::vector<Scalar> &row) const
  {
    const Host          here;
    const std::size_t   width = host.values.extent(2), count = pieces.size(), matrices = pinned.which.size();
    std::vector<Scalar> l(host.values.extent(1) * matrices, Scalar(0));
    row.assign(width * count, Scalar(0));
    for (std::size_t p = 0; p < count; ++p) {
      const auto c = static_cast<std::size_t>(pieces[p].matrix), m = pinned.place(pieces[p]),
                 pin = static_cast<std::size_t>(pieces[p].pin);
      for (std::size_t d = 0; d < width; ++d) {
        const std::int64_t j = pieces[p].pin + static_cast<std::int64_t>(d) - lower_;
        row[d * count + p]   = pinned.bands.values(m, pin, d) -
                             (host.periodic || (j >= 0 && j < rows_) ? host.values(c, pin, d) : Scalar(0));
        l[static_cast<std::size_t>((j % rows_ + rows_) % rows_) * matrices + m] +=
          conjugate(row[d * count + p]);
      }
    }
    pinned.adjoint.solve(here, l.data(), l.data());
    here.fence();
    return l;
  }

  std::vector<Piece> pieces_of(const HostBands &bands, std::size_t c) const
  {
    std::vector<char> tied(static_cast<std::size_t>(rows_), 0); // row i couples with the next row
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t d = -lower_; d <= upper_; ++d) {
        if (d == 0 ||
            bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + lower_)) == Scalar(0))
          continue;
        if (i + d >= 0 && i + d < rows_)
          for (std::int64_t k = std::min(i, i + d); k < std::max(i, i + d); ++k)
            tied[static_cast<std::size_t>(k)] = 1;
        else if (bands.periodic) return {{static_cast<int>(c), 0, rows_}};
      }
    std::vector<Piece> pieces;
    for (std::int64_t i = 0, begin = 0; i < rows_; ++i)
      if (!tied[static_cast<std::size_t>(i)])
        pieces.push_back({static_cast<int>(c), begin, i + 1}), begin = i + 1;
    return pieces;
  }

  /// Whether the largest entries of the rows of a part differ by more than 2^10.
  static bool has_uneven_rows(const HostBands &bands, const Piece &piece)
  {
    const BandEntries<Scalar, Kokkos::HostSpace> entry(bands);
    real_t<Scalar> smallest = std::numeric_limits<real_t<Scalar>>::max(), largest = 0;
    for (std::int64_t i = piece.begin; i < piece.end; ++i) {
      const auto size = entry.row_max(piece.matrix, i);
      smallest = std::min(smallest, size), largest = std::max(largest, size);
    }
    return largest > 1024 * smallest;
  }
  /// Whether every row of a part sums to zero, to rounding. A row of zeros that couples with no other row
  /// is a part.
  bool sums_to_zero(const HostBands &bands, std::size_t c, const Piece &piece, real_t<Scalar> roundoff) const
  {
    for (std::int64_t i = piece.begin; i < piece.end; ++i) {
      Scalar         sum(0);
      real_t<Scalar> largest = 0;
      for (std::int64_t d = -lower_; d <= upper_; ++d) {
        if (!bands.periodic && (i + d < 0 || i + d >= rows_)) continue;
        const Scalar a = bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + lower_));
        sum += a;
        largest = std::max(largest, magnitude(a));
      }
      if (!(magnitude(sum) <= 4 * static_cast<real_t<Scalar>>(lower_ + upper_ + 1) * roundoff * largest))
        return false;
    }
    return true;
  }

private:
  /// Scales the largest entry of a part of vector m of `count` to about 1. Entries that are not finite
  /// become zero.
  static void normalize(const Piece &p, std::size_t m, std::size_t count, std::vector<Scalar> &l)
  {
    real_t<Scalar> largest = 0;
    for (std::int64_t i = p.begin; i < p.end; ++i) {
      Scalar &v = l[static_cast<std::size_t>(i) * count + m];
      if (!is_finite(magnitude(v))) v = Scalar(0);
      largest = std::max(largest, magnitude(v));
    }
    const auto scale = BandEntries<Scalar, Kokkos::HostSpace>::power_of_two_for(largest);
    for (std::int64_t i = p.begin; i < p.end; ++i) l[static_cast<std::size_t>(i) * count + m] *= scale;
  }

  std::int64_t rows_;
  int          lower_, upper_;
};

} // namespace ribbon
