"""The other methods of subspaces on the two synthetic settings of wang2015: cost and d_W.

    python bench_wang2015.py PATH/TO/cloister [--sets N] [--first SEED] [--epsilons 0.1,1]
                            [--runs M] [--setting A|B] [--way NAME ...]

A: 1000 x 10, noise .1.  B: 5000 x 5, noise .01.  Three subspaces of dimension 3 each, records moved
into the unit ball, delta = 1/(n ln n), replace one.  One line a setting and a way of running it:
for each epsilon cost / d_W and the standard error of d_W, over N data sets with M runs each.
The ways named "tight" are Algorithm 5 with the right sensitivity and exact composition, one start
and even rounds; "paper" has the noise that the paper prints; "sulq" is what a user gets; "aggregate
25 kplanes" is Algorithm 1, repaired, with so many blocks and that solver.
"""
import argparse
import itertools
import json
import math
import os
import subprocess
import tempfile

import numpy as np

SETTINGS = {"A": dict(rows=1000, cols=10, noise=0.1), "B": dict(rows=5000, cols=5, noise=0.01)}
CLUSTERS, DIM = 3, 3
WAYS = {
    "tight, 10 rounds": ["sulq", "--schedule", "even", "--restarts", "1", "--rounds", "10"],
    "tight, 50 rounds": ["sulq", "--schedule", "even", "--restarts", "1", "--rounds", "50"],
    "paper, 10 rounds": ["sulq", "--accounting", "paper", "--rounds", "10"],
    "sulq": ["sulq"],
    "aggregate 25 kplanes": ["aggregate", "--blocks", "25", "--solver", "kplanes"],
    "aggregate 100 kplanes": ["aggregate", "--blocks", "100", "--solver", "kplanes"],
    "aggregate 25 tsc": ["aggregate", "--blocks", "25", "--solver", "tsc"],
    "aggregate 49 tsc": ["aggregate", "--blocks", "49", "--solver", "tsc"],
    "aggregate": ["aggregate"],
}


def cost(data, bases):
    """Mean squared distance to the nearest subspace."""
    along = np.stack([((data @ basis) ** 2).sum(1) for basis in bases], 1).max(1)
    return float(((data**2).sum(1) - along).mean())


def distance(found, truth):
    """d_W: root of the summed squared ||sin Theta||_F of the best matching."""
    squares = np.array([[max(0.0, DIM - np.sum((a.T @ b) ** 2)) for b in truth] for a in found])
    matchings = itertools.permutations(range(CLUSTERS))
    return math.sqrt(min(sum(squares[i, p[i]] for i in range(CLUSTERS)) for p in matchings))


def call(program, *words):
    subprocess.run([program, *map(str, words)], check=True, capture_output=True, text=True)


def make_data(program, folder, name, seed):
    setting = SETTINGS[name]
    rows, truth = os.path.join(folder, "rows.npy"), os.path.join(folder, "truth.npy")
    call(program, "generate", "subspaces", "--seed", seed, "--rows", setting["rows"], "--cols",
         setting["cols"], "--clusters", CLUSTERS, "--dim", DIM, "--noise", setting["noise"], "-o",
         rows, "--truth", truth)
    data = np.load(rows)
    data = data / np.maximum(1, np.linalg.norm(data, axis=1, keepdims=True))
    return rows, data, np.load(truth).reshape(CLUSTERS, setting["cols"], DIM)


def release(program, folder, rows, data, epsilon, seed, options):
    out = os.path.join(folder, "out.json")
    n = len(data)
    call(program, "run", f"subspaces/{options[0]}", rows, "--clusters", CLUSTERS, "--dim", DIM,
         "--epsilon", epsilon, "--delta", 1 / (n * math.log(n)), "--norm", 1, "--no-ledger",
         "--seed", seed, "--yes", "--quiet", "--threads", 1, "--accept", "idealized", "-o", out,
         *options[1:])
    with open(out, encoding="utf-8") as file:
        values = json.load(file)["values"]
    os.remove(out)
    return np.array(values["bases"])


def measure(program, folder, name, way, epsilons, sets, first, runs):
    found = {epsilon: [] for epsilon in epsilons}
    for seed in range(first, first + sets):
        rows, data, truth = make_data(program, folder, name, seed)
        for epsilon in epsilons:
            for run in range(runs):
                bases = release(program, folder, rows, data, epsilon, f"{seed} {run}", WAYS[way])
                bases = bases.reshape(truth.shape)
                found[epsilon].append((cost(data, bases), distance(bases, truth)))
    cells = []
    for epsilon in epsilons:
        costs, distances = np.array(found[epsilon]).T
        error = distances.std(ddof=1) / math.sqrt(len(distances)) if len(distances) > 1 else 0
        cells.append(f"{epsilon:g}: {costs.mean():.4f} / {distances.mean():.3f} +- {error:.3f}")
    print(f"{name} {way}: " + "  ".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--epsilons", default="0.1,0.3,1,3,10")
    parser.add_argument("--setting", choices=list(SETTINGS), action="append")
    parser.add_argument("--way", choices=list(WAYS), action="append")
    asked = parser.parse_args()
    epsilons = [float(e) for e in asked.epsilons.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.setting or SETTINGS:
            for way in asked.way or WAYS:
                measure(asked.program, folder, name, way, epsilons, asked.sets, asked.first,
                        asked.runs)


if __name__ == "__main__":
    main()
