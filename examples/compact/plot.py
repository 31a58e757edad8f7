# SPDX-License-Identifier: BSD-2-Clause
"""Plots the results of compact: plot.py PICTURE.png PREFIX

PREFIX: of the files that `compact -csv PREFIX` writes.
"""
import csv
import math
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {2: "gray", 4: "C0", 6: "C1", 8: "C2", 10: "C3"}


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def read(prefix, table):
    with open(f"{prefix}-{table}.csv", newline="") as file:
        return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(file)]


def label(order):
    return "second-order differences" if order == 2 else f"order {order:.0f}"


def by_order(rows):
    return {order: [row for row in rows if row["order"] == order] for order in sorted({row["order"] for row in rows})}


def draw_wavenumbers(axis, rows):
    for order, row in by_order([row for row in rows if row["scheme"] in ("second-order differences", "first derivative")]).items():
        axis.plot([r["w"] for r in row], [r["theory"] for r in row], color=COLOURS[order], lw=1)
        axis.plot([r["w"] for r in row][::6], [r["measured"] for r in row][::6], "o", ms=3, color=COLOURS[order], label=label(order))
    axis.plot([0, math.pi], [0, math.pi], "k--", lw=1, label="exact")
    axis.set(xlabel="wavenumber times spacing", ylabel="modified wavenumber", title="first derivative (lines: theory)", ylim=(0, math.pi))
    axis.legend(fontsize=8)


def draw_orders(axis, rows):
    for order, row in by_order([r for r in rows if r["derivative"] == 1 and r["lines"] == "periodic" and "staggered" not in r["scheme"]]).items():
        axis.loglog([r["n"] for r in row], [r["error"] for r in row], "o", ms=4, color=COLOURS[order], label=label(order))
        first = next(r for r in row if r["observed"])  # slope from the first grid with an observed order
        points = [r for r in row if r["observed"] or r["n"] < first["n"]]
        axis.loglog([r["n"] for r in points], [first["error"] * (first["n"] / r["n"]) ** order for r in points], color=COLOURS[order], lw=1)
    axis.loglog([r["n"] for r in row], [r["floor"] for r in row], "k:", lw=1)
    axis.text(row[0]["n"], 1.5 * row[0]["floor"], "rounding", fontsize=8)
    axis.set(xlabel="points", ylabel="largest error", title="derivative of exp(sin x) (lines: slopes)")
    axis.set_xticks([r["n"] for r in row], [f"{r['n']:.0f}" for r in row])
    axis.minorticks_off()


def draw_packets(axis, rows):
    points = 12 if any(row["points"] == 12 for row in rows) else rows[0]["points"]
    rows = [row for row in rows if row["points"] == points]
    for order, row in by_order(rows).items():
        axis.plot([r["x"] for r in row], [r["u"] for r in row], color=COLOURS[order], lw=1, label=label(order))
    axis.plot([r["x"] for r in row], [r["exact"] for r in row], "k:", lw=2, label="exact")
    axis.set(xlabel="x", ylabel="u", title=f"packet after the last period, {points:.0f} points per wavelength")
    axis.legend(fontsize=8, loc="upper right")


def draw_phases(axis, rows):
    for order, row in by_order(rows).items():
        row = sorted(row, key=lambda r: r["points"])
        axis.loglog([r["points"] for r in row], [abs(r["phase_theory"]) for r in row], color=COLOURS[order], lw=1)
        axis.loglog([r["points"] for r in row], [abs(r["phase"]) for r in row], "o", ms=4, color=COLOURS[order], label=label(order))
    points = sorted({r["points"] for r in rows})
    axis.axhline(0.01, color="k", ls=":", lw=1)
    least = min(abs(r["phase"]) for r in rows)
    axis.text(points[0], least / 1.5, "error of the time steps", fontsize=8, va="top")
    axis.set(xlabel="points per wavelength", ylabel="phase error, periods", title="wave after the last period (lines: theory)", ylim=(least / 5, None))
    axis.set_xticks(points, [f"{p:.0f}" for p in points])
    axis.minorticks_off()


def main(picture, prefix):
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), constrained_layout=True)
    draw_wavenumbers(axes[0][0], read(prefix, "wavenumbers"))
    draw_orders(axes[0][1], read(prefix, "orders"))
    draw_packets(axes[1][0], read(prefix, "packets"))
    draw_phases(axes[1][1], read(prefix, "advection"))
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
