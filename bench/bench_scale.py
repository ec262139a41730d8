#!/usr/bin/env python3
"""Rows that are not held: how much memory a run takes, and what a pass costs.

    python bench_scale.py PATH/TO/cloister [--rows N] [--cols D] [--memory SIZE] [--threads N]
                          [--folder DIR] [--keep] [--formats npy,csv,csv.gz] [--turns N]

Makes N x D records of 8 clusters in the folder, as NPY, and of the first 500,000 as CSV, plain and
compressed (removed afterwards, unless --keep), and runs kmeans/lloyd on them, in memory and with a
limit of it.  All times are CPU seconds, user and system, the least of N turns; a pass is the
difference of runs of 5 rounds and of 1, over 4.  Beside it, in the same turn:

    read        the bytes of the file are read, 16 MiB at a time, and that is all
    read, add   the same, and NumPy adds up what was read (of NPY alone)
    bare scan   what a run in memory does before its first question: read, parse, bring every
                record onto the grid; a rehearsal (--dry-run) that holds all rows
    fold        a pass of the run in memory: the question alone

Releases are compared byte for byte, and the peak is that of the process (maximum resident set).
Of more than 10,000,000 rows only the bare scan is run in memory, half of what the file takes.

Needs numpy.
"""
import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

PIECE, TEXT_ROWS, CLUSTERS = 1 << 24, 500_000, 8


# ---- data ----------------------------------------------------------------------------------------

def pieces(rows, cols):
    import numpy as np

    random = np.random.default_rng(7)
    centres = random.normal(size=(CLUSTERS, cols))
    centres *= 0.6 / np.linalg.norm(centres, axis=1, keepdims=True)
    for first in range(0, rows, 500_000):
        count = min(500_000, rows - first)
        noise = random.standard_normal((count, cols), dtype=np.float32)
        yield centres[random.integers(0, CLUSTERS, count)] + 0.08 * noise


def make_npy(path, rows, cols):
    import numpy as np

    with open(path, "wb") as out:
        np.lib.format.write_array_header_1_0(
            out, {"descr": "<f8", "fortran_order": False, "shape": (rows, cols)})
        for piece in pieces(rows, cols):
            piece.astype("<f8").tofile(out)


def make_csv(path, rows, cols):
    import numpy as np

    plain = path.with_name(path.name.removesuffix(".gz"))
    if not plain.exists():
        with open(plain, "w") as out:
            out.write(",".join(f"x{j}" for j in range(cols)) + "\n")
            for piece in pieces(rows, cols):
                np.savetxt(out, piece, fmt="%.6f", delimiter=",")
    if path != plain:
        path.write_bytes(gzip.compress(plain.read_bytes(), 6))


def make(path, rows, cols):
    """In a process of its own: what this one has ever held counts for the peak of its children."""
    maker = "make_npy" if path.suffix == ".npy" else "make_csv"
    subprocess.run([sys.executable, "-c",
                    f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
                    f"from pathlib import Path\nimport bench_scale\n"
                    f"bench_scale.{maker}(Path({str(path)!r}), {rows}, {cols})"], check=True)


# ---- measuring -----------------------------------------------------------------------------------

def measured(command, output=subprocess.DEVNULL):
    """CPU seconds and the peak in MiB of a process."""
    process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def read_cost(path, adds):
    work = "numpy.frombuffer(b, 'f8').sum()" if adds else "pass"
    code = (f"import numpy\nf = open({str(path)!r}, 'rb', buffering=0)\n"
            f"f.seek({128 if adds else 0})\nb = bytearray({PIECE})\n"
            f"while (n := f.readinto(b)):\n    if n < {PIECE}: del b[n // 8 * 8:]\n    {work}\n")
    empty, _ = measured([sys.executable, "-c", "import numpy"])
    return measured([sys.executable, "-c", code])[0] - empty


def run(options, path, rounds, *more):
    with tempfile.TemporaryFile() as out:
        cost, peak = measured(
            [options.cloister, "run", "kmeans/lloyd", path, "--clusters", str(CLUSTERS), "--rounds",
             str(rounds), "--norm", "1", "--epsilon", "1", "--no-ledger", "--seed", "1", "--json",
             "-q", "--threads", str(options.threads), *more], out)
        out.seek(0)
        return cost, peak, out.read()


def rounds_of(options, path, *more):
    once, five = run(options, path, 1, *more), run(options, path, 5, *more)
    return {"pass": (five[0] - once[0]) / 4, "peak": max(once[1], five[1]), "release": five[2]}


def turn(options, path, held):
    """One time each: CPU seconds by name, and the peaks without and with all rows."""
    flowing = rounds_of(options, path, "--memory", options.memory)
    costs, peaks = {"read": read_cost(path, False)}, [flowing["peak"]]
    if path.suffix == ".npy":
        costs["read, add"] = read_cost(path, True)
    costs["bare scan"], peak, _ = run(options, path, 1, "--dry-run")
    if held:
        memory = rounds_of(options, path)
        if memory["release"] != flowing["release"]:
            sys.exit(f"{path}: the releases differ")
        costs["fold"], peak = memory["pass"], max(peak, memory["peak"])
    costs["pass"] = flowing["pass"]
    return costs, [*peaks, peak]


def compare(options, path, held):
    turns = [turn(options, path, held) for _ in range(options.turns)]
    row = {name: min(costs[name] for costs, _ in turns) for name in turns[0][0]}
    flowing, memory = (max(peaks) for peaks in zip(*(peaks for _, peaks in turns)))
    print(f"{path.name}: {path.stat().st_size / 2**20:.0f} MiB; peak with --memory "
          f"{options.memory} {flowing:.0f} MiB, in memory {memory:.0f} MiB"
          + (", the same bytes" if held else ""))
    for name, value in row.items():
        print(f"    {name:10} {value:8.2f} s   a pass is {row['pass'] / value:.2f} of it")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=5_000_000)
    parser.add_argument("--cols", type=int, default=16)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--formats", default="npy,csv,csv.gz")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    made = []
    try:
        for suffix in options.formats.split(","):
            path = options.folder / f"scale-{options.rows}x{options.cols}.{suffix}"
            if not path.exists():
                made.append(path)
                text_rows = min(options.rows, TEXT_ROWS)
                make(path, options.rows if suffix == "npy" else text_rows, options.cols)
            compare(options, path, held=options.rows <= 10_000_000)
    finally:
        for path in made:
            if not options.keep:
                path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
