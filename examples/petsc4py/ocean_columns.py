# SPDX-License-Identifier: BSD-2-Clause
"""Vertical diffusion in an ocean with a bottom and islands: the program tells PC line its columns.

An implicit step of u_t = (k_h (u_xx + u_yy) + k_v u_zz) on cells of an ocean. Rows are numbered level by level, so
that no column has consecutive rows. Columns have 0 (an island) to `levels` rows. PC line gets them as two index sets
that are composed with the matrix. Each rank owns a strip of columns. With `--find` PC line finds lines itself.

    mpiexec -n 2 /usr/bin/python3 ocean_columns.py -dll_append .../libribbon.so -ksp_type cg -pc_type line

The exit status is nonzero if the solver does not converge.
"""
import sys

import petsc4py

find = "--find" in sys.argv
petsc4py.init([a for a in sys.argv if a != "--find"])

import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

NX, NY, LEVELS = 30, 20, 25
HORIZONTAL, VERTICAL = 0.05, 50.0  # diffusivity times step over the squared mesh width
comm = PETSc.COMM_WORLD
x, y = np.meshgrid(np.arange(NX), np.arange(NY), indexing="ij")
depth = np.rint(LEVELS * (0.55 + 0.45 * np.sin(0.4 * x) * np.cos(0.5 * y))).astype(int)  # levels of a column
depth[(x - 12) ** 2 + (y - 9) ** 2 < 10] = 0

# Rows of each rank, level by level in its strip of columns.
row = np.full((NX, NY, LEVELS), -1, dtype=PETSc.IntType)
sizes, count = [], 0
for rank in range(comm.size):
    strip = range(rank * NX // comm.size, (rank + 1) * NX // comm.size)
    cells = [(i, j, k) for k in range(LEVELS) for i in strip for j in range(NY) if k < depth[i, j]]
    for n, cell in enumerate(cells):
        row[cell] = count + n
    if rank == comm.rank:
        own, columns = cells, [(i, j) for i in strip for j in range(NY)]
    sizes.append(len(cells))
    count += len(cells)

A = PETSc.Mat().createAIJ(((len(own), count), (len(own), count)), nnz=7, comm=comm)
for i, j, k in own:
    diagonal = 1.0
    for di, dj, dk, g in ((1, 0, 0, HORIZONTAL), (-1, 0, 0, HORIZONTAL), (0, 1, 0, HORIZONTAL), (0, -1, 0, HORIZONTAL),
                          (0, 0, 1, VERTICAL), (0, 0, -1, VERTICAL)):
        other = (i + di, j + dj, k + dk)
        if all(0 <= o < n for o, n in zip(other, row.shape)) and row[other] >= 0:
            diagonal += g
            A.setValue(row[i, j, k], row[other], -g)
    A.setValue(row[i, j, k], row[i, j, k], diagonal)
A.assemble()

# The rows of this rank's columns, one column after another, and where each column begins.
if not find:
    rows = [row[i, j, k] for i, j in columns for k in range(depth[i, j])]
    offsets = np.cumsum([0] + [depth[c] for c in columns], dtype=PETSc.IntType)
    A.compose("PCLine_rows", PETSc.IS().createGeneral(rows, comm=comm))
    A.compose("PCLine_offsets", PETSc.IS().createGeneral(offsets, comm=comm))

ksp = PETSc.KSP().create(comm)
ksp.setOperators(A)
ksp.setTolerances(rtol=1e-10)
ksp.setFromOptions()
solution, b = A.createVecs()
b.setArray(np.sin(np.arange(*b.getOwnershipRange())))
ksp.solve(b, solution)
PETSc.Sys.Print(f"{count} rows in {np.count_nonzero(depth)} columns: {ksp.getType()}, {ksp.pc.getType()}, "
                f"{ksp.its} iterations, residual {(b - A * solution).norm() / b.norm():.1e}")
sys.exit(ksp.reason <= 0)
