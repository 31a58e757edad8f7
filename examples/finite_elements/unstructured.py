# SPDX-License-Identifier: BSD-2-Clause
"""Linear elements on triangles: a wing with its boundary layer, and recirculating flows.

    diffusion      -div grad u = 1 around a wing, u = 0 on the wing and far away
    convection     -div grad u + P b . grad u = 0 around the wing, b a potential flow: u = 1 on the wing, 0 upstream
    recirculating  the same in the square (-1, 1)^2, b = (2y (1 - x^2), -2x (1 - y^2)): u = 1 on the right side, 0 on
                   the others
    vortex         the same in the unit disk, b = (-y, x): u = 1 on the right half of its boundary, 0 on the left

Cells at the wing are thin. They grow to the size of their sides, and triangles without a structure follow. The square
has such triangles, too. In the disk, points follow the stream lines. Streamline diffusion (SUPG) stabilizes convection;
P is `--peclet`. Options with one dash belong to PETSc. The program has no code for Ribbon:

    /usr/bin/python3 unstructured.py --problem diffusion -dll_append .../libribbon.so -pc_type line

With `--columns` the program passes the columns of thin cells as lines, and all other rows are points. It prints
iterations, reason, processor seconds of set-up and solve, and the relative residual. The exit status is nonzero if
the solver does not converge.
"""
import argparse
import sys

import petsc4py

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                 allow_abbrev=False)
parser.add_argument("--problem", choices=["diffusion", "convection", "recirculating", "vortex"], default="diffusion")
parser.add_argument("--size", type=int, default=128, help="points around the wing or along a side")
parser.add_argument("--first", type=float, default=1e-4, help="height of the first cells at the wing")
parser.add_argument("--peclet", type=float, default=1e4)
parser.add_argument("--columns", action="store_true", help="lines of the application: columns of the layer")
parser.add_argument("--save", help="file for points, triangles and solution")
args, petsc_options = parser.parse_known_args()
petsc4py.init([sys.argv[0], *petsc_options])

import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402
from timed_solve import timed_solve  # noqa: E402
from scipy.sparse import coo_matrix, diags  # noqa: E402
from scipy.sparse.csgraph import reverse_cuthill_mckee  # noqa: E402
from scipy.spatial import Delaunay  # noqa: E402

CENTER = -0.09 + 0.06j  # of the circle that the map z + 1/z makes a wing
RADIUS = abs(1.03 - CENTER)  # 1 - CENTER would give the wing a cusp
random = np.random.default_rng(1)


def ribbons(index):
    """Triangles between the rings of points index[0], index[1], ..."""
    inner, outer = index[:-1], index[1:]
    right, corner = np.roll(inner, -1, 1), np.roll(outer, -1, 1)
    return np.concatenate([np.stack([inner, outer, corner], -1), np.stack([inner, corner, right], -1)]).reshape(-1, 3)


def triangulated(points):
    return Delaunay(np.stack([points.real, points.imag], -1)).simplices


def wing(around):
    """Points in the plane of the circle, triangles, rows of the layer, rows far away. The map keeps angles, and so
    the shapes of small cells."""
    width, radii, height = 2 * np.pi / around, [1.0], args.first
    while height < width * radii[-1]:
        radii.append(radii[-1] + height)
        height *= 1.25
    layer = np.array(radii)[:, None] * np.exp(1j * width * np.arange(around))
    index = np.arange(layer.size).reshape(layer.shape)
    depth = np.arange(1, int(np.log(12 / radii[-1]) / (width * 0.9)) + 1)[:, None]
    log = np.log(radii[-1]) + 0.9 * width * depth + 1j * width * (np.arange(around) + depth / 2)
    shift = random.uniform(-0.2, 0.2, (2, *log.shape)) * width
    shift[:, -1] = 0
    circle = np.concatenate([layer.ravel(), np.exp(log + shift[0] + 1j * shift[1]).ravel()])
    outside = np.arange(index[-1, 0], len(circle))
    free = outside[triangulated(circle[outside])]
    free = free[~np.all(free < layer.size, axis=1)]
    far = np.arange(len(circle) - around, len(circle))
    return circle * RADIUS + CENTER, np.concatenate([ribbons(index), free]), index, far


def square(side):
    points = np.linspace(-1, 1, side)[:, None] + 1j * np.linspace(-1, 1, side)
    shift = random.uniform(-0.25, 0.25, (2, side, side)) * 2 / (side - 1)
    shift[:, [0, -1]] = 0
    shift[:, :, [0, -1]] = 0
    points = (points + shift[0] + 1j * shift[1]).ravel()
    return points, triangulated(points)


def disk(rings):
    layer = (np.arange(rings)[:, None] + 1) / rings * np.exp(2j * np.pi / rings * np.arange(rings))
    index = np.arange(layer.size).reshape(layer.shape)
    fan = np.stack([np.full(rings, layer.size), index[0], np.roll(index[0], -1)], -1)
    return np.append(layer.ravel(), 0), np.concatenate([ribbons(index), fan])


def renumbered(points, cells):
    """By reverse Cuthill-McKee: no numbering of a grid."""
    graph = coo_matrix((np.ones(cells.size), (cells.ravel(), np.roll(cells, 1, 1).ravel())), (len(points),) * 2)
    order = reverse_cuthill_mckee(graph.tocsr())
    return points[order], np.argsort(order)[cells]


eps, load, columns_of_layer = 1 / args.peclet, 0.0, None
if args.problem in ("recirculating", "vortex"):
    z, cells = renumbered(*(square if args.problem == "recirculating" else disk)(args.size))
    if args.problem == "recirculating":
        held = np.flatnonzero(np.maximum(abs(z.real), abs(z.imag)) == 1)
        b, hot = 2 * z.imag * (1 - z.real**2) - 2j * z.real * (1 - z.imag**2), z[held].real == 1
    else:
        held = np.flatnonzero(abs(z) > 1 - 1e-9)
        b, hot = 1j * z, z[held].real > 0
else:
    circle, cells, layer, far = wing(args.size)
    z, columns_of_layer = circle + 1 / circle, layer.T
    if args.problem == "diffusion":
        eps, b, load = 1.0, 0 * z, 1.0
    else:  # without lift
        b = np.conj((1 - RADIUS**2 / (circle - CENTER)**2) / (1 - 1 / circle**2))
        far = far[z[far].real < 0]
    held = np.concatenate([layer[0], far])
    hot = (np.arange(len(held)) < args.size) & (args.problem == "convection")
n = len(z)

# gradients of the three shape functions of each triangle, as complex numbers
corner = z[cells]
edge = np.roll(corner, -2, 1) - np.roll(corner, -1, 1)
area = 0.5 * np.imag(np.conj(corner[:, 1] - corner[:, 0]) * (corner[:, 2] - corner[:, 0]))
edge[area < 0] *= -1
area = abs(area)
gradient = 1j * edge / (2 * area[:, None])
wind = b[cells].mean(1)
along = np.real(np.conj(wind)[:, None] * gradient)  # b . grad of each shape function
speed = np.abs(wind)
length = 2 * speed / np.maximum(np.abs(along).sum(1), 1e-300)
peclet = speed * length / (2 * eps)
tau = np.where(peclet > 1, length / (2 * np.maximum(speed, 1e-300)) * (1 - 1 / np.maximum(peclet, 1)), 0)
stiff = area[:, None, None] * (eps * np.real(np.conj(gradient)[:, :, None] * gradient[:, None, :])
                               + along[:, None, :] / 3 + tau[:, None, None] * along[:, :, None] * along[:, None, :])
rows, columns = np.repeat(cells, 3, 1).ravel(), np.tile(cells, (1, 3)).ravel()
A = coo_matrix((stiff.ravel(), (rows, columns)), (n, n)).tocsr()
right = np.zeros(n)
np.add.at(right, cells, load * area[:, None] * (1 / 3 + tau[:, None] * along))
u = np.zeros(n)
u[held] = hot
free = np.ones(n)
free[held] = 0
right = free * (right - A @ u) + u
scale = A.diagonal()
A = (diags(free) @ A @ diags(free) + diags((1 - free) * scale)).tocsr()
right[held] = (scale * u)[held]
A.sort_indices()

layout = PETSc.Vec().createMPI(n)
begin, end = layout.getOwnershipRange()
own = A[begin:end]
M = PETSc.Mat().createAIJ([(end - begin, n), (end - begin, n)], csr=(own.indptr, own.indices, own.data))
M.setOption(PETSc.Mat.Option.SPD, args.problem == "diffusion")
if args.columns:
    if columns_of_layer is None:
        sys.exit("--columns: there is no layer")
    lines = [line[(begin <= line) & (line < end)] for line in columns_of_layer]
    for name, values in (("rows", np.concatenate(lines)), ("offsets", np.cumsum([0, *map(len, lines)]))):
        M.compose("PCLine_" + name, PETSc.IS().createGeneral(values.astype(PETSc.IntType), comm=M.comm))
rhs, x = M.createVecs()
rhs.setArray(right[begin:end])
ksp = PETSc.KSP().create()
ksp.setOperators(M)
ksp.setType("cg" if args.problem == "diffusion" else "gmres")
ksp.setTolerances(rtol=1e-8)
ksp.setGMRESRestart(100)
ksp.setFromOptions()
status = timed_solve(args.problem, ksp, rhs, x)
if args.save:
    np.savez(args.save, points=z, triangles=cells, solution=x.array)
sys.exit(status)
