# SPDX-License-Identifier: BSD-2-Clause
"""Plots the errors of heat3d: plot.py PICTURE.png BOTH.csv TIME.csv

BOTH: runs that refine space and time together. TIME: runs with more and more steps on one grid.
"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read(name):
    with open(name, newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def draw(axis, x, error, title, xlabel):
    axis.loglog(x, error, "o-", ms=4, label="largest error")
    axis.loglog(x, [error[-1] * (x[-1] / each) ** 2 for each in x], "k--", lw=1, label="order 2")
    axis.set(title=title, xlabel=xlabel)
    axis.set_xticks(x, [f"{each:.0f}" for each in x])
    axis.minorticks_off()
    axis.legend()


def main(picture, both, time):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    rows = read(both)
    draw(left, [row["n"] + 1 for row in rows], [row["error"] for row in rows], "space and time together", "intervals in a direction")
    rows = read(time)
    draw(right, [row["steps"] for row in rows], [row["error_in_time"] for row in rows], "time alone", "steps")
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
