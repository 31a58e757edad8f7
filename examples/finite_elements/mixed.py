# SPDX-License-Identifier: BSD-2-Clause
"""Edge, face and Taylor-Hood elements in thin cells, solved with dolfinx 0.5.

    curl    (curl u, curl v) + (u, v) = (f, v), Nedelec's edge elements
    div     (div u, div v) + (u, v) = (f, v), Raviart-Thomas face elements
    stokes  Stokes' equations, Taylor-Hood elements: PCFIELDSPLIT with a Schur complement, preconditioned by the
            pressure mass matrix

The domain is a box of thickness 0.01, or with `--square` a rectangle of 1 x 0.01; tangential, normal and all components
are zero on its whole boundary. Options with one dash belong to PETSc. The program has no code for Ribbon:

    /usr/bin/python3 mixed.py --problem stokes -dll_append .../libribbon.so -fieldsplit_u_pc_type line

It prints iterations, reason, processor seconds of set-up and solve, and the relative residual. The exit status is
nonzero if the solver does not converge.
"""
import argparse
import logging
import sys

import petsc4py

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                 allow_abbrev=False)
parser.add_argument("--problem", choices=["curl", "div", "stokes"], default="stokes")
parser.add_argument("--cells", help="in each direction; default: 12,12,12, of the rectangle 32,32")
parser.add_argument("--square", action="store_true", help="two dimensions")
parser.add_argument("--simplices", action="store_true", help="triangles or tetrahedra")
parser.add_argument("--thickness", type=float, default=0.01)
args, petsc_options = parser.parse_known_args()
petsc4py.init([sys.argv[0], *petsc_options])

import numpy as np  # noqa: E402
import ufl  # noqa: E402
from dolfinx import fem, mesh  # noqa: E402
from dolfinx.fem import petsc as assembly  # noqa: E402
from mpi4py import MPI  # noqa: E402
from petsc4py import PETSc  # noqa: E402
from timed_solve import timed_solve  # noqa: E402

logging.disable(logging.INFO)  # names of compiled forms
if args.square:
    cells = [int(n) for n in (args.cells or "32,32").split(",")]
    cell = mesh.CellType.triangle if args.simplices else mesh.CellType.quadrilateral
    domain = mesh.create_rectangle(MPI.COMM_WORLD, [[0, 0], [1, args.thickness]], cells, cell)
else:
    cells = [int(n) for n in (args.cells or "12,12,12").split(",")]
    cell = mesh.CellType.tetrahedron if args.simplices else mesh.CellType.hexahedron
    domain = mesh.create_box(MPI.COMM_WORLD, [[0, 0, 0], [1, 1, args.thickness]], cells, cell)
dimension = domain.topology.dim
boundary = mesh.locate_entities_boundary(domain, dimension - 1, lambda x: np.full(x.shape[1], True))
place = ufl.SpatialCoordinate(domain)
force = ufl.as_vector([1 + ufl.sin(5 * place[(k + 1) % dimension]) for k in range(dimension)])


def zero_on_boundary(space):
    zero = fem.Function(space)
    return fem.dirichletbc(zero, fem.locate_dofs_topological(space, dimension - 1, boundary))


if args.problem == "stokes":
    velocities = fem.VectorFunctionSpace(domain, ("Lagrange", 2))
    pressures = fem.FunctionSpace(domain, ("Lagrange", 1))
    u, p = ufl.TrialFunction(velocities), ufl.TrialFunction(pressures)
    v, q = ufl.TestFunction(velocities), ufl.TestFunction(pressures)
    bcs = [zero_on_boundary(velocities)]
    forms = fem.form([[ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, -p * ufl.div(v) * ufl.dx],
                      [-q * ufl.div(u) * ufl.dx, None]])
    right = fem.form(ufl.inner(force, v) * ufl.dx)
    A = assembly.assemble_matrix_nest(forms, bcs=bcs)
    A.assemble()
    A.getNestSubMatrix(0, 0).setOption(PETSc.Mat.Option.SPD, True)
    mass = assembly.assemble_matrix(fem.form(p * q * ufl.dx))
    mass.assemble()
    b, constant = A.createVecs()
    velocity_rows, pressure_rows = A.getNestISs()[0]
    part = assembly.assemble_vector(right)
    part.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    assembly.set_bc(part, bcs)
    b.setValues(velocity_rows.getIndices(), part.array)
    b.assemble()
    constant.setValues(pressure_rows.getIndices(), np.ones(pressure_rows.getLocalSize()))
    constant.assemble()
    constant.normalize()
    A.setNullSpace(PETSc.NullSpace().create(vectors=[constant]))
else:
    family = {"curl": ("N1curl", "NCE", "RTCE"), "div": ("RT", "NCF", "RTCF")}[args.problem]
    family = family[0] if args.simplices else family[2 if dimension == 2 else 1]
    space = fem.FunctionSpace(domain, (family, 1))
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    along = ufl.curl if args.problem == "curl" else ufl.div
    bcs = [zero_on_boundary(space)]
    A = assembly.assemble_matrix(fem.form((ufl.inner(along(u), along(v)) + ufl.inner(u, v)) * ufl.dx), bcs)
    A.assemble()
    A.setOption(PETSc.Mat.Option.SPD, True)
    b = assembly.assemble_vector(fem.form(ufl.inner(force, v) * ufl.dx))
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    assembly.set_bc(b, bcs)

ksp = PETSc.KSP().create(domain.comm)
ksp.setOperators(A)
ksp.setTolerances(rtol=1e-8)
ksp.setType("cg")
if args.problem == "stokes":
    ksp.setType("minres")
    ksp.pc.setType("fieldsplit")
    ksp.pc.setFieldSplitType(PETSc.PC.CompositeType.SCHUR)
    ksp.pc.setFieldSplitSchurFactType(PETSc.PC.SchurFactType.DIAG)
    ksp.pc.setFieldSplitSchurPreType(PETSc.PC.SchurPreType.USER, mass)
    ksp.pc.setFieldSplitIS(("u", velocity_rows), ("p", pressure_rows))
    options = PETSc.Options()
    for name, value in (("pc_fieldsplit_schur_scale", 1), ("fieldsplit_u_ksp_type", "preonly"),
                        ("fieldsplit_p_ksp_type", "preonly"), ("fieldsplit_p_pc_type", "jacobi")):
        if not options.hasName(name):
            options[name] = value
ksp.setFromOptions()
x = A.createVecRight()
sys.exit(timed_solve(args.problem, ksp, b, x, split=args.problem == "stokes"))
