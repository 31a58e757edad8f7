# SPDX-License-Identifier: BSD-2-Clause
"""Files of cahn_hilliard_lines."""
import csv

import numpy as np


def table(name):
    """Rows of a file of -csv."""
    with open(name, newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


class Runs:
    """States of a file of -study patterns or -study evolution: lines `name value ...`, an empty line, and floats."""

    def __init__(self, name):
        data = open(name, "rb").read()
        end = data.index(b"\n\n")
        self.facts = {line.split()[0]: line.split()[1:] for line in data[:end].decode().splitlines()}
        points, (means, forcings) = int(self["points"]), map(int, self.facts["map"])
        self.mean = np.linspace(*map(float, self.facts["mean"]), means)
        self.forcing = np.linspace(*map(float, self.facts["forcing"]), forcings)
        numbers = np.frombuffer(data, "<f4", offset=end + 2)
        if self["study"] == "patterns":
            numbers = numbers.reshape(-1, points + 2)
            if len(numbers) != means * forcings:
                raise SystemExit(f"{name} holds {len(numbers)} of {means * forcings} runs: continue them by --restart")
            self.states, self.change, self.drift = numbers[:, :points], numbers[:, points], numbers[:, points + 1]
        else:
            self.states = numbers.reshape(-1, means * forcings, points)

    def __getitem__(self, name):
        return self.facts[name][0]

    @property
    def wave(self):
        return f"k = {self['waves']}, v = {float(self['speed']):g}"

    @property
    def x(self):
        return np.arange(int(self["points"])) * float(self["length"]) / int(self["points"])
