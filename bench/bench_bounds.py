"""Private radii and column bounds: how often they collapse, and how tight they are.

    python bench_bounds.py CLOISTER [--older CLOISTER] [--runs 50] [--seed 1000]
                           [--least 100] [--most 1000000] [--only radii|columns|norm|center]

For each number of rows, epsilon and largest public radius (10 to 10^6 times the right one) it runs
`cloister bounds` that often, and says how many answers hold less than half of the records, and the
median of the answer over the right one.  The same for `run --norm private` (norm) and for
`run --center private --norm private` (center), whose epsilon is that of the whole run.  A build of
0.1 or later refuses what cannot work, by public numbers; the table says where, and --yes is said to
see what would come.  --older: another build, for comparison.
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
RUN_SHARE = 0.98  # the preset of --norm-quantile
REFUSED = {(1, True): "yes", (1, False): "no", (2, True): "some"}


def norms_of(rng, rows):
    """Lengths of records: log-normal, as of amounts of money; directions do not matter."""
    return np.exp(0.5 * rng.standard_normal(rows))


def columns_of(rng, rows):
    """50 to 180, as blood pressure; a year; counts, mostly 0; symmetric about 0."""
    return np.stack([50 + 130 * rng.random(rows), 2008 + 10 * rng.random(rows),
                     rng.poisson(0.5, rows), rng.standard_normal(rows)], axis=1)


def places_of(rng, rows):
    """Records about a point that is not the origin, 20 times as far from it as they are wide."""
    return np.array([17.0, 10.5]) + rng.standard_normal((rows, 2))


def bounds_of(norm, *more):
    return ["bounds", "--delta", "0", "--norm", str(norm), *more]


def run_of(norm, *more):
    """One ask of the sums beside what is learnt: the centres do not matter here."""
    return ["run", "kmeans/lloyd", "--clusters", "1", "--rounds", "1", "--norm", "private",
            "--norm-at-most", str(norm), *more]


class Program:
    def __init__(self, path):
        self.path = path
        told = subprocess.run([path, "bounds", "--help"], capture_output=True, text=True).stdout
        self.yes = ["--yes"] if "rows are too few" in " ".join(told.split()) else []

    def call(self, command, data, epsilon, seed, *more):
        return subprocess.run([self.path, *command, data, "--epsilon", str(epsilon), "--seed",
                               f"bench {seed}", "--threads", "1", "--no-ledger", "--json", "-q",
                               *more], capture_output=True, text=True, check=False)

    def answer(self, command, data, epsilon, seed):
        done = self.call(command, data, epsilon, seed, *self.yes)
        if done.returncode:
            raise SystemExit(f"{' '.join(done.args)}\n{done.stderr}")
        return json.loads(done.stdout)["values"]

    def refuses(self, command, data, epsilon):
        """Whether public numbers say beforehand that it cannot work."""
        done = self.call(command, data, epsilon, 0, "--dry-run")
        if done.returncode and "too few rows to find" not in done.stderr:
            raise SystemExit(f"{' '.join(done.args)}\n{done.stderr}")
        return done.returncode != 0


def radii(program, command, data, held_of, right, epsilon, seeds, pool):
    """Of the runs: how many hold less than half, and the median radius over the right one."""
    got = list(pool.map(lambda seed: program.answer(command, data, epsilon, seed), seeds))
    found = [(g.get("learnt_norm") or g["radius"])[0] for g in got]
    held = np.array([held_of(r * (1 + 1e-9), g.get("learnt_center")) for r, g in zip(found, got)])
    return int((held < 0.5).sum()), float(np.median(found) / right)


class Norms:
    """One column whose lengths matter, asked for by `bounds` or by `run --norm private`."""

    def __init__(self, rng, rows, command, share):
        self.command = command
        self.norms = np.sort(norms_of(rng, rows))
        self.right = self.widest = np.quantile(self.norms, share)

    def save(self, path):
        np.save(path, self.norms[:, None])

    def held(self, radius, _):
        return np.searchsorted(self.norms, radius, side="right") / len(self.norms)


class Places:
    """Two columns about a point that `run --center private --norm private` has to find, too."""

    def __init__(self, rng, rows, command, share):
        self.command = lambda norm: command(norm, "--center", "private")
        self.rows = places_of(rng, rows)
        self.widest = np.quantile(np.linalg.norm(self.rows, axis=1), share)
        self.right = np.quantile(np.linalg.norm(self.rows - self.rows.mean(axis=0), axis=1), share)

    def save(self, path):
        np.save(path, self.rows)

    def held(self, radius, center):
        return (np.linalg.norm(self.rows - center, axis=1) <= radius).mean()


# what is asked: of which data, by which command, for which share of the records
RADII = {
    "radii": ("`bounds`", Norms, bounds_of, SHARE),
    "norm": ("`run --norm private`", Norms, run_of, RUN_SHARE),
    "center": ("`run --center private --norm private`", Places, run_of, RUN_SHARE),
}


def show_radii(what, programs, arguments, folder, pool):
    title, kind, command, share = RADII[what]
    seeds = range(arguments.seed, arguments.seed + arguments.runs)
    print(f"\n{title}\n\n| rows | ε |" + "".join(
        f" {name}: refused beforehand | collapsed | largest radius 10, 10³, 10⁶ times |"
        for name, _ in programs))
    print("|---|---|" + "---|---|---|" * len(programs))
    for rows in (n for n in ROWS if arguments.least <= n <= arguments.most):
        asked = kind(np.random.default_rng(arguments.seed + rows), rows, command, share)
        data = str(folder / "rows.npy")
        asked.save(data)
        for epsilon in EPSILONS:
            cells = []
            for _, program in programs:
                commands = {t: asked.command(t * asked.widest) for t in TIMES}
                no = {program.refuses(c, data, epsilon) for c in commands.values()}
                got = {t: radii(program, c, data, asked.held, asked.right, epsilon, seeds, pool)
                       for t, c in commands.items()}
                bad = sum(c for c, _ in got.values())
                tight = ", ".join(f"{got[t][1]:.3g}" for t in (10, 1e3, 1e6))
                cells.append(f" {REFUSED[len(no), max(no)]} | {bad} of "
                             f"{len(TIMES) * arguments.runs} | {tight} |")
            print(f"| {rows:,} | {epsilon:g} |" + "".join(cells), flush=True)


def share_between(ordered, low, high):
    return (np.searchsorted(ordered, high + 1e-9, side="right") -
            np.searchsorted(ordered, low - 1e-9)) / len(ordered)


def show_columns(programs, arguments, folder, pool):
    """epsilon is that of one column: four columns are asked with four times as much.  The public
    bounds are 10 to 10^6 times a year; widths are of 100 times.
    """
    seeds = range(arguments.seed, arguments.seed + arguments.runs)
    print("\n| rows | ε a column |" + "".join(
        f" {name}: refused beforehand | collapsed | median width over the right one, by column |"
        for name, _ in programs))
    print("|---|---|" + "---|---|---|" * len(programs))
    for rows in (n for n in ROWS if arguments.least <= n <= arguments.most):
        values = columns_of(np.random.default_rng(arguments.seed + rows), rows)
        data = str(folder / "columns.npy")
        np.save(data, values)
        right = np.quantile(values, [(1 - SHARE) / 2, (1 + SHARE) / 2], axis=0)
        wide = right[1] - right[0]
        ordered = np.sort(values, axis=0)
        for epsilon in EPSILONS:
            cells = []
            for _, program in programs:
                no, held, widths = set(), [], ""
                for times in TIMES:
                    command = bounds_of(2000 * times, "--of", "columns")
                    no.add(program.refuses(command, data, 4 * epsilon))
                    got = list(pool.map(lambda seed, p=program, c=command: p.answer(
                        c, data, 4 * epsilon, seed), seeds))
                    low, high = (np.array([g[end] for g in got]) for end in ("lower", "upper"))
                    held += [share_between(ordered[:, j], a[j], b[j])
                             for a, b in zip(low, high) for j in range(4)]
                    if times == 100:
                        widths = ", ".join(f"{w:.3g}"
                                           for w in np.median((high - low) / wide, axis=0))
                cells.append(f" {REFUSED[len(no), max(no)]} | {sum(h < 0.5 for h in held)} of "
                             f"{len(held)} | {widths} |")
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
    parser.add_argument("--only", choices=(*RADII, "columns"))
    arguments = parser.parse_args()
    programs = [("older", Program(arguments.older))] if arguments.older else []
    programs.append(("now", Program(arguments.cloister)))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for what in RADII:
            if arguments.only in (None, what):
                show_radii(what, programs, arguments, Path(folder), pool)
        if arguments.only in (None, "columns"):
            show_columns(programs, arguments, Path(folder), pool)


if __name__ == "__main__":
    main()
