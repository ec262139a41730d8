#!/usr/bin/env python3
"""Times cloister's readers against other people's, on the same files in the same run.

usage: bench_read.py BENCH_READ [ROWS [COLS]] [-o FILE.json]

BENCH_READ is the built bench_read, which makes the files.  Whatever of pandas, polars, pyarrow and
numpy can be imported is timed beside it, once on one core and once on all of them; the best of five
passes counts.  A ratio above 1 means that cloister is faster; that of processor time says more on a
machine that is busy.  In the file of results are ratios of three rounds of all of them in turn.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import record

PASSES, TURNS = 5, 3
PEERS = ("pandas", "polars", "pyarrow", "numpy")


def best(read):
    """The least wall seconds, and the least of the processor."""
    seconds, used = [], []
    for _ in range(PASSES):
        start, before = time.perf_counter(), time.process_time()
        read()
        seconds.append(time.perf_counter() - start)
        used.append(time.process_time() - before)
    return min(seconds), min(used)


def readers(folder):
    """(file, reader, function) for each library that is there."""
    csv, npy = os.path.join(folder, "bench_read.csv"), os.path.join(folder, "bench_read.npy")
    try:
        import pandas
        yield "csv", f"pandas {pandas.__version__}, C engine", \
            lambda: pandas.read_csv(csv, header=None, engine="c")
    except ImportError:
        pass
    try:
        import polars
        yield "csv", f"polars {polars.__version__}", lambda: polars.read_csv(csv, has_header=False)
    except ImportError:
        pass
    try:
        import pyarrow
        import pyarrow.csv
        options = pyarrow.csv.ReadOptions(autogenerate_column_names=True)
        yield "csv", f"pyarrow {pyarrow.__version__}", \
            lambda: pyarrow.csv.read_csv(csv, read_options=options)
    except ImportError:
        pass
    try:
        import numpy
        # Both sides bring every cell into memory of their own and add up each eighth.
        yield "npy", f"numpy {numpy.__version__}, load and sum", \
            lambda: numpy.load(npy).ravel()[::8].sum()
    except ImportError:
        pass


def time_peers(folder):
    print(json.dumps([(file, name, *best(read)) for file, name, read in readers(folder)]))


def run(cores, command):
    """The command's output, with only so many cores to run on."""
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores)).stdout


def compare(program, folder, size, cores):
    ours, output = {}, run(cores, [program, folder, *size])
    for line in output.splitlines():
        words = line.split()
        if words[0].startswith("read-"):
            ours[words[0][5:]] = (float(words[1]), float(words[3]), float(words[7]))
    print(f"\non {len(cores)} of the machine's cores")
    for line in output.splitlines():
        print(f"  cloister  {line}")
    ratios = {}
    peers = json.loads(run(cores, [sys.executable, __file__, "--peers", folder]))
    for file, name, seconds, used in peers:
        size_bytes, our_seconds, we_used = ours[file]
        print(f"  {file}  {name:32} {seconds:8.4f} s {size_bytes / seconds / 1e6:9.1f} MB/s"
              f"   ratio {seconds / our_seconds:.2f}, of processor time {used / we_used:.2f}")
        key = f"{file}, {name.split()[0]}"
        ratios[key], ratios[f"{key}, cpu"] = seconds / our_seconds, used / we_used
    return ratios


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--peers":
        time_peers(sys.argv[2])
        return
    words, out = sys.argv[1:], None
    if "-o" in words[:-1]:
        out = words.pop(words.index("-o") + 1)
        words.remove("-o")
    if not 1 <= len(words) <= 3:
        sys.exit(__doc__.strip().splitlines()[2])
    cores = sorted(os.sched_getaffinity(0))
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for some in [cores[:1], cores] if len(cores) > 1 else [cores]:
            turns = [compare(os.path.abspath(words[0]), folder, words[1:], some)
                     for _ in range(TURNS if out else 1)]
            found[f"cores_{len(some)}"] = {name: record.measured([turn[name] for turn in turns])
                                           for name in turns[0]}
    record.write(out, {"ratios": found}, **record.versions(*PEERS))


if __name__ == "__main__":
    main()
