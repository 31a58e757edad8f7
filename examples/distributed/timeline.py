#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plots the timeline of the fastest application of PC line: forward, exchange and backward of every rank.

The data are files of -log_trace:

    mpiexec -n 4 distributed -dll_append libribbon.so -pc_type line -pc_line_direction y -log_trace four
    timeline.py --output timeline.png "four ranks=four"         four: files four.0, four.1, ...

The common norms at the end synchronize the clocks of the ranks. PETSc writes six digits: use short programs.
Needs matplotlib.
"""
import argparse
import glob
import re

EVENT = re.compile(r"\[\d+\]\s+([\d.e+-]+)\s+Event (begin|end): (\S+)")
COLOURS = {"PCLineForward": "#4477aa", "PCLineExchange": "#ee6677", "PCLineBackward": "#228833"}


def events(path):
    """(name, begin, end) in seconds, without events inside other events."""
    found, began = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            m = EVENT.match(line.strip())
            if not m:
                continue
            time, what, name = float(m[1]), m[2], m[3]
            if what == "begin":
                began.append((name, time))
            elif began and began[-1][0] == name:
                found.append((name, began.pop()[1], time))
    return found


def applications(path):
    """Phases of each timed application, between two waits for the device. Time 0 is the end of the last
    common norm."""
    groups, clock = [], 0.0
    for event in events(path):
        if event[0] == "DCtxSync":
            groups.append([])
        elif event[0] == "VecNorm":
            clock = event[2]
        elif event[0] in COLOURS and groups:
            groups[-1].append(event)
    return [[(name, begin - clock, end - clock) for name, begin, end in group] for group in groups if group]


def fastest(paths):
    """The phases of every rank in the fastest application."""
    ranks = [applications(path) for path in paths]
    return min(zip(*ranks), key=lambda phases: max(p[-1][2] for p in phases) - min(p[0][1] for p in phases))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--output", default="timeline.png")
    p.add_argument("traces", nargs="+", metavar="TITLE=PREFIX")
    a = p.parse_args()
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(len(a.traces), 1, figsize=(9, 1.0 + 1.7 * len(a.traces)), sharex=True, squeeze=False)
    for axes, trace in zip(panels[:, 0], a.traces):
        title, prefix = trace.rsplit("=", 1)
        shifted = fastest(sorted(glob.glob(glob.escape(prefix) + ".[0-9]*"), key=lambda f: int(f.rsplit(".", 1)[1])))
        start = min(begin for phases in shifted for _, begin, _ in phases)
        for rank, phases in enumerate(shifted):
            for name, begin, end in phases:
                axes.barh(rank, 1e6 * (end - begin), left=1e6 * (begin - start), height=0.7, color=COLOURS[name], edgecolor="white", linewidth=0.5)
        axes.set_yticks(range(len(shifted)), [f"rank {r}" for r in range(len(shifted))])
        axes.invert_yaxis()
        axes.set_title(title, fontsize=10, loc="left")
    panels[-1, 0].set_xlabel("microseconds")
    figure.legend([plt.Rectangle((0, 0), 1, 1, color=c) for c in COLOURS.values()], [n[6:].lower() for n in COLOURS], ncol=3, loc="upper right", fontsize=9, frameon=False)
    figure.tight_layout()
    figure.savefig(a.output, dpi=130)


if __name__ == "__main__":
    main()
