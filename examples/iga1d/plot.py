# SPDX-License-Identifier: BSD-2-Clause
"""Plots the output of iga1d -csv and of experiments.

plot.py convergence PICTURE.png ROWS.csv    errors against the number of elements
plot.py solutions PICTURE.png FIELD.csv     solutions at quadrature points, of iga1d -field
plot.py scaling PICTURE.png EXPERIMENTS.json [LABEL=CHAINS.json...]
                                            times of solvers against the number of elements, with the rows of
                                            ribbon-bench-chain --json
plot.py levels PICTURE.png LEVELS.json      time of each level of the tree, in factorizations
plot.py schedule PICTURE.png SCHEDULE.json  elimination trees
"""
import csv
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read(name):
    with open(name, newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def degrees(rows):
    return sorted({int(row["degree"]) for row in rows})


def convergence(picture, name):
    rows = read(name)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    for axis, norm, extra in zip(axes, ("h1", "l2"), (0, 1)):
        for p in degrees(rows):
            mine = [row for row in rows if row["degree"] == p]
            n, error = [row["elements"] for row in mine], [row[norm] for row in mine]
            (line,) = axis.loglog(n, error, "o-", ms=3, lw=1, label=f"p = {p}")
            # the theoretical rate through the last error above rounding
            last = max((k for k in range(len(n)) if error[k] > 1e-9), default=0)
            axis.loglog(n, [error[last] * (n[last] / m) ** (p + extra) for m in n], ":", lw=1, color=line.get_color())
        axis.set(xlabel="elements", ylabel=f"relative error in {norm.upper()}", ylim=(1e-13, 30), title=f"dotted: rate p{' + 1' if extra else ''}")
        axis.legend()
    figure.savefig(picture, dpi=120)


def solutions(picture, name):
    rows = read(name)
    exact = sorted({(row["x"], row["exact"]) for row in rows})
    shown = degrees(rows)
    across = min(3, len(shown) + 1)
    down = -(-(len(shown) + 1) // across)
    figure, axes = plt.subplots(down, across, figsize=(4 * across, 2.8 * down), constrained_layout=True, squeeze=False, sharex=True, sharey=True)
    for axis, p in zip(axes.flat, shown):
        for n in sorted({row["elements"] for row in rows}):
            points = [(row["x"], row["u"]) for row in rows if (row["degree"], row["elements"]) == (p, n)]
            axis.plot(*zip(*points), ".", ms=3, label=f"{n:.0f} elements")
        axis.set(title=f"p = {p}")
    axes.flat[len(shown)].plot(*zip(*exact), lw=1, color="black")
    axes.flat[len(shown)].set(title="exact")
    for axis in axes.flat[len(shown) + 1 :]:
        axis.axis("off")
    most = 1.6 * max(abs(u) for _, u in exact)
    axes[0][0].set(ylim=(-most, most))
    axes[0][0].legend(fontsize="small")
    figure.savefig(picture, dpi=120)


def scaling(picture, name, *labelled):
    with open(name) as file:
        rows = [row for row in json.load(file) if row["rhs"] == 1 and not row["label"].startswith("tree")]
    sizes = {row["elements"] for row in rows if row["label"] != "multifrontal"}
    rows = [row for row in rows if row["elements"] in sizes]
    for label, _, name in (text.partition("=") for text in labelled):  # rows of ribbon-bench-chain are elements
        with open(name) as file:
            for row in json.load(file):
                if row["columns"] == 1 and row["solver"] == "ribbon QR":
                    rows.append({"label": label, "degree": row["half_bandwidth"], "elements": row["rows"], {"factor": "setup"}.get(row["phase"], row["phase"]): 1e-3 * row["ms"]})
    shown = [p for p in (1, 3, 5) if p in degrees(rows)]
    labels = list(dict.fromkeys(row["label"] for row in rows))
    figure, axes = plt.subplots(2, len(shown), figsize=(4.2 * len(shown), 7), constrained_layout=True, squeeze=False, sharex=True, sharey="row")
    for row_of_axes, key, title in zip(axes, ("setup", "solve"), ("set-up", "one solve")):
        for axis, p in zip(row_of_axes, shown):
            for color, label in enumerate(labels):
                points = sorted((row["elements"], row[key]) for row in rows if row["label"] == label and row["degree"] == p and key in row)
                axis.loglog(*zip(*points), "o-", ms=3, lw=2 if label == "multifrontal" else 1, color=f"C{color}", label=label) if points else None
            axis.set(xlabel="elements", ylabel="seconds", title=f"{title}, p = {p}")
    axes[0][0].legend(fontsize="small")
    figure.savefig(picture, dpi=120)


def levels(picture, name):
    with open(name) as file:
        rows = json.load(file)
    kinds = [(solver, leaf) for solver, leaf in dict.fromkeys((row["solver"], row["leaf"]) for row in rows)]
    figure, axes = plt.subplots(1, len(kinds), figsize=(4.6 * len(kinds), 4), constrained_layout=True, squeeze=False)
    for axis, (solver, leaf) in zip(axes[0], kinds):
        for color, p in enumerate(sorted({row["half_bandwidth"] for row in rows})):
            mine = [row for row in rows if (row["solver"], row["leaf"], row["half_bandwidth"]) == (solver, leaf, p)]
            points = sorted((row["columns"], row["ms"]) for row in mine if row["phase"] == "factor level" and row["ms"] > 0)
            leaves = max(((row["rows"], row["ms"]) for row in mine if row["phase"] == "factor leaves"), default=None)
            axis.loglog(*zip(*points), "o-", ms=3, lw=1, color=f"C{color}", label=f"p = {p}") if points else None
            axis.loglog([2 * points[-1][0]], [leaves[1]], "s", ms=6, color=f"C{color}") if points and leaves else None
        axis.set(xlabel="joins on the level (squares: leaves)", ylabel="milliseconds", title=f"{solver.replace('ribbon ', '')}, leaves of {leaf if leaf > 1 else 'p + 1'} rows")
    axes[0][0].legend()
    figure.savefig(picture, dpi=120)


def schedule(picture, name):
    """Trees from the leaves, at the bottom, to the root. A row of nodes is computed at the same time."""
    with open(name) as file:
        trees = json.load(file)
    figure, axes = plt.subplots(len(trees), 1, figsize=(9, 3.2 * len(trees)), constrained_layout=True, squeeze=False)
    for axis, tree in zip(axes[:, 0], trees):
        places = [index + 0.5 for index in range(tree["leaves"])]
        axis.plot(places, [0] * len(places), "s", color="C0", ms=6)
        axis.annotate(f" {tree['leaves']} leaves", (tree["leaves"], 0), va="center", annotation_clip=False)
        for level, joins in enumerate(tree["joins"], start=1):
            above = [(places[2 * k] + places[2 * k + 1]) / 2 for k in range(joins)]
            for k, place in enumerate(above):
                for child in places[2 * k : 2 * k + 2]:
                    axis.plot([child, place], [level - 1, level], color="grey", lw=0.8, zorder=0)
            axis.plot(above, [level] * joins, "o", color="C1", ms=6)
            axis.annotate(f" {joins} join" + ("s" if joins > 1 else ""), (tree["leaves"], level), va="center", annotation_clip=False)
            if len(places) % 2:  # the last node waits
                axis.plot([places[-1]] * 2, [level - 1, level], color="grey", lw=0.8, ls=":", zorder=0)
                above.append(places[-1])
            places = above
        axis.set(title=f"p = {tree['degree']}, {tree['unknowns']} unknowns", ylabel="level", xlim=(0, tree["leaves"]))
        axis.set_yticks(range(len(tree["joins"]) + 1))
        axis.set_xticks([])
        for side in ("top", "right", "bottom"):
            axis.spines[side].set_visible(False)
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    kinds = {f.__name__: f for f in (convergence, solutions, scaling, levels, schedule)}
    if len(sys.argv) < 4 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    kinds[sys.argv[1]](*sys.argv[2:])
