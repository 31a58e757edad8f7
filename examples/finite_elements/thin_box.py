# SPDX-License-Identifier: BSD-2-Clause
"""Finite elements with strong couplings in one direction, solved with dolfinx 0.5.

    poisson      -div grad u = 1 in a box of thickness 0.01, hexahedra
    elasticity   the same box under its weight, Lame parameters 1
    anisotropic  -(1e-3 u_xx + u_yy) = 1 in the unit square, quadrilaterals; u = 0 at x = 0 and at y = 0

The solution is zero on the whole boundary of the box, or with `--held sides` on its four narrow sides. `--arc` bends
the box to a part of a cylinder, and `--thickness` sets another thickness. Elements
have degree 1, or `--degree`; `--simplices` divides the cells into triangles or tetrahedra. Options with one dash
belong to PETSc. The program has no code for Ribbon:

    /usr/bin/python3 thin_box.py --problem poisson -dll_append .../libribbon.so -pc_type line

It prints iterations, reason, processor seconds of set-up and solve, and the relative residual. The exit status is
nonzero if the solver does not converge.
"""
import argparse
import logging
import sys

import petsc4py

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                 allow_abbrev=False)
parser.add_argument("--problem", choices=["poisson", "elasticity", "anisotropic"], default="poisson")
parser.add_argument("--cells", help="in each direction; default: 32,32,32, of the square 64,64")
parser.add_argument("--held", choices=["boundary", "sides"], default="boundary", help="where u = 0, of the box")
parser.add_argument("--degree", type=int, default=1, help="of the elements")
parser.add_argument("--simplices", action="store_true", help="triangles or tetrahedra")
parser.add_argument("--arc", type=float, default=0, help="angle of the box, bent to a part of a cylinder")
parser.add_argument("--thickness", type=float, default=0.01, help="of the box")
args, petsc_options = parser.parse_known_args()
# dolfinx initializes PETSc without options when it is imported: options have to be passed before.
petsc4py.init([sys.argv[0], *petsc_options])

import numpy as np  # noqa: E402
import ufl  # noqa: E402
from dolfinx import fem, mesh  # noqa: E402
from dolfinx.fem.petsc import apply_lifting, assemble_matrix, assemble_vector, set_bc  # noqa: E402
from mpi4py import MPI  # noqa: E402
from petsc4py import PETSc  # noqa: E402
from timed_solve import timed_solve  # noqa: E402

logging.disable(logging.INFO)  # names of compiled forms
square, elastic = args.problem == "anisotropic", args.problem == "elasticity"


def rigid_modes(space, like):
    """Three translations and three rotations, which GAMG keeps on its coarse levels."""
    points = space.tabulate_dof_coordinates()
    modes = []
    for k in range(6):
        mode = like.duplicate()
        values = mode.array.reshape(-1, 3)
        x = points[:len(values)]
        if k < 3:
            values[:, k] = 1
        else:
            i, j = (k + 1) % 3, (k + 2) % 3
            values[:, i], values[:, j] = -x[:, j], x[:, i]
        for other in modes:
            mode.axpy(-mode.dot(other), other)
        mode.normalize()
        modes.append(mode)
    return PETSc.NullSpace().create(vectors=modes)


cells = [int(n) for n in (args.cells or ("64,64" if square else "32,32,32")).split(",")]
if square:
    cell = mesh.CellType.triangle if args.simplices else mesh.CellType.quadrilateral
    domain = mesh.create_rectangle(MPI.COMM_WORLD, [[0, 0], [1, 1]], cells, cell)
else:
    cell = mesh.CellType.tetrahedron if args.simplices else mesh.CellType.hexahedron
    domain = mesh.create_box(MPI.COMM_WORLD, [[0, 0, 0], [1, 1, args.thickness]], cells, cell)


def held(x):
    faces = np.isclose(x[0], 0) | np.isclose(x[1], 0)
    if not square:
        faces |= np.isclose(x[0], 1) | np.isclose(x[1], 1)
        if args.held == "boundary":
            faces |= np.isclose(x[2], 0) | np.isclose(x[2], args.thickness)
    return faces


dimension = domain.topology.dim - 1
facets = mesh.locate_entities_boundary(domain, dimension, held)
if args.arc:
    x = domain.geometry.x
    angle, radius = args.arc * x[:, 0], 1 / args.arc + x[:, 2]
    x[:, 0], x[:, 2] = radius * np.sin(angle), radius * np.cos(angle)
space = (fem.VectorFunctionSpace if elastic else fem.FunctionSpace)(domain, ("Lagrange", args.degree))
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
if elastic:
    strain, test = ufl.sym(ufl.grad(u)), ufl.sym(ufl.grad(v))
    a = ufl.inner(2 * strain + ufl.tr(strain) * ufl.Identity(3), test) * ufl.dx
    load, zero = (0.0, 0.0, -1.0), np.zeros(3)
else:
    tensor = fem.Constant(domain, np.diag([1e-3, 1.0]) if square else np.eye(3))
    a = ufl.inner(tensor * ufl.grad(u), ufl.grad(v)) * ufl.dx
    load, zero = 1.0, PETSc.ScalarType(0)
right = ufl.inner(fem.Constant(domain, PETSc.ScalarType(load)), v) * ufl.dx


bc = fem.dirichletbc(zero, fem.locate_dofs_topological(space, dimension, facets), space)
A = assemble_matrix(fem.form(a), [bc])
A.assemble()
A.setOption(PETSc.Mat.Option.SPD, True)
b = assemble_vector(fem.form(right))
apply_lifting(b, [fem.form(a)], [[bc]])
b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
set_bc(b, [bc])
if elastic:
    A.setNearNullSpace(rigid_modes(space, b))

ksp = PETSc.KSP().create(domain.comm)
ksp.setOperators(A)
ksp.setType("cg")
ksp.setTolerances(rtol=1e-8)
ksp.setFromOptions()
x = b.duplicate()
sys.exit(timed_solve(args.problem, ksp, b, x))
