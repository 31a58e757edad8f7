# SPDX-License-Identifier: BSD-2-Clause
"""Plots energy and dissipation of runs of navier_stokes.

    plot.py [--reference FILE] PICTURE.png ROWS.csv...    a curve for each file; its name ends in -N.csv

FILE: spectral_Re1600_512.gdiag of the International Workshops on High-Order CFD Methods, case C3.5, with the columns
time, energy, -dE/dt, enstrophy. With it the differences of each run are printed.
"""
import csv
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

PEAK = (8.97, 0.0128575)  # of -dE/dt in FILE


def read(name):
    with open(name, newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def print_differences(label, rows, reference):
    keep = rows["time"] <= reference[-1, 0]
    time = rows["time"][keep]
    for key, column in ("energy", 1), ("dissipation", 2):
        expected = np.interp(time, reference[:, 0], reference[:, column])
        difference = abs(rows[key][keep] - expected) / expected.max()
        print(f"{label}: largest difference of {key}: {100 * difference.max():.2f} % of its maximum, at t = {time[difference.argmax()]:.2f}")


def main(arguments):
    reference = None
    if arguments[:1] == ["--reference"] and len(arguments) > 1:
        reference = np.loadtxt(arguments[1])
        arguments = arguments[2:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    picture, *files = arguments
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    for color, name in enumerate(files):
        rows, points = read(name), re.search(r"-(\d+)\.csv$", name)
        label = f"{points[1]}$^3$" if points else name
        left.plot(rows["time"], rows["energy"], f"C{color}", label=label)
        right.plot(rows["time"], rows["dissipation"], f"C{color}", label=f"{label}: $-dE/dt$")
        right.plot(rows["time"], rows["viscous"], f"C{color}:", label=f"{label}: $2 \\nu$ enstrophy")
        if reference is not None:
            print_differences(label.replace("$", ""), rows, reference)
    if reference is not None:
        left.plot(reference[:, 0], reference[:, 1], "k--", lw=1, label="spectral, 512$^3$")
        right.plot(reference[:, 0], reference[:, 2], "k--", lw=1, label="spectral, 512$^3$")
    else:
        right.plot(*PEAK, "k+", ms=10, label="peak, spectral, 512$^3$")
    left.set(xlabel="t", title="kinetic energy")
    right.set(xlabel="t", title="dissipation")
    for axis in left, right:
        axis.legend(fontsize=8)
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main(sys.argv[1:])
