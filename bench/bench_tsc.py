"""TSC and spectral clustering: processor time on one thread, accuracy, scikit-learn beside it.

    OMP_NUM_THREADS=1 python bench_tsc.py PATH/TO/bench_clustering [SEEDS]

The data are those of bench/LABBOOK.md: k random subspaces, points uniform on their unit spheres,
Gaussian noise.  Spectral clustering gets the dense Gaussian affinity of a noisy mixture, on both
sides the same.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import SpectralClustering

SETS = {"s1": (5000, 5, 3, 3, .01), "s2": (1000, 10, 3, 3, .1), "s3": (2000, 50, 10, 5, .05)}


def subspaces(n, d, k, q, sigma, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    bases = [np.linalg.qr(rng.normal(size=(d, q)))[0] for _ in range(k)]
    y = rng.normal(size=(n, q))
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    rows = np.stack([bases[t] @ v for t, v in zip(truth, y)])
    return rows + sigma * rng.normal(size=(n, d)), truth


def blobs(n, k, noise, seed):
    """A Gaussian affinity of points about k centres in 5 dimensions."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    x = rng.normal(size=(k, 5))[truth] + noise * rng.normal(size=(n, 5))
    norms = (x ** 2).sum(1)
    a = np.exp(-np.maximum(norms[:, None] + norms - 2 * x @ x.T, 0))
    return (a + a.T) / 2, truth


def accuracy(truth, labels, k):
    counts = np.zeros((k, k))
    np.add.at(counts, (truth, labels), 1)
    rows, cols = linear_sum_assignment(-counts)
    return counts[rows, cols].sum() / len(truth)


def run(program, solver, data, seed, *settings):
    with tempfile.TemporaryDirectory() as folder:
        path, labels = os.path.join(folder, "data"), os.path.join(folder, "labels")
        np.ascontiguousarray(data).tofile(path)
        out = subprocess.run([program, solver, path, str(data.shape[1]), "1", str(seed), labels,
                              *settings], capture_output=True, text=True, check=True).stdout
        result = json.loads(out)
        return result["cpu_s"], result["cost"], np.loadtxt(labels, dtype=int)


def thresholding(program, seeds):
    for name, (n, d, k, q, sigma) in SETS.items():
        times, scores = [], []
        for seed in range(seeds):
            data, truth = subspaces(n, d, k, q, sigma, seed)
            seconds, _, labels = run(program, "tsc", data, seed, f"clusters={k}", f"dim={q}",
                                     *sys.argv[3:])
            times.append(seconds)
            scores.append(accuracy(truth, labels, k))
        print(f"tsc {name}: {np.mean(times):.3f} s, accuracy {np.mean(scores):.4f} "
              f"({min(scores):.4f} to {max(scores):.4f}), {seeds} seeds", flush=True)


def spectral(program):
    for n, k, noise in ((1000, 5, .4), (3000, 8, .4)):
        affinity, truth = blobs(n, k, noise, 1)
        seconds, cost, labels = run(program, "spectral", affinity, 1, f"clusters={k}")
        print(f"spectral {n}, {k}: cloister {seconds:.3f} s, accuracy "
              f"{accuracy(truth, labels, k):.4f}, cut {cost:.5f}")
        model = SpectralClustering(k, affinity="precomputed", n_init=10, random_state=1)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            labels = model.fit_predict(affinity)
        theirs = time.process_time() - start
        print(f"spectral {n}, {k}: scikit-learn {theirs:.3f} s, accuracy "
              f"{accuracy(truth, labels, k):.4f}; {theirs / seconds:.2f} x", flush=True)


def main():
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    thresholding(sys.argv[1], seeds)
    if len(sys.argv) <= 3:
        spectral(sys.argv[1])


if __name__ == "__main__":
    main()
