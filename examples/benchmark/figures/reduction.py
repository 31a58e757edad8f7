#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The figures of cyclic reduction (Zhang, Cohen & Owens, 2010): the time of the hybrid of cyclic and parallel cyclic
reduction against its switch point, and bars with elimination on the host and the transfer of the data.

   reduction.py measure BENCH DATA.json [--sizes 512x512] [--machine NAME]
   reduction.py draw DATA.json PICTURE.png

A size is EQUATIONSxSYSTEMS; 512x512 was published. A switch point is the number of equations that are left when parallel
cyclic reduction takes over. All rows are one stencil, in double precision (published: single); the algorithms of the
publication do not use that the rows are equal. dpttrs eliminates without pivoting, dgttrs with pivoting. Host times are
those of LAPACK, on one core and on 8 threads. A transfer copies the right-hand sides to the device and the solutions back.
"""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

ALGORITHMS = ["auto", "thomas", "cyclic_reduction", "parallel_cyclic_reduction", "cr_pcr"]


def sizes(text):
    found = [tuple(int(number) for number in size.split("x")) for size in text.split(",")]
    if any(len(size) != 2 or size[0] < 2 or size[1] < 1 for size in found):
        raise ValueError
    return found


def rows_of(bench, words):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        subprocess.run([bench, "--system", "tri", "--repeat", "9", "--json", str(out), *words], check=True)
        return json.loads(out.read_text())


def switch_points(rows):
    """Powers of two up to the number of rows."""
    return [2**k for k in range(1, rows.bit_length()) if 2**k <= rows]


def measure(args):
    data = {"machine": args.machine, "date": datetime.date.today().isoformat(), "cases": []}
    for rows, lines in args.sizes:
        size = ["--rows", str(rows), "--lines", str(lines)]
        case = {"rows": rows, "lines": lines, "switch": []}
        case["bars"] = rows_of(args.bench, [*size, "--algorithm", ",".join(ALGORITHMS), "--lapack-threads", "8", "--transfers"])
        for point in switch_points(rows):
            found = rows_of(args.bench, [*size, "--algorithm", "cr_pcr", "--switch-rows", str(point), "--no-peers"])
            case["switch"] += [{"switch_rows": point, "ms": row["ms"]} for row in found]
        data["cases"].append(case)
    pathlib.Path(args.data).write_text(json.dumps(data, indent=1) + "\n")


def draw(args):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cases = json.loads(pathlib.Path(args.data).read_text())["cases"]
    figure, axes = plt.subplots(len(cases), 2, figsize=(11, 3.4 * len(cases)), squeeze=False, constrained_layout=True)
    for (left, right), case in zip(axes, cases):
        name = f"{case['lines']} systems of {case['rows']} equations"
        points, times = zip(*((p["switch_rows"], p["ms"]) for p in case["switch"]))
        left.plot(points, times, "o-", ms=4)
        for algorithm, color in (("cyclic_reduction", "C1"), ("parallel_cyclic_reduction", "C2"), ("one_pass", "C3")):
            for row in case["bars"]:
                if row["solver"] == f"ribbon {algorithm}":
                    left.axhline(row["ms"], color=color, lw=1, ls="--", label=algorithm)
        left.set(xscale="log", ylim=(0, None), xlabel="equations left at the switch", ylabel="ms", title=name)
        left.set_xticks(points, [str(p) for p in points])
        left.minorticks_off()
        left.legend(fontsize=7)
        bars = [(row["solver"].replace("ribbon ", ""), row["ms"]) for row in case["bars"] if "gbtrs" not in row["solver"]]
        right.barh([bar[0] for bar in bars][::-1], [bar[1] for bar in bars][::-1], color="C0")
        right.set(xscale="log", xlabel="ms", title=name)
        best = min(case["switch"], key=lambda p: p["ms"])
        print(f"{name}: the hybrid is fastest with {best['switch_rows']} equations left, {best['ms']:.4f} ms")
        for solver, ms in bars:
            print(f"  {solver:45s} {ms:9.4f} ms")
    figure.savefig(args.picture, dpi=100)
    print(f"Picture: {args.picture}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    m = commands.add_parser("measure")
    m.add_argument("bench")
    m.add_argument("data")
    m.add_argument("--machine", default="")
    m.add_argument("--sizes", type=sizes, default="512x512", help="EQUATIONSxSYSTEMS,...")
    m.set_defaults(run=measure)
    d = commands.add_parser("draw")
    d.add_argument("data")
    d.add_argument("picture")
    d.set_defaults(run=draw)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    sys.exit(main())
