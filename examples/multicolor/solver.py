# SPDX-License-Identifier: BSD-2-Clause
"""Matrices, sweeps and solvers of theory.py by petsc4py. PC multicolor needs options only."""
import tempfile

import numpy as np
from petsc4py import PETSc


def grid(points, dimensions, comm):
    """A DMDA of points^dimensions points whose ranks own slabs, so that its numbering is the natural one."""
    return PETSc.DMDA().create([points] * dimensions, proc_sizes=[1] * (dimensions - 1) + [comm.size],
                               stencil_width=1, stencil_type=PETSc.DMDA.StencilType.STAR, comm=comm)


def matrix(A, da=None):
    """A SciPy matrix as one of PETSc: on the ranks of a DMDA, or on one."""
    comm = da.comm if da else PETSc.COMM_SELF
    begin, end = da.createGlobalVec().getOwnershipRange() if da else (0, A.shape[0])
    here = A.tocsr()[begin:end]
    here.sort_indices()
    sizes = (end - begin, A.shape[0])
    return PETSc.Mat().createAIJ((sizes, sizes), csr=(here.indptr, here.indices, here.data), comm=comm)


def vector(M, values):
    v = M.createVecRight()
    begin, end = v.getOwnershipRange()
    v.array = values[begin:end]
    return v


def solver(A, ksp_type, pc_type, options):
    """A KSP with these options, and those of the command line with the prefix theory_."""
    ksp = PETSc.KSP().create(A.comm)
    database = PETSc.Options("theory_")
    options = {"ksp_type": ksp_type, "pc_type": pc_type, **options}
    before = {name: database.getString(name) for name in options if database.hasName(name)}
    for name, value in options.items():
        database[name] = value
    ksp.setOptionsPrefix("theory_")
    ksp.setOperators(A)
    ksp.setFromOptions()
    for name in options:
        database.delValue(name)
    for name, value in before.items():
        database[name] = value
    return ksp


class Sweep:
    """Sweeps forward that continue from a vector. The rows are those of a DMDA, or of one rank."""

    def __init__(self, A, pc_type, da=None, **options):
        self.A = matrix(A, da)
        options[f"pc_{pc_type}_forward"] = ""
        options["ksp_norm_type"] = "none"
        options["ksp_max_it"] = 1
        self.ksp = solver(self.A, "richardson", pc_type, options)
        if da:
            self.ksp.setDM(da)
            self.ksp.setDMActive(False)  # the matrix is that of the program
        self.ksp.setInitialGuessNonzero(True)
        self.ksp.setUp()
        self.zero = vector(self.A, np.zeros(A.shape[0]))

    def __call__(self, x, b=None):
        self.ksp.solve(self.zero if b is None else b, x)


def krylov(A, b, pc_type, **options):
    """CG for a symmetric positive definite matrix. Returns the solver and the solution."""
    M = matrix(A)
    M.setOption(PETSc.Mat.Option.SPD, True)
    ksp = solver(M, "cg", pc_type, {"ksp_rtol": 1e-8, "ksp_max_it": 10000, **options})
    ksp.setComputeEigenvalues(True)
    x = vector(M, np.zeros_like(b))
    ksp.solve(vector(M, b), x)
    if ksp.reason <= 0:
        raise RuntimeError(f"CG with PC {pc_type} does not converge: reason {ksp.reason}")
    return ksp, np.real(x.array)


def colors_of(pc):
    """Number and source of the colours, as PCView() prints them, on one rank."""
    with tempfile.NamedTemporaryFile("r") as file:
        viewer = PETSc.Viewer().createASCII(file.name, comm=pc.comm)
        pc.view(viewer)
        viewer.destroy()
        line = next(line for line in file if "colours:" in line)
    number, how = line.split(":")[1].split(" by ")
    return int(number), how.strip()
