#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The speed figures of cuPentBatch (Gloster, Ó Náraigh & Pang, 2019; figures 3 to 14) and of the single-matrix schemes
(Gloster, Carroll, Bustamante & Ó Náraigh, 2019; figures 3 to 6), with Ribbon next to the published schemes.

   figures.py measure BENCH DATA.json [--device] [--machine NAME] [--scale 1] [--steps 20] [--energy SECONDS] [--openmp BENCH]
   figures.py draw DATA.json FOLDER

`measure` runs ribbon-bench --hyperdiffusion for every number of lines and points, and writes all rows to DATA.json.
`draw` writes serial.png, one_matrix.png, roofline.png and, with rows of cuSPARSE, speedups.png to FOLDER, and prints the
extremes of the ratios. --scale is the largest number of unknowns of a batch as a fraction of 2^26 with --device, and of
2^20 without. --energy also reads the energy of the device, for the largest number of lines of 256 points. --openmp takes
another ribbon-bench, whose Kokkos has OpenMP: it adds the times of Ribbon on 8 threads of the host, for 512 points.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

POINTS = [64, 128, 256, 512, 1024, 2048, 4096, 8192]
LINES = [64, 256, 1024, 4096, 16384, 65536]
#: Schemes of a step, as ribbon-bench names them.
NAMES = {
    "auto": "Ribbon, one matrix",
    "constant": "one matrix, a thread per line",
    "per_line": "factors of every line, kept",
    "rewrite": "factors of every line, made in every step",
    "rewrite_auto": "Ribbon, new matrices of every line in every step",
    "cusparse": "cuSPARSE",
    "lapack": "LAPACK, one core",
    "lapack_threads": "LAPACK, 8 threads",
    "auto_openmp": "Ribbon, one matrix, 8 threads",
    "per_line_openmp": "Ribbon, factors of every line, 8 threads",
}
#: Figure 14 of cuPentBatch: threads of the host, and points.
THREADS, POINTS_OF_THREADS = 8, 512
#: Operations of a step per unknown, counted in the algorithms: right-hand side, and a solve with stored factors.
FLOPS = {"hyperdiffusion": 7 + 9, "diffusion": 4 + 5}
#: Bytes of a step per unknown with one matrix: two passes that read and write the batch.
BYTES = 32


class Steps:
    """Rows of one equation, by points, lines and scheme."""

    def __init__(self, rows):
        self.by = {(row["points"], row["lines"], row["scheme"]): row for row in rows}
        self.points = sorted({key[0] for key in self.by})
        self.lines = sorted({key[1] for key in self.by})

    def ratio(self, points, lines, slow, fast):
        """Time of `slow` over that of `fast`; None if one was not measured."""
        rows = self.by.get((points, lines, slow)), self.by.get((points, lines, fast))
        return rows[0]["ms"] / rows[1]["ms"] if all(rows) else None

    def curve(self, keys, slow, fast):
        """The keys, (points, lines), with a ratio, and the ratios."""
        found = [(key, self.ratio(*key, slow, fast)) for key in keys]
        found = [pair for pair in found if pair[1] is not None]
        return [key for key, _ in found], [value for _, value in found]


def measure(args):
    device = "--device" if args.device else "--host"
    most = int((2**26 if args.device else 2**20) * args.scale)
    if most < POINTS[0] * LINES[0]:
        sys.exit(f"figures.py: --scale {args.scale:g}: the smallest batch has {POINTS[0] * LINES[0]} unknowns, and this allows {most}")
    data = {"machine": args.machine, "date": datetime.date.today().isoformat(), "kind": device[2:], "hyperdiffusion": [], "diffusion": []}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        for equation, words in (("hyperdiffusion", []), ("diffusion", ["--diffusion"])):
            for lines in LINES:
                points = [str(n) for n in POINTS if n * lines <= most]
                if not points:
                    continue
                if args.openmp and str(POINTS_OF_THREADS) in points:
                    data[equation] += on_threads(args, words, lines, out)
                command = [args.bench, "--hyperdiffusion", *words, "--rows", ",".join(points), "--lines", str(lines)]
                command += ["--steps", str(args.steps), "--repeat", "3", "--json", str(out)]
                if args.energy and lines == max((line for line in LINES if line * 256 <= most), default=0):
                    command += ["--energy", str(args.energy)]
                print(" ".join(command[1:]), flush=True)
                call(command)
                data[equation] += json.loads(out.read_text())
    pathlib.Path(args.data).write_text(one_row_a_line(data))


def call(command, **options):
    code = subprocess.run(command, **options).returncode
    if code:
        sys.exit(f"figures.py: {command[0]} ended with the code {code}")


def on_threads(args, words, lines, out):
    """Rows of Ribbon on threads of the host."""
    command = [args.openmp, "--hyperdiffusion", *words, "--rows", str(POINTS_OF_THREADS), "--lines", str(lines)]
    command += ["--steps", str(args.steps), "--repeat", "3", "--no-peers", "--schemes", "auto,per_line", "--json", str(out)]
    threads = {"OMP_NUM_THREADS": str(THREADS), "OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}
    print(" ".join([*(f"{name}={value}" for name, value in threads.items()), *command]), flush=True)
    call(command, env=os.environ | threads)
    rows = [row | {"scheme": row["scheme"] + "_openmp"} for row in json.loads(out.read_text()) if row["scheme"] != "right_hand_side"]
    if any(row.get("threads") != THREADS for row in rows):
        sys.exit(f"figures.py: {args.openmp} does not run on {THREADS} threads: build it with a Kokkos that has OpenMP")
    return rows


def one_row_a_line(data):
    text = ",\n".join(f"{json.dumps(key)}: " + ("[\n" + ",\n".join(json.dumps(row) for row in value) + "\n]" if isinstance(value, list) else json.dumps(value)) for key, value in data.items())
    return "{" + text + "}\n"


def styled(axis, xlabel, ylabel):
    axis.set(xlabel=xlabel, ylabel=ylabel, xscale="log")
    axis.grid(alpha=0.25)


def curves(axis, steps, slow, fast, along, legend):
    """A curve for every value of the other quantity."""
    for k, other in enumerate(steps.points if along == "lines" else steps.lines):
        keys = [(other, line) for line in steps.lines] if along == "lines" else [(point, other) for point in steps.points]
        keys, values = steps.curve(keys, slow, fast)
        if len(values) > 1:
            axis.plot([key[1] if along == "lines" else key[0] for key in keys], values, "o-", ms=3, lw=1.1, color=f"C{k}", label=f"{other} {legend}")


def speedups(plt, steps):
    """Figures 3 to 10 of cuPentBatch, and the same for Ribbon."""
    pairs = (("per_line", "cuPentBatchConstant (figures 3, 5, 7, 9)"), ("rewrite", "cuPentBatchRewrite (4, 6, 8, 10)"), ("rewrite_auto", "Ribbon, new matrices"), ("auto", "Ribbon, one matrix"))
    pairs = [pair for pair in pairs if any(key[2] == pair[0] for key in steps.by)]
    figure, axes = plt.subplots(2, len(pairs), figsize=(4.4 * len(pairs), 7), constrained_layout=True)
    for column, (fast, title) in zip(axes.T, pairs):
        curves(column[0], steps, "cusparse", fast, "lines", "points")
        curves(column[1], steps, "cusparse", fast, "points", "lines")
        column[0].set_title(title, fontsize=10)
        styled(column[0], "lines", "time of gpsv / time of the scheme")
        styled(column[1], "points per line", "time of gpsv / time of the scheme")
    for row in axes:
        row[-1].legend(fontsize=7)
        row[-1].set_yscale("log")
    return figure


def serial(plt, steps):
    """Figures 11 to 14 of cuPentBatch, and the same for Ribbon."""
    figure, axes = plt.subplots(2, 3, figsize=(13, 7), constrained_layout=True)
    for row, fast, title in zip(axes, ("per_line", "auto"), ("cuPentBatchConstant", "Ribbon, one matrix")):
        curves(row[0], steps, "lapack", fast, "points", "lines")
        curves(row[1], steps, "lapack", fast, "lines", "points")
        curves(row[2], steps, "lapack_threads", fast, "lines", "points")
        for slow, style in (("auto_openmp", "k--"), ("per_line_openmp", "k:")):
            keys, values = steps.curve([(POINTS_OF_THREADS, line) for line in steps.lines], slow, fast)
            if values:
                row[2].plot([line for _, line in keys], values, style, lw=1.1, label=f"{NAMES[slow]}, {POINTS_OF_THREADS} points")
        styled(row[0], "points per line", f"LAPACK on one core / {title}")
        styled(row[1], "lines", f"LAPACK on one core / {title}")
        styled(row[2], "lines", f"8 threads of the host / {title}")
        for axis in row:
            axis.set_yscale("log")
            axis.legend(fontsize=7)
    return figure


def one_matrix(plt, data):
    """Figures 3 and 5 of the single-matrix paper: one matrix against factors of every line."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.5), constrained_layout=True)
    for column, (equation, slow) in zip(axes.T, (("diffusion", "cusparse"), ("hyperdiffusion", "per_line"))):
        steps = Steps(data[equation])
        name = {"cusparse": "cuThomasBatch (gtsvInterleavedBatch)", "per_line": "cuPentBatch"}[slow]
        if not any(key[2] == slow for key in steps.by):
            slow, name = "per_line", "factors of every line"
        for axis, fast in zip(column, ("constant", "auto")):
            curves(axis, steps, slow, fast, "lines", "points")
            styled(axis, "lines", f"time of {name} / time of the scheme")
            axis.set_title(f"{equation}: {NAMES[fast]}", fontsize=10)
            axis.legend(fontsize=7)
    return figure


def roofline(plt, data):
    """Figures 4 and 6 of the single-matrix paper: operations per second against operations per byte."""
    figure, axis = plt.subplots(figsize=(6.5, 4.5), constrained_layout=True)
    rows = [row for equation in ("hyperdiffusion", "diffusion") for row in data[equation]]
    largest = max(row["points"] * row["lines"] for row in rows)
    peak = max(16 * row["points"] * row["lines"] / row["copy_ms"] * 1e3 for row in rows if row["points"] * row["lines"] == largest)
    intensities = [0.1, 1]
    axis.plot(intensities, [peak * x / 1e9 for x in intensities], color="grey", lw=1, label=f"copy bandwidth, {peak / 1e9:.0f} GB/s")
    for equation, marker in (("hyperdiffusion", "o"), ("diffusion", "s")):
        for scheme, color in (("constant", "C1"), ("auto", "C0")):
            shown = [row for row in data[equation] if row["scheme"] == scheme and row["points"] == 256]
            for row in shown:
                speed = FLOPS[equation] * row["unknowns_per_s"] / 1e9
                label = f"{equation}, {NAMES[scheme]}" if row is shown[-1] else None
                axis.plot(FLOPS[equation] / BYTES, speed, marker, ms=2 + shown.index(row), color=color, label=label, alpha=0.7)
    styled(axis, "operations per byte", "1e9 operations/s, 256 points; larger symbols: more lines")
    axis.set_yscale("log")
    axis.legend(fontsize=7)
    return figure


def printed(data):
    """Extremes of the ratios in each figure, and the energy of a step."""
    steps = Steps(data["hyperdiffusion"])
    keys = [(point, line) for point in steps.points for line in steps.lines]
    for slow, fast in (("cusparse", "per_line"), ("cusparse", "rewrite"), ("cusparse", "rewrite_auto"), ("cusparse", "auto"), ("lapack", "per_line"), ("lapack", "auto"), ("lapack_threads", "auto"), ("auto_openmp", "auto"), ("per_line_openmp", "per_line"), ("lapack_threads", "auto_openmp"), ("per_line", "constant")):
        _, values = steps.curve(keys, slow, fast)
        if values:
            print(f"hyperdiffusion: {NAMES[slow]} takes {min(values):.2f} to {max(values):.2f} times as long as '{NAMES[fast]}'")
    for equation in ("hyperdiffusion", "diffusion"):
        for row in data[equation]:
            if "joules_per_1e9_unknown_steps" in row:
                print(f"{equation}, {row['points']} points, {row['lines']} lines, {row['solver']}: {row['joules_per_1e9_unknown_steps']:.2f} J per 1e9 unknown-steps")


def draw(args):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    data = json.loads(pathlib.Path(args.data).read_text())
    folder = pathlib.Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    steps = Steps(data["hyperdiffusion"])
    pictures = {"serial": serial(plt, steps), "one_matrix": one_matrix(plt, data), "roofline": roofline(plt, data)}
    if any(key[2] == "cusparse" for key in steps.by):
        pictures["speedups"] = speedups(plt, steps)
    for name, figure in pictures.items():
        figure.savefig(folder / f"{name}.png", dpi=100)
        print(f"Picture: {folder / name}.png")
    printed(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    m = commands.add_parser("measure")
    m.add_argument("bench")
    m.add_argument("data")
    m.add_argument("--machine", default="")
    m.add_argument("--device", action="store_true", help="the sizes for a device")
    m.add_argument("--scale", type=float, default=1, help="largest number of unknowns, as a fraction")
    m.add_argument("--steps", type=int, default=20, help="of a sample")
    m.add_argument("--openmp", default="", help="a ribbon-bench with OpenMP: also Ribbon on 8 threads of the host")
    m.add_argument("--energy", type=float, default=0, help="also the energy of the device, over this many seconds per scheme")
    m.set_defaults(run=measure)
    d = commands.add_parser("draw")
    d.add_argument("data")
    d.add_argument("folder")
    d.set_defaults(run=draw)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    sys.exit(main())
