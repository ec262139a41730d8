#!/usr/bin/env python3
"""The table that PE-means published in June 2026, with our own losses beside it.

The repository t3humphries/PE-means gives the area under the mean loss per row over epsilon = .25,
.5, 1, 2 and 4 (trapezoids), for itself, for Google's clustering and for FastLloyd, on sets that
anybody can make: make_blobs of scikit-learn, rounded, centred and scaled into the unit ball; delta
is N^-1.1; neighbours differ by one row.  Those numbers are theirs and were not measured again.

    python bench/bench_pe_means.py --command build/rel/cli/cloister [D,K ...]

usage: bench_pe_means.py --command PATH [--runs N] [--epsilon LIST] [--out FILE] [D,K ...]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench_density  # noqa: E402
import record  # noqa: E402

ROWS = 20000
EPSILONS = ".25,.5,1,2,4"
# Columns and clusters: without privacy, PE-means, Google, FastLloyd.
PUBLISHED = {
    "4,4": (.0777, .0778, .1305, .1777), "4,16": (.0459, .0445, .0979, .099),
    "4,64": (.0343, .0379, .1289, .0818), "16,4": (.095, .0955, .1395, .711),
    "16,16": (.0606, .0668, .1596, .716), "16,64": (.0642, .1183, .3872, .7631),
    "64,4": (.0954, .0974, .109, 1.4623), "64,16": (.0847, .1189, .2258, 1.7475),
    "64,64": (.0823, .307, .7878, 2.2002), "128,4": (.1054, .1097, .1186, 1.7604),
    "128,16": (.0919, .1562, .2838, 2.3038), "128,64": (.0933, .574, .9675, 2.7204),
}


def made(cols, k):
    from sklearn.datasets import make_blobs
    rows = np.round(make_blobs(ROWS, cols, centers=k, random_state=1)[0], 4)
    rows -= rows.mean(0)
    return rows / np.linalg.norm(rows, axis=1).max()


def centers(command, file, k, epsilon, seed):
    typed = [command, "run", "kmeans", file, "--clusters", k, "--epsilon", epsilon, "--delta",
             repr(ROWS**-1.1), "--relation", "add-remove", "--norm", "1", "--rows", ROWS,
             "--no-ledger", "--json", "-y", "-q", "--threads", "1", "--seed", seed]
    said = subprocess.run(["nice", *map(str, typed)], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr[-500:])
    release = json.loads(said.stdout)
    return np.array(release["values"]["centers"]), release["method"]


def measure(options, name):
    cols, k = map(int, name.split(","))
    rows, epsilons = made(cols, k), [float(e) for e in options.epsilon.split(",")]
    least = bench_density.loss(rows, bench_density.exact(rows, k))
    found = {"columns": cols, "clusters": k, "exact": record.digits(least, 4)}
    found |= dict(zip(("published_exact", "pe_means", "google", "fastlloyd"), PUBLISHED[name]))
    means = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        np.save(file, rows)
        for epsilon in epsilons:
            runs = [centers(options.command, file, k, epsilon, s) for s in range(options.runs)]
            losses = [bench_density.loss(rows, at) / least for at, _ in runs]
            found[f"at {epsilon:g}"] = record.measured(losses) | {"method": runs[0][1]}
            means.append(least * sum(losses) / len(losses))
    found["area"] = record.digits(float(np.trapezoid(means, epsilons)), 4)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epsilon", default=EPSILONS)
    parser.add_argument("--out", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    table = {}
    for name in options.names or PUBLISHED:
        table[name] = measure(options, name)
        print(name, table[name], flush=True)
        versions = record.versions("scikit-learn", cloister=options.command)
        record.write(options.out, {"rows": table}, **versions)


if __name__ == "__main__":
    main()
