#!/usr/bin/env python3
"""Private centres against one another and against their peers: loss and time, as a Markdown table.

    python bench_centers.py PATH/TO/cloister [--data NAME ...] [--epsilon E ...] [--method M ...]

The loss of a method is the mean squared distance of the records to the nearest of its centres, over
that of scikit-learn's KMeans with k-means++ and restarts, one of which starts from the true centres
where there are as many of them; with --family kmedian it is the mean distance, over that of
`cloister solve kmedian`.  All see the same records, clipped to the same public norm (the loss on
MNIST counts the records before that), and each line is over all seeds: the mean, its standard
error, and the worst.

A method is `auto` (what the family takes by itself), `FAMILY/METHOD`, or one with parameters:
`kmeans/lloyd:rounds=8,reduce=-1`.  The peers, of k-means only: `scikit-learn` (k-means++, one
start, not private), `diffprivlib` (its KMeans, pure epsilon, public bounds), `coreset`, the tree
coreset in its usual form, which is kmeans/tree of cloister 0.1 with settings (--earlier names that
command), and `public-coreset`, the program
that it is known from: the folder `learning` of google/differential-privacy, which is on no package
index and is named by --public-coreset FOLDER.  It labels all records in the end, in a loop in
Python; that is left out, as nobody else does it.

Times are means, in seconds: processor time and wall time of the whole command, reading the .npy
file included, and its own processor time without starting, reading and planning (a dry run taken
off).  Of scikit-learn and diffprivlib: loading and fitting, without the start of Python.  One
thread.

Data: gaussians10 (20,000 x 10, 8 Gaussians), gaussians3 (10,000 x 3, 3), gaussians100 (100,000 x
100, 64; by default with 64, 16 and 8 centres), mnist (70,000 x 784; --mnist: an .npy file of its
pixels, or the folder with its .gz files).  A mixture's centres have norms of .4 to 1 of a radius.
Nothing was ever tuned on the seeds 1000 to 1009, which are the preset.

-o FILE.json: what was found goes there as well, beside what is in the file from other calls.

Needs numpy and scikit-learn, and diffprivlib for that peer.
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import record  # noqa: E402

import numpy as np  # noqa: E402  (the variables above must be set before)
from sklearn.cluster import KMeans  # noqa: E402

# rows, columns, Gaussians, radius of the centres, deviation, numbers of centres to ask for
MIXTURES = {
    "gaussians10": (20_000, 10, 8, 0.85, 0.05, [8]),
    "gaussians3": (10_000, 3, 3, 0.8, 0.1, [3]),
    "gaussians100": (100_000, 100, 64, 1.0, 0.0125, [64, 16, 8]),
}
CORESET = "kmeans/tree:start=tree,passes=1,rounds=0,reduce=0"
PEERS = ("scikit-learn", "diffprivlib", "coreset", "public-coreset")


# ---- data ----------------------------------------------------------------------------------------

def clipped(data, norm):
    """Records in the unit ball: divided by the public norm, and moved onto it where longer."""
    lengths = np.linalg.norm(data, axis=1, keepdims=True)
    return data / np.maximum(lengths, norm)


def mixture(name, seed):
    rows, cols, gaussians, radius, deviation, _ = MIXTURES[name]
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(gaussians, cols))
    centers *= (rng.uniform(0.4, 1, size=(gaussians, 1)) * radius
                / np.linalg.norm(centers, axis=1, keepdims=True))
    data = centers[rng.integers(gaussians, size=rows)]
    return clipped(data + rng.normal(scale=deviation, size=data.shape), 1.0), centers


def mnist(path, norm):
    """Pixels from 0 to 1, divided by the public norm; not clipped."""
    path = Path(path)
    if path.is_dir():
        files = [gzip.open(path / f"{part}-images-idx3-ubyte.gz").read()
                 for part in ("train", "t10k")]
        pixels = np.concatenate([np.frombuffer(file, np.uint8, offset=16).reshape(-1, 784)
                                 for file in files])
    else:
        pixels = np.load(path)
    pixels = pixels.astype(float)
    return pixels / (255 if pixels.max() > 1 else 1) / norm


class Data:
    """One set of records, in memory and as the file that the command reads."""

    def __init__(self, name, seed, options):
        self.name, self.seed = name, seed
        self.lower = 0.0 if name == "mnist" else -1.0
        if name == "mnist":  # the loss counts on the records as they are
            self.rows, self.truth = mnist(options.mnist, options.mnist_norm), None
            shown = clipped(self.rows, 1.0)
        else:
            self.rows, self.truth = mixture(name, seed)
            shown = self.rows
        self.path = Path(options.folder) / f"{name}-{seed}.npy"
        np.save(self.path, shown)

    def loss(self, centers, power):
        """Mean distance to the nearest centre, to the power of 1 or 2."""
        total = 0.0
        for start in range(0, len(self.rows), 10_000):
            block = self.rows[start:start + 10_000]
            squares = ((block ** 2).sum(axis=1)[:, None] - 2 * block @ centers.T
                       + (centers ** 2).sum(axis=1))
            total += (np.maximum(squares.min(axis=1), 0) ** (power / 2)).sum()
        return total / len(self.rows)


# ---- the command ---------------------------------------------------------------------------------

def timed(command):
    """Standard output, processor seconds and wall seconds of a child."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdout=out, stderr=errors)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if child.returncode:
            raise RuntimeError(errors.read().decode().strip())
        return out.read(), used.ru_utime + used.ru_stime, wall


def settings_of(method, family):
    """("kmeans/lloyd", ["--rounds=8"]) of "kmeans/lloyd:rounds=8"; "auto": the family's choice."""
    name, _, settings = (CORESET if method == "coreset" else method).partition(":")
    return (family if name == "auto" else name,
            [f"--{setting}" for setting in settings.split(",") if setting])


def ours(options, method, data, clusters, epsilon):
    """Centres, processor time, wall time, own processor time."""
    name, settings = settings_of(method, options.family)
    cloister = options.earlier if method == "coreset" else options.cloister
    command = [cloister, "run", name, str(data.path), f"--clusters={clusters}",
               f"--epsilon={epsilon}", f"--delta={options.delta}", f"--relation={options.relation}",
               "--norm=1", "--no-ledger", "--quiet", "--json", "--threads=1",
               f"--seed={data.seed}-{clusters}-{epsilon}", *settings]
    if options.accept:
        command.append(f"--accept={options.accept}")
    out, cpu, wall = timed(command)
    _, before, _ = timed([*command, "--dry-run"])
    centers = np.array(json.loads(out)["values"]["centers"])
    return centers, cpu, wall, max(cpu - before, 0.0)


# ---- the others ----------------------------------------------------------------------------------

def fitted(fit, data):
    """Centres, processor time and wall time of what makes centres of records, and of loading."""
    cpu, wall = time.process_time(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        centers = fit(np.load(data.path))
    return centers, time.process_time() - cpu, time.perf_counter() - wall, None


def centers_of(model):
    return lambda rows: model.fit(rows).cluster_centers_


def scikit_learn(options, data, clusters, epsilon):
    del options, epsilon
    return fitted(centers_of(KMeans(clusters, n_init=1, random_state=data.seed)), data)


def diffprivlib(options, data, clusters, epsilon):
    from diffprivlib.models import KMeans as PrivateKMeans

    del options
    return fitted(centers_of(PrivateKMeans(clusters, epsilon=epsilon, bounds=(data.lower, 1.0),
                                           random_state=data.seed)), data)


def public_coreset(options, data, clusters, epsilon):
    if options.public_coreset not in sys.path:
        sys.path.insert(0, options.public_coreset)
    from clustering import clustering_algorithm, clustering_params

    clustering_algorithm.ClusteringResult = lambda _, centers: centers  # without the labels
    budget = clustering_params.DifferentialPrivacyParam(epsilon=epsilon, delta=options.delta)
    np.random.seed(data.seed)  # it draws from NumPy's common generator
    return fitted(lambda rows: clustering_algorithm.private_lsh_clustering(
        clusters, clustering_params.Data(rows, radius=1.0), budget), data)


def one_run(options, method, data, clusters, epsilon):
    peers = {"scikit-learn": scikit_learn, "diffprivlib": diffprivlib,
             "public-coreset": public_coreset}
    if method in peers:
        return peers[method](options, data, clusters, epsilon)
    return ours(options, method, data, clusters, epsilon)


def best_known(options, data, clusters):
    """The loss of a non-private solver with restarts."""
    if options.family == "kmeans":
        losses = [KMeans(clusters, n_init=options.restarts, random_state=0).fit(data.rows).inertia_]
        if data.truth is not None and len(data.truth) == clusters:
            losses.append(KMeans(clusters, init=data.truth, n_init=1).fit(data.rows).inertia_)
        return min(losses) / len(data.rows)
    out, _, _ = timed([options.cloister, "solve", "kmedian", str(data.path), "--json", "--quiet",
                       f"--clusters={clusters}", f"--restarts={options.restarts}", "--seed=0"])
    return data.loss(np.array(json.loads(out)["values"]["centers"]), 1)


class References:
    """The best known losses, kept in a file: they take longer than all private runs."""

    def __init__(self, options):
        self.options, self.path = options, options.cache
        self.known = (json.loads(Path(self.path).read_text())
                      if self.path and Path(self.path).exists() else {})

    def of(self, data, clusters):
        norm = self.options.mnist_norm if data.name == "mnist" else 1
        key = f"{self.options.family} {data.name} {data.seed} {clusters} " \
              f"{self.options.restarts} {norm:g}"
        if data.name == "mnist":
            key = key.replace(f" {data.seed} ", " all ", 1)  # the seeds have the same records
        if key not in self.known:
            self.known[key] = best_known(self.options, data, clusters)
            if self.path:
                Path(self.path).write_text(json.dumps(self.known, indent=1))
        return self.known[key]


# ---- the table -----------------------------------------------------------------------------------

def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cloister", help="the command")
    parser.add_argument("--family", choices=["kmeans", "kmedian"], default="kmeans")
    parser.add_argument("--data", nargs="+", default=list(MIXTURES),
                        choices=[*MIXTURES, "mnist"])
    parser.add_argument("--clusters", nargs="+", type=int, help="in place of the data's own")
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0])
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--relation", choices=["add-remove", "replace"], default="add-remove")
    parser.add_argument("--method", nargs="+", default=["auto"])
    parser.add_argument("--peer", nargs="*", default=[], choices=PEERS)
    parser.add_argument("--public-coreset", metavar="FOLDER",
                        help="the folder `learning` of that program, for the peer of this name")
    parser.add_argument("--earlier", metavar="CLOISTER",
                        help="a command of version 0.1, for the peer coreset")
    parser.add_argument("--accept", help="the weakest guarantee to take, as --accept of a run")
    parser.add_argument("--seeds", nargs=2, type=int, default=[1000, 1009],
                        metavar=("FIRST", "LAST"))
    parser.add_argument("--restarts", type=int, default=10, help="of the non-private solver")
    parser.add_argument("--mnist", help="an .npy file of pixels, or the folder of the .gz files")
    parser.add_argument("--mnist-norm", type=float, default=12.0,
                        help="the public norm of an image with pixels from 0 to 1")
    parser.add_argument("-o", metavar="FILE.json", help="puts the results there as well")
    parser.add_argument("--cache", help="a file for the losses of the non-private solver")
    parser.add_argument("--folder", help="for the .npy files; by default a temporary one")
    options = parser.parse_args()
    if "mnist" in options.data and not options.mnist:
        parser.error("--data mnist needs --mnist PATH")
    if "public-coreset" in options.peer and not options.public_coreset:
        parser.error("--peer public-coreset needs --public-coreset FOLDER")
    if "coreset" in options.peer and not options.earlier:
        parser.error("--peer coreset needs --earlier CLOISTER")
    if options.family == "kmedian" and options.peer:
        parser.error("the peers are of k-means")
    return options


def clusters_of(options, name):
    return options.clusters or ([10] if name == "mnist" else MIXTURES[name][5])


def line(name, clusters, epsilon, method, runs):
    """A row of the table from (ratio, cpu, wall, own) of each seed."""
    ratios, cpu, wall, own = (np.array(part, dtype=float) for part in zip(*runs))
    error = ratios.std(ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else 0.0
    shown = "–" if np.isnan(own).any() else f"{own.mean():.3f}"
    return (f"| {name} | {clusters} | {epsilon:g} | {method} | {ratios.mean():.4f} ± {error:.4f} "
            f"| {ratios.max():.4f} | {cpu.mean():.3f} | {wall.mean():.3f} | {shown} |")


def told(options, name, clusters, epsilon, method, runs):
    """The same row for the file of results, by its name there."""
    ratios, cpu, _, own = zip(*runs)
    key = f"{name}, k = {clusters}, ε = {epsilon:g}, δ = {options.delta:g}"
    family = "" if options.family == "kmeans" else f"{options.family}, "
    row = {"loss": record.measured(ratios), "cpu_seconds": record.measured(cpu)}
    if own[0] is not None:
        row["own_cpu_seconds"] = record.measured(own)
    return f"{family}{key}, {method}", row


def measure(options, name, references):
    """{(clusters, epsilon, method): runs}, seed by seed, so that all share the machine's moods."""
    power = 2 if options.family == "kmeans" else 1
    methods = [*options.method, *options.peer]
    runs = {}
    for seed in range(options.seeds[0], options.seeds[1] + 1):
        data = Data(name, seed, options)
        for clusters in clusters_of(options, name):
            least = references.of(data, clusters)
            for epsilon in options.epsilon:
                for method in methods:
                    try:
                        centers, *times = one_run(options, method, data, clusters, epsilon)
                    except (RuntimeError, ImportError) as failure:
                        print(f"{name}, {clusters}, {epsilon:g}, {method}: {failure}",
                              file=sys.stderr)
                        continue
                    ratio = data.loss(centers, power) / least
                    runs.setdefault((clusters, epsilon, method), []).append((ratio, *times))
        data.path.unlink()
    return runs


def start_of_python():
    """What a peer takes before it loads anything."""
    module = "sklearn.cluster"
    _, cpu, wall = timed([sys.executable, "-c", f"import {module}"])
    return f"Starting Python with {module} takes {cpu:.2f} s of CPU, {wall:.2f} s of wall time."


def main():
    options = arguments()
    references = References(options)
    with tempfile.TemporaryDirectory() as temporary:
        options.folder = options.folder or temporary
        print(f"delta {options.delta:g}, {options.relation}, seeds {options.seeds[0]} to "
              f"{options.seeds[1]}, loss over that of {options.restarts} restarts without "
              f"privacy")
        if "scikit-learn" in options.peer or "diffprivlib" in options.peer:
            print(start_of_python())
        print("\n| data | k | epsilon | method | loss ratio | worst | CPU s | wall s | own CPU s |")
        print("|---|---|---|---|---|---|---|---|---|")
        for name in options.data:
            runs = measure(options, name, references)
            for (clusters, epsilon, method), seen in runs.items():
                print(line(name, clusters, epsilon, method, seen), flush=True)
            record.add(options.o, dict(told(options, name, *key, seen)
                                       for key, seen in runs.items()),
                       **record.versions("scikit-learn", "diffprivlib", "dp-accounting",
                                         "numpy", cloister=options.cloister))


if __name__ == "__main__":
    main()
