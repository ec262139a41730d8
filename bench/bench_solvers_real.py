#!/usr/bin/env python3
"""Every solver of `cloister solve`, at its presets, on real data whose clusters are known.

    python bench_solvers_real.py --data DIR [--sets faces,coil,...] [--solvers auto,ssc,...]
        [--limit SECONDS] NAME=PATH/TO/cloister ...

One table a set: for each NAME the accuracy, the CPU seconds (user and system, one thread, the whole
command) and the peak of memory.  The sets, by the files of DIR:

  faces    eyaleb_32x32: the first ten people of Extended Yale B, 640 x 1024
  faces48  the same at 48 x 42 by interpolation and with the grain of a camera, 640 x 2016
  coil     coil20_32x32: COIL-20, 1440 x 1024
  digits   scikit-learn's digits, 1797 x 64
  1R2RC, arm, cars10: sequences of Hopkins 155

Only the number of clusters is given.  A row `auto --dim 9` is there for comparison.  Prints
Markdown for LABBOOK.md.
"""
import argparse
import os
import subprocess
import sys
import tempfile

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
import numpy as np
from scipy.optimize import linear_sum_assignment

CLUSTERS = {"faces": 10, "faces48": 10, "coil": 20, "digits": 10, "1R2RC": 3, "arm": 2, "cars10": 3}
RUNS = [["auto"], ["auto", "--dim", "9"], ["kplanes"], ["tsc"], ["ssc"],
        ["ssc", "--outliers", "20"], ["ssc-omp"], ["ensc"], ["lrr"], ["lsr"], ["kmeans"]]


def enlarge(images, height, width):
    """Images, rows of squares, to height x width by bilinear interpolation."""
    side = int(np.sqrt(images.shape[1]))
    cube = images.reshape(-1, side, side)
    at = [np.linspace(0, side - 1, n) for n in (height, width)]
    low = [np.minimum(a.astype(int), side - 2) for a in at]
    down, right = (at[0] - low[0])[:, None], (at[1] - low[1])[None]
    corner = [[cube[:, low[0] + i][:, :, low[1] + j] for j in (0, 1)] for i in (0, 1)]
    top = corner[0][0] * (1 - right) + corner[0][1] * right
    bottom = corner[1][0] * (1 - right) + corner[1][1] * right
    return (top * (1 - down) + bottom * down).reshape(len(images), -1)


def load(name, folder):
    if name == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        return digits.data.astype(float), digits.target
    stem = {"faces": "eyaleb_32x32", "faces48": "eyaleb_32x32", "coil": "coil20_32x32"}
    stem = stem.get(name, "hopkins_" + name)
    rows = np.load(os.path.join(folder, stem + "_x.npy")).astype(float)
    labels = np.load(os.path.join(folder, stem + "_y.npy")).ravel()
    if name.startswith("faces"):
        chosen = labels < np.unique(labels)[10]
        rows, labels = rows[chosen], labels[chosen]
    if name == "faces48":
        grain = np.random.default_rng(0).normal(0, 2, (len(rows), 48 * 42))
        rows = np.clip(np.round(enlarge(rows, 48, 42) + grain), 0, 255)
    return (rows / 255 if name.startswith("faces") else rows), labels


def accuracy(found, true):
    found, true = np.unique(found, return_inverse=True)[1], np.unique(true, return_inverse=True)[1]
    counts = np.zeros((found.max() + 1, true.max() + 1))
    np.add.at(counts, (found, true), 1)
    return counts[linear_sum_assignment(-counts)].sum() / len(true)


# Started by a light process: the peak of a child begins with that of the one it is forked from.
LIGHT = """
import os, sys
null = os.open(os.devnull, os.O_RDWR)
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ,
                       file_actions=[(os.POSIX_SPAWN_DUP2, null, to) for to in (1, 2)])
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def measure(command, limit):
    """CPU seconds and MiB, or None and what went wrong."""
    light = [sys.executable, "-S", "-c", LIGHT, "/usr/bin/timeout", "-s", "KILL", str(limit)]
    done = subprocess.run(light + command, capture_output=True, text=True, check=True)
    code, seconds, peak = done.stdout.split()
    if int(code) in (137, -9):
        return None, "not within %g s" % limit
    if int(code):
        return None, "failed (%s)" % code
    return float(seconds), float(peak)


def run(cloister, what, clusters, rows_path, true, folder, limit):
    labels = os.path.join(folder, "found.npy")
    if os.path.exists(labels):
        os.remove(labels)
    seconds, more = measure([cloister, "solve", what[0], rows_path, "--clusters", str(clusters),
                             *what[1:], "--labels", labels, "-q", "--threads", "1"], limit)
    if seconds is None:
        return "%s | – | –" % more
    return "%.3f | %.1f | %.0f" % (accuracy(np.load(labels).ravel(), true), seconds, more)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("builds", nargs="+", metavar="NAME=PATH")
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets", default=",".join(CLUSTERS))
    parser.add_argument("--solvers", default="")
    parser.add_argument("--limit", type=float, default=400)
    given = parser.parse_args()
    builds = [b.split("=", 1) for b in given.builds]
    wanted = given.solvers.split(",") if given.solvers else None
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets.split(","):
            rows, true = load(name, given.data)
            path = os.path.join(folder, "rows.npy")
            np.save(path, rows)
            print("\n%s: %d x %d, %d clusters\n" % (name, *rows.shape, CLUSTERS[name]))
            print("| solver |" + "".join(" %s | CPU s | MiB |" % b for b, _ in builds))
            print("|---|" + "---|" * 3 * len(builds))
            for what in RUNS:
                if wanted and what[0] not in wanted:
                    continue
                cells = [run(cloister, what, CLUSTERS[name], path, true, folder, given.limit)
                         for _, cloister in builds]
                print("| %s | %s |" % (" ".join(what), " | ".join(cells)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
