# SPDX-License-Identifier: BSD-2-Clause
"""Draws what iga1d -csv writes.
plot.py convergence PICTURE.png ROWS.csv              errors against the number of elements
plot.py times PICTURE.png LABEL=ROWS.csv...           times of solvers against the number of elements (rows with one right-hand side), and against that of right-hand sides
"""
import csv
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
            # the rate of theory through the last error that rounding has not reached
            last = max((k for k in range(len(n)) if error[k] > 1e-9), default=0)
            axis.loglog(n, [error[last] * (n[last] / m) ** (p + extra) for m in n], ":", lw=1, color=line.get_color())
        axis.set(xlabel="elements", ylabel=f"relative error in {norm.upper()}", ylim=(1e-13, 30), title=f"dotted: rate p{' + 1' if extra else ''}")
        axis.legend()
    figure.savefig(picture, dpi=120)


def times(picture, named):
    solvers = {label: read(name) for label, _, name in (text.partition("=") for text in named)}
    figure, axes = plt.subplots(1, 3, figsize=(14, 4), constrained_layout=True)
    for (label, rows), style in zip(solvers.items(), ("-", "--", ":", "-.")):
        for color, p in enumerate(degrees(rows)):
            single = [row for row in rows if row["degree"] == p and row["rhs"] == 1]
            several = [row for row in rows if row["degree"] == p and row["elements"] == 128 * (p + 1)]
            for axis, key, x, mine in zip(axes, ("setup", "solve", "solve"), ("elements", "elements", "rhs"), (single, single, several)):
                axis.loglog(*zip(*sorted((row[x], row[key]) for row in mine)), f"o{style}", ms=3, lw=1, color=f"C{color}", label=f"{label}, p = {p}")
    for axis, title in zip(axes, ("factorization", "one right-hand side", "$128 (p + 1)$ elements")):
        axis.set(xlabel="elements", ylabel="seconds", title=title)
    axes[2].set(xlabel="right-hand sides")
    axes[0].legend(fontsize="x-small")
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    if sys.argv[1:2] == ["convergence"] and len(sys.argv) == 4:
        convergence(*sys.argv[2:])
    elif sys.argv[1:2] == ["times"] and len(sys.argv) > 3:
        times(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(__doc__)
