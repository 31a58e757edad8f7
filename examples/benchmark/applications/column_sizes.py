#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Refreshed set-ups and applications of PC line, LU and ILU(0) for columns of many sizes.

    /usr/bin/python3 column_sizes.py build/lib/libribbon.so [--only TEXT,...] [--unknowns N] [--json FILE]

A batch consists of columns, one after another: bands of half-bandwidth 1 to 4, or blocks of 2, 3 and 5,
with 10 to 1000 rows (elements) each. The coefficients have three kinds: one matrix per column (per_line), 5
matrices for all columns (classes), or one matrix for all columns (shared). Every step has new values: it
multiplies the matrix by a constant, sets the PC up and applies it once. The variants alternate. The table
has the shortest time of each in milliseconds, and that of MatMult with the same matrix. ILU(0) of bands and
blocks in natural order is exact, as LU is. A relative residual above 1e-10 is marked as wrong and makes the
exit status nonzero. Needs petsc4py and NumPy.
"""
import argparse
import json
import sys
import time

import numpy as np
import petsc4py

SHAPES = [(1, 1), (2, 1), (3, 1), (4, 1), (1, 2), (1, 3), (1, 5)]  # half-bandwidth, block
VARIANTS = ("line", "lu", "ilu")


def entries(rows, reach, block, kind, unknowns):
    """Row begins, columns and values of diagonally dominant columns, in natural order."""
    count = max(1, unknowns // (rows * block))
    matrices = {"per_line": count, "classes": min(5, count), "shared": 1}[kind]
    random = np.random.default_rng(0)
    values = random.uniform(-1, 1, (matrices, rows, block, (2 * reach + 1) * block))
    for c in range(block):
        sums = np.abs(values[:, :, c, :]).sum(-1)
        values[:, :, c, reach * block + c] = sums + random.uniform(0.1, 1, (matrices, rows))
    values = values[np.arange(count) % matrices].reshape(count * rows * block, -1)
    element = np.repeat(np.arange(count * rows), block)[:, None]
    column = element * block + np.arange(-reach * block, (reach + 1) * block)
    within = element % rows + np.repeat(np.arange(-reach, reach + 1), block)
    inside = (within >= 0) & (within < rows)
    return np.concatenate([[0], np.cumsum(inside.sum(1))]), column[inside], values[inside]


class Variant:
    """A PC and its times."""

    def __init__(self, PETSc, A, name):
        self.pc = PETSc.PC().create(PETSc.COMM_SELF)
        self.pc.setOperators(A)
        self.pc.setType(name)
        if name == "line":
            self.pc.setFromOptions()
        else:
            self.pc.setFactorSolverType("petsc")
        begin = time.perf_counter()
        self.pc.setUp()
        self.first, self.set_up, self.apply, self.residual = time.perf_counter() - begin, [], [], 0.0

    def step(self, A, b, x):
        t0 = time.perf_counter()
        self.pc.setUp()
        t1 = time.perf_counter()
        self.pc.apply(b, x)
        t2 = time.perf_counter()
        self.set_up.append(t1 - t0)
        self.apply.append(t2 - t1)
        residual = (A * x - b).norm() / b.norm()
        self.residual = residual if not residual <= self.residual else self.residual  # NaN, too


def measure(PETSc, args, rows, reach, block, kind):
    begin, column, values = entries(rows, reach, block, kind, args.unknowns)
    index, n = PETSc.IntType, len(begin) - 1
    A = PETSc.Mat().createAIJ((n, n), csr=(begin.astype(index), column.astype(index), values), bsize=block,
                              comm=PETSc.COMM_SELF)
    A.assemble()
    x, b = A.createVecs()
    b.setRandom()
    variants, product = {name: Variant(PETSc, A, name) for name in VARIANTS}, []
    for _ in range(args.repeat):
        for v in variants.values():
            A.scale(1.0001)
            v.step(A, b, x)
        started = time.perf_counter()
        A.mult(b, x)
        product.append(time.perf_counter() - started)
    found = {"rows": rows, "reach": reach, "block": block, "kind": kind, "unknowns": n, "product": 1e3 * min(product)}
    for name, v in variants.items():
        found[name] = {"first": 1e3 * v.first, "set_up": 1e3 * min(v.set_up), "apply": 1e3 * min(v.apply),
                       "residual": v.residual}
        v.pc.destroy()
    for thing in (A, x, b):
        thing.destroy()
    return found


def row(name, found):
    """A row of the table. SLOWER: set-up and application together are slower than with LU or ILU(0)."""
    both = {v: found[v]["set_up"] + found[v]["apply"] for v in VARIANTS}
    best = min(both["lu"], both["ilu"])
    text = f"{name:26} {found['product']:8.3f} | {found['line']['first']:8.2f} "
    text += "| ".join(f"{found[v]['set_up']:8.2f} {found[v]['apply']:7.2f} " for v in VARIANTS)
    text += f"| {both['line'] / found['product']:6.1f}"
    wrong = [v for v in VARIANTS if not found[v]["residual"] <= 1e-10]
    slower = f" SLOWER {both['line'] / best:.1f}" if both["line"] > best else ""
    return text + slower + (f" WRONG {', '.join(wrong)}" if wrong else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libribbon.so, with a / in its path")
    parser.add_argument("--unknowns", type=int, default=400000, help="approximate number of unknowns of a batch")
    parser.add_argument("--rows", default="10,30,80,300,1000", help="rows (elements) of a column")
    parser.add_argument("--repeat", type=int, default=5, help="steps")
    parser.add_argument("--only", default="", help="only batches whose names contain one of these: band 1,shared 80")
    parser.add_argument("--options", default="", help="PETSc options of PC line")
    parser.add_argument("--json", help="file for the values")
    args = parser.parse_args()
    petsc4py.init([sys.argv[0], "-dll_append", args.library] + args.options.split())
    from petsc4py import PETSc

    table = []
    heads = [f"{v} set-up, apply".rjust(16) for v in ("", "LU", "ILU")]
    print(f"{'milliseconds':26} {'MatMult':>8} | {'first':>8} " + " | ".join(heads) + " | MatMults")
    for reach, block in SHAPES:
        for kind in ("per_line", "classes", "shared"):
            for rows in map(int, args.rows.split(",")):
                name = (f"block {block}" if block > 1 else f"band {reach}") + f" {kind} {rows}"
                if any(part in name for part in args.only.split(",")):
                    table.append(measure(PETSc, args, rows, reach, block, kind))
                    print(row(name, table[-1]), flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(map(json.dumps, table)) + "\n]\n")
    sys.exit(any("WRONG" in row("", found) for found in table))


if __name__ == "__main__":
    main()
