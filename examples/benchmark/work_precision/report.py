# SPDX-License-Identifier: BSD-2-Clause
"""Tables and pictures of the measurements of work_precision.py. Needs only the standard library, and
matplotlib for pictures."""
import json
import math
import pathlib
import re
import sys

BEGIN, END = "<!-- measured: {} -->", "<!-- end -->"
NOISE = 0.02  # seconds: variation of the start of programs, unless a problem has another value
CASES = [f"heston_case{k}" for k in (1, 2, 3, 4)]


def read(name):
    path = pathlib.Path(name)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(name, data):
    lines = json.dumps(data, indent=1)
    # one line per point
    flat = re.sub(r"\{\s+([^{}\[\]]*?)\s+\}", lambda m: "{" + re.sub(r"\s+", " ", m.group(1)) + "}", lines)
    pathlib.Path(name).write_text(re.sub(r"\[\s+([-0-9.e,\s]*?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m.group(1)) + "]", flat) + "\n", encoding="utf-8")


def seconds_to(points, error, noise):
    """Seconds at which a curve, in the order of its steps, falls to an error and stays below it. The value
    is interpolated logarithmically between two runs. None if the curve does not reach the error."""
    for a, b in reversed(list(zip(points, points[1:]))):
        if b["error"] <= error < a["error"]:
            t = math.log(a["error"] / error) / math.log(a["error"] / b["error"])
            return math.exp((1 - t) * math.log(max(a["seconds"], noise)) + t * math.log(max(b["seconds"], noise)))
    return max(points[0]["seconds"], noise) if points and points[0]["error"] <= error else None


def speeds(data, errors, shown):
    """Rows of a table of the curves `shown`: seconds to errors. Bold: the shortest time, and times within
    a tenth or within the noise of it. `<`: the first run already has a smaller error."""
    columns, noise = [], data.get("noise", NOISE)
    for error in errors:
        column = {name: seconds_to(curve["points"], error, noise) for name, curve in data["curves"].items()}
        best = min((s for s in column.values() if s is not None), default=None)
        first = {name: curve["points"][0]["error"] <= error for name, curve in data["curves"].items() if curve["points"]}
        columns.append({name: "" if s is None else ("**{}**" if s <= max(1.1 * best, best + noise) else "{}").format(("< " if first[name] else "") + f"{s:.2g}") for name, s in column.items()})
    rows = ["| seconds to an error of | " + " | ".join(f"{e:.0e}".replace("e-0", "e-") for e in errors) + " |", "|---" * (len(errors) + 1) + "|"]
    return rows + [f"| {name} | " + " | ".join(column[name] for column in columns) + " |" for name in shown if any(column[name] for column in columns)]


def orders(data):
    """Rows of a table: errors of the cases with 100 steps, and the order between 100 and 200 steps."""
    rows = ["| | " + " | ".join(data[case]["title"] for case in CASES) + " |", "|---" * (len(CASES) + 1) + "|"]
    for name in data[CASES[0]]["curves"]:
        cells = []
        for case in CASES:
            at = {p["steps"]: p for p in data[case]["curves"][name]["points"]}
            order = math.log2(at[100]["error"] / at[200]["error"])
            cells.append(f"{at[100]['error']:.1e}, {order:.2f}, {at[100]['price_error']:.1e}")
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return rows


TOLERANCE, STEPS, ERRORS = 1e-4, 1.3, 2  # of the table of the suite; limits of TS adi relative to rosw with LU
SHOWN = ("rosw, LU", "bdf, LU", "arkimex, LU", "cn, LU")


def at_tolerance(problem, method):
    points = problem["curves"].get(method, {}).get("points", [])
    return next((p for p in points if p["tolerance"] == TOLERANCE), None)


def exceeds(name, problem):
    """What exceeds the limits of TS adi relative to rosw with LU: no or one sentence."""
    adi, rosw = at_tolerance(problem, "adi"), at_tolerance(problem, "rosw, LU")
    if not rosw:
        return []
    if not adi:
        return [f"{name} fails"]
    if adi["steps"] <= STEPS * rosw["steps"] and adi["error"] <= ERRORS * max(rosw["error"], 1e-12):
        return []
    return [f"{name} at {TOLERANCE:.0e}: {adi['steps']} steps, {rosw['steps']} of rosw, errors {adi['error']:.1e} and {rosw['error']:.1e}"]


def suite_rows(data):
    """Steps and errors of the suite at one tolerance. Bold: more than the limits."""
    rows = ["| problem | dimensions | adi | " + " | ".join(SHOWN) + " |", "|---" * (len(SHOWN) + 3) + "|"]
    for name, problem in data.items():
        adi, rosw, cells = at_tolerance(problem, "adi"), at_tolerance(problem, "rosw, LU"), []
        for method in ("adi",) + SHOWN:
            p = at_tolerance(problem, method)
            steps, error = (str(p["steps"]), f"{p['error']:.1e}") if p else ("", "")
            if p and p is adi and rosw:
                steps = f"**{steps}**" if p["steps"] > STEPS * rosw["steps"] else steps
                error = f"**{error}**" if p["error"] > ERRORS * max(rosw["error"], 1e-12) else error
            cells.append(f"{steps}, {error}" if p else "fails")
        rows.append(f"| {name}: {problem['what']} | {problem['dimensions']} | " + " | ".join(cells) + " |")
    return rows


def suite_costs(data):
    """Evaluations and seconds of the problems with several dimensions."""
    rows = ["| problem | " + " | ".join(COSTS) + " |", "|---" * (len(COSTS) + 1) + "|"]
    for name, problem in data.items():
        if problem["dimensions"] > 1:
            points = [at_tolerance(problem, method) for method in COSTS]
            rows.append(f"| {name} | " + " | ".join(f"{p['functions']}, {p['jacobians']}, {p['seconds']:.2g}" if p else "fails" for p in points) + " |")
    return rows


def suite_finer(data):
    """Steps and seconds of the problems that ran on finer grids."""
    methods = list(next(iter(data.values()))["curves"])
    rows = ["| problem | dimensions | " + " | ".join(methods) + " |", "|---" * (len(methods) + 2) + "|"]
    for name, problem in data.items():
        points = [at_tolerance(problem, method) for method in methods]
        rows.append(f"| {name} | {problem['dimensions']} | " + " | ".join(f"{p['steps']}, {p['seconds']:.3g}" if p else "none" for p in points) + " |")
    return rows


COSTS = ("adi", "rosw, LU", "rosw, GMRES + ILU", "rosw, GMRES + MG", "arkimex, LU")


def table(data, said):
    """The rows that a marker names: `orders NAME` or `speeds PROBLEM`, then ` | CURVE; CURVE` for a choice
    of curves.

    A marker may have several lines.
    """
    name, _, curves = re.sub(r"\s+", " ", said).partition(" | ")
    what, _, problem = name.partition(" ")
    if what == "suite":
        if problem in ("device", "fine"):
            found = data.get({"device": "suite_gpu", "fine": "suite_fine"}[problem])
            return suite_finer(found) if found else []
        return (suite_rows if problem == "steps" else suite_costs)(data.get("suite", {}))
    if what == "orders":
        return orders(data) if all(case in data for case in CASES) else []
    if problem not in data:
        return []
    known = list(data[problem]["curves"])
    shown = curves.split("; ") if curves else known
    missing = [curve for curve in shown if curve not in known]
    if missing:
        sys.exit(f"a marker names curves that do not exist in {problem}: {'; '.join(missing)}")
    title = f"{data[problem]['title']}, `{data[problem]['options']}`, {data[problem]['machine']}:"
    return [title, ""] + speeds(data[problem], (1e-2, 1e-3, 1e-4, 1e-5), shown)


def fill(page, data):
    text = page.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(BEGIN).replace(re.escape("{}"), "([^>]+?)") + ".*?" + re.escape(END), re.S)
    page.write_text(pattern.sub(lambda m: "\n".join([BEGIN.format(m.group(1)), ""] + table(data, m.group(1)) + ["", END]), text), encoding="utf-8")


def curves(axis, data, x="seconds"):
    """TS adi in solid lines, PETSc's methods in dashed ones."""
    for k, (name, curve) in enumerate(data["curves"].items()):
        points = [(max(p[x], data.get("noise", NOISE)), p["error"]) for p in curve["points"] if x in p]
        if points:
            axis.loglog(*zip(*points), "o-" if name.startswith("adi") else "s--", ms=4, lw=1.4 if name.startswith("adi") else 1, color=f"C{k % 10}", mfc="white" if k >= 10 else None, label=name)
    axis.grid(alpha=0.3)
    axis.set(title=data["title"], ylabel="largest error", xlabel=("seconds" if data.get("device") else "seconds of the processor") if x == "seconds" else x)
    axis.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=2)


def draw_suite(data, docs, plt):
    """Error against steps of every problem."""
    columns = 5
    rows = -(-len(data) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.2 * columns, 2.6 * rows), constrained_layout=True, squeeze=False)
    for axis in axes.flat[len(data):]:
        axis.axis("off")
    for axis, (name, problem) in zip(axes.flat, data.items()):
        for k, method in enumerate(("adi",) + SHOWN):
            points = [(p["steps"], max(p["error"], 1e-12)) for p in problem["curves"].get(method, {}).get("points", [])]
            if points:
                axis.loglog(*zip(*points), "o-" if method == "adi" else "s--", ms=3, lw=1.4 if method == "adi" else 1, color=f"C{k}", label=method)
        axis.set_title(f"{name} ({problem['dimensions']}D)", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.3)
    if data:
        axes.flat[0].legend(fontsize=7)
        figure.supxlabel("steps", fontsize=9)
        figure.supylabel("largest error", fontsize=9)
        figure.savefig(docs / "pictures/adi_suite.png", dpi=80)


def draw(data, docs, plt):
    for name, problems in (("work_precision", ("dirichlet", "neumann", "brusselator")), ("work_precision_gpu", ("gpu_dirichlet", "gpu_brusselator", "gpu_heat"))):
        found = [data[problem] for problem in problems if problem in data]
        if found:
            figure, axes = plt.subplots(1, len(found), figsize=(5.5 * len(found), 6.2), constrained_layout=True, squeeze=False)
            for axis, problem in zip(axes[0], found):
                curves(axis, problem)
            figure.savefig(docs / f"pictures/{name}.png", dpi=100)
    draw_suite(data["suite"], docs, plt)
    if "heston_200" not in data or "surface" not in data.get(CASES[0], {}):
        return
    figure = plt.figure(figsize=(16, 5.8), constrained_layout=True)
    axis = figure.add_subplot(1, 3, 1)
    curves(axis, data[CASES[0]], "steps")
    axis.set(title="case 1, 100 x 50: error in time")
    curves(figure.add_subplot(1, 3, 2), data["heston_200"])
    surface = data[CASES[0]]["surface"]
    axis = figure.add_subplot(1, 3, 3, projection="3d")
    axis.plot_trisurf(surface["s"], surface["v"], surface["price"], cmap="viridis", lw=0.1)
    axis.set(title="case 1: price", xlabel="s", ylabel="v")
    figure.savefig(docs / "pictures/heston.png", dpi=100)


def report(args):
    data, docs = read(args.data), pathlib.Path(args.docs)
    if not data:
        sys.exit(f"{args.data} holds nothing: run work_precision.py measure")
    data["suite"], data["suite_gpu"], data["suite_fine"] = read(args.suite), read(args.suite_gpu), read(args.suite_fine)
    for page in ("performance/time_steppers.md", "guide/heston.md"):
        fill(docs / page, data)
    if args.no_plot:
        return
    try:
        import matplotlib
    except ImportError:
        sys.exit(f"{sys.executable} has no matplotlib: install python3-matplotlib and take that Python, or say --no-plot. The tables are written.")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    draw(data, docs, plt)
