#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Lines that PC line finds on the meshes of unstructured.py.

    picture.py PLUGIN PICTURE.png [--size N]

PLUGIN is libribbon.so. Rows of lines come from -pc_line_view in the format ascii_info_detail. Folded rings are drawn
closed.
"""
import argparse
import io
import pathlib
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402
from PIL import Image  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HEAD = "  rows of each line"
# title, arguments, box
PANELS = [
    ("diffusion around a wing", "--problem diffusion --size {0}", (-3.2, 3.2, -1.9, 1.9)),
    ("the same, leading edge", "--problem diffusion --size {0}", (-2.3, -1.8, -0.2, 0.3)),
    ("convection around the wing, P = 1e4", "--problem convection --size {0}", (-3.2, 3.2, -1.9, 1.9)),
    ("recirculating, P = 1e3", "--problem recirculating --size {1} --peclet 1e3", (-1, 1, -1, 1)),
    ("vortex, P = 1e2", "--problem vortex --size {1} --peclet 1e2", (-1, 1, -1, 1)),
    ("vortex, P = 1e4", "--problem vortex --size {1} --peclet 1e4", (-1, 1, -1, 1)),
]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("plugin")
parser.add_argument("picture")
parser.add_argument("--size", type=int, default=96, help="points around the wing")
parser.add_argument("--python", default="/usr/bin/python3", help="that has petsc4py and SciPy")
args = parser.parse_args()


def lines_of(arguments, folder):
    """Points, triangles and the rows of each line; a ring ends in its first row."""
    view, mesh = folder / "view.txt", folder / "mesh.npz"
    command = [args.python, str(HERE / "unstructured.py"), *arguments.split(), "--save", str(mesh), "-dll_append",
               args.plugin, "-pc_type", "line", "-pc_line_view", f":{view}:ascii_info_detail", "-ksp_max_it", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if not mesh.is_file() or not view.is_file():
        sys.exit(run.stdout + run.stderr)
    with np.load(mesh) as file:
        points, triangles = file["points"], file["triangles"]
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]))
    joined = set(map(tuple, sides))
    text = view.read_text(encoding="utf-8").splitlines()
    begin = next(k for k, line in enumerate(text) if line.startswith(HEAD))
    lines = []
    for line in text[begin + 1:]:
        if not line.startswith("    "):
            break
        rows = [int(row) for row in line.split()]
        steps = [tuple(sorted(pair)) in joined for pair in zip(rows, rows[1:])]
        if len(rows) > 3 and not all(steps):  # folded: 0, n - 1, 1, n - 2, ...
            rows = [*rows[0::2], *reversed(rows[1::2]), rows[0]]
        lines.append(rows)
    return points, triangles, lines


figure, axes = plt.subplots(2, 3, figsize=(13, 8), constrained_layout=True)
palette = plt.get_cmap("tab10")
with tempfile.TemporaryDirectory() as scratch:
    for axis, (title, arguments, box) in zip(axes.flat, PANELS):
        points, triangles, lines = lines_of(arguments.format(args.size, args.size // 3), pathlib.Path(scratch))
        axis.triplot(points.real, points.imag, triangles, color="0.85", lw=0.3, zorder=1)
        paths = [np.stack([points[rows].real, points[rows].imag], -1) for rows in lines if len(rows) > 1]
        axis.add_collection(LineCollection(paths, colors=[palette(k % 10) for k in range(len(paths))], lw=1, zorder=2))
        single = points[[rows[0] for rows in lines if len(rows) == 1]]
        axis.scatter(single.real, single.imag, s=2, c="black", zorder=3)
        rings = sum(len(rows) > 3 and rows[0] == rows[-1] for rows in lines)
        on_lines = sum(len(set(rows)) for rows in lines if len(rows) > 1)
        axis.set(xlim=box[:2], ylim=box[2:], aspect="equal", xticks=[], yticks=[])
        axis.set_title(title, fontsize=10)
        print(f"{title}: {len(paths)} lines with {on_lines} rows, {rings} rings, {len(single)} points")
buffer = io.BytesIO()
figure.savefig(buffer, dpi=90)
Image.open(buffer).convert("RGB").quantize(48).save(args.picture, optimize=True)  # a third of the bytes
