# SPDX-License-Identifier: BSD-2-Clause
"""Settings of Mat compact that have no option: grid, metric and stencil."""
from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from petsc4py import PETSc

from ._library import Int, call, handle, pointer


class Rows(NamedTuple):
    """Rows of A or B in y = A^-1 B u: the stencil of all rows, and the first and the last rows of open lines.

    interior has 2 width + 1 entries, first and last have a row of 2 width + 1 entries for each row of the matrix.
    """

    interior: ArrayLike
    first: ArrayLike = ()
    last: ArrayLike = ()


class _Rows(ctypes.Structure):
    _fields_ = [("width", Int), ("interior", ctypes.c_void_p), ("ends", Int), ("first", ctypes.c_void_p), ("last", ctypes.c_void_p)]


def set_grid(mat: PETSc.Mat, nx: int, ny: int = 1, nz: int = 1, dof: int = 1) -> None:
    """Sets the extents of a grid without a DMDA, on one rank. It sets the sizes of the matrix."""
    call("MatCompactSetGrid", handle(mat), Int(nx), Int(ny), Int(nz), Int(dof))


def get_grid(mat: PETSc.Mat) -> tuple[int, int, int, int]:
    """nx, ny, nz and dof of set_grid(); zeros without it."""
    values = [Int() for _ in range(4)]
    call("MatCompactGetGrid", handle(mat), *(byref(v) for v in values))
    nx, ny, nz, dof = (v.value for v in values)
    return nx, ny, nz, dof


def set_metric(mat: PETSc.Mat, dxi_dx: ArrayLike | None) -> None:
    """Scales the first derivative for a stretched grid: dxi/dx at each point of a line, over all ranks; None: none.

    >>> D = PETSc.Mat().create(PETSc.COMM_SELF)
    >>> D.setType("compact")
    >>> set_grid(D, 16)
    >>> x = np.exp(np.linspace(0, 1, 16))
    >>> set_metric(D, 15 / x)
    >>> _ = D.setUp()
    >>> u, slope = D.createVecs()
    >>> u.setArray(x)
    >>> D.mult(u, slope)
    >>> bool(abs(slope.getArray() - 1).max() < 1e-3)
    True
    """
    values = np.ascontiguousarray(() if dxi_dx is None else dxi_dx, dtype=PETSc.RealType)
    call("MatCompactSetMetric", handle(mat), Int(values.size), pointer(values))


def get_metric(mat: PETSc.Mat) -> NDArray[Any]:
    """A copy of the values of set_metric(), without entries if there are none."""
    n, address = Int(), ctypes.c_void_p()
    call("MatCompactGetMetric", handle(mat), byref(n), byref(address))
    return _copy(address, (n.value,), PETSc.RealType)


def set_stencil(mat: PETSc.Mat, A: Rows | None = None, B: Rows | None = None) -> None:
    """Replaces the scheme by rows of the application, or restores it without A and B.

    >>> D = PETSc.Mat().create(PETSc.COMM_SELF)
    >>> D.setType("compact")
    >>> set_grid(D, 4)
    >>> set_stencil(D, Rows([1]), Rows([-0.5, 0, 0.5], first=[[0, -1, 1]], last=[[-1, 1, 0]]))
    >>> get_stencil(D)[1].interior.tolist()
    [-0.5, 0.0, 0.5]
    >>> _ = D.setUp()
    >>> u, slope = D.createVecs()
    >>> u.setArray([0, 1, 4, 9])
    >>> D.mult(u, slope)
    >>> slope.getArray().tolist()
    [1.0, 2.0, 4.0, 5.0]
    """
    if A is None and B is None:
        call("MatCompactSetStencil", handle(mat), None, None)
        return
    if A is None or B is None:
        raise ValueError("set_stencil needs both A and B, or none")
    kept: list[Any] = []
    rows = [_c_rows(name, given, kept) for name, given in (("A", A), ("B", B))]
    call("MatCompactSetStencil", handle(mat), *(byref(r) for r in rows))


def get_stencil(mat: PETSc.Mat) -> tuple[Rows, Rows] | None:
    """A copy of A and B of set_stencil(), or None."""
    rows = _Rows(), _Rows()
    call("MatCompactGetStencil", handle(mat), *(byref(r) for r in rows))
    if not rows[0].interior:
        return None
    A, B = (Rows(*(_copy(ctypes.c_void_p(address), shape, PETSc.ScalarType) for address, shape in (
        (r.interior, (2 * r.width + 1,)), (r.first, (r.ends, 2 * r.width + 1)), (r.last, (r.ends, 2 * r.width + 1))))) for r in rows)
    return A, B


def _c_rows(name: str, rows: Rows, kept: list[Any]) -> _Rows:
    """The rows for C, whose arrays `kept` keeps."""
    interior, first, last = (np.ascontiguousarray(r, dtype=PETSc.ScalarType) for r in rows)
    if interior.ndim != 1 or interior.size % 2 == 0:
        raise ValueError(f"set_stencil: {name}.interior has {interior.size} entries, not an odd number")
    if first.shape != last.shape or (first.size and first.shape[1:] != interior.shape):
        raise ValueError(f"set_stencil: {name}.first and {name}.last need the same number of rows, each with {interior.size} entries")
    kept += [interior, first, last]
    ends = first.shape[0] if first.size else 0
    return _Rows(interior.size // 2, interior.ctypes.data, ends, first.ctypes.data if ends else None, last.ctypes.data if ends else None)


def _copy(address: ctypes.c_void_p, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    values = np.zeros(shape, dtype=dtype)
    if values.size:
        ctypes.memmove(values.ctypes.data, address, values.nbytes)
    return values
