# SPDX-License-Identifier: BSD-2-Clause
"""Doctests and tests of the Python package: test_package.py OTHER_LIBRARY, whose PetscInitialize is not PETSc's."""
import contextlib
import doctest
import io
import sys
import unittest

import numpy as np
from petsc4py import PETSc

import ribbon
from ribbon import _library, compact, solvers

OTHER = sys.argv.pop()
COMM = PETSc.COMM_WORLD


def tridiagonal(*lines, scale=1.0):
    """Tridiagonal lines of these lengths on each rank."""
    n = sum(lines)
    A = PETSc.Mat().createAIJ(((n, None), (n, None)), nnz=3, comm=COMM)
    first = A.getOwnershipRange()[0]
    line = np.repeat(np.arange(len(lines)), lines)
    for row in range(n):
        for column, entry in ((row - 1, -1), (row, 3), (row + 1, -1)):
            if 0 <= column < n and line[row] == line[column]:
                A.setValue(first + row, first + column, scale * entry)
    A.assemble()
    return A


class Registration(unittest.TestCase):
    def test_before(self):
        with self.assertRaisesRegex(RuntimeError, r"call ribbon.register\(\) first"):
            ribbon.line_info(PETSc.PC().create())

    def test_other_petsc(self):
        with self.assertRaisesRegex(RuntimeError, "petsc4py uses .*libpetsc.*, and .*libother.so was built for .*libother.so: build Ribbon for"):
            ribbon.register(OTHER)

    def test_version(self):
        self.assertRegex(ribbon.__version__, r"^\d+\.\d+\.\d+$")


class Functions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ribbon.register()

    def test_reports(self):
        A = tridiagonal(3, 5)
        ksp = PETSc.KSP().create(COMM)
        ksp.setType("line")
        ksp.setOperators(A)
        with self.assertRaisesRegex(PETSc.Error, "73"):  # PETSC_ERR_ARG_WRONGSTATE
            ribbon.line_report(ksp)
        first = A.getOwnershipRange()[0]
        ribbon.set_rows(ksp.getPC(), np.arange(first, first + 8), [0, 3, 8])
        x, b = A.createVecs()
        b.set(1)
        ksp.solve(b, x)
        report = ribbon.line_report(ksp)
        self.assertEqual(report["row"].tolist(), [first, first + 3])
        self.assertEqual(report["column"].tolist(), [0, 0])
        info = ribbon.solve_info(ksp)
        self.assertEqual((info["lines"], info["open"]), (2 * COMM.size, 0))
        self.assertLessEqual(report["residual"].max(), info["worst"])
        self.assertLess(ribbon.backward_error(ksp).worst, 1)
        self.assertEqual(ribbon.line_info(ksp.getPC())["lines"], 2)

    def test_factors(self):
        A = tridiagonal(2, scale=2.0)
        pc = PETSc.PC().create(COMM)
        pc.setType("line")
        pc.setOperators(A)
        ribbon.set_rows(pc, None, [0, 2])
        pc.setUp()
        info = ribbon.factor_info(pc)
        self.assertAlmostEqual(info["log_abs_det"], COMM.size * np.log(32))  # 4 (9 - 1) on each rank
        self.assertEqual(info["det_sign"], 1)
        self.assertTrue(0 < info["rcond"] <= 1)
        pc.setType("multicolor")
        pc.setUp()
        self.assertEqual({**ribbon.colors(pc), "how": ""}, {"colors": 2, "block": 1, "how": ""})

    def test_metric_and_stencil(self):
        D = PETSc.Mat().create(PETSc.COMM_SELF)
        D.setType("compact")
        self.assertEqual(ribbon.get_grid(D), (0, 0, 0, 0))
        ribbon.set_grid(D, 9, 2)
        self.assertEqual(ribbon.get_grid(D), (9, 2, 1, 1))
        ribbon.set_metric(D, np.full(9, 2.0))
        self.assertEqual(ribbon.get_metric(D).tolist(), [2.0] * 9)
        ribbon.set_metric(D, None)
        self.assertEqual(ribbon.get_metric(D).size, 0)
        self.assertIsNone(ribbon.get_stencil(D))
        with self.assertRaisesRegex(ValueError, "A.interior has 2 entries"):
            ribbon.set_stencil(D, ribbon.Rows([1, 2]), ribbon.Rows([1]))
        with self.assertRaisesRegex(ValueError, "B.first and B.last"):
            ribbon.set_stencil(D, ribbon.Rows([1]), ribbon.Rows([1, 2, 1], first=[[1, 2, 1]]))
        ribbon.set_stencil(D, ribbon.Rows([1]), ribbon.Rows([1, 2, 1], first=[[0, 1, 1]], last=[[1, 1, 0]]))
        A, B = ribbon.get_stencil(D)
        self.assertEqual((A.interior.tolist(), B.first.tolist(), B.last.tolist()), ([1], [[0, 1, 1]], [[1, 1, 0]]))
        ribbon.set_stencil(D)
        self.assertIsNone(ribbon.get_stencil(D))

    def step(self, function):
        """Steps of u' = -u_xx with the Jacobian of the direction by `function`: the largest entry of the solution."""
        da = PETSc.DMDA().create([12], stencil_width=1, comm=COMM)
        J = da.createMatrix()
        first, last = J.getOwnershipRange()
        for row in range(first, last):
            for column, entry in ((row - 1, 1), (row, -2), (row + 1, 1)):
                if 0 <= column < 12:
                    J.setValue(row, column, entry)
        J.assemble()
        ts = PETSc.TS().create(COMM)
        ts.setDM(da)
        ts.setType("adi")
        ts.setRHSFunction(lambda ts, t, u, f: J.mult(u, f))
        ts.setRHSJacobian(lambda ts, t, u, A, P: None, J, J)
        ts.setTimeStep(0.5)
        ts.setMaxSteps(2)
        ts.setExactFinalTime(PETSc.TS.ExactFinalTime.STEPOVER)
        ribbon.set_direction_jacobian(ts, 0, J.copy(), function)
        u = da.createGlobalVec()
        u.set(1)
        ts.solve(u)
        return u.max()[1]

    def test_direction_jacobian(self):
        seen = []
        self.assertLess(self.step(lambda ts, t, u, A: seen.append((t, u.getSize(), A.getSize()))), 1)
        self.assertEqual(seen[0], (0.0, 12, (12, 12)))

    def test_direction_jacobian_raises(self):
        def fail(ts, t, u, A):
            raise ValueError("no Jacobian today")

        printed = io.StringIO()
        with self.assertRaises(PETSc.Error), contextlib.redirect_stderr(printed):
            self.step(fail)
        self.assertIn("no Jacobian today", printed.getvalue())

    def test_adi(self):
        da = PETSc.DMDA().create([6, 6], stencil_width=1, stencil_type=PETSc.DMDA.StencilType.STAR, comm=COMM)
        A = da.createMatrix()
        row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
        (x0, x1), (y0, y1) = da.getRanges()
        for i in range(x0, x1):
            for j in range(y0, y1):
                row.index = i, j
                A.setValueStencil(row, row, 4)
                for other in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                    if 0 <= min(other) and max(other) < 6:
                        column.index = other
                        A.setValueStencil(row, column, -1)
        A.assemble()
        ksp = PETSc.KSP().create(COMM)
        ksp.setType("adi")
        ksp.getPC().setType("adi")
        ksp.getPC().setDM(da)
        ksp.setOperators(A)
        ksp.setUp()
        info = ribbon.adi_info(ksp)
        self.assertTrue(info["separable"] and info["shifts"] > 0 and info["predicted"] > 0)


class Documentation(unittest.TestCase):
    def test_examples(self):
        attempted = 0
        for module in (ribbon, _library, solvers, compact):
            result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
            attempted += result.attempted
            self.assertEqual(result.failed, 0, module.__name__)
        self.assertGreater(attempted, 40)


if __name__ == "__main__":
    loader = unittest.TestLoader()
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (Registration, Functions, Documentation))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    sys.exit(not result.wasSuccessful())
