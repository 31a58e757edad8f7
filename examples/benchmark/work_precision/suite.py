# SPDX-License-Identifier: BSD-2-Clause
"""The suite: problems for which TS adi is compared with PETSc's methods at equal tolerances. Needs only the
standard library.

Every problem is a program and its options: tutorials of PETSc, unmodified, and programs of this folder. A
method is a list of options, too. All methods get the same first step. Errors are the largest differences
from a reference with a tight tolerance on the same grid, relative to its largest value.
"""
import concurrent.futures
import datetime
import pathlib
import platform
import re
import sys
import tempfile

import report
from problems import DEVICE, SMOOTH
from programs import run, seconds_of_start, seconds_of_steps, solution

HERE = pathlib.Path(__file__).resolve().parent
# PETSc's methods, and solvers of their systems
LU = "-ksp_type preonly -pc_type lu"
ILU = "-ksp_type gmres -ksp_rtol 1e-6 -pc_type ilu"
MG = "-ksp_type gmres -ksp_rtol 1e-6 -pc_type mg -pc_mg_galerkin -pc_mg_levels 3"
REFERENCE = f"-ts_type rosw -ts_rosw_type ra34pw2 {LU} -ts_rtol 1e-9 -ts_atol 1e-9"
FULLY = "-ts_arkimex_fully_implicit"
HIGH = f"-ts_type arkimex -ts_arkimex_type 5 {FULLY} {LU} -snes_rtol 1e-10 -ts_rtol 1e-10 -ts_atol 1e-10"
TOLERANCES = (1e-3, 1e-4, 1e-5)


def evolution(name, what, dimensions, reference=HIGH, **more):
    return {"program": "evolution", "options": f"-equation {name}", "what": what, "dimensions": dimensions, "reference": reference} | more


def tutorial(program, options, time, what, dimensions, reference=HIGH, **more):
    return {"program": program, "options": f"{options} -ts_max_time {time}", "what": what, "dimensions": dimensions, "reference": reference} | more


# biharmonic.c begins with the solution at the end of a run of heat.c, which writes InitialSolution.heat
HEAT = "-da_refine 3 -square_initial -ts_dt 1e-6 -ts_max_time 0.005"

# `before`: a program that writes initial values, and its options
PROBLEMS = {
    "heat1": tutorial("ts_heat", "-da_refine 3 -square_initial -ts_dt 1e-6", 0.005, "heat equation", 1),
    "ex2": tutorial("ts_ex2", "-M 60 -ts_dt 1e-4", 0.5, "nonlinear diffusion, boundary values in time", 1),
    "ex3": tutorial("ts_ex3", "-nox -ts_dt 1e-5", 0.02, "heat equation", 1),
    "biharmonic": tutorial("ts_biharmonic", "-da_refine 3 -square_initial -ts_dt 1e-8", 0.0002, "fourth derivatives", 1, before=f"ts_heat {HEAT}"),
    "ex17": tutorial("ts_ex17", "-da_grid_x 65 -boundary 1 -ts_dt 1e-5", 0.05, "Neumann rows, a start that jumps", 1, REFERENCE),
    "ex22": tutorial("ts_ex22", "-da_grid_x 100 -nox -k0 1e3 -k1 2e3 -ts_dt 1e-4", 0.5, "advection and stiff reaction", 1, REFERENCE),
    "ex25": tutorial("ts_ex25", "-da_grid_x 60 -nox -ts_dt 1e-3", 5, "Brusselator, two components, boundary rows", 1),
    "chemotaxis": tutorial("ts_adr_ex4", "-da_refine 3", 1, "chemotaxis, two components", 1, REFERENCE),
    "ex19": tutorial("ts_ex19", "", 0.5, "van der Pol, one algebraic row", 0, REFERENCE),
    "ex40": tutorial("ts_ex40", "-ts_dt 1e-2", 5, "a bouncing ball: events", 0, REFERENCE),
    "ex12": tutorial("ts_ex12", "-da_grid_x 20 -da_grid_y 20 -usemonitor 0", 1, "wave equation", 2),
    "ex13": tutorial("ts_ex13", "-da_grid_x 33 -da_grid_y 33 -ts_dt 1e-5", 0.05, "heat equation, u_t = u in boundary rows", 2),
    "ex15_dirichlet": tutorial("ts_ex15", "-da_grid_x 33 -da_grid_y 33 -boundary 0 -ts_dt 1e-5", 0.05, "Dirichlet rows, a start that jumps", 2, REFERENCE),
    "ex15_neumann": tutorial("ts_ex15", "-da_grid_x 33 -da_grid_y 33 -boundary 1 -ts_dt 1e-5", 0.05, "Neumann rows, a start that jumps", 2, REFERENCE),
    "ex26": tutorial("ts_ex26", "-da_grid_x 16 -da_grid_y 16 -lidvelocity 100 -grashof 1e3 -ts_max_reject -1", 0.05, "driven cavity, four components", 2, REFERENCE),
    "gray_scott2": tutorial("ts_adr_ex5", "-da_grid_x 32 -da_grid_y 32 -ts_dt 1", 500, "Gray-Scott, two components", 2),
    "brusselator": {"program": "brusselator", "options": "-da_grid_x 32 -da_grid_y 32 -ts_dt 1e-3", "what": "Brusselator, two components", "dimensions": 2, "reference": HIGH},
    "anisotropic": evolution("anisotropic", "diffusivities of 10 and 0.1, insulated", 2),
    "mixed": evolution("mixed", "a mixed derivative", 2),
    "advection2": evolution("advection", "rotation, cell Peclet number 37", 2),
    "allen_cahn": evolution("allen_cahn", "Allen-Cahn equation", 2),
    "oregonator": evolution("oregonator", "Oregonator, three components", 2),
    "walls": evolution("walls", "boundary values in time, eliminated", 2),
    "wall_rows": evolution("wall_rows", "boundary values in time, as rows", 2, REFERENCE),
    "thermostat": evolution("thermostat", "a heater that events switch", 2),
    "heat3": evolution("heat", "heat equation", 3),
    "source3": evolution("source", "heat equation with a nonlinear source", 3),
    "advection3": evolution("advection3", "advection and little diffusion", 3),
    "gray_scott3": evolution("gray_scott", "Gray-Scott, two components", 3),
}

METHODS = {
    "adi": "-ts_type adi",
    "adi hundsdorfer_verwer": "-ts_type adi -ts_adi_type hundsdorfer_verwer",
    "adi ra34pw2": "-ts_type adi -ts_adi_type ra34pw2",
    "rosw, LU": f"-ts_type rosw {LU}",
    "rosw, GMRES + ILU": f"-ts_type rosw {ILU}",
    "rosw, GMRES + MG": f"-ts_type rosw {MG}",
    "bdf, LU": f"-ts_type bdf {LU}",
    "arkimex, LU": f"-ts_type arkimex {FULLY} {LU}",
    "cn, LU": f"-ts_type cn {LU}",
}

# ILU and SOR are sequential on a device, and left out. Grids are finer than above.
ON_DEVICE = ("ex13", "ex15_dirichlet", "ex15_neumann", "brusselator", "anisotropic", "mixed", "allen_cahn", "oregonator", "walls", "heat3", "source3", "gray_scott3")
REFINE = {2: 3, 3: 2}
# finer grids on a core: 61^2 to 129^2, 23^3 to 27^3
REFINE_ON_CORE = {2: 2, 3: 1}
DEVICE_METHODS = {
    "adi": "-ts_type adi",
    "adi, on a core": "-ts_type adi",
    "rosw, GMRES + Jacobi": "-ts_type rosw -ksp_type gmres -ksp_rtol 1e-6 -pc_type jacobi",
    "rosw, GMRES + MG": f"-ts_type rosw {MG} {SMOOTH}",
}
FINE_METHODS = {name: METHODS[name] for name in ("adi", "rosw, LU", "rosw, GMRES + ILU", "rosw, GMRES + MG")}


def applies(method, problem):
    """Multigrid needs a grid of several dimensions, ILU a matrix with a diagonal."""
    return "MG" not in method or problem["dimensions"] > 1


def counts(log):
    """Steps, evaluations of functions and Jacobians in the output of -log_view."""
    text, found = pathlib.Path(log).read_text(), {}
    for name, event in (("steps", "TSStep"), ("functions", "TSFunctionEval"), ("jacobians", "TSJacobianEval")):
        row = re.search(rf"^{event} +(\d+)", text, re.M)
        found[name] = int(row.group(1)) if row else 0
    return found


def point(command, options, tolerance, reference, folder, name, limit):
    """A run, or None if it fails."""
    words = command + options.split() + ["-ts_adapt_type", "basic", "-ts_rtol", str(tolerance), "-ts_atol", str(tolerance)]
    ok, seconds = run(words + ["-log_view", f":{folder}/{name}.log", "-ts_view_solution", f"binary:{folder}/{name}"], limit, folder)
    if not ok:
        return None
    largest = max(abs(b) for b in reference)
    error = max(abs(a - b) for a, b in zip(solution(f"{folder}/{name}"), reference)) / largest
    return {"tolerance": tolerance, **counts(f"{folder}/{name}.log"), "error": float(f"{error:.2e}"), "seconds": seconds}


def measure_problem(key, args):
    problem, build = PROBLEMS[key], pathlib.Path(args.build).resolve()
    command = [f"{build}/bin/{problem['program']}", "-dll_append", f"{build}/lib/libribbon.so"] + problem["options"].split()
    command += ["-ts_exact_final_time", "matchstep", "-ts_max_steps", "200000"]
    methods = {name: options for name, options in METHODS.items() if re.search(args.methods, name) and applies(name, problem)}
    with tempfile.TemporaryDirectory() as folder:
        if "before" in problem:
            program, *options_before = problem["before"].split()
            run([f"{build}/bin/{program}", *options_before], args.limit, folder)
        ok, _ = run(command + problem["reference"].split() + ["-ts_view_solution", f"binary:{folder}/reference"], 20 * args.limit, folder)
        if not ok:
            sys.exit(f"{key}: no reference")
        reference = solution(f"{folder}/reference")
        start = min(run(command + ["-ts_max_steps", "0"], args.limit, folder)[1] for _ in range(2))
        curves = {}
        for name, options in methods.items():
            found = [point(command, options, t, reference, folder, f"{re.sub('[^a-z0-9]', '_', name)}_{t}", args.limit) for t in TOLERANCES]
            curves[name] = {"options": options, "points": [p | {"seconds": round(max(p["seconds"] - start, 0), 3)} for p in found if p]}
    kept = {k: problem[k] for k in ("program", "options", "what", "dimensions") if k in problem}
    return kept | {"curves": curves, "machine": args.machine, "date": datetime.date.today().isoformat()}


def measure_finer(key, args):
    """Steps and seconds of TSStep at the tolerance of the tables, less those of two steps on a small grid: the start."""
    problem, build, curves = PROBLEMS[key], pathlib.Path(args.build).resolve(), {}
    refine = f"-da_refine {(REFINE if args.device else REFINE_ON_CORE)[problem['dimensions']]}"
    for name, options in (DEVICE_METHODS if args.device else FINE_METHODS).items():
        if not re.search(args.methods, name):
            continue
        words = [f"{build}/bin/{problem['program']}", "-dll_append", f"{build}/lib/libribbon.so", *problem["options"].split(), *options.split()]
        words += ["-ts_exact_final_time", "matchstep", "-ts_adapt_type", "basic", "-ts_rtol", str(report.TOLERANCE), "-ts_atol", str(report.TOLERANCE)]
        if args.device:
            words += ["-use_gpu_aware_mpi", "0"] if "core" in name else DEVICE.split()
        curves[name] = {"options": options, "points": []}
        with tempfile.TemporaryDirectory() as folder:
            log = f"{folder}/log"
            start = seconds_of_start(words, "", args.limit, log)
            if start is not None and run(words + refine.split() + ["-log_view", f":{log}"], args.limit, folder)[0]:
                curves[name]["points"] = [{"tolerance": report.TOLERANCE, **counts(log), "seconds": round(max(seconds_of_steps(log) - start, 0), 4)}]
    kept = {k: problem[k] for k in ("program", "what", "dimensions")} | {"options": f"{problem['options']} {refine}"}
    return kept | {"limit": args.limit, "curves": curves, "machine": args.machine, "date": datetime.date.today().isoformat()}


def measure(args):
    if args.check and (args.device or args.fine):
        sys.exit("--check compares errors, which --device and --fine do not measure")
    file = args.data or str(HERE / ("suite_gpu.json" if args.device else "suite_fine.json" if args.fine else "suite.json"))
    if args.device and args.fine:
        sys.exit("--device has its own grids, without --fine")
    flat = [k for k in args.problems if k in PROBLEMS and args.fine and PROBLEMS[k]["dimensions"] < 2]
    if flat:
        sys.exit(f"--fine runs problems in two and three dimensions, not {', '.join(flat)}")
    unknown = set(args.problems) - set(PROBLEMS)
    if unknown:
        sys.exit(f"there is no problem {', '.join(sorted(unknown))}; there are {', '.join(PROBLEMS)}")
    default_problems = ON_DEVICE if args.device else [k for k in PROBLEMS if PROBLEMS[k]["dimensions"] > 1] if args.fine else PROBLEMS
    data, keys = report.read(file), args.problems or list(default_problems)
    measure_one = measure_finer if args.device or args.fine else measure_problem
    methods = DEVICE_METHODS if args.device else FINE_METHODS if args.fine else METHODS
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        worse = []
        for key, found in zip(keys, pool.map(lambda k: measure_one(k, args), keys)):
            if args.check:
                worse += report.exceeds(key, found)
            before = data.get(key, {}).get("curves", {})
            found["curves"] = {m: found["curves"].get(m, before.get(m)) for m in methods if m in found["curves"] or m in before}
            data[key] = found
            print(f"{key}: {found['what']}")
            for name, curve in found["curves"].items():
                for p in curve["points"]:
                    print(f"  {name:20} tolerance {p['tolerance']:.0e}: {p['steps']:6} steps, {p['functions']:6} functions, {p['jacobians']:6} Jacobians, " + (f"error {p['error']:.1e}, " if "error" in p else "") + f"{p['seconds']:.3f} s")
                if not curve["points"]:
                    print(f"  {name:20} fails, or takes more than {args.limit:g} s")
            sys.stdout.flush()
            report.write(file, {k: data[k] for k in PROBLEMS if k in data})
    if args.check and worse:
        sys.exit("TS adi exceeds the limits: " + "; ".join(worse))


def add_command(commands, build):
    s = commands.add_parser("suite", help="run the suite")
    s.add_argument("problems", nargs="*")
    s.add_argument("--data", help="file of the measurements (default: suite.json, with --device suite_gpu.json, with --fine suite_fine.json)")
    s.add_argument("--build", default=build, help="build folder")
    s.add_argument("--machine", default=platform.processor() or platform.machine(), help="name of the machine")
    s.add_argument("--methods", default="", help="regular expression: only methods whose names match; the others keep their values")
    s.add_argument("--limit", type=float, default=60, help="wall-clock seconds for one run")
    s.add_argument("--jobs", type=int, default=1, help="problems at the same time; with more than one, seconds are not comparable")
    s.add_argument("--device", action="store_true", help="run some of the problems on a GPU and a core, on finer grids: adds them to suite_gpu.json")
    s.add_argument("--fine", action="store_true", help="run the problems in two and three dimensions on a core, on finer grids: adds them to suite_fine.json")
    s.add_argument("--check", action="store_true", help="fail if TS adi takes too many steps, or is too inaccurate, compared with rosw and LU")
    s.set_defaults(call=measure)
