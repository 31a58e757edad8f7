// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas_input.hpp  Right-hand sides of the elimination along lines on a host: vectors, or products
///   B u of banded matrices that are formed just before the forward sweep needs them.
///
/// A source hands out the right-hand sides of the lines of a tile row by row. If rows of a tile are runs in
/// memory, a product reads u there. Otherwise it reads rows of the tile: row i of u waits in row i + W, so
/// that the sweep can write its row i.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/host/tile_lines.hpp>

namespace ribbon {

/// Right-hand sides as they are.
struct GivenLines {
  /// rows of a tile beyond those of the lines
  KOKKOS_FUNCTION static std::int64_t more_rows() { return 0; }
  KOKKOS_FUNCTION static bool         adds() { return false; }

  template <class Scalar, int Lanes>
  class Source {
    using Tile = host::TileLines<Scalar, Lanes>;

  public:
    KOKKOS_FUNCTION Source(const GivenLines &, const Tile &from, std::int64_t, bool, const Scalar *b,
                           Scalar *tile, std::int64_t)
        : from_(from), b_(b), tile_(tile)
    {
    }
    /// Prepares rows [i0, i1).
    KOKKOS_FUNCTION void fetch(std::int64_t i0, std::int64_t i1)
    {
      begin_ = i0, rows_ = from_.fetch(b_, i0, i1, tile_);
    }
    KOKKOS_FUNCTION const Scalar *row(std::int64_t i) { return rows_.at(i - begin_); }
    /// Copies rows [i0, i1) to the tile.
    KOKKOS_FUNCTION void copy(std::int64_t i0, std::int64_t i1) const { from_.load(b_, i0, i1, tile_); }
    /// Adds a vector to row i of the solution.
    KOKKOS_FUNCTION void add(const Scalar *, std::int64_t, Scalar *) const { }

  private:
    const Tile                                &from_;
    const Scalar                              *b_;
    Scalar                                    *tile_;
    std::int64_t                               begin_ = 0;
    typename Tile::template Rows<const Scalar> rows_{};
  };
};

/// y = alpha A^-1 B u + beta v.
template <class Scalar_>
struct ProductLines {
  const Scalar_ *values   = nullptr;                    ///< Bands::values of B
  std::int64_t   matrices = 0, stored = 0, repeats = 1; ///< extents of values, and Bands::repeats
  int            kl = 0, ku = 0;
  const int     *class_of_line = nullptr; ///< null: line l has matrix l % matrices
  std::int64_t   classified    = 1;
  Scalar_        alpha = 1, beta = 0;
  const Scalar_ *v = nullptr; ///< read if beta is not zero
  LineSet        lines;       ///< of v

  KOKKOS_FUNCTION int reach() const { return kl > ku ? kl : ku; }
  KOKKOS_FUNCTION std::int64_t more_rows() const { return 2 * reach(); }
  KOKKOS_FUNCTION bool         adds() const { return beta != Scalar_(0); }
  KOKKOS_FUNCTION std::int64_t matrix(std::int64_t line) const
  {
    return class_of_line ? class_of_line[line % classified] : line % matrices;
  }

  template <class Scalar, int Lanes>
  class Source {
    using Tile                 = host::TileLines<Scalar, Lanes>;
    using Pack                 = std::conditional_t<Lanes == 1, Scalar, typename host::PackOf<Scalar>::type>;
    static constexpr int width = static_cast<int>(sizeof(Pack) / sizeof(Scalar)), packs = Lanes / width;

  public:
    /// @param n  rows of a line
    KOKKOS_FUNCTION Source(const ProductLines &product, const Tile &from, std::int64_t first, bool periodic,
                           const Scalar *b, Scalar *tile, std::int64_t n)
        : product_(product), from_(from), added_(product.lines, first, from.lanes()), b_(b), tile_(tile),
          u_(tile + product.reach() * Lanes), n_(n), periodic_(periodic),
          run_(from.is_run() && !from.is_crowded())
    {
      for (int l = 0; l < Lanes; ++l) {
        matrix_[l]  = product.matrix(first + (l < from.lanes() ? l : 0));
        same_       = same_ && matrix_[l] == matrix_[0];
        neighbours_ = neighbours_ && matrix_[l] == matrix_[0] + l;
      }
      if (!run_ && periodic_) bring_ends();
    }
    KOKKOS_FUNCTION void fetch(std::int64_t i0, std::int64_t i1)
    {
      const std::int64_t end = i1 + product_.reach() < n_ ? i1 + product_.reach() : n_;
      from_.prefetch_crowded(b_, i0, i1);
      if (run_) return;
      while (brought_ < end) {
        const std::int64_t next = brought_ + Tile::block < n_ ? brought_ + Tile::block : n_;
        from_.load(b_, brought_, next, u_);
        brought_ = next;
      }
    }
    KOKKOS_FUNCTION const Scalar *row(std::int64_t i)
    {
      const std::int64_t stored = repeated_row(i, product_.stored / 2, product_.repeats),
                         next   = product_.matrices * product_.stored;
      const Scalar *c           = product_.values + product_.matrices * stored;
      const auto    first       = periodic_ || i >= product_.kl ? -product_.kl : -static_cast<int>(i);
      const auto    last = periodic_ || n_ - i > product_.ku ? product_.ku : static_cast<int>(n_ - 1 - i);
      c += (first + product_.kl) * next;
      if (same_ && last - first == 2) return same_row<3>(i + first, c + matrix_[0], next);
      if (same_ && last - first == 4) return same_row<5>(i + first, c + matrix_[0], next);
      if (same_ && last - first == 6) return same_row<7>(i + first, c + matrix_[0], next);
      Pack f[packs] = {};
      for (int d = first; d <= last; ++d, c += next) {
        const Scalar *u = at(i + d);
        if (same_) {
          const Scalar a = c[matrix_[0]];
          add_row(f, u, [&](int, Pack &p) { p *= a; });
        } else if (neighbours_) {
          add_row(f, u, [&](int k, Pack &p) { scale(p, c + matrix_[0] + k * width); });
        } else {
          alignas(64) Scalar gathered[Lanes];
          for (int l = 0; l < Lanes; ++l) gathered[l] = c[matrix_[l]];
          add_row(f, u, [&](int k, Pack &p) { scale(p, gathered + k * width); });
        }
      }
      for (int k = 0; k < packs; ++k) f[k] *= product_.alpha, host::store_pack(f[k], f_ + k * width, false);
      return f_;
    }
    KOKKOS_FUNCTION void copy(std::int64_t i0, std::int64_t i1)
    {
      fetch(i0, i1);
      for (std::int64_t i = i0; i < i1; ++i) {
        const Scalar *f = row(i);
        for (int l = 0; l < Lanes; ++l) tile_[i * Lanes + l] = f[l];
      }
    }
    /// to = from + beta v in row i.
    KOKKOS_FUNCTION void add(const Scalar *from, std::int64_t i, Scalar *to) const
    {
      for (int l = 0; l < added_.lanes(); ++l) {
        Scalar sum = from[l];
        add_product(sum, product_.beta, product_.v[added_.place(l, i)]);
        to[l] = sum;
      }
    }

  private:
    /// A row of `diagonals` entries, from row j of u on, with one matrix for all lanes: sums stay in
    /// registers.
    template <int diagonals>
    KOKKOS_FORCEINLINE_FUNCTION const Scalar *same_row(std::int64_t j, const Scalar *c, std::int64_t next)
    {
      const Scalar *u[diagonals];
      Scalar        a[diagonals];
      RIBBON_UNROLL_PACKS
      for (int d = 0; d < diagonals; ++d) u[d] = at(j + d), a[d] = c[d * next];
      RIBBON_UNROLL_PACKS
      for (int k = 0; k < packs; ++k) {
        Pack f = {};
        RIBBON_UNROLL_PACKS
        for (int d = 0; d < diagonals; ++d) {
          Pack p;
          host::load_pack(u[d] + k * width, p);
          f += p * a[d];
        }
        f *= product_.alpha;
        host::store_pack(f, f_ + k * width, false);
      }
      return f_;
    }
    KOKKOS_FORCEINLINE_FUNCTION static void scale(Pack &p, const Scalar *coefficients)
    {
      Pack a;
      host::load_pack(coefficients, a);
      p *= a;
    }
    /// Adds the lanes of a row of u to f; times(k, p) multiplies pack k by its coefficients.
    template <class Times>
    KOKKOS_FORCEINLINE_FUNCTION static void add_row(Pack (&f)[packs], const Scalar *u, const Times &times)
    {
      RIBBON_UNROLL_PACKS
      for (int k = 0; k < packs; ++k) {
        Pack p;
        host::load_pack(u + k * width, p);
        times(k, p);
        f[k] += p;
      }
    }
    /// Row j of u, around a ring.
    KOKKOS_FUNCTION const Scalar *at(std::int64_t j) const
    {
      if (!run_) return u_ + j * Lanes;
      return b_ + from_.place(0, j < 0 ? j + n_ : j < n_ ? j : j - n_);
    }
    /// The rows before and behind a ring.
    KOKKOS_FUNCTION void bring_ends()
    {
      const std::int64_t W = product_.reach();
      for (std::int64_t j = 0; j < W; ++j)
        for (int l = 0; l < from_.lanes(); ++l) {
          tile_[j * Lanes + l]     = b_[from_.place(l, n_ - W + j)];
          u_[(n_ + j) * Lanes + l] = b_[from_.place(l, j)];
        }
    }

    const ProductLines &product_;
    const Tile         &from_;
    const Tile          added_; ///< places of v
    const Scalar       *b_;
    Scalar             *tile_, *u_;
    std::int64_t        n_, brought_ = 0, matrix_[Lanes];
    bool                periodic_, run_, same_ = true, neighbours_ = true;
    alignas(64) Scalar f_[Lanes];
  };
};

} // namespace ribbon
