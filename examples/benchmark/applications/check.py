# SPDX-License-Identifier: BSD-2-Clause
"""Checks a measurement made with --quick: answers, counts and the table, which must hold on any machine."""
import sys

import report


def count(point, event):
    return point["events"].get(event, [0, 0])[0]


def answers(data):
    """Every solver is right, except the one that is wrong on purpose. The table marks that one as wrong."""
    wrong = []
    for name, case in data["cases"].items():
        for solver, found in case["solvers"].items():
            meant, right = "wrong" in solver, report.is_right(case, found["points"])
            if meant == right:
                error = report.failure(found["points"]) or found["points"][-1]["error"]
                wrong.append(f"{name}, {solver}: {error}; right answers have {report.largest_error(case):g} at most")
    rows = [line for line in report.table(data) if "a wrong answer" in line]
    if "columns" in data["cases"] and (len(rows) != 1 or "wrong (" not in rows[0].replace("a wrong answer", "")):
        wrong.append(f"the table does not say that a wrong answer is wrong: {rows}")
    return wrong


def counts(data):
    """The number of set-ups is that of the steps."""
    wrong = []

    def expect(case, solver, event, wanted):
        for k, point in enumerate(data["cases"][case]["solvers"][solver]["points"]):
            if count(point, event) != wanted(point["steps"]):
                wrong.append(f"{case}, {solver}, run {k}: {event} {count(point, event)}, not {wanted(point['steps'])}")

    for case in ("columns", "columns_shared"):
        for solver in ("line", "KSP line"):
            expect(case, solver, "PCLineDetect", lambda steps: 1)  # later set-ups refresh the lines
            expect(case, solver, "PCLineExtract", lambda steps: steps)
            expect(case, solver, "PCLineFactor", lambda steps: steps)
        for solver in ("line", "multifrontal", "LU", "ILU(0), exact here"):
            expect(case, solver, "PCSetUp", lambda steps: steps)
            expect(case, solver, "PCApply", lambda steps: steps)
        expect(case, "multifrontal", "MFAnalyse", lambda steps: 1)
        expect(case, "multifrontal", "MFFactor", lambda steps: steps)
    for case in ("hyperdiffusion_contiguous", "hyperdiffusion_interleaved"):
        expect(case, "line", "PCLineExtract", lambda steps: 1)
        expect(case, "line", "PCLineSolve", lambda steps: steps)
    expect("heat3d", "TS adi, Douglas", "ADISplit", lambda steps: 1)
    expect("heat3d", "TS adi, Douglas", "PCLineSolve", lambda steps: 3 * steps)
    return wrong


def iterations(data):
    """On stretched grids line smoothers need no more iterations than SOR."""
    solvers = data["cases"]["stretched"]["solvers"]
    line, sor = (solvers[s]["points"][-1]["iterations"] for s in ("levels line", "levels SOR (PETSc's default)"))
    return [] if line <= sor else [f"stretched: {line} iterations with line, {sor} with SOR"]


def check(args):
    data = report.read(args.file)["sets"][0]
    if not data["quick"]:
        sys.exit(f"{args.file} was not measured with --quick")
    wrong = answers(data) + counts(data) + iterations(data)
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{sum(len(c['solvers']) for c in data['cases'].values())} solvers of {len(data['cases'])} applications")
