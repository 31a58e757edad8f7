# SPDX-License-Identifier: BSD-2-Clause
"""Loads libribbon and calls its C functions."""
from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

from petsc4py import PETSc

_library: ctypes.CDLL | None = None
_INTEGERS = {4: ctypes.c_int32, 8: ctypes.c_int64}
Int: Any = _INTEGERS[PETSc.IntType().itemsize]
Real: Any = {4: ctypes.c_float, 8: ctypes.c_double}[PETSc.RealType().itemsize]


class _DlInfo(ctypes.Structure):
    _fields_ = [("fname", ctypes.c_char_p), ("fbase", ctypes.c_void_p), ("sname", ctypes.c_char_p), ("saddr", ctypes.c_void_p)]


def library_path() -> str:
    """The path of libribbon.so: `RIBBON_LIBRARY` of the environment, else that of the build of the package."""
    named = os.environ.get("RIBBON_LIBRARY")
    if named and os.path.isfile(named):
        return named
    try:
        from ._built import LIBRARY
    except ImportError:
        raise RuntimeError("ribbon was not installed: run pip install, or set RIBBON_LIBRARY to the path of libribbon.so") from None
    return LIBRARY or str(Path(__file__).with_name("libribbon.so"))


def _file_of(function: Any) -> str:
    """The file of the library that has a function."""
    info, libc = _DlInfo(), ctypes.CDLL(None)
    libc.dladdr(ctypes.cast(function, ctypes.c_void_p), ctypes.byref(info))
    return os.path.realpath(os.fsdecode(info.fname)) if info.fname else "unknown"


def register(library: str | None = None) -> None:
    """Registers all types of Ribbon. Any number of calls, after the import of petsc4py.PETSc.

    library: path of a libribbon.so; default: `library_path()`. Raises RuntimeError if PETSc is finalized, or if the
    library uses another PETSc than petsc4py.

    >>> register()
    >>> register("/no/libribbon.so")
    Traceback (most recent call last):
    ...
    RuntimeError: ribbon cannot load /no/libribbon.so: ...
    """
    global _library
    if not PETSc.Sys.isInitialized() or PETSc.Sys.isFinalized():
        raise RuntimeError("PETSc is not initialized: call ribbon.register() after `from petsc4py import PETSc`")
    path = library or library_path()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise RuntimeError(f"ribbon cannot load {path}: {error}. Set RIBBON_LIBRARY to the path of libribbon.so") from None
    theirs, ours = _file_of(ctypes.CDLL(PETSc.__file__).PetscInitialize), _file_of(loaded.PetscInitialize)
    if theirs != ours:
        raise RuntimeError(f"petsc4py uses {theirs}, and {path} was built for {ours}: build Ribbon for the PETSc of petsc4py, which "
                           "petsc4py.get_config() names")
    _library = loaded
    call("RibbonInitialize")


def call(name: str, *arguments: Any) -> None:
    """Calls a C function of libribbon. An error code raises PETSc.Error."""
    if _library is None:
        raise RuntimeError("call ribbon.register() first")
    code = getattr(_library, name)(*arguments)
    if code:
        raise PETSc.Error(code)


def handle(thing: PETSc.Object | None) -> ctypes.c_void_p:
    """The C handle of an object; NULL for None."""
    return ctypes.c_void_p(thing.handle if thing is not None else None)


def pointer(array: Any) -> ctypes.c_void_p:
    """The address of the entries of a contiguous array."""
    return ctypes.c_void_p(array.ctypes.data)
