#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Applications with Ribbon and with PETSc's own solvers: set-up, refresh, application, time to solution.

    applications.py measure --build build [--quick] [--device cuda] [--only REGEX]
                                                   prints a table; writes JSON and plot to out/
    applications.py report out/applications.json   writes applications.json, docs/pictures/applications.png
                                                   and docs/performance/applications.md
    applications.py check out/applications.json    checks a measurement made with --quick, without its times

Times are wall-clock times of PETSc's log (-log_view): the shortest of several runs, in which the solvers
alternate. `measure` and `report` need matplotlib for the plot (--no-plot: no plot). Everything else needs
only Python's standard library.
"""
import argparse
import array
import csv
import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import cases
import check
import report

ROOT = pathlib.Path(__file__).resolve().parents[3]
KEPT = re.compile(r"PCSetUp|PCApply|KSPSolve|SNESSolve|TSStep|TSJacobianEval|SNESJacobianEval|MatMult|MatConvert|"
                  r"MatLUFactor(Sym|Num)|MatILUFactorSym|MatSolve|(PCLine|KSPLine|ADI|MF)[A-Z]\w*")


def events(name):
    """{event: [count, seconds]} of a log in the format ascii_csv, over all stages, of the slowest rank."""
    found = {}
    with open(name, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            event, rank = row["Event Name"].strip(), int(row["Rank"])
            if event == "summary" or (int(row["Count"]) > 0 and KEPT.fullmatch(event)):
                of_rank = found.setdefault(event, {}).setdefault(rank, [0, 0.0])
                of_rank[0] += int(row["Count"])
                of_rank[1] += float(row["Time"])
    return {event: max(ranks.values(), key=lambda r: r[1]) for event, ranks in found.items()}


def solution(name):
    """The entries of a Vec in PETSc's binary format."""
    numbers = array.array("d")
    numbers.frombytes(pathlib.Path(name).read_bytes()[8:])
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers


def difference(name, reference):
    """Largest difference, relative to the largest entry."""
    a, b = solution(name), solution(reference)
    return max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, b)) if len(a) == len(b) else float("inf")


def sentence(text):
    """The message of a PETSc error, without places and versions. If there is no error, the last line of
    the text."""
    lines = [line.split("PETSC ERROR:")[1].strip() for line in text.splitlines() if "PETSC ERROR:" in line]
    said = []
    for line in lines:
        if said and re.match(r"See https://|WARNING!|Petsc ", line):
            break
        if line and not line.startswith("---"):
            said.append(line)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (said[-1] if said else lines[-1] if lines else "no output")[:200]


def run(words, limit):
    """(output, None), or (output, reason of the failure). The process has ended in both cases."""
    alone = {} if words[0] == "mpiexec" else {"OMPI_MCA_ess_singleton_isolated": "1"}  # starts faster
    environment = dict(os.environ, **alone, OMP_NUM_THREADS=os.environ.get("OMP_NUM_THREADS", "1"),
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_rmaps_base_oversubscribe="1")
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True,
                              timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return "", f"over {limit:g} s"
    except OSError as error:
        return "", f"cannot run {words[0]}: {error.strerror}"
    return done.stdout, sentence(done.stdout) if done.returncode else None


class Application:
    """A case with its programs, folder and options; measures a solver at all numbers of steps."""

    def __init__(self, case, args, folder):
        self.case, self.limit, self.folder = case, args.limit, folder
        launch = ["mpiexec", "-n", str(args.mpi)] if args.mpi > 1 else []
        plugin = str(pathlib.Path(args.build, "lib/libribbon.so").resolve())
        self.command = launch + [str(pathlib.Path(args.build, "bin", case["program"]).resolve()), "-dll_append", plugin]
        self.command += case["options"].split()
        self.more = args.options.split()
        self.device = ""
        if args.device:
            mat, vec = cases.TYPES[args.device]
            self.device = case["device"].format(mat=mat, vec=vec) + " -log_view_gpu_time"  # waits for the device
        self.reference, self.failure = None, None
        if case["error"] == "reference":
            self.reference = str(pathlib.Path(folder, "reference"))
            words = self.command + case["reference"].split() + ["-snes_view_solution", f"binary:{self.reference}"]
            output, failure = run(words, 10 * self.limit)
            self.failure = failure and f"no reference: {failure}"

    def point(self, options, wanted, k):
        """One run of k steps: {steps, whole, solver, events, error, iterations}, or {failure}."""
        if self.failure:
            return {"steps": k, "failure": self.failure}
        log, found = f"{self.folder}/log.csv", f"{self.folder}/solution"
        words = self.command + options.split() + wanted.split() + self.device.split() + self.more
        words += ["-ksp_converged_reason", "-log_view", f":{log}:ascii_csv"]
        words += ["-snes_view_solution", f"binary:{found}"] if self.reference else []
        output, failure = run(words, self.limit)
        last = (k, wanted) == self.case["steps"][-1]
        if not failure and re.search("Linear solve did not converge", output):
            failure = "diverged: " + re.search(r"DIVERGED_\w+", output).group()
        if not failure and last and "Nonlinear solve did not converge" in output:
            failure = "Newton's method does not converge"
        if failure:
            return {"steps": k, "failure": failure}
        seen = events(log)
        iterations = [int(n) for n in re.findall(r"Linear solve converged due to \w+ iterations (\d+)", output)]
        if self.reference:
            error = difference(found, self.reference)
        else:
            error = float(re.findall(self.case["error"], output, re.M)[-1])
        steps = seen[self.case["counted"]][0] if "counted" in self.case else k
        return {"steps": steps, "whole": seen.pop("summary")[1], "error": error,
                "iterations": sum(iterations) if iterations else None,
                "solver": sum(seen[e][1] for e in self.case["solver"] if e in seen), "events": seen}


def merge(old, new):
    """The shortest of each time. Values other than times are those of the last run."""
    if old is None or "failure" in old or "failure" in new:
        return new if old is None or "failure" not in old else old
    times = {e: [n, min(s, old["events"].get(e, [n, s])[1])] for e, (n, s) in new["events"].items()}
    return dict(new, whole=min(old["whole"], new["whole"]), solver=min(old["solver"], new["solver"]), events=times)


def measure_case(case, args):
    points = {name: [None] * len(case["steps"]) for name in case["solvers"]}
    with tempfile.TemporaryDirectory() as folder:
        application = Application(case, args, folder)
        for _ in range(args.repeat):
            for j, (k, wanted) in enumerate(case["steps"]):
                for name, options in case["solvers"].items():  # in turn
                    points[name][j] = merge(points[name][j], application.point(options, wanted, k))
    kept = {key: case[key] for key in ("title", "program", "options", "limit", "like", "steps") if key in case}
    return dict(kept, options=" ".join([case["options"], application.device, args.options]).strip(),
                solvers={name: {"options": case["solvers"][name], "points": points[name]} for name in points})


def measure(args):
    wanted = {name: case for name, case in cases.cases(args.quick).items() if re.search(args.only, name)}
    if not wanted:
        sys.exit(f"--only {args.only}: there are {', '.join(cases.cases())}")
    place = f"GPU, {args.device}" if args.device else "CPU"
    data = {"label": args.label or f"{place}, {args.mpi} rank{'s' if args.mpi > 1 else ''}", "machine": args.machine,
            "date": datetime.date.today().isoformat(), "remark": args.remark, "load": [round(os.getloadavg()[0], 1)],
            "repeat": args.repeat, "quick": args.quick, "cases": {}}
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    for number, (name, case) in enumerate(wanted.items(), 1):
        print(f"[{number}/{len(wanted)}] {case['title']}", file=sys.stderr, flush=True)
        data["cases"][name] = measure_case(case, args)
        data["load"] = data["load"][:1] + [round(os.getloadavg()[0], 1)]
        report.write(out / "applications.json", {"sets": [data]})  # an interrupted run leaves its results
    print("\n".join(report.table(data)))
    print(f"\n{out / 'applications.json'}")
    if not args.no_plot:
        report.draw(data, out / "applications.png")
        print(out / "applications.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    m = commands.add_parser("measure", help="run the applications")
    m.add_argument("--build", default=str(ROOT / "build"), help="build folder, with bin/ and lib/")
    m.add_argument("--out", default=str(ROOT / "out"), help="folder of applications.json and applications.png")
    m.add_argument("--only", default="", help="regular expression: only cases whose names match")
    m.add_argument("--quick", action="store_true", help="small sizes, for tests")
    m.add_argument("--device", choices=cases.TYPES, help="types of matrices and vectors on a GPU")
    m.add_argument("--mpi", type=int, default=1, help="ranks")
    m.add_argument("--options", default="", help="more PETSc options for every run")
    m.add_argument("--repeat", type=int, default=3, help="runs of each kind; the shortest of each time counts")
    m.add_argument("--limit", type=float, default=300, help="seconds for one run")
    m.add_argument("--label", help="name of this measurement on the page; one of the same name is replaced")
    m.add_argument("--machine", default=platform.processor() or platform.machine(), help="name of the machine on the page")
    m.add_argument("--remark", default="", help="a sentence for the page")
    m.add_argument("--no-plot", action="store_true")
    m.set_defaults(call=measure)
    r = commands.add_parser("report", help="write tables and plot of docs/")
    r.add_argument("files", nargs="*", help="JSON files of measure")
    r.add_argument("--data", default=str(pathlib.Path(__file__).resolve().parent / "applications.json"))
    r.add_argument("--docs", default=str(ROOT / "docs"), help="folder of the pages")
    r.add_argument("--no-plot", action="store_true")
    r.set_defaults(call=report.report)
    c = commands.add_parser("check", help="check a measurement made with --quick")
    c.add_argument("file")
    c.set_defaults(call=check.check)
    args = parser.parse_args()
    args.call(args)


if __name__ == "__main__":
    main()
