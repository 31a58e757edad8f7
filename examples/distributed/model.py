#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Cost model of docs/methods/distributed.md.

It computes seconds of the exchange in a solve of lines over P ranks from latency and bandwidth, for each
way. Needs only the standard library.

    model.py [--latency S] [--bandwidth BYTES/S] [--lines L] [--rows M] [--memory BYTES/S]

There are L tridiagonal lines of P M rows, with M rows on a rank. `local` is the time of a rank for its
sub-lines at memory bandwidth, 24 bytes per unknown. The set-up of PC line uses the same model with the
defaults of this program (petsc_interface/distributed/cut_choices.hpp).
"""
import argparse
import math


class Model:
    """Seconds of each way for S = 1 in double precision."""

    def __init__(self, a):
        self.latency, self.byte, self.memory = a.latency, 1 / a.bandwidth, a.memory

    def solve(self, lines):
        """Seconds of the solve for one cut of these lines."""
        return max(1e-8, 40 * lines / self.memory)

    def dealt(self, ranks, lines):
        """One way, forth or back."""
        return (ranks - 1) * (self.latency + 16 * lines / ranks * self.byte)

    def neighbours(self, lines):
        return 2 * self.latency + 16 * lines * self.byte

    def every_rank(self, ranks, lines):
        return math.ceil(math.log2(ranks)) * self.latency + (ranks - 1) * (16 * lines * self.byte + self.solve(lines))

    def dealt_out(self, ranks, lines):
        return 2 * self.dealt(ranks, lines) + (ranks - 1) * self.solve(max(1, lines / ranks))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--latency", type=float, default=2e-6, help="seconds of an empty message")
    p.add_argument("--bandwidth", type=float, default=1e10, help="bytes per second")
    p.add_argument("--memory", type=float, default=2e11, help="bytes per second of the memory of a rank")
    p.add_argument("--lines", type=int, default=4096)
    p.add_argument("--rows", type=int, default=256, help="rows of a line on a rank")
    a = p.parse_args()
    model = Model(a)
    print("| ranks of a line | neighbours | every rank | dealt out | whole lines | local | taken |\n" + "|---" * 7 + "|")
    for exponent in range(1, 18):
        ranks = 2**exponent
        ways = {"every rank": model.every_rank(ranks, a.lines), "dealt out": model.dealt_out(ranks, a.lines)}
        taken = "neighbours" if ranks == 2 else min(ways, key=ways.get)
        whole = 2 * ((ranks - 1) * a.latency + 8 * a.lines * a.rows * (ranks - 1) / ranks / a.bandwidth)
        print(f"| {ranks} | {model.neighbours(a.lines):.1e} | {ways['every rank']:.1e} | {ways['dealt out']:.1e} | {whole:.1e} | {24 * a.lines * a.rows / a.memory:.1e} | {taken} |")


if __name__ == "__main__":
    main()
