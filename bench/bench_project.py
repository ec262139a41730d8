"""Fewer dimensions first: k-means and subspaces of 500 columns, with and without a subspace.

    python bench_project.py PATH/TO/cloister [--sets N] [--first SEED] [--rows N] [--cols D]
                           [--epsilon E] [--spread S] [--noise Z] [--gamma G] [--share P]
                           [--only kmeans|subspaces]

Records lie in a subspace of 5 dimensions, but for noise of standard deviation Z in each column.
kmeans: 8 Gaussians there, of standard deviation S in each direction, about centres at .6 from the
origin.  Printed is the mean squared distance to the nearest centre over that of `cloister solve
kmeans`, which is not private.  subspaces: three planes there.  Printed is the distance d_W of the
planes found from the true ones (largest possible: sqrt(6) = 2.45).
One budget in all cases, epsilon and delta: the ways named "project" spend the share P of both on a
subspace and the rest on a second release, which looks at the records in it; the others spend all
of it on one, of which those named "reduce" buy directions within their own plan.  gamma: what
subspace/approx is told of the data.  Mean and standard deviation over N data sets, one run each.
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
CENTERS, DIRECTIONS, PLANES, DIM = 8, 5, 3, 2
GAUSSIAN, APPROX = ["subspace/gaussian"], ["subspace/approx"]
REDUCE = ["--reduce", DIRECTIONS]
# How a subspace is bought first, if at all; the method; and its options.
KMEANS = {
    "lloyd": (None, "kmeans/lloyd", []),
    "lloyd, reduce": (None, "kmeans/lloyd", REDUCE),
    "project (gaussian), then lloyd": (GAUSSIAN, "kmeans/lloyd", []),
    "project (approx), then lloyd": (APPROX, "kmeans/lloyd", []),
}
SUBSPACES = {
    "sulq": (None, "subspaces/sulq", []),
    "sulq, reduce": (None, "subspaces/sulq", REDUCE),
    "moments (reduces by itself)": (None, "subspaces/moments", []),
    "project (gaussian), then sulq": (GAUSSIAN, "subspaces/sulq", []),
    "project (gaussian), then moments": (GAUSSIAN, "subspaces/moments", []),
    "project (approx), then sulq": (APPROX, "subspaces/sulq", []),
    "project (approx), then moments": (APPROX, "subspaces/moments", []),
}


def cloister(command, *words):
    subprocess.run([command, *map(str, words)], check=True, stderr=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["values"]


def private(command, args, way, data, folder, options):
    """The values of the release that this way of running makes of the data; None: no subspace."""
    first, method, more = way
    out, frame = os.path.join(folder, "out.json"), os.path.join(folder, "frame.json")
    common = [data, "--norm", 1, "--no-ledger", "-q", "--rows", args.rows]
    rest = 1 - args.share if first else 1
    if first:
        gamma = ["--gamma", args.gamma] if first is APPROX else []
        cloister(command, "run", *first, *common, *gamma, "--dim", DIRECTIONS, "-o", frame,
                 "--epsilon", args.share * args.epsilon, "--delta", args.share * DELTA)
        if "basis" not in read(frame):
            return None
        more = [*more, "--project", frame]
    cloister(command, "run", method, *common, *options, *more, "-o", out,
             "--epsilon", rest * args.epsilon, "--delta", rest * DELTA)
    return read(out)


def orthonormal(rng, rows, cols):
    return np.linalg.qr(rng.standard_normal((rows, cols)))[0]


def embed(rng, args, inside):
    """Records of the subspace in all columns, and its basis."""
    basis = orthonormal(rng, args.cols, DIRECTIONS)
    return inside @ basis.T + args.noise * rng.standard_normal((len(inside), args.cols)), basis


def mixture(rng, args):
    centers = rng.standard_normal((CENTERS, DIRECTIONS))
    centers *= 0.6 / np.linalg.norm(centers, axis=1)[:, None]
    inside = centers[rng.integers(CENTERS, size=args.rows)]
    return embed(rng, args, inside + args.spread * rng.standard_normal(inside.shape))[0]


def planes(rng, args):
    bases = [orthonormal(rng, DIRECTIONS, DIM) for _ in range(PLANES)]
    inside = rng.standard_normal((args.rows, DIM))
    inside *= (0.9 * rng.random(args.rows) ** 0.5 / np.linalg.norm(inside, axis=1))[:, None]
    which = rng.integers(PLANES, size=args.rows)
    data, basis = embed(rng, args, np.stack([bases[c] @ x for c, x in zip(which, inside)]))
    return data, [basis @ b for b in bases]


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
        data = mixture(rng, args)
        np.save(path, data)
        solved = os.path.join(folder, "solved.json")
        cloister(command, "solve", "kmeans", path, "--clusters", CENTERS, "-o", solved)
        best = cost(data, read(solved)["centers"])
        means = data.mean(0)[None, :]
        for name, way in KMEANS.items():
            values = private(command, args, way, path, folder, ["--clusters", CENTERS])
            centers = values["centers"] if values else means
            results.setdefault(("kmeans", name), []).append(cost(data, centers) / best)
        results.setdefault(("kmeans", "one centre, the mean"), []).append(cost(data, means) / best)
    if args.only != "kmeans":
        data, true = planes(rng, args)
        np.save(path, data)
        for name, way in SUBSPACES.items():
            options = ["--clusters", PLANES, "--dim", DIM]
            values = private(command, args, way, path, folder, options)
            far = distance(values["bases"], true) if values else math.sqrt(PLANES * DIM)
            results.setdefault(("subspaces", name), []).append(far)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--cols", type=int, default=500)
    parser.add_argument("--epsilon", type=float, default=1)
    parser.add_argument("--spread", type=float, default=0.02)
    parser.add_argument("--noise", type=float, default=1e-7)
    parser.add_argument("--gamma", type=float, default=2e-6)
    parser.add_argument("--share", type=float, default=0.3)
    parser.add_argument("--only", choices=["kmeans", "subspaces"])
    args = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.first, args.first + args.sets):
            one_set(args.command, args, seed, folder, results)
    for (family, name), values in results.items():
        print(f"{family:9}  {name:32}  {np.mean(values):.3f} +- {np.std(values):.3f}  "
              f"({min(values):.3f} to {max(values):.3f})")


if __name__ == "__main__":
    main()
