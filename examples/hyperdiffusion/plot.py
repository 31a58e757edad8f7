# SPDX-License-Identifier: BSD-2-Clause
"""Plots the decay of the modes and the refinement study of hyperdiffusion.

   plot.py AMPLITUDES.csv REFINEMENT.csv PICTURE.png
"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read(name):
    with open(name, newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def main(amplitudes, refinement, picture):
    decay, study = read(amplitudes), read(refinement)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    for k in sorted({row["k"] for row in decay}):
        rows = [row for row in decay if row["k"] == k and row["theory"] > 1e-12]
        (line,) = left.semilogy([r["time"] for r in rows], [r["theory"] for r in rows], "-", lw=1)
        left.semilogy([r["time"] for r in rows][::3], [abs(r["amplitude"]) for r in rows][::3], "o", ms=3, color=line.get_color(), label=f"k = {k:.0f}")
    left.set(xlabel="time", ylabel="amplitude", title="decay of the modes (lines: $e^{-D(2\\pi k)^4 t}$)", ylim=(1e-12, 2))
    left.ticklabel_format(axis="x", style="sci", scilimits=(0, 0))
    left.legend()
    n, e = [row["points"] for row in study], [row["error"] for row in study]
    right.loglog(n, e, "o-", label="largest error")
    right.loglog(n, [e[-1] * (n[-1] / m) ** 2 for m in n], "k--", lw=1, label="slope -2")
    right.set(xlabel="points per line", ylabel="error", title="refinement")
    right.legend()
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
