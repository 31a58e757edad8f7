# SPDX-License-Identifier: BSD-2-Clause
"""Derivatives along x and y of a periodic function by Mat compact.

The function is exp(sin x) exp(sin y) on 32 x 32 points. The exit status is nonzero if a derivative is wrong.
Schemes come from the command line:

    mpiexec -n 2 /usr/bin/python3 compact.py -dll_append .../libribbon.so -dx_mat_compact_order 10
"""
import sys, petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
import numpy as np
n, turn = 32, 2 * np.pi
da = PETSc.DMDA().create([n, n], boundary_type=("periodic", "periodic"), stencil_width=1)
da.setUniformCoordinates(0, turn, 0, turn)
x, y = (turn / n * np.arange(*r) for r in da.getRanges())
f, result = da.createGlobalVec(), da.createGlobalVec()
da.getVecArray(f)[:, :] = np.exp(np.sin(x))[:, None] * np.exp(np.sin(y))[None, :]
options, errors = PETSc.Options(), []
for name, cosine in ("x", np.cos(x)[:, None]), ("y", np.cos(y)[None, :]):
    D = PETSc.Mat().create(da.comm)
    D.setDM(da)
    D.setType("compact")
    D.setOptionsPrefix(f"d{name}_")
    options[f"d{name}_mat_compact_direction"] = name
    D.setFromOptions()
    D.setUp()
    D.mult(f, result)
    exact = f.duplicate()
    da.getVecArray(exact)[:, :] = cosine * da.getVecArray(f)[:, :]
    errors.append((result - exact).norm(PETSc.NormType.INFINITY))
    PETSc.Sys.Print(f"derivative along {name}: largest error {errors[-1]:.1e}")
sys.exit(not max(errors) < 1e-3)
