"""kmeans/sparse on 50,000 records of 20 entries in 100,000 columns, ten clusters, through the command.

    python bench_sparse.py PATH/TO/cloister [FIRST_SEED] [DATA_SETS]

For each way of running: how many of the centres were found (nearer than .3 of the ball's radius to a
true one), how far they are, the cost over that of the truth, wall and CPU time and peak memory of
the whole command, reading included.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

ROWS, COLS, CLUSTERS, ENTRIES = 50_000, 100_000, 10, 20
SHAPE = ["--cols", str(COLS)]
WAYS = {
    "sums, delta 1e-6, add-remove": ["--delta", "1e-6", "--relation", "add-remove"],
    "sums, delta 1e-6, replace": ["--delta", "1e-6", "--relation", "replace"],
    "sums, delta 0, add-remove": ["--delta", "0", "--sparsity", "20", "--relation", "add-remove"],
    "sums, delta 0, replace": ["--delta", "0", "--sparsity", "20", "--relation", "replace"],
    "peel, delta 1e-6, add-remove": ["--delta", "1e-6", "--sparsity", "20", "--recover", "peel",
                                     "--relation", "add-remove"],
}


def make_data(cloister, folder, seed):
    path, truth = os.path.join(folder, "data.svm"), os.path.join(folder, "truth.csv")
    subprocess.run([cloister, "generate", "sparse", "--rows", str(ROWS), "--clusters",
                    str(CLUSTERS), "--entries", str(ENTRIES), *SHAPE, "--seed", str(seed), "-o",
                    path, "--truth", truth], check=True)
    return path, truth


def centers_of(release):
    values = json.load(open(release, encoding="utf-8"))["values"]
    starts = [int(start) for start in values["centers_starts"]]
    centers = np.zeros((len(starts) - 1, COLS))
    for c, (first, end) in enumerate(zip(starts, starts[1:])):
        columns = [int(column) for column in values["centers_columns"][first:end]]
        centers[c, columns] = values["centers_values"][first:end]
    return centers


def distances(centers, truth):
    squares = (truth**2).sum(1)[:, None] + (centers**2).sum(1)[None] - 2 * truth @ centers.T
    return np.sqrt(np.maximum(squares, 0)).min(1)


def run(cloister, folder, path, way, seed):
    release = os.path.join(folder, "release.json")
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([cloister, "run", "kmeans/sparse", path, *SHAPE, "--clusters", str(CLUSTERS),
                    "--epsilon", "1", "--norm", "1.2", "--no-ledger", "--quiet", "--seed",
                    str(seed), *WAYS[way], "-o", release], check=True, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return release, wall, cpu, after.ru_maxrss / 1024


def cost_ratio(cloister, release, path, truth):
    out = subprocess.run([cloister, "evaluate", release, path, *SHAPE, "--truth", truth, "--json"],
                         check=True, capture_output=True, text=True).stdout
    result = json.loads(out)
    return result["cost"] / result["truth_cost"]


def main():
    cloister = os.path.abspath(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    found = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            path, file = make_data(cloister, folder, seed)
            truth = np.loadtxt(file, delimiter=",")
            for way, results in found.items():
                release, wall, cpu, memory = run(cloister, folder, path, way, seed)
                away = distances(centers_of(release), truth)
                results.append(((away < 0.3).sum(), np.median(away), away.max(),
                                cost_ratio(cloister, release, path, file), wall, cpu, memory))
    print("| way | found | median distance | worst | cost over truth's | wall s | CPU s | MB |")
    print("|---|---|---|---|---|---|---|---|")
    for way, results in found.items():
        hits, median, worst, cost, wall, cpu, memory = zip(*results)
        print(f"| {way} | {sum(hits)} of {count * CLUSTERS} | {np.mean(median):.3f} | "
              f"{max(worst):.3f} | {np.mean(cost):.4f} | {np.mean(wall):.2f} | {np.mean(cpu):.2f} | "
              f"{max(memory):.0f} |")


if __name__ == "__main__":
    main()
