#!/usr/bin/env python3
"""What a start of the command costs, and `ledger check` beside it: several builds in turns.

    python bench_start.py PATH/TO/cloister [PATH/TO/ANOTHER ...] [--runs 100]

For each build the median by the clock and of the processor, and the least of both, in ms; and the
page faults, which are most of it.  On a busy machine the clock says little, and the processor's
time, in one run, is what to compare.  Prints Markdown.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path


def one_charge(cloister, folder):
    """A ledger with one charge, and the release that it was for."""
    data, ledger, release = folder / "d.csv", folder / "ledger.db", folder / "release.json"
    for words in (
        ["generate", "mixture", "--rows", "2000", "--cols", "4", "--clusters", "3", "--noise",
         ".05", "--seed", "1", "-o", data],
        ["ledger", "init", ledger, "--dataset", "d", "--epsilon", "4", "--data", data],
        ["run", "kmeans", data, "--clusters", "3", "--epsilon", "1", "--bounds", "-1,1",
         "--ledger", ledger, "--dataset", "d", "--quiet", "-o", release],
    ):
        subprocess.run([cloister, *words], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return ["ledger", "check", str(release), str(ledger)]


def timed(command):
    """By the clock, of the processor (both in ms), page faults."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    begin = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(child, 0)
    clock = time.perf_counter() - begin
    if status:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return clock * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_minflt


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister", nargs="+")
    parser.add_argument("--runs", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = one_charge(options.cloister[0], Path(folder))
        print("| | build | clock, ms | least | processor, ms | least | page faults |")
        print("|---|---|---|---|---|---|---|")
        for words in (["version"], check):
            seen = {build: [] for build in options.cloister}
            for _ in range(options.runs):
                for build, times in seen.items():
                    times.append(timed([build, *words]))
            for build, times in seen.items():
                clock, processor, faults = zip(*times)
                print(f"| {' '.join(words[:2])} | {build} | {statistics.median(clock):.1f} "
                      f"| {min(clock):.1f} | {statistics.median(processor):.1f} "
                      f"| {min(processor):.1f} | {statistics.median(faults):.0f} |", flush=True)


if __name__ == "__main__":
    main()
