# SPDX-License-Identifier: BSD-2-Clause
"""Table, plot and pages of measurements by applications.py. Needs only the standard library, and
matplotlib for the plot."""
import json
import math
import pathlib
import re
import sys

BEGIN = "<!-- table of applications, written by examples/benchmark/applications/applications.py report -->"
END = "<!-- end of table -->"
TIMES = ("first", "step", "whole")
SET_UPS = ("PCSetUp", "ADISplit", "ADIMass")  # events of set-ups, which do not overlap
HEADS = ["", "first set-up", "refresh", "application", "MatMult", "first step", "further step", "whole program",
         "iterations", "error"]


def write(name, data):
    lines = json.dumps(data, indent=1)
    flat = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m.group(1)) + "]", lines)
    pathlib.Path(name).write_text(flat + "\n", encoding="utf-8")


def read(name):
    path = pathlib.Path(name)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"sets": []}


def mean(point, event):
    """Mean seconds of an event. None: the event did not occur."""
    count, seconds = point["events"].get(event, [0, 0])
    return seconds / count if count else None


def facts(points):
    """The values of a row of the table, times in seconds. None: there is no such value.

    first    the first step with all set-ups
    set_up   set-ups of the first step
    refresh  the mean of later set-ups
    step     a further step: a refresh, and (V(k) - V(1)) / (k - 1). V(k) is the time to k solutions without
             set-ups, because the times of set-ups may vary between runs by more than many steps.
    """
    one, most = points[0], points[-1]
    more = most["steps"] - one["steps"]
    set_ups = [sum(p["events"].get(e, [0, 0])[1] for e in SET_UPS) for p in (one, most)]
    again = most["events"].get("PCSetUp", [0, 0])[0] - one["events"].get("PCSetUp", [0, 0])[0]
    refresh = max(set_ups[1] - set_ups[0], 0) / again if again > 0 else None
    solves = most["solver"] - set_ups[1] - (one["solver"] - set_ups[0])
    return {
        "first": one["solver"],
        "step": ((refresh or 0) * again + max(solves, 0)) / more if more > 0 else None,
        "set_up": set_ups[0],
        "refresh": refresh,
        "application": mean(most, "PCApply"),
        "product": mean(most, "MatMult"),
        "whole": most["whole"],
        "steps": most["steps"],
        "iterations": most["iterations"],
        "error": most["error"],
    }


def failure(points):
    return next((p["failure"] for p in points if "failure" in p), None)


def largest_error(case):
    """Largest error of a right answer; infinite if the solver it is compared with has no answer."""
    if "like" not in case:
        return case["limit"]
    points = case["solvers"].get(case["like"], {"points": [{"failure": ""}]})["points"]
    return math.inf if failure(points) is not None else case["limit"] * points[-1]["error"]


def is_right(case, points):
    """Whether a solver has an answer that is neither wrong nor NaN."""
    return failure(points) is None and points[-1]["error"] <= largest_error(case)


def milliseconds(seconds):
    if seconds is None:
        return "-"
    ms = 1e3 * seconds
    return f"{ms:.2g}" if ms < 10 else f"{ms:.3g}" if ms < 1000 else f"{ms:.0f}"


def row(case, name, points, best):
    """Cells of a solver. The least times among solvers with right answers are bold."""
    if failure(points) is not None:
        return [name, failure(points)] + [""] * (len(HEADS) - 2)
    f = facts(points)
    right = is_right(case, points)
    cells = [name] + [milliseconds(f[key]) for key in ("set_up", "refresh", "application", "product")]
    for key in TIMES:
        text = milliseconds(f[key])
        cells.append(f"**{text}**" if right and f[key] is not None and f[key] == best[key] else text)
    iterations = "-" if f["iterations"] is None else f"{f['iterations']} in {f['steps']}"
    return cells + [iterations, f"{f['error']:.1e}" if right else f"wrong ({f['error']:.0e})"]


def table(data):
    """Markdown: one table of all cases, milliseconds."""
    out = ["| " + " | ".join(HEADS) + " |", "|---" * len(HEADS) + "|"]
    for case in data["cases"].values():
        out.append(f"| **{case['title']}** |" + " |" * (len(HEADS) - 1))
        right = [facts(s["points"]) for s in case["solvers"].values() if is_right(case, s["points"])]
        best = {key: min((f[key] for f in right if f[key] is not None), default=None) for key in TIMES}
        for name, solver in case["solvers"].items():
            out.append("| " + " | ".join(row(case, name, solver["points"], best)) + " |")
    return out


def draw_case(axis, case, steps):
    """Time to k solutions, first + (k - 1) step, as lines (solid: Ribbon). Measured times are dots."""
    counts = [10 ** (j / 10) for j in range(31)]
    for j, (name, solver) in enumerate(case["solvers"].items()):
        if not is_right(case, solver["points"]):
            continue
        f, color = facts(solver["points"]), f"C{j}"
        ours = re.search(r"\b(line|adi|multifrontal)\b", name)
        if f["step"] is not None:
            times = [f["first"] + (k - 1) * f["step"] for k in counts]
            axis.plot(counts, times, "-" if ours else "--", color=color, lw=1.5 if ours else 1, label=name)
        dots = [(p["steps"], p["solver"]) for p in solver["points"]]
        axis.plot(*zip(*dots), "o", ms=4, color=color, label=None if f["step"] is not None else f"{name}, one step")
    title = "\n".join(re.findall(r".{1,44}(?:\s|$)", case["title"].replace("^2", "$^2$").replace("^3", "$^3$")))
    axis.set(xscale="log", yscale="log", ylabel="seconds to solution", xlabel=steps)
    axis.set_title(title, fontsize=9)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7)


def draw(data, picture):
    """A panel for each case."""
    try:
        import matplotlib
    except ImportError:
        sys.exit(f"{sys.executable} has no matplotlib: install python3-matplotlib and take that Python, or --no-plot")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    across = min(4, len(data["cases"]))
    down = -(-len(data["cases"]) // across)
    figure, axes = plt.subplots(down, across, figsize=(5 * across, 4.8 * down), constrained_layout=True, squeeze=False)
    for axis in axes.flat[len(data["cases"]):]:
        axis.set_visible(False)
    for axis, (identity, case) in zip(axes.flat, data["cases"].items()):
        draw_case(axis, case, "Newton iterations" if identity == "newton" else "steps")
    figure.savefig(picture, dpi=90)
    plt.close(figure)


def section(data):
    loads = " and ".join(str(load) for load in data["load"])
    said = f"{data['label']}: {data['machine']}, {data['date']}, least of {data['repeat']} runs, milliseconds;"
    return [f"{said} load average {loads} at the ends. {data['remark']}".strip(), ""] + table(data) + [""]


def report(args):
    docs = pathlib.Path(args.docs)
    data = read(args.data)
    for name in args.files:
        for new in read(name)["sets"]:
            if new["quick"]:
                sys.exit(f"{name} was measured with --quick, which is for tests")
            old = next((s for s in data["sets"] if s["label"] == new["label"]), None)
            if old is None:
                data["sets"].append(new)
            else:  # cases without new measurements stay
                old.update(new, cases={**old["cases"], **new["cases"]})
    if not data["sets"]:
        sys.exit(f"{args.data} holds nothing: name a file that measure wrote")
    write(args.data, data)
    page = docs / "performance/applications.md"
    text = page.read_text(encoding="utf-8")
    if BEGIN not in text:
        sys.exit(f"{page} has no place for the table: {BEGIN}")
    body = "\n".join([BEGIN, ""] + [line for s in data["sets"] for line in section(s)] + [END])
    text = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: body, text, flags=re.S)
    page.write_text(text, encoding="utf-8")
    if not args.no_plot:
        draw(data["sets"][0], docs / "pictures/applications.png")
