#!/usr/bin/env python3
"""Rows with workers: what a pass costs with one process and with several, and what that says of
many machines.

    python bench_workers.py [--rows N] [--cols D] [--clusters K] [--workers 1,2] [--folder DIR]

Needs the Python package (make wheel).  Makes N x D records of K clusters as NPY (removed
afterwards) and runs kmeans/lloyd over as many parts as there are workers, in processes of one
thread each; first in this process alone.  A pass is the difference of runs of 5 rounds and of 1,
over 4.  Shown are CPU seconds, user and system, of all processes together, so that a busy machine
does not show, and seconds by the clock, which mean something on idle cores alone.  Efficiency is
the CPU time of one worker over that of several for the same pass: what the split itself costs; and
by the clock, what one process takes over what W workers take, W times.

The model: a pass over n rows on W workers takes

    n / W * row  +  W * task  +  wire

row   CPU seconds of a row: read, bounded, hashed, compared with K centres and added up
task  what the driver does for each task: a key, a pickle, a vector that comes back, whose pad is
      taken off and which is added up
wire  latency + bytes / bandwidth for the ask to go out and for W vectors to come in, of a network
      that is stated and not measured; none between processes of this machine

and what it says of the runs made here is shown beside them.
"""
import argparse
import json
import os
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402  (threads are set above)

from cloister import _pads, distributed  # noqa: E402
from rows_file import make_rows  # noqa: E402

#: A network of 10 Gbit/s, and half a millisecond for a message there and back.
BANDWIDTH, LATENCY = 10e9 / 8, 0.5e-3


# ---- measured ----------------------------------------------------------------------------------

def used():
    """CPU seconds of the driver and of its workers, and the clock."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return [*(use.ru_utime + use.ru_stime for use in uses), time.monotonic()]


def one_run(path, workers, clusters, rounds):
    """What it has used, and the release."""
    before = used()
    settings = {"clusters": clusters, "rounds": rounds, "epsilon": 1, "norm": 1, "seed": "bench"}
    parts = distributed.split(path, max(workers, 1))
    if workers:
        with ProcessPoolExecutor(workers) as pool:
            made = distributed.run("kmeans/lloyd", parts, executor=pool, **settings)
    else:
        made = distributed.run("kmeans/lloyd", parts, mask=False, **settings)
    return [after - was for after, was in zip(used(), before)], made.to_json()


def a_pass(path, workers, clusters):
    """What one pass uses; and the release of five rounds."""
    few, _ = one_run(path, workers, clusters, 1)
    many, made = one_run(path, workers, clusters, 5)
    return [(b - a) / 4 for a, b in zip(few, many)], made


def per_task(vector_bytes, times=200):
    """What of a task is the vector's: its key, its pad, the addition.  CPU seconds each."""
    count = vector_bytes // 8
    vector = np.zeros(count, dtype=np.uint64)
    begin = time.process_time()
    for i in range(times):
        key = _pads.part_key(bytes(32), i)
        vector = vector + np.frombuffer(vector.tobytes(), np.uint64)
        _pads.remove_pad(key, vector)
    return (time.process_time() - begin) / times


# ---- predicted ---------------------------------------------------------------------------------

def predicted(rows, workers, row, task, vector_bytes):
    """Seconds of a pass, and what its parts are."""
    wire = 2 * LATENCY + workers * vector_bytes / BANDWIDTH
    return {"workers": workers, "fold": rows / workers * row, "driver": workers * task,
            "wire": wire}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=4e6)
    parser.add_argument("--cols", type=int, default=16)
    parser.add_argument("--clusters", type=int, default=8)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--folder", default=None)
    options = parser.parse_args()
    rows, cols, clusters = int(options.rows), options.cols, options.clusters
    vector_bytes = 8 * (clusters * (cols + 1) + 2)
    found = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows.npy"
        make_rows(path, rows, cols, clusters)
        (alone, _, clock), expected = a_pass(path, 0, clusters)
        print(f"{rows} x {cols}, {clusters} clusters; one process: {alone:.3f} CPU s a pass, "
              f"{clock:.3f} by the clock")
        for workers in map(int, options.workers.split(",")):
            found[workers], made = a_pass(path, workers, clusters)
            assert made == expected, "the release must not depend on the workers"
            driver, theirs, here = found[workers]
            print(f"{workers} workers: {theirs:.3f} CPU s a pass, driver {driver * 1e3:.1f} ms, "
                  f"{here:.3f} s by the clock; efficiency {found[1][1] / theirs:.2f} by CPU time, "
                  f"{clock / (workers * here):.2f} by the clock")
    last = max(found)
    row, task, add = found[last][1] / rows, max(found[last][0], 0) / last, per_task(vector_bytes)
    print(f"row {row * 1e9:.1f} ns, task {task * 1e3:.2f} ms, vector {add * 1e6:.1f} us "
          f"({vector_bytes} bytes); stated: {BANDWIDTH * 8 / 1e9:.0f} Gbit/s, "
          f"{LATENCY * 1e3:g} ms")
    for workers in sorted(found):
        parts = predicted(rows, workers, row, task, vector_bytes)
        print(f"the model of {workers} workers here: {parts['fold'] + parts['driver']:.3f} s, "
              f"by the clock {found[workers][2]:.3f} s")
    for many in (1_000_000_000, 100_000_000_000):
        for workers in (last, 64, 1024):
            parts = predicted(many, workers, row, task, vector_bytes)
            whole = sum(parts[name] for name in ("fold", "driver", "wire"))
            share = many * row / (workers * whole)
            print(json.dumps({"rows": many, **{k: round(v, 3) for k, v in parts.items()},
                              "seconds": round(whole, 3), "efficiency": round(share, 3)}))


if __name__ == "__main__":
    main()
