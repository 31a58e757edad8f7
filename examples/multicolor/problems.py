# SPDX-License-Identifier: BSD-2-Clause
"""Matrices and meshes of theory.py, and the colours that first fit gives them."""
import numpy as np
import scipy.sparse as sparse
from scipy.spatial import Delaunay


def second_difference(n, periodic=False):
    """The matrix of -u'' on n points, times the square of their distance."""
    A = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n)).tolil()
    if periodic:
        A[0, n - 1] = A[n - 1, 0] = -1.0
    return A.tocsr()


def poisson(n, dimensions, periodic=False):
    """The Poisson equation on n^dimensions points, x first, with u = 0 around them or periodic."""
    A = line = second_difference(n, periodic)
    for _ in range(dimensions - 1):
        A = sparse.kronsum(A, line)
    return sparse.csr_matrix(A)


def lowest_mode(n, dimensions):
    line = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
    mode = line
    for _ in range(dimensions - 1):
        mode = np.multiply.outer(line, mode)
    return mode.ravel()


def fan(triangles):
    """Triangles around point 0; the other points lie on a circle, in their order."""
    angle = 2 * np.pi * np.arange(triangles) / triangles
    points = np.vstack([[0.0, 0.0], np.column_stack([np.cos(angle), np.sin(angle)])])
    ring = np.arange(triangles)
    return points, np.column_stack([np.zeros_like(ring), 1 + ring, 1 + (ring + 1) % triangles])


def random_mesh(inside, seed=1):
    """Points inside the unit square at random, and points along its sides; the triangles of Delaunay."""
    side = np.linspace(0, 1, int(round(np.sqrt(inside))) + 1)[:-1]
    zero, one = np.zeros_like(side), np.ones_like(side)
    sides = [(side, zero), (one, side), (1 - side, one), (zero, 1 - side)]
    random = np.random.default_rng(seed).random((inside, 2))
    points = np.vstack([random, *(np.column_stack(xy) for xy in sides)])
    return points, Delaunay(points).simplices


def linear_elements(points, triangles):
    """Stiffness and mass matrix of continuous piecewise linear functions."""
    x = points[triangles]  # triangle, corner, coordinate
    edge = np.roll(x, -2, axis=1) - np.roll(x, -1, axis=1)  # opposite to a corner
    area = np.abs(np.cross(edge[:, 0], edge[:, 1])) / 2
    stiffness = np.einsum("tic,tjc->tij", edge, edge) / (4 * area[:, None, None])
    mass = area[:, None, None] * (np.ones((3, 3)) + np.eye(3)) / 12
    rows, columns = np.repeat(triangles, 3, axis=1).ravel(), np.tile(triangles, 3).ravel()
    shape = (len(points), len(points))
    return [sparse.csr_matrix((entries.ravel(), (rows, columns)), shape) for entries in (stiffness, mass)]


def first_fit(A):
    """Each row, in order, takes the smallest colour that no earlier neighbour has."""
    A = sparse.csr_matrix(A)
    A.eliminate_zeros()
    colors = np.full(A.shape[0], -1)
    for i in range(A.shape[0]):
        taken = set(colors[A.indices[A.indptr[i]:A.indptr[i + 1]]])
        colors[i] = next(c for c in range(len(taken) + 1) if c not in taken)
    return colors


def used_of_loaded(cells_used, cell_bytes, line_bytes):
    """The fraction of the bytes in loaded cache lines that a loop over some cells of an array uses."""
    cells = np.flatnonzero(cells_used)
    lines = len(np.unique(cells * cell_bytes // line_bytes))
    return len(cells) * cell_bytes / (lines * line_bytes)
