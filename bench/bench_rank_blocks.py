#!/usr/bin/env python3
"""Blocks over ranks: what methods that work on blocks of the records cost on one process and on two
ranks.

    python bench_rank_blocks.py CLOISTER [--rows N] [--cols D] [--ranks 1,2,4]

Makes N x D records of 4 clusters as NPY (removed afterwards) and runs each method on them, one
thread a rank.  All times are CPU seconds, user and system, of each rank by itself, waits between
ranks included as far as they take the processor: the longest of them is how long the run takes with
a core for each rank.  Efficiency is the CPU time of one process over that of all ranks together.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from rank_cost import ENVIRONMENT, cpu

METHODS = {
    "kmeans/aggregate": ["--clusters", "4", "--restarts", "10"],
    "subspaces/aggregate": ["--clusters", "4", "--dim", "2"],
    "subspace/approx": ["--dim", "2", "--gamma", "0.05"],
}


def be_one(note, command):
    """Runs the command and writes what it took, in a file of this rank's own."""
    ended = subprocess.run(command, check=False)
    rank = os.environ.get("OMPI_COMM_WORLD_RANK", "0")
    Path(f"{note}.{rank}").write_text(str(cpu(resource.RUSAGE_CHILDREN)))
    return ended.returncode


def run(cloister, ranks, method, path, folder):
    """CPU seconds of each rank, and the release."""
    note = Path(folder) / "note"
    launcher = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    made = subprocess.run(
        [*launcher, sys.executable, __file__, "--rank", note, cloister, "run", method, path,
         *METHODS[method], "--epsilon", "8", "--delta", "1e-6", "--norm", "1", "--seed", "bench",
         "--accept", "idealized", "--no-ledger", "--json", "--quiet", "--threads", "1"],
        env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return [float(Path(f"{note}.{rank}").read_text()) for rank in range(ranks)], made.stdout


def main():
    if sys.argv[1] == "--rank":
        sys.exit(be_one(sys.argv[2], sys.argv[3:]))
    options = argparse.ArgumentParser()
    options.add_argument("cloister", type=os.path.abspath)
    options.add_argument("--rows", type=int, default=400_000)
    options.add_argument("--cols", type=int, default=16)
    options.add_argument("--ranks", default="1,2,4")
    arguments = options.parse_args()
    result = {"rows": arguments.rows, "cols": arguments.cols}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        subprocess.run([arguments.cloister, "generate", "mixture", "--rows", str(arguments.rows),
                        "--cols", str(arguments.cols), "--clusters", "4", "--seed", "1",
                        "-o", path],
                       stdout=subprocess.DEVNULL, check=True)
        for method in METHODS:
            releases, alone, found = set(), None, {}
            for ranks in map(int, arguments.ranks.split(",")):
                used, release = run(arguments.cloister, ranks, method, path, folder)
                alone = alone or sum(used)
                releases.add(release)
                found[ranks] = {"each": used, "longest": max(used), "all": sum(used),
                                "efficiency": alone / sum(used)}
            result[method] = {**found, "same bytes": len(releases) == 1}
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
