"""kmeans/lloyd against diffprivlib's KMeans, on the same data in the same run.

    python bench_lloyd.py PATH/TO/bench_lloyd [FOLDER] [ROWS]

diffprivlib chooses its own number of rounds; times are compared by the round.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

COLS, CLUSTERS, ROUNDS = 20, 16, 5


def make_data(path, rows):
    rng = np.random.default_rng(1)
    centers = rng.normal(size=(CLUSTERS, COLS))
    centers *= 0.8 / np.linalg.norm(centers, axis=1, keepdims=True)
    data = centers[rng.integers(CLUSTERS, size=rows)] + rng.normal(scale=0.05, size=(rows, COLS))
    np.save(path, data)


def time_diffprivlib(path):
    """Seconds and rounds of diffprivlib's fit; the bounds are public, as ours are."""
    from diffprivlib.models import KMeans

    data = np.load(path)
    model = KMeans(n_clusters=CLUSTERS, epsilon=1.0, bounds=(-1.0, 1.0), random_state=1)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data)
    # It assigns all records once more than it updates the centres: a round, in its favour.
    return time.perf_counter() - start, model.n_iter_ + 1


def main():
    program = sys.argv[1]
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    rows = int(float(sys.argv[3])) if len(sys.argv) > 3 else 1_000_000
    path = os.path.join(folder, "lloyd.npy")
    make_data(path, rows)
    print(f"{rows} x {COLS}, {CLUSTERS} clusters, {ROUNDS} rounds")
    rounds_of_ours = []
    for threads in (1, 2):
        out = subprocess.run([program, path, str(CLUSTERS), str(ROUNDS), str(threads)],
                             capture_output=True, text=True, check=True).stdout
        ours = json.loads(out)
        rounds_of_ours.append(ours["per_round_s"])
        memory = ours["peak_bytes"] / ours["data_bytes"]
        print(f"cloister, {threads} thread(s): read {ours['read_s']:.3f} s, "
              f"bound {ours['bound_s']:.3f} s, {ours['per_round_s']:.4f} s a round; "
              f"BLAS {ours['blas_share']:.0%} and noise {ours['noise_share']:.2%} of the run; "
              f"peak memory {memory:.2f} x the data")
    seconds, rounds = time_diffprivlib(path)
    print(f"diffprivlib: {seconds:.2f} s in {rounds} rounds, {seconds / rounds:.3f} s a round")
    for threads, ours in enumerate(rounds_of_ours, 1):
        print(f"ratio by the round, {threads} thread(s): {seconds / rounds / ours:.1f}")
    os.unlink(path)


if __name__ == "__main__":
    main()
