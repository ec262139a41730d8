#!/usr/bin/env python3
"""Ranks that hold no rows: what a pass costs on one process and on two ranks.

    python bench_ranks.py CLOISTER [--rows N] [--cols D] [--clusters K] [--memory SIZE]
                          [--ranks 1,2] [--folder DIR]

Makes N x D records of K clusters as NPY (removed afterwards) and runs kmeans/lloyd with a limit of
memory, one thread a rank.  Times are CPU seconds, user and system, of all processes together, waits
between ranks included as far as they take the processor, and seconds by the clock; a pass is the
difference of runs of 5 rounds and of 1, over 4, and the whole is the run of 5 rounds.  Efficiency
is the CPU time on one process over that on several ranks, what the split itself costs; or, by the
clock, the time of one process over that of all ranks times their number, which says something only
where each has a core that is idle.

Beside it: the same bytes read into 8 MiB of memory and every number added up, by NumPy, which is
what any pass over doubles must do.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from rank_cost import ENVIRONMENT, cpu
from rows_file import make_rows


def read_and_add_up(path):
    before, total = cpu(resource.RUSAGE_SELF), 0.0
    room = np.empty(1 << 20)
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(room):
            total += room[:count // 8].sum()
    assert total != 0
    return cpu(resource.RUSAGE_SELF) - before


def run(arguments, ranks, path, rounds):
    """Seconds, and the release."""
    before, begin = cpu(resource.RUSAGE_CHILDREN), time.monotonic()
    launcher = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    made = subprocess.run([*launcher, arguments.cloister, "run", "kmeans/lloyd", path,
                           "--clusters", str(arguments.clusters), "--rounds", str(rounds),
                           "--epsilon", "1", "--norm", "1", "--seed", "bench", "--no-ledger",
                           "--json", "--quiet", "--threads", "1", "--memory", arguments.memory],
                          env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True)
    return {"cpu": cpu(resource.RUSAGE_CHILDREN) - before,
            "clock": time.monotonic() - begin}, made.stdout


def main():
    options = argparse.ArgumentParser()
    options.add_argument("cloister", type=os.path.abspath)
    options.add_argument("--rows", type=int, default=50_000_000)
    options.add_argument("--cols", type=int, default=16)
    options.add_argument("--clusters", type=int, default=8)
    options.add_argument("--memory", default="1G")
    options.add_argument("--ranks", default="1,2")
    options.add_argument("--folder", default=None)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = Path(folder) / "rows.npy"
        make_rows(path, arguments.rows, arguments.cols, arguments.clusters)
        reading = min(read_and_add_up(path) for _ in range(3))
        result = {"rows": arguments.rows, "cols": arguments.cols, "read and add up": reading,
                  "ranks": {}}
        releases = set()
        for ranks in map(int, arguments.ranks.split(",")):
            few, _ = run(arguments, ranks, path, 1)
            many, release = run(arguments, ranks, path, 5)
            releases.add(release)
            result["ranks"][ranks] = {
                kind: {"pass": (many[kind] - few[kind]) / 4, "whole": many[kind]} for kind in many}
    first = next(iter(result["ranks"].values()))
    for ranks, found in result["ranks"].items():
        for kind, seconds in found.items():
            share = ranks if kind == "clock" else 1
            seconds.update({f"efficiency, {what}": first[kind][what] / seconds[what] / share
                            for what in ("pass", "whole")})
        found["of read and add up"] = found["cpu"]["pass"] / reading
    result["same bytes"] = len(releases) == 1
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
