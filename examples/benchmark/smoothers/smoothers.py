#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares smoothers and preconditioners on the problems of the program `smoothers`.

    smoothers.py measure --program build/bin/smoothers --plugin build/lib/libribbon.so
                         --label LABEL --out FILE.json
    smoothers.py report [FILE.json ...]     adds these to smoothers.json; writes tables and picture of
                                            docs/performance/smoothers.md
    smoothers.py check FILE.json            checks a measurement made with --quick

`measure` needs only Python's standard library, the program and the plugin. `report` needs matplotlib for
the picture (--no-plot: no picture).
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import cases
import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def refinements(size):
    """(nodes per direction of the coarsest grid, -da_refine) of a grid with `size` nodes per direction.
    The coarsest grid has 3 to 5 nodes per direction."""
    intervals, refine = size - 1, 0
    while intervals > 4 and intervals % 2 == 0:
        intervals, refine = intervals // 2, refine + 1
    if not 2 <= intervals <= 4:
        sys.exit(f"--sizes: {size} nodes make no hierarchy of grids; take 2^k + 1 or 3 * 2^k + 1")
    return intervals + 1, refine


def grid(dim, size):
    coarse, refine = refinements(size)
    words = ["-dim", str(dim), "-da_refine", str(refine)]
    for axis in "xyz"[:dim]:
        words += [f"-da_grid_{axis}", str(coarse)]
    return words


def parse(text):
    """The results that the program prints, one `name value` per line."""
    numbers = {"unknowns": int, "ranks": int, "iterations": int, "true_residual": float, "assembly_s": float, "setup_s": float, "solve_s": float}
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name in numbers:
            found[name] = numbers[name](value)
        elif name == "reason":
            found[name] = value.strip()
    return found


def sentence(text):
    """The first line of PETSc's error report. If there is none, the last line of the text."""
    lines = [line.split("PETSC ERROR:")[-1].strip() for line in text.splitlines() if line.strip()]
    report_of_petsc = [line for line in lines if line and not line.startswith("---")] if "PETSC ERROR" in text else lines[-1:]
    return (report_of_petsc[1] if len(report_of_petsc) > 1 else report_of_petsc[0] if report_of_petsc else "no output")[:200]


def run(command, limit):
    """One run: its results, or `status` timeout or error. No process stays behind."""
    # no daemon of Open MPI, which takes longer than small runs
    alone = {} if command[0] == "mpiexec" else {"OMPI_MCA_ess_singleton_isolated": "1"}
    environment = dict(os.environ, **alone, OMP_NUM_THREADS=os.environ.get("OMP_NUM_THREADS", "1"), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    begin = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return {"status": "timeout"}
    except OSError as error:
        sys.exit(f"cannot run {command[0]}: {error.strerror}")
    found = parse(done.stdout)
    found["wall_s"] = round(time.monotonic() - begin, 3)
    if done.returncode != 0 or "reason" not in found:
        found.update(status="error", message=sentence(done.stdout))
    else:
        found["status"] = "converged" if found["reason"].startswith("CONVERGED") else "diverged"
    return found


def measure(args):
    program = str(pathlib.Path(args.program).resolve())
    plugin = str(pathlib.Path(args.plugin).resolve())  # a path with a /, otherwise PETSc searches elsewhere
    sizes = {2: args.sizes[0], 3: args.sizes[1] if len(args.sizes) > 1 else None}
    launch = ["mpiexec", "-n", str(args.mpi)] if args.mpi > 1 else []
    extra = ["-dm_vec_type", args.vec_type] if args.vec_type else []
    extra += ["-dm_mat_type", args.mat_type] if args.mat_type else []
    extra += shlex.split(args.options)
    tables = [t for t in cases.tables(args.quick) if sizes[t["dim"]] and (not args.tables or t["id"] in args.tables)]
    unknown = set(args.tables) - {t["id"] for t in cases.tables(args.quick)}
    if unknown:
        sys.exit(f"--tables: there is no {', '.join(sorted(unknown))}")
    for t in tables:
        t["columns"] = {name: words for name, words in t["columns"].items() if not args.columns or name in args.columns}
    runs, begin, count = [], time.monotonic(), sum(len(t["rows"]) * len(t["columns"]) for t in tables)
    data = {"label": args.label, "machine": args.machine or platform.processor() or platform.machine(), "date": datetime.date.today().isoformat(), "ranks": args.mpi,
            "timed": not args.iterations_only, "limit_s": args.limit, "sizes": {str(d): s for d, s in sizes.items() if s}, "options": " ".join(extra), "runs": runs}
    for table in tables:
        for column, problem in table["columns"].items():
            for row, solver in table["rows"].items():
                if args.budget and time.monotonic() - begin > args.budget:
                    result = {"status": "not run"}
                    words = []
                else:
                    words = grid(table["dim"], sizes[table["dim"]]) + problem + table["solver"] + solver + ["-repeats", str(args.repeats)] + extra
                    if args.mpi > 1:  # one block per rank, with the default ILU(0)
                        words = ["bjacobi" if w == "ilu" else w for w in words]
                        words = [str(4 * args.mpi) if words[i - 1].endswith("pc_bjacobi_blocks") else w for i, w in enumerate(words)]
                    result = run(launch + [program, "-dll_append", plugin] + words, args.limit)
                runs.append(dict(table=table["id"], row=row, column=column, command=" ".join(words), **result))
                if sys.stderr.isatty() or args.verbose:
                    print(f"[{len(runs)}/{count}] {table['id']} {column} {row}: {result['status']} {result.get('iterations', '')} {result.get('message', '')}", file=sys.stderr, flush=True)
                report.write(args.out, {"sets": [data]})  # a run that is stopped keeps its results
    if args.csv:
        with open(args.csv, "w", newline="") as file:
            names = ["table", "row", "column", "status", "reason", "unknowns", "ranks", "iterations", "true_residual", "assembly_s", "setup_s", "solve_s", "wall_s", "message", "command"]
            writer = csv.DictWriter(file, names, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(runs)
    states = [r["status"] for r in runs]
    print(f"{len(runs)} runs in {time.monotonic() - begin:.0f} s: " + ", ".join(f"{states.count(s)} {s}" for s in sorted(set(states))) + f"; {args.out}")


def more_than_sor(runs):
    """Cases of the tables of defaults in which `line` needs more iterations than PETSc's smoother."""
    counts = {(r["table"], r["column"], r["row"]): r["iterations"] for r in runs if r["table"].startswith("defaults")}
    found = []
    for (table, column, row), count in counts.items():
        sor = counts[table, column, row.replace(", line", ", sor")]
        if row.endswith(", line"):
            print(f"{table}, {column}: {row} {count}, sor {sor}")
        if count > sor:
            found.append(f"{table}, {column}: {row} takes {count} iterations, sor {sor}")
    return found


def check(args):
    """Checks the quick measurement by counts from theory, not by those of an earlier run."""
    with open(args.file) as file:
        runs = json.load(file)["sets"][0]["runs"]
    wrong = [f"{r['row']} at {r['column']}: {r['status']} {r.get('message', '')}, true residual {r.get('true_residual')}" for r in runs if r["status"] != "converged" or not r["true_residual"] <= 1e-7]
    if wrong or not runs:
        sys.exit("\n".join(wrong) or "there are no runs")
    wrong += more_than_sor(runs)
    counts = {(r["row"], r["column"]): r["iterations"] for r in runs if r["table"] == "anisotropic"}
    jacobi, sor = counts["Chebyshev, jacobi", "10^4"], counts["Chebyshev, sor", "10^4"]
    for row in ("Chebyshev, line", "Richardson, line", "Richardson, line x,y, zebra"):
        isotropic, strong = counts[row, "1"], counts[row, "10^4"]
        print(f"{row}: {isotropic} iterations at ratio 1, {strong} at 10^4; jacobi {jacobi}, sor {sor}")
        if strong > isotropic + 2:
            wrong.append(f"{row}: {strong} iterations at ratio 10^4, {isotropic} at 1: it should not need more")
        if 4 * strong > jacobi or strong >= sor:
            wrong.append(f"{row}: {strong} iterations at ratio 10^4 against jacobi {jacobi} and sor {sor}: it should need far fewer")
    if wrong:
        sys.exit("\n".join(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    m = commands.add_parser("measure", help="run all cases, write a JSON file")
    m.add_argument("--program", default=str(ROOT / "build/bin/smoothers"))
    m.add_argument("--plugin", default=str(ROOT / "build/lib/libribbon.so"))
    m.add_argument("--out", default="smoothers.json", help="JSON file to write")
    m.add_argument("--csv", help="the same runs as a table")
    m.add_argument("--label", default="CPU", help="name of this set of runs on the page; a set of the same name is replaced")
    m.add_argument("--machine", help="name of the machine on the page")
    m.add_argument("--sizes", type=lambda s: [int(x) for x in s.split(",")], default=[257, 33], help="nodes per direction in 2D[,3D]; without a second value there are no 3D runs")
    m.add_argument("--tables", type=lambda s: s.split(","), default=[], help="only these (see cases.py)")
    m.add_argument("--columns", type=lambda s: s.split(","), default=[], help="only these, by their heads on the page: 1,10^4")
    m.add_argument("--mpi", type=int, default=1, help="ranks")
    m.add_argument("--vec-type", help="-dm_vec_type: cuda, kokkos")
    m.add_argument("--mat-type", help="-dm_mat_type: aijcusparse, aijkokkos")
    m.add_argument("--options", default="", help="more options for every run")
    m.add_argument("--repeats", type=int, default=1, help="timed solves of every run after a first one (0: only the first one)")
    m.add_argument("--limit", type=float, default=120, help="seconds for one run")
    m.add_argument("--budget", type=float, default=0, help="seconds after which no run is started (0: none)")
    m.add_argument("--iterations-only", action="store_true", help="the machine is busy: the page shows no seconds of this set")
    m.add_argument("--quick", action="store_true", help="two ratios and five smoothers, and defaults in seven cases, for a test")
    m.add_argument("--verbose", action="store_true", help="a line for every run")
    m.set_defaults(call=measure)
    r = commands.add_parser("report", help="write the tables and the picture")
    r.add_argument("files", nargs="*", help="measurements to add to the data file first")
    r.add_argument("--data", default=str(HERE / "smoothers.json"))
    r.add_argument("--page", default=str(ROOT / "docs/performance/smoothers.md"))
    r.add_argument("--picture", default=str(ROOT / "docs/pictures/smoothers.png"))
    r.add_argument("--no-plot", action="store_true")
    r.set_defaults(call=report.report)
    c = commands.add_parser("check", help="check a quick measurement")
    c.add_argument("file")
    c.set_defaults(call=check)
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    main()
