# SPDX-License-Identifier: BSD-2-Clause
"""Solves a system with the options of PETSc, and prints iterations and processor seconds."""
import time

from petsc4py import PETSc


def timed_solve(name, ksp, b, x, split=False):
    """Solves, and prints what the programs of this folder print.

    split  the PC is a fieldsplit, whose parts are set up, too; the PC of its first part is named
    Returns the exit status: 1 if the solver does not converge.
    """
    times = [time.process_time()]
    ksp.setUp()
    if split:
        for part in ksp.pc.getFieldSplitSubKSP():
            part.setUp()
    times.append(time.process_time())
    ksp.solve(b, x)
    times.append(time.process_time())
    residual = (b - ksp.getOperators()[0] * x).norm() / b.norm()
    reasons = {value: reason for reason, value in vars(PETSc.KSP.ConvergedReason).items() if isinstance(value, int)}
    kind = (ksp.pc.getFieldSplitSubKSP()[0] if split else ksp).pc.getType()
    PETSc.Sys.Print(f"{name}, {b.size} unknowns: {ksp.getType()}, {kind}, {ksp.its} iterations "
                    f"({reasons[ksp.reason]}), residual {residual:.1e}")
    PETSc.Sys.Print(f"processor seconds: set-up {times[1] - times[0]:.3f}, solve {times[2] - times[1]:.3f}")
    return int(ksp.reason <= 0)
