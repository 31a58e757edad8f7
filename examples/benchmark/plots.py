#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plots of docs/performance/index.md, from the data in examples/benchmark/results.

    /usr/bin/python3 examples/benchmark/plots.py [FOLDER]    writes copy_bandwidth.svg and peers.svg to
                                                             FOLDER, or to docs/pictures

Needs matplotlib. Backgrounds are transparent and texts grey, so that plots suit bright and dark pages.
"""
import pathlib
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.dont_write_bytecode = True
import tables

RESULTS = tables.ROOT / "examples/benchmark/results"
GREY, RIBBON, OTHER = "#858585", "#1f8a70", "#c8692b"
COLORED = ("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
STYLE = {**dict.fromkeys(COLORED, GREY), "font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "ribbon"}


def table(file, name):
    return tables.read(RESULTS / file)[name]


def column(data, name):
    place = data["columns"].index(name)
    return [row[place] for row in data["rows"]]


def number(cell):
    return float(re.match(r"[\d.e+-]+", cell)[0])


def copy_bandwidth():
    """Fraction of copy bandwidth against rows per line: a panel for each layout."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, constrained_layout=True)
    for axis, layout in zip(axes, ("interleaved", "contiguous")):
        data = table("batches.json", layout)
        rows = [number(cell) for cell in column(data, "rows")]
        for system, name, color in (("tri", "tridiagonal", RIBBON), ("penta", "pentadiagonal", OTHER)):
            for case, line, marker in (("", "-", "o"), (", slowly decaying", ":", "^")):
                values = [number(cell) for cell in column(data, system + case)]
                label = name + (", slowly decaying inverse" if case else "")
                axis.plot(rows, values, line, marker=marker, ms=3.5, lw=1.3, color=color, label=label)
        ticks = [32, 64, 128, 256, 512, 1024, 2048, 4096]
        axis.set(title=f"{layout} lines", xlabel="rows per line", xscale="log")
        axis.set(xlim=(28, 4700), ylim=(50, 100))
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.minorticks_off()
        axis.grid(color=GREY, alpha=0.25)
    axes[0].set_ylabel("percent of copy bandwidth")
    axes[1].legend(frameon=False, fontsize=8, loc="lower left")
    return figure


def cells(file, name, *keys):
    """{column: cell} of the row whose first cells are keys."""
    data = table(file, name)
    return dict(zip(data["columns"], next(row for row in data["rows"] if row[: len(keys)] == list(keys))))


def total(cell):
    """Sum of set-up and solve."""
    return sum(float(part) for part in cell.replace("*", "").split(" + "))


def ratios():
    """[(group, [(peer, time of the peer / time of Ribbon)])]."""
    groups = []
    for system, name in (("tri", "tridiagonal"), ("penta", "pentadiagonal")):
        row = cells("peers.json", "cusparse_lapack", f"{system} 256")
        peers = [("cuSPARSE", "cuSPARSE"), ("one thread per line, one matrix", "thomas")]
        values = [(peer, number(row[key]) / number(row["one_pass"])) for peer, key in peers]
        groups.append((f"H200: batch, {name}, 256 rows per line", values))
    row = cells("multifrontal.json", "nvidia", "1e6", "3")
    phases = [("factorization", "factor"), ("one solve", "1 rhs"), ("32 right-hand sides", "32 rhs")]
    values = [(f"cuDSS, {what}", number(row[f"{key}, cuDSS"]) / number(row[key])) for what, key in phases]
    groups.append(("H200: one band of 1e6 rows, half-bandwidth 3", values))
    row = cells("multifrontal.json", "one_core", "1e6", "3")
    peers = [("MUMPS", "MUMPS"), ("KLU", "KLU"), ("PETSc's LU", "PETSc LU")]
    peers += [("LAPACK", "LAPACK dgbtrf + dgbtrs")]
    values = [(peer, total(row[key]) / total(row["multifrontal"])) for peer, key in peers]
    groups.append(("One core: the same band, set-up + solve", values))
    row = cells("petsc_layer.json", "solvers_host", "contiguous, 1024 lines of 256 points")
    peers = [("GMRES, ILU(0)", "ILU(0)"), ("MUMPS", "MUMPS")]
    peers += [("bjacobi, a block per line", "bjacobi"), ("PETSc's LU", "LU")]
    values = [(peer, total(row[key]) / total(row["line"])) for peer, key in peers]
    groups.append(("One core: 1024 lines of 256 points, set-up + 20 steps", values))
    return groups


def peers():
    """Bars of ratios."""
    figure, axis = plt.subplots(figsize=(9, 5.6), constrained_layout=True)
    place, places, names = 0.0, [], []
    for group, values in ratios():
        axis.text(1.03, place, group, fontsize=9, fontweight="bold", va="center")
        for peer, ratio in values:
            place += 1
            axis.barh(place, ratio - 1, left=1, height=0.7, color=OTHER)
            said = f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"
            axis.text(ratio * 1.04, place, said, va="center", fontsize=9)
            places.append(place)
            names.append(peer)
        place += 1.2
    axis.axvline(1, color=RIBBON, lw=2)
    axis.set(xscale="log", xlim=(0.9, 200))
    axis.set_xlabel("time of the other solver over the time of Ribbon (green line: equal)")
    axis.set_yticks(places, names)
    axis.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axis.minorticks_off()
    axis.tick_params(axis="y", length=0)
    axis.invert_yaxis()
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    return figure


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else tables.ROOT / "docs/pictures"
    with plt.rc_context(STYLE):
        for name, draw in (("copy_bandwidth", copy_bandwidth), ("peers", peers)):
            draw().savefig(folder / f"{name}.svg", transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    main()
