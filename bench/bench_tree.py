"""kmeans/tree and the settings that make it a plain tree coreset, on the data of the tables.

    python bench_tree.py PATH/TO/bench_tree [SEEDS] [CASES] [SETTINGS …]

SEEDS: "1-10", of the data and of the runs.  CASES: letters of CASES below; m needs the files of
MNIST (train-images-idx3-ubyte.gz, t10k-images-idx3-ubyte.gz) in the folder that $MNIST names.
SETTINGS: further ones, on top of the number of clusters.  Loss is the mean squared distance to the
nearest centre, relative to scikit-learn's k-means from the truth or, where there are fewer clusters
than Gaussians, k-means++ with 5 restarts; delta is 1e-6, the relation
add-remove.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.cluster import KMeans

# rows, columns, Gaussians, radius of the centres, standard deviation, numbers of clusters
MIXTURES = {"a": (20_000, 10, 8, 0.85, 0.05, (8,)), "b": (10_000, 3, 3, 0.8, 0.1, (3,)),
            "c": (100_000, 100, 64, 1.0, 0.0125, (64, 16, 8))}
EPSILONS = {"a": (1, 0.3), "b": (1,), "c": (1,), "m": (1, 0.1)}
MNIST_NORM = 10  # of a record with pixels from 0 to 1: public, two thirds of the records are below
CLASSICAL = "start=tree passes=1 rounds=0 reduce=0"


def mixture(seed, rows, cols, gaussians, radius, deviation):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(gaussians, cols))
    centers *= rng.uniform(0.4, 1, size=(gaussians, 1)) * radius / np.linalg.norm(
        centers, axis=1, keepdims=True)
    data = centers[rng.integers(gaussians, size=rows)]
    data = data + deviation * rng.normal(size=(rows, cols))
    return data / np.maximum(np.linalg.norm(data, axis=1, keepdims=True), 1), centers


def mnist():
    parts = []
    for name in ("train", "t10k"):
        path = os.path.join(os.environ["MNIST"], f"{name}-images-idx3-ubyte.gz")
        with gzip.open(path) as file:
            parts.append(np.frombuffer(file.read(), np.uint8)[16:].reshape(-1, 784))
    return np.vstack(parts) / 255


def reference(data, clusters, truth):
    """The best of some restarts or, where there are as many clusters as in truth, from there."""
    if truth is not None and len(truth) == clusters:
        return KMeans(clusters, init=truth, n_init=1).fit(data).inertia_ / len(data)
    return KMeans(clusters, n_init=5, random_state=0).fit(data).inertia_ / len(data)


def measure(program, path, settings, epsilon, norm, seed, runs, wanted):
    how = ["kmeans/tree", settings, str(epsilon), str(norm), str(seed), str(runs)]
    out = subprocess.run([program, path, *how], capture_output=True, text=True, check=True).stdout
    found = [json.loads(line) for line in out.splitlines()]
    return [one["loss"] / wanted for one in found], [one["run_s"] for one in found]


def report(name, epsilon, settings, ratios, times):
    print(f"{name:28s} eps {epsilon:<4} {settings:60s} loss {np.mean(ratios):.4f} "
          f"(worst {np.max(ratios):.4f}, {len(ratios)} runs)  {np.mean(times):.3f} s", flush=True)


def run_case(program, case, seeds, further, folder):
    collected = {}
    path = os.path.join(folder, "data.npy")
    data, truth = (mnist(), None) if case == "m" else (None, None)
    if case == "m":
        np.save(path, data)
    for seed in seeds:
        if case != "m":
            data, truth = mixture(seed, *MIXTURES[case][:5])
            np.save(path, data)
        for clusters in (10,) if case == "m" else MIXTURES[case][5]:
            if case != "m" or seed == seeds[0]:
                wanted = reference(data, clusters, truth)
            for epsilon in EPSILONS[case]:
                for more in further:
                    settings = f"clusters={clusters} {more}".strip()
                    ratios, times = measure(program, path, settings, epsilon,
                                            MNIST_NORM if case == "m" else 1, seed, 1, wanted)
                    both = collected.setdefault((clusters, epsilon, settings), ([], []))
                    both[0].extend(ratios)
                    both[1].extend(times)
    for (clusters, epsilon, settings), (ratios, times) in collected.items():
        name = "MNIST 70000x784" if case == "m" else "{}x{}, {} Gaussians".format(*MIXTURES[case])
        report(f"{name}, k={clusters}", epsilon, settings, ratios, times)


def main():
    program = sys.argv[1]
    first, last = (sys.argv[2] if len(sys.argv) > 2 else "1-10").split("-")
    cases = sys.argv[3] if len(sys.argv) > 3 else "abc"
    further = sys.argv[4:] or ["", CLASSICAL]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            run_case(program, case, range(int(first), int(last) + 1), further, folder)


if __name__ == "__main__":
    main()
