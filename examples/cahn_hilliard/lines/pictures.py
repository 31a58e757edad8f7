# SPDX-License-Identifier: BSD-2-Clause
"""Pictures of the studies."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from clusters import KINDS
from matplotlib.colors import ListedColormap

COLOURS = ListedColormap(["#f2f2f2", "#9aa5b1", "#1f2933"])  # of A0, A1, A2, as in figures 13 and 14


def save(figure, name):
    figure.savefig(name, dpi=90)
    plt.close(figure)
    print(f"Picture: {name}", flush=True)


def draw_errors(axis, rows, title):
    n, e = (np.array([row[key] for row in rows]) for key in ("points", "error"))
    axis.loglog(n, e, "o-", ms=4, label="difference to 2 N points")
    axis.loglog(n, e[-1] * (n[-1] / n) ** 2, "k--", lw=1, label="order 2")
    axis.set(xlabel="N", ylabel="root mean square", title=title)
    axis.legend(fontsize=8)


def draw_history(axis, runs, title):
    """One run over space and time."""
    times = np.linspace(0, float(runs["final_time"]), len(runs.states))
    image = axis.pcolormesh(runs.x, times, runs.states[:, 0], cmap="RdBu_r", vmin=-1, vmax=1, shading="nearest", rasterized=True)
    axis.set(xlabel="x", ylabel="t", title=title)
    return image


def convergence(rows, title, name):
    figure, axis = plt.subplots(figsize=(5, 4), constrained_layout=True)
    draw_errors(axis, rows, title)
    save(figure, name)


def coarsening(rows, history, name):
    lengths = sorted({row["length"] for row in rows})
    figure, axes = plt.subplots(1, 1 + len(lengths), figsize=(4.5 * (1 + len(lengths)), 4), constrained_layout=True)
    figure.colorbar(draw_history(axes[0], history, "one run"), ax=axes[0], label="C")
    for axis, length in zip(axes[1:], lengths):
        t, size, spread, runs, fitted = (np.array([row[key] for row in rows if row["length"] == length]) for key in ("time", "size", "spread", "runs", "fitted"))
        axis.fill_between(t, size - spread, size + spread, alpha=0.2, lw=0, label="spread of runs")
        axis.semilogx(t, size, "o", ms=3, label=f"mean of {int(runs[0])} runs")
        late = fitted > 0
        slope, offset = np.polyfit(np.log(t[late]), size[late], 1)
        r = np.corrcoef(np.log(t[late]), size[late])[0, 1]
        axis.semilogx(t[late], offset + slope * np.log(t[late]), "k", lw=1, label=f"{offset:.2f} + {slope:.3f} ln t, r = {r:.5f}")
        axis.set(xlabel="t", ylabel=r"$s = \langle 1 / (1 - \langle C^2 \rangle) \rangle$", title=f"length {length:g}")
        axis.legend(fontsize=8, loc="upper left")
    save(figure, name)


def forced(rows, runs, name):
    figure, axes = plt.subplots(1, 1 + len(runs), figsize=(4 * (1 + len(runs)), 4), constrained_layout=True)
    draw_errors(axes[0], rows, "forced, in the frame of the wave")
    for axis, (kind, run) in zip(axes[1:], runs.items()):
        image = draw_history(axis, run, f"{kind}: mean {run.mean[0]:g}, f = {run.forcing[0]:g}")
    figure.colorbar(image, ax=axes[-1], label="C")
    save(figure, name)


def draw_map(axis, runs, values, title, **style):
    image = axis.pcolormesh(runs.mean, runs.forcing, values.reshape(len(runs.forcing), len(runs.mean)), shading="nearest", rasterized=True, **style)
    axis.axvline(3**-0.5, color="tab:orange", lw=1, ls="--")  # beyond it the mixture is stable without forcing
    axis.set(xlabel="mean concentration", ylabel="amplitude f", title=title, xlim=runs.mean[[0, -1]], ylim=runs.forcing[[0, -1]])
    return image


def draw_samples(axis, kinds):
    for kind, label in enumerate(KINDS):
        k = kinds.sample(kind)
        if k is None:
            continue
        runs = kinds.runs
        axis.plot(runs.x, runs.states[k], lw=1.5, color=f"C{kind}", label=f"{label}: mean {runs.mean[k % len(runs.mean)]:.2f}, f = {runs.forcing[k // len(runs.mean)]:.2f}")
    axis.set(xlabel="x", ylabel="C", title="sample solutions")
    axis.legend(fontsize=7)


def patterns(maps, name):
    figure, axes = plt.subplots(len(maps), 6, figsize=(20, 3.4 * len(maps)), constrained_layout=True, squeeze=False)
    for row, kinds in zip(axes, maps):
        types = {"cmap": COLOURS, "vmin": -0.5, "vmax": 2.5}
        draw_map(row[0], kinds.runs, kinds.labels["states"], f"{kinds.runs.wave}: k-means of states", **types)
        image = draw_map(row[1], kinds.runs, kinds.silhouettes["states"], "silhouette of states", cmap="viridis", vmin=-0.2, vmax=1)
        figure.colorbar(image, ax=row[1])
        draw_map(row[2], kinds.runs, kinds.labels["spectra"], "k-means of amplitude spectra", **types)
        draw_map(row[3], kinds.runs, kinds.labels["spectra and change"], "k-means of spectra and change", **types)
        image = draw_map(row[4], kinds.runs, kinds.kinds, "by change and range", **types)
        bar = figure.colorbar(image, ax=row[4], ticks=range(3))
        bar.ax.set_yticklabels(KINDS)
        draw_samples(row[5], kinds)
    save(figure, name)
