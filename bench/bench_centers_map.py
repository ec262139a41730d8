#!/usr/bin/env python3
"""Which method of kmeans wins where, and what `auto` takes: a map over public quantities.

    python bench_centers_map.py PATH/TO/cloister [--seeds FIRST LAST] [--delta D] [--relation R]

Each cell is a Gaussian mixture like those of bench_centers.py (centres with norms of .4 to 1 of
.85, each coordinate with a deviation of .05), every method at its presets, and the loss over that
of scikit-learn with 5 restarts, one of which starts from the true centres.  What is printed of a
cell: the mean over the seeds for each method, the best of them, and what `auto` took and got.  The
number of rows that all count on is stated, as a public round figure.

Needs numpy and scikit-learn.
"""
import argparse
import itertools
import json
import os
import tempfile
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402  (the variables above must be set before)
from bench_centers import clipped, timed  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402

METHODS = ["tree", "moments", "highdim", "variates", "grid", "lloyd"]
RADIUS, DEVIATION = 0.85, 0.05


def mixture(rows, cols, clusters, seed):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(clusters, cols))
    centers *= (rng.uniform(0.4, 1, size=(clusters, 1)) * RADIUS
                / np.linalg.norm(centers, axis=1, keepdims=True))
    data = centers[rng.integers(clusters, size=rows)]
    return clipped(data + rng.normal(scale=DEVIATION, size=data.shape), 1.0), centers


def loss(data, centers):
    squares = ((data ** 2).sum(axis=1)[:, None] - 2 * data @ centers.T
               + (centers ** 2).sum(axis=1))
    return np.maximum(squares.min(axis=1), 0).mean()


def best_known(data, truth):
    fits = [KMeans(len(truth), n_init=4, random_state=0), KMeans(len(truth), init=truth, n_init=1)]
    return min(fit.fit(data).inertia_ for fit in fits) / len(data)


def run(options, name, path, rows, clusters, epsilon, seed):
    """Centres and the method that made them, or None where it does not serve."""
    command = [options.cloister, "run", name, str(path), f"--clusters={clusters}",
               f"--epsilon={epsilon}", f"--delta={options.delta}", f"--relation={options.relation}",
               f"--rows={rows}", "--norm=1", "--no-ledger", "--quiet", "--json",
               "--threads=1", f"--seed={seed}"]
    try:
        release = json.loads(timed(command)[0])
    except RuntimeError:
        return None
    return np.array(release["values"]["centers"]), release["method"]


def cell(options, folder, rows, cols, clusters, epsilon):
    """Means of the loss ratios by method, and what auto took."""
    ratios, taken = {name: [] for name in ["auto", *METHODS]}, set()
    for seed in range(options.seeds[0], options.seeds[1] + 1):
        data, truth = mixture(rows, cols, clusters, seed)
        path = Path(folder) / "data.npy"
        np.save(path, data)
        reference = best_known(data, truth)
        for name in ratios:
            answer = run(options, "kmeans" if name == "auto" else f"kmeans/{name}", path, rows,
                         clusters, epsilon, seed)
            if answer is None:
                continue
            ratios[name].append(loss(data, answer[0]) / reference)
            if name == "auto":
                taken.add(answer[1])
    return {name: np.mean(found) for name, found in ratios.items() if found}, taken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister", help="the command")
    parser.add_argument("--rows", nargs="+", type=int, default=[2000, 20_000])
    parser.add_argument("--cols", nargs="+", type=int, default=[2, 5, 10, 30])
    parser.add_argument("--clusters", nargs="+", type=int, default=[3, 8, 20])
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 1])
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--relation", choices=["add-remove", "replace"], default="add-remove")
    parser.add_argument("--seeds", nargs=2, type=int, default=[1, 4], metavar=("FIRST", "LAST"))
    options = parser.parse_args()
    print("| rows | columns | k | epsilon | " + " | ".join(METHODS) + " | best | auto |")
    print("|" + "---|" * (6 + len(METHODS)))
    with tempfile.TemporaryDirectory() as folder:
        for shape in itertools.product(options.rows, options.cols, options.clusters,
                                       options.epsilon):
            means, taken = cell(options, folder, *shape)
            shown = [f"{means[name]:.3f}" if name in means else "–" for name in METHODS]
            best = min((name for name in METHODS if name in means), key=means.get)
            print("| " + " | ".join([*(f"{value:g}" for value in shape), *shown, best,
                                     f"{'/'.join(sorted(taken))} {means['auto']:.3f}"]) + " |",
                  flush=True)


if __name__ == "__main__":
    main()
