"""kmeans/lloyd against diffprivlib's KMeans, on the same data in the same run.

    python bench_lloyd.py PATH/TO/bench_lloyd [--folder FOLDER] [--rows N] [--runs N]
                          [-o FILE.json]

diffprivlib chooses its own number of rounds; times are compared by the round, those of processors
as well, for a machine that is busy.  The mean of the ratios of the runs, each of which has both.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time
import warnings

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
GIVEN = {name: value for name, value in os.environ.items() if name not in THREADS}
os.environ.update(dict.fromkeys(THREADS, "1"))  # of numpy, which must see it first

import numpy as np  # noqa: E402

import record  # noqa: E402

COLS, CLUSTERS, ROUNDS = 20, 16, 5


def make_data(path, rows):
    rng = np.random.default_rng(1)
    centers = rng.normal(size=(CLUSTERS, COLS))
    centers *= 0.8 / np.linalg.norm(centers, axis=1, keepdims=True)
    data = centers[rng.integers(CLUSTERS, size=rows)] + rng.normal(scale=0.05, size=(rows, COLS))
    np.save(path, data)


def time_diffprivlib(path):
    """Wall and processor seconds of a round of diffprivlib's; the bounds are public, as ours
    are."""
    from diffprivlib.models import KMeans

    data = np.load(path)
    model = KMeans(n_clusters=CLUSTERS, epsilon=1.0, bounds=(-1.0, 1.0), random_state=1)
    start, used = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data)
    # It assigns all records once more than it updates the centres: a round, in its favour.
    rounds = model.n_iter_ + 1
    return (time.perf_counter() - start) / rounds, (time.process_time() - used) / rounds


def one_run(program, path):
    """{threads: what our program says}, and the seconds of a round of diffprivlib's."""
    ours = {}
    for threads in (1, 2):
        out = subprocess.run([program, path, str(CLUSTERS), str(ROUNDS), str(threads)],
                             capture_output=True, text=True, check=True, env=GIVEN).stdout
        ours[threads] = json.loads(out)
        memory = ours[threads]["peak_bytes"] / ours[threads]["data_bytes"]
        print(f"cloister, {threads} thread(s): read {ours[threads]['read_s']:.3f} s, "
              f"bound {ours[threads]['bound_s']:.3f} s, {ours[threads]['per_round_s']:.4f} s a "
              f"round; BLAS {ours[threads]['blas_share']:.0%} and noise "
              f"{ours[threads]['noise_share']:.2%} of the run; peak memory {memory:.2f} x the data")
    wall, used = time_diffprivlib(path)
    print(f"diffprivlib: {wall:.3f} s a round, {used:.3f} s of the processor")
    return ours, wall, used


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("-o", metavar="FILE.json")
    asked = parser.parse_args()
    print(f"{asked.rows} x {COLS}, {CLUSTERS} clusters, {ROUNDS} rounds")
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        path = os.path.join(folder, "lloyd.npy")
        make_data(path, asked.rows)
        found = [one_run(asked.program, path) for _ in range(asked.runs)]
    out = {"rows": asked.rows, "cols": COLS, "clusters": CLUSTERS, "rounds": ROUNDS,
           "diffprivlib": {"round_s": record.measured([wall for _, wall, _ in found]),
                           "round_cpu_s": record.measured([used for _, _, used in found])}}
    for threads in (1, 2):
        rounds = [ours[threads]["per_round_s"] for ours, _, _ in found]
        works = [ours[threads]["per_round_cpu_s"] for ours, _, _ in found]
        ratio = record.measured([wall / mine for mine, (_, wall, _) in zip(rounds, found)])
        by_cpu = record.measured([used / mine for mine, (_, _, used) in zip(works, found)])
        out[f"threads_{threads}"] = {"round_s": record.measured(rounds), "ratio": ratio,
                                     "round_cpu_s": record.measured(works), "cpu_ratio": by_cpu}
        print(f"ratio by the round, {threads} thread(s): {ratio['mean']:.1f}, of processor time "
              f"{by_cpu['mean']:.1f}")
    record.write(asked.o, out, **record.versions("diffprivlib", "scikit-learn", "numpy"))


if __name__ == "__main__":
    main()
