#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Error against seconds of TS adi, compared with PETSc's own methods.

    work_precision.py measure [PROBLEM ...] --build build
                                runs the problems of problems.py and adds them to work_precision.json
    work_precision.py suite [PROBLEM ...] --build build
                                runs the problems of suite.py with all methods at three tolerances, adds them
                                to suite.json and prints steps, evaluations, errors and seconds
    work_precision.py suite --device
                                runs some of them on a GPU, on finer grids, and adds them to suite_gpu.json
    work_precision.py suite --fine
                                runs those in two and three dimensions on a core, on finer grids, and adds them
                                to suite_fine.json
    work_precision.py report    writes tables of docs/performance/time_steppers.md and docs/guide/heston.md,
                                docs/pictures/work_precision.png, docs/pictures/adi_suite.png and
                                docs/pictures/heston.png

Seconds are CPU seconds, user and system, of one rank, minus those of a run without steps. Other work on the
machine does not change them. On a GPU they are wall-clock seconds of TSStep (-log_view), minus those of two
steps on a small grid. This removes the work that libraries do once, for any grid. `measure` needs only
Python's standard library and the programs, `report` also matplotlib (--no-plot: only the tables).
"""
import argparse
import csv
import datetime
import pathlib
import platform
import re
import sys
import tempfile

sys.dont_write_bytecode = True
import problems
import report
import suite
from programs import run, seconds_of_start, seconds_of_steps, solution

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]


def points_of_heston(command, options, points, folder, limit):
    """Errors and seconds in the output of the program. The first number of steps is run twice, so that
    work that a library does once does not count."""
    steps = [n for _, n in points]
    ok, _ = run(command + options + ["-reference_file", f"{folder}/reference", "-steps", ",".join(map(str, steps[:1] + steps)), "-csv", f"{folder}/rows"], limit)
    if not ok:
        return []
    with open(f"{folder}/rows", newline="") as file:
        rows = list(csv.DictReader(file))[1:]
    return [{"steps": n, "error": float(r["time_error"]), "price_error": float(r["price_error"]), "seconds": float(r["cpu"])} for n, r in zip(steps, rows)]


def surface_of_heston(command, folder, limit):
    ok, _ = run(command + ["-m1", "50", "-m2", "25", "-reference_steps", "0", "-steps", "100", "-surface", f"{folder}/surface"], limit)
    if not ok:
        sys.exit("no prices to draw")
    with open(f"{folder}/surface", newline="") as file:
        rows = list(csv.DictReader(file))
    return {"surface": {key: [round(float(row[key]), 4) for row in rows] for key in ("s", "v", "price")}}


def points_of_heat(command, options, points, folder, limit):
    """Like points_of_heston(): seconds of a step, without the first two steps. The first number of steps
    is run twice here, too."""
    steps = [n for _, n in points]
    ok, _ = run(command + options + ["-steps", ",".join(map(str, steps[:1] + steps)), "-csv", f"{folder}/rows"], limit)
    if not ok:
        return []
    with open(f"{folder}/rows", newline="") as file:
        rows = list(csv.DictReader(file))[1:]
    return [{"steps": n, "error": float(r["error_in_time"]), "seconds": round(n * float(r["seconds"]), 5)} for n, r in zip(steps, rows)]


def points_of_tutorial(problem, command, options, points, folder, limit, start):
    reference, found = solution(f"{folder}/reference"), []
    for kind, value in points:
        step = problem["time"] / value if kind == "steps" else problem["first_step"]
        control = ["-ts_adapt_type", "none"] if kind == "steps" else ["-ts_adapt_type", "basic", "-ts_rtol", str(value), "-ts_atol", str(value)]
        words = command + options + control + ["-ts_dt", repr(step)]
        if "small" in problem:
            if not found:
                start = seconds_of_start(words, problem["small"], limit, f"{folder}/log")
                if start is None:
                    return []
            words += ["-log_view", f":{folder}/log"]
        ok, seconds = run(words + ["-ts_view_solution", f"binary:{folder}/solution"], limit)
        if ok:
            if "small" in problem:
                seconds = seconds_of_steps(f"{folder}/log")
            error = max(abs(a - b) for a, b in zip(solution(f"{folder}/solution"), reference))
            found.append({kind: value, "error": error, "seconds": round(max(seconds - start, 0), 3)})
    return found


def measure_problem(problem, build, limit, wanted):
    """Curves of the methods whose names match `wanted`. Points of runs that fail, or have huge errors, are
    omitted."""
    command = [f"{build}/bin/{problem['program']}", "-dll_append", f"{build}/lib/libribbon.so"] + problem["options"].split()
    curves, start, measures_itself = {}, 0, {"heston": points_of_heston, "heat3d": points_of_heat}.get(problem["program"])
    with tempfile.TemporaryDirectory() as folder:
        if not measures_itself:
            command += ["-ts_max_time", str(problem["time"]), "-ts_exact_final_time", "matchstep", "-ts_max_steps", "1000000"]
            ok, _ = run(command + problem["reference"].split() + ["-ts_view_solution", f"binary:{folder}/reference"], 20 * limit)
            if not ok:
                sys.exit(f"{problem['title']}: no reference")
            if "small" not in problem:
                start = min(run(command + ["-ts_max_steps", "0"], limit)[1] for _ in range(3))
        command += problem.get("device", "").split()
        for name, (options, points) in problem["methods"].items():
            if not re.search(wanted, name):
                continue
            if measures_itself:
                found = measures_itself(command, options.split(), points, folder, limit)
            else:
                found = points_of_tutorial(problem, command, options.split(), points, folder, limit, start)
            curves[name] = {"options": options, "points": [p for p in found if p["error"] < 1e3]}  # false for NaN
            print(f"{problem['title']}, {name}: " + "; ".join(f"{p['error']:.1e} in {p['seconds']:.2f} s" for p in curves[name]["points"]), flush=True)
        surface = surface_of_heston(command, folder, limit) if problem.get("surface") else {}
    kept = {key: problem[key] for key in ("title", "options", "device", "noise") if key in problem}
    return kept | {"curves": curves} | surface


def measure(args):
    known = problems.problems()
    unknown = set(args.problems) - set(known)
    if unknown:
        sys.exit(f"there is no problem {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    data = report.read(args.data)
    for name in args.problems or known:
        found = measure_problem(known[name], pathlib.Path(args.build).resolve(), args.limit, args.methods) | {"machine": args.machine, "date": datetime.date.today().isoformat()}
        before = data.get(name, {}).get("curves", {})
        found["curves"] = {m: found["curves"].get(m, before.get(m)) for m in known[name]["methods"] if m in found["curves"] or m in before}
        data[name] = data.get(name, {}) | found
        report.write(args.data, data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(HERE / "work_precision.json"))
    commands = parser.add_subparsers(dest="command", required=True)
    m = commands.add_parser("measure", help="run problems")
    m.add_argument("problems", nargs="*")
    m.add_argument("--build", default=str(ROOT / "build"), help="build folder")
    m.add_argument("--machine", default=platform.processor() or platform.machine(), help="name of the machine on the pages")
    m.add_argument("--methods", default="", help="regular expression: only methods whose names match; the others keep their values")
    m.add_argument("--limit", type=float, default=300, help="wall-clock seconds for one run")
    m.set_defaults(call=measure)
    suite.add_command(commands, str(ROOT / "build"))
    r = commands.add_parser("report", help="write tables and pictures")
    r.add_argument("--suite", default=str(HERE / "suite.json"))
    r.add_argument("--suite-gpu", default=str(HERE / "suite_gpu.json"))
    r.add_argument("--suite-fine", default=str(HERE / "suite_fine.json"))
    r.add_argument("--docs", default=str(ROOT / "docs"), help="folder of the pages")
    r.add_argument("--no-plot", action="store_true")
    r.set_defaults(call=report.report)
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    main()
