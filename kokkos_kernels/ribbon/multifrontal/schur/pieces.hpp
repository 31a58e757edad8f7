// SPDX-License-Identifier: BSD-2-Clause
/// @file pieces.hpp  Kernels of a sub-chain that is eliminated without pivots, with the other sub-chains on
///   other ranks.
///
///     [ interior | z ]     z: the last w = max(kl, ku) unknowns of a sub-chain that has a successor
///
/// The interior is a separate chain. It depends on the w unknowns before the sub-chain and on z.
#pragma once

#include <ribbon/multifrontal/band_of_rows.hpp>

namespace ribbon::multifrontal {

/// The band without the columns beyond its first `inner` rows, as compressed rows. One thread per row.
template <class Scalar>
struct InteriorEntries {
  BandOfRows<Scalar>   band;
  const std::int64_t  *row_begin;
  Scalar              *value;
  std::int64_t         inner;
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const
  {
    const std::int64_t first = i < band.kl ? 0 : i - band.kl;
    for (std::int64_t e = row_begin[i]; e < row_begin[i + 1]; ++e)
      value[e] = band.at(i, first + (e - row_begin[i]) - i);
  }
};

/// Columns k < w of `to`: coefficients of the w unknowns before the interior; columns w + k: of those after
/// it. Only the w rows at that end are nonzero: one thread for each of them and each k.
template <class Scalar>
struct CouplingColumns {
  BandOfRows<Scalar>   band;
  Scalar              *to;
  std::int64_t         inner;
  int                  w;
  bool                 left, right;
  KOKKOS_FUNCTION void operator()(const std::int64_t item) const
  {
    const std::int64_t k = item / w, r = item % w, row = k < w ? r : inner - w + r;
    if (k < w ? left : right) to[row + k * inner] = band.at(row, k < w ? k - w - r : k - r);
  }
};

/// Packs the first w and the last w rows of `from`, then the w rows of b that follow the interior, by rows.
/// One thread per row and column.
template <class Scalar>
struct TakeEnds {
  const Scalar        *from, *b;
  Scalar              *to;
  std::int64_t         ld, ldb, inner, columns;
  int                  w;
  KOKKOS_FUNCTION void operator()(const std::int64_t item) const
  {
    const std::int64_t c = item % columns, r = item / columns;
    to[item] = from[r + c * ld], to[w * columns + item] = from[inner - w + r + c * ld];
    if (b) to[2 * w * columns + item] = b[inner + r + c * ldb];
  }
};

/// Adds `ends`, in the order of TakeEnds, to the first and the last rows of a column of `to`. One thread
/// per column.
template <class Scalar>
struct AddEnds {
  const Scalar        *ends;
  Scalar              *to;
  std::int64_t         inner, columns;
  int                  w;
  KOKKOS_FUNCTION void operator()(const std::int64_t c) const
  {
    for (int r = 0; r < w; ++r) to[r + c * inner] += ends[r * columns + c];
    for (int r = 0; r < w; ++r) to[inner - w + r + c * inner] += ends[(w + r) * columns + c];
  }
};

/// x -= Y z in the interior, where z holds the w unknowns before the sub-chain and the w after the
/// interior. Copies the latter into x. `numbers` = 2 w; 0 in a transposed solve, where Y is already the
/// product. One thread per row and column.
template <class Scalar>
struct FinishPiece {
  Scalar              *x;
  const Scalar        *Y, *z;
  std::int64_t         ldx, inner, columns;
  int                  w, numbers;
  bool                 right;
  KOKKOS_FUNCTION void operator()(const std::int64_t item) const
  {
    const std::int64_t rows = inner + (right ? w : 0), c = item / rows, i = item % rows;
    Scalar            &to = x[i + c * ldx];
    if (i >= inner) to = z[(w + i - inner) * columns + c];
    else if (numbers == 0) to -= Y[i + c * inner];
    else
      for (int k = 0; k < numbers; ++k) to -= Y[i + k * inner] * z[k * columns + c];
  }
};

/// Values of the interior. Asynchronous on exec, as all functions here.
/// @param row_begin  beginnings of its rows; each row has all columns of the band that are in the interior,
///   in ascending order
template <class Scalar, class Exec>
void interior_entries(const Exec &exec, const BandOfRows<Scalar> &band, const std::int64_t *row_begin,
                      std::int64_t inner, Scalar *value)
{
  Kokkos::parallel_for("ribbon::interior", indices(exec, inner),
                       InteriorEntries<Scalar>{band, row_begin, value, inner});
}

/// Entries of the interior in the columns of the unknowns before (`left`) and after it (`right`).
/// @param to  (inner, 2 w), of zeros
template <class Scalar, class Exec>
void coupling_columns(const Exec &exec, const BandOfRows<Scalar> &band, std::int64_t inner, int w, bool left,
                      bool right, Scalar *to)
{
  Kokkos::parallel_for("ribbon::couplings", indices(exec, std::int64_t(2) * w * w),
                       CouplingColumns<Scalar>{band, to, inner, w, left, right});
}

/// Packs the ends of the columns of `from` for other sub-chains.
/// @param b  right-hand sides, whose w rows after the interior are packed, too; may be null
template <class Scalar, class Exec>
void take_ends(const Exec &exec, const Scalar *from, std::int64_t ld, const Scalar *b, std::int64_t ldb,
               std::int64_t inner, std::int64_t columns, int w, Scalar *to)
{
  Kokkos::parallel_for("ribbon::ends", indices(exec, w * columns),
                       TakeEnds<Scalar>{from, b, to, ld, ldb, inner, columns, w});
}

/// Transposed solve: adds the contributions of the equations of z, of this sub-chain and of the one before,
/// to the end rows of the interior.
/// @param to  (inner, columns)
template <class Scalar, class Exec>
void add_ends(const Exec &exec, const Scalar *ends, std::int64_t inner, std::int64_t columns, int w,
              Scalar *to)
{
  Kokkos::parallel_for("ribbon::ends", indices(exec, columns), AddEnds<Scalar>{ends, to, inner, columns, w});
}

/// All columns of a solve, after the unknowns before and after the interior are known.
template <class Scalar, class Exec>
void finish_piece(const Exec &exec, const FinishPiece<Scalar> &piece)
{
  Kokkos::parallel_for("ribbon::finish_piece",
                       indices(exec, (piece.inner + (piece.right ? piece.w : 0)) * piece.columns), piece);
}

} // namespace ribbon::multifrontal
