# SPDX-License-Identifier: BSD-2-Clause
"""Ribbon's PETSc types in petsc4py.

>>> from petsc4py import PETSc
>>> import ribbon
>>> ribbon.register()
>>> PETSc.PC().create().setType("line")

Options select and tune the types. Functions of this package set what no option can, and return results of set-ups and
solves. Arguments are objects of petsc4py and NumPy arrays. An error of PETSc raises `PETSc.Error`.
"""
from ._library import library_path, register
from .compact import Rows, get_grid, get_metric, get_stencil, set_grid, set_metric, set_stencil
from .solvers import (BackwardError, adi_info, backward_error, colors, factor_info, line_info, line_report, set_direction_jacobian,
                      set_rows, solve_info)

__version__ = "1.0.0"
__all__ = ["BackwardError", "Rows", "adi_info", "backward_error", "colors", "factor_info", "get_grid", "get_metric", "get_stencil", "library_path",
           "line_info", "line_report", "register", "set_direction_jacobian", "set_grid", "set_metric", "set_rows", "set_stencil", "solve_info"]
