# SPDX-License-Identifier: BSD-2-Clause
"""Compares PC multicolor with the theory of Gauss-Seidel and SOR sweeps.

    poisson    spectral radius of a sweep over red and black points, and sweeps to reduce an error
    smoothing  smoothing factors on periodic grids, next to sweeps in the order of the rows by PETSc's PCSOR
    cycle      eight periodic equations in one dimension
    mesh       linear finite elements: colours, condition numbers, iterations of CG
    cache      bytes that the sweep over red points uses of the cache lines that it loads

On several ranks only the first part runs. A sweep with an exact cut has the radius of one rank, and a sweep
with a local cut has a larger one. Options with one dash belong to PETSc:

    /usr/bin/python3 theory.py -dll_append .../libribbon.so

The exit status is nonzero if a measured value differs from theory.
"""
import argparse
import csv
import itertools
import sys

import petsc4py

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                 allow_abbrev=False)
parser.add_argument("--quick", action="store_true", help="small grids and meshes")
parser.add_argument("--csv", metavar="FILE", help="writes the table")
parser.add_argument("--picture", metavar="FILE", help="draws colours and cache lines")
args, petsc_options = parser.parse_known_args()
petsc4py.init([sys.argv[0], *petsc_options])
sys.dont_write_bytecode = True

import numpy as np  # noqa: E402
import scipy.sparse as sparse  # noqa: E402
import scipy.sparse.linalg  # noqa: E402
from petsc4py import PETSc  # noqa: E402

import problems  # noqa: E402
from solver import Sweep, colors_of, grid, krylov, vector  # noqa: E402


class Table:
    """Rows of theory and measurement. Theory is a value, an interval, or None."""

    columns = ("part", "case", "quantity", "theory", "measured", "difference", "allowed")

    def __init__(self):
        self.rows, self.part, self.wrong = [], "", 0

    def add(self, case, quantity, theory, measured, allowed=0.0):
        low, high = theory if isinstance(theory, tuple) else (theory, theory)
        difference = None if theory is None else max(low - measured, measured - high, 0.0)
        wrong = difference is not None and not difference <= allowed
        self.wrong += wrong
        between = f"{self.text(low)} to {self.text(high)}" if low != high else self.text(low)
        self.rows.append((self.part, case, quantity, between, measured, difference, allowed))
        note = "" if difference is None else f"{difference:.0e}"
        note += f" > {allowed:.0e}: WRONG" if wrong else ""
        PETSc.Sys.Print(f"{self.part:10}{case:38}{quantity:34}{between:>18}{self.text(measured):>14}  {note}")

    @staticmethod
    def text(value):
        return "" if value is None else str(value) if isinstance(value, (int, np.integer)) else f"{value:.8g}"

    def write(self, name):
        with open(name, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows(self.rows)


def radius(sweep, rows, sweeps, project=lambda e: e):
    """Power iteration: the reduction of an error by the last of many sweeps."""
    e = vector(sweep.A, np.random.default_rng(1).standard_normal(rows))
    for _ in range(sweeps):
        e.normalize()
        sweep(e)
        project(e)
    return e.norm()


def largest_eigenvalue(sweep, rows):
    """By all columns of the error propagation."""
    columns = []
    for unit in np.eye(rows):
        e = vector(sweep.A, unit)
        sweep(e)
        columns.append(e.array.copy())
    return np.abs(np.linalg.eigvals(np.array(columns).T)).max()


def sweeps_to(sweep, start, factor):
    e, done = vector(sweep.A, start), 0
    first = e.norm()
    while e.norm() > factor * first:
        sweep(e)
        done += 1
    return done


def predicted_sweeps(mu, omega, factor):
    """The same for the mode of the largest eigenvalue mu of Jacobi's method: red and black amplitudes."""
    red = black = 1.0
    done = 0
    while np.hypot(red, black) > factor * np.sqrt(2):
        red = (1 - omega) * red + omega * mu * black
        black = (1 - omega) * black + omega * mu * red
        done += 1
    return done


def add_poisson(table):
    table.part = "poisson"
    alone = PETSc.COMM_WORLD.size == 1
    sizes = (7, 15) if args.quick or not alone else (7, 15, 31)
    for dimensions, n in itertools.product((1, 2, 3), sizes):
        h = 1 / (n + 1)
        mu = np.cos(np.pi * h)
        next_mu = ((dimensions - 1) * mu + np.cos(2 * np.pi * h)) / dimensions
        # a sweep reduces the error of the radius by (next_mu / mu)^4: its eigenvectors are orthogonal
        enough = int(np.log(1e-14) / (4 * np.log(next_mu / mu)))
        A = problems.poisson(n, dimensions)
        case = f"{dimensions}D, {n} points a direction"
        da = grid(n, dimensions, PETSc.COMM_WORLD)
        exact = Sweep(A, "multicolor", da, pc_multicolor_cut="exact")
        measured = radius(exact, A.shape[0], enough)
        table.add(case, "radius, omega 1", mu**2, measured, 1e-10)
        if not alone:
            one = radius(Sweep(A, "multicolor", grid(n, dimensions, PETSc.COMM_SELF)), A.shape[0], enough)
            table.add(case, "radius next to one rank", one, measured, 1e-12)
            local = radius(Sweep(A, "multicolor", da, pc_multicolor_cut="local"), A.shape[0], enough)
            table.add(case, "radius, local cut", (mu**2 + 1e-6, 1.0), local)
        best = 2 / (1 + np.sin(np.pi * h))
        sor = Sweep(A, "multicolor", da, pc_multicolor_cut="exact", pc_multicolor_omega=best)
        if alone and A.shape[0] <= 1000:
            # a double eigenvalue without two eigenvectors: the square root of a rounding error
            table.add(case, f"radius, omega {best:.4f}", best - 1, largest_eigenvalue(sor, A.shape[0]), 1e-5)
        start = problems.lowest_mode(n, dimensions)
        for omega, sweep in ((1.0, exact), (best, sor)):
            table.add(case, f"sweeps to 1e-6, omega {omega:.4f}", predicted_sweeps(mu, omega, 1e-6),
                      sweeps_to(sweep, start, 1e-6), 1)


def keep_high_frequencies(n, dimensions):
    """The projection that removes all frequencies that a grid of twice the width has."""
    low = np.abs(np.fft.fftfreq(n)) < 0.25
    mask = low
    for _ in range(dimensions - 1):
        mask = np.multiply.outer(mask, low)

    def project(e):
        modes = np.fft.fftn(np.real(e.array).reshape([n] * dimensions))
        e.array = np.fft.ifftn(np.where(mask, 0, modes)).real.ravel()

    return project


def add_smoothing(table):
    table.part = "smoothing"
    for dimensions, n, theory in ((1, 24, 1 / 8), (2, 16, 1 / 4), (3, 12, 4 / 9)):
        sweep = Sweep(problems.poisson(n, dimensions, periodic=True), "multicolor")
        factor = radius(sweep, n**dimensions, 200, keep_high_frequencies(n, dimensions))
        table.add(f"{dimensions}D periodic, red and black", "smoothing factor", theory, factor, 1e-10)
    # The order of the rows has no period: modes are measured in the middle, where the sides do not matter.
    n, frequencies = 65, np.arange(-8, 8) * np.pi / 8
    sweep = Sweep(problems.poisson(n, 2), "sor")
    y, x = np.mgrid[:n, :n] - n // 2
    modes = [(a, b) for a in frequencies for b in frequencies if max(abs(a), abs(b)) >= np.pi / 2]
    factors, differences = [], []
    for a, b in modes + [(np.pi / 2, np.arccos(0.8))]:
        middle = 0
        for part, unit in ((np.cos, 1), (np.sin, 1j)):
            e = vector(sweep.A, part(a * x + b * y).ravel())
            sweep(e)
            middle += unit * e.array[n * n // 2]
        symbol = (np.exp(1j * a) + np.exp(1j * b)) / (4 - np.exp(-1j * a) - np.exp(-1j * b))
        factors.append(abs(middle))
        differences.append(abs(middle - symbol))
    table.add("2D, order of the rows (PCSOR)", "smoothing factor", 1 / 2, max(factors), 1e-8)
    table.add("2D, order of the rows (PCSOR)", "largest distance from symbol", 0.0, max(differences), 1e-8)


def cycle_by_loops(p, rhs):
    """A sweep as in J. Cohen, Solving PDEs with CUDA: the even equations, then the odd ones."""
    n = len(p)
    for start in (0, 1):
        for j in range(start, n, 2):
            p[j] = (p[j - 1] + p[(j + 1) % n] - rhs[j]) / 2


def add_cycle(table):
    table.part = "cycle"
    A = -problems.second_difference(8, periodic=True)
    sweep = Sweep(A, "multicolor")
    j = np.arange(8)
    table.add("8 periodic equations", "colours", 2, colors_of(sweep.ksp.pc)[0])
    table.add("7 periodic equations", "colours", 3,
              colors_of(Sweep(-problems.second_difference(7, periodic=True), "multicolor").ksp.pc)[0])
    waves = ("wave of 8 points", np.sin(2 * np.pi * j / 8), None), ("wave of 2 points", (-1.0)**j, 1)
    for name, rhs, theory in waves:
        p, b, loops, residuals = vector(sweep.A, np.zeros(8)), vector(sweep.A, rhs), np.zeros(8), []
        while not residuals or (residuals[-1] > 1e-6 * np.linalg.norm(rhs) and len(residuals) < 100):
            sweep(p, b)
            cycle_by_loops(loops, rhs)
            residuals.append(np.linalg.norm(A @ np.real(p.array) - rhs))
        table.add(f"8 equations, {name}", "difference from loops", 0.0, np.abs(p.array - loops).max(), 1e-14)
        if theory is None:
            table.add(f"8 equations, {name}", "reduction by a sweep", np.cos(2 * np.pi / 8)**2,
                      residuals[-1] / residuals[-2], 1e-8)
            theory = 1 + int(np.ceil(np.log2(residuals[0] / (1e-6 * np.linalg.norm(rhs)))))
        table.add(f"8 equations, {name}", "sweeps to 1e-6", theory, len(residuals))


def add_colors(table, case, A, lower):
    """Colours by both methods. First fit is redone here: a sweep in its order has to give the same."""
    colors = problems.first_fit(A)
    degree = np.diff(A.indptr).max() - 1
    pc = Sweep(A, "multicolor", pc_multicolor_coloring="greedy").ksp.pc
    table.add(case, "colours, greedy", int(colors.max()) + 1, colors_of(pc)[0])
    order = np.argsort(colors, kind="stable")
    b = np.random.default_rng(2).standard_normal(A.shape[0])
    expected = np.empty_like(b)
    expected[order] = sparse.linalg.spsolve_triangular(sparse.tril(A[order][:, order]).tocsr(), b[order])
    x = vector(pc.getOperators()[1], np.zeros_like(b))
    pc.apply(vector(pc.getOperators()[1], b), x)
    difference = np.abs(x.array - expected).max() / np.abs(expected).max()
    table.add(case, "difference of sweeps, greedy", 0.0, difference, 1e-12)
    pc = Sweep(A, "multicolor", pc_multicolor_coloring="jp").ksp.pc
    table.add(case, "colours, jp", (lower, int(degree) + 1), colors_of(pc)[0])
    sizes = np.bincount(colors)
    table.add(case, "largest class, greedy", None, int(sizes.max()))
    table.add(case, "smallest class, greedy", None, int(sizes.min()))


def add_mesh(table):
    table.part = "mesh"
    for triangles in (8, 7):  # the graph is a wheel, whose ring needs a third colour if it is odd
        stiffness, mass = problems.linear_elements(*problems.fan(triangles))
        A = sparse.csr_matrix(stiffness + mass)
        add_colors(table, f"fan of {triangles} triangles", A, 3 + triangles % 2)
    inside = 400 if args.quick else 4000
    points, cells = problems.random_mesh(inside)
    stiffness, mass = problems.linear_elements(points, cells)
    A = sparse.csr_matrix(stiffness[:inside, :inside])  # u = 0 on the sides
    case = f"Delaunay, {inside} unknowns"
    add_colors(table, case, A, 3)
    # M = (D + L) D^-1 (D + U) = A + L D^-1 U: M^-1 A has eigenvalues from 1 / (1 + s^2 / smallest) to 1
    scale = sparse.diags(A.diagonal()**-0.5)
    scaled = (scale @ A @ scale).tocsr()
    s = np.abs(scaled - sparse.identity(inside)).sum(axis=1).max()
    smallest = sparse.linalg.eigsh(scaled, 1, sigma=0, return_eigenvectors=False)[0]
    solution = np.prod(np.sin(np.pi * points), axis=1)
    b, errors = (mass @ (2 * np.pi**2 * solution))[:inside], []
    for name, pc, options in (("multicolor, greedy", "multicolor", {"pc_multicolor_coloring": "greedy"}),
                              ("multicolor, jp", "multicolor", {"pc_multicolor_coloring": "jp"}),
                              ("sor", "sor", {}), ("jacobi", "jacobi", {})):
        ksp, x = krylov(A, b, pc, **options)
        values = np.real(ksp.computeEigenvalues())
        bound = (1.0, (1 + s**2 / smallest) if pc != "jacobi" else (1 + s) / smallest)
        table.add(case, f"condition, {name}", bound, values.max() / values.min(), 1e-6 * bound[1])
        table.add(case, f"iterations of CG, {name}", None, ksp.its)
        error = x - solution[:inside]
        errors.append(np.sqrt(error @ (mass[:inside, :inside] @ error)))
    table.add(case, "largest error in L2", (0.0, 4 / inside), max(errors))  # of order h^2


def add_cache(table):
    """Arrays of values of 8 bytes, of the five-point star in the order of its rows."""
    table.part = "cache"
    n = 64
    A = problems.poisson(n, 2)
    red = np.add.outer(np.arange(n), np.arange(n)).ravel() % 2 == 0
    read = np.zeros_like(red)
    read[A[red].indices] = True  # the diagonal stands for the value that is written
    for line in (32, 64, 128):
        for array, used, theory in (("b", red, 1 / 2), ("x", read, 1.0),
                                    ("matrix by rows", np.repeat(red, np.diff(A.indptr)), None),
                                    ("matrix by colours", np.ones(A[red].nnz, bool), 1.0)):
            table.add(f"lines of {line} bytes, {array}", "used of the loaded bytes", theory,
                      problems.used_of_loaded(used, 8, line), 0.01)


def main():
    table = Table()
    PETSc.Sys.Print(f"{'part':10}{'case':38}{'quantity':34}{'theory':>18}{'measured':>14}  difference")
    add_poisson(table)
    if PETSc.COMM_WORLD.size == 1:
        for add in (add_smoothing, add_cycle, add_mesh, add_cache):
            add(table)
    if PETSc.COMM_WORLD.rank == 0:
        if args.csv:
            table.write(args.csv)
        if args.picture:
            import picture
            picture.draw(args.picture)
    PETSc.Sys.Print(f"{len(table.rows)} rows, {table.wrong} wrong")
    return table.wrong > 0


if __name__ == "__main__":
    sys.exit(main())
