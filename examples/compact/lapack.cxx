// SPDX-License-Identifier: BSD-2-Clause
#include "peers.hpp"

#include <petscblaslapack.h>

#include <algorithm>
#include <stdexcept>

// PETSc does not declare these functions.
extern "C" {
void PETSCBLAS(gttrf, GTTRF)(const PetscBLASInt *n, PetscScalar *dl, PetscScalar *d, PetscScalar *du,
                             PetscScalar *du2, PetscBLASInt *ipiv, PetscBLASInt *info);
void PETSCBLAS(gttrs, GTTRS)(const char *trans, const PetscBLASInt *n, const PetscBLASInt *nrhs,
                             const PetscScalar *dl, const PetscScalar *d, const PetscScalar *du,
                             const PetscScalar *du2, const PetscBLASInt *ipiv, PetscScalar *b,
                             const PetscBLASInt *ldb, PetscBLASInt *info, std::size_t);
}

namespace {

class Lapack final : public Peer {
public:
  explicit Lapack(const TridiagonalRows &rows)
      : rows_(rows), lower_(rows.lower.begin() + 1, rows.lower.end()), diagonal_(rows.diagonal),
        upper_(rows.upper.begin(), rows.upper.end() - 1), second_(rows.diagonal.size()),
        pivots_(rows.diagonal.size()), plane_(rows.diagonal.size() * rows.diagonal.size()), lines_(plane_)
  {
    const auto   n    = static_cast<PetscBLASInt>(rows.n);
    PetscBLASInt info = 0;
    PETSCBLAS(gttrf, GTTRF)
    (&n, lower_.data(), diagonal_.data(), upper_.data(), second_.data(), pivots_.data(), &info);
    if (info != 0) throw std::runtime_error("LAPACK's gttrf ends with " + std::to_string(info));
  }
  const char *name() const override { return "LAPACK gttrs (one core)"; }

  void apply(int direction, const PetscScalar *u, PetscScalar *y) override
  {
    const Index n = rows_.n;
    for (Index p = 0; p < n; ++p) {
      if (direction == 0) {
        for (Index l = 0; l < n; ++l) line(u + n * (l + n * p), y + n * (l + n * p));
        solve(y + n * n * p);
        continue;
      }
      // planes of y and x, or of z and x
      const Index stride = direction == 1 ? n : n * n, begin = direction == 1 ? n * n * p : n * p;
      for (Index i = 0; i < n; ++i) row(i, u + begin + stride * i, stride, plane_.data() + n * i);
      transpose(plane_.data(), n, lines_.data(), n);
      solve(lines_.data());
      transpose(lines_.data(), n, y + begin, stride);
    }
  }

private:
  const std::array<PetscScalar, 7> &product(Index i) const
  {
    const Index last = rows_.n - 1 - i;
    return rows_.product[static_cast<std::size_t>(i < 3 ? i : last < 3 ? 6 - last : 3)];
  }
  /// An end row of B for one line.
  PetscScalar end(Index i, const PetscScalar *u, Index stride) const
  {
    PetscScalar sum = 0;
    for (Index d = -3; d <= 3; ++d)
      if (i + d >= 0 && i + d < rows_.n) sum += product(i)[static_cast<std::size_t>(d + 3)] * u[d * stride];
    return sum;
  }
  /// An inner row of B at `count` neighbouring points.
  void inner(const PetscScalar *u, Index stride, Index count, PetscScalar *to) const
  {
    const PetscScalar a = rows_.product[3][4], b = rows_.product[3][5], c = rows_.product[3][6];
    const Index       s = stride;
    if (rows_.reach == 1)
      for (Index k = 0; k < count; ++k) to[k] = a * (u[k + s] - u[k - s]);
    else if (rows_.reach == 2)
      for (Index k = 0; k < count; ++k) to[k] = a * (u[k + s] - u[k - s]) + b * (u[k + 2 * s] - u[k - 2 * s]);
    else
      for (Index k = 0; k < count; ++k)
        to[k] =
          a * (u[k + s] - u[k - s]) + b * (u[k + 2 * s] - u[k - 2 * s]) + c * (u[k + 3 * s] - u[k - 3 * s]);
  }
  bool is_end(Index i) const { return i < 3 || i >= rows_.n - 3; }
  /// Row i of n lines, whose points i lie next to each other.
  void row(Index i, const PetscScalar *u, Index stride, PetscScalar *to) const
  {
    if (!is_end(i)) return inner(u, stride, rows_.n, to);
    for (Index k = 0; k < rows_.n; ++k) to[k] = end(i, u + k, stride);
  }
  /// All rows of one contiguous line.
  void line(const PetscScalar *u, PetscScalar *to) const
  {
    for (Index i = 0; i < rows_.n; ++i)
      if (is_end(i)) to[i] = end(i, u + i, 1);
    inner(u + 3, 1, rows_.n - 6, to + 3);
  }
  void transpose(const PetscScalar *from, Index from_stride, PetscScalar *to, Index to_stride) const
  {
    constexpr Index tile = 8; // a line of the cache
    const Index     n    = rows_.n;
    for (Index j = 0; j < n; j += tile)
      for (Index i = 0; i < n; i += tile)
        for (Index b = j; b < std::min(j + tile, n); ++b)
          for (Index a = i; a < std::min(i + tile, n); ++a) to[a + to_stride * b] = from[b + from_stride * a];
  }
  /// n contiguous lines.
  void solve(PetscScalar *b)
  {
    const auto   n    = static_cast<PetscBLASInt>(rows_.n);
    PetscBLASInt info = 0;
    PETSCBLAS(gttrs, GTTRS)
    ("N", &n, &n, lower_.data(), diagonal_.data(), upper_.data(), second_.data(), pivots_.data(), b, &n,
     &info, 1);
    if (info != 0) throw std::runtime_error("LAPACK's gttrs ends with " + std::to_string(info));
  }

  const TridiagonalRows     rows_;
  std::vector<PetscScalar>  lower_, diagonal_, upper_, second_;
  std::vector<PetscBLASInt> pivots_;
  std::vector<PetscScalar>  plane_, lines_;
};

} // namespace

std::unique_ptr<Peer> MakeLapack(const TridiagonalRows &rows)
{
  return std::make_unique<Lapack>(rows);
}
