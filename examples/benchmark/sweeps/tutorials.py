#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Time to solution of unmodified PETSc tutorials with multigrid, for several smoothers on its levels.

    tutorials.py measure --bin build/bin --plugin build/lib/libribbon.so --label LABEL --out FILE.json
    tutorials.py table FILE.json ... --results examples/benchmark/results/point_smoothers.json

`measure` runs every smoother with every program and writes JSON after each run, so that an interrupted
measurement leaves its results. `table` adds a table for each label and number of ranks to a file that
examples/benchmark/tables.py reads. Both need only Python's standard library.

Seconds are those of PETSc's log: `set-up` is PCSetUp, which includes the coarse matrices of the application
and the estimates of eigenvalues for Chebyshev's iteration; `solve` is KSPSolve. Newton's method has several
of both, and the sums count. The outer solver is FGMRES, which stops at norms of the true residual. These
norms wait for a device. A part of a set-up that a device has not finished yet counts as solve, so that only
the sum of both is exact there. Some PCs do a part of their set-up in their first application; it counts as
solve too.

A tutorial solves once in a process. On a device, all kernels and the handles of the libraries are therefore
loaded at the start, before any solver exists (-device_enable eager, CUDA_MODULE_LOADING=EAGER).
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "examples/benchmark/applications"))
import applications
from cases import TYPES

RICHARDSON = "-mg_levels_ksp_type richardson "
SMOOTHERS = {
    "Chebyshev, sor (default)": "",
    "Chebyshev, jacobi": "-mg_levels_pc_type {jacobi}",
    "Chebyshev, ilu(0)": "-mg_levels_pc_type {ilu}",
    "Chebyshev, multicolor": "-mg_levels_pc_type multicolor",
    "Richardson, multicolor forward": RICHARDSON + "-mg_levels_pc_type multicolor -mg_levels_pc_multicolor_forward",
    "Richardson, multicolor symmetric": RICHARDSON + "-mg_levels_pc_type multicolor",
    "Richardson, line": RICHARDSON + "-mg_levels_pc_type line",
}
COMMON = "-pc_type mg -ksp_type fgmres -ksp_converged_reason"
LINEAR = "-ksp_rtol 1e-8 -ksp_max_it 200"
SINGULAR = " -mg_coarse_pc_type redundant -mg_coarse_redundant_pc_type svd"  # Neumann conditions


def grid(dim, coarse, refine):
    """Options, and the grid in words."""
    points = (coarse - 1) * 2**refine + 1
    words = [f"-da_grid_{axis} {coarse}" for axis in "xyz"[:dim]] + [f"-da_refine {refine}"]
    return " ".join(words), f"{points}^{dim} points"


def programs(quick):
    """name: options, size in words, unknowns of a point, option of the matrix type on the levels."""
    plane, plane_size = grid(2, 5, 3 if quick else 8)
    cube, cube_size = grid(3, 5, 2 if quick else 5)
    cavity, cavity_size = grid(2, 4, 2 if quick else 7)
    ice, (x, z) = ("-M 4 -P 2 -da_refine 1", (8, 3)) if quick else ("-M 8 -P 2 -da_refine 4", (128, 17))
    newton = "-snes_converged_reason"
    return {
        "ksp/ex45": (f"{cube} {LINEAR}", cube_size, 1, "-dm_mat_type"),
        "ksp/ex29": (f"{plane} {LINEAR}", plane_size, 1, "-dm_mat_type"),
        "ksp/ex50": (f"{plane} {LINEAR}{SINGULAR}", plane_size, 1, "-dm_mat_type"),
        "snes/ex5": (f"{plane} {newton}", plane_size, 1, "-dm_mat_type"),
        "snes/ex19": (f"{cavity} {newton}", f"{cavity_size}, 4 unknowns each", 4, "-dm_mat_type"),
        "snes/ex48": (f"{ice} {newton} -thi_mat_type aij", f"{x}^2 * {z} points, 2 unknowns each", 2,
                      "-thi_mat_type"),
    }


def executable(folder, name):
    """The program in a build folder of Ribbon, or one of PETSc's own name."""
    prefixed = name.replace("/", "_")
    for candidate in (prefixed, name.split("/")[1], name):
        path = pathlib.Path(folder, candidate)
        if path.is_file():
            return str(path.resolve())
    sys.exit(f"--bin {folder}: there is neither {prefixed} nor {name.split('/')[1]}")


def copies(text):
    """Copies of KSPSolve between host and device, from the text form of the log: {direction: [count, MB]} of
    a rank on average. Without such columns there are none."""
    number = r"(\d+) +([\d.]+e[+-]\d+) +"
    found = re.findall(rf"^KSPSolve +[1-9].*? {number}{number}\d+$", text, re.M)
    return {"to_device": [sum(int(m[0]) for m in found), sum(float(m[1]) for m in found)],
            "to_host": [sum(int(m[2]) for m in found), sum(float(m[3]) for m in found)]}


def outcome(output, failure, newton):
    """Status of a run, with its iterations."""
    if failure:
        return {"status": "over limit" if failure.startswith("over ") else "error", "message": failure}
    ended = r"solve (converged|did not converge) due to (\w+)"
    counts = [int(n) for _, _, n in re.findall(rf"Linear {ended} iterations (\d+)", output)]
    found = {"iterations": sum(counts), "linear_solves": len(counts)}
    last = re.findall(("Nonlinear " if newton else "Linear ") + ended, output)
    if not last:
        return dict(found, status="error", message="the program does not report convergence")
    return dict(found, status="converged" if last[-1][0] == "converged" else "diverged", reason=last[-1][1])


def command(args, name, smoother, ranks):
    """Words of a run, without the options of the log."""
    options, _, block, mat_option = programs(args.quick)[name]
    point = {"jacobi": "pbjacobi" if block > 1 else "jacobi", "ilu": "ilu" if ranks == 1 else "bjacobi"}
    words = ["mpiexec", "-n", str(ranks)] if ranks > 1 else []
    words += [executable(args.bin, name), "-dll_append", str(pathlib.Path(args.plugin).resolve())]
    words += f"{options} {COMMON} {SMOOTHERS[smoother].format(**point)}".split()
    if args.device:
        mat, vec = TYPES[args.device]
        words += [mat_option, mat, "-dm_vec_type", vec, "-use_gpu_aware_mpi", "0", "-device_enable", "eager"]
    return words + args.options.split()


def run(args, words, newton):
    """One process: status, iterations, seconds, and copies on a device."""
    with tempfile.TemporaryDirectory() as folder:
        table, text = f"{folder}/log.csv", pathlib.Path(folder, "log.txt")
        log = f":{table}:ascii_csv" + (f",:{text}" if args.device else "")
        begin = time.monotonic()
        output, failure = applications.run(words + ["-log_view", log], args.limit)
        found = dict(outcome(output, failure, newton), wall_s=round(time.monotonic() - begin, 3))
        if found["status"] in ("converged", "diverged"):
            seen = applications.events(table)
            for key, event in (("setup_s", "PCSetUp"), ("solve_s", "KSPSolve"), ("newton_s", "SNESSolve")):
                if event in seen:
                    found[key] = seen[event][1]
            found["copies"] = copies(text.read_text(encoding="utf-8") if text.is_file() else "")
    return found


def better(new, old):
    """A converged run with less time replaces an earlier one. A failure replaces everything."""
    if old is None or new["status"] != "converged":
        return True
    return old["status"] == "converged" and new["setup_s"] + new["solve_s"] < old["setup_s"] + old["solve_s"]


def seconds(value):
    return f"{value:.2g}" if value < 1 else f"{value:.3g}"


def cell(found):
    if found is None:
        return "not run"
    if found["status"] == "converged":
        return f"{found['iterations']}: {seconds(found['setup_s'])} + {seconds(found['solve_s'])}"
    return found["status"]


def rows(runs, names):
    """Cells of the smoothers that ran, the shortest solve of every program in bold."""
    kept = {(r["smoother"], r["program"]): r for r in runs}
    best = {}
    for (_, program), found in kept.items():
        if found["status"] == "converged":
            best[program] = min(best.get(program, float("inf")), found["solve_s"])
    out = []
    for smoother in SMOOTHERS:
        if any((smoother, program) in kept for program in names):
            found = [kept.get((smoother, program)) for program in names]
            bold = [f and f["status"] == "converged" and f["solve_s"] == best[f["program"]] for f in found]
            out.append([smoother] + [f"**{cell(f)}**" if b else cell(f) for f, b in zip(found, bold)])
    return out


def write(name, data):
    partial = pathlib.Path(f"{name}.partial")
    partial.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(name)


def show(data):
    names = [name for name in data["sizes"] if any(r["program"] == name for r in data["runs"])]
    for ranks in data["ranks"]:
        print(f"\n{data['label']}, {ranks} rank(s): iterations: seconds of set-up + solve")
        lines = [["smoother"] + names] + rows([r for r in data["runs"] if r["ranks"] == ranks], names)
        widths = [max(len(line[k]) for line in lines) for k in range(len(names) + 1)]
        for line in lines:
            print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def invocation(args):
    """The command without folders, for the tables."""
    words = ["tutorials.py", "measure"]
    for name in ("device", "only", "repeats", "options"):
        if getattr(args, name) not in (None, "", 1):
            words += [f"--{name}", str(getattr(args, name))]
    return shlex.join(words + (["--quick"] if args.quick else []) + ["--ranks", ",".join(map(str, args.ranks))])


def measure(args):
    sizes = {p: size for p, (_, size, _, _) in programs(args.quick).items()}
    cells = [(ranks, program, smoother) for ranks in args.ranks for program in sizes for smoother in SMOOTHERS
             if re.search(args.only, f"{program}: {smoother}")]
    if not cells:
        sys.exit(f"--only {args.only}: no run matches")
    if args.device:
        os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")
    begin, best, count = time.monotonic(), {}, 0
    data = {"label": args.label, "machine": args.machine, "date": datetime.date.today().isoformat(),
            "quick": args.quick, "command": invocation(args), "ranks": args.ranks,
            "sizes": sizes, "runs": []}
    for repeat in range(args.repeats):  # all cells in turn: a change of the machine's speed hits all of them
        for key in cells:
            ranks, program, smoother = key
            if repeat and (key not in best or best[key]["status"] != "converged"):
                continue
            if args.budget and time.monotonic() - begin > args.budget:
                continue
            words = command(args, program, smoother, ranks)
            found = {"program": program, "smoother": smoother, "ranks": ranks}
            found.update(run(args, words, program.startswith("snes")))
            found["command"] = shlex.join(words[words.index("-dll_append") + 2:])
            count += 1
            best[key] = found if better(found, best.get(key)) else best[key]
            data["runs"] = list(best.values())
            write(args.out, data)
            print(f"[{count}/{len(cells) * args.repeats}] {program} {smoother} {ranks} rank(s): {cell(found)} "
                  f"{found.get('message', '')}", file=sys.stderr, flush=True)
    show(data)
    print(f"\n{count} runs in {time.monotonic() - begin:.0f} s; {args.out}")


def table(args):
    """Replaces tables of the same id and appends others."""
    path = pathlib.Path(args.results)
    tables = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    for name in args.files:
        data = json.loads(pathlib.Path(name).read_text(encoding="utf-8"))
        for ranks in data["ranks"]:
            runs = [r for r in data["runs"] if r["ranks"] == ranks]
            names = [p for p in data["sizes"] if any(r["program"] == p for r in runs)]
            if not runs:
                continue
            said = f"{data['label']}, {ranks} rank" + ("s" if ranks > 1 else "")
            new = {
                "id": re.sub(r"[^a-z0-9]+", "_", said.lower()).strip("_"),
                "title": f"PETSc's tutorials with multigrid ({said}), iterations: seconds of set-up + solve",
                "machine": data["machine"],
                "command": data["command"],
                "date": data["date"],
                "columns": ["smoother", *names],
                "rows": rows(runs, names),
                "notes": [f"{p}: {data['sizes'][p]}" for p in names] + ["bold: the shortest solve"],
            }
            places = [k for k, old in enumerate(tables) if old["id"] == new["id"]]
            if places:
                tables[places[0]] = new
            else:
                tables.append(new)
            print(f"<!-- results: {path.name}#{new['id']} -->\n<!-- end of results -->")
    if not tables:
        sys.exit("the files hold no runs")
    partial = pathlib.Path(f"{path}.partial")
    partial.write_text(json.dumps(tables, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(path)


def positive(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    m = commands.add_parser("measure", help="run the programs, write JSON, print a table")
    m.add_argument("--bin", default=str(ROOT / "build/bin"), help="folder of the programs, ksp_ex45 or ex45")
    m.add_argument("--plugin", default=str(ROOT / "build/lib/libribbon.so"))
    m.add_argument("--out", default="tutorials.json", help="JSON file to write")
    m.add_argument("--label", default="CPU", help="name of this set of runs, and of its tables")
    m.add_argument("--machine", default=platform.processor() or platform.machine(), help="its name in the tables")
    m.add_argument("--device", choices=TYPES, help="types of matrices and vectors on a GPU; -log_view needs several\n"
                   "viewers, as in PETSc 3.24")
    m.add_argument("--ranks", type=lambda s: [positive(x) for x in s.split(",")], default=[1], help="as in 1,2,4")
    m.add_argument("--only", default="", help="regular expression: only runs whose 'program: smoother' matches")
    m.add_argument("--repeats", type=positive, default=1, help="processes of each run; the one with the shortest\n"
                   "set-up + solve counts")
    m.add_argument("--limit", type=float, default=120, help="seconds for one run")
    m.add_argument("--budget", type=float, default=0, help="seconds after which no run is started (0: none)")
    m.add_argument("--options", default="", help="more PETSc options for every run")
    m.add_argument("--quick", action="store_true", help="small grids, for tests")
    m.set_defaults(call=measure)
    t = commands.add_parser("table", help="add tables to a file of results")
    t.add_argument("files", nargs="+", help="JSON files of measure")
    t.add_argument("--results", default=str(ROOT / "examples/benchmark/results/point_smoothers.json"))
    t.set_defaults(call=table)
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    main()
