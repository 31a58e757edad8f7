# SPDX-License-Identifier: BSD-2-Clause
"""Tables and picture of docs/performance/smoothers.md from the runs in smoothers.json. Needs only the
standard library, and matplotlib for the picture."""
import json
import pathlib
import re
import sys

import cases

TABLES = "<!-- tables of {}, written by smoothers.py report -->"
END = "<!-- end of tables -->"


def write(name, data):
    """Writes atomically, with one run per line, so that differences are readable."""
    runs = [s["runs"] for s in data["sets"]]
    heads = [json.dumps({k: v for k, v in s.items() if k != "runs"}, ensure_ascii=False)[:-1] for s in data["sets"]]
    sets = [head + ', "runs": [\n' + ",\n".join(json.dumps(r, ensure_ascii=False) for r in rs) + "\n]}" for head, rs in zip(heads, runs)]
    partial = pathlib.Path(str(name) + ".partial")
    partial.write_text('{"sets": [\n' + ",\n".join(sets) + "\n]}\n", encoding="utf-8")
    partial.replace(name)


def read(name):
    return json.loads(pathlib.Path(name).read_text(encoding="utf-8"))


def cell(run, show):
    if run is None or run["status"] == "not run":
        return "·"
    if run["status"] == "timeout":
        return "over limit"
    if run["status"] == "error":
        return "error"
    if run["status"] == "diverged":
        most = {"DIVERGED_ITS": f"> {run['iterations']}", "DIVERGED_MAX_IT": f"> {run['iterations']}"}
        return most.get(run["reason"], "diverged")
    if not run["true_residual"] <= 1e-7:
        return f"wrong ({run['true_residual']:.0e})"
    return show(run)


def table(data, spec, show, mark):
    """Markdown of one table. The smallest `mark(run)` of each column is bold."""
    found = {(r["row"], r["column"]): r for r in data["runs"] if r["table"] == spec["id"]}
    rows = [row for row in spec["rows"] if any((row, c) in found for c in spec["columns"])]
    if not rows:
        return []
    out = ["| | " + " | ".join(spec["columns"]) + " |", "|---" * (len(spec["columns"]) + 1) + "|"]
    best = {}
    for column in spec["columns"]:
        good = [mark(found[row, column]) for row in rows if (row, column) in found and found[row, column]["status"] == "converged" and found[row, column]["true_residual"] <= 1e-7]
        best[column] = min(good) if good else None
    for row in rows:
        cells = []
        for column in spec["columns"]:
            run = found.get((row, column))
            text = cell(run, show)
            is_best = run is not None and run["status"] == "converged" and run["true_residual"] <= 1e-7 and mark(run) == best[column]
            cells.append(f"**{text}**" if is_best else text)
        out.append(f"| {row} | " + " | ".join(cells) + " |")
    return out


def seconds(value):
    return f"{value:.2g}" if value < 1 else f"{value:.3g}"


def describe(data, dim):
    size = int(data["sizes"][str(dim)])
    ranks = f"{data['ranks']} rank" + ("s" if data["ranks"] > 1 else "")
    return f"{size}^{dim} nodes, {ranks}" + (f", `{data['options']}`" if data["options"] else "")


def chosen(spec, wanted):
    """A table with the rows and columns that a marker names."""
    kept = {key: {name: spec[key][name] for name in wanted.get(key, spec[key]) if name in spec[key]} for key in ("rows", "columns")}
    return dict(spec, **kept)


def section(data, group, wanted):
    """All tables of one set of runs whose ids are in `group`. wanted: the choices of a marker (see
    `fill`)."""
    out = []
    shown = wanted.get("show", ["iterations", "seconds"])
    for spec in cases.tables():
        if spec["id"] not in group or str(spec["dim"]) not in data["sizes"]:
            continue
        spec = chosen(spec, wanted)
        counts = table(data, spec, lambda r: str(r["iterations"]), lambda r: r["iterations"])
        if not counts:
            continue
        said = f"**{spec['title']}** ({data['label']}, {describe(data, spec['dim'])}), "
        if "iterations" in shown:
            out += [said + "iterations:", ""] + counts + [""]
        if data["timed"] and "seconds" in shown:
            both = table(data, spec, lambda r: f"{seconds(r['setup_s'])} + {seconds(r['solve_s'])}", lambda r: r["setup_s"] + r["solve_s"])
            out += ["Seconds, set-up + solve:" if "iterations" in shown else said + "seconds, set-up + solve:", ""] + both + [""]
    return out


def fill(page, sets):
    """The page with new text between the markers.

    A marker names the tables that follow it, and may choose from them. It may have several lines:
    tables of ID, ID | sets: LABEL | show: iterations; seconds | rows: NAME; NAME | columns: NAME; NAME
    """
    text = pathlib.Path(page).read_text(encoding="utf-8")
    pattern = re.compile(re.escape(TABLES).replace(re.escape("{}"), "([^>]+?)") + ".*?" + re.escape(END), re.S)
    if not pattern.search(text):
        sys.exit(f"{page} has no markers of tables")

    def replace(match):
        ids, *choices = re.sub(r"\s+", " ", match.group(1)).split(" | ")
        group = [name.strip() for name in ids.split(",")]
        wanted = {key: values.split("; ") for key, values in (choice.split(": ", 1) for choice in choices)}
        specs = [spec for spec in cases.tables() if spec["id"] in group]
        known = {
            "sets": [data["label"] for data in sets],
            "show": ["iterations", "seconds"],
            "rows": [name for spec in specs for name in spec["rows"]],
            "columns": [name for spec in specs for name in spec["columns"]],
        }
        missing = set(group) - {spec["id"] for spec in specs} | {v for key, vs in wanted.items() for v in vs if v not in known.get(key, [])}
        if missing:
            sys.exit(f"{page}: a marker names what does not exist: {', '.join(sorted(missing))}")
        body = [line for data in sets if data["label"] in wanted.get("sets", known["sets"]) for line in section(data, group, wanted)]
        return "\n".join([TABLES.format(match.group(1)), ""] + body + [END])

    pathlib.Path(page).write_text(pattern.sub(replace, text), encoding="utf-8")


def draw(sets, picture):
    try:
        import matplotlib
    except ImportError:
        sys.exit(f"{sys.executable} has no matplotlib: install python3-matplotlib and take that Python, or say --no-plot. The tables are written.")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = [("anisotropic", "anisotropic: iterations against ratio"), ("layer", "boundary layer: against ratio of spacings"), ("rotated", "rotated, ratio $10^3$: against angle")]
    specs = {spec["id"]: spec for spec in cases.tables()}
    data = sets[0]
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), constrained_layout=True, sharey=True)
    for axis, (name, title) in zip(axes, panels):
        spec = specs[name]
        x = [float(words[words.index("-angle" if name == "rotated" else "-ratio") + 1]) for words in spec["columns"].values()]
        found = {(r["row"], r["column"]): r for r in data["runs"] if r["table"] == name}
        for k, row in enumerate(spec["rows"]):
            runs = [found.get((row, column)) for column in spec["columns"]]
            points = [(a, r["iterations"]) for a, r in zip(x, runs) if r and r["status"] == "converged"]
            if not points:
                continue
            axis.plot(*zip(*points), "o-" if "line" in row else "s--", ms=4, lw=1.2, color=f"C{k}", label=row)
        axis.set(title=title, yscale="log", xlabel="degrees between x and the strong direction" if name == "rotated" else "ratio")
        if name != "rotated":
            axis.set_xscale("log")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel(f"iterations, {describe(data, 2).split(',')[0].replace('^2', '$^2$')}")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="upper center", bbox_to_anchor=(0.5, 0), ncol=4, fontsize=9)
    figure.savefig(picture, dpi=110, bbox_inches="tight")


def merge(sets, new):
    """Adds a set with a new label. A set with a known label replaces the old one. Runs of other cells stay
    if all other facts of both sets are the same."""

    def said(data):
        return {k: v for k, v in data.items() if k not in ("runs", "date")}

    def key(run):
        return run["table"], run["row"], run["column"]

    unwanted = {"command", "wall_s"} | (set() if new["timed"] else {"assembly_s", "setup_s", "solve_s"})
    new = dict(new, runs=[{k: v for k, v in r.items() if k not in unwanted} for r in new["runs"]])
    for k, old in enumerate(sets):
        if old["label"] == new["label"]:
            fresh = {key(r) for r in new["runs"] if r["status"] != "not run"}
            kept = [r for r in old["runs"] if key(r) not in fresh] if said(old) == said(new) else []
            sets[k] = dict(new, runs=kept + [r for r in new["runs"] if key(r) in fresh or key(r) not in {key(o) for o in kept}])
            return
    sets.append(new)


def report(args):
    data = read(args.data) if pathlib.Path(args.data).exists() else {"sets": []}
    for name in args.files:
        for new in read(name)["sets"]:
            merge(data["sets"], new)
    if not data["sets"]:
        sys.exit(f"{args.data} holds no runs: name a file that measure wrote")
    write(args.data, data)
    fill(args.page, data["sets"])
    if not args.no_plot:
        draw(data["sets"], args.picture)
