# SPDX-License-Identifier: BSD-2-Clause
"""A batch of heat equations, one per line of a DMDA, each with its own diffusivity.

An implicit step goes from u + 2 r to u = (i + 1) (rows - i), whose second difference is -2. The exit status
is nonzero if the solution is wrong. The program has no code for Ribbon:

    mpiexec -n 2 /usr/bin/python3 heat.py -dll_append .../libribbon.so -ksp_type preonly -pc_type line
"""
import sys, petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
rows, lines, here, there = 63, 100, PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
da = PETSc.DMDA().create([rows, lines], stencil_width=1, stencil_type=PETSc.DMDA.StencilType.STAR)
A, b, x, u, ksp = da.createMatrix(), da.createGlobalVec(), da.createGlobalVec(), da.createGlobalVec(), PETSc.KSP().create()
old, new, (xs, ys) = da.getVecArray(b), da.getVecArray(u), da.getRanges()
for i, l in ((i, l) for l in range(*ys) for i in range(*xs)):
    r, here.index = l + 1, (i, l)  # diffusivity times step over the squared mesh width
    for k, there.index, a in ((i - 1, (i - 1, l), -r), (i, (i, l), 1 + 2 * r), (i + 1, (i + 1, l), -r)):
        if 0 <= k < rows: A.setValueStencil(here, there, a)
    old[i, l], new[i, l] = (i + 1) * (rows - i) + 2 * r, (i + 1) * (rows - i)
A.assemble()
ksp.setOperators(A)
ksp.setFromOptions()
ksp.solve(b, x)
error = (x - u).norm(PETSc.NormType.INFINITY) / u.norm(PETSc.NormType.INFINITY)
PETSc.Sys.Print(f"{lines} heat equations of {rows} rows: {ksp.getType()}, {ksp.pc.getType()}, largest error {error:.1e}")
sys.exit(not error < 1e-12)
