"""What the figures share: sizes, data, sweeps, means with standard errors, files of curves.

A figure is a module with `TITLE` and `make(run) -> panels`; run.py calls it with a `Run`.  All runs
of cloister go through `cloister sweep`, whose rows stay in the work folder: a figure that was
stopped goes on where it was.
"""
import csv
import gzip
import math
import os
import subprocess
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results"


class Run:
    """How to run: which command, which size, where the data are and where rows are kept."""

    def __init__(self, cloister, work, size="normal", data=None, jobs=2, only=None):
        self.cloister, self.work = str(Path(cloister).resolve()), Path(work).resolve()
        self.size, self.data, self.jobs = size, Path(data) if data else None, jobs
        self.work.mkdir(parents=True, exist_ok=True)
        self.files = {}  # which data a figure was made of, for people
        self.seconds = {}  # of the processor, by file of rows
        self.only = only  # None, or the panel and the curve that alone are run, and run again
        self.begun = set()  # files of rows that were begun anew for it

    def pick(self, quick, normal, full):
        return {"quick": quick, "normal": normal, "full": full}[self.size]

    def chosen(self, names, *panels):
        """Those of the curves `names` to run, where the panels are made of the same rows."""
        if not self.only:
            return list(names)
        return [name for name in names if self.only[0] in panels and name == self.only[1]]

    def file(self, name):
        """Where rows are kept.  Those of a curve that is run again do not go on with older ones."""
        file = self.work / (f"again-{name}" if self.only else name)
        if self.only and file not in self.begun:
            file.unlink(missing_ok=True)
            self.begun.add(file)
        return file

    def environment(self):
        return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

    def command(self, *words):
        subprocess.run([self.cloister, *map(str, words)], check=True, env=self.environment(),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sweep(self, name, data, ways, **options):
        """The rows of a sweep, as dictionaries; those that are there are not run again."""
        file = self.file(f"{name}-{self.size}.csv")
        words = [self.cloister, "sweep", str(data), *ways, "-q", "-o", str(file)]
        for option, value in options.items():
            words += [f"--{option.replace('_', '-')}", str(value)]
        parts = [subprocess.Popen([*words, "--part", f"{i + 1}/{self.jobs}"], cwd=self.work,
                                  env=self.environment(), stderr=subprocess.PIPE, text=True)
                 for i in range(self.jobs)]
        for part in parts:
            _, said = part.communicate()
            if part.returncode:
                raise SystemExit(said)
        with open(file, encoding="utf-8", newline="") as rows:
            found = list({tuple(row.values())[:5]: row for row in csv.DictReader(rows)}.values())
        found = [row for row in found if row["data"] == str(data) and asked_for(row, options)]
        self.seconds[f"{file.name} {data}"] = sum(number(row["seconds"]) for row in found)
        return found


# ---- data ----------------------------------------------------------------------------------------

def mnist(run):
    """The digits as bytes where --data has them, else a mixture of that shape: some drawn at
    random in quick size, otherwise all 70,000 of them."""
    count = run.pick(5000, 70_000, 70_000)
    file = run.work / f"mnist-{count}.npy"
    parts = [run.data / f"{part}-images-idx3-ubyte.gz" for part in ("train", "t10k")] \
        if run.data else []
    if parts and all(part.exists() for part in parts):
        run.files["mnist"] = f"MNIST, {count:,} of 70,000 rows, 784 columns"
        if not file.exists():
            pixels = [np.frombuffer(gzip.open(part).read(), np.uint8, offset=16).reshape(-1, 784)
                      for part in parts]
            drawn = np.random.default_rng(1998).choice(70_000, count, replace=False)
            np.save(file, np.concatenate(pixels)[np.sort(drawn)])
        return file
    run.files["mnist"] = f"generated, {count:,} x 784, 30 Gaussians: no MNIST in --data"
    file = run.work / f"like-mnist-{count}.npy"
    if not file.exists():
        rng = np.random.default_rng(20170806)
        centers = np.where(rng.random((30, 784)) < 0.19, rng.uniform(0, 220, (30, 784)), 0)
        rows = centers[rng.integers(30, size=count)] + rng.normal(0, 40, (count, 784))
        np.save(file, np.clip(rows, 0, 255).astype(np.uint8))
    return file


def yale(run):
    """Rows, bases and labels of five people: of --data, or five subspaces of that shape."""
    names = [run.work / f"yale-{what}.npy" for what in ("rows", "bases", "labels")]
    found = sorted(run.data.glob("yale5_lin_*_X.npy")) if run.data else []
    made = [run.data / f"{what}.npy" for what in ("X", "bases", "labels")] if run.data else []
    if not found and made and all(file.exists() for file in made):  # as yale_b.py names them
        run.files["yale"] = "Extended Yale B, as yale_b.py made it"
        rows, bases, labels = (np.load(file) for file in made)
    elif found:
        run.files["yale"] = "Extended Yale B, 5 people, linear PCA of 9 dimensions each"
        rows, bases, labels = (np.load(str(found[0]).replace("_X.npy", f"_{what}.npy"))
                               for what in ("X", "U9", "z"))
    if "yale" in run.files:
        np.save(names[0], rows)
        np.save(names[1], bases.reshape(-1, bases.shape[2]))
        np.save(names[2], labels.reshape(-1, 1).astype(float))
    else:
        run.files["yale"] = "generated, 320 x 50, 5 subspaces of dimension 9: no faces in --data"
        run.command("generate", "subspaces", "--rows", 320, "--cols", 50, "--clusters", 5, "--dim",
                    9, "--noise", 0.01, "--shortest", 0.2, "--decay", 0.7, "--seed", "faces", "-o",
                    names[0], "--truth", names[1], "--labels", names[2])
    return names


def asked_for(row, options):
    """Whether this call asks for a row: a file may have those of other epsilons and seeds."""
    first, _, last = str(options["seeds"]).partition("-")
    epsilons = [float(epsilon) for epsilon in str(options["epsilon"]).split(",")]
    return int(first) <= int(row["seed"]) <= int(last or first) and (
        not row["epsilon"] or float(row["epsilon"]) in epsilons)


# ---- from rows to curves -------------------------------------------------------------------------

def number(text):
    return float(text) if text else math.nan


def wanted(rows, data, way, also=""):
    """The rows of one way of running: METHOD or METHOD:SETTING=VALUE,... as typed."""
    method, _, settings = way.partition(":")
    pairs = {pair for pair in f"{settings},{also}".split(",") if pair}
    return [row for row in rows if row["data"] == str(data) and row["method"] == method
            and pairs <= set(row["settings"].split())]


def digits(value, count=6):
    return float(f"{value:.{count}g}")


def point(values):
    """Mean and standard error."""
    values = np.asarray(values, float)
    error = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return digits(values.mean()), digits(error, 3)


def curve(name, groups):
    """groups: {x: values}; what could not be measured is left out, and counted."""
    out = {"name": name, "x": [], "y": [], "error": [], "runs": []}
    for x, values in sorted(groups.items()):
        values = [value for value in values if math.isfinite(value)]
        if not values:
            continue
        mean, error = point(values)
        for key, value in zip(("x", "y", "error", "runs"), (x, mean, error, len(values))):
            out[key].append(value)
    return out


def by(rows, x, y):
    """{value of x: values of y}; x may be a column or a setting."""
    groups = {}
    for row in rows:
        settings = dict(pair.split("=", 1) for pair in row["settings"].split())
        at = number(row[x] if x in row else settings[x])
        groups.setdefault(at, []).append(number(row[y]))
    return groups


def flat(name, rows, y, at):
    """What has no epsilon, as a line across."""
    values = [number(row[y]) for row in rows]
    return curve(name, {x: values for x in at})


def panel(name, title, x_name, y_name, curves, **more):
    return {"name": name, "title": title, "x": {"name": x_name, "log": more.pop("x_log", False)},
            "y": {"name": y_name, "log": more.pop("y_log", False)}, **more,
            "curves": [c for c in curves if c["x"]]}
