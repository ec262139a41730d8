#!/usr/bin/env python3
"""Which method of kmeans wins where, and what `auto` takes: a map over public quantities.

    python bench_centers_map.py PATH/TO/cloister [--seeds FIRST LAST] [--method NAME ...]
                                [--delta D] [--relation R]

Each cell is a Gaussian mixture like those of bench_centers.py (centres with norms of .4 to 1 of
.85, each coordinate with a deviation of .05), every method at its presets, and the loss over that
of scikit-learn with 5 restarts, one of which starts from the true centres.  What is printed of a
cell: the mean over the seeds for each method, the best of them, what `auto` took and got, what one
private mean with the same budget gets, and what an oracle would get.  The number of rows that all
count on is stated, as a public round figure.

The oracle knows which record is in which cluster, and each cluster's width (the root mean square
distance of its records to their mean), and spends the whole budget on one Gaussian sum of the
differences in widths: its expected loss, in closed form, next to which clipping costs it nothing.
No method can do better but by shrinkage and by chance; the last column is auto's excess over it.

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
from scipy.optimize import brentq  # noqa: E402
from scipy.stats import norm  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402

METHODS = ["density", "local", "grid", "highdim", "lloyd"]
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
    """The labels and the loss of the best of a few fits without privacy."""
    fits = [KMeans(len(truth), n_init=4, random_state=0), KMeans(len(truth), init=truth, n_init=1)]
    best = min((fit.fit(data) for fit in fits), key=lambda fit: fit.inertia_)
    return best.labels_, best.inertia_ / len(data)


def gdp(epsilon, delta):
    """The mu of one Gaussian query that costs just this."""
    def over(mu):
        return (norm.cdf(mu / 2 - epsilon / mu)
                - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - delta)
    return brentq(over, 1e-5, 50)


def oracle(data, labels, epsilon, options):
    """The loss ratio with known labels and widths, and the whole budget on one sum."""
    reach = 2 if options.relation == "replace" else 1
    scale = reach / gdp(epsilon, options.delta)
    noise = spread = 0.0
    for cluster in np.unique(labels):
        own = data[labels == cluster]
        square = ((own - own.mean(axis=0)) ** 2).sum(axis=1).mean()
        noise += data.shape[1] * square * scale ** 2 / len(own)
        spread += square * len(own)
    return 1 + noise / spread


def run(options, name, path, rows, clusters, epsilon, seed):
    """Centres and the method that made them, or None where it does not serve; "one": one mean."""
    if name == "one":
        name, clusters = "auto", 1
    name = "kmeans" if name == "auto" else f"kmeans/{name}"
    command = [options.cloister, "run", name, str(path), f"--clusters={clusters}",
               f"--epsilon={epsilon}", f"--delta={options.delta}", f"--relation={options.relation}",
               f"--rows={rows}", "--norm=1", "--no-ledger", "--quiet", "--json",
               "--threads=1", f"--seed={seed}"]
    try:
        release = json.loads(timed(command)[0])
    except RuntimeError:
        return None
    return np.array(release["values"]["centers"]), release["method"]


def cells(options, folder, rows, cols, clusters):
    """{epsilon: (means of the loss ratios by method and of the oracle, what auto took)}."""
    names = ["auto", "one", *options.method]
    ratios = {e: {name: [] for name in [*names, "oracle"]} for e in options.epsilon}
    taken = {e: set() for e in options.epsilon}
    for seed in range(options.seeds[0], options.seeds[1] + 1):
        data, truth = mixture(rows, cols, clusters, seed)
        path = Path(folder) / "data.npy"
        np.save(path, data)
        labels, reference = best_known(data, truth)
        for epsilon, name in itertools.product(options.epsilon, names):
            answer = run(options, name, path, rows, clusters, epsilon, seed)
            if answer is None:
                continue
            ratios[epsilon][name].append(loss(data, answer[0]) / reference)
            if name == "auto":
                taken[epsilon].add(answer[1])
        for epsilon in options.epsilon:
            ratios[epsilon]["oracle"].append(oracle(data, labels, epsilon, options))
    return {e: ({name: np.mean(found) for name, found in ratios[e].items() if found}, taken[e])
            for e in options.epsilon}


def line(options, shape, means, taken):
    best = min((name for name in options.method if name in means), key=means.get)
    shown = [("**{:.3f}**" if name == best else "{:.3f}").format(means[name])
             if name in means else "–" for name in options.method]
    excess = (means["auto"] - 1) / (means["oracle"] - 1)
    return "| " + " | ".join([*(f"{value:g}" for value in shape), *shown,
                              f"{'/'.join(sorted(taken))} {means['auto']:.3f}",
                              f"{means['one']:.3f}",
                              f"{means['oracle']:.4f}", f"{excess:.1f}"]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister", help="the command")
    parser.add_argument("--rows", nargs="+", type=int, default=[2000, 20_000])
    parser.add_argument("--cols", nargs="+", type=int, default=[2, 5, 10, 30])
    parser.add_argument("--clusters", nargs="+", type=int, default=[3, 8, 20])
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 1])
    parser.add_argument("--method", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--relation", choices=["add-remove", "replace"], default="add-remove")
    parser.add_argument("--seeds", nargs=2, type=int, default=[1, 10], metavar=("FIRST", "LAST"))
    options = parser.parse_args()
    print("| rows | columns | k | ε | " + " | ".join(options.method)
          + " | auto | one mean | oracle | excess over the oracle's |")
    print("|" + "---|" * (8 + len(options.method)))
    with tempfile.TemporaryDirectory() as folder:
        for shape in itertools.product(options.rows, options.cols, options.clusters):
            for epsilon, (means, taken) in cells(options, folder, *shape).items():
                print(line(options, (*shape, epsilon), means, taken), flush=True)


if __name__ == "__main__":
    main()
