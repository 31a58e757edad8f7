# SPDX-License-Identifier: BSD-2-Clause
"""Colours of grids and meshes, and the cache lines that a sweep over red points loads.

First fit in problems.py colours the mesh as `-pc_multicolor_coloring greedy` does, which theory.py checks.
"""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import problems

PALETTE = ["#c62828", "#212121", "#1e88e5", "#fbc02d", "#43a047", "#8e24aa", "#fb8c00"]


def draw_grid(axis, n, box):
    y, x = (k.ravel() for k in np.mgrid[:n, :n])
    for k in range(n):
        axis.plot([0, n - 1], [k, k], "0.75", lw=0.8, zorder=1)
        axis.plot([k, k], [0, n - 1], "0.75", lw=0.8, zorder=1)
        for l in range(n - 1 if box else 0):
            if k < n - 1:
                axis.plot([k, k + 1], [l, l + 1], "0.85", lw=0.6, zorder=1)
                axis.plot([k, k + 1], [l + 1, l], "0.85", lw=0.6, zorder=1)
    colors = x % 2 + 2 * (y % 2) if box else (x + y) % 2
    axis.scatter(x, y, s=70, c=[PALETTE[c] for c in colors], zorder=2)
    axis.set_title("box of width 1: 4 colours" if box else "star of width 1: red and black")


def draw_mesh(axis, inside):
    points, triangles = problems.random_mesh(inside)
    stiffness, _ = problems.linear_elements(points, triangles)
    colors = problems.first_fit(stiffness[:inside, :inside])
    axis.triplot(points[:, 0], points[:, 1], triangles, color="0.75", lw=0.8, zorder=1)
    axis.scatter(*points[:inside].T, s=40, c=[PALETTE[c] for c in colors], zorder=2)
    sizes = ", ".join(str(size) for size in np.bincount(colors))
    axis.set_title(f"triangles: {colors.max() + 1} colours by first fit\nof {sizes} unknowns")


def draw_cache(axis, line=128):
    """Values of 8 bytes in two cache lines; the used ones have the colours of their points."""
    values = line // 8
    cells = np.arange(2 * values)
    red = cells % 2 == 0
    arrays = [("b, black values are not used", np.where(red, 0, 1), red),
              ("x, red written and black read", np.where(red, 0, 1), np.full_like(red, True)),
              ("matrix in the order of colours", np.zeros_like(cells), np.full_like(red, True))]
    for k, (name, color, used) in enumerate(arrays):
        y = -2.6 * k
        for c in cells:
            x = c + (c // values) * 0.8
            paint = PALETTE[color[c]]
            style = {"fc": paint, "ec": paint} if used[c] else {"fc": "white", "ec": "0.6", "hatch": "////"}
            axis.add_patch(Rectangle((x, y), 0.9, 0.9, lw=0.6, **style))
        for part in range(2):
            axis.plot(np.array([0, values - 0.1]) + part * (values + 0.8), [y - 0.25] * 2, "0.3", lw=1.5)
        percent = 100 * problems.used_of_loaded(used, 8, line)
        axis.text(0, y + 1.15, f"{name}: {percent:.0f}% of the bytes", fontsize=9)
    axis.set(xlim=(-0.5, 2 * values + 1), ylim=(-6.3, 2.2))
    axis.set_title(f"red points of a grid: cache lines of {line} bytes")


def draw(name):
    figure, axes = plt.subplots(2, 2, figsize=(9, 8.2), constrained_layout=True)
    draw_grid(axes[0, 0], 8, False)
    draw_grid(axes[0, 1], 8, True)
    draw_mesh(axes[1, 0], 80)
    draw_cache(axes[1, 1])
    for axis in axes.flat:
        axis.axis("off")
    for axis in axes.flat[:3]:
        axis.set_aspect("equal")
    figure.savefig(name, dpi=100)
