#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""GAMG with several smoothers on the thin elastic box, on several ranks: iterations and seconds.

    smoothers.py PLUGIN [--ranks 1,2,4] [--cells 32,32,8] [--write FILE.json --machine TEXT]

PLUGIN is libribbon.so. The program runs thin_box.py, prints a line for each run, and with --write replaces the
table `smoothers` of a file of examples/benchmark/results.
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys

from results import replace_table

HERE = pathlib.Path(__file__).resolve().parent
LEVELS = "-mg_levels_pc_type "
SHIFT = "-mg_levels_sub_pc_factor_shift_type nonzero"  # coarse matrices can have zero rows
SMOOTHERS = {
    "`line`": LEVELS + "line -mg_levels_pc_line_shift_type nonzero",
    "Jacobi": LEVELS + "jacobi",
    "SOR": LEVELS + "sor",
    "ILU(0)": LEVELS + "bjacobi -mg_levels_sub_pc_type ilu " + SHIFT,
    "ASM, ILU(0)": LEVELS + "asm -mg_levels_pc_asm_type basic -mg_levels_sub_pc_type ilu " + SHIFT,
}
MOST = 2000

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("plugin")
parser.add_argument("--ranks", default="1,2,4")
parser.add_argument("--cells", default="32,32,8")
parser.add_argument("--python", default="/usr/bin/python3", help="that has dolfinx")
parser.add_argument("--launch", default="mpiexec -n", help="the number of ranks follows")
parser.add_argument("--write", help="file of results")
parser.add_argument("--machine", default="", help="that the file names")
args = parser.parse_args()
problem = f"--problem elasticity --cells {args.cells}"


def measured(held, options, ranks):
    """(iterations, seconds of set-up and solve) of a run; the iterations are a text."""
    command = [*shlex.split(args.launch), str(ranks), args.python, str(HERE / "thin_box.py"), *problem.split(),
               "--held", held, "-dll_append", args.plugin, "-pc_type", "gamg", "-ksp_max_it", str(MOST),
               *options.split()]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    solve = re.search(r"(\d+) iterations \((\w+)\)", run.stdout)
    times = re.search(r"set-up ([\d.]+), solve ([\d.]+)", run.stdout)
    if not solve or not times:
        sys.exit(f"{shlex.join(command)}\n{run.stdout}{run.stderr}")
    if solve[2] == "CONVERGED_RTOL":
        return solve[1], f"{float(times[1]):.2g} + {float(times[2]):.2g}"
    reasons = {"DIVERGED_MAX_IT": f"over {MOST}", "DIVERGED_PCSETUP_FAILED": "set-up fails"}
    return reasons.get(solve[2], "no convergence"), ""


ranks = [int(n) for n in args.ranks.split(",")]
rows = []
for held, where in (("boundary", "whole boundary"), ("sides", "sides")):
    for name, options in SMOOTHERS.items():
        each = [measured(held, options, n) for n in ranks]
        rows.append([where, name, *(its for its, _ in each), *(seconds for _, seconds in each)])
        print(" | ".join(rows[-1]), flush=True)

if args.write:
    plural = ["1 rank" if n == 1 else f"{n} ranks" for n in ranks]
    replace_table(args.write, {
        "id": "smoothers",
        "title": "Iterations of CG to 1e-8 with GAMG, and processor seconds of set-up + solve of the first rank, "
                 "thin elastic box, by smoother",
        "machine": args.machine,
        "command": f"examples/finite_elements/smoothers.py build/lib/libribbon.so --cells {args.cells} "
                   f"--ranks {args.ranks}",
        "columns": ["held at", "smoother", *plural, *(f"seconds, {p}" for p in plural)],
        "rows": rows,
        "notes": ["Chebyshev iteration as PCGAMG sets it: -pc_type gamg. "
                  + "; ".join(f"{name}: {options}" for name, options in SMOOTHERS.items()) + ".",
                  "set-up fails: GAMG's coarse matrices can have rows of zeros, which PCSOR cannot invert."],
    })
