#!/usr/bin/env python3
"""k subspaces of MNIST digits: does more budget ever make it worse?

    python bench_mnist_subspaces.py PATH/TO/cloister FOLDER_OF_MNIST [--digits 017,01]
                                    [--epsilons 1,3,10,30] [--methods auto,moments,sulq]
                                    [--runs 12] [--first-seed 1000]

The training images of some digits, seen in 20 public directions (the top ones of the 10,000 test
images, which count as public here) and scaled to unit rows; k as many as there are digits, q = 3,
replace one, delta 1e-6.  Accuracy: each row goes to the subspace that it is nearest to, and
subspaces to digits by the best matching.  A line a set, a method and an epsilon: mean and worst
over the runs, and the method that was taken.  Nothing of the data is committed.
"""
import argparse
import gzip
import itertools
import json
import os
import subprocess
import tempfile
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402  (the variables above must be set before)

DIRECTIONS, DIM, DELTA = 20, 3, 1e-6


def read_idx(path):
    with gzip.open(path, "rb") as file:
        raw = file.read()
    sizes = [int.from_bytes(raw[4 + 4 * i:8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(sizes)


def images(folder, part):
    rows = read_idx(folder / f"{part}-images-idx3-ubyte.gz").reshape(-1, 784) / 255.0
    return rows, read_idx(folder / f"{part}-labels-idx1-ubyte.gz")


def make_rows(folder, digits):
    public, _ = images(folder, "t10k")
    directions = np.linalg.eigh(public.T @ public)[1][:, :-DIRECTIONS - 1:-1]
    rows, labels = images(folder, "train")
    wanted = np.isin(labels, digits)
    seen = rows[wanted] @ directions
    return seen / np.linalg.norm(seen, axis=1, keepdims=True), labels[wanted]


def accuracy(rows, labels, digits, bases):
    nearest = np.stack([((rows @ b) ** 2).sum(1) for b in bases], 1).argmax(1)
    counts = np.array([[np.sum((nearest == c) & (labels == g)) for g in digits]
                       for c in range(len(bases))])
    turns = itertools.permutations(range(len(digits)))
    return max(sum(counts[c, turn[c]] for c in range(len(bases))) for turn in turns) / len(rows)


def release(options, path, digits, method, epsilon, seed):
    name = "subspaces" if method == "auto" else f"subspaces/{method}"
    done = subprocess.run(
        [options.cloister, "run", name, str(path), f"--clusters={len(digits)}", f"--dim={DIM}",
         f"--epsilon={epsilon}", f"--delta={DELTA}", "--norm=1", "--no-ledger", f"--seed={seed}",
         "--yes", "--quiet", "--threads=1", "--json"], check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    return found["values"], found["method"]


def measure(options, folder, name):
    digits = [int(c) for c in name]
    rows, labels = make_rows(Path(options.folder), digits)
    path = folder / "rows.npy"
    np.save(path, rows)
    for method in options.methods.split(","):
        for epsilon in options.epsilons.split(","):
            found, taken = [], set()
            for run in range(options.runs):
                values, took = release(options, path, digits, method, epsilon,
                                       options.first_seed + run)
                bases = np.array(values["bases"]).reshape(len(digits), DIRECTIONS, DIM)
                found.append(accuracy(rows, labels, digits, bases))
                taken.add(took)
            print(f"{name:4} {method:8} epsilon {epsilon:5} accuracy {np.mean(found):.4f}"
                  f"  worst {np.min(found):.4f}  ({', '.join(sorted(taken))})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister")
    parser.add_argument("folder")
    parser.add_argument("--digits", default="017,01")
    parser.add_argument("--epsilons", default="1,3,10,30")
    parser.add_argument("--methods", default="auto")
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--first-seed", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.digits.split(","):
            measure(options, Path(folder), name)


if __name__ == "__main__":
    main()
