#!/usr/bin/env python3
"""The numbers of the README's picture: k-means of 41,000 places, private and not, and the peers.

    python bench_places.py PATH/TO/cloister [--seeds N] [--make-data] [-o FILE.json]

Data: docs/examples/places.csv.gz, the post codes of the contiguous United States and where they lie
(hundredths of a degree), which --make-data writes anew out of the package `zipcodes`.  All methods
are told the same public bounds, the corners of the map, and look for 8 centres.

The loss of a method is the mean squared distance of the records to the nearest of its centres, each
column in units of half the width of its bounds, over that of scikit-learn's KMeans with 10 starts.
Peers: diffprivlib's KMeans (pure epsilon, the same bounds), and `coreset`, the tree coreset as
today's public programs do it.  That is kmeans/tree of cloister 0.1, with settings: it is measured
with --earlier PATH/TO/cloister, and otherwise stays as it is in the file.  Mean, standard error and
worst over the seeds, which nothing was chosen on: 1000 and on.

Writes JSON: the above, the centres without privacy, those of one seeded release, a part of the
records to draw, versions and machine.  tools/pictures.py draws it.

Needs numpy, scikit-learn (< 1.6, for diffprivlib) and diffprivlib; to make the data, zipcodes.
"""
import argparse
import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import record  # noqa: E402

import numpy as np  # noqa: E402  (the variables above must be set before)
from sklearn.cluster import KMeans  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "examples" / "places.csv.gz"
COLUMNS = ("longitude", "latitude")
LOWER, UPPER = np.array([-125.0, 24.0]), np.array([-66.0, 50.0])
CLUSTERS, SHOWN_EPSILON, SHOWN_SEED, FIRST_SEED = 8, 1.0, 1, 1000
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
CORESET = ["kmeans/tree", "--start", "tree", "--passes", "1", "--rounds", "0", "--reduce", "0"]
DRAWN = 4000


# ---- data ----------------------------------------------------------------------------------------

def make_data():
    import zipcodes

    found = [(float(z["long"]), float(z["lat"])) for z in zipcodes.list_all() if z["long"]]
    places = np.round(found, 2)
    places = places[((places > LOWER) & (places < UPPER)).all(axis=1)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([[f"{x:.2f}", f"{y:.2f}"] for x, y in places])
    DATA.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


def read_data():
    with gzip.open(DATA, "rt") as file:
        return np.loadtxt(file, delimiter=",", skiprows=1)


def scaled(rows):
    return 2 * (rows - LOWER) / (UPPER - LOWER) - 1


def loss(rows, centers):
    away = scaled(rows)[:, None, :] - scaled(np.asarray(centers))[None]
    return float((away ** 2).sum(axis=2).min(axis=1).mean())


# ---- methods -------------------------------------------------------------------------------------

def released(cloister, words, epsilon, seed):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as bounds:
        for name, low, high in zip(COLUMNS, LOWER, UPPER):
            bounds.write(f"{name},{low:g},{high:g}\n")
        bounds.flush()
        command = [cloister, "run", *words, DATA, "--clusters", str(CLUSTERS), "--epsilon",
                   str(epsilon), "--bounds", bounds.name, "--no-ledger", "--seed", str(seed), "-q",
                   "--json"]
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
    if said.returncode:
        sys.exit(said.stderr)
    return json.loads(said.stdout)


def by_diffprivlib(rows, epsilon, seed):
    from diffprivlib.models import KMeans as PeerKMeans

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PeerKMeans(CLUSTERS, epsilon=epsilon, bounds=(LOWER, UPPER),
                          random_state=seed).fit(rows).cluster_centers_


def curve(rows, best, find, seeds):
    """A point for each epsilon: mean, standard error and worst of the ratios."""
    points = []
    for epsilon in EPSILONS:
        ratios = [loss(rows, find(epsilon, FIRST_SEED + i)) / best for i in range(seeds)]
        points.append({"epsilon": epsilon, "mean": round(float(np.mean(ratios)), 4),
                       "se": round(float(np.std(ratios, ddof=1) / np.sqrt(seeds)), 4),
                       "worst": round(max(ratios), 4)})
    return points


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cloister")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--make-data", action="store_true")
    parser.add_argument("--earlier", metavar="CLOISTER", help="a command of version 0.1")
    parser.add_argument("-o", default=record.RESULTS / "places.json")
    arguments = parser.parse_args()
    if arguments.make_data:
        make_data()
    rows = read_data()
    exact = KMeans(CLUSTERS, n_init=10, random_state=0).fit(scaled(rows)).cluster_centers_
    exact = (exact + 1) / 2 * (UPPER - LOWER) + LOWER
    best = loss(rows, exact)
    shown = released(arguments.cloister, ["kmeans"], SHOWN_EPSILON, SHOWN_SEED)

    def ours(cloister, words):
        return curve(rows, best, lambda e, s: released(cloister, words, e, s)["values"]["centers"],
                     arguments.seeds)

    curves = {"cloister": ours(arguments.cloister, ["kmeans"])}
    if arguments.earlier:
        curves["coreset"] = ours(arguments.earlier, CORESET)
    elif Path(arguments.o).exists():
        curves["coreset"] = json.loads(Path(arguments.o).read_text())["curves"]["coreset"]
    curves["diffprivlib"] = curve(rows, best, lambda e, s: by_diffprivlib(rows, e, s),
                                  arguments.seeds)
    drawn = rows[np.sort(np.random.default_rng(0).choice(len(rows), DRAWN, replace=False))]
    out = {
        "data": {"file": str(DATA.relative_to(ROOT)), "rows": len(rows), "columns": COLUMNS,
                 "lower": LOWER.tolist(), "upper": UPPER.tolist(), "clusters": CLUSTERS,
                 "drawn": drawn.round(1).tolist()},
        "exact": {"centers": exact.round(2).tolist(), "loss": round(best, 6)},
        "release": {"epsilon": SHOWN_EPSILON, "delta": shown["privacy"]["delta"],
                    "seed": SHOWN_SEED, "method": shown["method"],
                    "centers": np.round(shown["values"]["centers"], 2).tolist(),
                    "ratio": round(loss(rows, shown["values"]["centers"]) / best, 4)},
        "seeds": arguments.seeds,
        "curves": curves,
    }
    record.write(arguments.o, out, **record.versions("scikit-learn", "diffprivlib", "numpy",
                                                     cloister=arguments.cloister))
    for name, points in curves.items():
        print(name, ", ".join(f"{p['epsilon']:g}: {p['mean']} ± {p['se']}" for p in points))


if __name__ == "__main__":
    main()
