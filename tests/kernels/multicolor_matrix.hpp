// SPDX-License-Identifier: BSD-2-Clause
/// @file multicolor_matrix.hpp  Random sparse matrices of blocks, in plain arrays and for the kernels, and a
///   serial reference of sweeps over colours.
#pragma once

#include "batch.hpp"

#include <ribbon/multicolor.hpp>

#include <map>

namespace test {

/// Unknowns `own` .. `own` + `ghosts` - 1 belong to other ranks. Entry (r, c) of the block of unknowns i and
/// j is blocks[i][j][r][c].
template <class Scalar>
struct BlockMatrix {
  using Block                                    = std::vector<std::vector<Scalar>>;
  std::int64_t                               own = 0, ghosts = 0;
  int                                        block = 1;
  std::vector<std::map<std::int64_t, Block>> rows;

  BlockMatrix(std::int64_t n, std::int64_t g, int B)
      : own(n), ghosts(g), block(B), rows(static_cast<std::size_t>(n))
  {
  }
  Block       &at(std::int64_t i, std::int64_t j) { return rows[static_cast<std::size_t>(i)][j]; }
  const Block &diagonal(std::int64_t i) const { return rows[static_cast<std::size_t>(i)].at(i); }

  void set(std::mt19937_64 &g, std::int64_t i, std::int64_t j, double scale = 1)
  {
    const auto B = static_cast<std::size_t>(block);
    Block      a(B, std::vector<Scalar>(B));
    for (auto &row : a)
      for (Scalar &v : row) v = random_scalar<Scalar>(g) * static_cast<ribbon::real_t<Scalar>>(scale);
    if (i == j)
      for (std::size_t r = 0; r < B; ++r) a[r][r] += static_cast<ribbon::real_t<Scalar>>(8);
    at(i, j) = a;
  }

  /// A random pattern with about `couplings` entries a row, some of them to ghosts.
  static BlockMatrix random(std::mt19937_64 &g, std::int64_t n, std::int64_t ghosts, int B, int couplings,
                            bool symmetric)
  {
    BlockMatrix                                 A(n, ghosts, B);
    std::uniform_int_distribution<std::int64_t> to(0, n + ghosts - 1);
    for (std::int64_t i = 0; i < n; ++i) {
      A.set(g, i, i);
      for (int k = 0; k < couplings; ++k) {
        const std::int64_t j = to(g);
        if (j == i) continue;
        A.set(g, i, j, 1. / (couplings * B));
        if (symmetric && j < n) A.set(g, j, i, 1. / (couplings * B));
      }
    }
    return A;
  }
};

/// The arrays of a BlockMatrix for the kernels.
template <class Scalar>
struct DeviceRows {
  Kokkos::View<std::int32_t *, Memory> begin[2], column[2], place;
  Kokkos::View<Scalar *, Memory>       value[2];
  ribbon::MulticolorRows<Scalar>       rows;

  explicit DeviceRows(const BlockMatrix<Scalar> &A) : rows{ribbon::AnyCsrMatrix<Scalar>(csr(A, 0))}
  {
    rows.block = A.block, rows.ghosts = A.ghosts;
    if (A.ghosts == 0) return;
    rows.others = ribbon::AnyCsrMatrix<Scalar>(csr(A, 1));
    std::vector<std::int32_t> places(static_cast<std::size_t>(A.ghosts * A.block));
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<std::int32_t>(k);
    place = ribbon::upload(Exec(), "place", places), rows.place = place.data();
  }

private:
  ribbon::CsrMatrix<Scalar, std::int32_t> csr(const BlockMatrix<Scalar> &A, int part)
  {
    std::vector<std::int32_t> b = {0}, c;
    std::vector<Scalar>       v;
    const auto                B = static_cast<std::size_t>(A.block);
    for (std::int64_t i = 0; i < A.own; ++i)
      for (std::size_t r = 0; r < B; ++r) {
        for (const auto &[j, block] : A.rows[static_cast<std::size_t>(i)])
          for (std::size_t k = 0; (j >= A.own) == (part == 1) && k < B; ++k)
            c.push_back(static_cast<std::int32_t>((j - (part ? A.own : 0)) * A.block + static_cast<int>(k))),
              v.push_back(block[r][k]);
        b.push_back(static_cast<std::int32_t>(c.size()));
      }
    const auto p = static_cast<std::size_t>(part);
    begin[p] = ribbon::upload(Exec(), "begin", b), column[p] = ribbon::upload(Exec(), "column", c);
    value[p] = ribbon::upload(Exec(), "value", v);
    return {A.own * A.block, begin[p].data(), column[p].data(), value[p].data()};
  }
};

/// x = inverse(D + shift) s by Gauss-Jordan elimination in the precision of Scalar.
template <class Scalar>
std::vector<Scalar> solve_block(std::vector<std::vector<Scalar>> D, Scalar shift, std::vector<Scalar> s)
{
  const std::size_t B = s.size();
  for (std::size_t k = 0; k < B; ++k) D[k][k] += shift;
  for (std::size_t k = 0; k < B; ++k) {
    std::size_t p = k;
    for (std::size_t i = k + 1; i < B; ++i)
      if (ribbon::magnitude(D[i][k]) > ribbon::magnitude(D[p][k])) p = i;
    std::swap(D[k], D[p]), std::swap(s[k], s[p]);
    for (std::size_t i = 0; i < B; ++i) {
      const Scalar f = D[i][k] / D[k][k];
      for (std::size_t j = k; i != k && j < B; ++j) D[i][j] -= f * D[k][j];
      if (i != k) s[i] -= f * s[k];
    }
  }
  for (std::size_t k = 0; k < B; ++k) s[k] /= D[k][k];
  return s;
}

/// One relaxation of every unknown of a colour; x has the ghosts behind the own unknowns.
template <class Scalar>
void reference_relax(const BlockMatrix<Scalar> &A, const std::vector<std::int32_t> &color, int which,
                     Scalar omega, Scalar shift, const std::vector<Scalar> &b, std::vector<Scalar> &x)
{
  const auto B = static_cast<std::size_t>(A.block);
  for (std::size_t i = 0; i < static_cast<std::size_t>(A.own); ++i) {
    if (color[i] != which) continue;
    std::vector<Scalar> s(b.begin() + static_cast<std::ptrdiff_t>(i * B),
                          b.begin() + static_cast<std::ptrdiff_t>(i * B + B));
    for (const auto &[j, block] : A.rows[i])
      for (std::size_t r = 0; static_cast<std::size_t>(j) != i && r < B; ++r)
        for (std::size_t c = 0; c < B; ++c) s[r] -= block[r][c] * x[static_cast<std::size_t>(j) * B + c];
    s = solve_block(A.diagonal(static_cast<std::int64_t>(i)), shift, s);
    for (std::size_t r = 0; r < B; ++r) x[i * B + r] = (Scalar(1) - omega) * x[i * B + r] + omega * s[r];
  }
}

} // namespace test
