#!/usr/bin/env python3
"""What Python adds to a fit: k-means of 10,000 x 10 by an estimator, beside the command and beside
the library's own steps called from the same process.

The estimator is given an array; the command reads the same rows from an NPY file.  Processor
times (a busy machine tells little by wall time) of a fit on one thread, medians of many, in turns.
"Overhead" is a fit by the estimator less the library's one call (clo_job_release) that followed it,
in the same process on the same table: what scikit-learn's checks, the wrapping of the array and the
making of the release as an object take.  The command has the start of a process and the reading of
a file, which Python has once for all fits.

Prints a table for bench/LABBOOK.md; -o writes the same as JSON.

usage: bench/bench_python.py [--fits N] [-o FILE.json]       run by a Python that has cloister
"""
import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import cloister
import record
from cloister._job import Job
from cloister._table import as_table

ROWS, COLS, CLUSTERS = 10_000, 10, 4


def data():
    generator = np.random.default_rng(0)
    centers = generator.uniform(-0.7, 0.7, size=(CLUSTERS, COLS))
    rows = centers[generator.integers(CLUSTERS, size=ROWS)]
    return (rows + generator.normal(0, 0.1, size=rows.shape)).clip(-1, 1)


def used():
    """Processor time of this process and of those that it has waited for."""
    return sum(time for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
               for time in resource.getrusage(kind)[:2])


def milliseconds(works, times):
    """The median of each, taken in turns, and the least: what others do on the machine adds to a
    time, and never takes away.  And the overhead: the median over the turns."""
    taken = {name: [] for name in works}
    for turn in range(times + 1):
        for name, work in works.items():
            start = used()
            work()
            if turn:  # the first warms caches
                taken[name].append(1e3 * (used() - start))
    return ({name: statistics.median(values) for name, values in taken.items()},
            {name: min(values) for name, values in taken.items()},
            statistics.median(fit - call for fit, call in zip(taken["estimator"],
                                                              taken["library"])))


def ways(rows, folder, method):
    """Estimator, one call of the library, command, and the plan alone."""
    estimator = cloister.PrivateKMeans(CLUSTERS, epsilon=1, bounds=(-1, 1), method=method,
                                       threads=1)
    table = as_table(rows)
    settings = {"mechanism": "kmeans", "method": None if method == "auto" else method,
                "clusters": CLUSTERS, "epsilon": 1, "bounds": (-1, 1), "threads": 1,
                "no-ledger": True}
    path = folder / "rows.npy"
    np.save(path, rows)
    beside = Path(sys.executable).parent / "cloister"
    command = [beside if beside.exists() else shutil.which("cloister"), "run",
               "kmeans" if method == "auto" else f"kmeans/{method}", path, "--clusters",
               str(CLUSTERS), "--epsilon", "1", "--bounds", "-1,1", "--threads", "1",
               "--no-ledger", "-q", "-o", folder / "out.json"]
    plan = {**settings, "rows": ROWS, "cols": COLS}
    plan.pop("no-ledger")
    return {
        "estimator": lambda: estimator.fit(rows),
        "library": lambda: Job(settings, table).release(),
        "command": lambda: subprocess.run(command, check=True, stderr=subprocess.DEVNULL),
        "plan": lambda: Job(plan).plan(),
    }


def rounded(values):
    return {name: round(value, 2) for name, value in values.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fits", type=int, default=40)
    parser.add_argument("-o", metavar="FILE.json")
    asked = parser.parse_args()
    times, found = asked.fits, {}
    warnings.simplefilter("ignore")
    rows = data()
    print(f"cloister {cloister.__version__}, {ROWS:,} x {COLS}, {CLUSTERS} clusters, one thread, "
          f"processor time in ms, medians of {times}\n")
    print("| method | a fit | the library's call | overhead | the command | plan alone |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for method in ("auto", "lloyd", "local"):
            middle, least, overhead = milliseconds(ways(rows, Path(folder), method), times)
            found[method] = {"median": rounded(middle), "least": rounded(least),
                             "overhead": round(overhead, 2)}
            print(f"| {method} | {middle['estimator']:.1f} | {middle['library']:.1f} | "
                  f"{overhead:.1f} | {middle['command']:.1f} | "
                  f"{middle['plan']:.1f} |")
    record.write(asked.o, {"rows": ROWS, "cols": COLS, "clusters": CLUSTERS, "fits": times,
                           "cpu_ms": found},
                 **record.versions("cloister", "numpy", "scikit-learn"))


if __name__ == "__main__":
    main()
