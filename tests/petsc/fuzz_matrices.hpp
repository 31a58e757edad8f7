// SPDX-License-Identifier: BSD-2-Clause
/// @file fuzz_matrices.hpp  Random matrices: grids, graphs, batches, products, and matrices that Ribbon
///   refuses.
#pragma once

#include "fuzz_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace test {

/// A grid of up to three dimensions, with or without its DMDA.
inline void draw_grid(Draw *draw, PetscMPIInt ranks, Problem *p, bool aligned)
{
  const int  dim = static_cast<int>(draw->between(1, 3));
  const bool box = draw->one_in(4);
  PetscInt width = draw->one_in(3) ? draw->between(1, 4) : 1, dof = draw->one_in(3) ? draw->between(1, 9) : 1;
  std::array<PetscInt, 3> n{1, 1, 1}, m{1, 1, 1};
  const PetscInt          longest[] = {24, 9, 5};
  if (dim == 3) width = std::min<PetscInt>(width, 2), dof = std::min<PetscInt>(dof, 4);
  if (box) width = 1, dof = std::min<PetscInt>(dof, 3);
  for (PetscInt left = ranks, prime = 2; left > 1;) {
    while (left % prime != 0) ++prime;
    m[static_cast<std::size_t>(draw->below(dim))] *= prime, left /= prime;
  }
  DMBoundaryType        boundary[3];
  std::vector<PetscInt> owned[3];
  // Couplings along one direction only.
  const int only = draw->one_in(3) ? static_cast<int>(draw->below(dim)) : -1;
  // Coupled components: each with itself, with the next one, or with all.
  const int mode = static_cast<int>(draw->below(3));
  if (aligned && only >= 0) { // no line spans ranks
    const auto d = static_cast<std::size_t>(only), other = static_cast<std::size_t>(only == 0 ? 1 : 0);
    if (dim > 1) m[other] *= m[d], m[d] = 1;
  }
  for (std::size_t d = 0; d < 3; ++d) {
    boundary[d] =
      d < static_cast<std::size_t>(dim) && draw->one_in(4) ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
    if (d >= static_cast<std::size_t>(dim)) continue;
    const PetscInt each = boundary[d] == DM_BOUNDARY_PERIODIC ? 2 * width + 1 : width;
    n[d]                = std::max(draw->between(1, longest[dim - 1]), each * m[d]);
    owned[d].assign(static_cast<std::size_t>(m[d]), each);
    for (PetscInt k = each * m[d]; k < n[d]; ++k) ++owned[d][static_cast<std::size_t>(draw->below(m[d]))];
  }
  DMDACreate(PETSC_COMM_WORLD, &p->da);
  DMSetDimension(p->da, dim);
  DMDASetSizes(p->da, n[0], n[1], n[2]);
  DMDASetBoundaryType(p->da, boundary[0], boundary[1], boundary[2]);
  DMDASetStencilType(p->da, box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR);
  DMDASetStencilWidth(p->da, width);
  DMDASetDof(p->da, dof);
  DMDASetNumProcs(p->da, m[0], m[1], m[2]);
  DMDASetOwnershipRanges(p->da, owned[0].data(), dim > 1 ? owned[1].data() : nullptr,
                         dim > 2 ? owned[2].data() : nullptr);
  DMSetUp(p->da);
  DMCreateMatrix(p->da, &p->A);
  const Filling filling(draw, p);
  PetscInt      begin[3], size[3];
  DMDAGetCorners(p->da, &begin[0], &begin[1], &begin[2], &size[0], &size[1], &size[2]);
  const auto number = [&](const std::array<PetscInt, 3> &at, PetscInt c) {
    return ((at[2] * n[1] + at[1]) * n[0] + at[0]) * dof + c;
  };
  for (PetscInt point = 0; point < size[0] * size[1] * size[2]; ++point) {
    const std::array<PetscInt, 3> at{begin[0] + point % size[0], begin[1] + point / size[0] % size[1],
                                     begin[2] + point / (size[0] * size[1])};
    for (PetscInt c = 0; c < dof; ++c) {
      const MatStencil row = {at[2], at[1], at[0], c};
      double           sum = 0;
      const auto       put = [&](std::array<PetscInt, 3> away, PetscInt other) {
        std::array<PetscInt, 3> to;
        int                     d = 0, moved = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          to[k] = at[k] + away[k];
          if (away[k] != 0) d = static_cast<int>(k), ++moved;
          if (boundary[k] == DM_BOUNDARY_PERIODIC) to[k] = (to[k] + n[k]) % n[k];
          else if (to[k] < 0 || to[k] >= n[k]) return;
        }
        if (to == at && other == c) return;
        if (only >= 0 && (moved > 1 || (moved == 1 && d != only))) return;
        if (mode == 0 ? other != c : mode == 1 ? other != c && other != c + 1 : false) return;
        const MatStencil  column = {at[2] + away[2], at[1] + away[1], at[0] + away[0], other};
        const PetscScalar v      = filling.off(number(at, c), number(to, other), at[0] + at[1] + at[2],
                                                     away[static_cast<std::size_t>(d)], d);
        sum += std::abs(PetscRealPart(v));
        MatSetValuesStencil(p->A, 1, &row, 1, &column, &v, ADD_VALUES);
      };
      for (PetscInt other = 0; other < dof; ++other)
        if (box)
          for (PetscInt k = 0; k < 27; ++k) put({k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, other);
        else {
          put({0, 0, 0}, other);
          for (int d = 0; d < dim; ++d)
            for (PetscInt step = 1; step <= width; ++step)
              for (PetscInt sign : {-1, 1}) {
                std::array<PetscInt, 3> away{0, 0, 0};
                away[static_cast<std::size_t>(d)] = sign * step;
                put(away, other);
              }
        }
      const PetscScalar v = filling.diagonal(number(at, c), sum);
      MatSetValuesStencil(p->A, 1, &row, 1, &row, &v, ADD_VALUES);
    }
  }
  MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY);
  p->components = dof, p->width = width;
  p->what += "grid of " + std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " + std::to_string(n[2]) +
             " points on " + std::to_string(m[0]) + " x " + std::to_string(m[1]) + " x " +
             std::to_string(m[2]) + " ranks, dof " + std::to_string(dof) + ", width " +
             std::to_string(width) + (box ? ", box" : ", star");
}

/// Lines one after another. Each rank holds whole lines unless `cut`. Lines are rings if `periodic`.
inline void draw_batch(Draw *draw, PetscMPIInt ranks, PetscMPIInt rank, Problem *p, bool cut)
{
  const PetscInt reach = draw->one_in(3) ? draw->between(1, 8) : 1, m = draw->between(1, 24),
                 lines = draw->between(0, 5) * ranks;
  const bool periodic  = draw->one_in(4) && m > 2 * reach;
  const auto own = draw->split(lines, ranks, true), pieces = draw->split(lines * m, ranks, true);
  assemble(
    draw, cut ? pieces[static_cast<std::size_t>(rank)] : own[static_cast<std::size_t>(rank)] * m, lines * m,
    [&](PetscInt r) {
      std::vector<PetscInt> c;
      for (PetscInt k = -reach; k <= reach; ++k) {
        const PetscInt to = r % m + k;
        if (periodic || (to >= 0 && to < m)) c.push_back(r / m * m + (to + m) % m);
      }
      return c;
    },
    p);
  p->whole = !cut || ranks == 1;
  p->what += std::to_string(lines) + (cut ? " lines" : " whole lines") + (periodic ? ", rings" : "") +
             ", of " + std::to_string(m) + " rows, reach " + std::to_string(reach);
}

/// A grid in natural numbering without a DM. Ranks may begin and end at any row.
inline void draw_numbered_grid(Draw *draw, PetscMPIInt ranks, PetscMPIInt rank, Problem *p)
{
  const std::array<PetscInt, 3> n{draw->between(1, 9), draw->between(1, 8),
                                  draw->one_in(2) ? 1 : draw->between(1, 5)};
  const PetscInt                all = n[0] * n[1] * n[2];
  const bool                    box = draw->one_in(3);
  assemble(
    draw, draw->split(all, ranks, true)[static_cast<std::size_t>(rank)], all,
    [&](PetscInt r) {
      std::vector<PetscInt> columns;
      for (PetscInt k = 0; k < 27; ++k) {
        const PetscInt away[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1},
                       at[3]   = {r % n[0] + away[0], r / n[0] % n[1] + away[1], r / (n[0] * n[1]) + away[2]};
        bool is                = box || std::abs(away[0]) + std::abs(away[1]) + std::abs(away[2]) <= 1;
        for (std::size_t d = 0; d < 3; ++d) is = is && at[d] >= 0 && at[d] < n[d];
        if (is) columns.push_back((at[2] * n[1] + at[1]) * n[0] + at[0]);
      }
      return columns;
    },
    p);
  p->what += "numbering of a grid of " + std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " +
             std::to_string(n[2]) + (box ? ", box" : ", star");
}

/// Any graph. Its matrix may lack an entry of the diagonal.
inline void draw_graph(Draw *draw, PetscMPIInt ranks, PetscMPIInt rank, Problem *p)
{
  const PetscInt n = draw->between(0, 60), degree = draw->between(0, 5),
                 lacking        = n > 0 && draw->one_in(8) ? draw->below(n) : -1;
  const std::uint64_t seed      = draw->next();
  const bool          symmetric = p->symmetric;
  assemble(
    draw, draw->split(n, ranks, true)[static_cast<std::size_t>(rank)], n,
    [&](PetscInt r) {
      std::vector<PetscInt> columns;
      for (PetscInt c = 0; c < n; ++c) {
        const double v =
          symmetric ? Draw::noise(seed, std::min(r, c), std::max(r, c)) : Draw::noise(seed, r, c);
        if (v * static_cast<double>(n) > static_cast<double>(n - degree)) columns.push_back(c);
      }
      return columns;
    },
    p, lacking);
  if (lacking >= 0) p->error = "PC line: row " + std::to_string(lacking) + " stores no diagonal entry";
  p->what += "graph of " + std::to_string(n) + " rows of about " + std::to_string(degree) + " entries";
}

/// Moves the matrix to the host, because PETSc makes no Kronecker products of device matrices, or only
/// assembled ones.
inline void on_host(Problem *p)
{
  MatConvert(p->A, MATAIJ, MAT_INPLACE_MATRIX, &p->A);
  if (p->da) MatSetDM(p->A, p->da);
}

/// Converts a given matrix to another type, or replaces it by a Kronecker product.
inline void draw_type(Draw *draw, Problem *p)
{
  const PetscInt kind = draw->below(12);
  PetscInt       m;
  Mat            B = nullptr;
  MatGetLocalSize(p->A, &m, nullptr);
  if (!p->error.empty()) return; // the expected error names a row, and its number would change
  if (kind == 0) {
    PetscInt block = draw->of<PetscInt>({1, 2, 3});
    int      fits  = m % block == 0;
    MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT, MPI_LAND, PETSC_COMM_WORLD);
    if (!fits) block = 1;
    if (!p->da) MatSetBlockSize(p->A, block);
    MatConvert(p->A, MATBAIJ, MAT_INITIAL_MATRIX, &B);
    p->rows = p->A, p->A = B;
    if (p->da) MatSetDM(B, p->da);
    else p->components = block, p->width = 8, p->whole = p->whole && block == 1;
    p->what += ", BAIJ of blocks of " + std::to_string(block);
  } else if (kind == 1 && p->symmetric && p->components == 1) {
    MatSetOption(p->A, MAT_SYMMETRIC, PETSC_TRUE);
    MatConvert(p->A, MATSBAIJ, MAT_INITIAL_MATRIX, &B);
    p->rows = p->A, p->A = B;
    if (p->da) MatSetDM(B, p->da);
    p->what += ", SBAIJ";
  } else if (kind == 2 && p->components == 1) {
    const PetscInt dof = draw->of<PetscInt>({1, 2, 5, 20});
    on_host(p);
    MatCreateMAIJ(p->A, dof, &B);
    p->inner = p->A, p->A = B;
    if (B == p->inner) p->inner = nullptr, MatDestroy(&B); // with dof 1 the MAIJ matrix is the matrix itself
    else MatConvert(p->A, MATAIJ, MAT_INITIAL_MATRIX, &p->rows);
    p->what += ", MAIJ of " + std::to_string(dof);
  } else if (kind == 3 && p->components == 1) {
    const PetscInt           size = draw->between(1, 9);
    const std::uint64_t      seed = draw->next();
    std::vector<PetscScalar> s, t;
    // Kinds: no matrix (S only), a multiple of the identity, diagonal, dense.
    const PetscInt of_s = draw->below(4), of_t = draw->below(3);
    for (PetscInt k = 0; k < size * size; ++k) {
      const bool   on   = k % (size + 1) == 0;
      const double some = Draw::noise(seed, k, 0);
      if (of_s > 0)
        s.push_back(of_s == 1 ? (on ? 2 : 0) : of_s == 2 ? (on ? 2 + some : 0) : (on ? 12 : some));
      t.push_back(of_t == 0 ? (on ? 1 : 0) : of_t == 1 ? (on ? 1 + some / 2 : 0) : (on ? 9 : some));
    }
    on_host(p);
    MatCreateKAIJ(p->A, size, size, s.empty() ? nullptr : s.data(), t.data(), &B);
    MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY);
    p->inner = p->A, p->A = B;
    MatConvert(p->A, MATAIJ, MAT_INITIAL_MATRIX, &p->rows);
    const bool dense = size > 1 && (of_s == 3 || of_t == 2);
    p->sound         = false; // S adds to the diagonal with any sign
    if (dense) p->components = size, p->width = 8, p->whole = false;
    if (dense && size > 8) p->error = "couple with each other; blocks reach up to 8";
    p->what += ", KAIJ of " + std::to_string(size) + (dense ? ", dense" : "");
  } else if (kind == 4 && !p->da) {
    MatSetBlockSize(p->A, 1);
    MatConvert(p->A, MATDENSE, MAT_INITIAL_MATRIX, &B);
    p->rows = p->A, p->A = B, p->whole = false;
    p->what += ", DENSE";
  }
}

/// A matrix that Ribbon refuses.
inline void draw_refused(Draw *draw, PetscMPIInt ranks, Problem *p)
{
  const PetscInt m = draw->between(1, 5), rows = m * ranks;
  if (draw->one_in(2)) {
    MatCreateShell(PETSC_COMM_WORLD, m, m, rows, rows, nullptr, &p->A);
    p->error = "use an assembled AIJ matrix for Pmat";
    p->what  = "shell";
  } else {
    MatCreateAIJ(PETSC_COMM_WORLD, m, m + 1, PETSC_DETERMINE, PETSC_DETERMINE, 1, nullptr, 1, nullptr, &p->A);
    MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY);
    p->error =
      "PC line: the matrix is not square: " + std::to_string(rows) + " x " + std::to_string(rows + ranks);
    p->what = "not square";
  }
}

/// Draws one of all these kinds.
inline void draw_problem(Draw *draw, PetscMPIInt ranks, PetscMPIInt rank, Problem *p)
{
  const PetscInt kind = draw->below(20);
  p->values    = draw->of({Values::one_matrix, Values::few_matrices, Values::dominant, Values::dominant,
                           Values::indefinite, Values::hard, Values::singular});
  p->symmetric = p->values == Values::one_matrix || (p->values == Values::dominant && draw->one_in(2));
  if (kind < 8) draw_grid(draw, ranks, p, draw->one_in(2));
  else if (kind < 12) draw_batch(draw, ranks, rank, p, draw->one_in(3));
  else if (kind < 15) draw_numbered_grid(draw, ranks, rank, p);
  else if (kind < 19) draw_graph(draw, ranks, rank, p);
  else return draw_refused(draw, ranks, p);
  PetscInt all, begin, end;
  MatGetSize(p->A, &all, nullptr);
  MatGetOwnershipRange(p->A, &begin, &end);
  if (all > 0 && p->error.empty() && draw->one_in(12)) {
    const PetscInt    row = draw->below(all);
    const PetscScalar bad =
      draw->of({std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 0.0});
    if (row >= begin && row < end) MatSetValue(p->A, row, row, bad, INSERT_VALUES);
    MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY);
    p->sound  = false;
    p->spoilt = PetscRealPart(bad) != 0;
    p->what += ", " + std::to_string(PetscRealPart(bad)) + " in row " + std::to_string(row);
    return;
  }
  draw_type(draw, p);
}

} // namespace test
