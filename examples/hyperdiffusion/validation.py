#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Figures 1 and 2 of cuPentBatch (Gloster, O Naraigh & Pang, 2019): the solution over space and time, and the error
against the number of points.

   validation.py PROGRAM PLUGIN PICTURE.png [--resolutions 7] [--steps 10000] [options of PETSc ...]

PROGRAM is the example hyperdiffusion. The line has two waves, D = L = 1, and the final time is 1e-4, as in the paper.
The errors use --steps steps (10000 are the paper's time step of 1e-8), the solution 1000 steps on 128 points. The error
is the root of the mean square (eq. 15). The script prints the slope of a line through the logarithms of the errors.
The published slope is -2.0162.
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

PUBLISHED = -2.0162


def read(name):
    with open(name, newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}


def measure(args, options, folder):
    """Runs the program. Returns the solution and the errors."""
    solution, errors = folder / "solution.csv", folder / "errors.csv"
    command = [args.program, "-dll_append", args.plugin, "-ksp_type", "preonly", "-pc_type", "line", "-lines", "1", "-points", "128"]
    command += ["-waves", "2", "-final_time", "1e-4", "-steps", "1000", "-space_time", solution]
    command += ["-refine", args.resolutions, "-refine_steps", args.steps, "-refine_time", "1e-4", "-refinement", errors]
    subprocess.run([str(word) for word in command + options], check=True)
    return read(solution), read(errors)


def draw(solution, errors, slope, picture):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), constrained_layout=True)
    x, t = np.unique(solution["x"]), np.unique(solution["time"])
    image = left.pcolormesh(x, t, solution["u"].reshape(t.size, x.size), cmap="RdBu_r", vmin=-1, vmax=1, shading="nearest")
    figure.colorbar(image, ax=left, label="C")
    left.set(xlabel="x", ylabel="t", title="solution")
    left.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    n, e = errors["points"], errors["l2_error"]
    right.loglog(n, e, "o", label="measured")
    right.loglog(n, np.exp(np.log(e).mean() + slope * (np.log(n) - np.log(n).mean())), lw=1, label=f"fitted slope {slope:.4f} (published {PUBLISHED})")
    right.set(xlabel="N", ylabel=r"$\epsilon_N(T)$", title="error at the final time")
    right.legend()
    figure.savefig(picture, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("plugin")
    parser.add_argument("picture")
    parser.add_argument("--resolutions", type=int, default=7)
    parser.add_argument("--steps", type=int, default=10000)
    args, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        solution, errors = measure(args, options, pathlib.Path(folder))
    slope = np.polyfit(np.log(errors["points"]), np.log(errors["l2_error"]), 1)[0]
    print(f"slope {slope:.4f}, published {PUBLISHED}")
    draw(solution, errors, slope, args.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
