#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tables of iterations and seconds of the programs of this folder, by preconditioner.

    measure.py PLUGIN TABLE [--write FILE.json --machine TEXT] [--quick]

PLUGIN is libribbon.so, TABLE a name of TABLES below. The program prints a line for each run. With --write it replaces
the tables TABLE and TABLE_seconds of a file of examples/benchmark/results. --quick takes small meshes and one run.
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys

from results import replace_table

HERE = pathlib.Path(__file__).resolve().parent
MOST = 1000
LINE = " -mg_levels_pc_type line"
FLOW = ("-pc_type gamg -pc_gamg_agg_nsmooths 0 -pc_gamg_threshold 0.05 -mg_levels_ksp_type richardson"
        " -mg_levels_ksp_max_it 2 -mg_levels_pc_type ")

SHELL = "--problem elasticity --held sides --cells 20,20,6 --arc 1.5708"


def stokes(kind):
    return re.sub("(^| )-", r"\1-fieldsplit_u_", kind)


# title; columns: name, program, arguments, arguments of --quick, which options; rows: name, options by that key
TABLES = {
    "unstructured": {
        "title": "linear elements on triangles",
        "columns": [
            ("wing, diffusion", "unstructured.py", "--problem diffusion", "--size 32", "elliptic"),
            ("wing, convection", "unstructured.py", "--problem convection", "--size 32", "flow"),
            ("recirculating, 1e3", "unstructured.py", "--problem recirculating --size 64 --peclet 1e3", "--size 12",
             "flow"),
            ("vortex, 1e4", "unstructured.py", "--problem vortex --size 64 --peclet 1e4", "--size 12", "flow"),
            ("vortex, 1e6", "unstructured.py", "--problem vortex --size 64 --peclet 1e6", "--size 12", "flow"),
        ],
        "rows": [
            ("`line`", {"elliptic": "-pc_type line", "flow": "-pc_type line"}),
            ("`line`, columns of the layer, else points", {"elliptic": "--columns -pc_type line",
                                                           "flow": "--columns -pc_type line"}),
            ("Jacobi", {"elliptic": "-pc_type jacobi", "flow": "-pc_type jacobi"}),
            ("SOR", {"elliptic": "-pc_type sor", "flow": "-pc_type sor"}),
            ("ICC(0), ILU(0)", {"elliptic": "-pc_type icc", "flow": "-pc_type ilu"}),
            ("GAMG, smoothed by `line`", {"elliptic": "-pc_type gamg" + LINE, "flow": FLOW + "line"}),
            ("GAMG, smoothed by SOR", {"elliptic": "-pc_type gamg -mg_levels_pc_type sor", "flow": FLOW + "sor"}),
            ("GAMG, smoothed by ILU(0)", {"flow": FLOW + "ilu"}),
            ("GAMG", {"elliptic": "-pc_type gamg"}),
        ],
        "notes": ["CG, and for convection GMRES with restart 100, to 1e-8 in the preconditioned norm. GAMG for "
                  "convection: " + FLOW + "line, sor or ilu. Reverse Cuthill-McKee numbering of the square and the "
                  "disk. Peclet number around the wing: 1e4."],
    },
    "mixed": {
        "title": "edge, face and Taylor-Hood elements in thin boxes and rectangles",
        "columns": [
            ("Stokes, quadrilaterals", "mixed.py", "--problem stokes --square", "--cells 8,8", "stokes"),
            ("Stokes, triangles", "mixed.py", "--problem stokes --square --simplices", "--cells 8,8", "stokes"),
            ("Stokes, hexahedra", "mixed.py", "--problem stokes --cells 6,6,6", "--cells 2,2,2", "stokes"),
            ("curl, hexahedra", "mixed.py", "--problem curl", "--cells 3,3,3", "spd"),
            ("curl, tetrahedra", "mixed.py", "--problem curl --simplices", "--cells 3,3,3", "spd"),
            ("div, hexahedra", "mixed.py", "--problem div", "--cells 3,3,3", "spd"),
            ("div, tetrahedra", "mixed.py", "--problem div --simplices", "--cells 3,3,3", "spd"),
        ],
        "rows": [(name, {"spd": options, "stokes": stokes(options)}) for name, options in (
            ("`line`", "-pc_type line"),
            ("GAMG, smoothed by `line`", "-pc_type gamg" + LINE),
            ("GAMG", "-pc_type gamg"),
            ("ICC(0)", "-pc_type icc"),
            ("SOR", "-pc_type sor"),
            ("Jacobi", "-pc_type jacobi"),
        )] + [("Cholesky", {"stokes": stokes("-pc_type cholesky")})],
        "notes": ["CG for curl and div, MINRES for Stokes, to 1e-8 in the preconditioned norm. Stokes: the rows name "
                  "the preconditioner of the velocities, one application in each iteration (-fieldsplit_u_pc_type); "
                  "that of the pressures is the mass matrix by Jacobi. 32 x 32 cells, in three dimensions "
                  "12 x 12 x 12, Stokes 6 x 6 x 6; thickness 0.01."],
    },
    "shell": {
        "title": "linear elasticity in a quarter of a cylinder, held at its sides",
        "columns": [(f"thickness {t}", "thin_box.py", f"{SHELL} --thickness {t}", "--cells 4,4,2", "spd")
                    for t in ("0.1", "0.03", "0.01")],
        "rows": [(name, {"spd": options}) for name, options in (
            ("`line`", "-pc_type line"),
            ("GAMG, smoothed by `line`", "-pc_type gamg -mg_levels_pc_line_shift_type nonzero" + LINE),
            ("GAMG", "-pc_type gamg"),
            ("ICC(0)", "-pc_type icc"),
            ("SOR", "-pc_type sor"),
            ("Jacobi", "-pc_type jacobi"),
        )],
        "notes": ["CG to 1e-8 in the preconditioned norm. GAMG: smoothed aggregation with the rigid modes as near null "
                  "space."],
    },
}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("plugin")
parser.add_argument("table", choices=TABLES)
parser.add_argument("--python", default="/usr/bin/python3", help="that has petsc4py, SciPy and dolfinx")
parser.add_argument("--quick", action="store_true")
parser.add_argument("--rows", type=int, help="the first rows alone")
parser.add_argument("--write", help="file of results")
parser.add_argument("--machine", default="", help="that the file names")
args = parser.parse_args()
wanted = TABLES[args.table]


def measured(program, arguments, quick, options):
    """(iterations, seconds of set-up and solve, the least of some runs), both as texts."""
    if "--columns" in options and not re.search("diffusion|convection", arguments):  # there is no layer
        return "", ""
    command = [args.python, str(HERE / program), *arguments.split(), *(quick.split() if args.quick else []),
               "-dll_append", args.plugin, "-ksp_max_it", str(MOST), *options.split()]
    best = None
    for _ in range(1 if args.quick else 3):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        solve = re.search(r"(\d+) iterations \((\w+)\)", run.stdout)
        times = re.search(r"set-up ([\d.]+), solve ([\d.]+)", run.stdout)
        if not solve or not times:
            sys.exit(f"{shlex.join(command)}\n{run.stdout}{run.stderr}")
        if solve[2] != "CONVERGED_RTOL":
            return (f"over {MOST}" if solve[2] == "DIVERGED_MAX_IT" else "no convergence"), "no convergence"
        seconds = float(times[1]), float(times[2])
        best = min(best or seconds, seconds, key=sum)
    return solve[1], " + ".join(f"{t:.2g}" for t in best)


iterations, seconds = [], []
for name, options in wanted["rows"][:args.rows]:
    cells = [measured(program, arguments, quick, options[key]) if key in options else ("", "")
             for _, program, arguments, quick, key in wanted["columns"]]
    iterations.append([name, *(its for its, _ in cells)])
    seconds.append([name, *(time for _, time in cells)])
    print(" | ".join(iterations[-1]), "#", " | ".join(seconds[-1][1:]), flush=True)


if args.write:
    programs = "; ".join(f"{name}: {program} {arguments}" for name, program, arguments, _, _ in wanted["columns"])
    rows = "; ".join(f"{name}: " + ", ".join(dict.fromkeys(options.values())) for name, options in wanted["rows"])
    for suffix, what, cells in (("", "Iterations", iterations),
                                ("_seconds", "Processor seconds of set-up + solve, least of three runs", seconds)):
        replace_table(args.write, {
            "id": args.table + suffix,
            "title": f"{what}, {wanted['title']}",
            "machine": args.machine,
            "command": f"examples/finite_elements/measure.py build/lib/libribbon.so {args.table}",
            "columns": ["preconditioner", *(column[0] for column in wanted["columns"])],
            "rows": cells,
            "notes": [*wanted["notes"], f"Programs: {programs}.", f"Options: {rows}."],
        })
