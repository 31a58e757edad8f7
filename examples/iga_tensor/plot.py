# SPDX-License-Identifier: BSD-2-Clause
"""Plots the output of iga_tensor: the spline of -field with its error, and errors against elements.

plot.py PICTURE.png FIELD.csv LABEL=ROWS.csv LABEL=ROWS.csv     FIELD: in 2D; ROWS: of -csv, a panel for each
"""
import csv
import math
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read(name):
    with open(name, newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def draw_field(figure, axes, rows):
    x = sorted({row["x"] for row in rows})
    y = sorted({row["y"] for row in rows})

    def table(value):  # points with the first coordinate fastest
        values = [value(row) for row in rows]
        return [values[k : k + len(x)] for k in range(0, len(values), len(x))]

    for axis, title, color, value in zip(
        axes, ("projection", "$\\log_{10}$ |error|"), ("RdBu_r", "magma"), (lambda row: row["u"], lambda row: math.log10(abs(row["error"]) + 1e-16))
    ):
        figure.colorbar(axis.pcolormesh(x, y, table(value), cmap=color, shading="nearest", rasterized=True), ax=axis)
        axis.set(title=title, aspect="equal", xlabel="x", ylabel="y")


def draw_errors(axis, label, rows):
    for p in sorted({row["degree"] for row in rows}):
        mine = [row for row in rows if row["degree"] == p]
        n, error = [row["elements"] for row in mine], [row["l2"] for row in mine]
        (line,) = axis.loglog(n, error, "o-", ms=3, lw=1, label=f"p = {p:.0f}")
        axis.loglog(n, [error[-1] * (n[-1] / m) ** (p + 1) for m in n], ":", lw=1, color=line.get_color())
    axis.set_xticks(n, [f"{m:.0f}" for m in n], minor=False)
    axis.minorticks_off()
    axis.set(xlabel="elements in a direction", title=f"{label}, L2 error, dotted: rate p + 1")
    axis.legend()


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    picture, field, *named = sys.argv[1:]
    figure, axes = plt.subplots(2, 2, figsize=(9, 7.4), constrained_layout=True)
    draw_field(figure, axes[0], read(field))
    for axis, text in zip(axes[1], named):
        label, _, name = text.partition("=")
        draw_errors(axis, label, read(name))
    figure.savefig(picture, dpi=110)
