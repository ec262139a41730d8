#!/usr/bin/env python3
"""Times cloister's readers against other people's, on the same files in the same run.

usage: bench_read.py BENCH_READ [ROWS [COLS]]

BENCH_READ is the built bench_read, which makes the files.  Whatever of pandas, polars, pyarrow and
numpy can be imported is timed beside it, once on one core and once on all of them; the best of five
passes counts.  A ratio above 1 means that cloister is faster.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

PASSES = 5


def best(read):
    seconds = []
    for _ in range(PASSES):
        start = time.perf_counter()
        read()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


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
    print(json.dumps([(file, name, best(read)) for file, name, read in readers(folder)]))


def run(cores, command):
    """The command's output, with only so many cores to run on."""
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores)).stdout


def compare(program, folder, size, cores):
    ours, output = {}, run(cores, [program, folder, *size])
    for line in output.splitlines():
        words = line.split()
        if words[0].startswith("read-"):
            ours[words[0][5:]] = (float(words[1]), float(words[3]))
    print(f"\non {len(cores)} of the machine's cores")
    for line in output.splitlines():
        print(f"  cloister  {line}")
    peers = json.loads(run(cores, [sys.executable, __file__, "--peers", folder]))
    for file, name, seconds in peers:
        size_bytes, our_seconds = ours[file]
        print(f"  {file}  {name:32} {seconds:8.4f} s {size_bytes / seconds / 1e6:9.1f} MB/s"
              f"   ratio {seconds / our_seconds:.2f}")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--peers":
        return time_peers(sys.argv[2])
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__.strip().splitlines()[2])
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        for some in [cores[:1], cores] if len(cores) > 1 else [cores]:
            compare(os.path.abspath(sys.argv[1]), folder, sys.argv[2:], some)


if __name__ == "__main__":
    main()
