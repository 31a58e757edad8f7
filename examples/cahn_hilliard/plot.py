# SPDX-License-Identifier: BSD-2-Clause
"""Plots coarsening, its growth law in the plane and on lines, and a study of forced lines.

   plot.py PICTURE.png FOLDER

FOLDER has the files that `run` writes: plane.csv with plane-K.bin, lines.csv, study.csv with study-K.bin.
Prints the exponent of 1 / k_1, k_1 = sum k S(k) / sum S(k) over rings of the structure factor S.
"""
import csv
import glob
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

SPEED, DELAY = 0.05, 100.0  # of the study in `run`


def read(name):
    with open(name, newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def state(name, shape):
    """A vector in PETSc's binary format: two integers of 4 or 8 bytes, then doubles, big-endian."""
    data = open(name, "rb").read()
    return np.frombuffer(data, ">f8", offset=len(data) - 8 * shape[0] * shape[1]).reshape(shape)


def times(folder):
    return [float(t) for t in open(os.path.join(folder, "times")).read().split(",")]


def first_moment(c):
    s = np.abs(np.fft.fft2(c - c.mean())) ** 2
    k = np.hypot(*np.meshgrid(*(n * np.fft.fftfreq(n) for n in c.shape[::-1]))).round().astype(int)
    ring = np.bincount(k.ravel(), s.ravel()) / np.bincount(k.ravel())  # mean of S over rings of wave numbers 2 pi k / n
    return 2 * np.pi / c.shape[0] * (np.arange(len(ring)) * ring).sum() / ring.sum()


def draw_growth(axis, folder, t, states):
    rows = read(os.path.join(folder, "plane.csv"))
    late = rows["time"] >= rows["time"][-1] / 10
    slope = np.polyfit(np.log(rows["time"][late]), np.log(rows["length"][late]), 1)[0]
    keep = rows["time"] > 0
    axis.loglog(rows["time"][keep], rows["length"][keep], lw=1, label=f"surface tension / energy, exponent {slope:.3f}")
    lengths = np.array([1 / first_moment(c) for c in states])
    pick = np.array(t) >= t[-1] / 10
    exponent = np.polyfit(np.log(np.array(t)[pick]), np.log(lengths[pick]), 1)[0]
    print(f"1 / k_1 ~ t^{exponent:.3f} (t = {np.array(t)[pick][0]:g} to {t[-1]:g}), theory 1/3")
    axis.loglog(t, lengths, "o", ms=3, label=f"$1/k_1$, exponent {exponent:.3f}")
    axis.loglog(t, lengths[-1] * (np.array(t) / t[-1]) ** (1 / 3), "k--", lw=1, label="$t^{1/3}$")
    axis.set(xlabel="t", title="typical length in the plane")
    axis.legend(fontsize=8)


def draw_lines(axis, folder):
    rows = read(os.path.join(folder, "lines.csv"))
    keep = rows["time"] > 0
    late = rows["time"] >= rows["time"][-1] / 30
    fit = np.polyfit(np.log(rows["time"][late]), rows["scale"][late], 1)
    axis.semilogx(rows["time"][keep], rows["scale"][keep], lw=1.5)
    axis.semilogx(rows["time"][late], np.polyval(fit, np.log(rows["time"][late])), "k--", lw=1, label=f"{fit[1]:.2f} + {fit[0]:.3f} log t")
    axis.set(xlabel="t", title="batch of lines: mean of $1/(1-\\langle C^2\\rangle)$")
    axis.legend(fontsize=8)


def draw_study(figure, axis, folder):
    rows = read(os.path.join(folder, "study.csv"))
    means, forcings = np.unique(rows["mean"]), np.unique(rows["forcing"])
    problems = len(rows["mean"])
    size = os.path.getsize(os.path.join(folder, "study-0.bin")) // 8
    points = size // problems
    old, new = (state(os.path.join(folder, f"study-{k}.bin"), (points, problems)) for k in (0, 1))
    k = 2 * np.pi * np.fft.rfftfreq(points)
    moved = np.fft.irfft(np.fft.rfft(old, axis=0) * np.exp(-1j * k * SPEED * DELAY)[:, None], points, axis=0)
    change = np.sqrt(((new - moved) ** 2).mean(axis=0)).reshape(len(forcings), len(means))
    mesh = axis.pcolormesh(means, forcings, np.log10(change + 1e-8), shading="nearest", cmap="viridis", rasterized=True)
    figure.colorbar(mesh, ax=axis)
    axis.set(xlabel="mean", ylabel="forcing", title="forced lines: $\\log_{10}$ change in the wave's frame")


def main(picture, folder):
    t = times(folder)
    names = sorted(glob.glob(os.path.join(folder, "plane-*.bin")), key=lambda name: int(name.rsplit("-", 1)[1][:-4]))
    side = int(np.sqrt(os.path.getsize(names[0]) // 8))
    states = [state(name, (side, side)) for name in names]
    figure = plt.figure(figsize=(13, 7), constrained_layout=True)
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 1.2))
    shown = np.linspace(2, len(states) - 1, 5).round().astype(int)
    for axis, k in zip(top.subplots(1, 5), shown):
        axis.imshow(states[k], cmap="RdBu_r", vmin=-1, vmax=1, origin="lower")
        axis.set(title=f"t = {t[k]:g}", xticks=[], yticks=[])
    left, middle, right = bottom.subplots(1, 3)
    draw_growth(left, folder, t, states)
    draw_lines(middle, folder)
    draw_study(bottom, right, folder)
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
