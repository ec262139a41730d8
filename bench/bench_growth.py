#!/usr/bin/env python3
"""Does a method's time grow faster than its rows?  Processor time of every method at 10^4, 10^5 and
10^6 rows x 10 columns, one thread, as a Markdown table.

    python bench_growth.py PATH/TO/cloister [--rows N ...] [--method FAMILY/METHOD ...]
                           [--limit SECONDS] [--times N]

Times are user and system seconds of the whole command, starting and reading the .npy file included
(some .02 s at 10^4 rows), the least of --times runs.  Growth is from one number of rows to the
next.  A run that takes longer than the limit is shown as ">", and the larger ones are left out.

All methods have their presets but for what is listed in SETTINGS; epsilon is 1, delta 1e-6 (0 where
a method must have that), replace.  Data: 8 Gaussians in the ball for centres, three flats of
dimension 3 for subspaces, one of them for a subspace; those of subspace/exact are whole numbers.
kmeans/grid, which counts cells of a grid in all columns, sees the first two.

Needs numpy.
"""
import argparse
import os
import resource
import subprocess
import tempfile
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402  (the variables above must be set before)

COLS = 10
ACCEPT = "--accept=asymptotic"
SETTINGS = {
    "kmeans/local": ["--clusters=8"],
    "kmeans/highdim": ["--clusters=8"],
    "kmeans/grid": ["--clusters=8", "--columns=1-2"],
    "kmeans/lloyd": ["--clusters=8"],
    "kmeans/sparse": ["--clusters=8"],
    "kmeans/aggregate": ["--clusters=8", ACCEPT],
    "kmedian/highdim": ["--clusters=8"],
    "kmedian/local": ["--clusters=8"],
    "subspace/gaussian": ["--dim=3"],
    "subspace/exact": ["--dim=3", "--scale=1"],
    "subspace/approx": ["--dim=3", "--gamma=0.001"],
    "subspace/boosted": ["--dim=3", "--gamma=0.001"],
    "subspace/bingham": ["--dim=3", "--accept=idealized"],
    "subspaces/moments": ["--clusters=3", "--dim=3"],
    "subspaces/sulq": ["--clusters=3", "--dim=3"],
    "subspaces/gibbs": ["--clusters=3", "--dim=3", "--sweeps=20", ACCEPT],
    "subspaces/aggregate": ["--clusters=3", "--dim=3", ACCEPT],
    "bounds/quantile": [],
}
PURE = {"subspace/bingham", "bounds/quantile"}


# ---- data ----------------------------------------------------------------------------------------

def centres(rng, rows):
    middles = rng.normal(size=(8, COLS))
    middles *= 0.7 / np.linalg.norm(middles, axis=1, keepdims=True)
    return middles[rng.integers(8, size=rows)] + rng.normal(scale=0.05, size=(rows, COLS))


def flats(rng, rows, count):
    bases = np.linalg.qr(rng.normal(size=(count, COLS, 3)))[0]
    inside = rng.normal(size=(rows, 3))
    inside /= np.linalg.norm(inside, axis=1, keepdims=True)
    points = np.einsum("ijk,ik->ij", bases[rng.integers(count, size=rows)], inside)
    return points + rng.normal(scale=0.001, size=points.shape)


def whole_numbers(rng, rows):
    return rng.integers(-3, 4, size=(rows, 3)) @ rng.integers(-1, 2, size=(3, COLS)).astype(float)


def make_data(folder, rows):
    """{kind: path} of the files that the methods read."""
    rng = np.random.default_rng(17)
    made = {"centres": centres(rng, rows), "subspaces": flats(rng, rows, 3),
            "subspace": flats(rng, rows, 1), "whole": whole_numbers(rng, rows)}
    paths = {kind: Path(folder) / f"{kind}-{rows}.npy" for kind in made}
    for kind, path in paths.items():
        np.save(path, made[kind])
    return paths


def kind_of(method):
    if method == "subspace/exact":
        return "whole"
    return {"subspace": "subspace", "subspaces": "subspaces"}.get(method.split("/")[0], "centres")


# ---- runs ----------------------------------------------------------------------------------------

def command_of(cloister, method, path):
    delta = [] if method in PURE else ["--delta=1e-6"]
    words = ["bounds"] if method == "bounds/quantile" else ["run", method]
    norm = ["--norm=64"] if method == "bounds/quantile" else \
        [f"--norm={40 if method == 'subspace/exact' else 1}"]
    return [cloister, *words, str(path), "--epsilon=1", *delta, *norm, "--relation=replace",
            "--no-ledger", "--quiet", "--threads=1", "--seed=growth", *SETTINGS[method]]


def seconds(command, limit):
    """User and system seconds of a child; None where it took more than the limit."""
    def less():
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))

    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, preexec_fn=less)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode < 0:
            return None
        said.seek(0)
        if child.returncode:
            raise RuntimeError(said.read().decode().strip().splitlines()[-1])
    return used.ru_utime + used.ru_stime


def measure(options, method, files):
    """[seconds or None], a number of rows each."""
    taken = []
    for rows in options.rows:
        command = command_of(options.cloister, method, files[rows])
        runs = [seconds(command, options.limit)]
        while runs[0] is not None and len(runs) < options.times and sum(runs) < options.limit:
            runs.append(seconds(command, options.limit))
        taken.append(None if None in runs else min(runs))
        if taken[-1] is None:
            break
    return taken + [None] * (len(options.rows) - len(taken))


def line(method, taken, limit):
    shown = [f"{t:.3f}" if t is not None else f"> {limit:g}" for t in taken]
    growths = [f"{b / a:.1f}" if a is not None and b is not None else "–"
               for a, b in zip(taken, taken[1:])]
    return f"| `{method}` | {' | '.join(shown)} | {' | '.join(growths)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister", help="the command")
    parser.add_argument("--rows", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--method", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--limit", type=float, default=120, help="processor seconds of one run")
    parser.add_argument("--times", type=int, default=1, help="runs, of which the least counts")
    options = parser.parse_args()
    heads = [f"{rows:,} rows" for rows in options.rows] + \
        [f"growth to {rows:,}" for rows in options.rows[1:]]
    print(f"| method | {' | '.join(heads)} |\n|---{'|---' * len(heads)}|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        files = {rows: make_data(folder, rows) for rows in options.rows}
        for method in options.method:
            own = {rows: files[rows][kind_of(method)] for rows in options.rows}
            try:
                print(line(method, measure(options, method, own), options.limit), flush=True)
            except RuntimeError as failure:
                print(f"| `{method}` | {failure} |", flush=True)


if __name__ == "__main__":
    main()
