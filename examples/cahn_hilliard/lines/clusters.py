# SPDX-License-Identifier: BSD-2-Clause
"""Types of solutions of the forced equation, by k-means with three clusters and by direct measures."""
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.fft
from scipy.cluster.vq import kmeans2, vq
from scipy.spatial.distance import cdist

KINDS = ("A0", "A1", "A2")
STARTS, FITTED, JUDGED = 8, 50000, 2000  # trials of k-means; runs that are fitted; runs whose silhouettes are averaged
STEADY = 0.05  # root mean square of the change over the window below which a run is locked to the wave


def k_means(feature, seed):
    """The labels with the smallest sum of squares among several random starts."""
    fitted = feature[np.random.default_rng(seed).permutation(len(feature))[:FITTED]]

    def trial(start):
        centres, _ = kmeans2(fitted, len(KINDS), minit="++", seed=np.random.default_rng((seed, start)))
        labels, distances = vq(feature, centres)
        return (distances**2).sum(), labels

    with ThreadPoolExecutor() as threads:
        return min(threads.map(trial, range(STARTS)), key=lambda found: found[0])[1]


def silhouettes(feature, labels, seed):
    """(b - a) / max(a, b) of every run: a is its mean distance to its own cluster, b to the nearest other one (Rousseeuw
    1987). Both are estimated from a sample of runs. Near 0 or below, k-means is unsure."""
    sample = np.random.default_rng(seed).permutation(len(feature))[:JUDGED]
    means = np.full((len(feature), len(KINDS)), np.inf)

    def judge(first):
        part = slice(first, first + 4096)
        distances = cdist(feature[part], feature[sample])
        for k in range(len(KINDS)):
            members = labels[sample] == k
            if members.any():
                means[part, k] = distances[:, members].mean(axis=1)

    with ThreadPoolExecutor() as threads:
        list(threads.map(judge, range(0, len(feature), 4096)))
    own = np.take_along_axis(means, labels[:, None], axis=1)[:, 0]
    np.put_along_axis(means, labels[:, None], np.inf, axis=1)
    other = means.min(axis=1)
    return (other - own) / np.maximum(np.maximum(own, other), 1e-30)


def named(labels, kinds):
    """The number of the kind, 0 to 2, for each cluster: the assignment that agrees best with `kinds`."""
    from itertools import permutations

    agree = np.array([[((labels == c) & (kinds == k)).sum() for k in range(3)] for c in range(3)])
    best = max(permutations(range(3)), key=lambda order: sum(agree[c, order[c]] for c in range(3)))
    return np.array(best)[labels]


class Map:
    """Labels 0 to 2 of KINDS over forcings and means, by each feature, and their silhouettes."""

    def __init__(self, runs, seed=0):
        self.runs = runs
        self.shape = len(runs.forcing), len(runs.mean)
        states = runs.states.astype(np.float32)
        # amplitudes of modes: the same for a pattern at any place
        spectrum = np.abs(scipy.fft.rfft(states, axis=1, workers=-1))[:, 1:] / states.shape[1]
        self.kinds = np.where(runs.change > STEADY, 0, np.where(self.crosses(states, runs), 1, 2))
        # of about the size of the spectra: 0 for a change of 1, -1 for 1e-4 and below
        change = np.log10(np.maximum(runs.change, 1e-4))[:, None].astype(np.float32) / 4
        self.labels, self.silhouettes = {}, {}
        for name, feature in ("states", states), ("spectra", spectrum), ("spectra and change", np.hstack([spectrum, change])):
            labels = k_means(feature, seed)
            self.silhouettes[name] = silhouettes(feature, labels, seed)
            self.labels[name] = named(labels, self.kinds)

    @staticmethod
    def crosses(states, runs):
        """Whether a state has domains of both signs beyond the spinodals, +-1/sqrt(3)."""
        spinodal = 3**-0.5
        return (states.max(axis=1) > spinodal) & (states.min(axis=1) < -spinodal)

    def sample(self, kind):
        """The run whose silhouette is the largest among those of this kind by every measure."""
        agreed = (self.kinds == kind) & (self.labels["states"] == kind)
        chosen = agreed if agreed.any() else self.kinds == kind
        return None if not chosen.any() else int(np.where(chosen, self.silhouettes["states"], -2).argmax())

    def report(self):
        where = self.runs.wave
        shares = ", ".join(f"{kind} {100 * (self.kinds == k).mean():.1f} %" for k, kind in enumerate(KINDS))
        print(f"{where}: by change and range {shares}; largest drift of a mean {np.abs(self.runs.drift).max():.1e}")
        for name, labels in self.labels.items():
            s = self.silhouettes[name]
            shares = ", ".join(f"{kind} {100 * (labels == k).mean():.1f} %" for k, kind in enumerate(KINDS))
            print(f"{where}: k-means of {name} {shares}; silhouette {s.mean():.3f}, below 0.1 for {100 * (s < 0.1).mean():.1f} %; agrees with change and range for {100 * (labels == self.kinds).mean():.1f} %")
        changed = (self.labels["states"] != self.labels["spectra"]).mean()
        print(f"{where}: spectra instead of states move {100 * changed:.1f} % of the runs to another cluster", flush=True)
