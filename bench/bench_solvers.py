#!/usr/bin/env python3
"""Every solver of `cloister solve`: CPU seconds on one thread, accuracy and cost, beside peers.

    python bench_solvers.py PATH/TO/cloister [--parts table,peers,threads,memory]
        [--cases s1,s2,s3] [--solvers kplanes,tsc,...] [--seeds 5]
        [--yale X.npy --labels LABELS.npy] [--faces IMAGES.npy --people PEOPLE.npy]
        [--reference-gflops G] [-o FILE.json]

The data are made by `cloister generate`: s1 = 5000 rows, 5 columns, 3 subspaces of dimension 3,
noise .01; s2 = 1000, 10, 3, 3, .1; s3 = 2000, 50, 10, 5, .05.  --yale: the table that
reproduce/yale_b.py makes; --faces: the images themselves.

A time is what the whole command takes, user and system, with its start and the reading of the file.
An old OpenBLAS may not know a new processor and fall back to its slowest kernels, while the one
that comes with numpy does: OPENBLAS_CORETYPE=SkylakeX (or Haswell) in the environment helps it.

Times of other people's programs that are not on PyPI are constants measured elsewhere, on a machine
whose rate is not known: their ratio is given as it is, and, with --reference-gflops, scaled by the
single-thread dgemm rates of the two machines.  scikit-learn runs here, and only its fit is timed.

Prints Markdown for LABBOOK.md.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import record

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
for _name in THREAD_VARIABLES:
    os.environ.setdefault(_name, "1")  # before numpy is imported, which is done where it is needed

CASES = {"s1": (5000, 5, 3, 3, 0.01), "s2": (1000, 10, 3, 3, 0.1), "s3": (2000, 50, 10, 5, 0.05)}
LARGE = (200_000, 50, 10, 5, 0.05)
MIDDLE = (20_000, 50, 10, 5, 0.05)

# What other programs need, CPU seconds on one thread (the lowest seen) and accuracy (the best).
REFERENCE = {
    "kplanes": {"s1": (0.21, 0.9996), "s2": (0.10, 1), "s3": (1.4, 1), "yale": (5, 0.59)},
    "tsc": {"s1": (8.8, 0.986), "s2": (0.31, 0.999), "s3": (1.4, 0.86), "yale": (0.3, 0.48)},
    "lsr": {"s1": (35, 0.834), "s2": (0.4, 0.996), "s3": (2.1, 1), "yale": (0.05, 1)},
    "sscomp": {"s1": (1.3, 0.337), "s2": (0.15, 0.37), "s3": (1.0, 0.91), "yale": (0.12, 0.994)},
    "ensc": {"s1": (8.8, 0.9994), "s2": (1.7, 0.993), "s3": (6.1, 1), "yale": (1.1, 1)},
    "ssc": {"s2": (7.2, 0.996), "s3": (28, 1), "yale": (0.6, 1)},
    "lrr": {"s1": (246, None), "s2": (5.8, 0.995), "s3": (62, 1), "yale": (1.6, 0.9875)},
}
PROGRAMS = {"kplanes": "NumPy, 10 random starts", "tsc": "Octave", "lsr": "Octave",
            "sscomp": "Python", "ensc": "Python", "ssc": "Octave, O(n²) a step", "lrr": "Octave"}

# Further rows of a solver.  What others' LRR does is the ALM: the preset, a closed form of another
# problem, is not measured against it.
VARIANTS = {"lrr": [["--noise", "outliers"]]}
# Each person of the Yale table is on an affine subspace: solvers of linear ones fit a near miss.
AFFINE_ROWS = {"yale": [(solver, ["--flats", "affine"]) for solver in ("auto", "ssc", "kplanes")]}


class Launcher:
    """Starts commands from a process that has always been small.

    The peak memory that the system tells of a child is at least that of the process it was forked
    from, and one with numpy in it is larger than what is to be measured.
    """

    def __init__(self):
        here, there = os.pipe(), os.pipe()
        if os.fork() == 0:
            os.close(here[1])
            os.close(there[0])
            self.serve(os.fdopen(here[0]), os.fdopen(there[1], "w"))
            os._exit(0)
        os.close(here[0])
        os.close(there[1])
        self.asks, self.answers = os.fdopen(here[1], "w"), os.fdopen(there[0])

    @staticmethod
    def serve(asks, answers):
        for line in asks:
            start = time.perf_counter()
            ask = json.loads(line)
            environment = dict(os.environ, **dict.fromkeys(THREAD_VARIABLES, ask["threads"]))
            with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as output:
                child = subprocess.Popen(ask["command"], stdout=output, stderr=errors,
                                         env=environment)
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                wall = time.perf_counter() - start
                errors.seek(0)
                output.seek(0)
                said, printed = errors.read(), output.read()
            print(json.dumps({"code": child.returncode, "said": said, "printed": printed,
                              "cpu": used.ru_utime + used.ru_stime, "bytes": used.ru_maxrss * 1024,
                              "wall": wall}), file=answers, flush=True)

    def run(self, *command, threads=1):
        """CPU and wall seconds and peak bytes of a command; it must succeed."""
        words = [str(word) for word in command]
        print(json.dumps({"command": words, "threads": str(threads)}), file=self.asks, flush=True)
        answer = json.loads(self.answers.readline())
        if answer["code"]:
            raise RuntimeError(f"{' '.join(map(str, command))}: {answer['said'].strip()}")
        return answer


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.launcher = options, folder, Launcher()
        self.found = {}  # for the file of results

    def path(self, name):
        return os.path.join(self.folder, name)

    def solvers(self):
        """The names that `cloister solve --help` lists, but the one that takes an affinity."""
        text = subprocess.run([self.options.cloister, "solve", "--help"], check=True, text=True,
                              capture_output=True).stdout
        rows = text.split("\nSolvers\n")[1].split("\n\n")[0]
        names = [name for name in re.findall(r"^  ([a-z][\w-]*)  ", rows, re.M)
                 if name != "spectral"]
        asked = self.options.solvers
        return [name for name in names if not asked or name in asked.split(",")]

    def generate(self, name, shape, seed):
        """(data, labels) of one sample, as paths."""
        data, labels = self.path(f"{name}-{seed}.npy"), self.path(f"{name}-{seed}.csv")
        rows, cols, clusters, dim, noise = shape
        if not os.path.exists(data):
            self.launcher.run(self.options.cloister, "generate", "subspaces", "--rows", rows,
                              "--cols", cols, "--clusters", clusters, "--dim", dim, "--noise",
                              noise, "--seed", f"{name} {seed}", "-o", data, "--labels", labels)
        return data, labels

    def solve(self, solver, data, clusters, dim, *more, threads=1, seed=1):
        """What `cloister solve` used, with its cost and labels."""
        labels = self.path("found.csv")
        words = [self.options.cloister, "solve", solver, data, "--clusters", clusters, "--threads",
                 threads, "--seed", seed, "--quiet", "--labels", labels, *more]
        if dim and not solver.startswith("kme"):  # kmeans and kmedian have no subspaces
            words += ["--dim", dim]
        used = self.launcher.run(*words, threads=threads)
        used["cost"] = float(re.search(r"^cost\s+(\S+)", used["printed"], re.M).group(1))
        used["labels"] = read_labels(labels)
        return used


def read_labels(path):
    import numpy as np
    if path.endswith(".npy"):
        return np.unique(np.load(path), return_inverse=True)[1].ravel()
    return np.loadtxt(path, skiprows=1, dtype=int)


def accuracy(truth, found):
    """The share of rows on which the two agree under the best naming of the clusters."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment
    table = np.zeros((max(truth.max(), found.max()) + 1,) * 2)
    np.add.at(table, (truth, found), 1)
    return table[linear_sum_assignment(table, maximize=True)].sum() / len(truth)


def dgemm_seconds(clock, size=1000, calls=5):
    """Seconds of one product, the best of some."""
    import numpy as np
    a, best = np.random.default_rng(1).normal(size=(size, size)), float("inf")
    for _ in range(calls):
        start = clock()
        a @ a
        best = min(best, clock() - start)
    return best


def median(values):
    return statistics.median(values)


def span(values, digits):
    low, high = min(values), max(values)
    shown = f"{low:.{digits}g}"
    return shown if f"{high:.{digits}g}" == shown else f"{shown}–{high:.{digits}g}"


def mean_and_error(values):
    shown = f"{statistics.mean(values):.5g}"
    if len(values) > 1:
        shown += f" ± {statistics.stdev(values) / len(values) ** 0.5:.2g}"
    return shown


# ---- the table of all solvers ------------------------------------------------------------------


def samples(bench):
    """(case, clusters, dim, [(data, truth)]) for the synthetic cases and Yale."""
    for name in filter(None, bench.options.cases.split(",")):
        made = [bench.generate(name, CASES[name], seed)
                for seed in range(1, bench.options.seeds + 1)]
        yield name, CASES[name][2], CASES[name][3], \
            [(data, read_labels(labels)) for data, labels in made]
    if bench.options.yale:
        truth = read_labels(bench.options.labels)
        yield "yale", truth.max() + 1, 9, [(bench.options.yale, truth)]


def ratio_cells(solver, case, seconds, gflops, reference_gflops):
    """Reference time and accuracy, and how many times faster we are, as it is and scaled."""
    key = re.sub(r"[_-]", "", solver)
    if case not in REFERENCE.get(key, {}):
        return ["–", "–", "–", "–"]
    theirs, found = REFERENCE[key][case]
    ratio = theirs / seconds
    scaled = f"{ratio * reference_gflops / gflops:.3g}" if reference_gflops else "–"
    return [f"{theirs:g} ({PROGRAMS[key]})", "–" if found is None else f"{found:g}",
            f"{ratio:.3g}", scaled]


def table(bench):
    gflops = 2 * 1000**3 / dgemm_seconds(time.process_time) / 1e9
    print("### Solvers, one thread\n")
    print(f"CPU seconds, median of the seeds; one dgemm thread does {gflops:.1f} Gflop/s here.\n")
    print("| solver | data | CPU s | accuracy | cost | others, CPU s | accuracy | ratio | scaled |")
    print("|---|---|---|---|---|---|---|---|---|")
    for case, clusters, dim, data in samples(bench):
        rows = [(solver, more) for solver in bench.solvers()
                for more in [[], *VARIANTS.get(solver, [])]]
        rows += [row for row in AFFINE_ROWS.get(case, []) if row[0] in bench.solvers()]
        for solver, more in rows:
            name = " ".join([solver, *more])
            compared = solver if more or solver not in VARIANTS else ""
            compared = "" if "affine" in more else compared
            try:
                runs = [bench.solve(solver, path, clusters, dim, *more) for path, _ in data]
            except RuntimeError as error:
                print(f"| {name} | {case} | failed: {error} | | | | | | |", flush=True)
                continue
            seconds = median([run["cpu"] for run in runs])
            right = [accuracy(truth, run["labels"]) for (_, truth), run in zip(data, runs)]
            cells = [name, case, f"{seconds:.3g}", span(right, 4),
                     span([run["cost"] for run in runs], 4),
                     *ratio_cells(compared, case, seconds, gflops, bench.options.reference_gflops)]
            print(f"| {' | '.join(cells)} |", flush=True)
    print()


def faces(bench):
    """Raw images of people, each row an image."""
    import numpy as np
    truth = read_labels(bench.options.people)
    data = bench.path("faces.npy")
    images = np.load(bench.options.faces)
    np.save(data, images.reshape(len(images), -1).astype(float))
    print(f"### Raw faces: {len(truth)} images, {truth.max() + 1} people, 9 dimensions\n")
    print("| solver | CPU s | accuracy |")
    print("|---|---|---|")
    for solver, more in [("lrr", ["--scale", "unit"]), ("lrr", []), ("lsr", ["--scale", "unit"]),
                         ("ssc-omp", ["--sparsity", "10"]), ("ensc", []), ("ssc", []),
                         ("tsc", [])]:
        if solver in bench.solvers():
            run = bench.solve(solver, data, truth.max() + 1, 9, *more)
            print(f"| {' '.join([solver, *more])} | {run['cpu']:.3g} | "
                  f"{accuracy(truth, run['labels']):.4f} |", flush=True)
    print()


# ---- scikit-learn in the same run ----------------------------------------------------------------


def timed(fit):
    start = time.process_time()
    model = fit()
    return time.process_time() - start, model


def compare_kmeans(bench, name, shape, seeds):
    """Means over seeds: one run of ten starts says little about the loss with many centres."""
    import numpy as np
    from sklearn.cluster import KMeans
    data = bench.path(f"{name}.npy")
    rows, cols, clusters, noise = shape
    bench.launcher.run(bench.options.cloister, "generate", "mixture", "--rows", rows, "--cols",
                       cols, "--clusters", clusters, "--noise", noise, "--seed", name, "-o", data)
    runs, values = [bench.solve("kmeans", data, clusters, 0, seed=seed)
                    for seed in range(1, seeds + 1)], np.load(data)
    seconds = statistics.mean([run["cpu"] for run in runs])
    costs = [run["cost"] for run in runs]
    print(f"| kmeans | {rows} × {cols}, {clusters}; seeds: {seeds} | {seconds:.3g} | "
          f"{mean_and_error(costs)} | |")
    # Both algorithms take the same steps: the loss of one is that of the other.
    for algorithm, count in (("lloyd", seeds), ("elkan", 1)):
        fits = [timed(lambda: KMeans(clusters, n_init=10, algorithm=algorithm,
                                     random_state=seed).fit(values))
                for seed in range(1, count + 1)]
        theirs = statistics.mean([fit[0] for fit in fits])
        costs = [fit[1].inertia_ / rows for fit in fits]
        print(f"| scikit-learn, {algorithm} | | {theirs:.3g} | {mean_and_error(costs)} | "
              f"{theirs / seconds:.3g} |", flush=True)
        if algorithm == "lloyd":
            times = record.measured([fit[0] / run["cpu"] for fit, run in zip(fits, runs)])
            losses = record.measured([cost / run["cost"] for cost, run in zip(costs, runs)])
            bench.found[f"kmeans, {name}"] = {"rows": rows, "cols": cols, "clusters": clusters,
                                              "time_ratio": times, "loss_ratio": losses}


def compare_spectral(bench, case, turns=3):
    import numpy as np
    from sklearn.cluster import SpectralClustering
    data, labels = bench.generate(case, CASES[case], 1)
    values, truth, clusters = np.load(data), read_labels(labels), CASES[case][2]
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    affinity = np.abs(values @ values.T) ** 8
    np.fill_diagonal(affinity, 0)
    path = bench.path("affinity.npy")
    np.save(path, affinity)
    ratios = []
    for _ in range(turns):
        ours = bench.solve("spectral", path, clusters, 0)
        seconds, model = timed(lambda: SpectralClustering(
            clusters, affinity="precomputed", random_state=1).fit(affinity))
        ratios.append(seconds / ours["cpu"])
    bench.found[f"spectral, {case}"] = {
        "rows": len(truth), "time_ratio": record.measured(ratios),
        "accuracy": accuracy(truth, ours["labels"]),
        "accuracy_of_peer": accuracy(truth, model.labels_)}
    print(f"| spectral | {case}, {len(truth)} × {len(truth)} | {ours['cpu']:.3g} | "
          f"{accuracy(truth, ours['labels']):.4f} | |")
    print(f"| scikit-learn, spectral | | {seconds:.3g} | "
          f"{accuracy(truth, model.labels_):.4f} | {seconds / ours['cpu']:.3g} |", flush=True)


def peers(bench):
    import sklearn
    print(f"### scikit-learn {sklearn.__version__} in the same run, one thread\n")
    print("k-means: 10 starts each, mean squared distance (mean and its error). "
          "Spectral: |cosine|^8, precomputed.\n")
    print("| | data | CPU s | cost or accuracy | ratio |")
    print("|---|---|---|---|---|")
    compare_kmeans(bench, "mixture", (100_000, 20, 16, 0.2), 1)
    compare_kmeans(bench, "many centres", (20_000, 50, 64, 0.1), 8)
    for case in ("s2", "s3"):
        compare_spectral(bench, case)
    print()


# ---- two threads, and memory ---------------------------------------------------------------------


def dgemm_gain():
    """What a second thread gains a matrix product; each in a process of its own."""
    seconds = []
    for count in ("1", "2"):
        environment = dict(os.environ, **dict.fromkeys(THREAD_VARIABLES, count))
        said = subprocess.run([sys.executable, __file__, "--dgemm"], env=environment, check=True,
                              capture_output=True, text=True).stdout
        seconds.append(float(said))
    return seconds[0] / seconds[1]


def threads(bench):
    """Short runs and many: on a machine with other load some of them meet a quiet moment."""
    data, _ = bench.generate("middle", MIDDLE, 1)
    print("### Two threads\n")
    print(f"Wall time on {MIDDLE[0]} × {MIDDLE[1]}, best of eleven in turns; the gain over that of "
          "dgemm in the same turns.\n")
    print("| solver | 1 thread, s | 2 threads, s | gain | dgemm's gain | share |")
    print("|---|---|---|---|---|---|")
    for solver, dim in (("kplanes", MIDDLE[3]), ("kmeans", 0)):
        walls, gains = {1: [], 2: []}, []
        for _ in range(11):
            for count in (1, 2):
                walls[count].append(bench.solve(solver, data, MIDDLE[2], dim,
                                                threads=count)["wall"])
            gains.append(dgemm_gain())
        gain = min(walls[1]) / min(walls[2])
        print(f"| {solver} | {min(walls[1]):.3g} | {min(walls[2]):.3g} | {gain:.3g} | "
              f"{max(gains):.3g} | {gain / max(gains):.3g} |", flush=True)
    print()


def memory(bench):
    print("### Memory\n")
    print("| solver | data | CPU s | peak | of the data | accuracy |")
    print("|---|---|---|---|---|---|")
    wanted = [("kplanes", "large", LARGE)]
    wanted += [(solver, "middle", MIDDLE) for solver in bench.solvers()
               if re.sub(r"[_-]", "", solver) in ("sscomp", "ensc", "lsr", "lrr", "tsc")]
    for solver, name, shape in wanted:
        data, labels = bench.generate(name, shape, 1)
        run = bench.solve(solver, data, shape[2], shape[3])
        size = shape[0] * shape[1] * 8
        right = accuracy(read_labels(labels), run["labels"])
        print(f"| {solver} | {shape[0]} × {shape[1]} | {run['cpu']:.3g} | "
              f"{run['bytes'] / 2**20:.0f} MiB | {run['bytes'] / size:.3g} | {right:.4f} |",
              flush=True)
    print()


def parse():
    parser = argparse.ArgumentParser(description="solvers of cloister beside peers")
    parser.add_argument("cloister")
    parser.add_argument("--parts", default="table,peers,threads,memory")
    parser.add_argument("--cases", default="s1,s2,s3")
    parser.add_argument("--solvers", default="", help="only these")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--yale", help="the rows that reproduce/yale_b.py wrote")
    parser.add_argument("--labels", help="and their labels")
    parser.add_argument("--faces", help="images, one a row")
    parser.add_argument("--people", help="who is on each")
    parser.add_argument("-o", metavar="FILE.json", help="what the part `peers` found")
    parser.add_argument("--reference-gflops", type=float, default=0,
                        help="one dgemm thread of the machine of the constants")
    options = parser.parse_args()
    if bool(options.yale) != bool(options.labels) or bool(options.faces) != bool(options.people):
        parser.error("--yale goes with --labels, and --faces with --people")
    return options


def main():
    if sys.argv[1:] == ["--dgemm"]:
        print(dgemm_seconds(time.perf_counter, 2000, 3))
        return
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        core = os.environ.get("OPENBLAS_CORETYPE")
        before = f"OPENBLAS_CORETYPE={core} " if core else ""
        print(f"`{before}python bench/bench_solvers.py {' '.join(sys.argv[1:])}`\n")
        for part in filter(None, options.parts.split(",")):
            {"table": table, "peers": peers, "threads": threads, "memory": memory}[part](bench)
        if options.faces:
            faces(bench)
    if bench.found:
        record.write(options.o, {"cases": bench.found},
                     **record.versions("scikit-learn", "numpy", cloister=options.cloister))


if __name__ == "__main__":
    main()
