#!/usr/bin/env python3
"""How long a plan takes, for every family: processor time of `cloister plan FAMILY` with the method
left to it, less that of `cloister --version`, which is what it takes to start.

    python bench_plan.py PATH/TO/cloister [PATH/TO/another/cloister] [--times 21] [--cols 10]

Medians over runs that are taken in turns, so that a busy machine slows all of them alike; with two
commands the ratio of the first to the second is shown as well.
"""
import argparse
import os
import resource
import statistics
import subprocess

FAMILIES = {
    "kmeans": ["--clusters=5"],
    "kmedian": ["--clusters=5"],
    "subspace": ["--dim=3"],
    "subspaces": ["--clusters=3", "--dim=3"],
    "bounds": [],
    "bounds, columns": ["--of=columns"],
}


def milliseconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "OMP_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commands", nargs="+")
    parser.add_argument("--times", type=int, default=21)
    parser.add_argument("--cols", type=int, default=10)
    options = parser.parse_args()
    given = [f"--cols={options.cols}", "--rows=10000", "--norm=1", "--epsilon=1"]
    asked = {name: ["plan", name.split(",")[0], *words, *given]
             for name, words in FAMILIES.items()}
    asked["start"] = ["--version"]
    taken = {(name, command): [] for name in asked for command in options.commands}
    for _ in range(options.times):
        for name, command in taken:
            taken[name, command].append(milliseconds([command, *asked[name]]))
    middle = {key: statistics.median(values) for key, values in taken.items()}
    for name in FAMILIES:
        plans = [middle[name, c] - middle["start", c] for c in options.commands]
        ratio = f"  ratio {plans[0] / plans[1]:.2f}" if len(plans) == 2 else ""
        print(f"{name:16}" + "".join(f"{plan:8.1f} ms" for plan in plans) + ratio)
    print(f"{'start':16}" + "".join(f"{middle['start', c]:8.1f} ms" for c in options.commands))


if __name__ == "__main__":
    main()
