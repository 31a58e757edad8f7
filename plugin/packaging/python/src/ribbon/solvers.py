# SPDX-License-Identifier: BSD-2-Clause
"""Functions of PC line, PC multicolor, KSP line, KSP adi and TS adi."""
from __future__ import annotations

import ctypes
import traceback
from ctypes import byref
from typing import Any, Callable, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from petsc4py import PETSc

from ._library import Int, Real, call, handle, pointer

Callback = Callable[[PETSc.TS, float, PETSc.Vec, PETSc.Mat], None]


class BackwardError(NamedTuple):
    """The componentwise backward error of a solve, and the global number of the row that has it."""

    worst: float
    row: int


def _index_set(values: PETSc.IS | ArrayLike | None) -> PETSc.IS | None:
    if values is None or isinstance(values, PETSc.IS):
        return values
    return PETSc.IS().createGeneral(np.asarray(values, dtype=PETSc.IntType), comm=PETSc.COMM_SELF)


def set_rows(pc: PETSc.PC, rows: PETSc.IS | ArrayLike | None, offsets: PETSc.IS | ArrayLike | None) -> None:
    """Sets the lines of a PC line as lists of rows.

    rows: global numbers of rows that this rank owns, line after line; None: all of them in their order.
    offsets: positions in rows at which lines begin, from 0 to the number of rows; None, with rows None: the PC finds
    lines itself.

    >>> A = PETSc.Mat().createAIJ(6, nnz=2, comm=PETSc.COMM_SELF)
    >>> for row in range(6):
    ...     A[row, row] = 2
    >>> A[0, 1] = A[1, 0] = A[3, 4] = A[4, 3] = -1
    >>> A.assemble()
    >>> pc = PETSc.PC().create(PETSc.COMM_SELF)
    >>> pc.setType("line")
    >>> pc.setOperators(A)
    >>> set_rows(pc, None, [0, 3, 6])
    >>> pc.setUp()
    >>> line_info(pc)["lines"]
    2
    """
    call("PCLineSetRows", handle(pc), handle(_index_set(rows)), handle(_index_set(offsets)))


def line_info(pc: PETSc.PC) -> dict[str, Any]:
    """The result of the last set-up of a PC line on this rank: direction, lines, rows, matrices, half_bandwidth, bytes.

    lines, matrices and bytes are sums over directions and colours, rows are those of the first direction.
    """
    direction, size = ctypes.c_char_p(), ctypes.c_double()
    lines, rows, matrices, half_bandwidth = (Int() for _ in range(4))
    call("PCLineGetInfo", handle(pc), byref(direction), byref(lines), byref(rows), byref(matrices), byref(half_bandwidth), byref(size))
    return {"direction": (direction.value or b"").decode(), "lines": lines.value, "rows": rows.value, "matrices": matrices.value,
            "half_bandwidth": half_bandwidth.value, "bytes": size.value}


def factor_info(pc: PETSc.PC) -> dict[str, Any]:
    """Properties of the lines of the first direction of a PC line, over all ranks. Collective.

    rcond: smallest reciprocal condition estimate of a line; row: first row of this line; growth: growth of entries in
    the elimination; log_abs_det and det_sign: logarithm of |det|, and det / |det|. NaN, and row -1: unknown.
    """
    rcond, growth, determinant, row = Real(), Real(), Real(), Int()
    sign = np.zeros(1, dtype=PETSc.ScalarType)
    call("PCLineGetFactorInfo", handle(pc), byref(rcond), byref(row), byref(growth), byref(determinant), pointer(sign))
    return {"rcond": rcond.value, "row": row.value, "growth": growth.value, "log_abs_det": determinant.value, "det_sign": sign[0].item()}


def colors(pc: PETSc.PC) -> dict[str, Any]:
    """The colours of a PC multicolor after its set-up: colors, block (rows of an unknown), how (their source in words)."""
    count, block, how = Int(), Int(), ctypes.c_char_p()
    call("PCMulticolorGetColors", handle(pc), byref(count), byref(block), byref(how))
    return {"colors": count.value, "block": block.value, "how": (how.value or b"").decode()}


def solve_info(ksp: PETSc.KSP) -> dict[str, Any]:
    """Results of the last solve of a KSP line, over all ranks: lines, refined, open, worst. Collective.

    refined: lines with more than one solve; open: lines above the tolerance; worst: largest max|r| / max|b| of a line.
    """
    lines, refined, unsolved, worst = Int(), Int(), Int(), Real()
    call("KSPLineGetInfo", handle(ksp), byref(lines), byref(refined), byref(unsolved), byref(worst))
    return {"lines": lines.value, "refined": refined.value, "open": unsolved.value, "worst": worst.value}


def line_report(ksp: PETSc.KSP) -> NDArray[np.void]:
    """Results of each line of this rank in the last solve of a KSP line.

    A structured array with the fields row (global number of the first row), column (right-hand side), solves, and
    residual (max|r| / max|b| along the line).

    >>> A = PETSc.Mat().createAIJ(6, nnz=2, comm=PETSc.COMM_SELF)
    >>> for row in range(6):
    ...     A[row, row] = 4
    >>> A[0, 1] = A[1, 2] = A[3, 4] = A[4, 5] = -1
    >>> A.assemble()
    >>> ksp = PETSc.KSP().create(PETSc.COMM_SELF)
    >>> ksp.setType("line")
    >>> ksp.setOperators(A)
    >>> set_rows(ksp.getPC(), None, [0, 3, 6])
    >>> x, b = A.createVecs()
    >>> b.set(1)
    >>> ksp.solve(b, x)
    >>> report = line_report(ksp)
    >>> report["row"].tolist(), bool(report["residual"].max() < 1e-5)
    ([0, 3], True)
    """
    n = Int()
    call("KSPLineGetLines", handle(ksp), byref(n), None, None, None, None)
    integers = [np.zeros(n.value, dtype=PETSc.IntType) for _ in range(3)]
    residual = np.zeros(n.value, dtype=PETSc.RealType)
    call("KSPLineGetLines", handle(ksp), None, *(pointer(i) for i in integers), pointer(residual))
    report = np.zeros(n.value, dtype=[("row", PETSc.IntType), ("column", PETSc.IntType), ("solves", PETSc.IntType), ("residual", PETSc.RealType)])
    report["row"], report["column"], report["solves"] = integers
    report["residual"] = residual
    return report


def backward_error(ksp: PETSc.KSP) -> BackwardError:
    """The componentwise backward error of the last solve of a KSP line. Collective."""
    worst, row = Real(), Int()
    call("KSPLineGetBackwardError", handle(ksp), byref(worst), byref(row))
    return BackwardError(worst.value, row.value)


def adi_info(ksp: PETSc.KSP) -> dict[str, Any]:
    """The result of the last set-up of a KSP adi: shifts, predicted (iterations), separable."""
    shifts, predicted = Int(), Real()
    separable = ctypes.c_int()  # a bool from PETSc 3.24 on, in the first byte
    call("KSPADIGetInfo", handle(ksp), byref(shifts), byref(predicted), byref(separable))
    return {"shifts": shifts.value, "predicted": predicted.value, "separable": bool(separable.value)}


_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, Real, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def _vector_of(address: int) -> PETSc.Vec:
    """petsc4py's object of a C handle, by the C functions that petsc4py exports."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = PETSc.__pyx_capi__["PyPetscVec_New"]
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule)))
    return new(address)


def set_direction_jacobian(ts: PETSc.TS, direction: int, A: PETSc.Mat | None, function: Callback | None = None) -> None:
    """Sets the Jacobian of one direction of a TS adi, which replaces the part of the whole Jacobian along it.

    direction: 0, 1 or 2. function(ts, t, U, A) computes A = dG_d/dU; A None removes the matrix. An exception of the
    function is printed, and the step ends with PETSc.Error.
    """
    if A is None:
        call("TSADISetDirectionJacobian", handle(ts), Int(direction), None, None, None)
        return
    if function is None:
        raise TypeError("set_direction_jacobian needs a function for the matrix A")

    def compute(_ts: int, t: float, U: int, _A: int, _context: int) -> int:
        try:
            function(ts, t, _vector_of(U), A)
        except BaseException:
            traceback.print_exc()
            return 56  # PETSC_ERR_SUP
        return 0

    callback = _FUNCTION(compute)
    call("TSADISetDirectionJacobian", handle(ts), Int(direction), handle(A), callback, None)
    ts.setAttr(f"ribbon_direction_jacobian_{direction}", callback)  # lives as long as the TS


