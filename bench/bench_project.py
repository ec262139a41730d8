"""Fewer dimensions first: k-means and subspaces of 500 columns, with and without a subspace.

    python bench_project.py PATH/TO/cloister [--sets N] [--rows N] [--cols D] [--epsilon E]
                           [--only kmeans|subspaces]

kmeans: a mixture of 8 Gaussians in a 6-dimensional subspace and a little noise in all columns.
Printed is the mean squared distance to the nearest centre over that of `cloister solve kmeans`,
which is not private.  subspaces: three planes, and a little noise.  Printed is the distance d_W of
the planes found from the true ones (largest possible: sqrt(6) = 2.45).
One budget in all cases: the ways named "project" spend half of epsilon and delta on each of two
releases, the others all of it on one.  Mean and standard deviation over N data sets, one run each.
"""
import argparse
import itertools
import json
import math
import os
import subprocess
import tempfile

import numpy as np

DELTA = 1e-6
CENTERS, DIRECTIONS, PLANES, DIM = 8, 6, 3, 2
KMEANS = {
    "lloyd": ["kmeans/lloyd"],
    "lloyd, reduce 6": ["kmeans/lloyd", "--reduce", "6"],
    "lloyd, reduce -1 (8)": ["kmeans/lloyd", "--reduce", "-1"],
    "project 6, then lloyd": ["project", "kmeans/lloyd"],
}
SUBSPACES = {
    "sulq": ["subspaces/sulq"],
    "moments (reduces by itself)": ["subspaces/moments"],
    "project 6, then sulq": ["project", "subspaces/sulq"],
    "project 6, then moments": ["project", "subspaces/moments"],
}


def cloister(command, *words):
    subprocess.run([command, *map(str, words)], check=True, stderr=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)


def private(command, args, way, data, folder, options):
    """The values of the release that this way of running makes of the data."""
    out = os.path.join(folder, "out.json")
    share = 0.5 if way[0] == "project" else 1
    common = [data, "--norm", 1, "--no-ledger", "-q", "--epsilon", share * args.epsilon,
              "--delta", share * DELTA]
    more = []
    if way[0] == "project":
        frame = os.path.join(folder, "frame.json")
        cloister(command, "run", "subspace/gaussian", *common, "--dim", DIRECTIONS, "-o", frame)
        way, more = way[1:], ["--project", frame]
    cloister(command, "run", way[0], *common, *way[1:], *options, *more, "-o", out)
    with open(out, encoding="utf-8") as file:
        return json.load(file)["values"]


def orthonormal(rng, rows, cols):
    return np.linalg.qr(rng.standard_normal((rows, cols)))[0]


def mixture(rng, rows, cols):
    centers = rng.standard_normal((CENTERS, DIRECTIONS))
    centers *= 0.6 / np.linalg.norm(centers, axis=1)[:, None]
    inside = centers[rng.integers(CENTERS, size=rows)]
    inside = inside + 0.1 * rng.standard_normal((rows, DIRECTIONS))
    noise = 0.1 / math.sqrt(cols) * rng.standard_normal((rows, cols))
    return inside @ orthonormal(rng, cols, DIRECTIONS).T + noise


def planes(rng, rows, cols):
    bases = [orthonormal(rng, cols, DIM) for _ in range(PLANES)]
    inside = rng.standard_normal((rows, DIM))
    inside *= (0.9 * rng.random(rows) ** 0.5 / np.linalg.norm(inside, axis=1))[:, None]
    which = rng.integers(PLANES, size=rows)
    data = np.stack([bases[c] @ x for c, x in zip(which, inside)])
    return data + 0.1 / math.sqrt(cols) * rng.standard_normal((rows, cols)), bases


def cost(data, centers):
    centers = np.asarray(centers)
    squares = (data ** 2).sum(1)[:, None] - 2 * data @ centers.T + (centers ** 2).sum(1)
    return squares.min(1).mean()


def distance(found, true):
    """d_W: sqrt of the sum of squared sines, over the best matching."""
    gap = [[DIM - ((np.asarray(a).T @ b) ** 2).sum() for b in true] for a in found]
    return math.sqrt(max(0, min(sum(gap[i][p] for i, p in enumerate(order))
                                for order in itertools.permutations(range(PLANES)))))


def one_set(command, args, seed, folder, results):
    rng = np.random.default_rng(seed)
    path = os.path.join(folder, "data.npy")
    if args.only != "subspaces":
        data = mixture(rng, args.rows, args.cols)
        np.save(path, data)
        solved = os.path.join(folder, "solved.json")
        cloister(command, "solve", "kmeans", path, "--clusters", CENTERS, "-o", solved)
        with open(solved, encoding="utf-8") as file:
            best = cost(data, json.load(file)["values"]["centers"])
        for name, way in KMEANS.items():
            values = private(command, args, way, path, folder, ["--clusters", CENTERS])
            results.setdefault(("kmeans", name), []).append(cost(data, values["centers"]) / best)
        means = data.mean(0)[None, :]
        results.setdefault(("kmeans", "one centre, the mean"), []).append(cost(data, means) / best)
    if args.only != "kmeans":
        data, true = planes(rng, args.rows, args.cols)
        np.save(path, data)
        for name, way in SUBSPACES.items():
            options = ["--clusters", PLANES, "--dim", DIM]
            values = private(command, args, way, path, folder, options)
            results.setdefault(("subspaces", name), []).append(distance(values["bases"], true))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--cols", type=int, default=500)
    parser.add_argument("--epsilon", type=float, default=1)
    parser.add_argument("--only", choices=["kmeans", "subspaces"])
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.sets):
            one_set(args.command, args, seed, folder, results)
    for (family, name), values in results.items():
        print(f"{family:9}  {name:28}  {np.mean(values):.3f} +- {np.std(values):.3f}")


if __name__ == "__main__":
    main()
