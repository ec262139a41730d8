"""Private radii and column bounds: how often they collapse, and how tight they are.

    python bench_bounds.py CLOISTER [--older CLOISTER] [--runs 50] [--seed 1000]
                           [--least 100] [--most 1000000] [--only radii|columns]

For each number of rows, epsilon and largest public radius (10 to 10^6 times the right one) it runs
`cloister bounds` that often, and says how many answers hold less than half of the records, and the
median of the answer over the right one.  --older: another build, for comparison; from 0.1 on
`bounds` refuses what cannot work, and --yes is said to those that know it.
"""
import argparse
import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

ROWS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
EPSILONS = (0.01, 0.1, 1)
TIMES = (10, 1e2, 1e3, 1e4, 1e5, 1e6)
SHARE = 0.95


def norms_of(rng, rows):
    """Lengths of records: log-normal, as of amounts of money; directions do not matter."""
    return np.exp(0.5 * rng.standard_normal(rows))


def columns_of(rng, rows):
    """50 to 180, as blood pressure; a year; counts, mostly 0; symmetric about 0."""
    return np.stack([50 + 130 * rng.random(rows), 2008 + 10 * rng.random(rows),
                     rng.poisson(0.5, rows), rng.standard_normal(rows)], axis=1)


class Program:
    def __init__(self, path):
        self.path = path
        told = subprocess.run([path, "bounds", "--help"], capture_output=True, text=True).stdout
        self.yes = ["--yes"] if "too few to tell" in " ".join(told.split()) else []

    def answer(self, data, epsilon, norm, seed, *more):
        out = subprocess.run([self.path, "bounds", data, "--epsilon", str(epsilon), "--delta", "0",
                              "--norm", str(norm), "--seed", f"bench {seed}", "--threads", "1",
                              "--no-ledger", "--json", "-q", *self.yes, *more],
                             capture_output=True, text=True, check=True).stdout
        return json.loads(out)["values"]


def radii(program, data, norms, epsilon, times, seeds, pool):
    """Of the runs: how many hold less than half, and the median over the right radius."""
    right = np.quantile(norms, SHARE)
    found = np.array(list(pool.map(
        lambda seed: program.answer(data, epsilon, times * right, seed)["radius"][0], seeds)))
    held = np.searchsorted(np.sort(norms), found * (1 + 1e-9), side="right") / len(norms)
    return int((held < 0.5).sum()), float(np.median(found) / right)


def show_radii(programs, arguments, folder, pool):
    seeds = range(arguments.seed, arguments.seed + arguments.runs)
    print("| rows | ε |" + "".join(f" {name}: collapsed | largest radius 10, 10³, 10⁶ times |"
                                   for name, _ in programs))
    print("|---|---|" + "---|---|" * len(programs))
    for rows in (n for n in ROWS if arguments.least <= n <= arguments.most):
        norms = norms_of(np.random.default_rng(arguments.seed + rows), rows)
        data = str(folder / "norms.npy")
        np.save(data, norms[:, None])
        for epsilon in EPSILONS:
            cells = []
            for _, program in programs:
                got = {t: radii(program, data, norms, epsilon, t, seeds, pool) for t in TIMES}
                bad = sum(c for c, _ in got.values())
                tight = ", ".join(f"{got[t][1]:.3g}" for t in (10, 1e3, 1e6))
                cells.append(f" {bad} of {len(TIMES) * arguments.runs} | {tight} |")
            print(f"| {rows:,} | {epsilon:g} |" + "".join(cells), flush=True)


def show_columns(programs, arguments, folder, pool):
    """epsilon is that of one column: four columns are asked with four times as much."""
    seeds = range(arguments.seed, arguments.seed + arguments.runs)
    print("\n| rows | ε a column |" + "".join(
        f" {name}: collapsed | median width over the right one, by column |"
        for name, _ in programs))
    print("|---|---|" + "---|---|" * len(programs))
    most = min(arguments.most, 100_000)
    for rows in (n for n in ROWS if max(arguments.least, 1000) <= n <= most):
        values = columns_of(np.random.default_rng(arguments.seed + rows), rows)
        data = str(folder / "columns.npy")
        np.save(data, values)
        right = np.quantile(values, [(1 - SHARE) / 2, (1 + SHARE) / 2], axis=0)
        wide = right[1] - right[0]
        for epsilon in EPSILONS:
            cells = []
            for _, program in programs:
                got = list(pool.map(lambda seed, p=program: p.answer(
                    data, 4 * epsilon, 1e5, seed, "--of", "columns"), seeds))
                low = np.array([g["lower"] for g in got])
                high = np.array([g["upper"] for g in got])
                held = np.array([[((values[:, j] > a[j] - 1e-9) & (values[:, j] < b[j] + 1e-9))
                                  .mean() for j in range(4)] for a, b in zip(low, high)])
                widths = ", ".join(f"{w:.3g}" for w in np.median((high - low) / wide, axis=0))
                cells.append(f" {int((held < 0.5).sum())} of {4 * len(got)} | {widths} |")
            print(f"| {rows:,} | {epsilon:g} |" + "".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cloister")
    parser.add_argument("--older")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--most", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--least", type=lambda text: int(float(text)), default=100)
    parser.add_argument("--only", choices=("radii", "columns"))
    arguments = parser.parse_args()
    programs = [("older", Program(arguments.older))] if arguments.older else []
    programs.append(("now", Program(arguments.cloister)))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        if arguments.only != "columns":
            show_radii(programs, arguments, Path(folder), pool)
        if arguments.only != "radii":
            show_columns(programs, arguments, Path(folder), pool)


if __name__ == "__main__":
    main()
