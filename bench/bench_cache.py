#!/usr/bin/env python3
"""Rows that are not held: what a cache saves of a whole run, and what persons cost.

    python bench_cache.py PATH/TO/cloister [--rows N] [--cols D] [--memory SIZE] [--folder DIR]
                          [--methods METHOD,...] [--formats csv,csv.gz] [--persons P]

Makes N x D records of 8 clusters as text (the command's own generator), in front of each the person
it belongs to, and runs each method on them, on one thread: in memory, with a limit of memory, and
with that and a cache in the folder; and the first method the same per person, of whom there are P.
CPU seconds, user and system, and the peak; releases are compared byte for byte.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_scale import measured

CLUSTERS = 8


def make(options, path, suffix):
    """Persons come in the order of a multiplicative hash, so that their rows lie far apart."""
    plain = path / "rows.csv"
    if not plain.exists():
        subprocess.run([options.cloister, "generate", "mixture", "--rows", str(options.rows),
                        "--cols", str(options.cols), "--clusters", str(CLUSTERS), "--seed", "cache",
                        "-o", str(path / "bare.csv")], check=True)
        with open(path / "bare.csv", encoding="utf-8") as rows, \
                open(plain, "w", encoding="utf-8") as out:
            out.write("who," + next(rows))
            out.writelines(f"{i * 2654435761 % 2**32 % options.persons},{row}"
                           for i, row in enumerate(rows))
        (path / "bare.csv").unlink()
    if suffix == "csv.gz" and not (path / "rows.csv.gz").exists():
        subprocess.run(["gzip", "-k", "-1", str(plain)], check=True)
    return path / f"rows.{suffix}"


def run(options, method, data, *more):
    with tempfile.TemporaryFile() as out:
        cost, peak = measured(
            [options.cloister, "run", f"kmeans/{method}", data, "--clusters", str(CLUSTERS),
             "--columns", f"2-{options.cols + 1}", "--norm", "1", "--epsilon", "1", "--no-ledger",
             "--seed", "1", "--json", "-q", "--threads", "1", *more], out)
        out.seek(0)
        return cost, peak, out.read()


def compare(options, method, data, folder, *more):
    limit = ["--memory", options.memory]
    ways = {"in memory": [], "not held": limit, "cached": [*limit, "--cache", str(folder)]}
    found = {name: run(options, method, data, *more, *words) for name, words in ways.items()}
    if len({release for _, _, release in found.values()}) != 1:
        sys.exit(f"{method}: the releases differ")
    print(f"{data.name}, {method}{' per person' if more else ''}: " +
          "; ".join(f"{name} {cost:.1f} s, {peak:.0f} MiB" for name, (cost, peak, _)
                    in found.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=2_000_000)
    parser.add_argument("--cols", type=int, default=16)
    parser.add_argument("--persons", type=int, default=500_000)
    parser.add_argument("--memory", default="256M")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--methods", default="local,density")
    parser.add_argument("--formats", default="csv,csv.gz")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        methods = options.methods.split(",")
        for suffix in options.formats.split(","):
            data = make(options, Path(place), suffix)
            for method in methods:
                compare(options, method, data, place)
            compare(options, methods[0], data, place, "--unit", "who", "--rows-per-unit", "2")


if __name__ == "__main__":
    main()
