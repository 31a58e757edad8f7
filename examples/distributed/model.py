#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Cost model of docs/distributed.md: seconds of the exchange of a solve of lines over P ranks, for each way, from latency and bandwidth. Standard library.

    model.py [--latency S] [--bandwidth BYTES/S] [--lines L] [--rows M] [--memory BYTES/S]

L lines of P M rows, M to a rank, tridiagonal; `local` is what a rank does with its pieces at the speed of its memory, 24 bytes an unknown.
"""
import argparse
import math


def seconds(ranks, lines, rows, latency, bandwidth, memory):
    """Of each way; S = 1, double precision."""
    words = 2 * 8 * lines  # of the ends of a rank
    solve = 5 * 8 * lines / memory  # reading and writing a reduced system, for each separator
    return {
        "neighbours": 2 * latency + words / bandwidth,
        "every rank": math.ceil(math.log2(ranks)) * latency + (ranks - 1) * words / bandwidth + (ranks - 1) * solve,
        "dealt out": 2 * ((ranks - 1) * latency + words * (ranks - 1) / ranks / bandwidth) + (ranks - 1) * solve / ranks,
        "whole lines": 2 * ((ranks - 1) * latency + 8 * lines * rows * (ranks - 1) / ranks / bandwidth),
        "local": 24 * lines * rows / memory,
    }


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--latency", type=float, default=2e-6, help="seconds of an empty message")
    p.add_argument("--bandwidth", type=float, default=1e10, help="bytes a second")
    p.add_argument("--memory", type=float, default=2e11, help="bytes a second of a rank's memory")
    p.add_argument("--lines", type=int, default=4096)
    p.add_argument("--rows", type=int, default=256, help="of a line, on a rank")
    a = p.parse_args()
    names = list(seconds(2, a.lines, a.rows, a.latency, a.bandwidth, a.memory))
    print("| ranks of a line | " + " | ".join(names) + " | taken |\n" + "|---" * (len(names) + 2) + "|")
    for exponent in range(1, 18):
        ranks = 2**exponent
        cost = seconds(ranks, a.lines, a.rows, a.latency, a.bandwidth, a.memory)
        taken = min(("every rank", "dealt out"), key=cost.get)
        print(f"| {ranks} | " + " | ".join(f"{cost[n]:.1e}" for n in names) + f" | {'neighbours' if ranks == 2 else taken} |")


if __name__ == "__main__":
    main()
